"""look_test.py - commands that only look: they run without a question, change nothing, and see no
more than Read shows.

As root the suite runs four times: as root and as an ordinary user, with namespaces and where none
can be made."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, keel_test

IS_ROOT = os.geteuid() == 0
HERE = pathlib.Path(__file__).parent
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
WITHOUT_NAMESPACES = [sys.executable, str(HERE / "no_namespaces.py")]
SECRET = "SECRET-4711"
MODES = ("plan", "default", "acceptEdits", "bypassPermissions")

# A line, and what the model must read. None: the program may be missing here.
LINES = {
    "ls": "story.txt",
    "ls -la src/*.c": "main.c",
    "cat story.txt": "once upon a time",
    "cat < story.txt | head -n 1": "once upon a time",
    "head -1 story.txt; tail -n 1 story.txt": "the end",
    "wc -l story.txt": "3 story.txt",
    "grep -rn upon .": "story.txt:1:once upon",
    "grep -c '/api' story.txt || echo none": "none",
    "find . -name '*.c' -type f": "./src/main.c",
    "find . -name '*.c' -exec grep -l main {} +": "./src/main.c",
    "find . -name '*.c' | xargs wc -l": "src/main.c",
    "for f in src/*.c; do wc -l \"$f\"; done": "src/main.c",
    "cd src && pwd && cat ../story.txt; cd ..": "/src\nonce upon",
    "sed -n '1,2p' story.txt": "once upon",
    "awk '{print $2}' story.txt": "upon",
    "cut -d ' ' -f 2 story.txt | sort | uniq -c": "upon",
    "stat -c %s story.txt": "",
    "du -s .": "",
    "diff story.txt src/main.c || true": "once upon",
    "cmp story.txt story.txt && echo same": "same",
    "md5sum story.txt": "story.txt",
    "readlink -f story.txt": "story.txt",
    "test -f story.txt && echo there": "there",
    "if [ -d src ]; then echo yes; fi": "yes",
    "echo $((1 + 2)) $(cat story.txt | wc -l)": "3 3",
    "printf '%s\\n' hello": "hello",
    "which cat": "/cat",
    "type cd": "cd is a shell builtin",
    "command -v ls": "ls",
    "uname; id -u; whoami || true; date +%Y; nproc; pwd": "Linux",
    "git status --short": "?? story.txt",
    "git log --oneline": "first",
    "git show HEAD --stat": "main.c",
    "git diff HEAD": "+more",
    "git branch -a": "main",
    "git tag": "v1",
    "git remote -v": "",
    "git ls-files": "src/main.c",
    "git rev-parse HEAD": "",
    "git blame src/main.c": "int main",
    "git grep main": "src/main.c:int main",
    "git -C src log --oneline -1": "first",
    "cat /etc/passwd | grep -c root": "1",
    "ls /usr/bin | head -n 3": "",
    "cat missing 2>/dev/null || echo gone": "gone",
    "tr a-z A-Z < story.txt": "ONCE UPON",
    "env | grep -c PATH": "1",
    "git --version": "git version",
    "bash --version": "GNU bash",
    "git log -m -p": "int main",
    "timeout 5 cat story.txt": "once upon",
}


class LookTest(AgentTest):
    prefix = []  # keel is started through it
    is_user = False

    def setUp(self):
        super().setUp()
        (self.home / "notes").write_text(SECRET + "\n")
        (self.project / "src").mkdir()
        (self.project / "src/main.c").write_text("int main(void) { return 0; }\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", "src")
        self.git("commit", "-q", "-m", "first")
        self.git("tag", "v1")
        with (self.project / "src/main.c").open("a") as source:
            source.write("more\n")
        (self.project / "story.txt").write_text("once upon a time\nthere was\nthe end\n")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments],
                       cwd=self.project, env=self.environment(), check=True)

    def start(self, *arguments, env=None, cwd=None, **streams):
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        if self.is_user:
            subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)
        return subprocess.Popen([*self.prefix, keel_test.KEEL, *arguments],
                                env=self.environment(env), cwd=cwd or self.project, **streams)

    def run_lines(self, *lines, arguments=(), mode="default", **run):
        """What the model read of these, each in a call of its own."""
        calls = [Call("Bash", command=line) for line in lines]
        provider = self.play(ANTHROPIC, *[Turn(call) for call in calls], Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, *arguments, "go", mode=mode, **run)
        self.assert_status(self.result, 0)
        parts = [part for message in provider.requests[-1].json["messages"]
                 if isinstance(message["content"], list) for part in message["content"]]
        return [part["content"] if isinstance(part["content"], str) else part["content"][0]["text"]
                for part in parts if part["type"] == "tool_result"]

    def files(self):
        """All that is there, with its time and what is in it."""
        return {str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
                for path in self.dir.rglob("*") if self.keel_home not in (path, *path.parents)}

    def assert_asked(self, result):
        self.assertTrue(result.startswith("Permission denied"), result)
        self.assertNotIn(SECRET, result)


class Looking(LookTest):
    def test_every_command_that_only_looks_runs_unasked_and_works(self):
        before = self.files()
        results = self.run_lines(*LINES)
        for (line, wanted), result in zip(LINES.items(), results):
            with self.subTest(line):
                self.assertFalse(result.startswith(("Permission denied", "Exit code")), result)
                self.assertIn(wanted, result)
        self.assertEqual(len(results), len(LINES))
        self.assertEqual({path: seen[1] for path, seen in self.files().items()},
                         {path: seen[1] for path, seen in before.items()})

    def test_it_does_in_every_mode(self):
        for mode in MODES:
            with self.subTest(mode):
                self.assertIn("story.txt", self.run_lines("ls", mode=mode)[0])

    def test_what_lies_outside_is_asked_about(self):
        os.symlink(self.home / "notes", self.project / "link")
        for result in self.run_lines(
                "cat ~/notes", f"cat {self.home}/notes", "cat $HOME/notes", "cat ../home/notes",
                "cat link", "cd .. && ls", "cat < ~/notes", f"grep -r SECRET {self.home}",
                f"grep --file={self.home}/notes x", "ls /", "ls ~root", "cd; ls",
                f"find {self.dir} -name notes", "wc -l ~/*"):
            self.assert_asked(result)

    def test_what_writes_objects_is_asked_about(self):
        """A merge that is made again; not where the repository says that every one is."""
        self.git("checkout", "-q", "-b", "side", "HEAD")
        self.git("commit", "-q", "--allow-empty", "-m", "side")
        self.git("checkout", "-q", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "other")
        self.git("merge", "-q", "side", "-m", "merged")
        self.git("config", "log.diffMerges", "remerge")
        results = self.run_lines("git log --remerge-diff", "git show --diff-merges=r",
                                 "git log -m -p -1")
        self.assert_asked(results[0])
        self.assert_asked(results[1])
        self.assertIn("merged", results[2])
        self.assertNotIn("Exit code", results[2])

    def test_what_is_not_named_plainly_is_not_seen(self):
        os.symlink(self.home / "notes", self.project / "link")
        os.symlink(self.home, self.project / "linked")
        lines = ["cat $(echo ~/notes)", "cat lin*", "for f in link; do cat $f; done",
                 "cat linked*/notes", "find -L . -name notes -exec cat {} +",
                 f"echo {self.home}/notes | xargs cat", "grep -R SECRET . || true",
                 f"echo {self.home}/notes | while read -r f; do cat $f; done"]
        results = self.run_lines(*lines)
        for line, result in zip(lines, results):
            with self.subTest(line):
                self.assertNotIn(SECRET, result)
                self.assertNotIn("Permission denied.", result)
        self.assertIn("names the path itself", results[0])

    def test_a_missing_file_of_the_workspace_is_no_matter_of_the_sandbox(self):
        for result in self.run_lines("cat missing.txt", "ls nodir"):
            self.assertIn("No such file", result)
            self.assertNotIn("only looks", result)

    def make_public_place(self):
        """A directory of /opt with files that only root and the person's group may read."""
        if not IS_ROOT:
            self.skipTest("only root can put files into /opt")
        group = 65534 if self.is_user else 0
        place = pathlib.Path(tempfile.mkdtemp(prefix="keel-look-", dir="/opt"))
        self.addCleanup(shutil.rmtree, place)
        place.chmod(0o755)
        (place / "open").write_text("for all\n")
        for name in ("closed", "deep/er/closed", "group/open"):
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET + "\n")
            path.chmod(0o640 if path.name == "closed" else 0o644)
            os.chown(path, 0, group)
        for i in range(20):
            path = place / f"many/{i}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(SECRET + "\n")
            path.chmod(0o640)
            os.chown(path, 0, group)
        os.chown(place / "group", 0, group)
        (place / "group").chmod(0o750)
        return place

    def test_what_only_the_person_s_group_may_read_in_a_public_place_is_not_seen(self):
        place = self.make_public_place()
        files = [place / name for name in ("closed", "deep/er/closed", "group/open", "many/7")]
        for path in files:
            seen = subprocess.run([*(AS_USER if self.is_user else []), "cat", path],
                                  stdout=subprocess.PIPE, check=True)
            self.assertIn(SECRET.encode(), seen.stdout)
        lines = [f"cat {place}/*", f"grep -r . {place} || true", f"cat {place}/*/*/closed",
                 f"cat $(echo {place})/closed", f"for d in {place}; do cat $d/*/*; done",
                 f"cat $(echo {place})/group/open $(echo {place})/many/7",
                 f"find {place} -type f -exec cat {{}} +"]
        results = self.run_lines(f"cat {place}/open", *lines)
        self.assertIn("for all", results[0])
        for line, result in zip(lines, results[1:]):
            with self.subTest(line):
                self.assertNotIn(SECRET, result)
                self.assertNotIn("Permission denied.", result)
        for result in self.run_lines(*(f"cat {path}" for path in files)):
            self.assert_asked(result)

    def test_a_workspace_in_a_public_place_is_seen_whatever_its_modes(self):
        place = self.make_public_place()
        subprocess.run(["chown", "-R", "65534:65534" if self.is_user else "0:0", place], check=True)
        results = self.run_lines("cat closed", "cat */er/closed", "cat many/7", cwd=place / ".")
        for result in results:
            self.assertIn(SECRET, result)

    def test_a_workspace_in_the_home_is_seen_and_the_home_is_not(self):
        (self.dir / "notes").write_text(SECRET)
        results = self.run_lines("ls", "git log --oneline", "cat $(echo ../notes)",
                                 "ls $(dirname $PWD)", "cat ../notes",
                                 env={"HOME": str(self.dir)})
        self.assertIn("story.txt", results[0])
        self.assertIn("first", results[1])
        self.assertNotIn(SECRET, results[2])
        self.assertNotIn("notes", results[3])
        self.assert_asked(results[4])

    def test_an_added_directory_is_seen(self):
        added = self.dir / "added"
        added.mkdir()
        (added / "page").write_text("in it\n")
        results = self.run_lines(f"cat {added}/page", f"touch {added}/new",
                                 arguments=["--add-dir", str(added)])
        self.assertIn("in it", results[0])
        self.assert_asked(results[1])

    def test_a_deny_rule_for_a_file_holds(self):
        (self.project / ".env").write_text(SECRET)
        self.user_settings({"permissions": {"deny": ["Read(.env)"]}})
        for result in self.run_lines("cat .e*", "grep -r SECRET . || true", "cat $(echo .env)"):
            self.assertNotIn(SECRET, result)

    def test_what_a_command_left_in_its_tmpdir_is_seen(self):
        results = self.run_lines("echo kept > $TMPDIR/x", "cat $TMPDIR/x",
                                 mode="bypassPermissions")
        self.assertIn("kept", results[1])


