/* hooks_test.c - steps 6 and 8 of the gate: what hooks say about a call. */
#include "calls.h"

/* --- a gate with hooks that say what the test wants --- */

struct scene {
    struct hooks hooks;
    struct asker asker;
    struct hook_outcome before, request; /* PreToolUse, PermissionRequest */
    struct err *failure;
    struct answer answer;
    struct strbuf log; /* what was fired and asked */
    struct tool_registry *registry;
    struct tool_set *set;
    struct tool_state *state;
    struct permission_gate gate;
    struct gate_call call;
    struct part part;
    struct arena arena;
    struct verdict verdict;
};

static struct err *run_hooks(struct hooks *h, const struct hook_input *input, struct arena *a,
                             struct hook_outcome *ret_outcome)
{
    struct scene *s = (struct scene *)h;

    strbuf_addf(&s->log, "%s ", hook_event_name(input->event));
    json_write(&s->log, input->fields);
    strbuf_add_cstr(&s->log, "; ");
    *ret_outcome = input->event == HOOK_PRE_TOOL_USE ? s->before : s->request;
    return TAKE(s->failure);
}

static struct err *ask(struct asker *asker, const struct ask *question, struct arena *a,
                       struct answer *ret_answer)
{
    struct scene *s = (struct scene *)((char *)asker - offsetof(struct scene, asker));

    strbuf_addf(&s->log, "asked \"%" STR_FMT "\" ", STR_ARG(question->text));
    json_write(&s->log, question->args);
    strbuf_add_cstr(&s->log, "; ");
    *ret_answer = s->answer;
    return NULL;
}

static void scene_init(struct scene *s, const struct permission_rules *rules)
{
    struct permission_rules none = {0};

    *s = (struct scene){.hooks = {.run = run_hooks},
                        .asker = {.ask = ask},
                        .answer = {.kind = ANSWER_ONCE},
                        .registry = tool_registry_new(),
                        .state = tool_state_new(S("/proj"))};
    for (size_t i = 0; i < ARRAY_LEN(all_tools); i++)
        assert_ok(tool_registry_add(s->registry, all_tools[i], NULL));
    s->set = tool_registry_snapshot(s->registry);
    s->call = (struct gate_call){.call = &s->part,
                                 .tools = s->set,
                                 .mode = MODE_DEFAULT,
                                 .state = s->state,
                                 .asker = &s->asker};
    permission_gate_init(&s->gate, rules ? rules : &none);
    s->gate.hooks = &s->hooks;
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
    strbuf_clear(&s->log);
    assert_ok(gate_judge(&s->gate.gate, &s->call, &s->arena, &s->verdict));
    return &s->verdict;
}

static const struct json *parsed(struct scene *s, const char *text)
{
    struct json *value;

    assert_ok(json_parse(&s->arena, str_of(text), 0, &value));
    return value;
}

#define MAKE "{\"command\":\"make\"}"
#define FIRED(event, args)                                                                         \
    event " {\"tool_name\":\"Bash\",\"tool_input\":" args ",\"tool_use_id\":\"call_1\"}; "

/* --- step 6 --- */

TEST(hooks_are_told_of_a_call_with_its_effective_arguments)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.mode = MODE_BYPASS;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_int_equal(s.verdict.step, 7);
    assert_str(strbuf_str(&s.log), FIRED("PreToolUse", MAKE));
}

TEST(calls_that_cannot_run_are_not_told)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    judge(&s, "bash", MAKE);
    assert_str(strbuf_str(&s.log), "");
    judge(&s, "Bash", "{}");
    assert_str(strbuf_str(&s.log), "");
}

TEST(a_no_of_a_hook_ends_the_walk_in_every_mode)
{
    AUTO(scene) struct scene s;
    struct str allow = S("Bash");
    struct permission_rules rules = {.allow = &allow, .n_allow = 1};

    scene_init(&s, &rules);
    s.before = (struct hook_outcome){
        .is_blocked = true, .permission = HOOK_DENY, .reason = S("use ninja")};
    for (int mode = MODE_PLAN; mode <= MODE_BYPASS; mode++) {
        s.call.mode = (enum permission_mode)mode;
        assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
        assert_int_equal(s.verdict.step, 6);
        assert_str(s.verdict.reason, "Blocked by hook: use ninja");
        assert_str(s.verdict.rule, "hook:PreToolUse");
    }
}

