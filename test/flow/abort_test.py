"""abort_test.py - an interrupt at every point of a run: what is kept, told, and left running.

Where the other side must have come so far, it says so: the provider is asked, a line is printed, or
a command writes into a pipe. The same pipe tells when the last process that has it open is gone.
"""
import contextlib
import ctypes
import errno
import fcntl
import itertools
import json
import os
import select
import signal
import sqlite3
import subprocess
import termios
import threading
import time

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, BY_NAME, HANG_SECONDS, for_each_protocol, json_answer

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST_END = 15  # seconds to end where a lock is not free; waiting for it takes longer
STREAM_JSON = ("--output-format", "stream-json", "--include-partial-messages")


def read_until(stream, text):
    """What comes up to this text, from an unbuffered view of a pipe."""
    seen = b""
    while text not in seen:
        piece = os.read(stream.fileno(), 65536)
        if not piece:
            raise AssertionError(f"{text!r} never came:\n{seen.decode()}")
        seen += piece
    return seen


@contextlib.contextmanager
def opened(path):
    """What starts in here opens the file. (Who else's open files those are only root can see.)"""
    libc, in_open = ctypes.CDLL(None, use_errno=True), 0x20
    end = time.monotonic() + HANG_SECONDS
    while (fd := libc.inotify_init1(os.O_CLOEXEC)) < 0:  # tests beside this one may have them all
        assert ctypes.get_errno() == errno.EMFILE, os.strerror(ctypes.get_errno())
        assert time.monotonic() < end, "the user has no instance of inotify left"
        time.sleep(0.02)
    try:
        assert libc.inotify_add_watch(fd, os.fsencode(path), in_open) >= 0, os.strerror(
            ctypes.get_errno())
        yield
        assert select.select([fd], [], [], HANG_SECONDS)[0], f"{path} was never opened"
    finally:
        os.close(fd)


class Pipe:
    """A named pipe that commands write to. It has an end when nobody has it open any more."""

    def __init__(self, path):
        self.name = path.name
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.poll = select.poll()
        self.poll.register(self.fd, select.POLLIN)

    def wait(self, n_ready=1):
        """Until so many lines have been written."""
        seen = b""
        while seen.count(b"\n") < n_ready:
            assert self.poll.poll(HANG_SECONDS * 1000), "the command never got there"
            seen += os.read(self.fd, 4096)

    def is_closed(self, timeout_ms=0):
        """Nobody has it open: at once, or at least before the test would hang."""
        while events := self.poll.poll(timeout_ms):
            if not events[0][1] & select.POLLIN:
                return True
            os.read(self.fd, 4096)
        return False


class Told(threading.Event):
    """The last piece of an answer: says that those before it are sent."""

    def __init__(self, sent):
        super().__init__()
        self.sent = sent

    def wait(self, timeout=None):
        self.sent.set()
        return True


def family(pipe):
    """A command with children of children, in a session of their own, deaf to TERM."""
    return (f"exec 9>{pipe.name}; (setsid sh -c 'trap \"\" TERM HUP; echo >&9; sleep 600' &); "
            "(sleep 600 &); echo >&9; sleep 600")


class AbortTest(AgentTest):
    def setUp(self):
        super().setUp()
        self.pipe_numbers = itertools.count(1)

    def make_pipe(self):
        pipe = Pipe(self.project / f"pipe{next(self.pipe_numbers)}")
        self.addCleanup(os.close, pipe.fd)
        return pipe

    def asked(self, turn, protocol=ANTHROPIC):
        """The turn's answer, and an event that tells when keel has asked for it."""
        event, answer = threading.Event(), self.encode(protocol, turn)

        def give(_request):
            event.set()
            return answer
        return give, event

    def interrupt(self, process, number=signal.SIGINT):
        process.send_signal(number)
        result = self.finish(process)
        self.assert_status(result, 128 + number)
        return result

    def assert_interrupted(self, result, out=""):
        self.assertEqual(result.out, out)
        self.assertEqual(result.err.splitlines()[-1], "keel: interrupted")

    def result_line(self, result):
        """The last line, which is the only one of its kind."""
        lines = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual([line["type"] for line in lines].count("result"), 1, result)
        last = lines[-1]
        self.assertEqual((last["type"], last["subtype"], last["is_error"], last["error_code"]),
                         ("result", "error_during_execution", True, "cancelled"))
        return last


