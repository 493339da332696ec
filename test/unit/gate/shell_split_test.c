/* shell_split_test.c - lines of bash and what the splitter sees in them. */
#include "test.h"

#include "gate/shell/charset.h"
#include "gate/shell/split.h"

/* The commands of a line, one each line, in the order in which they are found:
 *
 *     rm x      as written; "@" is what cannot be known
 *     (rm x)    started by another, without assignments
 *     >f  <f    a file that is written or read
 *     ?         not sure */
static void describe(struct strbuf *out, struct str line)
{
    AUTO(arena) struct arena a = {0};
    struct shell_split s;

    shell_split(&a, line, &s);
    for (size_t i = 0; i < s.n_commands; i++) {
        const struct split_command *c = &s.commands[i];

        strbuf_add_cstr(out, c->is_inner ? "(" : "");
        for (size_t j = c->is_inner ? c->program_at : 0; j < c->text.n; j++)
            strbuf_add_char(out, c->text.p[j] ? c->text.p[j] : '@');
        strbuf_add_cstr(out, c->is_inner ? ")\n" : "\n");
    }
    for (size_t i = 0; i < s.n_redirections; i++) {
        const struct shell_redirection *r = &s.redirections[i];

        strbuf_add_char(out, r->writes ? '>' : '<');
        for (size_t j = 0; j < r->target.text.n; j++)
            strbuf_add_char(out, r->target.text.p[j] ? r->target.text.p[j] : '@');
        strbuf_add_char(out, '\n');
    }
    if (!s.is_sure)
        strbuf_add_cstr(out, "?\n");
}

static void assert_split_(const char *line, const char *want, int source_line)
{
    AUTO(strbuf) struct strbuf got = {0};

    describe(&got, str_of(line));
    if (!str_is(strbuf_str(&got), want)) {
        print_error("%s\nwant:\n%sgot:\n%s", line, want, strbuf_cstr(&got));
        _fail(__FILE__, source_line);
    }
}
#define splits(line, want) assert_split_(line, want, __LINE__)

static bool is_sure(const char *line)
{
    AUTO(arena) struct arena a = {0};
    struct shell_split s;

    shell_split(&a, str_of(line), &s);
    return s.is_sure;
}

/* --- lists --- */

TEST(signs_and_newlines_separate_commands)
{
    splits("", "");
    splits("a", "a\n");
    splits("a b; c && d||e|f |& g & h\ni", "a b\nc\nd\ne\nf\ng\nh\ni\n");
    splits(" \t a \t b ", "a b\n");
    splits("a\\\n b", "a b\n");
    splits("a \\\nb", "a b\n");
}

TEST(only_blanks_of_the_shell_separate_words)
{
    splits("rm\xC2\xA0x", "rm\xC2\xA0x\n");
    splits("rm\rx", "rm\rx\n");
    splits("rm\vx\fy", "rm\vx\fy\n");
    splits("\xE2\x80\x83rm", "\xE2\x80\x83rm\n");
}

TEST(comments_hide_what_is_in_them_and_nothing_else)
{
    splits("a # b; c\nd", "a\nd\n");
    splits("a #'\nrm x\n#'", "a\nrm x\n");
    splits("a # \\\nrm x", "a\nrm x\n");
    splits("a b#c; d", "a b#c\nd\n");
    splits("a '#' \\# \"#\"; d", "a # # #\nd\n");
    splits("a $#; d", "a @\nd\n");
    splits("#", "");
}

/* --- quoting --- */

TEST(quotes_are_removed_and_hide_signs)
{
    splits("r\\m x", "rm x\n");
    splits("\"r\"m 'x y'", "rm x y\n");
    splits("\\rm", "rm\n");
    splits("a 'b; c' \"d && e\" f\\;g", "a b; c d && e f;g\n");
    splits("a \"\\\"\\$\\`\\\\\\x\"", "a \"$`\\\\x\n");
    splits("a 'it'\\''s'; b", "a it's\nb\n");
    splits("a '' b", "a  b\n");
    splits("a \"b\nc\"", "a b\nc\n");
}

