/* notices.c - lets the kernel hold calls by which a command changes files, and report them to keel.
 *
 * This is a second filter beside the one that refuses: if both have an answer, the kernel takes the
 * refusal. It sees the flags of an open, so an open for reading is never held; paths are in memory
 * that only keel reads. The command is created by a process that shares the memory of its
 * supervisor but not its descriptors, so that process sends the listener to keel itself; its own
 * copy is closed when the command is executed. None of the calls until then are held. */
#include "exec/exec.h"
#include "exec/filter.h"
#include "exec/write_calls.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define HOLD SECCOMP_RET_USER_NOTIF

static void hold_open(struct filter *f, const struct write_call *open)
{
    filter_begin_call(f, open->call);
    filter_load_arg(f, (unsigned)open->flags);
    filter_end_if(f, BPF_JSET, WRITE_CALL_OPEN_HARMLESS, ALLOW);
    filter_end_if(f, BPF_JSET, WRITE_CALL_OPEN_FLAGS, HOLD);
    filter_end(f, ALLOW);
    filter_end_call(f);
}

static bool build_notices(struct filter *f)
{
    filter_load(f, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof write_calls / sizeof *write_calls; i++)
        if (write_calls[i].kind == WRITE_CALL_OPEN)
            hold_open(f, &write_calls[i]);
        else
            filter_add_call(f, write_calls[i].call);
    return filter_close(f, HOLD);
}

static int set_filter(struct sock_fprog *program, unsigned long flags)
{
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, program);
}

/* A signal that a program handles does not interrupt a call that keel has begun to check, if the
 * kernel supports that: otherwise the program would repeat it. */
static int listen_to_calls(void)
{
    static struct filter f;
    struct sock_fprog program;
    int fd;

    if (!build_notices(&f)) {
        errno = E2BIG;
        return -1;
    }
    program = (struct sock_fprog){.len = (unsigned short)f.n, .filter = f.code};
    fd = set_filter(&program, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    return fd < 0 && errno == EINVAL ? set_filter(&program, 0) : fd;
}

void notices_begin(int control)
{
    int fd = listen_to_calls();
    struct exec_record record = {
        .version = EXEC_PROTOCOL_VERSION, .kind = EXEC_NOTICES, .value = fd < 0 ? errno : 0};
    union {
        char bytes[CMSG_SPACE(sizeof fd)];
        struct cmsghdr align;
    } data = {0};
    struct iovec part = {&record, sizeof record};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        data.align.cmsg_level = SOL_SOCKET;
        data.align.cmsg_type = SCM_RIGHTS;
        data.align.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&data.align), &fd, sizeof fd);
        message.msg_control = data.bytes;
        message.msg_controllen = sizeof data.bytes;
    }
    /* if keel is gone, the command ends, too */
    sendmsg(control, &message, MSG_NOSIGNAL);
}
