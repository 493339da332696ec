"""tamper_test.py - whatever is changed in what is kept of a session, verify finds it.

A session with tools, a long result, a command that changes files and a summary is kept. Then one
thing is changed at a time: a bit or a line of a log, a column or a row of a table, a payload. A
sample is tried; KEEL_TEST_DEPTH=all tries 500 of each kind, and KEEL_TEST_SEED repeats what a failure has
printed."""
import fcntl
import json
import os
import pathlib
import random
import shutil
import sqlite3
import tempfile

import scripted
from agent import AgentTest, Call, Turn
from record_sum import ROW, row_sum
from scripted import ANTHROPIC

SESSION = "00000000-0000-7000-8000-000000000001"
N_ALL = 500  # of one kind: a log has more bytes than anybody waits for
IS_ALL = os.environ.get("KEEL_TEST_DEPTH") == "all"
SEED = int(os.environ.get("KEEL_TEST_SEED", random.SystemRandom().randrange(10**9)))
SEQ_MASK = (1 << 40) - 1
COLUMNS = ("key", "n", "ms", "type", "run", "turn", "round", "attempt", "total", "sum", "body")


class TamperTest(AgentTest):
    kept = None  # what the store was like, in a place of its own

    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.store = self.project.parent / "store"
        (self.project / "notes").write_text("precious\n" * 3000)
        self.store.mkdir(mode=0o700)

    @classmethod
    def tearDownClass(cls):
        if cls.kept:
            shutil.rmtree(cls.kept.parent, ignore_errors=True)
            cls.kept = None
        super().tearDownClass()

    def keep(self, url):
        """Everything of which a record says something; once for all tests of a class."""
        self.url = url
        if self.kept:
            self.put_back()
            return
        turns = [Turn("I look.", Call("Bash", command="seq 20000; sleep 0.3"), Call("Nothing")),
                 Turn("More.", Call("Bash", command="echo x >> notes; echo y > made"),
                      Call("Write", file_path="b.txt", content="one\n")),
                 Turn("Done.")]
        for prompt, script in (("go", turns), ("again", [Turn("Yes.")])):
            which = ["--session-id", SESSION] if prompt == "go" else ["-r", SESSION]
            result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, *script), *which, "--store",
                                    url, prompt)
            self.assert_status(result, 0)
        self.assertEqual(self.findings(), [])
        kept = pathlib.Path(tempfile.mkdtemp(prefix="keel-tamper-")) / "kept"
        shutil.copytree(self.store, kept, symlinks=True)
        type(self).kept = kept

    def put_back(self):
        shutil.rmtree(self.store)
        shutil.copytree(self.kept, self.store, symlinks=True)

    def findings(self):
        result = self.keel("session", "verify", SESSION, "--json", "--store", self.url)
        if not result.out:
            return [f"exit {result.status}: {result.err}"] if result.status else []
        try:
            [session] = json.loads(result.out)
        except ValueError:
            self.fail(result)
        return [finding for finding in session["findings"] if finding["problem"]]

    def sample(self, items, n):
        items, n = list(items), N_ALL if IS_ALL else n
        return items if len(items) <= n else self.chance.sample(items, n)

    def assert_found(self, what, change):
        self.put_back()
        change()
        self.assertTrue(self.findings(), f"{what} is not found, seed {SEED}")


    def assert_found_in_all(self, what, change):
        """Where the session itself may not be listed any more."""
        self.put_back()
        change()
        for form in ((), ("--json",)):
            result = self.keel("session", "verify", "--all", *form, "--store", self.url)
            self.assert_status(result, 1)
            self.assertIn("damaged_store", result.out, what)
        json.loads(result.out)


