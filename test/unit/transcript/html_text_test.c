/* html_text_test.c - foreign text in a page stays text. */
#include "test.h"
#include "transcript/html_text.h"

static struct strbuf out;

static const char *markdown(const char *text)
{
    struct md4c_api md4c;

    assert_ok(md4c_api_load(&md4c));
    strbuf_clear(&out);
    html_add_markdown(&out, str_of(text), &md4c);
    return strbuf_cstr(&out);
}

static const char *plain(struct str text)
{
    strbuf_clear(&out);
    html_add(&out, text);
    return strbuf_cstr(&out);
}

TEST(letters_with_a_meaning_are_escaped)
{
    assert_string_equal(plain(S("<a b=\"c\" d='e'>&")),
                        "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
}

TEST(what_steers_a_terminal_and_bad_bytes_are_gone)
{
    assert_string_equal(plain(S("\033[31mred\033[0m \033]0;title\ab\x01\xc2\x9b!\xff")),
                        "red b!\xef\xbf\xbd");
    assert_string_equal(plain(S("a\r\nb\rc")), "a\nb\nc");
}

TEST(raw_html_in_markdown_is_text)
{
    assert_string_equal(markdown("<b onclick=x>hi</b>"),
                        "<p>&lt;b onclick=x&gt;hi&lt;/b&gt;</p>\n");
    assert_string_equal(markdown("<script>\nalert(1)\n</script>"),
                        "<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>\n");
}

TEST(links_lead_to_pages_and_people_only)
{
    assert_string_equal(
        markdown("[a](https://x.y/?b=1&c=\"2\")"),
        "<p><a rel=\"noreferrer noopener\" href=\"https://x.y/?b=1&amp;c=&quot;2&quot;\">"
        "a</a></p>\n");
    assert_string_equal(markdown("[a](javascript:b)"), "<p>a</p>\n");
    assert_string_equal(markdown("[a](java&#115;cript:b)"), "<p>a</p>\n");
    assert_string_equal(markdown("[a](data:text/html,b)"), "<p>a</p>\n");
    assert_string_equal(markdown("[a](/etc/passwd)"), "<p>a</p>\n");
    assert_string_equal(markdown("[**a**](file:///b) c"), "<p><strong>a</strong> c</p>\n");
}

TEST(images_are_named_and_not_loaded)
{
    assert_string_equal(markdown("![a *b*](https://x.y/z.png)"),
                        "<p><span class=\"image\">[image: a b]</span></p>\n");
}

TEST(code_keeps_its_language_as_text)
{
    assert_string_equal(markdown("```a\"b\n<x>\n```"),
                        "<pre data-language=\"a&quot;b\"><code>&lt;x&gt;\n</code></pre>\n");
}

TEST(headings_stand_below_those_of_the_page)
{
    assert_string_equal(markdown("# a"), "<h3>a</h3>\n");
    assert_string_equal(markdown("###### a"), "<h6>a</h6>\n");
}

/* Deeper blocks lose their frames, never their words, and every element is closed. */
TEST(blocks_that_are_too_deep_are_flat)
{
    AUTO(strbuf) struct strbuf deep = {0};
    size_t n_open = 0, n_closed = 0;

    for (int i = 0; i < 500; i++)
        strbuf_add_cstr(&deep, "> ");
    strbuf_add_cstr(&deep, "word");
    markdown(strbuf_cstr(&deep));
    for (struct str s = strbuf_str(&out); str_find(s, S("<blockquote>")) != STR_NONE; n_open++)
        s = str_skip(s, str_find(s, S("<blockquote>")) + 1);
    for (struct str s = strbuf_str(&out); str_find(s, S("</blockquote>")) != STR_NONE; n_closed++)
        s = str_skip(s, str_find(s, S("</blockquote>")) + 1);
    assert_int_equal(n_open, n_closed);
    assert_true(n_open < 50);
    assert_true(str_find(strbuf_str(&out), S("word")) != STR_NONE);
}

TEST(without_the_library_or_when_it_is_too_long_text_stays_as_it_is)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_clear(&out);
    html_add_markdown(&out, S("**a** <b>"), NULL);
    assert_string_equal(strbuf_cstr(&out), "<div class=\"plain\">**a** &lt;b&gt;</div>\n");
    while (text.n <= HTML_MARKDOWN_MAX)
        strbuf_add_cstr(&text, "**a** ");
    assert_true(str_starts(str_of(markdown(strbuf_cstr(&text))), S("<div class=\"plain\">**a** ")));
    strbuf_done(&out);
}

RUN_TESTS(UNIT(letters_with_a_meaning_are_escaped),
          UNIT(what_steers_a_terminal_and_bad_bytes_are_gone), UNIT(raw_html_in_markdown_is_text),
          UNIT(links_lead_to_pages_and_people_only), UNIT(images_are_named_and_not_loaded),
          UNIT(code_keeps_its_language_as_text), UNIT(headings_stand_below_those_of_the_page),
          UNIT(blocks_that_are_too_deep_are_flat),
          UNIT(without_the_library_or_when_it_is_too_long_text_stays_as_it_is))
