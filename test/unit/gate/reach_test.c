/* reach_test.c - what is free to read, what asks, and what is secret. */
#include "yard.h"

#include "base/secret_places.h"
#include "gate/reach.h"
#include "gate/typed.h"

#include <unistd.h>

static struct tool glob = {.name = "Glob",
                           .schema = OBJECT(TEXT("pattern") "," TEXT("path")),
                           .risk = RISK_INSPECT,
                           .permission_arg = "pattern"};

/* --- reading outside asks --- */

TEST(what_lies_outside_the_workspace_asks_in_every_mode_but_bypass)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_PLAN;
    asks_by(&read_tool, "@/out/secret.txt", "mode:plan/outside");
    y.mode = MODE_DEFAULT;
    auto_by(&read_tool, "src/a.c", "mode:default/inspect");
    asks_by(&read_tool, "@/out/secret.txt", "mode:default/outside");
    asks_by(&read_tool, "../out/secret.txt", "mode:default/outside");
    asks_by(&read_tool, "~/notes", "mode:default/outside");
    asks_by(&read_tool, "@/out/not/there", "mode:default/outside");
    asks_by(&grep, "@/out", "mode:default/outside");
    asks_by(&grep, "@", "mode:default/outside");
    asks_by(&grep, "/", "mode:default/outside");
    asks_by(&glob, "@/out/*", "mode:default/outside");
    asks_by(&glob, "../out/*.txt", "mode:default/outside");
    asks_by(&glob, "~/*", "mode:default/outside");
    y.mode = MODE_ACCEPT_EDITS;
    asks_by(&read_tool, "@/out/secret.txt", "mode:acceptEdits/outside");
    y.mode = MODE_BYPASS;
    auto_by(&read_tool, "@/out/secret.txt", "mode:bypassPermissions/inspect");
}

TEST(a_link_out_of_the_workspace_asks_for_where_it_leads)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    yard_link(&y, "proj/data", "@out");
    yard_link(&y, "out/back", "@proj");
    asks_by(&read_tool, "data/secret.txt", "mode:default/outside");
    asks_by(&grep, "data", "mode:default/outside");
    asks_by(&glob, "data/*", "mode:default/outside");
    auto_by(&read_tool, "@/out/back/src/a.c", "mode:default/inspect");
}

TEST(the_systems_public_files_are_free)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    auto_by(&read_tool, "/etc/passwd", "mode:default/inspect");
    auto_by(&read_tool, "/usr/include/stdio.h", "mode:default/inspect");
    auto_by(&grep, "/usr/share", "mode:default/inspect");
    auto_by(&glob, "/usr/lib/*.so", "mode:default/inspect");
    auto_by(&read_tool, "/proc/meminfo", "mode:default/inspect");
    asks_by(&read_tool, "/proc/1/status", "mode:default/outside");
    asks_by(&read_tool, "/var/tmp/x", "mode:default/outside");
    asks_by(&read_tool, "/usrx", "mode:default/outside");
}

TEST(added_directories_and_what_the_policy_adds_are_free)
{
    AUTO(yard) struct yard y;
    const char *added, *readable;

    yard_init(&y);
    y.mode = MODE_PLAN;
    added = yard_path(&y, "out");
    readable = yard_path(&y, "home");
    y.policy.writable = &added;
    y.policy.n_writable = 1;
    y.policy.readable = &readable;
    y.policy.n_readable = 1;
    auto_by(&read_tool, "@/out/secret.txt", "mode:plan/inspect");
    auto_by(&read_tool, "@/home/notes", "mode:plan/inspect");
}

TEST(a_rule_that_names_the_place_lets_every_tool_look)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    yard_allow(&y, "Read(/@/out/**)");
    auto_by(&read_tool, "@/out/secret.txt", "Read(/@/out/**)");
    auto_by(&grep, "@/out", "Read(/@/out/**)");
    auto_by(&grep, "@/out/deeper", "Read(/@/out/**)");
    auto_by(&glob, "@/out/*", "Read(/@/out/**)");
    asks_by(&read_tool, "@/outer", "mode:default/outside");
    asks_by(&grep, "@", "mode:default/outside");
    yard_allow(&y, "Read(/@/out/secret.txt)");
    auto_by(&read_tool, "@/out/secret.txt", "Read(/@/out/secret.txt)");
    asks_by(&grep, "@/out", "mode:default/outside");
    yard_allow(&y, "Read");
    auto_by(&glob, "~/*", "Read");
    yard_allow(&y, "Grep");
    auto_by(&grep, "@/out", "Grep");
    asks_by(&read_tool, "@/out/secret.txt", "mode:default/outside");
}

TEST(a_rule_about_the_pattern_of_a_search_says_nothing_about_its_place)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    yard_allow(&y, "Glob(*.txt)");
    asks_by(&glob, "@/out/secret.txt", "mode:default/outside");
    auto_by(&glob, "src/a.txt", "Glob(*.txt)");
}

