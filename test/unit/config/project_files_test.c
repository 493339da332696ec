/* project_files_test.c - what is read of a project, and what is not. */
#include "either_way.h"
#include "files.h"

#include "base/json.h"
#include "config/project_files.h"

struct stage {
    struct temp_dir dir;
    struct arena arena;
    struct project_place place;
    struct project_files files;
};

static struct stage stage_make(void)
{
    struct stage s = {.dir = temp_dir_make()};

    s.place = (struct project_place){.dir = fs_join(&s.arena, s.dir.path, "project"),
                                     .home = fs_join(&s.arena, s.dir.path, "home"),
                                     .keel_home = fs_join(&s.arena, s.dir.path, "home/.keel")};
    s.place.cwd = s.place.dir;
    put(&s.dir, "project/", "");
    put(&s.dir, "home/.keel/", "");
    return s;
}

static void stage_done(struct stage *s)
{
    arena_done(&s->arena);
    temp_dir_done(&s->dir);
}
DEFINE_AUTO_VAL(stage, stage_done)

static struct str names_of(struct stage *s)
{
    AUTO(strbuf) struct strbuf names = {0};

    project_files_read(&s->arena, &s->place, &s->files);
    for (size_t i = 0; i < s->files.n; i++)
        strbuf_addf(&names, "%s%s", i ? " " : "", s->files.items[i].name);
    return arena_str(&s->arena, strbuf_str(&names));
}

static void put_hook(struct stage *s, const char *command)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":");
    json_write_string(&text, str_of(command));
    strbuf_add_cstr(&text, "}]}]}}");
    put(&s->dir, "project/.keel/settings.json", strbuf_cstr(&text));
}

static void has_problem_(struct stage *s, const char *said, const char *file, int line)
{
    names_of(s);
    if (!s->files.problem || !strstr(s->files.problem, said)) {
        print_error("%s:%d: %s\n", file, line, s->files.problem ? s->files.problem : "no problem");
        fail();
    }
}
#define has_problem(s, said) has_problem_(s, said, __FILE__, __LINE__)

TEST(a_project_without_files_has_none)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/README.md", "x");
    assert_str(names_of(&s), "");
    assert_null(s.files.problem);
    s.place.dir = NULL;
    assert_str(names_of(&s), "");
}

TEST(settings_and_all_of_keel_s_directories_are_read)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/.mcp.json", "{}");
    put(&s.dir, "project/.keel/settings.json", "{}");
    put(&s.dir, "project/.keel/hooks/deep/check.sh", "#!/bin/sh");
    put(&s.dir, "project/.robota/agents/a.md", "a");
    put(&s.dir, "project/.robota/sessions/1.json", "not ours");
    put(&s.dir, "project/.claude/settings.json", "{}");
    put(&s.dir, "project/.claude/settings.local.json", "{}");
    put(&s.dir, "project/.claude/agents/a.md", "not used");
    assert_str(names_of(&s), ".claude/settings.json .claude/settings.local.json "
                             ".keel/hooks/deep/check.sh .keel/settings.json .mcp.json "
                             ".robota/agents/a.md");
    assert_str(s.files.items[2].content, "#!/bin/sh");
    assert_null(s.files.problem);
}

TEST(files_that_hooks_name_are_read)
{
    static const char *const commands[] = {
        "\"$KEEL_PROJECT_DIR\"/scripts/check.sh",
        "\"$CLAUDE_PROJECT_DIR/scripts/check.sh\" --fast",
        "${KEEL_PROJECT_DIR:-.}/scripts/check.sh",
        "./scripts/check.sh",
        "scripts/check.sh",
        "sh scripts/check.sh",
        "cd scripts && ./check.sh",
        "cd \"$KEEL_PROJECT_DIR\"/scripts; sh check.sh",
        "bash -c 'sh scripts/check.sh'",
        "PATH=scripts:$PATH check.sh",
        "D=scripts; \"$D/check.sh\"",
        "env X=1 timeout 5 scripts/check.sh",
        "cat scripts/check.sh | sh",
        "sh < scripts/check.sh",
        "\"$(git rev-parse --show-toplevel)\"/scripts/check.sh",
        "python3 -c 'import runpy; runpy.run_path(\"scripts/check.sh\")'",
        "scripts/../scripts/check.sh",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        AUTO(stage) struct stage s = stage_make();

        put(&s.dir, "project/scripts/check.sh", "#!/bin/sh");
        put(&s.dir, "project/other.sh", "#!/bin/sh");
        put_hook(&s, commands[i]);
        if (str_find(names_of(&s), S("scripts/check.sh")) == STR_NONE ||
            str_find(names_of(&s), S("other.sh")) != STR_NONE)
            fail_msg("%s: %s", commands[i], names_of(&s).p);
    }
}

