"""replay_test.py - sessions are run again from what was stored of them, and come out the same.

What a scripted model and real tools did is kept by keel itself; then keel plays it without either.
In a store in which one thing was changed the replay finds it.
"""
import json
import re
import signal
import sqlite3

import scripted
from agent import Call, Thought, Turn, answered_by
from record_sum import seal
from resume_test import SEQ_BITS, SessionTest
from scripted import ANTHROPIC, BY_NAME, for_each_protocol


SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}}'


class ReplayTest(SessionTest):
    def setUp(self):
        super().setUp()
        self.user_settings({})

    def record(self, protocol, *turns, arguments=(), status=0, mode="bypassPermissions"):
        session = self.new_id()
        provider = self.play(protocol, *turns)
        result = self.run_agent(protocol, provider, "--session-id", session, *arguments, "go",
                                mode=mode)
        self.assert_status(result, status)
        return session

    def replay(self, session, *arguments):
        result = self.keel("session", "replay", session, "--json", *arguments)
        runs = json.loads(result.out) if result.out else []
        self.assertIn(result.status, (0, 1), result)
        self.assertEqual(result.err, "")
        self.assertEqual(result.status, 0 if all(run["verdict"] == "same" for run in runs) else 1)
        return runs

    def assert_same(self, session, n_runs=1, cut=()):
        shown = self.keel("session", "replay", session)
        runs = self.replay(session)
        self.assertEqual([run["verdict"] for run in runs], ["same"] * n_runs, shown)
        self.assertEqual([run["run"] for run in runs if run["cutOff"]], list(cut), shown)
        for run in runs:
            self.assertEqual(run["compared"], run["recorded"], shown)
            self.assertGreater(run["compared"], 0)


class Same(ReplayTest):
    @for_each_protocol
    def test_an_answer(self, protocol):
        self.assert_same(self.record(protocol, Turn(["Once", " upon", " a time."])))

    @for_each_protocol
    def test_an_answer_that_was_continued(self, protocol):
        self.assert_same(self.record(protocol, Turn("One, ", stop=protocol.cut_stop), Turn(" "),
                                     Turn("two.")))

    @for_each_protocol
    def test_an_answer_of_another_model_than_was_asked(self, protocol):
        answer = answered_by(self.encode(protocol, Turn("Hello.")), "m-2026")
        self.assert_same(self.record(protocol, answer))

    def test_answers_that_did_not_fit_their_schema(self):
        self.assert_same(self.record(ANTHROPIC, Turn("no"), Turn('{"n": "x"}'), Turn('{"n": 3}'),
                                     arguments=("--json-schema", SCHEMA)))
        self.assert_same(self.record(ANTHROPIC, Turn("no"), arguments=("--json-schema", SCHEMA),
                                     status=2))

    @for_each_protocol
    def test_tools_side_by_side(self, protocol):
        self.assert_same(self.record(
            protocol,
            Turn("I look.", Call("Bash", command="echo one; sleep 0.2"),
                 Call("Bash", command="echo two"), Call("Glob", pattern="*")),
            Turn(Call("Write", file_path=str(self.project / "a"), content="x\n"),
                 Call("Read", file_path=str(self.project / "a"))),
            Turn("Done.")))

    @for_each_protocol
    def test_calls_that_are_not_run(self, protocol):
        self.user_settings({"permissions": {"deny": ["Bash(rm *)"]}})
        self.assert_same(self.record(
            protocol, Turn(Call("Bash", command="rm x"), Call("Nothing", a=1)),
            Turn(Call("Read"), Call("Bash", command="exit 3")), Turn("Well.")))

    def test_calls_without_permission(self):
        self.assert_same(self.record(ANTHROPIC, Turn(Call("Bash", command="touch x")),
                                     Turn("Well."), mode="default"))

    def test_tools_that_do_not_exist_again_and_again(self):
        self.assert_same(self.record(ANTHROPIC, Turn(Call("Nothing")), Turn(Call("Nothing")),
                                     Turn("I give up.")))

    def test_wrong_arguments_until_the_tools_are_taken_away(self):
        self.assert_same(self.record(ANTHROPIC, *[Turn(Call("Read")) for _ in range(5)],
                                     Turn("I give up.")))

    @for_each_protocol
    def test_thoughts_go_back(self, protocol):
        self.assert_same(self.record(protocol, Turn(Thought("Hm."), Call("Bash", command="true")),
                                     Turn("Done.")))

    def test_media(self):
        image = self.project / "dot.png"
        image.write_bytes(bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
            "1f15c4890000000d49444154789c6360000002000001e221bc33"
            "0000000049454e44ae426082"))
        self.assert_same(self.record(ANTHROPIC, Turn(Call("Read", file_path=str(image))),
                                     Turn("A dot.")))

    def test_a_long_result(self):
        self.assert_same(self.record(
            ANTHROPIC, Turn(Call("Bash", command="seq 1 20000")),
            Turn(Call("tool_output", handle="x")), Turn("Long.")))

    @for_each_protocol
    def test_without_a_stream(self, protocol):
        answers = {"anthropic-messages": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [
                {"type": "text", "text": "Whole."}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 2}},
            "openai-chat": {"id": "c", "model": "m", "choices": [
                {"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "Whole."}}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2}}}
        if protocol.name not in answers:
            return
        self.assert_same(self.record(protocol, scripted.json_answer(answers[protocol.name]),
                                     arguments=["--no-stream"]))

    @for_each_protocol
    def test_events_whose_type_only_the_framing_says(self, protocol):
        text = "".join(chr(0x4e00 + n) for n in range(20000))  # longer than a record
        for turn in (Turn(["Once", " upon", " a time."]), Turn(text, Call("Bash", command="true"))):
            answer = self.encode(protocol, turn)
            answer.pieces = [re.sub(rb'"type": "(message|content_block|response)[a-z_.]*"',
                                    b'"x": 0', piece) for piece in answer.pieces]
            self.assert_same(self.record(protocol, answer, Turn("Done.")))

    def test_money(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 3, "output": 15}}})
        self.assert_same(self.record(ANTHROPIC, Turn("Dear.", usage=(90000, 5000))))


