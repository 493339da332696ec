/* expansion.c - finds the end of what begins with "$" or "`", and the commands in it. */
#include "gate/shell/parser.h"

void parser_substitution(struct parser *p)
{
    size_t n_pending = p->n_pending;

    p->out->takes_text = true;
    if (!splitter_enter(p->out)) {
        p->at = p->src.n;
        return;
    }
    if (n_pending) /* whose newline comes first is unknown */
        splitter_doubt(p->out);
    p->n_nested++;
    parser_commands(p, UNTIL_PAREN);
    p->n_nested--;
    splitter_leave(p->out);
}

void parser_backquoted(struct parser *p, enum quoting quoting)
{
    AUTO(strbuf) struct strbuf code = {0};

    p->out->takes_text = true;
    for (p->at++; !parser_is_at_end(p); p->at++) {
        char c = parser_char(p, 0), next = parser_char(p, 1);

        if (c == '`') {
            p->at++;
            splitter_read(p->out, arena_str(p->out->arena, strbuf_str(&code)));
            return;
        }
        if (c == '\n' && p->n_pending)
            splitter_doubt(p->out);
        if (c == '\\' && next) {
            bool is_removed = strchr("$`\\", next) || (next == '"' && quoting == IN_DOUBLE_QUOTES);

            if (!is_removed)
                strbuf_add_char(&code, c);
            c = next;
            p->at++;
        }
        strbuf_add_char(&code, c);
    }
    splitter_doubt(p->out);
}

/* --- arithmetic --- */

/* Bash looks for the end before it knows the commands inside, and may take their quotes for its
 * own. Then it is not arithmetic. */
static bool is_odd_arithmetic(struct str content)
{
    bool has_command =
        str_find(content, S("$(")) != STR_NONE || str_find_char(content, '`') != STR_NONE;

    for (size_t i = 0; i < content.n; i++)
        if (has_command && strchr("'\"\\\n#", content.p[i]))
            return true;
    return false;
}

/* "_", the last word of the command before, whatever it was. */
static bool is_last_argument(struct str content)
{
    for (size_t i = 0; i < content.n; i++)
        if (content.p[i] == '_' &&
            (i == 0 || !shell_is_name_char(content.p[i - 1], /* is_first= */ false)) &&
            (i + 1 == content.n || !shell_is_name_char(content.p[i + 1], /* is_first= */ false)))
            return true;
    return false;
}

void parser_arithmetic(struct parser *p)
{
    struct word_builder b = {.is_cut = true};
    struct str content;
    size_t start = p->at;
    unsigned n_open = 0;

    if (!splitter_enter(p->out)) {
        p->at = p->src.n;
        return;
    }
    while (!parser_is_at_end(p)) {
        char c = parser_char(p, 0);

        if (c == '$' || c == '`' || shell_is_name_char(c, /* is_first= */ true))
            p->out->computes = true;
        if (c == '$') {
            parser_dollar(p, &b, IN_DOUBLE_QUOTES);
            continue;
        }
        if (c == '`') {
            parser_backquoted(p, IN_DOUBLE_QUOTES);
            continue;
        }
        if (c == ')' && n_open == 0)
            break;
        if (c == '\'' || c == '"' || c == '\\' || (c == '\n' && p->n_pending))
            splitter_doubt(p->out);
        if (shell_is_name_char(c, /* is_first= */ true))
            p->out->evaluates_text = true;
        n_open += c == '(';
        n_open -= c == ')';
        p->at++;
    }
    content = str_slice(p->src, start, p->at - start);
    splitter_note_computed(p->out, content);
    p->out->takes_text |= str_find(content, S("BASH")) != STR_NONE || is_last_argument(content);
    /* A single parenthesis: it was a subshell in a substitution, not arithmetic. */
    if (parser_char(p, 0) != ')' || parser_char(p, 1) != ')' || is_odd_arithmetic(content))
        splitter_doubt(p->out);
    p->at = MIN(p->at + 2, p->src.n);
    splitter_leave(p->out);
}

/* --- ${...} --- */

/* In "${x:-'a'}" the context decides whether the quotes quote. */
static void quote_in_braces(struct parser *p, struct word_builder *b, enum quoting quoting)
{
    char c = parser_char(p, 0);

    p->at++;
    if (c == '\'') {
        if (quoting == NOT_QUOTED)
            parser_single_quoted(p, b);
        else
            splitter_doubt(p->out);
        return;
    }
    if (quoting == IN_HERE_DOCUMENT)
        splitter_doubt(p->out);
    parser_double_quoted(p, b);
}

/* Variables that bash sets to the text of the line or the name of a directory. */
static bool is_set_by_bash(struct str name)
{
    return str_starts(name, S("BASH")) || str_is(name, "_") || str_is(name, "PWD") ||
           str_is(name, "OLDPWD") || str_is(name, "DIRSTACK") || str_is(name, "REPLY");
}

static struct str first_name(struct str text)
{
    size_t n = 0;

    while (n < text.n && shell_is_name_char(text.p[n], n == 0))
        n++;
    return str_slice(text, 0, n);
}

static bool has_only(struct str text, const char *chars)
{
    for (size_t i = 0; i < text.n; i++)
        if (!text.p[i] || !strchr(chars, text.p[i]))
            return false;
    return true;
}

