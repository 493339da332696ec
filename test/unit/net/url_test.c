/* url_test.c */
#include "test.h"

#include "net/url.h"

/* scheme|userinfo|host|port|path|query|fragment */
static struct str parts(struct arena *a, const char *text)
{
    struct url u;

    assert_ok(url_parse(a, str_of(text), &u));
    return arena_format(
        a, "%" STR_FMT "|%" STR_FMT "|%" STR_FMT "|%d|%" STR_FMT "|%" STR_FMT "|%" STR_FMT,
        STR_ARG(u.scheme), STR_ARG(u.userinfo), STR_ARG(u.host), u.port, STR_ARG(u.path),
        STR_ARG(u.query), STR_ARG(u.fragment));
}

TEST(a_url_is_taken_apart)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"https://api.example.com/v1/messages", "https||api.example.com|443|/v1/messages||"},
        {"HTTP://User:Pw@Example.COM:8080/a?b=c?d#e?f",
         "http|User:Pw|example.com|8080|/a|b=c?d|e?f"},
        {"http://localhost", "http||localhost|80|||"},
        {"http://localhost?q", "http||localhost|80||q|"},
        {"http://localhost#f", "http||localhost|80|||f"},
        {"http://a_b.c-d.:81/", "http||a_b.c-d|81|/||"},
        {"http://h:/", "http||h|80|/||"},
        {"http://127.0.0.1/", "http||127.0.0.1|80|/||"},
        {"http://127.0.0.1./", "http||127.0.0.1|80|/||"},
        {"http://[0:0::0:1]:9/", "http||::1|9|/||"},
        {"http://[::FFFF:1.2.3.4]/", "http||1.2.3.4|80|/||"},
        {"http://[::ffff:5db8:d822]:8080/", "http||93.184.216.34|8080|/||"},
        {"http://[64:ff9b::1.2.3.4]/", "http||64:ff9b::102:304|80|/||"},
        {"wss://h/", "wss||h|443|/||"},
        {"gopher://h/", "gopher||h|0|/||"},
        {"https://de.example.org/wiki/K\xC3\xA4se",
         "https||de.example.org|443|/wiki/K\xC3\xA4se||"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        assert_str(parts(&a, cases[i].text), cases[i].want);
    }
}

TEST(a_bad_url_is_refused_with_its_reason)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "scheme"},
        {"example.com", "scheme"},
        {"/v1/messages", "scheme"},
        {"http:/example.com", "scheme"},
        {"1http://h/", "scheme"},
        {"http:///path", "no host"},
        {"http://?q", "no host"},
        {"http://user@/", "no host"},
        {"http://./", "empty"},
        {"http://a..b/", "empty"},
        {"http://.a/", "empty"},
        {"http://a b/", "space"},
        {"http://h/a b", "space"},
        {"http://h/\r\nX: y", "control"},
        {"http://h/\x7f", "control"},
        {"http://h\\@evil/", "backslash"},
        {"http://a@b@c/", "character"},
        {"http://%41/", "character"},
        {"http://b\xC3\xBC"
         "cher.example/",
         "xn--"},
        {"http://h:0/", "between"},
        {"http://h:65536/", "between"},
        {"http://h:99999999999999999999/", "between"},
        {"http://h:8x/", "not a number"},
        {"http://h:-1/", "not a number"},
        {"http://[::1/", "closed"},
        {"http://[::1]x/", "follows"},
        {"http://[fe80::1%25eth0]/", "IPv6"},
        {"http://[127.0.0.1]/", "IPv6"},
        {"http://[]/", "IPv6"},
        {"http://0177.0.0.1/", "number"},
        {"http://0x7f.1/", "number"},
        {"http://0X7F000001/", "number"},
        {"http://2130706433/", "number"},
        {"http://127.1/", "number"},
        {"http://127.0.0.256/", "number"},
        {"http://1.2.3.4.5/", "number"},
        {"http://example.0x/", "number"},
        {"http://example.1/", "number"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        struct url u;
        AUTO(err) struct err *e = url_parse(&a, str_of(cases[i].text), &u);

        if (!err_is(e, ERR_VALIDATION) || !strstr(e->text, cases[i].why))
            fail_msg("%s gave: %s", cases[i].text, e ? e->text : "no error");
    }
}

