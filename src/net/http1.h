/* http1.h - keel's HTTP/1.1 client.
 *
 * Proxies come from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY (proxy.h, route.h); whom to
 * trust says ca.h, which is read for the first exchange over TLS. OpenSSL is opened by that
 * exchange too; a library or certificates that are missing are ERR_CONFIGURATION.
 *
 * Nothing is asked to be compressed and nothing is decompressed. A connection that was kept and
 * dies before a byte of the answer has come is replaced once; nothing else is sent twice. A waiting
 * exchange holds one buffer of 16 KB, of 4 KB when there are many; a reader that is slow leaves the
 * rest to the kernel. All time-outs run by the loop's clock. */
#ifndef KEEL_NET_HTTP1_H
#define KEEL_NET_HTTP1_H

#include "net/ca.h"
#include "net/http.h"

struct http1_options {
    /* ca.environment is where proxies are read as well. It must live as long as the client. */
    struct ca_options ca;
    const char *user_agent; /* NULL: keel/VERSION */
};

/* For the loop of the current task. */
struct http_client *http1_client_new(const struct http1_options *options) MUST_USE;

#endif
