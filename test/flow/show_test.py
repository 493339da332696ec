"""show_test.py - `keel session show` says how each turn ended, for people and for programs."""
import os
import signal
import threading

import scripted
from agent import Call, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC, BY_NAME, HANG_SECONDS, HANG_UP, json_answer


class ShowTest(SessionTest):
    base_settings = {"maxAttempts": 1}

    def setUp(self):
        super().setUp()
        self.session = self.new_id()

    def talk(self, *turns, arguments=("hi",), status=0, mode="bypassPermissions"):
        """A turn in the session, which it begins if it is the first one."""
        how = ["-r"] if self.keel("session", "list", "--json").json() else ["--session-id"]
        provider = self.play(ANTHROPIC, *turns)
        result = self.run_agent(ANTHROPIC, provider, *how, self.session, *arguments, mode=mode)
        self.assert_status(result, status)
        return result

    def shown(self):
        result = self.keel("session", "show", self.session, "--json")
        self.assert_fine(result)
        return result.json()

    def assert_state(self, state, text, *notes, **members):
        """Of the session and of its last turn, in both forms."""
        shown = self.shown()
        self.assertEqual((shown["state"], shown["turns"][-1]["state"]), (state, state))
        self.assert_listed(state)
        for name, value in members.items():
            self.assertEqual(shown["turns"][-1][name], value)
        out = self.keel("session", "show", self.session).out
        self.assertIn(f"\nstate     {text}\n", out)
        for note in notes:
            self.assertIn(note, out)
        return out

    def assert_listed(self, state):
        """The list says the same without reading the session."""
        [listed] = self.keel("session", "list", "--json").json()
        self.assertEqual(listed["state"], state)

    def start_and_wait(self, *turns):
        """keel in the middle of its answer."""
        asked = threading.Event()
        first = self.encode(ANTHROPIC, turns[0])

        def give(_request):
            asked.set()
            return first
        provider = self.play(ANTHROPIC, give, *turns[1:])
        process = self.start_agent(ANTHROPIC, provider, "--session-id", self.session, "hi")
        self.assertTrue(asked.wait(HANG_SECONDS))
        return process


class HowATurnEnded(ShowTest):
    def test_done(self):
        self.talk(Turn("Fine."))
        out = self.assert_state("done", "done")
        self.assertTrue(out.endswith("[1] hi\n\nFine.\n"), out)
        self.assertNotIn("error", self.shown()["turns"][0])

    def test_interrupted(self):
        process = self.start_and_wait(Turn(["Once", self.hold(), " upon"]))
        self.wait_stored(self.session, "provider_stream")
        process.send_signal(signal.SIGTERM)
        self.assert_status(self.finish(process), 143)
        out = self.assert_state("interrupted", "interrupted",
                                f"Once\n(interrupted; keel -p -r {self.session} retries it)\n",
                                errorCode="cancelled")
        self.assertEqual(out.count("(interrupted"), 1)

    def test_killed(self):
        process = self.start_and_wait(Turn(["Once", self.hold(), " upon"]))
        self.wait_stored(self.session, "provider_stream")
        self.kill(process)
        self.assert_state("cut_off", "cut off",
                          f"(cut off; keel -p -r {self.session} finishes it)\n")

    def test_at_work(self):
        process = self.start_and_wait(Turn([self.hold()]))
        shown = self.shown()
        self.assertEqual((shown["open"], shown["state"], shown["turns"][0]["state"]),
                         (True, "running", "running"))
        out = self.keel("session", "show", self.session).out
        self.assertIn(f"open in process {process.pid}, at work\n", out)
        self.assertNotIn("cut off", out)

    def test_failed(self):
        self.talk(json_answer({"error": {"type": "authentication_error", "message": "no such key"}},
                              401), status=6)
        out = self.assert_state("failed", "failed (provider_auth)", errorCode="provider_auth")
        self.assertIn("no such key", self.shown()["turns"][0]["error"])
        self.assertEqual(out.count("no such key"), 1)
        self.assertIn(f"provider_auth; keel -p -r {self.session} retries it)\n", out)

    def test_broken_off(self):
        self.talk(Turn(["Once", HANG_UP, " upon"]), status=1)
        self.assert_state("failed", "failed (network)", "Once", errorCode="network")

    def test_a_prompt_that_a_hook_blocks(self):
        self.user_settings({"hooks": {"UserPromptSubmit": [{"hooks": [
            {"type": "command", "command": "echo not this >&2; exit 2"}]}]}})
        self.talk(Turn("never"), status=2)
        self.assert_state("failed", "failed (validation)", "blocked by a hook: not this",
                          errorCode="validation")

    def test_refused(self):
        protocol = BY_NAME["openai-chat"]
        result = self.run_agent(protocol, self.play(protocol, Turn(stop="content_filter")),
                                "--session-id", self.session, "hi")
        self.assert_status(result, 1)
        self.assert_state("refused", "refused (content_filter)", errorCode="content_filter")

    def test_the_provider_says_why_it_stopped(self):
        self.talk(Turn("I will not.", stop="refusal"), status=1)
        self.assertEqual(self.shown()["turns"][0]["stopReason"], "refusal")

    def test_a_limit_without_an_answer(self):
        self.talk(Turn("Fine."), arguments=("--max-tokens-total", "10", "hi"), status=5)
        self.assert_state("limit_reached", "a limit was reached (budget_exceeded)",
                          errorCode="budget_exceeded")

    def test_a_limit_with_an_answer(self):
        self.talk(Turn(Call("Bash", command="true")), Turn("So far."),
                  arguments=("--max-turns", "1", "hi"))
        self.assert_state("done", "done (turn_limit)", "So far.\n(done, turn_limit)\n",
                          forcedFinalReason="turn_limit")

    def test_a_limit_where_the_model_says_nothing(self):
        result = self.talk(Turn(Call("Bash", command="true")), Turn(Call("Bash", command="true")),
                           arguments=("--max-turns", "1", "hi"), status=5)
        self.assertIn("before the model gave an answer", result.err)
        self.assert_state("limit_reached", "a limit was reached", forcedFinalReason="turn_limit")

    def test_suspended(self):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        self.talk(Turn("Well.", Call("Bash", command="touch made")), status=3, mode="default")
        self.assert_state("suspended", "waits for an answer",
                          f"(waits for an answer; to answer: keel -p -r {self.session} --answer ")


