"""prefix_test.py - requests that grow: each begins with the bytes of the one before it.

Providers keep what they have read of a prompt, and charge a tenth for it the next time, but only up
to the first byte that differs.
"""
import json
import re

import scripted
from agent import AgentTest, Call, Thought, Turn
from scripted import for_each_protocol


def split_list(body):
    """The list of messages as it was sent, without its end, and everything else."""
    text = body.decode("utf-8")
    for name in ("messages", "input", "contents"):
        at = re.search(rf'(?<!\\)"{name}": ?(?=\[)', text)
        if at:
            _, end = json.JSONDecoder().raw_decode(text, at.end())
            return text[at.end():end - 1], text[:at.end()] + text[end:]
    raise AssertionError("a request without messages")


class Prefix(AgentTest):
    def assert_grows(self, provider):
        pairs = [split_list(request.body) for request in provider.requests]
        for (before, rest), (after, rest_after) in zip(pairs, pairs[1:]):
            self.assertEqual(after[:len(before)], before)
            self.assertGreater(len(after), len(before))
            self.assertEqual(rest_after, rest)

    @for_each_protocol
    def test_ten_rounds_of_tools(self, protocol):
        (self.project / "a.txt").write_text("one\ntwo\n")
        rounds = [
            Turn("I look.", Call("Read", file_path="a.txt")),
            Turn(Thought("Hm."), Call("Bash", command="echo 1"), Call("Bash", command="echo 2")),
            Turn(Call("Edit", file_path="a.txt", old_string="two", new_string="2")),
            Turn("Wörter \u2014 \U0001f600", Call("Grep", pattern="2", output_mode="content")),
            Turn(Call("Teleport", where="Mars")),
            Turn(Call("Bash", id="call_1", command="false"), Call("Bash", id="call_1",
                                                                   command="printf '\\377'")),
            Turn(" ", Call("Bash", command="seq 100000")),
            Turn(Call("Bash", command=7)),
            Turn(Call("Glob", pattern="*.none")),
            Turn(Call("TodoWrite", todos=[{"content": "c", "status": "pending",
                                           "activeForm": "f"}])),
            Turn("Done.")]
        provider = self.play(protocol, *rounds)
        result = self.run_agent(protocol, provider, "go")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "Done.\n")
        self.assertEqual(len(provider.requests), 11)
        self.assert_grows(provider)
        self.assert_taken(protocol, provider)

    @for_each_protocol
    def test_a_request_that_is_made_again_is_the_same(self, protocol):
        busy = scripted.json_answer({"error": {"message": "busy"}}, 503, retry_after_ms="1")
        provider = self.play(protocol, Turn("I look.", Call("Bash", command="true")), busy,
                             Turn(["Half", scripted.HANG_UP]), Turn("Done."))
        self.assert_answer(self.run_agent(protocol, provider, "go"), "Done.")
        self.assertEqual(provider.requests[1].body, provider.requests[2].body)
        self.assertEqual(provider.requests[1].body, provider.requests[3].body)

    @for_each_protocol
    def test_the_forced_last_turn_keeps_the_messages(self, protocol):
        provider = self.play(protocol, Turn("I look.", Call("Bash", command="true")),
                             Turn("As far as I got."))
        self.run_agent(protocol, provider, "--max-turns", "1", "go")
        before, after = [split_list(request.body)[0] for request in provider.requests]
        self.assertTrue(after.startswith(before))

    @for_each_protocol
    def test_two_runs_ask_alike(self, protocol):
        bodies = []
        for _ in range(2):
            provider = self.play(protocol, Turn("Done."))
            self.run_agent(protocol, provider, "go")
            bodies.append(provider.requests[0].body)
        if protocol.name in ("openai-chat", "openai-responses"):
            bodies = [re.sub(rb'"prompt_cache_key":"[^"]*"', b"", body) for body in bodies]
        self.assertEqual(*bodies)


if __name__ == "__main__":
    scripted.main()
