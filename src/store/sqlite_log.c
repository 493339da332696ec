/* sqlite_log.c - keeps room in the log, and limits its size. */
#include "store/sqlite_log.h"

#include "store/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FRAME_BYTES = 4096 + 24,
    CHECKPOINT_FRAMES = 1000, /* SQLite's default */
    COMMIT_BYTES = 64 << 10,  /* few commits need more */
    SHORT_BYTES = 256 << 10,  /* a log that may never need room */
    LEFT_BYTES = 512 << 10,   /* a log that the next process reads: 2 us a frame */
    MOST_BYTES = CHECKPOINT_FRAMES * FRAME_BYTES + SHORT_BYTES,
};

/* After each commit. Nothing is lost if the log cannot go into the database now: it goes later. */
static int on_commit(void *self, sqlite3 *handle, const char *name, int n_frames)
{
    struct sqlite_db *db = self;
    uint64_t n_before = db->n_log_bytes;

    db->n_log_bytes = (uint64_t)n_frames * FRAME_BYTES;
    if (db->n_log_bytes < n_before)
        db->log_room_until = 0; /* the log was restarted, and may have been cut */
    if (n_frames >= CHECKPOINT_FRAMES)
        db->api.wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

struct err *sqlite_log_set_up(struct sqlite_db *db)
{
    int on = 1;

    db->api.wal_hook(db->handle, on_commit, db);
    if (db->api.file_control(db->handle, NULL, SQLITE_FCNTL_PERSIST_WAL, &on) != SQLITE_OK ||
        db->api.db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK)
        return sqlite_db_error(db, "open sessions");
    return NULL;
}

struct err *sqlite_log_restart(struct sqlite_db *db)
{
    if (!db->is_log_suspect)
        return NULL;
    if (db->api.wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL) !=
        SQLITE_OK)
        return sqlite_db_error(db, "make the last write durable");
    db->is_log_suspect = false;
    return NULL;
}

/* SQLite's own handle of its log: another descriptor could be of another file. NULL: there is no
 * log yet. */
static sqlite3_file *find_log(struct sqlite_db *db)
{
    sqlite3_file *log = NULL;

    if (db->api.file_control(db->handle, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK)
        return NULL;
    return log && log->pMethods ? log : NULL;
}

/* What a checkpoint has moved into the database meanwhile, in this process or another, is durable:
 * a checkpoint syncs the log before and the database after. */
struct err *sqlite_log_sync(struct sqlite_db *db)
{
    sqlite3_file *log;

    if (db->is_log_suspect)
        return sqlite_log_restart(db);
    log = find_log(db);
    if (!log || log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) == SQLITE_OK)
        return NULL;
    db->is_log_suspect = true;
    return err_new(ERR_STORAGE, "cannot make the last write to %s durable: %s", db->path,
                   strerror(errno));
}

/* --- is the log whole? --- */

/* The header of the log's index, as SQLite documents it (walformat.html). Nothing writes to it
 * during a transaction that may write. NULL: there is none. */
static const volatile unsigned char *find_index(struct sqlite_db *db)
{
    enum { REGION_BYTES = 32 << 10 };
    sqlite3_file *file = NULL;
    void volatile *at = NULL;

    if (db->api.file_control(db->handle, NULL, SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, REGION_BYTES, /* extend= */ 0, &at) != SQLITE_OK)
        return NULL;
    return at;
}

static uint64_t log_bytes(const volatile unsigned char *index)
{
    enum { HEADER_BYTES = 32, FRAME_HEADER_BYTES = 24 };
    uint16_t page_bytes = *(const volatile uint16_t *)(index + 14);
    uint32_t n_frames = *(const volatile uint32_t *)(index + 16);

    if (n_frames == 0)
        return 0;
    return HEADER_BYTES +
           (uint64_t)n_frames * (FRAME_HEADER_BYTES + (page_bytes == 1 ? 65536u : page_bytes));
}

/* Other processes may be at work: then the log is theirs to empty, and its length here may be
 * wrong. */
void sqlite_log_leave(struct sqlite_db *db)
{
    const volatile unsigned char *index = db->has_log ? find_index(db) : NULL;
    uint64_t n_bytes = index ? log_bytes(index) : 0;

    if (n_bytes == 0 || (n_bytes < LEFT_BYTES && !sqlite_has_little_room(db->path)))
        return;
    db->api.busy_handler(db->handle, NULL, NULL);
    db->api.wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* Asks only for the size: asking for times makes the kernel write them more often. */
bool sqlite_log_is_whole(struct sqlite_db *db)
{
    const volatile unsigned char *index = find_index(db);
    struct statx st;

    return statx(AT_FDCWD, db->files[1].path, 0, STATX_SIZE, &st) == 0 &&
           (!index || st.stx_size >= log_bytes(index));
}

/* --- room --- */

/* A failed write costs only speed. */
static void write_zeros(sqlite3_file *log, uint64_t from, uint64_t to)
{
    static const char zeros[64 << 10];

    while (from < to) {
        int n = (int)MIN(to - from, sizeof zeros);

        if (log->pMethods->xWrite(log, zeros, n, (sqlite3_int64)from) != SQLITE_OK)
            return;
        from += (uint64_t)n;
    }
}

/* Looks at the file as seldom as possible: asking for its times makes the kernel keep them more
 * exactly, and an fsync then writes them, too. */
void sqlite_log_make_room(struct sqlite_db *db)
{
    uint64_t n_needed = db->n_log_bytes + COMMIT_BYTES;
    sqlite3_file *log;
    sqlite3_int64 size;

    if (n_needed <= db->log_room_until || db->n_log_bytes < SHORT_BYTES || n_needed > MOST_BYTES)
        return;
    log = find_log(db);
    if (!log || log->pMethods->xFileSize(log, &size) != SQLITE_OK)
        return;
    db->log_room_until = (uint64_t)size;
    if (n_needed > db->log_room_until) {
        db->log_room_until = MIN(2 * n_needed, (uint64_t)MOST_BYTES);
        write_zeros(log, (uint64_t)size, db->log_room_until);
    }
}
