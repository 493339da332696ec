/* starter.c - programs that can start any other, and whose words do not tell which.
 *
 * Where their command can be read from the line, wrapper.c reads it. Here are the others:
 * languages, editors, builders, remote shells. A file that is run by its name is not among them:
 * what it does is not in the line, and it is like any other program then. */
#include "gate/shell/parser.h"

#include "gate/shell/script.h"

enum starter_kind {
    STARTER_ALWAYS,  /* with whatever arguments */
    STARTER_BY_CODE, /* with code in an option, or with none and no operand: it reads its input */
    STARTER_BY_WORD, /* with one of these words */
};

static const struct starter {
    const char *name;
    enum starter_kind kind;
    const char *letters; /* short options, in any cluster */
    const char *words;   /* how others begin, with a blank around each */
} starters[] = {
    /* languages */
    {"bun", STARTER_BY_CODE, "ep", " --eval --print x exec "},
    {"deno", STARTER_BY_CODE, "", " eval repl "},
    {"elixir", STARTER_BY_CODE, "e", " --eval --rpc-eval "},
    {"elvish", STARTER_BY_CODE, "c", " "},
    {"erl", STARTER_ALWAYS},
    {"expect", STARTER_BY_CODE, "c", " "},
    {"gdb", STARTER_ALWAYS},
    {"ghci", STARTER_ALWAYS},
    {"groovy", STARTER_BY_CODE, "e", " "},
    {"guile", STARTER_BY_CODE, "c", " "},
    {"jshell", STARTER_ALWAYS},
    {"julia", STARTER_BY_CODE, "eE", " --eval --print "},
    {"lldb", STARTER_ALWAYS},
    {"lua", STARTER_BY_CODE, "e", " "},
    {"luajit", STARTER_BY_CODE, "e", " "},
    {"m4", STARTER_ALWAYS},
    {"node", STARTER_BY_CODE, "epr", " --eval --print --require --import --loader "},
    {"nodejs", STARTER_BY_CODE, "epr", " --eval --print --require --import --loader "},
    {"nu", STARTER_BY_CODE, "ce", " --commands --execute "},
    {"ocaml", STARTER_BY_CODE, "e", " "},
    {"octave", STARTER_BY_CODE, "", " --eval "},
    {"osascript", STARTER_ALWAYS},
    {"perl", STARTER_BY_CODE, "eE", " "},
    {"php", STARTER_BY_CODE, "rBRE", " --run --process-begin --process-code --process-end "},
    {"python", STARTER_BY_CODE, "cm", " "},
    {"python2", STARTER_BY_CODE, "cm", " "},
    {"python3", STARTER_BY_CODE, "cm", " "},
    {"R", STARTER_BY_CODE, "e", " "},
    {"Rscript", STARTER_BY_CODE, "e", " "},
    {"ruby", STARTER_BY_CODE, "e", " "},
    {"scala", STARTER_BY_CODE, "e", " "},
    {"sqlite3", STARTER_ALWAYS},
    {"psql", STARTER_ALWAYS},
    {"pwsh", STARTER_BY_CODE, "cCeE", " --command --encodedcommand "},
    {"mysql", STARTER_ALWAYS},
    {"tclsh", STARTER_BY_CODE, "", " "},
    {"xonsh", STARTER_BY_CODE, "c", " "},
    /* editors and pagers */
    {"ed", STARTER_ALWAYS},
    {"emacs", STARTER_ALWAYS},
    {"ex", STARTER_ALWAYS},
    {"less", STARTER_BY_WORD, "", " + "},
    {"man", STARTER_BY_WORD, "PH", " --pager --html "},
    {"more", STARTER_BY_WORD, "", " + "},
    {"nano", STARTER_ALWAYS},
    {"nvim", STARTER_ALWAYS},
    {"vi", STARTER_ALWAYS},
    {"view", STARTER_ALWAYS},
    {"vim", STARTER_ALWAYS},
    /* builders and runners */
    {"ant", STARTER_ALWAYS},
    {"asdf", STARTER_BY_WORD, "", " exec "},
    {"bazel", STARTER_ALWAYS},
    {"bmake", STARTER_ALWAYS},
    {"bundle", STARTER_BY_WORD, "", " exec "},
    {"bunx", STARTER_ALWAYS},
    {"cargo", STARTER_BY_WORD, "", " --config bench run test "},
    {"cmake", STARTER_BY_WORD, "EP", " --build "},
    {"conda", STARTER_BY_WORD, "", " run "},
    {"ctest", STARTER_ALWAYS},
    {"direnv", STARTER_BY_WORD, "", " exec "},
    {"entr", STARTER_ALWAYS},
    {"gmake", STARTER_ALWAYS},
    {"go", STARTER_BY_WORD, "", " -exec -toolexec generate run "},
    {"gradle", STARTER_ALWAYS},
    {"guix", STARTER_BY_WORD, "", " environment shell "},
    {"hyperfine", STARTER_ALWAYS},
    {"just", STARTER_ALWAYS},
    {"make", STARTER_ALWAYS},
    {"meson", STARTER_BY_WORD, "", " compile devenv test "},
    {"mise", STARTER_BY_WORD, "", " exec x run "},
    {"mvn", STARTER_ALWAYS},
    {"ninja", STARTER_ALWAYS},
    {"nix", STARTER_BY_WORD, "", " run shell develop "},
    {"nix-shell", STARTER_ALWAYS},
    {"nodemon", STARTER_ALWAYS},
    {"nox", STARTER_ALWAYS},
    {"npm", STARTER_BY_WORD, "", " exec x run start test "},
    {"npx", STARTER_ALWAYS},
    {"pipenv", STARTER_BY_WORD, "", " run shell "},
    {"pipx", STARTER_BY_WORD, "", " run "},
    {"pnpm", STARTER_BY_WORD, "", " dlx exec run start test "},
    {"poetry", STARTER_BY_WORD, "", " run "},
    {"pre-commit", STARTER_BY_WORD, "", " run "},
    {"pyenv", STARTER_BY_WORD, "", " exec "},
    {"rake", STARTER_ALWAYS},
    {"rbenv", STARTER_BY_WORD, "", " exec "},
    {"run-parts", STARTER_ALWAYS},
    {"tox", STARTER_ALWAYS},
    {"uv", STARTER_BY_WORD, "", " run tool "},
    {"uvx", STARTER_ALWAYS},
    {"yarn", STARTER_ALWAYS},
    /* elsewhere, later, in a terminal */
    {"at", STARTER_ALWAYS},
    {"batch", STARTER_ALWAYS},
    {"bwrap", STARTER_ALWAYS},
    {"capsh", STARTER_ALWAYS},
    {"catchsegv", STARTER_ALWAYS},
    {"chronic", STARTER_ALWAYS},
    {"crontab", STARTER_ALWAYS},
    {"daemonize", STARTER_ALWAYS},
    {"dc", STARTER_ALWAYS},
    {"dbus-run-session", STARTER_ALWAYS},
    {"distrobox", STARTER_ALWAYS},
    {"docker", STARTER_BY_WORD, "", " run exec compose "},
    {"eatmydata", STARTER_ALWAYS},
    {"fakeroot", STARTER_ALWAYS},
    {"faketime", STARTER_ALWAYS},
    {"ifne", STARTER_ALWAYS},
    {"firejail", STARTER_ALWAYS},
    {"flatpak-spawn", STARTER_ALWAYS},
    {"gosu", STARTER_ALWAYS},
    {"ip", STARTER_BY_WORD, "", " exec "},
    {"kubectl", STARTER_BY_WORD, "", " exec run "},
    {"nc", STARTER_BY_WORD, "ec", " "},
    {"ncat", STARTER_BY_WORD, "ec", " --exec --sh-exec --lua-exec "},
    {"netcat", STARTER_BY_WORD, "ec", " "},
    {"numactl", STARTER_ALWAYS},
    {"perf", STARTER_ALWAYS},
    {"pee", STARTER_ALWAYS},
    {"podman", STARTER_BY_WORD, "", " run exec "},
    {"proot", STARTER_ALWAYS},
    {"rlwrap", STARTER_ALWAYS},
    {"screen", STARTER_ALWAYS},
    {"socat", STARTER_ALWAYS},
    {"ssh", STARTER_ALWAYS},
    {"start-stop-daemon", STARTER_ALWAYS},
    {"su-exec", STARTER_ALWAYS},
    {"systemd-inhibit", STARTER_ALWAYS},
    {"tmux", STARTER_ALWAYS},
    {"toolbox", STARTER_ALWAYS},
    {"valgrind", STARTER_ALWAYS},
    {"watchexec", STARTER_ALWAYS},
    {"xvfb-run", STARTER_ALWAYS},
    /* with an option for it */
    {"ack", STARTER_BY_WORD, "", " --pager "},
    {"ag", STARTER_BY_WORD, "", " --pager "},
    {"apt", STARTER_BY_WORD, "o", " --option "},
    {"apt-get", STARTER_BY_WORD, "o", " --option "},
    {"bat", STARTER_BY_WORD, "", " --pager "},
    {"batcat", STARTER_BY_WORD, "", " --pager "},
    {"c++", STARTER_BY_WORD, "", " -wrapper "},
    {"cc", STARTER_BY_WORD, "", " -wrapper "},
    {"cpio", STARTER_BY_WORD, "", " --rsh-command "},
    {"g++", STARTER_BY_WORD, "", " -wrapper "},
    {"gcc", STARTER_BY_WORD, "", " -wrapper "},
    {"install", STARTER_BY_WORD, "", " --strip-program "},
    {"rg", STARTER_BY_WORD, "", " --pre --hostname-bin "},
    {"rsync", STARTER_BY_WORD, "e", " --rsh --rsync-path "},
    {"rustc", STARTER_BY_WORD, "C", " --codegen "},
    {"scp", STARTER_BY_WORD, "SDo", " "},
    {"sftp", STARTER_BY_WORD, "SDo", " "},
    {"sort", STARTER_BY_WORD, "", " --compress-program "},
    {"split", STARTER_BY_WORD, "", " --filter "},
    {"tar", STARTER_BY_WORD, "IF",
     " --checkpoint-action --to-command --use-compress-program --info-script --new-volume-script "
     "--rsh-command --rmt-command "},
    {"tcpdump", STARTER_BY_WORD, "z", " "},
    {"wget", STARTER_BY_WORD, "", " --use-askpass "},
    {"zip", STARTER_BY_WORD, "", " -TT --unzip-command "},
};

