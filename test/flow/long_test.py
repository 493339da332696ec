"""long_test.py - sessions near the end of a model's window: what the model still sees, and how.

A result that does not fit is given whole after a compaction; old results are taken out before a
summary is asked for. Every request is judged as its provider would, and every session is replayed.
"""
import json
import threading

import scripted
from agent import Call, Thought, Turn
from replay_test import ReplayTest
from scripted import ANTHROPIC, BY_NAME, for_each_protocol

SUMMARY = "Stop the work here and summarise"
WINDOW = 200_000
N_LINES = 600


def asks_for_summary(request):
    return SUMMARY in json.dumps(request.json)


class LongTest(ReplayTest):
    def setUp(self):
        super().setUp()
        self.file = self.project / "long.txt"
        self.file.write_text("".join(f"line {n} of a file that is read\n"
                                     for n in range(1, N_LINES + 1)))

    def settings(self, window=WINDOW, **more):
        self.user_settings({"maxAttempts": 1, **more, "providers": {
            protocol.name: {"type": protocol.vendor, "contextWindow": window}
            for protocol in scripted.PROTOCOLS}})

    def read(self, *items, used, lines=N_LINES):
        """A round that reads the file; so much of the window is used then."""
        return Turn(*items, Call("Read", file_path=str(self.file), limit=lines),
                    usage=(used - 9, 9))

    def run_long(self, protocol, *turns, arguments=(), status=0):
        self.session = self.new_id()
        self.provider_played = self.play(protocol, *turns)
        result = self.run_agent(protocol, self.provider_played, "--session-id", self.session,
                                "--model", f"{protocol.name}/m", *arguments, "read it all",
                                mode="bypassPermissions")
        self.assert_status(result, status)
        self.assert_taken(protocol, self.provider_played)
        return self.provider_played.requests

    def assert_whole(self, request, n=1):
        self.assertEqual(json.dumps(request.json).count(f"line {N_LINES} of a file"), n)

    def assert_exact(self):
        self.assert_same(self.session)
        result = self.keel("session", "verify", self.session)
        self.assert_status(result, 0)


class Thresholds(LongTest):
    def test_a_model_has_a_threshold_of_its_own(self):
        self.settings(compact={"models": {"anthropic-messages/m": 0.5, "openai/m": 0.9}})
        turns = [self.read("I look.", used=80_000), self.read("Again.", used=101_000),
                 Turn("In short."), Turn("Done.")]
        requests = self.run_long(ANTHROPIC, *turns)
        self.assertTrue(asks_for_summary(requests[2]))
        requests = self.run_long(BY_NAME["openai-responses"], *turns[:2], Turn("Done."))
        self.assertEqual([asks_for_summary(request) for request in requests], [False] * 3)

    def test_one_that_cannot_be_meant_is_refused(self):
        for value in (0, -1, 1.5, "half", None, {}):
            self.settings(compact={"models": {"m": value}})
            provider = self.play(ANTHROPIC, Turn("Done."))
            result = self.run_agent(ANTHROPIC, provider, "hi")
            self.assertNotEqual(result.status, 0, value)
            self.assertIn("compact.models", result.err)
            self.assertEqual(provider.requests, [])


