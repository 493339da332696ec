/* interrupt_property_test.c - wherever a run is ended, its log is whole, and the session goes on.
 *
 * A seed makes a session: answers with text, thoughts and calls of all kinds, hooks, questions,
 * failures and broken streams, compaction, forced last turns. Its run is played once to its end,
 * and then again and again, ended at an event, at a moment, or by a hook that says stop. Each time
 * the session must verify, every call must have one request and one result, providers must take the
 * requests that are made of the history, a run that follows must work, a session that is loaded to
 * be resumed must be the one that is loaded whole, and a replay must go the same way. Time is
 * virtual, and the same seed is the same session.
 *
 * A few hundred ends are tried, at seeds that are printed; with KEEL_TEST_DEPTH=all 10,000, at the
 * same seeds always, unless KEEL_TEST_SEED is the first. interrupt_property_test SEED END tries one
 * end (e7: at event 7, m7: at 7 ms, h7: the seventh hook says stop, i: none) and prints the log. */
#include "session/same_load.h"
#include "session/stage.h"

#include "archive/verify.h"
#include "base/uuid.h"
#include "engine/request_build.h"
#include "gate/gate.h"
#include "provider/protocol.h"
#include "sdk/replay/replay.h"
#include "session/codec/codec.h"
#include "strict/strict.h"
#include "view/session_log.h"

#include <stdlib.h>
#include <time.h>

#define ID "s"
#define N_ENDS 10 /* of each seed */
#define ALL_SEEDS 1000
#define SAMPLED_SEEDS 40
#define SHOWN_FAILURES 3
#define WINDOW 4000
#define PLENTY " - {text: Done.}\n"

enum end_kind { END_BY_ITSELF, END_AT_EVENT, END_AT_TIME, END_BY_HOOK, N_END_KINDS };

/* How a run is ended. */
struct end {
    enum end_kind kind;
    unsigned at; /* the event, the millisecond or the word of a hook, from 1 */
};

/* What the seed says. */
struct plan {
    struct strbuf script, script2, followed_by;
    bool has_past, has_hooks, has_asker, has_fallback, drops_text, is_node, follows_history;
    unsigned max_rounds, max_attempts, max_concurrency;
};

struct trial {
    uint64_t seed;
    struct end end;
    struct plan plan;
    struct seeded_random dice; /* of the plan, then of what happens */
    struct stage stage;
    struct group *group; /* in which the run is */
    struct hooks hooks;
    struct asker asker;
    unsigned n_events, n_hooks; /* so far */
    uint64_t began_ms, took_ms;
    struct strbuf problems;
};

static size_t n_tried, n_failed;
static bool prints_log;

static void complain(struct trial *t, const char *format, ...) PRINTF_LIKE(2, 3);
static void complain(struct trial *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&t->problems, format, args);
    va_end(args);
    strbuf_add_char(&t->problems, '\n');
}

/* --- the plan --- */

static unsigned roll(struct trial *t, unsigned sides)
{
    return (unsigned)random_below(&t->dice.random, sides);
}

static bool chance(struct trial *t, unsigned one_in)
{
    return roll(t, one_in) == 0;
}

static void write_call(struct trial *t, struct strbuf *out, unsigned number)
{
    static const char *const calls[] = {
        "tool: Echo, args: {text: one two three}",
        "tool: Echo, args: {text: x}",
        "tool: Slow, args: {ms: 7}",
        "tool: Slow, args: {ms: 30}",
        "tool: Alone, args: {ms: 5}",
        "tool: Alone, args: {}",
        "tool: Big, args: {lines: 900}",
        "tool: Fail, args: {}",
        "tool: Fail, args: {hard: true}",
        "tool: Wait, args: {}",
        "tool: State, args: {value: 7}",
        "tool: State, args: {value: {command: sleep, state: running}}",
        "tool: Late, args: {}",
        "tool: Nothing, args: {path: x}",
        "tool: Echo, args: {wrong: 1}",
        "tool: Echo, args_text: '{\"text\": \"bro'",
    };

    if (chance(t, 8)) /* ids may repeat, calls may not */
        strbuf_addf(out, ", {tool: Echo, args: {text: again %u}, id: c1}", number);
    else
        strbuf_addf(out, ", {%s, id: c%u%s}", calls[roll(t, ARRAY_LEN(calls))], number,
                    chance(t, 2) ? ", split: 5, delay_ms: 2" : "");
}

