/* url.c - parses, formats and resolves URLs. */
#include "net/url.h"

#include "base/ascii.h"
#include "base/utf8.h"

#include <arpa/inet.h>

#define HOST_MAX_BYTES 253
#define LABEL_MAX_BYTES 63

static struct str lower_copy(struct arena *a, struct str s)
{
    char *copy = arena_cstr(a, s);

    for (size_t i = 0; i < s.n; i++)
        copy[i] = ascii_lower(copy[i]);
    return str_make(copy, s.n);
}

/* It is unknown where the password ends in a URL that cannot be parsed: the message omits
 * everything up to the last '@'. */
static struct err *bad_url(struct str text, const char *why)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf valid = {0};
    struct str shown = str_skip(text, str_rfind_char(text, '@') + 1); /* STR_NONE + 1 is 0 */

    utf8_add_repaired(&valid, url_redact(&a, str_slice(shown, 0, 200)));
    return err_new(ERR_VALIDATION, "bad URL \"%s\": %s", strbuf_cstr(&valid), why);
}

/* Why the bytes cannot be a URL, or NULL. */
static const char *check_bytes(struct str text)
{
    if (text.n > URL_MAX_BYTES)
        return "it is longer than 8192 bytes";
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20 || c == 0x7f)
            return "it contains a control character";
        if (c == ' ')
            return "it contains a space";
        if (c == '\\')
            return "it contains a backslash";
    }
    return NULL;
}

/* Length of "scheme" before "://", 0 when there is none. */
static size_t scheme_length(struct str text)
{
    size_t n = 0;

    if (text.n == 0 || !ascii_is_alpha(text.p[0]))
        return 0;
    while (n < text.n && (ascii_is_alpha(text.p[n]) || ascii_is_digit(text.p[n]) ||
                          text.p[n] == '+' || text.p[n] == '-' || text.p[n] == '.'))
        n++;
    return str_starts(str_skip(text, n), S("://")) ? n : 0;
}

static int default_port(struct str scheme)
{
    if (str_is(scheme, "http") || str_is(scheme, "ws"))
        return 80;
    if (str_is(scheme, "https") || str_is(scheme, "wss"))
        return 443;
    return 0;
}

static size_t find_any(struct str s, const char *stops)
{
    size_t n = 0;

    while (n < s.n && !strchr(stops, s.p[n]))
        n++;
    return n;
}

static const char *parse_ipv6(struct arena *a, struct str text, struct url *u)
{
    _Alignas(struct in6_addr) unsigned char address[16];
    char *copy = arena_cstr(a, text);
    char shortest[INET6_ADDRSTRLEN];

    if (inet_pton(AF_INET6, copy, address) != 1)
        return "the host in brackets is not an IPv6 address";
    u->is_ipv6 = !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address);
    if (u->is_ipv6)
        inet_ntop(AF_INET6, address, shortest, sizeof shortest);
    else
        inet_ntop(AF_INET, address + 12, shortest, sizeof shortest);
    u->host = arena_str(a, str_of(shortest));
    return NULL;
}

static bool is_number(struct str label)
{
    bool hex = label.n >= 2 && label.p[0] == '0' && label.p[1] == 'x';

    for (size_t i = hex ? 2 : 0; i < label.n; i++)
        if (hex ? ascii_hex_value(label.p[i]) < 0 : !ascii_is_digit(label.p[i]))
            return false;
    return true;
}

static const char *check_label(struct str label)
{
    if (label.n == 0)
        return "a part of the host is empty";
    if (label.n > LABEL_MAX_BYTES)
        return "a part of the host is longer than 63 bytes";
    for (size_t i = 0; i < label.n; i++) {
        char c = label.p[i];

        if ((unsigned char)c >= 0x80)
            return "the host is not ASCII; write it in its xn-- form";
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '-' && c != '_')
            return "the host contains a character that is not valid in a host name";
    }
    return NULL;
}

static const char *parse_name(struct arena *a, struct str text, struct url *u)
{
    struct str host = lower_copy(a, text), rest, label = {0};
    unsigned char address[4];

    if (host.n > 1 && host.p[host.n - 1] == '.')
        host = arena_str(a, str_slice(host, 0, host.n - 1));
    if (host.n == 0)
        return "it has no host";
    if (host.n > HOST_MAX_BYTES)
        return "the host is longer than 253 bytes";
    for (rest = host; str_split(&rest, '.', &label);) {
        const char *why = check_label(label);
        if (why)
            return why;
    }
    if (is_number(label) && inet_pton(AF_INET, host.p, address) != 1)
        return "the host ends in a number but is not an IPv4 address of four decimal parts";
    u->host = host;
    return NULL;
}

