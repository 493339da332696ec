/* file_stamp.c - taking, comparing and keeping the stamp of a file. */
#include "port/file_stamp.h"

#include <sys/stat.h>

struct file_stamp file_stamp_of(const struct stat *st)
{
    return (struct file_stamp){
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .size = (uint64_t)st->st_size,
        .inode = st->st_ino,
    };
}

bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->size == b->size && a->inode == b->inode;
}

struct file_stamp file_stamp_read(const struct json *object)
{
    return (struct file_stamp){
        .mtime_ns = json_int_or(json_get(object, "mtime_ns"), 0),
        .size = (uint64_t)json_int_or(json_get(object, "size"), 0),
        .inode = (uint64_t)json_int_or(json_get(object, "inode"), 0),
    };
}

void file_stamp_write(struct file_stamp stamp, struct arena *a, struct json *object)
{
    json_set_int(a, object, "mtime_ns", stamp.mtime_ns);
    json_set_int(a, object, "size", (int64_t)stamp.size);
    json_set_int(a, object, "inode", (int64_t)stamp.inode);
}