TEST(arguments_that_a_hook_changed_are_what_rules_see_and_what_runs)
{
    AUTO(scene) struct scene s;
    struct str deny = S("Bash(rm *)");
    struct permission_rules rules = {.deny = &deny, .n_deny = 1};

    scene_init(&s, &rules);
    s.call.mode = MODE_BYPASS;
    s.before.updated_input = parsed(&s, "{\"command\":\"make -n\"}");
    assert_str(json_get_text(judge(&s, "Bash", MAKE)->args, "command"), "make -n");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    s.before = (struct hook_outcome){.permission = HOOK_ALLOW,
                                     .updated_input = parsed(&s, "{\"command\":\"rm x\"}")};
    assert_str(judge(&s, "Bash", MAKE)->reason,
               "Permission denied by the rule Bash(rm *). Do not try another way to the same "
               "effect; if you need it, ask the user to change the rule.");
    assert_int_equal(s.verdict.step, 7);
}

TEST(arguments_that_a_hook_changed_are_checked_again)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.before =
        (struct hook_outcome){.permission = HOOK_ALLOW, .updated_input = parsed(&s, "{\"cmd\":1}")};
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 6);
    assert_true(str_starts(s.verdict.reason, S("Blocked by hook: it changed the arguments to ones "
                                               "that the tool does not accept: ")));
}

TEST(pinned_values_stay_whatever_a_hook_sets)
{
    AUTO(scene) struct scene s;
    struct json *pinned;

    scene_init(&s, NULL);
    pinned = json_new(&s.arena, JSON_OBJECT);
    json_set_str(&s.arena, pinned, "sql", S("select 1"));
    assert_ok(tool_registry_add(s.registry, &query, pinned));
    tool_set_unref(s.set);
    s.call.tools = s.set = tool_registry_snapshot(s.registry);
    s.call.mode = MODE_BYPASS;
    s.before.updated_input = parsed(&s, "{\"sql\":\"drop\"}");
    assert_str(json_get_text(judge(&s, "mcp__db__query", "{}")->args, "sql"), "select 1");
}

/* --- step 7 --- */

TEST(every_decision_meets_every_opinion_of_hooks)
{
    static const struct {
        enum decision decision;
        enum decided_by by;
        enum decision with_allow, with_ask; /* without an opinion it stays */
    } rows[] = {
        {DECISION_DENY, DECIDED_BY_DENY, DECISION_DENY, DECISION_DENY},
        {DECISION_DENY, DECIDED_BY_UNCLEAR_DENY, DECISION_DENY, DECISION_DENY},
        {DECISION_DENY, DECIDED_BY_MODE, DECISION_DENY, DECISION_DENY},
        {DECISION_APPROVE, DECIDED_BY_UNCLEAR_DENY, DECISION_APPROVE, DECISION_APPROVE},
        {DECISION_APPROVE, DECIDED_BY_ASK, DECISION_APPROVE, DECISION_APPROVE},
        {DECISION_APPROVE, DECIDED_BY_MODE, DECISION_AUTO, DECISION_APPROVE},
        {DECISION_AUTO, DECIDED_BY_ALLOW, DECISION_AUTO, DECISION_APPROVE},
        {DECISION_AUTO, DECIDED_BY_MODE, DECISION_AUTO, DECISION_APPROVE},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct decided d = {rows[i].decision, rows[i].by, S("rule")};
        struct str said = S("why");

        assert_int_equal(permission_decide_hooked(d, HOOK_NO_OPINION, said).decision, d.decision);
        assert_int_equal(permission_decide_hooked(d, HOOK_NO_OPINION, said).by, d.by);
        assert_int_equal(permission_decide_hooked(d, HOOK_ALLOW, said).decision,
                         rows[i].with_allow);
        assert_int_equal(permission_decide_hooked(d, HOOK_ASK, said).decision, rows[i].with_ask);
    }
}

TEST(an_allow_spares_the_question_of_the_mode)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.before.permission = HOOK_ALLOW;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_int_equal(s.verdict.step, 7);
    assert_str(s.verdict.rule, "hook:PreToolUse");
    assert_str(strbuf_str(&s.log), FIRED("PreToolUse", MAKE));
}

TEST(an_allow_beats_neither_plan_mode_nor_a_rule)
{
    AUTO(scene) struct scene s;
    struct str pattern = S("Bash(make)");
    struct permission_rules deny = {.deny = &pattern, .n_deny = 1};
    struct permission_rules asks = {.ask = &pattern, .n_ask = 1};

    scene_init(&s, NULL);
    s.before.permission = HOOK_ALLOW;
    s.call.mode = MODE_PLAN;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    s.call.mode = MODE_BYPASS;
    permission_gate_set_rules(&s.gate, &deny);
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    permission_gate_set_rules(&s.gate, &asks);
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 8);
}

TEST(an_ask_beats_an_allow_rule_and_tells_the_person_why)
{
    AUTO(scene) struct scene s;
    struct str allow = S("Bash");
    struct permission_rules rules = {.allow = &allow, .n_allow = 1};

    scene_init(&s, &rules);
    s.before = (struct hook_outcome){.permission = HOOK_ASK, .reason = S("it is late")};
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_int_equal(s.verdict.step, 8);
    assert_str(strbuf_str(&s.log),
               FIRED("PreToolUse", MAKE)
                   FIRED("PermissionRequest",
                         MAKE) "asked \"A hook asks before Bash runs: it is late\" " MAKE "; ");
}

