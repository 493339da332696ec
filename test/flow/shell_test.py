"""shell_test.py - Bash as models use it in projects: editors, pagers, directories, refusals."""
import shutil
import subprocess
import unittest

import scripted
from agent import Call, Turn
from confined import AS_USER, IS_ROOT, WITHOUT_NAMESPACES, SandboxTest

GIT = ("export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=A "
       "GIT_COMMITTER_EMAIL=a@b.c; ")
HAS_EDITOR = shutil.which("vim") and shutil.which("less")


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

    @unittest.skipUnless(HAS_EDITOR, "vim or less is not here")
    def test_an_editor_without_a_terminal_ends(self):
        (self.project / "f").write_text("one\n")
        out = self.run_lines("vim f", "vim -c '%s/one/two/' -c wq f; cat f", "less f",
                             "printf '%%s/two/three/\\nwq\\n' | ex -s f; cat f")
        self.assertIn("Exit code 1", out[0])
        self.assertTrue(out[1].endswith("two\n"), out[1])
        self.assertEqual(out[2], "two\n")
        self.assertEqual(out[3], "three\n")


    # --- what the sandbox refuses ---

    def test_no_network_is_explained_in_full_once(self):
        out = self.run_lines("curl -sS -m 5 http://example.com/", "git ls-remote http://example.com/x",
                             "curl -sS -m 5 http://example.com/ | cat", "echo fine")
        self.assertIn("(The sandbox caused this: commands have no network. Neither trying again "
                      "nor a longer timeout helps.", out[0])
        self.assertIn("network.allow", out[0])
        self.assertIn("(The sandbox caused this: there is no network", out[1])
        self.assertNotIn("network.allow", out[1])
        self.assertIn("sandbox", out[2])
        self.assertEqual(out[3], "fine\n")

    def test_a_time_out_of_what_waits_for_the_network_does_not_advise_to_wait_longer(self):
        (self.project / "npm").write_text("sleep 100")
        out = self.run_turns(Turn(Call("Bash", command="sh npm install x", timeout=300)),
                             Turn(Call("Bash", command="sleep 100", timeout=300)))
        self.assertIn("If npm waited for the network", out[0])
        self.assertNotIn("Give it a longer timeout", out[0])
        self.assertIn("Give it a longer timeout", out[1])
        self.assertNotIn("network", out[1])

    def test_a_success_that_speaks_of_refusals_is_left_alone(self):
        (self.project / "log").write_text("Could not resolve host: x\nRead-only file system\n")
        out = self.run_lines("sort log")
        self.assertNotIn("sandbox", out[0])

    def test_places_that_cannot_be_written_name_those_that_can(self):
        out = self.run_bash("mkdir /usr/made", "echo x > $TMPDIR/t && cat $TMPDIR/t")
        self.assertIn("sandbox", out[0])
        self.assertEqual(out[1], "x\n")

    def test_the_gate_names_the_place_for_temporary_files(self):
        out = self.run_lines("cat > /tmp/t.py <<E\nprint(1)\nE\npython3 /tmp/t.py")
        self.assertIn('temporary files to "$TMPDIR"', out[0])

    def test_a_hidden_file_does_not_look_empty(self):
        (self.project / "secret.txt").write_text("hush")
        (self.project / "deep").mkdir()
        (self.project / "deep/secret.txt").write_text("hush")
        self.user_settings({"permissions": {"deny": ["Read(**/secret.txt)"]}})
        out = self.run_bash("cat secret.txt", "cd deep; cat < secret.txt")
        for text in out:
            self.assertIn("Permission denied", text)

    def test_paths_of_a_command_that_a_rule_hides_are_named(self):
        (self.project / "vault").mkdir()
        (self.project / "vault/a").write_text("hush")
        self.user_settings({"permissions": {"deny": ["Read(vault)"]}})
        out = self.run_lines("stat -c %n vault; find vault -type f -exec cat {} +")
        self.assertNotIn("hush", out[0])
        self.assertIn("(Hidden from commands by a rule, and so neither empty nor missing: "
                      f"{self.project.resolve()}/vault.", out[0])

    def test_a_place_that_is_hidden_twice_is_named_once(self):
        out = self.run_lines("cat /etc/shadow")
        self.assertIn("/etc/shadow: Permission denied", out[0])
        self.assertNotIn("/etc/shadow, /etc/shadow", out[0])


class WithNamespaces:
    """What is refused there in another way than without."""

    def test_a_read_only_place_is_explained(self):
        out = self.run_bash("mkdir /usr/made", "mkdir /usr/made")
        self.assertIn(f"(The sandbox caused this: commands can write only below {self.project} and in "
                      "$TMPDIR (/", out[0])
        self.assertIn('(The sandbox caused this: write below the workspace or in "$TMPDIR".)',
                      out[1])

    def test_git_settings_that_are_protected_are_no_lock(self):
        self.init_repository(self.project)
        for command in ("git config user.name A", "git remote add o http://example.com/x"):
            out = self.run_lines(command)
            self.assertIn("Device or resource busy", out[0])
            self.assertIn("(The sandbox caused this: it protects .git/config", out[0])
            self.assertIn("git -c NAME=VALUE", out[0])

    def test_a_protected_file_is_not_told_to_be_elsewhere(self):
        self.init_repository(self.project)
        (self.project / ".vscode").mkdir()
        (self.project / ".vscode/settings.json").write_text("{}")
        for script in ("echo x > .git/hooks/pre-commit", "rm .vscode/settings.json",
                       "git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m x; "
                       "git worktree add sub"):
            out = self.run_bash(script)
            self.assertIn("Read-only file system", out[0])
            self.assertIn("(The sandbox caused this: it protects .git/config", out[0])

    def test_a_unix_socket_is_explained(self):
        out = self.run_bash("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"")
        self.assertIn("(The sandbox may have caused this: commands cannot create named Unix sockets",
                      out[0])


class AsRun(Shell, WithNamespaces, SandboxTest):
    """As whoever runs the tests."""


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can be others")
class AsOrdinaryUser(Shell, WithNamespaces, SandboxTest):
    prefix = AS_USER

    def hand_over(self):
        subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can give this up")
class WithoutNamespaces(Shell, SandboxTest):
    prefix = WITHOUT_NAMESPACES


if __name__ == "__main__":
    scripted.main()