TEST(escapes_of_dollar_quotes_are_read)
{
    splits("$'\\x72m' x", "rm x\n");
    splits("$'\\162\\155' $'\\'; b'", "rm '; b\n");
    splits("$'\\u0072m' $'a\\tb\\\\'", "rm a\tb\\\n");
    splits("a $'\\u00e9'", "a @\n");
    splits("a \"$'x'\"", "a $'x'\n");
    assert_false(is_sure("a $'\\0b'"));
    assert_false(is_sure("a $'\\x{41}'"));
}

TEST(a_quote_without_its_end_is_not_sure)
{
    assert_false(is_sure("a 'b"));
    assert_false(is_sure("a \"b"));
    assert_false(is_sure("a $'b\\'"));
    assert_false(is_sure("a `b"));
    assert_false(is_sure("a $(b"));
    assert_false(is_sure("a ${b"));
    assert_false(is_sure("a \\"));
}

TEST(history_is_not_expanded)
{
    splits("a !! !b \"!c\"", "a !! !b !c\n");
}

/* --- expansions --- */

TEST(what_is_expanded_is_not_known)
{
    splits("a $b ${c} $1 $@ x$y.z", "a @ @ @ @ x@.z\n");
    splits("a *.c x?y [ab]c", "a @ x@ @\n");
    splits("a {b,c}d e{1..3}", "a @ e@\n");
    splits("a ~ ~/b ~c x~", "a ~ ~/b @c x~\n");
    splits("rm${IFS}x", "rm@x\n(@)\n");
    splits("[ -f x ] {} }", "[ -f x ] {} }\n");
    splits("a $", "a $\n");
}

TEST(commands_in_expansions_are_found)
{
    splits("a $(b c)", "b c\na @\n");
    splits("a \"x $(b \"$(c)\") y\"", "c\nb @\na x @ y\n");
    splits("a `b \\`c \\\\\\`d\\\\\\`\\``", "d\nc @\nb @\na @\n");
    splits("a \"`b \\\"c d\\\"`\"", "b c d\na @\n");
    splits("a ${b:-$(c)} \"${d#`e`}\"", "c\ne\na @ @\n");
    splits("a $((1 + $(b)))", "b\na @\n?\n");
    splits("a <(b) >(c | d)", "b\nc\nd\na @ @\n");
    splits("a $(case x in y) b;; esac)", "b\na @\n");
    splits("a[$(b)]=1", "b\na[@]=1\n?\n");
    splits("[[ $(b) == c ]]", "b\n");
    splits("for i in $(a); do b; done", "a\nb\n");
    splits("case $(a) in $(b)) c;; esac", "a\nb\nc\n");
    splits("(( x = $(a) ))", "a\n?\n");
}

TEST(text_that_is_evaluated_again_is_not_sure)
{
    assert_false(is_sure("x='a[$(rm y)]'; echo $((x))"));
    assert_false(is_sure("x='$(rm y)'; echo \"${x@P}\""));
    assert_false(is_sure("echo $[x]"));
    assert_true(is_sure("git commit -m 'uses $(x)'"));
    assert_true(is_sure("echo $((i + 1))"));
}

