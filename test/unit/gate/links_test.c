/* links_test.c - attacks with links on what rules say of paths. */
#include "../sys/tasks.h"
#include "yard.h"

/* --- links out --- */

TEST(a_link_in_the_workspace_to_a_file_outside_is_not_written)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/src/x", "@out/secret.txt");
    yard_link(&y, "proj/src/new", "@out/new");
    yard_link(&y, "proj/dir", "@out");
    yard_allow(&y, "Edit(src/**)");
    denied_by(&edit, "src/x", "policy:outside");
    denied_by(&edit, "src/new", "policy:outside");
    denied_by(&edit, "dir/a/b", "policy:outside");
    denied_by(&bash, "echo x > src/x", "policy:outside");
    denied_by(&bash, "echo x > dir/../out/x", "policy:outside");
    auto_by(&edit, "src/a.c", "Edit(src/**)");
}

TEST(a_rule_that_allows_a_link_does_not_allow_what_it_leads_to)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    put(&y.dir, "proj/inside/ok", "");
    yard_link(&y, "proj/inside/x", "../src/a.c");
    yard_allow(&y, "Edit(inside/**)");
    auto_by(&edit, "inside/ok", "Edit(inside/**)");
    asks_by(&edit, "inside/x", "mode:default/modify");
    yard_allow(&y, "Edit(src/**)");
    asks_by(&edit, "inside/x", "mode:default/modify");
    yard_allow(&y, "Edit(**)");
    auto_by(&edit, "inside/x", "Edit(**)");
}

TEST(a_link_from_outside_into_the_workspace_is_judged_by_its_target)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    yard_link(&y, "out/in", "@proj/src/a.c");
    yard_allow(&y, "Edit(src/**)");
    auto_by(&edit, "@/out/in", "Edit(src/**)");
    yard_deny(&y, "Edit(src/**)");
    denied_by(&edit, "@/out/in", "Edit(src/**)");
}

TEST(protected_and_secret_places_are_so_through_links)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/readme", ".git/config");
    yard_link(&y, "proj/vcs", ".git");
    yard_link(&y, "proj/.zshrc", "src/a.c");
    yard_link(&y, "proj/k", "@keys");
    denied_by(&edit, "readme", "policy:protected");
    denied_by(&edit, "vcs/hooks/pre-commit", "policy:protected");
    denied_by(&edit, ".zshrc", "policy:protected");
    denied_by(&read_tool, "k/id", "policy:secret");
    denied_by(&bash, "cat < k/id", "policy:secret");
    denied_by(&bash, "echo x > vcs/config", "policy:protected");
}

TEST(links_in_circles_are_refused)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/a", "b");
    yard_link(&y, "proj/b", "a");
    denied_by(&read_tool, "a", "policy:links");
    denied_by(&edit, "a/x", "policy:links");
    denied_by(&bash, "echo x > a", "policy:links");
}

/* --- deny rules --- */

TEST(a_denied_file_is_denied_by_every_name)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, "proj/vault/x", "");
    yard_link(&y, "proj/door", "vault");
    yard_link(&y, "proj/src/one", "two");
    yard_link(&y, "proj/src/two", "../vault/x");
    yard_deny(&y, "Read(vault/**)");
    denied_by(&read_tool, "vault/x", "Read(vault/**)");
    denied_by(&read_tool, "door/x", "Read(vault/**)");
    denied_by(&read_tool, "src/one", "Read(vault/**)");
    denied_by(&edit, "door/new", "Read(vault/**)");
    denied_by(&grep, "door", "Read(vault/**)");
    denied_by(&bash, "cat < src/one", "Read(vault/**)");
    denied_by(&bash, "echo > door/new", "Read(vault/**)");
    denied_by(&bash, "rm src/../door/x", "Read(vault/**)");
    yard_deny(&y, "Read(src/two)");
    denied_by(&read_tool, "src/one", "Read(src/two)");
}

TEST(a_denied_link_denies_what_it_leads_to)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/vault", "@out");
    yard_link(&y, "home/mine", "@out");
    yard_deny(&y, "Read(vault/**)");
    denied_by(&read_tool, "@/out/secret.txt", "Read(vault/**)");
    denied_by(&read_tool, "vault/secret.txt", "Read(vault/**)");
    yard_deny(&y, "Read(~/mine)");
    denied_by(&read_tool, "@/out/secret.txt", "Read(~/mine)");
    auto_by(&read_tool, "src/a.c", "mode:bypassPermissions/inspect");
}

TEST(a_rule_that_denies_editing_holds_for_commands_that_obviously_write)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/s", "src");
    yard_deny(&y, "Edit(src/**)");
    denied_by(&bash, "rm src/a.c", "Edit(src/**)");
    denied_by(&bash, "make | tee s/log", "Edit(src/**)");
    denied_by(&bash, "sed -i s/a/b/ s/a.c", "Edit(src/**)");
    auto_by(&bash, "cat src/a.c > x", "mode:bypassPermissions/execute");
}

