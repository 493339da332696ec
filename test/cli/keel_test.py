"""keel_test.py - runs the real keel program in a clean place and looks at what it says.

A test file is a program: FILE KEEL. It sees none of the person's settings and keys: home and keel's
home are made anew for every test, and the environment is empty but for what is named here.
"""
import concurrent.futures
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

KEEL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "keel"
SOURCE = pathlib.Path(os.environ.get("KEEL_SOURCE", pathlib.Path(__file__).parents[2]))
SHARED = pathlib.Path(os.environ.get("KEEL_SHARED", SOURCE.parent / "shared"))

HANG_SECONDS = 1200 if os.environ.get("KEEL_TEST_DEPTH") == "all" else 120

# AddressSanitizer says this once about the stacks of tasks; nothing else may appear.
ASAN_NOTICE = re.compile(rb"==\d+==WARNING: ASan doesn't fully support makecontext/swapcontext "
                         rb"functions and may produce false positives in some cases!\r?\n")
WIPED = re.compile(rb"(?:\r\x1b\[K[^\r\n\x1b]+)+\r\x1b\[K")
KEPT_VARIABLES = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")

# A test that was started in the background, or by nohup, would hand ignored signals on to keel.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def sample(values, n):
    """Some of them, others each time; all of them with KEEL_TEST_DEPTH=all."""
    values = list(values)
    if os.environ.get("KEEL_TEST_DEPTH") == "all" or len(values) <= n:
        return values
    seed = os.environ.get("KEEL_TEST_SEED") or str(random.randrange(1_000_000))
    print(f"sampled with KEEL_TEST_SEED={seed}", file=sys.stderr)
    return random.Random(seed).sample(values, n)


def without_notice(stderr):
    return ASAN_NOTICE.sub(b"", stderr, count=1)


def clock_shifted(days, env=None):
    """An environment in which the time of day is some days off (clock.c)."""
    return {**(env or {}), "LD_PRELOAD": os.environ["KEEL_CLOCK_LIBRARY"],
            "KEEL_TEST_CLOCK_DAYS": str(days),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def has_namespaces():
    """Can network by domain be had here?"""
    result = subprocess.run([KEEL, "sandbox", "--allow-domain", "example.com", "true"],
                            capture_output=True, check=False)
    return b"network access by domain needs namespaces" not in result.stderr


class Result:
    """How a run ended: exit status (negative: the signal), stdout and stderr."""

    def __init__(self, arguments, status, out, err):
        self.arguments, self.status, self.raw = arguments, status, out
        self.out = out.decode("utf-8", "surrogateescape")
        self.err = without_notice(err).decode("utf-8", "surrogateescape")

    def json(self):
        return json.loads(self.raw)

    def __str__(self):
        return (f"keel {self.arguments}\nstatus {self.status}\n--- stdout\n{self.out[:4000]}"
                f"\n--- stderr\n{self.err[:4000]}")


class KeelTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="keel-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = self.dir / "home"
        self.keel_home = self.dir / "keel-home"
        self.project = self.dir / "project"
        for directory in (self.home, self.keel_home, self.project):
            directory.mkdir()

    def environment(self, more=None):
        env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        env.update(HOME=str(self.home), KEEL_HOME=str(self.keel_home), LANG="C.UTF-8")
        env.update(more or {})
        return {name: value for name, value in env.items() if value is not None}

    def start(self, *arguments, env=None, cwd=None, program=None, **streams):
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([program or KEEL, *arguments], env=self.environment(env),
                                cwd=cwd or self.project, **streams)

    def finish(self, process, stdin=None):
        try:
            out, err = process.communicate(stdin, timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"it hangs\n{Result(process.args[1:], None, out or b'', err or b'')}")
        return Result(process.args[1:], process.returncode, out or b"", err or b"")

    def keel(self, *arguments, stdin=None, env=None, cwd=None, **streams):
        """Runs keel to its end. stdin: bytes that are piped in, or an open file."""
        if isinstance(stdin, bytes):
            streams["stdin"] = subprocess.PIPE
        elif stdin is not None:
            streams["stdin"], stdin = stdin, None
        return self.finish(self.start(*arguments, env=env, cwd=cwd, **streams), stdin)

    def on_terminal_saying(self, text, *arguments):
        """The same for a person who types this."""
        return self.on_terminal(*arguments, typed=text.encode())

    def on_terminal(self, *arguments, columns=80, env=None, typed=b"", with_status=False):
        """Runs keel with a terminal of this width; everything that appears on it is `out`, but
        for lines that are wiped again: they come on a slow machine."""
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start(*arguments, env={"TERM": "xterm", **(env or {})}, stdin=slave,
                             stdout=slave, stderr=slave)
        os.close(slave)
        os.write(master, typed)
        seen = b""
        try:
            while piece := os.read(master, 65536):
                seen += piece
        except OSError:  # EIO: nobody has the other end any more
            pass
        os.close(master)
        process.wait(HANG_SECONDS)
        seen = without_notice(seen)
        return Result(arguments, process.returncode,
                      seen if with_status else WIPED.sub(b"", seen), b"")

    def write(self, name, content):
        """A file in the test's directory; what is not text is written as JSON."""
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def user_settings(self, settings):
        return self.write("keel-home/settings.json", settings)

    # --- what a run must have been ---

    def assert_status(self, result, status):
        self.assertEqual(result.status, status, f"\n{result}")

    def assert_fine(self, result):
        """Exit 0 and nothing to complain about."""
        self.assert_status(result, 0)
        self.assertEqual(result.err, "", f"\n{result}")

    def assert_refused(self, result, status, *texts):
        """An error that says these things on stderr, and nothing on stdout."""
        self.assert_status(result, status)
        self.assertEqual(result.out, "", f"\n{result}")
        self.assertTrue(result.err.startswith("keel: "), f"\n{result}")
        for text in texts:
            self.assertIn(text, result.err, f"\n{result}")


def vectors(name):
    """Public test vectors, read in place; the test is counted as skipped where they are not."""
    path = SHARED / "vectors" / name
    if not path.exists():
        raise unittest.SkipTest(f"{path} is not there")
    return path


def at_once(function, items):
    """The function's results for all items, with as many at a time as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def main():
    program = unittest.main(exit=False)
    result = program.result
    n_failed = len({str(test) for test, _ in result.failures + result.errors})
    n_skipped = len(result.skipped)
    skipped = f", {n_skipped} skipped" if n_skipped else ""
    for _, reason in result.skipped:
        print(f"SKIPPED because {reason}")
    print(f"{result.testsRun - n_failed - n_skipped} passed, {n_failed} failed{skipped}")
    sys.exit(0 if result.wasSuccessful() else 1)
