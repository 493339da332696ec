"""resume_test.py - sessions over HTTP: continued, copied, named, and killed at every kind of point.

A killed keel has had no chance to say anything: what the next one knows is what was durable. The
tests look into the database to know how far it has come.
"""
import itertools
import json
import os
import select
import signal
import sqlite3
import time
import uuid

import scripted
from agent import AgentTest, Call, Reader, Turn
from scripted import ANTHROPIC, HANG_SECONDS, for_each_protocol

UNKNOWN = "It is not known whether it took effect"
SEQ_BITS = 40  # of a record's key; the rest is its session's number
NOT_RUN = "The tool call was not executed"


class SessionTest(AgentTest):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count(1)

    def new_id(self):
        return f"00000000-0000-7000-8000-{next(self.numbers):012d}"

    def make_pipe(self):
        path = self.project / f"pipe{next(self.numbers)}"
        os.mkfifo(path)
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, fd)
        return path, fd

    def wait_pipe(self, fd):
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        self.assertTrue(poll.poll(HANG_SECONDS * 1000), "the command never got there")
        os.read(fd, 4096)

    def count(self, session, kind):
        """Records of this kind that are in the database."""
        path = self.keel_home / "keel.db"
        if not path.exists():
            return 0
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            try:
                return db.execute("select count(*) from journal join sessions on key >> ? = number "
                                  "where id = ? and type = ?",
                                  (SEQ_BITS, session, kind)).fetchone()[0]
            except sqlite3.OperationalError:
                return 0

    def wait_stored(self, session, kind, n=1):
        end = time.monotonic() + HANG_SECONDS
        while self.count(session, kind) < n:
            self.assertLess(time.monotonic(), end, f"{kind} was never stored")
            time.sleep(0.01)

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def requests(self, protocol, provider):
        self.assert_taken(protocol, provider)
        return [Reader(protocol, request).lines for request in provider.requests]

    def go_on(self, protocol, session, *turns, arguments=()):
        """keel -p -r; its output, and what the model was sent."""
        provider = self.play(protocol, *turns)
        result = self.run_agent(protocol, provider, "-r", session, *arguments)
        self.assert_fine(result)
        return result, self.requests(protocol, provider)


