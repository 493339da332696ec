"""prefix_test.py - requests that grow: each begins with the bytes of the one before it.

Providers keep what they have read of a prompt, and charge a tenth for it the next time, but only up
to the first byte that differs.
"""
import collections
import datetime
import json
import os
import re
import sqlite3
import subprocess
import uuid

import scripted
from agent import AgentTest, Call, Thought, Turn
from scripted import ANTHROPIC, for_each_protocol, keel_test

SEQ_BITS = 40  # of a record's key; the rest is its session's number
FULL = (190_000, 9)  # tokens, when the window takes 200,000


def split_list(body):
    """The list of messages as it was sent, without its end, and everything else."""
    text = body.decode("utf-8")
    for name in ("messages", "input", "contents"):
        at = re.search(rf'(?<!\\)"{name}": ?(?=\[)', text)
        if at:
            _, end = json.JSONDecoder().raw_decode(text, at.end())
            return text[at.end():end - 1], text[:at.end()] + text[end:]
    raise AssertionError("a request without messages")


class Prefix(AgentTest):
    def assert_grows(self, provider):
        pairs = [split_list(request.body) for request in provider.requests]
        for (before, rest), (after, rest_after) in zip(pairs, pairs[1:]):
            self.assertEqual(after[:len(before)], before)
            self.assertGreater(len(after), len(before))
            self.assertEqual(rest_after, rest)

    @for_each_protocol
    def test_ten_rounds_of_tools(self, protocol):
        (self.project / "a.txt").write_text("one\ntwo\n")
        rounds = [
            Turn("I look.", Call("Read", file_path="a.txt")),
            Turn(Thought("Hm."), Call("Bash", command="echo 1"), Call("Bash", command="echo 2")),
            Turn(Call("Edit", file_path="a.txt", old_string="two", new_string="2")),
            Turn("Wörter \u2014 \U0001f600", Call("Grep", pattern="2", output_mode="content")),
            Turn(Call("Teleport", where="Mars")),
            Turn(Call("Bash", id="call_1", command="false"), Call("Bash", id="call_1",
                                                                   command="printf '\\377'")),
            Turn(" ", Call("Bash", command="seq 100000")),
            Turn(Call("Bash", command=7)),
            Turn(Call("Glob", pattern="*.none")),
            Turn(Call("TodoWrite", todos=[{"content": "c", "status": "pending",
                                           "activeForm": "f"}])),
            Turn("Done.")]
        provider = self.play(protocol, *rounds)
        result = self.run_agent(protocol, provider, "go")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "Done.\n")
        self.assertEqual(len(provider.requests), 11)
        self.assert_grows(provider)
        self.assert_taken(protocol, provider)

    @for_each_protocol
    def test_a_forgotten_todo_list_comes_back_with_a_result(self, protocol):
        look = Turn(Call("Glob", pattern="*.none"))
        todo = Turn(Call("TodoWrite", todos=[{"content": "Test it", "status": "pending",
                                              "activeForm": "f"}]))
        session = str(uuid.uuid4())
        provider = self.play(protocol, todo, *[look] * 12, Turn("Done."))
        result = self.run_agent(protocol, provider, "--session-id", session, "go")
        self.assert_status(result, 0)
        counts = [request.body.count(b"Your todo list has not changed")
                  for request in provider.requests]
        self.assertEqual(counts, [0] * 11 + [1] * 3)
        self.assertNotIn(b"Your todo list", split_list(provider.requests[-1].body)[1].encode())
        self.assert_grows(provider)
        self.assert_status(self.keel("session", "replay", session), 0)

    @for_each_protocol
    def test_a_request_that_is_made_again_is_the_same(self, protocol):
        busy = scripted.json_answer({"error": {"message": "busy"}}, 503, retry_after_ms="1")
        provider = self.play(protocol, Turn("I look.", Call("Bash", command="true")), busy,
                             Turn(["Half", scripted.HANG_UP]), Turn("Done."))
        self.assert_answer(self.run_agent(protocol, provider, "go"), "Done.")
        self.assertEqual(provider.requests[1].body, provider.requests[2].body)
        self.assertEqual(provider.requests[1].body, provider.requests[3].body)

    @for_each_protocol
    def test_the_forced_last_turn_keeps_the_messages(self, protocol):
        provider = self.play(protocol, Turn("I look.", Call("Bash", command="true")),
                             Turn("As far as I got."))
        self.run_agent(protocol, provider, "--max-turns", "1", "go")
        (before, rest), (after, rest_after) = [split_list(request.body)
                                               for request in provider.requests]
        self.assertTrue(after.startswith(before))
        self.assertEqual(re.sub(CHOICE, "", rest_after), rest)
        if protocol.name != "ollama":  # which has no word for it
            self.assertNotEqual(rest_after, rest)

    @for_each_protocol
    def test_two_runs_ask_alike(self, protocol):
        bodies = []
        for _ in range(2):
            provider = self.play(protocol, Turn("Done."))
            self.run_agent(protocol, provider, "go")
            bodies.append(provider.requests[0].body)
        if protocol.name in ("openai-chat", "openai-responses"):
            bodies = [re.sub(rb'"prompt_cache_key":"[^"]*"', b"", body) for body in bodies]
        self.assertEqual(*bodies)


SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"],
          "additionalProperties": False}
# Where the wish for a schema stands; a provider reads the prompt without it.
SCHEMA_MEMBERS = ("output_config", "response_format", "text", "generationConfig", "format")
TOLD = "fits this JSON Schema"


def prompt_of(request):
    """What is the prompt: members of the head, and messages, each without a told schema."""
    head = {key: value for key, value in request.json.items() if key not in SCHEMA_MEMBERS}
    name = next(name for name in ("messages", "input", "contents") if name in head)
    messages = head.pop(name)
    if TOLD in json.dumps(messages[-1]):
        parts = messages[-1].get("parts", [])
        messages = messages[:-1] + ([{**messages[-1], "parts": parts[:-1]}] if len(parts) > 1 else [])
    return head, messages


class WithASchema(AgentTest):
    """One prompt of a session wants its answer in a schema, those before and after it do not."""

    DIALECTS = [("anthropic", "anthropic-messages", "m", False),
                ("openai", "openai-responses", "m", False), ("groq", "openai-chat", "m", False),
                ("ollama", "ollama", "m", False), ("gemini", "gemini", "m", False),
                ("gemini", "gemini", "gemini-2.5-flash", True),
                ("gemini", "gemini", "gemini-2.5-flash-preview-99", True),
                ("deepseek", "openai-chat", "m", True), ("moonshot", "openai-chat", "m", True),
                ("zai", "openai-chat", "m", True), ("dashscope", "openai-chat", "m", True)]

    def check(self, vendor, protocol, model, is_told):
        provider = self.play(protocol, Turn("Hello."), Turn(Call("Glob", pattern="*.none")),
                             Turn('{"x": 1}'), Turn("Bye."))
        self.user_settings({"providers": {"p": {
            "type": vendor, "baseUrl": provider.url + protocol.prefix, "apiKey": "k",
            "model": model}}})
        session = str(uuid.uuid4())
        for arguments in (["--session-id", session, "one"],
                          ["-r", session, "--json-schema", json.dumps(SCHEMA), "two"],
                          ["-r", session, "three"]):
            self.assert_status(self.keel("-p", "--model", f"p/{model}", *arguments), 0)
        told = [TOLD in json.dumps(request.json) for request in provider.requests]
        self.assertEqual(told, [False, is_told, is_told, False])
        prompts = [prompt_of(request) for request in provider.requests]
        for (head, messages), (head_after, messages_after) in zip(prompts, prompts[1:]):
            self.assertEqual(head_after, head)
            self.assertEqual(messages_after[:len(messages)], messages)
        self.assertNotIn(TOLD, json.dumps([messages for _, messages in prompts]))
        if is_told:
            self.assertNotIn("responseMimeType", json.dumps(provider.requests[1].json))
        self.assert_taken(protocol, provider)
        self.assert_status(self.keel("session", "replay", session), 0)

    def test_the_prompt_is_the_same_before_and_after(self):
        for vendor, name, model, is_told in self.DIALECTS:
            with self.subTest(vendor, model=model):
                self.check(vendor, scripted.BY_NAME[name], model, is_told)


Sent = collections.namedtuple("Sent", "messages rest record between")
CHOICE = (r',?"tool_choice":("none"|\{"type":"none"\})'
          r'|,?"toolConfig":\{"functionCallingConfig":\{"mode":"NONE"\}\}')