TEST(an_absolute_path_into_the_project_is_one_of_it)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/scripts/check.sh", "#!/bin/sh");
    put_hook(&s, arena_format(&s.arena, "sh %s/scripts/check.sh", s.place.dir).p);
    assert_str(names_of(&s), ".keel/settings.json scripts/check.sh");
    put_hook(&s, "sh ~/check.sh");
    put(&s.dir, "home/check.sh", "of the person");
    assert_str(names_of(&s), ".keel/settings.json");
}

TEST(what_interpreters_find_by_a_shorter_name_is_read)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/a/__main__.py", "");
    put(&s.dir, "project/b/c.py", "");
    put(&s.dir, "project/d/index.js", "");
    put(&s.dir, "project/e.js", "");
    put_hook(&s, "python3 a; python3 -m b.c; node d; node ./e");
    assert_str(names_of(&s), ".keel/settings.json a/__main__.py b/c.py d/index.js e.js");
}

TEST(values_of_variables_and_the_search_s_command_count)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/a.sh", "");
    put(&s.dir, "project/b.sh", "");
    put(&s.dir, "project/.claude/settings.json",
        "{\"hooks\":{\"Stop\":[{\"env\":{\"S\":\"./a.sh\"},\"hooks\":[{\"type\":\"command\","
        "\"command\":\"sh $S\"}]}]},\"webSearch\":{\"command\":\"./b.sh\"}}");
    assert_str(names_of(&s), ".claude/settings.json a.sh b.sh");
}

TEST(a_name_counts_from_the_working_directory_too)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/sub/check.sh", "");
    put_hook(&s, "./check.sh");
    s.place.cwd = fs_join(&s.arena, s.place.dir, "sub");
    assert_str(names_of(&s), ".keel/settings.json sub/check.sh");
}

TEST(what_is_not_a_file_is_a_problem)
{
    AUTO(stage) struct stage s = stage_make();

    assert_int_equal(mkfifo(temp_path(&s.dir, "project/.mcp.json"), 0600), 0);
    has_problem(&s, ".mcp.json: it is a FIFO");
    unlink(temp_path(&s.dir, "project/.mcp.json"));
    put(&s.dir, "project/.keel/settings.json/x", "");
    has_problem(&s, ".keel/settings.json: Is a directory");
    unlink(temp_path(&s.dir, "project/.keel/settings.json/x"));
    rmdir(temp_path(&s.dir, "project/.keel/settings.json"));
    assert_int_equal(mkfifo(temp_path(&s.dir, "project/.keel/x"), 0600), 0);
    has_problem(&s, ".keel/x: it is a FIFO");
}

TEST(links_are_followed_inside_the_project_only)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "outside.json", "{}");
    put(&s.dir, "project/.keel/", "");
    assert_int_equal(
        symlink("../../outside.json", temp_path(&s.dir, "project/.keel/settings.json")), 0);
    has_problem(&s, ".keel/settings.json: it is a link");
    unlink(temp_path(&s.dir, "project/.keel/settings.json"));
    assert_int_equal(symlink(s.dir.path, temp_path(&s.dir, "project/.keel/x")), 0);
    has_problem(&s, ".keel/x: it is a link");
    unlink(temp_path(&s.dir, "project/.keel/x"));
    assert_int_equal(symlink("/dev/zero", temp_path(&s.dir, "project/.mcp.json")), 0);
    has_problem(&s, ".mcp.json: it is a link");
}

TEST(limits_are_told)
{
    AUTO(stage) struct stage s = stage_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i <= PROJECT_MAX_FILES; i++)
        put(&s.dir, arena_format(&s.arena, "project/.keel/%d", i).p, "");
    has_problem(&s, "more than 1000 files");
    s.place.dir = fs_join(&s.arena, s.dir.path, "second");
    put(&s.dir, "second/.keel/settings.json", "{");
    assert_int_equal(
        truncate(temp_path(&s.dir, "second/.keel/settings.json"), PROJECT_MAX_SETTINGS_BYTES + 1),
        0);
    has_problem(&s, "larger than its limit");
    put(&s.dir, "second/.keel/settings.json", "{}");
    put(&s.dir, "second/.keel/x", "{}");
    assert_int_equal(truncate(temp_path(&s.dir, "second/.keel/x"), (off_t)1 << 40), 0);
    has_problem(&s, "too large");
    s.place.dir = fs_join(&s.arena, s.dir.path, "many");
    for (int i = 0; i <= 64; i++) {
        const char *name = arena_format(&s.arena, "many/.keel/%d", i).p;

        put(&s.dir, name, "");
        assert_int_equal(truncate(temp_path(&s.dir, name), 1 << 20), 0);
    }
    has_problem(&s, "more than 64 MiB");
    s.place.dir = fs_join(&s.arena, s.dir.path, "third");
    for (int i = 0; i < 20; i++)
        strbuf_add_cstr(&text, "d/");
    put(&s.dir, arena_format(&s.arena, "third/.keel/%sx", strbuf_cstr(&text)).p, "");
    has_problem(&s, "nested too deeply");
}

