"""own_home_test.py - keel's own home lies in the workspace, as it does for who starts keel in their
home directory: commands run, and reach nothing of it.

The model is scripted and does what it should not. There are four ways to run it: as root and as an
ordinary user, with namespaces and where none can be made."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

import scripted
from abort_test import Pipe
from agent import Turn
from confined import AS_USER, IS_ROOT, SandboxTest
from scripted import ANTHROPIC, keel_test

WITHOUT_NAMESPACES = [sys.executable, str(pathlib.Path(__file__).parent / "no_namespaces.py")]
SECRET = "hush-4711"
LIMIT = 4 << 20  # a larger file that is protected keeps commands from running


class OwnHome(SandboxTest):
    is_user = False

    def setUp(self):
        super().setUp()
        self.keel_home = self.project / ".keel"
        self.keel_home.mkdir(0o700)
        self.home = self.project
        (self.project / "sub").mkdir()

    def hand_over(self):
        if self.is_user:
            subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)

    def assert_nothing_is_told(self):
        """But for what this machine lacks."""
        lines = [line for line in self.result.err.splitlines()
                 if "the sandbox is weaker here" not in line]
        self.assertEqual(lines, [], self.result)

    def assert_whole(self):
        """Nothing was put aside, and sessions are as they were written."""
        self.assertEqual([*self.project.rglob("*keel-untrusted*")], [], self.result)
        result = self.keel("session", "verify", "--all")
        self.assert_status(result, 0)

    def test_commands_run(self):
        out = self.run_bash("echo one >sub/made && cat sub/made", "echo two >>sub/made; cat sub/*")
        self.assertEqual(out, ["one\n", "one\ntwo\n"])
        self.assert_nothing_is_told()
        self.assert_whole()

    def test_a_model_reads_why_nothing_is_made_beside_it(self):
        out = self.run_bash("echo x >made", "echo x >sub/made; cat sub/made")
        self.assertEqual(out[1], "x\n")
        if (self.project / "made").exists():  # namespaces allow it
            self.assertIn("succeeded", out[0])
        else:
            self.assertIn("so commands make nothing new in it; they work in its subdirectories",
                          out[0])

    def test_a_command_of_the_person_s_own_runs(self):
        self.write("project/.keel/settings.json", {})
        for _ in range(3):
            self.result = self.keel("sandbox", "--", "cat", "sub/../sub/x", "/dev/null")
            self.assert_status(self.result, 1)
            self.result = self.keel("sandbox", "--", "sh", "-c", "echo x >sub/x")
            self.assert_status(self.result, 0)
            self.assert_nothing_is_told()
            (self.project / "sub/x").unlink()
        self.assertEqual([*self.project.rglob("*keel-untrusted*")], [])

    def test_a_large_database_is_no_obstacle(self):
        (self.keel_home / "blobs").mkdir()
        for path in (self.keel_home / "keel.db-old", self.keel_home / "blobs/large"):
            path.write_bytes(b"x" * (LIMIT + 1))
        self.assertEqual(self.run_bash("echo ran"), ["ran\n"])
        self.assert_nothing_is_told()

    def test_commands_neither_read_nor_change_it(self):
        files = {name: f"{{\"description\": \"{SECRET}\"}}"
                 for name in ("settings.json", "said/before", "guard/x.state")}
        for name, text in files.items():
            (self.keel_home / name).parent.mkdir(exist_ok=True)
            (self.keel_home / name).write_text(text)
        (self.keel_home / "settings.json").write_text("{}")
        files["settings.json"] = "{}"
        self.run_bash(
            "cat .keel/said/* .keel/guard/*; strings .keel/keel.db; tar c .keel | strings; "
            "cat /proc/self/cwd/.keel/said/before; cd .keel && cat said/before",
            "for f in settings.json trust.json keel.db keel.db-wal keel.db-locks said/before "
            "guard/x.state guard/locks blobs/x unfinished/x; do echo evil >.keel/$f; "
            "echo evil >>.keel/$f; rm -f .keel/$f; ln -sf /dev/null .keel/$f; done",
            "mv .keel sub/keel; mv .keel sub/; cp -r .keel sub/copy; rm -rf .keel; "
            "mkdir .keel2; mv -T .keel2 .keel; ln -s sub .keel",
            "ln .keel/settings.json sub/link; ln -s ../.keel sub/way; echo evil >sub/way/trust.json; "
            "mkdir -p sub/made; echo evil >sub/made/settings.json; "
            "mv sub/made/settings.json .keel/; mv --exchange sub/made .keel; chmod 777 .keel")
        self.assert_not_sent(SECRET)
        for name, text in files.items():
            self.assertEqual((self.keel_home / name).read_text(), text)
        self.assertFalse((self.keel_home / "trust.json").exists())
        self.assertFalse(self.keel_home.is_symlink())
        for path in self.project.rglob("*"):
            if self.keel_home not in path.parents and path.is_file():
                self.assertNotIn(SECRET, path.read_text(errors="replace"))
        self.assert_whole()

    def test_settings_that_a_link_leads_to_are_not_changed(self):
        """As people keep them who have a directory of dotfiles."""
        for way in ("a link", "links", "a directory above", "the whole home"):
            with self.subTest(way):
                shutil.rmtree(self.keel_home)
                shutil.rmtree(self.project / "dot", ignore_errors=True)
                (self.project / "dot/keel").mkdir(parents=True)
                settings = self.project / "dot/keel/settings.json"
                settings.write_text("{}")
                if way == "the whole home":
                    self.keel_home.symlink_to("dot/keel")
                else:
                    self.keel_home.mkdir()
                    (self.keel_home / "settings.json").symlink_to({
                        "a link": "../dot/keel/settings.json", "links": "../sub/next",
                        "a directory above": "../sub/dir/settings.json"}[way])
                (self.project / "sub/next").unlink(missing_ok=True)
                (self.project / "sub/dir").unlink(missing_ok=True)
                (self.project / "sub/next").symlink_to("../dot/keel/settings.json")
                (self.project / "sub/dir").symlink_to("../dot/keel")
                off = "'{\"sandbox\": {\"enabled\": false}}'"
                self.run_bash(f"echo {off} >dot/keel/settings.json; echo {off} >sub/evil; "
                              "mv sub/evil dot/keel/settings.json; mkdir sub/d; "
                              f"echo {off} >sub/d/settings.json; rm -f sub/next sub/dir; "
                              "mv sub/d sub/dir; cp sub/dir/settings.json sub/next; "
                              "mv dot/keel sub/other; cp -r sub/dir dot/keel; true")
                self.assertEqual((self.keel_home / "settings.json").read_text(), "{}", self.result)
                # A copy of the hidden home, as newer programs make it, is as closed as that.
                subprocess.run(["chmod", "-R", "u+rwX", str(self.project / "sub")], check=True)
                shutil.rmtree(self.project / "sub")
                (self.project / "sub").mkdir()

    def test_settings_with_a_second_name_are_not_changed(self):
        (self.keel_home / "settings.json").write_text("{}")
        os.link(self.keel_home / "settings.json", self.project / "sub/keel.json")
        self.run_bash("echo '{\"sandbox\": {\"enabled\": false}}' >sub/keel.json")
        self.assertEqual((self.keel_home / "settings.json").read_text(), "{}")
        self.assertIn("settings.json was changed by the command; keel restored it", self.result.err)

    def test_a_home_that_a_command_makes_goes_aside(self):
        """It is nobody's own: this keel has its home elsewhere."""
        self.keel_home.rmdir()
        self.keel_home = self.dir / "keel-home"
        self.run_bash("mkdir .keel; echo '{}' >.keel/settings.json; cd sub")
        self.assertFalse((self.project / ".keel").exists())

    def test_what_a_keel_left_that_was_killed_is_put_right_and_the_rest_stays(self):
        pipe = Pipe(self.project / "sub/pipe")
        self.addCleanup(os.close, pipe.fd)
        script = "mkdir sub/r; echo evil >.envrc; echo >sub/pipe; exec sleep 1000"
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, self.bash(script)), "go")
        pipe.wait()
        process.send_signal(signal.SIGKILL)
        self.finish(process)
        (self.keel_home / "settings.json").write_text("{ }")
        self.result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Hello.")), "hi",
                                     cwd=self.outside)
        self.assertEqual(self.result.out, "Hello.\n")
        self.result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Hello.")), "hi")
        self.assertEqual(self.result.out, "Hello.\n")
        self.assertNotIn("/.keel", self.result.err)
        self.assertFalse((self.project / ".envrc").exists())
        self.assertEqual((self.keel_home / "settings.json").read_text(), "{ }")
        self.assertEqual(len(re.findall(r"\bhi\b", self.keel("session", "list", "--all").out)), 2)

    def test_it_is_no_workspace_itself(self):
        result = self.keel("sandbox", "--", "touch", "made", cwd=self.keel_home)
        self.assert_refused(result, 2, "the workspace is keel's own directory")
        result = self.keel("sandbox", "--add-dir", str(self.keel_home), "--", "touch", "made")
        self.assert_refused(result, 2, "was added as writable")
        self.assertFalse((self.keel_home / "made").exists())


