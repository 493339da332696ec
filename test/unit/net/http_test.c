/* http_test.c - what all adapters share, tried with one that plays a list of responses. */
#include "test.h"

#include "net/http.h"

/* --- an adapter that answers from a script and writes down what it was asked --- */

struct scripted_response {
    int status;
    const char *location; /* or NULL */
    const char *body;
};

struct http_exchange {
    struct arena arena;
    struct str body;
};

struct scripted_client {
    struct http_client http;
    const struct scripted_response *next;
    struct strbuf asked; /* "METHOD URL [Name: value]... {body}\n" for each request */
    unsigned n_open;
};

static struct err *scripted_open(struct http_client *c, const struct http_request *request,
                                 struct http_exchange **ret_exchange,
                                 struct http_response *ret_response)
{
    struct scripted_client *client = (struct scripted_client *)c;
    const struct scripted_response *response = client->next++;
    struct http_exchange *x = mem_alloc(sizeof *x);

    strbuf_addf(&client->asked, "%s %" STR_FMT, request->method, STR_ARG(request->url));
    for (size_t i = 0; i < request->headers.n; i++)
        strbuf_addf(&client->asked, " [%" STR_FMT ": %" STR_FMT "]",
                    STR_ARG(request->headers.items[i].name),
                    STR_ARG(request->headers.items[i].value));
    strbuf_addf(&client->asked, " {%" STR_FMT "}\n", STR_ARG(request->body));
    x->body = str_of(response->body);
    *ret_response = (struct http_response){
        .status = response->status,
        .final_url = arena_str(&x->arena, request->url),
    };
    if (response->location)
        http_headers_add(&x->arena, &ret_response->headers, S("Location"),
                         str_of(response->location));
    *ret_exchange = x;
    client->n_open++;
    return NULL;
}

static struct err *scripted_read(struct http_exchange *x, struct str *ret_bytes)
{
    *ret_bytes = str_slice(x->body, 0, 3);
    x->body = str_skip(x->body, 3);
    return NULL;
}

static void scripted_close(struct http_exchange *x)
{
    arena_done(&x->arena);
    mem_free(x);
}

static void scripted_free(struct http_client *c)
{
    strbuf_done(&((struct scripted_client *)c)->asked);
}

static const struct http_ops scripted_ops = {
    .name = "scripted",
    .open = scripted_open,
    .read = scripted_read,
    .close = scripted_close,
    .free = scripted_free,
};

struct fetched {
    struct scripted_client client;
    struct arena arena;
    struct http_response response;
    struct strbuf body;
};

static void fetched_done(struct fetched *f)
{
    http_client_free(&f->client.http);
    arena_done(&f->arena);
    strbuf_done(&f->body);
}
DEFINE_AUTO_VAL(fetched, fetched_done)

static struct err *fetch(struct fetched *f, const struct scripted_response *script,
                         const struct http_request *request)
{
    f->client.http.ops = &scripted_ops;
    f->client.next = script;
    return http_fetch(&f->client.http, request, &f->arena, &f->response, &f->body);
}

static struct http_headers headers_of(struct arena *a, const char *const *pairs)
{
    struct http_headers h = {0};

    for (; *pairs; pairs += 2)
        http_headers_add(a, &h, str_of(pairs[0]), str_of(pairs[1]));
    return h;
}
#define HEADERS(a, ...) headers_of((a), (const char *const[]){__VA_ARGS__, NULL})

/* --- headers --- */

TEST(headers_are_found_in_any_case_and_the_first_one_counts)
{
    AUTO(arena) struct arena a = {0};
    struct http_headers h = HEADERS(&a, "Content-Type", "text/plain", "X-A", "1", "x-a", "2");

    assert_str(http_headers_get(&h, "content-type"), "text/plain");
    assert_str(http_headers_get(&h, "X-a"), "1");
    assert_str(http_headers_get(&h, "missing"), "");
}

TEST(headers_with_credentials_are_known)
{
    static const char *const secret[] = {"Authorization",  "Proxy-Authorization", "Cookie",
                                         "Set-Cookie",     "x-api-key",           "api-key",
                                         "X-Goog-Api-Key", "X-Amz-Security-Token"};
    static const char *const open[] = {"Content-Type", "anthropic-ratelimit-tokens-remaining",
                                       "x-request-id", "anthropic-version", "WWW-Authenticate"};

    for (size_t i = 0; i < ARRAY_LEN(secret); i++)
        assert_true(http_header_is_secret(str_of(secret[i])));
    for (size_t i = 0; i < ARRAY_LEN(open); i++)
        assert_false(http_header_is_secret(str_of(open[i])));
}

/* --- retry-after --- */

#define NOW_MS ((int64_t)784111777000) /* Sun, 06 Nov 1994 08:49:37 GMT */

