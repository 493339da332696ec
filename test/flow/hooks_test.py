"""hooks_test.py - a person's hooks around a run: the prompt, calls, the end, the session."""
import json
import pathlib

import scripted
from agent import AgentTest, Call, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC


class HooksTest(AgentTest):
    def configure(self, **hooks):
        """A hook is a shell script; what it is given is kept in the log."""
        groups = {}
        for event, script in hooks.items():
            path = self.write(f"hook-{event}.sh", f"cat >> {self.dir}/{event}.log\n"
                              f"echo >> {self.dir}/{event}.log\n{script}\n")
            groups[event] = [{"matcher": "", "hooks": [
                {"type": "command", "command": f"sh {path}"}]}]
        self.settings = {"hooks": groups}
        self.user_settings(self.settings)

    def given(self, event):
        text = (self.dir / f"{event}.log").read_text()
        return [json.loads(line) for line in text.splitlines() if line]


class RunTest(HooksTest):
    def run_with(self, *turns, mode="bypassPermissions"):
        self.one = self.play(ANTHROPIC, *turns)
        return self.run_agent(ANTHROPIC, self.one, "go", mode=mode)

    def last_request(self):
        return self.one.requests[-1].body.decode()


class Hooks(RunTest):
    def test_every_point_is_told_with_its_fields(self):
        self.configure(PreToolUse="", PostToolUse="", UserPromptSubmit="", Stop="",
                       SessionStart="", SessionEnd="")
        result = self.run_with(Turn(Call("Bash", command="echo hi")), Turn("Done."))
        self.assert_answer(result, "Done.")
        before, after = self.given("PreToolUse")[0], self.given("PostToolUse")[0]
        self.assertEqual((before["tool_name"], before["tool_input"]),
                         ("Bash", {"command": "echo hi"}))
        self.assertEqual(before["hook_event_name"], "PreToolUse")
        self.assertEqual(before["permission_mode"], "bypassPermissions")
        self.assertEqual(before["cwd"], str(self.project))
        self.assertEqual(after["tool_output"], "hi\n")
        self.assertEqual(self.given("UserPromptSubmit")[0]["prompt"], "go")
        self.assertEqual(self.given("Stop")[0]["last_assistant_message"], "Done.")
        start = self.given("SessionStart")[0]
        self.assertEqual((start["source"], start["model"]), ("startup", "m"))
        self.assertEqual(len(self.given("SessionEnd")), 1)

    def test_the_log_of_a_session_is_named_where_it_is_a_file(self):
        self.configure(Stop="")
        self.one = self.play(ANTHROPIC, Turn("Done."))
        for store in ("sqlite:kept.db", f"files:{self.project}/kept"):
            self.assert_fine(self.run_agent(ANTHROPIC, self.one, "--store", store, "go"))
        of_sqlite, of_files = self.given("Stop")
        self.assertEqual(of_sqlite["transcript_path"], "")
        self.assertIn("Done.", pathlib.Path(of_files["transcript_path"]).read_text())

    def test_exit_2_blocks_a_call(self):
        self.configure(PreToolUse="echo never on Sundays >&2; exit 2")
        result = self.run_with(Turn(Call("Bash", command="touch made")), Turn("All right."))
        self.assert_status(result, 0)
        self.assertIn("Blocked by hook: never on Sundays", self.last_request())
        self.assertFalse((self.project / "made").exists())

    def guard(self, matcher):
        self.configure(PreToolUse="echo never on Sundays >&2; exit 2")
        self.settings["hooks"]["PreToolUse"][0]["matcher"] = matcher
        self.user_settings(self.settings)
        return self.run_with(Turn(Call("Bash", command="touch made")), Turn("All right."))

    def test_a_matcher_with_commas_guards_each_of_its_tools(self):
        result = self.guard("Read, Bash")
        self.assertNotIn("matcher", result.err)
        self.assertIn("Blocked by hook: never on Sundays", self.last_request())
        self.assertFalse((self.project / "made").exists())

    def test_a_matcher_that_names_no_tool_is_told(self):
        result = self.guard("Bsh")
        self.assertIn('"hooks.PreToolUse[0].matcher": unknown tool "Bsh", so these hooks never '
                      "run for it; did you mean Bash?", result.err)

    def test_a_hook_may_change_the_arguments(self):
        answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                         "updatedInput": {"command": "echo changed"}}}
        self.configure(PreToolUse=f"echo '{json.dumps(answer)}'")
        self.run_with(Turn(Call("Bash", command="echo as it was")), Turn("Done."), mode="default")
        self.assertIn("changed", self.last_request().split('"tool_result"')[-1])

    def test_a_blocked_prompt_is_not_sent(self):
        self.configure(UserPromptSubmit="echo not today >&2; exit 2")
        result = self.run_with(Turn("never"))
        self.assert_refused(result, 2, "not today")
        self.assertEqual(self.one.requests, [])

    def test_a_blocked_prompt_is_not_answered_with_the_last_answer(self):
        self.run_with(Turn("The answer before."))
        for script in ("exit 2", """echo '{"continue": false}'"""):
            self.configure(UserPromptSubmit=script)
            for form in ("text", "json", "stream-json"):
                result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "-c", "--output-format",
                                        form, "again")
                self.assertNotEqual(result.status, 0)
                self.assertNotIn("The answer before.", result.out)

    def test_what_a_prompt_hook_prints_goes_with_the_prompt(self):
        self.configure(UserPromptSubmit="echo it is Sunday")
        self.run_with(Turn("Done."))
        self.assertIn("it is Sunday", self.last_request())

    def test_the_log_has_the_raw_prompt_first_and_then_what_the_model_reads(self):
        answer = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit",
                                         "updatedInput": {"prompt": "go far"},
                                         "additionalContext": "it is Sunday"}}
        self.configure(UserPromptSubmit=f"echo '{json.dumps(answer)}'")
        self.run_with(Turn("Done."))
        [session] = self.keel("session", "list", "--json").json()
        log = [json.loads(line) for line in self.keel(
            "session", "export", session["id"], "--format", "jsonl").out.splitlines()]
        names = ("run_begin", "user_input", "history_mutation", "pre_run", "provider_request")
        self.assertEqual(tuple(line["event"] for line in log if line["event"] in names)[:5], names)
        lines = {name: next(line for line in log if line["event"] == name) for name in names}
        self.assertEqual(lines["run_begin"]["input"], "go")
        self.assertEqual(lines["user_input"]["message"]["content"], "go")
        self.assertRegex(lines["pre_run"]["input"],
                         r"\Ago far\n<environment>\n(?:- .*\n)+</environment>\nit is Sunday\Z")
        self.assertEqual(lines["pre_run"]["history"][0]["to"], 1)
        for command in ("verify", "replay"):
            self.assert_status(self.keel("session", command, session["id"]), 0)

    def test_a_stop_hook_makes_it_go_on(self):
        self.configure(Stop=f"""
if [ -e {self.dir}/once ]; then exit 0; fi
touch {self.dir}/once; echo the tests fail >&2; exit 2""")
        self.assert_answer(self.run_with(Turn("Done."), Turn("Now it is.")), "Now it is.")
        self.assertIn("the tests fail", self.last_request())
        self.assertEqual([stop["stop_hook_active"] for stop in self.given("Stop")], [False, True])

    def test_a_stop_hook_that_always_blocks_does_not_keep_it_going_for_ever(self):
        self.configure(Stop="echo not yet >&2; exit 2")
        for settings, n in (({}, 8), ({"stopHookBlocks": 2}, 2)):
            with self.subTest(settings):
                self.user_settings({**self.settings, **settings})
                result = self.run_with(*[Turn(Call("Bash", command="true")), Turn("Done.")] * 12)
                self.assert_status(result, 0)
                self.assertEqual(result.out, "Done.\n")
                self.assertIn(f"a Stop hook has made the model continue {n} times", result.err)
                self.assertEqual(len(self.one.requests), 2 * (n + 1))
                self.assertIn("same", self.keel("session", "replay").out)

    def test_a_forced_last_turn_has_a_stop_hook_too(self):
        self.configure(Stop="echo not yet >&2; exit 2", StopFailure="")
        self.one = self.play(ANTHROPIC, Turn(Call("Bash", command="true")), Turn("So far."))
        result = self.run_agent(ANTHROPIC, self.one, "--max-turns", "1", "go")
        self.assert_status(result, 0)
        self.assertEqual(self.given("Stop")[0]["last_assistant_message"], "So far.")
        self.assertIn("but this was its last turn", result.err)
        self.assertFalse((self.dir / "StopFailure.log").exists())

    def test_a_last_turn_without_an_answer_is_a_failure(self):
        self.configure(StopFailure="")
        self.one = self.play(ANTHROPIC, Turn(Call("Bash", command="true")), Turn(" "))
        self.assert_status(self.run_agent(ANTHROPIC, self.one, "--max-turns", "1", "go"), 5)
        self.assertEqual(self.given("StopFailure")[0]["error_code"], "turn_limit")

    def test_a_failed_run_is_told(self):
        self.configure(StopFailure="")
        result = self.run_with(scripted.json_answer({"error": {"message": "no"}}, 400))
        self.assertNotEqual(result.status, 0)
        self.assertEqual(len(self.given("StopFailure")), 1)

    def test_a_hook_that_fails_is_only_told(self):
        self.configure(PreToolUse="echo oops >&2; exit 1")
        result = self.run_with(Turn(Call("Bash", command="echo hi")), Turn("Done."))
        self.assert_status(result, 0)
        self.assertIn("oops", result.err)

    def test_an_answer_that_cannot_be_read_refuses_the_call(self):
        deny = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'
        twice = deny.replace("}}", ', "permissionDecision": "allow"}}')
        for script in (f"echo note; echo '{deny}'", f"printf '\\357\\273\\277%s' '{deny}'",
                       f"echo '{twice}'", f"echo '{deny}'; echo note"):
            with self.subTest(script):
                self.configure(PreToolUse=script)
                result = self.run_with(Turn(Call("Bash", command="touch made")), Turn("Done."))
                self.assertIn("the PreToolUse hook", result.err)
                self.assertIn("without its answer the call is denied", self.last_request())
                self.assertFalse((self.project / "made").exists())

    def test_plain_text_decides_nothing(self):
        self.configure(PreToolUse="echo checked {it}")
        result = self.run_with(Turn(Call("Bash", command="touch made")), Turn("Done."))
        self.assert_answer(result, "Done.")
        self.assertTrue((self.project / "made").exists())

    def test_hooks_of_a_project_that_is_not_trusted_do_not_run(self):
        (self.project / ".keel").mkdir()
        settings = {"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": f"touch {self.dir}/ran"}]}]}}
        (self.project / ".keel" / "settings.json").write_text(json.dumps(settings))
        result = self.run_with(Turn("Done."))
        self.assertIn("keel trust", result.err)
        self.assertFalse((self.dir / "ran").exists())
        self.keel("trust", "--yes")
        self.assert_answer(self.run_with(Turn("Done.")), "Done.")
        self.assertTrue((self.dir / "ran").exists())


