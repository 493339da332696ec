"""invocation_test.py - how keel is called: help, versions, mistakes, streams that are not there."""
import os
import re
import subprocess

import keel_test
from keel_test import KeelTest


def commands_named_in(text):
    """The commands in a help text: "  keel config ...   the settings" gives ("config",)."""
    rows = re.findall(r"^  keel ([a-z][a-z ]*?)(?: \.\.\.)?(?:  .*)?$", text, re.MULTILINE)
    return [tuple(row.split()) for row in rows]


class Help(KeelTest):
    def all_helps(self):
        """(command, result of its --help) of every command that a help text names."""
        helps, waiting, seen = [], [()], set()
        while waiting:
            command = waiting.pop()
            if command in seen:
                continue
            seen.add(command)
            result = self.keel(*command, "--help")
            helps.append((command, result))
            waiting += [c for c in commands_named_in(result.out) if c[:-1] == command]
        return helps

    def test_every_command_that_help_names_has_help(self):
        helps = self.all_helps()
        names = {" ".join(command) for command, _ in helps}
        for expected in ("demo", "models", "config show", "config keys", "doctor", "completion",
                         "inspect decode", "inspect json", "inspect schema", "inspect sse",
                         "inspect glob", "inspect ignore"):
            self.assertIn(expected, names)
        for command, result in helps:
            self.assert_fine(result)
            name = " ".join(("keel",) + command)
            self.assertTrue(result.out.startswith(f"{name} - "), result)
            self.assertIn(f"\nUsage: {name}", result.out)

    def test_no_line_of_help_is_wider_than_eighty_columns(self):
        for command, result in self.all_helps():
            for line in result.out.splitlines():
                self.assertLessEqual(len(line), 80, f"keel {' '.join(command)}: {line}")

    def test_no_line_of_a_paragraph_is_broken_early(self):
        """The next word would have fitted, with ten columns to spare."""
        for command, result in self.all_helps():
            lines = result.out.split("Options:")[0].split("\n")
            for line, after in zip(lines[3:], lines[4:]):
                is_prose = re.match(r"[A-Z*a-z]\S* \S", line) and re.match(r"\S", after)
                if is_prose and not line.endswith(":"):
                    self.assertGreater(len(line) + 1 + len(after.split()[0]), 70,
                                       f"keel {' '.join(command)}: {line}")

    def test_help_is_answered_wherever_it_stands(self):
        plain = self.keel("--help").out
        self.assertEqual(self.keel("-h").out, plain)
        self.assertEqual(self.keel("help").out, plain)
        self.assertEqual(self.keel("help", "inspect", "sse").out,
                         self.keel("inspect", "sse", "--help").out)
        self.assertEqual(self.keel("-p", "--model", "--help").out, plain)
        self.assertEqual(self.keel("inspect", "sse", "-h").out,
                         self.keel("inspect", "sse", "--help").out)

    def test_help_is_answered_among_other_letters(self):
        self.assertEqual(self.keel("-ch").out, self.keel("--help").out)

    def test_what_is_said_about_examples_begins_in_one_column(self):
        start = self.keel("--help").out.split("Start:\n")[1].split("\n\n")[0]
        begins = {line.rindex("  ") for line in start.splitlines() if not line.endswith("\\")}
        self.assertEqual(len(begins), 1, start)

    def test_help_of_every_command_shows_an_example(self):
        for command, result in self.all_helps():
            name = " ".join(("keel",) + command)
            example = re.compile(rf"^  (?=\S).*\b{name}\b", re.MULTILINE)
            self.assertRegex(result.out.split("Options:")[0], example, name)

    def test_help_about_what_is_not_a_command_names_the_nearest_one(self):
        self.assert_refused(self.keel("help", "sesion"), 2, 'unknown command "sesion"',
                            "did you mean keel session?")
        self.assert_refused(self.keel("help", "session", "nosuch"), 2,
                            'unknown command "session nosuch"', "see keel session --help")

    def test_options_of_a_run_are_listed_in_groups(self):
        out = self.keel("--help").out
        for group in ("Prompt and model", "Permissions and files", "Sessions", "Limits", "Output",
                      "Settings", "For programs that drive keel", "Help"):
            self.assertIn(f"\n\n{group}:\n", out)

    def test_keel_alone_fits_a_small_screen_and_says_where_more_is(self):
        for result in (self.keel(), self.on_terminal()):
            self.assert_status(result, 0)
            lines = result.out.splitlines()
            self.assertLessEqual(len(lines), 15)
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertIn("keel --help", lines[-1])

    def test_the_manual_names_every_command_and_every_option(self):
        source = (keel_test.SOURCE / "docs/keel.1").read_text().replace("\\-", "-")
        manual = re.sub(r'["\s]+', " ", source)
        for command, result in self.all_helps():
            for option in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", result.out, re.MULTILINE):
                self.assertIn(option, manual, f"of keel {' '.join(command)}")
            if command:
                self.assertIn(f".BR {' '.join(command)} ", manual)


