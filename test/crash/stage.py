"""stage.py - one session of the crash tests: run, killed, resumed, and looked at.

The scripted provider gives the next turn by what the request holds, not by how often it was asked.
So it does not matter to it how often keel died on the way; and what it has seen once must be in
everything that it sees later.
"""
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import agent  # noqa: E402
import scripted  # noqa: E402
from agent import Call, Reader, Turn  # noqa: E402
from scripted import ANTHROPIC, HANG_SECONDS, KEY, keel_test  # noqa: E402

FAULT = os.environ.get("KEEL_FAULT_LIBRARY", "")
IS_EMPTY = "has no prompt to answer"
NO_SESSION = re.compile('session "[^"]*" not found|no session in|the store \\S+ does not exist')
GO_ON = "  user 'Continue.'"  # told behind an answer that was cut off, and not kept
RESULT = re.compile(r"  result #\d+ ")
UNKNOWN = "'keel was stopped while this call was under way."
PAYLOAD = re.compile(r"/[0-9a-f]{64}(\.json)?$")
# Commands that leave a line behind: one that runs twice shows.
MARKS = {"call_one": "one", "call_two": "two", "call_three": "three"}
WORKSPACE = {"plan.txt", "marks"}
ANSWER = "".join(f"This is sentence {n} of the answer. " for n in range(40)) + "The end."


def script(project):
    """Files, todo list, commands before and behind, one that is denied, and a long answer."""
    plan = str(project / "plan.txt")
    long_text = "".join(f"step {n}: something must be done about it\n" for n in range(1000))
    todos = [{"content": "work", "status": "in_progress", "activeForm": "Working"}]

    def mark(id, more=""):
        return Call("Bash", id=id, command=f"echo {MARKS[id]} >> marks{more}")
    return [
        Turn("I begin.", Call("Write", id="call_write", file_path=plan, content=long_text),
             Call("TodoWrite", id="call_todo", todos=todos)),
        Turn(mark("call_one", "; cat plan.txt | head -c 20000"),
             Call("Edit", id="call_edit", file_path=plan, old_string="step 7: ",
                  new_string="step seven: ")),
        # Its command line tells whose it is.
        Turn("Meanwhile:", Call("Bash", id="call_behind", command=f"sleep 600; : {project}",
                                run_in_background=True),
             Call("Bash", id="call_denied", command="rm marks")),
        Turn(mark("call_two"), mark("call_three")),
        Turn(re.findall(r"[^.]+\.", ANSWER)),
    ]


def ids_in(body):
    return {part["id"] for message in body["messages"] if isinstance(message["content"], list)
            for part in message["content"] if part["type"] == "tool_use"}


def next_turn(turns, body):
    known = ids_in(body)
    done = [index for index, turn in enumerate(turns) if known & {call.id for call in turn.calls}]
    return turns[max(done, default=-1) + 1]


class Provider(scripted.Provider):
    """One server for all cases: the first part of the path says whose request it is."""

    def __init__(self):
        super().__init__([])
        self.cases = {}

    def take_answer(self, request):
        if self.asks_about_models(request):
            return scripted.json_answer({"error": "not found"}, 404)
        case = self.cases[request.path.split("/")[1]]
        case.requests.append(request)
        answer = agent.play(ANTHROPIC, next_turn(case.turns, request.json))
        return case.watch_answer(answer)


class Run:
    """How a keel ended: its output, and what the model was sent meanwhile."""

    def __init__(self, result, requests):
        self.result, self.requests = result, requests
        self.was_killed = result.status == -9


