"""session_import_test.py - keel session import: files that no program should write.

Whatever a file holds, what is made of it is whole, can be continued with every provider, or is not
there at all.
"""
import json
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from agent import AgentTest, Reader, Turn  # noqa: E402
from scripted import ANTHROPIC, for_each_protocol  # noqa: E402


def user(text, **more):
    return {"role": "user", "content": text, **more}


def answer(text="", *calls, **more):
    return {"role": "assistant", "content": text, **more, "toolCalls": [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id, name, arguments in calls]}


def result(id, text):
    return {"role": "tool", "toolCallId": id, "content": text}


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


def record(*messages, **more):
    return {"id": "s", **more, "messages": list(messages)}


def log(*messages):
    return [{"event": "history_mutation", "sessionId": "s", "message": message}
            for message in messages]


CALL = ("c", "Bash", '{"command":"ls"}')
HOSTILE = {
    "a call id that is used again and again": record(
        user("a"), answer("", CALL, CALL), result("c", "1"), result("c", "2"), result("c", "3"),
        answer("", CALL), result("c", "4"), answer("", CALL), user("b")),
    "results before their calls, and calls at the end": record(
        result("c", "0"), user("a"), result("c", "1"), answer("", CALL), user("b"),
        result("c", "2"), answer("", CALL)),
    "calls without id, name and arguments": record(
        user("a"), answer("", ("", "", ""), ("", "", "[1"), ("d", "no such tool!", "{}"),
                          ("e" * 500, "n" * 500, '{"a":"\\u0000"}')), result("", "x")),
    "times that are none": record(
        user("a", timestamp=-1), answer("b", timestamp="0000-99-99T99:99:99Z"),
        user("c", timestamp=1e300), answer("d", timestamp="9999-12-31T23:59:59Z"),
        user("e", timestamp={"at": []}), createdAt="now", updatedAt=-(2**63)),
    "control characters and NULs everywhere": record(
        user("a\0b\x1b[31m\x7f", id="\0"), answer("c\0", ("i\0d", "n\0ame", '{"k\\u0000":"\\u0001"}')),
        name="a\nb\x1b[31mc\0d", cwd="/some\0where", model="m\n\0", provider="\x1b]0;x\x07"),
    "half of a character": '{"id":"s","messages":[{"role":"user","content":"a\\ud800b\\udc00"}]}',
    "bytes that are not UTF-8": b'{"id":"s\xff","name":"\xff\xc3","messages":['
                                b'{"role":"user","content":"a\xc3(\xff"}]}',
    "counts that are no counts": record(
        user("a"), answer("b", usage={"inputTokens": 2**63 - 1, "outputTokens": -5,
                                      "costMicrocents": 2**62}), user("c")),
    "levels without an end": [*log(user("a"), answer("b", extra=nested(200))),
                              {"event": "other", "sessionId": "s", "deep": nested(200)}],
    "messages that say nothing": record(user(""), user("a"), answer(""), answer(None), user([]),
                                        answer("b"), user({}), user("c")),
    "nothing but answers": record(answer("a"), answer("b"), answer("c")),
    "nothing but prompts": log(*[user("a")] * 300),
    "parents in a circle": [{**line, "sessionId": id, "parentSessionId": parent}
                            for id, parent in (("s", "t"), ("t", "u"), ("u", "s"), ("v", "v"))
                            for line in log(user("a"), answer("b"))],
    "a line of Claude Code that is its own parent": [
        {"type": "user", "uuid": "1", "parentUuid": "1", "sessionId": "s",
         "message": {"role": "user", "content": "a"}}] * 3,
}


class ImportTest(AgentTest):
    STORE = "sqlite:other.db"

    def import_file(self, content, *arguments, name="in.json"):
        if isinstance(content, list):
            content = "".join(json.dumps(line) + "\n" for line in content)
        return self.keel("session", "import", self.write(name, content), "--store", self.STORE,
                         "--json", *arguments)

    def listed(self):
        result = self.keel("session", "list", "--all", "--limit", "0", "--json", "--store",
                           self.STORE)
        return [] if "does not exist" in result.err else result.json()

    def assert_whole(self):
        self.assert_fine(self.keel("session", "verify", "--all", "--store", self.STORE))


