/* refusal.c - recognises refusals by what programs say, and names what works instead. */
#include "sandbox/refusal.h"

#include <string.h>

enum refusal {
    REFUSAL_NONE,
    REFUSAL_DOCKER,
    REFUSAL_PROTECTED,
    REFUSAL_NETWORK,
    REFUSAL_PLACE,
    REFUSAL_CALL, /* of the kernel */
    REFUSAL_ACCESS,
    N_REFUSALS,
};

/* --- what programs say --- */

/* The first that is found counts. */
static const struct {
    const char *phrase;
    enum refusal refusal;
} phrases[] = {
    {"docker.sock", REFUSAL_DOCKER},
    {"Cannot connect to the Docker daemon", REFUSAL_DOCKER},
    {"could not write config file", REFUSAL_PROTECTED}, /* git */
    {"could not lock config file", REFUSAL_PROTECTED},
    {"Device or resource busy", REFUSAL_PROTECTED}, /* EBUSY: a mount point cannot be replaced */
    {"Could not resolve host", REFUSAL_NETWORK},    /* curl, git, cargo, ssh */
    {"Temporary failure in name resolution", REFUSAL_NETWORK}, /* EAI_AGAIN */
    {"Temporary failure resolving", REFUSAL_NETWORK},          /* apt */
    {"Name or service not known", REFUSAL_NETWORK},            /* EAI_NONAME */
    {"unable to resolve host address", REFUSAL_NETWORK},       /* wget */
    {"EAI_AGAIN", REFUSAL_NETWORK},                            /* node */
    {"getaddrinfo ENOTFOUND", REFUSAL_NETWORK},
    {"no such host", REFUSAL_NETWORK}, /* go */
    {"dial udp", REFUSAL_NETWORK},
    {"dns error", REFUSAL_NETWORK}, /* rust */
    {"Network is unreachable", REFUSAL_NETWORK},
    {"network is unreachable", REFUSAL_NETWORK},
    {"ENETUNREACH", REFUSAL_NETWORK},
    {"UnknownHostException", REFUSAL_NETWORK}, /* java */
    {"Read-only file system", REFUSAL_PLACE},
    {"read-only file system", REFUSAL_PLACE},
    {"EROFS", REFUSAL_PLACE},
    {"Operation not permitted", REFUSAL_CALL},
    {"operation not permitted", REFUSAL_CALL},
    {"Permission denied", REFUSAL_ACCESS},
    {"permission denied", REFUSAL_ACCESS},
};

/* Programs that ask a server, and say nothing while they wait for a name to be found. */
static const char *const askers[] = {
    "npm",        "npx",      "yarn",     "pnpm",  "bun",      "pip",           "pip3",
    "uv",         "poetry",   "curl",     "wget",  "cargo",    "go get",        "go mod",
    "go install", "apt",      "apt-get",  "brew",  "gem",      "bundle",        "mvn",
    "gradle",     "ssh",      "scp",      "rsync", "dotnet",   "conda",         "git clone",
    "git fetch",  "git pull", "git push", "gh",    "composer", "git submodule",
};

/* At either end: what a program gives up with stands there. */
#define LOOKED_AT ((size_t)64 << 10)

