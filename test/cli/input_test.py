"""input_test.py - --input-format stream-json: a host speaks to keel in lines, over real pipes."""
import base64
import json
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from media_files import pdf, png  # noqa: E402
from scripted import ANTHROPIC, HANG_SECONDS, TEXT, Call, FlowTest  # noqa: E402

FLAGS = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
UUID = "0193d0c4-1111-7000-8000-00000000000a"
SUCCESS = [("system", "init"), ("assistant", None), ("result", "success")]


def user(content, **more):
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def request(id, subtype, **more):
    return {"type": "control_request", "request_id": id, "request": {"subtype": subtype, **more}}


def reply(id, **response):
    return {"type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": response}}


def packed(*items):
    """Lines as bytes; what is bytes already stays as it is."""
    return b"".join(item if isinstance(item, bytes) else json.dumps(item).encode() + b"\n"
                    for item in items)


def parsed(text):
    return [json.loads(line) for line in text.splitlines()]


def kinds(lines):
    return [(line["type"], line.get("subtype")) for line in lines]


def of_type(lines, kind):
    return [line for line in lines if line["type"] == kind]


def broken_off(held, *pieces):
    """An answer that says these pieces and then waits for an event that never comes."""
    answer = ANTHROPIC.answer([*pieces, "never said"])
    at = next(i for i, piece in enumerate(answer.pieces) if b"never said" in piece)
    answer.pieces.insert(at, held)
    return answer


class Host:
    """The other end: writes lines and reads them, one at a time."""

    def __init__(self, process):
        self.process, self.seen = process, []
        watchdog = threading.Timer(HANG_SECONDS, process.kill)  # only ever ends what hangs
        watchdog.daemon = True
        watchdog.start()

    def say(self, *items):
        self.process.stdin.write(packed(*items))
        self.process.stdin.flush()

    def wait_for(self, kind, subtype=None):
        for raw in self.process.stdout:
            line = json.loads(raw)
            self.seen.append(line)
            inner = line.get("request") or line.get("response") or line
            if line["type"] == kind and subtype in (None, line.get("subtype"),
                                                    inner.get("subtype")):
                return line
        raise AssertionError(f"no {kind} {subtype} came: {kinds(self.seen)}")


class InputTest(FlowTest):
    def arguments(self, provider, *more):
        model = [] if "--model" in more else ["--model", "anthropic/m"]
        return [*FLAGS, *model, *more], ANTHROPIC.environment(provider)

    def feed(self, provider, *items, flags=()):
        """All lines at once, then the end of input."""
        arguments, env = self.arguments(provider, *flags)
        return self.keel(*arguments, env=env, stdin=packed(*items))

    def host(self, provider, *flags):
        arguments, env = self.arguments(provider, *flags)
        # Unbuffered: what Host read ahead of the line that it waits for would be lost in end().
        process = self.start(*arguments, env=env, stdin=subprocess.PIPE, bufsize=0)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return Host(process)

    def end(self, host):
        """The end of input; everything that still comes."""
        result = self.finish(host.process)
        host.seen += parsed(result.out)
        return result


