"""cost_test.py - what a run has taken: every attempt counts, and the sums are exact.

Money is counted in whole micro-cents (1e-8 USD). An attempt's price is rounded up once, so the
expected values below are the sums of what is written beside them.
"""
import decimal
import json
import signal

import scripted
from agent import AgentTest, Call, Turn, answered_by
from scripted import ANTHROPIC, BY_NAME, HANG_UP, for_each_protocol, json_answer
from web_model_test import USAGE, XAI, found

CHAT = BY_NAME["openai-chat"]

# USD per million tokens; a token in costs 12.3457 micro-cents, one out 700.0001, one read 1.25
PRICE = {"input": 0.123457, "output": 7.000001, "cacheRead": 0.0125}


def in_microcents(usd):
    exact = usd * 10**8
    assert exact == exact.to_integral_value(), f"{usd} has a fraction of a micro-cent"
    return int(exact)


class CostTest(AgentTest):
    def price(self, *names, **more):
        self.user_settings({"pricing": {name: PRICE for name in names}, **more})

    def result(self, result):
        line = json.loads(result.out.splitlines()[-1], parse_float=decimal.Decimal,
                          parse_int=decimal.Decimal)
        self.assertEqual(line["type"], "result")
        return line

    def assert_took(self, result, microcents, tokens):
        """tokens: fresh input, output, read from the cache; of the whole run."""
        line = self.result(result)
        usage = line["usage"]
        self.assertEqual(in_microcents(line["total_cost_usd"]), microcents)
        self.assertEqual((usage["input_tokens"], usage["output_tokens"],
                          usage["cache_read_input_tokens"]), tokens)
        models = line["modelUsage"].values()
        self.assertEqual(sum(in_microcents(model["costUSD"]) for model in models), microcents)
        self.assertEqual((sum(model["inputTokens"] for model in models),
                          sum(model["outputTokens"] for model in models),
                          sum(model["cacheReadInputTokens"] for model in models)), tokens)
        return line

    def run_json(self, protocol, provider, *arguments, **run):
        return self.run_agent(protocol, provider, "--output-format", "json", *arguments, "hi",
                              **run)


class Searches(CostTest):
    """Searches that the provider makes itself have a price of their own."""

    # dollars a million tokens, and micro-cents for a search, as the vendors document them
    MODELS = [("openai-responses", "openai/gpt-6.1-sol", (2, 10, 1_000_000)),
              ("gemini", "gemini/gemini-3.8-flash", (1.5, 7.5, 1_400_000)),
              ("gemini", "gemini/gemini-2.5-flash", (0.3, 2.5, 3_500_000)),
              (XAI, "xai/grok-4.5", (2, 6, 500_000))]

    def test_are_counted_and_paid_for(self):
        self.user_settings({"webSearch": {"provider": "native"}})
        for protocol, model, prices in self.MODELS:
            with self.subTest(model):
                protocol = BY_NAME.get(protocol, protocol)
                provider = self.provider(found(protocol))
                result = self.keel("-p", "--model", model, "--output-format", "json", "hi",
                                   env=protocol.environment(provider))
                self.assert_status(result, 0)
                tokens = (USAGE[0] * prices[0] + USAGE[1] * prices[1]) * 100
                line = self.assert_took(result, tokens + prices[2], (*USAGE, 0))
                self.assertEqual(line["usage"]["server_tool_use"]["web_search_requests"], 1)

    def test_of_the_tool_are_counted_too(self):
        protocol = BY_NAME["openai-responses"]
        provider = self.play(protocol, Turn(Call("WebSearch", query="c arenas")), found(protocol),
                             Turn("Done."))
        result = self.keel("-p", "--model", "openai/gpt-6.1-sol", "--output-format", "json",
                           "--allowedTools", "WebSearch", "hi", env=protocol.environment(provider))
        self.assert_status(result, 0)
        self.assertEqual(len(provider.requests), 3)
        line = self.result(result)
        self.assertEqual(line["usage"]["server_tool_use"]["web_search_requests"], 1)
        self.assertGreater(line["total_cost_usd"], decimal.Decimal("0.01"))


