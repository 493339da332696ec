/* open.c - finds the store that a name means. */
#include "store/open.h"

#include "base/ascii.h"
#include "port/draft.h"
#include "store/files.h"
#include "store/memory.h"
#include "store/postgres.h"
#include "store/sqlite.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as many as the kernel follows */

/* "postgres" of "postgres://..."; empty if it is a path. */
static struct str scheme_of(struct str spec)
{
    size_t n = 0;

    while (n < spec.n &&
           (ascii_is_alpha(spec.p[n]) || spec.p[n] == '+' || (n && ascii_is_digit(spec.p[n]))))
        n++;
    return n > 0 && n < spec.n && spec.p[n] == ':' ? str_slice(spec, 0, n) : (struct str){0};
}

/* sqlite://PATH means the same as sqlite:PATH. */
static struct str path_in(struct str spec, struct str scheme)
{
    struct str rest = scheme.n ? str_skip(spec, scheme.n + 1) : spec;

    return scheme.n && str_starts(rest, S("//")) ? str_skip(rest, 2) : rest;
}

static const char *place(struct arena *a, struct str path, const char *home, const char *name)
{
    const char *user = env_find(NULL, "HOME");

    if (path.n == 0)
        return fs_join(a, home, name);
    if (user && str_starts(path, S("~/")))
        return fs_join(a, user, arena_cstr(a, str_skip(path, 2)));
    return arena_cstr(a, path);
}

/* Refuses names that SQLite would not take as the name of a file. */
static struct err *check_sqlite_path(struct str path)
{
    if (str_is(path, ":memory:"))
        return err_hint(err_new(ERR_VALIDATION, "\"sqlite::memory:\" is not supported"),
                        "use memory: to keep nothing; a file of that name is sqlite:./:memory:");
    if (!str_starts(path, S("file:")))
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "keel takes the path of a database, not an SQLite URI"),
        "use sqlite:FILE; a file whose name begins with \"file:\" is sqlite:./file:NAME");
}

/* --- links --- */

/* How many bytes of the path are a link that leads nowhere; 0: it has none. The path is resolved as
 * far as it exists. */
static size_t find_dangling(struct arena *a, const char *path)
{
    size_t n = 0;
    struct stat st;

    while (path[n]) {
        n += strcspn(path + n + 1, "/") + 1;
        if (lstat(arena_cstr(a, str_make(path, n)), &st) < 0)
            return 0;
        if (S_ISLNK(st.st_mode))
            return n;
    }
    return 0;
}

static const char *folder_of(struct arena *a, const char *path)
{
    size_t slash = str_rfind_char(str_of(path), '/');

    return slash == STR_NONE ? "." : arena_cstr(a, str_make(path, MAX(slash, (size_t)1)));
}

/* Finds where the link leads, from the directory that it is in. The target need not exist, but its
 * directory must: the link may point to a disk that is not mounted. */
static struct err *follow(struct arena *a, const char *link, const char **ret_target)
{
    char text[PATH_MAX];
    ssize_t n = readlink(link, text, sizeof text);
    const char *target;

    if (n < 0 || n == (ssize_t)sizeof text)
        return err_errno(ERR_STORAGE, n < 0 ? errno : ENAMETOOLONG, "cannot follow the link %s",
                         link);
    target = arena_cstr(a, str_make(text, (size_t)n));
    if (target[0] != '/')
        target = fs_join(a, folder_of(a, link), target);
    if (!fs_is_dir(folder_of(a, target)))
        return err_hint(err_new(ERR_STORAGE, "%s is a link to %s, whose directory does not exist",
                                link, target),
                        "create the directory, mount its file system, change the link, or choose "
                        "another store with --store");
    *ret_target = target;
    return NULL;
}

/* The files beside the place, above all the locks, must be the same under every name of it. So
 * links are followed here, even to a file that does not exist yet. */
static struct err *resolve(struct arena *a, const char *path, const char **ret_path)
{
    const char *given = path;

