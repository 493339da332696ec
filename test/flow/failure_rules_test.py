"""failure_rules_test.py - a model that fails: asked again, left for the next one, or given up."""
import email.utils
import json
import os
import subprocess
import time

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, BY_NAME, HANG_UP, Answer, for_each_protocol, json_answer

CHAT = BY_NAME["openai-chat"]
MISTRAL = scripted.Protocol("openai-chat", scripted.openai_chat, "mistral", "MISTRAL_API_KEY",
                            "MISTRAL_BASE_URL", "/v1", "/v1/chat/completions", "authorization",
                            "length")
LINES = ("--output-format", "stream-json")


def refusal(status, **headers):
    return json_answer({"error": {"message": "so it goes"}}, status, **headers)


def busy(status=503):
    """Comes back at once, so that nobody waits."""
    return refusal(status, retry_after_ms="1")


def read_lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


class FailureTest(AgentTest):
    def retries(self, result):
        return [line for line in read_lines(result) if line.get("subtype") == "api_retry"]

    def ask_two(self, first, *arguments, protocol=ANTHROPIC):
        """Asks a model that gives these answers, with one that answers behind it."""
        one, two = self.play(protocol, *first), self.play(CHAT, Turn("I can."))
        result = self.run_agent(protocol, one, "--fallback-model", "groq/n", *arguments, "hi",
                                env=CHAT.environment(two))
        return result, one, two

    def assert_next_asked(self, result, one, two, n_first):
        self.assert_status(result, 0)
        self.assertEqual(result.out, "I can.\n")
        self.assertIn("asking groq/n instead", result.err)
        self.assertEqual((len(one.requests), len(two.requests)), (n_first, 1))


class AskedAgain(FailureTest):
    def test_what_passes(self):
        for status in (408, 409, 429, 500, 502, 503, 504, 529):
            with self.subTest(status):
                provider = self.play(ANTHROPIC, busy(status), Turn("Here."))
                self.assert_answer(self.run_agent(ANTHROPIC, provider, "hi"), "Here.")
                self.assertEqual(len(provider.requests), 2)

    def test_a_connection_that_breaks_before_the_answer(self):
        for broken in (Answer(status=None), Answer([HANG_UP]), Answer([])):
            provider = self.play(ANTHROPIC, broken, Turn("Here."))
            self.assert_answer(self.run_agent(ANTHROPIC, provider, "hi"), "Here.")

    @for_each_protocol
    def test_a_stream_that_breaks_before_its_text(self, protocol):
        whole = self.encode(protocol, Turn("never"))
        at = next(i for i, piece in enumerate(whole.pieces) if b"never" in piece)
        whole.pieces[at:] = [HANG_UP]
        provider = self.play(protocol, whole, Turn("Here."))
        self.assert_answer(self.run_agent(protocol, provider, "hi"), "Here.")

    def test_as_often_as_it_is_set_and_then_the_last_failure_is_told(self):
        for settings, n in (({}, 10), ({"maxAttempts": 1}, 1), ({"maxAttempts": 3}, 3)):
            with self.subTest(n):
                self.user_settings(settings)
                provider = self.play(ANTHROPIC, busy())
                result = self.run_agent(ANTHROPIC, provider, *LINES, "hi")
                self.assert_status(result, 1)
                self.assertEqual(len(provider.requests), n)
                self.assertEqual([(line["attempt"], line["max_retries"])
                                  for line in self.retries(result)],
                                 [(i, n - 1) for i in range(1, n)])
                before = f"gave up after {n} attempts: " if n > 1 else ""
                told = f"{before}anthropic: HTTP 503: so it goes"
                self.assertIn(f"keel: {told}\n", result.err)
                self.assertEqual(read_lines(result)[-1]["result"], told)

    def test_a_rate_limit_without_a_delay_says_how_often_it_was_tried(self):
        self.user_settings({"providers": {"x": {
            "type": "anthropic", "baseUrl": self.play(ANTHROPIC, refusal(429)).url, "model": "m",
            "apiKey": "k", "backoff": {"first": 1, "max": 2}}}})
        result = self.keel("-p", "hi")
        self.assert_refused(result, 1,
                            "keel: gave up after 10 attempts: x: HTTP 429: so it goes\n"
                            "      try again later, or use another model with --model\n")

    def test_a_refusal_after_another_try_does_not_speak_of_giving_up(self):
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, busy(), refusal(400)), "hi")
        self.assert_refused(result, 1, "keel: anthropic: HTTP 400: so it goes\n")

    def test_the_profiles_own_number_wins(self):
        provider = self.play(ANTHROPIC, busy())
        self.user_settings({"maxAttempts": 4, "providers": {"x": {
            "type": "anthropic", "baseUrl": provider.url, "model": "m", "apiKey": "k",
            "maxAttempts": 2}}})
        self.assert_status(self.keel("-p", "hi"), 1)
        self.assertEqual(len(provider.requests), 2)

    def test_a_request_that_no_time_will_mend_is_not(self):
        for status in (400, 422, 501):
            with self.subTest(status):
                result, one, two = self.ask_two([busy(status)])
                self.assert_refused(result, 1, "so it goes")
                self.assertEqual((len(one.requests), len(two.requests)), (1, 0))


