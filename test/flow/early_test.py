"""early_test.py - calls that begin while their answer still comes in.

The provider sends the end of an answer only after it has seen that the file was read: so the call
has run before its answer was whole, or the test hangs.
"""
import ctypes
import json
import os
import select
import signal
import subprocess
import threading

import media_files
import scripted
from abort_test import read_until
from agent import Call, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC, BY_NAME, HANG_SECONDS, HANG_UP

IN_ACCESS = 1
RESPONSES = BY_NAME["openai-responses"]
ENDS = {"anthropic-messages": b"content_block_stop", "openai-responses": b"output_item.done"}


class IsRead(threading.Event):
    """A piece of an answer: the next one comes when this file has been read."""

    def __init__(self, path, then=None):
        super().__init__()
        self.then = then
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.fd, os.fsencode(path), IN_ACCESS) >= 0

    def wait(self, timeout=None):
        ready = select.select([self.fd], [], [], HANG_SECONDS)[0]
        os.close(self.fd)
        if self.then:
            self.then.wait(HANG_SECONDS)
        return bool(ready)


def read(name, **more):
    return Call("Read", file_path=name, **more)


class EarlyTest(SessionTest):
    def setUp(self):
        super().setUp()
        for name in ("a.txt", "b.txt"):
            (self.project / name).write_text(f"this is {name}\n")
        self.session = self.new_id()

    def answer(self, turn, *pieces, after=None, protocol=ANTHROPIC):
        """The turn, with these pieces behind the last block, or the one of number `after`."""
        answer = self.encode(protocol, turn)
        stops = [i for i, piece in enumerate(answer.pieces) if ENDS[protocol.name] in piece]
        at = (stops[-1] if after is None else stops[after]) + 1
        answer.pieces[at:at] = pieces
        return answer

    def run_answers(self, *answers, status=0, mode="default", protocol=ANTHROPIC):
        self.one = self.provider(*answers)
        result = self.run_agent(protocol, self.one, "--session-id", self.session, "go", mode=mode)
        self.assert_status(result, status)
        self.assert_taken(protocol, self.one)
        return result

    def counts(self):
        return [self.count(self.session, f"tool_{kind}") for kind in ("early", "begin", "dropped")]

    def assert_whole(self):
        for command in ("verify", "replay"):
            self.assert_status(self.keel("session", command, self.session), 0)

    def done(self, protocol=ANTHROPIC):
        return self.encode(protocol, Turn("Done."))


class Begins(EarlyTest):
    def test_a_read_runs_before_its_answer_has_ended(self):
        for protocol in (ANTHROPIC, RESPONSES):
            with self.subTest(protocol.name):
                self.session = self.new_id()
                answer = self.answer(Turn("I look.", read("a.txt")),
                                     IsRead(self.project / "a.txt"), protocol=protocol)
                self.run_answers(answer, self.done(protocol), protocol=protocol)
                self.assertIn("this is a.txt", self.one.requests[1].body.decode())
                self.assertEqual(self.counts(), [1, 1, 0])
                self.assert_whole()

    def test_several_run_and_their_results_stand_in_order(self):
        both = [IsRead(self.project / "b.txt"), IsRead(self.project / "a.txt")]
        turn = Turn(read("a.txt"), Call("Glob", pattern="*.txt"), read("b.txt"))
        self.run_answers(self.answer(turn, *both), self.done())
        body = self.one.requests[1].body.decode()
        self.assertLess(body.index("this is a.txt"), body.index("this is b.txt"))
        self.assertEqual(self.counts(), [3, 3, 0])
        self.assert_whole()

    def test_a_large_picture_that_was_over_early_replays(self):
        """Its result is loaded from the store, and others would begin meanwhile."""
        (self.project / "a.png").write_bytes(media_files.noise(200, 200))
        files = [self.project / f"{n}.txt" for n in range(8)]
        for file in files:
            file.write_text("text\n")
        turn = Turn(read("a.png"), *[read(file.name) for file in files])
        answer = self.answer(turn, IsRead(files[-1]))
        for number, file in reversed(list(enumerate(files[:-1], 1))):
            at = [i for i, piece in enumerate(answer.pieces) if isinstance(piece, bytes) and
                  ENDS[ANTHROPIC.name] in piece][number] + 1
            answer.pieces.insert(at, IsRead(file))
        self.run_answers(answer, self.done())
        self.assertEqual(self.counts(), [9, 9, 0])
        self.assert_whole()

    def test_what_a_read_has_seen_may_be_edited_afterwards(self):
        turn = Turn(read("a.txt"),
                    Call("Edit", file_path="a.txt", old_string="this", new_string="that"))
        self.run_answers(self.answer(turn, IsRead(self.project / "a.txt"), after=0), self.done(),
                         mode="acceptEdits")
        self.assertEqual((self.project / "a.txt").read_text(), "that is a.txt\n")
        self.assertEqual(self.counts(), [1, 2, 0])
        self.assert_whole()


