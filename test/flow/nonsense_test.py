"""nonsense_test.py - what a model should not send: the run goes on, and providers take the rest.

Whatever came stands in the next request, so every one of them is checked against the rules that
strict providers have.
"""
import functools
import json

import scripted
from agent import AgentTest, Call, Thought, Turn
from scripted import ANTHROPIC, BY_NAME, for_each_protocol

PIECEWISE = [BY_NAME[name] for name in ("anthropic-messages", "openai-chat", "openai-responses")]


def for_each_piecewise(test):
    """For the protocols whose arguments are a text, which may be broken."""
    @functools.wraps(test)
    def run_all(self):
        for protocol in PIECEWISE:
            with self.subTest(protocol.name):
                test(self, protocol)
    return run_all


def assert_not_run(test, results, *texts):
    test.assertEqual(len(results), 1)
    for text in ("not executed", *texts):
        test.assertIn(text, results[0])


class Calls(AgentTest):
    @for_each_protocol
    def test_names_that_no_tool_has(self, protocol):
        for name in ("", "functions.Bash", "B\u00e4sh\x1b[2J\n\"", "x" * 300):
            with self.subTest(name):
                results = self.results_of(protocol, Turn(Call(name, command="touch made")))
                assert_not_run(self, results, "is not registered", "Available tools: Bash, ")
        self.assertFalse((self.project / "made").exists())

    @for_each_protocol
    def test_ids_that_no_provider_gives(self, protocol):
        for id in ("a b/\u00e9|\x00", "x" * 300):
            with self.subTest(id):
                results = self.results_of(protocol, Turn(Call("Bash", id=id, command="echo ran")))
                self.assertEqual(results, [r"  result #1 'ran\n'"])

    @for_each_protocol
    def test_one_id_for_all_calls_of_an_answer(self, protocol):
        results = self.results_of(protocol, Turn(
            Call("Bash", id="c", command="echo 1"), Call("Bash", id="c", command="echo 2"),
            Call("Bash", id="c_2", command="echo 3"), Call("Bash", id="c", command="echo 4")))
        self.assertEqual(results, [rf"  result #{i} '{i}\n'" for i in range(1, 5)])

    @for_each_protocol
    def test_a_call_though_the_model_says_that_it_is_done(self, protocol):
        stop = {"anthropic-messages": "end_turn", "openai-chat": "stop"}.get(protocol.name)
        results = self.results_of(protocol, Turn("I look.", Call("Bash", command="echo ran"),
                                                stop=stop))
        self.assertEqual(results, [r"  result #1 'ran\n'"])


class Arguments(AgentTest):
    @for_each_piecewise
    def test_that_are_no_object(self, protocol):
        for raw in ("[1]", '"touch made"', "7", "true", "touch made", '{"command": "touch made"'):
            with self.subTest(raw):
                assert_not_run(self, self.results_of(protocol, Turn(Call("Bash", raw=raw))))
        self.assertFalse((self.project / "made").exists())

    @for_each_piecewise
    def test_that_are_nested_deep(self, protocol):
        for depth in (300, 100_000):
            with self.subTest(depth):
                raw = '{"command": ' + "[" * depth + "]" * depth + "}"
                assert_not_run(self, self.results_of(protocol, Turn(Call("Bash", raw=raw))))

    @for_each_piecewise
    def test_that_are_cut_off_with_the_answer(self, protocol):
        for raw in ("", '{"command": "touch ma'):
            with self.subTest(raw):
                turn = Turn("I touch.", Call("Bash", raw=raw), stop=protocol.cut_stop)
                assert_not_run(self, self.results_of(protocol, turn))

    def test_with_a_name_twice_count_once_and_are_judged_as_they_run(self):
        for protocol in PIECEWISE:
            raw = '{"command": "touch made", "command": "echo last"}'
            results = self.results_of(protocol, Turn(Call("Bash", raw=raw)))
            self.assertEqual(results, [r"  result #1 'last\n'"])
        self.assertFalse((self.project / "made").exists())

    @for_each_protocol
    def test_with_characters_that_are_none(self, protocol):
        raw = r'{"command": "printf %s \"\ud800 \u0007\"; printf \"\\377\\000\""}'
        results = self.results_of(protocol, Turn(Call("Bash", raw=raw)))
        self.assertEqual(len(results), 1)


