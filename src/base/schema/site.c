/* site.c - where schemas are: documents, their subschemas, and what references mean. */
#include "base/schema/compile.h"
#include "base/schema/uri.h"
#include "base/utf8.h"

#define MAX_SITES 100000
#define MAX_ARENA_BYTES ((size_t)64 << 20)
#define MAX_SCRATCH_BYTES ((size_t)256 << 20)
#define MAX_LOOKED_AT ((uint64_t)100 << 20) /* members, on the way of all references */
#define MAX_URI_BYTES 4096
#define MAX_PLACE_BYTES 200 /* of a place in an error */
#define MAX_STEP_BYTES 60

/* --- tables --- */

static struct schema_entry *slot_of(const struct site_table *t, struct str key)
{
    size_t at = str_hash(key) & (t->n_slots - 1);

    while (t->slots[at].site && !str_eq(t->slots[at].key, key))
        at = (at + 1) & (t->n_slots - 1);
    return &t->slots[at];
}

static struct site *table_find(const struct site_table *t, struct str key)
{
    return t->n_slots ? slot_of(t, key)->site : NULL;
}

/* The first one of a key stays. */
static void table_add(struct arena *a, struct site_table *t, struct str key, struct site *site)
{
    struct schema_entry *slot;

    if (t->n * 2 >= t->n_slots) {
        struct site_table bigger = {.n = t->n, .n_slots = MAX(t->n_slots * 2, (size_t)64)};

        bigger.slots = ARENA_ARRAY(a, bigger.n_slots, struct schema_entry);
        for (size_t i = 0; i < t->n_slots; i++)
            if (t->slots[i].site)
                *slot_of(&bigger, t->slots[i].key) = t->slots[i];
        *t = bigger;
    }
    slot = slot_of(t, key);
    if (!slot->site) {
        *slot = (struct schema_entry){.key = key, .site = site};
        t->n++;
    }
}

/* --- complaints --- */

static struct str before(struct compiler *c, struct str step, struct str path)
{
    step = utf8_truncate(step, MAX_STEP_BYTES);
    return arena_format(&c->scratch, "/%" STR_FMT "%" STR_FMT, STR_ARG(step), STR_ARG(path));
}

/* A JSON Pointer for a person: long names and long ways are cut. */
static struct str place_of(struct compiler *c, const struct site *site)
{
    struct str path = {0};

    for (; site->parent && path.n < MAX_PLACE_BYTES; site = site->parent) {
        if (site->name.p)
            path = before(c, site->name, path);
        path = before(c, site->keyword, path);
    }
    if (site->parent)
        return arena_format(&c->scratch, "...%" STR_FMT, STR_ARG(path));
    return arena_format(&c->scratch, "%" STR_FMT "#%" STR_FMT, STR_ARG(site->base->uri),
                        STR_ARG(path));
}

struct err *schema_complain(struct compiler *c, const struct site *site, const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str place = place_of(c, site);
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    return err_new(ERR_VALIDATION, "the schema is not valid at %" STR_FMT ": %s", STR_ARG(place),
                   strbuf_cstr(&text));
}

/* --- finding sites --- */

static struct str place_key(const struct json *const *at)
{
    return str_make((const char *)at, sizeof *at);
}

struct site *schema_find_site(const struct compiler *c, const struct json *at)
{
    return table_find(&c->places, place_key(&at));
}

struct err *schema_check_size(const struct compiler *c)
{
    if (c->places.n > MAX_SITES)
        return err_new(ERR_VALIDATION, "the schema has more than %d subschemas", MAX_SITES);
    if (c->schema->arena.used_bytes > MAX_ARENA_BYTES || c->scratch.used_bytes > MAX_SCRATCH_BYTES)
        return err_new(ERR_VALIDATION, "the schema takes too much memory to compile");
    return NULL;
}

static void add_site(struct compiler *c, const struct json *at, const struct site *parent,
                     struct base *base, struct str keyword, struct str name)
{
    struct site *site;

