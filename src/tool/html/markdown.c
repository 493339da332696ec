/* markdown.c - walks over a page and says to the writer what begins and ends. */
#include "tool/html/markdown.h"

#include "tool/html/charset.h"
#include "tool/html/element.h"
#include "tool/html/link.h"
#include "tool/html/markdown_text.h"
#include "tool/html/markdown_writer.h"

#include <stdio.h>

#define MAX_LISTS 32
/* What gumbo needs for each byte of a page of nothing but tags, and to start. */
#define MEMORY_PER_BYTE 128
#define MEMORY_AT_LEAST ((size_t)1 << 20)
#define MEMORY_AT_MOST ((size_t)1 << 30)
#define TITLE_MAX_BYTES 1024

struct list {
    bool is_ordered, has_items;
    int64_t number; /* of the next item */
};

struct page {
    struct gumbo_api gumbo;
    struct html_base base;
    struct arena scratch; /* for one address at a time */
    struct markdown_writer markdown;
    struct list lists[MAX_LISTS];
    size_t n_lists; /* those beyond MAX_LISTS are only counted */
    bool is_main;   /* reading what the page marks as its content */

    const GumboNode *table; /* the one being written as a Markdown table */
    struct html_table_shape shape;
    size_t n_rows, n_cells;
};

static void page_done(struct page *p)
{
    arena_done(&p->scratch);
    markdown_done(&p->markdown);
}
DEFINE_AUTO_VAL(page, page_done)

static struct str resolve(struct page *p, struct str href)
{
    arena_clear(&p->scratch);
    return html_link_resolve(&p->base, &p->scratch, href);
}

