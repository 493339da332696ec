/* prepared.c - looks up where the paths of a call lead. */
#include "gate/prepared.h"

#include "base/protected_places.h"
#include "gate/command.h"
#include "gate/git_places.h"
#include "gate/look/look.h"
#include "gate/path.h"
#include "gate/reach.h"
#include "gate/rulebook.h"
#include "port/mcp_name.h"
#include "sys/dir_names.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <sys/stat.h>

#define MAX_RULE_ALIASES 64

/* --- directories with two names --- */

struct list {
    struct prepared *prepared;
    struct arena *arena;
    size_t room;
    struct seen_paths seen;
};

static void add_alias(struct list *l, const char *given, const char *real)
{
    struct prepared *p = l->prepared;

    if (!real || strcmp(given, real) == 0)
        return;
    p->aliases = arena_grow(l->arena, p->aliases, p->n_aliases, &l->room, sizeof *p->aliases);
    p->aliases[p->n_aliases++] = (struct alias){given, real};
}

/* The target of the directory, or the directory as given if the target is unknown. */
static const char *add_directory(struct list *l, const char *given)
{
    struct place place = place_find_again(l->arena, given, given, &l->seen);

    add_alias(l, given, place.real);
    return place.real ? place.real : given;
}

static bool is_about_paths(struct str tool)
{
    return !str_is(tool, "Bash") && !str_is(tool, TOOL_WEB_FETCH) && !mcp_name_is(tool);
}

/* The path in a rule that denies or asks may be a link, and the call may name its target. */
static void add_rules(struct list *l, const struct rule_list *rules, const struct subject *s)
{
    for (size_t i = 0; i < rules->n && l->prepared->n_aliases < MAX_RULE_ALIASES; i++) {
        const struct pattern *p = &rules->patterns[i];
        const char *head;

        if (p->is_broken || pattern_takes_any(p) || !is_about_paths(p->tool))
            continue;
        head = path_pattern_head(p->argument, s, l->arena);
        if (head)
            add_directory(l, head);
    }
}

static const char *find_workspace(struct list *l, const struct hard_policy *policy,
                                  const char *given)
{
    if (!policy || !policy->workspace || strcmp(policy->workspace, given) != 0)
        return add_directory(l, given);
    add_alias(l, given, policy->real_workspace);
    return policy->real_workspace;
}

void prepared_find_aliases(struct prepared *p, const struct rulebook *rules,
                           const struct hard_policy *policy, const struct subject *s,
                           struct arena *a)
{
    struct list l = {.prepared = p, .arena = a, .seen = {.arena = a}};

    p->workspace = find_workspace(&l, policy, tool_state_workspace(s->state));
    if (env_get(s->environment, S("HOME")).n)
        p->home = add_directory(&l, tool_state_path(s->state, a, s->environment, S("~")));
    p->n_own_aliases = p->n_aliases;
    add_directory(&l, tool_state_cwd(s->state));
    if (!rules)
        return;
    add_rules(&l, &rules->lists[RULE_DENY], s);
    add_rules(&l, &rules->lists[RULE_ASK], s);
}

/* --- a call --- */

struct place_lookup {
    const struct rulebook *rules;
    struct hard_policy policy; /* a copy: it may change while a worker looks */
    const struct subject *subject;
    struct arena *arena;
    struct prepared *prepared;
};

/* A shell passes ".." to the kernel, so it is resolved here. */
static struct place find_word(const struct place_lookup *j, struct str text)
{
    const struct subject *s = j->subject;
    const char *given = tool_state_path(s->state, j->arena, s->environment, text), *path;

    if (str_starts(text, S("/")))
        path = arena_cstr(j->arena, text);
    else if (str_is(text, "~") || str_starts(text, S("~/")))
        path = given;
    else
        path = arena_format(j->arena, "%s/%" STR_FMT, tool_state_cwd(s->state), STR_ARG(text)).p;
    /* a name there has another meaning for each process */
    return place_is_in(given, "/proc") ? place_unseen(given) : place_find(j->arena, given, path);
}

