"""shell_test.py - Bash as models use it in projects: editors, pagers, directories, refusals."""
import shutil
import subprocess
import unittest

import scripted
from agent import Call, Turn
from confined import AS_USER, IS_ROOT, WITHOUT_NAMESPACES, SandboxTest

GIT = ("export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=A "
       "GIT_COMMITTER_EMAIL=a@b.c; ")
HAS_VIM = shutil.which("vim")


class Shell:
    """In all the ways in which commands are confined."""

    def run_lines(self, *lines, **run):
        """As they are, where the gate sees them."""
        return self.run_turns(*[Turn(Call("Bash", command=line, timeout=20000)) for line in lines],
                              **run)

    def make_history(self):
        self.init_repository(self.project)
        return [GIT + "for i in 1 2 3; do echo $i >> f; git add f; git commit -qm \"change $i\"; done"]

    # --- editors and pagers ---

    def test_git_with_an_editor_goes_through(self):
        config = self.home / ".gitconfig"
        config.write_text("[core]\n\teditor = vim\n\tpager = less\n[sequence]\n\teditor = vim\n")
        out = self.run_lines(
            *self.make_history(), GIT + "git commit --amend -a", GIT + "git rebase -i HEAD~2",
            GIT + "git revert HEAD; git log --oneline", GIT + "echo 5 > g; git add g; git commit",
            env={"EDITOR": "vim", "VISUAL": "nano", "GIT_EDITOR": "code --wait"})
        for text in out[:4]:
            self.assertNotIn("Exit code", text)
        self.assertIn("change 3", out[1])
        self.assertIn('Revert "change 3"', out[3])
        self.assertIn("Aborting commit due to empty commit message", out[4])

    def test_an_editor_of_the_commands_own_is_used(self):
        """Without sed -i, which sets modes: not everywhere can that be done."""
        (self.project / "fix").write_text("sed '2s/pick/fixup/' \"$1\" > new; cat new > \"$1\"")
        out = self.run_lines(
            *self.make_history(),
            GIT + "git -c sequence.editor='sh ./fix' rebase -i HEAD~2",
            GIT + "git log --format=%s",
            GIT + "GIT_SEQUENCE_EDITOR='sh ./fix' git rebase -i --root", "git log --format=%s")
        self.assertEqual(out[2], "change 2\nchange 1\n", out)
        self.assertEqual(out[4], "change 1\n", out)

    @unittest.skipUnless(HAS_VIM, "vim is not here")
    def test_an_editor_without_a_terminal_ends(self):
        (self.project / "f").write_text("one\n")
        out = self.run_lines("vim f", "vim -c '%s/one/two/' -c wq f; cat f", "less f",
                             "printf '%%s/two/three/\\nwq\\n' | ex -s f; cat f")
        self.assertIn("Exit code 1", out[0])
        self.assertTrue(out[1].endswith("two\n"), out[1])
        self.assertEqual(out[2], "two\n")
        self.assertEqual(out[3], "three\n")


class AsRun(Shell, SandboxTest):
    """As whoever runs the tests."""


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can be others")
class AsOrdinaryUser(Shell, SandboxTest):
    prefix = AS_USER

    def hand_over(self):
        subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can give this up")
class WithoutNamespaces(Shell, SandboxTest):
    prefix = WITHOUT_NAMESPACES


if __name__ == "__main__":
    scripted.main()