class PromptCache(CostTest):
    """How long a prompt is kept, and what that costs."""

    def ask_with(self, word, protocol=ANTHROPIC, model="anthropic/claude-sonnet-5-5"):
        self.user_settings({"promptCache": word} if word else {})
        provider = self.play(protocol, Turn("Yes."))
        result = self.keel("-p", "--model", model, "--output-format", "json", "hi",
                           env=protocol.environment(provider))
        return provider, result

    def written(self, word):
        """What a million tokens cost that are written to the cache."""
        self.user_settings({"promptCache": word})
        answer = json_answer({"id": "m", "type": "message", "role": "assistant", "model": "m",
                              "content": [{"type": "text", "text": "Yes."}],
                              "stop_reason": "end_turn", "usage": {
                                  "input_tokens": 0, "output_tokens": 0,
                                  "cache_creation_input_tokens": 100_000}})
        provider = self.provider(answer)
        result = self.keel("-p", "--model", "anthropic/claude-sonnet-5-5", "--output-format", "json",
                           "hi", env=ANTHROPIC.environment(provider))
        return self.result(result)["total_cost_usd"] * 10

    def test_anthropic_is_told_how_long(self):
        for word, want in ((None, {"type": "ephemeral"}), ("5m", {"type": "ephemeral"}),
                           ("1h", {"type": "ephemeral", "ttl": "1h"}), ("off", None)):
            provider, result = self.ask_with(word)
            self.assert_status(result, 0)
            self.assertEqual(provider.requests[0].json.get("cache_control"), want)

    def test_openai_keeps_it_for_a_day(self):
        protocol = BY_NAME["openai-responses"]
        for word, want in (("5m", None), ("1h", "24h")):
            provider, result = self.ask_with(word, protocol, "openai/gpt-6.1-sol")
            self.assert_status(result, 0)
            self.assertEqual(provider.requests[0].json.get("prompt_cache_retention"), want)
        provider, _ = self.ask_with("1h", XAI, "xai/grok-4.7")
        self.assertNotIn("prompt_cache_retention", provider.requests[0].json)

    def test_an_hour_costs_more_to_write(self):
        self.assertEqual(self.written("1h") / self.written("5m"), decimal.Decimal("1.6"))

    def test_another_word_is_refused(self):
        provider, result = self.ask_with("2h")
        self.assert_status(result, 2)
        self.assertIn(f'{self.keel_home}/settings.json: "promptCache" must be one of 5m, 1h, off, '
                      'not "2h"', result.err)
        self.assertEqual(provider.requests, [])


class Sums(CostTest):
    @for_each_protocol
    def test_an_answer(self, protocol):
        self.price(f"{protocol.vendor}/m")
        result = self.run_json(protocol, self.play(protocol, Turn("Yes.", usage=(1000, 7))))
        self.assert_took(result, 17246, (1000, 7, 0))  # 12345.7 + 4900.0007 = 17245.7007

    @for_each_protocol
    def test_what_was_read_from_the_cache_has_its_own_price(self, protocol):
        if protocol.name == "ollama":
            return  # it has no such count
        self.price(f"{protocol.vendor}/m")
        result = self.run_json(protocol, self.play(protocol, Turn("Yes.", usage=(1000, 7),
                                                                  n_cached=900)))
        # 100 fresh: 1234.57, 900 read: 1125, 7 out: 4900.0007
        self.assert_took(result, 7260, (100, 7, 900))

    @for_each_protocol
    def test_all_rounds(self, protocol):
        self.price(f"{protocol.vendor}/m")
        provider = self.play(protocol, Turn(Call("Bash", command="true"), usage=(1000, 7)),
                             Turn(Call("Bash", command="true"), usage=(1100, 1)),
                             Turn("Done.", usage=(1200, 3)))
        # 17245.7007, 13580.27 + 700.0001 = 14280.2701, 14814.84 + 2100.0003 = 16914.8403
        self.assert_took(self.run_json(protocol, provider), 17246 + 14281 + 16915, (3300, 11, 0))

    def test_a_model_without_a_price_costs_nothing_that_is_known(self):
        result = self.run_json(ANTHROPIC, self.play(ANTHROPIC, Turn("Yes.", usage=(1000, 7))))
        self.assert_took(result, 0, (1000, 7, 0))

    def test_what_the_provider_says_it_costs_is_what_it_costs(self):
        self.price("groq/m")
        answer = self.encode(CHAT, Turn("Yes.", usage=(1000, 7)))
        answer.pieces = [piece.replace(b'"usage": {', b'"usage": {"cost": 0.00012345, ')
                         for piece in answer.pieces]
        self.assert_took(self.run_json(CHAT, self.play(CHAT, answer)), 12345, (1000, 7, 0))

    def test_counts_that_no_provider_can_mean_break_nothing(self):
        self.price("anthropic/m")
        for count in (-5, 1.5, 2**63, 10**30, "many", None):
            with self.subTest(count):
                answer = self.encode(ANTHROPIC, Turn("Yes."))
                answer.pieces = [piece.replace(b'"input_tokens": 5',
                                               b'"input_tokens": ' + json.dumps(count).encode())
                                 for piece in answer.pieces]
                result = self.run_json(ANTHROPIC, self.play(ANTHROPIC, answer))
                self.assert_fine(result)
                self.assertGreaterEqual(self.result(result)["total_cost_usd"], 0)


