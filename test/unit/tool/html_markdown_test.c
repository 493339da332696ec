/* html_markdown_test.c - small pages and the Markdown they become. */
#include "test.h"

#include "tool/html/markdown.h"

struct shown {
    struct arena a;
    struct strbuf out;
    struct html_page page;
};

static void shown_done(struct shown *s)
{
    arena_done(&s->a);
    strbuf_done(&s->out);
}
DEFINE_AUTO_VAL(shown, shown_done)

static void show(struct shown *s, struct str html, const char *charset)
{
    assert_ok(html_to_markdown(&s->a, html, str_of(charset), S("https://example.org/a/b?c"),
                               &s->out, &s->page));
}

static void check_bytes(struct str html, const char *charset, const char *want, const char *file,
                        int line)
{
    AUTO(shown) struct shown s = {0};

    show(&s, html, charset);
    assert_str_(strbuf_str(&s.out), want, file, line);
}
/* The page, and its Markdown without the line end at the end. */
#define check(html, want) check_bytes(str_of(html), "utf-8", want "\n", __FILE__, __LINE__)
#define check_charset(html, charset, want)                                                         \
    check_bytes(S(html), charset, want "\n", __FILE__, __LINE__)

TEST(headings_and_paragraphs_are_parted_by_one_blank_line)
{
    check("<h1>One</h1><p>a</p>\n\n<p>b<div>c</div>d<h6>Six</h6>",
          "# One\n\na\n\nb\n\nc\n\nd\n\n###### Six");
    check("<h2>A <br>\n<div>title</div></h2>", "## A title");
    check("<h2></h2><p> </p><p>&nbsp;</p>x", "x");
}

TEST(an_empty_page_is_empty_markdown)
{
    AUTO(shown) struct shown s = {0};

    show(&s, S("<html><body><p> </p></body></html>"), "");
    assert_int_equal(s.out.n, 0);
    show(&s, S(""), "");
    assert_int_equal(s.out.n, 0);
    assert_str(s.page.title, "");
}

TEST(white_space_collapses_as_in_a_browser)
{
    check("<p>\n a  b\t<span> c </span> d</p>", "a b c d");
    check("a<b> b </b>c", "a **b** c");
}

TEST(emphasis_is_marked)
{
    check("<b>a</b> <strong>b</strong> <i>c</i> <em>d</em> <del>e</del> <s>f</s>",
          "**a** **b** *c* *d* ~~e~~ ~~f~~");
    check("<b><b>a</b> b</b>", "**a b**");
    check("<b>a</b><b>b</b>", "**ab**");
    check("x<b></b>y<i> </i>z", "xy z");
    check("<b><i>a</i></b>", "***a***");
}

TEST(emphasis_over_several_blocks_is_marked_in_each)
{
    check("<b><p>a</p><p>b</p></b>", "**a**\n\n**b**");
}

TEST(line_breaks_and_rules_are_kept)
{
    check("a<br>b<br><br>c<br><p>d</p><hr>e", "a\\\nb\n\nc\n\nd\n\n---\n\ne");
}

TEST(lists_nest)
{
    check("<p>x</p><ul><li>a<li><p>b</p><p>c</p><ol><li>d<li>e</ol>f<li>g</ul>y",
          "x\n\n- a\n- b\n\n  c\n\n  1. d\n  2. e\n\n  f\n- g\n\ny");
    check("<ul><li>a<ul><li>b<ul><li>c</ul></ul><li></li><li>d</ul>", "- a\n  - b\n    - c\n- d");
}

TEST(ordered_lists_keep_their_numbers)
{
    check("<ol start=9><li>a<li>b<li value=20>c<li>d</ol>", "9. a\n10. b\n20. c\n21. d");
    check("<ol start=99999999999999999999><li>a</ol>", "1. a");
    check("<ol start=9><li>a<p>b</ol>", "9. a\n\n   b");
    check("<ul><li>a<ol start=9><li>b</ol></ul>", "- a\n\n  9. b");
}

TEST(quotes_are_prefixed)
{
    check("<blockquote><p>a</p><p>b</p><blockquote>c</blockquote></blockquote>d",
          "> a\n>\n> b\n>\n> > c\n\nd");
    check("<ul><li><blockquote>a<br>b</blockquote></ul>", "- > a\\\n  > b");
}