class WhileTheModelAnswers(AbortTest):
    @for_each_protocol
    def test_before_it_begins(self, protocol):
        answer, asked = self.asked(Turn([self.hold()]), protocol)
        process = self.start_agent(protocol, self.play(protocol, answer), "hi")
        self.assertTrue(asked.wait(HANG_SECONDS))
        result = self.interrupt(process)
        self.assert_interrupted(result)
        self.assertEqual(result.err, "keel: interrupted\n")

    @for_each_protocol
    def test_in_the_middle_of_its_text(self, protocol):
        for number in SIGNALS:
            provider = self.play(protocol, Turn(["Once", " upon", self.hold(), " a time"]))
            process = self.start_agent(protocol, provider, "--trace-llm", "hi")
            read_until(process.stderr, b" upon")
            self.assert_interrupted(self.interrupt(process, number), "Once upon\n")

    def test_in_the_middle_of_its_text_for_a_program(self):
        protocol = BY_NAME["openai-chat"]
        provider = self.play(protocol, Turn(["Once", " upon", self.hold(), " a time"]))
        process = self.start_agent(protocol, provider, "--trace-llm", "--output-format", "json",
                                   "hi")
        read_until(process.stderr, b" upon")
        line = self.result_line(self.interrupt(process))
        self.assertEqual(line["result"], "Once upon")
        self.assertEqual(line["terminal_reason"], "aborted_streaming")

    @for_each_protocol
    def test_in_the_middle_of_its_text_as_it_is_printed(self, protocol):
        provider = self.play(protocol, Turn(["Once", " upon", self.hold(), " a time"]))
        process = self.start_agent(protocol, provider, *STREAM_JSON, "hi")
        seen = read_until(process.stdout, b" upon")
        result = self.interrupt(process)
        result.out = seen.decode() + result.out
        line = self.result_line(result)
        self.assertEqual(line["result"], "Once upon")
        kept = [json.loads(text) for text in result.out.splitlines() if '"assistant"' in text]
        self.assertIn("Once upon", [block.get("text") for event in kept
                                    for block in event.get("message", {}).get("content", [])])

    def test_while_it_writes_the_arguments_of_a_call(self):
        """The call that was complete is not run either: nobody waits for what it does."""
        for name in ("anthropic-messages", "openai-chat", "openai-responses"):
            with self.subTest(name):
                protocol = BY_NAME[name]
                provider = self.play(protocol, Turn(
                    "I touch.", Call("Bash", command="touch made"),
                    Call("Bash", raw=['{"command": "touch', self.hold(), ' made"}'])))
                process = self.start_agent(protocol, provider, *STREAM_JSON, "hi")
                seen = read_until(process.stdout, b'{\\"command\\": \\"touch"')
                result = self.interrupt(process)
                result.out = seen.decode() + result.out
                self.assertEqual(self.result_line(result)["result"], "I touch.")
                self.assertFalse((self.project / "made").exists())
                self.assertEqual(len(provider.requests), 1)

    def test_in_the_forced_last_turn(self):
        answer, asked = self.asked(Turn(["As far", self.hold()]))
        provider = self.play(ANTHROPIC, Turn("I look.", Call("Bash", command="true")), answer)
        process = self.start_agent(ANTHROPIC, provider, "--max-turns", "1", "--trace-llm",
                                   "--output-format", "json", "go")
        read_until(process.stderr, b"As far")
        line = self.result_line(self.interrupt(process))
        self.assertEqual(line["result"], "As far")
        self.assertTrue(asked.is_set())

    def test_while_it_waits_to_ask_again(self):
        limited = json_answer({"error": {"message": "slow down"}}, 429, retry_after="500")
        provider = self.play(ANTHROPIC, limited)
        process = self.start_agent(ANTHROPIC, provider, "--verbose", "hi")
        read_until(process.stderr, b"trying again in")
        self.assert_interrupted(self.interrupt(process))
        self.assertEqual(len(provider.requests), 1)

    def test_while_it_waits_to_ask_again_for_a_program(self):
        limited = json_answer({"error": {"message": "slow down"}}, 429, retry_after="500")
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, limited),
                                   "--output-format", "stream-json", "hi")
        seen = read_until(process.stdout, b'"api_retry"')
        result = self.interrupt(process)
        result.out = seen.decode() + result.out
        self.result_line(result)


