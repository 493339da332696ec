/* hits.c - cleans, filters and collects search results. */
#include "tool/web/hits.h"

#include "base/utf8.h"
#include "net/url.h"
#include "tool/html/markdown_text.h"

#define MAX_SEEN 1000 /* results of one answer that are looked at */

struct web_query web_query_of(const struct json *args)
{
    return (struct web_query){.text = json_get_text(args, "query"),
                              .allowed_domains = json_get(args, "allowed_domains"),
                              .blocked_domains = json_get(args, "blocked_domains")};
}

void web_hits_init(struct web_hits *h, struct arena *a, const struct web_query *query)
{
    *h = (struct web_hits){.arena = a, .query = query};
}

/* --- text --- */

/* Length of a tag that search services put around matched words, or 0. Other tags stay: "how a
 * <form> works" is not markup. */
static size_t tag_length(struct str text)
{
    static const struct str tags[] = {S("<strong>"), S("</strong>"), S("<b>"),    S("</b>"),
                                      S("<em>"),     S("</em>"),     S("<mark>"), S("</mark>")};

    for (size_t i = 0; i < ARRAY_LEN(tags); i++)
        if (str_eq_nocase(str_slice(text, 0, tags[i].n), tags[i]))
            return tags[i].n;
    return 0;
}

static const struct {
    struct str name;
    uint32_t c;
} entities[] = {
    {{"amp", 3}, '&'},  {{"lt", 2}, '<'},    {{"gt", 2}, '>'},
    {{"quot", 4}, '"'}, {{"apos", 4}, '\''}, {{"nbsp", 4}, ' '},
};

/* 16: not a digit. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 32;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* The digits after "&#", decimal or with an x before them; 0: not a character. */
static uint32_t parse_reference(struct str digits)
{
    unsigned base = digits.n && (digits.p[0] | 32) == 'x' ? 16 : 10;
    uint32_t c = 0;

    digits = str_skip(digits, base == 16);
    for (size_t i = 0; i < digits.n; i++) {
        unsigned value = digit_value(digits.p[i]);

        if (value >= base || c > 0x10FFFF)
            return 0;
        c = c * base + value;
    }
    return c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? 0 : c;
}

/* Length of the entity at the start of the text, or 0. */
static size_t decode_entity(struct str text, uint32_t *ret_c)
{
    size_t end = str_find_char(str_slice(text, 0, 10), ';');
    struct str name;

    if (!str_starts(text, S("&")) || end == STR_NONE)
        return 0;
    name = str_slice(text, 1, end - 1);
    *ret_c = str_starts(name, S("#")) ? parse_reference(str_skip(name, 1)) : 0;
    for (size_t i = 0; i < ARRAY_LEN(entities); i++)
        if (str_eq(name, entities[i].name))
            *ret_c = entities[i].c;
    return *ret_c ? end + 1 : 0;
}

static void add_without_markup(struct strbuf *out, struct str text)
{
    while (text.n && !strbuf_is_over(out)) {
        size_t n_plain = 0, n;
        char bytes[4];
        uint32_t c;

        while (n_plain < text.n && text.p[n_plain] != '<' && text.p[n_plain] != '&')
            n_plain++;
        strbuf_add(out, str_slice(text, 0, n_plain));
        text = str_skip(text, n_plain);
        if ((n = decode_entity(text, &c)))
            strbuf_add(out, str_make(bytes, utf8_encode(c, bytes)));
        else if (!(n = tag_length(text)))
            strbuf_add(out, str_slice(text, 0, n = 1));
        text = str_skip(text, n);
    }
}

/* Looks only at the start of a long text. */
static struct str clean_text(struct arena *a, struct str text, size_t max_bytes)
{
    AUTO(strbuf) struct strbuf bare = {0}, plain = {0};
    struct str start = utf8_truncate(text, 4 * max_bytes), kept;

    add_without_markup(&bare, start);
    markdown_add_plain(&plain, strbuf_str(&bare));
    kept = utf8_truncate(strbuf_str(&plain), max_bytes);
    if (kept.n == plain.n && start.n == text.n)
        return arena_str(a, kept);
    return arena_format(a, "%" STR_FMT "...", STR_ARG(kept));
}

/* --- addresses --- */

static bool is_in_domain(struct str host, struct str domain)
{
    if (str_starts(domain, S("*.")))
        domain = str_skip(domain, 2);
    if (domain.n == 0 || host.n < domain.n ||
        !str_eq_nocase(str_skip(host, host.n - domain.n), domain))
        return false;
    return host.n == domain.n || host.p[host.n - domain.n - 1] == '.';
}

static bool is_in_any(struct str host, const struct json *domains)
{
    json_each (domain, domains)
        if (is_in_domain(host, json_str(domain)))
            return true;
    return false;
}

static bool is_wanted(const struct web_query *q, struct str host)
{
    bool is_limited = q->allowed_domains && q->allowed_domains->n > 0;

    return (!is_limited || is_in_any(host, q->allowed_domains)) &&
           !is_in_any(host, q->blocked_domains);
}

