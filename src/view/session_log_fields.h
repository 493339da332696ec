/* session_log_fields.h - fields of a log line for requests, replies and files. */
#ifndef KEEL_VIEW_SESSION_LOG_FIELDS_H
#define KEEL_VIEW_SESSION_LOG_FIELDS_H

#include "view/session_log.h"

/* For values from tools and people: values under the names of credentials are hidden. NULL:
 * null. */
void session_log_json(struct json_writer *w, const char *key, const struct json *v);
void session_log_text(struct json_writer *w, const char *key, struct str text); /* empty: nothing */
void session_log_message(struct json_writer *w, const char *key, const struct message *m);
void session_log_schema(struct json_writer *w, const struct tool_def *d);

void session_log_attempt(struct json_writer *w, const struct event *e);
/* `l` may be NULL: writes everything. */
void session_log_request(struct json_writer *w, const struct event_request *b,
                         const struct session_log_links *l);
void session_log_range(struct json_writer *w, const char *key, const struct session_log_links *l);
void session_log_range_entry(struct json_writer *w, const struct session_log_links *l, size_t n);
void session_log_payload(struct json_writer *w, const struct native_payload *p);
void session_log_delta(struct json_writer *w, const struct event_delta *b);
void session_log_server_tool(struct json_writer *w, const struct event_delta *b);
void session_log_reply(struct json_writer *w, const struct event_reply *b);
void session_log_normalized(struct json_writer *w, const struct event_message *b);

/* session_log_snapshot.c */
void session_log_snapshot(struct json_writer *w, const struct event_snapshot *b);
void session_log_pre_image(struct json_writer *w, const struct event_image *b);
/* "path", and also "pathBase64" if it is not UTF-8. */
void session_log_path(struct json_writer *w, struct str path);
/* Parses the same; in `a`, borrowing from `v`. Missing members are empty. */
const struct snapshot_record *snapshot_record_parse(const struct json *v, struct arena *a) MUST_USE;
const struct pre_image *pre_image_parse(const struct json *v, struct arena *a) MUST_USE;

#endif
