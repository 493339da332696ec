/* write_observer.h - learns what a command is about to change in the file system.
 *
 * A launcher that supports it holds each system call of the command that changes names, contents or
 * attributes of files, reports it, and lets it continue when the observer has returned. A malicious
 * command can still change something other than it announced: the reports serve to save what was
 * there, but do not confine. */
#ifndef KEEL_SYS_WRITE_OBSERVER_H
#define KEEL_SYS_WRITE_OBSERVER_H

#include "base/mem.h"

enum write_kind {
    WRITE_CONTENT,    /* opened for writing or truncated; may be created by it */
    WRITE_ATTRIBUTES, /* mode, owner, extended attributes */
    WRITE_REMOVAL,    /* of a file, a link or an empty directory */
    WRITE_RENAME,     /* of anything, to `to`, which it replaces */
    WRITE_EXCHANGE,   /* of the two names */
    WRITE_NEW_NAME,   /* a directory, a link, a hard link to `to`, a pipe, a socket, a device */
};

/* Paths are absolute, in keel's own name space, without links, except perhaps the last name where
 * the call would not follow it. At least one of the two is in a directory whose changes count: the
 * workspace, or an added one. The call may still fail, and the file need not exist. Something else
 * may be there a moment later: open it through no link (sys/open_plain.h). */
struct write_notice {
    enum write_kind kind;
    const char *path;
    const char *to; /* NULL if it has no meaning, and for a file that had no name yet */
};

struct write_observer {
    /* The command waits until this returns. Called from any thread, one at a time, while the
     * launcher has a reference: until launcher_ended() of the command has returned. */
    void (*about_to)(struct write_observer *o, const struct write_notice *notice);
    /* Changes are missed from here on: why, for a person. From any thread, while the command starts
     * or runs; at most once per command. */
    void (*missed)(struct write_observer *o, const char *why);
    void (*free)(struct write_observer *o);
    _Atomic(unsigned) n_refs; /* 1 at first */
    /* Set by the launcher when the command has started: a refused one has changed nothing. */
    _Atomic(bool) has_begun;
};
struct write_observer *write_observer_ref(struct write_observer *o) MUST_USE; /* NULL is NULL */
void write_observer_unref(struct write_observer *o);
DEFINE_AUTO_PTR(write_observer, write_observer_unref)

#endif
