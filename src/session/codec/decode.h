/* decode.h - one record as the events it holds, given what the reader knows. Only reader.c,
 * decode*.c and types.c include this.
 *
 * get: a member of the body; what is not there is empty, 0 or NULL. */
#ifndef KEEL_SESSION_CODEC_DECODE_H
#define KEEL_SESSION_CODEC_DECODE_H

#include "engine/request_build.h"
#include "session/codec/codec.h"
#include "session/codec/encode.h" /* N_KNOWN */
#include "session/codec/payload_strings.h"

/* What the writer refers to it wrote not long ago: of its N_KNOWN messages, which it forgets in the
 * order in which they came, any may have come again meanwhile. */
#define N_SEEN_MESSAGES (2 * N_KNOWN)
#define N_SEEN_RESULTS N_KNOWN

/* A message that a record may refer to. Those that are long are not held: they are read again. */
struct seen_message {
    struct str id;           /* owned */
    uint64_t seq;            /* of its record */
    struct message *message; /* a reference; NULL: it is not held */
};

/* Those without long texts; others are read again where they are referred to. */
struct seen_result {
    uint64_t seq;
    struct arena arena;
    struct part part;
    struct str json; /* it, where it was passed over: `part` is empty then */
};

/* The parts of an answer that was passed over. */
struct passed_reply {
    uint64_t seq; /* 0: there is none */
    struct arena arena;
    struct str json;
};

/* What streams in within an attempt: what an entry need not have said again. */
struct stream_reading {
    struct strbuf provider, api_surface;
    int http_status;
    uint64_t next_payload, next_delta; /* their sequences */
    /* of the record; in its arena */
    const struct json *next; /* entry */
    int64_t unix_ms;         /* of the last one */
    struct delta delta;      /* the last one */
    struct str event_type;   /* of that payload; empty: it says it itself */
    struct str payload;      /* the last one; empty: there is none */
    const struct json *value;
    bool stands_as_it_is;
    struct payload_strings strings;
    bool has_strings;
    /* the text that a delta had from there, and what stands around it */
    bool has_text;
    size_t text_place;
    struct str before, after;
    struct strbuf like; /* the last payload, when it has the same around another text */
};
void codec_stream_reading_clear(struct stream_reading *s); /* an attempt begins, or has ended */

/* What a compaction replaces, until all of it was read. */
struct held_history {
    size_t n_of; /* messages that it must have; 0: nothing is held */
    struct history history;
    size_t n_in_history;
    struct message *answer;
    uint64_t base_seq;
    struct history_hash hash;
    size_t n_hashed;
};

struct codec_reader {
    struct store *store;
    struct str stream, parent; /* in the arena */
    uint64_t next_seq, to;
    uint64_t damaged_at; /* what the store could not read last; 0: it could, or does not know */
    bool core_only, has_failed, has_other_history;
    unsigned leaves;                                              /* codec_left */
    const struct message_form *(*find_form)(struct str protocol); /* NULL: they are not known */
    bool skips[EVENT_N_TYPES];
    uint64_t passes_before; /* codec_reader_pass() */
    struct store_page page;
    size_t at;                         /* in the page */
    const struct store_record *record; /* that was read last; NULL: none was */
    bool is_over;

    /* what records refer to */
    struct arena arena;
    struct seen_message messages[N_SEEN_MESSAGES]; /* the last ones, the oldest first */
    size_t n_messages, n_held_bytes;
    struct seen_result results[N_SEEN_RESULTS];
    size_t n_results;       /* that were seen */
    struct history history; /* empty with CODEC_LEAVE_HISTORY */
    size_t n_in_history;    /* messages, held or not */
    struct message *answer; /* the last one of the history; may be NULL */
    uint64_t base_seq;
    struct history_hash hash;
    size_t n_hashed; /* messages that are in it; of the core alone, the rest is added when asked
                         for */
    struct held_history held;
    struct reply reply; /* the last answer */
    bool has_reply;
    uint64_t reply_seq;
    struct passed_reply passed;
    struct stream_reading streaming;

