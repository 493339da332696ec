/* completion.c - `keel completion`: shell completion, made from the tables of commands. */
#include "cli/commands.h"

#include "provider/vendor.h"
#include "tool/builtin.h"

/* What each shell has to find out is the same: which command the words before the cursor name.
 * A word that follows an option with a value is none of them, nor is an operand. */

/* The options of all commands that take a value: "--model|--settings|-r|...". */
static void add_value_options(struct strbuf *out, const struct command *c, size_t from)
{
    for (const struct option *o = c->options; o && o->name; o++) {
        AUTO(strbuf) struct strbuf name = {0};
        char letter[] = {'|', '-', o->letter, '|', 0};

        strbuf_addf(&name, "--%s|", o->name);
        if (o->value_name &&
            str_find(str_skip(strbuf_str(out), from), strbuf_str(&name)) == STR_NONE)
            strbuf_add(out, strbuf_str(&name));
        if (o->value_name && o->letter &&
            str_find(str_skip(strbuf_str(out), from), str_of(letter)) == STR_NONE)
            strbuf_add_cstr(out, letter + 1);
    }
    for (const struct command *const *child = c->children; child && *child; child++)
        add_value_options(out, *child, from);
}

/* 'config'|'config show'|...: all names below a command. */
static void add_names(struct strbuf *out, const struct command *c)
{
    for (const struct command *const *child = c->children; child && *child; child++) {
        strbuf_addf(out, "'%s'|", (*child)->name);
        add_names(out, *child);
    }
}

/* The loop that bash and zsh share: finds `at`, the command that the words before the cursor name.
 */
static void add_walk(struct strbuf *out, const char *words)
{
    strbuf_addf(out, "  for word in %s; do\n", words);
    strbuf_add_cstr(out, "    if [ \"$skip\" ]; then skip=; continue; fi\n"
                         "    if [ \"$at\" = help ]; then at=; fi\n" /* about which command? */
                         "    case $word in ");
    add_value_options(out, &command_root, out->n);
    strbuf_cut(out, out->n - 1); /* the last bar */
    strbuf_add_cstr(out, ") skip=$word; continue ;; esac\n"
                         "    case \"${at:+$at }$word\" in ");
    add_names(out, &command_root);
    strbuf_cut(out, out->n - 1);
    strbuf_add_cstr(out, ") at=\"${at:+$at }$word\" operand= ;;\n"
                         "    *) case $word in -*) ;; *) operand=1 ;; esac ;; esac\n"
                         "  done\n");
}

/* Does the option's value name a file or a directory? */
static bool takes_path(const struct option *o)
{
    return strstr(o->value_name, "FILE") || strstr(o->value_name, "DIR");
}

static bool takes_session(const char *words)
{
    return words && strcmp(words, COMPLETE_SESSIONS) == 0;
}

static bool takes_program(const char *words)
{
    return words && strcmp(words, COMPLETE_PROGRAMS) == 0;
}

/* A colon would be the end of a word in bash, and that of a name in zsh. */
static void add_models(struct strbuf *out)
{
    for (const struct vendor *v = vendors; v->name; v++)
        for (size_t i = 0; i < v->catalogue->n; i++)
            if (!strchr(v->catalogue->models[i].id, ':'))
                strbuf_addf(out, "%s/%s ", v->name, v->catalogue->models[i].id);
}

static void add_commands(struct strbuf *out)
{
    for (const struct command *const *c = command_root.children; *c; c++)
        if (!(*c)->is_unlisted)
            strbuf_addf(out, "%s ", (*c)->name);
}

/* Tools that rules can name with a pattern. */
static void add_tools(struct strbuf *out)
{
    for (struct tool *const *t = builtin_tools; *t; t++)
        if ((*t)->permission_arg)
            strbuf_addf(out, "%s ", (*t)->name);
}

static void add_vendors(struct strbuf *out)
{
    for (const struct vendor *v = vendors; v->name; v++)
        strbuf_addf(out, "%s ", v->name);
}

/* The words themselves, or those that a COMPLETE_ name means. */
static void add_words(struct strbuf *out, const char *words)
{
    static const struct {
        const char *name;
        void (*add)(struct strbuf *out);
    } tables[] = {{COMPLETE_COMMANDS, add_commands},
                  {COMPLETE_TOOLS, add_tools},
                  {COMPLETE_MODELS, add_models},
                  {COMPLETE_VENDORS, add_vendors}};

    for (size_t i = 0; words && i < ARRAY_LEN(tables); i++)
        if (strcmp(words, tables[i].name) == 0) {
            tables[i].add(out);
            return;
        }
    strbuf_add_cstr(out, words ? words : "");
}

