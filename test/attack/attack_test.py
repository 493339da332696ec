"""attack_test.py - real attempts to get out of keel's sandbox: attack_test.py KEEL [WORD]...

Each attempt is made without the sandbox first, where it must succeed: one that fails there proves
nothing. Then it is made inside `keel sandbox`, with namespaces and with them switched off, as root
and as an ordinary user, and must not succeed. What people do all day is tried in the same way and
has to succeed inside too. With words, only the attempts that have one of them in their name are
made; `--control` leaves the sandbox out.
"""
import concurrent.futures
import os
import pathlib
import shutil
import signal
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import kernel  # noqa: E402
import network  # noqa: E402
import outside  # noqa: E402
import process  # noqa: E402
import protected  # noqa: E402
import secret  # noqa: E402
import work  # noqa: E402
from attempt import MODES  # noqa: E402
from stage import Person, Stage, USER_ID, World  # noqa: E402

ATTEMPTS = [attempt for module in (outside, secret, network, process, kernel, protected, work)
            for attempt in module.ATTEMPTS]
LEAST_ATTEMPTS = 60  # attacks that could be made; fewer would say little

PASSED, IMPOSSIBLE, BREACH, BROKEN = "passed", "not possible here", "BREACH", "BROKEN"
CONTROL = "control"
MARKS = {PASSED: "ok", IMPOSSIBLE: "-", BREACH: "BREACH", BROKEN: "BROKEN"}


class Verdict:
    """How one attempt ended for one person, in one mode."""

    def __init__(self, person, mode, kind, detail=""):
        self.person, self.mode, self.kind, self.detail = person, mode, kind, detail


def make(world, person, attempt, sandbox):
    """Makes an attempt on a stage of its own. What it got, and the Run."""
    stage = Stage(world, person, attempt.place)
    try:
        stage.sandboxed = bool(sandbox)
        stage.vars["WANTED_ID"] = person.uid
        attempt.prepare(stage)
        around = attempt.around if sandbox else attempt.around + attempt.around_control
        around = [str(person.uid) if word == "UID" else word for word in around]
        run = stage.run(attempt.script, sandbox, around, as_root=bool(attempt.around))
        got = attempt.got(run)
        run.left = stage.left_behind() if sandbox and not attempt.must_work else []
        return got, run
    finally:
        stage.close()


def why_impossible(world, person, attempt):
    """What is known to be lacking before anything is tried."""
    if person.name not in attempt.who:
        return f"not for {person.name}"
    if not world.has_probe and "PROBE" in attempt.script:
        return "there is no C compiler"
    if attempt.around and not world.is_root:
        return attempt.needs
    return ""


def judge(world, person, attempt, modes):
    """The verdicts over an attempt for a person."""
    lacking = why_impossible(world, person, attempt)
    if lacking:
        return [Verdict(person, mode, IMPOSSIBLE, lacking) for mode in modes]
    got, run = make(world, person, attempt, ())
    if not got and attempt.needs:
        detail = f"needs {attempt.needs}: {run.reason}"
        return [Verdict(person, mode, IMPOSSIBLE, detail) for mode in modes]
    if not got:
        detail = f"fails without the sandbox: {run.reason}"
        return [Verdict(person, mode, BROKEN, detail) for mode in modes]
    return [judge_inside(world, person, attempt, mode) for mode in modes]


def judge_inside(world, person, attempt, mode):
    if mode == CONTROL:
        return Verdict(person, mode, PASSED)
    if mode not in attempt.modes:
        return Verdict(person, mode, IMPOSSIBLE, f"not for {mode}")
    sandbox = (world.keel, "sandbox", *MODES[mode], "--")
    got, run = make(world, person, attempt, sandbox)
    if run.hung:
        return Verdict(person, mode, BROKEN, f"hangs inside: {run.reason}")
    if not run.began:
        return Verdict(person, mode, BROKEN, f"does not start inside: {run.reason}")
    if attempt.must_work:
        return Verdict(person, mode, PASSED) if got else Verdict(
            person, mode, BROKEN, f"does not work inside: {run.reason}")
    if got:
        return Verdict(person, mode, BREACH, f"{attempt.script}\n          got {str(got)[:300]}")
    if run.left:
        return Verdict(person, mode, BREACH, f"left behind: {', '.join(run.left)}")
    return Verdict(person, mode, PASSED)


def judge_safely(world, person, attempt, modes):
    try:
        return judge(world, person, attempt, modes)
    except Exception:  # a bug of the suite is a failure of the suite, for this attempt
        return [Verdict(person, mode, BROKEN, traceback.format_exc()) for mode in modes]


def show(attempt, verdicts):
    """One line for the attempt, one more for each verdict that needs words."""
    marks = " ".join(f"{MARKS[v.kind]:>6}" for v in verdicts)
    print(f"{attempt.name:<76.76} {marks}")
    said = set()
    for v in verdicts:
        line = f"      {v.person.name} {v.mode}: {v.kind}: {v.detail}"
        if v.kind != PASSED and not v.detail.startswith("not for ") and line not in said:
            said.add(line)
            print(line)
    sys.stdout.flush()


def people(world):
    if world.is_root:
        return [Person("root", 0), Person("user", USER_ID)]
    return [Person("user", os.getuid())]


def chosen(words):
    return [a for a in ATTEMPTS if not words or any(word in a.name for word in words)]


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        return {line.split(" - ")[0].split(" ", 2)[2] for line in table}


def try_all(world, attempts, modes):
    """Makes the attempts, several at a time; the verdicts as they are shown, in order."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(4, os.cpu_count() or 1)) as pool:
        futures = [[pool.submit(judge_safely, world, person, attempt, modes)
                    for person in people(world)] for attempt in attempts]
        for attempt, per_person in zip(attempts, futures):
            verdicts = [v for future in per_person for v in future.result()]
            show(attempt, verdicts)
            yield attempt, verdicts


def count(results, left, is_whole):
    """Says how it went. `left` is what was still there at the end."""
    kinds = [v.kind for _, verdicts in results for v in verdicts]
    attacks = sum(1 for attempt, verdicts in results
                  if not attempt.must_work and any(v.kind in (PASSED, BREACH) for v in verdicts))
    print(f"\n{len(results)} attempts, {attacks} of them attacks that could be made here")
    if os.getuid() != 0:
        print(f"SKIPPED: not root, so root's half of the {len(results)} attempts was left out")
    for what in left:
        print(f"BREACH: left behind: {what}")
    print("  ".join(f"{kind}: {kinds.count(kind)}" for kind in MARKS))
    failed = BREACH in kinds or BROKEN in kinds or left
    if is_whole and attacks < LEAST_ATTEMPTS:
        print(f"Fewer than {LEAST_ATTEMPTS} attacks could be made: this machine proves too little.")
        failed = True
    return 1 if failed else 0


def main():
    words = sys.argv[2:]
    modes = dict(MODES)
    if "--control" in words:
        words.remove("--control")
        modes = {CONTROL: ()}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(0o022)
    began = time.monotonic()
    before = mounts()
    world = World(os.path.abspath(shutil.which(sys.argv[1]) or sys.argv[1]))
    try:
        print(f"{'':76} " + " ".join(f"{person.name}: {', '.join(modes)};"
                                    for person in people(world)))
        results = list(try_all(world, chosen(words), modes))
        left = [f"process {pid}" for pid in world.left_processes()]
    finally:
        world.close()
    left += sorted(f"mount {mount}" for mount in mounts() - before)
    status = count(results, left, is_whole=not words)
    print(f"{time.monotonic() - began:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
