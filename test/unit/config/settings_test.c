/* settings_test.c */
#include "temp_dir.h"

#include "config/settings.h"
#include "config/settings_keys.h"
#include "sdk/project_at.h"
#include "sys/fs.h"

struct world {
    struct temp_dir dir;
    struct settings *settings;
    struct arena arena;
};

static void put(struct world *w, const char *path, const char *text)
{
    char dir[512];

    snprintf(dir, sizeof dir, "%s", temp_path(&w->dir, path));
    *strrchr(dir, '/') = 0;
    assert_ok(fs_make_dirs(dir, 0700));
    assert_ok(fs_write_atomic(temp_path(&w->dir, path), str_of(text), 0600));
}

static struct err *load(struct world *w, bool trusted, const char *flags)
{
    static const char *const environment[] = {"KEY=value", "KEYS=other", "EMPTY=", NULL};
    char home[512], project[512];
    struct json *tree = NULL;

    snprintf(home, sizeof home, "%s", temp_path(&w->dir, "home"));
    snprintf(project, sizeof project, "%s", temp_path(&w->dir, "project"));
    if (flags)
        assert_ok(json_parse(&w->arena, str_of(flags), 0, &tree));
    return settings_load(&(struct settings_sources){.home = home,
                                                    .project_dir = project,
                                                    .project = project_at(&w->arena, project),
                                                    .project_is_trusted = trusted,
                                                    .environment = environment,
                                                    .flags = tree},
                         &w->settings);
}

static struct world world_make(void)
{
    return (struct world){.dir = temp_dir_make()};
}

