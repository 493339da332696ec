/* missing_paths_test.c - what is said to be missing is, whatever happened since the last look. */
#include "sys/missing_paths.h"

#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const names[] = {"a",     "b",       "a/b",   "a/c",     "a/b/c",
                                    "a/b/d", "b/a/c/d", "c/a/b", "c/a/b/d", "d"};

struct scene {
    struct temp_dir dir;
    char text[ARRAY_LEN(names)][PATH_MAX];
    const char *paths[ARRAY_LEN(names)];
    struct missing_paths missing;
    struct missing_set set;
};

static void scene_init(struct scene *s)
{
    s->dir = temp_dir_make();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(s->text[i], PATH_MAX, "%s", temp_path(&s->dir, names[i]));
        s->paths[i] = s->text[i];
    }
    missing_paths_init(&s->missing, s->paths, ARRAY_LEN(names));
}

static void scene_done(struct scene *s)
{
    missing_paths_done(&s->missing);
    temp_dir_done(&s->dir);
}
DEFINE_AUTO_VAL(scene, scene_done)

/* Looks, and asks for each. How many are said to be missing. */
static size_t look(struct scene *s)
{
    size_t n = 0;

    missing_paths_look(&s->missing, &s->set);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct stat st;

        n += s->set.has[i];
        if (s->set.has[i] && stat(s->paths[i], &st) == 0)
            fail_msg("%s is there", names[i]);
    }
    return n;
}

/* Until all that was changed up to now counts as past, by the clock that stamps files. */
static void let_settle(void)
{
    struct timespec begun, now;

    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    do
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec <= 30000000);
}

TEST(what_is_not_there_is_missing_at_every_look)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    assert_int_equal(look(&s), ARRAY_LEN(names));
    let_settle();
    assert_int_equal(look(&s), ARRAY_LEN(names));
    assert_int_equal(look(&s), ARRAY_LEN(names));
}

TEST(what_came_to_be_is_not_missing_any_more)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    put(&s.dir, "a/", "");
    let_settle();
    look(&s);
    assert_true(s.set.has[missing_paths_find(&s.missing, s.paths[3])]);
    put(&s.dir, "a/c", "");
    look(&s);
    assert_false(s.set.has[3]);
    assert_true(s.set.has[2]);
    assert_int_equal(missing_paths_find(&s.missing, "/nowhere"), -1);
}

/* Twice within one tick of the clock: where the kernel stamps by that, the time is the same. */
TEST(what_came_to_be_right_after_a_look_is_seen)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    for (int i = 0; i < 200; i++) {
        look(&s);
        put(&s.dir, "d", "");
        look(&s);
        assert_int_equal(unlink(temp_path(&s.dir, "d")), 0);
    }
}

TEST(a_directory_that_was_replaced_is_another)
{
    AUTO(scene) struct scene s;
    char from[PATH_MAX], to[PATH_MAX];

    scene_init(&s);
    put(&s.dir, "a/x", "");
    put(&s.dir, "other/c", "");
    snprintf(from, sizeof from, "%s", temp_path(&s.dir, "other"));
    snprintf(to, sizeof to, "%s", temp_path(&s.dir, "a"));
    let_settle();
    look(&s);
    assert_true(s.set.has[3]);
    assert_int_equal(renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE), 0);
    look(&s);
    assert_false(s.set.has[3]);
}

TEST(of_what_lies_behind_a_link_nothing_is_certain)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    put(&s.dir, "x/", "");
    assert_int_equal(symlink("x", temp_path(&s.dir, "a")), 0);
    look(&s);
    assert_false(s.set.has[2]);
}

/* --- anything --- */

static unsigned next(unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % n;
}

static void change(struct scene *s, unsigned *seed)
{
    const char *one = s->paths[next(seed, ARRAY_LEN(names))];
    const char *two = s->paths[next(seed, ARRAY_LEN(names))];

    switch (next(seed, 7)) {
    case 0:
    case 1:
        (void)mkdir(one, 0700);
        break;
    case 2:
        close(open(one, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        break;
    case 3:
        (void)!symlink(two, one);
        break;
    case 4:
        if (unlink(one) < 0)
            (void)rmdir(one);
        break;
    case 5:
        (void)rename(one, two);
        break;
    default:
        (void)renameat2(AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE);
        break;
    }
}

TEST(what_is_said_to_be_missing_never_is_there)
{
    size_t n_said = 0;

    for (unsigned run = 0; run < 40; run++) {
        AUTO(scene) struct scene s;
        unsigned seed = run;

        scene_init(&s);
        for (int i = 0; i < 60; i++) {
            for (unsigned n = next(&seed, 4); n > 0; n--)
                change(&s, &seed);
            if (i % 30 == 0)
                let_settle();
            n_said += look(&s);
        }
    }
    assert_true(n_said > 40 * 60); /* of 10 each */
}

TEST(places_of_the_system_are_those_that_are_not_there)
{
    struct missing_set set;
    struct stat st;

    missing_of_system_look(&set);
    assert_false(missing_of_system_has(&set, "/etc"));
    assert_int_equal(missing_of_system_has(&set, "/etc/ipsec.secrets"),
                     lstat("/etc/ipsec.secrets", &st) < 0 && errno == ENOENT);
}

RUN_TESTS(UNIT(what_is_not_there_is_missing_at_every_look),
          UNIT(what_came_to_be_is_not_missing_any_more),
          UNIT(what_came_to_be_right_after_a_look_is_seen),
          UNIT(a_directory_that_was_replaced_is_another),
          UNIT(of_what_lies_behind_a_link_nothing_is_certain),
          UNIT(what_is_said_to_be_missing_never_is_there),
          UNIT(places_of_the_system_are_those_that_are_not_there))
