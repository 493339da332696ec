/* ahead.h - libraries that a run will need, each loaded by a thread meanwhile.
 *
 * What is missing is told by whoever needs it. */
#ifndef KEEL_SDK_AHEAD_H
#define KEEL_SDK_AHEAD_H

#include "base/str.h"

struct work_beside;

struct ahead { /* zeroed: not begun */
    struct work_beside *store, *tls;
};

void ahead_load_store(struct ahead *a);
/* What a request to this URL takes: OpenSSL, if it or its proxy is https. */
void ahead_load_tls(struct ahead *a, const char *const *environment, struct str url);
void ahead_end(struct ahead *a); /* waits for all */

#endif
