/* message_json.h - messages as JSON, for logs, stores and replay.
 *
 * Written with everything that is needed to make the same message again: `parts` and `usage` are
 * the truth, `content`, `toolCalls`, `toolCallId` and `metadata` say the same in the form that
 * readers of session logs know. Reading takes the former, or, where a log has none, the latter. */
#ifndef KEEL_MODEL_MESSAGE_JSON_H
#define KEEL_MODEL_MESSAGE_JSON_H

#include "model/message.h"

void message_write(struct json_writer *w, const struct message *m);
/* Without what only says the same again. */
void message_write_parts(struct json_writer *w, const struct message *m);
/* The members of such an object, all but `parts`. */
void message_write_fields(struct json_writer *w, const struct message *m);
/* ERR_VALIDATION names what is missing or of the wrong type. */
MUST_USE struct err *message_read(const struct json *v, struct message **ret_message);

/* A message may be this large as JSON, with all its escapes: below what is read back from a store
 * (JSON_MAX_BYTES, BLOB_DEFAULT_MAX), so that what can be written can be read. */
#define MESSAGE_MAX_JSON_BYTES ((size_t)32 << 20)
/* ERR_VALIDATION: `what` is larger. Before it is sent or stored. */
MUST_USE struct err *message_check(const struct message *m, const char *what);
/* Sessions that are older than that limit have larger messages. They can be read back, and imported
 * again, up to this size, as message_write_parts() writes them. */
#define MESSAGE_MAX_STORED_BYTES (JSON_MAX_BYTES - ((size_t)1 << 20))
MUST_USE struct err *message_check_stored(const struct message *m, const char *what);

void part_write(struct json_writer *w, const struct part *p);
/* What it points at lives in `a`, or in `v`. */
MUST_USE struct err *part_read(const struct json *v, struct arena *a, struct part *ret);

void usage_write(struct json_writer *w, const struct usage *u);
struct usage usage_read(const struct json *v, struct arena *a);

#endif
