/* scene.h - a workspace, a snapshotter, and calls that change files.
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

#include "snapshot/compare.h"
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
    struct restore_plan plan;
    struct restore_report report;
    bool is_busy;
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
    return record;
}

static inline void scene_end(struct scene *s, struct snapshot_record *record)
{
    struct snapshot_changes changes;

    assert_ok(snapshot_end(s->snapshotter, TAKE(record->snapshot), &s->arena, &changes));
    if (changes.note.n)
        s->note = changes.note;
    for (size_t i = 0; i < changes.images.n; i++)
        pre_images_add(&s->images, &s->arena, changes.images.items[i]);
}

static inline void scene_command(struct scene *s, const char *line)
{
    struct snapshot_record record = scene_begin(s, &scene_bash, NULL);

    scene_shell(s, line);
    scene_end(s, &record);
}

static inline const char *scene_path(struct scene *s, const char *name)
{
    return arena_format(&s->arena, "%s/%s", s->workspace, name).p;
}

/* --- the tree, byte for byte --- */

static inline void scene_describe(struct scene *s, struct strbuf *out)
{
    const char *line =
        arena_format(&s->arena,
                     "cd '%s' && find . -mindepth 1 -printf '%%P %%y %%m %%l\\n' | LC_ALL=C sort; "
                     "find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum",
                     s->workspace)
            .p;
    FILE *file = popen(line, "r");
    char text[4096];
    size_t n;

    assert_non_null(file);
    while ((n = fread(text, 1, sizeof text, file)) > 0)
        strbuf_add(out, str_make(text, n));
    assert_int_equal(pclose(file), 0);
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
    struct restore_options options = {
        .roots = s->roots, .n_roots = 1, .blobs = s->blobs, .force = force};

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
