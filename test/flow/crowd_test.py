"""crowd_test.py - what people do at once: many keel processes on one store, none of them killed.

Every store gets workers that begin, resume, list, show, search, verify, export, fork, rename,
delete and prune sessions side by side, each command a process of its own. Nothing may fail but for
the two reasons that a person would understand (the session is open elsewhere, or is gone), and in
the end the whole store must verify.

KEEL_TEST_DEPTH=all does as much as takes about a minute a store; KEEL_CROWD_SEED repeats a run.
"""
import os
import pathlib
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "crash"))

import agent  # noqa: E402
import scripted  # noqa: E402
from agent import AgentTest, Call, Turn, play  # noqa: E402
from scripted import ANTHROPIC, Answer  # noqa: E402
from stores import Postgres  # noqa: E402

IS_DEEP = os.environ.get("KEEL_TEST_DEPTH") == "all"
N_COMMANDS = 1500 if IS_DEEP else 90
N_WORKERS = 8 if IS_DEEP else 5
# What one process may say because of what another one does, and nothing else.
IS_OPEN = re.compile(r"is open in|is open\b|is written by|nothing is left|has nothing to resume")
IS_GONE = re.compile(r"session \"[^\"]*\" not found|no session in|names no session")


def answer(request):
    """A tool round for prompts that want one; the words of the prompt say how many."""
    body = request.json
    n_results = sum(part["type"] == "tool_result" for message in body["messages"]
                    if isinstance(message["content"], list) for part in message["content"])
    wants = re.findall(r"rounds=(\d+)", str(body["messages"]))
    if n_results < sum(map(int, wants)):
        call = Call("Bash", id=f"call_{n_results}", command=f"echo round {n_results}; head -c 300 "
                    "/dev/zero | tr '\\0' x")
        return play(ANTHROPIC, Turn("Working.", call))
    return play(ANTHROPIC, Turn("Done: all rounds are over."))


