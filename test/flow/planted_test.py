"""planted_test.py - what commands leave behind for somebody to run later, over the life of agents: in
the background, when keel dies, and where several keels share a workspace.

The model is scripted and does what it should not. There are four ways to run it: as root and as an
ordinary user, with namespaces and where none can be made. Root has all four, and tries each test in
half of them: every group is tried in every way, which test in which is drawn with a seed that is
printed. KEEL_TEST_DEPTH=all, or the name of a group or a test, tries them in all."""
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import scripted
from abort_test import Pipe
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC
from scripted import keel_test

IS_ROOT = os.geteuid() == 0
HERE = pathlib.Path(__file__).parent
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
WITHOUT_NAMESPACES = [sys.executable, str(HERE / "no_namespaces.py")]

# A repository as git makes one, by hand: without namespaces git cannot.
PLAIN = ("repo() { mkdir -p $1/.git/objects $1/.git/refs $1/.git/hooks; "
         "echo 'ref: refs/heads/main' >$1/.git/HEAD; "
         "printf '[core]\\n\\trepositoryformatversion = 0\\n' >$1/.git/config; }; ")


# What a command can do to keep a way to a file, whatever is mounted over its name later.
HOLD = """
import array, ctypes, mmap, os, signal, socket, sys, threading
way, path = sys.argv[1:]
libc = ctypes.CDLL(None)

def name(flags=0):
    return os.open(path, os.O_PATH | flags)

def hold():
    if way == "a descriptor for writing":
        return os.open(path, os.O_WRONLY)
    if way == "a descriptor for reading":
        return os.open(path, os.O_RDONLY)
    if way == "a descriptor that only names it":
        return name()
    if way == "one that waits in a socket":
        pair = socket.socketpair()
        socket.send_fds(pair[0], [b"x"], [name()])
        return pair
    if way == "one in a socket that waits in a socket":
        inner, outer = socket.socketpair(), socket.socketpair()
        socket.send_fds(inner[0], [b"x"], [name()])
        socket.send_fds(outer[0], [b"x"], [inner[1].fileno()])
        inner[1].close()
        return inner, outer
    if way == "a mapping":
        with open(path, "r+") as file:
            return mmap.mmap(file.fileno(), 0)
    if way == "a second name":
        return os.link(path, path + "2")
    if way == "its directory":
        return os.chdir(path)
    if way == "a file in it":
        return os.open(path + "/file", os.O_PATH)
    raise ValueError(way)

if way.startswith("thread: "):
    way, ready = way[len("thread: "):], threading.Event()
    def run():
        assert libc.unshare(0x400) == 0  # CLONE_FILES
        held = hold()
        ready.set()
        signal.pause()
    threading.Thread(target=run, daemon=True).start()
    ready.wait()
elif way.startswith("vfork: "):
    way = way[len("vfork: "):]
    held = hold()
    if libc.syscall({"x86_64": 56, "aarch64": 220}[os.uname().machine], 0x4000 | 17, 0, 0, 0, 0) == 0:
        print(flush=True)
        signal.pause()
elif way.startswith("orphan: "):
    way = way[len("orphan: "):]
    if os.fork() == 0:
        os.setsid()
        held = hold()
        print(flush=True)
        signal.pause()
    signal.pause()
elif way.startswith("restless: "):
    way, me = way[len("restless: "):], os.getpid()
    held, other = hold(), os.fork()
    if other:
        print(flush=True)
    while True:
        os.kill(other or me, signal.SIGCONT)
else:
    held = hold()
print(flush=True)
signal.pause()
"""


# More descriptors than anybody looks at while all else waits.
MANY = """
import os, resource, signal
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
most = 5000 if most == resource.RLIM_INFINITY else min(most, 5000)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
n = sum(1 for _ in range(most - 100) if os.dup(0))
for _ in range(70000 // n):
    if os.fork() == 0:
        signal.pause()
print(flush=True)
signal.pause()
"""


class Bell(Pipe):
    """A pipe that commands write to one after the other: it has no end in between."""

    def __init__(self, path):
        super().__init__(path)
        os.close(self.fd)
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.poll = select.poll()
        self.poll.register(self.fd, select.POLLIN)


