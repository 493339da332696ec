/* open_test.c */
#include "temp_dir.h"

#include "store/open.h"
#include "sys/in_task.h"

static void assert_means(const char *spec, const char *name)
{
    AUTO(store) struct store *s = NULL;

    assert_ok(store_from_url(spec, "/home/of/keel", 0, &s));
    assert_string_equal(s->ops->name, name);
}

TEST(names_mean_their_stores)
{
    assert_means(NULL, "sqlite");
    assert_means("", "sqlite");
    assert_means("sqlite:", "sqlite");
    assert_means("sqlite:/tmp/x.db", "sqlite");
    assert_means("/tmp/x.db", "sqlite");
    assert_means("./a:b.db", "sqlite");
    assert_means("files:/tmp/x", "files");
    assert_means("postgres://me@here/db", "postgres");
    assert_means("postgresql:///db?host=/tmp", "postgres");
    assert_means("memory:", "memory");
}

TEST(what_is_no_store_is_told_with_those_that_are)
{
    static const char *const specs[] = {"mysql://me@here/db", "redis:6379", "memory:/x",
                                        "SQLITE:x"};

    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        struct store *s = NULL;
        AUTO(err) struct err *e = store_from_url(specs[i], "/home/of/keel", 0, &s);

        assert_true(err_is(e, ERR_VALIDATION));
        assert_non_null(strstr(err_find_hint(e), "memory:"));
        assert_null(s);
    }
}

static void make_session(const char *spec, const char *home)
{
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = S("x"), .created_ms = 1};
    struct store_lease lease;

    assert_ok(store_from_url(spec, home, 0, &s));
    assert_ok(store_open(s, S("x"), &create, &a, &lease));
    store_close(s, S("x"), lease.fence);
}

IN_TASK(stores_without_a_place_are_in_the_directory_of_keel)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    make_session("", dir.path);
    make_session("files:", dir.path);
    assert_int_equal(access(temp_path(&dir, "keel.db"), F_OK), 0);
    assert_int_equal(access(temp_path(&dir, "sessions/x.jsonl"), F_OK), 0);
}

IN_TASK(a_tilde_is_the_home_of_the_user)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    setenv("HOME", dir.path, 1);
    make_session("files:~/here", "/nowhere");
    assert_int_equal(access(temp_path(&dir, "here/x.jsonl"), F_OK), 0);
}

RUN_TESTS(UNIT(names_mean_their_stores), UNIT(what_is_no_store_is_told_with_those_that_are),
          UNIT(stores_without_a_place_are_in_the_directory_of_keel),
          UNIT(a_tilde_is_the_home_of_the_user))
