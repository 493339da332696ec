/* check.c - validates: applies nodes to values, and the rules that apply other nodes. */
#include "base/schema/check.h"

#define MAX_DEPTH 256 /* schemas inside schemas; a frame is small, but so is a task's stack */
#define MAX_STEPS ((uint64_t)10 << 20)
#define MAX_REPORT_STEPS ((uint64_t)1 << 20) /* for explaining the findings of the first pass */

bool schema_spend(struct checker *c, uint64_t steps)
{
    if (c->error)
        return false;
    if (c->steps_left >= steps) {
        c->steps_left -= steps;
        return true;
    }
    c->error = err_hint(err_new(ERR_VALIDATION, "the value takes too long to validate"),
                        "simplify the schema, or send less at once");
    return false;
}

/* --- which children were evaluated --- */

static bool seen_init(struct checker *c, struct seen *s, size_t n)
{
    *s = (struct seen){.bits = &s->small, .n = n};
    if (n <= 64)
        return true;
    if (!schema_spend(c, n / 64))
        return false;
    s->bits = mem_alloc((n + 63) / 64 * sizeof *s->bits);
    return true;
}

static void seen_done(struct seen *s)
{
    if (s->bits != &s->small)
        mem_free(s->bits);
}

static void seen_add(struct seen *s, size_t index)
{
    if (s)
        s->bits[index / 64] |= (uint64_t)1 << (index % 64);
}

static bool seen_has(const struct seen *s, size_t index)
{
    return s->all || (s->bits[index / 64] >> (index % 64) & 1);
}

static void seen_add_all(struct seen *s)
{
    if (s)
        s->all = true;
}

static void seen_merge(struct seen *s, const struct seen *from)
{
    s->all |= from->all;
    for (size_t i = 0; i < (s->n + 63) / 64; i++)
        s->bits[i] |= from->bits[i];
}

/* --- applying a node --- */

/* Almost every rule reads long numbers and texts. */
static bool enter(struct checker *c, const struct frame *f)
{
    if (!schema_spend(c, 1 + f->value->text.n / 64))
        return false;
    if (f->depth > MAX_DEPTH)
        c->error = err_new(ERR_VALIDATION, "the value and its schema are nested too deeply");
    return !c->error;
}

static bool has_type(const struct json *value, unsigned types)
{
    if (types == 0 || types & 1u << value->type)
        return true;
    return types & TYPE_INTEGER && value->type == JSON_NUMBER &&
           schema_number_is_integer(value->text);
}

static bool check_all(struct checker *c, const struct frame *f, const struct schema_rule *rules)
{
    bool ok = true;

    for (const struct schema_rule *r = rules; r && (ok || c->faults); r = r->next)
        ok &= r->check(c, f, r);
    return ok;
}

static bool check_node(struct checker *c, const struct frame *f)
{
    const struct node *node = f->node;

    if (node->is_false)
        return FAIL(c, f, "is not allowed");
    if (!has_type(f->value, node->types))
        return schema_fail_type(c, f, node->types);
    return check_all(c, f, node->rules) && check_all(c, f, node->unevaluated);
}

/* A node with unevaluated* keeps its own account: it does not see what its cousins evaluated. */
static bool check_with_account(struct checker *c, struct frame *f)
{
    struct seen *outer = f->seen, own;
    bool ok;

    if (!seen_init(c, &own, f->value->n))
        return false;
    f->seen = &own;
    ok = check_node(c, f);
    if (ok && outer)
        seen_merge(outer, &own);
    f->seen = outer;
    seen_done(&own);
    return ok;
}

static bool apply(struct checker *c, struct frame *f)
{
    const struct node *node = f->node;

    if (!node->rules && !node->unevaluated && !node->types && !node->is_false)
        return true;
    if (!enter(c, f))
        return false;
    return node->unevaluated && f->value->n ? check_with_account(c, f) : check_node(c, f);
}

bool schema_apply(struct checker *c, const struct frame *f, const struct node *node,
                  struct seen *seen)
{
    struct frame inner = {.outer = f,
                          .node = node,
                          .value = f->value,
                          .index = f->index,
                          .seen = seen,
                          .depth = f->depth + 1};

