/* sandbox_policy_test.c - policies from directories and deny rules. */
#include "files.h"
#include "sdk/sandbox/policy.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* A workspace "ws" with a file or two beside it, and what rules make of it. */
struct place {
    struct temp_dir dir;
    struct arena arena;
    struct str deny[4];
    bool is_untrusted[4];
    struct permission_rules rules;
    const char *added[2];
    struct policy_source source;
    struct policy_maker *maker;
    struct sandbox_policy policy;
};

static void place_begin(struct place *p)
{
    *p = (struct place){.dir = temp_dir_make()};
    put(&p->dir, "ws/sub/", "");
    put(&p->dir, "home/", "");
    p->rules.deny = p->deny;
    p->rules.deny_is_untrusted = p->is_untrusted;
    p->source = (struct policy_source){
        .workspace = arena_cstr(&p->arena, str_of(temp_path(&p->dir, "ws"))),
        .rules = &p->rules,
        .home = arena_cstr(&p->arena, str_of(temp_path(&p->dir, "home"))),
        .added_dirs = p->added,
    };
}

static void place_end(struct place *p)
{
    policy_maker_free(p->maker);
    arena_done(&p->arena);
    temp_dir_done(&p->dir);
}

static void deny(struct place *p, const char *rule)
{
    p->deny[p->rules.n_deny++] = str_of(rule);
}

/* By a project that is not trusted. */
static void deny_untrusted(struct place *p, const char *rule)
{
    p->is_untrusted[p->rules.n_deny] = true;
    deny(p, rule);
}

static struct err *make_in(struct place *p, const char *cwd)
{
    if (!p->maker)
        p->maker = policy_maker_new(&p->source);
    return policy_make(p->maker, temp_path(&p->dir, cwd), &p->arena, &p->policy);
}

static struct err *make(struct place *p)
{
    return make_in(p, "ws");
}

static bool has(const struct place *p, const char *const *paths, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(paths[i], temp_path(&p->dir, path)) == 0)
            return true;
    return false;
}

static bool hides(const struct place *p, const char *path)
{
    return has(p, p->policy.hidden, p->policy.n_hidden, path);
}

static bool locks(const struct place *p, const char *path)
{
    return has(p, p->policy.read_only, p->policy.n_read_only, path);
}

static bool lets_write(const struct place *p, const char *path)
{
    return has(p, p->policy.writable, p->policy.n_writable, path);
}

/* --- without rules --- */

TEST(secrets_are_hidden_and_what_others_execute_is_locked)
{
    struct place p;

    place_begin(&p);
    p.source.keel_home = arena_cstr(&p.arena, str_of(temp_path(&p.dir, "keel")));
    put(&p.dir, "ws/sub/.git/HEAD", "");
    put(&p.dir, "home/.ssh/id", "");
    put(&p.dir, "home/.config/gh/hosts.yml", "");
    put(&p.dir, "keel/keel.db", "");
    assert_ok(make(&p));
    assert_true(hides(&p, "home/.ssh") && hides(&p, "keel") && hides(&p, "home/.config/gh"));
    assert_false(hides(&p, "home/.aws")); /* which is not there */
    assert_true(locks(&p, "ws/.git/hooks") && locks(&p, "ws/.mcp.json"));
    assert_true(locks(&p, "ws/sub/.git/hooks"));
    assert_false(p.policy.workspace_is_read_only);
    assert_int_equal(p.policy.network, SANDBOX_NO_NETWORK);
    place_end(&p);
}

TEST(a_place_of_credentials_is_hidden_once_it_is_there)
{
    struct place p;

    place_begin(&p);
    assert_ok(make(&p));
    put(&p.dir, "home/.aws/credentials", "");
    assert_ok(make(&p));
    assert_true(hides(&p, "home/.aws"));
    place_end(&p);
}

static void put_private(struct place *p, const char *name)
{
    put(&p->dir, name, "token");
    assert_int_equal(chmod(temp_path(&p->dir, name), 0600), 0);
}