class Version(KeelTest):
    def test_every_spelling_prints_one_line(self):
        for option in ("--version", "-v", "-V", "version"):
            result = self.keel(option)
            self.assert_fine(result)
            self.assertRegex(result.out, r"\Akeel \d+\.\d+\.\d+\n\Z")


class Mistakes(KeelTest):
    def test_a_misspelt_command_is_guessed(self):
        self.assert_refused(self.keel("inspct"), 2, 'unknown command "inspct"',
                            'did you mean keel inspect? To send it as a prompt: keel -p "inspct"')
        self.assert_refused(self.keel("config", "shwo"), 2, 'unknown command "config shwo"',
                            "did you mean keel config show?")

    def test_words_without_quotes_are_not_half_a_prompt(self):
        self.assert_refused(self.keel("why", "is", "the", "sky", "blue?"), 2,
                            "5 prompts given, one is allowed", "put it into quotes")

    def test_an_empty_prompt_is_refused(self):
        env = {"ANTHROPIC_API_KEY": "x"}
        self.assert_refused(self.keel("", env=env), 2, "the prompt is empty")
        self.assert_refused(self.keel(stdin=b" \n", env=env), 2, "no prompt given")

    def test_a_misspelt_option_is_guessed(self):
        self.assert_refused(self.keel("--modle=x"), 2, "keel: unknown option --modle\n",
                            "did you mean --model?")
        self.assert_refused(self.keel("inspect", "sse", "--chunks", "3", "x"), 2,
                            "keel: inspect sse has no option --chunks", "did you mean --chunk?")

    def test_a_long_name_behind_one_dash_is_not_letters(self):
        for given, meant in (("-print", "--print"), ("-model", "--model"), ("-model=x", "--model"),
                             ("-resume", "--resume")):
            self.assert_refused(self.keel(given, "x"), 2, f"did you mean {meant}?")
        self.assert_refused(self.keel("-px", "hi"), 2, "unknown option -px")
        self.assert_refused(self.keel("-prsky", "hi"), 2, "unknown option -prsky")

    def test_an_option_that_is_like_no_other_leads_to_help(self):
        self.assert_refused(self.keel("-x"), 2, "keel: unknown option -x\n", "see keel --help")
        self.assert_refused(self.keel("doctor", "--frobnicate"), 2,
                            "keel: doctor has no option --frobnicate", "see keel doctor --help")

    def test_a_missing_value_is_named(self):
        self.assert_refused(self.keel("-p", "--model"), 2, "--model needs a value: VENDOR/MODEL")
        self.assert_refused(self.keel("inspect", "sse", "x", "--chunk"), 2, "--chunk needs a value")

    def test_an_option_is_not_taken_for_the_value_of_the_one_before(self):
        self.assert_refused(self.keel("-p", "--model", "--verbose", "hi"), 2,
                            "--model needs a value: VENDOR/MODEL, not the option --verbose",
                            "for a value with this name: --model=--verbose")
        self.assert_refused(self.keel("session", "export", "-o", "--format", "json"), 2,
                            "--output needs a value: FILE, not the option --format")
        self.assert_refused(self.keel("-p", "--model", "--", "hi"), 2,
                            "--model needs a value: VENDOR/MODEL\n")
        self.assert_refused(self.keel("-p", "--cwd=--verbose", "hi"), 2,
                            "--cwd --verbose: No such file or directory")

    def test_a_missing_value_comes_with_the_choices(self):
        self.assert_refused(self.keel("-p", "--effort"), 2, "one of: low medium high xhigh max")
        self.assert_refused(self.keel("-r"), 2, "--resume needs a value: ID|NAME",
                            "keel session list prints the sessions; --continue takes the newest")

    def test_config_says_how_a_setting_is_changed(self):
        self.assert_refused(self.keel("config", "set", "model", "x"), 2,
                            'unknown command "config set"', "edit ~/.keel/settings.json")

    def test_an_unknown_protocol_is_named(self):
        self.assert_refused(self.keel("inspect", "decode", "--api", "foo", "x"), 2,
                            '--api: unknown protocol "foo"', "anthropic-messages")

    def test_a_switch_takes_no_value(self):
        self.assert_refused(self.keel("--version=3"), 2, "--version takes no value")

    def test_a_command_with_parts_wants_one_of_them(self):
        self.assert_refused(self.keel("inspect"), 2, "decode, json, schema, sse, glob, ignore",
                            "see keel inspect --help")
        self.assert_refused(self.keel("config", "--json"), 2, "show, provider, keys")

    def test_operands_that_a_command_does_not_take_are_refused(self):
        for command in (("doctor",), ("demo",), ("config", "show"), ("config", "keys"),
                        ("config", "provider")):
            self.assert_refused(self.keel(*command, "extra"), 2, "takes no arguments")
        self.assert_refused(self.keel("models", "a", "b"), 2, "at most one VENDOR")
        self.assert_refused(self.keel("models", "antropic"), 2, "did you mean anthropic?")
        self.assert_refused(self.keel("completion"), 2, "bash, zsh or fish")
        self.assert_refused(self.keel("completion", "tcsh"), 2, 'unknown shell "tcsh"', "one of: bash, zsh, fish\n")

    def test_options_before_a_command_are_told_their_place(self):
        self.assert_refused(self.keel("--settings", "{}", "config", "show"), 2,
                            "put options after the command",
                            "keel config show --settings FILE|JSON; see keel help config show")
        self.assert_refused(self.keel("--cwd", "/", "session", "list"), 2,
                            "keel: session list has no option --cwd\n",
                            "change to that directory first")
        self.assert_refused(self.keel("session", "list", "--cwd", "/"), 2,
                            "change to that directory first")
        self.assert_refused(self.keel("--max-turns", "3", "models"), 2,
                            "keel: models has no option --max-turns\n",
                            'it is an option of keel "PROMPT"\n')

    def test_options_alone_do_nothing_and_say_so(self):
        self.assert_refused(self.keel("--model", "x/y"), 2, "no prompt and no command given",
                            'keel [OPTIONS] "why')

    def test_numbers_have_their_bounds(self):
        for value in ("0", "-1", "1x", "", "99999999999999999999"):
            self.assert_refused(self.keel("inspect", "sse", "--chunk", value, "-"), 2,
                                f'--chunk takes a number from 1 to 2147483647, not "{value}"')

    def test_control_characters_in_arguments_do_not_reach_the_terminal(self):
        result = self.keel("--\x1b[31mred\x07")
        self.assert_refused(result, 2, "--\\x1b[31mred\\x07")
        self.assertNotIn("\x1b", result.err)

    def test_huge_arguments_are_only_long(self):
        huge = "x" * 120_000
        self.assert_refused(self.keel("--" + huge), 2, "unknown option")
        self.assert_refused(self.keel("config", huge), 2, "unknown command")
        self.assert_refused(self.keel("inspect", "json", huge), 2, "cannot read")
        self.assertEqual(self.keel("inspect", "glob", "*", huge).out, f"yes {huge}\n")


