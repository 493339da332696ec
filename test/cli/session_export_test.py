"""session_export_test.py - keel session export and import: sessions as text, there and back.

The sessions are made by the real program against a scripted model; what is exported is read by
parsers that are not keel's.
"""
import hashlib
import html.parser
import json
import os
import pathlib
import stat
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from agent import AgentTest, Call, Reader, Thought, Turn  # noqa: E402
from scripted import ANTHROPIC, BY_NAME, for_each_protocol  # noqa: E402

FORMS = ("jsonl", "json", "markdown", "html")
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> &amp; \"quoted\" 'too'"
ANSWER = f"""It is **done**:

```c
int main(void) {{ return 0; }}
```

| a | b |
|---|--:|
| 1 | 2 |

{HOSTILE} [good](https://example.com/?a=1&b=2) [bad](javascript:alert(3))
[worse](JaVaScRiPt&colon;alert(4)) ![far](https://tracker.example/pixel.png)
<https://example.com/auto> <iframe src="https://example.com"></iframe>"""
LATER = "sk-known-only-later-4711"


class Page(html.parser.HTMLParser):
    """What a browser would see."""

    VOID = {"meta", "img", "br", "hr"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.links, self.text, self.open = set(), [], [], "", []
        self.ids = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


class SessionTest(AgentTest):
    def whole_requests(self, *arguments):
        """All that was sent, by both forms, which say the same."""
        log = [line for line in self.log("--requests", *arguments)
               if line["event"] == "provider_request"]
        record = self.record("--requests", *arguments)["requests"]
        self.assertEqual([{name: line[name] for name in entry}
                          for line, entry in zip(log, record, strict=True)], record)
        return record

    def make_session(self, *prompt):
        """Thinking, a command, a change, a failure, hostile words: all that a page can show."""
        (self.project / "a.c").write_text("int main(void)\n{\n    return 1;\n}\n")
        provider = self.play(
            ANTHROPIC,
            Turn(Thought("First I *look*."), "I look at it.", Call("Read", file_path="a.c"),
                 Call("Bash", command="seq 1 200; printf '\\033[31mred\\033[0m </pre><script>'")),
            Turn(Call("Edit", file_path="a.c", old_string="return 1;", new_string="return 0;"),
                 Call("Bash", command="cat /nowhere"),
                 Call("Nothing", apiKey="hunter2-hunter2", note="```` ticks"),
                 Call("TodoWrite", todos=[{"content": "look <b>", "status": "completed"},
                                          {"content": "repair", "status": "in_progress"}])),
            Turn(ANSWER))
        prompt = prompt or (f"Repair a.c, please.\n\n{HOSTILE}",)
        self.assert_status(self.run_agent(ANTHROPIC, provider, *prompt), 0)
        self.sent = [request.json for request in provider.requests]

    def export(self, form, *arguments, **how):
        result = self.keel("session", "export", *arguments, "--format", form, **how)
        self.assert_fine(result)
        return result

    def log(self, *arguments, **how):
        return [json.loads(line) for line in self.export("jsonl", *arguments, **how).out.splitlines()]

    def record(self, *arguments, **how):
        return self.export("json", *arguments, **how).json()

    def import_file(self, content, *arguments, name="in.jsonl", store="sqlite:other.db", **how):
        if isinstance(content, list):
            content = "".join(json.dumps(line) + "\n" for line in content)
        path = self.write(name, content)
        return self.keel("session", "import", path, "--store", store, "--json", *arguments, **how)

    def imported(self, *arguments, store="sqlite:other.db", **how):
        """The record of the one session that this makes."""
        result = self.import_file(*arguments, store=store, **how)
        self.assert_status(result, 0)
        made, = result.json()
        return self.record(made["id"], "--store", store)

    @staticmethod
    def without_ids(record):
        def strip(message):
            return {key: value for key, value in message.items() if key != "id"}
        return [strip(message) for message in record["messages"]]


class Export(SessionTest):
    def setUp(self):
        super().setUp()
        self.make_session()

    def test_the_log_has_every_event_in_order_and_tells_each_message_once(self):
        log = self.log()
        numbers = [line["seq"] for line in log if line["event"] != "text_delta"
                   or "source" in line]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        names = [line["event"] for line in log]
        for name in ("session_init", "pre_run", "provider_request", "provider_native_raw_payload",
                     "provider_response_normalized", "tool_batch_started", "tool_execution_request",
                     "tool_execution_result", "history_mutation", "assistant", "session_shutdown"):
            self.assertIn(name, names)
        requests = [line for line in log if line["event"] == "provider_request"]
        self.assertEqual(len(requests), 3)
        self.assertIn("toolSchemas", log[names.index("session_init")])
        told = [line for line in log if line["event"] == "history_mutation"]
        ranges = [line["messages"] for line in requests]
        self.assertEqual([len(entries) for entries in ranges], [1, 1, 1])
        self.assertEqual([entries[0]["to"] for entries in ranges], [1, 4, 9])
        self.assertEqual({entries[0]["baseSeq"] for entries in ranges}, {told[0]["seq"]})
        self.assertEqual({entries[0]["kind"] for entries in ranges}, {"history-range"})
        answer, = [line for line in log if line["event"] == "assistant"]
        self.assertEqual(answer["history"][0]["to"], len(told))
        self.assertEqual([entry["role"] for entry in answer["historyStructure"]],
                         [line["message"]["role"] for line in told])
        self.assertEqual(answer["historyStructure"][1]["toolCallNames"], ["Read", "Bash"])

    def test_text_that_was_shown_has_a_line_of_its_own_with_the_number_of_its_event(self):
        log = self.log()
        shown = [(line["seq"], line["delta"]) for line in log
                 if line["event"] == "text_delta" and "source" not in line]
        sent = [(line["seq"], line["delta"]) for line in log
                if line["event"] == "provider_stream_raw_delta" and line["kind"] == "text"]
        self.assertEqual(shown, sent)
        self.assertIn("I look at it.", "".join(text for _, text in shown))

    def test_a_schema_or_prompt_that_was_told_is_named_by_its_line_and_hash(self):
        log = {line["seq"]: line for line in self.log()}
        for line in log.values():
            if line["event"] != "provider_request":
                continue
            for field in ("system", "tools"):
                link = line[field][0] if field == "tools" else line[field]
                self.assertEqual(link["kind"], "same-as")
                value = json.dumps(log[link["seq"]][link["field"]], ensure_ascii=False,
                                   separators=(",", ":"))
                self.assertEqual(hashlib.sha256(value.encode()).hexdigest(), link["sha256"])

    def test_with_requests_it_holds_all_that_was_sent(self):
        requests = self.whole_requests()
        self.assertEqual(len(requests), len(self.sent))
        for told, sent in zip(requests, self.sent):
            self.assertEqual(told["system"], sent["system"][0]["text"])
            self.assertEqual([tool["name"] for tool in told["tools"]],
                             [tool["name"] for tool in sent["tools"]])
            self.assertEqual(told["options"]["stream"], sent["stream"])
            texts = [part["text"] for message in told["messages"] for part in message["parts"]
                     if part["type"] == "text"]
            blocks = [block for message in sent["messages"] for block in message["content"]]
            self.assertEqual(texts, [block["text"] for block in blocks if block["type"] == "text"])
            kinds = [part["type"] for message in told["messages"] for part in message["parts"]]
            self.assertEqual(kinds.count("tool_call"),
                             sum(block["type"] == "tool_use" for block in blocks))
            self.assertEqual(kinds.count("reasoning"),
                             sum(block["type"] == "thinking" for block in blocks))
        self.assertIn("reasoning", kinds)

    def test_with_requests_nothing_is_told_that_an_export_hides(self):
        for form in ("json", "jsonl"):
            self.assertNotIn("hunter2", self.export(form, "--requests").out)
            self.assertIn("[REDACTED]", self.export(form, "--requests").out)

    def test_an_export_with_requests_can_be_imported(self):
        for form in ("json", "jsonl"):
            record = self.imported(self.export(form, "--requests").out, store=f"sqlite:{form}.db")
            self.assertEqual(len(record["messages"]), len(self.record()["messages"]))

    def test_a_document_has_no_requests(self):
        self.assert_refused(self.keel("session", "export", "-f", "html", "--requests"), 2,
                            "works only with json and jsonl")

    def test_a_new_file_named_from_here_on_is_written(self):
        self.assert_fine(self.keel("session", "export", "-o", "new.json"))
        self.assertIn("messages", json.loads((self.project / "new.json").read_text()))

    def test_the_record_has_all_fields_that_other_programs_read(self):
        record = self.record()
        for field in ("id", "cwd", "createdAt", "updatedAt", "messages", "history", "systemPrompt",
                      "toolSchemas", "backgroundTasks", "backgroundTaskEvents",
                      "backgroundJobGroups", "backgroundJobGroupEvents", "memoryEvents",
                      "usedMemoryReferences", "contextReferences"):
            self.assertIn(field, record)
        self.assertEqual(record["cwd"], str(self.project.resolve()))
        chat = [entry["data"] for entry in record["history"] if entry["category"] == "chat"]
        self.assertEqual(chat, record["messages"])
        told = [(entry["type"], entry["data"]["toolName"], entry["data"].get("result"))
                for entry in record["history"] if entry["type"].startswith("tool-")]
        self.assertIn(("tool-start", "Bash", None), told)
        self.assertIn(("tool-end", "Edit", "success"), told)
        self.assertIn(("tool-end", "Nothing", "error"), told)

    def test_the_document_reads_from_the_prompt_to_the_costs(self):
        text = self.export("markdown").out
        for piece in ("# Repair a.c, please.\n", "\n> Repair a.c, please.\n",
                      "<details><summary>Thinking</summary>\n\nFirst I *look*.\n",
                      "**Read** `a.c`", "**Bash** `cat /nowhere` · failed",
                      "-    return 1;\n+    return 0;\n", "lines left out] ...",
                      "- [x] look \\<b\\>\n", "```c\nint main(void)", "tokens in, "):
            self.assertIn(piece, text)
        self.assertNotIn("\033", text)

    def test_a_fence_is_longer_than_any_in_what_it_holds(self):
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="echo '````'; echo after")),
                             Turn("An open block:\n\n```\nint x;"), Turn("Well."))
        self.run_agent(ANTHROPIC, provider, "show ticks")
        self.run_agent(ANTHROPIC, provider, "-c", "and then?")
        text = self.export("markdown").out
        self.assertIn("\n`````text\n````\nafter\n`````\n", text)
        self.assertIn("```\nint x;\n```\n\n## and then?\n", text)

    def test_a_file_is_written_into_the_working_directory_by_its_name_alone(self):
        for name in ("session.html", "session.md", "session.json", "session.jsonl"):
            self.assert_fine(self.keel("session", "export", "--output", name))
            self.assertTrue((self.project / name).read_text(), name)

    def test_a_file_is_private_and_replaced_as_a_whole(self):
        path = self.dir / "session.md"
        path.write_text("old")
        self.assert_fine(self.keel("session", "export", "--output", str(path)))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertTrue(path.read_text().startswith("# Repair a.c"))
        self.assertEqual([p.name for p in self.dir.glob("session.md*")], ["session.md"])

    def test_the_name_of_the_file_says_the_form(self):
        for name, start in (("s.html", "<!DOCTYPE html>"), ("s.htm", "<!DOCTYPE html>"),
                            ("s.md", "# "), ("s.json", '{"id"'), ("s.jsonl", '{"timestamp"')):
            path = self.dir / name
            self.assert_fine(self.keel("session", "export", "-o", str(path)))
            self.assertTrue(path.read_text().startswith(start), name)
        self.assert_refused(self.keel("session", "export", "-o", str(self.dir / "s.doc")), 2,
                            "cannot tell the format from the name ", "--format")
        self.assert_refused(self.keel("session", "export", "-f", "pdf"), 2, 'unknown format "pdf"')
        for form in ([], ["-f", "html"]):
            self.assert_refused(self.keel("session", "export", "-o", str(self.dir), *form), 2,
                                "is a directory", "name the file")

    def test_a_dash_is_standard_output(self):
        result = self.keel("session", "export", "-o", "-", "-f", "markdown")
        self.assert_fine(result)
        self.assertTrue(result.out.startswith("# "), result)
        self.assertFalse((self.project / "-").exists())
        self.assertTrue(self.keel("session", "export", "-o", "-").out.startswith('{"timestamp"'))

    def test_a_terminal_gets_the_document_and_a_pipe_the_log(self):
        self.assertTrue(self.keel("session", "export").out.startswith('{"timestamp"'))
        self.assertTrue(self.on_terminal("session", "export").out.startswith("# Repair"))

    def test_what_is_no_plain_file_is_written_to_and_not_replaced(self):
        path = self.dir / "pipe"
        os.mkfifo(path)
        process = self.start("session", "export", "-f", "json", "-o", str(path))
        with open(path, encoding="utf-8") as pipe:
            self.assertEqual(json.load(pipe)["cwd"], str(self.project.resolve()))
        self.assert_fine(self.finish(process))
        self.assertTrue(stat.S_ISFIFO(path.stat().st_mode))

    def test_no_file_of_the_store_is_replaced(self):
        log = f"files:{self.dir}/sessions"
        self.assert_fine(self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Done.")), "--store",
                                        log, "hi"))
        (self.dir / "link").symlink_to(self.keel_home / "keel.db")
        files = sorted((self.dir / "sessions").glob("*.json*"))
        for path, store in [(self.keel_home / "keel.db", []), (self.dir / "link", []),
                            *((path, ["--store", log]) for path in files)]:
            result = self.keel("session", "export", "--format", "json", "--output", str(path), *store)
            self.assert_refused(result, 2, "it is a file of keel's own store", str(path))
            self.assert_status(self.keel("session", "verify", *store), 0)

    def test_a_file_that_cannot_be_written_is_named(self):
        self.assert_refused(self.keel("session", "export", "-o", "/nowhere/s.json"), 1,
                            "cannot write /nowhere/s.json")

    def test_a_credential_that_is_known_now_is_in_no_form(self):
        self.make_session(f"my key is {LATER}, keep it")
        self.assertIn(LATER, self.export("jsonl").out)
        for form in FORMS:
            text = self.export(form, env={"OPENAI_API_KEY": LATER}).out
            self.assertNotIn(LATER, text, form)
            self.assertIn("[REDACTED]", text, form)

    def test_what_stands_under_the_name_of_a_credential_is_in_no_form(self):
        for form in FORMS:
            text = self.export(form).out
            self.assertNotIn("hunter2", text, form)
            self.assertIn("[REDACTED]", text.replace("\\", ""), form)


