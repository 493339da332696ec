/* glob_tool_test.c - the Glob tool. */
#include "calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>

static void set_time(struct tool_fixture *f, const char *name, long seconds)
{
    const struct timeval times[2] = {{seconds, 0}, {seconds, 0}};

    assert_int_equal(utimes(temp_path(&f->dir, name), times), 0);
}

TEST(files_come_newest_first_with_paths_from_the_working_directory)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "old.c", "");
    put(&f.dir, "src/new.c", "");
    put(&f.dir, "src/other.h", "");
    set_time(&f, "old.c", 1000);
    set_time(&f, "src/new.c", 2000);
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.c\"}", "src/new.c\nold.c\n");
}

TEST(a_star_stays_in_its_directory)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.c", "");
    put(&f.dir, "src/b.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"*.c\"}", "a.c\n");
}

TEST(path_names_the_directory_that_the_pattern_counts_from)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.c", "");
    put(&f.dir, "src/b.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"*.c\",\"path\":\"src\"}", "src/b.c\n");
}

TEST(paths_outside_the_working_directory_are_absolute)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf want = {0};

    put(&f.dir, "a.c", "");
    put(&f.dir, "src/", "");
    tool_state_set_cwd(f.state, temp_path(&f.dir, "src"));
    strbuf_addf(&want, "%s/a.c\n", f.dir.path);
    assert_says(&f, &tool_glob, "{\"pattern\":\"../*.c\"}", strbuf_cstr(&want));
    assert_says(&f, &tool_glob, "{\"pattern\":\"*.c\",\"path\":\"..\"}", strbuf_cstr(&want));
}

TEST(a_pattern_may_be_absolute)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf args = {0};

    put(&f.dir, "src/b.c", "");
    strbuf_addf(&args, "{\"pattern\":\"%s/src/*.c\"}", f.dir.path);
    assert_says(&f, &tool_glob, strbuf_cstr(&args), "src/b.c\n");
}

TEST(a_plain_name_is_a_pattern_too)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "src/b.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"src/b.c\"}", "src/b.c\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"./src/b.c\"}", "src/b.c\n");
}

TEST(what_git_ignores_is_left_out_unless_the_pattern_names_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, ".git/", "");
    put(&f.dir, ".gitignore", "build/\n");
    put(&f.dir, "a.c", "");
    put(&f.dir, "build/b.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.c\"}", "a.c\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"build/*.c\"}", "build/b.c\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"build\"}", "build/\n");
}

TEST(a_file_that_git_ignores_and_the_pattern_names_is_found)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct path_filter hidden = {hides_name, ".env"};

    put(&f.dir, ".git/", "");
    put(&f.dir, ".gitignore", ".env\n");
    put(&f.dir, "app/.env", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"app/.env\"}", "app/.env\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\".env\",\"path\":\"app\"}", "app/.env\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"..\",\"path\":\"app\"}",
                "No files found.\n[this pattern looks in app only; to look below it too: **/..]\n"
                "[what .gitignore and .ignore exclude was not searched; to search it, name it as "
                "path]\n");
    f.context.hidden = &hidden;
    assert_says(&f, &tool_glob, "{\"pattern\":\"app/.env\"}",
                "No files found.\n[this pattern looks in app only; to look below it too: "
                "app/**/.env]\n");
}

TEST(names_with_a_dot_are_found_unless_told_otherwise)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, ".env", "");
    put(&f.dir, ".github/ci.yml", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.yml\"}", ".github/ci.yml\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.yml\",\"hidden\":false}", "No files found.\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\".github/*\"}", ".github/ci.yml\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/.e*\"}", ".env\n");
}

TEST(what_a_rule_hides_is_not_found)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct path_filter hidden = {hides_name, "private"};

    put(&f.dir, "a", "");
    put(&f.dir, "d/private/b", "");
    f.context.hidden = &hidden;
    assert_says(&f, &tool_glob, "{\"pattern\":\"**\"}", "a\n");
    assert_fails(&f, &tool_glob, "{\"pattern\":\"*\",\"path\":\"d/private\"}",
                 "cannot be searched");
    assert_fails(&f, &tool_glob, "{\"pattern\":\"d/private/*\"}", "cannot be searched");
}

