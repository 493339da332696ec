"""sandbox_test.py - keel sandbox as a program: options, exit status, streams."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import keel_test
from keel_test import KeelTest
from older_kernel import LANDLOCK, NAMESPACES, lacking


class Sandbox(KeelTest):
    def sandbox(self, *arguments, **options):
        return self.keel("sandbox", *arguments, **options)

    def both_ways(self, *arguments, **options):
        for way in ((), ("--no-namespaces",)):
            with self.subTest(way=way):
                yield self.sandbox(*way, *arguments, **options)

    def test_the_exit_status_is_the_command_s(self):
        for result in self.both_ways("--", "sh", "-c", "echo out; echo err >&2; exit 42"):
            self.assert_status(result, 42)
            self.assertEqual((result.out, result.err), ("out\n", "err\n"))

    def test_a_signal_gives_the_status_that_a_shell_would(self):
        self.assert_status(self.sandbox("sh", "-c", "kill -TERM $$"), 143)

    def test_options_of_the_command_are_its_own(self):
        (self.project / "file").write_text("x")
        result = self.sandbox("ls", "--no-namespaces", "-a")
        self.assert_status(result, 2)  # of ls
        self.assertIn("ls: unrecognized option", result.err)
        self.assertIn("Usage: grep", self.sandbox("grep", "--help").out)
        self.assertEqual(self.sandbox("--", "ls", "-A").out, "file\n")

    def test_a_sandbox_in_a_sandbox_is_built_of_what_is_left(self):
        """Where system calls are filtered already: no openat2, no namespaces."""
        subprocess.run(["git", "init", "-q", self.project], check=True)
        (self.project / ".env").write_text("hush")
        (self.project / "sub").mkdir()
        inner = self.project / "keel-home"
        inner.mkdir()
        (inner / "settings.json").write_text('{"permissions": {"deny": ["Read(.env)"]}}')
        result = self.sandbox(
            *self.inner_keel(inner), "sandbox",
            "sh", "-c", "cat .env; echo evil >>.git/config; echo x >sub/new; cat sub/new")
        self.assertEqual(result.out, "x\n", result)
        self.assertNotIn("evil", (self.project / ".git/config").read_text())

    def inner_keel(self, home):
        """A keel where commands see it."""
        beside = pathlib.Path(keel_test.KEEL).with_name("keel-exec")
        for program in (keel_test.KEEL, os.environ.get("KEEL_EXEC", beside)):
            shutil.copy(program, self.project / pathlib.Path(program).name)
        return ("env", f"KEEL_HOME={home}", f"KEEL_EXEC={self.project}/keel-exec",
                "./keel")

    def test_without_namespaces_there_is_no_second_one_and_the_person_is_told_why(self):
        home = self.project / "keel-home"
        home.mkdir()
        keel = self.inner_keel(home)
        for words in (keel, ("sh", "-c", '"$@"; exit $?', "sh", *keel)):
            with self.subTest(words=words):
                result = self.sandbox("--no-namespaces", "--", *words, "sandbox", "echo", "in")
                self.assertEqual(result.out, "")
                self.assertNotEqual(result.status, 0)  # sanitizers have one of their own here
                self.assertIn("where a second one cannot be built", result.err)

    def test_a_command_is_needed(self):
        self.assert_refused(self.sandbox(), 2, "keel: sandbox takes a command")

    def test_a_command_that_forks_without_end_does_not_fill_the_machine(self):
        major, minor = map(int, os.uname().release.split("-")[0].split(".")[:2])
        if os.geteuid() == 0 and (major, minor) < (6, 14):
            self.skipTest("before Linux 6.14 nothing limits the processes of root")
        if "namespaces       available" not in self.keel("doctor").out:
            self.skipTest("without namespaces nothing limits the processes of a command")
        before = pathlib.Path("/proc/sys/kernel/pid_max").read_text()
        result = self.sandbox("--", "/usr/bin/python3", "-c", """
import threading
threading.stack_size(65536)
done = threading.Event()
n = 0
try:
    while n < 9000:
        threading.Thread(target=done.wait).start()
        n += 1
except RuntimeError:
    pass
