/* linked.h - files with a second name that a command has changed.
 *
 * A hard link makes a file of the workspace a file of another place, too: package managers link
 * files of one store into many projects. No mount and no rule can tell the names apart, so a
 * command that writes such a file changes it there as well, and keel reports it. In a small tree
 * these files are known; in a large one the kernel reports which files change. Where it does not
 * yet, or cannot, keel reports nothing. All of it blocks. */
#ifndef KEEL_SANDBOX_GUARD_LINKED_H
#define KEEL_SANDBOX_GUARD_LINKED_H

#include "sandbox/guard/survey.h"

struct linked_file;

/* Of one writable directory. Zeroed is empty. */
struct linked_files {
    struct linked_file *items;
    size_t n, room;
    size_t n_entries; /* that the last look has read */
    uint64_t version; /* of the watch, that they are known as of */
    uint64_t mark;    /* the same for its log */
};
void linked_files_done(struct linked_files *l);

/* Before a command, after a look of the survey: learns which there are. */
void linked_files_look(struct linked_files *l, const struct survey *s);
/* After one: tells which have changed since. */
void linked_files_check(struct linked_files *l, const struct survey *s, struct strbuf *notes);

#endif
