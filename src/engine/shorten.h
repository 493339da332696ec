/* shorten.h - a history that does not fit, without its longest results or its beginning. Pure.
 *
 * For requests that are not the conversation's own: the conversation itself is never cut. The same
 * cut of the same history gives the same messages. */
#ifndef KEEL_ENGINE_SHORTEN_H
#define KEEL_ENGINE_SHORTEN_H

#include "model/history.h"

/* What to omit to save about `n_tokens`: results of tools, the largest first, and
 * only then messages from the beginning; never the last one. Its array is in `a`. */
struct history_cut shorten_plan(const struct message *const *messages, size_t n_messages,
                                int64_t n_tokens, struct arena *a);

/* References are held until shortened_done(). */
struct shortened {
    struct message **items;
    size_t n;
};
void shorten(const struct message *const *messages, size_t n_messages,
             const struct history_cut *cut, struct shortened *ret);
void shortened_done(struct shortened *s);
DEFINE_AUTO_VAL(shortened, shortened_done)

#endif
