/* scope.c - the writable directories of a sandbox. */
#include "sandbox/guard/scope.h"

#include "sandbox/guard/places.h"
#include "sandbox/plan/plan.h"

#include <stdlib.h>

struct scope {
    struct dir_watches *own_watches; /* where the policy brings none; may be NULL */
    struct survey *surveys;
    size_t n_surveys;
    char *home;         /* may be NULL */
    struct arena arena; /* of the places */
    struct places places;
    bool has_places;
    const char **read_only; /* the places and what the policy names */
};

struct scope *scope_new(void)
{
    return mem_alloc(sizeof(struct scope));
}

void scope_free(struct scope *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_surveys; i++)
        survey_done(&s->surveys[i]);
    mem_free(s->surveys);
    dir_watches_free(s->own_watches);
    mem_free(s->home);
    mem_free(s->read_only);
    arena_done(&s->arena);
    mem_free(s);
}

/* --- which directories --- */

const char *scope_root_of(const struct sandbox_policy *policy, size_t index)
{
    if (index == 0)
        return policy->workspace;
    for (size_t i = 0; i < policy->n_writable; i++)
        if (!path_is_in(policy->writable[i], policy->workspace) && --index == 0)
            return policy->writable[i];
    return NULL;
}

static bool is_root(const struct sandbox_policy *policy, const char *path)
{
    const char *root;

    for (size_t i = 0; (root = scope_root_of(policy, i)); i++)
        if (strcmp(root, path) == 0)
            return true;
    return false;
}

static bool has_survey(const struct scope *s, const char *root)
{
    for (size_t i = 0; i < s->n_surveys; i++)
        if (strcmp(s->surveys[i].root, root) == 0)
            return true;
    return false;
}

static void close_others(struct scope *s, const struct sandbox_policy *policy)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_surveys; i++)
        if (is_root(policy, s->surveys[i].root)) {
            s->surveys[n++] = s->surveys[i];
        } else {
            survey_done(&s->surveys[i]);
            s->has_places = false;
        }
    s->n_surveys = n;
}

static struct err *open_survey(struct scope *s, const struct sandbox_policy *policy,
                               const char *root)
{
    AUTO(dir_watch) struct dir_watch *watch = NULL;

    if (!policy->watches && !s->own_watches)
        s->own_watches = dir_watches_new();
    watch = dir_watches_get(policy->watches ? policy->watches : s->own_watches, root);
    TRY(survey_init(&s->surveys[s->n_surveys], watch));
    s->surveys[s->n_surveys++].home = s->home;
    s->has_places = false;
    return NULL;
}

static void choose_home(struct scope *s, const char *home)
{
    if (!home != !s->home || (home && strcmp(home, s->home) != 0)) {
        mem_free(s->home);
        s->home = home ? mem_strdup(home) : NULL;
        s->has_places = false;
        for (size_t i = 0; i < s->n_surveys; i++)
            s->surveys[i].home = s->home;
    }
}

struct err *scope_choose(struct scope *s, const struct sandbox_policy *policy, bool keeps_others)
{
    const char *root;

    choose_home(s, policy->home);
    if (!keeps_others)
        close_others(s, policy);
    s->surveys =
        mem_resize(s->surveys, (s->n_surveys + policy->n_writable + 1) * sizeof *s->surveys);
    for (size_t i = 0; (root = scope_root_of(policy, i)); i++)
        if (!has_survey(s, root))
            TRY(open_survey(s, policy, root));
    return NULL;
}

size_t scope_n(const struct scope *s)
{
    return s->n_surveys;
}

struct survey *scope_survey(const struct scope *s, size_t index)
{
    return &s->surveys[index];
}

/* --- looking --- */

struct err *scope_look_at(struct scope *s, struct survey *one, const struct dir_unlocker *unlocker)
{
    struct err *e = survey_look(one, unlocker);

    s->has_places &= !e && !one->has_changed;
    return e;
}

struct err *scope_look(struct scope *s, const struct dir_unlocker *unlocker)
{
    for (size_t i = 0; i < s->n_surveys; i++)
        TRY(scope_look_at(s, &s->surveys[i], unlocker));
    return NULL;
}

struct err *scope_read(struct scope *s)
{
    for (size_t i = 0; i < s->n_surveys; i++) {
        TRY(survey_read(&s->surveys[i]));
        s->has_places &= !s->surveys[i].has_changed;
    }
    return NULL;
}

bool scope_find_places(struct scope *s)
{
    const struct git_settings *settings = &s->places.settings;

    if (s->has_places && git_stamps_are_good(settings->stamps, settings->n_stamps))
        return false;
    arena_clear(&s->arena);
    places_init(&s->places, &s->arena, s->home);
    for (size_t i = 0; i < s->n_surveys; i++)
        places_add(&s->places, &s->surveys[i]);
    return s->has_places = true;
}

void scope_settle(struct scope *s)
{
    for (size_t i = 0; i < s->n_surveys; i++)
        dir_watch_settle(s->surveys[i].watch);
}

static int place_cmp(const void *a, const void *b)
{
    return path_cmp(*(const char *const *)a, *(const char *const *)b);
}

/* Both lists name most places. In order, those of one directory come together. */
static size_t sort_places(const char **paths, size_t n)
{
    size_t n_kept = 0;

    if (n)
        qsort(paths, n, sizeof *paths, place_cmp);
    for (size_t i = 0; i < n; i++)
        if (n_kept == 0 || strcmp(paths[n_kept - 1], paths[i]) != 0)
            paths[n_kept++] = paths[i];
    return n_kept;
}

struct sandbox_policy scope_policy(struct scope *s, const struct sandbox_policy *policy)
{
    struct sandbox_policy all = *policy;
    size_t n = 0;

    s->read_only =
        mem_resize(s->read_only, (s->places.list.n + policy->n_read_only + 1) * sizeof(char *));
    for (size_t i = 0; i < policy->n_read_only; i++)
        s->read_only[n++] = policy->read_only[i];
    for (size_t i = 0; i < s->places.list.n; i++)
        s->read_only[n++] = s->places.list.paths[i];
    all.sealed = s->places.sealed.paths;
    all.n_sealed = s->places.sealed.n;
    all.open = s->places.open.paths;
    all.n_open = s->places.open.n;
    all.read_only = s->read_only;
    all.n_read_only = sort_places(s->read_only, n);
    return all;
}

bool scope_is_quick(const struct scope *s)
{
    for (size_t i = 0; i < s->n_surveys; i++)
        if (!dir_watch_is_quick(s->surveys[i].watch))
            return false;
    return s->n_surveys > 0;
}
