/* uuid_test.c */
#include "test.h"

#include "base/sha256.h"
#include "base/uuid.h"

TEST(version_7_has_the_layout_of_the_example_in_the_rfc)
{
    /* RFC 9562, appendix A.6: the bits under version and variant are not ours to choose */
    static const unsigned char random[10] = {0xFC, 0xC3, 0xD8, 0xC4, 0xDC,
                                             0x0C, 0x0C, 0x07, 0x39, 0x8F};
    char text[UUID_TEXT_SIZE];

    uuid_v7(0x017F22E279B0, random, text);
    assert_string_equal(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST(version_7_sorts_by_time_whatever_the_random_bytes)
{
    static const int64_t times[] = {
        INT64_MIN, 1, 255, 256, 65536, 1700000000000, 1700000000001, (int64_t)1 << 47};
    unsigned char low[10], high[10];
    char earlier[UUID_TEXT_SIZE], later[UUID_TEXT_SIZE];

    memset(low, 0, sizeof low);
    memset(high, 0xFF, sizeof high);
    for (size_t i = 1; i < ARRAY_LEN(times); i++) {
        uuid_v7(times[i - 1], high, earlier);
        uuid_v7(times[i], low, later);
        assert_true(strcmp(earlier, later) < 0);
    }
}

TEST(version_and_variant_stand_whatever_the_random_bytes)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned char random[10];
        char text[UUID_TEXT_SIZE];

        memset(random, (int)byte, sizeof random);
        uuid_v7(-5, random, text);
        assert_int_equal(text[14], '7');
        assert_non_null(strchr("89ab", text[19]));
        assert_true(str_starts(str_of(text), S("00000000-0000-7")));
        assert_true(uuid_is_valid(str_of(text)));
    }
}

TEST(a_name_gives_the_same_version_8_uuid_every_time)
{
    char text[UUID_TEXT_SIZE], hex[SHA256_HEX_SIZE];

    uuid_from_name(S("session"), S("main"), text);
    assert_true(uuid_is_valid(str_of(text)));
    assert_int_equal(text[14], '8');
    assert_non_null(strchr("89ab", text[19]));

    sha256_hex(S("\0\0\0\0\0\0\0\7sessionmain"), hex);
    assert_memory_equal(text, hex, 8);
    assert_memory_equal(text + 9, hex + 8, 4);
    assert_memory_equal(text + 15, hex + 13, 3);
    assert_memory_equal(text + 20, hex + 17, 3);
    assert_memory_equal(text + 24, hex + 20, 12);
}

TEST(name_space_and_name_do_not_run_into_each_other)
{
    char one[UUID_TEXT_SIZE], two[UUID_TEXT_SIZE];

    uuid_from_name(S("ab"), S("c"), one);
    uuid_from_name(S("a"), S("bc"), two);
    assert_string_not_equal(one, two);
}

TEST(only_8_4_4_4_12_hex_digits_are_a_uuid)
{
    assert_true(uuid_is_valid(S("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")));
    assert_true(uuid_is_valid(S("00000000-0000-0000-0000-000000000000")));
    assert_true(uuid_is_valid(S("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")));
    assert_false(uuid_is_valid(S("")));
    assert_false(uuid_is_valid(S("017f22e279b07cc398c4dc0c0c07398f")));
    assert_false(uuid_is_valid(S("017f22e2-79b0-7cc3-98c4-dc0c0c07398")));
    assert_false(uuid_is_valid(S("017f22e2-79b0-7cc3-98c4-dc0c0c07398g")));
    assert_false(uuid_is_valid(S("017f22e2-79b0-7cc3-98c4dc0c0c07398ff")));
    assert_false(uuid_is_valid(S("017f22e2-79b0-7cc3-98c4-dc0c0c07398f ")));
    assert_false(uuid_is_valid(S("{17f22e2-79b0-7cc3-98c4-dc0c0c07398f")));
}

RUN_TESTS(UNIT(version_7_has_the_layout_of_the_example_in_the_rfc),
          UNIT(version_7_sorts_by_time_whatever_the_random_bytes),
          UNIT(version_and_variant_stand_whatever_the_random_bytes),
          UNIT(a_name_gives_the_same_version_8_uuid_every_time),
          UNIT(name_space_and_name_do_not_run_into_each_other),
          UNIT(only_8_4_4_4_12_hex_digits_are_a_uuid))
