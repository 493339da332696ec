/* parking.h - supervisors that are started before there is a command for them.
 *
 * Who runs one command is likely to run another. So the process that will supervise the next one is
 * started and waits (sys/proc.h), in the walls of the one before. One waits at a time, and each is
 * used once. Nothing here fails: what is not there is started when it is needed. */
#ifndef KEEL_SANDBOX_PARKING_H
#define KEEL_SANDBOX_PARKING_H

#include "sys/proc.h"

struct parking;

struct parking_way {
    struct proc_parking how;
    uint64_t walls; /* the number of what is to be built, if there is a policy: equal ones are alike
                     */
};

struct parking *parking_new(void) MUST_USE;
/* After its tasks. In a task the loop reaps what waits; else this waits for it. */
void parking_free(struct parking *p);

/* A command is expected: one is waiting for it, until it is taken or parking_rest(). */
void parking_expect(struct parking *p, const struct parking_way *way, struct group *tasks);
/* None is any more: what waits is ended. */
void parking_rest(struct parking *p);
/* The one that waits, if it was started in this way; one that is being started is waited for. NULL:
 * there is none. Fails only when the task is interrupted. */
MUST_USE struct err *parking_take(struct parking *p, const struct parking_way *way,
                                  struct proc_parked **ret_parked);
/* Its task runs. */
bool parking_is_starting(const struct parking *p);
/* Of the one that waits; 0: none does. */
int parking_pid(const struct parking *p);

#endif
