"""task.py - one task of twenty rounds, done by an agent for real, and what it took.

The project is bench/sample: two tests fail, one is missing. The model (model.py) reads, searches,
runs the tests, repairs, writes and answers; each step names what its result must show. In the end
the project must be as the script leaves it, or the run does not count."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess

from model import EDIT, FIND, READ, SHELL, WRITE, grep

SAMPLE = pathlib.Path(__file__).resolve().parent / "sample"
PROMPT = ("Two tests of this project fail. Find out why, repair the code, let sums such as 0.1 + "
          "0.2 print as people write them, with a test for it, and tell me what you changed.")
MAX_SECONDS = 300
TEST = (SHELL, "python3 tests/run.py")
TEST_REPORT = '''"""How numbers are printed."""
from calc import calculate


def test_whole_numbers_have_no_fraction():
    assert calculate("6 / 2") == "3"


def test_sums_are_printed_as_people_write_them():
    assert calculate("0.1 + 0.2") == "0.3"


def test_thirds_end():
    assert calculate("1 / 3") == "0.333333333333"
'''
REPAIR_POWER = (EDIT, "calc/parser.py",
                '        while operator := self.accept("^"):\n'
                '            left = ("binary", operator, left, self.prefix())',
                '        if operator := self.accept("^"):\n'
                '            return ("binary", operator, left, self.power())')
REPAIR_DIVISION = (EDIT, "calc/evaluate.py",
                   "    return OPERATORS[operator.text](left, right)",
                   "    try:\n"
                   "        return OPERATORS[operator.text](left, right)\n"
                   "    except ZeroDivisionError:\n"
                   '        raise CalcError("division by zero", operator.position) from None')
SHORTEN_NUMBERS = (EDIT, "calc/report.py", "    return str(value)", '    return f"{value:.12g}"')

# Steps and what their results show; the twentieth round is the answer.
ROUNDS = [
    [((SHELL, "ls -la"), "README.md"), ((SHELL, "git status --short --branch"), "main")],
    [((READ, "README.md"), "Evaluates arithmetic")],
    [(TEST, "7 of 9 passed")],
    [((FIND, "def power"), "parser.py")],
    [((READ, "calc/parser.py"), "def power"), ((READ, "docs/grammar.md"), "binds from the right")],
    [((READ, "calc/lexer.py"), "take_while")],
    [((SHELL, "git log --oneline -5"), "Begin")],
    [(REPAIR_POWER, "")],
    [(TEST, "8 of 9 passed")],
    [((FIND, "division by zero"), "test_evaluate.py")],
    [((READ, "calc/evaluate.py"), "OPERATORS"), ((READ, "tests/test_evaluate.py"), "8 / 0")],
    [(REPAIR_DIVISION, "")],
    [(TEST, "9 of 9 passed")],
    [((FIND, "format_number"), "report.py")],
    [((READ, "calc/report.py"), "def format_error")],
    [(SHORTEN_NUMBERS, "")],
    [((WRITE, "tests/test_report.py", TEST_REPORT), "")],
    [(TEST, "12 of 12 passed")],
    [((SHELL, "git diff --stat"), "3 files changed"), ((SHELL, "git status --short"), "?? tests")],
]
SCRIPT = [[step for step, _ in steps] for steps in ROUNDS]


class Failure(Exception):
    """Why a run does not count."""


def make_work(work, files):
    """A repository with one commit."""
    shutil.copytree(files, work, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    git = ["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], check=True)


def expected_files():
    """What the script leaves of the sample."""
    files = {path.relative_to(SAMPLE): path.read_text() for path in SAMPLE.rglob("*.py")}
    for op, *rest in (step for steps in SCRIPT for step in steps):
        path = pathlib.Path(rest[0])
        if op == WRITE:
            files[path] = rest[1]
        elif op == EDIT:
            files[path] = files[path].replace(rest[1], rest[2])
    return files


def check(model, work):
    asked = [request for request in model.requests if request.tools]
    signs = [sign for steps in ROUNDS for _, sign in steps]
    results = asked[-1].results() if asked else []
    if model.mismatch:
        raise Failure(model.mismatch)
    if len(results) < len(signs):
        raise Failure(f"it ended after {len(results)} of {len(signs)} calls")
    for sign, result in zip(signs, results):
        if sign not in result:
            raise Failure(f"no {sign!r} in the result {result[:120]!r}")
    for path, text in expected_files().items():
        if not (work / path).is_file() or (work / path).read_text() != text:
            raise Failure(f"{path} is not what the script leaves")


# --- what was sent ---

def without_marks(value):
    """Marks that tell a provider where to cache are no part of what it caches."""
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    if isinstance(value, dict):
        return {key: without_marks(item) for key, item in value.items() if key != "cache_control"}
    return value


def as_read(body):
    """What the model reads, in the order in which providers cache it."""
    parts = ("tools", "system", "instructions", "messages", "input")
    return json.dumps([without_marks(body.get(part) or []) for part in parts])


def repeated_share(requests):
    """How much of what was read is the beginning of the request before."""
    before, n_repeated, n_all = "", 0, 0
    for request in requests:
        text = as_read(request.body)
        n_all += len(text)
        if request.tools:
            n_repeated += len(os.path.commonprefix([before, text]))
            before = text
    return n_repeated / n_all


def model_ms(requests):
    """While at least one request was with the model."""
    total, until = 0, 0
    for request in sorted(requests, key=lambda one: one.complete):
        total += max(request.answered - max(request.complete, until), 0)
        until = max(until, request.answered)
    return total


# --- runs ---

def run_descendants(program, way, command, **surroundings):
    done = subprocess.run([str(program), way, str(MAX_SECONDS), *command], text=True,
                          capture_output=True, **surroundings)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise Failure(f"status {done.returncode}: {last}")
    return json.loads(done.stdout)


def run_agent(program, way, seat, model):
    """What the task took: the time, or the memory."""
    make_work(seat.work, SAMPLE)
    model.begin(seat.agent.name, SCRIPT, seat.work)
    took = run_descendants(program, way, seat.command(PROMPT, ()), **seat.surroundings())
    check(model, seat.work)
    if way == "memory":
        return {"peak_mib": took["peak_kib"] / 1024}
    return {"requests": len(model.requests), "bytes": sum(r.n_bytes for r in model.requests),
            "repeated": repeated_share(model.requests), "cpu_ms": took["cpu_ms"],
            "beyond_ms": took["wall_ms"] - model_ms(model.requests)}


def run_commands(program, work):
    """The commands of the script alone, each by a bash of its own: {cpu_ms, wall_ms}."""
    make_work(work, SAMPLE)
    commands = [rest[0] if op == SHELL else grep(rest[0])
                for op, *rest in (step for steps in SCRIPT for step in steps)
                if op in (SHELL, FIND)]
    script = "".join(f"bash -c {shlex.quote(command)}\n" for command in commands)
    return run_descendants(program, "time", ["bash", "-c", script + "true"], cwd=work)