class Mistakes(LookTest):
    """A command of the table that does something else after all changes nothing."""

    def plant(self, *configuration):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.places = [self.project, self.home, self.dir]
        places = " ".join(str(place) for place in self.places)
        (self.project / "driver").write_text(
            "#!/bin/bash\n"
            "echo CONVERTED\n"
            f"for place in {places} /tmp /var/tmp \"$TMPDIR\"; do\n"
            "    (echo EVIL > $place/keel-look-evil) 2>/dev/null && echo WROTE $place\n"
            "done\n"
            f"mv {self.project}/story.txt {self.project}/moved 2>/dev/null && echo MOVED\n"
            f"cat {self.home}/notes 2>/dev/null\n"
            f"(echo >/dev/tcp/127.0.0.1/{listener.getsockname()[1]}) 2>/dev/null && echo NETWORK\n"
            "exit 0\n")
        (self.project / "driver").chmod(0o755)
        with (self.project / ".git/config").open("a") as config:
            config.write("\n".join(configuration) + "\n")

    def test_the_program_that_is_planted_does_all_that_where_it_can(self):
        self.plant()
        said = subprocess.run([self.project / "driver"], env={"TMPDIR": str(self.dir)},
                              stdout=subprocess.PIPE, check=True).stdout.decode()
        for place in ("/tmp", "/var/tmp"):
            os.unlink(f"{place}/keel-look-evil")
        for word in ("CONVERTED", "WROTE", "MOVED", "NETWORK", SECRET):
            self.assertIn(word, said)

    def assert_harmless(self, result):
        for word in ("WROTE", "MOVED", "NETWORK", SECRET):
            self.assertNotIn(word, result)
        self.assertTrue((self.project / "story.txt").exists())
        for place in self.places:
            self.assertFalse((place / "keel-look-evil").exists())

    def test_a_program_that_a_repository_names_changes_nothing(self):
        self.plant('[filter "c"]', "\tclean = ./driver")
        (self.project / ".gitattributes").write_text("*.c filter=c\n")
        before = self.files()
        result = self.run_lines("git diff")[0]
        self.assertIn("CONVERTED", result)
        self.assert_harmless(result)
        self.assertEqual(self.files(), before)

    def test_a_driver_for_diffs_changes_nothing(self):
        """It finds no place for temporary files."""
        self.plant('[diff "c"]', "\ttextconv = ./driver")
        (self.project / ".gitattributes").write_text("*.c diff=c\n")
        self.assert_harmless(self.run_lines("git diff")[0])
        self.assertIn("+more", self.run_lines("git diff --no-textconv")[0])

    def test_a_monitor_that_a_repository_names_is_not_started(self):
        self.plant("[core]", "\tfsmonitor = ./driver")
        result = self.run_lines("git status")[0]
        self.assertIn("story.txt", result)
        self.assertNotIn("CONVERTED", result)
        self.assert_harmless(result)

    def test_a_function_of_the_environment_does_not_replace_a_command(self):
        result = self.run_lines("ls", env={"BASH_FUNC_ls%%": "() { echo CONVERTED; }"})[0]
        self.assertIn("story.txt", result)
        self.assertNotIn("CONVERTED", result)

    def test_a_program_in_the_workspace_is_asked_about(self):
        self.plant()
        shutil.copy(self.project / "driver", self.project / "ls")
        path = f"{self.project}:{os.environ['PATH']}"
        self.assert_asked(self.run_lines("ls", env={"PATH": path})[0])

    def test_a_program_in_the_home_is_asked_about(self):
        shutil.copy("/bin/true", self.home / "node")
        path = f"{self.home}:{os.environ['PATH']}"
        for result in self.run_lines("node --version", "which node", "command -v node",
                                     env={"PATH": path}):
            self.assert_asked(result)


