/* variables.c - tables of names. */
#include "base/variables.h"

#include "base/name_pattern.h"
#include "base/secret_keys.h"
#include "base/secret_values.h"

enum strength {
    STRONG = 1, /* whatever the value */
    HINT,       /* unless the value cannot be a credential */
};

enum word_place { ANYWHERE, LAST, LAST_OF_MANY };

static const struct str secret_anywhere[] = {S("PASSWORD"), S("PASSWD"), S("SECRET")};

/* Words of a name, which are between underscores, next to each other. A star before a word: it may
 * be the end of a longer one. */
static const struct name_rule {
    struct str words[2];
    enum word_place place;
    enum strength strength;
} name_rules[] = {
    {{S("*PASSPHRASE")}, ANYWHERE, STRONG},
    {{S("PASS")}, ANYWHERE, STRONG},
    {{S("SSHPASS")}, ANYWHERE, STRONG},
    {{S("PWD")}, LAST_OF_MANY, STRONG}, /* MYSQL_PWD; alone it is a directory */
    {{S("PW")}, LAST_OF_MANY, STRONG},
    {{S("*TOKEN")}, ANYWHERE, STRONG}, /* not TOKENS, which are counted */
    {{S("*APIKEY")}, ANYWHERE, STRONG},
    {{S("API"), S("KEY")}, ANYWHERE, STRONG},
    {{S("ACCESS"), S("KEY")}, ANYWHERE, STRONG}, /* its id is half of a credential */
    {{S("PRIVATE"), S("KEY")}, ANYWHERE, STRONG},
    {{S("KEY")}, LAST, STRONG},
    {{S("KEY")}, ANYWHERE, HINT}, /* DEPLOY_KEY_B64, ENCRYPTION_KEY_V2 */
    {{S("*CREDENTIAL")}, ANYWHERE, STRONG},
    {{S("*CREDENTIALS")}, ANYWHERE, STRONG},
    {{S("CREDS")}, ANYWHERE, STRONG},
    {{S("*COOKIE")}, ANYWHERE, STRONG},
    {{S("COOKIES")}, ANYWHERE, HINT},
    {{S("MNEMONIC")}, ANYWHERE, STRONG}, /* of a wallet: ordinary words */
    {{S("SEED"), S("PHRASE")}, ANYWHERE, STRONG},
    {{S("RECOVERY"), S("PHRASE")}, ANYWHERE, STRONG},
    {{S("*OTP"), S("SEED")}, ANYWHERE, STRONG},
    {{S("PAT")}, ANYWHERE, HINT}, /* personal access token */
    {{S("AUTH")}, ANYWHERE, HINT},
    {{S("OAUTH")}, ANYWHERE, HINT},
    {{S("OAUTH2")}, ANYWHERE, HINT},
    {{S("JWT")}, ANYWHERE, HINT},
    {{S("BEARER")}, ANYWHERE, HINT},
    {{S("DSN")}, ANYWHERE, HINT}, /* an address with a key in it */
    {{S("HEADER")}, LAST, HINT},
    {{S("HEADERS")}, LAST, HINT},     /* ANTHROPIC_CUSTOM_HEADERS */
    {{S("WEBHOOK")}, ANYWHERE, HINT}, /* its address lets anybody post */
    {{S("CONNECTION"), S("STRING")}, ANYWHERE, HINT},
    {{S("CONN"), S("STR")}, ANYWHERE, HINT},
    {{S("CONNSTR")}, ANYWHERE, HINT},
    {{S("SESSION")}, LAST, HINT},
    {{S("SESSION"), S("ID")}, LAST, HINT},
};

/* These names hold such a word and mean something else. */
static const struct str plain_names[] = {
    S("SSH_AUTH_SOCK"),    /* an address */
    S("GIT_CONFIG_KEY_*"), /* names of git's settings: git fails if one is missing */
    S("TERM_SESSION_ID"),  /* a terminal's window */
    S("ITERM_SESSION_ID"), S("XDG_SESSION_ID"),   S("SHELL_SESSION_ID"),
    S("DESKTOP_SESSION"),  S("KDE_FULL_SESSION"),
};

/* Nothing runs without them; no value makes them credentials. */
static const struct str needed_names[] = {S("PATH"), S("HOME"),    S("PWD"),       S("SHELL"),
                                          S("USER"), S("LOGNAME"), S("LS_COLORS"), S("LANG")};

/* Sockets, displays, sessions and files of credentials: programs fare better without these
 * addresses than with an error, and must not reach them while the sandbox is off for a moment. */
