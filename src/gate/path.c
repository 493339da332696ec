/* path.c - path patterns: where they start, and what they match. */
#include "gate/path.h"

#include "sys/env.h"

/* --- paths of calls --- */

bool subject_takes_path(const struct subject *s)
{
    struct str name = str_of(s->tool->permission_arg);

    if (name.n == 0 || !strchr("fpn", name.p[0]))
        return false; /* quick, since it is called for each rule */
    return str_is(name, "file_path") || str_is(name, "path") || str_is(name, "notebook_path");
}

/* Tools whose rules are about something else may take paths too. */
static const struct json *path_argument(const struct subject *s)
{
    static const char *const names[] = {"file_path", "path", "notebook_path"};

    if (subject_takes_path(s))
        return json_get(s->args, s->tool->permission_arg);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (json_is(json_get(s->args, names[i]), JSON_STRING))
            return json_get(s->args, names[i]);
    return NULL;
}

const char *subject_path(const struct subject *s, struct arena *a)
{
    const struct json *given = path_argument(s);

    if (given)
        return json_is(given, JSON_STRING) && str_find_char(given->text, '\0') == STR_NONE
                   ? tool_state_named(s->state, a, s->environment, given->text)
                   : NULL;
    return subject_takes_path(s) ? tool_state_path(s->state, a, s->environment, S(".")) : NULL;
}

/* --- patterns --- */

static void add_escaped(struct strbuf *out, struct str path)
{
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] && strchr("*?[]{},\\!", path.p[i]))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, path.p[i]);
    }
}

void path_add_exact(struct strbuf *out, struct str absolute_path)
{
    strbuf_add_char(out, '/');
    add_escaped(out, absolute_path);
}

static bool is_plain(struct str component)
{
    for (size_t i = 0; i < component.n; i++)
        if (strchr("*?[]{}\\", component.p[i]))
            return false;
    return true;
}

/* Cuts off the components before the first wildcard. */
static struct str take_plain_head(struct str *rest)
{
    struct str whole = *rest, after = whole, component;

    while (str_split(&after, '/', &component)) {
        if (!is_plain(component))
            break;
        *rest = after;
    }
    return str_slice(whole, 0, whole.n - rest->n);
}

const char *subject_searched(const struct subject *s, struct arena *a, bool only_dirs)
{
    struct str pattern = json_get_text(s->args, "pattern"), tail = pattern, head;
    struct str base = json_str(path_argument(s));

    if (!str_is(str_of(s->tool->permission_arg), "pattern") || pattern.n == 0 ||
        str_find_char(pattern, '\0') != STR_NONE || str_find_char(base, '\0') != STR_NONE)
        return NULL;
    head = take_plain_head(&tail);
    if (only_dirs && tail.n == 0)
        head = str_slice(head, 0, str_rfind_char(head, '/') + 1);
    if (!str_starts(head, S("/")) && !str_starts(head, S("~/")) && base.n)
        head = arena_format(a, "%s/%" STR_FMT, tool_state_named(s->state, a, s->environment, base),
                            STR_ARG(head));
    return tool_state_path(s->state, a, s->environment, head.n ? head : S("."));
}

/* Appends the components after the plain head. False: ".." follows a wildcard. */
static bool add_tail(struct strbuf *out, struct str tail, enum reading reading)
{
    struct str component;

    while (str_split(&tail, '/', &component)) {
        if (str_is(component, ".."))
            return false;
        if (component.n == 0 || str_is(component, "."))
            continue;
        strbuf_add_char(out, '/');
        strbuf_add(out, component);
    }
    /* Widely, everything below a match matches, so the directory itself does too. */
    while (reading == READ_WIDELY && str_ends(strbuf_str(out), S("/**")))
        strbuf_cut(out, out->n - 3);
    return true;
}

/* Adds a reading of the pattern: relative to `base`, at any depth if `is_deep`. */
static bool add_reading(struct path_rule *r, const struct subject *s, struct str base,
                        struct str pattern, bool is_deep)
{
    AUTO(strbuf) struct strbuf text = {0}, head = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct str tail = pattern;

    strbuf_add(&head, base);
    if (!is_deep)
        strbuf_add(&head, take_plain_head(&tail));
    add_escaped(&text, str_of(tool_state_path(s->state, &a, s->environment, strbuf_str(&head))));
    if (str_is(strbuf_str(&text), "/"))
        strbuf_clear(&text);
    if (is_deep)
        strbuf_add_cstr(&text, "/**");
    if (!add_tail(&text, tail, r->reading))
        return false;
    if (text.n == 0)
        strbuf_add_char(&text, '/');
    e = glob_compile(strbuf_str(&text), GLOB_LITERAL_SEPARATOR, &r->globs[r->n]);
    if (e)
        return false;
    r->texts[r->n++] = str_dup(strbuf_str(&text));
    return true;
}

