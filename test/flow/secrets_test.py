"""secrets_test.py - a key that comes back from anywhere is seen by nobody: not by the model, not on
the terminal, not in what programs read, not by hooks and tools."""
import base64
import json
import os
import pathlib
import resource
import select
import signal

import scripted
from agent import AgentTest, Call, Reader, Turn
from scripted import ANTHROPIC, BY_NAME, KEY, for_each_protocol, json_answer

FORMATS = (["--output-format", "text"], ["--output-format", "json"],
           ["--output-format", "stream-json"],
           ["--output-format", "stream-json", "--include-partial-messages"],
           ["--verbose"], ["--trace-llm"])


def cut(text, n):
    """In pieces of n characters."""
    return [text[i:i + n] for i in range(0, len(text), n)]


class Secrets(AgentTest):
    base_settings = {"maxAttempts": 1}

    def assert_hidden(self, result, *secrets):
        for secret in secrets or (KEY,):
            self.assertNotIn(secret, result.out)
            self.assertNotIn(secret, result.err)
        self.assertIn("[REDACTED]", result.out + result.err)

    def assert_not_sent(self, provider):
        for request in provider.requests:
            self.assertNotIn(KEY.encode(), request.body)


class Providers(Secrets):
    @for_each_protocol
    def test_an_error_that_repeats_the_key_is_told_without_it(self, protocol):
        for status in (400, 401, 500):
            for how in FORMATS:
                provider = self.provider(json_answer(
                    {"error": {"message": f"Incorrect API key provided: {KEY}"}}, status))
                result = self.ask(provider, *how, "hi", protocol=protocol)
                self.assertNotEqual(result.status, 0)
                self.assert_hidden(result)

    @for_each_protocol
    def test_an_answer_that_holds_the_key_is_shown_without_it(self, protocol):
        text = f"Your key is {KEY}, sir."
        for how in FORMATS:
            for size in (len(text), 15, 5):
                provider = self.play(protocol, Turn(cut(text, size)))
                result = self.run_agent(protocol, provider, *how, "hi")
                self.assert_status(result, 0)
                self.assertNotIn(KEY, result.out + result.err)
        result = self.run_agent(protocol, self.play(protocol, Turn(cut(text, 5))), "hi")
        self.assertEqual(result.out, "Your key is [REDACTED], sir.\n")
        self.assertIn(f"{protocol.key_variable}: removed from the model's answer", result.err)

    def test_deltas_add_up_to_the_message(self):
        text = f"Your key is {KEY}, sir: as is"
        provider = self.play(ANTHROPIC, Turn(cut(text, 7)))
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "stream-json",
                                "--include-partial-messages", "hi")
        deltas = [line["event"]["delta"]["text"] for line in map(json.loads, result.out.splitlines())
                  if line["type"] == "stream_event" and
                  line["event"].get("delta", {}).get("type") == "text_delta"]
        self.assertEqual("".join(deltas), "Your key is [REDACTED], sir: as is")
        self.assertGreater(len(deltas), 2)

    def test_what_was_answered_is_not_sent_back_with_the_key(self):
        for name in ("anthropic-messages", "openai-chat", "openai-responses", "gemini"):
            protocol = BY_NAME[name]
            provider = self.play(protocol, Turn(cut(f"I use {KEY}.", 6),
                                                Call("Bash", command=f"echo {KEY}")),
                                 Turn("Done."))
            self.run_agent(protocol, provider, "hi")
            self.assertEqual(len(provider.requests), 2)
            self.assert_not_sent(provider)
            self.assertIn("  result #1 '[REDACTED]\\n'", Reader(protocol,
                                                               provider.requests[1]).lines)
            self.assert_taken(protocol, provider)


class Prompts(Secrets):
    @for_each_protocol
    def test_a_key_in_the_prompt_is_not_sent(self, protocol):
        provider = self.play(protocol, Turn("All right."))
        result = self.run_agent(protocol, provider, f"my key is {KEY}")
        self.assert_hidden(result)
        self.assert_not_sent(provider)
        self.assertIn(f"{protocol.key_variable}: removed from the prompt", result.err)

    def test_nor_one_in_the_system_prompt(self):
        provider = self.play(ANTHROPIC, Turn("All right."))
        self.run_agent(ANTHROPIC, provider, "--append-system-prompt", f"The key: {KEY}", "hi")
        self.assert_not_sent(provider)
        self.assertIn(b"The key: [REDACTED]", provider.requests[0].body)


