/* table.c - commands that only look, and the options they must not have. */
#include "gate/look/look.h"

#include "base/strbuf.h"
#include "gate/shell/script.h"

/* --- checks of their own --- */

static bool sed_only_prints(const struct split_command *c)
{
    return sed_effects(c->words, c->n_words) == 0;
}

static bool awk_only_prints(const struct split_command *c)
{
    return awk_effects(c->words, c->n_words) == 0;
}

/* An operand sets the clock, except "+FORMAT". */
static bool date_only_prints(const struct split_command *c)
{
    for (size_t i = 1; i < c->n_words; i++) {
        struct str text = c->words[i].text;

        if (str_is(text, "-d") || str_is(text, "-r"))
            i++;
        else if (text.n == 0 || !strchr("+-", text.p[0]))
            return false;
    }
    return true;
}

/* "command -v x". Otherwise the command it starts is another command of the line. */
static bool command_is_plain(const struct split_command *c)
{
    return c->n_words > 1 && !str_is(c->words[1].text, "-p");
}

/* "nm @FILE" reads options from the file, which may name a plugin. */
static bool has_no_options_file(const struct split_command *c)
{
    for (size_t i = 1; i < c->n_words; i++) {
        struct str text = c->words[i].text;

        if (text.n && (text.p[0] == '@' || text.p[0] == SHELL_ANYTHING))
            return false;
    }
    return true;
}

/* --- the table --- */

#define FIND_STARTERS " -delete -execdir -ok -okdir -fprint -fprint0 -fprintf -fls "

/* A program that starts another (xargs, find -exec) is listed if it does nothing else: the started
 * command is another command of the line. */
