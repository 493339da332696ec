/* pattern.c - `Tool` and `Tool(argument)`: which tool, and which kind of argument. */
#include "gate/pattern.h"

#include "gate/command.h"
#include "gate/gate.h"
#include "gate/path.h"
#include "gate/prepared.h"
#include "gate/web.h"
#include "gate/wildcard.h"
#include "port/mcp_name.h"

/* --- the text --- */

/* The length of the tool's name at the start of the text. */
static size_t name_length(struct str s)
{
    static const bool is_in_name[256] = {['a' ... 'z'] = true, ['A' ... 'Z'] = true,
                                         ['0' ... '9'] = true, ['_'] = true,
                                         ['-'] = true,         ['*'] = true};
    size_t n = 0;

    while (n < s.n && is_in_name[(unsigned char)s.p[n]])
        n++;
    return n;
}

struct str permission_pattern_tool(struct str pattern)
{
    size_t open = str_find_char(pattern, '(');

    return str_trim(open == STR_NONE ? pattern : str_slice(pattern, 0, open));
}

static bool split(struct str text, struct pattern *ret_pattern)
{
    size_t n = name_length(text);
    struct pattern p = {.text = text, .tool = str_slice(text, 0, n)};

    if (n == 0)
        return false;
    if (n < text.n) {
        p.argument = str_skip(text, n + 1);
        if (text.p[n] != '(' || p.argument.n < 2 || text.p[text.n - 1] != ')')
            return false;
        p.argument.n--;
    }
    *ret_pattern = p;
    return true;
}

/* A rule about a misspelt domain would deny nothing. */
bool pattern_parse(struct str text, struct pattern *ret_pattern)
{
    return split(text, ret_pattern) &&
           (pattern_takes_any(ret_pattern) || !str_is(ret_pattern->tool, TOOL_WEB_FETCH) ||
            web_pattern_is_valid(ret_pattern->argument));
}

struct pattern pattern_read(struct str text)
{
    struct pattern p;

    if (!pattern_parse(text, &p))
        p = (struct pattern){
            .text = text, .tool = permission_pattern_tool(text), .is_broken = true};
    return p;
}

bool permission_pattern_is_valid(struct str pattern)
{
    struct pattern p;

    return pattern_parse(pattern, &p);
}

const char *permission_pattern_hint(struct arena *a, struct str pattern)
{
    struct pattern p;
    struct str meant;

    if (!split(pattern, &p) || !str_is(p.tool, TOOL_WEB_FETCH))
        return "a rule is a tool's name, or one with a pattern: Read, Bash(git *)";
    if (web_pattern_guess(a, p.argument, &meant))
        return arena_format(a, "write " TOOL_WEB_FETCH "(%" STR_FMT ")", STR_ARG(meant)).p;
    return "write " TOOL_WEB_FETCH "(domain:example.com), or addresses: " TOOL_WEB_FETCH
           "(https://example.com/docs/*)";
}

/* --- matching --- */

static const struct json *permission_value(const struct subject *s)
{
    return s->tool->permission_arg ? json_get(s->args, s->tool->permission_arg) : NULL;
}

static bool names_tool(struct str name, const struct tool *tool)
{
    struct str tool_name = str_of(tool->name);

    if (str_eq(name, tool_name))
        return true;
    if (str_find_char(name, '*') != STR_NONE && wildcard_matches(name, tool_name))
        return true;
    return mcp_name_has_tool(name, tool_name);
}

/* NULL: the call runs no command. */
static const struct json *command_of(const struct subject *s)
{
    const struct json *value = permission_value(s);

    return str_is(str_of(s->tool->permission_arg), "command") && json_is(value, JSON_STRING) ? value
                                                                                             : NULL;
}

void subject_split_command(struct subject *s, struct arena *a)
{
    const struct json *line = command_of(s);
    struct command_line *c;

    if (!line)
        return;
    s->command = s->prepared ? s->prepared->command : NULL;
    if (!s->command) {
        c = ARENA_NEW(a, struct command_line);
        command_init(c, a, line->text, s->other_shell);
        s->command = c;
    }
}

static enum match match_command(struct str pattern, const struct subject *s, enum reading reading)
{
    AUTO(arena) struct arena a = {0};
    struct subject split = *s;

    if (!split.command)
        subject_split_command(&split, &a);
    return command_match(pattern, split.command, reading);
}

static enum match match_argument(struct str pattern, const struct subject *s, enum reading reading)
{
    struct str name = str_of(s->tool->permission_arg);
    const struct json *value = permission_value(s);

