/* ignore.c - the rules of a .gitignore file, read and applied as git does. */
#include "base/ignore.h"

#include "base/glob.h"

struct ignore_rule {
    struct glob *glob;
    bool is_negated; /* cancels an earlier rule that ignores it */
    bool dirs_only;
    bool name_only; /* no slash in it: looks at the last part of a path, at any depth */
};

struct ignore {
    char *base_text;
    struct str base;
    bool nocase;
    size_t n_rules, n_room;
    struct ignore_rule *rules;
};

/* --- reading --- */

/* Spaces at the end do not count, unless they are escaped. Tabs do count. */
static struct str cut_trailing_spaces(struct str line)
{
    size_t end = 0;

    for (size_t i = 0; i < line.n; i++) {
        bool is_escaped = line.p[i] == '\\';

        if (is_escaped && ++i == line.n)
            return line;
        if (is_escaped || line.p[i] != ' ')
            end = i + 1;
    }
    return str_slice(line, 0, end);
}

/* What git's parser gets of a line: no line end, nothing from a NUL on. */
static struct str clean_line(struct str line)
{
    if (str_ends(line, S("\r")))
        line.n--;
    if (line.n)
        line.n = strnlen(line.p, line.n);
    return cut_trailing_spaces(line);
}

static void add_rule(struct ignore *i, struct str pattern)
{
    struct ignore_rule rule = {0};
    struct err *e;

    if (str_starts(pattern, S("!"))) {
        rule.is_negated = true;
        pattern = str_skip(pattern, 1);
    }
    if (str_ends(pattern, S("/"))) {
        rule.dirs_only = true;
        pattern.n--;
    }
    if (pattern.n == 0)
        return;
    rule.name_only = str_find_char(pattern, '/') == STR_NONE;
    if (pattern.p[0] == '/')
        pattern = str_skip(pattern, 1);

    e = glob_compile(pattern, GLOB_GIT | (i->nocase ? GLOB_NOCASE : 0), &rule.glob);
    if (e) {
        err_ignore(e, "to git a pattern that is not valid matches nothing");
        return;
    }
    i->rules = mem_grow(i->rules, i->n_rules, &i->n_room, sizeof *i->rules);
    i->rules[i->n_rules++] = rule;
}

struct ignore *ignore_new(struct str base, struct str file_text, bool nocase)
{
    struct ignore *i = mem_alloc(sizeof *i);
    struct str line;

    i->base_text = str_dup(base);
    i->base = str_make(i->base_text, base.n);
    i->nocase = nocase;
    if (str_starts(file_text, S("\xEF\xBB\xBF")))
        file_text = str_skip(file_text, 3);
    while (i->n_rules < IGNORE_MAX_RULES && str_split(&file_text, '\n', &line))
        if (!str_starts(line, S("#")))
            add_rule(i, clean_line(line));
    return i;
}

void ignore_free(struct ignore *i)
{
    if (!i)
        return;
    for (size_t n = 0; n < i->n_rules; n++)
        glob_free(i->rules[n].glob);
    mem_free(i->rules);
    mem_free(i->base_text);
    mem_free(i);
}

/* --- asking --- */

/* Cuts the file's directory off the path; false when the path is not inside it. */
static bool cut_base(const struct ignore *i, struct str *path)
{
    struct str start = str_slice(*path, 0, i->base.n);

    if (i->base.n == 0)
        return true;
    if (path->n <= i->base.n || path->p[i->base.n] != '/')
        return false;
    *path = str_skip(*path, i->base.n + 1);
    return i->nocase ? str_eq_nocase(start, i->base) : str_eq(start, i->base);
}

enum ignore_verdict ignore_check(const struct ignore *i, struct str path, bool is_dir)
{
    struct str name;

    if (!cut_base(i, &path))
        return IGNORE_NO_RULE;
    name = str_skip(path, str_rfind_char(path, '/') + 1); /* STR_NONE + 1 is 0 */
    for (size_t n = i->n_rules; n > 0; n--) {
        const struct ignore_rule *rule = &i->rules[n - 1];

        if (rule->dirs_only && !is_dir)
            continue;
        if (glob_matches(rule->glob, rule->name_only ? name : path))
            return rule->is_negated ? IGNORE_TAKEN_BACK : IGNORE_YES;
    }
    return IGNORE_NO_RULE;
}

/* The file nearest to the path that has a rule for it decides. */
static bool is_ignored_itself(const struct ignore *const *files, size_t n_files, struct str path,
                              bool is_dir)
{
    for (size_t n = n_files; n > 0; n--) {
        enum ignore_verdict verdict = ignore_check(files[n - 1], path, is_dir);

        if (verdict != IGNORE_NO_RULE)
            return verdict == IGNORE_YES;
    }
    return false;
}

bool ignore_is_ignored(const struct ignore *const *files, size_t n_files, struct str path,
                       bool is_dir)
{
    for (size_t n = 1; n < path.n; n++)
        if (path.p[n] == '/' &&
            is_ignored_itself(files, n_files, str_slice(path, 0, n), /* is_dir= */ true))
            return true;
    return is_ignored_itself(files, n_files, path, is_dir);
}
