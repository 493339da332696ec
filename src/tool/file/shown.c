/* shown.c - paths in messages, and the message for a path that does not exist. */
#include "tool/file/shown.h"

#include "base/quoted.h"
#include "sys/fs.h"
#include "tool/file/guess.h"

#include <sys/stat.h>

const char *path_shown(const char *cwd, const char *absolute_path)
{
    size_t n = strlen(cwd);

    if (strcmp(cwd, "/") == 0)
        return absolute_path[1] ? absolute_path + 1 : ".";
    if (strncmp(absolute_path, cwd, n) != 0)
        return absolute_path;
    if (absolute_path[n] == '\0')
        return ".";
    return absolute_path[n] == '/' ? absolute_path + n + 1 : absolute_path;
}

const char *path_given(const struct tool_context *c, struct tool_result *r, struct str given)
{
    return tool_state_named(c->state, &r->arena, c->config ? c->config->environment : NULL, given);
}

const char *path_quoted(struct arena *a, const char *cwd, const char *absolute_path)
{
    return quoted(a, str_of(path_shown(cwd, absolute_path))).p;
}

bool path_is_below_hidden(const struct path_filter *hidden, const char *target)
{
    struct str path = str_of(target);

    for (size_t i = 1; hidden && i < path.n; i++)
        if (path.p[i] == '/' &&
            hidden->is_hidden(hidden->self, str_slice(path, 0, i), /* is_dir= */ true))
            return true;
    return false;
}

bool path_is_hidden(const struct path_filter *hidden, const char *target, bool is_dir)
{
    return path_is_below_hidden(hidden, target) ||
           (hidden && hidden->is_hidden(hidden->self, str_of(target), is_dir));
}

/* In `a`. */
static const char *dir_of(struct arena *a, const char *absolute_path)
{
    const char *slash = strrchr(absolute_path, '/');

    return slash == absolute_path
               ? "/"
               : arena_cstr(a, str_make(absolute_path, (size_t)(slash - absolute_path)));
}

/* The error if the path is a dangling link, else NULL. */
static struct err *link_to_nothing(struct arena *a, const char *absolute_path, const char *target,
                                   const char *cwd)
{
    struct stat st;

    if (strcmp(absolute_path, target) == 0 || lstat(absolute_path, &st) < 0 || !S_ISLNK(st.st_mode))
        return NULL;
    return err_hint(err_new(ERR_TOOL_FAILED, "%s is a link to %s, which does not exist",
                            path_quoted(a, cwd, absolute_path), path_quoted(a, cwd, target)),
                    "find the file with Glob, or create it with Write");
}

/* --- the path that is meant, relative to the workspace --- */

/* The file of the workspace at `path`, in `a`; NULL: there is none, or it is hidden. */
static const char *find_in(struct arena *a, const char *workspace, struct str path,
                           const struct path_filter *hidden)
{
    const char *found = arena_format(a, "%s/%" STR_FMT, workspace, STR_ARG(path)).p;
    const char *target = fs_resolve(a, found);

    if (path.n == 0 || str_starts(path, S("/")) || !fs_exists(target) ||
        path_shown(fs_resolve(a, workspace), target) == target ||
        path_is_hidden(hidden, target, fs_is_dir(target)))
        return NULL;
    return found;
}

/* A path that the model meant relative to the workspace though the working directory differs:
 * "@a.c" as in prompts, "a/x.c" and "b/x.c" as in diffs, "/x.c" for the workspace as root,
 * "file:///project/x.c". */
static const char *find_meant(struct arena *a, const char *absolute_path, const char *cwd,
                              const char *workspace, const struct path_filter *hidden)
{
    static const char *const prefixes[] = {"", "@", "a/", "b/", "/"};
    struct str path = str_of(path_shown(cwd, absolute_path)), url = S("file:");
    const char *found = NULL;

    if (str_starts(path, url))
        path = str_of(path_shown(workspace, str_skip(path, url.n).p));
    for (size_t i = 0; i < ARRAY_LEN(prefixes) && !found; i++)
        if (str_starts(path, str_of(prefixes[i])))
            found = find_in(a, workspace, str_skip(path, strlen(prefixes[i])), hidden);
    return found;
}

/* --- nothing --- */

static struct err *propose(struct err *e, const char *told_path)
{
    return err_hint(e, "did you mean %s?%s", told_path,
                    told_path[0] == '"' ? " Its name has special characters: pass it as it is "
                                          "written here, with the quotes"
                                        : "");
}

struct err *path_missing(const char *absolute_path, const char *target, const char *cwd,
                         const char *workspace, const struct path_filter *hidden)
{
    AUTO(arena) struct arena a = {0};
    const char *dir = dir_of(&a, absolute_path), *meant;
    const char *name = quoted(&a, str_of(strrchr(absolute_path, '/') + 1)).p;
    struct err *dangling = path_is_below_hidden(hidden, target)
                               ? NULL
                               : link_to_nothing(&a, absolute_path, target, cwd);
    struct err *e = err_new(ERR_TOOL_FAILED, "there is no file %s (the working directory is %s)",
                            quoted(&a, str_of(absolute_path)).p, cwd);
    struct path_guess guess;

    if (dangling) {
        err_free(e);
        return dangling;
    }
    if (path_is_below_hidden(hidden, target))
        return err_hint(e, "find it with Glob");
    meant = find_meant(&a, absolute_path, cwd, workspace, hidden);
    if (meant)
        return propose(e, quoted(&a, str_of(meant)).p);
    guess = path_guess(&a, absolute_path, target, hidden);
    if (guess.path)
        return propose(e, path_quoted(&a, cwd, guess.path));
    if (guess.dir)
        return err_hint(e, "there is no directory %s either, but %s; find the file with Glob",
                        path_quoted(&a, cwd, dir), path_quoted(&a, cwd, guess.dir));
    if (!guess.has_dir)
        return err_hint(e, "there is no directory %s either; find it with Glob (pattern **/%s)",
                        path_quoted(&a, cwd, dir), name);
    return err_hint(e, "find it with Glob (pattern **/%s)", name);
}