static bool parse_address(struct arena *a, struct str text, struct url *ret_url)
{
    struct err *e = url_parse(a, str_trim(text), ret_url);

    if (e) {
        err_ignore(e, "what has no address is left out");
        return false;
    }
    return str_is(ret_url->scheme, "http") || str_is(ret_url->scheme, "https");
}

/* --- collecting --- */

static bool is_full(const struct web_hits *h)
{
    return h->n == WEB_MAX_HITS || h->n + h->n_filtered + h->n_denied + h->n_unusable >= MAX_SEEN;
}

static bool is_denied(const struct web_hits *h, struct str host, struct str address)
{
    const struct path_filter *f = h->hidden;

    if (!f || !f->is_denied_url)
        return false;
    if (host.n &&
        f->is_denied_url(f->self, arena_format(h->arena, "https://%" STR_FMT "/", STR_ARG(host))))
        return true;
    return f->is_denied_url(f->self, address);
}

/* The place for this hit: a new one or, with `is_once`, the known one. NULL: omit it. */
static struct web_hit *find_place(struct web_hits *h, struct str host, struct str url, bool is_once)
{
    struct str address;
    struct url u;

    if (is_full(h) && !is_once)
        return NULL;
    if (!parse_address(h->arena, url, &u)) {
        h->n_unusable++;
        return NULL;
    }
    address = url_format(h->arena, &u);
    if (!is_wanted(h->query, host.n ? host : u.host)) {
        h->n_filtered++;
        return NULL;
    }
    if (is_denied(h, host, address)) {
        h->n_denied++;
        return NULL;
    }
    for (size_t i = 0; is_once && i < h->n; i++)
        if (str_eq(h->items[i].url, address))
            return &h->items[i];
    if (is_full(h))
        return NULL;
    h->items[h->n].url = address;
    return &h->items[h->n++];
}

void web_hits_add(struct web_hits *h, struct str title, struct str url, struct str description)
{
    struct web_hit *hit = find_place(h, (struct str){0}, url, /* is_once= */ false);

    if (!hit)
        return;
    hit->title = clean_text(h->arena, title, WEB_MAX_HIT_TITLE);
    hit->description = clean_text(h->arena, description, WEB_MAX_HIT_DESCRIPTION);
}

void web_hits_add_once(struct web_hits *h, struct str host, struct str title, struct str url,
                       struct str description)
{
    struct web_hit *hit = find_place(h, host, url, /* is_once= */ true);

    if (hit && hit->title.n == 0)
        hit->title = clean_text(h->arena, title, WEB_MAX_HIT_TITLE);
    if (hit && hit->description.n == 0)
        hit->description = clean_text(h->arena, description, WEB_MAX_HIT_DESCRIPTION);
}

void web_hits_set_summary(struct web_hits *h, struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str rest = str_trim(text), kept;
    uint32_t c;

    while (rest.n && out.n <= WEB_MAX_SUMMARY) {
        unsigned size = utf8_decode(rest, &c);

        if (size && !markdown_is_dropped(c))
            strbuf_add(&out, str_slice(rest, 0, size));
        rest = str_skip(rest, MAX(size, 1u));
    }
    kept = utf8_truncate(strbuf_str(&out), WEB_MAX_SUMMARY);
    h->summary = arena_format(h->arena, "%" STR_FMT "%s", STR_ARG(kept),
                              rest.n || kept.n < out.n ? "..." : "");
}

static void add_object(struct web_hits *h, const struct json *hit, const char *description_key)
{
    web_hits_add(h, json_get_text(hit, "title"), json_get_text(hit, "url"),
                 json_get_text(hit, description_key));
}

void web_hits_add_json(struct web_hits *h, const struct json *array, const char *description_key)
{
    if (!json_is(array, JSON_ARRAY))
        return;
    json_each (hit, array)
        add_object(h, hit, description_key);
}

/* --- output of a command --- */

static struct json *parse_json(struct arena *a, struct str text)
{
    struct json_where where;
    struct json *v;

    return json_parse_at(a, text, JSON_REPAIR_UTF8, &v, &where) ? v : NULL;
}

static void add_line(struct web_hits *h, struct str line)
{
    struct str fields[3] = {0}, part;
    struct json *object = str_starts(line, S("{")) ? parse_json(h->arena, line) : NULL;

    if (object) {
        add_object(h, object, "description");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(fields) && str_split(&line, '\t', &part); i++)
        fields[i] = part;
    web_hits_add(h, fields[1], fields[0], fields[2]);
}

void web_hits_add_output(struct web_hits *h, struct str output)
{
    struct json *array;
    struct str line;

    output = str_trim(output);
    array = str_starts(output, S("[")) ? parse_json(h->arena, output) : NULL;
    if (array) {
        web_hits_add_json(h, array, "description");
        return;
    }
    while (!is_full(h) && str_split(&output, '\n', &line)) {
        line = str_trim(line);
        if (line.n)
            add_line(h, line);
    }
}