class Failures(ReplayTest):
    @for_each_protocol
    def test_tried_again(self, protocol):
        self.assert_same(self.record(
            protocol, scripted.json_answer({"error": {"message": "slow"}}, 429, retry_after="1"),
            scripted.json_answer({"error": {"message": "broken"}}, 500), Turn("Now.")))

    def test_given_up(self):
        self.assert_same(self.record(
            ANTHROPIC, scripted.json_answer({"error": {"message": "bad"}}, 400), status=1))

    def test_a_refusal_that_named_the_id_of_its_request(self):
        session = self.record(
            ANTHROPIC, scripted.json_answer({"error": {"message": "bad"}}, 400,
                                            request_id="req_123"), status=1)
        self.assert_same(session)
        exported = self.keel("session", "export", session, "--format", "jsonl")
        self.assertIn("(request-id req_123)", exported.out)

    def test_another_model(self):
        self.user_settings({"maxAttempts": 1})
        self.assert_same(self.record(
            ANTHROPIC, scripted.json_answer({"error": {"message": "busy"}}, 529),
            Turn(Call("Bash", command="true")), Turn("From the other."),
            arguments=["--fallback-model", "anthropic/other"]))

    @for_each_protocol
    def test_in_one_piece_instead_of_a_stream(self, protocol):
        self.user_settings({"maxAttempts": 1})
        for body in (b'{"error":{"message":"no"}}', b'{"a":', b'{"a":1}', b'["a",', b"null",
                     b"[" * 300, b"nonsense", b'{"a":1}{"b":2}'):
            for before, after in ((b"", b""), (b"", b"\n"), (b"\r\n ", b"\n\n")):
                with self.subTest(body=body[:20], before=before, after=after):
                    session, provider = self.new_id(), self.play(protocol, scripted.Answer(
                        [before + body + after], content_type="application/json"))
                    result = self.run_agent(protocol, provider, "--session-id", session, "go")
                    self.assertEqual(result.status, 1)
                    self.assert_same(session)

    def test_lines_of_a_stream_that_cannot_be_read(self):
        self.user_settings({"maxAttempts": 1})
        [line, *_] = scripted.ollama(["Hi."])
        for body in (line.replace(b"\n", b"\r") * 2, line + b"\r" + line, b"[DONE]\n" + line,
                     line + b" \n[DONE]\n" + line):
            with self.subTest(body=body[:20]):
                session, provider = self.new_id(), self.play(BY_NAME["ollama"], scripted.Answer(
                    [body], content_type="application/x-ndjson"))
                result = self.run_agent(BY_NAME["ollama"], provider, "--session-id", session, "go")
                self.assertEqual(result.status, 1)
                self.assert_same(session)

    def test_a_wait_that_would_be_too_long(self):
        self.user_settings({"maxAttempts": 10, "retry": {"maxSeconds": 1}})
        busy = scripted.json_answer({"error": {"message": "busy"}}, 529)
        for arguments in ([], ["--fallback-model", "anthropic/other"]):
            with self.subTest(arguments):
                session, provider = self.new_id(), self.provider(lambda request: busy)
                result = self.run_agent(ANTHROPIC, provider, "--session-id", session, *arguments,
                                        "go")
                self.assertEqual(result.status, 1)
                self.assertIn("the waits between attempts would take more than", result.err)
                self.assert_same(session)

    def test_a_stream_that_breaks_off(self):
        self.user_settings({"maxAttempts": 1})
        pieces = list(scripted.anthropic_messages(["Half", " an", " answer"]))[:4]
        self.assert_same(self.record(ANTHROPIC, scripted.Answer(
            pieces, content_type="text/event-stream"), status=1))

    def test_nobody_there(self):
        session = self.new_id()
        self.user_settings({"maxAttempts": 1})
        provider = self.play(ANTHROPIC)
        result = self.run_agent(ANTHROPIC, provider, "--session-id", session, "go",
                                env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})
        self.assert_status(result, 1)
        self.assert_same(session)


