/* look_test.c - lines that only look, many that seem to, and where they would look. */
#include "yard.h"

#include "gate/look/look.h"
#include "gate/prepared.h"
#include "gate/shell/script.h"

TEST(lines_that_only_look_are_known)
{
    static const char *const lines[] = {
        "ls -la",
        "cat a.txt | grep -n foo | wc -l",
        "cd src && ls",
        "git status",
        "git log --oneline -5",
        "git log --format='%h %s' --since=yesterday -- src",
        "git diff HEAD~1 -- src/a.c",
        "git diff main...HEAD --stat",
        "git --no-pager -C src show HEAD:a.c",
        "git branch",
        "git branch -avv",
        "git branch --list 'feature/*'",
        "git branch --contains HEAD",
        "git branch --show-current",
        "git tag",
        "git tag -l 'v*'",
        "git tag -n3",
        "git remote",
        "git remote -v",
        "git remote get-url origin",
        "git stash list",
        "git stash show -p",
        "git reflog",
        "git worktree list",
        "git grep -n foo",
        "git --version",
        "find . -name '*.c' -type f",
        "find . -name '*.c' -exec grep -l foo {} +",
        "find src -name '*.c' | xargs wc -l",
        "find . -type f -print0 | xargs -0 -n 10 md5sum",
        "grep -r \"$pattern\" .",
        "echo hello; pwd",
        "echo \"$HOME\" $(date +%s)",
        "ls missing 2>/dev/null || echo none",
        "cat $(ls)",
        "head -n 5 < input",
        "tail -20 log",
        "sort names",
        "sort -rn -k2,2 -t: names | uniq -c",
        "uniq -f 1 names",
        "sed -n '10,20p' a.c",
        "sed -n -e '/^int/p' -e '$=' a.c",
        "sed 's/a/b/g; s|x|y|' a.c",
        "sed -nE '/start/,/end/{=;p}' a.c",
        "awk '{print $1}' a",
        "awk -F: '$3 >= 1000 || /x/ {print $1, NF}' /etc/passwd",
        "date -d yesterday +%F",
        "for f in *.c; do wc -l \"$f\"; done",
        "for ((i=0; i<3; i++)); do cat a$i; done",
        "for i in 1 2 3; do head -n $((i*10)) a; done",
        "head -n $((2+3)) a; echo $((1<<4)) $((n==2)) $((n<=2))",
        "printf '%s %5d\\n' a 1",
        "while read -r f; do cat \"$f\"; done < list",
        "if [ -f \"$x\" ]; then cat a; else echo no; fi",
        "set -euo pipefail; cat a | head",
        "command -v gcc && gcc --version",
        "type ls; which ls",
        "node -v; python3 -V; go version; java -version; make --version",
        "bash --version; gcc-12 --version; python3.12 -V; clang-format-19 --version",
        "git log --diff-merges=first-parent -p",
        "rg foo src -g '*.c' --pretty",
        "fd -e c . src",
        "jq '.a | .b' x.json",
        "du -sh * | sort -h",
        "timeout 5 grep -r foo .",
        "diff -u a b; cmp a b",
        "file a; stat -c %s a; readlink -f a",
        "xxd a | head; od -c a; strings -n 8 a",
        "tree -L 2; env; hostname; uname -a; id; ps aux",
        "cat <<EOF\nhello\nEOF",
        "cat <(ls a)",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!line_only_looks(str_of(lines[i])))
            fail_msg("is said to do more: %s", lines[i]);
}

