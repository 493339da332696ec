/* history.h - a conversation as its models see it: messages that are only appended.
 *
 * Nothing is edited or removed: each request is built from the history anew
 * (engine/request_build.h). What else a person sees (that a call began, a notice) is in the events;
 * readers derive it from them (session/session_record.c), and nothing stores it twice. */
#ifndef KEEL_MODEL_HISTORY_H
#define KEEL_MODEL_HISTORY_H

#include "model/message.h"

/* The size of the first `n` messages, kept by the ledger (engine/ledger.h). */
struct history_tally {
    size_t n;
    int64_t tokens;  /* of all of them, estimated */
    int64_t counted; /* the provider's last count, with an estimate of everything after it */
    bool has_count;  /* there is a count */
    bool is_exact;   /* nothing came after it */
};

struct history {
    struct message **messages; /* a reference to each */
    int64_t *unix_ms;          /* when each was added */
    size_t n_messages, room;
    struct history_tally tally;
};

void history_done(struct history *h); /* a zeroed history is empty */
DEFINE_AUTO_VAL(history, history_done)

/* Reserves room for this many messages. */
void history_reserve(struct history *h, size_t n_messages);
void history_add_message(struct history *h, struct message *m, int64_t unix_ms);

/* What an excerpt of a history omits to fit. */
struct history_cut {
    bool has_nothing;      /* all of it, without a note */
    size_t n_skipped;      /* the first messages */
    size_t n_behind;       /* the last ones, which are not part of the excerpt */
    const size_t *clipped; /* messages whose tool results are only named, ascending */
    size_t n_clipped;
};

/* The messages, in order; borrowed until the history changes. */
const struct message *const *history_messages(const struct history *h, size_t *ret_n);

#endif