class WhenToComeBack(FailureTest):
    def told_delay(self, **headers):
        """The delay that is told; then nobody waits for it."""
        provider = self.play(ANTHROPIC, refusal(429, **headers))
        process = self.start_agent(ANTHROPIC, provider, *LINES, "hi")
        for line in process.stdout:
            line = json.loads(line)
            if line.get("subtype") == "api_retry":
                process.terminate()
                self.assertEqual((line["error"], line["error_status"]), ("rate_limit", 429))
                return line["retry_delay_ms"]
        raise AssertionError("it was not asked again")

    def test_in_seconds(self):
        self.assertEqual(self.told_delay(retry_after="577"), 577000)

    def test_in_milliseconds_which_are_more_exact(self):
        self.assertEqual(self.told_delay(retry_after_ms="577777", retry_after="578"), 577777)

    def test_as_a_date(self):
        date = email.utils.formatdate(time.time() + 500, usegmt=True)
        delay = self.told_delay(retry_after=date)
        self.assertTrue(400_000 < delay <= 500_000, delay)

    def test_a_date_that_has_passed_is_now(self):
        self.assertEqual(self.told_delay(retry_after="Thu, 01 Jan 2015 00:00:00 GMT"), 0)

    def test_nonsense_is_not_listened_to(self):
        for text in ("soon", "-5", "1e999", "", "Thu, 99 Foo 2015"):
            self.assertTrue(250 <= self.told_delay(retry_after=text) <= 750)

    def test_a_wait_that_is_too_long_ends_the_run_and_says_when_to_come_back(self):
        for seconds, told in (("601", "asks to wait 601 s"), ("7200", "again in 2 h"),
                              ("99999999999999999999", "again in 24 h")):
            with self.subTest(seconds):
                provider = self.play(ANTHROPIC, refusal(429, retry_after=seconds), Turn("Late."))
                result = self.run_agent(ANTHROPIC, provider, "hi")
                self.assert_refused(result, 1, "so it goes", "leaves 600 s", told,
                                    "retry.maxSeconds")
                self.assertEqual(len(provider.requests), 1)

    def test_how_long_a_wait_may_be_is_a_setting(self):
        self.user_settings({"retry": {"maxSeconds": 3}})
        provider = self.play(ANTHROPIC, refusal(503, retry_after="4"))
        self.assert_refused(self.run_agent(ANTHROPIC, provider, "hi"), 1, "leaves 3 s")
        self.user_settings({"retry": {"maxSeconds": 1000}})
        self.assertEqual(self.told_delay(retry_after="777"), 777000)

    def test_all_waits_of_a_round_count_together(self):
        self.user_settings({"retry": {"maxSeconds": 1}})
        provider = self.play(ANTHROPIC, refusal(503, retry_after_ms="400"))
        result = self.run_agent(ANTHROPIC, provider, *LINES, "hi")
        self.assert_status(result, 1)
        self.assertEqual([line["retry_delay_ms"] for line in self.retries(result)], [400, 400])

    def test_how_long_a_wait_may_be_is_a_flag_that_wins(self):
        self.user_settings({"retry": {"maxSeconds": 1000}})
        provider = self.play(ANTHROPIC, refusal(503, retry_after="4"))
        result = self.run_agent(ANTHROPIC, provider, "--retry-seconds", "3", "hi")
        self.assert_refused(result, 1, "leaves 3 s", "--retry-seconds N")
        for wrong in ("0", "-1", "soon", "604801"):
            self.assert_refused(self.keel("-p", "--retry-seconds", wrong, "hi"), 2,
                                "--retry-seconds")

    def test_a_profile_has_waits_of_its_own(self):
        provider = self.play(ANTHROPIC, refusal(503))
        profile = {"type": "anthropic", "baseUrl": provider.url, "model": "m", "apiKey": "k"}
        self.user_settings({"maxAttempts": 5, "providers": {
            "x": {**profile, "backoff": {"first": 20, "max": 50}}}})
        result = self.keel("-p", *LINES, "hi")
        self.assert_status(result, 1)
        delays = [line["retry_delay_ms"] for line in self.retries(result)]
        self.assertEqual(len(delays), 4)
        for delay, (least, most) in zip(delays, ((10, 30), (20, 50), (25, 50), (25, 50))):
            self.assertTrue(least <= delay <= most, delays)
        for wrong, status in (({"first": -1}, 2), ({"first": 9, "max": 8}, 6),
                              ({"max": 10 ** 12}, 2)):
            self.user_settings({"providers": {"x": {**profile, "backoff": wrong}}})
            self.assert_refused(self.keel("-p", "hi"), status, "providers.x.backoff")

    def read_wait(self, format, seconds):
        """What is said on a stderr that is a file, while the answer is waited for."""
        provider = self.play(ANTHROPIC, refusal(429, retry_after=seconds))
        process = self.start_agent(ANTHROPIC, provider, "--output-format", format, "hi",
                                   stderr=subprocess.PIPE)
        told = next(line for line in process.stderr if b"keel: " in line)
        process.terminate()
        process.communicate()
        return told.decode()

    def test_a_wait_is_told_with_its_reason_and_its_end(self):
        for format in ("text", "json"):
            self.assertRegex(self.read_wait(format, "599"),
                             r"\Akeel: anthropic: HTTP 429: so it goes; trying again in 10 min "
                             r"\(at \d\d:\d\d:\d\d, attempt 2 of 10\)\n\Z")
            self.assertRegex(self.read_wait(format, "3"),
                             r"so it goes; trying again in 3 s \(attempt 2 of 10\)\n\Z")

    def test_what_comes_too_late_is_told_once(self):
        for status in (429, 503):
            provider = self.play(ANTHROPIC, refusal(status, retry_after="7"))
            result = self.run_agent(ANTHROPIC, provider, "--retry-seconds", "1", "hi")
            self.assertIn("try again in 7 s, ", result.err)
            self.assertEqual(result.err.count("try again"), 1, result.err)

    def test_a_wait_has_as_many_digits_as_a_person_reads(self):
        provider = self.play(ANTHROPIC, refusal(429, retry_after_ms="649"), Turn("Here."))
        result = self.run_agent(ANTHROPIC, provider, "--verbose", "hi")
        self.assertIn("trying again in 0.65 s (attempt 2", result.err)

    def test_a_short_wait_needs_no_word(self):
        provider = self.play(ANTHROPIC, refusal(429, retry_after_ms="300"), Turn("Here."))
        self.assert_answer(self.run_agent(ANTHROPIC, provider, "hi"), "Here.")

    def test_a_long_wait_is_told_on_a_terminal(self):
        for format in ("text", "json", "stream-json"):
            provider = self.play(ANTHROPIC, refusal(429, retry_after="599"))
            master, slave = os.openpty()
            process = self.start_agent(ANTHROPIC, provider, "--output-format", format, "hi",
                                       stderr=slave)
            os.close(slave)
            seen = b""
            while b"so it goes; trying again in 10 min" not in seen:
                seen += os.read(master, 65536)  # EIO: it has ended without a word
            process.terminate()
            os.close(master)


