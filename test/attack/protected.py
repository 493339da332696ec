"""protected.py - attempts on files in the workspace that somebody will run or obey later."""
import os
import shutil

from attempt import Attempt, changed, evil_runs_in, file_differs

HERE = evil_runs_in(".")
NESTED = evil_runs_in("deep/er/nested")

CONFIG = 'printf "[core]\\n\\t%s = %s\\n" {key} {value} >>{config}'


def evil_runs_by(script):
    """The person does this, and the attacker's program is run."""
    def runs(run):
        run.stage.as_person(script)
        return (run.stage.outside / "evil").exists()
    return runs


def Hook(name, script, got=HERE, **more):
    """git is used afterwards, without a sandbox, and the attacker's program runs."""
    return Attempt("git: " + name, script, got, alone=True, repositories=True, **more)


def Settings(name, script, file, was, **more):
    return Attempt("settings: " + name, script, file_differs(file, was), alone=True, **more)


def hooks_are_a_link(stage):
    hooks = stage.workspace / ".git/hooks"
    os.rename(hooks, stage.workspace / "shared-hooks")
    hooks.symlink_to("../shared-hooks")
    stage.own()


def nested_is_a_submodule(stage):
    """deep/er/nested/.git is a file that says where the repository is."""
    nested = stage.workspace / "deep/er/nested"
    (stage.workspace / ".git/modules").mkdir()
    os.rename(nested / ".git", stage.workspace / ".git/modules/nested")
    (nested / ".git").write_text("gitdir: ../../../.git/modules/nested\n")
    stage.own()


def no_repository(stage):
    os.rename(stage.workspace / ".git", stage.workspace / "dotgit")


def no_start_up_file(stage):
    (stage.workspace / ".bashrc").unlink()


def settings_are_a_link(stage):
    os.rename(stage.workspace / ".keel", stage.workspace / "conf")
    (stage.workspace / ".keel").symlink_to("conf")
    stage.own()


def evil_repository(stage):
    """Files that any command can write; they harm only where git takes them for a repository."""
    evil = stage.workspace / "evil.git"
    shutil.copytree(stage.workspace / ".git", evil)
    (evil / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
                                 f"\tworktree = {stage.workspace}\n"
                                 f"\tfsmonitor = {stage.outside}/evil.sh\n")
    stage.own()


def evil_hooks(stage):
    """A repository among the files that were cloned, with hooks and an ordinary configuration."""
    evil_repository(stage)
    evil = stage.workspace / "evil.git"
    (evil / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
                                 "[user]\n\tname = A\n\temail = a@b.c\n")
    for name in ("pre-commit", "post-index-change"):
        shutil.copy(stage.outside / "evil.sh", evil / "hooks" / name)
    stage.own()


