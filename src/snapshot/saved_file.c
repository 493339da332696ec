/* saved_file.c - saves the one file of a call, and notes the directories that the call creates for
 * it. */
#include "snapshot/snapshotter_internal.h"

/* The directory `n` names above the path, in the arena. */
static char *path_above(struct arena *a, const char *path, size_t n)
{
    char *dir = arena_cstr(a, str_of(path));

    while (n--) {
        char *slash = strrchr(dir, '/');

        if (!slash || slash == dir)
            return NULL;
        *slash = '\0';
    }
    return dir;
}

static size_t count_missing(const char *path)
{
    AUTO(arena) struct arena a = {0};
    size_t n = 0;
    char *dir;

    while ((dir = path_above(&a, path, n + 1))) {
        struct file_state f = {.path = dir};

        if (!state_look(&f) || f.kind != IMAGE_NONE)
            break;
        n++;
    }
    return n;
}

/* Adds the directories that the call has created for its file. */
static void add_made_dirs(const char *path, size_t n_missing, struct arena *a,
                          struct pre_images *images)
{
    for (size_t n = n_missing; n > 0; n--) {
        const char *dir = path_above(a, path, n);
        struct file_state before = {.path = dir}, now = {.path = dir};

        if (dir && state_look(&now) && now.kind == IMAGE_DIRECTORY)
            pre_images_add(images, a, state_image(a, &before, /* keeps_content= */ false, &now));
    }
}

struct err *saved_file_save(struct saved_file *s, struct blob_store *blobs)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = SNAPSHOT_MAX_ONE_FILE + (1 << 18)};
    struct file_state *f = &s->before;
    char handle[SHA256_HEX_SIZE];

    if (!state_look(f))
        f->why_not = "keel has no access to it";
    s->n_missing = count_missing(f->path);
    TRY(state_save_xattrs(f, blobs));
    if (!state_has_content(f))
        return NULL;
    TRY(state_read(f, SNAPSHOT_MAX_ONE_FILE, NULL, &bytes));
    if (!f->is_known)
        return NULL;
    TRY(blob_put(blobs, strbuf_str(&bytes), handle));
    f->is_saved = true;
    return NULL;
}

struct err *saved_file_compare(const struct saved_file *s, struct arena *a,
                               struct pre_images *images)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = SNAPSHOT_MAX_ONE_FILE + (1 << 18)};
    struct file_state now = {.path = s->before.path};

    add_made_dirs(now.path, s->n_missing, a, images);
    if (state_look(&now) && state_has_content(&now))
        TRY(state_read(&now, SNAPSHOT_MAX_ONE_FILE, NULL, &bytes));
    if (!state_eq(&s->before, &now))
        pre_images_add(images, a, state_image(a, &s->before, /* keeps_content= */ false, &now));
    return NULL;
}