class Files(TamperTest):
    def setUp(self):
        super().setUp()
        self.keep(f"files:{self.store}")
        self.log = self.store / f"{SESSION}.jsonl"
        self.lines = self.log.read_bytes().splitlines(keepends=True)

    def write_lines(self, lines):
        self.log.write_bytes(b"".join(lines))

    def is_own(self, number):
        return b'"fence":' in self.lines[number][:200]

    def test_a_bit_of_a_line(self):
        """The newlines and the store's own lines among them."""
        text = b"".join(self.lines)
        own, at = [], 0
        for number, line in enumerate(self.lines):
            own += range(at, at + len(line)) if self.is_own(number) else [at + len(line) - 1]
            at += len(line)
        places = self.sample(own, 8) + self.sample(range(len(text)), 4)
        for place in places:
            bit = self.chance.randrange(8)

            def flip():
                changed = bytearray(text)
                changed[place] ^= 1 << bit
                self.log.write_bytes(changed)
            self.assert_found(f"bit {bit} of byte {place}", flip)

    def test_the_number_of_a_record_that_is_damaged(self):
        """But for the last one, which nothing follows that could tell its number."""
        line_of = {json.loads(line)["seq"]: number for number, line in enumerate(self.lines)
                   if not self.is_own(number)}
        line_of.pop(max(line_of))

        def damage(seq):
            number = line_of[seq]
            self.write_lines(self.lines[:number] + [b"x" + self.lines[number][1:]]
                             + self.lines[number + 1:])
        check_numbers(self, [1, *self.sample(line_of, 4)], damage)

    def test_a_line_that_is_missing(self):
        numbers = range(len(self.lines))
        own = [number for number in numbers if self.is_own(number)]
        for number in {*self.sample(own, 3), *self.sample(numbers, 3), len(self.lines) - 1}:
            self.assert_found(f"without line {number}", lambda: self.write_lines(
                self.lines[:number] + self.lines[number + 1:]))

    def test_a_line_that_is_there_twice(self):
        numbers = range(len(self.lines))
        own = [number for number in numbers if self.is_own(number)]
        for number in {*self.sample(own, 3), *self.sample(numbers, 3), len(self.lines) - 1}:
            self.assert_found(f"line {number} twice", lambda: self.write_lines(
                self.lines[:number + 1] + self.lines[number:]))

    def test_lines_that_have_changed_places(self):
        for number in self.sample(range(len(self.lines) - 1), 4):
            self.assert_found(f"lines {number} and the next", lambda: self.write_lines(
                self.lines[:number] + [self.lines[number + 1], self.lines[number]]
                + self.lines[number + 2:]))

    def test_what_stands_between_lines(self):
        for number in self.sample(range(len(self.lines) + 1), 2):
            for more in (b"\n", b" \n", b"{}\n", b"\r"):
                self.assert_found(f"{more} before line {number}", lambda: self.write_lines(
                    self.lines[:number] + [more] + self.lines[number:]))

    def test_a_log_that_was_cut(self):
        text = b"".join(self.lines)
        for n in self.sample(range(1, len(text)), 4):
            self.assert_found(f"cut to {n} bytes", lambda: self.log.write_bytes(text[:n]))

    def change_list(self, number, value):
        """One value of the session's entry, the last one of it."""
        index = self.store / ".index"
        lines = index.read_text().splitlines()
        values = lines[-1].split("\t")
        self.assertNotEqual(values[number], value)
        values[number] = value
        index.write_text("\n".join([*lines[:-1], "\t".join(values), ""]))

    def test_what_the_list_says_of_a_session(self):
        for number, value in ((3, "/elsewhere"), (4, "name"), (5, "x"), (6, "x"), (7, "x"),
                              (8, "5"), (9, "5"), (10, "3"), (11, "1")):
            self.assert_found(f"value {number}", lambda: self.change_list(number, value))

    def test_a_session_that_the_list_does_not_lead_to(self):
        index = self.store / ".index"
        self.assert_found_in_all("another parent", lambda: self.change_list(1, "nothing"))
        self.assert_found_in_all("itself", lambda: self.change_list(1, SESSION))
        self.assert_found_in_all("no line", lambda: index.write_text("keel-index 1\n"))

    def test_a_payload(self):
        check_payloads(self, self.store / f"{SESSION}.payloads")


def check_numbers(test, numbers, damage):
    """Each of these records is damaged: verify gives its number, in both forms."""
    for number in numbers:
        test.put_back()
        damage(number)
        found = [finding["seq"] for finding in test.findings()
                 if finding["kind"] == "unreadable_record"]
        test.assertEqual(found[0], number, f"seed {SEED}")  # then those that refer to it
        test.assertNotIn(0, found)
        told = test.keel("session", "verify", SESSION, "--store", test.url).out
        test.assertRegex(told, rf"(?m)^ +{number}  unreadable_record  .*damaged")
        test.assertNotRegex(told, r"(?m)^ +0  ")


