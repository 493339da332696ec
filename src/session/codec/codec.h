/* codec.h - events as records of a stream, and back. Nothing is stored twice.
 *
 * Fields have the names that they have in a session's log (view/session_log.h). What repeats is
 * referred to, always backwards:
 *
 *     {"$message":ID}    a message that an earlier record holds
 *     {"$reply":SEQ,...} a message whose parts are those of that provider_response_raw
 *     {"$result":SEQ}    the result in the tool_end with that number
 *     {"$history":{"base":SEQ,"n":N,"sha256":H}}
 *                        the first N messages since the mutation that the history began with; H
 *                        binds all of them
 *     {"$blob":HANDLE}   a text or a value of the blob store: what is long, or the same each time
 *     "resultTexts", "messageTexts": [[PART,CONTENT,{"$blob":HANDLE}]]
 *                        long texts of the result or the message beside it, where they are empty:
 *                        a tool's output is one blob, however it is referred to
 *
 * A request's own bytes are kept as their hash and length: history, target, overlays and what is
 * cut make them again.
 *
 * What streams in while an attempt waits for its answer, payloads and deltas, comes in turns and
 * shares records of the type provider_stream:
 *
 *     {"httpStatus":200,"payload":1,"stream":[PAYLOAD,[1,"text",0],40,"word",[1]]}
 *
 *     payload, delta     the sequence of the first one of each; not there: 0
 *     stream             the events, in their order:
 *         {...}          a payload as it came; {"$text":...} where it is no JSON object, or, with
 *                        its type as "$event", where it does not say that itself
 *         "word"         a payload that is like the last {...}, to the byte, but for the text that
 *                        the first delta with a number had from that one: it is this
 *         [TEXT,KIND,PART] or [TEXT,KIND,PART,ID,NAME]
 *                        a delta; [TEXT]: all else is as in the delta before it
 *         40             so many milliseconds later comes the next one; not there: 0
 *
 * The TEXT of a delta is mostly a number: that of the string in the payload before it, counted from
 * 0 in their order. Other members (provider, apiSurface) are those of the
 * attempt's last payload that had them.
 *
 * The writer is pure: it says which blobs it needs. Neither it nor the reader grows with the
 * stream: they remember the last messages and results, and the reader the history, which begins
 * anew with each base. */
#ifndef KEEL_SESSION_CODEC_CODEC_H
#define KEEL_SESSION_CODEC_CODEC_H

#include "base/sha256.h"
#include "model/message_form.h"
#include "port/event.h"
#include "port/store.h"
#include "session/codec/history_hash.h"

#define CODEC_STREAM "provider_stream"
#define CODEC_INLINE_MAX ((size_t)32 << 10) /* longer texts are blobs */
#define CODEC_SHARED_MIN ((size_t)512)      /* prompts and schemas from this size on */

/* --- writing --- */

/* A blob that must be there before the record that refers to it. */
struct codec_blob {
    char handle[SHA256_HEX_SIZE];
    struct str bytes;
    bool is_there;    /* it was stored before: bytes is empty */
    bool is_counted;  /* a record shortly before has it, too */
    uint64_t n_bytes; /* of one that is there; 0: not known */
};

/* A record under construction. It owns its memory; the writer may add to it as long as it is the
 * last one. */
struct codec_record {
    struct arena arena;
    struct store_record record; /* body empty until codec_record_end() */
    struct strbuf body;
    struct json_writer json; /* of the body */
    enum event_type type;    /* of its first event */
    struct codec_blob *blobs;
    size_t n_blobs, blobs_room, n_blob_bytes;
    bool is_open; /* what streams in may still be added */
};
void codec_record_done(struct codec_record *r);
void codec_record_end(struct codec_record *r); /* no more is added; fills in the record */

struct codec_writer; /* remembers what the stream holds */
struct codec_writer *codec_writer_new(void) MUST_USE;
void codec_writer_free(struct codec_writer *w);
DEFINE_AUTO_PTR(codec_writer, codec_writer_free)
/* A pack of messages (session/codec/pack.h) that the stream has. */
struct codec_pack {
    char handle[SHA256_HEX_SIZE];
    size_t end;   /* messages that it and those before it hold */
    uint64_t seq; /* of its checkpoint; 0: not known */
};
/* The position in a stream. */
struct codec_position {
    uint64_t base_seq; /* the mutation that the history begins with; 0: it has not begun */
    size_t n_messages; /* since then */
    struct history_hash hash;
    const struct codec_pack *packs; /* in their order */
    size_t n_packs;
    struct str run_id, provider, model; /* of the last run since then; empty: none began */
};
void codec_writer_continue(struct codec_writer *w, const struct codec_position *at);
/* A checkpoint packs messages when there are so many that no pack holds. */
#define CODEC_PACK_FROM 128
void codec_writer_pack_from(struct codec_writer *w, size_t n_messages);
/* Later records refer to no message that the stream has so far: none of them is held. */
void codec_writer_forget(struct codec_writer *w);
/* The mutation that the history begins with; 0: there is none yet. */
uint64_t codec_writer_base(const struct codec_writer *w);

/* True: the event was added to `last`, which may be NULL. False: it begins `ret_record`. */
bool codec_write(struct codec_writer *w, const struct event *e, struct codec_record *last,
                 struct codec_record *ret_record);

/* --- reading --- */

