"""ask_test.py - keel -p asks a model over HTTP: what it sends, what it prints."""
import json
import re
import socket
import subprocess

import scripted
from scripted import ANTHROPIC, BY_NAME, KEY, TEXT, FlowTest, for_each_protocol


class EveryProtocol(FlowTest):
    @for_each_protocol
    def test_the_answer_and_nothing_else_is_on_stdout(self, protocol):
        provider = self.provider(protocol.answer())
        self.assert_answer(self.ask(provider, "hi", protocol=protocol))

    @for_each_protocol
    def test_the_request_has_the_right_path_key_and_prompt(self, protocol):
        provider = self.provider(protocol.answer())
        self.ask(provider, "why is the sky blue?", protocol=protocol)
        request = self.only_request(provider)
        self.assertEqual((request.method, request.path), ("POST", protocol.path))
        self.assertEqual(request.headers[protocol.key_header], protocol.key_value)
        self.assertEqual(request.headers["content-type"], "application/json")
        self.assertEqual(request.prompt_texts(), ["why is the sky blue?"])
        self.assertNotIn(KEY.encode(), request.body)
        self.assertNotIn(KEY, request.path)

    @for_each_protocol
    def test_it_makes_no_difference_how_the_network_cuts_the_bytes(self, protocol):
        stream = b"".join(protocol.answer().pieces)
        for size in (1, 3, 100):
            answer = protocol.answer()
            answer.pieces = [stream[at:at + size] for at in range(0, len(stream), size)]
            self.assert_answer(self.ask(self.provider(answer), "hi", protocol=protocol))

    @for_each_protocol
    def test_an_answer_that_ends_with_a_line_end_gets_no_second_one(self, protocol):
        provider = self.provider(protocol.answer(["two\n", "lines\n"]))
        result = self.ask(provider, "hi", protocol=protocol)
        self.assert_answer(result, "two\nlines")

    @for_each_protocol
    def test_an_answer_that_was_cut_off_by_its_limit_is_told(self, protocol):
        provider = self.provider(protocol.answer(stop=protocol.cut_stop))
        result = self.ask(provider, "hi", protocol=protocol)
        self.assert_status(result, 5)
        self.assertEqual(result.out, TEXT * 4 + "\n")
        self.assertIn("keel: the answer was cut off", result.err)
        self.assertIn("maxOutput", result.err)

    @for_each_protocol
    def test_an_answer_without_text_is_told(self, protocol):
        provider = self.provider(protocol.answer([""]))
        result = self.ask(provider, "hi", protocol=protocol)
        self.assertEqual(result.out, "")
        self.assertIn("keel: ", result.err)

    @for_each_protocol
    def test_a_long_answer_arrives_whole(self, protocol):
        pieces = [f"{number} " for number in range(20_000)]
        provider = self.provider(protocol.answer(pieces))
        self.assert_answer(self.ask(provider, "count", protocol=protocol), "".join(pieces))

    @for_each_protocol
    def test_the_system_prompt_goes_with_the_request(self, protocol):
        provider = self.provider(protocol.answer())
        self.ask(provider, "--append-system-prompt", "Be very brief.", "hi", protocol=protocol)
        self.assertIn(b"Be very brief.", self.only_request(provider).body)


