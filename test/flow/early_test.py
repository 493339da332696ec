"""early_test.py - calls that begin while their answer still comes in.

The provider sends the end of an answer only after it has seen that the file was read, or that a
command reads from its pipe: so the call has run before its answer was whole, or the test hangs.
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
from scripted import ANTHROPIC, BY_NAME, HANG_SECONDS, HANG_UP, event, for_each_protocol
from web_test import Server

IN_ACCESS = 1
CHAT, RESPONSES, GEMINI = (BY_NAME[name] for name in ("openai-chat", "openai-responses", "gemini"))
# What a call begins with, and what says that it is whole: in chat the next one, or the end of all.
MARKS = {
    "anthropic-messages": (b'"type": "tool_use"', [b"content_block_stop"]),
    "openai-chat": (b'"type": "function"', [b'"type": "function"', b'"finish_reason": "']),
    "openai-responses": (b'"arguments": ""', [b"output_item.done"]),
    "gemini": (b'"functionCall"', [b'"functionCall"']),
    "ollama": (b'"tool_calls"', [b'"tool_calls"']),
}


def find_ends(protocol, pieces):
    """For each call of an answer, the piece that says that it is whole."""
    begin, ends = MARKS[protocol.name]
    return [next(end for end in range(at + (protocol == CHAT), len(pieces))
                 if any(mark in pieces[end] for mark in ends))
            for at, piece in enumerate(pieces) if begin in piece]


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


class IsFed(threading.Event):
    """A piece of an answer: the next one comes when a command has the pipe open, and has read."""

    def __init__(self, path, text="out of a pipe\n"):
        super().__init__()
        self.path, self.text = path, text
        os.mkfifo(path)

    def wait(self, timeout=None):
        with open(self.path, "w") as pipe:
            pipe.write(self.text)
        return True


class IsOpen(IsFed):
    """The next piece comes when a command has the pipe open, which never says anything."""

    def __init__(self, path):
        super().__init__(path)
        self.fd = None

    def wait(self, timeout=None):
        self.fd = os.open(self.path, os.O_WRONLY)
        return self.set()

    def wait_left(self):
        """Until the command is gone."""
        poll = select.poll()
        poll.register(self.fd, 0)
        assert poll.poll(HANG_SECONDS * 1000), "the command is still there"
        os.close(self.fd)


def read(name, **more):
    return Call("Read", file_path=name, **more)


def cat(path, **more):
    return Call("Bash", command=f"cat {path.name}", **more)


class EarlyTest(SessionTest):
    def setUp(self):
        super().setUp()
        for name in ("a.txt", "b.txt"):
            (self.project / name).write_text(f"this is {name}\n")
        self.session = self.new_id()

    def answer(self, turn, *pieces, after=-1, protocol=ANTHROPIC):
        """The turn, with these pieces behind the end of this one of its calls."""
        answer = self.encode(protocol, turn)
        at = find_ends(protocol, answer.pieces)[after] + 1
        answer.pieces[at:at] = pieces
        return answer

    def run_answers(self, *answers, status=0, mode="default", protocol=ANTHROPIC, arguments=()):
        self.one = self.provider(*answers)
        result = self.run_agent(protocol, self.one, "--session-id", self.session, *arguments, "go",
                                mode=mode)
        self.assert_status(result, status)
        self.assert_taken(protocol, self.one)
        return result

    def pipe(self):
        return self.project / f"pipe{next(self.numbers)}"

    def counts(self):
        return [self.count(self.session, f"tool_{kind}") for kind in ("early", "begin", "dropped")]

    def assert_whole(self):
        for command in ("verify", "replay"):
            self.assert_status(self.keel("session", command, self.session), 0)

    def done(self, protocol=ANTHROPIC):
        return self.encode(protocol, Turn("Done."))


class Begins(EarlyTest):
    @for_each_protocol
    def test_a_read_runs_before_its_answer_has_ended(self, protocol):
        self.session = self.new_id()
        answer = self.answer(Turn("I look.", read("a.txt")), IsRead(self.project / "a.txt"),
                             protocol=protocol)
        self.run_answers(answer, self.done(protocol), protocol=protocol)
        self.assertIn("this is a.txt", self.one.requests[1].body.decode())
        self.assertEqual(self.counts(), [1, 1, 0])
        self.assert_whole()

    @for_each_protocol
    def test_several_run_and_their_results_stand_in_order(self, protocol):
        self.session = self.new_id()
        both = [IsRead(self.project / "b.txt"), IsRead(self.project / "a.txt")]
        turn = Turn(read("a.txt"), Call("Glob", pattern="*.txt"), read("b.txt"))
        self.run_answers(self.answer(turn, *both, protocol=protocol), self.done(protocol),
                         protocol=protocol)
        body = self.one.requests[1].body.decode()
        self.assertLess(body.index("this is a.txt"), body.index("this is b.txt"))
        self.assertEqual(self.counts(), [3, 3, 0])
        self.assert_whole()

    @for_each_protocol
    def test_a_command_that_only_looks_does_too(self, protocol):
        self.session = self.new_id()
        pipe, later = IsFed(self.pipe()), IsFed(self.pipe(), "out of the last\n")
        answer = self.answer(Turn("I look.", cat(pipe.path), read("a.txt"), cat(later.path)),
                             later, pipe, protocol=protocol)
        self.run_answers(answer, self.done(protocol), protocol=protocol)
        body = self.one.requests[1].body.decode()
        self.assertLess(body.index("out of a pipe"), body.index("this is a.txt"))
        self.assertLess(body.index("this is a.txt"), body.index("out of the last"))
        self.assertEqual(self.counts(), [3, 3, 0])
        self.assert_whole()

    def test_a_call_without_an_id_does_too(self):
        for id in ("", "given"):
            with self.subTest(id):
                self.session = self.new_id()
                answer = self.answer(Turn(read("a.txt", id=id), read("b.txt", id=id and "other")),
                                     IsRead(self.project / "a.txt"), protocol=GEMINI, after=0)
                self.run_answers(answer, self.done(GEMINI), protocol=GEMINI)
                self.assertEqual(self.counts(), [2, 2, 0])
                self.assert_whole()

    def test_a_call_whose_arguments_come_in_pieces_does_when_the_last_has_come(self):
        def chunk(**call):
            return event({"responseId": "r", "candidates": [{"index": 0, "content": {
                "role": "model", "parts": [{"functionCall": call}]}}]})
        name = {"jsonPath": "$.file_path", "willContinue": True}
        answer = self.encode(GEMINI, Turn("", stop="STOP"))
        answer.pieces = [chunk(name="Read", willContinue=True),
                         chunk(partialArgs=[{**name, "stringValue": "a."}], willContinue=True),
                         chunk(partialArgs=[{**name, "stringValue": "txt"}], willContinue=True),
                         chunk(), IsRead(self.project / "a.txt"), *answer.pieces]
        self.run_answers(answer, self.done(GEMINI), protocol=GEMINI)
        self.assertIn("this is a.txt", self.one.requests[1].body.decode())
        self.assertEqual(self.counts(), [1, 1, 0])
        self.assert_whole()

    def test_text_ends_a_call(self):
        answer = self.encode(CHAT, Turn(read("a.txt"), "Now I wait."))
        at = [i for i, piece in enumerate(answer.pieces) if b"wait" in piece][0]
        answer.pieces.insert(at + 1, IsRead(self.project / "a.txt"))
        self.run_answers(answer, self.done(CHAT), protocol=CHAT)
        self.assertEqual(self.counts(), [1, 1, 0])
        self.assert_whole()

    def test_a_large_picture_that_was_over_early_replays(self):
        """Its result is loaded from the store, and others would begin meanwhile."""
        (self.project / "a.png").write_bytes(media_files.noise(200, 200))
        files = [self.project / f"{n}.txt" for n in range(8)]
        for file in files:
            file.write_text("text\n")
        turn = Turn(read("a.png"), *[read(file.name) for file in files])
        answer = self.answer(turn, IsRead(files[-1]))
        ends = [at for at, piece in enumerate(answer.pieces)
                if isinstance(piece, bytes) and b"content_block_stop" in piece]
        for at, file in reversed(list(zip(ends[1:], files[:-1]))):
            answer.pieces.insert(at + 1, IsRead(file))
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

    def test_a_hook_that_denies_a_command_is_asked_once_and_before_it(self):
        self.user_settings({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": f"cat >> {self.dir}/seen; exit 2"}]}]}})
        self.assert_waits(Call("Bash", command="cat a.txt"), read("b.txt"))
        self.assertEqual((self.dir / "seen").read_text().count("PreToolUse"), 1)
        self.assertNotIn("this is a.txt", self.one.requests[1].body.decode())
        self.assertEqual(self.count(self.session, "tool_begin"), 1)

    def test_commands_that_move_stay_or_could_write_do_not_begin(self):
        (self.project / "sub").mkdir()
        for call, arguments in (
                (Call("Bash", command="cd sub"), []),
                (Call("Bash", command="cat a.txt", run_in_background=True), ["--allowed-tools",
                                                                            "Bash"]),
                (Call("Bash", command="cat a.txt"), ["--allowed-tools", "Bash(cat *)"]),
                (Call("Bash", command="touch made"), ["--allowed-tools", "Bash"])):
            with self.subTest(call.arguments):
                self.session = self.new_id()
                self.assert_waits(call, Call("Bash", command="pwd"), arguments=arguments)

    def test_no_request_leaves_for_an_answer_that_is_dropped(self):
        """What was sent cannot be taken back, so it is sent when the answer is there."""
        server = Server()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.user_settings({"webFetch": {"allow": [server.place]},
                            "webSearch": {"provider": "searxng", "url": f"http://{server.place}"},
                            "permissions": {"allow": ["WebFetch(domain:127.0.0.1)", "WebSearch"]}})
        for call in (Call("WebFetch", url=server.url), Call("WebSearch", query="secrets")):
            self.session = self.new_id()
            broken = self.answer(Turn(call, read("a.txt")), HANG_UP)
            self.run_answers(broken, self.done())
            self.assertEqual((server.seen, self.counts()), ([], [0, 0, 0]))
            self.session = self.new_id()
            self.assert_waits(call, read("a.txt"))
            self.assertEqual(len(server.seen), 1)
            server.seen.clear()

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

    def start_lines(self, *answers, more=(), protocol=ANTHROPIC):
        self.one = self.provider(*answers)
        return self.start_agent(protocol, self.one, "--session-id", self.session,
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

    @for_each_protocol
    def test_a_call_is_printed_before_the_answer_has_ended(self, protocol):
        self.session, end = self.new_id(), threading.Event()
        process = self.start_lines(
            self.answer(Turn("I look.", read("a.txt")), end, protocol=protocol),
            self.done(protocol), protocol=protocol)
        seen = read_until(process.stdout, b"tool_use")
        end.set()
        lines = self.lines(seen + process.stdout.read())
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.names(lines), [
            "init", ("assistant", "text"), ("assistant", "tool_use"), ("user", "tool_result"),
            ("assistant", "text"), "success"])
        call, result = (line["message"]["content"][0] for line in lines[2:4])
        self.assertEqual(call["id"], result["tool_use_id"])

    @for_each_protocol
    def test_with_pieces_it_stands_before_the_end_of_its_block(self, protocol):
        self.session = self.new_id()
        process = self.start_lines(
            self.answer(Turn("I look.", read("a.txt")), protocol=protocol), self.done(protocol),
            more=["--include-partial-messages"], protocol=protocol)
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


class Changed(EarlyTest):
    """Providers that add to a call, or change it, when it was whole."""

    def more(self, **call):
        return event({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})

    def test_it_runs_with_the_arguments_of_the_answer(self):
        answer = self.answer(Turn(read("a.txt")), IsRead(self.project / "a.txt"),
                             protocol=RESPONSES)
        answer.pieces[-1] = answer.pieces[-1].replace(b"a.txt", b"b.txt")
        self.run_answers(answer, self.done(RESPONSES), protocol=RESPONSES)
        body = self.one.requests[1].body.decode()
        self.assertIn("this is b.txt", body)
        self.assertNotIn("this is a.txt", body)
        self.assertEqual(self.counts(), [1, 1, 1])
        self.assert_whole()

    def test_arguments_that_are_spoilt_run_nothing(self):
        answer = self.answer(Turn(read("a.txt"), read("b.txt")), IsRead(self.project / "a.txt"),
                             self.more(index=0, function={"arguments": "{}"}),
                             protocol=CHAT, after=0)
        self.run_answers(answer, self.done(CHAT), protocol=CHAT)
        body = self.one.requests[1].body.decode()
        self.assertNotIn("this is a.txt", body)
        self.assertIn("this is b.txt", body)
        self.assertEqual(self.counts(), [2, 1, 2])
        self.assert_whole()

    def test_arguments_that_come_again_change_nothing(self):
        again = Call("Read", file_path="a.txt", id="again")
        answer = self.answer(
            Turn(again, read("b.txt")), IsRead(self.project / "a.txt"),
            self.more(index=0, id="again", function={"name": "Read", "arguments": again.raw}),
            self.more(index=0, function={"arguments": ""}), protocol=CHAT, after=0)
        self.run_answers(answer, self.done(CHAT), protocol=CHAT)
        self.assertIn("this is a.txt", self.one.requests[1].body.decode())
        self.assertEqual(self.counts(), [2, 2, 0])
        self.assert_whole()

    def test_calls_that_come_by_turns_begin_when_they_are_whole(self):
        answer = self.encode(CHAT, Turn(read("a.txt", raw=""), read("b.txt", raw="")))
        at = find_ends(CHAT, answer.pieces)[-1]
        answer.pieces[at:at] = [
            self.more(index=index, function={"arguments": text}) for index, text in (
                (0, '{"file_path":'), (1, '{"file_path":'), (0, '"a.txt"}'), (1, '"b.txt"}'))]
        self.run_answers(answer, self.done(CHAT), protocol=CHAT)
        body = self.one.requests[1].body.decode()
        self.assertLess(body.index("this is a.txt"), body.index("this is b.txt"))
        self.assertEqual(self.counts(), [0, 2, 0])
        self.assert_whole()


class Dropped(EarlyTest):
    @for_each_protocol
    def test_a_stream_that_breaks_takes_its_calls_with_it(self, protocol):
        self.session = self.new_id()
        broken = self.answer(Turn(read("a.txt"), Call("TodoWrite", todos=[])),
                             IsRead(self.project / "a.txt"), HANG_UP, protocol=protocol, after=0)
        again = self.encode(protocol, Turn(Call("Write", file_path="a.txt", content="lost")))
        self.run_answers(broken, again, self.done(protocol), mode="acceptEdits", protocol=protocol)
        self.assertEqual(self.counts(), [1, 1, 1])
        # the model has not seen what the dropped call read, so it must not write over it
        self.assertEqual((self.project / "a.txt").read_text(), "this is a.txt\n")
        self.assertNotIn("this is a.txt", self.one.requests[1].body.decode())
        self.assert_whole()

    @for_each_protocol
    def test_another_model_takes_over_and_its_calls_count(self, protocol):
        self.session = self.new_id()
        self.user_settings({"maxAttempts": 1})
        broken = self.answer(Turn(read("a.txt"), Call("Glob", pattern="*")),
                             IsRead(self.project / "a.txt"), HANG_UP, protocol=protocol, after=0)
        other = self.answer(Turn(read("b.txt")), IsRead(self.project / "b.txt"), protocol=protocol)
        self.run_answers(broken, other, self.done(protocol), protocol=protocol,
                         arguments=["--fallback-model", f"{protocol.vendor}/n"])
        body = self.one.requests[2].body.decode()
        self.assertIn("this is b.txt", body)
        self.assertNotIn("this is a.txt", body)
        self.assertEqual(self.counts(), [2, 1, 1])
        self.assert_whole()

    @for_each_protocol
    def test_a_command_ends_with_the_answer_that_called_it(self, protocol):
        self.session = self.new_id()
        pipe = IsOpen(self.pipe())
        broken = self.answer(Turn(cat(pipe.path), read("a.txt")), pipe, HANG_UP, protocol=protocol,
                             after=0)
        self.run_answers(broken, self.done(protocol), protocol=protocol)
        pipe.wait_left()
        self.assertEqual(self.counts(), [1, 0, 1])
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
        self.resume()

    @for_each_protocol
    def test_a_kill_leaves_nothing_open(self, protocol):
        self.session, never = self.new_id(), threading.Event()
        answer = self.answer(Turn("I look.", read("a.txt")),
                             IsRead(self.project / "a.txt", then=never), protocol=protocol)
        process = self.start_agent(protocol, self.provider(answer), "--session-id", self.session,
                                   "go")
        self.wait_stored(self.session, "tool_early")
        process.kill()
        process.wait()
        never.set()
        self.resume(protocol)
        self.assertEqual(self.counts(), [1, 0, 0])
        self.assert_whole()

    @for_each_protocol
    def test_a_kill_ends_the_command_that_had_begun(self, protocol):
        self.session, never = self.new_id(), threading.Event()
        pipe = IsOpen(self.pipe())
        self.addCleanup(never.set)
        answer = self.answer(Turn("I look.", cat(pipe.path)), pipe, never, protocol=protocol)
        process = self.start_agent(protocol, self.provider(answer), "--session-id", self.session,
                                   "go")
        threading.Event.wait(pipe, HANG_SECONDS)
        process.kill()
        process.wait()
        pipe.wait_left()
        self.resume(protocol)
        self.assertEqual(self.counts(), [1, 0, 0])
        self.assert_whole()

    def resume(self, protocol=ANTHROPIC):
        provider = self.play(protocol, Turn("Done."))
        self.assert_status(self.run_agent(protocol, provider, "-r", self.session, "and now?"), 0)
        self.assert_taken(protocol, provider)


if __name__ == "__main__":
    scripted.main()
