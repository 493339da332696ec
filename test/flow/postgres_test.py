"""postgres_test.py - sessions in PostgreSQL: a server that falls silent, leases, and its clock.

Between keel and the server stands a proxy that a test makes silent. Leases run out when the test
puts their time into the past, which is all that the passing of time means to the database.
"""
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "crash"))

import scripted  # noqa: E402
import stores  # noqa: E402
from agent import Turn  # noqa: E402
from budget_test import BudgetTest  # noqa: E402
from scripted import ANTHROPIC, HANG_SECONDS, Call, FlowTest, sample  # noqa: E402

SESSION = "00000000-0000-7000-8000-000000000001"
OTHER = "00000000-0000-7000-8000-000000000002"
OF_2076_MS = 3_345_000_000_000
DAY_MS = 24 * 60 * 60 * 1000
LONGEST_END = 15  # seconds to end after a signal: half of the default time-out


class Proxy:
    """Passes bytes on, over TCP, until it is silent; connecting still works then."""

    def __init__(self, target):
        self.target, self.is_silent = str(target), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ends = [self.listener]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.ends.append(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        if self.is_silent.is_set():
            return  # and keeps it open
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        self.ends.append(server)
        try:
            while True:
                for end in select.select([client, server], [], [])[0]:
                    data = end.recv(65536)
                    if self.is_silent.is_set():
                        return
                    if not data:
                        raise OSError("closed")
                    (server if end is client else client).sendall(data)
        except OSError:
            client.close()
            server.close()

    def close(self):
        for end in self.ends:
            end.close()


class PostgresTest(FlowTest):
    @classmethod
    def setUpClass(cls):
        if not stores.Postgres.programs():
            raise unittest.SkipTest("there is no PostgreSQL server here")
        super().setUpClass()
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="keel-postgres-")).resolve()
        cls.server = stores.Postgres(cls.dir)
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.case = types.SimpleNamespace(name=self.id().rsplit(".", 1)[1][:50], session=SESSION)
        self.server.prepare(self.case)
        self.addCleanup(self.server.clean, self.case)
        self.proxy = Proxy(self.server.dir / ".s.PGSQL.5432")
        self.addCleanup(self.proxy.close)
        self.place = f"127.0.0.1:{self.proxy.port}"
        self.url = (f"postgresql://keel@{self.place}/postgres?" +
                    self.server.url(self.case).split("&", 2)[2])

    def sql(self, text):
        for name in ("SESSIONS", "CLOCK"):
            text = text.replace(name, f"{self.server.schema(self.case)}.keel_{name.lower()}")
        return self.server.ask(text)

    def start_at(self, provider, *arguments):
        env = {**ANTHROPIC.environment(provider), "KEEL_STORE": self.url}
        return self.start("-p", "--model", "anthropic/m", "--permission-mode", "bypassPermissions",
                          *arguments, env=env)

    def talk(self, *arguments, answers=None):
        provider = self.provider(*answers or [ANTHROPIC.answer(["Fine."])])
        return self.finish(self.start_at(provider, *arguments))

    def ids(self):
        result = self.keel("session", "list", "--all", "--json", env={"KEEL_STORE": self.url})
        self.assert_status(result, 0)
        return [one["id"] for one in result.json()]