TEST(code_blocks_keep_their_white_space)
{
    check("<pre><code class=\"hl language-c\">if (a)\n    b;\n\n\tc &lt; d;\n</code></pre>",
          "```c\nif (a)\n    b;\n\n\tc < d;\n```");
    check("<pre class=lang-sh>a<br>b</pre>c", "```sh\na\nb\n```\n\nc");
    check("<ul><li>x<pre>a\n\nb</pre></ul>", "- x\n\n  ```\n  a\n\n  b\n  ```");
    check("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```");
}

TEST(a_fence_is_longer_than_any_inside)
{
    check("<pre>```\nx\n````</pre>", "`````\n```\nx\n````\n`````");
    check("<code>a`b</code> <code>``</code> <code>c</code>", "``a`b`` ``` `` ``` `c`");
}

TEST(code_is_not_escaped)
{
    check("<code>*a* [b](c) &lt;d&gt;</code>", "`*a* [b](c) <d>`");
    check("<pre># *a*</pre>", "```\n# *a*\n```");
}

TEST(tables_become_pipes)
{
    check("<table><caption>c</caption><thead><tr><th>A<th>B</thead><tr><td>1<td>2|3</table>",
          "c\n\n| A | B |\n| --- | --- |\n| 1 | 2\\|3 |");
    check("<table><tr><th>A<th>B<tr><td colspan=2><code>x|y</code><tr><td>z</table>",
          "| A | B |\n| --- | --- |\n| `x\\|y` | |\n| z | |");
    check("<table><tr><th>A<th>B<tr><td><p>a</p><p>b<br>c</p><td><ul><li>d<li>e</ul></table>",
          "| A | B |\n| --- | --- |\n| a<br>b<br>c | - d<br>- e |");
}

TEST(a_table_without_header_gets_an_empty_one)
{
    check("<table><tr><td>1<td>2<tr><td>3<td>4</table>",
          "| | |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |");
}

TEST(a_table_for_layout_becomes_blocks)
{
    check("<table><tr><td><h1>a</h1><td><table><tr><td>b<td>c</table></table>",
          "# a\n\n| | |\n| --- | --- |\n| b | c |");
    check("<table><tr><td>a<tr><td>b</table>", "a\n\nb");
}

TEST(links_are_absolute)
{
    check("<a href=c>x</a> <a href='/d?e#f'>y</a> <a href=//h/i>z</a> <a href=#g>w</a>",
          "[x](https://example.org/a/c) [y](https://example.org/d?e#f) [z](https://h/i) "
          "[w](https://example.org/a/b?c#g)");
    check("<a href=' x\n y(1)'>x</a>", "[x](<https://example.org/a/x%20y(1)>)");
    check("<base href=/q/><a href=r>x</a>", "[x](https://example.org/q/r)");
    check("<a href=mailto:a@b.c>x</a>", "[x](mailto:a@b.c)");
}

TEST(relative_links_stay_when_the_page_has_no_address)
{
    AUTO(shown) struct shown s = {0};

    assert_ok(html_to_markdown(&s.a, S("<a href=x>y</a> <a href=http://h/>z</a>"), S(""), S(""),
                               &s.out, &s.page));
    assert_str(strbuf_str(&s.out), "[y](x) [z](http://h/)\n");
}

TEST(links_to_script_and_data_are_plain_text)
{
    check("<a href=javascript:alert(1)>a</a> <a href=' JavaScript:x'>b</a> <a href=data:,x>c</a> "
          "<a href='java\nscript:x'>d</a> <a>e</a> <a href='http://a b/'>f</a>",
          "a b c d e f");
}

TEST(a_link_is_written_once_even_when_it_spans_blocks)
{
    check("<a href=/x><h3>Title</h3><p>Text</p></a>y",
          "### [Title](https://example.org/x)\n\nText\n\ny");
}

TEST(a_heading_loses_the_link_to_itself)
{
    check("<h2>Title<a href=#title>\xC2\xB6</a></h2>", "## Title");
}

