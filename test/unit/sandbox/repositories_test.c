/* repositories_test.c - repositories that commands make, and what git would run because of them. */
#include "sandbox/box.h"

#include <unistd.h>

static struct err *put_git_dir(struct box *b, const char *path, const char *config)
{
    TRY(put_file(box_path(b, arena_format(&b->arena, "%s/HEAD", path).p), "ref: refs/heads/x\n"));
    TRY(put_file(box_path(b, arena_format(&b->arena, "%s/objects/x", path).p), ""));
    TRY(put_file(box_path(b, arena_format(&b->arena, "%s/refs/x", path).p), ""));
    return put_file(box_path(b, arena_format(&b->arena, "%s/config", path).p), config);
}

/* A function of the shell that makes a git directory with a configuration of its own. */
#define MAKE_GIT                                                                                   \
    "make_git() { mkdir -p $1/objects $1/refs $1/hooks; echo ref: refs/heads/x > $1/HEAD; "        \
    "printf '[core]\\n\\tfsmonitor = evil\\n' > $1/config; echo evil > "                           \
    "$1/hooks/post-index-change; "                                                                 \
    "}; "

BOX_TEST(a_directory_does_not_become_a_bare_repository)
{
    TRY(put_git_dir(b, "ws/.git", "[core]\n"));
    TRY(put_file(box_path(b, "ws/sub/config"), "mine\n"));
    TRY(box_run(b,
                MAKE_GIT "rm .git/HEAD; make_git .; make_git x; mv x/HEAD x/objects x/refs sub"));
    EXPECT(!fs_exists(box_path(b, "ws/HEAD")) && !fs_exists(box_path(b, "ws/sub/HEAD")));
    EXPECT(fs_exists(box_path(b, "ws/HEAD.keel-untrusted")));
    EXPECT(file_is(box_path(b, "ws/sub/config"), "mine\n"));
    EXPECT(has_text(&b->notes, "ws/HEAD was created by the command"));
    EXPECT(has_text(&b->notes, "ws/sub/HEAD was created by the command"));
    return NULL;
}

BOX_TEST(a_new_repository_anywhere_loses_what_git_would_run)
{
    TRY(box_run(b, MAKE_GIT "make_git a/b/.git; make_git bare; mkdir empty; true"));
    EXPECT(fs_exists(box_path(b, "ws/a/b/.git/HEAD")) && fs_exists(box_path(b, "ws/bare/HEAD")));
    EXPECT(!fs_exists(box_path(b, "ws/a/b/.git/config")));
    EXPECT(!fs_exists(box_path(b, "ws/a/b/.git/hooks/post-index-change")));
    EXPECT(!fs_exists(box_path(b, "ws/bare/config")));
    EXPECT(has_text(&b->notes, "ws/bare/config was created by the command"));
    TRY(box_run(b, MAKE_GIT "make_git a/b/.git; make_git bare; true"));
    EXPECT(!fs_exists(box_path(b, "ws/a/b/.git/config")) ||
           file_is(box_path(b, "ws/a/b/.git/config"), ""));
    EXPECT(!fs_exists(box_path(b, "ws/bare/hooks/post-index-change")));
    return NULL;
}

BOX_TEST(a_git_file_leads_only_where_it_may)
{
    TRY(put_file(box_path(b, "ws/data/config"), "mine\n"));
    TRY(box_run(b, MAKE_GIT "make_git x; mkdir one two three four; echo gitdir: ../x > one/.git; "
                            "echo gitdir: ../data > two/.git; ln -s ../x three/.git; "
                            "echo gitdir: one/../../x > four/.git; true"));
    EXPECT(fs_exists(box_path(b, "ws/one/.git")) && !fs_exists(box_path(b, "ws/x/config")));
    EXPECT(!fs_exists(box_path(b, "ws/two/.git")) && !fs_exists(box_path(b, "ws/three/.git")));
    EXPECT(!fs_exists(box_path(b, "ws/four/.git")));
    EXPECT(file_is(box_path(b, "ws/data/config"), "mine\n"));
    return NULL;
}

BOX_TEST(a_common_directory_is_looked_at_too)
{
    TRY(box_run(b, MAKE_GIT "make_git c; rm c/HEAD; mkdir g h; echo ref: x > g/HEAD; "
                            "echo ../c > g/commondir; echo ref: x > h/HEAD; "
                            "echo /etc > h/commondir; true"));
    EXPECT(!fs_exists(box_path(b, "ws/c/config")) && fs_exists(box_path(b, "ws/g/commondir")));
    EXPECT(!fs_exists(box_path(b, "ws/h/commondir")));
    return NULL;
}