static const struct look_row table[] = {
    /* of the shell */
    {":", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"[", LOOK_IS_BUILTIN},
    {"break", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"cd", LOOK_IS_BUILTIN | LOOK_MOVES},
    {"command", LOOK_IS_BUILTIN | LOOK_NAMES, .check = command_is_plain},
    {"continue", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"echo", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"exit", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"false", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"printf", LOOK_IS_BUILTIN | LOOK_NO_FILES, .words = " -v "},
    {"pwd", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"read", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"set", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"test", LOOK_IS_BUILTIN},
    {"true", LOOK_IS_BUILTIN | LOOK_NO_FILES},
    {"type", LOOK_IS_BUILTIN | LOOK_NAMES},
    /* files and directories */
    {"basename", LOOK_NO_FILES},
    {"cksum"},
    {"df"},
    {"dir"},
    {"dirname", LOOK_NO_FILES},
    {"du"},
    {"fd", LOOK_TEXT_FIRST, .letters = "xX", .words = " --exec --exec-batch ", .valued = "eEdt"},
    {"fdfind", LOOK_TEXT_FIRST, .letters = "xX", .words = " --exec --exec-batch ",
     .valued = "eEdt"},
    {"file", .letters = "CzZ", .words = " --compile --uncompress --uncompress-noreport "},
    {"find", .words = FIND_STARTERS},
    {"ls"},
    {"md5sum"},
    {"readlink"},
    {"realpath"},
    {"sha1sum"},
    {"sha224sum"},
    {"sha256sum"},
    {"sha384sum"},
    {"sha512sum"},
    {"stat", .valued = "c"},
    {"sum"},
    {"tree", .letters = "oR", .words = " --output ", .valued = "LPI"},
    {"vdir"},
    {"which", LOOK_NAMES},
    /* what is in them */
    {"awk", LOOK_TEXT_FIRST, .valued = "Fv", .check = awk_only_prints},
    {"b2sum"},
    {"base64", .valued = "w"},
    {"bzcat"},
    {"cat"},
    {"cmp"},
    {"column", .valued = "stNc"},
    {"comm"},
    {"cut", .valued = "dfcb"},
    {"diff", .letters = "l", .words = " --paginate ", .valued = "UCIx"},
    {"egrep", LOOK_TEXT_FIRST, .valued = "eABCm"},
    {"expand"},
    {"fgrep", LOOK_TEXT_FIRST, .valued = "eABCm"},
    {"fmt"},
    {"fold"},
    {"gawk", LOOK_TEXT_FIRST, .valued = "Fv", .check = awk_only_prints},
    {"grep", LOOK_TEXT_FIRST, .valued = "eABCm"},
    {"head", .valued = "nc"},
    {"hexdump", .valued = "nse"},
    {"join", .valued = "t12ao"},
    {"jq", LOOK_TEXT_FIRST},
    {"mawk", LOOK_TEXT_FIRST, .valued = "Fv", .check = awk_only_prints},
    {"nl"},
    {"nm", .words = " --plugin ", .check = has_no_options_file},
    {"objdump", .words = " --plugin ", .valued = "Mj", .check = has_no_options_file},
    {"od", .valued = "AjNtw"},
    {"paste", .valued = "d"},
    {"readelf", .check = has_no_options_file},
    {"rev"},
    {"rg", LOOK_TEXT_FIRST, .letters = "z", .words = " --pre --hostname-bin --search-zip ",
     .valued = "egtTABCm"},
    {"sed", LOOK_TEXT_FIRST, .valued = "e", .check = sed_only_prints},
    {"sort", .letters = "oST",
     .words = " --output --buffer-size --temporary-directory --compress-program ", .valued = "kt"},
    {"strings", .valued = "n", .check = has_no_options_file},
    {"tac"},
    {"tail", .letters = "fF", .words = " --follow --retry --pid ", .valued = "nc"},
    {"tr", LOOK_NO_FILES},
    {"unexpand"},
    {"uniq", LOOK_ONE_FILE, .valued = "fsw"},
    {"wc"},
    {"xxd", LOOK_ONE_FILE, .valued = "clsg"},
    {"xzcat", .letters = "o"},
    {"zcat"},
    /* the machine and its user */
    {"arch", LOOK_NO_FILES},
    {"date", LOOK_NO_FILES, .letters = "s", .words = " --set ", .check = date_only_prints},
    {"env", LOOK_NO_WORDS},
    {"free", LOOK_NO_FILES, .letters = "s", .words = " --seconds "},
    {"groups", LOOK_NO_FILES},
    {"hostname", LOOK_NO_WORDS},
    {"id", LOOK_NO_FILES},
    {"locale", LOOK_NO_FILES},
    {"nproc", LOOK_NO_FILES},
    {"pgrep", LOOK_NO_FILES},
    {"printenv", LOOK_NO_FILES},
    {"ps", LOOK_NO_FILES},
    {"uname", LOOK_NO_FILES},
    {"uptime", LOOK_NO_FILES},
    {"whoami", LOOK_NO_FILES},
    /* texts and numbers */
    {"expr", LOOK_NO_FILES},
    {"numfmt", LOOK_NO_FILES},
    {"seq", LOOK_NO_FILES},
    /* others of this table */
    {"timeout", .valued = "ks"},
    {"xargs", .words = " --process-slot-var ", .valued = "IEdLnPs"},
    /* repositories */
    {"git", .letters = "O",
     .words = " --output --ext-diff --textconv --filters --show-signature --open-files-in-pager "
              "--remerge-diff ",
     .check = git_only_looks},
};

/* Programs that print their version and run or obey nothing of the project for it: not yarn,
 * rustup, mvn or valgrind. For other programs the effect of the option is unknown. */
