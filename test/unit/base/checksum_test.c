/* checksum_test.c - whatever is changed, the sum is another. */
#include "base/checksum.h"
#include "test.h"

TEST(every_bit_counts_at_every_length)
{
    unsigned char bytes[40];

    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct str text = str_make((const char *)bytes, n);
        uint64_t before;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)(17 * i + n);
        before = checksum_add(CHECKSUM_START, text);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(checksum_add(CHECKSUM_START, text) != before);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        assert_true(checksum_add(CHECKSUM_START, text) == before);
    }
}

TEST(nothing_moves_from_one_text_to_the_next_unseen)
{
    uint64_t a = checksum_add(checksum_add(CHECKSUM_START, S("ab")), S("c"));
    uint64_t b = checksum_add(checksum_add(CHECKSUM_START, S("a")), S("bc"));
    uint64_t c = checksum_add(checksum_add(CHECKSUM_START, S("abc")), S(""));
    uint64_t zeros = checksum_add(CHECKSUM_START, str_make("\0\0", 2));

    assert_true(a != b && b != c && a != c);
    assert_true(zeros != checksum_add(CHECKSUM_START, str_make("\0", 1)));
}

/* Stored sums must stay what they are. */
TEST(it_is_the_same_everywhere)
{
    assert_true(checksum_add(CHECKSUM_START, S("keel keeps sessions")) == 0xedbd4cd7ecf4be9fu);
}

RUN_TESTS(UNIT(every_bit_counts_at_every_length),
          UNIT(nothing_moves_from_one_text_to_the_next_unseen), UNIT(it_is_the_same_everywhere))
