/* keyword.c - turns keywords into rules.
 *
 * The table at the end names every keyword. A wrong schema is an error that says where it is wrong.
 * But schemas for tools come from many authors, so the forms of older drafts are read as they were
 * meant: `items` as a list, `additionalItems`, `dependencies`, `definitions`, a boolean
 * `exclusiveMinimum` or `required`, and null for a missing keyword. */
#include "base/schema/compile.h"
#include "base/schema/uri.h"
#include "base/utf8.h"

#define MAX_SHOWN_BYTES 200 /* of a pattern in an error */

static struct schema_rule *append(struct compiler *c, struct schema_rule **list, rule_check *check)
{
    while (*list)
        list = &(*list)->next;
    *list = ARENA_NEW(&c->schema->arena, struct schema_rule);
    (*list)->check = check;
    return *list;
}

static struct schema_rule *add_rule(struct compiler *c, struct site *site,
                                    const struct schema_keyword *k)
{
    return append(c, &site->node->rules, k->check);
}

/* --- readers of values --- */

/* A member that exists and is not null. */
static const struct json *present(const struct json *at, const char *name)
{
    const struct json *value = json_get(at, name);

    return json_is(value, JSON_NULL) ? NULL : value;
}

static struct err *want_type(struct compiler *c, const struct site *site, const struct json *value,
                             enum json_type type)
{
    static const char *const phrases[] = {"null",     "true or false", "a number",
                                          "a string", "a list",        "an object"};

    if (value->type == type)
        return NULL;
    return schema_complain(c, site, "\"%" STR_FMT "\" must be %s", STR_ARG(value->key),
                           phrases[type]);
}

/* A count: an integer that is not negative. One beyond all sizes stays beyond. */
static struct err *read_count(struct compiler *c, const struct site *site, const struct json *value,
                              uint64_t *ret_count)
{
    int64_t count;

    if (value->type != JSON_NUMBER || !schema_number_is_integer(value->text) ||
        json_number_cmp(value->text, S("0")) < 0)
        return schema_complain(c, site, "\"%" STR_FMT "\" must be an integer of at least 0",
                               STR_ARG(value->key));
    *ret_count = json_int64(value, &count) ? (uint64_t)count : UINT64_MAX;
    return NULL;
}

/* A list of names, sorted and without repetition. */
static struct err *read_names(struct compiler *c, const struct site *site, const struct json *value,
                              struct schema_names *ret_names)
{
    struct str *items;
    size_t n = 0;

    TRY(want_type(c, site, value, JSON_ARRAY));
    items = ARENA_ARRAY(&c->schema->arena, value->n, struct str);
    json_each (name, value) {
        if (name->type != JSON_STRING)
            return schema_complain(c, site, "\"%" STR_FMT "\" must hold strings only",
                                   STR_ARG(value->key));
        items[n++] = arena_str(&c->schema->arena, name->text);
    }
    schema_names_sort(items, n, sizeof *items);
    *ret_names = (struct schema_names){.items = items};
    for (size_t i = 0; i < n; i++)
        if (ret_names->n == 0 || !str_eq(items[ret_names->n - 1], items[i]))
            items[ret_names->n++] = items[i];
    return NULL;
}

static struct err *read_nodes(struct compiler *c, const struct site *site, const struct json *value,
                              struct node_list *ret_nodes)
{
    size_t n = 0;

    TRY(want_type(c, site, value, JSON_ARRAY));
    ret_nodes->items = ARENA_ARRAY(&c->schema->arena, value->n, const struct node *);
    json_each (child, value)
        ret_nodes->items[n++] = schema_want(c, child);
    ret_nodes->n = n;
    return NULL;
}

static struct err *read_pattern(struct compiler *c, const struct site *site, struct str source,
                                const struct schema_pattern **ret_pattern)
{
    struct schema_pattern *pattern;
    AUTO(err) struct err *e = schema_pattern_compile(&c->schema->arena, source, &pattern);

    source = utf8_truncate(source, MAX_SHOWN_BYTES);
    if (e)
        return schema_complain(c, site, "the pattern %" STR_FMT " cannot be used: %s",
                               STR_ARG(source), e->text);
    *ret_pattern = pattern;
    return NULL;
}

