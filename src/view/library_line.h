/* library_line.h - what the files of the library's view share. */
#ifndef KEEL_VIEW_LIBRARY_LINE_H
#define KEEL_VIEW_LIBRARY_LINE_H

#include "view/field.h"
#include "view/library.h"

/* A line: begin, add the event's fields, end. The end adds the meta. */
void library_begin(struct json_writer *w, struct strbuf *out, const char *type);
void library_end(const struct library_view *v, struct json_writer *w, const struct event *e);
struct str library_agent(const struct event *e); /* whose run it is */

/* What the event gives to the log and to the accounting. */
void library_log(const struct library_view *v, const struct event *e, struct strbuf *out);
/* How the run ended, and the two summaries. */
void library_end_logs(const struct library_view *v, const struct event *e, struct strbuf *out);

#endif