class Redaction(SessionTest):
    """Arguments with credentials in them: in calls that are refused, cut off or quoted."""

    CALLS = (Call("Nothing", password="hunter2-of-nothing", nested={"apiKey": ["hunter2-nested"]}),
             Call("Bash", command="true", password="hunter2-of-bash"))

    @for_each_protocol
    def test_credentials_in_arguments_are_in_no_form(self, protocol):
        provider = self.play(protocol, *[Turn(call) for call in self.CALLS], Turn("Well."))
        self.run_agent(protocol, provider, "go")
        for form in FORMS:
            text = self.export(form).out
            self.assertFalse("hunter2" in text, form)
            self.assertTrue("Well." in text, form)

    def test_arguments_that_were_cut_off_are_redacted_as_well(self):
        raw = '{"command":"true","password":"hunter2-cut'
        provider = self.play(ANTHROPIC, Turn(Call("Bash", raw=raw)), Turn("Well."))
        self.run_agent(ANTHROPIC, provider, "go")
        for form in FORMS:
            self.assertFalse("hunter2" in self.export(form).out, form)

    def test_a_short_one_stands_only_in_what_the_provider_sent(self):
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="true", token="abc12")),
                             Turn("Well."))
        self.run_agent(ANTHROPIC, provider, "go")
        for form in ("json", "markdown", "html"):
            self.assertFalse("abc12" in self.export(form).out, form)
        self.assertEqual({line["event"] for line in self.log() if "abc12" in json.dumps(line)},
                         {"provider_native_raw_payload", "provider_stream_raw_delta"})

    def test_names_in_schemas_and_ordinary_arguments_stay(self):
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="echo max_tokens=5")),
                             Turn("Well."))
        self.run_agent(ANTHROPIC, provider, "go")
        for form in FORMS:
            self.assertIn("max_tokens=5", self.export(form).out.replace("\\", ""), form)


