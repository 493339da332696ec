/* project_rules_test.c */
#include "temp_dir.h"

#include "config/project_rules.h"
#include "config/trust.h"
#include "sdk/project_at.h"
#include "sys/fs.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define LOCAL "project/.keel/settings.local.json"

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct str home;
    const char *project;
};

static struct world world_make(void)
{
    struct world w = {.dir = temp_dir_make()};

    w.home = str_of(fs_join(&w.arena, w.dir.path, "home"));
    w.project = fs_join(&w.arena, w.dir.path, "project");
    assert_ok(fs_make_dirs(w.project, 0700));
    return w;
}

static void world_done(struct world *w)
{
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

static void put(struct world *w, const char *name, const char *text)
{
    assert_ok(fs_make_dirs(temp_path(&w->dir, "project/.keel"), 0700));
    assert_ok(fs_write_atomic(temp_path(&w->dir, name), str_of(text), 0644));
}

static struct project_place place_of(const struct world *w)
{
    return (struct project_place){.dir = w->project, .keel_home = w->home.p};
}

static struct err *try_allow(struct world *w, const char *rule, bool *ret_is_used)
{
    struct kept_rule kept;
    struct project_place place = place_of(w);
    struct err *e = project_rules_allow(&w->arena, &place, str_of(rule), &kept);

    *ret_is_used = !e && kept.is_used;
    return e;
}

static bool allow(struct world *w, const char *rule)
{
    bool is_used;

    assert_ok(try_allow(w, rule, &is_used));
    return is_used;
}

static void assert_file(struct world *w, const char *want)
{
    AUTO(strbuf) struct strbuf text = read_file(temp_path(&w->dir, LOCAL));

    assert_str(strbuf_str(&text), want);
}

static enum trust trust_of(struct world *w)
{
    struct trust_state state;

    assert_ok(
        trust_check(&w->arena, w->home, w->project, project_at(&w->arena, w->project), &state));
    return state.trust;
}

static void give_trust(struct world *w)
{
    assert_ok(trust_give(w->home, w->project, project_at(&w->arena, w->project)));
}

static unsigned mode_of(struct world *w, const char *name)
{
    struct stat st;

    assert_int_equal(stat(temp_path(&w->dir, name), &st), 0);
    return st.st_mode & 07777;
}

/* --- the file --- */

TEST(the_first_rule_makes_the_file)
{
    AUTO(world) struct world w = world_make();
    mode_t old = umask(0022);

    assert_true(allow(&w, "Bash(make)"));
    umask(old);
    assert_file(&w,
                "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(make)\"\n    ]\n  }\n}\n");
    assert_int_equal(mode_of(&w, LOCAL), 0600);
    assert_int_equal(mode_of(&w, "project/.keel"), 0755);
}

TEST(a_rule_is_kept_once)
{
    AUTO(world) struct world w = world_make();
    AUTO(strbuf) struct strbuf before = {0};

    assert_true(allow(&w, "Bash(make)"));
    before = read_file(temp_path(&w.dir, LOCAL));
    assert_true(allow(&w, "Bash(make)"));
    assert_file(&w, strbuf_cstr(&before));
}

TEST(what_else_the_file_says_stays_in_its_order)
{
    AUTO(world) struct world w = world_make();

    put(&w, LOCAL,
        "{\"compact\":{\"threshold\":0.50},\"permissions\":{\"ask\":[\"Edit\"],\"allow\":[\"Read\"]"
        ","
        "\"deny\":[]},\"hooks\":{\"Stop\":null}}");
    allow(&w, "Bash(a\"b)");
    assert_file(&w, "{\n  \"compact\": {\n    \"threshold\": 0.50\n  },\n  \"permissions\": {\n"
                    "    \"ask\": [\n      \"Edit\"\n    ],\n"
                    "    \"allow\": [\n      \"Read\",\n      \"Bash(a\\\"b)\"\n    ],\n"
                    "    \"deny\": []\n  },\n  \"hooks\": {\n    \"Stop\": null\n  }\n}\n");
    assert_int_equal(mode_of(&w, LOCAL), 0644); /* as it was */
}

TEST(a_file_that_is_not_understood_is_left_alone)
{
    static const char *const texts[] = {"",
                                        "{ half",
                                        "[]",
                                        "{\"permissions\":[]}",
                                        "{\"permissions\":{\"allow\":\"Read\"}}",
                                        "{\"a\":1,\"a\":2}"};
    AUTO(world) struct world w = world_make();
    bool is_used;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        put(&w, LOCAL, texts[i]);
        assert_err(try_allow(&w, "Read", &is_used), ERR_VALIDATION);
        assert_file(&w, texts[i]);
    }
}

TEST(a_link_is_not_followed)
{
    AUTO(world) struct world w = world_make();
    bool is_used;

    put(&w, "settings.json", "{}");
    assert_int_equal(symlink("../../settings.json", temp_path(&w.dir, LOCAL)), 0);
    assert_err(try_allow(&w, "Read", &is_used), ERR_STORAGE);
    unlink(temp_path(&w.dir, LOCAL));
    assert_int_equal(rmdir(temp_path(&w.dir, "project/.keel")), 0);
    assert_int_equal(symlink("..", temp_path(&w.dir, "project/.keel")), 0);
    assert_err(try_allow(&w, "Read", &is_used), ERR_STORAGE);
    assert_false(fs_exists(temp_path(&w.dir, "settings.local.json")));
}

