/* postgres_connect.c - makes connections, and the tables behind them.
 *
 * libpq looks up names in the calling thread, and nothing interrupts that. So a thread of its own
 * calls it, with memory of its own. A waiter may leave; the thread then discards its result. */
#include "store/postgres_conn.h"

#include "store/postgres.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define VERSION "4"
#define UNSEALED 3     /* as 4, but rows of sessions have no sum */
#define IN_USE "KEEL1" /* our own state: an older keel has sessions open */
#define RETRY_MS 13000 /* to get back a lost connection */
#define FIRST_PAUSE_MS 100
#define LONGEST_PAUSE_MS 1000
#define AGAIN_MS 5000 /* to connect to a server that was silent */
#define DOWN_MS 5000  /* how long a server that stays away is left alone */
#define NO_TABLE "42P01"

/* Ids are compared byte by byte, as everywhere in keel. */
static const char tables[] =
    "BEGIN; SELECT pg_advisory_xact_lock(7811887);"
    "CREATE TABLE IF NOT EXISTS keel_version (version integer NOT NULL);"
    "INSERT INTO keel_version SELECT " VERSION " WHERE NOT EXISTS (SELECT 1 FROM keel_version);"
    "CREATE TABLE IF NOT EXISTS keel_sessions (number bigserial PRIMARY KEY,"
    " id text COLLATE \"C\" NOT NULL UNIQUE, parent text COLLATE \"C\" NOT NULL,"
    " root text COLLATE \"C\" NOT NULL, cwd text NOT NULL, name text NOT NULL,"
    " provider text NOT NULL, model text NOT NULL, preview text NOT NULL,"
    " created bigint NOT NULL, updated bigint NOT NULL, next_seq bigint NOT NULL DEFAULT 1,"
    " n_messages bigint NOT NULL, n_bytes bigint NOT NULL DEFAULT 0,"
    " fence bigint NOT NULL DEFAULT 0, owner text NOT NULL DEFAULT '',"
    " holder text NOT NULL DEFAULT '', until timestamptz NOT NULL DEFAULT '-infinity',"
    " used timestamptz NOT NULL DEFAULT clock_timestamp(), indexed bigint NOT NULL DEFAULT 1,"
    " sum bytea NOT NULL);"
    "CREATE INDEX IF NOT EXISTS keel_sessions_by_time"
    " ON keel_sessions (parent, updated DESC, id DESC);"
    "CREATE INDEX IF NOT EXISTS keel_sessions_unindexed ON keel_sessions (number)"
    " WHERE indexed < next_seq;"
    "CREATE TABLE IF NOT EXISTS keel_records (stream bigint NOT NULL, seq bigint NOT NULL,"
    " n bigint NOT NULL, ms bigint NOT NULL, type text NOT NULL, run text NOT NULL,"
    " turn bigint NOT NULL, round bigint NOT NULL, attempt bigint NOT NULL,"
    " core boolean NOT NULL, body text NOT NULL, sum bigint NOT NULL,"
    " PRIMARY KEY (stream, seq));"
    "CREATE INDEX IF NOT EXISTS keel_records_core ON keel_records (stream, seq) WHERE core;"
    "CREATE TABLE IF NOT EXISTS keel_payloads (handle text NOT NULL, stream bigint NOT NULL,"
    " PRIMARY KEY (handle, stream));"
    "CREATE INDEX IF NOT EXISTS keel_payloads_by_stream ON keel_payloads (stream);"
    "CREATE TABLE IF NOT EXISTS keel_blobs (handle text PRIMARY KEY, bytes bytea NOT NULL);"
    "CREATE TABLE IF NOT EXISTS keel_doomed (handle text PRIMARY KEY,"
    " since timestamptz NOT NULL DEFAULT now());"
    "CREATE TABLE IF NOT EXISTS keel_words (stream bigint NOT NULL, seq bigint NOT NULL,"
    " words tsvector NOT NULL, PRIMARY KEY (stream, seq));"
    "CREATE INDEX IF NOT EXISTS keel_words_gin ON keel_words USING gin (words);"
    /* One row: struct store_belief. */
    "CREATE TABLE IF NOT EXISTS keel_clock (id integer PRIMARY KEY CHECK (id = 1),"
    " looked bigint NOT NULL, believed bigint NOT NULL);"
    "COMMIT";

/* The first process does this once. An older keel that writes knows no sums, and would leave rows
 * that do not fit theirs: so no session may be open. */