/* Lines "':--output-format') words='text json' ;;" for bash and zsh: the values of an option. */
static void add_value_cases(struct strbuf *out, const struct command *c, const char *open,
                            const char *close, const char *sessions)
{
    for (const struct option *o = c->options; o && o->name; o++) {
        if (!o->value_name || (!o->words && !takes_path(o)))
            continue;
        strbuf_addf(out, "    '%s:--%s'", c->name, o->name);
        if (o->letter)
            strbuf_addf(out, "|'%s:-%c'", c->name, o->letter);
        strbuf_add_cstr(out, ") ");
        if (!o->words)
            strbuf_add_cstr(out, "files=1");
        else if (takes_session(o->words))
            strbuf_add_cstr(out, sessions);
        else {
            strbuf_add_cstr(out, open);
            add_words(out, o->words);
            strbuf_add_cstr(out, close);
        }
        strbuf_add_cstr(out, " ;;\n");
    }
    for (const struct command *const *child = c->children; child && *child; child++)
        add_value_cases(out, *child, open, close, sessions);
}

/* --- bash --- */

#define BASH_SESSIONS "words=$(keel session list 2>/dev/null | awk 'NR > 1 { print $1 }')"

static void add_bash_case(struct strbuf *out, const struct command *c)
{
    if (takes_session(c->operands))
        strbuf_addf(out, "    '%s') [ \"$skip\" ] || " BASH_SESSIONS "; files=; words+='", c->name);
    else if (takes_program(c->operands))
        strbuf_addf(out,
                    "    '%s') [ \"$operand\" ] || words=$(compgen -c -- \"$current\"); words+='",
                    c->name);
    else {
        strbuf_addf(out, "    '%s') words='", c->name);
        add_words(out, c->operands);
    }
    for (const struct command *const *child = c->children; child && *child; child++)
        strbuf_addf(out, "%s ", command_word(*child));
    strbuf_add_cstr(out, "' options='");
    for (const struct option *o = c->options; o && o->name; o++)
        strbuf_addf(out, "--%s ", o->name);
    strbuf_addf(out, "%s' ;;\n", c == &command_root ? "" : "--help");
    for (const struct command *const *child = c->children; child && *child; child++)
        add_bash_case(out, *child);
}

static void bash(struct strbuf *out)
{
    strbuf_add_cstr(out, "# bash completion for keel: source <(keel completion bash)\n"
                         "_keel() {\n"
                         "  local word at='' skip='' operand='' words='' options='' files=1\n"
                         "  local current=${COMP_WORDS[COMP_CWORD]}\n");
    add_walk(out, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"");
    strbuf_add_cstr(out, "  case $at in\n");
    add_bash_case(out, &command_root);
    strbuf_add_cstr(out, "  esac\n"
                         "  [ \"$skip\" ] && words='' files=''\n"
                         "  case \"$at:$skip\" in\n");
    add_value_cases(out, &command_root, "words='", "'", BASH_SESSIONS);
    strbuf_add_cstr(out, "  esac\n"
                         "  case $skip:$current in :-*) words=$options ;; esac\n"
                         "  COMPREPLY=()\n"
                         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                         "  if [ ${#COMPREPLY[@]} -eq 0 ] && [ \"$files\" ]; then\n"
                         "    compopt -o filenames 2>/dev/null\n"
                         "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                         "  fi\n"
                         "}\n"
                         "complete -F _keel keel\n");
}

/* --- zsh --- */

static void add_zsh_item(struct strbuf *out, const char *before, const char *word, const char *text)
{
    strbuf_addf(out, " '%s%s:", before, word);
    for (; *text; text++)
        if (*text == '\'')
            strbuf_add_cstr(out, "'\\''");
        else
            strbuf_addf(out, *text == ':' ? "\\%c" : "%c", *text);
    strbuf_add_char(out, '\'');
}

#define ZSH_SESSIONS                                                                               \
    "words_here=(${(f)\"$(keel session list 2>/dev/null | awk 'NR > 1 { print $1 }')\"})"

static void add_zsh_case(struct strbuf *out, const struct command *c)
{
    if (takes_session(c->operands))
        strbuf_addf(out, "    '%s') files=; [ \"$skip\" ] || " ZSH_SESSIONS "; words_here+=(",
                    c->name);
    else if (takes_program(c->operands))
        strbuf_addf(out, "    '%s') [ \"$operand\" ] || words_here=(${(k)commands}); words_here+=(",
                    c->name);
    else {
        strbuf_addf(out, "    '%s') words_here=(", c->name);
        add_words(out, c->operands);
    }
    for (const struct command *const *child = c->children; child && *child; child++)
        add_zsh_item(out, "", command_word(*child), (*child)->summary);
    strbuf_add_cstr(out, ") options=(");
    for (const struct option *o = c->options; o && o->name; o++)
        add_zsh_item(out, "--", o->name, o->help);
    if (c != &command_root)
        add_zsh_item(out, "--", "help", "print help");
    strbuf_add_cstr(out, ") ;;\n");
    for (const struct command *const *child = c->children; child && *child; child++)
        add_zsh_case(out, *child);
}

