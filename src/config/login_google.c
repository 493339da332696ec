/* login_google.c - a token for Google's APIs, from a file of credentials.
 *
 * https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
#include "base/base64.h"
#include "config/login.h"
#include "net/url.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/rsa_sign.h"

#define MAX_FILE_BYTES ((size_t)64 << 10)
#define MAX_ANSWER_BYTES ((size_t)64 << 10)
#define TOKEN_TIMEOUT_MS 30000
#define CLAIM_SECONDS 3600 /* the longest that Google takes */
#define MAX_TOKEN_SECONDS 86400
#define SCOPE "https://www.googleapis.com/auth/cloud-platform"
#define TOKEN_URL "https://oauth2.googleapis.com/token"

/* --- the file --- */

static const char *find_path(const struct login *l, struct arena *a)
{
    struct str path = login_setting(l, "credentialsFile");
    struct str config = env_get(l->environment, S("CLOUDSDK_CONFIG"));

    if (!path.n)
        path = env_get(l->environment, S("GOOGLE_APPLICATION_CREDENTIALS"));
    if (path.n)
        return login_path(l->environment, a, path);
    if (config.n)
        return fs_join(a, config.p, "application_default_credentials.json");
    if (!env_find(l->environment, "HOME"))
        return NULL;
    return login_path(l->environment, a,
                      S("~/.config/gcloud/application_default_credentials.json"));
}

static struct err *not_there(const char *path)
{
    return err_hint(err_new(ERR_PROVIDER_AUTH, "no Google credentials found%s%s",
                            path ? ": no such file: " : "", path ? path : ""),
                    "set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account, or "
                    "run gcloud auth application-default login");
}

static struct err *read_credentials(const struct login *l, struct arena *a, struct json **ret_root)
{
    const char *path = find_path(l, a);
    AUTO(strbuf) struct strbuf text = {0};
    struct json_where where;
    bool exists = false;

    strbuf_init(&text, MAX_FILE_BYTES);
    if (path)
        TRY(fs_read(path, &text, &exists));
    if (!exists)
        return not_there(path);
    if (!json_parse_at(a, arena_str(a, strbuf_str(&text)), 0, ret_root, &where))
        return err_new(ERR_PROVIDER_AUTH, "%s: line %zu, column %zu: %s", path, where.line,
                       where.column, where.reason);
    return NULL;
}

struct str login_google_project(const struct login *l, struct arena *a)
{
    struct json *root = NULL;
    AUTO(err) struct err *unread = read_credentials(l, a, &root);
    struct str project = unread ? (struct str){0} : json_get_text(root, "project_id");

    return project.n || unread ? project : json_get_text(root, "quota_project_id");
}

/* --- the claim --- */

static void add_claim(const struct login *l, const struct json *account, struct str audience,
                      struct strbuf *out)
{
    struct json_writer w;
    int64_t now = l->unix_now_ms / 1000;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "iss", json_get_text(account, "client_email"));
    jw_kv_str(&w, "scope", S(SCOPE));
    jw_kv_str(&w, "aud", audience);
    jw_kv_int(&w, "iat", now);
    jw_kv_int(&w, "exp", now + CLAIM_SECONDS);
    jw_end_object(&w);
}

static void add_head(const struct json *account, struct strbuf *out)
{
    struct json_writer w;
    struct str id = json_get_text(account, "private_key_id");

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "alg", S("RS256"));
    jw_kv_str(&w, "typ", S("JWT"));
    if (id.n)
        jw_kv_str(&w, "kid", id);
    jw_end_object(&w);
}

static struct err *add_assertion(const struct login *l, const struct json *account,
                                 struct str audience, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf head = {0}, claim = {0}, token = {0}, signature = {0};
    struct str key = json_get_text(account, "private_key");

    add_head(account, &head);
    add_claim(l, account, audience, &claim);
    base64url_add(&token, strbuf_str(&head));
    strbuf_add_char(&token, '.');
    base64url_add(&token, strbuf_str(&claim));
    TRY(rsa_sign_sha256(key, strbuf_str(&token), &signature));
    strbuf_add_char(&token, '.');
    base64url_add(&token, strbuf_str(&signature));
    strbuf_add(out, strbuf_str(&token));
    return NULL;
}

/* --- the token --- */

static void add_field(struct strbuf *out, const char *name, struct str value)
{
    strbuf_addf(out, "%s%s=", out->n ? "&" : "", name);
    url_add_encoded(out, value);
}