static void find_files(const struct place_lookup *j)
{
    struct prepared *p = j->prepared;
    const struct shell_split *split = &p->command->split;
    struct place *redirected = ARENA_ARRAY(j->arena, split->n_redirections, struct place), *written;
    struct str *paths;

    for (size_t i = 0; i < split->n_redirections; i++)
        if (command_is_path(&split->redirections[i].target))
            redirected[i] = find_word(j, split->redirections[i].target.text);
    shell_written_paths(j->arena, split, &paths, &p->n_written);
    written = ARENA_ARRAY(j->arena, p->n_written, struct place);
    for (size_t i = 0; i < p->n_written; i++)
        if (paths[i].n <= PATH_MAX_BYTES && str_find_char(paths[i], '\0') == STR_NONE)
            written[i] = find_word(j, paths[i]);
    p->redirected = redirected;
    p->written = written;
}

static bool has_places(const struct prepared *p)
{
    return p->path.given || p->searched.given || p->n_written ||
           (p->command && p->command->split.n_redirections);
}

static void find_reach(const struct reach_map *map, struct place *places, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (places[i].given && places[i].real)
            places[i].reach = reach_of(map, places[i].real, &places[i].is_dir);
}

/* --- places to be written --- */

const char *prepared_root_of(const struct prepared *p, const struct hard_policy *policy,
                             const char *path)
{
    const char *root = place_is_in(path, p->workspace) ? p->workspace : "/";

    for (size_t i = 0; i < policy->n_writable; i++) {
        const char *directory = policy->writable[i];

        if (place_is_in(path, directory) && strlen(directory) > strlen(root))
            root = directory;
    }
    return root;
}

static const char *root_of(const struct place_lookup *j, const char *path)
{
    return prepared_root_of(j->prepared, &j->policy, path);
}

/* The target of a start-up file's link in the home is obeyed under any name: ~/.bashrc may lead to
 * a file "bashrc" in a directory of dotfiles. */
static const struct protected_place *find_linked(const struct place_lookup *j, const char *path,
                                                 const char *root)
{
    const char *home = j->prepared->home;
    struct names_below names;

    names_below_init_home(&names, j->arena, home);
    for (const struct protected_place *row = protected_places; home && row->path; row++) {
        const char *given, *real;
        struct stat st;

        if (!(row->how & PLACE_REFUSED) || names_below_lack(&names, row->path))
            continue;
        given = fs_join(j->arena, home, row->path);
        if (lstat(given, &st) < 0 || !S_ISLNK(st.st_mode))
            continue;
        real = place_find(j->arena, given, given).real;
        if (real && place_is_in(path, real) && !place_is_in(root, real))
            return row;
    }
    return NULL;
}

/* A file with a protected name is protected even if it is a link to another file. */
static void find_guard(const struct place_lookup *j, struct place *place)
{
    const struct prepared *p = j->prepared;
    struct names given = prepared_own_names(p, place->given, j->arena);
    const struct protected_place *found;

    place->guarded = protected_place_find(place->real, root_of(j, place->real), p->home);
    for (size_t i = 0; i < given.n; i++) {
        found = protected_place_find(given.paths[i], root_of(j, given.paths[i]), p->home);
        if (!place->guarded || (found && (found->how & PLACE_REFUSED)))
            place->guarded = found;
    }
    if (!place->guarded || !(place->guarded->how & PLACE_REFUSED)) {
        found = find_linked(j, place->real, root_of(j, place->real));
        place->guarded = found ? found : place->guarded;
    }
    git_place_find(j->arena, place, root_of(j, place->real), p->home);
}

/* A line usually writes to what it redirects to, which was looked up already. */
static const struct place *find_redirected(const struct prepared *p, const struct place *place)
{
    for (size_t i = 0; i < p->command->split.n_redirections; i++) {
        const struct place *other = &p->redirected[i];

        if (p->command->split.redirections[i].writes && other->real &&
            strcmp(other->real, place->real) == 0 && strcmp(other->given, place->given) == 0)
            return other;
    }
    return NULL;
}

static void find_guard_of_written(const struct place_lookup *j, struct place *place)
{
    const struct place *same = find_redirected(j->prepared, place);

    if (!same) {
        find_guard(j, place);
        return;
    }
    place->guarded = same->guarded;
    place->git = same->git;
    place->git_dir = same->git_dir;
}

static void find_guards(const struct place_lookup *j)
{
    struct prepared *p = j->prepared;

    if (j->subject->tool->risk == RISK_MODIFY && p->path.given && p->path.real)
        find_guard(j, &p->path);
    for (size_t i = 0; p->command && i < p->command->split.n_redirections; i++)
        if (p->command->split.redirections[i].writes && p->redirected[i].real)
            find_guard(j, &p->redirected[i]);
    for (size_t i = 0; i < p->n_written; i++)
        if (p->written[i].real)
            find_guard_of_written(j, &p->written[i]);
}

