/* ask_user_question_test.c */
#include "tool/fixture.h"

#include "tool/builtin.h"

#define OPTIONS "\"options\":[{\"label\":\"Yes\"},{\"label\":\"No\",\"description\":\"not now\"}]"
#define ONE "{\"questions\":[{\"question\":\"Which one?\",\"header\":\"Choice\"," OPTIONS "}]}"
#define SEVERAL                                                                                    \
    "{\"questions\":[{\"question\":\"Which ones?\",\"header\":\"Choice\"," OPTIONS                 \
    ",\"multiSelect\":true}]}"
#define TWO                                                                                        \
    "{\"questions\":[{\"question\":\"First?\",\"header\":\"A\"," OPTIONS "},"                      \
    "{\"question\":\"Second?\",\"header\":\"B\"," OPTIONS "}]}"

/* An asker with one answer, which lives in the arena it is given. */
struct person {
    struct asker asker;
    enum answer_kind kind;
    const char *reason, *value;
    enum err_kind error; /* ERR_N_KINDS: none */
    int n_asked;
    enum ask_kind asked_kind;
    char call_id[32], tool[32], text[64];
};

static struct err *ask_person(struct asker *asker, const struct ask *ask, struct arena *a,
                              struct answer *ret_answer)
{
    struct person *p = (struct person *)asker;
    struct json *value = NULL;

    p->n_asked++;
    p->asked_kind = ask->kind;
    snprintf(p->call_id, sizeof p->call_id, "%" STR_FMT, STR_ARG(ask->call_id));
    snprintf(p->tool, sizeof p->tool, "%" STR_FMT, STR_ARG(ask->tool));
    snprintf(p->text, sizeof p->text, "%" STR_FMT, STR_ARG(ask->text));
    if (p->error != ERR_N_KINDS)
        return err_new(p->error, "the terminal is gone");
    if (p->value)
        TRY(json_parse(a, str_of(p->value), 0, &value));
    *ret_answer = (struct answer){.kind = p->kind, .reason = str_of(p->reason), .value = value};
    return NULL;
}

static struct person person(enum answer_kind kind, const char *value)
{
    return (struct person){
        .asker = {ask_person}, .kind = kind, .value = value, .error = ERR_N_KINDS};
}

static void assert_details(const struct tool_result *r, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};

    assert_non_null(r->details);
    json_write(&got, r->details);
    assert_str(strbuf_str(&got), want);
}

static void assert_answer(const char *args, const char *value, const char *text,
                          const char *details)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_VALUE, value);
    AUTO(tool_result) struct tool_result r = {0};

    f.context.asker = &p.asker;
    r = tool_call(&f, &tool_ask_user_question, args);
    assert_false(r.is_error || r.is_pending);
    assert_int_equal(p.n_asked, 1);
    assert_str(strbuf_str(&r.text), text);
    assert_details(&r, details);
}

TEST(the_model_reads_question_and_answer)
{
    assert_answer(ONE, "{\"answers\":{\"Which one?\":\"Yes\"}}",
                  "The person answered:\n\nQuestion: Which one?\nAnswer: Yes",
                  "{\"answers\":{\"Which one?\":\"Yes\"}}");
    assert_answer(TWO, "{\"answers\":{\"Second?\":\"No\",\"First?\":\"Yes\"}}",
                  "The person answered:\n\nQuestion: First?\nAnswer: Yes\n\n"
                  "Question: Second?\nAnswer: No",
                  "{\"answers\":{\"First?\":\"Yes\",\"Second?\":\"No\"}}");
}

TEST(several_choices_are_one_answer)
{
    static const char text[] = "The person answered:\n\nQuestion: Which ones?\nAnswer: Yes, No";
    static const char details[] = "{\"answers\":{\"Which ones?\":[\"Yes\",\"No\"]}}";

    assert_answer(SEVERAL, "{\"answers\":{\"Which ones?\":[\"Yes\",\"No\"]}}", text, details);
    assert_answer(SEVERAL, "[\"Yes\",\"No\"]", text, details);
}