    if (subject_takes_path(s))
        return path_match(pattern, s, reading);
    if (!json_is(value, JSON_STRING))
        return reading == READ_WIDELY ? MATCH_UNCLEAR : MATCH_NO;
    if (str_is(name, "command"))
        return match_command(pattern, s, reading);
    if (str_is(name, "url"))
        return web_match(pattern, value->text, reading);
    return wildcard_matches(pattern, value->text) ? MATCH_YES : MATCH_NO;
}

/* A path rule for another tool that also applies to this tool. */
static bool extends_to(const struct pattern *p, const struct subject *s)
{
    if (p->argument.n == 0)
        return false;
    if (command_of(s))
        return str_is(p->tool, "Read") || str_is(p->tool, "Edit") || str_is(p->tool, "Write");
    return str_is(p->tool, "Read") || (str_is(p->tool, "Edit") && s->tool->risk == RISK_MODIFY);
}

/* Matches the files that a command redirects to. */
static enum match match_redirections(const struct pattern *p, const struct subject *s)
{
    AUTO(arena) struct arena a = {0};
    struct subject split = *s;
    struct str argument = pattern_takes_any(p) ? S("//") : p->argument;

    if (!split.command)
        subject_split_command(&split, &a);
    return command_match_files(argument, &split, /* writes_only= */ !str_is(p->tool, "Read"));
}

static enum match match_path_of_other(const struct pattern *p, const struct subject *s)
{
    AUTO(arena) struct arena a = {0};

    if (command_of(s))
        return match_redirections(p, s);
    if (!s->names && !subject_takes_path(s) && !subject_path(s, &a))
        return MATCH_NO;
    return pattern_takes_any(p) ? MATCH_YES : path_match(p->argument, s, READ_WIDELY);
}

enum match pattern_match(const struct pattern *p, const struct subject *s, enum reading reading)
{
    bool is_named = names_tool(p->tool, s->tool);

    if (p->is_broken)
        return reading == READ_WIDELY && is_named ? MATCH_UNCLEAR : MATCH_NO;
    if (is_named) {
        if (pattern_takes_any(p))
            return MATCH_YES;
        return s->command ? command_match(p->argument, s->command, reading)
                          : match_argument(p->argument, s, reading);
    }
    if (reading == READ_WIDELY && extends_to(p, s))
        return match_path_of_other(p, s);
    return MATCH_NO;
}

bool pattern_cover(const struct pattern *p, const struct subject *s, struct command_cover *cover)
{
    return !p->is_broken && names_tool(p->tool, s->tool) && p->argument.n &&
           command_cover_add(cover, p->argument);
}

bool permission_pattern_matches(struct str pattern, const struct tool *tool,
                                const struct json *args, const struct tool_state *state)
{
    struct subject s = {.tool = tool, .args = args, .state = state};
    struct pattern p = pattern_read(pattern);

    return pattern_match(&p, &s, READ_NARROWLY) == MATCH_YES;
}

/* --- the other way round --- */

/* Asks about a host once. */
static bool pattern_of_request(const struct subject *s, struct arena *a, struct str *ret_pattern)
{
    struct str host;

    if (!web_host(a, json_str(permission_value(s)), &host))
        return false;
    *ret_pattern = arena_format(a, "%s(host:%" STR_FMT ")", s->tool->name, STR_ARG(host));
    return true;
}

bool pattern_of_call(const struct subject *s, struct arena *a, struct str *ret_pattern)
{
    struct str name = str_of(s->tool->permission_arg);
    const struct json *value = permission_value(s);
    AUTO(strbuf) struct strbuf out = {0};
    const char *path;

    if (str_is(name, "url"))
        return pattern_of_request(s, a, ret_pattern);
    if (!name.n || s->tool->risk == RISK_NETWORK) { /* a search does not choose its host */
        *ret_pattern = arena_str(a, str_of(s->tool->name));
        return true;
    }
    strbuf_addf(&out, "%s(", s->tool->name);
    if (subject_takes_path(s) && (path = subject_path(s, a)))
        path_add_exact(&out, str_of(path));
    else if (json_is(value, JSON_STRING) && str_trim(value->text).n)
        wildcard_add_escaped(&out, str_is(name, "command") ? str_trim(value->text) : value->text);
    else
        return false;
    strbuf_add_char(&out, ')');
    *ret_pattern = arena_str(a, strbuf_str(&out));
    return true;
}

void pattern_add_look(struct strbuf *out, const struct place *place)
{
    strbuf_add_cstr(out, "Read(");
    path_add_exact(out, str_of(place->real));
    strbuf_add_cstr(out, !place->is_dir ? ")" : place->real[1] ? "/**)" : "**)");
}
