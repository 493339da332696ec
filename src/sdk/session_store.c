/* session_store.c - finds the store, and sessions in it. */
#include "sdk/session_store.h"

#include "config/settings_keys.h"
#include "port/draft.h"
#include "store/memory.h"
#include "sys/env.h"

#include <errno.h>
#include <sys/stat.h>

#define MIN_PREFIX 8
#define SESSION_STORE_TIMEOUT_S 30
#define SESSION_STORE_LONGEST_TIMEOUT_S 86400

const struct setting_key store_settings[] = {
    {"store", SETTING_STRING, .help = "where sessions are stored: " STORE_FORMS},
    {"sessions", SETTING_OBJECT, .help = "how long sessions are kept"},
    {"sessions.storeTimeoutSeconds", SETTING_INTEGER, .least = 1,
     .most = SESSION_STORE_LONGEST_TIMEOUT_S,
     .help = "how long to wait for a PostgreSQL store (30)"},
    {0},
};

/* --- the store --- */

struct str session_store_name(const struct project *p, const char *given, struct arena *a)
{
    const char *variable = env_find(host_environment(p->host), "KEEL_STORE");

    if (given)
        return str_of(given);
    if (variable && *variable)
        return str_of(variable);
    return settings_text(p->settings, "store", a);
}

struct err *session_store_open(const struct project *p, struct str name, struct store **ret_store,
                               bool *ret_is_kept)
{
    int64_t seconds =
        settings_int(p->settings, "sessions.storeTimeoutSeconds", SESSION_STORE_TIMEOUT_S);

    return host_open_store(p->host, name, (uint64_t)seconds * 1000, ret_store, ret_is_kept);
}

const char *session_store_place(const struct project *p, struct str name, struct arena *a)
{
    const char *home = p->place.keel_home;
    struct store *s = NULL;
    const char *place = NULL;
    struct err *e =
        name.n || home ? store_from_url(arena_cstr(a, name), home ? home : ".", 0, &s) : NULL;

    err_ignore(e, "who opens it says what is wrong with it");
    if (s && s->place)
        place = arena_cstr(a, str_of(s->place));
    store_free(s);
    return place;
}

/* A place that cannot be looked at is for the store to tell. */
static bool is_missing(const struct store *s)
{
    struct stat st;

    return s->place && stat(s->place, &st) < 0 && errno == ENOENT;
}

static struct err *check_existing(const struct project *p, struct str name, const struct store *s)
{
    if (!p->place.keel_home && !name.n)
        return err_hint(
            err_new(ERR_VALIDATION,
                    "no sessions are stored: HOME and KEEL_HOME are not set to a directory"),
            "set one of them, or choose a store with --store");
    if (!is_missing(s) || !name.n)
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "the store %s does not exist", s->place),
                    "check --store, KEEL_STORE and the setting store; the first session that is "
                    "stored there creates it");
}

struct err *session_store_open_existing(const struct project *p, struct str name,
                                        struct store **ret_store, bool *ret_is_kept)
{
    struct store *s;
    bool is_kept, is_empty;
    struct err *e;

    TRY(session_store_open(p, name, &s, &is_kept));
    e = check_existing(p, name, s);
    is_empty = !e && is_missing(s);
    if (!e && !is_empty) {
        *ret_store = s;
        *ret_is_kept = is_kept;
        return NULL;
    }
    host_close_store(p->host, s);
    return e ? e : host_open_store(p->host, S("memory:"), 0, ret_store, ret_is_kept);
}

/* --- a session --- */

static struct err *find_first(struct store *s, const struct store_list_query *query,
                              struct arena *a, struct store_summary *ret_summary, bool *ret_found)
{
    struct store_summary *items = NULL;
    size_t n = 0;

    TRY(store_list(s, query, a, &items, &n));
    *ret_found = n > 0;
    if (n)
        *ret_summary = items[0];
    return NULL;
}

