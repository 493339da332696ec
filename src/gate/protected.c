/* protected.c - names of files that tools do not write, wherever they lie.
 *
 * What others execute or trust when they find it, and what opens doors. Case is ignored: on some
 * file systems it does not count. Files that only look like these lose nothing but a tool's
 * convenience; a person can still change them. */
#include "gate/hard_policy.h"

/* Directories, with all below them, or files. */
static const char *const names[] = {
    /* what git, ssh, gpg, keel and its like read, and run what it names */
    ".git",
    ".ssh",
    ".gnupg",
    ".keel",
    ".claude",
    ".robota",
    ".mcp.json",
    ".gitconfig",
    /* what shells and direnv run */
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".profile",
    ".tcshrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    /* credentials */
    ".env",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
};

/* Files of keys. */
static const char *const endings[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"};

/* Of dotenv files that hold no values. */
static const char *const samples[] = {".example", ".sample", ".template", ".dist"};

static bool ends_nocase(struct str name, const char *ending)
{
    size_t n = strlen(ending);

    return name.n > n && str_eq_nocase(str_skip(name, name.n - n), str_of(ending));
}

static bool has_ending(struct str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ends_nocase(name, list[i]))
            return true;
    return false;
}

static bool is_dotenv(struct str name)
{
    return name.n > 5 && str_eq_nocase(str_slice(name, 0, 5), S(".env.")) &&
           !has_ending(name, samples, ARRAY_LEN(samples));
}

static bool is_protected(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, str_of(names[i])))
            return true;
    return is_dotenv(name) || has_ending(name, endings, ARRAY_LEN(endings));
}

struct str protected_name(const char *path, const char *root)
{
    struct str rest = str_skip(str_of(path), strlen(root)), name;

    while (str_split(&rest, '/', &name))
        if (is_protected(name))
            return name;
    return (struct str){0};
}