class RecordFile(SessionTest):
    """ID.json beside the log of a files: store."""

    def setUp(self):
        super().setUp()
        self.store = f"files:{self.dir}/kept"
        self.user_settings({"store": self.store})

    def record_file(self):
        path, = [path for path in (self.dir / "kept").glob("*.json")]
        return json.loads(path.read_text())

    def test_it_is_the_json_export_with_the_whole_timeline(self):
        self.make_session()
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="sleep 0", run_in_background=True)),
                             Turn("Started."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-c", "--wait-background", "0",
                                          "again"), 0)
        record = self.record_file()
        exported = self.record()
        self.assertEqual([(entry["category"], entry["type"]) for entry in record["history"]],
                         [(entry["category"], entry["type"]) for entry in exported["history"]])
        self.assertIn("tool-start", [entry["type"] for entry in record["history"]])
        self.assertEqual(record["backgroundTasks"], exported["backgroundTasks"])
        self.assertEqual(len(record["backgroundTasks"]), 1)
        self.assertEqual(set(record), set(exported))

    def test_what_was_before_a_compaction_is_still_in_its_history(self):
        self.make_session()
        provider = self.play(ANTHROPIC, Turn("All is summarised."))
        result = self.keel("session", "compact", "--model", "anthropic/m",
                           env=ANTHROPIC.environment(provider))
        self.assert_status(result, 0)
        record = self.record_file()
        first = next(entry for entry in record["history"] if entry["category"] == "chat")
        self.assertTrue(first["data"]["content"].startswith("Repair a.c"))
        self.assertIn("compact", [entry["type"] for entry in record["history"]])
        self.assertLess(len(record["messages"]), 4)

    def test_it_has_the_new_name_right_after_a_rename(self):
        self.make_session()
        self.assert_fine(self.keel("session", "rename", self.record_file()["id"], "a better name"))
        self.assertEqual(self.record_file()["name"], "a better name")


