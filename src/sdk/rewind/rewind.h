/* rewind.h - undoes turns of a session: its files, its conversation.
 *
 * The plan is made first and changes nothing, not even the session. Carrying it out tells the
 * journal what the files hold before they are changed, so that it can be taken back as any turn can
 * (archive/turns.h). Files that somebody else has changed since are left alone, unless forced.
 * Files that programs obey, and that a command may have written, go aside (sdk/rewind/guarded.h).
 *
 * In a task. What is returned lives in the arena. */
#ifndef KEEL_SDK_REWIND_REWIND_H
#define KEEL_SDK_REWIND_REWIND_H

#include "archive/turns.h"
#include "sdk/project.h"
#include "session/session.h"
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
    const char *home;        /* keel's own, where none may; NULL: none */
    const char *person_home; /* with the settings of git; NULL: none */
    /* Its permissions, where this user may not enter it by them and it is open for the time being.
     */
    bool is_unlocked;
    unsigned workspace_mode;
};

/* A call whose changes were not saved, or not all of them: they stay. */
struct rewind_unsaved {
    struct str call_id;    /* empty: commands in the background */
    struct str tool, what; /* what: the command or the file */
    struct str why;
};

struct rewind {
    struct turn_list turns;
    const struct turn_entry *turn;  /* the one to undo, with all after it */
    size_t n_turns;                 /* of the conversation that are */
    struct restore_plan plan;       /* of the files; empty where they are kept */
    struct restore_report report;   /* after rewind_apply() */
    struct rewind_unsaved *unsaved; /* in their order; none where files are kept */
    size_t n_unsaved, unsaved_room;
    struct str notes; /* after rewind_apply(): what went aside, a line each */
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
struct snapshot_options undo_options(const struct project *p);

/* Files are not as the conversation says, because the process that rewound the session was killed:
 * restores what is left. `turn`: to before which one; 0: there was nothing to do, or it must be
 * done in the session's own directory. Of the options only the directories count. */
struct finished_rewind {
    unsigned turn;
    struct restore_report report;
    struct str notes; /* as above */
};
MUST_USE struct err *rewind_finish(struct session *s, const struct rewind_options *o,
                                   struct arena *a, struct finished_rewind *ret_finished);

/* After a crash: tells the journal what calls had changed that nobody could tell any more. Nothing
 * to do when the last run has ended. */
MUST_USE struct err *rewind_recover(struct session *s, const struct snapshot_options *o);

#endif
