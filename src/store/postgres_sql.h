/* postgres_sql.h - every statement for PostgreSQL, prepared when a connection first needs it.
 *
 * Changes of a summary have its values in $2 to $8; empty values leave the columns unchanged.
 * APPEND compares owner, fence, time and number and writes the records in one statement: it locks
 * the root's row, so no new owner comes in between. The blobs that it newly refers to must exist,
 * and it locks them, so that COLLECT leaves them alone until the reference is visible. It calls
 * clock_timestamp(), not now(), which is the start of the transaction: the statement may have
 * waited for a lock. RENEW skips rows that an append has locked, because the append renews them: so
 * the two never wait for each other in a circle. */
#ifndef KEEL_STORE_POSTGRES_SQL_H
#define KEEL_STORE_POSTGRES_SQL_H

/* The clock of the server decides when a lease ends. */
#define POSTGRES_IS_FREE "(owner = '' OR until <= clock_timestamp())"
#define POSTGRES_UNTIL(ms) "clock_timestamp() + " ms "::bigint * interval '1 millisecond'"
/* The time of a client counts up to the time of the server. */
#define POSTGRES_NOW "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

#define POSTGRES_SUMMARY                                                                           \
    "s.id, s.parent, s.cwd, s.name, s.provider, s.model, s.preview, s.created, s.updated,"         \
    " s.next_seq, s.n_messages, s.n_bytes, (extract(epoch FROM s.used) * 1000)::bigint,"           \
    " coalesce((SELECT r.holder FROM keel_sessions r WHERE r.id = s.root"                          \
    " AND r.owner <> '' AND r.until > clock_timestamp()), '')"

/* The sum of a row of keel_sessions, over all that it says of the session, in this order. It does
 * not cover the row's number, which its records name; which process has the session open; when it
 * was used by the server's clock; and how far the search index reaches. The database computes it,
 * because only the database knows the result of a change. A change updates the sum in the same
 * statement. A row that did not fit its sum before does not fit it afterwards. */
#define POSTGRES_SUM_OF(id, parent, root, created, cwd, name, provider, model, preview, updated,   \
                        next_seq, n_messages, n_bytes)                                             \
    "sha256(convert_to(ROW(" id "::text, " parent "::text, " root "::text, " created               \
    "::bigint, " cwd "::text, " name "::text, " provider "::text, " model "::text, " preview       \
    "::text, " updated "::bigint, " next_seq "::bigint, " n_messages "::bigint, " n_bytes          \
    "::bigint)::text, 'UTF8'))"
#define POSTGRES_ROW_SUM                                                                           \
    POSTGRES_SUM_OF("s.id", "s.parent", "s.root", "s.created", "s.cwd", "s.name", "s.provider",    \
                    "s.model", "s.preview", "s.updated", "s.next_seq", "s.n_messages",             \
                    "s.n_bytes")
#define POSTGRES_IS_WHOLE "s.sum = " POSTGRES_ROW_SUM
#define POSTGRES_SEAL(cwd, name, provider, model, preview, updated, next_seq, n_messages, n_bytes) \
    "sum = CASE WHEN " POSTGRES_IS_WHOLE " THEN " POSTGRES_SUM_OF(                                 \
        "s.id", "s.parent", "s.root", "s.created", cwd, name, provider, model, preview, updated,   \
        next_seq, n_messages, n_bytes) " ELSE s.sum END"

/* Reads the time once, in a row `c` of its own: a volatile function returns another value each
 * time, and the sum would not fit. */
#define POSTGRES_CLOCK "(SELECT " POSTGRES_NOW " AS now) c"

#define POSTGRES_NEW "created, updated, cwd, name, provider, model, preview, n_messages"
#define POSTGRES_NEW_TIMES                                                                         \
    "(SELECT least($1::bigint, c.now) AS created, least(greatest($1::bigint, $2), c.now)"          \
    " AS updated FROM " POSTGRES_CLOCK ") t"
#define POSTGRES_NEW_VALUES "t.created, t.updated, $3, $4, $5, $6, $7, $8"
#define POSTGRES_NEW_SUM(parent, root)                                                             \
    POSTGRES_SUM_OF("$9", parent, root, "t.created", "$3", "$4", "$5", "$6", "$7", "t.updated",    \
                    "1", "$8", "0")
#define POSTGRES_ROOT_SUM POSTGRES_NEW_SUM("''", "$9")
#define POSTGRES_CHILD_SUM POSTGRES_NEW_SUM("$10", "root.id")

