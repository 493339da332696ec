/* proxy_test.c */
#include "test.h"

#include "net/proxy.h"

static const char *choose(struct arena *a, const char *const *environment, const char *text)
{
    struct proxy_settings settings;
    struct url u;

    proxy_settings_read(a, environment, &settings);
    assert_ok(url_parse(a, str_of(text), &u));
    return proxy_choose(&settings, &u);
}
#define CHOOSE(a, url, ...) choose((a), (const char *const[]){__VA_ARGS__, NULL}, (url))

TEST(each_scheme_has_its_proxy_and_all_proxy_is_for_both)
{
    AUTO(arena) struct arena a = {0};

    assert_null(CHOOSE(&a, "http://h/", "PATH=/bin"));
    assert_string_equal(CHOOSE(&a, "http://h/", "HTTP_PROXY=p1", "HTTPS_PROXY=p2"), "p1");
    assert_string_equal(CHOOSE(&a, "https://h/", "HTTP_PROXY=p1", "HTTPS_PROXY=p2"), "p2");
    assert_string_equal(CHOOSE(&a, "https://h/", "http_proxy=p1", "all_proxy=p3"), "p3");
    assert_null(CHOOSE(&a, "https://h/", "http_proxy=p1"));
    assert_null(CHOOSE(&a, "https://h/", "https_proxy="));
}

TEST(the_lower_case_name_goes_first)
{
    AUTO(arena) struct arena a = {0};

    assert_string_equal(CHOOSE(&a, "https://h/", "HTTPS_PROXY=upper", "https_proxy=lower"),
                        "lower");
}

TEST(http_proxy_in_upper_case_is_not_believed_in_a_cgi_program)
{
    AUTO(arena) struct arena a = {0};

    assert_null(CHOOSE(&a, "http://h/", "REQUEST_METHOD=GET", "HTTP_PROXY=evil"));
    assert_string_equal(CHOOSE(&a, "http://h/", "REQUEST_METHOD=GET", "http_proxy=good"), "good");
}

TEST(no_proxy_names_hosts_addresses_ranges_and_ports)
{
    static const struct {
        const char *list, *url;
        bool direct;
    } cases[] = {
        {"*", "http://any/", true},
        {"example.com", "http://example.com/", true},
        {"example.com", "http://EXAMPLE.com./", true},
        {"example.com", "http://a.b.example.com/", true},
        {".example.com", "http://example.com/", true},
        {".example.com", "http://a.example.com/", true},
        {"example.com.", "http://example.com/", true},
        {"example.com", "http://notexample.com/", false},
        {"a.example.com", "http://example.com/", false},
        {"x, example.com ,y", "http://example.com/", true},
        {"x example.com", "http://example.com/", true},
        {"example.com:8080", "http://example.com:8080/", true},
        {"example.com:8080", "http://example.com/", false},
        {"example.com:80", "http://example.com/", true},
        {"127.0.0.1", "http://127.0.0.1/", true},
        {"127.0.0.1", "http://127.0.0.2/", false},
        {"0.0.1", "http://127.0.0.1/", false},
        {"10.0.0.0/8", "http://10.200.0.1/", true},
        {"10.0.0.0/9", "http://10.200.0.1/", false},
        {"192.168.0.0/22", "http://192.168.3.255/", true},
        {"192.168.0.0/22", "http://192.168.4.0/", false},
        {"10.0.0.0/33", "http://10.0.0.0/", false},
        {"10.0.0.0/x", "http://10.0.0.0/", false},
        {"0.0.0.0/0", "http://1.2.3.4/", true},
        {"::1", "http://[::1]/", true},
        {"[::1]", "http://[::1]/", true},
        {"[::1]:81", "http://[::1]/", false},
        {"[::1]:81", "http://[::1]:81/", true},
        {"fd00::/8", "http://[fd12::1]/", true},
        {"fd00::/8", "http://10.0.0.1/", false},
        {"localhost", "http://127.0.0.1/", false},
        {"", "http://h/", false},
        {", ,", "http://h/", false},
        {".", "http://h/", false},
        {"[", "http://h/", false},
        {":", "http://h/", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        const char *variable = arena_format(&a, "NO_PROXY=%s", cases[i].list).p;
        bool direct = !CHOOSE(&a, cases[i].url, "HTTP_PROXY=p", variable);

        if (direct != cases[i].direct)
            fail_msg("NO_PROXY=%s and %s", cases[i].list, cases[i].url);
    }
}

TEST(what_of_a_proxy_nobody_may_read_is_its_password_in_each_form)
{
    AUTO(arena) struct arena a = {0};
    struct str found[PROXY_N_SECRETS];
    struct url u;

    assert_true(proxy_parse(&a, "http://me:p%40ss@proxy:3128", &u));
    assert_int_equal(proxy_secrets(&a, &u, found), 3);
    assert_str(found[0], "p@ss");
    assert_str(found[1], "me:p@ss");
    assert_str(found[2], "bWU6cEBzcw==");
    assert_true(proxy_parse(&a, "token@proxy", &u));
    assert_int_equal(proxy_secrets(&a, &u, found), 3);
    assert_str(found[0], "token");
    assert_true(proxy_parse(&a, "proxy:3128", &u));
    assert_int_equal(proxy_secrets(&a, &u, found), 0);
    assert_false(proxy_parse(&a, "http://me:p@ss@proxy:x", &u));
}

RUN_TESTS(UNIT(each_scheme_has_its_proxy_and_all_proxy_is_for_both),
          UNIT(what_of_a_proxy_nobody_may_read_is_its_password_in_each_form),
          UNIT(the_lower_case_name_goes_first),
          UNIT(http_proxy_in_upper_case_is_not_believed_in_a_cgi_program),
          UNIT(no_proxy_names_hosts_addresses_ranges_and_ports))
