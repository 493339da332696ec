/* write_observer.h - learns what a command is about to change in the file system, before it does.
 *
 * A launcher that can holds each system call of the command that changes names, contents or
 * attributes of files, reports it, and lets it continue when the observer has returned. A command
 * that means harm can still change something else than it announced: what is reported is good for
 * saving what was there, but does not confine. */
#ifndef KEEL_SYS_WRITE_OBSERVER_H
#define KEEL_SYS_WRITE_OBSERVER_H

#include "base/mem.h"

enum write_kind {
    WRITE_CONTENT,    /* opened for writing or truncated; may come into being by it */
    WRITE_ATTRIBUTES, /* mode, owner, extended attributes */
    WRITE_REMOVAL,    /* of a file, a link or an empty directory */
    WRITE_RENAME,     /* of anything, to `to`, which is replaced if it is there */
    WRITE_EXCHANGE,   /* of the two names */
    WRITE_NEW_NAME,   /* a directory, a link, a hard link to `to`, a pipe, a socket, a device */
};

/* Paths are absolute, as keel's own name space has them, with no link in them but perhaps the last
 * name, where the call would not follow it. One of the two at least lies in a directory whose
 * changes count: the workspace, or one that was added. The call may still fail, and nothing need be
 * there. Something else may stand there a moment later: open them through no link
 * (sys/open_plain.h). */
struct write_notice {
    enum write_kind kind;
    const char *path;
    const char *to; /* NULL where it has no meaning, and of a file that has had no name yet */
};

struct write_observer {
    /* The command waits until this returns. From any thread but one at a time, as long as the
     * launcher has a reference: that is until launcher_ended() of the command has returned. */
    void (*about_to)(struct write_observer *o, const struct write_notice *notice);
    /* Not every change is reported, or no longer: why, for a person. From any thread, while the
     * command starts or runs; at most once a command. */
    void (*missed)(struct write_observer *o, const char *why);
    void (*free)(struct write_observer *o);
    _Atomic(unsigned) n_refs; /* 1 at first */
    /* Set by the launcher that reports, when the command has started: one that was refused has
     * changed nothing. */
    _Atomic(bool) has_begun;
};
struct write_observer *write_observer_ref(struct write_observer *o) MUST_USE; /* NULL is NULL */
void write_observer_unref(struct write_observer *o);
DEFINE_AUTO_PTR(write_observer, write_observer_unref)

#endif
