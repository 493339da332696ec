/* history.h - a conversation as it happened: entries that are only ever added.
 *
 * A chat entry holds a message; an event entry tells people something that no model sees (a tool
 * began, a skill was used). Nothing is edited or removed: what is sent to a model is made from the
 * history anew each time (engine/request_build.h). Entries live as long as the history. */
#ifndef KEEL_MODEL_HISTORY_H
#define KEEL_MODEL_HISTORY_H

#include "model/message.h"

enum entry_category { ENTRY_CHAT, ENTRY_EVENT };

struct history_entry {
    struct str id; /* of the message, or the event's own */
    int64_t unix_ms;
    enum entry_category category;
    struct str type;         /* the role, or the event's name: "tool-start" */
    struct message *message; /* chat; a reference is held */
    const struct json *data; /* event; may be NULL */
};

/* What the first `n` messages take, kept by who counts them (engine/ledger.h). */
struct history_tally {
    size_t n;
    int64_t tokens;  /* of all of them, estimated */
    int64_t counted; /* the provider's last count, and an estimate of what came after it */
    bool has_count;  /* there is one */
    bool is_exact;   /* nothing came after it */
};

struct history {
    struct arena arena; /* of what entries of events hold */
    struct history_entry *entries;
    size_t n, room;
    const struct message **messages; /* of the chat entries, borrowed from them */
    size_t n_messages, messages_room;
    struct history_tally tally;
};

void history_done(struct history *h); /* a zeroed history is empty */
DEFINE_AUTO_VAL(history, history_done)

/* Room for as many messages, so that it need not grow on the way. */
void history_reserve(struct history *h, size_t n_messages);
void history_add_message(struct history *h, struct message *m, int64_t unix_ms);
void history_add_event(struct history *h, struct str id, struct str type, const struct json *data,
                       int64_t unix_ms);

/* What is left out of a history where it is told but does not fit. */
struct history_cut {
    bool has_nothing;      /* all of it: not even a note stands for it */
    size_t n_skipped;      /* the first messages */
    size_t n_behind;       /* the last ones: they are no part of what is told */
    const size_t *clipped; /* messages whose tool results are only named, ascending */
    size_t n_clipped;
};

/* The messages of all chat entries in their order; borrowed, good until the history changes. */
const struct message *const *history_messages(const struct history *h, size_t *ret_n);

#endif
