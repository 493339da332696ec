/* policy.c - from directories and rules to a policy. */
#include "sdk/sandbox/policy.h"

#include "base/protected_places.h"
#include "config/own_settings.h"
#include "sandbox/guard/survey.h"
#include "sandbox/plan/mode_walk.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/secret_dirs.h"
#include "sdk/sandbox/denied_rules.h"
#include "sys/dir_watch.h"
#include "sys/fs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_FOUND = 1024,         /* files that patterns name: each of them is a mount */
    MAX_UNTRUSTED_FOUND = 64, /* that rules of a project name which is not trusted */
};

/* What an entry of a directory is. */
enum {
    FOUND_HIDDEN = 1 << 0,
    FOUND_READ_ONLY = 1 << 1,
    FOUND_BY_OWN = 1 << 2, /* a rule says so that does not come from others */
    FOUND_CLOSED = 1 << 3, /* nothing in it is reached */
};

struct name_shape;

/* A directory that is kept known. */
struct watched {
    struct watched *next;
    struct policy_maker *maker;
    char *path;  /* canonical */
    char *named; /* as rules name it, where links lead to it; else the same */
    struct dir_watch *watch;
    int reader;
    int git_reader; /* of repositories in a writable directory; -1: none */
};

struct policy_maker {
    struct policy_source source;
    /* As they were before the first command: later, commands may have put links on the way. */
    struct arena arena;
    const char *workspace, *home;
    struct path_list added_dirs, own, own_settings;
    struct dir_watches *own_watches; /* where the source brings none; may be NULL */
    struct watched *watched;
    struct denied_places denied; /* that the directories were judged by */
    struct name_shape *shapes;   /* one for each of them */
    bool has_denied;
    /* By their mode, as the first command found them, and the first that only looks. */
    struct path_list private_places, not_public;
    bool has_private_places, has_not_public;
    struct path_list opened; /* workspace and added directories: a mode means nothing there */
    struct mode_walk *walk;  /* while a policy is made; else NULL */
    bool finds_not_public;   /* it does */
    struct secret_dirs secret_dirs;
};

/* --- paths --- */

static const char *real_path(struct arena *a, const char *path)
{
    char real[PATH_MAX];

    return realpath(path, real) ? arena_cstr(a, str_of(real)) : NULL;
}

/* What is not there has the place that it would have. */
static const char *place_of(struct arena *a, const char *path)
{
    char *above = arena_cstr(a, str_of(path));
    const char *real;

    while (!(real = real_path(a, above))) {
        char *slash = strrchr(above, '/');

        if (!slash || slash == above)
            return path;
        *slash = 0;
    }
    path += strlen(above);
    return *path && strcmp(real, "/") != 0 ? arena_format(a, "%s%s", real, path).p
           : *path                         ? path
                                           : real;
}

/* The same for a link itself. */
static const char *place_of_link(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *above = slash > path ? arena_cstr(a, str_make(path, (size_t)(slash - path))) : "/";

    above = place_of(a, above);
    return fs_join(a, strcmp(above, "/") == 0 ? "" : above, slash + 1);
}

/* --- entries of directories --- */

static size_t span_without(struct str s, const char *special)
{
    size_t n = 0;

    while (n < s.n && !strchr(special, s.p[n]))
        n++;
    return n;
}

/* How the names begin and end that a pattern can mean: for most names that is quickly seen. */
struct name_shape {
    struct str head, tail;
};

/* Empty where it may begin in the middle of something. */
static struct name_shape shape_of(struct str pattern)
{
    struct str last = str_skip(pattern, str_rfind_char(pattern, '/') + 1);
    size_t head = span_without(last, "*?"), tail = last.n;

    if (span_without(last, "[]{}\\") < last.n)
        return (struct name_shape){0};
    while (tail > head && !strchr("*?", last.p[tail - 1]))
        tail--;
    return (struct name_shape){str_slice(last, 0, head), str_skip(last, tail)};
}

static bool may_match(const struct name_shape *shape, struct str name)
{
    return str_starts(name, shape->head) && str_ends(name, shape->tail);
}

