/* sqlite_db.h - one connection to a database of sessions: statements, errors, the tables.
 *
 * Everything here blocks and belongs to one thread at a time. */
#ifndef KEEL_STORE_SQLITE_DB_H
#define KEEL_STORE_SQLITE_DB_H

#include "base/arena.h"

#include <sqlite3.h>

/* SQLite's functions without their prefix, looked up by name when a database is opened: keel does
 * not link the library. */
#define SQLITE_API_TABLE(X)                                                                        \
    X(open_v2)                                                                                     \
    X(close_v2)                                                                                    \
    X(busy_handler)                                                                                \
    X(db_config)                                                                                   \
    X(exec)                                                                                        \
    X(prepare_v3)                                                                                  \
    X(finalize)                                                                                    \
    X(reset)                                                                                       \
    X(clear_bindings)                                                                              \
    X(step)                                                                                        \
    X(create_function_v2)                                                                          \
    X(user_data)                                                                                   \
    X(value_type)                                                                                  \
    X(value_int64)                                                                                 \
    X(value_text)                                                                                  \
    X(value_bytes)                                                                                 \
    X(result_int64)                                                                                \
    X(bind_int64)                                                                                  \
    X(bind_text64)                                                                                 \
    X(bind_null)                                                                                   \
    X(column_int64)                                                                                \
    X(column_text)                                                                                 \
    X(column_bytes)                                                                                \
    X(extended_errcode)                                                                            \
    X(extended_result_codes)                                                                       \
    X(errmsg)                                                                                      \
    X(system_errno)                                                                                \
    X(errstr)                                                                                      \
    X(changes64)                                                                                   \
    X(last_insert_rowid)                                                                           \
    X(get_autocommit)                                                                              \
    X(file_control)                                                                                \
    X(wal_hook)                                                                                    \
    X(wal_checkpoint_v2)

struct sqlite_api {
#define X(name) __typeof__(sqlite3_##name) *name;
    SQLITE_API_TABLE(X)
#undef X
};

