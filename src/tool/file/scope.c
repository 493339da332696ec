/* scope.c - the root of a search and the paths below it. */
#include "tool/file/scope.h"

#include "base/glob.h"
#include "tool/file/shown.h"

#include <errno.h>
#include <sys/stat.h>

struct err *search_scope_check(struct search_scope *s)
{
    struct stat st;

    if (stat(s->root, &st) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return path_missing(s->root, s->cwd, s->hidden);
        return err_errno(ERR_TOOL_FAILED, errno, "cannot search %s", s->root);
    }
    s->is_file = !S_ISDIR(st.st_mode);
    if (path_is_hidden(s->hidden, s->root, !s->is_file))
        return err_new(ERR_TOOL_FAILED, "%s may not be searched: a rule forbids to read it",
                       s->root);
    if (s->is_file && !S_ISREG(st.st_mode))
        return err_new(ERR_TOOL_FAILED, "%s is neither a file nor a directory", s->root);
    return NULL;
}

/* --- what is left out --- */

static bool is_excluded(const struct search_scope *s, struct str path)
{
    size_t slash = str_rfind_char(path, '/');
    struct str name = slash == STR_NONE ? path : str_skip(path, slash + 1);

    for (size_t i = 0; i < s->n_excluded; i++)
        if (glob_matches(s->excluded[i], path) || glob_matches(s->excluded[i], name))
            return true;
    return false;
}

static bool is_left_out(void *self, struct str path, bool is_dir)
{
    const struct search_scope *s = self;
    AUTO(strbuf) struct strbuf absolute = {0};

    if (is_excluded(s, path))
        return true;
    if (!s->hidden)
        return false;
    strbuf_add_cstr(&absolute, strcmp(s->root, "/") == 0 ? "" : s->root);
    strbuf_add_char(&absolute, '/');
    strbuf_add(&absolute, path);
    return s->hidden->is_hidden(s->hidden->self, strbuf_str(&absolute), is_dir);
}

struct walk_options search_scope_walk(struct search_scope *s)
{
    return (struct walk_options){
        .root = s->root,
        .hidden = s->with_hidden_names,
        .is_left_out = s->hidden || s->n_excluded ? is_left_out : NULL,
        .self = s,
    };
}

/* --- printing --- */

void search_scope_print(const struct search_scope *s, struct str lines, bool has_separators,
                        struct strbuf *out)
{
    const char *shown = path_shown(s->cwd, s->root);
    bool is_cwd = strcmp(shown, ".") == 0;
    struct str line;

    while (lines.n && str_split(&lines, '\n', &line)) {
        if (has_separators && str_is(line, "--")) {
            strbuf_add(out, line);
        } else if (s->is_file) { /* it begins with the root as it was given */
            strbuf_add(out, str_skip(line, strlen(s->root) - strlen(shown)));
        } else {
            if (!is_cwd)
                strbuf_addf(out, "%s%s", shown, strcmp(shown, "/") == 0 ? "" : "/");
            strbuf_add(out, line);
        }
        strbuf_add_char(out, '\n');
    }
}

void search_scope_tell(const struct walk_report *report, struct strbuf *out)
{
    if (report->was_cut)
        strbuf_addf(out, "[the search ended after %zu entries: name a narrower path]\n",
                    report->n_entries);
    if (report->n_unreadable)
        strbuf_addf(out, "[%zu director%s could not be read]\n", report->n_unreadable,
                    report->n_unreadable == 1 ? "y" : "ies");
}
