/* host.c - makes what a process has once, when it is first needed. */
#include "sdk/host.h"

#include "net/http1.h"
#include "net/route.h"
#include "net/tls.h"
#include "port/draft.h"
#include "store/open.h"
#include "store/sqlite.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/leftover.h"
#include "sys/log.h"
#include "sys/loop.h"
#include "sys/work.h"

#include <unistd.h>

struct host_client {
    struct host_client *next;
    char *extra_ca_file; /* NULL: none */
    struct http_client *http;
};

struct host_store {
    struct host_store *next;
    char *name; /* as it was given, where the store has no place */
    uint64_t timeout_ms;
    struct store *store;
    unsigned n_users;
};

struct warm_list {
    struct host_warm *newest, *oldest;
    size_t n;
};

struct host {
    unsigned n_refs;
    struct host_options options;
    struct arena arena;
    const char *home;
    struct log *log;
    struct work_beside *store_loader, *tls_loader; /* NULL: not begun */
    struct host_store *stores;
    struct warm_list warm, busy; /* those that could not be given back are busy */
    /* of the loop */
    struct loop *loop; /* NULL: none is used yet, or any more */
    struct loop_ending ending;
    struct group tasks;
    struct host_client *clients;
};

/* --- libraries that will be needed, each loaded by a thread meanwhile --- */

static void load_store(void *arg)
{
    err_ignore(store_sqlite_load(), "the first use reports it");
}

static void load_tls(void *arg)
{
    err_ignore(tls_load(), "the first request reports it");
}

void host_expect_request(struct host *h, struct str url)
{
    if (h->options.loads_ahead && !h->tls_loader && route_needs_tls(h->options.environment, url))
        h->tls_loader = work_beside_begin(load_tls, NULL);
}

/* --- the loop --- */

static void host_leave_loop(void *arg)
{
    struct host *h = arg;

    while (h->clients) {
        struct host_client *c = h->clients;

        h->clients = c->next;
        http_client_free(c->http);
        mem_free(c->extra_ca_file);
        mem_free(c);
    }
    group_cancel(&h->tasks);
    err_ignore(group_end(&h->tasks), "it was cancelled");
    loop_ending_stop(&h->ending);
    h->loop = NULL;
}

static void use_loop(struct host *h)
{
    if (h->loop) {
        BUG_IF(h->loop != task_loop());
        return;
    }
    h->loop = task_loop();
    group_begin_in(&h->tasks, NULL);
    loop_ending_start(&h->ending, h->loop, host_leave_loop, h);
}

struct group *host_tasks(struct host *h)
{
    use_loop(h);
    return &h->tasks;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

struct http_client *host_http(struct host *h, const char *extra_ca_file)
{
    struct http1_options options = {
        .ca = {.environment = h->options.environment, .extra_file = extra_ca_file}};
    struct host_client *c = h->clients;

    use_loop(h);
    while (c && !is_same_text(c->extra_ca_file, extra_ca_file))
        c = c->next;
    if (c)
        return c->http;
    c = mem_alloc(sizeof *c);
    *c = (struct host_client){.next = h->clients, .http = http1_client_new(&options)};
    c->extra_ca_file = extra_ca_file ? mem_strdup(extra_ca_file) : NULL;
    c->http->trace = h->options.trace;
    h->clients = c;
    return c->http;
}

/* --- stores --- */

static struct host_store *find_store(const struct host *h, const struct store *s,
                                     const struct host_store *wanted)
{
    struct host_store *o = h->stores;

    while (o && !(o->store->ops == s->ops && o->timeout_ms == wanted->timeout_ms &&
                  is_same_text(o->store->place, s->place) && is_same_text(o->name, wanted->name)))
        o = o->next;
    return o;
}

struct err *host_open_store(struct host *h, struct str name, uint64_t timeout_ms,
                            struct store **ret_store, bool *ret_is_kept)
{
    AUTO(arena) struct arena a = {0};
    AUTO(store) struct store *s = NULL;
    bool is_kept = !str_is(name, "memory:") && (name.n || h->home);
    const char *url = is_kept ? arena_cstr(&a, name) : "memory:";
    struct host_store wanted = {.timeout_ms = timeout_ms, .n_users = 1}, *o;

