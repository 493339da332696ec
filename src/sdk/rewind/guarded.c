/* guarded.c - a guard around the changes of a rewind. */
#include "sdk/rewind/guarded.h"

#include "config/own_settings.h"
#include "sandbox/guard/guard.h"
#include "sys/fs.h"

#include <stdlib.h>

static const char *real_path(struct arena *a, const char *path)
{
    AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;

    return real ? arena_cstr(a, str_of(real)) : NULL;
}

/* Where all of the file system may be written, no command runs: there is nothing to be planted. A
 * baseline of it would be one of all files. */
static size_t add_but_everything(const char **list, const char *const *dirs, size_t n)
{
    size_t n_added = 0;

    for (size_t i = 0; i < n; i++)
        if (strcmp(dirs[i], "/") != 0)
            list[n_added++] = dirs[i];
    return n_added;
}

/* The directory of a store, unless it holds more than that. */
static const char *store_dir(struct arena *a, const struct store *s, const char *workspace)
{
    const char *place = s->place;

    if (place && !fs_is_dir(place))
        place = arena_cstr(a, str_make(place, str_rfind_char(str_of(place), '/')));
    return place && strcmp(place, workspace) != 0 ? place : NULL;
}

static struct sandbox_policy make_policy(struct arena *a, const struct rewind_options *o,
                                         const struct restore_options *restore,
                                         const struct store *s)
{
    const char *const all[] = {real_path(a, o->home), store_dir(a, s, restore->roots[0])};
    const char **own = ARENA_ARRAY(a, ARRAY_LEN(all), const char *);
    const char **added = ARENA_ARRAY(a, restore->n_roots, const char *);
    struct path_list read_only = {.arena = a};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i])
            own[n++] = all[i];
    if (all[0]) /* by the name that it was given: there may be links on the way */
        own_settings_find(&read_only, *o->home == '/' ? o->home : all[0]);
    return (struct sandbox_policy){
        .workspace = restore->roots[0],
        .writable = added,
        .n_writable = add_but_everything(added, restore->roots + 1, restore->n_roots - 1),
        .read_only = read_only.paths,
        .n_read_only = read_only.n,
        .own = own,
        .n_own = n,
        .home = real_path(a, o->person_home),
        .guard_dir = o->home && *o->home == '/' ? fs_join(a, o->home, "guard") : NULL,
    };
}

static struct err *begin(struct rewind_guard *g, const struct sandbox_policy *policy,
                         bool has_namespaces)
{
    guard_free(TAKE(g->guard));
    g->guard = guard_new(policy->guard_dir);
    guard_expect_own_change(g->guard);
    return guard_begin(g->guard, policy, has_namespaces);
}

/* Remembers all contents, as where no mount protects anything. If those are too many, commands have
 * run with mounts only, and could not change them. */
struct err *rewind_guard_begin(struct rewind_guard *g, const struct rewind_options *o,
                               const struct restore_options *restore, const struct store *s)
{
    struct sandbox_policy policy;
    struct err *e;

    *g = (struct rewind_guard){0};
    if (restore->n_roots == 0 || strcmp(restore->roots[0], "/") == 0)
        return NULL;
    policy = make_policy(&g->arena, o, restore, s);
    e = begin(g, &policy, /* has_namespaces= */ false);
    if (!e)
        return NULL;
    err_ignore(e, "the other way may do");
    return begin(g, &policy, /* has_namespaces= */ true);
}

struct err *rewind_guard_check(struct rewind_guard *g, struct strbuf *notes)
{
    return g->guard ? guard_check(g->guard, notes) : NULL;
}

void rewind_guard_done(struct rewind_guard *g)
{
    guard_free(TAKE(g->guard));
    arena_done(&g->arena);
}
