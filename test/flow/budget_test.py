"""budget_test.py - limits of a session hold, however its processes end.

A request is paid for when it has left: killing keel before its answer is there must not make it
free, and must not give a turn new rounds.
"""
import json
import signal
import time

import scripted
from agent import Call, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC, HANG_SECONDS, for_each_protocol

PRICES = {f"{protocol.vendor}/m": {"input": 1, "output": 10} for protocol in scripted.PROTOCOLS}
MAX_PROCESSES = 20


class BudgetTest(SessionTest):
    def wait_requests(self, provider, n):
        end = time.monotonic() + HANG_SECONDS
        while len(provider.requests) < n:
            self.assertLess(time.monotonic(), end, "keel never asked")
            time.sleep(0.01)

    def silent(self, protocol, turn):
        """This answer, whose first byte does not come."""
        answer = self.encode(protocol, turn)
        answer.pieces = [self.hold(), *answer.pieces]
        return answer

    def n_streamed(self):
        """Records of answers on their way, in whichever store."""
        log = self.project / "sessions" / f"{self.session}.jsonl"
        if log.exists():
            return log.read_bytes().count(b'"provider_stream"')
        return self.count(self.session, "provider_stream")

    def pass_time(self):
        """Until the lease of a killed process is free: at once, where it is bound to the process."""

    def kill_each(self, protocol, turn, *arguments, end=signal.SIGKILL, in_stream=False):
        """Ends keel in every answer, until it asks no more; how often it has asked."""
        self.session = session = self.new_id()
        provider = self.play(protocol, turn)
        for n in range(1, MAX_PROCESSES):
            first = ["--session-id", session, "go"] if n == 1 else ["-r", session]
            process = self.start_agent(protocol, provider, *arguments, *first)
            while process.poll() is None and len(provider.requests) < n:
                time.sleep(0.01)
            if len(provider.requests) < n:
                self.error = process.communicate()[1].decode()
                self.assertEqual(process.returncode, 5, self.error)
                break
            while in_stream and self.n_streamed() < n:
                time.sleep(0.01)
            process.send_signal(end)
            process.communicate()
            self.pass_time()
        else:
            self.fail(f"keel asked in all {n} processes")
        return len(provider.requests)

    def show(self, *arguments):
        result = self.keel("session", "show", self.session, "--json", *arguments)
        self.assert_fine(result)
        return json.loads(result.out)


