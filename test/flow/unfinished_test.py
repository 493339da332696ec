"""unfinished_test.py - answers that are none: cut off, empty, declined, withheld."""
import json

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, BY_NAME, PROTOCOLS, for_each_protocol

PIECEWISE = [protocol for protocol in PROTOCOLS if protocol.name not in ("gemini", "ollama")]
FILTERED = {"openai-chat": "content_filter", "gemini": "SAFETY"}


class Unfinished(AgentTest):
    def sent(self, request):
        return json.dumps(request.json, ensure_ascii=False)

    @for_each_protocol
    def test_an_answer_that_reached_the_output_limit_is_continued(self, protocol):
        provider = self.play(protocol, Turn("One, two, ", stop=protocol.cut_stop),
                             Turn("three, ", stop=protocol.cut_stop), Turn("four."))
        self.assert_answer(self.run_agent(protocol, provider, "count"), "One, two, three, four.")
        self.assertEqual(len(provider.requests), 3)
        self.assertIn("Continue exactly where it stopped", self.sent(provider.requests[1]))
        self.assert_taken(protocol, provider)

    @for_each_protocol
    def test_but_not_for_ever(self, protocol):
        provider = self.play(protocol, *[Turn(f"{n} ", stop=protocol.cut_stop) for n in range(9)])
        result = self.run_agent(protocol, provider, "count")
        self.assert_status(result, 5)
        self.assertEqual(len(provider.requests), 4)
        self.assertIn("the answer was cut off 4 times", result.err)
        self.assertIn("maxOutput", result.err)

    def test_what_came_before_a_call_is_no_beginning_of_the_answer(self):
        provider = self.play(ANTHROPIC, Turn("I look ", stop="max_tokens"),
                             Turn("now.", Call("Bash", command="true")), Turn(" "), Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "json", "go")
        self.assertEqual(result.json()["result"], "Done.")

    def test_the_result_tells_a_program(self):
        provider = self.play(ANTHROPIC, Turn("One, ", stop="max_tokens"), Turn("two."))
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "json", "count")
        self.assertEqual(result.json()["result"], "One, two.")
        self.assertFalse(result.json()["is_error"])
        provider = self.play(ANTHROPIC, *[Turn("x", stop="max_tokens")] * 4)
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "json", "count")
        self.assert_status(result, 5)
        self.assertTrue(result.json()["is_error"])

    def test_the_model_learns_why_its_arguments_broke_off(self):
        for protocol in PIECEWISE:
            with self.subTest(protocol.name):
                turn = Turn(Call("Write", raw='{"file_path": "a", "content": "aaa'),
                            stop=protocol.cut_stop)
                provider = self.play(protocol, turn, Turn("Done."))
                self.assert_status(self.run_agent(protocol, provider, "go"), 0)
                self.assertIn("reached the output limit", self.sent(provider.requests[1]))

    @for_each_protocol
    def test_an_empty_answer_is_asked_for_once_more(self, protocol):
        provider = self.play(protocol, Turn(" "), Turn("Done."))
        self.assert_answer(self.run_agent(protocol, provider, "go"), "Done.")
        self.assertIn("Your answer was empty", self.sent(provider.requests[1]))
        self.assert_taken(protocol, provider)
        provider = self.play(protocol, Turn(" "), Turn(" "), Turn("never"))
        result = self.run_agent(protocol, provider, "go")
        self.assert_status(result, 1)
        self.assertEqual(len(provider.requests), 2)
        self.assertIn("the model's answer is empty", result.err)

    def test_a_model_that_declines_has_not_answered(self):
        provider = self.play(ANTHROPIC, Turn("I can", stop="refusal"))
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "json", "go")
        self.assert_status(result, 1)
        self.assertTrue(result.json()["is_error"])
        self.assertEqual(len(provider.requests), 1)
        provider = self.play(ANTHROPIC, Turn("I can", stop="refusal"))
        result = self.run_agent(ANTHROPIC, provider, "go")
        self.assertIn("the model declined to answer: I can", result.err)

    def test_what_the_provider_withholds_is_told(self):
        for name, stop in FILTERED.items():
            with self.subTest(name):
                provider = self.play(BY_NAME[name], Turn("So far", stop=stop))
                result = self.run_agent(BY_NAME[name], provider, "go")
                self.assert_status(result, 1)
                self.assertIn("withheld", result.err)


if __name__ == "__main__":
    scripted.main()
