/* secrets.h - known credentials, and how texts get rid of them. Pure.
 *
 * Threads may share a set of values. Only secrets_learn() adds to it; one thread at a time may call
 * it while others read. Every value in a text is replaced with "[REDACTED]", also in encoded form:
 * escaped as in JSON, percent-encoded as in URLs, or in base64, alone or after other bytes as in a
 * Basic header (up to two bytes at either end of it may stay there). Values that touch or overlap
 * are replaced together.
 *
 * A value that could occur by chance is not searched for: one with fewer than SECRETS_MIN_BYTES, or
 * with three different bytes or fewer, or a word that people write where a key is asked for and
 * none is needed. Replacing these would spoil texts and hide nothing.
 *
 * A NULL set is empty, and every function accepts it. */
#ifndef KEEL_BASE_SECRETS_H
#define KEEL_BASE_SECRETS_H

#include "base/json.h"
#include "base/secret_keys.h"

#define SECRETS_MIN_BYTES 8
#define SECRETS_MAX_BYTES 8192 /* only the first bytes of a longer value are searched for */
#define SECRETS_MAX_NAMES 64   /* later names share a bit */

struct secrets;

struct secret_value {
    struct str name; /* for messages: "ANTHROPIC_API_KEY" */
    struct str value;
};

/* NULL if no value is worth searching for. Copies everything; ignores white space around a value.
 * Of "Bearer ..." the rest is searched for as well. */
struct secrets *secrets_new(const struct secret_value *values, size_t n) MUST_USE;
/* The same, never NULL: the set may learn more. */
struct secrets *secrets_new_growing(const struct secret_value *values, size_t n) MUST_USE;
/* Adds a value to search for. A known value changes nothing. */
void secrets_learn(struct secrets *s, const struct secret_value *value);
struct secrets *secrets_ref(const struct secrets *s) MUST_USE;
void secrets_unref(struct secrets *s); /* the last one wipes it */
DEFINE_AUTO_PTR(secrets, secrets_unref)

/* Bits report what was found, one for each name; they are added to those that are set. */

/* "OPENAI_API_KEY, webSearch.keyVariable" */
void secrets_add_names(const struct secrets *s, uint64_t found, struct strbuf *out);

bool secrets_has(const struct secrets *s, struct str text);

/* The text itself if nothing is found in it, else what may be shown of it, in `out`, which is
 * cleared first. `found` may be NULL. */
struct str secrets_hide(const struct secrets *s, struct str text, struct strbuf *out,
                        uint64_t *found);
/* In the text and the hint of an error, and of its causes. */
void secrets_hide_in_err(const struct secrets *s, struct err *e);

/* --- JSON --- */

/* In strings and names. The value itself if nothing is found, else a copy. */
const struct json *secrets_hide_in_json(const struct secrets *s, struct arena *a,
                                        const struct json *v, uint64_t *found);
/* In the strings of JSON text, which stays valid; anything but JSON is handled as text. */
struct str secrets_hide_in_json_text(const struct secrets *s, struct str text, struct strbuf *out,
                                     uint64_t *found);

/* Puts "[REDACTED]" for each string, number and boolean under a name that key_is_secret(), at any
 * depth, whatever its value. The value itself if there is none, else a copy. */
const struct json *json_hide_secret_keys(struct arena *a, const struct json *v);

/* --- texts in pieces --- */

/* Finds values that are split over pieces: the end of a piece that may begin a value is held back
 * until the next piece decides. The caller sets `set`; zeroed otherwise. */
struct secrets_stream {
    const struct secrets *set;
    uint64_t found;
    /* the rest is private */
    const struct needles *needles; /* that `node` belongs to */
    uint32_t node;                 /* what the last bytes begin */
    uint32_t n_held;               /* bytes of them that were not returned */
    bool is_hiding;                /* a value is before them */
};

/* Returns what may be shown now: a part of the piece, or in `out`, which is cleared first. */
struct str secrets_stream_add(struct secrets_stream *s, struct str piece, struct strbuf *out);
/* Returns what was held back, and starts over. In `out`, which is cleared first. */
struct str secrets_stream_end(struct secrets_stream *s, struct strbuf *out);

#endif
