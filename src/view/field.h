/* field.h - fields that several views write. Pure; every value is complete JSON on one line. */
#ifndef KEEL_VIEW_FIELD_H
#define KEEL_VIEW_FIELD_H

#include "port/event.h"

void field_time(struct json_writer *w, const char *key, int64_t unix_ms); /* ISO 8601, UTC */
/* Dollars as an exact decimal number; unknown money is 0. */
void field_usd(struct json_writer *w, const char *key, int64_t microcents);
/* Valid JSON from outside; line ends become blanks. Empty: {}. */
void field_raw(struct json_writer *w, const char *key, struct str json_text);
void value_raw(struct json_writer *w, struct str json_text);
void field_json(struct json_writer *w, const char *key, const struct json *v); /* NULL: null */
/* [{"ownerType":...,"ownerId":...}], outermost first. */
void field_owner_path(struct json_writer *w, const char *key, const struct owner *owner);
/* The texts of an error and its causes, joined. */
void field_error(struct json_writer *w, const char *key, const struct err *e);
/* {"code","category","message","hint","httpStatus","refusedMedia","hidesThoughts","retryable",
 * "recoverable"}; NULL: null */
void field_failure(struct json_writer *w, const char *key, const struct err *e);
/* {"maxTokens","usedTokens","usedPercentage"} */
void field_context(struct json_writer *w, const char *key, int64_t used, int64_t window);
/* The result of a tool as text: other parts are named in brackets. */
void field_result_text(struct json_writer *w, const char *key, const struct part *result);
void result_text(const struct part *result, struct strbuf *out);

/* The call that started this event's run, or NULL. */
const struct owner *owner_call(const struct owner *owner);
/* The innermost owner of a type, or NULL. */
const struct owner *owner_find(const struct owner *owner, const char *type);
bool event_is_child(const struct event *e); /* of a run inside another */

#endif
