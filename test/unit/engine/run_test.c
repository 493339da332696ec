/* run_test.c - whole runs as transcripts: rounds, tools, guards, limits. */
#include "world.h"

TEST(an_answer_without_tools_ends_the_run)
{
    AUTO(world) struct world w = {.script = "turns:\n - text: Hello.\n"};

    world_run(&w, "hi");
    assert_transcript(&w, "+0 user: \"hi\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"hi\"\n"
                          "+1 assistant: \"Hello.\"\n"
                          "= done: \"Hello.\"\n");
    assert_int_equal(w.result.n_rounds, 1);
}

TEST(tools_run_and_their_results_go_back)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{text: Look.}, {tool: Echo, id: c1, args: {text: one}}]\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_transcript(&w, "+0 user: \"go\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "+1 assistant: \"Look.\" Echo#c1\n"
                          "run Echo#c1\n"
                          "+2 tool: c1 \"one\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "    assistant: \"Look.\" Echo#c1\n"
                          "    tool: c1 \"one\"\n"
                          "+3 assistant: \"Done.\"\n"
                          "= done: \"Done.\"\n");
    assert_int_equal(w.result.n_tools_executed, 1);
}

TEST(rounds_are_set_apart_in_the_stream)
{
    AUTO(world)
    struct world w = {.shows_deltas = true,
                      .script = "turns:\n"
                                " - [{text: One}, {tool: Echo, id: c1, args: {text: x}}]\n"
                                " - text: Two\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "delta \"One\"\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "delta | \"\n\n\"\nask"));
    assert_str(w.result.text, "Two");
}

TEST(results_stand_in_the_order_of_the_calls)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Slow, id: a, args: {ms: 300}}, {tool: Slow, id: b, "
                                "args: {ms: 200}}, {tool: Slow, id: c, args: {ms: 100}}]\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_transcript(&w, "+0 user: \"go\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "+1 assistant: Slow#a Slow#b Slow#c\n"
                          "run Slow#a\nrun Slow#b\nrun Slow#c\n"
                          "+2 tool: a \"slept\"\n"
                          "+3 tool: b \"slept\"\n"
                          "+4 tool: c \"slept\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "    assistant: Slow#a Slow#b Slow#c\n"
                          "    tool: a \"slept\"\n"
                          "    tool: b \"slept\"\n"
                          "    tool: c \"slept\"\n"
                          "+5 assistant: \"Done.\"\n"
                          "= done: \"Done.\"\n");
    assert_int_equal(w.most_running, 3);
}

TEST(a_batch_runs_no_more_at_once_than_allowed)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Slow, id: a}, {tool: Slow, id: b}, {tool: Slow, id: "
                                "c}, {tool: Slow, id: d}]\n"
                                " - text: Done.\n",
                      .kit.max_concurrency = 2};

    world_run(&w, "go");
    assert_int_equal(w.most_running, 2);
    assert_int_equal(w.result.n_tools_executed, 4);
}

TEST(a_call_that_changes_files_runs_alone)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Alone, id: a}, {tool: Slow, id: b}, {tool: Alone, id: "
                                "c}, {tool: Alone, id: d}]\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_int_equal(w.most_running, 1);
    assert_int_equal(w.result.n_tools_executed, 4);
}

TEST(a_call_id_may_come_again_in_a_later_round)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Echo\n   id: call_0\n   args: {text: one}\n"
                                " - tool: Echo\n   id: call_0\n   args: {text: two}\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_transcript(&w, "+0 user: \"go\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "+1 assistant: Echo#call_0\n"
                          "run Echo#call_0\n"
                          "+2 tool: call_0 \"one\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "    assistant: Echo#call_0\n"
                          "    tool: call_0 \"one\"\n"
                          "+3 assistant: Echo#call_0\n"
                          "run Echo#call_0\n"
                          "+4 tool: call_0 \"two\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "    assistant: Echo#call_0\n"
                          "    tool: call_0 \"one\"\n"
                          "    assistant: Echo#call_0_2\n"
                          "    tool: call_0_2 \"two\"\n"
                          "+5 assistant: \"Done.\"\n"
                          "= done: \"Done.\"\n");
}

/* --- what the model gets wrong --- */

TEST(an_unknown_tool_is_told_and_never_run)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Nope, id: a}, {tool: Echo, id: b, args: {text: x}}]\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "run Echo#b\na failed: unknown_tool\n"
                                                "+2 tool: a! \"Error: not registered\"\n"));
    assert_null(strstr(strbuf_cstr(&w.log), "run Nope"));
    assert_int_equal(w.result.n_tools_executed, 1);
}

TEST(unknown_tools_in_two_rounds_end_the_tools)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Nope\n   id: a\n"
                                " - tool: Nada\n   id: b\n"
                                " - text: I cannot.\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "final: unknown_tools\nask m1 tools=7 none\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "Unavailable tools: Nope, Nada."));
    assert_non_null(strstr(strbuf_cstr(&w.log), "= done forced by unknown_tools: \"I cannot.\"\n"));
}

