/* credential.c - holding a secret for as short as possible. */
#include "port/credential.h"

#include "base/secrets.h"

void secret_done(struct secret *s)
{
    if (s->p)
        mem_wipe(s->p, s->n);
    mem_free(s->p);
    *s = (struct secret){0};
}

void secret_set(struct secret *s, struct str value)
{
    secret_done(s);
    if (value.n)
        *s = (struct secret){.p = str_dup(value), .n = value.n};
}

void secret_hide_in_err(const struct secret *s, struct err *e)
{
    struct secret_value value = {S("key"), str_make(s->p, s->n)};
    AUTO(secrets) struct secrets *set = e ? secrets_new(&value, 1) : NULL;

    secrets_hide_in_err(set, e);
}

struct err *credentials_get(const struct credentials *c, struct str provider, bool refresh,
                            struct secret *ret_secret)
{
    if (!c)
        return NULL;
    return c->get(c->self, provider, refresh, ret_secret);
}
