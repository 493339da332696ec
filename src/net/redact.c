/* redact.c - removes credentials from URLs and headers, for logs and messages. */
#include "net/http.h"
#include "net/url.h"

static bool ends_nocase(struct str s, struct str word)
{
    return s.n >= word.n && str_eq_nocase(str_skip(s, s.n - word.n), word);
}

static bool ends_like_a_secret(struct str name)
{
    static const struct str endings[] = {
        S("key"),      S("token"),  S("secret"),     S("signature"),     S("credential"),
        S("password"), S("passwd"), S("passphrase"), S("authorization"), S("cookie"),
    };

    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (ends_nocase(name, endings[i]))
            return true;
    return false;
}

/* Covers authorization, proxy-authorization, cookie, set-cookie, api-key, x-api-key,
 * x-goog-api-key, x-amz-security-token and the like. */
bool http_header_is_secret(struct str name)
{
    return ends_like_a_secret(name);
}

static bool parameter_is_secret(struct str name)
{
    static const struct str names[] = {S("sig"),  S("auth"), S("pwd"),
                                       S("pass"), S("code"), S("jwt")};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, names[i]))
            return true;
    return ends_like_a_secret(name);
}

/* '?' or '#', then name=value pairs between '&'s. */
static void add_parameters(struct strbuf *out, struct str text)
{
    struct str pair, separator = str_slice(text, 0, 1);

    if (text.n == 0)
        return;
    text = str_skip(text, 1);
    while (str_split(&text, '&', &pair)) {
        size_t equals = str_find_char(pair, '=');

        strbuf_add(out, separator);
        separator = S("&");
        if (equals != STR_NONE && parameter_is_secret(str_slice(pair, 0, equals))) {
            strbuf_add(out, str_slice(pair, 0, equals + 1));
            strbuf_add_cstr(out, "[REDACTED]");
        } else {
            strbuf_add(out, pair);
        }
    }
}

static void add_without_userinfo(struct strbuf *out, struct str text)
{
    size_t scheme = str_find(text, S("://"));
    struct str authority, rest;
    size_t at;

    if (scheme != STR_NONE) {
        strbuf_add(out, str_slice(text, 0, scheme + 3));
        text = str_skip(text, scheme + 3);
    }
    authority = str_slice(text, 0, str_find_char(text, '/'));
    rest = str_skip(text, authority.n);
    at = str_rfind_char(authority, '@');
    strbuf_add(out, str_skip(authority, at + 1)); /* STR_NONE + 1 is 0 */
    strbuf_add(out, rest);
}

struct str url_redact(struct arena *a, struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str before_hash = str_slice(text, 0, str_find_char(text, '#'));
    struct str fragment = str_skip(text, before_hash.n);
    struct str front = str_slice(before_hash, 0, str_find_char(before_hash, '?'));
    struct str query = str_skip(before_hash, front.n);

    add_without_userinfo(&out, front);
    add_parameters(&out, query);
    add_parameters(&out, fragment);
    return arena_str(a, strbuf_str(&out));
}
