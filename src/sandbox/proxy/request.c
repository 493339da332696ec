/* request.c - reads a request's head, and writes the one that is passed on. */
#include "sandbox/proxy/request.h"

static struct err *bad(const char *why)
{
    return err_new(ERR_VALIDATION, "bad request: %s", why);
}

size_t proxy_head_length(struct str bytes, size_t n_seen)
{
    size_t from = n_seen > 3 ? n_seen - 3 : 0;
    size_t at = str_find(str_skip(bytes, from), S("\r\n\r\n"));

    return at == STR_NONE ? 0 : from + at + 4;
}

/* --- bytes and lines --- */

/* Of a method or a header's name. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c && strchr("!#$%&'*+-.^_`|~", c))))
            return false;
    }
    return s.n > 0;
}

static bool has_control(struct str line)
{
    for (size_t i = 0; i < line.n; i++) {
        unsigned char c = (unsigned char)line.p[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

/* A CR or LF that is not both is a control character within a line. */
static struct err *next_line(struct str *rest, struct str *ret_line)
{
    size_t n = str_find(*rest, S("\r\n"));

    BUG_IF(n == STR_NONE);
    *ret_line = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n + 2);
    return has_control(*ret_line) ? bad("it contains a control character") : NULL;
}

/* --- the request line --- */

static bool holds_any(struct str s, const char *bytes)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr(bytes, s.p[i]))
            return true;
    return false;
}

/* "host", "host:port" */
static struct err *parse_authority(struct arena *a, struct str text, struct url *ret)
{
    struct err *e = url_parse(a, arena_format(a, "http://%" STR_FMT, STR_ARG(text)), ret);

    if (!e && !holds_any(text, "/@?#"))
        return NULL;
    err_ignore(e, "it speaks of a URL, which was not sent");
    return bad("the host is malformed");
}

static struct err *parse_connect(struct arena *a, struct str target, struct proxy_request *r)
{
    r->is_connect = true;
    TRY(parse_authority(a, target, &r->target));
    return r->target.has_port ? NULL : bad("CONNECT needs a port");
}

static struct err *parse_plain(struct arena *a, struct str target, struct proxy_request *r)
{
    struct str rest = str_skip(target, strlen("http://"));
    size_t n_authority = 0;
    struct err *e;

    if (str_starts(target, S("/")))
        return bad("this is a proxy: the target must be an absolute URL");
    e = url_parse(a, target, &r->target);
    if (e || !str_is(r->target.scheme, "http")) {
        err_ignore(e, "the text may be long");
        return bad("the target is not an http:// URL");
    }
    while (n_authority < rest.n && !strchr("/?", rest.p[n_authority]))
        n_authority++;
    if (holds_any(str_slice(rest, 0, n_authority), "@") || holds_any(rest, "#"))
        return bad("the URL has a user or a fragment");
    /* As it came: servers tell apart what is the same by the standard. */
    rest = str_skip(rest, n_authority);
    r->path = str_starts(rest, S("/")) ? rest : arena_format(a, "/%" STR_FMT, STR_ARG(rest));
    return NULL;
}

static struct err *parse_version(struct str text, struct proxy_request *r)
{
    r->is_http_1_0 = str_is(text, "HTTP/1.0");
    return r->is_http_1_0 || str_is(text, "HTTP/1.1") ? NULL : bad("it is not HTTP/1.1");
}

static struct err *parse_request_line(struct arena *a, struct str line, struct proxy_request *r)
{
    size_t first = str_find_char(line, ' '), last = str_rfind_char(line, ' ');
    struct str target;

    if (first == last)
        return bad("the request line does not have three words");
    r->method = str_slice(line, 0, first);
    target = str_slice(line, first + 1, last - first - 1);
    if (!is_token(r->method))
        return bad("the method is malformed");
    TRY(parse_version(str_skip(line, last + 1), r));
    return str_is(r->method, "CONNECT") ? parse_connect(a, target, r) : parse_plain(a, target, r);
}

/* --- headers --- */

/* What is said about the message itself, until all of it is known. */
struct framing {
    struct http_headers connection;
    struct str host, length, encoding;
    unsigned n_hosts, n_lengths, n_encodings;
};

/* Between two neighbours only; Connection may name more. */
static bool is_for_neighbour(struct str name)
{
    static const char *const names[] = {
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, str_of(names[i])))
            return true;
    return false;
}

static bool is_named(const struct http_headers *connection, struct str name)
{
    for (size_t i = 0; i < connection->n; i++) {
        struct str rest = connection->items[i].value, word;

        while (str_split(&rest, ',', &word))
            if (str_eq_nocase(str_trim(word), name))
                return true;
    }
    return false;
}

static void take_header(struct arena *a, struct str name, struct str value, struct framing *f,
                        struct http_headers *others)
{
    if (str_eq_nocase(name, S("host"))) {
        f->host = value;
        f->n_hosts++;
    } else if (str_eq_nocase(name, S("content-length"))) {
        f->length = value;
        f->n_lengths++;
    } else if (str_eq_nocase(name, S("transfer-encoding"))) {
        f->encoding = value;
        f->n_encodings++;
    } else if (str_eq_nocase(name, S("connection"))) {
        http_headers_add(a, &f->connection, name, value);
    } else if (!is_for_neighbour(name)) {
        http_headers_add(a, others, name, value);
    }
}

