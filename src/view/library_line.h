/* library_line.h - shared by the files of the library's view. */
#ifndef KEEL_VIEW_LIBRARY_LINE_H
#define KEEL_VIEW_LIBRARY_LINE_H

#include "view/field.h"
#include "view/library.h"

/* A line: begin, add the fields of the event, end. The end adds the meta. */
void library_begin(struct json_writer *w, struct strbuf *out, const char *type);
void library_end(const struct library_view *v, struct json_writer *w, const struct event *e);
struct str library_agent(const struct event *e); /* the agent whose run it is */

/* Writes the log entries and accounting of the event. */
void library_log(const struct library_view *v, const struct event *e, struct strbuf *out);
/* Writes the end of the run, and the two summaries. */
void library_end_logs(const struct library_view *v, const struct event *e, struct strbuf *out);

#endif