class Interrupted(ReplayTest):
    def interrupt(self, session, process):
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assert_same(session)

    @for_each_protocol
    def test_in_an_answer(self, protocol):
        session = self.new_id()
        provider = self.play(protocol, Turn(["Once", " upon", self.hold(), " a time"]))
        process = self.start_agent(protocol, provider, "--session-id", session, "tell")
        self.wait_stored(session, "provider_stream")
        self.interrupt(session, process)

    def test_in_tools(self):
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        provider = self.play(ANTHROPIC, Turn(
            Call("Bash", command="echo first"),
            Call("Bash", command=f"echo > {pipe.name}; sleep 600")))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.wait_pipe(fd)
        self.wait_stored(session, "tool_end")
        self.interrupt(session, process)

    def test_between_attempts(self):
        session = self.new_id()
        provider = self.play(ANTHROPIC, scripted.json_answer({"error": {"message": "slow"}}, 429,
                                                             retry_after="600"))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.wait_stored(session, "retry")
        self.interrupt(session, process)


class Killed(ReplayTest):
    def test_in_an_answer(self):
        session = self.new_id()
        provider = self.play(ANTHROPIC, Turn(["Once", " upon", self.hold(), " a time"]))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "tell")
        self.wait_stored(session, "provider_stream")
        self.kill(process)
        self.go_on(ANTHROPIC, session, Turn("And then?"))
        self.assert_same(session, n_runs=2, cut=[1])

    def test_in_a_tool(self):
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        provider = self.play(ANTHROPIC, Turn(
            "I look.", Call("Bash", command="echo first"),
            Call("Bash", command=f"echo > {pipe.name}; sleep 600")))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.wait_pipe(fd)
        self.wait_stored(session, "tool_end")
        self.kill(process)
        self.go_on(ANTHROPIC, session, Turn("One is done."))
        self.assert_same(session, n_runs=2, cut=[1])
        self.go_on(ANTHROPIC, session, Turn("Again."), arguments=["more"])
        self.assert_same(session, n_runs=3, cut=[1])

    def test_and_something_else_is_asked(self):
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        provider = self.play(ANTHROPIC, Turn(
            Call("Bash", command="echo first"),
            Call("Bash", command=f"echo > {pipe.name}; sleep 600")))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.wait_pipe(fd)
        self.wait_stored(session, "tool_end")
        self.kill(process)
        self.go_on(ANTHROPIC, session, Turn("Fine."), arguments=["stop it"])
        self.assert_same(session, n_runs=2, cut=[1])


