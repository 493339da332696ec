/* parse.c - the grammar: where commands start and end.
 *
 * It accepts more than bash does: it skips keywords that only introduce the next command, and does
 * not match a "fi" to its "if". What bash rejects does not run. */
#include "gate/shell/parser.h"

void parser_skip_blanks(struct parser *p)
{
    for (;;) {
        char c = parser_char(p, 0);

        if (shell_is_blank(c)) {
            p->at++;
        } else if (parser_is_at_join(p)) {
            p->at += 2;
        } else if (c == '#') {
            while (!parser_is_at_end(p) && parser_char(p, 0) != '\n')
                p->at++;
        } else {
            return;
        }
    }
}

static void take_newline(struct parser *p)
{
    p->at++;
    parser_here_bodies(p);
}

static void skip_lines(struct parser *p)
{
    parser_skip_blanks(p);
    while (parser_char(p, 0) == '\n') {
        take_newline(p);
        parser_skip_blanks(p);
    }
}

static bool is_at_word(const struct parser *p)
{
    char c = parser_char(p, 0);

    return !parser_is_at_end(p) &&
           (!shell_is_meta(c) || ((c == '<' || c == '>') && parser_char(p, 1) == '('));
}

static bool is_at_redirection(const struct parser *p)
{
    char c = parser_char(p, 0), next = parser_char(p, 1);

    return c == '<' || c == '>' ? next != '(' : c == '&' && next == '>';
}

/* The unread text up to the next operator. Keywords have no quotes. */
static struct str peek_word(const struct parser *p)
{
    size_t n = 0;

    while (p->at + n < p->src.n && !shell_is_meta(parser_char(p, n)))
        n++;
    return str_slice(p->src, p->at, n);
}

static bool take_keyword(struct parser *p, const char *word)
{
    struct str found = peek_word(p);

    if (!str_is(found, word))
        return false;
    p->at += found.n;
    return true;
}

static bool is_one_of(struct str word, const char *const *words)
{
    for (; *words; words++)
        if (str_is(word, *words))
            return true;
    return false;
}

/* --- simple commands --- */

struct simple {
    struct shell_word *words;
    size_t n, room, n_assignments;
    bool may_assign; /* the program takes assignments as its arguments */
};

static bool takes_assignments(struct str program)
{
    static const char *const names[] = {"declare",  "typeset", "local", "export",
                                        "readonly", "alias",   NULL};

    return is_one_of(program, names);
}

/* Sets a variable without an assignment. */
static void note_variable(struct parser *p, struct str name)
{
    if (!shell_is_harmless_name(name))
        p->out->split->changes_names = true;
}

static void note_assignment(struct parser *p, const struct shell_word *word)
{
    size_t n = shell_assignment_head(word->source), equals = str_find_char(word->text, '=');

    if (n)
        splitter_note_value(p->out, str_skip(word->source, n), str_skip(word->text, equals + 1));
}

/* "{fd}", but not "{a,b}". */
static bool is_named_descriptor(struct str source)
{
    if (source.n < 3 || source.p[0] != '{' || source.p[source.n - 1] != '}')
        return false;
    for (size_t i = 1; i + 1 < source.n; i++)
        if (!shell_is_name_char(source.p[i], i == 1))
            return false;
    return true;
}

/* "2" or "{fd}" before an operator belongs to the redirection. */
static bool is_descriptor(struct parser *p, struct str source)
{
    if (!is_at_redirection(p) || parser_char(p, 0) == '&')
        return false;
    if (is_named_descriptor(source)) {
        note_variable(p, str_slice(source, 1, source.n - 2));
        return true;
    }
    for (size_t i = 0; i < source.n; i++)
        if (source.p[i] < '0' || source.p[i] > '9')
            return false;
    return true;
}

static void simple_word(struct parser *p, struct simple *c)
{
    bool has_program = c->n > c->n_assignments;
    struct shell_word word = parser_word(p, !has_program || c->may_assign);

    if (is_descriptor(p, word.source))
        return;
    /* "{a[i]}>f" stores a descriptor in an element, whose index is evaluated. */
    if (is_at_redirection(p) && str_starts(word.source, S("{")) &&
        str_find_char(word.source, '[') != STR_NONE)
        splitter_doubt(p->out);
    c->words = arena_grow(p->out->arena, c->words, c->n, &c->room, sizeof word);
    c->words[c->n++] = word;
    if (!has_program || c->may_assign)
        note_assignment(p, &word);
    if (!has_program && shell_assignment_head(word.source))
        c->n_assignments++;
    else if (!has_program)
        c->may_assign = takes_assignments(word.text);
}

/* At "(" after words: is it "f ()"? Otherwise bash rejects it by default. */
static bool take_definition(struct parser *p, const struct simple *c)
{
    size_t start = p->at;

    p->at++;
    parser_skip_blanks(p);
    if (c->n == 1 && c->n_assignments == 0 && parser_char(p, 0) == ')') {
        p->at++;
        p->out->split->changes_names = true;
        return true;
    }
    splitter_doubt(p->out);
    p->at = start;
    return false;
}