static bool says(struct str output, const char *phrase)
{
    struct str head = str_slice(output, 0, LOOKED_AT);
    struct str tail = output.n > LOOKED_AT ? str_skip(output, output.n - LOOKED_AT) : head;

    return str_find(head, str_of(phrase)) != STR_NONE ||
           (tail.p != head.p && str_find(tail, str_of(phrase)) != STR_NONE);
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

static bool has_word(struct str text, struct str word)
{
    size_t at = 0, n;

    while ((n = str_find(str_skip(text, at), word)) != STR_NONE) {
        size_t start = at + n, end = start + word.n;

        if ((start == 0 || !is_word_char(text.p[start - 1])) &&
            (end == text.n || !is_word_char(text.p[end])))
            return true;
        at = start + 1;
    }
    return false;
}

static const char *find_asker(struct str command)
{
    for (size_t i = 0; i < ARRAY_LEN(askers); i++)
        if (has_word(command, str_of(askers[i])))
            return askers[i];
    return NULL;
}

/* `pip install x | tail` succeeds though pip does not; `grep refused log` fails nowhere. */
static bool may_hide_failure(struct str command)
{
    for (size_t i = 0; i < command.n; i++)
        if (strchr("|;&\n", command.p[i]))
            return true;
    return false;
}

static bool has_no_network(const struct sandbox *s)
{
    return s->policy.network != SANDBOX_NETWORK;
}

static bool can_be(const struct sandbox *s, enum refusal r)
{
    if (r == REFUSAL_NETWORK)
        return has_no_network(s);
    if (r == REFUSAL_ACCESS)
        return s->way == SANDBOX_WITHOUT_NAMESPACES;
    return true;
}

static enum refusal find_refusal(const struct sandbox *s, const struct command_ending *e)
{
    if (!e->failed && !e->timed_out && !may_hide_failure(e->command))
        return REFUSAL_NONE;
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        if (can_be(s, phrases[i].refusal) && says(e->output, phrases[i].phrase))
            return phrases[i].refusal;
    return REFUSAL_NONE;
}

/* --- in words --- */

static void add_places(const struct sandbox_policy *p, struct strbuf *out)
{
    if (p->workspace_is_read_only)
        strbuf_add_cstr(out, "commands write only in $TMPDIR");
    else
        strbuf_addf(out, "commands write only below %s and in $TMPDIR", p->workspace);
    if (p->tmp_dir)
        strbuf_addf(out, " (%s)", p->tmp_dir);
    for (size_t i = 0; i < p->n_writable; i++)
        strbuf_addf(out, "%s%s", i ? ", " : ", and in ", p->writable[i]);
    strbuf_add_cstr(out, ". Put temporary files into \"$TMPDIR\", not into /tmp");
}

static void add_network(const struct sandbox_policy *p, struct strbuf *out)
{
    strbuf_add_cstr(out, p->network == SANDBOX_PROXY_ONLY
                             ? "commands reach only the hosts that the person has allowed"
                             : "commands have no network");
    strbuf_add_cstr(out, ". Neither trying again nor a longer timeout helps. Use what is "
                         "installed, or tell the person which host you need: network.allow in "
                         "~/.keel/settings.json allows it");
}

static void add_in_full(const struct sandbox *s, enum refusal r, struct strbuf *out)
{
    switch (r) {
    case REFUSAL_NETWORK:
        add_network(&s->policy, out);
        break;
    case REFUSAL_PLACE:
        add_places(&s->policy, out);
        break;
    case REFUSAL_PROTECTED:
        strbuf_add_cstr(out, "it protects .git/config, hooks and other files that git or an editor "
                             "obeys, and the directories above them; no lock is in the way, and "
                             "trying again does not help. For one command use git -c NAME=VALUE. "
                             "What must be stored (git config, remote add, submodule update "
                             "--init, --set-upstream-to), ask the person to run");
        break;
    case REFUSAL_DOCKER:
        strbuf_add_cstr(out, "commands reach no socket of the system, so no Docker daemon. Tell "
                             "the person what to run");
        break;
    case REFUSAL_CALL:
    case REFUSAL_ACCESS:
        if (s->way == SANDBOX_WITHOUT_NAMESPACES)
            strbuf_add_cstr(out, sandbox_advice(s));
        else
            strbuf_add_cstr(out, "commands make no named Unix sockets (a server on 127.0.0.1 "
                                 "works), no mounts and no devices, change no owners, and trace "
                                 "or signal nothing outside");
        break;
    case REFUSAL_NONE:
    case N_REFUSALS:
        break;
    }
}

static const char *const briefly[N_REFUSALS] = {
    [REFUSAL_DOCKER] = "no socket of the system can be reached",
    [REFUSAL_PROTECTED] = "the file is protected, and trying again does not help",
    [REFUSAL_NETWORK] = "there is no network for this, and a longer timeout does not help",
    [REFUSAL_PLACE] = "write below the workspace or in \"$TMPDIR\"",
    [REFUSAL_CALL] = "not everything may be asked of the kernel there",
    [REFUSAL_ACCESS] = "not everything can be read, written or changed there",
};

/* Other causes are possible for what the kernel refuses without the sandbox, too. */
static bool is_sure(enum refusal r)
{
    return r != REFUSAL_CALL && r != REFUSAL_ACCESS;
}

static void add_refusal(const struct sandbox *s, enum refusal r, unsigned *told, struct strbuf *out)
{
    strbuf_addf(out, "The sandbox %s this: ", is_sure(r) ? "caused" : "may have caused");
    if (*told & 1u << r)
        strbuf_add_cstr(out, briefly[r]);
    else
        add_in_full(s, r, out);
    *told |= 1u << r;
    if (out->p[out->n - 1] != '.')
        strbuf_add_char(out, '.');
}

/* --- hidden files --- */

#define MAX_NAMED 3
#define SHORT_OUTPUT                                                                               \
    ((size_t)200) /* of a success: a hidden directory is listed as an empty one                    \
                   */

/* As the workspace, the home or the root have it. */
static bool names(const struct sandbox_policy *p, struct str command, struct str path)
{
    const char *tops[] = {p->workspace, p->home};

    if (has_word(command, path))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
        struct str top = str_of(tops[i]);

        if (top.n > 1 && str_starts(path, top) && path.n > top.n + 1 && path.p[top.n] == '/' &&
            has_word(command, str_skip(path, top.n + 1)))
            return true;
    }
    return false;
}