class Killed(SessionTest):
    def kill_in_tool(self, protocol):
        """One command is done, one is under way, when keel dies."""
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        (self.project / "log").write_text("")
        provider = self.play(protocol, Turn(
            "I look.", Call("Bash", command="echo one >> log; echo first"),
            Call("Bash", command=f"echo two >> log; echo > {pipe.name}; sleep 600")))
        process = self.start_agent(protocol, provider, "--session-id", session, "go")
        self.wait_pipe(fd)
        self.wait_stored(session, "tool_end")
        self.kill(process)
        return session

    def assert_ran_once(self):
        lines = (self.project / "log").read_text().split()
        self.assertEqual(sorted(lines), ["one", "two"])

    @for_each_protocol
    def test_in_a_tool_and_the_turn_is_finished(self, protocol):
        session = self.kill_in_tool(protocol)
        result, requests = self.go_on(protocol, session, Turn("One is done."))
        self.assertEqual(result.out, "One is done.\n")
        self.assertEqual(len(requests), 1)
        self.assertEqual(requests[0][:2], ["  user 'go'", "  assistant 'I look.'"])
        self.assertEqual(requests[0][4], "  result #1 'first\\n'")
        self.assertIn(UNKNOWN, requests[0][5])
        self.assertEqual(len(requests[0]), 6)
        self.assert_ran_once()

    @for_each_protocol
    def test_in_a_tool_and_something_else_is_asked(self, protocol):
        session = self.kill_in_tool(protocol)
        result, requests = self.go_on(protocol, session, Turn("All right."), arguments=["stop it"])
        self.assertEqual(result.out, "All right.\n")
        self.assertEqual(requests[0][4], "  result #1 'first\\n'")
        self.assertIn(UNKNOWN, requests[0][5])
        self.assertEqual(requests[0][6:], ["  user 'stop it'"])
        self.assert_ran_once()

    @for_each_protocol
    def test_in_the_middle_of_an_answer(self, protocol):
        session = self.new_id()
        provider = self.play(protocol, Turn(["Once", " upon", self.hold(), " a time"]))
        process = self.start_agent(protocol, provider, "--session-id", session, "tell")
        self.wait_stored(session, "provider_stream")
        self.kill(process)
        result, requests = self.go_on(protocol, session, Turn("And then?"))
        self.assertEqual(result.out, "And then?\n")
        self.assertEqual(requests[0][0], "  user 'tell'")
        self.assertRegex(requests[0][1], r"^  assistant 'Once.*broke off")

    def test_before_the_first_request(self):
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        self.user_settings({"hooks": {"UserPromptSubmit": [{"hooks": [
            {"type": "command", "command": f"echo > {pipe}; sleep 600"}]}]}})
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC), "--session-id", session, "go")
        self.wait_pipe(fd)
        self.kill(process)
        self.user_settings({})
        result, requests = self.go_on(ANTHROPIC, session, Turn("Here."))
        self.assertEqual(result.out, "Here.\n")
        self.assertEqual(requests, [["  user 'go'"]])

    def test_after_the_last_answer(self):
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        self.user_settings({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": f"echo > {pipe}; sleep 600"}]}]}})
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("The answer.")),
                                   "--session-id", session, "go")
        self.wait_pipe(fd)
        self.wait_stored(session, "history_mutation", 2)
        self.kill(process)
        self.user_settings({})
        result, requests = self.go_on(ANTHROPIC, session)
        self.assertEqual(result.out, "The answer.\n")
        self.assertEqual(requests, [])

    def test_again_and_again(self):
        session = self.kill_in_tool(ANTHROPIC)
        for _ in range(3):
            provider = self.play(ANTHROPIC, Turn([self.hold()]))
            process = self.start_agent(ANTHROPIC, provider, "-r", session, stdin=-3)
            end = time.monotonic() + HANG_SECONDS
            while not provider.requests:
                self.assertLess(time.monotonic(), end, "it never asked")
                time.sleep(0.01)
            self.kill(process)
        result, requests = self.go_on(ANTHROPIC, session, Turn("Well."))
        self.assertEqual(result.out, "Well.\n")
        self.assertEqual(len(requests[0]), 6)
        self.assert_ran_once()

    def test_with_a_background_command(self):
        session, (pipe, fd) = self.new_id(), self.make_pipe()
        provider = self.play(ANTHROPIC, Turn(Call(
            "Bash", command="sleep 600", run_in_background=True)), Turn([self.hold()]))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", session, "go")
        self.wait_stored(session, "tool_message_committed")
        self.kill(process)
        _result, requests = self.go_on(ANTHROPIC, session, Turn("I see."), arguments=["well?"])
        self.assertIn("- bash_1: sleep 600", requests[0][-1])
        self.assertIn("Their outcome is unknown", requests[0][-1])


