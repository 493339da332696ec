/* load.c - reads the core of a stream and finds out how the last run ended. */
#include "session/load_parts.h"

#include "base/json_skim.h"
#include "base/uuid.h"

#include <inttypes.h>

#define MAX_TOLD 8 /* of records that cannot be read */
#define N_LAST 8   /* records among which the checkpoint mostly is */

void loaded_done(struct loaded *l)
{
    message_unref(l->prompt);
    message_unref(l->partial);
    child_list_clear(&l->children);
    arena_done(&l->arena);
    *l = (struct loaded){0};
}

/* Reports a record that cannot be read; the rest is used. */
static void report_broken(struct loading *l, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);
    struct loaded *out = l->out;

    if (++l->n_broken > MAX_TOLD)
        return;
    out->notice = arena_format(&out->arena, "%" STR_FMT "%s%s%s", STR_ARG(out->notice),
                               out->notice.n ? "\n" : "", text,
                               l->n_broken == MAX_TOLD ? " (keel omits further ones)" : "");
}

/* --- what a crash has left --- */

/* The text that had streamed in when the process died, and the size of all that had. */
static struct err *read_partial(struct loading *l, uint64_t *ret_n_bytes)
{
    struct loaded *out = l->out;
    AUTO(codec_reader) struct codec_reader *r = NULL;
    AUTO(strbuf) struct strbuf text = {0};
    char id[UUID_TEXT_SIZE];
    const struct event *e;

    r = codec_reader_new(l->store, out->summary.id, l->attempt_seq, CODEC_READ_ALL);
    codec_reader_limit(r, l->end);
    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure)
            continue; /* refers to what came before the attempt */
        if (!e)
            break;
        if (e->type == EVENT_TEXT_DROPPED)
            strbuf_clear(&text);
        if (e->type == EVENT_DELTA && !e->body.delta.is_separator)
            *ret_n_bytes += e->body.delta.delta->text.n;
        if (e->type == EVENT_DELTA && e->body.delta.delta->kind == DELTA_TEXT &&
            !e->body.delta.is_separator)
            strbuf_add(&text, e->body.delta.delta->text);
    }
    if (!text.n)
        return strbuf_check(&text, "an answer");
    uuid_from_name(out->summary.id, arena_format(&out->arena, "answer %" PRIu64, l->attempt_seq),
                   id);
    out->partial = message_new(ROLE_ASSISTANT, str_of(id));
    out->partial->state = MESSAGE_BROKEN;
    message_add_text(out->partial, strbuf_str(&text));
    message_set_origin(out->partial,
                       (struct origin){.provider = out->provider, .model = out->model});
    return NULL;
}

static struct err *find_outcome(struct loading *l, const struct loaded_call *c,
                                struct given_outcome *o)
{
    struct arena *a = &l->out->arena;
    struct part *result;

    *o = (struct given_outcome){.call_id = arena_str(a, c->id), .index = c->index};
    o->outcome = c->end_seq ? CALL_COMPLETED : c->has_begun ? CALL_UNKNOWN : CALL_NEVER_STARTED;
    if (!c->end_seq) {
        child_list_give(&l->out->children, a, o);
        return NULL;
    }
    result = ARENA_NEW(a, struct part);
    TRY(codec_read_result(l->store, l->out->summary.id, c->end_seq, a, result));
    o->result = result;
    o->error_code = c->error_code ? arena_cstr(a, str_of(c->error_code)) : NULL;
    return NULL;
}

/* A result that cannot be read counts as one that never came. */
static void find_outcomes(struct loading *l)
{
    struct loaded *out = l->out;

    out->outcomes = ARENA_ARRAY(&out->arena, l->n_calls, struct given_outcome);
    for (size_t i = 0; i < l->n_calls; i++) {
        struct given_outcome *o = &out->outcomes[out->n_outcomes];
        AUTO(err) struct err *e = NULL;

        if (l->calls[i].has_result)
            continue;
        e = find_outcome(l, &l->calls[i], o);
        if (e) {
            report_broken(l, e);
            o->outcome = CALL_UNKNOWN;
        }
        out->n_outcomes++;
    }
}

/* --- where to begin --- */

