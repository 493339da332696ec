/* starter.c - programs that can start any other, without naming it in their words.
 *
 * If the command can be read from the line, wrapper.c reads it. This file has the others:
 * languages, editors, build tools, remote shells. A script run by its name is not among them: what
 * it does is not in the line, as with any other program. */
#include "gate/shell/parser.h"

#include "gate/shell/script.h"

enum starter_kind {
    STARTER_ALWAYS,  /* with any arguments */
    STARTER_BY_CODE, /* with code in an option, or with none and no operand: it reads its input */
    STARTER_BY_WORD, /* with one of these words */
};

static const struct starter {
    const char *name;
    enum starter_kind kind;
    const char *letters; /* short options, in any cluster */
    const char *words;   /* beginnings of other options, each between blanks */
} starters[] = {
    /* languages */
    {"bb", STARTER_BY_CODE, "e", " --eval "},
    {"bpftrace", STARTER_ALWAYS},
    {"bun", STARTER_BY_CODE, "ep", " --eval --print x exec "},
    {"clisp", STARTER_ALWAYS},
    {"clj", STARTER_ALWAYS},
    {"clojure", STARTER_ALWAYS},
    {"csharp", STARTER_ALWAYS},
    {"csi", STARTER_ALWAYS},
    {"deno", STARTER_BY_CODE, "", " eval repl run task "},
    {"dotnet", STARTER_BY_WORD, "", " run exec fsi script test watch "},
    {"ecl", STARTER_ALWAYS},
    {"elixir", STARTER_BY_CODE, "e", " --eval --rpc-eval "},
    {"elvish", STARTER_BY_CODE, "c", " "},
    {"erl", STARTER_ALWAYS},
    {"expect", STARTER_BY_CODE, "c", " "},
    {"gdb", STARTER_ALWAYS},
    {"ghc", STARTER_BY_CODE, "e", " "},
    {"ghci", STARTER_ALWAYS},
    {"gnuplot", STARTER_ALWAYS},
    {"gp", STARTER_ALWAYS},
    {"groovy", STARTER_BY_CODE, "e", " "},
    {"guile", STARTER_BY_CODE, "c", " "},
    {"iex", STARTER_ALWAYS},
    {"irb", STARTER_ALWAYS},
    {"java", STARTER_BY_WORD, "", " -jar -cp -classpath --class-path --module-path "},
    {"jjs", STARTER_ALWAYS},
    {"jrunscript", STARTER_ALWAYS},
    {"jshell", STARTER_ALWAYS},
    {"julia", STARTER_BY_CODE, "eE", " --eval --print "},
    {"kotlin", STARTER_ALWAYS},
    {"kotlinc", STARTER_BY_CODE, "e", " "},
    {"lldb", STARTER_ALWAYS},
    {"lua", STARTER_BY_CODE, "e", " "},
    {"luajit", STARTER_BY_CODE, "e", " "},
    {"m4", STARTER_ALWAYS},
    {"maxima", STARTER_ALWAYS},
    {"mix", STARTER_BY_WORD, "", " run test do "},
    {"mysql", STARTER_ALWAYS},
    {"node", STARTER_BY_CODE, "epr", " --eval --print --require --import --loader "},
    {"nodejs", STARTER_BY_CODE, "epr", " --eval --print --require --import --loader "},
    {"nu", STARTER_BY_CODE, "ce", " --commands --execute "},
    {"ocaml", STARTER_BY_CODE, "e", " "},
    {"octave", STARTER_BY_CODE, "", " --eval "},
    {"octave-cli", STARTER_BY_CODE, "", " --eval "},
    {"osascript", STARTER_ALWAYS},
    {"perl", STARTER_BY_CODE, "eE", " "},
    {"php", STARTER_BY_CODE, "rBRE", " --run --process-begin --process-code --process-end "},
    {"psql", STARTER_ALWAYS},
    {"pwsh", STARTER_BY_CODE, "cCeE", " --command --encodedcommand "},
    {"pypy", STARTER_BY_CODE, "cm", " "},
    {"pypy3", STARTER_BY_CODE, "cm", " "},
    {"python", STARTER_BY_CODE, "cm", " "},
    {"python2", STARTER_BY_CODE, "cm", " "},
    {"python3", STARTER_BY_CODE, "cm", " "},
    {"R", STARTER_BY_CODE, "e", " "},
    {"racket", STARTER_ALWAYS},
    {"Rscript", STARTER_BY_CODE, "e", " "},
    {"ruby", STARTER_BY_CODE, "e", " "},
    {"runghc", STARTER_ALWAYS},
    {"runhaskell", STARTER_ALWAYS},
    {"sage", STARTER_ALWAYS},
    {"sbcl", STARTER_ALWAYS},
    {"scala", STARTER_BY_CODE, "e", " "},
    {"scheme", STARTER_ALWAYS},
    {"sqlite3", STARTER_ALWAYS},
    {"swipl", STARTER_ALWAYS},
    {"tclsh", STARTER_BY_CODE, "", " "},
    {"ts-node", STARTER_ALWAYS},
    {"tsx", STARTER_ALWAYS},
    {"xonsh", STARTER_BY_CODE, "c", " "},
    /* databases */
    {"clickhouse-client", STARTER_ALWAYS},
    {"duckdb", STARTER_ALWAYS},
    {"mariadb", STARTER_ALWAYS},
    {"mongosh", STARTER_ALWAYS},
    {"mycli", STARTER_ALWAYS},
    {"pgcli", STARTER_ALWAYS},
    {"usql", STARTER_ALWAYS},
    /* editors and pagers */
    {"ed", STARTER_ALWAYS},
    {"emacs", STARTER_ALWAYS},
    {"emacsclient", STARTER_ALWAYS},
    {"ex", STARTER_ALWAYS},
    {"gvim", STARTER_ALWAYS},
    {"helix", STARTER_ALWAYS},
    {"hx", STARTER_ALWAYS},
    {"joe", STARTER_ALWAYS},
    {"kak", STARTER_ALWAYS},
    {"less", STARTER_BY_WORD, "", " + "},
    {"lf", STARTER_ALWAYS},
    {"man", STARTER_BY_WORD, "PH", " --pager --html "},
    {"mc", STARTER_ALWAYS},
    {"micro", STARTER_ALWAYS},
    {"more", STARTER_BY_WORD, "", " + "},
    {"nano", STARTER_ALWAYS},
    {"nnn", STARTER_ALWAYS},
    {"nvim", STARTER_ALWAYS},
    {"pico", STARTER_ALWAYS},
    {"ranger", STARTER_ALWAYS},
    {"red", STARTER_ALWAYS},
    {"rview", STARTER_ALWAYS},
    {"rvim", STARTER_ALWAYS},
    {"vi", STARTER_ALWAYS},
    {"view", STARTER_ALWAYS},
    {"vifm", STARTER_ALWAYS},
    {"vim", STARTER_ALWAYS},
    {"vimdiff", STARTER_ALWAYS},
    {"vipe", STARTER_ALWAYS},
    {"vipw", STARTER_ALWAYS},
    {"visudo", STARTER_ALWAYS},
    /* builders and runners */
    {"act", STARTER_ALWAYS},
    {"air", STARTER_ALWAYS},
    {"ant", STARTER_ALWAYS},
    {"asdf", STARTER_BY_WORD, "", " exec "},
    {"bazel", STARTER_ALWAYS},
    {"bazelisk", STARTER_ALWAYS},
    {"bmake", STARTER_ALWAYS},
    {"buck", STARTER_ALWAYS},
    {"buck2", STARTER_ALWAYS},
    {"bundle", STARTER_BY_WORD, "", " exec "},
    {"bunx", STARTER_ALWAYS},
    {"cabal", STARTER_BY_WORD, "", " exec run repl test bench "},
    {"cargo", STARTER_BY_WORD, "", " --config bench run test "},
    {"cmake", STARTER_BY_WORD, "EP", " --build "},
    {"concurrently", STARTER_ALWAYS},
    {"conda", STARTER_BY_WORD, "", " run "},
    {"corepack", STARTER_ALWAYS},
    {"ctest", STARTER_ALWAYS},
    {"dagger", STARTER_ALWAYS},
    {"direnv", STARTER_BY_WORD, "", " exec "},
    {"earthly", STARTER_ALWAYS},
    {"entr", STARTER_ALWAYS},
    {"fab", STARTER_ALWAYS},
    {"foreman", STARTER_ALWAYS},
    {"gmake", STARTER_ALWAYS},
    {"go", STARTER_BY_WORD, "", " -exec -toolexec -vettool generate run test tool "},
    {"gradle", STARTER_ALWAYS},
    {"guix", STARTER_BY_WORD, "", " environment shell "},
    {"hatch", STARTER_BY_WORD, "", " run shell test "},
    {"honcho", STARTER_ALWAYS},
    {"hyperfine", STARTER_ALWAYS},
    {"invoke", STARTER_ALWAYS},
    {"just", STARTER_ALWAYS},
    {"latexmk", STARTER_ALWAYS},
    {"lefthook", STARTER_BY_WORD, "", " run "},
    {"lein", STARTER_ALWAYS},
    {"lerna", STARTER_ALWAYS},
    {"mage", STARTER_ALWAYS},
    {"make", STARTER_ALWAYS},
    {"mamba", STARTER_BY_WORD, "", " run "},
    {"meson", STARTER_BY_WORD, "", " compile devenv test "},
    {"micromamba", STARTER_BY_WORD, "", " run "},
    {"mill", STARTER_ALWAYS},
    {"mise", STARTER_BY_WORD, "", " exec x run "},
    {"modd", STARTER_ALWAYS},
    {"mvn", STARTER_ALWAYS},
    {"ninja", STARTER_ALWAYS},
    {"nix", STARTER_BY_WORD, "", " build develop eval run shell "},
    {"nix-shell", STARTER_ALWAYS},
    {"nodemon", STARTER_ALWAYS},
    {"nox", STARTER_ALWAYS},
    {"npm", STARTER_BY_WORD, "", " exec explore x run run-script start t test "},
    {"npm-run-all", STARTER_ALWAYS},
    {"npx", STARTER_ALWAYS},
    {"nx", STARTER_ALWAYS},
    {"pants", STARTER_ALWAYS},
    {"pdm", STARTER_BY_WORD, "", " run "},
    {"pipenv", STARTER_BY_WORD, "", " run shell "},
    {"pipx", STARTER_BY_WORD, "", " run "},
    {"pixi", STARTER_BY_WORD, "", " run exec shell "},
    {"pnpm", STARTER_BY_WORD, "", " dlx exec run start test "},
    {"poetry", STARTER_BY_WORD, "", " run "},
    {"pre-commit", STARTER_BY_WORD, "", " run "},
    {"pyenv", STARTER_BY_WORD, "", " exec "},
    {"rake", STARTER_ALWAYS},
    {"rbenv", STARTER_BY_WORD, "", " exec "},
    {"run-parts", STARTER_ALWAYS},
    {"rustup", STARTER_BY_WORD, "", " run "},
    {"rye", STARTER_BY_WORD, "", " run "},
    {"sbt", STARTER_ALWAYS},
    {"scons", STARTER_ALWAYS},
    {"stack", STARTER_BY_WORD, "", " exec run runghc ghci test bench "},
    {"task", STARTER_ALWAYS},
    {"tox", STARTER_ALWAYS},
    {"turbo", STARTER_ALWAYS},
    {"uv", STARTER_BY_WORD, "", " run tool "},
    {"uvx", STARTER_ALWAYS},
    {"volta", STARTER_BY_WORD, "", " run "},
    {"waf", STARTER_ALWAYS},
    {"yarn", STARTER_ALWAYS},
    /* elsewhere, later, in a terminal */
    {"alacritty", STARTER_ALWAYS},
    {"ansible", STARTER_ALWAYS},
    {"ansible-console", STARTER_ALWAYS},
    {"ansible-playbook", STARTER_ALWAYS},
    {"asciinema", STARTER_BY_WORD, "c", " rec --command "},
    {"at", STARTER_ALWAYS},
    {"autossh", STARTER_ALWAYS},
    {"batch", STARTER_ALWAYS},
    {"buildah", STARTER_BY_WORD, "", " run bud build "},
    {"bwrap", STARTER_ALWAYS},
    {"capsh", STARTER_ALWAYS},
    {"catchsegv", STARTER_ALWAYS},
    {"chef-client", STARTER_ALWAYS},
    {"chef-solo", STARTER_ALWAYS},
    {"chronic", STARTER_ALWAYS},
    {"crictl", STARTER_BY_WORD, "", " exec "},
    {"crontab", STARTER_ALWAYS},
    {"ctr", STARTER_BY_WORD, "", " run exec task t "},
    {"daemonize", STARTER_ALWAYS},
    {"dbus-run-session", STARTER_ALWAYS},
    {"dc", STARTER_ALWAYS},
    {"distrobox", STARTER_ALWAYS},
    {"docker", STARTER_BY_WORD, "", " run exec compose build buildx "},
    {"docker-compose", STARTER_ALWAYS},
    {"eatmydata", STARTER_ALWAYS},
    {"execlineb", STARTER_ALWAYS},
    {"fakeroot", STARTER_ALWAYS},
    {"faketime", STARTER_ALWAYS},
    {"firejail", STARTER_ALWAYS},
    {"flatpak-spawn", STARTER_ALWAYS},
    {"foot", STARTER_ALWAYS},
    {"ftp", STARTER_ALWAYS},
    {"gnome-terminal", STARTER_ALWAYS},
    {"gosu", STARTER_ALWAYS},
    {"ifne", STARTER_ALWAYS},
    {"incus", STARTER_BY_WORD, "", " exec "},
    {"ip", STARTER_BY_WORD, "", " exec "},
    {"kitty", STARTER_ALWAYS},
    {"konsole", STARTER_ALWAYS},
    {"kubectl", STARTER_BY_WORD, "", " debug exec plugin run "},
    {"lftp", STARTER_ALWAYS},
    {"lxc", STARTER_BY_WORD, "", " exec "},
    {"lxc-attach", STARTER_ALWAYS},
    {"machinectl", STARTER_BY_WORD, "", " shell "},
    {"mosh", STARTER_ALWAYS},
    {"nc", STARTER_BY_WORD, "ec", " "},
    {"ncat", STARTER_BY_WORD, "ec", " --exec --sh-exec --lua-exec "},
    {"nerdctl", STARTER_BY_WORD, "", " run exec compose build "},
    {"netcat", STARTER_BY_WORD, "ec", " "},
    {"newgrp", STARTER_ALWAYS},
    {"numactl", STARTER_ALWAYS},
    {"oc", STARTER_BY_WORD, "", " exec rsh debug run "},
    {"packer", STARTER_ALWAYS},
    {"pee", STARTER_ALWAYS},
    {"perf", STARTER_ALWAYS},
    {"plink", STARTER_ALWAYS},
    {"podman", STARTER_BY_WORD, "", " run exec build compose "},
    {"proot", STARTER_ALWAYS},
    {"psftp", STARTER_ALWAYS},
    {"pulumi", STARTER_ALWAYS},
    {"puppet", STARTER_BY_WORD, "", " apply "},
    {"rlwrap", STARTER_ALWAYS},
    {"run0", STARTER_ALWAYS},
    {"salt", STARTER_ALWAYS},
    {"salt-call", STARTER_ALWAYS},
    {"sash", STARTER_ALWAYS},
    {"screen", STARTER_ALWAYS},
    {"smbclient", STARTER_ALWAYS},
    {"socat", STARTER_ALWAYS},
    {"ssh", STARTER_ALWAYS},
    {"ssh-copy-id", STARTER_ALWAYS},
    {"sshfs", STARTER_ALWAYS},
    {"start-stop-daemon", STARTER_ALWAYS},
    {"su-exec", STARTER_ALWAYS},
    {"supervisord", STARTER_ALWAYS},
    {"systemd-inhibit", STARTER_ALWAYS},
    {"systemd-nspawn", STARTER_ALWAYS},
    {"telnet", STARTER_ALWAYS},
    {"terraform", STARTER_BY_WORD, "", " apply console "},
    {"terragrunt", STARTER_ALWAYS},
    {"tmate", STARTER_ALWAYS},
    {"tmux", STARTER_ALWAYS},
    {"tofu", STARTER_BY_WORD, "", " apply console "},
    {"toolbox", STARTER_ALWAYS},
    {"vagrant", STARTER_ALWAYS},
    {"valgrind", STARTER_ALWAYS},
    {"watchexec", STARTER_ALWAYS},
    {"wezterm", STARTER_ALWAYS},
    {"xterm", STARTER_ALWAYS},
    {"xvfb-run", STARTER_ALWAYS},
    {"zellij", STARTER_ALWAYS},
    /* with an option for it */
    {"ack", STARTER_BY_WORD, "", " --pager "},
    {"ag", STARTER_BY_WORD, "", " --pager "},
    {"apt", STARTER_BY_WORD, "o", " --option "},
    {"apt-get", STARTER_BY_WORD, "o", " --option "},
    {"aria2c", STARTER_BY_WORD, "",
     " --on-bt-download-complete --on-download-complete --on-download-error --on-download-pause "
     "--on-download-start --on-download-stop "},
    {"bat", STARTER_BY_WORD, "", " --pager "},
    {"batcat", STARTER_BY_WORD, "", " --pager "},
    {"bsdtar", STARTER_BY_WORD, "", " --use-compress-program "},
    {"c++", STARTER_BY_WORD, "", " -wrapper -load "},
    {"cc", STARTER_BY_WORD, "", " -wrapper -load "},
    {"ccache", STARTER_ALWAYS},
    {"cowsay", STARTER_BY_WORD, "f", " "},
    {"cpan", STARTER_ALWAYS},
    {"cpio", STARTER_BY_WORD, "", " --rsh-command "},
    {"cppcheck", STARTER_BY_WORD, "", " --addon "},
    {"debugfs", STARTER_ALWAYS},
    {"distcc", STARTER_ALWAYS},
    {"dpkg", STARTER_BY_WORD, "i", " --install --pre-invoke --post-invoke "},
    {"enscript", STARTER_BY_WORD, "I", " "},
    {"exiftool", STARTER_BY_WORD, "", " -if -config -execute "},
    {"fzf", STARTER_BY_WORD, "", " --preview --bind --become "},
    {"g++", STARTER_BY_WORD, "", " -wrapper -load "},
    {"gcc", STARTER_BY_WORD, "", " -wrapper -load "},
    {"gem", STARTER_BY_WORD, "", " exec install open "},
    {"gh", STARTER_BY_WORD, "", " alias extension "},
    {"groff", STARTER_BY_WORD, "U", " "},
    {"helm", STARTER_BY_WORD, "", " --post-renderer plugin "},
    {"hg", STARTER_BY_WORD, "", " --config --debugger "},
    {"install", STARTER_BY_WORD, "", " --strip-program "},
    {"jj", STARTER_BY_WORD, "", " --config --config-toml --config-file util "},
    {"latex", STARTER_BY_WORD, "", " -shell-escape --shell-escape "},
    {"logsave", STARTER_ALWAYS},
    {"lualatex", STARTER_BY_WORD, "", " -shell-escape --shell-escape "},
    {"mail", STARTER_ALWAYS},
    {"mailx", STARTER_ALWAYS},
    {"msgexec", STARTER_ALWAYS},
    {"msgfilter", STARTER_ALWAYS},
    {"mutt", STARTER_ALWAYS},
    {"nmap", STARTER_BY_WORD, "", " --script --interactive "},
    {"openssl", STARTER_BY_WORD, "", " -engine -provider-path engine "},
    {"pandoc", STARTER_BY_WORD, "F", " --filter --lua-filter --pdf-engine -L "},
    {"pdflatex", STARTER_BY_WORD, "", " -shell-escape --shell-escape "},
    {"pdftex", STARTER_BY_WORD, "", " -shell-escape --shell-escape "},
    {"pidstat", STARTER_BY_WORD, "e", " "},
    {"prename", STARTER_ALWAYS},
    {"rename", STARTER_ALWAYS},
    {"rg", STARTER_BY_WORD, "", " --pre --hostname-bin "},
    {"rpm", STARTER_BY_WORD, "E", " --eval --pipe --define "},
    {"rsync", STARTER_BY_WORD, "e", " --rsh --rsync-path "},
    {"rustc", STARTER_BY_WORD, "C", " --codegen "},
    {"rustdoc", STARTER_BY_WORD, "", " --test --runtool "},
    {"sccache", STARTER_ALWAYS},
    {"scp", STARTER_BY_WORD, "SDo", " "},
    {"sftp", STARTER_BY_WORD, "SDo", " "},
    {"sk", STARTER_BY_WORD, "", " --preview --bind "},
    {"sort", STARTER_BY_WORD, "", " --compress-program "},
    {"split", STARTER_BY_WORD, "", " --filter "},
    {"svn", STARTER_BY_WORD, "", " --config-option --diff-cmd --diff3-cmd --editor-cmd "},
    {"tar", STARTER_BY_WORD, "IF",
     " --checkpoint-action --to-command --use-compress-program --info-script --new-volume-script "
     "--rsh-command --rmt-command "},
    {"tcpdump", STARTER_BY_WORD, "z", " "},
    {"tex", STARTER_BY_WORD, "", " -shell-escape --shell-escape "},
    {"tshark", STARTER_BY_WORD, "X", " "},
    {"w3m", STARTER_ALWAYS},
    {"wget", STARTER_BY_WORD, "e", " --execute --use-askpass "},
    {"xdotool", STARTER_BY_WORD, "", " exec "},
    {"xelatex", STARTER_BY_WORD, "", " -shell-escape --shell-escape "},
    {"zip", STARTER_BY_WORD, "", " -TT --unzip-command "},
};

