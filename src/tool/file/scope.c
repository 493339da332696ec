/* scope.c - the root of a search and the paths below it. */
#include "tool/file/scope.h"

#include "base/glob.h"
#include "sys/spot.h"
#include "tool/file/shown.h"

#include <fcntl.h>
#include <unistd.h>

#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY)
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY)

/* --- the root --- */

static struct err *forbidden(const struct search_scope *s)
{
    return err_new(ERR_TOOL_FAILED, "%s cannot be searched: a rule denies reading it", s->root);
}

/* Checks both names: a rule may be about a link on the way. */
static bool is_hidden(const struct search_scope *s, bool is_dir)
{
    return path_is_hidden(s->hidden, s->target, is_dir) ||
           (s->has_link && path_is_hidden(s->hidden, s->root, is_dir));
}

struct err *search_scope_missing(const struct search_scope *s)
{
    return path_missing(s->root, s->target, s->cwd, s->workspace, s->hidden);
}

static struct err *check_type(const struct search_scope *s, mode_t mode)
{
    if (S_ISDIR(mode) || S_ISREG(mode))
        return NULL;
    return err_new(ERR_TOOL_FAILED, "%s is neither a file nor a directory", s->root);
}

struct err *search_scope_open(struct search_scope *s)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    struct stat st = {0};
    bool exists;

    s->has_link = strcmp(s->root, s->target) != 0;
    if (path_is_below_hidden(s->hidden, s->target))
        return forbidden(s);
    TRY(spot_find(s->target, s->root, &spot));
    TRY(spot_look(&spot, &exists, &st));
    s->is_file = exists && !S_ISDIR(st.st_mode);
    if (is_hidden(s, S_ISDIR(st.st_mode))) /* do not reveal whether it exists */
        return forbidden(s);
    if (!exists)
        return NULL;
    TRY(check_type(s, st.st_mode)); /* before opening it, which can have effects */
    return spot_open(&spot, s->is_file ? FILE_FLAGS : DIR_FLAGS, &s->root_fd);
}

void search_scope_close(struct search_scope *s)
{
    if (s->root_fd >= 0)
        close(s->root_fd);
    s->root_fd = -1;
}

/* --- what a search omits --- */

static bool is_excluded(const struct search_scope *s, struct str path)
{
    size_t slash = str_rfind_char(path, '/');
    struct str name = slash == STR_NONE ? path : str_skip(path, slash + 1);

    for (size_t i = 0; i < s->n_excluded; i++)
        if (glob_matches(s->excluded[i], path) || glob_matches(s->excluded[i], name))
            return true;
    return false;
}

static bool is_hidden_below(const struct search_scope *s, const char *root, struct str path,
                            bool is_dir)
{
    AUTO(strbuf) struct strbuf absolute = {0};

    strbuf_add_cstr(&absolute, strcmp(root, "/") == 0 ? "" : root);
    strbuf_add_char(&absolute, '/');
    strbuf_add(&absolute, path);
    return s->hidden->is_hidden(s->hidden->self, strbuf_str(&absolute), is_dir);
}

/* Directories of other version control systems. No walk enters .git. */
static bool is_version_control(struct str path, bool is_dir)
{
    static const char *const names[] = {".hg", ".svn", ".jj", ".bzr"};
    size_t slash = str_rfind_char(path, '/');
    struct str name = slash == STR_NONE ? path : str_skip(path, slash + 1);

    for (size_t i = 0; is_dir && name.p[0] == '.' && i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool scope_omits(void *self, struct str path, bool is_dir)
{
    const struct search_scope *s = self;

    if (is_excluded(s, path) || is_version_control(path, is_dir))
        return true;
    if (!s->hidden)
        return false;
    return is_hidden_below(s, s->target, path, is_dir) ||
           (s->has_link && is_hidden_below(s, s->root, path, is_dir));
}

struct walk_options search_scope_walk(struct search_scope *s)
{
    return (struct walk_options){
        .root = s->is_file ? s->root : s->target, /* a file is printed as it was given */
        .has_root_fd = true,
        .root_fd = s->root_fd,
        .hidden = s->with_hidden_names,
        .is_left_out = scope_omits,
        .self = s,
    };
}

/* --- printing --- */

struct grep_names search_scope_names(const struct search_scope *s, struct arena *a)
{
    const char *shown = path_shown(s->cwd, s->root);

    if (s->is_file)
        return (struct grep_names){.root_file = str_of(shown)};
    if (strcmp(shown, ".") == 0)
        return (struct grep_names){0};
    return (struct grep_names){
        .prefix = arena_format(a, "%s%s", shown, strcmp(shown, "/") == 0 ? "" : "/")};
}

void search_scope_add_ignored(const struct walk_report *report, struct strbuf *out)
{
    if (report->has_ignored)
        strbuf_add_cstr(out, "[what .gitignore and .ignore exclude was not searched; to search it, "
                             "name it as path]\n");
}

void search_scope_add_notes(const struct walk_report *report, struct str lines, struct strbuf *out)
{
    if (str_starts(lines, S("\"")) || str_find(lines, S("\n\"")) != STR_NONE)
        strbuf_add_cstr(out, "[paths in double quotes have special characters and are escaped as "
                             "git does it: pass them with the quotes, in Bash as $'...']\n");
    if (report->was_cut)
        strbuf_addf(out, "[the search stopped after %zu entries: choose a narrower path]\n",
                    report->n_entries);
    if (report->is_too_deep)
        strbuf_addf(out,
                    "[directories more than %u levels deep were not searched: to search them, set "
                    "path to one further down]\n",
                    report->max_depth);
    if (report->n_unreadable)
        strbuf_addf(out, "[%zu director%s could not be read]\n", report->n_unreadable,
                    report->n_unreadable == 1 ? "y" : "ies");
}
