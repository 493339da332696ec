/* args.c - reads the arguments of the file tools. */
#include "tool/file/args.h"

#define MAX_CONTEXT 1000 /* lines around a match */
#define MAX_GLOBS 128

/* A whole number that is not negative, as the schema requires; one that does not fit is huge. */
static size_t count_of(const struct json *args, const char *name, size_t otherwise)
{
    const struct json *v = json_get(args, name);
    int64_t n;

    if (!v)
        return otherwise;
    return json_int64(v, &n) && n >= 0 ? (size_t)n : (size_t)INT64_MAX;
}

/* The system would end the path at a NUL, after the checks have seen all of it. */
static struct err *take_path(const struct json *args, const char *name, struct str *ret_path)
{
    *ret_path = json_get_text(args, name);
    if (str_find_char(*ret_path, '\0') == STR_NONE)
        return NULL;
    return err_hint(err_new(ERR_TOOL_FAILED, "%s contains a NUL character", name),
                    "no file name can contain one");
}

struct err *read_args_parse(const struct json *args, struct read_args *ret)
{
    *ret = (struct read_args){
        .offset = MAX(count_of(args, "offset", 1), (size_t)1),
        .limit = count_of(args, "limit", READ_DEFAULT_LINES),
        .column = MAX(count_of(args, "column", 1), (size_t)1),
        .pages = json_get_text(args, "pages"),
    };
    return take_path(args, "file_path", &ret->path);
}

/* The end may be missing or -1: everything that follows. An invalid range stays and is refused as
 * an unknown argument. */
static bool take_range(const struct json *first, const struct json *last, int64_t *ret_first,
                       int64_t *ret_n)
{
    int64_t end = -1;

    if (!json_int64(first, ret_first) || *ret_first < 1 || (last && !json_int64(last, &end)) ||
        (end != -1 && end < *ret_first))
        return false;
    *ret_n = end == -1 ? 0 : end - *ret_first + 1;
    return true;
}

void read_args_adapt(struct json *args, struct arena *a)
{
    const struct json *range = json_get(args, "view_range"), *first = json_get(args, "start_line");
    const struct json *last = json_get(args, "end_line");
    int64_t offset, n;

    if (json_is(range, JSON_ARRAY) && range->n == 2 && !first && !last) {
        first = json_at(range, 0);
        last = json_at(range, 1);
    }
    if (!first || json_has(args, "offset") || json_has(args, "limit") ||
        !take_range(first, last, &offset, &n))
        return;
    json_set_int(a, args, "offset", offset);
    if (n)
        json_set_int(a, args, "limit", n);
    json_remove(args, S("view_range"));
    json_remove(args, S("start_line"));
    json_remove(args, S("end_line"));
}

struct err *write_args_parse(const struct json *args, struct write_args *ret)
{
    *ret = (struct write_args){.content = json_get_text(args, "content")};
    return take_path(args, "file_path", &ret->path);
}

/* --- edits --- */

static struct edit edit_of(const struct json *v)
{
    return (struct edit){
        .old_text = json_get_text(v, "old_string"),
        .new_text = json_get_text(v, "new_string"),
        .replace_all = json_bool(json_get(v, "replace_all"), false),
    };
}

static struct err *take_one_edit(const struct json *args, struct arena *a, struct edit_args *ret)
{
    bool has_old = json_has(args, "old_string"), has_new = json_has(args, "new_string");

    if (!has_old || !has_new)
        return err_hint(err_new(ERR_TOOL_FAILED, "%s missing",
                                has_old   ? "new_string is"
                                : has_new ? "old_string is"
                                          : "old_string and new_string are"),
                        "pass old_string and new_string, or a list of them as edits");
    ret->edits = ARENA_NEW(a, struct edit);
    ret->edits[0] = edit_of(args);
    ret->n_edits = 1;
    return NULL;
}

