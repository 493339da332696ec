/* either_way.h - runs tests with openat2() and then without: as on a kernel that does not have it,
 * and as under a filter that refuses it.
 *
 * List the tests with RUN_TESTS_EITHER_WAY() instead of RUN_TESTS(). */
#ifndef KEEL_TEST_UNIT_EITHER_WAY_H
#define KEEL_TEST_UNIT_EITHER_WAY_H

#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* For this process, and for good; the last filter's error counts. False: this kernel has none. */
static inline bool refuse_openat2(unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#define RUN_TESTS_EITHER_WAY(...)                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest with_openat2[] = {__VA_ARGS__};                                    \
        const struct CMUnitTest without_it[] = {__VA_ARGS__};                                      \
        const struct CMUnitTest with_a_filter[] = {__VA_ARGS__};                                   \
        int n_failed = cmocka_run_group_tests(with_openat2, NULL, NULL);                           \
                                                                                                   \
        if (!refuse_openat2(ENOSYS)) {                                                             \
            print_message("[ SKIPPED without openat2(): no filter of system calls here ]\n");      \
            return n_failed;                                                                       \
        }                                                                                          \
        n_failed += cmocka_run_group_tests(without_it, NULL, NULL);                                \
        if (refuse_openat2(EPERM))                                                                 \
            n_failed += cmocka_run_group_tests(with_a_filter, NULL, NULL);                         \
        return n_failed;                                                                           \
    }

#endif