TEST(unknown_tools_with_a_good_round_between_go_on)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Nope\n   id: a\n"
                                " - tool: Echo\n   id: b\n   args: {text: x}\n"
                                " - tool: Nope\n   id: c\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_null(strstr(strbuf_cstr(&w.log), "final"));
}

static const char bad_arguments[] = "turns:\n"
                                    " - tool: Echo\n   id: a\n   args: {text: 1}\n"
                                    " - tool: Echo\n   id: b\n   args_text: '{\"text\":'\n"
                                    " - tool: Echo\n   id: c\n   args: {}\n"
                                    " - tool: Echo\n   id: d\n   args: {}\n"
                                    " - text: I give up.\n";

TEST(wrong_arguments_are_corrected_three_times_then_the_tool_has_failed)
{
    AUTO(world) struct world w = {.script = bad_arguments};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: validation\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "b failed: validation\n+4 tool: b! \"not JSON\""));
    assert_non_null(strstr(strbuf_cstr(&w.log), "c failed: validation\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "d failed: tool_failed\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "= done: \"I give up.\"\n"));
    assert_int_equal(w.result.n_tools_executed, 0);
}

TEST(a_node_fails_when_its_corrections_are_spent)
{
    AUTO(world) struct world w = {.script = bad_arguments, .input.policy = &policy_node};

    world_run(&w, "go");
    assert_int_equal(w.result.outcome, RUN_FAILED);
    assert_int_equal(w.result.error->kind, ERR_TOOL_FAILED);
}

TEST(who_never_sends_right_arguments_loses_the_tools)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Echo\n   id: a\n" /* no text */
                                " - tool: Echo\n   id: b\n"
                                " - tool: Echo\n   id: c\n"
                                " - tool: Echo\n   id: d\n"
                                " - tool: Echo\n   id: e\n"
                                " - text: Sorry.\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "= done forced by corrections: \"Sorry.\"\n"));
}

/* --- refusals --- */

static const char denied[] = "turns:\n"
                             " - [{tool: Echo, id: a, args: {text: x}}, {tool: Big, id: b}]\n"
                             " - text: All right.\n";

TEST(a_conversation_goes_on_after_a_denied_call)
{
    AUTO(world) struct world w = {.script = denied, .deny = "Echo"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: tool_denied\n"
                                                "+2 tool: a! \"Permission denied\"\n"
                                                "+3 tool: b \"line 1\n\"\n"));
    assert_int_equal(w.result.outcome, RUN_DONE);
    assert_int_equal(w.result.n_denials, 1);
    assert_str(w.result.denials[0].tool, "Echo");
}

TEST(a_node_ends_with_a_denied_call)
{
    AUTO(world)
    struct world w = {.script = denied, .deny = "Echo", .input.policy = &policy_node};

    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_TOOL_DENIED);
    assert_null(strstr(strbuf_cstr(&w.log), "run Big"));
    /* and its history is still one that can be sent */
    assert_non_null(strstr(strbuf_cstr(&w.log), "+3 tool: b! \"The tool call was not executed"));
}

/* --- tools that go wrong --- */

TEST(a_failing_tool_is_a_result)
{
    AUTO(world)
    struct world w = {.script =
                          "turns:\n"
                          " - [{tool: Fail, id: a}, {tool: Fail, id: b, args: {hard: true}}]\n"
                          " - text: Done.\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: tool_failed\n"
                                                "+2 tool: a! \"it did not work\"\n"
                                                "b failed: storage\n"
                                                "+3 tool: b! \"the disk is full\nmake room\"\n"));
}

TEST(a_tool_that_takes_too_long_is_ended)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Slow, id: a, args: {ms: 5000}}, {tool: Slow, id: b, "
                                "args: {ms: 10}}]\n"
                                " - text: Done.\n",
                      .kit.tool_timeout_ms = 1000};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: timeout\n"
                                                "+2 tool: a! \"(tool failed: timeout)\"\n"
                                                "+3 tool: b \"slept\"\n"));
}

TEST(the_operator_sets_a_tools_time)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Slow\n   id: a\n   args: {ms: 5000}\n"
                                " - text: Done.\n"};
    AUTO(arena) struct arena a = {0};
    struct json *timeouts;

    assert_ok(json_parse(&a, S("{\"Slow\":100}"), 0, &timeouts));
    w.kit.tool_timeouts = timeouts;
    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: timeout\n"));
}

TEST(a_tools_state_changes_by_events)
{
    AUTO(world)
    struct world w = {.shows_state = true,
                      .script = "turns:\n"
                                " - tool: State\n   id: a\n   args: {value: {n: 1}}\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "run State#a\nstate asked:toy={\"n\":1}\n+2 tool"));
    assert_int_equal(
        json_int_or(json_get(tool_state_get(w.conversation.state, STATE_ASKED, S("toy")), "n"), 0),
        1);
}

/* --- the round cap --- */

static const char endless[] = "turns:\n"
                              " - tool: Echo\n   id: a\n   args: {text: x}\n"
                              " - tool: Echo\n   id: b\n   args: {text: y}\n"
                              " - [{text: So far.}, {tool: Echo, id: c, args: {text: z}}]\n"
                              " - text: Next run.\n";

TEST(the_round_cap_forces_a_summary_without_tools)
{
    AUTO(world) struct world w = {.script = endless, .input.max_rounds = 2};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "final: turn_limit\nask m1 tools=7 none\n"));
    /* the call it makes all the same is not kept, its text is */
    assert_non_null(strstr(strbuf_cstr(&w.log), "+5 assistant: \"So far.\"\n"
                                                "= done forced by turn_limit: \"So far.\"\n"));
    assert_int_equal(run_result_exit_code(&w.result), 0);
    assert_int_equal(w.result.n_rounds, 2);
}

