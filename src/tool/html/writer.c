/* writer.c - writes the beginning and the end of each element. */
#include "tool/html/writer.h"

#include <stdio.h>

/* --- addresses, read as in browsers: trimmed, without line ends, blanks encoded --- */

void html_base_init(struct html_base *base, struct arena *a, struct str page_url)
{
    struct err *e = url_parse(a, arena_str(a, page_url), &base->url);

    base->is_known = !e;
    err_ignore(e, "a page without an address has links as they were written");
}

static struct str clean_address(struct arena *a, struct str href)
{
    AUTO(strbuf) struct strbuf out = {.max_bytes = URL_MAX_BYTES};

    href = str_trim(href);
    for (size_t i = 0; i < href.n && !strbuf_is_over(&out); i++) {
        if (href.p[i] == ' ')
            strbuf_add_cstr(&out, "%20");
        else if (href.p[i] != '\n' && href.p[i] != '\r' && href.p[i] != '\t')
            strbuf_add_char(&out, href.p[i]);
    }
    return strbuf_is_over(&out) ? (struct str){0} : arena_str(a, strbuf_str(&out));
}

/* "mailto" of "mailto:x"; empty for a relative address. */
static struct str scheme_of(struct str href)
{
    size_t n = 0;

    while (n < href.n && !strchr(":/?#", href.p[n]))
        n++;
    return n < href.n && href.p[n] == ':' ? str_slice(href, 0, n) : (struct str){0};
}

static bool is_one_of(struct str scheme, const char *const *names, size_t n_names)
{
    for (size_t i = 0; i < n_names; i++)
        if (str_eq_nocase(scheme, str_of(names[i])))
            return true;
    return false;
}

static struct str link_resolve(const struct html_base *base, struct arena *a, struct str href)
{
    static const char *const web[] = {"http", "https", "ftp"}, *const as_is[] = {"mailto", "tel"};
    struct str scheme, result = {0};
    const struct url none = {0};
    struct err *e;

    href = clean_address(a, href);
    scheme = scheme_of(href);
    if (href.n == 0)
        return result;
    if (scheme.n && is_one_of(scheme, as_is, ARRAY_LEN(as_is)))
        return href;
    if (scheme.n && (!is_one_of(scheme, web, ARRAY_LEN(web)) ||
                     !str_starts(str_skip(href, scheme.n), S("://"))))
        return result;
    if (!scheme.n && !base->is_known)
        return href;
    e = url_resolve(a, base->is_known ? &base->url : &none, href, &result);
    err_ignore(e, "what is no address is no link");
    return result;
}

void html_base_change(struct html_base *base, struct arena *a, struct str href)
{
    struct str url = link_resolve(base, a, href);

    if (url.n)
        html_base_init(base, a, url);
}

/* --- elements --- */

void html_writer_done(struct html_writer *w)
{
    arena_done(&w->scratch);
    markdown_done(&w->markdown);
}

static struct str resolve(struct html_writer *w, struct str href)
{
    arena_clear(&w->scratch);
    return link_resolve(&w->base, &w->scratch, href);
}

