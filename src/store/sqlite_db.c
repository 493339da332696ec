/* sqlite_db.c - opens databases, asks them, and describes what went wrong. */
#include "store/sqlite_db.h"

#include "base/checksum.h"
#include "store/leases.h"
#include "store/sqlite.h"
#include "store/sqlite_log.h"
#include "sys/fs.h"
#include "sys/locked_file.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a transaction waits for other processes. */
#define BUSY_MS 30000
#define BUSY_TRIES (BUSY_MS / WORK_PAUSE_MS)
#define VERSION 4
#define UNSEALED 3 /* as 4, but rows of sessions have no sum */

static const char *const statement_texts[] = {
#define X(name, sql) sql,
    SQLITE_STATEMENTS(X)
#undef X
};

/* key: the number of the stream and of the record, see sqlite_key(). Numbers of streams are never
 * used again, so that an old entry of the search index leads to nothing else.
 *
 * A commit costs by the pages that it changes. So an append changes only those of its records:
 * `total` is the size of the stream so far, and the row in `sessions` is updated when the session
 * is closed. What is only needed to look at a session is in a table of its own (`streamed`), so
 * that a session opens fast without an index. `sum` is record_sum(), which every read compares. */
#define RECORD_COLUMNS                                                                             \
    " key INTEGER PRIMARY KEY, n INTEGER NOT NULL, ms INTEGER NOT NULL, type TEXT NOT NULL,"       \
    " run TEXT NOT NULL, turn INTEGER NOT NULL, round INTEGER NOT NULL,"                           \
    " attempt INTEGER NOT NULL, total INTEGER NOT NULL, sum INTEGER NOT NULL, body TEXT NOT NULL"
/* One row: struct store_belief. A database may be older than this table. */
#define CLOCK_TABLE                                                                                \
    "CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY CHECK (id = 1),"                     \
    " looked INTEGER NOT NULL, believed INTEGER NOT NULL);"
/* SQLITE_ROW_SUM */
#define SUM_COLUMN " sum INTEGER NOT NULL DEFAULT 0"
static const char tables[] =
    "CREATE TABLE IF NOT EXISTS sessions ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " parent TEXT NOT NULL DEFAULT '', root TEXT NOT NULL, cwd TEXT NOT NULL DEFAULT '',"
    " name TEXT NOT NULL DEFAULT '', provider TEXT NOT NULL DEFAULT '',"
    " model TEXT NOT NULL DEFAULT '', preview TEXT NOT NULL DEFAULT '',"
    " created INTEGER NOT NULL, updated INTEGER NOT NULL, next_seq INTEGER NOT NULL DEFAULT 1,"
    " n_messages INTEGER NOT NULL DEFAULT 0, n_bytes INTEGER NOT NULL DEFAULT 0,"
    " fence INTEGER NOT NULL DEFAULT 0, is_leased INTEGER NOT NULL DEFAULT 0,"
    " indexed INTEGER NOT NULL DEFAULT 1," SUM_COLUMN ");"
    "CREATE INDEX IF NOT EXISTS sessions_by_time ON sessions (parent, updated DESC, id DESC);"
    "CREATE INDEX IF NOT EXISTS sessions_by_cwd ON sessions (parent, cwd, updated DESC, id DESC);"
    "CREATE INDEX IF NOT EXISTS sessions_by_root ON sessions (root);"
    "CREATE TABLE IF NOT EXISTS records (" RECORD_COLUMNS ");"
    "CREATE TABLE IF NOT EXISTS streamed (" RECORD_COLUMNS ");"
    /* For people who look into the file. */
    "CREATE VIEW IF NOT EXISTS journal AS SELECT * FROM records UNION ALL SELECT * FROM streamed;"
    "CREATE TABLE IF NOT EXISTS payloads (handle TEXT NOT NULL, stream INTEGER NOT NULL,"
    " PRIMARY KEY (handle, stream)) WITHOUT ROWID;"
    /* Blobs without a reference. They are removed after a while: somebody may be about to refer to
     * one. */
    "CREATE TABLE IF NOT EXISTS doomed (handle TEXT PRIMARY KEY, since INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS payloads_by_stream ON payloads (stream);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content='');" CLOCK_TABLE;