class Texts(AgentTest):
    nasty = "\x1b]0;title\x07\x00a\u009b31m\x1b[2J"

    def play_raw(self, protocol, text):
        """An answer whose text has bytes that no encoder of ours would send."""
        answer = self.encode(protocol, Turn("PLACE"))
        answer.pieces = [piece.replace(b"PLACE", text) for piece in answer.pieces]
        return self.play(protocol, answer)

    @for_each_protocol
    def test_with_bytes_that_are_no_text(self, protocol):
        provider = self.play_raw(protocol, b"a\xff\xc3(\xed\xa0\x80\\ud800z")
        result = self.run_agent(protocol, provider, "--output-format", "stream-json", "hi")
        self.assert_fine(result)
        last = json.loads(result.raw.decode("utf-8").splitlines()[-1])
        self.assertRegex(last["result"], "\\Aa\ufffd+\\(\ufffd+z\\Z")

    @for_each_protocol
    def test_cannot_steer_a_terminal(self, protocol):
        provider = self.play(protocol, Turn(self.nasty, Call("Bash", command=f"true {self.nasty}")),
                             Turn("Well."))
        result = self.on_terminal("-p", "--verbose", "--model", f"{protocol.vendor}/m",
                                  "--permission-mode", "bypassPermissions", "hi",
                                  env={**protocol.environment(provider), "NO_COLOR": "1"})
        self.assert_status(result, 0)
        self.assertIn("\\x1b]0;title\\x07", result.out)
        self.assertNotRegex(result.out, "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

    def test_in_a_name_cannot_steer_a_terminal(self):
        provider = self.play(ANTHROPIC, Turn(Call(self.nasty)), Turn(Call(self.nasty)),
                             Turn("Well."))
        for mode in ("plan", "bypassPermissions"):
            result = self.on_terminal("-p", "--verbose", "--model", "anthropic/m",
                                      "--permission-mode", mode, "hi",
                                      env={**ANTHROPIC.environment(provider), "NO_COLOR": "1"})
            self.assertNotRegex(result.out, "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

    @for_each_protocol
    def test_that_are_none(self, protocol):
        for turn in (Turn(), Turn(""), Turn(" \n\t "), Turn(Thought("Hm."))):
            provider = self.play(protocol, turn)
            result = self.run_agent(protocol, provider, "hi")
            self.assert_status(result, 1)
            self.assertEqual(result.out.strip(), "")
            self.assertIn("the model's answer is empty", result.err)


class Streams(AgentTest):
    @for_each_protocol
    def test_what_comes_after_the_end_is_not_read(self, protocol):
        for is_new in (False, True):
            answer = self.encode(protocol, Turn("Done."))
            late = self.encode(protocol, Turn(Call("Bash", command="touch made"), "Late."))
            answer.pieces += [piece for piece in late.pieces if is_new or
                              b"message_start" not in piece and b"created" not in piece]
            # in one piece, or nothing behind the end would be looked at at all
            answer.pieces = [b"".join(answer.pieces)]
            provider = self.play(protocol, answer, Turn("Well."))
            self.assert_answer(self.run_agent(protocol, provider, "hi"), "Done.")
            self.assertFalse((self.project / "made").exists())

    def test_a_call_is_not_read_after_the_models_last_word(self):
        """Counts may follow it in these, so the stream itself has not ended."""
        for name in ("openai-chat", "gemini"):
            with self.subTest(name):
                protocol = BY_NAME[name]
                answer = self.encode(protocol, Turn("Done."))
                late = self.encode(protocol, Turn(Call("Bash", command="touch made")))
                pieces = list(answer.pieces)
                n_last = 2 if name == "openai-chat" else 0  # usage and [DONE]
                end = len(pieces) - n_last
                answer.pieces = pieces[:end] + list(late.pieces) + pieces[end:]
                provider = self.play(protocol, answer, Turn("Well."))
                self.assert_answer(self.run_agent(protocol, provider, "hi"), "Done.")
                self.assertFalse((self.project / "made").exists())


if __name__ == "__main__":
    scripted.main()
