/* session.h - a conversation that cannot be lost: engine, journal and store as one.
 * A session is opened new, resumed, or forked from another, and is then the only writer of its
 * stream until it is shut down. Runs go through session_run(), which adds the journal, compaction
 * and the budget to what the caller wants. Killing the process at any point loses nothing that was
 * reported as durable: the session resumes from there.
 *
 * A run that was cut off is resumed, or overtaken by a new prompt. Either way an answer that had
 * arrived in part stays as one that broke off, known results are used, and a call whose outcome is
 * not known is never run again: the model reads that. Calls that never started are run on resuming,
 * and reported as not executed after a new prompt. Background commands that ran when the process
 * died have the state "unknown", and the next message of the person tells the model.
 *
 * What happens in a run and what happens between runs are events of one stream,
 * conversation.stream, to which callers subscribe.
 *
 * In a task; one run at a time. */
#ifndef KEEL_SESSION_SESSION_H
#define KEEL_SESSION_SESSION_H

#include "session/budget.h"
#include "session/compact.h"
#include "session/journal.h"
#include "session/load.h"
#include "session/session_record.h"

/* Opening reads at most that many core events beyond a base of the history, and a run's own. */
#define SESSION_CHECKPOINT_EVERY 500

enum session_start { SESSION_NEW, SESSION_RESUME, SESSION_FORK };
const char *session_start_name(enum session_start s); /* "new", "resume", "fork" */

struct session_options {
    struct store *store; /* borrowed */
    enum session_start start;
    struct str id;       /* NEW, FORK: empty makes one; RESUME: whom */
    struct str source;   /* FORK: whose history; it may be open elsewhere */
    uint64_t source_seq; /* FORK: up to and without this event; 0: all of it */
    bool must_be_whole;  /* RESUME: refuse one of which a part cannot be read */
    struct str cwd, name;
    struct compact_options compact;
    struct budget_limits budget;
    size_t
        pack_from; /* messages that a checkpoint packs (session/codec/pack.h); 0: CODEC_PACK_FROM */
    enum journal_failure on_failure;
    /* They get all events, from the opening on; those before the stream is open have no number. */
    struct event_subscriber *const *subscribers;
    size_t n_subscribers;
    const struct secrets *secrets; /* kept out of notices; outlives the session; may be NULL */
    /* Of a child run's: its stream is below this session's, which must outlive it, under the lease
     * and the budget of their root. NULL: it is a root. */
    struct session *parent;
    /* Where its writing task runs. It outlives the session, which may then be used by one task
     * after another, as long as no two do at once. NULL: the session belongs to the task that opens
     * it, and is ended by it before what that task has begun earlier. */
    struct group *tasks;
    const struct random *random; /* for ids; NULL: the system's */
};

struct session {
    struct conversation conversation;
    struct loaded loaded; /* state found on open; consumed by the first run */
    struct budget budget; /* what all its runs have spent */
    /* the rest is private */
    struct arena arena;
    struct session_options options; /* with its texts in the arena */
    struct store_lease lease;
    struct journal *journal;
    struct compaction compaction;
    struct child_keeper children;
    size_t n_open_children;
    struct session *live_children, *next_sibling; /* that are open in this process */
    struct group tasks;                           /* where the caller has given none */
    struct strbuf notice;                         /* for the model, with the next message */
    uint64_t checkpoint_base_seq;
    bool has_tasks, is_open, has_begun, is_shut_down;
};

/* Whatever comes of it, session_done() must follow. */
MUST_USE struct err *session_open(struct session *s, const struct session_options *options);
/* An event for the person, with or without a run. A child's notice is an event of the root. Empty:
 * nothing. */
void session_notice(struct session *s, enum severity severity, const char *source, struct str text);
/* Records what the session begins with: once, before the first run. */
void session_begin(struct session *s, const struct event_session *how);

