/* journal_fields.h - fields of a log line for requests, replies and files. */
#ifndef KEEL_VIEW_JOURNAL_FIELDS_H
#define KEEL_VIEW_JOURNAL_FIELDS_H

#include "view/journal.h"

/* For values from tools and people: values under the names of credentials are hidden. NULL:
 * null. */
void journal_json(struct json_writer *w, const char *key, const struct json *v);
void journal_text(struct json_writer *w, const char *key, struct str text); /* empty: nothing */
void journal_message(struct json_writer *w, const char *key, const struct message *m);
void journal_schema(struct json_writer *w, const struct tool_def *d);

void journal_attempt(struct json_writer *w, const struct event *e);
/* `l` may be NULL: writes everything. */
void journal_request(struct json_writer *w, const struct event_request *b,
                     const struct journal_links *l);
void journal_range(struct json_writer *w, const char *key, const struct journal_links *l);
void journal_range_entry(struct json_writer *w, const struct journal_links *l, size_t n);
void journal_payload(struct json_writer *w, const struct native_payload *p);
void journal_delta(struct json_writer *w, const struct event_delta *b);
void journal_server_tool(struct json_writer *w, const struct event_delta *b);
void journal_reply(struct json_writer *w, const struct event_reply *b);
void journal_normalized(struct json_writer *w, const struct event_message *b);

/* journal_snapshot.c */
void journal_snapshot(struct json_writer *w, const struct event_snapshot *b);
void journal_pre_image(struct json_writer *w, const struct event_image *b);
/* "path", and also "pathBase64" if it is not UTF-8. */
void journal_path(struct json_writer *w, struct str path);
/* Parses the same; in `a`, borrowing from `v`. Missing members are empty. */
const struct snapshot_record *snapshot_record_parse(const struct json *v, struct arena *a) MUST_USE;
const struct pre_image *pre_image_parse(const struct json *v, struct arena *a) MUST_USE;

#endif
