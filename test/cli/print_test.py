"""print_test.py - keel -p: formats, flags and exit codes, with a scripted model over HTTP."""
import json
import pathlib
import sys
import threading
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from scripted import (ANTHROPIC, BY_NAME, TEXT, Answer, Call, FlowTest,  # noqa: E402
                      for_each_protocol, json_answer)

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def overloaded(**headers):
    return json_answer({"type": "error", "error": {"type": "overloaded_error",
                                                   "message": "Overloaded"}}, 529, **headers)


def lines(result):
    """stdout as the JSON objects it must be, one a line."""
    return [json.loads(line) for line in result.out.splitlines()]


class WithoutDashP(FlowTest):
    """keel "PROMPT" is keel -p "PROMPT"."""

    def run_keel(self, *arguments, **run):
        provider = self.provider(ANTHROPIC.answer())
        result = self.keel(*arguments, env={**ANTHROPIC.environment(provider)}, **run)
        texts = [[part["text"] for part in message["content"] if part["type"] == "text"]
                 for message in provider.requests[0].json["messages"]
                 if message["role"] == "user"] if provider.requests else []
        return result, [text for text in sum(texts, []) if not text.startswith("<environment>")]

    def assert_prompts(self, arguments, prompts, **run):
        result, sent = self.run_keel(*arguments, **run)
        self.assert_answer(result)
        self.assertEqual(sent, prompts)

    def test_a_sentence_is_a_prompt(self):
        self.assert_prompts(["why is the sky blue?"], ["why is the sky blue?"])
        self.assert_prompts(["--model", "anthropic/m", "session of what?"], ["session of what?"])

    def test_a_word_that_resembles_no_command_is_a_prompt(self):
        for word in ("hello", "test", "explain"):
            self.assert_prompts([word], [word])

    def test_a_misspelt_command_is_never_sent(self):
        for word in ("sesion", "doctr", "modles", "trst", "hepl", "sessions"):
            result, sent = self.run_keel(word)
            self.assert_refused(result, 2, f'unknown command "{word}"', "did you mean keel ")
            self.assertEqual(sent, [])

    def test_piped_text_alone_is_the_prompt(self):
        self.assert_prompts([], ["from a pipe\n"], stdin=b"from a pipe\n")
        self.assert_prompts(["--model", "anthropic/m"], ["from a pipe"], stdin=b"from a pipe")

    def test_piped_text_goes_with_the_prompt(self):
        self.assert_prompts(["review this"], ["review this", "a diff"], stdin=b"a diff")

    def test_piped_text_that_no_model_could_read_says_what_to_do(self):
        result, sent = self.run_keel("-p", "what is this?", stdin=b"x" * (65 << 20))
        self.assert_refused(result, 2, "standard input is larger than its limit",
                            "pipe in less, for example with tail")
        self.assertEqual(sent, [])

    def test_a_model_is_named_by_a_letter_too(self):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_answer(self.keel("-m", "anthropic/x", "hi", env=ANTHROPIC.environment(provider)))
        self.assertEqual(provider.requests[0].json["model"], "x")

    def test_a_session_is_continued_and_resumed(self):
        self.assert_prompts(["-n", "sky", "why is it blue?"], ["why is it blue?"])
        self.assert_prompts(["-c", "more"], ["why is it blue?", "more"])
        self.assert_prompts(["-r", "sky", "still more"], ["why is it blue?", "more", "still more"])

    def test_letters_share_a_dash(self):
        self.assert_prompts(["-pn", "sky", "why is it blue?"], ["why is it blue?"])
        self.assert_prompts(["-cp", "more"], ["why is it blue?", "more"])
        self.assert_prompts(["-pr", "sky", "still more"], ["why is it blue?", "more", "still more"])

    def test_continue_alone_prints_the_last_answer_of_a_finished_session(self):
        self.assert_prompts(["-n", "sky", "why is it blue?"], ["why is it blue?"])
        for flags in (["-c"], ["-r", "sky"]):
            result, sent = self.run_keel(*flags)
            self.assert_status(result, 0)
            self.assertEqual((result.out, sent), (TEXT + "\n", []))
            self.assertIn("has nothing to resume; this is its last answer", result.err)