/* The sign beside a heading that links to the heading itself. */
static bool is_permalink(const struct page *p, const GumboNode *link)
{
    static const char *const signs[] = {"#", "\xC2\xB6", "\xC2\xA7", "\xF0\x9F\x94\x97"};
    const GumboVector *children = &link->v.element.children;
    const GumboNode *child = children->length == 1 ? children->data[0] : NULL;

    if (!p->markdown.heading || !child || child->type != GUMBO_NODE_TEXT ||
        !str_starts(html_attribute(&p->gumbo, link, "href"), S("#")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_is(str_trim(str_of(child->v.text.text)), signs[i]))
            return true;
    return false;
}

static void enter_link(struct page *p, const GumboNode *link)
{
    struct str url = resolve(p, html_attribute(&p->gumbo, link, "href"));

    if (url.n)
        markdown_begin_link(&p->markdown, url);
    else
        markdown_begin_mark(&p->markdown, MARK_NONE);
}

/* alt="" says that the image is decoration. */
static void write_image(struct page *p, const GumboNode *image)
{
    struct str alt = html_attribute(&p->gumbo, image, "alt");
    struct str source = html_attribute(&p->gumbo, image, "src"), url;
    bool is_pixel = html_number(&p->gumbo, image, "width", 0, 1, 2) < 2 ||
                    html_number(&p->gumbo, image, "height", 0, 1, 2) < 2;

    if (is_pixel || (alt.n == 0 && html_has_attribute(&p->gumbo, image, "alt")))
        return;
    url = resolve(p, source);
    if (!url.n) /* pages that load images late have a data: URL here */
        url = resolve(p, html_attribute(&p->gumbo, image, "data-src"));
    if (url.n)
        markdown_image(&p->markdown, alt, url);
    else
        markdown_text(&p->markdown, alt);
}

static struct list *current_list(struct page *p)
{
    return p->n_lists && p->n_lists <= MAX_LISTS ? &p->lists[p->n_lists - 1] : NULL;
}

static void enter_list(struct page *p, const GumboNode *node)
{
    struct list *list;

    markdown_break(&p->markdown, p->n_lists ? BREAK_LINE : BREAK_BLANK);
    p->n_lists++;
    list = current_list(p);
    if (list)
        *list = (struct list){
            .is_ordered = html_tag(node) == GUMBO_TAG_OL,
            .number = html_number(&p->gumbo, node, "start", 0, 999999999, 1),
        };
}

static void leave_list(struct page *p)
{
    p->n_lists--;
    markdown_break(&p->markdown, BREAK_BLANK);
}

static void enter_item(struct page *p, const GumboNode *item)
{
    struct list *list = current_list(p);
    char marker[16] = "- ", indent[16];

    if (list && list->is_ordered) {
        list->number = html_number(&p->gumbo, item, "value", 0, 999999999, list->number);
        snprintf(marker, sizeof marker, "%d. ", (int)list->number);
        list->number = MIN(list->number + 1, 999999999);
    }
    if (!list || list->has_items)
        markdown_next_item(&p->markdown);
    if (list)
        list->has_items = true;
    snprintf(indent, sizeof indent, "%*s", (int)strlen(marker), "");
    markdown_begin_prefix(&p->markdown, marker, indent);
}

static void leave_prefixed(struct page *p, enum markdown_break kind)
{
    markdown_break(&p->markdown, kind);
    markdown_end_prefix(&p->markdown);
    markdown_break(&p->markdown, kind);
}

static void add_empty_cells(struct page *p, size_t n)
{
    for (; n && p->n_cells < p->shape.n_columns; n--, p->n_cells++) {
        markdown_begin_cell(&p->markdown);
        markdown_end_cell(&p->markdown);
    }
}

static void write_delimiter(struct page *p)
{
    markdown_begin_row(&p->markdown);
    for (size_t i = 0; i < p->shape.n_columns; i++)
        strbuf_add_cstr(p->markdown.out, "| --- ");
    markdown_end_row(&p->markdown);
}

static void leave_row(struct page *p)
{
    add_empty_cells(p, p->shape.n_columns);
    markdown_end_row(&p->markdown);
    if (p->n_rows++ == 0)
        write_delimiter(p);
}

static void enter_row(struct page *p)
{
    if (p->n_rows == 0 && !p->shape.has_header) { /* Markdown knows no table without a header */
        markdown_begin_row(&p->markdown);
        p->n_cells = 0;
        leave_row(p);
    }
    markdown_begin_row(&p->markdown);
    p->n_cells = 0;
}

static bool row_has_cells(const struct page *p, const GumboNode *row)
{
    const GumboVector *children = &row->v.element.children;

    for (unsigned i = 0; i < children->length; i++)
        if (html_is_cell(children->data[i]) && !html_is_left_out(&p->gumbo, children->data[i]))
            return true;
    return false;
}

static void enter_table(struct page *p, const GumboNode *table)
{
    markdown_break(&p->markdown, BREAK_BLANK);
    if (p->table || p->markdown.mode != MODE_TEXT || p->markdown.heading)
        return;
    p->shape = html_table_shape(&p->gumbo, table);
    p->n_rows = 0;
    if (p->shape.is_data)
        p->table = table;
}

static void leave_table(struct page *p, const GumboNode *table)
{
    if (p->table == table)
        p->table = NULL;
    markdown_break(&p->markdown, BREAK_BLANK);
}

/* Rows and cells of a Markdown table. False for all other elements. */
static bool enter_table_part(struct page *p, const GumboNode *node)
{
    if (html_tag(node) == GUMBO_TAG_TR && row_has_cells(p, node)) {
        enter_row(p);
        return true;
    }
    if (html_is_cell(node)) {
        markdown_begin_cell(&p->markdown);
        p->n_cells++;
        return true;
    }
    return false;
}

static bool leave_table_part(struct page *p, const GumboNode *node)
{
    if (html_tag(node) == GUMBO_TAG_TR && row_has_cells(p, node)) {
        leave_row(p);
        return true;
    }
    if (html_is_cell(node)) {
        markdown_end_cell(&p->markdown);
        add_empty_cells(p, html_column_span(&p->gumbo, node) - 1);
        return true;
    }
    return false;
}

static enum markdown_mark mark_of(GumboTag tag)
{
    switch (tag) {
    case GUMBO_TAG_B:
    case GUMBO_TAG_STRONG:
    case GUMBO_TAG_SUMMARY:
        return MARK_STRONG;
    case GUMBO_TAG_I:
    case GUMBO_TAG_EM:
        return MARK_EM;
    case GUMBO_TAG_DEL:
    case GUMBO_TAG_S:
    case GUMBO_TAG_STRIKE:
        return MARK_DEL;
    default:
        return MARK_NONE;
    }
}

/* 10<sup>2</sup> must not read as 102; a footnote's number is a link and needs no sign. */
static bool is_power(const GumboNode *sup)
{
    const GumboVector *children = &sup->v.element.children;

    return children->length == 1 && ((GumboNode *)children->data[0])->type == GUMBO_NODE_TEXT;
}

static void enter_element(struct page *p, const GumboNode *node)
{
    struct markdown_writer *w = &p->markdown;
    GumboTag tag = html_tag(node);

    if (p->table && enter_table_part(p, node))
        return;
    switch (tag) {
    case GUMBO_TAG_A:
        enter_link(p, node);
        break;
    case GUMBO_TAG_IMG:
        write_image(p, node);
        break;
    case GUMBO_TAG_BR:
        markdown_line_break(w);
        break;
    case GUMBO_TAG_HR:
        markdown_rule(w);
        break;
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_TT:
        markdown_begin_code(w, MODE_CODE);
        break;
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_LISTING:
    case GUMBO_TAG_XMP:
    case GUMBO_TAG_PLAINTEXT:
        markdown_begin_code(w, MODE_PRE);
        break;
    case GUMBO_TAG_H1:
    case GUMBO_TAG_H2:
    case GUMBO_TAG_H3:
    case GUMBO_TAG_H4:
    case GUMBO_TAG_H5:
    case GUMBO_TAG_H6:
        markdown_begin_heading(w, (int)(tag - GUMBO_TAG_H1) + 1);
        break;
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_MENU:
    case GUMBO_TAG_DIR:
        enter_list(p, node);
        break;
    case GUMBO_TAG_LI:
        enter_item(p, node);
        break;
    case GUMBO_TAG_BLOCKQUOTE:
        markdown_break(w, BREAK_BLANK);
        markdown_begin_prefix(w, "> ", "> ");
        break;
    case GUMBO_TAG_DT:
        markdown_break(w, BREAK_BLANK);
        break;
    case GUMBO_TAG_DD:
        markdown_next_item(w);
        markdown_begin_prefix(w, ": ", "  ");
        break;
    case GUMBO_TAG_TABLE:
        enter_table(p, node);
        break;
    case GUMBO_TAG_SUMMARY:
        markdown_break(w, BREAK_BLANK);
        markdown_begin_mark(w, MARK_STRONG);
        break;
    case GUMBO_TAG_Q:
        markdown_text(w, S("\""));
        break;
    case GUMBO_TAG_SUP:
        if (is_power(node))
            markdown_text(w, S("^"));
        break;
    default:
        if (mark_of(tag))
            markdown_begin_mark(w, mark_of(tag));
        else if (html_is_block(tag))
            markdown_break(w, BREAK_BLANK);
    }
}

static void leave_element(struct page *p, const GumboNode *node)
{
    struct markdown_writer *w = &p->markdown;
    GumboTag tag = html_tag(node);

    if (p->table && leave_table_part(p, node))
        return;
    switch (tag) {
    case GUMBO_TAG_A:
        markdown_end_mark(w);
        break;
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_TT:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_LISTING:
    case GUMBO_TAG_XMP:
    case GUMBO_TAG_PLAINTEXT:
        markdown_end_code(w, html_code_language(&p->gumbo, node));
        break;
    case GUMBO_TAG_H1:
    case GUMBO_TAG_H2:
    case GUMBO_TAG_H3:
    case GUMBO_TAG_H4:
    case GUMBO_TAG_H5:
    case GUMBO_TAG_H6:
        markdown_end_heading(w);
        break;
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_MENU:
    case GUMBO_TAG_DIR:
        leave_list(p);
        break;
    case GUMBO_TAG_LI:
        leave_prefixed(p, BREAK_LINE);
        break;
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_DD:
        leave_prefixed(p, BREAK_BLANK);
        break;
    case GUMBO_TAG_DT:
        markdown_break(w, BREAK_LINE);
        break;
    case GUMBO_TAG_TABLE:
        leave_table(p, node);
        break;
    case GUMBO_TAG_SUMMARY:
        markdown_end_mark(w);
        markdown_break(w, BREAK_BLANK);
        break;
    case GUMBO_TAG_Q:
        markdown_text(w, S("\""));
        break;
    default:
        if (mark_of(tag))
            markdown_end_mark(w);
        else if (html_is_block(tag))
            markdown_break(w, BREAK_BLANK);
    }
}

/* What surrounds the text even inside of main: where else to go, whose page it is. */
static bool is_chrome(const GumboNode *node)
{
    const GumboNode *parent = node->parent;

    if (html_tag(node) == GUMBO_TAG_FOOTER) /* that of a quote says whose words they are */
        return !parent || html_tag(parent) != GUMBO_TAG_BLOCKQUOTE;
    return html_tag(node) == GUMBO_TAG_NAV;
}

static void write_node(struct page *p, const GumboNode *top)
{
    AUTO(html_walk) struct html_walk walk = {0};
    const GumboNode *node;
    enum html_step step;

    html_walk_init(&walk, top);
    while ((step = html_walk_next(&walk, &node)) != HTML_END && !p->markdown.out->overflowed) {
        if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
            node->type == GUMBO_NODE_CDATA)
            markdown_text(&p->markdown, str_of(node->v.text.text));
        else if (!html_is_element(node))
            continue;
        else if (step == HTML_LEAVE)
            leave_element(p, node);
        else if (html_is_left_out(&p->gumbo, node) || (p->is_main && is_chrome(node)) ||
                 (html_tag(node) == GUMBO_TAG_A && is_permalink(p, node)))
            html_walk_skip(&walk);
        else
            enter_element(p, node);
    }
}

