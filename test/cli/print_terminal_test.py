"""print_terminal_test.py - keel -p on a terminal: text as it comes, one line for each call."""
import fcntl
import os
import pathlib
import signal
import struct
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import agent  # noqa: E402
import scripted  # noqa: E402
from scripted import ANTHROPIC, HANG_SECONDS, Answer, Call, FlowTest  # noqa: E402

FAINT, RED, END = "\x1b[2m", "\x1b[31m", "\x1b[0m"
LOOK = Call("Glob", pattern="*.c")


class OnTerminal(FlowTest):
    def seen(self, *arguments, answers=None, env=None):
        """Everything that appears on a terminal, with plain line ends."""
        provider = self.provider(*(answers or [ANTHROPIC.answer()]))
        result = self.on_terminal("-p", "--model", "anthropic/m", *arguments, "hi",
                                  env={**ANTHROPIC.environment(provider), **(env or {})})
        return result.status, result.out.replace("\r\n", "\n")

    def rounds(self, *arguments, **run):
        return self.seen(*arguments, answers=[ANTHROPIC.answer(["Let me look."], calls=[LOOK]),
                                              ANTHROPIC.answer(["Nothing ", "there."])], **run)

    def test_rounds_are_apart_and_calls_are_faint_lines(self):
        self.assertEqual(self.rounds(), (0, f"Let me look.\n{FAINT}> Glob  *.c{END}\n\n"
                                            "Nothing there.\n"))

    def test_whoever_wants_no_colours_gets_none(self):
        plain = "Let me look.\n> Glob  *.c\n\nNothing there.\n"
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertEqual(self.rounds(env=env), (0, plain))

    def test_text_that_ends_its_line_is_followed_by_one_blank_line(self):
        seen = self.seen(answers=[ANTHROPIC.answer(["Look:\n"], calls=[LOOK]), ANTHROPIC.answer()],
                         env={"NO_COLOR": "1"})
        self.assertEqual(seen, (0, f"Look:\n> Glob  *.c\n\n{scripted.TEXT}\n"))

    def test_calls_without_text_stand_alone(self):
        seen = self.seen(answers=[ANTHROPIC.answer([""], calls=[LOOK]), ANTHROPIC.answer()],
                         env={"NO_COLOR": "1"})
        self.assertEqual(seen, (0, f"> Glob  *.c\n{scripted.TEXT}\n"))

    def test_what_the_model_thinks_is_faint(self):
        thinking = agent.play(ANTHROPIC, agent.Turn(agent.Thought("It may be\nempty."), "Empty."))
        status, out = self.seen(answers=[thinking])
        self.assertEqual((status, out.replace(FAINT, "").replace(END, "")),
                         (0, "(thinks) It may be\nempty.\nEmpty.\n"))
        self.assertIn(FAINT + "It may be", out)

    def test_a_call_that_is_not_allowed_is_seen(self):
        status, out = self.seen(answers=[
            ANTHROPIC.answer(["Now."], calls=[Call("Bash", command="rm -rf x\nls")]),
            ANTHROPIC.answer(["No."])])
        self.assertEqual(status, 0)
        self.assertIn(f"Now.\n{RED}> Bash  rm -rf x ...: not allowed{END}\n\nNo.\n", out)
        self.assertIn("1 call was not allowed\n", out)

    def failed(self, *calls):
        """What is seen of calls, all of which may run."""
        status, out = self.seen("--dangerously-skip-permissions", answers=[
            ANTHROPIC.answer(["Now."], calls=list(calls)), ANTHROPIC.answer(["Well."])])
        self.assertEqual(status, 0)
        return out

    def test_a_command_that_fails_is_seen_as_failed(self):
        self.assertEqual(self.failed(Call("Bash", command="false")),
                         f"Now.\n{FAINT}> Bash  false{END}\n{RED}  Exit code 1{END}\n\nWell.\n")

    def test_a_file_that_is_not_there_is_seen_as_missing(self):
        self.assertRegex(self.failed(Call("Read", file_path="missing.txt")).replace(FAINT, ""),
                         r"> Read  missing.txt\x1b\[0m\n\x1b\[31m  .*missing.txt.*\n")

    def test_of_several_calls_the_one_that_failed_is_named(self):
        out = self.failed(Call("Read", file_path="gone"), Call("Glob", pattern="*.c"))
        self.assertRegex(out, r"(?s)> Read  gone.*> Glob  \*\.c.*\x1b\[31m  Read  gone: .*gone")

    def test_calls_that_cannot_begin_are_seen(self):
        out = self.failed(Call("Nope", what=1))
        self.assertRegex(out, r"> Nope\x1b\[0m\n\x1b\[31m  .*Nope")
        out = self.failed(Call("Bash", nonsense={"a": 1}))
        self.assertRegex(out, r"> Bash\x1b\[0m\n\x1b\[31m  .*arguments of Bash are wrong")

    def test_a_call_cannot_steer_the_terminal(self):
        call = Call("Bash", command="echo \x1b]0;title\x07")
        _, out = self.seen(answers=[ANTHROPIC.answer(["x"], calls=[call]), ANTHROPIC.answer()],
                           env={"NO_COLOR": "1"})
        self.assertNotIn("\x1b", out)

    def test_a_retry_is_explained(self):
        self.user_settings({"maxAttempts": 2})
        error = scripted.json_answer({"type": "error", "error": {
            "type": "overloaded_error", "message": "Overloaded"}}, 529, Retry_After="0")
        _, out = self.seen(answers=[error, ANTHROPIC.answer()], env={"NO_COLOR": "1"})
        self.assertRegex(out, r"\A.*Overloaded.*; trying again in 0 s \(attempt 2 of 2\)\n" +
                         scripted.TEXT)

    def test_an_answer_that_was_seen_is_not_taken_back(self):
        self.user_settings({"maxAttempts": 3})
        broken = Answer(ANTHROPIC.answer().pieces[:3] + [scripted.HANG_UP])
        status, out = self.seen(answers=[broken, ANTHROPIC.answer(["Second"])])
        self.assertEqual(status, 1)
        self.assertTrue(out.startswith("Hello\nkeel: anthropic: "), out)
        self.assertNotIn("Second", out)

    def test_json_that_must_fit_is_printed_when_it_does(self):
        schema = '{"type": "object"}'
        self.assertEqual(self.seen("--json-schema", schema, answers=[ANTHROPIC.answer(["{}"])]),
                         (0, "{}\n"))
        status, out = self.seen("--json-schema", schema, answers=[ANTHROPIC.answer(["[]"])])
        self.assertEqual(status, 2)
        self.assertTrue(out.startswith("keel: "), out)