/* A copy without the source bytes. The parser has bounded its depth. */
static struct json *copy_value(struct arena *a, const struct json *v)
{
    struct json *copy = json_new(a, v->type);

    copy->boolean = v->boolean;
    copy->text = v->text.n ? arena_str(a, v->text) : (struct str){0};
    copy->key = v->key.n ? arena_str(a, v->key) : (struct str){0};
    json_each (child, v)
        json_push(copy, copy_value(a, child));
    return copy;
}

/* --- references --- */

static void add_ref(struct compiler *c, struct site *site, struct site *target)
{
    schema_want_site(c, target);
    append(c, &site->node->rules, schema_check_ref)->node = target->node;
}

static struct err *compile_ref(struct compiler *c, struct site *site,
                               const struct schema_keyword *k, const struct json *value)
{
    struct site *target;

    TRY(want_type(c, site, value, JSON_STRING));
    TRY(schema_resolve(c, site, value->text, &target));
    add_ref(c, site, target);
    return NULL;
}

/* Dynamic only if it leads, without a dynamic scope, to a $dynamicAnchor of that name. */
static struct err *compile_dynamic_ref(struct compiler *c, struct site *site,
                                       const struct schema_keyword *k, const struct json *value)
{
    struct str uri = json_str(value), anchor = schema_uri_cut_fragment(&uri);
    struct site *target;
    struct schema_rule *r;

    TRY(want_type(c, site, value, JSON_STRING));
    TRY(schema_resolve(c, site, value->text, &target));
    if (anchor.n == 0 || !str_eq(anchor, json_get_text(target->at, "$dynamicAnchor"))) {
        add_ref(c, site, target);
        return NULL;
    }
    r = add_rule(c, site, k);
    r->dynamic.node = target->node;
    r->dynamic.anchor = arena_str(&c->schema->arena, anchor);
    return NULL;
}

/* --- any value --- */

static struct err *add_type(struct compiler *c, struct site *site, const struct json *name)
{
    for (unsigned type = 0; type < N_TYPES; type++) {
        const char *known = type <= JSON_OBJECT ? json_type_name(type) : "integer";

        if (str_eq_nocase(json_str(name), str_of(known))) { /* some APIs write STRING */
            site->node->types |= 1u << type;
            return NULL;
        }
    }
    return schema_complain(c, site,
                           "\"type\" must be null, boolean, number, integer, string, array "
                           "or object, or a list of them");
}

static struct err *compile_type(struct compiler *c, struct site *site,
                                const struct schema_keyword *k, const struct json *value)
{
    if (value->type != JSON_ARRAY)
        return add_type(c, site, value);
    json_each (name, value)
        TRY(add_type(c, site, name));
    return NULL;
}

static void add_choice(struct compiler *c, struct site *site, const struct schema_keyword *k,
                       struct json *list)
{
    struct choice *choice = &add_rule(c, site, k)->choice;

    choice->list = list;
    choice->keys = ARENA_ARRAY(&c->schema->arena, list->n, struct value_key);
    json_each (v, list) {
        choice->keys[choice->n] = schema_value_key(v, choice->n);
        choice->n++;
    }
    schema_value_sort(choice->keys, choice->n);
}

static struct err *compile_enum(struct compiler *c, struct site *site,
                                const struct schema_keyword *k, const struct json *value)
{
    TRY(want_type(c, site, value, JSON_ARRAY));
    add_choice(c, site, k, copy_value(&c->schema->arena, value));
    return NULL;
}

static struct err *compile_const(struct compiler *c, struct site *site,
                                 const struct schema_keyword *k, const struct json *value)
{
    struct json *list = json_new(&c->schema->arena, JSON_ARRAY);

    json_push(list, copy_value(&c->schema->arena, value));
    add_choice(c, site, k, list);
    return NULL;
}

/* --- numbers --- */

static struct err *compile_bound(struct compiler *c, struct site *site,
                                 const struct schema_keyword *k, const struct json *value)
{
    TRY(want_type(c, site, value, JSON_NUMBER));
    add_rule(c, site, k)->number = arena_str(&c->schema->arena, value->text);
    return NULL;
}