static bool add_reading_below(struct path_rule *r, const struct subject *s, const char *directory,
                              struct str pattern)
{
    AUTO(strbuf) struct strbuf base = {0};
    bool is_name = str_find_char(pattern, '/') == STR_NONE && !str_is(pattern, ".") &&
                   !str_is(pattern, "..") && !str_is(pattern, "**");

    strbuf_addf(&base, "%s/", directory);
    return add_reading(r, s, strbuf_str(&base), pattern, is_name && r->reading == READ_WIDELY);
}

static bool add_readings(struct path_rule *r, struct str pattern, const struct subject *s)
{
    const char *root = tool_state_workspace(s->state);
    bool is_wide = r->reading == READ_WIDELY;

    if (str_is(pattern, "~") || str_starts(pattern, S("~/")))
        return add_reading(r, s, (struct str){0}, pattern, /* is_deep= */ false);
    if (str_starts(pattern, S("//")))
        return add_reading(r, s, S("/"), str_skip(pattern, 2), /* is_deep= */ false);
    if (str_starts(pattern, S("/")))
        return add_reading_below(r, s, root, pattern) &&
               (!is_wide || add_reading(r, s, S("/"), pattern, /* is_deep= */ false));
    /* The model can change the current directory: no rule may allow more because of that. */
    return add_reading_below(r, s, root, pattern) &&
           (!is_wide || add_reading_below(r, s, tool_state_cwd(s->state), pattern));
}

bool path_rule_init(struct path_rule *r, struct str pattern, const struct subject *s,
                    enum reading reading)
{
    *r = (struct path_rule){.reading = reading};
    if (str_find_char(pattern, '\0') == STR_NONE && add_readings(r, pattern, s))
        return true;
    path_rule_done(r);
    return false;
}

void path_rule_done(struct path_rule *r)
{
    for (size_t i = 0; i < r->n; i++) {
        glob_free(r->globs[i]);
        mem_free(r->texts[i]);
    }
    r->n = 0;
}

static bool matches_one(const struct path_rule *r, struct str path)
{
    for (size_t i = 0; i < r->n; i++)
        if (glob_matches(r->globs[i], path))
            return true;
    return false;
}

bool path_rule_matches(const struct path_rule *r, struct str absolute_path)
{
    if (matches_one(r, absolute_path))
        return true;
    if (r->reading == READ_NARROWLY)
        return false;
    for (size_t i = 0; i < absolute_path.n; i++)
        if (absolute_path.p[i] == '/' && matches_one(r, str_slice(absolute_path, 0, MAX(i, 1u))))
            return true;
    return false;
}

const char *path_pattern_head(struct str pattern, const struct subject *s, struct arena *a)
{
    bool is_of_home = str_is(pattern, "~") || str_starts(pattern, S("~/"));
    struct str tail = pattern, head = take_plain_head(&tail);

    if (str_find_char(pattern, '\0') != STR_NONE || str_trim(head).n == 0)
        return NULL;
    if (is_of_home || str_starts(pattern, S("//")))
        return tool_state_path(s->state, a, s->environment, head);
    return tool_state_path(
        s->state, a, s->environment,
        arena_format(a, "%s/%" STR_FMT, tool_state_workspace(s->state), STR_ARG(head)));
}

/* --- quick rejection --- */

static bool is_wild(char c)
{
    static const bool wild[256] = {
        ['*'] = true, ['?'] = true, ['['] = true, [']'] = true, ['{'] = true,
        ['}'] = true, [','] = true, ['!'] = true, ['\\'] = true};

    return wild[(unsigned char)c];
}

/* Does the path continue as the pattern begins, as far as that is plain? */
static bool may_begin(struct str pattern, struct str path)
{
    size_t i = 0;

    for (; i < pattern.n && i < path.n && !is_wild(pattern.p[i]); i++)
        if (pattern.p[i] != path.p[i])
            return false;
    return true;
}

/* Names separated by single slashes, without "." and "..". */
static bool is_simple(struct str path)
{
    bool is_start = true; /* at the start of a name */

    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i], next = i + 1 < path.n ? path.p[i + 1] : '/';

        if (c == '\0' || (is_start && (c == '/' || (c == '.' && (next == '.' || next == '/')))))
            return false;
        is_start = c == '/';
    }
    return true;
}

static struct path_base base_of(struct str directory)
{
    bool is_any = directory.n == 0 || !is_simple(str_skip(directory, 1));

