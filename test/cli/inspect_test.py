"""inspect_test.py - keel inspect over public vectors, real directories and broken input."""
import json
import re
import subprocess

import keel_test
from keel_test import KeelTest, at_once, vectors


class Json(KeelTest):
    def run_vectors(self, kind):
        paths = sorted(vectors("json-parsing").glob(f"{kind}_*.json"))
        self.assertTrue(paths)
        return at_once(lambda path: (path, self.keel("inspect", "json", str(path))), paths)

    def test_every_valid_text_is_accepted_and_means_the_same_afterwards(self):
        for path, result in self.run_vectors("y"):
            self.assert_fine(result)
            self.assertEqual(result.out.count("\n"), 1, path.name)
            self.assertEqual(result.json(), json.loads(path.read_bytes()), path.name)

    def test_every_invalid_text_is_refused_with_its_place(self):
        for path, result in self.run_vectors("n"):
            self.assert_status(result, 1)
            self.assertEqual(result.out, "", path.name)
            self.assertRegex(result.err, rf"\A{re.escape(str(path))}:\d+:\d+: \S.*\n\Z")

    def test_what_the_standard_leaves_open_is_accepted_or_refused(self):
        for path, result in self.run_vectors("i"):
            self.assertIn(result.status, (0, 1), result)
            self.assertEqual(result.status == 0, result.out != "", path.name)

    def test_an_error_names_line_and_column(self):
        path = self.write("bad.json", '{\n  "a": 1,\n  "b": tru\n}\n')
        self.assertRegex(self.keel("inspect", "json", path).err, rf"\A{path}:3:\d+: ")

    def test_members_keep_their_order_and_numbers_their_digits(self):
        text = b'{"z": 1.10, "a": 12345678901234567890123, "m": [-0, 1E400]}'
        self.assertEqual(self.keel("inspect", "json", "-", stdin=text).out,
                         '{"z":1.10,"a":12345678901234567890123,"m":[-0,1E400]}\n')


class Sse(KeelTest):
    def test_the_web_platform_tests_give_their_events_however_they_are_cut(self):
        cases = json.loads(vectors("sse-wpt.json").read_text())["cases"]
        self.assertTrue(cases)

        def check(case):
            body = bytes.fromhex(case["body_hex"])
            want = [{key: event[key] for key in ("type", "data", "lastEventId")}
                    for event in case["events"]]
            for chunk in ([], ["--chunk", "1"], ["--chunk", "2"], ["--chunk", "3"]):
                result = self.keel("inspect", "sse", *chunk, "-", stdin=body)
                self.assert_fine(result)
                events = [json.loads(line) for line in result.out.splitlines()]
                self.assertEqual(events, want, f"{case['name']} {chunk}")

        at_once(check, cases)

    def test_short_events_make_long_output_and_none_is_lost(self):
        n_events, name = 70_000, b"x" * 1000  # which is printed with every event: 70 MB
        stream = b"id: " + name + b"\n" + b"data\n\n" * n_events
        result = self.keel("inspect", "sse", "-", stdin=stream)
        self.assert_fine(result)
        self.assertEqual(result.raw.count(name + b'"}\n'), n_events)

    def test_nothing_in_gives_nothing_out(self):
        result = self.keel("inspect", "sse", "-", stdin=b"")
        self.assert_fine(result)
        self.assertEqual(result.out, "")


class Glob(KeelTest):
    @staticmethod
    def flags(options):
        given = {("casei", "true"): "--nocase", ("litsep", "true"): "--literal-separator",
                 ("bsesc", "false"): "--no-escape", ("ealtre", "true"): "--empty-alternates"}
        return [flag for (name, value), flag in given.items() if options.get(name) == value]

    @staticmethod
    def is_for_windows(case):
        """Where a backslash separates directories; two contradict the Unix case of their name."""
        return ((case["name"] == "matchslash2" and case["path"] == "abc\\def")
                or (case["name"] == "matchslash5" and case["match"])
                or case["name"] == "matchbackslash8")

    def test_the_vectors_of_globset_agree(self):
        cases = json.loads(vectors("glob-globset.json").read_text())["cases"]
        on_unix = [case for case in cases if not self.is_for_windows(case)]
        self.assertEqual(len(cases) - len(on_unix), 3)

        def check(case):
            result = self.keel("inspect", "glob", *self.flags(case["options"]), "--",
                               case["pattern"], case["path"])
            self.assert_fine(result)
            word = "yes" if case["match"] else "no"
            self.assertEqual(result.out, f"{word} {case['path']}\n", case)

        at_once(check, on_unix)

    def test_each_path_gets_a_line(self):
        result = self.keel("inspect", "glob", "src/**/*.{c,h}", "src/base/json.c", "src/x.o",
                           "src/main.h")
        self.assert_fine(result)
        self.assertEqual(result.out, "yes src/base/json.c\nno src/x.o\nyes src/main.h\n")

    def test_a_pattern_that_is_not_valid_is_explained(self):
        self.assert_refused(self.keel("inspect", "glob", "*.c"), 2, "a PATTERN and PATHs")
        self.assert_refused(self.keel("inspect", "ignore", "."), 2, "a DIR and PATHs")
        self.assert_refused(self.keel("inspect", "glob", "a[", "a"), 2,
                            "'[' is not closed at byte 2")


