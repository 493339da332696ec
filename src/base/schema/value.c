/* value.c - values as keys: a hash that agrees with json_equal(), and names in order. */
#include "base/schema/node.h"

#include <stdlib.h>

/* Spreads the bits, so that sums of hashes do not cancel out. */
static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct json *v, uint64_t *cost)
{
    uint64_t hash = (uint64_t)v->type + 1;

    *cost += 1 + v->text.n / 64;
    switch (v->type) {
    case JSON_NULL:
        break;
    case JSON_BOOL:
        hash += 16 * (v->boolean + 1u);
        break;
    case JSON_NUMBER:
        hash += schema_number_hash(v->text);
        break;
    case JSON_STRING:
        hash += str_hash(v->text);
        break;
    case JSON_ARRAY:
        json_each (element, v)
            hash = mix(hash) + hash_of(element, cost);
        break;
    case JSON_OBJECT:
        /* comparing members that stand in another order searches for each */
        *cost += (uint64_t)v->n * v->n / 64;
        json_each (member, v)
            hash += mix(str_hash(member->key) + hash_of(member, cost));
        break;
    }
    return mix(hash);
}

struct value_key schema_value_key(const struct json *v, size_t index)
{
    struct value_key key = {.value = v, .index = index};

    key.hash = hash_of(v, &key.cost);
    return key;
}

static int key_cmp(const void *a, const void *b)
{
    const struct value_key *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void schema_value_sort(struct value_key *keys, size_t n)
{
    if (n)
        qsort(keys, n, sizeof *keys, key_cmp);
}

static int name_cmp(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void schema_names_sort(void *items, size_t n, size_t item_size)
{
    if (n)
        qsort(items, n, item_size, name_cmp);
}

const void *schema_names_find(const void *items, size_t n, size_t item_size, struct str name)
{
    return n ? bsearch(&name, items, n, item_size, name_cmp) : NULL;
}
