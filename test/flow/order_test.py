"""order_test.py - the calls of one answer: what changes something keeps its place.

Nothing here depends on time. That commands run at the same time is seen through named pipes: each
of them waits for the test, which writes to none before all have been opened.
"""
import os
import signal
import threading

import scripted
from agent import Call, Reader, Turn
from resume_test import NOT_RUN, UNKNOWN, SessionTest
from scripted import ANTHROPIC, for_each_protocol


def bash(command, **more):
    return Call("Bash", command=command, **more)


class OrderTest(SessionTest):
    def run_calls(self, *calls, protocol=ANTHROPIC, mode="bypassPermissions", status=0, **run):
        """What the model gets for these calls of one answer."""
        turn = Turn(*calls)
        provider = self.play(protocol, turn, Turn("Done."))
        result = self.run_agent(protocol, provider, "go", mode=mode, **run)
        self.assert_status(result, status)
        self.assert_taken(protocol, provider)
        return [line.split(" ", 4)[-1] for line in
                self.requests(protocol, provider)[-1] if line.startswith("  result")]

    def requests(self, protocol, provider):
        return [Reader(protocol, request).lines for request in provider.requests]

    def make_fifos(self, n):
        paths = [self.project / f"fifo{i}" for i in range(n)]
        for path in paths:
            os.mkfifo(path)
        return paths

    def feed(self, paths):
        """Opens all of them, which waits for their readers, and only then writes, the last first."""
        def write():
            files = [open(path, "w") for path in paths]
            for file, path in reversed(list(zip(files, paths))):
                file.write(path.name + "\n")
                file.close()
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        self.addCleanup(thread.join, scripted.HANG_SECONDS)


class Changes(OrderTest):
    @for_each_protocol
    def test_a_command_sees_what_the_one_before_it_has_written(self, protocol):
        (self.project / "s.txt").unlink(missing_ok=True)
        results = self.run_calls(bash("sleep 0.5; echo 1 > s.txt"), bash("cat s.txt"),
                                 protocol=protocol)
        self.assertIn("1\\n", results[1])

    def test_a_commit_comes_after_what_is_added(self):
        results = self.run_calls(
            bash("git init -q . && echo x > f"), bash("sleep 0.5; git add -A"),
            bash("git -c user.name=n -c user.email=e commit -qm told"), bash("git log --format=%s"))
        self.assertIn("told\\n", results[3])

    def test_a_file_is_made_where_the_command_before_has_gone(self):
        self.run_calls(bash("mkdir -p dd && cd dd"), bash("touch here"))
        self.assertTrue((self.project / "dd/here").exists())
        self.assertFalse((self.project / "here").exists())

    def test_a_command_that_only_moves_keeps_its_place_too(self):
        (self.project / "one/two").mkdir(parents=True)
        results = self.run_calls(bash("cd one"), bash("cd two"), bash("pwd"))
        self.assertIn("/one/two\\n", results[2])

    def test_read_sees_what_a_command_before_it_has_written(self):
        (self.project / "f").write_text("old\n")
        results = self.run_calls(bash("sleep 0.3; echo new > f"), Call("Read", file_path="f"))
        self.assertIn("new", results[1])
        self.assertNotIn("old", results[1])

    def test_a_command_waits_for_what_looks_before_it(self):
        (self.project / "f").write_text("old\n")
        [one] = self.make_fifos(1)
        self.feed([one])
        results = self.run_calls(bash(f"cat {one.name} f"), bash("echo new > f"))
        self.assertIn("old", results[0])

    def test_a_path_is_judged_where_the_command_before_has_led_it(self):
        """A link that a call of the same answer makes is seen when the next one is judged."""
        (self.project / ".git").mkdir()
        results = self.run_calls(bash("ln -s .git/hooks link; mkdir .git/hooks; true"),
                                 Call("Write", file_path="link/pre-commit", content="x"))
        self.assertIn("protected", results[1])
        self.assertFalse((self.project / ".git/hooks/pre-commit").exists())


class SideBySide(OrderTest):
    @for_each_protocol
    def test_commands_that_only_look_run_at_the_same_time(self, protocol):
        for path in self.project.glob("fifo*"):
            path.unlink()
        fifos = self.make_fifos(6)
        self.feed(fifos)
        results = self.run_calls(*[bash(f"cat {path.name}") for path in fifos], protocol=protocol,
                                 mode="default")
        for path, result in zip(fifos, results):
            self.assertIn(path.name, result)