static void write_turn(struct trial *t, struct strbuf *out, unsigned *n_calls)
{
    static const char *const ends[] = {"cut: true", "error: provider_unavailable",
                                       "error: provider_error, message: no",
                                       "error: provider_rate_limit, retry_after_ms: 20"};
    unsigned n = chance(t, 4) ? 0 : roll(t, 5);

    strbuf_add_cstr(out, " - [{reasoning: hm and so on, split: 4, delay_ms: 1}");
    strbuf_addf(out, ", {usage: {input: %u, output: 20}}",
                chance(t, 4) ? 3400 : 100 + roll(t, 1000));
    if (!chance(t, 3))
        strbuf_add_cstr(out, ", {text: one two three, split: 3, delay_ms: 3}");
    for (unsigned i = 0; i < n; i++) {
        write_call(t, out, ++*n_calls);
        if (chance(t, 24))
            strbuf_addf(out, ", {%s}", ends[roll(t, ARRAY_LEN(ends))]);
    }
    if (chance(t, 8))
        strbuf_addf(out, ", {%s}", ends[roll(t, ARRAY_LEN(ends))]);
    strbuf_add_cstr(out, "]\n");
}

static void write_script(struct trial *t, struct strbuf *out)
{
    unsigned n_calls = 0;

    strbuf_add_cstr(out, "turns:\n");
    for (unsigned n = 1 + roll(t, 4); n; n--)
        write_turn(t, out, &n_calls);
    if (!chance(t, 6)) /* else it runs out */
        strbuf_add_cstr(out, PLENTY PLENTY PLENTY PLENTY);
}

static void make_plan(struct trial *t)
{
    struct plan *p = &t->plan;

    seeded_random_init(&t->dice, t->seed);
    write_script(t, &p->script);
    write_script(t, &p->script2);
    strbuf_add_cstr(&p->followed_by, "turns:\n" PLENTY PLENTY PLENTY);
    p->has_past = chance(t, 2);
    p->has_hooks = !chance(t, 3);
    p->has_asker = !chance(t, 3);
    p->has_fallback = chance(t, 4);
    p->drops_text = chance(t, 2);
    p->is_node = chance(t, 6);
    p->follows_history = chance(t, 3);
    p->max_rounds = chance(t, 3) ? 1 + roll(t, 2) : 0;
    p->max_attempts = 1 + roll(t, 3);
    p->max_concurrency = roll(t, 4);
}

/* --- what happens from outside --- */

static struct err *trial_hook(struct hooks *h, const struct hook_input *in, struct arena *a,
                              struct hook_outcome *o)
{
    struct trial *t = (struct trial *)((char *)h - offsetof(struct trial, hooks));

    *o = (struct hook_outcome){0};
    TRY(task_sleep(roll(t, 4)));
    if (++t->n_hooks == t->end.at && t->end.kind == END_BY_HOOK) {
        o->stops_run = o->is_blocked = true;
        o->reason = o->stop_reason = S("enough of this");
        return NULL;
    }
    if (in->event == HOOK_PRE_TOOL_USE && chance(t, 8)) {
        o->is_blocked = true;
        o->reason = S("not that");
    }
    if (in->event == HOOK_STOP && chance(t, 6)) {
        o->is_blocked = true;
        o->reason = S("there is more to do");
    }
    if (in->event == HOOK_POST_TOOL_USE && chance(t, 6)) {
        o->is_blocked = true;
        o->reason = S("that was not good");
    }
    if (in->event != HOOK_STOP && chance(t, 4))
        o->additional_context = chance(t, 2) ? S("added by a hook") : S("\nadded\nin lines\n");
    return NULL;
}

