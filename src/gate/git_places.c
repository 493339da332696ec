/* git_places.c - finds git directories above a file, and the files that their configuration
 * names. */
#include "gate/git_places.h"

#include "base/strbuf.h"
#include "sys/fs.h"
#include "sys/git_programs.h"

#include <sys/stat.h>

/* --- git directories --- */

enum { HAS_HEAD = 1 << 0, HAS_OBJECTS = 1 << 1, HAS_REFS = 1 << 2, HAS_COMMONDIR = 1 << 3 };

static const struct {
    struct str name;
    unsigned has;
} marks[] = {{S("HEAD"), HAS_HEAD},
             {S("objects"), HAS_OBJECTS},
             {S("refs"), HAS_REFS},
             {S("commondir"), HAS_COMMONDIR}};

/* Entries of such a directory that git obeys or owns. */
static const struct str obeyed[] = {
    S("HEAD"),         S("commondir"),    S("config"),  S("config.worktree"),
    S("gitdir"),       S("hooks"),        S("index"),   S("info"),
    S("logs"),         S("modules"),      S("objects"), S("packed-refs"),
    S("rebase-apply"), S("rebase-merge"), S("refs"),    S("sequencer"),
    S("shallow"),      S("worktrees"),
};

static bool is_git_dir(unsigned has)
{
    return (has & HAS_HEAD) && ((has & HAS_COMMONDIR) || ((has & HAS_OBJECTS) && (has & HAS_REFS)));
}

static unsigned look_for_marks(struct arena *a, const char *directory)
{
    unsigned has = 0;
    struct stat st;

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (lstat(fs_join(a, directory, marks[i].name.p), &st) == 0)
            has |= marks[i].has;
    return has;
}

static unsigned mark_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_eq_nocase(name, marks[i].name))
            return marks[i].has;
    return 0;
}

static bool is_obeyed(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
        if (str_eq_nocase(name, obeyed[i]))
            return true;
    return false;
}

/* `name` is the first component of the path below the directory. */
static enum git_place git_dir_place(struct arena *a, const char *directory, struct str name)
{
    unsigned has, mark = mark_of(name);

    if (!is_obeyed(name))
        return GIT_PLACE_NONE;
    has = look_for_marks(a, directory);
    if (is_git_dir(has))
        return GIT_PLACE_INSIDE;
    return mark && is_git_dir(has | mark) ? GIT_PLACE_COMPLETES : GIT_PLACE_NONE;
}

/* --- files named by git's configuration --- */

struct naming {
    struct arena *arena;
    const char *file, *top;
    bool is_named;
};

/* The whole repository, or a directory above it, is not a program. */
static void check_named(void *self, const char *path)
{
    struct naming *n = self;
    const char *real = place_find(n->arena, path, path).real;

    if (real && place_is_in(real, n->top) && strcmp(real, n->top) != 0 &&
        place_is_in(n->file, real))
        n->is_named = true;
}

/* Also checks links in the named path, if that is a directory of hooks. */
static void check_hooks(void *self, const char *path)
{
    struct naming *n = self;

    check_named(n, path);
    git_hooks_each_link(n->arena, path, check_named, n);
}

/* Does a repository with files in `top` make git obey this file? `git_dir` NULL: there is none, and
 * only the global configuration counts. */
static bool is_named_by(struct arena *a, const char *git_dir, const char *top, const char *home,
                        const char *file)
{
    struct git_settings s = {.arena = a, .home = home, .takes_missing = true};
    struct naming n = {.arena = a, .file = file, .top = top};

    git_settings_read_global(&s);
    if (git_dir)
        git_settings_read_dir(&s, git_dir);
    git_settings_each_path(&s, 0, top, check_hooks, &n);
    if (git_dir)
        git_hooks_each_link(a, fs_join(a, git_dir, "hooks"), check_named, &n);
    return n.is_named;
}

static bool is_named_in(struct arena *a, const char *directory, bool is_root, const char *home,
                        const char *file)
{
    const char *git_dir = git_dir_find(a, directory);

    if (git_dir)
        return is_named_by(a, git_dir, directory, home, file);
    if (is_git_dir(look_for_marks(a, directory)))
        return is_named_by(a, directory, directory, home, file);
    return is_root && is_named_by(a, NULL, directory, home, file);
}

/* --- all of it --- */

/* Goes from the file's directory up to the root. */
void git_place_find(struct arena *a, struct place *place, const char *root, const char *home)
{
    struct str path = str_of(place->real), name;
    size_t end = path.n, slash;

    while ((slash = str_rfind_char(str_slice(path, 0, end), '/')) != STR_NONE && path.n > 1) {
        const char *directory = slash ? arena_cstr(a, str_slice(path, 0, slash)) : "/";

        name = str_slice(path, slash + 1, end - slash - 1);
        if (strcmp(directory, root) == 0 || !place_is_in(root, directory))
            place->git = git_dir_place(a, directory, name);
        if (!place->git &&
            is_named_in(a, directory, strcmp(directory, root) == 0, home, place->real))
            place->git = GIT_PLACE_NAMED;
        place->git_dir = directory;
        if (place->git || slash == 0)
            return;
        end = slash;
    }
}
