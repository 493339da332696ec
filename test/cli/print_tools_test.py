"""print_tools_test.py - keel -p and what its model may do: rules, modes, directories, commands."""
import json
import os
import pathlib
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from scripted import ANTHROPIC, KEY, Call, FlowTest  # noqa: E402

TOUCH = Call("Bash", command="touch made-by-bash")
WRITE = Call("Write", file_path="made-by-write", content="x\n")


class ToolTest(FlowTest):
    def call(self, call, *arguments, answers=(), **run):
        """One round with this call, then an answer; what the second request has as its result."""
        provider = self.provider(ANTHROPIC.answer(["Now."], calls=[call]), *answers,
                                 ANTHROPIC.answer(["Done."]))
        self.requests = provider.requests
        return self.ask(provider, *arguments, "do it", **run)

    def result(self, request=1):
        """(text, is_error) of the tool's result in a request."""
        part = self.requests[request].json["messages"][-1]["content"][0]
        content = part["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        return text, part.get("is_error", False)

    def assert_made(self, name, yes=True):
        self.assertEqual((self.project / name).exists(), yes)

    def tools_shown(self):
        return [tool["name"] for tool in self.requests[0].json["tools"]]


class Rules(ToolTest):
    def test_without_rules_nothing_is_changed_and_the_person_is_told_how_to_allow_it(self):
        for call, name in ((TOUCH, "made-by-bash"), (WRITE, "made-by-write")):
            result = self.call(call)
            self.assert_status(result, 0)
            self.assertEqual(result.out, "Done.\n")
            self.assertIn(f"1 call was not allowed:\n        {call.tool}  ", result.err)
            self.assertIn("--allowed-tools", result.err)
            self.assertTrue(self.result()[1])
            self.assert_made(name, False)

    def test_a_rule_allows_what_it_names(self):
        for flag in ("--allowed-tools", "--allowedTools"):
            self.assert_answer(self.call(TOUCH, flag, "Bash(touch *)"), "Done.")
            self.assert_made("made-by-bash")
            (self.project / "made-by-bash").unlink()

    def test_a_rule_allows_nothing_else(self):
        self.call(Call("Bash", command="touch made-by-bash; touch b"), "--allowed-tools",
                  "Bash(touch made-by-bash)")
        self.assert_made("made-by-bash", False)

    def test_rules_may_be_listed_in_many_ways(self):
        for rules in (["--allowed-tools", "Read,Bash(touch *)"],
                      ["--allowed-tools", "Read Bash(touch *)"],
                      ["--allowed-tools", "Read", "--allowedTools=Bash(touch *), Grep"]):
            self.assert_answer(self.call(TOUCH, *rules), "Done.")

    def test_rules_behind_the_prompt_may_be_words(self):
        provider = self.provider(ANTHROPIC.answer(["Now."], calls=[TOUCH]), ANTHROPIC.answer(["Done."]))
        self.assert_answer(self.ask(provider, "do it", "--allowedTools", "Read", "Bash(touch *)"),
                           "Done.")

    def test_rules_before_the_prompt_may_be_words_that_nothing_else_can_be(self):
        for words, stdin in ((["Grep", "Read", "Bash(touch *)", "do it"], None),
                             (["Bash(touch *)", "Read"], b"do it")):
            provider = self.provider(ANTHROPIC.answer(["Now."], calls=[TOUCH]),
                                     ANTHROPIC.answer(["Done."]))
            self.assert_answer(self.ask(provider, "--allowedTools", *words, stdin=stdin), "Done.")
            self.assertEqual(provider.requests[0].prompt_texts(), ["do it"])

    def test_what_is_disallowed_beats_what_is_allowed(self):
        for flag in ("--disallowed-tools", "--disallowedTools"):
            self.call(TOUCH, "--allowed-tools", "Bash", flag, "Bash(touch *)")
            self.assert_made("made-by-bash", False)
            self.assertIn("Bash", self.tools_shown())

    def test_a_tool_that_is_disallowed_altogether_is_not_shown(self):
        self.call(TOUCH, "--disallowed-tools", "Bash,WebFetch,WebSearch")
        for name in ("Bash", "WebFetch", "WebSearch"):
            self.assertNotIn(name, self.tools_shown())
        self.assertIn("Read", self.tools_shown())
        self.assertIn("not registered", self.result()[0])

    def test_rules_of_settings_hold_and_add_up(self):
        self.user_settings({"permissions": {"allow": ["Bash(touch *)"]}})
        self.assert_answer(self.call(TOUCH), "Done.")
        self.user_settings({"permissions": {"allow": ["Bash"], "deny": ["Bash(touch *)"]}})
        (self.project / "made-by-bash").unlink()
        result = self.call(TOUCH, "--allowed-tools", "Bash")
        self.assert_made("made-by-bash", False)
        self.assertNotIn("--allowed-tools", result.err)
        self.assertIn("keel permissions test says which", result.err)

    def denied(self, call, *arguments, settings=None):
        """What the person is told to do about a call that was not allowed."""
        self.user_settings(settings or {})
        result = self.call(call, *arguments)
        self.assert_status(result, 0)
        head, *hints = result.err.split(f"{call.tool}  ")[1].splitlines()
        return [hint.strip() for hint in hints]

    def test_no_flag_is_advised_that_cannot_help(self):
        hook = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}
        bypass = ("--permission-mode", "bypassPermissions")
        self.assertEqual(self.denied(TOUCH, *bypass, settings=hook), [
            "a hook forbids it, and no flag allows it; keel config show --origin prints hooks"])
        for call, settings in (
                (Call("Write", file_path=".git/hooks/x", content="x"), {}),
                (TOUCH, {"permissions": {"deny": ["Bash(touch *)"]}})):
            self.assertEqual(self.denied(call, *bypass, settings=settings), [
                "a rule or keel's own policy forbids it; keel permissions test says which"])
        self.assertEqual(self.denied(TOUCH, "--permission-mode", "plan"), [
            "plan mode changes nothing; choose another with --permission-mode MODE"])

    def test_the_mode_that_allows_a_change_is_named(self):
        self.assertEqual(self.denied(WRITE), ["--permission-mode acceptEdits allows changes of files, "
                                              "--allowed-tools RULE single calls"])
        self.assertEqual(self.denied(TOUCH), ["--allowed-tools RULE allows single calls, "
                                              "--permission-mode MODE more"])

    def test_an_untrusted_project_may_forbid_but_not_allow(self):
        self.write("project/.keel/settings.json", {"permissions": {
            "allow": ["Bash"], "defaultMode": "bypassPermissions"}})
        self.call(TOUCH)
        self.assert_made("made-by-bash", False)
        self.write("project/.keel/settings.json", {"permissions": {"deny": ["Bash(touch *)"]}})
        self.call(TOUCH, "--allowed-tools", "Bash")
        self.assert_made("made-by-bash", False)

    def test_what_must_not_be_read_is_not_found_either(self):
        (self.project / "secret.txt").write_text("hush\n")
        (self.project / "open.txt").write_text("hush\n")
        call = Call("Grep", pattern="hush", output_mode="files_with_matches")
        self.call(call, "--disallowed-tools", "Read(secret.txt)")
        self.assertIn("open.txt", self.result()[0])
        self.assertNotIn("secret.txt", self.result()[0])


