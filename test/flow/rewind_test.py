"""rewind_test.py - sessions that are taken back: files and conversation, and on from there."""
import json
import os
import re
import shlex
import time

import scripted
from agent import Call, Reader, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC, HANG_SECONDS, for_each_protocol
from undo_test import describe


class RewindTest(SessionTest):
    def setUp(self):
        super().setUp()
        self.work = self.project / "work"
        (self.work / "src").mkdir(parents=True)
        (self.work / "src/main.c").write_text("int main(void) { return 0; }\n")
        (self.work / "notes.txt").write_text("one\ntwo\n")
        (self.work / "run.sh").write_text("#!/bin/sh\n")
        (self.work / "run.sh").chmod(0o755)

    def talk(self, protocol, session, prompt, *turns, status=None):
        """One turn; what the model was sent, request by request."""
        provider = self.play(protocol, *turns)
        how = ["-r", session] if self.count(session, "run_begin") else ["--session-id", session]
        result = self.run_agent(protocol, provider, *how, prompt, cwd=self.work)
        if status is None:
            self.assert_fine(result)
        else:
            self.assert_status(result, status)
        return self.requests(protocol, provider)

    def rewind(self, session, *arguments, status=0):
        result = self.keel("session", "rewind", session, "--yes", *arguments, cwd=self.work)
        self.assert_status(result, status)
        return result


