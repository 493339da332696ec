/* ask_test.c - retries and fallback against scripted models, on a clock that jumps. */
#include "test.h"

#include "engine/run.h"
#include "provider/script.h"
#include "sys/loop.h"

struct world {
    struct provider *providers[3];
    struct target targets[3];
    struct run_plan plan;
    struct recorder recorder;
    struct strbuf log; /* what happened, in order */
    struct str asked;  /* the model that was asked last */
    unsigned max_attempts;
    uint64_t max_wait_ms; /* 0: the usual */
    bool drops_text, refuses, cannot_send;
};

static const struct run_plan *world_plan(void *self)
{
    return &((struct world *)self)->plan;
}

static struct err *reserve(void *self, const struct attempt *a, struct reservation *r,
                           struct budget_word *ret_word)
{
    struct world *w = self;

    return w->refuses ? err_new(ERR_BUDGET_EXCEEDED, "the budget is used up") : NULL;
}

static void record(struct recorder *r, const struct event *e)
{
}

/* A journal that cannot be written once a request is to leave. */
static struct err *wait_for_record(struct recorder *r, enum recorder_safety safety)
{
    struct world *w = (struct world *)((char *)r - offsetof(struct world, recorder));

    return w->cannot_send && w->asked.n ? err_new(ERR_NETWORK, "the journal is elsewhere") : NULL;
}

static void log_wait(struct world *w, const struct event_attempt *a)
{
    uint64_t whole_ms = MIN((uint64_t)500 << (a->at_target - 1), (uint64_t)60000);
    bool in_bounds = a->delay_ms >= MIN(whole_ms / 2, (uint64_t)30000) &&
                     a->delay_ms <= MIN(whole_ms * 3 / 2, (uint64_t)60000);

    strbuf_addf(&w->log, in_bounds ? "wait " : "wait(%llu) ", (unsigned long long)a->delay_ms);
}

static void log_end(struct world *w, const struct run_result *x)
{
    strbuf_add_cstr(&w->log, "= ");
    if (x->error)
        strbuf_add_cstr(&w->log, err_code(x->error->kind));
    else
        strbuf_add(&w->log, x->text);
    if (w->asked.n)
        strbuf_addf(&w->log, " from %" STR_FMT, STR_ARG(w->asked));
    strbuf_add_char(&w->log, '\n');
}

static void on_event(void *self, const struct event *e)
{
    struct world *w = self;
    const struct event_attempt *a = &e->body.attempt;

    if (e->type == EVENT_ATTEMPT_BEGIN) {
        w->asked = a->model;
        strbuf_addf(&w->log, "%" STR_FMT "#%u ", STR_ARG(a->model), a->at_target);
    } else if (e->type == EVENT_ATTEMPT_END) {
        strbuf_addf(&w->log, "%s ", a->error ? err_code(a->error->kind) : "ok");
        if (a->cost_microcents >= 0)
            strbuf_addf(&w->log, "cost=%lld ", (long long)a->cost_microcents);
    } else if (e->type == EVENT_RETRY) {
        log_wait(w, a);
    } else if (e->type == EVENT_FALLBACK) {
        strbuf_addf(&w->log, "-> ");
    } else if (e->type == EVENT_BATCH_BEGIN) {
        strbuf_addf(&w->log, "= a call from %" STR_FMT "\n", STR_ARG(w->asked));
    } else if (e->type == EVENT_RUN_END) {
        log_end(w, e->body.result);
    }
}

static bool drop(void *self)
{
    struct world *w = self;

    strbuf_add_cstr(&w->log, w->drops_text ? "dropped " : "kept ");
    return w->drops_text;
}

static struct err *run(void *arg)
{
    struct world *w = arg;
    struct event_subscriber subscriber = {.on_event = on_event, .self = w};
    AUTO(conversation) struct conversation conversation;
    AUTO(message) struct message *prompt = message_new(ROLE_USER, (struct str){0});
    AUTO(run_result) struct run_result result = {0};
    const struct run_input input = {.prompt = prompt, .drop_text = drop, .drop_self = w};
    const struct run_kit kit = {.plan = world_plan, .plan_self = w, .retry_max_ms = w->max_wait_ms};
    const struct run_keeper keeper = {.budget = {.reserve = reserve, .self = w}};

    message_add_text(prompt, S("say hello"));
    conversation_init(&conversation, S("session"), S("/tmp"));
    event_stream_subscribe(&conversation.stream, &subscriber);
    if (w->cannot_send)
        event_stream_open(&conversation.stream, 1, &w->recorder);
    run_start(&conversation, &input, &kit, &keeper, &result);
    return NULL;
}

