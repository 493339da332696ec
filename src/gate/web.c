/* web.c - matches hosts and URLs against patterns. */
#include "gate/web.h"

#include "gate/wildcard.h"
#include "net/url.h"

static bool is_below(struct str host, struct str domain)
{
    size_t n = host.n > domain.n ? host.n - domain.n : 0;

    return n && host.p[n - 1] == '.' && str_eq_nocase(str_skip(host, n), domain);
}

/* "*.example.com" matches only subdomains. */
static bool domain_matches(struct str domain, struct str host)
{
    if (str_ends(domain, S(".")))
        domain.n--;
    if (str_is(domain, "*"))
        return true;
    if (str_starts(domain, S("*.")))
        return is_below(host, str_skip(domain, 2));
    return str_eq_nocase(host, domain) || is_below(host, domain);
}

static bool is_fetched(const struct url *u)
{
    return (str_is(u->scheme, "http") || str_is(u->scheme, "https")) && u->userinfo.n == 0;
}

static struct str host_of(struct arena *a, const struct url *u)
{
    const char *open = u->is_ipv6 ? "[" : "", *close = u->is_ipv6 ? "]" : "";

    if (u->port == (str_is(u->scheme, "https") ? 443 : 80))
        return arena_format(a, "%s%" STR_FMT "%s", open, STR_ARG(u->host), close);
    return arena_format(a, "%s%" STR_FMT "%s:%d", open, STR_ARG(u->host), close, u->port);
}

/* Widely, a host includes all its ports. */
static bool host_matches(struct str host, const struct url *u, struct arena *a,
                         enum reading reading)
{
    struct url plain = *u;

    if (!is_fetched(u))
        return reading == READ_WIDELY && str_eq_nocase(host, u->host);
    if (str_eq_nocase(host, host_of(a, u)))
        return true;
    plain.port = str_is(u->scheme, "https") ? 443 : 80;
    return reading == READ_WIDELY && str_eq_nocase(host, host_of(a, &plain));
}

/* Widely, another spelling of the same URL also matches. */
static bool text_matches(struct str pattern, const struct url *u, struct str text, struct arena *a,
                         enum reading reading)
{
    return wildcard_matches(pattern, text) ||
           (reading == READ_WIDELY && wildcard_matches(pattern, url_format(a, u)));
}

enum match web_match(struct str pattern, struct str text, enum reading reading)
{
    AUTO(arena) struct arena a = {0};
    struct url url;
    AUTO(err) struct err *e = url_parse(&a, text, &url);
    bool matches;

    if (e)
        return reading == READ_WIDELY ? MATCH_UNCLEAR : MATCH_NO;
    if (str_starts(pattern, S("domain:")))
        matches = domain_matches(str_trim(str_skip(pattern, 7)), url.host);
    else if (str_starts(pattern, S("host:")))
        matches = host_matches(str_trim(str_skip(pattern, 5)), &url, &a, reading);
    else
        matches = text_matches(pattern, &url, text, &a, reading);
    return matches ? MATCH_YES : MATCH_NO;
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
