/* scene.h - a workspace, a snapshotter, and calls that change files.
 *
 * Commands are those of announced.h, which announce what they do; scene_shell() is somebody else,
 * of whom nothing is announced.
 *
 *     AUTO(scene) struct scene s = scene_make();
 *     put(&s.dir, "ws/a.c", "one");
 *     scene_remember(&s);
 *     scene_command(&s, "rm a.c");
 *     scene_restore(&s);
 *     scene_assert_same(&s);
 */
#ifndef KEEL_TEST_UNIT_SNAPSHOT_SCENE_H
#define KEEL_TEST_UNIT_SNAPSHOT_SCENE_H

#include "files.h"
#include "snapshot/announced.h"

#include "snapshot/restore.h"
#include "snapshot/snapshot.h"
#include "store/blob_files.h"

#include <limits.h>

struct scene {
    struct temp_dir dir;
    char workspace[PATH_MAX];
    const char *roots[1];
    struct blob_store *blobs;
    struct snapshot_options options;
    struct snapshotter *snapshotter; /* made when first used */
    struct arena arena;
    struct pre_images images; /* of all calls so far */
    struct str note;          /* the last one */
    struct strbuf remembered;
    uint64_t max_restored; /* restore_options.max_file_bytes */
    struct restore_plan plan;
    struct restore_report report;
    struct str unsaved; /* of the last call */
};

static const struct tool scene_bash = {
    .name = "Bash", .risk = RISK_EXECUTE, .needs = NEEDS_LAUNCHER, .permission_arg = "command"};
static const struct tool scene_write = {
    .name = "Write", .risk = RISK_MODIFY, .permission_arg = "file_path"};

/* In memory, where nothing waits for a disk; TMPDIR chooses another place. */
static inline void scene_open(struct scene *s)
{
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", /* overwrite= */ 0);
    *s = (struct scene){.dir = temp_dir_make()};
    put(&s->dir, "ws/", "");
    assert_non_null(realpath(temp_path(&s->dir, "ws"), s->workspace));
    s->roots[0] = s->workspace;
    s->blobs = blob_files_new(temp_path(&s->dir, "home/blobs"), 0);
    s->options = (struct snapshot_options){
        .workspace = s->workspace,
        .blobs = s->blobs,
        .home = arena_cstr(&s->arena, str_of(temp_path(&s->dir, "home")))};
}

static inline void scene_close(struct scene *s)
{
    snapshotter_free(s->snapshotter);
    blob_store_free(s->blobs);
    arena_done(&s->arena);
    strbuf_done(&s->remembered);
    temp_dir_done(&s->dir);
}
DEFINE_AUTO_VAL(scene, scene_close)

/* As after a new start: what is known is on disk. */
static inline void scene_restart(struct scene *s)
{
    snapshotter_free(TAKE(s->snapshotter));
}

/* --- calls --- */

static inline void scene_shell(struct scene *s, const char *line)
{
    const char *text = arena_format(&s->arena, "cd '%s' && { %s\n}", s->workspace, line).p;

    if (system(text) != 0)
        fail_msg("failed: %s", line);
}

static inline struct snapshot_record scene_begin(struct scene *s, const struct tool *tool,
                                                 const char *target)
{
    struct snapshot_call call = {.tool = tool, .target = target};
    struct snapshot_record record;

    if (!s->snapshotter)
        s->snapshotter = snapshotter_new(&s->options);
    assert_ok(snapshot_begin(s->snapshotter, &call, &s->arena, &record));
    s->note = record.note;
    for (size_t i = 0; i < record.before.n; i++)
        pre_images_add(&s->images, &s->arena, record.before.items[i]);
    if (record.observer)
        record.observer->has_begun = true; /* as the launcher says */
    return record;
}

static inline void scene_end(struct scene *s, struct snapshot_record *record)
{
    struct snapshot_changes changes;

    write_observer_unref(TAKE(record->observer));
    assert_ok(snapshot_end(s->snapshotter, TAKE(record->snapshot), &s->arena, &changes));
    if (changes.note.n)
        s->note = changes.note;
    s->unsaved = changes.unsaved;
    for (size_t i = 0; i < changes.images.n; i++)
        pre_images_add(&s->images, &s->arena, changes.images.items[i]);
}

/* Runs under the record's observer. */
static inline void scene_run(struct scene *s, const struct snapshot_record *record,
                             const char *line)
{
    struct announcer a = {.dir = s->workspace, .observer = record->observer};

    run_announced(&a, line);
}

static inline void scene_command(struct scene *s, const char *line)
{
    struct snapshot_record record = scene_begin(s, &scene_bash, NULL);

    scene_run(s, &record, line);
    scene_end(s, &record);
}

static inline const char *scene_path(struct scene *s, const char *name)
{
    return arena_format(&s->arena, "%s/%s", s->workspace, name).p;
}

