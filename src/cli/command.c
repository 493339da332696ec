/* command.c - finds the command that a word names or means. */
#include "cli/advice.h"

#include "base/alike.h"

const char *command_word(const struct command *c)
{
    const char *space = strrchr(c->name, ' ');

    return space ? space + 1 : c->name;
}

const struct command *command_find(const struct command *parent, const char *word)
{
    for (const struct command *const *c = parent->children; c && *c; c++)
        if (strcmp(command_word(*c), word) == 0)
            return *c;
    return NULL;
}

const struct command *command_guess(const struct command *parent, const char *word)
{
    const struct command *best = NULL;
    size_t least = SIZE_MAX;

    for (const struct command *const *c = parent->children; c && *c; c++) {
        size_t d = text_distance(str_of(word), str_of(command_word(*c)));

        if (d < least && advice_is_misspelt(str_of(word), str_of(command_word(*c)))) {
            least = d;
            best = *c;
        }
    }
    return best;
}

struct err *command_unknown(const struct command *parent, const char *word)
{
    const char *space = parent->name[0] ? " " : "";
    const struct command *near = command_guess(parent, word);
    const char *advice = advice_word(parent, word);
    struct err *e =
        err_new(ERR_VALIDATION, "unknown command \"%s%s%s\"", parent->name, space, word);

    if (advice)
        return err_hint(e, "%s", advice);
    if (near)
        return err_hint(e, "did you mean keel %s?", near->name);
    if (parent->remedy)
        return err_hint(e, "%s", parent->remedy);
    if (parent == &command_root)
        return err_hint(e, "see keel --help");
    return err_hint(e, "see keel %s --help", parent->name);
}
