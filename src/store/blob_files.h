/* blob_files.h - blobs as files: DIR/ab/abcdef..., readable by their owner only. */
#ifndef KEEL_STORE_BLOB_FILES_H
#define KEEL_STORE_BLOB_FILES_H

#include "port/blob.h"

/* Creates the directory on the first put. max_bytes 0: BLOB_DEFAULT_MAX. */
struct blob_store *blob_files_new(const char *dir, size_t max_bytes) MUST_USE;
/* The same as DIR/HANDLE and the suffix, which is borrowed: ".json". */
struct blob_store *blob_files_flat_new(const char *dir, const char *suffix,
                                       size_t max_bytes) MUST_USE;

#endif
