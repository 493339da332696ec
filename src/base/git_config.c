/* git_config.c - reads git's configuration files. */
#include "base/git_config.h"

#include "base/ascii.h"
#include "base/strbuf.h"

/* --- reading --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_key_char(char c)
{
    return ascii_is_alnum(c) || c == '-';
}

static char next_char(struct git_reader *r)
{
    return r->rest.n ? r->rest.p[0] : '\n';
}

static void skip(struct git_reader *r, size_t n)
{
    r->rest = str_skip(r->rest, n);
}

static void skip_line(struct git_reader *r)
{
    size_t end = str_find_char(r->rest, '\n');

    skip(r, end == STR_NONE ? r->rest.n : end + 1);
}

static void skip_blanks(struct git_reader *r)
{
    while (r->rest.n && is_blank(next_char(r)))
        skip(r, 1);
}

/* Reads up to the closing quote; *ret_text is in the arena. */
static bool read_quoted(struct git_reader *r, struct str *ret_text)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (skip(r, 1); r->rest.n && next_char(r) != '"'; skip(r, 1)) {
        if (next_char(r) == '\\')
            skip(r, 1);
        if (next_char(r) == '\n')
            return false;
        strbuf_add_char(&text, next_char(r));
    }
    if (!r->rest.n)
        return false;
    skip(r, 1);
    *ret_text = arena_str(r->arena, strbuf_str(&text));
    return true;
}

/* [name], [name "more"], [name.more] */
static bool read_section(struct git_reader *r)
{
    size_t n = 1, dot;

    while (n < r->rest.n && (is_key_char(r->rest.p[n]) || r->rest.p[n] == '.'))
        n++;
    r->section = str_slice(r->rest, 1, n - 1);
    r->subsection = (struct str){0};
    dot = str_find_char(r->section, '.');
    if (dot != STR_NONE) {
        r->subsection = str_skip(r->section, dot + 1);
        r->section = str_slice(r->section, 0, dot);
    }
    skip(r, n);
    skip_blanks(r);
    if (next_char(r) == '"' && !read_quoted(r, &r->subsection))
        return false;
    if (next_char(r) != ']')
        return false;
    skip(r, 1);
    return true;
}

/* One character after a backslash in a value; false if git does not know it. */
static bool add_escaped(struct git_reader *r, struct strbuf *value)
{
    static const char letters[] = "ntb\\\"", meant[] = "\n\t\b\\\"";
    const char *at;

    if (next_char(r) == '\r' && r->rest.n > 1 && r->rest.p[1] == '\n')
        skip(r, 1);
    if (next_char(r) == '\n') {
        skip(r, 1); /* it continues in the next line */
        return true;
    }
    at = strchr(letters, next_char(r));
    if (!at || !*at)
        return false;
    strbuf_add_char(value, meant[at - letters]);
    skip(r, 1);
    return true;
}

static bool read_value(struct git_reader *r, struct strbuf *value)
{
    size_t n_kept = 0; /* blanks at the end are not part of it */
    bool quoted = false;

    while (r->rest.n && next_char(r) != '\n') {
        char c = next_char(r);

        if (!quoted && (c == '#' || c == ';'))
            break;
        skip(r, 1);
        if (c == '\\') {
            if (!add_escaped(r, value))
                return false;
        } else if (c == '"') {
            quoted = !quoted;
        } else {
            strbuf_add_char(value, c);
        }
        if (quoted || !is_blank(c))
            n_kept = value->n;
    }
    if (value->n > n_kept)
        strbuf_cut(value, n_kept);
    skip_line(r);
    return !quoted;
}

static bool read_setting(struct git_reader *r, struct git_setting *ret)
{
    AUTO(strbuf) struct strbuf value = {0};
    size_t n = 0;

    while (n < r->rest.n && is_key_char(r->rest.p[n]))
        n++;
    if (n == 0 || r->section.n == 0)
        return false;
    *ret = (struct git_setting){r->section, r->subsection, str_slice(r->rest, 0, n), {0}};
    skip(r, n);
    skip_blanks(r);
    if (next_char(r) == '=') {
        skip(r, 1);
        skip_blanks(r);
        if (!read_value(r, &value))
            return false;
        ret->value = arena_str(r->arena, strbuf_str(&value));
        return true;
    }
    if (next_char(r) != '\n' && next_char(r) != '#' && next_char(r) != ';')
        return false;
    skip_line(r);
    return true;
}

bool git_config_next(struct git_reader *r, struct git_setting *ret_setting)
{
    while (!r->is_bad) {
        while (r->rest.n && (is_blank(next_char(r)) || next_char(r) == '\n'))
            skip(r, 1);
        if (!r->rest.n)
            return false;
        if (next_char(r) == '#' || next_char(r) == ';')
            skip_line(r);
        else if (next_char(r) == '[')
            r->is_bad = !read_section(r);
        else if (read_setting(r, ret_setting))
            return true;
        else
            r->is_bad = true;
    }
    return false;
}

