/* trial.h - a server, a client, and a function that runs as a task. */
#ifndef KEEL_TEST_UNIT_NET_TRIAL_H
#define KEEL_TEST_UNIT_NET_TRIAL_H

#include "test.h"

#include "net/http1.h"
#include "net/server.h"
#include "sys/loop.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define HELLO OK_HEAD "Content-Length: 5\r\n\r\nhello"

struct trial {
    struct err *(*act)(struct trial *t);
    struct server *server;
    struct http1_options options;
    struct http_client *client;
    struct http_trace trace;
    struct arena arena;
    void *server_arg;  /* for act() */
    const char *proxy; /* the same */
    /* what the last fetch() gave */
    struct http_response response;
    struct strbuf body;
};

static inline struct err *trial_main(void *arg)
{
    struct trial *t = arg;
    struct err *e;

    t->client = http1_client_new(&t->options);
    t->client->trace = t->trace;
    e = t->act(t);
    http_client_free(TAKE(t->client));
    return e;
}

static inline struct err *trial_run(struct trial *t)
{
    static const char *const no_environment[] = {NULL};

    if (!t->options.ca.environment)
        t->options.ca.environment = no_environment;
    return loop_run_once(trial_main, t);
}

static inline void trial_done(struct trial *t)
{
    server_stop(t->server);
    arena_done(&t->arena);
    strbuf_done(&t->body);
}
DEFINE_AUTO_VAL(trial, trial_done)

static inline struct str url_of(struct trial *t, const char *path)
{
    return arena_format(&t->arena, "%s%s", server_url(t->server), path);
}

static inline struct err *fetch(struct trial *t, const struct http_request *request)
{
    strbuf_clear(&t->body);
    return http_fetch(t->client, request, &t->arena, &t->response, &t->body);
}

static inline struct err *get(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = url_of(t, "/")});
}

static inline struct err *get_twice(struct trial *t)
{
    TRY(get(t));
    return get(t);
}

/* Fetches from a server that plays the script. */
static inline struct err *get_scripted(struct trial *t, struct server_script *script)
{
    t->server = server_start(server_play, script);
    if (!t->act)
        t->act = get;
    return trial_run(t);
}

#endif