static struct err *trial_ask(struct asker *asker, const struct ask *ask, struct arena *a,
                             struct answer *ret_answer)
{
    struct trial *t = (struct trial *)((char *)asker - offsetof(struct trial, asker));
    static const enum answer_kind kinds[] = {ANSWER_NO,    ANSWER_ONCE,   ANSWER_ONCE,
                                             ANSWER_LATER, ANSWER_NOBODY, ANSWER_SESSION};

    TRY(task_sleep(1 + roll(t, 10)));
    *ret_answer = (struct answer){.kind = kinds[roll(t, ARRAY_LEN(kinds))]};
    return NULL;
}

static bool may_drop(void *self)
{
    return true;
}

static void on_event(struct world *w, const struct event *e)
{
    struct trial *t = (struct trial *)((char *)w - offsetof(struct trial, stage.world));

    if (++t->n_events == t->end.at && t->end.kind == END_AT_EVENT && t->group)
        group_cancel(t->group);
}

/* --- runs --- */

static void run(struct trial *t, const char *script, const char *script2, const char *prompt,
                bool is_plain)
{
    static const enum permission_mode default_mode = MODE_DEFAULT;
    const struct str ask[] = {S("Slow"), S("State")};
    const struct permission_rules rules = {.ask = ask, .n_ask = ARRAY_LEN(ask)};
    struct world *w = &t->stage.world;
    AUTO(message) struct message *input = NULL;
    struct permission_gate gate;

    permission_gate_init(&gate, &rules);
    run_result_done(&w->result);
    provider_free(TAKE(w->providers[0]));
    provider_free(TAKE(w->providers[1]));
    world_add_target(w, 0, script);
    if (script2)
        world_add_target(w, 1, script2);
    w->targets[0].window = w->targets[1].window = WINDOW;
    w->targets[0].max_attempts = w->targets[1].max_attempts = t->plan.max_attempts;
    w->plan = (struct run_plan){.targets = w->targets,
                                .n_targets = script2 ? 2 : 1,
                                .tools = w->registry,
                                .filter = {.allows_all = true},
                                .mode = &default_mode,
                                .stream = true};
    if (prompt) {
        char id[UUID_TEXT_SIZE];

        uuid_from_name(S("prompt"), str_of(prompt), id);
        input = message_new(ROLE_USER, str_of(id));
        message_add_text(input, str_of(prompt));
    }
    w->input = (struct run_input){.prompt = input};
    w->kit = (struct run_kit){.plan = world_plan,
                              .plan_self = w,
                              .max_rounds = RUN_UNLIMITED,
                              .gate = &gate.gate,
                              .blobs = store_blobs(t->stage.store, S(ID)),
                              .random = &t->dice.random};
    if (!is_plain) {
        w->input.max_rounds = t->plan.max_rounds;
        w->kit.max_concurrency = t->plan.max_concurrency;
        w->input.policy = t->plan.is_node ? &policy_node : NULL;
        w->input.drop_text = t->plan.drops_text ? may_drop : NULL;
        w->kit.asker = t->plan.has_asker ? &t->asker : NULL;
        w->kit.hooks = gate.hooks = t->plan.has_hooks ? &t->hooks : NULL;
    }
    stage_subscribe_world(&t->stage);
    session_run(&t->stage.session, &w->input, &w->kit, &w->result);
    event_stream_unsubscribe(&w->subscriber);
    w->input = (struct run_input){0};
    w->kit = (struct run_kit){0};
    permission_gate_done(&gate);
}

static struct err *run_main(void *arg)
{
    struct trial *t = arg;
    struct plan *p = &t->plan;