class OtherAgents(KeelTest):
    """What users of other programs type."""

    WORDS = {
        "rewind": "did you mean keel session rewind?", "fork": "did you mean keel session fork?",
        "compact": "did you mean keel session compact?", "export": "keel session export?",
        "import": "keel session import?", "list": "keel session list?",
        "login": "keel needs no login: export ANTHROPIC_API_KEY=...", "logout": "stores no key",
        "auth": "needs no login", "mcp": "keel has no MCP servers yet", "init": "AGENTS.md",
        "update": "does not update itself", "upgrade": "does not update itself",
        "resume": "keel -r ID resumes a session", "continue": "keel -c continues",
        "exec": 'keel "PROMPT" runs', "run": 'keel "PROMPT" runs', "serve": "has no server",
        "chat": "no interactive mode yet", "agents": "no subagents", "plugin": "no plugins",
        "review": 'git diff | keel "review this change"', "apply": "acceptEdits",
        "install": "./run.sh --install", "setup": "keel doctor says what is missing",
        "configure": "~/.keel/settings.json", "settings": "keel config show", "tools": "--tools",
        "hooks": "keel config show --origin", "status": "keel session show",
        "cost": "keel session show", "usage": "keel session show", "undo": "keel session rewind",
        "history": "keel session list", "/clear": "begins a new session", "/help": "keel help?",
        "/compact": "did you mean keel session compact?",
    }
    OPTIONS = {
        "--session": "--resume ID", "--mode": "--permission-mode", "--bare": "--setting-sources",
        "--share": "keel session export",
        "--yolo": "--dangerously-skip-permissions", "--full-auto": "acceptEdits",
        "--dangerously-bypass-approvals-and-sandbox": "--dangerously-skip-permissions",
        "-C": "--cwd DIR", "--json": "--output-format json", "--plan": "--permission-mode plan",
        "--debug": "--verbose", "--image": "name the file in the prompt",
        "--no-sandbox": '"sandbox": {"enabled": false}', "--profile": "the name of a profile",
        "--max-tokens": "--max-tokens-total", "--system-prompt-file": "--system-prompt",
        "--probe": "it is an option of keel doctor", "--verb": "did you mean --verbose?",
    }

    def test_a_word_that_names_no_command_here_is_answered_and_not_sent(self):
        env = {"ANTHROPIC_API_KEY": "x"}
        for word, advice in self.WORDS.items():
            with self.subTest(word):
                self.assert_refused(self.keel(word, env=env), 2, f'unknown command "{word}"\n', advice,
                                    f'To send it as a prompt: keel -p "{word}"\n')

    def test_with_p_in_a_session_or_beside_piped_text_it_is_a_prompt(self):
        for arguments, stdin in ((("-p", "login"), None), (("-c", "continue"), None),
                                 (("review",), b"a change"), (("login now",), None)):
            result = self.keel(*arguments, stdin=stdin)
            self.assertNotIn("unknown command", result.err, arguments)
            self.assertNotIn("prompts", result.err)

    def test_such_a_word_before_others_is_answered_too(self):
        self.assert_refused(self.keel("mcp", "list"), 2, "keel has no MCP servers yet",
                            "Put a prompt of several words into quotes")
        self.assert_refused(self.keel("exec", "fix it"), 2, 'keel "PROMPT" runs a prompt')

    def test_options_that_are_called_otherwise_here(self):
        for option, advice in self.OPTIONS.items():
            with self.subTest(option):
                self.assert_refused(self.keel(option, "x"), 2, f"keel: unknown option {option}\n",
                                    advice)

    def test_what_is_not_near_is_not_guessed(self):
        for option in ("--barf", "--scare"):
            self.assert_refused(self.keel(option), 2, "see keel --help")

    def test_words_behind_session(self):
        for word, advice in (("ls", "keel session list?"), ("rm", "keel session delete?"),
                             ("resume", "keel -r ID resumes"), ("undo", "keel session rewind?")):
            self.assert_refused(self.keel("session", word), 2, f'"session {word}"', advice)

    def test_a_prompt_that_begins_with_a_dash_is_told_its_place(self):
        for prompt in ("-5 + 3", "--why is this?", "-1"):
            self.assert_refused(self.keel("-p", prompt), 2,
                                'put a prompt that begins with a dash after --: keel -p -- "..."')

    def test_keel_alone_says_what_is_missing(self):
        self.assertIn("\nIt needs a key: export ANTHROPIC_API_KEY=", self.keel().out)
        out = self.keel(env={"ANTHROPIC_API_KEY": "x"}).out
        self.assertIn("\nIt asks anthropic/claude-", out)
        self.assertNotIn("needs a key", out)
        self.user_settings("{")
        self.assertIn("\nThe settings cannot be used; keel doctor says why.\n", self.keel().out)