class PlantedTest(AgentTest):
    prefix = []  # keel is started through it
    is_user = False
    has_namespaces = True

    def setUp(self):
        super().setUp()
        self.n_scripts = 0
        self.evil = self.dir / "evil"
        subprocess.run(["git", "init", "-q", str(self.project)], check=True,
                       env=self.environment())
        self.before = self.picture()

    def start(self, *arguments, env=None, cwd=None, **streams):
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        self.hand_over()
        process = subprocess.Popen([*self.prefix, keel_test.KEEL, *arguments],
                                   env=self.environment(env), cwd=cwd or self.project, **streams)
        self.addCleanup(process.kill)  # one that hangs
        return process

    def await_line(self, process, line=b"\n"):
        """Reads this line of its output, and nothing behind it, which is for communicate()."""
        seen, out = b"", process.stdout.fileno()
        while seen != line and select.select([out], [], [], scripted.HANG_SECONDS)[0]:
            byte = os.read(out, 1)
            seen += byte
            if not byte or not line.startswith(seen):
                break
        if seen != line:
            process.kill()
            more, err = process.communicate(timeout=scripted.HANG_SECONDS)
            self.fail(f"it printed {seen + more} instead of {line}\n{err.decode()}")

    def hand_over(self):
        """Gives the files to whom keel runs as."""
        if self.is_user:
            subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)

    def picture(self):
        """What git would run or obey in the workspace's own repository."""
        git = self.project / ".git"
        return {str(path): path.read_text() for path in (git / "config", *git.glob("hooks/*"))
                if not path.name.endswith(".sample") and ".keel-untrusted" not in path.name}

    def bash(self, script, **more):
        """A turn that runs this. The gate does not see what is in the file."""
        self.n_scripts += 1
        path = self.project / f"script-{self.n_scripts}"
        path.write_text(script + "\n")
        return Turn(Call("Bash", command=f". {path}", **more))

    def run_turns(self, *turns):
        provider = self.play(ANTHROPIC, *turns, Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, "--wait-background", "0", "go")
        self.assert_status(self.result, 0)
        self.assertEqual(self.result.out, "Done.\n")
        return self.result

    def as_person(self, script):
        """Something that the person does afterwards, without a sandbox."""
        prefix = AS_USER if self.is_user else []
        subprocess.run([*prefix, "sh", "-c", script], cwd=self.project, check=False,
                       env={**self.environment(), "GIT_CONFIG_NOSYSTEM": "1"},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def assert_harmless(self, *directories):
        """git runs nothing in these."""
        self.hand_over()
        for directory in directories:
            self.as_person(f"cd {directory} && git -c user.name=A -c user.email=a@b.c "
                           "commit -q --allow-empty -m x; git status")
        self.assertFalse(self.evil.exists(), self.result)

    def evil_config(self, directory):
        """A line that makes git run something there."""
        return (f"printf '[core]\\n\\tfsmonitor = touch {self.evil}\\n' "
                f">>{directory}/.git/config; ")

    def evil_hook(self, directory):
        return (f"(umask 0; printf '#!/bin/sh\\ntouch {self.evil}\\n' "
                f">{directory}/.git/hooks/pre-commit); "
                f"cp --no-preserve=mode {directory}/.git/hooks/pre-commit x; "
                f"python3 -c \"import os; os.close(os.open('{directory}/.git/hooks/pre-commit2', "
                "os.O_CREAT | os.O_WRONLY, 0o777))\"; "
                f"cat x >{directory}/.git/hooks/pre-commit2; rm x; "
                f"mv {directory}/.git/hooks/pre-commit2 {directory}/.git/hooks/pre-commit; ")


class InTheBackground(PlantedTest):
    """Commands wait for each other at named pipes: the first to come blocks."""

    def setUp(self):
        super().setUp()
        for name in ("up", "made", "go", "planted"):
            os.mkfifo(self.project / name)

    def tell(self, name):
        return f"echo >{name}; "

    def wait(self, name):
        return f"read -r _ <{name}; "

    def test_a_repository_that_turns_bad_after_it_was_looked_at(self):
        self.run_turns(
            self.bash(PLAIN + "repo src; " + self.tell("made") + self.wait("go") +
                      self.evil_config("src") + self.evil_hook("src") + self.tell("planted") +
                      "exec sleep 1000",
                      run_in_background=True),
            self.bash(self.wait("made")),
            self.bash(self.tell("go") + self.wait("planted")))
        self.assert_harmless("src")
        self.assertIn("src/.git/config was created by the command", self.result.err)

    def test_one_that_turns_bad_when_nobody_looks_any_more(self):
        """The command in the background is the last one to end."""
        self.run_turns(
            self.bash(PLAIN + "repo src; " + self.tell("made") + self.wait("go") +
                      self.evil_hook("src") + self.tell("planted") + "exec sleep 1000",
                      run_in_background=True),
            self.bash(self.wait("made")), self.bash(self.tell("go")),
            self.bash(self.wait("planted")),
            Turn(Call("KillShell", shell_id="bash_1")))
        self.assert_harmless("src")
        self.assertIn("src/.git/hooks/pre-commit was created by the command", self.result.err)

    def test_one_that_another_command_has_made(self):
        """Made by one that has ended, and spoiled by one that began before."""
        self.run_turns(
            self.bash(self.tell("up") + self.wait("go") + self.evil_config("src") +
                      self.tell("planted") + "exec sleep 1000", run_in_background=True),
            self.bash(self.wait("up") + PLAIN + "repo src"), self.bash("true"),
            self.bash(self.tell("go") + self.wait("planted")))
        self.assert_harmless("src")

    def test_a_directory_that_becomes_a_repository_step_by_step(self):
        self.run_turns(
            self.bash("mkdir -p src/.git/objects src/.git/refs; " + self.tell("made") +
                      self.wait("go") +
                      "echo 'ref: refs/heads/x' >src/.git/HEAD; " + self.evil_config("src") +
                      self.tell("planted") + "exec sleep 1000", run_in_background=True),
            self.bash(self.wait("made")), self.bash("true"),
            self.bash(self.tell("go") + self.wait("planted")))
        self.assert_harmless("src")


    def test_what_went_aside_and_another_command_has_seen(self):
        """It was saved with what it held, so a rewind would put it there again."""
        (self.project / ".vscode").mkdir()
        (self.project / ".vscode/tasks.json").write_text("mine\n")
        self.run_turns(
            self.bash(PLAIN + self.wait("go") + "mkdir .claude; echo evil >.envrc; "
                      "echo evil >.claude/settings.json; echo evil >.vscode/tasks.json; "
                      "repo src; " + self.evil_config("src") + self.evil_hook("src") +
                      self.tell("planted") + "exec sleep 1000", run_in_background=True),
            self.bash(self.tell("go") + self.wait("planted") +
                      "for f in .envrc .claude/settings.json .vscode/tasks.json src/.git/config "
                      "src/.git/hooks/pre-commit; do echo more >>$f; done; echo made >other"))
        result = self.finish(self.start("session", "rewind", "--yes"))
        self.assert_status(result, 1)
        self.assertFalse((self.project / "other").exists(), result)
        for name in (".envrc", ".claude"):
            self.assertFalse((self.project / name).exists(), result)
            self.assertIn(f"/project/{name} was created by the command", result.err)
        self.assertEqual((self.project / ".vscode/tasks.json").read_text(), "mine\n")
        if (self.project / "src").exists():
            self.assert_harmless("src")

    def plant_for_a_rewind(self, *names):
        """A second command changes what the first one has made: so its content is saved."""
        self.run_turns(
            self.bash(self.wait("go") + "mkdir -p .claude; for f in " + " ".join(names) +
                      "; do echo evil >$f; done; " + self.tell("planted") + "exec sleep 1000",
                      run_in_background=True),
            self.bash(self.tell("go") + self.wait("planted") +
                      "for f in " + " ".join(names) + "; do echo more >>$f; done; echo >other"))

    def test_and_a_rewind_that_may_write_everywhere_does_not_put_it_back(self):
        names = (".envrc", ".claude/settings.json")
        self.plant_for_a_rewind(*names)
        result = self.finish(self.start("session", "rewind", "--yes", "--add-dir", "/"))
        self.assert_status(result, 1)
        for name in ("other", *names):
            self.assertFalse((self.project / name).exists(), result)

    def test_nor_what_keel_obeys_behind_a_link(self):
        """A directory of dotfiles is the workspace."""
        settings = self.keel_home / "settings.json"
        os.rename(settings, self.project / "mine.json")
        settings.symlink_to(self.project / "mine.json")
        (self.keel_home / "trust.json").symlink_to(self.project / "trusted.json")
        before = (self.project / "mine.json").read_text()
        self.plant_for_a_rewind("mine.json", "trusted.json")
        result = self.finish(self.start("session", "rewind", "--yes", "--force"))
        self.assert_status(result, 1)
        self.assertFalse((self.project / "other").exists(), result)
        self.assertFalse((self.project / "trusted.json").exists(), result)
        self.assertEqual((self.project / "mine.json").read_text(), before)


class WorkspaceInAnAddedDirectory(PlantedTest):
    """Without namespaces a command can put a link in the place of the workspace."""

    def setUp(self):
        super().setUp()
        self.above = self.dir / "projects"
        self.above.mkdir()
        os.rename(self.project, self.above / "ws")
        self.project = self.above / "ws"
        self.before = self.picture()
        for name in (".bashrc", ".claude/settings.json", ".keel/settings.json", ".envrc"):
            (self.project / name).parent.mkdir(exist_ok=True)
            (self.project / name).write_text("{}\n")
        (self.home / "sub").mkdir()
        self.hand_over()
        self.home_before = self.look_at_home()

    def look_at_home(self):
        return {str(path): path.read_bytes() if path.is_file() else None
                for path in self.home.rglob("*")}

    def test_nothing_is_put_where_a_link_in_its_place_leads(self):
        turns = (self.bash(f"cd {self.above} && mv ws was && ln -s {self.home} ws"),
                 Turn(Call("Write", file_path=str(self.project / "new"), content="evil\n")),
                 Turn(Call("Write", file_path="sub/new", content="evil\n")),
                 Turn(Call("Bash", command="echo evil >new; echo evil >.bashrc")),
                 self.bash("true"))
        provider = self.play(ANTHROPIC, *turns, Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, "--add-dir", str(self.above),
                                     "--allowed-tools", "Bash", "--", "go", mode="acceptEdits")
        self.assertEqual(self.look_at_home(), self.home_before, self.result)

    def test_what_else_was_planted_is_found_behind_it(self):
        subprocess.run(["git", "init", "-q", str(self.above / "other")], check=True,
                       env=self.environment())
        self.hand_over()
        script = (self.evil_hook(f"{self.above}/other") + self.evil_hook(".") +
                  f"cd {self.above} && mv ws was && ln -s {self.home} ws")
        provider = self.play(ANTHROPIC, self.bash(script), Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, "--add-dir", str(self.above), "go")
        self.assertFalse(self.project.is_symlink(), self.result)
        self.assertEqual(self.picture(), self.before)
        self.assert_harmless(".", self.above / "other")
        self.assertEqual(self.look_at_home(), self.home_before, self.result)

    def test_nor_where_one_in_the_place_of_a_directory_above_leads(self):
        """The workspace lies deeper, and there is one of its name in the home."""
        (self.home / "ws").mkdir()
        (self.above / "deep").mkdir()
        os.rename(self.project, self.above / "deep/ws")
        self.project = self.above / "deep/ws"
        self.hand_over()
        self.home_before = self.look_at_home()
        turns = (self.bash(f"cd {self.above} && mv deep was && ln -s {self.home} deep"),
                 Turn(Call("Write", file_path=str(self.project / "new"), content="evil\n")),
                 self.bash("echo evil >new"))
        provider = self.play(ANTHROPIC, *turns, Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, "--add-dir", str(self.above),
                                     "--allowed-tools", "Bash", "--", "go", mode="acceptEdits")
        self.assertEqual(self.look_at_home(), self.home_before, self.result)


class Planting(PlantedTest):
    """A command that plants all it can, says so, and waits."""

    def setUp(self):
        super().setUp()
        shutil.rmtree(self.project / ".git/info")
        self.names_before = self.names()
        self.pipe = Bell(self.project / "pipe")
        self.addCleanup(os.close, self.pipe.fd)

    def plant(self, then="exec sleep 1000"):
        return (PLAIN + "echo evil >.envrc; mkdir -p .claude; echo '{}' >.claude/settings.json; "
                "repo new; " + self.evil_config("new") + self.evil_hook("new") +
                self.evil_config(".") + self.evil_hook(".") +
                f"echo evil >.git/hooks/post-checkout; echo >{self.pipe.name}; {then}")

    def names(self):
        """What is in the repository, but for what the person's own git makes."""
        git = self.project / ".git"
        return {str(path.relative_to(git)) for path in (*git.glob("*"), *git.glob("info/*"))
                if ".keel-untrusted" not in path.name} - {
                    "index", "COMMIT_EDITMSG", "logs", "ORIG_HEAD"}

    def assert_clean(self):
        self.assertEqual(self.picture(), self.before)
        for name in (".envrc", ".claude", "new/.git/hooks/pre-commit"):
            self.assertFalse((self.project / name).exists(), f"{name}\n{self.result}")
        self.assert_harmless("new", ".")

    def assert_nothing_is_left(self):
        """No keel is there any more, and no command."""
        self.assertEqual(self.names(), self.names_before, self.result)

    def assert_told(self, result=None):
        for name in (".envrc", ".claude", "new/.git/config"):
            self.assertIn(f"/project/{name} was created by the command", (result or self.result).err)


class KeelDies(Planting):
    def kill(self, number, script=None):
        """keel dies while the command waits."""
        provider = self.play(ANTHROPIC, self.bash(script or self.plant()), Turn("Done."))
        process = self.start_agent(ANTHROPIC, provider, "go")
        self.pipe.wait()
        process.send_signal(number)
        self.result = self.finish(process)

    def next_keel(self):
        """One that runs no command."""
        self.result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Hello.")), "hi")
        self.assert_status(self.result, 0)
        self.assertEqual(self.result.out, "Hello.\n")

    def test_by_a_signal_that_it_hears(self):
        for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                shutil.rmtree(self.project / "new", ignore_errors=True)
                self.kill(number)
                self.assert_status(self.result, 128 + number)
                self.assert_told()
                self.assert_clean()
                self.assert_nothing_is_left()
        self.next_keel()
        self.assertEqual(self.result.err, "")

    def test_by_one_that_it_does_not(self):
        for number in (signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number):
                shutil.rmtree(self.project / "new", ignore_errors=True)
                self.kill(number)
                self.assertTrue((self.project / ".envrc").exists())
                self.next_keel()
                self.assertIn("an earlier keel died while a command ran in", self.result.err)
                self.assert_told()
                self.assert_clean()
                self.assert_nothing_is_left()
        self.next_keel()
        self.assertEqual(self.result.err, "")

    def test_while_a_command_does_nothing_of_that_kind(self):
        self.kill(signal.SIGKILL, f"echo >{self.pipe.name}; exec sleep 1000")
        self.next_keel()
        self.assertEqual(self.result.err, "")
        self.assert_clean()
        self.assert_nothing_is_left()

    def test_and_a_file_beside_those_that_are_protected_stays(self):
        self.kill(signal.SIGKILL, f"echo x >.git/info/exclude; echo >{self.pipe.name}; "
                  "exec sleep 1000")
        self.next_keel()
        self.assertEqual(self.result.err, "")
        self.assertEqual((self.project / ".git/info/exclude").read_text(), "x\n")

    def test_and_the_next_one_runs_a_command(self):
        self.kill(signal.SIGKILL)
        self.result = self.keel("sandbox", "--", "true")
        self.assert_status(self.result, 0)
        self.assert_told()
        self.assert_clean()
        self.assert_nothing_is_left()

    def test_and_the_next_one_is_started_below(self):
        (self.project / "sub").mkdir()
        self.kill(signal.SIGKILL)
        self.result = self.keel("sandbox", "--", "true", cwd=self.project / "sub")
        self.assert_told()
        self.assert_clean()
        self.assert_nothing_is_left()

    def test_between_commands(self):
        """What a person does afterwards is theirs."""
        asked, answer = threading.Event(), self.encode(ANTHROPIC, Turn([self.hold()]))

        def give(_request):
            asked.set()
            return answer
        provider = self.play(ANTHROPIC, self.bash("true"), give)
        process = self.start_agent(ANTHROPIC, provider, "go")
        self.assertTrue(asked.wait(scripted.HANG_SECONDS))
        process.kill()
        self.finish(process)
        (self.project / ".envrc").write_text("mine\n")
        self.next_keel()
        self.assertEqual(self.result.err, "")
        self.assertEqual((self.project / ".envrc").read_text(), "mine\n")
        self.assert_nothing_is_left()


class SeveralKeels(Planting):
    """Each in a workspace that they share; what one's command plants is never put back by another."""

    def setUp(self):
        super().setUp()
        self.numbers = iter(range(100))
        self.hand_over()

    def begin(self, script="", cwd=None, options=(), env=None):
        """A keel whose command runs, and ends when something comes from its pipe."""
        stop = (cwd or self.project) / f"stop-{next(self.numbers)}"
        os.mkfifo(stop)
        os.chmod(stop, 0o666)
        script = f"{script} echo ready; read -r _ <{stop}"
        process = subprocess.Popen(
            [*self.prefix, keel_test.KEEL, "sandbox", *options, "--", "bash", "-c", script],
            env=self.environment(env), cwd=cwd or self.project, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.close, process)
        self.await_line(process, b"ready\n")
        process.stop = stop
        return process

    @staticmethod
    def close(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()

    def end(self, process):
        with open(process.stop, "r+b", buffering=0) as stop:  # opens also if nobody reads any more
            stop.write(b"\n")
            self.result = self.finish(process)
        self.assert_status(self.result, 0)

    def planting(self):
        return self.plant(then="").replace(f"echo >{self.pipe.name}; ", "")

    def test_the_first_ends_first(self):
        one = self.begin(self.planting())
        two = self.begin()
        self.end(one)
        self.assert_told()
        self.assert_clean()
        self.end(two)
        self.assert_clean()
        self.assert_nothing_is_left()

    def test_the_first_ends_last(self):
        one = self.begin(self.planting())
        two = self.begin()
        self.end(two)
        self.assert_told()
        self.assert_clean()
        self.end(one)
        self.assert_clean()
        self.assert_nothing_is_left()

    def test_with_another_home(self):
        """It knows nothing of the first one's baseline: without namespaces it does not begin."""
        other = {"KEEL_HOME": str(self.dir / "other-home")}
        one = self.begin(self.planting())
        if not self.has_namespaces:
            two = self.finish(self.start("sandbox", "--", "true", env=other))
            self.assertNotEqual(two.status, 0)
            self.assertIn("a keel with another KEEL_HOME runs commands in", two.err)
        two = self.begin(env=other) if self.has_namespaces else None
        self.end(one)
        self.assert_told()
        if two:
            self.end(two)
        self.assert_clean()
        two = self.begin(env=other)
        self.end(two)
        self.assert_clean()

    def test_three_in_every_order(self):
        for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0)):
            with self.subTest(order):
                shutil.rmtree(self.project / "new", ignore_errors=True)
                keels = [self.begin(self.planting()), self.begin(), self.begin()]
                for number in order:
                    self.end(keels[number])
                    self.assert_clean()
                self.assert_nothing_is_left()

    def test_one_with_mounts_and_one_without(self):
        bare = ("--no-namespaces",)
        for first, second in ((bare, ()), ((), bare)):
            for order in ((0, 1), (1, 0)):
                with self.subTest((first, order)):
                    shutil.rmtree(self.project / "new", ignore_errors=True)
                    keels = [self.begin(self.planting() if first else "", options=first),
                             self.begin(self.planting() if second else "", options=second)]
                    for number in order:
                        self.end(keels[number])
                    self.assert_clean()
                    self.assert_nothing_is_left()
                self.assert_nothing_is_left()

    def test_one_comes_and_goes_while_another_runs(self):
        one = self.begin(self.planting())
        self.end(self.begin())
        self.end(self.begin())
        two = self.begin()
        self.end(one)
        self.end(two)
        self.assert_clean()
        self.assert_nothing_is_left()

    def test_the_first_is_killed(self):
        one = self.begin(self.planting())
        two = self.begin()
        one.kill()
        self.finish(one)
        self.end(two)
        self.assert_told()
        self.assert_clean()
        # Its supervisor may have outlived the second, which then leaves that to the next.
        self.assert_status(self.keel("sandbox", "--", "true"), 0)
        self.assert_nothing_is_left()

    def test_a_keel_below(self):
        """In a directory of the other's workspace, with a repository of its own."""
        sub = self.project / "sub"
        subprocess.run(["git", "init", "-q", str(sub)], check=True, env=self.environment())
        config = (sub / ".git/config").read_text()
        self.hand_over()
        one = self.begin(self.evil_config("sub") + self.evil_hook("sub"))
        two = self.begin(cwd=sub)
        self.end(one)
        self.end(two)
        self.assertEqual((sub / ".git/config").read_text(), config)
        self.assertFalse((sub / ".git/hooks/pre-commit").exists())
        self.assert_nothing_is_left()
        self.assertFalse((sub / ".git/modules").exists())

    def test_a_keel_above(self):
        sub = self.project / "sub"
        subprocess.run(["git", "init", "-q", str(sub)], check=True, env=self.environment())
        config = (sub / ".git/config").read_text()
        self.hand_over()
        one = self.begin(self.evil_config(".") + self.evil_hook("."), cwd=sub)
        two = self.begin()
        self.end(one)
        self.end(two)
        self.assertEqual((sub / ".git/config").read_text(), config)
        self.assertFalse((sub / ".git/hooks/pre-commit").exists())
        self.assert_nothing_is_left()
        self.assertFalse((sub / ".git/modules").exists())


