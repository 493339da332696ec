/* kept_body.c - takes back a body, and hashes it. */
#include "model/kept_body.h"

void kept_body_done(struct kept_body *k)
{
    strbuf_done(&k->bytes);
    strbuf_done(&k->reader);
    message_list_done(&k->messages);
    *k = (struct kept_body){0};
}

void kept_body_take(struct kept_body *k, struct strbuf *body)
{
    if (k->lent_to != body)
        return;
    k->lent_to = NULL;
    if (body->n < k->n_bytes)
        return;
    k->bytes = *body;
    strbuf_cut(&k->bytes, k->n_bytes);
    *body = (struct strbuf){0};
}

void kept_body_hash(struct kept_body *k, const struct strbuf *body, char hex[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 whole;

    if (k->lent_to != body) {
        sha256_hex(strbuf_str(body), hex);
        return;
    }
    if (k->n_hashed == 0)
        sha256_init(&k->hash);
    sha256_add(&k->hash, str_slice(strbuf_str(body), k->n_hashed, k->n_bytes - k->n_hashed));
    k->n_hashed = k->n_bytes;
    whole = k->hash;
    sha256_add(&whole, str_skip(strbuf_str(body), k->n_bytes));
    sha256_end(&whole, digest);
    sha256_format_hex(digest, hex);
}
