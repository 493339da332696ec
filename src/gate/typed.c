/* typed.c - finds hosts and paths in a prompt, and remembers them. */
#include "gate/typed.h"

#include "base/utf8.h"
#include "gate/place.h"
#include "gate/web.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#define MAX_HOST_BYTES 253

/* --- words --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str trim_punctuation(struct str word)
{
    size_t n;

    while (word.n && strchr("([{<\"'`", word.p[0]))
        word = str_skip(word, 1);
    for (n = word.n; n && strchr(".,;:!?)]}>\"'`", word.p[n - 1]);)
        n--;
    if (n && n < word.n && word.p[n - 1] == '/' && word.p[n] == '.')
        return (struct str){0}; /* "~/..." does not mean the whole home */
    return str_slice(word, 0, n);
}

/* The text in quotes, if a quote begins here and ends in this line. */
static bool next_quoted(struct str *rest, struct str *ret_word)
{
    struct str line = *rest;
    size_t end;

    if (!strchr("\"'`", line.p[0]))
        return false;
    line = str_slice(line, 0, MIN(str_find_char(line, '\n'), line.n));
    end = str_find_char(str_skip(line, 1), line.p[0]);
    if (end == STR_NONE || end == 0)
        return false;
    *ret_word = str_slice(line, 1, end);
    *rest = str_skip(*rest, end + 2);
    return true;
}

bool typed_next_word(struct str *rest, struct str *ret_word)
{
    size_t n = 0;

    while (rest->n && is_blank(rest->p[0]))
        *rest = str_skip(*rest, 1);
    if (rest->n == 0)
        return false;
    if (next_quoted(rest, ret_word))
        return true;
    while (n < rest->n && !is_blank(rest->p[n]))
        n++;
    *ret_word = trim_punctuation(str_slice(*rest, 0, n));
    *rest = str_skip(*rest, n);
    return true;
}

/* --- hosts --- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static bool is_label(struct str label)
{
    if (label.n == 0 || label.n > 63 || label.p[0] == '-' || label.p[label.n - 1] == '-' ||
        str_eq_nocase(str_slice(label, 0, 4), S("xn--")))
        return false;
    for (size_t i = 0; i < label.n; i++)
        if (!is_letter(label.p[i]) && !(label.p[i] >= '0' && label.p[i] <= '9') &&
            label.p[i] != '-')
            return false;
    return true;
}

/* Splits a name into labels; *ret_last is its top-level domain. */
static bool read_name(struct str name, size_t *ret_n_labels, struct str *ret_last)
{
    *ret_n_labels = 0;
    if (name.n == 0 || name.n > MAX_HOST_BYTES || name.p[name.n - 1] == '.')
        return false;
    while (str_split(&name, '.', ret_last)) {
        if (!is_label(*ret_last))
            return false;
        (*ret_n_labels)++;
    }
    return true;
}

/* Files rarely end in one of these. Most other domains are also file name extensions (.md, .rs,
 * .sh, .pl, .in, .ai, .zip ...) or languages (.de, .fr), and readme.md may be registered. */
static bool is_plain_domain(struct str last)
{
    static const char *const domains[] = {"com", "org", "net", "edu",     "gov",
                                          "mil", "int", "io",  "example", "test"};

    for (size_t i = 0; i < ARRAY_LEN(domains); i++)
        if (str_eq_nocase(last, str_of(domains[i])))
            return true;
    return false;
}

static bool is_host_name(struct str name, bool is_bare)
{
    struct in_addr address;
    char text[16] = "";
    struct str last;
    size_t n;

    if (!read_name(name, &n, &last))
        return false;
    if (is_number(last)) {
        if (is_bare || name.n >= sizeof text)
            return false; /* versions look like that */
        memcpy(text, name.p, name.n);
        return inet_pton(AF_INET, text, &address) == 1;
    }
    if (!is_bare)
        return true;
    return n > 1 &&
           (is_plain_domain(last) || (n > 2 && str_eq_nocase(str_slice(name, 0, 4), S("www."))));
}

/* Cuts off "https://". */
static struct str cut_scheme(struct str *word)
{
    static const struct str schemes[] = {S("https"), S("http")};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = schemes[i].n;

        if (str_eq_nocase(str_slice(*word, 0, n), schemes[i]) &&
            str_starts(str_skip(*word, n), S("://"))) {
            *word = str_skip(*word, n + 3);
            return schemes[i];
        }
    }
    return (struct str){0};
}

bool typed_read_host(struct arena *a, struct str word, struct str *ret_host, bool *ret_is_bare)
{
    struct str scheme = cut_scheme(&word), name, port;
    size_t end = 0, colon;

    while (end < word.n && !strchr("/?#", word.p[end]))
        end++;
    word = str_slice(word, 0, end);
    colon = str_find_char(word, ':');
    name = str_slice(word, 0, MIN(colon, word.n));
    port = colon == STR_NONE ? (struct str){0} : str_skip(word, colon + 1);
    *ret_is_bare = scheme.n == 0;
    if (!is_host_name(name, *ret_is_bare) ||
        (colon != STR_NONE && (!is_number(port) || port.n > 5)))
        return false;
    /* In the spelling that calls are compared in. */
    return web_host(a,
                    arena_format(a, "%" STR_FMT "://%" STR_FMT "%s%" STR_FMT "/",
                                 STR_ARG(scheme.n ? scheme : S("https")), STR_ARG(name),
                                 port.n ? ":" : "", STR_ARG(port)),
                    ret_host);
}

