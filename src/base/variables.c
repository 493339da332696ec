/* variables.c - tables of names and prefixes, and who they are held against. */
#include "base/variables.h"

#include "base/json.h"
#include "base/secret_keys.h"

/* --- names --- */

enum strength {
    STRONG = 1, /* whatever the value */
    HINT,       /* unless the value cannot be a credential */
};

enum place { ANYWHERE, LAST, LAST_OF_MANY };

static const char *const secret_anywhere[] = {"PASSWORD", "PASSWD", "SECRET"};

/* Words of a name, which stand between underscores, next to each other. A star before a word: it
 * may be the end of a longer one. */
static const struct name_rule {
    const char *words[2];
    enum place place;
    enum strength strength;
} name_rules[] = {
    {{"*PASSPHRASE"}, ANYWHERE, STRONG},
    {{"PASS"}, ANYWHERE, STRONG},
    {{"SSHPASS"}, ANYWHERE, STRONG},
    {{"PWD"}, LAST_OF_MANY, STRONG}, /* MYSQL_PWD; alone it is a directory */
    {{"PW"}, LAST_OF_MANY, STRONG},
    {{"*TOKEN"}, ANYWHERE, STRONG}, /* not TOKENS, which are counted */
    {{"*APIKEY"}, ANYWHERE, STRONG},
    {{"API", "KEY"}, ANYWHERE, STRONG},
    {{"ACCESS", "KEY"}, ANYWHERE, STRONG}, /* its id is half of a credential */
    {{"PRIVATE", "KEY"}, ANYWHERE, STRONG},
    {{"KEY"}, LAST, STRONG},
    {{"KEY"}, ANYWHERE, HINT}, /* DEPLOY_KEY_B64, ENCRYPTION_KEY_V2 */
    {{"*CREDENTIAL"}, ANYWHERE, STRONG},
    {{"*CREDENTIALS"}, ANYWHERE, STRONG},
    {{"CREDS"}, ANYWHERE, STRONG},
    {{"*COOKIE"}, ANYWHERE, STRONG},
    {{"COOKIES"}, ANYWHERE, HINT},
    {{"MNEMONIC"}, ANYWHERE, STRONG}, /* of a wallet: ordinary words */
    {{"SEED", "PHRASE"}, ANYWHERE, STRONG},
    {{"RECOVERY", "PHRASE"}, ANYWHERE, STRONG},
    {{"*OTP", "SEED"}, ANYWHERE, STRONG},
    {{"PAT"}, ANYWHERE, HINT}, /* personal access token */
    {{"AUTH"}, ANYWHERE, HINT},
    {{"OAUTH"}, ANYWHERE, HINT},
    {{"OAUTH2"}, ANYWHERE, HINT},
    {{"JWT"}, ANYWHERE, HINT},
    {{"BEARER"}, ANYWHERE, HINT},
    {{"DSN"}, ANYWHERE, HINT}, /* an address with a key in it */
    {{"HEADER"}, LAST, HINT},
    {{"HEADERS"}, LAST, HINT},     /* ANTHROPIC_CUSTOM_HEADERS */
    {{"WEBHOOK"}, ANYWHERE, HINT}, /* who knows the address may post */
    {{"CONNECTION", "STRING"}, ANYWHERE, HINT},
    {{"CONN", "STR"}, ANYWHERE, HINT},
    {{"CONNSTR"}, ANYWHERE, HINT},
    {{"SESSION"}, LAST, HINT},
    {{"SESSION", "ID"}, LAST, HINT},
};

/* Their names hold such a word and mean something else. */
static const char *const plain_names[] = {
    "SSH_AUTH_SOCK",    /* an address */
    "GIT_CONFIG_KEY_*", /* names of git's settings: without one of them git fails */
    "TERM_SESSION_ID",  /* a terminal's window */
    "ITERM_SESSION_ID", "XDG_SESSION_ID", "SHELL_SESSION_ID", "DESKTOP_SESSION", "KDE_FULL_SESSION",
};

/* Nothing runs without them; a value never makes them credentials. */
static const char *const needed_names[] = {"PATH", "HOME",    "PWD",       "SHELL",
                                           "USER", "LOGNAME", "LS_COLORS", "LANG"};

/* Sockets, displays, sessions and files of credentials: programs do better without their addresses
 * than with an error, and must not reach them where the sandbox is off for a moment. */
