/* credentials.c - finds the key of a provider, and keeps what was costly to get. */
#include "config/credentials.h"

#include "config/key_command.h"
#include "config/login.h"
#include "sys/loop.h"

#include <unistd.h>

#define EXPIRY_MARGIN_MS                                                                           \
    300000 /* so long an answer may take to begin, clocks being a bit wrong                        \
            */

struct kept_key {
    struct kept_key *next;
    struct secret key;
    int64_t expires_unix_ms; /* 0: when it is refused */
    size_t n_name;
    char provider[];
};

static struct kept_key *find_kept(const struct profile_credentials *c, struct str provider)
{
    struct kept_key *k = c->kept;

    while (k && !str_eq(str_make(k->provider, k->n_name), provider))
        k = k->next;
    return k;
}

static bool is_fresh(const struct kept_key *k, int64_t unix_now_ms)
{
    return k && k->key.n &&
           (!k->expires_unix_ms || unix_now_ms < k->expires_unix_ms - EXPIRY_MARGIN_MS);
}

static void keep(struct profile_credentials *c, struct str provider, const struct login *l)
{
    struct kept_key *k = find_kept(c, provider);

    if (!k) {
        k = mem_alloc(sizeof *k + provider.n);
        memcpy(k->provider, provider.p, provider.n);
        k->n_name = provider.n;
        k->next = c->kept;
        c->kept = k;
    }
    secret_copy(&k->key, &l->key);
    k->expires_unix_ms = l->expires_unix_ms;
}

/* --- fetching --- */

/* The first line: some print more, or a line end. */
static struct err *run_helper(const struct key_place *place, struct login *l)
{
    AUTO(strbuf) struct strbuf output = {0};
    AUTO_FREE char *name = str_dup(place->name);
    struct str rest, line = {0};

    TRY(key_command_run(
        &(struct key_command){.name = name, .line = place->text, .environment = l->environment},
        &output));
    rest = str_trim(strbuf_str(&output));
    str_split(&rest, '\n', &line);
    secret_set(&l->key, str_trim(line));
    secrets_learn(l->secrets, &(struct secret_value){place->name, str_trim(line)});
    mem_wipe(output.p, output.n);
    return NULL;
}

static struct err *fetch_key(const struct key_place *place, struct login *l)
{
    switch (place->kind) {
    case KEY_BY_HELPER:
        return run_helper(place, l);
    case KEY_BY_AWS:
        return login_aws(l);
    case KEY_BY_GOOGLE:
        return login_google(l);
    default:
        BUG("a key that nothing has to fetch");
    }
}

static bool is_same(const struct secret *a, const struct secret *b)
{
    return str_eq(str_make(a->p, a->n), str_make(b->p, b->n)) &&
           str_eq(str_of(a->session), str_of(b->session));
}

static struct err *not_renewed(struct str provider)
{
    return err_new(ERR_PROVIDER_AUTH, "cannot renew the key of %" STR_FMT, STR_ARG(provider));
}

static struct err *get_fetched(struct profile_credentials *c, const struct key_place *place,
                               struct str provider, bool refresh, struct secret *ret_secret)
{
    struct kept_key *kept = find_kept(c, provider);
    struct login l = {
        .environment = c->environment,
        .profile = json_get_str(json_get(settings_root(c->settings), "providers"), provider),
        .secrets = c->secrets,
        .unix_now_ms = clock_unix_ms(loop_clock(task_loop())),
    };
    struct err *e = NULL;

    if (!refresh && is_fresh(kept, l.unix_now_ms)) {
        secret_copy(ret_secret, &kept->key);
        return NULL;
    }
    if (c->http)
        TRY(c->http->get(c->http->self, &l.http));
    e = fetch_key(place, &l);
    if (!e && refresh && kept && is_same(&kept->key, &l.key))
        e = not_renewed(provider);
    if (!e) {
        keep(c, provider, &l);
        secret_copy(ret_secret, &l.key);
    }
    secret_done(&l.key);
    return e;
}

/* --- the port --- */

static struct err *get_credential(void *self, struct str provider, bool refresh,
                                  struct secret *ret_secret)
{
    struct profile_credentials *c = self;
    AUTO(arena) struct arena a = {0};
    struct key_place place =
        key_place_find(c->settings, c->environment, provider,
                       profile_vendor(c->settings, c->environment, provider), AUTH_BEARER, &a);

    if (place.kind >= KEY_BY_HELPER)
        return get_fetched(c, &place, provider, refresh, ret_secret);
    if (refresh)
        return not_renewed(provider);
    if (place.kind == KEY_IN_VARIABLE)
        secret_set(ret_secret, env_get(c->environment, place.text));
    else if (place.kind == KEY_IN_SETTINGS)
        secret_set(ret_secret, env_is_reference(place.text)
                                   ? env_resolve(place.text, c->environment)
                                   : place.text);
    return NULL;
}

void profile_credentials_learn(struct profile_credentials *c, struct str provider)
{
    AUTO(arena) struct arena a = {0};
    AUTO(secret) struct secret key = {0};
    struct key_place place =
        key_place_find(c->settings, c->environment, provider,
                       profile_vendor(c->settings, c->environment, provider), AUTH_BEARER, &a);

    if (place.kind >= KEY_BY_HELPER)
        err_ignore(get_credential(c, provider, /* refresh= */ false, &key),
                   "the provider is asked next, and reports it");
}

void profile_credentials_init(struct profile_credentials *c, const struct settings *settings,
                              const char *const *environment)
{
    *c = (struct profile_credentials){
        .port = {.get = get_credential, .self = c},
        .settings = settings,
        .environment = environment ? environment : (const char *const *)environ,
    };
}

void profile_credentials_done(struct profile_credentials *c)
{
    for (struct kept_key *k = c->kept, *next; k; k = next) {
        next = k->next;
        secret_done(&k->key);
        mem_free(k);
    }
    c->kept = NULL;
}