TEST(where_nobody_is_an_ask_denies_and_says_so)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.asker = NULL;
    s.call.mode = MODE_BYPASS;
    s.before.permission = HOOK_ASK;
    assert_str(judge(&s, "Bash", MAKE)->reason,
               "Permission denied. No user is available to approve this action. A hook asks for "
               "approval.");
}

/* --- step 8 --- */

TEST(a_hook_answers_in_the_place_of_the_person)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.asker = NULL;
    s.request.permission = HOOK_ALLOW;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_int_equal(s.verdict.step, 8);
    assert_str(s.verdict.rule, "hook:PermissionRequest");
    s.call.asker = &s.asker;
    s.request = (struct hook_outcome){
        .is_blocked = true, .permission = HOOK_DENY, .reason = S("not today")};
    assert_str(judge(&s, "Bash", MAKE)->reason, "Blocked by hook: not today");
    assert_str(strbuf_str(&s.log), FIRED("PreToolUse", MAKE) FIRED("PermissionRequest", MAKE));
}

TEST(a_hook_without_an_opinion_leaves_it_to_the_person)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.answer.kind = ANSWER_NO;
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    assert_str(strbuf_str(&s.log),
               FIRED("PreToolUse", MAKE)
                   FIRED("PermissionRequest",
                         MAKE) "asked \"default mode asks before Bash runs (execute).\" " MAKE
                               "; ");
}

TEST(what_a_hook_allows_otherwise_is_checked_and_held_against_deny_rules)
{
    AUTO(scene) struct scene s;
    struct str deny = S("Bash(rm *)");
    struct permission_rules rules = {.deny = &deny, .n_deny = 1};

    scene_init(&s, &rules);
    s.request = (struct hook_outcome){.permission = HOOK_ALLOW,
                                      .updated_input = parsed(&s, "{\"command\":\"make -n\"}")};
    assert_str(json_get_text(judge(&s, "Bash", MAKE)->args, "command"), "make -n");
    assert_int_equal(s.verdict.kind, VERDICT_ALLOW);
    s.request.updated_input = parsed(&s, "{\"command\":\"rm x\"}");
    assert_str(judge(&s, "Bash", MAKE)->reason,
               "Permission denied by the rule Bash(rm *). Do not try another way to the same "
               "effect; if you need it, ask the user to change the rule.");
    s.request.updated_input = parsed(&s, "{}");
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    s.request.permission = HOOK_NO_OPINION;
    assert_str(json_get_text(judge(&s, "Bash", MAKE)->args, "command"), "make");
}

TEST(a_person_who_has_answered_is_not_answered_for)
{
    AUTO(scene) struct scene s;
    struct answer yes = {.kind = ANSWER_ONCE};

    scene_init(&s, NULL);
    s.call.answer = &yes;
    s.request = (struct hook_outcome){.is_blocked = true, .permission = HOOK_DENY};
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_ALLOW);
    assert_str(strbuf_str(&s.log), FIRED("PreToolUse", MAKE));
}

/* --- calls that were suspended --- */

/* Asked once, with the answer put off; then answered with a yes, while hooks say `then`. */
static const struct verdict *resume(struct scene *s, const char *first, const char *then)
{
    static const struct answer yes = {.kind = ANSWER_ONCE};

    s->answer.kind = ANSWER_LATER;
    s->before.updated_input = first ? parsed(s, first) : NULL;
    assert_int_equal(judge(s, "Bash", MAKE)->kind, VERDICT_LATER);
    s->before.updated_input = then ? parsed(s, then) : NULL;
    s->call.answer = &yes;
    return judge(s, "Bash", MAKE);
}

#define CHECK "{\"command\":\"make check\"}"

TEST(an_answer_that_comes_later_is_to_the_arguments_that_were_shown)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    assert_int_equal(resume(&s, NULL, NULL)->kind, VERDICT_ALLOW);
    s.call.answer = NULL;
    assert_int_equal(resume(&s, CHECK, CHECK)->kind, VERDICT_ALLOW);
    assert_str(json_get_text(s.verdict.args, "command"), "make check");
    assert_null(tool_state_get(s.state, STATE_ASKED, S("call_1")));
}

TEST(a_hook_that_changes_its_mind_makes_the_gate_ask_again)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    assert_int_equal(resume(&s, NULL, CHECK)->kind, VERDICT_LATER);
    assert_str(json_get_text(s.verdict.ask.args, "command"), "make check");
    s.call.answer = NULL;
    assert_int_equal(resume(&s, CHECK, NULL)->kind, VERDICT_LATER);
    assert_str(json_get_text(s.verdict.ask.args, "command"), "make");
}