class WithoutProvider(KeelTest):
    def test_a_prompt_without_any_key_says_what_to_set_and_where_to_get_it(self):
        for arguments in (("-p", "hi"), ("hi", "-p"), ("-p",)):
            self.assert_refused(self.keel(*arguments), 6, "ANTHROPIC_API_KEY", "https://",
                                "keel doctor")

    def test_a_vendor_without_its_key_names_its_variable(self):
        self.assert_refused(self.keel("-p", "--model", "anthropic/x", "hi"), 6,
                            "ANTHROPIC_API_KEY is not set", "https://")

    def test_an_empty_key_is_no_key(self):
        self.assert_refused(self.keel("-p", "hi", env={"ANTHROPIC_API_KEY": ""}), 6, "set ")

    def test_two_prompts_are_one_too_many(self):
        self.assert_refused(self.keel("-p", "why", "is"), 2, "2 prompts given", "quotes")


class Streams(KeelTest):
    def big_json(self):
        return self.write("big.json", [list(range(1000))] * 200)

    def test_output_that_nobody_reads_ends_the_program_without_a_word(self):
        for command in (("inspect", "json", self.big_json()), ("demo", "--fast"), ("--help",)):
            read, write = os.pipe()
            os.close(read)
            result = self.keel(*command, stdout=write)
            os.close(write)
            self.assert_status(result, -13)  # SIGPIPE, as of any other program
            self.assertEqual(result.err, "")

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for command in (("--version",), ("inspect", "json", self.big_json()), ("demo",),
                            ("models", "--all"), ("completion", "bash")):
                self.assert_refused(self.keel(*command, stdout=full), 1,
                                    "cannot write to standard output: No space left on device")

    def run_with_closed(self, redirection, *arguments):
        shell = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", keel_test.KEEL,
                                *arguments], env=self.environment(), cwd=self.project,
                               capture_output=True, timeout=keel_test.HANG_SECONDS, check=False)
        return keel_test.Result(arguments, shell.returncode, shell.stdout, shell.stderr)

    def test_a_closed_stdout_is_an_error_and_no_file_takes_its_place(self):
        self.assert_refused(self.run_with_closed(">&-", "--version"), 1,
                            "cannot write to standard output: Bad file descriptor")
        self.assert_refused(self.run_with_closed(">&-", "inspect", "json", self.big_json()), 1,
                            "cannot write to standard output: Bad file descriptor")

    def test_a_closed_stdin_is_an_error_only_where_it_is_read(self):
        self.assert_fine(self.run_with_closed("<&-", "--version"))
        self.assert_refused(self.run_with_closed("<&-", "inspect", "json", "-"), 2,
                            "cannot read standard input: Bad file descriptor")

    def test_a_closed_stderr_changes_only_that_nothing_is_heard(self):
        self.assert_status(self.run_with_closed("2>&-", "--nonsense"), 2)
        self.assertRegex(self.run_with_closed("2>&-", "--version").out, r"\Akeel ")


