/* refusal.c - recognises refusals by what programs say, and names what works instead. */
#include "sandbox/refusal.h"

#include "sandbox/plan/plan.h"
#include "sys/fs.h"

#include <string.h>
#include <unistd.h>

enum refusal {
    REFUSAL_NONE,
    REFUSAL_DOCKER,
    REFUSAL_PROTECTED,
    REFUSAL_NETWORK,
    REFUSAL_PLACE,
    REFUSAL_CALL, /* of the kernel */
    REFUSAL_ACCESS,
    REFUSAL_TMP, /* a path of the system's /tmp */
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
    {"UnknownHostException", REFUSAL_NETWORK},               /* java */
    {"No matching distribution found for", REFUSAL_NETWORK}, /* pip, when it has given up */
    {"npm error network", REFUSAL_NETWORK},
    {"Unable to fetch some archives", REFUSAL_NETWORK}, /* apt */
    {"are you root?", REFUSAL_PLACE},                   /* apt, dpkg, about a lock file */
    {"Read-only file system", REFUSAL_PLACE},
    {"read-only file system", REFUSAL_PLACE},
    {"EROFS", REFUSAL_PLACE},
    {"failed mount system call", REFUSAL_CALL}, /* mount, after "permission denied" */
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

/* git calls it a success when it could not note what it has done. */
static bool is_unnoted(const struct command_ending *e)
{
    return has_word(e->command, S("git")) &&
           (says(e->output, "error: could not write config file") ||
            says(e->output, "error: could not lock config file"));
}

static enum refusal find_refusal(const struct sandbox *s, const struct command_ending *e)
{
    if (!e->failed && !e->timed_out && !may_hide_failure(e->command))
        return is_unnoted(e) ? REFUSAL_PROTECTED : REFUSAL_NONE;
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        if (can_be(s, phrases[i].refusal) && says(e->output, phrases[i].phrase))
            return phrases[i].refusal;
    return REFUSAL_NONE;
}

/* --- in words --- */

static void add_places(const struct sandbox_policy *p, struct strbuf *out)
{
    if (p->workspace_is_read_only)
        strbuf_add_cstr(out, "commands can write only in $TMPDIR");
    else
        strbuf_addf(out, "commands can write only below %s and in $TMPDIR", p->workspace);
    if (p->tmp_dir)
        strbuf_addf(out, " (%s)", p->tmp_dir);
    for (size_t i = 0; i < p->n_writable; i++)
        strbuf_addf(out, "%s%s", i ? ", " : ", and in ", p->writable[i]);
    strbuf_add_cstr(out, ". Put temporary files into \"$TMPDIR\", not into /tmp");
}

static void add_network(const struct sandbox_policy *p, struct strbuf *out)
{
    strbuf_add_cstr(out, p->network == SANDBOX_PROXY_ONLY
                             ? "commands can reach only the hosts that the person has allowed"
                             : "commands have no network");
    strbuf_add_cstr(out, ". Neither trying again nor a longer timeout helps. Use what is "
                         "installed, or tell the person which host you need: network.allow in "
                         "~/.keel/settings.json allows it");
}

/* Rules grant such a directory entry by entry. */
static bool holds_hidden(const struct sandbox_policy *p, const char *directory)
{
    for (size_t i = 0; i < p->n_hidden; i++)
        if (path_is_in(p->hidden[i], directory) && strcmp(p->hidden[i], directory) != 0)
            return true;
    return false;
}

static void add_without_namespaces(const struct sandbox *s, struct strbuf *out)
{
    const struct sandbox_policy *p = &s->policy;

    if (!p->workspace_is_read_only && holds_hidden(p, p->workspace))
        strbuf_addf(out,
                    "%s contains files that are hidden from commands, so commands make nothing new "
                    "in it; they work in its subdirectories and in $TMPDIR. ",
                    p->workspace);
    strbuf_add_cstr(out, sandbox_advice(s));
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
        strbuf_add_cstr(out, "it protects .git/config, hooks, other files that git or an editor "
                             "obeys or a rule closes, and the directories above them; no lock is "
                             "in the way, and trying again does not help. For one command use git "
                             "-c NAME=VALUE. Ask the person to run what must be stored: git "
                             "config, remote add, submodule update --init, worktree add, "
                             "--set-upstream-to");
        break;
    case REFUSAL_DOCKER:
        strbuf_add_cstr(out, "commands cannot reach sockets of the system, such as the Docker "
                             "daemon's. Tell the person what to run");
        break;
    case REFUSAL_CALL:
    case REFUSAL_ACCESS:
        if (s->way == SANDBOX_WITHOUT_NAMESPACES)
            add_without_namespaces(s, out);
        else
            strbuf_add_cstr(out, "commands cannot create named Unix sockets (a server on 127.0.0.1 "
                                 "works), mounts or devices, cannot change owners, and cannot "
                                 "trace or signal processes outside");
        break;
    case REFUSAL_TMP:
        strbuf_add_cstr(out,
                        "commands have their own /tmp. Of the system's /tmp they see only the "
                        "workspace, added directories and $TMPDIR; to reach more of it, ask the "
                        "person for --add-dir");
        break;
    case REFUSAL_NONE:
    case N_REFUSALS:
        break;
    }
}

