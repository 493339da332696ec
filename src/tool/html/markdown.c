/* markdown.c - finds the title and the content of a page, and writes it piece by piece. */
#include "tool/html/markdown.h"

#include "tool/html/charset.h"
#include "tool/html/markdown_text.h"
#include "tool/html/writer.h"

/* The memory that gumbo needs for each byte of a page that is only tags, and to start. */
#define MEMORY_PER_BYTE 128
#define MEMORY_AT_LEAST ((size_t)1 << 20)
#define MEMORY_AT_MOST ((size_t)1 << 30)
#define TITLE_MAX_BYTES 1024

static bool is_main_element(const struct html_writer *w, const GumboNode *node)
{
    return html_tag(node) == GUMBO_TAG_MAIN ||
           str_eq_nocase(html_attribute(&w->gumbo, node, "role"), S("main"));
}

static bool is_article(const struct html_writer *w, const GumboNode *node)
{
    (void)w;
    return html_tag(node) == GUMBO_TAG_ARTICLE;
}

/* Writes the outermost wanted elements. */
static void write_wanted(struct html_writer *w, const GumboNode *document,
                         bool (*is_wanted)(const struct html_writer *, const GumboNode *))
{
    AUTO(html_walk) struct html_walk walk = {0};
    const GumboNode *node;
    enum html_step step;

    html_walk_init(&walk, document);
    while ((step = html_walk_next(&walk, &node)) != HTML_END) {
        if (step != HTML_ENTER || !html_is_element(node))
            continue;
        if (html_is_omitted(&w->gumbo, node)) {
            html_walk_skip(&walk);
        } else if (is_wanted(w, node)) {
            html_write_node(w, node);
            html_walk_skip(&walk);
        }
    }
}

/* Whether there is text outside of wanted elements, navigation and the like. */
static bool has_other_text(struct html_writer *w, const GumboNode *document,
                           bool (*is_wanted)(const struct html_writer *, const GumboNode *))
{
    AUTO(html_walk) struct html_walk walk = {0};
    const GumboNode *node;
    enum html_step step;

    html_walk_init(&walk, document);
    while ((step = html_walk_next(&walk, &node)) != HTML_END) {
        GumboTag tag = html_tag(node);

        if (step != HTML_ENTER)
            continue;
        if (node->type == GUMBO_NODE_TEXT && str_trim(str_of(node->v.text.text)).n)
            return true;
        if (html_is_element(node) &&
            (tag == GUMBO_TAG_HEAD || tag == GUMBO_TAG_NAV || tag == GUMBO_TAG_FOOTER ||
             tag == GUMBO_TAG_HEADER || html_is_omitted(&w->gumbo, node) || is_wanted(w, node)))
            html_walk_skip(&walk);
    }
    return false;
}

/* A page that fills its main element by script has its text elsewhere, if at all. */
static void write_document(struct html_writer *w, const GumboNode *document, struct html_page *page)
{
    struct strbuf *out = w->markdown.out;
    size_t start = out->n;

    w->is_main = true;
    write_wanted(w, document, is_main_element);
    if (out->n > start) {
        page->is_part |= has_other_text(w, document, is_main_element);
    } else {
        write_wanted(w, document, is_article);
        page->is_part |= out->n > start && has_other_text(w, document, is_article);
    }
    w->is_main = false;
    if (out->n == start)
        html_write_node(w, document);
    markdown_break(&w->markdown, BREAK_BLANK);
}

static const GumboNode *find_head(const GumboNode *document)
{
    AUTO(html_walk) struct html_walk walk = {0};
    const GumboNode *node;

    html_walk_init(&walk, document);
    while (html_walk_next(&walk, &node) != HTML_END)
        if (html_tag(node) == GUMBO_TAG_HEAD)
            return node;
    return NULL;
}

static struct str text_of(const GumboNode *title)
{
    const GumboVector *children = &title->v.element.children;
    const GumboNode *child = children->length ? children->data[0] : NULL;

    return child && child->type == GUMBO_NODE_TEXT ? str_of(child->v.text.text) : (struct str){0};
}

