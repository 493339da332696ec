/* completion.c - `keel completion`: shell completion, made from the tables of commands. */
#include "cli/commands.h"

/* --- bash --- */

static void add_words(struct strbuf *out, const struct command *c)
{
    for (const struct command *const *child = c->children; child && *child; child++)
        strbuf_addf(out, " %s", command_word(*child));
    for (const struct option *o = c->options; o && o->name; o++)
        strbuf_addf(out, " --%s", o->name);
    strbuf_add_cstr(out, " --help");
}

static void add_bash_case(struct strbuf *out, const struct command *c)
{
    strbuf_addf(out, "    '%s') words='", c->name);
    add_words(out, c);
    strbuf_add_cstr(out, "' ;;\n");
    for (const struct command *const *child = c->children; child && *child; child++)
        add_bash_case(out, *child);
}

static void bash(struct strbuf *out)
{
    strbuf_add_cstr(out, "# bash completion for keel: source <(keel completion bash)\n"
                         "_keel() {\n"
                         "  local word path='' words='' current=${COMP_WORDS[COMP_CWORD]}\n"
                         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                         "    case $word in -*) continue ;; esac\n"
                         "    path=\"${path:+$path }$word\"\n"
                         "  done\n"
                         "  case $path in\n");
    add_bash_case(out, &command_root);
    strbuf_add_cstr(out,
                    "  esac\n"
                    "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                    "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
                    "}\n"
                    "complete -o filenames -F _keel keel\n");
}

/* --- zsh --- */

static void add_zsh_text(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            strbuf_add_cstr(out, "'\\''");
        else if (*text == ':')
            strbuf_add_cstr(out, "\\:");
        else
            strbuf_add_char(out, *text);
    }
}

static void add_zsh_case(struct strbuf *out, const struct command *c)
{
    strbuf_addf(out, "    '%s') items=(", c->name);
    for (const struct command *const *child = c->children; child && *child; child++) {
        strbuf_addf(out, " '%s:", command_word(*child));
        add_zsh_text(out, (*child)->summary);
        strbuf_add_char(out, '\'');
    }
    for (const struct option *o = c->options; o && o->name; o++) {
        strbuf_addf(out, " '--%s:", o->name);
        add_zsh_text(out, o->help);
        strbuf_add_char(out, '\'');
    }
    strbuf_add_cstr(out, " '--help:print help') ;;\n");
    for (const struct command *const *child = c->children; child && *child; child++)
        add_zsh_case(out, *child);
}

static void zsh(struct strbuf *out)
{
    strbuf_add_cstr(out, "#compdef keel\n"
                         "# zsh completion for keel: source <(keel completion zsh)\n"
                         "_keel() {\n"
                         "  local word where=''\n"
                         "  local -a items\n"
                         "  for word in ${words[2,CURRENT-1]}; do\n"
                         "    [[ $word == -* ]] && continue\n"
                         "    where=\"${where:+$where }$word\"\n"
                         "  done\n"
                         "  case $where in\n");
    add_zsh_case(out, &command_root);
    strbuf_add_cstr(out,
                    "  esac\n"
                    "  _describe keel items || _files\n"
                    "}\n"
                    "if [ \"$funcstack[1]\" = _keel ]; then _keel; else compdef _keel keel; fi\n");
}

/* --- fish --- */

static void add_fish_text(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *text);
    }
    strbuf_add_char(out, '\'');
}

/* The condition under which a command's words are offered: all its own words stand before. */
static void add_fish_condition(struct strbuf *out, const struct command *c)
{
    struct str rest = str_of(c->name), word;

    strbuf_add_cstr(out, " -n '");
    if (c->name[0] == 0)
        strbuf_add_cstr(out, "__fish_use_subcommand");
    for (bool first = true; c->name[0] && str_split(&rest, ' ', &word); first = false)
        strbuf_addf(out, "%s__fish_seen_subcommand_from %" STR_FMT, first ? "" : "; and ",
                    STR_ARG(word));
    strbuf_add_char(out, '\'');
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
    for (const struct option *o = c->options; o && o->name; o++) {
        strbuf_add_cstr(out, "complete -c keel");
        add_fish_condition(out, c);
        strbuf_addf(out, " -l %s%s -d ", o->name, o->value_name ? " -r" : "");
        add_fish_text(out, o->help);
        strbuf_add_char(out, '\n');
    }
    for (const struct command *const *child = c->children; child && *child; child++)
        add_fish_lines(out, *child);
}

static void fish(struct strbuf *out)
{
    strbuf_add_cstr(out, "# fish completion for keel: keel completion fish | source\n"
                         "complete -c keel -l help -s h -d 'print help'\n");
    add_fish_lines(out, &command_root);
}

static struct err *run(const struct args *args, int *ret_status)
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
    return err_hint(err_new(ERR_VALIDATION, "there is no completion for \"%s\"", args->operands[0]),
                    "keel completion knows bash, zsh and fish");
}

const struct command command_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .group = "Set up",
    .summary = "print a completion script for your shell",
    .details = "  bash:  source <(keel completion bash)          in ~/.bashrc\n"
               "  zsh:   source <(keel completion zsh)           in ~/.zshrc\n"
               "  fish:  keel completion fish | source           in config.fish\n",
    .run = run,
};