/* --- the tree, byte for byte --- */

struct scene_first_names {
    ino_t inodes[4096];
    const char *names[4096];
    size_t n;
};

/* Of a file with several names: the first of them. */
static inline const char *scene_first_name(struct scene *s, struct scene_first_names *all,
                                           const struct stat *st, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->inodes[i] == st->st_ino)
            return all->names[i];
    assert_true(all->n < ARRAY_LEN(all->names));
    all->inodes[all->n] = st->st_ino;
    all->names[all->n++] = arena_cstr(&s->arena, str_of(name));
    return name;
}

static inline void scene_describe_file(const char *path, const struct stat *st, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    char hex[SHA256_HEX_SIZE], target[PATH_MAX];
    ssize_t n;

    if (S_ISLNK(st->st_mode)) {
        n = readlink(path, target, sizeof target);
        strbuf_addf(out, " -> %.*s", (int)n, target);
    } else if (S_ISREG(st->st_mode)) {
        if (!(st->st_mode & S_IRUSR))
            chmod(path, S_IRUSR);
        assert_ok(fs_read(path, &bytes, NULL));
        chmod(path, st->st_mode & 07777);
        sha256_hex(strbuf_str(&bytes), hex);
        strbuf_addf(out, " %s", hex);
    }
}

static inline int scene_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Directories that their owner may not enter are entered all the same. */
static inline void scene_describe_dir(struct scene *s, struct scene_first_names *all,
                                      const char *name, struct strbuf *out)
{
    const char *path = arena_format(&s->arena, "%s%s", s->workspace, name).p;
    struct dirent **entries;
    struct stat dir;
    int n;

    assert_int_equal(stat(path, &dir), 0);
    chmod(path, (dir.st_mode & 07777) | 0700);
    n = scandir(path, &entries, NULL, scene_by_name);
    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        const char *child = arena_format(&s->arena, "%s/%s", name, entries[i]->d_name).p;
        const char *full = arena_format(&s->arena, "%s%s", s->workspace, child).p;
        struct stat st;

        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            assert_int_equal(lstat(full, &st), 0);
            strbuf_addf(out, "%s %o %d:%d", child, st.st_mode, (int)st.st_uid, (int)st.st_gid);
            scene_describe_file(full, &st, out);
            if (S_ISREG(st.st_mode) && st.st_nlink > 1)
                strbuf_addf(out, " = %s", scene_first_name(s, all, &st, child));
            strbuf_add_char(out, '\n');
            if (S_ISDIR(st.st_mode))
                scene_describe_dir(s, all, child, out);
        }
        free(entries[i]);
    }
    free(entries);
    chmod(path, dir.st_mode & 07777);
}

static inline void scene_describe(struct scene *s, struct strbuf *out)
{
    struct scene_first_names *all = mem_alloc(sizeof *all);

    scene_describe_dir(s, all, "", out);
    mem_free(all);
}

static inline void scene_remember(struct scene *s)
{
    strbuf_clear(&s->remembered);
    scene_describe(s, &s->remembered);
}

static inline void scene_assert_same(struct scene *s)
{
    AUTO(strbuf) struct strbuf now = {0};

    scene_describe(s, &now);
    assert_string_equal(strbuf_cstr(&now), strbuf_cstr(&s->remembered));
}

/* --- taking back --- */

static inline void scene_try_restore(struct scene *s, bool force)
{
    struct restore_options options = {.roots = s->roots,
                                      .n_roots = 1,
                                      .blobs = s->blobs,
                                      .max_file_bytes = s->max_restored,
                                      .force = force};

    assert_ok(
        snapshot_restore(s->images.items, s->images.n, &options, &s->arena, &s->plan, &s->report));
}

/* All of it must come back. */
static inline void scene_restore(struct scene *s)
{
    scene_try_restore(s, /* force= */ false);
    for (size_t i = 0; i < s->plan.n; i++)
        if (s->plan.items[i].why.n)
            fail_msg("%" STR_FMT ": %" STR_FMT, STR_ARG(s->plan.items[i].aim.path),
                     STR_ARG(s->plan.items[i].why));
}

static inline const struct pre_image *scene_image(struct scene *s, const char *name)
{
    const char *path = scene_path(s, name);

    for (size_t i = 0; i < s->images.n; i++)
        if (str_is(s->images.items[i].path, path))
            return &s->images.items[i];
    fail_msg("nothing is told of %s", name);
    return NULL;
}

static inline const struct restore_item *scene_item(struct scene *s, const char *name)
{
    const char *path = scene_path(s, name);

    for (size_t i = 0; i < s->plan.n; i++)
        if (str_is(s->plan.items[i].aim.path, path))
            return &s->plan.items[i];
    fail_msg("%s is not in the plan", name);
    return NULL;
}

#endif
