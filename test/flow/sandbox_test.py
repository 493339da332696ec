"""sandbox_test.py - what a model's commands can reach, in every way that commands are confined.

The model is scripted and does what it should not. As root the whole suite runs three times: as
root, as an ordinary user, and where namespaces cannot be made."""
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

import scripted
from agent import Call, Reader, Turn
from confined import AS_USER, IS_ROOT, WITHOUT_NAMESPACES, SandboxTest
from scripted import ANTHROPIC
from scripted import keel_test

SECRET = "hush-4711"


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Behaviour:
    # --- files ---

    def test_only_the_workspace_and_tmpdir_can_be_written(self):
        out = self.run_bash(
            f"touch {self.outside}/a ~/b /tmp/{self.dir.name}-c; echo x >{self.outside}/d",
            "echo x >inside && echo y >$TMPDIR/t && cat $TMPDIR/t && echo $TMPDIR",
            "cat $TMPDIR/t && echo $TMP $TEMP")
        self.assertEqual([*self.outside.iterdir(), *self.home.glob("b")], [])
        self.assertFalse(os.path.exists(f"/tmp/{self.dir.name}-c"))
        self.assertEqual((self.project / "inside").read_text(), "x\n")
        tmp = out[1].split()[1]
        self.assertEqual(out[2], f"y\n{tmp} {tmp}\n")  # the same for all commands of an agent
        self.assertFalse(os.path.exists(tmp))

    def test_added_directories_can_be_written(self):
        more = self.dir / "more"
        more.mkdir()
        self.user_settings({"permissions": {"additionalDirectories": [str(more)]}})
        self.run_bash(f"echo x | tee {self.outside}/a; echo y | tee {more}/b",
                      arguments=("--add-dir", str(self.outside)))
        self.assertEqual((self.outside / "a").read_text(), "x\n")
        self.assertEqual((more / "b").read_text(), "y\n")

    def test_secrets_are_not_read(self):
        for path in (self.home / ".ssh/id_rsa", self.keel_home / "trust.json"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(SECRET)
        self.run_bash(f"cat ~/.ssh/id_rsa {self.keel_home}/trust.json; "
                      f"cd ~/.ssh && cat *; tar c ~ | strings")
        self.assert_not_sent(SECRET)

    def test_hooks_of_repositories_are_not_written(self):
        gits = [self.init_repository(self.project), self.init_repository(self.project / "lib")]
        self.run_bash(*(f"echo evil >{git}/hooks/pre-commit; mv {git}/hooks {git}/old; "
                        f"git config -f {git}/config core.fsmonitor evil" for git in gits))
        for git in gits:
            self.assertFalse((git / "hooks/pre-commit").exists())
            self.assertNotIn("evil", (git / "config").read_text())

    def test_what_a_command_should_not_have_made_is_moved_aside_and_told(self):
        out = self.run_bash("echo '{}' >.mcp.json; echo made")
        self.assertIn("made\nThe sandbox checked what the command changed", out[0])
        self.assertIn(".mcp.json was created by the command", out[0])
        self.assertIn(".mcp.json was created by the command", self.result.err)
        self.assertFalse((self.project / ".mcp.json").exists())

    def test_a_repository_that_appears_later_is_protected_too(self):
        git = self.project / "new/.git"
        self.run_bash("git init -q new", f"echo evil >{git}/hooks/pre-commit")
        self.assertTrue(git.is_dir())
        self.assertFalse((git / "hooks/pre-commit").exists())

    # --- rules ---

    def test_a_file_denied_to_read_is_denied_to_commands(self):
        (self.project / "sub").mkdir()
        for path in (self.project / ".env", self.project / "sub/.env"):
            path.write_text(SECRET)
        (self.project / "link").symlink_to(".env")
        (self.project / "plain").write_text("plain\n")
        self.user_settings({"permissions": {"deny": ["Read(.env)"]}})
        out = self.run_bash("cat .env; cat sub/../.env link; grep -r hush .; cp .env x; cat x",
                            "cd sub; cat .env; tar c .. | strings | grep hush; mv ../.env x; cat x",
                            "ln .env hard; cat hard; python3 -c 'print(open(\".env\").read())'; "
                            "cat ../plain")
        self.assert_not_sent(SECRET)
        self.assertIn("plain\n", out[2])
        self.assertEqual((self.project / ".env").read_text(), SECRET)

    def test_the_plain_way_to_it_is_denied_as_well(self):
        (self.project / ".env").write_text(SECRET)
        self.user_settings({"permissions": {"deny": ["Read(.env)"]}})
        self.run_turns(*(Turn(Call("Bash", command=command)) for command in (
            "cat .env", "cat < .env", "python3 -c 'print(open(\".env\").read())'", "cat .e*v")))
        self.assert_not_sent(SECRET)

    def test_a_pattern_counts_for_files_that_come_later(self):
        self.user_settings({"permissions": {"deny": ["Read(**/*.pem)"]}})
        self.run_bash("true", f"mkdir -p a/b && printf {SECRET[:4]}%s {SECRET[4:]} | "
                      "tee a/b/key.pem >/dev/null",
                      "cat a/b/key.pem")
        self.assertEqual((self.project / "a/b/key.pem").read_text(), SECRET)
        results = [line for line in Reader(ANTHROPIC, self.one.requests[-1]).lines
                   if line.startswith("  result #")]
        self.assertNotIn(SECRET, "".join(results))

    def test_rules_of_a_project_that_nobody_trusts_stop_no_command(self):
        (self.project / "plain").write_text("plain\n")
        for rule in ("Read(**)", "Read(*)", "Read(//usr/**)", "Read(//**)", "Read(/)", "Read(",
                     "Edit(**)"):
            with self.subTest(rule):
                self.write("project/.keel/settings.json", {"permissions": {"deny": [rule]}})
                out = self.run_bash("cat plain; date >made && ls made; id -u >/dev/null && echo ran")
                self.assertEqual(out[0], "plain\nmade\nran\n")

    def test_a_deny_rule_of_a_project_that_nobody_trusts_counts(self):
        (self.project / ".env").write_text(SECRET)
        self.write("project/.keel/settings.json", {"permissions": {"deny": ["Read(./.env)"]}})
        self.run_bash("cat .env")
        self.assert_not_sent(SECRET)

    def test_a_file_denied_to_edit_stays_as_it_is(self):
        (self.project / "locked").write_text("as it was\n")
        (self.project / "dir").mkdir()
        (self.project / "dir/locked").write_text("as it was\n")
        self.user_settings({"permissions": {"deny": ["Edit(/locked)", "Write(dir/**)"]}})
        out = self.run_bash("cat locked; echo x | tee locked; rm -f locked; mv dir gone; "
                            "echo x | tee dir/locked dir/new; echo y >free")
        self.assertTrue(out[0].startswith("as it was\n"), out)
        for name in ("locked", "dir/locked"):
            self.assertEqual((self.project / name).read_text(), "as it was\n")
        self.assertFalse((self.project / "dir/new").exists())
        self.assertEqual((self.project / "free").read_text(), "y\n")

    def test_a_rule_that_denies_all_leaves_nothing_to_run_in(self):
        self.user_settings({"permissions": {"deny": ["Read(**)"]}})
        out = self.run_bash("touch ran")
        self.assertIn("a deny rule for Read hides", out[0])
        self.assertFalse((self.project / "ran").exists())

    # --- network, processes ---

    def test_there_is_no_network(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            port = server.getsockname()[1]
            out = self.run_bash(f"exec 9<>/dev/tcp/127.0.0.1/{port} && echo connected")
            self.assertNotIn("connected", out[0])
            self.assertRaises(BlockingIOError, server.accept)

    def test_nothing_is_left_running(self):
        marker = f"98765.{os.getpid()}"
        out = self.run_bash(f"setsid sleep {marker} >/dev/null 2>&1 & "
                            f"nohup sleep {marker} >/dev/null 2>&1 & echo left",
                            f"pgrep -f {marker[:5]}.{marker[6:]} || echo none")
        self.assertEqual(out[0], "left\n")
        self.assert_nothing_runs(marker)

    def test_a_background_command_stays_until_it_is_killed(self):
        marker = f"87654.{os.getpid()}"
        out = self.run_turns(
            self.bash(f"echo started; touch up; exec sleep {marker}", run_in_background=True),
            self.bash("until [ -e up ]; do sleep 0.02; done; echo x >$TMPDIR/shared"),
            Turn(Call("BashOutput", bash_id="bash_1")), Turn(Call("KillShell", shell_id="bash_1")))
        self.assertIn("bash_1: running\nstarted", out[2])
        self.assertIn("bash_1: killed", out[3])
        self.assert_nothing_runs(marker)

    def test_what_is_put_right_after_a_background_command_is_told(self):
        out = self.run_turns(
            self.bash("echo x >.mcp.json; touch up; exec sleep 1000", run_in_background=True),
            self.bash("until [ -e up ]; do sleep 0.02; done"),
            Turn(Call("KillShell", shell_id="bash_1")))
        self.assertIn(".mcp.json was created by the command", out[1] + out[2])
        self.assertIn(".mcp.json was created by the command", self.result.err)

    # --- the place and its surroundings ---

    def test_the_working_directory_is_kept(self):
        (self.project / "a b").mkdir()
        out = self.run_bash("cd 'a b'", "pwd; echo x >here", "cd ..; exit 3", "pwd")
        self.assertEqual(out[1], f"{self.project}/a b\n")
        self.assertEqual((self.project / "a b/here").read_text(), "x\n")
        self.assertEqual(out[3], f"{self.project}\n")

    def test_a_place_that_commands_do_not_see_is_no_end(self):
        (self.dir / "hidden").mkdir()
        out = self.run_bash(f"printf '%s\\n\\0' {self.dir}/hidden >&47; trap - EXIT", "pwd",
                            "echo ran")
        self.assertIn(f"The working directory is {self.project} again: {self.dir}/hidden is "
                      "outside the workspace.", out[0])
        self.assertEqual(out[1], f"{self.project}\n")
        self.assertEqual(out[2], "ran\n")

    def test_the_workspace_may_be_reached_by_a_link(self):
        link = self.dir / "link"
        link.symlink_to("project")
        out = self.run_bash(f"echo x >here; touch {self.outside}/a", "cat here",
                            arguments=("--cwd", str(link)))
        self.assertEqual(out[1], "x\n")
        self.assertEqual((self.project / "here").read_text(), "x\n")
        self.assertEqual(list(self.outside.iterdir()), [])

    def test_a_workspace_that_is_not_below_tmp(self):
        with tempfile.TemporaryDirectory(prefix="keel-test-", dir="/var/tmp") as directory:
            os.chmod(directory, 0o777)
            self.project = pathlib.Path(directory)
            out = self.run_bash("echo x >here && cat here", f"ls {self.dir}")
            self.assertEqual(out[0], "x\n")
            self.assertNotIn("keel-home", out[1])

    def test_the_environment_names_no_secrets_and_no_sockets(self):
        out = self.run_bash("env", env={
            "SSH_AUTH_SOCK": "/tmp/agent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus",
            "GITHUB_TOKEN": SECRET, "PLAIN": "plain"})
        self.assertIn("PLAIN=plain\n", out[0])
        for name in ("SSH_AUTH_SOCK", "DBUS", "TOKEN", "API_KEY", scripted.KEY):
            self.assertNotIn(name, out[0])


class Network(SandboxTest):
    """Hosts that a person allows are reached through keel, others are not."""

    curl = "curl -s -m 20 --noproxy '' -o /dev/null -w '%{http_code}\\n' "

    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Hello)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.place = f"127.0.0.2:{self.server.server_port}"

    def fetch(self, **run):
        return self.run_bash(f"{self.curl} http://{self.place}/",
                             f"{self.curl} http://127.0.0.1:1/", **run)

    @unittest.skipUnless(keel_test.has_namespaces(), "network by domain needs namespaces")
    def test_by_a_setting(self):
        self.user_settings({"network": {"allowPrivate": [self.place]}})
        self.assertEqual(self.fetch(), ["200\n", "403\n"])
        self.assertIn("blocked a command's connection: commands may not connect to 127.0.0.1:1; "
                      'to allow it, a person adds "127.0.0.1:1" to network.allow', self.result.err)

    def test_not_by_a_repository_that_nobody_trusts(self):
        self.write("project/.keel/settings.json", {"network": {"allowPrivate": [self.place]}})
        self.assertNotIn("200", "".join(self.fetch()))


class AsRun(Behaviour, SandboxTest):
    """As whoever runs the tests."""


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can be others")
class AsOrdinaryUser(Behaviour, SandboxTest):
    prefix = AS_USER

    def hand_over(self):
        subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can give this up")
class WithoutNamespaces(Behaviour, SandboxTest):
    prefix = WITHOUT_NAMESPACES

    def test_a_model_learns_why_chmod_fails(self):
        out = self.run_bash("touch new && chmod +x new", "true")
        self.assertIn("Namespaces are not available on this machine", out[0])
        self.assertNotIn("Namespaces", out[1])

    def test_what_keeps_commands_from_running_is_told_to_the_person(self):
        for settings, why, what in (
                ({"sandbox": {"requireFull": True}}, "sandbox.requireFull is set",
                 "Or set sandbox.requireFull to false"),
                ({"permissions": {"allow": ["WebFetch(domain:example.com)"]}},
                 "network access by domain needs namespaces",
                 "keel doctor shows how")):
            with self.subTest(why):
                self.user_settings(settings)
                out = self.run_bash("echo x >made", "echo x >made")
                self.assertFalse((self.project / "made").exists())
                self.assertIn(why, out[1])
                self.assertEqual(self.result.err.count("a command did not run: "), 1)
                self.assertIn(why, self.result.err)
                self.assertIn(what, self.result.err)


class Switch(SandboxTest):
    """Who can turn the sandbox off, and who cannot."""
    off = {"sandbox": {"enabled": False}}

    def is_confined(self, **run):
        path = self.outside / "made"
        path.unlink(missing_ok=True)
        self.run_bash(f"touch {path}", **run)
        return not path.exists()

    def test_it_holds_in_every_mode(self):
        for mode in ("default", "acceptEdits", "bypassPermissions"):
            with self.subTest(mode):
                self.assertTrue(self.is_confined(
                    mode=mode, arguments=("--allowed-tools", "Bash")))

    def test_no_argument_turns_it_off(self):
        out = self.run_turns(Turn(Call("Bash", command=f"touch {self.outside}/made",
                                       dangerouslyDisableSandbox=True)))
        self.assertIn("dangerouslyDisableSandbox", out[0])
        self.assertEqual(list(self.outside.iterdir()), [])

    def test_a_repository_does_not_turn_it_off(self):
        for name in (".keel/settings.json", ".keel/settings.local.json", ".claude/settings.json"):
            self.write(f"project/{name}", self.off)
        self.assertTrue(self.is_confined())

    def test_a_person_does(self):
        self.user_settings(self.off)
        self.assertFalse(self.is_confined())

    def test_a_repository_that_is_trusted_does(self):
        self.write("project/.keel/settings.json", self.off)
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertFalse(self.is_confined())

    def test_a_file_that_was_written_for_another_program_does_not(self):
        self.write("home/.claude/settings.json", self.off)
        self.assertTrue(self.is_confined())

    def test_a_model_does_not_by_writing_the_settings(self):
        self.run_bash(f"mkdir -p .keel ~/.keel; echo '{{\"sandbox\":{{\"enabled\":false}}}}' | "
                      f"tee .keel/settings.json ~/.keel/settings.json "
                      f"{self.keel_home}/settings.json", f"touch {self.outside}/made")
        self.assertEqual(list(self.outside.iterdir()), [])
        self.assertFalse((self.project / ".keel").exists())

    def test_where_it_cannot_be_built_the_command_does_not_run(self):
        out = self.run_bash(f"touch {self.outside}/made", cwd="/")
        self.assertIn("the workspace is the whole file system", out[0])
        self.assertIn("Only a person can let commands run without the sandbox", out[0])
        self.assertEqual(list(self.outside.iterdir()), [])

    def test_and_the_person_is_told_once_in_every_format(self):
        self.keel_home = self.project
        for arguments in ((), ("--output-format", "json"), ("--output-format", "stream-json")):
            with self.subTest(arguments):
                one = self.play(ANTHROPIC, self.bash("true"), self.bash("echo x"), Turn("Done."))
                result = self.run_agent(ANTHROPIC, one, "go", *arguments)
                self.assert_status(result, 0)
                self.assertEqual(result.err, "keel: a command did not run: the workspace is keel's "
                                 f"own directory, {self.project}; start keel in a project "
                                 "directory\n")

    def hook(self, **sandbox):
        path = self.outside / "made"
        path.unlink(missing_ok=True)
        self.user_settings({"sandbox": sandbox, "hooks": {"PreToolUse": [
            {"matcher": "", "hooks": [{"type": "command", "command": f"echo x >{path} || :"}]}]}})
        self.run_bash("true")
        return path.exists()

    def test_hooks_run_in_it_when_a_person_wants_that(self):
        self.assertTrue(self.hook())
        self.assertFalse(self.hook(hooks=True))


if __name__ == "__main__":
    scripted.keel_test.main()