/* Credentials may be hidden a second time, as what not everybody may read. */
static bool is_repeated(const struct sandbox_policy *p, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(p->hidden[i], p->hidden[at]) == 0)
            return true;
    return false;
}

/* An empty directory and a hidden one look the same. */
bool sandbox_name_hidden(const struct sandbox *s, const struct command_ending *e,
                         struct strbuf *out)
{
    const struct sandbox_policy *p = &s->policy;
    size_t n = 0;

    if (!e->failed && e->output.n > SHORT_OUTPUT)
        return false;
    for (size_t i = 0; i < p->n_hidden && n < MAX_NAMED; i++)
        if (names(p, e->command, str_of(p->hidden[i])) && !is_repeated(p, i))
            strbuf_addf(out, "%s%s",
                        n++ ? ", "
                            : "Hidden from commands by a rule, and so neither "
                              "empty nor missing: ",
                        p->hidden[i]);
    if (n)
        strbuf_add_cstr(out, ". No other command or tool shows it.");
    return n > 0;
}

/* Nothing was said, and perhaps it was busy. */
static void add_wait(const struct sandbox *s, const struct command_ending *e, struct strbuf *out)
{
    const char *asker = e->timed_out && has_no_network(s) ? find_asker(e->command) : NULL;

    if (asker)
        strbuf_addf(out,
                    "If %s waited for the network: %s, and a longer timeout does not help. Use "
                    "what is installed, or tell the person which host you need.",
                    asker,
                    s->policy.network == SANDBOX_PROXY_ONLY
                        ? "commands reach only hosts that the person has allowed"
                        : "commands in the sandbox have none");
}

void sandbox_explain(const struct sandbox *s, const struct command_ending *e, unsigned *told,
                     struct strbuf *out)
{
    enum refusal r;

    if (sandbox_name_hidden(s, e, out))
        return;
    r = find_refusal(s, e);
    if (r != REFUSAL_NONE)
        add_refusal(s, r, told, out);
    else
        add_wait(s, e, out);
}
