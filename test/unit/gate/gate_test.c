/* gate_test.c */
#include "calls.h"

/* --- a gate with somebody at it --- */

struct scene {
    struct asker asker;
    struct answer answer; /* what the asker says */
    struct err *failure;  /* or how it fails */
    struct strbuf log;    /* what was asked and told */
    struct tool_registry *registry;
    struct tool_set *set;
    struct tool_state *state;
    struct permission_gate gate;
    struct gate_call call;
    struct part part;
    struct arena arena;
    struct verdict verdict;
};

static struct err *answer_from_scene(struct asker *asker, const struct ask *ask, struct arena *a,
                                     struct answer *ret_answer)
{
    struct scene *s = (struct scene *)asker;

    strbuf_addf(&s->log, "asked %s %" STR_FMT " %" STR_FMT "; ", ask_kind_name(ask->kind),
                STR_ARG(ask->tool), STR_ARG(ask->call_id));
    *ret_answer = s->answer;
    return TAKE(s->failure);
}

static void on_ask(void *self, const struct ask *ask, const struct answer *answer)
{
    struct scene *s = self;

    strbuf_addf(&s->log, answer ? "told %d; " : "told that it is asked; ",
                answer ? answer->kind : 0);
}

static void scene_init(struct scene *s, const struct permission_rules *rules)
{
    struct permission_rules none = {0};

    *s = (struct scene){.asker = {.ask = answer_from_scene},
                        .registry = tool_registry_new(),
                        .state = tool_state_new(S("/proj"))};
    for (size_t i = 0; i < ARRAY_LEN(all_tools); i++)
        assert_ok(tool_registry_add(s->registry, all_tools[i], NULL));
    s->set = tool_registry_snapshot(s->registry);
    s->call = (struct gate_call){.call = &s->part,
                                 .tools = s->set,
                                 .mode = MODE_DEFAULT,
                                 .state = s->state,
                                 .asker = &s->asker,
                                 .on_ask = on_ask,
                                 .self = s};
    permission_gate_init(&s->gate, rules ? rules : &none);
}

static void scene_done(struct scene *s)
{
    permission_gate_done(&s->gate);
    tool_set_unref(s->set);
    tool_registry_free(s->registry);
    tool_state_free(s->state);
    strbuf_done(&s->log);
    arena_done(&s->arena);
}
DEFINE_AUTO_VAL(scene, scene_done)

static const struct verdict *judge(struct scene *s, const char *tool, const char *args)
{
    s->part = (struct part){
        .kind = PART_TOOL_CALL, .id = S("call_1"), .name = str_of(tool), .args = str_of(args)};
    assert_ok(gate_judge(&s->gate.gate, &s->call, &s->arena, &s->verdict));
    return &s->verdict;
}

#define MAKE "{\"command\":\"make\"}"

/* --- tools and arguments --- */

TEST(a_tool_that_is_not_registered_is_never_run_and_the_model_is_told_which_are)
{
    AUTO(scene) struct scene s;
    const struct verdict *v;

    scene_init(&s, NULL);
    v = judge(&s, "bash", MAKE);
    assert_int_equal(v->kind, VERDICT_UNKNOWN_TOOL);
    assert_int_equal(v->step, 2);
    assert_null(v->entry);
    assert_str(v->reason,
               "Error: Tool \"bash\" is not registered, so the tool call was not executed. "
               "Use Bash (command, description). Available tools: Bash, Read, Edit, Write, Grep, "
               "WebFetch, WebSearch, mcp__github__create_issue, mcp__db__query.");
}

TEST(a_hostile_name_is_cut_and_made_valid)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf name = {0};
    const struct verdict *v;

    scene_init(&s, NULL);
    strbuf_add_cstr(&name, "\xff");
    while (name.n < 100000)
        strbuf_add_cstr(&name, "name");
    v = judge(&s, strbuf_cstr(&name), "{}");
    assert_int_equal(v->kind, VERDICT_UNKNOWN_TOOL);
    assert_true(v->reason.n < 1000);
    assert_int_not_equal(str_find(v->reason, S("\xEF\xBF\xBD")), STR_NONE);
}