/* Reads the title and the base of relative addresses. */
static struct str read_head(struct html_writer *w, struct arena *a, const GumboNode *head)
{
    AUTO(strbuf) struct strbuf plain = {.max_bytes = TITLE_MAX_BYTES};
    struct str title = {0}, og_title = {0}, base = {0};

    for (unsigned i = 0; i < head->v.element.children.length; i++) {
        const GumboNode *child = head->v.element.children.data[i];

        if (html_tag(child) == GUMBO_TAG_TITLE && !title.n)
            title = text_of(child);
        else if (html_tag(child) == GUMBO_TAG_BASE && !base.n)
            base = html_attribute(&w->gumbo, child, "href");
        else if (html_tag(child) == GUMBO_TAG_META &&
                 str_is(html_attribute(&w->gumbo, child, "property"), "og:title"))
            og_title = html_attribute(&w->gumbo, child, "content");
    }
    if (base.n)
        html_base_change(&w->base, a, base);
    markdown_add_plain(&plain, str_trim(title).n ? title : og_title);
    if (strbuf_is_over(&plain))
        strbuf_cut(&plain, plain.n); /* a truncated title is enough */
    return arena_str(a, strbuf_str(&plain));
}

/* These tags close nothing in a new piece, and a long run of them makes no node, at which tree.h
 * gives up. */
static struct str skip_end_tags(struct str text)
{
    for (;;) {
        size_t n = 0, end;
        struct str tag;

        while (n < text.n && strchr(" \t\n\f\r", text.p[n]))
            n++;
        tag = str_skip(text, n);
        end = str_starts(tag, S("</")) ? str_find_char(tag, '>') : STR_NONE;
        if (end == STR_NONE)
            return text;
        text = str_skip(tag, end + 1);
    }
}

/* Parses the page in as many pieces as the limits of tree.h require; usually one. */
static struct err *write_page(struct html_writer *w, struct arena *a, struct str text,
                              struct html_page *page)
{
    size_t budget =
        MEMORY_AT_LEAST + MIN(text.n, MEMORY_AT_MOST / MEMORY_PER_BYTE) * MEMORY_PER_BYTE;
    bool is_first = true;

    while (text.n && !strbuf_is_over(w->markdown.out)) {
        AUTO(html_tree) struct html_tree tree = {0};
        const GumboNode *head;

        TRY(html_tree_parse(&w->gumbo, text, budget, &tree));
        head = tree.document ? find_head(tree.document) : NULL;
        if (head && is_first)
            page->title = read_head(w, a, head);
        if (tree.document)
            write_document(w, tree.document, page);
        is_first = false;
        text = skip_end_tags(str_skip(text, tree.n_read));
        budget -= tree.used_bytes;
        if (tree.n_read == 0 || budget < MEMORY_AT_LEAST / 2) {
            page->is_tangled = text.n > 0;
            break;
        }
    }
    return NULL;
}

static bool is_control(char c)
{
    return c == 0x7F ||
           ((unsigned char)c < ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r');
}

/* gumbo would turn control characters into U+FFFD. */
static void drop_controls(struct strbuf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->n; i++) {
        bool is_c1 = text->p[i] == '\xC2' && (unsigned char)text->p[i + 1] < 0xA0;

        if (is_c1)
            i++;
        else if (!is_control(text->p[i]))
            text->p[n++] = text->p[i];
    }
    strbuf_cut(text, n);
}

struct err *html_to_markdown(struct arena *a, struct str html, struct str charset,
                             struct str base_url, struct strbuf *out, struct html_page *ret_page)
{
    AUTO(strbuf)
    struct strbuf text = {.max_bytes = 3 * HTML_MAX_BYTES}; /* at most three bytes for one */
    AUTO(html_writer) struct html_writer w = {0};
    struct html_page page = {0};
    size_t start = out->n;

    TRY(gumbo_api_load(&w.gumbo));
    charset_decode_html(&text, str_slice(html, 0, HTML_MAX_BYTES), charset);
    drop_controls(&text);
    html_base_init(&w.base, a, base_url);
    markdown_init(&w.markdown, out);
    TRY(write_page(&w, a, strbuf_str(&text), &page));
    if (out->n > start)
        strbuf_add_char(out, '\n');
    page.was_cut |= html.n > HTML_MAX_BYTES;
    *ret_page = page;
    return NULL;
}
