/* places.c - what of a workspace commands must not write, because others obey or execute it. */
#include "sandbox/guard/places.h"

#include "base/protected_places.h"
#include "sandbox/guard/git_dir.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/plan/plan.h"
#include "sys/dir_names.h"
#include "sys/fs.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* as the kernel has it */

/* Of a git directory. Attributes choose among the programs of the configuration; other files in
 * "info" name none. "branches" and "remotes" say where remote repositories are, as a configuration
 * does. "sl/config" is Sapling's, which works in repositories of git, too. The last two say where
 * all the others are to be found. */
static const char *const git_dir_names[] = {"config",    "config.worktree", "hooks",
                                            "sl/config", "info/attributes", "branches",
                                            "remotes",   "commondir",       "gitdir"};

/* Directories in a git directory that hold others: submodules' and further working trees'. */
static const char *const git_dir_holders[] = {"modules", "worktrees"};

/* --- one place --- */

void path_list_add(struct path_list *l, const char *path)
{
    l->paths = arena_grow(l->arena, l->paths, l->n, &l->room, sizeof *l->paths);
    l->paths[l->n++] = path;
}

/* In the root, but neither all of it nor anything above it. */
static bool is_inside(const struct places *p, const char *path)
{
    return path_is_in(path, p->root) && strcmp(path, p->root) != 0;
}

/* Cuts the last name off. */
static void cut_name(struct strbuf *path)
{
    strbuf_cut(path, MIN(path->n, str_rfind_char(strbuf_str(path), '/')));
}

/* What a path leads to, by its own name, be it there or not: a command could make it. Every link on
 * the way is protected, or a command could have it lead elsewhere. NULL: it leads nowhere. */
static const char *follow(struct places *p, const char *path)
{
    AUTO(strbuf) struct strbuf found = {0};
    struct str rest = str_of(path), part;
    char target[PATH_MAX];
    unsigned n_links = 0;

    while (str_split(&rest, '/', &part)) {
        ssize_t n;

        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            cut_name(&found);
            continue;
        }
        strbuf_addf(&found, "/%" STR_FMT, STR_ARG(part));
        n = readlink(strbuf_cstr(&found), target, sizeof target - 1);
        if (n <= 0)
            continue;
        target[n] = 0;
        if (n_links++ == MAX_LINKS)
            return NULL;
        if (is_inside(p, strbuf_cstr(&found)))
            path_list_add(&p->list, arena_cstr(p->arena, strbuf_str(&found)));
        if (target[0] == '/')
            strbuf_clear(&found);
        else
            cut_name(&found);
        rest = arena_format(p->arena, "%s/%" STR_FMT, target, STR_ARG(rest));
    }
    return found.n ? arena_cstr(p->arena, strbuf_str(&found)) : "/";
}

/* A link is protected, and so is what it leads to; but never a directory that it lies in. */
static void protect(struct places *p, const char *path)
{
    const char *real = follow(p, path);

    if (is_inside(p, path))
        path_list_add(&p->list, path);
    if (real && strcmp(real, path) != 0 && is_inside(p, real) && !path_is_in(path, real))
        path_list_add(&p->list, real);
}

/* From where on links are to be looked for in it: many names are of one directory. */
static const char *find_base(struct places *p, const char *directory)
{
    if (p->plain && strcmp(p->plain, directory) == 0)
        return directory;
    if (!is_inside(p, directory) || below_has_link(p->root, directory))
        return p->root;
    return p->plain = directory;
}

/* Most are no links, which is sooner seen than where they lead. */
static void protect_in(struct places *p, const char *directory, const char *name)
{
    const char *path = fs_join(p->arena, directory, name);

    if (p->names && is_inside(p, path) && names_below_lack_at(p->names, path))
        path_list_add(&p->list, path);
    else if (is_inside(p, path) && !below_has_link(find_base(p, directory), path))
        path_list_add(&p->list, path);
    else
        protect(p, path);
}

static void protect_link(void *self, const char *path)
{
    protect(self, path);
}

static void protect_git_dir(struct places *p, const char *git_dir)
{
    git_hooks_each_link(p->arena, fs_join(p->arena, git_dir, "hooks"), protect_link, p);
    for (size_t i = 0; i < ARRAY_LEN(git_dir_names); i++)
        protect_in(p, git_dir, git_dir_names[i]);
}

/* --- repositories --- */

/* What is named by its settings. */
static void protect_named(void *self, const char *path)
{
    struct places *p = self;
    const char *real = follow(p, path);

    if (real && is_inside(p, real))
        path_list_add(&p->list, real);
    if (real)
        git_hooks_each_link(p->arena, real, protect_link, p);
}

/* The settings of a git directory, for a repository whose files are in `top`. */
static void protect_programs(struct places *p, const char *git_dir, const char *top)
{
    size_t first = p->settings.n;

    git_settings_read(&p->settings, fs_join(p->arena, git_dir, "config"));
    git_settings_read(&p->settings, fs_join(p->arena, git_dir, "config.worktree"));
    git_settings_each_path(&p->settings, first, top, protect_named, p);
    p->settings.n = first;
}

/* The global settings come first in the list, and hold for all. */
static void protect_global_programs(struct places *p, const char *top)
{
    git_settings_each_path(&p->settings, 0, top, protect_named, p);
}

/* Its git directory is elsewhere; and that, of a further working tree, may be elsewhere again. */
static void protect_git_dir_at(struct places *p, const struct survey *s, const char *path,
                               const char *name, const char *top)
{
    AUTO_FREE char *found = git_dir_resolve(s, path, name), *common = NULL;
    const char *git_dir;

    if (!found)
        return;
    git_dir = fs_join(p->arena, s->root, found);
    protect_git_dir(p, git_dir);
    protect_programs(p, git_dir, top);
    common = git_dir_resolve(s, found, "commondir");
    if (common) {
        git_dir = fs_join(p->arena, s->root, common);
        protect_git_dir(p, git_dir);
        protect_programs(p, git_dir, top);
    }
}

