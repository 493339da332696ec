/* http1.c - the client itself: options, TLS contexts, life cycle. */
#include "net/http1_client.h"

struct http1_tls {
    struct http1_tls *next;
    struct tls_context *context;
};

struct err *http1_client_tls(struct http1_client *c, const struct http_identity *identity,
                             struct tls_context **ret_context)
{
    struct http1_tls *t = c->contexts;
    struct tls_context *context;

    while (t && !tls_context_is_for(t->context, identity))
        t = t->next;
    if (!t) {
        if (!c->trust)
            TRY(tls_trust_new(&c->options.ca, &c->trust));
        TRY(tls_context_new(c->trust, identity, &context));
        t = mem_alloc(sizeof *t);
        t->context = context;
        t->next = c->contexts;
        c->contexts = t;
    }
    *ret_context = t->context;
    return NULL;
}

static void http1_client_free(struct http_client *http)
{
    struct http1_client *c = (struct http1_client *)http;

    BUG_IF(c->n_exchanges);
    connections_free(c);
    name_cache_free(c->names);
    while (c->contexts) {
        struct http1_tls *t = c->contexts;

        c->contexts = t->next;
        tls_context_free(t->context);
        mem_free(t);
    }
    tls_trust_free(c->trust);
    arena_done(&c->arena);
    mem_free(c);
}

static const char *keep_path(struct arena *a, const char *path)
{
    return path ? arena_cstr(a, str_of(path)) : NULL;
}

struct http_client *http1_client_new(const struct http1_options *options)
{
    static const struct http_ops ops = {
        .name = "http1",
        .open = exchange_open,
        .read = exchange_read,
        .close = exchange_close,
        .free = http1_client_free,
    };
    struct http1_client *c = mem_alloc(sizeof *c);
    struct arena *a = &c->arena;

    c->http.ops = &ops;
    c->loop = task_loop();
    c->names = name_cache_new(c->loop);
    c->options = *options;
    c->options.ca.file = keep_path(a, options->ca.file);
    c->options.ca.dir = keep_path(a, options->ca.dir);
    c->options.ca.extra_file = keep_path(a, options->ca.extra_file);
    c->options.user_agent =
        arena_cstr(a, str_of(options->user_agent ? options->user_agent : "keel/" KEEL_VERSION));
    proxy_settings_read(a, options->ca.environment, &c->proxies);
    return &c->http;
}