class Modes(ToolTest):
    def test_accept_edits_writes_files_and_runs_nothing(self):
        for mode in ("acceptEdits", "full"):
            self.assert_answer(self.call(WRITE, "--permission-mode", mode), "Done.")
            self.assert_made("made-by-write")
            (self.project / "made-by-write").unlink()
        self.call(TOUCH, "--permission-mode", "acceptEdits")
        self.assert_made("made-by-bash", False)

    def test_bypass_runs_everything(self):
        for flags in (["--permission-mode", "bypassPermissions"],
                      ["--dangerously-skip-permissions"]):
            self.assert_answer(self.call(TOUCH, *flags), "Done.")
            self.assert_made("made-by-bash")
            (self.project / "made-by-bash").unlink()

    def test_plan_changes_nothing_whatever_is_allowed(self):
        for flags in (["--permission-mode", "plan"], ["--permission-mode", "safe"]):
            self.call(WRITE, *flags)
            self.assert_made("made-by-write", False)

    def test_the_setting_is_the_default_and_the_flag_wins(self):
        self.user_settings({"permissions": {"defaultMode": "bypassPermissions"}})
        self.assert_answer(self.call(TOUCH), "Done.")
        (self.project / "made-by-bash").unlink()
        self.call(TOUCH, "--permission-mode", "default")
        self.assert_made("made-by-bash", False)

    def test_a_mode_of_another_program_is_no_mistake(self):
        self.write("home/.claude/settings.json", {"permissions": {"defaultMode": "dontAsk"}})
        self.assert_status(self.call(WRITE), 0)
        self.assert_made("made-by-write", False)


