/* help.c - --help, made from the tables that the commands are run from. */
#include "cli/advice.h"

#include "cli/text.h"

#include <stdio.h>

/* Where the right column begins, and where lines end. */
#define COLUMN 30
#define WIDTH 80

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

static void add_row(struct strbuf *out, const char *left, const char *right)
{
    if (strlen(left) > COLUMN - 4)
        strbuf_addf(out, "  %s\n%*s", left, COLUMN, "");
    else
        strbuf_addf(out, "  %-*s", COLUMN - 2, left);
    text_wrap(out, str_of(right), COLUMN, WIDTH);
    strbuf_add_char(out, '\n');
}

static bool has_letters(const struct option *options)
{
    for (const struct option *o = options; o->name; o++)
        if (o->letter)
            return true;
    return false;
}

static void add_options(const struct option *options, struct strbuf *out)
{
    if (!options || !options->name)
        return;
    if (!options->group)
        strbuf_add_cstr(out, "\nOptions:\n");
    for (const struct option *o = options; o->name; o++) {
        char left[128], letter[] = "    ";

        if (o->group)
            strbuf_addf(out, "\n%s:\n", o->group);
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", has_letters(options) ? letter : "", o->name,
                 o->value_name ? " " : "", o->value_name ? o->value_name : "");
        add_row(out, left, o->help);
    }
}

/* Children under their headings, in the order of the table. */
static void add_children(const struct command *c, struct strbuf *out)
{
    const char *group = NULL;

    for (const struct command *const *child = c->children; child && *child; child++) {
        const char *heading = (*child)->group ? (*child)->group : "Commands";
        char left[256];

        if ((*child)->is_unlisted)
            continue;
        if (!group || strcmp(group, heading) != 0)
            strbuf_addf(out, "\n%s:\n", heading);
        group = heading;
        snprintf(left, sizeof left, "keel %s%s", (*child)->name, (*child)->children ? " ..." : "");
        add_row(out, left, (*child)->summary);
    }
}

static void add_usage(const struct command *c, struct strbuf *out)
{
    struct str rest = str_of(c->usage), line;
    const char *before = "Usage: ";

    while (str_split(&rest, '\n', &line)) {
        size_t from = out->n;

        strbuf_addf(out, "%skeel %s%s", before, c->name, c->name[0] && line.n ? " " : "");
        text_wrap(out, line, out->n - from, WIDTH);
        strbuf_add_char(out, '\n');
        before = "       ";
    }
}

void command_help(const struct command *c, struct strbuf *out)
{
    strbuf_addf(out, "keel%s%s - ", c->name[0] ? " " : "", c->name);
    text_wrap(out, str_of(c->summary), out->n, WIDTH);
    strbuf_add_cstr(out, "\n\n");
    add_usage(c, out);
    if (c->details)
        strbuf_addf(out, "\n%s", c->details);
    add_children(c, out);
    add_options(c->options, out);
    if (c->children)
        strbuf_addf(out, "\nHelp for one command: keel help %s%sCOMMAND\n", c->name,
                    c->name[0] ? " " : "");
}