class Crowd(AgentTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("KEEL_CROWD_SEED", random.randrange(1 << 32)))
        print(f"KEEL_CROWD_SEED={self.seed}", file=sys.stderr)
        self.model = self.provider(answer)
        self.lock, self.sessions, self.left, self.problems = threading.Lock(), [], N_COMMANDS, []

    def tool(self, *arguments):
        return self.keel(*arguments, "--store", self.store)

    def run_print(self, *arguments):
        return self.run_agent(ANTHROPIC, self.model, "--store", self.store, "--output-format",
                              "json", *arguments)

    def begin(self, dice, _):
        result = self.run_print(f"rounds={dice.randrange(4)}")
        if result.status == 0:
            with self.lock:
                self.sessions.append(result.json()["session_id"])
        return result

    def commands(self):
        return [
            self.begin, self.begin,
            lambda dice, id: self.run_print("-r", id, f"more: rounds={dice.randrange(6)}"),
            lambda dice, id: self.run_print("-r", id, f"more: rounds={dice.randrange(6)}"),
            lambda dice, id: self.run_print("-r", id, "--fork-session", "again: rounds=1"),
            lambda dice, id: self.tool("session", "list", "--all"),
            lambda dice, id: self.tool("session", "show", id),
            lambda dice, id: self.tool("session", "search", "rounds"),
            lambda dice, id: self.tool("session", "verify", id),
            lambda dice, id: self.tool("session", "export", id, "--format", "jsonl", "--output",
                                       str(self.dir / f"{dice.random()}.jsonl")),
            lambda dice, id: self.tool("session", "fork", id),
            lambda dice, id: self.tool("session", "rename", id, f"n{dice.randrange(100)}"),
            lambda dice, id: self.tool("session", "prune"),
            self.delete,
        ]

    def delete(self, dice, id):
        with self.lock:
            if len(self.sessions) > 6 and id in self.sessions:
                self.sessions.remove(id)
        return self.tool("session", "delete", "--yes", id)

    def work(self, number):
        dice, commands = random.Random(self.seed + number), self.commands()
        while not self.problems:
            with self.lock:
                self.left -= 1
                if self.left < 0:
                    return
                id = dice.choice(self.sessions)
            self.judge(dice.choice(commands)(dice, id))

    def judge(self, result):
        told = result.err + result.out
        is_fine = result.status == 0 or IS_OPEN.search(told) or IS_GONE.search(told)
        if not is_fine or re.search(r"malformed|not a database|Sanitizer|BUG", told):
            self.problems.append(str(result))

    def let_them_work(self):
        for _ in range(3):
            self.judge(self.begin(random.Random(self.seed), None))
        workers = [threading.Thread(target=self.work, args=(n,)) for n in range(N_WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(self.problems, [])
        result = self.tool("session", "verify", "--all")
        self.assert_status(result, 0)

    def test_many_processes_share_a_database(self):
        self.store = f"sqlite:{self.dir}/keel.db"
        self.let_them_work()
        with sqlite3.connect(f"{self.dir}/keel.db") as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        database.close()

    def test_many_processes_share_a_directory(self):
        self.store = f"files:{self.dir}/sessions"
        self.let_them_work()

    def test_many_processes_share_a_server(self):
        if not Postgres.programs():
            self.skipTest("PostgreSQL is not installed")
        with tempfile.TemporaryDirectory(prefix="keel-crowd-") as directory:
            server = Postgres(pathlib.Path(directory))
            self.addCleanup(server.close)
            self.store = f"postgresql:///postgres?host={server.dir}&user=keel"
            self.let_them_work()
            server.close()


def locks_of(path):
    """Kinds of the locks that processes hold on a file: {(pid, "READ"), ...}."""
    stat, found = os.stat(path), set()
    for line in pathlib.Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.replace("-> ", "").split()
        device, inode = fields[5].rsplit(":", 1)
        major, minor = (int(part, 16) for part in device.split(":"))
        if os.makedev(major, minor) == stat.st_dev and int(inode) == stat.st_ino:
            found.add((int(fields[4]), fields[3]))
    return found


class Locks(AgentTest):
    """SQLite's locks are the process's: opening and closing its file elsewhere drops them."""

    def hold_a_run(self, *arguments, turns=()):
        """A run that waits for its last answer, and what it is asked until then."""
        is_asked, may_end = threading.Event(), self.hold()
        turns = list(turns)

        def next_answer(_):
            if turns:
                return play(ANTHROPIC, turns.pop(0))
            is_asked.set()
            return Answer([may_end, *agent.ENCODERS["anthropic-messages"](Turn("Fine."))])
        provider = self.provider(next_answer)
        process = self.start_agent(ANTHROPIC, provider, *arguments)
        self.assertTrue(is_asked.wait(scripted.HANG_SECONDS))
        return process, may_end

    def assert_locked(self, process, database):
        self.assertIn((process.pid, "READ"), locks_of(database))

    def end(self, process, may_end):
        may_end.set()
        self.assert_status(self.finish(process), 0)

    def test_a_new_and_a_resumed_session_hold_the_lock_of_the_database(self):
        database = self.keel_home / "keel.db"
        for arguments in (["hi"], ["-c", "and again"]):
            process, may_end = self.hold_a_run(*arguments)
            self.assert_locked(process, database)
            self.assert_fine(self.keel("session", "list"))
            self.assert_locked(process, database)
            self.end(process, may_end)

    def test_tools_do_not_open_the_database_that_is_in_use(self):
        database = self.project / "k.db"
        turns = [Turn(Call("Grep", id="call_1", pattern="SQLite", path=".", output_mode="content")),
                 Turn(Call("Read", id="call_2", file_path=str(database))),
                 Turn(Call("Bash", id="call_3", command="ln -s k.db other; ls")),
                 Turn(Call("Read", id="call_4", file_path=str(self.project / "other"))),
                 Turn(Call("Grep", id="call_5", pattern="SQLite", path="other"))]
        process, may_end = self.hold_a_run("hi", "--store", f"sqlite:{database}", turns=turns)
        self.assert_locked(process, database)
        self.end(process, may_end)

    def test_a_database_that_is_removed_under_a_run_ends_it(self):
        process, may_end = self.hold_a_run("hi")
        os.unlink(self.keel_home / "keel.db")
        may_end.set()
        result = self.finish(process)
        self.assert_status(result, 1)
        self.assertIn("was moved or removed while in use", result.err)

    def test_a_log_that_is_cut_under_a_run_ends_it(self):
        process, may_end = self.hold_a_run("hi")
        os.truncate(self.keel_home / "keel.db-wal", 0)
        may_end.set()
        result = self.finish(process)
        self.assert_status(result, 1)
        self.assertIn("or truncated", result.err)
        with sqlite3.connect(self.keel_home / "keel.db") as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        database.close()

    def test_a_log_that_another_program_empties_goes_on(self):
        process, may_end = self.hold_a_run("hi")
        database = sqlite3.connect(self.keel_home / "keel.db")
        self.assertEqual(database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0], 0)
        database.close()
        self.assertEqual((self.keel_home / "keel.db-wal").stat().st_size, 0)
        self.end(process, may_end)
        self.assert_fine(self.keel("session", "verify", "--all"))

    def test_payloads_that_are_removed_under_a_run_end_it(self):
        (self.dir / "a").mkdir()
        for store, payloads in ((f"sqlite:{self.dir}/a/k.db", "a/blobs"),
                                (f"files:{self.dir}/b", "b/*.payloads")):
            with self.subTest(store):
                def answer(request):
                    n = request.body.count(b'"tool_result"')
                    if n == 1:
                        [directory] = self.dir.glob(payloads)
                        shutil.rmtree(directory)
                    call = Call("Bash", id=f"call_{n}", command=f"seq {n} 20000")
                    return play(ANTHROPIC, Turn(call) if n < 3 else Turn("Done."))
                result = self.run_agent(ANTHROPIC, self.provider(answer), "hi", "--store", store)
                self.assert_status(result, 1)
                self.assertIn("was moved or removed while in use", result.err)

    def test_a_database_that_gets_a_second_name_under_a_run_ends_it(self):
        process, may_end = self.hold_a_run("hi")
        os.link(self.keel_home / "keel.db", self.keel_home / "other.db")
        may_end.set()
        result = self.finish(process)
        self.assert_status(result, 1)
        self.assertIn("has 2 hard links", result.err)

    def test_the_default_database_may_be_a_link_to_another_disk(self):
        disk = self.dir / "disk"
        disk.mkdir()
        self.keel_home.mkdir(exist_ok=True)
        (self.keel_home / "keel.db").symlink_to(disk / "real.db")
        long = Call("Bash", id="call_1", command="seq 1 20000")
        process, may_end = self.hold_a_run("hi", turns=[Turn(long)])
        self.assertEqual(self.keel("session", "list").out.count("hi"), 1)
        self.end(process, may_end)
        self.assert_fine(self.keel("session", "verify", "--all"))
        self.assert_fine(self.keel("session", "verify", "--all", "--store", f"{disk}/real.db"))
        beside = {path.name for path in self.keel_home.iterdir()}
        self.assertFalse({"blobs", "keel.db-wal", "keel.db-locks"} & beside, beside)

    def test_a_directory_of_sessions_that_is_removed_under_a_run_ends_it(self):
        process, may_end = self.hold_a_run("hi", "--store", f"files:{self.dir}/sessions")
        shutil.rmtree(self.dir / "sessions")
        may_end.set()
        result = self.finish(process)
        self.assert_status(result, 1)
        self.assertIn("was moved or removed while in use", result.err)


if __name__ == "__main__":
    scripted.main()
