/* survey_test.c */
#include "files.h"
#include "sandbox/survey.h"

#include <sys/stat.h>
#include <unistd.h>

static unsigned names_of(const struct survey *s, const char *path)
{
    const struct directory *d = survey_find(s, path);

    return d ? d->names : 0;
}

TEST(a_look_finds_what_has_come_and_what_has_gone)
{
    struct temp_dir d = temp_dir_make();
    struct survey s;

    put(&d, "a/b/file", "");
    put(&d, "gone/deep/.git/HEAD", "");
    assert_ok(survey_init(&s, d.path));
    assert_ok(survey_look(&s));
    assert_int_equal(names_of(&s, "gone/deep"), GIT_NAME_DOT_GIT);
    assert_int_equal(names_of(&s, "a/b"), 0);

    put(&d, "a/b/.git", "");
    assert_int_equal(rename(temp_path(&d, "gone"), temp_path(&d, "a/moved")), 0);
    assert_ok(survey_look(&s));
    assert_true(s.has_changed);
    assert_true(directory_has_new_repository(survey_find(&s, "a/b")));
    assert_true(directory_has_new_repository(survey_find(&s, "a/moved/deep")));
    assert_null(survey_find(&s, "gone"));
    assert_null(survey_find(&s, "gone/deep"));

    assert_ok(survey_look(&s));
    assert_false(directory_has_new_repository(survey_find(&s, "a/b")));
    survey_done(&s);
    temp_dir_done(&d);
}

TEST(another_directory_of_the_same_name_is_new)
{
    struct temp_dir d = temp_dir_make();
    struct survey s;

    put(&d, "a/.git/HEAD", "");
    put(&d, "b/.git/HEAD", "");
    assert_ok(survey_init(&s, d.path));
    assert_ok(survey_look(&s));
    assert_int_equal(
        renameat2(AT_FDCWD, temp_path(&d, "a"), AT_FDCWD, temp_path(&d, "b"), RENAME_EXCHANGE), 0);
    assert_ok(survey_look(&s));
    assert_true(directory_has_new_repository(survey_find(&s, "a")));
    assert_true(directory_has_new_repository(survey_find(&s, "b")));
    survey_done(&s);
    temp_dir_done(&d);
}

TEST(links_are_not_followed)
{
    struct temp_dir d = temp_dir_make();
    struct survey s;

    put(&d, "a/b/file", "");
    put(&d, "elsewhere/b/.git/HEAD", "");
    assert_ok(survey_init(&s, temp_path(&d, "a")));
    assert_ok(survey_look(&s));
    assert_int_equal(rename(temp_path(&d, "a/b"), temp_path(&d, "a/c")), 0);
    assert_int_equal(symlink(temp_path(&d, "elsewhere/b"), temp_path(&d, "a/b")), 0);
    assert_ok(survey_look(&s));
    assert_null(survey_find(&s, "b"));
    assert_non_null(survey_find(&s, "c"));
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
          UNIT(another_directory_of_the_same_name_is_new), UNIT(links_are_not_followed),
          UNIT(a_git_directory_is_known_by_its_names))
