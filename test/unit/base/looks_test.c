/* looks_test.c - characters that cannot be told apart by looking at them. */
#include "test.h"

#include "base/looks.h"

static void assert_same(const char *a, const char *b)
{
    assert_true(looks_same(str_of(a), str_of(b)));
    assert_true(looks_same(str_of(b), str_of(a)));
}

static void assert_other(const char *a, const char *b)
{
    assert_false(looks_same(str_of(a), str_of(b)));
    assert_false(looks_same(str_of(b), str_of(a)));
}

TEST(a_letter_with_an_accent_is_one_character_or_two)
{
    assert_same("caf\u00E9.txt", "cafe\u0301.txt");
    assert_same("Gr\u00F6\u00DFe", "Gro\u0308\u00DFe");
    assert_same("Vi\u1EC7t", "Vie\u0323\u0302t");
    assert_same("\u0419\u043E\u0433\u0430", "\u0418\u0306\u043E\u0433\u0430");
    assert_other("cafe.txt", "cafe\u0301.txt");
    assert_other("caf\u00E9", "caf\u00E9s");
    assert_other("\u043C\u0438\u0440", "\u043C\u0430\u0440");
}

TEST(syllables_and_sound_marks_are_put_together)
{
    assert_same("\uD55C\uAE00.txt", "\u1112\u1161\u11AB\u1100\u1173\u11AF.txt");
    assert_same("\uAC00", "\u1100\u1161");
    assert_other("\uD55C\uAE00", "\u1112\u1161\u11AB\u1100\u1173");
    assert_same("\u304C\u3071", "\u304B\u3099\u306F\u309A");
    assert_other("\u304B", "\u304B\u3099");
}

TEST(blanks_are_alike_and_what_is_not_seen_does_not_count)
{
    assert_same("at 3.04\u202FPM.png", "at 3.04 PM.png");
    assert_same("a\u00A0b", "a b");
    assert_same("a\u200Bb\uFEFF", "ab");
    assert_other("a b", "ab");
    assert_same("\xFF", "\xFF");
    assert_other("\xFF", "\xFE");
}

TEST(characters_that_look_like_others_are_known)
{
    static const uint32_t others[] = {0xA0,   0xAD,   0x301,  0x1100, 0x11AB,
                                      0x200B, 0x202E, 0x202F, 0x3099, 0xFEFF};
    static const uint32_t plain[] = {' ', 'a', 0xE9, 0x439, 0x3042, 0xAC00, 0x1F600, 0x0E31};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_true(looks_like_others(others[i]));
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        assert_false(looks_like_others(plain[i]));
}

RUN_TESTS(UNIT(a_letter_with_an_accent_is_one_character_or_two),
          UNIT(syllables_and_sound_marks_are_put_together),
          UNIT(blanks_are_alike_and_what_is_not_seen_does_not_count),
          UNIT(characters_that_look_like_others_are_known))
