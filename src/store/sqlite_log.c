/* sqlite_log.c - looks after the log as it grows. */
#include "store/sqlite_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FRAME_BYTES = 4096 + 24,
    CHECKPOINT_FRAMES = 1000, /* SQLite's own habit */
    COMMIT_BYTES = 64 << 10,  /* few commits need more */
    SHORT_BYTES = 256 << 10,  /* a log that may never need room */
    MOST_BYTES = CHECKPOINT_FRAMES * FRAME_BYTES + SHORT_BYTES,
};

/* After each commit. Nothing is lost when the log cannot go into the database now: it goes later.
 */
static int on_commit(void *self, sqlite3 *handle, const char *name, int n_frames)
{
    struct sqlite_db *db = self;
    uint64_t n_before = db->n_log_bytes;

    db->n_log_bytes = (uint64_t)n_frames * FRAME_BYTES;
    if (db->n_log_bytes < n_before)
        db->log_room_until = 0; /* it has begun anew, and may have been cut */
    if (n_frames >= CHECKPOINT_FRAMES)
        db->api.wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

struct err *sqlite_log_set_up(struct sqlite_db *db)
{
    int on = 1;

    db->log_fd = -1;
    db->api.wal_hook(db->handle, on_commit, db);
    if (db->api.file_control(db->handle, NULL, SQLITE_FCNTL_PERSIST_WAL, &on) != SQLITE_OK)
        return sqlite_db_error(db, "open sessions");
    return NULL;
}

static int open_log(struct sqlite_db *db)
{
    AUTO(arena) struct arena a = {0};

    if (db->log_fd < 0)
        db->log_fd = open(arena_format(&a, "%s-wal", db->path).p, O_WRONLY | O_CLOEXEC);
    return db->log_fd;
}

/* What cannot be written is not needed, but for speed. */
static void write_zeros(int fd, uint64_t from, uint64_t to)
{
    static const char zeros[64 << 10];

    while (from < to) {
        ssize_t n = pwrite(fd, zeros, (size_t)MIN(to - from, sizeof zeros), (off_t)from);

        if (n <= 0)
            return;
        from += (uint64_t)n;
    }
}

/* The file is looked at as seldom as can be: who asks for its times makes the kernel write them
 * more exactly, and an fsync then writes them, too. */
void sqlite_log_make_room(struct sqlite_db *db)
{
    uint64_t n_needed = db->n_log_bytes + COMMIT_BYTES;
    struct stat s;

    if (n_needed <= db->log_room_until || db->n_log_bytes < SHORT_BYTES || n_needed > MOST_BYTES)
        return;
    if (open_log(db) < 0 || fstat(db->log_fd, &s) < 0)
        return;
    db->log_room_until = (uint64_t)s.st_size;
    if (n_needed > db->log_room_until) {
        db->log_room_until = MIN(2 * n_needed, (uint64_t)MOST_BYTES);
        write_zeros(db->log_fd, (uint64_t)s.st_size, db->log_room_until);
    }
}

void sqlite_log_done(struct sqlite_db *db)
{
    if (db->handle && db->log_fd >= 0)
        close(db->log_fd);
}