TEST(at_most_a_thousand_files_are_told_and_that_there_are_more)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    char name[32];

    for (int i = 0; i < 1001; i++) {
        snprintf(name, sizeof name, "f%04d", i);
        put(&f.dir, name, "");
        set_time(&f, name, 1000 + i);
    }
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_glob, "{\"pattern\":\"*\"}");
    assert_has(strbuf_str(&r.text), "f1000\nf0999\n");
    assert_has(strbuf_str(&r.text), "f0001\n[1001 files match; these are the newest 1000: use a "
                                    "narrower pattern]\n");
    assert_int_equal(json_int_or(json_get(r.details, "files"), -1), 1001);
    assert_true(json_bool(json_get(r.details, "cut"), false));
}

TEST(directories_are_found_where_no_pattern_crosses_them)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "packages/core/a.ts", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"packages/*\"}", "packages/core/\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"*\",\"path\":\"packages\"}", "packages/core/\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"packages/*/\"}", "packages/core/\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*\"}", "packages/core/a.ts\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/core\"}", "packages/core/\n");
}

TEST(brackets_are_also_taken_literally)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "app/[id].tsx", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/[id].tsx\"}", "app/[id].tsx\n");
    put(&f.dir, "app/[id]/page.tsx", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"app/[id]/page.tsx\"}", "app/[id]/page.tsx\n");
}

TEST(no_file_is_no_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf want = {0};

    put(&f.dir, "src/a.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.rs\"}", "No files found.\n");
    strbuf_addf(&want, "No files found.\n[there is no directory %s/lib]\n", f.dir.path);
    assert_says(&f, &tool_glob, "{\"pattern\":\"lib/**/*.c\"}", strbuf_cstr(&want));
}

TEST(nothing_found_among_ignored_files_is_told_so)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, ".gitignore", "/.env\n/build/\n");
    put(&f.dir, ".env", "");
    put(&f.dir, "build/a.o", "");
    put(&f.dir, "src/a.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/.env*\"}",
                "No files found.\n[what .gitignore and .ignore exclude was not searched; to search "
                "it, name it as path]\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.o\",\"path\":\"build\"}", "build/a.o\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.o\",\"path\":\"src\"}", "No files found.\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.c\"}", "src/a.c\n");
}

TEST(a_directory_that_may_be_meant_is_named)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf want = {0};
    struct path_filter hidden = {hides_name, "Docs"};

    put(&f.dir, "Docs/api/a.md", "");
    strbuf_addf(&want,
                "No files found.\n[there is no directory %s/docs/api; did you mean Docs/api?]\n",
                f.dir.path);
    assert_says(&f, &tool_glob, "{\"pattern\":\"docs/api/*.md\"}", strbuf_cstr(&want));
    f.context.hidden = &hidden;
    strbuf_clear(&want);
    strbuf_addf(&want, "No files found.\n[there is no directory %s/docs/api]\n", f.dir.path);
    assert_says(&f, &tool_glob, "{\"pattern\":\"docs/api/*.md\"}", strbuf_cstr(&want));
}

TEST(a_name_that_looks_like_another_can_be_given_back)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "cafe\u0301.txt", "decomposed\n");
    assert_says(&f, &tool_glob, "{\"pattern\":\"*.txt\"}",
                "\"cafe\\314\\201.txt\"\n[paths in double quotes have special characters and are "
                "escaped as git does it: pass them with the quotes, in Bash as $'...']\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"\\\"cafe\\\\314\\\\201.txt\\\"\"}",
                "1\tdecomposed\n");
}

TEST(a_pattern_that_looks_in_one_directory_only_is_told_so)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "src/deep/a.c", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"src/*.c\"}",
                "No files found.\n[this pattern looks in src only; to look below it too: "
                "src/**/*.c]\n");
}

TEST(a_missing_path_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "source/a.c", "");
    assert_fails(&f, &tool_glob, "{\"pattern\":\"*\",\"path\":\"sourse\"}", "did you mean source?");
}

TEST(a_path_that_is_a_file_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "");
    assert_fails(&f, &tool_glob, "{\"pattern\":\"*\",\"path\":\"a\"}", "path is a file");
}

