/* media_test.c - files whose bytes are not what they are called. What keel-media does is tested
 * with the program (test/flow/media_test.py). */
#include "port/media.h"

#include "test.h"

#define GIF "GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"

/* Whether it is sent; the note says why not. */
static bool fit(struct media *m, struct strbuf *note)
{
    static const struct media_limits none = {0};
    AUTO(arena) struct arena a = {0};
    bool is_fine;

    assert_ok(media_fit(&none, m, &a, note, &is_fine));
    return is_fine;
}

TEST(bytes_that_are_no_image_are_left_out_whatever_they_are_called)
{
    struct media text = {.mime = S("image/png"), .source = MEDIA_BYTES, .data = S("hello\n")};
    struct media zip = {
        .mime = S("application/pdf"), .source = MEDIA_BYTES, .data = S("PK\3\4\0\0\0\0")};
    AUTO(strbuf) struct strbuf of_text = {0}, of_zip = {0};

    assert_false(fit(&text, &of_text));
    assert_string_equal(
        strbuf_cstr(&of_text),
        "[image left out: it is called image/png, but its bytes are a text file]\n");
    assert_false(fit(&zip, &of_zip));
    assert_string_equal(
        strbuf_cstr(&of_zip),
        "[document left out: it is called application/pdf, but its bytes are a ZIP archive]\n");
}

TEST(what_the_bytes_are_wins_over_what_they_are_called)
{
    struct media gif = {.mime = S("application/pdf"), .source = MEDIA_BYTES, .data = S(GIF)};
    struct media tiff = {.mime = S("image/png"), .source = MEDIA_BYTES, .data = S("II*\0\1\2")};
    struct media svg = {
        .mime = S("image/png"), .source = MEDIA_BYTES, .data = S("<svg width='1'></svg>")};
    AUTO(strbuf) struct strbuf note = {0};

    assert_true(fit(&gif, &note));
    assert_str(gif.mime, "image/gif");
    assert_true(fit(&tiff, &note));
    assert_str(tiff.mime, "image/tiff");
    assert_true(fit(&svg, &note));
    assert_str(svg.mime, "image/svg+xml");
    assert_int_equal(note.n, 0);
}

TEST(what_is_not_called_an_image_or_a_document_is_as_it_is)
{
    struct media text = {.mime = S("text/plain"), .source = MEDIA_BYTES, .data = S("hello\n")};
    struct media url = {.mime = S("image/png"), .source = MEDIA_URL, .data = S("https://a/b")};
    AUTO(strbuf) struct strbuf note = {0};

    assert_true(fit(&text, &note) && fit(&url, &note));
    assert_str(text.mime, "text/plain");
    assert_str(url.mime, "image/png");
    assert_int_equal(note.n, 0);
}

RUN_TESTS(UNIT(bytes_that_are_no_image_are_left_out_whatever_they_are_called),
          UNIT(what_the_bytes_are_wins_over_what_they_are_called),
          UNIT(what_is_not_called_an_image_or_a_document_is_as_it_is))
