/* budget_test.c - limits of a session: what is refused, asked, warned of, and what comes back. */
#include "session/stage.h"
#include "sys/in_task.h"

#define ID "s"

/* A token costs a micro-cent; an answer takes 1000 in, 5 out, and is 5 long at most. */
#define TWO_ROUNDS                                                                                 \
    "turns:\n - [{tool: Echo, id: a, args: {text: x}}, {usage: {input: 1000, output: 5}}]\n"       \
    " - [{text: Done.}, {usage: {input: 1000, output: 5}}]\n"
#define ONE_ROUND "turns:\n - [{text: Done.}, {usage: {input: 1000, output: 5}}]\n"

static const struct given_answer yes = {.answer = {.kind = ANSWER_ONCE}};

static void open_with(struct stage *st, enum session_start start, struct budget_limits limits)
{
    st->world.targets[0].price = (struct price){1000000, 1000000, -1, -1};
    st->world.targets[0].max_output = 5;
    stage_open(st, &(struct session_options){.start = start, .id = S(ID), .budget = limits});
}

static void assert_refused(struct stage *st, const char *says)
{
    AUTO_FREE char *text = NULL;

    assert_int_equal(st->world.result.outcome, RUN_FAILED);
    assert_int_equal(st->world.result.error->kind, ERR_BUDGET_EXCEEDED);
    text = err_message(st->world.result.error);
    if (!strstr(text, says))
        fail_msg("%s", text);
}

IN_TASK(without_limits_everything_is_counted_and_nothing_refused)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 2010);
    assert_int_equal(st.session.budget.spent.microcents, 2010);
    assert_int_equal(st.session.budget.spent.n_rounds, 2);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 1);
    assert_int_equal(st.session.budget.n_held, 0);
    stage_close(&st);
}

IN_TASK(a_request_that_may_cost_too_much_does_not_leave)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.microcents = 1200});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_refused(&st, "used, and the next request may need");
    assert_int_equal(st.world.result.n_attempts, 1);
    stage_close(&st);
}

IN_TASK(tokens_have_a_limit)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tokens = 1005});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_refused(&st, "1005 tokens of 1005 tokens used");
    stage_close(&st);
}

IN_TASK(turns_have_a_limit)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.rounds = 1});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_refused(&st, "1 turn of 1 turn used");
    stage_close(&st);
}

IN_TASK(a_call_over_the_limit_is_told_to_the_model_and_ends_the_run)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tool_calls = 1});
    stage_run(&st,
              "turns:\n - [{tool: Echo, id: a, args: {text: x}}, {tool: Echo, id: b, args: {text: "
              "y}}]\n - text: Done.\n",
              "go");
    assert_refused(&st, "1 tool call of 1 tool call");
    assert_non_null(strstr(strbuf_cstr(&st.world.log), "b failed: budget_exceeded"));
    stage_close(&st);
}

IN_TASK(calls_up_to_the_limit_are_fine)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tool_calls = 1});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_close(&st);
}

IN_TASK(time_has_a_limit)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.active_ms = 3600000});
    st.session.budget.spent.active_ms = 3600000;
    stage_run(&st, ONE_ROUND, "go");
    assert_refused(&st, "3600 s of 3600 s");
    stage_close(&st);
}

IN_TASK(a_restart_is_no_way_around_it)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.microcents = 3000});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_close(&st);
    open_with(&st, SESSION_RESUME, (struct budget_limits){.microcents = 2010});
    stage_run(&st, ONE_ROUND, "more");
    assert_refused(&st, "$0.0000");
    assert_int_equal(st.world.result.n_attempts, 0);
    stage_close(&st);
}

