/* help.c - --help, made from the tables that the commands are run from. */
#include "cli/command.h"

#include <stdio.h>

#define COLUMN 30

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

static void add_row(struct strbuf *out, const char *left, const char *right)
{
    if (strlen(left) > COLUMN - 4)
        strbuf_addf(out, "  %s\n%*s%s\n", left, COLUMN, "", right);
    else
        strbuf_addf(out, "  %-*s%s\n", COLUMN - 2, left, right);
}

static void add_options(const struct option *options, struct strbuf *out)
{
    if (!options || !options->name)
        return;
    strbuf_add_cstr(out, "\nOptions:\n");
    for (const struct option *o = options; o->name; o++) {
        char left[128], letter[8] = "";

        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value_name ? " " : "",
                 o->value_name ? o->value_name : "");
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

        if (!group || strcmp(group, heading) != 0)
            strbuf_addf(out, "\n%s:\n", heading);
        group = heading;
        snprintf(left, sizeof left, "keel %s%s", (*child)->name, (*child)->children ? " ..." : "");
        add_row(out, left, (*child)->summary);
    }
}

void command_help(const struct command *c, struct strbuf *out)
{
    strbuf_addf(out, "keel%s%s %s\n%s\n", c->name[0] ? " " : "", c->name, c->usage, c->summary);
    if (c->details)
        strbuf_addf(out, "\n%s", c->details);
    add_children(c, out);
    add_options(c->options, out);
    if (c->children)
        strbuf_addf(out, "\nMore about one of them: keel %s%sCOMMAND --help\n", c->name,
                    c->name[0] ? " " : "");
}