TEST(length_is_bounded)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct url u;

    strbuf_add_cstr(&text, "http://h/");
    while (text.n < URL_MAX_BYTES)
        strbuf_add_char(&text, 'x');
    assert_ok(url_parse(&a, strbuf_str(&text), &u));
    strbuf_add_char(&text, 'x');
    assert_err(url_parse(&a, strbuf_str(&text), &u), ERR_VALIDATION);
    strbuf_clear(&text);
    strbuf_add_cstr(&text, "http://");
    for (int i = 0; i < 64; i++)
        strbuf_add_char(&text, 'a');
    assert_err(url_parse(&a, strbuf_str(&text), &u), ERR_VALIDATION);
    for (int i = 0; i < 64; i++)
        strbuf_add_cstr(&text, ".abc");
    assert_err(url_parse(&a, str_make(text.p, 7 + 64), &u), ERR_VALIDATION);
    assert_err(url_parse(&a, strbuf_str(&text), &u), ERR_VALIDATION);
}

TEST(a_message_about_a_bad_url_holds_no_password)
{
    static const char *const texts[] = {"http:/u:hunter2@h", "http://u:hunter2@h:x/",
                                        "http://u:hun/ter2@h/", "http://h:y/?api_key=hunter2"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(arena) struct arena a = {0};
        struct url u;
        AUTO(err) struct err *e = url_parse(&a, str_of(texts[i]), &u);

        assert_non_null(e);
        assert_null(strstr(e->text, "ter2"));
    }
}

TEST(what_is_sent_has_the_host_that_was_checked)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"HTTPS://u:p@Host.:443?q#f", "https://host:443/?q"},
        {"http://[::0001]/K\xC3\xA4se?\xC3\xA4", "http://[::1]/K%C3%A4se?%C3%A4"},
        {"http://h/a%20b", "http://h/a%20b"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        struct url u;

        assert_ok(url_parse(&a, str_of(cases[i].text), &u));
        assert_str(url_format(&a, &u), cases[i].want);
    }
}

TEST(a_base_and_a_path_are_joined_with_one_slash)
{
    static const struct {
        const char *base, *path, *want;
    } cases[] = {
        {"https://h", "v1/messages", "https://h/v1/messages"},
        {"https://h/", "/v1/messages", "https://h/v1/messages"},
        {"https://h/api//", "//x", "https://h/api/x"},
        {"https://h/api?version=1", "chat", "https://h/api/chat?version=1"},
        {"https://h/api/?version=1#f", "chat?alt=sse", "https://h/api/chat?alt=sse&version=1"},
        {"https://h/api", "", "https://h/api/"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        struct str got;

        assert_ok(url_join(&a, str_of(cases[i].base), str_of(cases[i].path), &got));
        assert_str(got, cases[i].want);
    }
}

TEST(joining_refuses_what_is_no_url)
{
    AUTO(arena) struct arena a = {0};
    struct str got;

    assert_err(url_join(&a, S("h/api"), S("x"), &got), ERR_VALIDATION);
    assert_err(url_join(&a, S("http://h"), S("a b"), &got), ERR_VALIDATION);
}

TEST(a_location_is_resolved_as_rfc_3986_says)
{
    /* Section 5.4, with http://a/b/c/d;p?q as the base. */
    static const struct {
        const char *location, *want;
    } cases[] = {
        {"https://x/y", "https://x/y"},
        {"//g", "http://g"},
        {"/g", "http://a/g"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
    };
    AUTO(arena) struct arena a = {0};
    struct url base;

    assert_ok(url_parse(&a, S("http://a/b/c/d;p?q"), &base));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str got;

        assert_ok(url_resolve(&a, &base, str_of(cases[i].location), &got));
        assert_str(got, cases[i].want);
    }
}

TEST(a_bad_location_is_refused)
{
    AUTO(arena) struct arena a = {0};
    struct url base;
    struct str got;

    assert_ok(url_parse(&a, S("http://a"), &base));
    assert_ok(url_resolve(&a, &base, S("g"), &got));
    assert_str(got, "http://a/g");
    assert_err(url_resolve(&a, &base, S("http://"), &got), ERR_VALIDATION);
    assert_err(url_resolve(&a, &base, S("//127.1/"), &got), ERR_VALIDATION);
    assert_err(url_resolve(&a, &base, S("/\n"), &got), ERR_VALIDATION);
}

TEST(text_is_percent_encoded_except_unreserved_characters)
{
    AUTO(strbuf) struct strbuf out = {0};

    url_add_encoded(&out, S("a-Z0._~ /?&=%\xC3\xA4\0"));
    assert_str(strbuf_str(&out), "a-Z0._~%20%2F%3F%26%3D%25%C3%A4%00");
}

TEST(a_redacted_url_shows_no_credentials)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"https://u:pw@h/p?key=1&x=2", "https://h/p?key=[REDACTED]&x=2"},
        {"https://h/?a=1&API_KEY=x&access_token=y&Sig=z",
         "https://h/?a=1&API_KEY=[REDACTED]&access_token=[REDACTED]&Sig=[REDACTED]"},
        {"https://h/?X-Amz-Signature=a&X-Amz-Credential=b&client_secret=c&password=",
         "https://h/?X-Amz-Signature=[REDACTED]&X-Amz-Credential=[REDACTED]&client_secret="
         "[REDACTED]&password=[REDACTED]"},
        {"https://h/#access_token=x&state=y", "https://h/#access_token=[REDACTED]&state=y"},
        {"https://h/@scope/name?tokens=3", "https://h/@scope/name?tokens=3"},
        {"/relative?token=x", "/relative?token=[REDACTED]"},
        {"", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        assert_str(url_redact(&a, str_of(cases[i].text)), cases[i].want);
    }
}

