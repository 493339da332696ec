/* web_fetch_test.c - WebFetch against a real server: what comes back, and what never leaves. */
#include "test.h"

#include "tool/web.h"
#include "tool/web/cache.h"
#include "tool/web/route.h"

#define PNG "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0"

static const struct web_test_page pages[] = {
    {"/page", HTML_HEAD,
     S("<title>A  page</title><main><h1>Head</h1><p>Some <b>bold</b> text, a <a href=b>link</a>."
       "</main>")},
    {"/latin", OK_HEAD "Content-Type: TEXT/HTML; Charset=\"iso-8859-1\"\r\n", S("<p>caf\xE9")},
    {"/json", OK_HEAD "Content-Type: application/json\r\n", S("{\"a\": [1,  2]}\n")},
    {"/text", TEXT_HEAD, S("one\r\n\ttwo <b>\n")},
    {"/hidden", TEXT_HEAD,
     S("a\x1B[31mb\xE2\x80\xAE"
       "c\xE2\x80\x8B"
       "d\xF3\xA0\x81\x81"
       "e")},
    {"/untyped", OK_HEAD, S(" <!DOCTYPE html><title>T</title><p>found out")},
    {"/png", OK_HEAD "Content-Type: image/png\r\n", S(PNG)},
    {"/png-as-html", HTML_HEAD, S(PNG)},
    {"/pdf", OK_HEAD "Content-Type: application/pdf\r\n", S("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")},
    {"/zip", OK_HEAD "Content-Type: application/zip\r\n", S("PK\3\4\24\0\0\0")},
    {"/binary", OK_HEAD "Content-Type: application/x-thing\r\n", S("\0\1\2\3")},
    {"/gzip", HTML_HEAD "Content-Encoding: gzip\r\n", S("\x1F\x8B\x08")},
    {"/empty", HTML_HEAD, S("")},
    {"/scripted", HTML_HEAD, S("<title>App</title><script>go()</script>")},
    {"/teapot", "HTTP/1.1 418 I'm a teapot\r\nContent-Type: text/html\r\n",
     S("<h1>Short and stout</h1>")},
    {"/broken", "HTTP/1.1 500 Oops\r\n", S("")},
    {"/moved", "HTTP/1.1 301 Moved\r\nLocation: page?x#y\r\n", S("elsewhere")},
    {"/page?x", TEXT_HEAD, S("followed")},
    {"/away", "HTTP/1.1 302 Found\r\nLocation: http://other.test/a b\r\n", S("")},
    {"/leaves", "HTTP/1.1 302 Found\r\nLocation: //user@other.test/caf\xC3\xA9\r\n", S("")},
    {"/to-port", "HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\n", S("")},
    {"/to-metadata", "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\n", S("")},
    {"/to-file", "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n", S("")},
    {"/to-https", "HTTP/1.1 308 Go\r\nLocation: https://127.0.0.1:1/x\r\n", S("")},
    {"/round", "HTTP/1.1 302 Found\r\nLocation: /round\r\n", S("")},
    {"/stalls", TEXT_HEAD, S("the start"), .stalls = true},
};

static void serve(struct web *w)
{
    web_serve(w, pages, ARRAY_LEN(pages));
}

static struct tool_result fetch_url(struct web *w, const char *url)
{
    return web_call(w, &tool_web_fetch,
                    arena_format(&w->arena, "{\"url\":\"%s\",\"prompt\":\"what is it?\"}", url).p);
}

static const char *url_of(struct web *w, const char *host, const char *path)
{
    return arena_format(&w->arena, "http://%s:%d%s", host, server_port(w->server), path).p;
}

static struct tool_result fetch(struct web *w, const char *path)
{
    return fetch_url(w, url_of(w, "127.0.0.1", path));
}

/* The text with PORT for the server's port. */
static struct str without_port(struct web *w, const struct tool_result *r)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str rest = strbuf_str(&r->text);
    struct str port = arena_format(&w->arena, ":%d", server_port(w->server));
    size_t at;

    while ((at = str_find(rest, port)) != STR_NONE) {
        strbuf_add(&out, str_slice(rest, 0, at));
        strbuf_add(&out, S(":PORT"));
        rest = str_skip(rest, at + port.n);
    }
    strbuf_add(&out, rest);
    return arena_str(&w->arena, strbuf_str(&out));
}

static void check_page(const char *path, const char *want)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, path);
    assert_str(without_port(&w, &r), want);
    assert_false(r.is_error);
}

