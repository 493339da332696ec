"""bulk_test.py - too much of everything: it ends, in time, and in words."""
import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, BY_NAME


class Bulk(AgentTest):
    def test_two_hundred_calls_in_one_answer(self):
        results = self.results_of(BY_NAME["gemini"], Turn(
            *[Call("Bash", command=f"echo {i}") for i in range(1, 201)]))
        self.assertEqual(results, [rf"  result #{i} '{i}\n'" for i in range(1, 201)])

    def test_thousands_of_calls_with_one_id(self):
        """So many that the history would be summarised, if that were not switched off."""
        self.user_settings({"compact": {"enabled": False}})
        results = self.results_of(ANTHROPIC, Turn(
            *[Call("Teleport", id="c", to=i) for i in range(4000)]))
        self.assertEqual(len(results), 4000)

    def test_more_calls_than_anybody_needs_end_the_run(self):
        provider = self.play(ANTHROPIC, Turn(*[Call("Bash", command=f"touch made; echo {i}")
                                               for i in range(5000)]))
        result = self.run_agent(ANTHROPIC, provider, "hi")
        self.assert_refused(result, 1, "anthropic: ")
        self.assertFalse((self.project / "made").exists())

    def test_arguments_of_five_megabytes_are_written(self):
        """The conversation is too long from then on, and says so."""
        provider = self.play(ANTHROPIC, Turn(Call("Write", file_path="big",
                                                  content="x" * 5_000_000)))
        result = self.run_agent(ANTHROPIC, provider, "hi")
        self.assertEqual((self.project / "big").stat().st_size, 5_000_000)
        self.assert_refused(result, 5, "context window")

    def test_a_text_of_sixteen_megabytes(self):
        """The most that a message holds, which has its text twice as JSON."""
        provider = self.play(ANTHROPIC, Turn(["x" * 500_000] * 32))
        result = self.run_agent(ANTHROPIC, provider, "hi")
        self.assert_fine(result)
        self.assertEqual(len(result.out), 16_000_001)

    def test_texts_without_an_end_are_cut(self):
        for pieces in (["x" * 500_000] * 40, ["x" * 34_000_000]):
            result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(pieces)), "hi")
            self.assert_status(result, 1)
            self.assertIn("larger than", result.err)


if __name__ == "__main__":
    scripted.main()