static const char *const addresses[] = {
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "SUDO_ASKPASS",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "GNOME_KEYRING_CONTROL",
    "KRB5CCNAME",
    "KRB5_KTNAME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "XDG_RUNTIME_DIR",
    "PULSE_SERVER",
    "PIPEWIRE_REMOTE",
    "SWAYSOCK",
    "I3SOCK",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    /* terminals and editors that take commands */
    "TMUX",
    "TMUX_PANE",
    "STY",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "ZELLIJ",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "EMACS_SERVER_FILE",
    "VSCODE_IPC_HOOK",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "VSCODE_GIT_ASKPASS_MAIN",
    "VSCODE_GIT_ASKPASS_NODE",
    "VSCODE_GIT_ASKPASS_EXTRA_ARGS",
    /* machines to work on, and where their keys are */
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "CONTAINER_HOST",
    "KUBECONFIG",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "BOTO_CONFIG",
    "NETRC",
    "PGPASSFILE",
    "PGSERVICEFILE",
};

static const char *const proxies[] = {
    "HTTP_PROXY",         "HTTPS_PROXY", "ALL_PROXY",        "FTP_PROXY",
    "SOCKS_PROXY",        "NO_PROXY",    "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_NOPROXY",
};

static bool is_in(struct str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str other = str_of(names[i]);
        bool is_prefix = str_ends(other, S("*"));

        other.n -= is_prefix;
        if (str_eq_nocase(is_prefix ? str_slice(name, 0, other.n) : name, other))
            return true;
    }
    return false;
}
#define IS_IN(name, list) is_in(name, list, ARRAY_LEN(list))

static bool word_fits(struct str word, const char *wanted)
{
    struct str end = str_of(*wanted == '*' ? wanted + 1 : wanted);

    if (*wanted != '*')
        return str_eq_nocase(word, end);
    return word.n >= end.n && str_eq_nocase(str_skip(word, word.n - end.n), end);
}

static bool rule_fits(const struct name_rule *r, struct str word, struct str before, bool is_last)
{
    if ((r->place != ANYWHERE && !is_last) || (r->place == LAST_OF_MANY && before.n == 0))
        return false;
    if (r->words[1])
        return word_fits(word, r->words[1]) && word_fits(before, r->words[0]);
    return word_fits(word, r->words[0]);
}

static bool contains_nocase(struct str s, struct str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (str_eq_nocase(str_slice(s, i, needle.n), needle))
            return true;
    return false;
}

/* 0: nothing in the name says that it is one. */
static int name_strength(struct str name)
{
    struct str rest = name, word, before = {0};
    int strength = 0;

    if (IS_IN(name, plain_names))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(secret_anywhere); i++)
        if (contains_nocase(name, str_of(secret_anywhere[i])))
            return STRONG;
    if (key_is_secret(name))
        return STRONG;
    while (str_split(&rest, '_', &word)) {
        for (size_t i = 0; i < ARRAY_LEN(name_rules); i++)
            if (rule_fits(&name_rules[i], word, before, /* is_last= */ rest.n == 0) &&
                (strength == 0 || name_rules[i].strength < (enum strength)strength))
                strength = name_rules[i].strength;
        before = word;
    }
    return strength;
}

bool variable_is_secret(struct str name)
{
    return name_strength(name) != 0;
}

/* --- values: what stands in them --- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_in_key(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '+' ||
           c == '=' || c == '/';
}

/* Beginnings that vendors give to their keys, and how much must follow. Some could begin a word:
 * there must be a digit. */
