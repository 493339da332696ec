"""undo_test.py - what an agent does to files over HTTP, taken back from what was saved before."""
import hashlib
import pathlib

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

    def blob(self, handle):
        data = (self.keel_home / "blobs" / handle[:2] / handle).read_bytes()
        self.assertEqual(hashlib.sha256(data).hexdigest(), handle)
        return data

    def manifest(self):
        """What is known of the workspace: the list that was stored before the first command."""
        [known] = (self.keel_home / "snapshots").iterdir()
        text = self.blob(known.read_text().split()[0])
        head, *records = text.rstrip(b"\0").split(b"\0")
        self.assertEqual(head, b"keel-tree 1 -")
        for record in records:
            fields, path = record.split(b"\t", 1)
            kind, mode, handle = fields.decode().split()[:3]
            yield pathlib.Path(path.decode()), kind, int(mode, 8), handle

    def put_back(self, top):
        for path, kind, mode, handle in self.manifest():
            target = top / path.relative_to(self.work.resolve())
            if kind == "directory":
                target.mkdir(parents=True, exist_ok=True)
            elif kind == "link":
                target.symlink_to(self.blob(handle).decode())
                continue
            else:
                target.write_bytes(self.blob(handle))
            target.chmod(mode)

    def run_turns(self, *turns):
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, *turns), "go", cwd=self.work)
        self.assert_status(result, 0)
        return result

    def test_a_tree_that_a_command_removed_was_saved_before_byte_for_byte(self):
        before = describe(self.work)
        self.run_turns(Turn(Call("Bash", command="rm -rf src notes.txt run.sh")), Turn("Gone."))
        self.assertEqual(describe(self.work), {})
        copy = self.project / "copy"
        copy.mkdir()
        self.put_back(copy)
        self.assertEqual(describe(copy), before)

    def test_what_an_edit_and_a_write_replaced_was_saved(self):
        old = (self.work / "notes.txt").read_bytes()
        self.run_turns(
            Turn(Call("Read", file_path="notes.txt")),
            Turn(Call("Edit", file_path="notes.txt", old_string="two", new_string="2")),
            Turn(Call("Write", file_path="notes.txt", content="other\n")),
            Turn("Done."))
        self.assertEqual(self.blob(hashlib.sha256(old).hexdigest()), old)
        between = old.replace(b"two", b"2")
        self.assertEqual(self.blob(hashlib.sha256(between).hexdigest()), between)

    def test_commands_that_only_read_save_nothing(self):
        self.run_turns(Turn(Call("Bash", command="ls && cat notes.txt | wc -l")), Turn("Two."))
        self.assertEqual(list(self.keel_home.glob("snapshots")), [])

    def test_a_workspace_that_is_too_large_is_told_once(self):
        self.user_settings({"snapshot": {"maxFiles": 2}})
        result = self.run_turns(Turn(Call("Bash", command="touch a")),
                                Turn(Call("Bash", command="touch b")), Turn("Done."))
        self.assertEqual(result.err.count("snapshot.maxFiles"), 1, result)

    def test_it_can_be_switched_off(self):
        self.user_settings({"snapshot": {"enabled": False}})
        self.run_turns(Turn(Call("Bash", command="rm -rf src")), Turn("Done."))
        self.assertEqual(list(self.keel_home.glob("snapshots")), [])

    def test_a_limit_of_nothing_is_refused(self):
        self.user_settings({"snapshot": {"maxFiles": 0}})
        result = self.run_agent(ANTHROPIC, self.play(ANTHROPIC, Turn("Hi.")), "go")
        self.assert_refused(result, 2, "snapshot.maxFiles")


if __name__ == "__main__":
    scripted.main()