class Notices(FlowTest):
    def test_what_is_taken_from_another_programs_settings_is_said_once(self):
        def ask():
            return self.ask(self.provider(ANTHROPIC.answer()), "hi").err
        settings = {"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash(ls *)"]},
                    "hooks": {"Stop": []}, "model": "opus"}
        file = self.write("home/.claude/settings.json", settings)
        first = ask()
        self.assertIn(f"keel: {file}, written for another program: keel uses mode acceptEdits, "
                      "1 allow rule, hooks for Stop; it ignores model\n", first)
        self.assertIn("keel config show --origin", first)
        self.assertEqual(ask(), "")
        settings["permissions"]["allow"] = ["Bash"]
        self.write("home/.claude/settings.json", settings)
        self.assertIn("1 allow rule", ask())
        self.assertEqual(ask(), "")

    def test_what_is_not_taken_from_another_programs_settings_is_not_said_to_be(self):
        file = self.write("home/.claude/settings.json", {
            "permissions": {"defaultMode": "auto", "allow": ["Task", "Bash(ls *)", "MultiEdit",
                            "Skill(x)", "mcp__foo__bar", "Skill(y)"], "deny": ["Read(.env)"]},
            "hooks": {"Foo": [], "Stop": [], "Bar": [], "PostToolUse": []}, "enabledPlugins": {}})
        errors = [self.ask(self.provider(ANTHROPIC.answer()), "hi").err for _ in range(2)]
        self.assertEqual(errors[0].splitlines()[0],
                         f"keel: {file}, written for another program: keel uses 1 allow rule, 1 deny "
                         "rule, hooks for Stop and PostToolUse; it ignores enabledPlugins, mode auto, "
                         "rules for Task, MultiEdit, Skill, mcp__foo__bar, which keel does not have, "
                         "hooks for Foo and Bar")
        self.assertEqual(errors[1], "")

    def test_a_missing_keel_exec_is_reported_to_the_person(self):
        result = self.ask(self.provider(ANTHROPIC.answer()), "hi",
                          env={"KEEL_EXEC": "/nowhere/keel-exec"})
        self.assertEqual((result.status, result.out), (0, TEXT + "\n"))
        self.assertEqual(result.err, "keel: commands cannot run: cannot run /nowhere/keel-exec, "
                                     "which KEEL_EXEC names\n      correct or unset KEEL_EXEC\n")

    def test_a_tiny_budget_is_not_rounded_to_nothing(self):
        result = self.ask(self.provider(ANTHROPIC.answer()), "--model",
                          "anthropic/claude-sonnet-5-5", "--max-budget-usd", "0.00001", "hi")
        self.assert_refused(result, 5, "$0 of $0.00001 used")


class EarlyFailures(FlowTest):
    """What is wrong before anything is sent, as the result line of both JSON formats."""

    def results(self, *arguments):
        for form in ("json", "stream-json"):
            result = self.keel("-p", "hi", "--output-format", form, "--verbose", *arguments,
                               env={"ANTHROPIC_API_KEY": "k"})
            self.assert_status(result, 2)
            yield lines(result)[-1]

    def test_a_bad_flag_is_no_error_of_the_api(self):
        for flags in (["--max-turns", "x"], ["--effort", "foo"], ["--permission-mode", "foo"],
                      ["--model", "opnai/x"], ["--settings", "{"], ["--json-schema", "{"],
                      ["--store", "mysql://x"], ["--tools", "Foo"]):
            for line in self.results(*flags):
                self.assertEqual((line["subtype"], line["terminal_reason"]),
                                 ("error_during_execution", "turn_setup_failed"), flags)

    def test_every_one_has_a_uuid_of_its_own(self):
        uuids = [line["uuid"] for _ in range(2) for line in self.results("--effort", "foo")]
        self.assertEqual(len(set(uuids)), len(uuids))
        for text in uuids:
            self.assertEqual(uuid.UUID(text).version, 7)
            self.assertFalse(text.startswith("00000000"), text)


