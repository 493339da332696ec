/* postgres_sql.h - every statement that is sent to PostgreSQL, prepared when a connection first
 * needs it.
 *
 * Where a summary is changed its values are $2 to $8; empty ones leave what there is. APPEND looks
 * at owner, fence and number and writes the records in one: the root's row is locked, so that no
 * new owner comes in between. */
#ifndef KEEL_STORE_POSTGRES_SQL_H
#define KEEL_STORE_POSTGRES_SQL_H

/* Of an advisory lock. */
#define POSTGRES_KEY(id) "hashtextextended(" id ", 1801807212)"

#define POSTGRES_SUMMARY                                                                           \
    "s.id, s.parent, s.cwd, s.name, s.provider, s.model, s.preview, s.created, s.updated,"         \
    " s.next_seq, s.n_messages, s.n_bytes, " POSTGRES_KEY(                                         \
        "s.root") " IN"                                                                            \
                  " (SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks"                 \
                  " WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND database ="       \
                  " (SELECT oid FROM pg_database WHERE datname = current_database())),"            \
                  " (SELECT r.holder FROM keel_sessions r WHERE r.id = s.root)"

#define POSTGRES_CHANGES                                                                           \
    "cwd = coalesce(nullif($2::text, ''), s.cwd), name = coalesce(nullif($3::text, ''), s.name),"  \
    " provider = coalesce(nullif($4::text, ''), s.provider),"                                      \
    " model = coalesce(nullif($5::text, ''), s.model),"                                            \
    " preview = coalesce(nullif($6::text, ''), s.preview),"                                        \
    " updated = greatest(s.updated, $7::bigint),"                                                  \
    " n_messages = coalesce(nullif($8::bigint, 0), s.n_messages)"

#define POSTGRES_RECORD "seq, n, ms, type, run, turn, round, attempt, core, body"
/* From the record that holds event $2 on, which may begin before it. */
#define POSTGRES_RANGE                                                                             \
    " FROM keel_records WHERE stream = $1 AND seq < $3 AND seq + n > $2 AND seq >="                \
    " coalesce((SELECT max(seq) FROM keel_records WHERE stream = $1 AND seq <= $2), 0)"            \
    " AND ($4 = '' OR type = $4) AND (core OR NOT $5::boolean) ORDER BY seq "