TEST(a_rule_for_a_link_does_not_open_where_it_leads)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    yard_link(&y, "out/more", "@home");
    yard_allow(&y, "Read(/@/out/**)");
    asks_by(&read_tool, "@/out/more/notes", "mode:default/outside");
}

static void type(struct yard *y, const char *prompt)
{
    struct typed_names names;

    typed_find(&names, &y->arena, str_of(yard_text(y, prompt)), y->state, y->environment);
    typed_keep(&names, y->state);
}

TEST(a_path_that_the_person_typed_is_free_with_all_below_it)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_PLAN;
    type(&y, "compare with @/out and ~/notes");
    auto_by(&read_tool, "@/out/secret.txt", "typed:path:@/out");
    auto_by(&grep, "@/out", "typed:path:@/out");
    auto_by(&glob, "@/out/**/*.c", "typed:path:@/out");
    auto_by(&read_tool, "~/notes", "typed:path:@/home/notes");
    asks_by(&read_tool, "~/other", "mode:plan/outside");
    asks_by(&read_tool, "@/outer/x", "mode:plan/outside");
    denied_by(&read_tool, "@/keys/id", "policy:secret");
}

TEST(to_type_a_secret_place_does_not_open_it)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    type(&y, "read @/keys/id");
    denied_by(&read_tool, "@/keys/id", "policy:secret");
}

/* --- places of credentials --- */

TEST(a_second_path_to_a_secret_file_is_as_secret)
{
    AUTO(yard) struct yard y;
    const char *file;

    yard_init(&y);
    file = yard_path(&y, "keys/id");
    y.policy.secret = &file;
    y.policy.n_secret = 1;
    assert_int_equal(link(file, yard_path(&y, "out/copy")), 0);
    assert_int_equal(link(file, yard_path(&y, "proj/copy")), 0);
    denied_by(&read_tool, "@/out/copy", "policy:secret");
    denied_by(&read_tool, "copy", "policy:secret");
    auto_by(&read_tool, "@/out/secret.txt", "mode:bypassPermissions/inspect");
}

TEST(what_its_mode_closes_to_others_in_the_home_is_secret)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, "home/.tool/token", "");
    put(&y.dir, "home/.tool/colours", "");
    put(&y.dir, "home/letter", "");
    put(&y.dir, "proj/.token", "");
    assert_int_equal(chmod(yard_path(&y, "home/.tool/token"), 0600), 0);
    assert_int_equal(chmod(yard_path(&y, "home/letter"), 0600), 0);
    assert_int_equal(chmod(yard_path(&y, "proj/.token"), 0600), 0);
    denied_by(&read_tool, "~/.tool/token", "policy:secret");
    denied_by(&write_tool, "~/.tool/token", "policy:secret");
    auto_by(&read_tool, "~/.tool/colours", "mode:bypassPermissions/inspect");
    auto_by(&read_tool, "~/letter", "mode:bypassPermissions/inspect");
    auto_by(&read_tool, ".token", "mode:bypassPermissions/inspect");
}

/* --- searches --- */

static bool hides(struct yard *y, const char *name, bool is_dir)
{
    AUTO(arena) struct arena a = {0};
    struct reach_map map;

    reach_map_init(&map, &a, &y->policy, yard_path(y, "proj"), yard_path(y, "home"));
    return reach_hides(&map, yard_text(y, name), is_dir);
}

TEST(searches_leave_out_what_is_secret_and_find_the_workspace_in_it)
{
    AUTO(yard) struct yard y;
    const char *secret[3];

    yard_init(&y);
    secret[0] = y.dir.path; /* as /home is */
    secret[1] = yard_path(&y, "keys");
    secret[2] = yard_path(&y, "proj/vault");
    y.policy.secret = secret;
    y.policy.n_secret = 3;
    put(&y.dir, "proj/vault/x", "");
    put(&y.dir, "home/.tool/token", "");
    assert_int_equal(chmod(yard_path(&y, "home/.tool/token"), 0600), 0);
    assert_false(hides(&y, "@", true));
    assert_false(hides(&y, "@/proj", true));
    assert_false(hides(&y, "@/proj/src/a.c", false));
    assert_false(hides(&y, "@/home", true));
    assert_false(hides(&y, "@/home/notes", false));
    assert_true(hides(&y, "@/keys", true));
    assert_true(hides(&y, "@/out", true));
    assert_true(hides(&y, "@/proj/vault", true));
    assert_true(hides(&y, "@/home/.tool/token", false));
    assert_false(hides(&y, "/etc/passwd", false));
}

/* --- the tables --- */

