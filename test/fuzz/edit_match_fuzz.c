/* edit_match_fuzz.c - an edit changes its place and nothing else. The input: whether to replace all
 * (odd), the old text, a NUL, the new text, a NUL, the text. */
#include "tool/edit/match.h"

#include "tool/edit/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(struct str s, char c)
{
    return str_find_char(s, c) != STR_NONE;
}

static bool has_lone_lf(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n' && (i == 0 || s.p[i - 1] != '\r'))
            return true;
    return false;
}

/* Where the old text stands alone, byte for byte, or STR_NONE. */
static size_t find_unique(struct str text, struct str old_text)
{
    size_t at = str_find(text, old_text);

    if (at == STR_NONE || str_find(str_skip(text, at + 1), old_text) != STR_NONE)
        return STR_NONE;
    return at;
}

/* Without line ends in question, an exact edit is a plain replacement. */
static void check_exact(struct str text, const struct edit *edit, struct str result)
{
    size_t at = find_unique(text, edit->old_text);
    AUTO(strbuf) struct strbuf want = {0};

    if (at == STR_NONE || edit->new_text.n == 0 || has(text, '\r') || has(edit->new_text, '\r'))
        return;
    strbuf_add(&want, str_slice(text, 0, at));
    strbuf_add(&want, edit->new_text);
    strbuf_add(&want, str_skip(text, at + edit->old_text.n));
    BUG_IF(!str_eq(strbuf_str(&want), result));
}

static bool find_first(struct str text, const struct edit *edit, struct edit_match *ret_match)
{
    for (enum fold_level level = FOLD_NOTHING; level <= FOLD_BLANKS; level++) {
        AUTO(edit_finder) struct edit_finder finder = {0};

        AUTO(edit_rewriter) struct edit_rewriter rewriter = {0};

        edit_finder_init(&finder, text, edit->old_text, level);
        edit_rewriter_init(&rewriter, text, edit->old_text, edit->new_text, level);
        if (edit_finder_is_sound(&finder) && edit_finder_next(&finder, ret_match)) {
            *ret_match = edit_rewriter_widen(&rewriter, *ret_match);
            return true;
        }
    }
    return false;
}

/* What is before and after the match stays. */
static void check_place(struct str text, const struct edit *edit, struct str result)
{
    struct edit_match match;

    BUG_IF(!find_first(text, edit, &match));
    BUG_IF(match.from > match.to || match.to > text.n);
    BUG_IF(!str_starts(result, str_slice(text, 0, match.from)));
    BUG_IF(!str_ends(result, str_skip(text, match.to)));
    BUG_IF(result.n < text.n - (match.to - match.from));
}

static void check_line_ends(struct str text, const struct edit *edit, struct str result)
{
    if (has(text, '\n') && !has_lone_lf(text) && !has(edit->old_text, '\r'))
        BUG_IF(has_lone_lf(result));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_skip(str_make((const char *)data, size), 1);
    struct edit edit = {.replace_all = size && data[0] % 2};
    AUTO(strbuf) struct strbuf out = {0};
    struct edit_report report = {0};
    AUTO(err) struct err *e = NULL;

    if (!str_split(&text, 0, &edit.old_text) || !str_split(&text, 0, &edit.new_text) || !text.p)
        return 0;
    e = edit_apply(text, &edit, 1, &out, &report);
    BUG_IF(e && out.n);
    if (e || str_starts(text, S("\xEF\xBB\xBF")))
        return 0;
    BUG_IF(report.n_replaced == 0 || report.first_line == 0 || str_eq(text, strbuf_str(&out)));
    check_exact(text, &edit, strbuf_str(&out));
    check_line_ends(text, &edit, strbuf_str(&out));
    if (report.n_replaced == 1)
        check_place(text, &edit, strbuf_str(&out));
    return 0;
}