/* In draft 4 "exclusiveMinimum": true changed what "minimum" means. */
static struct err *compile_exclusive(struct compiler *c, struct site *site,
                                     const struct schema_keyword *k, const struct json *value)
{
    bool is_minimum = k->check == schema_check_exclusive_minimum;
    const struct json *bound = present(site->at, is_minimum ? "minimum" : "maximum");

    if (value->type != JSON_BOOL)
        return compile_bound(c, site, k, value);
    return value->boolean && bound ? compile_bound(c, site, k, bound) : NULL;
}

static struct err *compile_multiple_of(struct compiler *c, struct site *site,
                                       const struct schema_keyword *k, const struct json *value)
{
    struct divisor divisor;

    TRY(want_type(c, site, value, JSON_NUMBER));
    if (!schema_divisor_parse(value->text, &divisor))
        return schema_complain(c, site,
                               "\"multipleOf\" must be greater than 0 and have at most 19 "
                               "digits that count");
    divisor.text = arena_str(&c->schema->arena, value->text);
    add_rule(c, site, k)->divisor = divisor;
    return NULL;
}

/* --- counts --- */

static struct err *compile_limit(struct compiler *c, struct site *site,
                                 const struct schema_keyword *k, const struct json *value)
{
    uint64_t limit = 0;

    TRY(read_count(c, site, value, &limit));
    add_rule(c, site, k)->limit = limit;
    return NULL;
}

static struct err *compile_unique_items(struct compiler *c, struct site *site,
                                        const struct schema_keyword *k, const struct json *value)
{
    TRY(want_type(c, site, value, JSON_BOOL));
    if (value->boolean)
        add_rule(c, site, k);
    return NULL;
}

static struct err *compile_pattern(struct compiler *c, struct site *site,
                                   const struct schema_keyword *k, const struct json *value)
{
    const struct schema_pattern *pattern = NULL;

    TRY(want_type(c, site, value, JSON_STRING));
    TRY(read_pattern(c, site, value->text, &pattern));
    add_rule(c, site, k)->pattern = pattern;
    return NULL;
}

/* --- objects --- */

static struct err *compile_required(struct compiler *c, struct site *site,
                                    const struct schema_keyword *k, const struct json *value)
{
    struct schema_names names;

    if (value->type == JSON_BOOL)
        return NULL; /* draft 3: a property declares itself required */
    TRY(read_names(c, site, value, &names));
    add_rule(c, site, k)->names = names;
    return NULL;
}

static struct err *read_named(struct compiler *c, const struct site *site, const struct json *map,
                              struct members *members)
{
    TRY(want_type(c, site, map, JSON_OBJECT));
    members->named = ARENA_ARRAY(&c->schema->arena, map->n, struct property);
    json_each (child, map)
        members->named[members->n_named++] = (struct property){
            .name = arena_str(&c->schema->arena, child->key), .node = schema_want(c, child)};
    schema_names_sort(members->named, members->n_named, sizeof *members->named);
    return NULL;
}

static struct err *read_matched(struct compiler *c, const struct site *site, const struct json *map,
                                struct members *members)
{
    TRY(want_type(c, site, map, JSON_OBJECT));
    members->matched = ARENA_ARRAY(&c->schema->arena, map->n, struct pattern_property);
    json_each (child, map) {
        struct pattern_property *p = &members->matched[members->n_matched++];

        TRY(read_pattern(c, site, child->key, &p->pattern));
        p->node = schema_want(c, child);
    }
    return NULL;
}

/* properties, patternProperties and additionalProperties are one rule, made for the first of
 * them. */
static struct err *compile_members(struct compiler *c, struct site *site,
                                   const struct schema_keyword *k, const struct json *value)
{
    const struct json *named = present(site->at, "properties");
    const struct json *matched = present(site->at, "patternProperties");
    const struct json *others = present(site->at, "additionalProperties");
    const struct json *first = named ? named : matched ? matched : others;
    struct members members = {0};

    if (value != first)
        return NULL;
    if (named)
        TRY(read_named(c, site, named, &members));
    if (matched)
        TRY(read_matched(c, site, matched, &members));
    if (others)
        members.others = schema_want(c, others);
    add_rule(c, site, k)->members = members;
    return NULL;
}

