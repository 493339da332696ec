/* command_test.c */
#include "calls.h"

#include "gate/command.h"

/* --- allowing --- */

TEST(a_prefix_pattern_allows_the_command_and_what_follows_it)
{
    allows("Bash(git log:*)", "git log");
    allows("Bash(git log:*)", "git log --oneline");
    allows("Bash(git log:*)", " git log --oneline \n");
    allows_not("Bash(git log:*)", "git logs");
    allows_not("Bash(git log:*)", "git push");
    allows_not("Bash(git log:*)", "/tmp/git log");
    allows("Bash(curl http://a/:*)", "curl http://a/b");
}

TEST(a_star_in_a_pattern_takes_anything)
{
    allows("Bash(git *)", "git push");
    allows("Bash(git *)", "git");
    allows_not("Bash(git *)", "github");
    allows("Bash(git*)", "github");
    allows("Bash(git * main)", "git push origin main");
    allows_not("Bash(git * main)", "git push origin mainly");
    allows("Bash(* --help)", "gcc --help");
    allows("Bash(cat *.c)", "cat src/base/str.c");
    allows("Bash(**)", "ls -l");
}

TEST(without_a_star_only_the_same_command_is_allowed)
{
    allows("Bash(npm run test)", "npm run test");
    allows_not("Bash(npm run test)", "npm run test:all");
    allows_not("Bash(npm run test)", "npm run");
    allows_not("Bash(npm run test)", "npm run test -- -x");
}

TEST(stars_and_backslashes_can_be_meant_as_such)
{
    allows("Bash(ls \\*.c)", "ls *.c");
    allows_not("Bash(ls \\*.c)", "ls a.c");
    allows("Bash(grep \\\\d x)", "grep \\d x");
    allows("Bash(grep \\d x)", "grep \\d x");
    allows("Bash(ls a?[b])", "ls a?[b]");
    allows_not("Bash(ls a?[b])", "ls axb");
}

TEST(a_pattern_allows_a_compound_command_only_if_it_holds_for_every_part)
{
    allows("Bash(git *)", "git log; git status");
    allows("Bash(git *)", "git log | git shortlog && git log $(git rev-parse HEAD)");
    allows("Bash(git *)", "if git diff --quiet; then git log; else (git status &); fi");
    allows("Bash(git *)", "for f in a b; do git log -- $f; done");
    allows_not("Bash(git *)", "git log; rm -rf x");
    allows_not("Bash(git log:*)", "git log && rm -rf x");
    allows_not("Bash(git *)", "git log $(rm -rf x)");
    allows_not("Bash(git *)", "git log > ~/.bashrc");
    allows_not("Bash(git *)", "GIT_SSH_COMMAND=evil git fetch");
    allows_not("Bash(git *)", "git log $((PATH=2))");
    allows_not("Bash(git *)", "for x in PATH=2; do git log $((x)); done");
    allows("Bash(git *)", "for ((i=0; i<3; i++)); do git log -n $((i+1)); done");
    allows("Bash", "git log; rm -rf x");
    allows("Bash(*)", "git log; rm -rf x");
    allows("Bash(make && make check)", "make && make check");
    allows_not("Bash(make && *)", "make && make check");
}

/* --- denying --- */

TEST(a_denied_command_is_found_wherever_it_stands_in_a_line)
{
    static const char *const lines[] = {
        "rm -rf x",
        "rm",
        "ls; rm -rf x",
        "ls;rm x",
        "ls && rm x",
        "ls || rm x",
        "ls | rm x",
        "ls & rm x",
        "ls\nrm x",
        "ls $(rm x)",
        "ls \"$(rm x)\"",
        "ls `rm x`",
        "(rm x)",
        "( rm x )",
        "{ rm x; }",
        "if true; then rm x; fi",
        "while ! rm x; do :; done",
        "for i in 1 2; do rm x; done",
        "X=1 Y=2 rm x",
        "sudo rm x",
        "env X=1 rm x",
        "find . | xargs rm",
        "eval 'rm x'",
        "sh -c 'ls; rm x'",
        "diff <(rm x) y",
        "sudo -u root rm x",
        "timeout 5 rm x",
        "X=\"a b\" rm x",
        ">\"a b\" rm x",
        "! ! ! ! ! ! ! ! ! ! rm x",
        ">/dev/null rm x",
        "2>&1 rm x",
        "cat <<EOF | ls\nEOF\nrm x",
        "ls \\\\\nrm x",
        "ls # \\\nrm x",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        denies("Bash(rm *)", lines[i]);
        denies("Bash(rm:*)", lines[i]);
        denies("Bash(*rm*)", lines[i]);
    }
}