/* --- errors --- */

/* SQLite has a code for a full disk, but none for an exhausted quota. */
static bool is_about_room(const struct sqlite_db *db, int code)
{
    int error = (code & 0xFF) == SQLITE_IOERR ? db->api.system_errno(db->handle) : 0;

    return (code & 0xFF) == SQLITE_FULL || error == ENOSPC || error == EDQUOT;
}

static const char *advice(int code)
{
    switch (code & 0xFF) {
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return "check its permissions, or choose another store with --store";
    case SQLITE_NOTADB:
        return "check the name, or choose another store with --store; if keel stored sessions in "
               "this file, keep a copy of it, then try sqlite3 FILE .recover";
    case SQLITE_CORRUPT:
        return "keep a copy of the file, then try sqlite3 FILE .recover, or choose another store "
               "with --store";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program keeps the file locked: stop it and try again";
    default:
        return NULL;
    }
}

struct err *sqlite_db_error(struct sqlite_db *db, const char *what)
{
    int code = db->handle ? db->api.extended_errcode(db->handle) : SQLITE_NOMEM;
    struct err *e = err_new(ERR_STORAGE, "cannot %s in %s: %s", what, db->path,
                            db->handle ? db->api.errmsg(db->handle) : "out of memory");
    const char *hint = advice(code);

    db->lacks_room = is_about_room(db, code);
    db->is_damaged = (code & 0xFF) == SQLITE_CORRUPT;
    if (db->lacks_room)
        hint = "the disk is full: free some space, for example with keel session delete, or choose "
               "another store with --store";
    return hint ? err_hint(e, "%s", hint) : e;
}

/* --- opening --- */

static struct err *run_script(struct sqlite_db *db, const char *sql, const char *what)
{
    return db->api.exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL
                                                                        : sqlite_db_error(db, what);
}

struct sqlite_version {
    long number;
    long has_clock;
};

static int read_version(void *self, int n, char **values, char **names)
{
    struct sqlite_version *v = self;

    v->number = n > 0 && values[0] ? strtol(values[0], NULL, 10) : 0;
    v->has_clock = n > 1 && values[1] ? strtol(values[1], NULL, 10) : 0;
    return 0;
}

const struct library sqlite_library = {"SQLite", "libsqlite3.so.0", "libsqlite3-0"};

static struct err *load_api(struct sqlite_api *ret_api)
{
    const struct dylib_symbol symbols[] = {
#define X(name) {"sqlite3_" #name, (void **)&ret_api->name},
        SQLITE_API_TABLE(X)
#undef X
    };

    return dylib_load(sqlite_library.soname, sqlite_library.package, symbols, ARRAY_LEN(symbols));
}

struct err *store_sqlite_load(void)
{
    struct sqlite_api api;

    return load_api(&api);
}

/* --- functions in statements --- */

/* For callbacks of SQLite: even their arguments can only be read through its functions. */
static struct sqlite_api functions;
static pthread_once_t functions_once = PTHREAD_ONCE_INIT;

static void load_functions(void)
{
    err_ignore(load_api(&functions), "the connection that asks for it has loaded them");
}

/* Sums every value with its type: a text and a number that look alike differ. */
static void sqlite_sum_row(sqlite3_context *context, int n, sqlite3_value **values)
{
    uint64_t sum = CHECKSUM_START;

    for (int i = 0; i < n; i++) {
        int type = functions.value_type(values[i]);
        const char *text;

        sum = checksum_add_number(sum, (uint64_t)type);
        if (type == SQLITE_INTEGER) {
            sum = checksum_add_number(sum, (uint64_t)functions.value_int64(values[i]));
            continue;
        }
        text = (const char *)functions.value_text(values[i]);
        sum =
            checksum_add(sum, str_make(text, text ? (size_t)functions.value_bytes(values[i]) : 0));
    }
    functions.result_int64(context, (int64_t)sum);
}