class Sqlite(TamperTest):
    def setUp(self):
        super().setUp()
        self.keep(f"sqlite:{self.store}/keel.db")
        with self.open() as db:
            self.rows = [(table, key, type) for table in ("records", "streamed") for key, type in
                         db.execute(f"select key, type from {table} order by key")]

    def open(self):
        return sqlite3.connect(self.store / "keel.db")

    def change(self, statement, *values):
        with self.open() as db:
            db.execute(statement, values)
        db.close()

    def changed(self, value):
        if isinstance(value, int):
            return value ^ (1 << self.chance.randrange(34))
        if not value:
            return "x"
        data = bytearray(value.encode())
        at = self.chance.randrange(len(data))
        data[at] = ord("x") if data[at] != ord("x") else ord("y")
        return data.decode(errors="replace")

    def test_a_column_of_a_row(self):
        """Of each type of record at least one."""
        of_types = {type: (table, key) for table, key, type in self.rows}
        rows = [*of_types.values(), *[(table, key) for table, key, _ in self.rows]]
        cases = [(table, key, column) for table, key in rows for column in COLUMNS]
        for table, key, column in self.sample(cases, 20):
            def change():
                with self.open() as db:
                    [value] = db.execute(f"select {column} from {table} where key = ?",
                                         (key,)).fetchone()
                    now = self.changed(value)
                    while column == "key" and db.execute(
                            f"select 1 from {table} where key = ?", (now,)).fetchone():
                        now = self.changed(value)
                    db.execute(f"update {table} set {column} = ? where key = ?", (now, key))
                db.close()
            self.assert_found(f"{column} of {key & 0xFFFFFF} in {table}", change)

    def test_arguments_progress_and_the_bytes_of_an_answer(self):
        for type, before, after in (("tool_execution_request", "seq 2", "seq 3"),
                                    ("tool_progress", "19999", "29999"),
                                    ("provider_stream", "I look.", "I lock.")):
            def change():
                with self.open() as db:
                    n = sum(db.execute(
                        f"update {table} set body = replace(body, ?, ?) where type = ? and "
                        "body like '%' || ? || '%'", (before, after, type, before)).rowcount
                        for table in ("records", "streamed"))
                    self.assertGreater(n, 0, type)
                db.close()
            self.assert_found(type, change)

    def test_a_row_that_is_missing(self):
        last = max(self.rows, key=lambda row: row[1])
        for table, key, type in [last, *self.sample(self.rows, 4)]:
            self.assert_found(f"without {type}", lambda: self.change(
                f"delete from {table} where key = ?", key))

    def test_rows_that_are_missing_at_the_end(self):
        keys = sorted(key for _, key, _ in self.rows)
        for key in self.sample(keys, 3):
            def cut():
                for table in ("records", "streamed"):
                    self.change(f"delete from {table} where key >= ?", key)
            self.assert_found(f"cut from {key & 0xFFFFFF}", cut)

    def test_rows_that_have_changed_places(self):
        rows = [(table, key) for table, key, _ in self.rows if table == "records"]
        for (table, a), (_, b) in self.sample(zip(rows, rows[1:]), 3):
            def swap():
                for now, new in ((a, -1), (b, a), (-1, b)):
                    self.change(f"update {table} set key = ? where key = ?", new, now)
            self.assert_found(f"{a & 0xFFFFFF} and {b & 0xFFFFFF}", swap)

    def test_a_row_in_the_other_table(self):
        for table, key, type in self.sample(self.rows, 3):
            other = "streamed" if table == "records" else "records"

            def move():
                self.change(f"insert into {other} select * from {table} where key = ?", key)
                self.change(f"delete from {table} where key = ?", key)
            self.assert_found(f"{type} in {other}", move)

    def test_that_a_payload_is_needed(self):
        with self.open() as db:
            handles = [row[0] for row in db.execute("select handle from payloads")]
        for handle in self.sample(handles, 3):
            self.assert_found(f"the reference to {handle[:8]}", lambda: self.change(
                "delete from payloads where handle = ?", handle))

    def test_what_the_list_says_of_a_session(self):
        for column, value in (("provider", "x"), ("model", "x"), ("preview", "x"),
                              ("n_messages", 1), ("n_messages", 1000), ("name", "x"),
                              ("cwd", "/elsewhere"), ("created", 5), ("updated", 5),
                              ("updated", 1 << 50), ("next_seq", 3), ("n_bytes", 1),
                              ("root", "x"), ("parent", "x"), ("sum", 5), ("sum", 0)):
            self.assert_found(column, lambda: self.change(f"update sessions set {column} = ?",
                                                          value))

    def test_what_the_list_says_is_whole_whatever_keel_changes(self):
        """Names, copies, times: each statement that changes a row changes its sum."""
        self.put_back()
        for arguments in (("rename", SESSION, "a name, ünïcode \u2713"), ("fork", SESSION),
                          ("prune", "--trust-clock")):
            result = self.keel("session", *arguments, "--store", self.url)
            self.assert_status(result, 0)
            self.assert_all_whole()
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Yes.")), "-r", SESSION,
                                "--store", self.url, "more")
        self.assert_status(result, 0)
        self.assert_all_whole()

    def assert_all_whole(self):
        result = self.keel("session", "verify", "--all", "--store", self.url)
        self.assert_status(result, 0)
        with self.open() as db:
            rows = db.execute(f"select sum, {', '.join(ROW)} from sessions").fetchall()
        self.assertTrue(rows)
        for sum, *row in rows:
            self.assertEqual(sum, row_sum(*row))

    def test_a_changed_row_stays_found_when_keel_changes_it_again(self):
        """Until a person says that it is to stay as it is."""
        self.put_back()
        self.change("update sessions set cwd = '/elsewhere'")
        self.assert_fine(self.keel("session", "rename", SESSION, "other", "--store", self.url))
        [finding] = self.findings()
        self.assertEqual(finding["kind"], "damaged_store")
        self.assertIn("checksum in", finding["text"])
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Yes.")), "-r", SESSION,
                                "--store", self.url, "more")
        self.assert_status(result, 0)
        self.assertIn("checksum in", result.err)
        self.assertEqual(len(self.findings()), 1)
        self.assert_fine(self.keel("session", "rebuild", "--store", self.url))
        self.assertEqual(self.findings(), [])

    def make_old(self):
        """A database as keel made it before rows of sessions had a sum."""
        self.put_back()
        with self.open() as db:
            db.execute("alter table sessions drop column sum")
            db.execute("pragma user_version = 3")
        db.close()

    def test_a_database_of_the_version_before_gets_its_sums(self):
        self.make_old()
        self.assertEqual(self.findings(), [])
        self.assert_all_whole()
        self.change("update sessions set name = 'x'")
        self.assertTrue(self.findings())

    def test_many_bring_a_database_up_to_date_at_once(self):
        self.make_old()
        lists = [self.start("session", "list", "--all", "--json", "--store", self.url)
                 for _ in range(6)]
        for process in lists:
            result = self.finish(process)
            self.assert_fine(result)
            self.assertEqual([one["id"] for one in json.loads(result.out)], [SESSION])
        self.assert_all_whole()

    def test_a_database_that_an_older_keel_writes_to_is_left_alone(self):
        """The older one holds the lock of its session, and its row says that it is open."""
        self.make_old()
        self.change("update sessions set is_leased = 1")
        locks = self.store / "keel.db-locks"
        locks.mkdir(exist_ok=True)
        with open(locks / f"{SESSION}.lock", "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            lock.write("process 1")
            lock.flush()
            result = self.keel("session", "list", "--all", "--store", self.url)
            self.assert_status(result, 1)
            self.assertIn("an older keel", result.err)
            with self.open() as db:
                self.assertEqual(db.execute("pragma user_version").fetchall(), [(3,)])
            db.close()
        self.assertEqual(self.findings(), [])

    def test_a_session_that_the_list_does_not_lead_to(self):
        for column, value in (("parent", "nothing"), ("parent", SESSION), ("root", "nothing")):
            self.assert_found_in_all(column, lambda: self.change(
                f"update sessions set {column} = ?", value))
        self.assert_found_in_all("no row", lambda: self.change("delete from sessions"))

    def test_a_payload(self):
        check_payloads(self, self.store / "blobs")

    def test_the_number_of_a_record_that_is_damaged(self):
        table_of = {key & SEQ_MASK: (table, key) for table, key, _ in self.rows}

        def damage(number):
            table, key = table_of[number]
            self.change(f"update {table} set body = body || ' ' where key = ?", key)
        check_numbers(self, [1, max(table_of), *self.sample(table_of, 4)], damage)

    def test_reading_goes_on_behind_it(self):
        """The session opens, and says what is wrong."""
        self.put_back()
        table, key, _ = next(row for row in self.rows if row[2] == "tool_end")
        self.change(f"update {table} set body = replace(body, 'index', 'xndex') where key = ?", key)
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Still here.")), "-r", SESSION,
                                "--store", self.url, "more")
        self.assert_status(result, 0)
        self.assertIn("Still here.", result.out)
        self.assertIn("checksum in", result.err)

    def test_what_resuming_passes_over_is_compared_with_its_sum(self):
        base = next(row[1] for row in self.rows if row[2] == "history_mutation")
        for type in ("attempt_begin", "attempt_end", "tool_execution_request", "tool_begin",
                     "tool_state"):
            self.put_back()
            table, key, _ = next(row for row in self.rows if row[2] == type and row[1] > base)
            self.change(f"update {table} set body = body || ' ' where key = ?", key)
            result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Still here.")), "-r",
                                    SESSION, "--store", self.url, "more")
            self.assert_status(result, 0)
            self.assertIn(f"record {key & SEQ_MASK} ", result.err, type)
            self.assertIn("checksum in", result.err, type)


def check_payloads(test, directory):
    paths = sorted(path.relative_to(test.store) for path in directory.rglob("*") if path.is_file())
    test.assertGreater(len(paths), 4)
    for path in test.sample(paths, 5):
        def flip():
            file = test.store / path
            data = bytearray(file.read_bytes())
            data[test.chance.randrange(len(data))] ^= 1 << test.chance.randrange(8)
            file.chmod(0o600)
            file.write_bytes(data)
        test.assert_found(f"a bit of {path}", flip)
    for path in test.sample(paths, 2):
        test.assert_found(f"without {path}", (test.store / path).unlink)


if __name__ == "__main__":
    scripted.main()
