"""large_test.py - what can be written can be read: messages at and over their limit.

A message has one limit, counted as JSON with all its escapes. What is over it is refused before it
is sent or stored; whatever is stored verifies and is sent again when the session is resumed.
"""
import itertools
import json
import os
import pathlib
import random
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "crash"))

import scripted  # noqa: E402
import stores  # noqa: E402
from agent import AgentTest, Call, Thought, Turn  # noqa: E402
from scripted import ANTHROPIC, BY_NAME, Answer, event, sample  # noqa: E402

MIB = 1 << 20
# Each is more than 32 MiB as JSON, where the text of a message stands twice.
TOO_LARGE = [b'"\\' * (20 * MIB), b"\x01" * (6 * MIB), b"x" * (17 * MIB),
             b'{"log": "line"}\n' * (2 * MIB)]
COUNT = itertools.count()
IS_DEEP = os.environ.get("KEEL_TEST_DEPTH") == "all"


class LargeTest(AgentTest):
    # The window of the model is not what is tested here.
    base_settings = {"providers": {"big": {"type": "anthropic", "model": "m",
                                           "contextWindow": 1_000_000_000}},
                     "currentProvider": "big", "compact": {"enabled": False}}

    def stores(self, name="keel"):
        return [f"sqlite:{self.dir}/{name}.db", f"files:{self.dir}/{name}"]

    def assert_whole(self, store):
        self.assert_status(self.keel("session", "verify", "--all", "--store", store), 0)

    def assert_replays(self, store):
        self.assert_status(self.keel("session", "replay", "--store", store), 0)

    def assert_moves(self, store):
        """The last session can be exported, and what was exported can be read."""
        file, other = str(self.dir / "export.jsonl"), f"sqlite:{self.dir}/other-{next(COUNT)}.db"
        self.assert_fine(self.keel("session", "export", "--output", file, "--store", store))
        self.assert_status(self.keel("session", "import", file, "--store", other), 0)
        self.assert_whole(other)

    def run_in(self, store, provider, *arguments, **run):
        env = ANTHROPIC.environment(provider)
        return self.keel("-p", "--permission-mode", "bypassPermissions", "--store", store,
                         *arguments, env=env, **run)


class Prompts(LargeTest):
    def test_a_piped_file_that_is_too_large_is_refused_before_it_is_stored(self):
        for store in self.stores():
            for text in TOO_LARGE if IS_DEEP else [random.choice(TOO_LARGE)]:
                print(f"{len(text)} bytes of {text[:2]}")
                provider = self.play(ANTHROPIC, Turn("Fine."))
                result = self.run_in(store, provider, "hi", stdin=text)
                self.assert_refused(result, 2, "the prompt is larger than a message may be")
                self.assertEqual(provider.requests, [])
            self.assert_whole(store)

    def test_a_piped_file_that_fits_is_kept_and_sent_again(self):
        for store in self.stores():
            text = b'"\\' * (3 * MIB if IS_DEEP else MIB)
            provider = self.play(ANTHROPIC, Turn("Fine."))
            self.assert_fine(self.run_in(store, provider, "hi", stdin=text))
            self.assert_whole(store)
            self.assert_fine(self.run_in(store, provider, "-c", "more"))
            first, second = (request.json for request in provider.requests)
            self.assertEqual(json.dumps(first["messages"][0]["content"][1]["text"]),
                             json.dumps(second["messages"][0]["content"][1]["text"]))


