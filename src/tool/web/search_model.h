/* search_model.h - the search of the model's own provider, asked for with one request.
 *
 * The model is asked beside the conversation, with the words of the query and no tool but its
 * provider's search. What its provider found and what the model cites become hits; what the model
 * says is their summary. May wait, as long as the tool may. */
#ifndef KEEL_TOOL_WEB_SEARCH_MODEL_H
#define KEEL_TOOL_WEB_SEARCH_MODEL_H

#include "tool/web/service.h"

/* The question in `a`; the domains are the query's. */
struct model_search web_model_search(struct arena *a, const struct web_query *q) MUST_USE;

/* The pages that an answer names, and what it says of them. An error: it has not searched. Pure. */
MUST_USE struct err *web_hits_add_answer(struct web_hits *h, const struct message *answer);

/* Like the services: adds what it finds to the hits. */
MUST_USE struct err *web_search_model(struct tool_context *c, struct web_hits *hits);

#endif
