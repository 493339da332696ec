/* open.c - which store a name means. */
#include "store/open.h"

#include "port/draft.h"
#include "store/files.h"
#include "store/memory.h"
#include "store/postgres.h"
#include "store/sqlite.h"
#include "sys/env.h"
#include "sys/fs.h"

/* "postgres" of "postgres://..."; empty for what is a path. */
static struct str scheme_of(struct str spec)
{
    size_t n = 0;

    while (n < spec.n &&
           ((spec.p[n] >= 'a' && spec.p[n] <= 'z') || (spec.p[n] >= 'A' && spec.p[n] <= 'Z') ||
            spec.p[n] == '+' || (n && spec.p[n] >= '0' && spec.p[n] <= '9')))
        n++;
    return n > 0 && n < spec.n && spec.p[n] == ':' ? str_slice(spec, 0, n) : (struct str){0};
}

/* sqlite://PATH is another way to write sqlite:PATH. */
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

static struct err *unknown(struct str scheme)
{
    return err_hint(
        err_new(ERR_VALIDATION, "there is no store called \"%" STR_FMT ":\"", STR_ARG(scheme)),
        "use sqlite:FILE, files:DIRECTORY, postgres://USER@HOST/DATABASE or memory:; "
        "a file with a colon in its name is ./NAME");
}

/* The same place has the same name, from wherever it is given. */
static void set_place(struct store *s, const char *home, const char *where)
{
    AUTO(arena) struct arena a = {0};

    s->place = mem_strdup(fs_resolve(&a, where));
    drafts_keep_in(s, home, str_of(s->place));
}

struct err *store_from_url(const char *spec, const char *home, uint64_t timeout_ms,
                           struct store **ret_store)
{
    AUTO(arena) struct arena a = {0};
    struct str whole = str_of(spec), scheme = scheme_of(whole), path = path_in(whole, scheme);
    const char *where;

    if (scheme.n == 0 || str_is(scheme, "sqlite")) {
        where = place(&a, path, home, "keel.db");
        *ret_store = store_sqlite_new(where);
        set_place(*ret_store, home, where);
    } else if (str_is(scheme, "files")) {
        where = place(&a, path, home, "sessions");
        *ret_store = store_files_new(where);
        set_place(*ret_store, home, where);
    } else if (str_is(scheme, "postgres") || str_is(scheme, "postgresql")) {
        *ret_store = store_postgres_new(spec, &(struct postgres_options){.timeout_ms = timeout_ms});
        drafts_keep_in(*ret_store, home, whole);
    } else if (str_is(scheme, "memory") && path.n == 0) {
        *ret_store = store_memory_new();
    } else if (str_is(scheme, "memory")) {
        return err_hint(err_new(ERR_VALIDATION, "the store in memory has no path"),
                        "write it as memory:");
    } else {
        return unknown(scheme);
    }
    return NULL;
}