static void sqlite_take_row(sqlite3_context *context, int n, sqlite3_value **values)
{
    const struct sqlite_db *db = functions.user_data(context);

    functions.result_int64(context, db->take_row(db->take_self, &functions, values));
}

static struct err *make_functions(struct sqlite_db *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;

    pthread_once(&functions_once, load_functions);
    if (db->api.create_function_v2(db->handle, "row_sum", -1, flags | SQLITE_DETERMINISTIC, NULL,
                                   sqlite_sum_row, NULL, NULL, NULL) == SQLITE_OK &&
        db->api.create_function_v2(db->handle, "take_row", -1, flags, db, sqlite_take_row, NULL,
                                   NULL, NULL) == SQLITE_OK)
        return NULL;
    return sqlite_db_error(db, "open sessions");
}

/* --- tables --- */

/* Which other process has this session open? Empty: none. */
static struct str find_other_holder(const struct sqlite_db *db, struct str id, struct arena *a)
{
    const char *lock_dir = arena_format(a, "%s-locks", db->path).p;
    struct str holder = lease_holder(lock_dir, id, a);
    struct str own = arena_format(a, "process %ld", (long)getpid());

    return str_eq(holder, own) ? (struct str){0} : holder;
}

struct open_sessions {
    const struct sqlite_db *db;
    struct arena arena;
    struct str id, holder; /* of one that another process has open */
};

static int note_holder(void *self, int n, char **values, char **names)
{
    struct open_sessions *o = self;
    struct str holder = find_other_holder(o->db, str_of(values[0] ? values[0] : ""), &o->arena);

    if (!o->holder.n && holder.n) {
        o->id = arena_str(&o->arena, str_of(values[0]));
        o->holder = holder;
    }
    return 0;
}

/* An older keel that writes knows no sums, and would leave rows that do not fit theirs. */
static struct err *check_nobody_writes(struct sqlite_db *db)
{
    struct open_sessions o = {.db = db};
    struct err *e = NULL;

    if (db->api.exec(db->handle, "SELECT id FROM sessions WHERE is_leased = 1 AND parent = ''",
                     note_holder, &o, NULL) != SQLITE_OK)
        e = sqlite_db_error(db, "look");
    else if (o.holder.n)
        e = err_hint(err_new(ERR_STORAGE,
                             "%s must be upgraded, but an older keel has session %" STR_FMT
                             " open in %" STR_FMT,
                             db->path, STR_ARG(o.id), STR_ARG(o.holder)),
                     "stop that keel first, or choose another store with --store");
    arena_done(&o.arena);
    return e;
}

static struct err *look_at_version(struct sqlite_db *db, struct sqlite_version *ret_version)
{
    static const char look[] = "SELECT user_version, EXISTS (SELECT 1 FROM sqlite_master"
                               " WHERE name = 'clock') FROM pragma_user_version";

    *ret_version = (struct sqlite_version){0};
    return db->api.exec(db->handle, look, read_version, ret_version, NULL) == SQLITE_OK
               ? NULL
               : sqlite_db_error(db, "look");
}

/* In one transaction, and only once: another process may have done it meanwhile. On failure the
 * caller closes the connection, which undoes it. */
static struct err *write_tables(struct sqlite_db *db)
{
    static const char what[] = "create the tables";
    struct sqlite_version version;

    TRY(run_script(db, "BEGIN IMMEDIATE", what));
    TRY(look_at_version(db, &version));
    if (version.number == UNSEALED) {
        TRY(check_nobody_writes(db));
        TRY(run_script(db, "ALTER TABLE sessions ADD COLUMN" SUM_COLUMN, what));
        TRY(run_script(db, CLOCK_TABLE "UPDATE sessions SET sum = " SQLITE_ROW_SUM, what));
    } else if (version.number == 0) {
        TRY(run_script(db, tables, what));
    } else {
        return run_script(db, "COMMIT", what);
    }
    TRY(run_script(db, "PRAGMA user_version = 4", what));
    return run_script(db, "COMMIT", what);
}

static struct err *make_tables(struct sqlite_db *db)
{
    struct sqlite_version version;