    t->n_events = t->n_hooks = 0;
    t->began_ms = loop_now_ms(task_loop());
    run(t, strbuf_cstr(&p->script), p->has_fallback ? strbuf_cstr(&p->script2) : NULL, "go",
        /* is_plain= */ false);
    t->took_ms = loop_now_ms(task_loop()) - t->began_ms;
    t->group = NULL;
    return NULL;
}

static struct err *wait_and_end(void *arg)
{
    struct trial *t = arg;

    TRY(task_sleep(t->end.at));
    if (t->group)
        group_cancel(t->group);
    return NULL;
}

/* The run in a group of its own, so that it can be cancelled without the rest. */
static void run_to_its_end(struct trial *t)
{
    struct group run_group, timer;

    group_begin(&timer, 0, GROUP_KEEP_GOING);
    group_begin(&run_group, 0, GROUP_KEEP_GOING);
    t->group = &run_group;
    group_spawn(&run_group, "run", run_main, t);
    if (t->end.kind == END_AT_TIME)
        group_spawn(&timer, "end", wait_and_end, t);
    err_ignore(group_end(&run_group), "the run gives a result");
    group_cancel(&timer);
    err_ignore(group_end(&timer), "it was only to end the run");
}

static void open_session(struct trial *t, enum session_start start)
{
    stage_open(&t->stage, &(struct session_options){
                              .start = start,
                              .id = S(ID),
                              .cwd = S("/tmp"),
                              .pack_from = t->seed % 3, /* 0: as ever, so that few are packed */
                              .random = &t->dice.random});
    if (start == SESSION_NEW)
        session_begin(&t->stage.session, &(struct event_session){.cwd = S("/tmp")});
}

/* --- what must hold --- */

static void on_finding(void *self, const struct finding *f)
{
    complain(self, "verify: %s: %" STR_FMT " (%llu)", finding_name(f->kind), STR_ARG(f->text),
             (unsigned long long)f->seq);
}

static void check_verify(struct trial *t)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    struct verified totals;
    bool found;

    assert_ok(store_find(t->stage.store, S(ID), &a, &summary, &found));
    assert_true(found);
    assert_ok(session_verify(t->stage.store, &summary, NULL, (struct finding_sink){on_finding, t},
                             &totals));
}

/* Of one batch. */
struct counted {
    struct str id;
    size_t n_due, n_requests, n_results, n_begun, n_ended;
};

static void count(struct trial *t, struct counted *c, const struct event *e)
{
    if (!str_eq(c->id, e->body.tool.batch_id))
        complain(t, "%s of another batch", event_type_name(e->type));
    c->n_requests += e->type == EVENT_TOOL_REQUEST;
    c->n_results += e->type == EVENT_TOOL_RESULT;
    c->n_begun += e->type == EVENT_TOOL_BEGIN;
    c->n_ended += e->type == EVENT_TOOL_END;
    if (e->type == EVENT_TOOL_REQUEST && c->n_results)
        complain(t, "a request after a result");
    if (e->type == EVENT_TOOL_REQUEST && !e->body.tool.args)
        complain(t, "a request without parameters");
}

static void check_batch(struct trial *t, const struct counted *c, bool is_suspended)
{
    if (c->n_requests != c->n_due || (!is_suspended && c->n_results != c->n_due) ||
        (!is_suspended && c->n_begun != c->n_ended) || c->n_begun > c->n_due)
        complain(t, "a batch of %zu calls has %zu requests, %zu results, %zu begun, %zu ended",
                 c->n_due, c->n_requests, c->n_results, c->n_begun, c->n_ended);
}

static void check_message(struct trial *t, const struct message *m)
{
    if (m->state == MESSAGE_INTERRUPTED && !str_is(m->stop_reason, "aborted"))
        complain(t, "an interrupted answer with the stop reason %" STR_FMT,
                 STR_ARG(m->stop_reason));
}