/* --- a workspace with two names --- */

TEST(a_workspace_that_is_reached_through_a_link_matches_its_own_rules)
{
    static const char *const ways[] = {"src/a.c", "@/proj/src/a.c", "@/way/src/a.c"};
    AUTO(yard) struct yard y;
    AUTO(tool_state) struct tool_state *first = NULL;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    yard_link(&y, "way", "proj");
    first = y.state;
    y.state = tool_state_new(str_of(yard_path(&y, "way")));
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        y.rules.n_deny = 0;
        yard_allow(&y, "Edit(src/**)");
        auto_by(&edit, ways[i], "Edit(src/**)");
        yard_allow(&y, "Edit(/@/proj/src/**)");
        auto_by(&edit, ways[i], "Edit(/@/proj/src/**)");
        yard_allow(&y, "Edit(/@/way/src/**)");
        auto_by(&edit, ways[i], "Edit(/@/way/src/**)");
        yard_deny(&y, "Edit(src/**)");
        denied_by(&edit, ways[i], "Edit(src/**)");
        yard_deny(&y, "Edit(/@/way/src)");
        denied_by(&edit, ways[i], "Edit(/@/way/src)");
    }
    denied_by(&edit, "@/way/.git/x", "policy:protected");
    denied_by(&edit, "@/out/x", "policy:outside");
}

TEST(a_current_directory_behind_a_link_allows_no_more)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    put(&y.dir, "proj/real/x", "");
    yard_link(&y, "proj/link", "real");
    tool_state_set_cwd(y.state, yard_path(&y, "proj/link"));
    yard_allow(&y, "Edit(link/**)");
    asks_by(&edit, "x", "mode:default/modify");
    yard_deny(&y, "Edit(./x)");
    denied_by(&edit, "@/proj/real/x", "Edit(./x)");
}

/* --- searches --- */

TEST(searches_leave_out_what_is_denied_by_any_name)
{
    AUTO(yard) struct yard y;
    AUTO(denied_paths) struct denied_paths *d = NULL;
    struct path_filter f;

    yard_init(&y);
    yard_link(&y, "proj/vault", "@out");
    yard_deny(&y, "Read(./vault/**)");
    d = denied_paths_new(&y.rules, y.state);
    denied_paths_hide_secrets(d, &y.policy);
    f = denied_paths_filter(d);
    assert_true(f.is_hidden(f.self, str_of(yard_path(&y, "proj/vault")), true));
    assert_true(f.is_hidden(f.self, str_of(yard_path(&y, "proj/vault/x")), false));
    assert_true(f.is_hidden(f.self, str_of(yard_path(&y, "out")), true));
    assert_true(f.is_hidden(f.self, str_of(yard_path(&y, "out/secret.txt")), false));
    assert_true(f.is_hidden(f.self, str_of(yard_path(&y, "keys/id")), false));
    assert_false(f.is_hidden(f.self, str_of(yard_path(&y, "proj/src/a.c")), false));
    denied_by(&grep, "vault", "Read(./vault/**)");
    denied_by(&grep, "@/out", "Read(./vault/**)");
    auto_by(&grep, NULL, "mode:bypassPermissions/inspect");
}

/* Patterns as Glob has them: its rules are about the pattern, but it looks in directories. */
static struct tool glob_tool = {.name = "Glob", .risk = RISK_INSPECT, .permission_arg = "pattern"};

TEST(a_pattern_that_begins_in_a_denied_or_secret_place_is_refused)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/door", "@out");
    yard_link(&y, "proj/k", "@keys");
    yard_deny(&y, "Read(/@/out/**)");
    denied_by(&glob_tool, "door/*", "Read(/@/out/**)");
    denied_by(&glob_tool, "@/out/*.txt", "Read(/@/out/**)");
    denied_by(&glob_tool, "k/**", "policy:secret");
    denied_by(&glob_tool, "../keys/*", "policy:secret");
    auto_by(&glob_tool, "**/*.c", "mode:bypassPermissions/inspect");
    yard_deny(&y, "Read(./src/**)");
    denied_by(&glob_tool, "src/*.c", "Read(./src/**)");
    auto_by(&glob_tool, "*", "mode:bypassPermissions/inspect");
}

/* --- links that change meanwhile --- */

/* A gate whose hooks put another link in place, as a command that runs beside it could. */
struct swapper {
    struct hooks hooks;
    struct yard *yard;
    const char *says;
};

static struct err *swap(struct hooks *h, const struct hook_input *input, struct arena *a,
                        struct hook_outcome *ret_outcome)
{
    const struct swapper *s = (const struct swapper *)h;