class OwnHomeDeeper(OwnHome):
    """The workspace is a directory above the home."""

    def setUp(self):
        super().setUp()
        home = self.project / "people/me"
        home.mkdir(parents=True)
        self.keel_home.rename(home / ".keel")
        self.keel_home, self.home = home / ".keel", home

    test_commands_neither_read_nor_change_it = None
    test_settings_that_a_link_leads_to_are_not_changed = None
    test_a_home_that_a_command_makes_goes_aside = None

    def test_a_command_of_the_person_s_own_runs(self):
        self.result = self.keel("sandbox", "--", "sh", "-c", "echo x >sub/x; cat sub/x")
        self.assertEqual(self.result.out, "x\n")
        self.assert_nothing_is_told()

    def test_it_cannot_be_moved_with_a_directory_above(self):
        (self.keel_home / "settings.json").write_text("{}")
        self.run_bash("mv people sub/; mkdir -p people/me/.keel; mv people/me sub/; "
                      "echo evil >people/me/.keel/settings.json; cat people/me/.keel/settings.json")
        self.assertEqual((self.keel_home / "settings.json").read_text(), "{}")
        self.assert_whole()


class OwnStore(SandboxTest):
    """Sessions are kept in a protected directory of the workspace."""
    is_user = False
    hand_over = OwnHome.hand_over

    def setUp(self):
        super().setUp()
        (self.project / ".keel").mkdir()
        (self.project / "sub").mkdir()

    def test_commands_run_and_do_not_reach_it(self):
        for store in ("sqlite:.keel/k.db", "sqlite:.keel/state/k.db", "files:.keel/sessions"):
            shutil.rmtree(self.project / ".keel")
            (self.project / ".keel/state").mkdir(parents=True)
            with self.subTest(store):
                for _ in range(2):
                    out = self.run_bash(
                        "(cd .keel && for f in k.db* state/k.db* sessions/*; do cat $f; "
                        "echo x >>$f; rm -f $f; mv $f ../sub/; done); mv .keel sub/; "
                        "echo ran >sub/out",
                        arguments=("--store", store))
                    self.assertNotIn("cannot save", out[0])
                    self.assertEqual((self.project / "sub/out").read_text(), "ran\n")
                    self.assertNotIn("/.keel", self.result.err)
                result = self.keel("session", "verify", "--all", "--store", store)
                self.assert_status(result, 0)
        self.assertEqual([*self.project.rglob("*keel-untrusted*")], [])

    def test_a_session_that_another_keel_continues_meanwhile_stays(self):
        for store in ("sqlite:.keel/k.db", "files:.keel/sessions"):
            with self.subTest(store):
                arguments = ("--store", store)
                self.run_bash("true", arguments=arguments)
                pipe = Pipe(self.project / "sub/pipe")
                process = self.start("sandbox", "sh", "-c", "echo >sub/pipe; cat",
                                     env={"KEEL_STORE": store}, stdin=subprocess.PIPE)
                pipe.wait()
                self.run_bash("true", arguments=("-c", *arguments))
                process.communicate(b"")
                os.close(pipe.fd)
                (self.project / "sub/pipe").unlink()
                listed = self.keel("session", "list", "--json", *arguments).json()
                self.assertEqual([session["messages"] for session in listed], [8])


def ways(*cases):
    """Every case in every way that this user has."""
    for case in cases:
        for name, is_user, prefix in (("", False, []), ("AsUser", True, AS_USER),
                                      ("Confined", False, WITHOUT_NAMESPACES),
                                      ("AsConfinedUser", True, WITHOUT_NAMESPACES + AS_USER)):
            made = type(case.__name__ + name, (case,), {
                "prefix": prefix, "is_user": is_user, "__doc__": case.__doc__})
            if is_user and not (IS_ROOT and shutil.which("setpriv")):
                made = unittest.skip("only root can be others")(made)
            yield made


for way in ways(OwnHome, OwnHomeDeeper, OwnStore):
    globals()[way.__name__] = way

if __name__ == "__main__":
    keel_test.main()
