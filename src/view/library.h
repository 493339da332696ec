/* library.h - a run in the form of the library's callback on_event(event, meta).
 *
 * Twelve types: output, thinking, turn_started, progress, status, final_report, handoff, log,
 * accounting, snapshot, accounting_flush, op_tree. Each is a line of JSON with both arguments:
 * {"event":{"type":...},"meta":{...}}. At the end of every run, however it ends, two FIN logs sum
 * up the usage of models and tools. */
#ifndef KEEL_VIEW_LIBRARY_H
#define KEEL_VIEW_LIBRARY_H

#include "port/event.h"

/* The place of the run in a chain of agents. Borrowed while the view is used; zeroed: a plain
 * run. */
struct library_view {
    bool is_sub_agent; /* not the master of its chain */
    unsigned n_pending_handoffs;
    bool has_handoff;       /* its report is the next agent's input, not an answer */
    const char *format;     /* of its report: "json", "markdown", ...; NULL: text */
    const char *headend_id; /* the headend that it came through; NULL: none */
    const char *origin_id;  /* the outermost run's; NULL: this one's */
    bool trace_llm;         /* also wire data, as TRC logs */
};

/* Appends zero or more complete lines. */
void library_event(const struct library_view *v, const struct event *e, struct strbuf *out);
/* One entry of a run's accounting, in the library's terms. */
void accounting_write(struct json_writer *w, const struct accounting_entry *a);

#endif