class Whole(LongTest):
    def test_no_file_is_cut_between_three_quarters_and_the_threshold(self):
        self.settings()
        for per_cent in range(76, 84):
            requests = self.run_long(ANTHROPIC, self.read("I look.", used=WINDOW * per_cent // 100),
                                     *[Turn("A summary.")] * (per_cent > 80), Turn("Done."))
            self.assert_whole(requests[-1])
            self.assert_exact()

    @for_each_protocol
    def test_a_result_that_reaches_the_threshold_comes_after_the_summary(self, protocol):
        self.settings()
        requests = self.run_long(
            protocol, self.read(Thought("Hm."), "I look.", used=80_000),
            self.read(Thought("More."), "Again.", used=165_000), Turn("All lines."),
            Turn(Thought("So."), "Done."))
        self.assertEqual([asks_for_summary(request) for request in requests],
                         [False, False, True, False])
        self.assert_whole(requests[3])
        self.assertIn("[Context Summary] All lines.", json.dumps(requests[3].json))
        self.assertIn("read it all", json.dumps(requests[3].json))
        self.assert_exact()

    def test_the_request_for_the_summary_is_the_last_one_with_a_question(self):
        self.settings()
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                                 self.read(Thought("Hm."), used=165_000), Turn("In short."),
                                 Turn("Done."))
        before, asked = (request.json["messages"] for request in requests[1:3])
        self.assertEqual(asked[:len(before) - 1], before[:-1])
        self.assertEqual(asked[len(before) - 1]["content"][0]["content"],
                         before[-1]["content"][0]["content"])
        self.assertEqual(requests[2].json["tools"], requests[1].json["tools"])

    def test_where_the_summary_fails_results_that_still_fit_are_whole(self):
        self.settings()
        broken = scripted.json_answer({"type": "error", "error": {
            "type": "invalid_request_error", "message": "no"}}, 400)
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                                 self.read("Again.", used=165_000), broken, Turn("Done."))
        self.assert_whole(requests[3], 2)
        self.assert_exact()

    def test_and_those_that_do_not_are_stored(self):
        self.settings()
        broken = scripted.json_answer({"type": "error", "error": {
            "type": "invalid_request_error", "message": "no"}}, 400)
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                                 self.read("Again.", used=187_000), broken, Turn("Done."))
        self.assert_whole(requests[3], 2)  # the head and tail of the second
        self.assertIn('handle \\"out_1\\"', json.dumps(requests[3].json))
        self.assertEqual(json.dumps(requests[3].json).count("line 300 of a file"), 1)
        self.assert_exact()

    def test_switched_off_results_are_shortened_as_they_come(self):
        self.settings(compact={"enabled": False})
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=155_000), Turn("Done."))
        self.assertEqual(len(requests), 2)
        self.assertNotIn("line 300 of a file", json.dumps(requests[1].json))
        self.assertIn('handle \\"out_1\\"', json.dumps(requests[1].json))
        self.assert_exact()

    def test_the_session_is_resumed_with_the_summary_and_the_result(self):
        self.settings()
        self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                      self.read("Again.", used=165_000), Turn("In short."), Turn("Done."))
        provider = self.play(ANTHROPIC, Turn("Again done."))
        result = self.run_agent(ANTHROPIC, provider, "--resume", self.session, "and now?",
                                mode="bypassPermissions")
        self.assert_status(result, 0)
        text = json.dumps(provider.requests[0].json)
        self.assertIn("[Context Summary] In short.", text)
        self.assert_whole(provider.requests[0])
        self.assertIn("Done.", text)
        self.assert_same(self.session, 2)