IN_TASK(a_limit_may_ask_and_a_yes_grants_as_much_again)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.rounds = 1, .on_exceed = BUDGET_ASKS};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_SUSPENDED);
    assert_int_equal(st.world.result.asks[0].kind, ASK_BUDGET);
    stage_close(&st);

    open_with(&st, SESSION_RESUME, limits);
    assert_int_equal(st.session.loaded.n_asks, 1);
    st.world.input.answers = &yes;
    st.world.input.n_answers = 1;
    stage_run(&st, ONE_ROUND, NULL);
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_close(&st);

    open_with(&st, SESSION_RESUME, limits); /* both are used */
    stage_run(&st, ONE_ROUND, "again");
    assert_int_equal(st.world.result.outcome, RUN_SUSPENDED);
    stage_close(&st);
}

IN_TASK(a_no_ends_the_run)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.tokens = 1, .on_exceed = BUDGET_ASKS};
    struct given_answer no = {.answer = {.kind = ANSWER_NO}};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, ONE_ROUND, "go");
    st.world.input.answers = &no;
    st.world.input.n_answers = 1;
    stage_run(&st, ONE_ROUND, NULL);
    assert_refused(&st, "tokens");
    stage_close(&st);
}

IN_TASK(or_it_warns_once)
{
    AUTO(stage) struct stage st = {0};
    const char *warning;

    open_with(&st, SESSION_NEW, (struct budget_limits){.tokens = 1, .on_exceed = BUDGET_WARNS});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    warning = strstr(strbuf_cstr(&st.world.log), "warning budget: budget exceeded: 0 tokens of 1 "
                                                 "token used, and the next request may need ");
    assert_non_null(warning);
    assert_null(strstr(warning + 1, "warning budget"));
    stage_close(&st);
}

IN_TASK(a_call_over_a_limit_that_only_warns_is_reported_with_the_next_request)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tool_calls = 1, .on_exceed = BUDGET_WARNS});
    stage_run(&st,
              "turns:\n - [{tool: Echo, id: a, args: {text: x}}, {tool: Echo, id: b, args: {text: "
              "y}}]\n - text: Done.\n",
              "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    assert_non_null(strstr(strbuf_cstr(&st.world.log),
                           "warning budget: budget exceeded: 1 tool call of 1 tool call"));
    stage_close(&st);
}

IN_TASK(money_is_not_limited_silently_where_prices_are_unknown)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.microcents = 100000});
    st.world.targets[0].price = (struct price){-1, -1, -1, -1};
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.error->kind, ERR_CONFIGURATION);
    assert_int_equal(st.world.result.n_attempts, 1);
    stage_close(&st);
}

/* --- questions --- */

/* What the events of a run said of the budget's question. */
static void note_asks(struct world *w, const struct event *e)
{
    if (e->type == EVENT_ASKED || e->type == EVENT_ANSWERED)
        strbuf_addf(&w->log, "%s %s %" STR_FMT "\n", event_type_name(e->type),
                    ask_kind_name(e->body.ask.ask->kind), STR_ARG(e->body.ask.ask->text));
}

static void say(struct stage *st, const struct given_answer *answer)
{
    st->world.input.answers = answer;
    st->world.input.n_answers = 1;
}

IN_TASK(one_yes_is_enough_for_the_next_request_however_small_the_limit)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.tokens = 50, .on_exceed = BUDGET_ASKS};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, ONE_ROUND, "go");
    assert_int_equal(st.world.result.outcome, RUN_SUSPENDED);
    say(&st, &yes);
    stage_run(&st, ONE_ROUND, NULL);
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_close(&st);
}

IN_TASK(a_question_names_the_limit_as_it_is_now_and_as_a_yes_makes_it)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.rounds = 2, .on_exceed = BUDGET_ASKS};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, TWO_ROUNDS, "go");
    stage_run(&st, ONE_ROUND, "more");
    assert_str(st.world.result.asks[0].text,
               "2 turns of 2 turns used. Continue with a limit of 4 turns?");
    say(&st, &yes);
    stage_run(&st, TWO_ROUNDS, NULL);
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_run(&st, ONE_ROUND, "and more");
    assert_str(st.world.result.asks[0].text,
               "4 turns of 4 turns used. Continue with a limit of 6 turns?");
    stage_close(&st);
}

