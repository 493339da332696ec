/* session.h - a conversation that cannot be lost: engine, journal and store as one.
 *
 * A session is opened new, again, or as a fork of another, and is then the only writer of its
 * stream until it is shut down. Runs go through session_run(), which adds the journal, compaction
 * and the budget to what the caller wants. Killing the process at any point loses nothing that was
 * told as durable: opening it again goes on from there. In a task. */
#ifndef KEEL_SESSION_SESSION_H
#define KEEL_SESSION_SESSION_H

#include "session/budget.h"
#include "session/compact.h"
#include "session/journal.h"
#include "session/load.h"

enum session_start { SESSION_NEW, SESSION_RESUME, SESSION_FORK };

struct session_options {
    struct store *store; /* borrowed */
    enum session_start start;
    struct str id;       /* NEW, FORK: empty makes one; RESUME: whom */
    struct str source;   /* FORK: whose history */
    uint64_t source_seq; /* FORK: up to and without this event; 0: all of it */
    struct str cwd, name;
    struct compact_options compact;
    struct budget_limits budget;
    enum journal_failure on_failure;
    struct hooks *hooks;                            /* for PreCompact and PostCompact; NULL: none */
    void (*on_notice)(void *self, struct str text); /* for the person; may be NULL */
    void *self;
};

struct session {
    struct conversation conversation;
    struct loaded loaded; /* how it was found */
    struct budget budget; /* what all its runs have spent */
    /* the rest is private */
    struct store *store;
    struct store_lease lease;
    struct journal *journal;
    struct compaction compaction;
    struct group tasks;
    struct session_options options;
    bool is_open, has_begun, is_shut_down;
};

/* Whatever comes of it, session_done() must follow. */
MUST_USE struct err *session_open(struct session *s, const struct session_options *options);
/* `how` says what the session begins with, for its log. */
void session_begin(struct session *s, const struct event_session *how);

/* One run. `options` is what the caller wants; recorder, compactor, budget and what a crash has
 * left open are filled in here. A run that was cut off goes on with input NULL; with a prompt it is
 * closed properly first. */
void session_run(struct session *s, struct run_options *options, struct run_result *ret_result);

/* Summarises now, whatever the threshold says; the options are those of a run without input. */
MUST_USE struct err *session_compact(struct session *s, struct run_options *options,
                                     struct str instructions);

/* Adds a message to the history without asking anybody. */
MUST_USE struct err *session_inject(struct session *s, enum role role, struct str text);
MUST_USE struct err *session_clear(struct session *s);
MUST_USE struct err *session_rename(struct session *s, struct str name);
/* What the person has said yes to for the length of the session. */
size_t session_allowed(const struct session *s, struct arena *a, struct str **ret_patterns);
void session_clear_allowed(struct session *s);

/* Tells the end, makes all durable, writes the record, gives the lease back: once. `reason` is
 * "other", "clear", "logout", "prompt_input_exit". */
MUST_USE struct err *session_shutdown(struct session *s, const char *reason);
void session_done(struct session *s);
DEFINE_AUTO_VAL(session, session_done)

#endif
