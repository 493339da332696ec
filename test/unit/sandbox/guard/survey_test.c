/* survey_test.c */
#include "files.h"
#include "sandbox/guard/survey.h"

#include <sys/stat.h>
#include <unistd.h>

static unsigned names_of(const struct survey *s, const char *path)
{
    const struct directory *d = survey_find(s, path);

    return d ? d->names : 0;
}

static struct survey open_survey(const char *root)
{
    AUTO(dir_watch) struct dir_watch *watch = dir_watch_new(root);
    struct survey s;

    assert_ok(survey_init(&s, watch));
    assert_ok(survey_look(&s, NULL));
    survey_accept(&s);
    return s;
}

static bool has_new_repository(const struct survey *s, const char *path)
{
    const struct directory *d = survey_find(s, path);

    return d && d->names & GIT_NAME_DOT_GIT && !(survey_names_before(s, d) & GIT_NAME_DOT_GIT);
}

TEST(a_look_finds_what_has_come_and_what_has_gone)
{
    struct temp_dir d = temp_dir_make();
    struct survey s;

    put(&d, "a/b/file", "");
    put(&d, "gone/deep/.git/HEAD", "");
    s = open_survey(d.path);
    assert_int_equal(names_of(&s, "gone/deep"), GIT_NAME_DOT_GIT);
    assert_int_equal(names_of(&s, "a/b"), 0);

    put(&d, "a/b/.git", "");
    assert_int_equal(rename(temp_path(&d, "gone"), temp_path(&d, "a/moved")), 0);
    assert_ok(survey_look(&s, NULL));
    assert_true(s.has_changed);
    assert_true(has_new_repository(&s, "a/b"));
    assert_true(has_new_repository(&s, "a/moved/deep"));
    assert_true(survey_is_new(&s, survey_find(&s, "a/moved/deep")));
    assert_false(survey_is_new(&s, survey_find(&s, "a/b")));
    assert_null(survey_find(&s, "gone"));
    assert_null(survey_find(&s, "gone/deep"));
    survey_done(&s);
    temp_dir_done(&d);
}

/* A command that still runs may yet add something. */
TEST(what_is_new_stays_new_until_it_is_accepted)
{
    struct temp_dir d = temp_dir_make();
    struct survey s = open_survey(d.path);

    put(&d, "a/.git/HEAD", "");
    for (int i = 0; i < 3; i++) {
        assert_ok(survey_look(&s, NULL));
        assert_true(has_new_repository(&s, "a"));
        assert_true(survey_is_new(&s, survey_find(&s, "a")));
    }
    survey_accept(&s);
    assert_false(has_new_repository(&s, "a"));
    assert_false(survey_is_new(&s, survey_find(&s, "a")));
    survey_done(&s);
    temp_dir_done(&d);
}

TEST(another_directory_of_the_same_name_is_new)
{
    struct temp_dir d = temp_dir_make();
    struct survey s;

    put(&d, "a/.git/HEAD", "");
    put(&d, "b/.git/HEAD", "");
    s = open_survey(d.path);
    assert_int_equal(
        renameat2(AT_FDCWD, temp_path(&d, "a"), AT_FDCWD, temp_path(&d, "b"), RENAME_EXCHANGE), 0);
    assert_ok(survey_look(&s, NULL));
    assert_true(has_new_repository(&s, "a"));
    assert_true(has_new_repository(&s, "b"));
    survey_done(&s);
    temp_dir_done(&d);
}

TEST(no_directory_is_passed_over_because_of_its_name)
{
    struct temp_dir d = temp_dir_make();
    struct survey s;

    put(&d, "x.git/objects/ab/.git/HEAD", "");
    s = open_survey(d.path);
    assert_int_equal(names_of(&s, "x.git/objects/ab"), GIT_NAME_DOT_GIT);
    survey_done(&s);
    temp_dir_done(&d);
}

TEST(a_git_directory_is_known_by_its_names)
{
    assert_true(names_are_git_dir(GIT_NAME_HEAD | GIT_NAME_OBJECTS | GIT_NAME_REFS));
    assert_true(names_are_git_dir(GIT_NAME_HEAD | GIT_NAME_COMMONDIR));
    assert_false(names_are_git_dir(GIT_NAME_HEAD | GIT_NAME_OBJECTS));
    assert_false(names_are_git_dir(GIT_NAME_OBJECTS | GIT_NAME_REFS | GIT_NAME_DOT_GIT));
}

RUN_TESTS(UNIT(a_look_finds_what_has_come_and_what_has_gone),
          UNIT(what_is_new_stays_new_until_it_is_accepted),
          UNIT(another_directory_of_the_same_name_is_new),
          UNIT(no_directory_is_passed_over_because_of_its_name),
          UNIT(a_git_directory_is_known_by_its_names))
