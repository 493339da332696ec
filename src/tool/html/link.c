/* link.c - reads an address as browsers do: trimmed, without line ends, blanks encoded. */
#include "tool/html/link.h"

void html_base_init(struct html_base *base, struct arena *a, struct str page_url)
{
    struct err *e = url_parse(a, arena_str(a, page_url), &base->url);

    base->is_known = !e;
    err_ignore(e, "a page without an address has links as they were written");
}

void html_base_change(struct html_base *base, struct arena *a, struct str href)
{
    struct str url = html_link_resolve(base, a, href);

    if (url.n)
        html_base_init(base, a, url);
}

static struct str clean(struct arena *a, struct str href)
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

struct str html_link_resolve(const struct html_base *base, struct arena *a, struct str href)
{
    static const char *const web[] = {"http", "https", "ftp"}, *const as_is[] = {"mailto", "tel"};
    struct str scheme, result = {0};
    const struct url none = {0};
    struct err *e;

    href = clean(a, href);
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
