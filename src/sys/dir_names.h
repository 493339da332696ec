/* dir_names.h - which names a directory has, with one look instead of one per name.
 *
 * The gate and the sandbox must know hundreds of places, and most of them do not exist. Asking the
 * kernel for each takes a microsecond or two, before every command. Reading the directory that
 * would hold them takes ten.
 *
 * It only says for certain that a name does not exist. That requires a directory that the kernel
 * returned in one call, during which nothing can change it; a file system that lists everything
 * that it finds by name; and no name that the file system could take for the wanted one, as those
 * that ignore case do. In all other cases the caller has to look. */
#ifndef KEEL_SYS_DIR_NAMES_H
#define KEEL_SYS_DIR_NAMES_H

#include "base/arena.h"

/* Does its file system belong to this machine's kernel, which lists everything that it finds by
 * name, now and not as a server said some seconds ago? `fd` may be O_PATH. */
bool dir_lists_all(int fd);

struct dir_names {
    struct str *slots; /* in lower case; NULL: nothing is certain */
    size_t n_slots;    /* a power of two */
};
/* Reads `dir`, which may be O_PATH, into `a`. Blocks. */
void dir_names_read(struct dir_names *n, struct arena *a, int dir);
bool dir_names_lack(const struct dir_names *n, struct str name);
/* The same for the first name of a relative path: if it is missing, nothing is below it. */
bool dir_names_lack_first(const struct dir_names *n, const char *path);

/* The same for paths below a directory. The directories in it that are listed here hold many of the
 * wanted places, so their names are read too, when they are needed. */
enum { NAMES_BELOW_MAX = 2 };
struct names_below {
    struct arena *arena;
    const char *top; /* absolute; borrowed; NULL: nothing is certain */
    size_t n_top_bytes;
    const char *inner[NAMES_BELOW_MAX]; /* relative, such as ".config"; NULL: no more */
    struct dir_names names[NAMES_BELOW_MAX + 1];
    bool is_read[NAMES_BELOW_MAX + 1];
};
void names_below_init(struct names_below *n, struct arena *a, const char *top);
/* For the home, with the directories where programs keep their settings. */
void names_below_init_home(struct names_below *n, struct arena *a, const char *home);
/* Is it certain that this path, relative to the directory, does not exist? Blocks. */
bool names_below_lack(struct names_below *n, const char *path);
/* The same for an absolute path, which need not be in the directory. */
bool names_below_lack_at(struct names_below *n, const char *path);

#endif