static struct err *take_edits(const struct json *args, const struct json *edits, struct arena *a,
                              struct edit_args *ret)
{
    if (json_has(args, "old_string") || json_has(args, "new_string") ||
        json_has(args, "replace_all"))
        return err_hint(
            err_new(ERR_TOOL_FAILED,
                    "edits was passed together with old_string, new_string or replace_all"),
            "put them into edits, or omit edits");
    if (edits->n == 0 || edits->n > EDIT_MAX_EDITS)
        return err_new(ERR_TOOL_FAILED, "edits must have 1 to %d items, not %u", EDIT_MAX_EDITS,
                       edits->n);
    ret->edits = ARENA_ARRAY(a, edits->n, struct edit);
    json_each (edit, edits)
        ret->edits[ret->n_edits++] = edit_of(edit);
    return NULL;
}

struct err *edit_args_parse(const struct json *args, struct arena *a, struct edit_args *ret)
{
    const struct json *edits = json_get(args, "edits");

    *ret = (struct edit_args){0};
    TRY(take_path(args, "file_path", &ret->path));
    return edits ? take_edits(args, edits, a, ret) : take_one_edit(args, a, ret);
}

/* --- Glob --- */

static bool is_plain(struct str component)
{
    for (size_t i = 0; i < component.n; i++)
        if (strchr("*?[]{}\\", component.p[i]))
            return false;
    return true;
}

/* Directories without wildcards are entered, not searched for. So a pattern may begin with "/" or
 * "..", and may name a directory that a search would omit. */
static void split_pattern(struct str pattern, struct glob_args *g)
{
    size_t n_dir = 0;

    for (;;) {
        struct str rest = str_skip(pattern, n_dir);
        size_t slash = str_find_char(rest, '/');

        if (slash == STR_NONE || !is_plain(str_slice(rest, 0, slash)))
            break;
        n_dir += slash + 1;
    }
    g->dir = str_slice(pattern, 0, n_dir);
    g->pattern = str_skip(pattern, n_dir);
}

/* A pattern such as ".env*" asks for names that begin with a dot. */
static bool names_a_dot(struct str pattern)
{
    return str_starts(pattern, S(".")) || str_find(pattern, S("/.")) != STR_NONE;
}

struct err *glob_args_parse(const struct json *args, struct glob_args *ret)
{
    struct str pattern;

    *ret = (struct glob_args){0};
    TRY(take_path(args, "path", &ret->path));
    TRY(take_path(args, "pattern", &pattern));
    split_pattern(pattern, ret);
    if (ret->pattern.n > 1 && str_ends(ret->pattern, S("/"))) /* directories */
        ret->pattern.n--;
    ret->is_name =
        is_plain(ret->pattern) && !str_is(ret->pattern, ".") && !str_is(ret->pattern, "..");
    ret->hidden = json_bool(json_get(args, "hidden"), true) || names_a_dot(ret->pattern);
    if (ret->pattern.n)
        return NULL;
    return err_hint(err_new(ERR_TOOL_FAILED, "the pattern names a directory, not files"),
                    "add what to find in it: \"%" STR_FMT "**\"", STR_ARG(ret->dir));
}

/* --- Grep --- */

struct err *glob_compile_brackets(struct str text, struct glob **ret_glob)
{
    AUTO(strbuf) struct strbuf escaped = {0};

    *ret_glob = NULL;
    if (str_find_char(text, '[') == STR_NONE || str_find_char(text, '\\') != STR_NONE)
        return NULL;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '[' || text.p[i] == ']')
            strbuf_add_char(&escaped, '\\');
        strbuf_add_char(&escaped, text.p[i]);
    }
    return glob_compile(strbuf_str(&escaped), GLOB_LITERAL_SEPARATOR, ret_glob);
}