static void world_done(struct world *w)
{
    settings_free(w->settings);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

static struct str text(struct world *w, const char *path)
{
    return settings_text(w->settings, path, &w->arena);
}

TEST(higher_layers_win_and_the_origin_is_known)
{
    AUTO(world) struct world w = world_make();

    put(&w, "home/.claude/settings.json", "{\"store\":\"10\",\"logLevel\":\"9\"}");
    put(&w, "home/.robota/settings.json", "{\"store\":\"9\"}");
    put(&w, "home/.keel/settings.json",
        "{\"store\":\"8\",\"providers\":{\"x\":{\"model\":\"u\"}}}");
    put(&w, "project/.claude/settings.json", "{\"store\":\"7\"}");
    put(&w, "project/.claude/settings.local.json", "{\"store\":\"6\"}");
    put(&w, "project/.robota/settings.json", "{\"store\":\"5\"}");
    put(&w, "project/.robota/settings.local.json", "{\"store\":\"4\"}");
    put(&w, "project/.keel/settings.json",
        "{\"store\":\"3\",\"providers\":{\"x\":{\"baseUrl\":\"b\"}}}");
    put(&w, "project/.keel/settings.local.json", "{\"store\":\"2\"}");
    assert_ok(load(&w, true, "{\"store\":\"1\"}"));
    assert_str(text(&w, "store"), "1");
    assert_str(text(&w, "logLevel"), "9");
    assert_str(text(&w, "providers.x.model"), "u");
    assert_str(text(&w, "providers.x.baseUrl"), "b");
    assert_int_equal(settings_origin(w.settings, "store").layer, LAYER_FLAGS);
    assert_int_equal(settings_origin(w.settings, "providers.x.model").layer, LAYER_USER);
    assert_true(
        str_ends(settings_origin(w.settings, "logLevel").file, S("home/.claude/settings.json")));
    assert_false(settings_origin(w.settings, "nothing").is_set);

    for (int layer = LAYER_LOCAL; layer <= LAYER_CLAUDE_USER; layer++) {
        char want[4];

        snprintf(want, sizeof want, "%d", 1 + layer);

        settings_free(TAKE(w.settings));
        assert_ok(load(&w, true, NULL));
        assert_str(text(&w, "store"), want);
        assert_int_equal(settings_origin(w.settings, "store").layer, layer);
        assert_int_equal(unlink(settings_origin(w.settings, "store").file.p), 0);
    }
}

TEST(a_name_with_a_dot_in_it_stands_in_quotes)
{
    AUTO(world) struct world w = world_make();

    put(&w, "home/.keel/settings.json",
        "{\"pricing\":{\"a/b-1.5\":{\"input\":3}},\"providers\":{\"x.y\":{\"model\":\"m\"}}}");
    assert_ok(load(&w, true, NULL));
    assert_str(text(&w, "providers.\"x.y\".model"), "m");
    assert_int_equal(settings_int(w.settings, "pricing.\"a/b-1.5\".input", 0), 3);
    assert_int_equal(settings_origin(w.settings, "pricing.\"a/b-1.5\"").layer, LAYER_USER);
    assert_false(settings_origin(w.settings, "pricing.a/b-1.5").is_set);
    assert_null(settings_get(w.settings, "providers.\"\""));
}

TEST(all_layers_that_said_something_are_found_from_high_to_low)
{
    AUTO(world) struct world w = world_make();
    struct setting_origin origin;
    size_t at = 0;

    put(&w, "home/.keel/settings.json", "{\"permissions\":{\"deny\":[\"a\"]}}");
    put(&w, "project/.keel/settings.json", "{\"permissions\":{\"deny\":[\"b\"]}}");
    assert_ok(load(&w, true, NULL));
    assert_true(settings_next_origin(w.settings, "permissions.deny", &at, &origin));
    assert_int_equal(origin.layer, LAYER_PROJECT);
    assert_true(settings_next_origin(w.settings, "permissions.deny", &at, &origin));
    assert_int_equal(origin.layer, LAYER_USER);
    assert_false(settings_next_origin(w.settings, "permissions.deny", &at, &origin));
}

TEST(rules_and_hooks_add_up_while_other_arrays_are_replaced)
{
    AUTO(world) struct world w = world_make();
    AUTO(strbuf) struct strbuf out = {0};

    put(&w, "home/.keel/settings.json",
        "{\"permissions\":{\"deny\":[\"a\"],\"allow\":[\"x\"]},\"hooks\":{\"Stop\":[1]},"
        "\"webFetch\":{\"allow\":[\"1\"]}}");
    put(&w, "project/.keel/settings.json",
        "{\"permissions\":{\"deny\":[\"b\"]},\"hooks\":{\"Stop\":[2]},"
        "\"webFetch\":{\"allow\":[\"2\"]}}");
    assert_ok(load(&w, true, NULL));
    json_write(&out, settings_root(w.settings));
    assert_str(strbuf_str(&out),
               "{\"permissions\":{\"deny\":[\"a\",\"b\"],\"allow\":[\"x\"]},\"hooks\":{\"Stop\":[1,"
               "2]},\"webFetch\":{\"allow\":[\"2\"]}}");
}

TEST(an_untrusted_project_may_only_forbid)
{
    AUTO(world) struct world w = world_make();

    put(&w, "project/.keel/settings.json",
        "{\"permissions\":{\"deny\":[\"d\"],\"allow\":[\"a\"]},\"model\":\"evil\",\"hooks\":{}}");
    assert_ok(load(&w, false, NULL));
    assert_int_equal(settings_get(w.settings, "permissions.deny")->n, 1);
    assert_null(settings_get(w.settings, "permissions.allow"));
    assert_null(settings_get(w.settings, "model"));
    assert_int_equal(settings_n_warnings(w.settings), 1);
    assert_true(str_ends(settings_warning(w.settings, 0),
                         S("so these settings are ignored: permissions.allow, model, hooks")));
}

TEST(a_wrong_value_names_file_key_and_what_it_must_be)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"providers\":{\"x\":{\"contextWindow\":\"big\"}}}",
         "\"providers.x.contextWindow\" must be an integer, not string"},
        {"{\"permissions\":{\"deny\":[1]}}",
         "\"permissions.deny\" must be an array of strings, not array"},
        {"{\"maxTurns\":-1}", "\"maxTurns\" must be an integer from 0 to 4294967294, not -1"},
        {"{\"budget\":{\"turns\":0}}", "\"budget.turns\" must be an integer of 1 or more, not 0"},
        {"{\"toolTimeout\":1.5}", "\"toolTimeout\" must be an integer of 1 or more, not 1.5"},
        {"{\"maxAttempts\":101}", "\"maxAttempts\" must be an integer from 1 to 100, not 101"},
        {"{\"toolTimeouts\":{\"Bash\":0}}",
         "\"toolTimeouts.Bash\" must be an integer of 1 or more, not 0"},
        {"{\"budget\":{\"usd\":0}}", "\"budget.usd\" must be greater than 0, not 0"},
        {"{\"budget\":{\"usd\":true}}", "\"budget.usd\" must be a number, not boolean"},
        {"{\"pricing\":{\"m\":{\"input\":-1}}}", "\"pricing.m.input\" must be 0 or more, not -1"},
        {"{\"compact\":{\"threshold\":1.01}}",
         "\"compact.threshold\" must be greater than 0 and at most 1, not 1.01"},
        {"{\"compact\":{\"models\":{\"a/b\":0}}}",
         "\"compact.models.a/b\" must be greater than 0 and at most 1, not 0"},
        {"{\"promptCache\":\"2h\"}", "\"promptCache\" must be one of 5m, 1h, off, not \"2h\""},
        {"{\"promptCache\":\"5m, 1h\"}",
         "\"promptCache\" must be one of 5m, 1h, off, not \"5m, 1h\""},
        {"{\"promptCache\":\"$ENV:KEY\"}",
         "\"promptCache\" must be one of 5m, 1h, off, not \"$ENV:KEY\""},
        {"{\"budget\":{\"onExceed\":\"stop\"}}",
         "\"budget.onExceed\" must be one of fail, ask, warn, not \"stop\""},
        {"[]", "must be a JSON object, not array"},
        {"{\"a\":1,\"a\":2}",
         "not valid JSON: line 1, column 8: this object has the same name twice"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(world) struct world w = world_make();
        AUTO(err) struct err *e = NULL;
        AUTO_FREE char *message = NULL;

        put(&w, "home/.keel/settings.json", cases[i].text);
        e = load(&w, true, NULL);
        assert_non_null(e);
        assert_int_equal(e->kind, ERR_VALIDATION);
        message = err_message(e);
        assert_true(str_find(str_of(message), S("home/.keel/settings.json: ")) != STR_NONE);
        assert_true(str_ends(str_of(message), str_of(cases[i].message)));
    }
}

