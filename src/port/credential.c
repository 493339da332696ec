/* credential.c - holding a secret for as short as possible. */
#include "port/credential.h"

#include "base/secret_keys.h"

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

void secret_hide(const struct secret *s, struct str text, struct strbuf *out)
{
    struct str value = str_make(s->p, s->n);
    size_t at;

    while (s->n >= SECRET_MIN_HIDDEN && (at = str_find(text, value)) != STR_NONE) {
        strbuf_add(out, str_slice(text, 0, at));
        strbuf_add_cstr(out, REDACTED);
        text = str_skip(text, at + s->n);
    }
    strbuf_add(out, text);
}

void secret_hide_in_err(const struct secret *s, struct err *e)
{
    for (; e; e = e->cause) {
        AUTO(strbuf) struct strbuf text = {0};

        secret_hide(s, str_of(e->text), &text);
        mem_free(e->text);
        e->text = strbuf_take(&text);
    }
}

struct err *credentials_get(const struct credentials *c, struct str provider, bool refresh,
                            struct secret *ret_secret)
{
    if (!c)
        return NULL;
    return c->get(c->self, provider, refresh, ret_secret);
}