class HtmlPage(SessionTest):
    def setUp(self):
        super().setUp()
        self.make_session()
        self.source = self.export("html").out
        self.page = Page(self.source)

    def test_the_page_is_well_formed_and_made_of_harmless_elements(self):
        self.assertEqual(self.page.open, [])
        self.assertEqual(self.page.tags - {
            "html", "head", "meta", "title", "style", "body", "main", "section", "header", "h1",
            "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "b", "i", "a", "time", "article",
            "details", "summary", "code", "pre", "ul", "ol", "li", "table", "thead", "tbody", "tr",
            "th", "td", "strong", "em", "del", "blockquote", "hr", "br", "img", "footer"}, set())

    def test_nothing_is_loaded_and_nothing_runs(self):
        for tag, name, value in self.page.attributes:
            self.assertFalse(name.startswith("on"), f"{tag} {name}={value}")
            self.assertNotIn(name, ("srcset", "style", "action", "formaction", "xlink:href"))
            if name == "src":
                self.assertTrue(value.startswith("data:image/"), value)
            if name == "href":
                self.assertIn(urllib.parse.urlsplit(value).scheme, ("http", "https", "mailto", ""))
                self.assertTrue(urllib.parse.urlsplit(value).scheme or value.startswith("#"), value)
        self.assertIn(("meta", "content",
                       "default-src 'none'; style-src 'unsafe-inline'; img-src data:"),
                      self.page.attributes)
        self.assertNotIn("url(", self.source)
        self.assertNotIn("@import", self.source)

    def test_hostile_text_is_shown_as_it_was_written(self):
        self.assertIn(HOSTILE, self.page.text)
        self.assertIn("<script>alert(1)</script>", self.page.text)
        self.assertIn('<iframe src="https://example.com"></iframe>', self.page.text)
        self.assertIn("</pre><script>", self.page.text)
        self.assertIn("[image: far]", self.page.text)

    def test_answers_are_rendered_and_good_links_lead_somewhere(self):
        self.assertIn("<strong>done</strong>", self.source)
        self.assertIn("<td class=\"right\">2</td>", self.source)
        links = [value for _, name, value in self.page.attributes if name == "href"]
        self.assertIn("https://example.com/?a=1&b=2", links)
        self.assertIn("https://example.com/auto", links)

    def test_every_message_has_an_anchor_of_its_own(self):
        self.assertGreaterEqual(len(self.page.ids), 2)
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)))
        links = [value for _, name, value in self.page.attributes if name == "href"]
        for anchor in self.page.ids:
            self.assertIn("#" + anchor, links)

    def test_changes_are_coloured_and_lists_are_lists(self):
        self.assertIn('<span class="del">-    return 1;</span>', self.source)
        self.assertIn('<span class="add">+    return 0;</span>', self.source)
        self.assertIn('<li class="done"><i>●</i>look &lt;b&gt;</li>', self.source)

    def test_a_picture_is_in_the_page(self):
        pixel = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000"
                              "000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082")
        (self.project / "dot.png").write_bytes(pixel)
        provider = self.play(ANTHROPIC, Turn(Call("Read", file_path="dot.png")), Turn("A dot."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-c", "look"), 0)
        page = Page(self.export("html").out)
        self.assertEqual([value.partition(",")[0] for tag, name, value in page.attributes
                          if tag == "img" and name == "src"], ["data:image/png;base64"])


class RoundTrip(SessionTest):
    def setUp(self):
        super().setUp()
        self.make_session()

    def test_export_import_export_gives_the_same_messages(self):
        first = self.record()
        for form in ("json", "jsonl"):
            second = self.imported(self.export(form).out, store=f"sqlite:{form}.db")
            self.assertEqual(second["id"], first["id"])
            self.assertEqual(second["messages"], first["messages"])
            for field in ("cwd", "systemPrompt"):
                self.assertEqual(second[field], first[field], field)
            self.assertEqual([entry["timestamp"] for entry in second["history"]],
                             [entry["timestamp"] for entry in first["history"]
                              if entry["category"] == "chat"])
            third = self.imported(json.dumps(second), store=f"sqlite:{form}2.db")
            self.assertEqual(third["messages"], first["messages"])

    def test_what_was_rewound_to_its_beginning_comes_back_without_it(self):
        self.assert_fine(self.keel("session", "rewind", "--yes"))
        for form in ("json", "jsonl"):
            made = self.imported(self.export(form).out, store=f"sqlite:{form}.db")
            self.assertEqual(made["messages"], [], form)
        provider = self.play(ANTHROPIC, Turn("Hi."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-c", "anew"), 0)
        for form in ("json", "jsonl"):
            made = self.imported(self.export(form).out, store=f"sqlite:{form}2.db")
            self.assertEqual([message["content"] for message in made["messages"]], ["anew", "Hi."])

    def test_a_copy_from_before_the_first_turn_comes_back_empty(self):
        copy = self.keel("session", "fork", "--at", "turn:1").out.strip()
        for form in ("json", "jsonl"):
            made = self.imported(self.export(form, copy).out, store=f"sqlite:{form}.db")
            self.assertEqual(made["messages"], [], form)

    def test_a_second_round_trip_changes_nothing(self):
        """What the first import does not take is gone; from then on it is the same, ids as well."""
        for form in ("json", "jsonl"):
            texts = [self.export(form).out]
            for number in range(3):
                store = f"sqlite:{form}-{number}.db"
                made, = self.import_file(texts[-1], store=store).json()
                self.assertFalse(made["newId"])
                texts.append(self.export(form, made["id"], "--store", store).out)
            self.assertEqual(texts[2], texts[1])
            self.assertEqual(texts[3], texts[1])
            first, second = ([entry["id"] for entry in self.messages_of(text, form)]
                             for text in texts[:2])
            self.assertEqual(second, first)

    @staticmethod
    def messages_of(text, form):
        if form == "json":
            return json.loads(text)["messages"]
        lines = [json.loads(line) for line in text.splitlines()]
        return [line["message"] for line in lines if line["event"] == "history_mutation"]

    def test_a_log_with_its_histories_expanded_is_still_read(self):
        """As keel exported them before they were named by their range."""
        lines, told = [], []
        for line in self.log():
            if line["event"] == "history_mutation":
                told.append(line["message"])
            for field in ("messages", "history"):
                if field in line:
                    line[field] = list(told)
            lines.append(line)
        self.assertEqual(self.imported(lines)["messages"], self.record()["messages"])

    def test_it_comes_over_a_pipe(self):
        result = self.keel("session", "import", "-", "--store", "sqlite:other.db",
                           stdin=self.export("json").raw)
        self.assert_fine(result)
        self.assertIn(self.record()["id"], result.out)

    def test_an_id_that_is_taken_is_replaced_and_told(self):
        content = self.export("json").out
        path = self.write("in.json", content)
        result = self.keel("session", "import", path)
        self.assert_status(result, 0)
        self.assertIn("is taken or cannot be used", result.err)
        made = result.out.split()[0]
        self.assertNotEqual(made, json.loads(content)["id"])
        self.assertEqual(self.record(made)["messages"], json.loads(content)["messages"])

    def test_what_was_imported_is_whole(self):
        for form in ("json", "jsonl"):
            store = f"sqlite:{form}.db"
            self.assert_status(self.import_file(self.export(form).out, store=store), 0)
            self.assert_fine(self.keel("session", "verify", "--all", "--store", store))

    def test_a_name_can_be_given(self):
        self.assertEqual(self.imported(self.export("json").out, "--name", "mine")["name"], "mine")


# --- other programs ---

UUID = "11111111-2222-4333-8444-{:012d}".format


def claude_line(number, kind, content, parent=None, **more):
    message = {"role": kind, "content": content}
    message.update(more.pop("message", {}))
    return {"type": kind, "uuid": UUID(number), "parentUuid": parent and UUID(parent),
            "sessionId": UUID(0), "cwd": "/somewhere", "timestamp": f"2026-01-02T03:04:{number:02d}Z",
            "isSidechain": False, "message": message, **more}


def tool_use(number, **args):
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": args}


def tool_result(number, text):
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}",
            "content": [{"type": "text", "text": text}]}


def of_message(name):
    return {"message": {"id": name, "model": "claude-x", "usage": {"input_tokens": 3,
                                                                   "output_tokens": 4}}}


CLAUDE = [
    {"type": "file-history-snapshot", "messageId": UUID(1), "snapshot": {}},
    claude_line(1, "user", "list the files"),
    claude_line(2, "assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}], 1,
                **of_message("msg_a")),
    claude_line(3, "assistant", [{"type": "text", "text": "I will."}], 2, **of_message("msg_a")),
    claude_line(4, "assistant", [tool_use(1, command="ls")], 3, **of_message("msg_a")),
    claude_line(5, "assistant", [tool_use(2, command="pwd")], 4, **of_message("msg_a")),
    claude_line(6, "user", [tool_result(1, "a b c")], 4, toolUseResult={"stdout": "a b c"}),
    claude_line(7, "user", [tool_result(2, "/somewhere")], 5),
    claude_line(8, "assistant", [{"type": "text", "text": "An answer that was taken back."}], 7,
                **of_message("msg_b")),
    claude_line(9, "user", "<command>", 8, isMeta=True),
    claude_line(10, "user", "a subagent", None, isSidechain=True),
    claude_line(11, "assistant", [{"type": "text", "text": "Three files."}], 7,
                **of_message("msg_c")),
    claude_line(12, "user", "and now?", 11),
    claude_line(13, "assistant", [tool_use(3, command="sleep 9")], 12, **of_message("msg_d")),
]


def codex_line(kind, **payload):
    return {"timestamp": "2026-01-02T03:04:05.678Z", "type": kind, "payload": payload}


def item(kind, **members):
    return codex_line("response_item", **{"type": kind}, **members)


CODEX = [
    codex_line("session_meta", id=UUID(77), cwd="/somewhere", timestamp="2026-01-02T03:04:00Z",
               originator="codex_cli_rs", instructions=None),
    item("message", role="developer", content=[{"type": "input_text", "text": "Be good."}]),
    item("message", role="user", content=[
        {"type": "input_text", "text": "<environment_context>...</environment_context>"}]),
    codex_line("turn_context", cwd="/somewhere", model="gpt-x"),
    item("message", role="user", content=[{"type": "input_text", "text": "list the files"}]),
    codex_line("event_msg", type="user_message", message="list the files"),
    item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}],
         encrypted_content="gAAAA"),
    item("function_call", name="shell", call_id="call_1",
         arguments='{"command":["bash","-lc","ls"]}'),
    item("function_call_output", call_id="call_1", output="a b c"),
    item("custom_tool_call", name="apply_patch", call_id="call_2",
         input="*** Begin Patch\n*** End Patch", status="completed"),
    item("custom_tool_call_output", call_id="call_2", output="Done"),
    item("local_shell_call", call_id="call_3", status="completed",
         action={"type": "exec", "command": ["pwd"]}),
    item("web_search_call", status="completed", action={"type": "search", "query": "x"}),
    item("message", role="assistant", content=[{"type": "output_text", "text": "Three files."}]),
    item("message", role="user", content=[{"type": "input_text", "text": "and now?"}]),
    item("function_call", name="shell", call_id="call_4", arguments="not JSON"),
]


