/* scope.h - where Grep and Glob look, what they must not see, and how they print paths.
 *
 * All of it may be used from a worker and from the threads of a walk. */
#ifndef KEEL_TOOL_FILE_SCOPE_H
#define KEEL_TOOL_FILE_SCOPE_H

#include "port/tool.h"
#include "sys/walk.h"
#include "tool/search/engine.h"

struct glob;

struct search_scope {
    const char *root, *cwd, *workspace; /* absolute; borrowed as all the rest */
    const char *target; /* the root without links: what is opened, and what rules are about */
    const struct path_filter *hidden;
    struct glob *const *excluded; /* by path from the root, or by name */
    size_t n_excluded;
    bool with_hidden_names; /* those that begin with a dot */
    /* set by search_scope_open() */
    int root_fd;   /* -1: not open */
    bool is_file;  /* the root is */
    bool has_link; /* a link leads from the root to the target */
};

/* Opens the root, if it may be searched; root_fd stays -1, without an error, if nothing is there.
 * Blocks. */
MUST_USE struct err *search_scope_open(struct search_scope *s);
/* What to say then. Blocks. */
NEVER_NULL MUST_USE struct err *search_scope_missing(const struct search_scope *s);
void search_scope_close(struct search_scope *s);

struct walk_options search_scope_walk(struct search_scope *s); /* of an open one */

/* How paths are printed: from the working directory on, or absolute where the root is not below it.
 * Lives in `a`. */
struct grep_names search_scope_names(const struct search_scope *s, struct arena *a);

/* Where nothing was found: appends that there are files which were not looked at, if so. */
void search_scope_add_ignored(const struct walk_report *report, struct strbuf *out);

/* Appends what was left out on the way, if anything was, and how to read the lines if that is not
 * clear. */
void search_scope_add_notes(const struct walk_report *report, struct str lines, struct strbuf *out);

#endif
