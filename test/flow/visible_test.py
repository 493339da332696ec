"""visible_test.py - what others wrote cannot steer a terminal, nor look like another text.

A project, a provider, a model and a session that are full of control characters and of marks that
turn the direction of writing, and every command that shows something of them.
"""
import json
import re
import unicodedata

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC

# A terminal's title, a colour, DEL, C1 controls, all bidirectional controls, tags.
HOSTILE = ("\x1b]0;title\x07\x1b[31mred\x08\x7f\x9b31m\x85"
           "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
           "\u200b\ufeff\U000e0041")
# What keel itself sends to a terminal that wants no colours: the line of progress.
OWN = re.compile(r"\r\x1b\[K")
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e"
                       "\u2028\u2029\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


class Visible(AgentTest):
    base_settings = {"maxAttempts": 1}

    def setUp(self):
        super().setUp()
        self.session = "00000000-0000-7000-8000-000000000001"
        self.hostile_settings = {
            "model": f"openai/{HOSTILE}",
            "permissions": {"deny": [f"Read({HOSTILE})", "Bash(rm *)"], "ask": [f"Write({HOSTILE})"],
                            "allow": [f"Bash(echo {HOSTILE})"]},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"true {HOSTILE}"}]}]},
            "providers": {f"p{HOSTILE}": {"type": "openai", "model": HOSTILE,
                                          "baseUrl": f"http://127.0.0.1:1/{HOSTILE}"}},
        }

    def bring(self):
        self.write("project/.keel/settings.json", self.hostile_settings)
        self.write(f"project/.keel/{HOSTILE.replace('/', '')}", HOSTILE)

    def hold_session(self):
        """A session with hostile prompts, answers, calls, results and names."""
        provider = self.play(
            ANTHROPIC,
            Turn(f"Look: {HOSTILE}", Call("Bash", command=f"printf '%s' 'out{HOSTILE}' | tee made")),
            Turn(f"Done {HOSTILE}."))
        result = self.run_agent(ANTHROPIC, provider, "--session-id", self.session,
                                f"needle {HOSTILE}")
        self.assert_status(result, 0)
        self.keel("session", "rename", self.session, f"name{HOSTILE}")

    def check(self, *arguments, on_pipe=True, on_terminal=True, env=None):
        """Nothing of it may reach a person as it is; what is JSON stays what it says."""
        env = {"NO_COLOR": "1", **ANTHROPIC.environment(self.play(ANTHROPIC, *[Turn("Hi.")] * 2)),
               **(env or {})}
        results = []
        if on_pipe:
            results.append(self.keel(*arguments, env=env))
        if on_terminal:
            results.append(self.on_terminal(*arguments, env=env, typed=b"n\n"))
        for result in results:
            seen = OWN.sub("", result.out + result.err).replace("\r\n", "\n")
            found = FORBIDDEN.search(seen)
            if found:
                at = seen[max(0, found.start() - 40):found.end() + 20]
                self.fail(f"keel {arguments}: {found[0]!r} ({unicodedata.name(found[0], '?')}) "
                          f"in {at!r}")
        return results[0]

    def test_commands_about_a_project(self):
        self.bring()
        for arguments in (("config", "show"), ("config", "show", "--origin"),
                          ("config", "show", "--json"), ("config", "show", "--json", "--origin"),
                          ("config", "provider"), ("config", "keys"), ("trust",),
                          ("permissions", "list"), ("permissions", "list", "--json"),
                          ("permissions", "test", "Bash", f"ls {HOSTILE}"),
                          ("permissions", "test", "Read", HOSTILE),
                          ("permissions", "explain", "Bash", f"ls {HOSTILE}"),
                          ("permissions", "explain", "Bash", f"rm {HOSTILE}", "--json"),
                          ("doctor",), ("doctor", "--json"), ("models",), ("models", "--json"),
                          ("sandbox", "true"), ("-p", "hi")):
            with self.subTest(arguments):
                self.check(*arguments)
        self.check("trust", "--yes")
        for arguments in (("trust", "--list"), ("config", "show"), ("config", "provider"),
                          ("permissions", "list"), ("permissions", "test", "Bash", "echo hi"),
                          ("doctor",), ("doctor", "--json"), ("-p", "hi"), ("trust", "--revoke")):
            with self.subTest(trusted=arguments):
                self.check(*arguments)

    def test_the_person_s_own_settings_may_be_copied_from_anywhere(self):
        for wrong in ({}, {f"key{HOSTILE}": HOSTILE}):
            self.user_settings({**self.hostile_settings, **wrong})
            for arguments in (("config", "show"), ("config", "show", "--json"),
                              ("config", "provider"), ("permissions", "list"), ("doctor",),
                              ("models",), ("-p", "hi")):
                with self.subTest(arguments, wrong=wrong):
                    self.check(*arguments)

    def test_json_says_the_same(self):
        self.user_settings(self.hostile_settings)
        shown = self.check("config", "show", "--json").json()
        self.assertEqual(shown["permissions"]["deny"][0], f"Read({HOSTILE})")
        self.assertEqual(shown["model"], f"openai/{HOSTILE}")

    def test_commands_about_a_session(self):
        self.hold_session()
        one = self.session
        for arguments in (("list",), ("list", "--json"), ("list", "--all"), ("show", one),
                          ("show", one, "--tools"), ("show", one, "--json"), ("search", "needle"),
                          ("search", "needle", "--json"), ("verify", one), ("verify", one, "--json"),
                          ("replay", one), ("replay", one, "--json"),
                          ("rewind", one, "--to", "1", "--dry-run"),
                          ("rewind", one, "--to", "1", "--dry-run", "--json"), ("fork", one),
                          ("prune", "--dry-run"), ("rebuild",), ("rename", one, f"other{HOSTILE}")):
            with self.subTest(arguments):
                self.check("session", *arguments)
        for form in ("md", "html", "json", "jsonl"):
            with self.subTest(export=form):
                self.check("session", "export", one, "--format", form, on_pipe=False)
        self.check("session", "delete", one)
        self.check("session", "delete", one, "--yes")

    def test_a_file_that_is_no_session(self):
        path = self.write("evil.jsonl", f'{{"type": "{HOSTILE[5:9]}", "x": "{HOSTILE[-15:]}"\n')
        self.check("session", "import", path)
        self.check("session", "import", f"{path}{HOSTILE}")

    def test_a_run(self):
        for how in (["--output-format", "text"], ["--verbose"], ["--output-format", "json"],
                    ["--output-format", "stream-json", "--verbose"],
                    ["--output-format", "stream-json", "--include-partial-messages", "--verbose"]):
            for mode in ("default", "bypassPermissions"):
                turns = (Turn(f"Look: {HOSTILE}", Call("Bash", command=f"echo 'x{HOSTILE}'"),
                              Call("Write", file_path=f"w{HOSTILE}", content=HOSTILE),
                              Call(f"No{HOSTILE}"[:20])), Turn(f"Done {HOSTILE}"))
                with self.subTest(how=how, mode=mode):
                    self.check("-p", "--model", "anthropic/m", "--permission-mode", mode, *how,
                               f"go {HOSTILE}", on_pipe="json" in how[-1] or "stream" in str(how),
                               env=ANTHROPIC.environment(self.play(ANTHROPIC, *turns, *turns)))

    def test_a_pipe_gets_the_answer_as_it_is(self):
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(f"Done {HOSTILE}.")), "go")
        self.assertEqual(result.out, f"Done {HOSTILE}.\n")

    def test_errors(self):
        refused = scripted.json_answer({"error": {"message": f"no {HOSTILE}"}}, 400)
        for arguments in ((HOSTILE,), (f"--{HOSTILE}",), ("session", "show", HOSTILE),
                          ("session", HOSTILE), ("-p", "--model", f"{HOSTILE}/m", "hi"),
                          ("-p", "--model", f"openai/{HOSTILE}", "hi"), ("-p", "-r", HOSTILE, "hi"),
                          ("-p", "--settings", f"/{HOSTILE}", "hi"),
                          ("-p", "--settings", json.dumps({"model": [HOSTILE]}), "hi"),
                          ("-p", "--permission-mode", HOSTILE, "hi"),
                          ("-p", "--allowed-tools", f"({HOSTILE}", "hi"),
                          ("-p", "--cwd", f"/{HOSTILE}", "hi"),
                          ("inspect", "json", f"/{HOSTILE}"),
                          ("inspect", "json", self.write(f"j{HOSTILE[:20]}".replace("/", ""), "{")),
                          ("inspect", "json", self.write("fine.json", json.dumps(
                              HOSTILE, ensure_ascii=False))),
                          ("inspect", "glob", "*", HOSTILE), ("inspect", "ignore", ".", HOSTILE),
                          ("completion", HOSTILE), ("models", HOSTILE), ("config", HOSTILE),
                          ("sandbox", f"/{HOSTILE}")):
            with self.subTest(arguments):
                self.check(*arguments)
        self.check("-p", "--model", "anthropic/m", "hi",
                   env=ANTHROPIC.environment(self.provider(refused, refused)))


if __name__ == "__main__":
    scripted.main()
