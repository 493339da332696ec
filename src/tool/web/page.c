/* page.c - finds out what an answer is, and converts it to text. */
#include "tool/web/page.h"

#include "base/file_kind.h"
#include "base/utf8.h"
#include "sys/work.h"
#include "tool/html/charset.h"
#include "tool/html/markdown.h"
#include "tool/html/markdown_text.h"

#define HEAD_BYTES 8192                 /* that identify the content */
#define LARGE_BYTES ((size_t)64 << 10)  /* more is read in a worker */
#define MAX_NAME_BYTES 127              /* of a type or an encoding */
#define DECODED_MAX (3 * WEB_MAX_BYTES) /* at most three bytes for one */

void web_page_free(struct web_page *p)
{
    if (!p)
        return;
    strbuf_done(&p->content);
    arena_done(&p->arena);
    mem_free(p);
}

/* --- headers --- */

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c && strchr("!#$&^_.+-/", c));
}

/* In lower case; empty: not a name that can be shown. */
static struct str clean_name(struct arena *a, struct str text)
{
    char *name = arena_cstr(a, str_slice(text, 0, MAX_NAME_BYTES));

    if (text.n > MAX_NAME_BYTES)
        return (struct str){0};
    for (size_t i = 0; i < text.n; i++) {
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] + 32);
        if (!is_name_char(name[i]))
            return (struct str){0};
    }
    return str_make(name, text.n);
}

static struct str charset_of(struct str content_type)
{
    const struct str key = S("charset=");
    struct str parameter;

    while (str_split(&content_type, ';', &parameter)) {
        parameter = str_trim(parameter);
        if (!str_eq_nocase(str_slice(parameter, 0, key.n), key))
            continue;
        parameter = str_skip(parameter, key.n);
        if (parameter.n >= 2 && parameter.p[0] == '"' && str_ends(parameter, S("\"")))
            parameter = str_slice(parameter, 1, parameter.n - 2);
        return parameter;
    }
    return (struct str){0};
}

/* --- what it is --- */

static bool says_nothing(struct str mime)
{
    return mime.n == 0 || str_is(mime, "application/octet-stream") ||
           str_is(mime, "binary/octet-stream");
}

static bool starts_nocase(struct str s, struct str start)
{
    return str_eq_nocase(str_slice(s, 0, start.n), start);
}

static bool is_html(struct str mime, struct str body)
{
    struct str start = str_trim(str_slice(body, 0, HEAD_BYTES));

    if (says_nothing(mime))
        return starts_nocase(start, S("<!doctype html")) || starts_nocase(start, S("<html"));
    return str_is(mime, "text/html") || str_is(mime, "application/xhtml+xml");
}

/* The types that models accept. */
static bool is_common_image(const char *mime)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(mime, types[i]) == 0)
            return true;
    return false;
}

/* Bytes of an unknown kind: the server may know better. */
static bool may_be_text(const struct web_page *p, struct str body, struct str charset)
{
    return is_html(p->mime, body) || starts_nocase(charset, S("utf-16"));
}

static enum web_page_kind find_kind(const struct web_page *p, const struct file_kind *k,
                                    struct str body, struct str charset)
{
    bool is_unknown = strcmp(k->mime, "application/octet-stream") == 0;

    switch (k->class) {
    case FILE_TEXT:
        return WEB_TEXT;
    case FILE_IMAGE:
        return is_common_image(k->mime) ? WEB_IMAGE : WEB_OTHER;
    case FILE_PDF:
        return WEB_PDF;
    case FILE_BINARY:
        return is_unknown && may_be_text(p, body, charset) ? WEB_TEXT : WEB_OTHER;
    default:
        return WEB_OTHER;
    }
}

/* --- text --- */