    TRY(look_at_version(db, &version));
    if (version.number == VERSION && !version.has_clock)
        err_ignore(run_script(db, CLOCK_TABLE, "create the tables"), "it may only be read");
    if (version.number == VERSION)
        return NULL;
    if (version.number > VERSION)
        return err_hint(err_new(ERR_STORAGE, "%s is from a newer keel", db->path),
                        "update keel, or choose another store with --store");
    if (version.number > 0 && version.number < UNSEALED)
        return err_hint(
            err_new(ERR_STORAGE, "%s is from a keel before the first release", db->path),
            "move it away, or choose another store with --store");
    return write_tables(db);
}

/* Other users must not read what people say to a model. SQLite gives its own files the same mode.
 * mknod() creates the file without a descriptor: closing one would drop the locks of another
 * connection of this process, without SQLite noticing. */
static struct err *make_file(const char *path)
{
    AUTO_FREE char *dir = mem_strdup(path);
    char *slash = strrchr(dir, '/');

    if (slash && slash != dir) {
        *slash = '\0';
        TRY(fs_make_dirs(dir, 0700));
    }
    if (mknod(path, S_IFREG | 0600, 0) < 0 && errno != EEXIST && access(path, R_OK) < 0)
        return err_hint(err_errno(ERR_STORAGE, errno, "cannot create %s", path),
                        "check its permissions, or choose another store with --store");
    return NULL;
}

/* SQLite names the log and its index after the database. Under another name of the same file it
 * would create others, and each would undo what is in the log of the other. statx() does not ask
 * for times: that would make the kernel write them more often (sqlite_log.h). */
static struct err *check_names(const char *path)
{
    struct statx st;

    if (statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_NLINK, &st) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot stat %s", path);
    if (!S_ISREG(st.stx_mode))
        return err_hint(err_new(ERR_STORAGE, "%s is not a regular file", path),
                        "move it away, or choose another store with --store");
    if (st.stx_nlink <= 1)
        return NULL;
    return err_hint(err_new(ERR_STORAGE,
                            "%s has %u hard links: used under two names, it would lose sessions",
                            path, st.stx_nlink),
                    "remove the other names, which find / -samefile '%s' lists; or make this one a "
                    "separate file while no keel is running: cp '%s' COPY && mv COPY '%s'",
                    path, path, path);
}

static void register_files(struct sqlite_db *db)
{
    for (size_t i = 0; i < ARRAY_LEN(db->files); i++)
        if (!db->files[i].lock)
            db->files[i].lock = locked_file_new(db->files[i].path);
}

/* SQLite's own time-out would delay the end of a program by as much. */
static int wait_for_others(void *self, int n_tries)
{
    return n_tries < BUSY_TRIES && work_pause((unsigned)n_tries);
}

