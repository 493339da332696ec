"""long_test.py - sessions near the end of a model's window: what the model still sees, and how.

A result that does not fit is given whole after a compaction; old results are taken out before a
summary is asked for. Every request is judged as its provider would, and every session is replayed.
"""
import json

import scripted
from agent import Call, Thought, Turn
from replay_test import ReplayTest
from scripted import ANTHROPIC, BY_NAME, for_each_protocol

SUMMARY = "Stop the work here and summarise"
WINDOW = 200_000
N_LINES = 600


def asks_for_summary(request):
    return SUMMARY in json.dumps(request.json)


class LongTest(ReplayTest):
    def setUp(self):
        super().setUp()
        self.file = self.project / "long.txt"
        self.file.write_text("".join(f"line {n} of a file that is read\n"
                                     for n in range(1, N_LINES + 1)))

    def settings(self, window=WINDOW, **more):
        self.user_settings({"maxAttempts": 1, **more, "providers": {
            protocol.name: {"type": protocol.vendor, "contextWindow": window}
            for protocol in scripted.PROTOCOLS}})

    def read(self, *items, used, lines=N_LINES):
        """A round that reads the file; so much of the window is used then."""
        return Turn(*items, Call("Read", file_path=str(self.file), limit=lines),
                    usage=(used - 9, 9))

    def run_long(self, protocol, *turns, arguments=(), status=0):
        self.session = self.new_id()
        self.provider_played = self.play(protocol, *turns)
        result = self.run_agent(protocol, self.provider_played, "--session-id", self.session,
                                "--model", f"{protocol.name}/m", *arguments, "read it all",
                                mode="bypassPermissions")
        self.assert_status(result, status)
        self.assert_taken(protocol, self.provider_played)
        return self.provider_played.requests

    def assert_whole(self, request, n=1):
        self.assertEqual(json.dumps(request.json).count(f"line {N_LINES} of a file"), n)

    def assert_exact(self):
        self.assert_same(self.session)
        result = self.keel("session", "verify", self.session)
        self.assert_status(result, 0)


class Whole(LongTest):
    def test_no_file_is_cut_between_three_quarters_and_the_threshold(self):
        self.settings()
        for per_cent in range(76, 84):
            requests = self.run_long(ANTHROPIC, self.read("I look.", used=WINDOW * per_cent // 100),
                                     *[Turn("A summary.")] * (per_cent > 80), Turn("Done."))
            self.assert_whole(requests[-1])
            self.assert_exact()

    @for_each_protocol
    def test_a_result_that_reaches_the_threshold_comes_after_the_summary(self, protocol):
        self.settings()
        requests = self.run_long(
            protocol, self.read(Thought("Hm."), "I look.", used=80_000),
            self.read(Thought("More."), "Again.", used=165_000), Turn("All lines."),
            Turn(Thought("So."), "Done."))
        self.assertEqual([asks_for_summary(request) for request in requests],
                         [False, False, True, False])
        self.assert_whole(requests[3])
        self.assertIn("[Context Summary] All lines.", json.dumps(requests[3].json))
        self.assertIn("read it all", json.dumps(requests[3].json))
        self.assert_exact()

    def test_the_request_for_the_summary_is_the_last_one_with_a_question(self):
        self.settings()
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                                 self.read(Thought("Hm."), used=165_000), Turn("In short."),
                                 Turn("Done."))
        before, asked = (request.json["messages"] for request in requests[1:3])
        self.assertEqual(asked[:len(before) - 1], before[:-1])
        self.assertEqual(asked[len(before) - 1]["content"][0]["content"],
                         before[-1]["content"][0]["content"])
        self.assertEqual(requests[2].json["tools"], requests[1].json["tools"])

    def test_where_the_summary_fails_results_that_still_fit_are_whole(self):
        self.settings()
        broken = scripted.json_answer({"type": "error", "error": {
            "type": "invalid_request_error", "message": "no"}}, 400)
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                                 self.read("Again.", used=165_000), broken, Turn("Done."))
        self.assert_whole(requests[3], 2)
        self.assert_exact()

    def test_and_those_that_do_not_are_stored(self):
        self.settings()
        broken = scripted.json_answer({"type": "error", "error": {
            "type": "invalid_request_error", "message": "no"}}, 400)
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                                 self.read("Again.", used=187_000), broken, Turn("Done."))
        self.assert_whole(requests[3], 2)  # the head and tail of the second
        self.assertIn('handle \\"out_1\\"', json.dumps(requests[3].json))
        self.assertEqual(json.dumps(requests[3].json).count("line 300 of a file"), 1)
        self.assert_exact()

    def test_switched_off_results_are_shortened_as_they_come(self):
        self.settings(compact={"enabled": False})
        requests = self.run_long(ANTHROPIC, self.read("I look.", used=155_000), Turn("Done."))
        self.assertEqual(len(requests), 2)
        self.assertNotIn("line 300 of a file", json.dumps(requests[1].json))
        self.assertIn('handle \\"out_1\\"', json.dumps(requests[1].json))
        self.assert_exact()

    def test_the_session_is_resumed_with_the_summary_and_the_result(self):
        self.settings()
        self.run_long(ANTHROPIC, self.read("I look.", used=80_000),
                      self.read("Again.", used=165_000), Turn("In short."), Turn("Done."))
        provider = self.play(ANTHROPIC, Turn("Again done."))
        result = self.run_agent(ANTHROPIC, provider, "--resume", self.session, "and now?",
                                mode="bypassPermissions")
        self.assert_status(result, 0)
        text = json.dumps(provider.requests[0].json)
        self.assertIn("[Context Summary] In short.", text)
        self.assert_whole(provider.requests[0])
        self.assertIn("Done.", text)
        self.assert_same(self.session, 2)


