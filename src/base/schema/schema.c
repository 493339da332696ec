/* schema.c - compiles documents, and the life of what comes out. */
#include "base/schema/compile.h"

static struct err *compile_site(struct compiler *c, struct site *site)
{
    const struct json *at = site->at;

    if (at->type == JSON_BOOL) {
        site->node->is_false = !at->boolean;
        return NULL;
    }
    if (at->type != JSON_OBJECT)
        return schema_complain(c, site, "a schema must be an object, true or false");
    for (const struct schema_keyword *k = schema_keywords; k->name; k++) {
        const struct json *value = json_get(at, k->name);

        if (!value || !k->compile || !(site->base->vocabularies & k->vocabulary))
            continue;
        if (value->type == JSON_NULL && !k->takes_null)
            continue; /* programs write null for what they left out */
        TRY(k->compile(c, site, k, value));
    }
    return schema_check_size(c);
}

static struct err *compile_all(struct compiler *c, const struct json *document)
{
    struct site *root;

    TRY(schema_load(c, document, S(""), &root));
    schema_want_site(c, root);
    c->schema->root = root->node;
    while (c->to_compile) {
        struct site *site = c->to_compile;

        c->to_compile = site->next_compile;
        TRY(compile_site(c, site));
    }
    return NULL;
}

struct err *schema_compile(const struct json *document, const struct schema_resolver *resolver,
                           struct schema **ret_schema)
{
    AUTO(schema) struct schema *schema = mem_alloc(sizeof *schema);
    struct compiler c = {.schema = schema, .resolver = resolver};
    struct err *e;

    schema->n_refs = 1;
    e = compile_all(&c, document);
    arena_done(&c.scratch);
    if (e)
        return e;
    *ret_schema = TAKE(schema);
    return NULL;
}

struct schema *schema_ref(struct schema *s)
{
    s->n_refs++;
    return s;
}

void schema_unref(struct schema *s)
{
    if (!s || --s->n_refs)
        return;
    arena_done(&s->arena);
    mem_free(s);
}