TEST(answers_may_come_as_a_list_or_as_one_text)
{
    static const char text[] = "The person answered:\n\nQuestion: First?\nAnswer: Yes\n\n"
                               "Question: Second?\nAnswer: something else";
    static const char details[] =
        "{\"answers\":{\"First?\":\"Yes\",\"Second?\":\"something else\"}}";

    assert_answer(TWO, "[\"Yes\",\"something else\"]", text, details);
    assert_answer(TWO, "{\"answers\":[\"Yes\",\"something else\"]}", text, details);
    assert_answer(TWO, "{\"A\":\"Yes\",\"B\":\"something else\"}", text, details);
    assert_answer(ONE, "\"Yes\"", "The person answered:\n\nQuestion: Which one?\nAnswer: Yes",
                  "{\"answers\":{\"Which one?\":\"Yes\"}}");
    assert_answer(ONE, "[\"Yes\"]", "The person answered:\n\nQuestion: Which one?\nAnswer: Yes",
                  "{\"answers\":{\"Which one?\":\"Yes\"}}");
}

TEST(a_question_without_an_answer_is_told_as_such)
{
    assert_answer(TWO, "[\"Yes\"]",
                  "The person answered:\n\nQuestion: First?\nAnswer: Yes\n\n"
                  "Question: Second?\nAnswer: (no answer)",
                  "{\"answers\":{\"First?\":\"Yes\"}}");
    assert_answer(TWO, "\"Yes\"",
                  "The person answered:\n\nQuestion: First?\nAnswer: (no answer)\n\n"
                  "Question: Second?\nAnswer: (no answer)",
                  "{\"answers\":{}}");
    assert_answer(ONE, NULL, "The person answered:\n\nQuestion: Which one?\nAnswer: (no answer)",
                  "{\"answers\":{}}");
    assert_answer(ONE, "{\"answers\":{\"Which one?\":[]}}",
                  "The person answered:\n\nQuestion: Which one?\nAnswer: (no answer)",
                  "{\"answers\":{\"Which one?\":[]}}");
}

TEST(an_answer_that_is_no_text_is_shown_as_it_came)
{
    assert_answer(ONE, "{\"answers\":{\"Which one?\":{\"x\":1}}}",
                  "The person answered:\n\nQuestion: Which one?\nAnswer: {\"x\":1}",
                  "{\"answers\":{\"Which one?\":{\"x\":1}}}");
    assert_answer(ONE, "7", "The person answered:\n\nQuestion: Which one?\nAnswer: 7",
                  "{\"answers\":{\"Which one?\":7}}");
}

TEST(the_person_sees_who_asks_what)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_VALUE, "[]");
    AUTO(tool_result) struct tool_result r = {0};

    f.context.asker = &p.asker;
    r = tool_call(&f, &tool_ask_user_question, TWO);
    assert_int_equal(p.asked_kind, ASK_QUESTION);
    assert_string_equal(p.call_id, "call_1");
    assert_string_equal(p.tool, "AskUserQuestion");
    assert_string_equal(p.text, "First?");
}

TEST(where_nobody_is_the_model_decides)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_ask_user_question, ONE);

    assert_false(r.is_error || r.is_pending);
    assert_non_null(strstr(strbuf_cstr(&r.text), "No one can answer"));
    assert_non_null(strstr(strbuf_cstr(&r.text), "assumption"));
    assert_details(&r, "{\"unavailable\":true}");
}

TEST(a_person_may_decline)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_NO, NULL);
    AUTO(tool_result) struct tool_result with_reason = {0}, without = {0};

    f.context.asker = &p.asker;
    without = tool_call(&f, &tool_ask_user_question, ONE);
    assert_false(without.is_error || without.is_pending);
    assert_true(str_starts(strbuf_str(&without.text), S("The person declined to answer\n")));
    assert_details(&without, "{\"declined\":true}");
    p.reason = "ask me tomorrow";
    with_reason = tool_call(&f, &tool_ask_user_question, ONE);
    assert_true(str_starts(strbuf_str(&with_reason.text),
                           S("The person declined to answer: ask me tomorrow\n")));
    assert_details(&with_reason, "{\"declined\":true,\"reason\":\"ask me tomorrow\"}");
}

TEST(a_yes_without_a_choice_leaves_it_to_the_model)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_ONCE, NULL);
    AUTO(tool_result) struct tool_result r = {0};

    f.context.asker = &p.asker;
    r = tool_call(&f, &tool_ask_user_question, ONE);
    assert_non_null(strstr(strbuf_cstr(&r.text), "agreed without choosing"));
    assert_details(&r, "{\"agreed\":true}");
}

/* --- suspension --- */