/* Bash runs the substitutions in what it computes, wherever the text comes from. */
TEST(text_that_comes_while_the_line_runs_is_not_computed)
{
    assert_false(is_sure("echo $(( $(cat f) ))"));
    assert_false(is_sure("echo $((`cat f`))"));
    assert_false(is_sure("(( $(cat f) ))"));
    assert_false(is_sure("[[ $(cat f) -eq 1 ]]"));
    assert_false(is_sure("[[ -v $(cat f) ]]"));
    assert_false(is_sure("test -v \"$(cat f)\""));
    assert_false(is_sure("[ $(cat f) ]"));
    assert_false(is_sure("[ \"$(cat f)\" x ]"));
    assert_false(is_sure("echo ${x:$(cat f)}"));
    assert_false(is_sure("echo ${a[$(cat f)]}"));
    assert_false(is_sure("echo ${!x} $(cat f)"));
    assert_false(is_sure("read -r x <f; echo $((x))"));
    assert_false(is_sure("read -r x <<'E'\na[$(b)]\nE\n[[ -v $x ]]"));
    assert_false(is_sure("for f in *; do [[ $f -gt 1 ]]; done"));
    assert_false(is_sure("x=$(cat f); let y=x"));
    assert_false(is_sure("declare -i x=$(cat f)"));
    assert_false(is_sure("RANDOM=$(cat f)"));
    assert_false(is_sure("read -r RANDOM <f"));
    assert_false(is_sure("read -r RAN''DOM <f"));
    assert_false(is_sure("for OPTIND in $(cat f); do a; done"));
    assert_false(is_sure("export \"HISTCMD=$(cat f)\""));
    assert_false(is_sure("export \"$(cat f)\""));
    assert_false(is_sure("declare -n x=$(cat f)"));
    assert_false(is_sure("unset \"$(cat f)\""));
    assert_false(is_sure("printf \"$(cat f)\""));
    assert_false(is_sure("[[ ${PWD##*/} -eq 1 ]]"));
    assert_false(is_sure("[[ -v a[${BASH_COMMAND:9:1}x] ]]"));
    assert_false(is_sure("echo {a[x]}>f"));
    assert_true(is_sure("[ -n \"$(cat f)\" ]"));
    assert_true(is_sure("[ \"$(cat f)\" = x ]"));
    assert_true(is_sure("[[ -f $(cat f) ]]"));
    assert_true(is_sure("x=$(cat f); echo ${x:0:7} ${x:-y} ${#x} ${a[@]} ${a[0]}"));
    assert_true(is_sure("local x=$(cat f)"));
    assert_true(is_sure("export X=$(cat f) RANDOMLY=$(cat f)"));
    assert_true(is_sure("printf '%s' \"$(cat f)\""));
    assert_true(is_sure("for i in 1 2; do [[ $i -gt 1 ]] && echo $((i * 2)); done"));
}

TEST(letters_that_hold_signs_of_the_shell_are_known)
{
    static const char *const plain[] = {"",
                                        "C",
                                        "POSIX",
                                        "C.UTF-8",
                                        "en_US.utf8",
                                        "de_DE@euro",
                                        "zh_CN",
                                        "ja_JP.eucJP",
                                        "de_DE.ISO-8859-15@euro",
                                        "ru_RU.KOI8-R"};
    static const char *const others[] = {"zh_CN.GBK",        "zh_CN.GB18030", "zh_TW.Big5",
                                         "zh_HK.BIG5-HKSCS", "zh_TW",         "ja_JP.SJIS",
                                         "ko_KR.CP949",      "xx_XX.unknown"};

    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        assert_true(shell_locale_is_plain(str_of(plain[i])));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(shell_locale_is_plain(str_of(others[i])));
}

TEST(text_in_pieces_is_not_computed)
{
    assert_false(is_sure("for x in 'a[$'; do for y in '(b)]'; do [[ -v $x$y ]]; done; done"));
    assert_false(is_sure("[[ -v a['$(b)'] ]]"));
    assert_false(is_sure("[[ -v ${x:-'a[$(b)]'} ]]"));
    assert_false(is_sure("[[ -v ${x:-a[\\$\\(b)]} ]]"));
    assert_false(is_sure("[[ -v $\"a[\\$(b)]\" ]]"));
    assert_false(is_sure("for x in 'a[\\x24(b)]'; do [[ -v ${x@E} ]]; done"));
}

/* --- here-documents --- */

TEST(here_documents_end_where_their_delimiter_stands)
{
    splits("cat <<E\nrm x\nE\nb", "cat\nb\n");
    splits("cat <<'E'; a\n$(rm x)\nE\nb", "cat\na\nb\n");
    splits("cat <<E | a\n$(rm x) `c`\nE\nb", "cat\na\nrm x\nc\nb\n");
    splits("cat <<\\E\n$(rm x)\nE", "cat\n");
    splits("cat <<-E\n\ta\n\tE\nb", "cat\nb\n");
    splits("cat <<E\n\tE\nE\nb", "cat\nb\n");
    splits("cat <<A <<B\nx\nA\ny\nB\nz", "cat\nz\n");
    splits("cat <<\"E F\"\nE\nE F\nrm", "cat\nrm\n");
    splits("cat <<E\n\\$(rm x)\nE", "cat\n");
    splits("a $(cat <<E\nit's )\nE\n) b", "cat\na @ b\n");
    splits("cat <<< 'a b'; c", "cat\nc\n");
}