class Tools(Secrets):
    def run_tool(self, *calls, **run):
        self.model = self.play(ANTHROPIC, Turn(*calls), Turn("Done."))
        return self.run_agent(ANTHROPIC, self.model, "go", **run)

    def results(self):
        return "\n".join(line for line in Reader(ANTHROPIC, self.model.requests[1]).lines
                         if line.startswith("  result"))

    def test_a_key_in_a_file_is_read_without_it(self):
        (self.project / "env").write_text(f"A=1\nKEY={KEY}\nB=2\n")
        for call in (Call("Bash", command="cat env"), Call("Grep", pattern="KEY", path="env",
                                                           output_mode="content"),
                     Call("Read", file_path=str(self.project / "env"))):
            for how in FORMATS:
                self.model = self.play(ANTHROPIC, Turn(call), Turn("Done."))
                result = self.run_agent(ANTHROPIC, self.model, *how, "go")
                self.assert_hidden(result)
                self.assert_not_sent(self.model)
                self.assertIn("KEY=[REDACTED]", self.results())
        self.assertIn("ANTHROPIC_API_KEY: removed from the result of Read", result.err)

    def test_nor_is_it_seen_in_other_spellings(self):
        basic = base64.b64encode(f"someone:{KEY}".encode()).decode()
        (self.project / "env").write_text(f"Authorization: Basic {basic}\n")
        result = self.run_tool(Call("Bash", command="cat env"))
        self.assert_status(result, 0)
        self.assertNotIn(basic[12:-4], self.results())
        self.assertIn("[REDACTED]", self.results())

    def test_a_long_result_is_stored_without_it(self):
        (self.project / "env").write_text(f"KEY={KEY}\n" * 5000)
        self.run_tool(Call("Bash", command="cat env"))
        self.assertIn("call tool_output with handle", self.results())
        for path in self.home.rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_commands_get_no_variable_that_holds_one(self):
        self.run_tool(Call("Bash", command="env"),
                      env={"HARMLESS": KEY, "ADDRESS": f"http://me:{KEY}@host/", "OTHER": "seen"})
        self.assertIn("OTHER=seen", self.results())
        for name in ("HARMLESS", "ADDRESS", "ANTHROPIC_API_KEY", "[REDACTED]"):
            self.assertNotIn(name, self.results())

    SECRETS = {
        "HTTPS_PROXY": "http://user:PROXYPASS99x@127.0.0.1:9",
        "DATABASE_URL": "postgres://me:dbpass0815hush@db/app",
        "GITHUB_PAT": "pat0123456789abcdef",
        "ANTHROPIC_CUSTOM_HEADERS": "x-gateway: gate0815hush",
        "NOTHING_SPECIAL": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "SA_JSON": '{"private_key": "-----BEGIN PRIVATE KEY-----0815hush"}',
        "CI_JOB_JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk",
    }

    def test_commands_get_no_credential_whatever_it_is_called(self):
        self.run_tool(Call("Bash", command="env"), env={
            **self.SECRETS, "TMUX": "/tmp/t", "KUBECONFIG": "/k", "http_proxy": "http://proxy:1",
            "no_proxy": "127.0.0.1",
            "GIT_AUTHOR_NAME": "Anna", "DATABASE": "sqlite:///dev.db"})
        for name in (*self.SECRETS, "TMUX", "KUBECONFIG", "http_proxy", "0815hush", "PROXYPASS"):
            self.assertNotIn(name, self.results())
        self.assertIn("GIT_AUTHOR_NAME=Anna", self.results())
        self.assertIn("DATABASE=sqlite:///dev.db", self.results())

    def test_nor_do_they_come_back_by_a_file(self):
        values = ["PROXYPASS99x", "dbpass0815hush", self.SECRETS["NOTHING_SPECIAL"],
                  self.SECRETS["GITHUB_PAT"]]
        (self.project / "all").write_text("\n".join([*values, "postgres and ordinary words"]))
        self.run_tool(Call("Bash", command="cat all"),
                      env={**self.SECRETS, "DB_PASSWORD": "postgres", "MY_TOKEN": "ordinary"})
        for value in values:
            self.assertNotIn(value, self.results())
        self.assertIn("postgres and ordinary words", self.results())

    def test_a_person_may_let_a_variable_pass(self):
        env = {"DATABASE_URL": "postgres://me:dbpass0815hush@db/app", "OTHER_TOKEN": "x",
               "CI_TOKEN": "short"}
        self.user_settings({"sandbox": {"environment": ["DATABASE_URL", "CI_*"]}})
        self.run_tool(Call("Bash", command="env"), env=env)
        self.assertIn("DATABASE_URL=postgres://me:[REDACTED]@db/app", self.results())
        self.assertIn("CI_TOKEN=short", self.results())
        self.assertNotIn("OTHER_TOKEN", self.results())

    def test_a_project_may_not_even_if_it_is_trusted(self):
        self.write("project/.keel/settings.json", {"sandbox": {"environment": ["*"]}})
        self.keel("trust", "--yes")
        result = self.run_tool(Call("Bash", command="env"), env={"MY_TOKEN": "0123456789abc"})
        self.assertNotIn("MY_TOKEN", self.results())
        self.assertIn("only your own files can set them: sandbox.environment", result.err)

    def test_keys_of_the_settings_are_known_too(self):
        own = {"from the file": "file-0815-hush", "MY_SERVER": "variable-0815-hush",
               "header": "header-0815-hush", "hook": "hook-0815-hush", "url": "url-0815-hush"}
        self.user_settings({
            "providers": {
                "one": {"type": "anthropic", "apiKey": own["from the file"], "model": "m"},
                "two": {"type": "openai-chat", "apiKey": "$ENV:MY_SERVER", "model": "m",
                        "baseUrl": f"http://me:{own['url']}@127.0.0.1:1/",
                        "headers": {"X-Auth-Token": own["header"], "X-Name": "plain-0815-name"}}},
            "hooks": {"SessionEnd": [{"hooks": [{
                "type": "http", "url": "http://127.0.0.1:1/",
                "headers": {"Authorization": "Bearer " + own["hook"]}}]}]}})
        (self.project / "all").write_text("\n".join([*own.values(), "plain-0815-name"]))
        self.run_tool(Call("Bash", command="cat all"), env={"MY_SERVER": own["MY_SERVER"]})
        for value in own.values():
            self.assertNotIn(value, self.results())
        self.assertEqual(self.results().count("[REDACTED]"), len(own))
        self.assertIn("plain-0815-name", self.results())

    def test_what_people_write_where_no_key_is_needed_is_no_secret(self):
        (self.project / "text").write_text("this is not-needed, undefined, short\n")
        self.model = self.play(ANTHROPIC, Turn(Call("Bash", command="cat text")), Turn("Done."))
        result = self.run_agent(ANTHROPIC, self.model, "go",
                                env={"OPENAI_API_KEY": "not-needed", "GROQ_API_KEY": "undefined",
                                     "GEMINI_API_KEY": "short"})
        self.assertIn("this is not-needed, undefined, short", self.results())
        self.assertEqual(result.err, "")