/* A run that gave its answer has left nothing open; whether it did shows when all is read. */
static bool tells_answer(const struct store_record *r)
{
    struct json_wanted outcome = {.key = S("outcome")};

    return str_is(r->type, event_type_name(EVENT_RUN_END)) && json_skim(r->body, &outcome, 1) &&
           str_is(outcome.raw, "\"done\"");
}

/* The last checkpoint before `end`, in the page; NULL: there is none. *ret_has_answer: the run
 * before it gave its answer, so that nothing further back may be open.
 *
 * Mostly it is one of the last records, and the end of that run precedes it. A search by its type
 * goes over all others. If a process has begun the session in between, its record says with which
 * model: that is not passed over. */
static const struct store_record *find_checkpoint(struct store *s, struct str id, uint64_t end,
                                                  struct store_page *page, bool *ret_has_answer)
{
    struct store_query q = {.to = end, .core_only = true, .newest_first = true, .n_max = N_LAST};
    const struct store_record *found = NULL;
    bool has_answer = false, has_begun = false;

    err_ignore(store_read(s, id, &q, page), "what is wrong is reported when all of it is read");
    for (size_t i = 0; i < page->n; i++) {
        if (!found && str_is(page->records[i].type, event_type_name(EVENT_CHECKPOINT)))
            found = &page->records[i];
        has_answer |= found && !has_begun && tells_answer(&page->records[i]);
        has_begun |= found && str_is(page->records[i].type, event_type_name(EVENT_SESSION_BEGIN));
    }
    *ret_has_answer = has_answer;
    if (found)
        return found;
    store_page_done(page);
    q.type = str_of(event_type_name(EVENT_CHECKPOINT));
    q.n_max = 1;
    err_ignore(store_read(s, id, &q, page), "what is wrong is reported when all of it is read");
    return page->n ? &page->records[0] : NULL;
}

static void note_pack(struct loading *l, const struct json *body)
{
    struct loaded *out = l->out;
    struct str handle = json_get_text(json_get(body, "pack"), "$blob");
    int64_t n = json_int_or(json_get(body, "packed"), 0);

    if (!blob_handle_is_valid(handle) || n <= 0)
        return;
    out->packs = ARENA_NEW(&out->arena, struct codec_pack);
    out->n_packs = 1;
    out->packs[0].end = (size_t)n;
    memcpy(out->packs[0].handle, handle.p, handle.n);
}

/* Nothing is open where a pack was made: the history ends there with an answer, the run had ended.
 * Packs that cannot be used are made anew by the next checkpoint. */
static bool take_packs(struct loading *l, uint64_t base_seq)
{
    struct loaded *out = l->out;
    const struct history *h = &l->packed_history;
    struct err *e;

    if (!l->takes_packs || !out->n_packs)
        return false;
    e = packs_load(l->store, out->summary.id, base_seq, &out->arena, &out->packs, &out->n_packs,
                   &l->packed_history, &l->pack);
    if (e || l->pack.seq > l->checkpoint_seq ||
        !loading_ends_with(h->messages[h->n_messages - 1])) {
        err_ignore(e, "the records have it all");
        out->n_packs = 0;
        return false;
    }
    if (l->pack.run_id.n || l->pack.provider.n) {
        out->run_id = l->pack.run_id;
        out->provider = l->pack.provider;
        out->model = l->pack.model;
    }
    out->lacks_turn = l->is_answered = true;
    l->next_index = h->n_messages;
    return true;
}

static struct err *find_start(struct loading *l, uint64_t *ret_from)
{
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    bool has_answer;
    const struct store_record *checkpoint =
        find_checkpoint(l->store, l->out->summary.id, l->end, &page, &has_answer);
    struct json *body;

    *ret_from = 1;
    l->passes &= has_answer;
    if (!checkpoint)
        return NULL;
    TRY(json_parse(&a, checkpoint->body, 0, &body));
    l->checkpoint_seq = checkpoint->seq;
    l->out->last_run = LAST_RUN_ENDED; /* runs make none on their way */
    *ret_from = (uint64_t)json_int_or(json_get(body, "baseSeq"), (int64_t)l->checkpoint_seq);
    if (!*ret_from)
        *ret_from = l->checkpoint_seq;
    note_pack(l, body);
    l->is_packed = take_packs(l, *ret_from);
    if (l->is_packed)
        *ret_from = l->pack.seq;
    return NULL;
}

