/* file_stamp.h - tells one state of a file from the next, also in the values of STATE_FILE. */
#ifndef KEEL_PORT_FILE_STAMP_H
#define KEEL_PORT_FILE_STAMP_H

#include "base/json.h"

struct stat;

struct file_stamp {
    int64_t mtime_ns;
    uint64_t size, inode;
};

struct file_stamp file_stamp_of(const struct stat *st);
bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b);

/* The members "mtime_ns", "size" and "inode" of an object; what is missing is 0. */
struct file_stamp file_stamp_read(const struct json *object);
void file_stamp_write(struct file_stamp stamp, struct arena *a, struct json *object);

#endif