    TRY(store_from_url(url, h->home ? h->home : ".", timeout_ms, &s));
    wanted.name = s->place ? NULL : arena_cstr(&a, name);
    *ret_is_kept = is_kept;
    o = is_kept ? find_store(h, s, &wanted) : NULL;
    if (o) {
        o->n_users++;
        *ret_store = o->store;
        return NULL;
    }
    wanted.name = wanted.name ? mem_strdup(wanted.name) : NULL;
    wanted.next = h->stores;
    *ret_store = wanted.store = TAKE(s);
    h->stores = mem_copy(&wanted, sizeof wanted);
    drafts_sweep(*ret_store); /* waits: others share the store already */
    return NULL;
}

void host_close_store(struct host *h, struct store *s)
{
    struct host_store **at = &h->stores, *o;

    if (!s)
        return;
    while (*at && (*at)->store != s)
        at = &(*at)->next;
    o = *at;
    BUG_IF(!o);
    if (--o->n_users)
        return;
    *at = o->next;
    store_free(o->store);
    mem_free(o->name);
    mem_free(o);
}

/* --- what is kept warm --- */

static void warm_list_add(struct warm_list *l, struct host_warm *w)
{
    w->in = l;
    w->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = w;
    l->newest = w;
    l->n++;
}

void host_take_warm(struct host_warm *w)
{
    struct warm_list *l = w->in;

    if (!l)
        return;
    *(w->newer ? &w->newer->older : &l->newest) = w->older;
    *(w->older ? &w->older->newer : &l->oldest) = w->newer;
    w->newer = w->older = NULL;
    w->in = NULL;
    l->n--;
}

static void cool(struct host *h, struct host_warm *w)
{
    host_take_warm(w);
    if (!w->cool(w))
        warm_list_add(&h->busy, w);
}

/* Of the busy ones two are tried again: so however many there are, they are no work, and they
 * become fewer as soon as they can. */
void host_keep_warm(struct host *h, struct host_warm *w)
{
    for (int i = 0; i < 2 && h->busy.oldest; i++)
        cool(h, h->busy.oldest);
    host_take_warm(w);
    warm_list_add(&h->warm, w);
    while (h->warm.n > HOST_MAX_WARM)
        cool(h, h->warm.oldest);
}

/* --- its life --- */

static const char *find_home(struct host *h)
{
    const char *keel_home = env_find(h->options.environment, "KEEL_HOME"),
               *home = env_find(h->options.environment, "HOME");

    if (keel_home)
        return arena_cstr(&h->arena, str_of(keel_home));
    /* That directory is keel's to make, the home is not. */
    return home && home[0] == '/' && fs_is_dir(home) ? arena_format(&h->arena, "%s/.keel", home).p
                                                     : NULL;
}

/* What this process must be able to leave behind when it is killed, and what others left. */
static void watch_leftovers(const struct host *h)
{
    AUTO(arena) struct arena a = {0};
    const char *dir = h->home ? fs_join(&a, h->home, LEFTOVER_DIR) : NULL;

    if (!dir)
        return;
    leftover_keep_in(dir);
    leftover_sweep(dir);
}

struct host *host_new(const struct host_options *options)
{
    struct host *h = mem_alloc(sizeof *h);

    h->n_refs = 1;
    h->options = *options;
    if (options->loads_ahead)
        h->store_loader = work_beside_begin(load_store, NULL);
    if (!h->options.environment)
        h->options.environment = (const char *const *)environ;
    h->home = find_home(h);
    watch_leftovers(h);
    return h;
}

struct host *host_ref(struct host *h)
{
    h->n_refs++;
    return h;
}

void host_unref(struct host *h)
{
    if (!h || --h->n_refs)
        return;
    BUG_IF(h->stores || h->warm.n || h->busy.n);
    work_beside_end(h->store_loader);
    work_beside_end(h->tls_loader);
    if (h->loop)
        host_leave_loop(h);
    log_free(h->log);
    arena_done(&h->arena);
    leftover_end();
    mem_free(h);
}

const char *const *host_environment(const struct host *h)
{
    return h->options.environment;
}

const struct random *host_random(const struct host *h)
{
    return h->options.random;
}

struct log *host_log(const struct host *h)
{
    return h->log;
}

void host_set_log(struct host *h, struct log *take_log)
{
    log_free(h->log);
    h->log = take_log;
}

const char *host_home(const struct host *h)
{
    return h->home;
}