class FailedAttempts(CostTest):
    def test_one_that_told_its_usage_before_it_broke_is_paid_for(self):
        self.price("anthropic/m")
        provider = self.play(ANTHROPIC, Turn([HANG_UP], usage=(1000, 7)),
                             Turn("Yes.", usage=(1000, 7)))
        # the first has told of 1000 in and 1 out: 12345.7 + 700.0001
        self.assert_took(self.run_json(ANTHROPIC, provider), 13046 + 17246, (2000, 8, 0))

    def test_one_that_was_refused_costs_nothing(self):
        self.price("anthropic/m")
        busy = json_answer({"error": {"message": "busy"}}, 529, retry_after_ms="1")
        provider = self.play(ANTHROPIC, busy, busy, Turn("Yes.", usage=(1000, 7)))
        self.assert_took(self.run_json(ANTHROPIC, provider), 17246, (1000, 7, 0))

    @for_each_protocol
    def test_the_model_that_answered_is_named_and_the_one_that_was_asked_is_paid(self, protocol):
        self.user_settings({"pricing": {f"{protocol.vendor}/m": {"input": 3, "output": 15}}})
        for arguments in ((), ("--include-partial-messages",)):
            answer = answered_by(self.encode(protocol, Turn("Hello.", usage=(1000, 100))), "m-2026")
            provider = self.play(protocol, answer)
            result = self.run_agent(protocol, provider, "--output-format", "stream-json",
                                    *arguments, "hi")
            lines = [json.loads(line) for line in result.out.splitlines()]
            self.assertEqual(list(lines[-1]["modelUsage"]), ["m-2026"])
            self.assertAlmostEqual(lines[-1]["total_cost_usd"], 0.0045)
            self.assertEqual([line["message"]["model"] for line in lines
                              if line["type"] == "assistant"], ["m-2026"])
        result = self.run_agent(protocol, self.play(protocol, answer), "--verbose", "hi")
        self.assertIn("/m (m-2026 answered): ", result.err)

    def test_each_model_has_its_own_sum(self):
        self.user_settings({"maxAttempts": 1, "pricing": {
            "anthropic/m": PRICE, "groq/n": {"input": 1, "output": 2}}})
        one = self.play(ANTHROPIC, Turn([HANG_UP], usage=(1000, 7)))
        two = self.play(CHAT, answered_by(self.encode(CHAT, Turn("Yes.", usage=(30, 4))), "n"))
        result = self.run_json(ANTHROPIC, one, "--fallback-model", "groq/n",
                               env=CHAT.environment(two))
        # 30 in at 100 micro-cents, 4 out at 200
        line = self.assert_took(result, 13046 + 3800, (1030, 5, 0))
        self.assertEqual({name: in_microcents(model["costUSD"])
                          for name, model in line["modelUsage"].items()},
                         {"m": 13046, "n": 3800})

    def test_a_run_that_fails_for_good_tells_what_it_took(self):
        self.price("anthropic/m", maxAttempts=2)
        provider = self.play(ANTHROPIC, Turn([HANG_UP], usage=(1000, 7)))
        result = self.run_json(ANTHROPIC, provider)
        self.assert_status(result, 1)
        self.assert_took(result, 2 * 13046, (2000, 2, 0))

    def test_a_run_that_was_interrupted_tells_what_it_took(self):
        self.price("anthropic/m")
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="true"), usage=(1000, 7)),
                             Turn(["Half", self.hold()], usage=(1000, 7)))
        process = self.start_agent(ANTHROPIC, provider, "--output-format", "stream-json",
                                   "--include-partial-messages", "hi")
        for line in process.stdout:
            if b'"Half"' in line:
                break
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assert_status(result, 130)
        self.assert_took(result, 17246 + 13046, (2000, 8, 0))

    def test_every_attempt_is_told(self):
        self.price("anthropic/m", maxAttempts=2)
        busy = json_answer({"error": {"message": "busy"}}, 529, retry_after_ms="1")
        provider = self.play(ANTHROPIC, Turn([HANG_UP], usage=(1000, 7)), busy)
        result = self.run_agent(ANTHROPIC, provider, "--verbose", "hi")
        told = [line for line in result.err.splitlines() if line.startswith("  anthropic/m: ")]
        self.assertEqual(len(told), 2, result)
        self.assertIn("network, 1000 tokens in, 1 out, $0.0001", told[0])
        self.assertIn("provider_unavailable", told[1])


if __name__ == "__main__":
    scripted.main()
