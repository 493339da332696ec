/* shell_bash_test.c - what bash runs, the splitter must have seen: random lines, given to both.
 *
 * One bash runs all lines, each in a subshell. Their programs are functions that write down how
 * they were called; whatever else bash looks for it does not find, and that is written down too. */
#include "program.h"
#include "temp_dir.h"

#include "gate/shell/split.h"
#include "gate/wildcard.h"
#include "sys/random.h"

#ifndef N_LINES
#define N_LINES 1000 /* more take long: bash forks for nearly every word of them */
#endif
#ifndef SEED
#define SEED 1
#endif
#define MAX_DEPTH 3

/* --- making lines --- */

struct maker {
    struct seeded_random random;
    struct strbuf out;
    unsigned depth;
    struct strbuf here; /* bodies that follow the next newline */
};

static unsigned pick(struct maker *m, unsigned n)
{
    return (unsigned)random_below(&m->random.random, n);
}

static void put(struct maker *m, const char *text)
{
    strbuf_add_cstr(&m->out, text);
}

#define PUT_ONE_OF(m, ...)                                                                         \
    put(m, (const char *const[]){__VA_ARGS__}[pick(m, ARRAY_LEN(((const char *[]){__VA_ARGS__})))])

static void put_list(struct maker *m);

/* "ok" succeeds, "no" fails. */
static void put_program(struct maker *m)
{
    PUT_ONE_OF(m, "ok", "ok", "no", "\"ok\"", "o\\k", "'n'o", "$'\\x6fk'", "o\"k\"",
               "$'\\157\\x6b'", "\\no", "o''k", "command ok", "$c", "\"$c\"", "${c}", "ok$e",
               "{ok,x}", "!", "time ok", "missing", "./missing", "m?ssing");
}

static void put_newline(struct maker *m)
{
    put(m, "\n");
    strbuf_add(&m->out, strbuf_str(&m->here));
    strbuf_clear(&m->here);
}

static void put_nested(struct maker *m, const char *open, const char *close)
{
    struct strbuf outer = m->here;

    if (m->depth >= MAX_DEPTH) {
        put(m, "z");
        return;
    }
    m->here = (struct strbuf){0};
    m->depth++;
    put(m, open);
    put_list(m);
    if (m->here.n)
        put_newline(m);
    put(m, close);
    m->depth--;
    strbuf_done(&m->here);
    m->here = outer;
}

/* A list in backquotes, with its own ones escaped. */
static void put_backquoted(struct maker *m)
{
    struct strbuf outer = m->out;
    AUTO(strbuf) struct strbuf inner = {0};

    m->out = (struct strbuf){0};
    put_nested(m, "", "");
    inner = m->out;
    m->out = outer;
    put(m, "`");
    for (size_t i = 0; i < inner.n; i++) {
        if (strchr("`\\$", inner.p[i]))
            put(m, "\\");
        strbuf_add_char(&m->out, inner.p[i]);
    }
    put(m, "`");
}

static void put_in_double_quotes(struct maker *m)
{
    put(m, "\"");
    PUT_ONE_OF(m, "a b", "it's", "\\\"", "\\`", "$v", "${v:-\"q r\"}", "#", ";", "$", "\\$(ok no)");
    if (pick(m, 3) == 0)
        put_nested(m, "$(", ")");
    else if (pick(m, 4) == 0)
        put_backquoted(m);
    put(m, "\"");
}

static void put_argument(struct maker *m)
{
    switch (pick(m, 22)) {
    case 0:
        put_in_double_quotes(m);
        break;
    case 1:
        put_nested(m, "$(", ")");
        break;
    case 2:
        put_backquoted(m);
        break;
    case 3:
        put_nested(m, "<(", ")");
        break;
    case 4:
        put_nested(m, "${v:-$(", ")}");
        break;
    case 5:
        put_nested(m, "$((1 + $(", ") + 0))");
        break;
    case 6:
        put(m, "$'it\\'s; ok'");
        break;
    case 7:
        PUT_ONE_OF(m, "a#b", "a\\ b", "\\;", "\\\n", "'ok; no'", "{a,b}", "*", "[", "]", "{}", "}",
                   "fi", "done", "$#", "$$", "~", "a=b", "-x", "''", "esac", "in", "\\#", "a=(",
                   "%");
        break;
    default:
        PUT_ONE_OF(m, "a", "b", "-c", "x.y", "1", "ok", "no");
    }
}

