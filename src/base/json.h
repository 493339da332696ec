/* json.h - JSON values in an arena: parse, build, look up, write.
 *
 * Parsing is RFC 8259 and nothing else: no comments, no trailing commas, no NaN. Depth, size and
 * the number of values are capped, so the worst text costs a fraction of a second and about
 * 160 MB, however it was made. Numbers keep their text exactly; every parsed value knows its source
 * bytes (`raw`), which borrow from the input, so the input must live as long as the tree (parse a
 * copy made with arena_str() where it does not).
 *
 * Stated rules: of members with the same name the last value wins and stands at the first one's
 * place, as in every browser (JSON_UNIQUE_KEYS refuses them instead). A lone surrogate escape
 * decodes to U+FFFD; `raw` still has what came. Bytes that are not UTF-8 are an error, or U+FFFD
 * with JSON_REPAIR_UTF8. A BOM at the start is an error, as the RFC says senders must not add one.
 *
 * Trees made by hand and parsed ones are the same nodes. Setters take ownership of nothing: names
 * and texts are copied into the arena unless the function says `ref`. All getters accept NULL and
 * then find nothing, so that lookups chain: json_str(json_get(json_get(v, "error"), "type")). */
#ifndef KEEL_BASE_JSON_H
#define KEEL_BASE_JSON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    uint32_t n; /* children of an array or object */
    enum json_type type : 8;
    bool boolean;
    struct str key;            /* the member's name, decoded; empty in arrays and at the root */
    struct str text;           /* a string decoded, or a number as written */
    struct str raw;            /* source bytes; empty for a value made by hand */
    struct json *first, *last; /* children */
    struct json *next;         /* sibling */
};

enum json_flags {
    JSON_UNIQUE_KEYS = 1 << 0, /* a repeated member name is an error */
    JSON_REPAIR_UTF8 = 1 << 1, /* bad bytes become U+FFFD */
};

#define JSON_MAX_DEPTH 256
#define JSON_MAX_BYTES ((size_t)64 << 20)
#define JSON_MAX_VALUES ((size_t)1 << 20) /* of one text; a repeated name counts each time */

/* The error names line, column and reason. */
MUST_USE struct err *json_parse(struct arena *a, struct str input, int flags,
                                struct json **ret_value);

/* Where a parse failed, for callers that show it themselves. Lines and columns count from 1,
 * columns in bytes. */
struct json_where {
    size_t offset, line, column;
    const char *reason;
};
bool json_parse_at(struct arena *a, struct str input, int flags, struct json **ret_value,
                   struct json_where *ret_where);
/* With fewer values than JSON_MAX_VALUES: for texts that are known to be small, and for tests. */
bool json_parse_few(struct arena *a, struct str input, int flags, size_t max_values,
                    struct json **ret_value, struct json_where *ret_where);

/* --- reading --- */

#define json_each(child, parent)                                                                   \
    for (struct json *child = (parent) ? (parent)->first : NULL; child; child = child->next)

/* Most names differ in length, or at their ends. */
static inline bool json_same_name(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || (a.p[0] == b.p[0] && a.p[a.n - 1] == b.p[b.n - 1] &&
                                       memcmp(a.p, b.p, a.n) == 0));
}
struct json *json_get_str(const struct json *object, struct str key);
static inline struct json *json_get(const struct json *object, const char *key)
{
    return json_get_str(object, str_of(key));
}
struct json *json_at(const struct json *array, size_t index);

static inline bool json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}
static inline bool json_has(const struct json *object, const char *key)
{
    return json_get(object, key) != NULL;
}
static inline struct str json_str(const struct json *v) /* empty unless it is a string */
{
    return json_is(v, JSON_STRING) ? v->text : (struct str){0};
}
static inline struct str json_get_text(const struct json *object, const char *key)
{
    return json_str(json_get(object, key));
}
static inline bool json_bool(const struct json *v, bool otherwise)
{
    return json_is(v, JSON_BOOL) ? v->boolean : otherwise;
}
/* An integer in any spelling (7, 7.0, 7e0) that fits; false for anything else. */
bool json_int64(const struct json *v, int64_t *ret_value);
int64_t json_int_or(const struct json *v, int64_t otherwise);
bool json_double(const struct json *v, double *ret_value);
const char *json_type_name(enum json_type type);