def talk(record):
    """A conversation in short: who said or called what."""
    lines = []
    for message in record["messages"]:
        for part in message["parts"]:
            kind = {"text": message["role"], "tool_call": "call", "tool_result": "result",
                    "reasoning": "thought"}.get(part["type"], part["type"])
            content = part.get("args") if kind == "call" else part.get("text") or "".join(
                piece["text"] for piece in part.get("content", []))
            lines.append(f"{kind} {content[:40]}")
    return lines


class Foreign(SessionTest):
    def test_a_transcript_of_claude_code_is_the_way_to_its_last_leaf(self):
        record = self.imported(CLAUDE)
        self.assertEqual(record["id"], UUID(0))
        self.assertEqual(record["cwd"], "/somewhere")
        self.assertEqual(record["model"], "claude-x")
        self.assertEqual(talk(record), [
            "user list the files", "thought Hm.", "assistant I will.", 'call {"command":"ls"}',
            'call {"command":"pwd"}', "result a b c", "result /somewhere",
            "assistant Three files.", "user and now?", 'call {"command":"sleep 9"}',
            "result The result of this call is not known: it"])
        self.assertEqual(len(record["messages"]), 8)
        self.assertEqual(record["history"][0]["timestamp"], "2026-01-02T03:04:01.000Z")

    def test_what_is_left_out_is_told_once_by_kind(self):
        err = self.import_file(CLAUDE).err
        for text in ("file-history-snapshot (1)", "lines of subagents (1)",
                     "lines of another branch (1)", "lines for the program itself (1)"):
            self.assertIn(text, err)
        err = self.import_file(CODEX, store="sqlite:codex.db").err
        self.assertIn("instructions of Codex (1)", err)
        self.assertIn("web_search_call (1)", err)

    def test_what_stood_before_a_summary_is_kept_for_the_person_only(self):
        boundary = {"type": "system", "subtype": "compact_boundary", "uuid": UUID(20),
                    "parentUuid": None, "logicalParentUuid": UUID(11), "sessionId": UUID(0),
                    "timestamp": "2026-01-02T03:05:00Z", "content": "Conversation compacted"}
        summary = claude_line(21, "user", "This session continues: three files.", 20,
                              isCompactSummary=True)
        after = claude_line(22, "assistant", [{"type": "text", "text": "I see."}], 21,
                            **of_message("msg_e"))
        record = self.imported(CLAUDE[:12] + [boundary, summary, after])
        self.assertEqual(talk(record), ["user This session continues: three files.",
                                        "assistant I see."])
        chat = [entry for entry in record["history"] if entry["category"] == "chat"]
        self.assertGreater(len(chat), 5)
        again = self.imported(json.dumps(record), store="sqlite:again.db")
        self.assertEqual(talk(again), talk(record))
        self.assertEqual(again["messages"], record["messages"])

    def test_a_rollout_of_codex_is_read(self):
        record = self.imported(CODEX)
        self.assertEqual(record["id"], UUID(77))
        self.assertEqual(record["model"], "gpt-x")
        self.assertEqual(talk(record), [
            "user list the files", "thought Hm.", 'call {"command":["bash","-lc","ls"]}',
            "result a b c", "call *** Begin Patch\n*** End Patch", "result Done",
            'call {"type":"exec","command":["pwd"]}', "assistant Three files.",
            "result The result of this call is not known: it", "user and now?", "call {}",
            "result The result of this call is not known: it"])

    @for_each_protocol
    def test_what_was_imported_can_be_gone_on_with(self, protocol):
        for lines, session in ((CLAUDE, UUID(0)), (CODEX, UUID(77))):
            store = f"sqlite:{protocol.name}-{session}.db"
            self.assert_status(self.import_file(lines, store=store), 0)
            provider = self.play(protocol, Turn("Well."))
            result = self.run_agent(protocol, provider, "-r", session, "--store", store, "go on")
            self.assert_status(result, 0)
            self.assertEqual(result.out, "Well.\n")
            self.assert_taken(protocol, provider)
            self.assertIn("list the files", "\n".join(Reader(protocol, provider.requests[0]).lines))

    def test_thoughts_that_were_made_elsewhere_go_back_to_nobody(self):
        for name in ("anthropic-messages", "openai-responses"):
            protocol, store = BY_NAME[name], f"sqlite:{name}.db"
            self.assert_status(self.import_file(CLAUDE, store=store), 0)
            provider = self.play(protocol, Turn("Well."))
            self.run_agent(protocol, provider, "-r", UUID(0), "--store", store, "go on")
            self.assertNotIn(b"c2ln", provider.requests[0].body, name)

    def test_a_credential_in_it_is_taken_out(self):
        lines = [claude_line(1, "user", f"my key is {LATER}"),
                 claude_line(2, "assistant", [{"type": "text", "text": "ok"}], 1,
                             **of_message("msg_a"))]
        result = self.import_file(lines, env={"OPENAI_API_KEY": LATER})
        self.assertIn("the value of OPENAI_API_KEY was removed", result.err)
        self.assertEqual(talk(self.record(UUID(0), "--store", "sqlite:other.db"))[0],
                         "user my key is [REDACTED]")