    return apply(c, &inner);
}

bool schema_apply_child(struct checker *c, const struct frame *f, const struct node *node,
                        const struct json *child, size_t index)
{
    struct frame inner = {
        .outer = f, .node = node, .value = child, .index = index, .depth = f->depth + 1};

    return apply(c, &inner);
}

/* Answers only yes or no. What a branch evaluated counts if it fits. */
static bool fits(struct checker *c, const struct frame *f, const struct node *node)
{
    struct faults *faults = c->faults;
    struct seen own;
    bool ok;

    c->faults = NULL;
    if (!f->seen) {
        ok = schema_apply(c, f, node, NULL);
    } else if ((ok = seen_init(c, &own, f->value->n))) {
        ok = schema_apply(c, f, node, &own);
        if (ok)
            seen_merge(f->seen, &own);
        seen_done(&own);
    }
    c->faults = faults;
    return ok;
}

/* --- references --- */

/* Only a reference can lead a schema back to itself; with the same value it would do so for
 * ever. */
static bool follow(struct checker *c, const struct frame *f, const struct node *target)
{
    const struct frame *o = f;
    uint64_t n = 0;

    do {
        if (o->node == target && !c->error)
            c->error = err_new(ERR_VALIDATION, "the schema refers to itself without end");
        o = o->outer;
        n++;
    } while (o && o->value == f->value);
    return schema_spend(c, n / 4) && schema_apply(c, f, target, f->seen);
}

bool schema_check_ref(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    return follow(c, f, r->node);
}

/* The outermost resource of the dynamic scope that has the anchor decides. */
bool schema_check_dynamic_ref(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    const struct node *target = r->dynamic.node;
    const struct resource *resource = NULL;
    const struct frame *o = f;
    uint64_t n = 0;

    do {
        if (o->node->resource != resource) {
            resource = o->node->resource;
            for (const struct dynamic_anchor *a = resource->anchors; a; a = a->next, n++)
                if (str_eq(a->name, r->dynamic.anchor))
                    target = a->node;
        }
        o = o->outer;
        n++;
    } while (o);
    return schema_spend(c, n / 4) && follow(c, f, target);
}

/* --- combinations --- */

bool schema_check_all_of(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    bool ok = true;

    for (size_t i = 0; i < r->nodes.n && (ok || c->faults); i++)
        ok &= schema_apply(c, f, r->nodes.items[i], f->seen);
    return ok;
}

bool schema_check_any_of(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    bool ok = false;

    /* with `seen` every branch is checked, because each one that fits adds what it evaluated */
    for (size_t i = 0; i < r->nodes.n && (!ok || f->seen); i++)
        ok |= fits(c, f, r->nodes.items[i]);
    return ok || schema_fail_branches(c, f, &r->nodes);
}

bool schema_check_one_of(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t n_fit = 0, first = 0;

    for (size_t i = 0; i < r->nodes.n; i++) {
        if (!fits(c, f, r->nodes.items[i]))
            continue;
        if (n_fit++)
            return FAIL(c, f, "must have exactly one of %zu forms, has number %zu and number %zu",
                        r->nodes.n, first + 1, i + 1);
        first = i;
    }
    return n_fit == 1 || schema_fail_branches(c, f, &r->nodes);
}

bool schema_check_negation(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    struct faults *faults = c->faults;
    bool ok;

    c->faults = NULL;
    ok = schema_apply(c, f, r->node, NULL);
    c->faults = faults;
    return !ok || FAIL(c, f, "has a form that is not allowed");
}

bool schema_check_branch(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    const struct node *next = fits(c, f, r->branch.condition) ? r->branch.yes : r->branch.no;

    return !next || schema_apply(c, f, next, f->seen);
}

/* --- objects --- */

/* A child that only the schema for all others applies to. */
static bool check_other(struct checker *c, const struct frame *f, const struct node *node,
                        const struct json *child, size_t index)
{
    if (!node->is_false)
        return schema_apply_child(c, f, node, child, index);
    if (f->value->type == JSON_ARRAY)
        return FAIL(c, f, "has an item too many, at index %zu", index);
    return FAIL(c, f, "has the unknown property %s", schema_quote(c->arena, child->key));
}