TEST(a_here_document_that_bash_may_end_elsewhere_is_not_sure)
{
    assert_false(is_sure("cat <<E\nx"));
    assert_false(is_sure("cat <<E"));
    assert_false(is_sure("cat <<E\nE\\\n\nE\n"));
    assert_false(is_sure("a $(cat <<E\nx\nE)\nE\n)"));
    assert_false(is_sure("cat <<E 'a\nE\nb'"));
    assert_false(is_sure("cat <<$(x)\n"));
    assert_false(is_sure("cat <\\\n<E\nE"));
}

/* --- compound commands --- */

TEST(commands_in_compound_commands_are_found)
{
    splits("(a; b)", "a\nb\n");
    splits("{ a; b; }", "a\nb\n");
    splits("if a; then b; elif c; then d; else e; fi", "a\nb\nc\nd\ne\n");
    splits("while ! a; do b; done; until c\ndo d; done", "a\nb\nc\nd\n");
    splits("for x in rm b; do c; done", "c\n");
    splits("for x do a; done", "a\n");
    splits("for ((i=0; i<3; i++)); do a; done", "a\n");
    splits("select x in a b; do c; done", "c\n");
    splits("case x in a|b) c;; (d) e;& *) f; esac; g", "c\ne\nf\ng\n");
    splits("case x in\nx)\n rm\n ;;\nesac", "rm\n");
    splits("[[ -f x && y < z || (a == b) ]] && c", "c\n");
    splits("[[ $x =~ ^(a|b)+$ ]] && c", "c\n");
    splits("time -p a | b; ! c; time ! d", "a\nb\nc\nd\n");
    splits("a | time b", "a\ntime b\n(b)\n");
    splits("coproc a b; coproc N { c; }", "a b\nc\n");
}

TEST(functions_are_read_but_their_names_are_no_commands)
{
    splits("f() { rm x; }; f", "rm x\nf\n");
    splits("function f { rm x; }; f y", "rm x\nf y\n");
    splits("function f () ( rm x ); f", "rm x\nf\n");
    splits("f ( ) { rm; }", "rm\n");
    assert_false(is_sure("a b() { c; }"));
    assert_false(is_sure("shopt -s extglob\nls !(a)"));
}

TEST(keywords_are_such_only_where_a_command_starts)
{
    splits("echo if then rm", "echo if then rm\n");
    splits("X=1 if a", "X=1 if a\n");
    splits("'if' a; b", "if a\nb\n");
    splits("echo }; a", "echo }\na\n");
    assert_false(is_sure("i\\\nf rm x; then a; fi"));
    assert_false(is_sure("a $(<f ! rm x)")); /* bash runs rm */
}

TEST(what_does_not_fit_is_not_sure)
{
    assert_false(is_sure("a )"));
    assert_false(is_sure("( a"));
    assert_false(is_sure("a ;; b"));
    assert_false(is_sure("case x in a"));
    assert_false(is_sure("[[ a"));
    assert_false(is_sure("a >"));
    assert_false(is_sure("a $((1 + 2) ; b)"));
    assert_false(is_sure("alias x=rm"));
    assert_false(is_sure("a < /dev/tcp/example.com/80"));
}

/* --- assignments and redirections --- */

TEST(assignments_stand_before_their_command)
{
    splits("a=1 b='c d' e f=g", "a=1 b=c d e f=g\n");
    splits("a=rm; $a x", "a=rm\n@ x\n(@)\n");
    splits("a+=1 b[2]=3 c", "a+=1 b[2]=3 c\n");
    splits("a=(b $(c) 'd e'); f", "c\na=@\nf\n");
    splits("declare a=(b c) d", "declare a=@ d\n");
    splits("1=2 =3 a", "1=2 =3 a\n");
    assert_false(is_sure("a[ # ]=1; rm x"));
}

