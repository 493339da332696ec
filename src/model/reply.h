/* reply.h - an answer under construction.
 *
 * Decoders fill it part by part, and an observer gets the deltas through its sink. If a call fails
 * half-way, it holds what had arrived, so a partial answer is never lost. Parts are in the order in
 * which they began. With warm buffers, a delta allocates nothing.
 *
 * Added data counts as the JSON it becomes in a message, with its escapes and repetitions. Data
 * that would make the message too large is refused with ERR_BAD_RESPONSE and not added: whatever a
 * reply holds can be stored and read again. */
#ifndef KEEL_MODEL_REPLY_H
#define KEEL_MODEL_REPLY_H

#include "model/message.h"

/* --- pieces of an answer as it streams in, for observers --- */

enum delta_kind {
    DELTA_TEXT,       /* text */
    DELTA_REASONING,  /* text */
    DELTA_REFUSAL,    /* text */
    DELTA_TOOL_BEGIN, /* id, name */
    DELTA_TOOL_ARGS,  /* text: the next piece of the arguments */
    /* id, name: the provider runs one of its own tools; text: its query, if the call names it. Sent
     * when the call is complete. */
    DELTA_SERVER_TOOL,
    DELTA_END, /* the part is complete: only an event, after on_close() */
};

/* Strings live until the sink returns. */
struct delta {
    enum delta_kind kind;
    size_t part; /* index of the part in the reply */
    struct str text, id, name;
};

struct delta_sink {
    void (*on_delta)(void *self, const struct delta *d); /* NULL: there is no observer */
    void *self;
    /* The part is complete, if its protocol says so; others end with the answer. May wait. NULL:
     * not needed. */
    void (*on_close)(void *self, size_t part);
};

/* --- the answer --- */

#define REPLY_MAX_PARTS 4096
#define REPLY_MAX_BYTES ((size_t)64 << 20)     /* of one text, before it counts as JSON */
#define REPLY_MAX_ID_BYTES ((size_t)64 << 10)  /* of a part's id, and of its name */
#define REPLY_MAX_WORD_BYTES ((size_t)4 << 10) /* of words about the answer: see below */

struct reply_part {
    struct part part; /* fixed fields; strings in the reply's arena */
    struct strbuf text, args;
    size_t text_json, args_json; /* the part of n_json for these two */
    uint64_t hash;               /* of a complete call */
    bool is_closed;
    bool is_told; /* a server tool that was announced */
};

struct reply {
    struct arena arena;
    struct reply_part *parts; /* heap array */
    size_t n_parts, parts_room;
    size_t n_bytes;  /* text and arguments so far */
    size_t n_json;   /* the most that the message will take as JSON */
    size_t max_json; /* MESSAGE_MAX_JSON_BYTES; readers of stored messages set more */
    size_t n_values; /* of all arguments, as JSON, against JSON_MAX_VALUES */
    struct usage usage;
    struct str id, model;   /* in the provider's words */
    struct str request_id;  /* of the exchange, for the provider's support; may be empty */
    int http_status;        /* 0: there was none */
    struct str stop_reason; /* the provider's word */
    struct str stop_detail; /* details: incomplete reason, block reason, matched sequence */
    enum stop stop;
    bool is_complete; /* the provider marked the end of the answer */
    struct delta_sink sink;
};

void reply_init(struct reply *r, struct delta_sink sink);
void reply_done(struct reply *r);
void reply_clear(struct reply *r); /* for another attempt; keeps the sink */
DEFINE_AUTO_VAL(reply, reply_done)

/* Begins a part and returns its index. Copies id and name, which may be empty. Tool calls are
 * announced to the sink; server tools when they are closed, or another part begins. REPLY_MAX_PARTS
 * is an error. */
MUST_USE struct err *reply_begin(struct reply *r, enum part_kind kind, struct str id,
                                 struct str name, size_t *ret_index);
/* The last part if it is open and of this kind, otherwise a new one: for protocols that do not
 * number their parts. */
MUST_USE struct err *reply_continue(struct reply *r, enum part_kind kind, size_t *ret_index);
/* The part is complete. Notifies the observer, and may wait. A call without an id gets one. */
void reply_close(struct reply *r, size_t index);
/* For protocols that do not number their parts: another part begins, so the last text or reasoning
 * has ended. */
void reply_close_text(struct reply *r);
/* Are a call's arguments an object? Then they are complete: more text would spoil them. */
bool reply_has_whole_args(const struct reply *r, size_t index);

MUST_USE struct err *reply_add_text(struct reply *r, size_t index, struct str text);
MUST_USE struct err *reply_add_args(struct reply *r, size_t index, struct str json_piece);
/* Replaces streamed text with the provider's final value, without a delta. */
MUST_USE struct err *reply_set_text(struct reply *r, size_t index, struct str text);
MUST_USE struct err *reply_set_args(struct reply *r, size_t index, struct str json);

/* The part's fixed fields. Set strings with the functions below, so that they count. Valid until
 * the next reply_begin(). */
struct part *reply_part(struct reply *r, size_t index);
/* `field` is a member of a part: signature, data, url, title, native. It gets a copy. */
MUST_USE struct err *reply_set_field(struct reply *r, struct str *field, struct str value);
MUST_USE struct err *reply_set_id(struct reply *r, size_t index, struct str id);
MUST_USE struct err *reply_set_name(struct reply *r, size_t index, struct str name);
MUST_USE struct err *reply_set_media(struct reply *r, size_t index, const struct media *m);
/* Parts other than calls have no arguments: text that must be complete before it becomes a field
 * gathers there. This takes it out; it lives as long as the reply. */
struct str reply_take_args(struct reply *r, size_t index);

/* A copy that lives as long as the reply, but is not part of the message. */
struct str reply_str(struct reply *r, struct str s);
/* Sets `id`, `model`, `stop_detail` or the upstream provider: short in real answers, and cut after
 * REPLY_MAX_WORD_BYTES. Usually the same in every event: only a new value is copied. */
void reply_set_word(struct reply *r, struct str *at, struct str word);
struct str reply_part_text(const struct reply *r, size_t index);
struct str reply_part_args(const struct reply *r, size_t index);

void reply_set_stop(struct reply *r, struct str reason, enum stop stop);
/* The user ended it, regardless of the provider's last words. */
#define REPLY_ABORTED "aborted"
void reply_abort(struct reply *r);
enum message_state reply_state(const struct reply *r);

/* Call it after the last byte. Empty arguments become {}, invalid ones move to bad_args, missing
 * call ids are generated (the same reply gives the same id), an exact repetition of a call is
 * dropped, and impossible counts become unknown. */
void reply_finish(struct reply *r);

/* The finished reply as a message. */
struct message *reply_to_message(const struct reply *r, struct str message_id,
                                 enum message_state state, struct origin origin) MUST_USE;

#endif
