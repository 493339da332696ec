"""rules_test.py - the rules of a run, over HTTP, in all protocols: one golden transcript each."""
import json
import os
import threading

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, BY_NAME, for_each_protocol

SEARCHES = {"BRAVE_API_KEY": "k"}  # else it depends on the vendor whether there is WebSearch


class Rounds(AgentTest):
    @for_each_protocol
    def test_tools_run_and_their_results_go_back(self, protocol):
        self.check("tools_run", protocol, lambda: [
            Turn("I look.", Call("Bash", command="printf 'one\\ntwo\\n'")),
            Turn("Two lines.")], "how many lines?")

    @for_each_protocol
    def test_results_stand_in_the_order_of_the_calls(self, protocol):
        # they run side by side, and the last one can end first
        fifos = [self.project / name for name in ("first", "second", "third")]
        for path in fifos:
            path.unlink(missing_ok=True)
            os.mkfifo(path)
        writer = threading.Thread(target=self.feed, args=(fifos,), daemon=True)
        writer.start()
        self.check("results_in_order", protocol, lambda: [
            Turn(*[Call("Bash", command=f"cat {path.name}") for path in fifos]), Turn("Done.")],
            "go")
        writer.join()

    @staticmethod
    def feed(fifos):
        files = [open(path, "w") for path in fifos]  # waits until all are read
        for file, path in reversed(list(zip(files, fifos))):
            file.write(path.name + "\n")
            file.close()

    @for_each_protocol
    def test_files_are_read_changed_and_written(self, protocol):
        for name in ("a.txt", "new.txt"):
            (self.project / name).unlink(missing_ok=True)
        (self.project / "a.txt").write_text("one\ntwo\nthree\n")
        self.check("files", protocol, lambda: [
            Turn(Call("Read", file_path="a.txt")),
            Turn(Call("Edit", file_path="a.txt", old_string="two", new_string="2")),
            Turn(Call("Write", file_path="new.txt", content="fresh\n")),
            Turn(Call("Grep", pattern="2|fresh", output_mode="content")),
            Turn("Done.")], "change it")
        self.assertEqual((self.project / "a.txt").read_text(), "one\n2\nthree\n")
        self.assertEqual((self.project / "new.txt").read_text(), "fresh\n")

    @for_each_protocol
    def test_an_id_that_comes_again_is_no_problem(self, protocol):
        self.check("ids_again", protocol, lambda: [
            Turn(Call("Bash", id="call_0", command="echo 1")),
            Turn(Call("Bash", id="call_0", command="echo 2")),
            Turn("Done.")], "go")

    @for_each_protocol
    def test_the_working_directory_is_kept_between_calls(self, protocol):
        (self.project / "sub").mkdir(exist_ok=True)
        self.check("cwd_kept", protocol, lambda: [
            Turn(Call("Bash", command="cd sub")), Turn(Call("Bash", command="pwd")),
            Turn("Done.")], "go")


