"""model_test.py - what a model is told about itself, and what of its answer is kept: thinking,
schemas, citations, searches, pictures, short names."""
import json
import uuid

import scripted
from scripted import ANTHROPIC, BY_NAME, Answer, FlowTest, event, json_answer

SEARCHED = ({"type": "message_start", "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0,
             "content_block": {"type": "text", "text": "", "citations": []}},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": "It is so."}},
            {"type": "content_block_delta", "index": 0, "delta": {
                "type": "citations_delta", "citation": {
                    "type": "web_search_result_location", "url": "https://a.example",
                    "title": "A", "encrypted_index": "x", "cited_text": "so"}}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {
                "output_tokens": 9, "server_tool_use": {"web_search_requests": 2}}},
            {"type": "message_stop"})


def searched():
    return Answer([event(value, value["type"]) for value in SEARCHED])


class Thinking(FlowTest):
    def request(self, model, *flags):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_fine(self.ask(provider, "hi", "--model", f"anthropic/{model}", *flags))
        return self.only_request(provider)

    def test_a_model_thinks_without_a_flag_and_shows_it(self):
        self.assertEqual(self.request("claude-sonnet-5-5").json["thinking"],
                         {"type": "adaptive", "display": "summarized"})
        self.assertNotIn("thinking", self.request("m").json)

    def test_a_model_with_a_budget_thinks_between_its_calls(self):
        request = self.request("claude-haiku-4-5")
        self.assertEqual(request.json["thinking"], {"type": "enabled", "budget_tokens": 31999})
        self.assertEqual(request.headers["anthropic-beta"], "interleaved-thinking-2025-05-14")

    def test_thinking_disabled_is_done_or_refused_with_the_reason(self):
        off = ("--thinking", "disabled")
        self.assertEqual(self.request("claude-sonnet-5-5", *off).json["thinking"],
                         {"type": "between_tools"})
        self.assertEqual(self.request("claude-opus-5", *off).json["thinking"],
                         {"type": "disabled"})
        provider = self.provider(ANTHROPIC.answer())
        result = self.ask(provider, "hi", "--model", "anthropic/claude-opus-5-5", *off)
        self.assert_refused(result, 2, "claude-opus-5-5 always reasons", "--effort low")
        self.assertEqual(provider.requests, [])


class Hidden(FlowTest):
    """OpenAI shows reasoning to organizations that it has verified, and refuses to others."""

    RESPONSES = BY_NAME["openai-responses"]
    REFUSED = {"error": {"message": "Your organization must be verified to generate reasoning "
                                    "summaries.", "type": "invalid_request_error",
                         "param": "reasoning.summary", "code": "unsupported_value"}}

    def talk(self, provider, *arguments):
        return self.ask(provider, "--model", "openai/gpt-6.1-sol", *arguments, "hi",
                        protocol=self.RESPONSES)

    def test_its_text_is_asked_for_without_a_flag(self):
        provider = self.provider(self.RESPONSES.answer())
        self.assert_fine(self.talk(provider))
        self.assertEqual(self.only_request(provider).json["reasoning"], {"summary": "auto"})

    def test_who_may_not_see_it_gets_the_answer_without_it(self):
        for flags, left in (((), None), (("--effort", "high"), {"effort": "high"})):
            provider = self.provider(json_answer(self.REFUSED, 400), self.RESPONSES.answer())
            session = str(uuid.uuid4())
            self.assert_fine(self.talk(provider, "--session-id", session, *flags))
            self.assertEqual([request.json.get("reasoning") for request in provider.requests],
                             [{**(left or {}), "summary": "auto"}, left])
            self.assert_status(self.keel("session", "replay", session), 0)

    def test_and_the_session_does_not_ask_again(self):
        provider = self.provider(json_answer(self.REFUSED, 400), self.RESPONSES.answer())
        self.assert_fine(self.talk(provider))
        self.assert_status(self.talk(provider, "-c"), 0)
        self.assertEqual(len(provider.requests), 3)
        self.assertNotIn("reasoning", provider.requests[2].json)

    def test_a_provider_that_refuses_it_all_the_same_is_not_asked_for_ever(self):
        provider = self.provider(json_answer(self.REFUSED, 400))
        self.assert_refused(self.talk(provider), 1, "must be verified")
        self.assertEqual(len(provider.requests), 2)


