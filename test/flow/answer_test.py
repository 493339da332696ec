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
        self.assertIn(f"keel -p -r {session} --answer yes|session|project|no[:REASON]", result.err)
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

    def test_nonsense_is_refused_and_nothing_runs(self):
        session = self.new_id()
        self.suspend(ANTHROPIC, session, self.touch("made"))
        result, _ = self.answer(ANTHROPIC, session, "perhaps", status=2)
        self.assertIn("one of: yes, session, project, no", result.err)
        self.answer(ANTHROPIC, session, "yes")
        result, _ = self.answer(ANTHROPIC, session, "yes", status=2)
        self.assertIn("nothing", result.err)
        provider = self.play(ANTHROPIC, Turn("Hi."))
        self.assert_refused(self.run_agent(ANTHROPIC, provider, "--answer", "yes", "hi"), 2,
                            "in which session")


if __name__ == "__main__":
    scripted.main()
