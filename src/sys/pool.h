/* pool.h - the threads behind work.h: a job without an idle thread starts another one.
 *
 * A job goes to the thread that became idle last: its stack and its heap are warm. Most runs never
 * need two threads at the same time. */
#ifndef KEEL_SYS_POOL_H
#define KEEL_SYS_POOL_H

#include "base/err.h"

#define POOL_MAX_THREADS 4

struct pool_job {
    void (*run)(struct pool_job *j); /* in a thread of the pool; it may free the job */
    struct pool_job *next;
};

/* Jobs without an idle thread run in order. */
void pool_add(struct pool_job *j);

/* False: a thread runs it. */
bool pool_take_back(struct pool_job *j);

/* Starts threads until there are n, then none until pool_thaw(): while a library is loaded, glibc
 * holds a lock that pthread_create() takes, and pool_add() would wait for as long. Nests.
 */
void pool_freeze(unsigned n);
void pool_thaw(void);

/* For tests, before the first job. */
void pool_set_max(unsigned n);

#endif