class WhatAPersonReads(ShowTest):
    PLAN = "1. Write a.txt\n2. Check it"
    QUESTIONS = [{"question": "Which colour?", "header": "Colour", "multiSelect": False,
                  "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}]},
                 {"question": "Which sizes?", "multiSelect": True,
                  "options": [{"label": "S"}, {"label": "L", "description": "large"}]}]

    def text(self, *arguments):
        result = self.keel("session", "show", self.session, *arguments)
        self.assert_fine(result)
        return result.out

    def exported(self, form):
        return self.keel("session", "export", self.session, "--format", form).out

    def test_a_plan_that_was_the_answer(self):
        self.talk(Turn("So.", Call("ExitPlanMode", plan=self.PLAN)), mode="plan")
        self.assertTrue(self.text().endswith(f"> ExitPlanMode\n\n{self.PLAN}\n"), self.text())
        self.assertIn(f"\n**ExitPlanMode**\n\n{self.PLAN}\n\n", self.exported("markdown"))
        self.assertIn("<li>Write a.txt</li>", self.exported("html"))

    def test_a_plan_that_waits_and_one_that_has_waited(self):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        self.talk(Turn(Call("ExitPlanMode", id="c1", plan=self.PLAN)), mode="plan", status=3)
        self.assertIn("\n          ExitPlanMode  (c1)\n          1. Write a.txt\n          2. Check it"
                      "\n\n          Approve this plan?\n\n[1] hi\n", self.text())
        self.assertEqual(self.text().count("1. Write a.txt"), 1)
        self.talk(Turn("Fine."), arguments=("--answer", "yes"), mode="plan")
        self.assertEqual(self.text().count("1. Write a.txt"), 1)
        self.assertIn("\n[2] (continued)\n", self.text())

    def test_a_question_with_the_answers_to_choose_from(self):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        result = self.talk(Turn(Call("AskUserQuestion", id="c1", questions=self.QUESTIONS)), status=3)
        lines = ["Which colour?", "  Red: warm", "  Blue", "Which sizes? (one or several)", "  S",
                 "  L: large"]
        self.assertIn("(question): AskUserQuestion\n" + "".join(f"      {line}\n" for line in lines),
                      result.err)
        self.assertIn("\n          AskUserQuestion  (c1)\n" +
                      "".join(f"          {line}\n" for line in lines), self.text())

    def test_what_keel_told_the_model_of_a_background_command(self):
        pipe = self.project / "pipe"
        os.mkfifo(pipe)
        started = self.encode(ANTHROPIC, Turn("Started."))

        def release(_request):
            pipe.write_text("go\n")
            return started
        self.talk(Turn(Call("Bash", command="cat pipe", run_in_background=True)), release,
                  Turn("Ended."))
        news = "- bash_1 (cat pipe) ended with exit code 0. What it printed:"
        self.assertIn("(note) [Background commands have ended. ", self.text())
        self.assertIn(f"\n       {news}\n       | go]\nEnded.\n", self.text())
        markdown = self.exported("markdown")
        self.assertIn("\n**Told by keel**\n\n```text\n[Background commands have ended.", markdown)
        self.assertIn(f"\n{news}\n  | go]\n```\n", markdown)
        self.assertNotIn("(no text)", markdown)
        self.assertIn("<b>Told by keel</b>", self.exported("html"))


class LaterTurns(ShowTest):
    def test_each_says_how_it_ended(self):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        self.talk(Turn("Well.", Call("Bash", command="touch made")), status=3, mode="default")
        self.talk(json_answer({"error": {"message": "no"}}, 401),
                  arguments=("--answer", "yes"), status=6, mode="default")
        self.talk(Turn("Fine."), arguments=("and?",))
        shown = self.shown()
        self.assertEqual(shown["state"], "done")
        self.assertEqual([turn["state"] for turn in shown["turns"]],
                         ["suspended", "failed", "done"])
        out = self.keel("session", "show", self.session).out
        self.assertIn("\n(waited for an answer)\n", out)
        self.assertIn("provider_auth", out)
        self.assertNotIn("retries it", out)

    def test_a_turn_that_was_taken_back_does_not_count(self):
        self.talk(Turn("Fine."))
        self.talk(json_answer({"error": {"message": "no"}}, 401), arguments=("and?",), status=6)
        self.assertEqual(self.shown()["state"], "failed")
        self.assert_status(self.keel("session", "rewind", self.session, "--yes"), 0)
        self.assertEqual(self.shown()["state"], "done")

    def test_a_summary_that_fails_is_not_the_last_answer(self):
        self.talk(Turn("Fine."))
        result = self.keel("session", "compact", self.session,
                           env=ANTHROPIC.environment(self.play(ANTHROPIC, Turn("A summary."))))
        self.assertNotEqual(result.status, 0)
        self.assertEqual(self.shown()["state"], "done")


if __name__ == "__main__":
    scripted.main()