class Continued(ReplayTest):
    def test_several_runs(self):
        session = self.record(ANTHROPIC, Turn(Call("Bash", command="cd /; pwd")), Turn("One."))
        self.go_on(ANTHROPIC, session, Turn(Call("Bash", command="pwd")), Turn("Two."),
                   arguments=["second"])
        self.assert_same(session, n_runs=2)
        [only] = self.replay(session, "--run", "2")
        self.assertEqual(only["run"], 2)

    def test_a_summary_by_hand(self):
        session = self.record(ANTHROPIC, Turn("Long. " * 500))
        self.assert_fine(self.keel("session", "compact", session, "--instructions", "Be brief.",
                                   env=ANTHROPIC.environment(self.play(ANTHROPIC, Turn("Go.")))))
        self.go_on(ANTHROPIC, session, Turn("On."), arguments=["next"])
        self.assert_same(session, n_runs=3)

    def test_a_summary_that_was_interrupted_while_its_hook_was_asked(self):
        session, (pipe, fd) = self.record(ANTHROPIC, Turn("Long. " * 500)), self.make_pipe()
        self.user_settings({"hooks": {"PreCompact": [{"hooks": [
            {"type": "command", "command": f"echo > {pipe}; sleep 600"}]}]}})
        process = self.start("session", "compact", session,
                             env=ANTHROPIC.environment(self.play(ANTHROPIC)))
        self.wait_pipe(fd)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assert_same(session, n_runs=2)

    def test_turns_taken_back(self):
        session = self.record(ANTHROPIC, Turn(Call("Bash", command="echo x")), Turn("One."))
        self.go_on(ANTHROPIC, session, Turn("Two."), arguments=["second"])
        self.assert_status(self.keel("session", "rewind", session, "--yes"), 0)
        self.go_on(ANTHROPIC, session, Turn("Three."), arguments=["third"])
        self.assert_same(session, n_runs=3)

    def test_a_copy(self):
        session, copy = self.record(ANTHROPIC, Turn("One.")), self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Two.")), "-r",
                                        session, "--fork-session", "--session-id", copy, "more"))
        self.assert_same(copy)

    def test_suspended_and_answered(self):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        session = self.record(ANTHROPIC, Turn(Call("Bash", command="touch made")), status=3,
                              mode="default")
        self.user_settings({})
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Made.")), "-r",
                                        session, "--allowed-tools", "Bash(touch *)",
                                        mode="default"))
        self.assert_same(session, n_runs=2)

    def test_files(self):
        store, session = ["--store", f"files:{self.project}/sessions"], self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")), *store,
                                        "--session-id", session, "first"))
        [run] = self.replay(session, *store)
        self.assertEqual(run["verdict"], "same")