class Streaming(FlowTest):
    def start_on_terminal(self, *arguments, env, columns=80):
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start(*arguments, env={"TERM": "xterm", **env}, stdin=slave, stdout=slave,
                             stderr=slave)
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(process.kill)
        return process, master

    def read_until(self, master, text):
        seen = b""
        while text not in seen:
            seen += os.read(master, 65536)
        return seen

    def test_text_appears_while_the_model_still_speaks(self):
        event, pieces = self.hold(), ANTHROPIC.answer().pieces
        provider = self.provider(Answer(pieces[:3] + [event] + pieces[3:]))
        process, master = self.start_on_terminal("-p", "--model", "anthropic/m", "hi",
                                                 env=ANTHROPIC.environment(provider))
        self.read_until(master, b"Hello")
        event.set()
        self.read_until(master, b"done.")
        self.assertEqual(process.wait(HANG_SECONDS), 0)

    def test_a_slow_model_is_waited_for_in_a_line_that_is_wiped(self):
        event = self.hold()
        provider = self.provider(Answer([event] + ANTHROPIC.answer().pieces))
        process, master = self.start_on_terminal("--model", "anthropic/m", "hi there",
                                                 env=ANTHROPIC.environment(provider))
        self.read_until(master, b"\r\x1b[Kwaiting for m: 2 s")
        event.set()
        seen = self.read_until(master, b"done.")
        self.assertRegex(seen, rb"\A(\r\x1b\[Kwaiting for m: \d+ s)*\r\x1b\[KHello, ")
        self.assertEqual(process.wait(HANG_SECONDS), 0)

    def see_long_command(self, line, columns):
        (self.project / "go").touch()
        provider = self.provider(ANTHROPIC.answer([""], calls=[
            Call("Bash", command="while [ -e go ]; do sleep 0.1; done")]), ANTHROPIC.answer())
        process, master = self.start_on_terminal(
            "--model", "anthropic/m", "--dangerously-skip-permissions", "wait for it",
            env=ANTHROPIC.environment(provider), columns=columns)
        self.read_until(master, b"\r\x1b[K" + line)
        (self.project / "go").unlink()
        self.read_until(master, b"done.")
        self.assertEqual(process.wait(HANG_SECONDS), 0)

    def test_a_long_command_is_named_while_it_runs(self):
        self.see_long_command(b"running Bash  while [ -e go ]; do sleep 0.1; done: 1 s", 80)

    def test_the_line_about_it_fits_a_narrow_terminal(self):
        line = b"running Bash  while [ -e go...: 1 s"
        self.see_long_command(line, len(line) + 1)

    def test_a_pipe_gets_no_line_about_waiting(self):
        provider = self.provider(ANTHROPIC.answer([""], calls=[Call("Bash", command="sleep 1.5")]),
                                 ANTHROPIC.answer())
        result = self.keel("--model", "anthropic/m", "--dangerously-skip-permissions", "wait for it",
                           env={**ANTHROPIC.environment(provider), "TERM": "xterm"})
        self.assert_answer(result)

    def test_an_interrupt_leaves_what_was_seen_and_ends_the_line(self):
        provider = self.provider(Answer(ANTHROPIC.answer().pieces[:3] + [self.hold()]))
        session = "00000001-0000-7000-8000-000000000000"
        process, master = self.start_on_terminal("-p", "--model", "anthropic/m", "--session-id",
                                                 session, "hi", env=ANTHROPIC.environment(provider))
        self.read_until(master, b"Hello")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.read_until(master, b"continues it\r\n").decode(),
                         f"\r\nkeel: interrupted\r\n      keel -r {session} continues it\r\n")
        self.assertEqual(process.wait(HANG_SECONDS), 130)


if __name__ == "__main__":
    scripted.main()
