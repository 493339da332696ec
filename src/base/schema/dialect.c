/* dialect.c - documents from elsewhere, and the vocabularies of a metaschema. */
#include "base/schema/compile.h"
#include "base/schema/uri.h"

#define MAX_DIALECTS 16
#define VOCABULARIES "https://json-schema.org/draft/2020-12/vocab/"

struct schema_dialect {
    struct str uri;
    unsigned vocabularies;
    struct schema_dialect *next;
};

struct err *schema_find_document(struct compiler *c, struct str uri, const struct json **ret_json)
{
    struct str meta = schema_meta_find(uri);
    struct json *parsed = NULL;

    *ret_json = NULL;
    if (meta.n) {
        TRY(json_parse(&c->scratch, meta, 0, &parsed));
        *ret_json = parsed;
    } else if (c->resolver && schema_uri_is_absolute(uri)) {
        *ret_json = c->resolver->resolve(c->resolver->self, uri);
    }
    return NULL;
}

static unsigned vocabulary_of(struct str uri)
{
    static const struct {
        const char *name;
        enum vocabulary vocabulary;
    } known[] = {
        {"core", VOCABULARY_CORE},
        {"applicator", VOCABULARY_APPLICATOR},
        {"unevaluated", VOCABULARY_UNEVALUATED},
        {"validation", VOCABULARY_VALIDATION},
        {"meta-data", VOCABULARY_ANNOTATION},
        {"format-annotation", VOCABULARY_ANNOTATION},
        {"content", VOCABULARY_ANNOTATION},
    };

    if (!str_starts(uri, S(VOCABULARIES)))
        return 0;
    uri = str_skip(uri, sizeof VOCABULARIES - 1);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(uri, known[i].name))
            return known[i].vocabulary;
    return 0;
}

/* Reads $vocabulary of a metaschema. An unknown one, such as that of an older draft, counts as the
 * standard's: most of what was written for it means the same. */
static struct err *read_vocabularies(struct compiler *c, const struct site *site, struct str uri,
                                     unsigned *ret_vocabularies)
{
    const struct json *metaschema, *list;

    *ret_vocabularies = VOCABULARY_ALL;
    TRY(schema_find_document(c, uri, &metaschema));
    list = json_get(metaschema, "$vocabulary");
    if (!json_is(list, JSON_OBJECT))
        return NULL;
    *ret_vocabularies = VOCABULARY_CORE;
    json_each (v, list) {
        unsigned bit = vocabulary_of(v->key);

        if (bit == 0 && json_bool(v, false))
            return schema_complain(
                c, site, "its metaschema requires the vocabulary %" STR_FMT ", which is not known",
                STR_ARG(v->key));
        *ret_vocabularies |= bit;
    }
    return NULL;
}

struct err *schema_read_dialect(struct compiler *c, struct site *site, struct str uri)
{
    struct schema_dialect *d;
    size_t n = 0;

    schema_uri_cut_fragment(&uri);
    for (d = c->dialects; d && !str_eq(d->uri, uri); d = d->next)
        n++;
    if (n == MAX_DIALECTS)
        return schema_complain(c, site, "it uses more than %d metaschemas", MAX_DIALECTS);
    if (!d) {
        d = ARENA_NEW(&c->scratch, struct schema_dialect);
        d->uri = uri;
        TRY(read_vocabularies(c, site, uri, &d->vocabularies));
        d->next = c->dialects;
        c->dialects = d;
    }
    site->base->vocabularies = d->vocabularies;
    return NULL;
}
