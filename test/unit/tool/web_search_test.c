/* web_search_test.c - WebSearch with each of its services. */
#include "test.h"

#include "tool/web.h"
#include "tool/web/search_model.h"

#define JSON_HEAD OK_HEAD "Content-Type: application/json\r\n"
#define KEY "BSA-secret-0123456789"

static const char *const with_key[] = {"BRAVE_API_KEY=" KEY, "PATH=/usr/bin:/bin", NULL};

static struct tool_result search(struct web *w, const char *args)
{
    return web_call(w, &tool_web_search, args);
}

static void assert_text(const struct tool_result *r, const char *want)
{
    assert_str(strbuf_str(&r->text), want);
}

/* --- Brave --- */

#define BRAVE_QUERY "/res?q=c%20arenas&count=10&text_decorations=0"

/* Serves one answer, whatever is asked, and has Brave at the server. */
static void serve_brave(struct web *w, struct server_script *script)
{
    w->server = server_start(server_play, script);
    w->fixture.config.environment = with_key;
    w->fixture.config.search.url = arena_format(&w->arena, "%s/res", server_url(w->server));
}

static struct tool_result search_brave(struct web *w, struct str response, const char *args)
{
    struct server_script script = {response, 0, SERVER_CLOSES};

    serve_brave(w, &script);
    return search(w, args);
}

#define BRAVE_ANSWER                                                                               \
    JSON_HEAD "\r\n{\"query\":{},\"web\":{\"results\":["                                           \
              "{\"title\":\"Arenas in <strong>C</strong>\",\"url\":\"https://a.example/x\","       \
              "\"description\":\"Use &amp; reuse &#x27;memory&#39;.\",\"age\":1},"                 \
              "{\"title\":\"\",\"url\":\"https://B.example\"}]}}"

TEST(results_of_brave_are_a_numbered_list)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = search_brave(&w, S(BRAVE_ANSWER), "{\"query\":\"c arenas\"}");

    assert_text(&r, "1. Arenas in C\n   https://a.example/x\n   Use & reuse 'memory'.\n\n"
                    "2. (no title)\n   https://b.example/\n");
    assert_false(r.is_error);
}

TEST(brave_is_asked_with_its_key_in_a_header)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = search_brave(&w, S(BRAVE_ANSWER), "{\"query\":\"c arenas\"}");
    AUTO_FREE char *request = server_take_request(w.server);

    assert_true(str_starts(str_of(request), S("GET " BRAVE_QUERY " HTTP/1.1\r\n")));
    assert_has(str_of(request), "\r\nX-Subscription-Token: " KEY "\r\n");
}

TEST(the_variable_of_the_key_can_be_another_one)
{
    static const char *const environment[] = {"BRAVE_API_KEY=wrong", "OTHER=right-key", NULL};
    AUTO(web) struct web w = web_make();
    struct server_script script = {S(BRAVE_ANSWER), 0, SERVER_CLOSES};
    AUTO(tool_result) struct tool_result r = {0};
    AUTO_FREE char *request = NULL;

    serve_brave(&w, &script);
    w.fixture.config.environment = environment;
    w.fixture.config.search.kind = S("brave");
    w.fixture.config.search.key_variable = S("OTHER");
    r = search(&w, "{\"query\":\"x\"}");
    request = server_take_request(w.server);
    assert_has(str_of(request), "\r\nX-Subscription-Token: right-key\r\n");
}

TEST(details_of_a_search_are_for_programs)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = search_brave(&w, S(BRAVE_ANSWER), "{\"query\":\"x\"}");
    AUTO(strbuf) struct strbuf details = {0};

    json_write(&details, r.details);
    assert_str(strbuf_str(&details),
               "{\"provider\":\"brave\",\"results\":[{\"title\":\"Arenas in C\",\"url\":"
               "\"https://a.example/x\",\"description\":\"Use & reuse 'memory'.\"},"
               "{\"title\":\"\",\"url\":\"https://b.example/\",\"description\":\"\"}]}");
}

