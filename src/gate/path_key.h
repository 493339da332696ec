/* path_key.h - most path patterns are for other paths, as a few of their bytes tell.
 *
 * A path that a pattern matches holds the plain text of it. Three bytes in a row are looked at
 * where that begins and three where it ends. */
#ifndef KEEL_GATE_PATH_KEY_H
#define KEEL_GATE_PATH_KEY_H

#include "gate/pattern.h"

#define PATH_GRAM_BITS 10
#define PATH_GRAM_NONE (1 << PATH_GRAM_BITS)

struct path_key {
    uint16_t grams[2];
};
struct path_key path_key_of(struct str pattern);
struct path_key path_key_of_any(void);

/* What paths hold; zeroed: there are none. */
struct path_grams {
    bool has[PATH_GRAM_NONE + 1];
};
void path_grams_add(struct path_grams *g, const char *path);
void path_grams_add_all(struct path_grams *g);

/* Could a pattern that cannot be read hide behind its key? Only where bases are very long. */
bool path_bases_are_long(const struct path_bases *bases);

/* False: the pattern matches none of the paths, read either way. */
static inline bool path_grams_may_match(const struct path_grams *g, struct path_key key)
{
    return g->has[key.grams[0]] && g->has[key.grams[1]];
}

#endif
