/* secret_values.c - prefixes and shapes of credentials. */
#include "base/secret_values.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/name_pattern.h"
#include "base/secret_keys.h"

/* --- keys --- */

static bool is_in_key(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '=' ||
           c == '/';
}

/* Prefixes that vendors give to their keys, and how much must follow. Some could begin a word:
 * these need a digit. */
static const struct {
    struct str prefix;
    size_t n_rest;
    bool needs_digit;
} key_prefixes[] = {
    /* GitHub, GitLab */
    {S("ghp_"), 16},
    {S("gho_"), 16},
    {S("ghu_"), 16},
    {S("ghs_"), 16},
    {S("ghr_"), 16},
    {S("github_pat_"), 16},
    {S("glpat-"), 16},
    {S("gldt-"), 16},
    {S("glrt-"), 16},
    {S("glcbt-"), 16},
    {S("glptt-"), 16},
    {S("glft-"), 16},
    {S("glsoat-"), 16},
    {S("glagent-"), 16},
    {S("gloas-"), 16},
    {S("ATBB"), 24, true}, /* Bitbucket */
    {S("ATCTT"), 20},
    {S("sgp_"), 24},
    /* models */
    {S("sk-"), 20, true},
    {S("hf_"), 20, true},
    {S("gsk_"), 20},
    {S("xai-"), 20, true},
    {S("pplx-"), 20},
    {S("r8_"), 20},
    {S("nvapi-"), 20},
    {S("tvly-"), 16},
    {S("csk-"), 20, true},
    {S("fw_"), 20, true},
    {S("tgp_v1_"), 16},
    {S("jina_"), 24},
    {S("rpa_"), 24, true},
    {S("lsv2_pt_"), 16},
    {S("lsv2_sk_"), 16},
    {S("e2b_"), 24, true},
    {S("AQ."), 24, true}, /* Google, since 2025 */
    {S("apify_api_"), 16},
    /* clouds */
    {S("AKIA"), 16},
    {S("ASIA"), 16},
    {S("AIza"), 30},
    {S("ya29."), 16},
    {S("GOCSPX-"), 16},
    {S("dop_v1_"), 16},
    {S("doo_v1_"), 16},
    {S("hvs."), 16},
    {S("hvb."), 16},
    {S("glsa_"), 16},
    {S("glc_"), 16},
    {S("dp.pt."), 16},
    {S("dp.st."), 16},
    {S("dp.ct."), 16},
    {S("dp.sa."), 16},
    {S("ops_eyJ"), 24}, /* 1Password */
    {S("dapi"), 32, true},
    {S("pul-"), 32, true},
    {S("LTAI"), 12, true},
    {S("HRKU-"), 16},
    {S("rnd_"), 24, true},
    {S("nfp_"), 24},
    {S("pscale_tkn_"), 16},
    {S("pscale_pw_"), 16},
    {S("pscale_oauth_"), 16},
    {S("1//0"), 24}, /* Google, a refresh token */
    {S("tskey-"), 16},
    {S("sbp_"), 16},
    /* packages */
    {S("npm_"), 30, true},
    {S("pypi-"), 30, true},
    {S("rubygems_"), 30},
    {S("dckr_pat_"), 16},
    {S("dckr_oat_"), 16},
    {S("AKCp"), 24}, /* Artifactory */
    {S("cmVmdGtu"), 24},
    {S("oy2"), 40, true}, /* NuGet */
    /* services */
    {S("xoxb-"), 8},
    {S("xoxp-"), 8},
    {S("xoxa-"), 8},
    {S("xoxr-"), 8},
    {S("xoxs-"), 8},
    {S("xoxe-"), 8},
    {S("xoxc-"), 8},
    {S("xoxd-"), 8},
    {S("xoxe."), 8},
    {S("xapp-"), 8},
    {S("sk_live_"), 8},
    {S("sk_test_"), 8},
    {S("rk_live_"), 8},
    {S("rk_test_"), 8},
    {S("whsec_"), 16},
    {S("re_"), 24, true},
    {S("sq0atp-"), 16},
    {S("sq0csp-"), 16},
    {S("sntrys_"), 16},
    {S("sntryu_"), 16},
    {S("phx_"), 24, true},
    {S("sk.eyJ"), 24}, /* Mapbox */
    {S("dt0c01."), 16},
    {S("CCIPAT_"), 16},
    {S("bkua_"), 16},
    {S("CFPAT-"), 16},
    {S("sqp_"), 24},
    {S("squ_"), 24},
    {S("sqa_"), 24},
    {S("lin_oauth_"), 16},
    {S("shpat_"), 16},
    {S("shpss_"), 16},
    {S("shpca_"), 16},
    {S("shppa_"), 16},
    {S("lin_api_"), 16},
    {S("ntn_"), 20},
    {S("figd_"), 16},
    {S("fo1_"), 16},
    {S("fm1r_"), 16},
    {S("fm2_"), 16},
    {S("ATATT"), 20},
    {S("PMAK-"), 16},
    {S("NRAK-"), 16},
    {S("SG."), 30},
    {S("key-"), 32, true},
    {S("AGE-SECRET-KEY-"), 16},
    {S("eyJ"), 24},            /* JSON in base64: a web token, a registry's login */
    {S("LS0tLS1CRUdJTi"), 16}, /* -----BEGIN in base64 */
};

