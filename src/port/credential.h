/* credential.h - where secrets come from: asked per attempt, never kept.
 *
 * A secret is wiped when its holder is done with it. It never stands in a provider, an event, an
 * error text or a log. */
#ifndef KEEL_PORT_CREDENTIAL_H
#define KEEL_PORT_CREDENTIAL_H

#include "base/err.h"
#include "base/strbuf.h"

struct secret {
    char *p; /* heap, NUL-terminated; NULL: none is needed */
    size_t n;
    char *id;      /* of a key that signs requests and is not sent itself; NULL: it is sent */
    char *session; /* what goes with requests that are signed; NULL: nothing */
};
void secret_done(struct secret *s);
void secret_set(struct secret *s, struct str value);
/* A key that signs; `session` may be empty. */
void secret_set_signing(struct secret *s, struct str id, struct str key, struct str session);
void secret_copy(struct secret *s, const struct secret *from);
DEFINE_AUTO_VAL(secret, secret_done)

/* For what a peer says, who may repeat it: "[REDACTED]" in place of the secret, in an error and in
 * its causes. */
void secret_hide_in_err(const struct secret *s, struct err *e);

struct credentials {
    /* The secret for a provider profile; may wait. With `refresh`, a new one: the last was refused
     * (an implementation that cannot renew returns ERR_PROVIDER_AUTH). A profile that needs none
     * gives an empty secret. */
    struct err *(*get)(void *self, struct str provider, bool refresh, struct secret *ret_secret);
    void *self;
};

MUST_USE struct err *credentials_get(const struct credentials *c, struct str provider, bool refresh,
                                     struct secret *ret_secret);

#endif
