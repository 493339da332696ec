/* web.c - matches hosts and URLs against patterns. */
#include "gate/web.h"

#include "gate/wildcard.h"
#include "net/host_pattern.h"
#include "net/url.h"

/* --- what a pattern says --- */

enum web_kind {
    WEB_DOMAIN,  /* "domain:example.com" */
    WEB_HOST,    /* "host:example.com:8443" */
    WEB_ADDRESS, /* "https://example.com/docs/" and a star */
    WEB_TEXT,    /* begins with a star */
};

struct web_pattern {
    enum web_kind kind;
    struct host_pattern host; /* of all but the last */
    bool has_http, has_https; /* of an address */
    struct str rest;          /* of an address: its path and query */
    struct str text;          /* of the last */
};

/* "domain:*" is every host, and "host:" is about one. */
static bool parse_host(struct arena *a, struct str text, struct web_pattern *p)
{
    return host_pattern_parse(a, text, &p->host) &&
           (p->kind == WEB_DOMAIN || (p->host.host.n && !p->host.is_below_only));
}

/* Which schemes the pattern begins with; the rest follows. */
static bool take_schemes(struct str *text, struct web_pattern *p)
{
    static const struct {
        struct str begin;
        bool has_http, has_https;
    } schemes[] = {
        {S("http://"), true, false},
        {S("https://"), false, true},
        {S("http*://"), true, true},
        {S("*://"), true, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = schemes[i].begin.n;

        if (!str_eq_nocase(str_slice(*text, 0, n), schemes[i].begin))
            continue;
        p->has_http = schemes[i].has_http;
        p->has_https = schemes[i].has_https;
        *text = str_skip(*text, n);
        return true;
    }
    return false;
}

/* A star in the host is one of those of host_pattern.h: it does not reach over into the path, nor
 * from the path into the host. */
static bool parse_address(struct arena *a, struct str text, struct web_pattern *p)
{
    size_t n = 0;

    if (!take_schemes(&text, p))
        return false;
    while (n < text.n && !strchr("/?#", text.p[n]))
        n++;
    p->rest = url_ascii(a, str_skip(text, n));
    return str_find_char(p->rest, '#') == STR_NONE &&
           host_pattern_parse(a, str_slice(text, 0, n), &p->host);
}

static bool parse_pattern(struct arena *a, struct str text, struct web_pattern *ret)
{
    *ret = (struct web_pattern){.kind = WEB_DOMAIN};
    if (str_starts(text, S("domain:")))
        return parse_host(a, str_skip(text, 7), ret);
    ret->kind = WEB_HOST;
    if (str_starts(text, S("host:")))
        return parse_host(a, str_skip(text, 5), ret);
    ret->kind = WEB_ADDRESS;
    if (parse_address(a, text, ret))
        return true;
    ret->kind = WEB_TEXT;
    ret->text = text;
    return str_starts(text, S("*")) && !str_starts(text, S("*://"));
}

bool web_pattern_is_valid(struct str pattern)
{
    AUTO(arena) struct arena a = {0};
    struct web_pattern p;

    return parse_pattern(&a, pattern, &p);
}

bool web_pattern_guess(struct arena *a, struct str pattern, struct str *ret_pattern)
{
    size_t colon = str_find_char(pattern, ':'), scheme;
    struct str host = pattern;

    if (str_eq_nocase(str_slice(pattern, 0, colon), S("domain")) ||
        str_eq_nocase(str_slice(pattern, 0, colon), S("host")))
        host = str_skip(pattern, colon + 1);
    scheme = str_find(host, S("://"));
    if (scheme != STR_NONE)
        host = str_skip(host, scheme + 3);
    for (size_t n = 0; n < host.n; n++)
        if (strchr("/?#", host.p[n]))
            host.n = n;
    *ret_pattern = arena_format(a, "domain:%" STR_FMT, STR_ARG(str_trim(host)));
    return web_pattern_is_valid(*ret_pattern);
}

/* --- what an address says --- */

static int usual_port(const struct url *u)
{
    return str_is(u->scheme, "https") ? 443 : 80;
}

static bool is_fetched(const struct url *u)
{
    return (str_is(u->scheme, "http") || str_is(u->scheme, "https")) && u->userinfo.n == 0;
}

static struct str host_of(struct arena *a, const struct url *u)
{
    const char *open = u->is_ipv6 ? "[" : "", *close = u->is_ipv6 ? "]" : "";

    if (u->port == usual_port(u))
        return arena_format(a, "%s%" STR_FMT "%s", open, STR_ARG(u->host), close);
    return arena_format(a, "%s%" STR_FMT "%s:%d", open, STR_ARG(u->host), close, u->port);
}

/* Path and query as they are sent. */
static struct str rest_of(struct arena *a, const struct url *u)
{
    return url_ascii(a, arena_format(a, "%" STR_FMT "%s%" STR_FMT,
                                     STR_ARG(u->path.n ? u->path : S("/")), u->query.n ? "?" : "",
                                     STR_ARG(u->query)));
}

/* The same as most servers read it: without %-encoding, empty parts, "." and "..". */
static struct str rest_as_served(struct arena *a, struct str rest)
{
    AUTO(strbuf) struct strbuf out = {0};
    size_t n_path = MIN(str_find_char(rest, '?'), rest.n);
    struct str path = url_decode(a, str_slice(rest, 0, n_path)), part = {0};

    while (str_split(&path, '/', &part)) {
        if (str_is(part, ".."))
            strbuf_cut(&out, MIN(str_rfind_char(strbuf_str(&out), '/'), out.n));
        else if (part.n && !str_is(part, "."))
            strbuf_addf(&out, "/%" STR_FMT, STR_ARG(part));
    }
    if (out.n == 0 || part.n == 0 || str_is(part, ".") || str_is(part, ".."))
        strbuf_add_char(&out, '/');
    strbuf_add(&out, url_decode(a, str_skip(rest, n_path)));
    return arena_str(a, strbuf_str(&out));
}

/* Does a part of the path lead upwards? Then servers differ in where: whether "x%2fy" is one part
 * and an empty one counts, whether they decode twice, and what "\\" and "..;" are. */
static bool goes_up(struct arena *a, const struct url *u)
{
    struct str path = url_decode(a, url_decode(a, u->path));

    for (size_t i = 0; i + 2 <= path.n; i++) {
        bool begins = i == 0 || strchr("/\\", path.p[i - 1]); /* or NUL, also below */
        bool ends = i + 2 == path.n || strchr("/\\;?#", path.p[i + 2]);

        if (begins && ends && str_is(str_slice(path, i, 2), ".."))
            return true;
    }
    return false;
}

/* --- matching --- */

/* Widely, an address in IPv6 that leads to an IPv4 address is that address. */
static bool host_matches(const struct host_pattern *p, const struct url *u, bool with_below,
                         struct arena *a, enum reading reading)
{
    return host_pattern_matches(p, u->host, with_below) ||
           (reading == READ_WIDELY &&
            host_pattern_matches(p, url_address_inner(a, u->host), with_below));
}

static bool domain_matches(const struct web_pattern *p, const struct url *u, struct arena *a,
                           enum reading reading)
{
    return host_matches(&p->host, u, /* with_below= */ true, a, reading) &&
           host_pattern_has_port(&p->host, u->port);
}

/* Widely, a host includes all its ports. */
static bool one_host_matches(const struct web_pattern *p, const struct url *u, struct arena *a,
                             enum reading reading)
{
    if (!host_matches(&p->host, u, /* with_below= */ false, a, reading))
        return false;
    if (reading == READ_WIDELY)
        return host_pattern_has_port(&p->host, u->port);
    return is_fetched(u) && u->port == (p->host.port ? p->host.port : usual_port(u));
}

/* Widely, one way to read the path is enough; narrowly, both must match. */
static bool rest_matches(struct str pattern, const struct url *u, struct arena *a,
                         enum reading reading)
{
    struct str rest = rest_of(a, u);
    bool is_sent, is_served;

    pattern = pattern.n ? pattern : S("/");
    is_sent = wildcard_matches(pattern, rest);
    rest = rest_as_served(a, rest);
    is_served =
        wildcard_matches(pattern, rest) || wildcard_matches(rest_as_served(a, pattern), rest);
    if (reading == READ_WIDELY)
        return is_sent || is_served;
    return is_sent && is_served && (str_is(pattern, "/*") || !goes_up(a, u));
}

/* Scheme, host and port. */
static bool place_matches(const struct web_pattern *p, const struct url *u, struct arena *a,
                          enum reading reading)
{
    int port = p->host.port ? p->host.port : usual_port(u);

    if (reading == READ_NARROWLY && !is_fetched(u))
        return false;
    return (str_is(u->scheme, "https") ? p->has_https : p->has_http) && u->port == port &&
           host_matches(&p->host, u, /* with_below= */ false, a, reading);
}

/* Such a star may end anywhere: it can deny, and allows nothing. */
static bool text_matches(const struct web_pattern *p, const struct url *u, struct str text,
                         struct arena *a, enum reading reading)
{
    struct str scheme_and_host =
        arena_format(a, "%" STR_FMT "://%" STR_FMT, STR_ARG(u->scheme), STR_ARG(host_of(a, u)));
    struct str rest = rest_of(a, u), forms[] = {rest, rest_as_served(a, rest)};

    if (reading == READ_NARROWLY)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (wildcard_matches(p->text, arena_format(a, "%" STR_FMT "%" STR_FMT,
                                                   STR_ARG(scheme_and_host), STR_ARG(forms[i]))))
            return true;
    return wildcard_matches(p->text, text);
}

static bool pattern_matches(const struct web_pattern *p, const struct url *u, struct str text,
                            struct arena *a, enum reading reading)
{
    switch (p->kind) {
    case WEB_DOMAIN:
        return domain_matches(p, u, a, reading);
    case WEB_HOST:
        return one_host_matches(p, u, a, reading);
    case WEB_ADDRESS:
        return place_matches(p, u, a, reading) && rest_matches(p->rest, u, a, reading);
    case WEB_TEXT:
        break;
    }
    return text_matches(p, u, text, a, reading);
}

/* Of one that does not match: may it match where the path leads? */
static bool is_unclear(const struct web_pattern *p, const struct url *u, struct arena *a)
{
    bool is_about_paths =
        p->kind == WEB_TEXT || (p->kind == WEB_ADDRESS && place_matches(p, u, a, READ_WIDELY));

    return is_about_paths && goes_up(a, u);
}

enum match web_match(struct str pattern, struct str text, enum reading reading)
{
    AUTO(arena) struct arena a = {0};
    struct web_pattern p;
    struct url url;
    AUTO(err) struct err *e = url_parse(&a, text, &url);

    if (e || !parse_pattern(&a, pattern, &p))
        return reading == READ_WIDELY ? MATCH_UNCLEAR : MATCH_NO;
    if (pattern_matches(&p, &url, text, &a, reading))
        return MATCH_YES;
    return reading == READ_WIDELY && is_unclear(&p, &url, &a) ? MATCH_UNCLEAR : MATCH_NO;
}

static bool parse_request_url(struct arena *a, struct str text, struct url *ret_url)
{
    AUTO(err) struct err *e = url_parse(a, text, ret_url);

    return !e && is_fetched(ret_url);
}

bool web_host(struct arena *a, struct str url, struct str *ret_host)
{
    struct url u;

    if (!parse_request_url(a, url, &u))
        return false;
    *ret_host = host_of(a, &u);
    return true;
}

bool web_domain(struct arena *a, struct str url, struct str *ret_domain)
{
    struct url u;

    if (!parse_request_url(a, url, &u))
        return false;
    *ret_domain = u.host;
    return true;
}
