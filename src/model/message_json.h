/* message_json.h - messages as JSON, for logs, stores and replay.
 *
 * Writes everything needed to rebuild the message: `parts` and `usage` are authoritative.
 * `content`, `toolCalls`, `toolCallId` and `metadata` repeat them in the form that readers of
 * session logs know. Reading uses the former or, if a log lacks them, the latter. */
#ifndef KEEL_MODEL_MESSAGE_JSON_H
#define KEEL_MODEL_MESSAGE_JSON_H

#include "model/message.h"

void message_write(struct json_writer *w, const struct message *m);
/* Without the repeated members. */
void message_write_parts(struct json_writer *w, const struct message *m);
/* The members of such an object, except `parts`. */
void message_write_fields(struct json_writer *w, const struct message *m);
/* ERR_VALIDATION names what is missing or of the wrong type. */
MUST_USE struct err *message_read(const struct json *v, struct message **ret_message);

/* The largest message as JSON, with its escapes. It is below the limit for reading from a store
 * (JSON_MAX_BYTES, BLOB_DEFAULT_MAX), so that every written message can be read. */
#define MESSAGE_MAX_JSON_BYTES ((size_t)32 << 20)
/* ERR_VALIDATION: `what` is larger. Check it before sending or storing. */
MUST_USE struct err *message_check(const struct message *m, const char *what);
/* Sessions older than that limit have larger messages. They can be read and imported up to this
 * size, as message_write_parts() writes them. */
#define MESSAGE_MAX_STORED_BYTES (JSON_MAX_BYTES - ((size_t)1 << 20))
MUST_USE struct err *message_check_stored(const struct message *m, const char *what);

void part_write(struct json_writer *w, const struct part *p);
/* The result is in `a` or `v`. */
MUST_USE struct err *part_read(const struct json *v, struct arena *a, struct part *ret);

void usage_write(struct json_writer *w, const struct usage *u);
struct usage usage_read(const struct json *v, struct arena *a);

#endif
