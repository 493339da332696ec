/* git_config.c - reads the configuration of a repository as strictly as git writes it. */
#include "sandbox/git_config.h"

static const char *const plain_sections[] = {"core", "remote", "branch"};
static const char *const plain_keys[] = {
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "url",
    "fetch",
    "remote",
    "merge",
};

static bool is_one_of(struct str word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(word, str_of(words[i])))
            return true;
    return false;
}

/* [core], [remote "origin"]; nothing behind it. */
static bool is_plain_section(struct str line)
{
    struct str name = str_slice(line, 1, line.n - 2);

    if (!str_ends(line, S("]")) || str_find_char(name, ']') != STR_NONE)
        return false;
    return is_one_of(str_slice(name, 0, str_find_char(name, ' ')), plain_sections,
                     ARRAY_LEN(plain_sections));
}

static bool is_plain_line(struct str line)
{
    size_t equals = str_find_char(line, '=');

    if (line.n == 0)
        return true;
    if (line.p[0] == '[')
        return is_plain_section(line);
    /* A backslash at the end would go on in the next line. */
    return equals != STR_NONE && !str_ends(line, S("\\")) &&
           is_one_of(str_trim(str_slice(line, 0, equals)), plain_keys, ARRAY_LEN(plain_keys));
}

bool git_config_is_plain(struct str text)
{
    struct str line;

    while (str_split(&text, '\n', &line))
        if (!is_plain_line(str_trim(line)))
            return false;
    return true;
}