BOX_TEST(what_git_makes_stays_as_it_is)
{
    TRY(box_run(b, "export HOME=$TMPDIR; git init -q r && cd r && git config user.name A && "
                   "git config user.email a@b && git commit -q --allow-empty -m x && "
                   "git worktree add -q ../w && git clone -q . ../c && git init -q --bare ../d && "
                   "cd ../w && git status > /dev/null && echo done"));
    EXPECT_OUTPUT(b->out, has_namespaces(b) ? "done\n" : strbuf_cstr(&b->out));
    EXPECT_OUTPUT(b->notes, "");
    return NULL;
}

BOX_TEST(a_person_s_own_repository_is_not_questioned)
{
    TRY(box_run(b, "true"));
    TRY(put_git_dir(b, "ws/theirs/.git", "[core]\n\tfsmonitor = mine\n"));
    TRY(box_run(b, "echo evil >> theirs/.git/config; true"));
    EXPECT(file_is(box_path(b, "ws/theirs/.git/config"), "[core]\n\tfsmonitor = mine\n"));
    return NULL;
}

BOX_TEST(hooks_that_the_configuration_names_cannot_be_changed)
{
    TRY(put_git_dir(b, "ws/.git",
                    "[core]\n\thooksPath = .husky/_\n[filter \"x\"]\n\tclean = ./f\n"));
    TRY(put_file(box_path(b, "ws/.husky/_/pre-commit"), "mine\n"));
    TRY(put_file(box_path(b, "ws/.husky/pre-commit"), "mine\n"));
    TRY(put_file(box_path(b, "ws/f"), "mine\n"));
    TRY(box_run(b, "for f in .husky/_/pre-commit .husky/pre-commit f; do echo evil > $f; done; "
                   "echo evil > .husky/new; mv .husky h; true"));
    EXPECT(file_is(box_path(b, "ws/.husky/_/pre-commit"), "mine\n"));
    EXPECT(file_is(box_path(b, "ws/.husky/pre-commit"), "mine\n"));
    EXPECT(file_is(box_path(b, "ws/f"), "mine\n"));
    EXPECT(!fs_exists(box_path(b, "ws/.husky/new")));
    return NULL;
}

BOX_TEST(a_protected_file_with_a_second_name_is_put_back)
{
    TRY(put_git_dir(b, "ws/.git", "[core]\n"));
    TRY(put_file(box_path(b, "ws/.git/hooks/pre-push"), "mine\n"));
    EXPECT(link(box_path(b, "ws/.git/config"), box_path(b, "ws/c")) == 0);
    EXPECT(link(box_path(b, "ws/.git/hooks/pre-push"), box_path(b, "ws/h")) == 0);
    TRY(box_run(b, "echo evil > c; echo evil > h"));
    EXPECT(file_is(box_path(b, "ws/.git/config"), "[core]\n"));
    EXPECT(file_is(box_path(b, "ws/.git/hooks/pre-push"), "mine\n"));
    EXPECT(has_text(&b->notes, "ws/.git/config was changed by the command; keel restored it"));
    return NULL;
}

/* --- what a person does meanwhile --- */

/* Starts a command, has the person put another file in place of `name` once it runs, as git and
 * editors do, and lets it go on. */
