"""virtual_test.py - file systems that store nothing (proc, sysfs, ...) in the workspace: they are no
part of an undo, also where the whole file system is the workspace."""
import os
import shutil
import subprocess

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC, keel_test

IS_ROOT = os.geteuid() == 0
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
# keel sees a mount at the first argument, and nobody else does.
WITH_PROC = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0" && exec "$@"']


class VirtualTest(AgentTest):
    prefix = []
    workspace = None

    def start(self, *arguments, env=None, cwd=None, **streams):
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        if IS_ROOT:
            owner = "65534:65534" if AS_USER[0] in self.prefix else "0:0"
            subprocess.run(["chown", "-hR", owner, str(self.dir)], check=True)
        return subprocess.Popen([*self.prefix, keel_test.KEEL, *arguments],
                                env=self.environment(env), cwd=cwd or self.workspace or self.project,
                                **streams)

    def run_turns(self, *calls):
        provider = self.play(ANTHROPIC, *map(Turn, calls), Turn("Done."))
        result = self.run_agent(ANTHROPIC, provider, "go")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "Done.\n")
        return result

    def paths(self):
        """What was recorded of the last session."""
        result = self.keel("session", "export", "--format", "jsonl")
        self.assert_status(result, 0)
        events = [scripted.json.loads(line) for line in result.out.splitlines()]
        return {event["path"] for event in events if event.get("event") == "pre_image"}

    def users(self):
        """As whom it is tried."""
        yield []
        if IS_ROOT and shutil.which("setpriv"):
            yield AS_USER


class TheWholeFileSystem(VirtualTest):
    workspace = "/"

    def test_only_files_that_tools_write_are_recorded_and_restored(self):
        file = self.project / "file"
        for self.prefix in self.users():
            with self.subTest(self.prefix):
                result = self.run_turns(Call("Bash", command="touch made"),
                                        Call("Write", file_path=str(file), content="two\n"))
                self.assertEqual(result.err, "keel: a command did not run: the workspace is the "
                                 "whole file system; start keel in a project directory\n")
                self.assertEqual(file.read_text(), "two\n")
                result = self.keel("session", "rewind", "--yes")
                self.assert_status(result, 0)
                self.assertFalse(file.exists())


class ProcInTheWorkspace(VirtualTest):
    def test_is_no_part_of_what_a_command_has_changed(self):
        place, file = self.project / "proc", self.project / "file"
        place.mkdir()
        for user in self.users():
            self.prefix = [*WITH_PROC, str(place), *user]
            if subprocess.run([*self.prefix, "true"], stderr=subprocess.DEVNULL,
                              check=False).returncode:
                self.skipTest("only root can mount")
            with self.subTest(user):
                file.write_text("one\n")
                look = '[ -z "$(ls proc)" ] && echo two >file'
                result = self.run_turns(Call("Bash", command=look),
                                        Call("Bash", command="ln file other && rm other"))
                self.assertEqual(result.err, "")
                self.assertEqual(self.paths(), {str(file)})
                result = self.keel("session", "rewind", "--yes")
                self.assert_status(result, 0)
                self.assertEqual(file.read_text(), "one\n")


if __name__ == "__main__":
    scripted.keel_test.main()