TEST(without_a_home_nothing_is_written)
{
    AUTO(world) struct world w = world_make();
    bool is_used;

    w.home = (struct str){0};
    assert_err(try_allow(&w, "Read", &is_used), ERR_CONFIGURATION);
    assert_false(fs_exists(temp_path(&w.dir, "project/.keel")));
}

/* --- several at a time --- */

enum { N_WRITERS = 8, N_RULES = 5 };

static void write_rules(struct world *w, int writer)
{
    struct project_place place = place_of(w);

    for (int i = 0; i < N_RULES; i++) {
        char rule[64];
        struct kept_rule kept;

        snprintf(rule, sizeof rule, "Bash(%d %d)", writer, i);
        if (project_rules_allow(&w->arena, &place, str_of(rule), &kept))
            _exit(1);
    }
    _exit(0);
}

TEST(no_rule_is_lost_when_several_write)
{
    AUTO(world) struct world w = world_make();
    AUTO(strbuf) struct strbuf text = {0};
    struct json *tree;

    for (int i = 0; i < N_WRITERS; i++)
        if (fork() == 0)
            write_rules(&w, i);
    for (int i = 0; i < N_WRITERS; i++) {
        int status;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    text = read_file(temp_path(&w.dir, LOCAL));
    assert_ok(json_parse(&w.arena, strbuf_str(&text), 0, &tree));
    assert_int_equal(json_get(json_get(tree, "permissions"), "allow")->n, N_WRITERS * N_RULES);
    assert_int_equal(trust_of(&w), TRUST_GIVEN);
}

/* --- trust --- */

TEST(a_project_without_settings_is_trusted_with_its_first_rule)
{
    AUTO(world) struct world w = world_make();

    assert_int_equal(trust_of(&w), TRUST_NOT_NEEDED);
    assert_true(allow(&w, "Read"));
    assert_int_equal(trust_of(&w), TRUST_GIVEN);
}

TEST(a_trusted_project_stays_trusted)
{
    AUTO(world) struct world w = world_make();

    put(&w, "project/.keel/settings.json", "{\"model\":\"a/b\"}");
    give_trust(&w);
    assert_true(allow(&w, "Read"));
    assert_int_equal(trust_of(&w), TRUST_GIVEN);
}

TEST(a_project_that_is_not_trusted_is_not_after_it_either)
{
    AUTO(world) struct world w = world_make();

    put(&w, "project/.keel/settings.json", "{\"model\":\"a/b\"}");
    assert_false(allow(&w, "Read"));
    assert_int_equal(trust_of(&w), TRUST_NONE);
    assert_false(allow(&w, "Read")); /* it stands there */
}

TEST(a_project_that_changed_since_is_not_trusted_again)
{
    AUTO(world) struct world w = world_make();

    put(&w, "project/.keel/settings.json", "{\"model\":\"a/b\"}");
    give_trust(&w);
    put(&w, "project/.keel/settings.json", "{\"model\":\"c/d\"}");
    assert_false(allow(&w, "Read"));
    assert_int_equal(trust_of(&w), TRUST_CHANGED);
}

static bool follow(struct world *w, const struct trust_edit *edit)
{
    bool is_trusted;

    assert_ok(
        trust_follow(w->home, w->project, edit, project_at(&w->arena, w->project), &is_trusted));
    return is_trusted;
}

TEST(trust_does_not_follow_what_others_write_meanwhile)
{
    AUTO(world) struct world w = world_make();
    struct trust_edit edit = {.file = ".keel/settings.local.json", .after = S("{\"a\":1}")};

    put(&w, LOCAL, "{\"hooks\":{}}"); /* not what was written */
    assert_false(follow(&w, &edit));
    put(&w, LOCAL, "{\"a\":1}");
    put(&w, "project/.keel/settings.json", "{\"hooks\":{}}"); /* came just now */
    assert_false(follow(&w, &edit));
    unlink(temp_path(&w.dir, "project/.keel/settings.json"));
    assert_true(follow(&w, &edit));
}

RUN_TESTS(UNIT(the_first_rule_makes_the_file), UNIT(a_rule_is_kept_once),
          UNIT(what_else_the_file_says_stays_in_its_order),
          UNIT(a_file_that_is_not_understood_is_left_alone), UNIT(a_link_is_not_followed),
          UNIT(without_a_home_nothing_is_written), UNIT(no_rule_is_lost_when_several_write),
          UNIT(a_project_without_settings_is_trusted_with_its_first_rule),
          UNIT(a_trusted_project_stays_trusted),
          UNIT(a_project_that_is_not_trusted_is_not_after_it_either),
          UNIT(a_project_that_changed_since_is_not_trusted_again),
          UNIT(trust_does_not_follow_what_others_write_meanwhile))
