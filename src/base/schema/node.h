/* node.h - the compiled form of a schema, for the files of this folder only.
 *
 * Every reachable schema and subschema is a node; a node is a list of rules in the order in which
 * they are checked. Nodes refer to each other like the schemas, so there may be cycles. All of it
 * lives in the arena of `struct schema` and never changes once it is compiled. */
#ifndef KEEL_BASE_SCHEMA_NODE_H
#define KEEL_BASE_SCHEMA_NODE_H

#include "base/schema.h"

struct checker;
struct frame;
struct node;
struct schema_pattern;
struct schema_rule;

/* A schema with its own URI. While one of its nodes is being applied, it is part of the dynamic
 * scope, in which $dynamicRef searches for its anchor. */
struct resource {
    struct dynamic_anchor *anchors;
};

struct dynamic_anchor {
    struct str name;
    const struct node *node;
    struct dynamic_anchor *next;
};

/* JSON types as bits; "integer" has one of its own. */
enum {
    TYPE_INTEGER = 1 << (JSON_OBJECT + 1),
    N_TYPES = JSON_OBJECT + 2,
};

struct node {
    const struct resource *resource;
    struct schema_rule *rules;
    struct schema_rule
        *unevaluated; /* checked after all others: they depend on what those evaluated */
    unsigned types;   /* bits 1 << JSON_x and TYPE_INTEGER; 0: any */
    bool is_false;    /* the schema `false` */
};

/* --- the data of rules; arrays that start with a name are sorted by it --- */

struct schema_names {
    struct str *items; /* sorted, without repetition */
    size_t n;
};

struct property {
    struct str name;
    const struct node *node;
};

struct pattern_property {
    const struct schema_pattern *pattern;
    const struct node *node;
};

struct members {
    struct property *named;
    struct pattern_property *matched;
    size_t n_named, n_matched;
    const struct node *others; /* additionalProperties; NULL: anything goes */
};

/* The requirement if the object has a member of this name. */
struct dependency {
    struct str name;
    struct schema_names required;
    const struct node *node; /* NULL: only `required` */
};

struct dependencies {
    struct dependency *items;
    size_t n;
};

struct node_list {
    const struct node **items;
    size_t n;
};

/* A value reduced to a number, which finds equal values without comparing all. */
struct value_key {
    uint64_t hash, cost; /* cost: steps for reading the whole value */
    const struct json *value;
    size_t index;
};

struct choice {
    const struct json *list; /* an array, in the order of the schema */
    struct value_key *keys;  /* sorted by hash */
    size_t n;
};

/* digits x 10^scale, without trailing zeros */
struct divisor {
    uint64_t digits;
    int64_t scale;
    struct str text;
};

typedef bool rule_check(struct checker *c, const struct frame *f, const struct schema_rule *r);

struct schema_rule {
    rule_check *check;
    struct schema_rule *next;
    union {
        const struct node *node; /* not, propertyNames, unevaluated*, $ref */
        struct node_list nodes;  /* allOf, anyOf, oneOf, prefixItems */
        struct members members;
        struct schema_names names;
        struct dependencies dependencies;
        struct choice choice;
        struct divisor divisor;
        const struct schema_pattern *pattern;
        struct str number;
        uint64_t limit;
        struct {
            const struct node *node; /* the target if no scope has the anchor */
            struct str anchor;
        } dynamic;
        struct {
            const struct node *condition, *yes, *no; /* yes, no: may be NULL */
        } branch;
        struct {
            const struct node *node;
            uint64_t skip;
        } rest;
        struct {
            const struct node *node;
            uint64_t min, max;
        } contains;
    };
};

/* One function per kind of rule. check.c has those that apply other schemas: */
rule_check schema_check_ref, schema_check_dynamic_ref, schema_check_all_of, schema_check_any_of,
    schema_check_one_of, schema_check_negation, schema_check_branch, schema_check_members,
    schema_check_property_names, schema_check_dependencies, schema_check_prefix, schema_check_rest,
    schema_check_contains, schema_check_unevaluated_items, schema_check_unevaluated_properties;
/* assert.c has those that check the value alone: */
rule_check schema_check_choice, schema_check_minimum, schema_check_maximum,
    schema_check_exclusive_minimum, schema_check_exclusive_maximum, schema_check_multiple_of,
    schema_check_min_length, schema_check_max_length, schema_check_pattern, schema_check_required,
    schema_check_min_items, schema_check_max_items, schema_check_unique_items,
    schema_check_min_properties, schema_check_max_properties;

/* Sorts by the `struct str` with which every item starts; not stable. */
void schema_names_sort(void *items, size_t n, size_t item_size);
/* The item of that name in a sorted array, or NULL. */
const void *schema_names_find(const void *items, size_t n, size_t item_size, struct str name);

/* --- numbers, as text and exact (number.c) --- */

bool schema_number_is_integer(struct str number);
uint64_t schema_number_hash(struct str number); /* equal for all spellings of a value */
/* False unless the number is above zero and has at most 19 significant digits. */
bool schema_divisor_parse(struct str number, struct divisor *ret_divisor);
bool schema_divisor_divides(const struct divisor *d, struct str number);

/* --- values (value.c) --- */

struct value_key schema_value_key(const struct json *v, size_t index);
void schema_value_sort(struct value_key *keys, size_t n);

/* --- patterns (pattern.c, regex.c) --- */

/* The pattern lives in the arena; the error is only the reason. */
MUST_USE struct err *schema_pattern_compile(struct arena *a, struct str source,
                                            struct schema_pattern **ret_pattern);
struct str schema_pattern_source(const struct schema_pattern *p);

/* What a pattern can do between two counted steps; see pattern.c. */
struct regex_traits {
    uint64_t longest_repeat;
    bool has_backreference;
};

/* Translates an ECMA-262 expression for PCRE2. */
MUST_USE struct err *schema_regex_translate(struct str source, struct strbuf *out,
                                            struct regex_traits *ret_traits);

struct schema {
    unsigned n_refs;
    struct arena arena; /* of everything below */
    const struct node *root;
};

#endif