TEST(no_results_are_told)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = search_brave(&w, S(JSON_HEAD "\r\n{}"), "{\"query\":\"x\"}");

    assert_text(&r, "No results.\n");
    assert_false(r.is_error);
}

TEST(a_refusal_of_the_service_is_told)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r =
        search_brave(&w, S("HTTP/1.1 422 No\r\n\r\n{\"code\":\n\"BAD\"}"), "{\"query\":\"x\"}");

    assert_text(&r, "Brave Search answered with status 422: {\"code\": \"BAD\"}. Hint: check the "
                    "key in the environment variable BRAVE_API_KEY.");
    assert_true(r.is_error);
}

TEST(too_many_searches_are_told)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = search_brave(&w, S("HTTP/1.1 429 No\r\n\r\n"), "{\"query\":\"x\"}");

    assert_text(&r, "Brave Search answered with status 429. Hint: too many searches in a short "
                    "time; wait before the next one.");
}

TEST(an_answer_that_is_no_json_is_told)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = search_brave(&w, S(OK_HEAD "\r\n<html>"), "{\"query\":\"x\"}");

    assert_text(&r, "the answer of Brave Search is not JSON.");
    assert_true(r.is_error);
}

static void check_no_key(struct str response)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = search_brave(&w, response, "{\"query\":\"x\"}");
    AUTO(strbuf) struct strbuf details = {0};
    struct str trace = strbuf_str(&w.trace);
    size_t body = str_find(trace, S("\n{")); /* what the service says is not ours */

    if (r.details)
        json_write(&details, r.details);
    assert_null(strstr(strbuf_cstr(&r.text), KEY));
    assert_null(strstr(strbuf_cstr(&details), KEY));
    assert_has(trace, ">X-Subscription-Token: [REDACTED]\n");
    assert_int_equal(str_find(str_slice(trace, 0, body), S(KEY)), STR_NONE);
}

TEST(the_key_is_in_no_result_no_error_and_no_trace)
{
    check_no_key(S(BRAVE_ANSWER));
    check_no_key(S("HTTP/1.1 401 No\r\n\r\nbad token " KEY " and " KEY));
    check_no_key(S(JSON_HEAD "\r\n{\"web\":{\"results\":[{\"title\":\"" KEY
                             "\",\"url\":\"https://a.example/" KEY "\"}]}}"));
    check_no_key(S("HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\n\r\n"));
    check_no_key(S("nonsense\r\n\r\n"));
}

TEST(brave_needs_a_key)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    w.fixture.config.search.kind = S("brave");
    r = search(&w, "{\"query\":\"x\"}");
    assert_text(&r, "Brave Search needs a key. Hint: set the environment variable BRAVE_API_KEY.");
    assert_int_equal(r.code, ERR_CONFIGURATION);
}

static void serve_silence(struct server_connection *c, void *arg)
{
    struct web *w = arg;

    if (server_read_request(c))
        loop_post(w->loop, web_time_passes, w);
    server_wait_for_close(c);
}

TEST(a_slow_service_is_given_15_seconds)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    w.server = server_start(serve_silence, &w);
    w.time_ms = 15000;
    w.fixture.config.search =
        (struct web_search_config){.kind = S("searxng"), .url = str_of(server_url(w.server))};
    r = search(&w, "{\"query\":\"x\"}");
    assert_text(&r, "the search took longer than 15 s.");
    assert_int_equal(r.code, ERR_TIMEOUT);
}

/* --- SearXNG --- */

static void use_searxng(struct web *w, const struct web_test_page *page)
{
    web_serve(w, page, 1);
    w->fixture.config.n_allowed_hosts = 0; /* the operator's service needs no leave */
    w->fixture.config.search.kind = S("searxng");
    w->fixture.config.search.url = arena_format(&w->arena, "%s/sx/", server_url(w->server));
}

TEST(searxng_is_asked_where_it_is_though_that_is_private)
{
    static const struct web_test_page page = {
        "/sx/search?q=a%26b&format=json", JSON_HEAD,
        S("{\"results\":[{\"title\":\"T\",\"url\":\"http://a.example/\",\"content\":\"C\"}]}")};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    use_searxng(&w, &page);
    r = search(&w, "{\"query\":\"a&b\"}");
    assert_text(&r, "1. T\n   http://a.example/\n   C\n");
}