#define POSTGRES_STATEMENTS(X)                                                                     \
    X(LOCK, "SELECT pg_try_advisory_lock(" POSTGRES_KEY("$1::text") ")")                           \
    X(UNLOCK, "SELECT pg_advisory_unlock(" POSTGRES_KEY("$1::text") ")")                           \
    X(HOLDER, "SELECT holder FROM keel_sessions WHERE id = $1")                                    \
    X(LEASE, "UPDATE keel_sessions SET fence = fence + 1, is_leased = true, holder = $2,"          \
             " backend = pg_backend_pid() WHERE id = $1 RETURNING fence, next_seq")                \
    X(UNLEASE, "UPDATE keel_sessions SET is_leased = false WHERE id = $1 AND fence = $2")          \
    X(CREATE, "INSERT INTO keel_sessions (id, parent, root, created, updated, cwd, name,"          \
              " provider, model, preview, n_messages) VALUES ($1, $2, $3, $4,"                     \
              " greatest($4::bigint, $5), $6, $7, $8, $9, $10, $11)"                               \
              " ON CONFLICT (id) DO NOTHING RETURNING number")                                     \
    X(STREAM, "SELECT s.number, s.next_seq, r.fence, r.is_leased, r.id,"                           \
              " r.backend = pg_backend_pid() FROM keel_sessions s"                                 \
              " JOIN keel_sessions r ON r.id = s.root WHERE s.id = $1")                            \
    X(UPDATE, "UPDATE keel_sessions s SET " POSTGRES_CHANGES " WHERE id = $1 RETURNING number")    \
    X(APPEND, "WITH owner AS (SELECT fence FROM keel_sessions WHERE is_leased"                     \
              " AND backend = pg_backend_pid()"                                                    \
              " AND id = (SELECT root FROM keel_sessions WHERE id = $1) FOR SHARE),"               \
              " moved AS (UPDATE keel_sessions s SET next_seq = $11,"                              \
              " n_bytes = s.n_bytes + $12, " POSTGRES_CHANGES                                      \
              " FROM owner o WHERE s.id = $1 AND o.fence = $9 AND s.next_seq = $10"                \
              " RETURNING s.number),"                                                              \
              " written AS (INSERT INTO keel_records (stream, " POSTGRES_RECORD ")"                \
              " SELECT m.number, u.* FROM moved m, unnest($13::bigint[], $14::bigint[],"           \
              " $15::bigint[], $16::text[], $17::text[], $18::bigint[], $19::bigint[],"            \
              " $20::bigint[], $21::boolean[], $22::text[]) u),"                                   \
              " referred AS (INSERT INTO keel_payloads (handle, stream) SELECT DISTINCT h,"        \
              " m.number FROM moved m, unnest($23::text[]) h ON CONFLICT DO NOTHING)"              \
              " SELECT number FROM moved")                                                         \
    X(WRITTEN, "SELECT r.seq, r.type, r.body FROM keel_records r JOIN keel_sessions s"             \
               " ON s.number = r.stream WHERE s.id = $1 AND r.seq >= $2 AND r.seq < $3"            \
               " ORDER BY r.seq")                                                                  \
    X(SIZES, "SELECT seq, octet_length(body)" POSTGRES_RANGE "LIMIT $6")                           \
    X(SIZES_BACK, "SELECT seq, octet_length(body)" POSTGRES_RANGE "DESC LIMIT $6")                 \
    X(READ, "SELECT " POSTGRES_RECORD POSTGRES_RANGE "LIMIT $6")                                   \
    X(READ_BACK, "SELECT " POSTGRES_RECORD POSTGRES_RANGE "DESC LIMIT $6")                         \
    X(FIND, "SELECT " POSTGRES_SUMMARY " FROM keel_sessions s WHERE s.id = $1")                    \
    X(LIST, "SELECT " POSTGRES_SUMMARY " FROM keel_sessions s WHERE s.parent = $1"                 \
            " AND ($2 = '' OR s.cwd = $2) AND ($3 = '' OR s.name = $3)"                            \
            " AND (s.updated, s.id) < ($4, $5::text COLLATE \"C\")"                                \
            " ORDER BY s.updated DESC, s.id DESC LIMIT $6")                                        \
    X(BACKLOG, "SELECT number, indexed, next_seq FROM keel_sessions"                               \
               " WHERE indexed < next_seq")                                                        \
    X(UNINDEXED, "SELECT seq, body FROM keel_records WHERE stream = $1 AND seq >= $2"              \
                 " AND type IN ('user_input', 'history_mutation', 'provider_response_raw',"        \
                 " 'tool_end') AND core"                                                           \
                 " ORDER BY seq LIMIT 100")                                                        \
    X(INDEX, "INSERT INTO keel_words (stream, seq, words) VALUES ($1, $2,"                         \
             " to_tsvector('simple', $3::text)) ON CONFLICT DO NOTHING")                           \
    X(INDEXED, "UPDATE keel_sessions SET indexed = greatest(indexed, $2) WHERE number = $1")       \
    X(SEARCH, "SELECT w.seq, r.body, " POSTGRES_SUMMARY " FROM keel_words w"                       \
              " JOIN keel_records r ON r.stream = w.stream AND r.seq = w.seq"                      \
              " JOIN keel_sessions s ON s.number = w.stream"                                       \
              " WHERE w.words @@ plainto_tsquery('simple', $1)"                                    \
              " ORDER BY r.ms DESC, r.stream DESC, r.seq DESC LIMIT $2")                           \
    X(FORGET_WORDS, "WITH gone AS (DELETE FROM keel_words)"                                        \
                    " UPDATE keel_sessions SET indexed = 1")                                       \
    X(TREE, "WITH RECURSIVE below (id) AS (SELECT $1::text COLLATE \"C\" UNION"                    \
            " SELECT s.id FROM keel_sessions s JOIN below b ON s.parent = b.id)"                   \
            " SELECT s.number FROM keel_sessions s JOIN below USING (id)")                         \
    X(DOOM, "INSERT INTO keel_doomed (handle) SELECT handle FROM keel_payloads"                    \
            " WHERE stream = ANY ($1::bigint[]) ON CONFLICT DO NOTHING")                           \
    X(REMOVE, "WITH numbers AS (SELECT unnest($1::bigint[]) AS n),"                                \
              " a AS (DELETE FROM keel_payloads WHERE stream IN (SELECT n FROM numbers)),"         \
              " b AS (DELETE FROM keel_words WHERE stream IN (SELECT n FROM numbers)),"            \
              " c AS (DELETE FROM keel_records WHERE stream IN (SELECT n FROM numbers))"           \
              " DELETE FROM keel_sessions WHERE number IN (SELECT n FROM numbers)")                \
    X(SPARE, "DELETE FROM keel_doomed d WHERE EXISTS"                                              \
             " (SELECT 1 FROM keel_payloads p WHERE p.handle = d.handle)")                         \
    X(COLLECT, "WITH gone AS (DELETE FROM keel_doomed"                                             \
               " WHERE since < now() - interval '1 hour' RETURNING handle)"                        \
               " DELETE FROM keel_blobs WHERE handle IN (SELECT handle FROM gone)")                \
    X(PUT_BLOB, "INSERT INTO keel_blobs (handle, bytes) VALUES ($1, $2)"                           \
                " ON CONFLICT DO NOTHING")                                                         \
    X(GET_BLOB, "SELECT substring(bytes FROM $2::int FOR $3::int) FROM keel_blobs"                 \
                " WHERE handle = $1")                                                              \
    X(SIZE_BLOB, "SELECT length(bytes) FROM keel_blobs WHERE handle = $1")                         \
    X(REMOVE_BLOB, "DELETE FROM keel_blobs WHERE handle = $1")

#endif