class GoingOn(SessionTest):
    @for_each_protocol
    def test_the_newest_session_of_this_directory(self, protocol):
        self.assert_fine(self.run_agent(protocol, self.play(protocol, Turn(
            Call("Bash", command="echo x")), Turn("Done.")), "go"))
        provider = self.play(protocol, Turn("Again."))
        self.assert_fine(self.run_agent(protocol, provider, "-c", "and now?"))
        self.assertEqual(self.requests(protocol, provider), [[
            "  user 'go'", '  call #1 Bash {"command": "echo x"}', "  result #1 'x\\n'",
            "  assistant 'Done.'", "  user 'and now?'"]])

    def test_only_of_this_directory(self):
        other = self.project / "other"
        other.mkdir()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Done.")), "go"))
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "-c", "more", cwd=other)
        self.assert_status(result, 2)
        self.assertIn("no session in", result.err)

    def test_a_copy_leaves_the_session_as_it_was(self):
        session, copy = self.new_id(), self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")),
                                        "--session-id", session, "first"))
        provider = self.play(ANTHROPIC, Turn("Two."))
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "--fork-session",
                                "--session-id", copy, "--output-format", "stream-json", "second")
        self.assert_fine(result)
        self.assertEqual(json.loads(result.out.splitlines()[0])["session_id"], copy)
        self.assertEqual(self.requests(ANTHROPIC, provider),
                         [["  user 'first'", "  assistant 'One.'", "  user 'second'"]])
        _result, requests = self.go_on(ANTHROPIC, session, Turn("Three."), arguments=["third"])
        self.assertEqual(requests[0], ["  user 'first'", "  assistant 'One.'", "  user 'third'"])
        _result, requests = self.go_on(ANTHROPIC, copy, Turn("Four."), arguments=["fourth"])
        self.assertEqual(requests[0][2:], ["  user 'second'", "  assistant 'Two.'",
                                           "  user 'fourth'"])

    def titles(self):
        listed = self.keel("session", "list", "--all", "--json").json()
        for session in listed:
            self.assertIn(f"{session['preview']}\n", self.keel("session", "show", session["id"]).out)
            self.assert_fine(self.keel("session", "verify", session["id"]))
        return sorted(session["preview"] for session in listed)

    def test_what_was_copied_or_imported_keeps_its_title(self):
        path = self.write("in.json", {"id": "imported", "messages": [
            {"role": "user", "content": "hello from elsewhere"},
            {"role": "assistant", "content": "Hello."}]})
        self.assert_fine(self.keel("session", "import", path))
        self.go_on(ANTHROPIC, "imported", Turn("On."), arguments=["go on"])
        self.assertEqual(self.titles(), ["hello from elsewhere"])
        self.go_on(ANTHROPIC, "imported", Turn("On."), arguments=["--fork-session", "and on"])
        self.assertEqual(self.titles(), ["hello from elsewhere"] * 2)
        self.assert_fine(self.keel("session", "rebuild"))
        self.assertEqual(self.titles(), ["hello from elsewhere"] * 2)

    def test_by_its_name(self):
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")),
                                        "--name", "green tea", "first"))
        _result, requests = self.go_on(ANTHROPIC, "green tea", Turn("Two."), arguments=["second"])
        self.assertEqual(requests[0][0], "  user 'first'")
        self.go_on(ANTHROPIC, "green tea", Turn("Three."), arguments=["--name", "black", "third"])
        _result, requests = self.go_on(ANTHROPIC, "black", Turn("Four."), arguments=["fourth"])
        self.assertEqual(len(requests[0]), 7)

    def test_one_that_is_open_is_told_with_a_way_out(self):
        session = self.new_id()
        process = self.start_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(["Hm", self.hold()])),
                                   "--session-id", session, "go")
        self.wait_stored(session, "history_mutation")
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), "-r", session, "more")
        self.assert_status(result, 1)
        self.assertIn("--fork-session", result.err)
        provider = self.play(ANTHROPIC, Turn("In the copy."))
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "--fork-session", "more")
        self.assert_fine(result)
        self.assertEqual(self.requests(ANTHROPIC, provider)[0], ["  user 'go'", "  user 'more'"])
        self.kill(process)

    def test_the_answer_of_a_finished_turn_is_printed_again(self):
        """Its process may have died between storing the end and printing the answer."""
        session = self.new_id()
        turn = Turn("Look:", Call("Bash", command="true")), Turn('{"n": 1}')
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, *turn),
                                        "--session-id", session, "first"))
        provider = self.play(ANTHROPIC)
        for arguments, out in (([], '{"n": 1}\n'), (["--json-schema", '{"required":["n"]}'],
                                                    '{"n":1}\n')):
            result = self.run_agent(ANTHROPIC, provider, "-r", session, *arguments)
            self.assert_status(result, 0)
            self.assertEqual(result.out, out)
            self.assertIn("has nothing to resume", result.err)
        for style in ("json", "stream-json"):
            result = self.run_agent(ANTHROPIC, provider, "-r", session, "--output-format", style)
            self.assert_status(result, 0)
            line = json.loads(result.out.splitlines()[-1])
            self.assertEqual((line["type"], line["subtype"], line["result"], line["session_id"]),
                             ("result", "success", '{"n": 1}', session))
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "--json-schema",
                                '{"required":["m"]}')
        self.assert_status(result, 2)
        self.assertEqual(provider.requests, [])
        self.assert_fine(self.keel("session", "verify", session))

    def test_every_prompt_has_an_id_of_its_own(self):
        session = self.new_id()
        self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")), "--session-id", session,
                       "first")
        self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Two.")), "-r", session, "second")
        lines = self.keel("session", "export", session, "--format", "json").json()
        ids = [message["id"] for message in lines["messages"]]
        self.assertEqual(len(set(ids)), 4)
        for id in ids:
            self.assertEqual(str(uuid.UUID(id)), id)

    def test_a_turn_that_failed_is_tried_again(self):
        session = self.new_id()
        self.user_settings({"maxAttempts": 1})
        broken = scripted.json_answer({"error": {"message": "busy"}}, 529)
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, broken), "--session-id", session,
                                "first")
        self.assert_status(result, 1)
        result, requests = self.go_on(ANTHROPIC, session, Turn("Now."))
        self.assertEqual((result.out, requests), ("Now.\n", [["  user 'first'"]]))

    def test_the_working_directory_comes_back(self):
        session = self.new_id()
        (self.project / "sub").mkdir()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(
            ANTHROPIC, Turn(Call("Bash", command="cd sub")), Turn("Done.")),
            "--session-id", session, "go"))
        _result, requests = self.go_on(ANTHROPIC, session, Turn(Call("Bash", command="pwd")),
                                       Turn("There."), arguments=["where?"])
        self.assertIn("/sub", requests[1][-1])

    def test_the_model_comes_back(self):
        session = self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")),
                                        "--session-id", session, "first"))
        provider = self.play(ANTHROPIC, Turn("Two."))
        self.user_settings({"model": "anthropic/other"})
        self.assert_fine(self.keel("-p", "-r", session, "second",
                                   env=ANTHROPIC.environment(provider)))
        self.assertEqual(provider.requests[0].json["model"], "m")