static void learn(const struct login *l, const char *name, struct str value)
{
    secrets_learn(l->secrets, &(struct secret_value){str_of(name), value});
}

/* What to send for a token: by the kind of the account. */
static struct err *write_form(const struct login *l, const struct json *account,
                              struct str token_url, struct strbuf *form)
{
    struct str type = json_get_text(account, "type");
    AUTO(strbuf) struct strbuf assertion = {0};

    if (str_is(type, "service_account")) {
        learn(l, "the Google private key", json_get_text(account, "private_key"));
        TRY(add_assertion(l, account, token_url, &assertion));
        add_field(form, "grant_type", S("urn:ietf:params:oauth:grant-type:jwt-bearer"));
        add_field(form, "assertion", strbuf_str(&assertion));
        return NULL;
    }
    if (str_is(type, "authorized_user")) {
        learn(l, "the Google refresh token", json_get_text(account, "refresh_token"));
        learn(l, "the Google client secret", json_get_text(account, "client_secret"));
        add_field(form, "grant_type", S("refresh_token"));
        add_field(form, "client_id", json_get_text(account, "client_id"));
        add_field(form, "client_secret", json_get_text(account, "client_secret"));
        add_field(form, "refresh_token", json_get_text(account, "refresh_token"));
        return NULL;
    }
    return err_hint(err_new(ERR_PROVIDER_AUTH,
                            "Google credentials of type \"%" STR_FMT "\" are not supported",
                            STR_ARG(type)),
                    "use the key file of a service account, or let apiKeyHelper run "
                    "gcloud auth print-access-token");
}

/* A token is asked for by https only, except on this machine. */
static struct err *check_token_url(struct arena *a, struct str text)
{
    struct url u;

    TRY(url_parse(a, text, &u));
    if (str_is(u.scheme, "https") || url_host_is_loopback(u.host))
        return NULL;
    return err_new(ERR_PROVIDER_AUTH,
                   "the token_uri of the Google credentials is not an https:// URL");
}

static struct err *refused(int status, const struct json *answer)
{
    struct str why = json_get_text(answer, "error_description");

    if (!why.n)
        why = json_get_text(answer, "error");
    return err_hint(err_new(status >= 500 ? ERR_PROVIDER_UNAVAILABLE : ERR_PROVIDER_AUTH,
                            "Google did not issue a token: HTTP %d%s%" STR_FMT, status,
                            why.n ? ": " : "", STR_ARG(str_slice(why, 0, 300))),
                    "check the file that GOOGLE_APPLICATION_CREDENTIALS names, and this machine's "
                    "clock");
}

static struct err *fetch_token(struct login *l, struct arena *a, struct str url, struct str form)
{
    struct http_request request = {.method = "POST",
                                   .url = url,
                                   .body = form,
                                   .total_ms = TOKEN_TIMEOUT_MS,
                                   .is_private = true,
                                   .max_body_bytes = MAX_ANSWER_BYTES};
    AUTO(strbuf) struct strbuf body = {0};
    struct http_response response;
    struct json *answer = NULL;
    struct json_where where;
    struct str token;
    int64_t seconds;

    if (!l->http)
        return err_new(ERR_PROVIDER_AUTH,
                       "cannot fetch a Google token: no network is available here");
    http_headers_add(a, &request.headers, S("content-type"),
                     S("application/x-www-form-urlencoded"));
    TRY(http_fetch(l->http, &request, a, &response, &body));
    if (!json_parse_at(a, arena_str(a, strbuf_str(&body)), JSON_REPAIR_UTF8, &answer, &where))
        answer = NULL;
    token = json_get_text(answer, "access_token");
    if (response.status != 200 || !token.n)
        return refused(response.status, answer);
    secret_set(&l->key, token);
    learn(l, "the Google token", token);
    seconds = json_int_or(json_get(answer, "expires_in"), 0);
    if (seconds > 0 && seconds <= MAX_TOKEN_SECONDS)
        l->expires_unix_ms = l->unix_now_ms + seconds * 1000;
    return NULL;
}

struct err *login_google(struct login *l)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf form = {0};
    struct json *account = NULL;
    struct str url = {0};
    struct err *e = read_credentials(l, &a, &account);

    if (!e) {
        url = json_get_text(account, "token_uri");
        url = url.n ? url : S(TOKEN_URL);
        e = check_token_url(&a, url);
    }
    if (!e)
        e = write_form(l, account, url, &form);
    if (e) {
        e->kind = ERR_PROVIDER_AUTH;
        return e;
    }
    return fetch_token(l, &a, url, strbuf_str(&form));
}