static const char *const briefly[N_REFUSALS] = {
    [REFUSAL_DOCKER] = "commands cannot reach sockets of the system",
    [REFUSAL_PROTECTED] = "the file is protected, and trying again does not help",
    [REFUSAL_NETWORK] = "there is no network for this, and a longer timeout does not help",
    [REFUSAL_PLACE] = "write below the workspace or in \"$TMPDIR\"",
    [REFUSAL_CALL] = "some system calls are denied there",
    [REFUSAL_TMP] = "its /tmp is not the system's",
    [REFUSAL_ACCESS] = "some files cannot be read, written or changed there",
};

/* Other causes are possible for what the kernel refuses without the sandbox, too. */
static bool is_sure(enum refusal r)
{
    return r != REFUSAL_CALL && r != REFUSAL_ACCESS && r != REFUSAL_TMP;
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

/* --- paths of complaints --- */

#define MAX_COMPLAINTS 32
#define MAX_PATH_WORDS 256
#define MAX_PATH_BYTES 4096

static bool is_in_one_of(const char *path, const char *const *directories, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (path_is_in(path, directories[i]))
            return true;
    return false;
}

static bool is_opened(const struct sandbox_policy *p, const char *path)
{
    return is_in_one_of(path, p->visible, p->n_visible) ||
           is_in_one_of(path, p->writable, p->n_writable) || path_is_in(path, p->workspace) ||
           (p->tmp_dir && path_is_in(path, p->tmp_dir));
}

/* Which places a complaint may be about. */
typedef bool place_fn(const struct sandbox_policy *p, const char *path);

static bool is_unseen(const struct sandbox_policy *p, const char *path)
{
    return (is_in_one_of(path, p->closed, p->n_closed) ||
            is_in_one_of(path, p->hidden, p->n_hidden)) &&
           !is_opened(p, path);
}

static bool is_in_other_tmp(const struct sandbox_policy *p, const char *path)
{
    return path_is_in(path, "/tmp") && strcmp(path, "/tmp") != 0 && !is_opened(p, path) &&
           !(p->home && path_is_in(path, p->home));
}

static bool is_writable(const struct sandbox_policy *p, const char *path)
{
    return (!p->workspace_is_read_only && path_is_in(path, p->workspace)) ||
           is_in_one_of(path, p->writable, p->n_writable);
}

/* A link may lead to what does not exist, or cannot be known to. */
static bool is_link_to(const struct sandbox_policy *p, place_fn *is_there, const char *path)
{
    char target[MAX_PATH_BYTES];
    ssize_t n = readlink(path, target, sizeof target - 1);

    if (n <= 0)
        return false;
    target[n] = '\0';
    return is_there(p, target);
}

static bool leads_to(const struct sandbox_policy *p, place_fn *is_there, const char *cwd,
                     struct str word)
{
    AUTO(arena) struct arena a = {0};
    const char *path = arena_cstr(&a, word);

    if (path[0] == '/' && !path_is_in(path, p->workspace))
        return is_there(p, path);
    if (path[0] != '/' && !cwd)
        return false;
    path = path[0] == '/' ? path : fs_join(&a, cwd, path);
    return is_link_to(p, is_there, path) || is_there(p, fs_resolve(&a, path));
}

/* Programs put paths between blanks, colons and quotes of all kinds. */
static bool next_word(struct str *rest, struct str *ret_word)
{
    size_t n = 0;

    while (rest->n && (strchr(" \t:'\"`()", rest->p[0]) || (unsigned char)rest->p[0] >= 0x80))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && n < MAX_PATH_BYTES && rest->p[n] && !strchr(" \t:'\"`()", rest->p[n]) &&
           (unsigned char)rest->p[n] < 0x80)
        n++;
    *ret_word = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

/* What a line must say to be one, and about which place. */
struct complaint {
    const char *phrases[2];
    place_fn *is_there;
    bool may_be_bare; /* a name without a slash, in the current directory, need not exist */
};

static const struct complaint of_other_tmp = {
    {"No such file or directory", "ermission denied"}, is_in_other_tmp, true};
static const struct complaint of_unseen = {
    {"No such file or directory", "ermission denied"}, is_unseen, true};
/* Though commands write there otherwise. */
static const struct complaint of_protected = {
    {"ead-only file system", "EROFS"}, is_writable, false};

static bool may_be_path(const struct complaint *c, const char *cwd, struct str word)
{
    AUTO(arena) struct arena a = {0};

    return c->may_be_bare || str_find_char(word, '/') != STR_NONE ||
           (cwd && fs_exists(fs_join(&a, cwd, arena_cstr(&a, word))));
}

static bool complains(const struct sandbox *s, const struct complaint *c,
                      const struct command_ending *e)
{
    struct str output = str_slice(e->output, 0, LOOKED_AT), line, word;
    unsigned n_lines = 0, n_words = 0;

    while (n_lines < MAX_COMPLAINTS && str_split(&output, '\n', &line)) {
        if (str_find(line, str_of(c->phrases[0])) == STR_NONE &&
            str_find(line, str_of(c->phrases[1])) == STR_NONE)
            continue;
        n_lines++;
        while (n_words++ < MAX_PATH_WORDS && next_word(&line, &word))
            if (may_be_path(c, e->cwd, word) && leads_to(&s->policy, c->is_there, e->cwd, word))
                return true;
    }
    return false;
}

/* --- all of it --- */

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
                        ? "commands can reach only hosts that the person has allowed"
                        : "commands in the sandbox have none");
}