static bool check_member(struct checker *c, const struct frame *f, const struct members *m,
                         const struct json *member, size_t index)
{
    const struct property *p =
        schema_names_find(m->named, m->n_named, sizeof *m->named, member->key);
    bool ok = true, is_known = p;

    if (p)
        ok &= schema_apply_child(c, f, p->node, member, index);
    for (size_t i = 0; i < m->n_matched; i++) {
        if (!schema_pattern_matches(c, m->matched[i].pattern, member->key))
            continue;
        is_known = true;
        ok &= schema_apply_child(c, f, m->matched[i].node, member, index);
    }
    if (!is_known && m->others)
        ok &= check_other(c, f, m->others, member, index);
    if (is_known || m->others)
        seen_add(f->seen, index);
    return ok;
}

bool schema_check_members(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t index = 0;
    bool ok = true;

    if (f->value->type != JSON_OBJECT)
        return true;
    for (const struct json *m = f->value->first; m && (ok || c->faults); m = m->next)
        ok &= schema_spend(c, 1) && check_member(c, f, &r->members, m, index++);
    return ok;
}

/* A name has no path of its own: the object gets the fault. */
static bool check_name(struct checker *c, const struct frame *f, const struct node *node,
                       struct str name)
{
    struct json text = {.type = JSON_STRING, .text = name};
    struct faults *faults = c->faults, own = {0};
    bool ok;

    c->faults = faults ? &own : NULL;
    ok = schema_apply_child(c, f, node, &text, 0);
    c->faults = faults;
    if (ok || own.n == 0)
        return ok;
    return FAIL(c, f, "has the property name %s, which %" STR_FMT, schema_quote(c->arena, name),
                STR_ARG(own.items[0].message));
}

bool schema_check_property_names(struct checker *c, const struct frame *f,
                                 const struct schema_rule *r)
{
    bool ok = true;

    if (f->value->type != JSON_OBJECT)
        return true;
    for (const struct json *m = f->value->first; m && (ok || c->faults); m = m->next)
        ok &= check_name(c, f, r->node, m->key);
    return ok;
}

static bool check_dependency(struct checker *c, const struct frame *f, const struct dependency *d)
{
    for (size_t i = 0; i < d->required.n; i++) {
        if (!schema_spend(c, 1 + f->value->n / 16))
            return false;
        if (!json_get_str(f->value, d->required.items[i]))
            return FAIL(c, f, "is missing the property %s, which %s requires",
                        schema_quote(c->arena, d->required.items[i]),
                        schema_quote(c->arena, d->name));
    }
    return !d->node || schema_apply(c, f, d->node, f->seen);
}

bool schema_check_dependencies(struct checker *c, const struct frame *f,
                               const struct schema_rule *r)
{
    const struct dependencies *all = &r->dependencies;
    bool ok = true;

    if (f->value->type != JSON_OBJECT)
        return true;
    for (const struct json *m = f->value->first; m && (ok || c->faults); m = m->next) {
        const struct dependency *d =
            schema_names_find(all->items, all->n, sizeof *all->items, m->key);

        ok &= schema_spend(c, 1) && (!d || check_dependency(c, f, d));
    }
    return ok;
}

/* --- arrays --- */

bool schema_check_prefix(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    const struct json *item = f->value->first;
    bool ok = true;

    if (f->value->type != JSON_ARRAY)
        return true;
    for (size_t i = 0; item && i < r->nodes.n && (ok || c->faults); i++, item = item->next) {
        ok &= schema_apply_child(c, f, r->nodes.items[i], item, i);
        seen_add(f->seen, i);
    }
    return ok;
}

