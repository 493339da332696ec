/* web_address_test.c - which addresses WebFetch asks, and what never leaves. */
#include "test.h"

#include "tool/web.h"
#include "tool/web/route.h"

static const struct web_test_page pages[] = {
    {"/text", TEXT_HEAD, S("some text")},
};

static void serve(struct web *w)
{
    web_serve(w, pages, ARRAY_LEN(pages));
}

/* --- addresses --- */

static void check_refused(const char *format, const char *why)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    AUTO(strbuf) struct strbuf url = {0};
    struct str rest = str_of(format), part;

    serve(&w);
    w.fixture.config.n_allowed_hosts = 0;
    str_split(&rest, '@', &part);
    strbuf_add(&url, part);
    if (rest.p) /* '@' stands for the port */
        strbuf_addf(&url, ":%d%" STR_FMT, server_port(w.server), STR_ARG(rest));
    r = web_fetch(&w, strbuf_cstr(&url));
    if (!r.is_error)
        fail_msg("%s was fetched", format);
    assert_has(strbuf_str(&r.text), why);
    assert_int_equal(server_n_connections(w.server), 0);
}

TEST(private_addresses_are_refused)
{
    static const char *const urls[] = {
        "http://127.0.0.1@/text",
        "http://127.9.9.9@/text",
        "http://0.0.0.0@/text",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]@/text",
        "http://[::]@/text",
        "http://[::ffff:127.0.0.1]@/text",
        "http://[::ffff:7f00:1]@/text",
        "http://[64:ff9b::7f00:1]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
    };

    for (size_t i = 0; i < ARRAY_LEN(urls); i++)
        check_refused(urls[i], "is not on the public Internet");
}

TEST(names_of_private_addresses_are_refused)
{
    static const char *const urls[] = {
        "http://localhost@/text",    "http://LOCALHOST@/text",    "http://localhost.@/text",
        "http://site.test@/text",    "http://site.test.@/text",   "http://metadata.test/",
        "http://below.site.test@/x", "http://rebinds.test@/text",
    };

    for (size_t i = 0; i < ARRAY_LEN(urls); i++)
        check_refused(urls[i], "is not on the public Internet");
}

TEST(one_private_address_of_many_is_enough_to_refuse)
{
    check_refused("http://mixed.test/", "mixed.test (10.0.0.1) is not on the public Internet");
}

TEST(addresses_in_disguise_are_refused)
{
    check_refused("http://2130706433@/text", "the host ends in a number");
    check_refused("http://0177.0.0.1@/text", "the host ends in a number");
    check_refused("http://0x7f.1@/text", "the host ends in a number");
    check_refused("http://127.1@/text", "the host ends in a number");
    check_refused("http://127.0.0.1\\\\.example.org/", "it contains a backslash");
}

TEST(an_address_with_a_user_in_it_is_refused)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = web_fetch(&w, web_url(&w, "good.example@127.0.0.1", "/text"));
    assert_str(strbuf_str(&r.text), "the address has a user before its host, 127.0.0.1. Hint: "
                                    "remove everything up to and including the '@'.");
    assert_int_equal(server_n_connections(w.server), 0);
}

TEST(only_http_and_https_are_fetched)
{
    check_refused("ftp://example.org/", "only http: and https:");
    check_refused("file:///etc/passwd", "it has no host");
    check_refused("/etc/passwd", "it does not start with a scheme");
}

TEST(a_name_is_reached_at_the_address_that_was_found_first)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    w.allowed[0] = S("rebinds.test");
    r = web_fetch(&w, web_url(&w, "rebinds.test", "/text"));
    assert_false(r.is_error);
    assert_has(strbuf_str(&r.text), "some text");
    assert_int_equal(n_lookups, 1);
}

TEST(a_name_that_leads_to_an_allowed_address_is_not_allowed_by_that)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w); /* which allows 127.0.0.1 */
    r = web_fetch(&w, web_url(&w, "site.test", "/text"));
    assert_has(strbuf_str(&r.text), "site.test (127.0.0.1) is not on the public Internet");
    assert_int_equal(server_n_connections(w.server), 0);
}

TEST(an_allowed_host_is_fetched_though_it_is_private)
{
    static const char *const entries[] = {"site.test", "SITE.test.", "*.site.test"};
    static const char *const hosts[] = {"site.test", "site.test", "below.site.test"};

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        AUTO(web) struct web w = web_make();
        AUTO(tool_result) struct tool_result r = {0};

        serve(&w);
        w.allowed[0] = str_of(entries[i]);
        r = web_fetch(&w, web_url(&w, hosts[i], "/text"));
        assert_false(r.is_error);
    }
}

static bool is_allowed(const char *entry, const char *host, int port)
{
    const struct str entries[] = {S("other.example"), str_of(entry)};
    const struct tool_config config = {.allowed_hosts = entries, .n_allowed_hosts = 2};

    return web_host_is_allowed(&config, str_of(host), port);
}

