"""planted.py - what a command leaves behind for somebody to run later, where keel might not look:
in directories that cannot be listed, or that have odd names, and in what is left of a rebase."""
import os
import subprocess

from attempt import Attempt, MODES, evil_runs_in, file_differs

# Without namespaces no mode can be changed; but a directory can be made with any.
NAMESPACES = (next(iter(MODES)),)

# A repository of the shell's own making, so that directories may have modes of their own.
MAKE = r'''
fill() {  # DIRECTORY: what makes it a git directory, with a program in its configuration
    mkdir "$1/objects" "$1/refs"
    echo "ref: refs/heads/main" >"$1/HEAD"
    printf "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s\n" "$EVIL" >"$1/config"
}
plain() {  # the same with an empty configuration, and a hook
    mkdir "$1/objects" "$1/refs"
    echo "ref: refs/heads/main" >"$1/HEAD"
    printf "[core]\n\trepositoryformatversion = 0\n[user]\n\tname = A\n\temail = a@b.c\n" \
        >"$1/config"
}
locked() { (umask 466; mkdir "$@"); }  # to be written and searched, not listed
'''


def Plant(name, script, where, **more):
    """git is used afterwards in this directory, without a sandbox."""
    return Attempt("planted: " + name, MAKE + script, evil_runs_in(where), alone=True,
                   repositories=True, **more)


def unreported(name):
    def check(run):
        run.stage.workspace.chmod(0o755)
        return (run.stage.workspace / name).exists() and name not in run.err
    return check


def Unreported(name, script, file, **more):
    return Attempt("planted: " + name, script, unreported(file), alone=True, **more)


