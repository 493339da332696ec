"""durable_test.py - what a reader has seen is in the session, however slow the disk is.

The disk takes its time for every sync (the library of the crash tests sees to that), and keel is
killed the moment a certain line has come out. Whatever was printed until then must be stored.
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "crash"))

import scripted  # noqa: E402
from agent import AgentTest, Call, Turn  # noqa: E402
from scripted import ANTHROPIC, HANG_SECONDS, keel_test  # noqa: E402

FAULT = os.environ.get("KEEL_FAULT_LIBRARY", "")
SYNC_MS = "60"


def texts(value):
    """All strings in a value, the long ones that tell something."""
    if isinstance(value, str):
        return [value] if value.startswith(("said-", "made-", "done-")) else []
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


class SlowDisk(AgentTest):
    def setUp(self):
        super().setUp()
        if not FAULT:
            self.skipTest("KEEL_FAULT_LIBRARY is not set")

    def turns(self):
        return [Turn("said-one", Call("Bash", id="call_1", command="echo made-one")),
                Turn("said-two", Call("Bash", id="call_2", command="echo made-two"),
                     Call("Bash", id="call_3", command="echo made-three")),
                Turn("done-with-it")]

    def slow(self, store):
        return {"LD_PRELOAD": FAULT, "KEEL_FAULT_SLOW_MS": SYNC_MS, "KEEL_FAULT_PLACES":
                str(self.dir / "store"), "KEEL_STORE": store,
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def read_until(self, process, number):
        """Lines up to that number, then it is killed and what is left in the pipe is read."""
        lines = []
        while len(lines) < number and (line := process.stdout.readline()):
            lines.append(line)
        process.kill()
        lines += process.stdout.readlines()
        process.wait(HANG_SECONDS)
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def check_all(self, scheme):
        number, more = 1, True
        while more:
            store = f"{scheme}:{self.dir}/store/{number}"
            (self.dir / "store").mkdir(exist_ok=True)
            session = f"00000000-0000-7000-8000-{number:012d}"
            provider = self.play(ANTHROPIC, *self.turns())
            process = self.start_agent(
                ANTHROPIC, provider, "--output-format", "stream-json", "--verbose",
                "--include-partial-messages", "--session-id", session, "go",
                env=self.slow(store), stderr=subprocess.DEVNULL)
            lines = self.read_until(process, number)
            self.check(store, session, lines)
            more = not any(line["type"] == "result" for line in lines)
            number += 3

    def check(self, store, session, lines):
        seen = {text for line in lines if line["type"] != "system"
                for text in texts(line)}
        result = self.keel("session", "export", session, "--format", "jsonl", "--store", store)
        if not seen and result.status:
            return
        self.assert_status(result, 0)
        stored = set(texts([json.loads(line) for line in result.out.splitlines()]))
        self.assertEqual(seen - stored, set())

    def test_what_was_printed_is_in_the_database(self):
        self.check_all("sqlite")

    def test_what_was_printed_is_in_the_log(self):
        self.check_all("files")


if __name__ == "__main__":
    keel_test.main()