class Replaced(PlantedTest):
    """A program outside of the sandbox puts something else where a mount protects or hides, while a
    command runs: the kernel takes the mount away, or lets it move along."""

    def setUp(self):
        super().setUp()
        self.process = None

    def begin(self, script):
        """It says that it runs, and goes on when the person has done something."""
        self.process = self.start("sandbox", "--", "sh", "-c", f"echo; read -r _; {script}",
                                  stdin=subprocess.PIPE)
        self.await_line(self.process)

    def start_python(self, script, *arguments, **streams):
        """The system's: one in a home that is not this one's cannot be read without namespaces."""
        return self.start("sandbox", "--", "/usr/bin/python3", "-c", script, *arguments, **streams)

    def go_on(self):
        out, err = self.process.communicate(b"\n", timeout=scripted.HANG_SECONDS)
        return out.decode(), err.decode()

    def when(self, is_open, then):
        """What a command does that looks whether it may, until it may not, and then tries. Without
        mounts nothing has to be covered, and what a look sees does not change."""
        if not self.has_namespaces:
            return then
        return (f"n=0; while {is_open} && [ $n -lt 1000000 ]; do n=$((n + 1)); done; {then}")


class ProtectedFileReplaced(Replaced):
    def stays_protected(self, how, path=".git/config"):
        self.begin(self.when(f"[ -w {path} ]", f"echo evil >>{path}; echo evil >x; mv -f x {path}; "
                             f"rm -f {path}; echo runs on"))
        self.as_person(how)
        replaced = (self.project / path).read_text()
        out, err = self.go_on()
        self.assertEqual((out, self.process.returncode), ("runs on\n", 0), err)
        self.assertEqual((self.project / path).read_text(), replaced, err)
        return err

    def test_by_git(self):
        err = self.stays_protected("git config user.name Person")
        self.assertIn("Person", (self.project / ".git/config").read_text())
        self.assertNotIn("keel-untrusted", err)

    def test_that_was_renamed_before(self):
        """As editors do. Then the mount moves along."""
        self.stays_protected("mv .git/config .git/old && cp .git/old .git/config")

    def test_that_was_removed_before(self):
        self.stays_protected("cp .git/config new && rm .git/config && mv new .git/config")

    def test_by_exchange(self):
        self.stays_protected("cp .git/config new && python3 -c 'import ctypes; ctypes.CDLL(None)."
                             "renameat2(-100, b\"new\", -100, b\".git/config\", 2)'")

    def test_directories_that_are_removed(self):
        """The kernel takes the mount away before the name, and takes its time in between."""
        for number in range(40):
            (self.project / f"sub{number}/.git/worktrees").mkdir(parents=True)
            for name in ("objects", "refs"):
                (self.project / f"sub{number}/.git" / name).mkdir()
            (self.project / f"sub{number}/.git/HEAD").write_text("ref: refs/heads/main\n")
        self.begin("echo runs on")
        self.as_person("ls -d sub*/.git/worktrees | xargs -n 1 -P 20 rmdir")
        self.assertEqual(list(self.project.glob("sub*/.git/worktrees")), [])
        out, err = self.go_on()
        self.assertEqual((out, self.process.returncode), ("runs on\n", 0), err)

    def test_again_and_again(self):
        self.stays_protected("for i in $(seq 50); do git config user.name $i; done")

    def test_while_several_commands_run(self):
        """Their supervisors look at the same file."""
        others = [self.start("sandbox", "--", "sh", "-c", "echo; read -r _; echo runs on",
                             stdin=subprocess.PIPE) for _ in range(3)]
        for other in others:
            self.await_line(other)
        self.stays_protected("for i in $(seq 20); do git config user.name $i; done")
        for other in others:
            out, err = other.communicate(b"\n", timeout=scripted.HANG_SECONDS)
            self.assertEqual(out, b"runs on\n", err)

    def test_where_nothing_can_be_watched(self):
        """Then it is found by the clock."""
        limit = "/proc/sys/user/max_inotify_instances"
        self.prefix = [*self.prefix, "unshare", "--user", "--map-root-user", "sh", "-c",
                       f'echo 0 >{limit} && exec "$@"', "-"]
        self.stays_protected("git config user.name Person")


