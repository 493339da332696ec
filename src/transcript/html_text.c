/* html_text.c - escapes text, and writes the elements that md4c finds. */
#include "transcript/html_text.h"

#include "base/ascii.h"
#include "sys/dylib.h"
#include "transcript/words.h"

#define MAX_DEPTH 48 /* of nested blocks; deeper ones are not distinguished */

struct err *md4c_api_load(struct md4c_api *ret_api)
{
    struct md4c_api api;
    const struct dylib_symbol symbols[] = {{"md_parse", (void **)&api.parse}};

    TRY(dylib_load("libmd4c.so.0", "libmd4c0", symbols, ARRAY_LEN(symbols)));
    *ret_api = api;
    return NULL;
}

/* --- plain text --- */

static void add_escaped(struct strbuf *out, struct str text)
{
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        const char *entity = text.p[i] == '&'    ? "&amp;"
                             : text.p[i] == '<'  ? "&lt;"
                             : text.p[i] == '>'  ? "&gt;"
                             : text.p[i] == '"'  ? "&quot;"
                             : text.p[i] == '\'' ? "&#39;"
                                                 : NULL;

        if (!entity)
            continue;
        strbuf_add(out, str_slice(text, from, i - from));
        strbuf_add_cstr(out, entity);
        from = i + 1;
    }
    strbuf_add(out, str_skip(text, from));
}

void html_add(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf clean = {0};

    words_add_clean(&clean, text);
    add_escaped(out, strbuf_str(&clean));
}

bool html_url_is_safe(struct str url)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:"};

    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= 0x20 || url.p[i] == 0x7f)
            return false;
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_eq_nocase(str_slice(url, 0, strlen(schemes[i])), str_of(schemes[i])))
            return true;
    return false;
}

/* --- Markdown --- */

struct rendering {
    struct strbuf *out;
    unsigned depth;    /* of blocks */
    unsigned n_images; /* whose description is being read */
    bool is_link;      /* an <a> is open */
};

static const char *const block_names[] = {
    [MD_BLOCK_QUOTE] = "blockquote",
    [MD_BLOCK_UL] = "ul",
    [MD_BLOCK_OL] = "ol",
    [MD_BLOCK_LI] = "li",
    [MD_BLOCK_P] = "p",
    [MD_BLOCK_TABLE] = "table",
    [MD_BLOCK_THEAD] = "thead",
    [MD_BLOCK_TBODY] = "tbody",
    [MD_BLOCK_TR] = "tr",
    [MD_BLOCK_TH] = "th",
    [MD_BLOCK_TD] = "td",
};

static const char *const span_names[] = {
    [MD_SPAN_EM] = "em",
    [MD_SPAN_STRONG] = "strong",
    [MD_SPAN_CODE] = "code",
    [MD_SPAN_DEL] = "del",
};

/* The target of a link. An entity could spell anything: only & is decoded. */
static void attribute_text(struct strbuf *out, const MD_ATTRIBUTE *a)
{
    for (size_t i = 0; a->text && a->substr_offsets[i] < a->size; i++) {
        struct str piece = str_make(a->text + a->substr_offsets[i],
                                    a->substr_offsets[i + 1] - a->substr_offsets[i]);

        if (a->substr_types[i] == MD_TEXT_ENTITY && str_is(piece, "&amp;"))
            piece = S("&");
        if (a->substr_types[i] != MD_TEXT_NULLCHAR)
            strbuf_add(out, piece);
    }
}

static void begin_code(struct rendering *r, const MD_BLOCK_CODE_DETAIL *d)
{
    AUTO(strbuf) struct strbuf language = {0};

    attribute_text(&language, &d->lang);
    strbuf_add_cstr(r->out, "<pre");
    if (language.n) {
        strbuf_add_cstr(r->out, " data-language=\"");
        html_add(r->out, strbuf_str(&language));
        strbuf_add_char(r->out, '"');
    }
    strbuf_add_cstr(r->out, "><code>");
}

static void begin_item(struct rendering *r, const MD_BLOCK_LI_DETAIL *d)
{
    if (!d->is_task) {
        strbuf_add_cstr(r->out, "<li>");
        return;
    }
    strbuf_add_cstr(r->out, d->task_mark == ' '
                                ? "<li class=\"task\"><span class=\"box\">☐</span> "
                                : "<li class=\"task\"><span class=\"box\">☑</span> ");
}

static void begin_cell(struct rendering *r, const char *name, const MD_BLOCK_TD_DETAIL *d)
{
    static const char *const classes[] = {[MD_ALIGN_DEFAULT] = "",
                                          [MD_ALIGN_LEFT] = "",
                                          [MD_ALIGN_CENTER] = " class=\"centre\"",
                                          [MD_ALIGN_RIGHT] = " class=\"right\""};

    strbuf_addf(r->out, "<%s%s>", name, classes[d->align]);
}