class KilledInEveryAnswer(BudgetTest):
    @for_each_protocol
    def test_before_its_first_byte(self, protocol):
        silent = self.silent(protocol, Turn("Once", usage=(2000, 9)))
        n = self.kill_each(protocol, silent, "--max-tokens-total", "24000")
        self.assertIn("of 24000 tokens used", self.error)
        self.assertTrue(2 <= n <= 24000 // 2000, n)

    def test_in_the_middle_of_it(self):
        for store in ([], ["--store", f"files:{self.project}/sessions"]):
            with self.subTest(store):
                turn = Turn(["Once upon a time " * 300, self.hold()], usage=(2000, 1700))
                n = self.kill_each(ANTHROPIC, turn, "--max-tokens-total", "24000", *store,
                                   in_stream=True)
                self.assertIn("of 24000 tokens used", self.error)
                self.assertTrue(2 <= n <= 24000 // 3700, n)

    def test_and_money(self):
        self.user_settings({"pricing": PRICES})
        turn = Turn(["Once", self.hold()], usage=(2000, 100))
        n = self.kill_each(ANTHROPIC, turn, "--max-budget-usd", "0.05")
        self.assertIn("of $0.0500 used", self.error)
        self.assertTrue(2 <= n <= 0.05 / 0.003, n)
        shown = self.show()
        self.assertGreater(shown["costUsd"], n * 0.003)
        self.assertFalse(shown["costIsKnown"])
        self.assertTrue(shown["costIsEstimated"])

    def test_and_time(self):
        self.user_settings({"budget": {"seconds": 5}})
        silent = self.silent(ANTHROPIC, Turn("Once"))
        for turn, in_stream in ((silent, False), (Turn(["Once", self.hold()]), True)):
            with self.subTest(in_stream=in_stream):
                n = self.kill_each(ANTHROPIC, turn, in_stream=in_stream)
                self.assertIn("of 5 s used", self.error)
                self.assertLessEqual(n, 5)

    def test_while_it_is_tried_again(self):
        self.user_settings({"maxAttempts": 3})
        session, asked = self.new_id(), 0
        for n in range(MAX_PROCESSES):
            provider = self.play(ANTHROPIC, scripted.Answer([b"{}"], status=503),
                                 Turn([self.hold(), "Once"]))
            first = ["-r", session] if n else ["--session-id", session, "go"]
            process = self.start_agent(ANTHROPIC, provider, "--max-tokens-total", "24000", *first)
            while process.poll() is None and len(provider.requests) < 2:
                time.sleep(0.01)
            self.kill(process)
            asked += max(0, len(provider.requests) - 1)
            if not provider.requests:
                break
        self.assertTrue(2 <= asked <= 12, asked)

    @for_each_protocol
    def test_interrupted_ones_count_as_well(self, protocol):
        for end in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(end):
                silent = self.silent(protocol, Turn("Once", usage=(2000, 9)))
                n = self.kill_each(protocol, silent, "--max-tokens-total", "24000", end=end)
                self.assertTrue(2 <= n <= 24000 // 2000, n)

    def test_the_session_is_whole(self):
        self.kill_each(ANTHROPIC, Turn(["Once", self.hold()]), "--max-tokens-total", "24000")
        result = self.keel("session", "verify", self.session, "--json")
        self.assert_status(result, 0)
        result = self.keel("session", "replay", self.session, "--json")
        self.assert_status(result, 0)

    def test_what_was_granted_is_not_asked_for_again(self):
        session = self.new_id()
        self.user_settings({"budget": {"turns": 1, "onExceed": "ask"}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(Call("Bash", command="true"))),
                                "--session-id", session, "go")
        self.assert_status(result, 3)
        provider = self.play(ANTHROPIC, Turn([self.hold(), "Once"]))
        process = self.start_agent(ANTHROPIC, provider, "-r", session, "--answer", "yes")
        self.wait_requests(provider, 1)
        self.kill(process)
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "-r", session)
        self.assert_status(result, 3)
        self.assertIn("2 turns of 2 turns used. Continue with a limit of 3 turns?", result.err)


class CountsOfZero(BudgetTest):
    @for_each_protocol
    def test_are_not_believed(self, protocol):
        self.user_settings({"pricing": PRICES})
        provider = self.play(protocol, Turn("word " * 300, usage=(0, 0)))
        limit = ["--max-budget-usd", "0.05"]
        self.session = self.new_id()
        self.assert_fine(self.run_agent(protocol, provider, *limit, "--session-id", self.session,
                                        "go " * 3000))
        self.assertGreater(self.show()["costUsd"], 0.01)
        self.assertTrue(self.show()["costIsEstimated"])
        for _ in range(9):
            result = self.run_agent(protocol, provider, *limit, "-r", self.session, "go " * 3000)
            if result.status:
                break
        self.assert_refused(result, 5, "of $0.0500 used")
        self.assert_status(self.keel("session", "replay", self.session), 0)


class Copies(BudgetTest):
    def test_count_from_nothing_and_leave_the_first_session_its_count(self):
        session = self.new_id()
        limit = ["--max-tokens-total", "60000"]
        turns = [Turn(Call("Bash", command="true"), usage=(15000, 9)) for _ in range(2)]
        self.assert_fine(self.run_agent(
            ANTHROPIC, self.play(ANTHROPIC, *turns, Turn("One.", usage=(15000, 9))),
            "--session-id", session, *limit, "go"))
        provider = self.play(ANTHROPIC, Turn("Two."))
        self.assert_fine(self.run_agent(ANTHROPIC, provider, "-r", session, "--fork-session",
                                        *limit, "more"))
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "-r", session, *limit, "more")
        self.assert_refused(result, 5, "45027 tokens of 60000 tokens used")


class Rounds(BudgetTest):
    def test_of_one_turn_count_in_all_processes_that_work_on_it(self):
        turn = Turn(Call("Bash", command="true"))
        session, provider = self.new_id(), self.play(ANTHROPIC, turn)
        provider.answers = [lambda request: self.encode(ANTHROPIC, Turn(
            Call("Bash", command="echo > fifo; sleep 600") if len(provider.requests) % 2 == 0
            else Call("Bash", command="true")))]
        (pipe, fd) = self.make_pipe()
        pipe.rename(self.project / "fifo")
        for n in range(MAX_PROCESSES):
            first = ["-r", session] if n else ["--session-id", session, "go"]
            process = self.start_agent(ANTHROPIC, provider, "--max-turns", "6", *first)
            end = 2 * (n + 1)
            while process.poll() is None and len(provider.requests) < end:
                time.sleep(0.01)
            if process.poll() is not None:
                break
            self.wait_pipe(fd)
            self.kill(process)
        self.assertLessEqual(len(provider.requests), 7)  # the last one has no tools

    def test_of_a_turn_that_is_killed_in_every_answer(self):
        n = self.kill_each(ANTHROPIC, Turn([self.hold(), "Once"]), "--max-turns", "3")
        self.assertEqual(n, 4)
        self.assertIn("this turn has reached its limit of 3 rounds", self.error)

    def test_begin_anew_with_a_prompt(self):
        self.kill_each(ANTHROPIC, Turn([self.hold(), "Once"]), "--max-turns", "1")
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Well.")), "-r", self.session,
                                "--max-turns", "1", "again")
        self.assert_fine(result)
        self.assertEqual(result.out, "Well.\n")


LIMITS = {"anthropic-messages": lambda body: body["max_tokens"],
          "openai-chat": lambda body: body.get("max_completion_tokens", body.get("max_tokens")),
          "openai-responses": lambda body: body["max_output_tokens"],
          "gemini": lambda body: body["generationConfig"]["maxOutputTokens"],
          "ollama": lambda body: body["options"]["num_predict"]}