static unsigned judge_by(const struct denied_place *place, const struct strbuf *path)
{
    if (!glob_matches(place->glob, strbuf_str(path)))
        return 0;
    if (place->is_untrusted) /* what is below must be known: it may not be hidden after all */
        return place->hides ? FOUND_HIDDEN : FOUND_READ_ONLY;
    return FOUND_BY_OWN | (place->hides ? FOUND_HIDDEN | FOUND_CLOSED : FOUND_READ_ONLY);
}

/* An entry's path, with the name that rules have for the directory that is watched. */
static void write_path(const char *top, const struct watched_dir *dir, const char *name,
                       struct strbuf *path)
{
    strbuf_addf(path, "%s/", strcmp(top, "/") == 0 ? "" : top);
    watched_dir_path(dir, path);
    if (path->p[path->n - 1] != '/')
        strbuf_add_char(path, '/');
    strbuf_add_cstr(path, name);
}

static unsigned watched_judge(void *self, const struct watched_dir *dir, const char *name)
{
    const struct watched *w = self;
    const struct denied_places *denied = &w->maker->denied;
    AUTO(strbuf) struct strbuf path = {0};
    unsigned meaning = 0;

    for (size_t i = 0; i < denied->n; i++) {
        const struct denied_place *place = &denied->items[i];

        if (!place->glob || !may_match(&w->maker->shapes[i], str_of(name)))
            continue;
        if (path.n == 0)
            write_path(w->named, dir, name, &path);
        meaning |= judge_by(place, &path);
    }
    return meaning;
}

/* --- what is watched --- */

static void unwatch_all(struct policy_maker *m)
{
    while (m->watched) {
        struct watched *w = m->watched;

        m->watched = w->next;
        if (w->reader >= 0)
            dir_watch_remove_reader(w->watch, w->reader);
        if (w->git_reader >= 0)
            dir_watch_remove_reader(w->watch, w->git_reader);
        dir_watch_unref(w->watch);
        mem_free(w->path);
        mem_free(w->named);
        mem_free(w);
    }
    if (m->has_denied)
        denied_places_done(&m->denied);
    mem_free(TAKE(m->shapes));
    m->has_denied = false;
}

/* Everything in it is seen under the name that rules have for it. */
static bool is_watched(const struct policy_maker *m, const char *path, const char *named)
{
    for (const struct watched *w = m->watched; w; w = w->next)
        if (path_is_in(path, w->path) && path_is_in(named, w->named) &&
            strcmp(path + strlen(w->path), named + strlen(w->named)) == 0)
            return true;
    return false;
}

static struct dir_watches *watches_of(struct policy_maker *m)
{
    if (m->source.watches)
        return m->source.watches;
    if (!m->own_watches)
        m->own_watches = dir_watches_new();
    return m->own_watches;
}

static struct err *watch(struct policy_maker *m, const char *path, const char *named,
                         bool has_repositories)
{
    struct watched *w;

    if (is_watched(m, path, named))
        return NULL;
    w = mem_alloc(sizeof *w);
    *w = (struct watched){.next = m->watched,
                          .maker = m,
                          .path = mem_strdup(path),
                          .named = mem_strdup(named),
                          .watch = dir_watches_get(watches_of(m), path)};
    m->watched = w;
    w->git_reader = has_repositories ? survey_add_reader(w->watch) : -1;
    w->reader = dir_watch_add_reader(
        w->watch, &(struct dir_judge){watched_judge, w, /* closing= */ FOUND_CLOSED});
    return w->reader < 0 ? err_new(ERR_SANDBOX, "%s is named by too many rules", path) : NULL;
}

/* --- one policy --- */

struct policy_making {
    struct policy_maker *maker;
    struct arena *arena;
    const char *workspace, *cwd; /* canonical */
    struct denied_places denied; /* the rules as they are now */
    struct path_list writable, visible, hidden, read_only;
    struct path_list denied_hidden, denied_read_only; /* by rules, for what lies in them */
    const struct watched *at;                         /* whose finds are visited */
    size_t n_found;
    /* What rules of a project name that is not trusted, and its real place: in pairs. */
    struct path_list untrusted_hidden, untrusted_read_only;
    struct sandbox_policy *policy;
};