static void check_failure(const char *path, const char *want)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, path);
    assert_str(without_port(&w, &r), want);
    assert_true(r.is_error);
}

/* --- what comes back --- */

TEST(a_page_is_told_as_markdown_with_its_title)
{
    check_page("/page", "URL: http://127.0.0.1:PORT/page\nStatus: 200\nType: text/html\n"
                        "Title: A page\n\n# Head\n\nSome **bold** text, a "
                        "[link](http://127.0.0.1:PORT/b).\n");
}

TEST(a_page_is_read_in_the_charset_that_the_server_names)
{
    check_page("/latin", "URL: http://127.0.0.1:PORT/latin\nStatus: 200\nType: text/html\n\n"
                         "caf\xC3\xA9\n");
}

TEST(json_is_told_as_it_is)
{
    check_page("/json", "URL: http://127.0.0.1:PORT/json\nStatus: 200\nType: application/json\n\n"
                        "{\"a\": [1,  2]}\n");
}

TEST(plain_text_is_told_as_it_is)
{
    check_page("/text", "URL: http://127.0.0.1:PORT/text\nStatus: 200\nType: text/plain\n\n"
                        "one\n\ttwo <b>\n");
}

TEST(control_characters_and_hidden_text_are_taken_out)
{
    check_page("/hidden", "URL: http://127.0.0.1:PORT/hidden\nStatus: 200\nType: text/plain\n\n"
                          "a[31mbcde");
}

TEST(a_page_without_a_type_is_known_by_its_bytes)
{
    check_page("/untyped", "URL: http://127.0.0.1:PORT/untyped\nStatus: 200\nTitle: T\n\n"
                           "found out\n");
}

TEST(an_empty_page_is_told_as_such)
{
    check_page("/empty", "URL: http://127.0.0.1:PORT/empty\nStatus: 200\nType: text/html\n\n"
                         "(The page has no text.)\n\n");
}

TEST(a_page_that_scripts_would_write_is_told_as_such)
{
    check_page("/scripted", "URL: http://127.0.0.1:PORT/scripted\nStatus: 200\nType: text/html\n"
                            "Title: App\n\n"
                            "(The page has no text; scripts may write it in a browser.)\n\n");
}

TEST(the_request_says_who_asks_and_for_what)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    AUTO_FREE char *request = NULL;

    serve(&w);
    r = fetch(&w, "/text");
    request = server_take_request(w.server);
    assert_true(str_starts(str_of(request), S("GET /text HTTP/1.1\r\n")));
    assert_has(str_of(request), "\r\nUser-Agent: keel/" KEEL_VERSION "\r\n");
    assert_has(str_of(request), "\r\nAccept: text/markdown, text/html, text/plain, "
                                "application/json");
    assert_null(strstr(request, "what is it?"));
}

TEST(details_are_for_programs)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    AUTO(strbuf) struct strbuf details = {0};

    serve(&w);
    r = fetch(&w, "/moved");
    json_write(&details, r.details);
    assert_has(strbuf_str(&details), "/page?x\",\"status\":200,\"contentType\":\"text/plain\","
                                     "\"bytes\":8,\"fromCache\":false}");
}

/* --- images and documents --- */

TEST(an_image_is_attached)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, "/png");
    assert_has(strbuf_str(&r.text), "a PNG image of 29 bytes is attached");
    assert_int_equal(r.n_media, 1);
    assert_str(r.media[0].mime, "image/png");
    assert_int_equal(r.media[0].source, MEDIA_BYTES);
    assert_true(str_eq(r.media[0].data, S(PNG)));
}

TEST(an_image_that_is_called_a_page_is_an_image)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, "/png-as-html");
    assert_int_equal(r.n_media, 1);
    assert_str(r.media[0].mime, "image/png");
}

TEST(a_pdf_is_attached_for_a_model_that_reads_it)
{
    static const struct model_info reader = {.id = "reader", .capabilities = CAN_READ_PDF};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    w.fixture.context.model = &reader;
    r = fetch(&w, "/pdf");
    assert_int_equal(r.n_media, 1);
    assert_str(r.media[0].mime, "application/pdf");
}

TEST(a_model_that_cannot_see_is_told_what_it_is)
{
    static const struct model_info blind = {.id = "blind", .capabilities = CAN_READ_PDF};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    w.fixture.context.model = &blind;
    r = fetch(&w, "/png");
    assert_str(without_port(&w, &r),
               "http://127.0.0.1:PORT/png is a PNG image, which blind cannot read.");
    assert_true(r.is_error);
    assert_int_equal(r.n_media, 0);
}

