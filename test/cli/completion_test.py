"""completion_test.py - completion scripts in their shells, and the manual page."""
import os
import shutil
import subprocess

import keel_test
from keel_test import KeelTest


class Completion(KeelTest):
    path = os.environ["PATH"]

    def script(self, shell):
        result = self.keel("completion", shell)
        self.assert_fine(result)
        return self.write(f"keel.{shell}", result.out)

    def shell(self, name, *arguments):
        """Runs a shell in the project directory; its stdout. Nothing may be complained about."""
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        ran = subprocess.run([name, *arguments], cwd=self.project, text=True, capture_output=True,
                             env=self.environment({"TERM": "dumb", "PATH": self.path}),
                             check=False,
                             timeout=keel_test.HANG_SECONDS)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_every_script_is_valid_in_its_shell(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                self.shell(shell, "-n", self.script(shell))

    def complete_in_bash(self, *words):
        """What bash offers when the cursor stands after the last word."""
        program = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keel; '
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        out = self.shell("bash", "--norc", "-c", program, "bash", self.script("bash"), *words)
        return out.split()

    def test_bash_completes_commands(self):
        self.assertEqual(self.complete_in_bash("keel", "ins"), ["inspect"])
        self.assertEqual(self.complete_in_bash("keel", "inspect", "d"), ["decode"])
        self.assertEqual(self.complete_in_bash("keel", "config", ""), ["show", "provider", "keys"])

    def test_bash_completes_options_of_the_command(self):
        self.assertEqual(self.complete_in_bash("keel", "--mo"), ["--model"])
        self.assertEqual(self.complete_in_bash("keel", "inspect", "decode", "--a"), ["--api"])
        self.assertEqual(self.complete_in_bash("keel", "doctor", "--"),
                         ["--probe", "--model", "--json", "--settings", "--help"])

    def test_bash_is_not_misled_by_values_and_operands(self):
        self.assertEqual(self.complete_in_bash("keel", "--model", "config", "ins"), ["inspect"])
        self.assertEqual(self.complete_in_bash("keel", "inspect", "sse", "stream.txt", "--c"),
                         ["--chunk"])

    def test_bash_completes_files_where_a_file_is_meant(self):
        (self.project / "answer.sse").touch()
        (self.project / "inspect").mkdir()
        self.assertEqual(self.complete_in_bash("keel", "inspect", "sse", "ans"), ["answer.sse"])
        self.assertEqual(self.complete_in_bash("keel", "--settings", "ans"), ["answer.sse"])
        self.assertEqual(self.complete_in_bash("keel", "ins"), ["inspect"])

    def test_bash_completes_the_values_that_an_option_takes(self):
        (self.project / "text.txt").touch()
        self.assertEqual(self.complete_in_bash("keel", "--output-format", "t"), ["text"])
        self.assertEqual(self.complete_in_bash("keel", "--permission-mode", "acc"), ["acceptEdits"])
        self.assertEqual(self.complete_in_bash("keel", "inspect", "decode", "--api", "g"),
                         ["gemini"])
        self.assertEqual(self.complete_in_bash("keel", "session", "export", "-f", "h"), ["html"])

    def test_bash_offers_no_files_where_none_is_meant(self):
        (self.project / "text.txt").touch()
        self.assertEqual(self.complete_in_bash("keel", "--model", "te"), [])
        self.assertEqual(self.complete_in_bash("keel", "-p", "--max-turns", ""), [])
        self.assertEqual(self.complete_in_bash("keel", "session", "show", "te"), [])

    def test_sessions_are_offered_where_one_is_meant(self):
        listing = "id             last used        msgs\n01a1ed45-2eef  just now   4   fix it\n"
        program = self.dir / "bin/keel"
        self.write("bin/keel", f"#!/bin/sh\ncat <<'E'\n{listing}E\n")
        program.chmod(0o755)
        self.path = f"{program.parent}:{os.environ['PATH']}"
        for words in (("-r",), ("--resume",), ("session", "show"), ("session", "rewind")):
            self.assertEqual(self.complete_in_bash("keel", *words, "01"), ["01a1ed45-2eef"], words)
        self.assertEqual(self.complete_in_fish("keel session show 01"), ["01a1ed45-2eef"])
        self.assertEqual(self.complete_in_fish("keel -r 01"), ["01a1ed45-2eef"])

    def test_bash_completes_the_shells(self):
        self.assertEqual(self.complete_in_bash("keel", "completion", ""), ["bash", "zsh", "fish"])

    def test_bash_completes_what_help_is_about(self):
        self.assertEqual(self.complete_in_bash("keel", "help", "ses"), ["session"])
        self.assertEqual(self.complete_in_bash("keel", "help", "session", "ren"), ["rename"])

    def test_bash_completes_vendors_models_and_programs(self):
        (self.project / "anthropic.txt").touch()
        self.assertEqual(self.complete_in_bash("keel", "models", "anth"), ["anthropic"])
        for words in (("--model",), ("doctor", "--model"), ("session", "compact", "-m")):
            found = self.complete_in_bash("keel", *words, "anthropic/claude-son")
            self.assertIn("anthropic/claude-sonnet-5-5", found, words)
        self.assertIn("openai/gpt-5", self.complete_in_bash("keel", "--fallback-model", "openai/"))
        self.assertIn("printf", self.complete_in_bash("keel", "sandbox", "prin"))
        self.assertEqual(self.complete_in_bash("keel", "sandbox", "cat", "anth"), ["anthropic.txt"])

    def complete_in_fish(self, line):
        script = self.script("fish")
        out = self.shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
        return [row.split("\t")[0] for row in out.splitlines()]

    def test_fish_completes_commands_and_options(self):
        self.assertEqual(self.complete_in_fish("keel ins"), ["inspect"])
        self.assertEqual(self.complete_in_fish("keel inspect d"), ["decode"])
        self.assertEqual(self.complete_in_fish("keel config show --or"), ["--origin"])
        self.assertEqual(self.complete_in_fish("keel completion "), ["bash", "fish", "zsh"])
        self.assertEqual(self.complete_in_fish("keel --output-format j"), ["json"])
        self.assertEqual(self.complete_in_fish("keel models anth"), ["anthropic"])
        self.assertIn("anthropic/claude-sonnet-5-5", self.complete_in_fish("keel --model anthropic/"))
        self.assertIn("printf", self.complete_in_fish("keel sandbox prin"))


class Manual(KeelTest):
    page = str(keel_test.SOURCE / "docs/keel.1")

    def warnings(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        ran = subprocess.run(command, env=self.environment({"LC_ALL": "C.UTF-8"}), text=True,
                             capture_output=True, check=False, timeout=keel_test.HANG_SECONDS)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stderr

    def test_groff_renders_it_without_a_warning(self):
        self.assertEqual(self.warnings("groff", "-man", "-ww", "-z", "-t", self.page), "")

    def test_man_renders_it_without_a_warning(self):
        self.assertEqual(self.warnings("man", "--warnings", "-l", self.page), "")


if __name__ == "__main__":
    keel_test.main()