class Guards(AgentTest):
    @for_each_protocol
    def test_an_unknown_tool_is_told(self, protocol):
        self.check("unknown_tool", protocol, lambda: [
            Turn(Call("Teleport", where="Mars")), Turn("I walk then.")], "go to Mars",
            env=SEARCHES)

    @for_each_protocol
    def test_unknown_tools_again_end_the_tools(self, protocol):
        self.check("unknown_tools_again", protocol, lambda: [
            Turn(Call("Teleport", where="Mars")), Turn(Call("Beam", up="me")),
            Turn("I stay.")], "go to Mars", env=SEARCHES)

    @for_each_protocol
    def test_wrong_arguments_are_told_and_corrected(self, protocol):
        self.check("wrong_arguments", protocol, lambda: [
            Turn(Call("Bash", command=7, extra=True)),
            Turn(Call("Bash", command="echo right")), Turn("Done.")], "go")

    def test_a_rule_about_edit_holds_for_cells_of_notebooks(self):
        text = '{"cells": [{"cell_type": "raw", "metadata": {}, "source": "old"}]}'
        (self.project / "n.ipynb").write_text(text)
        provider = self.play(BY_NAME["anthropic-messages"],
                             Turn(Call("Read", file_path="n.ipynb")),
                             Turn(Call("NotebookEdit", notebook_path="n.ipynb", cell_id="cell-0",
                                       new_source="new")), Turn("No."))
        self.assert_status(self.run_agent(BY_NAME["anthropic-messages"], provider,
                                          "--disallowed-tools", "Edit(*.ipynb)", "go"), 0)
        self.assertEqual((self.project / "n.ipynb").read_text(), text)

    def test_broken_arguments_are_never_guessed(self):
        for name in ("anthropic-messages", "openai-chat", "openai-responses"):
            with self.subTest(name):
                self.check("broken_arguments", BY_NAME[name], lambda: [
                    Turn(Call("Bash", raw='{"command": "rm -rf ')), Turn("Sorry.")], "go")

    @for_each_protocol
    def test_the_round_cap_forces_a_summary(self, protocol):
        self.check("round_cap", protocol, lambda: [
            Turn(Call("Bash", command="echo 1")), Turn(Call("Bash", command="echo 2")),
            Turn("As far as I got.")], "--max-turns", "2", "go on and on")

    def test_the_round_cap_is_a_setting_that_the_flag_wins_over(self):
        turns = [Turn(Call("Bash", command=f"echo {n}")) for n in range(12)] + [Turn("Done.")]
        for settings, arguments, n in (({}, (), 13), ({"maxTurns": 1}, (), 2),
                                       ({"maxTurns": 1}, ("--max-turns", "3"), 4),
                                       ({"maxTurns": 1}, ("--max-turns", "0"), 13)):
            with self.subTest(settings=settings, arguments=arguments):
                self.user_settings(settings)
                provider = self.play(ANTHROPIC, *turns)
                self.run_agent(ANTHROPIC, provider, *arguments, "go")
                self.assertEqual(len(provider.requests), n)
        self.user_settings({"maxTurns": -1})
        self.assert_refused(self.run_agent(ANTHROPIC, provider, "go"), 2, '"maxTurns" must be an integer from 0')

    def test_an_end_for_another_reason_does_not_speak_of_rounds(self):
        wrong = [Turn(Call("Read")) for _ in range(5)]
        for turns, why, code in ((wrong, "wrong arguments", "tool_failed"),
                                 ([Turn(Call("Nothing"))] * 2, "do not exist", "unknown_tool")):
            for format in ("text", "json"):
                provider = self.play(ANTHROPIC, *turns, Turn(" "))
                result = self.run_agent(ANTHROPIC, provider, "--output-format", format, "go")
                self.assert_status(result, 5)
                self.assertIn(why, result.out)
                self.assertNotIn("ounds", result.out + result.err)
            last = result.json()
            self.assertEqual((last["subtype"], last["error_code"]),
                             ("error_during_execution", code))

    @for_each_protocol
    def test_without_a_summary_the_run_ends_with_status_5(self, protocol):
        self.check("no_summary", protocol, lambda: [
            Turn(Call("Bash", command="echo 1")), Turn([""])], "--max-turns", "1", "go")

    @for_each_protocol
    def test_without_a_person_what_must_be_asked_is_denied(self, protocol):
        self.check("denied", protocol, lambda: [
            Turn(Call("Bash", command="touch made"), Call("Read", file_path="absent")),
            Turn("All right.")], "go", mode="default")
        self.assertFalse((self.project / "made").exists())

    @for_each_protocol
    def test_a_tool_that_takes_too_long_is_ended(self, protocol):
        self.user_settings({"toolTimeouts": {"Bash": 200}})
        self.check("tool_timeout", protocol, lambda: [
            Turn(Call("Bash", command="sleep 600")), Turn("Too slow.")], "wait")