/* The page has headings of its own above these. */
static unsigned heading_level(const MD_BLOCK_H_DETAIL *d)
{
    return MIN(d->level + 2, 6u);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *self)
{
    struct rendering *r = self;

    if (++r->depth > MAX_DEPTH)
        return 0;
    switch (type) {
    case MD_BLOCK_DOC:
    case MD_BLOCK_HTML:
        break;
    case MD_BLOCK_HR:
        strbuf_add_cstr(r->out, "<hr>\n");
        break;
    case MD_BLOCK_H:
        strbuf_addf(r->out, "<h%u>", heading_level(detail));
        break;
    case MD_BLOCK_CODE:
        begin_code(r, detail);
        break;
    case MD_BLOCK_OL:
        strbuf_addf(r->out, "<ol start=\"%u\">\n", ((MD_BLOCK_OL_DETAIL *)detail)->start);
        break;
    case MD_BLOCK_LI:
        begin_item(r, detail);
        break;
    case MD_BLOCK_TABLE:
        strbuf_add_cstr(r->out, "<div class=\"table\"><table>\n");
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        begin_cell(r, block_names[type], detail);
        break;
    default:
        strbuf_addf(r->out, "<%s>", block_names[type]);
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *self)
{
    struct rendering *r = self;

    if (r->depth-- > MAX_DEPTH)
        return 0;
    switch (type) {
    case MD_BLOCK_DOC:
    case MD_BLOCK_HTML:
    case MD_BLOCK_HR:
        break;
    case MD_BLOCK_H:
        strbuf_addf(r->out, "</h%u>\n", heading_level(detail));
        break;
    case MD_BLOCK_CODE:
        strbuf_add_cstr(r->out, "</code></pre>\n");
        break;
    case MD_BLOCK_TABLE:
        strbuf_add_cstr(r->out, "</table></div>\n");
        break;
    default:
        strbuf_addf(r->out, "</%s>\n", block_names[type]);
        break;
    }
    return 0;
}

static void begin_link(struct rendering *r, const MD_SPAN_A_DETAIL *d)
{
    AUTO(strbuf) struct strbuf url = {0};

    attribute_text(&url, &d->href);
    r->is_link = html_url_is_safe(strbuf_str(&url));
    if (!r->is_link)
        return;
    strbuf_add_cstr(r->out, "<a rel=\"noreferrer noopener\" href=\"");
    html_add(r->out, strbuf_str(&url));
    strbuf_add_cstr(r->out, "\">");
}

/* The description of an image has no elements, only text. */
static int enter_span(MD_SPANTYPE type, void *detail, void *self)
{
    struct rendering *r = self;

    if (type == MD_SPAN_IMG && r->n_images++ == 0)
        strbuf_add_cstr(r->out, "<span class=\"image\">[image: ");
    if (r->n_images)
        return 0;
    if (type == MD_SPAN_A)
        begin_link(r, detail);
    else if (type < ARRAY_LEN(span_names) && span_names[type])
        strbuf_addf(r->out, "<%s>", span_names[type]);
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *self)
{
    struct rendering *r = self;

    if (type == MD_SPAN_IMG && --r->n_images == 0)
        strbuf_add_cstr(r->out, "]</span>");
    if (r->n_images || type == MD_SPAN_IMG)
        return 0;
    if (type == MD_SPAN_A && r->is_link) {
        strbuf_add_cstr(r->out, "</a>");
        r->is_link = false;
    } else if (type < ARRAY_LEN(span_names) && span_names[type]) {
        strbuf_addf(r->out, "</%s>", span_names[type]);
    }
    return 0;
}

static bool is_entity(struct str s)
{
    for (size_t i = 1; i + 1 < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !(i == 1 && s.p[i] == '#'))
            return false;
    return s.n > 2 && s.p[0] == '&' && s.p[s.n - 1] == ';';
}

static int add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *self)
{
    struct rendering *r = self;
    struct str s = str_make(text, size);

    if (type == MD_TEXT_BR && !r->n_images)
        strbuf_add_cstr(r->out, "<br>\n");
    else if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR)
        strbuf_add_char(r->out, '\n');
    else if (type == MD_TEXT_ENTITY && is_entity(s))
        strbuf_add(r->out, s);
    else if (type != MD_TEXT_NULLCHAR)
        add_escaped(r->out, s);
    return 0;
}

static void add_as_it_is(struct strbuf *out, struct str text)
{
    strbuf_add_cstr(out, "<div class=\"plain\">");
    add_escaped(out, text);
    strbuf_add_cstr(out, "</div>\n");
}

void html_add_markdown(struct strbuf *out, struct str text, const struct md4c_api *md4c)
{
    const MD_PARSER parser = {.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML,
                              .enter_block = enter_block,
                              .leave_block = leave_block,
                              .enter_span = enter_span,
                              .leave_span = leave_span,
                              .text = add_text};
    AUTO(strbuf) struct strbuf clean = {0};
    struct rendering r = {.out = out};
    size_t start = out->n;

    words_add_clean(&clean, str_trim(text));
    if (md4c && clean.n <= HTML_MARKDOWN_MAX &&
        md4c->parse(clean.p ? clean.p : "", (MD_SIZE)clean.n, &parser, &r) == 0)
        return;
    strbuf_cut(out, start);
    add_as_it_is(out, strbuf_str(&clean));
}