static const char seal[] =
    "BEGIN; SELECT pg_advisory_xact_lock(7811887);"
    "DO $$ DECLARE who text; BEGIN"
    " IF (SELECT version FROM keel_version) <> 3 THEN RETURN; END IF;"
    " LOCK TABLE keel_sessions IN ACCESS EXCLUSIVE MODE;"
    " SELECT format('session %s open in %s', id, holder) INTO who FROM keel_sessions"
    " WHERE owner <> '' AND until > clock_timestamp() LIMIT 1;"
    " IF FOUND THEN RAISE EXCEPTION '%', who USING ERRCODE = '" IN_USE "'; END IF;"
    " ALTER TABLE keel_sessions ADD COLUMN sum bytea;"
    " UPDATE keel_sessions s SET sum = " POSTGRES_ROW_SUM ";"
    " ALTER TABLE keel_sessions ALTER COLUMN sum SET NOT NULL;"
    " UPDATE keel_version SET version = " VERSION "; END $$;"
    "COMMIT";

/* --- the server --- */

static struct str until(struct str s, char end)
{
    return str_slice(s, 0, MIN(str_find_char(s, end), s.n));
}

/* The host of the URL, or its parameter. The part before an '@' is a secret. */
static struct str find_place(struct str url)
{
    size_t at = str_find(url, S("//"));
    struct str rest = at == STR_NONE ? url : str_skip(url, at + 2), host = until(rest, '?');

    at = str_rfind_char(host, '@');
    host = until(at == STR_NONE ? host : str_skip(host, at + 1), '/');
    at = str_find(rest, S("host="));
    if (!host.n && at != STR_NONE)
        host = until(str_skip(rest, at + strlen("host=")), '&');
    return host.n ? host : S("the local socket");
}

void postgres_server_init(struct postgres_server *s, const char *url, uint64_t timeout_ms)
{
    *s = (struct postgres_server){.url = mem_strdup(url),
                                  .place = str_dup(find_place(str_of(url))),
                                  .timeout_ms = timeout_ms};
}

void postgres_server_done(struct postgres_server *s)
{
    if (s->url)
        mem_wipe(s->url, strlen(s->url)); /* it may hold a password */
    mem_free(s->url);
    mem_free(s->place);
    *s = (struct postgres_server){0};
}

/* --- the thread --- */

const struct library postgres_library = {"PostgreSQL", "libpq.so.5", "libpq5"};

static struct err *load_api(struct postgres_api *ret_api)
{
    const struct dylib_symbol symbols[] = {
#define X(name) {"PQ" #name, (void **)&ret_api->name},
        POSTGRES_API_TABLE(X)
#undef X
    };

    return dylib_load(postgres_library.soname, postgres_library.package, symbols,
                      ARRAY_LEN(symbols));
}

struct connecting {
    atomic_uint n_users; /* the thread and its waiter */
    atomic_bool is_done; /* the members below belong to the waiter then */
    int done_fd;
    char *url;
    char timeout_s[24], timeout_ms[24];
    struct postgres_api api;
    PGconn *handle;
    struct err *error;
};

static void leave(struct connecting *j)
{
    if (atomic_fetch_sub(&j->n_users, 1) > 1)
        return;
    if (j->handle)
        j->api.finish(j->handle);
    err_free(j->error);
    if (j->done_fd >= 0)
        close(j->done_fd);
    mem_wipe(j->url, strlen(j->url));
    mem_free(j->url);
    mem_free(j);
}

static void *connect_in_thread(void *arg)
{
    struct connecting *j = arg;
    /* The URL overrides the values before it. */
    static const char *const keys[] = {"connect_timeout",
                                       "tcp_user_timeout",
                                       "keepalives_idle",
                                       "keepalives_interval",
                                       "keepalives_count",
                                       "fallback_application_name",
                                       "dbname",
                                       "client_encoding",
                                       NULL};
    const char *const values[] = {j->timeout_s, j->timeout_ms, "10",   "5", "3",
                                  "keel",       j->url,        "UTF8", NULL};

    j->error = load_api(&j->api);
    if (!j->error) {
        j->handle = j->api.connectdbParams(keys, values, /* expand_dbname= */ 1);
        if (!j->handle)
            j->error = err_new(ERR_STORAGE, "cannot connect to PostgreSQL: out of memory");
    }
    atomic_store(&j->is_done, true);
    eventfd_write(j->done_fd, 1);
    leave(j);
    return NULL;
}