class Choices(LookTest):
    def test_deny_and_ask_rules_win(self):
        for kind in ("deny", "ask"):
            with self.subTest(kind):
                self.user_settings({"permissions": {kind: ["Bash(git log *)"]}})
                results = self.run_lines("git log", "ls; git log -1", "git status")
                self.assert_asked(results[0])
                self.assert_asked(results[1])
                self.assertIn("story.txt", results[2])

    def test_a_setting_switches_it_off(self):
        self.user_settings({"permissions": {"lookingCommands": "ask"}})
        self.assert_asked(self.run_lines("ls")[0])

    def test_without_a_sandbox_it_asks(self):
        self.user_settings({"sandbox": {"enabled": False},
                            "permissions": {"sandboxedCommands": "auto"}})
        for result in self.run_lines("ls", "touch made"):
            self.assert_asked(result)
        self.assertFalse((self.project / "made").exists())

    def test_all_commands_run_unasked_in_the_sandbox_where_the_person_wants_it(self):
        self.user_settings({"permissions": {"sandboxedCommands": "auto",
                                            "deny": ["Bash(rm *)"], "ask": ["Bash(mv *)"]}})
        results = self.run_lines("touch made", "rm made", "mv made there",
                                 f"touch {self.home}/made || echo confined")
        self.assertTrue((self.project / "made").exists())
        self.assert_asked(results[1])
        self.assert_asked(results[2])
        self.assertIn("confined", results[3])
        self.assertFalse((self.home / "made").exists())

    def test_plan_mode_stays_what_it_is(self):
        self.user_settings({"permissions": {"sandboxedCommands": "auto"}})
        self.assert_asked(self.run_lines("touch made", mode="plan")[0])
        self.assertFalse((self.project / "made").exists())

    def test_a_project_does_not_choose_it(self):
        (self.project / ".keel").mkdir()
        self.write("project/.keel/settings.json", {"permissions": {"sandboxedCommands": "auto"}})
        self.assert_asked(self.run_lines("touch made")[0])
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assert_asked(self.run_lines("touch made")[0])
        self.assertFalse((self.project / "made").exists())

    def test_what_the_person_allows_runs_as_usual(self):
        result = self.run_lines(f"cat {self.home}/notes",
                                arguments=["--allowed-tools", "Bash(cat *)"])[0]
        self.assertIn(SECRET, result)

    def test_in_the_background_it_asks(self):
        provider = self.play(ANTHROPIC,
                             Turn(Call("Bash", command="cat story.txt", run_in_background=True)),
                             Turn("Done."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "go", mode="default"), 0)
        self.assertIn("Permission denied", provider.requests[-1].body.decode())