TEST(what_a_program_closed_to_others_in_the_home_is_hidden)
{
    struct place p;

    place_begin(&p);
    put_private(&p, "home/.newtool");
    put_private(&p, "home/.newtool.d/token");
    put_private(&p, "home/.config/newtool/token.json");
    put_private(&p, "home/.local/share/newtool/auth");
    put_private(&p, "home/letter.txt");
    put(&p.dir, "home/.newrc", "");
    put(&p.dir, "home/.config/newtool/colours", "");
    assert_ok(make(&p));
    assert_true(hides(&p, "home/.newtool") && hides(&p, "home/.newtool.d/token"));
    assert_true(hides(&p, "home/.config/newtool/token.json"));
    assert_true(hides(&p, "home/.local/share/newtool/auth"));
    assert_false(hides(&p, "home/letter.txt") || hides(&p, "home/.newrc"));
    assert_false(hides(&p, "home/.config/newtool/colours"));
    place_end(&p);
}

TEST(in_the_workspace_a_mode_means_nothing)
{
    struct place p;

    place_begin(&p);
    put_private(&p, "home/.project/.hidden");
    p.source.workspace = arena_cstr(&p.arena, str_of(temp_path(&p.dir, "home/.project")));
    assert_ok(make_in(&p, "home/.project"));
    assert_false(hides(&p, "home/.project/.hidden"));
    place_end(&p);
}

TEST(added_directories_are_writable_and_have_locked_places_too)
{
    struct place p;

    place_begin(&p);
    put(&p.dir, "more/repo/.git/HEAD", "");
    p.added[0] = "../more";
    p.added[1] = "/does/not/exist";
    p.source.n_added_dirs = 2;
    assert_ok(make(&p));
    assert_true(lets_write(&p, "more"));
    assert_int_equal(p.policy.n_writable, 1);
    assert_true(locks(&p, "more/.git/hooks") && locks(&p, "more/repo/.git/config"));
    place_end(&p);
}

TEST(a_workspace_behind_a_link_is_its_own_place)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read(.env)");
    put(&p.dir, "ws/.env", "");
    assert_int_equal(symlink("ws", temp_path(&p.dir, "link")), 0);
    p.source.workspace = arena_cstr(&p.arena, str_of(temp_path(&p.dir, "link")));
    assert_ok(make_in(&p, "link/sub"));
    assert_string_equal(p.policy.workspace, temp_path(&p.dir, "ws"));
    assert_true(hides(&p, "ws/.env"));
    place_end(&p);
}

/* --- rules --- */

TEST(a_name_is_denied_at_every_depth)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read(.env)");
    put(&p.dir, "ws/.env", "");
    put(&p.dir, "ws/sub/deep/.env", "");
    put(&p.dir, "ws/sub/.env.example", "");
    assert_ok(make_in(&p, "ws/sub"));
    assert_true(hides(&p, "ws/.env") && hides(&p, "ws/sub/deep/.env"));
    assert_false(hides(&p, "ws/sub/.env.example"));
    place_end(&p);
}

TEST(a_path_is_denied_from_the_workspace_and_from_where_the_command_starts)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read(deep/key)");
    put(&p.dir, "ws/deep/key", "");
    put(&p.dir, "ws/sub/deep/key", "");
    assert_ok(make(&p));
    assert_true(hides(&p, "ws/deep/key"));
    assert_false(hides(&p, "ws/sub/deep/key"));
    assert_ok(make_in(&p, "ws/sub"));
    assert_true(hides(&p, "ws/deep/key") && hides(&p, "ws/sub/deep/key"));
    place_end(&p);
}