class Waits(EarlyTest):
    def assert_waits(self, *calls, n_early=0, **run):
        self.run_answers(self.answer(Turn(*calls)), self.done(), **run)
        self.assertEqual(self.count(self.session, "tool_early"), n_early)
        self.assert_whole()

    def test_nothing_begins_behind_a_call_that_may_change_something(self):
        self.assert_waits(Call("Bash", command="echo new > a.txt"), read("a.txt"),
                          mode="bypassPermissions")
        self.assertIn("new", self.one.requests[1].body.decode())

    def test_what_changes_something_does_not_begin(self):
        self.assert_waits(Call("Write", file_path="new", content="x"),
                          Call("Bash", command="touch made"), mode="bypassPermissions")

    def test_what_would_ask_or_is_denied_does_not_begin(self):
        self.user_settings({"permissions": {"deny": ["Read(./a.txt)"]}})
        self.assert_waits(read("a.txt"), read("b.txt"))

    def test_a_call_that_a_hook_must_see_does_not_begin(self):
        self.user_settings({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [
            {"type": "command", "command": f"cat >> {self.dir}/seen"}]}]}})
        self.assert_waits(Call("Glob", pattern="*"), read("a.txt"), n_early=1)
        self.assertEqual((self.dir / "seen").read_text().count("PreToolUse"), 1)

    def test_wrong_arguments_and_unknown_tools_do_not_begin(self):
        self.assert_waits(Call("Read", wrong=1), Call("Nothing", path="x"), read("a.txt"))

    def test_the_limit_of_calls_counts_each_once(self):
        self.user_settings({"budget": {"toolCalls": 2}})
        self.run_answers(self.answer(Turn(read("a.txt"), read("b.txt"), Call("Glob", pattern="*")),
                                     IsRead(self.project / "b.txt")), status=5)
        self.assertEqual(self.counts(), [2, 2, 0])
        self.assert_status(self.keel("session", "verify", self.session), 0)


class Lines(EarlyTest):
    """--output-format stream-json: a line for each block, when it ends."""

    def start_lines(self, *answers, more=()):
        self.one = self.provider(*answers)
        return self.start_agent(ANTHROPIC, self.one, "--session-id", self.session,
                                "--output-format", "stream-json", "--verbose", *more, "go",
                                stdout=subprocess.PIPE)

    def lines(self, text):
        return [json.loads(line) for line in text.decode().splitlines()]

    def names(self, lines):
        return [line.get("subtype") or (line.get("event") or {}).get("type") or
                (line["type"], line["message"]["content"][0]["type"]) for line in lines]

    def test_a_block_is_printed_before_the_answer_has_ended(self):
        events = [threading.Event(), threading.Event()]
        answer = self.answer(Turn("I look.", read("a.txt")), events[1])
        stop = [i for i, piece in enumerate(answer.pieces)
                if isinstance(piece, bytes) and b"content_block_stop" in piece][0]
        answer.pieces.insert(stop + 1, events[0])
        process = self.start_lines(answer, self.done())
        seen = read_until(process.stdout, b"I look.")
        events[0].set()
        seen += read_until(process.stdout, b"tool_use")
        events[1].set()
        seen += process.stdout.read()
        self.assertEqual(process.wait(), 0)
        lines = self.lines(seen)
        self.assertEqual(self.names(lines), [
            "init", ("assistant", "text"), ("assistant", "tool_use"), ("user", "tool_result"),
            ("assistant", "text"), "success"])
        self.assertEqual(lines[1]["message"]["id"], lines[2]["message"]["id"])

    def test_with_pieces_it_stands_before_the_end_of_its_block(self):
        process = self.start_lines(self.answer(Turn("I look.", read("a.txt"))), self.done(),
                                   more=["--include-partial-messages"])
        lines = self.lines(process.stdout.read())
        self.assertEqual(self.names(lines)[:11], [
            "init", "status", "message_start", "content_block_start", "content_block_delta",
            ("assistant", "text"), "content_block_stop", "content_block_start",
            "content_block_delta", ("assistant", "tool_use"), "content_block_stop"])

    def test_lines_of_an_answer_that_breaks_are_taken_back(self):
        broken = self.answer(Turn("I look.", read("a.txt")), HANG_UP)
        process = self.start_lines(broken, self.done())
        lines = self.lines(process.stdout.read())
        self.assertEqual(self.names(lines), [
            "init", ("assistant", "text"), ("assistant", "tool_use"), "assistant_dropped",
            "api_retry", ("assistant", "text"), "success"])
        self.assertEqual(lines[3]["message_id"], lines[1]["message"]["id"])
        self.assertEqual(lines[-1]["result"], "Done.")


class Dropped(EarlyTest):
    def test_a_stream_that_breaks_takes_its_calls_with_it(self):
        broken = self.answer(Turn(read("a.txt")), IsRead(self.project / "a.txt"), HANG_UP)
        again = self.answer(Turn(Call("Write", file_path="a.txt", content="lost")))
        self.run_answers(broken, again, self.done(), mode="acceptEdits")
        self.assertEqual(self.counts(), [1, 1, 1])
        # the model has not seen what the dropped call read, so it must not write over it
        self.assertEqual((self.project / "a.txt").read_text(), "this is a.txt\n")
        self.assertNotIn("this is a.txt", self.one.requests[1].body.decode())
        self.assert_whole()

    def test_an_interrupt_takes_them_too(self):
        never = threading.Event()
        answer = self.answer(Turn(read("a.txt")), IsRead(self.project / "a.txt", then=never))
        process = self.start_agent(ANTHROPIC, self.provider(answer), "--session-id", self.session,
                                   "go")
        self.wait_stored(self.session, "tool_early")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        never.set()
        self.assertEqual(self.counts(), [1, 0, 1])
        self.assert_whole()
        self.go_on()

    def test_a_kill_leaves_nothing_open(self):
        never = threading.Event()
        answer = self.answer(Turn("I look.", read("a.txt")),
                             IsRead(self.project / "a.txt", then=never))
        process = self.start_agent(ANTHROPIC, self.provider(answer), "--session-id", self.session,
                                   "go")
        self.wait_stored(self.session, "tool_early")
        process.kill()
        process.wait()
        never.set()
        self.go_on()
        self.assertEqual(self.counts(), [1, 0, 0])
        self.assert_whole()

    def go_on(self):
        provider = self.play(ANTHROPIC, Turn("Done."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-r", self.session, "and now?"), 0)
        self.assert_taken(ANTHROPIC, provider)


if __name__ == "__main__":
    scripted.main()
