"""terminal_test.py - what a person sees: the demonstration, colours, lines that fit."""
import re

import keel_test
from keel_test import KeelTest

COLOUR = "\x1b["


def without_directory(out):
    """The output with one name for the directory, which is another one every time."""
    return re.sub(r"/\S*/keel-demo-\w+", "DIR", out)


class Demo(KeelTest):
    def demo(self, *options, **run):
        result = self.keel("demo", "--fast", *options, **run)
        self.assert_fine(result)
        return without_directory(result.out)

    def test_a_directory_that_cannot_be_made_names_the_variable(self):
        self.assert_refused(self.keel("demo", env={"TMPDIR": "/nonexistent"}), 1,
                            "cannot create a directory in /nonexistent: ", "set TMPDIR to")

    def test_a_test_fails_a_file_is_repaired_and_the_test_passes(self):
        out = self.demo()
        steps = ("$ keel -p --permission-mode acceptEdits", "(thinks) ", "> Bash  sh test.sh\n",
                 "  FAIL  10 boxes cost 30, should be 20\n", "> Read  price.sh\n",
                 "> Edit  price.sh\n", '  -if [ "$1" -gt 10 ]; then\n',
                 '  +if [ "$1" -ge 10 ]; then\n', "> Bash  sh test.sh\n",
                 "  ok    10 boxes cost 20\n", "The test passes now.", "were in DIR", "keel doctor")
        at = 0
        for step in steps:
            self.assertIn(step, out[at:])
            at = out.index(step, at) + len(step)
        self.assertNotIn(COLOUR, out)

    def directories(self):
        return list(self.dir.glob("keel-demo-*"))

    def test_the_directory_is_removed_unless_it_shall_stay(self):
        where = {"TMPDIR": str(self.dir)}
        self.assertIn("are removed", self.demo(env=where))
        self.assertEqual(self.directories(), [])
        self.assertNotIn("removed", self.demo("--keep", env=where))
        (directory,) = self.directories()
        self.assertIn("-ge 10", (directory / "price.sh").read_text())

    def test_a_project_in_shared_memory_can_be_looked_at(self):
        script = self.write("script.yaml", "turns:\n"
                            "  - - {tool: Bash, id: a, args: {command: ls}}\n"
                            "  - text: Done.\n")
        out = self.demo("--script", script, env={"TMPDIR": "/dev/shm"})
        self.assertIn("> Bash  ls\n  price.sh\n", out)

    def test_whoever_says_how_to_continue_can_leave_that_out(self):
        with_next, without = self.demo(), self.demo("--no-next")
        self.assertTrue(with_next.startswith(without.rstrip("\n") + " With a model:\n"), without)
        self.assertTrue(without.endswith("the model was a script.\n"), without)

    def test_settings_and_rules_of_the_person_have_no_part_in_it(self):
        plain = self.demo()
        self.user_settings({"permissions": {"deny": ["Bash", "Edit"]}, "providers": {"x": {}}})
        self.assertEqual(self.demo(), plain)
        self.user_settings("nonsense")
        self.assertEqual(self.demo(), plain)

    def test_no_line_is_wider_than_eighty_columns(self):
        for line in self.demo().splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_waiting_changes_nothing_but_the_time(self):
        script = self.write("script.yaml", "turns:\n  - - text: abc\n      split: 1\n"
                                           "      delay_ms: 1\n")
        fast = self.demo("--script", script)
        self.assertEqual(without_directory(self.keel("demo", "--script", script).out), fast)
        self.assertTrue(fast.startswith("abc\n\nThe files were in DIR"), fast)

    def test_a_script_may_be_json_from_standard_input(self):
        out = self.demo("--script", "-", stdin=b'{"turns": [[{"text": "hi"}], [{"text": "ho"}]]}')
        self.assertTrue(out.startswith("hi\n\nho\n\nThe files"), out)

    def test_a_script_may_fail_and_go_on(self):
        script = self.write("script.yaml", "turns:\n  - error: provider_rate_limit\n"
                                           "    message: too many requests\n"
                                           "    retry_after_ms: 1500\n"
                                           "  - text: later\n"
                                           "  - error: provider_auth\n    message: no key\n"
                                           "  - text: the end\n")
        result = self.keel("demo", "--fast", "--script", script)
        self.assert_status(result, 0)
        self.assertTrue(result.out.startswith("too many requests; trying again in 1.5 s "
                                              "(attempt 2 of 10)\nlater\n"),
                        result)
        self.assertIn("\nthe end\n", result.out)
        self.assertEqual(result.err, "keel: no key\n")

    def test_a_script_that_is_none_is_explained(self):
        for text in ("turns: 3", "nonsense", "turns:\n  - - tetx: x\n", "\x00", ": : :"):
            path = self.write("script.yaml", text)
            result = self.keel("demo", "--fast", "--script", path)
            self.assert_refused(result, 2, f"keel: {path}: ")
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
        self.assertEqual(without_directory(coloured.replace("\r\n", "\n")),
                         without_directory(self.keel("demo", "--fast").out))


class Width(KeelTest):
    def assert_fits(self, out, columns, indent):
        """No line is wider than the terminal, but for words that do not fit there at all; and on
        a narrow one no line begins far to the right."""
        for line in out.splitlines():
            has_long_word = max(map(len, line.split()), default=0) > columns - indent
            self.assertTrue(len(line.rstrip()) <= columns or has_long_word, line)
            begins = len(line) - len(line.lstrip())
            self.assertTrue(begins <= 8 or columns > 55, line)

    def test_findings_of_the_doctor_fit_the_terminal(self):
        for columns in (20, 40, 70, 80, 120):
            out = self.on_terminal("doctor", columns=columns, env={"NO_COLOR": "1"}).out
            self.assert_fits(out, columns, 25 if columns > 55 else 8)

    def test_help_fits_the_terminal(self):
        for command in ((), ("--help",), ("help", "session"), ("help", "session", "export"),
                        ("help", "models"), ("help", "permissions", "test")):
            for columns in (20, 40, 60, 80):
                out = self.on_terminal(*command, columns=columns).out
                self.assert_fits(out, columns, 30 if columns > 55 else 8)
            self.assertEqual(self.on_terminal(*command, columns=200).out.replace("\r", ""),
                             self.keel(*command).out)

    def test_the_list_of_settings_fits_the_terminal(self):
        for columns in (30, 50, 70, 80, 100):
            out = self.on_terminal("config", "keys", columns=columns).out
            self.assert_fits(out, columns, 35 if columns > 64 else 4)
        self.assertEqual(self.on_terminal("config", "keys", columns=200).out.replace("\r", ""),
                         self.keel("config", "keys").out)

    def test_elsewhere_every_finding_is_one_line(self):
        out = self.keel("doctor").out
        for line in out.splitlines():
            self.assertRegex(line, r"\A(|[A-Z][a-z]+|  (ok  |note|BAD )  .*)\Z")


if __name__ == "__main__":
    keel_test.main()
