/* leases_test.c - one writer for each session of a database, and one descriptor for all. */
#include "store/leases.h"

#include "files.h"
#include "store/session_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

struct world {
    struct temp_dir dir;
    struct arena arena;
    const char *place;
    struct leases *leases;
};

static void world_done(struct world *w)
{
    leases_free(w->leases);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

static struct world new_world(void)
{
    struct world w = {.dir = temp_dir_make()};

    w.place = arena_format(&w.arena, "%s/db-locks", w.dir.path).p;
    w.leases = leases_new(w.place);
    return w;
}

static void assert_refused(struct err *take_error, struct str text)
{
    AUTO(err) struct err *e = take_error;

    assert_true(err_is(e, ERR_STORAGE));
    assert_true(str_find(str_of(e->text), text) != STR_NONE);
    assert_non_null(strstr(err_find_hint(e), "fork"));
}

TEST(a_session_is_taken_once_and_again_when_it_was_given_back)
{
    AUTO(world) struct world w = new_world();
    struct str own = arena_format(&w.arena, "session s is open in process %ld", (long)getpid());

    assert_ok(leases_take(w.leases, S("s")));
    assert_refused(leases_take(w.leases, S("s")), own);
    assert_ok(leases_take(w.leases, S("t")));
    leases_release(w.leases, S("s"), 0);
    assert_ok(leases_take(w.leases, S("s")));
    leases_release(w.leases, S("never taken"), 0);
}

TEST(a_session_is_given_back_by_the_fence_that_it_has)
{
    AUTO(world) struct world w = new_world();

    assert_ok(leases_take(w.leases, S("s")));
    leases_set_fence(w.leases, S("s"), 7);
    leases_release(w.leases, S("s"), 6);
    assert_true(lease_is_held(w.place, S("s")));
    leases_release(w.leases, S("s"), 7);
    assert_false(lease_is_held(w.place, S("s")));
}

TEST(two_stores_in_one_process_exclude_each_other)
{
    AUTO(world) struct world w = new_world();
    AUTO(leases) struct leases *other = leases_new(w.place);
    struct str own = arena_format(&w.arena, "process %ld", (long)getpid());

    assert_ok(leases_take(w.leases, S("s")));
    assert_refused(leases_take(other, S("s")), own);
    assert_ok(leases_take(other, S("t")));
    assert_str(lease_holder(w.place, S("t"), &w.arena), own.p);
    leases_free(TAKE(w.leases));
    assert_ok(leases_take(other, S("s")));
}

/* A process that takes the session and waits to be killed. */
static pid_t hold_in_child(const struct world *w, struct str id)
{
    int fds[2];
    pid_t pid;
    char byte;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        struct leases *l = leases_new(w->place);

        if (leases_take(l, id) || write(fds[1], "x", 1) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    close(fds[0]);
    return pid;
}

TEST(another_process_is_named_and_the_kernel_gives_back_what_a_killed_one_held)
{
    AUTO(world) struct world w = new_world();
    pid_t pid = hold_in_child(&w, S("s"));
    struct str holder = arena_format(&w.arena, "process %ld", (long)pid);
    int status;

    assert_refused(leases_take(w.leases, S("s")), holder);
    assert_str(lease_holder(w.place, S("s"), &w.arena), holder.p);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_str(lease_holder(w.place, S("s"), &w.arena), "");
    assert_ok(leases_take(w.leases, S("s")));
}

TEST(many_sessions_take_one_descriptor_and_none_takes_none)
{
    AUTO(world) struct world w = new_world();
    size_t before = count_entries("/proc/self/fd");

    for (unsigned i = 0; i < 100; i++)
        assert_ok(leases_take(w.leases, arena_format(&w.arena, "s%u", i)));
    assert_int_equal(count_entries("/proc/self/fd"), before + 1);
    for (unsigned i = 0; i < 100; i++)
        leases_release(w.leases, arena_format(&w.arena, "s%u", i), 0);
    assert_int_equal(count_entries("/proc/self/fd"), before);
}

/* Found by trying: the first 41 bits of their hashes are the same. */
#define TWIN S("s1039622")
#define OTHER_TWIN S("s3404628")

TEST(two_ids_of_the_same_place_are_held_and_given_back_one_by_one)
{
    AUTO(world) struct world w = new_world();

    assert_ok(leases_take(w.leases, TWIN));
    assert_ok(leases_take(w.leases, OTHER_TWIN));
    leases_release(w.leases, TWIN, 0);
    assert_true(lease_is_held(w.place, OTHER_TWIN));
    leases_release(w.leases, OTHER_TWIN, 0);
    assert_false(lease_is_held(w.place, OTHER_TWIN));
}

TEST(what_an_older_keel_has_locked_is_held)
{
    AUTO(world) struct world w = new_world();
    int fd;

    assert_ok(session_lock_take(w.place, S("s"), &fd));
    assert_true(lease_is_held(w.place, S("s")));
    assert_refused(leases_take(w.leases, S("s")), S("is open in process"));
    session_lock_release(w.place, S("s"), fd);
    assert_ok(leases_take(w.leases, S("s")));
}

TEST(a_file_that_was_removed_is_made_again)
{
    AUTO(world) struct world w = new_world();

    assert_ok(leases_take(w.leases, S("s")));
    leases_release(w.leases, S("s"), 0);
    assert_int_equal(unlink(arena_format(&w.arena, "%s/leases", w.place).p), 0);
    assert_int_equal(rmdir(w.place), 0);
    assert_ok(leases_take(w.leases, S("s")));
    assert_true(lease_is_held(w.place, S("s")));
}

TEST(a_place_where_nothing_can_be_written_is_an_error_with_advice)
{
    AUTO(world) struct world w = new_world();
    AUTO(leases) struct leases *nowhere = leases_new("/proc/none/db-locks");
    AUTO(err) struct err *e = leases_take(nowhere, S("s"));

    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(err_find_hint(e), "--store"));
    assert_false(lease_is_held("/proc/none/db-locks", S("s")));
}

RUN_TESTS(UNIT(a_session_is_taken_once_and_again_when_it_was_given_back),
          UNIT(a_session_is_given_back_by_the_fence_that_it_has),
          UNIT(two_stores_in_one_process_exclude_each_other),
          UNIT(another_process_is_named_and_the_kernel_gives_back_what_a_killed_one_held),
          UNIT(many_sessions_take_one_descriptor_and_none_takes_none),
          UNIT(two_ids_of_the_same_place_are_held_and_given_back_one_by_one),
          UNIT(what_an_older_keel_has_locked_is_held), UNIT(a_file_that_was_removed_is_made_again),
          UNIT(a_place_where_nothing_can_be_written_is_an_error_with_advice))