done.set()
print(n)
""")
        self.assert_status(result, 0)
        self.assertLess(int(result.out), 8192)
        self.assertEqual(pathlib.Path("/proc/sys/kernel/pid_max").read_text(), before)

    def test_a_command_that_is_not_there_has_status_127(self):
        self.assert_refused(self.sandbox("no-such-command"), 127, "cannot run no-such-command")

    def test_a_whole_line_as_one_word_is_told_how_it_is_written(self):
        self.assert_refused(self.sandbox("ls -la"), 127, "cannot run ls -la", "sh -c")

    def test_a_supervisor_that_is_not_there_has_status_2(self):
        self.assert_refused(self.sandbox("true", env={"KEEL_EXEC": "/nonexistent"}), 2,
                            "cannot run /nonexistent, which KEEL_EXEC names")

    def test_hosts_that_are_allowed_need_namespaces(self):
        for option in ("--allow-domain", "--allow-private"):
            result = self.sandbox("--no-namespaces", option, "localhost:1", "--", "touch", "made")
            self.assert_refused(result, 2, "network access by domain needs namespaces")
            self.assertIn("leave out --allow-domain and --allow-private", result.err)
            self.assertFalse((self.project / "made").exists())

    def test_the_whole_file_system_is_no_workspace(self):
        self.assert_refused(self.sandbox("true", cwd="/"), 2, "the whole file system")

    def test_an_added_directory_can_be_written(self):
        added = self.dir / "added"
        added.mkdir()
        for result in self.both_ways("--add-dir", str(added), "sh", "-c", f"echo x >{added}/new"):
            self.assert_fine(result)
            self.assertEqual((added / "new").read_text(), "x\n")
        self.assert_refused(self.sandbox("--add-dir", "/nowhere", "true"), 2,
                            "--add-dir /nowhere: No such file or directory")
        self.assert_refused(self.sandbox("--add-dir", "/etc/passwd", "true"), 2,
                            "--add-dir /etc/passwd: not a directory")

    def test_deny_rules_of_the_settings_hold(self):
        (self.project / ".env").write_text("hush")
        (self.project / "locked").write_text("as it was")
        self.user_settings({"permissions": {"deny": ["Read(.env)"]}})
        self.write("project/.keel/settings.json", {"permissions": {"deny": ["Edit(locked)"]}})
        for result in self.both_ways("sh", "-c", "cat .env; rm -f locked; cat locked; true"):
            self.assertNotIn("hush", result.out)
            self.assertEqual((self.project / "locked").read_text(), "as it was")

    def test_the_switch_is_for_agents(self):
        self.user_settings({"sandbox": {"enabled": False}})
        self.sandbox("touch", str(self.dir / "outside"))
        self.assertFalse((self.dir / "outside").exists())

    def test_doctor_says_whether_agents_use_it(self):
        self.assertIn("for every command of the agent", self.keel("doctor").out)
        self.user_settings({"sandbox": {"enabled": False}})
        report = " ".join(self.keel("doctor").out.split())
        self.assertIn("sandbox.enabled is false", report)
        self.assertNotIn("sandboxed", report)

    def test_credentials_are_not_in_the_environment(self):
        result = self.sandbox("env", env={"ANTHROPIC_API_KEY": "sk-1", "PLAIN": "yes"})
        self.assertIn("PLAIN=yes\n", result.out)
        self.assertNotIn("sk-1", result.out)

    def test_input_and_output_may_be_files(self):
        path = self.write("in", "line\n" * 100000)
        for way in ((), ("--no-namespaces",)):
            with open(path, "rb") as source, open(self.dir / "out", "w+b") as target:
                result = self.sandbox(*way, "cat", stdin=source, stdout=target)
                self.assert_fine(result)
                target.seek(0)
                self.assertEqual(len(target.read()), 500000)

    def test_a_file_that_is_read_keeps_its_mode_and_times(self):
        path = self.write("in", "text")
        os.utime(path, (1, 1))
        os.chmod(path, 0o640)
        script = "import os\nfor f in (lambda: os.fchmod(0, 0o777), lambda: os.utime(0)):\n" \
                 " try: f()\n except OSError: pass\n"
        with open(path, "rb") as source:
            self.sandbox("python3", "-c", script, stdin=source)
        self.assertEqual((os.stat(path).st_mode & 0o777, os.stat(path).st_mtime), (0o640, 1))

    def test_what_the_command_leaves_in_tmpdir_is_removed(self):
        tmp = self.dir / "tmp"
        tmp.mkdir()
        for result in self.both_ways("sh", "-c", 'mkdir -p "$TMPDIR/a/b"; echo x >"$TMPDIR/a/b/c"',
                                     env={"TMPDIR": str(tmp)}):
            self.assert_fine(result)
            self.assertEqual(os.listdir(tmp), [])

    def test_the_person_is_told_what_was_put_back(self):
        (self.project / ".mcp.json").write_text("{}")
        result = self.sandbox("--no-namespaces", "sh", "-c", "echo evil >.mcp.json")
        self.assert_status(result, 0)
        self.assertIn(".mcp.json was changed by the command; keel restored it", result.err)
        self.assertEqual((self.project / ".mcp.json").read_text(), "{}")

    def test_the_person_is_told_what_a_file_is_called_now(self):
        result = self.sandbox("sh", "-c", "echo evil >.bashrc")
        self.assert_status(result, 0)
        self.assertIn(".bashrc was created by the command; keel renamed it by appending "
                      ".keel-untrusted\n", result.err)
        self.assertTrue((self.project / ".bashrc.keel-untrusted").exists())

    def test_an_interrupted_command_ends_and_so_does_keel(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = self.start("sandbox", "sh", "-c", "echo ready; sleep 1000")
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.send_signal(number)
            self.assert_status(self.finish(process), 128 + number)

    def test_without_keel_exec_there_is_no_command(self):
        result = self.sandbox("true", env={"KEEL_EXEC": "/nowhere"})
        self.assertNotEqual(result.status, 0)
        self.assertIn("KEEL_EXEC", result.err)

    def test_where_namespaces_are_forbidden_the_second_way_is_gone(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give up the right to make them")
        arguments = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin",
                     keel_test.KEEL, "sandbox", "sh", "-c", "echo x >new && ls /"]
        result = subprocess.run(arguments, cwd=self.project, env=self.environment(),
                                capture_output=True, text=True, check=False)
        self.assertEqual((self.project / "new").read_text(), "x\n")
        self.assertIn("Permission denied", result.stderr)


class Weakness(KeelTest):
    """On kernels that lack something commands run with the rest, or not at all."""

    def commands(self, calls):
        """What keel doctor says of commands."""
        lines = self.keel("doctor", preexec_fn=lacking(calls)).out.splitlines()
        return " ".join(" ".join(lines[i:i + 6]).replace("\n", " ") for i, line in enumerate(lines)
                        if line.split()[1:2] == ["commands"])

    def assert_brief(self, text):
        """One line, which says where there is more."""
        self.assertEqual(text.count("\n"), 1, text)
        self.assertLess(len(text), 160)
        self.assertIn("keel doctor", text)

    def test_a_whole_kernel_has_nothing_to_say(self):
        if not keel_test.has_namespaces():
            self.skipTest("namespaces cannot be made here")
        result = self.keel("sandbox", "echo", "hi")
        self.assertEqual((result.out, result.err), ("hi\n", ""))

    def test_without_landlock_named_pipes_are_open_and_the_person_is_told(self):
        if not keel_test.has_namespaces():
            self.skipTest("namespaces cannot be made here")
        result = self.keel("sandbox", "echo", "hi", preexec_fn=lacking(LANDLOCK))
        self.assert_status(result, 0)
        self.assertEqual(result.out, "hi\n")
        self.assertEqual(result.err.count("named pipes"), 1)
        self.assert_brief(result.err)
        self.assertIn("named pipes", self.commands(LANDLOCK))
        self.assertIn("Use a kernel with Landlock", self.commands(LANDLOCK))
        self.assertNotIn("Allow namespaces", self.commands(LANDLOCK))
        self.assertNotIn("files, network and all", self.commands(LANDLOCK))

    def test_without_namespaces_the_person_is_told(self):
        result = self.keel("sandbox", "echo", "hi", preexec_fn=lacking(NAMESPACES))
        self.assert_status(result, 0)
        self.assertEqual(result.out, "hi\n")
        self.assertEqual(result.err.count("Landlock alone"), 1)
        self.assert_brief(result.err)
        self.assertIn("Landlock alone", self.commands(NAMESPACES))
        self.assertIn("protected files are restored after", self.commands(NAMESPACES))

    def test_a_newer_kernel_is_advised_where_it_helps(self):
        version = int(re.search(r"Landlock +ABI version (\d+)", self.keel("doctor").out)[1])
        for settings in ({}, {"sandbox": {"requireFull": True}}):
            self.user_settings(settings)
            said = self.commands(NAMESPACES)
            self.assertIn("Allow namespaces for keel", said)
            self.assertEqual("6.12 or later" in said, version < 6 and not settings)

    def test_who_requires_all_of_it_gets_no_less(self):
        self.user_settings({"sandbox": {"requireFull": True}})
        for calls in (LANDLOCK, NAMESPACES, LANDLOCK + NAMESPACES):
            with self.subTest(calls=calls):
                result = self.keel("sandbox", "echo", "hi", preexec_fn=lacking(calls))
                self.assert_status(result, 2)
                self.assertEqual(result.out, "")
        self.assertIn("requireFull", self.commands(NAMESPACES))
        if keel_test.has_namespaces():
            self.assert_fine(self.keel("sandbox", "true"))

    def test_with_neither_no_command_runs(self):
        result = self.keel("sandbox", "echo", "hi", preexec_fn=lacking(LANDLOCK + NAMESPACES))
        self.assert_refused(result, 2, "Landlock is missing")
        self.assertEqual(result.out, "")


if __name__ == "__main__":
    keel_test.main()