class OfOtherVendors(FlowTest):
    def request(self, vendor, *flags):
        provider = self.provider(BY_NAME["openai-chat"].answer())
        model = () if "--model" in flags else ("--model", f"{vendor}/m")
        self.assert_fine(self.keel("-p", *model, *flags, "hi", env={
            f"{vendor.upper()}_API_KEY": scripted.KEY, f"{vendor.upper()}_BASE_URL": provider.url}))
        return self.only_request(provider).json

    def test_an_effort_goes_out_as_a_level_that_they_take(self):
        for vendor in ("zai", "moonshot"):
            for asked, sent in (("low", "low"), ("medium", "high"), ("xhigh", "high"),
                                ("max", "max")):
                with self.subTest(f"{vendor} {asked}"):
                    request = self.request(vendor, "--effort", asked)
                    self.assertEqual(request["reasoning_effort"], sent)
                    self.assertEqual(request["thinking"]["type"], "enabled")
            request = self.request(vendor, "--thinking", "disabled")
            self.assertEqual(request["thinking"], {"type": "disabled"})
            self.assertNotIn("reasoning_effort", request)

    def test_thoughts_of_earlier_turns_are_kept_without_a_flag(self):
        request = self.request("zai")
        self.assertEqual(request["thinking"], {"type": "enabled", "clear_thinking": False})
        self.assertNotIn("reasoning_effort", request)
        kept = ("--model", "moonshot/kimi-k2.6")
        self.assertEqual(self.request("moonshot", *kept)["thinking"],
                         {"type": "enabled", "keep": "all"})
        self.assertNotIn("thinking", self.request("moonshot", "--model", "moonshot/kimi-k2.5"))
        request = self.request("dashscope")
        self.assertIs(request["preserve_thinking"], True)
        self.assertNotIn("enable_thinking", request)

    def test_without_thinking_nothing_is_kept(self):
        off = ("--thinking", "disabled")
        self.assertEqual(self.request("zai", *off)["thinking"], {"type": "disabled"})
        self.assertEqual(self.request("moonshot", "--model", "moonshot/kimi-k2.6", *off)["thinking"],
                         {"type": "disabled"})
        request = self.request("dashscope", *off)
        self.assertIs(request["enable_thinking"], False)
        self.assertNotIn("preserve_thinking", request)

    def test_glm_streams_its_calls(self):
        self.assertIs(self.request("zai")["tool_stream"], True)
        self.assertNotIn("tool_stream", self.request("zai", "--tools", ""))


class Names(FlowTest):
    def test_a_family_is_its_newest_model_and_shown_as_that(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.ask(provider, "hi", "--model", "opus[1m]", "--output-format", "json")
        self.assert_fine(result)
        self.assertEqual(self.only_request(provider).json["model"], "claude-opus-5-5")
        self.assertEqual(list(result.json()["modelUsage"]), ["m"])  # the one that answered


class Schemas(FlowTest):
    def test_limits_that_the_api_refuses_are_told_in_words_and_checked_here(self):
        schema = {"type": "object", "properties": {"x": {"type": "number", "minimum": 0}},
                  "required": ["x"]}
        for text, status in (('{"x": 1}', 0), ('Here:\n```json\n{"x": 2}\n```', 0), ('{"x": -1}', 2)):
            provider = self.provider(ANTHROPIC.answer([text]))
            result = self.ask(provider, "hi", "--json-schema", json.dumps(schema))
            self.assert_status(result, status)
            sent = provider.requests[0].json["output_config"]["format"]["schema"]
            self.assertEqual(sent, {
                "type": "object", "required": ["x"], "additionalProperties": False,
                "properties": {"x": {"type": "number", "description": "{minimum: 0}"}}})


class Citations(FlowTest):
    def test_citations_go_back_and_searches_are_counted_and_paid(self):
        provider = self.provider(searched(), ANTHROPIC.answer())
        model = ("--model", "anthropic/claude-sonnet-5")
        result = self.ask(provider, "look", *model, "--output-format", "stream-json", "--verbose")
        self.assert_fine(result)
        lines = [json.loads(line) for line in result.out.splitlines()]
        [text] = [line["message"]["content"][0] for line in lines if line["type"] == "assistant"]
        self.assertEqual(text["citations"][0]["url"], "https://a.example")
        self.assertEqual(lines[-1]["usage"]["server_tool_use"]["web_search_requests"], 2)
        self.assertGreater(lines[-1]["total_cost_usd"], 0.02)
        self.assert_fine(self.ask(provider, "and now?", *model, "--continue"))
        said = [m for m in provider.requests[1].json["messages"] if m["role"] == "assistant"]
        self.assertEqual(said[0]["content"], [text])


class Tags(FlowTest):
    def test_what_a_local_model_thinks_in_its_text_is_not_the_answer(self):
        provider = self.provider(json_answer({"model": "m", "done": True, "done_reason": "stop",
                                              "message": {"role": "assistant", "content":
                                                          "<think>Hm.</think>\n\nFour."}}))
        result = self.ask(provider, "2+2?", protocol=scripted.BY_NAME["ollama"])
        self.assert_answer(result, "Four.")

    def test_thoughts_whose_beginning_stands_in_the_prompt_are_not_the_answer(self):
        chat = scripted.BY_NAME["openai-chat"]
        provider = self.provider(chat.answer(["Let me ", "see.\n</thi", "nk>\n\nFour."]))
        self.user_settings({"providers": {"local": {
            "type": "vllm", "baseUrl": provider.url + "/v1", "model": "m"}}})
        result = self.keel("-p", "--model", "local/m", "--output-format", "stream-json",
                           "--verbose", "2+2?")
        self.assert_status(result, 0)
        lines = [json.loads(line) for line in result.out.splitlines()]
        said = [block for line in lines if line["type"] == "assistant"
                for block in line["message"]["content"]]
        self.assertEqual([block["type"] for block in said], ["thinking", "text"])
        self.assertEqual(lines[-1]["result"], "Four.")


if __name__ == "__main__":
    scripted.main()