static void put_here_document(struct maker *m)
{
    static const char *const words[] = {"E", "'E'", "\"E\"", "\\E", "E\"F\"", "-E"};
    static const char *const ends[] = {"E", "E", "E", "E", "EF", "\t\tE"};
    unsigned which = pick(m, ARRAY_LEN(words));

    put(m, pick(m, 2) || words[which][0] == '-' ? "<<" : "<< ");
    put(m, words[which]);
    for (unsigned n = pick(m, 3); n > 0; n--) {
        static const char *const lines[] = {
            "text; ok\n", "$(ok here)\n", "`ok here`\n", "it's\n", "\\$(no)\n",
            " E\n",       "#\n",          "\"\n",        "E E\n",  "${v:-$(ok here)}\n"};

        strbuf_add_cstr(&m->here, lines[pick(m, ARRAY_LEN(lines))]);
    }
    strbuf_addf(&m->here, "%s\n", ends[which]);
}

static void put_redirection(struct maker *m)
{
    switch (pick(m, 8)) {
    case 0:
        put_here_document(m);
        break;
    case 1:
        put(m, "<<<");
        put_argument(m);
        break;
    case 2:
        put_nested(m, "> >(", ")");
        break;
    default:
        PUT_ONE_OF(m, ">f", "> f", ">>f", "2>&1", "2>f", "&>f", ">|f", "<f", "{v}>f", ">&2", "3<>f",
                   "&>>f", "2>/dev/null", "1>&-");
    }
}

static void put_simple(struct maker *m)
{
    if (pick(m, 8) == 0) {
        PUT_ONE_OF(m, "v=1", "v=", "v='a b'", "v+=x", "a[1]=2", "v=$(ok in)", "a=(1 $(ok in) 2)",
                   "v=\"a b\"", "c=no");
        put(m, " ");
    }
    if (pick(m, 10) == 0) {
        put_redirection(m);
        put(m, " ");
    }
    put_program(m);
    for (unsigned n = pick(m, 4); n > 0; n--) {
        PUT_ONE_OF(m, " ", " ", "  ", "\t", " \\\n");
        put_argument(m);
    }
    if (pick(m, 5) == 0) {
        put(m, " ");
        put_redirection(m);
    }
}

/* The argument of eval, in single quotes. */
static void put_eval(struct maker *m)
{
    struct strbuf outer = m->out;
    AUTO(strbuf) struct strbuf inner = {0};

    m->out = (struct strbuf){0};
    put_nested(m, "", "");
    inner = m->out;
    m->out = outer;
    PUT_ONE_OF(m, "eval '", "eval -- '", "trap '", "bash -c '");
    for (size_t i = 0; i < inner.n; i++) {
        if (inner.p[i] == '\'')
            put(m, "'\\'");
        strbuf_add_char(&m->out, inner.p[i]);
    }
    put(m, "' EXIT");
}

static void put_case(struct maker *m)
{
    PUT_ONE_OF(m, "case a in ", "case $v in\n", "case \"a b\" in ");
    for (unsigned n = 1 + pick(m, 2); n > 0; n--) {
        PUT_ONE_OF(m, "a) ", "(a|b) ", "*)", "'a b' | c )", "esac) ", "[a-z]) ");
        put_nested(m, "", "");
        PUT_ONE_OF(m, " ;; ", ";&", " ;;& ", "\n;;\n");
    }
    put(m, " esac");
}

/* Its name tells how deep it stands: none calls itself. */
static void put_function(struct maker *m, const char *before, const char *after)
{
    strbuf_addf(&m->out, "%sf%u%s", before, m->depth, after);
    put_nested(m, "", "");
    strbuf_addf(&m->out, "\n}; f%u x", m->depth);
}

static void put_compound(struct maker *m)
{
    switch (pick(m, 13)) {
    case 0:
        put_nested(m, "(", ")");
        break;
    case 1:
        put_nested(m, "{ ", "\n}");
        break;
    case 2:
        put_nested(m, "if ", "; then ok then; elif ok; then ok a; else no; fi");
        break;
    case 3:
        put_nested(m, "for v in a $(ok words) b; do ", "; done");
        break;
    case 4:
        put_nested(m, "while ok; do ", "\nbreak; done");
        break;
    case 5:
        put_nested(m, "until no; do ", "\nbreak; done");
        break;
    case 6:
        put_case(m);
        break;
    case 7:
        put_function(m, "", "() { ");
        break;
    case 8:
        put_function(m, "function ", " { ");
        break;
    case 9:
        put_nested(m, "[[ -n $(", ") && a != b ]]");
        break;
    case 10:
        put_nested(m, "for ((i = 0; i < 2; i++)); do ", "\ndone");
        break;
    case 11:
        put_nested(m, "(( 1 + $(", ") 0 ))");
        break;
    default:
        put_eval(m);
    }
    if (pick(m, 6) == 0) {
        put(m, " ");
        put_redirection(m);
    }
}

