/* interactive.h - a session as its clients see it: eight kinds of event.
 *
 *     text_delta      {"delta"}: the next piece of what the model says
 *     tool_start      {"state"}: a call begins, with its tool's name and first argument
 *     tool_end        {"state"}: and ends: success, error or denied; with the lines that changed
 *     thinking        {"isThinking"}: a run begins or ends
 *     context_update  {"state"}: how full the window is
 *     complete        {"result"}: the answer, and in "history" the messages that the run has added
 *     interrupted     {"result"}: cancelled, or waiting for an answer ("asks")
 *     error           {"error"}
 *
 * Events are lines of JSON, {"type":...}. Child runs are not shown: they are a call of their
 * parent. */
#ifndef KEEL_VIEW_INTERACTIVE_H
#define KEEL_VIEW_INTERACTIVE_H

#include "port/event.h"

/* Zeroed is ready. */
struct interactive_view {
    int64_t used, window; /* as last told */
    size_t first;         /* message of the run that is under way */
};

/* Appends zero or more whole lines. */
void interactive_event(struct interactive_view *v, const struct event *e, struct strbuf *out);

#endif