static void check_events(struct trial *t)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(t->stage.store, S(ID), 1, CODEC_READ_ALL);
    AUTO(arena) struct arena a = {0};
    struct counted batch = {0};
    const struct event *e;
    size_t n_normalized = 0, n_due = 0;
    bool has_batch = false;

    for (;;) {
        assert_ok(codec_read(r, &e));
        if (!e)
            break;
        if (prints_log) {
            AUTO(strbuf) struct strbuf line = {0};

            session_log_write(e, &line);
            fputs(strbuf_cstr(&line), stdout);
        }
        switch (e->type) {
        case EVENT_ATTEMPT_END:
            n_due += !e->body.attempt.error || err_is(e->body.attempt.error, ERR_CANCELLED);
            break;
        case EVENT_RESPONSE_NORMALIZED:
            n_normalized++;
            check_message(t, e->body.message.message);
            break;
        case EVENT_BATCH_BEGIN:
            if (has_batch)
                check_batch(t, &batch, false);
            batch = (struct counted){.id = arena_str(&a, e->body.batch.id),
                                     .n_due = e->body.batch.n_requests};
            has_batch = true;
            break;
        case EVENT_TOOL_REQUEST:
        case EVENT_TOOL_BEGIN:
        case EVENT_TOOL_END:
        case EVENT_TOOL_RESULT:
            count(t, &batch, e);
            break;
        case EVENT_RUN_END:
            if (has_batch)
                check_batch(t, &batch, e->body.result->outcome == RUN_SUSPENDED);
            has_batch = false;
            break;
        default:
            break;
        }
    }
    if (n_normalized < n_due)
        complain(t, "%zu answers, and %zu of them as messages", n_due, n_normalized);
}

/* Calls of the history that have other than one result. */
static void check_pairs(struct trial *t, const struct history *h)
{
    const struct message *answer = NULL;
    size_t n_calls = 0, n_results = 0;

    for (size_t i = 0; i <= h->n_messages; i++) {
        const struct message *m = i < h->n_messages ? h->messages[i] : NULL;

        if (m && m->is_error)
            continue;
        if (m && m->role == ROLE_TOOL) {
            n_results++;
            continue;
        }
        if (answer && n_calls != n_results)
            complain(t, "an answer with %zu calls has %zu results", n_calls, n_results);
        if (!answer && n_results)
            complain(t, "results without calls");
        n_results = 0;
        answer = m && m->role == ROLE_ASSISTANT ? m : NULL;
        n_calls = answer ? message_n_calls(answer) : 0;
    }
}

static void check_requests(struct trial *t, const struct history *h)
{
    static const struct {
        const char *protocol;
        bool (*judge)(const struct json *body, struct strbuf *why);
    } all[] = {{"anthropic-messages", strict_anthropic},
               {"openai-chat", strict_openai_chat},
               {"openai-responses", strict_openai_responses},
               {"gemini", strict_gemini},
               {"ollama", strict_ollama}};
    static const struct dialect plain;
    AUTO(arena) struct arena a = {0};
    size_t n;
    const struct message *const *messages = history_messages(h, &n);

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct request_target target = {.provider = S("p"),
                                        .protocol = str_of(all[i].protocol),
                                        .form = protocol_form(str_of(all[i].protocol))};
        AUTO(built_messages) struct built_messages built;
        AUTO(strbuf) struct strbuf body = {0}, why = {0};
        struct model_request request;
        struct json *v;

        request_build(messages, n, &target, NULL, 0, &built);
        request = (struct model_request){.provider = target.provider,
                                         .protocol = target.protocol,
                                         .model = S("m"),
                                         .messages = (const struct message *const *)built.items,
                                         .n_messages = built.n};
        assert_ok(protocol_find(target.protocol)->encode(&request, &plain, &body));
        assert_ok(json_parse(&a, strbuf_str(&body), 0, &v));
        if (!all[i].judge(v, &why))
            complain(t, "%s refuses: %s", all[i].protocol, strbuf_cstr(&why));
    }
}