TEST(patterns_are_worked_out_against_what_is_there)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read(**/*.pem)");
    deny(&p, "Edit(gen*/**)");
    put(&p.dir, "ws/sub/a.pem", "");
    put(&p.dir, "ws/gen1/x", "");
    assert_ok(make(&p));
    assert_true(hides(&p, "ws/sub/a.pem") && locks(&p, "ws/gen1"));
    put(&p.dir, "ws/sub/b.pem", "");
    assert_int_equal(unlink(temp_path(&p.dir, "ws/sub/a.pem")), 0);
    assert_ok(make(&p));
    assert_true(hides(&p, "ws/sub/b.pem"));
    assert_false(hides(&p, "ws/sub/a.pem"));
    place_end(&p);
}

/* Names that are so long that a path of 4,096 bytes does not lead to the file. */
static void put_far_down(struct place *p, const char *name)
{
    int dir = open(temp_path(&p->dir, "ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    char long_name[201];

    memset(long_name, 'n', 200);
    long_name[200] = 0;
    for (int i = 0; i < 25; i++) {
        int next;

        assert_int_equal(mkdirat(dir, long_name, 0700), 0);
        next = openat(dir, long_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = next;
    }
    assert_int_equal(mkdirat(dir, name, 0700), 0);
    close(dir);
}

TEST(what_has_too_long_a_path_is_denied_with_a_directory_above_it)
{
    struct place p;
    size_t longest = 0;

    place_begin(&p);
    deny(&p, "Read(*.pem)");
    put_far_down(&p, "a.pem");
    assert_ok(make(&p));
    for (size_t i = 0; i < p.policy.n_hidden; i++)
        longest = MAX(longest, strlen(p.policy.hidden[i]));
    assert_in_range(longest, PATH_MAX - 202, PATH_MAX - 1);
    place_end(&p);
}

TEST(a_pattern_may_be_about_another_place)
{
    struct place p;
    const char *rule;

    place_begin(&p);
    put(&p.dir, "home/keys/a.key", "");
    rule = arena_format(&p.arena, "Read(/%s/*.key)", temp_path(&p.dir, "home/keys")).p;
    deny(&p, rule);
    assert_ok(make(&p));
    assert_true(hides(&p, "home/keys/a.key"));
    place_end(&p);
}

TEST(a_link_is_denied_with_what_it_leads_to)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read(.env)");
    deny(&p, "Edit(/locked)");
    put(&p.dir, "vault/env", "");
    put(&p.dir, "ws/sub/real", "");
    assert_int_equal(symlink("../vault/env", temp_path(&p.dir, "ws/.env")), 0);
    assert_int_equal(symlink("sub/real", temp_path(&p.dir, "ws/locked")), 0);
    assert_ok(make(&p));
    assert_true(hides(&p, "vault/env"));
    assert_true(locks(&p, "ws/sub/real") && locks(&p, "ws/locked"));
    place_end(&p);
}

TEST(a_link_to_what_is_above_the_workspace_denies_nothing)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read(*.env)");
    assert_int_equal(symlink("..", temp_path(&p.dir, "ws/up.env")), 0);
    assert_ok(make(&p));
    assert_false(hides(&p, ""));
    place_end(&p);
}

TEST(a_file_that_is_not_there_yet_can_be_denied_to_writers)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Write(sub/new)");
    assert_ok(make(&p));
    assert_true(locks(&p, "ws/sub/new"));
    place_end(&p);
}

TEST(the_workspace_denied_to_writers_is_read_only)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Edit(**)");
    assert_ok(make(&p));
    assert_true(p.policy.workspace_is_read_only);
    place_end(&p);
}

TEST(the_workspace_denied_to_readers_is_no_place_for_commands)
{
    static const char *const rules[] = {"Read(**)", "Read(*)", "Read(//**)"};

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct place p;

        place_begin(&p);
        deny(&p, rules[i]);
        assert_err(make(&p), ERR_SANDBOX);
        place_end(&p);
    }
}