class Case:
    """A directory, a session in a store of its own, and all that was ever acknowledged of it."""

    def __init__(self, stage, store, number, has_sandbox):
        self.stage, self.store, self.number = stage, store, number
        self.name = name = f"c{number}"
        self.dir = stage.dir / name
        self.project, self.keel_home = self.dir / "project", self.dir / "home"
        self.store_dir = self.dir / "store"
        self.session = f"00000000-0000-7000-8000-{number:012d}"
        for directory in (self.project, self.keel_home):
            directory.mkdir(parents=True)
        (self.keel_home / "settings.json").write_text(json.dumps(
            {"permissions": {"deny": ["Bash(rm *)"]}, "maxAttempts": 1,
             "sandbox": {"enabled": has_sandbox}}))
        self.turns, self.requests = script(self.project), []
        self.on_chunk = None    # called before each piece of an answer
        self.seen = []          # what the model has seen, as lines
        self.n_sure = math.inf  # of these lines; a loss of power may take what is behind them
        self.durable = []       # records
        self.log = self.dir / "boundaries"
        self.disk = self.dir / "disk"
        stage.provider.cases[name] = self
        store.prepare(self)

    def close(self):
        del self.stage.provider.cases[self.name]
        self.store.clean(self)
        shutil.rmtree(self.dir, ignore_errors=True)

    def watch_answer(self, answer):
        pieces = list(answer.pieces)
        if self.on_chunk:
            answer.pieces = watched(pieces, self.on_chunk)
        else:
            answer.pieces = [b"".join(pieces[i:i + 8]) for i in range(0, len(pieces), 8)]
        return answer

    # --- running ---

    def environment(self, order=None, loses_power=False):
        env = {name: os.environ[name] for name in keel_test.KEPT_VARIABLES if name in os.environ}
        env.update(HOME=str(self.dir), KEEL_HOME=str(self.keel_home), LANG="C.UTF-8",
                   ANTHROPIC_API_KEY=KEY, KEEL_STORE=self.store.url(self),
                   ANTHROPIC_BASE_URL=f"{self.stage.provider.url}/{self.name}")
        if order:
            places = [*self.store.places(self), self.project, self.keel_home]
            env.update(LD_PRELOAD=FAULT, KEEL_FAULT=order, KEEL_FAULT_LOG=str(self.log),
                       KEEL_FAULT_PLACES=":".join(map(str, places)))
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        if loses_power:
            env["KEEL_FAULT_DISK"] = str(self.disk)
        return env

    def start(self, *arguments, **how):
        return subprocess.Popen(
            [keel_test.KEEL, "-p", "--model", "anthropic/m", "--permission-mode",
             "bypassPermissions", "--wait-background", "0", *arguments], cwd=self.project,
            env=self.environment(**how),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process):
        before = len(self.requests)
        try:
            out, err = process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"it hangs\n{out}\n{err}") from None
        finally:
            process.wait()
        result = keel_test.Result(process.args[1:], process.returncode, out, err)
        if process.returncode < 0:
            self.store.pass_time(self)
        return Run(result, self.requests[before:])

    def begin(self, **how):
        return self.start("--output-format", "stream-json", "--verbose", "--session-id",
                          self.session, "go", **how)

    def go_on(self, *prompt, **how):
        """By its id; every second one as the newest of its directory."""
        which = ["-r", self.session] if self.number % 2 else ["-c"]
        return self.start(*which, *prompt, **how)

    def lose_power(self):
        """Nothing is left in the store but what was synced. A request is sent while the results
        in it are synced: those of the last request may be lost (ADR 57)."""
        self.n_sure = max((len(Reader(ANTHROPIC, r).lines) for r in self.requests[:-1]), default=0)
        left = self.dir / "left"
        self.put_together(self.store_dir, left)
        shutil.rmtree(self.store_dir, ignore_errors=True)
        left.rename(self.store_dir)

    def put_together(self, path, to):
        names = self.disk / "names" / str(path).replace("/", "%")
        to.mkdir(mode=0o700)
        for line in names.read_text().splitlines() if names.exists() else ():
            inode, kind, name = line.split(" ", 2)
            content = self.disk / "files" / inode
            if kind == "d":
                self.put_together(path / name, to / name)
            else:
                (to / name).write_bytes(content.read_bytes() if content.exists() else b"")
                (to / name).chmod(0o600)

    # --- what must be true ---

    def require(self, is_true, what, *more):
        if not is_true:
            raise AssertionError("\n".join([what, *map(str, more)]))

    def marks(self):
        path = self.project / "marks"
        return path.read_text().split() if path.exists() else []

    def check_records(self):
        """Numbers without a gap, and nothing that was there is gone or changed."""
        records = self.store.records(self)
        expected = 1
        for record in records:
            self.require(record.seq == expected, f"record {record.seq} stands where {expected} "
                         "should")
            expected += record.n
        n = len(self.durable)
        self.require(records[:n] == self.durable, "records were changed or lost",
                     first_difference(self.durable, records))
        self.durable = records

    def check_tools(self):
        """No command ran twice, and none that the journal knows nothing of."""
        marks = self.marks()
        self.require(len(set(marks)) == len(marks), f"a command ran twice: {marks}")
        begun = " ".join(str(record.body) for record in self.durable
                         if record.type == "tool_begin")
        for id, mark in MARKS.items():
            self.require(mark not in marks or id in begun, f"{id} ran, and no record says so")

    def check_requests(self, run):
        """Strict providers would take each, and each has all that an earlier one had."""
        for request in run.requests:
            body = request.json
            reader = Reader(ANTHROPIC, request)
            self.require(not any(reader.open.values()), f"calls without results: {reader.open}")
            refused = self.stage.refuses(body)
            self.require(refused is None, f"a provider would refuse it: {refused}", body)
            seen = self.seen_or_lost(reader.lines)
            self.require(reader.lines[:len(seen)] == seen, "the model is told less than before",
                         first_difference(seen, reader.lines))
            self.seen = reader.lines[:-1] if reader.lines[-1] == GO_ON else reader.lines

    def seen_or_lost(self, lines):
        """What the model has seen, but for results that went with the power: `lines` may call
        those unknown instead."""
        def is_lost(at, line, now):
            result = RESULT.match(line)
            return at >= self.n_sure and result and now.startswith(result.group() + UNKNOWN)
        return [now if is_lost(at, line, now) else line for at, (line, now) in
                enumerate(zip(self.seen, lines + [""] * len(self.seen)))]

    def check(self, run):
        self.require(run.result.status in (-9, 0), str(run.result))
        self.check_records()
        self.check_requests(run)
        self.check_tools()

    def check_begun(self, run):
        """The first run, which was killed or not."""
        self.check(run)
        lines = run.result.out.splitlines()
        ended = any(line.startswith('{"type":"result"') for line in lines)
        self.require(run.was_killed or ended, "it ended without a result", run.result)
        types = [record.type for record in self.durable]
        self.require(not ended or "run_end" in types, "a result was printed, and no record "
                     "says so", types)

    def was_known(self):
        return bool(self.seen or self.marks() or self.durable)

    def resume(self, **how):
        """To the end, unless it is killed again; None: there is no such session."""
        run = self.finish(self.go_on(**how))
        if run.result.status == 2 and IS_EMPTY in run.result.err:
            run = self.finish(self.go_on("and?", **how))
        elif run.result.status == 2 and NO_SESSION.search(run.result.err):
            self.require(not self.was_known(), "the session is lost", run.result)
            return None
        self.check(run)
        self.n_sure = math.inf
        return run

    def check_workspace(self):
        """Nothing is there but what tools were asked to make."""
        names = {path.name for path in self.project.iterdir()}
        self.require(names <= WORKSPACE, f"a killed write has left something: {names - WORKSPACE}")

    def finish_it(self):
        """None: there is no such session."""
        run = self.resume()
        self.check_workspace()
        if not run:
            return None
        self.require(run.result.status == 0, "it does not go on", run.result)
        self.require(run.result.out.endswith("The end.\n"), "the answer is not there", run.result)
        if self.number % 8 == 0:
            self.check(self.finish(self.go_on("Once more?")))
        return run

    def require_whole(self):
        process = subprocess.run([keel_test.KEEL, "session", "verify", self.session],
                                 cwd=self.project, env=self.environment(), capture_output=True,
                                 timeout=HANG_SECONDS, check=False)
        self.require(process.returncode == 0, "the session is not whole", process.stdout.decode(),
                     process.stderr.decode())

    def require_written_again(self, order):
        """A payload that could not be synced: the kernel takes its pages for written from then on,
        and a second sync would say nothing."""
        number = int(order.split()[1])
        lines = [line.split(" ", 2) for line in self.log.read_text().splitlines()]
        _, kind, place = lines[number - 1] if number <= len(lines) else ("", "", "")
        if kind in ("fdatasync", "fsync") and PAYLOAD.search(place):
            self.require(["rename", place] in [line[1:] for line in lines[number:]],
                         f"{place} is not written again")

    def require_same(self):
        """It is played again, the failure too."""
        process = subprocess.run([keel_test.KEEL, "session", "replay", self.session],
                                 cwd=self.project, env=self.environment(), capture_output=True,
                                 timeout=HANG_SECONDS, check=False)
        self.require(process.returncode == 0, "it is not the same again", process.stdout.decode(),
                     process.stderr.decode())

    def finish_damaged(self, *says):
        """What was acknowledged may be gone: it opens, says so, and goes on."""
        self.seen, self.durable = [], []
        (self.project / "marks").unlink(missing_ok=True)
        run = self.finish(self.go_on("and?"))
        self.require(run.result.status == 0 and run.result.out.endswith("The end.\n"),
                     "it does not go on", run.result)
        for text in says:
            self.require(text in run.result.err, f"it does not say {text!r}", run.result)
        self.check_requests(run)

    def place(self):
        """Where it was killed, for people."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return lines[-1] if lines else "before anything"


def first_difference(before, now):
    for number, (a, b) in enumerate(itertools.zip_longest(before, now)):
        if a != b:
            return f"{number} of {len(before)}: {str(a)[:400]}\n-> {str(b)[:400]}"
    return "none"


def watched(pieces, on_chunk):
    for number, piece in enumerate(pieces):
        on_chunk(number)
        yield piece


class Stage:
    """What all cases share."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.provider = Provider()
        self.strict = agent.StrictRules() if agent.NODE and agent.STRICT.exists() else None
        self.lock, self.numbers = threading.Lock(), itertools.count(1)

    def close(self):
        self.provider.close()
        if self.strict:
            self.strict.close()

    def refuses(self, body):
        if not self.strict:
            return None
        with self.lock:
            return self.strict.refuses(ANTHROPIC, body)

    def case(self, store, has_sandbox=False):
        with self.lock:
            return Case(self, store, next(self.numbers), has_sandbox)

    def boundaries(self, store):
        """Of a run that nobody kills: number, kind and place of each."""
        case = self.case(store)
        case.check_begun(case.finish(case.begin(order="never 0")))
        lines = [line.split(" ", 2) for line in case.log.read_text().splitlines()]
        case.close()
        return lines