/* From its event's name on, or from where it differs. */
static struct str excerpt(const struct replayed_run *r, struct str line)
{
    size_t name = str_find(line, S("\"event\":"));

    if (r->at > 160)
        return str_slice(line, r->at - 80, 240);
    return str_slice(line, name == STR_NONE ? 0 : name, 160);
}

static void on_replayed(void *self, const struct replayed_run *r)
{
    if (r->verdict != REPLAY_SAME)
        complain(self, "replay of run %u differs\n  recorded %" STR_FMT "\n  replayed %" STR_FMT,
                 r->turn, STR_ARG(excerpt(r, r->recorded)), STR_ARG(excerpt(r, r->replayed)));
}

/* --- one trial --- */

static struct err *play(void *arg)
{
    struct trial *t = arg;
    struct session *s = &t->stage.session;

    open_session(t, SESSION_NEW);
    t->stage.world.on_event = on_event;
    if (t->plan.has_past)
        run(t, "turns:\n - [{text: Look.}, {tool: Big, id: p, args: {lines: 700}}]\n" PLENTY PLENTY,
            NULL, "before", /* is_plain= */ true);
    run_to_its_end(t);
    if (t->stage.world.result.outcome != RUN_SUSPENDED)
        check_pairs(t, &s->conversation.history);
    check_requests(t, &s->conversation.history);
    stage_close(&t->stage);
    return NULL;
}

static struct err *follow(void *arg)
{
    struct trial *t = arg;
    struct session *s = &t->stage.session;
    const struct run_result *r = &t->stage.world.result;
    bool is_answered;

    open_session(t, SESSION_RESUME);
    is_answered = !session_can_resume(s) || s->loaded.last_run == LAST_RUN_SUSPENDED;
    run(t, strbuf_cstr(&t->plan.followed_by), NULL,
        t->plan.follows_history && !is_answered ? NULL : "and now?", /* is_plain= */ true);
    if (r->outcome != RUN_DONE && !err_is(r->error, ERR_CONTEXT_OVERFLOW))
        complain(t, "the next run ends as %s: %s", run_outcome_name(r->outcome),
                 r->error ? err_code(r->error->kind) : "");
    check_pairs(t, &s->conversation.history);
    check_requests(t, &s->conversation.history);
    stage_close(&t->stage);
    return NULL;
}

/* Resuming reads less than all, and finds the same. */
static void check_load(struct trial *t)
{
    AUTO(strbuf) struct strbuf whole = {0}, shorter = {0};

    same_load_both(t->stage.store, S(ID), &whole, &shorter);
    if (!str_eq(strbuf_str(&whole), strbuf_str(&shorter)))
        complain(t, "loaded whole: %s\nto be resumed: %s", strbuf_cstr(&whole),
                 strbuf_cstr(&shorter));
}

static struct err *verify_task(void *arg)
{
    check_verify(arg);
    check_events(arg);
    check_load(arg);
    return NULL;
}

struct replaying {
    struct trial *trial;
    struct replay_clock clock;
};

static struct err *replay_task(void *arg)
{
    struct replaying *x = arg;

    assert_ok(session_replay(&(struct replay_options){.store = x->trial->stage.store,
                                                      .session = S(ID),
                                                      .clock = &x->clock,
                                                      .on_run = on_replayed,
                                                      .self = x->trial}));
    return NULL;
}

static void run_loop(const struct clock *clock, task_fn fn, void *arg)
{
    AUTO(loop) struct loop *l = loop_new(clock);

    assert_ok(loop_run(l, fn, arg));
}