class TheNextModel(FailureTest):
    def test_is_asked_at_once_when_the_key_or_the_model_is_refused(self):
        for status in (401, 402, 403, 404):
            with self.subTest(status):
                self.assert_next_asked(*self.ask_two([busy(status)]), 1)

    def test_is_asked_when_the_first_one_wants_to_be_left_alone_for_long(self):
        self.assert_next_asked(*self.ask_two([refusal(429, retry_after="99999999")]), 1)

    @for_each_protocol
    def test_is_asked_at_once_when_the_first_one_sends_something_else(self, protocol):
        for nonsense in (Answer([b"this is not json"], content_type="application/json"),
                         Answer([b"hello there"], content_type="text/plain"),
                         Answer([b"{}"], content_type="application/json"),
                         Answer([b"data: {\"foo\":1}\n\ndata: [DONE]\n\n"])):
            with self.subTest(nonsense.pieces):
                one, two = self.play(protocol, nonsense), self.play(MISTRAL, Turn("I can."))
                result = self.run_agent(protocol, one, "--fallback-model", "mistral/n", "hi",
                                        env=MISTRAL.environment(two))
                self.assert_status(result, 0)
                self.assertEqual(result.out, "I can.\n")
                self.assertEqual((len(one.requests), len(two.requests)), (1, 1))
                self.assertNotIn("()", result.err)

    def test_is_asked_when_the_first_one_has_failed_often_enough(self):
        self.user_settings({"maxAttempts": 2})
        self.assert_next_asked(*self.ask_two([busy()]), 2)

    def test_is_asked_when_nobody_listens(self):
        self.user_settings({"maxAttempts": 2})
        two = self.play(CHAT, Turn("I can."))
        result = self.keel("-p", "--model", "anthropic/m", "--fallback-model", "groq/n", "hi",
                           env={"ANTHROPIC_API_KEY": "k",
                                "ANTHROPIC_BASE_URL": f"http://{self.deaf_address()}",
                                **CHAT.environment(two)})
        self.assert_status(result, 0)
        self.assertEqual(result.out, "I can.\n")

    def test_comes_after_the_one_before_it(self):
        provider = self.play(ANTHROPIC, refusal(404), refusal(404), Turn("Third."))
        result = self.run_agent(ANTHROPIC, provider, "--fallback-model", "anthropic/n",
                                "--fallback-model", "anthropic/o", "hi")
        self.assertEqual(result.out, "Third.\n")
        self.assertEqual([request.json["model"] for request in provider.requests],
                         ["m", "n", "o"])

    def test_the_last_failure_is_told_when_all_fail(self):
        provider = self.play(ANTHROPIC, refusal(404), refusal(401))
        result = self.run_agent(ANTHROPIC, provider, "--fallback-model", "anthropic/n", "hi")
        self.assert_refused(result, 6, "HTTP 401", "so it goes")

    def test_stays_in_the_rounds_that_follow_a_rate_limit(self):
        """The first one rests meanwhile."""
        self.user_settings({"maxAttempts": 1})
        one = self.play(ANTHROPIC, busy(429))
        two = self.play(CHAT, Turn(Call("Bash", command="true")), Turn("Done."))
        result = self.run_agent(ANTHROPIC, one, "--fallback-model", "groq/n", "hi",
                                env=CHAT.environment(two))
        self.assertEqual(result.out, "Done.\n")
        self.assertEqual((len(one.requests), len(two.requests)), (1, 2))


