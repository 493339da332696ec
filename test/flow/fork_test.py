"""fork_test.py - a copy of a session stands on its own: what it refers to outlives the original.

The original has a long prompt, a result that was stored by handle, and files that were changed. It
is copied, deleted, and hours pass; then the copy must be whole, and its model can read the result.
"""
import json
import os
import pathlib
import re
import sqlite3
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "crash"))

import scripted  # noqa: E402
from agent import AgentTest, Call, Turn  # noqa: E402
from scripted import ANTHROPIC  # noqa: E402
from stores import Postgres  # noqa: E402

ORIGINAL = "00000000-0000-7000-8000-000000000001"
COPY = "00000000-0000-7000-8000-000000000002"
LONG_PROMPT = "Count. " + "Take your time. " * 4000  # longer than a record holds


class Fork(AgentTest):
    store = None

    def tool(self, *arguments):
        result = self.keel(*arguments, "--store", self.store)
        self.assert_fine(result)
        return result.out

    def talk(self, provider, *arguments):
        result = self.run_agent(ANTHROPIC, provider, "--store", self.store, *arguments)
        self.assert_fine(result)
        return result

    def begin(self):
        provider = self.play(
            ANTHROPIC, Turn(Call("Write", file_path="a.txt", content="one\n")),
            Turn(Call("Bash", command="seq 1 20000; echo two > a.txt")), Turn("Done."))
        self.talk(provider, "--session-id", ORIGINAL, LONG_PROMPT)
        [handle] = set(re.findall(r'handle \\"(out_[0-9]+)', provider.requests[-1].body.decode()))
        return handle

    def fork_by_command(self):
        return self.tool("session", "fork", ORIGINAL).strip()

    def fork_by_print(self):
        self.talk(self.play(ANTHROPIC, Turn("Here.")), "-r", ORIGINAL, "--fork-session",
                  "--session-id", COPY, "and now?")
        return COPY

    def fork_of_a_fork(self):
        first = self.fork_by_command()
        second = self.tool("session", "fork", first).strip()
        self.tool("session", "delete", "--yes", first)
        return second

    def hours_pass(self):
        pass

    def lose_original(self):
        self.tool("session", "delete", "--yes", ORIGINAL)
        self.hours_pass()
        result = self.keel("session", "delete", "--yes", ORIGINAL, "--store", self.store)
        self.assert_status(result, 0)  # it is gone, and what is left of it is swept

    def check_copy(self, copy, handle):
        self.assertIn("whole", self.tool("session", "verify", copy))
        self.assertIn("Count. Take your time.", self.tool("session", "show", copy))
        self.assertIn(LONG_PROMPT, str(json.loads(
            self.tool("session", "export", copy, "-f", "json"))))
        provider = self.play(ANTHROPIC, Turn(Call("tool_output", handle=handle, offset=12344,
                                                  limit=3)), Turn("Read."))
        self.talk(provider, "-r", copy, "more")
        self.assertIn(LONG_PROMPT, provider.requests[0].body.decode())
        self.assertIn("12345", provider.requests[1].body.decode())
        self.assertIn("whole", self.tool("session", "verify", copy))

    def check(self):
        handle = self.begin()
        for fork in self.fork_by_command, self.fork_by_print, self.fork_of_a_fork:
            with self.subTest(fork.__name__):
                copy = fork()
                self.check_copy(copy, handle)
                if fork != self.fork_of_a_fork:
                    self.tool("session", "delete", "--yes", copy)
        copy = self.fork_by_command()
        self.lose_original()
        self.check_copy(copy, handle)

    def test_in_files(self):
        self.store = f"files:{self.dir / 'kept'}"
        self.check()

    def test_in_sqlite(self):
        path = self.dir / "kept" / "s.db"
        path.parent.mkdir()
        self.store = f"sqlite:{path}"

        def hours_pass():
            with sqlite3.connect(path) as db:
                self.assertTrue(db.execute("update doomed set since = 1").rowcount)
            for blob in path.with_name("blobs").glob("*/*"):
                os.utime(blob, (1, blob.stat().st_mtime))

        self.hours_pass = hours_pass
        self.check()

    def test_in_postgresql(self):
        if not Postgres.programs():
            self.skipTest("there is no PostgreSQL here")
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        server = Postgres(pathlib.Path(place.name))
        self.addCleanup(server.close)
        case = types.SimpleNamespace(name="fork")
        server.prepare(case)
        self.store = server.url(case)
        self.hours_pass = lambda: server.ask(
            "UPDATE s_fork.keel_doomed SET since = since - interval '2 hours'")
        self.check()


if __name__ == "__main__":
    scripted.main()
