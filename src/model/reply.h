/* reply.h - an answer under construction.
 *
 * Decoders fill it part by part; whoever watches gets the deltas through its sink. It holds what
 * has arrived also when the call fails half-way, so a partial answer is never lost. Parts stand in
 * the order in which they began. Appending allocates nothing per delta once buffers are warm.
 *
 * What is put into it is counted as the JSON that it will be in a message, with its escapes and as
 * often as it stands there. What would make the message larger than one may be is refused, as
 * ERR_BAD_RESPONSE, and not added: so whatever a reply holds can be stored and read again. */
#ifndef KEEL_MODEL_REPLY_H
#define KEEL_MODEL_REPLY_H

#include "model/delta.h"
#include "model/message.h"

#define REPLY_MAX_PARTS 4096
#define REPLY_MAX_BYTES ((size_t)64 << 20)     /* of one text, before it is counted as JSON */
#define REPLY_MAX_ID_BYTES ((size_t)64 << 10)  /* of a part's id, and of its name */
#define REPLY_MAX_WORD_BYTES ((size_t)4 << 10) /* of what is said about the answer: see below */

struct reply_part {
    struct part part; /* fields that do not grow; strings in the reply's arena */
    struct strbuf text, args;
    size_t text_json, args_json; /* what those two add to the reply's n_json */
    uint64_t hash;               /* of a finished call */
    bool is_closed;
    bool is_told; /* a server tool that has announced itself */
};

struct reply {
    struct arena arena;
    struct reply_part *parts; /* heap array */
    size_t n_parts, parts_room;
    size_t n_bytes;  /* text and arguments so far */
    size_t n_json;   /* what the message will take as JSON, at most */
    size_t max_json; /* MESSAGE_MAX_JSON_BYTES; a reader of what is stored sets more */
    size_t n_values; /* of all arguments, as JSON, against JSON_MAX_VALUES */
    struct usage usage;
    struct str id, model;   /* as the provider names them */
    struct str stop_reason; /* the provider's word */
    struct str stop_detail; /* what it adds: incomplete reason, block reason, matched sequence */
    enum stop stop;
    bool is_complete; /* the provider said that the answer has ended */
    struct delta_sink sink;
};

void reply_init(struct reply *r, struct delta_sink sink);
void reply_done(struct reply *r);
void reply_clear(struct reply *r); /* for another attempt; keeps the sink */
DEFINE_AUTO_VAL(reply, reply_done)

/* Begins a part and returns its index. id and name are copied; both may be empty. Tool calls
 * announce themselves to the sink; server tools do when they are closed, or another part begins.
 * REPLY_MAX_PARTS is an error. */
MUST_USE struct err *reply_begin(struct reply *r, enum part_kind kind, struct str id,
                                 struct str name, size_t *ret_index);
/* The last part if it is an open one of this kind, else a new one: for protocols that do not
 * number their parts. */
MUST_USE struct err *reply_continue(struct reply *r, enum part_kind kind, size_t *ret_index);
/* It is whole, and nothing more is added to it: its watcher hears of that, and may wait. A call
 * without an id gets one. */
void reply_close(struct reply *r, size_t index);
/* For protocols that do not number their parts: another one begins, so the text or reasoning that
 * stands last has ended. */
void reply_close_text(struct reply *r);
/* Are a call's arguments an object? Then they have ended: whatever followed would spoil them. */
bool reply_has_whole_args(const struct reply *r, size_t index);

MUST_USE struct err *reply_add_text(struct reply *r, size_t index, struct str text);
MUST_USE struct err *reply_add_args(struct reply *r, size_t index, struct str json_piece);
/* Replaces what streamed by what the provider says is the final value, without a delta. */
MUST_USE struct err *reply_set_text(struct reply *r, size_t index, struct str text);
MUST_USE struct err *reply_set_args(struct reply *r, size_t index, struct str json);

/* The part's fixed fields. Strings are set with the functions below, so that they count. Valid
 * until the next reply_begin(). */
struct part *reply_part(struct reply *r, size_t index);
/* `field` is one of a part: signature, data, url, title, native. It gets a copy. */
MUST_USE struct err *reply_set_field(struct reply *r, struct str *field, struct str value);
MUST_USE struct err *reply_set_id(struct reply *r, size_t index, struct str id);
MUST_USE struct err *reply_set_name(struct reply *r, size_t index, struct str name);
MUST_USE struct err *reply_set_media(struct reply *r, size_t index, const struct media *m);
/* A part that is not a call has no arguments: what must be whole before it becomes a field gathers
 * there until then. This takes it out; it lives as long as the reply. */
struct str reply_take_args(struct reply *r, size_t index);

/* A copy that lives as long as the reply and is not part of the message. */
struct str reply_str(struct reply *r, struct str s);
/* For `id`, `model`, `stop_detail` and who answered behind a router: short in any real answer, and
 * cut after REPLY_MAX_WORD_BYTES. Most are the same in every event: only a new one is copied. */
void reply_set_word(struct reply *r, struct str *at, struct str word);
struct str reply_part_text(const struct reply *r, size_t index);
struct str reply_part_args(const struct reply *r, size_t index);

void reply_set_stop(struct reply *r, struct str reason, enum stop stop);
/* The user ended it, whatever the provider had said by then. */
#define REPLY_ABORTED "aborted"
void reply_abort(struct reply *r);
enum message_state reply_state(const struct reply *r);

/* After the last byte: empty arguments become {}, invalid ones move to bad_args, a missing call id
 * is made (the same reply gives the same id), an exact repeat of a call is dropped, and counts that
 * cannot be become unknown. */
void reply_finish(struct reply *r);

/* The finished reply as a message. */
struct message *reply_to_message(const struct reply *r, struct str message_id,
                                 enum message_state state, struct origin origin) MUST_USE;

#endif