class Lengths(BudgetTest):
    @for_each_protocol
    def test_no_answer_may_be_longer_than_what_is_left_pays_for(self, protocol):
        self.user_settings({"pricing": PRICES})
        provider = self.play(protocol, Turn(Call("Bash", command="true"), usage=(5000, 1000)),
                             Turn("Done.", usage=(5000, 9)))
        result = self.run_agent(protocol, provider, "--max-budget-usd", "0.05", "go")
        self.assert_fine(result)
        self.assert_taken(protocol, provider)
        first, second = (LIMITS[protocol.name](request.json) for request in provider.requests)
        self.assertTrue(1024 <= first <= 5000, first)
        self.assertTrue(1024 <= second <= (0.05 - 0.015 - 0.005) / 10e-6, second)

    def test_thinking_leaves_room_for_the_answer(self):
        self.user_settings({"pricing": {"anthropic/claude-sonnet-4-5": {"input": 1, "output": 10}}})
        provider = self.play(ANTHROPIC, Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "--model", "anthropic/claude-sonnet-4-5",
                                "--max-thinking-tokens", "30000", "--max-budget-usd", "0.05", "go")
        self.assert_fine(result)
        self.assert_taken(ANTHROPIC, provider)
        body = self.only_request(provider).json
        self.assertLessEqual(body["max_tokens"], 5000)
        self.assertLessEqual(body["thinking"]["budget_tokens"], body["max_tokens"] // 2)

    @for_each_protocol
    def test_a_limited_answer_replays(self, protocol):
        self.user_settings({"pricing": PRICES})
        self.session = self.new_id()
        provider = self.play(protocol, Turn(Call("Bash", command="true"), usage=(5000, 1000)),
                             Turn("Done."))
        self.assert_fine(self.run_agent(protocol, provider, "--session-id", self.session,
                                        "--max-budget-usd", "0.05", "--max-thinking-tokens", "4000",
                                        "go"))
        result = self.keel("session", "replay", self.session)
        self.assert_status(result, 0)

    def test_without_a_budget_nothing_is_limited(self):
        provider = self.play(ANTHROPIC, Turn("Done."))
        self.assert_fine(self.run_agent(ANTHROPIC, provider, "go"))
        self.assertEqual(self.only_request(provider).json["max_tokens"], 16384)


class Questions(BudgetTest):
    def ask_for_more(self, *arguments, tokens=500):
        self.session = self.new_id()
        self.user_settings({"budget": {"tokens": tokens, "onExceed": "ask"}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "--session-id", self.session,
                                *arguments, "go")
        self.assert_status(result, 3)
        return result

    def test_one_yes_lets_the_run_continue_however_small_the_limit(self):
        result = self.ask_for_more()
        self.assertRegex(result.err, r"0 tokens of 500 tokens used, and the next request may "
                                     r"need \d+ tokens. Continue with a limit of \d+ tokens\?")
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Done.")), "-r", self.session,
                                "--answer", "yes")
        self.assert_fine(result)
        self.assertEqual(result.out, "Done.\n")

    def test_the_result_says_what_is_asked(self):
        for output in ("json", "stream-json"):
            with self.subTest(output):
                result = self.ask_for_more("--output-format", output)
                line = json.loads(result.out.splitlines()[-1])
                self.assertEqual((line["subtype"], line["is_error"], line["error_code"]),
                                 ("error_max_budget_usd", True, "budget_exceeded"))
                self.assertNotIn("deferred_tool_use", line)
                self.assertIn("0 tokens of 500 tokens used", line["result"])
                self.assertEqual(line["asks"], [{"kind": "budget", "text": line["result"]}])
                self.assertIn(line["result"], result.err)
                self.assertIn(f"-r {self.session} --answer yes\n      answers: yes, session, no\n", result.err)

    def test_question_and_answer_are_in_the_log(self):
        self.ask_for_more()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Done.")), "-r",
                                        self.session, "--answer", "yes"))
        log = self.keel("session", "export", self.session, "--format", "jsonl").out
        events = [json.loads(line) for line in log.splitlines()]
        kinds = [(line["event"], line["kind"]) for line in events
                 if line["event"] in ("asked", "answered")]
        self.assertEqual(kinds, [("asked", "budget"), ("answered", "budget")])

    def test_a_warning_is_in_the_log_and_on_standard_error(self):
        self.session = self.new_id()
        self.user_settings({"budget": {"tokens": 500, "onExceed": "warn"}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Done.")), "--session-id",
                                self.session, "go")
        self.assert_status(result, 0)
        self.assertIn("budget exceeded: 0 tokens of 500 tokens used", result.err)
        log = self.keel("session", "export", self.session, "--format", "jsonl").out
        notices = [line for line in map(json.loads, log.splitlines())
                   if line.get("source") == "budget"]
        self.assertEqual(len(notices), 1)


if __name__ == "__main__":
    scripted.main()