TEST(a_hook_may_still_block_what_a_person_has_approved)
{
    AUTO(scene) struct scene s;
    struct answer yes = {.kind = ANSWER_ONCE};

    scene_init(&s, NULL);
    s.call.answer = &yes;
    s.before = (struct hook_outcome){
        .is_blocked = true, .permission = HOOK_DENY, .reason = S("not today")};
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 6);
}

TEST(a_no_that_comes_later_is_one_to_whatever_the_call_has_become)
{
    AUTO(scene) struct scene s;
    struct answer no = {.kind = ANSWER_NO};

    scene_init(&s, NULL);
    s.call.answer = &no;
    s.before.updated_input = parsed(&s, CHECK);
    assert_int_equal(judge(&s, "Bash", MAKE)->kind, VERDICT_DENY);
}

/* --- the hard policy --- */

TEST(arguments_that_a_hook_changed_go_through_the_hard_policy)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.call.mode = MODE_BYPASS;
    s.before = (struct hook_outcome){.permission = HOOK_ALLOW,
                                     .updated_input = parsed(&s, "{\"file_path\":\"../x\"}")};
    assert_int_equal(judge(&s, "Edit", "{\"file_path\":\"x\"}")->kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 5);
    assert_str(s.verdict.rule, "policy:outside");
}

TEST(a_hook_is_not_asked_about_what_the_hard_policy_refuses)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.before.permission = HOOK_ALLOW;
    assert_int_equal(judge(&s, "Edit", "{\"file_path\":\".git/config\"}")->kind, VERDICT_DENY);
    assert_int_equal(s.verdict.step, 5);
    assert_str(strbuf_str(&s.log), "");
}

/* --- besides --- */

TEST(what_hooks_say_besides_is_in_the_verdict)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.before = (struct hook_outcome){.additional_context = S("for the model"),
                                     .system_message = S("for you")};
    s.request = (struct hook_outcome){.is_blocked = true,
                                      .permission = HOOK_DENY,
                                      .additional_context = S("more"),
                                      .stops_run = true,
                                      .stop_reason = S("enough")};
    judge(&s, "Bash", MAKE);
    assert_str(s.verdict.hook_context, "for the model\nmore");
    assert_str(s.verdict.hook_message, "for you");
    assert_true(s.verdict.stops_run);
    assert_str(s.verdict.stop_reason, "enough");
}

TEST(an_interrupted_wait_for_hooks_is_an_error)
{
    AUTO(scene) struct scene s;

    scene_init(&s, NULL);
    s.failure = err_new(ERR_CANCELLED, "cancelled");
    s.part = (struct part){.kind = PART_TOOL_CALL, .name = S("Bash"), .args = S(MAKE)};
    assert_err(gate_judge(&s.gate.gate, &s.call, &s.arena, &s.verdict), ERR_CANCELLED);
    assert_int_not_equal(s.verdict.kind, VERDICT_ALLOW);
}

RUN_TESTS(UNIT(hooks_are_told_of_a_call_with_its_effective_arguments),
          UNIT(calls_that_cannot_run_are_not_told),
          UNIT(a_no_of_a_hook_ends_the_walk_in_every_mode),
          UNIT(arguments_that_a_hook_changed_are_what_rules_see_and_what_runs),
          UNIT(arguments_that_a_hook_changed_are_checked_again),
          UNIT(pinned_values_stay_whatever_a_hook_sets),
          UNIT(every_decision_meets_every_opinion_of_hooks),
          UNIT(an_allow_spares_the_question_of_the_mode),
          UNIT(an_allow_beats_neither_plan_mode_nor_a_rule),
          UNIT(an_ask_beats_an_allow_rule_and_tells_the_person_why),
          UNIT(where_nobody_is_an_ask_denies_and_says_so),
          UNIT(a_hook_answers_in_the_place_of_the_person),
          UNIT(a_hook_without_an_opinion_leaves_it_to_the_person),
          UNIT(what_a_hook_allows_otherwise_is_checked_and_held_against_deny_rules),
          UNIT(a_person_who_has_answered_is_not_answered_for),
          UNIT(an_answer_that_comes_later_is_to_the_arguments_that_were_shown),
          UNIT(a_hook_that_changes_its_mind_makes_the_gate_ask_again),
          UNIT(a_hook_may_still_block_what_a_person_has_approved),
          UNIT(a_no_that_comes_later_is_one_to_whatever_the_call_has_become),
          UNIT(arguments_that_a_hook_changed_go_through_the_hard_policy),
          UNIT(a_hook_is_not_asked_about_what_the_hard_policy_refuses),
          UNIT(what_hooks_say_besides_is_in_the_verdict),
          UNIT(an_interrupted_wait_for_hooks_is_an_error))
