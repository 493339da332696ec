"""undo_in_part_test.py - a rewind is complete, or says what is not and ends with 1: files that are too
large, what git ignores, repositories, a workspace that is closed. As root and as an ordinary user,
with namespaces and with Landlock alone."""
import json
import os

import scripted
from resume_test import SessionTest
from undone_commands import NOBODY, WITHOUT_NAMESPACES, UndoneCommands, describe

# A repository as git makes one, by hand: without namespaces git cannot.
REPOSITORY = "mkdir -p {0}/.git/objects {0}/.git/refs; echo 'ref: refs/heads/main' > {0}/.git/HEAD"


class InPart(UndoneCommands):
    def prepare_ignored(self):
        self.own()
        self.prepare(REPOSITORY.format(".") + "; printf 'build/\\nout\\n*.db\\n' > .gitignore; "
                     "mkdir build; echo 1 > build/made; echo data > local.db")

    def prepare_large(self):
        self.user_settings({"snapshot": {"maxFileBytes": 1000}})
        self.own()
        self.prepare("head -c 2000 /dev/urandom > large; head -c 2000 /dev/urandom > d/second")

    # --- too large to be saved ---

    def test_a_large_file_that_is_only_moved_comes_back(self):
        for command in ("mv large moved", "mv large src/large; mv d e",
                        "mv large t; mv d/second large; mv t d/second", "mv notes.txt t; mv large notes.txt",
                        "chmod 600 large; ln large l; rm large", "mkdir new; mv large new; mv new d"):
            with self.subTest(command):
                self.session = self.new_id()
                self.prepare_large()
                was = describe(self.work)
                result = self.bash(command)
                self.assertNotIn("cannot be undone", result.err)
                self.assertNotEqual(describe(self.work), was)
                self.rewind()
                self.assertEqual(describe(self.work), was)

    def test_a_large_file_is_moved_there_and_back_by_rewinds(self):
        self.prepare_large()
        was = describe(self.work)
        self.bash("mv large moved; mv d e")
        after = describe(self.work)
        self.rewind()
        self.assertEqual(describe(self.work), was)
        result = self.keel("session", "rewind", self.session, "--yes", "--to", "2", cwd=self.work)
        self.assert_status(result, 0)
        self.assertEqual(describe(self.work), after)

    def test_a_large_file_that_is_moved_and_changed_is_moved_back_and_told(self):
        self.prepare_large()
        content = (self.work / "large").read_bytes()
        self.bash("mv large moved; echo more >> moved")
        result = self.rewind(1)
        self.assertIn("large: it is back, but its content has changed and was not saved", result.err)
        self.assertEqual((self.work / "large").read_bytes(), content + b"more\n")
        self.assertFalse((self.work / "moved").exists())

    def test_a_large_file_that_is_overwritten_is_told_and_the_rest_comes_back(self):
        self.prepare_large()
        result = self.bash("mv notes.txt large; rm d/second")
        self.assertIn("This change cannot be undone", result.err)
        result = self.rewind(1)
        self.assertIn("cannot   large: it is larger than snapshot.maxFileBytes allows", result.out)
        self.assertIn("cannot   d/second: it is larger than", result.out)
        self.assertEqual((self.work / "notes.txt").read_text(), "this is notes.txt\n")
        self.assertEqual((self.work / "large").read_text(), "this is notes.txt\n")

    def test_more_than_a_command_may_change_comes_back_when_it_is_only_moved(self):
        self.user_settings({"snapshot": {"maxBytes": 30}})
        self.own()
        was = describe(self.work)
        self.bash("mv src lib; mv d src; mv run.sh notes.txt link src")
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_a_large_file_that_is_moved_where_git_ignores_it_comes_back(self):
        self.prepare_large()
        self.prepare_ignored()
        was = describe(self.work)
        self.bash("mv large build/large")
        result = self.rewind(1)  # keel cannot know that nothing else has changed there
        self.assertIn("leave    build: git ignores it", result.out)
        self.assertEqual(describe(self.work), was)

    def test_a_pipe_that_is_moved_comes_back(self):
        self.own()
        self.prepare("mkfifo pipe")
        was = describe(self.work)
        self.bash("mv pipe p; rm notes.txt")
        self.rewind()
        self.assertEqual(describe(self.work), was)

    # --- what git ignores ---

    def test_a_directory_that_git_ignores_stays_and_is_told(self):
        self.prepare_ignored()
        result = self.bash("echo 2 > build/made; echo x > notes.txt; mkdir out; echo y > out/y")
        self.assertNotIn("undone", result.err)
        for arguments in (["--dry-run"], []):
            result = self.rewind(1, *arguments)
            self.assertIn("leave    build: git ignores it, so changes by commands are not "
                          "saved", result.out)
            self.assertIn("leave    out: git ignores it", result.out)
        self.assertIn("2 paths were left alone", result.err)
        self.assertNotIn("--force", result.err)
        self.assertEqual((self.work / "build/made").read_text(), "2\n")
        self.assertEqual((self.work / "notes.txt").read_text(), "this is notes.txt\n")

    def test_programs_are_told_of_it(self):
        self.prepare_ignored()
        self.bash("rm -r build; rm notes.txt")
        told = json.loads(self.rewind(1, "--json").out)
        self.assertFalse(told["complete"])
        self.assertEqual([(os.path.basename(file["path"]), file["action"], file["outcome"])
                          for file in told["files"]],
                         [("build", "leave", "left"), ("notes.txt", "restore", "restored")])

    def test_single_files_that_git_ignores_come_back(self):
        self.prepare_ignored()
        was = describe(self.work)
        self.bash("echo more >> local.db; echo x > other.db", "mv local.db l; rm other.db")
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_a_directory_that_git_ignores_and_a_command_moves_comes_back(self):
        self.prepare_ignored()
        self.prepare("mkdir src/build; echo k > src/build/k")
        was = describe(self.work)
        self.bash("mv src lib; mv build b")
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_it_is_told_when_keel_is_killed_in_the_middle(self):
        self.prepare_ignored()
        self.prepare("mkfifo pipe")
        self.kill_in_the_middle("echo 2 > build/made; echo x > notes.txt; rm local.db")
        result = self.rewind(1)
        self.assertIn("leave    build: git ignores it", result.out)
        self.assertEqual((self.work / "notes.txt").read_text(), "this is notes.txt\n")
        self.assertEqual((self.work / "local.db").read_text(), "data\n")

    # --- logs of commands that were not reported ---

    def damage(self, how):
        """Kills keel after a command has changed two files, and does this to its log."""
        self.own()
        self.prepare("mkfifo pipe")
        self.kill_in_the_middle("echo x > notes.txt; echo x > run.sh")
        [log] = (self.keel_home / "undo").iterdir()
        how(log)
        result = self.rewind(1)
        self.assertIn("undo Bash: echo x > notes.txt", result.out)
        self.assertIn("not all changes were saved (its undo log", result.out)
        self.assertIn("the changes of 1 call were not saved", result.err)
        return result

    def test_a_log_that_is_cut_is_told(self):
        result = self.damage(lambda log: os.truncate(log, log.stat().st_size - 1))
        self.assertIn("restore  notes.txt", result.out)

    def test_a_log_of_another_version_is_told(self):
        self.damage(lambda log: log.write_bytes(b"keel-undo 99\0" + log.read_bytes()[12:]))

    def test_what_is_no_log_is_told(self):
        def replace(log):
            log.unlink()
            os.mkfifo(log)
        self.assertIn("is a FIFO, not a file", self.damage(replace).out)

    # --- repositories ---

    def test_a_repository_that_a_command_made_keeps_its_git_directory_and_is_told(self):
        self.own()
        self.bash("mkdir -p z/.git/objects; echo 1 > z/file")
        for arguments in ([], ["--force"]):
            result = self.rewind(1, *arguments)
            self.assertIn("leave    z: it still contains .git, which keel did not save", result.out)
            self.assertIn("1 path was left alone", result.err)
            self.assertNotIn("--force", result.err)
            self.assertEqual(os.listdir(self.work / "z"), [".git"])


