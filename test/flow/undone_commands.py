"""undone_commands.py - real commands that change files, undone by `keel session rewind`."""
import os
import pathlib
import signal
import stat
import subprocess
import sys
import unittest

import scripted
from agent import Call, Turn
from scripted import ANTHROPIC

IS_ROOT = os.geteuid() == 0
NOBODY = 65534
WITHOUT_NAMESPACES = [sys.executable, str(pathlib.Path(__file__).parent / "no_namespaces.py")]


def describe(top):
    """Everything below, with owners, extended attributes and files that have several names;
    directories that may not be entered are entered all the same."""
    found, first = {}, {}

    def enter(directory):
        mode = stat.S_IMODE(os.stat(directory).st_mode)
        os.chmod(directory, mode | 0o700)
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name)
            st = os.lstat(path)
            what = [stat.S_IFMT(st.st_mode), stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid]
            if stat.S_ISLNK(st.st_mode):
                what.append(os.readlink(path))
            elif stat.S_ISREG(st.st_mode):
                what.append(read(path, st))
                what.append(first.setdefault(st.st_ino, path) if st.st_nlink > 1 else None)
            if not stat.S_ISLNK(st.st_mode):
                what.append({name: attribute(path, name) for name in os.listxattr(path)
                             if name.startswith(("user.", "system."))})
            found[os.path.relpath(path, os.fsencode(str(top)))] = what
            if stat.S_ISDIR(st.st_mode):
                enter(path)
        os.chmod(directory, mode)

    def attribute(path, name):
        try:
            return os.getxattr(path, name)
        except PermissionError:  # it belongs to a file that may not be read
            return None

    def read(path, st):
        if not st.st_mode & 0o400:
            os.chmod(path, 0o400)
        with open(path, "rb") as file:
            content = file.read()
        os.chmod(path, stat.S_IMODE(st.st_mode))
        return content

    enter(os.fsencode(str(top)))
    return found


class UndoneCommands:
    """What tests of it share; `user` is who keel runs as, `prefix` what it runs under."""

    user = None
    prefix = []
    inside = []  # the same, as that user

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.user is None:
            return
        if not IS_ROOT:
            raise unittest.SkipTest("only root can be others")
        try:
            subprocess.run([scripted.keel_test.KEEL, "--version"], user=cls.user, check=True,
                           stdout=subprocess.DEVNULL)
        except (PermissionError, subprocess.CalledProcessError):
            raise unittest.SkipTest("others may not run this keel") from None

    def setUp(self):
        super().setUp()
        self.work = self.project / "work"
        (self.work / "src/deep").mkdir(parents=True)
        (self.work / "d/b").mkdir(parents=True)
        for name in ("src/main.c", "src/deep/x.h", "d/b/x", "notes.txt", "run.sh"):
            (self.work / name).write_text(f"this is {name}\n")
        (self.work / "run.sh").chmod(0o755)
        (self.work / "link").symlink_to("notes.txt")
        self.session = self.new_id()

    def start(self, *arguments, env=None, cwd=None, **streams):
        if self.user is not None:
            for top, names, files in os.walk(self.dir):
                for name in [".", *names, *files]:
                    path = os.path.join(top, name)
                    if os.lstat(path).st_uid == 0:
                        os.lchown(path, self.user, self.user)
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, **streams}
        command = [*self.prefix, *self.as_user(), *self.inside, scripted.keel_test.KEEL]
        return subprocess.Popen([*command, *arguments], env=self.environment(env),
                                cwd=cwd or self.project, **streams)

    def as_user(self):
        if self.user is None:
            return []
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]

    def talk(self, *turns):
        provider = self.play(ANTHROPIC, *turns, Turn("Done."))
        how = ["-r"] if self.count(self.session, "run_begin") else ["--session-id"]
        result = self.run_agent(ANTHROPIC, provider, *how, self.session, "--wait-background", "0",
                                "go", cwd=self.work)
        self.assert_status(result, 0)
        self.heard = [str(request.json["messages"][-1]) for request in provider.requests]
        return result

    def bash(self, *commands):
        return self.talk(*[Turn(Call("Bash", command=command)) for command in commands])

    def prepare(self, command):
        subprocess.run(["bash", "-c", command], cwd=self.work, check=True,
                       env=self.environment(),
                       **({"user": self.user, "group": self.user} if self.user else {}))

    def own(self):
        """So that what was there before belongs to who keel runs as."""
        if self.user is not None:
            subprocess.run(["chown", "-Rh", f"{self.user}:{self.user}", str(self.dir)], check=True)

    def rewind(self, status=0, *arguments):
        result = self.keel("session", "rewind", self.session, "--yes", "--to", "1", *arguments,
                           cwd=self.work)
        self.assert_status(result, status)
        return result

    def undoes(self, *commands, before=None):
        self.own()
        if before:
            self.prepare(before)
        was = describe(self.work)
        self.bash(*commands)
        self.assertNotEqual(describe(self.work), was, f"nothing was changed: {self.heard}")
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def kill_in_the_middle(self, command):
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command=f"{command}; echo > pipe; "
                                                  "sleep 600")))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", self.session, "go",
                                   cwd=self.work)
        with open(self.work / "pipe", "rb") as pipe:
            pipe.read(1)
        process.send_signal(signal.SIGKILL)
        process.communicate()