struct err *sqlite_db_open(struct sqlite_db *db, const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    /* A power loss must not lose what was acknowledged: every commit syncs the log. */
    static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                   "PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;"
                                   "PRAGMA journal_size_limit = 67108864;";
    AUTO(arena) struct arena a = {0};

    *db = (struct sqlite_db){.path = mem_strdup(path)};
    for (size_t i = 0; i < ARRAY_LEN(db->files); i++)
        db->files[i].path = mem_strdup(arena_format(&a, "%s%s", path, suffixes[i]).p);
    TRY(load_api(&db->api));
    TRY(make_file(path));
    TRY(check_names(path));
    register_files(db);
    if (db->api.open_v2(path, &db->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return sqlite_db_error(db, "open sessions");
    db->api.extended_result_codes(db->handle, 1);
    db->api.busy_handler(db->handle, wait_for_others, NULL);
    TRY(sqlite_log_set_up(db));
    TRY(run_script(db, settings, "open sessions"));
    db->has_log = true;
    TRY(make_functions(db));
    TRY(make_tables(db));
    register_files(db);
    return NULL;
}

void sqlite_db_close(struct sqlite_db *db)
{
    for (size_t i = 0; i < SQL_N; i++)
        if (db->statements[i])
            db->api.finalize(db->statements[i]);
    sqlite_log_leave(db);
    if (db->handle)
        db->api.close_v2(db->handle);
    for (size_t i = 0; i < ARRAY_LEN(db->files); i++) {
        locked_file_free(db->files[i].lock);
        mem_free(db->files[i].path);
    }
    mem_free(db->path);
    *db = (struct sqlite_db){0};
}

/* --- statements --- */

struct err *sqlite_begin(struct sqlite_db *db, enum sqlite_statement s)
{
    if (db->statements[s])
        return NULL;
    if (db->api.prepare_v3(db->handle, statement_texts[s], -1, SQLITE_PREPARE_PERSISTENT,
                           &db->statements[s], NULL) == SQLITE_OK)
        return NULL;
    return sqlite_db_error(db, "look");
}

void sqlite_int(struct sqlite_db *db, enum sqlite_statement s, int place, int64_t value)
{
    BUG_IF(db->api.bind_int64(db->statements[s], place, value) != SQLITE_OK);
}

void sqlite_text(struct sqlite_db *db, enum sqlite_statement s, int place, struct str text)
{
    BUG_IF(db->api.bind_text64(db->statements[s], place, text.n ? text.p : "", text.n,
                               SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK);
}

struct err *sqlite_step(struct sqlite_db *db, enum sqlite_statement s, bool *ret_row)
{
    int code = db->api.step(db->statements[s]);

    *ret_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return NULL;
    return sqlite_db_error(db, "access sessions");
}

int64_t sqlite_column_int(struct sqlite_db *db, enum sqlite_statement s, int column)
{
    return db->api.column_int64(db->statements[s], column);
}

struct str sqlite_column_text(struct sqlite_db *db, enum sqlite_statement s, int column)
{
    const char *text = (const char *)db->api.column_text(db->statements[s], column);
    int n = db->api.column_bytes(db->statements[s], column);

    return text ? str_make(text, (size_t)n) : (struct str){0};
}

void sqlite_end(struct sqlite_db *db, enum sqlite_statement s)
{
    if (!db->statements[s])
        return;
    db->api.reset(db->statements[s]);
    db->api.clear_bindings(db->statements[s]);
}

struct err *sqlite_finish(struct sqlite_db *db, enum sqlite_statement s)
{
    bool has_row;
    struct err *e = sqlite_step(db, s, &has_row);

    sqlite_end(db, s);
    return e;
}

/* --- transactions --- */

static struct err *run(struct sqlite_db *db, enum sqlite_statement s)
{
    TRY(sqlite_begin(db, s));
    return sqlite_finish(db, s);
}

struct err *sqlite_set_durable(struct sqlite_db *db, bool is_durable)
{
    if (db->is_hasty == !is_durable)
        return NULL;
    db->is_hasty = !is_durable;
    return run_script(db, is_durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
                      "access sessions");
}

/* Writes to files without a name are lost with the last process that has them open. Another process
 * that creates new ones does not see our locks. The times of the log are not read: the kernel would
 * then write them more often (sqlite_log.h). */
static struct err *check_files(struct sqlite_db *db)
{
    int has_moved = 0;

    if (db->api.file_control(db->handle, NULL, SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK &&
        !has_moved && sqlite_log_is_whole(db) && access(db->files[2].path, F_OK) == 0)
        return check_names(db->path);
    return err_hint(err_new(ERR_STORAGE,
                            "%s or its log was moved or removed while in use, or truncated",
                            db->path),
                    "put it back if you can; keel stores nothing more until it is restarted");
}

struct err *sqlite_end_transaction(struct sqlite_db *db, struct err *take_error)
{
    struct err *e = take_error ? take_error : run(db, SQL_COMMIT);

    if (e && !take_error)
        db->is_log_suspect = true;
    /* Some failures have ended it already. */
    if (e && !db->api.get_autocommit(db->handle))
        err_ignore(run(db, SQL_ROLLBACK), "what went wrong before counts");
    return e;
}

struct err *sqlite_begin_transaction(struct sqlite_db *db)
{
    struct err *e;

    TRY(sqlite_log_restart(db));
    TRY(run(db, SQL_BEGIN));
    e = check_files(db);
    return e ? sqlite_end_transaction(db, e) : NULL;
}
