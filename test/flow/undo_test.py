"""undo_test.py - what an agent does to files over HTTP, taken back from what was saved before."""
import base64
import contextlib
import hashlib
import json
import sqlite3

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC


def describe(top):
    found = {}
    for path in sorted(top.rglob("*")):
        name = path.relative_to(top)
        if path.is_symlink():
            found[name] = ("link", path.readlink())
        elif path.is_dir():
            found[name] = ("directory", path.stat().st_mode)
        else:
            found[name] = (path.read_bytes(), path.stat().st_mode)
    return found


class Undo(AgentTest):
    def setUp(self):
        super().setUp()
        self.work = self.project / "work"
        (self.work / "src/deep").mkdir(parents=True)
        (self.work / "src/main.c").write_text("int main(void) { return 0; }\n")
        (self.work / "src/deep/data.bin").write_bytes(bytes(range(256)))
        (self.work / "src/empty").write_text("")
        (self.work / "src/link").symlink_to("main.c")
        (self.work / "notes.txt").write_text("one\ntwo\n")
        (self.work / "run.sh").write_text("#!/bin/sh\n")
        (self.work / "run.sh").chmod(0o755)
        self.contents = [path.read_bytes() for path in self.work.rglob("*")
                         if path.is_file() and not path.is_symlink()]

    def saved_content(self, handle):
        """From its blob, or from the record that holds it."""
        blob = self.keel_home / "blobs" / handle[:2] / handle
        data = blob.read_bytes() if blob.exists() else self.short_contents()[handle]
        self.assertEqual(hashlib.sha256(data).hexdigest(), handle)
        return data

    def short_contents(self):
        with contextlib.closing(sqlite3.connect(self.keel_home / "keel.db")) as db:
            images = [json.loads(row[0]) for row in
                      db.execute("select body from journal where type = 'pre_image'")]
        return {image["content"]: base64.b64decode(image["bytes"])
                for image in images if "bytes" in image}

    def run_turns(self, *turns):
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, *turns), "go", cwd=self.work)
        self.assert_status(result, 0)
        return result

    def test_a_tree_that_a_command_removed_was_saved_before_byte_for_byte(self):
        self.run_turns(Turn(Call("Bash", command="rm -rf src notes.txt run.sh")), Turn("Gone."))
        self.assertEqual(describe(self.work), {})
        for content in self.contents:
            self.assertEqual(self.saved_content(hashlib.sha256(content).hexdigest()), content)

    def test_what_an_edit_and_a_write_replaced_was_saved(self):
        old = (self.work / "notes.txt").read_bytes()
        self.run_turns(
            Turn(Call("Read", file_path="notes.txt")),
            Turn(Call("Edit", file_path="notes.txt", old_string="two", new_string="2")),
            Turn(Call("Write", file_path="notes.txt", content="other\n")),
            Turn("Done."))
        self.assertEqual(self.saved_content(hashlib.sha256(old).hexdigest()), old)
        between = old.replace(b"two", b"2")
        self.assertEqual(self.saved_content(hashlib.sha256(between).hexdigest()), between)

    def test_what_a_notebook_edit_replaced_was_saved_and_comes_back(self):
        notebook = self.work / "n.ipynb"
        notebook.write_text('{"cells": [{"cell_type": "raw", "metadata": {}, "source": "old"}]}')
        old = notebook.read_bytes()
        self.run_turns(
            Turn(Call("Read", file_path="n.ipynb")),
            Turn(Call("NotebookEdit", notebook_path="n.ipynb", cell_number="0", new_source="new")),
            Turn("Done."))
        self.assertIn(b'"source": "new"', notebook.read_bytes())
        self.assertEqual(self.saved_content(hashlib.sha256(old).hexdigest()), old)

    def saved(self):
        """Which contents of the workspace's files were saved."""
        saved = [path.read_bytes() for path in self.keel_home.glob("blobs/*/*")]
        saved += self.short_contents().values()
        return [content for content in self.contents if content in saved]

    def test_commands_that_only_read_save_nothing(self):
        self.run_turns(Turn(Call("Bash", command="ls && cat notes.txt | wc -l")),
                       Turn(Call("Bash", command="sh -c 'cat src/main.c'")), Turn("Two."))
        self.assertEqual(self.saved(), [])
        self.assertFalse((self.keel_home / "undo").exists())

    def test_a_command_costs_what_it_writes(self):
        self.run_turns(Turn(Call("Bash", command="echo three >> notes.txt; echo x > new")),
                       Turn("Done."))
        self.assertEqual(self.saved(), [b"one\ntwo\n"])

    def test_no_undo_log_is_left_behind(self):
        self.run_turns(Turn(Call("Bash", command="echo 1 >> notes.txt")),
                       Turn(Call("Bash", command="echo 2 >> notes.txt")), Turn("Done."))
        self.assertEqual(list((self.keel_home / "undo").iterdir()), [])

    def test_a_command_outside_of_the_sandbox_is_told_once(self):
        self.user_settings({"sandbox": {"enabled": False}})
        result = self.run_turns(Turn(Call("Bash", command="touch a")),
                                Turn(Call("Bash", command="touch b")), Turn("Done."))
        self.assertEqual(result.err.count("Changes by commands cannot be undone"), 1, result)

    def test_it_can_be_switched_off(self):
        self.user_settings({"snapshot": {"enabled": False}})
        self.run_turns(Turn(Call("Bash", command="rm -rf src")), Turn("Done."))
        self.assertEqual(self.saved(), [])
        self.assertFalse((self.keel_home / "undo").exists())

    def test_a_limit_of_nothing_is_refused(self):
        self.user_settings({"snapshot": {"maxBytes": 0}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Hi.")), "go")
        self.assert_refused(result, 2, "snapshot.maxBytes")


if __name__ == "__main__":
    scripted.main()