static const struct {
    const char *name; /* also followed by a version: gcc-12, python3.12 */
    const char *also; /* besides --version; NULL: nothing */
} versions[] = {
    {"ar", NULL},          {"as", NULL},           {"autoconf", NULL},     {"automake", NULL},
    {"bash", NULL},        {"bc", NULL},           {"bison", NULL},        {"bun", NULL},
    {"bzip2", NULL},       {"c++", NULL},          {"cc", NULL},           {"ccache", NULL},
    {"clang", NULL},       {"clang++", NULL},      {"clang-format", NULL}, {"clang-tidy", NULL},
    {"clangd", NULL},      {"cmake", NULL},        {"cpp", NULL},          {"curl", NULL},
    {"deno", NULL},        {"docker", NULL},       {"emacs", NULL},        {"fish", NULL},
    {"flex", NULL},        {"g++", NULL},          {"gcc", NULL},          {"gdb", NULL},
    {"gfortran", NULL},    {"gh", NULL},           {"git", NULL},          {"go", "version"},
    {"gpg", NULL},         {"gzip", NULL},         {"java", "-version"},   {"javac", "-version"},
    {"jq", NULL},          {"ld", NULL},           {"ld.lld", NULL},       {"less", NULL},
    {"llvm-config", NULL}, {"lsof", "-v"},         {"lua", "-v"},          {"m4", NULL},
    {"make", NULL},        {"man", NULL},          {"meson", NULL},        {"mysql", NULL},
    {"nano", NULL},        {"ninja", NULL},        {"node", "-v"},         {"npm", "-v"},
    {"nvim", NULL},        {"openssl", "version"}, {"pandoc", NULL},       {"patch", NULL},
    {"perl", "-v"},        {"php", "-v"},          {"pip", NULL},          {"pkg-config", NULL},
    {"pkgconf", NULL},     {"podman", NULL},       {"psql", NULL},         {"python", "-V"},
    {"R", NULL},           {"redis-cli", NULL},    {"redis-server", NULL}, {"rg", NULL},
    {"rsync", NULL},       {"ruby", "-v"},         {"screen", NULL},       {"shellcheck", NULL},
    {"sqlite3", NULL},     {"ssh", "-V"},          {"svn", NULL},          {"systemctl", NULL},
    {"tar", NULL},         {"tmux", "-V"},         {"unzip", "-v"},        {"vim", NULL},
    {"wget", NULL},        {"xz", NULL},           {"zip", "-v"},          {"zsh", NULL},
    {"zstd", NULL},
};

/* The rest of a program's name: "", "-12", "3.12". */
static bool is_version(struct str text)
{
    if (str_starts(text, S("-")) && text.n > 1)
        text = str_skip(text, 1);
    for (size_t i = 0; i < text.n; i++)
        if ((text.p[i] < '0' || text.p[i] > '9') && (text.p[i] != '.' || i == 0))
            return false;
    return true;
}

static bool tells_version(const struct split_command *c)
{
    struct str program = c->words[0].text, option;

    if (c->n_words != 2 || !c->words[1].is_known)
        return false;
    option = c->words[1].text;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct str name = str_of(versions[i].name);

        if (str_starts(program, name) && is_version(str_skip(program, name.n)) &&
            (str_is(option, "--version") || (versions[i].also && str_is(option, versions[i].also))))
            return true;
    }
    return false;
}

/* --- one command --- */

/* An expanded word may begin with a dash, or be several words. */
static bool may_be_option(const struct shell_word *w)
{
    return !w->is_known &&
           (w->text.n == 0 || w->text.p[0] == SHELL_ANYTHING || w->text.p[0] == '-');
}

/* getopt accepts "--outp" for "--output". find's "-fprintf" is a word of its own. */
static bool is_forbidden_option(const struct look_row *row, struct str text)
{
    struct str rest = str_of(row->words), option;
    struct str name = str_slice(text, 0, str_find_char(text, '='));

    if (text.n < 2 || text.p[0] != '-' || str_is(text, "--"))
        return false;
    while (row->words && str_split(&rest, ' ', &option))
        if (option.n &&
            (str_starts(name, S("--")) ? str_starts(option, name) : str_eq(option, name)))
            return true;
    if (!row->letters || str_starts(text, S("--")))
        return false;
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] && strchr(row->letters, text.p[i]))
            return true;
    return false;
}

