"""session_test.py - `keel session`: sessions that were kept, as a person and a script see them."""
import itertools
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from scripted import ANTHROPIC, HANG_SECONDS, Call, FlowTest  # noqa: E402

OLD_MS = 1_600_000_000_000
OF_2076_MS = 3_345_000_000_000
DAY_MS = 24 * 60 * 60 * 1000


class SessionCommands(FlowTest):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count(1)

    def talk(self, prompt, *answers, session=None, **run):
        """A turn, in a new session or in this one; the session's id."""
        provider = self.provider(*[ANTHROPIC.answer(["Fine: ", prompt]) if answer is None else answer
                                   for answer in answers or [None]])
        how = ["-r", session] if session else ["--session-id", self.new_id()]
        result = self.ask(provider, "--permission-mode", "bypassPermissions", *how, prompt, **run)
        self.assert_fine(result)
        self.provided = provider
        return how[1]

    def new_id(self):
        return f"{next(self.numbers):08x}-0000-7000-8000-000000000000"

    def session(self, *arguments, status=0, **run):
        result = self.keel("session", *arguments, **run)
        self.assert_status(result, status)
        return result

    def set_time(self, session, unix_ms):
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            db.execute("update sessions set updated = ? where id = ?", (unix_ms, session))
        db.close()

    def ids(self):
        return [one["id"] for one in self.session("list", "--all", "--json").json()]


