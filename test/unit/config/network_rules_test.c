/* network_rules_test.c - which hosts the settings and the rules for WebFetch open to commands. */
#include "config/network_rules.h"
#include "sdk/project_at.h"

#include "temp_dir.h"

#include "sys/fs.h"

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct settings *settings;
    struct permission_rules permissions;
    struct net_rules rules;
};

static void world_done(struct world *w)
{
    settings_free(w->settings);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

/* Of the person, and of a project. */
static struct err *load(struct world *w, const char *own, const char *project, bool is_trusted)
{
    const char *home = fs_join(&w->arena, w->dir.path, "home"),
               *dir = fs_join(&w->arena, w->dir.path, "project");

    TRY(fs_make_dirs(temp_path(&w->dir, "home/.keel"), 0700));
    TRY(fs_make_dirs(temp_path(&w->dir, "project/.keel"), 0700));
    TRY(fs_write_atomic(temp_path(&w->dir, "home/.keel/settings.json"), str_of(own), 0600));
    TRY(fs_write_atomic(temp_path(&w->dir, "project/.keel/settings.json"), str_of(project), 0600));
    TRY(settings_load(&(struct settings_sources){.home = home,
                                                 .project_dir = dir,
                                                 .project = project_at(&w->arena, dir),
                                                 .project_is_trusted = is_trusted},
                      &w->settings));
    return network_rules_from_settings(&w->arena, w->settings, &w->permissions, &w->rules);
}

static bool is_allowed(struct world *w, const char *host)
{
    struct url u;
    struct err *e;

    assert_ok(url_parse(&w->arena, arena_format(&w->arena, "http://%s", host), &u));
    e = net_rules_check(&w->rules, &u);
    err_free(e);
    return !e;
}

TEST(without_settings_there_is_no_network)
{
    AUTO(world) struct world w = {.dir = temp_dir_make()};

    assert_ok(load(&w, "{}", "{}", true));
    assert_false(net_rules_allow_any(&w.rules));
}

TEST(the_lists_of_the_person_and_of_a_trusted_project_add_up)
{
    AUTO(world) struct world w = {.dir = temp_dir_make()};

    assert_ok(load(&w,
                   "{\"network\": {\"allow\": [\"a.org\"], \"allowPrivate\": [\"db.local:81\"], "
                   "\"deny\": [\"x.a.org\"]}}",
                   "{\"network\": {\"allow\": [\"b.org\"], \"deny\": [\"y.a.org\"]}}", true));
    assert_true(is_allowed(&w, "a.org") && is_allowed(&w, "b.org") &&
                is_allowed(&w, "db.local:81"));
    assert_false(is_allowed(&w, "x.a.org") || is_allowed(&w, "y.a.org") || is_allowed(&w, "c.org"));
}

TEST(a_project_that_is_not_trusted_can_only_deny)
{
    AUTO(world) struct world w = {.dir = temp_dir_make()};

    assert_ok(load(&w, "{\"network\": {\"allow\": [\"a.org\"]}}",
                   "{\"network\": {\"allow\": [\"evil.org\"], \"allowPrivate\": [\"10.0.0.1\"], "
                   "\"deny\": [\"x.a.org\"]}}",
                   false));
    assert_true(is_allowed(&w, "a.org"));
    assert_false(is_allowed(&w, "evil.org") || is_allowed(&w, "10.0.0.1"));
    assert_false(is_allowed(&w, "x.a.org"));
}

TEST(domains_that_webfetch_may_fetch_are_open_to_commands)
{
    static const struct str allow[] = {
        S("WebFetch(domain:a.org)"),    S("WebFetch( domain:b.org)"), S("WebFetch"),
        S("WebFetch(https://c.org/*)"), S("Bash(domain:d.org)"),      S("WebFetch(domain:)"),
        S("WebFetch(domain:*.e.org)")};
    static const struct str ask[] = {S("WebFetch(domain:ask.a.org)")};
    static const struct str deny[] = {S("WebFetch(domain:deny.a.org)"), S("WebFetch(domain:/)")};
    AUTO(world)
    struct world w = {.dir = temp_dir_make(),
                      .permissions = {allow, ARRAY_LEN(allow), ask, 1, deny, 2, NULL}};

    assert_ok(load(&w, "{}", "{}", true));
    assert_true(is_allowed(&w, "a.org") && is_allowed(&w, "www.a.org") &&
                is_allowed(&w, "x.e.org"));
    assert_false(is_allowed(&w, "b.org") || is_allowed(&w, "c.org") || is_allowed(&w, "d.org"));
    assert_false(is_allowed(&w, "ask.a.org") || is_allowed(&w, "x.deny.a.org"));
    assert_false(is_allowed(&w, "e.org"));
}

TEST(what_is_no_domain_is_an_error_that_names_the_setting)
{
    AUTO(world) struct world w = {.dir = temp_dir_make()};
    AUTO(err)
    struct err *e = load(&w, "{\"network\": {\"allow\": [\"https://a.org/\"]}}", "{}", true);
    AUTO_FREE char *message = e ? err_message(e) : mem_strdup("");

    assert_true(err_is(e, ERR_VALIDATION));
    assert_string_equal(message, "network.allow: \"https://a.org/\" is not a domain");
}

TEST(a_host_that_an_answer_let_webfetch_reach_is_closed_to_commands)
{
    struct str allow = S("WebFetch(host:a.org)"), deny = S("WebFetch(host:b.org)");
    AUTO(world)
    struct world w = {.dir = temp_dir_make(),
                      .permissions = {.allow = &allow, .n_allow = 1, .deny = &deny, .n_deny = 1}};

    assert_ok(load(&w, "{\"network\":{\"allow\":[\"b.org\",\"c.org\"]}}", "{}", true));
    assert_false(is_allowed(&w, "a.org"));
    assert_false(is_allowed(&w, "b.org"));
    assert_true(is_allowed(&w, "c.org"));
}

RUN_TESTS(UNIT(without_settings_there_is_no_network),
          UNIT(the_lists_of_the_person_and_of_a_trusted_project_add_up),
          UNIT(a_project_that_is_not_trusted_can_only_deny),
          UNIT(domains_that_webfetch_may_fetch_are_open_to_commands),
          UNIT(what_is_no_domain_is_an_error_that_names_the_setting),
          UNIT(a_host_that_an_answer_let_webfetch_reach_is_closed_to_commands))