class Windows(AgentTest):
    """The context window, which the operator sets."""

    def set_window(self, protocol, provider, window):
        self.user_settings({"providers": {"small": {
            "type": protocol.vendor, "baseUrl": provider.url + protocol.prefix, "model": "m",
            "apiKey": "sk-scripted-4711-hush", "contextWindow": window}}})

    def check_window(self, name, protocol, window, turns, *arguments):
        provider = self.play(protocol, *turns)
        self.set_window(protocol, provider, window)
        result = self.keel("-p", "--model", "small/m", "--system-prompt", "Brief.", "--tools", "Bash",
                           "--permission-mode", "bypassPermissions", *arguments)
        self.assert_golden(name, self.transcript(protocol, provider, result))

    @for_each_protocol
    def test_results_that_would_fill_the_window_are_left_out(self, protocol):
        self.check_window("results_over_window", protocol, 4000, [
            Turn(Call("Bash", command="echo small"),
                 Call("Bash", command="for i in 1 2 3 4 5 6 7 8 9; do printf %1000d $i; done"),
                 Call("Bash", command="echo late")),
            Turn("Some of it.")], "go")

    @for_each_protocol
    def test_a_prompt_that_cannot_fit_is_not_sent(self, protocol):
        self.check_window("prompt_over_window", protocol, 1000, [Turn("never")], "word " * 1000)


class Failures(AgentTest):
    @for_each_protocol
    def test_an_overloaded_model_is_asked_again(self, protocol):
        busy = scripted.json_answer({"error": {"message": "busy"}}, 503, retry_after_ms="1")
        self.check("asked_again", protocol, lambda: [busy, busy, Turn("Here I am.")], "hi")

    @for_each_protocol
    def test_a_rate_limit_says_when_to_come_back(self, protocol):
        limited = scripted.json_answer({"error": {"message": "slow down"}}, 429, retry_after_ms="1")
        self.check("rate_limit", protocol, lambda: [limited, Turn("Now.")], "hi")

    @for_each_protocol
    def test_a_provider_that_fails_for_good_is_told(self, protocol):
        broken = scripted.json_answer({"error": {"message": "no such luck"}}, 400)
        provider = self.play(protocol, broken)
        result = self.run_agent(protocol, provider, "hi")
        self.assertEqual(len(provider.requests), 1)
        self.assert_refused(result, result.status, "no such luck")
        self.assertNotEqual(result.status, 0)

    def test_the_next_model_answers_in_its_own_protocol(self):
        """A conversation goes on with another vendor in the middle: calls and results go along."""
        protocols = scripted.PROTOCOLS
        for first, second in zip(protocols, protocols[1:] + protocols[:1]):
            with self.subTest(f"{first.name} to {second.name}"):
                refused = scripted.json_answer({"error": {"message": "no"}}, 401)
                one = self.play(first, Turn("I look.", Call("Bash", command="echo seen")), refused)
                two = self.play(second, Turn("Seen."))
                result = self.ask(one, "--permission-mode", "bypassPermissions", "--fallback-model",
                                  f"{second.vendor}/m", "look", protocol=first,
                                  env=second.environment(two))
                self.assertIn(f"asking {second.vendor}/m instead", result.err)
                result.err = ""  # the rest of it names the first vendor
                self.assert_golden("next_model", self.transcript(second, two, result))

    @for_each_protocol
    def test_a_cut_stream_keeps_what_came(self, protocol):
        self.user_settings({"maxAttempts": 1})
        provider = self.play(protocol, Turn(["Once", " upon", scripted.HANG_UP]))
        result = self.run_agent(protocol, provider, "--output-format", "json", "tell me a story")
        self.assert_status(result, 1)
        self.assertIn("Once upon", result.out)


class Answers(AgentTest):
    schema = json.dumps({"type": "object", "required": ["n"],
                         "properties": {"n": {"type": "integer"}}})

    @for_each_protocol
    def test_an_answer_that_fits_its_schema(self, protocol):
        self.check("schema_fits", protocol, lambda: [Turn('{"n": 3}')],
                   "--json-schema", self.schema, "count")

    @for_each_protocol
    def test_an_answer_that_does_not_fit_its_schema(self, protocol):
        self.check("schema_violated", protocol, lambda: [Turn('{"n": "three"}')],
                   "--json-schema", self.schema, "count")

    @for_each_protocol
    def test_the_system_prompt_is_sent_as_it_is_written(self, protocol):
        provider = self.play(protocol, Turn("ok"))
        self.run_agent(protocol, provider, "--system-prompt", "{{ run.outputs }} $HOME %s", "hi")
        self.assertIn(b"{{ run.outputs }} $HOME %s", provider.requests[0].body)


if __name__ == "__main__":
    scripted.main()
