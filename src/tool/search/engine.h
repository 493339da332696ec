/* engine.h - searching files for a regular expression, as ripgrep would.
 *
 * PCRE2 with JIT and match limits: a pattern that runs away ends with an error, not with the
 * machine. Files are searched while the walk goes on, in its threads, as text in the encoding that
 * Read sees in them. Files with a NUL byte in their first 8 KB are skipped as binary, unless they
 * are UTF-16 by their mark. Blocks: tasks call it through work_run(). When those are
 * cancelled it ends early, says so in its report and prints what it has. */
#ifndef KEEL_TOOL_GREP_ENGINE_H
#define KEEL_TOOL_GREP_ENGINE_H

#include "base/glob.h"
#include "base/strbuf.h"
#include "sys/walk.h"

enum grep_mode { GREP_FILES, GREP_CONTENT, GREP_COUNT };

/* How paths are printed, as one line each (base/quoted.h). */
struct grep_names {
    struct str prefix;    /* before each path, which counts from the root */
    struct str root_file; /* a root that is a file; empty: as it was given */
};

struct grep_query {
    struct str pattern;
    bool ignore_case, multiline; /* multiline: . matches newlines, a match may span lines */
    bool fixed_string;
    enum grep_mode mode;
    unsigned n_before, n_after; /* context lines, GREP_CONTENT */
    bool only_matching;         /* what matched instead of its lines, without context */
    bool line_numbers;
    size_t head_limit;       /* lines of output, of any kind; 0: all */
    size_t offset;           /* lines of output to skip first */
    size_t max_line_bytes;   /* longer lines are cut around the match; 0: 2000 */
    size_t max_output_bytes; /* 0: 1 MiB */
    /* Larger files are skipped and counted; 0: 1 GiB. 64 MiB at most for a multiline search, and
     * for one line in any. */
    uint64_t max_file_bytes;
    /* A file must match one of them, if there are any, with its path or with its name alone. */
    const struct glob *const *globs;
    size_t n_globs;
    struct grep_names names;
    struct str type; /* "c", "py", "rust", ...: file types as ripgrep names them; empty: all */
};

struct grep_report {
    size_t n_matches; /* lines; matches in a multiline search; files in GREP_FILES */
    size_t n_files_matched, n_files_searched, n_files_skipped;
    bool was_cut; /* head_limit or max_output_bytes */
    struct walk_report walk;
    /* Files that matches were not looked for to the end, because that takes too many steps, and why
     * the first one was given up. After GREP_MAX_FAILED of them the search ends. */
    size_t n_files_failed;
    struct err *failure;
};
#define GREP_MAX_FAILED 8

void grep_report_done(struct grep_report *r);

/* Searches a directory, or one file when `options->root` is one. Output is sorted: files mode by
 * modification time, newest first; content and count by path. "path:12:text" for matches and
 * "path-11-text" for context, "--" between groups, as ripgrep prints. No filter applies to a file
 * that is the root: whether it may be read is the caller's to decide. A line ends before "\r\n" for
 * a pattern with `$`. Text that is not UTF-8 is repaired. ERR_VALIDATION: the pattern is wrong, or
 * takes too many steps and nothing was found elsewhere, the type is not known, the root cannot be
 * read. */
MUST_USE struct err *grep_run(const struct grep_query *query, const struct walk_options *options,
                              struct strbuf *out, struct grep_report *ret_report);

/* Glob: paths of files and links that match one of the patterns, newest first; `max_results` at the
 * most (0: all). Directories, with a "/" at their end, too if with_dirs says so, or if no file
 * matches. */
struct glob_query {
    const struct glob *const *patterns;
    size_t n_patterns;
    bool with_dirs;
    size_t max_results;
    struct grep_names names;
};
MUST_USE struct err *glob_run(const struct glob_query *query, const struct walk_options *options,
                              struct strbuf *out, struct grep_report *ret_report);

/* "c, cpp, go, ...": for error texts. */
void grep_type_names(struct strbuf *out);

#endif