TEST(a_searxng_that_gives_no_json_is_told_how_to)
{
    static const struct web_test_page page = {"/sx/search?q=x&format=json",
                                              "HTTP/1.1 403 Forbidden\r\n", S("Forbidden")};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    use_searxng(&w, &page);
    r = search(&w, "{\"query\":\"x\"}");
    assert_text(&r, "SearXNG answered with status 403: Forbidden. Hint: check that its "
                    "settings.yml lists json under search.formats.");
}

TEST(a_search_service_that_redirects_elsewhere_is_not_followed)
{
    static const struct web_test_page page = {
        "/sx/search?q=x&format=json",
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/latest/meta-data\r\n", S("moved")};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    use_searxng(&w, &page);
    r = search(&w, "{\"query\":\"x\"}");
    assert_has(strbuf_str(&r.text), "SearXNG answered with status 302: moved");
}

TEST(searxng_needs_an_address)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    w.fixture.config.search.kind = S("searxng");
    r = search(&w, "{\"query\":\"x\"}");
    assert_text(&r, "the address of SearXNG is not set. Hint: set webSearch.url in the settings.");
}

/* --- a command --- */

static struct tool_result search_command(struct web *w, const char *command, const char *args)
{
    w->fixture.config.environment = with_key;
    w->fixture.config.search.kind = S("command");
    w->fixture.config.search.command = str_of(command);
    return search(w, args);
}

static void check_command(const char *command, const char *want, bool is_error)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = search_command(&w, command, "{\"query\":\"x\"}");

    assert_text(&r, want);
    assert_int_equal(r.is_error, is_error);
}

TEST(a_command_may_print_an_array)
{
    check_command(
        "echo '[{\"title\":\"T\",\"url\":\"http://a.example/\",\"description\":\"D\"}]' #",
        "1. T\n   http://a.example/\n   D\n", false);
}

TEST(a_command_may_print_a_result_a_line)
{
    check_command("printf '%s\\n' '{\"title\":\"T\",\"url\":\"http://a.example/\"}' '' "
                  "\"$(printf 'http://b.example/\\tTitle\\tWords of it')\" http://c.example/ #",
                  "1. T\n   http://a.example/\n\n2. Title\n   http://b.example/\n   Words of it\n\n"
                  "3. (no title)\n   http://c.example/\n",
                  false);
}

TEST(the_query_is_an_argument_of_the_command_and_no_part_of_it)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = search_command(&w, "printf 'http://a.example/\\t%s\\n'",
                                          "{\"query\":\"$(echo no); 'quoted' \\\"too\\\" `id`\"}");

    assert_text(&r, "1. $(echo no); 'quoted' \"too\" `id`\n   http://a.example/\n");
}

TEST(a_command_that_fails_is_told_with_what_it_says)
{
    check_command("echo 'no luck' >&2; exit 3 #", "the search command exited with code 3: no luck.",
                  true);
    check_command("kill -9 $$ #", "the search command was killed by signal 9.", true);
    check_command("echo nothing of use #", "the search command printed no result with an address.",
                  true);
    check_command("true", "No results.\n", false);
}

TEST(the_output_of_a_command_is_bounded)
{
    check_command("head -c 2000000 /dev/zero #", "the search command printed more than 1 MB.",
                  true);
}

/* The clock moves on by 15 s as soon as the command is waited for. */
struct slow_launcher {
    struct launcher launcher;
    struct web *web;
};

static struct err *start_and_wait(struct launcher *l, const struct proc_spec *spec,
                                  struct proc **ret_proc)
{
    struct slow_launcher *s = (struct slow_launcher *)l;

    TRY(launcher_start(&launcher_plain, spec, ret_proc));
    loop_post(s->web->loop, web_time_passes, s->web);
    return NULL;
}