class WrongNames(ToolTest):
    """What is misspelt is an error, above all where it forbids."""

    def refused(self, *arguments, settings=None, says, hint="did you mean Bash?"):
        if settings is not None:
            self.user_settings(settings)
        provider = self.provider(ANTHROPIC.answer())
        result = self.ask(provider, *arguments, "hi")
        self.assert_status(result, 2)
        self.assertIn(says, result.err)
        self.assertIn(hint, result.err)
        self.assertEqual(provider.requests, [])

    def test_a_tool_in_a_flag(self):
        for flag in ("--disallowed-tools", "--allowed-tools"):
            for rule in ("Bsh", "Bsh(rm *)", "bash", "Bsh*"):
                name = rule.partition("(")[0]
                self.refused(flag, rule, says=f'{flag}: unknown tool "{name}"')
        self.refused("--tools", "Foo", says='--tools: unknown tool "Foo"', hint="one of: Bash")
        self.refused("--tools", "Red", says='--tools: unknown tool "Red"',
                     hint="did you mean Read?")

    def test_a_tool_in_settings(self):
        for kind in ("deny", "ask", "allow"):
            self.refused(settings={"permissions": {kind: ["Bsh(rm *)"]}},
                         says=f'settings.json: permissions.{kind}: unknown tool "Bsh"')
        self.refused(settings={"toolTimeouts": {"Bsh": 1}},
                     says='toolTimeouts: unknown tool "Bsh"')
        self.refused("--settings", '{"permissions": {"deny": ["Bsh(rm *)"]}}', settings={},
                     says='--settings: permissions.deny: unknown tool "Bsh"')

    def test_what_is_not_a_rule_in_settings(self):
        for rule in ("Bash(", "Bash()", "Bash(x", "", "rm -rf"):
            self.refused(settings={"permissions": {"deny": [rule]}},
                         says=f'"{rule}" is not a valid rule', hint="Read, Bash(git *)")

    def test_a_key_in_settings(self):
        self.refused(settings={"modle": "x"}, says='unknown setting "modle"',
                     hint='did you mean "model"?')
        self.refused("--settings", '{"permissions": {"denny": ["Read"]}}', settings={},
                     says='unknown setting "permissions.denny"',
                     hint='did you mean "permissions.deny"?')

    def test_a_vendor(self):
        self.refused("--model", "antropic/m", says='unknown vendor or profile "antropic"',
                     hint="did you mean anthropic/m?")
        self.refused("--model", "nosuch/x", says='unknown vendor or profile "nosuch"',
                     hint="one of: anthropic")
        self.refused("--model", "", says="the model name is empty", hint="--model")
        self.refused("--model", "anthropic/m", "--fallback-model", "antropic/m",
                     says='unknown vendor or profile "antropic"', hint="did you mean")

    def test_a_model_at_a_server_of_ones_own(self):
        for model, says, hint in (
                ("", "the model name is empty", "use --model VENDOR/MODEL"),
                ("anthropic/", 'no model name after "anthropic/"', "anthropic alone"),
                ("/x", 'no vendor before the slash of "/x"', "use VENDOR/MODEL"),
                ("x/", 'unknown vendor or profile "x"', "one of: anthropic"),
                ("sonet", 'Anthropic has no model "sonet"', "did you mean sonnet?")):
            self.refused("--model", model, says=says, hint=hint)
            self.refused("--model", "anthropic/m", "--fallback-model", model,
                         says=f"--fallback-model {model}: {says}", hint=hint)
        self.assert_answer(self.ask(self.provider(ANTHROPIC.answer()), "--model", "any-name", "hi"))

    def test_what_is_wrong_in_a_file_is_told_with_the_file(self):
        path = self.user_settings({"model": "antropic/x"})
        self.assert_refused(self.keel("-p", "hi", env={"ANTHROPIC_API_KEY": "k"}), 2,
                            f'the setting model ({path}): unknown vendor or profile "antropic"',
                            "did you mean anthropic/x?")
        self.user_settings({"providers": {"a": {"type": "anthropc", "model": "x"}}})
        result = self.keel("-p", "hi")
        self.assert_refused(result, 6, f'profile "a": unknown type "anthropc" ({path})',
                            'did you mean "anthropic"?')
        self.user_settings({"providers": {"a": {"type": "nothing", "model": "x"}}})
        names = self.keel("-p", "hi").err.split("one of: ")[1].split(", ")
        self.assertEqual(len(names), len({name.split(" ")[0].strip() for name in names}))

    def refused_by_hosted(self, *arguments, says, hint):
        """Where the vendor itself would be asked; that it is not reached must not matter."""
        result = self.keel("-p", *arguments, "hi", env={
            "ANTHROPIC_API_KEY": "k", "HTTPS_PROXY": "http://127.0.0.1:1"})
        self.assert_refused(result, 2, says, hint)

    def test_a_model_that_the_vendor_does_not_have(self):
        for model in ("sonet", "claude-sonnet-55"):
            says = f'Anthropic has no model "{model}" in keel\'s catalogue'
            hint = f"did you mean claude-sonnet-5-5? For a new model, use --model anthropic/{model}"
            self.refused_by_hosted("--model", model, says=says, hint=hint)
            self.refused_by_hosted("--settings", json.dumps({"model": model}), says=says, hint=hint)
            self.refused_by_hosted("--fallback-model", model,
                                   says=f"--fallback-model {model}: {says}", hint=hint)
        self.refused_by_hosted("--settings", '{"model": ""}', says="the setting model is empty",
                               hint="set it to VENDOR/MODEL, or remove it")

    def test_names_that_come_later_or_from_elsewhere_are_taken(self):
        rules = "mcp__db__query,mcp__db,Task,NotebookRead,Web*,Agent(review)"
        self.assert_answer(self.ask(self.provider(ANTHROPIC.answer()), "--disallowed-tools", rules,
                                    "hi"))

    def test_files_of_others_are_told_and_do_not_stop_keel(self):
        self.write("home/.claude/settings.json", {"permissions": {
            "deny": ["Bsh(rm *)", "Read(.env)"], "defaultMode": "dontAsk"}, "statusLine": {}})
        self.write("project/.keel/settings.json", {"permissions": {"deny": ["Raed(x)"]}})
        result = self.ask(self.provider(ANTHROPIC.answer()), "hi")
        self.assert_status(result, 0)
        for words in ('.claude/settings.json: permissions.deny: unknown tool "Bsh" (did you '
                      'mean Bash?)', "it ignores statusLine, mode dontAsk\n",
                      'permissions.deny: unknown tool "Raed" (did you mean Read?)'):
            self.assertIn(words, result.err)