class Hostile(ImportTest):
    @for_each_protocol
    def test_what_came_in_is_whole_and_can_be_continued(self, protocol):
        for name, content in HOSTILE.items():
            with self.subTest(name):
                imported = self.import_file(content)
                self.assert_status(imported, 0)
                session = imported.json()[0]["id"]
                self.assert_whole()
                provider = self.play(protocol, Turn("Well."))
                self.assert_status(self.run_agent(protocol, provider, "-r", session, "--store",
                                                  self.STORE, "go on"), 0)
                self.assert_taken(protocol, provider)
                self.assertIn("go on", "\n".join(Reader(protocol, provider.requests[0]).lines))
                self.assert_whole()

    def test_a_name_is_one_line(self):
        self.assert_status(self.import_file(HOSTILE["control characters and NULs everywhere"]), 0)
        self.assertEqual([(s["name"], s["cwd"]) for s in self.listed()],
                         [("a b [31mc d", str(self.project.resolve()))])

    def test_a_value_with_too_many_levels_is_a_line_that_cannot_be_read(self):
        lines = "".join(json.dumps(line) + "\n" for line in log(user("a"), answer("b")))
        bad = '{"event":"history_mutation","sessionId":"s","message":' + "[" * 300 + "]" * 300 + "}\n"
        refused = self.import_file(lines + bad)
        self.assert_status(refused, 2)
        self.assertIn("in.json:3: not valid JSON", refused.err)
        self.assert_status(self.import_file(lines + bad, "--partial"), 0)

    def test_what_is_said_of_a_bad_line_is_short(self):
        part = {"role": "user", "parts": [{"type": "x" * 1_000_000}]}
        refused = self.import_file(log(user("a"), part) * 60)
        self.assert_status(refused, 2)
        self.assertLess(len(refused.err), 50_000)


class Secrets(ImportTest):
    def test_a_message_that_loses_a_credential_keeps_the_rest(self):
        key = "sk-known-only-later-4711"
        usage = {"inputTokens": 1, "routedProvider": "who", "routedModel": "which"}
        path = self.write("in.json", record(user("a"), answer(f"it is {key}", usage=usage)))
        imported = self.keel("session", "import", path, "--store", self.STORE,
                             env={"OPENAI_API_KEY": key})
        self.assert_status(imported, 0)
        exported = self.keel("session", "export", "s", "--format", "json", "--store",
                             self.STORE).json()
        self.assertEqual(exported["messages"][1]["content"], "it is [REDACTED]")
        self.assertEqual(exported["messages"][1]["usage"], usage)


class Ids(ImportTest):
    CHILD = {"parentSessionId": "s", "messages": [user("child")]}

    def test_two_children_with_one_id_and_one_with_that_of_its_parent_come_in(self):
        imported = self.import_file(record(user("a"), answer("b"), children=[
            {"id": "c", **self.CHILD}, {"id": "c", **self.CHILD}, {"id": "s", **self.CHILD}]))
        self.assert_status(imported, 0)
        made = imported.json()
        self.assertEqual([session["was"] for session in made], ["s", "c", "c", "s"])
        self.assertEqual([session["newId"] for session in made], [False, False, True, True])
        self.assertEqual(len({session["id"] for session in made}), 4)
        self.assertEqual([session["id"] for session in self.listed()], ["s"])
        exported = self.keel("session", "export", "s", "--format", "json", "--store",
                             self.STORE).json()
        self.assertEqual([child["parentSessionId"] for child in exported["children"]], ["s"] * 3)
        self.assert_whole()

    def test_new_ids_are_noted(self):
        imported = self.keel("session", "import", self.write("in.json", record(
            user("a"), children=[{"id": "s", **self.CHILD}])))
        self.assert_status(imported, 0)
        self.assertIn("the id s is taken or cannot be used; it is ", imported.err)

    def test_two_records_with_one_id_are_two_sessions(self):
        self.assert_status(self.import_file(json.dumps([record(user("a")), record(user("b"))])), 0)
        self.assertEqual(sorted(session["preview"] for session in self.listed()), ["a", "b"])

    def test_very_many_sessions_of_one_file_come_in(self):
        lines = [{**line, "sessionId": f"s{n}", "parentSessionId": f"s{n - 1}" if n % 3 else "gone"}
                 for n in range(300) for line in log(user("a"))]
        self.assert_status(self.import_file(lines), 0)
        self.assertEqual(len(self.listed()), 100)
        self.assert_whole()