/* --- kinds of places --- */

static void find_reaches(const struct place_lookup *j)
{
    struct prepared *p = j->prepared;
    struct reach_map map;

    reach_map_init(&map, j->arena, &j->policy, p->workspace, p->home);
    find_reach(&map, &p->path, 1);
    find_reach(&map, &p->searched, 1);
    find_reach(&map, &p->search_root, 1);
    if (!p->command)
        return;
    find_reach(&map, p->redirected, p->command->split.n_redirections);
    find_reach(&map, p->written, p->n_written);
}

/* A background command would keep running after this call. */
static void find_look(const struct place_lookup *j)
{
    struct prepared *p = j->prepared;
    struct subject s = *j->subject;
    struct reach_map map;

    p->only_looks = p->command && split_only_looks(&p->command->split) &&
                    !json_bool(json_get(s.args, "run_in_background"), false);
    p->moves = p->only_looks && split_moves(&p->command->split);
    if (!p->only_looks || !j->rules || !j->rules->looks_freely)
        return;
    s.command = p->command;
    reach_map_init(&map, j->arena, &j->policy, p->workspace, p->home);
    p->looks_freely = look_stays_free(&s, &map, j->arena);
}

static struct err *lookup_run(void *arg)
{
    const struct place_lookup *j = arg;
    const char *given = subject_path(j->subject, j->arena);
    const char *searched = subject_searched(j->subject, j->arena, /* only_dirs= */ false);
    const char *root = subject_searched(j->subject, j->arena, /* only_dirs= */ true);

    if (given)
        j->prepared->path = place_find(j->arena, given, given);
    if (searched)
        j->prepared->searched = place_find(j->arena, searched, searched);
    if (root)
        j->prepared->search_root = place_find(j->arena, root, root);
    if (j->prepared->command)
        find_files(j);
    prepared_find_aliases(j->prepared, has_places(j->prepared) ? j->rules : NULL, &j->policy,
                          j->subject, j->arena);
    if (has_places(j->prepared)) {
        find_reaches(j);
        find_guards(j);
    }
    find_look(j);
    return NULL;
}

struct err *gate_prepare(const struct rulebook *rules, const struct hard_policy *policy,
                         const struct subject *s, struct arena *a, struct prepared *ret_prepared)
{
    struct subject split = *s;
    struct place_lookup job = {
        .rules = rules, .policy = *policy, .subject = s, .arena = a, .prepared = ret_prepared};

    split.other_shell = rules && rules->other_shell;
    subject_split_command(&split, a);
    *ret_prepared = (struct prepared){.command = split.command};
    return task_self() ? work_run(lookup_run, &job) : lookup_run(&job);
}

/* --- names --- */

struct name_list {
    struct names names;
    struct arena *arena;
    size_t room;
};

static void add_name(struct name_list *l, const char *path)
{
    if (!path)
        return;
    for (size_t i = 0; i < l->names.n; i++)
        if (strcmp(l->names.paths[i], path) == 0)
            return;
    l->names.paths = arena_grow(l->arena, l->names.paths, l->names.n, &l->room, sizeof path);
    l->names.paths[l->names.n++] = path;
}

/* Adds the other name of each of the first n aliases that contain the path. */
static void add_renamed(struct name_list *l, const struct prepared *p, const char *path, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add_name(l, place_rename(l->arena, path, p->aliases[i].real, p->aliases[i].given));
        if (i < p->n_own_aliases)
            add_name(l, place_rename(l->arena, path, p->aliases[i].given, p->aliases[i].real));
    }
}

struct names prepared_own_names(const struct prepared *p, const char *path, struct arena *a)
{
    struct name_list l = {.arena = a};

    add_name(&l, path);
    if (p)
        add_renamed(&l, p, path, p->n_own_aliases);
    return l.names;
}

static void add_place(struct name_list *l, const struct place *place)
{
    add_name(l, place->given);
    add_name(l, place->real);
    for (size_t i = 0; i < place->n_via; i++)
        add_name(l, place->via[i]);
}

struct names prepared_wide_names(const struct prepared *p, const struct place *place,
                                 struct arena *a)
{
    struct name_list l = {.arena = a};
    size_t n;

    add_place(&l, place);
    if (p)
        add_place(&l, &p->searched);
    n = l.names.n;
    for (size_t i = 0; p && i < n; i++)
        add_renamed(&l, p, l.names.paths[i], p->n_aliases);
    return l.names;
}