static void put_list(struct maker *m)
{
    for (unsigned n = 1 + (m->depth ? pick(m, 3) == 0 : pick(m, 3)); n > 0; n--) {
        if (m->depth < MAX_DEPTH && pick(m, 4) == 0)
            put_compound(m);
        else
            put_simple(m);
        if (n == 1)
            return;
        if (m->here.n || pick(m, 4) == 0)
            put_newline(m);
        else
            PUT_ONE_OF(m, "; ", " && ", " || ", " | ", " & ", ";", "|", "||", " |& ", " # it's\n");
    }
}

/* What a hand might slip: a character more or less. */
static void damage(struct maker *m)
{
    static const char signs[] = "'\"\\`$(){};&|<>#=[]! \n";
    size_t at = m->out.n ? pick(m, (unsigned)m->out.n) : 0;
    AUTO(strbuf) struct strbuf whole = {0};

    strbuf_add(&whole, strbuf_str(&m->out));
    strbuf_cut(&m->out, at);
    if (pick(m, 2))
        strbuf_add_char(&m->out, signs[pick(m, sizeof signs - 1)]);
    strbuf_add(&m->out, str_skip(strbuf_str(&whole), at + pick(m, 2)));
}

static void make_line(struct maker *m, bool is_damaged)
{
    strbuf_clear(&m->out);
    strbuf_clear(&m->here);
    m->depth = 0;
    put_list(m);
    if (m->here.n)
        put_newline(m);
    for (unsigned n = is_damaged ? 1 + pick(m, 2) : 0; n > 0; n--)
        damage(m);
}

/* --- asking bash --- */

/* Lines come and calls go with a NUL behind each word; a call ends with \1 as a word. A line that
 * goes round for ever is ended after some steps. */
static const char driver[] =
    "exec 8<\"$2\" 9>\"$3\"; ulimit -f 2048 -t 60; cd \"$1\" || exit 1\n"
    "say() {\n"
    "    builtin printf '%s\\0' \"$n\" \"$@\" $'\\1' >&9\n"
    "}\n"
    "count() { if ((++steps > 200)); then exit 1; fi; }\n"
    "ok() { say ok \"$@\"; }\n"
    "no() { say no \"$@\"; return 1; }\n"
    "command_not_found_handle() { say \"$@\"; return 127; }\n"
    "bash() { if [[ $1 == -c ]]; then (eval \"$2\"); else say bash \"$@\"; fi; }\n"
    "PATH=/nonexistent FUNCNEST=20 HOME=\"~\" c=ok e= n=0\n"
    "while IFS= read -r -d '' line <&8; do\n"
    "    (exec 8<&-; set -T --; trap count DEBUG; eval \"$line\"; wait) </dev/null >/dev/null "
    "2>&1\n"
    "    n=$((n + 1))\n"
    "done\n";

/* Does bash's call fit to what is known of the command? Words may vanish where it is unknown. */
static bool fits(const struct split_command *c, struct str call)
{
    AUTO(strbuf) struct strbuf pattern = {0};
    struct str text = str_skip(c->text, c->program_at);

    for (size_t i = 0; i < text.n; i++) {
        bool is_by_anything = (i > 0 && text.p[i - 1] == SHELL_ANYTHING) ||
                              (i + 1 < text.n && text.p[i + 1] == SHELL_ANYTHING);

        if (text.p[i] == SHELL_ANYTHING)
            strbuf_add_char(&pattern, '*');
        else if (text.p[i] != ' ' || !is_by_anything)
            wildcard_add_escaped(&pattern, str_slice(text, i, 1));
    }
    return wildcard_matches(strbuf_str(&pattern), call);
}

static bool is_listed(const struct shell_split *split, struct str call)
{
    for (size_t i = 0; i < split->n_commands; i++)
        if (fits(&split->commands[i], call))
            return true;
    return false;
}

struct tally {
    size_t n_calls, n_sure;
};

