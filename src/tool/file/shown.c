/* shown.c - paths for the model, and what to say when there is nothing. */
#include "tool/file/shown.h"

#include "sys/fs.h"

#include <dirent.h>

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
    return tool_session_path(c->session, &r->arena, c->config ? c->config->environment : NULL,
                             given);
}

bool path_is_hidden(const struct path_filter *hidden, const char *absolute_path, bool is_dir)
{
    struct str path = str_of(absolute_path);

    if (!hidden)
        return false;
    for (size_t i = 1; i < path.n; i++)
        if (path.p[i] == '/' &&
            hidden->is_hidden(hidden->self, str_slice(path, 0, i), /* is_dir= */ true))
            return true;
    return hidden->is_hidden(hidden->self, path, is_dir);
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

/* The path of the entry of `dir` that is most like `name`, in `a`, or NULL. */
static const char *find_alike(struct arena *a, const char *dir, struct str name,
                              const struct path_filter *hidden)
{
    DIR *entries = opendir(dir);
    unsigned best = NOT_ALIKE, n_left = MAX_ENTRIES;
    const char *found = NULL;
    struct dirent *entry;

    while (entries && n_left-- && (entry = readdir(entries))) {
        unsigned u = unlikeness(name, str_of(entry->d_name));
        const char *path;

        if (u >= best || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        path = fs_join(a, dir, entry->d_name);
        if (path_is_hidden(hidden, path, entry->d_type == DT_DIR))
            continue;
        best = u;
        found = path;
    }
    if (entries)
        closedir(entries);
    return found;
}

struct err *path_missing(const char *absolute_path, const char *cwd,
                         const struct path_filter *hidden)
{
    AUTO(arena) struct arena a = {0};
    const char *slash = strrchr(absolute_path, '/');
    const char *dir = arena_cstr(&a, str_make(absolute_path, (size_t)(slash - absolute_path)));
    const char *alike;
    struct err *e = err_new(ERR_TOOL_FAILED, "there is no file %s (the working directory is %s)",
                            absolute_path, cwd);

    if (*dir == '\0')
        dir = "/";
    if (!fs_is_dir(dir))
        return err_hint(e, "there is no directory %s either; look for the file with Glob",
                        path_shown(cwd, dir));
    alike = find_alike(&a, dir, str_of(slash + 1), hidden);
    if (alike)
        return err_hint(e, "did you mean %s?", path_shown(cwd, alike));
    return err_hint(e, "look for it with Glob");
}
