/* interactive.h - a session as its clients see it: eight kinds of event.
 *
 *     text_delta      {"delta"}: the next piece of the model's text
 *     tool_start      {"state"}: a call begins, with the name of its tool and its first argument
 *     tool_end        {"state"}: a call ends: success, error or denied; with the changed lines
 *     thinking        {"isThinking"}: a run begins or ends
 *     context_update  {"state"}: how full the window is
 *     complete        {"result"}: the answer, and in "history" the messages that the run has added
 *     interrupted     {"result"}: cancelled, or waiting for an answer ("asks")
 *     error           {"error"}
 *
 * Events are lines of JSON, {"type":...}. Child runs are shown only as a call of their parent. */
#ifndef KEEL_VIEW_INTERACTIVE_H
#define KEEL_VIEW_INTERACTIVE_H

#include "port/event.h"

/* Ready when zeroed. */
struct interactive_view {
    int64_t used, window; /* as last reported */
    size_t first;         /* message of the present run */
};

/* Appends zero or more complete lines. */
void interactive_event(struct interactive_view *v, const struct event *e, struct strbuf *out);

#endif