TEST(without_tools_the_model_is_told_so)
{
    AUTO(scene) struct scene s;
    AUTO(tool_set) struct tool_set *nothing = NULL;

    scene_init(&s, NULL);
    nothing = tool_set_narrow(s.set, &(struct tool_filter){0}, 0);
    s.call.tools = nothing;
    assert_str(
        judge(&s, "Bash", MAKE)->reason,
        "Error: Tool \"Bash\" is not registered, so the tool call was not executed. No tools "
        "are available.");
}

TEST(arguments_that_are_not_json_are_shown_with_what_is_wrong)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.part = (struct part){.kind = PART_TOOL_CALL,
                           .name = S("Bash"),
                           .args = S("{}"),
                           .bad_args = S("{\"command\":\"ls\"")};
    assert_ok(gate_judge(&s.gate.gate, &s.call, &s.arena, &s.verdict));
    assert_int_equal(s.verdict.kind, VERDICT_BAD_ARGUMENTS);
    assert_int_equal(s.verdict.step, 4);
    assert_str(json_str(s.verdict.args), "{\"command\":\"ls\"");
    assert_true(
        str_starts(s.verdict.reason, S("Error: The arguments of Bash are not valid JSON: ")));
    assert_int_not_equal(str_find(s.verdict.reason, S("at line 1, column 16")), STR_NONE);
    assert_true(str_ends(s.verdict.reason, S("Received: {\"command\":\"ls\"")));
    assert_str(strbuf_str(&s.log), "");
}

TEST(arguments_that_are_no_object_are_told_as_what_they_are)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.part = (struct part){
        .kind = PART_TOOL_CALL, .name = S("Bash"), .args = S("{}"), .bad_args = S("[1]")};
    assert_ok(gate_judge(&s.gate.gate, &s.call, &s.arena, &s.verdict));
    assert_str(s.verdict.reason,
               "Error: The arguments of Bash must be a JSON object, not array. The "
               "call was not executed. Received: [1]");
}

TEST(arguments_that_do_not_fit_the_schema_are_told_with_every_place)
{
    AUTO(scene) struct scene s;
    const struct verdict *v;

    scene_init(&s, NULL);
    v = judge(&s, "Bash", "{\"command\":7,\"x\":1}");
    assert_int_equal(v->kind, VERDICT_BAD_ARGUMENTS);
    assert_true(
        str_starts(v->reason, S("Error: The call was not executed: the arguments of Bash are "
                                "wrong: ")));
    assert_int_not_equal(str_find(v->reason, S("/command: ")), STR_NONE);
    assert_int_not_equal(str_find(v->reason, S("x")), STR_NONE);
    assert_int_equal(json_int_or(json_get(v->args, "x"), 0), 1);
}

TEST(huge_wrong_arguments_are_cut_in_what_is_told)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf args = {0};

    scene_init(&s, NULL);
    while (args.n < 100000)
        strbuf_add_cstr(&args, "[[[[[[[[");
    s.part = (struct part){
        .kind = PART_TOOL_CALL, .name = S("Bash"), .args = S("{}"), .bad_args = strbuf_str(&args)};
    assert_ok(gate_judge(&s.gate.gate, &s.call, &s.arena, &s.verdict));
    assert_int_equal(s.verdict.kind, VERDICT_BAD_ARGUMENTS);
    assert_true(s.verdict.reason.n < 2000);
}

TEST(a_call_in_plain_text_becomes_the_only_required_argument)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.mode = MODE_BYPASS;
    s.part = (struct part){
        .kind = PART_TOOL_CALL, .name = S("Bash"), .args = S("ls | wc"), .is_free_text = true};
    assert_ok(gate_judge(&s.gate.gate, &s.call, &s.arena, &s.verdict));
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    assert_str(json_get_text(s.verdict.args, "command"), "ls | wc");
}