class Text(FlowTest):
    def test_only_the_last_answer_is_printed(self):
        provider = self.provider(ANTHROPIC.answer(["Let me look."], calls=[Call("Glob", pattern="*")]),
                                 ANTHROPIC.answer(["Nothing there."]))
        self.assert_answer(self.ask(provider, "hi"), "Nothing there.")
        self.assertEqual(len(provider.requests), 2)

    def test_no_stream_asks_for_one_piece(self):
        provider = self.provider(json_answer({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 9}}))
        self.assert_answer(self.ask(provider, "--no-stream", "hi"))
        self.assertNotIn("stream", self.only_request(provider).json)

    def test_a_limit_without_an_answer_exits_with_5(self):
        provider = self.provider(ANTHROPIC.answer([""], calls=[Call("Glob", pattern="*")]))
        result = self.ask(provider, "--max-turns", "2", "hi")
        self.assert_status(result, 5)
        self.assertTrue(result.out.startswith("Maximum rounds reached."), result)
        self.assertIn("keel: the round limit was reached", result.err)
        self.assertEqual(len(provider.requests), 3)  # two rounds and a last one without tools
        self.assertEqual(provider.requests[2].json["tool_choice"], {"type": "none"})

    def test_a_limit_of_nothing_is_no_limit(self):
        rounds = [ANTHROPIC.answer([""], calls=[Call("Glob", pattern="*")])] * 12
        provider = self.provider(*rounds, ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, "--max-turns", "0", "hi"))
        self.assertEqual(len(provider.requests), 13)

    def test_a_limit_with_an_answer_is_an_answer(self):
        provider = self.provider(ANTHROPIC.answer([""], calls=[Call("Glob", pattern="*")]),
                                 ANTHROPIC.answer(["So far nothing."]))
        result = self.ask(provider, "--max-turns", "1", "hi")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "So far nothing.\n")
        self.assertIn("--max-turns", result.err)

    def test_a_limit_of_the_settings_is_not_told_as_a_flag(self):
        self.user_settings({"maxTurns": 1})
        provider = self.provider(ANTHROPIC.answer([""], calls=[Call("Glob", pattern="*")]),
                                 ANTHROPIC.answer(["So far nothing."]))
        result = self.ask(provider, "hi")
        self.assertIn("the round limit (the setting maxTurns) was reached", result.err)
        self.assertNotIn("--max-turns", result.err)

    def test_a_budget_is_told_as_what_has_set_it(self):
        price = {"pricing": {"anthropic/m": {"input": 1, "output": 1}}}
        for settings, flags, told, other in (
                ({"budget": {"usd": 0.000001}}, [], "the setting budget.usd", "--max-budget-usd"),
                ({}, ["--max-budget-usd", "0.000001"], "--max-budget-usd", "budget.usd"),
                ({"budget": {"tokens": 1}}, [], "the setting budget.tokens", "--max-tokens"),
                ({"budget": {"tokens": 9}}, ["--max-tokens-total", "1"], "--max-tokens-total",
                 "budget.tokens")):
            with self.subTest(told, flags=flags):
                self.user_settings(price | settings)
                result = self.ask(self.provider(), *flags, "hi")
                self.assert_status(result, 5)
                self.assertIn(f"raise {told}\n", result.err)
                self.assertNotIn(other, result.err)


