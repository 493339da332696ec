"""failure_test.py - what keel -p says and how it exits when the answer does not come."""
import signal
import socket
import subprocess
import threading

import scripted
from scripted import (ANTHROPIC, BY_NAME, HANG_UP, KEY, PIECES, Answer, FlowTest, event,
                      for_each_protocol, json_answer)



def refusal(protocol, status, text, **headers):
    """How each vendor says no."""
    bodies = {
        "anthropic-messages": {"type": "error", "error": {"type": "some_error", "message": text}},
        "openai-chat": {"error": {"message": text, "type": "some_error", "code": None}},
        "openai-responses": {"error": {"message": text, "type": "some_error"}},
        "gemini": {"error": {"code": status, "message": text, "status": "SOME_ERROR"}},
        "ollama": {"error": text},
    }
    return json_answer(bodies[protocol.name], status, **headers)


class Refusals(FlowTest):
    def refuse(self, protocol, status, text="so it goes", **headers):
        provider = self.provider(refusal(protocol, status, text, **headers))
        result = self.ask(provider, "hi", protocol=protocol)
        self.assertEqual(len(provider.requests), 1)
        return result

    @for_each_protocol
    def test_a_key_that_is_refused_names_its_variable_and_where_keys_are_made(self, protocol):
        result = self.refuse(protocol, 401, "invalid key")
        self.assert_refused(result, 6, protocol.vendor, "401", "invalid key",
                            protocol.key_variable, "https://")
        self.assertNotIn(KEY, result.err)

    def test_an_account_without_credit_does_not_blame_the_key(self):
        for name, status, error in (
                ("openai-chat", 429, {"code": "insufficient_quota", "message": "no quota"}),
                ("openai-responses", 402, {"message": "Insufficient credits"}),
                ("gemini", 402, {"code": 402, "message": "no credit"}),
                ("anthropic-messages", 402, {"type": "billing_error", "message": "no credit"})):
            with self.subTest(name):
                provider = self.provider(json_answer({"error": error}, status))
                result = self.ask(provider, "hi", protocol=BY_NAME[name])
                self.assert_refused(result, 6, f"HTTP {status}", error["message"],
                                    "credit or quota is used up")
                self.assertNotIn("API_KEY", result.err)

    def test_nor_does_one_whose_credit_ends_within_the_stream(self):
        quota = {"code": "insufficient_quota", "message": "no quota"}
        for name, value in (
                ("openai-responses", {"type": "response.failed",
                                      "response": {"status": "failed", "error": quota}}),
                ("openai-responses", {"type": "error", **quota}),
                ("openai-chat", {"error": quota}),
                ("anthropic-messages", {"type": "error", "error": {
                    "type": "billing_error", "message": "no quota"}})):
            with self.subTest(name, type=value.get("type")):
                provider = self.provider(Answer([event(value, value.get("type"))]))
                result = self.ask(provider, "hi", protocol=BY_NAME[name])
                self.assert_refused(result, 6, "no quota", "credit or quota is used up")
                self.assertNotIn("API_KEY", result.err)

    @for_each_protocol
    def test_a_model_that_does_not_exist_is_a_matter_of_configuration(self, protocol):
        self.assert_refused(self.refuse(protocol, 404, "no such model"), 6, "no such model",
                            'the request asked for "m"; keel models ')

    @for_each_protocol
    def test_too_many_requests_say_when_to_try_again(self, protocol):
        result = self.refuse(protocol, 429, "slow down", Retry_After="7")
        self.assert_refused(result, 1, "slow down", "again in 7 s")
        result = self.refuse(protocol, 429, "slow down", Retry_After="3600")
        self.assert_refused(result, 1, "again in 60 min")

    @for_each_protocol
    def test_a_provider_that_fails_is_told_with_its_words(self, protocol):
        for status in (400, 500, 503, 529):
            result = self.refuse(protocol, status, "so it goes")
            self.assert_refused(result, 1, f"HTTP {status}", "so it goes")

    def test_a_refusal_says_what_to_do_and_which_request_it_was(self):
        for status, exit_code, next_step in (
                (400, 1, "--trace-llm"), (404, 6, "keel models anthropic --refresh"),
                (413, 5, "keel session compact"), (429, 1, "another model with --model"),
                (500, 1, "another model with --model"), (529, 1, "another model with --model")):
            with self.subTest(status):
                result = self.refuse(ANTHROPIC, status, "so it goes", Request_Id="req_123")
                self.assert_refused(result, exit_code, f"HTTP {status}: so it goes",
                                    "(request-id req_123)", next_step)

    def test_a_prompt_that_is_too_long_is_a_limit_that_was_reached(self):
        text = "prompt is too long: 208310 tokens > 200000 maximum"
        self.assert_refused(self.refuse(ANTHROPIC, 400, text), 5, text)

    @for_each_protocol
    def test_control_characters_of_a_provider_do_not_reach_the_terminal(self, protocol):
        result = self.refuse(protocol, 500, "\x1b]0;owned\x07 \x9b31m")
        self.assert_refused(result, 1, "\\x1b]0;owned\\x07", "\\x9b31m")
        self.assertNotRegex(result.err, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    @for_each_protocol
    def test_a_web_page_is_no_answer(self, protocol):
        page = b"<!doctype html><html><body>Welcome to the hotel wifi</body></html>"
        for status, exit_status in ((200, 6), (404, 6), (418, 1)):
            provider = self.provider(Answer([page], status, content_type="text/html"))
            result = self.ask(provider, "hi", protocol=protocol)
            self.assert_refused(result, exit_status, "web page", "base URL")

    @for_each_protocol
    def test_an_answer_that_is_nonsense_is_told(self, protocol):
        for body in (b"data: {nonsense\n\n", b"\x00\xff\xfe", b"[]", b"null", b"data: []\n\n"):
            provider = self.provider(Answer([body]))
            result = self.ask(provider, "hi", protocol=protocol)
            self.assertIn(result.status, (1, 6), result)
            self.assertEqual(result.out, "")
            self.assertTrue(result.err.startswith("keel: "), result)

    @for_each_protocol
    def test_an_empty_answer_is_told(self, protocol):
        self.assert_refused(self.ask(self.provider(Answer([])), "hi", protocol=protocol), 1,
                            protocol.vendor)

    def test_an_endless_error_page_is_cut(self):
        provider = self.provider(Answer([b"x" * 65536] * 1000, 500, content_type="text/plain"))
        result = self.ask(provider, "hi")
        self.assert_refused(result, 1, "HTTP 500")
        self.assertLess(len(result.err), 5000)

    def test_a_redirect_is_not_followed_with_the_key(self):
        other = self.provider(ANTHROPIC.answer())
        provider = self.provider(Answer([], 307, location=other.url + "/v1/messages"))
        self.assert_refused(self.ask(provider, "hi"), 6, "HTTP 307",
                            f"redirects it to {other.url}/")
        self.assertEqual(other.requests, [])


class Streams(FlowTest):
    @for_each_protocol
    def test_an_answer_that_breaks_off_keeps_what_has_come(self, protocol):
        for end in ([HANG_UP], []):
            answer = protocol.answer()
            until = next(i for i, piece in enumerate(answer.pieces) if b"Hello" in piece)
            answer.pieces[until + 1:] = end
            result = self.ask(self.provider(answer), "hi", protocol=protocol)
            self.assert_status(result, 1)
            self.assertEqual(result.out, "Hello\n")
            self.assertTrue(result.err.startswith(f"keel: {protocol.vendor}: "), result)

    def test_an_error_in_the_middle_keeps_what_has_come(self):
        pieces = ANTHROPIC.answer().pieces[:4]
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        provider = self.provider(Answer(pieces + [scripted.event(error, "error")]))
        result = self.ask(provider, "hi")
        self.assert_status(result, 1)
        self.assertEqual(result.out, "Hello, \n")
        self.assertIn("Overloaded", result.err)

    def profile(self, provider, **more):
        self.user_settings({"providers": {"x": {"type": "anthropic-messages", "model": "m",
                                                "baseUrl": provider.url, **more}}})

    def test_a_provider_that_is_silent_from_the_start_times_out(self):
        provider = self.provider(Answer([self.hold()]))
        self.profile(provider, timeout=100)
        self.assert_refused(self.keel("-p", "hi"), 1, "x: ", "100 ms")

    def test_a_provider_that_falls_silent_times_out_and_what_has_come_is_kept(self):
        pieces = ANTHROPIC.answer().pieces
        provider = self.provider(Answer(pieces[:3] + [self.hold()]))
        self.profile(provider, timeout=1000)
        result = self.keel("-p", "hi")
        self.assert_status(result, 1)
        self.assertEqual(result.out, "Hello\n")
        self.assertIn("x: ", result.err)

    def test_nobody_listens(self):
        address = self.deaf_address()
        result = self.keel("-p", "--model", "ollama/m", "hi", env={"OLLAMA_HOST": address})
        self.assert_refused(result, 1, "ollama: ", address)

    def test_a_peer_that_speaks_no_http(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def speak():
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            connection.close()

        threading.Thread(target=speak, daemon=True).start()
        result = self.keel("-p", "--model", "ollama/m", "hi",
                           env={"OLLAMA_HOST": f"127.0.0.1:{listener.getsockname()[1]}"})
        self.assert_refused(result, 1, "ollama: ")


class Signals(FlowTest):
    def start_asking(self, answer, *options, **streams):
        process = self.start("-p", "--model", "anthropic/m", *options, "hi",
                             env=ANTHROPIC.environment(self.provider(answer)), **streams)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def start_and_wait(self):
        """keel -p in the middle of an answer: "Hello" has arrived, the rest never comes."""
        answer = Answer(ANTHROPIC.answer().pieces[:3] + [self.hold()])
        process = self.start_asking(answer, "--trace-llm")
        while b"Hello" not in process.stderr.readline():
            pass
        return process

    def test_an_interrupt_ends_the_request_and_prints_what_has_come(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start_and_wait()
            process.send_signal(number)
            result = self.finish(process)
            self.assert_status(result, 128 + number)
            self.assertEqual(result.out, "Hello\n")
            self.assertTrue(result.err.endswith("keel: interrupted\n"), result)

    def test_an_interrupt_before_the_answer_begins(self):
        event, asked = self.hold(), threading.Event()

        def answer(_request):
            asked.set()
            return Answer([event])

        process = self.start_asking(answer)
        self.assertTrue(asked.wait(scripted.HANG_SECONDS))
        process.send_signal(signal.SIGINT)
        self.assert_refused(self.finish(process), 130, "keel: interrupted\n")

    def test_an_interrupt_that_was_ignored_from_the_start_stays_ignored(self):
        pieces, event = ANTHROPIC.answer().pieces, self.hold()
        provider = self.provider(Answer(pieces[:3] + [event] + pieces[3:]))
        process = subprocess.Popen(
            ["sh", "-c", 'trap "" INT; exec "$@"', "sh", scripted.keel_test.KEEL, "-p", "--model",
             "anthropic/m", "--trace-llm", "hi"],
            env=self.environment(ANTHROPIC.environment(provider)), cwd=self.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while b"Hello" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        event.set()
        result = self.finish(process)
        self.assert_status(result, 0)
        self.assertEqual(result.out, "".join(PIECES) + "\n")

    def test_a_second_interrupt_kills_on_the_spot(self):
        """The reader does not read; after the first one keel would wait a second for it."""
        process = self.start_asking(ANTHROPIC.answer(["x" * 65536] * 64), "--output-format",
                                    "stream-json", "--include-partial-messages")
        self.assertEqual(process.stdout.read(1), b"{")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                pass
        self.assertIn(process.returncode, (-signal.SIGINT, 130))

    def test_a_reader_that_leaves_ends_the_request(self):
        """Also before there is anything to write."""
        asked = threading.Event()

        def answer(_request):
            asked.set()
            return Answer(ANTHROPIC.answer().pieces[:3] + [self.hold()])

        process = self.start_asking(answer)
        self.assertTrue(asked.wait(scripted.HANG_SECONDS))
        process.stdout.close()
        process.wait(scripted.HANG_SECONDS)
        self.assertEqual(process.returncode, -signal.SIGPIPE)
        self.assertEqual(scripted.keel_test.without_notice(process.stderr.read()), b"")

    def test_output_that_cannot_be_written_is_told(self):
        provider = self.provider(ANTHROPIC.answer())
        with open("/dev/full", "wb") as full:
            result = self.ask(provider, "hi", stdout=full)
        self.assert_refused(result, 1, "cannot write to standard output: No space left on device")

    def test_lines_that_cannot_be_written_end_the_request(self):
        provider = self.provider(Answer(ANTHROPIC.answer().pieces[:3] + [self.hold()]))
        with open("/dev/full", "wb") as full:
            result = self.ask(provider, "--output-format", "stream-json", "hi", stdout=full)
        self.assert_refused(result, 1, "cannot write to standard output: No space left on device")


class OnATerminal(FlowTest):
    def test_an_answer_cannot_steer_the_terminal(self):
        nasty = ["\x1b]0;title\x07", "a\tb\r\n", "\u009b31m", "\x1b", "[2J"]
        provider = self.provider(ANTHROPIC.answer(nasty))
        result = self.on_terminal("-p", "--model", "anthropic/m", "hi",
                                  env=ANTHROPIC.environment(provider))
        self.assertEqual(result.out, "\\x1b]0;title\\x07a\tb\r\n\\x9b31m\\x1b[2J\r\n")

    def test_elsewhere_an_answer_is_printed_as_it_came(self):
        nasty = "\x1b]0;title\x07a\tb\r\n\u009b31m\x00"
        provider = self.provider(ANTHROPIC.answer([nasty]))
        self.assert_answer(self.ask(provider, "hi"), nasty)


class Trace(FlowTest):
    @for_each_protocol
    def test_the_exchange_is_shown_without_the_key(self, protocol):
        provider = self.provider(protocol.answer())
        result = self.ask(provider, "--trace-llm", "hi", protocol=protocol)
        self.assert_status(result, 0)
        self.assertNotIn(KEY, result.out + result.err)
        self.assertIn(f"> {protocol.key_header}: [REDACTED]\n", result.err)
        self.assertIn("> POST http://127.0.0.1:", result.err)
        self.assertIn("< HTTP 200\n", result.err)
        for line in result.err.splitlines():
            self.assertRegex(line, r"\A[>}<{*] ")

    @for_each_protocol
    def test_a_key_that_the_provider_repeats_is_not_shown(self, protocol):
        text = f"the key {KEY} is not valid"
        provider = self.provider(refusal(protocol, 401, text, x_echo=KEY))
        result = self.ask(provider, "--trace-llm", "hi", protocol=protocol)
        self.assert_status(result, 6)
        self.assertNotIn(KEY, result.out + result.err)


class Proxies(FlowTest):
    def test_a_proxy_is_asked_for_plain_http(self):
        proxy = self.provider(ANTHROPIC.answer())
        for variable in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            result = self.keel("-p", "--model", "anthropic/m", "hi", env={
                "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "http://api.invalid:8081",
                variable: proxy.url})
            self.assert_answer(result)
            self.assertEqual(proxy.requests[-1].path, "http://api.invalid:8081/v1/messages")

    def test_no_proxy_is_honoured(self):
        proxy = self.provider(Answer([], 502))
        provider = self.provider(ANTHROPIC.answer())
        for none in ("127.0.0.1", "127.0.0.0/8", "*", "other,127.0.0.1"):
            result = self.ask(provider, "hi", env={"http_proxy": proxy.url, "NO_PROXY": none})
            self.assert_answer(result)
        self.assertEqual(proxy.requests, [])

    def test_a_proxy_for_https_is_asked_for_a_tunnel_and_not_told_the_key(self):
        proxy = self.provider(Answer([], 403))
        result = self.keel("-p", "--model", "anthropic/claude-haiku-4-5", "hi", env={
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "https://api.invalid",
            "HTTPS_PROXY": proxy.url})
        self.assert_refused(result, 1, "proxy")
        request = self.only_request(proxy)
        self.assertEqual((request.method, request.path), ("CONNECT", "api.invalid:443"))
        self.assertNotIn(KEY, str(request.headers))

    def test_a_proxy_that_is_gone_is_told(self):
        result = self.keel("-p", "--model", "anthropic/m", "hi", env={
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "http://api.invalid",
            "http_proxy": f"http://me:hush@{self.deaf_address()}"})
        self.assert_refused(result, 1, "127.0.0.1")
        self.assertNotIn("hush", result.err)


if __name__ == "__main__":
    scripted.main()
