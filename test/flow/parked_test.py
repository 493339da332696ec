"""parked_test.py - a command's supervisor is started while the model still writes the call.

The provider sends the rest of a call only after it has seen the process that waits: so it was
there before the call was whole, or the test hangs.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
import unittest

import scripted
from agent import Call, Turn
from confined import AS_USER, IS_ROOT, WITHOUT_NAMESPACES, SandboxTest
from scripted import ANTHROPIC, HANG_SECONDS


def status_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""


def parked_below(pid):
    """The processes that wait for a command and come of this one."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--parked" in words and is_below(int(entry), pid):
            found.append(int(entry))
    return found


def is_below(pid, ancestor):
    while pid > 1:
        lines = status_of(pid).splitlines()
        parents = [int(line.split()[1]) for line in lines if line.startswith("PPid:")]
        if not parents or any(line.startswith("State:\tZ") for line in lines):
            return False
        if parents[0] == ancestor:
            return True
        pid = parents[0]
    return False


def await_true(look):
    until = time.monotonic() + HANG_SECONDS
    while not look():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.01)


class IsParked(threading.Event):
    """A piece of an answer: the next one comes when keel has a supervisor that waits."""

    def __init__(self, then=None):
        super().__init__()
        self.keel = None  # its pid
        self.started = threading.Event()
        self.then = then
        self.parked = []

    def begin(self, pid):
        self.keel = pid
        self.started.set()

    def wait(self, timeout=None):
        assert self.started.wait(HANG_SECONDS)
        await_true(lambda: parked_below(self.keel))
        self.parked = parked_below(self.keel)
        if self.then:
            self.then(self)
        return True


def bash(command, *pieces):
    """The call, with these pieces before its arguments are whole."""
    return Call("Bash", raw=['{"command":', *pieces, f' "{command}"}}'])


class ParkedTest(SandboxTest):
    def begin(self, piece, *turns):
        """A first command finds out how commands can be run here."""
        self.one = self.play(ANTHROPIC, Turn(bash("touch first")), *turns, Turn("Done."))
        process = self.start_agent(ANTHROPIC, self.one, "go")
        piece.begin(process.pid)
        return process

    def run_parked(self, piece, command):
        """The last request, when all is over."""
        process = self.begin(piece, Turn(bash(command, piece)))
        out, err = process.communicate(timeout=HANG_SECONDS)
        self.assertEqual(process.returncode, 0, (out, err))
        self.assertTrue(piece.parked)
        self.assert_gone(piece)
        return self.one.requests[-1].body.decode()

    def assert_gone(self, piece):
        await_true(lambda: not any(map(status_of, piece.parked)))


class Behaviour:
    def test_a_supervisor_waits_while_the_call_is_written(self):
        self.assertIn("ran-42", self.run_parked(IsParked(), "echo ran-$((40+2)) | tee second"))

    def test_a_call_that_is_refused_leaves_none(self):
        sent = self.run_parked(IsParked(), "echo x > ~/.ssh/authorized_keys")
        self.assertFalse((self.home / ".ssh").exists(), sent)

    def test_a_secret_that_appears_while_it_waits_is_hidden(self):
        secret = self.home / ".aws" / "credentials"

        def appear(piece):
            secret.parent.mkdir()
            secret.write_text("the-token")
            self.hand_over()
        script = self.project / "script"
        script.write_text(f"cat {secret}; echo end\n")
        sent = self.run_parked(IsParked(then=appear), ". ./script")
        self.assertNotIn("the-token", sent)
        self.assertIn("end", sent)

    def test_one_that_is_killed_while_it_waits_is_replaced(self):
        def kill(piece):
            for pid in piece.parked:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it went with the other one
            await_true(lambda: not parked_below(piece.keel))
        self.assertIn("ran-42", self.run_parked(IsParked(then=kill), "echo ran-$((40+2)) | tee x"))

    def end_keel(self, sent, status):
        """It gets a signal while a supervisor waits."""
        piece = IsParked(then=lambda piece: os.kill(piece.keel, sent))
        process = self.begin(piece, Turn(bash("echo never", piece, threading.Event())))
        process.communicate(timeout=HANG_SECONDS)
        self.assertEqual(process.returncode, status)
        self.assertTrue(piece.parked)
        self.assert_gone(piece)

    def test_it_ends_with_a_keel_that_is_killed(self):
        self.end_keel(signal.SIGKILL, -signal.SIGKILL)

    def test_it_ends_with_a_keel_that_is_ended(self):
        self.end_keel(signal.SIGTERM, 143)


class AsItIs(Behaviour, ParkedTest):
    def test_one_waits_after_a_command_until_an_answer_wants_none(self):
        started, keel = threading.Event(), []

        class Look(threading.Event):
            def __init__(self, is_there):
                super().__init__()
                self.is_there = is_there

            def wait(self, timeout=None):
                assert started.wait(HANG_SECONDS)
                await_true(lambda: bool(parked_below(keel[0])) == self.is_there)
                return True

        def read(piece):
            return Turn(Call("Read", raw=['{"file_path":', piece, ' "a.txt"}']))
        self.one = self.play(ANTHROPIC, Turn(bash("touch first")), read(Look(True)),
                             read(Look(False)), Turn("Done."))
        process = self.start_agent(ANTHROPIC, self.one, "go")
        keel.append(process.pid)
        started.set()
        process.communicate(timeout=HANG_SECONDS)
        self.assertEqual(process.returncode, 0)

    def test_a_run_without_commands_starts_none(self):
        piece, seen = IsParked(), []

        class Look(threading.Event):
            def wait(self, timeout=None):
                assert piece.started.wait(HANG_SECONDS)
                seen.append(parked_below(piece.keel))
                return True
        self.one = self.play(ANTHROPIC, Turn(Call("Read", raw=['{"file_path":', Look(),
                                                               ' "a.txt"}'])), Turn("Done."))
        process = self.start_agent(ANTHROPIC, self.one, "go")
        piece.begin(process.pid)
        process.communicate(timeout=HANG_SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(seen, [[]])


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can become somebody else")
class AsUser(Behaviour, ParkedTest):
    prefix = AS_USER

    def hand_over(self):
        subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "only root can give this up")
class WithoutNamespaces(Behaviour, ParkedTest):
    prefix = WITHOUT_NAMESPACES


if __name__ == "__main__":
    scripted.main()