static struct err *replace_while(struct box *b, const char *script, const char *name,
                                 const char *text)
{
    struct proc_spec spec = box_spec(b, SHELL(script));
    struct proc_status status;
    AUTO(proc) struct proc *p = NULL;

    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(read_ready(p));
    TRY(put_file(box_path(b, name), text));
    TRY(put_file(box_path(b, "ws/go"), ""));
    TRY(proc_wait(p, &status));
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

#define THEN "echo ready; until [ -e go ]; do sleep 0.02; done; "

/* The kernel takes a mount away when somebody outside puts another file in its place; keel-exec
 * covers that again. Without mounts the command writes it, and it is put back. */
#define UNTIL_COVERED "while [ -w .git/config ]; do sleep 0.02; done; "
#define WRITES "printf '[core]\\n\\tfsmonitor = evil\\n' >.git/config; true"

BOX_TEST(a_configuration_that_a_person_replaces_is_no_way_in)
{
    const char *text = "[core]\n[user]\n\tname = A\n";

    TRY(put_git_dir(b, "ws/.git", "[core]\n"));
    TRY(replace_while(b, has_namespaces(b) ? THEN UNTIL_COVERED WRITES : THEN WRITES,
                      "ws/.git/config", text));
    EXPECT(file_is(box_path(b, "ws/.git/config"), has_namespaces(b) ? text : "[core]\n"));
    if (has_namespaces(b))
        EXPECT_OUTPUT(b->notes, "");
    else
        EXPECT(has_text(&b->notes, "ws/.git/config was changed by the command"));
    return NULL;
}

BOX_TEST(a_setting_that_a_person_replaces_is_no_way_in)
{
    TRY(put_file(box_path(b, "ws/.envrc"), "mine\n"));
    TRY(replace_while(b, THEN "echo evil >.envrc", "ws/.envrc", "also mine\n"));
    EXPECT(file_is(box_path(b, "ws/.envrc"), "mine\n"));
    return NULL;
}

BOX_TEST(people_may_change_settings_of_a_repository_meanwhile)
{
    const char *text = "[core]\n\tfsmonitor = mine\n[branch \"x\"]\n\tremote = origin\n";

    TRY(put_git_dir(b, "ws/.git", "[core]\n\tfsmonitor = mine\n"));
    TRY(replace_while(b, THEN, "ws/.git/config", text));
    EXPECT(file_is(box_path(b, "ws/.git/config"), text));
    EXPECT_OUTPUT(b->notes, "");
    return NULL;
}

/* --- what is left of a rebase --- */

BOX_TEST(lines_of_a_rebase_that_a_person_began_stay)
{
    const char *todo = box_path(b, "ws/.git/rebase-merge/git-rebase-todo");

    TRY(put_git_dir(b, "ws/.git", "[core]\n"));
    TRY(put_file(todo, "pick 1 one\nexec make test\n"));
    TRY(box_run(b, "printf 'exec make test\\nexec evil\\npick 2 two\\n' >"
                   ".git/rebase-merge/git-rebase-todo; true"));
    EXPECT(file_is(todo, "exec make test\npick 2 two\n"));
    EXPECT(
        has_text(&b->notes, "git-rebase-todo contained lines of the command that git would run"));
    EXPECT(file_is(box_path(b, "ws/.git/rebase-merge/git-rebase-todo.keel-untrusted"),
                   "exec make test\nexec evil\npick 2 two\n"));
    TRY(box_run(b, "echo break >>.git/rebase-merge/git-rebase-todo"));
    EXPECT(file_is(todo, "exec make test\npick 2 two\nbreak\n"));
    EXPECT_OUTPUT(b->notes, "");
    return NULL;
}

BOX_TEST(files_that_only_have_the_same_names_are_left_alone)
{
    TRY(box_run(b, "mkdir sequencer rebase-merge; echo 'x = 1' >sequencer/todo; "
                   "echo exec >rebase-merge/git-rebase-todo; echo a/b >rebase-merge/strategy"));
    EXPECT(file_is(box_path(b, "ws/sequencer/todo"), "x = 1\n"));
    EXPECT_OUTPUT(b->notes, "");
    return NULL;
}

/* --- what does not exist yet --- */

/* With mounts it cannot be made at all, not even for a moment. */
BOX_TEST(a_directory_of_hooks_that_was_missing_cannot_be_filled)
{
    TRY(put_git_dir(b, "ws/.git", "[core]\n[extensions]\n\tworktreeConfig = true\n"));
    TRY(box_run(b, "mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit; "
                   "echo evil >.git/config.worktree; ls .git/hooks; cat .git/config.worktree"));
    EXPECT(!fs_exists(box_path(b, "ws/.git/hooks/pre-commit")));
    EXPECT(!file_is(box_path(b, "ws/.git/config.worktree"), "evil\n"));
    EXPECT(has_namespaces(b) ? b->notes.n == 0 && !strstr(strbuf_cstr(&b->out), "evil")
                             : has_text(&b->notes, "was created by the command"));
    return NULL;
}

/* --- deep down --- */

BOX_TEST(repositories_far_down_keep_no_command_from_running)
{
    TRY(box_run(b,
                "d=.; for i in $(seq 100); do d=$d/d; case $i in 29|30|31|32|33|34|64|65|100) "
                "mkdir -p $d/.git/objects $d/.git/refs; echo 'ref: refs/heads/m' >$d/.git/HEAD;; "
                "esac; done; echo $d >deepest"));
    TRY(box_run(b, "d=$(cat deepest); mkdir -p $d/.git/hooks; echo evil >$d/.git/hooks/evil; "
                   "echo evil >>$d/../../.git/config; echo ran"));
    EXPECT(has_text(&b->out, "ran\n"));
    TRY(box_run(b, "ls $(cat deepest)/.git/hooks"));
    EXPECT(!strstr(strbuf_cstr(&b->out), "evil\n"));
    return NULL;
}

/* --- asides --- */

BOX_TEST(a_name_that_looks_like_an_aside_is_none)
{
    TRY(put_file(box_path(b, "ws/.claude/agents/mine.md"), "mine\n"));
    TRY(box_run(b, "cd .claude/agents; mkdir d.keel-untrusted; echo evil >d.keel-untrusted/e.md; "
                   "echo evil >a.keel-untrusted.md; mkdir d; echo evil >d/e.md; true"));
    EXPECT(!fs_exists(box_path(b, "ws/.claude/agents/d.keel-untrusted")));
    EXPECT(!fs_exists(box_path(b, "ws/.claude/agents/d")));
    EXPECT(!fs_exists(box_path(b, "ws/.claude/agents/a.keel-untrusted.md")));
    EXPECT(file_is(box_path(b, "ws/.claude/agents/mine.md"), "mine\n"));
    EXPECT(has_namespaces(b) || fs_exists(box_path(b, "ws/d.keel-untrusted/e.md")));
    return NULL;
}

/* --- files with a second name --- */

BOX_TEST(a_file_with_a_second_name_outside_that_was_written_is_told)
{
    TRY(put_file(box_outside(b, "store/pkg.js"), "theirs\n"));
    TRY(put_file(box_outside(b, "store/other.js"), "theirs\n"));
    b->policy.workspace = box_outside(b, "ws");
    TRY(put_file(box_outside(b, "ws/dep/mine"), "mine\n"));
    EXPECT(link(box_outside(b, "store/pkg.js"), box_outside(b, "ws/dep/pkg.js")) == 0);
    EXPECT(link(box_outside(b, "store/other.js"), box_outside(b, "ws/other.js")) == 0);
    TRY(box_run(b, "echo more >>dep/mine; cat dep/pkg.js >/dev/null"));
    EXPECT_OUTPUT(b->notes, "");
    TRY(box_run(b, "echo evil >dep/pkg.js"));
    EXPECT(has_text(&b->notes, "ws/dep/pkg.js changed and has a second name (hard link)"));
    EXPECT(!strstr(strbuf_cstr(&b->notes), "other.js"));
    TRY(box_run(b, "true"));
    EXPECT_OUTPUT(b->notes, "");
    TRY(box_run(b, "echo evil >dep/pkg.js; echo evil >other.js"));
    EXPECT(has_text(&b->notes, "have a second name"));
    return NULL;
}

/* So large that the kernel reports what changes. */
BOX_TEST(in_a_large_workspace_it_is_told_too)
{
    TRY(put_file(box_outside(b, "store/pkg.js"), "theirs\n"));
    b->policy.workspace = box_outside(b, "ws");
    for (int i = 0; i < 600; i++)
        TRY(fs_make_dirs(box_outside(b, arena_format(&b->arena, "ws/d/%d", i).p), 0755));
    EXPECT(link(box_outside(b, "store/pkg.js"), box_outside(b, "ws/d/7/pkg.js")) == 0);
    TRY(box_run(b, "true"));
    sandbox_settle(&b->sandbox);
    TRY(box_run(b, "cat d/7/pkg.js >/dev/null; echo x >d/8/new"));
    EXPECT_OUTPUT(b->notes, "");
    TRY(box_run(b, "echo evil >>d/7/pkg.js"));
    EXPECT(has_text(&b->notes, "ws/d/7/pkg.js changed and has a second name (hard link)"));
    return NULL;
}

BOX_TEST(names_with_newlines_do_not_forge_notes)
{
    TRY(box_run(b, MAKE_GIT "make_git \"$(printf 'a\\nb\\033')\" 2>/dev/null; "
                            "d=$(printf 'a\\nb\\033'); mkdir -p \"$d/.git\"; "
                            "echo evil > \"$d/.git/config\""));
    EXPECT(has_text(&b->notes, "ws/a?b?/.git/config was created by the command"));
    return NULL;
}

RUN_TESTS(BOTH_WAYS(a_directory_does_not_become_a_bare_repository),
          BOTH_WAYS(a_new_repository_anywhere_loses_what_git_would_run),
          BOTH_WAYS(a_git_file_leads_only_where_it_may),
          BOTH_WAYS(a_common_directory_is_looked_at_too), BOTH_WAYS(what_git_makes_stays_as_it_is),
          BOTH_WAYS(a_person_s_own_repository_is_not_questioned),
          BOTH_WAYS(hooks_that_the_configuration_names_cannot_be_changed),
          BOTH_WAYS(a_protected_file_with_a_second_name_is_put_back),
          BOTH_WAYS(a_configuration_that_a_person_replaces_is_no_way_in),
          BOTH_WAYS(a_setting_that_a_person_replaces_is_no_way_in),
          WAY(people_may_change_settings_of_a_repository_meanwhile, with_namespaces),
          BOTH_WAYS(lines_of_a_rebase_that_a_person_began_stay),
          BOTH_WAYS(files_that_only_have_the_same_names_are_left_alone),
          BOTH_WAYS(a_directory_of_hooks_that_was_missing_cannot_be_filled),
          BOTH_WAYS(repositories_far_down_keep_no_command_from_running),
          BOTH_WAYS(a_name_that_looks_like_an_aside_is_none),
          BOTH_WAYS(a_file_with_a_second_name_outside_that_was_written_is_told),
          BOTH_WAYS(in_a_large_workspace_it_is_told_too),
          BOTH_WAYS(names_with_newlines_do_not_forge_notes))
