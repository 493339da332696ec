/* session_test.c - sessions as their users see them: opened, run, opened again, copied, ended. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "session/codec/codec.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                                    again = {.start = SESSION_RESUME, .id = {ID, 1}};

static size_t count_type(struct store *s, const char *id, const char *type)
{
    AUTO(store_page) struct store_page page;
    size_t n = 0;

    stage_records(s, id, &page);
    for (size_t i = 0; i < page.n; i++)
        n += str_is(page.records[i].type, type);
    return n;
}

static bool exists(struct store *s, const char *id)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    bool found;

    assert_ok(store_find(s, str_of(id), &a, &summary, &found));
    return found;
}

/* --- opening --- */

IN_TASK(history_state_and_totals_come_back)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    stage_run(
        &st,
        "turns:\n - [{tool: State, id: a, args: {value: 7}}, {usage: {input: 10, output: 2}}]\n"
        " - [{text: One.}, {usage: {input: 20, output: 3}}]\n",
        "first");
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(st.session.loaded.last_run, LAST_RUN_ENDED);
    assert_false(session_can_resume(&st.session));
    assert_int_equal(st.session.conversation.history.n_messages, 4);
    assert_int_equal(
        json_int_or(tool_state_get(st.session.conversation.state, STATE_ASKED, S("toy")), 0), 7);
    assert_int_equal(usage_total(&st.session.budget.spent.usage), 35);
    assert_int_equal(st.session.budget.spent.n_rounds, 2);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 1);
    strbuf_clear(&st.world.log);
    stage_run(&st, "turns:\n - text: Two.\n", "second");
    assert_transcript(&st.world, "+4 user: \"second\"\n"
                                 "ask m1 tools=7\n"
                                 "    user: \"first\"\n"
                                 "    assistant: State#a\n"
                                 "    tool: a \"set\"\n"
                                 "    assistant: \"One.\"\n"
                                 "    user: \"second\"\n"
                                 "+5 assistant: \"Two.\"\n"
                                 "= done: \"Two.\"\n");
    assert_int_equal(st.session.conversation.stream.turn, 2);
    stage_close(&st);
}

IN_TASK(a_new_session_does_not_take_the_id_of_another)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - text: One.\n", "first");
    stage_close(&st);
    assert_err(stage_try_open(&st, &fresh), ERR_VALIDATION);
    session_done(&st.session);
    stage_open(&st, &again); /* its lease was given back */
    stage_close(&st);
}

IN_TASK(a_session_that_is_open_is_not_opened_twice)
{
    AUTO(stage) struct stage st = {0}, other = {0};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - text: One.\n", "first");
    other.store = st.store;
    assert_err(stage_try_open(&other, &again), ERR_STORAGE);
    session_done(&other.session);
    other.store = NULL;
    stage_close(&st);
}

IN_TASK(a_session_in_which_nothing_happened_leaves_nothing)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    stage_close(&st);
    assert_false(exists(st.store, ID));
}

IN_TASK(the_end_is_told_once)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - text: One.\n", "first");
    assert_ok(session_shutdown(&st.session, "clear"));
    assert_ok(session_shutdown(&st.session, "other"));
    session_done(&st.session);
    assert_int_equal(count_type(st.store, ID, "session_shutdown"), 1);
}

/* --- suspended runs --- */

IN_TASK(a_question_is_answered_in_another_process)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    struct given_answer green = {.call_id = S("q"), .answer = {.kind = ANSWER_VALUE}};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - [{tool: Echo, id: e, args: {text: x}}, {tool: Wait, id: q}]\n",
              "go");
    assert_int_equal(st.world.result.outcome, RUN_SUSPENDED);
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(st.session.loaded.last_run, LAST_RUN_SUSPENDED);
    assert_int_equal(st.session.loaded.n_asks, 1);
    assert_str(st.session.loaded.asks[0].text, "which?");
    assert_true(session_can_resume(&st.session));
    green.answer.value = json_new_str(&a, S("green"));
    st.world.input.answers = &green;
    st.world.input.n_answers = 1;
    strbuf_clear(&st.world.log);
    stage_run(&st, "turns:\n - text: Green it is.\n", NULL);
    assert_transcript(&st.world, "run Wait#q\n"
                                 "+3 tool: q \"answered: green\"\n"
                                 "ask m1 tools=7\n"
                                 "    user: \"go\"\n"
                                 "    assistant: Echo#e Wait#q\n"
                                 "    tool: e \"x\"\n"
                                 "    tool: q \"answered: green\"\n"
                                 "+4 assistant: \"Green it is.\"\n"
                                 "= done: \"Green it is.\"\n");
    stage_close(&st);
}

