/* command_parts.c - the commands in a line, found without trust in how it is quoted. */
#include "gate/command_parts.h"

#include "gate/wildcard.h"

#define MAX_LEADING_WORDS 8 /* before a program; more are unclear */

/* What the line is compared with. */
struct wanted {
    struct str pattern; /* written as flatten() writes commands */
    struct str head;    /* the text that every match starts with */
};

/* A part as it is compared: one blank between words, no quotes, no backslashes. */
struct part_text {
    struct strbuf text;
    size_t first_quote;    /* where one stood; STR_NONE: nowhere */
    bool has_hidden_start; /* where the program starts is hidden by quotes */
};

static void part_text_done(struct part_text *t)
{
    strbuf_done(&t->text);
}
DEFINE_AUTO_VAL(part_text, part_text_done)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"' || c == '\\';
}

static void add_blank(struct strbuf *out)
{
    if (out->n && out->p[out->n - 1] != ' ')
        strbuf_add_char(out, ' ');
}

/* --- taking a part as text --- */

/* The file descriptor in "2>" belongs to the redirection. */
static void drop_descriptor(struct strbuf *out)
{
    size_t n = out->n;

    while (n && out->p[n - 1] >= '0' && out->p[n - 1] <= '9')
        n--;
    if (n == 0 || out->p[n - 1] == ' ')
        strbuf_cut(out, n);
}

/* Leaves a redirection out, from its sign at `at` to the end of its file's name. */
static size_t drop_redirection(struct part_text *t, struct str part, size_t at)
{
    drop_descriptor(&t->text);
    while (at < part.n && strchr("<>&|!", part.p[at]))
        at++;
    while (at < part.n && is_blank(part.p[at]))
        at++;
    for (; at < part.n && !is_blank(part.p[at]); at++)
        if (is_quote(part.p[at]) && t->text.n == 0)
            t->has_hidden_start = true;
    add_blank(&t->text);
    return at;
}

static void flatten(struct part_text *t, struct str part, bool drops_redirections)
{
    t->first_quote = STR_NONE;
    for (size_t i = 0; i < part.n;) {
        char c = part.p[i];

        if (drops_redirections && strchr("<>&", c) && c) {
            i = drop_redirection(t, part, i);
            continue;
        }
        if (is_blank(c))
            add_blank(&t->text);
        else if (!is_quote(c))
            strbuf_add_char(&t->text, c);
        else if (t->first_quote == STR_NONE)
            t->first_quote = t->text.n;
        i++;
    }
    if (t->text.n && t->text.p[t->text.n - 1] == ' ')
        strbuf_cut(&t->text, t->text.n - 1);
}

static void flatten_pattern(struct strbuf *out, struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];

        if (is_blank(c))
            add_blank(out);
        else if (!is_quote(c) || (c == '\\' && i + 1 < pattern.n && pattern.p[i + 1] == '*'))
            strbuf_add_char(out, c);
    }
}

/* --- comparing --- */

/* Does the shell put something else in here? "[ -f x ]", "[[ x ]]", "{ x; }" and "{}" are words. */
static bool is_expansion(struct str rest)
{
    char c = rest.p[0], next = rest.n > 1 ? rest.p[1] : ' ', third = rest.n > 2 ? rest.p[2] : ' ';

    if (c == '[')
        return next != ' ' && !(next == '[' && third == ' ');
    if (c == '{')
        return next != ' ' && next != '}';
    return c == '$' || c == '*' || c == '?';
}

/* The text's length if there is none. */
static size_t find_expansion(struct str text)
{
    size_t at = 0;

    while (at < text.n && !is_expansion(str_skip(text, at)))
        at++;
    return at;
}

static enum match match_text(const struct wanted *w, struct str text)
{
    size_t n_known = find_expansion(text), n = MIN(n_known, w->head.n);

    if (command_pattern_matches(w->pattern, text))
        return MATCH_YES;
    if (n_known == text.n)
        return MATCH_NO;
    return str_eq(str_slice(text, 0, n), str_slice(w->head, 0, n)) ? MATCH_UNCLEAR : MATCH_NO;
}

static enum match worse(enum match a, enum match b)
{
    return a == MATCH_YES || b == MATCH_NO ? a : b;
}

static struct str first_word(struct str text)
{
    size_t blank = str_find_char(text, ' ');

    return blank == STR_NONE ? text : str_slice(text, 0, blank);
}

/* "/usr/bin/rm -rf" without "/usr/bin/". */
static struct str without_directory(struct str text)
{
    size_t slash = str_rfind_char(first_word(text), '/');

    return slash == STR_NONE ? text : str_skip(text, slash + 1);
}

static bool is_one_of(struct str word, const char *const *words)
{
    for (; *words; words++)
        if (str_is(word, *words))
            return true;
    return false;
}

static bool is_assignment(struct str word)
{
    size_t equals = str_find_char(word, '=');

    return equals != STR_NONE && equals > 0 && !(word.p[0] >= '0' && word.p[0] <= '9') &&
           word.p[0] != '-';
}

static bool has_option_first(struct str words)
{
    return str_starts(words, S("-"));
}

/* What the first word says about the rest. */
enum leading {
    LEADS_NOTHING, /* it is the program */
    LEADS_COMMAND, /* a command follows it */
    LEADS_UNKNOWN, /* a command does, but where cannot be told */
};

static enum leading judge_first_word(struct str word, struct str rest, bool is_quoted)
{
    static const char *const keywords[] = {"{",     "!",     "if", "then", "else", "elif",
                                           "while", "until", "do", "time", NULL};
    static const char *const starters[] = {"sudo",   "doas",  "command", "builtin", "exec",
                                           "env",    "nohup", "setsid",  "nice",    "eval",
                                           "coproc", "xargs", "timeout", NULL};
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", NULL};
    struct str name = without_directory(word);

