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

/* The entry of this name in a list; NULL: it is not there. "m" is found as "m:latest", too. */
const struct model_info *model_list_find(const struct model_list *models, struct str id);

/* What a local server is asked to make room for where nobody says anything else: enough for an
 * agent, while every token of a window costs memory of the machine. */
#define MODEL_LOCAL_WINDOW 65536

/* What Ollama's /api/show tells about one model. Its window is the one to be used: what the model's
 * own settings say (num_ctx), else what it was made for, up to MODEL_LOCAL_WINDOW. Strings live in
 * `a`. ERR_BAD_RESPONSE when it tells nothing of that. */
MUST_USE struct err *model_show_parse(struct arena *a, struct str id, const struct json *root,
                                      struct model_info *ret_model);

#endif
