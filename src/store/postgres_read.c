/* postgres_read.c - records, the list, the search. */
#include "store/postgres_store.h"

#include "base/utf8.h"
#include "store/excerpt.h"
#include "store/record_sum.h"

#define N_AT_ONCE 1024                /* records that a page may hold */
#define MAX_WORDS ((size_t)256 << 10) /* of one message: a tsvector has a limit */

/* --- records --- */

static struct err *find_number(struct postgres_store *p, struct str id, int64_t *ret_number)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, id);
    TRY(postgres_look(p, PG_STREAM, &args, false, &rows));
    if (rows.n == 0)
        return store_no_session(id);
    *ret_number = postgres_row_int(&rows, 0, 0);
    return NULL;
}

static void add_range(struct postgres_args *a, int64_t number, const struct store_query *q)
{
    postgres_int(a, number);
    postgres_int(a, (int64_t)MIN(q->from, (uint64_t)INT64_MAX));
    postgres_int(a, q->to ? (int64_t)MIN(q->to, (uint64_t)INT64_MAX) : INT64_MAX);
    postgres_text(a, q->type);
    postgres_text(a, q->core_only ? S("true") : S("false"));
}

/* How many records fit on the page. Asks for one more, to see if there are more. */
static struct err *measure(struct postgres_store *p, int64_t number, const struct store_query *q,
                           size_t *ret_n, bool *ret_more)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    size_t n_max = q->n_max ? MIN(q->n_max, (size_t)N_AT_ONCE) : N_AT_ONCE, n = 0, n_bytes = 0;

    add_range(&args, number, q);
    postgres_int(&args, (int64_t)n_max + 1);
    TRY(postgres_look(p, q->newest_first ? PG_SIZES_BACK : PG_SIZES, &args, false, &rows));
    while (n < (size_t)rows.n && n < n_max && n_bytes < STORE_PAGE_BYTES)
        n_bytes += (size_t)postgres_row_int(&rows, (int)n++, 1);
    *ret_n = n;
    *ret_more = n < (size_t)rows.n;
    return NULL;
}

/* A value that does not fit the type is damage: its sum cannot be right. */
static uint32_t row_number(const struct postgres_rows *rows, int i, int column)
{
    int64_t value = postgres_row_int(rows, i, column);

    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Reads the columns of POSTGRES_RECORD from `column` on. *ret_whole: they fit their sum. */
static struct store_record read_row(const struct postgres_rows *rows, int i, int column,
                                    struct str id, struct arena *a, bool *ret_whole)
{
    struct store_record r = {
        .seq = (uint64_t)postgres_row_int(rows, i, column),
        .n_events = row_number(rows, i, column + 1),
        .unix_ms = postgres_row_int(rows, i, column + 2),
        .type = arena_str(a, postgres_row_text(rows, i, column + 3)),
        .run_id = arena_str(a, postgres_row_text(rows, i, column + 4)),
        .turn = row_number(rows, i, column + 5),
        .round = row_number(rows, i, column + 6),
        .attempt = row_number(rows, i, column + 7),
        .is_core = postgres_row_bool(rows, i, column + 8),
        .body = arena_str(a, postgres_row_text(rows, i, column + 9)),
    };

    *ret_whole = record_sum(id, &r, 0) == postgres_row_int(rows, i, column + 10);
    return r;
}

struct err *postgres_read(struct store *store, struct str id, const struct store_query *q,
                          struct store_page *page)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    int64_t number;
    size_t n;

    TRY(find_number(p, id, &number));
    TRY(measure(p, number, q, &n, &page->has_more));
    add_range(&args, number, q);
    postgres_int(&args, (int64_t)n);
    TRY(postgres_look(p, q->newest_first ? PG_READ_BACK : PG_READ, &args, false, &rows));
    page->records = ARENA_ARRAY(&page->arena, (size_t)rows.n, struct store_record);
    for (int i = 0; i < rows.n; i++) {
        bool is_whole;
        struct store_record r = read_row(&rows, i, 0, id, &page->arena, &is_whole);

        if (!is_whole && r.seq < q->from)
            continue; /* the page before it had the error */
        if (!is_whole) {
            /* A page that has records already ends before the damaged one. */
            page->has_more = page->n > 0;
            if (page->has_more)
                return NULL;
            page->damaged_at = r.seq;
            page->go_on_at = r.seq;
            if (!q->newest_first)
                page->go_on_at =
                    i + 1 < rows.n ? (uint64_t)postgres_row_int(&rows, i + 1, 0) : r.seq + 1;
            return record_damaged(id, r.seq, "the database");
        }
        page->records[page->n++] = r;
    }
    return NULL;
}

struct err *postgres_last(struct store *store, const struct store_last_query *q, struct arena *a,
                          struct store_record *ret_records)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    AUTO(strbuf) struct strbuf array = {0};

    for (size_t i = 0; i < q->n_streams; i++) {
        postgres_array_text(&array, &args, q->streams[i]);
        ret_records[i] = (struct store_record){0};
    }
    postgres_array_end(&array, &args);
    for (size_t i = 0; i < q->n_types; i++)
        postgres_array_text(&array, &args, q->types[i]);
    postgres_array_end(&array, &args);
    TRY(postgres_look(p, PG_LAST, &args, false, &rows));
    for (int i = 0; i < rows.n; i++) {
        size_t stream = (size_t)postgres_row_int(&rows, i, 0) - 1;
        bool is_whole;

        ret_records[stream] = read_row(&rows, i, 1, q->streams[stream], a, &is_whole);
        if (!is_whole)
            TRY(store_last_by_reading(store, q, stream, a, &ret_records[stream]));
    }
    return NULL;
}