/* --- paths --- */

/* x.c:12 and x.c:12:5 */
static struct str cut_position(struct str path)
{
    for (int i = 0; i < 2; i++) {
        size_t colon = str_rfind_char(path, ':');

        if (colon == STR_NONE || !is_number(str_skip(path, colon + 1)))
            break;
        path = str_slice(path, 0, colon);
    }
    return path;
}

/* Text that neither a shell nor a glob changes. */
static bool is_literal(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] < ' ' || strchr("*?[]{}$\\|&;<>\"'`:\x7f", path.p[i]))
            return false;
    return utf8_is_valid(path);
}

/* ".." only at the start of the path, and no other name of dots: "/a/b/..." is not a path. */
static bool climbs_within(struct str path)
{
    bool is_start = true;
    struct str name;

    while (str_split(&path, '/', &name)) {
        bool is_dots = name.n > 0;

        for (size_t i = 0; i < name.n; i++)
            is_dots = is_dots && name.p[i] == '.';
        if (is_dots && !(is_start && str_is(name, "..")))
            return true;
        is_start = is_start && is_dots;
    }
    return false;
}

bool typed_read_path(struct str word, struct str *ret_path)
{
    if (str_starts(word, S("@")))
        word = str_skip(word, 1);
    word = cut_position(word);
    while (word.n > 2 && str_ends(word, S("/")))
        word.n--;
    if (word.n > PATH_MAX_BYTES || !is_literal(word) || climbs_within(word))
        return false;
    if (!(str_starts(word, S("/")) && word.n > 1) && !(str_starts(word, S("~/"))) &&
        !(str_starts(word, S("../")) && word.n > 3))
        return false;
    *ret_path = word;
    return true;
}

/* --- a prompt --- */

static void add_name(struct typed_names *names, enum state_key kind, struct str name)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->items[i].kind == kind && str_eq(names->items[i].name, name))
            return;
    if (names->n < TYPED_MAX_NAMES)
        names->items[names->n++] = (struct typed_name){kind, name};
}

static bool is_file_here(struct arena *a, const struct tool_state *state, struct str word)
{
    struct str name = str_slice(word, 0, MIN(str_find_char(word, '/'), word.n));
    struct stat st;

    return lstat(arena_format(a, "%s/%" STR_FMT, tool_state_cwd(state), STR_ARG(name)).p, &st) == 0;
}

/* A link in the workspace may come from the repository, and paths there need no question anyway. */
static void add_path(struct typed_names *names, struct arena *a, struct str path,
                     const struct tool_state *state, const char *const *environment)
{
    const char *given = tool_state_path(state, a, environment, path);
    struct place workspace =
        place_find(a, tool_state_workspace(state), tool_state_workspace(state));
    struct place place = place_find(a, given, given);

    if (!place.real || strcmp(place.real, "/") == 0 ||
        place_is_in(given, tool_state_workspace(state)) ||
        (workspace.real && place_is_in(given, workspace.real)))
        return;
    add_name(names, STATE_TYPED_PATH, str_of(place.real));
}

void typed_find(struct typed_names *names, struct arena *a, struct str prompt,
                const struct tool_state *state, const char *const *environment)
{
    struct str word, found;
    bool is_bare;

    *names = (struct typed_names){0};
    if (prompt.n > TYPED_MAX_BYTES)
        return;
    while (typed_next_word(&prompt, &word)) {
        if (typed_read_path(word, &found))
            add_path(names, a, found, state, environment);
        else if (typed_read_host(a, word, &found, &is_bare) &&
                 !(is_bare && is_file_here(a, state, word)))
            add_name(names, STATE_TYPED_HOST, arena_str(a, found));
    }
}

void typed_keep(const struct typed_names *names, struct tool_state *state)
{
    for (size_t i = 0; i < names->n; i++)
        if (!tool_state_has(state, names->items[i].kind, names->items[i].name))
            tool_state_set_flag(state, names->items[i].kind, names->items[i].name);
}

/* --- what a call names --- */

struct str typed_host_of(const struct tool_state *state, struct str url)
{
    AUTO(arena) struct arena a = {0};
    struct state_entry x;
    struct str host;
    size_t at = 0;

    if (!web_host(&a, url, &host))
        return (struct str){0};
    while (tool_state_next(state, STATE_TYPED_HOST, &at, &x))
        if (str_eq(x.name, host))
            return x.key;
    return (struct str){0};
}

struct str typed_path_of(const struct tool_state *state, const char *real_path)
{
    struct state_entry x;
    size_t at = 0;

    while (tool_state_next(state, STATE_TYPED_PATH, &at, &x)) {
        AUTO_FREE char *above = str_dup(x.name);

        if (above[0] == '/' && above[1] && place_is_in(real_path, above))
            return x.key;
    }
    return (struct str){0};
}
