/* lookup.c - asks the resolver in a worker, because it blocks. */
#include "net/lookup.h"

#include "sys/work.h"

#include <arpa/inet.h>
#include <netdb.h>

static const void *address_bytes(const struct addrinfo *info)
{
    if (info->ai_family == AF_INET6)
        return &((const struct sockaddr_in6 *)(const void *)info->ai_addr)->sin6_addr;
    return &((const struct sockaddr_in *)(const void *)info->ai_addr)->sin_addr;
}

void lookup_block(struct lookup *l)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;

    l->error = getaddrinfo(l->host, NULL, &hints, &list);
    if (l->error)
        return;
    for (const struct addrinfo *i = list; i && l->n < LOOKUP_MAX_ADDRESSES; i = i->ai_next)
        if (i->ai_family == AF_INET || i->ai_family == AF_INET6)
            inet_ntop(i->ai_family, address_bytes(i), l->addresses[l->n++], INET6_ADDRSTRLEN);
    freeaddrinfo(list);
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