/* --- copies --- */

IN_TASK(a_fork_goes_on_by_itself)
{
    AUTO(stage) struct stage st = {0};
    struct session_options fork = {.start = SESSION_FORK, .id = S("f"), .source = S(ID)};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - [{tool: State, id: a, args: {value: 7}}]\n - text: One.\n", "first");
    stage_close(&st);
    stage_open(&st, &fork);
    assert_int_equal(
        json_int_or(tool_state_get(st.session.conversation.state, STATE_ASKED, S("toy")), 0), 7);
    stage_run(&st, "turns:\n - text: Two.\n", "second");
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(st.session.conversation.history.n_messages, 4);
    stage_close(&st);
    stage_open(&st, &(struct session_options){.start = SESSION_RESUME, .id = S("f")});
    assert_int_equal(st.session.conversation.history.n_messages, 6);
    assert_int_equal(
        json_int_or(tool_state_get(st.session.conversation.state, STATE_ASKED, S("toy")), 0), 7);
    stage_close(&st);
}

IN_TASK(a_fork_up_to_an_event_has_what_was_before_it)
{
    AUTO(stage) struct stage st = {0};
    struct session_options fork = {.start = SESSION_FORK, .id = S("f"), .source = S(ID)};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - text: One.\n", "first");
    fork.source_seq = st.session.conversation.stream.next_seq;
    stage_run(&st, "turns:\n - text: Two.\n", "second");
    stage_close(&st);
    stage_open(&st, &fork);
    assert_int_equal(st.session.conversation.history.n_messages, 2);
    stage_close(&st);
}

IN_TASK(a_fork_of_a_session_at_work_leaves_its_calls_alone)
{
    AUTO(stage) struct stage st = {0}, copy = {0};
    struct session_options fork = {.start = SESSION_FORK, .id = S("f"), .source = S(ID)};
    AUTO(store_page) struct store_page page;
    size_t n = 0;

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: One.\n", "go");
    stage_close(&st);
    stage_records(st.store, ID, &page);
    while (!str_is(page.records[n].type, "tool_batch_started"))
        n++;
    copy.store = stage_cut(st.store, ID, n);
    stage_open(&copy, &fork);
    assert_true(session_can_resume(&copy.session)); /* with the results, not with the calls */
    stage_run(&copy, "turns:\n - text: I see.\n", NULL);
    assert_null(strstr(strbuf_cstr(&copy.world.log), "run Echo"));
    assert_non_null(strstr(strbuf_cstr(&copy.world.log), "copied from"));
    assert_int_equal(copy.world.result.outcome, RUN_DONE);
    stage_close(&copy);
}

/* --- changes by hand --- */

IN_TASK(a_history_that_was_cleared_stays_empty)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - [{tool: State, id: a, args: {value: 7}}]\n - text: One.\n", "first");
    assert_ok(session_clear(&st.session));
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(st.session.conversation.history.n_messages, 0);
    assert_false(session_can_resume(&st.session));
    assert_int_equal(
        json_int_or(tool_state_get(st.session.conversation.state, STATE_ASKED, S("toy")), 0), 7);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 1);
    stage_run(&st, "turns:\n - text: Two.\n", "second");
    assert_int_equal(st.session.conversation.history.n_messages, 2);
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(st.session.conversation.history.n_messages, 2);
    stage_close(&st);
}