    if (schema_find_site(c, at))
        return;
    site = ARENA_NEW(&c->scratch, struct site);
    *site =
        (struct site){.at = at, .base = base, .parent = parent, .keyword = keyword, .name = name};
    site->node = ARENA_NEW(&c->schema->arena, struct node);
    table_add(&c->scratch, &c->places, place_key(&site->at), site);
    if (c->to_scan)
        c->last_scan->next_scan = site;
    else
        c->to_scan = site;
    c->last_scan = site;
}

static void add_children(struct compiler *c, struct site *site, const struct schema_keyword *k,
                         const struct json *value)
{
    struct str keyword = str_of(k->name);
    bool is_list =
        value->type == JSON_ARRAY && (k->shape == SHAPE_LIST || k->shape == SHAPE_SCHEMA_OR_LIST);
    bool is_map =
        value->type == JSON_OBJECT && (k->shape == SHAPE_MAP || k->shape == SHAPE_MAP_OR_NAMES);
    size_t index = 0;

    if (!is_list && !is_map) {
        if (k->shape == SHAPE_SCHEMA || k->shape == SHAPE_SCHEMA_OR_LIST)
            add_site(c, value, site, site->base, keyword, (struct str){0});
        return;
    }
    for (const struct json *child = value->first; child && c->places.n <= MAX_SITES;
         child = child->next)
        add_site(c, child, site, site->base, keyword,
                 is_list ? arena_format(&c->scratch, "%zu", index++) : child->key);
}

/* --- what sites are called --- */

static struct base *base_new(struct compiler *c, struct str uri, unsigned vocabularies)
{
    struct base *base = ARENA_NEW(&c->scratch, struct base);

    base->uri = uri;
    base->vocabularies = vocabularies;
    base->resource = ARENA_NEW(&c->schema->arena, struct resource);
    return base;
}

static struct str anchor_key(struct compiler *c, const struct base *base, struct str anchor)
{
    return arena_format(&c->scratch, "%p#%" STR_FMT, (const void *)base, STR_ARG(anchor));
}

static void add_anchor(struct compiler *c, struct site *site, struct str name, bool is_dynamic)
{
    struct resource *resource = site->base->resource;
    struct dynamic_anchor *anchor;

    if (name.n == 0 || name.n > MAX_URI_BYTES)
        return;
    table_add(&c->scratch, &c->anchors, anchor_key(c, site->base, name), site);
    if (!is_dynamic)
        return;
    anchor = ARENA_NEW(&c->schema->arena, struct dynamic_anchor);
    anchor->name = arena_str(&c->schema->arena, name);
    anchor->node = site->node;
    anchor->next = resource->anchors;
    resource->anchors = anchor;
    schema_want_site(c, site); /* any $dynamicRef may come here */
}

/* $id. "#name" was how drafts before 2019 wrote an anchor. */
static struct err *read_id(struct compiler *c, struct site *site, struct str id)
{
    struct str fragment = schema_uri_cut_fragment(&id);
    struct str uri;

    if (id.n == 0) {
        add_anchor(c, site, fragment, /* is_dynamic= */ false);
        return NULL;
    }
    uri = schema_uri_resolve(&c->scratch, site->base->uri, id);
    if (uri.n > MAX_URI_BYTES)
        return schema_complain(c, site, "\"$id\" is longer than %d bytes", MAX_URI_BYTES);
    site->base = base_new(c, uri, site->base->vocabularies);
    site->base->site = site;
    table_add(&c->scratch, &c->names, uri, site);
    return NULL;
}

static struct err *scan(struct compiler *c, struct site *site)
{
    struct str schema = json_get_text(site->at, "$schema");

    if (json_get_text(site->at, "$id").n)
        TRY(read_id(c, site, json_get_text(site->at, "$id")));
    if (schema.n && site->base->site == site)
        TRY(schema_read_dialect(c, site, schema));
    site->node->resource = site->base->resource;
    add_anchor(c, site, json_get_text(site->at, "$anchor"), /* is_dynamic= */ false);
    add_anchor(c, site, json_get_text(site->at, "$dynamicAnchor"), /* is_dynamic= */ true);

    for (const struct schema_keyword *k = schema_keywords; k->name; k++) {
        const struct json *value = k->shape == SHAPE_NONE ? NULL : json_get(site->at, k->name);

        if (value)
            add_children(c, site, k, value);
    }
    return schema_check_size(c);
}