class TakenOut(LongTest):
    """Old, large results go first; a summary is asked for only where that is not enough."""

    def setUp(self):
        super().setUp()
        self.file.write_text("".join(f"line {n} " + "of a file that is read " * 3 + "\n"
                                     for n in range(1, N_LINES // 2 + 1)))

    def rounds(self, n, used, *last):
        """So many rounds with some 7,000 tokens each, until so much is used."""
        return [self.read(Thought(f"Round {i}."), used=used * (i + 1) // n) for i in range(n)]

    def count_results(self, request):
        return json.dumps(request.json).count("line 300 of a file")

    @for_each_protocol
    def test_old_results_are_taken_out_once_and_no_summary_is_asked_for(self, protocol):
        self.settings(window=80_000)
        requests = self.run_long(protocol, *self.rounds(9, 66_000), Turn(Thought("So."), "Done."))
        self.assertEqual([asks_for_summary(request) for request in requests], [False] * 10)
        self.assertEqual([self.count_results(request) for request in requests],
                         [0, 1, 2, 3, 4, 5, 6, 7, 8, 4])
        self.assertEqual(self.count(self.session, "context_compact"), 1)
        text = json.dumps(requests[-1].json)
        self.assertEqual(text.count("was taken out to make room"), 5)
        self.assertEqual(text.count("out_1"), 5)  # the same text has one name
        self.assert_exact()

    def test_what_was_taken_out_can_be_read_again(self):
        self.settings(window=80_000)
        requests = self.run_long(
            ANTHROPIC, *self.rounds(9, 66_000),
            Turn(Call("tool_output", handle="out_1", pattern="^ *7.line 7 ")), Turn("Done."))
        found = requests[-1].json["messages"][-1]["content"][0]["content"]
        self.assertRegex(json.dumps(found)[:500], "7:.*line 7 of a file")

    def test_a_resumed_session_has_what_is_left(self):
        self.settings(window=80_000)
        sent = self.run_long(ANTHROPIC, *self.rounds(9, 66_000), Turn("Done."))
        provider = self.play(ANTHROPIC, Turn("Again."))
        result = self.run_agent(ANTHROPIC, provider, "--resume", self.session, "--model",
                                "anthropic-messages/m", "and now?", mode="bypassPermissions")
        self.assert_status(result, 0)
        before = sent[-1].json["messages"]
        self.assertTrue(provider.requests[0].json["messages"][:len(before) - 1] == before[:-1])
        self.assert_same(self.session, 2)

    def test_where_that_gains_too_little_a_summary_is_asked_for(self):
        self.settings()
        requests = self.run_long(ANTHROPIC, *self.rounds(6, 166_000), Turn("In short."),
                                 Turn("Done."))
        self.assertEqual([asks_for_summary(request) for request in requests],
                         [False] * 6 + [True, False])
        self.assert_exact()

    def test_switched_off_a_summary_is_asked_for_at_once(self):
        self.settings(window=80_000, compact={"results": False})
        requests = self.run_long(ANTHROPIC, *self.rounds(9, 66_000), Turn("In short."),
                                 Turn("Done."))
        self.assertTrue(asks_for_summary(requests[9]))
        self.assertEqual(self.count_results(requests[9]), 8)
        self.assertEqual(self.count_results(requests[10]), 1)
        self.assert_exact()


if __name__ == "__main__":
    scripted.main()
