/* leftover.h - names of temporary files, so that a killed process leaves none behind for ever.
 *
 * A file that replaces another has a name of its own for a moment. Before it gets that name, the
 * path goes to a list of this process, in a directory of keel's home. The list is locked as long as
 * the process lives. A later keel removes what is in unlocked lists: only names that were
 * made here for that very list, and nothing through a link. Where no list can be written, the name
 * is used all the same.
 *
 * Any thread may call these. They block. */
#ifndef KEEL_SYS_LEFTOVER_H
#define KEEL_SYS_LEFTOVER_H

#include "base/str.h"

#include <limits.h>

#define LEFTOVER_DIR "unfinished" /* in keel's home */

/* Where lists are kept; made when there is one. Until it is called nothing is listed. */
void leftover_keep_in(const char *dir);
/* Forgets the place; the list goes, if it is empty. */
void leftover_end(void);
/* Removes what killed processes left. Cheap where there is nothing. */
void leftover_sweep(const char *dir);

/* Is it a path of a temporary file, of any process? */
bool leftover_has_name(struct str path);

struct leftover {
    char name[NAME_MAX + 1];
    bool is_listed;
};

/* A new name in the directory, ".NAME.keel-...", listed. */
void leftover_begin(struct leftover *l, int dir_fd, const char *name);
/* No file has it any more. */
void leftover_done(struct leftover *l);

#endif
