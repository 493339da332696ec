"""session_big_test.py - a session may be larger than memory: reading it out takes little.

Sessions are made by big-session, which stores the same long output for every call, and the memory
is what the kernel says that the command had at most. An ordinary run takes 120 MB of output; all
of it, 10 GB, with KEEL_TEST_DEPTH=all. A build with a sanitizer takes more memory for the same
work, but no more of it for a large session than for a small one.
"""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from agent import AgentTest, Call, Turn  # noqa: E402
from keel_test import KEEL  # noqa: E402
from scripted import ANTHROPIC  # noqa: E402

IS_DEEP = os.environ.get("KEEL_TEST_DEPTH") == "all"
N_CALLS, N_BYTES = (1000, 10_000_000) if IS_DEEP else (60, 2_000_000)
N_PIECES = 1_000_000 if IS_DEEP else 100_000
N_SESSIONS = 200_000 if IS_DEEP else 40_000
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


class Runs(Big):
    """A session that keel itself has made: what it printed is checked, and run again."""

    def record(self, n_calls, n_bytes):
        """As long as it takes, with as many summaries as it needs."""
        (self.project / "big").write_text("x" * 99 + "\n" + "y" * (n_bytes - 100))
        left = iter(range(n_calls))

        def answer(request):
            if b"summarise the conversation" in request.body:
                return self.encode(ANTHROPIC, Turn("It was read again and again."))
            more = next(left, None) is not None
            return self.encode(ANTHROPIC, Turn(Call("Bash", command="cat big") if more else "done"))
        self.assert_fine(self.run_agent(ANTHROPIC, self.provider(answer), "go", "--store",
                                        f"sqlite:{self.dir}/{n_calls}.db"))

    def test_a_long_run_is_verified_and_replayed_in_little_memory(self):
        self.record(2, 1000)
        self.record(N_CALLS, N_BYTES)
        for command in ("verify", "replay"):
            with self.subTest(command):
                before, after = (self.peak(command, self.last(n), "--store",
                                           f"sqlite:{self.dir}/{n}.db") for n in (2, N_CALLS))
                self.assertLess(after - before, LIMIT_KB - 16 * 1024)

    def answer_in_pieces(self, text, n):
        """One answer that says this text again and again, in this many events."""
        first, *more = self.encode(ANTHROPIC, Turn(text)).pieces
        [piece] = [event for event in more if b"text_delta" in event]
        at = more.index(piece)
        n_together = min(n, max(1, 200_000 // len(piece)))
        return scripted.Answer([first, *more[:at], *[piece * n_together] * (n // n_together),
                                *more[at:]], content_type="text/event-stream")

    def record_pieces(self, n, text="tok "):
        answer = self.answer_in_pieces(text, n)
        self.assert_fine(self.run_agent(ANTHROPIC, self.provider(lambda request: answer), "go",
                                        "--store", f"sqlite:{self.dir}/{n}.db"))

    def test_an_answer_in_many_pieces_is_replayed_in_little_memory(self):
        self.record_pieces(1000)
        self.record_pieces(N_PIECES)
        before, after = (self.peak("replay", self.last(n), "--store", f"sqlite:{self.dir}/{n}.db")
                         for n in (1000, N_PIECES))
        self.assertLess(after - before, LIMIT_KB - 16 * 1024)

    def test_a_long_answer_is_replayed_in_a_small_multiple_of_its_size(self):
        """Its text is in five records and is compared in each: none of them is held."""
        self.record_pieces(2, "x" * 1000)
        self.record_pieces(14_000, "x" * 1000)
        before, after = (self.peak("replay", self.last(n), "--store", f"sqlite:{self.dir}/{n}.db")
                         for n in (2, 14_000))
        self.assertLess(after - before, 80 * 1024)

    def record_summary(self, n):
        """Of an answer that is longer than it, but fits into the window."""
        store = f"sqlite:{self.dir}/{n}.db"
        self.record_pieces(n=1, text="hello " * 70_000)
        for path in (self.dir / "1.db", self.dir / "1.db-wal"):
            path.rename(str(path).replace("1.db", f"{n}.db"))
        answer = self.answer_in_pieces("t", n)
        self.assert_fine(self.keel("session", "compact", self.last(n), "--store", store,
                                   env=ANTHROPIC.environment(self.provider(lambda _: answer))))

    def test_a_summary_in_many_pieces_is_replayed_in_little_memory(self):
        self.record_summary(1000)
        self.record_summary(100_000)
        before, after = (self.peak("replay", self.last(n), "--store", f"sqlite:{self.dir}/{n}.db")
                         for n in (1000, 100_000))
        self.assertLess(after - before, LIMIT_KB - 16 * 1024)

    def last(self, n):
        store = f"sqlite:{self.dir}/{n}.db"
        return self.keel("session", "list", "--all", "--json", "--store", store).json()[0]["id"]


class Many(Big):
    """Old sessions, made as copies of one row of the database."""

    def make_many(self, name, n):
        store = f"sqlite:{self.dir}/{name}.db"
        self.make(store, "s", 1, 10)
        with sqlite3.connect(self.dir / f"{name}.db") as db:
            columns = [row[1] for row in db.execute("pragma table_info(sessions)")]
            values = ["null" if column == "number" else "'old-' || value" if column == "id" else
                      "1600000000000 + value" if column == "updated" else
                      "printf('%01000d', value)" if column == "preview" else f"sessions.{column}"
                      for column in columns]
            db.execute(f"insert into sessions select {', '.join(values)} from sessions, "
                       "(with recursive c(value) as (values(1) union all select value + 1 from c "
                       f"where value < {n}) select value from c) where id = 's'")
        db.close()
        return store

    def test_a_dry_run_of_prune_holds_a_page_of_them(self):
        peaks = []
        for n in (1000, N_SESSIONS):
            store = self.make_many(f"many{n}", n)
            with open(self.dir / "out", "w+") as out:
                peaks.append(self.peak("prune", "--dry-run", "--trust-clock", "--store", store,
                                       output=out))
                out.seek(0)
                lines = out.read().splitlines()
            self.assertRegex(lines[-1], f"^{n + 1} sessions .* would be removed$")
            self.assertEqual(len(set(lines)), n + 2)
        self.assertLess(peaks[1] - peaks[0], N_SESSIONS // 2, "kilobytes, and a session has one")


class Size(Big):
    def export(self, store, form):
        path = self.dir / f"out.{form}"
        self.peak("export", "s", "-f", form, "-o", str(path), "--store", store)
        return path

    def test_a_log_of_four_times_as_many_calls_is_four_times_as_long(self):
        sizes = []
        for n_calls in (50, 200):
            store = f"sqlite:{self.dir}/{n_calls}.db"
            self.make(store, "s", n_calls, 20_000)
            sizes.append(self.export(store, "jsonl").stat().st_size)
        self.assertLess(sizes[1], 4.5 * sizes[0])

    def test_exports_that_are_larger_than_any_json_limit_come_back(self):
        """The messages alone are more than 64 MB."""
        store = f"sqlite:{self.dir}/long.db"
        self.make(store, "s", 900, 20_000)
        for form in ("json", "jsonl"):
            path = self.export(store, form)
            self.assertGreater(path.stat().st_size, 64 << 20)
            other = f"sqlite:{self.dir}/{form}.db"
            self.peak("import", str(path), "--store", other)
            listed = self.keel("session", "list", "--all", "--json", "--store", other).json()
            self.assertEqual([(s["id"], s["messages"]) for s in listed], [("s", 1801)])
            again = self.export(other, "json")
            self.assertEqual(self.ids_of(again), self.ids_of(self.export(store, "json")))

    @staticmethod
    def ids_of(path):
        return re.findall(r'"id":"((?:answer|result)-\d+)","role"', path.read_text())


class Import(Big):
    """Files of any size: a message takes some tens of bytes, whatever it says."""

    N_MESSAGES = 500_000 if IS_DEEP else 100_000
    FORMS = {
        "record": ('{"messages":[', '{"role":"user","content":"a"}', ",", "]}"),
        "log": ("", '{"event":"history_mutation","sessionId":"s","message":'
                    '{"role":"user","content":"a"}}', "\n", "\n"),
        "claude-code": ("", '{"type":"user","uuid":"%d","parentUuid":"%d","sessionId":"s",'
                            '"message":{"role":"user","content":"a"}}', "\n", "\n"),
        "codex": ("", '{"type":"response_item","payload":{"type":"message","role":"user",'
                      '"content":"a"}}', "\n", "\n"),
    }

    def peak_of(self, name, pieces):
        path = self.dir / name
        with open(path, "w") as file:
            file.writelines(pieces)
        return self.peak("import", str(path), "--store", f"sqlite:{self.dir}/{name}.db")

    def pieces(self, form, n):
        start, message, between, end = self.FORMS[form]
        yield start
        for i in range(n):
            yield message % (i + 1, i) if "%d" in message else message
            yield between if i + 1 < n else end

    def test_very_many_short_messages_take_little_memory(self):
        for form in self.FORMS:
            with self.subTest(form):
                few, many = (self.peak_of(f"{form}-{n}", self.pieces(form, n))
                             for n in (100, self.N_MESSAGES))
                self.assertLess(many - few, 24 * 1024 + self.N_MESSAGES // 4, "kilobytes")
        self.assert_fine(self.keel("session", "verify", "--all", "--store",
                                   f"sqlite:{self.dir}/log-{self.N_MESSAGES}.db"))

    def test_long_messages_take_the_memory_of_one(self):
        message = json.dumps({"event": "history_mutation", "sessionId": "s",
                              "message": {"role": "user", "content": "x" * 4_000_000}}) + "\n"
        few, many = (self.peak_of(f"long-{n}", [message] * n) for n in (2, 50))
        self.assertLess(many - few, 16 * 1024, "kilobytes")

    def test_what_is_not_used_of_a_line_takes_no_memory(self):
        talk = "".join(self.pieces("log", 3))
        start = '{"event":"provider_request","sessionId":"s","messages":["'
        few, many = (self.peak_of(f"line-{n}", [talk, start, *["x" * 1_000_000] * n, '"]}\n'])
                     for n in (1, 200))
        self.assertLess(many - few, 16 * 1024, "kilobytes")

    def test_a_text_without_an_end_takes_the_memory_of_the_longest_that_is_kept(self):
        start = '{"messages":[{"role":"user","content":"'
        few, many = (self.peak_of(f"text-{n}", [start, *["x" * 1_000_000] * n,
                                                '"},{"role":"user","content":"b"}]}'])
                     for n in (60, 600 if IS_DEEP else 200))
        self.assertLess(many - few, 16 * 1024, "kilobytes")


if __name__ == "__main__":
    scripted.main()