bool schema_check_rest(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t index = 0;
    bool ok = true;

    if (f->value->type != JSON_ARRAY || f->value->n <= r->rest.skip)
        return true;
    if (r->rest.node->is_false)
        return FAIL(c, f, "must have at most %llu item%s, has %u", (unsigned long long)r->rest.skip,
                    r->rest.skip == 1 ? "" : "s", f->value->n);
    seen_add_all(f->seen);
    for (const struct json *item = f->value->first; item && (ok || c->faults); item = item->next) {
        if (index >= r->rest.skip)
            ok &= schema_apply_child(c, f, r->rest.node, item, index);
        index++;
    }
    return ok;
}

static bool fail_contains(struct checker *c, const struct frame *f, const char *what,
                          uint64_t limit, uint64_t n)
{
    return FAIL(c, f, "must contain %s %llu item%s of a certain form, has %llu", what,
                (unsigned long long)limit, limit == 1 ? "" : "s", (unsigned long long)n);
}

bool schema_check_contains(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    struct faults *faults = c->faults;
    uint64_t n = 0;
    size_t index = 0;

    if (f->value->type != JSON_ARRAY)
        return true;
    c->faults = NULL;
    json_each (item, f->value) {
        if (schema_apply_child(c, f, r->contains.node, item, index)) {
            seen_add(f->seen, index);
            n++;
        }
        index++;
        if (!f->seen && n >= r->contains.min && r->contains.max == UINT64_MAX)
            break;
    }
    c->faults = faults;
    if (n < r->contains.min)
        return fail_contains(c, f, "at least", r->contains.min, n);
    return n <= r->contains.max || fail_contains(c, f, "at most", r->contains.max, n);
}

/* --- children that no keyword has evaluated --- */

static bool check_unevaluated(struct checker *c, const struct frame *f, const struct schema_rule *r)
{
    size_t index = 0;
    bool ok = true;

    for (const struct json *m = f->value->first; m && (ok || c->faults); m = m->next, index++) {
        if (!schema_spend(c, 1))
            return false;
        if (!seen_has(f->seen, index))
            ok &= check_other(c, f, r->node, m, index);
    }
    seen_add_all(f->seen);
    return ok;
}

bool schema_check_unevaluated_items(struct checker *c, const struct frame *f,
                                    const struct schema_rule *r)
{
    return f->value->type != JSON_ARRAY || check_unevaluated(c, f, r);
}

bool schema_check_unevaluated_properties(struct checker *c, const struct frame *f,
                                         const struct schema_rule *r)
{
    return f->value->type != JSON_OBJECT || check_unevaluated(c, f, r);
}

/* --- the entry --- */

static bool run(struct checker *c, const struct schema *s, const struct json *instance)
{
    struct frame root = {.node = s->root, .value = instance, .depth = 1};

    return apply(c, &root);
}

/* Checks the value again, and describes the faults. It is known that there are some: if the smaller
 * budget ends first, the faults so far must do. */
static void explain(const struct schema *s, const struct json *instance, struct arena *a,
                    struct schema_report *ret_report)
{
    struct faults faults = {0};
    struct checker c = {.arena = a, .faults = &faults, .steps_left = MAX_REPORT_STEPS};
    struct frame root = {.node = s->root, .value = instance};

    run(&c, s, instance);
    schema_matcher_done(&c);
    err_ignore(c.error, "the answer is known");
    c.error = NULL;
    c.steps_left = MAX_REPORT_STEPS;
    if (faults.n == 0)
        schema_fail(&c, &root, FAULT_OTHER, "does not fit the schema");
    ret_report->errors = ARENA_ARRAY(a, faults.n, struct schema_error);
    ret_report->n_errors = faults.n;
    for (size_t i = 0; i < faults.n; i++)
        ret_report->errors[i] =
            (struct schema_error){.path = faults.items[i].path, .message = faults.items[i].message};
}

struct err *schema_validate(const struct schema *s, const struct json *instance, struct arena *a,
                            bool *ret_valid, struct schema_report *ret_report)
{
    struct checker c = {.arena = a, .steps_left = MAX_STEPS};
    bool ok = run(&c, s, instance);

    schema_matcher_done(&c);
    if (c.error)
        return c.error;
    *ret_report = (struct schema_report){0};
    if (!ok)
        explain(s, instance, a, ret_report);
    *ret_valid = ok;
    return NULL;
}