TEST(a_command_is_given_15_seconds)
{
    AUTO(web) struct web w = web_make();
    struct slow_launcher slow = {{start_and_wait}, &w};
    AUTO(tool_result) struct tool_result r = {0};

    w.time_ms = 15000;
    w.fixture.context.launcher = &slow.launcher;
    r = search_command(&w, "sleep 1000 #", "{\"query\":\"x\"}");
    assert_text(&r, "the search command took longer than 15 s.");
    assert_true(r.is_error);
}

TEST(a_command_cannot_be_run_where_none_may)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    w.fixture.context.launcher = NULL;
    r = search_command(&w, "true", "{\"query\":\"x\"}");
    assert_text(&r, "the search service is a command, and commands are not available here.");
    assert_int_equal(r.code, ERR_TOOL_UNAVAILABLE);
}

/* --- which service --- */

TEST(without_a_service_it_is_told_how_to_set_one)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = search(&w, "{\"query\":\"x\"}");

    assert_text(&r, "no search service is configured. Hint: the operator can set BRAVE_API_KEY in "
                    "the environment, or in the settings webSearch, such as "
                    "{\"provider\":\"searxng\",\"url\":\"https://search.example\"} or "
                    "{\"provider\":\"command\",\"command\":\"my-search\"}.");
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_CONFIGURATION);
}

TEST(a_service_that_is_not_known_is_named)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    w.fixture.config.search.kind = S("gopher");
    r = search(&w, "{\"query\":\"x\"}");
    assert_has(strbuf_str(&r.text), "unknown search service \"gopher\"");
}

/* --- domains --- */

#define THREE                                                                                      \
    JSON_HEAD "\r\n{\"web\":{\"results\":[{\"title\":\"1\",\"url\":\"https://a.example/\"},"       \
              "{\"title\":\"2\",\"url\":\"https://sub.A.example/\"},"                              \
              "{\"title\":\"3\",\"url\":\"https://nota.example/\"}]}}"

static void check_domains(const char *args, const char *want, const char *query)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = search_brave(&w, S(THREE), args);
    AUTO_FREE char *request = server_take_request(w.server);

    assert_text(&r, want);
    assert_has(str_of(request), query);
}

TEST(results_are_limited_to_the_domains_that_are_asked_for)
{
    check_domains("{\"query\":\"x\",\"allowed_domains\":[\"a.example\"]}",
                  "1. 1\n   https://a.example/\n\n2. 2\n   https://sub.a.example/\n",
                  "?q=x%20site%3Aa.example&count=20");
    check_domains("{\"query\":\"x\",\"allowedDomains\":[\"*.A.example\",\"b.example\"]}",
                  "1. 1\n   https://a.example/\n\n2. 2\n   https://sub.a.example/\n",
                  "?q=x%20%28site%3AA.example%20OR%20site%3Ab.example%29&");
    check_domains("{\"query\":\"x\",\"allowed_domains\":[\"c.example\"]}",
                  "No results in the requested domains.\n", "");
}

TEST(results_of_blocked_domains_are_left_out)
{
    check_domains("{\"query\":\"x\",\"blocked_domains\":[\"a.example\",\"z.example\"]}",
                  "1. 3\n   https://nota.example/\n",
                  "?q=x%20-site%3Aa.example%20-site%3Az.example&");
}

TEST(a_query_that_is_too_long_is_sent_without_its_domains)
{
    AUTO(strbuf) struct strbuf args = {0};

    strbuf_add(&args, S("{\"query\":\""));
    for (int i = 0; i < 395; i++)
        strbuf_add_char(&args, 'q');
    strbuf_add(&args, S("\",\"blocked_domains\":[\"a.example\"]}"));
    check_domains(strbuf_cstr(&args), "1. 3\n   https://nota.example/\n", "qqq&count=20");
}

TEST(what_is_no_domain_is_refused)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r =
        search(&w, "{\"query\":\"x\",\"allowed_domains\":[\"https://a.example/x y\"]}");

    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_VALIDATION);
}

/* --- what a model answers --- */

static void cite(struct message *m, const char *title, const char *url, const char *text)
{
    struct part p = {
        .kind = PART_CITATION, .title = str_of(title), .url = str_of(url), .text = str_of(text)};

    message_add(m, &p);
}

