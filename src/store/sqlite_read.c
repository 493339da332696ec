/* sqlite_read.c - reads records and the list of sessions. */
#include "store/leases.h"
#include "store/record_sum.h"
#include "store/sqlite_store.h"

/* Asking for another page costs as much as ten new pages of memory: small ones, whose memory is
 * reused, are read faster than large ones. */
#define PAGE_BYTES ((size_t)256 << 10)
_Static_assert(PAGE_BYTES <= STORE_PAGE_BYTES, "a page is not larger");

static struct err *find_last(struct sqlite_db *db, enum sqlite_statement s, int64_t number,
                             struct sqlite_end *end)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, s));
    sqlite_int(db, s, 1, sqlite_key(number, 0));
    sqlite_int(db, s, 2, sqlite_key(number, SQLITE_SEQ_LAST));
    e = sqlite_step(db, s, &has_row);
    if (!e && has_row) {
        end->next_seq = MAX(end->next_seq, sqlite_key_seq(sqlite_column_int(db, s, 0)));
        end->total = MAX(end->total, sqlite_column_int(db, s, 1));
    }
    sqlite_end(db, s);
    return e;
}

struct err *sqlite_find_end(struct sqlite_db *db, int64_t number, struct sqlite_end *ret_end)
{
    *ret_end = (struct sqlite_end){.next_seq = 1};
    TRY(find_last(db, SQL_LAST_RECORD, number, ret_end));
    return find_last(db, SQL_LAST_STREAMED, number, ret_end);
}

/* --- records --- */

static struct err *find_number(struct sqlite_db *db, struct str id, int64_t *ret_number)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_STREAM));
    sqlite_text(db, SQL_STREAM, 1, id);
    e = sqlite_step(db, SQL_STREAM, &has_row);
    if (!e)
        *ret_number = has_row ? sqlite_column_int(db, SQL_STREAM, 0) : 0;
    sqlite_end(db, SQL_STREAM);
    if (!e && !has_row)
        return store_no_session(id);
    return e;
}

/* The record that holds the first wanted event may begin before it. */
static struct err *find_first(struct sqlite_db *db, int64_t number, uint64_t from, int64_t *ret_key)
{
    bool has_row;
    struct err *e;

    *ret_key = sqlite_key(number, from);
    if (from == 0)
        return NULL;
    TRY(sqlite_begin(db, SQL_BEFORE));
    sqlite_int(db, SQL_BEFORE, 1, sqlite_key(number, 0));
    sqlite_int(db, SQL_BEFORE, 2, *ret_key);
    e = sqlite_step(db, SQL_BEFORE, &has_row);
    if (!e && has_row && sqlite_column_int(db, SQL_BEFORE, 0))
        *ret_key = sqlite_column_int(db, SQL_BEFORE, 0);
    sqlite_end(db, SQL_BEFORE);
    return e;
}

/* A page that is being filled. */
struct filling {
    struct sqlite_db *db;
    const struct sqlite_look *look;
    size_t n_bytes, room;
    uint64_t damaged; /* the number of a record that ends the page; 0: none does */
    bool finds_next;  /* only looks for the beginning of the next record */
};