class WhatCannotBeProtectedAgain(Replaced):
    def is_ended(self, how, script="echo; exec sleep 1000"):
        """When it has said something."""
        self.process = self.start("sandbox", "--", "sh", "-c", script)
        self.await_line(self.process)
        self.as_person(how)
        _, err = self.process.communicate(timeout=scripted.HANG_SECONDS)
        self.assertNotEqual(self.process.returncode, 0)
        self.assertIn(b"another program replaced something that is protected", err)
        self.result = err

    def test_a_directory(self):
        """A process may have it open already, and would work below the mount."""
        self.is_ended("mv .git/hooks old && mkdir .git/hooks")

    def test_a_directory_above(self):
        self.is_ended("mv .git old && cp -r old .git")

    def test_a_link(self):
        self.is_ended("cp .git/config c && ln -sf ../c .git/config")

    def holds(self, *ways, make, then):
        """A command that keeps a way to the new one is dead before it can use it."""
        for way in ways:
            with self.subTest(way):
                make()
                self.process = self.start_python(HOLD, way, "new")
                self.await_line(self.process)
                self.as_person(then)
                _, err = self.process.communicate(timeout=scripted.HANG_SECONDS)
                self.assertEqual(self.process.returncode, 128 + signal.SIGKILL, err)
                self.assertIn(b"another program replaced something that is protected", err)

    def make_file(self):
        (self.project / "new2").unlink(missing_ok=True)
        shutil.copy(self.project / ".git/config", self.project / "new")

    def test_a_file_that_the_command_has_a_way_to(self):
        named = "a descriptor that only names it"
        self.holds("a descriptor for writing", "a descriptor for reading", named,
                   "one that waits in a socket", "one in a socket that waits in a socket",
                   "a mapping", "a second name", f"thread: {named}", f"vfork: {named}",
                   f"orphan: {named}", f"restless: {named}",
                   make=self.make_file, then="mv new .git/config")

    def test_a_hidden_directory_that_the_command_has_a_way_to(self):
        def make():
            shutil.rmtree(self.project / "keys", ignore_errors=True)
            for name in ("keys", "new"):
                (self.project / name).mkdir()
                (self.project / name / "file").write_text("secret\n")

        self.user_settings({"permissions": {"deny": ["Read(keys)"]}})
        self.holds("a descriptor for reading", "a descriptor that only names it", "its directory",
                   "a file in it", "orphan: a file in it", make=make,
                   then="mv keys old; mv new keys; rm -r old")

    def test_a_file_that_a_command_may_hold_among_too_many_descriptors(self):
        self.process = self.start_python(MANY)
        self.await_line(self.process)
        self.as_person("git config user.name Person")
        _, err = self.process.communicate(timeout=scripted.HANG_SECONDS)
        self.assertEqual(self.process.returncode, 128 + signal.SIGKILL, err)
        self.assertIn(b"another program replaced something that is protected", err)

    def test_contents_that_a_command_wrote_before(self):
        """It has let go of the file, but git would run what is in it."""
        before = (self.project / ".git/config").read_text()
        self.make_file()
        self.is_ended("mv new .git/config",
                      self.evil_config(".").replace("./.git/config", "new") + "echo; sleep 1000")
        self.assertEqual((self.project / ".git/config").read_text(), before)
        self.assert_harmless(".")

    def test_contents_that_it_writes_as_soon_as_it_can(self):
        """It has the file open before, and closes it soon enough to be taken for an editor."""
        before = (self.project / ".git/config").read_text()
        for take_all in (False, True):
            with self.subTest(take_all):
                self.make_file()
                self.is_ended("mv new .git/config", f"""exec python3 -c '
import ctypes, os, time
if {take_all}:
    while ctypes.CDLL(None).inotify_init1(0) >= 0:
        pass
fd = os.open("new", os.O_WRONLY | os.O_APPEND)
inode = os.fstat(fd).st_ino
print(flush=True)
while os.stat(".git/config").st_ino != inode:
    pass
os.write(fd, b"[core]\\n\\tfsmonitor = touch {self.evil}\\n")
os.close(fd)
time.sleep(1000)'
""")
                self.assertEqual((self.project / ".git/config").read_text(), before)
                self.assert_harmless(".")

    def test_a_model_is_told(self):
        pipe = Bell(self.project / "pipe")
        self.addCleanup(os.close, pipe.fd)
        provider = self.play(ANTHROPIC, self.bash("echo >pipe; exec sleep 1000"), Turn("Done."))
        process = self.start_agent(ANTHROPIC, provider, "go")
        pipe.wait()
        self.as_person("mv .git/hooks old && mkdir .git/hooks")
        self.result = self.finish(process)
        self.assert_status(self.result, 0)
        self.assertIn("keel ended the command: another program replaced",
                      str(provider.requests[-1].body))


