/* shell_fuzz.c - what must hold for whatever is split: texts and offsets fit, and a command that
 * stands before the line is seen. */
#include "gate/look/look.h"
#include "gate/shell/split.h"

#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_word(const struct shell_word *w)
{
    BUG_IF(w->is_known && str_find_char(w->text, SHELL_ANYTHING) != STR_NONE);
    BUG_IF(w->may_hold_slash && w->is_known);
}

static void check_command(const struct split_command *c)
{
    BUG_IF(c->n_words == 0 || c->n_assignments > c->n_words);
    BUG_IF(c->program_at > c->text.n || c->basename_at > c->text.n);
    BUG_IF(c->basename_at < c->program_at);
    BUG_IF(shell_command_name(c).n > c->text.n);
    for (size_t i = 0; i < c->n_words; i++)
        check_word(&c->words[i]);
}

static void check(struct str line)
{
    AUTO(arena) struct arena a = {0};
    struct shell_split s;
    struct str *paths;
    size_t n;

    shell_split(&a, line, &s);
    BUG_IF(s.n_commands > SHELL_MAX_COMMANDS || s.n_redirections > SHELL_MAX_COMMANDS);
    for (size_t i = 0; i < s.n_commands; i++)
        check_command(&s.commands[i]);
    for (size_t i = 0; i < s.n_redirections; i++)
        check_word(&s.redirections[i].target);
    BUG_IF(split_only_looks(&s) && (!s.is_sure || s.sets_variables || s.n_commands == 0));
    shell_written_paths(&a, &s, &paths, &n);
    for (size_t i = 0; i < n; i++)
        BUG_IF(paths[i].n == 0);
}

/* Whatever follows a whole line cannot hide it. */
static void check_behind(struct str line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf longer = {0};
    struct shell_split s;

    strbuf_add_cstr(&longer, "first one\n");
    strbuf_add(&longer, line);
    shell_split(&a, strbuf_str(&longer), &s);
    if (str_find_char(line, '\0') == STR_NONE && longer.n <= SHELL_MAX_BYTES)
        BUG_IF(s.n_commands == 0 || !str_is(s.commands[0].text, "first one"));
}

/* What a subshell holds is what the line holds, if both are sure. */
static void check_in_parentheses(struct str line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf longer = {0};
    struct shell_split alone, inside;

    strbuf_add_cstr(&longer, "( ");
    strbuf_add(&longer, line);
    strbuf_add_cstr(&longer, "\n)");
    shell_split(&a, line, &alone);
    shell_split(&a, strbuf_str(&longer), &inside);
    if (!alone.is_sure || !inside.is_sure)
        return;
    BUG_IF(alone.n_commands != inside.n_commands);
    for (size_t i = 0; i < alone.n_commands; i++)
        BUG_IF(!str_eq(alone.commands[i].text, inside.commands[i].text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str line = str_make((const char *)data, size);

    check(line);
    check_behind(line);
    check_in_parentheses(line);
    return 0;
}