class Suspended(ToolTest):
    def setUp(self):
        super().setUp()
        self.user_settings({"permissions": {"onAsk": "suspend"}})

    def test_a_run_that_must_ask_exits_with_3_and_says_what(self):
        result = self.call(TOUCH)
        self.assert_status(result, 3)
        self.assertIn("suspended", result.err)
        self.assertIn("Bash  touch made-by-bash", result.err)
        self.assertEqual(len(self.requests), 1)
        self.assert_made("made-by-bash", False)

    def test_who_answers_no_is_not_advised_to_allow_it(self):
        self.assert_status(self.call(TOUCH), 3)
        provider = self.provider(ANTHROPIC.answer(["Done."]))
        result = self.ask(provider, "-c", "--answer", "no")
        self.assert_status(result, 0)
        self.assertIn("1 call was not allowed:\n        Bash  touch made-by-bash\n"
                      "      you answered no\n", result.err)

    def test_the_result_says_it_too(self):
        result = self.call(TOUCH, "--output-format", "json")
        self.assert_status(result, 3)
        self.assertIn("touch made-by-bash", result.out)
        self.assertEqual(json.loads(result.out)["type"], "result")

    def test_what_need_not_be_asked_is_not(self):
        self.assert_answer(self.call(TOUCH, "--allowed-tools", "Bash"), "Done.")


