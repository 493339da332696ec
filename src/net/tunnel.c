/* tunnel.c - makes a proxy connect to the target. */
#include "net/http1_client.h"

#include "net/http1_head.h"

#include <arpa/inet.h>

/* --- CONNECT --- */

static struct err *hung_up(const struct tunnel *t)
{
    return err_new(ERR_NETWORK, "%s closed the connection instead of connecting to %s",
                   t->route->proxy_peer, t->route->peer);
}

static void add_target(struct strbuf *out, const struct url *u)
{
    strbuf_addf(out, u->is_ipv6 ? "[%" STR_FMT "]:%d" : "%" STR_FMT ":%d", STR_ARG(u->host),
                u->port);
}

static struct err *send_connect(const struct tunnel *t, const char *user_agent)
{
    AUTO(strbuf) struct strbuf head = {0};
    AUTO(arena) struct arena a = {0};
    struct str authorization = http1_basic(&a, &t->route->proxy);

    strbuf_add(&head, S("CONNECT "));
    add_target(&head, &t->route->target);
    strbuf_add(&head, S(" HTTP/1.1\r\nHost: "));
    add_target(&head, &t->route->target);
    if (authorization.n)
        strbuf_addf(&head, "\r\nProxy-Authorization: %" STR_FMT, STR_ARG(authorization));
    strbuf_addf(&head, "\r\nUser-Agent: %s\r\n\r\n", user_agent);
    return wire_write_all(t->wire, t->socket, strbuf_str(&head));
}

static struct err *refused(const struct tunnel *t, int status)
{
    struct err *e = err_new(ERR_NETWORK, "%s refuses to connect to %s: it answered %d%s",
                            t->route->proxy_peer, t->route->peer, status,
                            status == 407 ? ", it requires a user name and a password" : "");

    if (status / 100 == 4) /* by its rules; a 5xx is about the target, and may change */
        e = err_final(e);
    return err_hint(e, "check HTTPS_PROXY and ALL_PROXY, and what the proxy allows; NO_PROXY lists "
                       "hosts to reach without it");
}

static struct err *not_http(const struct tunnel *t)
{
    return err_hint(err_new(ERR_NETWORK, "%s is not an HTTP proxy", t->route->proxy_peer),
                    "check HTTPS_PROXY and ALL_PROXY; a SOCKS proxy is socks5://HOST:PORT");
}

/* Only the head may arrive: the target has nothing to answer yet. */
static struct err *read_status(const struct tunnel *t, struct http1_head_reader *r, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    struct http1_head head = {.status = 100};
    char bytes[1024];
    size_t at = 0, n = 0, n_used;
    bool is_whole;

    while (head.status / 100 == 1) {
        if (at == n) {
            at = 0;
            TRY(wire_read(t->wire, t->socket, bytes, sizeof bytes, &n));
            if (n == 0)
                return hung_up(t);
        }
        if (http1_head_take(r, str_make(bytes + at, n - at), &n_used, &is_whole) != HTTP1_NONE)
            return not_http(t);
        at += n_used;
        if (!is_whole)
            continue;
        if (http1_head_parse(&a, strbuf_str(&r->text), &head) != HTTP1_NONE)
            return not_http(t);
        strbuf_clear(&r->text);
    }
    if (head.status / 100 == 2 && at < n)
        return not_http(t);
    *ret_status = head.status;
    return NULL;
}

struct err *tunnel_connect(const struct tunnel *t, const char *user_agent)
{
    struct http1_head_reader r = {0};
    struct err *e = send_connect(t, user_agent);
    int status = 0;

    if (!e)
        e = read_status(t, &r, &status);
    http1_head_reader_done(&r);
    if (e)
        return e;
    return status / 100 == 2 ? NULL : refused(t, status);
}

/* --- SOCKS 5 (RFC 1928, RFC 1929) --- */

enum {
    SOCKS_VERSION = 5,
    SOCKS_NO_PASSWORD = 0,
    SOCKS_PASSWORD = 2,
    SOCKS_CONNECT = 1,
    SOCKS_IPV4 = 1,
    SOCKS_NAME = 3,
    SOCKS_IPV6 = 4,
};

static struct err *read_exactly(const struct tunnel *t, unsigned char *bytes, size_t n)
{
    while (n) {
        size_t n_now;

        TRY(wire_read(t->wire, t->socket, (char *)bytes, n, &n_now));
        if (n_now == 0)
            return hung_up(t);
        bytes += n_now;
        n -= n_now;
    }
    return NULL;
}

static struct err *no_socks(const struct tunnel *t, const char *why)
{
    return err_hint(err_new(ERR_NETWORK, "cannot use %s: %s", t->route->proxy_peer, why),
                    "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY");
}

static void add_short(struct strbuf *out, struct str text)
{
    strbuf_add_char(out, (char)text.n);
    strbuf_add(out, text);
}

