/* postgres_lease.c - taking, keeping and losing leases. */
#include "store/postgres_store.h"

#include <stdio.h>
#include <unistd.h>

/* The server sees that a process is gone a moment after it is. */
#define N_LOCK_TRIES 20
#define LOCK_PAUSE_MS 25

struct postgres_lease *postgres_find_lease(const struct postgres_store *p, struct str id)
{
    struct postgres_lease *l = p->leases;

    while (l && !str_is(id, l->id))
        l = l->next;
    return l;
}

static void forget(struct postgres_store *p, struct postgres_lease *l)
{
    struct postgres_lease **at = &p->leases;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    mem_free(l->id);
    mem_free(l);
}

/* --- the lock --- */

static struct err *is_held(struct postgres_store *p, struct str id)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    struct str holder;

    postgres_text(&args, id);
    TRY(postgres_ask(&p->writer, PG_HOLDER, &args, &rows));
    holder = rows.n ? postgres_row_text(&rows, 0, 0) : (struct str){0};
    if (holder.n == 0)
        holder = S("another process");
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open in %" STR_FMT, STR_ARG(id),
                            STR_ARG(holder)),
                    "close it there, or go on in a copy of it with --fork-session");
}

static struct err *try_lock(struct postgres_store *p, struct str id, bool *ret_locked)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, id);
    TRY(postgres_ask(&p->writer, PG_LOCK, &args, &rows));
    *ret_locked = postgres_row_bool(&rows, 0, 0);
    return NULL;
}

/* Others are served meanwhile. */
static struct err *pause_between(struct postgres_store *p)
{
    struct err *e;

    postgres_give_turn(&p->writer);
    e = task_sleep(LOCK_PAUSE_MS);
    task_shield_begin();
    err_ignore(postgres_take_turn(&p->writer), "nothing interrupts a shielded wait");
    task_shield_end();
    return e;
}

struct err *postgres_lock(struct postgres_store *p, struct str id)
{
    bool locked;

    for (unsigned i = 0; i < N_LOCK_TRIES; i++) {
        TRY(try_lock(p, id, &locked));
        if (locked)
            return NULL;
        TRY(pause_between(p));
    }
    return is_held(p, id);
}

void postgres_unlock(struct postgres_store *p, struct str id)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    if (!p->writer.handle)
        return; /* the lock went with the connection */
    postgres_text(&args, id);
    err_ignore(postgres_ask(&p->writer, PG_UNLOCK, &args, &rows), "the same");
}

/* --- sessions --- */

struct err *postgres_create(struct postgres_store *p, struct str id, struct str root,
                            const struct store_summary *s, bool *ret_created)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, id);
    postgres_text(&args, s->parent);
    postgres_text(&args, root);
    postgres_int(&args, s->created_ms);
    postgres_int(&args, s->updated_ms);
    postgres_text(&args, s->cwd);
    postgres_text(&args, s->name);
    postgres_text(&args, s->provider);
    postgres_text(&args, s->model);
    postgres_text(&args, s->preview);
    postgres_int(&args, (int64_t)s->n_messages);
    TRY(postgres_ask(&p->writer, PG_CREATE, &args, &rows));
    *ret_created = rows.n > 0;
    return NULL;
}

static void name_holder(char out[160])
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(out, 160, "process %ld on %s", (long)getpid(), *host ? host : "a machine");
}

static struct err *new_fence(struct postgres_store *p, struct str id, struct store_lease *lease,
                             bool *ret_found)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    char holder[160];

    name_holder(holder);
    postgres_text(&args, id);
    postgres_text(&args, str_of(holder));
    TRY(postgres_ask(&p->writer, PG_LEASE, &args, &rows));
    *ret_found = rows.n > 0;
    if (rows.n) {
        lease->fence = (uint64_t)postgres_row_int(&rows, 0, 0);
        lease->next_seq = (uint64_t)postgres_row_int(&rows, 0, 1);
    }
    return NULL;
}

static struct err *lease_locked(struct postgres_store *p, struct str id,
                                const struct store_summary *create, struct store_lease *lease)
{
    bool found;

    TRY(new_fence(p, id, lease, &found));
    if (found)
        return NULL;
    if (!create)
        return postgres_no_session(id);
    TRY(postgres_create(p, id, id, create, &lease->is_new));
    return new_fence(p, id, lease, &found);
}

static struct err *is_open_here(struct postgres_store *p, struct str id)
{
    const struct postgres_lease *l = postgres_find_lease(p, id);

    if (!l || l->generation != p->writer.generation)
        return NULL;
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open already", STR_ARG(id)),
                    "close it there, or go on in a copy of it with --fork-session");
}

static void remember(struct postgres_store *p, struct str id, uint64_t fence)
{
    struct postgres_lease *l = postgres_find_lease(p, id);

    if (l)
        forget(p, l); /* it was lost */
    l = mem_alloc(sizeof *l);
    *l = (struct postgres_lease){
        .next = p->leases, .id = str_dup(id), .fence = fence, .generation = p->writer.generation};
    p->leases = l;
}

struct err *postgres_open(struct postgres_store *p, struct str id,
                          const struct store_summary *create, struct store_lease *ret_lease)
{
    struct err *e;

    TRY(postgres_connect(&p->writer));
    TRY(is_open_here(p, id));
    TRY(postgres_lock(p, id));
    e = is_open_here(p, id); /* another task was faster: the lock lets its own connection in */
    if (!e)
        e = lease_locked(p, id, create, ret_lease);
    if (e)
        postgres_unlock(p, id);
    else
        remember(p, id, ret_lease->fence);
    return e;
}

static void unlease(struct postgres_store *p, struct str id, uint64_t fence)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, id);
    postgres_int(&args, (int64_t)fence);
    err_ignore(postgres_ask(&p->writer, PG_UNLEASE, &args, &rows), "the lock tells");
}

void postgres_close(struct postgres_store *p, struct str id, uint64_t fence)
{
    struct postgres_lease *l = postgres_find_lease(p, id);

    if (!l || l->fence != fence)
        return;
    if (p->writer.handle && l->generation == p->writer.generation) {
        unlease(p, id, fence);
        postgres_unlock(p, id);
    }
    forget(p, l);
}