    if (!is_any && directory.p[directory.n - 1] == '/')
        directory.n--;
    return (struct path_base){directory, is_any};
}

struct path_bases path_bases_of(const struct subject *s)
{
    return (struct path_bases){.workspace = base_of(str_of(tool_state_workspace(s->state))),
                               .cwd = base_of(str_of(tool_state_cwd(s->state))),
                               .home = base_of(env_get(s->environment, S("HOME")))};
}

static bool may_begin_below(const struct path_base *base, struct str pattern, struct str path)
{
    if (base->is_any)
        return true;
    if (!str_starts(path, base->directory))
        return false;
    path = str_skip(path, base->directory.n);
    return path.n == 0 || (path.p[0] == '/' && may_begin(pattern, str_skip(path, 1)));
}

/* The text after the last wildcard is at the end of the path or, widely, of a directory above
 * it. */
static bool may_end(struct str pattern, enum reading reading, struct str path)
{
    size_t start;

    while (reading == READ_WIDELY && str_ends(pattern, S("/**")))
        pattern.n -= 3;
    if (str_ends(pattern, S("/")))
        return true;
    for (start = pattern.n; start > 0 && !is_wild(pattern.p[start - 1]);)
        start--;
    pattern = str_skip(pattern, start);
    return reading == READ_WIDELY ? str_find(path, pattern) != STR_NONE : str_ends(path, pattern);
}

/* The readings of add_readings(). */
static bool may_be_below(struct str pattern, struct str text, const struct path_bases *bases,
                         enum reading reading, struct str path)
{
    static const struct path_base root;
    bool is_wide = reading == READ_WIDELY, is_rooted = str_starts(pattern, S("/"));

    if (str_starts(pattern, S("~/")))
        return may_begin_below(&bases->home, text, path);
    if (str_starts(pattern, S("//")))
        return may_begin_below(&root, text, path);
    if (!is_rooted && is_wide && str_find_char(text, '/') == STR_NONE)
        return true; /* a name, at any depth */
    return may_begin_below(&bases->workspace, text, path) ||
           (is_wide && may_begin_below(is_rooted ? &root : &bases->cwd, text, path));
}

/* The pattern without its leading slashes or tilde. */
static struct str text_of(struct str pattern)
{
    if (pattern.n == 0 || (pattern.p[0] != '~' && pattern.p[0] != '/'))
        return pattern;
    return str_skip(pattern, pattern.n > 1 && pattern.p[1] == '/' ? 2 : 1);
}

bool path_may_match(struct str pattern, const struct subject *s, enum reading reading,
                    const char *path)
{
    struct str given = str_of(path), text = text_of(pattern);
    struct path_bases found;

    if (!is_simple(text) || text.n == 0 || given.n > PATH_MAX_BYTES)
        return true;
    if (!may_end(text, reading, given))
        return false;
    if (!s->bases)
        found = path_bases_of(s);
    return may_be_below(pattern, text, s->bases ? s->bases : &found, reading, given);
}

static bool may_match_names(struct str pattern, const struct subject *s, enum reading reading,
                            const struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        if (path_may_match(pattern, s, reading, names->paths[i]))
            return true;
    return false;
}

static enum match match_names(const struct path_rule *rule, const struct names *names,
                              enum match otherwise)
{
    enum match result = MATCH_NO;

    for (size_t i = 0; i < names->n; i++) {
        struct str path = str_of(names->paths[i]);

        if (path.n > PATH_MAX_BYTES)
            result = otherwise;
        else if (path_rule_matches(rule, path))
            return MATCH_YES;
    }
    return result;
}

enum match path_match(struct str pattern, const struct subject *s, enum reading reading)
{
    enum match otherwise = reading == READ_WIDELY ? MATCH_UNCLEAR : MATCH_NO;
    AUTO(path_rule) struct path_rule rule = {0};
    AUTO(arena) struct arena a = {0};
    const char *path = s->names ? NULL : subject_path(s, &a);
    struct names names = s->names ? *s->names : (struct names){&path, path != NULL};

    if (names.n == 0)
        return otherwise;
    if (!may_match_names(pattern, s, reading, &names))
        return MATCH_NO;
    if (!path_rule_init(&rule, pattern, s, reading))
        return otherwise;
    return match_names(&rule, &names, otherwise);
}

enum match path_match_dir(struct str pattern, const struct subject *s)
{
    enum match m = path_match(pattern, s, READ_NARROWLY);

    if (m == MATCH_YES || !str_ends(pattern, S("/**")) || pattern.n <= strlen("//**"))
        return m;
    return path_match(str_slice(pattern, 0, pattern.n - 3), s, READ_NARROWLY);
}
