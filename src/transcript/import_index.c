/* import_index.c - an open table that doubles. */
#include "transcript/import_parts.h"

#include "base/sha256.h"

#define FIRST_ROOM 64

void import_index_done(struct import_index *x)
{
    mem_free(x->slots);
    *x = (struct import_index){0};
}

uint64_t import_key(struct str name)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;
    uint64_t key;

    if (!name.n)
        return 0;
    sha256_init(&h);
    sha256_add(&h, name);
    sha256_end(&h, digest);
    memcpy(&key, digest, sizeof key);
    return key ? key : 1;
}

/* The slot of the key, or a free one for it. */
static struct import_slot *slot_of(const struct import_index *x, uint64_t key)
{
    size_t at = key & (x->room - 1);

    while (x->slots[at].key && x->slots[at].key != key)
        at = (at + 1) & (x->room - 1);
    return &x->slots[at];
}

static void grow(struct import_index *x)
{
    struct import_index larger = {.n = x->n, .room = x->room ? 2 * x->room : FIRST_ROOM};

    larger.slots = mem_alloc(larger.room * sizeof *larger.slots);
    for (size_t i = 0; i < x->room; i++)
        if (x->slots[i].key)
            *slot_of(&larger, x->slots[i].key) = x->slots[i];
    mem_free(x->slots);
    *x = larger;
}

size_t *import_index_at(struct import_index *x, uint64_t key)
{
    struct import_slot *slot;

    if (4 * (x->n + 1) > 3 * x->room)
        grow(x);
    slot = slot_of(x, key);
    if (!slot->key) {
        slot->key = key;
        x->n++;
    }
    return &slot->value;
}

size_t import_index_find(const struct import_index *x, uint64_t key)
{
    return x->room && key ? slot_of(x, key)->value : 0;
}