class Damaged(SessionTest):
    """A message that is lost is not missing in silence."""

    def lose_prompt(self, store):
        """Of two turns the first one's long prompt."""
        session = self.new_id()
        for first in (["--session-id", session, "one"], ["-r", session, "two"]):
            self.assert_fine(self.run_agent(
                ANTHROPIC, self.play(ANTHROPIC, Turn("Well.")), *first, "--store", store,
                stdin=b"y" * 60000 if "one" in first else None))
        long = [path for path in self.dir.rglob("*") if path.is_file() and
                path.stat().st_size >= 60000 and b"y" * 60000 in path.read_bytes() and
                len(path.stem) == 64]
        for path in long:
            path.unlink()
        self.assertTrue(long)
        return session

    def test_what_lacks_a_message_is_not_resumed_but_as_a_copy(self):
        for store in (f"sqlite:{self.dir}/k.db", f"files:{self.dir}/sessions"):
            session = self.lose_prompt(store)
            for how in (["-r", session, "three"], ["-c", "three"], ["-r", session]):
                provider = self.play(ANTHROPIC)
                result = self.run_agent(ANTHROPIC, provider, *how, "--store", store)
                self.assert_refused(result, 1, f"session {session} is damaged", "is missing",
                                    "--fork-session")
                self.assertEqual(provider.requests, [])
            provider = self.play(ANTHROPIC, Turn("Fine."))
            result = self.run_agent(ANTHROPIC, provider, "-r", session, "--fork-session", "three",
                                    "--store", store)
            self.assert_status(result, 0)
            self.assertIn("is missing", result.err)
            self.requests(ANTHROPIC, provider)


class Suspended(SessionTest):
    def suspend(self, session):
        self.user_settings({"permissions": {"onAsk": "suspend"}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(
            Call("Bash", command="touch made"))), "--session-id", session, "go", mode="default")
        self.assert_status(result, 3)
        self.user_settings({})

    def test_what_is_asked_is_still_asked(self):
        session = self.new_id()
        self.suspend(session)
        provider = self.play(ANTHROPIC)
        result = self.run_agent(ANTHROPIC, provider, "-r", session, mode="default")
        self.assert_status(result, 3)
        self.assertIn("touch made", result.err)
        self.assertEqual(provider.requests, [])
        self.assertFalse((self.project / "made").exists())

    def test_a_rule_answers_it(self):
        session = self.new_id()
        self.suspend(session)
        provider = self.play(ANTHROPIC, Turn("Made."))
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "--allowed-tools",
                                "Bash(touch *)", mode="default")
        self.assert_fine(result)
        self.assertTrue((self.project / "made").exists())

    def test_a_new_prompt_overtakes_it(self):
        session = self.new_id()
        self.suspend(session)
        _result, requests = self.go_on(ANTHROPIC, session, Turn("Fine."), arguments=["never mind"])
        self.assertIn(NOT_RUN, requests[0][2])
        self.assertEqual(requests[0][3], "  user 'never mind'")
        self.assertFalse((self.project / "made").exists())