TEST(ten_rounds_are_the_cap_where_nobody_sets_one)
{
    AUTO(strbuf) struct strbuf script = {0};

    strbuf_add_cstr(&script, "turns:\n");
    for (int i = 0; i < 12; i++)
        strbuf_addf(&script, " - tool: Echo\n   id: c%d\n   args: {text: t%d}\n", i, i);
    for (int is_free = 0; is_free < 2; is_free++) {
        AUTO(world) struct world w = {.script = strbuf_cstr(&script)};

        w.input.max_rounds = is_free ? RUN_UNLIMITED : 0;
        world_run(&w, "go");
        assert_int_equal(w.result.n_rounds, is_free ? 13 : RUN_DEFAULT_MAX_ROUNDS);
        assert_int_equal(w.result.forced, is_free ? FINAL_NONE : FINAL_TURN_LIMIT);
    }
}

TEST(the_instruction_of_a_last_turn_is_not_kept)
{
    AUTO(world) struct world w = {.script = endless, .input.max_rounds = 2};

    world_run(&w, "go");
    strbuf_clear(&w.log);
    w.script = "turns:\n - text: Fine.\n";
    world_run(&w, "and now?");
    assert_null(strstr(strbuf_cstr(&w.log), "No tool can be called"));
}

TEST(an_empty_summary_gives_the_fallback_sentence)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Echo\n   id: a\n   args: {text: x}\n"
                                " - text: ''\n",
                      .input.max_rounds = 1};

    world_run(&w, "go");
    assert_str(w.result.text, FALLBACK_TEXT);
    assert_int_equal(run_result_exit_code(&w.result), 5);
    assert_int_equal(w.result.outcome, RUN_DONE);
}

TEST(a_failed_summary_gives_the_fallback_sentence)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Echo\n   id: a\n   args: {text: x}\n"
                                " - {error: provider_error, message: broken}\n",
                      .input.max_rounds = 1};

    world_run(&w, "go");
    assert_str(w.result.text, FALLBACK_TEXT);
    assert_int_equal(run_result_exit_code(&w.result), 5);
}

TEST(a_node_ends_at_the_round_cap)
{
    AUTO(world)
    struct world w = {.script = endless, .input.max_rounds = 2, .input.policy = &policy_node};

    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_TURN_LIMIT);
    assert_null(strstr(strbuf_cstr(&w.log), "final"));
}

TEST(rounds_that_another_process_has_made_of_the_turn_count)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Echo\n   id: a\n   args: {text: x}\n"
                                " - text: Soon.\n",
                      .input.max_rounds = 3,
                      .keeper.before.n_rounds = 2};

    world_run(&w, "go");
    assert_int_equal(w.result.n_rounds, 1);
    assert_int_equal(w.result.forced, FINAL_TURN_LIMIT);
}

TEST(the_last_request_of_a_turn_is_made_once)
{
    AUTO(world)
    struct world w = {.script = endless,
                      .input.max_rounds = 2,
                      .keeper.before = {.n_rounds = 2, .forced = FINAL_TURN_LIMIT}};

    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_TURN_LIMIT);
    assert_int_equal(w.result.n_attempts, 0);
}

TEST(more_rounds_are_allowed_by_a_higher_limit)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - text: Done.\n",
                      .input.max_rounds = 3,
                      .keeper.before = {.n_rounds = 2, .forced = FINAL_TURN_LIMIT}};

    world_run(&w, "go");
    assert_int_equal(w.result.forced, FINAL_NONE);
    assert_str(w.result.text, "Done.");
}

TEST(tools_that_another_process_has_taken_away_stay_away)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - text: Then without.\n",
                      .keeper.before.forced = FINAL_UNKNOWN_TOOLS};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "final: unknown_tools\nask m1 tools=7 none\n"));
}

TEST(wrong_calls_in_a_row_count_over_processes)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Echo\n   id: a\n   args: {}\n"
                                " - text: Then without.\n",
                      .keeper.before.n_corrections = 4};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "final: corrections\nask m1 tools=7 none\n"));
}

/* --- the context window --- */

TEST(a_prompt_that_cannot_fit_is_not_sent)
{
    AUTO(world) struct world w = {.script = "turns: []\n", .targets[0].window = 100};
    AUTO(strbuf) struct strbuf prompt = {0};

    for (int i = 0; i < 100; i++)
        strbuf_add_cstr(&prompt, "0123456789");
    world_run(&w, strbuf_cstr(&prompt));
    assert_int_equal(w.result.error->kind, ERR_CONTEXT_OVERFLOW);
    assert_null(strstr(strbuf_cstr(&w.log), "ask"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "+1 assistant error: \"The prompt was not sent"));
    assert_int_equal(run_result_exit_code(&w.result), 5);
}

