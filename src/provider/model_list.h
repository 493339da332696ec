/* model_list.h - reads the lists of models that providers publish, whatever their shape. */
#ifndef KEEL_PROVIDER_MODEL_LIST_H
#define KEEL_PROVIDER_MODEL_LIST_H

#include "port/provider.h"

#define MODEL_LIST_MAX 5000

/* {"data":[{"id",...}]} (OpenAI, Anthropic, OpenRouter with prices), {"models":[{"name",...}]}
 * (Gemini, Ollama) or a bare array. Strings live in `a`. Unknown numbers are 0, prices -1. */
MUST_USE struct err *model_list_parse(struct arena *a, const struct json *root,
                                      struct model_list *ret_models);

#endif