static int64_t delay_of(const char *const *pairs)
{
    AUTO(arena) struct arena a = {0};
    struct http_headers h = headers_of(&a, pairs);

    return http_retry_after_ms(&h, NOW_MS);
}
#define DELAY(...) delay_of((const char *const[]){__VA_ARGS__, NULL})

TEST(a_delay_comes_in_milliseconds_seconds_or_as_a_date)
{
    assert_int_equal(DELAY("retry-after-ms", "1500", "Retry-After", "9"), 1500);
    assert_int_equal(DELAY("Retry-After", "2"), 2000);
    assert_int_equal(DELAY("Retry-After", " 0.5 "), 500);
    assert_int_equal(DELAY("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT"), 60000);
    assert_int_equal(DELAY("Retry-After", "Sunday, 06-Nov-94 08:50:37 GMT"), 60000);
    assert_int_equal(DELAY("Retry-After", "Sun Nov  6 08:50:37 1994"), 60000);
    assert_int_equal(DELAY("Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT"), 0);
}

TEST(a_delay_that_makes_no_sense_is_not_said)
{
    static const char *const values[] = {"",
                                         "-1",
                                         "soon",
                                         "1e9",
                                         "1.2.3",
                                         "inf",
                                         "nan",
                                         "0x10",
                                         "Sun, 99 Nov 1994 08:50:37 GMT",
                                         "Sun, 06 Foo 1994 08:50:37 GMT",
                                         "Sun, 06 Nov 1994 08:50:37",
                                         "Sun, 06 Nov 1994"};

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (DELAY("Retry-After", values[i]) != -1)
            fail_msg("\"%s\" gave a delay", values[i]);
    assert_int_equal(DELAY("Content-Type", "text/plain"), -1);
    assert_int_equal(DELAY("retry-after-ms", "x", "Retry-After", "3"), 3000);
}

TEST(a_delay_is_at_most_a_day)
{
    assert_int_equal(DELAY("Retry-After", "99999999999999999999999999"), 86400000);
    assert_int_equal(DELAY("Retry-After", "Sun, 06 Nov 2094 08:50:37 GMT"), 86400000);
}

