/* host_pattern.c - reads and compares words that mean hosts. */
#include "net/host_pattern.h"

/* The URL parser knows how hosts and ports are written, and in which spelling they compare. */
static bool parse_place(struct arena *a, struct str text, struct url *ret)
{
    struct err *e;

    for (size_t i = 0; i < text.n; i++)
        if (strchr("/@?#", text.p[i])) /* and NUL */
            return false;
    e = url_parse(a, arena_format(a, "http://%" STR_FMT, STR_ARG(text)), ret);
    err_ignore(e, "it speaks of a URL, which the person did not write");
    return !e;
}

/* An IPv6 address may stand without brackets where no port follows. */
static struct str with_brackets(struct arena *a, struct str text)
{
    bool is_bare = url_host_is_address(text) && str_find_char(text, ':') != STR_NONE;

    return is_bare ? arena_format(a, "[%" STR_FMT "]", STR_ARG(text)) : text;
}

bool host_pattern_parse(struct arena *a, struct str text, struct host_pattern *ret_pattern)
{
    struct str host = with_brackets(a, str_trim(text));
    bool is_every = str_is(host, "*") || str_starts(host, S("*:"));
    bool is_below = str_starts(host, S("*."));
    struct host_pattern p;
    struct url u;

    if (is_below)
        host = str_skip(host, 2);
    if (is_every)
        host = arena_format(a, "every%" STR_FMT, STR_ARG(str_skip(host, 1)));
    if (host.n == 0 || !parse_place(a, host, &u))
        return false;
    p = (struct host_pattern){
        .host = is_every ? (struct str){0} : u.host,
        .port = u.has_port ? u.port : 0,
        .is_below_only = is_below,
        .is_address = !is_every && url_host_is_address(u.host),
    };
    if (p.is_address && is_below)
        return false;
    *ret_pattern = p;
    return true;
}

static bool is_below(struct str host, struct str domain)
{
    size_t n = host.n > domain.n ? host.n - domain.n : 0;

    return n && host.p[n - 1] == '.' && str_eq(str_skip(host, n), domain);
}

bool host_pattern_matches(const struct host_pattern *p, struct str host, bool with_below)
{
    if (p->host.n == 0)
        return true;
    if (p->is_address || url_host_is_address(host))
        return str_eq(p->host, host);
    if ((with_below || p->is_below_only) && is_below(host, p->host))
        return true;
    return !p->is_below_only && str_eq(p->host, host);
}

bool host_pattern_has_port(const struct host_pattern *p, int port)
{
    return p->port == 0 || p->port == port;
}
