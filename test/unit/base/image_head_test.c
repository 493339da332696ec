/* image_head_test.c - how large images are, and whether all of them is there. */
#include "base/image_head.h"
#include "test.h"

static void reads(struct str bytes, const char *name, uint32_t width, uint32_t height,
                  enum image_state state)
{
    struct image_head head;

    assert_true(image_head_read(bytes, &head));
    assert_string_equal(head.name, name);
    assert_int_equal(head.width, width);
    assert_int_equal(head.height, height);
    assert_int_equal(head.state, state);
}

/* One white pixel each. */
#define PNG_HEAD                                                                                   \
    "\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\001\000\000\000" \
    "\001\010\000\000\000\000\072\176\233\125"
#define PNG_DATA                                                                                   \
    "\000\000\000\012\111\104\101\124\170\234\143\370\017\000\001\001\001\000\261\070\366\024"
#define PNG_WRONG_DATA                                                                             \
    "\000\000\000\012\111\104\101\124\170\234\142\370\017\000\001\001\001\000\261\070\366\024"
#define PNG_END "\000\000\000\000\111\105\116\104\256\102\140\202"
#define GIF "GIF89a\1\0\2\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\1\0\2\0\0\2\2\x44\1\0;"
#define JPEG                                                                                       \
    "\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x0b\x08\0\3\0\2\1\1\x11\0\xff\xda\0\x08\1\1\0\0\x3f\0\x12"   \
    "\xff"                                                                                         \
    "\xd9"
#define WEBP "RIFF\x1c\0\0\0WEBPVP8L\x11\0\0\0\x2f\4\xc0\1\0\7\x10\xfd\x8f\xfe\x07\x22\xa2\xff\1\0"

static void sizes_are_read(void **state)
{
    reads(S(PNG_HEAD PNG_DATA PNG_END), "PNG", 1, 1, IMAGE_WHOLE);
    reads(S(GIF), "GIF", 1, 2, IMAGE_WHOLE);
    reads(S(JPEG), "JPEG", 2, 3, IMAGE_WHOLE);
    reads(S(WEBP), "WebP", 5, 8, IMAGE_WHOLE);
}

static void every_cut_of_a_file_shows(void **state)
{
    const struct str files[] = {S(PNG_HEAD PNG_DATA PNG_END), S(JPEG), S(WEBP)};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        for (size_t n = 12; n < files[i].n; n++) {
            struct image_head head;

            assert_true(image_head_read(str_slice(files[i], 0, n), &head));
            assert_int_not_equal(head.state, IMAGE_WHOLE);
        }
}

static void a_gif_needs_its_first_frame_only(void **state)
{
    reads(str_slice(S(GIF), 0, sizeof GIF - 2), "GIF", 1, 2, IMAGE_WHOLE);
    reads(str_slice(S(GIF), 0, sizeof GIF - 3), "GIF", 1, 2, IMAGE_CUT);
}

static void a_wrong_checksum_shows(void **state)
{
    reads(S(PNG_HEAD PNG_WRONG_DATA PNG_END), "PNG", 1, 1, IMAGE_WRONG);
}

static void other_files_are_none(void **state)
{
    struct image_head head;

    assert_false(image_head_read(S("BM......"), &head));
    assert_false(image_head_read(S("RIFF\0\0\0\0WAVE"), &head));
    assert_false(image_head_read(S(""), &head));
}

RUN_TESTS(UNIT(sizes_are_read), UNIT(every_cut_of_a_file_shows),
          UNIT(a_gif_needs_its_first_frame_only), UNIT(a_wrong_checksum_shows),
          UNIT(other_files_are_none))