/* A late subscriber gets the stored events from that one on (1: from the beginning), also those not
 * written yet, and then what happens: without a gap and without repetition, also during a run.
 * Stored events come in the caller's task, which may wait: for the store, and where the subscriber
 * wants it (pace). Those of a child run come between the events of its parent that say when it
 * began and ended. A child that had begun before that event and had not ended then comes from its
 * beginning.
 *
 * A stored event is the one that was emitted, except for what can be derived: a piece of an answer
 * comes without the reply so far, and a request without its messages, which were in
 * history_mutation. What cannot be read is skipped; the numbers show it.
 *
 * The session stays open until this returns. With an error it is not subscribed. One that is
 * unsubscribed meanwhile gets no more. */
MUST_USE struct err *session_subscribe(struct session *s, uint64_t from_seq,
                                       struct event_subscriber *subscriber);

/* One run. The session is its keeper: compactor, budget, children, and what a crash has left open.
 * What has happened is durable when it returns, unless a notice says otherwise. */
void session_run(struct session *s, const struct run_input *input, const struct run_kit *kit,
                 struct run_result *ret_result);
/* Makes the history a summary of itself now, whatever the threshold says: a run without a prompt.
 * The error says why the history stays as it is; the result is the caller's to end in any case. */
MUST_USE struct err *session_compact(struct session *s, const struct run_kit *kit,
                                     struct str instructions, struct run_result *ret_result);
/* Is there anything that a run without a prompt could do? */
bool session_can_resume(const struct session *s);
/* The progress of the last turn, which a run without a prompt continues. If that turn was finished,
 * it is read now: opening the session has passed over it. May wait. */
struct turn_progress session_turn(struct session *s);
/* The answer of the last turn; false: the turn is not finished. The reason for its end lives as
 * long as the history. */
bool session_answer(const struct session *s, struct strbuf *ret_text, struct str *ret_stop_reason);

/* Adds a message to the history without a run. */
MUST_USE struct err *session_inject(struct session *s, enum role role, struct str text);
/* The history is empty from here on; the tools' state stays. */
MUST_USE struct err *session_clear(struct session *s);
/* Rewinds the session to before an event: messages and tool state, or only the files, which the
 * caller changes when this has returned. What they hold is recorded first, so that the rewind can
 * be undone. A turn of its own (turns.h); what was spent stays spent. Durable. */
struct session_rewind {
    unsigned turn; /* the one that is undone, with all after it */
    uint64_t seq;  /* its first event */
    bool takes_messages;
    bool keeps_files, force;       /* only recorded, for the process that finishes it */
    const struct pre_image *files; /* what they hold now, with `after` as they will be */
    size_t n_files;
};
MUST_USE struct err *session_rewind(struct session *s, const struct session_rewind *how);
/* The files are changed. Until then every process that opens the session knows that they may differ
 * from what the conversation says. Durable. */
MUST_USE struct err *session_rewind_end(struct session *s);
/* One whose process was killed before that; turn 0: there is none. */
struct unfinished_rewind {
    unsigned turn; /* the session was to be rewound to before it */
    bool takes_messages, keeps_files, force;
    bool is_told;      /* all but the files is done; else it must be done again */
    uint64_t from, at; /* the turn's first event; the rewind's own */
    size_t n_files;    /* what they held is recorded right behind it */
};
struct unfinished_rewind session_unfinished_rewind(const struct session *s);
/* Records changes that were not recorded when they were made, because the process died. */
void session_emit_images(struct session *s, const struct pre_image *images, size_t n);
/* Records that the changes of a call are not saved, or not all; no id: of background commands. */
void session_emit_unsaved(struct session *s, struct str call_id, struct str why);
MUST_USE struct err *session_rename(struct session *s, struct str name);
/* Another model will be asked: an event for those who show which. */
void session_note_model(struct session *s, struct str provider, struct str model);
/* What the person has said yes to for the length of the session. */
size_t session_allowed(const struct session *s, struct arena *a, struct str **ret_patterns);
void session_clear_allowed(struct session *s);

/* Emits the end, makes all durable, writes the record, gives the lease back: once. Waits even when
 * it is cancelled. A record that cannot be written is a notice, and not an error.
 * A new session in which nothing has happened leaves nothing behind. `reason` is "other", "clear",
 * "logout", "prompt_input_exit". */
MUST_USE struct err *session_shutdown(struct session *s, const char *reason);
void session_done(struct session *s); /* after the tools' own tasks have ended */
DEFINE_AUTO_VAL(session, session_done)

#endif
