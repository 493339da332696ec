"""log_test.py - the log of an operator: what is in it, what is not, and where it goes."""
import json
import os
import stat
import subprocess

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, json_answer

PROMPT = "please-look-around"
WRITTEN = "words-of-a-file"
RUN = ["process_start", "session_open", "mode", "run_begin", "attempt_end", "tool", "attempt_end",
       "run_end", "session_close", "process_end"]


def refusal(status, message, **headers):
    return json_answer({"type": "error", "error": {"type": "x", "message": message}}, status,
                       **headers)


class LogTest(AgentTest):
    def setUp(self):
        super().setUp()
        self.log = self.home / "keel.log"

    def lines(self, path=None):
        return [json.loads(line) for line in (path or self.log).read_text().splitlines()]

    def names(self, path=None):
        return [line["event"] for line in self.lines(path)]

    def line(self, name):
        found = [line for line in self.lines() if line["event"] == name]
        self.assertEqual(len(found), 1, f"{name} in {self.log.read_text()}")
        return found[0]

    def look(self, *arguments, **run):
        """A prompt, a call, an answer."""
        (self.project / "notes.txt").write_text(WRITTEN)
        provider = self.play(ANTHROPIC, Turn("I look.", Call("Read", file_path="notes.txt")),
                             Turn("Found."))
        return self.run_agent(ANTHROPIC, provider, *arguments, PROMPT, **run)

    def logged(self, *arguments, **run):
        return self.look("--log-file", str(self.log), *arguments, **run)


class Lines(LogTest):
    def test_tell_a_run_from_the_start_of_the_process_to_its_end(self):
        result = self.logged()
        self.assert_fine(result)
        self.assertEqual(result.out, "Found.\n")
        self.assertEqual(self.names(), RUN)
        session = self.line("session_open")["session"]
        for line in self.lines():
            self.assertEqual(set(line) >= {"time", "level", "pid", "event"}, True, line)
            self.assertEqual(line["level"], "info", line)
            self.assertIn(line.get("session", session), (session,))
        self.assertEqual(self.line("session_open")["how"], "new")
        self.assertEqual(self.line("process_end")["exitCode"], 0)

    def test_say_how_long_what_took_and_what_it_cost(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 1, "output": 10}}})
        self.assert_fine(self.logged())
        tool, end = self.line("tool"), self.line("run_end")
        self.assertEqual((tool["tool"], tool["ok"], tool["charsOut"] > 0), ("Read", True, True))
        self.assertGreaterEqual(tool["durationMs"], 0)
        self.assertEqual((end["outcome"], end["rounds"], end["attempts"], end["toolCalls"]),
                         ("done", 2, 2, 1))
        self.assertEqual((end["inputTokens"], end["outputTokens"]), (10, 18))
        self.assertAlmostEqual(end["costUsd"], (10 * 1 + 18 * 10) / 10**6)
        self.assertEqual([line["status"] for line in self.lines() if line["event"] == "attempt_end"],
                         [200, 200])

    def test_have_nothing_that_people_models_and_tools_wrote(self):
        self.assert_fine(self.logged("--log-level", "debug"))
        text = self.log.read_text()
        for written in (PROMPT, WRITTEN, "I look.", "Found.", "notes.txt"):
            self.assertNotIn(written, text)
        self.assertIn("tool_begin", self.names())

    def test_name_a_failed_request_and_what_came_next(self):
        provider = self.play(ANTHROPIC, refusal(529, "busy", request_id="req_7"), Turn("Yes."))
        result = self.run_agent(ANTHROPIC, provider, "--log-file", str(self.log), "hi")
        self.assert_status(result, 0)
        failed, good = [line for line in self.lines() if line["event"] == "attempt_end"]
        self.assertEqual((failed["level"], failed["status"], failed["requestId"], failed["code"]),
                         ("warning", 529, "req_7", "provider_unavailable"))
        self.assertEqual((good["level"], good["attempt"]), ("info", 2))
        self.assertGreaterEqual(self.line("retry")["delayMs"], 0)

    def test_say_why_a_run_failed_and_what_to_do(self):
        key = "sk-ant-a-key-that-is-echoed"
        provider = self.play(ANTHROPIC, *[refusal(401, f"bad key {key}")] * 2)
        result = self.run_agent(ANTHROPIC, provider, "--log-file", str(self.log), "hi",
                                env={"ANTHROPIC_API_KEY": key})
        self.assert_status(result, 6)
        end = self.line("run_end")
        self.assertEqual((end["level"], end["outcome"], end["code"]),
                         ("error", "failed", "provider_auth"))
        self.assertTrue(end["hint"])
        self.assertEqual(self.line("process_end")["exitCode"], 6)
        self.assertNotIn(key, self.log.read_text())

    def test_have_the_notices_that_the_person_reads(self):
        self.write("home/.claude/settings.json", {"permissions": {"allow": ["Bash(("]}})
        result = self.logged("--log-level", "warning")
        self.assert_status(result, 0)
        notices = [line for line in self.lines() if line["event"] == "notice"]
        self.assertEqual([line["source"] for line in notices], ["permissions"])
        self.assertIn(notices[0]["message"].split(":")[0], result.err)
        self.assertEqual(self.names(), ["notice"])