# --- records and logs of the kind ---

RECORD = {
    "id": "session_1700000000000_abc123xyz", "cwd": "/somewhere", "name": "old one",
    "createdAt": "2026-01-02T03:04:05.000Z", "updatedAt": "2026-01-02T03:05:05.000Z",
    "messages": [
        {"id": "m0", "role": "system", "content": "You are somebody else.",
         "timestamp": "2026-01-02T03:04:05.000Z"},
        {"id": "m1", "role": "user", "content": "list", "timestamp": "2026-01-02T03:04:06.000Z"},
        {"id": "m2", "role": "assistant", "content": "", "timestamp": "2026-01-02T03:04:07.000Z",
         "toolCalls": [{"id": "c1", "type": "function",
                        "function": {"name": "Bash", "arguments": '{"command":"ls"}'}}]},
        {"id": "m3", "role": "tool", "content": "a b c", "toolCallId": "c1", "name": "Bash",
         "timestamp": "2026-01-02T03:04:08.000Z"},
        {"id": "m4", "role": "assistant", "content": "Three files.",
         "timestamp": "2026-01-02T03:04:09.000Z"},
    ],
}


def with_history(record):
    return {**record, "history": [
        {"id": message["id"], "timestamp": message["timestamp"], "category": "chat",
         "type": message["role"], "data": message} for message in record["messages"]] + [
        {"id": "e1", "timestamp": "2026-01-02T03:04:09.500Z", "category": "event",
         "type": "tool-summary", "data": {"toolSummaries": []}}]}


