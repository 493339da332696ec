/* turns.c - finds the turns of a stream, and follows them back from its end. */
#include "archive/turns.h"

#include "base/utf8.h"
#include "port/run_result.h"

#include <stdlib.h>

const char *turn_state_name(enum turn_state s)
{
    static const char *const names[] = {"done",        "failed",        "suspended",
                                        "interrupted", "limit_reached", "refused",
                                        "cut_off",     "running",       "new"};
    return names[s];
}

const char *turn_state_text(enum turn_state s)
{
    static const char *const texts[] = {"done",
                                        "failed",
                                        "waits for an answer",
                                        "interrupted",
                                        "a limit was reached",
                                        "refused",
                                        "cut off",
                                        "running",
                                        "new"};
    return texts[s];
}

struct turn_reader {
    struct store *store;
    struct str id;
    struct arena *arena;
    struct turn_list *list;
};

static size_t place_of(const struct turn_list *l, unsigned number, size_t end)
{
    for (size_t i = end; i-- > 0;)
        if (l->items[i].number == number)
            return i;
    return end;
}

/* --- reading --- */

/* A long prompt is a blob of its own. */
static struct str read_prompt(const struct turn_reader *r, const struct json *input)
{
    struct str handle = json_get_text(input, "$blob");
    AUTO(strbuf) struct strbuf start = {0};

    if (!handle.n)
        return arena_str(r->arena, utf8_truncate(json_str(input), TURN_PROMPT_MAX));
    err_ignore(blob_get_range(store_blobs(r->store, r->id), handle, 0, TURN_PROMPT_MAX, &start),
               "the turn is there all the same");
    return arena_str(r->arena, str_slice(strbuf_str(&start), 0,
                                         start.n - utf8_incomplete_tail(strbuf_str(&start))));
}

static void fill_run(const struct turn_reader *r, const struct json *body, struct turn_entry *t)
{
    const struct json *input = json_get(body, "input");

    t->has_prompt = input && (json_get_text(input, "$blob").n || json_str(input).n);
    t->prompt = read_prompt(r, input);
}

static void fill_rewind(const struct json *body, struct turn_entry *t)
{
    t->is_rewind = true;
    t->to_turn = (unsigned)json_int_or(json_get(body, "toTurn"), 0);
    t->takes_messages = json_bool(json_get(body, "conversation"), false);
    t->n_files = (size_t)json_int_or(json_get(body, "files"), 0);
}

static void add_turn(struct turn_reader *r, const struct store_record *record)
{
    AUTO(arena) struct arena scratch = {0};
    struct turn_list *l = r->list;
    struct turn_entry *t;
    struct json_where where;
    struct json *body = NULL;

    l->items = arena_grow(r->arena, l->items, l->n, &l->room, sizeof *l->items);
    t = &l->items[l->n++];
    *t = (struct turn_entry){.number = record->turn,
                             .seq = record->seq,
                             .unix_ms = record->unix_ms,
                             .state = TURN_CUT_OFF};
    if (!json_parse_at(&scratch, record->body, JSON_REPAIR_UTF8, &body, &where))
        return; /* it happened, whatever it was */
    if (str_is(record->type, "rewound"))
        fill_rewind(body, t);
    else
        fill_run(r, body, t);
}

static enum turn_state state_of(const struct json *body)
{
    struct str outcome = json_get_text(body, "outcome");
    const struct json *error = json_get(body, "error");

    if (str_is(outcome, run_outcome_name(RUN_SUSPENDED)))
        return TURN_SUSPENDED;
    if (str_is(outcome, run_outcome_name(RUN_INTERRUPTED)))
        return TURN_INTERRUPTED;
    if (json_bool(json_get(body, "isFallback"), false) ||
        str_is(json_get_text(error, "category"), err_category(ERR_TURN_LIMIT)))
        return TURN_LIMIT_REACHED;
    if (str_is(json_get_text(error, "code"), err_code(ERR_CONTENT_FILTER)))
        return TURN_REFUSED;
    return str_is(outcome, run_outcome_name(RUN_DONE)) ? TURN_DONE : TURN_FAILED;
}

static void end_turn(struct turn_reader *r, const struct store_record *record)
{
    AUTO(arena) struct arena scratch = {0};
    size_t place = place_of(r->list, record->turn, r->list->n);
    struct json_where where;
    struct json *body = NULL;
    struct turn_entry *t;

    if (place == r->list->n ||
        !json_parse_at(&scratch, record->body, JSON_REPAIR_UTF8, &body, &where))
        return;
    t = &r->list->items[place];
    t->state = state_of(body);
    t->error_code = arena_str(r->arena, json_get_text(json_get(body, "error"), "code"));
    t->error = arena_str(r->arena, json_get_text(json_get(body, "error"), "message"));
    t->forced = arena_str(r->arena, json_get_text(body, "forcedFinalReason"));
    t->stop_reason = arena_str(r->arena, json_get_text(body, "stopReason"));
}

