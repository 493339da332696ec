/* gram.c - which runs of three bytes a text holds. */
#include "gate/gram.h"

#define N_BYTES 3

static uint16_t gram_at(const char *p)
{
    uint32_t gram = (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
                    (uint32_t)(unsigned char)p[2] << 16;

    return (uint16_t)((gram * UINT32_C(0x9E3779B1)) >> (32 - GRAM_BITS));
}

struct gram_key gram_key_of_any(void)
{
    return (struct gram_key){GRAM_NONE, GRAM_NONE};
}

void gram_key_add(struct gram_key *key, struct str plain)
{
    if (plain.n < N_BYTES)
        return;
    if (key->first == GRAM_NONE)
        key->first = gram_at(plain.p);
    key->last = gram_at(plain.p + plain.n - N_BYTES);
}

void grams_add(struct grams *g, struct str text)
{
    for (size_t i = 0; i + N_BYTES <= text.n; i++)
        g->has[gram_at(text.p + i)] = true;
    g->has[GRAM_NONE] = true;
}

void grams_add_all(struct grams *g)
{
    memset(g->has, true, sizeof g->has);
}