static const struct accounting_entry *accounted(const struct world *w, size_t i)
{
    for (size_t k = 0; k < w->result.n_accounting; k++)
        if (w->result.accounting[k].type == ACCOUNT_TOOL && i-- == 0)
            return &w->result.accounting[k];
    fail_msg("not accounted for");
    return NULL;
}

static char servers[64]; /* of the calls that have a result, each with a semicolon */

static void note_server(struct world *w, const struct event *e)
{
    size_t n = strlen(servers);

    if (e->type == EVENT_TOOL_RESULT)
        snprintf(servers + n, sizeof servers - n, "%" STR_FMT ";", STR_ARG(e->body.tool.server));
}

TEST(a_call_is_accounted_to_the_server_of_its_tool)
{
    static struct tool remote = TOY("Remote", toy_fail, "", "", .server = "db");
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: a, args: {text: x}}, {tool: Remote, id: b}]\n"
                                " - text: Done.\n",
                      .on_event = note_server};

    servers[0] = 0;
    world_open(&w);
    w.goes_on = true;
    assert_ok(tool_registry_add(w.registry, &remote, NULL));
    world_run(&w, "go");
    assert_string_equal(servers, ";db;");
    assert_str(accounted(&w, 0)->server, ACCOUNT_OWN_SERVER);
    assert_str(accounted(&w, 1)->server, "db");
}

/* A call that ran is never reported as skipped. */
TEST(after_a_result_that_does_not_fit_the_model_reads_how_the_other_calls_ended)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: a, args: {text: x}}, {tool: Big, id: b, "
                                "args: {lines: 600}}, {tool: Echo, id: c, args: {text: y}}, "
                                "{tool: Big, id: d, args: {lines: 90}}]\n"
                                " - text: Done.\n",
                      .targets[0].window = 3000};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+2 tool: a \"x\"\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "+3 tool: b \"[The whole output has"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "+4 tool: c \"y\"\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log),
                           "+5 tool: d \"[The whole output has 711 bytes in 90 lines. The call ran "
                           "and succeeded. Its output does not fit into the context window now.]"));
    assert_null(strstr(strbuf_cstr(&w.log), "skipped"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "= done: \"Done.\"\n"));
    assert_int_equal(accounted(&w, 2)->error.n, 0);
    assert_str(accounted(&w, 3)->error, "context_budget_exceeded");
    assert_true(accounted(&w, 3)->is_ok);
    assert_int_equal(json_int_or(json_get(accounted(&w, 3)->details, "limit_tokens"), 0), 2400);
}

#define WORDS_3                                                                                    \
    "a hook has much to say, "                                                                     \
    "a hook has much to say, "                                                                     \
    "a hook has much to say, "
#define LONG_WORDS WORDS_3 WORDS_3 WORDS_3 WORDS_3 WORDS_3 WORDS_3 "and so on"
static struct err *judge_big_failure(struct gate *g, const struct gate_call *c, struct arena *a,
                                     struct verdict *v)
{
    TRY(world_judge(g, c, a, v));
    v->hook_context = str_is(c->call->name, "Fail") ? S(LONG_WORDS) : (struct str){0};
    return NULL;
}

TEST(a_call_that_failed_is_reported_with_its_first_line)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Big, id: a, args: {lines: 900}}, {tool: Fail, "
                                "id: b, args: {}}]\n - text: Done.\n",
                      .targets[0].window = 3000,
                      .judge = judge_big_failure};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+3 tool: b! \"[The whole output has"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "The call ran and failed: \"it did not work\"."));
}

/* Why it was refused is in the log, for a replay. */
TEST(refusals_after_a_full_window_are_skipped_and_short_ones_are_not)
{
    AUTO(world)
    struct world w = {.script =
                          "turns:\n"
                          " - [{tool: Big, id: a, args: {lines: 900}}, {tool: Nothing, id: b, "
                          "args: {}}, {tool: Echo, id: c, args: {wrong: 1}}]\n"
                          " - text: Done.\n",
                      .targets[0].window = 3000};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log),
                           "b failed: unknown_tool\n+3 tool: b! \"Error: not registered\"\n"
                           "c failed: context_budget_exceeded\n+4 tool: c! \"Error: Context "
                           "window near capacity. Tool execution result skipped.\"\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "= done: \"Done.\"\n"));
}

TEST(a_long_result_is_shown_in_part)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Big\n   id: a\n   args: {lines: 5000}\n"
                                " - text: Done.\n"};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "[The whole output has 48893 bytes in 5000 lines. "
                                                "Its head and tail follow.]\nline 1\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "line 5000\n\"\n"));
    assert_null(strstr(strbuf_cstr(&w.log), "line 2500\n"));
}

/* --- providers that fail --- */