#define MAX_TOLD 3 /* of the ids that were meant */

static struct err *ambiguous(const char *what, struct str given, const struct store_summary *items,
                             size_t n)
{
    AUTO(strbuf) struct strbuf ids = {0};

    for (size_t i = 0; i < MIN(n, (size_t)MAX_TOLD); i++)
        strbuf_addf(&ids, "%s%" STR_FMT, i ? ", " : "", STR_ARG(items[i].id));
    return err_hint(err_new(ERR_VALIDATION,
                            "ambiguous session %s \"%" STR_FMT "\": %zu sessions match", what,
                            STR_ARG(given), n),
                    "give the id of one of them, newest first: %s%s", strbuf_cstr(&ids),
                    n > MAX_TOLD ? ", ... (keel session list --all)" : "");
}

static struct err *find_named(struct store *s, struct str cwd, struct str name, struct arena *a,
                              struct store_summary *ret_summary, bool *ret_found)
{
    struct store_summary *items = NULL;
    size_t n = 0;

    TRY(store_list(s, &(struct store_list_query){.cwd = cwd, .name = name}, a, &items, &n));
    if (n == 0 && cwd.n)
        return find_named(s, (struct str){0}, name, a, ret_summary, ret_found);
    if (n > 1)
        return ambiguous("name", name, items, n);
    *ret_found = n == 1;
    if (n)
        *ret_summary = items[0];
    return NULL;
}

/* A few characters soon begin the id of another session, too. */
static struct err *too_short(struct str given, struct str id)
{
    return err_hint(err_new(ERR_VALIDATION,
                            "\"%" STR_FMT
                            "\" is too short for a session's id: give at least %d characters",
                            STR_ARG(given), MIN_PREFIX),
                    "the newest session that begins so is %" STR_FMT, STR_ARG(id));
}

static struct err *find_prefix(struct store *s, struct str start, struct arena *a,
                               struct store_summary *ret_summary, bool *ret_found)
{
    struct store_summary *items = NULL;
    size_t n = 0, n_found = 0;

    if (start.n == 0)
        return NULL;
    TRY(store_list(s, &(struct store_list_query){0}, a, &items, &n));
    for (size_t i = 0; i < n; i++)
        if (str_starts(items[i].id, start))
            items[n_found++] = items[i];
    if (n_found && start.n < MIN_PREFIX)
        return too_short(start, items[0].id);
    if (n_found > 1)
        return ambiguous("id", start, items, n_found);
    *ret_found = n_found == 1;
    if (n_found)
        *ret_summary = items[0];
    return NULL;
}

struct err *session_store_look(struct store *s, struct str cwd, struct str given, struct arena *a,
                               struct store_summary *ret_summary, bool *ret_found)
{
    *ret_found = false;
    if (store_id_is_valid(given))
        TRY(store_find(s, given, a, ret_summary, ret_found));
    if (!*ret_found && given.n)
        TRY(find_named(s, cwd, given, a, ret_summary, ret_found));
    return *ret_found ? NULL : find_prefix(s, given, a, ret_summary, ret_found);
}

struct err *session_store_find(struct store *s, struct str cwd, struct str given, struct arena *a,
                               struct store_summary *ret_summary)
{
    struct err *e;
    bool found;

    TRY(session_store_look(s, cwd, given, a, ret_summary, &found));
    if (found)
        return NULL;
    e = store_no_session(given);
    e->kind = ERR_VALIDATION;
    return e;
}

struct err *session_store_find_newest(struct store *s, struct str cwd, struct arena *a,
                                      struct store_summary *ret_summary)
{
    bool found;

    TRY(find_first(s, &(struct store_list_query){.cwd = cwd, .n_max = 1}, a, ret_summary, &found));
    if (found)
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "no session in %" STR_FMT, STR_ARG(cwd)),
        "keel session list --all lists the sessions of other directories; resume one by its id");
}
