/* chain.c - the hash so far, and the next message. */
#include "session/chain.h"

#include "model/message_json.h"

void chain_hash_add(struct chain_hash *c, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;
    struct sha256 h;

    jw_init(&w, &text);
    message_write_parts(&w, m);
    sha256_init(&h);
    sha256_add(&h, str_make((const char *)c->bytes, SHA256_SIZE));
    sha256_add(&h, strbuf_str(&text));
    sha256_end(&h, c->bytes);
}
