/* history.h - a conversation as it happened: entries are only appended.
 *
 * A chat entry holds a message. An event entry is for people; no model sees it (a tool began, a
 * skill was used). Nothing is edited or removed: each request is built from the history anew
 * (engine/request_build.h). Entries live as long as the history. */
#ifndef KEEL_MODEL_HISTORY_H
#define KEEL_MODEL_HISTORY_H

#include "model/message.h"

enum entry_category { ENTRY_CHAT, ENTRY_EVENT };

struct history_entry {
    struct str id; /* of the message, or the event's own */
    int64_t unix_ms;
    enum entry_category category;
    struct str type;         /* the role, or the event's name: "tool-start" */
    struct message *message; /* chat; holds a reference */
    const struct json *data; /* event; may be NULL */
};

/* The size of the first `n` messages, kept by the ledger (engine/ledger.h). */
struct history_tally {
    size_t n;
    int64_t tokens;  /* of all of them, estimated */
    int64_t counted; /* the provider's last count, with an estimate of everything after it */
    bool has_count;  /* there is a count */
    bool is_exact;   /* nothing came after it */
};

struct history {
    struct arena arena; /* for event entries */
    struct history_entry *entries;
    size_t n, room;
    const struct message **messages; /* of the chat entries, borrowed from them */
    size_t n_messages, messages_room;
    struct history_tally tally;
};

void history_done(struct history *h); /* a zeroed history is empty */
DEFINE_AUTO_VAL(history, history_done)

/* Reserves room for this many messages. */
void history_reserve(struct history *h, size_t n_messages);
void history_add_message(struct history *h, struct message *m, int64_t unix_ms);
void history_add_event(struct history *h, struct str id, struct str type, const struct json *data,
                       int64_t unix_ms);

/* What an excerpt of a history omits to fit. */
struct history_cut {
    bool has_nothing;      /* all of it, without a note */
    size_t n_skipped;      /* the first messages */
    size_t n_behind;       /* the last ones, which are not part of the excerpt */
    const size_t *clipped; /* messages whose tool results are only named, ascending */
    size_t n_clipped;
};

/* The messages of all chat entries, in order; borrowed until the history changes. */
const struct message *const *history_messages(const struct history *h, size_t *ret_n);

#endif