class Json(FlowTest):
    def test_one_object_has_answer_usage_and_session(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.ask(provider, "--output-format", "json", "hi")
        self.assert_fine(result)
        (line,) = lines(result)
        self.assertEqual((line["type"], line["subtype"], line["is_error"], line["result"]),
                         ("result", "success", False, TEXT))
        self.assertEqual((line["num_turns"], line["usage"]["output_tokens"]), (1, 9))
        self.assertEqual(line["modelUsage"]["m"]["outputTokens"], 9)
        self.assertRegex(line["session_id"], r"\A[0-9a-f]{8}-[0-9a-f-]{27}\Z")

    def test_what_a_model_costs_is_the_settings_business(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 2, "output": 10}}})
        (line,) = lines(self.ask(self.provider(ANTHROPIC.answer()), "--output-format", "json", "x"))
        self.assertAlmostEqual(line["total_cost_usd"], (5 * 2 + 9 * 10) / 1e6)

    def test_a_failure_is_on_stderr_and_in_the_result(self):
        provider = self.provider(json_answer({"type": "error", "error": {
            "type": "authentication_error", "message": "invalid key"}}, 401))
        for output in ("json", "stream-json"):
            result = self.ask(provider, "--output-format", output, "hi")
            self.assert_status(result, 6)
            self.assertIn("invalid key", result.err)
            last = lines(result)[-1]
            self.assertEqual((last["type"], last["is_error"]), ("result", True))
            self.assertEqual(last["error_code"], "provider_auth")

    def test_a_failure_before_the_run_has_a_result_too(self):
        for arguments, status in ((("--model", "anthropic/x"), 6), (("--model", "nonsense/x"), 2),
                                  (("--permission-mode", "x"), 2), (("--json-schema", "{"), 2),
                                  (("--max-turns", "-1"), 2)):
            result = self.keel("-p", "--output-format", "json", *arguments, "hi")
            self.assert_status(result, status)
            (line,) = lines(result)
            self.assertEqual((line["type"], line["is_error"]), ("result", True), result)
            self.assertTrue(result.err.startswith("keel: "), result)

    def test_an_interrupt_has_a_result_too(self):
        asked = threading.Event()

        def answer(_request):
            asked.set()
            return Answer([self.hold()])

        process = self.start("-p", "--model", "anthropic/m", "--output-format", "json", "hi",
                             env=ANTHROPIC.environment(self.provider(answer)))
        self.assertTrue(asked.wait(scripted.HANG_SECONDS))
        process.send_signal(scripted.keel_test.signal.SIGINT)
        result = self.finish(process)
        self.assert_status(result, 130)
        self.assertTrue(lines(result)[-1]["is_error"])


class StreamJson(FlowTest):
    def stream(self, *arguments, answers=None):
        provider = self.provider(*(answers or [ANTHROPIC.answer()]))
        result = self.ask(provider, "--output-format", "stream-json", *arguments, "hi")
        self.assert_fine(result)
        return lines(result)

    def test_it_begins_with_init_and_ends_with_the_result(self):
        said = self.stream()
        self.assertEqual([line["type"] for line in said], ["system", "assistant", "result"])
        self.assertEqual(said[0]["cwd"], str(self.project.resolve()))
        self.assertEqual((said[0]["model"], said[0]["permissionMode"]), ("m", "default"))
        self.assertIn("Read", said[0]["tools"])
        self.assertEqual(len({line["session_id"] for line in said}), 1)

    def test_calls_and_results_are_lines(self):
        said = self.stream(answers=[
            ANTHROPIC.answer(["Look."], calls=[Call("Glob", pattern="*")]), ANTHROPIC.answer()])
        kinds = [(line["type"], line["message"]["content"][0]["type"])
                 for line in said if line["type"] in ("assistant", "user")]
        self.assertEqual(kinds, [("assistant", "text"), ("assistant", "tool_use"),
                                 ("user", "tool_result"), ("assistant", "text")])

    def test_partial_messages_are_there_when_asked_for(self):
        self.assertNotIn("stream_event", [line["type"] for line in self.stream()])
        said = self.stream("--include-partial-messages")
        text = [line["event"]["delta"]["text"] for line in said if line["type"] == "stream_event"
                and line["event"]["type"] == "content_block_delta"]
        self.assertEqual("".join(text), TEXT)
        self.assertGreater(len(text), 1)

    def test_partial_messages_need_lines(self):
        for output in ([], ["--output-format", "text"]):
            self.assert_refused(self.keel("-p", *output, "--include-partial-messages", "x"), 2,
                                "--include-partial-messages", "--output-format stream-json")


class Schema(FlowTest):
    def answer(self, text, *arguments, schema=None):
        provider = self.provider(ANTHROPIC.answer([text]))
        schema = schema or json.dumps(SCHEMA)
        return self.ask(provider, "--json-schema", schema, *arguments, "hi")

    def test_an_answer_that_fits_is_printed_as_json(self):
        self.assert_answer(self.answer('{"n": 3}'), '{"n":3}')
        self.assert_answer(self.answer('```json\n{"n": 3}\n```'), '{"n":3}')

    def test_the_schema_may_be_in_a_file(self):
        self.assert_answer(self.answer('{"n": 3}', schema=self.write("s.json", SCHEMA)), '{"n":3}')

    def test_the_result_has_the_value(self):
        (line,) = lines(self.answer('{"n": 3}', "--output-format", "json"))
        self.assertEqual(line["structured_output"], {"n": 3})

    def test_an_answer_that_does_not_fit_is_an_error(self):
        self.assert_refused(self.answer('{"n": "three"}'), 2, "does not fit the schema", "/n")
        self.assert_refused(self.answer("three"), 2, "not JSON")
        result = self.answer("three", "--output-format", "json")
        self.assertEqual((result.status, lines(result)[0]["is_error"]), (2, True))

    def test_a_schema_that_is_none_is_refused_before_anything_is_sent(self):
        for schema in ("{", '{"type": 7}', "nowhere.json", self.write("bad.json", "nonsense")):
            self.assert_refused(self.answer("x", schema=schema), 2, "--json-schema")


