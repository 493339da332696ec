/* openai_error.h - errors of the OpenAI APIs and of APIs like them. */
#ifndef KEEL_PROVIDER_OPENAI_ERROR_H
#define KEEL_PROVIDER_OPENAI_ERROR_H

#include "base/json.h"

/* For struct protocol's classify. */
struct err *openai_classify(int status, const struct json *body);

#endif
