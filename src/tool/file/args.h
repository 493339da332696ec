/* args.h - reads the arguments of the file tools, which fit the tool's schema. Pure.
 *
 * Strings borrow from the arguments. Checks what a schema cannot say: ERR_TOOL_FAILED, with a hint.
 * Numbers that are too large count as the largest possible. */
#ifndef KEEL_TOOL_FILE_ARGS_H
#define KEEL_TOOL_FILE_ARGS_H

#include "base/json.h"
#include "tool/edit/match.h"
#include "tool/search/engine.h"

struct read_args {
    struct str path;
    size_t offset; /* the first line, from 1 */
    size_t limit;
    size_t column;    /* of the first line, from 1 */
    struct str pages; /* "3", "1-5"; empty: all */
};
#define READ_DEFAULT_LINES 2000
MUST_USE struct err *read_args_parse(const struct json *args, struct read_args *ret);
/* Turns start_line and end_line, or view_range: [3, 9], into offset and limit. */
void read_args_adapt(struct json *args, struct arena *a);

struct write_args {
    struct str path, content;
};
MUST_USE struct err *write_args_parse(const struct json *args, struct write_args *ret);

struct edit_args {
    struct str path;
    struct edit *edits; /* in the arena */
    size_t n_edits;     /* at least one */
};
/* One edit as old_string and new_string, or several as `edits`, not both. */
MUST_USE struct err *edit_args_parse(const struct json *args, struct arena *a,
                                     struct edit_args *ret);

struct glob_args {
    struct str path;    /* empty: the working directory */
    struct str dir;     /* directories without wildcards at its start: "src", "/", "../a" */
    struct str pattern; /* the rest of it */
    bool is_name;       /* the pattern has no wildcards */
    bool hidden;
};
MUST_USE struct err *glob_args_parse(const struct json *args, struct glob_args *ret);

struct grep_args {
    struct str path; /* empty: the working directory */
    struct grep_query query;
    bool hidden;
    struct glob **globs; /* on the heap, like the rest */
    size_t n_globs;
    struct glob **excluded; /* from globs that begin with `!` */
    size_t n_excluded;
};
#define GREP_DEFAULT_HEAD 250
MUST_USE struct err *grep_args_parse(const struct json *args, struct grep_args *ret);
/* Turns case_sensitive into -i, and -l and -c into modes. */
void grep_args_adapt(struct json *args, struct arena *a);
void grep_args_done(struct grep_args *g);

/* A glob whose brackets are literal: app/[id]/page.tsx. NULL: it has none. */
MUST_USE struct err *glob_compile_brackets(struct str text, struct glob **ret_glob);
DEFINE_AUTO_VAL(grep_args, grep_args_done)

#endif