TEST(other_files_are_refused_with_what_they_are)
{
    check_failure("/zip", "http://127.0.0.1:PORT/zip is a ZIP archive (application/zip, 8 bytes): "
                          "it cannot be read as text.");
    check_failure("/binary", "http://127.0.0.1:PORT/binary is a binary file (application/x-thing, "
                             "4 bytes): it cannot be read as text.");
    check_failure("/gzip", "http://127.0.0.1:PORT/gzip is compressed (gzip), though that was not "
                           "asked for (text/html, 3 bytes): it cannot be read as text.");
}

/* --- failures --- */

TEST(a_status_of_failure_is_told_with_the_beginning_of_the_text)
{
    check_failure("/teapot", "http://127.0.0.1:PORT/teapot answered with status 418:\n\n"
                             "# Short and stout");
    check_failure("/broken", "http://127.0.0.1:PORT/broken answered with status 500.");
}

TEST(the_text_of_a_failure_is_bounded)
{
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    struct web_test_page page = {"/", "HTTP/1.1 404 No\r\nContent-Type: text/plain\r\n"};

    for (size_t i = 0; i < 200000; i++)
        strbuf_add(&body, S("\xC3\xA9"));
    page.body = strbuf_str(&body);
    web_serve(&w, &page, 1);
    r = fetch(&w, "/");
    assert_true(r.is_error);
    assert_true(r.text.n < 1200);
    assert_true(str_ends(strbuf_str(&r.text), S("\xC3\xA9 ...")));
}

TEST(of_a_large_page_the_first_5_mb_are_told)
{
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    struct web_test_page page = {"/", TEXT_HEAD};

    strbuf_add_char(&body, 'a');
    while (body.n < WEB_MAX_BYTES + 100000)
        strbuf_add(&body, S("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"));
    page.body = strbuf_str(&body);
    web_serve(&w, &page, 1);
    r = fetch(&w, "/");
    assert_false(r.is_error);
    assert_has(strbuf_str(&r.text), "Note: the page is longer than the 5 MB that are read");
    assert_true(str_ends(strbuf_str(&r.text), S("\xC3\xA9")));
    assert_true(r.text.n > WEB_MAX_BYTES - 10 && r.text.n < WEB_MAX_BYTES + 300);
    assert_int_equal(server_n_requests(w.server), 1);
}

TEST(links_do_not_make_a_page_grow_without_bound)
{
    AUTO(strbuf) struct strbuf body = {0}, path = {0};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    struct web_test_page page = {.head = HTML_HEAD};

    strbuf_add_char(&path, '/');
    for (size_t i = 0; i < 4000; i++)
        strbuf_add_char(&path, 'x');
    strbuf_add_char(&path, '/');
    while (body.n < 200000)
        strbuf_add(&body, S("<a href=b>c</a> "));
    page.path = strbuf_cstr(&path);
    page.body = strbuf_str(&body);
    web_serve(&w, &page, 1);
    r = fetch(&w, page.path);
    assert_false(r.is_error);
    assert_true(r.text.n <= WEB_MAX_TEXT + 5000);
    assert_has(strbuf_str(&r.text), "this is its beginning");
}

TEST(an_image_that_is_too_large_is_refused)
{
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};
    struct web_test_page page = {"/", OK_HEAD};

    strbuf_add(&body, S(PNG));
    while (body.n <= WEB_MAX_BYTES)
        strbuf_add(&body, S(PNG));
    page.body = strbuf_str(&body);
    web_serve(&w, &page, 1);
    r = fetch(&w, "/");
    assert_str(without_port(&w, &r),
               "http://127.0.0.1:PORT/ is a PNG image of more than 5 MB: too large.");
}

TEST(a_slow_server_is_given_30_seconds)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    w.time_ms = 30000;
    r = fetch(&w, "/stalls");
    assert_str(strbuf_str(&r.text), "fetching the page took longer than 30 s.");
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_TIMEOUT);
}

TEST(cancelling_is_no_result)
{
    AUTO(web) struct web w = web_make();
    struct web_call_ c = {.web = &w, .tool = &tool_web_fetch};
    AUTO(err) struct err *e = NULL;

    serve(&w);
    w.is_cancelled_then = true;
    c.args = arena_format(&w.arena, "{\"url\":\"%s\"}", url_of(&w, "127.0.0.1", "/stalls")).p;
    virtual_clock_init(&w.clock, 0);
    w.loop = loop_new(&w.clock.clock);
    e = loop_run(w.loop, web_call_task_, &c);
    assert_int_equal(c.result.code, ERR_CANCELLED);
    tool_result_done(&c.result);
}