class Limits(ReplayTest):
    def test_a_last_turn(self):
        self.assert_same(self.record(
            ANTHROPIC, Turn(Call("Bash", command="true")), Turn(Call("Bash", command="true")),
            Turn("That is all."), arguments=["--max-turns", "2"]))

    def test_tokens(self):
        self.assert_same(self.record(
            ANTHROPIC, Turn(Call("Bash", command="true"), usage=(90000, 5000)),
            arguments=["--max-tokens-total", "90000"], status=5))

    def test_a_prompt_that_was_too_large(self):
        session = self.new_id()
        for first in (["--session-id", session], ["-r", session]):
            result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), *first, "hi",
                                    stdin=b"x" * (17 << 20))
            self.assert_refused(result, 2, "the prompt is larger than a message may be")
            self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Well.")), "-r",
                                            session, "a short one"))
        self.assert_same(session, n_runs=4)

    def test_tool_calls(self):
        self.user_settings({"budget": {"toolCalls": 1}})
        self.assert_same(self.record(
            ANTHROPIC, Turn(Call("Bash", command="true"), Call("Bash", command="echo no")),
            status=5))

    def test_money_that_is_asked_for(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 1, "output": 1}},
                            "budget": {"usd": 0.1, "onExceed": "ask"}})
        self.assert_same(self.record(
            ANTHROPIC, Turn(Call("Bash", command="true"), usage=(99000, 1000)), status=3))

    @for_each_protocol
    def test_compaction(self, protocol):
        self.user_settings({"compact": {"threshold": 0.5, "instructions": "Keep the names."}})
        (self.project / "notes").write_text("some\nnotes\n")
        session = self.record(
            protocol, Turn(Call("Read", file_path=str(self.project / "notes")),
                           Call("TodoWrite", todos=[{"content": "Go", "status": "in_progress",
                                                     "activeForm": "Going"}])),
            Turn("Long. " * 500, usage=(120000, 900)))
        self.go_on(protocol, session, Turn("The person said go."), Turn("Short."),
                   arguments=["next"])
        self.assertEqual(self.count(session, "context_compact"), 1)
        (self.project / "notes").write_text("others\n")
        self.assert_same(session, n_runs=2)

    def test_compaction_between_rounds(self):
        self.user_settings({"compact": {"threshold": 0.5}})
        session = self.record(
            ANTHROPIC, Turn("Long. " * 500, Call("Bash", command="true")),
            Turn(Call("Bash", command="true"), usage=(120000, 900)), Turn("The person said go."), Turn("Done."))
        self.assertEqual(self.count(session, "context_compact"), 1)
        self.assert_same(session)

    def test_a_compaction_that_fails(self):
        self.user_settings({"compact": {"threshold": 0.5}, "maxAttempts": 1})
        session = self.record(ANTHROPIC, Turn("Long.", usage=(120000, 900)))
        provider = self.play(ANTHROPIC, scripted.json_answer({"error": {"message": "no"}}, 400),
                             Turn("On."))
        self.run_agent(ANTHROPIC, provider, "-r", session, "next")
        self.assert_same(session, n_runs=2)


class Settings(ReplayTest):
    """What was set then counts, whatever is set now."""

    def set_window(self, tokens, **more):
        self.user_settings({"providers": {"anthropic": {
            "type": "anthropic", "contextWindow": tokens}}, **more})

    def test_a_summary_by_hand_in_a_small_window(self):
        self.set_window(40000)
        (self.project / "notes").write_text("".join(f"line {n}\n" for n in range(4000)))
        session = self.record(
            ANTHROPIC, Turn(Call("Read", file_path=str(self.project / "notes"))),
            Turn("Long. " * 500))
        self.assert_fine(self.keel("session", "compact", session,
                                   env=ANTHROPIC.environment(self.play(ANTHROPIC, Turn("Go.")))))
        self.assert_same(session, n_runs=2)
        self.user_settings({})
        self.assert_same(session, n_runs=2)

    def test_a_request_that_was_refused_at_95_percent(self):
        self.set_window(20000, compact={"enabled": False})
        session = self.record(ANTHROPIC, Turn("Long.", usage=(19500, 100)))
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "-r", session, "next")
        self.assertNotEqual(result.status, 0)
        self.assert_same(session, n_runs=2)
        self.user_settings({})
        self.assert_same(session, n_runs=2)

    def test_what_was_put_back_and_did_not_fit(self):
        self.set_window(8000, compact={"threshold": 0.5})
        session = self.new_id()
        prompt = "Bitte prüfen: " + "".join(f"Größe {n} über Öl; " for n in range(200))
        self.assert_fine(self.run_agent(
            ANTHROPIC, self.play(ANTHROPIC, Turn("Long.", Call("Bash", command="true"),
                                                 usage=(6000, 300)),
                                 Turn("The person said much."), Turn("Done.")),
            "--session-id", session, prompt))
        self.assertEqual(self.count(session, "context_compact"), 1)
        self.assert_same(session)


