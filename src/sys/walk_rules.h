/* walk_rules.h - the rule files that count in one directory of a walk. Private to walk.
 *
 * A chain with one link per directory that has rules of its own; each link holds the one above.
 * Immutable once made, so all threads may ask. NULL is a chain without rules. Paths count from the
 * top: the repository that the root is in, or the root itself. */
#ifndef KEEL_SYS_WALK_RULES_H
#define KEEL_SYS_WALK_RULES_H

#include "base/ignore.h"
#include "base/strbuf.h"

struct walk_rules;

struct walk_rules *walk_rules_ref(struct walk_rules *r) MUST_USE;
void walk_rules_unref(struct walk_rules *r);

/* The rules above `root`. Appends the path from the top to it: "" or "a/b/". A canonical root is
 * not resolved again, and no link on the way to it is followed. */
struct walk_rules *walk_rules_above(const char *root, bool is_canonical,
                                    struct strbuf *ret_prefix) MUST_USE;

/* The rules in the directory `dir_fd`, whose path from the top is `base`: its own rules, then those
 * of `above`. */
struct walk_rules *walk_rules_enter(struct walk_rules *above, int dir_fd, struct str base) MUST_USE;

/* Checks only this path: the walk has checked its parents. */
enum ignore_verdict walk_rules_check(const struct walk_rules *r, struct str path, bool is_dir);

#endif