TEST(a_server_that_is_not_there_is_a_result)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    w.allowed[0] = S("127.0.0.1");
    w.fixture.config.allowed_hosts = w.allowed;
    w.fixture.config.n_allowed_hosts = 1;
    r = fetch_url(&w, "http://127.0.0.1:1/");
    assert_str(strbuf_str(&r.text), "cannot connect to 127.0.0.1:1: Connection refused. Hint: is "
                                    "the server running at 127.0.0.1:1?");
    assert_int_equal(r.code, ERR_NETWORK);
}

TEST(a_host_that_does_not_exist_is_a_result)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = fetch_url(&w, "http://missing.test/");

    assert_str(strbuf_str(&r.text), "cannot find the address of missing.test: Name or service not "
                                    "known. Hint: check how the host is spelled.");
    assert_int_equal(r.code, ERR_NETWORK);
}

/* --- redirects --- */

TEST(a_redirect_on_the_same_host_is_followed)
{
    check_page("/moved", "URL: http://127.0.0.1:PORT/page?x\nStatus: 200\nType: text/plain\n\n"
                         "followed");
}

static void check_redirect(const char *path, const char *to)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, path);
    assert_str(without_port(&w, &r),
               arena_format(&w.arena,
                            "http://127.0.0.1:PORT%s redirects to %s\nThat is another server, so "
                            "it was not followed; fetch that address if you want it.\n",
                            path, to)
                   .p);
    assert_false(r.is_error);
    assert_int_equal(server_n_requests(w.server), 1);
}

TEST(a_redirect_to_another_server_is_told_and_not_followed)
{
    check_redirect("/leaves", "http://other.test/caf%C3%A9");
    check_redirect("/to-port", "http://127.0.0.1:1/");
    check_redirect("/to-metadata", "http://169.254.169.254/latest");
}

TEST(a_redirect_to_no_address_of_the_web_fails)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0}, bad = {0};

    serve(&w);
    r = fetch(&w, "/to-file");
    assert_true(r.is_error);
    assert_has(strbuf_str(&r.text), "bad URL");
    bad = fetch(&w, "/away");
    assert_true(bad.is_error);
    assert_has(strbuf_str(&bad.text), "it holds a space");
}

TEST(every_hop_is_checked_again)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w); /* which allows 127.0.0.1 at one port only */
    r = fetch(&w, "/to-https");
    assert_has(strbuf_str(&r.text), "127.0.0.1 is not on the public Internet");
}

TEST(redirects_are_followed_ten_times)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, "/round");
    assert_str(strbuf_str(&r.text), "127.0.0.1 redirects more often than 10 times.");
    assert_true(r.is_error);
    assert_int_equal(server_n_requests(w.server), 11);
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
    r = fetch_url(&w, strbuf_cstr(&url));
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
    check_refused("http://127.0.0.1\\\\.example.org/", "it holds a backslash");
}

TEST(an_address_with_a_user_in_it_is_refused)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch_url(&w, url_of(&w, "good.example@127.0.0.1", "/text"));
    assert_str(strbuf_str(&r.text), "the address has a user before its host, 127.0.0.1. Hint: "
                                    "leave out everything before the '@', and the '@'.");
    assert_int_equal(server_n_connections(w.server), 0);
}

TEST(only_http_and_https_are_fetched)
{
    check_refused("ftp://example.org/", "only http and https");
    check_refused("file:///etc/passwd", "it has no host");
    check_refused("/etc/passwd", "it does not start with a scheme");
}

TEST(a_name_is_reached_at_the_address_that_was_checked)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch_url(&w, url_of(&w, "rebinds.test", "/text"));
    assert_false(r.is_error);
    assert_has(strbuf_str(&r.text), "one\n");
    assert_int_equal(n_lookups, 1);
}

