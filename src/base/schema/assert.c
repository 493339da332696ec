/* assert.c - the rules that check a value alone: choices, numbers, texts, sizes. */
#include "base/schema/check.h"
#include "base/utf8.h"

/* --- const and enum --- */

/* The first of the keys with this hash. */
static size_t find_hash(const struct choice *choice, uint64_t hash)
{
    size_t low = 0, high = choice->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (choice->keys[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_chosen(struct checker *c, const struct choice *choice, const struct json *value)
{
    struct value_key key = schema_value_key(value, 0);

    if (!schema_spend(c, key.cost))
        return false;
    for (size_t i = find_hash(choice, key.hash); i < choice->n && choice->keys[i].hash == key.hash;
         i++) {
        if (!schema_spend(c, choice->keys[i].cost))
            return false;
        if (json_equal(choice->keys[i].value, value))
            return true;
    }
    return false;
}

bool schema_check_choice(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return is_chosen(c, &r->choice, f->value) || schema_fail_choice(c, f, &r->choice);
}

/* --- numbers --- */

static bool is_number(const struct frame *f)
{
    return f->value->type == JSON_NUMBER;
}

static bool fail_number(struct checker *c, const struct frame *f, const char *what,
                        struct str number)
{
    struct json limit = {.type = JSON_NUMBER, .text = number};

    return FAIL(c, f, "must be %s %s, got %s", what, schema_brief(c->arena, &limit),
                schema_brief(c->arena, f->value));
}

bool schema_check_minimum(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return !is_number(f) || json_number_cmp(f->value->text, r->number) >= 0 ||
           fail_number(c, f, "at least", r->number);
}

bool schema_check_maximum(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return !is_number(f) || json_number_cmp(f->value->text, r->number) <= 0 ||
           fail_number(c, f, "at most", r->number);
}

bool schema_check_exclusive_minimum(struct checker *c, const struct frame *f,
                                    const struct schema_rule *r)
{
    return !is_number(f) || json_number_cmp(f->value->text, r->number) > 0 ||
           fail_number(c, f, "greater than", r->number);
}

bool schema_check_exclusive_maximum(struct checker *c, const struct frame *f,
                                    const struct schema_rule *r)
{
    return !is_number(f) || json_number_cmp(f->value->text, r->number) < 0 ||
           fail_number(c, f, "less than", r->number);
}

bool schema_check_multiple_of(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return !is_number(f) || schema_divisor_divides(&r->divisor, f->value->text) ||
           fail_number(c, f, "a multiple of", r->divisor.text);
}

/* --- texts --- */

static bool fail_length(struct checker *c, const struct frame *f, const char *what, uint64_t limit,
                        size_t n)
{
    return FAIL(c, f, "must have %s %llu character%s, has %zu", what, (unsigned long long)limit,
                limit == 1 ? "" : "s", n);
}

bool schema_check_min_length(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t n = utf8_count(json_str(f->value));

    return f->value->type != JSON_STRING || n >= r->limit ||
           fail_length(c, f, "at least", r->limit, n);
}

bool schema_check_max_length(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t n = utf8_count(json_str(f->value));

    return f->value->type != JSON_STRING || n <= r->limit ||
           fail_length(c, f, "at most", r->limit, n);
}

bool schema_check_pattern(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return f->value->type != JSON_STRING || schema_pattern_matches(c, r->pattern, f->value->text) ||
           FAIL(c, f, "must match the pattern %s",
                schema_shorten(c->arena, schema_pattern_source(r->pattern)));
}

/* --- sizes --- */

static bool fail_size(struct checker *c, const struct frame *f, const char *what, uint64_t limit)
{
    static const char *const words[2][2] = {{"items", "item"}, {"properties", "property"}};

    return FAIL(c, f, "must have %s %llu %s, has %u", what, (unsigned long long)limit,
                words[f->value->type == JSON_OBJECT][limit == 1], f->value->n);
}

static bool check_size(struct checker *c, const struct frame *f, enum json_type type, uint64_t min,
                       uint64_t max)
{
    if (f->value->type != type)
        return true;
    if (f->value->n < min)
        return fail_size(c, f, "at least", min);
    return f->value->n <= max || fail_size(c, f, "at most", max);
}

bool schema_check_min_items(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return check_size(c, f, JSON_ARRAY, r->limit, UINT64_MAX);
}

bool schema_check_max_items(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return check_size(c, f, JSON_ARRAY, 0, r->limit);
}

bool schema_check_min_properties(struct checker *c, const struct frame *f,
                                 const struct schema_rule *r)
{
    return check_size(c, f, JSON_OBJECT, r->limit, UINT64_MAX);
}

bool schema_check_max_properties(struct checker *c, const struct frame *f,
                                 const struct schema_rule *r)
{
    return check_size(c, f, JSON_OBJECT, 0, r->limit);
}

/* --- required members --- */

static const struct str *find_required(const struct schema_names *names, struct str name)
{
    return schema_names_find(names->items, names->n, sizeof *names->items, name);
}

static bool fail_required(struct checker *c, const struct frame *f,
                          const struct schema_names *names)
{
    AUTO_FREE bool *found = mem_alloc(names->n * sizeof *found);

    json_each (member, f->value) {
        const struct str *name = find_required(names, member->key);

        if (name)
            found[name - names->items] = true;
    }
    for (size_t i = 0; i < names->n; i++)
        if (!found[i])
            FAIL(c, f, "is missing the required property %s",
                 schema_quote(c->arena, names->items[i]));
    return false;
}

bool schema_check_required(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t n_found = 0;

    if (f->value->type != JSON_OBJECT)
        return true;
    if (!schema_spend(c, f->value->n))
        return false;
    json_each (member, f->value)
        n_found += find_required(&r->names, member->key) != NULL;
    if (n_found >= r->names.n)
        return true;
    return schema_wants_faults(c) && fail_required(c, f, &r->names);
}

/* --- unique items --- */

/* Two equal items are in the same run of equal hashes. */
static bool find_twins(struct checker *c, const struct value_key *keys, size_t n,
                       const struct value_key **ret_a, const struct value_key **ret_b)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && keys[k].hash == keys[i].hash; k++) {
            if (!schema_spend(c, keys[i].cost))
                return false;
            if (json_equal(keys[i].value, keys[k].value)) {
                *ret_a = &keys[i];
                *ret_b = &keys[k];
                return true;
            }
        }
    return false;
}

bool schema_check_unique_items(struct checker *c, const struct frame *f,
                               const struct schema_rule *r)
{
    const struct value_key *a, *b;
    struct value_key few[8], *keys = few;
    AUTO_FREE struct value_key *many = NULL;
    size_t n = 0;

    if (f->value->type != JSON_ARRAY || f->value->n < 2)
        return true;
    if (f->value->n > ARRAY_LEN(few)) {
        many = mem_alloc(f->value->n * sizeof *many);
        keys = many;
    }
    json_each (item, f->value) {
        keys[n] = schema_value_key(item, n);
        if (!schema_spend(c, keys[n++].cost))
            return false;
    }
    schema_value_sort(keys, n);
    return !find_twins(c, keys, n, &a, &b) ||
           FAIL(c, f, "must not hold the same item twice: items %zu and %zu are equal", a->index,
                b->index);
}
