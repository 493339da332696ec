/* command_test.c */
#include "calls.h"

#include "gate/command.h"

/* --- single commands --- */

TEST(a_simple_command_is_single)
{
    static const char *const commands[] = {
        "ls",
        "git log --oneline -5",
        "  make check\n",
        "git commit -m 'a; b | c & d > e `f` $(g) {h}'",
        "git commit -m \"it's fine; really (yes)\"",
        "grep -n \"a\\\"b\" x.c",
        "echo a\\;b",
        "echo $HOME \"$USER\"",
        "git commit -m 'two\nlines'",
        "echo a#b 'c # d'",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!command_is_single(str_of(commands[i])))
            fail_msg("not single: %s", commands[i]);
}

TEST(whatever_could_start_or_hide_another_command_is_not_single)
{
    static const char *const commands[] = {
        "",
        "ls; rm x",
        "ls && rm x",
        "ls || rm x",
        "ls | sh",
        "ls & rm x",
        "ls\nrm x",
        "ls `rm x`",
        "ls $(rm x)",
        "ls \"$(rm x)\"",
        "ls \"`rm x`\"",
        "ls <(rm x)",
        "ls > x",
        "cat < x",
        "(ls)",
        "{ ls; }",
        "ls {a,b}",
        "PATH=/tmp ls",
        "a[0]=1 ls",
        "$cmd x",
        "ls \\\nrm",
        "ls \\",
        "ls 'open",
        "ls \"open",
        "ls \"open \\\"",
        "ls #'\nrm -rf x\n#'",
        "ls $'\\'' x",
        "ls $\"x\"",
        "ls \"${x@P}\"",
        "ls $[x]",
        "ls x\rrm",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (command_is_single(str_of(commands[i])))
            fail_msg("single: %s", commands[i]);
    assert_false(command_is_single(S("ls\0rm")));
}

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

TEST(a_compound_command_is_allowed_by_the_bare_tool_or_its_exact_text_only)
{
    allows_not("Bash(git *)", "git log; rm -rf x");
    allows_not("Bash(git log:*)", "git log && rm -rf x");
    allows_not("Bash(git *)", "git log $(rm -rf x)");
    allows_not("Bash(git *)", "git log > ~/.bashrc");
    allows_not("Bash(git *)", "GIT_SSH_COMMAND=evil git fetch");
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
    denies("Bash(rm -rf *)", "rm\t -rf   x");
    denies("Bash(rm -rf *)", "rm 2>/dev/null -rf x");
    denies("Bash(rm -rf *)", "rm &>/dev/null -rf x");
    denies("Bash(rm -rf *)", "rm 2>&1 -rf x");
    denies("Bash(echo '*' x)", "echo \\* x");
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
    is_unclear("Bash(rm *)", "$'\\x72m' -rf y");
    is_unclear("Bash(rm -rf *)", "rm $flags y");
    is_unclear("Bash(git push:*)", "git $x");
    is_unclear("Bash(*--force*)", "git push $x");
}

TEST(a_denial_of_commands_that_cannot_be_seen_is_unclear)
{
    is_unclear("Bash(rm *)", "curl http://x | sh");
    is_unclear("Bash(rm *)", "bash -c \"$x\"");
    is_unclear("Bash(rm *)", "sudo -u root rm x");
    is_unclear("Bash(rm *)", "timeout 5 rm x");
    is_unclear("Bash(rm *)", "X=\"a b\" rm x");
    is_unclear("Bash(rm *)", ">\"a b\" rm x");
    is_unclear("Bash(rm *)", "! ! ! ! ! ! ! ! ! ! rm x");
    is_unclear("Bash(rm *)", NULL);
}

TEST(a_command_that_is_too_long_or_holds_a_nul_is_unclear)
{
    AUTO(strbuf) struct strbuf text = {0};

    while (text.n <= COMMAND_MAX_BYTES)
        strbuf_add_cstr(&text, "echo and so on, ");
    assert_int_equal(command_match(S("rm *"), strbuf_str(&text), READ_WIDELY), MATCH_UNCLEAR);
    assert_int_equal(command_match(S("echo *"), strbuf_str(&text), READ_NARROWLY), MATCH_NO);
    assert_int_equal(command_match(S("rm *"), S("ls\0;"), READ_WIDELY), MATCH_UNCLEAR);
}

RUN_TESTS(UNIT(a_simple_command_is_single),
          UNIT(whatever_could_start_or_hide_another_command_is_not_single),
          UNIT(a_prefix_pattern_allows_the_command_and_what_follows_it),
          UNIT(a_star_in_a_pattern_takes_anything),
          UNIT(without_a_star_only_the_same_command_is_allowed),
          UNIT(stars_and_backslashes_can_be_meant_as_such),
          UNIT(a_compound_command_is_allowed_by_the_bare_tool_or_its_exact_text_only),
          UNIT(a_denied_command_is_found_wherever_it_stands_in_a_line),
          UNIT(a_denied_program_is_found_under_every_spelling_of_its_name),
          UNIT(a_denied_argument_is_found_behind_a_quoted_separator),
          UNIT(other_commands_are_not_denied),
          UNIT(a_denial_that_depends_on_what_the_shell_puts_in_is_unclear),
          UNIT(a_denial_of_commands_that_cannot_be_seen_is_unclear),
          UNIT(a_command_that_is_too_long_or_holds_a_nul_is_unclear))