void sandbox_explain(const struct sandbox *s, const struct command_ending *e, unsigned *told,
                     struct strbuf *out)
{
    enum refusal r;

    if (sandbox_name_hidden(s, e, out))
        return;
    r = find_refusal(s, e);
    if (r == REFUSAL_PLACE && complains(s, &of_protected, e))
        r = REFUSAL_PROTECTED;
    if (r == REFUSAL_NONE && (e->failed || may_hide_failure(e->command)) &&
        s->way == SANDBOX_WITH_NAMESPACES && complains(s, &of_other_tmp, e))
        r = REFUSAL_TMP;
    if (r != REFUSAL_NONE)
        add_refusal(s, r, told, out);
    else
        add_wait(s, e, out);
}

void sandbox_explain_look(const struct sandbox *s, const struct command_ending *e, bool *known,
                          struct strbuf *out)
{
    if (sandbox_name_hidden(s, e, out))
        return;
    if (!says(e->output, "Read-only file system") && !says(e->output, "Operation not permitted") &&
        !complains(s, &of_unseen, e))
        return;
    if (*known)
        strbuf_add_cstr(out, "A command that only looks can change nothing, and sees only the "
                             "workspace and the public directories of the system.");
    else
        strbuf_add_cstr(
            out,
            "This command only looks, so it ran without asking, but where it can change nothing, "
            "has no network, and sees only the workspace, added directories and the public "
            "directories of the system. A command that names the path itself (cat /path/to/file) "
            "is judged by the permission rules instead.");
    *known = true;
}