class Ignore(KeelTest):
    def ignored(self, directory, *paths):
        result = self.keel("inspect", "ignore", str(directory), *paths)
        self.assert_fine(result)
        lines = result.out.splitlines()
        self.assertEqual([line.split(" ", 1)[1] for line in lines], list(paths))
        return [path for line, path in zip(lines, paths) if line.startswith("yes ")]

    def test_the_vectors_of_ripgrep_agree(self):
        cases = json.loads(vectors("gitignore-ripgrep.json").read_text())["cases"]
        self.assertTrue(cases)

        def check(numbered):
            number, case = numbered
            # an absolute root is the repository; a relative one is a directory below it
            below = "" if case["root"].startswith("/") else case["root"]
            top = f"case{number}"
            self.write(f"{top}/{below}/.gitignore", case["gitignore"])
            path = case["path"] + ("/" if case["is_dir"] else "")
            is_ignored = bool(self.ignored(self.dir / top, path))
            self.assertEqual(is_ignored, case["ignored"], case)

        at_once(check, list(enumerate(cases)))

    def test_a_real_repository_is_read_as_git_reads_it(self):
        top = self.dir / "repository"
        files = {".gitignore": "*.o\n/build/\n!keep.o\ndoc/*.html\n# note\nfoo\\ \n",
                 "src/.gitignore": "generated_*\n!generated_by_hand.c\n",
                 ".git/info/exclude": "private\n"}
        paths = ["a.o", "keep.o", "build/x.c", "src/build/x.c", "src/a.o", "src/generated_1.c",
                 "src/generated_by_hand.c", "generated_1.c", "doc/index.html", "doc/sub/i.html",
                 "private", "src/private/deep.c", "foo ", "# note", "README"]
        subprocess.run(["git", "init", "-q", str(top)], check=True, env=self.environment())
        for name, text in files.items():
            self.write(f"repository/{name}", text)
        for name in paths:
            self.write(f"repository/{name}", "")
        git = subprocess.run(["git", "check-ignore", "-z", "--stdin"], cwd=top, text=True,
                             input="\0".join(paths), capture_output=True, check=False,
                             env=self.environment())
        said_by_git = [path for path in git.stdout.split("\0") if path]
        self.assertTrue(said_by_git)
        self.assertEqual(self.ignored(top, *paths), said_by_git)

    def test_what_is_no_directory_is_refused(self):
        self.assert_refused(self.keel("inspect", "ignore", "nowhere", "x"), 2,
                            "nowhere is not a directory")


