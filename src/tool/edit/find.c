/* find.c - memmem() over the folded text, mapped back to the bytes of the text. */
#include "tool/edit/find.h"

/* The search gives up after wasting this many times the length of the text, which may be made to
 * match almost everywhere. */
#define MAX_WASTE 64

/* Holds only blanks, and at least one. */
static bool is_blank(struct str part)
{
    return part.n && fold_blanks(part) == part.n;
}

static struct str last_part(struct str text)
{
    size_t newline = str_rfind_char(text, '\n');

    return newline == STR_NONE ? text : str_skip(text, newline + 1);
}

void edit_finder_init(struct edit_finder *f, struct str text, struct str old_text,
                      enum fold_level level)
{
    *f = (struct edit_finder){.level = level, .hay = text, .needle = old_text};
    fold_init(&f->walk, text, level, /* is_part= */ false);
    if (level == FOLD_NOTHING)
        return;
    strbuf_init(&f->folded_hay, fold_max_bytes(text));
    strbuf_init(&f->folded_needle, fold_max_bytes(old_text));
    fold_add(&f->folded_hay, text, level, /* is_part= */ false);
    fold_add(&f->folded_needle, old_text, level, /* is_part= */ true);
    f->hay = strbuf_str(&f->folded_hay);
    f->needle = strbuf_str(&f->folded_needle);
    f->starts_line = level == FOLD_BLANKS && fold_blanks(old_text);
    f->ends_line =
        level == FOLD_BLANKS && (str_ends(old_text, S(" ")) || str_ends(old_text, S("\t")));
    f->ends_in_indent = level == FOLD_BLANKS && is_blank(last_part(old_text));
}

void edit_finder_done(struct edit_finder *f)
{
    strbuf_done(&f->folded_hay);
    strbuf_done(&f->folded_needle);
}

bool edit_finder_is_sound(const struct edit_finder *f)
{
    bool may_split = str_starts(f->needle, S("\n")) || str_ends(f->needle, S("\r"));

    if (f->level == FOLD_NOTHING)
        return !may_split || str_find(f->hay, S("\r\n")) == STR_NONE;
    if (f->level == FOLD_LINE_ENDS)
        return true;
    if (f->ends_in_indent)
        return false;
    for (size_t i = 0; i < f->needle.n; i++)
        if (str_find_char(S(" \t\n\"'-"), f->needle.p[i]) == STR_NONE)
            return true;
    return false;
}

void edit_finder_rewind(struct edit_finder *f)
{
    f->at = 0;
    f->n_walked = 0;
    fold_init(&f->walk, f->walk.text, f->level, /* is_part= */ false);
}

/* The range of the text that hay[from..to) stands for. Continues from the place of the last
 * call. */
static struct edit_match to_text(struct edit_finder *f, size_t from, size_t to)
{
    struct edit_match match = {from, to};
    struct fold_unit unit = {0};

    if (f->level == FOLD_NOTHING)
        return match;
    while (f->n_walked < to && fold_next(&f->walk, &unit)) {
        if (f->n_walked++ == from)
            match.from = unit.from;
        match.to = unit.to;
    }
    return match;
}

static bool is_word_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Whether the model can mean a match here: an inexact match is not a part of a word, and where the
 * old text has blanks at an end, the match has the end of a line. */
static bool is_well_placed(const struct edit_finder *f, size_t from)
{
    struct str hay = f->hay, needle = f->needle;
    size_t end = from + needle.n;

    if (f->level != FOLD_BLANKS)
        return true;
    if (from && (f->starts_line ? hay.p[from - 1] != '\n'
                                : is_word_char(hay.p[from - 1]) && is_word_char(needle.p[0])))
        return false;
    return end == hay.n ||
           (f->ends_line ? hay.p[end] == '\n'
                         : !is_word_char(hay.p[end]) || !is_word_char(needle.p[needle.n - 1]));
}

bool edit_finder_next(struct edit_finder *f, struct edit_match *ret_match)
{
    size_t skipped;

    while (f->needle.n && f->n_wasted <= MAX_WASTE * (uint64_t)(f->hay.n + 1) &&
           (skipped = str_find(str_skip(f->hay, f->at), f->needle)) != STR_NONE) {
        size_t from = f->at + skipped;

        if (is_well_placed(f, from)) {
            f->at = from + f->needle.n;
            *ret_match = to_text(f, from, f->at);
            return true;
        }
        f->at = from + 1;
        f->n_wasted += f->needle.n;
    }
    return false;
}

/* A second match that overlaps the only one: which of the two is meant is just as ambiguous. */
static bool next_overlapping(struct edit_finder *f, struct edit_match *ret_match)
{
    size_t again = f->at - f->needle.n + 1;

    edit_finder_rewind(f);
    f->at = again;
    return edit_finder_next(f, ret_match);
}

size_t edit_count_newlines(struct str s)
{
    size_t n = 0;

    for (size_t end; (end = str_find_char(s, '\n')) != STR_NONE; n++)
        s = str_skip(s, end + 1);
    return n;
}

void edit_finder_survey(struct edit_finder *f, struct str text, struct edit_places *ret_places)
{
    struct edit_places places = {0};
    struct edit_match match;
    size_t line = 1, counted = 0;

    while (edit_finder_next(f, &match) || (places.n == 1 && next_overlapping(f, &match))) {
        if (places.n < EDIT_MAX_LINES) {
            line += edit_count_newlines(str_slice(text, counted, match.from - counted));
            counted = match.from;
            places.lines[places.n] = line;
        }
        places.n++;
    }
    edit_finder_rewind(f);
    *ret_places = places;
}
