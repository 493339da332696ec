/* edit_property_test.c - an edit whose old text is inexact changes what it asks for, and nothing
 * else.
 *
 * A seed makes a file of lines with indentation, quotes, dashes, blanks and line ends of all kinds,
 * a copy of some of its lines as a model may remember them (indented otherwise, with plain quotes,
 * without trailing blanks, cut at both ends), and changes to that copy: words replaced, lines put
 * in or taken out. Every word is in the file once, so what the result must be is known to the byte.
 * An edit may be refused, but what is accepted must be that result.
 *
 * Some thousand seeds are tried, from one that is printed; KEEL_TEST_SEED is the first. */
#include "test.h"

#include "base/strbuf.h"
#include "sys/random.h"
#include "tool/edit/match.h"

#include <stdlib.h>
#include <time.h>

#define N_SEEDS 4000
#define MAX_LINES 12
#define MAX_TOKENS 9

/* A piece of a line: in the file, as the model gives it, and what it makes of it. */
struct token {
    char found[16], given[16], wanted[16];
    bool is_word;
};

struct file_line {
    char indent[24], given_indent[24];
    struct token tokens[MAX_TOKENS];
    size_t n_tokens;
    const char *trail, *end; /* blanks before the line end, and that; "" at the end of the file */
    bool is_removed;
    char inserted[16]; /* a line that is put in after it, indented as it is; or nothing */
};

enum indent_change {
    INDENT_KEPT,
    INDENT_NONE,
    INDENT_CUT, /* of the first line only */
    INDENT_DEDENTED,
    INDENT_TABS_AS_SPACES,
    INDENT_HALVED,
    INDENT_ANY,
    N_INDENT_CHANGES,
};

enum edit_kind { REPLACES_WORDS, INSERTS_LINES, REMOVES_LINES, N_EDIT_KINDS };

struct trial {
    uint64_t seed;
    struct seeded_random dice;
    struct file_line lines[MAX_LINES];
    size_t n_lines, from, to;       /* the old text is lines[from..to) */
    size_t first_token, last_token; /* of its first line, and behind that of its last */
    unsigned n_words;
    enum indent_change indent_change;
    enum edit_kind kind;
    bool plain_quotes, keeps_trails, keeps_carriage_returns, ends_line, has_mixed_ends;
};

static size_t below(struct trial *t, size_t n)
{
    return (size_t)random_below(&t->dice.random, n);
}

static bool chance(struct trial *t, unsigned one_in)
{
    return below(t, one_in) == 0;
}

/* --- the file --- */

static void add_word(struct trial *t, struct token *token)
{
    unsigned number = t->n_words++;

    *token = (struct token){.is_word = true};
    snprintf(token->found, sizeof token->found, "w%uz", number);
    strcpy(token->given, token->found);
    strcpy(token->wanted, token->found);
}

static void add_mark(struct trial *t, struct token *token)
{
    static const char *const marks[][2] = {
        {" ", " "},
        {"  ", "  "},
        {"\t", "\t"},
        {"\xC2\xA0", "\xC2\xA0"},
        {"(", "("},
        {" = ", " = "},
        {"'", "'"},
        {"\"", "\""},
        {"-", "-"},
        {"\xE2\x80\x99", "'"},
        {"\xE2\x80\x9C", "\""},
        {"\xE2\x80\x9D", "\""},
        {"\xE2\x80\x94", "-"},
    };
    const char *const *mark = marks[below(t, ARRAY_LEN(marks))];

    *token = (struct token){0};
    strcpy(token->found, mark[0]);
    strcpy(token->given, mark[t->plain_quotes]);
    strcpy(token->wanted, token->given);
}

static void make_indent(struct trial *t, char *indent)
{
    static const char *const units[] = {"  ", "    ", "\t", " \t"};
    const char *unit = units[t->seed % ARRAY_LEN(units)];

    for (size_t n = below(t, 4); n > 0; n--)
        strcat(indent, unit);
}

/* Words and marks by turns: no line begins or ends with a blank of its own. */
static void make_line(struct trial *t, struct file_line *line)
{
    static const char *const trails[] = {"", "", " ", "  ", "\t"};

    make_indent(t, line->indent);
    line->trail = trails[below(t, ARRAY_LEN(trails))];
    if (chance(t, 8)) {
        line->indent[0] = '\0';
        if (t->kind == REMOVES_LINES) /* of several blank lines it is open which one stays */
            line->trail = "";
        return;
    }
    line->n_tokens = 1 + 2 * below(t, (MAX_TOKENS + 1) / 2);
    for (size_t i = 0; i < line->n_tokens; i++) {
        if (i % 2)
            add_mark(t, &line->tokens[i]);
        else
            add_word(t, &line->tokens[i]);
    }
}

