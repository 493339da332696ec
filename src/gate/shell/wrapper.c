/* wrapper.c - programs that start another: which of their words are its command. */
#include "gate/shell/parser.h"

enum kind {
    STARTS_WORDS,  /* the following words are a command */
    STARTS_MORE,   /* and the program adds words */
    STARTS_CODE,   /* a shell reads them */
    STARTS_OPTION, /* a shell reads the argument of -c if there is one; otherwise as STARTS_WORDS */
};

static const struct wrapper {
    const char *name;
    enum kind kind;
    const char *flags;    /* short options */
    const char *valued;   /* short options with a value */
    const char *long_ok;  /* long options, each between blanks */
    const char *long_val; /* those whose value is the next word */
    unsigned n_operands;  /* before the command */
    bool takes_assignments;
} wrappers[] = {
    {"builtin", STARTS_WORDS, "", "", " ", " ", 0, false},
    {"choom", STARTS_WORDS, "", "np", " ", " --adjust --pid ", 0, false},
    {"chroot", STARTS_WORDS, "", "", " --skip-chdir ", " ", 1, false},
    {"chrt", STARTS_WORDS, "abdfimorRv", "DPT", " --batch --fifo --idle --other --rr ", " ", 1,
     false},
    {"command", STARTS_WORDS, "p", "", " ", " ", 0, false},
    {"doas", STARTS_WORDS, "Lns", "Cu", " ", " ", 0, false},
    {"env", STARTS_WORDS, "i0v", "uC", " --ignore-environment --null --debug ", " --unset --chdir ",
     0, true},
    {"eval", STARTS_CODE, "", "", " ", " ", 0, false},
    {"exec", STARTS_WORDS, "cl", "a", " ", " ", 0, false},
    {"flock", STARTS_OPTION, "exsunoFv", "wE",
     " --exclusive --shared --nonblock --unlock --close --no-fork --verbose ",
     " --timeout --wait --conflict-exit-code ", 1, false},
    {"i386", STARTS_WORDS, "BFILRSTXZ", "", " ", " ", 0, false},
    {"ionice", STARTS_WORDS, "t", "cn", " --ignore ", " --class --classdata ", 0, false},
    {"linux32", STARTS_WORDS, "BFILRSTXZ", "", " ", " ", 0, false},
    {"linux64", STARTS_WORDS, "BFILRSTXZ", "", " ", " ", 0, false},
    {"ltrace", STARTS_WORDS, "cCfhiLrStTV", "aAbDeFlnopsuwx", " ", " ", 0, false},
    {"nice", STARTS_WORDS, "0123456789", "n", " ", " --adjustment ", 0, false},
    {"nohup", STARTS_WORDS, "", "", " ", " ", 0, false},
    {"nsenter", STARTS_WORDS, "amuinpCUTFZe", "tSG",
     " --all --no-fork --preserve-credentials --mount --uts --ipc --net --pid --cgroup --user "
     "--time ",
     " --target --setuid --setgid ", 0, false},
    {"parallel", STARTS_CODE, "0kmqtuvwX", "aCdEIjJLlnNPsS",
     " --null --keep-order --verbose --will-cite --bar --progress --dry-run --line-buffer ",
     " --jobs --max-args --max-procs --colsep --arg-file --delay --timeout --joblog ", 0, false},
    {"pkexec", STARTS_WORDS, "", "", " --disable-internal-agent --keep-cwd ", " --user ", 0, false},
    {"prlimit", STARTS_WORDS, "", "", " --noheadings --raw --verbose ", " --pid --output ", 0,
     false},
    {"runuser", STARTS_OPTION, "lmp", "ugGsw", " --login --preserve-environment ",
     " --user --group --supp-group --shell ", 0, false},
    {"script", STARTS_OPTION, "aefq", "BEIOTmot", " --append --flush --quiet --return ", " ", 1,
     false},
    {"setpriv", STARTS_WORDS, "d", "",
     " --clear-groups --init-groups --keep-groups --nnp --no-new-privs --reset-env ",
     " --reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps "
     "--bounding-set --securebits ",
     0, false},
    {"setsid", STARTS_WORDS, "cfw", "", " --ctty --fork --wait ", " ", 0, false},
    {"sg", STARTS_OPTION, "", "", " ", " ", 1, false},
    {"ssh-agent", STARTS_WORDS, "cDdks", "aEOPt", " ", " ", 0, false},
    {"stdbuf", STARTS_WORDS, "", "ioe", " ", " --input --output --error ", 0, false},
    {"strace", STARTS_WORDS, "cCdDfFhiknqrtTvVwxyYzZ", "abeEIopPsSuUX", " ", " ", 0, false},
    {"su", STARTS_OPTION, "lmpPf", "ugGsw", " --login --preserve-environment --pty ",
     " --user --group --shell ", 1, false},
    {"sudo", STARTS_WORDS, "ABbEHiKklNnPSsVv", "CDgghpRrTtUu",
     " --askpass --background --preserve-env --set-home --login --non-interactive --stdin --shell ",
     " --user --group --chdir --chroot --host --prompt --role --type --command-timeout "
     "--close-from ",
     0, true},
    {"systemd-run", STARTS_WORDS, "dPtGqrS", "EupMH",
     " --user --scope --pty --pipe --wait --quiet --collect ", " --unit --property ", 0, false},
    {"taskset", STARTS_WORDS, "ac", "", " --all-tasks --cpu-list ", " ", 1, false},
    {"time", STARTS_WORDS, "apqvV", "fo", " --append --portability --quiet --verbose ",
     " --format --output ", 0, false},
    {"timeout", STARTS_WORDS, "v", "ks", " --foreground --preserve-status --verbose ",
     " --kill-after --signal ", 1, false},
    {"uname26", STARTS_WORDS, "BFILRSTXZ", "", " ", " ", 0, false},
    {"unbuffer", STARTS_WORDS, "p", "", " ", " ", 0, false},
    {"unshare", STARTS_WORDS, "cfimnprTuUC", "GRSw",
     " --fork --ipc --map-root-user --mount --net --pid --user --uts ", " ", 0, false},
    {"watch", STARTS_CODE, "bcdegptwx", "nq",
     " --beep --color --differences --errexit --chgexit --precise --no-title --no-wrap --exec ",
     " --interval --equexit ", 0, false},
    {"x86_64", STARTS_WORDS, "BFILRSTXZ", "", " ", " ", 0, false},
    {"xargs", STARTS_MORE, "0eiloprtx", "adEILnPs",
     " --null --open-tty --interactive --no-run-if-empty --verbose --exit ",
     " --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var ", 0, false},
};

