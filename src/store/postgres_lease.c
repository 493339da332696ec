/* postgres_lease.c - takes leases and gives them back, and finds out what became of one.
 *
 * A lease is a row: its owner, how often it was taken (fence), and its end by the clock of the
 * server. It does not depend on a connection. A holder that renews too late gets it back as long as
 * no other has taken it: the fence is then still its own. */
#include "store/postgres_store.h"

#include "store/record_sum.h"

#include <stdio.h>
#include <unistd.h>

static struct postgres_lease *find_lease(const struct postgres_store *p, struct str id)
{
    struct postgres_lease *l = p->leases;

    while (l && !str_is(id, l->id))
        l = l->next;
    return l;
}

void postgres_forget_lease(struct postgres_store *p, struct str id)
{
    struct postgres_lease **at = &p->leases, *l = find_lease(p, id);

    if (!l)
        return;
    pthread_mutex_lock(&p->renewer.lock);
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&p->renewer.lock);
    mem_free(l->id);
    mem_free(l);
}

static struct err *remember_lease(struct postgres_store *p, struct str id, uint64_t fence)
{
    struct postgres_lease *l = mem_alloc(sizeof *l);

    *l = (struct postgres_lease){.next = p->leases, .id = str_dup(id), .fence = fence};
    pthread_mutex_lock(&p->renewer.lock);
    p->leases = l;
    pthread_mutex_unlock(&p->renewer.lock);
    return postgres_start_renewing(p);
}

/* --- the state of a lease --- */

static struct err *held_by(struct str id, struct str holder)
{
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open in %" STR_FMT, STR_ARG(id),
                            STR_ARG(holder)),
                    "close it there, or continue in a copy: keel session fork %" STR_FMT
                    ", or keel -p -r %" STR_FMT " --fork-session PROMPT; if that process was "
                    "killed, the session is free a few seconds later",
                    STR_ARG(id), STR_ARG(id));
}

struct err *postgres_written_by_others(struct str root)
{
    return err_hint(
        err_new(ERR_STORAGE, "session %" STR_FMT " was opened by another process", STR_ARG(root)),
        "open it again, or continue in a copy of it with --fork-session");
}

struct err *postgres_look_at_lease(struct postgres_store *p, struct str stream, uint64_t fence,
                                   struct arena *a, struct postgres_standing *ret)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    *ret = (struct postgres_standing){0};
    postgres_text(&args, stream);
    TRY(postgres_ask(&p->writer, PG_STREAM, &args, &rows));
    if (rows.n == 0)
        return NULL;
    *ret = (struct postgres_standing){
        .exists = true,
        .next_seq = (uint64_t)postgres_row_int(&rows, 0, 1),
        .root = arena_str(a, postgres_row_text(&rows, 0, 4)),
        .holder = arena_str(a, postgres_row_text(&rows, 0, 5)),
        .parent = arena_str(a, postgres_row_text(&rows, 0, 7)),
        .is_ours = (uint64_t)postgres_row_int(&rows, 0, 2) == fence &&
                   str_is(postgres_row_text(&rows, 0, 3), p->owner),
        .is_held = postgres_row_text(&rows, 0, 3).n > 0 && postgres_row_bool(&rows, 0, 6),
    };
    return NULL;
}

struct err *postgres_renew(struct postgres_conn *c, const char *owner, uint64_t lease_ms,
                           const struct str *ids, const uint64_t *fences, size_t n)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    AUTO(strbuf) struct strbuf array = {0};

    postgres_text(&args, str_of(owner));
    for (size_t i = 0; i < n; i++)
        postgres_array_text(&array, &args, ids[i]);
    postgres_array_end(&array, &args);
    for (size_t i = 0; i < n; i++)
        postgres_array_int(&array, (int64_t)fences[i]);
    postgres_array_end(&array, &args);
    postgres_int(&args, (int64_t)lease_ms);
    return postgres_ask(c, PG_RENEW, &args, &rows);
}

/* --- opening and closing --- */