TEST(a_pattern_that_is_wrong_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_fails(&f, &tool_glob, "{\"pattern\":\"{a\"}", "{a");
    assert_fails(&f, &tool_glob, "{\"pattern\":\"src/\"}", "names a directory");
}

TEST(a_cancelled_call_ends_its_walk)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct cancelled_call c = {.fixture = &f, .tool = &tool_glob, .args = "{\"pattern\":\"**\"}"};
    struct path_filter waits = {waits_to_be_cancelled, &c};

    put(&f.dir, "a/b", "");
    tool_state_set_cwd(f.state, temp_path(&f.dir, "a"));
    /* The filter is first asked in the worker: from then on the call is under way. */
    f.context.hidden = &waits;
    assert_ok(loop_run_once(cancel_it_, &c));
    assert_int_equal(c.code, ERR_CANCELLED);
}

#define HOW_TO_READ_QUOTES                                                                         \
    "[paths in double quotes have special characters and are escaped as git does it: pass them "   \
    "with the quotes, in Bash as $'...']\n"

TEST(a_name_with_a_newline_is_one_path)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "names/a\nb.txt", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.txt\"}",
                "\"names/a\\nb.txt\"\n" HOW_TO_READ_QUOTES);
    assert_says(&f, &tool_glob, "{\"pattern\":\"*.txt\",\"path\":\"names\"}",
                "\"names/a\\nb.txt\"\n" HOW_TO_READ_QUOTES);
}

TEST(a_directory_with_a_newline_is_searched_by_the_path_that_was_told)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "x\ny/a.txt", "");
    assert_says(&f, &tool_glob, "{\"pattern\":\"*\",\"path\":\"\\\"x\\\\ny\\\"\"}",
                "\"x\\ny/a.txt\"\n" HOW_TO_READ_QUOTES);
}

TEST(a_tree_that_is_too_deep_is_told_as_such)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    int fd = open(f.dir.path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (unsigned i = 0; i < 300; i++) {
        int below;

        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        below = openat(fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = below;
    }
    close(fd);
    assert_says(&f, &tool_glob, "{\"pattern\":\"**/*.c\"}",
                "No files found.\n[directories more than 256 levels deep were not searched: to "
                "search them, set path to one further down]\n");
}

TEST(a_glob_only_looks)
{
    assert_int_equal(tool_glob.risk, RISK_INSPECT);
    assert_false(tool_glob.is_barrier);
}

RUN_TESTS(UNIT(files_come_newest_first_with_paths_from_the_working_directory),
          UNIT(a_star_stays_in_its_directory),
          UNIT(path_names_the_directory_that_the_pattern_counts_from),
          UNIT(paths_outside_the_working_directory_are_absolute), UNIT(a_pattern_may_be_absolute),
          UNIT(a_plain_name_is_a_pattern_too),
          UNIT(what_git_ignores_is_left_out_unless_the_pattern_names_it),
          UNIT(a_file_that_git_ignores_and_the_pattern_names_is_found),
          UNIT(names_with_a_dot_are_found_unless_told_otherwise),
          UNIT(what_a_rule_hides_is_not_found),
          UNIT(at_most_a_thousand_files_are_told_and_that_there_are_more),
          UNIT(directories_are_found_where_no_pattern_crosses_them),
          UNIT(brackets_are_also_taken_literally), UNIT(no_file_is_no_failure),
          UNIT(nothing_found_among_ignored_files_is_told_so),
          UNIT(a_directory_that_may_be_meant_is_named),
          UNIT(a_name_that_looks_like_another_can_be_given_back),
          UNIT(a_pattern_that_looks_in_one_directory_only_is_told_so),
          UNIT(a_missing_path_is_a_failure), UNIT(a_path_that_is_a_file_is_a_failure),
          UNIT(a_pattern_that_is_wrong_is_a_failure), UNIT(a_cancelled_call_ends_its_walk),
          UNIT(a_name_with_a_newline_is_one_path),
          UNIT(a_directory_with_a_newline_is_searched_by_the_path_that_was_told),
          UNIT(a_tree_that_is_too_deep_is_told_as_such), UNIT(a_glob_only_looks))