/* Reads a stream from its beginning or from a base of its history on, record by record. */
struct codec_reader;
enum codec_reading { CODEC_READ_ALL, CODEC_READ_CORE };
struct codec_reader *codec_reader_new(struct store *s, struct str stream, uint64_t from,
                                      enum codec_reading reading) MUST_USE;
/* Leaves out the record with this number and all after it. Before the first codec_read(). */
void codec_reader_limit(struct codec_reader *r, uint64_t to);
/* What is not needed, and then takes neither time nor memory. Before the first codec_read(). */
enum codec_left {
    /* long texts in a tool_end, which are then empty; codec_reader_result() reads them in pieces */
    CODEC_LEAVE_ENDS = 1,
    CODEC_LEAVE_RESULTS = 2,  /* the same in tool_execution_result; messages have theirs always */
    CODEC_LEAVE_REQUESTS = 4, /* messages of requests */
    CODEC_LEAVE_HISTORY = 8,  /* none is kept; codec_reader_range() says which it was */
    CODEC_LEAVE_HEADS = 16,   /* system prompt and tools of session_begin, the input of runs */
    /* with these, memory does not grow with the stream */
    CODEC_PASS = CODEC_LEAVE_ENDS | CODEC_LEAVE_REQUESTS | CODEC_LEAVE_HISTORY,
};
void codec_reader_leave(struct codec_reader *r, unsigned what);
/* Who knows what protocols want of messages; without it requests have messages as a protocol gets
 * them that takes everything. Before the first codec_read(). */
void codec_reader_forms(struct codec_reader *r,
                        const struct message_form *(*find)(struct str protocol));
/* Records of these types are passed over, unread. The array has EVENT_N_TYPES values. Before the
 * first codec_read(). */
void codec_reader_skip(struct codec_reader *r, const bool *types);
/* Nothing before this number is open: of the core before it only the events are read that messages
 * and runs are told by. What messages are made of, answers and results of tools, is kept as text
 * until a message refers to it; all else is passed over, unread. Events have no owners. Before the
 * first codec_read(). */
void codec_reader_pass(struct codec_reader *r, uint64_t before);
/* The reader begins where the history has these messages already, since that mutation; they are
 * taken. Before the first codec_read(). */
void codec_reader_begin_with(struct codec_reader *r, uint64_t base_seq,
                             struct history *take_history, const struct history_hash *hash);
/* It is the stream of a child run: its events say below which session. Before the first
 * codec_read(). */
void codec_reader_below(struct codec_reader *r, struct str parent);
/* The end was read, and more has been appended since. */
void codec_reader_go_on(struct codec_reader *r);
/* The number of the event that the next codec_read() is to give. */
uint64_t codec_reader_next_seq(const struct codec_reader *r);
/* Goes on with that event, whatever comes before it. */
void codec_reader_skip_to(struct codec_reader *r, uint64_t seq);
/* Frees what can be read again; the event that was read last is good no more. The end of a later
 * run is without its text where that was said before this. */
void codec_reader_let_go(struct codec_reader *r);
/* The messages as of the event that was read last, and where they begin. */
const struct history *codec_reader_history(const struct codec_reader *r, uint64_t *ret_base_seq);
/* The same, given away: the reader has none after this, and reads no further. */
void codec_reader_take_history(struct codec_reader *r, struct history *ret_history);
/* The hash of all of them, for a writer that continues the stream. */
void codec_reader_hash(struct codec_reader *r, struct history_hash *ret_hash);
/* No more comes: a compaction that was cut off before its last message counts for nothing, and the
 * history before it holds. */
void codec_reader_end_compaction(struct codec_reader *r);

/* The first `n` messages since the mutation `base_seq`; the hash binds them all. */
struct codec_range {
    uint64_t base_seq; /* 0: the history is empty */
    size_t n;
    char sha256[SHA256_HEX_SIZE];
};
void codec_reader_range(const struct codec_reader *r, struct codec_range *ret_range);
void codec_reader_free(struct codec_reader *r);
DEFINE_AUTO_PTR(codec_reader, codec_reader_free)

/* The next event, good until the next call; NULL at the end. A record that cannot be read is
 * ERR_STORAGE with its number; the reader then continues after it. With CODEC_READ_ALL a record
 * that was made with another history than the one before it is such a record, too. May wait. */
MUST_USE struct err *codec_read(struct codec_reader *r, const struct event **ret_event);
/* The result in the tool_end with this number, whole; it lives in `a`. May wait. */
MUST_USE struct err *codec_read_result(struct store *s, struct str stream, uint64_t seq,
                                       struct arena *a, struct part *ret_result);
/* The long texts that it has left of the event that it read last, as the record names them; NULL:
 * it has left nothing. */
const struct json *codec_reader_left(const struct codec_reader *r);
/* The text of that event's result piece by piece, each of them whole characters, as result_text()
 * has it. An error may come after some of it: the rest is damaged. May wait. */
MUST_USE struct err *codec_reader_result(struct codec_reader *r,
                                         struct err *(*take)(void *self, struct str text),
                                         void *self);
/* Where the last codec_read() found its event, or failed to; NULL: it read no record. */
const struct store_record *codec_reader_record(const struct codec_reader *r);
/* The number of the record that the last codec_read() failed at; 0: it is not known. */
uint64_t codec_reader_broken_seq(const struct codec_reader *r);
/* The record that the last codec_read() failed at is fine, but was made with another history. */
bool codec_reader_has_other_history(const struct codec_reader *r);
/* The store itself has failed, which the last codec_read() has reported: nothing more can be read.
 */
bool codec_reader_has_failed(const struct codec_reader *r);

#endif