/* A value that does not fit the type is damage: its sum cannot be right. */
static uint32_t small_number(int64_t value)
{
    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Its texts are valid until the next step. */
static struct store_record read_row(struct sqlite_db *db, enum sqlite_statement s)
{
    return (struct store_record){
        .seq = sqlite_key_seq(sqlite_column_int(db, s, 0)),
        .n_events = small_number(sqlite_column_int(db, s, 1)),
        .unix_ms = sqlite_column_int(db, s, 2),
        .type = sqlite_column_text(db, s, 3),
        .run_id = sqlite_column_text(db, s, 4),
        .turn = small_number(sqlite_column_int(db, s, 5)),
        .round = small_number(sqlite_column_int(db, s, 6)),
        .attempt = small_number(sqlite_column_int(db, s, 7)),
        .is_core = sqlite_column_int(db, s, 8),
        .body = sqlite_column_text(db, s, 9),
    };
}

static bool is_full(const struct filling *f)
{
    const struct store_page *page = f->look->ret_page;
    size_t n_max = f->look->query->n_max;

    return (n_max && page->n == n_max) || f->n_bytes >= PAGE_BYTES;
}

static void add_record(struct filling *f, const struct store_record *r)
{
    struct store_page *page = f->look->ret_page;
    struct store_record copy = *r;
    const struct store_record *last;

    copy.type = arena_str(&page->arena, r->type);
    /* Records of one run are neighbours. */
    last = page->n ? &page->records[page->n - 1] : NULL;
    copy.run_id =
        last && str_eq(last->run_id, r->run_id) ? last->run_id : arena_str(&page->arena, r->run_id);
    copy.body = arena_str(&page->arena, r->body);
    page->records =
        arena_grow(&page->arena, page->records, page->n, &f->room, sizeof *page->records);
    page->records[page->n++] = copy;
    f->n_bytes += r->body.n;
}

/* True: the page ends before this row. */
static bool take_record(struct filling *f, const struct store_record *r, int64_t total, int64_t sum)
{
    const struct store_query *q = f->look->query;

    f->look->ret_page->has_more = is_full(f);
    if (f->look->ret_page->has_more)
        return true;
    if (record_sum(f->look->id, r, total) != sum || r->n_events == 0) {
        f->damaged = r->seq < q->from ? 0 : r->seq; /* the page before it had the error */
        return f->damaged;
    }
    if (r->seq + r->n_events > q->from && !store_query_leaves(q, r->type))
        add_record(f, r);
    return false;
}

static struct err *step_rows(struct filling *f, enum sqlite_statement s)
{
    bool has_row;

    for (;;) {
        struct store_record r;

        TRY(sqlite_step(f->db, s, &has_row));
        if (!has_row)
            return NULL;
        r = read_row(f->db, s);
        if (take_record(f, &r, sqlite_column_int(f->db, s, 10), sqlite_column_int(f->db, s, 11)))
            return NULL;
    }
}

static struct str value_text(const struct sqlite_api *api, sqlite3_value *value)
{
    const char *text = (const char *)api->value_text(value);

    return text ? str_make(text, (size_t)api->value_bytes(value)) : (struct str){0};
}

/* In the order of SQL_SCAN_CORE. */
static bool filling_take_row(void *self, const struct sqlite_api *api, sqlite3_value **values)
{
    struct filling *f = self;
    struct store_record r;

    if (f->finds_next)
        return true;
    r = (struct store_record){
        .seq = sqlite_key_seq(api->value_int64(values[0])),
        .n_events = small_number(api->value_int64(values[1])),
        .unix_ms = api->value_int64(values[2]),
        .type = value_text(api, values[3]),
        .run_id = value_text(api, values[4]),
        .turn = small_number(api->value_int64(values[5])),
        .round = small_number(api->value_int64(values[6])),
        .attempt = small_number(api->value_int64(values[7])),
        .is_core = true,
        .body = value_text(api, values[10]),
    };
    return take_record(f, &r, api->value_int64(values[8]), api->value_int64(values[9]));
}

static struct err *scan_rows(struct filling *f, enum sqlite_statement s)
{
    bool has_row;

    f->db->take_row = filling_take_row;
    f->db->take_self = f;
    return sqlite_step(f->db, s, &has_row);
}

/* A page that has records already ends before the damaged one. Its own columns cannot say where it
 * ends; the next one begins there. */
static struct err *report_damage(struct filling *f, enum sqlite_statement s)
{
    struct store_page *page = f->look->ret_page;
    uint64_t seq = f->damaged;
    bool has_row = false;

    page->has_more = page->n > 0;
    if (page->has_more)
        return NULL;
    page->damaged_at = page->go_on_at = seq;
    f->finds_next = true;
    while (!f->look->query->newest_first && page->go_on_at <= seq) { /* it may be in both tables */
        TRY(sqlite_step(f->db, s, &has_row));
        page->go_on_at = has_row ? sqlite_key_seq(sqlite_column_int(f->db, s, 0)) : seq + 1;
    }
    return record_damaged(f->look->id, seq, f->db->path);
}

static enum sqlite_statement statement_for(const struct store_query *q)
{
    static const enum sqlite_statement ways[2][2] = {{SQL_READ, SQL_READ_BACK},
                                                     {SQL_READ_CORE, SQL_READ_CORE_BACK}};

    return q->core_only && !q->newest_first && !q->type.n ? SQL_SCAN_CORE
                                                          : ways[q->core_only][q->newest_first];
}

struct err *sqlite_look_read(struct sqlite_db *db, struct sqlite_look *l)
{
    const struct store_query *q = l->query;
    enum sqlite_statement s = statement_for(q);
    struct filling f = {.db = db, .look = l};
    int64_t number, first;
    struct err *e;

    TRY(find_number(db, l->id, &number));
    TRY(find_first(db, number, q->from, &first));
    TRY(sqlite_begin(db, s));
    sqlite_int(db, s, 1, first);
    sqlite_int(db, s, 2, sqlite_key(number, q->to ? q->to - 1 : SQLITE_SEQ_LAST));
    if (s != SQL_SCAN_CORE)
        sqlite_text(db, s, 3, q->type);
    e = s == SQL_SCAN_CORE ? scan_rows(&f, s) : step_rows(&f, s);
    if (!e && f.damaged)
        e = report_damage(&f, s);
    db->take_self = NULL;
    sqlite_end(db, s);
    return e;
}

/* --- damage --- */

struct err *sqlite_look_keeps(struct sqlite_db *db, struct sqlite_look *l)
{
    struct err *e;

    TRY(sqlite_begin(db, SQL_KEEPS));
    sqlite_text(db, SQL_KEEPS, 1, l->words);
    sqlite_text(db, SQL_KEEPS, 2, l->id);
    e = sqlite_step(db, SQL_KEEPS, l->ret_found);
    sqlite_end(db, SQL_KEEPS);
    return e;
}

/* The end in the session's row was right when the session was closed, and records are only added.
 * *ret_found: the row fits its sum. */
struct err *sqlite_look_check(struct sqlite_db *db, struct sqlite_look *l)
{
    uint64_t known = 0;
    int64_t number = 0;
    struct sqlite_end end;
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_KNOWN_END));
    sqlite_text(db, SQL_KNOWN_END, 1, l->id);
    e = sqlite_step(db, SQL_KNOWN_END, &has_row);
    if (!e && has_row) {
        known = (uint64_t)sqlite_column_int(db, SQL_KNOWN_END, 0);
        number = sqlite_column_int(db, SQL_KNOWN_END, 1);
        *l->ret_found = sqlite_column_int(db, SQL_KNOWN_END, 2);
    }
    sqlite_end(db, SQL_KNOWN_END);
    if (e || !has_row)
        return e;
    TRY(sqlite_find_end(db, number, &end));
    *l->ret_n = known > end.next_seq ? known - end.next_seq : 0;
    return NULL;
}