static void assert_unknown(const char *file, const char *text, const char *message,
                           const char *hint)
{
    AUTO(world) struct world w = world_make();
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *told = NULL;

    put(&w, file, text);
    e = load(&w, true, NULL);
    assert_true(err_is(e, ERR_VALIDATION));
    told = err_message(e);
    assert_non_null(strstr(told, message));
    assert_string_equal(err_find_hint(e), hint);
}

TEST(a_key_that_does_not_exist_is_an_error_with_the_nearest_that_does)
{
    static const char user[] = "home/.keel/settings.json",
                      project[] = "project/.keel/settings.json";

    assert_unknown(user, "{\"modle\":\"x\"}", "unknown setting \"modle\"",
                   "did you mean \"model\"?");
    assert_unknown(user, "{\"permissions\":{\"denny\":[]}}",
                   "unknown setting \"permissions.denny\"", "did you mean \"permissions.deny\"?");
    assert_unknown(project, "{\"providers\":{\"a.b\":{\"apikey\":\"x\"}}}",
                   "unknown setting \"providers.a/b.apikey\"",
                   "did you mean \"providers.a/b.apiKey\"?");
    assert_unknown(user, "{\"colour\":1}", "unknown setting \"colour\"",
                   "keel config keys lists all settings");
}

TEST(settings_of_the_command_line_may_be_for_another_program_but_not_misspelt)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    AUTO(world) struct world w = world_make();
    struct json *tree;

    e = settings_parse_flag(&a, S("{\"permissions\":{\"denny\":[]}}"), "--settings", &tree);
    assert_true(err_is(e, ERR_VALIDATION));
    assert_ok(
        settings_parse_flag(&a, S("{\"statusLine\":{},\"model\":\"x\"}"), "--settings", &tree));
    assert_ok(load(&w, true, "{\"statusLine\":{},\"model\":\"x\"}"));
    assert_int_equal(settings_n_warnings(w.settings), 1);
    assert_str(settings_warning(w.settings, 0), "--settings: unknown settings ignored: statusLine");
}

