/* ignore.h - gitignore rules: what git ignores.
 *
 * A list holds the rules of one .gitignore file and knows the directory that they count from. Pure:
 * the walker reads the files. Later rules win, `!` cancels, a trailing slash means directories
 * only, a slash elsewhere anchors. A file inside an ignored directory stays ignored, whatever later
 * rules say. Invalid patterns are skipped, as git does. */
#ifndef KEEL_BASE_IGNORE_H
#define KEEL_BASE_IGNORE_H

#include "base/err.h"

struct ignore;

enum ignore_verdict { IGNORE_NO_RULE, IGNORE_YES, IGNORE_TAKEN_BACK };

#define IGNORE_MAX_RULES 65536

/* `base` is the file's directory relative to the walk's root: "" or "a/b". */
struct ignore *ignore_new(struct str base, struct str file_text, bool nocase) MUST_USE;
void ignore_free(struct ignore *i);
DEFINE_AUTO_PTR(ignore, ignore_free)

/* What this file's rules say about exactly this path (relative to the walk's root, no leading
 * "./"), without its parents. IGNORE_NO_RULE outside of `base`. */
enum ignore_verdict ignore_check(const struct ignore *i, struct str path, bool is_dir);

/* The answer for a path with all its parents, over files from the root inwards. */
bool ignore_is_ignored(const struct ignore *const *files, size_t n_files, struct str path,
                       bool is_dir);

#endif
