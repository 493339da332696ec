/* lookup.c - asks the resolver, which blocks, in a worker. */
#include "net/lookup.h"

#include "net/url.h"
#include "sys/auto_fd.h"
#include "sys/work.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

/* An IPv4 address in IPv6 is the IPv4 address. */
static void add_address(struct lookup *l, const struct addrinfo *info)
{
    const struct sockaddr_in *v4 = (const void *)info->ai_addr;
    const struct sockaddr_in6 *v6 = (const void *)info->ai_addr;
    char *text = l->addresses[l->n++];

    if (info->ai_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
    else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, text, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
}

void lookup_block(struct lookup *l)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;

    l->error = getaddrinfo(l->host, NULL, &hints, &list);
    if (l->error)
        return;
    for (const struct addrinfo *i = list; i && l->n < LOOKUP_MAX_ADDRESSES; i = i->ai_next)
        if (i->ai_family == AF_INET || i->ai_family == AF_INET6)
            add_address(l, i);
    freeaddrinfo(list);
}

/* --- whose it is --- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t parse_address(const char *text, union address *ret)
{
    *ret = (union address){0};
    if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons(9);
        return sizeof ret->v4;
    }
    if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) != 1)
        return 0;
    ret->v6.sin6_family = AF_INET6;
    ret->v6.sin6_port = htons(9);
    return sizeof ret->v6;
}

static bool same_address(const union address *a, const union address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}

/* The kernel knows the way there without a packet: to an address of its own it comes from there. */
static bool is_own(const char *text)
{
    union address there, here = {0};
    socklen_t n_bytes = parse_address(text, &there), n_here = sizeof here;
    AUTO_FD fd = n_bytes ? socket(there.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

    return fd >= 0 && connect(fd, &there.any, n_bytes) == 0 &&
           getsockname(fd, &here.any, &n_here) == 0 && same_address(&there, &here);
}

bool lookup_is_public(const char *address)
{
    return !url_address_is_private(str_of(address)) && !is_own(address);
}

static struct err *lookup_work(void *arg)
{
    lookup_block(arg);
    return NULL;
}

struct err *lookup_run(struct lookup *l)
{
    return work_run(lookup_work, l);
}

struct err *lookup_not_found(const struct lookup *l)
{
    return err_hint(err_new(ERR_NETWORK, "cannot resolve the host name %s: %s", l->host,
                            l->error ? gai_strerror(l->error) : "it has no address"),
                    "check the spelling of the host name");
}
