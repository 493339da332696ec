/* turns.h - the turns of a session: its runs and its rewinds.
 *
 * A turn has the number of its run; a rewind has one too, and no number is used twice. Going back
 * to a turn means to where the session stood just before it, so that going back to a rewind undoes
 * it. Turns that were undone are still there, but no longer part of the conversation. */
#ifndef KEEL_ARCHIVE_TURNS_H
#define KEEL_ARCHIVE_TURNS_H

#include "port/store.h"

#define TURN_PROMPT_MAX ((size_t)400) /* bytes of the prompt that are shown */

/* How a turn ended; the state of a session is that of its last turn. */
enum turn_state {
    TURN_DONE,
    TURN_FAILED,
    TURN_SUSPENDED, /* it waited for an answer */
    TURN_INTERRUPTED,
    TURN_LIMIT_REACHED, /* without an answer */
    TURN_REFUSED,       /* by the model, or a filter before it */
    TURN_CUT_OFF,       /* its process died, or is still at work */
    TURN_RUNNING,       /* of a session: its process is at work */
    TURN_NONE,          /* of a session: nothing was said in it yet */
};
const char *turn_state_name(enum turn_state s); /* "done", ..., "cut_off", "running", "new" */
const char *turn_state_text(enum turn_state s); /* for people: "waits for an answer" */

struct turn_entry {
    unsigned number;
    uint64_t seq; /* of its first event */
    int64_t unix_ms;
    bool has_prompt;   /* else the run went on, or only compacted */
    struct str prompt; /* how it begins */
    bool is_rewind, takes_messages;
    unsigned to_turn; /* of a rewind */
    size_t n_files;   /* of a rewind */
    size_t before;    /* place + 1 of the turn that the conversation ended with; 0: none */
    bool is_live;     /* part of the conversation */
    /* of a run: */
    enum turn_state state;
    struct str error_code, error; /* that it ended with; empty: none */
    struct str forced;            /* why its last answer was one without tools; empty: it was not */
    struct str stop_reason;       /* of that answer, as the provider says it */
};

struct turn_list {
    struct turn_entry *items; /* in their order; in the caller's arena */
    size_t n, room;
};

/* Reads only the records that turns begin and end with. May wait. */
MUST_USE struct err *turn_list_read(struct store *s, struct str id, struct arena *a,
                                    struct turn_list *ret_list);
/* The states of these sessions. Reads the last record of each that says so; its turns where it was
 * rewound. May wait. */
MUST_USE struct err *turn_states_read(struct store *s, const struct store_summary *items, size_t n,
                                      enum turn_state *ret_states);
/* NULL: there is none of that number. */
const struct turn_entry *turn_list_find(const struct turn_list *l, unsigned number);
/* The last one that a person began and that is part of the conversation; NULL: there is none. */
const struct turn_entry *turn_list_last(const struct turn_list *l);
/* The last run that is part of the conversation, with or without a prompt; NULL: there is none. */
const struct turn_entry *turn_list_last_run(const struct turn_list *l);

#endif