static const struct starter *find_starter(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(starters); i++)
        if (name.n && name.p[0] == starters[i].name[0] && str_is(name, starters[i].name))
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

/* getopt accepts "--to-com" for "--to-command". */
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

/* Only options, or "-": it reads code from its input. */
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

/* The index of the subcommand; n: there is none. */
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

/* "git config core.pager x" names a program, "git config user.name" does not. */
static bool sets_configuration(const struct shell_word *words, size_t n)
{
    size_t n_operands = 0;

    for (size_t i = 1; i < n; i++)
        n_operands += !str_starts(words[i].text, S("-"));
    return str_is(words[0].text, "config") && n_operands > 1;
}

/* Options with settings that name a program, options that name one, and such subcommands. */
static bool git_starts(const struct shell_word *words, size_t n)
{
    static const char before[] = " -c --config-env --exec-path ",
                      after[] = " -x --exec --upload-pack --receive-pack --ext-diff --config "
                                "--open-files-in-pager ",
                      always[] = " daemon difftool filter-branch instaweb mergetool remote-ext "
                                 "send-email shell ";
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

/* Programs whose words are names of files, of packages and of processes, or texts. Not those that
 * give a program another name: `ln -s /usr/bin/curl c && ./c x`. */
static bool takes_names(struct str name)
{
    static const char names[] =
        " apk apropos apt apt-cache apt-get apt-mark aptitude brew bunzip2 bzip2 cd chgrp chmod "
        "chown curl declare dnf dpkg dpkg-query export groupadd gunzip gzip help info kill killall "
        "local locate logger man mkdir mkfifo mktemp notify-send pacman passwd patch pidof pip "
        "pip3 "
        "pkill popd pushd readonly rm rmdir scp shred snap systemctl tee touch truncate unlink "
        "unset "
        "unxz unzip useradd wget whatis whereis xz yum zcat zip zstd zypper ";
    struct str rest = str_of(names), known;

    while (str_split(&rest, ' ', &known))
        if (known.n && str_eq(name, known))
            return true;
    return false;
}

/* A script may start its arguments, whichever program runs it. */
bool shell_knows_program(struct str name)
{
    const struct starter *s = find_starter(name);

    if (!s)
        s = find_starter(without_version(name));
    if (str_is(name, "install")) /* copies programs, and an option of it starts one */
        return false;
    return (s && s->kind != STARTER_BY_CODE) || takes_names(name) || shell_looks_through(name) ||
           str_is(name, "git") || str_is(name, "sed");
}
