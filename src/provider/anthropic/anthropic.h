/* anthropic.h - the reader of the Anthropic Messages protocol, for its descriptor. */
#ifndef KEEL_PROVIDER_ANTHROPIC_H
#define KEEL_PROVIDER_ANTHROPIC_H

#include "provider/protocol.h"

void anthropic_begin(struct decode *d);
bool anthropic_is_event(struct str type, const struct json *event);
struct err *anthropic_event(struct decode *d, struct str type, const struct json *event);
struct err *anthropic_body(struct decode *d, const struct json *body);
struct err *anthropic_classify(int status, const struct json *body);

#endif
