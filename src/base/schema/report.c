/* report.c - describes faults to a person and to a model: where, what was wanted, and of several
 * possible forms the most likely one. */
#include "base/schema/check.h"
#include "base/utf8.h"

#include <stdio.h>

#define MAX_TEXT_BYTES 80 /* of a value in a message */
#define MAX_PATTERN_BYTES 200
#define MAX_CHOICES 16     /* values of an enum that a message lists */
#define MAX_FORMS 4        /* forms that one sentence joins */
#define STEPS_PER_FAULT 64 /* making a sentence is work */
#define BYTES_PER_STEP 16

/* --- values in messages --- */

const char *schema_shorten(struct arena *a, struct str text)
{
    struct str start = utf8_truncate(text, MAX_PATTERN_BYTES);

    return arena_format(a, "%" STR_FMT "%s", STR_ARG(start), start.n < text.n ? "..." : "").p;
}

const char *schema_quote(struct arena *a, struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str start = utf8_truncate(text, MAX_TEXT_BYTES);

    json_write_string(&out, start);
    if (start.n < text.n)
        strbuf_add(&out, S("..."));
    return arena_cstr(a, strbuf_str(&out));
}

/* Takes what the value needs from the room. False: it is too little. */
static bool has_room(const struct json *v, size_t *room)
{
    size_t need = 4 + v->text.n + v->key.n;

    if (need > *room)
        return false;
    *room -= need;
    json_each (child, v)
        if (!has_room(child, room))
            return false;
    return true;
}

const char *schema_brief(struct arena *a, const struct json *v)
{
    AUTO(strbuf) struct strbuf out = {0};
    size_t room = MAX_TEXT_BYTES;

    if (v->type == JSON_STRING)
        return schema_quote(a, v->text);
    if (has_room(v, &room)) {
        json_write(&out, v);
        return arena_cstr(a, strbuf_str(&out));
    }
    if (v->type != JSON_NUMBER)
        return v->type == JSON_ARRAY ? "[...]" : "{...}";
    strbuf_add(&out, str_slice(v->text, 0, MAX_TEXT_BYTES));
    strbuf_add(&out, S("..."));
    return arena_cstr(a, strbuf_str(&out));
}

/* --- paths --- */

/* Is the frame for another value than the one around it? */
static bool is_step(const struct frame *f)
{
    return f->outer && f->outer->value != f->value;
}

static size_t token_length(struct str key)
{
    size_t n = key.n;

    for (size_t i = 0; i < key.n; i++)
        n += key.p[i] == '~' || key.p[i] == '/';
    return n;
}

/* Writes "/name" so that it ends before `end`; returns its start. */
static char *write_token(char *end, struct str key)
{
    for (size_t i = key.n; i-- > 0;) {
        char c = key.p[i];

        if (c == '~' || c == '/') {
            *--end = c == '~' ? '0' : '1';
            c = '~';
        }
        *--end = c;
    }
    *--end = '/';
    return end;
}

static struct str token_of(const struct frame *f, char digits[24])
{
    if (f->outer->value->type != JSON_ARRAY)
        return f->value->key;
    return str_make(digits, (size_t)snprintf(digits, 24, "%zu", f->index));
}

/* Frames lead from the inside out, so the pointer is written from its end. */
static struct str path_of(struct checker *c, const struct frame *f, size_t *ret_level)
{
    char digits[24], *end;
    size_t n = 0;

    *ret_level = 0;
    for (const struct frame *o = f; o; o = o->outer)
        if (is_step(o)) {
            n += 1 + token_length(token_of(o, digits));
            ++*ret_level;
        }
    if (!schema_spend(c, n / BYTES_PER_STEP))
        return (struct str){0};
    end = (char *)arena_alloc(c->arena, n + 1) + n;
    for (const struct frame *o = f; o; o = o->outer)
        if (is_step(o))
            end = write_token(end, token_of(o, digits));
    return str_make(end, n);
}

/* --- faults --- */

