/* notices_test.c - which system calls are held, by running the filter here instead of in the
 * kernel.
 *
 * keel-exec is a program of its own, so its sources are compiled in. */
#include "exec/filter.c"  // NOLINT(bugprone-suspicious-include)
#include "exec/notices.c" // NOLINT(bugprone-suspicious-include)

#include "exec/run_filter.h"

#include <linux/audit.h>

static bool is_held(struct seccomp_data data)
{
    static struct filter f;
    uint32_t action;

    if (!f.n)
        assert_true(build_notices(&f));
    action = run_filter(&f, &data);
    assert_true(action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_USER_NOTIF);
    return action == SECCOMP_RET_USER_NOTIF;
}

#define HELD(name, ...) is_held((struct seccomp_data){.nr = SYS_##name, .args = {__VA_ARGS__}})

TEST(an_open_that_changes_nothing_is_not_held)
{
    assert_false(HELD(openat, 3, 0, O_RDONLY));
    assert_false(HELD(openat, 3, 0, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK));
    assert_false(HELD(openat, O_WRONLY, O_WRONLY, O_RDONLY | O_EXCL, O_WRONLY));
    assert_false(HELD(openat, 3, 0, O_PATH | O_RDWR));
    assert_false(HELD(openat, 3, 0, O_PATH | O_CREAT | O_TRUNC));
    assert_false(HELD(openat, 3, 0, O_TMPFILE | O_RDWR));
}

TEST(an_open_that_may_change_something_is_held)
{
    static const int flags[] = {O_WRONLY, O_RDWR,  O_ACCMODE,          O_WRONLY | O_APPEND,
                                O_CREAT,  O_TRUNC, O_RDONLY | O_CREAT, O_RDWR | O_EXCL | O_CREAT};

    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        assert_true(HELD(openat, 3, 0, (unsigned)flags[i]));
        /* Only the lower half counts, in the kernel as well. */
        assert_true(HELD(openat, 3, 0, (unsigned)flags[i] | 0xffffffff00000000));
#ifdef __x86_64__
        assert_true(HELD(open, 0, (unsigned)flags[i]));
        assert_false(HELD(open, O_RDWR, 0, (unsigned)flags[i]));
#endif
    }
}

TEST(every_other_call_of_the_list_is_held_and_nothing_else)
{
    for (int call = 0; call < 600; call++) {
        bool is_listed = false;

        for (size_t i = 0; i < ARRAY_LEN(write_calls); i++)
            is_listed |= write_calls[i].call == call && write_calls[i].kind != WRITE_CALL_OPEN;
        assert_int_equal(is_held((struct seccomp_data){.nr = call}), is_listed);
    }
    assert_true(HELD(unlinkat) && HELD(renameat2) && HELD(linkat) && HELD(symlinkat));
    assert_false(HELD(read) || HELD(write) || HELD(execve) || HELD(sendmsg) || HELD(close));
}

/* What the command's process still does before it is executed would wait for keel for ever. */
TEST(nothing_is_held_between_the_filter_and_the_command)
{
    assert_false(HELD(sendmsg) || HELD(rt_sigprocmask) || HELD(execve) || HELD(exit_group));
}

RUN_TESTS(UNIT(an_open_that_changes_nothing_is_not_held),
          UNIT(an_open_that_may_change_something_is_held),
          UNIT(every_other_call_of_the_list_is_held_and_nothing_else),
          UNIT(nothing_is_held_between_the_filter_and_the_command))