class WhileAToolRuns(AbortTest):
    def start_family(self, *arguments, **call):
        """keel with a command that has children everywhere, all of them in the pipe."""
        pipe = self.make_pipe()
        provider = self.play(ANTHROPIC, Turn("I wait.", Call("Bash", command=family(pipe), **call)),
                             Turn([self.hold()]))
        process = self.start_agent(ANTHROPIC, provider, *arguments, "wait")
        pipe.wait(2)
        self.assertFalse(pipe.is_closed())
        return process, pipe, provider

    def test_its_whole_tree_is_gone_when_keel_is(self):
        for number in SIGNALS:
            with self.subTest(number):
                process, pipe, provider = self.start_family()
                result = self.interrupt(process, number)
                self.assertTrue(pipe.is_closed())
                self.assert_interrupted(result, "I wait.\n")
                self.assertEqual(len(provider.requests), 1)

    def test_the_result_is_still_told_to_a_program(self):
        process, pipe, _ = self.start_family("--output-format", "stream-json")
        result = self.interrupt(process)
        self.assertTrue(pipe.is_closed())
        line = self.result_line(result)
        self.assertEqual((line["result"], line["terminal_reason"]), ("I wait.", "aborted_tools"))
        results = [json.loads(text)["message"]["content"] for text in result.out.splitlines()
                   if '"tool_result"' in text]
        self.assertEqual(len(results), 1)
        self.assertTrue(results[0][0]["is_error"])
        self.assertIn("interrupted", json.dumps(results[0]))

    def test_in_the_background_it_is_gone_too(self):
        process, pipe, _ = self.start_family("--output-format", "json", run_in_background=True)
        self.result_line(self.interrupt(process))
        self.assertTrue(pipe.is_closed())

    def test_in_the_background_it_ends_with_a_run_that_has_answered(self):
        pipe = self.make_pipe()
        held = self.hold()
        provider = self.play(
            ANTHROPIC, Turn(Call("Bash", command=family(pipe), run_in_background=True)),
            Turn([held, "Done."]))
        process = self.start_agent(ANTHROPIC, provider, "--wait-background", "0", "go")
        pipe.wait(2)
        held.set()
        result = self.finish(process)
        self.assertEqual((result.status, result.out), (0, "Done.\n"))
        self.assertTrue(pipe.is_closed())

    def test_several_at_once_are_all_gone(self):
        paths = [self.project / f"read{number}" for number in range(8)]
        for path in paths:
            os.mkfifo(path)
        provider = self.play(ANTHROPIC, Turn(*[Call("Bash", command=f"cat {path.name}")
                                               for path in paths]))
        process = self.start_agent(ANTHROPIC, provider, "--output-format", "stream-json", "go")
        pipes = [open(path, "wb", buffering=0) for path in paths]  # waits until each is read
        result = self.interrupt(process)
        for pipe in pipes:
            with pipe, self.assertRaises(BrokenPipeError):
                pipe.write(b"x")
        self.assertEqual(result.out.count('"tool_result"'), 8)
        self.result_line(result)

    def test_a_second_interrupt_ends_keel_at_once_and_the_tree_follows(self):
        process, pipe, _ = self.start_family()
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.05)
            except scripted.keel_test.subprocess.TimeoutExpired:
                pass
        self.assertIn(process.returncode, (-signal.SIGINT, 130))
        self.assertTrue(pipe.is_closed(HANG_SECONDS * 1000))

    def test_a_keel_that_is_killed_leaves_nobody_behind(self):
        for arguments in ({}, {"run_in_background": True}):
            with self.subTest(arguments):
                process, pipe, _ = self.start_family(**arguments)
                process.kill()
                process.wait()
                self.assertTrue(pipe.is_closed(HANG_SECONDS * 1000))

    def test_a_reader_that_leaves_ends_it(self):
        process, pipe, _ = self.start_family()
        process.stdout.close()
        process.wait()
        self.assertEqual(process.returncode, -signal.SIGPIPE)
        self.assertTrue(pipe.is_closed())

    def test_a_command_that_is_stopped_ends_too(self):
        pipe = self.make_pipe()
        command = f"exec 9>{pipe.name}; echo >&9; kill -STOP $$"
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(Call("Bash",
                                                                             command=command))),
                                   "go")
        pipe.wait()
        self.interrupt(process)
        self.assertTrue(pipe.is_closed())

    def test_between_the_rounds(self):
        """The command has just ended: the interrupt meets its result, or the next request."""
        for _ in range(3):
            pipe = self.make_pipe()
            command = f"echo >{pipe.name}"
            provider = self.play(ANTHROPIC, Turn("I look.", Call("Bash", command=command)),
                                 Turn([self.hold()]))
            process = self.start_agent(ANTHROPIC, provider, "--output-format", "stream-json", "go")
            pipe.wait()
            result = self.interrupt(process)
            self.result_line(result)
            self.assertEqual(result.out.count('"tool_result"'), 1, result)


