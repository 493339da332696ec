/* aws_sign.c - the canonical form of a request, and the key that signs it.
 *
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
#include "provider/aws_sign.h"

#include "base/ascii.h"
#include "base/hmac.h"
#include "net/url.h"
#include "sys/clock.h"

#include <stdlib.h>

#define ALGORITHM "AWS4-HMAC-SHA256"
#define TIME_SIZE 17 /* 20150830T123600Z */

/* --- the canonical request --- */

/* Each segment is encoded a second time: only S3 takes the path as it is sent. */
static void add_path(struct strbuf *out, struct str path)
{
    struct str segment;
    const char *slash = "";

    if (path.n == 0) {
        strbuf_add_char(out, '/');
        return;
    }
    while (str_split(&path, '/', &segment)) {
        strbuf_add_cstr(out, slash);
        url_add_encoded(out, segment);
        slash = "/";
    }
}

static int compare_str(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    int order = memcmp(x->p ? x->p : "", y->p ? y->p : "", MIN(x->n, y->n));

    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Sorts the parameters by their bytes; they are already encoded. */
static void add_query(struct strbuf *out, struct arena *a, struct str query)
{
    struct str *items = NULL, item;
    size_t n = 0, room = 0;

    while (query.n && str_split(&query, '&', &item)) {
        bool has_value = str_find_char(item, '=') != STR_NONE;

        items = arena_grow(a, items, n, &room, sizeof *items);
        items[n++] = has_value ? item : arena_format(a, "%" STR_FMT "=", STR_ARG(item));
    }
    if (n)
        qsort(items, n, sizeof *items, compare_str);
    for (size_t i = 0; i < n; i++)
        strbuf_addf(out, "%s%" STR_FMT, i ? "&" : "", STR_ARG(items[i]));
}

static struct str lower_case(struct arena *a, struct str text)
{
    struct str copy = arena_str(a, text);
    char *p = (char *)copy.p;

    for (size_t i = 0; i < copy.n; i++)
        p[i] = ascii_lower(p[i]);
    return copy;
}

/* Replaces runs of blanks by one, and removes those at the ends. */
static struct str one_blank(struct arena *a, struct str value)
{
    struct str copy = arena_str(a, str_trim(value));
    char *p = (char *)copy.p;
    size_t n = 0;

    for (size_t i = 0; i < copy.n; i++)
        if (p[i] != ' ' || n == 0 || p[n - 1] != ' ')
            p[n++] = p[i];
    return str_make(p, n);
}

static bool is_signed(struct str name)
{
    return str_starts(name, S("content-")) || str_starts(name, S("x-amz-"));
}

static int compare_headers(const void *a, const void *b)
{
    return compare_str(&((const struct http_header *)a)->name,
                       &((const struct http_header *)b)->name);
}

/* As in the request: the port only if it is not the scheme's default. */
static struct str host_of(struct arena *a, const struct url *u)
{
    struct str host = u->is_ipv6 ? arena_format(a, "[%" STR_FMT "]", STR_ARG(u->host)) : u->host;
    bool is_usual = u->port == (str_is(u->scheme, "https") ? 443 : 80);

    return is_usual ? host : arena_format(a, "%" STR_FMT ":%d", STR_ARG(host), u->port);
}

static struct http_headers signed_headers(struct arena *a, const struct http_headers *all,
                                          const struct url *u)
{
    struct http_headers chosen = {0};

    http_headers_add(a, &chosen, S("host"), host_of(a, u));
    for (size_t i = 0; i < all->n; i++) {
        struct str name = lower_case(a, all->items[i].name);

        if (is_signed(name))
            http_headers_add(a, &chosen, name, one_blank(a, all->items[i].value));
    }
    qsort(chosen.items, chosen.n, sizeof *chosen.items, compare_headers);
    return chosen;
}

/* *ret_names: "content-type;host;x-amz-date" */
static void add_headers(struct strbuf *out, struct arena *a, const struct http_headers *h,
                        struct str *ret_names)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (size_t i = 0; i < h->n; i++) {
        strbuf_addf(out, "%" STR_FMT ":%" STR_FMT "\n", STR_ARG(h->items[i].name),
                    STR_ARG(h->items[i].value));
        strbuf_addf(&names, "%s%" STR_FMT, i ? ";" : "", STR_ARG(h->items[i].name));
    }
    *ret_names = arena_str(a, strbuf_str(&names));
}

