"""abort_test.py - an interrupt at every point of a run: what is kept, told, and left running.

Where the other side must have come so far, it says so: the provider is asked, a line is printed, or
a command writes into a pipe. The same pipe tells when the last process that has it open is gone.
"""
import fcntl
import itertools
import json
import os
import pathlib
import select
import signal
import sqlite3
import subprocess
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
        process = self.start_agent(ANTHROPIC, provider, "go")
        pipe.wait(2)
        held.set()
        result = self.finish(process)
        self.assert_answer(result, "Done.")
        self.assertTrue(pipe.is_closed())

    def test_several_at_once_are_all_gone(self):
        pipe = self.make_pipe()
        command = f"exec 9>{pipe.name}; echo >&9; sleep 600"
        provider = self.play(ANTHROPIC, Turn(*[Call("Bash", command=command) for _ in range(8)]))
        process = self.start_agent(ANTHROPIC, provider, "--output-format", "stream-json", "go")
        pipe.wait(8)
        result = self.interrupt(process)
        self.assertTrue(pipe.is_closed())
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

    def wait_open(self, process, path):
        """Until keel has this file open."""
        end = time.monotonic() + HANG_SECONDS
        while time.monotonic() < end:
            for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
                try:
                    if os.readlink(fd) == str(path):
                        return
                except OSError:
                    pass
            time.sleep(0.01)
        self.fail(f"{path} was never opened")

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
                    process = self.start_agent(ANTHROPIC, provider, "--store", store, "hi")
                    self.wait_open(process, path if kind == "sqlite" else path / ".index.lock")
                    self.assert_ends(process, number)
                    release()
                    self.assertEqual(provider.requests, [])
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
