"""command_test.py - `keel session ...` is killed anywhere: nothing is half done, and it can be repeated.

Each command is killed before, in and after every call that leaves something in the store, the
workspace or keel's home (fault.c). Then the next process must find all sessions whole, the command
must work when it is repeated, and nothing may be left of the one that was killed.
KEEL_TEST_DEPTH=all tries all of it, otherwise a sample; KEEL_CRASH_SEED repeats what a failure has
printed.
"""
import json
import random
import re
import subprocess
import time

import stage
from agent import Call, Turn
from crash_test import DEPTH, SEED, CrashTest, orders_of
from stage import HANG_SECONDS, NO_SESSION, keel_test

N_SAMPLES = {"sqlite": 2, "files": 2, "postgres": 1}  # of a command, unless all are tried
LONG = "a long text " * 8000  # goes to a blob or payload
# A command that was done before it was killed has nothing to do when it is repeated.
NOTHING_TO_DO = re.compile("no turn to undo|would not make it shorter")


def root(case):
    """Locks of PostgreSQL are the whole database's, so every case has ids of its own."""
    return f"0190a000-0000-7000-8000-{2 * case.number:012d}"


def child(case):
    return f"0190a000-0000-7000-8000-{2 * case.number + 1:012d}"


def record(case):
    """A session with a run below it, as other programs write them."""
    messages = [{"role": "user", "content": "hi"}]
    for number in range(20):
        messages += [{"role": "assistant", "content": LONG if number == 7 else f"answer {number}"},
                     {"role": "user", "content": f"and {number}?"}]
    messages.append({"role": "assistant", "content": "That is all."})
    below = {"id": child(case), "cwd": str(case.project), "parentSessionId": root(case),
             "messages": [{"role": "user", "content": "below"},
                          {"role": "assistant", "content": LONG + "below"}]}
    return {"id": root(case), "cwd": str(case.project), "messages": messages, "children": [below]}


class Command:
    """One command: what is there before, and what must be true after it was killed."""

    name = ""

    def arguments(self, case):
        return (self.name, root(case))

    def prepare(self, case):
        self.make_file(case)
        run(case, "import", str(case.dir / "in.json"))

    def make_file(self, case):
        (case.dir / "in.json").write_text(json.dumps(record(case)))

    def check(self, case, killed):
        """Right after it was killed, or has ended."""

    def check_repeated(self, case):
        """After it was done again."""


def keel(case, *arguments, order=None):
    result = subprocess.run([keel_test.KEEL, "session", *arguments], cwd=case.project,
                            env=case.environment(order=order), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANG_SECONDS,
                            check=False)
    return keel_test.Result(["session", *arguments], result.returncode, result.stdout,
                            result.stderr)


def wait_closed(case):
    """PostgreSQL sees that a process is gone a moment after it is."""
    end = time.monotonic() + HANG_SECONDS
    while case.store.name == "postgres" and any(
            item["open"] for item in json.loads(run(case, "list", "--all", "--json").out)):
        case.require(time.monotonic() < end, "the session of a process that is gone stays open")


def run(case, *arguments):
    result = keel(case, *arguments)
    case.require(result.status == 0, "it fails", result)
    return result


def has_store(case):
    """One that is killed early enough has not made its store yet."""
    result = keel(case, "list", "--all")
    return result.status == 0 or not NO_SESSION.search(result.err)


def sessions(case):
    """By id: how many messages each has."""
    return {item["id"]: item["messages"]
            for item in json.loads(run(case, "list", "--all", "--limit", "0", "--json").out)}


def shown(case, session):
    return json.loads(run(case, "export", session, "-f", "json").out)


def require_whole(case, session):
    """The session and what is below it are as they were imported."""
    whole = shown(case, session)
    want = record(case)
    texts = [message["content"] for message in whole["messages"]]
    case.require(texts == [message["content"] for message in want["messages"]],
                 "messages are missing", len(texts))
    case.require(len(whole["children"]) == 1, "the run below it is missing")