class Prompts(FlowTest):
    def system_of(self, *arguments, **run):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, *arguments, "hi", **run))
        return self.only_request(provider).json["system"][0]["text"]

    def surroundings_of(self, *arguments, **run):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, *arguments, "hi", **run))
        told, prompt = self.only_request(provider).json["messages"][0]["content"]
        self.assertEqual(prompt["text"], "hi")
        return told["text"]

    def test_keel_says_who_it_is_and_where(self):
        self.assertIn("You are keel", self.system_of())
        text = self.surroundings_of()
        for part in (f"Working directory: {self.project.resolve()}\n", "Git repository: no\n",
                     "System: Linux ", "Model: ", "Date: ", "Permission mode: default. ",
                     "are refused unless a rule allows them\n", "Network: only loopback",
                     "Person: absent"):
            self.assertIn(part, text)

    def test_what_is_told_is_true(self):
        self.user_settings({"network": {"allow": ["example.com"]}})
        for mode in ("default", "bypassPermissions"):
            self.assertIn("Network: loopback, example.com\n",
                          self.surroundings_of("--permission-mode", mode))
        self.user_settings({"sandbox": {"enabled": False}})
        text = self.surroundings_of()
        self.assertIn("Commands: not confined", text)
        self.assertIn("Changes of files, commands, requests", text)  # looking asks as well
        text = self.surroundings_of("--dangerously-skip-permissions")
        self.assertIn("Commands: not confined", text)
        self.assertNotIn("limits on commands", text)
        self.user_settings({"permissions": {"sandboxedCommands": "auto"}})
        self.assertNotIn("commands that do more", self.surroundings_of())

    def test_plan_mode_is_told_as_it_is(self):
        text = self.surroundings_of("--permission-mode", "plan")
        self.assertIn("Permission mode: plan. ", text)
        self.assertIn("call ExitPlanMode", text)
        self.assertIn("Commands: only those that look, in a read-only sandbox without network", text)
        self.assertIn("Requests to the web and reads outside the workspace are refused", text)
        text = self.surroundings_of("--permission-mode", "plan", "--tools", "Read")
        self.assertIn("give a plan as your answer", text)
        self.user_settings({"sandbox": {"enabled": False}})
        text = self.surroundings_of("--permission-mode", "plan")
        self.assertIn("Commands: refused in this mode\n", text)
        self.assertNotIn("do more than look", text)

    def test_without_tools_nothing_is_told_that_cannot_be_done(self):
        for mode in ("default", "plan", "acceptEdits", "bypassPermissions"):
            text = self.surroundings_of("--tools", "", "--permission-mode", mode)
            for word in ("Commands:", "Permission mode", "sandbox", "bash", "consent", "refused"):
                self.assertNotIn(word, text)
            self.assertIn("Working directory: ", text)
        text = self.system_of("--tools", "")
        for word in ("# Tools", "# Git", "AGENTS.md", "call that", "hook blocks", "smallest change",
                     "hard to undo"):
            self.assertNotIn(word, text)
        self.assertIn("You are keel", text)
        self.assertIn("out of your reach", text)

    def test_with_some_tools_only_what_these_can_do_is_told(self):
        text = self.surroundings_of("--tools", "Read,Grep")
        self.assertIn("Permission mode: default. Reads outside the workspace are", text)
        self.assertNotIn("Commands:", text)
        text = self.surroundings_of("--tools", "Read,Edit", "--permission-mode", "acceptEdits")
        self.assertIn("acceptEdits. Change files in the workspace freely. Reads outside", text)
        text = self.surroundings_of("--tools", "Edit,Bash")
        self.assertIn("default. Changes of files and commands that do more than look are", text)
        text = self.surroundings_of("--tools", "TodoWrite")
        self.assertIn("Permission mode: default\n", text)

    def tools_of(self, *arguments, **run):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, *arguments, "hi", **run))
        return [tool["name"] for tool in self.only_request(provider).json["tools"]]

    def test_tools_that_cannot_work_here_are_not_offered(self):
        tools = self.tools_of()
        self.assertIn("Bash", tools)
        self.assertNotIn("AskUserQuestion", tools)
        self.assertNotIn("ExitPlanMode", tools)
        self.assertIn("ExitPlanMode", self.tools_of("--permission-mode", "plan"))
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        tools = self.tools_of()
        self.assertIn("AskUserQuestion", tools)
        self.assertIn("ExitPlanMode", tools)

    def test_it_is_the_same_twice(self):
        self.assertEqual(self.system_of(), self.system_of())

    def test_a_repository_is_known_from_below(self):
        (self.project / ".git").mkdir()
        (self.project / "sub").mkdir()
        self.assertIn("Git repository: yes\n", self.surroundings_of(cwd=self.project / "sub"))
        (self.project / ".git/HEAD").write_text("ref: refs/heads/topic/a\n")
        self.assertIn("Git repository: yes, on branch topic/a\n", self.surroundings_of())

    def test_it_can_be_replaced_and_added_to(self):
        self.assertEqual(self.system_of("--system-prompt", "Be a pirate."), "Be a pirate.")
        self.assertEqual(self.system_of("--system-prompt", "A.", "--append-system-prompt", "B."),
                         "A.\n\nB.")
        self.assertTrue(self.system_of("--append-system-prompt", "B.").endswith("\n\nB."))

    def test_cwd_and_added_directories_are_told(self):
        (self.dir / "other").mkdir()
        (self.dir / "more").mkdir()
        text = self.surroundings_of("--cwd", "../other", "--add-dir", "../more")
        self.assertIn(f"Working directory: {self.dir.resolve()}/other\n", text)
        self.assertIn(f"Further directories: {self.dir.resolve()}/more\n", text)


