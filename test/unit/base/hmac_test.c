/* hmac_test.c - the examples of RFC 4231. */
#include "test.h"

#include "base/hmac.h"

static void check(struct str key, struct str text, const char *want)
{
    unsigned char mac[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    hmac_sha256(key, text, mac);
    sha256_format_hex(mac, hex);
    assert_string_equal(hex, want);
}

TEST(the_published_examples_come_out)
{
    char short_key[20], long_key[131];

    memset(short_key, 0x0b, sizeof short_key);
    memset(long_key, 0xaa, sizeof long_key);
    check(str_make(short_key, sizeof short_key), S("Hi There"),
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check(S("Jefe"), S("what do ya want for nothing?"),
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    check(str_make(long_key, sizeof long_key),
          S("Test Using Larger Than Block-Size Key - Hash Key First"),
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

RUN_TESTS(UNIT(the_published_examples_come_out))