static struct err *digest_request(struct arena *a, const struct http_request *request,
                                  char hex[SHA256_HEX_SIZE], struct str *ret_names)
{
    AUTO(strbuf) struct strbuf text = {0};
    char body_hex[SHA256_HEX_SIZE];
    struct http_headers headers;
    struct url u;

    TRY(url_parse(a, request->url, &u));
    headers = signed_headers(a, &request->headers, &u);
    strbuf_addf(&text, "%s\n", request->method ? request->method : "GET");
    add_path(&text, u.path);
    strbuf_add_char(&text, '\n');
    add_query(&text, a, u.query);
    strbuf_add_char(&text, '\n');
    add_headers(&text, a, &headers, ret_names);
    sha256_hex(request->body, body_hex);
    strbuf_addf(&text, "\n%" STR_FMT "\n%s", STR_ARG(*ret_names), body_hex);
    sha256_hex(strbuf_str(&text), hex);
    return NULL;
}

/* --- the signature --- */

static struct str mac_str(const unsigned char mac[SHA256_SIZE])
{
    return str_make((const char *)mac, SHA256_SIZE);
}

static void make_signature(const struct aws_signer *s, struct str date, struct str to_sign,
                           char hex[SHA256_HEX_SIZE])
{
    AUTO(strbuf) struct strbuf start = {0};
    unsigned char mac[SHA256_SIZE];

    strbuf_addf(&start, "AWS4%" STR_FMT, STR_ARG(s->secret_key));
    hmac_sha256(strbuf_str(&start), date, mac);
    mem_wipe(start.p, start.n);
    hmac_sha256(mac_str(mac), s->region, mac);
    hmac_sha256(mac_str(mac), s->service, mac);
    hmac_sha256(mac_str(mac), S("aws4_request"), mac);
    hmac_sha256(mac_str(mac), to_sign, mac);
    sha256_format_hex(mac, hex);
    mem_wipe(mac, sizeof mac);
}

/* "20150830T123600Z" */
static void format_time(int64_t unix_ms, char out[TIME_SIZE])
{
    char iso[CLOCK_ISO_SIZE];
    size_t n = 0;

    clock_format_iso(unix_ms, iso);
    for (size_t i = 0; iso[i] && iso[i] != '.' && n < TIME_SIZE - 2; i++)
        if (iso[i] != '-' && iso[i] != ':')
            out[n++] = iso[i];
    out[n++] = 'Z';
    out[n] = 0;
}

struct err *aws_sign(const struct aws_signer *s, struct arena *a, struct http_request *request)
{
    char time[TIME_SIZE], request_hex[SHA256_HEX_SIZE], signature[SHA256_HEX_SIZE];
    struct str names, date, scope, to_sign;

    format_time(s->unix_ms, time);
    http_headers_add(a, &request->headers, S("x-amz-date"), str_of(time));
    if (s->session_token.n)
        http_headers_add(a, &request->headers, S("x-amz-security-token"), s->session_token);
    TRY(digest_request(a, request, request_hex, &names));
    date = str_make(time, 8);
    scope = arena_format(a, "%" STR_FMT "/%" STR_FMT "/%" STR_FMT "/aws4_request", STR_ARG(date),
                         STR_ARG(s->region), STR_ARG(s->service));
    to_sign =
        arena_format(a, ALGORITHM "\n%s\n%" STR_FMT "\n%s", time, STR_ARG(scope), request_hex);
    make_signature(s, date, to_sign, signature);
    http_headers_add(a, &request->headers, S("authorization"),
                     arena_format(a,
                                  ALGORITHM " Credential=%" STR_FMT "/%" STR_FMT
                                            ", SignedHeaders=%" STR_FMT ", Signature=%s",
                                  STR_ARG(s->key_id), STR_ARG(scope), STR_ARG(names), signature));
    return NULL;
}