static void make_file(struct trial *t)
{
    const char *end = chance(t, 3) ? "\r\n" : "\n";

    t->has_mixed_ends = chance(t, 4);
    t->n_lines = 1 + below(t, MAX_LINES);
    for (size_t i = 0; i < t->n_lines; i++) {
        make_line(t, &t->lines[i]);
        t->lines[i].end = !t->has_mixed_ends ? end : chance(t, 2) ? "\r\n" : "\n";
    }
    if (t->kind == REPLACES_WORDS && chance(t, 4))
        t->lines[t->n_lines - 1].end = "";
}

/* --- what the model makes of it --- */

static void take_away(char *indent, size_t n)
{
    memmove(indent, indent + n, strlen(indent + n) + 1);
}

static size_t common_indent(const struct trial *t)
{
    const char *first = t->lines[t->from].indent;
    size_t n = strlen(first);

    for (size_t i = t->from; i < t->to; i++)
        for (size_t k = 0; t->lines[i].n_tokens && k < n; k++)
            if (t->lines[i].indent[k] != first[k])
                n = k;
    return n;
}

static void widen_tabs(const char *indent, char *out)
{
    *out = '\0';
    for (; *indent; indent++)
        strcat(out, *indent == '\t' ? "    " : " ");
}

static void change_indent(struct trial *t, struct file_line *line, bool is_first, size_t n_common)
{
    strcpy(line->given_indent, line->indent);
    if (line->n_tokens == 0)
        return;
    switch (t->indent_change) {
    case INDENT_NONE:
        line->given_indent[0] = '\0';
        return;
    case INDENT_CUT:
        line->given_indent[is_first ? 0 : strlen(line->given_indent)] = '\0';
        return;
    case INDENT_DEDENTED:
        take_away(line->given_indent, n_common);
        return;
    case INDENT_TABS_AS_SPACES:
        widen_tabs(line->indent, line->given_indent);
        return;
    case INDENT_HALVED:
        line->given_indent[strlen(line->indent) / 2] = '\0';
        return;
    case INDENT_ANY:
        line->given_indent[0] = '\0';
        make_indent(t, line->given_indent);
        return;
    default:
        return;
    }
}

static void remember_lines(struct trial *t)
{
    struct file_line *first, *last;
    size_t n_common;

    t->from = below(t, t->n_lines);
    t->to = t->from + 1 + below(t, t->n_lines - t->from);
    first = &t->lines[t->from];
    last = &t->lines[t->to - 1];
    t->first_token = first->n_tokens && chance(t, 5) ? below(t, first->n_tokens) / 2 * 2 : 0;
    t->last_token = last->n_tokens;
    if (last->n_tokens && chance(t, 5))
        t->last_token -= below(t, last->n_tokens) / 2 * 2;
    if (t->to - t->from == 1 && t->last_token <= t->first_token)
        t->last_token = last->n_tokens;
    t->ends_line = t->last_token == last->n_tokens && chance(t, 2);
    n_common = common_indent(t);
    for (size_t i = t->from; i < t->to; i++)
        change_indent(t, &t->lines[i], i == t->from, n_common);
}

static bool is_remembered(const struct trial *t, size_t line, size_t token)
{
    return (line > t->from || token >= t->first_token) &&
           (line < t->to - 1 || token < t->last_token);
}

static void replace_word(struct trial *t)
{
    size_t i = t->from + below(t, t->to - t->from);
    struct file_line *line = &t->lines[i];
    size_t k = line->n_tokens ? below(t, line->n_tokens) / 2 * 2 : 0;

    if (line->n_tokens && is_remembered(t, i, k))
        snprintf(line->tokens[k].wanted, sizeof line->tokens[k].wanted, "new%zu", below(t, 100));
}

/* Of the first line it is not known how it is indented where it was cut; and a line that is taken
 * out is one of several. */
static void change_line(struct trial *t)
{
    size_t i = t->from + below(t, t->to - t->from);
    struct file_line *line = &t->lines[i];
    bool is_whole = i + 1 < t->to || t->last_token == line->n_tokens;

    if (i == t->from || line->n_tokens == 0 || !is_whole || (i + 1 == t->to && !t->ends_line))
        return;
    if (t->kind == INSERTS_LINES)
        snprintf(line->inserted, sizeof line->inserted, "put%zu in", below(t, 100));
    else
        line->is_removed = true;
}

static void make_trial(struct trial *t, uint64_t seed)
{
    *t = (struct trial){.seed = seed};
    seeded_random_init(&t->dice, seed);
    t->plain_quotes = chance(t, 2);
    t->keeps_trails = chance(t, 2);
    t->keeps_carriage_returns = chance(t, 3);
    t->indent_change = (enum indent_change)below(t, N_INDENT_CHANGES);
    t->kind = (enum edit_kind)below(t, N_EDIT_KINDS);
    make_file(t);
    remember_lines(t);
    for (size_t n = 1 + below(t, 3); n > 0; n--) {
        if (t->kind == REPLACES_WORDS)
            replace_word(t);
        else
            change_line(t);
    }
}

/* --- the texts --- */

