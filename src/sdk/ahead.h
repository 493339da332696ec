/* ahead.h - libraries that a run will need, loaded by a worker meanwhile.
 *
 * libcurl and the thirty libraries that it needs take longer to load than all else up to the first
 * request. What is missing is told by whoever needs it. */
#ifndef KEEL_SDK_AHEAD_H
#define KEEL_SDK_AHEAD_H

struct work_beside;

struct ahead { /* zeroed: not begun */
    struct work_beside *loading;
};

void ahead_begin(struct ahead *a);
void ahead_end(struct ahead *a); /* waits for it */

#endif