class ProjectHooks(RunTest):
    """What a trusted project's hooks run stays what was trusted."""

    def bring(self, script, command, event="PreToolUse"):
        self.script = self.project / script
        self.script.parent.mkdir(parents=True, exist_ok=True)
        self.script.write_text(f"echo 1 >> {self.dir}/ran\n")
        self.write("project/.keel/settings.json", {"hooks": {event: [{"hooks": [
            {"type": "command", "command": command}]}]}})
        self.assert_status(self.keel("trust", "--yes"), 0)

    def ran(self):
        log = self.dir / "ran"
        return log.read_text().split() if log.exists() else []

    def test_a_script_that_was_changed_does_not_run_in_the_next_run(self):
        self.bring(".keel/check.sh", 'sh "$KEEL_PROJECT_DIR"/.keel/check.sh')
        self.run_with(Turn(Call("Bash", command="echo hi")), Turn("Done."))
        self.assertEqual(self.ran(), ["1"])
        self.script.write_text(f"echo 2 >> {self.dir}/ran\n")  # as git pull does
        result = self.run_with(Turn(Call("Bash", command="echo hi")), Turn("Done."))
        self.assertEqual(self.ran(), ["1"])
        self.assertEqual(result.err.count(".keel/check.sh has changed since"), 1, result)

    def test_a_script_that_a_command_has_changed_does_not_run_and_nothing_passes_without_it(self):
        self.bring("scripts/check.sh", "sh scripts/check.sh")
        change = f"echo 'echo 2 >> {self.dir}/ran' > scripts/check.sh"
        result = self.run_with(Turn(Call("Bash", command=change)),
                               Turn(Call("Bash", command="touch made")), Turn("Done."))
        self.assert_status(result, 0)
        self.assertEqual(self.ran(), ["1"])
        self.assertFalse((self.project / "made").exists())
        self.assertIn("scripts/check.sh has changed since this project was trusted",
                      result.err)
        self.assertIn("Blocked by hook", self.last_request())

    def test_nor_does_one_of_the_same_name_where_the_session_has_moved(self):
        self.bring("check.sh", "sh check.sh")
        self.write("project/sub/check.sh", f"echo 2 >> {self.dir}/ran\n")
        self.run_with(Turn(Call("Bash", command="cd sub")),
                      Turn(Call("Bash", command="touch made")), Turn("Done."))
        self.assertEqual(self.ran(), ["1"])
        self.assertFalse((self.project / "sub" / "made").exists())

    def test_a_file_that_the_program_of_a_hook_finds_by_itself(self):
        self.bring("Makefile", "make -s check")
        self.script.write_text(f"check:\n\t@echo 1 >> {self.dir}/ran\n")
        self.assert_status(self.keel("trust", "--yes"), 0)
        change = f"printf 'check:\\n\\t@echo 2 >> {self.dir}/ran\\n'"
        for name in ("Makefile", "GNUmakefile"):  # one that is there, and a new one
            with self.subTest(name):
                (self.dir / "ran").unlink(missing_ok=True)
                result = self.run_with(Turn(Call("Bash", command=f"{change} > {name}")),
                                       Turn(Call("Bash", command="touch made")), Turn("Done."))
                self.assert_status(result, 0)
                self.assertEqual(self.ran(), ["1"])
                self.assertFalse((self.project / "made").exists())
                self.assertIn(f"{name} has changed since this project was trusted",
                              result.err)
                self.script.write_text(f"check:\n\t@echo 1 >> {self.dir}/ran\n")

    def test_a_hook_of_another_event_is_told_and_not_run(self):
        self.bring("scripts/stop.sh", "sh scripts/stop.sh", event="Stop")
        result = self.run_with(
            Turn(Call("Bash", command=f"echo 'echo 2 >> {self.dir}/ran' > scripts/stop.sh")),
            Turn("Done."))
        self.assertEqual((result.status, result.out), (0, "Done.\n"))
        self.assertEqual(self.ran(), [])
        self.assertIn("scripts/stop.sh has changed since", result.err)

    def test_the_person_s_own_hooks_may_run_what_they_like(self):
        script = self.project / "check.sh"
        script.write_text(f"echo 1 >> {self.dir}/ran\n")
        self.user_settings({"hooks": {"PreToolUse": [{"hooks": [
            {"type": "command", "command": "sh check.sh"}]}]}})
        self.run_with(Turn(Call("Bash", command=f"echo 'echo 2 >> {self.dir}/ran' > check.sh")),
                      Turn(Call("Bash", command="touch made")), Turn("Done."))
        self.assertEqual(self.ran(), ["1", "2"])
        self.assertTrue((self.project / "made").exists())