IN_TASK(a_yes_to_one_limit_leaves_the_others)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.rounds = 2, .tokens = 50, .on_exceed = BUDGET_ASKS};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, ONE_ROUND, "go");
    say(&st, &yes);
    stage_run(&st, ONE_ROUND, NULL); /* takes a hundred times the tokens */
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    st.session.budget.limits.tokens = 0;
    stage_run(&st, TWO_ROUNDS, "more");
    assert_str(st.world.result.asks[0].text,
               "2 turns of 2 turns used. Continue with a limit of 4 turns?");
    stage_close(&st);
}

IN_TASK(what_is_asked_and_answered_is_told_as_events)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.rounds = 1, .on_exceed = BUDGET_ASKS};

    open_with(&st, SESSION_NEW, limits);
    st.world.on_event = note_asks;
    stage_run(&st, TWO_ROUNDS, "go");
    assert_non_null(strstr(strbuf_cstr(&st.world.log),
                           "asked budget 1 turn of 1 turn used. Continue with a limit of 2 "
                           "turns?\n"));
    say(&st, &yes);
    stage_run(&st, ONE_ROUND, NULL);
    assert_non_null(strstr(strbuf_cstr(&st.world.log), "answered budget \n"));
    stage_close(&st);
}

/* --- processes that die --- */

/* Only what came before the n-th record of this type, and that, has reached the disk. */
static void die_after(struct stage *st, const char *type, size_t n)
{
    AUTO(store_page) struct store_page page;
    struct store *left;
    size_t i = 0;

    stage_close(st);
    stage_records(st->store, ID, &page);
    for (; n; i++) {
        assert_true(i < page.n);
        n -= str_is(page.records[i].type, type);
    }
    left = stage_cut(st->store, ID, i);
    store_free(st->store);
    st->store = left;
}

/* Kills it in the first answer of each process, until no request is made any more. */
static size_t count_requests(struct stage *st, struct budget_limits limits, const char *script,
                             const char *dies_after)
{
    size_t n = 0;

    open_with(st, SESSION_NEW, limits);
    stage_run(st, script, "go");
    while (st->world.result.n_attempts && n < 100) {
        die_after(st, dies_after, ++n);
        open_with(st, SESSION_RESUME, limits);
        stage_run(st, script, NULL);
    }
    return n;
}

IN_TASK(a_request_whose_process_died_counts_as_it_was_reserved)
{
    AUTO(stage) struct stage st = {0};
    int64_t reserved;

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, ONE_ROUND, "go");
    die_after(&st, "provider_request", 1);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    reserved = usage_total(&st.session.budget.spent.usage);
    assert_in_range(reserved, 6, 1000); /* the toys' schemas, "go", and an answer of 5 */
    assert_int_equal(st.session.budget.spent.microcents, reserved);
    assert_true(st.session.budget.spent.is_estimated);
    assert_int_equal(st.session.budget.spent.n_rounds, 1);
    stage_run(&st, ONE_ROUND, NULL);
    assert_int_equal(usage_total(&st.session.budget.spent.usage), reserved + 1005);
    stage_close(&st);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(usage_total(&st.session.budget.spent.usage), reserved + 1005);
    assert_true(st.session.budget.spent.is_estimated);
    stage_close(&st);
}

IN_TASK(requests_of_processes_that_die_stay_within_a_budget_of_tokens)
{
    AUTO(stage) struct stage st = {0};
    size_t n =
        count_requests(&st, (struct budget_limits){.tokens = 2000}, ONE_ROUND, "provider_request");

    assert_refused(&st, "of 2000 tokens used");
    assert_in_range(n, 2, 2000 / 50);
    stage_close(&st);
}

IN_TASK(and_within_a_budget_of_money)
{
    AUTO(stage) struct stage st = {0};
    size_t n = count_requests(&st, (struct budget_limits){.microcents = 2000}, ONE_ROUND,
                              "provider_request");

    assert_refused(&st, " used");
    assert_in_range(n, 2, 2000 / 50);
    stage_close(&st);
}