static const struct wrapper *find_wrapper(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
        if (str_is(name, wrappers[i].name))
            return &wrappers[i];
    return NULL;
}

/* --- words --- */

static struct str basename_of(const struct shell_word *word)
{
    size_t slash = str_rfind_char(word->text, '/');

    return slash == STR_NONE ? word->text : str_skip(word->text, slash + 1);
}

static bool has_listed(const char *list, struct str word)
{
    size_t at = str_find(str_of(list), word);

    return at != STR_NONE && at > 0 && list[at - 1] == ' ' && list[at + word.n] == ' ';
}

static bool are_known(const struct shell_word *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!words[i].is_known)
            return false;
    return true;
}

static size_t first_assignments(const struct shell_word *words, size_t n)
{
    size_t i = 0;

    while (i < n && str_find_char(words[i].text, '=') != STR_NONE)
        i++;
    return i;
}

/* --- starting --- */

static void start_words(struct splitter *s, const struct shell_word *words, size_t n,
                        size_t n_assignments)
{
    if (n > n_assignments)
        splitter_add(s, words, n, n_assignments);
}

/* With the words that the program adds: `more` at the end, or in place of `hole`. */
static void start_filled(struct splitter *s, const struct shell_word *words, size_t n,
                         struct str hole, bool more)
{
    static const char nothing_known[] = {SHELL_ANYTHING};
    struct shell_word *copy, anything = {.text = {nothing_known, 1}, .may_hold_slash = true};

    if (n == 0)
        return;
    copy = ARENA_ARRAY(s->arena, n + 1, struct shell_word);
    for (size_t i = 0; i < n; i++)
        copy[i] = hole.n && str_find(words[i].text, hole) != STR_NONE ? anything : words[i];
    if (more)
        copy[n] = anything;
    splitter_add(s, copy, n + more, 0);
}

static void start_code(struct splitter *s, const struct shell_word *words, size_t n)
{
    AUTO(strbuf) struct strbuf code = {0};

    if (n == 0)
        return;
    if (!are_known(words, n)) {
        start_words(s, words, n, 0);
        splitter_add_anything(s);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(&code, ' ');
        strbuf_add(&code, words[i].text);
    }
    splitter_read(s, arena_str(s->arena, strbuf_str(&code)));
}