IN_TASK(a_message_can_be_put_in)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    assert_ok(session_inject(&st.session, ROLE_USER, S("Remember: green.")));
    stage_close(&st);
    stage_open(&st, &again);
    stage_run(&st, "turns:\n - text: I will.\n", "ok?");
    assert_non_null(strstr(strbuf_cstr(&st.world.log), "    user: \"Remember: green.\"\n"));
    stage_close(&st);
}

IN_TASK(a_name_is_found_again)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    struct store_summary *items;
    size_t n = 0;

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - text: One.\n", "first");
    assert_ok(session_rename(&st.session, S("green")));
    stage_close(&st);
    assert_ok(store_list(st.store, &(struct store_list_query){.name = S("green")}, &a, &items, &n));
    assert_int_equal(n, 1);
    assert_str(items[0].id, ID);
}

IN_TASK(what_was_allowed_for_the_session_is_known_and_can_be_taken_back)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    struct str *patterns;

    stage_open(&st, &fresh);
    tool_state_set(st.session.conversation.state, STATE_ALLOWED, S("Bash(make)"),
                   json_new_bool(&a, true));
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(session_allowed(&st.session, &a, &patterns), 1);
    assert_str(patterns[0], "Bash(make)");
    session_clear_allowed(&st.session);
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(session_allowed(&st.session, &a, &patterns), 0);
    stage_close(&st);
}

/* --- background commands --- */

IN_TASK(a_background_command_of_a_dead_process_is_told_to_the_model)
{
    AUTO(stage) struct stage st = {0};
    AUTO(arena) struct arena a = {0};
    struct json *shell = json_new(&a, JSON_OBJECT);

    json_set_str(&a, shell, "command", S("make watch"));
    json_set_str(&a, shell, "state", S("running"));
    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - text: One.\n", "first");
    tool_state_set(st.session.conversation.state, STATE_SHELL, S("bash_1"), shell);
    stage_close(&st);
    stage_open(&st, &again);
    assert_str(
        json_get_text(tool_state_get(st.session.conversation.state, STATE_SHELL, S("bash_1")),
                      "state"),
        "unknown");
    strbuf_clear(&st.world.log);
    stage_run(&st, "turns:\n - text: Two.\n", "second");
    assert_non_null(strstr(strbuf_cstr(&st.world.log), "- bash_1: make watch\n"));
    strbuf_clear(&st.world.log);
    stage_close(&st);
    stage_open(&st, &again); /* and only once */
    stage_run(&st, "turns:\n - text: Three.\n", "third");
    assert_null(strstr(strbuf_cstr(&st.world.log), "+5 user: \"third\" \"[keel"));
    stage_close(&st);
}

/* --- checkpoints --- */

IN_TASK(a_long_session_is_not_read_from_its_beginning)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    for (int i = 0; i < 60; i++)
        stage_run(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: One.\n", "go");
    assert_true(count_type(st.store, ID, "checkpoint") >= 1);
    stage_close(&st);
    stage_open(&st, &again);
    assert_int_equal(st.session.conversation.history.n_messages, 240);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 60);
    assert_int_equal(st.session.budget.spent.n_rounds, 120);
    stage_close(&st);
}

RUN_TESTS(UNIT(history_state_and_totals_come_back),
          UNIT(a_new_session_does_not_take_the_id_of_another),
          UNIT(a_session_that_is_open_is_not_opened_twice),
          UNIT(a_session_in_which_nothing_happened_leaves_nothing), UNIT(the_end_is_told_once),
          UNIT(a_question_is_answered_in_another_process), UNIT(a_fork_goes_on_by_itself),
          UNIT(a_fork_up_to_an_event_has_what_was_before_it),
          UNIT(a_fork_of_a_session_at_work_leaves_its_calls_alone),
          UNIT(a_history_that_was_cleared_stays_empty), UNIT(a_message_can_be_put_in),
          UNIT(a_name_is_found_again),
          UNIT(what_was_allowed_for_the_session_is_known_and_can_be_taken_back),
          UNIT(a_background_command_of_a_dead_process_is_told_to_the_model),
          UNIT(a_long_session_is_not_read_from_its_beginning));
