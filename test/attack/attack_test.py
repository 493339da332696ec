"""attack_test.py - real attempts to get out of keel's sandbox: attack_test.py KEEL [WORD]...

Each attack is made without the sandbox first, where it must succeed: one that fails there proves
nothing. Then it is made inside `keel sandbox`, with namespaces and with them switched off, as root
and as an ordinary user, and must not succeed. What people do all day is tried in the same way and
has to succeed inside too. Inside, attempts share a stage and a start where they can: all of them
are to fail, and should one not, each is made again by itself. Attempts that need a stage of their
own are made in half of these four ways, drawn with a seed that is printed (KEEL_TEST_SEED repeats
it); KEEL_TEST_DEPTH=all makes them in all four. With words, only the attempts that have one of them
in their name are made, in all ways; `--part NAME` makes those of a part, `--control` leaves the
sandbox out.
"""
import concurrent.futures
import faulthandler
import os
import pathlib
import random
import shutil
import signal
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import kernel  # noqa: E402
import network  # noqa: E402
import outside  # noqa: E402
import planted  # noqa: E402
import process  # noqa: E402
import protected  # noqa: E402
import repository  # noqa: E402
import secret  # noqa: E402
import work  # noqa: E402
from attempt import MODES, nothing  # noqa: E402
from stage import Person, Stage, USER_ID, World  # noqa: E402

PARTS = {
    "files": (outside,),
    "secrets": (secret, network),
    "kernel": (kernel, process),
    "repositories": (protected, planted, repository, work),
}
# Attacks that could be made by each person in each mode; fewer would say little.
LEAST_ATTACKS = {"files": 20, "secrets": 20, "kernel": 15, "repositories": 20}
MAX_TOGETHER = 40
HANG_SECONDS = 600  # then all threads tell where they are

PASSED, IMPOSSIBLE, BREACH, BROKEN = "passed", "not possible here", "BREACH", "BROKEN"
NOT_DRAWN = "not in this sample"
CONTROL = "control"
MARKS = {PASSED: "ok", IMPOSSIBLE: "-", NOT_DRAWN: ".", BREACH: "BREACH", BROKEN: "BROKEN"}


class Verdict:
    """How one attempt ended for one person, in one mode."""

    def __init__(self, person, mode, kind, detail=""):
        self.person, self.mode, self.kind, self.detail = person, mode, kind, detail


def prepare(attempt, stage, sandboxed):
    stage.sandboxed = sandboxed
    stage.vars["WANTED_ID"] = stage.person.uid
    attempt.prepare(stage)


def make(world, person, attempt, sandbox):
    """Makes an attempt on a stage of its own. What it got, and the Run."""
    stage = Stage(world, person, attempt.place, attempt.repositories)
    try:
        prepare(attempt, stage, bool(sandbox))
        around = attempt.around if sandbox else attempt.around + attempt.around_control
        around = [str(person.uid) if word == "UID" else word for word in around]
        run = stage.run(attempt.script, sandbox, around, as_root=bool(attempt.around))
        got = attempt.got(run)
        run.left = stage.left_behind() if sandbox and not attempt.must_work else []
        return got, run
    finally:
        stage.close()


def make_together(world, person, attempts, sandbox):
    """Makes attempts on one stage, which is prepared once for all that want the same. Those that
    failed there, as they should; the others have to be made by themselves to be judged."""
    stage = Stage(world, person)
    views, prepared = {}, {}
    try:
        for attempt in attempts:
            view = prepared.get(attempt.prepare)
            if not view:
                view = stage.view()
                prepare(attempt, view, True)
            if attempt.prepare is not nothing:
                prepared[attempt.prepare] = view
            if view.stdin == stage.stdin and not view.inherited and view.terminal is None:
                views[attempt] = view
        whole, runs = stage.run_many(views.values(), [a.script for a in views], sandbox)
        if not whole.began or not runs:
            return []
        got = {attempt: attempt.got(run) for attempt, run in zip(views, runs)}
        # What is common to all cannot be told apart: should it be found, all are suspects.
        if any(got.values()) or stage.left_behind():
            return []
        return list(views)
    finally:
        stage.close()


def why_impossible(world, person, attempt):
    """What is known to be lacking before anything is tried."""
    if person.name not in attempt.who:
        return f"not for {person.name}"
    if not world.has_probe and "PROBE" in attempt.script:
        return "there is no C compiler"
    if not world.is_root and (attempt.around or attempt.needs.endswith("only root can make")):
        return attempt.needs
    return ""


