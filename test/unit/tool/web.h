/* web.h - runs the tools of the web against a server on the loopback, with a real HTTP client.
 *
 *     AUTO(web) struct web w = web_make();
 *     web_serve(&w, pages, ARRAY_LEN(pages));
 *     AUTO(tool_result) struct tool_result r = web_call(&w, &tool_web_fetch, args);
 *
 * The clock is virtual. Names that end in .test are looked up in a table here. */
#ifndef KEEL_TEST_UNIT_TOOL_WEB_H
#define KEEL_TEST_UNIT_TOOL_WEB_H

#include "net/http1.h"
#include "net/server.h"
#include "sys/clock.h"
#include "tool/builtin.h"
#include "tool/fixture.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>

/* --- names --- */

struct test_name {
    const char *name;
    const char *addresses[2]; /* the second one is given too, or from the second lookup on */
    bool changes;
};

static const struct test_name test_names[] = {
    {"site.test", {"127.0.0.1"}},
    {"below.site.test", {"127.0.0.1"}},
    {"metadata.test", {"169.254.169.254"}},
    {"public.test", {"93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"}},
    {"mixed.test", {"93.184.215.14", "10.0.0.1"}},
    {"rebinds.test", {"127.0.0.1", "10.0.0.1"}, true},
    {"turns.test", {"93.184.215.14", "10.0.0.1"}, true},
    {"mapped.test", {"::ffff:93.184.215.14"}},
};
static atomic_uint n_lookups; /* of names of the table */

static inline int look_up_number(const char *address, struct addrinfo **ret_list)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (__typeof__(&getaddrinfo))dlsym(RTLD_NEXT, "getaddrinfo");
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};

    return real(address, NULL, &hints, ret_list);
}

/* Stands before libc's. */
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_list)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (__typeof__(&getaddrinfo))dlsym(RTLD_NEXT, "getaddrinfo");

    for (size_t i = 0; name && i < ARRAY_LEN(test_names); i++) {
        const struct test_name *n = &test_names[i];
        int error;

        if (strcmp(name, n->name) != 0)
            continue;
        error = look_up_number(n->addresses[n->changes && n_lookups > 0], ret_list);
        if (!error && n->addresses[1] && !n->changes)
            error = look_up_number(n->addresses[1], &(*ret_list)->ai_next);
        n_lookups++;
        return error;
    }
    if (name && str_ends(str_of(name), S(".test")))
        return EAI_NONAME;
    return real(name, service, hints, ret_list);
}

/* --- a site --- */

struct web_test_page {
    const char *path; /* with its query */
    const char *head; /* of the response, without the empty line */
    struct str body;
    bool stalls; /* after the body the clock moves on by time_ms, and nothing more comes */
};

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define TEXT_HEAD OK_HEAD "Content-Type: text/plain\r\n"
#define HTML_HEAD OK_HEAD "Content-Type: text/html; charset=utf-8\r\n"

struct web {
    struct tool_fixture fixture;
    struct server *server;
    const struct web_test_page *pages;
    size_t n_pages;
    struct virtual_clock clock;
    struct loop *loop;
    uint64_t time_ms; /* that passes when a page stalls */
    bool is_cancelled_then;

    struct http_client *client;
    struct http_source source;
    struct strbuf trace;
    struct str allowed[4];
    struct arena arena;
};

static inline void web_time_passes(void *arg)
{
    struct web *w = arg;

    if (w->is_cancelled_then)
        loop_cancel(w->loop);
    w->clock.now_ms += w->time_ms;
}

static inline const struct web_test_page *web_find_page(const struct web *w, struct str request)
{
    struct str path;

    str_split(&request, ' ', &path); /* GET */
    str_split(&request, ' ', &path);
    for (size_t i = 0; i < w->n_pages; i++)
        if (str_is(path, w->pages[i].path))
            return &w->pages[i];
    return NULL;
}