IN_TASK(an_answer_that_had_come_in_part_counts_as_long_as_it_was)
{
    AUTO(stage) struct stage st = {0};
    int64_t output;

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, "turns:\n - [{text: \"thirty bytes of a long answer.\"}]\n", "go");
    die_after(&st, "provider_stream", 1);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    output = st.session.budget.spent.usage.output;
    assert_int_equal(output, 10);
    stage_run(&st, ONE_ROUND, NULL);
    die_after(&st, "attempt_begin", 2); /* the first one's account is kept */
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(st.session.budget.spent.usage.output, 10 + 5);
    stage_close(&st);
}

IN_TASK(a_whole_answer_counts_as_its_provider_said)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, ONE_ROUND, "go");
    die_after(&st, "provider_response_raw", 1);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 1005);
    assert_false(st.session.budget.spent.is_estimated);
    stage_close(&st);
}

IN_TASK(retries_of_processes_that_die_count_as_well)
{
    AUTO(stage) struct stage st = {0};
    int64_t once;

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, "turns:\n - [{error: provider_unavailable}]\n - [{text: Done.}]\n", "go");
    die_after(&st, "attempt_begin", 2);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    once = usage_total(&st.session.budget.spent.usage); /* the one that was refused took nothing */
    assert_true(once > 5);
    stage_run(&st, "turns:\n - [{error: provider_unavailable}]\n - [{text: Done.}]\n", NULL);
    die_after(&st, "attempt_begin", 4);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 2 * once);
    stage_close(&st);
}

IN_TASK(a_summary_whose_process_died_counts)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, ONE_ROUND, "go");
    stage_compact(&st, "turns:\n - [{text: S}, {usage: {input: 7, output: 1}}]\n", "");
    die_after(&st, "attempt_begin", 2);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_true(usage_total(&st.session.budget.spent.usage) >= 1005 + 1005);
    assert_true(st.session.budget.spent.is_estimated);
    stage_close(&st);
}

IN_TASK(what_was_granted_survives_a_process_that_dies)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.rounds = 1, .on_exceed = BUDGET_ASKS};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, TWO_ROUNDS, "go");
    say(&st, &yes);
    stage_run(&st, TWO_ROUNDS, NULL);
    die_after(&st, "provider_request", 2);
    open_with(&st, SESSION_RESUME, limits);
    stage_run(&st, ONE_ROUND, NULL);
    assert_str(st.world.result.asks[0].text,
               "2 turns of 2 turns used. Continue with a limit of 3 turns?");
    stage_close(&st);
}

static struct err *work_and_die_twice(void *arg)
{
    AUTO(stage) struct stage st = {0};
    const char *slow = "turns:\n - [{text: a, delay_ms: 1000}, {text: b}]\n";

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(&st, slow, "go");
    die_after(&st, "attempt_end", 1);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(st.session.budget.spent.active_ms, 1000);
    assert_ok(task_sleep(5000)); /* between the two */
    stage_run(&st, slow, "again");
    die_after(&st, "attempt_end", 2);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(st.session.budget.spent.active_ms, 2000);
    stage_close(&st);
    return NULL;
}

TEST(time_at_work_counts_over_all_processes_that_died)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 1700000000000);
    l = loop_new(&clock.clock);
    assert_ok(loop_run(l, work_and_die_twice, NULL));
}

static struct err *die_before_anything_comes(void *arg)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.active_ms = 5000};

    assert_int_equal(count_requests(&st, limits, ONE_ROUND, "provider_request"), 5);
    assert_refused(&st, "5 s of 5 s used");
    stage_close(&st);
    return NULL;
}

TEST(a_process_that_dies_before_anything_comes_has_used_the_time_that_it_reserved)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 1700000000000);
    l = loop_new(&clock.clock);
    assert_ok(loop_run(l, die_before_anything_comes, NULL));
}

