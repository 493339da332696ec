/* memory.h - sessions that end with the process: for hosts that keep nothing, and for tests. */
#ifndef KEEL_STORE_MEMORY_H
#define KEEL_STORE_MEMORY_H

#include "port/store.h"

struct store *store_memory_new(void) MUST_USE;

#endif
