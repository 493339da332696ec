/* compare.c - every event of the run against the one that was recorded in its place. */
#include "sdk/replay/parts.h"

#include "base/uuid.h"
#include "sys/loop.h"

#include <stdlib.h>

#define ID_MARK "-7e5e-9e5e-5e" /* in ids that are made here, before ten digits of their number */
#define MARK_AT 13
#define WAIT_MS 1000 /* of a clock that jumps: nothing else could happen */

static struct replay *replay_of_recorder(struct recorder *r)
{
    return (struct replay *)((char *)r - offsetof(struct replay, recorder));
}

/* --- ids --- */

/* An id can be told from all others, and its number is in it. Other randomness is of no account. */
static void fill(void *self, void *bytes, size_t n)
{
    struct replay *r = self;
    struct replay_ids *ids = &r->ids;
    unsigned char *b = bytes;
    uint64_t number = ids->n;

    if (n != 10) {
        random_fill(&r->others.random, bytes, n);
        return;
    }
    memset(b, 0x5e, 5);
    for (unsigned i = 0; i < 5; i++)
        b[5 + i] = (unsigned char)(number >> (32 - 8 * i));
    ids->items = arena_grow(&r->arena, ids->items, ids->n, &ids->room, sizeof *ids->items);
    ids->items[ids->n++][0] = 0;
}

static bool is_taken(const struct replay_ids *ids, struct str id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (str_is(id, ids->items[i]))
            return true;
    return false;
}

/* What the recording has in the place where this id comes up first is what it stands for. */
static struct str recorded_id(struct replay *r, size_t number, struct str there)
{
    char *known = r->ids.items[number];

    if (!*known && uuid_is_valid(there) && !is_taken(&r->ids, there)) {
        memcpy(known, there.p, there.n);
        known[there.n] = 0;
    }
    return *known ? str_of(known) : S("(an id that was not recorded)");
}

/* The number of the id that is marked at this place of the line; false: it is something else. */
static bool find_number(const struct replay *r, struct str line, size_t at, uint64_t *ret_number)
{
    struct str digits = str_slice(line, at + strlen(ID_MARK), 10);
    char text[11] = "";

    memcpy(text, digits.p, digits.n);
    *ret_number = strtoull(text, NULL, 16);
    return at >= MARK_AT && digits.n == 10 && *ret_number < r->ids.n;
}

/* Ids whose recorded one is known, in place: they are of the same length. */
static void use_known_ids(struct replay *r, struct strbuf *line)
{
    size_t from = 0, at;

    while ((at = str_find(str_skip(strbuf_str(line), from), S(ID_MARK))) != STR_NONE) {
        uint64_t number;

        at += from;
        from = at + 1;
        if (find_number(r, strbuf_str(line), at, &number) && *r->ids.items[number])
            memcpy(line->p + at - MARK_AT, r->ids.items[number], UUID_TEXT_SIZE - 1);
    }
}

/* The line with recorded ids instead of those that were made here. */
static void use_recorded_ids(struct replay *r, struct str line, struct str recorded,
                             struct strbuf *out)
{
    size_t at;

    while ((at = str_find(line, S(ID_MARK))) != STR_NONE) {
        uint64_t number;

        if (!find_number(r, line, at, &number)) {
            strbuf_add(out, str_slice(line, 0, at + 1));
            line = str_skip(line, at + 1);
            continue;
        }
        strbuf_add(out, str_slice(line, 0, at - MARK_AT));
        strbuf_add(out, recorded_id(r, number, str_slice(recorded, out->n, UUID_TEXT_SIZE - 1)));
        line = str_skip(line, at - MARK_AT + UUID_TEXT_SIZE - 1);
    }
    strbuf_add(out, line);
}

/* --- times --- */