static const struct starter *find_starter(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(starters); i++)
        if (str_is(name, starters[i].name))
            return &starters[i];
    return NULL;
}

/* "python3.12" is python3, "vim.tiny" is vim, "gcc-12" is gcc. */
static struct str without_version(struct str name)
{
    struct str short_name = str_slice(name, 0, str_find_char(name, '.'));
    size_t dash = str_rfind_char(short_name, '-');

    if (dash == STR_NONE || dash + 1 == short_name.n)
        return short_name;
    for (size_t i = dash + 1; i < short_name.n; i++)
        if (short_name.p[i] < '0' || short_name.p[i] > '9')
            return short_name;
    return str_slice(short_name, 0, dash);
}

bool shell_names_program(struct str assignment)
{
    static const char names[] =
        " BASH_ENV BROWSER EDITOR ENV JAVA_TOOL_OPTIONS LESSCLOSE LESSOPEN MANPAGER NODE_OPTIONS "
        "PAGER PATH PERL5DB PERL5LIB PERL5OPT PROMPT_COMMAND PYTHONHOME PYTHONPATH PYTHONSTARTUP "
        "RUBYLIB RUBYOPT SHELL VISUAL ";
    struct str name = str_slice(assignment, 0, str_find_char(assignment, '=')), known;
    struct str rest = str_of(names);

    if (name.n == assignment.n)
        return false;
    if (str_ends(name, S("+")))
        name.n--;
    while (str_split(&rest, ' ', &known))
        if (known.n && str_eq(name, known))
            return true;
    return str_starts(name, S("GIT_")) || str_starts(name, S("LD_"));
}

