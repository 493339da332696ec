/* processes.h - walks through /proc. */
#ifndef KEEL_EXEC_PROCESSES_H
#define KEEL_EXEC_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MAX_PIDS = 1 << 22 }; /* the kernel's limit */

/* One bit per pid. Untouched pages cost nothing. */
struct pid_set {
    unsigned char bits[MAX_PIDS / 8];
};

static inline bool pid_set_has(const struct pid_set *set, pid_t pid)
{
    return pid > 0 && pid < MAX_PIDS && (set->bits[pid / 8] >> (pid % 8) & 1);
}

static inline void pid_set_add(struct pid_set *set, pid_t pid)
{
    set->bits[pid / 8] |= (unsigned char)(1 << (pid % 8));
}

/* Calls `visit` for every entry of a directory that is a number, until it returns false. False: it
 * did, or the directory cannot be read. */
bool each_number(int dir, bool (*visit)(void *self, int dir, const char *name, int number),
                 void *self);

/* Opens "NAME/FILE" below a directory. */
int open_entry(int dir, const char *name, const char *file, int flags);
/* Reads as much as fits into the text, which ends with a NUL. -1: it cannot be read. */
ssize_t read_entry(int dir, const char *name, const char *file, char *text, size_t size);

/* The state of a thread. */
struct task_state {
    char letter;         /* as in `ps`: R, S, D, T, t, Z, X */
    unsigned long turns; /* how often it has got or given up the processor */
};
/* False: unknown. `tasks` is /proc/PID/task. */
bool task_look(int tasks, const char *tid, struct task_state *ret);

#endif