TEST(plain_text_in_its_wrapper_is_taken_out_of_it)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.mode = MODE_BYPASS;
    tool_set_find(s.set, S("Bash"))->def.takes_free_text = true;
    assert_str(json_get_text(judge(&s, "Bash", "{\"input\":\"ls\"}")->args, "command"), "ls");
    assert_str(json_get_text(judge(&s, "Bash", MAKE)->args, "command"), "make");
}

TEST(pinned_arguments_are_what_rules_see)
{
    AUTO(scene) struct scene s;
    AUTO(arena) struct arena a = {0};
    struct json *pinned = json_new(&a, JSON_OBJECT);
    struct str deny = S("mcp__db__query(drop *)");
    struct permission_rules rules = {.deny = &deny, .n_deny = 1};

    scene_init(&s, &rules);
    json_set_str(&a, pinned, "sql", S("drop table x"));
    assert_ok(tool_registry_add(s.registry, &query, pinned));
    tool_set_unref(s.set);
    s.call.tools = s.set = tool_registry_snapshot(s.registry);
    assert_int_equal(judge(&s, "mcp__db__query", "{\"sql\":\"select\"}")->kind, VERDICT_DENY);
}

/* --- rules and modes --- */

TEST(what_a_rule_or_the_mode_allows_runs_without_a_question)
{
    AUTO(scene) struct scene s;
    struct str allow = S("Bash(make:*)");
    struct permission_rules rules = {.allow = &allow, .n_allow = 1};
    const struct verdict *v;

    scene_init(&s, &rules);
    v = judge(&s, "Bash", MAKE);
    assert_int_equal(v->kind, VERDICT_ALLOW);
    assert_int_equal(v->step, 7);
    assert_str(v->rule, "Bash(make:*)");
    assert_str(judge(&s, "Read", "{\"file_path\":\"x\"}")->rule, "mode:default/inspect");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    assert_str(strbuf_str(&s.log), "");
}

TEST(what_a_rule_denies_is_denied_with_its_name)
{
    AUTO(scene) struct scene s;
    struct str deny = S("Bash(rm *)");
    struct permission_rules rules = {.deny = &deny, .n_deny = 1};

    scene_init(&s, &rules);
    s.call.mode = MODE_BYPASS;
    assert_str(judge(&s, "Bash", "{\"command\":\"ls; rm x\"}")->reason,
               "Permission denied by the rule Bash(rm *). Do not try another way to the same "
               "effect; if you need it, ask the user to change the rule.");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 7);
    s.call.mode = MODE_PLAN;
    assert_str(
        judge(&s, "Bash", "{\"command\":\"$x\"}")->reason,
        "Permission denied: keel cannot tell whether the rule Bash(rm *) denies this call; plan "
        "mode does not ask.");
}

TEST(plan_mode_denies_and_says_what_to_do)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.mode = MODE_PLAN;
    assert_true(str_starts(judge(&s, "Bash", MAKE)->reason,
                           S("Permission denied: plan mode allows no changes. ")));
    assert_str(s.verdict.rule, "mode:plan/execute");
    assert_str(strbuf_str(&s.log), "");
}

/* --- the person --- */

TEST(a_yes_for_once_is_asked_again)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_ONCE;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_int_equal(s.verdict.step, 8);
    judge(&s, "Bash", MAKE);
    assert_str(strbuf_str(&s.log), "told that it is asked; asked permission Bash call_1; told 3; "
                                   "told that it is asked; asked permission Bash call_1; told 3; ");
}

TEST(a_yes_for_the_session_covers_what_was_shown_and_nothing_else)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_SESSION;
    assert_str(judge(&s, "Bash", "{\"command\":\"ls *.c; make\"}")->rule, "Bash(ls \\*.c; make)");
    assert_non_null(tool_state_get(s.state, STATE_ALLOWED, S("Bash(ls \\*.c; make)")));
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Bash", "{\"command\":\"ls *.c; make\"}")->kind, VERDICT_ALLOW);
    assert_int_equal(s.verdict.step, 7);
    assert_int_equal(judge(&s, "Bash", "{\"command\":\"ls a.c; make\"}")->kind, VERDICT_DENY);
    assert_int_equal(judge(&s, "Bash", "{\"command\":\"ls *.c; make x\"}")->kind, VERDICT_DENY);
}

