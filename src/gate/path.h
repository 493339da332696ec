/* path.h - patterns over absolute paths. */
#ifndef KEEL_GATE_PATH_H
#define KEEL_GATE_PATH_H

#include "base/glob.h"
#include "gate/pattern.h"
#include "gate/place.h"

#define PATH_RULE_MAX_READINGS 2

/* A pattern as absolute globs, one for each reading. Immutable: threads may share it. */
struct path_rule {
    struct glob *globs[PATH_RULE_MAX_READINGS];
    char *texts[PATH_RULE_MAX_READINGS]; /* the texts of the globs */
    size_t n;
    enum reading reading;
};
/* False: it cannot be read as a path pattern. */
bool path_rule_init(struct path_rule *r, struct str pattern, const struct subject *s,
                    enum reading reading);
void path_rule_done(struct path_rule *r);
DEFINE_AUTO_VAL(path_rule, path_rule_done)

/* Widely, a matching directory includes everything below it. */
bool path_rule_matches(const struct path_rule *r, struct str absolute_path);

/* The absolute path that the call is about, or the current directory if a tool that works on paths
 * got none. NULL: the call is not about a path. */
const char *subject_path(const struct subject *s, struct arena *a);
/* The path that the plain part of its path pattern names, or NULL. `only_dirs`: without a plain
 * last name, the directory where the search begins. */
const char *subject_searched(const struct subject *s, struct arena *a, bool only_dirs);
bool subject_takes_path(const struct subject *s); /* its permission argument is a path */

/* The path before the first wildcard of a pattern, relative to the root; NULL: there is none. */
const char *path_pattern_head(struct str pattern, const struct subject *s, struct arena *a);

/* False: the pattern does not match the path. Quick, for use before path_rule_init() with many
 * patterns. */
bool path_may_match(struct str pattern, const struct subject *s, enum reading reading,
                    const char *path);

/* The directories that path rules of this call start from, for all rules. */
struct path_bases path_bases_of(const struct subject *s);

/* Matches any of the subject's names. */
enum match path_match(struct str pattern, const struct subject *s, enum reading reading);
/* Narrowly. A pattern for everything in a directory ("//srv/x and two stars") also means the
 * directory. */
enum match path_match_dir(struct str pattern, const struct subject *s);
/* The pattern that matches only this path: "//tmp/a\*b". */
void path_add_exact(struct strbuf *out, struct str absolute_path);

#endif
