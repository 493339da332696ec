/* as_user.h - tests that run a second time as an ordinary user: PROGRAM user. */
#ifndef KEEL_TEST_UNIT_SANDBOX_AS_USER_H
#define KEEL_TEST_UNIT_SANDBOX_AS_USER_H

#include "sys/procs.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ORDINARY_USER = 61234, SKIPPED = 77 };

static inline bool become_ordinary(void)
{
    return geteuid() != 0 || (syscall(SYS_setgroups, 0, NULL) == 0 && setgid(ORDINARY_USER) == 0 &&
                              setuid(ORDINARY_USER) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* Becomes one if the arguments say so. False: such a user cannot run what was built here. */
static inline bool is_user_as_asked(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "user") != 0)
        return true;
    if (become_ordinary() && access(helper("writes"), X_OK) == 0)
        return true;
    print_message("an ordinary user cannot run the programs of this build\n");
    return false;
}

#endif
