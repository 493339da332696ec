/* library.h - a run as the callback on_event(event, meta) of the library sees it.
 *
 * Twelve types: output, thinking, turn_started, progress, status, final_report, handoff, log,
 * accounting, snapshot, accounting_flush, op_tree. Each comes as a line of JSON that holds both
 * arguments: {"event":{"type":...},"meta":{...}}. At the end of every run, however it ended, two
 * FIN logs sum up what the models and the tools took. */
#ifndef KEEL_VIEW_LIBRARY_H
#define KEEL_VIEW_LIBRARY_H

#include "port/event.h"

/* How the run stands in a chain of agents. Borrowed while the view is used; zeroed: a plain run. */
struct library_view {
    bool is_sub_agent; /* not the master of its chain */
    unsigned n_pending_handoffs;
    bool has_handoff;       /* its report is the next agent's input, not an answer */
    const char *format;     /* of its report: "json", "markdown", ...; NULL: text */
    const char *headend_id; /* where it came in; NULL: nowhere */
    const char *origin_id;  /* the outermost run's; NULL: this one's */
    bool trace_llm;         /* also what goes over the wire, as TRC logs */
};

/* Appends zero or more whole lines. */
void library_event(const struct library_view *v, const struct event *e, struct strbuf *out);
/* One entry of a run's accounting, as the library spells it. */
void accounting_write(struct json_writer *w, const struct accounting_entry *a);

#endif
