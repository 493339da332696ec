/* secrets.h - known credentials, and how they are kept out of what others see. Pure.
 *
 * A set of values may be shared between threads. It grows by secrets_learn() only, which one thread
 * at a time may call while others read. Wherever one
 * of its values stands in a text, "[REDACTED]" is put instead; so it is where the value stands
 * encoded: escaped as in JSON, percent-encoded as in URLs, or in base64, alone or after something
 * else as in a Basic header (there up to two bytes at either end of it may stay). Values that
 * touch or lie within each other are taken out together.
 *
 * A value that could stand anywhere by chance is not looked for: fewer than SECRETS_MIN_BYTES, or
 * made of three different bytes or fewer, or a word that people write where a key is asked for and
 * none is needed. Taking these out would spoil texts and hide nothing.
 *
 * A NULL set knows nothing, and every function takes it. */
#ifndef KEEL_BASE_SECRETS_H
#define KEEL_BASE_SECRETS_H

#include "base/json.h"
#include "base/secret_keys.h"

#define SECRETS_MIN_BYTES 8
#define SECRETS_MAX_BYTES 8192 /* of a longer value only the first ones are looked for */
#define SECRETS_MAX_NAMES 64   /* those after them are named together */

struct secrets;

struct secret_value {
    struct str name; /* for messages: "ANTHROPIC_API_KEY" */
    struct str value;
};

/* NULL when there is no value that is worth looking for. All is copied; white space around a value
 * does not count. Of "Bearer ..." what follows is looked for as well. */
struct secrets *secrets_new(const struct secret_value *values, size_t n) MUST_USE;
/* The same, never NULL: more may be learnt. */
struct secrets *secrets_new_growing(const struct secret_value *values, size_t n) MUST_USE;
/* From now on looked for as well. A value that is known already changes nothing. */
void secrets_learn(struct secrets *s, const struct secret_value *value);
struct secrets *secrets_ref(const struct secrets *s) MUST_USE;
void secrets_unref(struct secrets *s); /* the last one wipes it */
DEFINE_AUTO_PTR(secrets, secrets_unref)

/* What was found is told by bits, one for each name; they are added to those that are set. */

/* "OPENAI_API_KEY, webSearch.keyVariable" */
void secrets_add_names(const struct secrets *s, uint64_t found, struct strbuf *out);

bool secrets_has(const struct secrets *s, struct str text);

/* The text itself when nothing is found in it, else what may be shown of it, in `out`, which is
 * cleared first. `found` may be NULL. */
struct str secrets_hide(const struct secrets *s, struct str text, struct strbuf *out,
                        uint64_t *found);
/* In the text and the hint of an error, and in its causes'. */
void secrets_hide_in_err(const struct secrets *s, struct err *e);

/* --- JSON --- */

/* In strings and names. The value itself when nothing is found, else a copy. */
const struct json *secrets_hide_in_json(const struct secrets *s, struct arena *a,
                                        const struct json *v, uint64_t *found);
/* In the strings of JSON text, which stays valid; what is no JSON is taken as text. */
struct str secrets_hide_in_json_text(const struct secrets *s, struct str text, struct strbuf *out,
                                     uint64_t *found);

/* "[REDACTED]" for each string, number and boolean under a name that key_is_secret(), at any
 * depth, whatever its value. The value itself when there is none, else a copy. */
const struct json *json_hide_secret_keys(struct arena *a, const struct json *v);

/* --- what comes in pieces --- */

/* Finds what is split over pieces: the end of a piece that may begin a value is held back until the
 * next one shows that it does not. `set` is the caller's to set; zeroed otherwise. */
struct secrets_stream {
    const struct secrets *set;
    uint64_t found;
    /* the rest is private */
    const struct needles *needles; /* that `node` belongs to */
    uint32_t node;                 /* what the last bytes begin */
    uint32_t n_held;               /* bytes of them that were not given out */
    bool is_hiding;                /* before those stands a value */
};

/* What may be shown now: a part of the piece, or in `out`, which is cleared first. */
struct str secrets_stream_add(struct secrets_stream *s, struct str piece, struct strbuf *out);
/* What was held back; begins anew. In `out`, which is cleared first. */
struct str secrets_stream_end(struct secrets_stream *s, struct strbuf *out);

#endif
