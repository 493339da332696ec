/* model_list.h - reads the lists of models that providers publish, whatever their shape.
 *
 * {"data": [{"id"}]} of OpenAI and most others, {"models": [{"name"}]} of Gemini and Ollama, or a
 * bare array (Together); inside, each vendor has its own names for windows, prices and abilities.
 * An entry that says that it cannot hold a conversation is left out, and so is one whose id could
 * not be shown on a terminal. Unknown numbers are 0, unknown prices -1. */
#ifndef KEEL_PROVIDER_MODEL_LIST_H
#define KEEL_PROVIDER_MODEL_LIST_H

#include "port/provider.h"

#define MODEL_LIST_MAX 5000
#define MODEL_LIST_MAX_NAME 256 /* bytes of an id or a name */

/* Strings live in `a`. ERR_BAD_RESPONSE when there is no list in it. */
MUST_USE struct err *model_list_parse(struct arena *a, const struct json *root,
                                      struct model_list *ret_models);

#endif