def judge_outside(world, person, attempt):
    """A Verdict when there is no use in trying it inside, else None."""
    got, run = make(world, person, attempt, ())
    if got:
        return None
    if attempt.needs:
        return Verdict(person, "", IMPOSSIBLE, f"needs {attempt.needs}: {run.reason}")
    return Verdict(person, "", BROKEN, f"fails without the sandbox: {run.reason}")


def judge_inside(world, person, attempt, mode):
    if mode == CONTROL:
        return Verdict(person, mode, PASSED)
    if mode not in attempt.modes:
        return Verdict(person, mode, IMPOSSIBLE, f"not for {mode}")
    got, run = make(world, person, attempt, sandbox_of(world, mode))
    if run.hung:
        return Verdict(person, mode, BROKEN, f"hangs inside: {run.reason}")
    if not run.began:
        return Verdict(person, mode, BROKEN, f"does not start inside: {run.reason}")
    if attempt.must_work:
        return Verdict(person, mode, PASSED) if got else judge_outside(
            world, person, attempt) or Verdict(
                person, mode, BROKEN, f"does not work inside: {run.reason}")
    if got:
        return Verdict(person, mode, BREACH, f"{attempt.script}\n          got {str(got)[:300]}")
    if run.left:
        return Verdict(person, mode, BREACH, f"left behind: {', '.join(run.left)}")
    return Verdict(person, mode, PASSED)


def sandbox_of(world, mode):
    return (str(world.keel), "sandbox", *MODES[mode], "--")


def judge_together(world, person, attempts, mode):
    """The Verdicts over attempts that share a stage."""
    passed = make_together(world, person, attempts, sandbox_of(world, mode))
    return {a: Verdict(person, mode, PASSED) if a in passed else
            judge_inside(world, person, a, mode) for a in attempts}


def safely(judge, world, person, attempt, mode=""):
    """A bug of the suite is a failure of the suite, for this attempt."""
    try:
        return judge(world, person, attempt, mode) if mode else judge(world, person, attempt)
    except Exception:  # pylint: disable=broad-except
        verdict = Verdict(person, mode, BROKEN, traceback.format_exc())
        return {a: verdict for a in attempt} if isinstance(attempt, list) else verdict


def show(attempt, verdicts):
    """One line for the attempt, one more for each verdict that needs words."""
    marks = " ".join(f"{MARKS[v.kind]:>6}" for v in verdicts)
    print(f"{attempt.name:<76.76} {marks}")
    said = set()
    for v in verdicts:
        line = f"      {v.person.name} {v.mode}: {v.kind}: {v.detail}"
        if (v.kind not in (PASSED, NOT_DRAWN) and not v.detail.startswith("not for ")
                and line not in said):
            said.add(line)
            print(line)
    sys.stdout.flush()


def people(world):
    if world.is_root:
        return [Person("root", 0), Person("user", USER_ID)]
    return [Person("user", os.getuid())]


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        return {line.split(" - ")[0].split(" ", 2)[2] for line in table}


