/* profile_address.c - puts a base URL together. */
#include "config/profile_address.h"

#include "config/login.h"
#include "net/url.h"
#include "sys/env.h"

/* --- parts that the person chooses --- */

static const struct vendor_place *find_place(const struct vendor *v, const char *name)
{
    for (size_t i = 0; v && i < ARRAY_LEN(v->places) && v->places[i].name; i++)
        if (strcmp(v->places[i].name, name) == 0)
            return &v->places[i];
    return NULL;
}

/* Where the cloud's own files say it. */
static struct str place_of_cloud(const struct address_query *q, const char *name)
{
    struct login l = {.environment = q->environment, .profile = q->profile};

    if (q->vendor->auth == AUTH_AWS && strcmp(name, "region") == 0)
        return login_aws_region(&l, q->arena);
    if (q->vendor->auth == AUTH_GOOGLE && strcmp(name, "project") == 0)
        return login_google_project(&l, q->arena);
    return (struct str){0};
}

struct str profile_place(const struct address_query *q, const char *name)
{
    const struct vendor_place *place = find_place(q->vendor, name);
    struct login l = {.environment = q->environment, .profile = q->profile};
    struct str value = place ? login_setting(&l, name) : (struct str){0}, rest, variable;

    if (!place)
        return value;
    rest = str_of(place->env);
    while (!value.n && rest.n && str_split(&rest, ' ', &variable))
        value = env_get(q->environment, variable);
    if (!value.n)
        value = place_of_cloud(q, name);
    return value.n ? value : str_of(place->usual);
}

struct err *profile_place_missing(const struct address_query *q, const char *name)
{
    const struct vendor_place *place = find_place(q->vendor, name);
    struct str rest = str_of(place->env), variable = {0};

    str_split(&rest, ' ', &variable);
    return err_hint(
        err_new(ERR_CONFIGURATION, "%" STR_FMT " needs the setting \"%s\"", STR_ARG(q->id), name),
        "set %" STR_FMT ", or \"providers\": {\"%" STR_FMT "\": {\"%s\": ...}} in settings.json",
        STR_ARG(variable), STR_ARG(q->id), name);
}

/* It becomes a part of an address: nothing in it may end that part. */
static bool is_plain(struct str value)
{
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            !strchr("-._:", c))
            return false;
    }
    return value.n > 0;
}

static struct err *add_place(const struct address_query *q, struct str name, struct strbuf *out)
{
    const char *key = arena_cstr(q->arena, name);
    struct str value = profile_place(q, key);

    if (!value.n)
        return profile_place_missing(q, key);
    if (!is_plain(value))
        return err_new(ERR_CONFIGURATION,
                       "%" STR_FMT ": \"%" STR_FMT
                       "\" is not a valid %s: only letters, digits and - . _ : are allowed",
                       STR_ARG(q->id), STR_ARG(value), key);
    strbuf_add(out, value);
    return NULL;
}

/* Appends the text with each "{name}" replaced. */
static struct err *add_filled(const struct address_query *q, struct str text, struct strbuf *out)
{
    for (;;) {
        size_t open = str_find_char(text, '{'), close;

        strbuf_add(out, str_slice(text, 0, open));
        if (open == STR_NONE)
            return NULL;
        text = str_skip(text, open + 1);
        close = str_find_char(text, '}');
        TRY(add_place(q, str_slice(text, 0, close), out));
        text = str_skip(text, close + 1);
    }
}

/* --- the base URL --- */

/* Google calls the hosts of what is not one region differently. */
static struct str own_address(const struct address_query *q)
{
    struct str location;

    if (!q->vendor || q->vendor->auth != AUTH_GOOGLE)
        return str_of(q->vendor ? q->vendor->base_url : NULL);
    location = profile_place(q, "location");
    if (str_is(location, "global"))
        return S("https://aiplatform.googleapis.com/v1");
    if (str_is(location, "us") || str_is(location, "eu"))
        return S("https://aiplatform.{location}.rep.googleapis.com/v1");
    return str_of(q->vendor->base_url);
}

/* Where the vendor's own server listens when nobody says otherwise; 0 if that is no special port.
 */
static int usual_port(const struct address_query *q)
{
    struct url url;
    AUTO(err) struct err *e = NULL;

    if (!q->vendor || !q->vendor->base_url)
        return 0;
    e = url_parse(q->arena, str_of(q->vendor->base_url), &url);
    return !e && url.has_port ? url.port : 0;
}

/* The scheme may be left out, as in OLLAMA_HOST=127.0.0.1:11434, and then the port too. */
static struct str complete_url(const struct address_query *q, struct str text)
{
    int port = usual_port(q);
    struct url url;
    AUTO(err) struct err *e = NULL;

    if (text.n == 0 || str_find(text, S("://")) != STR_NONE)
        return text;
    text = arena_format(q->arena, "http://%" STR_FMT, STR_ARG(text));
    e = url_parse(q->arena, text, &url);
    if (e || url.has_port || url.path.n || port == 0)
        return text;
    return arena_format(q->arena, "%" STR_FMT ":%d", STR_ARG(text), port);
}

static struct str given_url(const struct address_query *q)
{
    struct login l = {.environment = q->environment, .profile = q->profile};
    const struct vendor *v = q->vendor;
    struct str url = login_setting(&l, "baseUrl");

    if (!url.n && v && v->base_url_env)
        url = env_get(q->environment, str_of(v->base_url_env));
    if (!url.n && v && v->endpoint_env)
        url = env_get(q->environment, str_of(v->endpoint_env));
    return complete_url(q, url);
}

/* What the vendor wants behind the address. A query that is there already stays. */
static struct err *add_behind(const struct address_query *q, struct str *url)
{
    const struct vendor *v = q->vendor;
    AUTO(strbuf) struct strbuf path = {0}, query = {0};
    struct url parsed;
    bool has_path;

    if (!v || (!v->base_path && !v->base_query))
        return NULL;
    TRY(url_parse(q->arena, *url, &parsed));
    has_path = parsed.path.n > 1;
    if (v->base_path && !(has_path && v->path_if_none)) {
        TRY(add_filled(q, str_of(v->base_path), &path));
        TRY(url_join(q->arena, *url, strbuf_str(&path), url));
    }
    if (v->base_query && !parsed.query.n) {
        TRY(add_filled(q, str_of(v->base_query), &query));
        *url = arena_format(q->arena, "%" STR_FMT "?%s", STR_ARG(*url), strbuf_cstr(&query));
    }
    return NULL;
}

struct err *profile_address(const struct address_query *q, struct str *ret_url)
{
    AUTO(strbuf) struct strbuf own = {0};
    struct str url = given_url(q);

    if (!url.n) {
        TRY(add_filled(q, own_address(q), &own));
        url = arena_str(q->arena, strbuf_str(&own));
    }
    if (url.n)
        TRY(add_behind(q, &url));
    *ret_url = url;
    return NULL;
}