TEST(allowed_hosts_mean_what_they_say)
{
    assert_true(is_allowed("a.example", "a.example", 80));
    assert_true(is_allowed(" A.Example ", "a.example", 443));
    assert_false(is_allowed("a.example", "b.a.example", 80));
    assert_false(is_allowed("a.example", "xa.example", 80));
    assert_true(is_allowed("a.example:8080", "a.example", 8080));
    assert_false(is_allowed("a.example:8080", "a.example", 80));
    assert_false(is_allowed("a.example:x", "a.example", 80));
    assert_true(is_allowed("*.example", "a.b.example", 80));
    assert_false(is_allowed("*.example", "example", 80));
    assert_false(is_allowed("*.example", "myexample", 80));
    assert_true(is_allowed("*.example:81", "a.example", 81));
    assert_true(is_allowed("::1", "::1", 80));
    assert_true(is_allowed("[::1]", "::1", 80));
    assert_true(is_allowed("[::1]:80", "::1", 80));
    assert_false(is_allowed("[::1]:81", "::1", 80));
    assert_false(is_allowed("", "", 80));
    assert_false(is_allowed("*", "a.example", 80));
}

/* --- public addresses, with a client that connects to nobody --- */

struct canned_client {
    struct http_client http;
    const char *location; /* what the first answer redirects to; NULL: nowhere */
    struct strbuf requests;
    unsigned n_requests;
    bool has_body;
};

static struct err *canned_open(struct http_client *c, const struct http_request *request,
                               struct http_exchange **ret_exchange,
                               struct http_response *ret_response)
{
    static struct http_header plain[] = {{S("Content-Type"), S("text/plain")}};
    static struct http_header redirect[] = {{S("Location"), S("")}};
    struct canned_client *canned = (struct canned_client *)c;

    strbuf_addf(&canned->requests, "%" STR_FMT " at %s%s\n", STR_ARG(request->url),
                request->resolve ? request->resolve : "its host",
                request->no_proxy ? "" : " by any proxy");
    canned->has_body = canned->n_requests > 0 || !canned->location;
    redirect[0].value = str_of(canned->location);
    *ret_response = (struct http_response){
        .status = canned->has_body ? 200 : 302,
        .headers = {canned->has_body ? plain : redirect, 1, 1},
    };
    *ret_exchange = (struct http_exchange *)(void *)canned;
    canned->n_requests++;
    return NULL;
}

static struct err *canned_read(struct http_exchange *x, struct str *ret_bytes)
{
    struct canned_client *canned = (struct canned_client *)(void *)x;

    *ret_bytes = canned->has_body ? S("fine") : S("");
    canned->has_body = false;
    return NULL;
}

static void canned_close(struct http_exchange *x)
{
}

static void canned_free(struct http_client *c)
{
}

static const struct http_ops canned_ops = {"canned", canned_open, canned_read, canned_close,
                                           canned_free};

static struct err *get_canned(void *self, struct http_client **ret_client)
{
    *ret_client = self;
    return NULL;
}

/* As a rule about what is below /ruled would. */
static bool tells_ruled_apart(const void *self, struct str from, struct str to)
{
    return str_find(from, S("/ruled/")) == STR_NONE && str_find(to, S("/ruled/")) != STR_NONE;
}

static const struct path_filter rules = {.tells_apart = tells_ruled_apart};

static void check_requests(const char *url, const char *location, const char *requests,
                           const char *text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct canned_client client = {.http.ops = &canned_ops, .location = location};
    const struct http_source source = {get_canned, &client};
    AUTO(arena) struct arena a = {0};
    AUTO(tool_result) struct tool_result r = {0};

    f.config.environment = web_no_environment;
    f.context.http = &source;
    f.context.hidden = &rules;
    n_lookups = 0;
    r = tool_call(&f, &tool_web_fetch, arena_format(&a, "{\"url\":\"%s\"}", url).p);
    assert_str(strbuf_str(&client.requests), requests);
    assert_has(strbuf_str(&r.text), text);
    strbuf_done(&client.requests);
}

TEST(a_request_is_tied_to_the_addresses_that_were_checked)
{
    check_requests("https://public.test/a#b", NULL,
                   "https://public.test/a at "
                   "public.test:443:93.184.215.14,[2606:2800:21f:cb07:6820:80da:af6b:8b2c]\n",
                   "fine");
    check_requests("http://93.184.215.14:8080/", NULL, "http://93.184.215.14:8080/ at its host\n",
                   "fine");
}

TEST(a_name_that_becomes_private_is_refused_at_the_next_hop)
{
    check_requests("http://turns.test/a", "/b",
                   "http://turns.test/a at turns.test:80:93.184.215.14\n",
                   "turns.test (10.0.0.1) is not on the public Internet");
}

TEST(an_ipv4_address_in_ipv6_is_that_address)
{
    check_requests("http://mapped.test/", NULL,
                   "http://mapped.test/ at mapped.test:80:93.184.215.14\n", "fine");
    check_requests("http://[::ffff:93.184.215.14]/", NULL, "http://93.184.215.14/ at its host\n",
                   "fine");
}