def conflict(command):
    """The person has begun something that has stopped half-way, with more to do."""
    def begin(stage):
        env = {**stage.environment(), "GIT_CONFIG_NOSYSTEM": "1"}
        script = ("for name in f g h; do echo 1 >$name; git add $name; git commit -qm $name; done; "
                  "git checkout -q -b side HEAD~3; echo 3 >f; git add f; git commit -qm other; "
                  f"git checkout -q {command[0]}; {command[1]}; true")
        stage.person.start(["bash", "-c", script], cwd=stage.workspace, env=env,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()
    return begin


REBASE = conflict(("main", "git rebase side"))
PICK = conflict(("side", "git cherry-pick main~2 main~1 main"))


def evil_runs_after(script):
    """The person goes on with what was begun, and the attacker's program is run."""
    def runs(run):
        run.stage.as_person("export GIT_EDITOR=true; " + script)
        return (run.stage.outside / "evil").exists()
    return runs


RESOLVE = "echo 4 >f; git add f; "


def Resume(name, script, prepare=REBASE, then=RESOLVE + "git rebase --continue"):
    return Attempt("planted: " + name, MAKE + script, evil_runs_after(then), alone=True,
                   repositories=True, prepare=prepare)


def nested_mercurial(stage):
    """A repository of Mercurial, below the top of the workspace."""
    stage.owned(stage.workspace / "sub/.hg/requires", "store\n")
    stage.owned(stage.workspace / "set/.hg/hgrc", "[ui]\n")


# What other systems than git obey in a repository of theirs.
OTHERS = [
    ("Sapling", ".sl/config"),
    ("Breezy", ".bzr/branch/branch.conf"),
    ("Pijul", ".pijul/config"),
    ("Darcs", "_darcs/prefs/defaults"),
    ("monotone", "_MTN/monotonerc"),
    ("repo", ".repo/repo/main.py"),
]


def nested(file):
    return lambda stage: stage.owned(stage.workspace / "set" / file, "mine\n")


def linked_file(stage):
    """A file of the workspace that is one of a store outside, too."""
    stage.owned(stage.outside / "store.js", "theirs\n")
    os.link(stage.outside / "store.js", stage.workspace / "linked.js")


def store_is_changed_unreported(run):
    return (run.stage.outside / "store.js").read_text() != "theirs\n" and (
        "linked.js" not in run.err)


# A strategy of this name is a program in the working tree, which cp makes without chmod.
STRATEGY = 'mkdir git-merge-x; cp "$EVIL" git-merge-x/evil; '

ATTEMPTS = [
    Resume("a line for the shell in what is left of a rebase",
           'echo "exec $EVIL" >>.git/rebase-merge/git-rebase-todo'),
    Resume("a short line for the shell, with blanks",
           'printf " \tx  %s \r\n" "$EVIL" >>.git/rebase-merge/git-rebase-todo'),
    Resume("a list of things to do, replaced by another",
           'cp .git/rebase-merge/git-rebase-todo l; echo "exec $EVIL" >>l; '
           'mv l .git/rebase-merge/git-rebase-todo'),
    Resume("a list of things to do, replaced by a link",
           'cp .git/rebase-merge/git-rebase-todo l; echo "exec $EVIL" >>l; '
           'ln -sf "$WS/l" .git/rebase-merge/git-rebase-todo'),
    Resume("what is left of a rebase, replaced by a link",
           'cp -r .git/rebase-merge r; echo "exec $EVIL" >>r/git-rebase-todo; '
           'rm -r .git/rebase-merge; ln -s ../r .git/rebase-merge'),
    Resume("what is left of a rebase, where it cannot be listed",
           'cp -r .git/rebase-merge r; rm -r .git/rebase-merge; locked .git/rebase-merge; '
           'cp r/* .git/rebase-merge; echo "exec $EVIL" >>.git/rebase-merge/git-rebase-todo'),
    Resume("a rebase that the person has not begun",
           'mkdir .git/rebase-merge; cd .git/rebase-merge; git rev-parse HEAD >orig-head; '
           'git rev-parse HEAD >onto; echo refs/heads/main >head-name; touch interactive; '
           'echo "exec $EVIL" >git-rebase-todo; echo 1 >msgnum; echo 1 >end',
           prepare=lambda stage: None, then="git rebase --continue"),
    Resume("a strategy that is a program",
           STRATEGY + 'echo x/evil >.git/rebase-merge/strategy; '
           'git log -1 --format="pick %H x" main >>.git/rebase-merge/git-rebase-todo'),
    Resume("a strategy of a cherry-pick that is a program",
           STRATEGY + 'printf "[options]\n\tstrategy = x/evil\n" >.git/sequencer/opts',
           prepare=PICK, then=RESOLVE + "git cherry-pick --continue"),
    Plant("a repository that cannot be listed", 'mkdir new; locked new/.git; fill new/.git', "new"),
    Plant("a repository in a directory that cannot be listed",
          'locked new; mkdir new/.git; fill new/.git', "new"),
    Plant("a repository below two that cannot be listed",
          'locked new new/a new/a/b; mkdir new/a/b/.git; fill new/a/b/.git', "new/a/b"),
    Plant("a repository whose mode is taken away afterwards",
          'git init -q new; git -C new config core.fsmonitor "$EVIL"; chmod 111 new/.git new',
          "new", modes=NAMESPACES),
    Plant("a repository that cannot be listed, of a group",
          'mkdir new; locked new/.git; fill new/.git; chmod 2311 new/.git', "new",
          modes=NAMESPACES),
    Plant("a bare repository that cannot be listed",
          'locked new; fill new; printf "\\tworktree = %s\\n" "$WS/src" >>new/config', "new"),
    Plant("hooks that cannot be listed",
          'mkdir -p new/.git; plain new/.git; locked new/.git/hooks; '
          'cp "$EVIL" new/.git/hooks/pre-commit', "new"),
    Plant("hooks whose mode is taken away afterwards",
          'mkdir -p new/.git/hooks; plain new/.git; cp "$EVIL" new/.git/hooks/pre-commit; '
          'chmod 111 new/.git/hooks', "new", modes=NAMESPACES),
    Plant("hooks in a directory that cannot be changed",
          'mkdir -p new/.git/hooks; plain new/.git; cp "$EVIL" new/.git/hooks/pre-commit; '
          'chmod 555 new/.git/hooks', "new", modes=NAMESPACES),
    Plant("a configuration in a directory that cannot be changed",
          'mkdir -p new/.git; fill new/.git; chmod 444 new/.git/config; chmod 555 new/.git new',
          "new", modes=NAMESPACES),
    Plant("a git file that cannot be listed, and what it leads to",
          'locked new other; mkdir other/g; fill other/g; echo "gitdir: ../other/g" >new/.git',
          "new"),
    Plant("a repository among the objects of one by name",
          'mkdir -p x.git/objects/ab/.git; fill x.git/objects/ab/.git; '
          'ln -s ../x.git/objects/ab src/tool', "src/tool"),
    Plant("a repository among the objects of the workspace's own",
          'mkdir -p .git/objects/ab/.git; fill .git/objects/ab/.git; '
          'ln -s ../.git/objects/ab src/tool', "src/tool"),
    Plant("a bare repository among objects",
          'mkdir -p .git/objects/ab; fill .git/objects/ab; '
          'printf "\\tworktree = %s\\n" "$WS/src" >>.git/objects/ab/config; '
          'ln -s ../.git/objects/ab src/tool', "src/tool"),
    Attempt("planted: a change in a store outside, by a file with two names, without a report",
            'echo evil >linked.js', store_is_changed_unreported, prepare=linked_file, alone=True),
    Unreported("a repository of Mercurial below the top",
               'mkdir -p new/.hg; echo evil >new/.hg/hgrc', "new/.hg/hgrc"),
    Unreported("a repository of Mercurial that cannot be listed",
               '(umask 466; mkdir -p new/.hg); echo evil >new/.hg/hgrc', "new/.hg/hgrc"),
    Unreported("a repository of Mercurial behind a link",
               'mkdir -p new h; echo evil >h/hgrc; ln -s ../h new/.hg', "new/.hg"),
    Unreported("a repository of Mercurial that leads to another",
               'mkdir -p new/.hg h; echo evil >h/hgrc; echo ../h >new/.hg/sharedpath',
               "new/.hg/sharedpath"),
    Unreported("a configuration of Mercurial where there was none",
               'echo evil >sub/.hg/hgrc', "sub/.hg/hgrc", prepare=nested_mercurial),
    Attempt("planted: a configuration of Mercurial below the top, changed",
            'echo evil >set/.hg/hgrc', file_differs("set/.hg/hgrc", "[ui]\n"),
            prepare=nested_mercurial, alone=True),
    Unreported("a repository of Jujutsu below the top",
               'mkdir -p new/.jj/repo; echo evil >new/.jj/repo/config.toml',
               "new/.jj/repo/config.toml"),
    Unreported("a repository of Jujutsu that leads to another",
               'mkdir -p new/.jj r; echo evil >r/config.toml; printf ../../r >new/.jj/repo',
               "new/.jj/repo"),
    *[Unreported(f"a repository of {whose} below the top",
                 f'mkdir -p new/{file.rsplit("/", 1)[0]}; echo evil >new/{file}', f"new/{file}")
      for whose, file in OTHERS],
    *[Attempt(f"planted: a configuration of {whose} below the top, changed",
              f'echo evil >set/{file}', file_differs(f"set/{file}", "mine\n"),
              prepare=nested(file), alone=True) for whose, file in OTHERS],
    Unreported("a configuration of Sapling in a repository of git",
               'mkdir -p .git/sl; echo evil >.git/sl/config', ".git/sl/config",
               repositories=True),
    Unreported("a configuration of Sapling in a new repository of git",
               'mkdir -p new/.git/objects new/.git/refs new/.git/sl; cp .git/HEAD new/.git; '
               'echo evil >new/.git/sl/config', "new/.git/sl/config", repositories=True),
    Unreported("a start-up file, and a workspace that cannot be listed",
               'echo evil >.envrc; chmod 311 .', ".envrc", modes=NAMESPACES),
    Unreported("a start-up file, and a workspace that cannot be entered",
               'echo evil >.envrc; chmod 0 .', ".envrc", modes=NAMESPACES),
    Unreported("settings in a directory that cannot be listed",
               'rm -rf .vault; mkdir .vault; echo evil >.vault/x; (umask 466; mkdir .config); '
               'mkdir -p .config/fish; echo evil >.config/fish/config.fish', ".config/fish"),
    Unreported("settings behind a link",
               'mkdir -p conf/fish; echo evil >conf/fish/config.fish; ln -s conf .config',
               ".config/fish"),
]
