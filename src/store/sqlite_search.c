/* sqlite_search.c - searches past messages by their words.
 *
 * Appends do not touch the index: a search first adds what was appended since the last one. */
#include "store/excerpt.h"
#include "store/sqlite_store.h"

/* --- the index --- */

struct backlog {
    int64_t number;
    uint64_t next_seq, indexed;
};

static struct err *find_backlog(struct sqlite_db *db, struct arena *a, struct backlog **ret_items,
                                size_t *ret_n)
{
    size_t room = 0;
    bool has_row;
    struct err *e;

    *ret_items = NULL;
    *ret_n = 0;
    TRY(sqlite_begin(db, SQL_UNINDEXED));
    while (!(e = sqlite_step(db, SQL_UNINDEXED, &has_row)) && has_row) {
        *ret_items = arena_grow(a, *ret_items, *ret_n, &room, sizeof **ret_items);
        (*ret_items)[(*ret_n)++] =
            (struct backlog){sqlite_column_int(db, SQL_UNINDEXED, 0),
                             (uint64_t)sqlite_column_int(db, SQL_UNINDEXED, 1),
                             (uint64_t)sqlite_column_int(db, SQL_UNINDEXED, 2)};
    }
    sqlite_end(db, SQL_UNINDEXED);
    return e;
}

static struct err *index_row(struct sqlite_db *db)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct store_record r = {.type = S("history_mutation"),
                             .body = sqlite_column_text(db, SQL_READ_CORE, 9)};

    store_record_text(&r, &text);
    if (text.n == 0)
        return NULL;
    TRY(sqlite_begin(db, SQL_INDEX));
    sqlite_int(db, SQL_INDEX, 1, sqlite_column_int(db, SQL_READ_CORE, 0));
    sqlite_text(db, SQL_INDEX, 2, strbuf_str(&text));
    return sqlite_finish(db, SQL_INDEX);
}

static struct err *index_type(struct sqlite_db *db, const struct backlog *b, const char *type)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_READ_CORE));
    sqlite_int(db, SQL_READ_CORE, 1, sqlite_key(b->number, b->indexed));
    sqlite_int(db, SQL_READ_CORE, 2, sqlite_key(b->number, SQLITE_SEQ_LAST));
    sqlite_text(db, SQL_READ_CORE, 3, str_of(type));
    while (!(e = sqlite_step(db, SQL_READ_CORE, &has_row)) && has_row) {
        e = index_row(db);
        if (e)
            break;
    }
    sqlite_end(db, SQL_READ_CORE);
    return e;
}

static struct err *index_stream(struct sqlite_db *db, const struct backlog *b)
{
    for (const char *const *t = store_text_types; *t; t++)
        TRY(index_type(db, b, *t));
    TRY(sqlite_begin(db, SQL_INDEXED));
    sqlite_int(db, SQL_INDEXED, 1, b->number);
    sqlite_int(db, SQL_INDEXED, 2, (int64_t)b->next_seq);
    return sqlite_finish(db, SQL_INDEXED);
}

struct err *sqlite_job_index(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    struct backlog *items;
    size_t n;

    TRY(find_backlog(db, &a, &items, &n));
    for (size_t i = 0; i < n; i++)
        TRY(index_stream(db, &items[i]));
    return NULL;
}

struct err *sqlite_job_forget_words(struct sqlite_db *db, struct sqlite_job *j)
{
    TRY(sqlite_begin(db, SQL_FORGET_WORDS));
    TRY(sqlite_finish(db, SQL_FORGET_WORDS));
    TRY(sqlite_begin(db, SQL_UNINDEX));
    TRY(sqlite_finish(db, SQL_UNINDEX));
    TRY(sqlite_begin(db, SQL_SEAL_ALL)); /* accept the list as it is */
    TRY(sqlite_finish(db, SQL_SEAL_ALL));
    return sqlite_job_index(db, j);
}

/* --- the search --- */

/* Quotes each word: the text of a person is not a query language. */
static void write_match(struct str words, struct strbuf *out)
{
    struct str word;

    while (str_split(&words, ' ', &word)) {
        if (word.n == 0)
            continue;
        strbuf_add_cstr(out, out->n ? " \"" : "\"");
        for (size_t i = 0; i < word.n; i++) {
            if (word.p[i] == '"')
                strbuf_add_char(out, '"');
            strbuf_add_char(out, word.p[i] ? word.p[i] : ' ');
        }
        strbuf_add_char(out, '"');
    }
}

static struct err *find_hits(struct sqlite_db *db, struct sqlite_look *l, struct strbuf *match)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_SEARCH));
    sqlite_text(db, SQL_SEARCH, 1, strbuf_str(match));
    sqlite_int(db, SQL_SEARCH, 2, (int64_t)l->n_max);
    while (!(e = sqlite_step(db, SQL_SEARCH, &has_row)) && has_row)
        (*l->ret_hits)[(*l->ret_n)++] = (struct store_hit){
            .session.id = arena_str(l->arena, sqlite_column_text(db, SQL_SEARCH, 2)),
            .seq = sqlite_key_seq(sqlite_column_int(db, SQL_SEARCH, 0)),
            .excerpt = excerpt_of(sqlite_column_text(db, SQL_SEARCH, 1), l->words, l->arena)};
    sqlite_end(db, SQL_SEARCH);
    return e;
}

/* Omits hits in removed sessions. */
static struct err *complete_hits(struct sqlite_db *db, struct sqlite_look *l)
{
    struct store_hit *hits = *l->ret_hits;
    size_t n = 0;

    for (size_t i = 0; i < *l->ret_n; i++) {
        struct store_hit hit = hits[i];
        struct sqlite_look find = *l;
        bool found;

        find.id = hit.session.id;
        find.ret_summary = &hit.session;
        find.ret_found = &found;
        TRY(sqlite_look_find(db, &find));
        if (found)
            hits[n++] = hit;
    }
    *l->ret_n = n;
    return NULL;
}

struct err *sqlite_look_search(struct sqlite_db *db, struct sqlite_look *l)
{
    AUTO(strbuf) struct strbuf match = {0};

    write_match(l->words, &match);
    if (match.n == 0)
        return NULL;
    *l->ret_hits = ARENA_ARRAY(l->arena, l->n_max, struct store_hit);
    TRY(find_hits(db, l, &match));
    return complete_hits(db, l);
}
