/* web_fetch_test.c - WebFetch against a real server: what comes back. */
#include "test.h"

#include "tool/web.h"
#include "tool/web/page.h"

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
    {"/article", HTML_HEAD, S("<article>in</article><p>outside</p>")},
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
    {"/round", "HTTP/1.1 302 Found\r\nLocation: /round\r\n", S("")},
    {"/stalls", TEXT_HEAD, S("the start"), .stalls = true},
};

static void serve(struct web *w)
{
    web_serve(w, pages, ARRAY_LEN(pages));
}

static struct tool_result fetch(struct web *w, const char *path)
{
    return web_fetch(w, web_url(w, "127.0.0.1", path));
}

static void check_page(const char *path, const char *want)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, path);
    assert_str(web_without_port(&w, &r), want);
    assert_false(r.is_error);
}

static void check_failure(const char *path, const char *want)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, path);
    assert_str(web_without_port(&w, &r), want);
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

TEST(text_outside_of_the_main_part_is_told_to_be_left_out)
{
    check_page(
        "/article",
        "URL: http://127.0.0.1:PORT/article\nStatus: 200\nType: text/html\n"
        "Note: this is what the page marks as its main part; it has other text, too.\n\nin\n");
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
                            "(The page has no text; a browser may build it with scripts.)\n\n");
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
    assert_str(web_without_port(&w, &r),
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
    check_failure("/gzip", "http://127.0.0.1:PORT/gzip is compressed (gzip), which keel did not "
                           "ask for (text/html, 3 bytes): it cannot be read as text.");
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
    assert_has(strbuf_str(&r.text), "Note: the page is longer than 5 MB");
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
    while (body.n < 50000)
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
    assert_str(web_without_port(&w, &r),
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
    c.args = arena_format(&w.arena, "{\"url\":\"%s\"}", web_url(&w, "127.0.0.1", "/stalls")).p;
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
    r = web_fetch(&w, "http://127.0.0.1:1/");
    assert_str(strbuf_str(&r.text), "cannot connect to 127.0.0.1:1: Connection refused. Hint: is "
                                    "the server running at 127.0.0.1:1?");
    assert_int_equal(r.code, ERR_NETWORK);
}

TEST(a_host_that_does_not_exist_is_a_result)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = web_fetch(&w, "http://missing.test/");

    assert_str(strbuf_str(&r.text), "cannot resolve the host name missing.test: Name or service "
                                    "not known. Hint: check the spelling of the host name.");
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
    assert_str(web_without_port(&w, &r),
               arena_format(
                   &w.arena,
                   "http://127.0.0.1:PORT%s redirects to %s\nThat is another host or port, so the "
                   "redirect was not followed. Fetch that address if you need it.\n",
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
    assert_has(strbuf_str(&bad.text), "it contains a space");
}

TEST(redirects_are_followed_ten_times)
{
    AUTO(web) struct web w = web_make();
    AUTO(tool_result) struct tool_result r = {0};

    serve(&w);
    r = fetch(&w, "/round");
    assert_str(strbuf_str(&r.text), "127.0.0.1 redirects more than 10 times.");
    assert_true(r.is_error);
    assert_int_equal(server_n_requests(w.server), 11);
}

RUN_TESTS(UNIT(a_page_is_told_as_markdown_with_its_title),
          UNIT(a_page_is_read_in_the_charset_that_the_server_names), UNIT(json_is_told_as_it_is),
          UNIT(plain_text_is_told_as_it_is), UNIT(control_characters_and_hidden_text_are_taken_out),
          UNIT(a_page_without_a_type_is_known_by_its_bytes),
          UNIT(text_outside_of_the_main_part_is_told_to_be_left_out),
          UNIT(an_empty_page_is_told_as_such),
          UNIT(a_page_that_scripts_would_write_is_told_as_such),
          UNIT(the_request_says_who_asks_and_for_what), UNIT(details_are_for_programs),
          UNIT(an_image_is_attached), UNIT(an_image_that_is_called_a_page_is_an_image),
          UNIT(a_pdf_is_attached_for_a_model_that_reads_it),
          UNIT(a_model_that_cannot_see_is_told_what_it_is),
          UNIT(other_files_are_refused_with_what_they_are),
          UNIT(a_status_of_failure_is_told_with_the_beginning_of_the_text),
          UNIT(the_text_of_a_failure_is_bounded), UNIT(of_a_large_page_the_first_5_mb_are_told),
          UNIT(links_do_not_make_a_page_grow_without_bound),
          UNIT(an_image_that_is_too_large_is_refused), UNIT(a_slow_server_is_given_30_seconds),
          UNIT(cancelling_is_no_result), UNIT(a_server_that_is_not_there_is_a_result),
          UNIT(a_host_that_does_not_exist_is_a_result),
          UNIT(a_redirect_on_the_same_host_is_followed),
          UNIT(a_redirect_to_another_server_is_told_and_not_followed),
          UNIT(a_redirect_to_no_address_of_the_web_fails), UNIT(redirects_are_followed_ten_times))
