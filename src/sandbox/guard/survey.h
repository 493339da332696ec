/* survey.h - which directories of a writable place git takes for repositories, or might.
 *
 * git looks for a repository in every directory from where it is called upwards: a ".git" in it, or
 * a HEAD with what belongs to it (a bare repository). A command can make either anywhere, with a
 * configuration that runs programs. So all directories are known (sys/dir_watch.h), and those with
 * such names in them are listed here: as they are now, and as they were when no command ran.
 *
 * All of it blocks. */
#ifndef KEEL_SANDBOX_GUARD_SURVEY_H
#define KEEL_SANDBOX_GUARD_SURVEY_H

#include "sys/dir_watch.h"

#include <sys/stat.h>

/* Names in a directory that matter to git. */
enum git_name {
    GIT_NAME_DOT_GIT = 1 << 0,
    GIT_NAME_HEAD = 1 << 1,
    GIT_NAME_OBJECTS = 1 << 2,
    GIT_NAME_REFS = 1 << 3,
    GIT_NAME_COMMONDIR = 1 << 4, /* says where objects and refs are */
    GIT_NAME_TODO = 1 << 5,      /* what is left of a rebase: see git_todo.h */
    GIT_NAME_OTHER = 1 << 6,     /* a repository of another kind: see other_repositories.h */
};
#define N_GIT_NAMES 5                            /* that make a repository */
extern const char *const git_names[N_GIT_NAMES]; /* in the order of the bits */
#define ALL_GIT_NAMES (GIT_NAME_OTHER * 2)

/* One with such names in it. */
struct directory {
    char *path; /* relative to the root, which is "" */
    dev_t device;
    ino_t inode;
    uint64_t since; /* the version of the watch that it came in */
    unsigned names; /* enum git_name */
};

/* Sorted by path. */
struct directory_list {
    struct directory *items;
    size_t n, room;
};
void directory_list_done(struct directory_list *l);
const struct directory *directory_list_find(const struct directory_list *l, const char *path);

struct survey {
    const char *root; /* the watch's */
    const char *home; /* the person's, borrowed; may be NULL */
    int fd;           /* O_PATH; the watch's */
    struct dir_watch *watch;
    int reader;
    struct directory_list now;
    struct directory_list before; /* while no command ran */
    uint64_t version;             /* of the watch, that `now` is made of */
    uint64_t before_version;
    int64_t before_ns;       /* when `before` was another keel's; else 0 */
    int64_t time_ns;         /* when the last look began */
    bool has_changed;        /* anything, by the last look */
    struct unlocks *unlocks; /* while a command is looked after; else NULL */
};
/* The reader that finds such names, for the first that looks at the directories: what it finds are
 * bits of enum git_name. -1: there are too many. */
int survey_add_reader(struct dir_watch *watch) MUST_USE;

/* Takes a reference. */
MUST_USE struct err *survey_init(struct survey *s, struct dir_watch *watch);
void survey_done(struct survey *s);

MUST_USE struct err *survey_look(struct survey *s, const struct dir_unlocker *unlocker);
/* The same by what the watch knows: somebody has just updated it. */
MUST_USE struct err *survey_read(struct survey *s);
/* What is there now was not made by a command that runs. */
void survey_accept(struct survey *s);
/* What was there at that time, as another keel has seen it, or this one before a crash. */
void survey_recall(struct survey *s, const struct directory *items, size_t n, int64_t time_ns);

const struct directory *survey_find(const struct survey *s, const char *path);
/* What was in it while no command ran. */
unsigned survey_names_before(const struct survey *s, const struct directory *d);
/* Has the directory itself come since then? */
bool survey_is_new(const struct survey *s, const struct directory *d);

/* Is a directory with these names a git directory by itself? */
bool names_are_git_dir(unsigned names);

#endif