class Places(ToolTest):
    def test_cwd_is_where_tools_work_and_where_other_flags_are_not(self):
        other = self.dir / "other"
        other.mkdir()
        settings = self.write("project/s.json", {"permissions": {"allow": ["Bash"]}})
        result = self.call(TOUCH, "--cwd", str(other), "--settings", os.path.basename(settings))
        self.assert_answer(result, "Done.")
        self.assertTrue((other / "made-by-bash").exists())

    def test_files_of_an_added_directory_may_be_changed(self):
        other = self.dir / "other"
        other.mkdir()
        call = Call("Write", file_path=str(other / "new"), content="x\n")
        self.call(call, "--permission-mode", "acceptEdits", "--add-dir", str(other))
        self.assertTrue((other / "new").exists(), self.result())

    def test_a_large_result_is_kept_and_can_be_read_on(self):
        for number in range(300):
            (self.project / f"{number}-{'x' * 200}").touch()
        call = Call("Glob", pattern="*")
        self.assert_answer(self.call(call), "Done.")
        self.assertIn("tool_output", self.result()[0])
        self.assertTrue(any((self.keel_home / "blobs").rglob("*")))

    def test_a_tool_has_its_time(self):
        self.user_settings({"toolTimeouts": {"Glob": 60_000}, "toolTimeout": 60_000})
        self.assert_answer(self.call(Call("Glob", pattern="*")), "Done.")


class Commands(ToolTest):
    def test_commands_do_not_see_keys(self):
        self.user_settings({"providers": {"mine": {"type": "anthropic-messages", "model": "m",
                                                   "baseUrl": "http://127.0.0.1:1",
                                                   "apiKey": "$ENV:ODD_NAME"}}})
        call = Call("Bash", command="env")
        self.call(call, "--allowed-tools", "Bash", "--model", "anthropic/m",
                  env={"ODD_NAME": "odd-hush", "PLAIN": "seen"})
        text = self.result()[0]
        self.assertIn("PLAIN=seen", text)
        self.assertNotIn(KEY, text)
        self.assertNotIn("odd-hush", text)

    def test_an_interrupt_ends_the_command_and_keel(self):
        os.mkfifo(self.project / "started")
        call = Call("Bash", command="echo $$ > pid; echo > started; exec sleep 1000")
        provider = self.provider(ANTHROPIC.answer(["Working."], calls=[call]))
        process = self.start("-p", "--model", "anthropic/m", "--allowed-tools", "Bash", "hi",
                             env=ANTHROPIC.environment(provider))
        with open(self.project / "started", "rb") as started:
            started.read()
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assert_status(result, 130)
        self.assertEqual(result.out, "Working.\n")
        self.assertEqual(len(provider.requests), 1)

    def test_a_command_in_the_background_ends_with_keel(self):
        os.mkfifo(self.project / "held")
        call = Call("Bash", command="exec cat held", run_in_background=True)
        result = self.call(call, "--allowed-tools", "Bash", "--wait-background", "0")
        self.assertEqual(result.out, "Done.\n")
        self.assertIn("background command bash_1 (exec cat held) was stopped", result.err)
        with self.assertRaises(OSError):  # nobody reads it any more
            os.open(self.project / "held", os.O_WRONLY | os.O_NONBLOCK)

    def test_calls_of_one_answer_that_look_run_side_by_side(self):
        """Nothing is written before both are read, so one after the other would never end."""
        paths = [self.project / name for name in "ab"]
        for path in paths:
            os.mkfifo(path)
        writer = threading.Thread(target=self.write_to_all, args=(paths,), daemon=True)
        writer.start()
        calls = [Call("Bash", path.name, command=f"cat {path.name}") for path in paths]
        provider = self.provider(ANTHROPIC.answer(["Now."], calls=calls),
                                 ANTHROPIC.answer(["Done."]))
        self.assert_answer(self.ask(provider, "--allowed-tools", "Bash", "hi"), "Done.")
        writer.join()

    @staticmethod
    def write_to_all(paths):
        for file in [open(path, "w") for path in paths]:
            file.close()


if __name__ == "__main__":
    scripted.main()
