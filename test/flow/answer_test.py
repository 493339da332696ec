"""answer_test.py - what a suspended session asks, answered on the command line."""
import scripted
from agent import Call, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC, for_each_protocol

QUESTION = {"question": "Which colour?", "header": "Colour", "multiSelect": False,
            "options": [{"label": "red", "description": "as fire"},
                        {"label": "blue", "description": "as the sea"}]}


class AnswerTest(SessionTest):
    def suspend(self, protocol, session, *calls):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        result = self.run_agent(protocol, self.play(protocol, Turn("Well.", *calls)),
                                "--session-id", session, "go", mode="default")
        self.assert_status(result, 3)
        return result

    def answer(self, protocol, session, *answers, status=0, turns=None):
        provider = self.play(protocol, *(turns or [Turn("Done.")]))
        arguments = [word for answer in answers for word in ("--answer", answer)]
        result = self.run_agent(protocol, provider, "-r", session, *arguments, mode="default")
        self.assert_status(result, status)
        return result, self.requests(protocol, provider)

    def touch(self, name, **more):
        return Call("Bash", command=f"touch {name}", **more)


class Answers(AnswerTest):
    @for_each_protocol
    def test_yes_runs_the_call_and_goes_on(self, protocol):
        session = self.new_id()
        result = self.suspend(protocol, session, self.touch(f"made-{protocol.name}"))
        self.assertIn(f"keel -p -r {session} --answer yes\n      "
                      "answers: yes, session, project, no, no:REASON\n", result.err)
        result, _ = self.answer(protocol, session, "yes")
        self.assertEqual(result.out, "Done.\n")
        self.assertTrue((self.project / f"made-{protocol.name}").exists())
        self.assertEqual(self.count(session, "answered"), 2)  # "later", then yes

    @for_each_protocol
    def test_no_is_told_with_its_reason(self, protocol):
        session = self.new_id()
        self.suspend(protocol, session, self.touch("made"))
        _, [request] = self.answer(protocol, session, "no:not today")
        self.assertIn("not today", request[-1])
        self.assertFalse((self.project / "made").exists())

    def test_for_the_session_allows_the_next_one_too(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("made"))
        self.answer(ANTHROPIC, session, "session", turns=[Turn(self.touch("made")), Turn("Done.")])
        self.assertTrue((self.project / "made").exists())

    def test_a_yes_is_for_the_call_that_asked_and_for_no_later_one_of_its_id(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("a", id="toolu_1"))
        result, _ = self.answer(ANTHROPIC, session, "yes", status=3,
                                turns=[Turn(self.touch("b", id="toolu_1"))])
        self.assertIn("touch b", result.err)
        self.assertTrue((self.project / "a").exists())
        self.assertFalse((self.project / "b").exists())

    def test_several_calls_are_answered_by_their_ids(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("a", id="toolu_a"),
                     self.touch("b", id="toolu_b"))
        result, _ = self.answer(ANTHROPIC, session, "yes", status=2)
        self.assertIn("toolu_a, toolu_b", result.err)
        _, [request] = self.answer(ANTHROPIC, session, "toolu_a=yes", "toolu_b=no:never")
        self.assertIn("never", request[-1])
        self.assertTrue((self.project / "a").exists())
        self.assertFalse((self.project / "b").exists())

    def test_what_is_not_answered_is_asked_again(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("a", id="toolu_a"),
                     self.touch("b", id="toolu_b"))
        result, requests = self.answer(ANTHROPIC, session, "toolu_a=yes", status=3)
        self.assertIn("touch b", result.err)
        self.assertNotIn("touch a", result.err)
        self.assertEqual(requests, [])

    def test_a_question_takes_text_or_json(self):
        for answer in ("blue", '{"Which colour?": "blue"}', '["blue"]'):
            session = self.new_id()
            self.suspend(ANTHROPIC, session, Call("AskUserQuestion", questions=[QUESTION]))
            _, [request] = self.answer(ANTHROPIC, session, answer)
            self.assertIn("Answer: blue", request[-1], answer)

    def test_what_is_asked_is_shown(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("made"))
        result = self.keel("session", "show", session)
        self.assertIn("waits for an answer", result.out)
        self.assertIn("Bash  touch made", result.out)

    def assert_refused_answers(self, session, answers, *texts):
        """Nothing was done: the session still asks."""
        result, requests = self.answer(ANTHROPIC, session, *answers, status=2)
        self.assertEqual((result.out, requests), ("", []))
        for text in texts:
            self.assertIn(text, result.err)
        self.assertEqual(self.keel("session", "show", session, "--json").json()["state"],
                         "suspended")

    def test_two_answers_to_one_call_are_refused(self):
        for answers in (["yes", "no"], ["toolu_a=no", "toolu_a=yes"], ["yes", "yes"],
                        ["toolu_a=yes", "yes"]):
            with self.subTest(answers):
                session = self.new_id()
                self.suspend(ANTHROPIC, session, self.touch("made", id="toolu_a"))
                self.assert_refused_answers(session, answers,
                                            "toolu_a (Bash  touch made) has two answers",
                                            "give one answer to each question")
                self.assertFalse((self.project / "made").exists())

    def test_two_answers_to_one_of_several_calls_are_refused(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("a", id="toolu_a"),
                     self.touch("b", id="toolu_b"))
        self.assert_refused_answers(session, ["toolu_b=yes", "toolu_a=yes", "toolu_b=no"],
                                    "toolu_b (Bash  touch b) has two answers")

    def test_two_answers_to_a_question_are_refused(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, Call("AskUserQuestion", id="toolu_q",
                                              questions=[QUESTION]))
        self.assert_refused_answers(session, ["red", "blue"], "toolu_q (AskUserQuestion",
                                    "has two answers")

    def test_two_answers_about_the_budget_are_refused(self):
        session = self.new_id()
        self.user_settings({"budget": {"tokens": 10, "onExceed": "ask"}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("never")), "--session-id",
                                session, "go")
        self.assert_status(result, 3)
        self.assert_refused_answers(session, ["yes", "budget=no"], "budget (", "has two answers")

    def test_an_answer_about_a_call_that_is_not_asked_about_is_refused(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("a", id="toolu_a"),
                     self.touch("b", id="toolu_b"))
        self.assert_refused_answers(session, ["toolu_c=yes"], "no open question about toolu_c",
                                    "CALL is one of: toolu_a, toolu_b")
        self.assert_refused_answers(session, ["toolu_a=yes", "budget=yes"],
                                    "no open question about budget")
        other = self.new_id()
        self.suspend(ANTHROPIC, other, self.touch("a", id="toolu_a"))
        self.assert_refused_answers(other, ["toolu_c=yes"], "no open question about toolu_c",
                                    "CALL is one of: toolu_a")

    def test_text_that_answers_a_question_may_have_an_equals_sign(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, Call("Glob", id="toolu_g", pattern="*"),
                     Call("AskUserQuestion", id="toolu_q", questions=[QUESTION]))
        self.assert_refused_answers(session, ["toolu_g=blue"], "no open question about toolu_g",
                                    "CALL is one of: toolu_q")
        _, [request] = self.answer(ANTHROPIC, session, "colour=blue")
        self.assertIn("Answer: colour=blue", request[-1])

    def test_a_reason_may_have_an_equals_sign(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("made"))
        _, [request] = self.answer(ANTHROPIC, session, "no:a=b")
        self.assertIn("a=b", request[-1])

    def test_nonsense_is_refused_and_nothing_runs(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("made"))
        result, _ = self.answer(ANTHROPIC, session, "perhaps", status=2)
        self.assertIn("one of: yes, session, project, no", result.err)
        self.answer(ANTHROPIC, session, "yes")
        result, _ = self.answer(ANTHROPIC, session, "yes", status=2)
        self.assertIn("asks no question", result.err)
        provider = self.play(ANTHROPIC, Turn("Hi."))
        self.assert_refused(self.run_agent(ANTHROPIC, provider, "--answer", "yes", "hi"), 2,
                            "--answer needs a session")


if __name__ == "__main__":
    scripted.main()