static bool is_main_element(const struct page *p, const GumboNode *node)
{
    return html_tag(node) == GUMBO_TAG_MAIN ||
           str_eq_nocase(html_attribute(&p->gumbo, node, "role"), S("main"));
}

static bool is_article(const struct page *p, const GumboNode *node)
{
    (void)p;
    return html_tag(node) == GUMBO_TAG_ARTICLE;
}

/* Writes the outermost elements that are wanted. */
static void write_wanted(struct page *p, const GumboNode *document,
                         bool (*is_wanted)(const struct page *, const GumboNode *))
{
    AUTO(html_walk) struct html_walk walk = {0};
    const GumboNode *node;
    enum html_step step;

    html_walk_init(&walk, document);
    while ((step = html_walk_next(&walk, &node)) != HTML_END) {
        if (step != HTML_ENTER || !html_is_element(node))
            continue;
        if (html_is_left_out(&p->gumbo, node)) {
            html_walk_skip(&walk);
        } else if (is_wanted(p, node)) {
            write_node(p, node);
            html_walk_skip(&walk);
        }
    }
}

/* A page that fills its main element by script has its text elsewhere, if anywhere. */
static void write_document(struct page *p, const GumboNode *document)
{
    struct strbuf *out = p->markdown.out;
    size_t start = out->n;

    p->is_main = true;
    write_wanted(p, document, is_main_element);
    if (out->n == start)
        write_wanted(p, document, is_article);
    p->is_main = false;
    if (out->n == start)
        write_node(p, document);
    markdown_break(&p->markdown, BREAK_BLANK);
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

/* The title, and the base of relative addresses. */
static struct str read_head(struct page *p, struct arena *a, const GumboNode *head)
{
    AUTO(strbuf) struct strbuf plain = {.max_bytes = TITLE_MAX_BYTES};
    struct str title = {0}, og_title = {0}, base = {0};

    for (unsigned i = 0; i < head->v.element.children.length; i++) {
        const GumboNode *child = head->v.element.children.data[i];

        if (html_tag(child) == GUMBO_TAG_TITLE && !title.n)
            title = text_of(child);
        else if (html_tag(child) == GUMBO_TAG_BASE && !base.n)
            base = html_attribute(&p->gumbo, child, "href");
        else if (html_tag(child) == GUMBO_TAG_META &&
                 str_is(html_attribute(&p->gumbo, child, "property"), "og:title"))
            og_title = html_attribute(&p->gumbo, child, "content");
    }
    if (base.n)
        html_base_change(&p->base, a, base);
    markdown_add_plain(&plain, str_trim(title).n ? title : og_title);
    return arena_str(a, strbuf_str(&plain));
}

/* Reads the page in as many pieces as the limits of tree.h make of it; mostly one. */
static struct err *write_page(struct page *p, struct arena *a, struct str text,
                              struct html_page *page)
{
    size_t budget =
        MEMORY_AT_LEAST + MIN(text.n, MEMORY_AT_MOST / MEMORY_PER_BYTE) * MEMORY_PER_BYTE;
    bool is_first = true;

    while (text.n && !p->markdown.out->overflowed) {
        AUTO(html_tree) struct html_tree tree = {0};
        const GumboNode *head;

        TRY(html_tree_parse(&p->gumbo, text, budget, &tree));
        head = tree.document ? find_head(tree.document) : NULL;
        if (head && is_first)
            page->title = read_head(p, a, head);
        if (tree.document)
            write_document(p, tree.document);
        is_first = false;
        text = str_skip(text, tree.n_read);
        budget -= tree.used_bytes;
        if (tree.n_read == 0 || budget < MEMORY_AT_LEAST / 2) {
            page->was_cut = text.n > 0;
            break;
        }
    }
    return NULL;
}

/* gumbo would make U+FFFD of them. */
static void drop_controls(struct strbuf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->n; i++) {
        unsigned char c = (unsigned char)text->p[i];

        if (c == 0x7F || (c < ' ' && !strchr("\t\n\f\r", c)) || c == 0)
            continue;
        if (c == 0xC2 && (unsigned char)text->p[i + 1] < 0xA0) {
            i++;
            continue;
        }
        text->p[n++] = text->p[i];
    }
    strbuf_cut(text, n);
}

struct err *html_to_markdown(struct arena *a, struct str html, struct str charset,
                             struct str base_url, struct strbuf *out, struct html_page *ret_page)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = 3 * HTML_MAX_BYTES}; /* no byte becomes more */
    AUTO(page) struct page p = {0};
    struct html_page page = {0};
    size_t start = out->n;

    TRY(gumbo_api_load(&p.gumbo));
    charset_decode_html(&text, str_slice(html, 0, HTML_MAX_BYTES), charset);
    drop_controls(&text);
    html_base_init(&p.base, a, base_url);
    markdown_init(&p.markdown, out);
    TRY(write_page(&p, a, strbuf_str(&text), &page));
    if (out->n > start)
        strbuf_add_char(out, '\n');
    page.was_cut |= html.n > HTML_MAX_BYTES;
    *ret_page = page;
    return NULL;
}