static void show(const struct trial *t)
{
    static const char *const kinds[] = {"by itself", "at event", "at ms", "by hook"};

    fprintf(stderr, "seed %llu, ended %s %u:\n%s\n%s\n", (unsigned long long)t->seed,
            kinds[t->end.kind], t->end.at, strbuf_cstr(&t->problems), strbuf_cstr(&t->plan.script));
}

/* The numbers stay in the trial when it is over. */
static void try_end(uint64_t seed, struct end end, struct trial *ret_trial)
{
    struct trial *t = ret_trial;
    struct virtual_clock clock;
    struct replaying replaying = {.trial = t};

    *t = (struct trial){.seed = seed, .end = end, .hooks = {trial_hook}, .asker = {trial_ask}};
    t->stage.world.has_late = true;
    make_plan(t);
    virtual_clock_init(&clock, 1700000000000);
    run_loop(&clock.clock, play, t);
    run_loop(&clock.clock, verify_task, t);
    run_loop(&clock.clock, follow, t);
    run_loop(&clock.clock, verify_task, t);
    replay_clock_init(&replaying.clock);
    run_loop(&replaying.clock.clock, replay_task, &replaying);
    n_tried++;
    if (t->problems.n && n_failed++ < SHOWN_FAILURES)
        show(t);
    stage_done(&t->stage);
    strbuf_done(&t->plan.script);
    strbuf_done(&t->plan.script2);
    strbuf_done(&t->plan.followed_by);
    strbuf_done(&t->problems);
}

/* Somewhere in what the run did when it was left alone. */
static struct end choose_end(struct seeded_random *dice, const struct trial *alone)
{
    const struct random *r = &dice->random;
    struct end end = {.kind = (enum end_kind)(1 + random_below(r, N_END_KINDS - 1))};

    if (end.kind == END_BY_HOOK && alone->n_hooks == 0)
        end.kind = END_AT_EVENT;
    end.at = 1 + (unsigned)random_below(r, end.kind == END_AT_EVENT  ? alone->n_events
                                           : end.kind == END_AT_TIME ? alone->took_ms + 1
                                                                     : alone->n_hooks);
    return end;
}

static void try_seed(uint64_t seed)
{
    static struct trial alone, trial;
    struct seeded_random dice;

    try_end(seed, (struct end){0}, &alone);
    seeded_random_init(&dice, seed);
    for (unsigned i = 0; i < N_ENDS; i++)
        try_end(seed, choose_end(&dice, &alone), &trial);
}

TEST(a_run_that_is_ended_anywhere_leaves_a_whole_log)
{
    const char *depth = getenv("KEEL_TEST_DEPTH");
    bool is_all = depth && strcmp(depth, "all") == 0;
    uint64_t first = is_all ? 0 : (uint64_t)time(NULL) % 1000000 * SAMPLED_SEEDS;
    uint64_t n = is_all ? ALL_SEEDS : SAMPLED_SEEDS;

    if (getenv("KEEL_TEST_SEED"))
        first = strtoull(getenv("KEEL_TEST_SEED"), NULL, 10);

    print_message("seeds %llu to %llu\n", (unsigned long long)first,
                  (unsigned long long)(first + n - 1));
    for (uint64_t seed = first; seed < first + n; seed++)
        try_seed(seed);
    print_message("%zu sessions tried\n", n_tried);
    assert_int_equal(n_failed, 0);
}

static int try_one(char **argv)
{
    static const char letters[] = "iemh"; /* by itself, event, millisecond, hook */
    const char *kind = strchr(letters, argv[2][0]);
    struct end end = {.kind = kind ? (enum end_kind)(kind - letters) : END_BY_ITSELF};
    static struct trial trial;

    end.at = (unsigned)strtoul(argv[2] + 1, NULL, 10);
    prints_log = true;
    try_end(strtoull(argv[1], NULL, 10), end, &trial);
    return n_failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {UNIT(a_run_that_is_ended_anywhere_leaves_a_whole_log)};

    return argc > 2 ? try_one(argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