static const struct str addresses[] = {
    S("SSH_AUTH_SOCK"),
    S("SSH_AGENT_PID"),
    S("SSH_ASKPASS"),
    S("GIT_ASKPASS"),
    S("SUDO_ASKPASS"),
    S("GPG_AGENT_INFO"),
    S("GPG_TTY"),
    S("GNOME_KEYRING_CONTROL"),
    S("KRB5CCNAME"),
    S("KRB5_KTNAME"),
    S("DBUS_SESSION_BUS_ADDRESS"),
    S("DBUS_SYSTEM_BUS_ADDRESS"),
    S("DBUS_STARTER_ADDRESS"),
    S("DISPLAY"),
    S("WAYLAND_DISPLAY"),
    S("WAYLAND_SOCKET"),
    S("XAUTHORITY"),
    S("ICEAUTHORITY"),
    S("XDG_RUNTIME_DIR"),
    S("PULSE_SERVER"),
    S("PIPEWIRE_REMOTE"),
    S("SWAYSOCK"),
    S("I3SOCK"),
    S("NOTIFY_SOCKET"),
    S("LISTEN_FDS"),
    S("LISTEN_PID"),
    S("LISTEN_FDNAMES"),
    /* terminals and editors that accept commands */
    S("TMUX"),
    S("TMUX_PANE"),
    S("STY"),
    S("KITTY_LISTEN_ON"),
    S("WEZTERM_UNIX_SOCKET"),
    S("ZELLIJ"),
    S("NVIM"),
    S("NVIM_LISTEN_ADDRESS"),
    S("EMACS_SERVER_FILE"),
    S("VSCODE_IPC_HOOK"),
    S("VSCODE_IPC_HOOK_CLI"),
    S("VSCODE_GIT_IPC_HANDLE"),
    S("VSCODE_GIT_ASKPASS_MAIN"),
    S("VSCODE_GIT_ASKPASS_NODE"),
    S("VSCODE_GIT_ASKPASS_EXTRA_ARGS"),
    /* machines to work on, and the places of their keys */
    S("DOCKER_HOST"),
    S("DOCKER_CONFIG"),
    S("DOCKER_CERT_PATH"),
    S("CONTAINER_HOST"),
    S("KUBECONFIG"),
    S("AWS_SHARED_CREDENTIALS_FILE"),
    S("AWS_CONFIG_FILE"),
    S("AZURE_CONFIG_DIR"),
    S("CLOUDSDK_CONFIG"),
    S("BOTO_CONFIG"),
    S("NETRC"),
    S("PGPASSFILE"),
    S("PGSERVICEFILE"),
};

static const struct str proxies[] = {
    S("HTTP_PROXY"),         S("HTTPS_PROXY"), S("ALL_PROXY"),        S("FTP_PROXY"),
    S("SOCKS_PROXY"),        S("NO_PROXY"),    S("NPM_CONFIG_PROXY"), S("NPM_CONFIG_HTTPS_PROXY"),
    S("NPM_CONFIG_NOPROXY"),
};

static bool rule_fits(const struct name_rule *r, struct str word, struct str before, bool is_last)
{
    if ((r->place != ANYWHERE && !is_last) || (r->place == LAST_OF_MANY && before.n == 0))
        return false;
    if (r->words[1].n)
        return name_matches(word, r->words[1]) && name_matches(before, r->words[0]);
    return name_matches(word, r->words[0]);
}

static bool contains_nocase(struct str s, struct str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (str_eq_nocase(str_slice(s, i, needle.n), needle))
            return true;
    return false;
}

/* 0: nothing in the name hints at a credential. */
static int name_strength(struct str name)
{
    struct str rest = name, word, before = {0};
    int strength = 0;

    if (NAME_IS_IN(name, plain_names))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(secret_anywhere); i++)
        if (contains_nocase(name, secret_anywhere[i]))
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

enum variable_kind variable_kind(struct str name, struct str value)
{
    int strength;

    if (NAME_IS_IN(name, needed_names))
        return VARIABLE_PLAIN;
    strength = name_strength(name);
    if (strength == STRONG || (strength == HINT && !value_is_ordinary(value)) ||
        value_find_secret(value).n)
        return VARIABLE_SECRET;
    if (NAME_IS_IN(name, addresses))
        return VARIABLE_ADDRESS;
    return NAME_IS_IN(name, proxies) ? VARIABLE_PROXY : VARIABLE_PLAIN;
}