TEST(everything_else_may_do_more)
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
        "cat <<EOF\n$(rm a)\nEOF",
        "$program a",
        "./ls",
        "/tmp/ls",
        "PATH=. ls",
        "LD_PRELOAD=./x ls",
        "x=1",
        "ls() { rm a; }; ls",
        "alias ls=rm; ls",
        "env ls",
        "env -S 'rm a'",
        "hostname evil",
        "time rm a",
        "eval ls",
        "exec ls",
        "sh -c ls",
        "bash -c ls",
        "python3 -c 1",
        "if true; then rm a; fi",
        "echo 'unclosed",
        "ls &> list",
        "cat >| a",
        "exec 3<>a",
        "export PATH=.; ls",
        "for PATH in .; do ls; done",
        /* what is computed can set PATH */
        "ls $((PATH=2))",
        "((PATH=2)); ls",
        "[[ PATH=2 -eq 2 ]]; ls",
        "[ -v 'a[PATH=2]' ]; ls",
        "ls ${y:PATH=2}",
        "ls \"${a[PATH=2]}\"",
        "ls ${#a[PATH=2]}",
        "for ((PATH=2;;)); do ls; done",
        "for x in PATH=2; do ls $((x)); done",
        "for x in --PATH; do ls $((x)); done",
        "for x in $'PATH\\x3d2'; do ls $((x)); done",
        "for p in + PATH; do ls $(($p$p$q)); done",
        "ls ${x:=PATH=2} $((x))",
        "ls PATH=2; ls $((_))",
        "ls $((PATH+=1))",
        "ls $((PATH<<=1))",
        "ls $((++PATH))",
        "ls $((PATH--))",
        "ls $(( $x = 2 ))",
        "cat <<EOF\n$((PATH=2))\nEOF",
        "printf 'xx%n' PATH; ls",
        "printf \"$f\" PATH; ls",
        "git status $((GIT_CONFIG_COUNT=0))",
        "uniq -- a -b",
        "xxd -- a -b",
        "command rm a",
        "command -p ls",
        "nohup ls",
        "sudo ls",
        "sleep 1000",
        "make",
        "make --version x",
        "yarn --version",
        "cargo --version",
        "mvn --version",
        "./bash --version",
        "bash-12x --version",
        "bash- --version",
        "unknown --version",
        "strace --version",
        "sort -S 1k names",
        "git log --remerge-diff",
        "git show --diff-merges=remerge HEAD",
        "git log --diff-merges r -p",
        "git log --diff-merges=$how",
        "git for-each-ref --format='%(signature)'",
        /* find, fd, xargs */
        "find . -delete",
        "find . -name x -exec rm {} +",
        "find . -name x -exec {} \\;",
        "find . -execdir ls {} +",
        "find . -ok ls {} \\;",
        "find . -okdir ls {} \\;",
        "find . -fprint a",
        "find . -fprint0 a",
        "find . -fprintf a %p",
        "find . -fls a",
        "find . $args",
        "fd x -x rm",
        "fd x -X rm",
        "fd x --exec rm",
        "fd x --exec=rm",
        "fd x --exec-batch rm",
        "ls | xargs rm",
        "ls | xargs -I{} sh -c '{}'",
        "ls | xargs --process-slot-var=PATH ls",
        "ls | xargs rg x",
        "timeout 5 rm a",
        /* searching and sorting */
        "rg --pre ./x y",
        "rg --pre=./x y",
        "rg --hostname-bin=./x y",
        "rg -z y",
        "rg y $options",
        "sort -o a a",
        "sort -uo a a",
        "sort --output=a a",
        "sort --outp a a",
        "sort --compress-program=./x a",
        "sort -T . a",
        "sort $options a",
        "uniq a b",
        "uniq $files",
        "xxd a b",
        "xxd -r a b",
        "tail -f log",
        "tail -F log",
        "tail -nf log",
        "tail --follow log",
        "tail --follow=name log",
        "tree -o a",
        "tree -R",
        "file -C -m a",
        "file --compile",
        "file -z a",
        "diff -l a b",
        "nm --plugin ./x.so a",
        "nm @options a",
        "nm $x",
        "ls | xargs objdump -d",
        "strings @options",
        "readelf @options",
        "echo $(( $(cat f) ))",
        "while read -r x; do [[ $x -gt 1 ]]; done <f",
        "objdump --plugin=./x.so a",
        "printf -v PATH .; ls",
        "date -s tomorrow",
        "date --set=tomorrow",
        "date 01011200",
        "free -s 1",
        "read PATH",
        /* sed and awk */
        "sed -i s/a/b/ a",
        "sed -ni p a",
        "sed --in-place s/a/b/ a",
        "sed -n 'w b' a",
        "sed 's/a/b/w c' a",
        "sed 's/a/b/e' a",
        "sed 's/a/b/ge' a",
        "sed '1e rm a' a",
        "sed e a",
        "sed -n '/x/{w b\n}' a",
        "sed -f script a",
        "sed -e p -e 'w b' a",
        "sed \"$script\" a",
        "sed 's/[/]/x/w b' a",
        "sed 'r b' a",
        "awk '{print > \"b\"}' a",
        "awk '{print >> \"b\"}' a",
        "awk '{system(\"rm a\")}' a",
        "awk '{print | \"sh\"}' a",
        "awk '{\"date\" | getline}' a",
        "awk -f program a",
        "awk -i inplace '{print}' a",
        "awk '@load \"x\"' a",
        "awk -v x=1 \"$program\" a",
        /* git */
        "git",
        "git checkout .",
        "git commit -m x",
        "git diff --output=a",
        "git diff --outp=a",
        "git diff --ext-diff",
        "git diff --textconv",
        "git diff $options",
        "git log --show-signature",
        "git log --format='%G?'",
        "git grep -Oless foo",
        "git grep --open-files-in-pager=less foo",
        "git cat-file --filters HEAD:a",
        "git -c core.pager=./x log",
        "git -c alias.log='!rm a' log",
        "git --exec-path=. log",
        "git --git-dir=x log",
        "git --config-env=a=b log",
        "git -p log",
        "git $subcommand",
        "git lg",
        "git branch new",
        "git branch -D old",
        "git branch -aD old",
        "git branch -m a b",
        "git branch -f main HEAD~1",
        "git branch --edit-description",
        "git branch --set-upstream-to=x",
        "git branch -l new",
        "git branch $name",
        "git tag v2",
        "git tag -d v1",
        "git tag -a v2 -m x",
        "git tag -v v1",
        "git remote add x y",
        "git remote update",
        "git remote -v update",
        "git remote show origin",
        "git stash",
        "git stash pop",
        "git reflog expire --all",
        "git worktree add x",
        "git notes add",
        "git config user.name x",
        "git fetch",
        "git ls-remote",
        "git submodule foreach ls",
        "git bisect run ls",
        "git difftool",
        "git help log",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (line_only_looks(str_of(lines[i])))
            fail_msg("is said to do nothing more: %s", lines[i]);
}

