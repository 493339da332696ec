/* limits.c - limits the number of processes and threads of a command.
 *
 * A command that forks without end would stall the whole machine, including keel and the
 * supervisor. A pid namespace has its own highest pid since Linux 6.14; before, that number is the
 * machine's, and root could change it by mistake. In a user namespace of its own the limit of a
 * user counts from 0; elsewhere it would count all processes of the person, and one command could
 * stop the others. */
#include "exec/exec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_PROCESSES 8192
#define TEXT_OF(number) TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number) #number

static bool namespaces_have_a_highest_pid(void)
{
    struct utsname name;
    unsigned long major, minor;
    char *end;

    if (uname(&name) < 0)
        return false;
    major = strtoul(name.release, &end, 10);
    minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 14);
}

void limits_set_for_namespace(int proc)
{
    static const char text[] = TEXT_OF(MAX_PROCESSES);
    int fd = namespaces_have_a_highest_pid()
                 ? openat(proc, "sys/kernel/pid_max", O_WRONLY | O_CLOEXEC)
                 : -1;

    if (fd < 0)
        return;
    (void)!write(fd, text, sizeof text - 1); /* optional: without it there is one wall less */
    close(fd);
}

void limits_set_for_command(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NPROC, &limit) < 0)
        return;
    if (limit.rlim_max > MAX_PROCESSES)
        limit.rlim_max = MAX_PROCESSES;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NPROC, &limit);
}