static void policy_making_done(struct policy_making *k)
{
    denied_places_done(&k->denied);
}
DEFINE_AUTO_VAL(policy_making, policy_making_done)

/* The rules, seen from where the command starts. */
static struct err *read_rules(struct policy_making *k)
{
    AUTO(tool_state) struct tool_state *session = tool_state_new(str_of(k->workspace));

    tool_state_set_cwd(session, k->cwd);
    TRY(denied_places_init(&k->denied, k->maker->source.rules, session));
    denied_rules_choose(&k->denied, k->workspace);
    return NULL;
}

/* --- rules that name a place --- */

/* What may not be written must not be replaced either, where it is a link. */
static void deny(struct policy_making *k, const char *path, const char *real, bool hides)
{
    path_list_add(hides ? &k->hidden : &k->read_only, real);
    path_list_add(hides ? &k->denied_hidden : &k->denied_read_only, real);
    if (!hides && strcmp(path, real) != 0)
        path_list_add(&k->read_only, path);
}

/* A link may lead to what is not theirs, and a command must be able to begin where it is told to.
 */
static bool is_theirs(const struct policy_making *k, const char *real)
{
    return path_is_in(real, k->workspace) && !path_is_in(k->cwd, real);
}

static void deny_fixed(struct policy_making *k)
{
    for (size_t i = 0; i < k->denied.n; i++) {
        const struct denied_place *p = &k->denied.items[i];
        const char *real = p->glob ? NULL : place_of(k->arena, p->path);

        if (real && (!p->is_untrusted || is_theirs(k, real)))
            deny(k, place_of_link(k->arena, p->path), real, p->hides);
    }
}

/* --- rules with patterns --- */

/* What was judged by other patterns is of no use. */
static void choose_patterns(struct policy_making *k)
{
    struct policy_maker *m = k->maker;

    if (m->has_denied && denied_rules_same_patterns(&m->denied, &k->denied))
        return;
    unwatch_all(m);
    m->denied = k->denied;
    m->has_denied = true;
    m->shapes = mem_alloc((m->denied.n + 1) * sizeof *m->shapes);
    for (size_t i = 0; i < m->denied.n; i++)
        m->shapes[i] = shape_of(m->denied.items[i].pattern);
    k->denied = (struct denied_places){0};
}

/* Directories may come into being. */
static struct err *choose_watched(struct policy_making *k)
{
    struct policy_maker *m = k->maker;

    TRY(watch(m, k->workspace, k->workspace, /* has_repositories= */ true));
    for (size_t i = 0; i < k->writable.n; i++)
        TRY(watch(m, k->writable.paths[i], k->writable.paths[i], /* has_repositories= */ true));
    for (size_t i = 0; i < m->denied.n; i++) {
        const struct denied_place *p = &m->denied.items[i];
        const char *real = p->glob ? real_path(k->arena, p->path) : NULL;

        if (real)
            TRY(watch(m, real, p->path, /* has_repositories= */ false));
    }
    return NULL;
}

static void add_repository(void *self, const struct watched_dir *dir, const char *name,
                           unsigned meaning)
{
    struct policy_making *k = self;
    AUTO(strbuf) struct strbuf path = {0};

    if (meaning != GIT_NAME_DOT_GIT)
        return;
    watched_dir_path(dir, &path);
    if (path.n) /* the root is one with or without a .git */
        sandbox_protect_directory(&k->read_only, k->at->path,
                                  fs_join(k->arena, k->at->path, strbuf_cstr(&path)));
}

static void add_untrusted(struct policy_making *k, const char *path, bool hides)
{
    struct path_list *list = hides ? &k->untrusted_hidden : &k->untrusted_read_only;
    const char *real = list->n > 2 * MAX_UNTRUSTED_FOUND ? NULL : real_path(k->arena, path);

    if (!real || !is_theirs(k, real))
        return;
    path_list_add(list, arena_cstr(k->arena, str_of(path)));
    path_list_add(list, real);
}