/* dependentRequired, dependentSchemas, and the older keyword for both. */
static struct err *compile_dependencies(struct compiler *c, struct site *site,
                                        const struct schema_keyword *k, const struct json *value)
{
    struct dependencies all = {0};

    TRY(want_type(c, site, value, JSON_OBJECT));
    all.items = ARENA_ARRAY(&c->schema->arena, value->n, struct dependency);
    json_each (child, value) {
        struct dependency *d = &all.items[all.n++];

        d->name = arena_str(&c->schema->arena, child->key);
        if (child->type == JSON_ARRAY)
            TRY(read_names(c, site, child, &d->required));
        else if (schema_find_site(c, child))
            d->node = schema_want(c, child);
        else
            return schema_complain(c, site, "\"%s\" must hold lists of names", k->name);
    }
    schema_names_sort(all.items, all.n, sizeof *all.items);
    add_rule(c, site, k)->dependencies = all;
    return NULL;
}

/* --- arrays --- */

static struct err *compile_items(struct compiler *c, struct site *site,
                                 const struct schema_keyword *k, const struct json *value)
{
    const struct json *prefix = present(site->at, "prefixItems");
    struct schema_rule *r;

    if (value->type == JSON_ARRAY) {
        struct node_list nodes;

        TRY(read_nodes(c, site, value, &nodes));
        append(c, &site->node->rules, schema_check_prefix)->nodes = nodes;
        return NULL;
    }
    r = add_rule(c, site, k);
    r->rest.node = schema_want(c, value);
    r->rest.skip = json_is(prefix, JSON_ARRAY) ? prefix->n : 0;
    return NULL;
}

/* Has a meaning only beside `items` as a list. */
static struct err *compile_additional_items(struct compiler *c, struct site *site,
                                            const struct schema_keyword *k,
                                            const struct json *value)
{
    const struct json *prefix = present(site->at, "items");
    struct schema_rule *r;

    if (!json_is(prefix, JSON_ARRAY))
        return NULL;
    r = add_rule(c, site, k);
    r->rest.node = schema_want(c, value);
    r->rest.skip = prefix->n;
    return NULL;
}

static struct err *compile_contains(struct compiler *c, struct site *site,
                                    const struct schema_keyword *k, const struct json *value)
{
    const struct json *min = present(site->at, "minContains");
    const struct json *max = present(site->at, "maxContains");
    bool counts = site->base->vocabularies & VOCABULARY_VALIDATION;
    struct schema_rule *r = add_rule(c, site, k);

    r->contains.node = schema_want(c, value);
    r->contains.min = 1;
    r->contains.max = UINT64_MAX;
    if (counts && min)
        TRY(read_count(c, site, min, &r->contains.min));
    if (counts && max)
        TRY(read_count(c, site, max, &r->contains.max));
    return NULL;
}

/* --- combinations --- */

/* A list without any schemas requires nothing. */
static struct err *compile_list(struct compiler *c, struct site *site,
                                const struct schema_keyword *k, const struct json *value)
{
    struct node_list nodes;

    TRY(read_nodes(c, site, value, &nodes));
    if (nodes.n)
        add_rule(c, site, k)->nodes = nodes;
    return NULL;
}

static struct err *compile_node(struct compiler *c, struct site *site,
                                const struct schema_keyword *k, const struct json *value)
{
    add_rule(c, site, k)->node = schema_want(c, value);
    return NULL;
}

static struct err *compile_if(struct compiler *c, struct site *site, const struct schema_keyword *k,
                              const struct json *value)
{
    const struct json *yes = present(site->at, "then"), *no = present(site->at, "else");
    struct schema_rule *r = add_rule(c, site, k);

    r->branch.condition = schema_want(c, value);
    r->branch.yes = yes ? schema_want(c, yes) : NULL;
    r->branch.no = no ? schema_want(c, no) : NULL;
    return NULL;
}

static struct err *compile_unevaluated(struct compiler *c, struct site *site,
                                       const struct schema_keyword *k, const struct json *value)
{
    append(c, &site->node->unevaluated, k->check)->node = schema_want(c, value);
    return NULL;
}

/* --- the table --- */

#define CORE VOCABULARY_CORE
#define APPLICATOR VOCABULARY_APPLICATOR
#define UNEVALUATED VOCABULARY_UNEVALUATED
#define VALIDATION VOCABULARY_VALIDATION
#define ANNOTATION VOCABULARY_ANNOTATION