/* The last record before the answer: of the time that is reserved while nothing comes. */
static struct err *die_in_long_waits(void *arg)
{
    static const char *const waits[] = {
        "turns:\n - [{text: a, delay_ms: 20000}]\n",
        "turns:\n - [{tool: Slow, id: a, args: {ms: 20000}}]\n - text: Done.\n"};
    struct budget_limits limits = {.active_ms = 60000};

    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        AUTO(stage) struct stage st = {0};

        open_with(&st, SESSION_NEW, limits);
        stage_run(&st, waits[i], "go");
        assert_int_equal(st.world.result.outcome, RUN_DONE);
        die_after(&st, "tool_state", 38); /* two a second */
        open_with(&st, SESSION_RESUME, limits);
        assert_in_range(st.session.budget.spent.active_ms, 19000, 21000);
        stage_run(&st, ONE_ROUND, "again");
        die_after(&st, "tool_state", 39);
        open_with(&st, SESSION_RESUME, limits);
        assert_in_range(st.session.budget.spent.active_ms, 20000, 22000);
        stage_close(&st);
    }
    return NULL;
}

TEST(a_long_wait_counts_up_to_where_the_process_died)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 1700000000000);
    l = loop_new(&clock.clock);
    assert_ok(loop_run(l, die_in_long_waits, NULL));
}

/* --- what nobody counted --- */

IN_TASK(an_answer_without_a_count_takes_what_was_reserved)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tokens = 100000});
    stage_run(&st, "turns:\n - text: Done.\n", "go");
    assert_true(usage_total(&st.session.budget.spent.usage) > 5);
    assert_true(st.session.budget.spent.is_estimated);
    assert_false(st.world.result.cost_is_known);
    stage_close(&st);
}

IN_TASK(a_request_that_was_refused_takes_nothing)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tokens = 100000});
    stage_run(&st, "turns:\n - [{error: provider_auth}]\n", "go");
    assert_int_equal(st.world.result.outcome, RUN_FAILED);
    assert_false(usage_is_known(&st.session.budget.spent.usage));
    assert_false(st.session.budget.spent.is_estimated);
    stage_close(&st);
}

/* --- requests side by side --- */

IN_TASK(what_is_reserved_for_requests_under_way_is_not_free)
{
    struct budget_limits limits = {.tokens = 4000};
    struct budget b;
    struct budget_keeper hooks;
    struct target target = {.price = {-1, -1, -1, -1}};
    struct attempt one = {.target = &target, .number = 1}, other = one;
    struct reservation r = {.input = 1000, .output = 1024, .microcents = -1};
    struct settlement took = {.usage = USAGE_UNKNOWN};
    struct budget_word word = {0};

    budget_init(&b, &limits);
    hooks = budget_keeper_of(&b);
    assert_ok(hooks.reserve(hooks.self, &one, &r, &word));
    assert_err(hooks.reserve(hooks.self, &other, &r, &word), ERR_BUDGET_EXCEEDED);
    took.usage.input = 10;
    hooks.settle(hooks.self, &one, &took);
    assert_ok(hooks.reserve(hooks.self, &other, &r, &word));
    hooks.settle(hooks.self, &other, &took);
    b.limits = (struct budget_limits){.microcents = 150};
    r.microcents = 100;
    assert_ok(hooks.reserve(hooks.self, &one, &r, &word));
    assert_err(hooks.reserve(hooks.self, &other, &r, &word), ERR_BUDGET_EXCEEDED);
    budget_done(&b);
}

static struct budget_keeper child_of(struct budget *child, struct budget *parent)
{
    budget_init(child, &(struct budget_limits){0});
    child->parent = parent;
    return budget_keeper_of(child);
}

