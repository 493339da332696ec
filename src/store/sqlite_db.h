/* sqlite_db.h - one connection to a database of sessions: statements, errors, the tables.
 *
 * Everything here blocks and belongs to one thread at a time. */
#ifndef KEEL_STORE_SQLITE_DB_H
#define KEEL_STORE_SQLITE_DB_H

#include "base/arena.h"
#include "store/sqlite_api.h"

/* Every statement that is used, prepared when it is first needed. */
#define SQLITE_STATEMENTS(X)                                                                       \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(FIND, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE id = ?1")                               \
    X(LIST, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE parent = ?1"                            \
            " AND (updated, id) < (?2, ?3) ORDER BY updated DESC, id DESC LIMIT ?4")               \
    X(LIST_CWD, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE parent = ?1 AND cwd = ?5"           \
                " AND (updated, id) < (?2, ?3) ORDER BY updated DESC, id DESC LIMIT ?4")           \
    X(LIST_NAME, "SELECT " SQLITE_SUMMARY " FROM sessions WHERE parent = ?1 AND name = ?6"         \
                 " AND (?5 = '' OR cwd = ?5) AND (updated, id) < (?2, ?3)"                         \
                 " ORDER BY updated DESC, id DESC LIMIT ?4")                                       \
    X(CREATE, "INSERT INTO sessions (id, parent, root, created, updated)"                          \
              " VALUES (?1, ?2, ?3, ?4, ?4)")                                                      \
    X(UPDATE, "UPDATE sessions SET cwd = iif(?2 = '', cwd, ?2), name = iif(?3 = '', name, ?3),"    \
              " provider = iif(?4 = '', provider, ?4), model = iif(?5 = '', model, ?5),"           \
              " preview = iif(?6 = '', preview, ?6), updated = max(updated, ?7),"                  \
              " n_messages = iif(?8 = 0, n_messages, ?8) WHERE id = ?1")                           \
    X(LEASE, "UPDATE sessions SET fence = fence + 1, is_leased = 1 WHERE id = ?1"                  \
             " RETURNING fence, next_seq")                                                         \
    X(UNLEASE, "UPDATE sessions SET is_leased = 0 WHERE id = ?1 AND fence = ?2")                   \
    X(STREAM, "SELECT s.number, s.next_seq, r.fence, r.is_leased, r.id, s.updated FROM sessions s" \
              " JOIN sessions r ON r.id = s.root WHERE s.id = ?1")                                 \
    X(ADVANCE, "UPDATE sessions SET next_seq = ?2, n_bytes = n_bytes + ?3 WHERE number = ?1")      \
    X(TOUCH, "UPDATE sessions SET updated = ?2 WHERE number = ?1 AND updated < ?2")                \
    X(APPEND, "INSERT INTO records (key, n, ms, type, run, turn, round, attempt, core, body)"      \
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")                                 \
    X(REFER, "INSERT OR IGNORE INTO payloads (handle, stream) VALUES (?1, ?2)")                    \
    X(BEFORE, "SELECT max(key) FROM records WHERE key BETWEEN ?1 AND ?2")                          \
    X(READ, "SELECT " SQLITE_RECORD " FROM records WHERE key BETWEEN ?1 AND ?2"                    \
            " AND (?3 = '' OR type = ?3) ORDER BY key")                                            \
    X(READ_BACK, "SELECT " SQLITE_RECORD " FROM records WHERE key BETWEEN ?1 AND ?2"               \
                 " AND (?3 = '' OR type = ?3) ORDER BY key DESC")                                  \
    X(READ_CORE, "SELECT " SQLITE_RECORD " FROM records WHERE core = 1 AND key BETWEEN ?1 AND ?2"  \
                 " AND (?3 = '' OR type = ?3) ORDER BY key")                                       \
    X(READ_CORE_BACK, "SELECT " SQLITE_RECORD " FROM records WHERE core = 1"                       \
                      " AND key BETWEEN ?1 AND ?2 AND (?3 = '' OR type = ?3) ORDER BY key DESC")   \
    X(SUBTREE, "WITH RECURSIVE below (id) AS (SELECT ?1 UNION ALL SELECT s.id FROM sessions s"     \
               " JOIN below b ON s.parent = b.id) SELECT s.id, s.number FROM sessions s"           \
               " JOIN below USING (id)")                                                           \
    X(REMOVE_RECORDS, "DELETE FROM records WHERE key BETWEEN ?1 AND ?2")                           \
    X(REMOVE_SESSION, "DELETE FROM sessions WHERE number = ?1")                                    \
    X(UNREFER, "DELETE FROM payloads WHERE stream = ?1")                                           \
    X(DOOM, "INSERT OR IGNORE INTO doomed (handle, since) SELECT handle, ?2 FROM payloads"         \
            " WHERE stream = ?1")                                                                  \
    X(SPARE, "DELETE FROM doomed WHERE EXISTS"                                                     \
             " (SELECT 1 FROM payloads p WHERE p.handle = doomed.handle)")                         \
    X(DOOMED, "DELETE FROM doomed WHERE since < ?1 RETURNING handle")                              \
    X(UNINDEX, "UPDATE sessions SET indexed = 1")                                                  \
    X(FORGET_WORDS, "INSERT INTO words (words) VALUES ('delete-all')")                             \
    X(UNINDEXED, "SELECT number, next_seq, indexed FROM sessions WHERE indexed < next_seq")        \
    X(INDEX, "INSERT INTO words (rowid, text) VALUES (?1, ?2)")                                    \
    X(INDEXED, "UPDATE sessions SET indexed = ?2 WHERE number = ?1")                               \
    X(SEARCH, "SELECT r.key, r.body, s.id FROM words JOIN records r ON r.key = words.rowid"        \
              " JOIN sessions s ON s.number = r.key >> 40"                                         \
              " WHERE words MATCH ?1 ORDER BY r.ms DESC, r.key DESC LIMIT ?2")

#define SQLITE_SUMMARY                                                                             \
    "id, parent, cwd, name, provider, model, preview, created, updated, next_seq, n_messages,"     \
    " n_bytes, is_leased, root"
#define SQLITE_RECORD "key, n, ms, type, run, turn, round, attempt, core, body"

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
};