class Secrets(ReplayTest):
    @for_each_protocol
    def test_a_credential_in_the_arguments_of_a_call(self, protocol):
        """As a model writes them: with spaces."""
        session = self.record(
            protocol, Turn(Call("Bash", command=f"echo {scripted.KEY}; echo on")), Turn("Done."))
        self.assert_same(session)


class Hooks(ReplayTest):
    def hook(self, event, command, **settings):
        self.user_settings({"hooks": {event: [{"hooks": [{"type": "command",
                                                         "command": command}]}]}, **settings})

    def test_a_prompt_with_more(self):
        self.hook("UserPromptSubmit", "echo 'It is Monday.'")
        self.assert_same(self.record(ANTHROPIC, Turn("Monday, then.")))

    def test_a_prompt_that_is_blocked(self):
        self.hook("UserPromptSubmit", "echo no >&2; exit 2")
        session = self.new_id()
        self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "--session-id", session, "go")
        self.assert_same(session)

    def test_a_result_with_more(self):
        self.hook("PostToolUse", """echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", \
"additionalContext": "Mind the gap."}}'""")
        self.assert_same(self.record(ANTHROPIC, Turn(Call("Bash", command="echo x")),
                                     Turn("Done.")))

    def count_like(self, session, pattern):
        """Results of this session whose records look like this."""
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            return db.execute("select count(*) from records join sessions on key >> ? = number "
                              "where id = ? and type = 'tool_execution_result' and body like ?",
                              (SEQ_BITS, session, pattern)).fetchone()[0]

    def add_words(self, **settings):
        self.hook("PostToolUse", """echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", \
"additionalContext": "Mind the gap."}}'""", **settings)

    def test_a_long_result_with_more(self):
        """It is stored with what the hook said, which is longer than a record or shorter."""
        self.add_words()
        for n in 5000, 20000:
            self.assert_same(self.record(ANTHROPIC, Turn(Call("Bash", command=f"seq 1 {n}")),
                                         Turn("Done.")))

    def test_results_that_do_not_fit_with_more(self):
        """With compaction switched off the later ones are only named, and refusals are skipped."""
        for enabled, n_named, n_skipped in (True, 0, 0), (False, 3, 2):
            self.add_words(providers={"anthropic": {"contextWindow": 20000}},
                           toolResponseMaxBytes=100000, compact={"enabled": enabled})
            session = self.record(ANTHROPIC, Turn(
                *[Call("Bash", command="seq 1 6000") for _ in range(3)], Call("Nothing"), Call("Read"),
                Call("Bash", command="echo short")), Turn("Done."))
            self.assertEqual(
                self.count_like(session, '%"budgetCode":"context_budget_exceeded"%'), n_named)
            self.assertEqual(
                self.count_like(session, '%"errorCode":"context_budget_exceeded"%'), n_skipped)
            self.assert_same(session)

    def test_the_call_whose_hook_ends_the_run(self):
        """Beside it one waits for a person's answer, and another one is still at work."""
        self.hook("PostToolUse", """grep -q '"tool_use_id":"stops"' && \
echo '{"continue": false, "stopReason": "enough"}'""",
                  permissions={"onAsk": "suspend", "allow": ["Bash(sleep *)", "Bash(echo *)"]})
        session = self.record(ANTHROPIC, Turn(
            Call("Bash", command="sleep 0.3"),
            Call("AskUserQuestion", questions=[{
                "question": "Which?", "header": "Which", "multiSelect": False, "options": [
                    {"label": "a", "description": "a"}, {"label": "b", "description": "b"}]}]),
            Call("Bash", id="stops", command="echo fast"),
            Call("Bash", command="echo on")), status=1, mode="default")
        self.assertEqual(self.count_like(session, '%"waitedForAnswer":true%'), 1)
        self.assertEqual(self.count_like(session, '%"stopsRun":true%'), 1)
        self.assert_same(session)

    def test_a_call_that_is_denied(self):
        self.hook("PreToolUse", "echo not now >&2; exit 2")
        self.assert_same(self.record(ANTHROPIC, Turn(Call("Bash", command="echo x")),
                                     Turn("Done.")))

    def test_an_end_that_is_none(self):
        self.hook("Stop", "test -e stopped || { touch stopped; echo go on >&2; exit 2; }")
        self.assert_same(self.record(ANTHROPIC, Turn("Done."), Turn("Now it is.")))