/* The columns after a change. */
#define POSTGRES_CWD "coalesce(nullif($2::text, ''), s.cwd)"
#define POSTGRES_NAME "coalesce(nullif($3::text, ''), s.name)"
#define POSTGRES_PROVIDER "coalesce(nullif($4::text, ''), s.provider)"
#define POSTGRES_MODEL "coalesce(nullif($5::text, ''), s.model)"
#define POSTGRES_PREVIEW "coalesce(nullif($6::text, ''), s.preview)"
#define POSTGRES_UPDATED "least(greatest(s.updated, $7::bigint), c.now)"
#define POSTGRES_MESSAGES                                                                          \
    "(CASE WHEN $8::bigint = 0 THEN s.n_messages ELSE greatest($8::bigint, 0) END)"
#define POSTGRES_CHANGES                                                                           \
    "cwd = " POSTGRES_CWD ", name = " POSTGRES_NAME ", provider = " POSTGRES_PROVIDER              \
    ", model = " POSTGRES_MODEL ", preview = " POSTGRES_PREVIEW ", updated = " POSTGRES_UPDATED    \
    ", n_messages = " POSTGRES_MESSAGES ", "
#define POSTGRES_SEAL_CHANGES(next_seq, n_bytes)                                                   \
    POSTGRES_SEAL(POSTGRES_CWD, POSTGRES_NAME, POSTGRES_PROVIDER, POSTGRES_MODEL,                  \
                  POSTGRES_PREVIEW, POSTGRES_UPDATED, next_seq, POSTGRES_MESSAGES, n_bytes)
#define POSTGRES_SEAL_UPDATE POSTGRES_SEAL_CHANGES("s.next_seq", "s.n_bytes")
#define POSTGRES_SEAL_APPEND POSTGRES_SEAL_CHANGES("$11", "(s.n_bytes + $12)")
#define POSTGRES_SEAL_TIME                                                                         \
    POSTGRES_SEAL("s.cwd", "s.name", "s.provider", "s.model", "s.preview", "$2", "s.next_seq",     \
                  "s.n_messages", "s.n_bytes")

/* Blobs that were put again, or lost their last reference, after this time may be referred to soon.
 * COLLECT first locks all that it may remove, without waiting. Then it looks for references in a
 * statement of its own, which sees the database as of then. */
#define POSTGRES_DOOM "now() - interval '1 hour'"

/* The handles of the list that the stream $1 does not refer to yet. */
#define POSTGRES_NEW_HANDLES(list)                                                                 \
    "SELECT DISTINCT h FROM unnest(" list "::text[]) h WHERE NOT EXISTS (SELECT 1"                 \
    " FROM keel_payloads p JOIN keel_sessions s ON s.number = p.stream"                            \
    " WHERE s.id = $1 AND p.handle = h)"

#define POSTGRES_RECORD "seq, n, ms, type, run, turn, round, attempt, core, body, sum"
/* From the record that holds event $2, which may begin before it. */
#define POSTGRES_RANGE                                                                             \
    " FROM keel_records WHERE stream = $1 AND seq < $3 AND seq + n > $2 AND seq >="                \
    " coalesce((SELECT max(seq) FROM keel_records WHERE stream = $1 AND seq <= $2), 0)"            \
    " AND ($4 = '' OR type = $4) AND (core OR NOT $5::boolean) ORDER BY seq "

