/* tls.h - TLS over any wire, by OpenSSL, which is loaded on first use.
 *
 * TLS 1.2 at least. Certificates and the names in them are always verified. Sessions are resumed
 * within a context, which is for one client and one identity. Failures are ERR_NETWORK, final where
 * the same peer would refuse again; ERR_CONFIGURATION is what a person must correct. */
#ifndef KEEL_NET_TLS_H
#define KEEL_NET_TLS_H

#include "net/ca.h"
#include "net/http.h"
#include "net/wire.h"

/* Loads OpenSSL, which takes milliseconds and which the first connection would do. Thread-safe, and
 * cheap after the first time. */
MUST_USE struct err *tls_load(void);

/* The trusted certificates: read once, shared by contexts. */
struct tls_trust;
MUST_USE struct err *tls_trust_new(const struct ca_options *options, struct tls_trust **ret_trust);
void tls_trust_free(struct tls_trust *t);

struct tls_context;
MUST_USE struct err *tls_context_new(const struct tls_trust *trust,
                                     const struct http_identity *identity,
                                     struct tls_context **ret_context);
void tls_context_free(struct tls_context *c); /* after all its wires */
bool tls_context_is_for(const struct tls_context *c, const struct http_identity *identity);

/* Opens a wire to `host` at `port` over another one, which it owns from here on, also after an
 * error. Waits for the handshake. `peer` is for messages. */
MUST_USE struct err *tls_open(struct tls_context *c, struct wire *take_lower, struct socket *bottom,
                              struct str host, int port, const char *peer, struct wire **ret_wire);

#endif