static void add_text(const struct sqlite_look *l, size_t *room, struct str text)
{
    *l->ret_texts = arena_grow(l->arena, *l->ret_texts, *l->ret_n, room, sizeof **l->ret_texts);
    (*l->ret_texts)[(*l->ret_n)++] = text;
}

struct err *sqlite_look_for_strays(struct sqlite_db *db, struct sqlite_look *l)
{
    size_t room = 0;
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_STRAY));
    while (!(e = sqlite_step(db, SQL_STRAY, &has_row)) && has_row) {
        struct str id = sqlite_column_text(db, SQL_STRAY, 0);
        struct str parent = sqlite_column_text(db, SQL_STRAY, 1);

        add_text(l, &room, store_stray(l->arena, id, parent));
    }
    sqlite_end(db, SQL_STRAY);
    TRY(e);
    TRY(sqlite_begin(db, SQL_ORPHANS));
    while (!(e = sqlite_step(db, SQL_ORPHANS, &has_row)) && has_row)
        add_text(l, &room, store_orphan(l->arena, sqlite_column_int(db, SQL_ORPHANS, 0)));
    sqlite_end(db, SQL_ORPHANS);
    return e;
}

/* --- the time --- */

struct err *sqlite_look_at_belief(struct sqlite_db *db, struct sqlite_look *l)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_BELIEF));
    e = sqlite_step(db, SQL_BELIEF, &has_row);
    if (!e && has_row)
        *l->ret_belief = (struct store_belief){.looked_ms = sqlite_column_int(db, SQL_BELIEF, 0),
                                               .believed_ms = sqlite_column_int(db, SQL_BELIEF, 1)};
    sqlite_end(db, SQL_BELIEF);
    return e;
}

/* --- sessions --- */

