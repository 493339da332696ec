"""window_test.py - conversations that are too long for a model, and what is done about it."""
import json
import uuid

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, BY_NAME

OPENAI = BY_NAME["openai-responses"]
SUMMARY = "Stop the work here and summarise"
TOO_LONG = {"error": {"type": "invalid_request_error", "code": "context_length_exceeded",
                      "message": "Your input exceeds the context window of this model."}}


def too_long(*_):
    return scripted.json_answer(TOO_LONG, 400)


class Overflow(AgentTest):
    """Only the provider notices that a request is too long."""

    def profile(self, **more):
        self.user_settings({"maxAttempts": 1, "providers": {"p": {"type": "openai", "model": "m",
                                                                   **more}}})

    def texts(self, request):
        return json.dumps(request.json["input"])

    def read_much(self, *endings):
        """Six files, of which the model has seen five when its provider finds that too long."""
        for i in range(6):
            (self.project / f"{i}.txt").write_text(f"file {i} " + "word " * 600 + f"end {i}\n")
        reads = [Turn(f"Reading {i}.", Call("Read", file_path=f"{i}.txt")) for i in range(6)]
        provider = self.play(OPENAI, *reads, too_long(), *endings)
        return provider, self.run_agent(OPENAI, provider, "read all files")

    def test_it_is_made_shorter_once_and_the_turn_goes_on(self):
        provider, result = self.read_much(Turn("All read."), Turn("Done."))
        self.assert_status(result, 0)
        self.assertEqual(result.out.splitlines()[-1], "Done.")
        self.assertEqual(len(provider.requests), 9)
        question = self.texts(provider.requests[7])
        self.assertIn(SUMMARY, question)
        self.assertIn("read all files", question)
        self.assertGreater(sum(f"end {i}" in question for i in range(5)), 2)
        last = self.texts(provider.requests[8])
        self.assertIn("[Context Summary] All read.", last)
        self.assertIn("read all files", last)
        self.assertIn("end 5", last)  # no model had seen it
        self.assertLess(len(last), len(self.texts(provider.requests[6])))
        self.assert_taken(OPENAI, provider)

    def test_a_summary_that_is_too_long_itself_is_asked_about_half(self):
        provider, result = self.read_much(too_long(), Turn("All read."), Turn("Done."))
        self.assert_status(result, 0)
        first, second = (self.texts(request) for request in provider.requests[7:9])
        self.assertLess(len(second), len(first))
        self.assertIn("read all files", second)
        self.assertIn("Reading 4.", second)

    def test_large_results_of_the_first_round_are_shortened_without_a_summary(self):
        (self.project / "a.txt").write_text("first\n" + "one\n" * 1800 + "last\n")
        provider = self.play(OPENAI, Turn("I look.", Call("Read", file_path="a.txt")), too_long(),
                             Turn("Done."))
        self.assert_status(self.run_agent(OPENAI, provider, "what is in a.txt?"), 0)
        self.assertEqual(len(provider.requests), 3)
        last = self.texts(provider.requests[2])
        self.assertIn("first", last)
        self.assertIn("last", last)
        self.assertIn("out_1", last)
        self.assert_taken(OPENAI, provider)

    def test_so_it_is_when_the_window_is_full_before_the_answer_is_whole(self):
        full = "model_context_window_exceeded"
        provider = self.play(ANTHROPIC, Turn("I look.", Call("Bash", command="seq 3000")),
                             Turn("Half of", stop=full), Turn("A summary."), Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "go")
        self.assert_status(result, 0)
        self.assertEqual(result.out.splitlines()[-1], "Done.")
        self.assertEqual(len(provider.requests), 4)
        self.assert_taken(ANTHROPIC, provider)

    def test_a_prompt_that_is_too_long_in_the_words_of_anthropic(self):
        long = scripted.json_answer({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "prompt is too long: 215000 tokens > 200000 maximum"}}, 400)
        provider = self.play(ANTHROPIC, Turn("I look.", Call("Bash", command="seq 3000")), long,
                             Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "go")
        self.assert_status(result, 0)
        self.assertEqual(len(provider.requests), 3)

    def test_a_second_time_it_is_told(self):
        provider, result = self.read_much(Turn("A summary."), too_long(), Turn("never"))
        self.assert_status(result, 5)
        self.assertEqual(len(provider.requests), 9)

    def test_where_nobody_wants_summaries_it_is_told_at_once(self):
        self.user_settings({"compact": {"enabled": False}})
        provider = self.play(OPENAI, Turn("I look.", Call("Bash", command="seq 3000")), too_long(),
                             Turn("never"))
        result = self.run_agent(OPENAI, provider, "go")
        self.assert_status(result, 5)
        self.assertEqual(len(provider.requests), 2)