TEST(images_show_their_text_and_address)
{
    check("<img src=i.png alt='a [b]'>", "![a \\[b\\]](https://example.org/a/i.png)");
    check("<a href=/x><img src=/i alt=a></a>",
          "[![a](https://example.org/i)](https://example.org/x)");
    check("x<img src=i.png alt=''><img src=p.gif width=1 height=1>", "x");
    check("<img src=data:image/png;base64,AA alt=a>", "a");
}

TEST(definition_lists_and_details_are_readable)
{
    check("<dl><dt>a<dd>b<dd>c<p>d<dt>e<dd>f</dl>", "a\n: b\n: c\n\n  d\n\ne\n: f");
    check("<details><summary>a</summary>b</details>", "**a**\n\nb");
}

TEST(specials_are_escaped_only_where_they_would_mean_something)
{
    check("<p>1. a<p>2) b<p># c<p>- d<p>+ e<p>> f<p>* g",
          "1\\. a\n\n2\\) b\n\n\\# c\n\n\\- d\n\n\\+ e\n\n\\> f\n\n\\* g");
    check("<p>3.5 # C# -x a-b + = > 2 * 3 ! snake_case (x) a: b. [1] | ~5",
          "3.5 # C# -x a-b + = > 2 * 3 ! snake_case (x) a: b. [1] | ~5");
    check("<p>*a* _b_ `c` ~~d~~ [e](f) &lt;g> &amp;amp; \\* \\d",
          "\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~ [e]\\(f) \\<g> \\&amp; \\\\\\* \\d");
    check("<p>Hi!<a href=/x>[y]</a>", "Hi\\![\\[y\\]](https://example.org/x)");
    check("a<br>---<br>===", "a\\\n\\---\\\n\\===");
    check("[a]: b", "[a]\\: b");
}

TEST(entities_are_decoded)
{
    check("&eacute;&#x41;&hellip;&lt;", "\xC3\xA9"
                                        "A\xE2\x80\xA6\\<");
}

TEST(what_is_not_for_readers_is_left_out)
{
    check("a<script>b</script><style>c</style><template>d</template><noscript>e</noscript>"
          "<svg><title>f</title><text>g</text></svg><iframe>h</iframe><canvas>i</canvas><!--j-->"
          "<p hidden>k</p><p aria-hidden=true>l</p><p style='color:red; DISPLAY : none'>m</p>"
          "<form><input value=n><button>o</button><select><option>p</select>"
          "<textarea>q</textarea><label>r</label></form>",
          "a\n\nr");
}

TEST(only_main_or_the_articles_are_kept_when_marked)
{
    check("<header>h</header><nav>n</nav><main><nav>o</nav><header>t</header>m<footer>g</footer>"
          "</main><aside>s</aside><footer>f</footer>",
          "t\n\nm");
    check("<nav>n</nav><article>a<article>b</article></article><article>c</article>x",
          "a\n\nb\n\nc");
    check("<div>n</div><div role=main>m</div>", "m");
    check("<nav>n</nav><p>x</p><footer>f</footer>", "n\n\nx\n\nf");
    check("<main hidden>h</main><main></main><p>x</p>", "x");
}