    for (unsigned i = 0; i < MAX_LINKS; i++) {
        const char *target;
        size_t n;

        path = fs_resolve(a, path);
        n = find_dangling(a, path);
        if (n == 0) {
            *ret_path = path;
            return NULL;
        }
        TRY(follow(a, arena_cstr(a, str_make(path, n)), &target));
        path = arena_format(a, "%s%s", target, path + n).p;
    }
    return err_hint(err_new(ERR_STORAGE, "%s is a loop of symbolic links", given),
                    "change one of them, or choose another store with --store");
}

/* A missing directory may be misspelt, or on a disk that is not mounted. keel creates only its
 * home. */
static struct err *check_folder(struct arena *a, const char *place, const char *home)
{
    const char *folder = folder_of(a, place), *own = fs_resolve(a, home);
    size_t n = strlen(own);

    if (fs_is_dir(folder) ||
        (str_starts(str_of(folder), str_of(own)) && (folder[n] == '/' || !folder[n])))
        return NULL;
    return err_hint(err_new(ERR_VALIDATION,
                            "cannot use the store %s: the directory %s does not exist", place,
                            folder),
                    "check the name, create the directory (mkdir -p '%s'), or choose another store "
                    "with --store",
                    folder);
}

static struct err *open_in_place(const char *path, const char *home,
                                 struct store *(*make)(const char *place), struct store **ret_store)
{
    AUTO(arena) struct arena a = {0};
    const char *place;

    TRY(resolve(&a, path, &place));
    TRY(check_folder(&a, place, home));
    *ret_store = make(place);
    (*ret_store)->place = mem_strdup(place);
    drafts_keep_in(*ret_store, home, str_of(place));
    return NULL;
}

/* --- kinds --- */

/* A name of a store, taken apart. */
struct store_opening {
    struct arena *arena;
    const char *spec;
    struct str path; /* without its scheme */
    const char *home;
    uint64_t timeout_ms;
};

static struct err *open_sqlite(const struct store_opening *o, struct store **ret_store)
{
    TRY(check_sqlite_path(o->path));
    return open_in_place(place(o->arena, o->path, o->home, "keel.db"), o->home, store_sqlite_new,
                         ret_store);
}

static struct err *open_files(const struct store_opening *o, struct store **ret_store)
{
    return open_in_place(place(o->arena, o->path, o->home, "sessions"), o->home, store_files_new,
                         ret_store);
}

static struct err *open_postgres(const struct store_opening *o, struct store **ret_store)
{
    struct postgres_options options = {.timeout_ms = o->timeout_ms};

    *ret_store = store_postgres_new(o->spec, &options);
    drafts_keep_in(*ret_store, o->home, str_of(o->spec));
    return NULL;
}

static struct err *open_memory(const struct store_opening *o, struct store **ret_store)
{
    if (o->path.n)
        return err_hint(err_new(ERR_VALIDATION, "the memory store has no path"), "use memory:");
    *ret_store = store_memory_new();
    return NULL;
}

/* A name without a scheme is the path of a store of the first kind. */
const struct store_kind store_kinds[] = {
    {"sqlite", &sqlite_library, open_sqlite},
    {"files", NULL, open_files},
    {"postgres postgresql", &postgres_library, open_postgres},
    {"memory", NULL, open_memory},
    {0},
};

static const struct store_kind *find_kind(struct str scheme)
{
    for (const struct store_kind *k = store_kinds; k->schemes; k++) {
        struct str rest = str_of(k->schemes), word;

        while (str_split(&rest, ' ', &word))
            if (scheme.n == 0 || str_eq(scheme, word))
                return k;
    }
    return NULL;
}

struct err *store_from_url(const char *spec, const char *home, uint64_t timeout_ms,
                           struct store **ret_store)
{
    AUTO(arena) struct arena a = {0};
    struct str whole = str_of(spec), scheme = scheme_of(whole);
    const struct store_kind *kind = find_kind(scheme);

    if (!kind)
        return err_hint(err_new(ERR_VALIDATION, "unknown store \"%" STR_FMT ":\"", STR_ARG(scheme)),
                        "use one of " STORE_FORMS "; a file with a colon in its name is ./NAME");
    return kind->open(&(struct store_opening){.arena = &a,
                                              .spec = spec,
                                              .path = path_in(whole, scheme),
                                              .home = home,
                                              .timeout_ms = timeout_ms},
                      ret_store);
}
