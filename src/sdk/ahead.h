/* ahead.h - libraries that a run will need, loaded by a thread of their own meanwhile.
 *
 * libcurl and the thirty libraries that it needs take longer to load than all else up to the first
 * request. What is missing is told by whoever needs it. */
#ifndef KEEL_SDK_AHEAD_H
#define KEEL_SDK_AHEAD_H

#include <pthread.h>
#include <stdbool.h>

struct ahead { /* zeroed: not begun */
    pthread_t thread;
    bool is_begun;
};

void ahead_begin(struct ahead *a);
void ahead_end(struct ahead *a); /* waits for it */

#endif
