/* proxy.c - takes the connections of commands, as many as there may be. */
#include "sandbox/proxy/proxy.h"

#include "exec/protocol.h"
#include "sandbox/proxy/parts.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_LOOKUPS = 2,   /* at once: others need workers too */
    NO_FILES_MS = 100, /* to wait when keel may open no more files */
};

#define TEXT_OF(number) #number
#define NUMBER(macro) TEXT_OF(macro)
#define ADDRESS "http://127.0.0.1:" NUMBER(EXEC_PROXY_PORT)

/* --- its variables --- */

static const char *const by_address[] = {
    "HTTP_PROXY", "http_proxy", "HTTPS_PROXY",      "https_proxy",
    "ALL_PROXY",  "all_proxy",  "npm_config_proxy", "npm_config_https_proxy",
};
static const char *const by_exceptions[] = {"NO_PROXY", "no_proxy", "npm_config_noproxy"};

const char *const *proxy_variables(const struct proxy *p, struct arena *a)
{
    size_t n = 0, n_all = ARRAY_LEN(by_address) + ARRAY_LEN(by_exceptions) + 2;
    const char **all = ARENA_ARRAY(a, n_all, const char *);
    AUTO(strbuf) struct strbuf direct = {0};

    for (const char *const *host = loopback_hosts; *host; host++)
        if (!net_rules_name(p->options.rules, str_of(*host)))
            strbuf_addf(&direct, "%s%s", direct.n ? "," : "", *host);
    for (size_t i = 0; i < ARRAY_LEN(by_address); i++)
        all[n++] = arena_format(a, "%s=" ADDRESS, by_address[i]).p;
    for (size_t i = 0; i < ARRAY_LEN(by_exceptions); i++)
        all[n++] = arena_format(a, "%s=%s", by_exceptions[i], strbuf_cstr(&direct)).p;
    all[n++] = "NODE_USE_ENV_PROXY=1";
    all[n] = NULL;
    return all;
}

const struct net_rules *proxy_rules(const struct proxy *p)
{
    return p->options.rules;
}

/* --- a bound, as a channel of items --- */

static struct chan *make_items(size_t n)
{
    struct chan *items = chan_new(n);

    while (chan_try_send(items, items))
        continue;
    return items;
}

struct err *proxy_acquire(struct chan *items)
{
    bool is_open;
    void *item;

    return chan_receive(items, &item, &is_open);
}

void proxy_release(struct chan *items)
{
    BUG_IF(!chan_try_send(items, items));
}

/* --- accepting --- */

struct listener {
    struct proxy *proxy;
    int fd;
};

static void listener_free(struct listener *l)
{
    close(l->fd);
    mem_free(l);
}
DEFINE_AUTO_PTR(listener, listener_free)

/* Somebody who has gone meanwhile is no error; nor is a lack of files, which may pass. */
static struct err *await_connection(const struct listener *l, int *ret_fd)
{
    for (;;) {
        TRY(task_wait_fd(l->fd, TASK_FD_READ, NULL));
        *ret_fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (*ret_fd >= 0)
            return NULL;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            TRY(task_sleep(NO_FILES_MS));
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            return err_errno(ERR_NETWORK, errno, "the proxy for commands stopped");
    }
}

static struct err *accept_all(void *arg)
{
    AUTO(listener) struct listener *l = arg;

    for (;;) {
        struct err *e;
        int fd;

        TRY(proxy_acquire(l->proxy->slots));
        e = await_connection(l, &fd);
        if (e) {
            proxy_release(l->proxy->slots);
            return e;
        }
        proxy_connection_start(l->proxy, fd);
    }
}

void proxy_listen(struct proxy *p, int take_fd)
{
    struct listener *l = mem_alloc(sizeof *l);

    *l = (struct listener){p, take_fd};
    group_spawn(p->options.group, "proxy", accept_all, l);
}

/* --- telling --- */

void proxy_tell(struct proxy *p, struct str host, const struct err *why)
{
    for (size_t i = 0; i < p->n_told; i++)
        if (str_eq(p->told[i], host))
            return;
    if (!p->options.on_refusal || p->n_told == PROXY_MAX_TOLD)
        return;
    p->told[p->n_told++] = arena_str(&p->arena, host);
    p->options.on_refusal(p->options.self, host, why);
}

/* --- its life --- */

struct proxy *proxy_new(const struct proxy_options *options)
{
    struct proxy *p = mem_alloc(sizeof *p);

    p->options = *options;
    p->slots = make_items(PROXY_MAX_CONNECTIONS);
    p->lookups = make_items(MAX_LOOKUPS);
    proxy_settings_read(&p->arena, options->environment, &p->own);
    return p;
}

void proxy_free(struct proxy *p)
{
    if (!p)
        return;
    chan_free(p->slots);
    chan_free(p->lookups);
    arena_done(&p->arena);
    mem_free(p);
}
