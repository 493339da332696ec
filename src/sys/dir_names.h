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

struct dir_names {
    struct str *slots; /* in small letters; NULL: nothing is certain */
    size_t n_slots;    /* a power of two */
};
/* `dir` may be O_PATH. In `a`. Blocks. */
void dir_names_read(struct dir_names *n, struct arena *a, int dir);
bool dir_names_lack(const struct dir_names *n, struct str name);

/* Directories by their paths, each read when something in it is asked for. */
enum { KNOWN_DIRS_MAX = 8 };
struct known_dirs {
    struct arena *arena;
    struct known_dir {
        const char *path; /* borrowed */
        struct dir_names names;
        bool is_read, is_missing;
    } dirs[KNOWN_DIRS_MAX];
    size_t n;
};
/* Absolute; not more than KNOWN_DIRS_MAX. One that lies in another comes after it. */
void known_dirs_add(struct known_dirs *k, const char *path);
/* Those that many secret places would lie in (base/secret_places.h). `home` may be NULL. */
void known_dirs_add_usual(struct known_dirs *k, const char *home);
/* Is it certain that nothing is at this absolute path? Blocks. */
bool known_dirs_lack(struct known_dirs *k, const char *path);

#endif
