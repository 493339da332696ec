/* recorder.c - a run without a recorder records nothing. */
#include "port/recorder.h"

void recorder_append(struct recorder *r, const struct event *e)
{
    if (r)
        r->append(r, e);
}

struct err *recorder_wait(struct recorder *r, enum recorder_safety safety)
{
    return r ? r->wait(r, safety) : NULL;
}