static void find(struct message *m, const char *block)
{
    struct part p = {.kind = PART_SERVER_TOOL_RESULT, .native = str_of(block)};

    message_add(m, &p);
}

TEST(pages_that_a_model_cites_come_first_and_once)
{
    static const struct web_query query;
    AUTO(arena) struct arena a = {0};
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("m"));
    struct web_hits hits;

    find(m, "{\"content\":[{\"url\":\"https://a.example\",\"title\":\"A\"},"
            "{\"url\":\"https://b.example/\",\"title\":\"B, found\",\"deep\":[[{\"url\":1}]]}]}");
    cite(m, "B", "https://b.example", "what B says");
    cite(m, "B again", "https://b.example/", "and more");
    find(m, "no JSON");
    message_add_text(m, S("All about B."));
    web_hits_init(&hits, &a, &query);
    assert_ok(web_hits_add_answer(&hits, m));
    assert_int_equal(hits.n, 2);
    assert_str(hits.items[0].url, "https://b.example/");
    assert_str(hits.items[0].title, "B");
    assert_str(hits.items[0].description, "what B says");
    assert_str(hits.items[1].title, "A");
    assert_str(hits.summary, "All about B.");
}

TEST(a_model_that_declines_to_search_is_told)
{
    static const struct web_query query;
    AUTO(arena) struct arena a = {0};
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("m"));
    struct part refusal = {.kind = PART_REFUSAL, .text = S("I will not.")};
    AUTO(err) struct err *e = NULL;
    struct web_hits hits;

    message_add(m, &refusal);
    web_hits_init(&hits, &a, &query);
    e = web_hits_add_answer(&hits, m);
    assert_int_equal(e->kind, ERR_TOOL_FAILED);
    assert_has(str_of(e->text), "the model declined to search: I will not.");
}

TEST(a_summary_is_cut_at_a_character)
{
    static const struct web_query query;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct web_hits hits;

    strbuf_add_char(&text, 'x');
    while (text.n <= WEB_MAX_SUMMARY)
        strbuf_add_cstr(&text, "\u00e9");
    web_hits_init(&hits, &a, &query);
    web_hits_set_summary(&hits, strbuf_str(&text));
    assert_int_equal(hits.summary.n, WEB_MAX_SUMMARY - 1 + strlen("..."));
    assert_true(str_ends(hits.summary, S("\u00e9...")));
}

TEST(without_a_model_to_ask_the_tool_is_not_available)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result)
    struct tool_result r = web_call(&w, &tool_web_search_model, "{\"query\":\"x\"}");

    assert_text(&r, "no model is available for web search.");
    assert_int_equal(r.code, ERR_TOOL_UNAVAILABLE);
}

/* --- hostile results --- */

static struct web_hit clean(struct arena *a, const char *title, const char *url, const char *text)
{
    static const struct web_query query;
    struct web_hits hits;

    web_hits_init(&hits, a, &query);
    web_hits_add(&hits, str_of(title), str_of(url), str_of(text));
    assert_int_equal(hits.n, 1);
    return hits.items[0];
}

TEST(titles_and_descriptions_are_one_clean_line)
{
    AUTO(arena) struct arena a = {0};
    struct web_hit hit = clean(&a,
                               "a\x1B[2J\nb \xE2\x80\xAE"
                               "c&#8238;d&#xE0041;e&#27;",
                               "http://a.example/", "x <form> &lt;b&gt; &bogus; &#xD800; <B>y</B>");

    assert_str(hit.title, "a[2J b cde");
    assert_str(hit.description, "x <form> <b> &bogus; &#xD800; y");
}

TEST(long_titles_and_descriptions_are_cut)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf long_text = {0};
    struct web_hit hit;

    for (int i = 0; i < 100000; i++)
        strbuf_add(&long_text, S("\xC3\xA9"));
    hit = clean(&a, strbuf_cstr(&long_text), "http://a.example/", strbuf_cstr(&long_text));
    assert_int_equal(hit.title.n, WEB_MAX_HIT_TITLE + 3);
    assert_true(str_ends(hit.title, S("\xC3\xA9...")));
    assert_int_equal(hit.description.n, WEB_MAX_HIT_DESCRIPTION + 3);
}

