/* provider_error.h - what an error of a provider means, and what it says.
 *
 * Every protocol has an error object of its own, but the sender is often something else: a proxy, a
 * gateway, the validator of a framework. They send {"error": "text"}, {"detail": [{"msg": ...}]},
 * [{"error": {...}}], {"message": ...} and mixtures of these. Pure. */
#ifndef KEEL_PROVIDER_PROVIDER_ERROR_H
#define KEEL_PROVIDER_PROVIDER_ERROR_H

#include "base/json.h"

/* The kind that an HTTP status alone stands for; ERR_PROVIDER_ERROR for 0. */
enum err_kind provider_error_kind(int status);
/* Holds the provider's message, cut to a sane length, and the HTTP status unless it is 0. */
NEVER_NULL MUST_USE struct err *provider_error_new(enum err_kind kind, int status,
                                                   struct str message);
/* The hint of a refusal that is about money: the key is not to blame. */
#define PROVIDER_NO_CREDIT                                                                         \
    "the account's credit or quota is used up: add credit, or use another model with --model"

/* --- bodies --- */

/* The body, or the first element of a list of them. */
const struct json *error_body_first(const struct json *body);
/* The message for a person; empty: none found. */
struct str error_body_message(const struct json *body);
/* Does an event that is not one of the protocol's look like an error? {"error": null} does not. */
bool error_body_is_error(const struct json *event);
/* Is there a value that says something? {"error": null}, {"error": ""} and {"error": {}} have none.
 */
bool error_value_is_set(const struct json *v);

/* --- messages --- */

/* Does the text hold one of these sentences? They are separated by '|', a '*' matches anything
 * between two pieces, and the case of letters does not matter. NULL: no sentences. */
bool error_text_has(struct str text, const char *sentences);
/* The time after one of these sentences, as "20ms", "11.054s" or "1h2m3s"; -1: none. */
int64_t error_text_delay_ms(struct str text, const char *sentences);

#endif