/* Signals are for the loop's thread. */
static int start_thread(struct connecting *j)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, connect_in_thread, j);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static struct err *connect_handle(struct postgres_conn *c)
{
    struct connecting *j = mem_alloc(sizeof *j);
    struct err *e = NULL;
    int error, ready;

    *j = (struct connecting){.url = mem_strdup(c->server->url), .done_fd = eventfd(0, EFD_CLOEXEC)};
    atomic_init(&j->n_users, 2);
    snprintf(j->timeout_s, sizeof j->timeout_s, "%llu", (unsigned long long)c->limit_ms / 1000 + 2);
    snprintf(j->timeout_ms, sizeof j->timeout_ms, "%llu",
             (unsigned long long)c->server->timeout_ms);
    error = j->done_fd < 0 ? errno : start_thread(j);
    if (error) {
        atomic_store(&j->n_users, 1);
        e = err_errno(ERR_STORAGE, error, "cannot start a thread to connect to PostgreSQL");
    } else {
        e = postgres_wait(c, j->done_fd, TASK_FD_READ, &ready);
    }
    if (!e && atomic_load(&j->is_done)) {
        e = TAKE(j->error);
        c->api = j->api;
        c->handle = TAKE(j->handle);
    }
    leave(j);
    return e;
}

/* --- the tables --- */

static struct err *seal_rows(struct postgres_conn *c)
{
    char value[POSTGRES_VALUE_SIZE], state[6];
    struct err *e = postgres_run_script(c, seal, value, state);

    if (!e || strcmp(state, IN_USE) != 0)
        return e;
    return err_hint(err_wrap(e, "the database must be upgraded, but an older keel is using it"),
                    "stop that keel first, or choose another store with --store");
}

static struct err *check_tables(struct postgres_conn *c)
{
    char value[POSTGRES_VALUE_SIZE], state[6];
    /* The clock was added later: without it the script runs again and creates what is missing. */
    struct err *e = postgres_run_script(c,
                                        "SELECT version || CASE WHEN to_regclass('keel_clock')"
                                        " IS NULL THEN ' old' ELSE '' END FROM keel_version",
                                        value, state);
    long version = e ? 0 : strtol(value, NULL, 10);

    if (!e && strcmp(value, VERSION) == 0)
        return NULL;
    if (e && strcmp(state, NO_TABLE) != 0)
        return e;
    if (!e && *value && version < UNSEALED)
        return err_hint(err_new(ERR_STORAGE, "the tables are from a keel before the first release"),
                        "drop the tables keel_*, or choose another store with --store");
    if (!e && version > strtol(VERSION, NULL, 10))
        return err_hint(err_new(ERR_STORAGE, "the database is from a newer keel"),
                        "update keel, or choose another store with --store");
    err_free(e);
    TRY(postgres_run_script(c, tables, value, state));
    return version == UNSEALED ? seal_rows(c) : NULL;
}

static void ignore_notice(void *arg, const char *text)
{
}

static struct err *connect_once(struct postgres_conn *c)
{
    static const char *const hint = "check that the server is running, and check the address, user "
                                    "and password in the store's URL";
    struct err *e;

    c->heard_ms = postgres_now_ms();
    c->limit_ms =
        c->was_silent ? MIN(c->server->timeout_ms, (uint64_t)AGAIN_MS) : c->server->timeout_ms;
    TRY(connect_handle(c));
    if (c->api.status(c->handle) != CONNECTION_OK)
        return postgres_lost(c, "cannot connect to", hint);
    c->api.setNoticeProcessor(c->handle, ignore_notice, NULL);
    if (c->api.setnonblocking(c->handle, 1) != 0)
        return postgres_lost(c, "cannot connect to", hint);
    c->heard_ms = postgres_now_ms();
    e = check_tables(c);
    if (e)
        postgres_disconnect(c);
    return e;
}

static struct err *pause_for(uint64_t pause_ms)
{
    struct timespec t = {(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000};

    if (task_self())
        return task_sleep(pause_ms);
    nanosleep(&t, NULL);
    return NULL;
}

struct err *postgres_connect(struct postgres_conn *c)
{
    uint64_t end_ms = postgres_now_ms() + MIN(c->server->timeout_ms, (uint64_t)RETRY_MS);
    uint64_t pause_ms = FIRST_PAUSE_MS;
    struct err *e;

    if (c->handle)
        return NULL;
    for (;; pause_ms = MIN(2 * pause_ms, (uint64_t)LONGEST_PAUSE_MS)) {
        bool is_last = postgres_now_ms() >= end_ms; /* the loop may have been busy until now */

        e = connect_once(c);
        if (!err_is(e, ERR_NETWORK) || !c->was_connected || c->was_silent || task_was_cancelled() ||
            c->stop_fd >= 0 || is_last)
            break;
        err_ignore(e, "the next try tells");
        TRY(pause_for(pause_ms));
    }
    if (err_is(e, ERR_NETWORK) && (c->was_silent || c->was_connected))
        atomic_store(&c->server->silent_until_ms,
                     postgres_now_ms() + (c->was_silent ? c->server->timeout_ms : DOWN_MS));
    if (e)
        return e;
    c->was_connected = true;
    c->was_silent = false;
    atomic_store(&c->server->silent_until_ms, 0);
    return NULL;
}
