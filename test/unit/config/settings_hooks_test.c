/* settings_hooks_test.c - hooks of all layers. */
#include "config/settings_hooks.h"
#include "files.h"
#include "sdk/project_at.h"

struct scene {
    struct temp_dir dir;
    struct settings *settings;
    struct hook_config *config;
    struct arena arena;
};

static void scene_done(struct scene *s)
{
    settings_free(s->settings);
    hook_config_free(s->config);
    arena_done(&s->arena);
    temp_dir_done(&s->dir);
}
DEFINE_AUTO_VAL(scene, scene_done)

static struct err *load(struct scene *s, bool is_trusted)
{
    const char *project = fs_join(&s->arena, s->dir.path, "project");
    struct settings_sources sources = {.home = fs_join(&s->arena, s->dir.path, "home"),
                                       .project_dir = project,
                                       .project = project_at(&s->arena, project),
                                       .project_is_trusted = is_trusted};
    struct err *e = settings_load(&sources, &s->settings);

    return e ? e : settings_hooks(s->settings, &s->config);
}

#define HOOK(command)                                                                              \
    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"" command "\"}]}]}}"

static struct str command_at(const struct scene *s, size_t i)
{
    return json_get_text(hook_config_list(s->config, HOOK_STOP)->items[i].definition, "command");
}

TEST(hooks_of_all_files_add_up_from_the_lowest_layer)
{
    AUTO(scene) struct scene s = {.dir = temp_dir_make()};

    put(&s.dir, "home/.claude/settings.json", HOOK("1"));
    put(&s.dir, "home/.keel/settings.json", HOOK("2"));
    put(&s.dir, "project/.claude/settings.json", HOOK("3"));
    put(&s.dir, "project/.keel/settings.json", HOOK("4"));
    assert_ok(load(&s, true));
    assert_int_equal(hook_config_list(s.config, HOOK_STOP)->n, 4);
    assert_str(command_at(&s, 0), "1");
    assert_str(command_at(&s, 1), "2");
    assert_str(command_at(&s, 2), "3");
    assert_str(command_at(&s, 3), "4");
}

TEST(a_project_that_is_not_trusted_has_no_hooks)
{
    AUTO(scene) struct scene s = {.dir = temp_dir_make()};

    put(&s.dir, "home/.keel/settings.json", HOOK("mine"));
    put(&s.dir, "project/.claude/settings.json", HOOK("theirs"));
    put(&s.dir, "project/.keel/settings.local.json", HOOK("theirs"));
    assert_ok(load(&s, false));
    assert_int_equal(hook_config_list(s.config, HOOK_STOP)->n, 1);
    assert_str(command_at(&s, 0), "mine");
}

TEST(a_mistake_in_our_own_file_is_told_with_its_name)
{
    AUTO(scene) struct scene s = {.dir = temp_dir_make()};
    AUTO(err) struct err *e = NULL;

    put(&s.dir, "project/.keel/settings.json", "{\"hooks\":{\"OnStop\":[]}}");
    e = load(&s, true);
    assert_true(err_is(e, ERR_VALIDATION));
    assert_non_null(
        strstr(e->text, "/project/.keel/settings.json: \"hooks.OnStop\" is not a hook event"));
}

TEST(a_mistake_in_a_foreign_file_is_a_warning)
{
    AUTO(scene) struct scene s = {.dir = temp_dir_make()};

    put(&s.dir, "home/.claude/settings.json", "{\"hooks\":{\"Stop\":3,\"OnStop\":[]}}");
    assert_ok(load(&s, true));
    assert_int_equal(hook_config_n_warnings(s.config), 1);
    assert_true(hook_config_is_empty(s.config));
}

RUN_TESTS(UNIT(hooks_of_all_files_add_up_from_the_lowest_layer),
          UNIT(a_project_that_is_not_trusted_has_no_hooks),
          UNIT(a_mistake_in_our_own_file_is_told_with_its_name),
          UNIT(a_mistake_in_a_foreign_file_is_a_warning))
