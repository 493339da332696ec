"""session_clock_test.py - the clock of this machine is ten years wrong for a while.

keel runs with a library that shifts the time of day (clock.c). However far it is off, and however
often it jumps, sessions are not removed in bulk; when it is right again, they have times that it
has reached.
"""
import datetime
import os
import pathlib
import sqlite3

from keel_test import clock_shifted
from session_test import SessionCommands, scripted

DECADE = 3650
RETENTION = 90
# Enough for what is believed of a clock to pass the retention, if every look believed two days more.
N_LOOKS = RETENTION // 2 + 10


class WrongClock(SessionCommands):
    def setUp(self):
        super().setUp()
        self.before = [self.talk("one"), self.talk("two")]

    def stores(self):
        return [{"KEEL_STORE": f"sqlite:{self.keel_home}/keel.db"},
                {"KEEL_STORE": f"files:{self.dir}/sessions"}]

    def prune_at(self, days, *arguments, env=None):
        return self.session("prune", *arguments, env=clock_shifted(days, env)).out

    def talk_at(self, days, prompt, env=None):
        """A run may say on standard error that the clock is odd."""
        session = self.new_id()
        provider = self.provider(scripted.ANTHROPIC.answer(["Fine."]))
        result = self.ask(provider, "--session-id", session, prompt, env=clock_shifted(days, env))
        self.assert_status(result, 0)
        return session

    def ids(self, env=None):
        return [one["id"] for one in self.session("list", "--all", "--json", env=env).json()]

    def days_since_use(self, env=None):
        now = datetime.datetime.now(datetime.timezone.utc)
        return {one["id"]: (now - datetime.datetime.fromisoformat(
            one["updatedAt"].replace("Z", "+00:00"))) / datetime.timedelta(days=1)
                for one in self.session("list", "--all", "--json", env=env).json()}

    def assert_used_lately(self, env=None):
        for session, days in self.days_since_use(env).items():
            self.assertTrue(-0.01 < days < 7, f"{session} was used {days} days ago")


class Prune(WrongClock):
    def test_removes_nothing_however_often_the_clock_says_that_all_are_old(self):
        self.assertRegex(self.prune_at(DECADE), "0 sessions .* removed\nkept 2 expired sessions")
        for _ in range(N_LOOKS):
            self.prune_at(DECADE)
        self.assertEqual(set(self.ids()), set(self.before))

    def test_removes_nothing_while_the_clock_jumps_to_and_fro(self):
        for _ in range(N_LOOKS):
            self.prune_at(DECADE)
            self.prune_at(0)
        self.assertEqual(set(self.ids()), set(self.before))

    def test_removes_nothing_when_the_clock_is_behind(self):
        for days in (-DECADE, 0, -DECADE, DECADE, 0):
            self.assertIn("0 sessions (0.0 MB) removed\n", self.prune_at(days))
        self.assertEqual(set(self.ids()), set(self.before))

    def test_a_dry_run_believes_nothing_for_later(self):
        self.talk("three")
        before = self.believed()
        self.assertIn("kept 3 expired sessions", self.prune_at(DECADE, "--dry-run"))
        self.assertIn("3 sessions (", self.prune_at(DECADE, "--dry-run", "--trust-clock"))
        self.assertEqual(self.believed(), before)
        self.assertEqual(len(self.ids()), 3)

    def believed(self):
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            rows = db.execute("SELECT looked, believed FROM clock").fetchall()
        db.close()
        return rows


class NewHomes(WrongClock):
    """Containers that share a store, each with a home that is made for it."""

    def in_new_home(self, env):
        self.n_homes = getattr(self, "n_homes", 0) + 1
        self.keel_home = self.dir / f"new-home-{self.n_homes}"
        return env

    def test_a_wrong_clock_removes_nothing_however_many_there_are(self):
        for env in self.stores():
            with self.subTest(env["KEEL_STORE"]):
                right = {self.talk(f"right {i}", env=env) for i in range(4)}
                for days in (400, 400, 401):
                    self.talk_at(days, "wrong", self.in_new_home(env))
                    self.assertIn("0 sessions (0.0 MB) removed",
                                  self.prune_at(400, env=self.in_new_home(env)))
                self.assertLessEqual(right, set(self.ids(env)))

    def forget_the_time(self, env):
        """A store that keel has used before it kept what it believes of the time there."""
        kind, place = env["KEEL_STORE"].split(":")
        if kind == "files":
            (pathlib.Path(place) / ".clock").unlink()
        else:
            with sqlite3.connect(place) as db:
                db.execute("DROP TABLE clock")
            db.close()

    def test_prune_as_the_first_command_asks_whether_a_clock_a_week_ahead_is_right(self):
        self.user_settings({"sessions": {"retentionDays": 5}})
        for env in self.stores():
            with self.subTest(env["KEEL_STORE"]):
                right = {self.talk(f"right {i}", env=env) for i in range(4)} | set(self.ids(env))
                self.forget_the_time(env)
                told = self.prune_at(8, env=env)
                self.assertRegex(told, f"0 sessions .* removed\nkept {len(right)} expired sessions")
                self.assertIn("--trust-clock", told)
                self.assertEqual(set(self.ids(env)), right)
                self.assertIn(f"{len(right)} sessions", self.prune_at(8, "--trust-clock", env=env))

    def test_new_sessions_are_reached_after_runs_in_2080_and_in_1970(self):
        for env in self.stores():
            with self.subTest(env["KEEL_STORE"]):
                self.talk("normal", env=env)
                self.talk_at(20000, "ahead", env)
                self.talk_at(-20700, "behind", env)
                for i in range(2):
                    new = self.talk(f"new {i}", env=env)
                    self.assertEqual(self.ids(env)[0], new)


class Times(WrongClock):
    def check(self, days, env):
        """A session is used while the clock is wrong; then it is right."""
        before = self.talk("before", env=env)
        wrong = self.talk_at(days, "wrong", env)
        self.prune_at(days, env=env)
        self.assertEqual(set(self.ids(env)), {before, wrong})
        self.prune_at(0, env=env)
        self.assert_used_lately(env)
        after = self.talk("after", env=env)
        self.assertEqual(self.ids(env)[0], after, "another one is the newest")
        self.assertEqual(set(self.ids(env)), {before, wrong, after})
        self.session("verify", "--all", env=env)

    def test_of_a_session_that_was_used_ten_years_ahead(self):
        for store in (0, 1):
            with self.subTest(store):
                self.keel_home = self.dir / f"home{store}"
                self.check(DECADE, self.stores()[store])

    def test_of_a_session_that_was_used_ten_years_ago(self):
        for store in (0, 1):
            with self.subTest(store):
                self.keel_home = self.dir / f"home{store}"
                self.check(-DECADE, self.stores()[store])


if __name__ == "__main__":
    scripted.main()
