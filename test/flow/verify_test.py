"""verify_test.py - sessions are checked, and what is derived of them is made again.

A session is damaged through SQLite or in its files, one thing at a time; keel says what it was.
"""
import fcntl
import json
import os
import re
import shutil
import sqlite3

import scripted
from agent import AgentTest, Call, Turn
from record_sum import seal
from scripted import ANTHROPIC, for_each_protocol

SESSION = "00000000-0000-7000-8000-000000000001"


class Kept(AgentTest):
    def keep(self, *turns, protocol=ANTHROPIC, arguments=(), status=0):
        provider = self.play(protocol, *turns)
        result = self.run_agent(protocol, provider, "--session-id", SESSION, *arguments, "go")
        self.assert_status(result, status)

    def keep_usual(self, protocol=ANTHROPIC, arguments=()):
        self.keep(Turn("I look.", Call("Bash", command="echo one"), Call("Nothing")),
                  Turn("Done."), protocol=protocol, arguments=arguments)

    def change(self, statement, *values):
        """One row, with its checksum; a record in whichever table of records it is."""
        statements = {re.sub(r"\brecords\b", table, statement) for table in ("records", "streamed")}
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            self.assertEqual(1, sum(db.execute(s, values).rowcount for s in statements))
            seal(db)

    def findings(self, *arguments):
        result = self.keel("session", "verify", SESSION, "--json", *arguments)
        [session] = json.loads(result.out)
        self.assert_status(result, 0 if session["whole"] else 1)
        return [finding["kind"] for finding in session["findings"]]


class Whole(Kept):
    @for_each_protocol
    def test_a_session_with_tools(self, protocol):
        shutil.rmtree(self.keel_home, ignore_errors=True)
        self.keep_usual(protocol)
        self.assertEqual(self.findings(), [])

    def test_retries_and_failures(self):
        busy = scripted.json_answer({"error": {"message": "busy"}}, 529, retry_after="0")
        refused = scripted.json_answer({"error": {"message": "no"}}, 400)
        self.keep(busy, Turn("Half", Call("Bash", command="true")), refused, status=1)
        self.assertEqual(self.findings(), [])

    def test_in_words(self):
        self.keep_usual()
        result = self.keel("session", "verify")
        self.assert_fine(result)
        self.assertRegex(result.out, r"^00000000-0000  whole: \d+ events, 1 run, 2 attempts, "
                                     r"2 tool calls\n$")

    def test_all_of_a_store(self):
        self.keep_usual()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Two.")), "more"))
        result = self.keel("session", "verify", "--all")
        self.assert_fine(result)
        self.assertEqual(result.out.count("whole"), 2)

    def test_sessions_that_are_removed_meanwhile_are_no_damage(self):
        """They are listed, then the reader lets keel wait until the oldest one is gone."""
        n = 200
        records = [{"id": f"00000000-0000-7000-8000-{i:012d}", "updatedAt": 1_700_000_000_000 + i,
                    "messages": [{"role": "user", "content": "hi"}]} for i in range(n)]
        self.assert_fine(self.keel("session", "import",
                                   str(self.write("in.json", json.dumps(records)))))
        [oldest] = json.loads(self.keel("session", "list", "--all", "--limit", "0",
                                        "--json").out)[-1:]
        for form in ((), ("--json",)):
            with self.subTest(form):
                ours, its = os.pipe()
                fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, 4096)
                process = self.start("session", "verify", "--all", *form, stdout=its)
                os.close(its)
                out = os.read(ours, 1)
                self.assert_fine(self.keel("session", "delete", oldest["id"], "--yes"))
                with os.fdopen(ours, "rb") as rest:
                    out += rest.read()
                self.assert_fine(self.finish(process))
                n -= 1
                self.assertEqual(len(json.loads(out)) if form else out.count(b"whole"), n)
                [oldest] = json.loads(self.keel("session", "list", "--all", "--limit", "0",
                                                "--json").out)[-1:]