static void add_fault(struct checker *c, struct schema_fault fault)
{
    struct faults *list = c->faults;

    if (list->n == SCHEMA_MAX_ERRORS)
        return;
    list->items = arena_grow(c->arena, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = fault;
}

static struct schema_fault *fail_with(struct checker *c, const struct frame *f,
                                      enum fault_kind kind, struct str message)
{
    struct schema_fault fault = {.kind = kind, .message = message};

    fault.path = path_of(c, f, &fault.level);
    add_fault(c, fault);
    return &c->faults->items[c->faults->n - 1];
}

bool schema_fail(struct checker *c, const struct frame *f, enum fault_kind kind, const char *format,
                 ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    if (!schema_wants_faults(c))
        return false;
    schema_spend(c, STEPS_PER_FAULT);
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    fail_with(c, f, kind, arena_str(c->arena, strbuf_str(&text)));
    return false;
}

/* --- types --- */

static const char *type_phrase(unsigned type)
{
    static const char *const phrases[N_TYPES] = {"null",     "a boolean", "a number",  "a string",
                                                 "an array", "an object", "an integer"};
    return phrases[type];
}

/* "must be a string or null, got a number" */
static struct str type_message(struct checker *c, const struct json *value, unsigned wanted)
{
    AUTO(strbuf) struct strbuf text = {0};
    bool is_fraction = wanted & TYPE_INTEGER && value->type == JSON_NUMBER;
    unsigned left = wanted;

    strbuf_add(&text, S("must be "));
    for (unsigned type = 0; type < N_TYPES; type++) {
        if (!(left & 1u << type))
            continue;
        left &= ~(1u << type);
        strbuf_addf(&text, "%s%s", type_phrase(type),
                    !left                      ? ""
                    : (left & (left - 1)) == 0 ? " or "
                                               : ", ");
    }
    strbuf_addf(&text, ", got %s",
                is_fraction ? schema_brief(c->arena, value) : type_phrase(value->type));
    return arena_str(c->arena, strbuf_str(&text));
}

bool schema_fail_type(struct checker *c, const struct frame *f, unsigned wanted)
{
    if (!schema_wants_faults(c))
        return false;
    schema_spend(c, STEPS_PER_FAULT);
    fail_with(c, f, FAULT_TYPE, type_message(c, f->value, wanted))->types = wanted;
    return false;
}

/* --- choices --- */

bool schema_fail_choice(struct checker *c, const struct frame *f, const struct choice *choice)
{
    AUTO(strbuf) struct strbuf text = {0};
    size_t n = 0;

    if (!schema_wants_faults(c))
        return false;
    json_each (v, choice->list) {
        if (n == MAX_CHOICES) {
            strbuf_addf(&text, " or %u others", choice->list->n - MAX_CHOICES);
            break;
        }
        strbuf_addf(&text, "%s%s", n++ ? ", " : "", schema_brief(c->arena, v));
    }
    if (n == 0)
        return schema_fail(c, f, FAULT_CHOICE, "can have no value at all");
    return schema_fail(c, f, FAULT_CHOICE, "must be %s%s", n == 1 ? "" : "one of ",
                       strbuf_cstr(&text));
}

/* --- several forms --- */

/* How near a form came, best first: it was not a matter of another type or another choice, its
 * faults lie deep inside, and they are few. */
struct nearness {
    bool other_type, other_choice;
    size_t level, n_faults;
};

static struct nearness nearness_of(const struct faults *faults, size_t level)
{
    struct nearness near = {.level = SIZE_MAX, .n_faults = faults->n};

    for (size_t i = 0; i < faults->n; i++) {
        const struct schema_fault *fault = &faults->items[i];

        near.other_type |= fault->kind == FAULT_TYPE && fault->level == level;
        near.other_choice |= fault->kind == FAULT_CHOICE && fault->level <= level + 1;
        near.level = MIN(near.level, fault->level);
    }
    return near;
}

static int nearness_cmp(const struct nearness *a, const struct nearness *b)
{
    if (a->other_type != b->other_type)
        return a->other_type ? -1 : 1;
    if (a->other_choice != b->other_choice)
        return a->other_choice ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    return (a->n_faults < b->n_faults) - (a->n_faults > b->n_faults);
}

/* The forms that came nearest; more than one when they came equally near. */
struct nearest_forms {
    struct nearness near;
    struct faults forms[MAX_FORMS];
    size_t n, n_more;
};

static void consider(struct nearest_forms *best, const struct faults *faults, size_t level)
{
    struct nearness near = nearness_of(faults, level);
    int order = best->n ? nearness_cmp(&near, &best->near) : 1;

    if (order < 0)
        return;
    if (order > 0)
        *best = (struct nearest_forms){.near = near};
    if (best->n == MAX_FORMS)
        best->n_more++;
    else
        best->forms[best->n++] = *faults;
}

static bool is_one_place(const struct nearest_forms *best, enum fault_kind kind)
{
    for (size_t i = 0; i < best->n; i++) {
        const struct faults *form = &best->forms[i];

        if (form->n != 1 || form->items[0].kind != kind ||
            !str_eq(form->items[0].path, best->forms[0].items[0].path))
            return false;
    }
    return true;
}

/* Joins what equally near forms want into one sentence. */
static struct str join_forms(struct checker *c, const struct nearest_forms *best, struct str path)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < best->n; i++) {
        const struct schema_fault *first = &best->forms[i].items[0];
        struct str below = str_skip(first->path, path.n);

        strbuf_addf(&text, "%s%" STR_FMT "%s%" STR_FMT, i ? "; or " : "", STR_ARG(below),
                    below.n ? " " : "", STR_ARG(first->message));
    }
    if (best->n_more)
        strbuf_addf(&text, "; or have one of %zu other forms", best->n_more);
    return arena_str(c->arena, strbuf_str(&text));
}

static void fail_joined(struct checker *c, const struct frame *f, const struct nearest_forms *best)
{
    struct schema_fault fault = best->forms[0].items[0];

    if (is_one_place(best, FAULT_TYPE) && best->near.other_type && best->n_more == 0) {
        for (size_t i = 1; i < best->n; i++)
            fault.types |= best->forms[i].items[0].types;
        fault.message = type_message(c, f->value, fault.types);
    } else {
        struct schema_fault here = {.path = path_of(c, f, &here.level)};

        if (!is_one_place(best, fault.kind))
            fault = here;
        fault.message = join_forms(c, best, fault.path);
    }
    add_fault(c, fault);
}

bool schema_fail_branches(struct checker *c, const struct frame *f, const struct node_list *nodes)
{
    struct faults *faults = c->faults;
    struct nearest_forms *best;
    size_t level;

    if (!schema_wants_faults(c))
        return false;
    path_of(c, f, &level);
    best = ARENA_NEW(c->arena, struct nearest_forms);
    for (size_t i = 0; i < nodes->n && schema_spend(c, STEPS_PER_FAULT); i++) {
        struct faults own = {0};

        c->faults = &own;
        schema_apply(c, f, nodes->items[i], NULL);
        if (own.n)
            consider(best, &own, level);
    }
    c->faults = faults;
    if (c->error)
        return false;
    if (best->n == 0)
        return schema_fail(c, f, FAULT_OTHER, "has none of the %zu allowed forms", nodes->n);
    if (best->n > 1)
        fail_joined(c, f, best);
    for (size_t i = 0; best->n == 1 && i < best->forms[0].n; i++)
        add_fault(c, best->forms[0].items[i]);
    return false;
}