class Schema(KeelTest):
    def remotes(self):
        top = vectors("json-schema-remotes")
        found = sorted(top.glob("*.json")) + sorted((top / "draft2020-12").rglob("*.json"))
        return [word for path in found for word in
                ("--remote", f"http://localhost:1234/{path.relative_to(top)}={path}")]

    # Those that refer to other documents are run whole. Of the others a fitting and a failing
    # instance each: the unit test runs all of them, and does not start a program for it.
    referring = {"anchor", "defs", "dynamicRef", "ref", "refRemote", "vocabulary"}

    def suite(self):
        """(name, schema file, test) of the required suite."""
        for path in sorted(vectors("json-schema-2020-12").glob("*.json")):
            wanted = {True, False}
            for i, group in enumerate(json.loads(path.read_text())):
                schema = self.write(f"suite/{path.stem}/{i}.json", group["schema"])
                for test in group["tests"]:
                    if path.stem in self.referring or test["valid"] in wanted:
                        wanted -= {test["valid"]}
                        yield path.stem, schema, test

    def test_the_required_suite_of_2020_12_gives_its_answers(self):
        remotes = self.remotes()
        jobs = list(self.suite())
        self.assertGreater(len(jobs), 200)

        def check(job):
            name, schema, test = job
            given = remotes if name in self.referring else []
            instance = json.dumps(test["data"]).encode()
            result = self.keel("inspect", "schema", *given, schema, "-", stdin=instance)
            why = f"{name}: {test['description']}\n{result}"
            self.assertEqual(result.status, 0 if test["valid"] else 1, why)
            self.assertEqual(result.err, "", why)
            report = result.json()
            self.assertEqual(report["valid"], test["valid"], why)
            self.assertEqual(bool(report["errors"]), not test["valid"], why)

        at_once(check, jobs)

    def test_each_error_names_the_place_in_the_instance(self):
        schema = self.write("s.json", {"properties": {"a": {"items": {"type": "integer"}}},
                                       "required": ["b"]})
        result = self.keel("inspect", "schema", schema, self.write("i.json", {"a": [1, "x"]}))
        self.assert_status(result, 1)
        self.assertEqual(result.err, "")
        self.assertIn("/a/1", [error["path"] for error in result.json()["errors"]])
        self.assertEqual(len(result.json()["errors"]), 2)

    def test_a_schema_that_is_none_is_refused(self):
        good = self.write("good.json", {})
        bad = self.write("bad.json", {"type": "strnig"})
        torn = self.write("torn.json", '{"type": ')
        self.assert_refused(self.keel("inspect", "schema", bad, good), 2, "type")
        self.assert_refused(self.keel("inspect", "schema", torn, good), 2, torn, "line 1")
        self.assert_refused(self.keel("inspect", "schema", good, torn), 2, torn, "line 1")

    def test_nothing_is_fetched(self):
        schema = self.write("s.json", {"$ref": "http://127.0.0.1:9/other.json"})
        value = self.write("i.json", "1")
        self.assert_refused(self.keel("inspect", "schema", schema, value), 2,
                            "http://127.0.0.1:9/other.json")
        other = self.write("other.json", {"type": "string"})
        result = self.keel("inspect", "schema", "--remote",
                           f"http://127.0.0.1:9/other.json={other}", schema, value)
        self.assert_status(result, 1)

    def test_a_remote_needs_a_uri_and_a_file(self):
        self.assert_refused(self.keel("inspect", "schema", "--remote", "x", "a", "b"), 2,
                            'URI=FILE, not "x"')


class Decode(KeelTest):
    answer = (b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'
              b'data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n'
              b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n'
              b"data: [DONE]\n\n")

    def decode(self, *options, stdin=None):
        return self.keel("inspect", "decode", "--api", "openai-chat", *options, "-",
                         stdin=self.answer if stdin is None else stdin)

    def test_an_answer_is_one_object_however_it_is_cut(self):
        whole = self.decode()
        self.assert_fine(whole)
        value = whole.json()
        self.assertEqual(value["text"], "Hello")
        self.assertEqual((value["stop_reason"], value["error"]), ("stop", None))
        self.assertEqual((value["usage"]["input"], value["usage"]["output"]), (3, 2))
        for chunk in ("1", "2", "7", "1000000"):
            self.assertEqual(self.decode("--chunk", chunk).out, whole.out)

    def test_a_torn_answer_keeps_its_text_and_says_that_it_is_torn(self):
        value = self.decode(stdin=self.answer[:70]).json()
        self.assertEqual(value["text"], "Hel")
        self.assertEqual(value["error"]["code"], "network")
        self.assertTrue(value["error"]["retryable"])

    def test_a_refusal_is_classified_by_its_status_and_headers(self):
        headers = self.write("headers.json", {"Retry-After": "7"})
        body = b'{"error":{"message":"slow down","type":"rate_limit"}}'
        error = self.decode("--status", "429", "--headers", headers, stdin=body).json()["error"]
        self.assertEqual(error["code"], "provider_rate_limit")
        self.assertEqual(error["retry_after_ms"], 7000)
        self.assertIn("slow down", error["message"])

    def test_every_protocol_has_a_name(self):
        for name in ("anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama"):
            result = self.keel("inspect", "decode", "--api", name, "-", stdin=b"")
            self.assert_fine(result)
            self.assertEqual(result.json()["error"]["code"], "network", name)

    def test_a_protocol_must_be_named(self):
        for options in ((), ("--api", "chat")):
            self.assert_refused(self.keel("inspect", "decode", *options, "x"), 2, "--api",
                                "anthropic-messages, openai-chat", "gemini or ollama")

    def test_headers_are_one_object_of_strings(self):
        for text, complaint in (("[]", "one JSON object"), ("{", "line 1"), ('{"a": 1}', '"a"')):
            path = self.write("headers.json", text)
            self.assert_refused(self.decode("--headers", path), 2, path, complaint)
        self.assert_refused(self.decode("--headers", "nowhere"), 2, "cannot read nowhere")

    def test_a_status_is_three_digits(self):
        for status in ("99", "600", "ok"):
            self.assert_refused(self.decode("--status", status), 2,
                                f'--status takes a number from 100 to 599, not "{status}"')

    def test_it_takes_one_file(self):
        for files in ((), ("a", "b")):
            self.assert_refused(self.keel("inspect", "decode", "--api", "gemini", *files), 2,
                                "one FILE")


if __name__ == "__main__":
    keel_test.main()
