/* compile.h - compiling: documents become sites, sites become nodes. For the files of this folder
 * only.
 *
 * A site is a place of a schema in a document. Loading a document finds all its sites and their
 * names ($id, $anchor). Only those that can be reached from the root are then compiled. Nothing
 * recurses: sites wait in lists. */
#ifndef KEEL_BASE_SCHEMA_COMPILE_H
#define KEEL_BASE_SCHEMA_COMPILE_H

#include "base/schema/node.h"

/* A document, or a part of one with its own $id. */
struct base {
    struct str uri; /* empty: the root document without an $id */
    struct site *site;
    struct resource *resource;
    unsigned vocabularies; /* bits of enum vocabulary */
};

struct site {
    const struct json *at;
    struct base *base;
    struct node *node;
    const struct site *parent; /* NULL: the root of a document */
    struct str keyword, name;  /* how the parent leads here; name: in a map or list */
    struct site *next_scan, *next_compile;
    bool is_wanted; /* it is to be compiled, or was */
};

struct schema_entry {
    struct str key;
    struct site *site;
};

/* Sites by a key, open addressing. */
struct site_table {
    struct schema_entry *slots;
    size_t n, n_slots;
};

struct compiler {
    struct schema *schema;
    const struct schema_resolver *resolver; /* may be NULL */
    struct arena scratch;                   /* only for compiling */
    struct site_table places;               /* by the address of the JSON value */
    struct site_table names;                /* by URI without fragment */
    struct site_table anchors;              /* by base and name */
    struct schema_dialect *dialects;        /* the known metaschemas */
    struct site *to_scan, *to_compile, *last_scan;
    uint64_t n_looked_at; /* members that references were searched in */
};

enum vocabulary {
    VOCABULARY_CORE = 1 << 0,
    VOCABULARY_APPLICATOR = 1 << 1,
    VOCABULARY_UNEVALUATED = 1 << 2,
    VOCABULARY_VALIDATION = 1 << 3,
    VOCABULARY_ANNOTATION = 1 << 4, /* never makes a value invalid */
    VOCABULARY_ALL = (1 << 5) - 1,
};

/* Where the subschemas are in a keyword's value. */
enum shape {
    SHAPE_NONE,
    SHAPE_SCHEMA,
    SHAPE_LIST,
    SHAPE_MAP,
    SHAPE_SCHEMA_OR_LIST,
    SHAPE_MAP_OR_NAMES, /* a map; an array in it is not a schema */
};

struct schema_keyword {
    const char *name;
    enum vocabulary vocabulary;
    enum shape shape;
    /* NULL: only its subschemas matter, to a neighbour or as targets of references */
    struct err *(*compile)(struct compiler *c, struct site *site, const struct schema_keyword *k,
                           const struct json *value);
    rule_check *check;
    bool takes_null; /* otherwise null means that the keyword is missing */
};

/* In the order in which the rules are checked; ends with an empty name. */
extern const struct schema_keyword schema_keywords[];

/* The text of one of the standard's own schemas, or an empty one. */
struct str schema_meta_find(struct str uri);

/* --- documents (dialect.c) --- */

/* The JSON at an absolute URI, the standard's or the resolver's; NULL: unknown. */
MUST_USE struct err *schema_find_document(struct compiler *c, struct str uri,
                                          const struct json **ret_json);
/* Sets the vocabularies that $schema names. Reads each metaschema once. */
MUST_USE struct err *schema_read_dialect(struct compiler *c, struct site *site, struct str uri);

/* --- sites (site.c) --- */

/* Fails if the schema exceeds its caps. */
MUST_USE struct err *schema_check_size(const struct compiler *c);

/* Loads a document and finds all its sites. */
MUST_USE struct err *schema_load(struct compiler *c, const struct json *document, struct str uri,
                                 struct site **ret_site);
/* The site of a value that loading has found, added to those to compile. */
const struct node *schema_want(struct compiler *c, const struct json *at);
void schema_want_site(struct compiler *c, struct site *site);
struct site *schema_find_site(const struct compiler *c, const struct json *at);
/* Finds the target of a $ref or $dynamicRef at the site. */
MUST_USE struct err *schema_resolve(struct compiler *c, const struct site *site,
                                    struct str reference, struct site **ret_target);

/* "the schema at /properties/x is not valid: ..." */
MUST_USE struct err *schema_complain(struct compiler *c, const struct site *site,
                                     const char *format, ...) PRINTF_LIKE(3, 4);

#endif