TEST(a_name_that_becomes_private_is_refused_at_the_next_hop)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch_url(&w, url_of(&w, "rebinds.test", "/moved"));
    assert_has(strbuf_str(&r.text), "rebinds.test (10.0.0.1) is not on the public Internet");
    assert_true(r.is_error);
    assert_int_equal(server_n_requests(w.server), 1);
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
        r = fetch_url(&w, url_of(&w, hosts[i], "/text"));
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
    r = tool_call(&f, &tool_web_fetch, arena_format(&a, "{\"url\":\"%s\"}", url).p);
    assert_str(strbuf_str(&client.requests), requests);
    assert_has(strbuf_str(&r.text), text);
    assert_false(r.is_error);
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
    r = fetch_url(&w, "http://far.test/a");
    assert_str(strbuf_str(&r.text), "URL: http://far.test/a\nStatus: 200\nType: text/plain\n\n"
                                    "by proxy");
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
        r = fetch_url(&w, urls[i]);
        assert_has(strbuf_str(&r.text), "is not on the public Internet");
        assert_int_equal(server_n_connections(w.server), 0);
    }
}

/* --- the cache --- */

struct repeated {
    struct web *web;
    const char *args;
    uint64_t pause_ms;
    struct tool_result first, second;
};

static struct err *fetch_twice(void *arg)
{
    struct repeated *r = arg;

    web_begin(r->web);
    r->first = tool_call_in_task(&r->web->fixture, &tool_web_fetch, r->args);
    assert_ok(task_sleep(r->pause_ms));
    r->second = tool_call_in_task(&r->web->fixture, &tool_web_fetch, r->args);
    web_end(r->web);
    return NULL;
}

/* The second text; how many requests were made is left to the caller. */
static struct str second_text(struct web *w, const char *path, uint64_t pause_ms)
{
    struct repeated r = {.web = w, .pause_ms = pause_ms};
    struct str text;

    serve(w);
    r.args = arena_format(&w->arena, "{\"url\":\"%s\"}", url_of(w, "127.0.0.1", path)).p;
    web_run(w, fetch_twice, &r);
    text = without_port(w, &r.second);
    tool_result_done(&r.first);
    tool_result_done(&r.second);
    return text;
}

TEST(a_page_is_kept_for_a_while_and_says_so)
{
    AUTO(web) struct web w = web_make();

    assert_str(second_text(&w, "/text", 15 * 60 * 1000 - 1),
               "URL: http://127.0.0.1:PORT/text\nStatus: 200\nType: text/plain\n"
               "Note: from the cache, fetched 899 s ago.\n\none\n\ttwo <b>\n");
    assert_int_equal(server_n_requests(w.server), 1);
}

TEST(a_page_is_fetched_again_after_15_minutes)
{
    AUTO(web) struct web w = web_make();

    assert_str(second_text(&w, "/text", 15 * 60 * 1000),
               "URL: http://127.0.0.1:PORT/text\nStatus: 200\nType: text/plain\n\n"
               "one\n\ttwo <b>\n");
    assert_int_equal(server_n_requests(w.server), 2);
}

TEST(failures_and_redirects_are_not_kept)
{
    static const char *const paths[] = {"/teapot", "/zip", "/leaves"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        AUTO(web) struct web w = web_make();

        second_text(&w, paths[i], 1);
        assert_int_equal(server_n_requests(w.server), 2);
    }
}

static struct web_page *page_of(size_t n_bytes)
{
    struct web_page *p = mem_alloc(sizeof *p);

    strbuf_init(&p->content, WEB_CACHE_MAX_BYTES * 2);
    strbuf_grew(&p->content, strbuf_reserve(&p->content, n_bytes) ? n_bytes : 0);
    return p;
}

TEST(the_cache_holds_so_many_pages_and_drops_the_oldest)
{
    struct web_cache *c = mem_alloc(sizeof *c);
    uint64_t age_ms;

    for (unsigned i = 0; i < WEB_CACHE_MAX_PAGES + 1; i++) {
        char url[16];

        snprintf(url, sizeof url, "%u", i);
        web_cache_add(c, str_of(url), page_of(10), i);
    }
    assert_null(web_cache_find(c, S("0"), 100, &age_ms));
    assert_non_null(web_cache_find(c, S("1"), 100, &age_ms));
    assert_int_equal(age_ms, 99);
    assert_non_null(web_cache_find(c, S("64"), 100, &age_ms));
    web_cache_done(c);
    mem_free(c);
}

