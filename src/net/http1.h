/* http1.h - keel's HTTP/1.1 client.
 *
 * Proxies come from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY (proxy.h, route.h), trusted
 * certificates from ca.h, which is read for the first exchange over TLS. That exchange also loads
 * OpenSSL. A missing library or missing certificates are ERR_CONFIGURATION.
 *
 * The client asks for no compression and decompresses nothing. It replaces a kept connection once
 * if it dies before a byte of the response has arrived. It sends nothing else twice. A waiting
 * exchange holds one buffer of 16 KB, or of 4 KB when there are many; a slow reader leaves the rest
 * to the kernel. All time-outs use the loop's clock. */
#ifndef KEEL_NET_HTTP1_H
#define KEEL_NET_HTTP1_H

#include "net/ca.h"
#include "net/http.h"

struct http1_options {
    /* Proxies are read from ca.environment too. It must live as long as the client. */
    struct ca_options ca;
    const char *user_agent; /* NULL: keel/VERSION */
};

/* Works on the loop of the current task. */
struct http_client *http1_client_new(const struct http1_options *options) MUST_USE;

#endif