class SilentServer(PostgresTest):
    def silence(self, answer):
        """When keel asks the model, the server falls silent; then the model answers."""
        asked = threading.Event()

        def give(_request):
            self.proxy.is_silent.set()
            asked.set()
            return answer
        return give, asked

    def begin_silent(self, session=SESSION):
        answer, asked = self.silence(ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", command="echo ran > ran")]))
        process = self.start_at(self.provider(answer), "--session-id", session, "go")
        self.assertTrue(asked.wait(HANG_SECONDS))
        return process

    def test_it_ends_the_run_and_is_named_with_the_time_and_the_setting(self):
        self.user_settings({"sessions": {"storeTimeoutSeconds": 1}})
        result = self.finish(self.begin_silent())
        self.assert_status(result, 1)
        self.assertIn(f"PostgreSQL at {self.place} has not answered", result.err)
        self.assertIn("sessions.storeTimeoutSeconds (now 1)", result.err)
        self.assertFalse((self.project / "ran").exists(), "a tool ran that no record tells of")

    def test_a_signal_ends_the_wait(self):
        for number, session in ((signal.SIGINT, SESSION), (signal.SIGTERM, OTHER)):
            with self.subTest(number):
                self.proxy.is_silent.clear()
                process = self.begin_silent(session)
                began = time.monotonic()
                process.send_signal(number)
                result = self.finish(process)
                self.assertLess(time.monotonic() - began, LONGEST_END)
                self.assert_status(result, 128 + number)

    def test_it_is_told_when_it_is_silent_from_the_beginning(self):
        self.user_settings({"sessions": {"storeTimeoutSeconds": 1}})
        self.proxy.is_silent.set()
        result = self.talk("--session-id", SESSION, "go")
        self.assert_refused(result, 1, f"PostgreSQL at {self.place} has not answered",
                            "sessions.storeTimeoutSeconds")
        result = self.keel("session", "list", env={"KEEL_STORE": self.url})
        self.assert_refused(result, 1, f"PostgreSQL at {self.place} has not answered")

    def test_what_verify_has_printed_for_programs_is_whole(self):
        """The reader lets keel wait; meanwhile the server falls silent."""
        self.user_settings({"sessions": {"storeTimeoutSeconds": 1}})
        records = [{"id": f"00000000-0000-7000-8000-{i:012d}",
                    "messages": [{"role": "user", "content": "hi"}]} for i in range(100)]
        env = {"KEEL_STORE": self.url}
        self.assert_status(self.keel("session", "import", str(
            self.write("in.json", json.dumps(records))), env=env), 0)
        ours, its = os.pipe()
        fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, 4096)
        process = self.start("session", "verify", "--all", "--json", stdout=its, env=env)
        os.close(its)
        with os.fdopen(ours, "rb", buffering=0) as out:
            text = out.read(1)
            self.proxy.is_silent.set()
            text += b"".join(iter(lambda: out.read(65536), b""))
        self.assert_status(self.finish(process), 1)
        self.assertLess(len(json.loads(text)), 100)

    def test_a_signal_ends_connecting(self):
        self.proxy.is_silent.set()
        process = self.start("session", "list", env={"KEEL_STORE": self.url})
        while len(self.proxy.ends) == 1:
            time.sleep(0.01)  # until it has connected
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        self.assertIn(self.finish(process).status, (130, -2))
        self.assertLess(time.monotonic() - began, LONGEST_END)

    def test_a_time_that_is_none_is_refused(self):
        self.user_settings({"sessions": {"storeTimeoutSeconds": 0}})
        self.assert_refused(self.talk("hi"), 2, 
                            '"sessions.storeTimeoutSeconds" must be an integer from 1 to 86400')


