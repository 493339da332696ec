"""crash_test.py - keel is killed anywhere: nothing that was acknowledged is lost, nothing runs twice.

A session with tools is run against a scripted provider and killed: at every call that makes
something durable or visible (fault.c), and at random moments; with the power lost, too, so that
only what was synced is left (disk.c); or a single write or sync fails. Then it is resumed, perhaps
killed again, and finished. stage.py says what must be true on the way. KEEL_TEST_DEPTH=all tries
all of it, "more" a fifth, otherwise a sample; KEEL_CRASH_SEED repeats what a failure has printed.
"""
import concurrent.futures
import os
import pathlib
import random
import shutil
import tempfile
import threading
import time
import unittest

import stage
import stores
from stage import HANG_SECONDS, keel_test

DEPTH = {"all": 0, "more": 1}.get(os.environ.get("KEEL_TEST_DEPTH"), 2)
SEED = int(os.environ.get("KEEL_CRASH_SEED", random.SystemRandom().randrange(10**9)))
N_WORKERS = 3 * (os.cpu_count() or 1)  # they mostly wait
N_RANDOM = (1000, 200, 50)[DEPTH]
N_TOLD = 5
WRITES = {"write", "pwrite", "writev", "pwritev", "send"}
SYNCS = {"fsync", "fdatasync", "syncfs"}


def temporary_directory():
    """In memory where there is such a place: thousands of fsyncs."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return pathlib.Path(tempfile.mkdtemp(prefix="keel-crash-", dir=memory)).resolve()


def orders_of(boundaries):
    """Every way to die at every boundary.

    Between writes to the same file that follow each other nothing happens: the kill comes before
    the first and after the last of them. Every second one is torn, as SQLite writes a page in two:
    its frame's head, then itself."""
    ends = [None, *[(kind, place) for _, kind, place in boundaries], None]
    n_alike = 0
    for number, (before, at, after) in enumerate(zip(ends, ends[1:], ends[2:]), 1):
        is_write = at[0] in WRITES
        n_alike = n_alike + 1 if is_write and before == at else 0
        if n_alike == 0:
            yield f"before {number}"
        if is_write and (n_alike % 2 == 1 or after != at):
            yield f"torn {number}"
        if not is_write or after != at:
            yield f"after {number}"


