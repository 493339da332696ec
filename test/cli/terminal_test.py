"""terminal_test.py - what a person sees: the demonstration, colours, lines that fit."""
import re

import keel_test
from keel_test import KeelTest

COLOUR = "\x1b["


class Demo(KeelTest):
    def demo(self, *options, **run):
        result = self.keel("demo", "--fast", *options, **run)
        self.assert_fine(result)
        return result.out

    def test_it_shows_reasoning_text_a_tool_call_and_an_error(self):
        out = self.demo()
        for text in ("-- request 1 --\n(thinks) ", 'Bash {"command":"uname -sr"',
                     "\n-- request 2 --\n", "provider_rate_limit: ", "tokens in", "keel doctor"):
            self.assertIn(text, out)
        self.assertNotIn(COLOUR, out)

    def test_no_line_is_wider_than_eighty_columns(self):
        for line in self.demo().splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_waiting_changes_nothing_but_the_time(self):
        script = self.write("script.yaml", "turns:\n  - - text: abc\n      split: 1\n"
                                           "      delay_ms: 1\n")
        fast = self.demo("--script", script)
        self.assertEqual(self.keel("demo", "--script", script).out, fast)
        self.assertEqual(fast, "-- request 1 --\nabc\n")

    def test_a_script_may_be_json_from_standard_input(self):
        self.assertEqual(self.demo("--script", "-", stdin=b'{"turns": [[{"text": "hi"}]]}'),
                         "-- request 1 --\nhi\n")

    def test_a_script_that_is_none_is_explained(self):
        for text in ("turns: 3", "nonsense", "turns:\n  - - tetx: x\n", "\x00", ": : :"):
            path = self.write("script.yaml", text)
            result = self.keel("demo", "--fast", "--script", path)
            self.assert_refused(result, 2)
        self.assert_refused(self.keel("demo", "--script", "nowhere"), 2, "cannot read nowhere")


class Colours(KeelTest):
    commands = (("demo", "--fast"), ("doctor",))

    def test_a_terminal_gets_colours_and_each_is_ended(self):
        for command in self.commands:
            out = self.on_terminal(*command).out
            self.assertIn(COLOUR, out)
            codes = re.findall(r"\x1b\[(\d+)m", out)
            self.assertEqual(out.count(COLOUR), len(codes))
            self.assertEqual(codes[1::2], ["0"] * (len(codes) // 2))

    def test_whoever_wants_no_colours_gets_none(self):
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
            for command in self.commands:
                self.assertNotIn(COLOUR, self.on_terminal(*command, env=env).out, env)

    def test_an_empty_no_color_says_nothing(self):
        self.assertIn(COLOUR, self.on_terminal("demo", "--fast", env={"NO_COLOR": ""}).out)

    def test_colours_change_nothing_else(self):
        coloured = re.sub(r"\x1b\[\d+m", "", self.on_terminal("demo", "--fast").out)
        self.assertEqual(coloured.replace("\r\n", "\n"), self.keel("demo", "--fast").out)


class Width(KeelTest):
    def test_findings_of_the_doctor_fit_the_terminal(self):
        for columns in (70, 80, 120):
            out = self.on_terminal("doctor", columns=columns, env={"NO_COLOR": "1"}).out
            for line in out.splitlines():
                has_long_word = max(map(len, line.split()), default=0) > columns - 25
                self.assertTrue(len(line) <= columns or has_long_word, line)

    def test_elsewhere_every_finding_is_one_line(self):
        out = self.keel("doctor").out
        for line in out.splitlines():
            self.assertRegex(line, r"\A(|[A-Z][a-z]+|  (ok  |note|BAD )  .*)\Z")


if __name__ == "__main__":
    keel_test.main()
