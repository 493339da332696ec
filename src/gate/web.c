/* web.c - hosts and URLs against patterns. */
#include "gate/web.h"

#include "gate/wildcard.h"
#include "net/url.h"

static bool is_below(struct str host, struct str domain)
{
    size_t n = host.n > domain.n ? host.n - domain.n : 0;

    return n && host.p[n - 1] == '.' && str_eq_nocase(str_skip(host, n), domain);
}

/* "*.example.com" is only those below it. */
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

/* Widely, another spelling of the same URL counts too. */
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
    else
        matches = text_matches(pattern, &url, text, &a, reading);
    return matches ? MATCH_YES : MATCH_NO;
}
