/* standstill.h - the whole tree at rest, so that it can be looked at: nothing that is seen changes
 * before standstill_end().
 *
 * Only for the init of a pid namespace, where no process can be hidden from it. */
#ifndef KEEL_EXEC_STANDSTILL_H
#define KEEL_EXEC_STANDSTILL_H

#include <stdbool.h>
#include <sys/stat.h>

/* Stops all processes. False: some cannot be stopped in time. Waits for that. */
bool standstill_begin(void);
/* Lets those continue that were not stopped before. */
void standstill_end(void);

/* --- holders.c --- */

/* A file or directory that processes may have got hold of. */
struct held_place {
    const struct stat *st;
    const char *path;
    bool is_hidden; /* then what lies in it counts, too */
};
/* Has a process a way to it that its path does not show: a descriptor (O_PATH included, and those
 * that wait in a socket), a working directory, a mapping? True also for a process that cannot be
 * looked at. */
bool is_held(const struct held_place *place);

#endif