TEST(foreign_files_never_stop_us)
{
    AUTO(world) struct world w = world_make();

    put(&w, "home/.claude/settings.json", "{\"store\":{\"not\":\"ours\"}}");
    put(&w, "home/.robota/settings.json", "this is not JSON");
    put(&w, "project/.claude/settings.json", "{\"somethingElse\":[{\"deep\":1}]}");
    assert_ok(load(&w, true, NULL));
    assert_int_equal(settings_n_warnings(w.settings), 2);
}

#define ONLY_OWN                                                                                   \
    "{\"caFile\":\"c\",\"apiKeyHelper\":\"h\",\"sandbox\":{\"enabled\":false,"                     \
    "\"environment\":[\"A\"]},\"permissions\":{\"sandboxedCommands\":\"auto\"},"                   \
    "\"providers\":{\"x\":{\"apiKeyHelper\":\"i\"}},\"model\":\"m\"}"

static const char *const only_own[] = {
    "caFile",
    "apiKeyHelper",
    "sandbox.enabled",
    "sandbox.environment",
    "permissions.sandboxedCommands",
    "providers.x.apiKeyHelper",
    "model",
};

/* The names of those that count where `file` says them all. */
static struct str counted(struct world *w, const char *file)
{
    AUTO(strbuf) struct strbuf names = {0};

    settings_free(TAKE(w->settings));
    put(w, file, ONLY_OWN);
    assert_ok(load(w, true, NULL));
    for (size_t i = 0; i < ARRAY_LEN(only_own); i++)
        if (settings_get(w->settings, only_own[i]))
            strbuf_addf(&names, "%s%s", names.n ? " " : "", only_own[i]);
    assert_int_equal(unlink(temp_path(&w->dir, file)), 0);
    return arena_str(&w->arena, strbuf_str(&names));
}

TEST(what_only_the_persons_own_files_may_set_counts_from_no_other)
{
    AUTO(world) struct world w = world_make();

    assert_str(counted(&w, "home/.keel/settings.json"),
               "caFile apiKeyHelper sandbox.enabled sandbox.environment "
               "permissions.sandboxedCommands providers.x.apiKeyHelper model");
    assert_int_equal(settings_n_warnings(w.settings), 0);
    assert_str(counted(&w, "home/.robota/settings.json"),
               "apiKeyHelper providers.x.apiKeyHelper model");
    assert_str(counted(&w, "home/.claude/settings.json"), "apiKeyHelper providers.x.apiKeyHelper");
    assert_str(counted(&w, "project/.claude/settings.json"), "");
    assert_str(settings_ignored(w.settings, LAYER_CLAUDE),
               "caFile, apiKeyHelper, sandbox, permissions.sandboxedCommands, "
               "providers.x.apiKeyHelper, model");
    assert_int_equal(settings_n_warnings(w.settings), 0);
    assert_str(counted(&w, "project/.keel/settings.json"), "sandbox.enabled model");
    assert_int_equal(settings_n_warnings(w.settings), 1);
    assert_true(str_ends(settings_warning(w.settings, 0),
                         S("project/.keel/settings.json: these settings are ignored, because only "
                           "your own files can set them: caFile, apiKeyHelper, "
                           "sandbox.environment, permissions.sandboxedCommands, "
                           "providers.x.apiKeyHelper")));
}