class Hooks(Secrets):
    def configure(self, script, *events):
        path = self.write("hook.sh", f"cat >> {self.dir}/hooks.log\nenv >> {self.dir}/hooks.log\n"
                          f"{script}\n")
        self.user_settings({"hooks": {event: [{"matcher": "", "hooks": [
            {"type": "command", "command": f"sh {path}"}]}] for event in events}})

    def test_hooks_are_told_nothing_of_it(self):
        self.configure("", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart",
                       "SessionEnd")
        (self.project / "env").write_text(f"KEY={KEY}\n")
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command=f"cat env; echo {KEY}")),
                             Turn(cut(f"It is {KEY}", 7)))
        self.run_agent(ANTHROPIC, provider, f"What is {KEY}?", env={"HARMLESS": KEY})
        told = (self.dir / "hooks.log").read_text()
        self.assertNotIn(KEY, told)
        self.assertIn("What is [REDACTED]?", told)
        self.assertIn("KEY=[REDACTED]", told)
        self.assertIn("It is [REDACTED]", told)

    def test_nor_are_they_of_a_failure(self):
        self.configure("", "StopFailure")
        provider = self.provider(json_answer({"error": {"message": f"bad key {KEY}"}}, 401))
        self.run_agent(ANTHROPIC, provider, "hi")
        told = (self.dir / "hooks.log").read_text()
        self.assertIn("[REDACTED]", told)
        self.assertNotIn(KEY, told)

    def test_what_a_hook_says_is_searched(self):
        for event in ("UserPromptSubmit", "PostToolUse"):
            self.configure(f"echo 'the key {KEY}' >&2; exit 2", event)
            provider = self.play(ANTHROPIC, Turn(Call("Bash", command="true")), Turn("Done."))
            result = self.run_agent(ANTHROPIC, provider, "hi")
            self.assert_not_sent(provider)
            self.assertNotIn(KEY, result.out + result.err)
        self.assertIn(b"the key [REDACTED]", provider.requests[1].body)

    def test_a_failing_hooks_words_are_told_without_it(self):
        self.configure(f"echo 'the key {KEY}' >&2; exit 1", "PostToolUse")
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="true")), Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "hi")
        self.assert_hidden(result)


class Core(Secrets):
    """keel dies of a signal that leaves a core: it must hold no key, wherever it lies."""

    PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    # The sanitizer would handle the signal itself, and forbid cores.
    ASAN = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:disable_coredump=0"

    def setUp(self):
        super().setUp()
        if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
            self.skipTest("cores are limited here, as sudo limits them (ulimit -Hc)")

    def die(self, **env):
        """Killed while the model answers; the cores that are in the workspace then."""
        path = self.project / "pipe"
        os.mkfifo(path)
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="ulimit -c > pipe; sleep 60")))
        process = self.start_agent(
            ANTHROPIC, provider, "go", env={"ASAN_OPTIONS": self.ASAN, **env},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))
        select.select([fd], [], [], scripted.HANG_SECONDS)
        self.limit = os.read(fd, 100).decode().strip()
        os.close(fd)
        process.send_signal(signal.SIGSEGV)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        return list(self.project.glob("core*"))

    def test_no_core_is_left(self):
        self.assertEqual(self.die(), [])

    def test_commands_keep_their_limit(self):
        self.die()
        self.assertEqual(self.limit, "unlimited")

    def test_who_debugs_keel_may_have_one(self):
        if self.PATTERN.startswith(("|", "/")):
            self.skipTest(f"cores do not come to the workspace here: {self.PATTERN}")
        cores = self.die(KEEL_CORE="1")
        self.assertEqual(len(cores), 1)
        self.assertIn(KEY.encode(), cores[0].read_bytes())  # so it would be found above


if __name__ == "__main__":
    scripted.main()