class Files(KeelTest):
    readers = (("inspect", "json"), ("inspect", "sse"), ("inspect", "decode", "--api", "gemini"))

    def test_a_file_that_is_not_there_is_named(self):
        for command in self.readers:
            self.assert_refused(self.keel(*command, "nowhere.txt"), 2,
                                "cannot read nowhere.txt: No such file or directory")

    def test_a_directory_is_not_a_file(self):
        for command in self.readers:
            self.assert_refused(self.keel(*command, str(self.dir)), 2,
                                f"cannot read {self.dir}: Is a directory")

    def test_a_file_that_may_not_be_read_is_named(self):
        path = self.write("secret.json", "{}")
        os.chmod(path, 0)
        os.chmod(self.dir, 0o755)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}  # root may read everything
        try:
            result = self.keel("inspect", "json", path, cwd="/", **nobody)
        except PermissionError:
            self.skipTest("others may not run this keel")
        self.assert_refused(result, 2, f"cannot read {path}: Permission denied")

    def test_a_file_that_fails_while_it_is_read_is_named(self):
        why = "Input/output error" if os.geteuid() == 0 else "Permission denied"
        self.assert_refused(self.keel("inspect", "json", "/proc/self/mem"), 2,
                            f"cannot read /proc/self/mem: {why}")

    def test_a_dash_is_standard_input(self):
        self.assertEqual(self.keel("inspect", "json", "-", stdin=b" [1 , 2] ").out, "[1,2]\n")
        self.assertEqual(self.keel("inspect", "sse", "-", stdin=b"data: x\n\n").out,
                         '{"type":"message","data":"x","lastEventId":""}\n')

    def test_an_operand_after_two_dashes_may_look_like_an_option(self):
        (self.project / "--file").write_text("[]")
        self.assertEqual(self.keel("inspect", "json", "--", "--file").out, "[]\n")


if __name__ == "__main__":
    keel_test.main()
