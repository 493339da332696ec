/* examples.c - values that a rule takes, and some that it just does not take. */
#include "cli/permissions/explain.h"

enum rule_argument rule_argument_of(const struct tool *tool)
{
    static const struct {
        const char *name;
        enum rule_argument argument;
    } kinds[] = {
        {"command", ARGUMENT_COMMAND},    {"file_path", ARGUMENT_PATH}, {"path", ARGUMENT_PATH},
        {"notebook_path", ARGUMENT_PATH}, {"url", ARGUMENT_URL},
    };

    if (!tool->permission_arg)
        return ARGUMENT_NONE;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(tool->permission_arg, kinds[i].name) == 0)
            return kinds[i].argument;
    return ARGUMENT_TEXT;
}

bool rule_command_head(struct str pattern, struct str *ret_head)
{
    *ret_head = pattern;
    if (!str_ends(pattern, S(":*")) && !str_ends(pattern, S(" *")))
        return false;
    ret_head->n -= 2;
    return true;
}

static void add(struct examples *e, struct str value)
{
    for (size_t i = 0; i < e->n; i++)
        if (str_eq(e->items[i], value))
            return;
    if (e->n < MAX_EXAMPLES && value.n)
        e->items[e->n++] = value;
}

/* The pattern with something in the place of its wildcards. */
static struct str fill(struct arena *a, struct str pattern, const char *for_star)
{
    AUTO(strbuf) struct strbuf out = {0};

    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i], next = i + 1 < pattern.n ? pattern.p[i + 1] : '\0';

        if (c == '\\' && next) {
            strbuf_add_char(&out, next);
            i++;
        } else if (c == '*') {
            strbuf_add_cstr(&out, for_star);
            i += next == '*';
        } else {
            strbuf_add_char(&out, c);
        }
    }
    return arena_str(a, strbuf_str(&out));
}

static void add_commands(struct examples *e, struct arena *a, struct str pattern)
{
    struct str head, base;

    rule_command_head(pattern, &head);
    base = fill(a, head, "x");
    if (base.n == 0)
        base = S("ls");
    add(e, base);
    add(e, arena_format(a, "%" STR_FMT " --some", STR_ARG(base)));
    add(e, arena_format(a, "%" STR_FMT "er", STR_ARG(base)));
    add(e, arena_format(a, "%" STR_FMT " && other", STR_ARG(base)));
    add(e, arena_format(a, "%" STR_FMT " > file", STR_ARG(base)));
    add(e, arena_format(a, "NAME=value %" STR_FMT, STR_ARG(base)));
    add(e, arena_format(a, "sudo %" STR_FMT, STR_ARG(base)));
}

/* How a tool would be given the path that a pattern means. */
static struct str given_path(struct str pattern)
{
    if (str_starts(pattern, S("//")))
        return str_skip(pattern, 1);
    return str_starts(pattern, S("/")) ? str_skip(pattern, 1) : pattern;
}

static struct str without_slash(struct str path)
{
    return path.n > 1 && str_ends(path, S("/")) ? str_slice(path, 0, path.n - 1) : path;
}

static void add_paths(struct examples *e, struct arena *a, struct str pattern)
{
    struct str given = given_path(pattern), shallow = without_slash(fill(a, given, "x")),
               deep = without_slash(fill(a, given, "x/y"));
    bool is_absolute = str_starts(pattern, S("//")) || str_starts(pattern, S("~"));

    add(e, shallow);
    add(e, deep);
    add(e, arena_format(a, "%" STR_FMT "/below", STR_ARG(shallow)));
    if (str_ends(given, S("/**")))
        add(e, fill(a, str_slice(given, 0, given.n - 3), "x"));
    if (str_starts(pattern, S("/")) && !is_absolute)
        add(e, arena_format(a, "/%" STR_FMT, STR_ARG(shallow)));
    if (!is_absolute)
        add(e, arena_format(a, "other/%" STR_FMT, STR_ARG(shallow)));
}

static void add_urls(struct examples *e, struct arena *a, struct str pattern)
{
    size_t prefix = str_starts(pattern, S("domain:")) ? 7 : str_starts(pattern, S("host:")) ? 5 : 0;
    struct str host;

    if (!prefix) {
        size_t colon = str_find(pattern, S("://"));
        struct str rest = colon == STR_NONE ? pattern : str_skip(pattern, colon + 3);

        add(e, arena_format(
                   a, "%s://%" STR_FMT "%s", str_starts(pattern, S("http:")) ? "http" : "https",
                   STR_ARG(fill(a, rest, "x")), str_find_char(rest, '/') == STR_NONE ? "/" : ""));
        return;
    }
    host = str_trim(str_skip(pattern, prefix));
    if (str_starts(host, S("*.")))
        host = str_skip(host, 2);
    host = fill(a, host, "x");
    add(e, arena_format(a, "https://%" STR_FMT "/page", STR_ARG(host)));
    add(e, arena_format(a, "https://sub.%" STR_FMT "/page", STR_ARG(host)));
    add(e, arena_format(a, "https://not%" STR_FMT "/page", STR_ARG(host)));
}

void examples_make(struct examples *e, struct arena *a, const struct tool *tool, struct str pattern)
{
    *e = (struct examples){0};
    switch (rule_argument_of(tool)) {
    case ARGUMENT_COMMAND:
        add_commands(e, a, pattern);
        break;
    case ARGUMENT_PATH:
        add_paths(e, a, pattern);
        break;
    case ARGUMENT_URL:
        add_urls(e, a, pattern);
        break;
    case ARGUMENT_TEXT:
        add(e, fill(a, pattern, "x"));
        add(e, arena_format(a, "%" STR_FMT "er", STR_ARG(fill(a, pattern, "x"))));
        break;
    case ARGUMENT_NONE:
        break;
    }
}
