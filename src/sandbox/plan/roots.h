/* roots.h - the writable directories of a sandbox, held open for as long as it lives, and what
 * lies in them.
 *
 * Commands that run in the background can exchange whatever is in a writable directory, so keel
 * looks at it through these descriptors and through no link, and remembers device and inode of
 * what it saw: keel-exec compares them before it builds anything on them (exec/policy.h). All of
 * it blocks a little. */
#ifndef KEEL_SANDBOX_PLAN_ROOTS_H
#define KEEL_SANDBOX_PLAN_ROOTS_H

#include "exec/policy.h"
#include "sandbox/sandbox.h"
#include "sys/dir_names.h"

#include <sys/types.h>

/* What was seen at a path. */
struct sighting {
    enum policy_expect expect;
    dev_t device;
    ino_t inode;
};

struct held_root {
    char *path; /* absolute and canonical */
    int fd;
    struct sighting self;
    struct dir_names names; /* in it; until held_roots_forget() */
    bool has_names;
};

struct held_roots {
    int top_fd; /* "/" */
    struct held_root *all;
    size_t n;
    /* The directory that was looked into last: most paths share it with the one before. */
    char *last_dir;
    int last_fd;
    struct arena arena; /* of names */
};

struct held_roots *held_roots_new(void) MUST_USE;
void held_roots_free(struct held_roots *h);

/* Opens those of the policy that lie in no other and are not held yet, or that a person has made
 * anew. Those of an earlier policy stay: its commands may still run. */
MUST_USE struct err *held_roots_update(struct held_roots *h, const struct sandbox_policy *policy);

/* POLICY_ANY where no command can write, and for what this user cannot look at. */
struct sighting held_roots_look(struct held_roots *h, const char *path);
/* To be called after looking. */
void held_roots_forget(struct held_roots *h);

#endif