TEST(every_place_of_credentials_is_named_once_and_says_what_it_is)
{
    const struct secret_place *const tables[] = {secret_places_in_home, secret_places_of_system};

    for (size_t t = 0; t < 2; t++)
        for (const struct secret_place *p = tables[t]; p->path; p++) {
            assert_true(p->what && *p->what);
            assert_int_equal(p->path[0] == '/', t == 1);
            for (const struct secret_place *q = tables[t]; q->path; q++)
                assert_true(q == p || strcmp(q->path, p->path) != 0);
        }
}

TEST(a_place_of_credentials_is_found_in_every_home)
{
    static const char *const secret[] = {
        "~/.ssh/id_rsa",
        "/home/me/.claude/.credentials.json",
        "/home/me/.codex/auth.json",
        "/home/me/.gemini/oauth_creds.json",
        "/home/me/.mozilla/firefox/x/logins.json",
        "/root/.bash_history",
        "/Users/me/.aws/credentials",
        "/var/home/me/.config/gh/hosts.yml",
        "/etc/ssh/ssh_host_ed25519_key",
        "/etc/shadow",
        "/var/lib/postgresql/16/x",
        "/etc/letsencrypt/live/x/privkey.pem",
        "~/.cf/config.json",
        "~/.config/hardhat-nodejs/vars.json",
        "~/.sfdx/me.json",
        "~/.wakatime.cfg",
    };
    static const char *const other[] = {
        "/home/.ssh/x",
        "/home/me/ssh",
        "/home/me/.sshx/id",
        "/srv/.aws/x",
        "/etc/passwd",
        "/etc/ssh/ssh_config",
        "~",
        "/home/me/project/.npmrc",
    };

    for (size_t i = 0; i < ARRAY_LEN(secret); i++)
        assert_non_null(secret_place_find(str_of(secret[i])));
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        assert_null(secret_place_find(str_of(other[i])));
}

static bool is_private(uid_t uid, mode_t umask, const char *path, uid_t owner, mode_t mode)
{
    struct private_user u = {uid, umask, "/home/me"};
    struct stat st = {.st_uid = owner, .st_mode = mode};

    return mode_is_private(&u, path, &st);
}

TEST(a_mode_says_that_a_file_is_private)
{
    enum { ME = 1000 };

    /* root's own, anywhere but in temporary places */
    assert_true(is_private(0, 022, "/etc/new/key", 0, S_IFREG | 0600));
    assert_true(is_private(0, 022, "/etc/new/key", 0, S_IFREG | 0640));
    assert_true(is_private(0, 022, "/srv/closed", 0, S_IFDIR | 0700));
    assert_true(is_private(0, 022, "/srv/closed", 0, S_IFDIR | 0750));
    assert_false(is_private(0, 022, "/srv/open", 0, S_IFDIR | 0711));
    assert_false(is_private(0, 022, "/etc/passwd", 0, S_IFREG | 0644));
    assert_false(is_private(0, 022, "/srv/x", ME, S_IFREG | 0600));
    assert_false(is_private(0, 022, "/tmp/x", 0, S_IFREG | 0600));
    assert_false(is_private(ME, 022, "/etc/new/key", 0, S_IFREG | 0600));
    /* in one's own home */
    assert_true(is_private(ME, 022, "/home/me/.x/token", ME, S_IFREG | 0600));
    assert_true(is_private(ME, 022, "/home/me/.token", ME, S_IFREG | 0400));
    assert_false(is_private(ME, 022, "/home/me/.x/token", ME, S_IFREG | 0640));
    assert_false(is_private(ME, 022, "/home/me/x/token", ME, S_IFREG | 0600));
    assert_false(is_private(ME, 022, "/home/me/.x", ME, S_IFDIR | 0700));
    assert_false(is_private(ME, 077, "/home/me/.x/token", ME, S_IFREG | 0600));
    assert_false(is_private(0, 022, "/home/me", 0, S_IFDIR | 0700));
}

RUN_TESTS(UNIT(what_lies_outside_the_workspace_asks_in_every_mode_but_bypass),
          UNIT(a_link_out_of_the_workspace_asks_for_where_it_leads),
          UNIT(the_systems_public_files_are_free),
          UNIT(added_directories_and_what_the_policy_adds_are_free),
          UNIT(a_rule_that_names_the_place_lets_every_tool_look),
          UNIT(a_rule_about_the_pattern_of_a_search_says_nothing_about_its_place),
          UNIT(a_rule_for_a_link_does_not_open_where_it_leads),
          UNIT(a_path_that_the_person_typed_is_free_with_all_below_it),
          UNIT(to_type_a_secret_place_does_not_open_it),
          UNIT(a_second_path_to_a_secret_file_is_as_secret),
          UNIT(what_its_mode_closes_to_others_in_the_home_is_secret),
          UNIT(searches_leave_out_what_is_secret_and_find_the_workspace_in_it),
          UNIT(every_place_of_credentials_is_named_once_and_says_what_it_is),
          UNIT(a_place_of_credentials_is_found_in_every_home),
          UNIT(a_mode_says_that_a_file_is_private))