class Damaged(Kept):
    def lose(self, kind):
        self.change("delete from records where key = "
                    "(select min(key) from records where type = ?)", kind)

    def test_what_is_lost_is_named(self):
        self.keep_usual()
        saved = (self.keel_home / "keel.db").read_bytes()
        for kind, finding in (
                ("provider_response_raw", "missing_provider_response_raw"),
                ("provider_response_normalized", "unreadable_record"),  # others refer to it
                ("provider_request", "missing_provider_request"),
                ("attempt_end", "missing_attempt_end"),
                ("tool_execution_request", "unmatched_tool_result"),
                ("tool_execution_result", "unmatched_tool_request"),
                ("tool_end", "unreadable_record")):
            with self.subTest(kind):
                for path in self.keel_home.glob("keel.db*"):
                    if path.is_file():
                        path.unlink()
                (self.keel_home / "keel.db").write_bytes(saved)
                self.lose(kind)
                found = self.findings()
                self.assertEqual(found[0], "missing_records")
                self.assertIn(finding, found)

    def test_the_bytes_of_an_answer(self):
        self.keep(Turn("Done."))
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            db.execute("delete from streamed where type = 'provider_stream'")
        found = self.findings()
        self.assertEqual(set(found), {"missing_records", "missing_provider_native_raw_payload"})

    def test_a_message_that_was_changed(self):
        self.keep(Turn("I look.", Call("Bash", command="echo one")), Turn("Done."))
        self.change("update records set body = replace(body, 'I look.', 'I took.') "
                    "where type = 'provider_response_raw' and body like '%I look.%'")
        self.assertEqual(set(self.findings()), {"history_mismatch"})

    def test_a_record_that_is_no_json(self):
        self.keep_usual()
        self.change("update records set body = '{\"mutation' where key = "
                    "(select max(key) from records where type = 'tool_message_committed')")
        self.assertEqual(self.findings(), ["unreadable_record"])

    def test_payloads(self):
        self.keep_usual()
        [*blobs] = [path for path in (self.keel_home / "blobs").rglob("*") if path.is_file()]
        self.assertTrue(blobs)
        blobs[0].chmod(0o600)
        blobs[0].write_bytes(blobs[0].read_bytes()[:-1] + b"~")
        self.assertIn("invalid_payload", self.findings())
        blobs[0].unlink()
        self.assertIn("invalid_payload", self.findings())


class Rebuilt(Kept):
    def look(self, *store):
        listed = self.keel("session", "list", "--json", *store)
        self.assert_fine(listed)
        # The size of payloads is not in the records: it is not made again.
        return [{**session, "bytes": None} for session in json.loads(listed.out)]

    def rebuild(self, *store):
        result = self.keel("session", "rebuild", *store)
        self.assert_fine(result)
        return result.out

    def test_entries_of_a_database(self):
        self.keep_usual()
        before = self.look()
        self.change("update sessions set preview = 'x', n_messages = 77, model = 'y'")
        self.assertNotEqual(self.look(), before)
        self.assertEqual(self.rebuild(), "index and search of 1 session made again; "
                                         "1 entry corrected\n")
        self.assertEqual(self.look(), before)
        self.assertIn("0 entries corrected", self.rebuild())

    def test_index_and_record_of_files(self):
        store = ["--store", f"files:{self.project}/sessions"]
        self.keep_usual(arguments=store)
        before, directory = self.look(*store), self.project / "sessions"
        record = (directory / f"{SESSION}.json").read_text()
        (directory / f"{SESSION}.json").unlink()
        for path in directory.glob("index*"):
            path.write_bytes(b"nonsense\n")
        self.assertEqual(self.rebuild(*store), "index and search of 1 session made again; "
                                               "0 entries corrected; 1 record written\n")
        self.assertEqual(self.look(*store), before)
        self.assertEqual((directory / f"{SESSION}.json").read_text(), record)


if __name__ == "__main__":
    scripted.main()