class Fork(Command):
    name = "fork"

    def check(self, case, killed):
        found = sessions(case)
        case.require(len(set(found.values())) == 1 and len(found) in (1, 2),
                     "a copy is there in part", found)

    def check_repeated(self, case):
        self.check_count(case, (2, 3))

    def check_count(self, case, counts):
        found = sessions(case)
        case.require(len(found) in counts and len(set(found.values())) == 1, "copies", found)


class Import(Command):
    name = "import"

    def arguments(self, case):
        return (self.name, "../in.json")

    def prepare(self, case):
        self.make_file(case)

    def check(self, case, killed):
        found = sessions(case)
        case.require(len(found) <= 1, "there is more than was imported", found)
        for session in found:
            require_whole(case, session)

    def check_repeated(self, case):
        found = sessions(case)
        case.require(len(found) in (1, 2), "there are sessions that nobody imported", found)
        for session in found:
            require_whole(case, session)


class Delete(Command):
    name = "delete"

    def arguments(self, case):
        return (self.name, root(case), "--yes")

    def check(self, case, killed):
        if sessions(case):
            require_whole(case, root(case))

    def check_repeated(self, case):
        case.require(not sessions(case), "it is still there")
        left = [path.name for path in case.store_dir.rglob("*")
                if path.name.startswith((root(case), child(case)))] if case.store_dir.exists() else []
        case.require(not left, "files of it are left", left)


class Prune(Delete):
    name = "prune"

    def arguments(self, case):
        return (self.name, "--settings", '{"sessions":{"maxBytes":1}}')


class Rename(Command):
    name = "rename"

    def arguments(self, case):
        return (self.name, root(case), "another name")

    def check(self, case, killed):
        require_whole(case, root(case))

    def check_repeated(self, case):
        [item] = json.loads(run(case, "list", "--all", "--json").out)
        case.require(item["name"] == "another name", "it has another name", item)


class Rebuild(Command):
    name = "rebuild"

    def arguments(self, case):
        return (self.name,)

    def check(self, case, killed):
        require_whole(case, root(case))

    def check_repeated(self, case):
        require_whole(case, root(case))


class Export(Command):
    name = "export"

    def arguments(self, case):
        return (self.name, root(case), "-f", "jsonl", "-o", "out.jsonl")

    def prepare(self, case):
        super().prepare(case)
        (case.project / "out.jsonl").write_text("old\n")

    def check(self, case, killed):
        text = (case.project / "out.jsonl").read_text()
        want = run(case, "export", root(case), "-f", "jsonl").out
        case.require(text in ("old\n", want), "the file is there in part", len(text), len(want))
        left = {path.name for path in case.project.iterdir()} - {"out.jsonl"}
        case.require(not left, "something is left beside it", left)

    def check_repeated(self, case):
        case.require((case.project / "out.jsonl").read_text() != "old\n", "it was not written")


class Compact(Command):
    name = "compact"

    def arguments(self, case):
        return (self.name, root(case), "--model", "anthropic/m")

    def prepare(self, case):
        super().prepare(case)
        case.turns = [Turn("A short summary of it all.")]

    def check(self, case, killed):
        n = sessions(case)[root(case)]
        case.require(n == 42 or n < 5, "the history is there in part", n)
        run(case, "show", root(case))


