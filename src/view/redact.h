/* redact.h - messages for exports, without values under the names of credentials in the arguments
 * of calls. Pure.
 *
 * The provider's block of such a call is omitted, as it repeats the values. Quotes of arguments in
 * results are found by the hidden values. */
#ifndef KEEL_VIEW_REDACT_H
#define KEEL_VIEW_REDACT_H

#include "base/secrets.h"
#include "model/message.h"
#include "model/reply.h"

/* A reference to the message itself if nothing is hidden, else a copy. */
struct message *redact_message(const struct message *m) MUST_USE;
/* The same for an answer and for the result of a tool. Shallow: valid as long as the original and
 * `a`. */
const struct reply *redact_reply(const struct reply *r, struct arena *a) MUST_USE;
const struct part *redact_result(const struct part *p, struct arena *a) MUST_USE;
/* Arguments as text: JSON or the beginning of it. Returns the text itself if nothing is hidden. */
struct str redact_args(struct str args, struct arena *a) MUST_USE;

/* --- values --- */

#define REDACTION_MAX_VALUES 1000

/* The values that an export hides everywhere: known credentials, values under the names of
 * credentials in the arguments of calls, and values that a file tool read in places of credentials
 * (base/secret_places.h). */
struct redaction {
    const struct secrets *known; /* set by the caller; may be NULL */
    /* private */
    struct arena arena;
    struct secret_value *values;
    size_t n, room;
    struct str *reads; /* ids of calls that read places of credentials */
    size_t n_reads, reads_room;
    struct secrets *learned;
    struct strbuf scratch;
};
void redaction_done(struct redaction *r);
DEFINE_AUTO_VAL(redaction, redaction_done)

void redaction_learn(struct redaction *r, const struct message *m);
void redaction_learn_args(struct redaction *r, const struct json *args); /* may be NULL */
void redaction_ready(struct redaction *r); /* after everything was learned */

/* Like secrets_hide() and secrets_hide_in_json_text(). NULL hides nothing. */
struct str redaction_hide(struct redaction *r, struct str text, struct strbuf *out);
struct str redaction_hide_json(struct redaction *r, struct str json_text, struct strbuf *out);
const struct json *redaction_hide_in(struct redaction *r, struct arena *a, const struct json *v);

/* For text in pieces. Zeroed except for `redaction`. */
struct redaction_stream {
    struct redaction *redaction; /* may be NULL */
    struct secrets_stream known, learned;
    struct strbuf first, second;
};
void redaction_stream_done(struct redaction_stream *s);
DEFINE_AUTO_VAL(redaction_stream, redaction_stream_done)
struct str redaction_stream_add(struct redaction_stream *s, struct str piece);
struct str redaction_stream_end(struct redaction_stream *s);

#endif
