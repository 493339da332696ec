/* privileges.c - gives up every capability and every way to gain one.
 *
 * A command may then do what its user may do. Root in a sandbox keeps its rights over files, which
 * ignore owners and modes, since a workspace may belong to another user; mounts and Landlock limit
 * these files. Two rights are not among them: CAP_DAC_READ_SEARCH opens any file of a file system
 * by its number, and with CAP_FSETID a program of another user stays set-user-ID after a write. */
#include "exec/exec.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(cap) (1u << (cap))

static const uint32_t file_capabilities = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);

/* With no_new_privs an execve() gives back nothing that is not permitted now, whatever the bounding
 * set is; emptying that as well would take forty calls. */
static bool drop(uint32_t kept)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
        syscall(SYS_capget, &header, data) < 0)
        return false;
    data[0].effective = data[0].permitted = data[0].permitted & kept;
    data[1].effective = data[1].permitted = 0;
    data[0].inheritable = data[1].inheritable = 0;
    return syscall(SYS_capset, &header, data) == 0;
}

struct fault privileges_drop(bool keep_files)
{
    if (!drop(keep_files ? file_capabilities : 0))
        return (struct fault){errno, EXEC_STEP_PRIVILEGES, 0};
    return (struct fault){0};
}