/* The number of bytes to keep; *ret_n_dropped bytes after them are dropped. */
static size_t clean_run(struct str text, size_t *ret_n_dropped)
{
    size_t n = 0;

    *ret_n_dropped = 0;
    while (n < text.n) {
        uint32_t c;
        unsigned size = utf8_decode(str_skip(text, n), &c);

        if (size == 0 || markdown_is_dropped(c)) {
            *ret_n_dropped = MAX(size, 1u);
            break;
        }
        n += size;
    }
    return n;
}

/* False if not all of it fits. */
static bool add_clean(struct strbuf *out, struct str text)
{
    while (text.n) {
        size_t n_dropped, n = clean_run(text, &n_dropped);
        struct str kept = utf8_truncate(str_slice(text, 0, n), out->max_bytes - out->n);

        strbuf_add(out, kept);
        if (kept.n < n)
            return false;
        text = str_skip(text, n + n_dropped);
    }
    return true;
}

static void read_plain(struct web_page *p, struct str body, struct str charset)
{
    AUTO(strbuf) struct strbuf decoded = {.max_bytes = DECODED_MAX};

    if (p->was_cut) /* perhaps inside a character */
        body.n -= utf8_incomplete_tail(body);
    if (charset.n == 0 && utf8_is_valid(body))
        charset = S("utf-8"); /* ignore any meta element that the text quotes */
    charset_decode_html(&decoded, body, charset);
    if (!add_clean(&p->content, strbuf_str(&decoded)))
        p->was_cut = true;
}

static struct err *read_html(struct web_page *p, struct str body, struct str charset)
{
    struct html_page html;

    TRY(html_to_markdown(&p->arena, body, charset, p->url, &p->content, &html));
    p->title = html.title;
    p->was_cut |= html.was_cut || strbuf_is_over(&p->content);
    p->is_tangled = html.is_tangled;
    p->is_part = html.is_part;
    return NULL;
}

struct page_reading {
    struct web_page *page;
    struct str body, charset;
};

static struct err *page_read_text(void *arg)
{
    struct page_reading *r = arg;

    if (is_html(r->page->mime, r->body))
        return read_html(r->page, r->body, r->charset);
    read_plain(r->page, r->body, r->charset);
    return NULL;
}

/* --- all of it --- */

static struct err *read_content(struct web_page *p, const struct web_answer *answer)
{
    struct page_reading r = {p, strbuf_str(&answer->body), charset_of(answer->content_type)};
    struct file_kind kind = file_kind_of(str_slice(r.body, 0, HEAD_BYTES));

    p->kind = find_kind(p, &kind, r.body, r.charset);
    p->what = str_of(kind.name);
    switch (p->kind) {
    case WEB_TEXT:
        return r.body.n > LARGE_BYTES ? work_run(page_read_text, &r) : page_read_text(&r);
    case WEB_IMAGE:
    case WEB_PDF:
        p->media_type = str_of(kind.mime);
        strbuf_add(&p->content, r.body);
        return NULL;
    default:
        return NULL;
    }
}

struct err *web_page_read(const struct web_answer *answer, struct web_page **ret_page)
{
    AUTO(web_page) struct web_page *p = mem_alloc(sizeof *p);
    struct str encoding = clean_name(&p->arena, answer->content_encoding);
    struct str type = answer->content_type; /* "text/html; charset=utf-8" */

    strbuf_init(&p->content, WEB_MAX_TEXT);
    p->status = answer->status;
    p->url = arena_str(&p->arena, answer->url);
    p->mime = clean_name(&p->arena, str_trim(str_slice(type, 0, str_find_char(type, ';'))));
    p->n_bytes = answer->body.n;
    p->was_cut = answer->was_cut;
    if (answer->content_encoding.n && !str_is(encoding, "identity")) {
        p->kind = WEB_OTHER;
        p->what = arena_format(&p->arena, "compressed (%" STR_FMT "), which keel did not ask for",
                               STR_ARG(encoding));
    } else {
        TRY(read_content(p, answer));
    }
    *ret_page = TAKE(p);
    return NULL;
}