TEST(an_added_directory_that_is_denied_is_not_writable)
{
    struct place p;
    const char *above;

    place_begin(&p);
    put(&p.dir, "more/a/", "");
    put(&p.dir, "more/b/", "");
    p.added[0] = "../more/a";
    p.added[1] = "../more/b";
    p.source.n_added_dirs = 2;
    above = arena_format(&p.arena, "Read(/%s/**)", temp_path(&p.dir, "more/a")).p;
    deny(&p, above);
    above = arena_format(&p.arena, "Edit(/%s)", temp_path(&p.dir, "more/b")).p;
    deny(&p, above);
    assert_ok(make(&p));
    assert_int_equal(p.policy.n_writable, 0);
    assert_true(hides(&p, "more/a"));
    assert_true(has(&p, p.policy.visible, p.policy.n_visible, "more/b"));
    place_end(&p);
}

TEST(rules_that_take_a_tool_away_say_nothing_of_files)
{
    struct place p;

    place_begin(&p);
    deny(&p, "Read");
    deny(&p, "Bash(rm *)");
    deny(&p, "WebFetch(domain:example.com)");
    assert_ok(make(&p));
    assert_false(p.policy.workspace_is_read_only);
    place_end(&p);
}

TEST(a_rule_that_cannot_be_understood_keeps_commands_from_running)
{
    static const char *const rules[] = {"Read(", "Read(a[)", "Edit(*/../x)"};

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct place p;

        place_begin(&p);
        deny(&p, rules[i]);
        assert_err(make(&p), ERR_SANDBOX);
        place_end(&p);
    }
}

TEST(a_pattern_that_names_too_much_keeps_commands_from_running)
{
    struct place p;
    char name[32];

    place_begin(&p);
    deny(&p, "Read(*.x)");
    for (int i = 0; i < 1025; i++) {
        snprintf(name, sizeof name, "ws/%d.x", i);
        assert_int_equal(mknod(temp_path(&p.dir, name), S_IFREG | 0600, 0), 0);
    }
    assert_err(make(&p), ERR_SANDBOX);
    place_end(&p);
}

/* --- rules of a project that is not trusted --- */

TEST(an_untrusted_project_may_keep_places_of_the_workspace_from_commands)
{
    struct place p;

    place_begin(&p);
    put(&p.dir, "ws/.env", "");
    put(&p.dir, "ws/sub/a.pem", "");
    put(&p.dir, "ws/conf/x", "");
    deny_untrusted(&p, "Read(.env)");
    deny_untrusted(&p, "Read(**/*.pem)");
    deny_untrusted(&p, "Edit(conf)");
    assert_ok(make(&p));
    assert_true(hides(&p, "ws/.env"));
    assert_true(hides(&p, "ws/sub/a.pem"));
    assert_true(locks(&p, "ws/conf"));
    place_end(&p);
}

TEST(an_untrusted_project_takes_nothing_away_that_commands_need)
{
    static const char *const rules[] = {
        "Read(**)",      "Read(*)",        "Read(**/*)",      "Read(*.*)",   "Read([a-z]*)",
        "Read(//**)",    "Read(//usr/**)", "Read(//usr)",     "Read(//)",    "Read(/)",
        "Read(.)",       "Read(./)",       "Read(~/**)",      "Read(..)",    "Read(../**)",
        "Read(out)",     "Read(o*t)",      "Edit(**)",        "Edit(.)",     "Read([)",
        "Read(//**/x*)", "Read(",          "Read(//proc/**)", "Write(//**)",
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct place p;
        struct err *e;

        place_begin(&p);
        put(&p.dir, "ws/x.c", "");
        put(&p.dir, "ws/sub/y", "");
        assert_int_equal(symlink("/usr", temp_path(&p.dir, "ws/out")), 0);
        deny_untrusted(&p, rules[i]);
        e = make(&p);
        if (e)
            fail_msg("%s: %s", rules[i], e->text);
        if (hides(&p, "ws/x.c") || hides(&p, "ws/sub") || hides(&p, "ws/sub/y") ||
            hides(&p, "ws") || p.policy.workspace_is_read_only || locks(&p, "ws/x.c"))
            fail_msg("%s takes something of the workspace", rules[i]);
        for (size_t k = 0; k < p.policy.n_hidden; k++)
            if (strcmp(p.policy.hidden[k], "/usr") == 0 || strcmp(p.policy.hidden[k], "/") == 0)
                fail_msg("%s hides %s", rules[i], p.policy.hidden[k]);
        place_end(&p);
    }
}

