/* sha256_test.c */
#include "test.h"

#include "base/sha256.h"
#include "base/sha256_blocks.h"

static const char million_digest[] =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(the_published_examples_come_out)
{
    static const struct {
        const char *text, *digest;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char hex[SHA256_HEX_SIZE];

        sha256_hex(str_of(cases[i].text), hex);
        assert_string_equal(hex, cases[i].digest);
    }
}

static void hash_million(size_t piece, char hex[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    AUTO_FREE char *a = mem_alloc(piece);
    struct sha256 h;

    memset(a, 'a', piece);
    sha256_init(&h);
    for (size_t left = 1000000; left; left -= MIN(piece, left))
        sha256_add(&h, str_make(a, MIN(piece, left)));
    sha256_end(&h, digest);
    sha256_format_hex(digest, hex);
}

TEST(a_million_letters_hash_the_same_in_pieces_of_any_size)
{
    static const size_t pieces[] = {1, 3, 55, 63, 64, 65, 127, 1021, 999999, 1000000};

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        char hex[SHA256_HEX_SIZE];

        hash_million(pieces[i], hex);
        assert_string_equal(hex, million_digest);
    }
}

TEST(the_processors_instructions_and_plain_code_come_to_the_same_state)
{
    unsigned char blocks[5 * SHA256_BLOCK_SIZE];
    uint32_t plain[8] = {1, 2, 3, 4, 5, 6, 7, 8}, fast[8];
    uint64_t dice = 1;

    if (!sha256_has_x86()) {
        print_message("[ SKIPPED because this processor has no instructions for it ]\n");
        skip();
    }
    for (int i = 0; i < 200; i++) {
        for (size_t k = 0; k < sizeof blocks; k++)
            blocks[k] = (unsigned char)((dice = dice * 6364136223846793005u + 1) >> 33);
        memcpy(fast, plain, sizeof fast);
        sha256_blocks_plain(plain, blocks, (size_t)i % 6);
        sha256_blocks_x86(fast, blocks, (size_t)i % 6);
        assert_memory_equal(fast, plain, sizeof fast);
    }
}

static void hash_two(struct str first, struct str second, char hex[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, first);
    sha256_add(&h, (struct str){0});
    sha256_add(&h, second);
    sha256_end(&h, digest);
    sha256_format_hex(digest, hex);
}

/* The length field does not always fit behind the text: every place in the block counts. The
 * expected value is the digest of all the digests, computed with another implementation. */
TEST(texts_around_a_block_boundary_hash_right_whole_and_in_two_pieces)
{
    AUTO(strbuf) struct strbuf all = {0};
    char text[130], hex[SHA256_HEX_SIZE];

    memset(text, 'x', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++) {
        char whole[SHA256_HEX_SIZE];

        sha256_hex(str_make(text, n), whole);
        strbuf_add_cstr(&all, whole);
        for (size_t cut = 0; cut <= n; cut++) {
            hash_two(str_make(text, cut), str_make(text + cut, n - cut), hex);
            assert_string_equal(hex, whole);
        }
    }
    sha256_hex(strbuf_str(&all), hex);
    assert_string_equal(hex, "87aca1c44bc7ba8897768170211f0a02063de70801131ff86c7edb9ce32c6a50");
}

RUN_TESTS(UNIT(the_published_examples_come_out),
          UNIT(a_million_letters_hash_the_same_in_pieces_of_any_size),
          UNIT(the_processors_instructions_and_plain_code_come_to_the_same_state),
          UNIT(texts_around_a_block_boundary_hash_right_whole_and_in_two_pieces))
