/* url_address.c - which addresses are not of the public Internet. */
#include "net/url.h"

#include <arpa/inet.h>

struct address_range {
    unsigned char start[16];
    unsigned n_bits;
};

/* IANA's special-purpose registry, without the few entries that are globally reachable. */
static const struct address_range private_v4[] = {
    {{0}, 8},                 /* this network */
    {{10}, 8},                /* private */
    {{100, 64}, 10},          /* carrier-grade NAT */
    {{127}, 8},               /* loopback */
    {{168, 63, 129, 16}, 32}, /* the host of a machine in Azure, which gives it its secrets */
    {{169, 254}, 16},         /* link-local; the metadata services of clouds */
    {{172, 16}, 12},          /* private */
    {{192, 0, 0}, 24},        /* protocol assignments */
    {{192, 0, 2}, 24},        /* documentation */
    {{192, 88, 99}, 24},      /* 6to4 relays */
    {{192, 168}, 16},         /* private */
    {{198, 18}, 15},          /* benchmarks */
    {{198, 51, 100}, 24},     /* documentation */
    {{203, 0, 113}, 24},      /* documentation */
    {{224}, 4},               /* multicast */
    {{240}, 4},               /* reserved, broadcast */
};

/* Global unicast is 2000::/3; all outside is loopback, local, multicast or not assigned. */
static const struct address_range global_v6 = {{0x20}, 3};
static const struct address_range private_v6[] = {
    {{0x20, 0x01}, 23},             /* protocol assignments, Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x3f, 0xff}, 20},             /* documentation */
};

/* Ranges that carry an IPv4 address, and at which byte. */
static const struct {
    struct address_range range;
    unsigned at;
} carriers_of_v4[] = {
    {{{[10] = 0xff, 0xff}, 96}, 12},      /* ::ffff:0:0/96, mapped */
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12}, /* 64:ff9b::/96, NAT64 */
    {{{0x20, 0x02}, 16}, 2},              /* 2002::/16, 6to4 */
};

static bool in_range(const unsigned char *address, const struct address_range *r)
{
    unsigned n_bytes = r->n_bits / 8, n_bits = r->n_bits % 8;
    unsigned char mask = (unsigned char)(0xFF00u >> n_bits);

    if (memcmp(address, r->start, n_bytes) != 0)
        return false;
    return n_bits == 0 || ((address[n_bytes] ^ r->start[n_bytes]) & mask) == 0;
}

static bool in_any_range(const unsigned char *address, const struct address_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (in_range(address, &ranges[i]))
            return true;
    return false;
}

static bool is_private_v4(const unsigned char *address)
{
    return in_any_range(address, private_v4, ARRAY_LEN(private_v4));
}

/* NULL: it carries none. */
static const unsigned char *find_v4(const unsigned char *address)
{
    for (size_t i = 0; i < ARRAY_LEN(carriers_of_v4); i++)
        if (in_range(address, &carriers_of_v4[i].range))
            return address + carriers_of_v4[i].at;
    return NULL;
}

static bool is_private_v6(const unsigned char *address)
{
    const unsigned char *v4 = find_v4(address);

    if (v4)
        return is_private_v4(v4);
    return !in_range(address, &global_v6) ||
           in_any_range(address, private_v6, ARRAY_LEN(private_v6));
}

/* AF_INET, AF_INET6, or 0 when it is neither. */
static int parse_address(struct str text, unsigned char ret_address[16])
{
    char copy[INET6_ADDRSTRLEN];

    if (text.n == 0 || text.n >= sizeof copy || memchr(text.p, 0, text.n))
        return 0;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (inet_pton(AF_INET, copy, ret_address) == 1)
        return AF_INET;
    return inet_pton(AF_INET6, copy, ret_address) == 1 ? AF_INET6 : 0;
}

bool url_address_is_private(struct str text)
{
    unsigned char address[16];

    switch (parse_address(text, address)) {
    case AF_INET:
        return is_private_v4(address);
    case AF_INET6:
        return is_private_v6(address);
    default:
        return true;
    }
}

struct str url_address_inner(struct arena *a, struct str text)
{
    unsigned char address[16];
    const unsigned char *v4 = parse_address(text, address) == AF_INET6 ? find_v4(address) : NULL;
    char plain[INET_ADDRSTRLEN];

    return v4 && inet_ntop(AF_INET, v4, plain, sizeof plain) ? arena_str(a, str_of(plain)) : text;
}

bool url_host_is_address(struct str host)
{
    unsigned char address[16];

    return parse_address(host, address) != 0;
}

bool url_host_is_loopback(struct str host)
{
    static const unsigned char mapped[12] = {[10] = 0xff, 0xff}, one[16] = {[15] = 1};
    const struct str local = S(".localhost");
    unsigned char address[16];

    switch (parse_address(host, address)) {
    case AF_INET:
        return address[0] == 127;
    case AF_INET6:
        return memcmp(address, one, 16) == 0 ||
               (memcmp(address, mapped, 12) == 0 && address[12] == 127);
    default:
        return str_eq_nocase(host, S("localhost")) ||
               (host.n > local.n && str_eq_nocase(str_skip(host, host.n - local.n), local));
    }
}
