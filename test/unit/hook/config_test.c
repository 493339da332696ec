/* config_test.c - "hooks" of settings files, our own and those of others. */
#include "test.h"

#include "hook/config.h"

static struct err *add(struct hook_config *c, const char *text, const char *file, bool is_foreign)
{
    AUTO(arena) struct arena a = {0};
    struct json *hooks;

    assert_ok(json_parse(&a, str_of(text), 0, &hooks));
    return hook_config_add(c, hooks, &(struct hook_file){file, is_foreign});
}

/* What our own file is told is wrong with this. */
static void refused_(const char *text, const char *want, const char *file, int line)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    AUTO(err) struct err *e = add(c, text, ".keel/settings.json", /* is_foreign= */ false);
    AUTO_FREE char *got = e ? err_message(e) : mem_strdup("no error");

    if (!e || e->kind != ERR_VALIDATION || strcmp(got, want) != 0) {
        print_error("want \"%s\"\n got \"%s\"\n", want, got);
        _fail(file, line);
    }
}
#define refused(text, want) refused_(text, ".keel/settings.json: " want, __FILE__, __LINE__)

#define COMMAND(more) "{\"type\":\"command\",\"command\":\"./check.sh\"" more "}"
#define PRE(group) "{\"PreToolUse\":[" group "]}"
#define GROUP(hook) "{\"matcher\":\"Bash\",\"hooks\":[" hook "]}"

TEST(a_hook_is_read_with_all_it_says)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    const struct hook_list *list;

    assert_true(hook_config_is_empty(c));
    assert_ok(add(c,
                  PRE("{\"matcher\":\"Bash\",\"env\":{\"A\":\"b\"},\"hooks\":[" COMMAND(
                      ",\"timeout\":2.5,\"failClosed\":true") "]}"),
                  "f", false));
    assert_false(hook_config_is_empty(c));
    list = hook_config_list(c, HOOK_PRE_TOOL_USE);
    assert_int_equal(list->n, 1);
    assert_str(list->items[0].type, "command");
    assert_str(list->items[0].label, "command \"./check.sh\" of f");
    assert_int_equal(list->items[0].timeout_ms, 2500);
    assert_true(list->items[0].fails_closed);
    assert_str(json_get_text(list->items[0].env, "A"), "b");
    assert_true(matcher_matches(list->items[0].matcher, S("Bash")));
    assert_false(matcher_matches(list->items[0].matcher, S("Edit")));
    assert_int_equal(hook_config_list(c, HOOK_STOP)->n, 0);
}

TEST(a_hook_that_says_nothing_has_ten_seconds_and_fails_open)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    const struct hook_def *def;

    assert_ok(add(c, PRE("{\"hooks\":[" COMMAND("") "]}"), "f", false));
    def = &hook_config_list(c, HOOK_PRE_TOOL_USE)->items[0];
    assert_int_equal(def->timeout_ms, 10000);
    assert_false(def->fails_closed);
    assert_null(def->env);
    assert_true(matcher_matches(def->matcher, S("anything")));
}

TEST(a_group_speaks_for_hooks_that_do_not_speak_for_themselves)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    const struct hook_list *list;

    assert_ok(add(c,
                  PRE("{\"timeout\":3,\"failClosed\":true,\"hooks\":[" COMMAND("") "," COMMAND(
                      ",\"timeout\":4,\"failClosed\":false") "]}"),
                  "f", false));
    list = hook_config_list(c, HOOK_PRE_TOOL_USE);
    assert_int_equal(list->items[0].timeout_ms, 3000);
    assert_true(list->items[0].fails_closed);
    assert_int_equal(list->items[1].timeout_ms, 4000);
    assert_false(list->items[1].fails_closed);
}

TEST(files_add_up_in_their_order)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    const struct hook_list *list;

    assert_ok(add(c, PRE(GROUP("{\"type\":\"command\",\"command\":\"1\"}")), "low", true));
    assert_ok(add(c, PRE(GROUP("{\"type\":\"command\",\"command\":\"2\"}")), "high", false));
    list = hook_config_list(c, HOOK_PRE_TOOL_USE);
    assert_int_equal(list->n, 2);
    assert_str(list->items[0].label, "command \"1\" of low");
    assert_str(list->items[1].label, "command \"2\" of high");
}

TEST(every_type_is_taken)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    const struct hook_list *list;

    assert_ok(add(c,
                  PRE(GROUP("{\"type\":\"http\",\"url\":\"https://me:pw@h.example/x?token=1\","
                            "\"method\":\"PUT\",\"headers\":{\"A\":\"$ENV:B\"}},"
                            "{\"type\":\"callback\",\"callback\":\"id 1\"},"
                            "{\"type\":\"prompt\",\"prompt\":\"Is it safe?\\nSay so.\"},"
                            "{\"type\":\"agent\",\"agent\":\"reviewer\",\"config\":{}}")),
                  "f", false));
    list = hook_config_list(c, HOOK_PRE_TOOL_USE);
    assert_int_equal(list->n, 4);
    assert_int_equal(str_find(list->items[0].label, S("pw")), STR_NONE);
    assert_str(list->items[1].label, "callback \"id 1\" of f");
    assert_str(list->items[2].label, "prompt \"Is it safe?...\" of f");
}

