"""rewind_test.py - sessions that are taken back: files and conversation, and on from there."""
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

    def talk(self, protocol, session, prompt, *turns):
        """One turn; what the model was sent, request by request."""
        provider = self.play(protocol, *turns)
        how = ["-r", session] if self.count(session, "run_begin") else ["--session-id", session]
        result = self.run_agent(protocol, provider, *how, prompt, cwd=self.work)
        self.assert_fine(result)
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
        self.assertIn("leave    notes.txt: it was changed since", result.out)
        self.assertIn("--force", result.err)
        self.assertEqual((self.work / "notes.txt").read_text(), "mine\n")
        self.assertTrue((self.work / "run.sh").exists())
        self.rewind(session, "--force", "--to", "1")
        self.assertEqual(describe(self.work), before)

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
        self.assert_refused(result, 2, "no turn 7")


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


if __name__ == "__main__":
    scripted.main()
