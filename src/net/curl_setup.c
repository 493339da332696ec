/* curl_setup.c - a request as options of an easy handle. */
#include "net/curl_exchange.h"

/* An option that an older libcurl does not know is left out: the ones that matter it knows. */
#define SET(x, option, value)                                                                      \
    (void)(x)->client->api.easy_setopt((x)->easy, CURLOPT_##option, (value))

/* --- the request --- */

static void add_line(struct http_exchange *x, struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = x->client->api.slist_append(*list, line);

    if (!longer)
        BUG("out of memory in libcurl");
    *list = longer;
}

/* libcurl takes "Name: value", "Name;" for an empty value, and "Name:" for "leave it out". */
static void set_headers(struct http_exchange *x, const struct http_request *request)
{
    AUTO(strbuf) struct strbuf line = {0};

    for (size_t i = 0; i < request->headers.n; i++) {
        const struct http_header *h = &request->headers.items[i];
        struct str value = str_trim(h->value);

        strbuf_clear(&line);
        strbuf_add(&line, h->name);
        strbuf_add(&line, value.n ? S(": ") : S(";"));
        strbuf_add(&line, value);
        add_line(x, &x->headers, strbuf_cstr(&line));
    }
    if (http_headers_get(&request->headers, "expect").n == 0)
        add_line(x, &x->headers, "Expect:");
    if (http_headers_get(&request->headers, "content-type").n == 0)
        add_line(x, &x->headers, "Content-Type:");
    SET(x, HTTPHEADER, x->headers);
    SET(x, USERAGENT, x->client->options.user_agent);
}

static void set_method(struct http_exchange *x, const struct http_request *request)
{
    bool is_get = strcmp(request->method, "GET") == 0;
    bool is_head = strcmp(request->method, "HEAD") == 0;
    bool announces_body = strcmp(request->method, "POST") == 0 ||
                          strcmp(request->method, "PUT") == 0 ||
                          strcmp(request->method, "PATCH") == 0;

    if (is_head)
        SET(x, NOBODY, 1L);
    else
        SET(x, HTTPGET, 1L);
    if (request->body.n || announces_body) {
        SET(x, POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n);
        SET(x, POSTFIELDS, request->body.n ? request->body.p : "");
    }
    if (!is_get || request->body.n)
        SET(x, CUSTOMREQUEST, request->method);
}

/* "https://user:password@host" is sent as Basic authorization, unless there is another one. */
static void set_userinfo(struct http_exchange *x, const struct http_request *request)
{
    struct str info = x->url.userinfo;
    size_t colon = str_find_char(info, ':');

    if (info.n == 0 || http_headers_get(&request->headers, "authorization").n)
        return;
    SET(x, USERNAME, url_decode(&x->arena, str_slice(info, 0, colon)).p);
    if (colon != STR_NONE)
        SET(x, PASSWORD, url_decode(&x->arena, str_skip(info, colon + 1)).p);
}

/* --- the way there --- */

/* The proxy is our choice; an empty one keeps libcurl from reading the environment itself. */
static void set_route(struct http_exchange *x, const struct http_request *request)
{
    if (!request->no_proxy && !request->unix_socket)
        x->proxy = request->proxy ? arena_cstr(&x->arena, str_of(request->proxy))
                                  : proxy_choose(&x->client->proxies, &x->url);
    SET(x, PROXY, x->proxy ? x->proxy : "");
    SET(x, NOPROXY, "");
    SET(x, SUPPRESS_CONNECT_HEADERS, 1L);
    if (request->unix_socket) {
        x->unix_socket = arena_cstr(&x->arena, str_of(request->unix_socket));
        SET(x, UNIX_SOCKET_PATH, x->unix_socket);
    }
    if (request->resolve) {
        /* '+' lets the entry expire. A connection that is already there may lead elsewhere, and
         * others must not inherit this one. */
        add_line(x, &x->resolve, arena_format(&x->arena, "+%s", request->resolve).p);
        SET(x, RESOLVE, x->resolve);
        SET(x, FRESH_CONNECT, 1L);
        SET(x, FORBID_REUSE, 1L);
    }
}

static bool is_https(const struct http_exchange *x)
{
    return str_is(x->url.scheme, "https");
}

static bool is_proxy_https(const struct http_exchange *x)
{
    return x->proxy && str_eq_nocase(str_slice(str_of(x->proxy), 0, 6), S("https:"));
}

/* libcurl copies certificates that it is given as bytes, all of them, for every request. */
static void set_own_certificates(struct http_exchange *x)
{
    struct curl_blob pem = {.data = x->client->ca_pem.p, .len = x->client->ca_pem.n};

    if (is_https(x))
        SET(x, CAINFO_BLOB, &pem);
    if (is_proxy_https(x))
        SET(x, PROXY_CAINFO_BLOB, &pem);
}

/* Debian's libcurl has a bundle as its default; NULL turns it off. */
static struct err *set_certificates(struct http_exchange *x)
{
    if (is_https(x) || is_proxy_https(x))
        TRY(curl_client_trust(x->client));
    SET(x, CAINFO, x->client->ca_file);
    SET(x, CAPATH, x->client->ca_dir);
    SET(x, PROXY_CAINFO, x->client->ca_file);
    SET(x, PROXY_CAPATH, x->client->ca_dir);
    if (x->client->ca_pem.n)
        set_own_certificates(x);
    SET(x, SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    return NULL;
}

/* A connection of another identity is not used again: libcurl compares these as well. */
static void set_identity(struct http_exchange *x, const struct http_identity *i)
{
    if (i->certificate)
        SET(x, SSLCERT, i->certificate);
    if (i->key)
        SET(x, SSLKEY, i->key);
    if (i->passphrase)
        SET(x, KEYPASSWD, i->passphrase);
}

static void set_transport(struct http_exchange *x)
{
    bool has_room = x->client->n_exchanges <= MAX_LARGE_BUFFERS;

    SET(x, PROTOCOLS_STR, "http,https");
    SET(x, HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(x, NOSIGNAL, 1L);
    SET(x, QUICK_EXIT, 1L); /* else closing waits for a name that is being looked up */
    SET(x, CONNECTTIMEOUT_MS, (long)MIN(x->connect_ms, (uint64_t)INT32_MAX));
    SET(x, BUFFERSIZE, (long)(has_room ? LARGE_RECEIVE_BUFFER_BYTES : RECEIVE_BUFFER_BYTES));
    SET(x, UPLOAD_BUFFERSIZE, (long)SEND_BUFFER_BYTES);
    SET(x, TCP_NODELAY, 1L);
    SET(x, TCP_KEEPALIVE, 1L);
    SET(x, TCP_KEEPIDLE, 60L);
    SET(x, TCP_KEEPINTVL, 30L);
}

struct err *exchange_setup(struct http_exchange *x, const struct http_request *request)
{
    SET(x, URL, x->response.final_url.p);
    set_method(x, request);
    set_headers(x, request);
    set_userinfo(x, request);
    set_route(x, request);
    TRY(set_certificates(x));
    set_identity(x, &request->identity);
    set_transport(x);
    return NULL;
}