const struct schema_keyword schema_keywords[] = {
    {"$ref", CORE, SHAPE_NONE, compile_ref, schema_check_ref},
    {"$dynamicRef", CORE, SHAPE_NONE, compile_dynamic_ref, schema_check_dynamic_ref},
    {"$defs", CORE, SHAPE_MAP},
    {"definitions", CORE, SHAPE_MAP},
    {"type", VALIDATION, SHAPE_NONE, compile_type},
    {"const", VALIDATION, SHAPE_NONE, compile_const, schema_check_choice, .takes_null = true},
    {"enum", VALIDATION, SHAPE_NONE, compile_enum, schema_check_choice},
    {"minimum", VALIDATION, SHAPE_NONE, compile_bound, schema_check_minimum},
    {"maximum", VALIDATION, SHAPE_NONE, compile_bound, schema_check_maximum},
    {"exclusiveMinimum", VALIDATION, SHAPE_NONE, compile_exclusive, schema_check_exclusive_minimum},
    {"exclusiveMaximum", VALIDATION, SHAPE_NONE, compile_exclusive, schema_check_exclusive_maximum},
    {"multipleOf", VALIDATION, SHAPE_NONE, compile_multiple_of, schema_check_multiple_of},
    {"minLength", VALIDATION, SHAPE_NONE, compile_limit, schema_check_min_length},
    {"maxLength", VALIDATION, SHAPE_NONE, compile_limit, schema_check_max_length},
    {"pattern", VALIDATION, SHAPE_NONE, compile_pattern, schema_check_pattern},
    {"required", VALIDATION, SHAPE_NONE, compile_required, schema_check_required},
    {"minProperties", VALIDATION, SHAPE_NONE, compile_limit, schema_check_min_properties},
    {"maxProperties", VALIDATION, SHAPE_NONE, compile_limit, schema_check_max_properties},
    {"properties", APPLICATOR, SHAPE_MAP, compile_members, schema_check_members},
    {"patternProperties", APPLICATOR, SHAPE_MAP, compile_members, schema_check_members},
    {"additionalProperties", APPLICATOR, SHAPE_SCHEMA, compile_members, schema_check_members},
    {"propertyNames", APPLICATOR, SHAPE_SCHEMA, compile_node, schema_check_property_names},
    {"dependentRequired", VALIDATION, SHAPE_NONE, compile_dependencies, schema_check_dependencies},
    {"dependentSchemas", APPLICATOR, SHAPE_MAP, compile_dependencies, schema_check_dependencies},
    {"dependencies", APPLICATOR, SHAPE_MAP_OR_NAMES, compile_dependencies,
     schema_check_dependencies},
    {"minItems", VALIDATION, SHAPE_NONE, compile_limit, schema_check_min_items},
    {"maxItems", VALIDATION, SHAPE_NONE, compile_limit, schema_check_max_items},
    {"uniqueItems", VALIDATION, SHAPE_NONE, compile_unique_items, schema_check_unique_items},
    {"prefixItems", APPLICATOR, SHAPE_LIST, compile_list, schema_check_prefix},
    {"items", APPLICATOR, SHAPE_SCHEMA_OR_LIST, compile_items, schema_check_rest},
    {"additionalItems", APPLICATOR, SHAPE_SCHEMA, compile_additional_items, schema_check_rest},
    {"contains", APPLICATOR, SHAPE_SCHEMA, compile_contains, schema_check_contains},
    {"allOf", APPLICATOR, SHAPE_LIST, compile_list, schema_check_all_of},
    {"anyOf", APPLICATOR, SHAPE_LIST, compile_list, schema_check_any_of},
    {"oneOf", APPLICATOR, SHAPE_LIST, compile_list, schema_check_one_of},
    {"not", APPLICATOR, SHAPE_SCHEMA, compile_node, schema_check_negation},
    {"if", APPLICATOR, SHAPE_SCHEMA, compile_if, schema_check_branch},
    {"then", APPLICATOR, SHAPE_SCHEMA},
    {"else", APPLICATOR, SHAPE_SCHEMA},
    {"contentSchema", ANNOTATION, SHAPE_SCHEMA},
    {"unevaluatedItems", UNEVALUATED, SHAPE_SCHEMA, compile_unevaluated,
     schema_check_unevaluated_items},
    {"unevaluatedProperties", UNEVALUATED, SHAPE_SCHEMA, compile_unevaluated,
     schema_check_unevaluated_properties},
    {0},
};