static struct err *scan_all(struct compiler *c)
{
    while (c->to_scan) {
        struct site *site = c->to_scan;

        c->to_scan = site->next_scan;
        TRY(scan(c, site));
    }
    return NULL;
}

struct err *schema_load(struct compiler *c, const struct json *document, struct str uri,
                        struct site **ret_site)
{
    struct base *base = base_new(c, uri, VOCABULARY_ALL);

    add_site(c, document, NULL, base, (struct str){0}, (struct str){0});
    base->site = schema_find_site(c, document);
    table_add(&c->scratch, &c->names, uri, base->site);
    TRY(scan_all(c));
    *ret_site = base->site;
    return NULL;
}

/* --- wanting --- */

void schema_want_site(struct compiler *c, struct site *site)
{
    if (site->is_wanted)
        return;
    site->is_wanted = true;
    site->next_compile = c->to_compile;
    c->to_compile = site;
}

const struct node *schema_want(struct compiler *c, const struct json *at)
{
    struct site *site = schema_find_site(c, at);

    BUG_IF(!site);
    schema_want_site(c, site);
    return site->node;
}

/* --- references --- */

/* A JSON Pointer may lead to a place where no keyword of the standard has a schema; what is there
 * becomes one. It belongs to the innermost $id on the way. */
static struct err *follow_pointer(struct compiler *c, const struct site *from, struct str pointer,
                                  struct site **ret_target)
{
    const struct json *at = from->at;
    struct base *base = from->base;
    struct str rest = str_skip(pointer, 1), token;

    while (at && str_split(&rest, '/', &token)) {
        struct site *site;

        c->n_looked_at += at->n;
        at = json_pointer(at, str_make(token.p - 1, token.n + 1));
        site = at ? schema_find_site(c, at) : NULL;
        if (site)
            base = site->base;
    }
    if (c->n_looked_at > MAX_LOOKED_AT)
        return schema_complain(c, from, "following its references takes too long");
    *ret_target = NULL;
    if (!at)
        return NULL;
    add_site(c, at, from, base, str_skip(pointer, 1), (struct str){0});
    TRY(scan_all(c));
    *ret_target = schema_find_site(c, at);
    return NULL;
}

static struct err *find_resource(struct compiler *c, const struct site *site, struct str reference,
                                 struct site **ret_site)
{
    const struct json *document;
    struct str uri;

    *ret_site = site->base->site;
    if (reference.n == 0)
        return NULL;
    uri = schema_uri_resolve(&c->scratch, site->base->uri, reference);
    *ret_site = table_find(&c->names, uri);
    if (*ret_site)
        return NULL;
    TRY(schema_find_document(c, uri, &document));
    return document ? schema_load(c, document, uri, ret_site) : NULL;
}

static struct err *refers_to_nothing(struct compiler *c, const struct site *site,
                                     struct str reference, bool is_elsewhere)
{
    struct err *e = schema_complain(c, site, "\"%" STR_FMT "\" does not refer to a known schema",
                                    STR_ARG(reference));

    if (!is_elsewhere)
        return e;
    return err_hint(e, "keel does not fetch schemas: put it under \"$defs\" and refer to it there");
}

struct err *schema_resolve(struct compiler *c, const struct site *site, struct str reference,
                           struct site **ret_target)
{
    struct str uri = reference, fragment = schema_uri_cut_fragment(&uri);
    struct site *target;

    if (reference.n > MAX_URI_BYTES)
        return schema_complain(c, site, "a reference is longer than %d bytes", MAX_URI_BYTES);
    TRY(find_resource(c, site, uri, &target));
    fragment = schema_uri_decode(&c->scratch, fragment);
    if (target && fragment.n && fragment.p[0] == '/')
        TRY(follow_pointer(c, target, fragment, &target));
    else if (target && fragment.n)
        target = table_find(&c->anchors, anchor_key(c, target->base, fragment));
    if (!target)
        return refers_to_nothing(c, site, reference, /* is_elsewhere= */ uri.n > 0);
    *ret_target = target;
    return NULL;
}
