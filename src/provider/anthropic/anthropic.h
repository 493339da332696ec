/* anthropic.h - the two halves of the Anthropic Messages protocol. */
#ifndef KEEL_PROVIDER_ANTHROPIC_H
#define KEEL_PROVIDER_ANTHROPIC_H

#include "provider/protocol.h"

struct err *anthropic_encode(const struct model_request *r, const struct dialect *d,
                             struct strbuf *out);
void anthropic_headers(const struct model_request *r, const struct dialect *d, struct arena *a,
                       struct http_headers *out);

void anthropic_begin(struct decode *d);
struct err *anthropic_event(struct decode *d, struct str type, const struct json *event);
struct err *anthropic_body(struct decode *d, const struct json *body);
struct err *anthropic_classify(int status, const struct json *body);

#endif
