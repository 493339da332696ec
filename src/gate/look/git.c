/* git.c - which commands of git only look. */
#include "gate/look/look.h"

static bool is_one_of(struct str word, const char *const *list)
{
    for (; *list; list++)
        if (str_is(word, *list))
            return true;
    return false;
}

static bool begins_with_one_of(struct str word, const char *const *list)
{
    for (; *list; list++)
        if (str_starts(word, str_of(*list)))
            return true;
    return false;
}

/* --- before the subcommand --- */

/* The index of the subcommand in "git -C dir --no-pager log"; 0: unknown, or an option before it
 * names programs that git starts. */
static size_t find_subcommand(const struct split_command *c)
{
    static const char *const harmless[] = {"--no-pager", "-P", "--no-optional-locks",
                                           "--literal-pathspecs", NULL};
    size_t i = 1;

    while (i < c->n_words && c->words[i].is_known && str_starts(c->words[i].text, S("-"))) {
        if (str_is(c->words[i].text, "-C"))
            i++;
        else if (!is_one_of(c->words[i].text, harmless))
            return 0;
        i++;
    }
    return i < c->n_words && c->words[i].is_known ? i : 0;
}

/* --- commands that list unless they get an operand --- */

/* The options of such a command. */
struct git_listing {
    const char *letters;           /* allowed in any cluster */
    const char *letters_that_list; /* those of them that make it list */
    const char *const *options;    /* beginnings of long options */
    const char *const *options_that_list;
};

static bool are_letters(struct str text, const char *letters)
{
    for (size_t i = 1; i < text.n; i++)
        if (!text.p[i] || !strchr(letters, text.p[i]))
            return false;
    return text.n > 1;
}

static bool has_letter(struct str text, const char *letters)
{
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] && strchr(letters, text.p[i]))
            return true;
    return false;
}

/* An operand is a new branch or tag, unless an option makes the command list. */
static bool only_lists(const struct split_command *c, size_t from, const struct git_listing *l)
{
    bool has_operand = false, is_list = false;

    for (size_t i = from; i < c->n_words; i++) {
        struct str text = c->words[i].text;

        if (!c->words[i].is_known)
            return false;
        if (!str_starts(text, S("-"))) {
            has_operand = true;
        } else if (!str_starts(text, S("--"))) {
            if (!are_letters(text, l->letters))
                return false;
            is_list = is_list || has_letter(text, l->letters_that_list);
        } else if (begins_with_one_of(text, l->options_that_list)) {
            is_list = true;
        } else if (!begins_with_one_of(text, l->options)) {
            return false;
        }
    }
    return !has_operand || is_list;
}

static const char *const list_options[] = {
    "--all",       "--color",   "--column",       "--format=", "--ignore-case", "--no-color",
    "--no-column", "--remotes", "--show-current", "--sort=",   "--verbose",     NULL};
static const char *const options_that_list[] = {
    "--contains", "--list", "--merged", "--no-contains", "--no-merged", "--points-at", NULL};
static const struct git_listing branches = {"arv", "", list_options, options_that_list};
static const struct git_listing tags = {"lni0123456789", "ln", list_options, options_that_list};

/* --- commands with subcommands --- */

/* "stash list": the first word decides. */
static const struct {
    const char *subcommand;
    const char *words[5]; /* those that only look */
    bool is_free_alone;   /* also without a word */
} nested[] = {
    {"reflog", {"show"}, true},         {"remote", {"get-url"}, true},
    {"stash", {"list", "show"}, false}, {"worktree", {"list"}, false},
    {"notes", {"list", "show"}, true},  {"bisect", {"log"}, false},
};

static bool nested_only_looks(const struct split_command *c, size_t at, bool *ret_only_looks)
{
    for (size_t i = 0; i < ARRAY_LEN(nested); i++) {
        if (!str_is(c->words[at].text, nested[i].subcommand))
            continue;
        if (at + 1 == c->n_words)
            *ret_only_looks = nested[i].is_free_alone;
        else
            *ret_only_looks =
                c->words[at + 1].is_known && is_one_of(c->words[at + 1].text, nested[i].words);
        return true;
    }
    return false;
}

/* --- the rest --- */

/* With any arguments, except the options that the table forbids. */
static const char *const plain[] = {
    "blame",      "cat-file", "check-attr", "check-ignore", "cherry",     "count-objects",
    "describe",   "diff",     "diff-files", "diff-index",   "diff-tree",  "for-each-ref",
    "grep",       "log",      "ls-files",   "ls-tree",      "merge-base", "name-rev",
    "range-diff", "rev-list", "rev-parse",  "shortlog",     "show",       "show-branch",
    "show-ref",   "status",   "version",    "whatchanged",  NULL,
};

/* "%G?" and "%(signature)" in a format run gpg. */
static bool asks_for_signatures(const struct split_command *c)
{
    for (size_t i = 1; i < c->n_words; i++)
        if (str_find(c->words[i].text, S("%G")) != STR_NONE ||
            str_find(c->words[i].text, S("%(signature")) != STR_NONE)
            return true;
    return false;
}

/* "--diff-merges=remerge" merges again and writes the result as objects. */
static bool merges_again(const struct split_command *c)
{
    static const char *const remerge[] = {"r", "remerge", NULL};

    for (size_t i = 1; i < c->n_words; i++) {
        struct str text = c->words[i].text, value = {0};

        if (str_starts(text, S("--diff-merges=")))
            value = str_skip(text, strlen("--diff-merges="));
        else if (str_is(text, "--diff-merges") && i + 1 < c->n_words)
            value = c->words[++i].text;
        else
            continue;
        if (!c->words[i].is_known || is_one_of(value, remerge))
            return true;
    }
    return false;
}

bool git_only_looks(const struct split_command *c)
{
    size_t at = find_subcommand(c);
    bool only_looks;

    if (!at || asks_for_signatures(c) || merges_again(c))
        return false;
    if (str_is(c->words[at].text, "remote") && at + 2 == c->n_words &&
        str_is(c->words[at + 1].text, "-v"))
        return true;
    if (nested_only_looks(c, at, &only_looks))
        return only_looks;
    if (str_is(c->words[at].text, "branch"))
        return only_lists(c, at + 1, &branches);
    if (str_is(c->words[at].text, "tag"))
        return only_lists(c, at + 1, &tags);
    return is_one_of(c->words[at].text, plain);
}