class Files(ImportTest):
    def import_path(self, path, **how):
        return self.keel("session", "import", str(path), "--store", self.STORE, **how)

    def test_what_cannot_be_a_file_is_refused(self):
        for path, why in ((self.dir, "Is a directory"), ("/dev/zero", "it is a device"),
                          (self.dir / "nowhere", "No such file")):
            self.assert_refused(self.import_path(path), 2, f"cannot read {path}", why)

    def test_a_file_with_nothing_in_it_but_its_length_is_refused(self):
        with open(self.dir / "sparse", "wb") as file:
            file.truncate(1 << 40)
        self.assert_refused(self.import_path(self.dir / "sparse"), 2, "is not a session file that keel can read")

    def test_blank_lines_are_no_lines(self):
        path = self.write("blank.jsonl", "\n" * (32 << 20))
        self.assert_refused(self.import_path(path), 2, "is not a session file that keel can read")
        talk = "".join(json.dumps(line) + "\n" for line in log(user("a"), answer("b")))
        path = self.write("talk.jsonl", "\r\n \n" + talk.replace("\n", "\n" * (8 << 20)) + "[1]\n")
        self.assert_refused(self.import_path(path), 2, f"talk.jsonl:{(16 << 20) + 3}: expected a JSON object, got array")

    def test_standard_input_may_be_a_file(self):
        path = self.write("in.json", "no JSON\n" + json.dumps(record(user("a"))))
        with open(path, "rb", buffering=0) as file:
            file.readline()
            self.assert_fine(self.import_path("-", stdin=file))
        self.assertEqual([session["id"] for session in self.listed()], ["s"])

    def open_pipe(self):
        """keel, which waits for what comes through a pipe with a name."""
        os.mkfifo(self.dir / "pipe")
        process = self.start("session", "import", str(self.dir / "pipe"), "--store", self.STORE)
        return process, open(self.dir / "pipe", "wb", buffering=0)

    def test_a_pipe_with_a_name_is_read_to_its_end(self):
        process, pipe = self.open_pipe()
        with pipe:
            for piece in json.dumps(record(user("a"))):
                pipe.write(piece.encode())
        self.assert_fine(self.finish(process))
        self.assertEqual([session["id"] for session in self.listed()], ["s"])

    def test_a_pipe_that_stays_silent_can_be_interrupted(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process, pipe = self.open_pipe()
            with pipe:
                pipe.write(b'{"messages":[')
                process.send_signal(number)
                self.assert_status(self.finish(process), status)
            (self.dir / "pipe").unlink()
        self.assertEqual(self.listed(), [])

    def test_an_import_that_is_interrupted_leaves_nothing(self):
        process, pipe = self.open_pipe()
        with pipe:
            pipe.write(b"".join(json.dumps(line).encode() + b"\n" for line in log(user("a")) * 500))
            process.send_signal(signal.SIGINT)
            self.assert_status(self.finish(process), 130)
        self.assertEqual(self.listed(), [])

    def test_a_session_that_cannot_be_stored_takes_the_others_with_it(self):
        """A file is where the directory of its long texts would be."""
        first, second = record(user("a")), {**record(user("b" * 50_000)), "id": "t"}
        store = f"files:{self.dir}/kept"
        self.write("kept/t.payloads", "")
        failed = self.keel("session", "import", self.write("in.json", [first, second]), "--store",
                           store)
        self.assert_status(failed, 1)
        self.assertEqual(failed.out, "")
        self.assertEqual(self.keel("session", "list", "--all", "--json", "--store", store).json(),
                         [])


if __name__ == "__main__":
    scripted.main()