class Batches(LongTest):
    """Several calls in one answer: each result is judged by the room that there is for it."""
    BROKEN = scripted.json_answer({"type": "error", "error": {
        "type": "invalid_request_error", "message": "no"}}, 400)

    def batch(self, *calls, used):
        return Turn("Several.", *calls, usage=(used - 9, 9))

    def reads(self, n, used):
        """Of files that were not read before."""
        files = [self.project / f"long{i}.txt" for i in range(n)]
        for file in files:
            file.write_text(self.file.read_text())
        return self.batch(*[Call("Read", file_path=str(file), limit=N_LINES) for file in files],
                          used=used)

    def fail_summary(self, *turns):
        """Rounds after a summary that failed."""
        return self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                             self.read("Again.", used=165_000), self.BROKEN, *turns, Turn("Done."))

    def assert_middles(self, request, n):
        """Heads and tails are there even of those that do not fit."""
        self.assertEqual(json.dumps(request.json).count("line 450 of a file"), n)

    def results(self, request):
        return ["".join(part["text"] for part in block["content"])
                for block in request.json["messages"][-1]["content"]
                if block["type"] == "tool_result"]

    def test_both_files_are_whole_after_a_compaction_in_a_small_window(self):
        self.settings(window=30_000)
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=12_000, lines=300),
                                 self.reads(2, used=25_500), Turn("In short."), Turn("Done."))
        self.assertTrue(asks_for_summary(requests[2]))
        self.assert_middles(requests[3], 2)
        self.assert_exact()

    def test_both_files_are_whole_where_no_compaction_helps(self):
        """A summary has just failed, and the context has hardly grown since."""
        self.settings()
        requests = self.fail_summary(self.reads(2, used=170_000))
        self.assertEqual([asks_for_summary(request) for request in requests],
                         [False, False, True, False, False])
        self.assert_middles(requests[4], 4)
        self.assert_exact()

    def test_a_short_file_is_whole_behind_one_that_does_not_fit(self):
        self.settings()
        requests = self.fail_summary(self.batch(
            Call("Bash", command="seq 1 5000"), Call("Bash", command="echo short"),
            Call("Read", file_path=str(self.file), limit=20), used=179_000))
        long, short, read = self.results(requests[4])
        self.assertIn('handle "out_1"', long)
        self.assertEqual(short, "short\n")
        self.assertIn("line 20 of a file", read)
        self.assert_exact()

    def test_a_command_that_ran_is_never_reported_as_skipped(self):
        """The second summary fails as well, and not even heads and tails fit."""
        self.settings()
        requests = self.fail_summary(self.batch(
            Call("Bash", command="seq 1 3000"), Call("Bash", command="seq 1 3000; exit 3"),
            Call("Bash", command="touch made; echo made"), used=189_700), self.BROKEN,
            Turn(Call("tool_output", handle="out_2", pattern="^2999$")))
        well, failed, short = self.results(requests[5])
        self.assertRegex(well, r"ran and succeeded\. .*tool_output with handle \"out_1\"")
        self.assertRegex(failed, r"ran and failed: \"Exit code 3\"\. .*handle \"out_2\"")
        self.assertEqual(short, "made\n")
        self.assertIn("2999", self.results(requests[6])[0])
        self.assertNotIn("skipped", json.dumps([request.json for request in requests]))
        self.assertTrue((self.project / "made").exists())
        self.assert_exact()

    def test_nor_where_compaction_is_switched_off(self):
        self.settings(compact={"enabled": False})
        requests = self.run_long(ANTHROPIC, self.batch(
            Call("Bash", command="seq 1 5000"), Call("Bash", command="seq 1 3000"),
            Call("Bash", command="echo short"), Call("Nothing"), used=155_000), Turn("Done."))
        long, named, short, refused = self.results(requests[1])
        self.assertIn("Its head and tail follow.", long)
        self.assertIn("The call ran and succeeded.", named)
        self.assertEqual(short, "short\n")
        self.assertEqual(refused, "Error: Context window near capacity. Tool execution result "
                         "skipped.")
        self.assert_exact()

    def test_after_a_failure_the_context_grows_and_the_summary_is_asked_for_again(self):
        self.settings()
        requests = self.fail_summary(self.reads(2, used=170_000), self.reads(1, used=183_000),
                                     Turn("In short."))
        self.assertEqual([asks_for_summary(request) for request in requests],
                         [False, False, True, False, False, True, False])
        self.assert_middles(requests[6], 1)
        self.assert_exact()