    /* the event that was given out last */
    struct arena scratch;
    struct event event;
    struct built_messages built;
    struct err *error;
    struct json *body;
    const struct json *left; /* see codec_reader_left() */
    size_t n_in_record;      /* events of the record that have been given out */
};

/* Fills r->event for event number `index` of the record, one after the other; r->body is parsed. */
MUST_USE struct err *codec_decode(struct codec_reader *r, const struct store_record *record,
                                  size_t index);
bool codec_find_type(struct str name, enum event_type *ret_type);

/* One record on its way back. */
struct decoding {
    struct codec_reader *reader;
    const struct store_record *record;
    const struct json *body;
    size_t index; /* of the event in it */
    struct arena *arena;
    struct event *event;
    void *body_of; /* what the event's fields are in: event_body() */
};

/* --- values --- */

struct err *codec_broken(const struct decoding *d, const char *what) MUST_USE;
MUST_USE struct err *codec_load_blob(struct decoding *d, struct str handle, struct arena *a,
                                     struct str *ret_bytes);
MUST_USE struct err *codec_text_of(struct decoding *d, const struct json *v, struct str *ret_text);
MUST_USE struct err *codec_get_text(struct decoding *d, const char *key, struct str *ret_text);
MUST_USE struct err *codec_get_json(struct decoding *d, const char *key,
                                    const struct json **ret_value);
int64_t codec_get_int(const struct decoding *d, const char *key);
bool codec_get_bool(const struct decoding *d, const char *key);
const char *codec_get_word(struct decoding *d, const char *key);
struct err *codec_get_failure(struct decoding *d); /* borrowed from the reader */
bool codec_get_usage(struct decoding *d, struct usage *ret_usage);

/* The value of an enum, up to `last`, whose name stands there; the first one when none does. */
#define CODEC_GET_NAME(d, key, name_of, last)                                                      \
    ({                                                                                             \
        struct str found_ = json_get_text((d)->body, key);                                         \
        int value_ = (int)(last);                                                                  \
                                                                                                   \
        while (value_ > 0 && !str_is(found_, name_of(value_)))                                     \
            value_--;                                                                              \
        value_;                                                                                    \
    })

/* --- messages --- */

/* Borrowed from the reader. */
MUST_USE struct err *codec_get_message(struct decoding *d, const char *key,
                                       struct message **ret_message);
/* Good until the next record; `is_whole`: with its long texts. */
MUST_USE struct err *codec_get_result(struct decoding *d, bool is_whole,
                                      const struct part **ret_part);
void codec_forget_seen(struct codec_reader *r);
/* Keeps the answer or the result that the record holds, for a message that refers to it. False: it
 * must be read as all others. */
bool codec_keep_reply(struct codec_reader *r, const struct store_record *record);
bool codec_keep_result(struct codec_reader *r, const struct store_record *record);
void codec_forget_reply_read(struct codec_reader *r);
MUST_USE struct err *codec_check_history(struct decoding *d, const char *key);

/* --- tools that were offered --- */

MUST_USE struct err *codec_get_tool_set(struct decoding *d, const struct tool_set **ret_set);

/* --- events --- */

MUST_USE struct err *codec_decode_streamed(struct decoding *d); /* sets the type, too */
struct err *codec_decode_session(struct decoding *d);
struct err *codec_decode_run(struct decoding *d);
struct err *codec_decode_result(struct decoding *d);
struct err *codec_decode_compact(struct decoding *d);
struct err *codec_decode_tools(struct decoding *d);
struct err *codec_decode_answer(struct decoding *d);
struct err *codec_decode_notice(struct decoding *d);
struct err *codec_decode_error(struct decoding *d);
struct err *codec_decode_attempt(struct decoding *d);
struct err *codec_decode_request(struct decoding *d);
struct err *codec_decode_reply(struct decoding *d);
struct err *codec_decode_payload(struct decoding *d);
struct err *codec_decode_delta(struct decoding *d);
struct err *codec_decode_message(struct decoding *d);
struct err *codec_decode_history(struct decoding *d);
struct err *codec_decode_batch(struct decoding *d);
struct err *codec_decode_tool(struct decoding *d);
struct err *codec_decode_snapshot(struct decoding *d);
struct err *codec_decode_pre_image(struct decoding *d);

#endif
