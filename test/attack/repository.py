"""repository.py - attempts to make in a repository, if only for a moment, what git would obey.

With namespaces the kernel refuses them: somebody outside may use git while a command runs. Without,
what is made is found when the command has ended (protected.py, planted.py)."""
import shutil
import subprocess

from attempt import Attempt, MODES, reached

NAMESPACES = (next(iter(MODES)),)
NESTED = "deep/er/nested/.git"


def Make(name, script, **more):
    """It prints a word when it was made."""
    return Attempt("git, meanwhile: " + name, script + " && echo REACHED", reached, alone=True,
                   repositories=True, modes=NAMESPACES, **more)


def without(*names):
    """A repository that was made by a leaner git."""
    def prepare(stage):
        for name in names:
            for git_dir in (".git", NESTED):
                path = stage.workspace / git_dir / name
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return prepare


def linked(stage):
    """A second working tree, and a submodule with a repository of its own."""
    script = ("git worktree add -q tree -b side; "
              "git -c protocol.file.allow=always submodule --quiet add ./deep/er/nested sub")
    stage.person.start(["bash", "-c", script], cwd=stage.workspace,
                       env={**stage.environment(), "GIT_CONFIG_NOSYSTEM": "1"},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()


def reads_worktree_config(stage):
    with open(stage.workspace / ".git/config", "a", encoding="utf-8") as config:
        config.write("[extensions]\n\tworktreeConfig = true\n")


def in_directory(git_dir, name):
    """Ways to put something of one's own into a directory that git looks into."""
    at = f"{git_dir}/{name}"
    return [
        Make(f"{at}, made", f'mkdir -p {at}; mkdir {at}/evil'),
        Make(f"{at}, a file in it", f'mkdir -p {at}; echo evil >{at}/evil'),
        Make(f"{at}, by renaming one onto it",
             f'mkdir -p {at} e/evil; rm -rf {at}/* 2>/dev/null; "$PROBE" rename e {at}'),
        Make(f"{at}, by renaming one into it",
             f'mkdir -p e {at}; "$PROBE" rename e {at}/evil || mv e {at}/evil'),
        Make(f"{at}, by an exchange", f'mkdir -p {at} e/evil; "$PROBE" exchange e {at}'),
        Make(f"{at}, removed and made again",
             f'mkdir -p {at}; rm -rf {at} 2>/dev/null; mkdir {at}'),
        Make(f"{at}, a link in its place",
             f'mkdir -p {at} e; rm -rf {at} 2>/dev/null; ln -sT "$WS/e" {at}'),
        Make(f"{at}, moved away", f'mkdir -p {at}; mv -T {at} {git_dir}/away && [ ! -e {at} ]'),
    ]


def as_file(git_dir, name, **more):
    """Ways to write a file that git reads."""
    at = f"{git_dir}/{name}"
    above = at.rsplit("/", 1)[0]
    return [
        Make(f"{at}, written", f'mkdir -p {above}; echo evil >{at}', **more),
        Make(f"{at}, by a rename",
             f'mkdir -p {above}; echo evil >e; "$PROBE" rename e {at}', **more),
        Make(f"{at}, by a rename beside it",
             f'mkdir -p {above}; echo evil >{above}/e; "$PROBE" rename {above}/e {at}', **more),
        Make(f"{at}, by a hard link",
             f'mkdir -p {above}; rm -f {at}; echo evil >{above}/e; ln {above}/e {at}', **more),
        Make(f"{at}, by a link", f'mkdir -p {above}; echo evil >e; ln -sf "$WS/e" {at}', **more),
        Make(f"{at}, removed", f'mkdir -p {above}; touch {at}; rm {at}', **more),
    ]


ATTEMPTS = [
    *in_directory(".git", "modules"),
    *in_directory(".git", "worktrees"),
    *in_directory(".git", "hooks"),
    *in_directory(NESTED, "modules"),
    *as_file(".git", "info/attributes"),
    *as_file(".git", "config"),
    *as_file(".git", "worktrees/tree/commondir", prepare=linked),
    *as_file(".git", "worktrees/tree/gitdir", prepare=linked),
    *as_file(".git", "modules/sub/config", prepare=linked),
    *as_file(".git", "modules/sub/info/attributes", prepare=linked),
    Make("hooks where there were none", 'mkdir -p .git/hooks; cp "$EVIL" .git/hooks/pre-commit',
         prepare=without("hooks")),
    Make("attributes where there was no directory for them",
         'mkdir -p .git/info; echo evil >.git/info/attributes', prepare=without("info")),
    Make("a configuration where there was none", 'echo evil >.git/config',
         prepare=without("config")),
    Make("a configuration of the working tree", 'echo evil >.git/config.worktree',
         prepare=reads_worktree_config),
    Make("the directory of attributes, moved away",
         'mv .git/info .git/i; mkdir .git/info; echo evil >.git/info/attributes'),
    Make("the repository, moved away", 'mv -T .git g && [ ! -e .git/HEAD ]'),
    Make("the repository, exchanged", 'cp -r .git g; "$PROBE" exchange g .git'),
    Make("the repository, made elsewhere by git",
         'git init -q --separate-git-dir "$WS/new.git"; [ -f .git ]'),
    Make("a nested repository, made elsewhere by git",
         'cd deep/er/nested; git init -q --separate-git-dir "$WS/new.git"; [ -f .git ]'),
    Make("a working tree by git", 'git worktree add -q tree -b side; [ -e .git/worktrees/tree ]'),
    Make("a submodule by git", 'git -c protocol.file.allow=always submodule --quiet add '
         './deep/er/nested sub; [ -e .git/modules/sub/config ]'),
    Make("a submodule's repository by git",
         'mkdir -p .git/modules; GIT_DIR=.git/modules/evil git init -q; '
         '[ -e .git/modules/evil/config ]'),
    Make("a working tree's repository by git",
         'mkdir -p .git/worktrees; git --git-dir=.git/worktrees/evil init -q; '
         '[ -e .git/worktrees/evil/config ]'),
    Make("a setting by git", 'git config core.fsmonitor "$EVIL"'),
    Make("a setting by git, of the repository by its directory",
         'cd src; GIT_DIR="$WS/.git" git config core.fsmonitor "$EVIL"'),
    Make("a setting by git, by the file", 'git config --file .git/config core.fsmonitor "$EVIL"'),
    Make("a setting of a submodule by git",
         'git -C sub config core.fsmonitor "$EVIL"', prepare=linked),
    Make("a setting by git from a second working tree",
         'cd tree; git config core.fsmonitor "$EVIL"', prepare=linked),
    Make("a setting by git with another common directory",
         'GIT_COMMON_DIR="$WS/.git" GIT_DIR="$WS/.git/worktrees/tree" '
         'git config core.fsmonitor "$EVIL"', prepare=linked),
    Make("a submodule's repository, moved away", 'mv -T .git/modules/sub .git/modules/was && '
         '[ ! -e .git/modules/sub/HEAD ]', prepare=linked),
    Make("a working tree's repository, moved away", 'mv -T .git/worktrees/tree .git/worktrees/was '
         '&& [ ! -e .git/worktrees/tree/HEAD ]', prepare=linked),
]