TEST(addresses_of_results_are_as_they_would_be_fetched)
{
    AUTO(arena) struct arena a = {0};

    assert_str(clean(&a, "", "HTTPS://user:pw@A.Example/\xE2\x80\xAE#f", "").url,
               "https://a.example/%E2%80%AE");
}

static size_t count_hits(const char *output, size_t *ret_n_unusable)
{
    static const struct web_query query;
    AUTO(arena) struct arena a = {0};
    struct web_hits hits;

    web_hits_init(&hits, &a, &query);
    web_hits_add_output(&hits, str_of(output));
    *ret_n_unusable = hits.n_unusable;
    return hits.n;
}

TEST(results_without_an_address_of_the_web_are_left_out)
{
    size_t n_unusable;

    assert_int_equal(count_hits("javascript:alert(1)\nfile:///etc/passwd\nhttp://a b/\n"
                                "{\"url\":7}\n{\nhttp://ok.example/",
                                &n_unusable),
                     1);
    assert_int_equal(n_unusable, 5);
}

TEST(ten_results_are_kept_and_no_more_than_a_thousand_looked_at)
{
    AUTO(strbuf) struct strbuf many = {0};
    size_t n_unusable;

    for (int i = 0; i < 2000; i++)
        strbuf_add(&many, S("http://a.example/\n"));
    assert_int_equal(count_hits(strbuf_cstr(&many), &n_unusable), WEB_MAX_HITS);
    strbuf_clear(&many);
    for (int i = 0; i < 2000; i++)
        strbuf_add(&many, S("x\n"));
    assert_int_equal(count_hits(strbuf_cstr(&many), &n_unusable), 0);
    assert_int_equal(n_unusable, 1000);
}

RUN_TESTS(
    UNIT(results_of_brave_are_a_numbered_list), UNIT(brave_is_asked_with_its_key_in_a_header),
    UNIT(the_variable_of_the_key_can_be_another_one), UNIT(details_of_a_search_are_for_programs),
    UNIT(no_results_are_told), UNIT(a_refusal_of_the_service_is_told),
    UNIT(too_many_searches_are_told), UNIT(an_answer_that_is_no_json_is_told),
    UNIT(the_key_is_in_no_result_no_error_and_no_trace), UNIT(brave_needs_a_key),
    UNIT(a_slow_service_is_given_15_seconds),
    UNIT(searxng_is_asked_where_it_is_though_that_is_private),
    UNIT(a_searxng_that_gives_no_json_is_told_how_to),
    UNIT(a_search_service_that_redirects_elsewhere_is_not_followed), UNIT(searxng_needs_an_address),
    UNIT(a_command_may_print_an_array), UNIT(a_command_may_print_a_result_a_line),
    UNIT(the_query_is_an_argument_of_the_command_and_no_part_of_it),
    UNIT(a_command_that_fails_is_told_with_what_it_says), UNIT(the_output_of_a_command_is_bounded),
    UNIT(a_command_is_given_15_seconds), UNIT(a_command_cannot_be_run_where_none_may),
    UNIT(without_a_service_it_is_told_how_to_set_one), UNIT(a_service_that_is_not_known_is_named),
    UNIT(results_are_limited_to_the_domains_that_are_asked_for),
    UNIT(results_of_blocked_domains_are_left_out),
    UNIT(a_query_that_is_too_long_is_sent_without_its_domains), UNIT(what_is_no_domain_is_refused),
    UNIT(pages_that_a_model_cites_come_first_and_once),
    UNIT(a_model_that_declines_to_search_is_told), UNIT(a_summary_is_cut_at_a_character),
    UNIT(without_a_model_to_ask_the_tool_is_not_available),
    UNIT(titles_and_descriptions_are_one_clean_line), UNIT(long_titles_and_descriptions_are_cut),
    UNIT(addresses_of_results_are_as_they_would_be_fetched),
    UNIT(results_without_an_address_of_the_web_are_left_out),
    UNIT(ten_results_are_kept_and_no_more_than_a_thousand_looked_at))