class TheTreeStandsStill(Replaced):
    """While a place is covered; those who see it do not notice."""

    def test_and_those_that_were_stopped_before_stay_so(self):
        state = "sed 's/.*) //; s/ .*//' /proc/$1/stat"
        self.begin(f"state() {{ {state}; }}; sleep 1000 & running=$!; sleep 1000 & stopped=$!; "
                   "kill -STOP $stopped; while [ $(state $stopped) != T ]; do :; done; echo; "
                   "read -r _; while [ -w .git/config ]; do :; done; "
                   "while [ $(state $running) = T ]; do :; done; "
                   "echo $(state $running) $(state $stopped); kill -KILL $running $stopped")
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.await_line(self.process)
        self.as_person("git config user.name Person")
        out, err = self.go_on()
        self.assertRegex(out, "^[RS] T\n$", err)

    def test_and_a_process_that_waits_for_a_vfork_runs_on(self):
        """It cannot be stopped while it waits, and makes nothing of its own."""
        self.process = self.start_python("""
import ctypes, os, sys
libc = ctypes.CDLL(None)
call = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
if libc.syscall(call, 0x4000 | 17, 0, 0, 0, 0) == 0:
    print(flush=True)
    sys.stdin.readline()
    os._exit(0)
print("runs on")
""", stdin=subprocess.PIPE)
        self.await_line(self.process)
        self.as_person("git config user.name Person")
        out, err = self.go_on()
        self.assertEqual((out, self.process.returncode), ("runs on\n", 0), err)

    def test_and_an_editor_that_keeps_the_file_open_does_no_harm(self):
        """It is the person's, outside of the sandbox."""
        self.begin(self.when("[ -w .git/config ]", "echo evil >>.git/config; echo runs on"))
        shutil.copy(self.project / ".git/config", self.project / "new")
        self.hand_over()
        with open(self.project / "new", "a"):
            self.as_person("mv new .git/config")
            out, err = self.go_on()
        self.assertEqual(out, "runs on\n", err)
        self.assertNotIn("evil", (self.project / ".git/config").read_text())