class Leases(PostgresTest):
    def begin_held(self):
        """A run whose model answers when the event is set."""
        asked, held = threading.Event(), self.hold()

        def give(_request):
            asked.set()
            held.wait(HANG_SECONDS)
            return ANTHROPIC.answer(["Late."], calls=[Call("Bash", command="echo ran > ran")])
        provider = self.provider(give, ANTHROPIC.answer(["Done."]))
        process = self.start_at(provider, "--session-id", SESSION, "go")
        self.assertTrue(asked.wait(HANG_SECONDS))
        return process, held

    def run_out(self):
        self.sql("UPDATE SESSIONS SET until = until - interval '6 s'")

    def test_a_killed_process_frees_its_session_when_its_time_is_over(self):
        process, _ = self.begin_held()
        process.kill()
        self.finish(process)
        refused = self.talk("-r", SESSION, "again")
        self.assert_refused(refused, 1, f"is open in process {process.pid} on", "--fork-session")
        self.server.pass_time(self.case)
        self.assert_status(self.talk("-r", SESSION, "again"), 0)

    def test_a_stopped_process_writes_nothing_when_it_continues(self):
        process, held = self.begin_held()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        self.assert_refused(self.talk("-r", SESSION, "again"), 1, "--fork-session")
        self.run_out()
        self.assert_status(self.talk("-r", SESSION, "again"), 0)
        before = self.server.records(self.case)
        process.send_signal(signal.SIGCONT)
        held.set()
        result = self.finish(process)
        self.assert_status(result, 1)
        self.assertIn("was opened by another process", result.err)
        self.assertFalse((self.project / "ran").exists(), "a tool ran without a lease")
        self.assertEqual(self.server.records(self.case), before)

    def test_a_stopped_process_continues_when_no_other_took_its_session(self):
        process, held = self.begin_held()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        self.run_out()
        process.send_signal(signal.SIGCONT)
        held.set()
        self.assert_status(self.finish(process), 0)

    def test_a_session_that_is_closed_is_free_at_once(self):
        self.assert_status(self.talk("--session-id", SESSION, "one"), 0)
        self.assert_status(self.talk("-r", SESSION, "two"), 0)


