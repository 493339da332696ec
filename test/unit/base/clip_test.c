/* clip_test.c */
#include "test.h"

#include "base/clip.h"
#include "base/utf8.h"

static void assert_middle(const char *text, size_t max_chars, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_int_equal(clip_middle(&out, str_of(text), max_chars), strcmp(text, want) != 0);
    assert_str(strbuf_str(&out), want);
}

static void assert_lines(const char *text, size_t n_head, size_t n_tail, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_int_equal(clip_lines(&out, str_of(text), n_head, n_tail), strcmp(text, want) != 0);
    assert_str(strbuf_str(&out), want);
}

static void assert_line(const char *line, size_t max_chars, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_int_equal(clip_line(&out, str_of(line), max_chars), strcmp(line, want) != 0);
    assert_str(strbuf_str(&out), want);
}

TEST(text_that_fits_stays_as_it_is)
{
    assert_middle("", 0, "");
    assert_middle("abc", 3, "abc");
    assert_middle("\xE2\x82\xAC\xE2\x82\xAC", 2, "\xE2\x82\xAC\xE2\x82\xAC");
    assert_lines("a\nb\nc", 2, 1, "a\nb\nc");
    assert_lines("a\nb\n", SIZE_MAX, SIZE_MAX, "a\nb\n");
    assert_line("abc", 3, "abc");
}

TEST(the_middle_goes_and_the_note_stands_on_a_line_of_its_own)
{
    assert_middle("abcdefghij", 5, "abc\n... [5 characters left out] ...\nij");
    assert_middle("abcdefghij", 9, "abcde\n... [1 character left out] ...\nghij");
    assert_middle("abcdefghij", 1, "a\n... [9 characters left out] ...");
    assert_middle("abcdefghij", 0, "... [10 characters left out] ...");
}

TEST(sizes_count_characters_and_none_is_split)
{
    assert_middle("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC", 2,
                  "\xE2\x82\xAC\n... [2 characters left out] ...\n\xE2\x82\xAC");
    assert_line("\xC3\xA4\xC3\xB6\xC3\xBC", 2, "\xC3\xA4\xC3\xB6... [1 character left out]");
    assert_line("\xff\xff\xff", 1, "\xff... [2 characters left out]");
}

TEST(a_cut_moves_to_a_line_end_that_is_near)
{
    assert_middle("1234567\n9xxxxxxxxxxxx1\n3456789", 18,
                  "1234567\n... [15 characters left out] ...\n3456789");
}

TEST(a_cut_does_not_move_to_a_line_end_that_is_far)
{
    assert_middle("1\n3456789xxxxxxx1234567\n9", 18,
                  "1\n3456789\n... [7 characters left out] ...\n1234567\n9");
}

TEST(a_cut_never_splits_a_carriage_return_from_its_newline)
{
    assert_middle("abc\r\nxxxxxxxxxxxxxxxx", 8, "abc\n... [14 characters left out] ...\nxxxx");
    assert_middle("xxxxxxxxxxxxxxxx\r\nabc", 8, "xxxx\n... [14 characters left out] ...\nabc");
}

TEST(lines_go_from_the_middle)
{
    assert_lines("a\nb\nc\nd\ne\n", 1, 2, "a\n... [2 lines left out] ...\nd\ne\n");
    assert_lines("a\nb\nc\nd", 1, 1, "a\n... [2 lines left out] ...\nd");
    assert_lines("a\nb\nc", 1, 1, "a\n... [1 line left out] ...\nc");
    assert_lines("a\nb\n", 0, 1, "... [1 line left out] ...\nb\n");
    assert_lines("a\nb\n", 1, 0, "a\n... [1 line left out] ...");
    assert_lines("a\n\n\nb", 0, 0, "... [4 lines left out] ...");
}

TEST(a_long_line_keeps_its_start)
{
    assert_line("abcdefghij", 4, "abcd... [6 characters left out]");
    assert_line("abc", 0, "... [3 characters left out]");
}

/* --- for any text --- */

static const char *const pieces[] = {"a",    "b",        "\n",           "\r\n",
                                     "\xff", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};

static void make_text(struct strbuf *out, uint32_t seed, size_t n_pieces)
{
    while (n_pieces--) {
        seed = seed * 1664525 + 1013904223;
        strbuf_add_cstr(out, pieces[(seed >> 16) % ARRAY_LEN(pieces)]);
    }
}

/* Whether the text is this start, n_gone characters and this end, within the limit. */
static bool is_clip(struct str text, struct str head, size_t n_gone, struct str tail,
                    size_t max_chars)
{
    size_t n_kept = utf8_count(head) + utf8_count(tail);

    return str_starts(text, head) && str_ends(text, tail) && n_kept <= max_chars &&
           n_kept + n_gone == utf8_count(text);
}

static void assert_clipped(struct str text, struct str got, size_t max_chars)
{
    size_t note = str_find(got, S("... [")), close = str_find(got, S("] ..."));
    struct str head = str_slice(got, 0, note), tail;
    size_t n_gone;

    assert_true(note != STR_NONE && close != STR_NONE);
    n_gone = strtoul(got.p + note + 5, NULL, 10);
    tail = str_skip(got, close + 5 + (close + 5 < got.n));
    if (is_clip(text, head, n_gone, tail, max_chars))
        return;
    head.n--; /* the newline before the note may be the note's own */
    assert_true(is_clip(text, head, n_gone, tail, max_chars));
}

TEST(whatever_is_cut_the_ends_are_the_texts_and_the_count_is_right)
{
    size_t n_cut = 0;

    for (uint32_t seed = 0; seed < 60; seed++) {
        AUTO(strbuf) struct strbuf text = {0};

        make_text(&text, seed, 40);
        for (size_t max = 0; max < 50; max++) {
            AUTO(strbuf) struct strbuf out = {0};
            bool is_long = utf8_count(strbuf_str(&text)) > max;

            assert_int_equal(clip_middle(&out, strbuf_str(&text), max), is_long);
            if (is_long)
                assert_clipped(strbuf_str(&text), strbuf_str(&out), max);
            else
                assert_true(str_eq(strbuf_str(&out), strbuf_str(&text)));
            n_cut += is_long;
        }
    }
    assert_true(n_cut > 1000);
}

RUN_TESTS(UNIT(text_that_fits_stays_as_it_is),
          UNIT(the_middle_goes_and_the_note_stands_on_a_line_of_its_own),
          UNIT(sizes_count_characters_and_none_is_split),
          UNIT(a_cut_moves_to_a_line_end_that_is_near),
          UNIT(a_cut_does_not_move_to_a_line_end_that_is_far),
          UNIT(a_cut_never_splits_a_carriage_return_from_its_newline),
          UNIT(lines_go_from_the_middle), UNIT(a_long_line_keeps_its_start),
          UNIT(whatever_is_cut_the_ends_are_the_texts_and_the_count_is_right))