class HiddenFileReplaced(Replaced):
    def test_stays_hidden(self):
        (self.project / "key").write_text("old\n")
        self.user_settings({"permissions": {"deny": ["Read(key)"]}})
        self.begin(self.when("[ -s key ]", "cat key; echo runs on"))
        self.as_person("echo secret >new && mv new key")
        out, err = self.go_on()
        self.assertEqual(out, "runs on\n", err)


class FirstLogin(Replaced):
    """The person puts credentials where there were none, while a command runs."""

    LOGIN = ("mkdir -p ~/.aws ~/.config/gh && echo secret >~/.aws/credentials && "
             "echo secret >~/n && mv ~/n ~/.netrc && echo secret >~/.config/gh/hosts.yml")
    READ = "cat ~/.aws/credentials ~/.netrc ~/.config/gh/hosts.yml; "

    def setUp(self):
        super().setUp()
        for name in (".aws", ".netrc", ".config"):
            self.assertFalse((self.home / name).exists())

    def test_is_not_seen_by_a_command_that_runs(self):
        for has_config in (False, True):
            with self.subTest(has_config):
                if has_config:
                    self.as_person("rm -rf ~/.aws ~/.netrc ~/.config; mkdir -p ~/.config/other")
                self.begin(self.READ + "echo runs on")
                self.as_person(self.LOGIN)
                out, err = self.go_on()
                self.assertEqual((out, self.process.returncode), ("runs on\n", 0), err)

    def test_nor_by_one_that_waits_for_it(self):
        """It opens the directory as soon as that is there, and looks into it later."""
        self.process = self.start_python("""
import os, sys
home = os.path.expanduser("~/")
print(flush=True)
while True:
    try:
        fd = os.open(home + ".aws", os.O_PATH | os.O_DIRECTORY)
        break
    except OSError:
        pass
sys.stdin.readline()
for path, at in (("credentials", fd), (home + ".netrc", None)):
    try:
        print(open(os.open(path, os.O_RDONLY, dir_fd=at)).read())
    except OSError as e:
        print(e.strerror)
""", stdin=subprocess.PIPE)
        self.await_line(self.process)
        self.as_person(self.LOGIN)
        out, err = self.go_on()
        self.assertNotIn("secret", out, err)

    def test_nor_by_the_next_one(self):
        self.as_person(self.LOGIN)
        self.begin(self.READ + "echo runs on")
        self.assertEqual(self.go_on()[0], "runs on\n")

    def test_and_other_new_files_are_seen_by_the_next_one(self):
        def give(_request):
            self.as_person("echo note >~/note; mkdir ~/notes; echo more >~/notes/note")
            return answer
        answer = self.encode(ANTHROPIC, self.bash("cat ~/note ~/notes/note ~/old"))
        (self.home / "old").write_text("old\n")
        provider = self.play(ANTHROPIC, self.bash("cat ~/old"), give, Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, "go")
        self.assertIn("note\\nmore\\nold\\n", provider.requests[-1].body.decode())

    def test_keels_own_home_is_hidden_from_the_first_command(self):
        keel_home = self.home / ".keel-first"
        self.hand_over()
        process = self.start("sandbox", "--", "find", str(keel_home), "-type", "f",
                             env={"KEEL_HOME": str(keel_home)})
        out, err = process.communicate(timeout=scripted.HANG_SECONDS)
        self.assertEqual(out, b"", err)
        self.assertTrue(keel_home.exists())


