/* proxy.c - HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. */
#include "net/proxy.h"

#include "net/http1_head.h"
#include "sys/env.h"

#include <arpa/inet.h>

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_cstr(a, str_of(text)) : NULL;
}

static const char *find_either(const char *const *environment, const char *lower, const char *upper)
{
    const char *value = env_find(environment, lower);

    return value ? value : env_find(environment, upper);
}

void proxy_settings_read(struct arena *a, const char *const *environment,
                         struct proxy_settings *ret_settings)
{
    bool is_cgi = env_find(environment, "REQUEST_METHOD") != NULL;
    const char *all = find_either(environment, "all_proxy", "ALL_PROXY");
    const char *http = find_either(environment, "http_proxy", is_cgi ? "http_proxy" : "HTTP_PROXY");
    const char *https = find_either(environment, "https_proxy", "HTTPS_PROXY");

    *ret_settings = (struct proxy_settings){
        .http = copy(a, http ? http : all),
        .https = copy(a, https ? https : all),
        .none = copy(a, find_either(environment, "no_proxy", "NO_PROXY")),
    };
}

/* --- NO_PROXY --- */

/* The address of a host that is one: 4 or 16 bytes, 0 for a name. */
static size_t parse_address(struct str text, unsigned char ret_bytes[16])
{
    char name[INET6_ADDRSTRLEN];

    if (text.n >= sizeof name)
        return 0;
    memcpy(name, text.p, text.n);
    name[text.n] = 0;
    if (inet_pton(AF_INET, name, ret_bytes) == 1)
        return 4;
    return inet_pton(AF_INET6, name, ret_bytes) == 1 ? 16 : 0;
}

static bool same_start(const unsigned char *a, const unsigned char *b, size_t n_bits)
{
    size_t n_bytes = n_bits / 8;
    unsigned char mask = (unsigned char)(0xFF00u >> n_bits % 8);

    return memcmp(a, b, n_bytes) == 0 &&
           (n_bits % 8 == 0 || ((a[n_bytes] ^ b[n_bytes]) & mask) == 0);
}

static bool address_matches(struct str pattern, const unsigned char *address, size_t n_bytes)
{
    size_t slash = str_find_char(pattern, '/');
    unsigned char start[16];
    int64_t n_bits = (int64_t)n_bytes * 8;

    if (slash != STR_NONE && (!str_to_int64(str_skip(pattern, slash + 1), &n_bits) || n_bits < 0 ||
                              n_bits > (int64_t)n_bytes * 8))
        return false;
    return parse_address(str_slice(pattern, 0, slash), start) == n_bytes &&
           same_start(start, address, (size_t)n_bits);
}

/* "example.com" and ".example.com" both mean the host and everything below it. */
static bool name_matches(struct str pattern, struct str host)
{
    if (str_starts(pattern, S(".")))
        pattern = str_skip(pattern, 1);
    if (str_ends(pattern, S(".")))
        pattern.n--;
    if (pattern.n == 0 || host.n < pattern.n ||
        !str_eq_nocase(str_skip(host, host.n - pattern.n), pattern))
        return false;
    return host.n == pattern.n || host.p[host.n - pattern.n - 1] == '.';
}

/* Takes ":port" and brackets off; false when the port is another one. */
static bool take_port(struct str *pattern, int port)
{
    size_t colon = str_rfind_char(*pattern, ':');
    bool bracketed = str_starts(*pattern, S("["));
    int64_t wanted;

    if (bracketed ? colon != STR_NONE && colon > 0 && pattern->p[colon - 1] == ']'
                  : colon != STR_NONE && str_find_char(*pattern, ':') == colon) {
        if (!str_to_int64(str_skip(*pattern, colon + 1), &wanted) || wanted != port)
            return false;
        pattern->n = colon;
    }
    if (bracketed && str_ends(*pattern, S("]")))
        *pattern = str_slice(*pattern, 1, pattern->n - 2);
    return true;
}

static bool matches(struct str pattern, const struct url *u)
{
    unsigned char address[16];
    size_t n_bytes = parse_address(u->host, address);

    if (str_is(pattern, "*"))
        return true;
    if (!take_port(&pattern, u->port))
        return false;
    return n_bytes ? address_matches(pattern, address, n_bytes) : name_matches(pattern, u->host);
}

static bool goes_direct(const char *list, const struct url *u)
{
    size_t n;

    for (; *list; list += n) {
        list += strspn(list, ", \t");
        n = strcspn(list, ", \t");
        if (n && matches(str_make(list, n), u))
            return true;
    }
    return false;
}

const char *proxy_choose(const struct proxy_settings *s, const struct url *u)
{
    const char *proxy = str_is(u->scheme, "https") ? s->https : s->http;

    return proxy && s->none && goes_direct(s->none, u) ? NULL : proxy;
}

/* --- a proxy's URL --- */

bool proxy_parse(struct arena *a, const char *text, struct url *ret_url)
{
    struct str whole =
        strstr(text, "://") ? arena_str(a, str_of(text)) : arena_format(a, "http://%s", text);
    struct err *e = url_parse(a, whole, ret_url);

    err_ignore(e, "it may quote a password");
    return !e;
}

size_t proxy_secrets(struct arena *a, const struct url *proxy, struct str ret_secrets[])
{
    struct str pair = url_decode(a, proxy->userinfo), header = http1_basic(a, proxy);
    size_t n = 0;

    if (pair.n == 0)
        return 0;
    ret_secrets[n++] = str_skip(pair, str_find_char(pair, ':') + 1); /* STR_NONE + 1 is 0 */
    ret_secrets[n++] = pair;
    ret_secrets[n++] = str_skip(header, str_find_char(header, ' ') + 1);
    return n;
}
