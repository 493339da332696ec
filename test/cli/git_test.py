"""git_test.py - what people and agents do with git all day works in the sandbox as it does without,
with namespaces and without, as root and as an ordinary user; what does not is listed
here. Some of it each time, all with KEEL_TEST_DEPTH=all."""
import os
import shutil
import subprocess
import unittest

import keel_test

IS_ROOT = os.geteuid() == 0
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]

SETTINGS = """
export GIT_AUTHOR_DATE='2020-02-02 02:02:02 +0000' GIT_COMMITTER_DATE='2020-02-02 02:02:02 +0000'
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
export GIT_CONFIG_KEY_1=gc.auto GIT_CONFIG_VALUE_1=0 GIT_CONFIG_KEY_2=safe.directory
export GIT_CONFIG_VALUE_2='*' GIT_EDITOR=true GIT_CONFIG_NOSYSTEM=1
"""

# A repository with a branch that merges and one that does not, a remote that is ahead, a submodule,
# a second working tree, and a rebase that the person has begun, with a line for the shell.
TEMPLATE = SETTINGS + """
set -e
commit() { echo "$2" >"$1"; git add "$1"; git commit -qm "$1 $2"; }
git init -q -b main lib; (cd lib; commit l 1)
git init -q --bare -b main upstream.git
git init -q -b main repo; cd repo
commit f 1; commit g 1
git checkout -q -b side; commit h 1
git checkout -q -b clash HEAD~2; commit f 2
git checkout -q main; commit f 3; commit i 1
git submodule --quiet add ../lib sub; git commit -qm sub
git worktree add -q ../tree side
git remote add origin ../upstream.git; git push -q origin main
git clone -q ../upstream.git ../other 2>/dev/null; (cd ../other; commit j 1; git push -q); rm -rf ../other
git init -q -b main ../begun; cd ../begun
commit f 1; git checkout -q -b onto; commit f 2; git checkout -q main; commit f 3; commit g 1
git rebase -q -x 'echo by the person >>ran' onto >/dev/null 2>&1 || true
"""

# What is left of it, in words that are the same each time.
PICTURE = SETTINGS + """
for d in repo repo/sub tree begun new upstream.git; do
    [ -e $d ] || continue
    (cd $d; echo "== $d"; git log --all --format='%T %s' | sort; git status --porcelain
     git branch -a; git stash list; cat ran 2>/dev/null
     cd "$(git rev-parse --git-dir)"; ls -A . info modules worktrees 2>/dev/null; true)
done
git -C repo worktree list
git -C repo config --list --local | sort
"""

WORKS = {
    "status, diff, log, blame": "git status; git diff; git log --stat -3; git blame f; git show",
    "add, commit, amend": "echo x >n; git add n; git commit -qm n; echo y >n; "
                          "git commit -qa --amend -m m",
    "restore, reset, rm, mv, clean": "echo x >f; git restore f; git mv f k; git rm -q g; "
                                     "git reset -q --hard; touch z; git clean -qf",
    "branch, checkout, switch, tag": "git branch b; git checkout -q b; git switch -q -c c; "
                                     "git tag t; git switch -q main; git branch -d b",
    "stash": "echo x >f; git stash -q; git stash list; git stash pop -q; git stash -q",
    "merge": "git merge -q clash || git merge --abort; git checkout -q -b m; "
             "git merge -q --no-edit side",
    "merge with a conflict that is resolved": "git merge -q clash; echo 9 >f; git add f; "
                                              "git commit -q --no-edit",
    "rebase": "git checkout -q -b r side; git rebase -q main",
    "rebase with a conflict that is resolved": "git checkout -q clash; git rebase -q main; "
                                               "echo 9 >f; git add f; git rebase --continue",
    "rebase by a list that an editor writes":
        "git checkout -q -b r side; "
        "GIT_SEQUENCE_EDITOR='sed -i -e 1s/pick/reword/' git rebase -q -i main~1",
    "squash by a list that an editor writes":
        "GIT_SEQUENCE_EDITOR='sed -i -e 2s/pick/squash/' git rebase -q -i HEAD~3",
    "rebase with lines for the shell": "git checkout -q -b r side; git rebase -q -x true main",
    "rebase that the person has begun": "cd ../begun; echo 9 >f; git add f; "
                                        "git rebase --continue",
    "cherry-pick and revert": "git cherry-pick side; git revert --no-edit HEAD; "
                              "git cherry-pick clash || git cherry-pick --abort",
    "bisect": "git bisect start -q HEAD HEAD~2; git bisect run true; git bisect reset",
    "fetch": "git fetch -q; git merge -q --ff-only origin/main",
    "push to a path": "echo x >n; git add n; git commit -qm n; git fetch -q; "
                      "git rebase -q origin/main; git push -q origin HEAD:topic",
    "fetch from a path": "git fetch -q ../lib main:lib; git log --oneline lib; "
                         "git fetch -q --tags ../begun",
    "worktree list, prune": "git worktree list; git worktree prune",
    "read-tree, update-index, reset": "git read-tree HEAD; git update-index --refresh; "
                                      "git reset -q HEAD~1",
    "gc, repack, prune, fsck": "git gc -q; git repack -adq; git prune; git fsck --no-progress",
    "a second working tree": "cd ../tree; echo x >n; git add n; git commit -qm n; git stash list; "
                             "git log --oneline",
    "a submodule": "git submodule status; git submodule --quiet foreach git status; cd sub; "
                   "echo x >n; git add n; git commit -qm n; cd ..; git add sub; git commit -qm s",
    "notes, reflog, archive": "git notes add -m note; git reflog; git archive HEAD >../a.tar",
    "sparse checkout of what is there": "git ls-files; git grep -q 1; git describe --always",
    "apply and am": "git format-patch -q -1 side -o ..; git am -q ../0001-*.patch; rm ../0001-*",
}

