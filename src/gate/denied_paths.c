/* denied_paths.c - what searches must not show: paths denied to Read, and secrets. */
#include "gate/gate.h"

#include "gate/git_places.h"
#include "gate/path.h"
#include "gate/prepared.h"
#include "gate/reach.h"
#include "gate/reason.h"
#include "gate/rulebook.h"
#include "gate/web.h"

#include <pthread.h>
#include <stdatomic.h>

struct url_rules {
    struct str *items;
    size_t n;
};

struct denied_paths {
    struct path_rule *rules;
    size_t n;
    struct url_rules urls[N_RULE_KINDS]; /* patterns of rules for WebFetch; in the arena */
    struct prepared prepared;            /* only its aliases; in the arena, with the places below */
    struct hard_policy policy;
    bool hides_secrets;
    pthread_mutex_t lock;            /* for the map, which the first search makes */
    _Atomic(struct reach_map *) map; /* NULL: not made yet */
    struct arena arena;
};

static void add_rules(struct denied_paths *d, const struct rule_list *rules,
                      const struct subject *s)
{
    d->rules = mem_alloc(MAX(rules->n, (size_t)1) * sizeof *d->rules);
    for (size_t i = 0; i < rules->n; i++) {
        const struct pattern *p = &rules->patterns[i];

        if (p->is_broken || !str_is(p->tool, "Read") || p->argument.n == 0)
            continue;
        /* If a rule cannot be read, the gate asks before the search starts. */
        d->n += path_rule_init(&d->rules[d->n], pattern_takes_any(p) ? S("//") : p->argument, s,
                               READ_WIDELY);
    }
}

/* A rule without an argument is about the tool, and not about results of others. */
static void add_url_rules(struct denied_paths *d, const struct rulebook *book, enum rule_kind kind)
{
    const struct rule_list *rules = &book->lists[kind];
    struct url_rules *urls = &d->urls[kind];

    urls->items = ARENA_ARRAY(&d->arena, rules->n, struct str);
    for (size_t i = 0; i < rules->n; i++) {
        const struct pattern *p = &rules->patterns[i];

        if (!p->is_broken && str_is(p->tool, TOOL_WEB_FETCH) && p->argument.n)
            urls->items[urls->n++] = arena_str(&d->arena, p->argument);
    }
}

struct denied_paths *denied_paths_new(const struct permission_rules *rules,
                                      const struct tool_state *state)
{
    struct denied_paths *d = mem_alloc(sizeof *d);
    struct subject s = {.state = state, .environment = rules->environment};
    AUTO(rulebook) struct rulebook *book = rulebook_new(rules);

    pthread_mutex_init(&d->lock, NULL);
    add_rules(d, &book->lists[RULE_DENY], &s);
    for (int kind = 0; kind < N_RULE_KINDS; kind++)
        add_url_rules(d, book, (enum rule_kind)kind);
    prepared_find_aliases(&d->prepared, book, /* policy= */ NULL, &s, &d->arena);
    return d;
}

static const char **copy_paths(struct arena *a, const char *const *paths, size_t n)
{
    const char **copies = ARENA_ARRAY(a, n, const char *);

    for (size_t i = 0; i < n; i++)
        copies[i] = arena_cstr(a, str_of(paths[i]));
    return copies;
}

void denied_paths_hide_secrets(struct denied_paths *d, const struct hard_policy *policy)
{
    d->policy = (struct hard_policy){
        .writable = copy_paths(&d->arena, policy->writable, policy->n_writable),
        .n_writable = policy->n_writable,
        .secret = copy_paths(&d->arena, policy->secret, policy->n_secret),
        .n_secret = policy->n_secret};
    d->hides_secrets = true;
}

void denied_paths_free(struct denied_paths *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++)
        path_rule_done(&d->rules[i]);
    mem_free(d->rules);
    mem_free(atomic_load_explicit(&d->map, memory_order_relaxed));
    pthread_mutex_destroy(&d->lock);
    arena_done(&d->arena);
    mem_free(d);
}

static bool is_denied(const struct denied_paths *d, struct str path)
{
    for (size_t i = 0; i < d->n; i++)
        if (path_rule_matches(&d->rules[i], path))
            return true;
    return false;
}

/* Makes the map on demand: most runs search nothing. */
static const struct reach_map *get_map(struct denied_paths *d)
{
    struct reach_map *map = atomic_load_explicit(&d->map, memory_order_acquire);

    if (map)
        return map;
    pthread_mutex_lock(&d->lock);
    map = atomic_load_explicit(&d->map, memory_order_relaxed);
    if (!map) {
        map = mem_alloc(sizeof *map);
        reach_map_init(map, &d->arena, &d->policy, d->prepared.workspace, d->prepared.home);
        atomic_store_explicit(&d->map, map, memory_order_release);
    }
    pthread_mutex_unlock(&d->lock);
    return map;
}

/* Searches follow no links, but may begin below one, or in a place with two names. */
static bool denied_paths_hide_path(const void *self, struct str absolute_path, bool is_dir)
{
    struct denied_paths *d = (struct denied_paths *)self;
    const struct reach_map *map = d->hides_secrets ? get_map(d) : NULL;
    AUTO(arena) struct arena a = {0};
    struct names names;
    struct place place;

    if (d->prepared.n_aliases == 0 && !map)
        return is_denied(d, absolute_path);
    place = place_unseen(arena_cstr(&a, absolute_path));
    names = prepared_wide_names(&d->prepared, &place, &a);
    for (size_t i = 0; i < names.n; i++)
        if (is_denied(d, str_of(names.paths[i])) ||
            (map && reach_hides(map, names.paths[i], is_dir)))
            return true;
    return false;
}

static bool matches_any(const struct url_rules *patterns, struct str url)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (web_match(patterns->items[i], url, READ_WIDELY) != MATCH_NO)
            return true;
    return false;
}

static bool denied_paths_hide_url(const void *self, struct str url)
{
    const struct denied_paths *d = self;

    return matches_any(&d->urls[RULE_DENY], url);
}

/* What allows the first may not allow the second. */
static bool denied_paths_tell_apart(const void *self, struct str from, struct str to)
{
    const struct denied_paths *d = self;
    const struct url_rules *allow = &d->urls[RULE_ALLOW];

    if (matches_any(&d->urls[RULE_DENY], to) || matches_any(&d->urls[RULE_ASK], to))
        return true;
    for (size_t i = 0; i < allow->n; i++)
        if (web_match(allow->items[i], from, READ_NARROWLY) == MATCH_YES &&
            web_match(allow->items[i], to, READ_NARROWLY) != MATCH_YES)
            return true;
    return false;
}

/* Names do not change, but the files that git obeys do. */
static struct err *denied_paths_check_write(const void *self, const char *target)
{
    const struct denied_paths *d = self;
    AUTO(arena) struct arena a = {0};
    struct place place = place_unseen(target);

    git_place_find(&a, &place, prepared_root_of(&d->prepared, &d->policy, target),
                   d->prepared.home);
    if (!place.git)
        return NULL;
    return err_new(ERR_TOOL_DENIED, "%" STR_FMT, STR_ARG(reason_git(&a, &place)));
}

struct path_filter denied_paths_filter(const struct denied_paths *d)
{
    return (struct path_filter){.is_denied_url = denied_paths_hide_url,
                                .tells_apart = denied_paths_tell_apart,
                                .is_hidden = denied_paths_hide_path,
                                .self = d,
                                .check_write = d->hides_secrets ? denied_paths_check_write : NULL};
}