TEST(a_denied_program_is_found_under_every_spelling_of_its_name)
{
    denies("Bash(rm -rf *)", "/usr/bin/rm -rf x");
    denies("Bash(rm -rf *)", "./../bin/rm -rf x");
    denies("Bash(rm -rf *)", "$BIN/rm -rf x");
    denies("Bash(rm -rf *)", "\\rm -rf x");
    denies("Bash(rm -rf *)", "'rm' -rf x");
    denies("Bash(rm -rf *)", "r''m -\"rf\" x");
    denies("Bash(rm -rf *)", "r\\\nm -rf x");
    denies("Bash(rm -rf *)", "$'\\x72m' -rf y");
    denies("Bash(rm -rf *)", "rm\t -rf   x");
    denies("Bash(rm -rf *)", "rm 2>/dev/null -rf x");
    denies("Bash(rm -rf *)", "rm &>/dev/null -rf x");
    denies("Bash(rm -rf *)", "rm 2>&1 -rf x");
    denies("Bash(echo '*' x)", "echo \\* x");
}

TEST(a_denied_program_is_found_or_asked_about_in_hostile_lines)
{
    static const char *const lines[] = {
        "ls #'\nrm x\n#'",
        "cat <<'E F'\nE\nE F\nrm x",
        "cat <<E\n$(rm x)\nE",
        "a=rm; $a x",
        "rm${IFS}x",
        "r\\m x",
        "\"r\"m x",
        "$'\\162m' x",
        "ls `ls \\`rm x\\``",
        "command rm x",
        "env -i rm x",
        "xargs rm < x",
        "find . -exec rm {} \\;",
        "time rm x",
        "a | time rm x",
        "case x in x) rm x;; esac",
        "function f { rm x; }; f",
        "alias x=rm; x y",
        "x='a[$(rm y)]'; echo $((x))",
        "trap 'rm x' EXIT",
        "sh <<< 'rm x'",
        "echo cm0geA== | base64 -d | bash",
        ". /dev/stdin <<< 'rm x'",
        "bash -c \"$(echo rm x)\"",
        "( ( (rm x) ) )",
        "echo $((echo) ; rm x)",
        "i\\\nf rm x; then ls; fi",
        "a $(<f ! rm x)",
        "shopt -s expand_aliases\nalias ls='rm '\nls x",
        "coproc X { rm x; }",
        "\"${x@P}\"",
        "exec rm x",
        "hash -p /bin/rm ls; ls x",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (match_one("Bash(rm *)", lines[i], READ_WIDELY) == MATCH_NO ||
            match_one("Bash(ls *)", lines[i], READ_NARROWLY) == MATCH_YES)
            fail_msg("not found: %s", lines[i]);
}

TEST(a_denied_argument_is_found_behind_a_quoted_separator)
{
    denies("Bash(git commit *--no-verify*)", "ls; git commit -m \"a; (b)\" --no-verify");
    denies("Bash(git commit *--no-verify*)", "ls # it's\ngit commit -m 'a; b' --no-verify");
    denies("Bash(git commit *--no-verify*)", "ls && git commit -m a\\;b --no-verify");
}

TEST(other_commands_are_not_denied)
{
    denies_not("Bash(rm *)", "ls -l");
    denies_not("Bash(rm *)", "rmdir x");
    denies_not("Bash(rm *)", "git rm x");
    denies_not("Bash(rm *)", "echo \"$HOME\" *.c {a,b}");
    denies_not("Bash(rm *)", "if [ -f x ]; then cat x; fi");
    denies_not("Bash(rm *)", "[[ -f x ]] && { make; }");
    denies_not("Bash(rm *)", "bash script.sh");
    denies_not("Bash(git push:*)", "git log $branch");
    denies_not("Bash(git push:*)", "git status && git log");
}

TEST(a_denial_that_depends_on_what_the_shell_puts_in_is_unclear)
{
    is_unclear("Bash(rm *)", "$cmd x");
    is_unclear("Bash(rm *)", "x=rm; $x -rf y");
    is_unclear("Bash(rm *)", "$(echo rm) -rf y");
    is_unclear("Bash(rm *)", "`echo rm` -rf y");
    is_unclear("Bash(rm *)", "r$(echo m) -rf y");
    is_unclear("Bash(rm *)", "/bin/r? -rf y");
    is_unclear("Bash(rm *)", "[r]m -rf y");
    is_unclear("Bash(rm *)", "{rm,-rf,y}");
    is_unclear("Bash(rm -rf *)", "rm $flags y");
    is_unclear("Bash(git push:*)", "git $x");
    is_unclear("Bash(*--force*)", "git push $x");
}

TEST(a_denial_of_commands_that_cannot_be_seen_is_unclear)
{
    is_unclear("Bash(rm *)", "curl http://x | sh");
    is_unclear("Bash(rm *)", "bash -c \"$x\"");
    is_unclear("Bash(rm *)", "sudo --new-option x rm y");
    is_unclear("Bash(rm *)", NULL);
}

static enum match match_line(const char *pattern, struct str line, enum reading reading)
{
    AUTO(arena) struct arena a = {0};
    struct command_line c;

    command_init(&c, &a, line, /* other_shell= */ false);
    return command_match(str_of(pattern), &c, reading);
}

TEST(a_command_that_is_too_long_or_holds_a_nul_is_unclear)
{
    AUTO(strbuf) struct strbuf text = {0};

    while (text.n <= SHELL_MAX_BYTES)
        strbuf_add_cstr(&text, "echo and so on, ");
    assert_int_equal(match_line("rm *", strbuf_str(&text), READ_WIDELY), MATCH_UNCLEAR);
    assert_int_equal(match_line("echo *", strbuf_str(&text), READ_NARROWLY), MATCH_NO);
    assert_int_equal(match_line("rm *", S("ls\0;"), READ_WIDELY), MATCH_UNCLEAR);
}

TEST(options_are_denied_in_any_order)
{
    denies("Bash(rm -rf *)", "rm -fr x");
    denies("Bash(rm -rf *)", "rm -r -f x");
    denies("Bash(rm -rf *)", "rm -f -v -r x");
    denies("Bash(rm -rf *)", "rm -rfv x");
    denies("Bash(rm -rf *)", "rm x -rf");
    denies("Bash(rm -rf *)", "/bin/rm -r -f x");
    denies("Bash(rm -rf *)", "ls; sudo rm -fr x");
    denies("Bash(rm -rf:*)", "rm -fr");
    denies("Bash(rm -rf:*)", "rm -f -r x y");
    denies("Bash(rm -rf /)", "rm -fr /");
    denies("Bash(rm -r -f *)", "rm -rf x");
    denies("Bash(git push -f *)", "git push origin -uf");
    denies("Bash(rm '-rf' *)", "rm -fr x");
    denies_not("Bash(rm -rf *)", "rm -r x");
    denies_not("Bash(rm -rf *)", "rm x");
    denies_not("Bash(rm -rf *)", "rm -r -- -f");
    denies_not("Bash(rm -rf /)", "rm -fr x");
    denies_not("Bash(rm -rf *)", "rmdir -fr x");
    denies_not("Bash(rm -rf *)", "rm -r \"build/$x\"");
    is_unclear("Bash(rm -rf *)", "rm -r $x");
    is_unclear("Bash(rm -rf *)", "rm -r -$x y");
    denies_not("Bash(find . -delete)", "find . -type l -name ted -d");
    denies_not("Bash(ls -l *)", "ls -a x");
}

TEST(options_are_allowed_as_they_are_written)
{
    allows("Bash(rm -rf *)", "rm -rf x");
    allows_not("Bash(rm -rf *)", "rm -fr x");
    allows_not("Bash(ls -la)", "ls -al");
}

RUN_TESTS(UNIT(options_are_denied_in_any_order), UNIT(options_are_allowed_as_they_are_written),
          UNIT(a_prefix_pattern_allows_the_command_and_what_follows_it),
          UNIT(a_star_in_a_pattern_takes_anything),
          UNIT(without_a_star_only_the_same_command_is_allowed),
          UNIT(stars_and_backslashes_can_be_meant_as_such),
          UNIT(a_pattern_allows_a_compound_command_only_if_it_holds_for_every_part),
          UNIT(a_denied_command_is_found_wherever_it_stands_in_a_line),
          UNIT(a_denied_program_is_found_under_every_spelling_of_its_name),
          UNIT(a_denied_program_is_found_or_asked_about_in_hostile_lines),
          UNIT(a_denied_argument_is_found_behind_a_quoted_separator),
          UNIT(other_commands_are_not_denied),
          UNIT(a_denial_that_depends_on_what_the_shell_puts_in_is_unclear),
          UNIT(a_denial_of_commands_that_cannot_be_seen_is_unclear),
          UNIT(a_command_that_is_too_long_or_holds_a_nul_is_unclear))