struct err *postgres_keeps(struct store *store, struct str id, struct str handle, bool *ret_keeps)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, handle);
    postgres_text(&args, id);
    TRY(postgres_look(p, PG_KEEPS, &args, false, &rows));
    *ret_keeps = rows.n > 0;
    return NULL;
}

/* --- sessions --- */

static struct store_summary read_summary(const struct postgres_rows *r, int i, int column,
                                         struct arena *a)
{
    return (struct store_summary){
        .id = arena_str(a, postgres_row_text(r, i, column)),
        .parent = arena_str(a, postgres_row_text(r, i, column + 1)),
        .cwd = arena_str(a, postgres_row_text(r, i, column + 2)),
        .name = arena_str(a, postgres_row_text(r, i, column + 3)),
        .provider = arena_str(a, postgres_row_text(r, i, column + 4)),
        .model = arena_str(a, postgres_row_text(r, i, column + 5)),
        .preview = arena_str(a, postgres_row_text(r, i, column + 6)),
        .created_ms = postgres_row_int(r, i, column + 7),
        .updated_ms = postgres_row_int(r, i, column + 8),
        .next_seq = (uint64_t)postgres_row_int(r, i, column + 9),
        .n_messages = (uint64_t)postgres_row_int(r, i, column + 10),
        .n_bytes = (uint64_t)postgres_row_int(r, i, column + 11),
        .used_ms = postgres_row_int(r, i, column + 12),
        .is_open = postgres_row_text(r, i, column + 13).n > 0,
        .holder = arena_str(a, postgres_row_text(r, i, column + 13)),
    };
}

struct err *postgres_find(struct store *store, struct str id, struct arena *a,
                          struct store_summary *ret_summary, bool *ret_found)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, id);
    TRY(postgres_look(p, PG_FIND, &args, false, &rows));
    *ret_found = rows.n > 0;
    if (rows.n)
        *ret_summary = read_summary(&rows, 0, 0, a);
    return NULL;
}

struct err *postgres_list(struct store *store, const struct store_list_query *q, struct arena *a,
                          struct store_summary **ret_items, size_t *ret_n)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, q->parent);
    postgres_text(&args, q->cwd);
    postgres_text(&args, q->name);
    postgres_int(&args, store_list_bound(q));
    postgres_text(&args, q->before_id);
    postgres_int(&args, q->n_max && q->n_max < INT32_MAX ? (int64_t)q->n_max : INT32_MAX);
    TRY(postgres_look(p, PG_LIST, &args, false, &rows));
    *ret_n = (size_t)rows.n;
    *ret_items = ARENA_ARRAY(a, *ret_n, struct store_summary);
    for (int i = 0; i < rows.n; i++)
        (*ret_items)[i] = read_summary(&rows, i, 0, a);
    return NULL;
}

/* --- the search: first adds to the index what was appended since the last one --- */

static struct err *index_message(struct postgres_store *p, int64_t number, int64_t seq,
                                 struct str body)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    struct store_record r = {.type = S("history_mutation"), .body = body};

    store_record_text(&r, &text);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\0')
            text.p[i] = ' ';
    if (text.n == 0)
        return NULL;
    postgres_int(&args, number);
    postgres_int(&args, seq);
    postgres_text(&args, utf8_truncate(strbuf_str(&text), MAX_WORDS));
    return postgres_look(p, PG_INDEX, &args, false, &rows);
}

/* Adds at most a hundred messages. *from is 0 when no more are left. */
static struct err *index_some(struct postgres_store *p, int64_t number, int64_t *from)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_int(&args, number);
    postgres_int(&args, *from);
    TRY(postgres_look(p, PG_UNINDEXED, &args, false, &rows));
    *from = 0;
    for (int i = 0; i < rows.n; i++) {
        int64_t seq = postgres_row_int(&rows, i, 0);

        TRY(index_message(p, number, seq, postgres_row_text(&rows, i, 1)));
        *from = seq + 1;
    }
    return NULL;
}

static struct err *index_stream(struct postgres_store *p, int64_t number, int64_t from, int64_t to)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    while (from)
        TRY(index_some(p, number, &from));
    postgres_int(&args, number);
    postgres_int(&args, to);
    return postgres_look(p, PG_INDEXED, &args, false, &rows);
}

static struct err *index_all(struct postgres_store *p)
{
    AUTO(postgres_args) struct postgres_args none = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    TRY(postgres_look(p, PG_BACKLOG, &none, false, &rows));
    for (int i = 0; i < rows.n; i++)
        TRY(index_stream(p, postgres_row_int(&rows, i, 0), postgres_row_int(&rows, i, 1),
                         postgres_row_int(&rows, i, 2)));
    return NULL;
}

struct err *postgres_search(struct store *store, struct str words, size_t n_max, struct arena *a,
                            struct store_hit **ret_hits, size_t *ret_n)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    *ret_hits = ARENA_ARRAY(a, n_max, struct store_hit);
    TRY(index_all(p));
    postgres_text(&args, words);
    postgres_int(&args, (int64_t)MIN(n_max, (size_t)INT32_MAX));
    TRY(postgres_look(p, PG_SEARCH, &args, false, &rows));
    for (int i = 0; i < rows.n; i++)
        (*ret_hits)[(*ret_n)++] = (struct store_hit){
            read_summary(&rows, i, 2, a), (uint64_t)postgres_row_int(&rows, i, 0),
            excerpt_of(postgres_row_text(&rows, i, 1), words, a)};
    return NULL;
}
