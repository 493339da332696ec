/* survey.h - the directories of a writable place, and which of them git takes for repositories.
 *
 * git looks for a repository in every directory from where it is called upwards: a ".git" in it, or
 * a HEAD with what belongs to it (a bare repository). A command can make either anywhere, with a
 * configuration that runs programs. The first look reads all directories; later ones only ask each
 * for the time of its last change, which nobody can set, and read those that have changed.
 *
 * All of it blocks. */
#ifndef KEEL_SANDBOX_SURVEY_H
#define KEEL_SANDBOX_SURVEY_H

#include "base/err.h"

#include <sys/stat.h>

/* Names in a directory that matter to git. */
enum git_name {
    GIT_NAME_DOT_GIT = 1 << 0,
    GIT_NAME_HEAD = 1 << 1,
    GIT_NAME_OBJECTS = 1 << 2,
    GIT_NAME_REFS = 1 << 3,
    GIT_NAME_COMMONDIR = 1 << 4, /* says where objects and refs are */
};
#define N_GIT_NAMES 5
extern const char *const git_names[N_GIT_NAMES]; /* in the order of the bits */

struct directory {
    struct directory *above; /* NULL: this is the root of the survey */
    dev_t device;
    ino_t inode;
    struct timespec changed;
    unsigned char names;  /* enum git_name: what is in it */
    unsigned char before; /* what was in it before the last look */
    bool is_new;          /* since the last look */
    bool is_gone;
    bool must_be_read; /* the time of its last change is too young to tell of another */
    char path[];       /* relative to the root, which is "" */
};

struct survey {
    char *root;
    int fd;
    struct directory **all; /* one stands behind the one that it is in */
    size_t n, room;
    struct directory **slots; /* by path */
    size_t n_slots;
    bool has_changed; /* anything, before the last look */
};
MUST_USE struct err *survey_init(struct survey *s, const char *root);
void survey_done(struct survey *s);

MUST_USE struct err *survey_look(struct survey *s);
const struct directory *survey_find(const struct survey *s, const char *path);

/* Is a directory with these names a git directory by itself? */
bool names_are_git_dir(unsigned names);
/* Is there a repository in it that was not there before the last look? */
bool directory_has_new_repository(const struct directory *d);

#endif
