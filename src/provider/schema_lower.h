/* schema_lower.h - a schema for an answer, in the part of JSON Schema that a vendor takes.
 *
 * Vendors that guarantee an answer's shape refuse schemas with keywords that their decoders cannot
 * follow. Those are taken out, and what they said goes into the description beside them, where the
 * model reads it. The lowered schema is only for the request: keel checks the answer against the
 * full one. Pure; the result lives in the arena and shares nothing with what was given. */
#ifndef KEEL_PROVIDER_SCHEMA_LOWER_H
#define KEEL_PROVIDER_SCHEMA_LOWER_H

#include "base/json.h"

enum schema_style {
    SCHEMA_ANTHROPIC, /* every object is closed; no limits on numbers, texts and lists */
    SCHEMA_OPENAI,    /* every object is closed and has all its members */
    SCHEMA_GEMINI,
};

#define SCHEMA_MAX_TAKEN 100            /* keywords that are listed; more are taken out, too */
#define SCHEMA_MAX_NOTES ((size_t)8192) /* bytes that all descriptions may grow by */

struct schema_lowered {
    struct json *schema;
    /* Where each keyword stood that was taken out: "/properties/x/minimum". */
    struct str taken[SCHEMA_MAX_TAKEN];
    size_t n_taken; /* at most SCHEMA_MAX_TAKEN */
    /* Members that may be left out, or a form that has no like: the style's guarantee cannot be had
     * for this schema. Only of SCHEMA_OPENAI. */
    bool is_loose;
};

void schema_lower(struct arena *a, const struct json *schema, enum schema_style style,
                  struct schema_lowered *ret_lowered);

#endif