/* After the name: "[i]" and ":i" evaluate; "[@]", "[0]", ":0:7" and ":-x" do not. */
static bool rest_computes(struct str rest)
{
    if (str_starts(rest, S("["))) {
        size_t close = str_find_char(rest, ']');
        struct str index = str_slice(rest, 1, (close == STR_NONE ? rest.n : close) - 1);

        if (close == STR_NONE || (!has_only(index, "0123456789") && !has_only(index, "@*")))
            return true;
        rest = str_skip(rest, close + 1);
    }
    if (str_starts(rest, S("\\")))
        return true;
    return rest.n > 1 && rest.p[0] == ':' && !strchr("-=?+", rest.p[1]) &&
           !has_only(rest, "0123456789:- ");
}

static void note_computing(struct splitter *s, struct str content)
{
    struct str name, rest;

    if (str_starts(content, S("!")))
        s->computes = true;
    if (content.n > 1 && (content.p[0] == '!' || content.p[0] == '#'))
        content = str_skip(content, 1);
    name = first_name(content);
    rest = str_skip(content, name.n ? name.n : MIN(content.n, 1));
    s->computes |= rest_computes(rest);
    if (rest_computes(rest))
        splitter_note_computed(s, rest);
    if (str_starts(rest, S("=")) || str_starts(rest, S(":=")))
        splitter_note_value(s, str_skip(rest, str_find_char(rest, '=') + 1), (struct str){0});
    /* "${x@E}" turns "\x24" into a character. */
    s->takes_text |= is_set_by_bash(name) || str_starts(rest, S("@"));
}

/* "${x@P}" runs what is in x; "${!x}" and "${x[y]}" evaluate names. */
static void judge_braces(struct parser *p, struct str content)
{
    note_computing(p->out, content);
    if (str_ends(content, S("@P")) || content.n == 0 || shell_is_blank(content.p[0]) ||
        strchr("|(\n\\", content.p[0]))
        splitter_doubt(p->out);
    if (content.n && (content.p[0] == '!' || str_find_char(content, '[') != STR_NONE ||
                      str_find_char(content, ':') != STR_NONE))
        p->out->evaluates_text = true;
}

/* After "${". */
static void braces(struct parser *p, enum quoting quoting)
{
    struct word_builder b = {.is_cut = true};
    size_t start = p->at;

    if (!splitter_enter(p->out)) {
        p->at = p->src.n;
        return;
    }
    while (!parser_is_at_end(p)) {
        char c = parser_char(p, 0), next = parser_char(p, 1);

        if (c == '}')
            break;
        if (c == '\n' && p->n_pending)
            splitter_doubt(p->out);
        if (c == '\\') {
            builder_add(&b, next);
            p->at = MIN(p->at + 2, p->src.n);
        } else if (c == '$') {
            /* "$#" and "$}" in braces: a character or a name? */
            if (next == '}')
                splitter_doubt(p->out);
            parser_dollar(p, &b, quoting);
        } else if (c == '`') {
            parser_backquoted(p, quoting);
        } else if (c == '\'' || c == '"') {
            quote_in_braces(p, &b, quoting);
        } else {
            if ((c == '<' || c == '>') && next == '(')
                splitter_doubt(p->out);
            p->at++;
        }
    }
    splitter_note(p->out, &b);
    if (parser_is_at_end(p))
        splitter_doubt(p->out);
    judge_braces(p, str_slice(p->src, start, p->at - start));
    p->at = MIN(p->at + 1, p->src.n);
    splitter_leave(p->out);
}

/* --- $ --- */

/* At the text after "$"; false: not a parameter. */
static bool parameter(struct parser *p)
{
    char c = parser_char(p, 0);

    if (c && strchr("@*#?-$!0123456789", c)) {
        p->at++;
        /* When bash looks for the closing quote, it takes the second "$" of "$$(" for another
         * expansion. */
        if (c == '$' && parser_char(p, 0) && strchr("({[", parser_char(p, 0)))
            splitter_doubt(p->out);
        return true;
    }
    if (!shell_is_name_char(c, /* is_first= */ true))
        return false;
    p->out->takes_text |= is_set_by_bash(first_name(str_skip(p->src, p->at)));
    while (shell_is_name_char(parser_char(p, 0), /* is_first= */ false))
        p->at++;
    return true;
}

static void parentheses(struct parser *p)
{
    parser_take(p);
    if (parser_char(p, 0) != '(') {
        parser_substitution(p);
        return;
    }
    p->at++;
    parser_arithmetic(p);
}

void parser_dollar(struct parser *p, struct word_builder *b, enum quoting quoting)
{
    char next;

    parser_take(p);
    next = parser_char(p, 0);
    if (next == '(') {
        parentheses(p);
    } else if (next == '{') {
        parser_take(p);
        braces(p, quoting);
    } else if (next == '[') {
        splitter_doubt(p->out); /* old arithmetic syntax */
    } else if (next == '\'' && quoting == NOT_QUOTED) {
        p->at++;
        parser_ansi_quoted(p, b);
        return;
    } else if (next == '"' && quoting == NOT_QUOTED) {
        struct word_builder translated = {.is_cut = true};

        p->at++;
        parser_double_quoted(p, &translated);
        splitter_note(p->out, &translated);
    } else if (!parameter(p)) {
        builder_add(b, '$');
        return;
    }
    builder_add_anything(b);
}
