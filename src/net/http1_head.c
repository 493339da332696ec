/* http1_head.c - request lines, status lines and headers. */
#include "net/http1_head.h"

#include "base/ascii.h"
#include "base/base64.h"

const char *http1_fault_text(enum http1_fault fault)
{
    static const char *const texts[] = {
#define X(name, text) text,
        HTTP1_FAULTS(X)
#undef X
    };

    return texts[fault];
}

/* --- requests --- */

static bool has_default_port(const struct url *u)
{
    return u->port == (str_is(u->scheme, "https") ? 443 : 80);
}

void http1_add_authority(struct strbuf *out, const struct url *u)
{
    strbuf_addf(out, u->is_ipv6 ? "[%" STR_FMT "]" : "%" STR_FMT, STR_ARG(u->host));
    if (!has_default_port(u))
        strbuf_addf(out, ":%d", u->port);
}

struct str http1_basic(struct arena *a, const struct url *u)
{
    AUTO(strbuf) struct strbuf value = {0};
    AUTO(strbuf) struct strbuf plain = {0};
    size_t colon = str_find_char(u->userinfo, ':');

    if (u->userinfo.n == 0)
        return (struct str){0};
    strbuf_add(&plain, url_decode(a, str_slice(u->userinfo, 0, colon)));
    strbuf_add_char(&plain, ':');
    if (colon != STR_NONE)
        strbuf_add(&plain, url_decode(a, str_skip(u->userinfo, colon + 1)));
    strbuf_add(&value, S("Basic "));
    base64_add(&value, strbuf_str(&plain));
    return arena_str(a, strbuf_str(&value));
}

/* Path and query, as url_format() writes them. */
static struct str origin_form(struct arena *a, const struct url *u)
{
    struct str whole = url_format(a, u);
    size_t authority = str_find(whole, S("://")) + 3;

    return str_skip(whole, authority + str_find_char(str_skip(whole, authority), '/'));
}

/* Without a space before an empty value. */
static void add_header(struct strbuf *out, struct str name, struct str value)
{
    value = str_trim(value);
    strbuf_add(out, name);
    strbuf_add(out, value.n ? S(": ") : S(":"));
    strbuf_add(out, value);
    strbuf_add(out, S("\r\n"));
}

/* The caller's own header replaces a default. */
static void add_default(struct strbuf *out, const struct http_request *request, const char *name,
                        struct str value)
{
    for (size_t i = 0; i < request->headers.n; i++)
        if (str_eq_nocase(request->headers.items[i].name, str_of(name)))
            return;
    if (value.n)
        add_header(out, str_of(name), value);
}

static bool announces_body(const struct http_request *request)
{
    return request->body.n || strcmp(request->method, "POST") == 0 ||
           strcmp(request->method, "PUT") == 0 || strcmp(request->method, "PATCH") == 0;
}

void http1_write_head(struct strbuf *out, const struct http_request *request, const struct url *u,
                      const struct http1_form *form)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf authority = {0};

    http1_add_authority(&authority, u);
    strbuf_addf(out, "%s ", request->method);
    strbuf_add(out, form->is_absolute ? url_format(&a, u) : origin_form(&a, u));
    strbuf_add(out, S(" HTTP/1.1\r\n"));
    add_default(out, request, "Host", strbuf_str(&authority));
    add_default(out, request, "Proxy-Authorization", form->proxy_authorization);
    add_default(out, request, "Authorization", http1_basic(&a, u));
    add_default(out, request, "User-Agent", str_of(form->user_agent));
    add_default(out, request, "Accept", S("*/*"));
    for (size_t i = 0; i < request->headers.n; i++)
        add_header(out, request->headers.items[i].name, request->headers.items[i].value);
    if (announces_body(request))
        strbuf_addf(out, "Content-Length: %zu\r\n", request->body.n);
    strbuf_add(out, S("\r\n"));
}

/* --- collecting a response's head --- */

static const struct str version = S("HTTP/1.");

void http1_head_reader_done(struct http1_head_reader *r)
{
    strbuf_done(&r->text);
}

static bool ends_with_empty_line(struct str text)
{
    return str_ends(text, S("\n\r\n")) || str_ends(text, S("\n\n"));
}

static bool may_be_http(struct str text)
{
    size_t n = MIN(text.n, version.n);

    return str_eq(str_slice(text, 0, n), str_slice(version, 0, n));
}

