/* baseline.h - a writable directory as it was while no command ran: protected places and
 * repositories.
 *
 * With namespaces most places are mounted read-only, and only what mounts cannot protect has to be
 * looked after: places that do not exist yet, links, files with a second name. Without, all of them
 * are remembered with what they hold. After a command the directory is compared with its baseline
 * (baseline_check): what was changed is put back as it was, what was put there is moved aside
 * (quarantine.h). A baseline can be written to a file, for other keels and for the time after a
 * crash.
 *
 * Paths are relative to the directory. All of it blocks but what says that it is pure. */
#ifndef KEEL_SANDBOX_GUARD_BASELINE_H
#define KEEL_SANDBOX_GUARD_BASELINE_H

#include "sandbox/guard/identity.h"
#include "sandbox/guard/survey.h"
#include "sandbox/sandbox.h"

enum guarded_kind {
    GUARDED_ABSENT,
    GUARDED_LINK,
    GUARDED_FILE,
    GUARDED_DIRECTORY, /* with all that is in it, as items of their own */
    GUARDED_ANCESTOR,  /* a directory above another item: must stay the one that it is */
    GUARDED_SPECIAL,   /* a pipe, a socket: must stay the one that it is */
    /* A file or directory that is mounted read-only in every sandbox. It stays so as long as it is
     * the same: the kernel takes a mount away when somebody outside puts another in its place. */
    GUARDED_MOUNTED,
    GUARDED_TODO,     /* its content: the lines that git would run (git_todo.h) */
    GUARDED_REPORTED, /* a file that commands may change; without content: there was none */
    GUARDED_OWN,      /* keel's own directory: must stay the one that it is, whatever is in it */
    N_GUARDED_KINDS,
};

struct guarded {
    const char *path;
    enum guarded_kind kind;
    mode_t mode;
    struct identity identity;
    bool has_content;  /* it may be put back */
    bool was_reported; /* GUARDED_REPORTED: once is enough */
    /* A mount point that keel has made: another one each time, so a file does not have its
     * identity, which is zero when it was read from one. */
    bool is_made;
    struct str content; /* of a file; where a link leads */
    /* When the content was read, in this process; a file that still has this time has not changed.
     * Zero: that is not known. */
    struct timespec changed;
};

struct baseline {
    struct arena arena;
    const char *root;      /* absolute */
    bool has_namespaces;   /* commands that need no more than that */
    int64_t time_ns;       /* when it was taken */
    const char *covers;    /* the directory that it tells of; "": all of the root */
    struct guarded *items; /* sorted: a directory before what is in it */
    size_t n, room;
    struct directory *directories; /* that git takes for repositories, sorted */
    size_t n_directories;
    const char **mount_points; /* that keels have made there: mount_points.h */
    size_t n_mount_points, mount_point_room;
    size_t n_bytes; /* of contents */
};
void baseline_free(struct baseline *b);
DEFINE_AUTO_PTR(baseline, baseline_free)

/* Of the root of a survey, as it looked last; `policy` names what is protected. Of `previous`,
 * which may be NULL, contents are taken that have not changed. ERR_SANDBOX when there is more than
 * can be remembered. */
MUST_USE struct err *baseline_take(const struct survey *s, const struct sandbox_policy *policy,
                                   bool has_namespaces, const struct baseline *previous,
                                   struct baseline **ret_baseline);
/* Commands ran when `fresh` was taken, and `old` was taken before: `old` counts, and of `fresh`
 * what `old` says nothing about, but for repositories that came meanwhile. Takes both. */
struct baseline *baseline_merge(struct baseline *take_old, struct baseline *take_fresh) MUST_USE;
/* The part of `whole` that lies in `root`, or all of it as seen from there; NULL: they have nothing
 * in common. */
struct baseline *baseline_part(const struct baseline *whole, const char *root) MUST_USE;

/* Pure. */
/* One that is to be removed; copied. */
void baseline_add_mount_point(struct baseline *b, const char *path);
const struct guarded *baseline_find(const struct baseline *b, const char *path);
bool baseline_eq(const struct baseline *a, const struct baseline *b); /* the time apart */
void baseline_write(const struct baseline *b, struct strbuf *bytes);
/* ERR_STORAGE when the bytes are none. */
MUST_USE struct err *baseline_parse(struct str bytes, struct baseline **ret_baseline);

/* Puts protected places right, and appends a line for a person about each. The survey is of the
 * same root and has looked after the command; its unlocks are set. */
void baseline_check(struct baseline *b, struct survey *s, struct strbuf *notes);
/* The same for what was there before and others could have replaced: the survey need not have
 * looked. */
void baseline_check_replaced(struct baseline *b, struct survey *s, struct strbuf *notes);

#endif
