/* blob_files.h - blobs as files: DIR/ab/abcdef..., readable by their owner only. */
#ifndef KEEL_STORE_BLOB_FILES_H
#define KEEL_STORE_BLOB_FILES_H

#include "port/blob.h"

/* Creates the directory on the first put. max_bytes 0: BLOB_DEFAULT_MAX. */
struct blob_store *blob_files_new(const char *dir, size_t max_bytes) MUST_USE;
/* The same with files DIR/HANDLE and the suffix, which is borrowed: ".json". */
struct blob_store *blob_files_flat_new(const char *dir, const char *suffix,
                                       size_t max_bytes) MUST_USE;

/* After the first put, a directory that is gone is an error, because the puts are lost. After this
 * call it may be gone. */
void blob_files_forget_dir(struct blob_store *b);

/* Removes it, unless it was put after `unix_ms`: its writer may be about to refer to it. *ret_gone:
 * it no longer exists. Blocks. */
MUST_USE struct err *blob_files_collect(struct blob_store *b, struct str handle, int64_t unix_ms,
                                        bool *ret_gone);

#endif