TEST(a_note_says_what_is_taken_from_another_programs_file)
{
    AUTO(world) struct world w = world_make();
    struct str note;

    put(&w, "home/.claude/settings.json",
        "{\"$schema\":\"x\",\"permissions\":{\"defaultMode\":\"acceptEdits\",\"allow\":[\"Read\","
        "\"Glob\"],\"deny\":[\"Bash\"],\"disableBypass\":1},\"model\":\"opus\",\"env\":{\"A\":1},"
        "\"hooks\":{\"Stop\":[],\"PreToolUse\":[]},\"apiKeyHelper\":\"h\"}");
    put(&w, "home/.robota/settings.json", "{\"permissions\":{\"defaultMode\":\"plan\"}}");
    put(&w, "home/.keel/settings.json", "{\"permissions\":{\"allow\":[\"Read\"]}}");
    assert_ok(load(&w, true, NULL));
    note = settings_foreign_note(w.settings, LAYER_CLAUDE_USER, &w.arena);
    assert_true(str_ends(note, S("home/.claude/settings.json, written for another program: keel "
                                 "uses 2 allow rules, 1 deny rule, hooks for Stop and PreToolUse, "
                                 "apiKeyHelper; it ignores permissions.disableBypass, model, "
                                 "env")));
    note = settings_foreign_note(w.settings, LAYER_ROBOTA_USER, &w.arena);
    assert_true(str_ends(note, S("keel uses mode plan")));
    assert_str(settings_foreign_note(w.settings, LAYER_USER, &w.arena), "");
    assert_str(settings_foreign_note(w.settings, LAYER_CLAUDE, &w.arena), "");
}

TEST(environment_references_are_resolved_when_read)
{
    AUTO(world) struct world w = world_make();

    put(&w, "home/.keel/settings.json",
        "{\"providers\":{\"x\":{\"apiKey\":\"$ENV:KEY\",\"model\":\"$ENV:UNSET\",\"type\":\"$ENV:"
        "KE\"}}}");
    assert_ok(load(&w, true, NULL));
    assert_str(text(&w, "providers.x.apiKey"), "value");
    assert_str(text(&w, "providers.x.model"), "");
    assert_str(text(&w, "providers.x.type"), "");
    assert_str(json_str(settings_get(w.settings, "providers.x.apiKey")), "$ENV:KEY");
}

/* --- the tables --- */

static bool is_object(struct str path)
{
    setting_keys_each (k)
        if (str_is(path, k->path))
            return k->type == SETTING_OBJECT;
    return false;
}

TEST(every_setting_has_one_row_and_an_object_around_it)
{
    size_t n_all = 0;

    setting_keys_each (k) {
        struct str path = str_of(k->path);
        size_t n = 0, dot = str_rfind_char(path, '.');

        setting_keys_each (other)
            n += str_is(path, other->path);
        if (n != 1 || !k->help || (dot != STR_NONE && !is_object(str_slice(path, 0, dot))))
            fail_msg("%s: %zu rows", k->path, n);
        n_all++;
    }
    assert_true(n_all > 100);
}

RUN_TESTS(UNIT(every_setting_has_one_row_and_an_object_around_it),
          UNIT(higher_layers_win_and_the_origin_is_known),
          UNIT(a_name_with_a_dot_in_it_stands_in_quotes),
          UNIT(all_layers_that_said_something_are_found_from_high_to_low),
          UNIT(rules_and_hooks_add_up_while_other_arrays_are_replaced),
          UNIT(an_untrusted_project_may_only_forbid),
          UNIT(a_wrong_value_names_file_key_and_what_it_must_be), UNIT(foreign_files_never_stop_us),
          UNIT(a_key_that_does_not_exist_is_an_error_with_the_nearest_that_does),
          UNIT(settings_of_the_command_line_may_be_for_another_program_but_not_misspelt),
          UNIT(what_only_the_persons_own_files_may_set_counts_from_no_other),
          UNIT(a_note_says_what_is_taken_from_another_programs_file),
          UNIT(environment_references_are_resolved_when_read))