class TextThatWasShown(FailureTest):
    """What nobody has seen may be asked for again; what was seen stays, and ends the run."""

    broken = ["Once", " upon", HANG_UP]

    def test_nobody_sees_the_half_of_an_answer_that_is_printed_at_the_end(self):
        for arguments in ((), ("--output-format", "json"), LINES):
            with self.subTest(arguments):
                provider = self.play(ANTHROPIC, Turn(self.broken), Turn("A story."))
                result = self.run_agent(ANTHROPIC, provider, *arguments, "hi")
                self.assert_fine(result)
                self.assertIn("A story.", result.out)
                self.assertNotIn("Once", result.out)

    def test_all_of_it_fails_and_the_last_half_is_kept(self):
        self.user_settings({"maxAttempts": 2})
        provider = self.play(ANTHROPIC, Turn(self.broken))
        result = self.run_agent(ANTHROPIC, provider, "hi")
        self.assert_status(result, 1)
        self.assertEqual(result.out, "Once upon\n")
        self.assertEqual(len(provider.requests), 2)

    def test_lines_that_show_it_are_not_taken_back(self):
        result, one, two = self.ask_two([Turn(self.broken)], *LINES, "--include-partial-messages")
        self.assert_status(result, 1)
        self.assertEqual((len(one.requests), len(two.requests)), (1, 0))
        last = read_lines(result)[-1]
        self.assertEqual((last["result"], last["error_code"]), ("Once upon", "network"))

    def test_a_terminal_that_shows_it_is_not_taken_back(self):
        provider = self.play(ANTHROPIC, Turn(self.broken), Turn("A story."))
        result = self.on_terminal("-p", "--model", "anthropic/m", "hi",
                                  env=ANTHROPIC.environment(provider))
        self.assert_status(result, 1)
        self.assertEqual(len(provider.requests), 1)
        self.assertTrue(result.out.startswith("Once upon\r\nkeel: anthropic: "), result)

    def test_lines_that_show_only_a_call_are_asked_for_again(self):
        """It was not run, and the reader is told that the message has ended."""
        provider = self.play(ANTHROPIC, Turn(Call("Bash", raw=['{"comm', HANG_UP])), Turn("No."))
        result = self.run_agent(ANTHROPIC, provider, *LINES, "--include-partial-messages", "hi")
        self.assert_fine(result)
        events = [line["event"]["type"] for line in read_lines(result)
                  if line["type"] == "stream_event"]
        self.assertEqual(events.count("message_start"), 2)
        self.assertEqual(events.count("message_stop"), 2)


class Silence(FailureTest):
    def profile(self, protocol, provider):
        self.user_settings({"providers": {"x": {
            "type": protocol.vendor, "baseUrl": provider.url + protocol.prefix, "model": "m",
            "apiKey": "k", "timeout": 1000}}})

    @for_each_protocol
    def test_a_provider_that_falls_silent_is_asked_again(self, protocol):
        for silent in (Answer([self.hold()]), Turn(["Once", self.hold()])):
            provider = self.play(protocol, silent, Turn("Here."))
            self.profile(protocol, provider)
            self.assert_answer(self.keel("-p", "hi"), "Here.")


if __name__ == "__main__":
    scripted.main()
