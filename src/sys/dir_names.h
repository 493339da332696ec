/* dir_names.h - which names a directory has, by one look instead of one a name.
 *
 * Most of the hundreds of places that the gate and the sandbox must know of are not there. To ask
 * the kernel for each takes a microsecond or two, and that before every command; to read the
 * directory that they would lie in takes ten.
 *
 * It says only what is certain: that a name is not there. That needs a directory that the kernel
 * gave out by one call, during which nobody can change it, of a file system that shows all that it
 * finds by name; and no name in it that the file system might take for the one that is asked for,
 * as those do that ignore case. Otherwise, and of names that are there, the caller has to look. */
#ifndef KEEL_SYS_DIR_NAMES_H
#define KEEL_SYS_DIR_NAMES_H

#include "base/arena.h"

/* Is its file system one of this machine's kernel, which lists what it finds by name, now and not
 * as a server said some seconds ago? `fd` may be O_PATH. */
bool dir_lists_all(int fd);

struct dir_names {
    struct str *slots; /* in small letters; NULL: nothing is certain */
    size_t n_slots;    /* a power of two */
};
/* `dir` may be O_PATH. In `a`. Blocks. */
void dir_names_read(struct dir_names *n, struct arena *a, int dir);
bool dir_names_lack(const struct dir_names *n, struct str name);
/* The same for the first name of a relative path: without it there is nothing below. */
bool dir_names_lack_first(const struct dir_names *n, const char *path);

/* The same for paths below a directory: of those in it that are listed here, and that hold many of
 * the places that are asked for, the names are known too. Each is read when it is needed. */
enum { NAMES_BELOW_MAX = 2 };
struct names_below {
    struct arena *arena;
    const char *top; /* absolute; borrowed; NULL: nothing is certain */
    size_t n_top_bytes;
    const char *inner[NAMES_BELOW_MAX]; /* relative, as ".config"; NULL: no more */
    struct dir_names names[NAMES_BELOW_MAX + 1];
    bool is_read[NAMES_BELOW_MAX + 1];
};
void names_below_init(struct names_below *n, struct arena *a, const char *top);
/* With those that programs keep their settings in; for the home. */
void names_below_init_home(struct names_below *n, struct arena *a, const char *home);
/* Is it certain that nothing is at this path, relative to the directory? Blocks. */
bool names_below_lack(struct names_below *n, const char *path);
/* The same for an absolute path, which need not lie there. */
bool names_below_lack_at(struct names_below *n, const char *path);

#endif
