"""large_test.py - what can be written can be read: messages at and over their limit.

A message has one limit, counted as JSON with all its escapes. What is over it is refused before it
is sent or stored; whatever is stored verifies and is sent again when the session is resumed.
"""
import json
import os
import random

import scripted
from agent import AgentTest, Turn
from scripted import ANTHROPIC

MIB = 1 << 20
# Each is more than 32 MiB as JSON, where the text of a message stands twice.
TOO_LARGE = [b'"\\' * (20 * MIB), b"\x01" * (6 * MIB), b"x" * (17 * MIB),
             b'{"log": "line"}\n' * (2 * MIB)]
IS_DEEP = os.environ.get("KEEL_TEST_DEPTH") == "all"


class LargeTest(AgentTest):
    # The window of the model is not what is tested here.
    base_settings = {"providers": {"big": {"type": "anthropic", "model": "m",
                                           "contextWindow": 1_000_000_000}},
                     "currentProvider": "big", "compact": {"enabled": False}}

    def stores(self):
        return [f"sqlite:{self.dir}/keel.db", f"files:{self.dir}/sessions"]

    def assert_whole(self, store):
        self.assert_status(self.keel("session", "verify", "--all", "--store", store), 0)

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


if __name__ == "__main__":
    scripted.main()
