/* rewind.h - takes a session back to where it stood before a turn: its files, its conversation.
 *
 * The plan is made first and changes nothing, not even the session. Carrying it out tells the
 * journal what the files hold before they are changed, so that it can be taken back as any turn can
 * (session/turns.h). Files that somebody else has changed since are left alone, unless forced.
 *
 * In a task. What is returned lives in the arena. */
#ifndef KEEL_SDK_REWIND_H
#define KEEL_SDK_REWIND_H

#include "sdk/runtime.h"
#include "session/session.h"
#include "session/turns.h"
#include "snapshot/restore.h"
#include "snapshot/snapshot.h"

struct rewind_options {
    unsigned turn; /* the first one that is taken back; 0: the last that a person began */
    bool keeps_files, keeps_messages;
    bool force; /* files that somebody else has changed, too */
    /* Where files may be changed. */
    const char *workspace;
    const char *const *added_dirs;
    size_t n_added_dirs;
};

struct rewind {
    struct turn_list turns;
    const struct turn_entry *turn; /* that is taken back, with all after it */
    size_t n_turns;                /* of the conversation that are */
    struct restore_plan plan;      /* of the files; empty where they are kept */
    struct restore_report report;  /* after rewind_apply() */
    /* private */
    struct restore_options restore;
};

/* Says what would be done. ERR_VALIDATION when there is no such turn, or none at all. */
MUST_USE struct err *rewind_plan(struct store *s, struct str id, const struct rewind_options *o,
                                 struct arena *a, struct rewind *ret_rewind);
/* Does it, in the session that it was planned for. */
MUST_USE struct err *rewind_apply(struct rewind *r, struct session *s,
                                  const struct rewind_options *o, struct arena *a);

/* What the settings say about it; added directories, blobs and callbacks are the caller's. */
MUST_USE struct err *undo_options_read(const struct runtime *r, struct arena *a,
                                       struct snapshot_options *ret_options);

/* After a crash: tells the journal what calls had changed that nobody could tell any more. Nothing
 * to do when the last run has ended. */
MUST_USE struct err *rewind_recover(struct session *s, const struct snapshot_options *o);

#endif
