/* rewind_test.c - sessions that are taken back, and their turns. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "archive/turns.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                                    again = {.start = SESSION_RESUME, .id = {ID, 1}};

static void say(struct stage *st, const char *answer, const char *prompt)
{
    AUTO(strbuf) struct strbuf script = {0};

    strbuf_addf(&script, "turns:\n - text: %s\n", answer);
    stage_run(st, strbuf_cstr(&script), prompt);
}

static void rewind_to(struct stage *st, unsigned number)
{
    AUTO(arena) struct arena a = {0};
    const struct turn_entry *t;
    struct turn_list turns;

    assert_ok(journal_sync(st->session.journal));
    assert_ok(turn_list_read(st->store, S(ID), &a, &turns));
    t = turn_list_find(&turns, number);
    assert_non_null(t);
    assert_ok(session_rewind(
        &st->session,
        &(struct session_rewind){.turn = number, .seq = t->seq, .takes_messages = true}));
}

/* "1 2 4": the numbers of the turns that are part of the conversation. */
static void assert_live(struct stage *st, const char *want)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct turn_list turns;

    assert_ok(journal_sync(st->session.journal));
    assert_ok(turn_list_read(st->store, S(ID), &a, &turns));
    for (size_t i = 0; i < turns.n; i++)
        if (turns.items[i].is_live)
            strbuf_addf(&got, "%s%u", got.n ? " " : "", turns.items[i].number);
    assert_str(strbuf_str(&got), want);
}

static void assert_asked(struct stage *st, const char *want)
{
    strbuf_clear(&st->world.log);
    say(st, "Next.", "next");
    assert_transcript(&st->world, want);
}

IN_TASK(the_next_request_is_what_it_was_before_the_turn)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    say(&st, "One.", "one");
    say(&st, "Two.", "two");
    say(&st, "Three.", "three");
    rewind_to(&st, 2);
    assert_live(&st, "1");
    stage_close(&st);
    stage_open(&st, &again); /* in another process, too */
    assert_int_equal(st.session.conversation.history.n_messages, 2);
    assert_asked(&st, "+2 user: \"next\"\n"
                      "ask m1 tools=7\n"
                      "    user: \"one\"\n"
                      "    assistant: \"One.\"\n"
                      "    user: \"next\"\n"
                      "+3 assistant: \"Next.\"\n"
                      "= done: \"Next.\"\n");
    assert_live(&st, "1 5");
    stage_close(&st);
}

IN_TASK(a_rewind_is_a_turn_that_can_be_taken_back)
{
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &fresh);
    say(&st, "One.", "one");
    say(&st, "Two.", "two");
    rewind_to(&st, 1);
    assert_live(&st, "");
    assert_int_equal(st.session.conversation.history.n_messages, 0);
    rewind_to(&st, 3);
    assert_live(&st, "1 2");
    assert_int_equal(st.session.conversation.history.n_messages, 4);
    rewind_to(&st, 4); /* and that, too */
    assert_live(&st, "");
    stage_close(&st);
}

IN_TASK(tools_know_what_they_knew_then_and_what_was_spent_stays_spent)
{
    AUTO(stage) struct stage st = {0};
    struct tool_state *tools;

    stage_open(&st, &fresh);
    stage_run(&st, "turns:\n - [{tool: State, id: a, args: {value: 7}}]\n - text: One.\n", "one");
    stage_run(&st, "turns:\n - [{tool: State, id: b, args: {value: 8}}]\n - text: Two.\n", "two");
    tools = st.session.conversation.state;
    assert_int_equal(json_int_or(tool_state_get(tools, STATE_ASKED, S("toy")), 0), 8);
    rewind_to(&st, 2);
    assert_int_equal(json_int_or(tool_state_get(tools, STATE_ASKED, S("toy")), 0), 7);
    assert_int_equal(st.session.budget.spent.n_tool_calls, 2);
    rewind_to(&st, 1);
    assert_null(tool_state_get(tools, STATE_ASKED, S("toy")));
    stage_close(&st);
    stage_open(&st, &again);
    assert_null(tool_state_get(st.session.conversation.state, STATE_ASKED, S("toy")));
    assert_int_equal(st.session.budget.spent.n_tool_calls, 2);
    stage_close(&st);
}

IN_TASK(a_summary_by_hand_is_made_of_an_answered_history)
{
    AUTO(stage) struct stage st = {0};
    struct world *w = &st.world;
    const struct history *h;
    char prompt[4001] = {0};

    memset(prompt, 'x', 4000);
    stage_open(&st, &fresh);
    say(&st, "One.", prompt);
    stage_compact(&st, "turns:\n - text: Short.\n", "");
    h = &st.session.conversation.history;
    assert_int_equal(w->result.outcome, RUN_DONE);
    assert_str(h->messages[0]->parts[0].text, "[Context Summary] Short.");
    assert_live(&st, "1 2");
    rewind_to(&st, 2);
    assert_int_equal(st.session.conversation.history.n_messages, 2);
    stage_close(&st);
}

RUN_TESTS(UNIT(the_next_request_is_what_it_was_before_the_turn),
          UNIT(a_rewind_is_a_turn_that_can_be_taken_back),
          UNIT(tools_know_what_they_knew_then_and_what_was_spent_stays_spent),
          UNIT(a_summary_by_hand_is_made_of_an_answered_history))