IN_TASK(nor_is_what_other_runs_of_the_tree_have_reserved)
{
    struct budget root, left, right, below;
    struct budget_keeper of_left, of_below;
    struct target target = {.price = {-1, -1, -1, -1}};
    struct attempt one = {.target = &target, .number = 1}, other = one;
    struct reservation r = {.input = 1000, .output = 1024, .microcents = -1};
    struct settlement took = {.usage = USAGE_UNKNOWN};
    struct budget_word word = {0};

    budget_init(&root, &(struct budget_limits){.tokens = 4000});
    of_left = child_of(&left, &root);
    child_of(&right, &root);
    of_below = child_of(&below, &right);
    assert_true(of_below.is_limited);
    assert_ok(of_left.reserve(of_left.self, &one, &r, &word));
    assert_err(of_below.reserve(of_below.self, &other, &r, &word), ERR_BUDGET_EXCEEDED);
    took.usage.input = 10;
    of_left.settle(of_left.self, &one, &took);
    assert_ok(of_below.reserve(of_below.self, &other, &r, &word));
    of_below.settle(of_below.self, &other, &took);
    assert_int_equal(usage_total(&root.spent.usage), 20);
    assert_int_equal(usage_total(&left.spent.usage), 10);
    assert_int_equal(usage_total(&right.spent.usage), 10);
    assert_int_equal(usage_total(&below.spent.usage), 10);
    budget_done(&below);
    budget_done(&right);
    budget_done(&left);
    budget_done(&root);
}

IN_TASK(calls_of_child_runs_count_for_all_above_them)
{
    struct budget root, child;
    struct budget_keeper of_child, of_root;

    budget_init(&root, &(struct budget_limits){.tool_calls = 2});
    of_root = budget_keeper_of(&root);
    of_child = child_of(&child, &root);
    assert_ok(of_child.take_call(of_child.self, NULL));
    assert_ok(of_root.take_call(of_root.self, NULL));
    assert_err(of_child.take_call(of_child.self, NULL), ERR_BUDGET_EXCEEDED);
    assert_int_equal(root.spent.n_tool_calls, 2);
    assert_int_equal(child.spent.n_tool_calls, 1);
    budget_done(&child);
    budget_done(&root);
}

/* --- what the next process knows of the turn --- */

IN_TASK(a_turn_is_known_as_far_as_it_had_come)
{
    AUTO(stage) struct stage st = {0};
    const struct turn_progress *turn = &st.session.loaded.turn;
    struct turn_progress finished;

    open_with(&st, SESSION_NEW, (struct budget_limits){0});
    stage_run(
        &st,
        "turns:\n - [{tool: Echo, id: a, args: {}}]\n - [{tool: Echo, id: b, args: {}}, "
        "{tool: Gone, id: c, args: {}}]\n - [{tool: Gone, id: d, args: {}}]\n - text: Well.\n",
        "go");
    die_after(&st, "tool_execution_result", 3); /* that of Gone is not in the history yet */
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(turn->n_rounds, 2);
    assert_int_equal(turn->n_corrections, 2);
    assert_false(turn->called_unknown);
    stage_run(&st, "turns:\n - [{tool: Echo, id: d, args: {text: x}}]\n - text: Well.\n", NULL);
    assert_int_equal(st.world.result.forced, FINAL_NONE); /* one call, though reported twice */
    stage_run(&st,
              "turns:\n - [{tool: Gone, id: e, args: {}}]\n - [{tool: Gone, id: f, args: {}}]\n"
              " - text: Without, then.\n",
              "again");
    die_after(&st, "final_turn", 1);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    assert_int_equal(turn->n_rounds, 2);
    assert_int_equal(turn->forced, FINAL_UNKNOWN_TOOLS);
    stage_run(&st, ONE_ROUND, NULL);
    assert_int_equal(st.world.result.forced, FINAL_UNKNOWN_TOOLS);
    stage_run(&st, ONE_ROUND, "something else");
    stage_close(&st);
    open_with(&st, SESSION_RESUME, (struct budget_limits){0});
    finished = session_turn(&st.session); /* what a run without a prompt would continue */
    assert_int_equal(finished.n_rounds, 1);
    assert_int_equal(finished.n_corrections, 0);
    assert_int_equal(finished.forced, FINAL_NONE);
    stage_close(&st);
}