/* Up to three scripts, each a target called a, b, c. */
static void plays(struct world *w, const char *const *scripts, const char *want)
{
    static const char *const names[] = {"a", "b", "c"};
    struct virtual_clock clock;
    AUTO(loop) struct loop *loop = NULL;
    size_t n = 0;

    virtual_clock_init(&clock, 0);
    loop = loop_new(&clock.clock);
    for (; scripts[n]; n++) {
        assert_ok(script_provider_new(str_of(names[n]), str_of(scripts[n]), &w->providers[n]));
        w->targets[n].provider = w->providers[n];
        w->targets[n].model = str_of(names[n]);
        w->targets[n].max_attempts = w->max_attempts;
        if (w->targets[n].price.input == 0)
            w->targets[n].price = (struct price){-1, -1, -1, -1};
    }
    w->plan = (struct run_plan){.targets = w->targets, .n_targets = n, .stream = true};
    w->recorder = (struct recorder){.append = record, .wait = wait_for_record};
    assert_ok(loop_run(loop, run, w));
    assert_str(strbuf_str(&w->log), want);
    for (size_t i = 0; i < n; i++)
        provider_free(w->providers[i]);
    strbuf_done(&w->log);
}

#define SCRIPTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define HELLO "{text: hello}"
#define CALL "{tool: Nothing, id: x}" /* the next answer is asked for */
#define FAILS(code) "{error: " code ", message: x}"

TEST(the_first_target_answers)
{
    struct world w = {.max_attempts = 5};

    plays(&w, SCRIPTS("turns: [" HELLO "]", "turns: []"), "a#1 ok = hello from a\n");
}

TEST(overload_is_tried_again_here_before_another_target_is_asked)
{
    struct world w = {.max_attempts = 2};

    plays(&w,
          SCRIPTS("turns: [" FAILS("provider_unavailable") ", " FAILS("network") "]",
                  "turns: [" HELLO "]"),
          "a#1 provider_unavailable wait a#2 network -> b#1 ok = hello from b\n");
}

TEST(a_refused_key_or_an_unknown_model_skips_the_target_at_once)
{
    struct world w = {.max_attempts = 5};

    plays(&w,
          SCRIPTS("turns: [" FAILS("provider_auth") "]",
                  "turns: [" FAILS("model_not_available") "]", "turns: [" HELLO "]"),
          "a#1 provider_auth -> b#1 model_not_available -> c#1 ok = hello from c\n");
}

TEST(a_failure_that_no_other_target_would_mend_is_final)
{
    struct world w = {.max_attempts = 5}, v = {.max_attempts = 5};

    plays(&w, SCRIPTS("turns: [" FAILS("provider_error") "]", "turns: [" HELLO "]"),
          "a#1 provider_error = provider_error from a\n");
    plays(&v, SCRIPTS("turns: [" FAILS("cancelled") "]", "turns: [" HELLO "]"),
          "a#1 cancelled = cancelled from a\n");
}

TEST(the_last_error_comes_back_when_all_targets_fail)
{
    struct world w = {.max_attempts = 1};

    plays(&w, SCRIPTS("turns: [" FAILS("timeout") "]", "turns: [" FAILS("network") "]"),
          "a#1 timeout -> b#1 network = network from b\n");
}

TEST(the_providers_own_delay_is_honoured)
{
    struct world w = {.max_attempts = 3};

    plays(&w,
          SCRIPTS("turns: [{error: provider_rate_limit, message: x, retry_after_ms: 61000}, " HELLO
                  "]"),
          "a#1 provider_rate_limit wait(61000) a#2 ok = hello from a\n");
}

/* Each lies within a half of 0.5 s, 1 s, 2 s, ... and none beyond 60 s. */
TEST(waits_double_up_to_a_minute)
{
    struct world w = {.max_attempts = 10};

#define BUSY FAILS("provider_unavailable") ", "
    plays(&w, SCRIPTS("turns: [" BUSY BUSY BUSY BUSY BUSY BUSY BUSY BUSY BUSY HELLO "]"),
          "a#1 provider_unavailable wait a#2 provider_unavailable wait "
          "a#3 provider_unavailable wait a#4 provider_unavailable wait "
          "a#5 provider_unavailable wait a#6 provider_unavailable wait "
          "a#7 provider_unavailable wait a#8 provider_unavailable wait "
          "a#9 provider_unavailable wait a#10 ok = hello from a\n");
}

#define ASKS_FOR(ms) "{error: provider_unavailable, message: x, retry_after_ms: " ms "}"

TEST(a_wait_beyond_what_is_left_ends_the_attempts_at_once)
{
    struct world w = {.max_attempts = 9}, v = {.max_attempts = 9, .max_wait_ms = 1000};

    plays(&w, SCRIPTS("turns: [" ASKS_FOR("600001") ", " HELLO "]"),
          "a#1 provider_unavailable = provider_unavailable from a\n");
    plays(&v, SCRIPTS("turns: [" ASKS_FOR("600") ", " ASKS_FOR("500") ", " HELLO "]"),
          "a#1 provider_unavailable wait a#2 provider_unavailable "
          "= provider_unavailable from a\n");
}