class WhileAHookRuns(AbortTest):
    """It takes its time, with children everywhere; the signal ends it and them."""

    def start_hook(self, event, *arguments, command=None, turns=(), settings=None):
        """keel in this hook, whose processes all have the pipe open."""
        pipe = self.make_pipe()
        self.user_settings({"hooks": {event: [{"hooks": [
            {"type": "command", "command": family(pipe), "timeout": 600}]}]}, **(settings or {})})
        provider = self.play(ANTHROPIC, *turns or [Turn("Fine.")])
        if command:
            process = self.start(*command, *arguments, env=ANTHROPIC.environment(provider))
        else:
            process = self.start_agent(ANTHROPIC, provider, *arguments, "hi")
        pipe.wait(2)
        return process, pipe

    def assert_ends(self, number, event, *arguments, **how):
        with self.subTest(f"{event} {number.name}"):
            process, pipe = self.start_hook(event, *arguments, **how)
            result = self.interrupt(process, number)
            self.assertTrue(pipe.is_closed())
            self.assertEqual(result.err.splitlines()[-1], "keel: interrupted")
            self.user_settings({})
            self.assert_status(self.keel("session", "verify", "--all"), 0)
            return result

    def test_when_the_session_begins(self):
        for number in SIGNALS:
            self.assert_ends(number, "SessionStart")

    def test_when_the_session_ends(self):
        """The answer is there, and the session is whole and closed."""
        for number in SIGNALS:
            result = self.assert_ends(number, "SessionEnd")
            self.assertEqual(result.out, "Fine.\n")
            shown = self.keel("session", "show", "--json").json()
            self.assertEqual((shown["open"], shown["state"]), (False, "done"))
            again = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Good.")), "-c", "and?")
            self.assert_answer(again, "Good.")

    def test_when_the_session_ends_for_a_program(self):
        for form in ("json", "stream-json"):
            result = self.assert_ends(signal.SIGTERM, "SessionEnd", "--output-format", form)
            lines = [json.loads(line) for line in result.out.splitlines()]
            results = [line for line in lines if line["type"] == "result"]
            self.assertEqual([(line["result"], line["is_error"]) for line in results],
                             [("Fine.", False)])

    def test_when_the_session_ends_after_prompts_as_lines(self):
        pipe = self.make_pipe()
        self.user_settings({"hooks": {"SessionEnd": [{"hooks": [
            {"type": "command", "command": family(pipe), "timeout": 600}]}]}})
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")),
                                   "--input-format", "stream-json", "--output-format",
                                   "stream-json", stdin=subprocess.PIPE)
        process.stdin.write(b'{"type":"user","message":{"role":"user","content":"hi"}}\n')
        process.stdin.close()
        process.stdin = None
        pipe.wait(2)
        result = self.interrupt(process, signal.SIGTERM)
        self.assertTrue(pipe.is_closed())
        self.assertEqual(result.out.count('"type":"result"'), 1)

    def test_around_the_prompt_and_the_answer(self):
        for event in ("UserPromptSubmit", "Stop"):
            for number in SIGNALS:
                self.assert_ends(number, event)

    def test_around_a_call(self):
        for event in ("PreToolUse", "PostToolUse"):
            for number in SIGNALS:
                self.assert_ends(number, event, turns=[Turn(Call("Bash", command="true"))])

    def test_before_a_person_is_asked(self):
        self.assert_ends(signal.SIGTERM, "PermissionRequest", "--permission-mode", "default",
                         turns=[Turn(Call("Bash", command="touch made"))],
                         settings={"permissions": {"onAsk": "suspend"}})
        self.assertFalse((self.project / "made").exists())

    def test_after_a_failure(self):
        failed = json_answer({"error": {"message": "no"}}, 401)
        for number in SIGNALS:
            process, pipe = self.start_hook("StopFailure", turns=[failed])
            result = self.interrupt(process, number)
            self.assertTrue(pipe.is_closed())
            self.assertIn("keel: interrupted: ", result.err)

    def test_around_a_summary(self):
        for event in ("SessionStart", "PreCompact", "PostCompact", "SessionEnd"):
            for number in SIGNALS:
                self.user_settings({})
                self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")),
                                                "hi " * 1000))
                self.assert_ends(number, event, command=("session", "compact"),
                                 turns=[Turn("We said hi.")])

    def test_a_reader_that_leaves_after_the_answer_does_not_end_the_hook(self):
        begun, end = self.make_pipe(), self.project / "end"
        os.mkfifo(end)
        self.user_settings({"hooks": {"SessionEnd": [{"hooks": [
            {"type": "command", "command": f"echo > {begun.name}; cat end; touch done",
             "timeout": 600}]}]}})
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")), "hi")
        begun.wait()
        self.assertEqual(process.stdout.readline(), b"Fine.\n")
        process.stdout.close()
        end.write_text("")
        self.assertEqual(process.wait(HANG_SECONDS), 0)
        self.assertTrue((self.project / "done").exists())


