/* decode.h - one record as the events it holds, given what the reader knows. Only reader.c and
 * decode.c include this. */
#ifndef KEEL_SESSION_DECODE_H
#define KEEL_SESSION_DECODE_H

#include "engine/request_build.h"
#include "session/codec.h"

struct seen_result {
    uint64_t seq;
    struct part part; /* in the reader's arena */
};

struct codec_reader {
    struct store *store;
    struct str stream, parent; /* in the arena */
    uint64_t next_seq, to;
    bool core_only, has_failed;
    struct store_page page;
    size_t at;                         /* in the page */
    const struct store_record *record; /* that was read last; NULL: none was */
    bool is_over;

    /* what records refer to */
    struct arena arena;
    struct message **messages; /* all that were seen, in their order; references are held */
    size_t n_messages, messages_room;
    struct seen_result *results;
    size_t n_results, results_room;
    struct history history;
    uint64_t base_seq;
    struct chain_hash chain;
    struct reply reply; /* the last answer */
    bool has_reply;
    uint64_t reply_seq;

    /* the event that was given out last */
    struct arena scratch;
    struct event event;
    struct built_messages built;
    struct err *error;
    struct message *made; /* by this event; a reference is held */
    struct json *body;
    size_t n_in_record; /* events of the record that have been given out */
};

/* Fills r->event for event number `index` of the record; r->body is parsed. */
MUST_USE struct err *codec_decode(struct codec_reader *r, const struct store_record *record,
                                  size_t index);

#endif
