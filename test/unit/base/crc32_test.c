/* crc32_test.c */
#include "test.h"

#include "base/crc32.h"

TEST(the_published_check_value_comes_out_whole_and_in_pieces)
{
    struct str text = S("123456789");

    assert_int_equal(crc32_add(0, text), 0xcbf43926);
    for (size_t i = 0; i <= text.n; i++)
        assert_int_equal(crc32_add(crc32_add(0, str_slice(text, 0, i)), str_skip(text, i)),
                         0xcbf43926);
    assert_int_equal(crc32_add(0, (struct str){0}), 0);
}

RUN_TESTS(UNIT(the_published_check_value_comes_out_whole_and_in_pieces))
