/* path.h - patterns over paths, made absolute. */
#ifndef KEEL_GATE_PATH_H
#define KEEL_GATE_PATH_H

#include "base/glob.h"
#include "gate/pattern.h"
#include "gate/place.h"

#define PATH_RULE_MAX_READINGS 2

/* A pattern as absolute globs, one for each way to read it. Immutable: threads may share it. */
struct path_rule {
    struct glob *globs[PATH_RULE_MAX_READINGS];
    char *texts[PATH_RULE_MAX_READINGS]; /* what they were made of */
    size_t n;
    enum reading reading;
};
/* False: it cannot be read as a pattern of paths. */
bool path_rule_init(struct path_rule *r, struct str pattern, const struct subject *s,
                    enum reading reading);
void path_rule_done(struct path_rule *r);
DEFINE_AUTO_VAL(path_rule, path_rule_done)

/* Widely, a directory that matches has all below it match. */
bool path_rule_matches(const struct path_rule *r, struct str absolute_path);

/* The path that the call is about, made absolute; the current directory where a tool that works on
 * paths got none. NULL: the call is not about a path. */
const char *subject_path(const struct subject *s, struct arena *a);
/* What the plain part of its pattern of paths names, if it has one; else NULL. `only_dirs`: without
 * the last name, if that is plain too: the directory in which the search begins. */
const char *subject_searched(const struct subject *s, struct arena *a, bool only_dirs);
bool subject_takes_path(const struct subject *s); /* its permission argument is one */

/* The path before the first wildcard of a pattern, read from the root; NULL: there is none. */
const char *path_pattern_head(struct str pattern, const struct subject *s, struct arena *a);

/* False: the pattern does not match the path. Quick, and done before path_rule_init() where there
 * are many patterns. */
bool path_may_match(struct str pattern, const struct subject *s, enum reading reading,
                    const char *path);

/* What follows the slashes or the tilde that a pattern begins with. */
struct str path_pattern_text(struct str pattern);
/* Names with one slash between them, and no "." or ".." among them. */
bool path_is_simple(struct str path);

/* Where path rules of this call count from, once for all of them. */
struct path_bases path_bases_of(const struct subject *s);

/* Against any of the subject's names. */
enum match path_match(struct str pattern, const struct subject *s, enum reading reading);
/* Narrowly, and a pattern of all that is in a directory ("//srv/x and two stars") means the
 * directory too. */
enum match path_match_dir(struct str pattern, const struct subject *s);
/* The pattern of this path alone: "//tmp/a\*b". */
void path_add_exact(struct strbuf *out, struct str absolute_path);

#endif