/* JSON Pointer, RFC 6901; NULL when it points at nothing or is malformed. */
struct json *json_pointer(const struct json *root, struct str pointer);

/* Same value: numbers by value, objects without regard to order. */
bool json_equal(const struct json *a, const struct json *b);
/* Compares numbers exactly, whatever their size and spelling: <0, 0, >0. */
int json_number_cmp(struct str a, struct str b);

/* --- building --- */

struct json *json_new(struct arena *a, enum json_type type) MUST_USE;
struct json *json_new_str(struct arena *a, struct str text) MUST_USE;
struct json *json_new_int(struct arena *a, int64_t value) MUST_USE;
struct json *json_new_double(struct arena *a, double value) MUST_USE; /* not finite: null */
struct json *json_new_bool(struct arena *a, bool value) MUST_USE;
struct json *json_copy(struct arena *a, const struct json *v) MUST_USE; /* deep; keeps raw bytes */

/* Replaces a member of the same name in place. `value` must not be part of another tree. */
void json_set(struct arena *a, struct json *object, const char *key, struct json *value);
void json_set_key(struct arena *a, struct json *object, struct str key, struct json *value);
void json_set_str(struct arena *a, struct json *object, const char *key, struct str text);
void json_set_int(struct arena *a, struct json *object, const char *key, int64_t value);
void json_set_bool(struct arena *a, struct json *object, const char *key, bool value);
bool json_remove(struct json *object, struct str key);
void json_push(struct json *array, struct json *value);

/* --- writing --- */

/* Compact, members in their order, strings with the fewest escapes, numbers as they were written.
 * Always valid UTF-8 and valid JSON. */
void json_write(struct strbuf *out, const struct json *v);
void json_write_pretty(struct strbuf *out, const struct json *v); /* two spaces a level */
/* The text as a JSON string with its quotes. Bad UTF-8 becomes U+FFFD. */
void json_write_string(struct strbuf *out, struct str text);
/* The position of the next byte, from `from` on, that a JSON string must escape: a quote, a
 * backslash, a control character. The end if there is none. */
size_t json_find_special(struct str text, size_t from);
/* How many bytes the text takes between the quotes of a JSON string; a few more if it is not UTF-8.
 * Writes nothing. */
size_t json_string_size(struct str text);

/* Writes JSON from left to right without a tree: commas and colons come by themselves.
 * Misuse (a value without a name inside an object, unbalanced ends) is a bug and aborts. */
/* What jw_str() writes instead of long texts: one JSON value each. */
struct json_long_texts {
    size_t min_bytes;
    void (*write)(void *self, struct str text, struct strbuf *out);
    void *self;
};

struct json_writer {
    struct strbuf *out;
    const struct json_long_texts *long_texts; /* NULL: long texts are written as they are */
    unsigned depth;
    bool needs_comma, has_key;
    uint64_t is_object[4]; /* one bit a level: JSON_MAX_DEPTH levels */
};

void jw_init(struct json_writer *w, struct strbuf *out);
void jw_begin_object(struct json_writer *w);
void jw_end_object(struct json_writer *w);
void jw_begin_array(struct json_writer *w);
void jw_end_array(struct json_writer *w);
void jw_key(struct json_writer *w, const char *key);
void jw_key_str(struct json_writer *w, struct str key);
void jw_str(struct json_writer *w, struct str text);
void jw_int(struct json_writer *w, int64_t value);
void jw_double(struct json_writer *w, double value); /* not finite: null */
void jw_bool(struct json_writer *w, bool value);
void jw_null(struct json_writer *w);
void jw_json(struct json_writer *w, const struct json *v);
void jw_raw(struct json_writer *w, struct str json_text); /* must be one JSON value */

/* name and value in one call */
void jw_kv_str(struct json_writer *w, const char *key, struct str text);
void jw_kv_int(struct json_writer *w, const char *key, int64_t value);
void jw_kv_double(struct json_writer *w, const char *key, double value);
void jw_kv_bool(struct json_writer *w, const char *key, bool value);
void jw_kv_json(struct json_writer *w, const char *key, const struct json *v);
void jw_kv_raw(struct json_writer *w, const char *key, struct str json_text);

#endif
