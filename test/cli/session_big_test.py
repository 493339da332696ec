"""session_big_test.py - a session may be larger than memory: reading it out takes little.

Sessions are made by big-session, which stores the same long output for every call, and the memory
is what the kernel says that the command had at most. An ordinary run takes 120 MB of output; all
of it, 10 GB, with KEEL_TEST_DEPTH=all. A build with a sanitizer takes more memory for the same
work, but no more of it for a large session than for a small one.
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from agent import AgentTest  # noqa: E402
from keel_test import KEEL  # noqa: E402

IS_DEEP = os.environ.get("KEEL_TEST_DEPTH") == "all"
N_CALLS, N_BYTES = (1000, 10_000_000) if IS_DEEP else (60, 2_000_000)
LIMIT_KB = 64 * 1024
# What a sanitizer keeps of freed memory is not what keel holds.
QUIET = {"ASAN_OPTIONS": "quarantine_size_mb=1:detect_leaks=0"}


class Big(AgentTest):
    def setUp(self):
        super().setUp()
        self.tool = os.environ["KEEL_BIG_SESSION"]

    def make(self, store, name, n_calls, n_bytes):
        subprocess.run([self.tool, "make", store, name, str(n_calls), str(n_bytes)], check=True,
                       stderr=subprocess.DEVNULL)

    def peak(self, *arguments, output=subprocess.DEVNULL):
        """The kilobytes that the command had at most."""
        result = subprocess.run(
            [self.tool, "peak", KEEL, "session", *arguments], cwd=self.project,
            env={**self.environment(), **QUIET}, stdout=output, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(re.search(r"^peak (\d+)$", result.stderr, re.M)[1])


class Memory(Big):
    COMMANDS = (("show",), ("show", "--json"), ("show", "--tools"), ("export", "-f", "markdown"),
                ("export", "-f", "html"), ("export", "-f", "json"), ("export", "-f", "jsonl"))

    def check(self, kind):
        small, big = (f"{kind}:{self.dir}/{name}" for name in ("small", "big"))
        self.make(small, "s", 2, 1000)
        self.make(big, "s", N_CALLS, N_BYTES)
        for command, *options in (*self.COMMANDS, ("rebuild",)):
            with self.subTest(f"{kind} {command} {options}"):
                which = [] if command == "rebuild" else ["s"]
                before = self.peak(command, *which, *options, "--store", small)
                after = self.peak(command, *which, *options, "--store", big)
                self.assertLess(after - before, LIMIT_KB - 16 * 1024)

    def test_a_session_that_is_larger_than_memory_is_read_out_of_a_database(self):
        self.check("sqlite")

    def test_a_session_that_is_larger_than_memory_is_read_out_of_files(self):
        self.check("files")


if __name__ == "__main__":
    scripted.main()