TEST(our_own_files_are_read_strictly)
{
    refused("[]", "\"hooks\" must be an object, not array");
    refused("{\"PreToolUsee\":[]}", "\"hooks.PreToolUsee\" is not a hook event");
    refused("{\"Stop\":{}}", "\"hooks.Stop\" must be an array of groups, not object");
    refused(PRE("1"), "\"hooks.PreToolUse[0]\" must be an object, not number");
    refused(PRE("{}"), "\"hooks.PreToolUse[0]\" has no \"hooks\"");
    refused(PRE("{\"hooks\":{}}"),
            "\"hooks.PreToolUse[0]\" is not valid: \"hooks\" must be an array of hooks");
    refused(PRE("{\"hooks\":[],\"matchers\":\"x\"}"),
            "\"hooks.PreToolUse[0]\" has an unknown key \"matchers\"");
    refused(PRE("{\"hooks\":[],\"matcher\":1}"),
            "\"hooks.PreToolUse[0]\" is not valid: \"matcher\" must be a string, not number");
    refused(PRE("{\"hooks\":[],\"matcher\":\"a(\"}"),
            "\"hooks.PreToolUse[0].matcher\": \"a(\" is not a regular expression: missing closing "
            "parenthesis, at offset 2");
    refused(
        PRE("{\"hooks\":[],\"env\":{\"A\":1}}"),
        "\"hooks.PreToolUse[0]\" is not valid: \"env\" must be an object of strings, not object");
    refused(PRE("{\"hooks\":[],\"env\":{\"A=B\":\"\"}}"),
            "\"hooks.PreToolUse[0]\" is not valid: \"env\" contains a name with '=' or NUL in it");
    refused(PRE(GROUP(COMMAND("")) "," GROUP(COMMAND("") ",[]")),
            "\"hooks.PreToolUse[1].hooks[1]\" must be an object, not array");
    refused(PRE(GROUP("{}")), "\"hooks.PreToolUse[0].hooks[0]\" has no \"type\"");
    refused(PRE(GROUP("{\"type\":\"shell\"}")),
            "\"hooks.PreToolUse[0].hooks[0]\" has an unknown type: shell");
    refused(PRE(GROUP("{\"type\":\"command\"}")),
            "\"hooks.PreToolUse[0].hooks[0]\" has no \"command\"");
    refused(PRE(GROUP("{\"type\":\"command\",\"command\":\" \"}")),
            "\"hooks.PreToolUse[0].hooks[0]\" is not valid: \"command\" is empty");
    refused(PRE(GROUP("{\"type\":\"command\",\"command\":\"a\\u0000b\"}")),
            "\"hooks.PreToolUse[0].hooks[0]\" is not valid: \"command\" contains a NUL character");
    refused(PRE(GROUP(COMMAND(",\"failclosed\":true"))),
            "\"hooks.PreToolUse[0].hooks[0]\" has an unknown key \"failclosed\"");
    refused(PRE(GROUP(COMMAND(",\"timeout\":0"))),
            "\"hooks.PreToolUse[0].hooks[0]\" is not valid: \"timeout\" must be a number of "
            "seconds greater than 0 and at most 3600, not number");
    refused(PRE(GROUP(COMMAND(",\"timeout\":1e300"))),
            "\"hooks.PreToolUse[0].hooks[0]\" is not valid: \"timeout\" must be a number of "
            "seconds greater than 0 and at most 3600, not number");
    refused(PRE(GROUP("{\"type\":\"http\",\"url\":\"file:///etc\"}")),
            "\"hooks.PreToolUse[0].hooks[0].url\": bad URL \"file:///etc\": it has no host");
    refused(PRE(GROUP("{\"type\":\"http\",\"url\":\"ftp://h/\"}")),
            "\"hooks.PreToolUse[0].hooks[0]\" is not valid: \"url\" must begin with http:// or "
            "https://");
}

TEST(fail_closed_is_no_promise_where_nothing_can_be_stopped)
{
    refused(
        "{\"PostToolUse\":[" GROUP(COMMAND(",\"failClosed\":true")) "]}",
        "\"hooks.PostToolUse[0].hooks[0]\" is not valid: \"failClosed\" is for PreToolUse only");
    refused("{\"Stop\":[{\"failClosed\":true,\"hooks\":[]}]}",
            "\"hooks.Stop[0]\" is not valid: \"failClosed\" is for PreToolUse only");
}