TEST(addresses_outside_the_public_internet_are_private)
{
    static const char *const texts[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.1",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "168.63.129.16",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.9",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::8.8.8.8",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:c0a8:101::1",
        "3fff::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "4000::1",
        /* no addresses at all */
        "",
        "localhost",
        "example.com",
        "127.1",
        "0177.0.0.1",
        "1.2.3.4 ",
        "fe80::1%eth0",
        "[::1]",
        "1.2.3.4.5",
        "::1::",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!url_address_is_private(str_of(texts[i])))
            fail_msg("%s was taken for public", texts[i]);
    assert_true(url_address_is_private(S("8.8.8.8\0.1")));
}

TEST(addresses_of_the_public_internet_are_not_private)
{
    static const char *const texts[] = {
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2a00::1",
        "3ffe::1",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (url_address_is_private(str_of(texts[i])))
            fail_msg("%s was taken for private", texts[i]);
}

TEST(an_address_in_another_is_found)
{
    AUTO(arena) struct arena a = {0};

    assert_str(url_address_inner(&a, S("64:ff9b::5db8:d822")), "93.184.216.34");
    assert_str(url_address_inner(&a, S("2002:5db8:d822::1")), "93.184.216.34");
    assert_str(url_address_inner(&a, S("::ffff:93.184.216.34")), "93.184.216.34");
    assert_str(url_address_inner(&a, S("2606:4700::1111")), "2606:4700::1111");
    assert_str(url_address_inner(&a, S("93.184.216.34")), "93.184.216.34");
    assert_str(url_address_inner(&a, S("example.com")), "example.com");
}

static bool leads_on(const char *from, const char *to)
{
    AUTO(arena) struct arena a = {0};
    struct url x, y;

    assert_ok(url_parse(&a, str_of(from), &x));
    assert_ok(url_parse(&a, str_of(to), &y));
    return url_leads_on(&x, &y);
}

TEST(what_goes_to_a_host_may_go_on_to_its_https_and_no_further)
{
    assert_true(leads_on("http://a.org/x", "http://a.org/y"));
    assert_true(leads_on("http://a.org/x", "https://a.org/"));
    assert_true(leads_on("http://a.org:8080/x", "http://a.org:8080/"));
    assert_false(leads_on("https://a.org/", "http://a.org/"));
    assert_false(leads_on("http://a.org/", "https://a.org:8443/"));
    assert_false(leads_on("http://a.org:8080/", "https://a.org/"));
    assert_false(leads_on("http://a.org/", "http://a.org:8080/"));
    assert_false(leads_on("http://a.org/", "https://b.a.org/"));
}

TEST(loopback_hosts_are_known)
{
    static const char *const yes[] = {"localhost", "LocalHost", "a.localhost",     "127.0.0.1",
                                      "127.9.9.9", "::1",       "::ffff:127.0.0.1"};
    static const char *const no[] = {
        "",         "localhost.example.com", "notlocalhost", ".localhost", "128.0.0.1", "::2",
        "10.0.0.1", "::ffff:10.0.0.1"};

    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        assert_true(url_host_is_loopback(str_of(yes[i])));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        assert_false(url_host_is_loopback(str_of(no[i])));
}

RUN_TESTS(UNIT(a_url_is_taken_apart), UNIT(an_address_in_another_is_found),
          UNIT(what_goes_to_a_host_may_go_on_to_its_https_and_no_further),
          UNIT(a_bad_url_is_refused_with_its_reason), UNIT(length_is_bounded),
          UNIT(a_message_about_a_bad_url_holds_no_password),
          UNIT(what_is_sent_has_the_host_that_was_checked),
          UNIT(a_base_and_a_path_are_joined_with_one_slash), UNIT(joining_refuses_what_is_no_url),
          UNIT(a_location_is_resolved_as_rfc_3986_says), UNIT(a_bad_location_is_refused),
          UNIT(text_is_percent_encoded_except_unreserved_characters),
          UNIT(a_redacted_url_shows_no_credentials),
          UNIT(addresses_outside_the_public_internet_are_private),
          UNIT(addresses_of_the_public_internet_are_not_private), UNIT(loopback_hosts_are_known))
