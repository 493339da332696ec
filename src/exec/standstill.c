/* standstill.c - stops every process of a pid namespace, and lets them continue.
 *
 * kill(-1) reaches all of them at once, also those that are being forked. But a process that still
 * runs may continue another before it stops, and one that waits in the kernel stops when it
 * returns. So all threads are checked twice: if each was stopped both times and none ran in
 * between, there was a moment at which all of them were stopped, and none is left to continue
 * others. A tree that does not stop in time counts as one that resists. */
#include "exec/standstill.h"

#include "exec/exec.h"
#include "exec/kernel.h"
#include "exec/processes.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_STOPPING_MS = 2000, /* a disk may be slow, and keel may save a file before it is changed */
    LOOK_PERIOD_MS = 1,
};

/* Processes that others had stopped before. */
static struct pid_set stopped_before;

/* All threads, as seen by one check. */
struct all_tasks {
    bool is_still;
    uint64_t sum; /* of their ids and numbers of turns */
    bool (*visit)(struct all_tasks *t, int tasks, const char *tid);
    pid_t pid; /* of the process being visited */
};

static void add_to_sum(struct all_tasks *t, uint64_t value)
{
    t->sum = (t->sum ^ value) * 0x100000001b3u;
}

/* A process that has called vfork() waits until its child executes a program or ends, and does
 * nothing meanwhile. */
static bool waits_for_child(int tasks, const char *tid)
{
    char text[256], *end;
    unsigned long call, flags;

    if (read_entry(tasks, tid, "syscall", text, sizeof text) < 0)
        return false;
    call = strtoul(text, &end, 10);
    flags = strtoul(end, NULL, 16);
#ifdef SYS_vfork
    if (call == SYS_vfork && end != text)
        return true;
#endif
    return call == SYS_clone && end != text && flags & CLONE_VFORK;
}

static bool look_at_task(struct all_tasks *t, int tasks, const char *tid)
{
    struct task_state state;

    if (!task_look(tasks, tid, &state))
        return t->is_still = false;
    add_to_sum(t, strtoul(tid, NULL, 10));
    add_to_sum(t, state.turns);
    if (!strchr("TtZX", state.letter) && !(state.letter == 'D' && waits_for_child(tasks, tid)))
        t->is_still = false;
    return t->is_still;
}

static bool note_if_stopped(struct all_tasks *t, int tasks, const char *tid)
{
    struct task_state state;

    if (task_look(tasks, tid, &state) && state.letter == 'T' && t->pid < MAX_PIDS)
        pid_set_add(&stopped_before, t->pid);
    return true;
}

static bool visit_task(void *self, int dir, const char *name, int number)
{
    struct all_tasks *t = self;

    return t->visit(t, dir, name);
}

/* A process that has ended meanwhile does not count. */
static bool visit_process(void *self, int dir, const char *name, int pid)
{
    struct all_tasks *t = self;
    int tasks = pid == getpid() ? -1 : open_entry(dir, name, "task", O_RDONLY | O_DIRECTORY);

    if (tasks < 0)
        return true;
    t->pid = pid;
    each_number(tasks, visit_task, t);
    close(tasks);
    return t->is_still;
}

static struct all_tasks look_at_all(bool (*visit)(struct all_tasks *t, int tasks, const char *tid))
{
    struct all_tasks t = {.is_still = true, .sum = 0xcbf29ce484222325u, .visit = visit};
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc < 0 || !each_number(proc, visit_process, &t))
        t.is_still = false;
    if (proc >= 0)
        close(proc);
    return t;
}

static bool all_stand_still(void)
{
    struct all_tasks first = look_at_all(look_at_task), second;

    if (!first.is_still)
        return false;
    second = look_at_all(look_at_task);
    return second.is_still && second.sum == first.sum;
}

/* Not by a number of checks: each check of thousands of threads takes long. */
bool standstill_begin(void)
{
    const struct timespec pause = {.tv_nsec = LOOK_PERIOD_MS * 1000000L};
    struct patience patience = patience_of(MAX_STOPPING_MS);

    memset(&stopped_before, 0, sizeof stopped_before);
    look_at_all(note_if_stopped);
    do {
        kill(-1, SIGSTOP);
        if (all_stand_still())
            return true;
        nanosleep(&pause, NULL);
    } while (patience_lasts(&patience));
    return false;
}

static bool resume_process(void *self, int dir, const char *name, int pid)
{
    if (pid != getpid() && !pid_set_has(&stopped_before, pid))
        kill(pid, SIGCONT);
    return true;
}

void standstill_end(void)
{
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc < 0 || !each_number(proc, resume_process, NULL))
        kill(-1, SIGCONT);
    if (proc >= 0)
        close(proc);
}