#define POSTGRES_STATEMENTS(X)                                                                     \
    X(LEASE, "UPDATE keel_sessions s SET fence = fence + 1, owner = $2, holder = $3,"              \
             " until = " POSTGRES_UNTIL("$4") " WHERE id = $1"                                     \
                                              " AND (owner = $2 OR " POSTGRES_IS_FREE              \
                                              ") RETURNING fence, next_seq, " POSTGRES_IS_WHOLE)   \
    X(RENEW, "UPDATE keel_sessions s SET until = " POSTGRES_UNTIL(                                 \
                 "$4") " FROM"                                                                     \
                       " (SELECT k.number FROM keel_sessions k"                                    \
                       " JOIN unnest($2::text[], $3::bigint[]) h (id, fence)"                      \
                       " ON k.id = h.id AND k.fence = h.fence"                                     \
                       " WHERE k.owner = $1 FOR NO KEY UPDATE OF k SKIP LOCKED) mine"              \
                       " WHERE s.number = mine.number")                                            \
    X(UNLEASE, "UPDATE keel_sessions SET owner = '' WHERE id = $1 AND owner = $2 AND fence = $3")  \
    X(CREATE,                                                                                      \
      "INSERT INTO keel_sessions (" POSTGRES_NEW ", sum, id, parent, root, fence, owner, holder,"  \
      " until) SELECT " POSTGRES_NEW_VALUES ", " POSTGRES_ROOT_SUM ", $9, '', $9, 1, $10, $11,"    \
      " " POSTGRES_UNTIL("$12") " FROM " POSTGRES_NEW_TIMES                                        \
                                " ON CONFLICT (id) DO NOTHING RETURNING fence, next_seq, true")    \
    X(CREATE_CHILD,                                                                                \
      "WITH root AS (SELECT id FROM keel_sessions WHERE owner = $11"                               \
      " AND fence = $12 AND until > clock_timestamp()"                                             \
      " AND id = (SELECT root FROM keel_sessions WHERE id = $10) FOR SHARE)"                       \
      " INSERT INTO keel_sessions (" POSTGRES_NEW ", sum, id, parent, root)"                       \
      " SELECT " POSTGRES_NEW_VALUES ", " POSTGRES_CHILD_SUM ", $9, $10, root.id"                  \
      " FROM root, " POSTGRES_NEW_TIMES " ON CONFLICT (id) DO NOTHING RETURNING number")           \
    X(STREAM, "SELECT s.number, s.next_seq, r.fence, r.owner, r.id, r.holder,"                     \
              " r.until > clock_timestamp(), s.parent FROM keel_sessions s"                        \
              " JOIN keel_sessions r ON r.id = s.root WHERE s.id = $1")                            \
    X(UPDATE, "UPDATE keel_sessions s SET " POSTGRES_CHANGES POSTGRES_SEAL_UPDATE                  \
              " FROM " POSTGRES_CLOCK " WHERE id = $1 RETURNING number")                           \
    X(ROW, "SELECT " POSTGRES_IS_WHOLE " FROM keel_sessions s WHERE s.id = $1")                    \
    X(APPEND,                                                                                      \
      "WITH owner AS (SELECT fence FROM keel_sessions WHERE owner = $24"                           \
      " AND until > clock_timestamp()"                                                             \
      " AND id = (SELECT root FROM keel_sessions WHERE id = $1) FOR SHARE),"                       \
      " there AS (SELECT handle FROM keel_blobs WHERE handle = ANY($23::text[]) FOR KEY SHARE),"   \
      " missing AS (" POSTGRES_NEW_HANDLES(                                                        \
          "$23") " AND h NOT IN (SELECT handle FROM there)),"                                      \
                 " moved AS (UPDATE keel_sessions s SET next_seq = $11, used = clock_timestamp()," \
                 " until = CASE WHEN s.id = s.root THEN " POSTGRES_UNTIL(                          \
                     "$25") " ELSE s.until END,"                                                   \
                            " n_bytes = s.n_bytes + $12, " POSTGRES_CHANGES POSTGRES_SEAL_APPEND   \
                            " FROM owner o, " POSTGRES_CLOCK                                       \
                            " WHERE s.id = $1 AND o.fence = $9 AND s.next_seq = $10"               \
                            " AND NOT EXISTS (SELECT 1 FROM missing)"                              \
                            " RETURNING s.number),"                                                \
                            " written AS (INSERT INTO keel_records (stream, " POSTGRES_RECORD ")"  \
                            " SELECT m.number, u.* FROM moved m, unnest($13::bigint[], "           \
                            "$14::bigint[],"                                                       \
                            " $15::bigint[], $16::text[], $17::text[], $18::bigint[], "            \
                            "$19::bigint[],"                                                       \
                            " $20::bigint[], $21::boolean[], $22::text[], $26::bigint[]) u),"      \
                            " referred AS (INSERT INTO keel_payloads (handle, stream) SELECT "     \
                            "DISTINCT h,"                                                          \
                            " m.number FROM moved m, unnest($23::text[]) h ON CONFLICT DO "        \
                            "NOTHING)"                                                             \
                            " SELECT number FROM moved")                                           \
    X(MISSING, POSTGRES_NEW_HANDLES(                                                               \
                   "$2") " AND NOT EXISTS (SELECT 1 FROM keel_blobs WHERE handle = h) LIMIT 1")    \
    X(STRAY, "WITH RECURSIVE reached (id) AS (SELECT id FROM keel_sessions WHERE parent = ''"      \
             " UNION SELECT s.id FROM keel_sessions s JOIN reached r ON s.parent = r.id)"          \
             " SELECT s.id, s.parent FROM keel_sessions s LEFT JOIN keel_sessions p"               \
             " ON p.id = s.parent WHERE s.id NOT IN (SELECT id FROM reached)"                      \
             " OR s.root <> CASE WHEN s.parent = '' THEN s.id ELSE p.root END")                    \
    X(ORPHANS, "WITH RECURSIVE first (stream) AS (SELECT min(stream) FROM keel_records"            \
               " UNION ALL SELECT (SELECT min(r.stream) FROM keel_records r"                       \
               " WHERE r.stream > first.stream) FROM first WHERE first.stream IS NOT NULL)"        \
               " SELECT stream FROM first WHERE stream IS NOT NULL AND NOT EXISTS"                 \
               " (SELECT 1 FROM keel_sessions s WHERE s.number = stream)")                         \
    X(KEEPS, "SELECT 1 FROM keel_payloads WHERE handle = $1 AND stream ="                          \
             " (SELECT number FROM keel_sessions WHERE id = $2)")                                  \
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
    X(LAST, "SELECT w.place, r.* FROM unnest($1::text[]) WITH ORDINALITY w (id, place)"            \
            " JOIN keel_sessions s ON s.id = w.id CROSS JOIN LATERAL"                              \
            " (SELECT " POSTGRES_RECORD " FROM keel_records WHERE stream = s.number AND core"      \
            " AND (run <> '' OR type = ANY($2::text[])) ORDER BY seq DESC LIMIT 1) r")             \
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
                    " UPDATE keel_sessions s SET indexed = 1, sum = " POSTGRES_ROW_SUM)            \
    X(REMOVE,                                                                                      \
      "WITH RECURSIVE free AS (SELECT id FROM keel_sessions WHERE id ="                            \
      " (SELECT root FROM keel_sessions WHERE id = $1) AND " POSTGRES_IS_FREE " FOR UPDATE),"      \
      " below (id) AS (SELECT $1::text COLLATE \"C\" FROM free UNION"                              \
      " SELECT s.id FROM keel_sessions s JOIN below b ON s.parent = b.id),"                        \
      " numbers AS (SELECT s.number AS n FROM keel_sessions s JOIN below USING (id)),"             \
      " doomed AS (INSERT INTO keel_doomed (handle) SELECT DISTINCT handle"                        \
      " FROM keel_payloads WHERE stream IN (SELECT n FROM numbers) ORDER BY handle"                \
      " ON CONFLICT (handle) DO UPDATE SET since = now()),"                                        \
      " a AS (DELETE FROM keel_payloads WHERE stream IN (SELECT n FROM numbers)),"                 \
      " b AS (DELETE FROM keel_words WHERE stream IN (SELECT n FROM numbers)),"                    \
      " c AS (DELETE FROM keel_records WHERE stream IN (SELECT n FROM numbers)),"                  \
      " d AS (DELETE FROM keel_sessions WHERE number IN (SELECT n FROM numbers))"                  \
      " SELECT id FROM free")                                                                      \
    X(COLLECT,                                                                                     \
      "DO $$ DECLARE gone text[]; BEGIN"                                                           \
      " SELECT array_agg(x.handle) INTO gone FROM (SELECT d.handle FROM keel_doomed d"             \
      " JOIN keel_blobs b USING (handle) WHERE d.since < " POSTGRES_DOOM " LIMIT 500"              \
      " FOR UPDATE OF d, b SKIP LOCKED) x;"                                                        \
      " DELETE FROM keel_doomed WHERE handle = ANY(gone);"                                         \
      " DELETE FROM keel_blobs b WHERE handle = ANY(gone)"                                         \
      " AND NOT EXISTS (SELECT 1 FROM keel_payloads p WHERE p.handle = b.handle); END $$")         \
    X(COLLECTABLE, "SELECT 1 FROM keel_doomed JOIN keel_blobs USING (handle)"                      \
                   " WHERE since < " POSTGRES_DOOM " LIMIT 1")                                     \
    X(PUT_BLOB, "WITH later AS (UPDATE keel_doomed SET since = now() WHERE handle = $1)"           \
                " INSERT INTO keel_blobs (handle, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING")  \
    X(GET_BLOB, "SELECT substring(bytes FROM $2::int FOR $3::int) FROM keel_blobs"                 \
                " WHERE handle = $1")                                                              \
    X(SIZE_BLOB, "SELECT length(bytes) FROM keel_blobs WHERE handle = $1")                         \
    X(REMOVE_BLOB, "DELETE FROM keel_blobs WHERE handle = $1")                                     \
    X(NOW, "SELECT " POSTGRES_NOW)                                                                 \
    X(CLAMP, "UPDATE keel_sessions s SET updated = $2, " POSTGRES_SEAL_TIME " WHERE updated > $1") \
    X(BELIEF, "SELECT looked, believed FROM keel_clock")                                           \
    X(BELIEVE, "INSERT INTO keel_clock (id, looked, believed) VALUES (1, $1, $2)"                  \
               " ON CONFLICT (id) DO UPDATE SET looked = $1, believed = $2")

#endif