class Closed(UndoneCommands):
    """Workspaces whose permissions a command changes, which it cannot without namespaces."""

    def closed(self, *arguments):
        """Runs keel in the workspace, as somebody who is in it when it is closed."""
        os.chmod(self.work, 0o755)
        self.inside = ["bash", "-c", 'chmod 000 .; exec "$@"', "bash"]
        try:
            return self.keel(*arguments, cwd=self.work)
        finally:
            self.inside = []

    def mode(self):
        return os.stat(self.work).st_mode & 0o777

    def test_a_workspace_that_a_command_closes_is_opened_again(self):
        self.own()
        was, mode = describe(self.work), self.mode()
        result = self.bash("echo x > notes.txt; rm -r src; chmod 000 d; chmod 000 .")
        self.assertNotIn("undone", result.err)
        self.assertEqual(self.mode(), 0)
        result = self.closed("session", "rewind", self.session, "--dry-run")
        self.assertEqual(self.mode(), 0)
        self.assertIn("restore  .\n", result.out)
        self.assert_status(self.closed("session", "rewind", self.session, "--yes"), 0)
        self.assertEqual(self.mode(), mode)
        self.assertEqual(describe(self.work), was)

    def test_a_repository_in_a_workspace_that_a_command_closes_is_not_taken_for_gone(self):
        self.own()
        self.prepare(REPOSITORY.format(".") + "; ln notes.txt second")
        was = describe(self.work)
        result = self.bash("echo x >> notes.txt; chmod 000 .")
        self.assertNotIn(".git was removed", result.err)
        self.assertNotIn("not reported", result.err)
        self.assert_status(self.closed("session", "rewind", self.session, "--yes"), 0)
        self.assertEqual(describe(self.work), was)

    def test_a_workspace_whose_permissions_a_command_changes(self):
        self.own()
        self.prepare("chmod 750 .")
        self.bash("chmod 711 .; echo x > new")
        self.rewind()
        self.assertEqual(self.mode(), 0o750)
        self.assertFalse((self.work / "new").exists())


class AsMyself(InPart, Closed, SessionTest):
    pass


class AsAnOrdinaryUser(InPart, Closed, SessionTest):
    user = NOBODY

    def test_commands_say_that_the_workspace_is_closed(self):
        self.own()
        self.bash("chmod 000 .", "echo hello > new")
        self.assertIn(f"cannot read the directory {self.work}: Permission denied", self.heard[-1])
        self.assertIn("chmod u+rwx", self.heard[-1])
        self.assertNotIn("without the sandbox", self.heard[-1])
        os.chmod(self.work, 0o755)

    def test_keel_says_that_it_may_not_enter_the_directory(self):
        self.own()
        for arguments in (("-p", "hello"), ("session", "list"), ("config", "show")):
            result = self.closed(*arguments)
            self.assert_status(result, 2)
            self.assertIn(f"cannot enter the directory {self.work}: its permissions are "
                          "000\n      chmod u+rwx", result.err)
        os.chmod(self.work, 0o755)


class WithoutNamespaces(InPart, SessionTest):
    prefix = WITHOUT_NAMESPACES


class AsAnOrdinaryUserWithoutNamespaces(InPart, SessionTest):
    user = NOBODY
    prefix = WITHOUT_NAMESPACES


if __name__ == "__main__":
    scripted.main()