/* The event as it would have been told then. */
static void write_as_recorded(const struct event *e, const struct recorded_event *x,
                              const struct json_long_texts *long_texts, struct strbuf *out)
{
    struct event copy = *e;
    struct run_result result;
    struct tool_set tools;

    copy.seq = x->seq;
    copy.unix_ms = x->unix_ms;
    if (e->type == x->type && e->type == EVENT_ATTEMPT_END)
        copy.body.attempt.duration_ms = x->duration_ms;
    if (e->type == x->type && (e->type == EVENT_TOOL_END || e->type == EVENT_TOOL_RESULT))
        copy.body.tool.duration_ms = x->duration_ms;
    if (e->type == x->type && e->type == EVENT_PROVIDER_REQUEST)
        copy.body.request.tools_version = x->tools_version;
    if (e->type == x->type && e->type == EVENT_TOOLS_CHANGED) {
        tools = *e->body.tools.tools;
        tools.version = x->tools_version;
        copy.body.tools.tools = &tools;
    }
    if (e->type == x->type && e->type == EVENT_RUN_END) {
        result = *e->body.result;
        result.duration_ms = x->duration_ms;
        result.api_duration_ms = x->api_duration_ms;
        copy.body.result = &result;
    }
    replay_line(&copy, NULL, long_texts, out);
}

/* Rests and delays last as long as they did. */
static void follow_clock(struct replay *r, const struct recorded_event *x)
{
    int64_t passed_ms = x->unix_ms - r->recording->began_ms;
    struct replay_clock *c = r->options->clock;

    if (passed_ms > 0)
        c->now_ms = MAX(c->now_ms, r->clock_start_ms + (uint64_t)passed_ms);
}

/* --- differences --- */

static size_t first_difference(struct str a, struct str b)
{
    size_t i = 0;

    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    return i;
}

static void end_comparing(struct replay *r)
{
    r->is_over = true;
    replay_cancel(r);
}

static void tell_difference(struct replay *r, uint64_t seq, struct str recorded,
                            struct str replayed)
{
    struct replayed_run *x = &r->result;

    x->verdict = REPLAY_DIFFERENT;
    x->different_seq = seq;
    x->recorded = arena_str(&r->arena, recorded);
    x->replayed = arena_str(&r->arena, replayed);
    x->at = first_difference(recorded, replayed);
    end_comparing(r);
}

/* --- comparing --- */

static void wake_waiting(struct replay *r)
{
    for (struct replay_waiting *w = r->waiting; w; w = w->next)
        waker_wake(&w->waker);
}

const struct recorded_event *replay_peek(const struct replay *r)
{
    const struct recorded_event *x;
    size_t i = 0;

    while ((x = recording_at(r->recording, i)) && x->type == EVENT_DELTA)
        i++;
    return r->is_over ? NULL : x;
}

/* Is a tool still to be entered that had begun when the person ended it? */
static bool has_call_to_enter(const struct replay *r, size_t batch)
{
    struct recorded_call *const *calls;
    size_t n;

    calls = recording_calls(r->recording, batch, &n);
    for (size_t i = 0; i < n; i++)
        if (calls[i]->is_begun && !calls[i]->is_over && !calls[i]->is_entered)
            return true;
    return false;
}

/* A call that was interrupted ends next: it was before that, and after all that had begun. */
static void cancel_calls(struct replay *r)
{
    const struct recorded_event *x = replay_peek(r);

    if (x && x->type == EVENT_TOOL_END && recorded_call_is_interrupted(x->call) &&
        !has_call_to_enter(r, x->call->batch))
        replay_cancel(r);
}

/* What happens from outside before the next event. */
static void act_before_next(struct replay *r)
{
    const struct recorded_event *x = replay_peek(r), *next = recording_at(r->recording, 0);

    cancel_calls(r);
    if (r->recording->cancel_seq && x && x == next && x->seq == r->recording->cancel_seq)
        replay_cancel(r);
    if (x && x->type == EVENT_FINAL_TURN && x->reason == FINAL_STOPPED && r->run)
        run_stop(r->run);
}

static void advance(struct replay *r, const struct recorded_event *x)
{
    r->result.n_compared++;
    follow_clock(r, x);
    if (x->type == EVENT_ATTEMPT_BEGIN)
        r->attempt = x->attempt;
    if (x->type == EVENT_BATCH_BEGIN)
        r->n_batches++;
    if (x->type == EVENT_TOOL_BEGIN)
        x->call->is_begun = true;
    if (x->type == EVENT_TOOL_END)
        x->call->is_over = true;
    recording_pass(r->recording);
    act_before_next(r);
    wake_waiting(r);
}