CACHE_KEY = r'"prompt_cache_key":"[^"]*",?'  # names the session: a copy has its own
SETTINGS = ("provider", "protocol", "model", "system", "tools")


class LongSession(AgentTest):
    """One session of many rounds, in many processes. Where a request does not begin with the one
    before it, the journal says why."""

    def setUp(self):
        super().setUp()
        for name in "ab":
            (self.project / f"{name}.txt").write_text(f"{name}\none\n")

    def round(self, n):
        turns = [
            lambda: Turn(f"Round {n}.", Call("Read", file_path="a.txt", offset=1 + n % 2)),
            lambda: Turn(Thought("Hm."), Call("Glob", pattern="*.txt"),
                         Call("Grep", pattern="one", output_mode="content")),
            lambda: Turn(Call("Read", id="call_again", file_path="b.txt")),
            lambda: Turn(" ", Call("Teleport", where="Mars"), Call("Read", file_path=n)),
            lambda: Turn("W\u00f6rter \u2014 \U0001f600", Call("TodoWrite", todos=[
                {"content": f"c{n}", "status": "pending", "activeForm": "f"}])),
            lambda: Turn(Call("Edit", file_path="b.txt", old_string="one", new_string="one")),
        ]
        return turns[n % len(turns)]()

    def journal(self, session):
        """The requests in the journal, each with the records since the one before it."""
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            rows = db.execute("select type, body from journal join sessions on key >> ? = number "
                              "where id = ? order by key", (SEQ_BITS, session)).fetchall()
        between = []
        for kind, body in rows:
            if kind == "provider_request":
                yield json.loads(body), between
                between = []
            else:
                between.append((kind, body))

    def sent(self, session, requests):
        records = list(self.journal(session))
        self.assertEqual(len(records), len(requests))
        return [Sent(messages, re.sub(CACHE_KEY, "", rest), record, between)
                for (messages, rest), (record, between) in zip(
                    (split_list(request.body) for request in requests), records)]

    def began_anew(self, sent):
        return [json.loads(body)["mutation"] for kind, body in sent.between
                if kind == "history_mutation" and json.loads(body)["mutation"] != "append"]

    def explain(self, sent, before):
        """Why it does not begin with the request before it, as far as the journal says so.

        Reasoning that was made behind another model, system text or list of tools is left out."""
        return ((["cut"] if sent.record.get("cut") else []) + self.began_anew(sent) +
                [name for name in SETTINGS if sent.record.get(name) != before.record.get(name)])

    def breaks(self, requests, before=None):
        """What explains each request that does not go on with the one before.

        What was said only once, at the end of a request, is no part of the history."""
        found = []
        for after in requests:
            if before and not after.messages.startswith(before.messages):
                why = self.explain(after, before)
                self.assertTrue(why, f"nothing explains {after.record}")
                found.append(why[0])
            if before and not after.record.get("overlays"):
                same = all(after.record.get(name) == before.record.get(name) for name in SETTINGS)
                self.assertTrue(after.rest == before.rest or not same)
            if not after.record.get("overlays"):
                before = after
        return found

    def share_of_repeated(self, requests):
        """Of all that is sent, what a provider has read in the request before."""
        n_repeated = n_all = 0
        for before, after in zip(requests, requests[1:]):
            n_all += len(after.messages) + len(after.rest)
            same = os.path.commonprefix([before.messages, after.messages])
            n_repeated += len(same) + (len(after.rest) if after.rest == before.rest else 0)
        return n_repeated / n_all

    @for_each_protocol
    def test_more_than_two_hundred_rounds(self, protocol):
        main, copy = [f"{n}0000000-0000-7000-8000-00000000000{scripted.PROTOCOLS.index(protocol)}"
                      for n in (1, 2)]
        script = [
            (main, 90, ["--session-id", main, "go"]),
            (main, 80, ["-r", main, "more"]),
            (main, 30, ["-c", "and more"]),  # the window is full when it begins
            (copy, 10, ["-r", main, "--fork-session", "--session-id", copy, "try it here"]),
            (main, 5, ["-r", main, "--model", f"{protocol.vendor}/m2", "another model"]),
            (main, 5, ["-r", main, "--disallowedTools", "Glob", "fewer tools"]),
        ]
        turns, n = [], 0
        for number, (_, n_rounds, _) in enumerate(script):
            turns += [Turn("A summary.")] if number == 2 else []
            turns += [self.round(n + i) for i in range(n_rounds)]
            turns.append(Turn("Done.", usage=FULL if number == 1 else (5, 9)))
            n += n_rounds
        provider = self.play(protocol, *turns)
        requests = {main: [], copy: []}
        fork_from = None
        for number, (session, _, arguments) in enumerate(script):
            n_before = len(provider.requests)
            fork_from = len(requests[main]) - 1 if session == copy else fork_from
            self.assert_answer(self.run_agent(protocol, provider, *arguments), "Done.")
            requests[session] += provider.requests[n_before:]
        self.assertEqual(len(provider.requests), len(turns))
        self.assertGreater(n, 200)

        of_main = self.sent(main, requests[main])
        models = {"anthropic-messages": ["model", "model"],  # there and back: reasoning is bound
                  # back, with fewer tools: the system text names them, and is a message there
                  "openai-chat": ["model"], "ollama": ["model"]}.get(protocol.name, [])
        self.assertEqual(self.breaks(of_main), ["cut", "compact"] + models)  # a summary of less
        self.assertGreater(self.share_of_repeated(of_main), 0.95)
        of_copy = self.sent(copy, requests[copy])
        self.assertIn("fork-base", self.began_anew(of_copy[0]))
        self.assertEqual(self.breaks(of_copy, of_main[fork_from]), [])  # not a byte is lost
        self.assert_taken(protocol, provider)


