/* parts.h - what plan.c and landlock_rules.c share. Only they include this. */
#ifndef KEEL_SANDBOX_PLAN_PARTS_H
#define KEEL_SANDBOX_PLAN_PARTS_H

#include "sandbox/plan/plan.h"
#include "sandbox/plan/roots.h"

/* Of two for the same path the greater one counts. */
enum plan_role {
    ROLE_ANCHOR,
    ROLE_OPEN,   /* in a sealed one */
    ROLE_SEALED, /* read-only, but for what is open in it */
    ROLE_READ_ONLY,
    ROLE_VISIBLE,
    ROLE_HIDDEN,
    ROLE_SHOWN, /* visible, though the same place is hidden */
    ROLE_WRITABLE,
};

struct entry {
    const char *path;
    enum plan_role role;
    bool is_dropped;
    bool is_holder;      /* hidden, with something in it that is not */
    struct entry *above; /* the nearest one that it lies in and that is not dropped */
};

struct plan {
    struct arena arena;
    struct held_roots *roots; /* NULL: nothing is looked at, as in a test */
    struct entry *entries;
    size_t n, room;
    const char **aliases; /* of hidden places */
    size_t n_aliases, alias_room;
    const struct entry *item_roots[POLICY_MAX_ROOTS]; /* those that are items already */
    unsigned n_roots;
    struct strbuf *out;
};

/* Gives each directory from below `from` down to above `path`: start with *at = 0. */
bool next_directory(struct str path, struct str from, size_t *at, struct str *ret_directory);

/* What is at the path now. */
struct sighting plan_look(struct plan *p, const char *path);
/* Appends an item that begins at the nearest root above it. */
void plan_put(struct plan *p, enum policy_kind kind, const char *path, struct sighting seen);
/* Appends the item of an entry; those that follow may begin there. */
void plan_put_entry(struct plan *p, enum policy_kind kind, const struct entry *e);
/* The name of an entry that the split before it leaves out. */
void plan_put_name(struct plan *p, struct str name);

/* Could what is missing in the directory come to be there, and not by a command? */
bool plan_can_lack(const struct plan *p, const char *directory);

/* Without namespaces: Landlock rules. The entries are settled. */
void plan_put_rules(struct plan *p, const struct secret_dirs *dirs);

#endif