/* --- how long an answer may be --- */

static int64_t max_output(struct budget_limits limits, struct price price, struct reservation r)
{
    struct target target = {.price = price};
    struct attempt a = {.target = &target, .number = 1};
    struct budget_word word = {0};
    struct budget_keeper hooks;
    struct budget b;

    budget_init(&b, &limits);
    hooks = budget_keeper_of(&b);
    assert_ok(hooks.reserve(hooks.self, &a, &r, &word));
    budget_done(&b);
    return r.max_output;
}

TEST(an_answer_may_be_as_long_as_what_is_left_pays_for)
{
    struct price price = {300000000, 1500000000, -1, -1}; /* $3 and $15 a million */
    struct reservation r = {.input = 1000, .output = 1024, .microcents = 1836000};
    struct budget_limits money = {.microcents = 5 * MICROCENTS_PER_USD / 100};

    assert_int_equal(max_output((struct budget_limits){0}, price, r), 0);
    assert_int_equal(max_output((struct budget_limits){.tokens = 2100}, price, r), 1024);
    assert_int_equal(max_output((struct budget_limits){.tokens = 10000}, price, r), 8192);
    assert_int_equal(max_output(money, price, r), 2048); /* $0.047 pays for 3133 */
    money.on_exceed = BUDGET_WARNS;
    assert_int_equal(max_output(money, price, r), 0);
    r.output = 100; /* no longer one was asked for */
    assert_int_equal(max_output((struct budget_limits){.tokens = 1120}, price, r), 100);
}

RUN_TESTS(
    UNIT(without_limits_everything_is_counted_and_nothing_refused),
    UNIT(a_request_that_may_cost_too_much_does_not_leave), UNIT(tokens_have_a_limit),
    UNIT(turns_have_a_limit), UNIT(a_call_over_the_limit_is_told_to_the_model_and_ends_the_run),
    UNIT(calls_up_to_the_limit_are_fine), UNIT(time_has_a_limit),
    UNIT(a_restart_is_no_way_around_it), UNIT(a_limit_may_ask_and_a_yes_grants_as_much_again),
    UNIT(a_no_ends_the_run), UNIT(or_it_warns_once),
    UNIT(a_call_over_a_limit_that_only_warns_is_reported_with_the_next_request),
    UNIT(money_is_not_limited_silently_where_prices_are_unknown),
    UNIT(one_yes_is_enough_for_the_next_request_however_small_the_limit),
    UNIT(a_question_names_the_limit_as_it_is_now_and_as_a_yes_makes_it),
    UNIT(a_yes_to_one_limit_leaves_the_others), UNIT(what_is_asked_and_answered_is_told_as_events),
    UNIT(a_request_whose_process_died_counts_as_it_was_reserved),
    UNIT(requests_of_processes_that_die_stay_within_a_budget_of_tokens),
    UNIT(and_within_a_budget_of_money),
    UNIT(an_answer_that_had_come_in_part_counts_as_long_as_it_was),
    UNIT(a_whole_answer_counts_as_its_provider_said),
    UNIT(retries_of_processes_that_die_count_as_well), UNIT(a_summary_whose_process_died_counts),
    UNIT(what_was_granted_survives_a_process_that_dies),
    UNIT(time_at_work_counts_over_all_processes_that_died),
    UNIT(a_process_that_dies_before_anything_comes_has_used_the_time_that_it_reserved),
    UNIT(a_long_wait_counts_up_to_where_the_process_died),
    UNIT(an_answer_without_a_count_takes_what_was_reserved),
    UNIT(a_request_that_was_refused_takes_nothing),
    UNIT(what_is_reserved_for_requests_under_way_is_not_free),
    UNIT(nor_is_what_other_runs_of_the_tree_have_reserved),
    UNIT(calls_of_child_runs_count_for_all_above_them), UNIT(a_turn_is_known_as_far_as_it_had_come),
    UNIT(an_answer_may_be_as_long_as_what_is_left_pays_for));