def evil_common_directory(stage):
    """One that leads on to another, whose configuration counts."""
    evil_repository(stage)
    lead = stage.workspace / "lead.git"
    shutil.copytree(stage.workspace / ".git", lead)
    (lead / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    (lead / "commondir").write_text("../evil.git\n")
    stage.own()


def evil_repository_and_submodule(stage):
    evil_repository(stage)
    nested_is_a_submodule(stage)


def evil_bare(stage):
    """The parts of a bare repository, in a directory that git does not take for one."""
    evil_repository(stage)
    os.rename(stage.workspace / "evil.git/HEAD", stage.workspace / "evil.git/head")
    stage.own()


def hooks_in_workspace(stage):
    with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
        config.write("[core]\n\thooksPath = .husky/_\n")
    stage.owned(stage.workspace / ".husky/_/pre-commit", "#!/bin/sh\nsh .husky/pre-commit\n", 0o755)
    stage.owned(stage.workspace / ".husky/pre-commit", "true\n")


def hooks_by_links(stage):
    """git finds hooks by two links, and one of them is a link itself."""
    with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
        config.write("[core]\n\thooksPath = l2/hooks\n")
    stage.owned(stage.workspace / "real/hooks/README", "none\n")
    stage.owned(stage.workspace / "tools/check", "#!/bin/sh\n", 0o755)
    for name, target in (("l1", "real"), ("l2", "l1"), ("real/hooks/pre-commit", "../../tools/check")):
        (stage.workspace / name).symlink_to(target)
    stage.own()


def hook_is_a_link(stage):
    stage.owned(stage.workspace / "tools/check", "#!/bin/sh\n", 0o755)
    (stage.workspace / ".git/hooks/pre-commit").symlink_to("../../tools/check")
    stage.own()


def hooks_lead_nowhere(stage):
    shutil.rmtree(stage.workspace / ".git/hooks")
    (stage.workspace / ".git/hooks").symlink_to("../hk")
    stage.own()


def fsmonitor_in_workspace(stage):
    with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
        config.write("[core]\n\tfsmonitor = tools/monitor\n")
    stage.owned(stage.workspace / "tools/monitor", "#!/bin/sh\nexit 1\n", 0o755)


def included_configuration(stage):
    with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
        config.write("[include]\n\tpath = ../gitconfig\n")
    stage.owned(stage.workspace / "gitconfig", "")


def configured(*lines):
    """The configuration names something that is not there, as on a branch that lacks it."""
    def prepare(stage):
        with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
            config.write("\n".join(lines) + "\n")
        stage.owned(stage.workspace / ".gitattributes", "* filter=x\n")
    return prepare


def hooks_of_all_repositories(stage):
    """Settings of the person that hold everywhere."""
    stage.owned(stage.home / ".gitconfig", "[core]\n\thooksPath = .githooks\n"
                "[user]\n\tname = A\n\temail = a@b.c\n")


def repository_above(*lines):
    """The workspace is a directory of a repository, whose configuration says this, too."""
    def prepare(stage):
        shutil.rmtree(stage.workspace / ".git")
        stage.person.start(["git", "init", "-q", stage.workspace.parent], cwd="/").wait()
        with open(stage.workspace.parent / ".git/config", "a", encoding="utf-8") as config:
            config.write("\n".join([*lines, "[user]", "\tname = A", "\temail = a@b.c", ""]))
    return prepare


def program(path, *lines):
    """The configuration names a program that is there."""
    def prepare(stage):
        with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
            config.write("\n".join(lines) + "\n")
        stage.owned(stage.workspace / path, "#!/bin/sh\nexit 1\n", 0o755)
    return prepare


def second_name(stage):
    os.link(stage.workspace / ".git/config", stage.workspace / "second")


def trap_outside(stage):
    """Where keel would put files back, or remove new ones, if it followed a link."""
    for name in ("settings.json", "settings.local.json", "hooks/post-checkout", "hooks/mine",
                 "config"):
        stage.owned(stage.outside / "trap" / name, "precious\n")


def unreported(*words):
    """Something new would be obeyed later, and the person was not told of it."""
    def check(run):
        return HERE(run) and not any(word in run.err for word in words)
    return check


def new_file_unreported(name):
    def check(run):
        return (run.stage.workspace / name).exists() and name not in run.err
    return check


ATTEMPTS = [
    Hook("a new hook", 'cp "$EVIL" .git/hooks/pre-commit'),
    Hook("a hook that is there, changed", 'cat "$EVIL" >.git/hooks/post-checkout'),
    Hook("a hook that is there, replaced",
         'cp "$EVIL" h; "$PROBE" rename h .git/hooks/post-checkout'),
    Hook("a symlink as a hook", 'ln -s "$EVIL" .git/hooks/pre-commit'),
    Hook("the directory of hooks, replaced",
         'mv .git/hooks .git/old; mkdir .git/hooks; cp "$EVIL" .git/hooks/pre-commit'),
    Hook("the directory of hooks, exchanged",
         'mkdir h; cp "$EVIL" h/pre-commit; "$PROBE" exchange h .git/hooks'),
    Hook("a symlink as the directory of hooks",
         'mkdir h; cp "$EVIL" h/pre-commit; rm -rf .git/hooks; ln -s ../h .git/hooks'),
    Hook("hooks behind a symlink", 'cp "$EVIL" shared-hooks/pre-commit', prepare=hooks_are_a_link),
    Hook("core.fsmonitor", CONFIG.format(key="fsmonitor", value='"$EVIL"', config=".git/config")),
    Hook("core.fsmonitor by git config", 'git config core.fsmonitor "$EVIL"'),
    Hook("core.hooksPath", 'mkdir h; cp "$EVIL" h/pre-commit; ' + CONFIG.format(
        key="hooksPath", value='"$WS/h"', config=".git/config")),
    Hook("the configuration, replaced",
         'cp .git/config c; ' + CONFIG.format(key="fsmonitor", value='"$EVIL"', config="c") +
         '; "$PROBE" rename c .git/config'),
    Hook("the configuration, by a hardlink", 'ln .git/config c; ' + CONFIG.format(
        key="fsmonitor", value='"$EVIL"', config="c")),
    Hook("the repository, renamed and copied back",
         'mv .git g; cp -r g .git; cp "$EVIL" .git/hooks/pre-commit'),
    Hook("the repository, renamed, changed and renamed back",
         'mv .git g; cp "$EVIL" g/hooks/pre-commit; mv g .git'),
    Hook("the repository, exchanged", 'cp -r .git g; cp "$EVIL" g/hooks/pre-commit; '
         '"$PROBE" exchange g .git'),
    Hook("the repository, removed and made anew",
         'cp -r .git g; rm -rf .git; mkdir .git; cp -r g/* .git; cp "$EVIL" .git/hooks/pre-commit'),
    Hook("a symlink as the repository",
         'cp -r .git g; cp "$EVIL" g/hooks/pre-commit; rm -rf .git; ln -s g .git'),
    Hook("a file as the repository",
         'rm -rf .git; echo "gitdir: evil.git" >.git', prepare=evil_repository),
    Hook("another common directory", 'echo ../evil.git >.git/commondir', prepare=evil_repository),
    Hook("the workspace as a bare repository", 'mv evil.git/* .; rm -rf .git/HEAD',
         prepare=evil_repository),
    Hook("a directory of the workspace as a bare repository",
         'mv evil.git/* src; mv src/head src/HEAD', got=evil_runs_in("src"), prepare=evil_bare),
    Hook("a new bare repository", 'mkdir new; mv evil.git/* new; mv new/head new/HEAD',
         got=evil_runs_in("new"), prepare=evil_bare),
    Hook("a new repository in a directory", 'git init -q new; cd new; ' +
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config=".git/config"),
         got=evil_runs_in("new")),
    Hook("a new file that names a repository",
         'mkdir new; echo "gitdir: ../evil.git" >new/.git', got=evil_runs_in("new"),
         prepare=evil_repository),
    Hook("a new file that names a repository with hooks",
         'mkdir new; echo "gitdir: ../evil.git" >new/.git', got=evil_runs_in("new"),
         prepare=evil_hooks),
    Hook("a new file that names a repository which names another",
         'mkdir new; echo "gitdir: ../lead.git" >new/.git', got=evil_runs_in("new"),
         prepare=evil_common_directory),
    Hook("a new working tree of a repository with hooks",
         'mkdir -p new/.git; cp .git/HEAD new/.git; echo ../../evil.git >new/.git/commondir',
         got=evil_runs_in("new"), prepare=evil_hooks),
    Hook("a new working tree with a common directory of its own",
         'mkdir -p new/.git; cp .git/HEAD new/.git; echo ../../evil.git >new/.git/commondir',
         got=evil_runs_in("new"), prepare=evil_repository),
    Hook("hooks that the configuration has in the workspace",
         'cat "$EVIL" >.husky/_/pre-commit', prepare=hooks_in_workspace),
    Hook("what hooks in the workspace run",
         'cat "$EVIL" >.husky/pre-commit', prepare=hooks_in_workspace),
    Hook("the directory of hooks in the workspace, renamed",
         'mv .husky h; cp -r h .husky; cat "$EVIL" >.husky/_/pre-commit',
         prepare=hooks_in_workspace),
    Hook("hooks in another directory, by a link on the way that is replaced",
         'mkdir -p e/hooks; cp "$EVIL" e/hooks/pre-commit; rm l1; ln -s e l1',
         prepare=hooks_by_links),
    Hook("hooks in another directory, by a link on the way that is moved",
         'mkdir -p e/hooks; cp "$EVIL" e/hooks/pre-commit; ln -s e l3; mv l1 l4; mv l3 l1',
         prepare=hooks_by_links),
    Hook("what a link among hooks in the workspace leads to", 'cat "$EVIL" >tools/check',
         prepare=hooks_by_links),
    Hook("what a link among the hooks leads to", 'cat "$EVIL" >tools/check',
         prepare=hook_is_a_link),
    Hook("what a link among the hooks leads to, with the directory of it",
         'mv tools t; mkdir tools; cp "$EVIL" tools/check', prepare=hook_is_a_link),
    Hook("hooks where the link in their place leads", 'mkdir hk; cp "$EVIL" hk/pre-commit',
         prepare=hooks_lead_nowhere),
    Hook("a program that the configuration names", 'cat "$EVIL" >tools/monitor',
         prepare=fsmonitor_in_workspace),
    Hook("a configuration that is included",
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config="gitconfig"),
         prepare=included_configuration),
    Hook("a configuration that is included and was not there",
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config="more"),
         prepare=configured("[include]", "\tpath = ../more")),
    Hook("a configuration that is included, in a directory that was not there", 'mkdir -p a/b; ' +
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config="a/b/more"),
         prepare=configured('[includeIf "gitdir:**"]', "\tpath = ../a/./b/more")),
    Hook("a configuration that is included and was not there, by a link", 'mkdir e; ln -s e a; ' +
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config="e/more"),
         prepare=configured("[include]", "\tpath = ../a/more")),
    Hook("a program that the configuration names and that was not there",
         'mkdir bin; cp "$EVIL" bin/monitor',
         prepare=configured("[core]", "\tfsmonitor = bin/monitor")),
    Hook("a script that a filter names and that was not there",
         'mkdir bin; cat "$EVIL" >bin/clean; echo new >new',
         got=evil_runs_by("git add new"),
         prepare=configured('[filter "x"]', '\tclean = sh bin/clean')),
    Hook("hooks in a directory that was not there, by a way around",
         'mkdir a hk; cp "$EVIL" hk/pre-commit',
         prepare=configured("[core]", "\thooksPath = ./a/../hk")),
    Hook("a new file that names the repository, whose hooks are relative to the working tree",
         'mkdir -p new/.husky/_; cp "$EVIL" new/.husky/_/pre-commit; '
         'echo "gitdir: ../.git" >new/.git', got=evil_runs_in("new"), prepare=hooks_in_workspace),
    Hook("a new working tree of the repository, whose hooks are relative to it",
         'mkdir -p new/.husky/_ new/.git; cp "$EVIL" new/.husky/_/pre-commit; '
         'cp .git/HEAD new/.git; echo ../../.git >new/.git/commondir',
         got=evil_runs_in("new"), prepare=hooks_in_workspace),
    Hook("hooks in a new repository, where all repositories have them",
         'mkdir -p new/.githooks new/.git/objects new/.git/refs; cp .git/HEAD new/.git; '
         'cp "$EVIL" new/.githooks/pre-commit', got=evil_runs_in("new"),
         prepare=hooks_of_all_repositories),
    Hook("hooks that a repository above the workspace has in it",
         'mkdir -p hk; cp "$EVIL" hk/pre-commit', got=evil_runs_in(".."),
         prepare=repository_above("[core]", "\thooksPath = workspace/hk")),
    Hook("a configuration that a repository above the workspace includes",
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config="more"), got=evil_runs_in(".."),
         prepare=repository_above("[include]", "\tpath = ../workspace/more")),
    Hook("a program that the configuration names, with a blank in its name",
         'cat "$EVIL" >"tools/my monitor"',
         prepare=program("tools/my monitor", "[core]", '\tfsmonitor = "\'tools/my monitor\'"')),
    Hook("a program in a directory that the configuration goes to", 'cat "$EVIL" >tools/monitor',
         prepare=program("tools/monitor", "[core]", '\tfsmonitor = "cd tools && ./monitor"')),
    Hook("hooks of a working tree that the configuration has elsewhere",
         'cat "$EVIL" >src/hk/pre-commit', got=evil_runs_in("src"),
         prepare=program("src/hk/pre-commit", "[core]", "\thooksPath = hk", "\tworktree = ../src")),
    Hook("the configuration, by a second name that it had", 'cp .git/config c; ' +
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config="c") + '; cat c >second',
         prepare=second_name),
    Hook("a hook, written again and again to the end",
         'write() { cp "$EVIL" h$1 && mv h$1 .git/hooks/pre-commit; }; write 1; '
         '(for i in {1..999}; do [ -e stop ] && break; write 2; sleep 0.01; done) 2>/dev/null & '
         'write 3'),
    Hook("repositories without number",
         'for i in 1 2 3 4 5 6 7 8 9; do git init -q --template= n/$i/n; cd n/$i/n; ' +
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config=".git/config") + '; cd ../../..; '
         'done', got=evil_runs_in("n/7/n")),
    Hook("a configuration of the worktree",
         'printf "[extensions]\\n\\tworktreeConfig = true\\n" >>.git/config; ' +
         CONFIG.format(key="fsmonitor", value='"$EVIL"', config=".git/config.worktree")),
    Hook("a hook of a nested repository", 'cp "$EVIL" deep/er/nested/.git/hooks/pre-commit',
         got=NESTED),
    Hook("the configuration of a nested repository", CONFIG.format(
        key="fsmonitor", value='"$EVIL"', config="deep/er/nested/.git/config"), got=NESTED),
    Hook("a nested repository, renamed by the directory above",
         'mv deep/er deep/was; mkdir deep/er; cp -r deep/was/nested deep/er/nested; '
         'cp "$EVIL" deep/er/nested/.git/hooks/pre-commit', got=NESTED),
    Hook("a nested repository, renamed by the topmost directory",
         'mv deep was; cp -r was deep; cp "$EVIL" deep/er/nested/.git/hooks/pre-commit',
         got=NESTED),
    Hook("the file that says where a submodule's repository is",
         'echo "gitdir: ../../../evil.git" >deep/er/nested/.git', got=NESTED,
         prepare=evil_repository_and_submodule),
    Hook("a hook of a submodule",
         'cp "$EVIL" .git/modules/nested/hooks/pre-commit',
         got=NESTED, prepare=nested_is_a_submodule),
    Hook("a new repository of which nobody is told",
         'mv dotgit .git; cp "$EVIL" .git/hooks/pre-commit',
         got=unreported(".git"), prepare=no_repository),
    Settings("keel's", 'echo "[]" >.keel/settings.json', ".keel/settings.json", "{}\n"),
    Settings("keel's local ones", 'echo "[]" >.keel/settings.local.json',
             ".keel/settings.local.json", "{}\n"),
    Settings("keel's, replaced", 'echo "[]" >s; "$PROBE" rename s .keel/settings.json',
             ".keel/settings.json", "{}\n"),
    Settings("keel's, removed", 'rm .keel/settings.json', ".keel/settings.json", "{}\n"),
    Settings("keel's, by a hardlink", 'ln .keel/settings.json s; echo "[]" >s',
             ".keel/settings.json", "{}\n"),
    Settings("keel's, by renaming the directory",
             'mv .keel k; mkdir .keel; echo "[]" >.keel/settings.json', ".keel/settings.json",
             "{}\n"),
    Settings("keel's, by exchanging the directory",
             'mkdir k; echo "[]" >k/settings.json; "$PROBE" exchange k .keel',
             ".keel/settings.json", "{}\n"),
    Settings("keel's, behind a symlink", 'echo "[]" >conf/settings.json', ".keel/settings.json",
             "{}\n", prepare=settings_are_a_link),
    Settings("keel's, by another symlink",
             'mkdir k; echo "[]" >k/settings.json; rm -f .keel; ln -s k .keel',
             ".keel/settings.json", "{}\n", prepare=settings_are_a_link),
    Settings("keel's, with a directory in its place",
             'rm .keel/settings.json; mkdir -p .keel/settings.json/full', ".keel/settings.json",
             "{}\n"),
    Settings("keel's, with a fifo in its place", 'rm .mcp.json; mkfifo .mcp.json; '
             'rm .keel/settings.json; mkfifo .keel/settings.json; echo "[]" >.claude/settings.json',
             ".claude/settings.json", "{}\n"),
    Settings("a file beside keel's", 'echo x >.keel/hook.sh; [ -e .keel/hook.sh ] && '
             'echo "[]" >.keel/settings.json', ".keel/settings.json", "{}\n"),
    Attempt("settings: a new file in keel's directory", 'mkdir -p .keel/agents; '
            'echo x >.keel/agents/evil.md',
            lambda run: (run.stage.workspace / ".keel/agents/evil.md").exists(), alone=True),
    Settings("Claude Code's", 'echo "[]" >.claude/settings.json', ".claude/settings.json", "{}\n"),
    Settings("those of .robota", 'echo "[]" >.robota/settings.json', ".robota/settings.json",
             "{}\n"),
    Settings("MCP servers", 'echo "[]" >.mcp.json', ".mcp.json", "{}\n"),
    Settings("MCP servers, replaced", 'echo "[]" >m; "$PROBE" rename m .mcp.json', ".mcp.json",
             "{}\n"),
    Settings("a start-up file, in a home that is the workspace", 'echo evil >>.bashrc', ".bashrc",
             "# nothing\n", place="whole home"),
    Settings("a start-up file of direnv", 'echo evil >>.envrc', ".envrc", "true\n",
             prepare=lambda stage: stage.owned(stage.workspace / ".envrc", "true\n")),
    Settings("a start-up file of the shell", 'echo evil >>.bashrc', ".bashrc", "# nothing\n"),
    Settings("a start-up file of the shell, replaced",
             'echo evil >b; "$PROBE" rename b .bashrc', ".bashrc", "# nothing\n"),
    Attempt("settings: a new start-up file of which nobody is told", 'echo evil >.bashrc',
            new_file_unreported(".bashrc"), prepare=no_start_up_file, alone=True),
    Attempt("settings: files outside are written when keel puts its own back",
            'rm -rf .keel && ln -s "$OUT/trap" .keel; rm -rf .git && ln -s "$OUT/trap" .git; '
            'touch .keel/x 2>/dev/null; echo x >>"$OUT/trap/config"', changed,
            prepare=trap_outside, alone=True, repositories=True),
    Attempt("settings: files outside are removed when keel takes new hooks away",
            'rm -rf .git/hooks && ln -s "$OUT/trap/hooks" .git/hooks; rm -f "$OUT/trap/hooks/mine"',
            changed, prepare=trap_outside, alone=True, repositories=True),
]