enum http1_fault http1_head_take(struct http1_head_reader *r, struct str bytes, size_t *ret_n_used,
                                 bool *ret_is_whole)
{
    size_t n_used = 0;
    bool is_whole = false;

    while (n_used < bytes.n && !is_whole) {
        struct str rest = str_skip(bytes, n_used);
        size_t line = str_find_char(rest, '\n');
        size_t n = line == STR_NONE ? rest.n : line + 1;

        if (n > HTTP1_MAX_HEAD_BYTES - r->n_bytes)
            return HTTP1_TOO_LONG;
        strbuf_add(&r->text, str_slice(rest, 0, n));
        r->n_bytes += n;
        n_used += n;
        if (!may_be_http(strbuf_str(&r->text)))
            return HTTP1_NOT_HTTP;
        is_whole = ends_with_empty_line(strbuf_str(&r->text));
    }
    *ret_n_used = n_used;
    *ret_is_whole = is_whole;
    return HTTP1_NONE;
}

/* --- parsing a response's head --- */

/* "HTTP/1.1 200 OK"; the words at the end may be missing. */
static bool parse_status_line(struct str line, struct http1_head *head)
{
    const char *p = line.p;

    if (line.n < 12 || !str_starts(line, version) || (p[7] != '0' && p[7] != '1') || p[8] != ' ')
        return false;
    if (!ascii_is_digit(p[9]) || p[9] == '0' || !ascii_is_digit(p[10]) || !ascii_is_digit(p[11]))
        return false;
    if (line.n > 12 && p[12] != ' ')
        return false;
    head->is_1_0 = p[7] == '0';
    head->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    return true;
}

/* A line that begins with white space continues the one before (RFC 9112, 5.2): the bytes between
 * them become white space. Headers that say where a message ends must be on one line, so that all
 * readers see the same. */
static bool add_continuation(struct http_headers *h, struct str line)
{
    struct http_header *last = h->n ? &h->items[h->n - 1] : NULL;
    char *gap;

    if (!last || http_header_is_framing(last->name))
        return false;
    if (str_trim(line).n == 0)
        return true;
    gap = (char *)last->value.p + last->value.n;
    memset(gap, ' ', (size_t)(line.p - gap));
    last->value = str_trim(str_make(last->value.p, (size_t)(line.p + line.n - last->value.p)));
    return true;
}

static bool add_line(struct arena *a, struct http_headers *h, struct str line)
{
    size_t colon = str_find_char(line, ':');

    if (!http_is_value(line) || h->n >= HTTP1_MAX_HEADERS)
        return false;
    if (line.p[0] == ' ' || line.p[0] == '\t')
        return add_continuation(h, line);
    if (colon == STR_NONE || !http_is_token(str_slice(line, 0, colon)))
        return false;
    h->items = arena_grow(a, h->items, h->n, &h->room, sizeof *h->items);
    h->items[h->n++] =
        (struct http_header){str_slice(line, 0, colon), str_trim(str_skip(line, colon + 1))};
    return true;
}

/* Does a Connection header list `word`? */
static bool connection_says(const struct http_headers *h, const char *word)
{
    for (size_t i = 0; i < h->n; i++) {
        struct str list = h->items[i].value, item;

        if (!str_eq_nocase(h->items[i].name, S("connection")))
            continue;
        while (str_split(&list, ',', &item))
            if (str_eq_nocase(str_trim(item), str_of(word)))
                return true;
    }
    return false;
}

static struct str take_line(struct str *rest)
{
    struct str line = {0};

    str_split(rest, '\n', &line);
    if (str_ends(line, S("\r")))
        line.n--;
    return line;
}

enum http1_fault http1_head_parse(struct arena *a, struct str text, struct http1_head *ret_head)
{
    struct http1_head head = {0};
    struct str line;

    text = arena_str(a, text); /* the headers are parts of it */
    line = take_line(&text);
    if (!http_is_value(line) || !parse_status_line(line, &head))
        return HTTP1_NOT_HTTP;
    while ((line = take_line(&text)).n)
        if (!add_line(a, &head.headers, line))
            return HTTP1_BAD_HEADER;
    /* Strings of an arena end with a NUL. After each is a colon, white space or a line end. */
    for (size_t i = 0; i < head.headers.n; i++) {
        ((char *)head.headers.items[i].name.p)[head.headers.items[i].name.n] = 0;
        ((char *)head.headers.items[i].value.p)[head.headers.items[i].value.n] = 0;
    }
    head.closes = connection_says(&head.headers, "close") ||
                  (head.is_1_0 && !connection_says(&head.headers, "keep-alive"));
    *ret_head = head;
    return HTTP1_NONE;
}