/* The recording has come to its end, or its damage; a run that goes on is left to itself. */
static bool has_ended(struct replay *r, struct str line)
{
    if (recording_at(r->recording, 0))
        return false;
    if (!recording_is_over(r->recording))
        tell_difference(r, 0, S("(nothing before the first request to a model)"), line);
    else if (r->recording->is_cut)
        end_comparing(r);
    else
        tell_difference(r, 0, (struct str){0}, line);
    return true;
}

void replay_note_damage(struct replay *r, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);

    if (!r->recording->damage.n)
        r->result.damage = r->recording->damage = arena_str(&r->recording->arena, str_of(text));
    end_comparing(r);
}

/* Another event came than this one. */
static void tell_other(struct replay *r, const struct recorded_event *x, struct str line)
{
    AUTO(strbuf) struct strbuf pieces = {0};

    if (x->type == EVENT_DELTA)
        replay_pieces_line(recording_pieces(r->recording), &pieces);
    tell_difference(r, x->seq, x->type == EVENT_DELTA ? strbuf_str(&pieces) : x->line, line);
}

/* A long text as the recording has it: with recorded ids. */
static void write_long_text(void *self, struct str text, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf beginning = {0};
    struct replay *r = self;
    unsigned char digest[SHA256_SIZE];
    char hash[SHA256_HEX_SIZE];
    struct str rest = text;
    struct sha256 sum;
    size_t at;

    if (str_find(text, S(ID_MARK)) == STR_NONE) {
        replay_write_long_text(NULL, text, out);
        return;
    }
    sha256_init(&sum);
    while ((at = str_find(rest, S(ID_MARK))) != STR_NONE) {
        AUTO(strbuf) struct strbuf piece = {0};

        strbuf_init(&piece, SIZE_MAX / 2);
        strbuf_add(&piece, str_slice(rest, 0, at + UUID_TEXT_SIZE - 1 - MARK_AT));
        use_known_ids(r, &piece);
        sha256_add(&sum, strbuf_str(&piece));
        rest = str_skip(rest, MIN(piece.n, rest.n));
    }
    sha256_add(&sum, rest);
    sha256_end(&sum, digest);
    sha256_format_hex(digest, hash);
    strbuf_add(&beginning, str_slice(text, 0, REPLAY_SHOWN_OF_LONG + UUID_TEXT_SIZE));
    use_known_ids(r, &beginning);
    replay_write_hashed(strbuf_str(&beginning), text.n, hash, out);
}

/* Whole lines tell more than beginnings and hashes: that of the recording is loaded when the run is
 * over. */
static void keep_whole_line(struct replay *r, const struct event *e, const struct recorded_event *x)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_init(&line, SIZE_MAX / 2);
    write_as_recorded(e, x, NULL, &line);
    use_known_ids(r, &line);
    if (line.n > REPLAY_LONG_TEXT)
        r->whole_line = arena_str(&r->arena, strbuf_str(&line));
}

void replay_load_difference(struct replay *r)
{
    AUTO(strbuf) struct strbuf recorded = {0};
    AUTO(err) struct err *e = NULL;

    if (!r->whole_line.n || !r->result.different_seq)
        return;
    strbuf_init(&recorded, SIZE_MAX / 2);
    e = recording_load_line(r->recording, r->result.different_seq, r->result.recorded, &recorded);
    if (!e) /* else there is still what was compared */
        tell_difference(r, r->result.different_seq, strbuf_str(&recorded), r->whole_line);
}

/* --- pieces of an answer --- */

static void tell_other_pieces(struct replay *r)
{
    AUTO(strbuf) struct strbuf now = {0}, then = {0};
    struct replay_pieces *recorded = recording_pieces(r->recording);
    const struct recorded_event *x = recording_at(r->recording, 0);

    replay_pieces_line(&r->pieces, &now);
    if (recorded)
        replay_pieces_line(recorded, &then);
    tell_difference(r, x ? x->seq : 0, strbuf_str(&then), strbuf_str(&now));
}