class Flags(SessionTest):
    def refused(self, status, says, *arguments):
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC), *arguments)
        self.assert_status(result, status)
        self.assertIn(says, result.err)

    def test_what_does_not_go_together(self):
        self.refused(2, "--resume needs", "-r", "", "hi")
        self.refused(2, "cannot be combined", "-c", "--no-session-persistence", "hi")
        self.refused(2, "cannot be combined", "-r", "x", "--no-session-persistence", "hi")
        self.refused(2, "--fork-session", "--fork-session", "hi")
        self.refused(2, "--continue", "-c", "-r", "x", "hi")
        self.refused(2, "keeps its id", "-c", "--session-id", self.new_id(), "hi")
        self.refused(2, 'session "nobody" not found', "-r", "nobody", "hi")
        self.refused(2, "unknown store", "--store", "pigeon:x", "hi")

    def test_an_id_is_used_once(self):
        session = self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")),
                                        "--session-id", session, "first"))
        self.refused(2, "--resume", "--session-id", session, "again")

    def test_nothing_is_kept_of_a_private_session(self):
        session = self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")),
                                        "--no-session-persistence", "--session-id", session, "hi"))
        self.assertFalse((self.keel_home / "keel.db").exists())

    def test_another_store(self):
        store, session = f"sqlite:{self.project}/mine.db", self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")),
                                        "--store", store, "--session-id", session, "first"))
        self.assertFalse((self.keel_home / "keel.db").exists())
        provider = self.play(ANTHROPIC, Turn("Two."))
        self.assert_fine(self.run_agent(ANTHROPIC, provider, "-r", session, "second",
                                        env={"KEEL_STORE": store}))
        self.assertEqual(len(provider.requests[0].json["messages"]), 3)

    def test_files_with_a_record_that_others_read(self):
        session, store = self.new_id(), f"files:{self.project}/sessions"
        for arguments in (["--session-id", session, "first"], ["-r", session, "second"]):
            self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Yes.")),
                                            "--store", store, *arguments))
        record = json.loads((self.project / "sessions" / f"{session}.json").read_text())
        self.assertEqual([message["role"] for message in record["messages"]],
                         ["user", "assistant", "user", "assistant"])
        self.assertEqual([entry["category"] for entry in record["history"]], ["chat"] * 4)
        self.assertEqual((record["id"], record["cwd"]), (session, str(self.project.resolve())))
        self.assertIn("Bash", [schema["name"] for schema in record["toolSchemas"]])
        self.assertLess(record["createdAt"], record["updatedAt"])

    def test_a_record_has_counts_and_texts_as_others_read_them(self):
        session, store = self.new_id(), f"files:{self.project}/sessions"
        provider = self.play(ANTHROPIC, Turn("Yes.", usage=(70, 8), n_cached=30))
        result = self.run_agent(ANTHROPIC, provider, "--store", store, "--session-id", session, "go",
                                stdin=b"piped in")
        self.assert_fine(result)
        path = self.project / "sessions" / f"{session}.json"
        prompt, answer = json.loads(path.read_text())["messages"]
        self.assertEqual(prompt["content"], "go\npiped in")
        self.assertEqual(answer["metadata"], {"inputTokens": 70, "outputTokens": 8})
        for message in (prompt, answer):
            for ours in ("parts", "usage"):
                message.pop(ours, None)
        other = self.write("other.json", json.dumps({"id": "x", "messages": [prompt, answer]}))
        self.assert_fine(self.keel("session", "import", str(other)))
        shown = self.keel("session", "export", "--format", "json").json()
        [kept] = [m for m in shown["messages"] if m["role"] == "assistant"]
        self.assertEqual(kept["metadata"], {"inputTokens": 70, "outputTokens": 8})

    def test_a_session_says_which_model_it_asks(self):
        provider = self.play(ANTHROPIC, Turn("Yes."))
        self.assert_fine(self.run_agent(ANTHROPIC, provider, "hi"))
        result = self.keel("-p", "-c", "--verbose", "again", env=ANTHROPIC.environment(provider))
        self.assertEqual(provider.requests[-1].json["model"], "m")
        self.assertIn("keel: using anthropic/m, the session's model\n", result.err)

    def test_where_nothing_can_be_written_it_is_told_and_the_run_goes_on(self):
        self.keel_home.mkdir(exist_ok=True)
        (self.keel_home / "keel.db").mkdir()
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("One.")), "first")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "One.\n")
        self.assertIn("this session is not stored", result.err)