class Around(AgentTest):
    """Everything around a session changes but what its requests begin with. The scripted model signs
    its thoughts, and refuses requests in which one stands behind something else (binding.py)."""

    # What another version of keel says of itself and of a tool.
    OTHER_WORDS = {b"Carry a task through to its end": b"Bring a task through to its end",
                   b"Reads a file. Text comes": b"Shows a file. Text comes"}

    def setUp(self):
        super().setUp()
        (self.project / "a.txt").write_text("one\n")
        self.n_sent = 0
        self.program = keel_test.KEEL

    def start(self, *arguments, **run):
        return super().start(*arguments, program=self.program, **run)

    def upgrade(self):
        """From now on keel has other words."""
        with open(keel_test.KEEL, "rb") as file:
            program = file.read()
        for old, new in self.OTHER_WORDS.items():
            self.assertIn(old, program)
            program = program.replace(old, new)
        self.program = self.dir / "keel"
        self.program.write_bytes(program)
        self.program.chmod(0o755)

    def say(self, *arguments, env=None, mode="default", n_thoughts=None, told=()):
        """A turn with a thought, a call and a thought; all thoughts before it are sent again."""
        turn = Turn(Thought("Hm."), Call("Read", file_path="a.txt"))
        provider = self.play(ANTHROPIC, turn, Turn(Thought("Well."), "Done."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, *arguments, mode=mode, env=env), 0)
        before = self.n_sent if n_thoughts is None else n_thoughts
        for request in provider.requests:
            blocks = [block for message in request.json["messages"]
                      for block in message["content"] if isinstance(block, dict)]
            self.assertEqual(sum(block["type"] == "thinking" for block in blocks), before)
            before += 1
        self.n_sent = before
        prompt = json.dumps(provider.requests[0].json["messages"][-1])
        for text in told:
            self.assertIn(text, prompt)
        return [(request.json["system"], request.json["tools"]) for request in provider.requests]

    def summarise(self, session):
        provider = self.play(ANTHROPIC, Turn("A summary."))
        self.assert_status(self.keel("session", "compact", session, "--model", "anthropic/m",
                                     env=ANTHROPIC.environment(provider)), 0)
        self.n_sent = 0
        return [(request.json["system"], request.json["tools"]) for request in provider.requests]

    def test_days_places_modes_models_summaries_and_versions_change_nothing(self):
        session, other = str(uuid.uuid4()), self.dir / "other"
        other.mkdir()
        began = self.say("--session-id", session, "go")
        tomorrow = keel_test.clock_shifted(1)
        day = (datetime.date.today() + datetime.timedelta(days=1)).isoformat()
        began += self.say("-r", session, "more", env=tomorrow, told=["This has changed"])
        subprocess.run(["git", "init", "-q", "-b", "trunk", self.project], check=True)
        began += self.say("-r", session, "more", told=["trunk"])
        began += self.say("-r", session, "--add-dir", str(other), "more", told=[str(other)])
        began += self.say("-r", session, "more", mode="plan", told=["plan"])
        began += self.say("-r", session, "more", mode="acceptEdits", told=["acceptEdits"])
        kept = self.n_sent
        began += self.say("-r", session, "--model", "anthropic/m2", "more", n_thoughts=0)
        began += self.say("-r", session, "--model", "anthropic/m", "more", n_thoughts=kept)
        began += self.say("-r", session, "--max-turns", "1", "more")
        self.n_sent -= 1  # the last one answers to an instruction that is not kept
        self.upgrade()
        began += self.say("-r", session, "more")
        began += self.summarise(session)
        began += self.say("-r", session, "more", env=keel_test.clock_shifted(2))
        self.assertEqual([beginning == began[0] for beginning in began], [True] * len(began))
        self.assertNotEqual(self.say("a new session", n_thoughts=0)[0], began[0])
        self.assertNotIn(day, json.dumps(began))