/* --- options --- */

struct wrapper_options {
    size_t n;           /* words before the first operand */
    bool is_unclear;    /* an unknown word may take the next one */
    struct str replace; /* of xargs -I */
    size_t code_at;     /* the word after -c; 0: there is none */
    struct str code;    /* the rest of the word with -c; empty: nothing */
};

/* "-c", "-qc", "-c'code'", "--command=code", "--comm=code": the position of the code. */
static bool find_code_in(const struct wrapper *w, struct str text, size_t at,
                         struct wrapper_options *o)
{
    struct str name = str_slice(text, 0, str_find_char(text, '='));

    if (name.n > 2 &&
        (str_starts(S("--command"), name) || str_starts(S("--session-command"), name))) {
        o->code = name.n < text.n ? str_skip(text, name.n + 1) : (struct str){0};
        o->code_at = o->code.n ? 0 : at + 1;
        return true;
    }
    if (text.n < 2 || text.p[0] != '-' || text.p[1] == '-')
        return false;
    for (size_t i = 1; i < text.n; i++) {
        if (text.p[i] == 'c') {
            o->code = str_skip(text, i + 1);
            o->code_at = o->code.n ? 0 : at + 1;
            return true;
        }
        if (strchr(w->valued, text.p[i]))
            return false;
    }
    return false;
}

/* A cluster of short options; true: the next word is the value of the last one. */
static bool short_options(const struct wrapper *w, struct str cluster, struct wrapper_options *o)
{
    for (size_t i = 1; i < cluster.n; i++) {
        char c = cluster.p[i];

        if (strchr(w->valued, c))
            return i + 1 == cluster.n;
        if (!strchr(w->flags, c))
            o->is_unclear = true;
    }
    return false;
}

static struct wrapper_options read_options(const struct wrapper *w, const struct shell_word *words,
                                           size_t n)
{
    struct wrapper_options o = {.n = 1};

    while (o.n < n) {
        struct str text = words[o.n].text;

        if (w->takes_assignments && first_assignments(&words[o.n], 1) && text.p[0] != '-')
            break;
        if (!words[o.n].is_known)
            o.is_unclear = true;
        /* "env - a", "su - me" */
        if (str_is(text, "-") && (w->takes_assignments || w->kind == STARTS_OPTION)) {
            o.n++;
            continue;
        }
        if (text.n < 2 || text.p[0] != '-')
            break;
        if (w->kind == STARTS_OPTION && find_code_in(w, text, o.n, &o))
            break;
        o.n++;
        if (str_is(text, "--"))
            break;
        if (!str_starts(text, S("--"))) {
            if (str_is(text, "-I") && o.n < n)
                o.replace = words[o.n].text;
            else if (str_starts(text, S("-I")))
                o.replace = str_skip(text, 2);
            o.n += short_options(w, text, &o);
        } else if (has_listed(w->long_val, text)) {
            o.n++;
        } else if (str_find_char(text, '=') == STR_NONE && !has_listed(w->long_ok, text)) {
            o.is_unclear = true;
        }
    }
    o.n = MIN(o.n, n);
    return o;
}

/* "su me -c 'code'": also after operands. */
static void find_code(const struct wrapper *w, const struct shell_word *words, size_t n,
                      struct wrapper_options *o)
{
    for (size_t i = o->n; !o->code_at && !o->code.n && i < n; i++)
        find_code_in(w, words[i].text, i, o);
}

static size_t words_before_list(const struct shell_word *words, size_t n)
{
    size_t i = 0;

    while (i < n && !str_starts(words[i].text, S(":::")))
        i++;
    return i;
}

