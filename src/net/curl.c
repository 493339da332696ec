/* curl.c - the client: libcurl's multi handle on our loop. */
#include "net/curl.h"

#include "net/curl_exchange.h"

/* --- libcurl asks us to watch sockets and the time --- */

static void note_ended(struct curl_client *client)
{
    CURLMsg *message;
    int n_left;

    while ((message = client->api.multi_info_read(client->multi, &n_left))) {
        struct http_exchange *x = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        client->api.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        x->ended = true;
        x->result = message->data.result;
        exchange_wake(x);
    }
}

static void act(struct curl_client *client, curl_socket_t fd, int ready)
{
    int n_running;

    client->api.multi_socket_action(client->multi, fd, ready, &n_running);
    note_ended(client);
}

static void on_time(void *arg)
{
    struct curl_client *client = arg;

    loop_timer_stop(TAKE(client->timer));
    act(client, CURL_SOCKET_TIMEOUT, 0);
}

/* Called from inside libcurl, so it must not act at once, even when the delay is 0. */
static int on_timer_wanted(CURLM *multi, long delay_ms, void *arg)
{
    struct curl_client *client = arg;

    loop_timer_stop(TAKE(client->timer));
    if (delay_ms >= 0)
        client->timer = loop_timer_start(client->loop, (uint64_t)delay_ms, on_time, client);
    return 0;
}

struct socket_watch {
    struct loop_watch watch;
    struct curl_client *client;
    curl_socket_t fd;
};

static void on_ready(void *arg, int ready)
{
    struct socket_watch *s = arg;

    act(s->client, s->fd,
        (ready & TASK_FD_READ ? CURL_CSELECT_IN : 0) |
            (ready & TASK_FD_WRITE ? CURL_CSELECT_OUT : 0));
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct curl_client *client = arg;
    struct socket_watch *s = socket_arg;
    struct http_exchange *x = NULL;
    int events =
        (what & CURL_POLL_IN ? TASK_FD_READ : 0) | (what & CURL_POLL_OUT ? TASK_FD_WRITE : 0);
    struct err *e;

    client->api.easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&x);
    if (x)
        exchange_watches(x, fd, what != CURL_POLL_REMOVE);
    if (s)
        loop_watch_stop(&s->watch);
    if (what == CURL_POLL_REMOVE) {
        mem_free(s);
        return 0;
    }
    if (!s) {
        s = mem_alloc(sizeof *s);
        s->client = client;
        s->fd = fd;
        client->api.multi_assign(client->multi, fd, s);
    }
    if (!events)
        return 0;
    e = loop_watch_start(&s->watch, client->loop, fd, events, on_ready, s);
    if (e) /* telling libcurl would end all other exchanges too */
        exchange_fail(x, e);
    return 0;
}

/* --- life --- */

static void client_free(struct http_client *c)
{
    struct curl_client *client = (struct curl_client *)c;

    BUG_IF(client->n_exchanges);
    if (client->multi)
        client->api.multi_cleanup(client->multi);
    loop_timer_stop(client->timer);
    strbuf_done(&client->ca_pem);
    arena_done(&client->arena);
    mem_free(client);
}

static const struct http_ops curl_ops = {
    .name = "curl",
    .open = exchange_open,
    .read = exchange_read,
    .close = exchange_close,
    .free = client_free,
};

static const char *keep_path(struct arena *a, const char *path)
{
    return path ? arena_cstr(a, str_of(path)) : NULL;
}

static void read_options(struct curl_client *client, const struct curl_options *options)
{
    struct arena *a = &client->arena;

    client->options = *options;
    client->options.ca_file = keep_path(a, options->ca_file);
    client->options.ca_dir = keep_path(a, options->ca_dir);
    client->options.extra_ca_file = keep_path(a, options->extra_ca_file);
    client->options.user_agent =
        arena_cstr(a, str_of(options->user_agent ? options->user_agent : "keel/" KEEL_VERSION));
    proxy_settings_read(a, options->environment, &client->proxies);
}

struct err *curl_client_trust(struct curl_client *client)
{
    struct curl_ca ca;
    const char *path;

    if (client->has_ca)
        return NULL;
    curl_find_ca(&client->options, &ca);
    path = ca.path[0] ? arena_cstr(&client->arena, str_of(ca.path)) : NULL;
    strbuf_done(&client->ca_pem);
    TRY(curl_read_extra_ca(&client->options, &ca, &client->ca_pem));
    if (strcmp(ca.kind, "directory") == 0)
        client->ca_dir = path;
    else if (!client->ca_pem.n)
        client->ca_file = path;
    client->has_ca = true;
    return NULL;
}

struct err *curl_load(void)
{
    struct curl_api api;

    return curl_api_load(&api);
}

struct err *curl_client_start(struct curl_client *client)
{
    if (client->multi)
        return NULL;
    TRY(curl_api_load(&client->api));
    client->multi = client->api.multi_init();
    if (!client->multi)
        return err_new(ERR_INTERNAL, "cannot make a libcurl multi handle");
    client->api.multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    client->api.multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    client->api.multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    client->api.multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    return NULL;
}

struct err *curl_client_new(const struct curl_options *options, struct http_client **ret_client)
{
    static const struct curl_options defaults;
    struct curl_client *client = mem_alloc(sizeof *client);

    client->http.ops = &curl_ops;
    client->loop = task_loop();
    read_options(client, options ? options : &defaults);
    *ret_client = &client->http;
    return NULL;
}