TEST(the_cache_holds_so_many_bytes_and_drops_the_oldest)
{
    struct web_cache *c = mem_alloc(sizeof *c);
    uint64_t age_ms;

    web_cache_add(c, S("a"), page_of((size_t)10 << 20), 1);
    web_cache_add(c, S("b"), page_of((size_t)10 << 20), 2);
    web_cache_add(c, S("c"), page_of((size_t)20 << 20), 3);
    assert_null(web_cache_find(c, S("a"), 4, &age_ms));
    assert_non_null(web_cache_find(c, S("b"), 4, &age_ms));
    assert_non_null(web_cache_find(c, S("c"), 4, &age_ms));
    assert_true(c->n_bytes <= WEB_CACHE_MAX_BYTES);
    web_cache_add(c, S("d"), page_of(WEB_CACHE_MAX_BYTES), 5);
    assert_null(web_cache_find(c, S("d"), 6, &age_ms));
    assert_non_null(web_cache_find(c, S("c"), 6, &age_ms));
    web_cache_done(c);
    assert_int_equal(c->n_bytes, 0);
    mem_free(c);
}

TEST(a_page_in_the_cache_is_replaced_by_the_newer_one)
{
    struct web_cache *c = mem_alloc(sizeof *c);
    uint64_t age_ms;

    web_cache_add(c, S("a"), page_of(1), 1);
    web_cache_add(c, S("a"), page_of(2), 5);
    assert_int_equal(web_cache_find(c, S("a"), 6, &age_ms)->content.n, 2);
    assert_int_equal(age_ms, 1);
    assert_int_equal(c->n, 1);
    web_cache_done(c);
    mem_free(c);
}

RUN_TESTS(
    UNIT(a_page_is_told_as_markdown_with_its_title),
    UNIT(a_page_is_read_in_the_charset_that_the_server_names), UNIT(json_is_told_as_it_is),
    UNIT(plain_text_is_told_as_it_is), UNIT(control_characters_and_hidden_text_are_taken_out),
    UNIT(a_page_without_a_type_is_known_by_its_bytes), UNIT(an_empty_page_is_told_as_such),
    UNIT(a_page_that_scripts_would_write_is_told_as_such),
    UNIT(the_request_says_who_asks_and_for_what), UNIT(details_are_for_programs),
    UNIT(an_image_is_attached), UNIT(an_image_that_is_called_a_page_is_an_image),
    UNIT(a_pdf_is_attached_for_a_model_that_reads_it),
    UNIT(a_model_that_cannot_see_is_told_what_it_is),
    UNIT(other_files_are_refused_with_what_they_are),
    UNIT(a_status_of_failure_is_told_with_the_beginning_of_the_text),
    UNIT(the_text_of_a_failure_is_bounded), UNIT(of_a_large_page_the_first_5_mb_are_told),
    UNIT(links_do_not_make_a_page_grow_without_bound), UNIT(an_image_that_is_too_large_is_refused),
    UNIT(a_slow_server_is_given_30_seconds), UNIT(cancelling_is_no_result),
    UNIT(a_server_that_is_not_there_is_a_result), UNIT(a_host_that_does_not_exist_is_a_result),
    UNIT(a_redirect_on_the_same_host_is_followed),
    UNIT(a_redirect_to_another_server_is_told_and_not_followed),
    UNIT(a_redirect_to_no_address_of_the_web_fails), UNIT(every_hop_is_checked_again),
    UNIT(redirects_are_followed_ten_times), UNIT(private_addresses_are_refused),
    UNIT(names_of_private_addresses_are_refused),
    UNIT(one_private_address_of_many_is_enough_to_refuse), UNIT(addresses_in_disguise_are_refused),
    UNIT(an_address_with_a_user_in_it_is_refused), UNIT(only_http_and_https_are_fetched),
    UNIT(a_name_is_reached_at_the_address_that_was_checked),
    UNIT(a_name_that_becomes_private_is_refused_at_the_next_hop),
    UNIT(an_allowed_host_is_fetched_though_it_is_private), UNIT(allowed_hosts_mean_what_they_say),
    UNIT(a_request_is_tied_to_the_addresses_that_were_checked),
    UNIT(a_redirect_from_http_to_https_is_followed),
    UNIT(a_redirect_from_https_to_http_is_told_and_not_followed),
    UNIT(a_proxy_finds_the_names_that_we_cannot), UNIT(no_private_address_is_asked_of_a_proxy),
    UNIT(a_page_is_kept_for_a_while_and_says_so), UNIT(a_page_is_fetched_again_after_15_minutes),
    UNIT(failures_and_redirects_are_not_kept),
    UNIT(the_cache_holds_so_many_pages_and_drops_the_oldest),
    UNIT(the_cache_holds_so_many_bytes_and_drops_the_oldest),
    UNIT(a_page_in_the_cache_is_replaced_by_the_newer_one))
