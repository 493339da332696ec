"""verify_test.py - sessions are checked, and what is derived of them is made again.

A session is damaged through SQLite or in its files, one thing at a time; keel says what it was.
"""
import fcntl
import json
import os
import re
import shutil
import socket
import sqlite3

import scripted
from agent import AgentTest, Call, Turn
from record_sum import seal
from scripted import ANTHROPIC, for_each_protocol

SESSION = "00000000-0000-7000-8000-000000000001"
PAGE_SIZE = 4096  # of a database
LEAF = 0x0d       # the first byte of a page of rows


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
        self.assertRegex(result.out, r"^00000000-0000-7000-8000-\d{12}  whole: \d+ events, 1 run, 2 attempts, "
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
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            db.execute("pragma wal_checkpoint(truncate)")  # the log holds what is newest
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


class OneOfMany(AgentTest):
    """One session is broken so that its store cannot read it: the others are checked all the same."""
    IDS = [f"00000000-0000-7000-8000-{i:012d}" for i in range(1, 6)]
    BROKEN = IDS[2]

    def keep_many(self, url):
        self.url = url
        records = [{"id": id, "updatedAt": 1_700_000_000_000, "name": f"session {id[-1]}",
                    "messages": [{"role": "user", "content": f"hello {id}"}]} for id in self.IDS]
        path = self.write("in.json", json.dumps(records))
        self.assert_fine(self.keel("session", "import", str(path), "--store", url))

    def assert_others_are_checked(self, said, broken=(BROKEN,)):
        told = self.keel("session", "verify", "--all", "--store", self.url)
        result = self.keel("session", "verify", "--all", "--json", "--store", self.url)
        self.assertEqual((told.status, result.status, result.err), (1, 1, ""), told)
        self.assertEqual(told.out.count("whole"), len(self.IDS) - len(broken), told)
        self.assertRegex(told.out, said)
        sessions = {session["id"]: session for session in json.loads(result.out)}
        for id in self.IDS:
            if id not in broken:
                self.assertTrue(sessions.pop(id)["whole"])
        self.assertLessEqual(set(sessions), {"", *broken})  # "": of what the list does not have
        findings = [finding for session in sessions.values() for finding in session["findings"]]
        self.assertEqual({finding["kind"] for finding in findings}, {"damaged_store"})
        self.assertRegex(findings[0]["text"], said)

    def break_log(self, directory, kind):
        log = directory / f"{self.BROKEN}.jsonl"
        log.unlink()
        if kind == "directory":
            log.mkdir()
        elif kind == "pipe":
            os.mkfifo(log)
        elif kind == "dangling link":
            log.symlink_to("nowhere")
        elif kind == "circle of links":
            log.symlink_to(log.name)
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(str(log))

    def test_a_log_that_is_not_there_or_not_a_file(self):
        """Also where the session was open when its process died, which its lock tells."""
        directory = self.project / "sessions"
        self.keep_many(f"files:{directory}")
        kept = self.project / "kept"
        shutil.copytree(directory, kept)
        for kind, said in (("missing", "missing"), ("directory", "is not a regular file"),
                           ("pipe", "is not a regular file"),
                           ("dangling link", "is a symbolic link"),
                           ("circle of links", "is a symbolic link"), ("socket", "cannot open")):
            for was_open in (False, True):
                with self.subTest(kind, was_open=was_open):
                    shutil.rmtree(directory)
                    shutil.copytree(kept, directory)
                    self.break_log(directory, kind)
                    if was_open:
                        (directory / ".locks" / f"{self.BROKEN}.lock").touch()
                    self.assert_others_are_checked(said)

    def test_a_log_that_the_list_cannot_be_made_of(self):
        directory = self.project / "sessions"
        self.keep_many(f"files:{directory}")
        for kind, said in (("pipe", "is not a regular file"),
                           ("dangling link", "is a symbolic link")):
            with self.subTest(kind):
                self.break_log(directory, kind)
                (directory / ".index").unlink()
                self.assert_others_are_checked(said)

    def test_a_log_that_may_not_be_read(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        directory = self.project / "sessions"
        self.keep_many(f"files:{directory}")
        (directory / f"{self.BROKEN}.jsonl").chmod(0)
        self.assert_others_are_checked("cannot open")

    def test_a_payload_that_is_a_pipe(self):
        directory = self.project / "sessions"
        provider = self.play(ANTHROPIC, Turn("I look.", Call("Bash", command="seq 20000")),
                             Turn("Done."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "--session-id", SESSION, "--store",
                                          f"files:{directory}", "go"), 0)
        path = next((directory / f"{SESSION}.payloads").iterdir())
        path.unlink()
        os.mkfifo(path)
        result = self.keel("session", "verify", "--all", "--store", f"files:{directory}")
        self.assert_status(result, 1)
        self.assertIn("is not a regular file", result.out)

    def break_pages(self, n_bytes, is_broken, change):
        """Records of the session get pages of their own; what `change` makes of them is written."""
        path = self.project / "keel.db"
        with sqlite3.connect(path) as db:
            db.execute("pragma journal_mode = delete")
            db.execute("update records set body = body || printf('%*c', ? - length(body), ' ') where"
                       " key >> 40 = (select number from sessions where id = ?)",
                       (n_bytes, self.BROKEN))
            seal(db)
        db.close()
        data = path.read_bytes()
        pages = [data[at:at + PAGE_SIZE] for at in range(0, len(data), PAGE_SIZE)]
        self.assertTrue(any(is_broken(page) for page in pages))
        path.write_bytes(b"".join(change(page) if is_broken(page) else page for page in pages))

    def test_a_page_of_a_long_record_in_a_database(self):
        """Such pages are a chain: the first word leads to the next one."""
        self.keep_many(f"sqlite:{self.project}/keel.db")
        self.break_pages(8 * PAGE_SIZE, lambda page: page[4:] == b" " * (PAGE_SIZE - 4),
                         lambda page: b"\xff\xff\xff\xff" + page[4:])
        self.assert_others_are_checked("malformed")

    def test_a_page_of_records_in_a_database(self):
        """The session was open when its process died: the list looks at its last record. Who reads
        the one before it comes to the page, too."""
        self.keep_many(f"sqlite:{self.project}/keel.db")
        with sqlite3.connect(self.project / "keel.db") as db:
            db.execute("update sessions set is_leased = 1 where id = ?", (self.BROKEN,))
        db.close()
        self.break_pages(PAGE_SIZE - 400, lambda page: page[0] == LEAF and b" " * 1000 in page,
                         lambda page: b"\xff" + page[1:])
        with sqlite3.connect(self.project / "keel.db") as db:
            [[before]] = db.execute("select b.id from sessions a join sessions b on b.number ="
                                    " a.number - 1 where a.id = ?", (self.BROKEN,))
        db.close()
        self.assert_others_are_checked("malformed", (before, self.BROKEN))


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
        self.assertEqual(self.rebuild(), "rebuilt index and search of 1 session; "
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
        self.assertEqual(self.rebuild(*store), "rebuilt index and search of 1 session; "
                                               "0 entries corrected; 1 record written\n")
        self.assertEqual(self.look(*store), before)
        self.assertEqual((directory / f"{SESSION}.json").read_text(), record)


if __name__ == "__main__":
    scripted.main()