static const char *parse_port(struct str text, struct url *u)
{
    int64_t port;

    u->port = default_port(u->scheme);
    if (text.n == 0)
        return NULL;
    for (size_t i = 0; i < text.n; i++)
        if (!ascii_is_digit(text.p[i]))
            return "the port is not a number";
    if (!str_to_int64(text, &port) || port < 1 || port > 65535)
        return "the port is not between 1 and 65535";
    u->port = (int)port;
    u->has_port = true;
    return NULL;
}

static const char *parse_authority(struct arena *a, struct str text, struct url *u)
{
    size_t at = str_find_char(text, '@'), end;
    struct str host = text;
    const char *why;

    if (at != STR_NONE) {
        u->userinfo = str_slice(text, 0, at);
        host = str_skip(text, at + 1);
    }
    if (str_starts(host, S("["))) {
        end = str_find_char(host, ']');
        if (end == STR_NONE)
            return "the bracket around the host is not closed";
        why = parse_ipv6(a, str_slice(host, 1, end - 1), u);
        end++;
    } else {
        end = MIN(str_find_char(host, ':'), host.n);
        why = parse_name(a, str_slice(host, 0, end), u);
    }
    if (why)
        return why;
    host = str_skip(host, end);
    if (host.n && host.p[0] != ':')
        return "something follows the host";
    return parse_port(str_skip(host, 1), u);
}

static const char *parse_parts(struct arena *a, struct str text, struct url *u)
{
    const char *why = check_bytes(text);
    size_t n;

    if (why)
        return why;
    n = scheme_length(text);
    if (n == 0)
        return "it does not start with a scheme such as https://";
    u->scheme = lower_copy(a, str_slice(text, 0, n));
    text = str_skip(text, n + 3);
    n = find_any(text, "/?#");
    why = parse_authority(a, str_slice(text, 0, n), u);
    if (why)
        return why;
    text = str_skip(text, n);
    n = find_any(text, "?#");
    u->path = str_slice(text, 0, n);
    text = str_skip(text, n);
    if (str_starts(text, S("?"))) {
        n = find_any(text, "#");
        u->query = str_slice(text, 1, n - 1);
        text = str_skip(text, n);
    }
    u->fragment = str_skip(text, 1);
    return NULL;
}

struct err *url_parse(struct arena *a, struct str text, struct url *ret_url)
{
    struct url u = {0};
    const char *why = parse_parts(a, text, &u);

    if (why)
        return bad_url(text, why);
    *ret_url = u;
    return NULL;
}

static void add_hex(struct strbuf *out, unsigned char c)
{
    strbuf_add_char(out, '%');
    strbuf_add_char(out, "0123456789ABCDEF"[c >> 4]);
    strbuf_add_char(out, "0123456789ABCDEF"[c & 15]);
}

void url_add_encoded(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (ascii_is_alpha(c) || ascii_is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~')
            strbuf_add_char(out, c);
        else
            add_hex(out, (unsigned char)c);
    }
}

struct str url_decode(struct arena *a, struct str text)
{
    char *out = arena_cstr(a, text);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        int high = i + 2 < text.n ? ascii_hex_value(text.p[i + 1]) : -1;
        int low = i + 2 < text.n ? ascii_hex_value(text.p[i + 2]) : -1;

        if (text.p[i] == '%' && high >= 0 && low >= 0) {
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = text.p[i];
        }
    }
    out[n] = 0;
    return str_make(out, n);
}

static void add_ascii(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] < 0x80)
            strbuf_add_char(out, text.p[i]);
        else
            add_hex(out, (unsigned char)text.p[i]);
    }
}

struct str url_ascii(struct arena *a, struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};

    add_ascii(&out, text);
    return arena_str(a, strbuf_str(&out));
}

static void add_origin(struct strbuf *out, const struct url *u)
{
    strbuf_addf(out, u->is_ipv6 ? "%" STR_FMT "://[%" STR_FMT "]" : "%" STR_FMT "://%" STR_FMT,
                STR_ARG(u->scheme), STR_ARG(u->host));
    if (u->has_port)
        strbuf_addf(out, ":%d", u->port);
}

