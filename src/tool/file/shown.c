/* shown.c - paths for the model, and what to say when there is nothing. */
#include "tool/file/shown.h"

#include "base/quoted.h"
#include "sys/fs.h"
#include "sys/spot.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ENTRIES 10000
#define MAX_NAME 64 /* longer names are compared by their stems only */
#define MAX_DISTANCE 3

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
    return tool_session_named(c->session, &r->arena, c->config ? c->config->environment : NULL,
                              given);
}

const char *path_told(struct arena *a, const char *cwd, const char *absolute_path)
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

/* --- names that are alike --- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* How many characters must be put in, taken out or changed; letters in any case are the same. */
static unsigned distance(struct str a, struct str b)
{
    unsigned char row[MAX_NAME + 1];

    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned char)j;
    for (size_t i = 0; i < a.n; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned char)(i + 1);
        for (size_t j = 0; j < b.n; j++) {
            unsigned best = diagonal + (lower(a.p[i]) != lower(b.p[j]));

            best = MIN(best, row[j] + 1u);
            best = MIN(best, row[j + 1] + 1u);
            diagonal = row[j + 1];
            row[j + 1] = (unsigned char)best;
        }
    }
    return row[b.n];
}

static struct str stem(struct str name)
{
    size_t dot = str_rfind_char(name, '.');

    return dot == STR_NONE || dot == 0 ? name : str_slice(name, 0, dot);
}

#define NOT_ALIKE 100

/* The less the more alike. */
static unsigned unlikeness(struct str wanted, struct str name)
{
    unsigned d;

    if (str_eq_nocase(wanted, name))
        return 0;
    if (str_eq_nocase(stem(wanted), stem(name)))
        return 1;
    if (wanted.n > MAX_NAME || name.n > MAX_NAME || wanted.n > name.n + MAX_DISTANCE ||
        name.n > wanted.n + MAX_DISTANCE)
        return NOT_ALIKE;
    d = distance(wanted, name);
    return d <= MAX_DISTANCE && d <= wanted.n / 3 ? 1 + d : NOT_ALIKE;
}

static bool is_hidden_in(const char *dir, const struct dirent *entry,
                         const struct path_filter *hidden)
{
    AUTO(arena) struct arena a = {0};

    return hidden && hidden->is_hidden(hidden->self, str_of(fs_join(&a, dir, entry->d_name)),
                                       entry->d_type == DT_DIR);
}

/* The entry of the directory that is most like `name`, in `a`, or NULL. `dir` is its path. */
static const char *find_alike(struct arena *a, DIR *entries, const char *dir, struct str name,
                              const struct path_filter *hidden)
{
    unsigned best = NOT_ALIKE, n_left = MAX_ENTRIES;
    const char *found = NULL;
    struct dirent *entry;

    while (n_left-- && (entry = readdir(entries))) {
        unsigned u = unlikeness(name, str_of(entry->d_name));

        if (u >= best || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            is_hidden_in(dir, entry, hidden))
            continue;
        best = u;
        found = arena_cstr(a, str_of(entry->d_name));
    }
    return found;
}

/* The directory that the target would be in; NULL: there is none, or it cannot be read. */
static DIR *open_dir_of(const char *target, bool *ret_exists)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    AUTO(err) struct err *e = spot_find(target, target, &spot);
    int fd;
    DIR *entries;

    *ret_exists = e || !strchr(spot.name, '/');
    if (e || !*ret_exists)
        return NULL;
    fd = openat(spot.dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    entries = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

/* In `a`. */
static const char *dir_of(struct arena *a, const char *absolute_path)
{
    const char *slash = strrchr(absolute_path, '/');

    return slash == absolute_path
               ? "/"
               : arena_cstr(a, str_make(absolute_path, (size_t)(slash - absolute_path)));
}

/* A link that leads to nothing; NULL: it is none. */
static struct err *link_to_nothing(struct arena *a, const char *absolute_path, const char *target,
                                   const char *cwd)
{
    struct stat st;

    if (strcmp(absolute_path, target) == 0 || lstat(absolute_path, &st) < 0 || !S_ISLNK(st.st_mode))
        return NULL;
    return err_hint(err_new(ERR_TOOL_FAILED, "%s is a link to %s, which does not exist",
                            path_told(a, cwd, absolute_path), path_told(a, cwd, target)),
                    "find the file with Glob, or create it with Write");
}

/* --- the same path, from elsewhere --- */

/* The file of the workspace at `path`, in `a`; NULL: there is none that may be named. */
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

/* A path from the workspace on, though the working directory is another; "@a.c" as in prompts,
 * "a/x.c" and "b/x.c" as in diffs, "/x.c" for the workspace's own root, "file:///project/x.c". */
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

struct err *path_missing(const char *absolute_path, const char *target, const char *cwd,
                         const char *workspace, const struct path_filter *hidden)
{
    AUTO(arena) struct arena a = {0};
    const char *dir = dir_of(&a, absolute_path), *alike, *meant;
    const char *name = quoted(&a, str_of(strrchr(absolute_path, '/') + 1)).p;
    struct err *dangling = path_is_below_hidden(hidden, target)
                               ? NULL
                               : link_to_nothing(&a, absolute_path, target, cwd);
    struct err *e = err_new(ERR_TOOL_FAILED, "there is no file %s (the working directory is %s)",
                            quoted(&a, str_of(absolute_path)).p, cwd);
    bool has_dir;
    DIR *entries;

    if (dangling) {
        err_free(e);
        return dangling;
    }
    if (path_is_below_hidden(hidden, target))
        return err_hint(e, "find it with Glob");
    meant = find_meant(&a, absolute_path, cwd, workspace, hidden);
    if (meant)
        return err_hint(e, "did you mean %s?", quoted(&a, str_of(meant)).p);
    entries = open_dir_of(target, &has_dir);
    if (!has_dir)
        return err_hint(e, "there is no directory %s either; find it with Glob (pattern **/%s)",
                        path_told(&a, cwd, dir), name);
    alike = entries ? find_alike(&a, entries, dir_of(&a, target),
                                 str_of(strrchr(absolute_path, '/') + 1), hidden)
                    : NULL;
    if (entries)
        closedir(entries);
    if (alike)
        return err_hint(e, "did you mean %s?", path_told(&a, cwd, fs_join(&a, dir, alike)));
    return err_hint(e, "find it with Glob (pattern **/%s)", name);
}