class KilledAfterAStopHook(HooksTest, SessionTest):
    """A hook that makes the model continue once does so once, whatever becomes of the process."""

    ONCE = """case $(tail -n 2 "$0.log") in *'"stop_hook_active":true'*) exit 0;; esac
echo the tests fail >&2; exit 2"""

    def setUp(self):
        super().setUp()
        self.session = self.new_id()
        self.configure(Stop=self.ONCE.replace("$0", f"{self.dir}/Stop"))

    def flags(self):
        return [stop["stop_hook_active"] for stop in self.given("Stop")]

    def begin(self, *turns):
        provider = self.play(ANTHROPIC, *turns)
        process = self.start_agent(ANTHROPIC, provider, "--session-id", self.session, "go")
        return provider, process

    def kill_in_second_answer(self):
        """It has answered, the hook has said no, and the next answer is on its way."""
        _, process = self.begin(Turn("Done."), Turn(["Now", self.hold(), " it is."]))
        self.wait_stored(self.session, "provider_stream", n=2)
        self.kill(process)
        self.assertEqual(self.flags(), [False])

    def test_it_does_not_block_again_when_the_turn_is_finished(self):
        self.kill_in_second_answer()
        result, requests = self.go_on(ANTHROPIC, self.session, Turn("Now it is."))
        self.assertEqual((result.out, len(requests)), ("Now it is.\n", 1))
        self.assertEqual(self.flags(), [False, True])

    def test_nor_after_a_tool_and_another_kill(self):
        (pipe, fd) = self.make_pipe()
        _, process = self.begin(Turn("Done."), Turn(
            Call("Bash", command=f"echo > {pipe.name}; sleep 600")))
        self.wait_pipe(fd)
        self.kill(process)
        provider = self.play(ANTHROPIC, Turn(["Now", self.hold(), " it is."]))
        process = self.start_agent(ANTHROPIC, provider, "-r", self.session)
        self.wait_stored(self.session, "provider_stream", n=3)
        self.kill(process)
        result, _ = self.go_on(ANTHROPIC, self.session, Turn("Now it is."))
        self.assertEqual(result.out, "Now it is.\n")
        self.assertEqual(self.flags(), [False, True])

    def test_a_new_prompt_begins_anew(self):
        self.kill_in_second_answer()
        result, requests = self.go_on(ANTHROPIC, self.session, Turn("Hm."), Turn("Fine."),
                                      arguments=["something else"])
        self.assertEqual((result.out, len(requests)), ("Fine.\n", 2))
        self.assertEqual(self.flags(), [False, False, True])

    def test_an_answer_that_the_hook_was_shown_is_not_asked_for_again(self):
        (pipe, fd) = self.make_pipe()
        self.configure(Stop=f"echo > {pipe}; sleep 600")
        _, process = self.begin(Turn("Done."))
        self.wait_pipe(fd)
        self.kill(process)
        self.configure(Stop=self.ONCE.replace("$0", f"{self.dir}/Stop"))
        result, requests = self.go_on(ANTHROPIC, self.session, Turn("Now it is."))
        self.assertEqual((result.out, len(requests)), ("Now it is.\n", 1))
        self.assertEqual(self.flags(), [False, False, True])


if __name__ == "__main__":
    scripted.main()