class Show(SessionCommands):
    def test_turns_have_numbers_and_calls_a_line(self):
        session = self.talk("look", ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", command="echo seen")]), None)
        self.talk("and\nnow", session=session)
        out = self.session("show", session).out
        self.assertIn(f"id        {session}\n", out)
        self.assertIn(f"directory {self.project}\n", out)
        self.assertIn("state     done\n", out)
        self.assertIn("[1] look\n\nI look.\n> Bash  echo seen\n\nFine: look\n", out)
        self.assertIn("[2] and\n    now\n\nFine: and\nnow\n", out)
        self.assertNotIn("  seen\n", out)
        self.assertIn("  seen\n", self.session("show", session, "--tools").out)

    def test_a_command_that_failed_says_so(self):
        session = self.talk("look", ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", command="cat nosuch")]), None)
        self.assertIn("\n> Bash  cat nosuch\n  Exit code 1\n\nFine: look\n",
                      self.session("show", session).out)

    def test_a_command_that_failed_with_a_long_output_says_so(self):
        session = self.talk("look", ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", command="seq 1 40000; exit 3")]), None)
        copy = self.session("fork", session).out.strip()
        for one in (session, copy):
            self.assertIn("\n> Bash  seq 1 40000; exit 3\n  Exit code 3\n\nFine: look\n",
                          self.session("show", one).out)

    def test_a_command_that_took_too_long_says_so(self):
        session = self.talk("look", ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", command="echo begun; sleep 100", timeout=100)]), None)
        self.assertIn("\n> Bash  echo begun; sleep 100\n  Timed out\n\nFine: look\n",
                      self.session("show", session).out)

    def test_results_are_cut_unless_all_of_them_is_asked_for(self):
        """Also what was too long for the model."""
        session = self.talk("look", ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", command="seq 1 40000; printf '%0150d' 7")]), None)
        out = self.session("show", session, "--tools").out
        self.assertIn("\n  1\n", out)
        self.assertIn("\n  ...\n", out)
        self.assertNotIn("\n  20000\n", out)
        out = self.session("show", session, "--full").out
        lines = "".join(f"  {i}\n" for i in range(1, 40001)) + f"  {7:0150}\n"
        self.assertTrue(out.endswith(f" '%0150d' 7\n{lines}\nFine: look\n"), out[-500:])

    def test_calls_of_a_copy_stand_with_their_results(self):
        session = self.talk("look", ANTHROPIC.answer(["I look."], calls=[
            Call("Bash", id="a", command="echo one"),
            Call("Bash", id="b", command="cat nosuch; exit 4"),
            Call("Bash", id="c", command="echo three")]), None)
        copy = self.session("fork", session).out.strip()
        self.assertIn("I look.\n> Bash  echo one\n> Bash  cat nosuch; exit 4\n  Exit code 4\n"
                      "> Bash  echo three\n\nFine: look\n", self.session("show", copy).out)
        self.assertIn("> Bash  echo one\n  one\n> Bash  cat nosuch; exit 4\n  Exit code 4\n",
                      self.session("show", copy, "--tools").out)

    def test_one_turn_alone(self):
        session = self.talk("one")
        self.talk("two", session=session)
        out = self.session("show", session, "--turn", "2").out
        self.assertNotIn("[1]", out)
        self.assertIn("[2] two", out)
        self.assert_refused(self.session("show", session, "--turn", "9", status=2), 2, "no turn 9")

    def test_as_one_json_object(self):
        session = self.talk("one")
        self.talk("two", session=session)
        shown = self.session("show", session, "--json").json()
        self.assertEqual([shown["id"], shown["state"], shown["asks"]], [session, "done", []])
        self.assertEqual([turn["turn"] for turn in shown["turns"]], [1, 2])
        self.assertEqual([message["content"] for message in shown["turns"][1]["messages"]],
                         ["two", "Fine: two"])

    def test_what_others_wrote_does_not_steer_the_terminal(self):
        session = self.talk("hi", ANTHROPIC.answer(["\x1b]0;evil\x07done"]))
        result = self.on_terminal("session", "show", session)
        self.assertNotIn("\x1b]0;", result.out)
        self.assertIn("\\x1b]0;evil\\x07done", result.out)

    def test_one_that_is_open_says_by_whom(self):
        held = self.hold()
        asked = threading.Event()

        def wait(_request):
            asked.set()
            return scripted.Answer([held])
        provider = self.provider(wait)
        session = self.new_id()
        process = self.start("-p", "--model", "anthropic/m", "--session-id", session, "wait",
                             env=ANTHROPIC.environment(provider))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(asked.wait(HANG_SECONDS))
        out = self.session("show", session).out
        self.assertIn(f"open in process {process.pid}", out)
        self.assert_refused(self.session("delete", session, "--yes", status=1), 1,
                            f"process {process.pid}")


class List(SessionCommands):
    def test_no_line_is_wider_than_the_terminal(self):
        self.talk("日本語のとても長いプロンプト" * 9)
        self.talk("plain and very long words " * 9)
        for columns in (20, 40, 80, 120):
            lines = self.lines_on(columns, "--all")
            widths = [sum(2 if ord(c) > 0x2E80 else 1 for c in line) for line in lines]
            self.assertLessEqual(max(widths), columns, lines)
            self.assertGreater(max(widths), columns - 8, lines)

    def lines_on(self, columns, *arguments):
        out = self.on_terminal("session", "list", *arguments, columns=columns).out
        return [re.sub("\x1b\\[[0-9;]*m", "", line) for line in out.splitlines()]

    def talk_in_vain(self, prompt, **run):
        session = self.new_id()
        provider = self.provider(scripted.json_answer({"error": {"message": "no"}}, 400))
        self.assert_status(self.ask(provider, "--session-id", session, prompt, **run), 1)
        return session

    def test_what_is_not_done_says_so(self):
        self.talk("one")
        self.talk_in_vain("two")
        for lines in (self.session("list").out.splitlines(), self.lines_on(80)):
            self.assertRegex(lines[1], r"  just now +2   \(failed\) two$")
            self.assertRegex(lines[2], r"  just now +2   one$")
        lines = self.lines_on(40)
        self.assertIn("  just now, 2 messages, failed", lines)
        self.assertIn("  just now, 2 messages", lines)
        self.assertEqual([one["state"] for one in self.session("list", "--json").json()],
                         ["failed", "done"])

    def test_ids_can_be_given_back(self):
        """Also of sessions that began in the same millisecond, and of long ones."""
        provider = self.provider(*[ANTHROPIC.answer(["Yes."])] * 4)
        ids = ["01a1e416-1234-7abc-8000-000000000001", "01a1e416-1234-7abc-8000-000000000002",
               "01a1e416-1234-7def-8000-000000000003", "01a1e416-1235-7def-8000-000000000003"]
        for session in ids:
            self.assert_fine(self.ask(provider, "--session-id", session, "hi"))
        for lines in (self.session("list").out.splitlines()[1:], self.lines_on(80)[1:],
                      self.lines_on(40)[::3]):
            printed = [line.split()[0] for line in lines]
            self.assertEqual([self.session("show", one, "--json").json()["id"] for one in printed],
                             ids[::-1])

    def test_piped_text_is_not_glued_to_the_prompt(self):
        self.talk("what could go wrong?", stdin=b"commit 8c41af48\n")
        self.assertRegex(self.session("list").out, r"  what could go wrong\?\n$")

    def test_verify_prints_ids_that_can_be_told_apart(self):
        provider = self.provider(*[ANTHROPIC.answer(["Yes."])] * 2)
        ids = [f"01a1e416-1234-7abc-8000-00000000000{i}" for i in "12"]
        for session in ids:
            self.assert_fine(self.ask(provider, "--session-id", session, "hi"))
        lines = self.session("verify", "--all").out.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ids[::-1])

    def test_a_session_that_was_rewound_stands_as_its_last_turn_does(self):
        session = self.talk("one")
        provider = self.provider(scripted.json_answer({"error": {"message": "no"}}, 400))
        self.assert_status(self.ask(provider, "-r", session, "two"), 1)
        self.assert_states(**{session: "failed"})
        self.session("rewind", session, "--yes")
        self.assert_states(**{session: "done"})
        copy = self.session("fork", session).out.strip()
        self.session("rewind", session, "--to", "1", "--yes")
        self.assert_states(**{session: "new", copy: "done"})
        self.talk("three", session=copy)
        self.session("rewind", copy, "--yes")
        self.assert_states(**{session: "new", copy: "done"})

    def assert_states(self, **states):
        """As the list has them, and as each of the sessions itself."""
        listed = {one["id"]: one["state"] for one in self.session("list", "--json").json()}
        self.assertEqual(listed, states)
        for session, state in states.items():
            self.assertEqual(self.session("show", session, "--json").json()["state"], state)

    def test_the_state_is_known_in_every_store(self):
        for store in (f"sqlite:{self.dir}/x.db", f"files:{self.dir}/kept"):
            env = {"KEEL_STORE": store}
            self.talk("one", env=env)
            self.talk_in_vain("two", env=env)
            self.assertEqual([one["state"] for one in self.session("list", "--json", env=env).json()],
                             ["failed", "done"], store)


class Search(SessionCommands):
    def test_words_are_found_in_prompts_and_answers(self):
        session = self.talk("where is the needle?", ANTHROPIC.answer(["In the haystack."]))
        self.talk("something else")
        for words in (["needle"], ["HAYSTACK"], ["the", "needle"]):
            self.assertIn(session, self.session("search", *words).out, words)
        self.assertEqual(len(self.session("search", "needle", "--json").json()), 1)
        [hit] = self.session("search", "haystack", "--json").json()
        self.assertEqual(hit["id"], session)
        self.assertIn("haystack", hit["excerpt"])
        self.assertEqual(self.session("search", "nowhere", status=1).out, "")

    def test_every_prompt_of_a_session_is_found(self):
        session = self.talk("the first of them", ANTHROPIC.answer(["Yes."]))
        self.talk("and a splendid second", ANTHROPIC.answer(["No."]), session=session)
        [hit] = self.session("search", "splendid", "--json").json()
        self.assertEqual(hit["id"], session)

    def test_what_keel_adds_to_every_prompt_is_not_found(self):
        self.talk("greetings", ANTHROPIC.answer(["Yes."]))
        for words in (["environment"], ["sandbox"], ["greetings", "absent"]):
            self.assertEqual(self.session("search", *words, status=1).out, "", words)
        [hit] = self.session("search", "greetings", "--json").json()
        self.assertEqual(hit["excerpt"], "greetings")

    def test_a_rebuild_forgets_words_that_are_no_longer_searched(self):
        self.talk("greetings")
        self.session("search", "greetings")
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            [key] = db.execute("select min(key) from journal where type = 'user_input'").fetchone()
            db.execute("insert into words (rowid, text) values (?, 'sandbox')", (key,))
        self.assertIn("greetings", self.session("search", "sandbox").out)
        self.session("rebuild")
        self.session("search", "sandbox", status=1)
        self.session("search", "greetings")

    def test_words_that_are_empty_are_a_mistake(self):
        for words in ([""], [" ", ""]):
            self.assert_refused(self.session("search", *words, status=2), 2, "words", "empty")

    def test_the_words_are_seen_on_a_narrow_terminal_too(self):
        self.talk("far behind many other words of a prompt there is the needle, and more after it")
        self.talk("\u00fcber" * 12 + "-needle \u00fcber alles")
        out = self.on_terminal("session", "search", "needle", columns=30, env={"NO_COLOR": "1"}).out
        excerpts = [line for line in out.splitlines() if line.startswith("    ")]
        self.assertEqual(len(excerpts), 4, out)
        self.assertIn("    ... is the needle, and mor", excerpts)
        for line in excerpts:
            self.assertIn("needle", line)
            self.assertLessEqual(len(line), 30)

    def test_words_are_bold_on_a_terminal(self):
        self.talk("where is the needle?")
        self.assertIn("\x1b[1mneedle\x1b[0m", self.on_terminal("session", "search", "needle").out)


class Change(SessionCommands):
    def test_rename(self):
        session = self.talk("one")
        self.session("rename", session, "my work")
        self.assertIn("[1] one", self.session("show", "my work").out)
        self.assert_refused(self.session("rename", "my work", status=2), 2, "ID NAME")

    def test_delete_needs_a_yes(self):
        session = self.talk("one")
        self.assert_refused(self.session("delete", session, status=2), 2, "--yes")
        self.assertEqual(self.ids(), [session])
        result = self.session("delete", session, "no-such-one", "--yes")
        self.assertIn("no-such-one", result.err)
        self.assertEqual(self.ids(), [])

    def test_a_no_is_confirmed(self):
        session = self.talk("one")
        for command in (("delete", session), ("rewind", session)):
            for typed in ("n\n", "\n", "\x04"):
                result = self.on_terminal_saying(typed, "session", *command)
                self.assert_status(result, 4)
                end = "\r\n" if typed == "\x04" else ""
                self.assertIn(f"? [y/N] {end}keel: nothing was changed\r\n", result.out)
        self.assertEqual(self.ids(), [session])

    def test_too_few_characters_of_an_id_are_an_error(self):
        session = self.talk("one")
        says = f'"{session[:7]}" is too short for a session\'s id: give at least 8 characters'
        for command in (("-r", session[:7], "more"), ("session", "show", session[:7]),
                        ("session", "delete", session[:7], "--yes")):
            self.assert_refused(self.keel(*command, env={"ANTHROPIC_API_KEY": "x"}), 2, says,
                                f"the newest session that begins so is {session}")
        self.assertEqual(self.ids(), [session])
        self.assert_refused(self.session("show", "nosuch", status=2), 2, "not found")

    def test_fork_at_a_turn(self):
        session = self.talk("one")
        self.talk("two", session=session)
        copy = self.session("fork", session, "--at", "turn:2", "--name", "copy").out.strip()
        self.talk("three", session=copy)
        texts = [message["content"][-1]["text"]
                 for message in self.provided.requests[0].json["messages"]]
        self.assertEqual(texts, ["one", "Fine: one", "three"])
        self.assertIn("copy", self.session("list").out)
        for place in ("turn:9", "turn:x", "99999", "0"):
            self.assert_refused(self.session("fork", session, "--at", place, status=2), 2, "--at")


class MissingStores(SessionCommands):
    LOOKING = (("list",), ("show",), ("search", "x"), ("verify",), ("export",), ("delete", "x"),
               ("rebuild",), ("prune", "--dry-run"), ("fork",), ("rewind", "--yes"), ("replay",))

    def test_looking_makes_no_store(self):
        for command in self.LOOKING:
            self.assertIn(self.keel("session", *command).status, (0, 1, 2), command)
            self.assertEqual(list(self.keel_home.glob("keel.db*")), [], command)
        self.assert_refused(self.ask(self.provider(), "-c", "more"), 2, "no session in")
        self.assertEqual(list(self.keel_home.glob("keel.db*")), [])
        self.assertIn("no session in this directory", self.keel("session", "list").err)

    def test_a_misspelt_store_is_an_error_and_is_not_made(self):
        for store in (f"sqlite:{self.dir}/nofile.db", f"files:{self.dir}/nodir"):
            path = store.split(":")[1]
            for command in self.LOOKING:
                self.assert_refused(self.keel("session", *command, "--store", store), 2,
                                    f"the store {path} does not exist")
            self.assert_refused(self.ask(self.provider(), "-c", "--store", store, "more"), 2,
                                f"the store {path} does not exist")
            self.assertFalse(os.path.exists(path))

    def test_an_import_makes_its_store(self):
        path = self.write("in.json", {"id": "s", "messages": [{"role": "user", "content": "a"}]})
        store = f"sqlite:{self.dir}/new.db"
        self.assert_status(self.keel("session", "import", path, "--store", store), 0)
        self.assertIn("s", self.keel("session", "list", "--all", "--store", store).out)


class Progress(SessionCommands):
    """A database that another process holds makes the command as slow as the test wants."""

    def show_slowly(self, *arguments, on_terminal):
        session = self.talk("look")
        db = sqlite3.connect(self.keel_home / "keel.db", isolation_level=None)
        self.addCleanup(db.close)
        db.execute("pragma locking_mode = exclusive")
        db.execute("begin exclusive")
        db.execute("update sessions set name = name")
        db.execute("commit")
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        process = self.start("session", "show", session, *arguments, env={"TERM": "xterm"},
                             stdout=slave if on_terminal else subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        seen = b""
        while b"reading: 1 s" not in seen:
            seen += os.read(master, 65536)
        db.close()
        return process, master, seen

    def read_rest(self, master):
        seen = b""
        try:
            while piece := os.read(master, 65536):
                seen += piece
        except OSError:  # the other end is closed
            pass
        return seen

    def test_a_session_that_takes_long_to_show_says_so(self):
        process, master, seen = self.show_slowly(on_terminal=False)
        out, _ = process.communicate(timeout=HANG_SECONDS)
        seen += self.read_rest(master)
        self.assertEqual(process.returncode, 0, seen)
        self.assertIn(b"Fine: look", out)
        self.assertNotIn(b"reading", out)
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)

    def test_the_line_is_gone_before_the_conversation_is_on_the_terminal(self):
        _, master, seen = self.show_slowly(on_terminal=True)
        seen += self.read_rest(master)
        before, after = seen.split(b"look", 1)
        self.assertIn(b"reading: 1 s", before)
        self.assertIn(b"\r\x1b[K", before[before.rindex(b"reading"):])
        self.assertNotIn(b"reading", after)
        self.assertIn(b"Fine: look", after)


class WrongNames(SessionCommands):
    """A session that does not exist is a bad invocation, whatever command it is given to."""
    USES = (["show"], ["rename", "NAME"], ["fork"], ["rewind", "--yes"], ["compact"], ["export"],
            ["verify"], ["replay"], ["list", "--before"])

    def command(self, use, session):
        """The command with this session, or none, where its id belongs."""
        name, *more = use
        given = [session] if session else []
        return [name, *more, *given] if name == "list" else [name, *given, *more]

    def refused(self, use, session, says):
        result = self.keel("session", *self.command(use, session), env={"ANTHROPIC_API_KEY": "k"})
        self.assert_refused(result, 2, says)
        return result

    def test_every_command_says_that_it_was_not_found(self):
        for use in self.USES:
            result = self.refused(use, "nosuch", 'keel: session "nosuch" not found\n')
            self.assertIn("keel session list --all lists the sessions by id and name", result.err)

    def test_every_command_says_that_a_directory_has_none(self):
        for use in self.USES:
            if use[0] not in ("rename", "list"):  # these need an id
                self.refused(use, None, f"keel: no session in {self.project}\n")

    def test_every_command_asks_for_more_of_an_ambiguous_id(self):
        provider = self.provider(ANTHROPIC.answer())
        for number in "12":
            self.assert_fine(self.ask(provider, "hi", "--session-id",
                                      f"0badcafe-0000-7000-8000-00000000000{number}"))
        says = 'keel: ambiguous session id "0badcafe-0000": 2 sessions match\n'
        for use in self.USES:
            self.refused(use, "0badcafe-0000", says)
        self.assert_refused(self.ask(provider, "-r", "0badcafe-0000", "hi"), 2, says)
        self.assertEqual(len(provider.requests), 2)

    def test_all_sessions_and_one_cannot_be_combined(self):
        self.assert_refused(self.keel("session", "verify", "--all", "nosuch"), 2,
                            "keel: --all and a session cannot be combined\n")

    def test_a_run_refuses_them_likewise(self):
        provider = self.provider(ANTHROPIC.answer())
        for flags, says in ((["-r", "nosuch"], 'session "nosuch" not found'),
                            (["-c"], f"no session in {self.project}"),
                            (["-r", "nosuch", "--fork-session"], 'session "nosuch" not found'),
                            (["-r", " "], "--resume needs the id or the name of a session"),
                            (["-c", "--no-session-persistence"], "cannot be combined")):
            self.assert_refused(self.ask(provider, *flags, "hi"), 2, says)
        self.assertEqual(provider.requests, [])

    def test_every_command_asks_which_of_two_with_one_name_is_meant(self):
        provider = self.provider(ANTHROPIC.answer())
        ids = [self.new_id() for _ in range(2)]
        for session in ids:
            self.assert_fine(self.ask(provider, "hi", "-n", "foo", "--session-id", session))
        says = 'keel: ambiguous session name "foo": 2 sessions match\n'
        hint = f"give the id of one of them, newest first: {ids[1]}, {ids[0]}\n"
        for use in (*self.USES, ["delete", "--yes"]):
            self.assertIn(hint, self.refused(use, "foo", says).err)
        self.assert_refused(self.ask(provider, "-r", "foo", "hi"), 2, says, hint)
        self.assertEqual(len(provider.requests), 2)
        self.assertEqual(set(self.ids()), set(ids))

    def test_a_name_means_the_session_of_this_directory(self):
        other = self.dir / "other"
        other.mkdir()
        here, there = self.new_id(), self.new_id()
        provider = self.provider(ANTHROPIC.answer())
        self.assert_fine(self.ask(provider, "hi", "-n", "foo", "--session-id", here))
        self.assert_fine(self.ask(provider, "hi", "-n", "foo", "--session-id", there, cwd=other))
        for cwd, session in ((self.project, here), (other, there)):
            self.assertIn(session, self.session("show", "foo", cwd=cwd).out)

    def test_a_name_is_not_empty_and_one_line(self):
        session = self.talk("hi")
        says = "a session's name is one line of text, and not empty"
        provider = self.provider(ANTHROPIC.answer())
        for name in ("", "  ", "a\nb"):
            self.assert_refused(self.ask(provider, "-n", name, "hi"), 2, says)
            for use in (["rename", session, name], ["fork", session, "--name", name],
                        ["import", "x", "--name", name]):
                self.assert_refused(self.keel("session", *use), 2, says)

    def test_deleting_what_is_gone_is_no_failure(self):
        result = self.session("delete", "nosuch", "--yes")
        self.assertEqual(result.err, 'keel: session "nosuch" not found: nothing to delete\n')


class Stores(SessionCommands):
    def test_a_store_in_a_directory_that_does_not_exist_makes_nothing(self):
        for store in (f"sqlite:{self.dir}/nope/x.db", f"{self.dir}/nope/x.db",
                      f"files:{self.dir}/nope/sessions"):
            says = f"the directory {self.dir}/nope does not exist"
            provider = self.provider(ANTHROPIC.answer())
            self.assert_refused(self.ask(provider, "--store", store, "hi"), 2, says)
            self.assert_refused(self.ask(provider, "hi", env={"KEEL_STORE": store}), 2, says)
            self.assert_refused(self.keel("session", "list", "--store", store), 2, says,
                                f"mkdir -p '{self.dir}/nope'")
            self.assertFalse((self.dir / "nope").exists())
            self.assertEqual(provider.requests, [])


class Compact(SessionCommands):
    def compact(self, session, *arguments, summary="a summary", status=0):
        provider = self.provider(ANTHROPIC.answer([summary]))
        result = self.keel("session", "compact", session, "--model", "anthropic/m", *arguments,
                           env=ANTHROPIC.environment(provider))
        self.assert_status(result, status)
        return result, provider

    def test_an_answered_history_becomes_a_summary(self):
        session = self.talk("one " * 300)
        result, provider = self.compact(session, "--instructions", "keep the numbers")
        self.assertRegex(result.out, r"about \d+ tokens instead of \d+")
        self.assertIn("keep the numbers", provider.requests[0].body.decode())
        self.talk("two", session=session)
        body = self.provided.requests[0].body.decode()
        self.assertIn("[Context Summary] a summary", body)
        self.assertNotIn("one one", body)
        shown = self.session("show", session).out
        self.assertIn("\n[2] (compacted)\n", shown)
        self.assertIn("messages were summarized", shown)

    def test_a_summary_that_is_longer_is_not_taken(self):
        session = self.talk("one")
        result, _ = self.compact(session, summary="long " * 500, status=1)
        self.assertIn("not make it shorter", result.err)

    def test_a_misspelt_model_is_asked_for_no_summary(self):
        session = self.talk("one")
        provider = self.provider(ANTHROPIC.answer(["a summary"]))
        for model, says in (("sonet", "did you mean sonnet?"), ("", "the model name is empty")):
            result = self.keel("session", "compact", session, "--model", model,
                               env=ANTHROPIC.environment(provider))
            self.assert_refused(result, 2, says)
        self.assertEqual(provider.requests, [])


class Prune(SessionCommands):
    def test_the_old_go_and_the_named_stay(self):
        old, named, new = self.talk("old"), self.talk("named"), self.talk("new")
        self.session("rename", named, "kept")
        for session in (old, named):
            self.set_time(session, OLD_MS)
        self.assertIn(old, self.session("prune", "--dry-run").out)
        self.assertEqual(set(self.ids()), {old, named, new})
        self.assertIn("1 session", self.session("prune").out)
        self.assertEqual(set(self.ids()), {named, new})

    def test_without_room_the_oldest_go(self):
        old, middle, new = self.talk("old"), self.talk("middle"), self.talk("new")
        self.set_time(old, OLD_MS)
        self.set_time(middle, OLD_MS + 1)
        sizes = {one["id"]: one["bytes"] for one in self.session("list", "--json").json()}
        self.user_settings({"sessions": {"retentionDays": 0,
                                         "maxBytes": sizes[middle] + sizes[new]}})
        self.session("prune")
        self.assertEqual(set(self.ids()), {middle, new})

    def test_it_is_done_after_a_run_once_a_day(self):
        old = self.talk("old")
        self.set_time(old, OLD_MS)
        self.believe(int(time.time() * 1000) - DAY_MS)
        provider = self.provider(ANTHROPIC.answer(["Hi."]))
        result = self.ask(provider, "hi")
        self.assert_status(result, 0)
        self.assertRegex(result.err, r"keel: removed 1 session \([\d.]+ MB\), unused for too long "
                                     r"\(sessions.retentionDays\) or over the limit")
        self.assertNotIn(old, self.ids())
        again = self.talk("again")
        self.set_time(again, OLD_MS)
        self.talk("later")
        self.assertIn(again, self.ids())

    def jump_ahead(self, days=400):
        """All that keel knows of the time is that many days old."""
        past_ms = int(time.time() * 1000) - days * DAY_MS
        self.believe(past_ms)
        return past_ms

    def believe(self, believed_ms, looked_ms=None):
        """What the store remembers of the time."""
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            db.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)",
                       (looked_ms or believed_ms, believed_ms))
        db.close()

    def believed(self):
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            [(looked, believed)] = db.execute("SELECT looked, believed FROM clock")
        db.close()
        return looked, believed

    def test_a_run_with_the_clock_400_days_ahead_removes_nothing_and_says_why(self):
        one, two = self.talk("one"), self.talk("two")
        past_ms = self.jump_ahead()
        for session in (one, two):
            self.set_time(session, past_ms)
        for _ in range(2):
            result = self.ask(self.provider(ANTHROPIC.answer(["Hi."])), "hi")
            self.assert_status(result, 0)
            self.assertIn("kept 2 expired sessions", result.err)
            self.assertRegex(result.err, "(400|398) days ahead")
            self.assertLessEqual({one, two}, set(self.ids()))
            looked, believed = self.believed()
            self.believe(believed, looked - DAY_MS)
            self.assertLess(believed, past_ms + 7 * DAY_MS)

    def test_a_person_says_that_the_clock_is_right(self):
        old = self.talk("old")
        self.set_time(old, self.jump_ahead())
        told = self.session("prune").out
        self.assertIn("0 sessions (0.0 MB) removed\nkept 1 expired session:", told)
        self.assertIn("--trust-clock", told)
        self.assertIn(old, self.session("prune", "--dry-run", "--trust-clock").out)
        self.assertEqual(self.ids(), [old])
        self.assertIn("1 session", self.session("prune", "--trust-clock").out)
        self.assertEqual(self.ids(), [])
        self.assertNotIn("ahead", self.session("prune").out)

    def test_a_session_used_in_2076_is_not_the_newest_for_ever(self):
        for url in (f"sqlite:{self.keel_home}/keel.db", f"files:{self.dir}/sessions"):
            with self.subTest(url):
                env = {"KEEL_STORE": url}
                late = self.talk("late", env=env)
                if url.startswith("sqlite"):
                    self.set_time(late, OF_2076_MS)
                else:
                    self.set_time_in_files(late)
                self.assertEqual(self.newest(env), late)
                for i in range(4):
                    newest = self.talk(f"next {i}", env=env)
                    self.assertEqual(self.newest(env), newest)

    def set_time_in_files(self, session):
        """As if the last record had been written then: the line says so, and its sum fits."""
        log = self.dir / "sessions" / f"{session}.jsonl"
        first, rest = log.read_bytes().split(b"\n", 1)
        lines = [line for line in rest.split(b"\n") if line]
        lines[-1] = re.sub(rb'"timestamp":"[^"]*"', b'"timestamp":"2076-01-01T00:00:00.000Z"',
                           lines[-1])
        plain = re.sub(rb',"check":"[0-9a-f]*"', b"", lines[-1], count=1)
        check = 0xcbf29ce484222325
        for byte in plain:
            check = (check ^ byte) * 0x100000001b3 % 2 ** 64
        lines[-1] = re.sub(rb'"check":"[0-9a-f]*"', b'"check":"%016x"' % check, lines[-1],
                           count=1)
        log.write_bytes(b"\n".join([first, *lines, b""]))
        (self.dir / "sessions" / ".index").unlink()

    def newest(self, env):
        return self.session("list", "--json", env=env).json()[0]["id"]

    def test_a_list_that_ends_early_says_that_there_are_more(self):
        sessions = [self.talk(f"prompt {i}") for i in range(3)]
        for i, session in enumerate(sessions):
            self.set_time(session, 1_000 + i)
        result = self.session("list", "--limit", "2")
        self.assertEqual(result.err, f"keel: there are older sessions: --before {sessions[1]} lists "
                                     "the next ones, --limit 0 all\n")
        self.assertEqual(len(result.out.splitlines()), 3)
        self.assert_fine(self.session("list", "--limit", "3"))
        self.assert_fine(self.session("list", "--before", sessions[1], "--limit", "1"))
        self.assertEqual(len(self.session("list", "--limit", "2", "--json").json()), 2)

    def test_a_limit_below_nothing_is_refused(self):
        self.user_settings({"sessions": {"retentionDays": -1}})
        self.assert_refused(self.session("prune", status=2), 2, "sessions.retentionDays")

    def test_what_was_saved_of_files_goes_with_its_session(self):
        (self.project / "notes").write_text("precious\n" * 3000)
        session = self.talk("write", ANTHROPIC.answer(["Now."], calls=[
            Call("Bash", command="echo x > notes")]), None)
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            handles = {row[0] for row in db.execute("select handle from payloads")}
            images = [row[0] for row in db.execute("select body from journal where type = ?",
                                                   ("pre_image",))]
        db.close()
        [content] = re.findall(r'"content":"([0-9a-f]{64})"', images[0])
        self.assertIn(content, handles)
        self.session("delete", session, "--yes")
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            doomed = {row[0] for row in db.execute("select handle from doomed")}
        db.close()
        self.assertIn(content, doomed)


if __name__ == "__main__":
    scripted.main()
