/* undo.c - what it costs to save a workspace before a command, and to compare it afterwards.
 *
 *     bench-undo WORKSPACE HOME      prints {"files","first_ms","later_ms","touched_ms"}
 *
 * The first look reads all files; a later one only walks; in between one file is changed, which a
 * look then saves. HOME is keel's: what it holds from an earlier run is used. */
#include "bench.h"

#include "base/strbuf.h"
#include "snapshot/snapshot.h"
#include "store/blob_files.h"
#include "sys/fs.h"

#include <stdlib.h>

static const struct tool bash = {.name = "Bash", .risk = RISK_EXECUTE, .needs = NEEDS_LAUNCHER};

struct bench {
    struct snapshotter *snapshotter;
    size_t n_files;
};

/* Before a command and after it. */
static struct err *look_twice(struct bench *b, double *ret_ms)
{
    AUTO(arena) struct arena a = {0};
    struct snapshot_call call = {.tool = &bash};
    struct snapshot_record record;
    struct snapshot_changes changes;
    double start = seconds();

    TRY(snapshot_begin(b->snapshotter, &call, &a, &record));
    b->n_files = record.n_files;
    TRY(snapshot_end(b->snapshotter, record.snapshot, &a, &changes));
    *ret_ms = (seconds() - start) * 1000;
    return NULL;
}

static struct err *run(const char *workspace, const char *home)
{
    AUTO(arena) struct arena a = {0};
    AUTO(blob_store) struct blob_store *blobs = blob_files_new(fs_join(&a, home, "blobs"), 0);
    AUTO(snapshotter)
    struct snapshotter *s = snapshotter_new(
        &(struct snapshot_options){.workspace = workspace, .blobs = blobs, .home = home});
    struct bench b = {.snapshotter = s};
    double first_ms, later_ms = 1e9, touched_ms = 1e9, ms;

    TRY(look_twice(&b, &first_ms));
    for (int i = 0; i < 10; i++) {
        TRY(look_twice(&b, &ms));
        later_ms = MIN(later_ms, ms);
    }
    for (int i = 0; i < 5; i++) {
        TRY(fs_write_atomic(fs_join(&a, workspace, "touched.txt"),
                            arena_format(&a, "%d %f\n", i, seconds()), 0600));
        TRY(look_twice(&b, &ms));
        touched_ms = MIN(touched_ms, ms);
    }
    printf("{\"files\":%zu,\"first_ms\":%.2f,\"later_ms\":%.2f,\"touched_ms\":%.2f}\n", b.n_files,
           first_ms, later_ms, touched_ms);
    return NULL;
}

int main(int argc, char **argv)
{
    AUTO(err) struct err *e = NULL;

    if (argc != 3) {
        fprintf(stderr, "usage: bench-undo WORKSPACE HOME\n");
        return EXIT_FAILURE;
    }
    e = run(argv[1], argv[2]);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
    }
    return e ? EXIT_FAILURE : EXIT_SUCCESS;
}