static void wrapped(struct splitter *s, const struct wrapper *w, const struct shell_word *words,
                    size_t n)
{
    struct wrapper_options o = read_options(w, words, n);
    size_t n_skipped = MIN(o.n + w->n_operands, n);
    size_t n_assignments =
        w->takes_assignments ? first_assignments(words + n_skipped, n - n_skipped) : 0;

    if (o.is_unclear)
        splitter_add_anything(s);
    if (w->kind == STARTS_OPTION) {
        find_code(w, words, n, &o);
        if (o.code.n) {
            splitter_read(s, o.code);
            if (!are_known(words, n))
                splitter_add_anything(s);
            return;
        }
        if (o.code_at && o.code_at < n) {
            start_code(s, words + o.code_at, 1);
            return;
        }
    }
    words += n_skipped;
    n -= n_skipped;
    switch (w->kind) {
    case STARTS_WORDS:
    case STARTS_OPTION:
        start_words(s, words, n, n_assignments);
        return;
    case STARTS_MORE:
        start_filled(s, words, n, o.replace, /* more= */ true);
        return;
    case STARTS_CODE:
        if (str_is(str_of(w->name), "parallel") && n > 1) {
            n = words_before_list(words, n);
            start_filled(s, words, n, S("{"), /* more= */ true);
            return;
        }
        start_code(s, words, n);
    }
}

/* --- programs with rules of their own --- */

static bool is_shell(struct str name)
{
    static const char *const names[] = {"bash", "sh",   "dash", "zsh",  "ksh",  "mksh", "rbash",
                                        "ash",  "fish", "csh",  "tcsh", "yash", "oksh", "posh"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* Input that is not a file on disk. */
static bool is_stream(const struct shell_word *script)
{
    return str_starts(script->source, S("<(")) || str_starts(script->text, S("/dev/")) ||
           str_starts(script->text, S("/proc/"));
}

/* "sh -ec 'code'", "sh script", or "sh" that reads its input. */
static void started_shell(struct splitter *s, const struct shell_word *words, size_t n)
{
    bool has_code = false, is_hidden = false;
    size_t i = 1;

    if (n == 2 && words[1].is_known && str_is(words[1].text, "--version"))
        return; /* then none of them reads input */
    for (; i < n; i++) {
        struct str text = words[i].text;

        if (!words[i].is_known)
            is_hidden = true;
        if (text.n == 0 || (text.p[0] != '-' && text.p[0] != '+'))
            break;
        if (str_is(text, "--") || str_is(text, "-")) {
            i++;
            break;
        }
        if (str_is(text, "--rcfile") || str_is(text, "--init-file")) {
            is_hidden = true;
            i++;
        } else if (!str_starts(text, S("--"))) {
            has_code |= str_find_char(text, 'c') != STR_NONE;
            is_hidden |= str_find_char(text, 's') != STR_NONE;
            i += str_find_char(text, 'o') != STR_NONE || str_find_char(text, 'O') != STR_NONE;
        }
    }
    if (has_code && i < n)
        start_code(s, words + i, 1);
    else if (i >= n || is_stream(&words[i]) || has_code || is_hidden)
        splitter_add_anything(s);
}

/* find . -exec a {} \; -ok b + */
static void found_files(struct splitter *s, const struct shell_word *words, size_t n)
{
    static const char *const starters[] = {"-exec", "-execdir", "-ok", "-okdir"};

    for (size_t i = 1; i < n; i++) {
        bool starts = false;
        size_t end = i + 1;

        for (size_t j = 0; j < ARRAY_LEN(starters); j++)
            starts |= str_is(words[i].text, starters[j]);
        if (!starts)
            continue;
        while (end < n && !str_is(words[end].text, ";") &&
               !(str_is(words[end].text, "+") && str_is(words[end - 1].text, "{}")))
            end++;
        start_filled(s, words + i + 1, end - i - 1, S("{}"), /* more= */ false);
        i = end;
    }
}

/* fd . -x a {} */
static void listed_files(struct splitter *s, const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct str text = words[i].text;

        if (str_is(text, "-x") || str_is(text, "-X") || str_is(text, "--exec") ||
            str_is(text, "--exec-batch")) {
            start_filled(s, words + i + 1, n - i - 1, S("{"), /* more= */ true);
            return;
        }
        if (str_starts(text, S("--exec")) || str_starts(text, S("-x")) ||
            str_starts(text, S("-X"))) { /* its program is in the same word */
            splitter_add_anything(s);
            return;
        }
    }
}

/* /lib64/ld-linux-x86-64.so.2 [--library-path x] program */
static bool is_linker(struct str name)
{
    return str_starts(name, S("ld-linux")) || str_starts(name, S("ld-musl")) ||
           str_is(name, "ld.so") || str_is(name, "ld64.so.2");
}

static void linked(struct splitter *s, const struct shell_word *words, size_t n)
{
    static const char valued[] = " --library-path --inhibit-rpath --audit --preload --argv0 "
                                 "--glibc-hwcaps-prepend --glibc-hwcaps-mask ";
    size_t i = 1;

    while (i < n && str_starts(words[i].text, S("--")))
        i += has_listed(valued, words[i].text) ? 2 : 1;
    start_words(s, words + MIN(i, n), n - MIN(i, n), 0);
}

/* trap 'code' EXIT */
static void trapped(struct splitter *s, const struct shell_word *words, size_t n)
{
    size_t i = 1;

    if (i < n && str_is(words[i].text, "--"))
        i++;
    if (i + 1 < n && !str_is(words[i].text, "-"))
        start_code(s, words + i, 1);
}

static void aliased(struct splitter *s, const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t equals = str_find_char(words[i].text, '=');

        if (equals == STR_NONE)
            continue;
        if (words[i].is_known)
            splitter_read(s, str_skip(words[i].text, equals + 1));
        else
            splitter_add_anything(s);
    }
}