/* A key is alone or after a sign: /opt/sk-learn/bin holds none. */
static bool may_begin_key(struct str value, size_t at)
{
    return at == 0 || strchr(" \t\r\n\"'=:,;([{<", value.p[at - 1]);
}

static struct str key_at(struct str value, size_t at)
{
    struct str rest = str_skip(value, at);

    for (size_t i = 0; i < ARRAY_LEN(key_prefixes); i++) {
        size_t n = key_prefixes[i].prefix.n;
        bool has_digit = false;

        if (!str_starts(rest, key_prefixes[i].prefix))
            continue;
        for (; n < rest.n && is_in_key(rest.p[n]); n++)
            has_digit |= ascii_is_digit(rest.p[n]);
        if ((has_digit || !key_prefixes[i].needs_digit) &&
            n >= key_prefixes[i].prefix.n + key_prefixes[i].n_rest)
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

/* --- addresses --- */

#define MIN_TOKEN_BYTES 16 /* https://TOKEN@host, where a user's name is shorter */

static bool is_port(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return true;
}

static size_t span_without(struct str s, const char *ends)
{
    size_t n = 0;

    while (n < s.n && !strchr(ends, s.p[n]))
        n++;
    return n;
}

#define ADDRESS_ENDS " \t\r\n\"'<>"

/* user:password@host, token@host behind "scheme://". Programs also take a password with a slash, a
 * question mark or a hash sign in it, which should be escaped: then the host comes later. */
static struct str find_in_authority(struct str rest)
{
    struct str address = str_slice(rest, 0, span_without(rest, ADDRESS_ENDS)),
               authority = str_slice(address, 0, span_without(address, "/?#"));
    size_t at = str_rfind_char(authority, '@'), colon = str_find_char(authority, ':');

    if (at == STR_NONE && colon != STR_NONE && !str_starts(authority, S("[")) &&
        !is_port(str_skip(authority, colon + 1)))
        at = str_rfind_char(address, '@');
    if (at == STR_NONE)
        return (struct str){0};
    if (colon == STR_NONE || colon > at)
        return at >= MIN_TOKEN_BYTES ? str_slice(address, 0, at) : (struct str){0};
    return str_slice(address, colon + 1, at - colon - 1);
}

static struct str find_password(struct str value)
{
    struct str rest = value;
    size_t at;

    while ((at = str_find(rest, S("://"))) != STR_NONE) {
        struct str found;

        rest = str_skip(rest, at + 3);
        found = find_in_authority(rest);
        if (found.n)
            return found;
    }
    return (struct str){0};
}

static bool is_in_user(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '%';
}

/* Words before a colon that are not a user: npm:left-pad@1.3.0. */
static bool is_no_user(struct str word)
{
    static const struct str words[] = {S("npm"),  S("jsr"),  S("mailto"), S("git"),  S("github"),
                                       S("sip"),  S("sips"), S("xmpp"),   S("acct"), S("workspace"),
                                       S("link"), S("file"), S("catalog")};

    return word.n == 0 || NAME_IS_IN(word, words) || is_port(word);
}

/* user:password@host without a scheme: root:hunter2@tcp(db:3306)/app, //user:hunter2@host,
 * -u user:hunter2. But not a list of paths, nor image:tag@sha256:... */
static struct str find_bare_password(struct str value)
{
    for (size_t i = 1; i + 1 < value.n; i++) {
        struct str rest = str_skip(value, i + 1), password, host;
        size_t from = i;

        if (value.p[i] != ':')
            continue;
        while (from > 0 && is_in_user(value.p[from - 1]))
            from--;
        if (is_no_user(str_slice(value, from, i - from)) ||
            (from > 0 && !strchr(ADDRESS_ENDS "=,;(\\", value.p[from - 1]) &&
             !str_ends(str_slice(value, 0, from), S("//"))))
            continue;
        password = str_slice(rest, 0, span_without(rest, ADDRESS_ENDS "/:,;"));
        if (str_rfind_char(password, '@') == STR_NONE)
            continue;
        password.n = str_rfind_char(password, '@');
        host = str_skip(rest, password.n + 1);
        if (password.n >= 3 && host.n && !str_starts(host, S("sha256")) &&
            (ascii_is_alnum(host.p[0]) || strchr("[(", host.p[0])))
            return password;
    }
    return (struct str){0};
}

/* jdbc:oracle:thin:user/password@host */
static struct str find_oracle_password(struct str value)
{
    size_t at = str_find(value, S("jdbc:oracle:"));
    struct str rest = at == STR_NONE ? (struct str){0} : str_skip(value, at), user;
    size_t end = str_find_char(rest, '@'), slash;

    if (end == STR_NONE)
        return (struct str){0};
    user = str_slice(rest, 0, end);
    slash = str_find_char(user, '/');
    return slash == STR_NONE ? (struct str){0} : str_skip(user, slash + 1);
}

static bool is_key(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_in_key(s.p[i]))
            return false;
    return true;
}

/* Keys of Telegram's bots (number:token), of Discord's (number in base64.time.token), and of
 * Terraform, which have a mark in the middle. */
static struct str find_shape(struct str value)
{
    static const struct str mark = S(".atlasv1.");
    size_t at = str_find(value, mark), colon = str_find_char(value, ':'),
           dot = str_find_char(value, '.');
    struct str token = str_skip(value, colon == STR_NONE ? value.n : colon + 1),
               rest = str_skip(value, dot == STR_NONE ? value.n : dot + 1);
    size_t second = str_find_char(rest, '.');

