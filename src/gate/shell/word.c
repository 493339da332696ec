/* word.c - reads one word: its end, and the known parts of it. */
#include "gate/shell/parser.h"

void builder_add(struct word_builder *b, char c)
{
    b->holds_signs |= c == '$' || c == '`';
    if (!b->is_cut)
        strbuf_add_char(&b->text, c);
}

void builder_add_anything(struct word_builder *b)
{
    b->is_unknown = b->may_hold_slash = true;
    builder_add(b, SHELL_ANYTHING);
}

void splitter_note(struct splitter *s, const struct word_builder *b)
{
    s->holds_signs |= b->holds_signs;
}

/* The names that a pattern of files expands to, from here on. */
static void add_file_names(struct parser *p, struct word_builder *b)
{
    p->out->takes_text = true;
    b->is_unknown = true;
    builder_add(b, SHELL_ANYTHING);
    b->is_cut = true;
}

static size_t name_length(struct str s)
{
    size_t n = 0;

    while (n < s.n && shell_is_name_char(s.p[n], n == 0))
        n++;
    return n;
}

bool shell_is_harmless_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!shell_is_name_char(name.p[i], i == 0) || (name.p[i] >= 'A' && name.p[i] <= 'Z'))
            return false;
    return name.n && !str_ends(name, S("_proxy"));
}

/* Looks at the end first, so that a word with many brackets is not searched for each of them. */
static bool is_name(struct str s)
{
    return s.n && shell_is_name_char(s.p[s.n - 1], /* is_first= */ false) && name_length(s) == s.n;
}

size_t shell_assignment_head(struct str word)
{
    size_t n = name_length(word);

    if (n && n < word.n && word.p[n] == '[') {
        size_t close = str_find_char(str_skip(word, n), ']');

        if (close == STR_NONE)
            return 0;
        n += close + 1;
    }
    if (n && n < word.n && word.p[n] == '+')
        n++;
    return n && n < word.n && word.p[n] == '=' ? n + 1 : 0;
}

/* --- parts of words --- */

static bool is_end(const struct parser *p)
{
    char c = parser_char(p, 0);

    if (parser_is_at_end(p))
        return true;
    return shell_is_meta(c) && !((c == '<' || c == '>') && parser_char(p, 1) == '(');
}

/* At the bracket of "a[ ... ]=": blanks and operators in it do not separate. */
static void subscript(struct parser *p, struct word_builder *b)
{
    size_t start = p->at;
    unsigned n_open = 0;

    p->out->evaluates_text = p->out->computes = true;
    while (!parser_is_at_end(p)) {
        char c = parser_char(p, 0);

        if (c == '$') {
            parser_dollar(p, b, NOT_QUOTED);
            continue;
        }
        if (c == '`') {
            parser_backquoted(p, NOT_QUOTED);
            builder_add_anything(b);
            continue;
        }
        /* Without blanks it does not matter whether it is a subscript. */
        if (c == '\'' || c == '"' || c == '\\' || shell_is_meta(c) || c == '#')
            splitter_doubt(p->out);
        n_open += c == '[';
        n_open -= c == ']';
        builder_add(b, c);
        p->at++;
        if (n_open > 0)
            continue;
        splitter_note_computed(p->out, str_slice(p->src, start, p->at - start));
        if (parser_char(p, 0) != '=' && (parser_char(p, 0) != '+' || parser_char(p, 1) != '='))
            splitter_doubt(p->out); /* "cur[l]": a pattern of file names after all */
        return;
    }
    splitter_doubt(p->out);
}

/* At the parenthesis of "a=( ... )". */
static void list_of_values(struct parser *p, struct word_builder *b)
{
    p->at++;
    builder_add_anything(b);
    for (;;) {
        char c;

        parser_skip_blanks(p);
        c = parser_char(p, 0);
        if (parser_is_at_end(p)) {
            splitter_doubt(p->out);
            return;
        }
        if (c == ')') {
            p->at++;
            return;
        }
        if (c == '\n') {
            if (p->n_pending)
                splitter_doubt(p->out);
            p->at++;
        } else if (is_end(p)) {
            splitter_doubt(p->out);
            return;
        } else {
            struct shell_word value;

            if (c == '[') /* "[i]=x" has its own rules */
                splitter_doubt(p->out);
            value = parser_word(p, /* may_assign= */ false);
            splitter_note_value(p->out, value.source, value.text);
        }
    }
}