static void protect_work_tree(struct places *p, const struct survey *s, const char *path,
                              const char *top)
{
    const char *git = fs_join(p->arena, top, ".git");
    char real[PATH_MAX];
    struct stat st;

    if (lstat(git, &st) == 0 && !S_ISDIR(st.st_mode)) {
        protect(p, git); /* it names the git directory */
        if (S_ISREG(st.st_mode))
            protect_git_dir_at(p, s, path, ".git", top);
        else if (realpath(git, real))
            git = arena_cstr(p->arena, str_of(real));
    }
    protect_git_dir(p, git);
    protect_programs(p, git, top);
    protect_global_programs(p, top);
}

static void protect_names(struct places *p, const char *directory)
{
    const char *home = p->settings.home;

    for (const struct protected_place *row = protected_places; row->path; row++)
        if ((row->how & PLACE_KEPT) &&
            (!(row->how & PLACE_OF_HOME) || (home && strcmp(directory, home) == 0)))
            protect_in(p, directory, row->path);
}

static void protect_other_repository(struct places *p, const char *directory)
{
    for (const struct protected_place *row = protected_places; row->path; row++)
        if (row->how & PLACE_OF_REPOSITORY)
            protect_in(p, directory, row->path);
}

static bool is_in_holder(const char *git_dir)
{
    return strstr(git_dir, "/modules/") || strstr(git_dir, "/worktrees/");
}

/* git directories that are there can be worked with, and none can come beside them. */
static void seal_holders(struct places *p, const char *git_dir)
{
    for (size_t i = 0; i < ARRAY_LEN(git_dir_holders); i++)
        path_list_add(&p->sealed, fs_join(p->arena, git_dir, git_dir_holders[i]));
    if (is_in_holder(git_dir))
        path_list_add(&p->open, git_dir);
}

static void protect_directory(struct places *p, const struct survey *s, const struct directory *d)
{
    bool has_dot_git = d->names & GIT_NAME_DOT_GIT;
    const char *path = *d->path ? fs_join(p->arena, s->root, d->path) : s->root;

    if (has_dot_git || !*d->path)
        protect_names(p, path);
    else if (d->names & GIT_NAME_OTHER)
        protect_other_repository(p, path);
    if (has_dot_git)
        protect_work_tree(p, s, d->path, path);
    if (names_are_git_dir(d->names)) {
        protect_git_dir(p, path);
        protect_programs(p, path, path);
        seal_holders(p, path);
        if (d->names & GIT_NAME_COMMONDIR)
            protect_git_dir_at(p, s, d->path, "commondir", path);
    }
}

/* A repository that the workspace is a part of: its settings are out of reach, what they name in
 * the workspace is not. One that comes to be there later has its settings in the place that was
 * read. */
static void protect_for_those_above(struct places *p)
{
    struct str path = str_of(p->root);
    size_t slash;

    while ((slash = str_rfind_char(path, '/')) != STR_NONE && path.n > 1) {
        size_t first = p->settings.n;
        const char *top, *git_dir;

        path = str_slice(path, 0, slash ? slash : 1);
        top = arena_cstr(p->arena, path);
        git_dir = git_dir_find(p->arena, top);
        if (git_dir)
            git_settings_read_dir(&p->settings, git_dir);
        else
            git_settings_read(&p->settings, fs_join(p->arena, top, ".git/config"));
        git_settings_each_path(&p->settings, first, top, protect_named, p);
        p->settings.n = first;
        if (git_dir)
            protect_global_programs(p, top);
    }
}

void places_add(struct places *p, const struct survey *s)
{
    static char empty[] = "";
    static const struct directory root = {.path = empty};

    p->root = s->root;
    protect_for_those_above(p);
    if (s->now.n == 0 || *s->now.items[0].path)
        protect_directory(p, s, &root);
    for (size_t i = 0; i < s->now.n; i++)
        protect_directory(p, s, &s->now.items[i]);
}

void places_init(struct places *p, struct arena *a, const char *home)
{
    *p = (struct places){.arena = a,
                         .settings = {.arena = a, .home = home, .takes_missing = true},
                         .list.arena = a,
                         .sealed.arena = a,
                         .open.arena = a};
    git_settings_read_global(&p->settings);
}

void sandbox_protect_directory(struct path_list *l, const char *workspace, const char *directory)
{
    struct names_below names;
    struct places p = {.arena = l->arena, .root = workspace, .list = *l};

    if (strcmp(directory, workspace) == 0 || strcmp(find_base(&p, directory), directory) == 0) {
        names_below_init(&names, l->arena, directory);
        p.names = &names;
    }
    protect_names(&p, directory);
    protect_git_dir(&p, fs_join(l->arena, directory, ".git"));
    *l = p.list;
}

struct err *sandbox_protected_places(struct arena *a, const char *workspace,
                                     const char *const **ret_paths, size_t *ret_n)
{
    AUTO(dir_watch) struct dir_watch *watch = dir_watch_new(workspace);
    struct survey s;
    struct places p;
    struct err *e;

    TRY(survey_init(&s, watch));
    e = survey_look(&s, NULL);
    if (!e) {
        places_init(&p, a, /* home= */ NULL);
        places_add(&p, &s);
        *ret_paths = p.list.paths;
        *ret_n = p.list.n;
    }
    survey_done(&s);
    return e;
}