def redacted(*sizes):
    """Thoughts that only the provider can read, as one block each."""
    yield from list(ANTHROPIC_START)
    for index, size in enumerate(sizes):
        yield event({"type": "content_block_start", "index": index, "content_block": {
            "type": "redacted_thinking", "data": "A" * size}}, "content_block_start")
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    yield event({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                 "usage": {"output_tokens": 9}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


ANTHROPIC_START = [event({"type": "message_start", "message": {
    "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
    "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 1}}}, "message_start")]


def pictures(*sizes):
    for size in sizes:
        yield event({"candidates": [{"index": 0, "content": {"role": "model", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "A" * size}}]}}]})
    yield event({"candidates": [{"index": 0, "finishReason": "STOP", "content": {
        "role": "model", "parts": [{"text": "There."}]}}]})


def quotes(n_bytes):
    """Arguments of one call, in pieces."""
    return ['{"command": "'] + ['\\"' * 250_000] * (n_bytes // 250_000) + ['"}']


class Answers(LargeTest):
    """Refused while they stream, as the provider's fault; the session is as good as before."""

    GEMINI = BY_NAME["gemini"]
    CHAT = BY_NAME["openai-chat"]
    cases = {
        "control characters": (ANTHROPIC, lambda: Turn(["\x01" * 500_000] * 26)),
        "backslashes": (ANTHROPIC, lambda: Turn(["\\" * 500_000] * 80)),
        "backslashes of thought": (CHAT, lambda: Turn(*[Thought("\\" * 6_000_000)] * 3)),
        "thoughts that are hidden": (ANTHROPIC, lambda: Answer(redacted(*[22_000_000] * 3))),
        "pictures": (GEMINI, lambda: Answer(pictures(*[22_000_000] * 3))),
        "quotes in arguments": (ANTHROPIC, lambda: Turn(Call("Bash", raw=quotes(20_000_000)))),
        "quotes in arguments, chat": (CHAT, lambda: Turn(Call("Bash", raw=quotes(20_000_000)))),
        "names of tools": (CHAT, lambda: Turn(Call("B" * 20_000_000, command="true"))),
    }

    def check(self, store, name):
        protocol, answer = self.cases[name]
        provider = self.play(protocol, answer(), Turn("I remember PELICAN."))
        self.user_settings({"compact": {"enabled": False}, "providers": {"big": {
            "type": protocol.name, "model": "m", "apiKey": "k", "contextWindow": 1_000_000_000,
            "baseUrl": provider.url + protocol.prefix}}, "currentProvider": "big"})
        result = self.keel("-p", "--store", store, "remember PELICAN")
        self.assert_status(result, 1)
        self.assertRegex(result.err, "larger than (a message may be|64 KiB)")
        self.assertEqual(len(provider.requests), 1)
        self.assert_whole(store)
        self.assert_answer(self.keel("-p", "--store", store, "-c", "more"), "I remember PELICAN.")
        self.assertIn(b"remember PELICAN", provider.requests[1].body)
        self.assert_replays(store)
        self.assert_moves(store)

    def test_that_are_larger_than_a_message_are_refused_while_they_stream(self):
        for name in sample(list(self.cases), 1):
            for store in sample(self.stores(name), 1):
                with self.subTest(name, store=store):
                    self.check(store, name)

    @unittest.skipUnless(IS_DEEP, "one more store takes a minute: with KEEL_TEST_DEPTH=all")
    @unittest.skipUnless(stores.Postgres.programs(), "needs PostgreSQL's programs")
    def test_that_are_larger_than_a_message_are_refused_with_postgresql_too(self):
        server, case = stores.Postgres(self.dir), types.SimpleNamespace(name="large")
        self.addCleanup(server.close)
        server.prepare(case)
        self.check(server.url(case), "backslashes")


class Imports(LargeTest):
    def test_messages_that_are_too_large_are_left_out_and_counted(self):
        def message(role, text, **more):
            return {"role": role, "content": text, "state": "complete", **more}
        record = {"id": "00000000-0000-7000-8000-000000000009", "messages": [
            message("user", "remember PELICAN"),
            message("user", "\x01" * (63 * MIB // 6 + 50_000)),
            message("user", "x" * (30 * MIB), id="x" * (33 * MIB)),
            message("assistant", "I will.")]}
        (self.dir / "hostile.json").write_text(json.dumps(record))
        store = self.stores()[0]
        result = self.keel("session", "import", str(self.dir / "hostile.json"), "--store", store)
        self.assert_status(result, 0)
        self.assertRegex(result.out + result.err, r"messages that are too large \(2\)")
        self.assert_whole(store)
        shown = self.keel("session", "show", "--store", store)
        self.assertIn("remember PELICAN", shown.out)
        self.assertIn("I will.", shown.out)

    def test_a_text_that_is_too_long_and_stands_nowhere_else_is_counted(self):
        """keel's own messages have it in `parts` again; those of other programs do not."""
        record = {"id": "00000000-0000-7000-8000-000000000009", "messages": [
            {"role": "user", "content": "remember PELICAN"},
            {"role": "assistant", "content": "x" * (65 * MIB)},
            {"role": "user", "content": "and?"}]}
        (self.dir / "long.json").write_text(json.dumps(record))
        store = self.stores()[0]
        result = self.keel("session", "import", str(self.dir / "long.json"), "--store", store)
        self.assert_status(result, 0)
        self.assertIn("texts that are too long (1)", result.err)
        self.assert_whole(store)


class Payloads(LargeTest):
    def test_garbage_instead_of_events_is_kept_as_it_came(self):
        """One event of 30 MB that is not JSON, and that JSON would write in six times as much."""
        for store in sample(self.stores(), 1):
            with self.subTest(store=store):
                provider = self.play(ANTHROPIC, Answer(
                    [b"data: ", b"\x01\x02" * 15_000_000, b"\n\n"]), Turn("I remember PELICAN."))
                result = self.run_in(store, provider, "remember PELICAN")
                self.assert_refused(result, 1, "cannot parse an event")
                self.assert_whole(store)
                self.assert_answer(self.run_in(store, provider, "-c", "more"),
                                   "I remember PELICAN.")
                if IS_DEEP:
                    self.assert_moves(store)


class Results(LargeTest):
    """Whatever a tool gives back, the session can be read, and the model reads a part of it."""

    # What the command prints, by its first and its last byte.
    outputs = {"\\001": 16_000_000, '"': 16_000_000, "\\n": 16_700_000, "x": 16_700_000}

    def check(self, store, byte, n, settings):
        self.user_settings({**self.base_settings, **settings})
        command = f"printf BEGIN; head -c {n} /dev/zero | tr '\\0' '{byte}'; printf END"
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command=command)), Turn("Seen."),
                             Turn("I remember PELICAN."))
        self.assert_answer(self.run_in(store, provider, "remember PELICAN"), "Seen.")
        shown = json.dumps(provider.requests[1].json["messages"][-1])
        self.assertIn("BEGIN", shown)
        self.assertIn("END", shown)
        self.assertIn("tool_output with handle", shown)
        self.assert_whole(store)
        self.assert_answer(self.run_in(store, provider, "-c", "more"), "I remember PELICAN.")
        self.assert_replays(store)

    def test_output_that_is_larger_than_a_message_is_shortened(self):
        for byte, n in self.outputs.items() if IS_DEEP else [("\\001", 16_000_000)]:
            for store in self.stores(str(ord(byte[-1]))) if IS_DEEP else self.stores()[:1]:
                with self.subTest(byte, store=store):
                    self.check(store, byte, n, {})


if __name__ == "__main__":
    scripted.main()