class Rewind(Command):
    name = "rewind"

    def arguments(self, case):
        return (self.name, case.session, "--yes")

    def prepare(self, case):
        (case.project / "old.txt").write_text("old\n")
        (case.project / "kept.txt").write_text("before\n")
        case.turns = [
            Turn(Call("Write", id="call_write", file_path="new.txt", content="x\n")),
            Turn(Call("Bash", id="call_bash",
                      command="unlink old.txt; echo x >> kept.txt; mkdir d; ln -s /nowhere d/link")),
            Turn("Done.")]
        result = case.finish(case.begin()).result
        case.require(result.status == 0, "the run fails", result)

    def files(self, case):
        return {str(path.relative_to(case.project)) for path in case.project.rglob("*")}

    def is_undone(self, case):
        """The files; neither is None."""
        if self.files(case) == {"old.txt", "kept.txt"}:
            return (case.project / "kept.txt").read_text() == "before\n"
        case.require(self.files(case) == {"kept.txt", "new.txt", "d", "d/link"},
                     "files are neither as they were nor as they are to be", self.files(case))
        return False

    def check(self, case, killed):
        """The next process to open it brings files and conversation together."""
        case.turns = [Turn("What next?")]
        process = case.start("-r", case.session, "and now?")
        result = case.finish(process).result
        case.require(result.status == 0, "it does not go on", result)
        n = len(shown(case, case.session)["messages"])
        case.require((n == 2) == self.is_undone(case), "files and conversation do not agree", n,
                     self.files(case))
        run(case, "rewind", "--yes")

    def check_repeated(self, case):
        case.require(self.is_undone(case), "files are not undone", self.files(case))


class RewindAgain(Rewind):
    """The same command once more is what finishes it."""

    def check(self, case, killed):
        result = keel(case, "rewind", "--yes")
        case.require(result.status == 0 or NOTHING_TO_DO.search(result.err),
                     "it cannot be repeated", result)
        case.require(self.is_undone(case), "files are not undone", self.files(case))
        case.require(not shown(case, case.session)["messages"], "the conversation is not undone")


class CommandTest(CrashTest):
    def boundaries(self, store, command):
        case = self.stage.case(store, self.has_sandbox)
        try:
            command.prepare(case)
            result = keel(case, *command.arguments(case), order="never 0")
            case.require(result.status == 0, "it fails", result)
            return [line.split(" ", 2) for line in case.log.read_text().splitlines()]
        finally:
            case.close()

    def play(self, command, order):
        def kill_there(case):
            command.prepare(case)
            case.log.unlink(missing_ok=True)
            wait_closed(case)
            result = keel(case, *command.arguments(case), order=order)
            case.require(result.status in (-9, 0), "it fails", result)
            if has_store(case):
                wait_closed(case)
                run(case, "verify", "--all")
                command.check(case, result.status == -9)
            again = keel(case, *command.arguments(case))
            case.require(again.status == 0 or NOTHING_TO_DO.search(again.err),
                         "it cannot be repeated", again)
            command.check_repeated(case)
            run(case, "verify", "--all")
            left = list((case.keel_home / "unfinished").glob("*"))
            case.require(not left, "notes of it are left", left)
        return kill_there

    def kill_everywhere(self, *commands):
        chance, items = random.Random(SEED), []
        for store in self.stores:
            for command in commands:
                orders = list(orders_of(self.boundaries(store, command)))
                if DEPTH:
                    n = N_SAMPLES[store.name] * (3 - DEPTH)
                    orders = chance.sample(orders, min(n, len(orders)))
                items += [(store, f"{command.name} killed {order}",
                           self.play(command, order)) for order in orders]
        print(f"seed {SEED}")
        self.try_all(items)


class KilledCommands(CommandTest):
    def test_a_fork_is_there_whole_or_not_at_all(self):
        self.kill_everywhere(Fork())

    def test_an_import_is_there_whole_or_not_at_all(self):
        self.kill_everywhere(Import())

    def test_a_deleted_session_is_gone_with_all_below_it_or_not_at_all(self):
        self.kill_everywhere(Delete(), Prune())

    def test_a_session_stays_whole_when_what_is_derived_of_it_is_written(self):
        self.kill_everywhere(Rename(), Rebuild())

    def test_an_export_is_the_old_file_or_the_new(self):
        self.kill_everywhere(Export())

    def test_a_history_is_summarised_whole_or_not_at_all(self):
        self.kill_everywhere(Compact())


class KilledRewinds(CommandTest):
    has_sandbox = True  # without it nothing is saved of what commands change

    def test_files_and_conversation_agree_after_a_rewind(self):
        self.kill_everywhere(Rewind(), RewindAgain())


if __name__ == "__main__":
    keel_test.main()