TEST(a_yes_for_the_session_covers_the_host_and_no_other)
{
    static const char *const others[] = {"https://b.org/", "https://www.a.org/",
                                         "https://a.org:8443/", "https://a.org@b.org/"};
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_SESSION;
    assert_str(judge(&s, "WebFetch", "{\"url\":\"https://a.org/x\"}")->rule,
               "WebFetch(host:a.org)");
    assert_str(s.verdict.ask.text,
               "default mode asks before WebFetch sends a request to a.org (network).");
    assert_str(s.verdict.ask.rule, "WebFetch(host:a.org)");
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "WebFetch", "{\"url\":\"http://a.org/y?z\"}")->kind, VERDICT_ALLOW);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        AUTO(strbuf) struct strbuf args = {0};

        strbuf_addf(&args, "{\"url\":\"%s\"}", others[i]);
        assert_int_equal(judge(&s, "WebFetch", strbuf_cstr(&args))->kind, VERDICT_DENY);
    }
}

TEST(a_yes_to_a_search_for_the_session_covers_all_searches)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_SESSION;
    assert_str(judge(&s, "WebSearch", "{\"query\":\"a\"}")->rule, "WebSearch");
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "WebSearch", "{\"query\":\"b\"}")->kind, VERDICT_ALLOW);
}

TEST(without_a_person_a_request_is_refused_with_the_rule_that_would_allow_it)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.asker = NULL;
    for (s.call.mode = MODE_PLAN; s.call.mode < MODE_BYPASS; s.call.mode++) {
        assert_int_equal(judge(&s, "WebFetch", "{\"url\":\"https://a.org:8443/x\"}")->kind,
                         VERDICT_DENY);
        assert_str(
            s.verdict.reason,
            "Permission denied. No user is available to approve this action. The user can allow "
            "it with the rule WebFetch(domain:a.org) or with the permission mode "
            "bypassPermissions.");
    }
    judge(&s, "WebFetch", "{\"url\":\"https://a.org/x\"}");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
}

TEST(a_yes_to_a_search_outside_covers_what_is_in_that_directory)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_SESSION;
    judge(&s, "Grep", "{\"path\":\"/var\"}");
    assert_str(s.verdict.ask.rule, "Read(//var/**)");
    assert_str(s.verdict.ask.text,
               "default mode asks before Grep reads /var, which is outside the workspace.");
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Grep", "{\"path\":\"/var\"}")->kind, VERDICT_ALLOW);
    assert_int_equal(judge(&s, "Read", "{\"file_path\":\"/var/new/x\"}")->kind, VERDICT_ALLOW);
    assert_int_equal(judge(&s, "Grep", "{\"path\":\"/\"}")->kind, VERDICT_DENY);
    assert_int_equal(judge(&s, "Read", "{\"file_path\":\"/srv/x\"}")->kind, VERDICT_DENY);
}

TEST(a_yes_to_a_file_outside_covers_that_file)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_SESSION;
    assert_str(judge(&s, "Read", "{\"file_path\":\"/var/new/x\"}")->rule, "Read(//var/new/x)");
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Read", "{\"file_path\":\"/var/new/x\"}")->kind, VERDICT_ALLOW);
    assert_int_equal(judge(&s, "Read", "{\"file_path\":\"/var/new/y\"}")->kind, VERDICT_DENY);
}

TEST(without_a_person_a_look_outside_is_refused_with_the_rule_that_would_allow_it)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.asker = NULL;
    judge(&s, "Read", "{\"file_path\":\"/var/new/x\"}");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    assert_str(
        s.verdict.reason,
        "Permission denied. No user is available to approve this action. /var/new/x is outside "
        "the workspace. The user can allow reading it with the rule Read(//var/new/x), its "
        "directory with Read(//var/new/**), or with --add-dir /var/new.");
    judge(&s, "Grep", "{\"path\":\"/var\"}");
    assert_str(
        s.verdict.reason,
        "Permission denied. No user is available to approve this action. /var is outside the "
        "workspace. The user can allow reading it with the rule Read(//var/**) or with "
        "--add-dir /var.");
}