/* Every statement, prepared when it is first needed. */
#define SQLITE_STATEMENTS(X)                                                                       \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(FIND, "SELECT " SQLITE_SUMMARY ", parent FROM sessions WHERE id = ?1")                       \
    X(LIST, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE parent = ?1"                            \
            " AND (updated, id) < (?2, ?3) ORDER BY updated DESC, id DESC LIMIT ?4")               \
    X(LIST_CWD, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE parent = ?1 AND cwd = ?5"           \
                " AND (updated, id) < (?2, ?3) ORDER BY updated DESC, id DESC LIMIT ?4")           \
    X(LIST_NAME, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE parent = ?1 AND name = ?6"         \
                 " AND (?5 = '' OR cwd = ?5) AND (updated, id) < (?2, ?3)"                         \
                 " ORDER BY updated DESC, id DESC LIMIT ?4")                                       \
    X(CREATE, "INSERT INTO sessions (id, parent, root, created, updated, sum) VALUES (?1, ?2, ?3," \
              " ?4, ?4, row_sum(?1, ?2, ?3, ?4, '', '', '', '', '', ?4, 1, 0, 0))")                \
    X(UPDATE, "UPDATE sessions SET cwd = " SQLITE_CWD ", name = " SQLITE_NAME                      \
              ", provider = " SQLITE_PROVIDER ", model = " SQLITE_MODEL                            \
              ", preview = " SQLITE_PREVIEW ", updated = " SQLITE_UPDATED                          \
              ", n_messages = " SQLITE_MESSAGES ", " SQLITE_SEAL_UPDATE " WHERE id = ?1")          \
    X(LEASE, "UPDATE sessions SET fence = fence + 1, is_leased = 1 WHERE id = ?1"                  \
             " RETURNING fence, number, sum = " SQLITE_ROW_SUM)                                    \
    X(UNLEASE, "UPDATE sessions AS s SET is_leased = 0, next_seq = " SQLITE_NEXT_SEQ               \
               ", n_bytes = " SQLITE_TOTAL ", updated = " SQLITE_LAST_USED ", " SQLITE_SEAL_CLOSED \
               " WHERE root = ?1 AND ?2 = (SELECT fence FROM sessions WHERE id = ?1)")             \
    X(STREAM, "SELECT number, fence, is_leased, root, updated FROM sessions WHERE id = ?1")        \
    X(LAST_RECORD, "SELECT key + n, total FROM records WHERE key BETWEEN ?1 AND ?2"                \
                   " ORDER BY key DESC LIMIT 1")                                                   \
    X(LAST_STREAMED, "SELECT key + n, total FROM streamed WHERE key BETWEEN ?1 AND ?2"             \
                     " ORDER BY key DESC LIMIT 1")                                                 \
    X(TOUCH,                                                                                       \
      "UPDATE sessions SET updated = ?2, " SQLITE_SEAL_TIME " WHERE number = ?1 AND updated < ?2") \
    X(CLAMP, "UPDATE sessions SET updated = ?2, " SQLITE_SEAL_TIME " WHERE updated > ?1")          \
    X(SEAL_ALL, "UPDATE sessions SET sum = " SQLITE_ROW_SUM)                                       \
    X(BELIEF, "SELECT looked, believed FROM clock")                                                \
    X(BELIEVE, "INSERT OR REPLACE INTO clock (id, looked, believed) VALUES (1, ?1, ?2)")           \
    X(APPEND,                                                                                      \
      "INSERT INTO records (key, n, ms, type, run, turn, round, attempt, total, body, sum)"        \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                                    \
    X(APPEND_STREAMED,                                                                             \
      "INSERT INTO streamed (key, n, ms, type, run, turn, round, attempt, total, body, sum)"       \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                                    \
    X(KEEPS, "SELECT 1 FROM payloads WHERE handle = ?1 AND stream ="                               \
             " (SELECT number FROM sessions WHERE id = ?2)")                                       \
    X(KNOWN_END, "SELECT next_seq, number, sum = " SQLITE_ROW_SUM " FROM sessions WHERE id = ?1")  \
    X(STRAY, "SELECT id, parent FROM sessions WHERE id NOT IN (" SQLITE_REACHED ") OR root <>"     \
             " iif(parent = '', id, (SELECT root FROM sessions p WHERE p.id = sessions.parent))")  \
    X(ORPHANS,                                                                                     \
      "SELECT number, sum(n) FROM (" SQLITE_STREAMS_OF("records") " UNION ALL " SQLITE_STREAMS_OF( \
          "streamed") ") WHERE number NOT IN (SELECT number FROM sessions)"                        \
                      " GROUP BY number")                                                          \
    X(REFERS, "SELECT 1 FROM payloads WHERE handle = ?1 AND stream = ?2")                          \
    X(REFER, "INSERT OR IGNORE INTO payloads (handle, stream) VALUES (?1, ?2)")                    \
    X(BEFORE, "SELECT max(ifnull((SELECT max(key) FROM records WHERE key BETWEEN ?1 AND ?2), 0),"  \
              " ifnull((SELECT max(key) FROM streamed WHERE key BETWEEN ?1 AND ?2), 0))")          \
    X(READ, SQLITE_CORE_RECORDS " UNION ALL " SQLITE_STREAMED_RECORDS " ORDER BY key")             \
    X(READ_BACK, SQLITE_CORE_RECORDS " UNION ALL " SQLITE_STREAMED_RECORDS " ORDER BY key DESC")   \
    X(READ_CORE, SQLITE_CORE_RECORDS " ORDER BY key")                                              \
    X(READ_CORE_BACK, SQLITE_CORE_RECORDS " ORDER BY key DESC")                                    \
    X(SCAN_CORE, "SELECT key FROM records WHERE key BETWEEN ?1 AND ?2 AND take_row(key, n, ms,"    \
                 " type, run, turn, round, attempt, total, sum, body) ORDER BY key")               \
    X(PARENT, "SELECT parent FROM sessions WHERE id = ?1")                                         \
    X(PAYLOADS, "SELECT handle FROM payloads WHERE stream = ?1")                                   \
    X(REFERRERS, "SELECT stream FROM payloads WHERE handle = ?1")                                  \
    X(SUBTREE, "WITH RECURSIVE below (id) AS (SELECT ?1 UNION ALL SELECT s.id FROM sessions s"     \
               " JOIN below b ON s.parent = b.id) SELECT s.id, s.number FROM sessions s"           \
               " JOIN below USING (id)")                                                           \
    X(REMOVE_RECORDS, "DELETE FROM records WHERE key BETWEEN ?1 AND ?2")                           \
    X(REMOVE_STREAMED, "DELETE FROM streamed WHERE key BETWEEN ?1 AND ?2")                         \
    X(REMOVE_SESSION, "DELETE FROM sessions WHERE number = ?1")                                    \
    X(UNREFER, "DELETE FROM payloads WHERE stream = ?1")                                           \
    X(DOOM, "INSERT OR REPLACE INTO doomed (handle, since) SELECT handle, ?2 FROM payloads"        \
            " WHERE stream = ?1")                                                                  \
    X(DOOMED, "SELECT handle, EXISTS (SELECT 1 FROM payloads p WHERE p.handle = doomed.handle)"    \
              " FROM doomed WHERE since < ?1 LIMIT ?2")                                            \
    X(UNDOOM, "DELETE FROM doomed WHERE handle = ?1")                                              \
    X(DOOM_LATER, "UPDATE doomed SET since = ?2 WHERE handle = ?1")                                \
    X(UNINDEX, "UPDATE sessions SET indexed = 1")                                                  \
    X(FORGET_WORDS, "INSERT INTO words (words) VALUES ('delete-all')")                             \
    X(UNINDEXED, "SELECT number, " SQLITE_NEXT_SEQ " AS next, indexed FROM sessions s"             \
                 " WHERE (indexed < next_seq OR " SQLITE_IS_LEASED ") AND indexed < next")         \
    X(INDEX, "INSERT INTO words (rowid, text) VALUES (?1, ?2)")                                    \
    X(INDEXED, "UPDATE sessions SET indexed = ?2 WHERE number = ?1")                               \
    X(SEARCH, "SELECT r.key, r.body, s.id FROM words JOIN records r ON r.key = words.rowid"        \
              " JOIN sessions s ON s.number = r.key >> 40"                                         \
              " WHERE words MATCH ?1 ORDER BY r.ms DESC, r.key DESC LIMIT ?2")

/* The sessions that a walk from the roots down reaches. */
#define SQLITE_REACHED                                                                             \
    "WITH RECURSIVE reached (id) AS (SELECT id FROM sessions WHERE parent = ''"                    \
    " UNION SELECT s.id FROM sessions s JOIN reached r ON s.parent = r.id) SELECT id FROM reached"
/* The streams that a table has records of, with their number: goes from stream to stream without
 * reading all records. */
#define SQLITE_STREAMS_OF(table)                                                                   \
    "SELECT * FROM (WITH RECURSIVE first (key) AS (SELECT min(key) FROM " table                    \
    " UNION ALL SELECT (SELECT min(key) FROM " table                                               \
    " WHERE key >= ((first.key >> 40) + 1) << 40)"                                                 \
    " FROM first WHERE first.key IS NOT NULL) SELECT key >> 40 AS number, 1 AS n FROM first"       \
    " WHERE key IS NOT NULL)"

/* What the last record of a stream `s` says. It is in one of two tables. */
#define SQLITE_LAST_IN(table, what)                                                                \
    "ifnull((SELECT " what " FROM " table " WHERE key BETWEEN s.number << 40"                      \
    " AND (s.number << 40) + 1099511627775 ORDER BY key DESC LIMIT 1), 0)"
#define SQLITE_LAST(what)                                                                          \
    "max(" SQLITE_LAST_IN("records", what) ", " SQLITE_LAST_IN("streamed", what) ")"
#define SQLITE_NEXT_SEQ "max(1, " SQLITE_LAST("key + n - (s.number << 40)") ")"
#define SQLITE_TOTAL SQLITE_LAST("total")

#define SQLITE_LAST_USED "max(updated, " SQLITE_LAST("ms") ")"

/* The sum of a row of `sessions`, over all that it says of the session, in this order.
 * sqlite_db_open() defines row_sum(). The sum does not cover the row's number, which its records
 * name; which process has the session open; and how far the search index reaches.
 *
 * A change updates the sum in the same statement. A row that did not fit its sum before does not
 * fit it afterwards. */
#define SQLITE_SUM_OF(cwd, name, provider, model, preview, updated, next_seq, n_messages, n_bytes) \
    "row_sum(id, parent, root, created, " cwd ", " name ", " provider ", " model ", " preview      \
    ", " updated ", " next_seq ", " n_messages ", " n_bytes ")"
#define SQLITE_ROW_SUM                                                                             \
    SQLITE_SUM_OF("cwd", "name", "provider", "model", "preview", "updated", "next_seq",            \
                  "n_messages", "n_bytes")
#define SQLITE_SEAL(...) "sum = iif(sum = " SQLITE_ROW_SUM ", " SQLITE_SUM_OF(__VA_ARGS__) ", sum)"

/* The columns after a change. */
#define SQLITE_CWD "iif(?2 = '', cwd, ?2)"
#define SQLITE_NAME "iif(?3 = '', name, ?3)"
#define SQLITE_PROVIDER "iif(?4 = '', provider, ?4)"
#define SQLITE_MODEL "iif(?5 = '', model, ?5)"
#define SQLITE_PREVIEW "iif(?6 = '', preview, ?6)"
#define SQLITE_UPDATED "max(updated, ?7)"
#define SQLITE_MESSAGES "iif(?8 = 0, n_messages, max(?8, 0))"
#define SQLITE_SEAL_UPDATE                                                                         \
    SQLITE_SEAL(SQLITE_CWD, SQLITE_NAME, SQLITE_PROVIDER, SQLITE_MODEL, SQLITE_PREVIEW,            \
                SQLITE_UPDATED, "next_seq", SQLITE_MESSAGES, "n_bytes")
#define SQLITE_SEAL_END(updated, next_seq, n_bytes)                                                \
    SQLITE_SEAL("cwd", "name", "provider", "model", "preview", updated, next_seq, "n_messages",    \
                n_bytes)
#define SQLITE_SEAL_TIME SQLITE_SEAL_END("?2", "next_seq", "n_bytes")
#define SQLITE_SEAL_CLOSED SQLITE_SEAL_END(SQLITE_LAST_USED, SQLITE_NEXT_SEQ, SQLITE_TOTAL)

/* A session is leased with all below it. Meanwhile its rows do not say where its streams end:
 * appends leave them alone. */
#define SQLITE_IS_LEASED                                                                           \
    "iif(s.parent = '', s.is_leased, (SELECT is_leased FROM sessions r WHERE r.id = s.root))"
#define SQLITE_SUMMARY                                                                             \
    "id, cwd, name, provider, model, preview, created, updated, next_seq, n_messages, n_bytes,"    \
    " is_leased, number"

#define SQLITE_CORE_RECORDS                                                                        \
    "SELECT key, n, ms, type, run, turn, round, attempt, 1, body, total, sum FROM records"         \
    " WHERE key BETWEEN ?1 AND ?2 AND (?3 = '' OR type = ?3)"
#define SQLITE_STREAMED_RECORDS                                                                    \
    "SELECT key, n, ms, type, run, turn, round, attempt, 0, body, total, sum FROM streamed"        \
    " WHERE key BETWEEN ?1 AND ?2 AND (?3 = '' OR type = ?3)"

enum sqlite_statement {
#define X(name, sql) SQL_##name,
    SQLITE_STATEMENTS(X)
#undef X
        SQL_N
};

struct sqlite_db {
    struct sqlite_api api;
    sqlite3 *handle;
    sqlite3_stmt *statements[SQL_N];
    char *path;
    /* The files that SQLite holds open: the database, its log, and the index of the log. Nothing
     * else in this process may open them (sys/locked_file.h). */
    struct sqlite_file {
        char *path;
        struct locked_file *lock;
    } files[3];
    /* take_row() in a statement calls this with the values of each row. That takes half the time of
     * a step per row and asking for its columns. True: the statement stops at that row. */
    bool (*take_row)(void *self, const struct sqlite_api *api, sqlite3_value **values);
    void *take_self;
    bool is_hasty; /* commits do not wait for the disk */
    /* A commit has failed: the disk may lack what the log holds, though the kernel thinks it is
     * there */
    bool is_log_suspect;
    bool lacks_room; /* the reason of the last failure */
    bool is_damaged; /* the last failure was a damaged page */
    /* of the log, see sqlite_log.h */
    bool has_log;            /* it was opened */
    uint64_t n_log_bytes;    /* after the last commit here */
    uint64_t log_room_until; /* the size of the file when it was last looked at */
};

/* Creates the file, its directory and its tables if they are missing. */
MUST_USE struct err *sqlite_db_open(struct sqlite_db *db, const char *path);
void sqlite_db_close(struct sqlite_db *db); /* also for a zeroed one */

/* Makes an error of SQLite's last message, with what a person can do about it. */
NEVER_NULL MUST_USE struct err *sqlite_db_error(struct sqlite_db *db, const char *what);

/* --- statements: begin, bind, step, end --- */

MUST_USE struct err *sqlite_begin(struct sqlite_db *db, enum sqlite_statement s);
void sqlite_int(struct sqlite_db *db, enum sqlite_statement s, int place, int64_t value);
/* Borrowed until the statement ends. */
void sqlite_text(struct sqlite_db *db, enum sqlite_statement s, int place, struct str text);
/* *ret_row false: no row is left. */
MUST_USE struct err *sqlite_step(struct sqlite_db *db, enum sqlite_statement s, bool *ret_row);
int64_t sqlite_column_int(struct sqlite_db *db, enum sqlite_statement s, int column);
/* Valid until the next step. */
struct str sqlite_column_text(struct sqlite_db *db, enum sqlite_statement s, int column);
void sqlite_end(struct sqlite_db *db, enum sqlite_statement s);
/* Steps once and ends: for statements without rows. */
MUST_USE struct err *sqlite_finish(struct sqlite_db *db, enum sqlite_statement s);

/* Until the next call: commits wait for the disk, or leave that to a later commit that does. */
MUST_USE struct err *sqlite_set_durable(struct sqlite_db *db, bool is_durable);
MUST_USE struct err *sqlite_begin_transaction(struct sqlite_db *db);
/* Commits, or rolls back if `take_error` is an error, and returns what went wrong. */
MUST_USE struct err *sqlite_end_transaction(struct sqlite_db *db, struct err *take_error);

/* A record's key in the table: the number of its stream, then its own. Records of a stream are
 * neighbours. */
#define SQLITE_SEQ_BITS 40
static inline int64_t sqlite_key(int64_t stream, uint64_t seq)
{
    return (stream << SQLITE_SEQ_BITS) | (int64_t)seq;
}
static inline uint64_t sqlite_key_seq(int64_t key)
{
    return (uint64_t)key & (((uint64_t)1 << SQLITE_SEQ_BITS) - 1);
}
#define SQLITE_SEQ_LAST (((uint64_t)1 << SQLITE_SEQ_BITS) - 1)

#endif