/* Patterns that name very much would take from commands what they work with. */
static void deny_untrusted(struct policy_making *k)
{
    const struct path_list *lists[] = {&k->untrusted_read_only, &k->untrusted_hidden};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t j = 0; lists[i]->n <= 2 * MAX_UNTRUSTED_FOUND && j < lists[i]->n; j += 2)
            deny(k, lists[i]->paths[j], lists[i]->paths[j + 1], lists[i] == &k->untrusted_hidden);
}

/* The path, or that of the nearest directory above it that is short enough to be opened: commands
 * reach what lies further down step by step. */
static const char *short_path(struct arena *a, const char *path)
{
    struct str p = str_of(path);

    while (p.n >= PATH_MAX)
        p.n = str_rfind_char(p, '/');
    return arena_cstr(a, p);
}

/* A link is denied with what it leads to, unless that is what everything is in. */
static void deny_found(struct policy_making *k, const char *path, bool hides)
{
    const char *real;

    path = short_path(k->arena, path);
    k->n_found++;
    real = k->n_found > MAX_FOUND ? NULL : real_path(k->arena, path);
    if (real && !path_is_in(k->workspace, real))
        deny(k, path, real, hides);
}

static void add_found(void *self, const struct watched_dir *dir, const char *name, unsigned meaning)
{
    struct policy_making *k = self;
    AUTO(strbuf) struct strbuf path = {0};

    write_path(k->at->path, dir, name, &path);
    if (!(meaning & FOUND_BY_OWN))
        add_untrusted(k, strbuf_cstr(&path), meaning & FOUND_HIDDEN);
    else
        deny_found(k, strbuf_cstr(&path), meaning & FOUND_HIDDEN);
}

/* What is in it is not known, and a command could open it. */
static void add_shut(void *self, const struct watched_dir *dir, enum dir_shut why)
{
    struct policy_making *k = self;
    AUTO(strbuf) struct strbuf path = {0};

    if (why != DIR_IS_SHUT)
        return;
    write_path(k->at->path, dir, "", &path);
    strbuf_cut(&path, path.n - 1);
    deny_found(k, strbuf_cstr(&path), /* hides= */ true);
}

static struct err *update_watched(struct policy_making *k)
{
    for (struct watched *w = k->maker->watched; w; w = w->next) {
        TRY(dir_watch_update(w->watch, NULL));
        k->at = w;
        if (w->git_reader >= 0) {
            sandbox_protect_directory(&k->read_only, w->path, w->path);
            dir_watch_each(w->watch, w->git_reader, add_repository, k);
        }
        dir_watch_each(w->watch, w->reader, add_found, k);
        dir_watch_each_shut(w->watch, add_shut, k);
    }
    deny_untrusted(k);
    if (k->n_found <= MAX_FOUND)
        return NULL;
    return err_hint(
        err_new(ERR_SANDBOX, "deny rules with patterns match more than %d files", MAX_FOUND),
        "deny the directories that hold them instead");
}

/* --- what the rules leave --- */

static const char *find_above(const struct path_list *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (path_is_in(path, l->paths[i]))
            return l->paths[i];
    return NULL;
}

static struct err *weigh_workspace(struct policy_making *k)
{
    const char *above = find_above(&k->denied_hidden, k->workspace);

    if (above)
        return err_hint(
            err_new(ERR_SANDBOX,
                    "a deny rule for Read hides %s from commands, and the workspace with it",
                    above),
            "commands cannot run without the workspace: narrow the rule, or remove the tool with "
            "--disallowed-tools Bash");
    k->policy->workspace_is_read_only = find_above(&k->denied_read_only, k->workspace) != NULL;
    return NULL;
}

/* The nearest place decides, so what lies in a denied one must not be named. */
static void weigh_added_dirs(struct policy_making *k)
{
    struct path_list all = k->writable;

    k->writable = (struct path_list){.arena = k->arena};
    for (size_t i = 0; i < all.n; i++)
        if (!find_above(&k->denied_hidden, all.paths[i]))
            path_list_add(find_above(&k->denied_read_only, all.paths[i]) ? &k->visible
                                                                         : &k->writable,
                          all.paths[i]);
}