TEST(a_yes_for_the_project_holds_for_the_session_and_tells_the_rule)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_PROJECT;
    assert_str(judge(&s, "Edit", "{\"file_path\":\"a.c\"}")->rule, "Edit(//proj/a.c)");
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Edit", "{\"file_path\":\"./a.c\"}")->kind, VERDICT_ALLOW);
    assert_int_equal(judge(&s, "Edit", "{\"file_path\":\"b.c\"}")->kind, VERDICT_DENY);
}

static struct err *fail_to_keep(void *self, struct str rule)
{
    return err_new(ERR_STORAGE, "the disk is full");
}

static struct err *keep_in_scene(void *self, struct str rule)
{
    struct scene *s = self;

    strbuf_addf(&s->log, "kept %" STR_FMT "; ", STR_ARG(rule));
    return NULL;
}

TEST(a_yes_for_the_project_is_kept_as_it_was_shown)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.gate.keeper = (struct rule_keeper){keep_in_scene, &s};
    s.call.on_ask = NULL;
    s.answer.kind = ANSWER_SESSION;
    judge(&s, "Bash", MAKE);
    s.answer.kind = ANSWER_PROJECT;
    judge(&s, "Bash", "{\"command\":\"ls *\"}");
    assert_str(s.verdict.ask.rule, "Bash(ls \\*)");
    assert_str(s.verdict.hook_message, "");
    assert_str(strbuf_str(&s.log), "asked permission Bash call_1; asked permission Bash call_1; "
                                   "kept Bash(ls \\*); ");
}

TEST(a_rule_that_cannot_be_kept_holds_for_the_session_and_the_person_is_told)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.gate.keeper.keep = fail_to_keep;
    s.answer.kind = ANSWER_PROJECT;
    judge(&s, "Bash", "{\"command\":\"ls\"}");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    assert_str(s.verdict.hook_message, "The rule Bash(ls) could not be saved for the project, but "
                                       "applies to this session: the disk is full");
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Bash", "{\"command\":\"ls\"}")->kind, VERDICT_ALLOW);
}

TEST(arguments_of_a_person_go_through_the_hard_policy_too)
{
    AUTO(scene) struct scene s;
    struct json *changed;

    scene_init(&s, NULL);
    assert_ok(json_parse(&s.arena, S("{\"file_path\":\"/etc/passwd\"}"), 0, &changed));
    s.answer = (struct answer){.kind = ANSWER_ONCE, .args = changed};
    judge(&s, "Edit", "{\"file_path\":\"a.c\"}");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 5);
    assert_str(s.verdict.rule, "policy:outside");
}

TEST(the_verdict_names_the_file_that_was_decided_about)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    assert_string_equal(judge(&s, "Read", "{\"file_path\":\"src/../a.c\"}")->target, "/proj/a.c");
    assert_string_equal(judge(&s, "Grep", "{}")->target, "/proj");
    assert_null(judge(&s, "WebFetch", "{\"url\":\"https://a.org\"}")->target);
}

TEST(a_path_in_quotes_is_the_file_that_the_tool_opens)
{
    struct str deny = S("Read(secret*)");
    struct permission_rules rules = {.deny = &deny, .n_deny = 1};
    AUTO(scene) struct scene s;

    scene_init(&s, &rules);
    judge(&s, "Read", "{\"file_path\":\"\\\"a\\\\nb\\\"\"}");
    assert_string_equal(s.verdict.target, "/proj/a\nb");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    judge(&s, "Read", "{\"file_path\":\"\\\"secret\\\\n\\\"\"}");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    judge(&s, "Read",
          "{\"file_path\":\"\\\"secret\\\"\"}"); /* needs no quotes: they are its name */
    assert_string_equal(s.verdict.target, "/proj/\"secret\"");
}