static struct err *log_in(const struct tunnel *t)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf message = {0};
    struct str info = t->route->proxy.userinfo;
    size_t colon = str_find_char(info, ':');
    struct str user = url_decode(&a, str_slice(info, 0, colon)), password = {0};
    unsigned char answer[2];

    if (colon != STR_NONE)
        password = url_decode(&a, str_skip(info, colon + 1));
    if (user.n > 255 || password.n > 255)
        return no_socks(t, "SOCKS limits a user name and a password to 255 bytes each");
    strbuf_add_char(&message, 1);
    add_short(&message, user);
    add_short(&message, password);
    TRY(wire_write_all(t->wire, t->socket, strbuf_str(&message)));
    TRY(read_exactly(t, answer, sizeof answer));
    return answer[1] == 0 ? NULL
                          : err_final(no_socks(t, "it rejects the user name and the password"));
}

static struct err *agree_on_method(const struct tunnel *t)
{
    bool has_password = t->route->proxy.userinfo.n > 0;
    const char with[] = {SOCKS_VERSION, 2, SOCKS_NO_PASSWORD, SOCKS_PASSWORD};
    const char without[] = {SOCKS_VERSION, 1, SOCKS_NO_PASSWORD};
    unsigned char answer[2];

    TRY(wire_write_all(t->wire, t->socket,
                       has_password ? str_make(with, sizeof with)
                                    : str_make(without, sizeof without)));
    TRY(read_exactly(t, answer, sizeof answer));
    if (answer[0] != SOCKS_VERSION)
        return no_socks(t, "it is not a SOCKS 5 proxy");
    if (answer[1] == SOCKS_NO_PASSWORD)
        return NULL;
    if (answer[1] == SOCKS_PASSWORD && has_password)
        return log_in(t);
    return err_final(no_socks(t, "it requires a user name and a password"));
}

/* An address as bytes, a name with its length. */
static struct err *send_target(const struct tunnel *t, const char *address)
{
    AUTO(strbuf) struct strbuf message = {0};
    AUTO_FREE char *host = address ? mem_strdup(address) : str_dup(t->route->target.host);
    unsigned char bytes[16];
    int port = t->route->target.port;

    if (strlen(host) > 255)
        return no_socks(t, "SOCKS limits a host name to 255 bytes");
    strbuf_add_char(&message, SOCKS_VERSION);
    strbuf_add_char(&message, SOCKS_CONNECT);
    strbuf_add_char(&message, 0);
    if (inet_pton(AF_INET, host, bytes) == 1) {
        strbuf_add_char(&message, SOCKS_IPV4);
        strbuf_add(&message, str_make((char *)bytes, 4));
    } else if (inet_pton(AF_INET6, host, bytes) == 1) {
        strbuf_add_char(&message, SOCKS_IPV6);
        strbuf_add(&message, str_make((char *)bytes, 16));
    } else {
        strbuf_add_char(&message, SOCKS_NAME);
        add_short(&message, str_of(host));
    }
    strbuf_add_char(&message, (char)(port >> 8));
    strbuf_add_char(&message, (char)port);
    return wire_write_all(t->wire, t->socket, strbuf_str(&message));
}

static struct err *socks_refused(const struct tunnel *t, unsigned code)
{
    static const char *const reasons[] = {
        "",
        "general failure",
        "its rules do not allow it",
        "the network is unreachable",
        "the host is unreachable",
        "the connection was refused",
        "the TTL expired",
        "it does not support the command",
        "it does not support this address type",
    };

    return err_hint(
        err_new(ERR_NETWORK, "%s refuses to connect to %s: %s", t->route->proxy_peer,
                t->route->peer, code < ARRAY_LEN(reasons) ? reasons[code] : "it gives no reason"),
        "check ALL_PROXY and what the proxy allows; NO_PROXY lists hosts to reach without it");
}

/* The proxy's own address follows; skip it. */
static struct err *read_reply(const struct tunnel *t)
{
    unsigned char reply[4], rest[256 + 2];
    size_t n = 4;

    TRY(read_exactly(t, reply, sizeof reply));
    if (reply[0] != SOCKS_VERSION)
        return no_socks(t, "it is not a SOCKS 5 proxy");
    if (reply[1] != 0)
        return socks_refused(t, reply[1]);
    if (reply[3] == SOCKS_IPV6) {
        n = 16;
    } else if (reply[3] == SOCKS_NAME) {
        TRY(read_exactly(t, rest, 1));
        n = rest[0];
    } else if (reply[3] != SOCKS_IPV4) {
        return no_socks(t, "it is not a SOCKS 5 proxy");
    }
    return read_exactly(t, rest, n + 2);
}

struct err *tunnel_socks5(const struct tunnel *t, const char *address)
{
    TRY(agree_on_method(t));
    TRY(send_target(t, address));
    return read_reply(t);
}
