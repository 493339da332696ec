/* open_calls.h - calls of the last answer that have no result yet.
 *
 * A run that was suspended or cut off leaves them, and the next one begins with them. Pure. */
#ifndef KEEL_ENGINE_OPEN_CALLS_H
#define KEEL_ENGINE_OPEN_CALLS_H

#include "model/history.h"

struct open_call {
    const struct part *part; /* of the answer */
    size_t index;            /* among the calls of the answer: ids may repeat */
};

/* Those of this answer, which is in the history, as an array in `a`. */
size_t open_calls_of(const struct history *h, const struct message *answer, struct arena *a,
                     struct open_call **ret_calls);
/* The last answer if calls of it are open, else NULL. Borrowed from the history. */
const struct message *open_calls_find(const struct history *h);

#endif