/* Records that are damaged are passed over: what there is must be shown. */
static struct err *read_type(struct turn_reader *r, const char *type,
                             void (*take)(struct turn_reader *r, const struct store_record *record))
{
    struct store_query q = {.from = 1, .type = str_of(type)};

    for (;;) {
        AUTO(store_page) struct store_page page = {0};
        struct err *e = store_read(r->store, r->id, &q, &page);

        if (e && page.go_on_at <= q.from)
            return e;
        err_free(e);
        for (size_t i = 0; i < page.n; i++)
            take(r, &page.records[i]);
        if (!e && !page.has_more)
            return NULL;
        q.from = page.n ? page.records[page.n - 1].seq + 1 : page.go_on_at;
    }
}

/* --- which of them count --- */

static int by_seq(const void *a, const void *b)
{
    const struct turn_entry *x = a, *y = b;

    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Each turn knows the one before it; after a rewind that is another one than the last. */
static void link_turns(struct turn_list *l)
{
    size_t head = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct turn_entry *t = &l->items[i];

        t->before = head;
        if (!t->is_rewind)
            head = i + 1;
        else if (t->takes_messages)
            head = l->items[place_of(l, t->to_turn, i)].before;
    }
    for (size_t i = head; i > 0; i = l->items[i - 1].before)
        l->items[i - 1].is_live = true;
}

struct err *turn_list_read(struct store *s, struct str id, struct arena *a,
                           struct turn_list *ret_list)
{
    struct turn_reader r = {.store = s, .id = id, .arena = a, .list = ret_list};

    *ret_list = (struct turn_list){0};
    TRY(read_type(&r, "run_begin", add_turn));
    TRY(read_type(&r, "rewound", add_turn));
    if (ret_list->n)
        qsort(ret_list->items, ret_list->n, sizeof *ret_list->items, by_seq);
    TRY(read_type(&r, "run_end", end_turn));
    link_turns(ret_list);
    return NULL;
}

/* --- the states of sessions --- */

/* By its turns: which of them is the last one after a rewind, only all of them together show. Where
 * none is left, there is what came before the first: that is what the session was copied from. */
static enum turn_state state_by_turns(struct store *s, struct str id)
{
    AUTO(arena) struct arena a = {0};
    AUTO(store_page) struct store_page page = {0};
    struct turn_list turns = {0};
    const struct turn_entry *last;
    struct store_query before = {.from = 1, .type = S("history_mutation"), .n_max = 1};

    err_ignore(turn_list_read(s, id, &a, &turns), "who opens it gets the reason");
    last = turn_list_last_run(&turns);
    if (last)
        return last->state;
    before.to = turns.n ? turns.items[0].seq : 0;
    err_ignore(store_read(s, id, &before, &page), "who opens it gets the reason");
    return page.n ? TURN_DONE : TURN_NONE;
}

static enum turn_state state_by_record(struct store *s, struct str id,
                                       const struct store_record *last)
{
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *body = NULL;

    if (last->seq == 0)
        return TURN_NONE;
    if (last->run_id.n && !str_is(last->type, "run_end"))
        return TURN_CUT_OFF;
    if (!json_parse_at(&a, last->body, JSON_REPAIR_UTF8, &body, &where))
        body = NULL;
    if (last->run_id.n)
        return body ? state_of(body) : TURN_CUT_OFF;
    return str_is(json_get_text(body, "mutation"), "fork-base") ? TURN_DONE : state_by_turns(s, id);
}

struct err *turn_states_read(struct store *s, const struct store_summary *items, size_t n,
                             enum turn_state *ret_states)
{
    const struct str types[] = {S("rewound"), S("history_mutation")};
    AUTO(arena) struct arena a = {0};
    struct str *ids = ARENA_ARRAY(&a, n, struct str);
    struct store_record *records = ARENA_ARRAY(&a, n, struct store_record);

    for (size_t i = 0; i < n; i++)
        ids[i] = items[i].id;
    TRY(store_last(s,
                   &(struct store_last_query){
                       .streams = ids, .n_streams = n, .types = types, .n_types = ARRAY_LEN(types)},
                   &a, records));
    for (size_t i = 0; i < n; i++) {
        ret_states[i] = state_by_record(s, ids[i], &records[i]);
        if (ret_states[i] == TURN_CUT_OFF && items[i].is_open)
            ret_states[i] = TURN_RUNNING;
    }
    return NULL;
}

const struct turn_entry *turn_list_find(const struct turn_list *l, unsigned number)
{
    size_t i = place_of(l, number, l->n);

    return i < l->n ? &l->items[i] : NULL;
}

const struct turn_entry *turn_list_last(const struct turn_list *l)
{
    for (size_t i = l->n; i-- > 0;)
        if (l->items[i].is_live && l->items[i].has_prompt)
            return &l->items[i];
    return NULL;
}

const struct turn_entry *turn_list_last_run(const struct turn_list *l)
{
    for (size_t i = l->n; i-- > 0;)
        if (l->items[i].is_live && !l->items[i].is_rewind)
            return &l->items[i];
    return NULL;
}
