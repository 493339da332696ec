/* error_body.h - the words in an error's body, whatever its shape.
 *
 * Every protocol has an error object of its own, but what answers is often something else: a proxy,
 * a gateway, a framework's validator. They send {"error": "text"}, {"detail": [{"msg": ...}]},
 * [{"error": {...}}], {"message": ...} and mixtures of these. Pure. */
#ifndef KEEL_PROVIDER_ERROR_BODY_H
#define KEEL_PROVIDER_ERROR_BODY_H

#include "base/json.h"

/* The body, or the first element of a list of them. */
const struct json *error_body_first(const struct json *body);
/* What it says to a person; empty: nothing was found. */
struct str error_body_message(const struct json *body);
/* Does the text hold one of these sentences? They are separated by '|', a '*' stands for anything
 * between two pieces, and the case of letters does not matter. NULL: there are none. */
bool error_text_has(struct str text, const char *sentences);
/* The time that stands behind one of these sentences, as "20ms", "11.054s" or "1h2m3s"; -1: none.
 */
int64_t error_text_delay_ms(struct str text, const char *sentences);
/* Is an event that none of a protocol's own looks like an error? {"error": null} is none. */
bool error_body_is_error(const struct json *event);

#endif