static bool has_forbidden_option(const struct look_row *row, const struct split_command *c)
{
    if (!row->letters && !row->words)
        return false;
    for (size_t i = 1; i < c->n_words; i++)
        if (may_be_option(&c->words[i]) || is_forbidden_option(row, c->words[i].text))
            return true;
    return false;
}

/* The value of an option is not an operand. */
static size_t count_operands(const struct look_row *row, const struct split_command *c)
{
    bool are_operands = false; /* all the rest, after "--" */
    size_t n = 0;

    for (size_t i = 1; i < c->n_words; i++) {
        struct str text = c->words[i].text;

        if (!c->words[i].is_known)
            return SIZE_MAX;
        if (are_operands || text.n < 2 || text.p[0] != '-')
            n++;
        else if (str_is(text, "--"))
            are_operands = true;
        else if (text.n == 2 && row->valued && strchr(row->valued, text.p[1]))
            i++;
    }
    return n;
}

bool look_has_program(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (name.n && name.p[0] == table[i].name[0] && str_is(name, table[i].name))
            return true;
    return false;
}

const struct look_row *look_row_of(const struct split_command *c)
{
    if (c->n_assignments || c->n_words == 0 || !c->words[0].is_known)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_is(c->words[0].text,
                   table[i].name)) /* compares the directory too: /tmp/ls is not ls */
            return &table[i];
    return NULL;
}

static bool command_only_looks(const struct split_command *c)
{
    const struct look_row *row = look_row_of(c);

    if (!row || (row->how & LOOK_NO_WORDS && c->n_words > 1) || has_forbidden_option(row, c) ||
        (row->how & LOOK_ONE_FILE && count_operands(row, c) > 1))
        return c->n_assignments == 0 && c->n_words && tells_version(c);
    return !row->check || row->check(c) || tells_version(c);
}

/* --- a line --- */

bool split_only_looks(const struct shell_split *split)
{
    if (!split->is_sure || split->changes_names || split->sets_variables || split->n_commands == 0)
        return false;
    for (size_t i = 0; i < split->n_redirections; i++) {
        const struct shell_word *target = &split->redirections[i].target;

        if (split->redirections[i].writes &&
            !(target->is_known && str_is(target->text, "/dev/null")))
            return false;
    }
    for (size_t i = 0; i < split->n_commands; i++)
        if (!command_only_looks(&split->commands[i]))
            return false;
    return true;
}

bool line_only_looks(struct str line)
{
    AUTO(arena) struct arena a = {0};
    struct shell_split split;

    shell_split(&a, line, &split);
    return split_only_looks(&split);
}

bool split_moves(const struct shell_split *split)
{
    for (size_t i = 0; i < split->n_commands; i++) {
        const struct look_row *row = look_row_of(&split->commands[i]);

        if (row && row->how & LOOK_MOVES)
            return true;
    }
    return false;
}

/* --- for people --- */

static const char *limits_of(struct arena *a, const struct look_row *row)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (row->how & LOOK_NO_WORDS)
        return "anything";
    for (size_t i = 0; row->letters && row->letters[i]; i++)
        strbuf_addf(&out, "%s-%c", out.n ? " " : "", row->letters[i]);
    if (row->words)
        strbuf_addf(&out, "%s%" STR_FMT, out.n ? " " : "", STR_ARG(str_trim(str_of(row->words))));
    return out.n ? arena_cstr(a, strbuf_str(&out)) : NULL;
}

const struct look_program *look_programs(struct arena *a, size_t *ret_n)
{
    struct look_program *list = ARENA_ARRAY(a, ARRAY_LEN(table), struct look_program);

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        list[i] = (struct look_program){table[i].name, limits_of(a, &table[i])};
    *ret_n = ARRAY_LEN(table);
    return list;
}
