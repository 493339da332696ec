/* credential.c - holding a secret for as short as possible. */
#include "port/credential.h"

#include "base/secrets.h"

static void free_wiped(char *text)
{
    if (text)
        mem_wipe(text, strlen(text));
    mem_free(text);
}

void secret_done(struct secret *s)
{
    if (s->p)
        mem_wipe(s->p, s->n);
    mem_free(s->p);
    free_wiped(s->id);
    free_wiped(s->session);
    *s = (struct secret){0};
}

void secret_set(struct secret *s, struct str value)
{
    secret_done(s);
    if (value.n)
        *s = (struct secret){.p = str_dup(value), .n = value.n};
}

void secret_set_signing(struct secret *s, struct str id, struct str key, struct str session)
{
    secret_set(s, key);
    s->id = str_dup(id);
    s->session = session.n ? str_dup(session) : NULL;
}

void secret_copy(struct secret *s, const struct secret *from)
{
    if (from->id)
        secret_set_signing(s, str_of(from->id), str_make(from->p, from->n), str_of(from->session));
    else
        secret_set(s, str_make(from->p, from->n));
}

void secret_hide_in_err(const struct secret *s, struct err *e)
{
    struct secret_value values[] = {{S("key"), str_make(s->p, s->n)},
                                    {S("session token"), str_of(s->session)}};
    AUTO(secrets) struct secrets *set = e ? secrets_new(values, ARRAY_LEN(values)) : NULL;

    secrets_hide_in_err(set, e);
}

struct err *credentials_get(const struct credentials *c, struct str provider, bool refresh,
                            struct secret *ret_secret)
{
    if (!c)
        return NULL;
    return c->get(c->self, provider, refresh, ret_secret);
}