TEST(a_home_has_no_own_settings_and_nothing_else_of_keel_s)
{
    static const char *const own[] = {".keel", ".robota", ".claude"};
    AUTO(stage) struct stage s = stage_make();

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        put(&s.dir, arena_format(&s.arena, "home/%s/settings.json", own[i]).p, "{}");
        put(&s.dir, arena_format(&s.arena, "home/%s/settings.local.json", own[i]).p, "{}");
    }
    put(&s.dir, "home/.keel/keel.db", "sessions");
    s.place.dir = s.place.home;
    assert_str(names_of(&s), ".claude/settings.local.json .keel/settings.local.json "
                             ".robota/settings.local.json");
    s.place.keel_home = NULL;
    assert_str(names_of(&s), ".claude/settings.local.json .keel/settings.local.json "
                             ".robota/settings.local.json");
}

TEST(own_settings_that_are_links_are_own_too)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "dotfiles/keel.json", "{}");
    assert_int_equal(symlink(temp_path(&s.dir, "dotfiles/keel.json"),
                             fs_join(&s.arena, s.place.keel_home, "settings.json")),
                     0);
    s.place.dir = s.place.home;
    assert_str(names_of(&s), "");
    assert_null(s.files.problem);
}

TEST(keel_s_home_in_a_project_has_no_settings_of_the_project)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/.keel/settings.json", "{}");
    assert_str(names_of(&s), ".keel/settings.json");
    s.place.keel_home = fs_join(&s.arena, s.place.dir, ".keel");
    assert_str(names_of(&s), "");
}

/* --- looking again --- */

static struct err *check(struct stage *s, const char *command)
{
    return project_files_check(&s->files, &s->place, str_of(command));
}

TEST(a_command_runs_as_long_as_its_files_are_what_they_were)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/.keel/lib.sh", "1");
    put(&s.dir, "project/check.sh", "1");
    put_hook(&s, "sh check.sh");
    names_of(&s);
    assert_ok(check(&s, "sh check.sh"));
    put_hook(&s, "sh other.sh"); /* parsed long ago */
    put(&s.dir, "project/.keel/new", "1");
    assert_ok(check(&s, "sh check.sh"));
    put(&s.dir, "project/check.sh", "2");
    assert_err(check(&s, "sh check.sh"), ERR_TOOL_DENIED);
    put(&s.dir, "project/check.sh", "1");
    assert_ok(check(&s, "sh check.sh"));
    chmod(temp_path(&s.dir, "project/check.sh"), 0755);
    assert_err(check(&s, "sh check.sh"), ERR_TOOL_DENIED);
    chmod(temp_path(&s.dir, "project/check.sh"), 0644);
    put(&s.dir, "project/.keel/lib.sh", "2");
    assert_err(check(&s, "sh check.sh"), ERR_TOOL_DENIED);
    unlink(temp_path(&s.dir, "project/.keel/lib.sh"));
    assert_err(check(&s, "sh check.sh"), ERR_TOOL_DENIED);
}

TEST(a_command_that_finds_another_file_elsewhere_does_not_run)
{
    AUTO(stage) struct stage s = stage_make();

    put(&s.dir, "project/check.sh", "1");
    put(&s.dir, "project/sub/check.sh", "2");
    put_hook(&s, "sh check.sh");
    names_of(&s);
    assert_ok(check(&s, "sh check.sh"));
    s.place.cwd = fs_join(&s.arena, s.place.dir, "sub");
    assert_err(check(&s, "sh check.sh"), ERR_TOOL_DENIED);
}

RUN_TESTS_EITHER_WAY(UNIT(a_project_without_files_has_none),
                     UNIT(settings_and_all_of_keel_s_directories_are_read),
                     UNIT(files_that_hooks_name_are_read),
                     UNIT(an_absolute_path_into_the_project_is_one_of_it),
                     UNIT(what_interpreters_find_by_a_shorter_name_is_read),
                     UNIT(values_of_variables_and_the_search_s_command_count),
                     UNIT(a_name_counts_from_the_working_directory_too),
                     UNIT(what_is_not_a_file_is_a_problem),
                     UNIT(links_are_followed_inside_the_project_only), UNIT(limits_are_told),
                     UNIT(a_home_has_no_own_settings_and_nothing_else_of_keel_s),
                     UNIT(own_settings_that_are_links_are_own_too),
                     UNIT(keel_s_home_in_a_project_has_no_settings_of_the_project),
                     UNIT(a_command_runs_as_long_as_its_files_are_what_they_were),
                     UNIT(a_command_that_finds_another_file_elsewhere_does_not_run))