/* In "$(<f ! a)" bash rewrites the command with the redirection last, and parses that. */
static bool is_misplaced_keyword(struct str program)
{
    static const char *const words[] = {
        "if",   "then", "elif", "else", "fi", "while",  "do", "done",     "for",    "until",
        "case", "esac", "{",    "}",    "!",  "select", "[[", "function", "coproc", NULL};

    return is_one_of(program, words);
}

static void simple_command(struct parser *p)
{
    struct simple c = {0};

    for (;;) {
        parser_skip_blanks(p);
        if (is_at_redirection(p))
            parser_redirection(p);
        else if (is_at_word(p))
            simple_word(p, &c);
        else
            break;
    }
    if (c.n == 0 || (parser_char(p, 0) == '(' && take_definition(p, &c)))
        return;
    if (c.n_assignments == 0 && is_misplaced_keyword(c.words[0].source))
        splitter_doubt(p->out);
    splitter_add(p->out, c.words, c.n, c.n_assignments);
}

/* --- compound commands --- */

/* After "for" or "select". */
static void for_loop(struct parser *p)
{
    struct shell_word name;

    parser_skip_blanks(p);
    if (parser_char(p, 0) == '(' && parser_char(p, 1) == '(') {
        p->at += 2;
        parser_arithmetic(p);
        return;
    }
    if (!is_at_word(p)) {
        splitter_doubt(p->out);
        return;
    }
    name = parser_word(p, /* may_assign= */ false);
    note_variable(p, name.text);
    skip_lines(p);
    if (!take_keyword(p, "in"))
        return;
    for (parser_skip_blanks(p); is_at_word(p); parser_skip_blanks(p)) {
        struct shell_word value = parser_word(p, /* may_assign= */ false);

        splitter_note_value(p->out, value.source, value.text);
    }
}

/* At the patterns of an item; stops after their parenthesis. */
static bool case_patterns(struct parser *p)
{
    if (parser_char(p, 0) == '(')
        parser_take(p);
    for (;;) {
        parser_skip_blanks(p);
        if (parser_char(p, 0) == ')') {
            parser_take(p);
            return true;
        }
        if (parser_char(p, 0) == '|') {
            p->at++;
        } else if (is_at_word(p)) {
            parser_word(p, /* may_assign= */ false);
        } else {
            splitter_doubt(p->out);
            return false;
        }
    }
}

/* ";;", ";&" or ";;&". */
static void take_item_end(struct parser *p)
{
    if (parser_char(p, 0) != ';')
        return;
    p->at += 2;
    if (p->src.p[p->at - 1] == ';' && parser_char(p, 0) == '&')
        p->at++;
    if (parser_is_at_join(p))
        splitter_doubt(p->out);
}

/* After "case". */
static void case_command(struct parser *p)
{
    parser_skip_blanks(p);
    if (is_at_word(p))
        parser_word(p, /* may_assign= */ false);
    skip_lines(p);
    if (!take_keyword(p, "in") || !splitter_enter(p->out)) {
        splitter_doubt(p->out);
        return;
    }
    for (;;) {
        skip_lines(p);
        if (take_keyword(p, "esac") || !case_patterns(p))
            break;
        parser_commands(p, UNTIL_ITEM_END);
        if (parser_is_at_end(p))
            break;
        take_item_end(p);
    }
    splitter_leave(p->out);
}

/* After "function". */
static void function_definition(struct parser *p)
{
    p->out->split->changes_names = true;
    parser_skip_blanks(p);
    if (!is_at_word(p)) {
        splitter_doubt(p->out);
        return;
    }
    parser_word(p, /* may_assign= */ false);
    parser_skip_blanks(p);
    if (parser_char(p, 0) != '(')
        return;
    parser_take(p);
    parser_skip_blanks(p);
    if (parser_char(p, 0) == ')')
        p->at++;
    else
        p->at--; /* "function f (x)": the body is a subshell */
}

/* After "coproc": a name may precede a compound command. */
static void coprocess(struct parser *p)
{
    static const char *const starts[] = {"{",    "if", "while",  "until", "for",
                                         "case", "[[", "select", NULL};
    size_t start;

    p->out->split->changes_names = true;
    parser_skip_blanks(p);
    start = p->at;
    p->at += peek_word(p).n;
    parser_skip_blanks(p);
    if (parser_char(p, 0) == '(')
        splitter_doubt(p->out);
    else if (!is_one_of(peek_word(p), starts))
        p->at = start;
}