class Handles(SessionTest):
    """Names of stored results and commands in a history that came from a file."""
    STORE = "sqlite:other.db"

    def go_on(self, content, *calls):
        """Imports it and goes on; what each call gives back."""
        result = self.import_file(content, store=self.STORE)
        self.assert_status(result, 0)
        made, = result.json()
        provider = self.play(ANTHROPIC, *[Turn(call) for call in calls], Turn("Done."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "--store", self.STORE, "-r",
                                          made["id"], "go on"), 0)
        self.assert_fine(self.keel("session", "verify", made["id"], "--store", self.STORE))
        return [json.dumps(request.json["messages"][-1]) for request in provider.requests[1:]]

    def long_session(self):
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="seq 1 30000")), Turn("Long."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "count"), 0)
        self.assertIn('handle \\"out_1\\"', json.dumps(provider.requests[1].json))

    def test_a_stored_result_of_a_log_can_be_read_on(self):
        self.long_session()
        found, further = self.go_on(self.export("jsonl").out,
                                    Call("tool_output", handle="out_1", pattern="^29999$"),
                                    Call("Bash", command="seq 2 30000"))
        self.assertIn("29999", found)
        self.assertNotIn("There is no such handle", found)
        self.assertIn('handle \\"out_2\\"', further)

    def test_one_that_the_file_does_not_hold_says_so_and_its_name_is_not_given_again(self):
        self.long_session()
        found, further = self.go_on(self.export("json").out, Call("tool_output", handle="out_1"),
                                    Call("Bash", command="seq 2 30000"))
        self.assertIn("is not in the file that this session was imported from", found)
        self.assertIn('handle \\"out_2\\"', further)

    def test_a_command_of_another_program_keeps_its_number(self):
        lines = [claude_line(1, "user", "serve it"),
                 claude_line(2, "assistant", [tool_use(1, command="serve")], 1,
                             **of_message("msg_a")),
                 claude_line(3, "user", [tool_result(1, "running in background with ID: bash_3")], 2)]
        started, *_ = self.go_on(lines, Call("Bash", command="true", run_in_background=True))
        self.assertIn("bash_4", started)


