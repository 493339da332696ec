/* schema.h - JSON Schema 2020-12: compile once, validate often.
 *
 * Compiling resolves every reference ($ref, $dynamicRef, $anchor, $id) against the document, the
 * standard's metaschemas (built in) and what `resolve` supplies; it never fetches anything. It
 * supports all of the required vocabulary, unevaluated* included. `format` only annotates, as the
 * standard says. `pattern` is PCRE2 in UTF mode with match limits, so a hostile pattern ends with
 * an error. A compiled schema is immutable and reference-counted; it copies what it needs. The
 * count is not atomic: a schema belongs to one thread, whose tasks may share it. Depth, number of
 * nodes, validation steps and errors are capped.
 *
 * Tools bring schemas of every age, so the forms of older drafts are understood: `definitions`,
 * `dependencies`, `items` as a list, `"$id": "#name"`. An unknown $schema counts as 2020-12, and
 * unknown keywords are ignored. */
#ifndef KEEL_BASE_SCHEMA_H
#define KEEL_BASE_SCHEMA_H

#include "base/json.h"

struct schema;

/* Returns the document at an absolute URI (without fragment), or NULL. It must outlive the call. */
struct schema_resolver {
    const struct json *(*resolve)(void *self, struct str uri);
    void *self;
};

MUST_USE struct err *schema_compile(const struct json *document,
                                    const struct schema_resolver *resolver, /* may be NULL */
                                    struct schema **ret_schema);
struct schema *schema_ref(struct schema *s);
void schema_unref(struct schema *s);
DEFINE_AUTO_PTR(schema, schema_unref)

#define SCHEMA_MAX_ERRORS 32

struct schema_error {
    struct str path;    /* JSON Pointer into the instance; "" is the whole of it */
    struct str message; /* "must be a string, got a number" */
};

struct schema_report {
    struct schema_error *errors; /* in the arena that was passed */
    size_t n_errors;
};

/* *ret_valid and the report answer. The returned error means that there is no answer (a cap was
 * reached, a pattern took too long). `a` holds the report. */
MUST_USE struct err *schema_validate(const struct schema *s, const struct json *instance,
                                     struct arena *a, bool *ret_valid,
                                     struct schema_report *ret_report);

#endif