class Judgement:
    """All verdicts, by attempt, person and mode; found by several threads at a time."""

    def __init__(self, world, attempts, modes):
        self.world, self.attempts, self.modes = world, attempts, modes
        self.verdicts = {}

    def draw(self, chance):
        """Leaves half of the ways out of which an attempt with a stage of its own can be made."""
        for attempt in self.attempts:
            if attempt.can_share:
                continue
            ways = [(person, mode) for person in people(self.world) for mode in self.modes
                    if not why_impossible(self.world, person, attempt) and mode in attempt.modes]
            for person, mode in chance.sample(ways, len(ways) // 2):
                self.verdicts[attempt, person, mode] = Verdict(person, mode, NOT_DRAWN)

    def all(self):
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            self._outside(pool)
            jobs = [pool.submit(job) for person in people(self.world) for mode in self.modes
                    for job in self._inside(person, mode)]
            for job in jobs:
                job.result()

    def of(self, attempt):
        return [self.verdicts[attempt, person, mode]
                for person in people(self.world) for mode in self.modes]

    def _outside(self, pool):
        jobs = {(attempt, person): pool.submit(safely, self._first, self.world, person, attempt)
                for attempt in self.attempts for person in people(self.world)
                if any((attempt, person, mode) not in self.verdicts for mode in self.modes)}
        for (attempt, person), job in jobs.items():
            verdict = job.result()
            for mode in self.modes if verdict else ():
                self.verdicts[attempt, person, mode] = Verdict(
                    person, mode, verdict.kind, verdict.detail)

    def _first(self, world, person, attempt):
        """What works inside need not be tried without the sandbox."""
        lacking = why_impossible(world, person, attempt)
        if lacking:
            return Verdict(person, "", IMPOSSIBLE, lacking)
        if attempt.must_work and CONTROL not in self.modes:
            return None
        return judge_outside(world, person, attempt)

    def _inside(self, person, mode):
        """What is left to be done, as functions."""
        left = [a for a in self.attempts if (a, person, mode) not in self.verdicts]
        shared = [a for a in left if mode != CONTROL and a.can_share and mode in a.modes]
        for at in range(0, len(shared), MAX_TOGETHER):
            yield lambda some=shared[at:at + MAX_TOGETHER]: self._together(person, some, mode)
        for attempt in left:
            if attempt not in shared:
                yield lambda one=attempt: self._alone(person, one, mode)

    def _together(self, person, attempts, mode):
        verdicts = safely(judge_together, self.world, person, attempts, mode)
        for attempt, verdict in verdicts.items():
            self.verdicts[attempt, person, mode] = verdict

    def _alone(self, person, attempt, mode):
        self.verdicts[attempt, person, mode] = safely(judge_inside, self.world, person, attempt,
                                                      mode)


def count_attacks(judgement, person, mode):
    """How many attacks this person could make in this mode."""
    return sum(1 for attempt in judgement.attempts if not attempt.must_work and
               judgement.verdicts[attempt, person, mode].kind in (PASSED, BREACH))


def count(judgement, left, least):
    """Says how it went. `left` is what was still there at the end."""
    kinds = [v.kind for attempt in judgement.attempts for v in judgement.of(attempt)]
    failed = BREACH in kinds or BROKEN in kinds or bool(left)
    print(f"\n{len(judgement.attempts)} attempts; attacks that could be made here:")
    for person in people(judgement.world):
        for mode in judgement.modes:
            attacks = count_attacks(judgement, person, mode)
            print(f"  {person.name}, {mode}: {attacks}")
            if attacks < least:
                print(f"  fewer than {least}: this machine proves too little")
                failed = True
    if os.getuid() != 0:
        print("SKIPPED: not root, so root's half of the attempts was left out")
    for what in left:
        print(f"BREACH: left behind: {what}")
    print("  ".join(f"{kind}: {kinds.count(kind)}" for kind in MARKS))
    return 1 if failed else 0


def parse(arguments):
    """The attempts that are wanted, the modes, and how many attacks there must be at least."""
    modules, least, modes = [m for part in PARTS.values() for m in part], 60, dict(MODES)
    words = []
    while arguments:
        word = arguments.pop(0)
        if word == "--control":
            modes = {CONTROL: ()}
        elif word == "--part":
            part = arguments.pop(0)
            modules, least = PARTS[part], LEAST_ATTACKS[part]
        else:
            words.append(word)
    attempts = [attempt for module in modules for attempt in module.ATTEMPTS
                if not words or any(word in attempt.name for word in words)]
    return attempts, modes, 0 if words else least


def main():
    attempts, modes, least = parse(sys.argv[2:])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    os.umask(0o022)
    began = time.monotonic()
    before = mounts()
    world = World(os.path.abspath(shutil.which(sys.argv[1]) or sys.argv[1]))
    try:
        judgement = Judgement(world, attempts, modes)
        if least and CONTROL not in modes and os.environ.get("KEEL_TEST_DEPTH") != "all":
            seed = int(os.environ.get("KEEL_TEST_SEED") or random.randrange(1 << 32))
            print(f"a sample, with KEEL_TEST_SEED={seed}")
            judgement.draw(random.Random(seed))
        judgement.all()
        print(f"{'':76} " + " ".join(f"{person.name}: {', '.join(modes)};"
                                    for person in people(world)))
        for attempt in attempts:
            show(attempt, judgement.of(attempt))
        left = [f"process {pid}" for pid in world.left_processes()]
    finally:
        world.close()
    left += sorted(f"mount {mount}" for mount in mounts() - before)
    status = count(judgement, left, least)
    spent = sum(os.times()[:4])
    print(f"{time.monotonic() - began:.0f} s, {spent:.0f} s of processor time")
    return status


if __name__ == "__main__":
    sys.exit(main())