class TakenOut(LongTest):
    """Old, large results go first; a summary is asked for only where that is not enough."""

    def setUp(self):
        super().setUp()
        self.file.write_text("".join(f"line {n} " + "of a file that is read " * 3 + "\n"
                                     for n in range(1, N_LINES // 2 + 1)))

    def rounds(self, n, used, *last):
        """So many rounds with some 7,000 tokens each, until so much is used."""
        return [self.read(Thought(f"Round {i}."), used=used * (i + 1) // n) for i in range(n)]

    def count_results(self, request):
        return json.dumps(request.json).count("line 300 of a file")

    @for_each_protocol
    def test_old_results_are_taken_out_once_and_no_summary_is_asked_for(self, protocol):
        self.settings(window=80_000)
        requests = self.run_long(protocol, *self.rounds(9, 66_000), Turn(Thought("So."), "Done."))
        self.assertEqual([asks_for_summary(request) for request in requests], [False] * 10)
        self.assertEqual([self.count_results(request) for request in requests],
                         [0, 1, 2, 3, 4, 5, 6, 7, 8, 4])
        self.assertEqual(self.count(self.session, "context_compact"), 1)
        text = json.dumps(requests[-1].json)
        self.assertEqual(text.count("was taken out to make room"), 5)
        self.assertEqual(text.count("out_1"), 5)  # the same text has one name
        self.assert_exact()

    def test_what_was_taken_out_can_be_read_again(self):
        self.settings(window=80_000)
        requests = self.run_long(
            ANTHROPIC, *self.rounds(9, 66_000),
            Turn(Call("tool_output", handle="out_1", pattern="^ *7.line 7 ")), Turn("Done."))
        found = requests[-1].json["messages"][-1]["content"][0]["content"]
        self.assertRegex(json.dumps(found)[:500], "7:.*line 7 of a file")

    def test_a_resumed_session_has_what_is_left(self):
        self.settings(window=80_000)
        sent = self.run_long(ANTHROPIC, *self.rounds(9, 66_000), Turn("Done."))
        provider = self.play(ANTHROPIC, Turn("Again."))
        result = self.run_agent(ANTHROPIC, provider, "--resume", self.session, "--model",
                                "anthropic-messages/m", "and now?", mode="bypassPermissions")
        self.assert_status(result, 0)
        before = sent[-1].json["messages"]
        self.assertTrue(provider.requests[0].json["messages"][:len(before) - 1] == before[:-1])
        self.assert_same(self.session, 2)

    def test_where_that_gains_too_little_a_summary_is_asked_for(self):
        self.settings()
        requests = self.run_long(ANTHROPIC, *self.rounds(6, 166_000), Turn("In short."),
                                 Turn("Done."))
        self.assertEqual([asks_for_summary(request) for request in requests],
                         [False] * 6 + [True, False])
        self.assert_exact()

    def test_switched_off_a_summary_is_asked_for_at_once(self):
        self.settings(window=80_000, compact={"results": False})
        requests = self.run_long(ANTHROPIC, *self.rounds(9, 66_000), Turn("In short."),
                                 Turn("Done."))
        self.assertTrue(asks_for_summary(requests[9]))
        self.assertEqual(self.count_results(requests[9]), 8)
        self.assertEqual(self.count_results(requests[10]), 1)
        self.assert_exact()


class Names(LongTest):
    def test_a_stored_result_keeps_its_name_after_a_restart_and_in_a_copy(self):
        self.settings(compact={"enabled": False})
        for stored in ([], ["--store", f"files:{self.dir}/sessions"]):
            self.run_long(ANTHROPIC, self.read("I look.", used=155_000), Turn("Done."),
                          arguments=stored)
            for copied in ([], ["--fork-session"]):
                provider = self.play(
                    ANTHROPIC, Turn(Call("tool_output", handle="out_1", offset=300, limit=1)),
                    Turn(Call("Bash", command="seq 20000")), Turn("Done."))
                result = self.run_agent(ANTHROPIC, provider, "--resume", self.session, "--model",
                                        "anthropic-messages/m", *stored, *copied, "more",
                                        mode="bypassPermissions")
                self.assert_status(result, 0)
                self.assertIn("line 300 of a file", json.dumps(provider.requests[1].json))
                self.assertIn("out_2", json.dumps(provider.requests[2].json))


class Told(LongTest):
    """How full the window is, is told around every request and every refusal."""

    def test_around_a_forced_last_turn(self):
        self.settings()
        self.run_long(ANTHROPIC, self.read("I look.", used=80_000), Turn("Done."),
                      arguments=("--max-turns", "1"))
        self.assertEqual(self.count(self.session, "context"), 4)

    def test_where_nothing_is_sent(self):
        self.settings(window=2_000)
        self.run_long(ANTHROPIC, Turn("never"), status=5)
        self.assertEqual(self.count(self.session, "context"), 1)


class CutOff(LongTest):
    """The process dies while a compaction is written: it has never been."""

    def cut(self, log, text, n):
        """Leaves the lines of the log up to the one that begins a compaction, and `n` more."""
        lines = log.splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if '"mutation":"compact"' in line)
        text.write_text("".join(lines[:first + n]))
        return '"mutation":"compact"' in lines[first + n]

    def test_the_history_before_it_holds(self):
        store = self.dir / "sessions"
        self.settings()
        self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                      self.read("Again.", used=165_000), Turn("In short."), Turn("Done."),
                      arguments=("--store", f"files:{store}"))
        file = store / f"{self.session}.jsonl"
        log, n = file.read_text(), 0
        while self.cut(log, file, n):
            provider = self.play(ANTHROPIC, Turn("In short."), Turn("Well."))
            result = self.run_agent(ANTHROPIC, provider, "--resume", self.session, "--model",
                                    "anthropic-messages/m", "--store", f"files:{store}",
                                    mode="bypassPermissions")
            self.assert_status(result, 0)
            self.assertEqual([asks_for_summary(request) for request in provider.requests],
                             [True, False], n)  # as it was about to
            self.assertNotIn("[Context Summary]", json.dumps(provider.requests[0].json))
            self.assert_whole(provider.requests[0])
            self.assert_whole(provider.requests[1])
            self.assert_taken(ANTHROPIC, provider)
            verified = self.keel("session", "verify", self.session, "--store", f"files:{store}")
            self.assertNotIn("history", verified.out, n)
            n += 1
        self.assertGreaterEqual(n, 3)


class Gap(LongTest):
    def test_an_output_that_is_too_long_to_keep_is_told_as_it_was(self):
        self.settings()
        command = "seq -f 'row %.0f ..................' 1000000"  # 28 MB
        requests = self.run_long(
            ANTHROPIC, Turn(Call("Bash", command=command)),
            Turn(Call("tool_output", handle="out_1", pattern="row 500000 "),
                 Call("tool_output", handle="out_1", pattern="row 999999 ")), Turn("Done."))
        shown = requests[1].json["messages"][-1]["content"][0]["content"][0]["text"]
        self.assertRegex(shown, r"^\[The whole output has 29888896 bytes in 1000000 lines\. Its middle "
                                r"was too large to keep: 13111680 bytes after line \d+ are gone")
        missing, found = (block["content"][0]["text"]
                          for block in requests[2].json["messages"][-1]["content"])
        self.assertRegex(missing, r"^No line of the stored result matches(.|\n)*What you look for may "
                                  r"have been there: run the command again")
        self.assertRegex(found, r"row 999999 (.|\n)*after line \d+ were too much to keep")
        self.assert_exact()


# What servers say about a model "m", and what keel makes of it: window and longest answer.
SHAPES = {
    "vLLM": ("openai-chat", {"object": "list", "data": [
        {"id": "m", "object": "model", "owned_by": "vllm", "max_model_len": 32768}]}, 32768, 8192),
    "LM Studio": ("openai-chat", {"data": [
        {"id": "m", "object": "model", "type": "llm", "max_context_length": 131072,
         "loaded_context_length": 40960}]}, 40960, 10240),
    "llama.cpp": ("openai-chat", {"object": "list", "data": [
        {"id": "m", "object": "model", "meta": {"n_ctx": 16384, "n_ctx_train": 131072}}]},
        16384, 4096),
    "OpenRouter": ("openai-chat", {"data": [
        {"id": "other", "context_length": 1000000},
        {"id": "m", "context_length": 262144, "top_provider": {"max_completion_tokens": 65536}}]},
        262144, 65536),
    "Together": ("openai-chat", [{"id": "m", "type": "chat", "context_length": 65536}],
                 65536, 16384),
    "Fireworks": ("openai-chat", {"data": [
        {"id": "m", "supports_chat": True, "context_length": 163840}]}, 163840, 16384),
    "Groq": ("openai-chat", {"data": [
        {"id": "m", "context_window": 131072, "max_completion_tokens": 32768}]}, 131072, 32768),
    "Ollama": ("ollama", {"parameters": "num_ctx    24576", "model_info": {
        "general.architecture": "qwen3", "qwen3.context_length": 262144}}, 24576, 6144),
}


class Lookup(LongTest):
    """A model that no catalogue knows: its server is asked beside the first request."""

    def look(self):
        """A round that ends when the server has been asked about its model."""
        self.told = threading.Event()
        return Turn(["I ", self.told, "look."], Call("Bash", command="true"))

    def start_run(self, protocol, about, *turns):
        provider = self.play(protocol, *turns)
        provider.about, provider.told = about, self.told
        self.session = self.new_id()
        result = self.keel("-p", "--model", f"{protocol.vendor}/m", "--session-id", self.session,
                           "--permission-mode", "bypassPermissions", "go", "--output-format",
                           "stream-json", "--verbose", env=protocol.environment(provider))
        self.assert_status(result, 0)
        return provider, result

    def test_every_server_tells_it_in_its_own_words(self):
        for name, (kind, about, window, output) in SHAPES.items():
            with self.subTest(name):
                protocol = BY_NAME[kind]
                self.user_settings({})
                provider, _ = self.start_run(protocol, scripted.json_answer(about),
                                             self.look(), Turn("Done."))
                self.assertEqual(len(provider.lookups), 1)
                self.assertEqual(len(provider.requests), 2)
                sent = json.dumps(provider.requests[1].json)
                self.assertRegex(sent, f'"(max_tokens|max_completion_tokens|num_predict)": {output}')
                if kind == "ollama":
                    self.assertIn(f'"num_ctx": {window}', sent)
                    self.assertEqual(provider.requests[0].json["options"]["num_ctx"], 65536)
                self.assertIn(": 16384", json.dumps(provider.requests[0].json))
                self.assert_exact()

    def test_servers_with_a_list_of_their_own_are_asked_for_that(self):
        about = {"lmstudio": ("LMSTUDIO_BASE_URL", "/api/v0/models", {
                     "id": "m", "type": "llm", "max_context_length": 131072,
                     "loaded_context_length": 40960}),
                 "litellm": ("LITELLM_PROXY_API_BASE", "/model_group/info", {
                     "model_group": "m", "providers": ["openai"], "max_input_tokens": 40960.0})}
        for vendor, (variable, path, entry) in about.items():
            with self.subTest(vendor):
                provider = self.play(BY_NAME["openai-chat"], self.look(), Turn("Done."))
                provider.about, provider.told = scripted.json_answer({"data": [entry]}), self.told
                self.user_settings({})
                result = self.keel("-p", "--model", f"{vendor}/m", "--permission-mode",
                                   "bypassPermissions", "go", env={variable: provider.url + "/v1"})
                self.assert_status(result, 0)
                self.assertEqual([request.path for request in provider.lookups], [path])
                self.assertEqual([request.json["max_tokens"] for request in provider.requests],
                                 [16384, 10240])

    def test_a_later_run_knows_it_at_once(self):
        protocol, (_, about, _, output) = BY_NAME["openai-chat"], SHAPES["vLLM"]
        self.user_settings({})
        provider = self.play(protocol, self.look(), Turn("Done."), Turn("Again."))
        provider.about, provider.told = scripted.json_answer(about), self.told
        for _ in range(2):
            self.assert_status(self.run_agent(protocol, provider, "go",
                                              mode="bypassPermissions"), 0)
        self.assertEqual(len(provider.lookups), 1)
        self.assertEqual(provider.requests[2].json["max_completion_tokens"], output)

    def test_a_fallback_is_asked_about_when_it_is_first_used(self):
        protocol, (_, about, _, output) = BY_NAME["openai-chat"], SHAPES["vLLM"]
        gone = self.provider(scripted.json_answer({"error": {"message": "gone",
                                                             "code": "model_not_found"}}, 404))
        provider = self.play(protocol, self.look(), Turn("Done."))
        provider.about, provider.told = scripted.json_answer(about), self.told
        profile = {"type": "openai-chat", "apiKey": scripted.KEY}
        self.user_settings({"currentProvider": "first", "providers": {
            "first": {**profile, "model": "m1", "baseUrl": gone.url + protocol.prefix,
                      "contextWindow": 100_000},
            "second": {**profile, "model": "m", "baseUrl": provider.url + protocol.prefix},
            "third": {**profile, "model": "m3", "baseUrl": gone.url + protocol.prefix}}})
        self.session = self.new_id()
        result = self.keel("-p", "--fallback-model", "second/m", "--fallback-model", "third/m3",
                           "--session-id", self.session, "--permission-mode", "bypassPermissions",
                           "go")
        self.assertEqual(result.out, "Done.\n", result)
        self.assertEqual((len(provider.lookups), len(gone.lookups)), (1, 0))
        self.assertEqual([request.json["max_completion_tokens"] for request in provider.requests],
                         [16384, output])
        self.assert_exact()

    def test_nobody_is_asked_where_the_operator_or_the_catalogue_says_it(self):
        protocol = BY_NAME["openai-responses"]
        self.settings()
        requests = self.run_long(protocol, Turn("Done."))
        self.assertEqual(len(requests), 1)
        self.assertEqual(self.provider_played.lookups, [])
        provider = self.play(ANTHROPIC, Turn("Done."))
        self.assert_status(self.ask(provider, "--model", "anthropic/claude-haiku-4-5", "hi"), 0)
        self.assertEqual(provider.lookups, [])

    def test_the_first_request_does_not_wait_and_neither_does_the_end(self):
        self.told, held = None, scripted.Answer([self.hold()])
        provider, _ = self.start_run(ANTHROPIC, held, Turn("Done."))
        self.assertEqual(len(provider.requests), 1)

    def test_what_cannot_be_meant_changes_nothing(self):
        self.user_settings({})
        for about in ([], {"data": [{"id": "m", "context_length": 1}]},
                      {"data": [{"id": "m", "context_length": 10 ** 30}]},
                      {"data": [{"id": "m", "context_length": -5}]},
                      {"data": [{"id": "m", "context_length": "many"}]}, {"data": "x"}, 7,
                      {"data": [{"id": "n", "context_length": 4096}]}):
            provider, result = self.start_run(
                BY_NAME["openai-chat"], scripted.json_answer(about), self.look(), Turn("Done."))
            self.assertEqual(len(provider.requests), 2, about)
            self.assertNotIn("tokens and answers", result.out)
            self.assert_exact()


if __name__ == "__main__":
    scripted.main()
