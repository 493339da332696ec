/* json_series.h - JSON texts of which most are like the one before but for one string.
 *
 * So come the events of an answer that streams in: the same names and values, another word each
 * time. Such a one need not be parsed: the value of the last one is given out again, with that
 * string replaced. Where the string stands is found out by comparing; what differs anywhere else,
 * or has an escape in its string, is no such text. Pure. */
#ifndef KEEL_BASE_JSON_SERIES_H
#define KEEL_BASE_JSON_SERIES_H

#include "base/json.h"

#define JSON_SERIES_MAX_BYTES ((size_t)4 << 10) /* larger texts are not kept for comparing */
#define JSON_SERIES_MAX_DEPTH 16                /* a string within more is not found */

/* A container that the string stands in. */
struct json_around {
    struct json *value;
    size_t n_before, n_after; /* bytes of the text outside of it */
};

struct json_series {      /* zeroed is valid */
    struct strbuf source; /* the text that was parsed last */
    struct arena arena;   /* of its value */
    struct json *root;    /* NULL: there is none */
    /* where a text was found to differ; NULL: no other has come yet */
    struct json *string;
    struct str before, after; /* in the source, up to its quotes and from them on */
    struct json_around around[JSON_SERIES_MAX_DEPTH];
    size_t n_around;
};
void json_series_done(struct json_series *s);
DEFINE_AUTO_VAL(json_series, json_series_done)

/* The value of a text that is like the last one, else NULL. It borrows from the text and is good
 * until the next call. */
struct json *json_series_next(struct json_series *s, struct str text);
/* Of one that is not, as json_parse() makes it; so are its lifetime and its errors. */
MUST_USE struct err *json_series_parse(struct json_series *s, struct str text,
                                       struct json **ret_value);

#endif