class Place(LogTest):
    def test_is_nowhere_unless_somebody_wants_it(self):
        self.assert_fine(self.look())
        self.assertFalse(self.log.exists())

    def test_is_a_private_file_to_which_processes_append(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        self.assert_fine(self.logged())
        self.assert_fine(self.logged())
        self.assertEqual(stat.S_IMODE(self.log.stat().st_mode), 0o600)
        self.assertEqual(self.names(), RUN * 2)
        self.assertEqual(len({line["pid"] for line in self.lines()}), 2)

    def test_comes_from_the_flag_the_variable_or_the_persons_settings(self):
        other = self.home / "other.log"
        self.user_settings({"log": {"file": "~/keel.log", "level": "warning"}})
        self.assert_fine(self.look())
        self.assertEqual(self.names(), [])
        self.assert_fine(self.look("--log-level", "info"))
        self.assertEqual(self.names(), RUN)
        self.assert_fine(self.look("--log-level", "info", env={"KEEL_LOG": str(other)}))
        self.assertEqual(self.names(other), RUN)
        self.log.unlink()
        self.assert_fine(self.logged("--log-level", "info", env={"KEEL_LOG": str(other)}))
        self.assertEqual((self.names(), self.names(other)), (RUN, RUN))

    def test_counts_for_a_summary_by_hand_too(self):
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Fine.")), "hi " * 1000))
        provider = self.play(ANTHROPIC, Turn("We said hi."))
        result = self.keel("session", "compact", "--model", "anthropic/m",
                           env={**ANTHROPIC.environment(provider), "KEEL_LOG": str(self.log)})
        self.assert_status(result, 0)
        self.assertEqual(self.line("process_start")["command"], "session compact")
        self.assertEqual(self.line("session_open")["how"], "resume")
        self.assertEqual(self.line("compacted")["trigger"], "manual")

    def test_is_not_for_a_project_to_choose(self):
        self.write("project/.keel/settings.json", {"log": {"file": str(self.log)}})
        result = self.look()
        self.assert_status(result, 0)
        self.assertIn("only your own files can set them: log", result.err)
        self.assertFalse(self.log.exists())

    def test_that_cannot_be_written_is_an_error_before_anything_is_sent(self):
        provider = self.play(ANTHROPIC, Turn("Never."))
        for path in (self.home / "no/such/keel.log", self.home):
            with self.subTest(path):
                result = self.run_agent(ANTHROPIC, provider, "--log-file", str(path), "hi")
                self.assert_status(result, 2)
                self.assertIn(f"cannot write the log file {path}", result.err)
        self.assertEqual(provider.requests, [])

    def test_and_level_must_make_sense(self):
        for arguments, settings, text in (
                (("--log-file", str(self.log), "--log-level", "loud"), {},
                 '--log-level: "loud" is not a level'),
                (("--log-level", "info"), {}, "--log-level requires a log file"),
                ((), {"log": {"file": "keel.log"}}, "log.file: keel.log is not an absolute path"),
                ((), {"log": {"file": str(self.log), "level": "all"}},
                 '"log.level" must be one of error, warning, info, debug, not "all"')):
            with self.subTest(text):
                self.user_settings(settings)
                result = self.keel("-p", *arguments, "hi")
                self.assert_status(result, 2)
                self.assertIn(text, result.err)

    def test_is_followed_when_it_is_renamed(self):
        provider = self.play(ANTHROPIC, Turn("One."), Turn("Two."))
        process = self.start_agent(ANTHROPIC, provider, "--log-file", str(self.log),
                                   "--input-format", "stream-json", "--output-format",
                                   "stream-json", stdin=subprocess.PIPE)
        old = self.home / "keel.log.1"
        for prompt in ("one", "two"):
            process.stdin.write(json.dumps({"type": "user", "message": {
                "role": "user", "content": prompt}}).encode() + b"\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline())["type"] != "result":
                pass
            if prompt == "one":
                self.log.rename(old)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.names(old)[-1], "run_end")
        self.assertEqual(self.names()[0], "run_begin")
        self.assertEqual(self.names()[-1], "process_end")


if __name__ == "__main__":
    scripted.main()