class Rewound(RewindTest):
    @for_each_protocol
    def test_files_and_conversation_are_what_they_were_before_the_turn(self, protocol):
        session, before = self.new_id(), describe(self.work)
        self.talk(protocol, session, "look", Turn("I look.", Call("Bash", command="ls")),
                  Turn("Three things."))
        [asked] = self.talk(protocol, session, "remove it", Turn("Gone soon."))
        [_, _, _] = self.talk(protocol, session, "now",
                              Turn(Call("Bash", command="rm -r src run.sh; echo x > new")),
                              Turn(Call("Write", file_path="notes.txt", content="other\n")),
                              Turn("Done."))
        self.assertNotEqual(describe(self.work), before)
        self.rewind(session, "--to", "2")
        self.assertEqual(describe(self.work), before)
        [again] = self.talk(protocol, session, "remove it", Turn("No, I keep it."))
        self.assertEqual(again, asked)

    def test_the_last_turn_is_meant_where_none_is_named(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one", Turn("One."))
        self.talk(ANTHROPIC, session, "two", Turn("Two."))
        self.rewind(session)
        [request] = self.talk(ANTHROPIC, session, "three", Turn("Three."))
        self.assertEqual(request, ["  user 'one'", "  assistant 'One.'", "  user 'three'"])

    def test_the_first_turn_leaves_an_empty_conversation(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one", Turn("One."))
        self.rewind(session)
        [request] = self.talk(ANTHROPIC, session, "anew", Turn("New."))
        self.assertEqual(request, ["  user 'anew'"])

    @for_each_protocol
    def test_a_rewind_is_taken_back(self, protocol):
        session = self.new_id()
        self.talk(protocol, session, "change", Turn(Call("Bash", command="echo 3 >> notes.txt")),
                  Turn("Changed."))
        changed = describe(self.work)
        self.rewind(session)
        self.assertNotEqual(describe(self.work), changed)
        self.rewind(session, "--to", "2")
        self.assertEqual(describe(self.work), changed)
        [request] = self.talk(protocol, session, "more", Turn("More."))
        self.assertEqual(request[0], "  user 'change'")
        self.assertEqual(request[-2:], ["  assistant 'Changed.'", "  user 'more'"])

    def test_only_files_or_only_the_conversation(self):
        session, before = self.new_id(), describe(self.work)
        self.talk(ANTHROPIC, session, "change", Turn(Call("Bash", command="rm notes.txt")),
                  Turn("Changed."))
        after = describe(self.work)
        self.rewind(session, "--files-only")
        self.assertEqual(describe(self.work), before)
        [request] = self.talk(ANTHROPIC, session, "more", Turn("More."))
        self.assertEqual(request[-2:], ["  assistant 'Changed.'", "  user 'more'"])
        self.rewind(session, "--to", "2")  # the files are again as the model left them
        self.assertEqual(describe(self.work), after)
        self.rewind(session, "--to", "1", "--conversation-only")
        self.assertEqual(describe(self.work), after)
        [request] = self.talk(ANTHROPIC, session, "anew", Turn("New."))
        self.assertEqual(request, ["  user 'anew'"])

    def test_what_somebody_else_has_changed_is_left_and_told(self):
        session, before = self.new_id(), describe(self.work)
        self.talk(ANTHROPIC, session, "change",
                  Turn(Call("Bash", command="echo 3 >> notes.txt; rm run.sh")), Turn("Changed."))
        (self.work / "notes.txt").write_text("mine\n")
        result = self.rewind(session, "--files-only", status=1)
        self.assertIn("leave    notes.txt: it has changed since", result.out)
        self.assertIn("--force", result.err)
        self.assertEqual((self.work / "notes.txt").read_text(), "mine\n")
        self.assertTrue((self.work / "run.sh").exists())
        self.rewind(session, "--force", "--to", "1")
        self.assertEqual(describe(self.work), before)

    def test_the_command_that_is_named_restores_what_was_left_and_no_more(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one",
                  Turn(Call("Write", file_path="first", content="1\n")), Turn("Written."))
        self.talk(ANTHROPIC, session, "two",
                  Turn(Call("Write", file_path="second", content="2\n")), Turn("Written."))
        (self.work / "second").write_text("mine\n")
        other = self.dir / "it's another"
        other.mkdir()
        self.assert_refused(self.rewind(session, "--add-dir", "/nowhere", status=2), 2,
                            "--add-dir /nowhere: No such file or directory")
        result = self.rewind(session, "--add-dir", str(other), status=1)
        self.assertTrue((self.work / "second").exists())
        [command] = [line for line in result.err.splitlines() if "--force" in line]
        words = shlex.split(command)
        self.assertEqual(words, ["keel", "session", "rewind", session, "--to", "2", "--force",
                                 "--add-dir", str(other)])
        self.assert_status(self.keel(*words[1:], "--yes", cwd=self.work), 0)
        self.assertFalse((self.work / "second").exists())
        self.assertTrue((self.work / "first").exists())
        [request] = self.talk(ANTHROPIC, session, "three", Turn("Three."))
        self.assertEqual([request[0], request[-1]], ["  user 'one'", "  user 'three'"])

    def test_also_where_nothing_but_that_was_left(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one",
                  Turn(Call("Write", file_path="first", content="1\n")), Turn("Written."))
        (self.work / "first").write_text("mine\n")
        result = self.rewind(session, "--files-only", status=1)
        [command] = [line for line in result.err.splitlines() if "--force" in line]
        words = shlex.split(command)
        self.assertEqual(words, ["keel", "session", "rewind", session, "--to", "1", "--force",
                                 "--files-only"])
        self.assert_status(self.keel(*words[1:], "--yes", cwd=self.work), 0)
        self.assertFalse((self.work / "first").exists())

    def sizes(self, session, store=()):
        """Messages as `show` and `list` count them."""
        [listed] = self.keel("session", "list", "--all", "--json", *store).json()
        shown = self.keel("session", "show", session, *store)
        self.assert_fine(shown)
        return listed["messages"], re.search(r"\nsize +(.*? turns?)", shown.out)[1]

    def test_an_empty_conversation_has_no_messages(self):
        for store in ("sqlite:x.db", "files:logs"):
            with self.subTest(store):
                session, store = self.new_id(), ("--store", store.replace(":", f":{self.dir}/"))
                provider = self.play(ANTHROPIC, Turn("One."), Turn("Two."))
                for how in (["--session-id", session], ["-r", session]):
                    self.assert_fine(self.run_agent(ANTHROPIC, provider, *how, *store, "hi",
                                                    cwd=self.work))
                self.assertEqual(self.sizes(session, store), (4, "4 messages, 2 turns"))
                self.rewind(session, "--to", "1", *store)
                self.assertEqual(self.sizes(session, store), (0, "0 messages, 0 turns"))
                self.assert_fine(self.keel("session", "verify", session, *store))
                self.rewind(session, "--to", "3", *store)
                self.assertEqual(self.sizes(session, store), (4, "4 messages, 2 turns"))

    def test_what_goes_with_a_rewind_that_is_undone_is_counted(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one", Turn("One."))
        self.rewind(session)
        self.talk(ANTHROPIC, session, "two", Turn("Two."))
        result = self.keel("session", "rewind", session, "--to", "2", "--dry-run", cwd=self.work)
        self.assertEqual(result.out, "back to before turn 2: (rewound to before turn 1)\n"
                                     "1 turn of the conversation\n")

    def test_a_dry_run_changes_nothing(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "change", Turn(Call("Bash", command="rm notes.txt")),
                  Turn("Changed."))
        after, n = describe(self.work), self.count(session, "history_mutation")
        result = self.keel("session", "rewind", session, "--dry-run", cwd=self.work)
        self.assert_fine(result)
        self.assertIn("restore  notes.txt", result.out)
        self.assertEqual(describe(self.work), after)
        self.assertEqual(self.count(session, "history_mutation"), n)

    def test_nobody_is_there_to_be_asked(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one", Turn("One."))
        result = self.keel("session", "rewind", session, cwd=self.work)
        self.assert_status(result, 2)
        self.assertIn("--yes", result.err)

    def test_only_where_its_files_are(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one", Turn("One."))
        result = self.keel("session", "rewind", session, "--yes", cwd=self.project)
        self.assert_refused(result, 2, str(self.work))

    def test_a_turn_that_is_not_there(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "one", Turn("One."))
        result = self.keel("session", "rewind", session, "--yes", "--to", "7", cwd=self.work)
        self.assert_refused(result, 2, "turn 7 does not exist")


class AfterAKill(RewindTest):
    def kill_in_tool(self, protocol, session):
        provider = self.play(protocol, Turn("I do.", Call("Bash", command="rm -r src; sleep 600")))
        process = self.start_agent(protocol, provider, "-r", session, "go", cwd=self.work)
        end = time.monotonic() + HANG_SECONDS
        while (self.work / "src").exists():
            self.assertLess(time.monotonic(), end, "the command never ran")
            time.sleep(0.01)
        self.kill(process)

    @for_each_protocol
    def test_what_a_killed_command_had_done_is_taken_back(self, protocol):
        session, before = self.new_id(), describe(self.work)
        self.talk(protocol, session, "one", Turn("One."))
        self.kill_in_tool(protocol, session)
        self.assertFalse((self.work / "src").exists())
        self.rewind(session)
        self.assertEqual(describe(self.work), before)
        [request] = self.talk(protocol, session, "two", Turn("Two."))
        self.assertEqual(request, ["  user 'one'", "  assistant 'One.'", "  user 'two'"])

    @for_each_protocol
    def test_also_when_the_turn_was_finished_after_it(self, protocol):
        session, before = self.new_id(), describe(self.work)
        self.talk(protocol, session, "one", Turn("One."))
        self.kill_in_tool(protocol, session)
        provider = self.play(protocol, Turn(Call("Bash", command="echo x > notes.txt")),
                             Turn("Finished."))
        self.assert_fine(self.run_agent(protocol, provider, "-r", session, cwd=self.work))
        self.rewind(session, "--to", "3")  # the run that finished it
        self.assertEqual((self.work / "notes.txt").read_text(), "one\ntwo\n")
        [request] = self.talk(protocol, session, "and?", Turn("Well."))
        self.assertEqual(request[:2], ["  user 'one'", "  assistant 'One.'"])
        self.rewind(session, "--to", "2")
        self.assertEqual(describe(self.work), before)


class Compacted(RewindTest):
    def test_turns_before_a_compaction_can_be_gone_back_to(self):
        session = self.new_id()
        long = "a long answer " * 200
        self.user_settings({"compact": {"threshold": 0.0001}})
        self.talk(ANTHROPIC, session, "one", Turn("One. " + long, usage=(5000, 900)))
        provider = self.play(ANTHROPIC, Turn("a short summary"), Turn("Two."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-r", session, "two",
                                          cwd=self.work), 0)
        self.assertIn("Context Summary", str(Reader(ANTHROPIC, provider.requests[1]).lines))
        self.user_settings({"compact": {"enabled": False}})
        self.rewind(session, "--to", "2")
        [request] = self.talk(ANTHROPIC, session, "three", Turn("Three."))
        self.assertEqual(request[0], "  user 'one'")
        self.assertIn("a long answer", request[1])
        self.assertEqual(request[2:], ["  user 'three'"])


class NotSaved(RewindTest):
    """What cannot be undone is told by the rewind, not only in the run."""

    def change(self, session):
        self.talk(ANTHROPIC, session, "change",
                  Turn(Call("Write", file_path="new.txt", content="x\n")),
                  Turn(Call("Bash", command="rm run.sh; echo x > made")), Turn("Changed."),
                  status=0)

    def test_a_command_outside_of_the_sandbox_is_no_success(self):
        session = self.new_id()
        self.user_settings({"sandbox": {"enabled": False}})
        self.change(session)
        result = self.rewind(session, status=1)
        self.assertIn("cannot   undo Bash: rm run.sh; echo x > made: not all changes were "
                      "saved (", result.out)
        self.assertIn("done, but not all is undone", result.out)
        self.assertIn("the changes of 1 call were not saved and could not be undone", result.err)
        self.assertTrue((self.work / "made").exists())
        self.assertFalse((self.work / "new.txt").exists())  # Write is saved by itself

    def test_a_dry_run_says_it_too(self):
        session = self.new_id()
        self.user_settings({"sandbox": {"enabled": False}})
        self.change(session)
        result = self.keel("session", "rewind", session, "--dry-run", cwd=self.work)
        self.assert_status(result, 1)
        self.assertIn("cannot   undo Bash", result.out)
        self.assertTrue((self.work / "new.txt").exists())

    def test_programs_read_it_as_json(self):
        session = self.new_id()
        self.user_settings({"sandbox": {"enabled": False}})
        self.change(session)
        dry = json.loads(self.keel("session", "rewind", session, "--dry-run", "--json",
                                   cwd=self.work).out)
        self.assertEqual((dry["done"], dry["complete"]), (False, False))
        done = json.loads(self.rewind(session, "--json", status=1).out)
        self.assertEqual((done["session"], done["turn"], done["rewindTurn"]), (session, 1, 2))
        self.assertEqual((done["done"], done["complete"]), (True, False))
        [call] = done["notSaved"]
        self.assertEqual((call["tool"], call["what"]), ("Bash", "rm run.sh; echo x > made"))
        self.assertEqual([(file["path"], file["outcome"]) for file in done["files"]],
                         [(str(self.work.resolve() / "new.txt"), "restored")])

    def test_a_whole_rewind_is_complete_in_json(self):
        session = self.new_id()
        self.change(session)
        done = json.loads(self.rewind(session, "--json").out)
        self.assertEqual((done["done"], done["complete"], done["notSaved"]), (True, True, []))

    def test_where_nothing_is_saved_every_change_is_listed(self):
        session = self.new_id()
        self.user_settings({"snapshot": {"enabled": False}})
        self.change(session)
        result = self.rewind(session, status=1)
        self.assertIn("cannot   undo Write: new.txt", result.out)
        self.assertIn("cannot   undo Bash", result.out)
        self.assertIn("snapshot.enabled is false", result.out)

    def test_a_file_over_the_limit_is_listed(self):
        session = self.new_id()
        self.user_settings({"snapshot": {"maxFileBytes": 1000}})
        (self.work / "large").write_bytes(b"x" * 2000)
        self.talk(ANTHROPIC, session, "change",
                  Turn(Call("Bash", command="echo y >> large; echo y >> notes.txt")),
                  Turn("Changed."), status=0)
        result = self.rewind(session, status=1)
        self.assertIn("cannot   large: it is larger than snapshot.maxFileBytes allows", result.out)
        self.assertEqual((self.work / "notes.txt").read_text(), "one\ntwo\n")

    def test_a_repository_that_is_gone_is_listed(self):
        session = self.new_id()
        (self.work / ".git").mkdir()
        self.user_settings({"sandbox": {"enabled": False}})
        self.talk(ANTHROPIC, session, "change", Turn(Call("Bash", command="rm -rf .git")),
                  Turn("Gone."), status=0)
        result = self.rewind(session, status=1)
        self.assertIn(".git was removed, and keel does not save .git", result.out)

    def test_names_with_newlines_stay_one_line(self):
        session = self.new_id()
        self.talk(ANTHROPIC, session, "change", Turn(Call("Bash", command="touch $'a\\nb'")),
                  Turn("Made."))
        result = self.rewind(session)
        self.assertIn('  remove   "a\\nb"\n', result.out)


class StoreInTheWorkspace(RewindTest):
    """keel's own files there are no part of what tools change."""

    def talk_there(self, store, *turns, env=None):
        provider = self.provider(*[turn if isinstance(turn, scripted.Answer) else
                                   self.encode(ANTHROPIC, turn) for turn in turns])
        self.process = self.start_agent(
            ANTHROPIC, provider, "--session-id", self.new_id(), "go", cwd=self.work,
            env={"KEEL_STORE": store, **(env or {})})
        out, err = self.process.communicate(timeout=HANG_SECONDS)
        self.assert_fine(scripted.keel_test.Result(["-p"], self.process.returncode, out, err))
        self.assert_taken(ANTHROPIC, provider)
        return provider

    def rewind_there(self, store, env=None):
        env = {"KEEL_STORE": store, **(env or {})}
        result = self.keel("session", "rewind", "--yes", cwd=self.work, env=env)
        self.assert_status(result, 0)
        verified = self.keel("session", "verify", "--all", cwd=self.work, env=env)
        self.assert_fine(verified)
        return result

    def looking(self, turn, look):
        """The turn's answer; look() is called while keel waits for it."""
        answer = self.encode(ANTHROPIC, turn)
        pieces = list(answer.pieces)

        def watched():
            look()
            yield from pieces
        answer.pieces = watched()
        return answer

    def holds_lock(self, path):
        inode = f":{os.stat(path).st_ino}"
        with open("/proc/locks", encoding="ascii") as locks:
            return any(line.split()[1] == "POSIX" and line.split()[4] == str(self.process.pid)
                       and line.split()[5].endswith(inode) for line in locks)

    def test_a_database_there_stays_locked_and_is_not_restored(self):
        before, held = describe(self.work), []

        def look():
            held.append(self.holds_lock(self.work / "k.db"))
        self.ids = iter(range(1, 100))
        provider = self.talk_there(
            "sqlite:./k.db",
            self.looking(Turn(Call("Grep", pattern="SQLite", hidden=True)), look),
            self.looking(Turn(Call("Bash", command="rm -r src; cat k.db > /dev/null")), look),
            self.looking(Turn(Call("Glob", pattern="**/*", hidden=True)), look),
            self.looking(Turn(Call("Read", file_path="k.db")), look),
            self.looking(Turn("Done."), look))
        self.assertEqual(held, [True] * 5)
        self.assertIn("keel's own store is using it", str(provider.requests[-1].json))
        result = self.rewind_there("sqlite:./k.db")
        for name in ("k.db", "blobs"):
            self.assertNotIn(name, result.out)
        after = {path: what for path, what in describe(self.work).items()
                 if not str(path).startswith(("k.db", "blobs"))}
        self.assertEqual(after, before)

    def test_sessions_in_files_there_are_not_restored(self):
        for store in ("files:./kept", "files:."):
            with self.subTest(store):
                before = describe(self.work)
                self.ids = iter(range(1, 100))
                self.talk_there(store, Turn(Call("Bash", command="rm -r src; echo x > made")),
                                Turn(Call("Bash", command="echo y >> made")), Turn("Done."))
                result = self.rewind_there(store)
                self.assertNotIn("jsonl", result.out)
                self.assertNotIn("kept", result.out)
                now = describe(self.work)
                self.assertEqual({path: now.get(path) for path in before}, before)
                self.assertFalse((self.work / "made").exists())

    def test_keels_home_there_is_not_restored(self):
        home = self.work / "home"
        home.mkdir()
        env = {"KEEL_HOME": str(home)}
        before = describe(self.work)
        self.ids = iter(range(1, 100))
        self.talk_there("", Turn(Call("Bash", command="rm -r src")), Turn("Done."), env=env)
        result = self.rewind_there("", env=env)
        self.assertNotIn("home", result.out)
        now = describe(self.work)
        self.assertEqual({path: now.get(path) for path in before}, before)


if __name__ == "__main__":
    scripted.main()