/* --- meaning --- */

struct name {
    const char *section, *key; /* "*": any */
};

static bool is_named(const struct git_setting *s, const struct name *name)
{
    return str_eq_nocase(s->section, str_of(name->section)) &&
           (name->key[0] == '*' || str_eq_nocase(s->key, str_of(name->key)));
}

static bool is_one_of(const struct git_setting *s, const struct name *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_named(s, &names[i]))
            return true;
    return false;
}

/* What git itself writes, and what people set in a new repository. */
static const struct name harmless[] = {
    {"core", "repositoryformatversion"},
    {"core", "filemode"},
    {"core", "bare"},
    {"core", "logallrefupdates"},
    {"core", "ignorecase"},
    {"core", "precomposeunicode"},
    {"core", "symlinks"},
    {"core", "autocrlf"},
    {"core", "eol"},
    {"core", "quotepath"},
    {"advice", "*"},
    {"branch", "merge"},
    {"branch", "rebase"},
    {"branch", "remote"},
    {"commit", "gpgsign"},
    {"extensions", "objectformat"},
    {"extensions", "refstorage"},
    {"gc", "auto"},
    {"init", "defaultbranch"},
    {"merge", "conflictstyle"},
    {"pull", "ff"},
    {"pull", "rebase"},
    {"push", "default"},
    {"receive", "denycurrentbranch"},
    {"remote", "fetch"},
    {"remote", "mirror"},
    {"remote", "tagopt"},
    {"remote", "url"},
    {"submodule", "active"},
    {"submodule", "url"},
    {"tag", "gpgsign"},
    {"user", "email"},
    {"user", "name"},
};

bool git_config_is_plain(struct str text)
{
    AUTO(arena) struct arena arena = {0};
    struct git_reader r = {.rest = text, .arena = &arena};
    struct git_setting s;

    while (git_config_next(&r, &s))
        if (!is_one_of(&s, harmless, ARRAY_LEN(harmless)))
            return false;
    return !r.is_bad;
}

static bool is_set_in(struct str text, const struct git_setting *wanted, struct arena *arena)
{
    struct git_reader r = {.rest = text, .arena = arena};
    struct git_setting s;

    while (git_config_next(&r, &s))
        if (str_eq_nocase(s.section, wanted->section) && str_eq_nocase(s.key, wanted->key) &&
            str_eq(s.subsection, wanted->subsection) && str_eq(s.value, wanted->value))
            return true;
    return false;
}

bool git_config_adds_nothing(struct str before, struct str now)
{
    AUTO(arena) struct arena arena = {0};
    struct git_reader r = {.rest = now, .arena = &arena};
    struct git_setting s;

    while (git_config_next(&r, &s))
        if (!is_one_of(&s, harmless, ARRAY_LEN(harmless)) && !is_set_in(before, &s, &arena))
            return false;
    return !r.is_bad;
}

static const struct name commands[] = {
    {"alias", "*"},
    {"annex", "*"},
    {"browser", "*"},
    {"core", "alternaterefscommand"},
    {"core", "askpass"},
    {"core", "editor"},
    {"core", "fsmonitor"},
    {"core", "gitproxy"},
    {"core", "pager"},
    {"core", "sshcommand"},
    {"credential", "helper"},
    {"diff", "command"},
    {"diff", "external"},
    {"diff", "textconv"},
    {"difftool", "*"},
    {"filter", "*"},
    {"gc", "recentobjectshook"},
    {"gpg", "program"},
    {"gpg", "defaultkeycommand"},
    {"guitool", "cmd"},
    {"hook", "command"},
    {"imap", "tunnel"},
    {"instaweb", "*"},
    {"interactive", "difffilter"},
    {"lfs", "*"},
    {"man", "*"},
    {"merge", "driver"},
    {"mergetool", "*"},
    {"pager", "*"},
    {"receive", "procreceiverefs"},
    {"remote", "receivepack"},
    {"remote", "uploadpack"},
    {"sendemail", "*"},
    {"sequence", "editor"},
    {"submodule", "update"},
    {"tar", "*"},
    {"trailer", "cmd"},
    {"trailer", "command"},
    {"uploadpack", "packobjectshook"},
    {"web", "browser"},
};

enum git_use git_setting_use(const struct git_setting *s)
{
    static const struct name hooks[] = {{"core", "hookspath"}, {"init", "templatedir"}};
    static const struct name configs[] = {{"include", "path"}, {"includeif", "path"}};
    static const struct name tree = {"core", "worktree"};

    if (is_one_of(s, hooks, ARRAY_LEN(hooks)))
        return GIT_USE_HOOKS;
    if (is_one_of(s, configs, ARRAY_LEN(configs)))
        return GIT_USE_CONFIG;
    if (is_named(s, &tree))
        return GIT_USE_TREE;
    return is_one_of(s, commands, ARRAY_LEN(commands)) ? GIT_USE_COMMAND : GIT_USE_NONE;
}