TEST(a_failed_provider_leaves_a_message_that_no_model_sees)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - {error: provider_error, message: bad day}\n"};

    world_run(&w, "hi");
    assert_transcript(&w, "+0 user: \"hi\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"hi\"\n"
                          "error provider_error\n"
                          "+1 assistant error: \"bad day\"\n"
                          "= failed provider_error: \"\"\n");
    w.script = "turns:\n - text: Better.\n";
    world_run(&w, "again");
    assert_transcript(&w, "+2 user: \"again\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"hi\"\n"
                          "    user: \"again\"\n"
                          "+3 assistant: \"Better.\"\n"
                          "= done: \"Better.\"\n");
}

TEST(a_cut_stream_keeps_what_had_come)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{text: Once upon}, {cut: true}]\n"};

    world_run(&w, "tell");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+1 assistant broken: \"Once upon\"\n"
                                                "error network\n"
                                                "+2 assistant error:"));
    assert_str(w.result.text, "Once upon");
}

TEST(the_next_target_answers_when_the_first_is_overloaded)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - {error: provider_unavailable, message: busy}\n"
                                " - {error: provider_unavailable, message: busy}\n",
                      .script2 = "turns:\n - text: Here.\n",
                      .targets[0].max_attempts = 2};

    world_run(&w, "hi");
    assert_transcript(&w, "+0 user: \"hi\"\n"
                          "ask m1 tools=7\n    user: \"hi\"\n"
                          "retry after provider_unavailable\n"
                          "ask m1 tools=7\n    user: \"hi\"\n"
                          "fall back to m2\n"
                          "ask m2 tools=7\n    user: \"hi\"\n"
                          "+1 assistant: \"Here.\"\n"
                          "= done: \"Here.\"\n");
    assert_int_equal(w.result.n_attempts, 3);
    assert_int_equal(w.result.n_accounting, 3);
}

TEST(a_node_makes_one_attempt_a_report_five_and_a_conversation_ten)
{
#define BUSY " - {error: provider_unavailable, message: busy}\n"
#define BUSY_THRICE BUSY BUSY BUSY
    static const char busy[] = "turns:\n" BUSY_THRICE BUSY_THRICE BUSY_THRICE BUSY_THRICE;
    AUTO(world) struct world node = {.script = busy, .input.policy = &policy_node};
    AUTO(world) struct world report = {.script = busy, .input.policy = &policy_report};
    AUTO(world) struct world conversation = {.script = busy};

    world_run(&node, "hi");
    world_run(&report, "hi");
    world_run(&conversation, "hi");
    assert_int_equal(node.result.n_attempts, 1);
    assert_int_equal(report.result.n_attempts, 5);
    assert_int_equal(conversation.result.n_attempts, 10);
}

/* --- abort --- */

TEST(an_abort_while_text_streams_keeps_it)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - {text: One two three, split: 4, delay_ms: 10}\n",
                      .cancels = true,
                      .cancel_at = EVENT_DELTA};

    world_run(&w, "count");
    assert_transcript(&w, "+0 user: \"count\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"count\"\n"
                          "+1 assistant interrupted: \"One \"\n"
                          "= interrupted cancelled: \"One \"\n");
    assert_int_equal(run_result_exit_code(&w.result), 130);
    w.script = "turns:\n - text: Sure.\n";
    world_run(&w, "go on");
    assert_non_null(strstr(strbuf_cstr(&w.log),
                           "    assistant: \"One \n\n[This response was interrupted by the "
                           "user]\"\n"));
}

TEST(an_abort_before_the_answer_still_leaves_a_message)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - {text: Late, delay_ms: 10}\n",
                      .cancels = true,
                      .cancel_at = EVENT_PROVIDER_REQUEST};

    world_run(&w, "hi");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+1 assistant interrupted:"));
}

TEST(an_abort_while_tools_run_gives_each_call_a_result)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: a, args: {text: x}}, {tool: Slow, id: b}, "
                                "{tool: Alone, id: c}]\n",
                      .cancels = true,
                      .cancel_at = EVENT_TOOL_BEGIN};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "b failed: cancelled\n"
                                                "+3 tool: b! \"Execution interrupted by user\"\n"
                                                "c failed: cancelled\n"
                                                "+4 tool: c! \"Execution interrupted by user\"\n"
                                                "= interrupted cancelled:"));
}

TEST(an_abort_while_a_call_streams_in_runs_nothing)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{text: Now.}, {tool: Echo, id: a, args: {text: xxxxxxxx}, "
                                "split: 4, delay_ms: 10}]\n",
                      .on_event = NULL,
                      .cancels = true,
                      .cancel_at = EVENT_DELTA};

    world_run(&w, "go");
    assert_int_equal(w.result.n_tools_executed, 0);
    assert_int_equal(w.result.outcome, RUN_INTERRUPTED);
}

/* --- suspended runs --- */

