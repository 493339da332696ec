/* aws_sign_test.c - the signatures of AWS's own test suite for Signature Version 4. */
#include "test.h"

#include "provider/aws_sign.h"

#define TOKEN                                                                                      \
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSP" \
    "fIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT" \
    "7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlz" \
    "m8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
#define FORM_DIGEST "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"

static const struct vector {
    const char *name, *method, *path, *token, *headers, *body, *signed_headers, *signature;
} vectors[] = {
    {"get-vanilla", "GET", "/", "", "", "", "host;x-amz-date",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1", "", "", "",
     "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-unreserved", "GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
     "", "", "", "host;x-amz-date",
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-utf8", "GET", "/\xe1\x88\xb4", "", "", "", "host;x-amz-date",
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-vanilla-with-session-token", "GET", "/",
     "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267", "", "",
     "host;x-amz-date;x-amz-security-token",
     "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"},
    {"post-vanilla", "POST", "/", "", "", "", "host;x-amz-date",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-sts-header-before", "POST", "/", TOKEN, "", "", "host;x-amz-date;x-amz-security-token",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    {"post-x-www-form-urlencoded", "POST", "/", "",
     "Content-Type:application/x-www-form-urlencoded\nContent-Length:13\n"
     "x-amz-content-sha256:" FORM_DIGEST,
     "Param1=value1", "content-length;content-type;host;x-amz-content-sha256;x-amz-date",
     "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"},
};

static void add_lines(struct arena *a, struct http_headers *h, struct str lines)
{
    struct str line;

    while (lines.n && str_split(&lines, '\n', &line)) {
        size_t colon = str_find_char(line, ':');

        http_headers_add(a, h, str_slice(line, 0, colon), str_skip(line, colon + 1));
    }
}

static struct aws_signer signer_of(const char *token)
{
    return (struct aws_signer){.key_id = S("AKIDEXAMPLE"),
                               .secret_key = S("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                               .session_token = str_of(token),
                               .region = S("us-east-1"),
                               .service = S("service"),
                               .unix_ms = 1440938160000}; /* 2015-08-30T12:36:00Z */
}

TEST(the_signatures_of_the_published_requests_come_out)
{
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        const struct vector *v = &vectors[i];
        AUTO(arena) struct arena a = {0};
        struct aws_signer signer = signer_of(v->token);
        struct http_request r = {.method = v->method, .body = str_of(v->body)};
        struct str want = arena_format(
            &a,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=%s, Signature=%s",
            v->signed_headers, v->signature);

        r.url = arena_format(&a, "https://example.amazonaws.com%s", v->path);
        add_lines(&a, &r.headers, str_of(v->headers));
        assert_ok(aws_sign(&signer, &a, &r));
        if (!str_eq(http_headers_get(&r.headers, "authorization"), want))
            fail_msg("%s:\n%s\n%" STR_FMT, v->name, want.p,
                     STR_ARG(http_headers_get(&r.headers, "authorization")));
        assert_str(http_headers_get(&r.headers, "x-amz-date"), "20150830T123600Z");
        assert_str(http_headers_get(&r.headers, "x-amz-security-token"), v->token);
    }
}

/* Proxies may change them on the way. */
TEST(other_headers_are_not_signed)
{
    AUTO(arena) struct arena a = {0};
    struct aws_signer signer = signer_of("");
    struct http_request r = {.url = S("http://127.0.0.1:8080/model/x%3A0/invoke")};

    add_lines(&a, &r.headers, S("Accept:x\nUser-Agent:y\nX-Team:z\nX-Amz-Thing:  a   b "));
    assert_ok(aws_sign(&signer, &a, &r));
    assert_true(str_find(http_headers_get(&r.headers, "authorization"),
                         S("SignedHeaders=host;x-amz-date;x-amz-thing,")) != STR_NONE);
}

RUN_TESTS(UNIT(the_signatures_of_the_published_requests_come_out),
          UNIT(other_headers_are_not_signed))