TEST(every_row_says_its_name_once)
{
    AUTO(arena) struct arena a = {0};
    size_t n;
    const struct look_program *all = look_programs(&a, &n);

    assert_true(n > 80);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (strcmp(all[i].name, all[k].name) == 0)
                fail_msg("twice: %s", all[i].name);
}

/* --- where --- */

static bool looks_freely(struct yard *y, const char *line, const char *directory)
{
    AUTO(rulebook) struct rulebook *book = NULL;
    struct json *args = json_new(&y->arena, JSON_OBJECT);
    struct subject s = {
        .tool = &bash, .args = args, .state = y->state, .environment = y->rules.environment};
    struct prepared prepared;

    y->rules.looks_freely = true;
    book = rulebook_new(&y->rules);
    tool_state_set_cwd(y->state, directory);
    json_set_str(&y->arena, args, "command", str_of(line));
    assert_ok(gate_prepare(book, &y->policy, &s, &y->arena, &prepared));
    if (!prepared.only_looks)
        fail_msg("does not only look: %s", line);
    return prepared.looks_freely;
}

TEST(a_line_looks_freely_where_read_would_not_ask)
{
    static const char *const lines[] = {
        "ls",
        "cat src/a.c",
        "cat src/*.c",
        "cat ./src/../src/a.c",
        "cat missing",
        "cat /etc/passwd",
        "ls /usr/bin",
        "cd src && cat ../src/a.c",
        "grep -r /x .",
        "cat $x",
        "cat $(ls)",
        "rg -e /api src",
        "cut -d / -f 1 src/a.c",
        "sed -n '/a/p' src/a.c",
        "echo /home ~/x",
        "git show HEAD:src/a.c",
        "cat < src/a.c",
        "ls 2>/dev/null",
    };
    AUTO(yard) struct yard y;

    yard_init(&y);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!looks_freely(&y, lines[i], tool_state_workspace(y.state)))
            fail_msg("is asked about: %s", lines[i]);
}

TEST(a_line_that_names_a_place_outside_does_not)
{
    static const char *const lines[] = {
        "cat ~/x",
        "cat \"$HOME/x\"",
        "cat $HOME/x",
        "cat ${HOME}/x",
        "ls ~",
        "ls ~root",
        "cat ../out/secret.txt",
        "cat src/../../out/secret.txt",
        "cd .. && ls",
        "cd ..; cat out/secret.txt",
        "cd && ls",
        "ls /",
        "cat ../out/*",
        "cat < ../out/secret.txt",
        "cat to-out/secret.txt",
        "cat to-out/*",
        "find .. -name x",
        "grep -r x ..",
        "grep --file=/home/x y",
        "git -C .. log",
        "cat ../keys/id",
        "test -f ../out/secret.txt",
        "xargs -a ../out/secret.txt cat",
    };
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/to-out", "../out");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (looks_freely(&y, lines[i], tool_state_workspace(y.state)))
            fail_msg("is not asked about: %s", lines[i]);
    assert_false(looks_freely(&y, "ls", yard_path(&y, "out")));
}

TEST(a_program_that_path_finds_elsewhere_is_asked_about)
{
    static const char *const directories[] = {"PATH=.:/usr/bin",      "PATH=:/usr/bin",
                                              "PATH=bin:/usr/bin",    "PATH=@/proj/bin:/usr/bin",
                                              "PATH=@/home:/usr/bin", "PATH=@/out:/usr/bin"};
    AUTO(yard) struct yard y;

    yard_init(&y);
    for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
        static const char *const places[] = {"proj/look-ls", "proj/bin/look-ls", "home/look-ls",
                                             "out/look-ls"};
        const char *environment[] = {y.environment[0], yard_text(&y, directories[i]), NULL};

        y.rules.environment = environment;
        assert_true(looks_freely(&y, "which look-ls", tool_state_workspace(y.state)));
        for (size_t k = 0; k < ARRAY_LEN(places); k++) {
            put(&y.dir, places[k], "");
            assert_int_equal(chmod(temp_path(&y.dir, places[k]), 0755), 0);
        }
        assert_false(looks_freely(&y, "which look-ls", tool_state_workspace(y.state)));
        for (size_t k = 0; k < ARRAY_LEN(places); k++)
            unlink(temp_path(&y.dir, places[k]));
    }
}

RUN_TESTS(UNIT(lines_that_only_look_are_known), UNIT(everything_else_may_do_more),
          UNIT(every_row_says_its_name_once), UNIT(a_line_looks_freely_where_read_would_not_ask),
          UNIT(a_line_that_names_a_place_outside_does_not),
          UNIT(a_program_that_path_finds_elsewhere_is_asked_about))
