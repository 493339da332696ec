/* open_test.c */
#include "temp_dir.h"

#include "store/open.h"
#include "sys/in_task.h"

#include <sys/stat.h>

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

/* --- links --- */

static void assert_place(const char *spec, const struct temp_dir *dir, const char *name)
{
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};

    assert_ok(store_from_url(arena_format(&a, "%s/%s", dir->path, spec).p, dir->path, 0, &s));
    assert_string_equal(s->place, temp_path(dir, name));
}

TEST(a_link_is_followed_whether_or_not_the_file_is_there)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    assert_int_equal(mkdir(temp_path(&dir, "disk"), 0700), 0);
    assert_int_equal(symlink("disk/real.db", temp_path(&dir, "link.db")), 0);
    assert_int_equal(symlink(temp_path(&dir, "link.db"), temp_path(&dir, "chain.db")), 0);
    assert_int_equal(symlink("disk", temp_path(&dir, "folder")), 0);
    assert_int_equal(symlink("disk/new", temp_path(&dir, "new")), 0);
    for (int is_there = 0; is_there < 2; is_there++) {
        assert_place("link.db", &dir, "disk/real.db");
        assert_place("chain.db", &dir, "disk/real.db");
        assert_place("folder/real.db", &dir, "disk/real.db");
        assert_place("folder/../chain.db", &dir, "disk/real.db");
        assert_place("new/sub/x.db", &dir, "disk/new/sub/x.db");
        fclose(fopen(temp_path(&dir, "disk/real.db"), "w"));
    }
}

static void assert_refused(const char *spec, enum err_kind kind, const char *text, const char *hint)
{
    struct store *s = NULL;
    AUTO(err) struct err *e = store_from_url(spec, "/home/of/keel", 0, &s);

    assert_null(s);
    assert_true(err_is(e, kind));
    assert_non_null(strstr(e->text, text));
    assert_non_null(strstr(err_find_hint(e), hint));
}

TEST(a_link_to_a_disk_that_is_not_mounted_is_refused)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    assert_int_equal(symlink("gone/keel.db", temp_path(&dir, "keel.db")), 0);
    assert_int_equal(symlink("gone/sessions", temp_path(&dir, "sessions")), 0);
    assert_refused(temp_path(&dir, "keel.db"), ERR_STORAGE, "gone/keel.db", "create the directory");
    assert_refused(temp_path(&dir, "sessions/x.db"), ERR_STORAGE, "gone/sessions",
                   "create the directory");
}

static void assert_no_folder(const struct temp_dir *dir, const char *spec, const char *folder)
{
    AUTO(arena) struct arena a = {0};
    struct store *s = NULL;
    const char *missing = temp_path(dir, folder);
    AUTO(err) struct err *e = store_from_url(spec, temp_path(dir, "home"), 0, &s);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_non_null(strstr(e->text, arena_format(&a, "directory %s does not exist", missing).p));
    assert_non_null(strstr(err_find_hint(e), arena_format(&a, "mkdir -p '%s'", missing).p));
    assert_null(s);
    assert_int_equal(access(missing, F_OK), -1);
}

TEST(a_place_in_a_directory_that_does_not_exist_is_refused)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};

    assert_no_folder(&dir, arena_format(&a, "sqlite:%s/no/k.db", dir.path).p, "no");
    assert_no_folder(&dir, arena_format(&a, "%s/no/such/k.db", dir.path).p, "no/such");
    assert_no_folder(&dir, arena_format(&a, "files:%s/no/sessions", dir.path).p, "no");
}

/* And so is what lies in it. */
IN_TASK(the_directory_of_keel_is_made)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    const char *home = temp_path(&dir, "new/home");

    make_session("", home);
    make_session(arena_format(&a, "files:%s/work/sessions", home).p, home);
    make_session(arena_format(&a, "files:%s/sessions", dir.path).p, home);
}

TEST(links_in_a_circle_are_refused)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    assert_int_equal(symlink("b.db", temp_path(&dir, "a.db")), 0);
    assert_int_equal(symlink("a.db", temp_path(&dir, "b.db")), 0);
    assert_refused(temp_path(&dir, "a.db"), ERR_STORAGE, "is a loop of symbolic links",
                   "change one");
}

TEST(names_that_only_sqlite_understands_are_refused)
{
    assert_refused("sqlite::memory:", ERR_VALIDATION, "is not supported", "use memory:");
    assert_refused("sqlite:file:x?mode=memory", ERR_VALIDATION, "not an SQLite URI",
                   "use sqlite:FILE");
    assert_means("sqlite:./file:x", "sqlite");
}

/* --- other names of a file --- */