static void add_file(const struct trial *t, struct strbuf *out, bool is_changed)
{
    for (size_t i = 0; i < t->n_lines; i++) {
        const struct file_line *line = &t->lines[i];

        if (is_changed && line->is_removed)
            continue;
        strbuf_add_cstr(out, line->indent);
        for (size_t k = 0; k < line->n_tokens; k++) {
            const struct token *token = &line->tokens[k];

            strbuf_add_cstr(out, is_changed && token->is_word ? token->wanted : token->found);
        }
        strbuf_addf(out, "%s%s", line->trail, line->end);
        if (is_changed && line->inserted[0])
            strbuf_addf(out, "%s%s%s", line->indent, line->inserted, line->end);
    }
}

static const char *given_end(const struct trial *t, const struct file_line *line)
{
    return t->keeps_carriage_returns && line->end[0] ? line->end : "\n";
}

static void add_given_line(const struct trial *t, size_t i, bool is_new, struct strbuf *out)
{
    const struct file_line *line = &t->lines[i];
    bool is_first = i == t->from, is_last = i + 1 == t->to;

    if (!is_first || t->first_token == 0)
        strbuf_add_cstr(out, line->given_indent);
    for (size_t k = 0; k < line->n_tokens; k++)
        if (is_remembered(t, i, k))
            strbuf_add_cstr(out, is_new ? line->tokens[k].wanted : line->tokens[k].given);
    if (t->keeps_trails && (!is_last || t->ends_line))
        strbuf_add_cstr(out, line->trail);
    if (!is_last || t->ends_line)
        strbuf_add_cstr(out, given_end(t, line));
    if (is_new && line->inserted[0])
        strbuf_addf(out, "%s%s%s", line->given_indent, line->inserted, given_end(t, line));
}

static void add_given(const struct trial *t, bool is_new, struct strbuf *out)
{
    for (size_t i = t->from; i < t->to; i++)
        if (!is_new || !t->lines[i].is_removed)
            add_given_line(t, i, is_new, out);
}

/* In a file of several line ends it is open which one a new line gets. */
static void drop_carriage_returns(struct strbuf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->n; i++)
        if (text->p[i] != '\r')
            text->p[n++] = text->p[i];
    strbuf_cut(text, n);
}

/* --- trying --- */

static size_t n_accepted, n_loose;

static void fail_trial(const struct trial *t, struct str text, const struct edit *edit,
                       struct str want, struct str got)
{
    print_error("seed %llu\n--- file\n%.*s\n--- old\n%.*s\n--- new\n%.*s\n--- wanted\n%.*s\n"
                "--- got\n%.*s\n",
                (unsigned long long)t->seed, (int)text.n, text.p, (int)edit->old_text.n,
                edit->old_text.p, (int)edit->new_text.n, edit->new_text.p, (int)want.n, want.p,
                (int)got.n, got.p);
    fail_msg("an edit changed more than it was asked to");
}

static void try_seed(uint64_t seed)
{
    AUTO(strbuf) struct strbuf text = {0}, want = {0}, old_text = {0}, new_text = {0}, out = {0};
    AUTO(err) struct err *e = NULL;
    struct edit_report report;
    struct trial t;
    struct edit edit;

    make_trial(&t, seed);
    add_file(&t, &text, /* is_changed= */ false);
    add_file(&t, &want, /* is_changed= */ true);
    add_given(&t, /* is_new= */ false, &old_text);
    add_given(&t, /* is_new= */ true, &new_text);
    edit = (struct edit){.old_text = strbuf_str(&old_text), .new_text = strbuf_str(&new_text)};
    e = edit_apply(strbuf_str(&text), &edit, 1, &out, &report);
    if (e) {
        assert_int_equal(out.n, 0);
        return;
    }
    n_accepted++;
    n_loose += report.was_normalised;
    if (t.has_mixed_ends && t.kind != REPLACES_WORDS) {
        drop_carriage_returns(&out);
        drop_carriage_returns(&want);
    }
    if (!str_eq(strbuf_str(&want), strbuf_str(&out)))
        fail_trial(&t, strbuf_str(&text), &edit, strbuf_str(&want), strbuf_str(&out));
}

TEST(an_edit_that_is_accepted_changes_nothing_that_it_was_not_asked_to)
{
    const char *given = getenv("KEEL_TEST_SEED");
    uint64_t first = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) % 1000000 * N_SEEDS;

    print_message("seeds %llu to %llu\n", (unsigned long long)first,
                  (unsigned long long)(first + N_SEEDS - 1));
    for (uint64_t seed = first; seed < first + N_SEEDS; seed++)
        try_seed(seed);
    print_message("%zu edits accepted, %zu of them inexact\n", n_accepted, n_loose);
    assert_true(n_accepted > N_SEEDS / 4);
    assert_true(n_loose > N_SEEDS / 10);
}

RUN_TESTS(UNIT(an_edit_that_is_accepted_changes_nothing_that_it_was_not_asked_to))