class Budget(PostgresTest, BudgetTest):
    """A session whose keel is killed in every answer, each time after it has reserved the tokens."""

    def n_streamed(self):
        return sum(record.type == "provider_stream" for record in self.server.records(self.case))

    def pass_time(self):
        self.server.pass_time(self.case)

    def kill_each_here(self, turn, **how):
        n = self.kill_each(ANTHROPIC, turn, "--max-tokens-total", "24000", "--store", self.url,
                           **how)
        self.assertIn("of 24000 tokens used", self.error)
        self.assertEqual(self.session, self.case.session)
        begun = [record for record in self.server.records(self.case)
                 if record.type == "attempt_begin"]
        self.assertEqual(len(begun), n, "a request left without a record of it")
        return n

    def test_holds_when_it_is_killed_before_the_first_byte(self):
        n = self.kill_each_here(self.silent(ANTHROPIC, Turn("Once", usage=(2000, 9))))
        self.assertTrue(2 <= n <= 24000 // 2000, n)

    def test_holds_when_it_is_killed_in_the_middle_of_an_answer(self):
        turn = Turn(["Once upon a time " * 300, self.hold()], usage=(2000, 1700))
        n = self.kill_each_here(turn, in_stream=True)
        self.assertTrue(2 <= n <= 24000 // 3700, n)

    def test_leaves_a_session_that_is_whole(self):
        self.kill_each_here(Turn(["Once", self.hold()]))
        for command in ("verify", "replay"):
            result = self.keel("session", command, self.session, "--store", self.url)
            self.assert_status(result, 0)


class Clock(PostgresTest):
    def test_a_session_used_in_2076_is_not_the_newest_for_ever(self):
        self.talk("--session-id", SESSION, "one")
        self.sql(f"UPDATE SESSIONS SET updated = {OF_2076_MS}")
        self.sql("UPDATE CLOCK SET looked = looked - 86400000")
        self.talk("--session-id", OTHER, "two")
        self.talk("-r", OTHER, "three")
        self.assertEqual(self.ids(), [OTHER, SESSION])

    def test_the_old_go_by_the_time_of_the_server(self):
        self.talk("--session-id", SESSION, "one")
        self.sql("UPDATE SESSIONS SET updated = 1600000000000")
        self.sql("UPDATE CLOCK SET looked = looked - 86400000")
        self.talk("--session-id", OTHER, "two")
        self.assertEqual(set(self.ids()), {SESSION, OTHER}, "it was used today by the server's clock")
        self.sql(f"UPDATE SESSIONS SET used = now() - interval '100 days' WHERE id = '{SESSION}'")
        result = self.keel("session", "prune", env={"KEEL_STORE": self.url})
        self.assertIn("1 session", result.out)
        self.assertEqual(self.ids(), [OTHER])


class Tampered(PostgresTest):
    """Whatever is changed in a row, or which rows there are: `session verify` finds it."""

    which = SESSION

    columns = {"seq": "seq + 1000", "n": "n + 1", "ms": "ms # 1", "type": "type || 'x'",
               "run": "run || 'x'", "turn": "turn + 1", "round": "round + 1",
               "attempt": "attempt + 1", "core": "NOT core", "body": "body || ' '",
               "sum": "sum # 1"}

    def setUp(self):
        super().setUp()
        answers = [ANTHROPIC.answer(["I look."], calls=[Call("Bash", command="seq 20000")]),
                   ANTHROPIC.answer(["Done."])]
        self.assert_status(self.talk("--session-id", SESSION, "go", answers=answers), 0)
        for table in ("records", "payloads", "blobs", "sessions"):
            self.rows(f"CREATE TABLE KEEL_kept_{table} AS TABLE KEEL_{table}")
        self.assert_status(self.verify(), 0)

    def rows(self, text):
        return self.server.ask(text.replace("KEEL_", f"{self.server.schema(self.case)}.keel_"))

    def verify(self):
        return self.keel("session", "verify", self.which, env={"KEEL_STORE": self.url})

    def assert_found(self, change, which=SESSION):
        self.which = which
        for table in ("records", "payloads", "blobs", "sessions"):
            self.rows(f"TRUNCATE KEEL_{table}; INSERT INTO KEEL_{table} TABLE KEEL_kept_{table}")
        changed = self.rows(f"WITH changed AS ({change} RETURNING 1) SELECT count(*) FROM changed")
        self.assertNotEqual(changed, ["0\n"], change)
        self.assertEqual(self.verify().status, 1, change)

    def test_a_column_of_a_row(self):
        seqs = [int(line) for line in self.rows("SELECT seq FROM KEEL_records")]
        for column, value in self.columns.items():
            for seq in sample(seqs, 1):
                self.assert_found(f"UPDATE KEEL_records SET {column} = {value} WHERE seq = {seq}")

    def test_rows_that_are_missing_or_have_changed_places(self):
        seqs = [int(line) for line in self.rows("SELECT seq FROM KEEL_records ORDER BY seq")]
        for seq in (seqs[-1], *sample(seqs[:-1], 2)):
            self.assert_found(f"DELETE FROM KEEL_records WHERE seq = {seq}")
        one, two = seqs[3], seqs[5]
        self.assert_found(f"UPDATE KEEL_records r SET body = o.body FROM KEEL_kept_records o "
                          f"WHERE r.seq IN ({one}, {two}) AND o.seq = {one + two} - r.seq")

    def test_what_the_list_says_of_a_session(self):
        for value in ("provider = 'x'", "model = 'x'", "preview = 'x'", "n_messages = 1",
                      "next_seq = 3", "name = 'x'", "cwd = '/elsewhere'", "created = created - 1",
                      "updated = updated + 1", "n_bytes = n_bytes + 1", "sum = 'x'"):
            self.assert_found(f"UPDATE KEEL_sessions SET {value}")

    def session(self, *arguments):
        result = self.keel("session", *arguments, env={"KEEL_STORE": self.url})
        self.assert_status(result, 0)

    def test_what_the_list_says_is_whole_whatever_keel_changes(self):
        for arguments in (("rename", SESSION, "a name, ünïcode \u2713"), ("fork", SESSION),
                          ("prune", "--trust-clock"), ("rebuild",)):
            self.session(*arguments)
            self.session("verify", "--all")
        self.assert_status(self.talk("-r", SESSION, "more"), 0)
        self.session("verify", "--all")

    def test_a_changed_row_stays_found_when_keel_changes_it_again(self):
        self.rows("UPDATE KEEL_sessions SET cwd = '/elsewhere'")
        self.session("rename", SESSION, "other")
        result = self.talk("-r", SESSION, "more")
        self.assert_status(result, 0)
        self.assertIn("checksum in", result.err)
        self.assertIn("damaged_store", self.verify().out)
        self.session("rebuild")
        self.assert_status(self.verify(), 0)

    def make_old(self):
        """Tables as keel made them before rows of sessions had a sum."""
        self.rows("ALTER TABLE KEEL_sessions DROP COLUMN sum; UPDATE KEEL_version SET version = 3")

    def test_tables_of_the_version_before_get_their_sums(self):
        self.make_old()
        lists = [self.start("session", "list", "--all", "--json", env={"KEEL_STORE": self.url})
                 for _ in range(4)]
        for process in lists:
            self.assertEqual([one["id"] for one in self.finish(process).json()], [SESSION])
        self.assert_status(self.verify(), 0)
        self.assertEqual(self.rows("SELECT version FROM KEEL_version"), ["4\n"])
        self.rows("UPDATE KEEL_sessions SET name = 'x'")
        self.assert_status(self.verify(), 1)

    def test_tables_that_an_older_keel_writes_to_are_left_alone(self):
        self.make_old()
        self.rows("UPDATE KEEL_sessions SET owner = 'other', holder = 'process 7 on a machine',"
                  " until = clock_timestamp() + interval '1 hour'")
        result = self.verify()
        self.assert_status(result, 1)
        self.assertIn("an older keel", result.err)
        self.assertIn("process 7 on a machine", result.err)
        self.assertEqual(self.rows("SELECT version FROM KEEL_version"), ["3\n"])
        self.rows("UPDATE KEEL_sessions SET until = clock_timestamp()")
        self.assert_status(self.verify(), 0)

    def test_a_session_that_the_list_does_not_lead_to(self):
        for value in ("parent = 'nothing'", f"parent = '{SESSION}'", "root = 'nothing'"):
            self.assert_found(f"UPDATE KEEL_sessions SET {value}", "--all")
        self.assert_found("DELETE FROM KEEL_sessions", "--all")

    def test_a_session_that_cannot_be_read_keeps_no_other_from_being_checked(self):
        self.assert_status(self.talk("--session-id", OTHER, "go"), 0)
        self.rows("CREATE FUNCTION KEEL_fail() RETURNS text LANGUAGE plpgsql AS"
                  " 'BEGIN RAISE EXCEPTION ''missing chunk number 0''; END'")
        for broken, fine in ((SESSION, OTHER), (OTHER, SESSION)):
            self.rows("ALTER TABLE KEEL_records RENAME TO keel_rows; CREATE VIEW KEEL_records AS"
                      " SELECT stream, seq, n, ms, type, run, turn, round, attempt, core, CASE WHEN"
                      f" stream = (SELECT number FROM KEEL_sessions WHERE id = '{broken}')"
                      " THEN KEEL_fail() ELSE body END AS body, sum FROM KEEL_rows")
            result = self.keel("session", "verify", "--all", "--json", env={"KEEL_STORE": self.url})
            self.assert_status(result, 1)
            checked = {one["id"]: one for one in result.json()}
            self.assertTrue(checked[fine]["whole"])
            [finding] = checked[broken]["findings"]
            self.assertEqual(finding["kind"], "damaged_store")
            self.assertIn("missing chunk number 0", finding["text"])
            self.rows("DROP VIEW KEEL_records; ALTER TABLE KEEL_rows RENAME TO keel_records")

    def test_a_payload(self):
        self.assert_found("UPDATE KEEL_blobs SET bytes = bytes || 'x'")
        self.assert_found("DELETE FROM KEEL_blobs")
        self.assert_found("DELETE FROM KEEL_payloads")


if __name__ == "__main__":
    scripted.main()