/* Makes the file, its directory and its tables where they are missing. */
MUST_USE struct err *sqlite_db_open(struct sqlite_db *db, const char *path);
void sqlite_db_close(struct sqlite_db *db); /* of a zeroed one too */

/* What SQLite says last, with what a person can do about it. */
NEVER_NULL MUST_USE struct err *sqlite_db_error(const struct sqlite_db *db, const char *what);

/* --- statements: begin, bind, step, end --- */

MUST_USE struct err *sqlite_begin(struct sqlite_db *db, enum sqlite_statement s);
void sqlite_int(struct sqlite_db *db, enum sqlite_statement s, int place, int64_t value);
/* Borrowed until the statement ends. */
void sqlite_text(struct sqlite_db *db, enum sqlite_statement s, int place, struct str text);
/* *ret_row false: there is none, or no further. */
MUST_USE struct err *sqlite_step(struct sqlite_db *db, enum sqlite_statement s, bool *ret_row);
int64_t sqlite_column_int(struct sqlite_db *db, enum sqlite_statement s, int column);
/* Valid until the next step. */
struct str sqlite_column_text(struct sqlite_db *db, enum sqlite_statement s, int column);
void sqlite_end(struct sqlite_db *db, enum sqlite_statement s);
/* For one that gives no rows: steps once and ends. */
MUST_USE struct err *sqlite_finish(struct sqlite_db *db, enum sqlite_statement s);

MUST_USE struct err *sqlite_begin_transaction(struct sqlite_db *db);
/* Commits, or takes all back when `take_error` is one, and returns what went wrong. */
MUST_USE struct err *sqlite_end_transaction(struct sqlite_db *db, struct err *take_error);

/* A record's place in the table: streams are numbered, and their records stand side by side. */
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
