/* model_list.h - reads the lists of models that providers publish, whatever their shape.
 *
 * {"data": [{"id"}]} of OpenAI and most others, {"models": [{"name"}]} of Gemini and Ollama, or a
 * bare array (Together); inside, each vendor has its own names for windows, prices and abilities.
 * Entries that say that they cannot hold a conversation are skipped, and so are ids that cannot be
 * shown on a terminal. Unknown numbers are 0, unknown prices -1. */
#ifndef KEEL_PROVIDER_MODEL_LIST_H
#define KEEL_PROVIDER_MODEL_LIST_H

#include "port/provider.h"

#define MODEL_LIST_MAX 5000
#define MODEL_LIST_MAX_NAME 256 /* bytes of an id or a name */

/* Strings live in `a`. ERR_BAD_RESPONSE if there is no list in it. */
MUST_USE struct err *model_list_parse(struct arena *a, const struct json *root,
                                      struct model_list *ret_models);

/* The entry of this name; NULL: none. "m" also finds "m:latest". */
const struct model_info *model_list_find(const struct model_list *models, struct str id);

/* The default window that keel asks a local server for: enough for an agent, while every token of a
 * window costs memory. */
#define MODEL_LOCAL_WINDOW 65536

/* Reads Ollama's /api/show. The window of the model is the one to use: that of its settings
 * (num_ctx), else that of its training, up to MODEL_LOCAL_WINDOW. Strings live in `a`.
 * ERR_BAD_RESPONSE if it has neither. */
MUST_USE struct err *model_show_parse(struct arena *a, struct str id, const struct json *root,
                                      struct model_info *ret_model);

#endif