# git makes configurations by chmod, which needs namespaces.
NEEDS_NAMESPACES = {
    "init": "git init -q ../new; cd ../new; git commit -q --allow-empty -m x",
    "clone": "git clone -q . ../new 2>&1; cd ../new; git log --oneline",
    "clone of a bare one": "git clone -q --bare . ../new; git -C ../new log --oneline",
}

# The configuration of a repository is the person's.
DOES_NOT_WORK = {
    "config": "git config user.name evil",
    "remote add": "git remote add evil /x",
    "branch that follows another": "git branch -q new origin/main",
    "submodule init of another": "git submodule --quiet add ../lib more",
    "a hook": "echo evil >.git/hooks/pre-commit",
    "attributes": "echo '* filter=evil' >>.git/info/attributes",
    "a remote repository without a configuration": "mkdir -p .git/remotes; "
                                                   "echo 'URL: /x' >.git/remotes/evil",
    "a common directory": "echo ../../upstream.git >.git/commondir",
    "a common directory of a working tree": "echo ../../../../upstream.git "
                                            ">.git/worktrees/tree/commondir",
    "a working tree's place": "echo /x/.git >.git/worktrees/tree/gitdir",
    "a configuration of the worktree": "git config extensions.worktreeConfig true; "
                                       "git config --worktree user.name evil",
    "the repository elsewhere": "git init -q --separate-git-dir ../new.git",
    "another repository": "mv .git old; git init -q",
}

# What the kernel refuses with namespaces. Without, it is looked at when the command has ended.
SEALED = {
    "a new working tree": "git worktree add -q ../new clash",
    "a new submodule's repository": "git init -q --bare .git/modules/evil || "
                                    "cp -r ../upstream.git .git/modules/evil",
}

# What of a repository git runs, or obeys to find what it runs.
OBEYED = """
cd repo/.git; cat config config.worktree commondir info/attributes
find hooks remotes branches modules/*/hooks modules/*/config worktrees/*/*dir -type f |
    grep -v untrusted | sort | xargs tail
ls modules worktrees | grep -v untrusted
cat ../../tree/.git ../sub/.git
"""


class Git(keel_test.KeelTest):
    is_user = False
    options = ()
    works = {**WORKS, **NEEDS_NAMESPACES}
    does_not_work = {**DOES_NOT_WORK, **SEALED}

    @classmethod
    def setUpClass(cls):
        if cls is Git or (cls.is_user and not (IS_ROOT and shutil.which("setpriv"))):
            raise unittest.SkipTest("only root can be others")

    def setUp(self):
        super().setUp()
        self.template = self.dir / "template"
        self.template.mkdir()
        self.hand_over()
        self.outside(TEMPLATE, cwd=self.project, check=True)
        self.hand_over()
        os.rename(self.project, self.template)

    def hand_over(self):
        if self.is_user:
            subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)

    def prefix(self):
        return AS_USER if self.is_user else []

    def fresh(self):
        """The same files at the same place."""
        shutil.rmtree(self.project, ignore_errors=True)
        subprocess.run(["cp", "-a", str(self.template), str(self.project)], check=True)

    def outside(self, script, cwd, check=False):
        result = subprocess.run([*self.prefix(), "bash", "-c", script], cwd=cwd, text=True,
                                env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if check and result.returncode:
            self.fail(f"{script}\n{result.stdout}")
        return result

    def inside(self, script):
        """As an agent runs it. The workspace is all of the directory."""
        command = [*self.prefix(), keel_test.KEEL, "sandbox", *self.options, "--", "bash", "-c",
                   f"cd repo && {{ {SETTINGS}\n{script}\n}}"]
        result = subprocess.run(command, cwd=self.project, env=self.environment(), text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, check=False)
        return result

    def picture(self):
        return self.outside(PICTURE, self.project).stdout

    def test_what_works_without_works_in_it(self):
        for name, script in keel_test.sample(list(self.works.items()), 5):
            with self.subTest(name):
                self.fresh()
                wanted = self.outside(f"{SETTINGS}\n{script}", self.project / "repo")
                wanted_picture = self.picture()
                self.fresh()
                got = self.inside(script)
                self.assertEqual(got.returncode, wanted.returncode,
                                 f"{script}\n{wanted.stdout}\n---\n{got.stdout}{got.stderr}")
                self.assertEqual(self.picture(), wanted_picture, got.stderr)
                self.assertNotIn("keel-untrusted", got.stderr)

    def test_what_is_the_person_s_does_not(self):
        for name, script in keel_test.sample(list(self.does_not_work.items()), 3):
            with self.subTest(name):
                self.fresh()
                before = self.outside(OBEYED, self.project)
                self.inside(script)
                after = self.outside(OBEYED, self.project)
                self.assertEqual(after.stdout, before.stdout)


class WithNamespaces(Git):
    pass


class AsUser(Git):
    is_user = True


class WithoutNamespaces(Git):
    options = ("--no-namespaces",)
    works = WORKS
    does_not_work = DOES_NOT_WORK


class AsUserWithoutNamespaces(WithoutNamespaces):
    is_user = True


if __name__ == "__main__":
    keel_test.main()
