/* translate.c - rewrites a pattern so that it stays inside a line.
 *
 * Excludes the newline from negated classes, \s and the like. The anchors ^ and $, word boundaries
 * and look-arounds then mean the same inside a text as in a single line. If it does not know a
 * construct for sure it gives up, and the pattern is matched line by line. */
#include "base/utf8.h"
#include "tool/search/pattern.h"

struct line_translator {
    struct str in;
    size_t at;
    struct strbuf *out;
    struct strbuf run;      /* the current run of literal text */
    struct strbuf *literal; /* the longest run so far */
    struct grep_traits traits;
    unsigned depth; /* of groups */
    bool no_literal;
    bool has_dollar, has_cr;
    bool gave_up;
};

static char peek(const struct line_translator *t, size_t ahead)
{
    return t->at + ahead < t->in.n ? t->in.p[t->at + ahead] : 0;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static void copy_bytes(struct line_translator *t, size_t n)
{
    strbuf_add(t->out, str_slice(t->in, t->at, n));
    t->at += n;
}

static void give_up(struct line_translator *t)
{
    t->gave_up = true;
    t->traits.by_line = true;
    t->traits.is_plain = false;
    t->no_literal = true;
}

/* --- literals --- */

static void end_run(struct line_translator *t)
{
    if (t->run.n > t->literal->n) {
        strbuf_clear(t->literal);
        strbuf_add(t->literal, strbuf_str(&t->run));
    }
    strbuf_clear(&t->run);
}

/* Anything that is not plain text ends the run. */
static void break_run(struct line_translator *t)
{
    t->traits.is_plain = false;
    end_run(t);
}

/* A repetition, or a brace that may be one in some version of PCRE2. */
static bool is_repeat(char c, char next)
{
    return is_one_of(c, "*?+") ||
           (c == '{' && (is_one_of(next, ", ") || (next >= '0' && next <= '9')));
}

/* Adds the next n bytes, whose last `n_char` are a literal character. */
static void add_char(struct line_translator *t, size_t n, size_t n_char)
{
    struct str c = str_slice(t->in, t->at + n - n_char, n_char);
    char next;

    copy_bytes(t, n);
    next = peek(t, 0);
    if (t->depth) {
        t->traits.is_plain = false;
    } else if (!is_repeat(next, peek(t, 1))) {
        strbuf_add(&t->run, c);
    } else {
        if (next == '+')
            strbuf_add(&t->run, c);
        break_run(t);
    }
}

static void add_plain(struct line_translator *t, size_t n_before)
{
    uint32_t c;
    unsigned n = utf8_decode(str_skip(t->in, t->at + n_before), &c);

    if (n == 0) { /* PCRE2 rejects it */
        give_up(t);
        return;
    }
    if (c == '\n')
        t->traits.has_line_end = true;
    t->has_cr |= c == '\r';
    add_char(t, n_before + n, n);
}

/* --- classes --- */

/* The names of classes that exclude the newline. */
static bool is_line_class(struct str name)
{
    static const char *const names[] = {"alnum", "alpha", "blank", "digit",  "graph", "lower",
                                        "print", "punct", "upper", "xdigit", "word"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* The length of "[:alpha:]" or "[:^alpha:]" at the start, or 0. */
static size_t named_class_length(struct str rest)
{
    size_t n = 2;

    while (n < rest.n && (is_alnum(rest.p[n]) || rest.p[n] == '^'))
        n++;
    return str_starts(rest, S("[:")) && str_starts(str_skip(rest, n), S(":]")) ? n + 2 : 0;
}

/* Reads one member of a class. Sets *has_newline if it may include a newline. */
static void scan_member(struct line_translator *t, size_t *at, bool *has_newline)
{
    struct str rest = str_skip(t->in, *at);
    char c = rest.p[0], escaped = rest.n > 1 ? rest.p[1] : 0;

    if (c == '[' && is_one_of(escaped, ":.=")) {
        size_t n = named_class_length(rest);

        if (n == 0)
            give_up(t); /* it may be a plain bracket */
        else
            *has_newline |= !is_line_class(str_slice(rest, 2, n - 4));
        *at += n;
        return;
    }
    *at += 1;
    if (c == '\\') {
        *at += 1;
        t->has_cr |= escaped == 'r';
        if (is_one_of(escaped, "sWDHvnpP"))
            *has_newline = true;
        else if (is_one_of(escaped, "tfear"))
            *has_newline |=
                rest.n > 2 && rest.p[2] == '-'; /* a range that may include the newline */
        else if (!is_one_of(escaped, "wdShV") && (is_alnum(escaped) || escaped == 0))
            give_up(t);
    } else if ((unsigned char)c < ' ') {
        *has_newline = true;
        t->has_cr |= c == '\r';
    }
}

/* The end of the class that starts here, after its bracket. */
static size_t scan_class(struct line_translator *t, size_t first, bool *has_newline)
{
    size_t at = first;

    while (!t->gave_up && at < t->in.n && (t->in.p[at] != ']' || at == first))
        scan_member(t, &at, has_newline);
    if (at >= t->in.n)
        give_up(t);
    return at + 1;
}

static void add_class(struct line_translator *t)
{
    bool is_negated = peek(t, 1) == '^', has_newline = false;
    size_t first = t->at + 1 + is_negated, end = scan_class(t, first, &has_newline);

    break_run(t);
    if (t->gave_up)
        return;
    if (is_negated) {
        copy_bytes(t, 2);
        strbuf_add(t->out, S("\\n"));
        if (is_one_of(peek(t, 0), "]-")) /* at the start of the class they are literal */
            strbuf_add_char(t->out, '\\');
        copy_bytes(t, end - t->at);
    } else if (has_newline) {
        strbuf_add(t->out, S("(?:(?!\\n)"));
        copy_bytes(t, end - t->at);
        strbuf_add_char(t->out, ')');
    } else {
        copy_bytes(t, end - t->at);
    }
}

/* --- escapes --- */

static void add_class_escape(struct line_translator *t, char without_newline)
{
    break_run(t);
    strbuf_addf(t->out, "[^\\%c\\n]", without_newline);
    t->at += 2;
}

/* \pL, \p{Greek} */
static void add_property(struct line_translator *t)
{
    size_t n = 3;

    break_run(t);
    if (peek(t, 2) == '{') {
        size_t end = str_find_char(str_skip(t->in, t->at), '}');

        n = end == STR_NONE ? 0 : end + 1;
    }
    if (n == 0 || t->at + n > t->in.n) {
        give_up(t);
        return;
    }
    strbuf_add(t->out, S("(?:(?!\\n)"));
    copy_bytes(t, n);
    strbuf_add_char(t->out, ')');
}

static void add_letter_escape(struct line_translator *t, char c)
{
    break_run(t);
    t->has_cr |= c == 'r';
    t->traits.has_line_end |= c == 'n';
    if (is_one_of(c, "SwdhbBVtfearn") || (c == 'N' && peek(t, 2) != '{') ||
        (c >= '1' && c <= '9' && !is_alnum(peek(t, 2))))
        copy_bytes(t, 2);
    else
        give_up(t);
}

static void add_escape(struct line_translator *t)
{
    char c = peek(t, 1);

    switch (c) {
    case 's':
        add_class_escape(t, 'S');
        break;
    case 'W':
        add_class_escape(t, 'w');
        break;
    case 'D':
        add_class_escape(t, 'd');
        break;
    case 'H':
        add_class_escape(t, 'h');
        break;
    case 'p':
    case 'P':
        add_property(t);
        break;
    default:
        if (is_alnum(c))
            add_letter_escape(t, c);
        else
            add_plain(t, 1);
        break;
    }
}

/* --- groups --- */

/* The length of "(?i)" or "(?im:", or 0. */
static size_t flags_length(const struct line_translator *t)
{
    size_t n = 2;

    while (is_one_of(peek(t, n), "im"))
        n++;
    return n > 2 && is_one_of(peek(t, n), "):") ? n + 1 : 0;
}

static size_t opening_length(const struct line_translator *t)
{
    static const char *const openings[] = {"(?:", "(?=", "(?!", "(?<", "(?>", "(?P<", "(?'"};
    struct str rest = str_skip(t->in, t->at);

    for (size_t i = 0; i < ARRAY_LEN(openings); i++)
        if (str_starts(rest, str_of(openings[i])))
            return strlen(openings[i]);
    return peek(t, 1) == '?' || peek(t, 1) == '*' ? 0 : 1;
}

static void add_group(struct line_translator *t)
{
    size_t n_flags = peek(t, 1) == '?' ? flags_length(t) : 0;
    size_t n = n_flags ? n_flags : opening_length(t);

    break_run(t);
    if (n == 0) {
        give_up(t);
        return;
    }
    t->no_literal |= n_flags > 0;
    t->depth += t->in.p[t->at + n - 1] != ')';
    copy_bytes(t, n);
}

/* --- the whole --- */

/* "*", "+" or "{2,5}". Any other brace is literal. */
static void add_repeat(struct line_translator *t)
{
    size_t n = 1;

    if (peek(t, 0) == '{') {
        while (is_one_of(peek(t, n), "0123456789, "))
            n++;
        n = peek(t, n) == '}' ? n + 1 : 1;
    }
    break_run(t);
    copy_bytes(t, n);
}

static void add_item(struct line_translator *t)
{
    char c = peek(t, 0);

    switch (c) {
    case '\\':
        add_escape(t);
        return;
    case '[':
        add_class(t);
        return;
    case '(':
        add_group(t);
        return;
    case ')':
        t->depth -= t->depth > 0;
        break;
    case '|':
        t->no_literal |= t->depth == 0;
        break;
    case '$':
        t->has_dollar = true;
        break;
    case '.':
    case '^':
        break;
    default:
        if (is_repeat(c, peek(t, 1)))
            add_repeat(t);
        else
            add_plain(t, 0);
        return;
    }
    break_run(t);
    copy_bytes(t, 1);
}

void grep_translate(struct str pattern, struct strbuf *out, struct strbuf *literal,
                    struct grep_traits *ret_traits)
{
    struct line_translator t = {.in = pattern, .out = out, .literal = literal};

    t.traits.is_plain = true;
    while (t.at < pattern.n && !t.gave_up)
        add_item(&t);
    end_run(&t);
    strbuf_done(&t.run);
    if (t.no_literal)
        strbuf_clear(literal);
    t.traits.is_plain &= literal->n > 0;
    t.traits.cuts_cr = (t.has_dollar || t.gave_up) && !t.has_cr;
    *ret_traits = t.traits;
}
