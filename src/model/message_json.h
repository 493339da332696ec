/* message_json.h - messages as JSON, for logs, stores and replay.
 *
 * Written with everything that is needed to make the same message again: `parts` is the truth,
 * `content`, `toolCalls` and `toolCallId` say the same in the form that readers of session logs
 * know. Reading takes `parts`, or, where a log has none, those older fields. */
#ifndef KEEL_MODEL_MESSAGE_JSON_H
#define KEEL_MODEL_MESSAGE_JSON_H

#include "model/message.h"

void message_write(struct json_writer *w, const struct message *m);
/* ERR_VALIDATION names what is missing or of the wrong type. */
MUST_USE struct err *message_read(const struct json *v, struct message **ret_message);

void usage_write(struct json_writer *w, const struct usage *u);
struct usage usage_read(const struct json *v, struct arena *a);

#endif