/* Cuts off the next glob. Blanks separate globs, and so do commas outside of braces. */
static bool take_glob(struct str *rest, struct str *ret_glob)
{
    size_t depth = 0, n = 0;

    while (rest->n && strchr(" ,\t\n", rest->p[0]))
        *rest = str_skip(*rest, 1);
    for (; n < rest->n; n++) {
        char c = rest->p[n];

        if (depth == 0 && c && strchr(" ,\t\n", c))
            break;
        depth += c == '{';
        depth -= c == '}' && depth > 0;
    }
    *ret_glob = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static void keep_glob(struct grep_args *g, bool is_excluded, struct glob *take_glob)
{
    if (take_glob && is_excluded)
        g->excluded[g->n_excluded++] = take_glob;
    else if (take_glob)
        g->globs[g->n_globs++] = take_glob;
}

static struct err *add_glob(struct grep_args *g, struct str text)
{
    bool is_excluded = str_starts(text, S("!"));
    struct glob *glob;

    if (g->n_globs + g->n_excluded + 2 > MAX_GLOBS)
        return err_new(ERR_TOOL_FAILED, "glob has too many patterns");
    text = str_skip(text, is_excluded);
    if (str_starts(text, S("./")))
        text = str_skip(text, 2);
    TRY(glob_compile(text, GLOB_LITERAL_SEPARATOR, &glob));
    keep_glob(g, is_excluded, glob);
    TRY(glob_compile_brackets(text, &glob));
    keep_glob(g, is_excluded, glob);
    return NULL;
}

static struct err *take_globs(const struct json *args, struct grep_args *g)
{
    struct str rest = json_get_text(args, "glob"), text;

    g->globs = mem_alloc(MAX_GLOBS * sizeof(struct glob *));
    g->excluded = mem_alloc(MAX_GLOBS * sizeof(struct glob *));
    while (take_glob(&rest, &text))
        TRY(add_glob(g, text));
    g->query.globs = (const struct glob *const *)g->globs;
    g->query.n_globs = g->n_globs;
    return NULL;
}

static enum grep_mode mode_of(struct str name)
{
    if (str_is(name, "content"))
        return GREP_CONTENT;
    return str_is(name, "count") ? GREP_COUNT : GREP_FILES;
}

static unsigned context_of(const struct json *args, const char *name)
{
    size_t around = count_of(args, "-C", 0);

    return (unsigned)MIN(count_of(args, name, around), (size_t)MAX_CONTEXT);
}

static struct grep_query query_of(const struct json *args)
{
    return (struct grep_query){
        .pattern = json_get_text(args, "pattern"),
        .ignore_case = json_bool(json_get(args, "-i"), false),
        .multiline = json_bool(json_get(args, "multiline"), false),
        .fixed_string = json_bool(json_get(args, "fixed_strings"), false),
        .mode = mode_of(json_get_text(args, "output_mode")),
        .n_before = context_of(args, "-B"),
        .n_after = context_of(args, "-A"),
        .only_matching = json_bool(json_get(args, "-o"), false),
        .line_numbers = json_bool(json_get(args, "-n"), true),
        .head_limit = count_of(args, "head_limit", GREP_DEFAULT_HEAD),
        .offset = count_of(args, "offset", 0),
        .type = json_get_text(args, "type"),
    };
}

/* Turns a flag of grep into the output mode that it means, unless a mode is given. */
static void take_mode(struct json *args, struct arena *a, const char *flag, const char *mode)
{
    const struct json *value = json_get(args, flag);

    if (!json_is(value, JSON_BOOL) || json_has(args, "output_mode"))
        return;
    if (json_bool(value, false))
        json_set_str(a, args, "output_mode", str_of(mode));
    json_remove(args, str_of(flag));
}

void grep_args_adapt(struct json *args, struct arena *a)
{
    const struct json *sensitive = json_get(args, "case_sensitive");

    take_mode(args, a, "-l", "files_with_matches");
    take_mode(args, a, "-c", "count");
    if (!json_is(sensitive, JSON_BOOL) || json_has(args, "-i"))
        return;
    json_set_bool(a, args, "-i", !json_bool(sensitive, true));
    json_remove(args, S("case_sensitive"));
}

struct err *grep_args_parse(const struct json *args, struct grep_args *ret)
{
    *ret = (struct grep_args){.query = query_of(args),
                              .hidden = json_bool(json_get(args, "hidden"), true)};
    TRY(take_path(args, "path", &ret->path));
    return take_globs(args, ret);
}

void grep_args_done(struct grep_args *g)
{
    for (size_t i = 0; i < g->n_globs; i++)
        glob_free(g->globs[i]);
    for (size_t i = 0; i < g->n_excluded; i++)
        glob_free(g->excluded[i]);
    mem_free(g->globs);
    mem_free(g->excluded);
    *g = (struct grep_args){0};
}