/* The sign beside a heading or term that links to itself. */
static bool is_permalink(const struct html_writer *w, const GumboNode *link)
{
    static const char *const signs[] = {"#", "\xC2\xB6", "\xC2\xA7", "\xF0\x9F\x94\x97"};
    const GumboVector *children = &link->v.element.children;
    const GumboNode *child = children->length == 1 ? children->data[0] : NULL;

    if (!child || child->type != GUMBO_NODE_TEXT ||
        !str_starts(html_attribute(&w->gumbo, link, "href"), S("#")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_is(str_trim(str_of(child->v.text.text)), signs[i]))
            return true;
    return false;
}

static void enter_link(struct html_writer *w, const GumboNode *link)
{
    struct str url = resolve(w, html_attribute(&w->gumbo, link, "href"));

    if (url.n)
        markdown_begin_link(&w->markdown, url);
    else
        markdown_begin_mark(&w->markdown, MARK_NONE);
}

/* alt="" marks the image as decoration. */
static void write_image(struct html_writer *w, const GumboNode *image)
{
    struct str alt = html_attribute(&w->gumbo, image, "alt");
    struct str source = html_attribute(&w->gumbo, image, "src"), url;
    bool is_pixel = html_number(&w->gumbo, image, "width", 0, 1, 2) < 2 ||
                    html_number(&w->gumbo, image, "height", 0, 1, 2) < 2;

    if (is_pixel || (alt.n == 0 && html_has_attribute(&w->gumbo, image, "alt")))
        return;
    url = resolve(w, source);
    if (!url.n) /* pages that load images late have a data: URL here */
        url = resolve(w, html_attribute(&w->gumbo, image, "data-src"));
    if (url.n)
        markdown_image(&w->markdown, alt, url);
    else
        markdown_text(&w->markdown, alt);
}

static struct html_list *current_list(struct html_writer *w)
{
    return w->n_lists && w->n_lists <= HTML_MAX_LISTS ? &w->lists[w->n_lists - 1] : NULL;
}

/* A nested list follows the text of its item without a blank line. An ordered one that does not
 * start at 1 needs the blank line: otherwise it would be read as part of the text. */
static void enter_list(struct html_writer *w, const GumboNode *node)
{
    struct html_list list = {
        .is_ordered = html_tag(node) == GUMBO_TAG_OL,
        .number = html_number(&w->gumbo, node, "start", 0, 999999999, 1),
    };
    bool is_close = w->n_lists > 0 && (!list.is_ordered || list.number == 1);

    markdown_break(&w->markdown, is_close ? BREAK_LINE : BREAK_BLANK);
    w->n_lists++;
    if (current_list(w))
        *current_list(w) = list;
}

static void leave_list(struct html_writer *w)
{
    w->n_lists--;
    markdown_break(&w->markdown, BREAK_BLANK);
}

static void enter_item(struct html_writer *w, const GumboNode *item)
{
    struct html_list *list = current_list(w);
    char marker[16] = "- ", indent[16];

    if (list && list->is_ordered) {
        list->number = html_number(&w->gumbo, item, "value", 0, 999999999, list->number);
        snprintf(marker, sizeof marker, "%d. ", (int)list->number);
        list->number = MIN(list->number + 1, 999999999);
    }
    if (!list || list->has_items)
        markdown_next_item(&w->markdown);
    if (list)
        list->has_items = true;
    snprintf(indent, sizeof indent, "%*s", (int)strlen(marker), "");
    markdown_begin_prefix(&w->markdown, marker, indent);
}

static void leave_prefixed(struct html_writer *w, enum markdown_break kind)
{
    markdown_break(&w->markdown, kind);
    markdown_end_prefix(&w->markdown);
    markdown_break(&w->markdown, kind);
}

static enum markdown_mark mark_of(GumboTag tag)
{
    switch (tag) {
    case GUMBO_TAG_B:
    case GUMBO_TAG_STRONG:
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

/* 10<sup>2</sup> must not read as 102. The number of a footnote is a link and needs no sign. */
static bool is_power(const GumboNode *sup)
{
    const GumboVector *children = &sup->v.element.children;

    return children->length == 1 && ((GumboNode *)children->data[0])->type == GUMBO_NODE_TEXT;
}

static void enter_element(struct html_writer *w, const GumboNode *node)
{
    struct markdown_writer *m = &w->markdown;
    GumboTag tag = html_tag(node);

    if (w->table.node && html_enter_table_part(w, node))
        return;
    switch (tag) {
    case GUMBO_TAG_A:
        enter_link(w, node);
        break;
    case GUMBO_TAG_IMG:
        write_image(w, node);
        break;
    case GUMBO_TAG_BR:
        markdown_line_break(m);
        break;
    case GUMBO_TAG_HR:
        markdown_rule(m);
        break;
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_TT:
        markdown_begin_code(m, MODE_CODE);
        break;
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_LISTING:
    case GUMBO_TAG_XMP:
    case GUMBO_TAG_PLAINTEXT:
        markdown_begin_code(m, MODE_PRE);
        break;
    case GUMBO_TAG_H1:
    case GUMBO_TAG_H2:
    case GUMBO_TAG_H3:
    case GUMBO_TAG_H4:
    case GUMBO_TAG_H5:
    case GUMBO_TAG_H6:
        markdown_begin_heading(m, (int)(tag - GUMBO_TAG_H1) + 1);
        break;
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_MENU:
    case GUMBO_TAG_DIR:
        enter_list(w, node);
        break;
    case GUMBO_TAG_LI:
        enter_item(w, node);
        break;
    case GUMBO_TAG_BLOCKQUOTE:
        markdown_break(m, BREAK_BLANK);
        markdown_begin_prefix(m, "> ", "> ");
        break;
    case GUMBO_TAG_DT:
        markdown_break(m, BREAK_BLANK);
        break;
    case GUMBO_TAG_DD:
        markdown_next_item(m);
        markdown_begin_prefix(m, ": ", "  ");
        break;
    case GUMBO_TAG_TABLE:
        html_enter_table(w, node);
        break;
    case GUMBO_TAG_SUMMARY:
        markdown_break(m, BREAK_BLANK);
        markdown_begin_mark(m, MARK_STRONG);
        break;
    case GUMBO_TAG_Q:
        markdown_text(m, S("\""));
        break;
    case GUMBO_TAG_SUP:
        if (is_power(node))
            markdown_text(m, S("^"));
        break;
    default:
        if (mark_of(tag))
            markdown_begin_mark(m, mark_of(tag));
        else if (html_is_block(tag))
            markdown_break(m, BREAK_BLANK);
    }
}

static void leave_element(struct html_writer *w, const GumboNode *node)
{
    struct markdown_writer *m = &w->markdown;
    GumboTag tag = html_tag(node);

    if (w->table.node && html_leave_table_part(w, node))
        return;
    switch (tag) {
    case GUMBO_TAG_A:
        markdown_end_mark(m);
        break;
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_TT:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_LISTING:
    case GUMBO_TAG_XMP:
    case GUMBO_TAG_PLAINTEXT:
        markdown_end_code(m, html_code_language(&w->gumbo, node));
        break;
    case GUMBO_TAG_H1:
    case GUMBO_TAG_H2:
    case GUMBO_TAG_H3:
    case GUMBO_TAG_H4:
    case GUMBO_TAG_H5:
    case GUMBO_TAG_H6:
        markdown_end_heading(m);
        break;
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_MENU:
    case GUMBO_TAG_DIR:
        leave_list(w);
        break;
    case GUMBO_TAG_LI:
        leave_prefixed(w, BREAK_LINE);
        break;
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_DD:
        leave_prefixed(w, BREAK_BLANK);
        break;
    case GUMBO_TAG_DT:
        markdown_break(m, BREAK_LINE);
        break;
    case GUMBO_TAG_TABLE:
        html_leave_table(w, node);
        break;
    case GUMBO_TAG_SUMMARY:
        markdown_end_mark(m);
        markdown_break(m, BREAK_BLANK);
        break;
    case GUMBO_TAG_Q:
        markdown_text(m, S("\""));
        break;
    default:
        if (mark_of(tag))
            markdown_end_mark(m);
        else if (html_is_block(tag))
            markdown_break(m, BREAK_BLANK);
    }
}

/* Navigation and footers, which surround the text even inside of main. */
static bool is_chrome(const GumboNode *node)
{
    const GumboNode *parent = node->parent;

    if (html_tag(node) == GUMBO_TAG_FOOTER) /* that of a quote names its author */
        return !parent || html_tag(parent) != GUMBO_TAG_BLOCKQUOTE;
    return html_tag(node) == GUMBO_TAG_NAV;
}

void html_write_node(struct html_writer *w, const GumboNode *top)
{
    AUTO(html_walk) struct html_walk walk = {0};
    const GumboNode *node;
    enum html_step step;

    html_walk_init(&walk, top);
    while ((step = html_walk_next(&walk, &node)) != HTML_END && !strbuf_is_over(w->markdown.out)) {
        if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
            node->type == GUMBO_NODE_CDATA)
            markdown_text(&w->markdown, str_of(node->v.text.text));
        else if (!html_is_element(node))
            continue;
        else if (step == HTML_LEAVE)
            leave_element(w, node);
        else if (html_is_omitted(&w->gumbo, node) || (w->is_main && is_chrome(node)) ||
                 (html_tag(node) == GUMBO_TAG_A && is_permalink(w, node)))
            html_walk_skip(&walk);
        else
            enter_element(w, node);
    }
}
