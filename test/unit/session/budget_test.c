/* budget_test.c - limits of a session: what is refused, asked, warned of, and what comes back. */
#include "session/stage.h"
#include "sys/in_task.h"

#define ID "s"

/* A token costs a micro-cent; an answer takes 10 in, 5 out. */
#define TWO_ROUNDS                                                                                 \
    "turns:\n - [{tool: Echo, id: a, args: {text: x}}, {usage: {input: 10, output: 5}}]\n"         \
    " - [{text: Done.}, {usage: {input: 10, output: 5}}]\n"
#define ONE_ROUND "turns:\n - [{text: Done.}, {usage: {input: 10, output: 5}}]\n"

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
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 30);
    assert_int_equal(st.session.budget.spent.microcents, 30);
    assert_int_equal(st.session.budget.spent.n_rounds, 2);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 1);
    assert_int_equal(st.session.budget.n_reserved, 0);
    stage_close(&st);
}

IN_TASK(a_request_that_may_cost_too_much_does_not_leave)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.microcents = 16});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_refused(&st, "are used, and the next request may take");
    assert_int_equal(st.world.result.n_attempts, 1);
    stage_close(&st);
}

IN_TASK(tokens_have_a_limit)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tokens = 15});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_refused(&st, "15 tokens of 15 tokens are used");
    stage_close(&st);
}

IN_TASK(turns_have_a_limit)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.rounds = 1});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_refused(&st, "1 turns of 1 turns");
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
    assert_refused(&st, "1 tool calls of 1 tool calls");
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

    open_with(&st, SESSION_NEW, (struct budget_limits){.microcents = 1000});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_close(&st);
    open_with(&st, SESSION_RESUME, (struct budget_limits){.microcents = 30});
    stage_run(&st, ONE_ROUND, "more");
    assert_refused(&st, "$0.0000");
    assert_int_equal(st.world.result.n_attempts, 0);
    stage_close(&st);
}

IN_TASK(a_limit_may_ask_and_a_yes_grants_as_much_again)
{
    AUTO(stage) struct stage st = {0};
    struct budget_limits limits = {.rounds = 1, .on_exceed = BUDGET_ASKS};
    struct given_answer yes = {.answer = {.kind = ANSWER_ONCE}};

    open_with(&st, SESSION_NEW, limits);
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_SUSPENDED);
    assert_int_equal(st.world.result.asks[0].kind, ASK_BUDGET);
    stage_close(&st);

    open_with(&st, SESSION_RESUME, limits);
    assert_int_equal(st.session.loaded.n_asks, 1);
    st.world.options.answers = &yes;
    st.world.options.n_answers = 1;
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
    st.world.options.answers = &no;
    st.world.options.n_answers = 1;
    stage_run(&st, ONE_ROUND, NULL);
    assert_refused(&st, "tokens");
    stage_close(&st);
}

IN_TASK(or_it_warns_once)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.tokens = 1, .on_exceed = BUDGET_WARNS});
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    assert_str(strbuf_str(&st.notices), "the budget is spent: 0 tokens of 1 tokens are used, "
                                        "and the next request may take 10 tokens; the run goes "
                                        "on\n");
    stage_close(&st);
}

IN_TASK(money_is_not_limited_silently_where_prices_are_unknown)
{
    AUTO(stage) struct stage st = {0};

    open_with(&st, SESSION_NEW, (struct budget_limits){.microcents = 1000});
    st.world.targets[0].price = (struct price){-1, -1, -1, -1};
    stage_run(&st, TWO_ROUNDS, "go");
    assert_int_equal(st.world.result.error->kind, ERR_CONFIGURATION);
    assert_int_equal(st.world.result.n_attempts, 1);
    stage_close(&st);
}

RUN_TESTS(UNIT(without_limits_everything_is_counted_and_nothing_refused),
          UNIT(a_request_that_may_cost_too_much_does_not_leave), UNIT(tokens_have_a_limit),
          UNIT(turns_have_a_limit),
          UNIT(a_call_over_the_limit_is_told_to_the_model_and_ends_the_run),
          UNIT(calls_up_to_the_limit_are_fine), UNIT(time_has_a_limit),
          UNIT(a_restart_is_no_way_around_it), UNIT(a_limit_may_ask_and_a_yes_grants_as_much_again),
          UNIT(a_no_ends_the_run), UNIT(or_it_warns_once),
          UNIT(money_is_not_limited_silently_where_prices_are_unknown));
