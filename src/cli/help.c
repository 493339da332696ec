/* help.c - --help and `keel help`, made from the tables that the commands are run from. */
#include "cli/commands.h"

#include "cli/output/text.h"

#include <stdio.h>

/* Where the right column begins, and where lines end. */
#define COLUMN 30
#define WIDTH 80
#define MIN_RIGHT 30 /* with less room, what is on the right goes below */
#define BELOW_INDENT 6

static size_t help_width(void)
{
    size_t n_columns = cli_n_columns();

    return n_columns ? MIN(n_columns, (size_t)WIDTH) : WIDTH;
}

static bool is_narrow(void)
{
    return help_width() < COLUMN + MIN_RIGHT;
}

static void add_heading(struct strbuf *out, const char *heading)
{
    strbuf_add_char(out, '\n');
    text_wrap(out, str_of(heading), 0, help_width());
    strbuf_add_cstr(out, ":\n");
}

static void add_row(struct strbuf *out, const char *left, const char *right)
{
    size_t width = help_width();
    size_t indent = is_narrow() ? BELOW_INDENT : COLUMN;

    if (strlen(left) + 4 > indent) {
        strbuf_add_cstr(out, "  ");
        text_wrap_from(out, str_of(left), 2, indent, width);
        strbuf_addf(out, "\n%*s", (int)indent, "");
    } else {
        strbuf_addf(out, "  %-*s", (int)indent - 2, left);
    }
    text_wrap(out, str_of(right), indent, width);
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
        add_heading(out, "Options");
    for (const struct option *o = options; o->name; o++) {
        bool is_aligned = has_letters(options) && !is_narrow();
        char left[128], letter[] = "    ";

        if (o->group)
            add_heading(out, o->group);
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", o->letter || is_aligned ? letter : "", o->name,
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
            add_heading(out, heading);
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
        AUTO(strbuf) struct strbuf text = {0};
        size_t indent;

        strbuf_addf(&text, "keel %s%s", c->name, c->name[0] && line.n ? " " : "");
        indent = strlen(before) + text.n;
        strbuf_add(&text, line);
        strbuf_add_cstr(out, before);
        text_wrap_from(out, strbuf_str(&text), strlen(before),
                       indent + MIN_RIGHT > help_width() ? strlen(before) : indent, help_width());
        strbuf_add_char(out, '\n');
        before = "       ";
    }
}

void command_add_help(const struct command *c, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf first = {0}, last = {0};
    size_t indent;

    strbuf_addf(&first, "keel%s%s - ", c->name[0] ? " " : "", c->name);
    indent = first.n + MIN_RIGHT > help_width() ? 0 : first.n;
    strbuf_add_cstr(&first, c->summary);
    text_wrap_from(out, strbuf_str(&first), 0, indent, help_width());
    strbuf_add_cstr(out, "\n\n");
    add_usage(c, out);
    if (c->details) {
        strbuf_add_char(out, '\n');
        text_reflow(out, str_of(c->details), help_width());
    }
    add_children(c, out);
    add_options(c->options, out);
    if (!c->children)
        return;
    strbuf_addf(&last, "\nHelp for one command: keel help %s%sCOMMAND\n", c->name,
                c->name[0] ? " " : "");
    text_reflow(out, strbuf_str(&last), help_width());
}

/* --- the command --- */

static struct err *help_run(const struct args *args, int *ret_status)
{
    const struct command *c = &command_root;
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < args->n_operands; i++) {
        const struct command *next = command_find(c, args->operands[i]);

        if (!next)
            return command_unknown(c, args->operands[i]);
        c = next;
    }
    command_add_help(c, &text);
    return cli_print(strbuf_str(&text));
}

const struct command command_help = {
    .name = "help",
    .usage = "[COMMAND]...",
    .operands = COMPLETE_COMMANDS,
    .is_unlisted = true,
    .summary = "show the help of keel or of a command",
    .details = "  keel help session rewind\n",
    .run = help_run,
};
