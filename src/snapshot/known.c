/* known.c - the last full list of a workspace's files, for the next process.
 *
 * HOME/snapshots/ID holds "HANDLE TAKEN_NS": the manifest, and when it was taken. It only saves
 * work: whatever is wrong with it, the files are read again. */
#include "snapshot/keeper.h"

#include "sys/fs.h"

#define MAX_BYTES 256

static bool parse(struct str text, struct str *ret_handle, int64_t *ret_taken_ns)
{
    struct str rest = str_trim(text);

    return str_split(&rest, ' ', ret_handle) && blob_handle_is_valid(*ret_handle) &&
           str_to_int64(rest, ret_taken_ns);
}

static struct err *read_known(struct keeper *k)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_BYTES};
    AUTO(file_tree) struct file_tree *t = NULL;
    struct str handle;
    int64_t taken_ns;
    bool exists;

    TRY(fs_read(k->known_file, &text, &exists));
    if (!exists || !parse(strbuf_str(&text), &handle, &taken_ns))
        return NULL;
    TRY(manifest_load(k->blobs, handle, &t));
    t->taken_ns = taken_ns;
    k->base.tree = file_tree_ref(t);
    memcpy(k->base.handle, handle.p, handle.n);
    k->latest = TAKE(t);
    return NULL;
}

void known_read(struct keeper *k)
{
    if (!k->was_read && k->known_file && !k->latest)
        err_ignore(read_known(k), "the files are read again");
    k->was_read = true;
}

static struct err *write_known(struct keeper *k, int64_t taken_ns)
{
    AUTO(arena) struct arena a = {0};
    char *dir = arena_cstr(&a, str_of(k->known_file));

    *strrchr(dir, '/') = '\0';
    TRY(fs_make_dirs(dir, 0700));
    return fs_write_atomic(
        k->known_file, arena_format(&a, "%s %lld\n", k->base.handle, (long long)taken_ns), 0600);
}

void known_write(struct keeper *k, int64_t taken_ns)
{
    if (k->known_file)
        err_ignore(write_known(k, taken_ns), "the next process reads the files again");
}

/* Retention may have removed some since. */
void known_check(struct keeper *k, struct file_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct file_state *f = &t->files[i];
        char hex[SHA256_HEX_SIZE];
        uint64_t n_bytes;
        struct err *e;

        if (!f->is_saved)
            continue;
        sha256_format_hex(f->digest, hex);
        e = blob_size(k->blobs, str_of(hex), &n_bytes);
        f->is_saved = !e;
        err_ignore(e, "it is saved again");
    }
}