static void add_piece(struct replay *r, const struct delta *d)
{
    struct replay_pieces *recorded = recording_pieces(r->recording);

    replay_pieces_add(&r->pieces, d);
    if (recorded && !replay_pieces_compare(recorded, &r->pieces))
        tell_other_pieces(r);
}

/* They have ended: have they then? */
static void end_pieces(struct replay *r)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct replay_pieces *recorded = recording_pieces(r->recording);
    const struct recorded_event *x = recording_at(r->recording, 0);

    if (!r->pieces.has_any)
        return;
    if (x && x->type == EVENT_DELTA) {
        if (replay_pieces_compare(recorded, &r->pieces) && replay_pieces_are_compared(recorded) &&
            replay_pieces_are_compared(&r->pieces)) {
            replay_pieces_done(&r->pieces);
            advance(r, x);
        } else {
            tell_other_pieces(r);
        }
        return;
    }
    replay_pieces_line(&r->pieces, &line);
    if (!has_ended(r, strbuf_str(&line)))
        tell_other(r, x, strbuf_str(&line));
}

/* --- all events --- */

static void compare_event(struct replay *r, const struct event *e)
{
    AUTO(strbuf) struct strbuf line = {0}, now = {0};
    static const struct recorded_event none;
    const struct recorded_event *x = recording_at(r->recording, 0);
    struct json_long_texts hashed = {REPLAY_LONG_TEXT, write_long_text, r};

    if (!x)
        x = &none;
    strbuf_init(&line, SIZE_MAX / 2);
    strbuf_init(&now, SIZE_MAX / 2);
    write_as_recorded(e, x, &hashed, &line);
    if (has_ended(r, strbuf_str(&line)))
        return;
    use_recorded_ids(r, strbuf_str(&line), x->line, &now);
    if (x->type != EVENT_DELTA && str_eq(strbuf_str(&now), x->line)) {
        advance(r, x);
        return;
    }
    if (x->type != EVENT_DELTA)
        keep_whole_line(r, e, x);
    tell_other(r, x, strbuf_str(&now));
}

/* An older keel did not say when a run was ready to ask. */
static bool is_new_event(const struct replay *r, const struct event *e)
{
    const struct recorded_event *x = recording_at(r->recording, 0);

    return e->type == EVENT_PRE_RUN && x && x->type != EVENT_PRE_RUN;
}

static void append(struct recorder *recorder, const struct event *e)
{
    struct replay *r = replay_of_recorder(recorder);

    if (r->is_over || !replay_compares(e) || is_new_event(r, e))
        return;
    if (e->type == EVENT_DELTA) {
        add_piece(r, e->body.delta.delta);
        return;
    }
    if (e->type != EVENT_NATIVE_PAYLOAD)
        end_pieces(r);
    if (!r->is_over)
        compare_event(r, e);
}

/* A run that is cancelled goes its way as it did then: loading does not see it. */
void replay_load(struct replay *r)
{
    AUTO(err) struct err *e = NULL;

    task_shield_begin();
    if (!r->is_over)
        e = recording_load(r->recording);
    task_shield_end();
    if (e)
        replay_note_damage(r, e);
}

const struct recorded_payload *replay_next_payload(struct replay *r)
{
    const struct recorded_payload *p = NULL;
    AUTO(err) struct err *e = NULL;

    task_shield_begin();
    if (!r->is_over)
        e = recording_load_payload(r->recording, &p);
    task_shield_end();
    if (e)
        replay_note_damage(r, e);
    return e ? NULL : p;
}

/* Nothing is stored; but here the engine waits, and so what comes next is loaded here. */
static struct err *load_next(struct recorder *recorder, enum recorder_safety safety)
{
    struct replay *r = replay_of_recorder(recorder);

    replay_load(r);
    if (!r->fails_sync)
        return NULL;
    TRY(task_check());
    return r->recording->error ? err_copy(r->recording->error) : NULL;
}

void replay_compare_end(struct replay *r)
{
    const struct recorded_event *x = recording_at(r->recording, 0);

    if (!r->is_over && x)
        tell_other(r, x, (struct str){0});
    r->is_over = true;
}

