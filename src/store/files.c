/* files.c - the store over plain files: what the port asks for, done in workers. */
#include "store/files.h"

#include "store/blob_files.h"
#include "store/files_store.h"
#include "sys/fs.h"
#include "sys/work.h"

struct files_payloads {
    struct files_payloads *next;
    struct blob_store *blobs;
    char *id;
};

/* --- the time --- */

struct belief_call {
    const char *dir;
    struct store_belief belief;
};

static struct err *belief_read(void *arg)
{
    struct belief_call *c = arg;

    return files_belief_read(c->dir, &c->belief);
}

static struct err *files_read_belief(struct store *store, struct store_belief *ret_belief)
{
    struct belief_call c = {.dir = files_of(store)->dir};

    TRY(work_run(belief_read, &c));
    *ret_belief = c.belief;
    return NULL;
}

static struct err *belief_write(void *arg)
{
    struct belief_call *c = arg;

    TRY(fs_make_dirs(c->dir, 0700));
    return files_belief_write(c->dir, &c->belief);
}

static struct err *files_write_belief(struct store *store, const struct store_belief *b)
{
    struct belief_call c = {.dir = files_of(store)->dir, .belief = *b};

    return work_run(belief_write, &c);
}

/* --- all sessions --- */

struct remove_call {
    const char *dir;
    struct str id;
};

static struct err *tree_remove(void *arg)
{
    struct remove_call *c = arg;

    return fs_exists(c->dir) ? files_removal_run(c->dir, c->id) : NULL;
}

static struct err *files_remove(struct store *store, struct str id)
{
    struct files_store *f = files_of(store);
    struct remove_call c = {f->dir, id};

    /* Another session may get the same id, and a directory of that name. */
    for (size_t i = 0; i < FILES_BUCKETS; i++)
        for (struct files_payloads *p = f->payloads[i]; p; p = p->next)
            blob_files_forget_dir(p->blobs);
    return work_run(tree_remove, &c);
}

static struct err *dir_sweep(void *arg)
{
    files_removal_sweep(arg);
    return NULL;
}

static struct err *files_sweep(struct store *store)
{
    return work_run(dir_sweep, files_of(store)->dir);
}

static struct err *index_rebuild(void *arg)
{
    const char *dir = arg;

    return fs_exists(dir) ? files_index_rebuild(dir) : NULL;
}

static struct err *files_rebuild(struct store *store)
{
    return work_run(index_rebuild, files_of(store)->dir);
}

/* --- beside the log --- */

static struct blob_store *files_blobs(struct store *store, struct str stream)
{
    struct files_store *f = files_of(store);
    AUTO(arena) struct arena a = {0};
    struct files_payloads **at = &f->payloads[files_bucket(stream)], *p;

    BUG_IF(!store_id_is_valid(stream));
    for (p = *at; p; p = p->next)
        if (str_is(stream, p->id))
            return p->blobs;
    p = mem_alloc(sizeof *p);
    *p = (struct files_payloads){.next = *at, .id = str_dup(stream)};
    p->blobs = blob_files_flat_new(
        arena_format(&a, "%s/%" STR_FMT FILES_PAYLOADS, f->dir, STR_ARG(stream)).p, ".json", 0);
    *at = p;
    return p->blobs;
}

static struct err *dir_make(void *arg)
{
    return fs_make_dirs(arg, 0700);
}

static struct err *files_record_path(struct store *store, struct str id, struct arena *a,
                                     const char **ret_path)
{
    char path[FILES_MAX_PATH];

    if (!store_id_is_valid(id))
        return store_no_session(id);
    TRY(files_path(path, files_of(store)->dir, id, ".json"));
    TRY(work_run(dir_make, files_of(store)->dir));
    *ret_path = arena_cstr(a, str_of(path));
    return NULL;
}

/* The directory may hold other files, too. The store owns the index, and names that begin with the
 * id of a session. */
static bool files_owns(const struct store *store, struct str path)
{
    struct str dir = str_of(store->place), name;

    if (!str_starts(path, dir) || path.n < dir.n + 2 || path.p[dir.n] != '/')
        return false;
    path = str_skip(path, dir.n + 1);
    return str_split(&path, '/', &name) &&
           (str_starts(name, S(".index")) || str_is(name, ".locks") || str_is(name, ".clock") ||
            files_is_name(name));
}

/* --- the store --- */

static void files_free(struct store *store)
{
    struct files_store *f = files_of(store);

    files_free_streams(f);
    for (size_t i = 0; i < FILES_BUCKETS; i++)
        while (f->payloads[i]) {
            struct files_payloads *p = f->payloads[i];

            f->payloads[i] = p->next;
            blob_store_free(p->blobs);
            mem_free(p->id);
            mem_free(p);
        }
    mem_free(f->lock_dir);
    mem_free(f->dir);
    mem_free(f);
}

struct store *store_files_new(const char *dir)
{
    static const struct store_ops ops = {
        .name = "files",
        .open = files_open,
        .close = files_close,
        .add_child = files_add_child,
        .append = files_append,
        .read = files_read,
        .find = files_find,
        .list = files_list,
        .search = files_search,
        .remove = files_remove,
        .sweep = files_sweep,
        .update = files_update,
        .rebuild = files_rebuild,
        .clamp_times = files_clamp_times,
        .read_belief = files_read_belief,
        .write_belief = files_write_belief,
        .blobs = files_blobs,
        .check = files_check,
        .check_all = files_check_all,
        .record_path = files_record_path,
        .owns = files_owns,
        .free = files_free,
    };
    AUTO(arena) struct arena a = {0};
    struct files_store *f = mem_alloc(sizeof *f);

    f->store.ops = &ops;
    f->dir = mem_strdup(dir);
    f->lock_dir = mem_strdup(files_lock_dir(&a, dir));
    return &f->store;
}