/* getopt takes "--to-com" for "--to-command". */
static bool begins_like(const char *words, struct str text)
{
    struct str rest = str_of(words), word;
    struct str name = str_slice(text, 0, str_find_char(text, '='));

    while (str_split(&rest, ' ', &word)) {
        if (word.n == 0)
            continue;
        if (str_starts(word, S("--")) ? name.n > 2 && str_starts(word, name)
            : word.p[0] == '+'        ? str_starts(text, word)
                                      : str_eq(text, word))
            return true;
    }
    return false;
}

static bool has_letter(const char *letters, struct str text)
{
    for (size_t i = 1; text.n > 1 && text.p[0] == '-' && text.p[1] != '-' && i < text.n; i++)
        if (text.p[i] && strchr(letters, text.p[i]))
            return true;
    return false;
}

static bool says(const struct starter *s, const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!words[i].is_known || (s->words && begins_like(s->words, words[i].text)) ||
            (s->letters && has_letter(s->letters, words[i].text)))
            return true;
    return false;
}

/* Nothing but options, or "-": the code comes in. */
static bool reads_code(const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (words[i].text.n && words[i].text.p[0] != '-')
            return false;
    return true;
}

static bool only_tells(const struct shell_word *words, size_t n)
{
    static const char *const questions[] = {"--version", "-V", "-v", "--help", "-h", "version"};

    for (size_t i = 0; n == 2 && words[1].is_known && i < ARRAY_LEN(questions); i++)
        if (str_is(words[1].text, questions[i]))
            return true;
    return false;
}

