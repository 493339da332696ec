/* proc_internal.h - what the files behind proc.h know of each other.
 *
 * proc.c is the life of a child, proc_spawn.c its start, proc_clone.c and proc_parked.c other ways
 * to start, proc_stdio.c its pipes and its terminal, proc_find.c the file to run, proc_run.c all of
 * it in one call. Only these files include it. */
#ifndef KEEL_SYS_PROC_INTERNAL_H
#define KEEL_SYS_PROC_INTERNAL_H

#include "sys/proc.h"

#include <sys/types.h>
#include <unistd.h>

struct proc {
    char *name;       /* argv[0], for errors */
    pid_t pid;        /* 0 until it was started */
    int pidfd;        /* readable when it has ended; -1 without pidfds */
    int in, out, err; /* keel's ends, -1 when closed; on a terminal `in` and `out` are the master */
    int control;      /* to its supervisor, or -1 */
    bool is_pty, is_isolated;
    uint64_t grace_ms;
    bool may_linger;
    bool is_unheard;                /* its supervisor did not read the last request */
    const struct proc_judge *judge; /* NULL: none */
    bool tree_is_gone;              /* its supervisor, which may linger, has reported it */
    bool has_status;
    struct proc_status status;
};

static inline void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
#define AUTO_CLOSE __attribute__((cleanup(fd_close)))

/* The descriptors that the child will have as 0, 1, 2 and so on. The copies here are above all of
 * those numbers, so that none is overwritten before its turn. */
enum { CHILD_FDS_MAX = 34 };
struct child_fds {
    int fd[CHILD_FDS_MAX];
    int n;
    /* The terminal's path if the child must open it to make it its controlling one. */
    char tty_path[64];
};
MUST_USE struct err *child_fds_add(struct child_fds *c, int fd); /* copies it */
void child_fds_done(struct child_fds *c);
DEFINE_AUTO_VAL(child_fds, child_fds_done)

/* Starts `program` with the spec's argv, under keel-exec if it says so. */
MUST_USE struct err *proc_start(struct proc *p, const struct proc_spec *spec, const char *program);

/* Like spawning `program`, but as init of a new pid namespace. 0 or errno: the namespace may not be
 * made here, or the program could not be executed. */
int proc_clone_init(const struct proc_spec *spec, const struct child_fds *c, const char *program,
                    const char *const *argv, pid_t *ret_pid);

/* Calls posix_spawn() with these descriptors and no others. 0 or errno. */
int proc_spawn_program(const struct proc_spec *spec, const struct child_fds *c, const char *program,
                       const char *const *argv, pid_t *ret_pid);
/* Hands the command to the spec's parked supervisor. False: it has died, and nothing has
 * happened. */
MUST_USE struct err *proc_hand_over(struct proc *p, const struct proc_spec *spec,
                                    const struct child_fds *c, const char *program, bool *ret_done);

/* Makes stdio and the extra fds: the child's ends into `c`, keel's into `p`. */
MUST_USE struct err *proc_open_stdio(struct proc *p, const struct proc_spec *spec,
                                     struct child_fds *c);
/* Reads what is there without waiting. *ret_n is 0 at the end, and when nothing is there now. */
MUST_USE struct err *proc_read_now(struct proc *p, enum proc_stream stream, void *buffer,
                                   size_t size, size_t *ret_n);

/* Finds the file to execute for argv[0] by the child's PATH; on the heap. It may be relative to the
 * child's working directory. */
MUST_USE struct err *proc_find_program(const struct proc_spec *spec, char **ret_path);
/* Why `program` could not be executed, with a hint. */
MUST_USE struct err *proc_exec_error(const struct proc_spec *spec, const char *program, int error);

/* Waits until the child, or the supervisor with the whole tree, is gone. */
MUST_USE struct err *proc_wait_gone(struct proc *p);

#endif
