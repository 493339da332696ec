/* visible_test.c - what a person would not see, or what would steer a terminal, is spelt out. */
#include "test.h"

#include "base/utf8.h"
#include "base/visible.h"

static struct str shown(struct strbuf *out, const char *text)
{
    strbuf_clear(out);
    visible_add(out, str_of(text));
    return strbuf_str(out);
}

static struct str rest(struct strbuf *out, const char *text)
{
    strbuf_clear(out);
    return visible_add_rest(out, str_of(text)) ? strbuf_str(out) : S("as it is");
}

TEST(control_characters_are_spelt_out)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_str(shown(&out, "\033]0;x\a\b"), "\\x1b]0;x\\x07\\x08");
    assert_str(shown(&out, "\x7f\xc2\x9b"
                           "31m\xc2\x85"),
               "\\x7f\\x9b31m\\x85");
    assert_str(shown(&out, "a\tb\r\nc"), "a\tb\nc");
    assert_str(shown(&out, "\x9b\xff\xe2\x80"), "\\x9b\\xff\\xe2\\x80");
    assert_str(shown(&out, ""), "");
}

TEST(marks_of_direction_and_what_takes_no_place_are_spelt_out)
{
    static const uint32_t characters[] = {0x61c,  0x200e, 0x200f, 0x202a, 0x202b,  0x202c,  0x202d,
                                          0x202e, 0x2066, 0x2067, 0x2068, 0x2069,  0x200b,  0x2028,
                                          0x2029, 0x2060, 0x206f, 0xfeff, 0xe0001, 0xe0041, 0x34f,
                                          0x115f, 0x180b, 0x2800, 0xfe00, 0xe0100};

    for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        char text[8] = "a";
        unsigned n = utf8_encode(characters[i], text + 1);

        text[1 + n] = 'b';
        text[2 + n] = 0;
        shown(&out, text);
        if (!str_starts(strbuf_str(&out), S("a\\u")) || !str_ends(strbuf_str(&out), S("b")))
            fail_msg("U+%04X: %s", characters[i], strbuf_cstr(&out));
        assert_true(visible_add_rest(&out, str_of(text)));
    }
}

TEST(ordinary_texts_stay_as_they_are)
{
    static const char *const texts[] = {"plain",  "Grüße",
                                        "שלום",   "مرحبا",
                                        "日本語", "👩‍👩‍👧 🏳️‍🌈",
                                        "नमस्ते",   "می‌خواهم",
                                        "a b c",  "{\"a\": 1}"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(strbuf) struct strbuf out = {0};

        assert_str(shown(&out, texts[i]), texts[i]);
        assert_str(rest(&out, texts[i]), "as it is");
    }
}

TEST(the_rest_keeps_colours_and_stays_json)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_str(rest(&out, "\033[1mx\033[0m\r\n"), "as it is");
    assert_str(rest(&out, "\033[1m\u202e\033[0m"), "\033[1m\\u202e\033[0m");
    assert_str(rest(&out, "{\"a\":\"\x7f\xc2\x9b\U000e0041\"}"),
               "{\"a\":\"\\u007f\\u009b\\udb40\\udc41\"}");
}

RUN_TESTS(UNIT(control_characters_are_spelt_out),
          UNIT(marks_of_direction_and_what_takes_no_place_are_spelt_out),
          UNIT(ordinary_texts_stay_as_they_are), UNIT(the_rest_keeps_colours_and_stays_json))
