/* known_secrets.c - finds the credentials in variables and settings. */
#include "sdk/known_secrets.h"

#include "base/variables.h"
#include "net/proxy.h"
#include "provider/vendor.h"
#include "sys/env.h"
#include "tool/web/service.h"

struct collection {
    struct arena arena;
    const char *const *environment;
    struct secret_value *items;
    size_t n, room;
};

static void add(struct collection *c, struct str name, struct str value)
{
    if (value.n == 0)
        return;
    c->items = arena_grow(&c->arena, c->items, c->n, &c->room, sizeof *c->items);
    c->items[c->n++] = (struct secret_value){name, value};
}

static void add_variable(struct collection *c, struct str name)
{
    add(c, name, env_get(c->environment, name));
}

/* https://user:password@host/, https://token@host/ */
static void add_url(struct collection *c, struct str text, struct str name)
{
    struct url url;
    AUTO(err) struct err *e = NULL;

    if (str_find_char(text, '@') == STR_NONE)
        return;
    e = url_parse(&c->arena, text, &url);
    if (!e) /* STR_NONE + 1 is 0 */
        add(c, name, str_skip(url.userinfo, str_find_char(url.userinfo, ':') + 1));
}

/* --- the environment --- */

/* "Authorization: Bearer ..." in a variable of headers. */
static void add_header_lines(struct collection *c, struct str variable)
{
    struct str rest = env_get(c->environment, variable), line;

    while (rest.n && str_split(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');

        if (colon != STR_NONE && http_header_is_secret(str_trim(str_slice(line, 0, colon))))
            add(c, variable, str_trim(str_skip(line, colon + 1)));
    }
}

/* All of them: another model may be asked later. */
static void add_vendors(struct collection *c)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        struct str rest = str_of(v->key_env), name;

        while (v->key_env && str_split(&rest, ' ', &name))
            add_variable(c, name);
        if (v->token_env)
            add_variable(c, str_of(v->token_env));
        if (v->headers_env)
            add_header_lines(c, str_of(v->headers_env));
        if (v->base_url_env)
            add_url(c, env_get(c->environment, str_of(v->base_url_env)), str_of(v->base_url_env));
    }
}

static void add_tree(struct collection *c, const struct json *v, struct str in, struct str path);

static void add_object(struct collection *c, struct str name, struct str value)
{
    struct json *tree = NULL;
    struct json_where where;

    if (str_starts(value, S("{")) && json_parse_at(&c->arena, value, 0, &tree, &where))
        add_tree(c, tree, (struct str){0}, name);
}

/* What commands do not get must not come back by other ways either, if it is nothing that stands in
 * texts by chance. */
static void add_environment(struct collection *c)
{
    for (const char *const *entry = c->environment; entry && *entry; entry++) {
        struct str name = str_of(*entry), value;
        size_t equals = str_find_char(name, '=');
        struct str part;

        if (equals == STR_NONE)
            continue;
        value = str_skip(name, equals + 1);
        name = str_slice(name, 0, equals);
        if (variable_kind(name, value) != VARIABLE_SECRET)
            continue;
        part = value_find_secret(value);
        if (value_is_random(part))
            add(c, name, part);
        if (variable_is_secret(name) && part.n == 0 && value_is_random(value))
            add(c, name, value);
        add_object(c, name, value);
    }
}

/* Some proxies quote what they were sent in a page that says why it failed. A password alone may be
 * a word. */
static void add_proxy(struct collection *c, const char *text)
{
    struct str found[PROXY_N_SECRETS];
    struct url url;

    if (!text || !proxy_parse(&c->arena, text, &url))
        return;
    for (size_t i = proxy_secrets(&c->arena, &url, found); i-- > 1;)
        add(c, S("the proxy's password"), found[i]);
}

static void add_proxies(struct collection *c)
{
    struct proxy_settings own;

    proxy_settings_read(&c->arena, c->environment, &own);
    add_proxy(c, own.http);
    add_proxy(c, own.https);
}

/* --- the settings --- */

/* Is this string a credential, by the name that it stands under and what it stands in? */
static bool is_credential(const struct json *v, struct str in)
{
    if (str_is(in, "headers"))
        return http_header_is_secret(v->key);
    return key_is_secret(v->key) || (str_is(in, "env") && variable_is_secret(v->key));
}

/* A reference is one as well if the variable is called like a credential. */
static void add_string(struct collection *c, const struct json *v, struct str in, struct str path)
{
    struct str name = str_skip(v->text, strlen(ENV_REFERENCE_PREFIX));

    if (!env_is_reference(v->text)) {
        if (is_credential(v, in))
            add(c, path, v->text);
    } else if (is_credential(v, in) || variable_is_secret(name)) {
        add_variable(c, name);
    }
}

static void add_tree(struct collection *c, const struct json *v, struct str in, struct str path)
{
    json_each (child, v) {
        struct str inner = child->key.n == 0 ? path
                           : path.n == 0     ? child->key
                                             : arena_format(&c->arena, "%" STR_FMT ".%" STR_FMT,
                                                            STR_ARG(path), STR_ARG(child->key));

        if (child->type == JSON_STRING) {
            add_string(c, child, in, inner);
            add_url(c, child->text, inner);
        } else {
            add_tree(c, child, child->key, inner);
        }
    }
}

/* Hooks of all files are used, and stand only there. */
static void add_settings(struct collection *c, const struct settings *s)
{
    add_tree(c, settings_root(s), (struct str){0}, (struct str){0});
    for (int l = 0; l < N_LAYERS; l++) {
        struct str file;

        add_tree(c, json_get(settings_layer(s, (enum layer)l, &file), "hooks"), (struct str){0},
                 S("hooks"));
    }
}

/* --- all together --- */

struct secrets *known_secrets(const struct project *p, const char *store)
{
    struct collection c = {.environment = host_environment(p->host)};
    struct str search_key = settings_text(p->settings, "webSearch.keyVariable", &c.arena);
    struct secrets *found;

    add_vendors(&c);
    add_environment(&c);
    add_proxies(&c);
    add_url(&c, env_get(c.environment, S("KEEL_STORE")), S("KEEL_STORE"));
    add_url(&c, str_of(store), S("--store"));
    add_settings(&c, p->settings);
    add_variable(&c, search_key.n ? search_key : S(WEB_BRAVE_KEY_VARIABLE));
    found = secrets_new_growing(c.items, c.n);
    arena_done(&c.arena);
    return found;
}