static void zsh(struct strbuf *out)
{
    strbuf_add_cstr(out, "#compdef keel\n"
                         "# zsh completion for keel: source <(keel completion zsh)\n"
                         "_keel() {\n"
                         "  local word at='' skip='' operand='' files=1\n"
                         "  local -a words_here options\n");
    add_walk(out, "\"${(@)words[2,CURRENT-1]}\"");
    strbuf_add_cstr(out, "  case $at in\n");
    add_zsh_case(out, &command_root);
    strbuf_add_cstr(out, "  esac\n"
                         "  if [ \"$skip\" ]; then words_here=() files=''\n"
                         "  elif [[ $PREFIX == -* ]]; then words_here=($options); fi\n"
                         "  case \"$at:$skip\" in\n");
    add_value_cases(out, &command_root, "words_here=(", ")", ZSH_SESSIONS);
    strbuf_add_cstr(out,
                    "  esac\n"
                    "  if ! _describe keel words_here && [ \"$files\" ]; then _files; fi\n"
                    "}\n"
                    "if [ \"$funcstack[1]\" = _keel ]; then _keel; else compdef _keel keel; fi\n");
}

/* --- fish --- */

static void add_fish_text(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '\'');
    for (; *text; text++)
        strbuf_addf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    strbuf_add_char(out, '\'');
}

/* The condition under which a command's words are offered: its own words precede the cursor, and
 * none of those below it does. */
static void add_fish_condition(struct strbuf *out, const struct command *c)
{
    struct str rest = str_of(c->name), word;

    strbuf_add_cstr(out, " -n '");
    if (c == &command_root)
        strbuf_add_cstr(out, "__fish_use_subcommand");
    for (bool is_first = true; c->name[0] && str_split(&rest, ' ', &word); is_first = false)
        strbuf_addf(out, "%s__fish_seen_subcommand_from %" STR_FMT, is_first ? "" : "; and ",
                    STR_ARG(word));
    if (c != &command_root && c->children)
        strbuf_add_cstr(out, "; and not __fish_seen_subcommand_from");
    for (const struct command *const *child = c->children; c != &command_root && child && *child;
         child++)
        strbuf_addf(out, " %s", command_word(*child));
    strbuf_add_char(out, '\'');
}

static void add_fish_values(struct strbuf *out, const char *words)
{
    if (takes_session(words))
        strbuf_add_cstr(
            out, " -a '(keel session list 2>/dev/null | string match -r \"^[0-9a-f]\\S+\")'");
    else if (takes_program(words))
        strbuf_add_cstr(out, " -a '(complete -C (commandline -ct))'");
    else {
        strbuf_add_cstr(out, " -a '");
        add_words(out, words);
        strbuf_add_char(out, '\'');
    }
}

static void add_fish_lines(struct strbuf *out, const struct command *c)
{
    for (const struct command *const *child = c->children; child && *child; child++) {
        strbuf_add_cstr(out, "complete -c keel -f");
        add_fish_condition(out, c);
        strbuf_addf(out, " -a %s -d ", command_word(*child));
        add_fish_text(out, (*child)->summary);
        strbuf_add_char(out, '\n');
    }
    if (c->operands) {
        strbuf_add_cstr(out, "complete -c keel -f");
        add_fish_condition(out, c);
        add_fish_values(out, c->operands);
        strbuf_add_char(out, '\n');
    }
    for (const struct option *o = c->options; o && o->name; o++) {
        strbuf_add_cstr(out, "complete -c keel");
        add_fish_condition(out, c);
        if (o->letter)
            strbuf_addf(out, " -s %c", o->letter);
        strbuf_addf(out, " -l %s", o->name);
        if (o->value_name)
            strbuf_add_cstr(out, takes_path(o) ? " -r -F" : " -x");
        if (o->words)
            add_fish_values(out, o->words);
        strbuf_add_cstr(out, " -d ");
        add_fish_text(out, o->help);
        strbuf_add_char(out, '\n');
    }
    for (const struct command *const *child = c->children; child && *child; child++)
        add_fish_lines(out, *child);
}

static void fish(struct strbuf *out)
{
    strbuf_add_cstr(out, "# fish completion for keel: keel completion fish | source\n"
                         "complete -c keel -n 'not __fish_use_subcommand' -s h -l help -d "
                         "'print help'\n");
    add_fish_lines(out, &command_root);
}

static struct err *completion_run(const struct args *args, int *ret_status)
{
    static const struct {
        const char *shell;
        void (*write)(struct strbuf *out);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 1, 1, "a shell: bash, zsh or fish"));
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(args->operands[0], shells[i].shell) == 0) {
            shells[i].write(&out);
            return cli_print(strbuf_str(&out));
        }
    return err_hint(err_new(ERR_VALIDATION, "unknown shell \"%s\"", args->operands[0]),
                    "one of: bash, zsh, fish");
}

const struct command command_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .operands = "bash zsh fish",
    .group = "Set up",
    .summary = "print a completion script for your shell",
    .details = "  bash:  source <(keel completion bash)          in ~/.bashrc\n"
               "  zsh:   source <(keel completion zsh)           in ~/.zshrc\n"
               "  fish:  keel completion fish | source           in config.fish\n",
    .run = completion_run,
};