    *ret_outcome = (struct hook_outcome){0};
    if (input->event == HOOK_PRE_TOOL_USE)
        yard_link(s->yard, "proj/link", s->says);
    return NULL;
}

static struct verdict judge_swapped(struct yard *y, const struct tool *tool, const char *says)
{
    AUTO(tool_set) struct tool_set *set = NULL;
    struct tool_registry *registry = tool_registry_new();
    struct swapper swapper = {.hooks = {.run = swap}, .yard = y, .says = says};
    struct permission_gate gate;
    struct part part = {.kind = PART_TOOL_CALL,
                        .id = S("call_1"),
                        .name = str_of(tool->name),
                        .args = S("{\"file_path\":\"link\"}")};
    struct gate_call call = {.call = &part, .mode = y->mode, .state = y->state};
    struct verdict verdict;

    assert_ok(tool_registry_add(registry, (struct tool *)tool, NULL));
    call.tools = set = tool_registry_snapshot(registry);
    permission_gate_init(&gate, &y->rules);
    gate.policy = y->policy;
    gate.hooks = &swapper.hooks;
    assert_ok(gate_judge(&gate.gate, &call, &y->arena, &verdict));
    verdict.entry = NULL;
    permission_gate_done(&gate);
    tool_registry_free(registry);
    return verdict;
}

TEST(a_link_that_is_swapped_meanwhile_changes_neither_the_decision_nor_the_file)
{
    AUTO(yard) struct yard y;
    struct verdict v;

    yard_init(&y);
    yard_deny(&y, "Read(/@/out/**)");
    yard_link(&y, "proj/link", "src/a.c");
    v = judge_swapped(&y, &read_tool, "@out/secret.txt");
    assert_int_equal(v.kind, VERDICT_ALLOW);
    assert_string_equal(v.target, yard_path(&y, "proj/src/a.c"));
    v = judge_swapped(&y, &read_tool, "src/a.c");
    assert_int_equal(v.kind, VERDICT_DENY);
    yard_link(&y, "proj/link", "src/a.c");
    v = judge_swapped(&y, &edit, "@keys/id");
    assert_int_equal(v.kind, VERDICT_ALLOW);
    assert_string_equal(v.target, yard_path(&y, "proj/src/a.c"));
}

TEST(an_answer_that_is_remembered_for_a_link_holds_while_it_leads_there)
{
    AUTO(yard) struct yard y;
    struct json *yes;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    put(&y.dir, "proj/b.c", "");
    yard_link(&y, "proj/link", "src/a.c");
    yes = json_new_bool(&y.arena, true);
    tool_state_set(y.state, STATE_ALLOWED, str_of(yard_text(&y, "Edit(/@/proj/link)")), yes);
    asks_by(&edit, "link", "mode:default/modify");
    tool_state_set(y.state, STATE_ALLOWED, str_of(yard_text(&y, "Edit(/@/proj/src/a.c)")), yes);
    auto_by(&edit, "link", "Edit(/@/proj/src/a.c)");
    yard_link(&y, "proj/link", "b.c");
    asks_by(&edit, "link", "mode:default/modify");
}

/* --- on a loop --- */

static struct err *judge_in_task(void *arg)
{
    struct yard *y = arg;
    struct json *args = json_new(&y->arena, JSON_OBJECT);

    json_set_str(&y->arena, args, "file_path", S("link"));
    return permission_judge(&y->rules, &y->policy, y->mode, &edit, args, y->state, &y->arena,
                            &y->judged);
}

TEST(in_a_task_links_are_looked_up_by_a_worker)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/link", "@out");
    assert_ok(run_tasks(judge_in_task, &y));
    assert_str(y.judged.rule, "policy:outside");
}

RUN_TESTS(UNIT(a_link_that_is_swapped_meanwhile_changes_neither_the_decision_nor_the_file),
          UNIT(an_answer_that_is_remembered_for_a_link_holds_while_it_leads_there),
          UNIT(a_pattern_that_begins_in_a_denied_or_secret_place_is_refused),
          UNIT(in_a_task_links_are_looked_up_by_a_worker),
          UNIT(a_link_in_the_workspace_to_a_file_outside_is_not_written),
          UNIT(a_rule_that_allows_a_link_does_not_allow_what_it_leads_to),
          UNIT(a_link_from_outside_into_the_workspace_is_judged_by_its_target),
          UNIT(protected_and_secret_places_are_so_through_links),
          UNIT(links_in_circles_are_refused), UNIT(a_denied_file_is_denied_by_every_name),
          UNIT(a_denied_link_denies_what_it_leads_to),
          UNIT(a_rule_that_denies_editing_holds_for_commands_that_obviously_write),
          UNIT(a_workspace_that_is_reached_through_a_link_matches_its_own_rules),
          UNIT(a_current_directory_behind_a_link_allows_no_more),
          UNIT(searches_leave_out_what_is_denied_by_any_name))