static const struct {
    const char *prefix;
    size_t n_rest;
    bool needs_digit;
} key_prefixes[] = {
    /* GitHub, GitLab */
    {"ghp_", 16},
    {"gho_", 16},
    {"ghu_", 16},
    {"ghs_", 16},
    {"ghr_", 16},
    {"github_pat_", 16},
    {"glpat-", 16},
    {"gldt-", 16},
    {"glrt-", 16},
    {"glcbt-", 16},
    /* models */
    {"sk-", 20, true},
    {"hf_", 20, true},
    {"gsk_", 20},
    {"xai-", 20, true},
    {"pplx-", 20},
    {"r8_", 20},
    {"nvapi-", 20},
    {"tvly-", 16},
    /* clouds */
    {"AKIA", 16},
    {"ASIA", 16},
    {"AIza", 30},
    {"ya29.", 16},
    {"GOCSPX-", 16},
    {"dop_v1_", 16},
    {"doo_v1_", 16},
    {"hvs.", 16},
    {"hvb.", 16},
    {"glsa_", 16},
    {"glc_", 16},
    {"dp.pt.", 16},
    {"tskey-", 16},
    {"sbp_", 16},
    /* packages */
    {"npm_", 30, true},
    {"pypi-", 30, true},
    {"rubygems_", 30},
    {"dckr_pat_", 16},
    /* services */
    {"xoxb-", 8},
    {"xoxp-", 8},
    {"xoxa-", 8},
    {"xoxr-", 8},
    {"xoxs-", 8},
    {"xoxe-", 8},
    {"xoxe.", 8},
    {"xapp-", 8},
    {"sk_live_", 8},
    {"sk_test_", 8},
    {"rk_live_", 8},
    {"whsec_", 16},
    {"shpat_", 16},
    {"shpss_", 16},
    {"lin_api_", 16},
    {"ntn_", 20},
    {"figd_", 16},
    {"fo1_", 16},
    {"fm1r_", 16},
    {"fm2_", 16},
    {"ATATT", 20},
    {"PMAK-", 16},
    {"NRAK-", 16},
    {"SG.", 30},
    {"key-", 32, true},
    {"AGE-SECRET-KEY-", 16},
    {"eyJ", 24},            /* JSON in base64: a web token, a registry's login */
    {"LS0tLS1CRUdJTi", 16}, /* -----BEGIN in base64 */
};

/* A key stands alone or behind a sign: in /opt/sk-learn/bin there is none. */
static bool may_begin_key(struct str value, size_t at)
{
    return at == 0 || strchr(" \t\r\n\"'=:,;([{<", value.p[at - 1]);
}

static struct str key_at(struct str value, size_t at)
{
    struct str rest = str_skip(value, at);

    for (size_t i = 0; i < ARRAY_LEN(key_prefixes); i++) {
        size_t n = strlen(key_prefixes[i].prefix);
        bool has_digit = false;

        if (!str_starts(rest, str_of(key_prefixes[i].prefix)))
            continue;
        for (; n < rest.n && is_in_key(rest.p[n]); n++)
            has_digit |= is_digit(rest.p[n]);
        if ((has_digit || !key_prefixes[i].needs_digit) &&
            n >= strlen(key_prefixes[i].prefix) + key_prefixes[i].n_rest)
            return str_slice(rest, 0, n);
    }
    return (struct str){0};
}

static struct str find_key(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (may_begin_key(value, i)) {
            struct str key = key_at(value, i);

            if (key.n)
                return key;
        }
    return (struct str){0};
}

#define MIN_TOKEN_BYTES 16 /* https://TOKEN@host, where a user's name is shorter */

/* scheme://user:password@host, scheme://token@host */
static struct str find_password(struct str value)
{
    struct str rest = value;
    size_t at;

    while ((at = str_find(rest, S("://"))) != STR_NONE) {
        struct str authority = str_skip(rest, at + 3), user;
        size_t n = 0, end, colon;

        while (n < authority.n && !strchr("/?# \t\r\n\"'<>", authority.p[n]))
            n++;
        end = str_rfind_char(str_slice(authority, 0, n), '@');
        user = end == STR_NONE ? (struct str){0} : str_slice(authority, 0, end);
        colon = str_find_char(user, ':');
        if (colon != STR_NONE && colon + 1 < user.n)
            return str_skip(user, colon + 1);
        if (colon == STR_NONE && user.n >= MIN_TOKEN_BYTES)
            return user;
        rest = authority;
    }
    return (struct str){0};
}

/* Addresses that let anybody write who knows them. */
static struct str find_webhook(struct str value)
{
    static const struct str hooks[] = {S("hooks.slack.com/services/"),
                                       S("discord.com/api/webhooks/"),
                                       S("discordapp.com/api/webhooks/")};

    for (size_t i = 0; i < ARRAY_LEN(hooks); i++) {
        size_t at = str_find(value, hooks[i]);

        if (at != STR_NONE && value.n > at + hooks[i].n + 8)
            return str_skip(value, at + hooks[i].n);
    }
    return (struct str){0};
}

/* Members of connection strings and addresses: Password=..., ?access_token=... */
static const char *const member_names[] = {
    "*password",  "*passwd",      "pwd",      "*secret",    "*token",
    "*apikey",    "*api_key",     "*api-key", "*accesskey", "*access_key",
    "accountkey", "*private_key", "_auth",    "sig",        "*signature",
};

