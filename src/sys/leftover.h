/* leftover.h - names of temporary files, so that a killed process leaves none behind for ever.
 *
 * A file that replaces another has a name of its own for a moment. Before it gets that name, the
 * path goes to a list of this process, in a directory of keel's home. The list is locked while the
 * process lives. A later keel removes the files of unlocked lists: only names that were made here
 * for that very list, and nothing through a link. If no list can be written, the name is used
 * nevertheless.
 *
 * Any thread may call these. They block. */
#ifndef KEEL_SYS_LEFTOVER_H
#define KEEL_SYS_LEFTOVER_H

#include "base/str.h"

#include <limits.h>

#define LEFTOVER_DIR "unfinished" /* in keel's home */

/* Where lists are kept; created with the first list. Until this call nothing is listed. */
void leftover_keep_in(const char *dir);
/* Forgets the place, and removes the list if it is empty. */
void leftover_end(void);
/* Removes what killed processes left. Cheap if there is nothing. */
void leftover_sweep(const char *dir);

/* Is it a path of a temporary file, of any process? */
bool leftover_has_name(struct str path);

struct leftover {
    char name[NAME_MAX + 1];
    bool is_listed;
};

/* Makes a new name in the directory, ".NAME.keel-...", and lists it. */
void leftover_begin(struct leftover *l, int dir_fd, const char *name);
/* No file has the name any more. */
void leftover_done(struct leftover *l);

#endif
