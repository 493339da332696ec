/* check.h - the words that the judges are written with.
 *
 * A check returns true, or false after it has said why. The place in the body is known from the
 * way down: check_in() remembers it. */
#ifndef KEEL_TEST_STRICT_CHECK_H
#define KEEL_TEST_STRICT_CHECK_H

#include "base/json.h"

#define CHECK_MAX_DEPTH 32
#define CHECK_MAX_IDS 512

/* A set of ids that belong to the body. More than there is room for are refused. */
struct ids {
    struct str at[CHECK_MAX_IDS];
    size_t n;
};
bool ids_have(const struct ids *ids, struct str id);
bool ids_add(struct ids *ids, struct str id);  /* false: it was there, or there is no room */
bool ids_take(struct ids *ids, struct str id); /* false: it was not there */

struct check {
    struct strbuf *why;
    const struct json *path[CHECK_MAX_DEPTH]; /* from the body's member down to what is looked at */
    const struct json *body;
    size_t depth;
};

bool refuse(struct check *c, const char *format, ...) PRINTF_LIKE(2, 3);

/* Types of a member, together. An integer is a number too. */
enum {
    A_NULL = 1 << JSON_NULL,
    A_BOOL = 1 << JSON_BOOL,
    A_NUMBER = 1 << JSON_NUMBER,
    A_STRING = 1 << JSON_STRING,
    AN_ARRAY = 1 << JSON_ARRAY,
    AN_OBJECT = 1 << JSON_OBJECT,
    AN_INT = 1 << 8,
};

struct member {
    const char *name;
    unsigned types;
    bool is_required;
    const char *words; /* " one two ", with a space around each; NULL: any */
    bool (*check)(struct check *c, const struct json *v);
};
#define NEEDS(n, t, ...) {.name = n, .types = t, .is_required = true, __VA_ARGS__}
#define MAY(n, t, ...) {.name = n, .types = t, __VA_ARGS__}
#define WORDS(w) .words = " " w " "
#define BY(f) .check = f
#define END_OF_MEMBERS {0}

/* All members known, of their types, none missing. `more` may be NULL. */
bool check_members(struct check *c, const struct json *object, const struct member *members,
                   const struct member *more);
bool check_in(struct check *c, const struct json *v,
              bool (*check)(struct check *c, const struct json *v));
bool check_each(struct check *c, const struct json *array,
                bool (*check)(struct check *c, const struct json *v));

/* For members. */
bool is_not_blank(struct check *c, const struct json *v);
bool is_not_empty(struct check *c, const struct json *v); /* a list */
bool is_text_list(struct check *c, const struct json *v);
bool is_positive(struct check *c, const struct json *v);
bool is_base64(struct check *c, const struct json *v);     /* and not empty */
bool is_url_base64(struct check *c, const struct json *v); /* - and _ are fine too */
bool is_url(struct check *c, const struct json *v);
bool is_object_schema(struct check *c, const struct json *v);
bool check_range(struct check *c, const struct json *v, double from, double to);

bool text_has_word(const char *words, struct str word); /* " a b " has "a" */
bool text_is_blank_space(struct str text);
/* Letters, digits and what `others` holds, 1 to max. */
bool text_is_name(struct str text, const char *others, size_t max);

#endif