TEST(a_redirect_to_another_port_is_told_even_if_it_becomes_https)
{
    check_requests("http://93.184.215.14/a", "https://93.184.215.14:8443/a",
                   "http://93.184.215.14/a at its host\n",
                   "redirects to https://93.184.215.14:8443/a\nThat is another host or port");
}

TEST(a_redirect_that_a_rule_tells_apart_is_told)
{
    check_requests("http://93.184.215.14/a", "/b/../ruled/x",
                   "http://93.184.215.14/a at its host\n",
                   "redirects to http://93.184.215.14/ruled/x\nThere is a permission rule about "
                   "that address");
    check_requests("http://93.184.215.14/ruled/a", "/ruled/x",
                   "http://93.184.215.14/ruled/a at its host\n"
                   "http://93.184.215.14/ruled/x at its host\n",
                   "fine");
}

TEST(a_redirect_from_http_to_https_is_followed)
{
    check_requests("http://93.184.215.14/a", "https://93.184.215.14/b",
                   "http://93.184.215.14/a at its host\nhttps://93.184.215.14/b at its host\n",
                   "URL: https://93.184.215.14/b\n");
}

TEST(a_redirect_from_https_to_http_is_told_and_not_followed)
{
    check_requests("https://93.184.215.14/a", "http://93.184.215.14/a",
                   "https://93.184.215.14/a at its host\n",
                   "redirects to http://93.184.215.14/a\n");
}

/* --- behind a proxy --- */

static void use_proxy(struct web *w)
{
    const char **environment = ARENA_ARRAY(&w->arena, 2, const char *);

    environment[0] = arena_format(&w->arena, "http_proxy=%s", server_url(w->server)).p;
    w->fixture.config.environment = environment;
    w->fixture.config.n_allowed_hosts = 0;
}

TEST(a_proxy_finds_the_names_that_we_cannot)
{
    static const struct web_test_page proxied = {"http://far.test/a", TEXT_HEAD, S("by proxy")};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    web_serve(&w, &proxied, 1);
    use_proxy(&w);
    r = web_fetch(&w, "http://far.test/a");
    assert_str(strbuf_str(&r.text), "URL: http://far.test/a\nStatus: 200\nType: text/plain\n\n"
                                    "by proxy");
}

TEST(an_allowed_host_is_asked_of_a_proxy)
{
    static const struct web_test_page proxied = {"http://site.test/a", TEXT_HEAD, S("by proxy")};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    web_serve(&w, &proxied, 1);
    use_proxy(&w);
    w.allowed[0] = S("site.test");
    w.fixture.config.n_allowed_hosts = 1;
    r = web_fetch(&w, "http://site.test/a");
    assert_false(r.is_error);
    assert_has(strbuf_str(&r.text), "by proxy");
}

TEST(no_private_address_is_asked_of_a_proxy)
{
    static const char *const urls[] = {"http://10.0.0.1/",       "http://127.0.0.1/",
                                       "http://[::1]/",          "http://metadata.test/",
                                       "http://localhost/",      "http://x.localhost/",
                                       "http://169.254.169.254/"};

    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        AUTO(web) struct web w = web_make();
        AUTO(tool_result) struct tool_result r = {0};

        serve(&w);
        use_proxy(&w);
        r = web_fetch(&w, urls[i]);
        assert_has(strbuf_str(&r.text), "is not on the public Internet");
        assert_int_equal(server_n_connections(w.server), 0);
    }
}

RUN_TESTS(UNIT(private_addresses_are_refused), UNIT(names_of_private_addresses_are_refused),
          UNIT(one_private_address_of_many_is_enough_to_refuse),
          UNIT(addresses_in_disguise_are_refused), UNIT(an_address_with_a_user_in_it_is_refused),
          UNIT(only_http_and_https_are_fetched),
          UNIT(a_name_is_reached_at_the_address_that_was_found_first),
          UNIT(a_name_that_becomes_private_is_refused_at_the_next_hop),
          UNIT(a_name_that_leads_to_an_allowed_address_is_not_allowed_by_that),
          UNIT(an_ipv4_address_in_ipv6_is_that_address),
          UNIT(a_redirect_to_another_port_is_told_even_if_it_becomes_https),
          UNIT(a_redirect_that_a_rule_tells_apart_is_told),
          UNIT(an_allowed_host_is_fetched_though_it_is_private),
          UNIT(allowed_hosts_mean_what_they_say),
          UNIT(a_request_is_tied_to_the_addresses_that_were_checked),
          UNIT(a_redirect_from_http_to_https_is_followed),
          UNIT(a_redirect_from_https_to_http_is_told_and_not_followed),
          UNIT(a_proxy_finds_the_names_that_we_cannot), UNIT(an_allowed_host_is_asked_of_a_proxy),
          UNIT(no_private_address_is_asked_of_a_proxy))