/* Once for all commands of an agent. It takes longer than all else, so it begins first. */
static void begin_mode_walk(struct policy_maker *m, bool only_looks)
{
    bool finds_not_public = only_looks && !m->has_not_public;

    if (!finds_not_public && m->has_private_places)
        return;
    m->walk = mode_walk_begin(&(struct mode_walk_options){.finds_private = !m->has_private_places,
                                                          .finds_not_public = finds_not_public,
                                                          .home = m->home,
                                                          .opened = &m->opened});
    m->finds_not_public = finds_not_public;
}

static void end_mode_walk(struct policy_maker *m)
{
    if (!m->walk)
        return;
    mode_walk_end(TAKE(m->walk), &m->private_places, &m->not_public);
    m->has_private_places = true;
    m->has_not_public |= m->finds_not_public;
}

/* In the workspace and in added directories a mode means nothing. */
static bool is_opened(const struct policy_making *k, const char *path)
{
    return path_is_in(path, k->workspace) || find_above(&k->writable, path) ||
           find_above(&k->visible, path);
}

/* One in the workspace is part of it, as a dotenv file is. */
static void add_named_secrets(struct policy_making *k)
{
    struct path_list named = {.arena = k->hidden.arena};

    sandbox_find_named_secrets(&named, k->maker->source.environment, k->maker->home, k->workspace);
    for (size_t i = 0; i < named.n; i++)
        if (!is_opened(k, named.paths[i]))
            path_list_add(&k->hidden, named.paths[i]);
}

static void add_secrets(struct policy_making *k)
{
    const char *home = k->maker->home;
    const struct path_list *private_places = &k->maker->private_places;

    sandbox_find_secrets(&k->hidden, home, k->maker->source.keel_home);
    add_named_secrets(k);
    secret_dirs_update(&k->maker->secret_dirs, home);
    k->policy->secret_dirs = &k->maker->secret_dirs;
    end_mode_walk(k->maker);
    for (size_t i = 0; i < private_places->n; i++)
        if (!is_opened(k, private_places->paths[i]))
            path_list_add(&k->hidden, private_places->paths[i]);
    if (home && !find_above(&k->denied_hidden, home))
        k->policy->home = home;
}

static struct err *make(struct policy_making *k)
{
    TRY(read_rules(k));
    for (size_t i = 0; i < k->maker->added_dirs.n; i++)
        path_list_add(&k->writable, k->maker->added_dirs.paths[i]);
    TRY(plan_check(&(struct sandbox_policy){
        .workspace = k->workspace, .writable = k->writable.paths, .n_writable = k->writable.n}));
    deny_fixed(k);
    choose_patterns(k);
    TRY(choose_watched(k));
    TRY(update_watched(k));
    TRY(weigh_workspace(k));
    weigh_added_dirs(k);
    add_secrets(k);
    for (size_t i = 0; i < k->maker->own_settings.n; i++)
        path_list_add(&k->read_only, k->maker->own_settings.paths[i]);
    return NULL;
}

static void init_lists(struct policy_making *k)
{
    struct path_list empty = {.arena = k->arena};

    k->writable = k->visible = k->hidden = k->read_only = empty;
    k->denied_hidden = k->denied_read_only = empty;
    k->untrusted_hidden = k->untrusted_read_only = empty;
}

static void find_added_dirs(struct policy_maker *m)
{
    const struct policy_source *s = &m->source;

    m->added_dirs = (struct path_list){.arena = &m->arena};
    for (size_t i = 0; i < s->n_added_dirs; i++) {
        const char *given = s->added_dirs[i];
        const char *real =
            real_path(&m->arena, given[0] == '/' ? given : fs_join(&m->arena, m->workspace, given));

        if (real && fs_is_dir(real))
            path_list_add(&m->added_dirs, real);
    }
}

/* In a directory that is protected there. */
static bool is_protected_in(const struct policy_maker *m, const char *path, const char *root)
{
    const struct protected_place *p = NULL;

    if (path_is_in(path, root) && strcmp(path, root) != 0)
        p = protected_place_find(path, root, m->home);
    return p && p->how & PLACE_KEPT;
}

/* A store that is kept among protected files (--store sqlite:.keel/k.db): its directory, as files
 * come and go in it. */
