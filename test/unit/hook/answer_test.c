/* answer_test.c - exit codes and JSON answers, alone and together. */
#include "hook/outcomes.h"

#include "hook/answer.h"

struct said {
    int exit_code;
    const char *out, *err;
};

static struct hook_answer read_said(struct arena *a, enum hook_event event, struct said said)
{
    AUTO(hook_reply) struct hook_reply reply;

    hook_reply_init(&reply);
    reply.exit_code = said.exit_code;
    strbuf_add_cstr(&reply.out, said.out ? said.out : "");
    strbuf_add_cstr(&reply.err, said.err ? said.err : "");
    return hook_answer_read(event, &reply, a);
}

static void means_(enum hook_event event, struct said said, const char *want, const char *file,
                   int line)
{
    AUTO(arena) struct arena a = {0};
    struct hook_answer answer = read_said(&a, event, said);
    AUTO(strbuf) struct strbuf got = {0};

    strbuf_add(&got, show_outcome(&a, &answer.outcome));
    if (answer.problem.n)
        strbuf_addf(&got, "%sproblem: %" STR_FMT, got.n ? " " : "", STR_ARG(answer.problem));
    assert_str_(strbuf_str(&got), want, file, line);
}
#define means(event, want, ...)                                                                    \
    means_(HOOK_##event, (struct said){__VA_ARGS__}, want, __FILE__, __LINE__)

#define SPECIFIC(event, members)                                                                   \
    "{\"hookSpecificOutput\":{\"hookEventName\":\"" event "\"," members "}}"

TEST(silence_and_exit_0_mean_nothing)
{
    means(PRE_TOOL_USE, "", 0);
    means(STOP, "", 0, "\n");
    means(PRE_TOOL_USE, "", 0, "{}");
}

TEST(exit_2_blocks_with_stderr_as_the_reason)
{
    means(PRE_TOOL_USE, "blocked deny reason[not this]", 2, "", "not this\n");
    means(POST_TOOL_USE, "blocked reason[lint]", 2, "", "lint");
    means(USER_PROMPT_SUBMIT, "blocked reason[no]", 2, "ignored", "no");
    means(STOP, "blocked reason[tests fail]", 2, "", "tests fail");
    means(PERMISSION_REQUEST, "blocked deny reason[no reason given]", 2);
}

TEST(exit_2_where_nothing_can_be_blocked_is_for_the_person)
{
    means(SESSION_START, "problem: it reported: too late", 2, "", "too late\nreally");
    means(SESSION_END, "problem: it reported: x", 2, "", "x");
}

TEST(other_codes_are_problems_with_the_first_line_of_stderr)
{
    means(PRE_TOOL_USE, "problem: it exited with code 1: boom", 1, "{\"decision\":\"approve\"}",
          " boom\nTraceback\n");
    means(PRE_TOOL_USE, "problem: it exited with code 127", 127);
    means(STOP, "problem: it exited with code 137", 137);
}

TEST(plain_text_is_context_for_prompts_and_at_the_start_only)
{
    means(USER_PROMPT_SUBMIT, "context[It is Monday.]", 0, "It is Monday.\n");
    means(SESSION_START, "context[branch: main]", 0, "branch: main");
    means(PRE_TOOL_USE, "", 0, "checked");
    means(POST_TOOL_USE, "", 0, "formatted");
    means(STOP, "", 0, "[1]");
}

TEST(a_permission_is_decided_in_the_event_s_own_part)
{
    means(PRE_TOOL_USE, "allow reason[safe]", 0,
          SPECIFIC("PreToolUse",
                   "\"permissionDecision\":\"allow\",\"permissionDecisionReason\":\"safe\""));
    means(PRE_TOOL_USE, "blocked deny reason[rm]", 0,
          SPECIFIC("PreToolUse",
                   "\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"rm\""));
    means(PRE_TOOL_USE, "ask", 0, SPECIFIC("PreToolUse", "\"permissionDecision\":\"ask\""));
    means(PRE_TOOL_USE, "ask", 0, SPECIFIC("PreToolUse", "\"permissionDecision\":\"defer\""));
    means(POST_TOOL_USE, "", 0, SPECIFIC("PostToolUse", "\"permissionDecision\":\"deny\""));
}

TEST(arguments_are_changed_with_or_without_an_opinion)
{
    means(PRE_TOOL_USE, "allow input[{\"command\":\"ls\"}]", 0,
          SPECIFIC("PreToolUse",
                   "\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}"));
    means(PRE_TOOL_USE, "input[{}]", 0, SPECIFIC("PreToolUse", "\"updatedInput\":{}"));
    means(POST_TOOL_USE, "", 0, SPECIFIC("PostToolUse", "\"updatedInput\":{}"));
}

TEST(a_prompt_is_rewritten_by_its_new_text)
{
    means(USER_PROMPT_SUBMIT, "input[{\"prompt\":\"do it well\"}]", 0,
          SPECIFIC("UserPromptSubmit", "\"updatedInput\":{\"prompt\":\"do it well\"}"));
    means(USER_PROMPT_SUBMIT,
          "problem: its answer is not valid: \"updatedInput\" must be an object with \"prompt\", a "
          "string",
          0, SPECIFIC("UserPromptSubmit", "\"updatedInput\":{\"prompt\":1}"));
}

TEST(context_is_given_to_the_model)
{
    means(POST_TOOL_USE, "context[run fmt]", 0,
          SPECIFIC("PostToolUse", "\"additionalContext\":\"run fmt\""));
    means(SESSION_START, "context[x]", 0, SPECIFIC("SessionStart", "\"additionalContext\":\"x\""));
    means(USER_PROMPT_SUBMIT, "context[y]", 0, "{\"additionalContext\":\"y\"}");
}

TEST(the_older_form_decides_too)
{
    means(PRE_TOOL_USE, "blocked deny reason[no]", 0, "{\"decision\":\"block\",\"reason\":\"no\"}");
    means(PRE_TOOL_USE, "allow reason[yes]", 0, "{\"decision\":\"approve\",\"reason\":\"yes\"}");
    means(POST_TOOL_USE, "blocked reason[fix it]", 0,
          "{\"decision\":\"block\",\"reason\":\"fix it\"}");
    means(STOP, "blocked reason[go on]", 0, "{\"decision\":\"block\",\"reason\":\"go on\"}");
    means(STOP, "", 0, "{\"decision\":\"approve\"}");
    means(SESSION_START, "reason[x]", 0, "{\"decision\":\"block\",\"reason\":\"x\"}");
    means(PRE_TOOL_USE, "", 0, "{\"decision\":null,\"reason\":null,\"hookSpecificOutput\":null}");
}

TEST(a_request_for_permission_is_answered_by_its_behavior)
{
    means(PERMISSION_REQUEST, "allow input[{\"a\":1}]", 0,
          SPECIFIC("PermissionRequest",
                   "\"decision\":{\"behavior\":\"allow\",\"updatedInput\":{\"a\":1}}"));
    means(PERMISSION_REQUEST, "blocked deny reason[not now]", 0,
          SPECIFIC("PermissionRequest",
                   "\"decision\":{\"behavior\":\"deny\",\"message\":\"not now\"}"));
    means(PERMISSION_REQUEST, "blocked deny stops[]", 0,
          SPECIFIC("PermissionRequest", "\"decision\":{\"behavior\":\"deny\",\"interrupt\":true}"));
    means(PERMISSION_REQUEST, "problem: its answer is not valid: \"behavior\" cannot be \"maybe\"",
          0, SPECIFIC("PermissionRequest", "\"decision\":{\"behavior\":\"maybe\"}"));
    means(PRE_TOOL_USE, "", 0, SPECIFIC("PreToolUse", "\"decision\":{\"behavior\":\"allow\"}"));
}

TEST(continue_false_ends_the_run_and_blocks_whatever_else_is_said)
{
    means(PRE_TOOL_USE, "blocked deny reason[enough] stops[enough]", 0,
          "{\"continue\":false,\"stopReason\":\"enough\",\"decision\":\"approve\"}");
    means(PRE_TOOL_USE, "blocked deny reason[s] stops[s] problem: it exited with code 1: e", 1,
          "{\"continue\":false,\"stopReason\":\"s\"}", "e");
    means(POST_TOOL_USE, "blocked reason[e] stops[s]", 2,
          "{\"continue\":false,\"stopReason\":\"s\"}", "e");
    means(SESSION_START, "reason[s] stops[s]", 0, "{\"continue\":false,\"stopReason\":\"s\"}");
    means(STOP, "", 0, "{\"continue\":true,\"stopReason\":\"s\"}");
}

TEST(a_message_is_for_the_person)
{
    means(STOP, "message[3 tests failed]", 0,
          "{\"systemMessage\":\"3 tests failed\",\"suppressOutput\":true}");
}

#define REFUSED "blocked deny problem: "

TEST(nonsense_is_a_problem_with_its_place)
{
    means(STOP,
          "problem: its answer is not valid JSON: a name in double quotes was expected at line 1, "
          "column 2",
          0, "{");
    means(PRE_TOOL_USE, REFUSED "its answer is not valid: \"decision\" cannot be \"perhaps\"", 0,
          "{\"decision\":\"perhaps\"}");
    means(PRE_TOOL_USE, REFUSED "its answer is not valid: \"hookSpecificOutput\" must be an object",
          0, "{\"hookSpecificOutput\":\"deny\"}");
    means(PRE_TOOL_USE, REFUSED "its answer is not valid: \"continue\" must be true or false", 0,
          "{\"continue\":\"no\"}");
    means(STOP, "problem: its answer is not valid: \"systemMessage\" must be a string", 0,
          "{\"systemMessage\":[]}");
}

#define DENY SPECIFIC("PreToolUse", "\"permissionDecision\":\"deny\"")
#define BEFORE "it printed other text before its answer, so the answer is ignored"
#define MARK "its answer begins with a byte order mark, so it is not valid JSON"

/* Each of them may have been a no that got lost. */
TEST(an_answer_that_cannot_be_read_refuses_a_call)
{
    means(PRE_TOOL_USE,
          REFUSED
          "its answer is not valid JSON: this object has the same name twice at line 1, column 52",
          0,
          "{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\",\"permissionDecision\":"
          "\"allow\"}}");
    means(PRE_TOOL_USE,
          REFUSED "its answer is not valid JSON: a name in double quotes was expected at line 1, "
                  "column 2",
          0, "{");
    means(PRE_TOOL_USE, REFUSED BEFORE, 0, "note\n" DENY);
    means(PRE_TOOL_USE, REFUSED BEFORE, 0, "note: {\"decision\" : \"block\"}\nmore");
    means(PRE_TOOL_USE, REFUSED BEFORE, 0, "[" DENY "]");
    means(PRE_TOOL_USE, REFUSED BEFORE, 0, "\"{\\\"decision\\\":\\\"block\\\"}\"");
    means(PRE_TOOL_USE, REFUSED BEFORE, 0, "x {'continue': False}");
    means(PRE_TOOL_USE, REFUSED MARK, 0, "\xEF\xBB\xBF" DENY);
    means(PRE_TOOL_USE, REFUSED MARK, 0, "\xEF\xBB\xBF \n" DENY);
    means(PRE_TOOL_USE, REFUSED MARK, 0, "\xFF\xFE{");
    means(PRE_TOOL_USE,
          REFUSED "its answer is not valid: \"permissionDecision\" must be a member of "
                  "\"hookSpecificOutput\"",
          0, "{\"permissionDecision\":\"deny\"}");
}

TEST(a_decision_that_is_not_understood_may_be_a_no)
{
    means(PRE_TOOL_USE,
          REFUSED "its answer is not valid: \"permissionDecision\" cannot be \"DENY\"", 0,
          SPECIFIC("PreToolUse", "\"permissionDecision\":\"DENY\""));
    means(PRE_TOOL_USE, REFUSED "its answer is not valid: \"permissionDecision\" must be a string",
          0, SPECIFIC("PreToolUse", "\"permissionDecision\":1"));
    means(PRE_TOOL_USE, REFUSED "its answer is not valid: \"continue\" must be true or false", 0,
          "{\"continue\":\"false\"}");
    means(PRE_TOOL_USE,
          REFUSED "its answer is not valid: \"PermissionDecision\" must be spelled "
                  "\"permissionDecision\"",
          0, SPECIFIC("PreToolUse", "\"PermissionDecision\":\"deny\""));
    means(PRE_TOOL_USE,
          REFUSED "its answer is not valid: \"hook_specific_output\" must be spelled "
                  "\"hookSpecificOutput\"",
          0, "{\"hook_specific_output\":{}}");
    means(STOP, "problem: its answer is not valid: \"Decision\" must be spelled \"decision\"", 0,
          "{\"Decision\":\"block\"}");
    means(PRE_TOOL_USE, "", 0, "{\"decisions\":1,\"note\":\"decision\"}");
}

TEST(an_answer_behind_too_much_text_may_be_a_no)
{
    AUTO(arena) struct arena a = {0};
    AUTO(hook_reply) struct hook_reply reply;
    struct hook_answer answer;

    hook_reply_init(&reply);
    for (size_t i = 0; i < HOOK_MAX_OUTPUT; i++)
        strbuf_add_char(&reply.out, ' ');
    reply.is_cut = true;
    answer = hook_answer_read(HOOK_PRE_TOOL_USE, &reply, &a);
    assert_true(answer.outcome.is_blocked);
    assert_true(answer.problem.n > 0);
}

TEST(for_other_events_it_is_told)
{
    means(STOP, "problem: " BEFORE, 0, "note\n{\"decision\":\"block\"}");
    means(USER_PROMPT_SUBMIT, "context[see {\"decision\":1}] problem: " BEFORE, 0,
          "see {\"decision\":1}");
    means(PERMISSION_REQUEST, "problem: " MARK, 0, "\xEF\xBB\xBF" DENY);
    means(STOP,
          "problem: its answer is not valid JSON: this object has the same name twice at line 1, "
          "column 19",
          0, "{\"continue\":false,\"continue\":true}");
}

TEST(other_text_with_braces_is_just_text)
{
    means(PRE_TOOL_USE, "", 0, "checked {a, b}: \"fine\" {\"level\":\"info\"}");
    means(PRE_TOOL_USE, "", 0, "the decision: none. decision \"x\": continue");
    means(PRE_TOOL_USE, "", 0, "[1, {}]");
    means(SESSION_START, "context[\xEF\xBB\xBFhello]", 0, "\xEF\xBB\xBFhello");
}

TEST(an_answer_with_a_problem_allows_nothing_and_still_denies)
{
    means(PRE_TOOL_USE, "problem: its answer is not valid: \"reason\" must be a string", 0,
          "{\"decision\":\"approve\",\"reason\":1}");
    means(PRE_TOOL_USE,
          "blocked deny problem: its answer is not valid: \"reason\" must be a string", 0,
          "{\"decision\":\"block\",\"reason\":1}");
    means(PRE_TOOL_USE, "problem: its answer is not valid: \"hookEventName\" cannot be \"Stop\"", 0,
          SPECIFIC("Stop", "\"permissionDecision\":\"allow\",\"updatedInput\":{}"));
    means(PRE_TOOL_USE, REFUSED "its answer is not valid: \"updatedInput\" must be an object", 0,
          SPECIFIC("PreToolUse", "\"permissionDecision\":\"allow\",\"updatedInput\":[]"));
}

TEST(hostile_output_is_cut_and_made_valid)
{
    AUTO(arena) struct arena a = {0};
    AUTO(hook_reply) struct hook_reply reply;
    struct hook_answer answer;

    hook_reply_init(&reply);
    reply.exit_code = 2;
    for (size_t i = 0; i < HOOK_MAX_OUTPUT; i++)
        strbuf_add_char(&reply.err, (char)0xff);
    answer = hook_answer_read(HOOK_PRE_TOOL_USE, &reply, &a);
    assert_true(answer.outcome.is_blocked);
    assert_true(answer.outcome.reason.n < 3 * (HOOK_MAX_TEXT_CHARS + 100));
    assert_true(str_starts(answer.outcome.reason, S("\xEF\xBF\xBD")));

    reply.exit_code = 1;
    answer = hook_answer_read(HOOK_PRE_TOOL_USE, &reply, &a);
    assert_true(answer.problem.n < 2000);
}

TEST(json_that_is_too_deep_or_cut_off_is_a_problem)
{
    AUTO(arena) struct arena a = {0};
    AUTO(hook_reply) struct hook_reply reply;

    hook_reply_init(&reply);
    while (reply.out.n < 100000)
        strbuf_add_cstr(&reply.out, "{\"a\":");
    assert_true(str_starts(hook_answer_read(HOOK_PRE_TOOL_USE, &reply, &a).problem,
                           S("its answer is not valid JSON: ")));
    strbuf_clear(&reply.out);
    strbuf_add_cstr(&reply.out, "{\"decision\":\"approve\"}");
    reply.is_cut = true;
    assert_str(hook_answer_read(HOOK_PRE_TOOL_USE, &reply, &a).problem,
               "its answer is longer than 1048576 bytes");
}

/* --- together --- */

static void together_(enum hook_event event, const char *const *outs, size_t n, const char *want,
                      const char *file, int line)
{
    AUTO(arena) struct arena a = {0};
    struct hook_answer answers[8];
    struct hook_outcome all;

    for (size_t i = 0; i < n; i++)
        answers[i] = read_said(&a, event, (struct said){.out = outs[i]});
    all = hook_answers_merge(event, answers, n, &a);
    assert_str_(show_outcome(&a, &all), want, file, line);
}
#define together(event, want, ...)                                                                 \
    together_(HOOK_##event, (const char *const[]){__VA_ARGS__},                                    \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), want, __FILE__,         \
              __LINE__)

#define SAYS(decision, more) SPECIFIC("PreToolUse", "\"permissionDecision\":\"" decision "\"" more)
#define WHY(text) ",\"permissionDecisionReason\":\"" text "\""
#define CHANGES(n) "\"updatedInput\":{\"n\":" n "}"

TEST(deny_beats_ask_and_ask_beats_allow)
{
    together(PRE_TOOL_USE, "blocked deny reason[d]", SAYS("allow", WHY("a")), SAYS("ask", WHY("q")),
             SAYS("deny", WHY("d")));
    together(PRE_TOOL_USE, "ask reason[q]", SAYS("ask", WHY("q")), SAYS("allow", WHY("a")), "{}");
    together(PRE_TOOL_USE, "allow reason[a]", "", SAYS("allow", WHY("a")));
    together(PRE_TOOL_USE, "", "", "");
}

TEST(reasons_of_the_strongest_are_told_in_order)
{
    together(PRE_TOOL_USE, "blocked deny reason[1\n2]", SAYS("deny", WHY("1")),
             SAYS("allow", WHY("x")), SAYS("deny", WHY("2")));
}

TEST(changed_input_is_the_first_of_the_strongest)
{
    together(PRE_TOOL_USE, "ask input[{\"n\":2}]", SAYS("allow", "," CHANGES("1")),
             SAYS("ask", "," CHANGES("2")), SAYS("ask", "," CHANGES("3")));
    together(PRE_TOOL_USE, "allow input[{\"n\":1}]", SAYS("allow", ""),
             SAYS("allow", "," CHANGES("1")));
    together(PRE_TOOL_USE, "blocked deny", SAYS("allow", "," CHANGES("1")), SAYS("deny", ""));
}

TEST(an_allow_does_not_cover_what_another_hook_changed)
{
    together(PRE_TOOL_USE, "input[{\"n\":1}]", SAYS("allow", ""),
             SPECIFIC("PreToolUse", CHANGES("1")));
    together(PRE_TOOL_USE, "ask input[{\"n\":1}]", SAYS("ask", ""),
             SPECIFIC("PreToolUse", CHANGES("1")));
}

TEST(contexts_and_messages_add_up)
{
    together(POST_TOOL_USE, "blocked reason[r] context[1\n2] message[m\nn]",
             "{\"systemMessage\":\"m\",\"additionalContext\":\"1\"}",
             "{\"decision\":\"block\",\"reason\":\"r\"}",
             "{\"systemMessage\":\"n\",\"additionalContext\":\"2\"}");
}

TEST(one_that_ends_the_run_ends_it_even_where_others_want_to_go_on)
{
    together(STOP, "reason[go on\nenough] stops[enough]",
             "{\"decision\":\"block\",\"reason\":\"go on\"}",
             "{\"continue\":false,\"stopReason\":\"enough\"}");
    together(PRE_TOOL_USE, "blocked deny reason[enough] stops[enough]", SAYS("allow", ""),
             "{\"continue\":false,\"stopReason\":\"enough\"}");
}

RUN_TESTS(
    UNIT(silence_and_exit_0_mean_nothing), UNIT(exit_2_blocks_with_stderr_as_the_reason),
    UNIT(exit_2_where_nothing_can_be_blocked_is_for_the_person),
    UNIT(other_codes_are_problems_with_the_first_line_of_stderr),
    UNIT(plain_text_is_context_for_prompts_and_at_the_start_only),
    UNIT(a_permission_is_decided_in_the_event_s_own_part),
    UNIT(arguments_are_changed_with_or_without_an_opinion),
    UNIT(a_prompt_is_rewritten_by_its_new_text), UNIT(context_is_given_to_the_model),
    UNIT(the_older_form_decides_too), UNIT(a_request_for_permission_is_answered_by_its_behavior),
    UNIT(continue_false_ends_the_run_and_blocks_whatever_else_is_said),
    UNIT(a_message_is_for_the_person), UNIT(nonsense_is_a_problem_with_its_place),
    UNIT(an_answer_that_cannot_be_read_refuses_a_call),
    UNIT(a_decision_that_is_not_understood_may_be_a_no),
    UNIT(an_answer_behind_too_much_text_may_be_a_no), UNIT(for_other_events_it_is_told),
    UNIT(other_text_with_braces_is_just_text),
    UNIT(an_answer_with_a_problem_allows_nothing_and_still_denies),
    UNIT(hostile_output_is_cut_and_made_valid), UNIT(json_that_is_too_deep_or_cut_off_is_a_problem),
    UNIT(deny_beats_ask_and_ask_beats_allow), UNIT(reasons_of_the_strongest_are_told_in_order),
    UNIT(changed_input_is_the_first_of_the_strongest),
    UNIT(an_allow_does_not_cover_what_another_hook_changed), UNIT(contexts_and_messages_add_up),
    UNIT(one_that_ends_the_run_ends_it_even_where_others_want_to_go_on))
