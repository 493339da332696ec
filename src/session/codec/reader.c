/* reader.c - a stored stream, event by event. */
#include "session/codec/decode.h"

#define SCRATCH_BYTES ((size_t)64 << 10) /* that may stay for the next record */

struct codec_reader *codec_reader_new(struct store *s, struct str stream, uint64_t from,
                                      enum codec_reading reading)
{
    struct codec_reader *r = mem_alloc(sizeof *r);

    r->store = s;
    r->stream = arena_str(&r->arena, stream);
    r->next_seq = MAX(from, (uint64_t)1);
    r->core_only = reading == CODEC_READ_CORE;
    return r;
}

void codec_reader_limit(struct codec_reader *r, uint64_t to)
{
    r->to = to;
}

void codec_reader_forms(struct codec_reader *r,
                        const struct message_form *(*find)(struct str protocol))
{
    r->find_form = find;
}

void codec_reader_skip(struct codec_reader *r, const bool *types)
{
    memcpy(r->skips, types, sizeof r->skips);
}

void codec_reader_below(struct codec_reader *r, struct str parent)
{
    r->parent = arena_str(&r->arena, parent);
}

void codec_reader_go_on(struct codec_reader *r)
{
    r->is_over = false;
}

uint64_t codec_reader_next_seq(const struct codec_reader *r)
{
    return r->n_in_record ? r->page.records[r->at].seq + r->n_in_record : r->next_seq;
}

void codec_reader_skip_to(struct codec_reader *r, uint64_t seq)
{
    r->next_seq = seq;
    r->n_in_record = 0;
    r->at = r->page.n;
    r->is_over = false;
}

void codec_reader_pass(struct codec_reader *r, uint64_t before)
{
    r->passes_before = before;
}

void codec_reader_begin_with(struct codec_reader *r, uint64_t base_seq,
                             struct history *take_history, const struct history_hash *hash)
{
    const struct history *h = &r->history;

    r->history = *take_history;
    *take_history = (struct history){0};
    r->base_seq = base_seq;
    r->hash = *hash;
    r->n_in_history = r->n_hashed = h->n_messages;
    for (size_t i = h->n_messages; i-- > 0 && !r->answer;)
        if (h->messages[i]->role == ROLE_ASSISTANT)
            r->answer = message_ref(h->messages[i]);
}

void codec_reader_free(struct codec_reader *r)
{
    if (!r)
        return;
    codec_forget_seen(r);
    codec_reader_end_compaction(r);
    message_unref(r->answer);
    history_done(&r->history);
    codec_stream_reading_clear(&r->streaming);
    codec_forget_reply_read(r);
    arena_done(&r->passed.arena);
    built_messages_done(&r->built);
    err_free(r->error);
    store_page_done(&r->page);
    arena_done(&r->scratch);
    arena_done(&r->arena);
    mem_free(r);
}

void codec_reader_leave(struct codec_reader *r, unsigned what)
{
    r->leaves = what;
}

const struct json *codec_reader_left(const struct codec_reader *r)
{
    return r->left;
}

struct err *codec_read_result(struct store *s, struct str stream, uint64_t seq, struct arena *a,
                              struct part *ret_result)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(s, stream, seq, CODEC_READ_ALL);
    const struct event *e;

    TRY(codec_read(r, &e));
    if (!e || e->type != EVENT_TOOL_END || e->seq != seq || !e->body.tool.result)
        return err_new(ERR_STORAGE, "record %llu of session %" STR_FMT " contains no result",
                       (unsigned long long)seq, STR_ARG(stream));
    *ret_result = part_copy(a, e->body.tool.result);
    return NULL;
}

void codec_reader_take_history(struct codec_reader *r, struct history *ret_history)
{
    *ret_history = r->history;
    r->history = (struct history){0};
}

const struct history *codec_reader_history(const struct codec_reader *r, uint64_t *ret_base_seq)
{
    *ret_base_seq = r->base_seq;
    return &r->history;
}

void codec_reader_hash(struct codec_reader *r, struct history_hash *ret_hash)
{
    for (; r->n_hashed < r->history.n_messages; r->n_hashed++)
        history_hash_add(&r->hash, r->history.messages[r->n_hashed]);
    *ret_hash = r->hash;
}

void codec_reader_range(const struct codec_reader *r, struct codec_range *ret_range)
{
    *ret_range = (struct codec_range){.base_seq = r->base_seq, .n = r->n_in_history};
    sha256_format_hex(r->hash.bytes, ret_range->sha256);
}