TEST(foreign_files_lose_what_is_wrong_and_keep_the_rest)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    static const char *const want[] = {
        "f: \"hooks.PreToolUse[0].hooks[0]\" has an unknown type: mcp_tool (ignored)",
        "f: \"hooks.PreToolUse[0].hooks[1]\" has an unknown key \"if\" (ignored)",
        "f: \"hooks.PreToolUse[1]\" must be an object, not number (ignored)",
    };

    assert_ok(
        add(c,
            "{\"Elicitation\":[],\"PreToolUse\":[{\"hooks\":[{\"type\":\"mcp_tool\"}," COMMAND(
                ",\"if\":\"Bash(rm *)\"") "," COMMAND(",\"once\":true,\"shell\":\"bash\"") "]},3]}",
            "f", true));
    assert_int_equal(hook_config_list(c, HOOK_PRE_TOOL_USE)->n, 1);
    assert_int_equal(hook_config_n_warnings(c), ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_str(hook_config_warning(c, i), want[i]);
    assert_ok(add(c, "[]", "g", true));
    assert_str(hook_config_warning(c, ARRAY_LEN(want)),
               "g: \"hooks\" must be an object, not array (ignored)");
}

TEST(a_matcher_where_there_is_nothing_to_match_is_told_and_not_used)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();

    assert_ok(add(c, "{\"Stop\":[" GROUP(COMMAND("")) "]}", "f", false));
    assert_int_equal(hook_config_n_warnings(c), 1);
    assert_str(hook_config_warning(c, 0),
               "f: \"hooks.Stop[0].matcher\" is ignored: Stop has no matcher");
    assert_true(matcher_matches(hook_config_list(c, HOOK_STOP)->items[0].matcher, S("")));
}

/* The warnings of a file of our own whose hooks have this matcher, one a line. */
static char *warnings_of(const char *event, const char *matcher, bool names_are_regex)
{
    const struct str names[] = {S("Bash"), S("Read"), S("Write"), S("Task")};
    const struct hook_tools tools = {names, ARRAY_LEN(names), 3};
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct json *hooks;

    assert_ok(json_parse(
        &a, arena_format(&a, "{\"%s\":[{\"matcher\":\"%s\",\"hooks\":[]}]}", event, matcher), 0,
        &hooks));
    assert_ok(hook_config_add(
        c, hooks,
        &(struct hook_file){.name = "f", .names_are_regex = names_are_regex, .tools = &tools}));
    for (size_t i = 0; i < hook_config_n_warnings(c); i++)
        strbuf_addf(&text, "%" STR_FMT "\n", STR_ARG(hook_config_warning(c, i)));
    return strbuf_take(&text);
}

static void assert_warned(const char *event, const char *matcher, const char *want)
{
    AUTO_FREE char *text = warnings_of(event, matcher, /* names_are_regex= */ false);

    assert_string_equal(text, want);
}

TEST(a_hook_whose_matcher_names_no_tool_does_not_stay_silent)
{
    AUTO_FREE char *regex = warnings_of("PreToolUse", "Bash, Read", /* names_are_regex= */ true);

    assert_warned("PreToolUse", "Bsh",
                  "f: \"hooks.PreToolUse[0].matcher\": unknown tool \"Bsh\", so these hooks never "
                  "run for it; did you mean Bash?\n");
    assert_warned("PostToolUse", "Bash, Nothing",
                  "f: \"hooks.PostToolUse[0].matcher\": unknown tool \"Nothing\", so these hooks "
                  "never run for it\n");
    assert_warned("PreToolUse", "Bash Read",
                  "f: \"hooks.PreToolUse[0].matcher\": \"Bash Read\" matches no known tool, so "
                  "these hooks never run; to name two tools: \"Edit|Write\"\n");
    assert_true(str_find(str_of(regex), S("matches no known tool")) != STR_NONE);
    assert_warned("PreToolUse", "Bash, Read|Task", "");
    assert_warned("PreToolUse", "^B|W.*e$", "");
    assert_warned("PreToolUse", "mcp__db__query", "");
    assert_warned("PreToolUse", "^mcp__my-db__", "");
    assert_warned("PreToolUse", "*", "");
    assert_warned("SessionStart", "startup", "");
}

TEST(there_is_a_limit_to_the_hooks_of_an_event)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "{\"Stop\":[{\"hooks\":[" COMMAND(""));
    for (int i = 0; i < HOOK_MAX_PER_EVENT; i++)
        strbuf_add_cstr(&text, "," COMMAND(""));
    strbuf_add_cstr(&text, "]}]}");
    assert_err(add(c, strbuf_cstr(&text), "f", false), ERR_VALIDATION);
    assert_int_equal(hook_config_list(c, HOOK_STOP)->n, HOOK_MAX_PER_EVENT);
}

RUN_TESTS(UNIT(a_hook_is_read_with_all_it_says),
          UNIT(a_hook_that_says_nothing_has_ten_seconds_and_fails_open),
          UNIT(a_group_speaks_for_hooks_that_do_not_speak_for_themselves),
          UNIT(files_add_up_in_their_order), UNIT(every_type_is_taken),
          UNIT(our_own_files_are_read_strictly),
          UNIT(fail_closed_is_no_promise_where_nothing_can_be_stopped),
          UNIT(foreign_files_lose_what_is_wrong_and_keep_the_rest),
          UNIT(a_matcher_where_there_is_nothing_to_match_is_told_and_not_used),
          UNIT(a_hook_whose_matcher_names_no_tool_does_not_stay_silent),
          UNIT(there_is_a_limit_to_the_hooks_of_an_event))
