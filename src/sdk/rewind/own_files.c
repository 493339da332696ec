/* own_files.c - where the store is, seen from the workspace. */
#include "sdk/rewind/own_files.h"

#include <stdlib.h>

struct own_place {
    const struct store *store;
    bool is_whole; /* all below its place is the store's */
};

static bool is_or_is_below(struct str path, struct str dir)
{
    if (str_is(dir, "/"))
        return str_starts(path, dir);
    return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

static bool is_own(const void *self, struct str path, bool is_dir)
{
    const struct own_place *o = self;

    return (o->is_whole && is_or_is_below(path, str_of(o->store->place))) ||
           store_owns(o->store, path);
}

/* Files of the store are beside its place as well as in it. */
static bool is_near(const struct store *s, const char *root, bool *whole)
{
    AUTO_FREE char *real = root ? realpath(root, NULL) : NULL;
    struct str place = str_of(s->place), dir = str_of(real);

    if (!real)
        return false;
    *whole &= !is_or_is_below(dir, place); /* else it is the workspace, or holds it */
    return is_or_is_below(place, dir) || is_or_is_below(dir, place);
}

const struct path_filter *own_files(const struct store *s, const char *workspace,
                                    const char *const *added_dirs, size_t n_added_dirs,
                                    struct arena *a)
{
    struct path_filter *filter;
    struct own_place *own;
    bool is_needed, whole = true;

    if (!s->place)
        return NULL;
    is_needed = is_near(s, workspace, &whole);
    for (size_t i = 0; i < n_added_dirs; i++)
        is_needed |= is_near(s, added_dirs[i], &whole);
    if (!is_needed)
        return NULL;
    own = ARENA_NEW(a, struct own_place);
    filter = ARENA_NEW(a, struct path_filter);
    *own = (struct own_place){.store = s, .is_whole = whole};
    *filter = (struct path_filter){.is_hidden = is_own, .self = own};
    return filter;
}