class Wishes(AgentTest):
    """What the person wants of a session's tools and prompt. What a process does not say stays."""

    def say(self, *arguments, mode="default"):
        provider = self.play(ANTHROPIC, Turn("Yes."))
        result = self.run_agent(ANTHROPIC, provider, *arguments, "Go on.", mode=mode)
        self.assertEqual(result.status, 0, result.err)
        body = provider.requests[-1].json
        return [tool["name"] for tool in body["tools"]], body["system"]

    def test_a_denied_tool_does_not_bring_others_back(self):
        first = self.say("--tools", "Read,Grep,Bash")
        self.assertEqual(first[0], ["Bash", "Read", "Grep"])
        self.assertEqual(self.say("-c", "--disallowed-tools", "Bash")[0], ["Read", "Grep"])
        self.assertEqual(self.say("-c", "--disallowed-tools", "Grep")[0], ["Read"])
        self.assertEqual(self.say("-c")[0], ["Read"])

    def test_a_rule_of_the_settings_does_not_bring_others_back(self):
        self.say("--tools", "Read")
        rule = json.dumps({"permissions": {"deny": ["Bash"]}})
        self.assertEqual(self.say("-c", "--settings", rule)[0], ["Read"])

    def test_naming_the_tools_replaces_what_was_said(self):
        all_tools = self.say()[0]
        self.say("-c", "--tools", "Read", "--disallowed-tools", "Bash")
        self.assertEqual(self.say("-c", "--tools", "Grep")[0], ["Grep"])
        self.assertEqual(self.say("-c", "--tools", "default")[0], all_tools)

    def test_other_tools_keep_the_prompt(self):
        prompt = self.say("--system-prompt", "Speak like a pirate.",
                          "--append-system-prompt", "Briefly.")[1]
        self.assertEqual(self.say("-c", "--disallowed-tools", "Bash")[1], prompt)
        another = self.say("-c", "--append-system-prompt", "At length.")[1]
        self.assertIn("pirate", json.dumps(another))
        self.assertIn("At length.", json.dumps(another))

    def test_a_search_of_the_provider_stays_until_it_is_refused(self):
        native = json.dumps({"webSearch": {"provider": "native"}})
        first = self.say("--settings", native)
        self.assertIn("web_search", first[0])
        self.assertEqual(self.say("-c"), first)
        self.assertEqual(self.say("-c", "--settings", native), first)
        self.assertNotIn("web_search", self.say("-c", "--disallowed-tools", "WebSearch")[0])

    def test_a_search_of_the_provider_does_not_join_a_session_later(self):
        native = json.dumps({"webSearch": {"provider": "native"}})
        first = self.say()
        self.assertEqual(self.say("-c", "--settings", native), first)

    def test_a_search_that_the_mode_allowed_ends_with_it(self):
        self.write("project/.keel/settings.json", {"webSearch": {"provider": "native"}})
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertIn("web_search", self.say(mode="bypassPermissions")[0])
        self.assertNotIn("web_search", self.say("-c")[0])


if __name__ == "__main__":
    scripted.main()
