/* scope.h - where Grep and Glob look, what is hidden from them, and how they print paths.
 *
 * May be used from a worker and from the threads of a walk. */
#ifndef KEEL_TOOL_FILE_SCOPE_H
#define KEEL_TOOL_FILE_SCOPE_H

#include "port/tool.h"
#include "sys/walk.h"
#include "tool/search/engine.h"

struct glob;

struct search_scope {
    const char *root, *cwd, *workspace; /* absolute; borrowed like all the rest */
    const char *target; /* the root without links: it is opened, and rules are about it */
    const struct path_filter *hidden;
    struct glob *const *excluded; /* by path from the root, or by name */
    size_t n_excluded;
    bool with_hidden_names; /* names that begin with a dot */
    /* set by search_scope_open() */
    int root_fd;   /* -1: not open */
    bool is_file;  /* the root is a file */
    bool has_link; /* a link leads from the root to the target */
};

/* Opens the root if it may be searched. If it does not exist, root_fd stays -1 and there is no
 * error. Blocks. */
MUST_USE struct err *search_scope_open(struct search_scope *s);
/* The error for a root that does not exist. Blocks. */
NEVER_NULL MUST_USE struct err *search_scope_missing(const struct search_scope *s);
void search_scope_close(struct search_scope *s);

struct walk_options search_scope_walk(struct search_scope *s); /* after search_scope_open() */

/* How to print paths: relative to the working directory, or absolute if the root is outside of it.
 * Lives in `a`. */
struct grep_names search_scope_names(const struct search_scope *s, struct arena *a);

/* If nothing was found: appends that ignored files were not searched, if there are any. */
void search_scope_add_ignored(const struct walk_report *report, struct strbuf *out);

/* Appends what the search omitted, if anything, and how to read quoted paths. */
void search_scope_add_notes(const struct walk_report *report, struct str lines, struct strbuf *out);

#endif