# From here the ways of a group's tests are counted; None: each is tried in all of them.
FIRST = (keel_test.sample(range(4), 1)[0] if IS_ROOT and len(sys.argv) == 1 and
         os.environ.get("KEEL_TEST_DEPTH") != "all" else None)


def left_out(case, number, n_ways):
    """The tests that this way leaves to others: half of them."""
    tests = unittest.TestLoader().getTestCaseNames(case)
    if FIRST is None or len(tests) < 3:  # fewer would not be tried in every way
        return []
    return [test for i, test in enumerate(tests) if (FIRST + number + i) % n_ways >= n_ways // 2]


def ways(*cases, only_mounts=False):
    """Every case in every way that this machine and this user have."""
    names = [("", False, True), ("AsUser", True, True)]
    if not only_mounts:
        names += [("Confined", False, False), ("AsConfinedUser", True, False)]
    for case in cases:
        for number, (name, is_user, has_namespaces) in enumerate(names):
            prefix = ([] if has_namespaces else WITHOUT_NAMESPACES) + (AS_USER if is_user else [])
            made = type(case.__name__ + name, (case,), {
                "prefix": prefix, "is_user": is_user, "has_namespaces": has_namespaces,
                "__doc__": case.__doc__,
                **dict.fromkeys(left_out(case, number, len(names)))})
            if is_user and not (IS_ROOT and shutil.which("setpriv")):
                made = unittest.skip("only root can be others")(made)
            yield made


for way in (*ways(InTheBackground, WorkspaceInAnAddedDirectory, KeelDies, SeveralKeels,
                  HiddenFileReplaced, FirstLogin),
            *ways(ProtectedFileReplaced, WhatCannotBeProtectedAgain, TheTreeStandsStill,
                  only_mounts=True)):
    globals()[way.__name__] = way
del way

if __name__ == "__main__":
    scripted.keel_test.main()