const struct store_record *codec_reader_record(const struct codec_reader *r)
{
    return r->record;
}

uint64_t codec_reader_broken_seq(const struct codec_reader *r)
{
    return r->record ? r->record->seq : r->damaged_at;
}

bool codec_reader_has_other_history(const struct codec_reader *r)
{
    return r->has_other_history;
}

bool codec_reader_has_failed(const struct codec_reader *r)
{
    return r->has_failed;
}

/* What runs have begun and done on their way says nothing any more where nothing is open. */
static const struct str passed_types[] = {
    S("attempt_begin"), S("attempt_end"),  S("tool_execution_request"),
    S("tool_early"),    S("tool_dropped"), S("tool_begin"),
    S("tool_state"),    S("session_init"), S("checkpoint"),
};

static struct err *turn_page(struct codec_reader *r)
{
    struct store_query q = {.from = r->next_seq, .to = r->to, .core_only = r->core_only};
    struct err *e;

    if (r->next_seq < r->passes_before) {
        q.to = r->to ? MIN(r->to, r->passes_before) : r->passes_before;
        q.leaves = passed_types;
        q.n_leaves = ARRAY_LEN(passed_types);
    }
    r->at = 0;
    e = store_read_over(r->store, r->stream, &q, &r->page);
    if (e) {
        r->damaged_at = r->page.damaged_at;
        r->has_failed = r->page.go_on_at <= r->next_seq;
        r->next_seq = MAX(r->next_seq, r->page.go_on_at); /* behind what is damaged */
        return e;
    }
    r->is_over = r->page.n == 0 && r->next_seq >= r->passes_before;
    if (r->page.n == 0)
        r->next_seq = MAX(r->next_seq, r->passes_before);
    return NULL;
}

/* The body is parsed once for all the events that it holds. */
static struct err *parse_body(struct codec_reader *r, const struct store_record *record)
{
    struct err *e;

    if (r->scratch.used_bytes > SCRATCH_BYTES)
        arena_done(&r->scratch);
    else
        arena_clear(&r->scratch);
    e = json_parse(&r->scratch, record->body, 0, &r->body);
    return e ? err_wrap(e, "record %llu of session %" STR_FMT " is broken",
                        (unsigned long long)record->seq, STR_ARG(r->stream))
             : NULL;
}

static void skip_record(struct codec_reader *r, const struct store_record *record)
{
    r->next_seq = record->seq + record->n_events;
    r->n_in_record = 0;
    r->at++;
}

/* A store may leave out what is passed over, and need not. */
static bool is_passed(struct codec_reader *r, const struct store_record *record,
                      enum event_type type)
{
    if (record->seq >= r->passes_before)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(passed_types); i++)
        if (str_eq(passed_types[i], record->type))
            return true;
    switch (type) {
    case EVENT_RESPONSE_RAW:
        return codec_keep_reply(r, record);
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
        return codec_keep_result(r, record);
    default:
        return false;
    }
}

static bool is_skipped(struct codec_reader *r, const struct store_record *record)
{
    enum event_type type;

    if (str_is(record->type, CODEC_STREAM))
        return r->skips[EVENT_DELTA] && r->skips[EVENT_NATIVE_PAYLOAD];
    return codec_find_type(record->type, &type) && (r->skips[type] || is_passed(r, record, type));
}

/* The record that the next event is in; *ret_record NULL at the end. */
static struct err *find_record(struct codec_reader *r, const struct store_record **ret_record)
{
    const struct store_record *record;

    for (;;) {
        *ret_record = NULL;
        while (r->at == r->page.n && !r->is_over)
            TRY(turn_page(r));
        if (r->is_over)
            return NULL;
        *ret_record = record = &r->page.records[r->at];
        if (r->n_in_record || !is_skipped(r, record))
            return NULL;
        skip_record(r, record);
    }
}

struct err *codec_read(struct codec_reader *r, const struct event **ret_event)
{
    const struct store_record *record;
    struct err *e = NULL;

    *ret_event = NULL;
    r->record = NULL;
    r->damaged_at = 0;
    r->left = NULL;
    r->has_other_history = false;
    TRY(find_record(r, &record));
    if (!record)
        return NULL;
    r->record = record;
    if (r->n_in_record == 0)
        e = parse_body(r, record);
    if (!e)
        e = codec_decode(r, record, r->n_in_record);
    if (e) {
        skip_record(r, record);
        e->kind = ERR_STORAGE;
        return e;
    }
    if (++r->n_in_record == record->n_events)
        skip_record(r, record);
    *ret_event = &r->event;
    return NULL;
}