static struct err *parse_headers(struct arena *a, struct str rest, struct framing *f,
                                 struct http_headers *others)
{
    for (int n = 0;; n++) {
        struct str line;
        size_t colon;

        TRY(next_line(&rest, &line));
        if (line.n == 0)
            return NULL;
        if (n == PROXY_MAX_HEADERS)
            return bad("it has too many headers");
        colon = str_find_char(line, ':');
        /* A folded line begins with a space, which no name does. */
        if (colon == STR_NONE || !is_token(str_slice(line, 0, colon)))
            return bad("a header is malformed");
        take_header(a, str_slice(line, 0, colon), str_trim(str_skip(line, colon + 1)), f, others);
    }
}

/* --- what they mean --- */

static struct err *check_host(struct arena *a, const struct framing *f,
                              const struct proxy_request *r)
{
    struct url host;

    if (f->n_hosts == 0)
        return NULL;
    if (f->n_hosts > 1)
        return bad("it has more than one Host header");
    TRY(parse_authority(a, f->host, &host));
    /* Some leave the port of a tunnel out. */
    if (!str_eq(host.host, r->target.host) ||
        (host.port != r->target.port && (host.has_port || !r->is_connect)))
        return bad("its Host header does not match the target");
    return NULL;
}

static bool parse_length(struct str text, uint64_t *ret)
{
    enum { MAX_DIGITS = 18 };

    *ret = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        *ret = *ret * 10 + (unsigned)(text.p[i] - '0');
    }
    return text.n > 0 && text.n <= MAX_DIGITS;
}

static struct err *find_body(const struct framing *f, struct proxy_request *r)
{
    if (f->n_lengths + f->n_encodings > 1)
        return bad("it declares the length of its body more than once");
    if (f->n_lengths && !parse_length(f->length, &r->body.n_left))
        return bad("its Content-Length is malformed");
    if (f->n_encodings && (r->is_http_1_0 || !str_eq_nocase(f->encoding, S("chunked"))))
        return bad("its Transfer-Encoding is not chunked");
    r->body.kind = f->n_encodings ? PROXY_BODY_CHUNKED : PROXY_BODY_LENGTH;
    r->has_length = f->n_lengths > 0;
    if (r->is_connect && !proxy_body_is_over(&r->body))
        return bad("CONNECT must not have a body");
    return NULL;
}

struct err *proxy_request_parse(struct arena *a, struct str head, struct proxy_request *ret_request)
{
    struct proxy_request r = {0};
    struct http_headers others = {0};
    struct framing f = {0};
    struct str rest = head, line;

    BUG_IF(proxy_head_length(head, 0) != head.n);
    TRY(next_line(&rest, &line));
    TRY(parse_request_line(a, line, &r));
    TRY(parse_headers(a, rest, &f, &others));
    TRY(check_host(a, &f, &r));
    TRY(find_body(&f, &r));
    for (size_t i = 0; i < others.n; i++)
        if (!is_named(&f.connection, others.items[i].name))
            http_headers_add(a, &r.headers, others.items[i].name, others.items[i].value);
    *ret_request = r;
    return NULL;
}

/* --- writing --- */

static void add_host(struct strbuf *out, const struct url *u)
{
    strbuf_addf(out, u->is_ipv6 ? "[%" STR_FMT "]" : "%" STR_FMT, STR_ARG(u->host));
}

void proxy_add_authority(struct strbuf *out, const struct url *target)
{
    add_host(out, target);
    strbuf_addf(out, ":%d", target->port);
}

static void add_header(struct strbuf *out, struct str name, struct str value)
{
    strbuf_add(out, name);
    strbuf_add(out, S(": "));
    strbuf_add(out, value);
    strbuf_add(out, S("\r\n"));
}

static void add_target(struct strbuf *out, const struct url *u)
{
    if (u->port == 80)
        add_host(out, u);
    else
        proxy_add_authority(out, u);
}

static void add_body_headers(struct strbuf *out, const struct proxy_request *r)
{
    if (r->body.kind == PROXY_BODY_CHUNKED)
        strbuf_add(out, S("Transfer-Encoding: chunked\r\n"));
    else if (r->has_length)
        strbuf_addf(out, "Content-Length: %llu\r\n", (unsigned long long)r->body.n_left);
}

void proxy_request_write(struct strbuf *out, const struct proxy_request *r, bool to_proxy,
                         struct str authorization)
{
    strbuf_add(out, r->method);
    strbuf_add_char(out, ' ');
    if (to_proxy) {
        strbuf_add(out, S("http://"));
        add_target(out, &r->target);
    }
    strbuf_add(out, r->path);
    strbuf_addf(out, " HTTP/1.%d\r\nHost: ", r->is_http_1_0 ? 0 : 1);
    add_target(out, &r->target);
    strbuf_add(out, S("\r\n"));
    for (size_t i = 0; i < r->headers.n; i++)
        add_header(out, r->headers.items[i].name, r->headers.items[i].value);
    add_body_headers(out, r);
    if (authorization.n)
        add_header(out, S("Proxy-Authorization"), authorization);
    strbuf_add(out, S("Connection: close\r\n\r\n"));
}