TEST(a_reset_counts_only_when_nothing_remains)
{
    assert_int_equal(
        DELAY("x-ratelimit-remaining-requests", "5", "x-ratelimit-reset-requests", "6m0s"), -1);
    assert_int_equal(
        DELAY("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "6m0s"), 360000);
    assert_int_equal(DELAY("x-ratelimit-remaining-tokens", "0", "X-RateLimit-Reset-Tokens", "20ms"),
                     20);
    assert_int_equal(
        DELAY("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "1h2m3.5s"),
        3723500);
    assert_int_equal(DELAY("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "7"),
                     7000);
    assert_int_equal(DELAY("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "7x"),
                     -1);
    assert_int_equal(DELAY("anthropic-ratelimit-tokens-remaining", "0",
                           "anthropic-ratelimit-tokens-reset", "1994-11-06T08:49:47Z"),
                     10000);
    assert_int_equal(DELAY("anthropic-ratelimit-tokens-remaining", "0",
                           "anthropic-ratelimit-tokens-reset", "1994-11-06T09:49:47.25+01:00"),
                     10000);
    assert_int_equal(DELAY("anthropic-ratelimit-tokens-remaining", "1",
                           "anthropic-ratelimit-tokens-reset", "1994-11-06T08:49:47Z"),
                     -1);
    assert_int_equal(DELAY("anthropic-ratelimit-tokens-remaining", "0",
                           "anthropic-ratelimit-tokens-reset", "1994-11-06"),
                     -1);
}

TEST(of_several_limits_that_are_used_up_the_longest_counts)
{
    assert_int_equal(DELAY("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests",
                           "1s", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens",
                           "3s"),
                     3000);
}

/* --- what goes out --- */

TEST(a_request_that_could_smuggle_is_refused)
{
    static const struct http_header bad[] = {
        {S("X"), S("a\r\nY: b")},
        {S("X"), S("a\nb")},
        {S("X"), S("a\0b")},
        {S("X\r\nY"), S("a")},
        {S("X:"), S("a")},
        {S("X "), S("a")},
        {S(""), S("a")},
        {S("Content-Length"), S("3")},
        {S("transfer-encoding"), S("chunked")},
    };
    static const char *const methods[] = {"", "GET /\r\n", "GET ", "G\tT"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(fetched) struct fetched f = {0};
        struct http_header header = bad[i];
        struct http_request request = {.url = S("http://h/"), .headers = {&header, 1, 1}};

        assert_err(fetch(&f, NULL, &request), ERR_VALIDATION);
    }
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        AUTO(fetched) struct fetched f = {0};
        struct http_request request = {.url = S("http://h/"), .method = methods[i]};

        assert_err(fetch(&f, NULL, &request), ERR_VALIDATION);
    }
}

TEST(only_http_and_https_are_asked)
{
    AUTO(fetched) struct fetched f = {0};

    assert_err(fetch(&f, NULL, &(struct http_request){.url = S("file://h/etc/passwd")}),
               ERR_VALIDATION);
    assert_err(fetch(&f, NULL, &(struct http_request){.url = S("not a url")}), ERR_VALIDATION);
}

TEST(a_fetch_gives_the_whole_body_and_a_head_that_outlives_the_exchange)
{
    static const struct scripted_response script[] = {{404, "/elsewhere", "not here"}};
    AUTO(fetched) struct fetched f = {0};

    assert_ok(fetch(&f, script, &(struct http_request){.url = S("http://h/x")}));
    assert_int_equal(f.response.status, 404);
    assert_str(http_headers_get(&f.response.headers, "location"), "/elsewhere");
    assert_str(f.response.final_url, "http://h/x");
    assert_str(strbuf_str(&f.body), "not here");
    assert_str(strbuf_str(&f.client.asked), "GET http://h/x {}\n");
}

TEST(a_fetch_stops_at_the_cap_of_its_buffer)
{
    static const struct scripted_response script[] = {{200, NULL, "12345"}};
    AUTO(fetched) struct fetched f = {0};

    strbuf_init(&f.body, 4);
    assert_err(fetch(&f, script, &(struct http_request){.url = S("http://h/")}), ERR_VALIDATION);
}

/* --- redirects --- */

static void check_redirects(const struct scripted_response *script, struct http_request *request,
                            const char *want_asked)
{
    AUTO(fetched) struct fetched f = {0};

    request->max_redirects = 5;
    assert_ok(fetch(&f, script, request));
    assert_int_equal(f.response.status, 200);
    assert_str(strbuf_str(&f.client.asked), want_asked);
}

TEST(a_redirect_is_followed_only_when_asked)
{
    static const struct scripted_response script[] = {{302, "/b", ""}, {200, NULL, "ok"}};
    AUTO(fetched) struct fetched f = {0};

    assert_ok(fetch(&f, script, &(struct http_request){.url = S("http://h/a")}));
    assert_int_equal(f.response.status, 302);
    check_redirects(script, &(struct http_request){.url = S("http://h/a")},
                    "GET http://h/a {}\nGET http://h/b {}\n");
}

TEST(a_redirect_without_a_location_is_an_answer)
{
    static const struct scripted_response script[] = {{302, NULL, "lost"}};
    AUTO(fetched) struct fetched f = {0};

    assert_ok(
        fetch(&f, script, &(struct http_request){.url = S("http://h/a"), .max_redirects = 1}));
    assert_int_equal(f.response.status, 302);
}

TEST(post_becomes_get_after_303_and_stays_post_after_307)
{
    static const struct scripted_response see_other[] = {{303, "/b", ""}, {200, NULL, ""}};
    static const struct scripted_response moved[] = {{301, "/b", ""}, {200, NULL, ""}};
    static const struct scripted_response repeat[] = {{307, "/b", ""}, {200, NULL, ""}};
    AUTO(arena) struct arena a = {0};
    struct http_request request = {
        .url = S("http://h/a"),
        .method = "POST",
        .body = S("body"),
        .headers = HEADERS(&a, "Content-Type", "text/plain", "X-Api-Key", "k"),
    };

    check_redirects(see_other, &request,
                    "POST http://h/a [Content-Type: text/plain] [X-Api-Key: k] {body}\n"
                    "GET http://h/b [X-Api-Key: k] {}\n");
    check_redirects(moved, &request,
                    "POST http://h/a [Content-Type: text/plain] [X-Api-Key: k] {body}\n"
                    "GET http://h/b [X-Api-Key: k] {}\n");
    check_redirects(repeat, &request,
                    "POST http://h/a [Content-Type: text/plain] [X-Api-Key: k] {body}\n"
                    "POST http://h/b [Content-Type: text/plain] [X-Api-Key: k] {body}\n");
    request.method = "PUT";
    check_redirects(moved, &request,
                    "PUT http://h/a [Content-Type: text/plain] [X-Api-Key: k] {body}\n"
                    "PUT http://h/b [Content-Type: text/plain] [X-Api-Key: k] {body}\n");
}

TEST(another_origin_gets_no_header_that_could_be_a_credential)
{
    static const char *const elsewhere[] = {"http://other/", "http://h:81/", "https://h/",
                                            "//other/"};
    AUTO(arena) struct arena a = {0};
    struct http_request request = {
        .url = S("http://h/a"),
        .headers = HEADERS(&a, "Authorization", "Bearer x", "Cookie", "c", "X-Own", "y", "Accept",
                           "text/html"),
        .max_redirects = 1,
    };

    for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++) {
        const struct scripted_response script[] = {{302, elsewhere[i], ""}, {200, NULL, ""}};
        AUTO(fetched) struct fetched f = {0};
        struct str second;

        assert_ok(fetch(&f, script, &request));
        second = str_skip(strbuf_str(&f.client.asked),
                          str_find_char(strbuf_str(&f.client.asked), '\n') + 1);
        assert_true(str_ends(second, S("/ [Accept: text/html] {}\n")));
    }
}

TEST(https_never_leads_to_http)
{
    static const struct scripted_response script[] = {{302, "http://h/b", ""}};
    AUTO(fetched) struct fetched f = {0};

    assert_err(
        fetch(&f, script, &(struct http_request){.url = S("https://h/a"), .max_redirects = 5}),
        ERR_VALIDATION);
}

TEST(redirects_end_at_their_limit)
{
    static const struct scripted_response script[] = {
        {302, "/1", ""}, {302, "/2", ""}, {302, "/3", ""}};
    AUTO(fetched) struct fetched f = {0};

    assert_err(
        fetch(&f, script, &(struct http_request){.url = S("http://h/a"), .max_redirects = 2}),
        ERR_VALIDATION);
    assert_int_equal(f.client.n_open, 3);
}

TEST(a_checked_address_is_not_left_by_a_redirect)
{
    static const struct scripted_response away[] = {{302, "http://other/", ""}};
    static const struct scripted_response within[] = {{302, "/b", ""}, {200, NULL, ""}};
    struct http_request request = {
        .url = S("http://h/a"), .resolve = "h:80:192.0.2.1", .max_redirects = 5};
    AUTO(fetched) struct fetched f = {0};

    assert_ok(fetch(&f, away, &request));
    assert_int_equal(f.response.status, 302);
    assert_int_equal(f.client.n_open, 1);
    check_redirects(within, &request, "GET http://h/a {}\nGET http://h/b {}\n");
}

TEST(a_redirect_to_what_is_no_url_is_an_error)
{
    static const struct scripted_response script[] = {{302, "http://127.1/", ""}};
    AUTO(fetched) struct fetched f = {0};

    assert_err(
        fetch(&f, script, &(struct http_request){.url = S("http://h/a"), .max_redirects = 2}),
        ERR_VALIDATION);
}

/* --- trace --- */

static void write_line(void *self, char kind, struct str text)
{
    strbuf_addf(self, "%c %" STR_FMT "\n", kind, STR_ARG(text));
}

TEST(a_trace_shows_the_exchange_without_its_credentials)
{
    static const struct scripted_response script[] = {
        {302, "https://h/b?access_token=s3cret", "moved"}};
    AUTO(strbuf) struct strbuf lines = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(fetched) struct fetched f = {.client.http.trace = {write_line, &lines}};
    struct http_request request = {
        .method = "POST",
        .url = S("https://u:s3cret@h/a?key=s3cret&x=1"),
        .body = S("{}"),
        .headers = HEADERS(&a, "X-Api-Key", "s3cret", "Accept", "*/*"),
    };

    assert_ok(fetch(&f, script, &request));
    assert_str(strbuf_str(&lines), "> POST https://h/a?key=[REDACTED]&x=1\n"
                                   "> X-Api-Key: [REDACTED]\n"
                                   "> Accept: */*\n"
                                   "} {}\n"
                                   "< HTTP 302\n"
                                   "< Location: https://h/b?access_token=[REDACTED]\n"
                                   "{ mov\n"
                                   "{ ed\n");
}

RUN_TESTS(UNIT(headers_are_found_in_any_case_and_the_first_one_counts),
          UNIT(headers_with_credentials_are_known),
          UNIT(a_delay_comes_in_milliseconds_seconds_or_as_a_date),
          UNIT(a_delay_that_makes_no_sense_is_not_said), UNIT(a_delay_is_at_most_a_day),
          UNIT(a_reset_counts_only_when_nothing_remains),
          UNIT(of_several_limits_that_are_used_up_the_longest_counts),
          UNIT(a_request_that_could_smuggle_is_refused), UNIT(only_http_and_https_are_asked),
          UNIT(a_fetch_gives_the_whole_body_and_a_head_that_outlives_the_exchange),
          UNIT(a_fetch_stops_at_the_cap_of_its_buffer),
          UNIT(a_redirect_is_followed_only_when_asked),
          UNIT(a_redirect_without_a_location_is_an_answer),
          UNIT(post_becomes_get_after_303_and_stays_post_after_307),
          UNIT(another_origin_gets_no_header_that_could_be_a_credential),
          UNIT(https_never_leads_to_http), UNIT(redirects_end_at_their_limit),
          UNIT(a_checked_address_is_not_left_by_a_redirect),
          UNIT(a_redirect_to_what_is_no_url_is_an_error),
          UNIT(a_trace_shows_the_exchange_without_its_credentials))