class Budgets(SessionTest):
    def test_what_was_spent_counts_in_the_next_process(self):
        session = self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(
            "One.", usage=(90000, 5000))), "--session-id", session, "first"))
        provider = self.play(ANTHROPIC)
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "--max-tokens-total", "90000",
                                "second")
        self.assert_status(result, 5)
        self.assertIn("95000 tokens of 90000 tokens", result.err)
        self.assertEqual(provider.requests, [])

    def test_a_limit_may_suspend_and_more_money_goes_on(self):
        session = self.new_id()
        self.user_settings({"pricing": {"anthropic/m": {"input": 1, "output": 1}},
                            "budget": {"usd": 0.1, "onExceed": "ask"}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn(
            Call("Bash", command="true"), usage=(99000, 1000))), "--session-id", session, "first")
        self.assert_status(result, 3)
        self.assertIn("$0.1000 of $0.1000 used", result.err)
        provider = self.play(ANTHROPIC, Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "-r", session, "--max-budget-usd", "1")
        self.assert_fine(result)
        self.assertEqual(result.out, "Done.\n")


class Modes(SessionTest):
    """A session comes back in the mode that it was in, but for bypassPermissions."""

    def begin(self, mode, *more):
        session = self.new_id()
        flags = ["--permission-mode", mode] if mode else []
        self.run_in(session, self.play(ANTHROPIC, Turn("One.")), "--session-id", session, *flags,
                    *more, "first")
        return session

    def run_in(self, session, provider, *arguments):
        """What a program is told about the session that it gets."""
        result = self.ask(provider, "--output-format", "stream-json", "--verbose", *arguments)
        self.assert_status(result, 0)
        lines = [json.loads(line) for line in result.out.splitlines()]
        return next(line["permissionMode"] for line in lines if line.get("subtype") == "init")

    def resume(self, session, *arguments):
        return self.run_in(session, self.play(ANTHROPIC, Turn("Two.")), *arguments, "second")

    def test_every_other_mode_comes_back(self):
        for mode in ("plan", "default", "acceptEdits"):
            with self.subTest(mode):
                session = self.begin(mode)
                self.assertEqual(self.resume(session, "-r", session), mode)
                self.assertEqual(self.resume(session, "-c"), mode)
                self.assertEqual(self.resume(session, "-r", session, "--fork-session"), mode)

    def test_bypassing_does_not_however_it_was_said(self):
        for flags in (["--permission-mode", "bypassPermissions"],
                      ["--dangerously-skip-permissions"]):
            with self.subTest(flags):
                session = self.begin(None, *flags)
                self.assertEqual(self.resume(session, "-r", session), "default")
                self.assertEqual(self.resume(session, "-r", session, *flags), "bypassPermissions")
                self.assertEqual(self.resume(session, "-c"), "default")
                self.assertEqual(self.resume(session, "-r", session, "--fork-session"), "default")

    def test_a_call_is_refused_that_ran_before(self):
        session = self.begin("bypassPermissions")
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="touch made")), Turn("Two."))
        self.run_in(session, provider, "-r", session, "second")
        self.assertFalse((self.project / "made").exists())

    def test_a_run_that_was_killed_does_not_go_on_bypassing(self):
        session = self.new_id()
        path, fd = self.make_pipe()
        process = self.start_agent(
            ANTHROPIC, self.play(ANTHROPIC, Turn(Call("Bash", command=f"echo > {path}; sleep 60"))),
            "--session-id", session, "first")
        self.wait_pipe(fd)
        self.kill(process)
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="touch made")), Turn("Two."))
        self.assertEqual(self.run_in(session, provider, "-r", session), "default")
        self.assertFalse((self.project / "made").exists())

    def test_a_flag_wins(self):
        session = self.begin("acceptEdits")
        self.assertEqual(self.resume(session, "-r", session, "--permission-mode", "plan"), "plan")
        self.assertEqual(self.resume(session, "-r", session), "plan")


if __name__ == "__main__":
    scripted.main()