TEST(a_run_that_must_ask_is_suspended_and_goes_on_with_the_answer)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Big, id: a}, {tool: Echo, id: b, args: {text: x}}]\n",
                      .later = "Echo"};
    struct given_answer yes = {.call_id = S("b"), .answer = {.kind = ANSWER_ONCE}};

    world_run(&w, "go");
    assert_transcript(&w, "+0 user: \"go\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "+1 assistant: Big#a Echo#b\n"
                          "run Big#a\n"
                          "+2 tool: a \"line 1\n\"\n"
                          "= suspended: \"\"\n");
    assert_int_equal(run_result_exit_code(&w.result), 3);
    assert_int_equal(w.result.n_asks, 1);
    assert_str(w.result.asks[0].call_id, "b");

    w.script = "turns:\n - text: Done.\n";
    w.input.answers = &yes;
    w.input.n_answers = 1;
    world_run(&w, NULL);
    assert_transcript(&w, "run Echo#b\n"
                          "+3 tool: b \"x\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"go\"\n"
                          "    assistant: Big#a Echo#b\n"
                          "    tool: a \"line 1\n\"\n"
                          "    tool: b \"x\"\n"
                          "+4 assistant: \"Done.\"\n"
                          "= done: \"Done.\"\n");
}

TEST(a_call_that_waits_holds_those_after_it)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Alone, id: a}, {tool: Echo, id: b, args: {text: x}}, "
                                "{tool: Big, id: c}]\n",
                      .later = "Echo"};
    struct given_answer yes = {.call_id = S("b"), .answer = {.kind = ANSWER_ONCE}};

    world_run(&w, "go");
    assert_int_equal(w.result.n_asks, 1);
    assert_int_equal(w.result.n_tools_executed, 1);
    w.script = "turns:\n - text: Done.\n";
    w.input.answers = &yes;
    w.input.n_answers = 1;
    strbuf_clear(&w.log);
    world_run(&w, NULL);
    assert_non_null(strstr(strbuf_cstr(&w.log), "+3 tool: b \"x\"\n"
                                                "+4 tool: c \"line 1\n\"\n"));
}

TEST(a_tool_may_answer_later_from_outside)
{
    AUTO(world) struct world w = {.script = "turns:\n - tool: Wait\n   id: q\n"};
    AUTO(arena) struct arena a = {0};
    struct given_answer green = {.call_id = S("q"), .answer = {.kind = ANSWER_VALUE}};

    world_run(&w, "go");
    assert_int_equal(w.result.outcome, RUN_SUSPENDED);
    assert_str(w.result.asks[0].text, "which?");
    green.answer.value = json_new_str(&a, S("green"));
    w.input.answers = &green;
    w.input.n_answers = 1;
    w.script = "turns:\n - text: Green it is.\n";
    strbuf_clear(&w.log);
    world_run(&w, NULL);
    assert_non_null(strstr(strbuf_cstr(&w.log), "+2 tool: q \"answered: green\"\n"));
}

TEST(a_new_prompt_closes_what_was_suspended)
{
    AUTO(world) struct world w = {.script = "turns:\n - tool: Wait\n   id: q\n"};

    world_run(&w, "go");
    w.script = "turns:\n - text: Fine.\n";
    strbuf_clear(&w.log);
    world_run(&w, "never mind");
    assert_non_null(strstr(strbuf_cstr(&w.log), "    tool: q! \"The tool call was not executed"));
}

static struct err *no_money(void *self, const struct attempt *a, struct reservation *r,
                            struct budget_word *ret_word)
{
    if (self)
        ret_word->ask.text = S("10 cents more?");
    return err_new(ERR_BUDGET_EXCEEDED, "the budget is used up");
}

TEST(a_budget_may_refuse_an_attempt)
{
    AUTO(world)
    struct world w = {.script = "turns: []\n", .keeper.budget = {.reserve = no_money}};

    world_run(&w, "hi");
    assert_int_equal(w.result.error->kind, ERR_BUDGET_EXCEEDED);
    assert_int_equal(run_result_exit_code(&w.result), 5);
    assert_int_equal(w.result.n_attempts, 0);
}

TEST(a_budget_may_suspend_the_run)
{
    AUTO(world)
    struct world w = {.script = "turns: []\n",
                      .keeper.budget = {.reserve = no_money, .self = (void *)"ask"}};

    world_run(&w, "hi");
    assert_int_equal(w.result.outcome, RUN_SUSPENDED);
    assert_int_equal(w.result.asks[0].kind, ASK_BUDGET);
    assert_transcript(&w, "+0 user: \"hi\"\n= suspended: \"\"\n");
}

TEST(a_refused_request_is_the_fault_of_a_nodes_author)
{
    static const char script[] =
        "turns:\n - {error: provider_error, message: no such field, status: 400}\n";
    AUTO(world) struct world w = {.script = script, .input.policy = &policy_node};
    AUTO(world) struct world v = {.script = script};

    world_run(&w, "hi");
    assert_int_equal(w.result.error->kind, ERR_VALIDATION);
    world_run(&v, "hi");
    assert_int_equal(v.result.error->kind, ERR_PROVIDER_ERROR);
}

/* --- answers that must fit a schema --- */

static void run_with_schema(struct world *w, struct arena *a)
{
    struct json *schema;

    assert_ok(json_parse(a,
                         S("{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{"
                           "\"type\":\"integer\"}}}"),
                         0, &schema));
    w->input.output_schema = schema;
    world_run(w, "count");
}