TEST(a_no_is_told_with_the_reason_of_the_person)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_NO;
    assert_str(judge(&s, "Bash", MAKE)->reason,
               "Permission denied. The user did not approve this action.");
    s.answer.reason = S("use ninja\n");
    assert_str(judge(&s, "Bash", MAKE)->reason,
               "Permission denied. The user did not approve this action. The user said: use ninja");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
}

TEST(where_nobody_is_the_model_is_told_what_would_allow_it)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.asker = NULL;
    assert_str(
        judge(&s, "Bash", MAKE)->reason,
        "Permission denied. No user is available to approve this action. The user can allow it "
        "with the rule Bash(make) or with the permission mode bypassPermissions.");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    assert_str(
        judge(&s, "Edit", "{\"file_path\":\"a\"}")->reason,
        "Permission denied. No user is available to approve this action. The user can allow it "
        "with the rule Edit(//proj/a) or with the permission mode acceptEdits.");
    assert_str(strbuf_str(&s.log), "");
}

TEST(where_nobody_is_a_rule_that_asks_is_named)
{
    AUTO(scene) struct scene s;
    struct str pattern = S("Bash(git push:*)");
    struct permission_rules rules = {.ask = &pattern, .n_ask = 1};

    scene_init(&s, &rules);
    s.answer.kind = ANSWER_NOBODY;
    s.call.mode = MODE_BYPASS;
    assert_str(judge(&s, "Bash", "{\"command\":\"git push\"}")->reason,
               "Permission denied. No user is available to approve this action. The rule "
               "Bash(git push:*) asks each time.");
    rules = (struct permission_rules){.deny = &pattern, .n_deny = 1};
    permission_gate_set_rules(&s.gate, &rules);
    assert_str(judge(&s, "Bash", "{\"command\":\"git $x\"}")->reason,
               "Permission denied. No user is available to approve this action. Approval is "
               "needed because keel cannot tell whether the rule Bash(git push:*) denies this "
               "call. Write out every command in the line.");
    assert_str(
        judge(&s, "Bash", "{\"command\":\"make x; ls\"}")->reason,
        "Permission denied. No user is available to approve this action. Approval is "
        "needed because the rule Bash(git push:*) denies some commands, and a program in "
        "this line can start any command. The user can allow it with the rule Bash(make x; ls).");
}

TEST(an_answer_that_comes_later_leaves_the_question_in_the_verdict)
{
    AUTO(scene) struct scene s;
    struct answer yes = {.kind = ANSWER_ONCE};

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_LATER;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_LATER);
    assert_int_equal(s.verdict.ask.kind, ASK_PERMISSION);
    assert_str(s.verdict.ask.call_id, "call_1");
    assert_str(s.verdict.ask.tool, "Bash");
    assert_str(json_get_text(s.verdict.ask.args, "command"), "make");
    assert_str(s.verdict.ask.text, "default mode asks before Bash runs (execute).");
    strbuf_clear(&s.log);
    s.call.answer = &yes;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_str(strbuf_str(&s.log), "told 3; ");
}

TEST(an_answer_given_later_does_not_beat_a_rule_that_denies)
{
    AUTO(scene) struct scene s;
    struct str deny = S("Bash(make)");
    struct permission_rules rules = {.deny = &deny, .n_deny = 1};
    struct answer yes = {.kind = ANSWER_ONCE};

    scene_init(&s, &rules);
    s.call.answer = &yes;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
}

TEST(an_answer_to_another_question_is_no_yes)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_VALUE;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
}

/* A yes to `make` that says: but with these. */
static const struct verdict *judge_changed(struct scene *s, enum answer_kind kind, const char *args)
{
    struct json *changed;

    assert_ok(json_parse(&s->arena, str_of(args), 0, &changed));
    s->answer = (struct answer){.kind = kind, .args = changed};
    return judge(s, "Bash", MAKE);
}