class Prompts(FlowTest):
    def texts(self, *arguments, **run):
        provider = self.provider(scripted.ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, *arguments, **run))
        return self.only_request(provider).prompt_texts()

    def test_what_is_piped_in_goes_behind_the_prompt(self):
        self.assertEqual(self.texts("review this", stdin=b"diff --git\n"),
                         ["review this", "diff --git\n"])

    def test_what_is_piped_in_may_be_the_whole_prompt(self):
        self.assertEqual(self.texts(stdin=b"why?"), ["why?"])

    def test_a_file_may_be_standard_input(self):
        with open(self.write("prompt.txt", "from a file"), "rb") as file:
            self.assertEqual(self.texts(stdin=file), ["from a file"])

    def test_nothing_piped_in_is_nothing(self):
        self.assertEqual(self.texts("hi", stdin=b""), ["hi"])
        self.assertEqual(self.texts("hi", stdin=b" \n\t\n"), ["hi"])

    def test_a_pipe_that_stays_open_and_silent_is_not_waited_for_for_ever(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        process = self.start("-p", "--model", "anthropic/m", "hi", stdin=subprocess.PIPE,
                             env=scripted.ANTHROPIC.environment(provider))
        with process.stdin, process.stdout, process.stderr:
            self.assertEqual(process.stdout.read().decode(), TEXT + "\n")
            self.assertIn(b"continuing without it", process.stderr.read())
            self.assertEqual(process.wait(scripted.HANG_SECONDS), 0)

    def test_a_socket_may_be_standard_input(self):
        ours, theirs = socket.socketpair()
        ours.sendall(b"from a socket")
        ours.close()
        with theirs:
            self.assertEqual(self.texts("x", stdin=theirs), ["x", "from a socket"])

    def test_the_prompt_may_stand_anywhere_and_look_like_an_option(self):
        self.assertEqual(self.texts("--", "--help"), ["--help"])

    def test_a_dash_is_standard_input(self):
        self.assertEqual(self.texts("-", stdin=b"from a pipe"), ["from a pipe"])
        self.assertEqual(self.texts("--", "-5 + 3?"), ["-5 + 3?"])
        provider = self.provider(scripted.ANTHROPIC.answer())
        result = self.on_terminal("-p", "--model", "anthropic/m", "-", typed=b"typed\n\x04",
                                  env=scripted.ANTHROPIC.environment(provider))
        self.assert_status(result, 0)
        self.assertEqual(self.only_request(provider).prompt_texts(), ["typed\n"])

    def test_an_empty_prompt_is_refused_before_anything_is_sent(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        for arguments in ((), ("",), (" \n",)):
            self.assert_refused(self.ask(provider, *arguments), 2, "prompt", "or pipe it in")
        self.assertEqual(provider.requests, [])

    def test_bytes_that_are_not_utf8_are_sent_as_replacement_characters(self):
        self.assertEqual(self.texts(b"a\xff\xc3b"), ["a\ufffd\ufffdb"])

    def test_bytes_that_are_piped_in_and_are_not_text_are_reported(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        result = self.ask(provider, "x", stdin=b"\xfe\x00\x80")
        self.assertEqual((result.status, result.out), (0, TEXT + "\n"))
        self.assertEqual(self.only_request(provider).prompt_texts(), ["x", "\ufffd\x00\ufffd"])
        self.assertEqual(result.err, "keel: standard input is not text: 3 bytes are sent, with "
                                     "U+FFFD for what is not UTF-8\n")

    def test_a_large_prompt_arrives_whole(self):
        text = "".join(f"line {number}\n" for number in range(40_000))
        self.assertEqual(self.texts("sum up", stdin=text.encode())[1], text)

    def test_a_prompt_that_does_not_fit_the_context_window_is_not_sent(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        result = self.ask(provider, "sum up", stdin=b"word " * 400_000)
        self.assert_refused(result, 5, "context")
        self.assertEqual(provider.requests, [])

    def test_more_than_keel_takes_is_refused(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        result = self.ask(provider, "x", stdin=b"a" * (65 << 20))
        self.assert_refused(result, 2, "standard input")
        self.assertEqual(provider.requests, [])


class Models(FlowTest):
    def model_sent(self, *arguments, env=None, answer=None, **run):
        provider = self.provider(answer or scripted.ANTHROPIC.answer())
        given = {"ANTHROPIC_BASE_URL": provider.url, "ANTHROPIC_API_KEY": KEY, **(env or {})}
        result = self.keel("-p", *arguments, "hi", env=given, **run)
        self.assert_status(result, 0)
        self.assertEqual(result.out, TEXT + "\n")
        return self.only_request(provider).json["model"], result

    def test_vendor_and_model(self):
        self.assertEqual(self.model_sent("--model", "anthropic/some-model")[0], "some-model")

    def test_an_alias_of_the_vendor_and_a_model(self):
        self.assertEqual(self.model_sent("--model", "claude/some-model")[0], "some-model")

    def test_a_model_that_the_catalogue_knows_needs_no_vendor(self):
        model, result = self.model_sent("--model", "claude-haiku-4-5")
        self.assertEqual((model, result.err), ("claude-haiku-4-5", ""))

    def test_an_unknown_model_alone_goes_to_the_provider_in_use(self):
        model, result = self.model_sent("--verbose", "--model", "brand-new-model")
        self.assertEqual(model, "brand-new-model")
        self.assertRegex(result.err, r"using Anthropic \(brand-new-model\) at \S+, because ANTHROPIC_API_")

    def test_a_model_name_may_have_slashes(self):
        self.assertEqual(self.model_sent("--model", "anthropic/a/b/c")[0], "a/b/c")

    def test_without_a_model_the_vendor_has_one_and_who_watches_is_told(self):
        model, result = self.model_sent()
        self.assertEqual(result.err, "")
        told = re.escape(f"keel: using Anthropic ({model}) at http://127.0.0.1:") + \
            r"\d+, because ANTHROPIC_API_KEY is set\r?\n"
        self.assertRegex(self.model_sent("--verbose")[1].err, told)
        provider = self.provider(ANTHROPIC.answer())
        seen = self.on_terminal("-p", "hi", env=ANTHROPIC.environment(provider), columns=120)
        self.assertRegex(seen.out, told)

    def test_profiles_of_which_none_is_selected_are_mentioned(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        self.user_settings({"providers": {name: {"type": "openai", "model": "m"} for name in "ab"}})
        result = self.keel("-p", "--verbose", "hi", env=scripted.ANTHROPIC.environment(provider))
        self.assertIn("because ANTHROPIC_API_KEY is set\n      no profile is selected: --model NAME, or "
                      "the setting currentProvider\n", result.err)

    def test_the_setting_model_is_used_and_the_flag_wins(self):
        self.user_settings({"model": "anthropic/of-settings"})
        self.assertEqual(self.model_sent()[0], "of-settings")
        self.assertEqual(self.model_sent("--model", "anthropic/of-flag")[0], "of-flag")

    def test_a_profile_and_its_model(self):
        self.user_settings({"providers": {
            "work": {"type": "anthropic", "model": "of-profile"},
            "other": {"type": "gemini", "model": "x"}}})
        self.assertEqual(self.model_sent("--model", "work")[0], "of-profile")
        self.assertEqual(self.model_sent("--model", "work/of-flag")[0], "of-flag")


class Profiles(FlowTest):
    @for_each_protocol
    def test_a_profile_of_every_protocol(self, protocol):
        provider = self.provider(protocol.answer())
        self.user_settings({"providers": {"mine": {
            "type": protocol.name, "baseUrl": provider.url + protocol.prefix, "model": "m",
            "apiKey": "$ENV:MY_KEY"}}})
        self.assert_answer(self.keel("-p", "hi", env={"MY_KEY": KEY}))
        request = self.only_request(provider)
        self.assertEqual(request.path, protocol.path)
        self.assertEqual(request.headers[protocol.key_header], protocol.key_value)

    def test_a_profile_of_a_vendor_has_its_own_key(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        self.user_settings({"providers": {"work": {
            "type": "anthropic", "baseUrl": provider.url, "model": "m", "apiKey": KEY}}})
        self.assert_answer(self.keel("-p", "hi", env={"ANTHROPIC_API_KEY": "another"}))
        self.assertEqual(self.only_request(provider).headers["x-api-key"], KEY)

    def test_a_key_that_refers_to_an_unset_variable_names_it(self):
        self.user_settings({"providers": {"work": {
            "type": "anthropic", "baseUrl": "http://127.0.0.1:1", "apiKey": "$ENV:MY_KEY"}}})
        self.assert_refused(self.keel("-p", "hi"), 6, "providers.work.apiKey",
                            "the variable MY_KEY is not set")

    def test_headers_and_options_are_sent(self):
        protocol = BY_NAME["openai-chat"]
        provider = self.provider(protocol.answer())
        self.user_settings({"providers": {"mine": {
            "type": "openai-chat", "baseUrl": provider.url + "/v1", "model": "m", "maxOutput": 77,
            "headers": {"x-team": "search", "x-secret": "$ENV:TEAM_SECRET"},
            "options": {"service_tier": "flex", "temperature": 0.25, "nested": {"a": [1, None]}}}}})
        self.assert_answer(self.keel("-p", "hi", env={"TEAM_SECRET": "s3"}))
        request = self.only_request(provider)
        self.assertEqual((request.headers["x-team"], request.headers["x-secret"]), ("search", "s3"))
        body = request.json
        self.assertEqual(body["service_tier"], "flex")
        self.assertEqual(body["temperature"], 0.25)
        self.assertEqual(body["nested"], {"a": [1, None]})
        self.assertIn(77, (body.get("max_tokens"), body.get("max_completion_tokens")))
        self.assertTrue(body["stream"])
        self.assertNotIn("authorization", request.headers)

    def test_options_win_over_what_keel_would_write_and_stand_once(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        self.user_settings({"providers": {"mine": {
            "type": "anthropic-messages", "baseUrl": provider.url, "model": "m",
            "options": {"max_tokens": 5}}}})
        self.assert_answer(self.keel("-p", "hi"))
        pairs = json.loads(self.only_request(provider).body, object_pairs_hook=lambda p: p)
        self.assertEqual([value for name, value in pairs if name == "max_tokens"], [5])

    def test_settings_on_the_command_line_make_a_profile(self):
        provider = self.provider(scripted.ANTHROPIC.answer())
        given = json.dumps({"providers": {"x": {"type": "anthropic-messages", "model": "m",
                                                "baseUrl": provider.url + "/"}}})
        self.assert_answer(self.keel("-p", "--settings", given, "hi"))
        self.assertEqual(self.only_request(provider).path, "/v1/messages")

    def test_an_address_that_is_none_is_told(self):
        for url in ("ftp://host/", "http://", "http://a b/"):
            self.user_settings({"providers": {"x": {"type": "ollama", "model": "m",
                                                    "baseUrl": url}}})
            self.assert_refused(self.keel("-p", "hi"), 6, "base URL", url)

    def test_an_address_that_is_none_is_told_without_its_password(self):
        self.user_settings({"providers": {"x": {"type": "ollama", "model": "m",
                                                "baseUrl": f"ftp://me:{KEY}@host/"}}})
        result = self.keel("-p", "hi")
        self.assert_refused(result, 6, "base URL")
        self.assertNotIn(KEY, result.err)


if __name__ == "__main__":
    scripted.main()