TEST(an_answer_that_fits_its_schema_is_a_value)
{
    AUTO(world) struct world w = {.script = "turns:\n - text: '{\"n\":3}'\n"};
    AUTO(arena) struct arena a = {0};

    run_with_schema(&w, &a);
    assert_int_equal(w.result.outcome, RUN_DONE);
    assert_int_equal(json_int_or(json_get(w.result.value, "n"), 0), 3);
}

TEST(a_nodes_answer_that_does_not_fit_is_an_error_at_once)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - text: '{\"n\":\"three\"}'\n",
                      .input.policy = &policy_node};
    AUTO(arena) struct arena a = {0};

    run_with_schema(&w, &a);
    assert_int_equal(w.result.error->kind, ERR_VALIDATION);
    assert_non_null(strstr(w.result.error->text, "/n"));
}

TEST(a_nodes_answer_that_is_no_json_is_an_error_at_once)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - text: three\n", .input.policy = &policy_node};
    AUTO(arena) struct arena a = {0};

    run_with_schema(&w, &a);
    assert_int_equal(w.result.error->kind, ERR_VALIDATION);
}

/* --- what may change between rounds --- */

static void change_everything(struct world *w, const struct event *e)
{
    if (e->type != EVENT_TOOL_BEGIN)
        return;
    tool_registry_remove(w->registry, S("Big"));
    w->plan.targets = &w->targets[1];
    w->plan.n_targets = 1;
}

TEST(tools_and_targets_are_read_anew_each_round)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Echo\n   id: a\n   args: {text: x}\n",
                      .script2 = "turns:\n - text: From the other.\n",
                      .on_event = change_everything};

    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "tools: 6\nask m2 tools=6\n"));
}

TEST(only_granted_tools_are_offered_and_run)
{
    struct str only[] = {S("Echo")};
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Big\n   id: a\n"
                                " - text: Done.\n"};

    world_open(&w);
    w.goes_on = true;
    w.plan = (struct run_plan){.targets = w.targets,
                               .n_targets = 1,
                               .tools = w.registry,
                               .filter = {.allow = only, .n_allow = 1},
                               .stream = true};
    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "ask m1 tools=1\n"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: unknown_tool\n"));
}

/* A plan that is made anew whenever it is read, with all that it points at. */
struct fresh_plan {
    struct run_plan plan; /* first */
    struct target targets[1];
    struct fresh_plans *all;
    char system[32];
};

struct fresh_plans {
    struct world *world;
    struct run_plan *now;
    unsigned n_made, n_alive, max_alive;
};

static void fresh_plan_free(struct run_plan *p)
{
    struct fresh_plan *x = (struct fresh_plan *)p;

    x->all->n_alive--;
    memset(x, 0xff, sizeof *x);
    mem_free(x);
}

static const struct run_plan *fresh_plan_now(void *self)
{
    struct fresh_plans *all = self;
    struct fresh_plan *x = mem_alloc(sizeof *x);

    all->n_alive++;
    all->max_alive = MAX(all->max_alive, all->n_alive);
    x->all = all;
    x->plan = all->world->plan;
    x->targets[0] = all->world->targets[0];
    snprintf(x->system, sizeof x->system, "prompt %u", all->n_made++);
    x->plan.targets = x->targets;
    x->plan.system = str_of(x->system);
    x->plan.free = fresh_plan_free;
    x->plan.n_refs = 1;
    run_plan_unref(all->now);
    all->now = &x->plan;
    return all->now;
}

TEST(a_run_holds_the_plan_that_it_has_read_and_none_before_it)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - tool: Echo\n   id: a\n   args: {text: x}\n"
                                " - tool: Echo\n   id: b\n   args: {text: y}\n"
                                " - tool: Echo\n   id: c\n   args: {text: z}\n"
                                " - text: Done.\n"};
    struct fresh_plans all = {.world = &w};

    w.kit.plan = fresh_plan_now;
    w.kit.plan_self = &all;
    world_run(&w, "go");
    assert_str(w.result.text, "Done.");
    assert_true(all.n_made >= 4);
    assert_int_equal(all.max_alive, 2); /* the one before while it is compared */
    assert_int_equal(all.n_alive, 1);
    run_plan_unref(all.now);
    assert_int_equal(all.n_alive, 0);
}

/* --- the window --- */

static struct {
    struct run *run;
    struct token_estimate at_first_request;
    int64_t window;
    bool has_asked;
} looked;

static void look_begin(void *self, struct run *r)
{
    looked.run = r;
    looked.has_asked = false;
}

static void look_at_context(struct world *w, const struct event *e)
{
    if (e->type != EVENT_PROVIDER_REQUEST || looked.has_asked)
        return;
    looked.has_asked = true;
    looked.at_first_request = run_context(looked.run, &looked.window);
}

TEST(between_runs_the_window_is_as_full_as_the_next_run_finds_it)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Echo\n   id: a\n   args: {text: x}\n"
                                " - text: Done.\n - text: More.\n",
                      .system = "Be brief, and call no tool twice.",
                      .on_event = look_at_context,
                      .input.on_begin = look_begin};
    AUTO(message) struct message *prompt = message_new(ROLE_USER, S("p"));
    struct token_estimate between;
    int64_t window;

    message_add_text(prompt, S("and now the rest of it"));
    world_run(&w, "go");
    between = conversation_context(&w.conversation, &w.kit, &window);
    assert_true(between.serialized > looked.at_first_request.serialized);
    world_run(&w, "and now the rest of it");
    assert_int_equal(looked.window, window);
    assert_int_equal(looked.at_first_request.serialized,
                     between.serialized + ledger_message_tokens(prompt));
}