static void sourced(struct splitter *s, const struct shell_word *words, size_t n)
{
    if (n > 1 && is_stream(&words[1]))
        splitter_add_anything(s);
}

/* Builtins that run or load what their options name, which is not examined. */
static void with_options(struct splitter *s, const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!words[i].is_known || (words[i].text.n > 1 && words[i].text.p[0] == '-')) {
            splitter_add_anything(s);
            return;
        }
}

/* "command -v x" only prints. */
static void commanded(struct splitter *s, const struct shell_word *words, size_t n)
{
    if (n > 1 && (str_is(words[1].text, "-v") || str_is(words[1].text, "-V")))
        return;
    wrapped(s, find_wrapper(S("command")), words, n);
}

/* getopt accepts "--s=" for "--split-string=". */
static bool is_split_option(struct str text)
{
    struct str name = str_slice(text, 0, str_find_char(text, '='));

    return name.n > 2 && str_starts(S("--split-string"), name);
}

/* "env -S 'rm x'" */
static void in_environment(struct splitter *s, const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n && str_starts(words[i].text, S("-")); i++)
        if (str_starts(words[i].text, S("-S")) || is_split_option(words[i].text)) {
            splitter_add_anything(s);
            start_code(s, words + i + 1, n - i - 1);
            return;
        }
    wrapped(s, find_wrapper(S("env")), words, n);
}

/* "setarch -R a", "setarch x86_64 -R a": the program's position depends on the version. */
static void with_architecture(struct splitter *s, const struct shell_word *words, size_t n)
{
    for (size_t i = 1, n_operands = 0; i < n && n_operands < 2; i++) {
        if (words[i].is_known && str_starts(words[i].text, S("-")))
            continue;
        start_words(s, words + i, n - i, 0);
        n_operands++;
    }
}

static void applet(struct splitter *s, const struct shell_word *words, size_t n)
{
    start_words(s, words + 1, n - 1, 0);
}

static const struct {
    const char *name;
    void (*look)(struct splitter *s, const struct shell_word *words, size_t n);
} special[] = {
    {".", sourced},
    {"alias", aliased},
    {"bind", with_options},
    {"busybox", applet},
    {"command", commanded},
    {"complete", with_options},
    {"enable", with_options},
    {"env", in_environment},
    {"fd", listed_files},
    {"fdfind", listed_files},
    {"find", found_files},
    {"hash", with_options},
    {"jobs", with_options},
    {"mapfile", with_options},
    {"readarray", with_options},
    {"setarch", with_architecture},
    {"source", sourced},
    {"toybox", applet},
    {"trap", trapped},
    {"compgen", with_options},
};

bool shell_looks_through(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (str_is(name, special[i].name))
            return true;
    return is_linker(name) || find_wrapper(name);
}

void splitter_look_through(struct splitter *s, const struct shell_word *words, size_t n)
{
    struct str name = basename_of(&words[0]);
    const struct wrapper *w = find_wrapper(name);
    bool was_inner = s->is_inner;

    if (shell_starts_unseen(name, words, n))
        s->split->starts_unseen = true;
    s->is_inner = true;
    if (is_shell(name) || is_linker(name)) {
        if (is_linker(name))
            linked(s, words, n);
        else
            started_shell(s, words, n);
        s->is_inner = was_inner;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (str_is(name, special[i].name)) {
            special[i].look(s, words, n);
            s->is_inner = was_inner;
            return;
        }
    if (w)
        wrapped(s, w, words, n);
    s->is_inner = was_inner;
}