static inline void web_serve_connection(struct server_connection *c, void *arg)
{
    struct web *w = arg;

    while (server_read_request(c)) {
        AUTO_FREE char *request = server_copy_request(w->server);
        const struct web_test_page *page = web_find_page(w, str_of(request));

        if (!page) {
            server_send(c, S("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), 0);
            continue;
        }
        server_send(c, str_of(page->head), 0);
        server_send(c, S("Connection: close\r\n\r\n"), 0);
        server_send(c, page->body, 0);
        if (!page->stalls)
            return;
        loop_post(w->loop, web_time_passes, w);
        server_wait_for_close(c);
    }
}

/* The server's pages; 127.0.0.1 at its port becomes an allowed host. */
static inline void web_serve(struct web *w, const struct web_test_page *pages, size_t n)
{
    w->pages = pages;
    w->n_pages = n;
    w->server = server_start(web_serve_connection, w);
    w->allowed[0] = arena_format(&w->arena, "127.0.0.1:%d", server_port(w->server));
    w->fixture.config.allowed_hosts = w->allowed;
    w->fixture.config.n_allowed_hosts = 1;
}

/* --- calls --- */

static inline void web_trace_line(void *self, char kind, struct str text)
{
    struct web *w = self;

    strbuf_add_char(&w->trace, kind);
    strbuf_add(&w->trace, text);
    strbuf_add_char(&w->trace, '\n');
}

static inline struct err *web_get_client(void *self, struct http_client **ret_client)
{
    struct web *w = self;

    *ret_client = w->client;
    return NULL;
}

static const char *const web_no_environment[] = {NULL};

static inline struct web web_make(void)
{
    struct web w = {.fixture = tool_fixture_make()};

    w.fixture.config.environment = web_no_environment;
    n_lookups = 0;
    return w;
}

static inline void web_done(struct web *w)
{
    server_stop(w->server);
    loop_free(w->loop);
    tool_fixture_done(&w->fixture);
    strbuf_done(&w->trace);
    arena_done(&w->arena);
}
DEFINE_AUTO_VAL(web, web_done)

/* The client has an environment of its own, without any proxy. */
static inline void web_begin(struct web *w)
{
    static const struct http1_options options = {.ca.environment = web_no_environment};

    w->client = http1_client_new(&options);
    w->client->trace = (struct http_trace){web_trace_line, w};
    w->source = (struct http_source){web_get_client, w};
    w->fixture.context.http = &w->source;
}

static inline void web_end(struct web *w)
{
    http_client_free(TAKE(w->client));
}

static inline void web_run(struct web *w, task_fn fn, void *arg)
{
    if (!w->loop) {
        virtual_clock_init(&w->clock, 0);
        w->loop = loop_new(&w->clock.clock);
    }
    assert_ok(loop_run(w->loop, fn, arg));
}

struct web_call_ {
    struct web *web;
    struct tool *tool;
    const char *args;
    struct tool_result result;
};

static inline struct err *web_call_task_(void *arg)
{
    struct web_call_ *c = arg;

    web_begin(c->web);
    c->result = tool_call_in_task(&c->web->fixture, c->tool, c->args);
    web_end(c->web);
    return NULL;
}

static inline struct tool_result web_call(struct web *w, struct tool *t, const char *args)
{
    struct web_call_ c = {.web = w, .tool = t, .args = args};

    web_run(w, web_call_task_, &c);
    return c.result;
}

/* --- WebFetch --- */

static inline struct tool_result web_fetch(struct web *w, const char *url)
{
    return web_call(w, &tool_web_fetch,
                    arena_format(&w->arena, "{\"url\":\"%s\",\"prompt\":\"what is it?\"}", url).p);
}

static inline const char *web_url(struct web *w, const char *host, const char *path)
{
    return arena_format(&w->arena, "http://%s:%d%s", host, server_port(w->server), path).p;
}

/* The text with PORT for the server's port. */
static inline struct str web_without_port(struct web *w, const struct tool_result *r)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str rest = strbuf_str(&r->text);
    struct str port = arena_format(&w->arena, ":%d", server_port(w->server));
    size_t at;

    while ((at = str_find(rest, port)) != STR_NONE) {
        strbuf_add(&out, str_slice(rest, 0, at));
        strbuf_add(&out, S(":PORT"));
        rest = str_skip(rest, at + port.n);
    }
    strbuf_add(&out, rest);
    return arena_str(&w->arena, strbuf_str(&out));
}

static inline void assert_has_(struct str text, const char *part, const char *file, int line)
{
    if (str_find(text, str_of(part)) == STR_NONE) {
        print_error("\"%s\" is not in \"%" STR_FMT "\"\n", part, STR_ARG(text));
        _fail(file, line);
    }
}
#define assert_has(text, part) assert_has_((text), (part), __FILE__, __LINE__)

#endif
