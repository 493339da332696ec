/* encode.h - what all encoders need: bodies with pass-through options, media, call ids.
 *
 * Bodies are written left to right, `messages` (or its like) last, so that the request of the next
 * round begins with the bytes of this one and prompt caches hold. */
#ifndef KEEL_PROVIDER_ENCODE_H
#define KEEL_PROVIDER_ENCODE_H

#include "provider/protocol.h"

/* A body under construction. The profile's options win: a member they name is not written by the
 * encoder, and body_options() writes theirs. */
struct body {
    struct json_writer w;
    const struct model_request *request;
    const struct dialect *dialect;
    bool mark; /* what a protocol remembers from one run of messages to the next */
};

void body_begin(struct body *b, const struct model_request *r, const struct dialect *d,
                struct strbuf *out);
MUST_USE struct err *body_end(struct body *b);

/* Writes the name and returns true, unless the options have it. */
bool body_key(struct body *b, const char *key);
void body_str(struct body *b, const char *key, struct str value); /* nothing when empty */
void body_int(struct body *b, const char *key, int64_t value);
void body_bool(struct body *b, const char *key, bool value);
void body_maybe(struct body *b, const char *key, struct maybe_double value); /* only when set */
/* The stop sequences as an array, when there are any. */
void body_stop(struct body *b, const char *key);
/* All members of the options, before the messages. */
void body_options(struct body *b);

/* How a protocol writes messages. Those of a run are written together, as elements of one array,
 * and by nothing but themselves, what stands before them, the body's mark and settings that stand
 * in the head or belong to the provider. */
struct message_run {
    size_t from, to; /* indexes of messages; `to` is behind the last one */
};

struct run_writer {
    size_t (*find_end)(const struct model_request *r, size_t from);
    struct err *(*write)(struct body *b, struct message_run run);
};
/* The messages, into the array that was begun; those that are kept (model/kept_body.h) are there
 * already. */
MUST_USE struct err *body_messages(struct body *b, const struct run_writer *w);
/* Runs of one message each. */
size_t run_of_one(const struct model_request *r, size_t from);
/* Results of tools that follow each other are a run, any other message is one of its own. */
size_t run_of_results(const struct model_request *r, size_t from);

/* The word for what request_effort() says: of the levels that the model takes where those are
 * known, else of those that the vendor takes. Empty: nothing is said. */
struct str effort_word(const struct model_request *r, const struct dialect *d);

/* The bytes of a media part, loaded if they are a blob. `scratch` holds loaded ones. */
MUST_USE struct err *media_bytes(const struct model_request *r, const struct media *m,
                                 struct strbuf *scratch, struct str *ret_bytes);
/* One JSON string: base64 of the bytes, after `prefix`. */
MUST_USE struct err *jw_media(struct json_writer *w, const struct model_request *r,
                              const struct media *m, struct str prefix);
/* One JSON string: the URL, or a data: URL of the bytes. */
MUST_USE struct err *jw_media_url(struct json_writer *w, const struct model_request *r,
                                  const struct media *m);
bool media_is(const struct media *m, const char *mime_prefix); /* "image/" */
MUST_USE struct err *media_unsupported(const struct media *m, const char *protocol);

/* One JSON string: a call's id in letters that every API takes (A-Z a-z 0-9 _ -), at most
 * max_bytes long. Calls and results are mapped alike, so pairs stay pairs. */
void jw_call_id(struct json_writer *w, struct str id, size_t max_bytes);
bool call_id_is_plain(struct str id, size_t max_bytes); /* jw_call_id() writes it as it is */

/* The tool's schema, or that of a tool without arguments. Free text becomes the one argument
 * "input", for APIs that know only JSON. */
void jw_tool_schema(struct json_writer *w, const struct tool_def *t);

/* Does the schema keep to what APIs with guaranteed output demand: an object whose members, all the
 * way down, are all required and without others beside them? */
bool schema_is_strict(const struct json *schema);

/* A request that tells its schema in a message of the user's at the end, for APIs that take none in
 * a field. No later request has that message: so system text and conversation stay as they are,
 * whichever prompt of a session wants a schema. */
struct told_schema {
    struct model_request request; /* borrows of the one that it was made of */
    struct message *message;
    const struct message **messages;
};
void told_schema_init(struct told_schema *t, const struct model_request *r);
void told_schema_done(struct told_schema *t);
DEFINE_AUTO_VAL(told_schema, told_schema_done)

/* The domains that the search of a request is limited to: true where there are any that the vendor
 * takes. jw_search_domains() writes them as one member, since APIs take either those that are
 * allowed or those that are not. */
bool request_limits_search(const struct body *b);
void jw_search_domains(struct body *b);

/* The texts of a tool result, one per line; media are left out. */
void tool_result_text(const struct part *result, struct strbuf *out);
bool tool_result_has_media(const struct part *result);

/* May this part of an assistant message go to the provider of `r` as it came? */
bool part_is_native(const struct model_request *r, const struct message *m, const struct part *p);
/* Nothing in it but white space: providers refuse such text. */
bool text_is_blank(struct str text);

#endif