/* At an unquoted backslash. */
static void escaped(struct parser *p, struct word_builder *b)
{
    if (parser_is_at_join(p)) {
        char next = parser_char(p, 2);

        p->at += 2;
        if (next && !shell_is_blank(next) && next != '\n')
            splitter_doubt(p->out); /* half a keyword, half an operator: bash joins them first */
        return;
    }
    if (p->at + 1 >= p->src.n)
        splitter_doubt(p->out);
    else
        builder_add(b, parser_char(p, 1));
    p->at = MIN(p->at + 2, p->src.n);
}

static void tilde(struct parser *p, struct word_builder *b)
{
    char next = parser_char(p, 1);

    p->at++;
    if (next == '/' || next == '\0' || shell_is_meta(next))
        builder_add(b, '~');
    else
        builder_add_anything(b);
}

/* "[a-z]". A word that is only a bracket is a program. */
static void bracket(struct parser *p, struct word_builder *b, bool is_first)
{
    char next = parser_char(p, 1);

    p->at++;
    if (is_first && (next == '\0' || shell_is_meta(next)))
        builder_add(b, '[');
    else
        add_file_names(p, b);
}

/* "{a,b}". "{" and "{}" are literal. */
static void brace(struct parser *p, struct word_builder *b)
{
    char next = parser_char(p, 1);

    p->at++;
    if (next == '}' || next == '\0' || shell_is_meta(next)) {
        builder_add(b, '{');
        return;
    }
    builder_add_anything(b);
    b->is_cut = true;
}

/* --- the word --- */

static void part(struct parser *p, struct word_builder *b, size_t start, bool may_assign)
{
    char c = parser_char(p, 0);
    struct str so_far = str_slice(p->src, start, p->at - start);

    switch (c) {
    case '\'':
        p->at++;
        parser_single_quoted(p, b);
        return;
    case '"':
        p->at++;
        parser_double_quoted(p, b);
        return;
    case '\\':
        escaped(p, b);
        return;
    case '$':
        parser_dollar(p, b, NOT_QUOTED);
        return;
    case '`':
        parser_backquoted(p, NOT_QUOTED);
        builder_add_anything(b);
        return;
    case '<':
    case '>':
        p->at += 2;
        parser_substitution(p);
        builder_add_anything(b);
        return;
    case '*':
    case '?':
        p->at++;
        add_file_names(p, b);
        return;
    case '[':
        if (may_assign && is_name(so_far))
            subscript(p, b);
        else
            bracket(p, b, so_far.n == 0);
        return;
    case '{':
        brace(p, b);
        return;
    case '~':
        if (so_far.n == 0) {
            tilde(p, b);
            return;
        }
        break;
    case '=':
        p->at++;
        builder_add(b, c);
        so_far.n++;
        if (may_assign && parser_char(p, 0) == '(' && shell_assignment_head(so_far) == so_far.n)
            list_of_values(p, b);
        return;
    default:
        break;
    }
    p->at++;
    builder_add(b, c);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '/' || c == '_' || c == ':' || c == ',' || c == '%' || c == '@';
}

/* A quoted substitution is plain text until something evaluates that text. */
static void note_code(struct splitter *s, struct str text)
{
    if (str_find_char(text, '`') != STR_NONE || str_find(text, S("$(")) != STR_NONE)
        s->holds_code = true;
}

/* Bash turns any value of these into a number, whether set by "=", "read" or a loop. */
static bool is_number(struct str text)
{
    static const char *const names[] = {"HISTCMD", "LINENO",  "OPTIND",
                                        "RANDOM",  "SECONDS", "SRANDOM"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);

        if (str_starts(text, str_of(names[i])) && (text.n == n || strchr("=+[", text.p[n])))
            return true;
    }
    return false;
}

static bool may_be_number(struct str text)
{
    return text.n && strchr("HLORS", text.p[0]) && is_number(text);
}

struct shell_word parser_word(struct parser *p, bool may_assign)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct word_builder b = {0};
    size_t start = p->at;
    struct shell_word word;

    while (!parser_is_at_end(p) && is_plain(parser_char(p, 0)))
        p->at++;
    word.source = word.text = str_slice(p->src, start, p->at - start);
    word.is_known = true;
    word.may_hold_slash = false;
    p->out->computes |= may_be_number(word.text);
    if (is_end(p))
        return word; /* as most words are */

    strbuf_add(&b.text, word.text);
    while (!is_end(p))
        part(p, &b, start, may_assign);
    text = b.text;
    word.source = str_slice(p->src, start, p->at - start);
    word.text = arena_str(p->out->arena, strbuf_str(&text));
    word.is_known = !b.is_unknown;
    word.may_hold_slash = b.may_hold_slash;
    p->out->computes |= may_be_number(word.text);
    note_code(p->out, word.text);
    splitter_note(p->out, &b);
    return word;
}