class Chain(FlowTest):
    def test_a_fallback_answers_when_the_first_model_does_not(self):
        first = self.provider(overloaded())
        second = self.provider(BY_NAME["openai-chat"].answer())
        result = self.ask(first, "--fallback-model", "groq/spare", "hi",
                          env=BY_NAME["openai-chat"].environment(second))
        self.assert_status(result, 0)
        self.assertEqual(result.out, TEXT + "\n")
        self.assertIn("Overloaded\n      asking groq/spare instead", result.err)
        self.assertEqual(self.only_request(second).json["model"], "spare")

    def test_fallbacks_are_asked_in_order(self):
        provider = self.provider(overloaded(), overloaded(), ANTHROPIC.answer())
        self.ask(provider, "--fallback-model", "anthropic/b", "--fallback-model=anthropic/c", "hi")
        self.assertEqual([request.json["model"] for request in provider.requests],
                         ["m", "b", "c"])

    def test_a_fallback_needs_its_key(self):
        result = self.ask(self.provider(ANTHROPIC.answer()), "--fallback-model", "groq/x", "hi")
        self.assert_refused(result, 6, "--fallback-model groq/x", "GROQ_API_KEY")

    def test_a_model_is_asked_again_as_often_as_the_settings_say(self):
        self.user_settings({"maxAttempts": 3})
        provider = self.provider(overloaded(Retry_After="0"), overloaded(Retry_After="0"),
                                 ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, "hi"))
        provider = self.provider(overloaded(Retry_After="0"))
        self.assert_refused(self.ask(provider, "hi"), 1, "Overloaded")
        self.assertEqual(len(provider.requests), 3)

    def test_text_that_nobody_saw_is_no_reason_not_to_ask_again(self):
        self.user_settings({"maxAttempts": 2})
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        broken = Answer(ANTHROPIC.answer().pieces[:3] + [scripted.event(error, "error")])
        provider = self.provider(broken, ANTHROPIC.answer(["Second try."]))
        self.assert_answer(self.ask(provider, "hi"), "Second try.")