class Prompts(InputTest):
    def test_each_line_is_a_run_in_the_same_conversation(self):
        provider = self.provider(ANTHROPIC.answer(["one"]), ANTHROPIC.answer(["two"]))
        result = self.feed(provider, user("first"), user("second"))
        self.assert_fine(result)
        lines = parsed(result.out)
        self.assertEqual(kinds(lines), SUCCESS + SUCCESS)
        self.assertEqual([line["result"] for line in of_type(lines, "result")], ["one", "two"])
        self.assertEqual(len({line["session_id"] for line in lines}), 1)
        texts = [message["role"] for message in provider.requests[1].json["messages"]]
        self.assertEqual(texts, ["user", "assistant", "user"])

    def test_blank_lines_and_a_missing_last_line_end_make_no_difference(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.feed(provider, b"\n  \r\n", json.dumps(user("hi")).encode())
        self.assert_fine(result)
        self.assertEqual(kinds(parsed(result.out)), SUCCESS)

    def test_no_line_at_all_is_no_failure(self):
        result = self.feed(self.provider(ANTHROPIC.answer()))
        self.assert_fine(result)
        self.assertEqual(result.out, "")

    def test_lines_may_come_from_a_file(self):
        provider = self.provider(ANTHROPIC.answer())
        arguments, env = self.arguments(provider)
        path = self.write("lines", packed(user("hi")))
        with open(path, "rb") as lines:
            result = self.keel(*arguments, env=env, stdin=lines)
        self.assert_fine(result)
        self.assertEqual(kinds(parsed(result.out)), SUCCESS)

    def test_blocks_of_text_images_and_documents_reach_the_model(self):
        provider = self.provider(ANTHROPIC.answer())
        image, paper = (base64.b64encode(file).decode() for file in (png(3, 2), pdf(1)))
        result = self.feed(provider, user([
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": image}},
            {"type": "document", "title": "a.pdf", "source": {
                "type": "base64", "media_type": "application/pdf", "data": paper}}]))
        self.assert_fine(result)
        content = self.only_request(provider).json["messages"][0]["content"]
        self.assertEqual([block["type"] for block in content],
                         ["text", "text", "image", "document"])
        self.assertTrue(content[0]["text"].startswith("<environment>\n"))
        self.assertEqual(content[2]["source"]["data"], image)
        self.assertEqual(content[3]["source"]["data"], paper)

    @staticmethod
    def file_block(type, media_type, data):
        return {"type": type, "source": {"type": "base64", "media_type": media_type,
                                         "data": base64.b64encode(data).decode()}}

    def test_bytes_that_are_no_image_are_refused_and_not_sent(self):
        for type, media_type, data, says in (
                ("image", "image/png", b"hello\n", "a text file"),
                ("image", "image/png", base64.b64encode(png(3, 2)), "a text file"),
                ("image", "image/webp", bytes(range(256)), "a binary file"),
                ("document", "application/pdf", b"PK\3\4" + bytes(40), "a ZIP archive")):
            with self.subTest(says, media_type=media_type):
                provider = self.provider(ANTHROPIC.answer())
                result = self.feed(provider, user([{"type": "text", "text": "look"},
                                                   self.file_block(type, media_type, data)]))
                self.assert_status(result, 2)
                self.assertIn(f"block 2 ({type}): its media_type is {media_type}, but its data is "
                              f"{says}", result.err)
                self.assertEqual(provider.requests, [])

    def test_a_wrong_media_type_is_put_right(self):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_fine(self.feed(provider, user([
            self.file_block("image", "image/jpeg", png(3, 2)),
            self.file_block("document", "application/pdf", png(3, 2)),
            self.file_block("image", "image/png", pdf(1))])))
        content = self.only_request(provider).json["messages"][0]["content"][1:]
        self.assertEqual([(block["type"], block["source"]["media_type"]) for block in content],
                         [("image", "image/png"), ("image", "image/png"),
                          ("document", "application/pdf")])

    def test_an_image_at_an_address_reaches_the_model(self):
        provider = self.provider(ANTHROPIC.answer())
        source = {"type": "url", "url": "https://a.example/cat.png?size=2"}
        self.assert_fine(self.feed(provider, user([{"type": "image", "source": source}])))
        [_, block] = self.only_request(provider).json["messages"][0]["content"]
        self.assertEqual(block, {"type": "image", "source": source})

    def test_an_image_at_an_address_reaches_every_provider_that_takes_addresses(self):
        url = "https://a.example/cat.png?size=2"
        for protocol in scripted.PROTOCOLS:
            with self.subTest(protocol.name):
                provider = self.provider(protocol.answer())
                line = user([{"type": "image", "source": {"type": "url", "url": url}},
                             {"type": "text", "text": "what is it?"}])
                self.assert_fine(self.ask(provider, *FLAGS, protocol=protocol, stdin=packed(line)))
                body = self.only_request(provider).body.decode()
                self.assertIn(url, body)
                if protocol.name == "ollama":
                    self.assertIn(f"[image at {url} left out: this provider accepts images only as "
                                  "bytes]", body)
                else:
                    self.assertNotIn("left out", body)

    def test_a_file_of_the_providers_storage_is_refused_with_the_reason(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.feed(provider, user([{"type": "image", "source": {
            "type": "file", "file_id": "file_1"}}]))
        self.assertEqual(provider.requests, [])
        self.assertIn("provider's storage", result.out + result.err)

    def test_many_prompts_wait_for_their_turn(self):
        provider = self.provider(ANTHROPIC.answer(["ok"]))
        result = self.feed(provider, *[user(f"prompt {number}") for number in range(300)])
        self.assert_fine(result)
        self.assertEqual(len(of_type(parsed(result.out), "result")), 300)
        self.assertEqual(provider.requests[-1].prompt_texts()[-1], "prompt 299")

    def test_replayed_prompts_have_the_uuid_of_their_sender(self):
        result = self.feed(self.provider(ANTHROPIC.answer()), user("hi", uuid=UUID),
                           flags=["--replay-user-messages"])
        self.assert_fine(result)
        [line] = of_type(parsed(result.out), "user")
        self.assertEqual((line["uuid"], line["isReplay"]), (UUID, True))
        self.assertEqual(line["message"]["content"][0]["text"], "hi")

    def test_the_last_run_says_how_the_program_ends(self):
        refused = scripted.json_answer({"type": "error", "error": {
            "type": "authentication_error", "message": "bad key"}}, 401)
        failed = self.feed(self.provider(ANTHROPIC.answer(), refused), user("a"), user("b"))
        self.assert_status(failed, 6)
        provider = self.provider(refused, ANTHROPIC.answer())
        well = self.feed(provider, user("a"), user("b"))
        self.assert_status(well, 0)
        self.assertIn("keel: ", well.err)  # of the run in between
        self.assertEqual([line["is_error"] for line in of_type(parsed(well.out), "result")],
                         [True, False])


class Hostile(InputTest):
    def refused(self, *items, says):
        result = self.feed(self.provider(ANTHROPIC.answer()), *items)
        self.assert_status(result, 2)
        self.assertIn(says, result.err)
        return parsed(result.out)

    def test_a_bad_line_is_named_after_the_prompts_before_it_are_answered(self):
        lines = self.refused(user("hi"), b"\n", b"{bad\n", user("never"),
                             says="standard input, line 3")
        self.assertEqual(kinds(lines), SUCCESS)

    def test_a_bad_first_line_gives_a_result_that_tells_it(self):
        [line] = self.refused(b"nonsense\n", says="standard input, line 1")
        self.assertEqual((line["type"], line["is_error"]), ("result", True))
        self.assertIn("line 1", line["result"])

    def test_lines_that_are_no_message_are_refused(self):
        for item, says in (
                (b"[]\n", "no type"), (b"7\n", "no type"), ({"type": 7}, "no type"),
                ({"type": "user"}, "message.role"),
                ({"type": "user", "message": {"role": "assistant", "content": "x"}}, "message.role"),
                (user(5), "message.content"), (user(""), "empty"), (user([]), "empty"),
                (user([{"type": "tool_result"}]), "tool_result"),
                (user([{"type": "image"}]), "source"),
                (user([{"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                                    "data": "***"}}]), "base64"),
                (user("x", shouldQuery=False), "shouldQuery"),
                ({"type": "control_request", "request": {"subtype": "interrupt"}}, "request_id")):
            with self.subTest(item=item):
                self.refused(item, says=says)

    def test_a_line_over_the_cap_is_refused(self):
        self.refused(user("x" * (64 << 20)), says="line")

    def test_kinds_of_lines_that_keel_does_not_know_are_told_and_skipped(self):
        result = self.feed(self.provider(ANTHROPIC.answer()), {"type": "news"},
                           {"type": "keep_alive"},
                           {"type": "control_cancel_request", "request_id": "x"},
                           reply("nobody asked", behavior="allow"), user("hi"))
        self.assert_status(result, 0)
        self.assertEqual(result.err.count("keel: "), 1)
        self.assertIn('"news"', result.err)
        self.assertEqual(kinds(parsed(result.out)), SUCCESS)


class Requests(InputTest):
    def answers(self, *items, flags=()):
        result = self.feed(self.provider(ANTHROPIC.answer()), *items, flags=flags)
        self.assert_fine(result)
        return [line["response"] for line in of_type(parsed(result.out), "control_response")]

    def test_initialize_is_answered_with_what_there_is(self):
        [answer] = self.answers(request("r1", "initialize"))
        self.assertEqual((answer["subtype"], answer["request_id"]), ("success", "r1"))
        about = answer["response"]
        self.assertEqual((about["commands"], about["agents"]), ([], []))
        self.assertEqual(about["available_output_styles"], ["default"])
        self.assertEqual(about["models"][0]["value"], "anthropic/m")
        self.assertEqual(about["account"], {"apiKeySource": "ANTHROPIC_API_KEY"})

    def test_initialize_sets_the_system_prompt(self):
        provider = self.provider(ANTHROPIC.answer())
        self.feed(provider, request("1", "initialize", systemPrompt=["Be a poet.", "Rhyme."],
                                    appendSystemPrompt="Be brief."), user("hi"))
        system = json.dumps(self.only_request(provider).json["system"])
        for text in ("Be a poet.", "Rhyme.", "Be brief."):
            self.assertIn(text, system)
        self.assertNotIn("Working directory", system)

    def test_an_empty_system_prompt_is_none(self):
        provider = self.provider(ANTHROPIC.answer())
        self.feed(provider, request("1", "initialize", systemPrompt=[""]), user("hi"))
        self.assertNotIn("system", self.only_request(provider).json)

    def test_initialize_with_what_keel_does_not_have_ends_before_anything_runs(self):
        for member, value in (("hooks", {"PreToolUse": [{"hookCallbackIds": ["h"]}]}),
                              ("sdkMcpServers", ["x"]), ("agents", {"a": {"prompt": "p"}})):
            with self.subTest(member):
                provider = self.provider(ANTHROPIC.answer())
                result = self.feed(provider, request("1", "initialize", **{member: value}),
                                   user("hi"))
                self.assert_status(result, 2)
                self.assertIn(member, result.err)
                answer, end = parsed(result.out)
                self.assertEqual(answer["response"]["subtype"], "error")
                self.assertTrue(end["is_error"])
                self.assertEqual(provider.requests, [])

    def test_initialize_with_empty_lists_of_what_keel_does_not_have_is_fine(self):
        [answer] = self.answers(request("1", "initialize", hooks=None, agents={}, sdkMcpServers=[]))
        self.assertEqual(answer["subtype"], "success")

    def test_what_keel_cannot_do_is_answered_with_an_error(self):
        answers = self.answers(request("1", "rewind_files"), request("2", "hook_callback"),
                               request("3", "mcp_message"), request("4", "toString"),
                               {"type": "control_request", "request_id": "5"},
                               {"type": "control_request", "request_id": "6", "request": []})
        self.assertEqual([answer["subtype"] for answer in answers], ["error"] * 6)
        self.assertEqual([answer["request_id"] for answer in answers], list("123456"))
        self.assertIn("rewind_files", answers[0]["error"])

    def test_model_and_mode_count_for_the_next_run(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.feed(provider, user("a"), request("1", "set_model", model="anthropic/other"),
                           request("2", "set_permission_mode", mode="plan"), user("b"))
        self.assert_fine(result)
        init = [line for line in parsed(result.out) if line.get("subtype") == "init"][-1]
        self.assertEqual((init["model"], init["permissionMode"]), ("other", "plan"))
        self.assertEqual(provider.requests[-1].json["model"], "other")

    def test_an_unknown_model_is_an_error_and_changes_nothing(self):
        bad, good = self.answers(request("1", "set_model", model="nope/none"),
                                 request("2", "set_model"))
        self.assertEqual((bad["subtype"], good["response"]["model"]), ("error", "m"))
        self.assertIn('unknown vendor or profile "nope"', bad["error"])

    def test_an_empty_or_misspelt_model_is_not_the_first_one(self):
        empty, misspelt = self.answers(request("1", "set_model", model=""),
                                       request("2", "set_model", model="sonet"))
        self.assertIn("the model name is empty", empty["error"])
        self.assertIn('Anthropic has no model "sonet"', misspelt["error"])

    def test_no_model_is_the_first_one_again(self):
        answers = self.answers(request("1", "set_model", model="anthropic/other"),
                               request("2", "set_model"))
        self.assertEqual([answer["response"]["model"] for answer in answers], ["other", "m"])

    def test_a_mode_that_does_not_exist_is_an_error_and_changes_nothing(self):
        bad, good = self.answers(request("1", "set_permission_mode", mode="reckless"),
                                 request("2", "set_permission_mode", mode="acceptEdits"))
        self.assertEqual((bad["subtype"], good["subtype"]), ("error", "success"))
        self.assertIn("reckless", bad["error"])

    def test_permissions_are_switched_off_only_where_the_command_line_allows_it(self):
        bypass = request("1", "set_permission_mode", mode="bypassPermissions")
        for flags, subtype in (([], "error"), (["--allow-dangerously-skip-permissions"], "success"),
                               (["--permission-mode", "bypassPermissions"], "success")):
            with self.subTest(flags):
                self.assertEqual(self.answers(bypass, flags=flags)[0]["subtype"], subtype)

    def test_thinking_can_be_limited(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.feed(provider,
                           request("1", "set_max_thinking_tokens", max_thinking_tokens=2000),
                           user("hi"), flags=["--model", "anthropic/claude-haiku-4-5"])
        self.assert_fine(result)
        self.assertEqual(self.only_request(provider).json["thinking"]["budget_tokens"], 2000)


class Interrupts(InputTest):
    def test_an_interrupt_ends_the_run_and_not_the_conversation(self):
        held = self.hold()
        provider = self.provider(broken_off(held, "Well"),
                                 ANTHROPIC.answer(["again"]))
        host = self.host(provider, "--include-partial-messages")
        host.say(user("a"))
        while host.wait_for("stream_event")["event"]["type"] != "content_block_delta":
            pass
        host.say(request("1", "interrupt"))
        self.assertEqual(host.wait_for("control_response")["response"]["subtype"], "success")
        stopped = host.wait_for("result")
        self.assertEqual(stopped["terminal_reason"], "aborted_streaming")
        host.say(user("b"))
        self.assertEqual(host.wait_for("result")["result"], "again")
        result = self.end(host)
        self.assert_status(result, 0)
        self.assertEqual(result.err, "")
        self.assertIn("Well", json.dumps(provider.requests[-1].json["messages"]))

    def test_an_interrupt_names_the_prompts_that_wait(self):
        held = self.hold()
        provider = self.provider(broken_off(held, "Well"), ANTHROPIC.answer(["later"]))
        host = self.host(provider, "--include-partial-messages")
        host.say(user("a"))
        host.wait_for("stream_event")
        host.say(user("b", uuid=UUID), request("1", "interrupt"))
        answer = host.wait_for("control_response")["response"]["response"]
        self.assertEqual(answer, {"still_queued": [UUID]})
        self.assert_status(self.end(host), 0)
        self.assertEqual([line["is_error"] for line in of_type(host.seen, "result")],
                         [True, False])

    def test_an_interrupt_without_a_run_does_nothing(self):
        host = self.host(self.provider(ANTHROPIC.answer()))
        host.say(request("1", "interrupt"))
        host.wait_for("control_response")
        host.say(user("hi"))
        self.assertEqual(host.wait_for("result")["subtype"], "success")
        self.assert_fine(self.end(host))

    def test_a_last_run_that_was_interrupted_exits_with_130(self):
        held = self.hold()
        host = self.host(self.provider(broken_off(held)))
        host.say(user("a"))
        host.wait_for("system", "init")
        host.say(request("1", "interrupt"))
        host.wait_for("result")
        self.assert_status(self.end(host), 130)

    def test_a_signal_ends_the_program_whatever_waits(self):
        held = self.hold()
        host = self.host(self.provider(broken_off(held)))
        host.say(user("a"), user("b"))
        host.wait_for("system", "init")
        host.process.terminate()
        host.wait_for("result")
        self.assert_status(self.end(host), 143)
        self.assertEqual(len(of_type(host.seen, "result")), 1)


class Questions(InputTest):
    """--permission-prompt-tool stdio: the host says what may be done."""

    def asked(self, *calls, flags=()):
        provider = self.provider(ANTHROPIC.answer([""], calls=list(calls)), ANTHROPIC.answer())
        host = self.host(provider, "--permission-prompt-tool", "stdio", *flags)
        host.say(user("go"))
        return provider, host, host.wait_for("control_request", "can_use_tool")

    def result_of(self, host):
        [line] = of_type(host.seen, "user")
        return line["message"]["content"][0]

    def test_the_question_has_the_call(self):
        _, host, line = self.asked(Call("Bash", command="touch made", description="makes it"))
        asked = line["request"]
        self.assertEqual(asked["tool_name"], "Bash")
        self.assertEqual(asked["input"], {"command": "touch made", "description": "makes it"})
        self.assertEqual(asked["description"], "makes it")
        self.assertEqual(asked["permission_suggestions"], [{
            "type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [{"toolName": "Bash", "ruleContent": "touch made"}]}])
        use = of_type(host.seen, "assistant")[0]["message"]["content"][0]
        self.assertEqual(asked["tool_use_id"], use["id"])

    def test_a_yes_runs_the_call(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(reply(line["request_id"], behavior="allow",
                       updatedInput=line["request"]["input"]))
        host.wait_for("result")
        self.assert_fine(self.end(host))
        self.assertTrue((self.project / "made").exists())

    def test_a_no_is_told_to_the_model_with_its_reason(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(reply(line["request_id"], behavior="deny", message="not today"))
        end = host.wait_for("result")
        self.assertEqual(end["permission_denials"][0]["tool_name"], "Bash")
        self.assertIn("not today", self.result_of(host)["content"])
        self.assert_fine(self.end(host))
        self.assertFalse((self.project / "made").exists())

    def test_a_no_that_interrupts_ends_the_run(self):
        provider, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(reply(line["request_id"], behavior="deny", message="stop", interrupt=True))
        end = host.wait_for("result")
        self.assertEqual(end["terminal_reason"], "aborted_tools")
        self.assertEqual(len(provider.requests), 1)
        self.assert_status(self.end(host), 130)

    def test_a_yes_may_change_the_arguments(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(reply(line["request_id"], behavior="allow",
                       updatedInput={"command": "touch other"}))
        host.wait_for("result")
        self.assert_fine(self.end(host))
        self.assertFalse((self.project / "made").exists())
        self.assertTrue((self.project / "other").exists())

    def test_changed_arguments_that_the_tool_does_not_take_do_not_run(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(reply(line["request_id"], behavior="allow", updatedInput={"comand": "touch made"}))
        host.wait_for("result")
        self.assertTrue(self.result_of(host)["is_error"])
        self.assertIn("approved changed arguments", self.result_of(host)["content"])
        self.end(host)
        self.assertFalse((self.project / "made").exists())

    def test_a_deny_rule_holds_for_changed_arguments(self):
        _, host, line = self.asked(Call("Bash", command="touch made"),
                                   flags=["--disallowed-tools", "Bash(touch forbidden)"])
        host.say(reply(line["request_id"], behavior="allow",
                       updatedInput={"command": "touch forbidden"}))
        host.wait_for("result")
        self.assertTrue(self.result_of(host)["is_error"])
        self.end(host)
        self.assertFalse((self.project / "forbidden").exists())

    def test_a_rule_that_comes_with_a_yes_saves_the_next_question(self):
        call = Call("Bash", command="touch made")
        provider = self.provider(ANTHROPIC.answer([""], calls=[call]),
                                 ANTHROPIC.answer([""], calls=[call]), ANTHROPIC.answer())
        host = self.host(provider, "--permission-prompt-tool", "stdio")
        host.say(user("go"))
        line = host.wait_for("control_request")
        host.say(reply(line["request_id"], behavior="allow",
                       updatedPermissions=line["request"]["permission_suggestions"]))
        host.wait_for("result")
        self.assert_fine(self.end(host))
        self.assertEqual(len(of_type(host.seen, "control_request")), 1)
        self.assertEqual(len(provider.requests), 3)

    def test_a_change_that_keel_cannot_make_is_told(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(reply(line["request_id"], behavior="allow", updatedPermissions=[
            {"type": "addDirectories", "directories": ["/"], "destination": "userSettings"}]))
        host.wait_for("result")
        result = self.end(host)
        self.assert_status(result, 0)
        self.assertIn("addDirectories", result.err)

    def test_an_error_of_the_host_is_a_no(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say({"type": "control_response", "response": {
            "subtype": "error", "request_id": line["request_id"], "error": "callback threw"}})
        host.wait_for("result")
        self.assertIn("callback threw", self.result_of(host)["content"])
        self.assert_fine(self.end(host))

    def test_the_end_of_input_is_no_yes(self):
        _, host, _ = self.asked(Call("Bash", command="touch made"))
        self.assert_status(self.end(host), 0)
        self.assertFalse((self.project / "made").exists())
        self.assertTrue(self.result_of(host)["is_error"])

    def test_an_interrupt_withdraws_the_question(self):
        _, host, line = self.asked(Call("Bash", command="touch made"))
        host.say(request("1", "interrupt"))
        withdrawn = host.wait_for("control_cancel_request")
        self.assertEqual(withdrawn["request_id"], line["request_id"])
        host.wait_for("result")
        host.say(reply(line["request_id"], behavior="allow"))  # too late: nothing comes of it
        self.assert_status(self.end(host), 130)
        self.assertFalse((self.project / "made").exists())

    def test_the_models_own_questions_are_asked_there_too(self):
        options = [{"label": "red"}, {"label": "blue"}]
        _, host, line = self.asked(Call("AskUserQuestion", questions=[
            {"question": "Which?", "options": options}]))
        self.assertEqual(line["request"]["tool_name"], "AskUserQuestion")
        host.say(reply(line["request_id"], behavior="allow", updatedInput={
            **line["request"]["input"], "answers": {"Which?": "blue"}}))
        host.wait_for("result")
        self.assertIn("blue", self.result_of(host)["content"])
        self.assert_fine(self.end(host))

    def test_what_rules_allow_is_not_asked(self):
        provider = self.provider(ANTHROPIC.answer([""], calls=[Call("Bash", command="true")]),
                                 ANTHROPIC.answer())
        result = self.feed(provider, user("go"), flags=["--permission-prompt-tool", "stdio",
                                                        "--allowedTools", "Bash(true)"])
        self.assert_fine(result)
        self.assertEqual(of_type(parsed(result.out), "control_request"), [])


class Plans(InputTest):
    """ExitPlanMode asks the host as every call does that needs consent."""

    def asked(self):
        provider = self.provider(
            ANTHROPIC.answer([""], calls=[Call("ExitPlanMode", plan="1. Do it")]),
            ANTHROPIC.answer())
        host = self.host(provider, "--permission-prompt-tool", "stdio", "--permission-mode", "plan")
        host.say(user("go"))
        return host, host.wait_for("control_request", "can_use_tool")

    def test_the_question_has_the_plan(self):
        _, line = self.asked()
        self.assertEqual(line["request"]["tool_name"], "ExitPlanMode")
        self.assertEqual(line["request"]["input"], {"plan": "1. Do it"})

    def modes_after(self, **answer):
        host, line = self.asked()
        host.say(reply(line["request_id"], **answer))
        host.wait_for("result")
        host.say(user("and now?"))
        host.wait_for("result")
        self.assert_fine(self.end(host))
        inits = [line["permissionMode"] for line in of_type(host.seen, "system")
                 if line["subtype"] == "init"]
        results = [block["content"] for line in of_type(host.seen, "user")
                   for block in line["message"]["content"] if block["type"] == "tool_result"]
        return inits, str(results)

    def test_a_yes_ends_plan_mode(self):
        modes, results = self.modes_after(behavior="allow", updatedInput={"plan": "1. Do it"})
        self.assertEqual(modes, ["plan", "default"])
        self.assertIn("now default", results)

    def test_a_yes_may_choose_the_mode(self):
        modes, results = self.modes_after(behavior="allow", updatedInput={"plan": "1. Do it"},
                                          updatedPermissions=[{"type": "setMode",
                                                               "mode": "acceptEdits",
                                                               "destination": "session"}])
        self.assertEqual(modes, ["plan", "acceptEdits"])
        self.assertIn("now acceptEdits", results)

    def test_a_yes_may_change_the_plan(self):
        _, results = self.modes_after(behavior="allow", updatedInput={"plan": "1. Less"})
        self.assertIn("1. Less", results)

    def test_a_no_is_told_with_its_words(self):
        modes, results = self.modes_after(behavior="deny", message="smaller steps")
        self.assertEqual(modes, ["plan", "plan"])
        self.assertIn("smaller steps", results)


class Flags(InputTest):
    def refused(self, *arguments, says):
        result = self.keel("-p", *arguments, env={"ANTHROPIC_API_KEY": "k"})
        self.assert_status(result, 2)
        self.assertIn(says, result.err)

    def test_flags_that_do_not_go_together_are_refused(self):
        stream = ("--input-format", "stream-json")
        self.refused("--input-format", "xml", "hi", says="xml")
        self.refused(*stream, says="--output-format stream-json")
        self.refused(*stream, "--output-format", "json", says="--output-format stream-json")
        self.refused(*FLAGS, "a prompt", says="standard input only")
        self.refused(*FLAGS, "--permission-prompt-tool", "mcp__x__y", says="mcp__x__y")
        self.refused("--permission-prompt-tool", "stdio", "hi", says="--input-format stream-json")
        self.refused("--replay-user-messages", "hi", says="--input-format stream-json")

    def test_values_that_cannot_be_meant_are_refused(self):
        self.refused("--session-id", "7", "hi", says="UUID")
        self.refused("--effort", "heroic", "hi", says="heroic")
        self.refused("--thinking", "hard", "hi", says="hard")
        self.refused("--max-thinking-tokens", "-1", "hi", says="max-thinking-tokens")
        self.refused("--max-budget-usd", "0", "hi", says="max-budget-usd")
        self.refused("--max-budget-usd", "much", "hi", says="much")
        self.refused("--setting-sources", "user,moon", "hi", says="moon")

    def test_flags_for_what_keel_does_not_have_are_taken_when_they_ask_for_nothing(self):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, "--mcp-config", "{}", "--mcp-config",
                                    '{"mcpServers":{}}', "--agents", "{}", "--strict-mcp-config",
                                    "--no-session-persistence", "hi"))
        self.refused("--mcp-config", '{"mcpServers":{"x":{}}}', "hi", says="MCP servers")
        self.refused("--mcp-config", "servers.json", "hi", says="MCP servers")
        self.refused("--agents", '{"a":{"prompt":"p"}}', "hi", says="agents")

    def test_the_session_has_the_id_that_it_is_given(self):
        result = self.feed(self.provider(ANTHROPIC.answer()), user("hi"),
                           flags=["--session-id", UUID])
        self.assertEqual({line["session_id"] for line in parsed(result.out)}, {UUID})

    def test_the_model_sees_only_the_tools_that_are_named(self):
        for given, names in (("Read,Bash", ["Bash", "Read"]), ("", None)):
            with self.subTest(given):
                provider = self.provider(ANTHROPIC.answer())
                self.ask(provider, f"--tools={given}", "hi")
                sent = self.only_request(provider).json.get("tools")
                self.assertEqual(sent and [tool["name"] for tool in sent], names)

    def test_settings_of_other_sources_are_not_read(self):
        self.user_settings({"permissions": {"deny": ["Bash"]}})
        for given, is_there in (("project,local", True), ("", True), ("user", False)):
            with self.subTest(given):
                provider = self.provider(ANTHROPIC.answer())
                self.ask(provider, f"--setting-sources={given}", "hi")
                tools = [tool["name"] for tool in self.only_request(provider).json["tools"]]
                self.assertEqual("Bash" in tools, is_there)

    def test_effort_and_thinking_reach_the_model(self):
        for flags, thinking in ((["--thinking", "disabled"], "disabled"),
                                (["--thinking=adaptive"], "adaptive"),
                                (["--effort", "low"], "adaptive")):
            with self.subTest(flags):
                provider = self.provider(ANTHROPIC.answer())
                self.ask(provider, *flags, "hi")
                self.assertEqual(self.only_request(provider).json["thinking"]["type"], thinking)

    def test_no_request_is_made_over_the_budget(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 1, "output": 1}}})
        provider = self.provider(ANTHROPIC.answer())
        # a usual answer has 1024 tokens: there is room for one question, and not for a second
        result = self.feed(provider, user("a"), user("b"), flags=[
            "--max-budget-usd", "0.00104", "--tools", "", "--system-prompt", "Hm."])
        self.assert_status(result, 5)
        self.assertIn("--max-budget-usd", result.err)
        self.assertEqual(len(provider.requests), 1)
        self.assertEqual(of_type(parsed(result.out), "result")[-1]["subtype"],
                         "error_max_budget_usd")

    def test_a_budget_is_not_kept_silently_where_prices_are_unknown(self):
        provider = self.provider(ANTHROPIC.answer())
        result = self.feed(provider, user("a"), user("b"), flags=["--max-budget-usd", "5"])
        self.assert_status(result, 6)
        self.assertIn("cannot enforce --max-budget-usd", result.err)
        self.assertIn("pricing", result.err)
        self.user_settings({"budget": {"usd": 5}})
        result = self.feed(self.provider(ANTHROPIC.answer()), user("a"), user("b"))
        self.assertIn("cannot enforce the setting budget.usd", result.err)

    def test_the_parts_of_a_text_are_the_answer(self):
        self.assert_answer(self.ask(self.provider(ANTHROPIC.answer()), "--input-format", "text",
                                    "hi"), TEXT)


if __name__ == "__main__":
    scripted.main()