/* --- git --- */

/* Where the subcommand stands; n: there is none. */
static size_t find_subcommand(const struct shell_word *words, size_t n)
{
    size_t i = 1;

    while (i < n && words[i].text.n && words[i].text.p[0] == '-')
        i +=
            begins_like(" -C -c --git-dir --work-tree --namespace --attr-source ", words[i].text) &&
                    str_find_char(words[i].text, '=') == STR_NONE
                ? 2
                : 1;
    return MIN(i, n);
}

/* "git config core.pager x" names one, "git config user.name" asks. */
static bool sets_configuration(const struct shell_word *words, size_t n)
{
    size_t n_operands = 0;

    for (size_t i = 1; i < n; i++)
        n_operands += !str_starts(words[i].text, S("-"));
    return str_is(words[0].text, "config") && n_operands > 1;
}

/* Options that bring settings which name a program, or name one themselves; and subcommands. */
static bool git_starts(const struct shell_word *words, size_t n)
{
    static const char before[] = " -c --config-env --exec-path ",
                      after[] = " -x --exec --upload-pack --receive-pack --ext-diff --config "
                                "--open-files-in-pager ",
                      always[] = " difftool mergetool filter-branch send-email ";
    size_t at = find_subcommand(words, n);
    struct str next = at + 1 < n ? words[at + 1].text : (struct str){0};

    for (size_t i = 1; i < n; i++) {
        struct str text = words[i].text;

        if (i <= at && !words[i].is_known)
            return true;
        if (begins_like(i < at ? before : after, text) || str_find(text, S("ext::")) != STR_NONE ||
            str_starts(text, S("-O")))
            return true;
    }
    for (size_t i = at + 1; i < n && str_is(words[at].text, "rebase"); i++)
        if (has_letter("x", words[i].text))
            return true;
    for (size_t i = at + 1; i < n && str_is(words[at].text, "clone"); i++)
        if (has_letter("uc", words[i].text)) /* --upload-pack, --config */
            return true;
    return at < n &&
           (begins_like(always, words[at].text) || sets_configuration(words + at, n - at) ||
            (str_is(words[at].text, "submodule") && str_is(next, "foreach")) ||
            (str_is(words[at].text, "bisect") && str_is(next, "run")));
}

bool shell_starts_unseen(struct str name, const struct shell_word *words, size_t n)
{
    const struct starter *s = find_starter(name);

    if (only_tells(words, n))
        return false;
    if (str_is(name, "git"))
        return git_starts(words, n);
    if (str_is(name, "sed"))
        return sed_effects(words, n) & SCRIPT_STARTS;
    if (str_is(name, "awk") || str_is(name, "gawk") || str_is(name, "mawk") ||
        str_is(name, "nawk") || str_is(name, "original-awk"))
        return awk_effects(words, n) & SCRIPT_STARTS;
    if (!s)
        s = find_starter(without_version(name));
    if (!s)
        return false;
    switch (s->kind) {
    case STARTER_ALWAYS:
        return true;
    case STARTER_BY_CODE:
        return says(s, words, n) || reads_code(words, n);
    case STARTER_BY_WORD:
        return says(s, words, n);
    }
    return true;
}
