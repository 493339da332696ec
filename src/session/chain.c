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

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool chain_hash_parse(struct str hex, struct chain_hash *ret_chain)
{
    struct chain_hash c;

    if (hex.n != 2 * SHA256_SIZE)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        int high = digit_value(hex.p[2 * i]), low = digit_value(hex.p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        c.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret_chain = c;
    return true;
}