/* --- money --- */

TEST(every_attempt_costs_what_it_says)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: a, args: {text: x}}, {usage: {input: 1000, "
                                "output: 10}}]\n"
                                " - [{text: Done.}, {usage: {input: 2000, output: 20}}]\n",
                      .targets[0].price = {.input = 300000000, /* $3 a million */
                                           .output = 1500000000,
                                           .cache_read = -1,
                                           .cache_write = -1}};

    world_run(&w, "go");
    assert_int_equal(w.result.usage.input, 3000);
    assert_int_equal(w.result.usage.output, 30);
    assert_int_equal(w.result.cost_microcents, 3000 * 300 + 30 * 1500);
    assert_true(w.result.cost_is_known);
}

RUN_TESTS(
    UNIT(an_answer_without_tools_ends_the_run), UNIT(tools_run_and_their_results_go_back),
    UNIT(rounds_are_set_apart_in_the_stream), UNIT(results_stand_in_the_order_of_the_calls),
    UNIT(a_batch_runs_no_more_at_once_than_allowed), UNIT(a_call_that_changes_files_runs_alone),
    UNIT(a_call_id_may_come_again_in_a_later_round), UNIT(an_unknown_tool_is_told_and_never_run),
    UNIT(unknown_tools_in_two_rounds_end_the_tools),
    UNIT(unknown_tools_with_a_good_round_between_go_on),
    UNIT(wrong_arguments_are_corrected_three_times_then_the_tool_has_failed),
    UNIT(a_node_fails_when_its_corrections_are_spent),
    UNIT(who_never_sends_right_arguments_loses_the_tools),
    UNIT(a_conversation_goes_on_after_a_denied_call), UNIT(a_node_ends_with_a_denied_call),
    UNIT(a_failing_tool_is_a_result), UNIT(a_tool_that_takes_too_long_is_ended),
    UNIT(the_operator_sets_a_tools_time), UNIT(a_tools_state_changes_by_events),
    UNIT(the_round_cap_forces_a_summary_without_tools),
    UNIT(ten_rounds_are_the_cap_where_nobody_sets_one),
    UNIT(the_instruction_of_a_last_turn_is_not_kept),
    UNIT(an_empty_summary_gives_the_fallback_sentence),
    UNIT(a_failed_summary_gives_the_fallback_sentence), UNIT(a_node_ends_at_the_round_cap),
    UNIT(rounds_that_another_process_has_made_of_the_turn_count),
    UNIT(the_last_request_of_a_turn_is_made_once), UNIT(more_rounds_are_allowed_by_a_higher_limit),
    UNIT(tools_that_another_process_has_taken_away_stay_away),
    UNIT(wrong_calls_in_a_row_count_over_processes), UNIT(a_prompt_that_cannot_fit_is_not_sent),
    UNIT(after_a_result_that_does_not_fit_the_model_reads_how_the_other_calls_ended),
    UNIT(a_call_that_failed_is_reported_with_its_first_line),
    UNIT(refusals_after_a_full_window_are_skipped_and_short_ones_are_not),
    UNIT(a_long_result_is_shown_in_part),
    UNIT(a_failed_provider_leaves_a_message_that_no_model_sees),
    UNIT(a_cut_stream_keeps_what_had_come),
    UNIT(the_next_target_answers_when_the_first_is_overloaded),
    UNIT(a_node_makes_one_attempt_a_report_five_and_a_conversation_ten),
    UNIT(an_abort_while_text_streams_keeps_it),
    UNIT(an_abort_before_the_answer_still_leaves_a_message),
    UNIT(an_abort_while_tools_run_gives_each_call_a_result),
    UNIT(an_abort_while_a_call_streams_in_runs_nothing),
    UNIT(a_run_that_must_ask_is_suspended_and_goes_on_with_the_answer),
    UNIT(a_call_that_waits_holds_those_after_it), UNIT(a_tool_may_answer_later_from_outside),
    UNIT(a_new_prompt_closes_what_was_suspended), UNIT(a_budget_may_refuse_an_attempt),
    UNIT(a_budget_may_suspend_the_run), UNIT(a_refused_request_is_the_fault_of_a_nodes_author),
    UNIT(an_answer_that_fits_its_schema_is_a_value),
    UNIT(a_nodes_answer_that_does_not_fit_is_an_error_at_once),
    UNIT(a_nodes_answer_that_is_no_json_is_an_error_at_once),
    UNIT(tools_and_targets_are_read_anew_each_round),
    UNIT(a_run_holds_the_plan_that_it_has_read_and_none_before_it),
    UNIT(only_granted_tools_are_offered_and_run),
    UNIT(between_runs_the_window_is_as_full_as_the_next_run_finds_it),
    UNIT(a_call_is_accounted_to_the_server_of_its_tool), UNIT(every_attempt_costs_what_it_says))
