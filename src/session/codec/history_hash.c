/* history_hash.c - the hash so far, and the next message. */
#include "session/codec/history_hash.h"

#include "model/message_json.h"

void history_hash_add(struct history_hash *h, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;
    struct sha256 sha;

    jw_init(&w, &text);
    message_write_parts(&w, m);
    sha256_init(&sha);
    sha256_add(&sha, str_make((const char *)h->bytes, SHA256_SIZE));
    sha256_add(&sha, strbuf_str(&text));
    sha256_end(&sha, h->bytes);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool history_hash_parse(struct str hex, struct history_hash *ret_hash)
{
    struct history_hash h;

    if (hex.n != 2 * SHA256_SIZE)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        int high = digit_value(hex.p[2 * i]), low = digit_value(hex.p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        h.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret_hash = h;
    return true;
}