static bool is_member_name(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(member_names); i++)
        if (word_fits(name, member_names[i]))
            return true;
    return false;
}

static struct str find_member(struct str value)
{
    for (size_t i = 0; i < value.n; i++) {
        struct str rest;
        size_t from = i, n = 0;

        if (value.p[i] != '=')
            continue;
        while (from > 0 && (is_letter(value.p[from - 1]) || strchr("_-", value.p[from - 1])))
            from--;
        while (from < i && value.p[from] == '-') /* an option's */
            from++;
        if (!is_member_name(str_slice(value, from, i - from)))
            continue;
        rest = str_skip(value, i + 1);
        while (n < rest.n && !strchr(";&, \t\r\n\"'", rest.p[n]))
            n++;
        if (n)
            return str_slice(rest, 0, n);
    }
    return (struct str){0};
}

/* "Authorization: Bearer ...", "Bearer ..." */
static struct str find_authorization(struct str value)
{
    static const char *const schemes[] = {"Bearer ", "Basic ", "Token "};
    struct str header = S("authorization:");

    for (size_t i = 0; i + header.n <= value.n; i++)
        if (str_eq_nocase(str_slice(value, i, header.n), header)) {
            struct str rest = str_trim(str_skip(value, i + header.n));

            return rest.n ? rest : str_slice(value, i, header.n);
        }
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        struct str scheme = str_of(schemes[i]);

        if (value.n >= scheme.n + 8 && str_eq_nocase(str_slice(value, 0, scheme.n), scheme))
            return str_trim(str_skip(value, scheme.n));
    }
    return (struct str){0};
}

/* {"auths": {"host": {"auth": "..."}}}, a service account's file */
static struct str find_in_json(const struct json *v)
{
    json_each (child, v) {
        struct str found = find_in_json(child);

        if (found.n)
            return found;
        if (child->text.n && child->type == JSON_STRING &&
            (key_is_secret(child->key) || str_is(child->key, "auth")))
            return child->text;
    }
    return (struct str){0};
}

/* A part of the value itself: the tree is gone afterwards. */
static struct str find_in_object(struct str value)
{
    AUTO(arena) struct arena a = {0};
    struct json *tree = NULL;
    struct json_where where;

    if (!str_starts(value, S("{")) || !json_parse_at(&a, value, 0, &tree, &where))
        return (struct str){0};
    return find_in_json(tree).n ? value : (struct str){0};
}

struct str value_find_secret(struct str value)
{
    static struct str (*const finders[])(struct str) = {
        find_password, find_authorization, find_key, find_member, find_webhook, find_in_object};

    if (str_find(value, S("-----BEGIN")) != STR_NONE)
        return value;
    for (size_t i = 0; i < ARRAY_LEN(finders); i++) {
        struct str found = finders[i](value);

        if (found.n)
            return found;
    }
    return (struct str){0};
}

/* --- values: what they look like --- */

#define MIN_HINTED_BYTES 8

static bool is_path(struct str value)
{
    return str_starts(value, S("/")) || str_starts(value, S("./")) || str_starts(value, S("../")) ||
           str_starts(value, S("~"));
}

/* Under a name that is only a hint: a number, a switch, a path, a word. */
static bool is_ordinary(struct str value)
{
    bool is_number = true, is_word = true;

    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        is_number &= is_digit(c) || c == '.' || c == '-';
        is_word &= (c >= 'a' && c <= 'z') || c == '-' || c == '_';
    }
    return value.n < MIN_HINTED_BYTES || is_number || is_word || is_path(value);
}

bool value_is_random(struct str value)
{
    bool has_letter = false, has_digit = false;

    for (size_t i = 0; i < value.n; i++) {
        has_letter |= is_letter(value.p[i]);
        has_digit |= is_digit(value.p[i]);
    }
    return !is_path(value) && (value.n >= 24 || (value.n >= 12 && has_letter && has_digit));
}

/* --- together --- */

enum variable_kind variable_kind(struct str name, struct str value)
{
    int strength;

    if (IS_IN(name, needed_names))
        return VARIABLE_PLAIN;
    strength = name_strength(name);
    if (strength == STRONG || (strength == HINT && !is_ordinary(value)) ||
        value_find_secret(value).n)
        return VARIABLE_SECRET;
    if (IS_IN(name, addresses))
        return VARIABLE_ADDRESS;
    return IS_IN(name, proxies) ? VARIABLE_PROXY : VARIABLE_PLAIN;
}
