"""mock_test.py - keel -p against a strict mock that refuses what real providers refuse.

The mock is a Node program beside the vectors; without it or Node the tests are counted as skipped.
"""
import json
import shutil
import socket
import subprocess
import unittest

import scripted
from scripted import BY_NAME, FlowTest

MOCK = scripted.keel_test.SHARED / "tools/mock.mjs"
NODE = shutil.which("node") or shutil.which("nodejs")

# The mock streams at length only to those who offer a tool; options put one into the request.
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
TOOLS = {
    "anthropic-messages": [{"name": "Bash", "description": "d", "input_schema": SCHEMA}],
    "openai-chat": [{"type": "function", "function": {"name": "Bash", "parameters": SCHEMA}}],
    "openai-responses": [{"type": "function", "name": "Bash", "parameters": SCHEMA}],
    "gemini": [{"functionDeclarations": [{"name": "Bash", "parametersJsonSchema": SCHEMA}]}],
}


def piece(number):
    """The text that the mock streams as its piece of this number."""
    digits, value = "", ((number + 1) * 2654435761) % 2**32
    while value:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return " " + (digits or "0")


@unittest.skipUnless(NODE and MOCK.exists(), "Node or the mock provider is not there")
class StrictMock(FlowTest):
    @classmethod
    def setUpClass(cls):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        cls.url = f"http://127.0.0.1:{cls.port}"
        # its log is a line of JSON when it listens, then one for each request
        cls.process = subprocess.Popen([NODE, str(MOCK), str(cls.port), "/dev/stdout"],
                                       stdout=subprocess.PIPE)
        cls.process.stdout.readline()

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(scripted.HANG_SECONDS)
        cls.process.stdout.close()

    def ask_mock(self, name, prompt, **profile):
        protocol = BY_NAME[name]
        self.user_settings({"providers": {"mock": {
            "type": name, "baseUrl": self.url + protocol.prefix, "model": "m", "apiKey": "k",
            "contextWindow": 100_000,
            **profile}}})
        result = self.keel("-p", "--append-system-prompt", "Be brief.", prompt)
        self.assert_fine(result)
        log = json.loads(self.process.stdout.readline())
        self.assertNotEqual(log.get("kind"), "refused", log)
        return result, log

    def test_every_protocol_is_taken_and_answered(self):
        for name in TOOLS:
            with self.subTest(name):
                result, log = self.ask_mock(name, "SCN: hello")
                self.assert_answer(result, "Hello there.")
                self.assertTrue(log["stream"])

    def test_two_thousand_pieces_arrive_in_order(self):
        want = "".join(piece(number) for number in range(2000))
        for name, tools in TOOLS.items():
            with self.subTest(name):
                result, log = self.ask_mock(name, "SCN: stream 2000", options={"tools": tools})
                self.assertEqual(log["scn"], "stream")
                self.assert_answer(result, want)


if __name__ == "__main__":
    scripted.main()