    if (at != STR_NONE && at > 0 && at + mark.n + 32 <= value.n)
        return value;
    if (token.n == 35 && is_key(token) && colon >= 8 && is_port(str_slice(value, 0, colon)))
        return value;
    if (value.n && strchr("MNO", value.p[0]) && dot >= 23 && dot <= 28 && second >= 6 &&
        second <= 7 && rest.n - second >= 28 && is_key(value) &&
        str_find_char(str_skip(rest, second + 1), '.') == STR_NONE)
        return value;
    return (struct str){0};
}

/* Addresses that let everybody write who knows them. */
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

/* --- members and headers --- */

/* Members of connection strings, addresses, options, headers and of broken JSON:
 * Password=..., ?access_token=..., --password ..., x-api-key: ..., "token":"..." */
static const struct str member_names[] = {
    S("*password"),  S("*passwd"),      S("*pwd"),     S("*secret"),    S("*token"),
    S("*apikey"),    S("*api_key"),     S("*api-key"), S("*accesskey"), S("*access_key"),
    S("accountkey"), S("*private_key"), S("_auth"),    S("sig"),        S("*signature"),
    S("pass"),       S("*passphrase"),
};
/* After a question mark, if the value is long: ?code=... */
static const struct str query_names[] = {S("key"), S("code"), S("auth")};

enum { MIN_QUERY_BYTES = 12 };

static bool is_in_name(char c)
{
    return ascii_is_alpha(c) || c == '_' || c == '-' || c == '.';
}

/* Where the value of the name that ends at `at` begins, or 0. A colon is a separator at the start
 * of a line, a header or a member; a blank is one after an option and in a netrc file. */
static size_t value_start(struct str value, size_t from, size_t at)
{
    bool is_option = str_starts(str_skip(value, from), S("--")),
         is_first =
             from == 0 || ascii_is_space(value.p[from - 1]) || strchr("\"'{,;", value.p[from - 1]);
    size_t i = at;

    if (i < value.n && strchr("\"'", value.p[i]))
        i++;
    while (i < value.n && ascii_is_space(value.p[i]))
        i++;
    if (i < value.n && (value.p[i] == '=' || (value.p[i] == ':' && is_first)))
        i++;
    else if (i != at + 1 || !(is_option || str_find(value, S("machine ")) != STR_NONE))
        return 0;
    while (i < value.n && (ascii_is_space(value.p[i]) || strchr("\"'", value.p[i])))
        i++;
    return i;
}

static struct str find_member(struct str value)
{
    for (size_t from = 0, end; from < value.n; from = MAX(end, from + 1)) {
        bool is_query = from > 0 && strchr("?&", value.p[from - 1]);
        struct str name, rest;
        size_t start;

        for (end = from; end < value.n && is_in_name(value.p[end]);)
            end++;
        name = str_slice(value, from, end - from);
        while (str_starts(name, S("-"))) /* an option's */
            name = str_skip(name, 1);
        is_query = is_query && NAME_IS_IN(name, query_names);
        if (name.n == 0 || !(is_query || NAME_IS_IN(name, member_names)))
            continue;
        start = value_start(value, from, end);
        rest = start ? str_skip(value, start) : (struct str){0};
        rest.n = span_without(rest, ";&, \t\r\n\"'");
        if (rest.n && (!is_query || rest.n >= MIN_QUERY_BYTES))
            return rest;
    }
    return (struct str){0};
}

/* "Authorization: Bearer ...", "Bearer ..." */
static struct str find_authorization(struct str value)
{
    static const char *const schemes[] = {"Bearer ", "Basic ", "Token "};
    struct str header = S("authorization");

