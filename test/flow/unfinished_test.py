"""unfinished_test.py - answers that are none: cut off, empty, declined, withheld."""
import json

import scripted
from agent import AgentTest, Call, Reader, Turn
from resume_test import SessionTest
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
                result = [line for line in Reader(protocol, provider.requests[1]).lines
                          if line.startswith("  result")]
                self.assertEqual(result, ["  result #1 " + repr(
                    "Error: Your answer reached the output limit before the arguments of Write were "
                    "complete, so the call was not executed. Send less in one call: write a long "
                    "file in parts. Received: "
                    + json.dumps('{"file_path": "a", "content": "aaa'))])

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

    def test_an_end_that_keel_does_not_know_is_reported(self):
        for name, stop in (("anthropic-messages", "novel"), ("openai-chat", "novel"),
                           ("gemini", "OTHER"), ("ollama", "novel")):
            with self.subTest(name):
                protocol = BY_NAME[name]
                provider = self.play(protocol, Turn("Partly.", stop=stop))
                result = self.run_agent(protocol, provider, "go")
                self.assert_status(result, 0)
                self.assertEqual(result.out, "Partly.\n")
                self.assertIn("the answer may be incomplete", result.err)
                self.assertIn(f"({stop})", result.err)

    def test_a_call_that_was_announced_and_did_not_come_is_reported(self):
        for name, stop in (("anthropic-messages", "tool_use"), ("openai-chat", "tool_calls")):
            with self.subTest(name):
                protocol = BY_NAME[name]
                provider = self.play(protocol, Turn("I look.", stop=stop))
                result = self.run_agent(protocol, provider, "go")
                self.assertEqual((result.status, result.out), (0, "I look.\n"))
                self.assertIn("announced a tool call but sent none", result.err)

    def test_a_call_that_the_provider_could_not_read_is_asked_for_again(self):
        protocol = BY_NAME["gemini"]
        for said in (Turn("I edit.", stop="MALFORMED_FUNCTION_CALL"),
                     Turn("", stop="UNEXPECTED_TOOL_CALL")):
            provider = self.play(protocol, said, Turn(Call("Bash", command="echo ran")),
                                 Turn("Done."))
            self.assert_answer(self.run_agent(protocol, provider, "go"), "Done.")
            self.assertIn("Make the call again", self.sent(provider.requests[1]))
            self.assertIn("ran", self.sent(provider.requests[2]))
            self.assert_taken(protocol, provider)

    def test_but_three_times_only(self):
        protocol = BY_NAME["gemini"]
        provider = self.play(protocol, *[Turn("I edit.", stop="MALFORMED_FUNCTION_CALL")] * 5)
        result = self.run_agent(protocol, provider, "go")
        self.assert_status(result, 1)
        self.assertEqual(len(provider.requests), 4)
        self.assertIn("could not parse the model's tool calls 4 times in a row "
                      "(MALFORMED_FUNCTION_CALL)", result.err)

    def test_a_model_that_declines_has_not_answered(self):
        provider = self.play(ANTHROPIC, Turn("I can", stop="refusal"))
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "json", "go")
        self.assert_status(result, 1)
        self.assertTrue(result.json()["is_error"])
        self.assertEqual(len(provider.requests), 1)
        provider = self.play(ANTHROPIC, Turn("I can", stop="refusal"))
        result = self.run_agent(ANTHROPIC, provider, "go")
        self.assertIn("the model declined to answer: I can", result.err)

    def test_why_the_model_declines_is_told_where_it_says_so(self):
        details = {"type": "refusal", "category": "cyber", "explanation": "It asks for malware.",
                   "recommended_model": "claude-opus-5"}
        answer = self.encode(ANTHROPIC, Turn("I can", stop="refusal"))
        answer.pieces = [piece.replace(b'"stop_reason": "refusal"', b'"stop_reason": "refusal", '
                                       b'"stop_details": ' + json.dumps(details).encode())
                         for piece in answer.pieces]
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, answer), "go")
        self.assert_status(result, 1)
        self.assertIn("the model declined to answer: I can [It asks for malware. (cyber); the "
                      "provider recommends claude-opus-5]", result.err)

    def test_the_reason_for_which_all_is_withheld_is_told(self):
        blocked = scripted.event({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
        cut = scripted.event({"type": "response.incomplete", "response": {
            "id": "r", "status": "incomplete", "output": [],
            "incomplete_details": {"reason": "content_filter"}}}, "response.incomplete")
        for name, piece, why in (("gemini", blocked, "PROHIBITED_CONTENT"),
                                 ("openai-responses", cut, "content_filter")):
            protocol = BY_NAME[name]
            provider = self.play(protocol, scripted.Answer([piece]))
            self.assert_refused(self.run_agent(protocol, provider, "go"), 1,
                                f"the provider withheld the answer ({why})")

    def test_what_the_provider_withholds_is_told(self):
        for name, stop in FILTERED.items():
            with self.subTest(name):
                provider = self.play(BY_NAME[name], Turn("So far", stop=stop))
                result = self.run_agent(BY_NAME[name], provider, "go")
                self.assert_status(result, 1)
                self.assertIn("withheld", result.err)


SCHEMA = {"type": "object", "required": ["n"], "additionalProperties": False,
          "properties": {"n": {"type": "integer", "minimum": 3}}}


class Shapes(SessionTest):
    """Answers that do not fit --json-schema go back to the model with what is wrong."""

    def ask_for(self, provider, *arguments, protocol=ANTHROPIC, prompt="go"):
        return self.run_agent(protocol, provider, "--json-schema", json.dumps(SCHEMA), *arguments,
                              *([prompt] if prompt else []))

    def said(self, request):
        """The last text that the model read."""
        return request.prompt_texts()[-1]

    @for_each_protocol
    def test_the_model_reads_what_is_wrong_and_mends_it(self, protocol):
        provider = self.play(protocol, Turn('{"n": 1, "m": 2}'), Turn("Sure: three"),
                             Turn('{"n": 3}'))
        self.assert_answer(self.ask_for(provider, protocol=protocol), '{"n":3}')
        self.assertEqual(len(provider.requests), 3)
        first, second = map(self.said, provider.requests[1:])
        self.assertIn("/n", first)
        self.assertIn("m", first)
        self.assertIn("the answer is not JSON", second)
        for said in (first, second):
            self.assertIn("Answer again, with the JSON value alone", said)
        self.assert_taken(protocol, provider)

    def test_three_times_and_then_it_is_an_error(self):
        for format in ("text", "json"):
            provider = self.play(ANTHROPIC, Turn('{"n": 2}'))
            result = self.ask_for(provider, "--output-format", format)
            self.assert_status(result, 2)
            self.assertEqual(len(provider.requests), 4)
            self.assertIn("the answer does not fit the schema: /n", result.err)
            self.assertIn("the model tried 3 more times", result.err)
        last = result.json()
        self.assertEqual((last["subtype"], last["error_code"], last["num_turns"]),
                         ("error_max_structured_output_retries", "validation", 4))
        self.assertNotIn("structured_output", last)

    def test_lines_have_every_answer_and_the_value_that_fits(self):
        provider = self.play(ANTHROPIC, Turn('{"n": 2}'), Turn('{"n": 4}'))
        result = self.ask_for(provider, "--output-format", "stream-json")
        lines = [json.loads(line) for line in result.out.splitlines()]
        texts = [line["message"]["content"][0]["text"] for line in lines
                 if line["type"] == "assistant"]
        self.assertEqual(texts, ['{"n": 2}', '{"n": 4}'])
        self.assertEqual((lines[-1]["subtype"], lines[-1]["structured_output"]),
                         ("success", {"n": 4}))

    def test_tools_may_be_called_to_mend_it(self):
        provider = self.play(ANTHROPIC, Turn("no"), Turn(Call("Bash", command="echo 5")),
                             Turn('{"n": 5}'))
        self.assert_answer(self.ask_for(provider), '{"n":5}')

    def test_the_limit_of_rounds_holds(self):
        provider = self.play(ANTHROPIC, Turn("no"), Turn("no"), Turn('{"n": 5}'))
        self.assert_status(self.ask_for(provider, "--max-turns", "1"), 2)
        self.assertEqual(len(provider.requests), 2)
        provider = self.play(ANTHROPIC, Turn("no"), Turn('{"n": 5}'))
        result = self.ask_for(provider, "--max-turns", "1")
        self.assert_status(result, 0)
        self.assertEqual(result.out, '{"n":5}\n')

    def test_the_budget_holds(self):
        provider = self.play(ANTHROPIC, Turn("no", usage=(90_000, 9_000)), Turn('{"n": 5}'))
        self.assert_status(self.ask_for(provider, "--max-tokens-total", "100000"), 5)
        self.assertEqual(len(provider.requests), 1)

    def test_a_failure_in_between_prints_nothing_that_does_not_fit(self):
        provider = self.play(ANTHROPIC, Turn("no"), scripted.json_answer({"error": "x"}, 400))
        result = self.ask_for(provider)
        self.assert_refused(result, 1, "HTTP 400")

    def test_a_long_complaint_is_cut(self):
        provider = self.play(ANTHROPIC, Turn(json.dumps({"x" * 100_000: 1})), Turn('{"n": 5}'))
        self.assert_answer(self.ask_for(provider), '{"n":5}')
        self.assertLess(len(self.said(provider.requests[1])), 5000)

    def killed(self, session, *turns):
        """A run that is killed while its last request is under way."""
        provider = self.play(ANTHROPIC, *turns, Turn([self.hold()]))
        process = self.start_agent(ANTHROPIC, provider, "--json-schema", json.dumps(SCHEMA),
                                   "--session-id", session, "go")
        self.wait_stored(session, "attempt_begin", len(turns) + 1)
        self.kill(process)

    def test_a_resumed_run_counts_the_answers_before(self):
        session = self.new_id()
        self.killed(session, Turn("no"), Turn("no"))
        provider = self.play(ANTHROPIC, Turn("still no"))
        self.assert_status(self.ask_for(provider, "-r", session, prompt=None), 2)
        self.assertEqual(len(provider.requests), 2)

    def test_a_resumed_run_has_the_answer_from_its_beginning(self):
        session = self.new_id()
        self.killed(session, Turn('{"n"', stop="max_tokens"))
        provider = self.play(ANTHROPIC, Turn(": 7}"))
        self.assert_answer(self.ask_for(provider, "-r", session, prompt=None), '{"n":7}')


if __name__ == "__main__":
    scripted.main()