static struct err *open_session(const char *spec, const char *id)
{
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = str_of(id), .created_ms = 1};
    struct store_lease lease;

    assert_ok(store_from_url(spec, "/nowhere", 0, &s));
    return store_open(s, str_of(id), &create, &a, &lease);
}

IN_TASK(a_session_that_is_open_under_one_name_is_locked_under_all)
{
    static const char *const names[][2] = {{"sqlite:%s/keel.db", "sqlite:%s/link.db"},
                                           {"files:%s/sessions", "files:%s/link"}};
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};

    assert_int_equal(symlink("keel.db", temp_path(&dir, "link.db")), 0);
    assert_int_equal(symlink("sessions", temp_path(&dir, "link")), 0);
    for (size_t i = 0; i < 2 * ARRAY_LEN(names); i++) {
        const char *const *pair = names[i / 2];
        AUTO(store) struct store *s = NULL;
        AUTO(strbuf) struct strbuf first = {0}, second = {0};
        AUTO(err) struct err *e = NULL;
        struct store_summary create = {.id = S("x"), .created_ms = 1};
        struct store_lease lease;

        strbuf_addf(&first, i % 2 ? pair[1] : pair[0], dir.path);
        strbuf_addf(&second, i % 2 ? pair[0] : pair[1], dir.path);
        assert_ok(store_from_url(strbuf_cstr(&first), dir.path, 0, &s));
        assert_ok(store_open(s, S("x"), &create, &a, &lease));
        e = open_session(strbuf_cstr(&second), "x");
        assert_true(err_is(e, ERR_STORAGE));
        assert_non_null(strstr(e->text, "is open in process"));
        store_close(s, S("x"), lease.fence);
    }
    assert_int_not_equal(access(temp_path(&dir, "link.db-locks"), F_OK), 0);
    assert_int_not_equal(access(temp_path(&dir, "link.db-wal"), F_OK), 0);
}

IN_TASK(a_database_with_two_hard_links_is_refused_with_what_to_do)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(err) struct err *e = NULL;

    make_session(temp_path(&dir, "keel.db"), dir.path);
    assert_int_equal(link(temp_path(&dir, "keel.db"), temp_path(&dir, "other.db")), 0);
    for (int i = 0; i < 2; i++) {
        e = open_session(temp_path(&dir, i ? "other.db" : "keel.db"), "y");
        assert_true(err_is(e, ERR_STORAGE));
        assert_non_null(strstr(e->text, "has 2 hard links"));
        assert_non_null(strstr(err_find_hint(e), "find / -samefile"));
        err_free(TAKE(e));
    }
    assert_int_equal(unlink(temp_path(&dir, "other.db")), 0);
    assert_ok(open_session(temp_path(&dir, "keel.db"), "y"));
}

IN_TASK(what_is_no_file_is_no_database)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(err) struct err *e = NULL;

    assert_int_equal(mkfifo(temp_path(&dir, "keel.db"), 0600), 0);
    e = open_session(temp_path(&dir, "keel.db"), "x");
    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(e->text, "is not a regular file"));
}

IN_TASK(a_log_that_is_a_link_is_refused_and_hides_no_other)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    AUTO(store) struct store *s = NULL;
    AUTO(err) struct err *e = NULL;
    const char *spec = arena_format(&a, "files:%s", dir.path).p;
    struct store_summary *items;
    size_t n;

    make_session(spec, dir.path);
    assert_int_equal(symlink("x.jsonl", temp_path(&dir, "y.jsonl")), 0);
    assert_int_equal(unlink(temp_path(&dir, ".index")), 0);
    assert_ok(store_from_url(spec, dir.path, 0, &s));
    assert_ok(store_list(s, &(struct store_list_query){0}, &a, &items, &n));
    assert_int_equal(n, 1);
    e = open_session(spec, "y");
    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(e->text, "y.jsonl is a symbolic link"));
}

RUN_TESTS(UNIT(a_link_is_followed_whether_or_not_the_file_is_there),
          UNIT(a_link_to_a_disk_that_is_not_mounted_is_refused),
          UNIT(links_in_a_circle_are_refused),
          UNIT(a_place_in_a_directory_that_does_not_exist_is_refused),
          UNIT(the_directory_of_keel_is_made), UNIT(names_that_only_sqlite_understands_are_refused),
          UNIT(a_session_that_is_open_under_one_name_is_locked_under_all),
          UNIT(a_database_with_two_hard_links_is_refused_with_what_to_do),
          UNIT(what_is_no_file_is_no_database),
          UNIT(a_log_that_is_a_link_is_refused_and_hides_no_other), UNIT(names_mean_their_stores),
          UNIT(what_is_no_store_is_told_with_those_that_are),
          UNIT(stores_without_a_place_are_in_the_directory_of_keel),
          UNIT(a_tilde_is_the_home_of_the_user))
