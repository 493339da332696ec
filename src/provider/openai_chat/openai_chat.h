/* openai_chat.h - the parts of the Chat Completions protocol. */
#ifndef KEEL_PROVIDER_OPENAI_CHAT_H
#define KEEL_PROVIDER_OPENAI_CHAT_H

#include "provider/encode.h"
#include "provider/openai_error.h"

/* --- reading --- */

/* The calls that a stream has begun. Vendors identify them by number, by id, by both or by
 * neither. */
struct chat_calls {
    struct chat_call *items;
    size_t n, room;
};

/* The part that collects reasoning_details, and the habits of the stream. */
struct chat_reasoning {
    bool has_part;
    size_t part;
    bool has_plain_text; /* the text of the details repeats it */
    bool is_whole;
};

struct chat_audio {
    bool has_part;
    size_t part;
};

void openai_chat_begin(struct decode *d);
bool openai_chat_is_event(struct str type, const struct json *event);
struct err *openai_chat_event(struct decode *d, struct str type, const struct json *event);
struct err *openai_chat_body(struct decode *d, const struct json *body);
struct err *openai_chat_end(struct decode *d);

/* Call it before another part begins: closes the last call, if it is complete. */
void chat_end_call(struct reply *r);
/* `said` is a delta of a stream, or a whole message, in which every entry is a new call. */
MUST_USE struct err *chat_take_calls(struct reply *r, struct chat_calls *calls,
                                     const struct json *said, bool is_whole);
/* Adds text of this kind to the current part, or to a new one. Does nothing if it is empty. */
MUST_USE struct err *chat_add_piece(struct reply *r, enum part_kind kind, struct str text);
MUST_USE struct err *chat_take_reasoning(struct reply *r, struct chat_reasoning *s,
                                         const struct json *said, bool is_whole);
MUST_USE struct err *chat_settle_reasoning(struct decode *d, const struct chat_reasoning *s);
MUST_USE struct err *chat_take_audio(struct reply *r, struct chat_audio *s,
                                     const struct json *audio);
MUST_USE struct err *chat_settle_audio(struct reply *r, const struct chat_audio *s);
/* Pictures and sources in the answer. */
MUST_USE struct err *chat_take_image(struct reply *r, const struct json *image);
MUST_USE struct err *chat_take_annotation(struct reply *r, const struct json *annotation);
/* The sources of an answer, if a vendor lists them beside it. */
MUST_USE struct err *chat_take_sources(struct reply *r, const struct json *event, bool *ret_found);
/* The work of the provider's own tools. */
MUST_USE struct err *chat_take_executed_tools(struct reply *r, const struct json *tools);
/* Token counts and cost, from anywhere in an event, and the provider that a router chose. */
void chat_take_usage(struct reply *r, const struct json *event);
void chat_take_route(struct reply *r, const struct json *event, const struct json *said);

/* --- writing --- */

/* The messages written so far. */
struct chat_talk {
    struct body *b;
    struct json_writer *w;
    bool after_results; /* the last message is a tool result */
};

/* Is a tool, or a call, with free text sent as such? */
bool chat_is_custom(const struct body *b, bool takes_free_text);
struct str chat_cache_mark(const struct model_request *r); /* as JSON */
void chat_write_text(struct body *b, struct str text);
MUST_USE struct err *chat_write_media(struct body *b, const struct media *m);
/* Begins a message; its content comes next. */
void chat_begin_message(struct chat_talk *t, struct str role);
void chat_write_call_id(struct chat_talk *t, struct str id);
MUST_USE struct err *chat_write_answer(struct chat_talk *t, const struct message *m);
/* The system text and all messages, as one array. */
MUST_USE struct err *chat_write_messages(struct body *b);

#endif