    for (size_t i = 0; i + header.n < value.n; i++)
        if (str_eq_nocase(str_slice(value, i, header.n), header) &&
            strchr(":=", value.p[i + header.n])) {
            struct str rest = str_trim(str_skip(value, i + header.n + 1));

            return rest.n ? rest : str_slice(value, i, header.n + 1);
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

/* A part of the value itself: the tree is freed afterwards. */
static struct str find_in_object(struct str value)
{
    AUTO(arena) struct arena a = {0};
    struct json *tree = NULL;
    struct json_where where;

    struct str text = str_trim(value);

    if ((!str_starts(text, S("{")) && !str_starts(text, S("["))) ||
        !json_parse_at(&a, text, 0, &tree, &where))
        return (struct str){0};
    return find_in_json(tree).n ? value : (struct str){0};
}

/* --- values --- */

struct str value_find_secret(struct str value)
{
    static struct str (*const finders[])(struct str) = {
        find_password,        find_authorization, find_key,     find_member,   find_bare_password,
        find_oracle_password, find_shape,         find_webhook, find_in_object};

    if (str_find(value, S("-----BEGIN")) != STR_NONE)
        return value;
    for (size_t i = 0; i < ARRAY_LEN(finders); i++) {
        struct str found = finders[i](value);

        if (found.n)
            return found;
    }
    return (struct str){0};
}

#define MIN_HINTED_BYTES 8

static bool is_path(struct str value)
{
    return str_starts(value, S("/")) || str_starts(value, S("./")) || str_starts(value, S("../")) ||
           str_starts(value, S("~"));
}

bool value_is_ordinary(struct str value)
{
    bool is_number = true, is_word = true;

    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        is_number &= ascii_is_digit(c) || c == '.' || c == '-';
        is_word &= ascii_is_lower(c) || c == '-' || c == '_';
    }
    return value.n < MIN_HINTED_BYTES || is_number || is_word || is_path(value);
}

bool value_is_random(struct str value)
{
    bool has_letter = false, has_digit = false;

    for (size_t i = 0; i < value.n; i++) {
        has_letter |= ascii_is_alpha(value.p[i]);
        has_digit |= ascii_is_digit(value.p[i]);
    }
    return !is_path(value) && (value.n >= 24 || (value.n >= 12 && has_letter && has_digit));
}
