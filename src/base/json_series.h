/* json_series.h - parses JSON texts that mostly differ from the one before in a single string.
 *
 * The events of a streamed answer look like this: the same names and values, and another word each
 * time. Such a text need not be parsed: the value of the last one is returned again, with that
 * string replaced. Comparing the texts finds the string. A text that differs elsewhere, or has an
 * escape in that string, is parsed. Pure. */
#ifndef KEEL_BASE_JSON_SERIES_H
#define KEEL_BASE_JSON_SERIES_H

#include "base/json.h"

#define JSON_SERIES_MAX_BYTES ((size_t)4 << 10) /* larger texts are not kept for comparison */
#define JSON_SERIES_MAX_DEPTH 16                /* a deeper string is not found */

/* A container of the string. */
struct json_around {
    struct json *value;
    size_t n_before, n_after; /* bytes of the text outside of it */
};

struct json_series {      /* zeroed is valid */
    struct strbuf source; /* the text that was parsed last */
    struct arena arena;   /* of its value */
    struct json *root;    /* NULL: there is none */
    /* where a text differed; NULL: no other text has come yet */
    struct json *string;
    struct str before, after; /* in the source, up to its quotes and from them on */
    struct json_around around[JSON_SERIES_MAX_DEPTH];
    size_t n_around;
};
void json_series_done(struct json_series *s);
DEFINE_AUTO_VAL(json_series, json_series_done)

/* Returns the value of a text that is like the last one, else NULL. It borrows from the text and is
 * valid until the next call. */
struct json *json_series_next(struct json_series *s, struct str text);
/* Parses any other text like json_parse(), with the same lifetime and errors. */
MUST_USE struct err *json_series_parse(struct json_series *s, struct str text,
                                       struct json **ret_value);

#endif