class Names(SessionTest):
    def test_the_name_of_an_imported_session_is_cut(self):
        path = self.dir / "in.json"
        path.write_text(json.dumps({"name": "n" * 5_000_000, "messages": [
            {"role": "user", "content": "hi"}]}))
        self.assert_status(self.keel("session", "import", str(path)), 0)
        listed = self.keel("session", "list", "--all", "--json").json()
        self.assertEqual([len(s["name"]) for s in listed], [1024])


class Records(SessionTest):
    def test_a_record_without_a_history_gives_the_same_session_as_one_with_it(self):
        records = [self.imported(json.dumps(record), name="in.json", store=f"sqlite:{number}.db")
                   for number, record in enumerate((RECORD, with_history(RECORD), RECORD))]
        self.assertEqual(records[0], records[1])
        self.assertEqual(records[0], records[2])
        self.assertEqual(records[0]["id"], RECORD["id"])
        self.assertEqual(records[0]["systemPrompt"], "You are somebody else.")
        self.assertEqual(talk(records[0]), ["user list", 'call {"command":"ls"}', "result a b c",
                                            "assistant Three files."])

    def test_records_that_are_printed_over_several_lines_are_read(self):
        self.assertEqual(self.imported(json.dumps(RECORD, indent=2))["name"], "old one")

    def log_lines(self, message):
        def line(event, **members):
            return {"timestamp": "2026-01-02T03:04:05.000Z", "sessionId": RECORD["id"],
                    "event": event, **members}
        return [line("session_init", cwd="/somewhere", model="m", provider="p", systemPrompt="S"),
                line("history_mutation", mutation="append", message=RECORD["messages"][1]),
                line("history_mutation", mutation="append", message=message)]

    def payload(self, value, **changes):
        content = json.dumps(value)
        digest = hashlib.sha256(content.encode()).hexdigest()
        path = f"{RECORD['id']}.payloads/{digest}.json"
        self.write(path, content)
        return {"kind": "external-payload", "encoding": "json", "sha256": digest,
                "byteLength": len(content), "relativePath": path, **changes}

    def test_a_log_is_followed_to_its_payloads(self):
        record = self.imported(self.log_lines(self.payload(RECORD["messages"][4])))
        self.assertEqual(talk(record), ["user list", "assistant Three files."])
        self.assertEqual((record["cwd"], record["model"]), ("/somewhere", "m"))

    def test_a_payload_that_has_changed_or_lies_elsewhere_is_refused(self):
        reference = self.payload(RECORD["messages"][4])
        pathlib.Path(self.dir / reference["relativePath"]).write_text('{"role":"user"}')
        for bad in (reference, {**reference, "relativePath": "../../etc/passwd"},
                    {**reference, "relativePath": "/etc/passwd"}):
            result = self.import_file(self.log_lines(bad))
            self.assert_status(result, 2)
            self.assertIn("in.jsonl:3: ", result.err)

    def test_a_payload_of_another_length_than_the_log_says_is_refused(self):
        good = self.payload(RECORD["messages"][4])
        for length in (0, good["byteLength"] - 1, good["byteLength"] + 1):
            result = self.import_file(self.log_lines({**good, "byteLength": length}))
            self.assert_status(result, 2)
            self.assertIn(f"bytes instead of {length}", result.err)

    def test_lines_that_cannot_be_read_are_named_and_nothing_is_made(self):
        lines = [json.dumps(line) for line in CLAUDE]
        content = "\n".join(lines[:3] + ["{broken"] + lines[3:] + ["[1]"]) + "\n"
        result = self.import_file(content)
        self.assert_status(result, 2)
        for text in ("in.jsonl:4: not valid JSON", "in.jsonl:16: expected a JSON object, got array",
                     "cannot read 2 lines; nothing was imported", "--partial"):
            self.assertIn(text, result.err)
        self.assert_refused(self.keel("session", "list", "--all", "--store", "sqlite:other.db"), 2,
                            "does not exist")
        self.assertEqual(len(self.imported(content, "--partial")["messages"]), 8)

    def test_a_last_line_that_was_cut_off_is_left_out_and_told(self):
        content = "\n".join(json.dumps(line) for line in CLAUDE) + '\n{"type":"user","mess'
        result = self.import_file(content)
        self.assert_status(result, 0)
        self.assertIn("a last line that was cut off (1)", result.err)

    def test_what_is_no_session_is_refused(self):
        for content in ("", "hello", "{}", "[]", '{"messages":[]}', '{"a":1}\n{"b":2}\n'):
            result = self.import_file(content)
            self.assert_status(result, 2)
            self.assertIn("in.jsonl", result.err, content)
        self.assert_refused(self.keel("session", "import", "/nowhere.json"), 2, "/nowhere.json")
        self.assert_refused(self.keel("session", "import"), 2, "one file or more")

    def test_one_bad_file_does_not_keep_the_others_out(self):
        bad, good = self.write("bad.json", "hello"), self.write("good.json", RECORD)
        result = self.keel("session", "import", bad, good, "--store", "sqlite:other.db")
        self.assert_status(result, 2)
        self.assertRegex(result.err, "bad.json is not a session file that keel can read")
        self.assertIn(RECORD["id"], result.out)


if __name__ == "__main__":
    scripted.main()
