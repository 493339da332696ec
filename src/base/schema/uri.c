/* uri.c - takes URI references apart and puts them together (RFC 3986, section 5). */
#include "base/schema/uri.h"

#include "base/ascii.h"
#include "base/strbuf.h"

struct uri {
    struct str scheme, authority, path, query;
    bool has_scheme, has_authority, has_query;
};

/* Length of "scheme" when a colon follows it; 0 when there is none. */
static size_t scheme_length(struct str text)
{
    size_t n = 0;

    if (text.n == 0 || !ascii_is_alpha(text.p[0]))
        return 0;
    while (n < text.n &&
           (ascii_is_alnum(text.p[n]) || text.p[n] == '+' || text.p[n] == '-' || text.p[n] == '.'))
        n++;
    return n < text.n && text.p[n] == ':' ? n : 0;
}

static struct uri take_apart(struct str text)
{
    struct uri u = {0};
    size_t scheme = scheme_length(text), query;

    if (scheme) {
        u.has_scheme = true;
        u.scheme = str_slice(text, 0, scheme);
        text = str_skip(text, scheme + 1);
    }
    query = str_find_char(text, '?');
    if (query != STR_NONE) {
        u.has_query = true;
        u.query = str_skip(text, query + 1);
        text = str_slice(text, 0, query);
    }
    if (str_starts(text, S("//"))) {
        size_t slash;

        text = str_skip(text, 2);
        slash = str_find_char(text, '/');
        u.has_authority = true;
        u.authority = str_slice(text, 0, slash == STR_NONE ? text.n : slash);
        text = str_skip(text, u.authority.n);
    }
    u.path = text;
    return u;
}

/* Appends the path without its "." and ".." segments. */
static void add_without_dots(struct strbuf *out, struct str path)
{
    size_t start = out->n;
    struct str segment;

    if (str_starts(path, S("/"))) {
        strbuf_add_char(out, '/');
        path = str_skip(path, 1);
        start++;
    }
    while (str_split(&path, '/', &segment)) {
        bool is_last = path.p == NULL;

        if (str_is(segment, "."))
            continue;
        if (str_is(segment, "..")) {
            size_t cut = out->n > start ? out->n - 1 : start;

            while (cut > start && out->p[cut - 1] != '/')
                cut--;
            strbuf_cut(out, cut);
            continue;
        }
        strbuf_add(out, segment);
        if (!is_last)
            strbuf_add_char(out, '/');
    }
}

static struct uri against(const struct uri *base, struct uri u, struct strbuf *path)
{
    if (u.has_scheme)
        return u;
    u.has_scheme = base->has_scheme;
    u.scheme = base->scheme;
    if (u.has_authority)
        return u;
    u.has_authority = base->has_authority;
    u.authority = base->authority;
    if (u.path.n == 0) {
        u.path = base->path;
        if (!u.has_query) {
            u.has_query = base->has_query;
            u.query = base->query;
        }
    } else if (u.path.p[0] != '/') {
        size_t slash = str_rfind_char(base->path, '/');

        /* The base's path up to its last slash, then the reference's. */
        if (slash != STR_NONE)
            strbuf_add(path, str_slice(base->path, 0, slash + 1));
        else if (base->has_authority)
            strbuf_add_char(path, '/');
        strbuf_add(path, u.path);
        u.path = strbuf_str(path);
    }
    return u;
}

struct str schema_uri_resolve(struct arena *a, struct str base, struct str reference)
{
    AUTO(strbuf) struct strbuf path = {0}, out = {0};
    struct uri b = take_apart(base);
    struct uri u = against(&b, take_apart(reference), &path);

    if (u.has_scheme) {
        strbuf_add(&out, u.scheme);
        strbuf_add_char(&out, ':');
    }
    if (u.has_authority) {
        strbuf_add(&out, S("//"));
        strbuf_add(&out, u.authority);
    }
    add_without_dots(&out, u.path);
    if (u.has_query) {
        strbuf_add_char(&out, '?');
        strbuf_add(&out, u.query);
    }
    return arena_str(a, strbuf_str(&out));
}

bool schema_uri_is_absolute(struct str uri)
{
    return scheme_length(uri) > 0;
}

struct str schema_uri_cut_fragment(struct str *uri)
{
    size_t hash = str_find_char(*uri, '#');
    struct str fragment = {0};

    if (hash != STR_NONE) {
        fragment = str_skip(*uri, hash + 1);
        *uri = str_slice(*uri, 0, hash);
    }
    return fragment;
}

struct str schema_uri_decode(struct arena *a, struct str text)
{
    char *out = arena_cstr(a, text);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        int high = -1, low = -1;

        if (text.p[i] == '%' && i + 2 < text.n) {
            high = ascii_hex_value(text.p[i + 1]);
            low = ascii_hex_value(text.p[i + 2]);
        }
        if (high >= 0 && low >= 0) {
            out[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[n++] = text.p[i];
        }
    }
    out[n] = 0;
    return str_make(out, n);
}
