/* search_model.h - a search by the model's own provider, with one request.
 *
 * The model is asked beside the conversation, with the words of the query and no tool except its
 * provider's search. What the provider found and the model cites become hits; the model's text is
 * their summary. May wait until the tool's deadline. */
#ifndef KEEL_TOOL_WEB_SEARCH_MODEL_H
#define KEEL_TOOL_WEB_SEARCH_MODEL_H

#include "tool/web/service.h"

/* The question, in `a`. The domains are the query's. */
struct model_search web_model_search(struct arena *a, const struct web_query *q) MUST_USE;

/* Adds the pages that an answer names, and its text. An error: the model did not search. Pure. */
MUST_USE struct err *web_hits_add_answer(struct web_hits *h, const struct message *answer);

/* Adds its results to the hits, as the services do. */
MUST_USE struct err *web_search_model(struct tool_context *c, struct web_hits *hits);

#endif
