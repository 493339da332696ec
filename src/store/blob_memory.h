/* blob_memory.h - blobs in memory, gone with their store. */
#ifndef KEEL_STORE_BLOB_MEMORY_H
#define KEEL_STORE_BLOB_MEMORY_H

#include "port/blob.h"

/* max_bytes 0: BLOB_DEFAULT_MAX. */
struct blob_store *blob_memory_new(size_t max_bytes) MUST_USE;

#endif
