/* encode.h - what all encoders need: bodies with pass-through options, media, call ids.
 *
 * Bodies are written left to right, with the messages last. So the request of the next round begins
 * with the bytes of this one, and prompt caches apply. */
#ifndef KEEL_PROVIDER_ENCODE_H
#define KEEL_PROVIDER_ENCODE_H

#include "provider/protocol.h"

/* A body under construction. The profile's options win: the encoder does not write members that
 * they name; body_options() writes those. */
struct body {
    struct json_writer w;
    const struct model_request *request;
    const struct dialect *dialect;
    bool mark; /* for the protocol, from one run of messages to the next */
};

void body_begin(struct body *b, const struct model_request *r, const struct dialect *d,
                struct strbuf *out);
MUST_USE struct err *body_end(struct body *b);

/* Writes the name and returns true, unless the options have it. */
bool body_key(struct body *b, const char *key);
void body_str(struct body *b, const char *key, struct str value); /* nothing if empty */
void body_int(struct body *b, const char *key, int64_t value);
void body_bool(struct body *b, const char *key, bool value);
void body_maybe(struct body *b, const char *key, struct maybe_double value); /* only if set */
/* The stop sequences as an array, if there are any. */
void body_stop(struct body *b, const char *key);
/* All members of the options, before the messages. */
void body_options(struct body *b);

/* How a protocol writes messages. The messages of a run are written together, as elements of one
 * array. Their text depends only on themselves, the messages before them, the mark of the body, and
 * settings that are in the head or belong to the provider. */
struct message_run {
    size_t from, to; /* indexes of messages; `to` is behind the last one */
};

struct run_writer {
    size_t (*find_end)(const struct model_request *r, size_t from);
    struct err *(*write)(struct body *b, struct message_run run);
};
/* Writes the messages into the array that was begun. Messages that are kept (model/kept_body.h) are
 * there already. */
MUST_USE struct err *body_messages(struct body *b, const struct run_writer *w);
/* Runs of one message each. */
size_t run_of_one(const struct model_request *r, size_t from);
/* Consecutive tool results are one run, every other message is a run of its own. */
size_t run_of_results(const struct model_request *r, size_t from);

/* The word for request_effort(), from the levels of the model if they are known, else from those of
 * the vendor. Empty: no effort is sent. */
struct str effort_word(const struct model_request *r, const struct dialect *d);

/* The bytes of a media part; if they are a blob, they are loaded into `scratch`. */
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

/* One JSON string: the id of a call, in characters that every API accepts (A-Z a-z 0-9 _ -), at
 * most max_bytes long. Calls and results are mapped alike, so pairs stay pairs. */
void jw_call_id(struct json_writer *w, struct str id, size_t max_bytes);
bool call_id_is_plain(struct str id, size_t max_bytes); /* jw_call_id() would not change it */

/* The tool's schema, or an empty one. Free text becomes the only argument "input", for APIs that
 * know only JSON. */
void jw_tool_schema(struct json_writer *w, const struct tool_def *t);

/* Does the schema meet the rules of APIs with guaranteed output? All objects in it must require all
 * their members and forbid others. */
bool schema_is_strict(const struct json *schema);

/* A request that has its schema in a user message at the end, for APIs without a field for it.
 * Later requests do not have that message, so system text and conversation do not change when a
 * prompt wants a schema. */
struct schema_request {
    struct model_request request; /* borrows from the original */
    struct message *message;
    const struct message **messages;
};
void schema_request_init(struct schema_request *t, const struct model_request *r);
void schema_request_done(struct schema_request *t);
DEFINE_AUTO_VAL(schema_request, schema_request_done)

/* Is the search of this request limited to domains, in a way that the vendor accepts?
 * jw_search_domains() writes them as one member: APIs accept either allowed or blocked ones. */
bool request_limits_search(const struct body *b);
void jw_search_domains(struct body *b);

/* The texts of a tool result, one per line, without media. */
void tool_result_text(const struct part *result, struct strbuf *out);
bool tool_result_has_media(const struct part *result);

/* May this part of an assistant message go back unchanged to the provider of `r`? */
bool part_is_native(const struct model_request *r, const struct message *m, const struct part *p);
/* Only white space: providers refuse such text. */
bool text_is_blank(struct str text);

#endif
