/* match.c - applies edits: finds each place with the least folding and rewrites it. */
#include "tool/edit/match.h"

#include "tool/edit/find.h"
#include "tool/edit/nearest.h"
#include "tool/edit/rewrite.h"

/* A shorter new text may be in the file without the edit having been made. */
#define MIN_TELLING_BYTES 16
#define BOM "\xEF\xBB\xBF"

/* --- what went wrong --- */

/* Whether every line begins as Read prints it, with a number and a tab. */
static bool has_line_numbers(struct str text)
{
    struct str line;

    while (text.n && str_split(&text, '\n', &line)) {
        size_t from = fold_blanks(line), at = from;

        while (at < line.n && line.p[at] >= '0' && line.p[at] <= '9')
            at++;
        if (at == from || at == line.n || line.p[at] != '\t')
            return false;
    }
    return true;
}

static struct err *not_found(struct str text, const struct edit *edit)
{
    AUTO(strbuf) struct strbuf lines = {0}, difference = {0};
    struct nearest_lines nearest;
    struct err *e;

    if (nearest_find(text, edit->old_text, &nearest)) {
        nearest_add(&lines, text, &nearest);
        nearest_add_difference(&difference, text, edit->old_text, &nearest);
        e = err_new(ERR_TOOL_FAILED,
                    "old_string is not in the file; the most similar text starts at line %zu:%s%s",
                    nearest.first_line, strbuf_cstr(&lines), strbuf_cstr(&difference));
    } else {
        e = err_new(ERR_TOOL_FAILED, "old_string is not in the file, nor is anything similar");
    }
    if (edit->new_text.n >= MIN_TELLING_BYTES && str_find(text, edit->new_text) != STR_NONE)
        return err_hint(e, "new_string is already in the file, so the edit may have been made "
                           "before; read the file again");
    if (has_line_numbers(edit->old_text))
        return err_hint(e, "omit the line numbers and the tab after them, which Read adds");
    if (difference.n)
        return err_hint(
            e,
            "copy that character from the file, or replace lines around it that do not contain it");
    return err_hint(e, "read the file again and copy the text exactly");
}

static struct err *unclear(enum edit_doubt doubt, struct str text, const struct edit *edit,
                           struct edit_match match)
{
    AUTO(strbuf) struct strbuf lines = {0};
    struct nearest_lines nearest = {
        .first_line = edit_count_newlines(str_slice(text, 0, match.from)) + 1,
        .n_lines = edit_count_newlines(str_slice(text, match.from, match.to - match.from)) + 1};

    nearest.n_lines = MIN(nearest.n_lines, (size_t)NEAREST_MAX_LINES);
    nearest_add(&lines, text, &nearest);
    if (doubt == EDIT_DOUBT_QUOTES) {
        nearest_add_difference(&lines, text, edit->old_text, &nearest);
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "old_string is in the file only with other quotes or dashes, and "
                                "which kind new_string means is ambiguous; from line %zu:%s",
                                nearest.first_line, strbuf_cstr(&lines)),
                        "pass old_string and new_string with the quotes and dashes of the file");
    }
    return err_hint(err_new(ERR_TOOL_FAILED,
                            "old_string is in the file only with other indentation, and how to "
                            "indent new_string is ambiguous; from line %zu:%s",
                            nearest.first_line, strbuf_cstr(&lines)),
                    "pass old_string and new_string with the indentation of the file");
}

/* "3 times, at lines 1, 7 and others"; names a line with several matches once. */
static void add_places(struct strbuf *out, const struct edit_places *places)
{
    size_t n = MIN(places->n, (size_t)EDIT_MAX_LINES);
    bool is_one = places->lines[0] == places->lines[n - 1] && places->n == n;

    strbuf_addf(out, "%zu times, at line%s %zu", places->n, is_one ? "" : "s", places->lines[0]);
    for (size_t i = 1; i < n; i++)
        if (places->lines[i] != places->lines[i - 1])
            strbuf_addf(out, ", %zu", places->lines[i]);
    if (places->n > n)
        strbuf_add_cstr(out, " and others");
}

static struct err *ambiguous(const struct edit_places *places, enum fold_level level)
{
    AUTO(strbuf) struct strbuf where = {0};

    add_places(&where, places);
    if (level == FOLD_BLANKS)
        return err_hint(
            err_new(
                ERR_TOOL_FAILED,
                "old_string is not in the file exactly; ignoring indentation, trailing whitespace "
                "and the kind of quotes and dashes it occurs %s",
                strbuf_cstr(&where)),
            "read these lines and pass old_string exactly as it is in the place you mean");
    return err_hint(
        err_new(ERR_TOOL_FAILED, "old_string occurs in the file %s", strbuf_cstr(&where)),
        "include more lines around the place you mean, or set replace_all");
}

static struct err *check_edit(const struct edit *edit)
{
    if (edit->old_text.n == 0)
        return err_hint(err_new(ERR_TOOL_FAILED, "old_string is empty"),
                        "pass the lines before or after which the new text belongs");
    if (str_eq(edit->old_text, edit->new_text))
        return err_hint(err_new(ERR_TOOL_FAILED, "old_string and new_string are the same"),
                        "either nothing needs to be done, or one of the two is wrong");
    return NULL;
}

/* --- one edit --- */

