/* undo.c - what it costs to save what a command is about to change, in a workspace of any size.
 *
 *     bench-undo WORKSPACE HOME N    prints {"nothing_ms","one_ms","made_ms","replaced_ms"}
 *
 * A command that changes nothing; one that writes one file; one that makes N files; one that writes
 * N files which are there. The notices are made up: what they cost in the kernel is the sandbox's
 * bench. */
#include "bench.h"

#include "base/strbuf.h"
#include "snapshot/snapshot.h"
#include "store/blob_files.h"
#include "sys/dir_watch.h"
#include "sys/fs.h"

#include <stdlib.h>

static const struct tool bash = {.name = "Bash", .risk = RISK_EXECUTE, .needs = NEEDS_LAUNCHER};

struct undo_bench {
    struct snapshotter *snapshotter;
    const char *workspace;
};

/* One command that writes `n` files, and what of it is keel's. */
static struct err *run_command(struct undo_bench *b, const char *dir, int n, double *ret_ms)
{
    AUTO(arena) struct arena a = {0};
    struct snapshot_call call = {.tool = &bash};
    struct snapshot_record record;
    struct snapshot_changes changes;
    double start = seconds(), ms;

    TRY(snapshot_begin(b->snapshotter, &call, &a, &record));
    ms = (seconds() - start) * 1000;
    for (int i = 0; i < n; i++) {
        const char *path = arena_format(&a, "%s/%s/f%d", b->workspace, dir, i).p;
        struct write_notice notice = {.kind = WRITE_CONTENT, .path = path};
        FILE *f;

        start = seconds();
        record.observer->about_to(record.observer, &notice);
        ms += (seconds() - start) * 1000;
        f = fopen(path, "a");
        if (!f)
            return err_new(ERR_STORAGE, "cannot write %s", path);
        fprintf(f, "%d %f\n", i, start);
        fclose(f);
    }
    start = seconds();
    write_observer_unref(record.observer);
    TRY(snapshot_end(b->snapshotter, record.snapshot, &a, &changes));
    *ret_ms = ms + (seconds() - start) * 1000;
    return NULL;
}

static struct err *least(struct undo_bench *b, const char *dir, int n, int n_times, double *ret_ms)
{
    *ret_ms = 1e9;
    for (int i = 0; i < n_times; i++) {
        double ms;

        TRY(run_command(b, dir, n, &ms));
        *ret_ms = MIN(*ret_ms, ms);
    }
    return NULL;
}

static struct err *run(const char *workspace, const char *home, int n)
{
    AUTO(arena) struct arena a = {0};
    AUTO(blob_store) struct blob_store *blobs = blob_files_new(fs_join(&a, home, "blobs"), 0);
    struct dir_watches *watches = dir_watches_new();
    AUTO(dir_watch) struct dir_watch *w = dir_watches_get(watches, workspace);
    AUTO(snapshotter)
    struct snapshotter *s = snapshotter_new(&(struct snapshot_options){
        .workspace = workspace, .blobs = blobs, .home = home, .watches = watches});
    struct undo_bench b = {.snapshotter = s, .workspace = workspace};
    double first_ms, nothing_ms, one_ms, made_ms, replaced_ms;

    TRY(fs_make_dirs(fs_join(&a, workspace, "bench-one"), 0755));
    TRY(fs_make_dirs(fs_join(&a, workspace, "bench-many"), 0755));
    dir_watch_follow_files(w);
    TRY(dir_watch_update(w, NULL)); /* the sandbox needs it */
    TRY(run_command(&b, "bench-one", 1, &first_ms));
    dir_watch_settle(w);
    dir_watch_wait(w);
    TRY(dir_watch_update(w, NULL));
    TRY(least(&b, "bench-one", 0, 20, &nothing_ms));
    TRY(least(&b, "bench-one", 1, 20, &one_ms));
    TRY(run_command(&b, "bench-many", n, &made_ms));
    TRY(run_command(&b, "bench-many", n, &replaced_ms));
    printf("{\"first_ms\":%.3f,\"nothing_ms\":%.3f,\"one_ms\":%.3f,\"made_ms\":%.3f,"
           "\"replaced_ms\":%.3f}\n",
           first_ms, nothing_ms, one_ms, made_ms, replaced_ms);
    snapshotter_free(TAKE(s));
    dir_watches_free(watches);
    return NULL;
}

int main(int argc, char **argv)
{
    AUTO(err) struct err *e = NULL;

    if (argc != 4) {
        fprintf(stderr, "usage: bench-undo WORKSPACE HOME N\n");
        return EXIT_FAILURE;
    }
    e = run(argv[1], argv[2], atoi(argv[3]));
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
    }
    return e ? EXIT_FAILURE : EXIT_SUCCESS;
}