TEST(a_command_can_begin_where_an_untrusted_rule_points)
{
    struct place p;

    place_begin(&p);
    put(&p.dir, "ws/sub/deep/x", "");
    deny_untrusted(&p, "Read(sub)");
    deny_untrusted(&p, "Read(s*b)");
    assert_ok(make_in(&p, "ws/sub/deep"));
    assert_false(hides(&p, "ws/sub"));
    assert_ok(make(&p));
    assert_true(hides(&p, "ws/sub"));
    place_end(&p);
}

TEST(untrusted_patterns_that_name_very_much_are_not_used)
{
    struct place p;

    place_begin(&p);
    for (int i = 0; i < 100; i++)
        put(&p.dir, arena_format(&p.arena, "ws/src/f%d.c", i).p, "");
    put(&p.dir, "ws/.env", "");
    deny_untrusted(&p, "Read(**/*.c)");
    deny(&p, "Read(**/.env)");
    assert_ok(make(&p));
    assert_false(hides(&p, "ws/src/f1.c"));
    assert_true(hides(&p, "ws/.env"));
    place_end(&p);
}

TEST(an_untrusted_rule_does_not_open_what_another_closes)
{
    struct place p;

    place_begin(&p);
    put(&p.dir, "ws/sub/deep/.env", "");
    deny_untrusted(&p, "Read(s*b)");
    deny_untrusted(&p, "Read(**/.env)");
    deny(&p, "Read(**/.env)");
    assert_ok(make_in(&p, "ws/sub/deep")); /* so that the first is not used */
    assert_true(hides(&p, "ws/sub/deep/.env"));
    place_end(&p);
}

RUN_TESTS(UNIT(secrets_are_hidden_and_what_others_execute_is_locked),
          UNIT(a_place_of_credentials_is_hidden_once_it_is_there),
          UNIT(what_a_program_closed_to_others_in_the_home_is_hidden),
          UNIT(in_the_workspace_a_mode_means_nothing),
          UNIT(added_directories_are_writable_and_have_locked_places_too),
          UNIT(a_workspace_behind_a_link_is_its_own_place), UNIT(a_name_is_denied_at_every_depth),
          UNIT(a_path_is_denied_from_the_workspace_and_from_where_the_command_starts),
          UNIT(patterns_are_worked_out_against_what_is_there),
          UNIT(what_has_too_long_a_path_is_denied_with_a_directory_above_it),
          UNIT(a_pattern_may_be_about_another_place), UNIT(a_link_is_denied_with_what_it_leads_to),
          UNIT(a_link_to_what_is_above_the_workspace_denies_nothing),
          UNIT(a_file_that_is_not_there_yet_can_be_denied_to_writers),
          UNIT(the_workspace_denied_to_writers_is_read_only),
          UNIT(the_workspace_denied_to_readers_is_no_place_for_commands),
          UNIT(an_added_directory_that_is_denied_is_not_writable),
          UNIT(rules_that_take_a_tool_away_say_nothing_of_files),
          UNIT(a_rule_that_cannot_be_understood_keeps_commands_from_running),
          UNIT(a_pattern_that_names_too_much_keeps_commands_from_running),
          UNIT(an_untrusted_project_may_keep_places_of_the_workspace_from_commands),
          UNIT(an_untrusted_project_takes_nothing_away_that_commands_need),
          UNIT(a_command_can_begin_where_an_untrusted_rule_points),
          UNIT(untrusted_patterns_that_name_very_much_are_not_used),
          UNIT(an_untrusted_rule_does_not_open_what_another_closes))