TEST(a_yes_to_other_arguments_runs_with_those)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    judge_changed(&s, ANSWER_ONCE, "{\"command\":\"make check\"}");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    assert_str(json_get_text(s.verdict.args, "command"), "make check");
    judge_changed(&s, ANSWER_SESSION, "{\"command\":\"make check\"}");
    assert_str(s.verdict.rule, "Bash(make check)");
}

/* --- what one call can do --- */

static void assert_risk(struct scene *s, const char *tool, const char *args, enum risk risk,
                        bool is_trusted)
{
    const struct verdict *v = judge(s, tool, args);

    assert_int_equal(v->risk.risk, risk);
    assert_int_equal(v->risk.is_trusted, is_trusted);
    assert_int_equal(verdict_class(v), v->entry->tool->risk);
}

TEST(a_line_that_only_looks_has_a_risk_of_its_own_that_is_not_trusted)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    assert_risk(&s, "Bash", "{\"command\":\"ls -l src | wc -l\"}", RISK_INSPECT, false);
    assert_risk(&s, "Bash", "{\"command\":\"cd src && ls\"}", RISK_EXECUTE, true);
    assert_risk(&s, "Bash", MAKE, RISK_EXECUTE, true);
    assert_risk(&s, "Read", "{\"file_path\":\"src/a.c\"}", RISK_INSPECT, true);
    assert_risk(&s, "WebFetch", "{\"url\":\"https://x.org\"}", RISK_NETWORK, true);
    assert_risk(&s, "mcp__db__query", "{\"sql\":\"x\"}", RISK_UNCLASSIFIED, true);
}

TEST(the_risk_is_that_of_the_arguments_that_run)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    judge_changed(&s, ANSWER_ONCE, "{\"command\":\"ls\"}");
    assert_int_equal(s.verdict.risk.risk, RISK_INSPECT);
    judge_changed(&s, ANSWER_ONCE, "{\"command\":\"make check\"}");
    assert_int_equal(s.verdict.risk.risk, RISK_EXECUTE);
}

TEST(a_gate_that_looks_at_no_call_leaves_the_tools_class)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.part = (struct part){.kind = PART_TOOL_CALL, .name = S("Edit"), .args = S("{}")};
    assert_ok(gate_judge(NULL, &s.call, &s.arena, &s.verdict));
    assert_null(s.verdict.entry);
    assert_risk(&s, "Edit", "{\"file_path\":\"src/a.c\"}", RISK_MODIFY, true);
}

TEST(other_arguments_that_the_tool_does_not_take_do_not_run)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    judge_changed(&s, ANSWER_ONCE, "{\"comand\":\"make check\"}");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    assert_true(str_starts(s.verdict.reason, S("Permission denied. The user approved changed ")));
}

TEST(a_rule_that_denies_holds_for_other_arguments_too)
{
    static const struct str deny[] = {{"Bash(make install)", 18}};
    AUTO(scene) struct scene s;

    scene_init(&s, &(struct permission_rules){.deny = deny, .n_deny = 1});
    judge_changed(&s, ANSWER_ONCE, "{\"command\":\"make install\"}");
    assert_int_equal(s.verdict.kind, VERDICT_DENY);
    assert_str(s.verdict.rule, "Bash(make install)");
}

TEST(an_asker_that_fails_ends_the_walk_with_its_error)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.part = (struct part){.kind = PART_TOOL_CALL, .name = S("Bash"), .args = S(MAKE)};
    s.failure = err_new(ERR_CANCELLED, "cancelled");
    assert_err(gate_judge(&s.gate.gate, &s.call, &s.arena, &s.verdict), ERR_CANCELLED);
    assert_int_not_equal(s.verdict.kind, VERDICT_ALLOW);
}

/* --- beforehand --- */