TEST(redirections_are_told_apart_from_words)
{
    splits("a >b 2>>c <d >|e <>f &>g >&h i", "a i\n>b\n>c\n<d\n>e\n>f\n>g\n>h\n");
    splits("a 2>&1 1>&- 3<&0 >&2 <&-", "a\n");
    splits(">b a", "a\n>b\n");
    splits("a {x}>b 10>c d9>e", "a d9\n>b\n>c\n>e\n");
    splits("{a,b}>c", "@\n(@)\n>c\n");
    splits("{ a; } >b; (c) <d", "a\nc\n>b\n<d\n");
    splits("a > \"b c\" >$d", "a\n>b c\n>@\n");
    splits("a > >(b)", "b\na\n");
    splits("a b\\>c", "a b>c\n");
    splits("a>b", "a\n>b\n");
    splits("a&>b", "a\n>b\n");
}

/* --- wrappers --- */

TEST(commands_that_programs_start_are_found)
{
    static const char *const lines[] = {
        "command rm x",
        "builtin rm x",
        "exec -a y rm x",
        "env rm x",
        "env -i rm x",
        "env -u A -C /tmp B=1 rm x",
        "sudo rm x",
        "sudo -nu me A=1 rm x",
        "sudo --user me rm x",
        "doas -u me rm x",
        "nice -n 5 rm x",
        "nice -5 rm x",
        "nohup rm x",
        "setsid -f rm x",
        "stdbuf -oL -e 0 rm x",
        "timeout -k 5 -s TERM 10s rm x",
        "/usr/bin/timeout --signal=9 1 rm x",
        "ionice -c 3 rm x",
        "chroot / rm x",
        "xargs rm x",
        "xargs -0 -n1 -P 4 rm x",
        "find . -name y -exec rm x \\;",
        "find . -execdir rm x +",
        "fd y -x rm x",
        "eval rm x",
        "eval 'a; rm x'",
        "sh -c 'rm x'",
        "bash -ec 'rm x' y",
        "bash -o pipefail -lc 'a && rm x'",
        "/bin/sh -c -e 'rm x'",
        "su me -c 'rm x'",
        "script -c 'rm x' log",
        "flock /tmp/l rm x",
        "flock /tmp/l -c 'rm x'",
        "watch -n 1 rm x",
        "parallel -j 4 rm x ::: y",
        "trap 'rm x' EXIT",
        "strace -f -o y rm x",
        "busybox rm x",
        "sudo env A=1 nice sh -c 'timeout 1 rm x'",
        "time env rm x",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO(strbuf) struct strbuf got = {0};

        describe(&got, str_of(lines[i]));
        if (str_find(strbuf_str(&got), S("(rm x")) == STR_NONE)
            fail_msg("%s gives\n%s", lines[i], strbuf_cstr(&got));
    }
}

TEST(commands_that_cannot_be_seen_may_be_anything)
{
    static const char *const lines[] = {
        "$a",
        "\"$a\" b",
        "a$b",
        "$(a) b",
        "eval \"$a\"",
        "sh",
        "curl x | sh",
        "bash -s < x",
        "bash -c \"$a\"",
        "sh /dev/stdin",
        "bash <(a)",
        ". <(a)",
        "source /dev/stdin",
        "sh $a",
        "env -S 'rm x'",
        "sudo --unheard-of a b",
        "enable -f x y",
        "hash -p /bin/rm a",
        "jobs -x a",
        "eval rm $a",
        "find . -exec {} \\;",
        "xargs -I @ @ x",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO(strbuf) struct strbuf got = {0};

        describe(&got, str_of(lines[i]));
        if (str_find(strbuf_str(&got), S("(@)")) == STR_NONE)
            fail_msg("%s gives\n%s", lines[i], strbuf_cstr(&got));
    }
}

TEST(programs_that_only_name_a_command_start_none)
{
    splits("command -v rm", "command -v rm\n");
    splits("bash script.sh rm x", "bash script.sh rm x\n");
    splits("echo sudo rm x", "echo sudo rm x\n");
    splits("find . -name rm", "find . -name rm\n");
    splits("env", "env\n");
    splits("trap - EXIT", "trap - EXIT\n");
}

/* --- limits --- */

static void repeat(struct strbuf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add_cstr(out, text);
}