void postgres_add_new(struct postgres_args *args, const struct store_summary *s, struct str id)
{
    postgres_int(args, s->created_ms);
    postgres_int(args, s->updated_ms);
    postgres_text(args, s->cwd);
    postgres_text(args, s->name);
    postgres_text(args, s->provider);
    postgres_text(args, s->model);
    postgres_text(args, s->preview);
    postgres_int(args, (int64_t)s->n_messages);
    postgres_text(args, id);
}

static struct err *try_lease(struct postgres_store *p, enum postgres_statement s, struct str id,
                             const struct store_summary *create, struct arena *texts,
                             struct store_lease *lease, bool *ret_taken)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    char holder[160], host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(holder, sizeof holder, "process %ld on %s", (long)getpid(),
             *host ? host : "a machine");
    if (create)
        postgres_add_new(&args, create, id);
    else
        postgres_text(&args, id);
    postgres_text(&args, str_of(p->owner));
    postgres_text(&args, str_of(holder));
    postgres_int(&args, (int64_t)p->lease_ms);
    TRY(postgres_ask(&p->writer, s, &args, &rows));
    *ret_taken = rows.n > 0;
    if (rows.n)
        *lease = (struct store_lease){.fence = (uint64_t)postgres_row_int(&rows, 0, 0),
                                      .next_seq = (uint64_t)postgres_row_int(&rows, 0, 1),
                                      .is_new = create != NULL};
    if (rows.n && !postgres_row_bool(&rows, 0, 2))
        lease->notice = row_damaged(texts, id, "the database");
    return NULL;
}

/* A session that another process has taken over may be opened again. */
static struct err *is_open_here(struct postgres_store *p, struct str id)
{
    AUTO(arena) struct arena a = {0};
    const struct postgres_lease *l = find_lease(p, id);
    struct postgres_standing now;

    if (!l)
        return NULL;
    TRY(postgres_look_at_lease(p, id, l->fence, &a, &now));
    if (!now.is_ours) {
        postgres_forget_lease(p, id);
        return NULL;
    }
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open already", STR_ARG(id)),
                    "close it there, or continue in a copy: keel session fork %" STR_FMT
                    ", or keel -p -r %" STR_FMT " --fork-session PROMPT",
                    STR_ARG(id), STR_ARG(id));
}

static struct err *take_or_create(struct postgres_store *p, struct str id,
                                  const struct store_summary *create, struct arena *texts,
                                  struct store_lease *lease)
{
    AUTO(arena) struct arena a = {0};
    struct postgres_standing now;
    bool taken;

    TRY(try_lease(p, PG_LEASE, id, NULL, texts, lease, &taken));
    if (!taken && create)
        TRY(try_lease(p, PG_CREATE, id, create, texts, lease, &taken));
    if (taken)
        return NULL;
    TRY(postgres_look_at_lease(p, id, 0, &a, &now));
    if (!now.exists)
        return store_no_session(id);
    return held_by(id, now.holder);
}

/* The answer may have been lost with the connection: this store may take again what it has
 * taken. */
struct err *postgres_open(struct postgres_store *p, struct str id,
                          const struct store_summary *create, struct arena *a,
                          struct store_lease *ret_lease)
{
    struct err *e;

    TRY(is_open_here(p, id));
    e = take_or_create(p, id, create, a, ret_lease);
    if (postgres_may_retry(&p->writer, e)) {
        err_ignore(e, "the second try tells");
        e = take_or_create(p, id, create, a, ret_lease);
    }
    return e ? e : remember_lease(p, id, ret_lease->fence);
}

void postgres_close(struct postgres_store *p, struct str id, uint64_t fence)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    const struct postgres_lease *l = find_lease(p, id);

    if (!l || l->fence != fence)
        return;
    postgres_forget_lease(p, id);
    if (!p->leases)
        postgres_stop_renewing(p);
    postgres_text(&args, id);
    postgres_text(&args, str_of(p->owner));
    postgres_int(&args, (int64_t)fence);
    err_ignore(postgres_ask(&p->writer, PG_UNLEASE, &args, &rows), "it runs out by itself");
}

struct err *postgres_cannot_remove(struct postgres_store *p, const struct postgres_standing *now)
{
    if (find_lease(p, now->root))
        return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open", STR_ARG(now->root)),
                        "close it first");
    return held_by(now->root, now->holder);
}