/* Numbers are evaluated, and so is the name after "-v". */
static bool test_computes(struct str operator)
{
    static const char *const names[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R", NULL};

    return is_one_of(operator, names);
}

/* After "[[": operators do not separate commands here. */
static void test_command(struct parser *p)
{
    struct str source = str_skip(p->src, p->at);
    size_t start = p->at;
    bool computes = false;
    char before = ' ';

    p->out->evaluates_text = true;
    while (!parser_is_at_end(p)) {
        char c;

        parser_skip_blanks(p);
        if (p->at && shell_is_blank(p->src.p[p->at - 1]))
            before = ' ';
        c = parser_char(p, 0);
        if (str_is(peek_word(p), "]]")) {
            if (before == ')')
                splitter_doubt(p->out); /* the end of a pattern, or of all? */
            if (computes)
                splitter_note_computed(p->out, str_slice(source, 0, p->at - start));
            p->out->computes |= computes;
            p->at += 2;
            return;
        }
        if (c == '\n') {
            take_newline(p);
            before = ' ';
        } else if (c == ';' || parser_is_at_end(p)) {
            break;
        } else if (is_at_word(p)) {
            computes |= test_computes(parser_word(p, /* may_assign= */ false).text);
            before = 'x';
        } else {
            before = c;
            p->at++;
        }
    }
    splitter_doubt(p->out);
}

/* After "time". */
static void time_options(struct parser *p)
{
    parser_skip_blanks(p);
    if (take_keyword(p, "-p"))
        parser_skip_blanks(p);
    take_keyword(p, "--");
}

/* --- lists --- */

static const struct shell_keyword {
    const char *word;
    void (*read)(struct parser *p); /* what follows; NULL: a command */
} keywords[] = {
    {"if", NULL},
    {"then", NULL},
    {"elif", NULL},
    {"else", NULL},
    {"fi", NULL},
    {"while", NULL},
    {"until", NULL},
    {"do", NULL},
    {"done", NULL},
    {"{", NULL},
    {"}", NULL},
    {"!", NULL},
    {"esac", NULL},
    {"time", time_options},
    {"for", for_loop},
    {"select", for_loop},
    {"case", case_command},
    {"function", function_definition},
    {"coproc", coprocess},
    {"[[", test_command},
};

static const struct shell_keyword *find_keyword(struct str word)
{
    if (word.n == 0 || word.n > 8)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (str_is(word, keywords[i].word))
            return &keywords[i];
    return NULL;
}

/* At "(" where a command could start. */
static void subshell(struct parser *p)
{
    parser_take(p);
    if (parser_char(p, 0) == '(') {
        p->at++;
        parser_arithmetic(p);
        return;
    }
    if (!splitter_enter(p->out)) {
        p->at = p->src.n;
        return;
    }
    parser_commands(p, UNTIL_PAREN);
    splitter_leave(p->out);
}

/* At a separator of commands; true: the list ends before or with it. */
static bool take_separator(struct parser *p, enum until until)
{
    char c = parser_char(p, 0), next = parser_char(p, 1);

    if (c == ')') {
        p->at++;
        if (until != UNTIL_PAREN)
            splitter_doubt(p->out);
        return until == UNTIL_PAREN;
    }
    if (c == ';' && (next == ';' || next == '&')) {
        if (until == UNTIL_ITEM_END)
            return true;
        splitter_doubt(p->out);
    }
    p->is_piped = c == '|' && next != '|';
    if (next == c || (p->is_piped && next == '&'))
        p->at += 2;
    else
        parser_take(p);
    return false;
}

static void command(struct parser *p)
{
    struct str word = peek_word(p);
    const struct shell_keyword *k = find_keyword(word);
    bool is_piped = p->is_piped;

    p->is_piped = false;
    /* "a | time b" runs the program of that name. */
    if (!k || (is_piped && k->read == time_options)) {
        simple_command(p);
        return;
    }
    p->at += word.n;
    if (str_is(word, "!") && parser_char(p, 0) == '(')
        splitter_doubt(p->out); /* a pattern of file names, depending on options */
    if (k->read)
        k->read(p);
}

void parser_commands(struct parser *p, enum until until)
{
    for (;;) {
        char c;

        skip_lines(p);
        if (parser_is_at_end(p)) {
            if (until != UNTIL_END)
                splitter_doubt(p->out);
            return;
        }
        if (until == UNTIL_ITEM_END && str_is(peek_word(p), "esac"))
            return;
        c = parser_char(p, 0);
        if (c == '(') {
            subshell(p);
        } else if (is_at_word(p) || is_at_redirection(p)) {
            command(p);
        } else if (take_separator(p, until)) {
            return;
        }
    }
}

void splitter_read(struct splitter *s, struct str code)
{
    struct parser p = {.out = s, .src = code};

    if (!splitter_enter(s))
        return;
    parser_commands(&p, UNTIL_END);
    if (p.n_pending)
        splitter_doubt(s); /* a here-document without a body */
    splitter_leave(s);
}

void shell_split(struct arena *a, struct str line, struct shell_split *ret_split)
{
    struct splitter s = {.arena = a, .split = ret_split};

    *ret_split = (struct shell_split){.is_sure = true};
    if (line.n > SHELL_MAX_BYTES || str_find_char(line, '\0') != STR_NONE) {
        ret_split->is_sure = false;
        return;
    }
    splitter_read(&s, line);
    if ((s.holds_code && s.evaluates_text) || ((s.takes_text || s.holds_signs) && s.computes))
        ret_split->is_sure = false;
    if (s.computes && s.holds_operators)
        ret_split->changes_names = true;
}
