/* json_walk.h - walks through a JSON document of any size, from front to back.
 *
 * The caller enters the objects and arrays whose content it needs, and takes, streams or skips all
 * other values. Memory holds one taken value and the bytes read last. Taking a value only finds its
 * end: json_parse() checks it. A skipped value need not even be JSON inside.
 *
 *     TRY(json_walk_enter(&w));
 *     for (;;) {
 *         TRY(json_walk_next(&w, &key, &found));
 *         if (!found)
 *             break;
 *         TRY(str_is(key, "history") ? read_history(&w) : json_walk_skip(&w));
 *     }
 *
 * Errors are ERR_VALIDATION with the place, or the error of `read`. An error ends the walk. */
#ifndef KEEL_BASE_JSON_WALK_H
#define KEEL_BASE_JSON_WALK_H

#include "base/json.h"

struct json_walk {
    /* Appends some more bytes; none: the document ends. May wait. */
    struct err *(*read)(void *self, struct strbuf *out);
    void *self;
    /* private */
    struct strbuf buffer, text;
    size_t at;       /* in the buffer */
    uint64_t before; /* bytes that have left the buffer */
    bool is_over;
    bool keeps, is_too_long; /* a value is being taken; it is longer than max_kept */
    size_t kept_from, max_kept;
    unsigned depth;
    bool is_object[JSON_MAX_DEPTH], has_items[JSON_MAX_DEPTH];
};
void json_walk_init(struct json_walk *w, struct err *(*read)(void *self, struct strbuf *out),
                    void *self);
void json_walk_done(struct json_walk *w);
DEFINE_AUTO_VAL(json_walk, json_walk_done)

/* The type of the next value. */
MUST_USE struct err *json_walk_type(struct json_walk *w, enum json_type *ret_type);
MUST_USE struct err *json_walk_enter(struct json_walk *w); /* an object or array */
/* Goes to the next member or element of the one entered last. *ret_found false: there is none, and
 * it is left. The key is empty in arrays and valid until the next call. */
MUST_USE struct err *json_walk_next(struct json_walk *w, struct str *ret_key, bool *ret_found);

/* The bytes of the value, valid until the next call. More than max_bytes is an error. */
MUST_USE struct err *json_walk_take(struct json_walk *w, size_t max_bytes, struct str *ret_raw);
/* The same; *ret_fits false: it is longer, and still the next value. */
MUST_USE struct err *json_walk_take_short(struct json_walk *w, size_t max_bytes,
                                          struct str *ret_raw, bool *ret_fits);
/* Passes on a string, decoded, in pieces of whole characters. */
MUST_USE struct err *json_walk_text(struct json_walk *w,
                                    struct err *(*take)(void *self, struct str text), void *self);
MUST_USE struct err *json_walk_skip(struct json_walk *w);

MUST_USE struct err *json_walk_end(struct json_walk *w); /* nothing may follow */

#endif