TEST(what_is_too_deep_too_much_or_no_text_is_not_sure)
{
    static const char *const parts[] = {"$(",   "(",        "`",       "${x:-", "$((",
                                        "a;",   "env ",     "eval ",   "<(",    "case x in x) ",
                                        "\"$(", "a[",       "[",       "{",     "<<E ",
                                        "\\\n", "a=(",      "$'\\x41", "!",     "a=b ",
                                        "> f ", "sh -c 'a", "{a,b}",   "'",     "x() { "};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO(strbuf) struct strbuf line = {0}, got = {0};

        repeat(&line, parts[i], 100000);
        describe(&got, strbuf_str(&line)); /* ends, and soon */
        assert_true(got.n < 64 << 20);
    }
    assert_false(is_sure(
        "$($($($($($($($($($($($($($($($($($($($($($($($($($($(a)))))))))))))))))))))))))))"));
}

TEST(a_line_that_holds_a_nul_or_is_too_long_is_not_read)
{
    AUTO(strbuf) struct strbuf line = {0}, got = {0};

    describe(&got, S("a\0; rm x"));
    assert_str(strbuf_str(&got), "?\n");
    repeat(&line, "a ", SHELL_MAX_BYTES);
    strbuf_clear(&got);
    describe(&got, strbuf_str(&line));
    assert_str(strbuf_str(&got), "?\n");
}

/* --- written paths --- */

static void assert_writes_(const char *line, const char *want, int source_line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct shell_split s;
    struct str *paths;
    size_t n;

    shell_split(&a, str_of(line), &s);
    shell_written_paths(&a, &s, &paths, &n);
    for (size_t i = 0; i < n; i++) {
        strbuf_add_cstr(&got, i ? " " : "");
        strbuf_add(&got, paths[i]);
    }
    if (!str_is(strbuf_str(&got), want)) {
        print_error("%s\nwant: %s\n got: %s\n", line, want, strbuf_cstr(&got));
        _fail(__FILE__, source_line);
    }
}
#define writes(line, want) assert_writes_(line, want, __LINE__)

TEST(paths_that_are_obviously_written_are_listed)
{
    writes("echo x > a; echo y >> b 2> c < d", "a b c");
    writes("rm -rf a b; rm -- -c", "a b -c");
    writes("sudo rm a && find . -exec touch b \\;", "a b");
    writes("cp -r a b c", "c");
    writes("cp -t d a b", "a b");
    writes("mv a b", "a b");
    writes("sed -i 's/a/b/' c d; sed 's/a/b/' e", "c d");
    writes("sed -i -e 's/a/b/' c", "c");
    writes("echo | tee -a a b >c", "c a b");
    writes("dd if=a of=b", "b");
    writes("chmod 600 a; touch -d now b", "a b");
    writes("ls $x; cat a; rm $y > $z", "");
    writes("sh -c 'echo > a'", "a");
}

RUN_TESTS(UNIT(signs_and_newlines_separate_commands), UNIT(only_blanks_of_the_shell_separate_words),
          UNIT(comments_hide_what_is_in_them_and_nothing_else),
          UNIT(quotes_are_removed_and_hide_signs), UNIT(escapes_of_dollar_quotes_are_read),
          UNIT(a_quote_without_its_end_is_not_sure), UNIT(history_is_not_expanded),
          UNIT(what_is_expanded_is_not_known), UNIT(commands_in_expansions_are_found),
          UNIT(text_that_is_evaluated_again_is_not_sure),
          UNIT(text_that_comes_while_the_line_runs_is_not_computed),
          UNIT(text_in_pieces_is_not_computed),
          UNIT(letters_that_hold_signs_of_the_shell_are_known),
          UNIT(here_documents_end_where_their_delimiter_stands),
          UNIT(a_here_document_that_bash_may_end_elsewhere_is_not_sure),
          UNIT(commands_in_compound_commands_are_found),
          UNIT(functions_are_read_but_their_names_are_no_commands),
          UNIT(keywords_are_such_only_where_a_command_starts), UNIT(what_does_not_fit_is_not_sure),
          UNIT(assignments_stand_before_their_command),
          UNIT(redirections_are_told_apart_from_words),
          UNIT(commands_that_programs_start_are_found),
          UNIT(commands_that_cannot_be_seen_may_be_anything),
          UNIT(programs_that_only_name_a_command_start_none),
          UNIT(what_is_too_deep_too_much_or_no_text_is_not_sure),
          UNIT(a_line_that_holds_a_nul_or_is_too_long_is_not_read),
          UNIT(paths_that_are_obviously_written_are_listed))
