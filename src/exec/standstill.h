/* standstill.h - stops the whole tree to inspect it: nothing changes before standstill_end().
 *
 * Only for the init of a pid namespace, from which no process can hide. */
#ifndef KEEL_EXEC_STANDSTILL_H
#define KEEL_EXEC_STANDSTILL_H

#include <stdbool.h>
#include <sys/stat.h>

/* Stops all processes, and waits for that. False: some cannot be stopped in time. */
bool standstill_begin(void);
/* Continues those that were not stopped before. */
void standstill_end(void);

/* --- holders.c --- */

/* A file or directory that processes may have reached. */
struct held_place {
    const struct stat *st;
    const char *path;
    bool is_hidden; /* then its contents count, too */
};
/* Can a process reach it in a way that its path does not show: by a descriptor (O_PATH included,
 * and those in the queue of a socket), a working directory, a mapping? True also if a process
 * cannot be inspected. */
bool is_held(const struct held_place *place);

#endif
