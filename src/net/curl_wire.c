/* curl_wire.c - bytes that are neither headers nor content, which libcurl does not report.
 *
 * Headers and bodies are counted where they arrive. What stands between chunks (their extensions)
 * libcurl reads and forgets, however much it is. The kernel has counted it. */
#include "net/curl_exchange.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define CALLS_PER_LOOK 64                    /* libcurl calls at every read from the socket */
#define FREE_WIRE_BYTES ((uint64_t)16 << 20) /* TLS, chunks and what was read ahead */
#define WIRE_BYTES_PER_BYTE 64               /* a chunk of one byte in a record of its own */

static bool count_wire(const struct http_exchange *x, uint64_t *ret_n)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof info;

    if (!x->is_watched || getsockopt(x->fd, IPPROTO_TCP, TCP_INFO, &info, &n) != 0)
        return false; /* a Unix socket, or no connection yet */
    *ret_n = info.tcpi_bytes_received;
    return true;
}

void exchange_watches(struct http_exchange *x, curl_socket_t fd, bool is_watched)
{
    if (!is_watched && fd != x->fd)
        return; /* the loser of a race between two addresses */
    if (!x->is_watched || fd != x->fd)
        x->has_wire_before = false;
    x->is_watched = is_watched;
    x->fd = fd;
}

int exchange_check_wire(void *exchange, curl_off_t n_down, curl_off_t n_now, curl_off_t n_up,
                        curl_off_t n_sent)
{
    struct http_exchange *x = exchange;
    uint64_t n_wire;

    if (x->has_wire_before && ++x->n_progress_calls % CALLS_PER_LOOK)
        return 0;
    if (!count_wire(x, &n_wire))
        return 0;
    if (!x->has_wire_before) {
        x->n_wire_before = n_wire;
        x->has_wire_before = true;
    }
    if (n_wire - x->n_wire_before <
        FREE_WIRE_BYTES + WIRE_BYTES_PER_BYTE * (x->n_head_bytes + x->n_body_bytes))
        return 0;
    exchange_fail(
        x, err_new(ERR_BAD_RESPONSE, "%" STR_FMT " sent %llu MiB between the pieces of its answer",
                   STR_ARG(x->url.host), (unsigned long long)((n_wire - x->n_wire_before) >> 20)));
    return 1;
}