class WhileItEnds(AbortTest):
    """The first signal has come, and a hook at the end of the session takes its time."""

    def begin_end(self, number):
        begun, self.end = self.make_pipe(), self.project / "end"
        self.end.unlink(missing_ok=True)
        os.mkfifo(self.end)
        self.user_settings({"hooks": {"SessionEnd": [{"hooks": [
            {"type": "command", "command": f"echo > {begun.name}; cat end"}]}]}})
        provider = self.play(ANTHROPIC, Turn(["Once", self.hold()]))
        process = self.start_agent(ANTHROPIC, provider, "--trace-llm", "hi")
        read_until(process.stderr, b"Once")
        process.send_signal(number)
        begun.wait()
        return process

    def test_a_second_signal_ends_it_at_once(self):
        for first in SIGNALS:
            for second in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(f"{first.name} {second.name}"):
                    process = self.begin_end(first)
                    process.send_signal(second)
                    self.assert_status(self.finish(process), -second)

    def test_a_terminal_that_is_closed_says_so_more_than_once(self):
        process = self.begin_end(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        self.end.write_text("")
        self.assert_interrupted(self.interrupt(process, signal.SIGHUP), "Once\n")


class WhileTheReaderDoesNotRead(AbortTest):
    """The pipe is full, its reader is there and does not read."""

    def setUp(self):
        super().setUp()
        self.reader, self.writer = os.pipe()
        self.addCleanup(os.close, self.reader)
        self.addCleanup(os.close, self.writer)
        self.n_room = fcntl.fcntl(self.writer, fcntl.F_GETPIPE_SZ)
        self.long = "x" * (2 * self.n_room)

    def wait_full(self):
        poll = select.poll()
        poll.register(self.writer, select.POLLOUT)
        end = time.monotonic() + HANG_SECONDS
        while poll.poll(0):
            self.assertLess(time.monotonic(), end, "the pipe was never full")
            time.sleep(0.01)

    def assert_ends(self, process, number):
        self.wait_full()
        result = self.interrupt(process, number)
        os.read(self.reader, self.n_room)
        return result

    def test_lines_as_they_come(self):
        """What the run had started is gone, and its session is whole."""
        for number in SIGNALS:
            with self.subTest(number.name):
                pipe = self.make_pipe()
                provider = self.play(
                    ANTHROPIC, Turn(Call("Bash", command=family(pipe), run_in_background=True)),
                    Turn([self.long, self.hold()]))
                process = self.start_agent(ANTHROPIC, provider, *STREAM_JSON, "hi",
                                           stdout=self.writer)
                pipe.wait(2)
                result = self.assert_ends(process, number)
                self.assertIn("keel: interrupted: cannot write to standard output: its reader "
                              "stopped reading", result.err)
                self.assertTrue(pipe.is_closed())
                self.assert_status(self.keel("session", "verify", "--all"), 0)

    def test_an_answer(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                provider = self.play(ANTHROPIC, Turn(self.long))
                self.assert_ends(self.start_agent(ANTHROPIC, provider, "hi", stdout=self.writer),
                                 number)
                shown = self.keel("session", "show", "--json").json()
                self.assertEqual((shown["open"], shown["state"]), (False, "done"))

    def test_what_is_told_beside_it(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                provider = self.play(ANTHROPIC, Turn([self.long, self.hold()]))
                process = self.start_agent(ANTHROPIC, provider, "--trace-llm", "hi",
                                           stderr=self.writer)
                self.assert_ends(process, number)

    def test_a_session_as_text(self):
        self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(self.long)), "hi")
        for command in ("show", "export"):
            with self.subTest(command):
                process = self.start("session", command, stdout=self.writer)
                self.addCleanup(process.kill)
                self.assert_ends(process, signal.SIGTERM)


class WhileAPipeHasOneEnd(AbortTest):
    """Of a pipe that an export is to go to, or an import to come from."""

    def setUp(self):
        super().setUp()
        self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("x" * 200000)), "hi")
        self.fifo = self.project / "pipe.jsonl"
        os.mkfifo(self.fifo)

    def start_session(self, *arguments, opens):
        with opened(opens):
            process = self.start("session", *arguments)
            self.addCleanup(process.kill)
        return process

    def start_export(self):
        return self.start_session("export", "--output", str(self.fifo),
                                  opens=self.keel_home / "keel.db")

    def start_import(self):
        return self.start_session("import", str(self.fifo), opens=self.fifo)

    def test_a_pipe_without_a_reader(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                self.interrupt(self.start_export(), number)

    def test_a_reader_that_does_not_read(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                process = self.start_export()
                with open(self.fifo, "rb"):
                    self.interrupt(process, number)

    def test_a_reader_that_comes_later_gets_all(self):
        process = self.start_export()
        text = self.fifo.read_text()
        self.assert_fine(self.finish(process))
        self.assertEqual(text, self.keel("session", "export", "--format", "jsonl").out)

    def test_a_pipe_without_a_writer(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                self.interrupt(self.start_import(), number)

    def wait_read(self, pipe):
        """Until what was written into this end has been read."""
        left = bytearray(4)
        end = time.monotonic() + HANG_SECONDS
        while not fcntl.ioctl(pipe, termios.FIONREAD, left) and any(left):
            self.assertLess(time.monotonic(), end, "nobody reads")
            time.sleep(0.01)

    def test_a_writer_that_writes_no_more(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                process = self.start("session", "import", "-", stdin=subprocess.PIPE)
                self.addCleanup(process.kill)
                self.addCleanup(process.stdin.close)
                process.stdin.write(b"{")
                process.stdin.flush()
                self.wait_read(process.stdin)
                process.send_signal(number)
                self.assertEqual(process.wait(HANG_SECONDS), 128 + number)
                process.stdout.close()
                process.stderr.close()

    def test_a_writer_that_comes_later_is_heard(self):
        text = self.keel("session", "export", "--format", "jsonl").out
        process = self.start_import()
        self.fifo.write_text(text)
        result = self.finish(process)
        self.assert_status(result, 0)
        self.assertIn("2 messages", result.out)


class WhileItAsks(AbortTest):
    def test_whether_to_delete(self):
        self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")), "--name", "one", "hi")
        for number in SIGNALS:
            with self.subTest(number.name):
                master, slave = os.openpty()
                process = self.start("session", "delete", "one", stdin=slave)
                read_until(process.stderr, b"[y/N] ")
                result = self.interrupt(process, number)
                self.assertIn("keel: interrupted\n", result.err)
                os.close(master)
                os.close(slave)
                self.assertIn("one", self.keel("session", "list").out)


class WhileItWaitsForALock(AbortTest):
    """Another process holds the store and does not let go."""

    def hold_sqlite(self, path):
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        db.execute("begin immediate")
        self.addCleanup(db.close)
        return lambda: db.execute("rollback")

    def hold_files(self, path):
        file = open(path / ".index.lock", "a")
        self.addCleanup(file.close)
        fcntl.lockf(file, fcntl.LOCK_EX)
        return lambda: fcntl.lockf(file, fcntl.LOCK_UN)

    def places(self):
        return [("sqlite", self.dir / "keel.db", self.hold_sqlite),
                ("files", self.dir / "sessions", self.hold_files)]

    def assert_ends(self, process, number):
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=LONGEST_END)
        except subprocess.TimeoutExpired:
            self.fail(f"{number.name} did not end the wait")
        self.assertEqual(process.returncode, 128 + number, err)
        self.assertIn(b"keel: interrupted", err)

    def assert_usable(self, store):
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")), "--store", store,
                                "and now?")
        self.assert_fine(result)
        self.assert_status(self.keel("session", "verify", "--all", "--store", store), 0)

    def test_to_begin_a_session(self):
        for kind, path, hold in self.places():
            store = f"{kind}:{path}"
            self.assert_usable(store)
            for number in SIGNALS:
                with self.subTest(f"{kind} {number.name}"):
                    release = hold(path)
                    provider = self.play(ANTHROPIC, Turn("never"))
                    with opened(path if kind == "sqlite" else path / ".index.lock"):
                        process = self.start_agent(ANTHROPIC, provider, "--store", store, "hi")
                    self.assert_ends(process, number)
                    release()
                    self.assertEqual(provider.requests, [])
                    self.assert_usable(store)

    def test_to_end_a_session(self):
        """Its last records, and what is removed once a day, need the lock."""
        for event in ("Stop", "SessionEnd"):
            for kind, path, hold in self.places():
                for number in SIGNALS:
                    with self.subTest(f"{event} {kind} {number.name}"):
                        self.user_settings({})
                        (self.keel_home / "pruned").unlink(missing_ok=True)
                        self.assert_usable(f"{kind}:{path}")
                        self.end_with_lock(event, f"{kind}:{path}", lambda: hold(path), number)

    def end_with_lock(self, event, store, hold, number):
        begun, end = self.make_pipe(), self.project / "end"
        end.unlink(missing_ok=True)
        os.mkfifo(end)
        (self.keel_home / "pruned").unlink(missing_ok=True)
        self.user_settings({"hooks": {event: [{"hooks": [{"type": "command", "timeout": 600,
            "command": f"exec 9> {begun.name}; echo >&9; cat end"}]}]}})
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")), "--store",
                                   store, "hi")
        begun.wait()
        release = hold()
        end.write_text("")
        self.assertTrue(begun.is_closed(HANG_SECONDS * 1000))
        self.assert_ends(process, number)
        release()
        self.user_settings({})
        self.assert_usable(store)

    def test_to_store_what_the_model_has_answered(self):
        """A call whose record is not stored does not run."""
        path, releases = self.dir / "keel.db", []
        store = f"sqlite:{path}"
        self.assert_usable(store)
        for number in SIGNALS:
            with self.subTest(number.name):
                answer = self.encode(ANTHROPIC, Turn("I touch.", Call("Bash", command="touch made")))
                sent = threading.Event()

                def give(_request):
                    releases.append(self.hold_sqlite(path))
                    answer.pieces = [*answer.pieces, Told(sent)]
                    return answer
                provider = self.play(ANTHROPIC, give, Turn("never"))
                process = self.start_agent(ANTHROPIC, provider, "--store", store, "hi")
                self.assertTrue(sent.wait(HANG_SECONDS))
                self.assert_ends(process, number)
                releases.pop()()
                self.assertFalse((self.project / "made").exists())
                self.assertEqual(len(provider.requests), 1)
                self.assert_usable(store)


if __name__ == "__main__":
    scripted.main()