/* --- waiting --- */

static bool is_turn_of(const struct replay *r, const struct recorded_call *c)
{
    const struct recorded_event *x = replay_peek(r);

    return !x || (x->type == EVENT_TOOL_END && x->call == c);
}

static struct err *wait_once(struct replay *r)
{
    struct replay_waiting w = {.next = r->waiting}, **at = &r->waiting;
    struct deadline deadline;
    struct err *e;

    waker_init(&w.waker);
    r->waiting = &w;
    deadline_begin(&deadline, WAIT_MS, "the recorded order");
    e = waker_park(&w.waker);
    deadline_end(&deadline);
    while (*at != &w)
        at = &(*at)->next;
    *at = w.next;
    return e;
}

/* Also when it was cancelled: calls end in the order in which they ended then. Where that cannot be
 * any more the clock jumps, and the difference is found. */
void replay_wait_for_end(struct replay *r, const struct recorded_call *c)
{
    struct err *e = NULL;

    task_shield_begin();
    while (!e && !is_turn_of(r, c))
        e = wait_once(r);
    task_shield_end();
    err_ignore(e, "the event that comes now is not the one that was recorded");
}

static bool have_begun(const struct replay *r, size_t batch)
{
    struct recorded_call *const *calls;
    size_t n, i = 0;

    calls = recording_calls(r->recording, batch, &n);
    while (i < n && (!calls[i]->has_begun || calls[i]->is_begun))
        i++;
    return i == n;
}

/* Other tasks get as much time as it takes a call to begin that has a place now. */
#define YIELDS_TO_BEGIN 16

static bool is_next_seq(const struct replay *r, uint64_t seq)
{
    const struct recorded_event *x = replay_peek(r);

    return x && x->seq == seq;
}

/* Does a call begin next that needs the place of this one? Each needs the place of one that is
 * over, or, where it runs alone, of all of them. */
static bool may_leave(struct replay *r)
{
    const struct recorded_event *x;

    while ((x = replay_peek(r)) && x->type == EVENT_TOOL_BEGIN && r->place_given_seq == x->seq) {
        uint64_t seq = x->seq;

        for (unsigned i = 0; i < YIELDS_TO_BEGIN && is_next_seq(r, seq); i++)
            err_ignore(task_yield(), "who was cancelled sees it later");
        if (is_next_seq(r, seq))
            return true;
    }
    if (x && x->type == EVENT_TOOL_END)
        return false;
    r->place_given_seq = x ? x->seq : 0;
    return true;
}

/* A call keeps its place until its hooks have been asked, which took its time. */
void replay_wait_for_place(struct replay *r, size_t batch)
{
    struct err *e = NULL;

    while (!e && !have_begun(r, batch) && !may_leave(r))
        e = wait_once(r);
    err_ignore(e, "what comes now shows the difference");
}

void replay_wait_for_begins(struct replay *r, size_t batch)
{
    struct err *e = NULL;

    while (!e && !have_begun(r, batch))
        e = wait_once(r);
    err_ignore(e, "what comes now shows the difference");
}

void replay_enter(struct replay *r, struct recorded_call *c)
{
    c->is_entered = true;
    cancel_calls(r);
}

struct err *replay_fail_begin(struct replay *r, const struct recorded_call *c,
                              struct tool_context *context)
{
    struct err *e;

    if (!str_is(c->code, err_code(ERR_STORAGE)))
        replay_cancel(r);
    r->fails_sync = true;
    e = tool_begin(context);
    r->fails_sync = false;
    return e;
}

void replay_cancel(struct replay *r)
{
    if (r->tasks)
        group_cancel(r->tasks);
}

/* --- its life --- */

void replay_compare_init(struct replay *r)
{
    r->recorder = (struct recorder){.append = append, .wait = load_next};
    r->random = (struct random){fill, r};
    seeded_random_init(&r->others, 1);
    r->clock_start_ms = r->options->clock->now_ms;
}

void replay_compare_done(struct replay *r)
{
    replay_pieces_done(&r->pieces);
}
