/* reads_only_test.c - lines that need no snapshot, and many that look like them. */
#include "test.h"

#include "sdk/reads_only.h"

TEST(lines_that_only_read_are_known)
{
    static const char *const lines[] = {
        "ls -la",
        "cat a.txt | grep -n foo | wc -l",
        "cd src && ls",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1 -- src/a.c",
        "find . -name '*.c' -type f",
        "grep -r \"$pattern\" .",
        "echo hello; pwd",
        "ls missing 2>/dev/null || echo none",
        "cat $(ls)",
        "head -n 5 < input",
        "sort names",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!command_reads_only(str_of(lines[i])))
            fail_msg("is said to write: %s", lines[i]);
}

TEST(everything_else_may_write)
{
    static const char *const lines[] = {
        "",
        "rm a",
        "ls > list",
        "echo x >> a",
        "cat a | tee b",
        "ls; rm a",
        "echo $(rm a)",
        "echo `rm a`",
        "cat <(rm a)",
        "find . -delete",
        "find . -name x -exec rm {} +",
        "find . $args",
        "sort -o a a",
        "sort -uo a a",
        "git checkout .",
        "git diff --output=a",
        "git diff $options",
        "git -c core.pager=./x log",
        "git $subcommand",
        "$program a",
        "./ls",
        "/tmp/ls",
        "PATH=. ls",
        "ls() { rm a; }; ls",
        "env ls",
        "time rm a",
        "sed -i s/a/b/ a",
        "awk '{print > \"b\"}' a",
        "rg --pre ./x y",
        "eval ls",
        "if true; then rm a; fi",
        "echo 'unclosed",
        "uniq a b",
        "printf -v PATH .; ls",
        "ls &> list",
        "cat >| a",
        "exec 3<>a",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (command_reads_only(str_of(lines[i])))
            fail_msg("is said to write nothing: %s", lines[i]);
}

RUN_TESTS(UNIT(lines_that_only_read_are_known), UNIT(everything_else_may_write))
