/* engine.h - searches files for a regular expression, as ripgrep does.
 *
 * PCRE2 with JIT and match limits: a pattern that takes too long ends with an error. Files are
 * searched during the walk, in its threads, as text in the encoding that Read uses. Files with a
 * NUL byte in their first 8 KB are skipped as binary, unless a mark says that they are UTF-16.
 * Blocks: call it through work_run(). If that is cancelled, the search ends early, reports so and
 * prints what it has. */
#ifndef KEEL_TOOL_GREP_ENGINE_H
#define KEEL_TOOL_GREP_ENGINE_H

#include "base/glob.h"
#include "base/strbuf.h"
#include "sys/walk.h"

enum grep_mode { GREP_FILES, GREP_CONTENT, GREP_COUNT };

/* How to print paths, one line each (base/quoted.h). */
struct grep_names {
    struct str prefix;    /* before each path, which is relative to the root */
    struct str root_file; /* the name of a root that is a file; empty: as it was given */
};

struct grep_query {
    struct str pattern;
    bool ignore_case, multiline; /* multiline: . matches newlines, a match may span lines */
    bool fixed_string;
    enum grep_mode mode;
    unsigned n_before, n_after; /* context lines, GREP_CONTENT */
    bool only_matching;         /* the match instead of its lines, without context */
    bool line_numbers;
    size_t head_limit;       /* lines of output, of any kind; 0: all */
    size_t offset;           /* lines of output to skip first */
    size_t max_line_bytes;   /* longer lines are cut around the match; 0: 2000 */
    size_t max_output_bytes; /* 0: 1 MiB */
    /* Larger files are skipped and counted; 0: 1 GiB. The maximum is 64 MiB for a multiline search,
     * and for a single line in any search. */
    uint64_t max_file_bytes;
    /* If there are globs, a file must match one of them with its path or its name. */
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
    /* Files that were given up because they take too many steps, and the first failure. After
     * GREP_MAX_FAILED such files the search ends. */
    size_t n_files_failed;
    struct err *failure;
};
#define GREP_MAX_FAILED 8

void grep_report_done(struct grep_report *r);

/* Searches a directory, or a file if `options->root` is one. The output is sorted: files mode by
 * modification time, newest first; content and count by path. It is "path:12:text" for matches,
 * "path-11-text" for context and "--" between groups, as in ripgrep. No filter applies to a root
 * that is a file: the caller decides whether it may be read. For a pattern with `$`, a line ends
 * before "\r\n". Text that is not UTF-8 is repaired. ERR_VALIDATION: the pattern is wrong, or takes
 * too many steps and nothing else was found; the type is unknown; the root cannot be read. */
MUST_USE struct err *grep_run(const struct grep_query *query, const struct walk_options *options,
                              struct strbuf *out, struct grep_report *ret_report);

/* Finds files and links whose paths match one of the patterns, newest first, at most `max_results`
 * (0: all). Directories, printed with a "/" at their end, are included if with_dirs says so, or if
 * no file matches. */
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
