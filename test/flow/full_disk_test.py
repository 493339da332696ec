"""full_disk_test.py - a person whose disk is full: what can still be done, and what keel reports.

keel's home is a small disk of its own, which the test fills to the last byte. That needs a mount
namespace; where none can be made the tests are skipped.
"""
import json
import os
import subprocess
import sys

import scripted
from agent import AgentTest, Turn
from scripted import ANTHROPIC

KINDS = ("sqlite", "files")
DISK_BYTES = 16 << 20
IN_NAMESPACE = "KEEL_TEST_MOUNTS"


def enter_namespace():
    """Runs this program again where it may mount disks."""
    for way in (["unshare", "-m"], ["unshare", "-Urm"]):
        if subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0:
            os.environ[IN_NAMESPACE] = "1"
            os.execvp(way[0], [*way, sys.executable, __file__, scripted.keel_test.KEEL,
                               *sys.argv[1:]])


class FullDisk(AgentTest):
    def setUp(self):
        if IN_NAMESPACE not in os.environ:
            self.skipTest("no namespace can be made here in which a disk could be mounted")
        super().setUp()
        self.n_sessions = 0

    def use(self, kind):
        """An empty disk, for a store of this kind."""
        self.kind = kind
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none",
                        str(self.keel_home)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.keel_home)], check=True)
        self.user_settings({})

    def store(self, kind):
        return {"sqlite": f"sqlite:{self.keel_home}/keel.db",
                "files": f"files:{self.keel_home}/sessions"}[kind]

    def session(self, *arguments):
        return self.keel("session", *arguments, "--store", self.store(self.kind))

    def add_session(self, *long_texts, n=40):
        """One with `n` prompts and these texts as further ones; its id."""
        self.n_sessions += 1
        id = f"{self.n_sessions:08d}-1111-4111-8111-111111111111"
        texts = [f"prompt {i} " + "x" * 2000 for i in range(n)] + list(long_texts)
        messages = [{"role": role, "content": text} for prompt in texts
                    for role, text in (("user", prompt), ("assistant", "Fine."))]
        path = self.write("record.json", {"id": id, "messages": messages, "history": []})
        self.assert_fine(self.session("import", path))
        return id

    def free_bytes(self):
        disk = os.statvfs(self.keel_home)
        return disk.f_bavail * disk.f_frsize

    def empty_log(self):
        """Of a database: one that was left with something in it has room for more. Whoever closes
        the database would remove it."""
        path = self.keel_home / "keel.db"
        if path.exists():
            subprocess.run([sys.executable, "-c", "import os, sqlite3, sys; sqlite3.connect("
                            "sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall();"
                            "os._exit(0)", str(path)], check=True)

    def fill(self, n_left=0):
        self.empty_log()
        with open(self.keel_home / "filler", "wb", buffering=0) as file:
            file.write(b"x" * (self.free_bytes() - n_left))
        self.assertLessEqual(self.free_bytes(), n_left)

    def make_room(self):
        (self.keel_home / "filler").unlink()

    def listed(self):
        result = self.session("list", "--all", "--json")
        self.assert_fine(result)
        return {entry["id"]: entry["name"] for entry in result.json()}

    def assert_whole(self, *ids):
        self.assertEqual(set(self.listed()), set(ids))
        self.assert_status(self.session("verify", "--all"), 0)

    def for_each_store(self, test):
        for kind in KINDS:
            with self.subTest(kind):
                self.use(kind)
                test()

    def test_doctor_finds_it(self):
        self.use("sqlite")
        env = {"ANTHROPIC_API_KEY": "k"}
        self.assertNotIn("MB left", self.keel("doctor", env=env).out)
        self.fill()
        result = self.keel("doctor", env=env)
        self.assert_status(result, 1)
        self.assertIn(f"BAD   home             {self.keel_home} is on a disk with 0.0 MB left: "
                      "sessions may not be stored; free some space", result.out)

    # --- deleting ---

    def test_a_session_can_be_deleted_and_makes_room(self):
        def test():
            gone, kept = self.add_session("s" * 100000, "o" * 500000), self.add_session("s" * 100000)
            self.fill()
            self.assert_fine(self.session("delete", gone, "--yes"))
            self.assertGreater(self.free_bytes(), 400000)
            self.assert_whole(kept)
            self.assert_refused(self.session("show", gone), 2, "not found")
        self.for_each_store(test)

    def test_a_session_without_anything_large_can_be_deleted(self):
        def test():
            gone, kept = self.add_session(), self.add_session()
            self.fill()
            self.assert_fine(self.session("delete", gone, "--yes"))
            self.assert_whole(kept)
            self.make_room()
            self.assert_whole(kept)
            self.assertNotIn(gone, self.session("search", "prompt", "--json").out)
            self.assert_fine(self.session("prune"))  # what is left of it
            self.assertEqual(self.count_rows(gone), 0)
        self.for_each_store(test)

    def count_rows(self, id):
        if self.kind == "files":
            return len(list((self.keel_home / "sessions").rglob(f"*{id}*")))
        script = f"select count(*) from sessions where id = '{id}'"
        marks = list((self.keel_home / "keel.db-locks").glob("*.removed"))
        out = subprocess.run(["python3", "-c", "import sqlite3, sys; print(sqlite3.connect("
                              "sys.argv[1]).execute(sys.argv[2]).fetchone()[0])",
                              str(self.keel_home / "keel.db"), script],
                             capture_output=True, text=True, check=True)
        return int(out.stdout) + len(marks)

    def test_what_is_deleted_does_not_come_back_by_an_import(self):
        def test():
            gone = self.add_session()
            path = self.write("again.json", {"id": gone, "history": [], "messages": [
                {"role": "user", "content": "hi"}, {"role": "assistant", "content": "new"}]})
            self.fill()
            self.assert_fine(self.session("delete", gone, "--yes"))
            self.fill()
            self.assert_status(self.session("import", path), 1)
            self.assertEqual(self.listed(), {})
            self.make_room()
            self.assert_status(self.session("import", path), 0)
            shown = self.session("show", gone)
            self.assertIn("new", shown.out)
            self.assertNotIn("prompt", shown.out)
        self.for_each_store(test)

    def test_all_that_is_too_much_can_be_pruned(self):
        """The stamp that says when this was done last is on the same disk."""
        def test():
            old = self.add_session("o" * 500000)
            self.user_settings({"sessions": {"maxBytes": 1}})
            self.fill()
            result = self.session("prune")
            self.assert_fine(result)
            self.assertIn(old, result.out)
            self.assertEqual(self.listed(), {})
            self.user_settings({})
        self.for_each_store(test)

    def test_nothing_to_prune_is_not_a_failure(self):
        def test():
            kept = self.add_session()
            self.fill()
            result = self.session("prune")
            self.assert_status(result, 0)
            self.assertEqual(result.out, "0 sessions (0.0 MB) removed\n")
            self.assertIn("cannot write to keel's home", result.err)
            self.assert_whole(kept)
        self.for_each_store(test)

    # --- other changes ---

    def test_what_has_no_room_says_what_to_do(self):
        """And leaves all as it was."""
        def test():
            id = self.add_session()
            self.fill()
            path = str(self.keel_home / "out.jsonl")
            for command in (["fork", id], ["rebuild"], ["export", id, "--output", path]):
                with self.subTest(command[0]):
                    self.assert_refused(self.session(*command), 1, "free some")
            self.assert_whole(id)
        self.for_each_store(test)

    def test_a_new_name_is_there_or_it_is_not(self):
        def test():
            id = self.add_session()
            self.fill()
            result = self.session("rename", id, "another name")
            if result.status == 0:
                self.assertIn("keel: the session is renamed, but: the record beside the log is "
                              "out of date", result.err)
                self.assertIn("keel session rebuild", result.err)
            else:
                self.assert_refused(result, 1, "free some")
            self.assertEqual(self.listed()[id], "another name" if result.status == 0 else "")
            self.make_room()
            self.assertEqual(self.listed()[id], "another name" if result.status == 0 else "")
            self.assert_whole(id)
            self.session("delete", id, "--yes")
        self.for_each_store(test)

    def test_a_log_has_room_for_a_name_where_its_record_has_none(self):
        self.use("files")
        id = self.add_session()
        self.fill(4096)
        self.assert_status(self.session("rename", id, "another name"), 0)
        self.assertEqual(self.listed()[id], "another name")
        self.make_room()
        self.assert_fine(self.session("rebuild"))
        record = json.loads((self.keel_home / "sessions" / f"{id}.json").read_text())
        self.assertEqual(record["name"], "another name")

    def test_a_copy_whose_record_has_no_room_is_made(self):
        self.use("files")
        id = self.add_session(n=60)  # too short for a pack of its messages
        self.fill((self.keel_home / "sessions" / f"{id}.jsonl").stat().st_size + 65536)
        result = self.session("fork", id)
        self.assert_status(result, 0)
        self.assertIn("the record beside the log is out of date", result.err)
        self.assert_whole(id, result.out.strip())

    def test_a_run_says_that_it_is_not_stored(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.use(kind)
                store = self.store(kind)
                provider = self.play(ANTHROPIC, Turn("Fine."))
                first = self.run_agent(ANTHROPIC, provider, "--store", store, "hi")
                self.assert_answer(first, "Fine.")
                self.fill()
                again = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")), "--store",
                                       store, "-c", "and?")
                self.assert_status(again, 1)
                self.assertIn("free some", again.err)
                told = [line.split("cannot ")[-1] for line in again.err.splitlines()
                        if "cannot " in line]
                self.assertLessEqual(len(told), 2, again)  # while it ran, and as its result
                self.make_room()
                self.assert_status(self.session("verify", "--all"), 0)


if __name__ == "__main__":
    if IN_NAMESPACE not in os.environ:
        enter_namespace()
    scripted.main()