TEST(an_answer_that_comes_later_suspends_the_call_with_its_question)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_LATER, NULL);
    AUTO(tool_result) struct tool_result r = {0};
    AUTO(strbuf) struct strbuf args = {0};

    f.context.asker = &p.asker;
    r = tool_call(&f, &tool_ask_user_question, ONE);
    assert_true(r.is_pending);
    assert_false(r.is_error);
    assert_int_equal(r.ask.kind, ASK_QUESTION);
    assert_str(r.ask.call_id, "call_1");
    assert_str(r.ask.tool, "AskUserQuestion");
    assert_str(r.ask.text, "Which one?");
    json_write(&args, r.ask.args);
    assert_str(strbuf_str(&args), ONE);
}

TEST(a_call_that_goes_on_takes_its_answer_and_asks_nobody)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(arena) struct arena a = {0};
    struct person p = person(ANSWER_NO, NULL);
    struct answer answer = {.kind = ANSWER_VALUE, .value = json_new_str(&a, S("No"))};
    AUTO(tool_result) struct tool_result r = {0};

    f.context.asker = &p.asker;
    f.context.answer = &answer;
    r = tool_call(&f, &tool_ask_user_question, ONE);
    assert_int_equal(p.n_asked, 0);
    assert_false(r.is_pending);
    assert_details(&r, "{\"answers\":{\"Which one?\":\"No\"}}");
}

TEST(a_person_has_no_deadline)
{
    assert_true(tool_ask_user_question.timeout_ms(&tool_ask_user_question, NULL) ==
                TOOL_NO_DEADLINE);
}

/* --- failures --- */

TEST(an_asker_that_fails_fails_the_call)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_VALUE, NULL);
    AUTO(tool_result) struct tool_result r = {0};

    p.error = ERR_CANCELLED;
    f.context.asker = &p.asker;
    r = tool_call(&f, &tool_ask_user_question, ONE);
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_CANCELLED);
}

TEST(the_same_question_twice_is_refused_before_anybody_is_asked)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct person p = person(ANSWER_VALUE, "[]");
    AUTO(tool_result) struct tool_result r = {0};

    f.context.asker = &p.asker;
    r = tool_call(&f, &tool_ask_user_question,
                  "{\"questions\":[{\"question\":\"Same?\"," OPTIONS "},"
                  "{\"question\":\"Same?\"," OPTIONS "}]}");
    assert_true(r.is_error);
    assert_int_equal(p.n_asked, 0);
    assert_str(strbuf_str(&r.text), "The question \"Same?\" appears twice. Ask it once.");
}

TEST(questions_that_cannot_be_asked_are_refused)
{
    static const char *const wrong[] = {
        "{}",
        "{\"questions\":[]}",
        "{\"questions\":[{\"question\":\"Why?\"}]}",
        "{\"questions\":[{\"question\":\"\"," OPTIONS "}]}",
        "{\"questions\":[{\"question\":\"Why?\",\"options\":[{\"label\":\"Only\"}]}]}",
        "{\"questions\":[{\"question\":\"1\"," OPTIONS "},{\"question\":\"2\"," OPTIONS "},"
        "{\"question\":\"3\"," OPTIONS "},{\"question\":\"4\"," OPTIONS "},"
        "{\"question\":\"5\"," OPTIONS "}]}",
    };
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_ask_user_question, wrong[i]);

        assert_true(r.is_error);
        assert_int_equal(r.code, ERR_VALIDATION);
    }
}

RUN_TESTS(UNIT(the_model_reads_question_and_answer), UNIT(several_choices_are_one_answer),
          UNIT(answers_may_come_as_a_list_or_as_one_text),
          UNIT(a_question_without_an_answer_is_told_as_such),
          UNIT(an_answer_that_is_no_text_is_shown_as_it_came), UNIT(the_person_sees_who_asks_what),
          UNIT(where_nobody_is_the_model_decides), UNIT(a_person_may_decline),
          UNIT(a_yes_without_a_choice_leaves_it_to_the_model),
          UNIT(an_answer_that_comes_later_suspends_the_call_with_its_question),
          UNIT(a_call_that_goes_on_takes_its_answer_and_asks_nobody),
          UNIT(a_person_has_no_deadline), UNIT(an_asker_that_fails_fails_the_call),
          UNIT(the_same_question_twice_is_refused_before_anybody_is_asked),
          UNIT(questions_that_cannot_be_asked_are_refused))