TEST(of_what_would_run_unasked_only_what_looks_is_foreseen)
{
    static const struct {
        const char *tool, *args;
        bool runs;
    } calls[] = {
        {"Read", "{\"file_path\":\"a\"}", true},
        {"Bash", "{\"command\":\"ls; git status\"}", true},
        {"Bash", MAKE, false},
        {"Bash", "{\"command\":\"ls > a\"}", false},
        {"Write", "{\"file_path\":\"a\",\"content\":\"\"}", false},
        {"WebFetch", "{\"url\":\"https://example.com/\"}", false},
        {"mcp__db__query", "{}", false},
        {"Nothing", "{}", false},
    };
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.mode = MODE_BYPASS;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        bool runs = !calls[i].runs;

        s.part = (struct part){.kind = PART_TOOL_CALL,
                               .id = S("call_1"),
                               .name = str_of(calls[i].tool),
                               .args = str_of(calls[i].args)};
        assert_ok(gate_foresee(&s.gate.gate, &s.call, &s.arena, &s.verdict, &runs));
        assert_int_equal(runs, calls[i].runs);
    }
    assert_int_equal(s.log.n, 0);
}

RUN_TESTS(UNIT(a_tool_that_is_not_registered_is_never_run_and_the_model_is_told_which_are),
          UNIT(a_hostile_name_is_cut_and_made_valid),
          UNIT(a_line_that_only_looks_has_a_risk_of_its_own_that_is_not_trusted),
          UNIT(the_risk_is_that_of_the_arguments_that_run),
          UNIT(a_gate_that_looks_at_no_call_leaves_the_tools_class),
          UNIT(without_tools_the_model_is_told_so),
          UNIT(arguments_that_are_not_json_are_shown_with_what_is_wrong),
          UNIT(arguments_that_are_no_object_are_told_as_what_they_are),
          UNIT(arguments_that_do_not_fit_the_schema_are_told_with_every_place),
          UNIT(huge_wrong_arguments_are_cut_in_what_is_told),
          UNIT(a_call_in_plain_text_becomes_the_only_required_argument),
          UNIT(plain_text_in_its_wrapper_is_taken_out_of_it),
          UNIT(pinned_arguments_are_what_rules_see),
          UNIT(what_a_rule_or_the_mode_allows_runs_without_a_question),
          UNIT(what_a_rule_denies_is_denied_with_its_name),
          UNIT(plan_mode_denies_and_says_what_to_do), UNIT(a_yes_for_once_is_asked_again),
          UNIT(a_yes_for_the_session_covers_what_was_shown_and_nothing_else),
          UNIT(a_yes_for_the_session_covers_the_host_and_no_other),
          UNIT(a_yes_to_a_search_for_the_session_covers_all_searches),
          UNIT(without_a_person_a_request_is_refused_with_the_rule_that_would_allow_it),
          UNIT(a_yes_to_a_search_outside_covers_what_is_in_that_directory),
          UNIT(a_yes_to_a_file_outside_covers_that_file),
          UNIT(without_a_person_a_look_outside_is_refused_with_the_rule_that_would_allow_it),
          UNIT(a_yes_for_the_project_holds_for_the_session_and_tells_the_rule),
          UNIT(a_yes_for_the_project_is_kept_as_it_was_shown),
          UNIT(a_rule_that_cannot_be_kept_holds_for_the_session_and_the_person_is_told),
          UNIT(arguments_of_a_person_go_through_the_hard_policy_too),
          UNIT(the_verdict_names_the_file_that_was_decided_about),
          UNIT(a_no_is_told_with_the_reason_of_the_person),
          UNIT(where_nobody_is_the_model_is_told_what_would_allow_it),
          UNIT(where_nobody_is_a_rule_that_asks_is_named),
          UNIT(an_answer_that_comes_later_leaves_the_question_in_the_verdict),
          UNIT(an_answer_given_later_does_not_beat_a_rule_that_denies),
          UNIT(an_answer_to_another_question_is_no_yes),
          UNIT(a_yes_to_other_arguments_runs_with_those),
          UNIT(other_arguments_that_the_tool_does_not_take_do_not_run),
          UNIT(a_rule_that_denies_holds_for_other_arguments_too),
          UNIT(an_asker_that_fails_ends_the_walk_with_its_error),
          UNIT(a_path_in_quotes_is_the_file_that_the_tool_opens),
          UNIT(of_what_would_run_unasked_only_what_looks_is_foreseen))
