/* schema_lower.h - a schema for an answer, in the part of JSON Schema that a vendor supports.
 *
 * Vendors that guarantee the shape of an answer refuse schemas with keywords that their decoders
 * cannot follow. These are removed and added to the description beside them, where the model reads
 * them. The lowered schema is only for the request: keel checks the answer against the full one.
 * Pure; the result lives in the arena and shares nothing with the argument. */
#ifndef KEEL_PROVIDER_SCHEMA_LOWER_H
#define KEEL_PROVIDER_SCHEMA_LOWER_H

#include "base/json.h"

enum schema_style {
    SCHEMA_ANTHROPIC, /* every object is closed; no limits on numbers, texts and lists */
    SCHEMA_OPENAI,    /* every object is closed and has all its members */
    SCHEMA_GEMINI,
};

#define SCHEMA_MAX_TAKEN 100            /* keywords in `taken`; more are removed, too */
#define SCHEMA_MAX_NOTES ((size_t)8192) /* bytes that all descriptions together may grow by */

struct schema_lowered {
    struct json *schema;
    /* The place of each removed keyword: "/properties/x/minimum". */
    struct str taken[SCHEMA_MAX_TAKEN];
    size_t n_taken; /* at most SCHEMA_MAX_TAKEN */
    /* Optional members, or a keyword without a replacement: the style cannot guarantee this schema.
     * Only with SCHEMA_OPENAI. */
    bool is_loose;
};

void schema_lower(struct arena *a, const struct json *schema, enum schema_style style,
                  struct schema_lowered *ret_lowered);

#endif