TEST(a_wait_beyond_what_is_left_moves_to_the_next_target)
{
    struct world w = {.max_attempts = 9, .max_wait_ms = 1000};

    plays(&w, SCRIPTS("turns: [" ASKS_FOR("2000") "]", "turns: [" HELLO "]"),
          "a#1 provider_unavailable -> b#1 ok = hello from b\n");
}

TEST(every_ask_has_all_of_the_waiting_time)
{
    struct world w = {.max_attempts = 9, .max_wait_ms = 700};

    plays(&w, SCRIPTS("turns: [" ASKS_FOR("600") ", " CALL ", " ASKS_FOR("600") ", " HELLO "]"),
          "a#1 provider_unavailable wait a#2 ok = a call from a\n"
          "a#1 provider_unavailable wait a#2 ok = hello from a\n");
}

TEST(an_answer_that_cannot_be_read_is_not_asked_for_again_but_of_another_target)
{
    struct world w = {.max_attempts = 5};

    plays(&w, SCRIPTS("turns: [" FAILS("bad_response") "]", "turns: [" HELLO "]"),
          "a#1 bad_response -> b#1 ok = hello from b\n");
}

TEST(nobody_waits_long_while_another_target_is_free)
{
    struct world w = {.max_attempts = 3};

    plays(&w,
          SCRIPTS("turns: [{error: provider_rate_limit, message: x, retry_after_ms: 61000}]",
                  "turns: [" HELLO "]"),
          "a#1 provider_rate_limit -> b#1 ok = hello from b\n");
}

TEST(a_target_that_was_limited_rests_in_later_asks)
{
    struct world w = {.max_attempts = 1};

    plays(&w,
          SCRIPTS("turns: [" FAILS("provider_rate_limit") ", " HELLO "]",
                  "turns: [" CALL ", " HELLO "]"),
          "a#1 provider_rate_limit -> b#1 ok = a call from b\n"
          "b#1 ok = hello from b\n");
}

TEST(text_that_was_shown_binds_the_answer_to_its_target)
{
    struct world w = {.max_attempts = 3}, v = {.max_attempts = 1, .drops_text = true};

    plays(&w, SCRIPTS("turns: [[{text: Once}, {cut: true}]]", "turns: [" HELLO "]"),
          "a#1 network kept = network from a\n");
    plays(&v, SCRIPTS("turns: [[{text: Once}, {cut: true}]]", "turns: [" HELLO "]"),
          "a#1 network dropped -> b#1 ok = hello from b\n");
}

TEST(a_run_that_refuses_to_pay_asks_nobody)
{
    struct world w = {.max_attempts = 3, .refuses = true};

    plays(&w, SCRIPTS("turns: [" HELLO "]", "turns: [" HELLO "]"), "= budget_exceeded\n");
}

TEST(a_run_that_cannot_let_a_request_leave_asks_nobody_else)
{
    struct world w = {.max_attempts = 3, .cannot_send = true};

    plays(&w, SCRIPTS("turns: [" HELLO "]", "turns: [" HELLO "]"),
          "a#1 network = network from a\n");
}

TEST(every_attempt_is_settled_with_its_cost)
{
    struct world w = {.max_attempts = 2};

    w.targets[0].price = (struct price){.input = 1000000, .output = 2000000, -1, -1};
    plays(&w,
          SCRIPTS("turns: [[{usage: {input: 10, output: 0}}, " FAILS(
              "network") "], "
                         "[{text: hello}, {usage: {input: 10, output: 5}}]]"),
          "a#1 network cost=10 wait a#2 ok cost=20 = hello from a\n");
}

RUN_TESTS(UNIT(the_first_target_answers),
          UNIT(overload_is_tried_again_here_before_another_target_is_asked),
          UNIT(a_refused_key_or_an_unknown_model_skips_the_target_at_once),
          UNIT(a_failure_that_no_other_target_would_mend_is_final),
          UNIT(the_last_error_comes_back_when_all_targets_fail),
          UNIT(the_providers_own_delay_is_honoured), UNIT(waits_double_up_to_a_minute),
          UNIT(a_wait_beyond_what_is_left_ends_the_attempts_at_once),
          UNIT(a_wait_beyond_what_is_left_moves_to_the_next_target),
          UNIT(every_ask_has_all_of_the_waiting_time),
          UNIT(an_answer_that_cannot_be_read_is_not_asked_for_again_but_of_another_target),
          UNIT(nobody_waits_long_while_another_target_is_free),
          UNIT(a_target_that_was_limited_rests_in_later_asks),
          UNIT(text_that_was_shown_binds_the_answer_to_its_target),
          UNIT(a_run_that_refuses_to_pay_asks_nobody),
          UNIT(a_run_that_cannot_let_a_request_leave_asks_nobody_else),
          UNIT(every_attempt_is_settled_with_its_cost))
