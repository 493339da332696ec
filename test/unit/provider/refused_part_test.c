/* refused_part_test.c - which file of a request a provider complains about. */
#include "provider/refused_part.h"
#include "test.h"

/* SHA-256 of "hallo". */
#define HALLO "d3751d33f9cd5049c4af2b462735457e4d3baf130bcbb87f389e349fbaeb20b9"

static void finds(const char *body, const char *text, const char *want)
{
    char hex[SHA256_HEX_SIZE];

    refused_part_find(str_of(body), str_of(text), hex);
    assert_string_equal(hex, want);
}

#define IMAGE "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"aGFsbG8=\"}}"
#define OTHER "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"b3RoZXI=\"}}"

static void a_place_in_words_that_are_no_members_is_found(void **state)
{
    finds("{\"messages\":[{\"content\":[" OTHER "," IMAGE "]}]}",
          "HTTP 400: messages.0.content.1.image.source.base64.data: too large", HALLO);
    finds("{\"messages\":[{\"content\":[{\"type\":\"tool_result\",\"content\":[" OTHER "," IMAGE
          "]}]}]}",
          "messages.0.content.0.tool_result.content.1.image.source: bad", HALLO);
}

static void a_place_in_brackets_is_found(void **state)
{
    finds("{\"input\":[{\"content\":[{\"image_url\":\"data:image/png;base64,aGFsbG8=\"}]}]}",
          "Invalid 'input[0].content[0].image_url'. Expected an image.", HALLO);
    finds(
        "{\"contents\":[{\"parts\":[{\"text\":\"x\"},{\"inlineData\":{\"data\":\"aGFsbG8=\"}}]}]}",
        "Invalid value at 'contents[0].parts[1].inline_data.data' (TYPE_BYTES)", HALLO);
}

static void an_address_is_hashed_as_it_is(void **state)
{
    char want[SHA256_HEX_SIZE];

    sha256_hex(S("https://example.org/a.png"), want);
    finds("{\"messages\":[{\"content\":[{\"source\":{\"type\":\"url\",\"url\":"
          "\"https://example.org/a.png\"}}]}]}",
          "messages.0.content.0.image.source.url: unable to download the file", want);
}

static void several_files_at_a_place_are_none(void **state)
{
    finds("{\"messages\":[{\"content\":[" OTHER "," IMAGE "]}]}", "messages.0: too many images",
          "");
}

static void a_place_that_is_not_there_is_none(void **state)
{
    finds("{\"messages\":[{\"content\":[" IMAGE "]}]}", "messages.7.content.0.image", "");
    finds("{\"messages\":[{\"content\":[" IMAGE "]}]}", "your messages are wrong", "");
    finds("not JSON", "messages.0", "");
}

RUN_TESTS(UNIT(a_place_in_words_that_are_no_members_is_found), UNIT(a_place_in_brackets_is_found),
          UNIT(an_address_is_hashed_as_it_is), UNIT(several_files_at_a_place_are_none),
          UNIT(a_place_that_is_not_there_is_none))