struct str url_format(struct arena *a, const struct url *u)
{
    AUTO(strbuf) struct strbuf out = {0};

    add_origin(&out, u);
    if (u->path.n)
        add_ascii(&out, u->path);
    else
        strbuf_add_char(&out, '/');
    if (u->query.n) {
        strbuf_add_char(&out, '?');
        add_ascii(&out, u->query);
    }
    return arena_str(a, strbuf_str(&out));
}

bool url_same_origin(const struct url *a, const struct url *b)
{
    return str_eq(a->scheme, b->scheme) && str_eq(a->host, b->host) && a->port == b->port;
}

static bool is_usual(const struct url *u, const char *scheme)
{
    return str_is(u->scheme, scheme) && u->port == default_port(u->scheme);
}

bool url_leads_on(const struct url *from, const struct url *to)
{
    return url_same_origin(from, to) ||
           (str_eq(from->host, to->host) && is_usual(from, "http") && is_usual(to, "https"));
}

struct err *url_join(struct arena *a, struct str base, struct str path, struct str *ret_url)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str front = str_slice(base, 0, find_any(base, "?#"));
    struct url u;

    TRY(url_parse(a, base, &u));
    while (front.n && front.p[front.n - 1] == '/')
        front.n--;
    while (path.n && path.p[0] == '/')
        path = str_skip(path, 1);
    strbuf_add(&out, front);
    strbuf_add_char(&out, '/');
    strbuf_add(&out, path);
    if (u.query.n) {
        strbuf_add_char(&out, str_find_char(path, '?') == STR_NONE ? '?' : '&');
        strbuf_add(&out, u.query);
    }
    TRY(url_parse(a, strbuf_str(&out), &u));
    *ret_url = arena_str(a, strbuf_str(&out));
    return NULL;
}

/* Appends the path without its "." and ".." segments (RFC 3986, 5.2.4). */
static void add_without_dots(struct strbuf *out, struct str path)
{
    size_t start = out->n;
    struct str segment;

    path = str_skip(path, 1); /* its first '/' */
    while (str_split(&path, '/', &segment)) {
        bool is_dot = str_is(segment, "."), is_up = str_is(segment, "..");

        if (is_up) {
            size_t slash = str_rfind_char(str_skip(strbuf_str(out), start), '/');
            strbuf_cut(out, slash == STR_NONE ? start : start + slash);
        }
        if (!is_dot && !is_up) {
            strbuf_add_char(out, '/');
            strbuf_add(out, segment);
        } else if (!path.p) { /* a dot at the end still names a folder */
            strbuf_add_char(out, '/');
        }
    }
}

/* Writes the path of a relative reference: after the last slash of the base's path, or instead of
 * it. */
static void add_relative_path(struct strbuf *out, struct str base_path, struct str path)
{
    AUTO(strbuf) struct strbuf merged = {0};

    if (!str_starts(path, S("/"))) {
        size_t slash = str_rfind_char(base_path, '/');
        strbuf_add(&merged, slash == STR_NONE ? S("/") : str_slice(base_path, 0, slash + 1));
    }
    strbuf_add(&merged, path);
    add_without_dots(out, strbuf_str(&merged));
}

struct err *url_resolve(struct arena *a, const struct url *base, struct str location,
                        struct str *ret_url)
{
    AUTO(strbuf) struct strbuf out = {0};
    size_t path_end = find_any(location, "?#");
    struct str path = str_slice(location, 0, path_end), tail = str_skip(location, path_end);
    const char *why = check_bytes(location);
    struct url u;

    if (why)
        return bad_url(location, why);
    if (scheme_length(location)) {
        strbuf_add(&out, location);
    } else if (str_starts(location, S("//"))) {
        strbuf_addf(&out, "%" STR_FMT ":", STR_ARG(base->scheme));
        strbuf_add(&out, location);
    } else {
        add_origin(&out, base);
        if (path.n)
            add_relative_path(&out, base->path, path);
        else
            strbuf_add(&out, base->path);
        if (!path.n && !str_starts(tail, S("?")) && base->query.n)
            strbuf_addf(&out, "?%" STR_FMT, STR_ARG(base->query));
        strbuf_add(&out, tail);
    }
    TRY(url_parse(a, strbuf_str(&out), &u));
    *ret_url = arena_str(a, strbuf_str(&out));
    return NULL;
}