TEST(the_title_is_found)
{
    static const struct {
        const char *html, *want;
    } cases[] = {
        {"<title> A\n &amp;  b\x1b[1m</title>", "A & b[1m"},
        {"<meta property=og:title content='O'><title>T</title>", "T"},
        {"<meta property=og:title content='O'><title> </title>", "O"},
        {"<svg><title>S</title></svg>", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(shown) struct shown s = {0};

        show(&s, str_of(cases[i].html), "");
        assert_str(s.page.title, cases[i].want);
    }
}

TEST(control_characters_and_bidi_overrides_are_dropped)
{
    check("a\x1b[31mb\x07\x7f&#x202E;c&#x2066;d&#x200B;e&#xE0041;f\xC2\x9Bg", "a[31mbcdefg");
    check("<pre>a\x1b[0m\n\tb&#x202E;</pre>", "```\na[0m\n\tb\n```");
    check("<img alt='a&#x202E;b' src='/i&#x202E;'>", "![ab](https://example.org/i%E2%80%AE)");
}

TEST(bad_utf8_is_repaired)
{
    check("caf\xC3 \xC3\xA9\xFF!", "caf\xEF\xBF\xBD \xC3\xA9\xEF\xBF\xBD!");
    check_charset("caf\xC3 \xC3\xA9", "", "caf\xEF\xBF\xBD \xC3\xA9");
}

TEST(a_page_in_a_charset_of_the_server_is_converted)
{
    check_charset("caf\xE9 \x80", "ISO-8859-1", "caf\xC3\xA9 \xE2\x82\xAC");
    check_charset("\x83\x65\x83\x58\x83\x67", "Shift_JIS", "\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88");
    check_charset("\xEC\xD2", "koi8-r", "\xD0\x9B\xD1\x80");
    check_charset("\xCF\xF0", "windows-1251", "\xD0\x9F\xD1\x80");
    check_charset("\x83\x65\x83", "shift_jis", "\xE3\x83\x86\xEF\xBF\xBD");
}

TEST(a_page_in_a_charset_of_a_meta_element_is_converted)
{
    check_charset("<!--<meta charset=utf-8>--><meta charset='iso-8859-1'>caf\xE9 \xC3\xA9", "",
                  "caf\xC3\xA9 \xC3\x83\xC2\xA9");
    check_charset("<META http-equiv=Content-Type content=\"text/html; charset=Shift_JIS\">"
                  "\x83\x65\x83\x58\x83\x67",
                  "", "\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88");
    check_charset("<meta charset=utf-16>\xC3\xA9", "", "\xC3\xA9");
}

TEST(a_byte_order_mark_wins)
{
    check_charset("\xFF\xFE<\0p\0>\0\xE9\0\x34\xD8\x1E\xDD", "iso-8859-1",
                  "\xC3\xA9\xF0\x9D\x84\x9E");
    check_charset("\xFE\xFF\0\xE9\xD8\x34", "", "\xC3\xA9\xEF\xBF\xBD");
    check_charset("\xEF\xBB\xBF\xC3\xA9", "iso-8859-1", "\xC3\xA9");
}

TEST(an_unknown_charset_counts_as_none)
{
    check_charset("\xC3\xA9", "x-none", "\xC3\xA9");
    check_charset("\xC3\xA9", "utf-7//TRANSLIT", "\xC3\xA9");
    check_charset("caf\xE9", "", "caf\xC3\xA9");
}

static void add_times(struct strbuf *page, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add_cstr(page, text);
}

TEST(a_page_that_nests_too_deep_is_read_to_its_end)
{
    AUTO(strbuf) struct strbuf page = {0};
    AUTO(shown) struct shown s = {0};
    size_t n = 0;

    add_times(&page, "<div>x", 20000);
    add_times(&page, "<ul><li>", 20000);
    strbuf_add_cstr(&page, "<p>end");
    show(&s, strbuf_str(&page), "");
    for (size_t i = 0; i < s.out.n; i++)
        n += s.out.p[i] == 'x';
    assert_int_equal(n, 20000);
    assert_non_null(strstr(s.out.p, "end"));
    assert_false(s.page.was_cut);
    assert_false(s.page.is_tangled);
}

TEST(a_page_that_nests_deep_and_closes_its_tags_is_read_to_its_end)
{
    AUTO(strbuf) struct strbuf page = {0};
    AUTO(shown) struct shown s = {0};

    add_times(&page, "<div>", 20000);
    strbuf_add_cstr(&page, "deep");
    add_times(&page, "</div>\n", 20000);
    strbuf_add_cstr(&page, "<p>end");
    show(&s, strbuf_str(&page), "");
    assert_non_null(strstr(s.out.p, "deep"));
    assert_non_null(strstr(s.out.p, "end"));
    assert_false(s.page.is_tangled);
}

TEST(text_besides_the_main_part_is_noted)
{
    static const struct {
        const char *html;
        bool is_part;
    } cases[] = {
        {"<title>t</title><nav>n</nav><article>a</article><footer>f</footer>", false},
        {"<article>a</article><p>outside</p>", true},
        {"<main>m</main><aside>s</aside>", true},
        {"<main>m</main> <script>x</script>", false},
        {"<p>x</p>", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(shown) struct shown s = {0};

        show(&s, str_of(cases[i].html), "");
        assert_int_equal(s.page.is_part, cases[i].is_part);
    }
}

TEST(lists_deeper_than_sensible_stay_at_one_indent)
{
    AUTO(strbuf) struct strbuf page = {0};
    AUTO(shown) struct shown s = {0};

    add_times(&page, "<ul><li>x", 100);
    show(&s, strbuf_str(&page), "");
    assert_true(s.out.n < 100 * 64);
}

TEST(formatting_that_multiplies_is_cut)
{
    AUTO(strbuf) struct strbuf page = {0};
    AUTO(shown) struct shown s = {0};

    strbuf_add_cstr(&page, "<p>");
    for (int i = 0; i < 400; i++)
        strbuf_addf(&page, "<b a=%d>", i);
    add_times(&page, "<p>x", 20000);
    show(&s, strbuf_str(&page), "");
    assert_true(s.page.is_tangled);
    assert_false(s.page.was_cut);
    assert_true(str_starts(strbuf_str(&s.out), S("**x**\n\n**x**")));
}

TEST(a_tag_with_endless_attributes_ends_the_page)
{
    AUTO(strbuf) struct strbuf page = {0};
    AUTO(shown) struct shown s = {0};

    strbuf_add_cstr(&page, "<p>before</p><a");
    for (int i = 0; i < 50000; i++)
        strbuf_addf(&page, " a%d", i);
    strbuf_add_cstr(&page, ">after</a>");
    show(&s, strbuf_str(&page), "");
    assert_true(s.page.is_tangled);
    assert_false(s.page.was_cut);
    assert_str(strbuf_str(&s.out), "before\n");
}

TEST(a_full_buffer_keeps_what_fits)
{
    AUTO(shown) struct shown s = {.out = {.max_bytes = 8}};

    show(&s, S("<p>caf\xC3\xA9</p><p>more and more"), "utf-8");
    assert_true(strbuf_is_over(&s.out));
    assert_str(strbuf_str(&s.out), "caf\xC3\xA9\n\nm");
}

RUN_TESTS(
    UNIT(headings_and_paragraphs_are_parted_by_one_blank_line),
    UNIT(an_empty_page_is_empty_markdown), UNIT(white_space_collapses_as_in_a_browser),
    UNIT(emphasis_is_marked), UNIT(emphasis_over_several_blocks_is_marked_in_each),
    UNIT(line_breaks_and_rules_are_kept), UNIT(lists_nest), UNIT(ordered_lists_keep_their_numbers),
    UNIT(quotes_are_prefixed), UNIT(code_blocks_keep_their_white_space),
    UNIT(a_fence_is_longer_than_any_inside), UNIT(code_is_not_escaped), UNIT(tables_become_pipes),
    UNIT(a_table_without_header_gets_an_empty_one), UNIT(a_table_for_layout_becomes_blocks),
    UNIT(links_are_absolute), UNIT(relative_links_stay_when_the_page_has_no_address),
    UNIT(links_to_script_and_data_are_plain_text),
    UNIT(a_link_is_written_once_even_when_it_spans_blocks),
    UNIT(a_heading_loses_the_link_to_itself), UNIT(images_show_their_text_and_address),
    UNIT(definition_lists_and_details_are_readable),
    UNIT(specials_are_escaped_only_where_they_would_mean_something), UNIT(entities_are_decoded),
    UNIT(what_is_not_for_readers_is_left_out), UNIT(only_main_or_the_articles_are_kept_when_marked),
    UNIT(the_title_is_found), UNIT(control_characters_and_bidi_overrides_are_dropped),
    UNIT(bad_utf8_is_repaired), UNIT(a_page_in_a_charset_of_the_server_is_converted),
    UNIT(a_page_in_a_charset_of_a_meta_element_is_converted), UNIT(a_byte_order_mark_wins),
    UNIT(an_unknown_charset_counts_as_none), UNIT(a_page_that_nests_too_deep_is_read_to_its_end),
    UNIT(a_page_that_nests_deep_and_closes_its_tags_is_read_to_its_end),
    UNIT(text_besides_the_main_part_is_noted), UNIT(lists_deeper_than_sensible_stay_at_one_indent),
    UNIT(formatting_that_multiplies_is_cut), UNIT(a_tag_with_endless_attributes_ends_the_page),
    UNIT(a_full_buffer_keeps_what_fits))