/* --- reading --- */

static struct err *read_events(struct loading *l, struct codec_reader *r)
{
    const struct event *e;

    while (!l->must_not_pass) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure) {
            l->has_gap = true;
            l->must_not_pass = l->passes || l->is_packed;
            report_broken(l, failure);
            continue;
        }
        if (!e)
            break;
        loading_take(l, e);
    }
    /* A run without a prompt continues the turn before it. */
    l->must_not_pass |= l->out->lacks_turn && l->has_run_since;
    return NULL;
}

static struct err *read_core(struct loading *l, uint64_t from)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(l->store, l->out->summary.id, from, CODEC_READ_CORE);

    codec_reader_limit(r, l->end);
    codec_reader_leave(r, CODEC_LEAVE_RESULTS | CODEC_LEAVE_HEADS |
                              (l->conversation ? CODEC_LEAVE_ENDS : CODEC_PASS));
    if (l->passes)
        codec_reader_pass(r, l->checkpoint_seq);
    if (l->is_packed)
        codec_reader_begin_with(r, l->pack.base_seq, &l->packed_history, &l->pack.hash);
    TRY(read_events(l, r));
    if (l->must_not_pass)
        return NULL;
    l->out->is_damaged |= l->has_gap;
    codec_reader_end_compaction(r);
    codec_reader_history(r, &l->out->base_seq);
    if (!l->conversation)
        return NULL;
    codec_reader_hash(r, &l->out->hash);
    codec_reader_take_history(r, &l->conversation->history);
    return NULL;
}

static struct err *load(struct loading *l, struct str id, uint64_t to)
{
    struct loaded *out = l->out;
    uint64_t from, n_bytes = 0;
    bool found;

    TRY(store_find(l->store, id, &out->arena, &out->summary, &found));
    if (!found)
        return store_no_session(id);
    out->provider = out->summary.provider;
    out->model = out->summary.model;
    l->end = to ? MIN(to, out->summary.next_seq) : out->summary.next_seq;
    TRY(find_start(l, &from));
    TRY(read_core(l, from));
    if (l->must_not_pass)
        return NULL;
    if (l->conversation) {
        l->conversation->stream.next_seq = l->end;
        find_outcomes(l);
    }
    if (out->n_outcomes) /* the rest of that answer's calls is still to be judged */
        out->turn.called_unknown = l->was_unknown;
    if (out->last_run == LAST_RUN_CUT_OFF) {
        loading_count_time(l);
        if (l->attempt_seq && !out->partial)
            TRY(read_partial(l, &n_bytes));
    }
    out->lost.is_there = l->open_seq && l->reserved.input;
    loading_settle_open(l, n_bytes);
    return NULL;
}

static struct err *start_loading(struct loading *l, struct str id, uint64_t to)
{
    struct err *e;

    *l->out = (struct loaded){.spent.usage = USAGE_UNKNOWN};
    e = load(l, id, to);
    arena_done(&l->calls_arena);
    history_done(&l->packed_history);
    return e;
}

struct err *session_load(struct store *s, struct str id, uint64_t to, struct conversation *c,
                         struct loaded *ret_loaded)
{
    struct loading l = {.store = s, .conversation = c, .out = ret_loaded};

    return start_loading(&l, id, to);
}

struct err *session_load_to_resume(struct store *s, struct str id, struct conversation *c,
                                   struct loaded *ret_loaded)
{
    struct loading l = {
        .store = s, .conversation = c, .out = ret_loaded, .passes = true, .takes_packs = true};

    TRY(start_loading(&l, id, 0));
    if (!l.must_not_pass)
        return NULL;
    loaded_done(ret_loaded); /* what it has given to the tools will be given once more */
    return session_load(s, id, 0, c, ret_loaded);
}

struct err *session_look(struct store *s, struct str id, struct loaded *ret_loaded)
{
    return session_load(s, id, 0, NULL, ret_loaded);
}