class Different(ReplayTest):
    def change(self, statement, *values):
        """One row, with its checksum; a record in whichever table of records it is."""
        statements = {re.sub(r"\brecords\b", table, statement) for table in ("records", "streamed")}
        with sqlite3.connect(self.keel_home / "keel.db") as db:
            self.assertEqual(1, sum(db.execute(s, values).rowcount for s in statements))
            seal(db)

    def record_usual(self):
        return self.record(ANTHROPIC, Turn("I look.", Call("Bash", command="echo one")),
                           Turn("Done."))

    def test_a_byte_of_an_answer(self):
        session = self.record_usual()
        self.change("update records set body = replace(body, 'I look.', 'I lock.') where "
                    "type = 'provider_stream' and body like '%I look.%'")
        [run] = self.replay(session)
        self.assertEqual(run["verdict"], "different")
        self.assertIn("I look.", run["difference"]["recorded"])
        self.assertIn("I lock.", run["difference"]["replayed"])
        shown = self.keel("session", "replay", session).out
        self.assertRegex(shown, r"recorded .*I look\.[^\n]*\n +\^\n +replayed .*I lock\.")

    def test_a_byte_of_a_long_text(self):
        """It is compared by its hash; the difference is shown where it is."""
        session = self.record(ANTHROPIC, Turn("I look. " + "x" * 20_000 + " The end."))
        self.change("update records set body = replace(body, 'The end.', 'The and.') where "
                    "type = 'provider_response_raw' and body like '%The end.%'")
        [run] = self.replay(session)
        self.assertEqual(run["verdict"], "different")
        self.assertIn("xx The and.", run["difference"]["recorded"])
        self.assertIn("xx The end.", run["difference"]["replayed"])
        shown = self.keel("session", "replay", session).out
        self.assertRegex(shown, r"recorded .*The and\.[^\n]*\n +\^\n +replayed .*The end\.")

    def test_a_request_that_would_be_another(self):
        session = self.record_usual()
        self.change("update records set body = replace(body, '\"sha256\":\"', '\"sha256\":\"0') "
                    "where key = (select min(key) from records where "
                    "type = 'provider_native_raw_payload' and body like '%\"request\"%')")
        [run] = self.replay(session)
        self.assertEqual(run["verdict"], "different")
        self.assertIn('"payloadKind":"request"', run["difference"]["recorded"])

    def test_the_result_of_a_tool(self):
        session = self.record_usual()
        self.change("update records set body = replace(body, 'one\\n', 'two\\n') where "
                    "type = 'tool_end'")
        [run] = self.replay(session)
        self.assertEqual(run["verdict"], "damaged")
        self.assertIn("a different history", run["damage"])

    def test_a_message(self):
        session = self.record_usual()
        self.change("update records set body = replace(body, 'I look.', 'I lack.') where "
                    "type = 'provider_response_raw' and body like '%I look.%'")
        [run] = self.replay(session)
        self.assertEqual(run["verdict"], "different")

    def test_an_event_that_is_gone(self):
        session = self.record_usual()
        self.change("delete from records where key = (select max(key) from records where "
                    "type = 'context')")
        [run] = self.replay(session)
        self.assertEqual(run["verdict"], "different")


if __name__ == "__main__":
    scripted.main()
