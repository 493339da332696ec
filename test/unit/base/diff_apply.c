/* diff_apply.c - turns the old text into the new one with the help of a unified diff.
 *
 * Strict: every line must be where the diff says and read as the diff says. A diff that fits only
 * nearly belongs to another text. */
#include "diff_apply.h"

#include "base/diff_script.h"

struct patcher {
    struct strbuf *out;
    struct str old_rest, diff_rest;
    size_t n_old, n_new; /* lines done of both texts */
    size_t n_diff;       /* lines read of the diff */
    bool lacks_newline;  /* the new text's last line so far is one that nothing may follow */
};

struct hunk {
    size_t old_at, n_old, new_at, n_new;
};

static struct err *unfit(const struct patcher *p, const char *what)
{
    return err_hint(err_new(ERR_VALIDATION, "line %zu of the diff: %s", p->n_diff, what),
                    "regenerate the diff from the current text");
}

/* --- the new text --- */

static struct err *add_line(struct patcher *p, struct str line)
{
    if (p->lacks_newline)
        return unfit(p, "a line without a line end is not the last one");
    p->lacks_newline = !str_ends(line, S("\n"));
    strbuf_add(p->out, line);
    p->n_new++;
    return NULL;
}

static struct err *keep_line(struct patcher *p)
{
    struct str line;

    if (!diff_take_line(&p->old_rest, &line))
        return unfit(p, "the text has fewer lines");
    p->n_old++;
    return add_line(p, line);
}

/* Passes over a line of the old text that must be the given one. */
static struct err *expect_line(struct patcher *p, struct str want)
{
    struct str line;

    if (!diff_take_line(&p->old_rest, &line))
        return unfit(p, "the text has fewer lines");
    if (!str_eq(line, want))
        return unfit(p, "the text has a different line there");
    p->n_old++;
    return NULL;
}

/* --- the diff --- */

static bool take_diff_line(struct patcher *p, struct str *ret_line)
{
    if (!diff_take_line(&p->diff_rest, ret_line))
        return false;
    p->n_diff++;
    return true;
}

/* A line of a hunk with its line end, or without one when the next line of the diff says so. */
static bool take_hunk_line(struct patcher *p, struct str *ret_line)
{
    struct str note;

    if (!take_diff_line(p, ret_line))
        return false;
    if (str_starts(p->diff_rest, S("\\")) && take_diff_line(p, &note) &&
        str_ends(*ret_line, S("\n")))
        ret_line->n--;
    return true;
}

static bool take_number(struct str *s, size_t *ret_number)
{
    size_t n = 0;
    int64_t value;

    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    if (!str_to_int64(str_slice(*s, 0, n), &value))
        return false;
    *s = str_skip(*s, n);
    *ret_number = (size_t)value;
    return true;
}

static bool take_text(struct str *s, struct str text)
{
    if (!str_starts(*s, text))
        return false;
    *s = str_skip(*s, text.n);
    return true;
}

/* "3,2" or "3", to a place that counts from 0. */
static bool take_range(struct str *s, size_t *ret_at, size_t *ret_n)
{
    *ret_n = 1;
    if (!take_number(s, ret_at) || (take_text(s, S(",")) && !take_number(s, ret_n)))
        return false;
    if (*ret_n == 0)
        return true;
    return (*ret_at)-- > 0;
}

static bool parse_hunk(struct str line, struct hunk *ret_hunk)
{
    return take_text(&line, S("@@ -")) && take_range(&line, &ret_hunk->old_at, &ret_hunk->n_old) &&
           take_text(&line, S(" +")) && take_range(&line, &ret_hunk->new_at, &ret_hunk->n_new) &&
           take_text(&line, S(" @@"));
}

static struct err *apply_line(struct patcher *p, struct hunk *h, struct str line)
{
    struct str text = str_skip(line, 1);
    char sign = line.p[0];

    if (sign == '+' && h->n_new > 0) {
        h->n_new--;
        return add_line(p, text);
    }
    if (sign == '-' && h->n_old > 0) {
        h->n_old--;
        return expect_line(p, text);
    }
    if (sign == ' ' && h->n_old > 0 && h->n_new > 0) {
        h->n_old--;
        h->n_new--;
        TRY(expect_line(p, text));
        return add_line(p, text);
    }
    return unfit(p, "the hunk does not have the lines that its header announces");
}

static struct err *apply_hunk(struct patcher *p, struct hunk h)
{
    struct str line;

    while (p->n_old < h.old_at)
        TRY(keep_line(p));
    if (p->n_old != h.old_at || p->n_new != h.new_at)
        return unfit(p, "the hunk does not follow the one before");
    while (h.n_old || h.n_new) {
        if (!take_hunk_line(p, &line))
            return unfit(p, "the diff ends within a hunk");
        TRY(apply_line(p, &h, line));
    }
    return NULL;
}

static struct err *apply(struct patcher *p)
{
    struct hunk hunk;
    struct str line;

    if (str_starts(p->diff_rest, S("--- ")) && take_diff_line(p, &line) &&
        (!take_diff_line(p, &line) || !str_starts(line, S("+++ "))))
        return unfit(p, "a +++ line must follow the --- line");
    while (take_diff_line(p, &line)) {
        if (!parse_hunk(line, &hunk))
            return unfit(p, "expected the start of a hunk");
        TRY(apply_hunk(p, hunk));
    }
    while (p->old_rest.n)
        TRY(keep_line(p));
    return strbuf_check(p->out, "the text with the diff applied");
}

struct err *diff_apply(struct strbuf *out, struct str old_text, struct str diff)
{
    struct patcher p = {.out = out, .old_rest = old_text, .diff_rest = diff};
    size_t n_before = out->n;
    struct err *e = apply(&p);

    if (e)
        strbuf_cut(out, n_before);
    return e;
}
