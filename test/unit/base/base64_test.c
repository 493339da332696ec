/* base64_test.c */
#include "test.h"

#include "base/base64.h"

static const struct {
    const char *bytes, *padded, *url;
} rfc_examples[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/", "-_-_"},
};

TEST(the_examples_of_the_rfc_come_out_in_both_alphabets)
{
    for (size_t i = 0; i < ARRAY_LEN(rfc_examples); i++) {
        AUTO(strbuf) struct strbuf padded = {0}, url = {0};

        base64_add(&padded, str_of(rfc_examples[i].bytes));
        base64url_add(&url, str_of(rfc_examples[i].bytes));
        assert_str(strbuf_str(&padded), rfc_examples[i].padded);
        assert_str(strbuf_str(&url), rfc_examples[i].url);
    }
}

static void assert_decodes(const char *text, const char *bytes)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_ok(base64_decode(&out, str_of(text)));
    assert_str(strbuf_str(&out), bytes);
}

TEST(both_alphabets_decode_with_and_without_padding)
{
    for (size_t i = 0; i < ARRAY_LEN(rfc_examples); i++) {
        assert_decodes(rfc_examples[i].padded, rfc_examples[i].bytes);
        assert_decodes(rfc_examples[i].url, rfc_examples[i].bytes);
    }
    assert_decodes("+_-/", "\xfb\xff\xbf");
}

TEST(white_space_is_skipped_wherever_it_stands)
{
    assert_decodes(" Zm9v\r\nYm\tE = \n", "fooba");
    assert_decodes(" \n ", "");
}

TEST(the_spare_bits_of_the_last_letter_do_not_matter)
{
    assert_decodes("Zh==", "f");
    assert_decodes("Zm9", "fo");
}

TEST(every_byte_survives_a_round_trip_at_every_length)
{
    char bytes[256];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 167 + 13);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        AUTO(strbuf) struct strbuf text = {0}, back = {0};

        base64_add(&text, str_make(bytes, n));
        assert_int_equal(text.n % 4, 0);
        assert_ok(base64_decode(&back, strbuf_str(&text)));
        assert_true(str_eq(strbuf_str(&back), str_make(bytes, n)));
    }
}

TEST(text_that_is_not_base64_is_refused_and_nothing_is_appended)
{
    static const char *const bad[] = {
        "Z",    "Zm9vY",  "Zg=",   "Zg===",    "Zm8==", "Zm9v=",     "Zm9v====", "=",
        "====", "Zg==Zg", "Zm9v*", "Zm9v\x80", "Zm.9v", "Zm9v,Zm9v", "Z===",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(strbuf) struct strbuf out = {0};

        strbuf_add_cstr(&out, "before");
        assert_err(base64_decode(&out, str_of(bad[i])), ERR_VALIDATION);
        assert_str(strbuf_str(&out), "before");
    }
}

TEST(the_error_says_which_byte_is_wrong)
{
    AUTO(strbuf) struct strbuf out = {0};
    AUTO(err) struct err *e = base64_decode(&out, S("Zm9v!Zg"));

    assert_string_equal(e->text, "base64: byte 5 is not a base64 character");
}

TEST(the_cap_of_the_buffer_holds)
{
    AUTO(strbuf) struct strbuf out;

    strbuf_init(&out, 5);
    assert_ok(base64_decode(&out, S("Zm9vYmE=")));
    strbuf_clear(&out);
    assert_err(base64_decode(&out, S("Zm9vYmFy")), ERR_VALIDATION);
    strbuf_clear(&out);
    base64_add(&out, S("foobar"));
    assert_err(strbuf_check(&out, "text"), ERR_VALIDATION);
}

RUN_TESTS(UNIT(the_examples_of_the_rfc_come_out_in_both_alphabets),
          UNIT(both_alphabets_decode_with_and_without_padding),
          UNIT(white_space_is_skipped_wherever_it_stands),
          UNIT(the_spare_bits_of_the_last_letter_do_not_matter),
          UNIT(every_byte_survives_a_round_trip_at_every_length),
          UNIT(text_that_is_not_base64_is_refused_and_nothing_is_appended),
          UNIT(the_error_says_which_byte_is_wrong), UNIT(the_cap_of_the_buffer_holds))