    if (is_assignment(word))
        return is_quoted ? LEADS_UNKNOWN : LEADS_COMMAND;
    if (is_one_of(word, keywords))
        return LEADS_COMMAND;
    if (is_one_of(name, starters))
        return has_option_first(rest) || str_is(name, "timeout") ? LEADS_UNKNOWN : LEADS_COMMAND;
    if (is_one_of(name, shells) && (rest.n == 0 || has_option_first(rest)))
        return LEADS_UNKNOWN; /* its commands are in an option or come from its input */
    return LEADS_NOTHING;
}

static enum match match_part(const struct wanted *w, const struct part_text *part)
{
    struct str whole = strbuf_str(&part->text), text = whole;
    enum match result = part->has_hidden_start ? MATCH_UNCLEAR : MATCH_NO;

    for (unsigned n_words = 0; text.n; n_words++) {
        struct str word = first_word(text), rest = str_skip(text, word.n + 1);
        bool is_quoted = part->first_quote <= (size_t)(text.p - whole.p) + word.n;

        result = worse(result, match_text(w, text));
        result = worse(result, match_text(w, without_directory(text)));
        if (result == MATCH_YES)
            break;
        switch (judge_first_word(word, rest, is_quoted)) {
        case LEADS_NOTHING:
            return result;
        case LEADS_UNKNOWN:
            return MATCH_UNCLEAR;
        case LEADS_COMMAND:
            if (n_words == MAX_LEADING_WORDS)
                return MATCH_UNCLEAR;
            text = rest;
        }
    }
    return result;
}

/* --- cutting --- */

/* How a line is taken. Which of the ways is right only the shell knows: quotes may be quoted. */
struct cutting {
    bool knows_quotes;       /* nothing is cut inside of them */
    bool drops_redirections; /* whatever looks like one is left out */
};

/* Quotes and comments on the way through a line. */
struct quoting {
    char quote; /* '\'', '"', '#' or none */
    bool is_escaped;
    char before;
};

static bool opens_quote(char c, char before)
{
    if (c == '#')
        return is_blank(before) || strchr(";&|()", before);
    return c == '\'' || c == '"';
}

/* Moves over the next character; says whether it is quoted. */
static bool quoting_pass(struct quoting *q, char c)
{
    bool is_quoted = q->quote || q->is_escaped;
    char end = q->quote == '#' ? '\n' : q->quote;

    if (q->is_escaped) {
        q->is_escaped = false;
    } else if (c == '\\' && q->quote != '\'' && q->quote != '#') {
        q->is_escaped = true;
    } else if (q->quote && c == end) {
        q->quote = '\0';
        is_quoted = false;
    } else if (!q->quote && opens_quote(c, q->before)) {
        q->quote = c;
    }
    q->before = c;
    return is_quoted;
}

static bool is_cut(struct str line, size_t at, const struct cutting *cutting)
{
    char c = line.p[at], before = at ? line.p[at - 1] : '\0';
    char after = at + 1 < line.n ? line.p[at + 1] : '\0';

    if (!c || !strchr(";&|\n()`", c))
        return false;
    if (!cutting->drops_redirections || (c != '&' && c != '|'))
        return true;
    return !(before == '>' || before == '<' || (c == '&' && after == '>'));
}

static enum match match_parts(const struct wanted *w, struct str line,
                              const struct cutting *cutting)
{
    struct quoting quoting = {.before = ' '};
    enum match result = MATCH_NO;
    size_t from = 0;

    for (size_t i = 0; i <= line.n && result != MATCH_YES; i++) {
        AUTO(part_text) struct part_text part = {0};
        bool is_quoted = i < line.n && quoting_pass(&quoting, line.p[i]);

        if (i < line.n && ((is_quoted && cutting->knows_quotes) || !is_cut(line, i, cutting)))
            continue;
        flatten(&part, str_slice(line, from, i - from), cutting->drops_redirections);
        if (i < line.n && line.p[i] == '`')
            strbuf_add_char(&part.text, '$'); /* what comes of the next part belongs here */
        result = worse(result, match_part(w, &part));
        from = i + 1;
    }
    return result;
}

static enum match match_line(const struct wanted *w, struct str line)
{
    enum match result = MATCH_NO;

    for (int i = 0; i < 4 && result != MATCH_YES; i++) {
        struct cutting cutting = {.knows_quotes = i & 1, .drops_redirections = i & 2};

        result = worse(result, match_parts(w, line, &cutting));
    }
    return result;
}

/* A backslash at the end of a line joins it with the next one, but not in a comment. */
static void join_lines(struct strbuf *out, struct str line)
{
    for (size_t i = 0; i < line.n; i++) {
        struct str pair = str_slice(line, i, line.p[i] == '\\' ? 2 : 1);

        if (!str_is(pair, "\\\n"))
            strbuf_add(out, pair);
        i += pair.n - 1;
    }
}

enum match command_match_parts(struct str pattern, struct str line)
{
    AUTO(strbuf) struct strbuf flat = {0}, head = {0}, joined = {0};
    struct wanted w;
    enum match result;
    bool takes_more;

    flatten_pattern(&flat, pattern);
    w.pattern = strbuf_str(&flat);
    takes_more = str_ends(w.pattern, S(":*")) || str_ends(w.pattern, S(" *"));
    wildcard_add_head(&head, takes_more ? str_slice(w.pattern, 0, flat.n - 2) : w.pattern);
    w.head = strbuf_str(&head);
    join_lines(&joined, line);
    result = match_line(&w, line);
    if (result != MATCH_YES && joined.n != line.n)
        result = worse(result, match_line(&w, strbuf_str(&joined)));
    return result;
}