class Ends(OrderTest):
    def test_an_interrupt_leaves_what_comes_after_undone(self):
        session = self.new_id()
        path, fd = self.make_pipe()
        provider = self.play(ANTHROPIC, Turn(
            bash("touch before"), bash(f"echo ready > {path.name}; exec sleep 1000"),
            bash("touch after"), Call("Read", file_path="before")))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.wait_pipe(fd)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        self.assertTrue((self.project / "before").exists())
        self.assertFalse((self.project / "after").exists())
        self.assertEqual(self.count(session, "tool_execution_result"), 4)
        self.assert_whole(session)

    def test_a_hook_that_stops_the_run_lets_nothing_after_it_begin(self):
        script = self.write("hook.sh", "grep -q second && echo '{\"continue\": false}'; exit 0\n")
        self.user_settings({"hooks": {"PreToolUse": [{"matcher": "", "hooks": [
            {"type": "command", "command": f"sh {script}"}]}]}})
        session = self.new_id()
        provider = self.play(ANTHROPIC, Turn(bash("touch first"), bash("touch second"),
                                             bash("touch third")))
        result = self.run_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.assert_status(result, 1)
        self.assertEqual([name for name in ("first", "second", "third")
                          if (self.project / name).exists()], ["first"])
        self.assert_whole(session)

    def test_a_kill_leaves_one_call_unknown_and_the_next_to_be_run(self):
        session = self.new_id()
        path, fd = self.make_pipe()
        turn = Turn(bash("echo one >> log"),
                    bash(f"echo two >> log; echo ready > {path.name}; exec sleep 1000"),
                    bash("echo three >> log"))
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, turn), "--session-id", session,
                                   "go")
        self.wait_pipe(fd)
        process.kill()
        process.wait()
        self.assertEqual((self.project / "log").read_text(), "one\ntwo\n")
        provider = self.play(ANTHROPIC, Turn("Done."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-r", session), 0)
        self.assertEqual((self.project / "log").read_text(), "one\ntwo\nthree\n")
        self.assertIn(UNKNOWN, provider.requests[0].body.decode())
        self.assert_taken(ANTHROPIC, provider)
        self.assert_whole(session)

    def assert_whole(self, session):
        for command in ("verify", "replay"):
            self.assert_status(self.keel("session", command, session), 0)


class Waits(OrderTest):
    def suspend(self, session, *calls):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        provider = self.play(ANTHROPIC, Turn(*calls))
        result = self.run_agent(ANTHROPIC, provider, "--session-id", session, "go", mode="default")
        self.assert_status(result, 3)
        return result

    def answer(self, session, *answers, status=0):
        provider = self.play(ANTHROPIC, Turn("Done."))
        words = [word for answer in answers for word in ("--answer", answer)]
        result = self.run_agent(ANTHROPIC, provider, "-r", session, *words, mode="default")
        self.assert_status(result, status)
        return provider

    def test_what_comes_after_a_call_that_waits_does_not_run_before_it(self):
        session = self.new_id()
        (self.project / "f").write_text("old\n")
        self.suspend(session, Call("Read", file_path="f"), bash("echo new > f"),
                     Call("Read", file_path="f"))
        self.assertEqual(self.count(session, "tool_begin"), 1)
        provider = self.answer(session, "yes")
        results = [line for line in self.requests(ANTHROPIC, provider)[0] if "result" in line]
        self.assertIn("old", results[0])
        self.assertIn("new", results[2])
        self.assert_taken(ANTHROPIC, provider)
        self.assert_status(self.keel("session", "verify", session), 0)
        self.assert_status(self.keel("session", "replay", session), 0)

    def test_all_questions_of_an_answer_are_asked_at_once(self):
        session = self.new_id()
        self.suspend(session, bash("touch a", id="toolu_a"), bash("touch b", id="toolu_b"))
        self.answer(session, "toolu_a=yes", "toolu_b=yes")
        self.assertTrue((self.project / "a").exists() and (self.project / "b").exists())

    def test_a_new_prompt_closes_what_waits_and_what_it_held(self):
        session = self.new_id()
        self.suspend(session, bash("touch a"), bash("ls"))
        provider = self.play(ANTHROPIC, Turn("Fine."))
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "never mind", mode="default")
        self.assert_status(result, 0)
        self.assertEqual(provider.requests[0].body.decode().count(NOT_RUN), 2)
        self.assert_taken(ANTHROPIC, provider)


if __name__ == "__main__":
    scripted.main()