def processes_about(place):
    """Command lines that name a place, in sandboxes too."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue  # it is gone
        if os.fsencode(place) in command:
            yield command.replace(b"\0", b" ")


class CrashTest(unittest.TestCase):
    has_sandbox = False  # it takes most of the time, and makes no difference to what is stored

    @classmethod
    def setUpClass(cls):
        cls.dir = temporary_directory()
        cls.stage = stage.Stage(cls.dir)
        cls.stores = [stores.Sqlite(), stores.Files()]
        if stores.Postgres.programs():
            cls.stores.append(stores.Postgres(cls.dir))

    @classmethod
    def tearDownClass(cls):
        cls.stage.close()
        for store in cls.stores:
            store.close()
        shutil.rmtree(cls.dir, ignore_errors=True)

    def store(self, name):
        for store in self.stores:
            if store.name == name:
                return store
        raise unittest.SkipTest("there is no PostgreSQL server here")

    def try_one(self, store, what, play):
        """One case; what went wrong, as text."""
        case = self.stage.case(store, self.has_sandbox)
        try:
            play(case)
        except Exception as e:  # pylint: disable=broad-except
            return f"{store.name}, {what}, {case.place()}:\n{str(e)[:3000] or repr(e)}"
        finally:
            case.close()
        return None

    def try_all(self, items):
        """items: store, what, play(case)."""
        with concurrent.futures.ThreadPoolExecutor(N_WORKERS) as pool:
            failures = [text for text in pool.map(lambda item: self.try_one(*item), items) if text]
        if failures:
            self.fail(f"{len(failures)} of {len(items)}, seed {SEED}\n\n" +
                      "\n\n".join(failures[:N_TOLD]))
        self.assert_nothing_runs()

    def assert_nothing_runs(self):
        """Commands die with keel; it may take a moment."""
        end = time.monotonic() + HANG_SECONDS
        while left := list(processes_about(f"{self.dir}/c")):
            self.assertLess(time.monotonic(), end, f"commands have outlived keel: {left}")
            time.sleep(0.02)


class EveryBoundary(CrashTest):
    def kill_everywhere(self, store):
        boundaries = self.stage.boundaries(store)
        kinds = {kind for _, kind, _ in boundaries}
        self.assertLessEqual(store.kinds, kinds, "calls of some kinds are not seen")
        orders = list(orders_of(boundaries))
        killed = []

        def play(order):
            def kill_there(case):
                run = case.finish(case.begin(order=order))
                killed.append(run.was_killed)
                case.check_begun(run)
                case.finish_it()
            return kill_there
        step = (1, 5, 17)[DEPTH]
        chosen = orders[SEED % step::step]
        self.try_all([(store, f"killed {order}", play(order)) for order in chosen])
        # The last ones may not be reached: what is written together depends on time.
        self.assertGreater(sum(killed), len(chosen) * 0.8)

    def test_of_sqlite(self):
        self.kill_everywhere(self.store("sqlite"))

    def test_of_files(self):
        self.kill_everywhere(self.store("files"))

    def test_of_postgres(self):
        self.kill_everywhere(self.store("postgres"))

    def test_and_again_while_it_is_resumed(self):
        chance, items = random.Random(SEED), []

        def play(first, second):
            def kill_twice(case):
                case.check_begun(case.finish(case.begin(order=first)))
                case.resume(order=second)
                case.finish_it()
            return kill_twice
        for store in self.stores:
            orders = list(orders_of(self.stage.boundaries(store)))
            for _ in range((60, 15, 4)[DEPTH]):
                first, second = chance.choice(orders), chance.choice(orders[:len(orders) // 2])
                items.append((store, f"killed {first}, then {second}", play(first, second)))
        self.try_all(items)


class InAWrite(CrashTest):
    def test_a_killed_write_or_edit_leaves_no_temporary_file_in_the_workspace(self):
        """At every boundary there: they are few, as the temporary file has no name at first."""
        store = self.store("sqlite")
        boundaries = self.stage.boundaries(store)
        numbers = {number for number, _, place in boundaries
                   if "/project" in place or "/unfinished" in place}
        self.assertGreater(len(numbers), 5)

        def play(order):
            def kill_there(case):
                case.check_begun(case.finish(case.begin(order=order)))
                case.finish_it()
            return kill_there
        orders = [order for order in orders_of(boundaries) if order.split()[1] in
                  {str(number) for number in numbers}]
        self.try_all([(store, f"killed {order}", play(order)) for order in orders])


class PowerLoss(CrashTest):
    """With keel goes all that it has not synced."""

    def lose_everywhere(self, store):
        orders = [f"{how} {number}" for number, kind, _ in self.stage.boundaries(store)
                  for how in (("before", "after") if kind not in WRITES else ("before",))]

        def play(order):
            def lose_there(case):
                run = case.finish(case.begin(order=order, loses_power=True))
                case.lose_power()
                case.check_begun(run)
                case.finish_it()
            return lose_there
        step = (2, 11, 41)[DEPTH]
        chosen = ["never 0", *orders[SEED % step::step]]
        self.try_all([(store, f"without power {order}", play(order)) for order in chosen])

    def test_of_sqlite(self):
        self.lose_everywhere(self.store("sqlite"))

    def test_of_files(self):
        self.lose_everywhere(self.store("files"))


class OneError(CrashTest):
    """A write or a sync fails once; the disk is fine before it and after it."""

    def fail_everywhere(self, store):
        boundaries = [(number, kind, place) for number, kind, place in self.stage.boundaries(store)
                      if kind in WRITES | SYNCS and str(place).startswith(str(self.dir))
                      and "/store" in place]

        def play(order):
            def fail_there(case):
                run = case.finish(case.begin(order=order))
                case.require(run.result.status in (0, 1), str(run.result))
                case.check_records()
                case.check_requests(run)
                case.check_tools()
                case.require_written_again(order)
                if case.finish_it():
                    case.require_whole()
                    case.require_same()
            return fail_there
        step = (1, 5, 17)[DEPTH]
        chosen = [f"error {number}" for number, _, _ in boundaries[SEED % step::step]]
        self.try_all([(store, order, play(order)) for order in chosen])

    def test_of_sqlite(self):
        self.fail_everywhere(self.store("sqlite"))

    def test_of_files(self):
        self.fail_everywhere(self.store("files"))


class Damage(CrashTest):
    """Files that were cut or changed: a sample, the unit tests of the stores do it at all bytes."""

    def damage_all(self, store, damage):
        chance, n = random.Random(SEED), len(self.stage.boundaries(store))

        def play(number):
            def damage_one(case):
                case.check_begun(case.finish(case.begin(order=f"before {number}")))
                case.finish_damaged(*damage(case, chance))
            return damage_one
        # Runs that were killed behind their middle: there is a log, and something left to do.
        numbers = [chance.randrange(n // 2, n * 4 // 5) for _ in range((60, 15, 5)[DEPTH])]
        self.try_all([(store, f"damaged {number}", play(number)) for number in numbers])

    def test_of_a_log_that_was_cut(self):
        store = self.store("files")

        def damage(case, chance):
            log = store.log(case)
            text = log.read_bytes()
            second_line = text.index(b"\n", text.index(b"\n") + 1) + 1
            at = chance.randrange(second_line, len(text))
            log.write_bytes(text[:at])
            return [] if text[at - 1:at] == b"\n" else ["was damaged, probably by a crash"]
        self.damage_all(store, damage)

    def test_of_a_last_record_that_was_changed(self):
        store = self.store("files")

        def damage(case, chance):
            log = store.log(case)
            text = bytearray(log.read_bytes())
            last_line = text.rindex(b"\n", 0, len(text) - 1) + 1
            text[chance.randrange(last_line, len(text))] ^= chance.randrange(1, 256)
            log.write_bytes(text)
            return ["was damaged, probably by a crash"]
        self.damage_all(store, damage)

    def test_of_a_write_ahead_log_that_was_cut(self):
        store = self.store("sqlite")

        def damage(case, chance):
            log = case.store_dir / "keel.db-wal"
            text = log.read_bytes()
            log.write_bytes(text[:chance.randrange(len(text) * 3 // 4, len(text))])
            return []
        self.damage_all(store, damage)


class AnyMoment(CrashTest):
    has_sandbox = True

    def kill_after_chunks(self, chance):
        """When the model has sent so many pieces of its answers."""
        at = chance.randrange(1, 70)

        def play(case):
            count, lock, started = [0], threading.Lock(), threading.Event()

            def on_chunk(_):
                with lock:
                    count[0] += 1
                    if count[0] == at:
                        started.wait(HANG_SECONDS)  # keel may be faster than its starter
                        process.kill()
            case.on_chunk = on_chunk
            process = case.begin()
            started.set()
            case.check_begun(case.finish(process))
            case.on_chunk = None
            case.finish_it()
        return f"killed at piece {at}", play

    def kill_after_time(self, chance):
        seconds = chance.uniform(0, 0.3)

        def play(case):
            process = case.begin()
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            run = case.finish(process)
            timer.cancel()
            case.check_begun(run)
            case.finish_it()
        return f"killed after {seconds * 1000:.3f} ms", play

    def kill_at_boundary(self, chance):
        order = f"{chance.choice(['before', 'torn', 'after'])} {chance.randrange(1, 400)}"

        def play(case):
            case.check_begun(case.finish(case.begin(order=order)))
            case.finish_it()
        return f"killed {order}", play

    def test_in_a_command_which_is_seen_before_and_gone_after(self):
        """Otherwise nobody would know whether commands that outlive keel are noticed."""
        case = self.stage.case(self.store("sqlite"), has_sandbox=True)
        self.addCleanup(case.close)
        reached, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def on_chunk(number):
            if number == 0 and len(case.requests) == len(case.turns):
                reached.set()
                go_on.wait(HANG_SECONDS)
        case.on_chunk = on_chunk
        process = case.begin()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            run = pool.submit(case.finish, process)
            reached.wait(HANG_SECONDS)
            seen = list(processes_about(case.project))
            process.kill()
            case.check_begun(run.result())
        self.assertTrue([command for command in seen if b"sleep 600" in command], seen)
        self.assert_nothing_runs()

    def test_many(self):
        chance, items = random.Random(SEED), []
        ways = [self.kill_after_chunks, self.kill_after_time, self.kill_at_boundary]
        print(f"seed {SEED}")
        for number in range(N_RANDOM):
            store = self.stores[number % len(self.stores)]
            items.append((store, *chance.choice(ways)(chance)))
        self.try_all(items)


if __name__ == "__main__":
    keel_test.main()