static void check_call(struct str line, struct str call, struct tally *t)
{
    AUTO(arena) struct arena a = {0};
    struct shell_split split;

    shell_split(&a, line, &split);
    t->n_calls++;
    if (split.is_sure && !is_listed(&split, call)) {
        print_error("bash ran: %" STR_FMT "\nthe line is:\n%" STR_FMT "\nlisted are:\n",
                    STR_ARG(call), STR_ARG(line));
        for (size_t i = 0; i < split.n_commands; i++)
            print_error("    %" STR_FMT "\n", STR_ARG(split.commands[i].text));
        fail();
    }
}

/* Calls come nearly in order; late ones are of background commands. */
static void check_calls(struct str log, const struct str *lines, struct tally *t)
{
    AUTO(strbuf) struct strbuf call = {0};
    struct str word;
    int64_t number = -1;

    while (str_split(&log, '\0', &word)) {
        if (number < 0) {
            if (word.n == 0 && log.n == 0)
                break;
            assert_true(str_to_int64(word, &number));
            assert_in_range(number, 0, N_LINES - 1);
        } else if (str_is(word, "\1")) {
            check_call(lines[number], strbuf_str(&call), t);
            strbuf_clear(&call);
            number = -1;
        } else {
            if (call.n)
                strbuf_add_char(&call, ' ');
            strbuf_add(&call, word);
        }
    }
}

static size_t count_sure(const struct str *lines, size_t n)
{
    size_t n_sure = 0;

    for (size_t i = 0; i < n; i++) {
        AUTO(arena) struct arena a = {0};
        struct shell_split split;

        shell_split(&a, lines[i], &split);
        n_sure += split.is_sure;
    }
    return n_sure;
}

/* False: there is no bash here. */
static bool run_lines(const struct temp_dir *dir, struct str bytes, struct strbuf *ret_log)
{
    char script[300], lines[300], log[300], work[300];
    const char *argv[] = {"bash", script, work, lines, log, NULL};

    snprintf(script, sizeof script, "%s/driver", dir->path);
    snprintf(lines, sizeof lines, "%s/lines", dir->path);
    snprintf(log, sizeof log, "%s/log", dir->path);
    snprintf(work, sizeof work, "%s/work", dir->path);
    assert_int_equal(mkdir(work, 0700), 0);
    write_file(script, str_of(driver));
    write_file(lines, bytes);
    if (run_program(argv, "/dev/null", "/dev/null") < 0)
        return false;
    *ret_log = read_file(log);
    return true;
}

static void compare(uint64_t seed, bool is_damaged, size_t min_calls, size_t min_sure)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(strbuf) struct strbuf bytes = {0}, log = {0};
    AUTO_FREE struct str *lines = mem_alloc(N_LINES * sizeof *lines);
    struct maker m = {0};
    struct tally t = {0};
    struct str rest;

    seeded_random_init(&m.random, seed);
    for (size_t i = 0; i < N_LINES; i++) {
        make_line(&m, is_damaged);
        strbuf_add(&bytes, strbuf_str(&m.out));
        strbuf_add_char(&bytes, '\0');
    }
    strbuf_done(&m.out);
    strbuf_done(&m.here);
    rest = strbuf_str(&bytes);
    for (size_t i = 0; i < N_LINES; i++)
        str_split(&rest, '\0', &lines[i]);
    if (!run_lines(&dir, strbuf_str(&bytes), &log)) {
        print_message("[ SKIPPED because there is no bash ]\n");
        skip();
    }
    check_calls(strbuf_str(&log), lines, &t);
    t.n_sure = count_sure(lines, N_LINES);
    print_message("%d lines, %zu for sure, %zu calls\n", N_LINES, t.n_sure, t.n_calls);
    assert_true(t.n_calls >= min_calls);
    assert_true(t.n_sure >= min_sure);
}

TEST(what_bash_runs_of_a_line_is_in_the_list)
{
    compare(SEED, /* is_damaged= */ false, N_LINES, N_LINES * 6 / 10);
}

TEST(what_bash_runs_of_a_damaged_line_is_in_the_list_or_the_line_is_not_sure)
{
    compare(SEED, /* is_damaged= */ true, N_LINES / 2, N_LINES / 4);
}

RUN_TESTS(UNIT(what_bash_runs_of_a_line_is_in_the_list),
          UNIT(what_bash_runs_of_a_damaged_line_is_in_the_list_or_the_line_is_not_sure))