/* For a session that is open, or was when its writer died. */
static struct err *complete_summary(struct sqlite_db *db, enum sqlite_statement s,
                                    const struct sqlite_look *l, struct store_summary *summary)
{
    struct sqlite_end end;
    struct err *e = sqlite_find_end(db, sqlite_column_int(db, s, 12), &end);

    if (!e) {
        summary->next_seq = end.next_seq;
        summary->n_bytes = (uint64_t)end.total;
    } else if (!db->is_damaged) {
        return e;
    }
    err_ignore(e, "damage of one must not keep others from the list; who reads it gets the error");
    /* A killed writer has not marked it as closed; only the lock shows it. */
    if (sqlite_column_int(db, s, 11))
        summary->holder = lease_holder(l->lock_dir, summary->id, l->arena);
    summary->is_open = summary->holder.n > 0;
    return NULL;
}

static struct err *read_summary(struct sqlite_db *db, enum sqlite_statement s,
                                const struct sqlite_look *l, struct str parent,
                                struct store_summary *ret_summary)
{
    struct arena *a = l->arena;

    *ret_summary = (struct store_summary){
        .id = arena_str(a, sqlite_column_text(db, s, 0)),
        .parent = parent,
        .cwd = arena_str(a, sqlite_column_text(db, s, 1)),
        .name = arena_str(a, sqlite_column_text(db, s, 2)),
        .provider = arena_str(a, sqlite_column_text(db, s, 3)),
        .model = arena_str(a, sqlite_column_text(db, s, 4)),
        .preview = arena_str(a, sqlite_column_text(db, s, 5)),
        .created_ms = sqlite_column_int(db, s, 6),
        .updated_ms = sqlite_column_int(db, s, 7),
        .next_seq = (uint64_t)sqlite_column_int(db, s, 8),
        .n_messages = (uint64_t)sqlite_column_int(db, s, 9),
        .n_bytes = (uint64_t)sqlite_column_int(db, s, 10),
    };
    /* A session below another is leased with its root. */
    if (sqlite_column_int(db, s, 11) || parent.n)
        return complete_summary(db, s, l, ret_summary);
    return NULL;
}

struct err *sqlite_look_find(struct sqlite_db *db, struct sqlite_look *l)
{
    struct sqlite_marks marks;
    bool is_removed;
    struct err *e;

    sqlite_marks_read(l->lock_dir, l->arena, &marks);
    TRY(sqlite_is_removed(db, &marks, l->id, &is_removed));
    *l->ret_found = false;
    if (is_removed)
        return NULL;
    TRY(sqlite_begin(db, SQL_FIND));
    sqlite_text(db, SQL_FIND, 1, l->id);
    e = sqlite_step(db, SQL_FIND, l->ret_found);
    if (!e && *l->ret_found)
        e = read_summary(db, SQL_FIND, l, arena_str(l->arena, sqlite_column_text(db, SQL_FIND, 13)),
                         l->ret_summary);
    sqlite_end(db, SQL_FIND);
    return e;
}

struct err *sqlite_look_list(struct sqlite_db *db, struct sqlite_look *l)
{
    const struct store_list_query *q = l->list;
    struct str parent = arena_str(l->arena, q->parent);
    enum sqlite_statement s = q->name.n ? SQL_LIST_NAME : q->cwd.n ? SQL_LIST_CWD : SQL_LIST;
    struct sqlite_marks marks;
    size_t room = 0;
    bool has_row;
    struct err *e;

    sqlite_marks_read(l->lock_dir, l->arena, &marks);
    TRY(sqlite_is_removed(db, &marks, parent, &has_row));
    if (has_row)
        return NULL;
    TRY(sqlite_begin(db, s));
    sqlite_text(db, s, 1, q->parent);
    sqlite_int(db, s, 2, store_list_bound(q));
    sqlite_text(db, s, 3, q->before_id);
    sqlite_int(db, s, 4, q->n_max ? (int64_t)(q->n_max + marks.n) : -1);
    if (s != SQL_LIST)
        sqlite_text(db, s, 5, q->cwd);
    if (s == SQL_LIST_NAME)
        sqlite_text(db, s, 6, q->name);
    while (!(e = sqlite_step(db, s, &has_row)) && has_row) {
        if (sqlite_marks_have(&marks, sqlite_column_text(db, s, 0)))
            continue;
        if (q->n_max && *l->ret_n == q->n_max)
            break;
        *l->ret_items =
            arena_grow(l->arena, *l->ret_items, *l->ret_n, &room, sizeof **l->ret_items);
        e = read_summary(db, s, l, parent, &(*l->ret_items)[(*l->ret_n)++]);
        if (e)
            break;
    }
    sqlite_end(db, s);
    return e;
}