class Verbose(FlowTest):
    def test_it_tells_tools_times_and_cost_on_stderr(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 2, "output": 10}}})
        provider = self.provider(ANTHROPIC.answer(["Look."], calls=[Call("Glob", pattern="*.c")]),
                                 ANTHROPIC.answer())
        result = self.ask(provider, "--verbose", "hi")
        self.assert_status(result, 0)
        self.assertEqual(result.out, TEXT + "\n")
        self.assertRegex(result.err, r"(?m)^> Glob  \*\.c$")
        self.assertRegex(result.err, r"(?m)^  Glob  \*\.c: [0-9.e-]+ s, \d+ characters$")
        self.assertRegex(result.err, r"(?m)^  anthropic/m: .* 5 tokens in, 9 out, \$0\.0001$")
        self.assertRegex(result.err, r"(?m)^  done: 2 requests, 1 tool call, .*, \$0\.0002$")

    def test_an_amount_that_is_small_is_not_nothing(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 0.1, "output": 0.5}}})
        self.assertRegex(self.ask(self.provider(ANTHROPIC.answer()), "--verbose", "hi").err,
                         r"(?m)^  anthropic/m: .* 5 tokens in, 9 out, \$0\.000005$")

    def test_it_tells_retries(self):
        self.user_settings({"maxAttempts": 2})
        provider = self.provider(overloaded(Retry_After="0"), ANTHROPIC.answer())
        self.assertRegex(self.ask(provider, "--verbose", "hi").err,
                         r"Overloaded.*; trying again in 0 s")


class Mistakes(FlowTest):
    def refused(self, *arguments):
        provider = self.provider(ANTHROPIC.answer())
        result = self.ask(provider, *arguments, "hi")
        self.assertEqual(provider.requests, [])
        return result

    def test_unknown_values_name_the_known_ones(self):
        self.assert_refused(self.refused("--output-format", "yaml"), 2, '"yaml"',
                            "text, json, stream-json")
        self.assert_refused(self.refused("--permission-mode", "yolo"), 2, '"yolo"',
                            "plan, default, acceptEdits, bypassPermissions")
        self.assert_refused(self.refused("--max-turns", "-1"), 2, "--max-turns takes a number")
        self.assert_refused(self.refused("--max-turns", "many"), 2, '"many"')

    def test_rules_that_are_none(self):
        for flag in ("--allowed-tools", "--disallowedTools"):
            self.assert_refused(self.refused(flag, "Bash(ls"), 2, '"Bash(ls"', "Bash(git *)")

    def test_directories_that_are_none(self):
        file = self.write("file", "")
        for flag in ("--cwd", "--add-dir"):
            self.assert_refused(self.refused(flag, "nowhere"), 2, f"{flag} nowhere: No such file")
            self.assert_refused(self.refused(flag, file), 2, "not a directory")

    def test_settings_that_make_no_sense(self):
        for settings, text in (({"toolTimeout": 0}, "toolTimeout"),
                               ({"toolTimeouts": {"Bash": -1}}, "toolTimeouts.Bash"),
                               ({"toolResponseMaxBytes": -5}, "toolResponseMaxBytes"),
                               ({"webSearch": {"provider": "bing"}}, "brave, searxng, command"),
                               ({"permissions": {"onAsk": "shrug"}}, "deny, suspend"),
                               ({"permissions": {"defaultMode": "yolo"}}, "acceptEdits")):
            self.assert_refused(self.refused("--settings", json.dumps(settings)), 2, text)

    def test_modes_that_contradict_each_other(self):
        self.assert_refused(self.refused("--dangerously-skip-permissions", "--permission-mode",
                                         "plan"), 2, "cannot be combined")


class EveryProtocol(FlowTest):
    @for_each_protocol
    def test_a_tool_is_called_and_its_result_is_sent(self, protocol):
        (self.project / "notes.txt").write_text("the answer is 42\n")
        call = Call("Read", file_path="notes.txt")
        provider = self.provider(protocol.answer(["Looking."], calls=[call]),
                                 protocol.answer(["It is 42."]))
        self.assert_answer(self.ask(provider, "what is it?", protocol=protocol), "It is 42.")
        self.assertNotIn(b"the answer is 42", provider.requests[0].body)
        self.assertIn(b"the answer is 42", provider.requests[1].body)


if __name__ == "__main__":
    scripted.main()