class Windows(AgentTest):
    def set_up(self, provider, *windows):
        """A chain of models of one provider, with these windows."""
        url = provider.url + OPENAI.prefix
        self.user_settings({"maxAttempts": 1, "currentProvider": "p1", "providers": {
            f"p{n}": {"type": "openai", "model": f"m{n}", "baseUrl": url, "apiKey": scripted.KEY,
                      "contextWindow": window} for n, window in enumerate(windows, 1)}})

    def ask_chain(self, n, *arguments):
        fallbacks = [word for i in range(2, n + 1) for word in ("--fallback-model", f"p{i}/m{i}")]
        return self.keel("-p", *fallbacks, *arguments)

    def test_what_every_request_begins_with_counts(self):
        provider = self.play(OPENAI, Turn("Done."))
        self.set_up(provider, 10_000)
        result = self.ask_chain(1, "--system-prompt", "word " * 12_000, "hi")
        self.assert_status(result, 5)
        self.assertIn("context window is 10000", result.err)
        self.assertEqual(provider.requests, [])

    def test_what_a_model_takes_may_be_less_than_its_window(self):
        provider = self.play(OPENAI, Turn("Done."))
        self.user_settings({"compact": {"enabled": False}})
        for n_words, n_requests in ((230_000, 1), (300_000, 1)):  # it takes 272,000 of 400,000
            result = self.ask(provider, "--model", "openai/gpt-5.4-mini", protocol=OPENAI,
                              stdin=b"is " * (n_words * 4 // 3))
            self.assertEqual(len(provider.requests), n_requests)
        self.assert_status(result, 5)

    def test_prompt_and_answer_fit_together_where_the_server_counts_both(self):
        chat, session = BY_NAME["openai-chat"], str(uuid.uuid4())
        provider = self.play(chat, Turn(Call("Bash", command="true"), usage=(70_000, 100)),
                             Turn("Done.", usage=(71_000, 100)))
        self.user_settings({"providers": {"p": {
            "type": "vllm", "baseUrl": provider.url + chat.prefix, "model": "m",
            "contextWindow": 100_000, "maxOutput": 40_000}}})
        self.assert_fine(self.keel("-p", "--permission-mode", "bypassPermissions", "--session-id",
                                   session, "hi"))
        first, second = [request.json["max_completion_tokens"] for request in provider.requests]
        self.assertEqual(first, 40_000)
        self.assertTrue(28_000 < second < 30_000, second)
        self.assert_status(self.keel("session", "replay", session), 0)

    def test_a_fallback_that_is_too_small_is_not_asked(self):
        busy = scripted.json_answer({"error": {"message": "gone", "code": "model_not_found"}}, 404)
        provider = self.play(OPENAI, busy, Turn("Done."))
        self.set_up(provider, 200_000, 3_000, 200_000)
        result = self.ask_chain(3, "word " * 4_000)
        self.assertEqual(result.out, "Done.\n", result)
        self.assertEqual([request.json["model"] for request in provider.requests], ["m1", "m3"])
        self.assertIn("p2/m2 is not asked: its context window of 3000 tokens is too small",
                      result.err)

    def test_where_no_other_is_left_the_reason_is_said_beside_the_error(self):
        busy = scripted.json_answer({"error": {"message": "gone", "code": "model_not_found"}}, 404)
        provider = self.play(OPENAI, busy)
        self.set_up(provider, 200_000, 3_000)
        result = self.ask_chain(2, "word " * 4_000)
        self.assert_status(result, 6)
        self.assertIn("gone", result.err)
        self.assertIn("p2/m2 is not asked: its context window of 3000 tokens", result.err)
        self.assertEqual(len(provider.requests), 1)

    def test_it_is_said_once_a_run(self):
        provider = self.play(OPENAI, Turn(Call("Bash", command="true")), Turn("Done."))
        self.set_up(provider, 9_000, 200_000)
        result = self.ask_chain(2, "--permission-mode", "bypassPermissions", "word " * 8_000)
        self.assertEqual(result.out, "Done.\n", result)
        self.assertEqual(result.err.count("p1/m1 is not asked"), 1, result.err)

    def test_a_larger_one_is_asked_instead_of_the_first(self):
        provider = self.play(OPENAI, Turn("Done."))
        self.set_up(provider, 9_000, 200_000)
        result = self.ask_chain(2, "word " * 8_000)
        self.assertEqual(result.out, "Done.\n", result)
        self.assertEqual([request.json["model"] for request in provider.requests], ["m2"])


if __name__ == "__main__":
    scripted.main()
