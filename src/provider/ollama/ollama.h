/* ollama.h - the reader of Ollama's own protocol, for its descriptor. */
#ifndef KEEL_PROVIDER_OLLAMA_H
#define KEEL_PROVIDER_OLLAMA_H

#include "provider/protocol.h"

void ollama_begin(struct decode *d);
struct err *ollama_end(struct decode *d);
bool ollama_is_event(struct str type, const struct json *event);
struct err *ollama_event(struct decode *d, struct str type, const struct json *event);
struct err *ollama_body(struct decode *d, const struct json *body);
struct err *ollama_classify(int status, const struct json *body);

#endif
