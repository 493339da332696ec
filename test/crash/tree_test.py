"""tree_test.py - a session with child runs is killed anywhere: its tree is whole, and it resumes.

The session's model asks a helper, which asks another one (tree.c). It is killed before, in and after
every call that leaves something in the store (fault.c), or killed again while it resumes. Then `keel
session verify` must find the tree whole, and the next process must finish it, with nothing done
twice. KEEL_TEST_DEPTH=all tries all of it and as many pairs, otherwise a sample; KEEL_CRASH_SEED
repeats what a failure has printed.
"""
import os
import pathlib
import random
import re
import subprocess
import unittest

from crash_test import DEPTH, SEED, CrashTest, orders_of
from stage import HANG_SECONDS, keel_test

PROGRAM = os.environ.get("KEEL_TREE", "")
N_SAMPLES = (0, 60, 15)[DEPTH]  # of a store; 0: all
N_PAIRS = (200, 20, 5)[DEPTH]


class Tree(CrashTest):
    def play(self, case, order=None):
        return subprocess.run([PROGRAM, case.store.url(case), case.session, str(case.dir)],
                              env=case.environment(order=order), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=HANG_SECONDS, check=False)

    def keel(self, case, *arguments):
        return subprocess.run([keel_test.KEEL, "session", *arguments], cwd=case.project,
                              env=case.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=HANG_SECONDS, check=False)

    def boundaries(self, store):
        case = self.stage.case(store)
        try:
            result = self.play(case, "never 0")
            self.assertEqual(result.returncode, 0, result)
            return [line.split(" ", 2) for line in case.log.read_text().splitlines()]
        finally:
            case.close()

    def require_whole(self, case):
        result = self.keel(case, "verify", "--all")
        missing = result.returncode == 2 and "does not exist" in result.stderr
        case.require(result.returncode == 0 or missing, "the tree is not whole", result)

    def marks(self, case):
        path = pathlib.Path(case.dir / "marks")
        return path.read_text().split() if path.exists() else []

    def require_done(self, case):
        result = self.play(case)
        case.require(result.returncode == 0, "it does not go on", result)
        case.require(re.match(r"The end\.\n0 open, \d+ rounds\n$", result.stdout), "it ended", result)
        marks = self.marks(case)
        case.require(len(marks) == len(set(marks)), "something was done twice", marks)
        self.require_whole(case)
        if case.number % 4 == 0:
            self.require_same(case)

    def require_same(self, case):
        result = self.keel(case, "replay", case.session)
        case.require(result.returncode == 0, "it is not the same again", result)
        n_children = result.stdout.count("child run")
        case.require(n_children >= 2, "not all child runs are replayed", result)

    def kill_at(self, *orders):
        def kill_there(case):
            for order in orders:
                result = self.play(case, order)
                case.require(result.returncode in (-9, 0), "it fails", result)
                case.store.pass_time(case)
                self.require_whole(case)
            self.require_done(case)
        return kill_there

    def kill_everywhere(self, store):
        orders, chance = list(orders_of(self.boundaries(store))), random.Random(SEED)
        first = chance.sample(orders, N_SAMPLES) if N_SAMPLES else orders
        items = [(store, f"killed {order}", self.kill_at(order)) for order in first]
        for _ in range(N_PAIRS):
            pair = chance.choice(orders), chance.choice(orders[:len(orders) // 2])
            items.append((store, f"killed {pair[0]}, then {pair[1]}", self.kill_at(*pair)))
        print(f"{store.name}: killed {len(items)} times, seed {SEED}")
        self.try_all(items)

    def test_of_sqlite(self):
        self.kill_everywhere(self.store("sqlite"))

    def test_of_files(self):
        self.kill_everywhere(self.store("files"))

    def test_of_postgres(self):
        self.kill_everywhere(self.store("postgres"))


if __name__ == "__main__":
    keel_test.main()