/* Whether all matches have the same bytes, including the indentation before them. */
static bool are_alike(struct edit_finder *finder, struct str text)
{
    AUTO(edit_rewriter) struct edit_rewriter r = {0};
    struct edit_match match;
    struct str first = {0};
    bool alike = true;

    edit_rewriter_init(&r, text, S("x"), S("x"), finder->level);
    while (alike && edit_finder_next(finder, &match)) {
        struct str found;

        match = edit_rewriter_widen(&r, match);
        found = str_slice(text, match.from, match.to - match.from);
        alike = !first.p || str_eq(first, found);
        first = found;
    }
    edit_finder_rewind(finder);
    return alike;
}

/* Finds the least folding at which the text holds the old text. */
static struct err *find_level(struct str text, const struct edit *edit, enum fold_level *ret_level)
{
    for (enum fold_level level = FOLD_NOTHING; level <= FOLD_BLANKS; level++) {
        AUTO(edit_finder) struct edit_finder finder = {0};
        struct edit_places places;

        if (level == FOLD_LINE_ENDS && str_find_char(text, '\r') == STR_NONE &&
            str_find_char(edit->old_text, '\r') == STR_NONE)
            continue;
        edit_finder_init(&finder, text, edit->old_text, level);
        if (!edit_finder_is_sound(&finder))
            continue;
        edit_finder_survey(&finder, text, &places);
        if (places.n > 1 &&
            !(edit->replace_all && (level < FOLD_BLANKS || are_alike(&finder, text))))
            return ambiguous(&places, level);
        if (places.n) {
            *ret_level = level;
            return NULL;
        }
    }
    return not_found(text, edit);
}

static struct err *rewrite(struct str text, const struct edit *edit, enum fold_level level,
                           struct strbuf *out, size_t *n_replaced)
{
    AUTO(edit_finder) struct edit_finder finder = {0};
    AUTO(edit_rewriter) struct edit_rewriter rewriter = {0};
    struct edit_match match;
    enum edit_doubt doubt;
    size_t done = 0;

    edit_finder_init(&finder, text, edit->old_text, level);
    edit_rewriter_init(&rewriter, text, edit->old_text, edit->new_text, level);
    while (!strbuf_is_over(out) && edit_finder_next(&finder, &match)) {
        match = edit_rewriter_widen(&rewriter, match);
        strbuf_add(out, str_slice(text, done, match.from - done));
        doubt = edit_rewriter_add(&rewriter, out, match);
        if (doubt)
            return unclear(doubt, text, edit, match);
        done = match.to;
        ++*n_replaced;
    }
    strbuf_add(out, str_skip(text, done));
    return NULL;
}

static struct err *apply_edit(struct str text, const struct edit *edit, struct strbuf *out,
                              struct edit_report *report)
{
    enum fold_level level = FOLD_NOTHING;

    TRY(check_edit(edit));
    TRY(find_level(text, edit, &level));
    TRY(rewrite(text, edit, level, out, &report->n_replaced));
    report->was_normalised |= level == FOLD_BLANKS;
    TRY(strbuf_check(out, "the edited text"));
    if (str_eq(text, strbuf_str(out)))
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "the edit changes nothing: ignoring indentation, quotes and "
                                "dashes, new_string is what the file already has"),
                        "read the file again");
    return NULL;
}

/* --- all of them --- */

static size_t first_line_that_differs(struct str a, struct str b)
{
    size_t line = 1, n = MIN(a.n, b.n);

    if (str_eq(a, b))
        return 0;
    for (size_t i = 0; i < n && a.p[i] == b.p[i]; i++)
        line += a.p[i] == '\n';
    return line;
}

static struct str without_bom(struct str s)
{
    return str_starts(s, S(BOM)) ? str_skip(s, sizeof BOM - 1) : s;
}

/* The file's BOM takes no part. A model that copies it means the text after it. */
static struct edit without_boms(const struct edit *edit, bool has_bom)
{
    struct edit clean = *edit;

    if (has_bom) {
        clean.old_text = without_bom(edit->old_text);
        clean.new_text = without_bom(edit->new_text);
    }
    return clean;
}

struct err *edit_apply(struct str text, const struct edit *edits, size_t n_edits,
                       struct strbuf *out, struct edit_report *ret_report)
{
    AUTO(strbuf) struct strbuf result = {.max_bytes = out->max_bytes};
    struct str body = without_bom(text), now = body;
    struct edit_report report = {0};
    size_t was_n = out->n;

    if (n_edits == 0 || n_edits > EDIT_MAX_EDITS)
        return err_new(ERR_TOOL_FAILED, "edits must have 1 to %d items, not %zu", EDIT_MAX_EDITS,
                       n_edits);
    for (size_t i = 0; i < n_edits; i++) {
        AUTO(strbuf) struct strbuf next = {.max_bytes = out->max_bytes};
        struct edit edit = without_boms(&edits[i], body.n < text.n);
        struct err *e = apply_edit(now, &edit, &next, &report);
        struct strbuf was = result;

        if (e)
            return n_edits == 1 ? e : err_wrap(e, "edit %zu of %zu", i + 1, n_edits);
        result = next;
        next = was;
        now = strbuf_str(&result);
    }
    report.first_line = first_line_that_differs(body, now);
    strbuf_add(out, str_slice(text, 0, text.n - body.n));
    strbuf_add(out, now);
    if (strbuf_is_over(out))
        strbuf_cut(out, was_n);
    TRY(strbuf_check(out, "the edited text"));
    *ret_report = report;
    return NULL;
}