static void find_own_store(struct policy_maker *m)
{
    const char *place = m->source.store_place;
    bool is_protected;

    if (!place)
        return;
    if (!fs_is_dir(place))
        place = arena_cstr(&m->arena, str_make(place, str_rfind_char(str_of(place), '/')));
    is_protected = is_protected_in(m, place, m->workspace);
    for (size_t i = 0; i < m->added_dirs.n; i++)
        is_protected |= is_protected_in(m, place, m->added_dirs.paths[i]);
    if (is_protected)
        path_list_add(&m->own, place);
}

static void find_own(struct policy_maker *m)
{
    const char *home = m->source.keel_home;
    const char *real = home ? real_path(&m->arena, home) : NULL;

    m->own.arena = m->own_settings.arena = &m->arena;
    find_own_store(m);
    if (!real)
        return;
    path_list_add(&m->own, real);
    own_settings_find(&m->own_settings, *home == '/' ? home : real);
}

/* Once, before the first command. */
static void find_places(struct policy_maker *m)
{
    if (m->workspace)
        return;
    m->workspace = real_path(&m->arena, m->source.workspace);
    if (!m->workspace)
        return;
    m->home = m->source.home ? real_path(&m->arena, m->source.home) : NULL;
    find_added_dirs(m);
    find_own(m);
    m->private_places.arena = m->not_public.arena = m->opened.arena = &m->arena;
    path_list_add(&m->opened, m->workspace);
    for (size_t i = 0; i < m->added_dirs.n; i++)
        path_list_add(&m->opened, m->added_dirs.paths[i]);
}

static struct err *make_policy(struct policy_maker *m, const char *cwd, bool only_looks,
                               struct arena *a, struct sandbox_policy *ret_policy)
{
    struct sandbox_policy policy = {0};
    AUTO(policy_making) struct policy_making k = {.maker = m, .arena = a, .policy = &policy};
    struct err *e;

    init_lists(&k);
    find_places(m);
    k.workspace = m->workspace;
    if (!k.workspace)
        return err_errno(ERR_SANDBOX, errno, "cannot open the workspace %s", m->source.workspace);
    k.cwd = real_path(a, cwd);
    if (!k.cwd)
        k.cwd = k.workspace;
    begin_mode_walk(m, only_looks);
    e = make(&k);
    mode_walk_end(TAKE(m->walk), NULL, NULL); /* of a command that does not run */
    TRY(e);
    policy.workspace = k.workspace;
    policy.writable = k.writable.paths;
    policy.n_writable = k.writable.n;
    policy.visible = k.visible.paths;
    policy.n_visible = k.visible.n;
    policy.hidden = k.hidden.paths;
    policy.n_hidden = k.hidden.n;
    policy.own = m->own.paths;
    policy.n_own = m->own.n;
    policy.read_only = k.read_only.paths;
    policy.n_read_only = k.read_only.n;
    *ret_policy = policy;
    return NULL;
}

struct policy_maker *policy_maker_new(const struct policy_source *source)
{
    struct policy_maker *m = mem_alloc(sizeof *m);

    m->source = *source;
    return m;
}

struct err *policy_make(struct policy_maker *m, const char *cwd, struct arena *a,
                        struct sandbox_policy *ret_policy)
{
    return make_policy(m, cwd, /* only_looks= */ false, a, ret_policy);
}

struct err *policy_make_looking(struct policy_maker *m, const char *cwd, struct arena *a,
                                struct sandbox_policy *ret_policy)
{
    TRY(make_policy(m, cwd, /* only_looks= */ true, a, ret_policy));
    return policy_only_look(m->home, &m->not_public, a, ret_policy);
}

bool policy_maker_is_quick(const struct policy_maker *m, bool only_looks)
{
    if (only_looks && !m->has_not_public)
        return false;
    for (const struct watched *w = m->watched; w; w = w->next)
        if (!dir_watch_is_quick(w->watch))
            return false;
    return m->watched;
}

void policy_maker_free(struct policy_maker *m)
{
    if (!m)
        return;
    unwatch_all(m);
    dir_watches_free(m->own_watches);
    secret_dirs_done(&m->secret_dirs);
    arena_done(&m->arena);
    mem_free(m);
}