class WithoutBash(LookTest):
    """Another shell reads lines otherwise, so nothing about them is sure."""

    LINES = ("[[ a || /usr/bin/touch pwned1 ]]; ls .", "ls $'\\'; /usr/bin/touch pwned2 #'",
             "(( /usr/bin/touch pwned3 )); ls .", "ls")

    def setUp(self):
        super().setUp()
        self.tools = self.project / "tools"
        self.tools.mkdir()
        for name in ("ls", "cat", "sh"):
            os.symlink(shutil.which(name), self.tools / name)

    def run_without(self, *lines, **more):
        return self.run_lines(*lines, env={"PATH": str(self.tools)}, **more)

    def test_rules_with_a_star_allow_nothing(self):
        for result in self.run_without(*self.LINES, arguments=["--allowed-tools", "Bash(ls *)"]):
            self.assert_asked(result)
        self.assertEqual([path.name for path in self.project.glob("pwned*")], [])

    def test_nor_where_bash_is_another_shell(self):
        for give in (os.symlink, shutil.copy):
            with self.subTest(give.__name__):
                give(shutil.which("dash") or shutil.which("sh"), self.tools / "bash")
                for result in self.run_without(*self.LINES,
                                               arguments=["--allowed-tools", "Bash(ls *)"]):
                    self.assert_asked(result)
                self.assertEqual([path.name for path in self.project.glob("pwned*")], [])
                (self.tools / "bash").unlink()

    def test_the_line_itself_and_all_of_bash_can_be_allowed(self):
        for rule in ("Bash(ls .)", "Bash"):
            result = self.run_without("ls .", arguments=["--allowed-tools", rule])[0]
            self.assertIn("story.txt", result)

    def test_a_deny_rule_makes_it_ask(self):
        self.user_settings({"permissions": {"deny": ["Bash(curl *)"]}})
        self.assert_asked(self.run_without("ls .", mode="bypassPermissions")[0])
        self.assertIn("story.txt", self.run_lines("ls .", mode="bypassPermissions")[0])


def ways(*cases):
    """Every case in every way that this machine and this user have."""
    for case in cases:
        for name, is_user, has_namespaces in (
                ("", False, True), ("AsUser", True, True), ("Confined", False, False),
                ("AsConfinedUser", True, False)):
            prefix = ([] if has_namespaces else WITHOUT_NAMESPACES) + (AS_USER if is_user else [])
            made = type(case.__name__ + name, (case,), {
                "prefix": prefix, "is_user": is_user, "__doc__": case.__doc__})
            if is_user and not (IS_ROOT and shutil.which("setpriv")):
                made = unittest.skip("only root can be others")(made)
            yield made


for way in ways(Looking, Mistakes):
    globals()[way.__name__] = way
del way

if __name__ == "__main__":
    scripted.keel_test.main()
