"""trust_test.py - keel trust: a project's own settings count when a person says so, and no longer."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import keel_test
from keel_test import KeelTest


class Flags(KeelTest):
    def test_list_revoke_and_yes_are_three_things(self):
        for flags in (("--list", "--yes"), ("--revoke", "--list")):
            self.assert_refused(self.keel("trust", *flags), 2, "cannot be combined")


class Trust(KeelTest):
    def setUp(self):
        super().setUp()
        self.own = self.project / ".keel" / "settings.json"

    def bring(self, **settings):
        self.own.parent.mkdir(exist_ok=True)
        self.own.write_text(json.dumps(settings))

    def model(self):
        result = self.keel("config", "show", "--json")
        return result.json().get("model", ""), result.err

    def test_a_project_without_settings_needs_no_trust(self):
        result = self.keel("trust", "--yes")
        self.assert_status(result, 0)
        self.assertIn("nothing to trust", result.err)

    def test_settings_are_used_once_they_are_trusted(self):
        self.bring(model="openai/gpt-5")
        value, told = self.model()
        self.assertNotIn("gpt-5", value)
        self.assertIn("keel trust", told)
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertEqual(self.model(), ("openai/gpt-5", ""))

    def test_a_changed_file_is_not_trusted_any_more(self):
        self.bring(model="openai/gpt-5")
        self.keel("trust", "--yes")
        self.bring(model="openai/gpt-5-mini")
        self.assertNotIn("mini", self.model()[0])
        self.bring(model="openai/gpt-5")
        self.assertEqual(self.model()[0], "openai/gpt-5")

    def test_one_file_more_is_a_change(self):
        self.bring(model="openai/gpt-5")
        self.keel("trust", "--yes")
        (self.project / ".mcp.json").write_text("{}")
        self.assertNotIn("gpt-5", self.model()[0])

    def test_trust_can_be_taken_back(self):
        self.bring(model="openai/gpt-5")
        self.keel("trust", "--yes")
        self.assert_status(self.keel("trust", "--revoke"), 0)
        self.assertNotIn("gpt-5", self.model()[0])
        self.assertIn("was not trusted", self.keel("trust", "--revoke").err)

    def test_what_is_trusted_can_be_listed(self):
        self.bring(model="openai/gpt-5")
        self.keel("trust", "--yes")
        self.assertIn(str(self.project.resolve()), self.keel("trust", "--list").out)

    def test_without_a_person_it_must_be_said_for_sure(self):
        self.bring(model="openai/gpt-5")
        self.assert_status(self.keel("trust"), 2)
        self.assertNotIn("gpt-5", self.model()[0])

    def test_the_list_says_where_the_trust_has_ended(self):
        def listed():
            return self.keel("trust", "--list").out.rstrip("\n").split("; ")[1:]
        file = self.write("project/.keel/settings.json", {"permissions": {"allow": ["Bash"]}})
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertEqual(listed(), [])
        self.write("project/.keel/settings.json", {"permissions": {"allow": ["Bash", "Edit"]}})
        self.assertEqual(listed(),
                         ["ended: .keel/settings.json has changed since this project was trusted"])
        os.unlink(file)
        self.assertEqual(listed(), ["ended: it has no project settings now"])
        shutil.rmtree(self.project)
        self.assertEqual(self.keel("trust", "--list", cwd=self.dir).out.rstrip("\n").split("; ")[1:],
                         ["ended: the directory is gone"])

    def test_the_list_is_its_owners_alone(self):
        self.bring(model="openai/gpt-5")
        self.keel("trust", "--yes")
        mode = os.stat(self.keel_home / "trust.json").st_mode & 0o777
        self.assertEqual(mode, 0o600)

    def test_a_broken_list_is_told_with_what_to_do(self):
        self.bring(model="openai/gpt-5")
        self.write("keel-home/trust.json", "{")
        result = self.keel("trust", "--list")
        self.assert_refused(result, 2, "trust.json", "remove the file")

    def test_which_file_has_changed_is_told_once(self):
        self.bring(model="openai/gpt-5")
        self.keel("trust", "--yes")
        self.bring(model="openai/gpt-5-mini")
        told = self.model()[1]
        self.assertEqual(told.count(".keel/settings.json has changed since"), 1, told)
        self.own.unlink()
        (self.project / ".mcp.json").write_text("{}")
        self.assertIn(".mcp.json is new since this project was trusted", self.model()[1])

    def test_rules_that_forbid_need_no_trust(self):
        self.bring(permissions={"deny": ["Bash"], "allow": ["Write"]})
        shown = self.keel("config", "show").out
        self.assertIn("Bash", shown)
        self.assertNotIn("Write", shown)


HOOK = '"$KEEL_PROJECT_DIR"/.keel/check.sh'


class Scripts(KeelTest):
    """What settings run is trusted with them."""

    def setUp(self):
        super().setUp()
        self.bring(HOOK)
        self.script = self.project / ".keel" / "check.sh"
        self.put(self.script, "#!/bin/sh\necho checked\n")

    def bring(self, command):
        self.write("project/.keel/settings.json",
                   {"model": "openai/gpt-5",
                    "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})

    def put(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def is_trusted(self):
        self.result = self.keel("config", "show", "--json")
        return self.result.json().get("model") == "openai/gpt-5"

    def trust(self):
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertTrue(self.is_trusted(), self.result)

    def assert_foreign(self, name):
        self.assertFalse(self.is_trusted(), f"{name} may change")
        self.assertIn(name, self.result.err)

    def test_a_changed_script_of_a_hook_ends_trust(self):
        self.trust()
        self.script.write_text("#!/bin/sh\necho pwned\n")
        self.assert_foreign(".keel/check.sh has changed")

    def test_so_does_one_that_cannot_be_run_any_more(self):
        self.trust()
        self.script.chmod(0o644)
        self.assert_foreign(".keel/check.sh has changed")

    def test_so_does_a_file_more_or_less_in_keel_s_directories(self):
        self.put(self.project / ".robota" / "hooks" / "lib.sh", "1")
        self.trust()
        self.put(self.project / ".keel" / "lib" / "new.sh", "1")
        self.assert_foreign(".keel/lib/new.sh is new")
        (self.project / ".keel" / "lib" / "new.sh").unlink()
        self.assertTrue(self.is_trusted())
        (self.project / ".robota" / "hooks" / "lib.sh").unlink()
        self.assert_foreign(".robota/hooks/lib.sh was removed")

    def test_so_does_a_script_elsewhere_that_a_hook_names(self):
        for command in ("./scripts/check.sh", '"$CLAUDE_PROJECT_DIR"/scripts/check.sh',
                        "bash scripts/check.sh --fast", "cd scripts && ./check.sh",
                        "sh -c 'exec scripts/check.sh'", f"{self.project}/scripts/check.sh",
                        "cat scripts/check.sh | sh", 'PATH="$PWD/scripts:$PATH" check.sh'):
            with self.subTest(command):
                elsewhere = self.project / "scripts" / "check.sh"
                self.put(elsewhere, "1")
                self.bring(command)
                self.trust()
                elsewhere.write_text("2")
                self.assert_foreign("scripts/check.sh has changed")

    def test_so_does_one_that_a_pattern_or_a_runner_finds(self):
        for command in ("./scripts/*.sh", "for f in scripts/ch*; do $f; done", "run-parts scripts",
                        "find scripts -type f -exec {} ;", "ls scripts | xargs -I{} scripts/{}",
                        "cat scripts/{a,check}.sh | sh", "cd scripts && ./c?eck.sh"):
            with self.subTest(command):
                elsewhere = self.project / "scripts" / "check.sh"
                self.put(elsewhere, "1")
                self.bring(command)
                self.trust()
                elsewhere.write_text("2")
                self.assert_foreign("scripts/check.sh has changed")

    def test_what_a_pattern_gives_to_a_formatter_may_change(self):
        page = self.project / "src" / "page.ts"
        self.bring("prettier --check 'src/**/*.ts' src/*.ts")
        self.put(page, "1")
        page.chmod(0o644)
        self.trust()
        page.write_text("2")
        self.assertTrue(self.is_trusted())

    def test_so_does_a_script_that_a_found_file_names(self):
        self.write("project/package.json", {"scripts": {
            "lint": "npm run deep", "prelint": "true", "deep": "node scripts/check.js",
            "other": "node scripts/other.js"}})
        self.put(self.project / "Makefile", "include scripts/check.mk\ncheck:\n\ttrue\n")
        self.put(self.project / "scripts" / "other.js", "1")
        for command, name in (("npm run lint", "check.js"), ("make check", "check.mk")):
            with self.subTest(command):
                elsewhere = self.project / "scripts" / name
                self.put(elsewhere, "# 1")
                self.bring(command)
                self.trust()
                self.put(self.project / "scripts" / "other.js", "2")
                self.assertTrue(self.is_trusted(), self.result)
                elsewhere.write_text("# 2")
                self.assert_foreign(f"scripts/{name} has changed")

    def test_a_script_that_comes_later_ends_trust(self):
        self.bring("test -x scripts/check.sh && scripts/check.sh")
        self.trust()
        self.put(self.project / "scripts" / "check.sh", "1")
        self.assert_foreign("scripts/check.sh is new")

    def test_other_files_may_change(self):
        other = self.project / "scripts" / "other.sh"
        self.put(other, "1")
        self.trust()
        other.write_text("2")
        self.assertTrue(self.is_trusted())

    def test_keel_trust_shows_them(self):
        result = self.keel("trust")
        self.assertIn(".keel/check.sh (23 bytes, executable, named by a command", result.err)
        self.assertIn("echo checked", result.out)
        self.put(self.project / ".keel" / "tool", "\0binary")
        self.put(self.project / ".keel" / "long", "x" * 100000)
        result = self.keel("trust")
        self.assertIn("not text, SHA-256 ", result.err)
        self.assertIn("too long to show, SHA-256 ", result.err)
        self.assertNotIn("x" * 1000, result.out)

    def test_keel_trust_says_nothing_on_no_line(self):
        for line in self.keel("trust").err.splitlines():
            self.assertRegex(line, r"^(keel: |      )\S")

    def test_keel_trust_tells_what_is_different(self):
        self.trust()
        self.script.write_text("2")
        self.put(self.project / ".keel" / "new", "1")
        err = self.keel("trust").err
        self.assertRegex(err, r"\.keel/check\.sh \(.*changed\)")
        self.assertRegex(err, r"\.keel/new \(.*new\)")
        self.assertNotRegex(err, r"\.keel/settings\.json \(.*(new|changed)\)")

    def test_what_another_program_stores_while_it_works_may_change(self):
        self.trust()
        self.put(self.project / ".robota" / "sessions" / "1.json", "{}")
        self.assertTrue(self.is_trusted())

    def test_keel_s_own_home_is_no_project(self):
        self.write("project/.keel/keel.db", "1")
        env = {"KEEL_HOME": str(self.project / ".keel")}
        result = self.keel("trust", "--yes", env=env)
        self.assert_status(result, 0)
        self.assertIn("nothing to trust", result.err)


class Hostile(KeelTest):
    """What stands in a settings file's place is refused and never waited for."""

    OWN = (".keel/settings.json", ".keel/settings.local.json")
    FOREIGN = (".claude/settings.json", ".claude/settings.local.json", ".robota/settings.json", ".robota/settings.local.json",
               ".mcp.json")

    def fifo(self, path):
        os.mkfifo(path)
        return "is a FIFO"

    def device(self, path):
        path.symlink_to("/dev/zero")
        return "outside the project"

    def directory(self, path):
        path.mkdir()
        return "Is a directory"

    def huge(self, path):
        path.touch()
        os.truncate(path, 1 << 40)
        return "larger than its limit"

    def link(self, path):
        path.symlink_to(self.write("outside.json", {"model": "openai/evil"}))
        return "outside the project"

    def loop(self, path):
        path.symlink_to(path.name)
        return "outside the project"

    def socket(self, path):
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path.name)
        os.chdir(here)
        return "is a socket"

    KINDS = (fifo, device, directory, huge, link, loop, socket)

    def each(self, names):
        for name in names:
            for make in self.KINDS:
                path = self.project / name
                path.parent.mkdir(exist_ok=True)
                with self.subTest(name=name, kind=make.__name__):
                    yield make(self, path), self.keel("config", "show"), name
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()

    def test_keel_s_own_files_are_refused(self):
        for told, result, name in self.each(self.OWN):
            self.assert_refused(result, 2, name, told)

    def test_those_of_others_are_not_used_and_that_is_told(self):
        for told, result, name in self.each(self.FOREIGN):
            self.assert_status(result, 0)
            self.assertIn(name, result.err)
            self.assertIn(told, result.err)
            self.assertNotIn("evil", result.out)

    def test_a_directory_that_leads_elsewhere_is_told(self):
        (self.home / "other").mkdir()
        (self.project / ".keel").symlink_to(self.home / "other")
        result = self.keel("config", "show")
        self.assert_status(result, 0)
        self.assertIn("cannot be trusted: cannot read .keel: it is a link to a place outside", result.err)
        self.write("home/other/settings.json", {"model": "openai/evil"})
        self.assert_refused(self.keel("config", "show"), 2, ".keel/settings.json", "outside the project")

    def test_a_prompt_is_answered_beside_a_fifo(self):
        os.mkfifo(self.project / ".mcp.json")
        result = self.keel("-p", "--model", "script/none", "hi")
        self.assertIn("cannot be trusted: cannot read .mcp.json: it is a FIFO", result.err)

    def test_the_person_s_own_files_may_be_links_and_nothing_else(self):
        path = self.keel_home / "settings.json"
        path.symlink_to(self.write("dotfiles/keel.json", {"model": "openai/mine"}))
        self.assertIn("mine", self.keel("config", "show").out)
        for make in (self.fifo, self.directory, self.huge, self.socket):
            path.unlink()
            told = make(path)
            self.assert_refused(self.keel("config", "show"), 2, "settings.json", told)
            if path.is_dir():
                path.rmdir()
                path.touch()

    def test_a_fifo_as_settings_flag_is_refused_and_a_pipe_is_read(self):
        os.mkfifo(self.dir / "fifo")
        result = self.keel("config", "show", "--settings", str(self.dir / "fifo"))
        self.assert_refused(result, 2, "is a FIFO")
        result = self.keel("config", "show", "--settings", "/dev/stdin",
                           stdin=b'{"model": "openai/piped"}')
        self.assertIn("piped", result.out)

    def test_a_directory_full_of_files_is_told(self):
        for i in range(1001):
            self.write(f"project/.keel/{i}", "")
        self.write("project/.keel/settings.json", {"model": "openai/gpt-5"})
        result = self.keel("trust", "--yes")
        self.assert_refused(result, 2, "more than 1000 files")


SWAP = """
import os, sys
directory, target = sys.argv[1:]
os.chdir(directory)
print("ready", flush=True)
while True:
    for name in ("good", "evil"):
        os.link(name, "next")
        os.rename("next", target)
"""


class Race(KeelTest):
    """Somebody exchanges a trusted file for another, and back, as fast as it goes."""

    N_STARTS = 1500 if os.environ.get("KEEL_TEST_DEPTH") == "all" else 150

    def swap(self, directory, target):
        process = subprocess.Popen([sys.executable, "-c", SWAP, directory, target],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGKILL)
        process.stdout.readline()

    def test_settings_that_nobody_trusted_are_never_used(self):
        own = self.write("project/.keel/settings.json", {"model": "openai/good"})
        self.keel("trust", "--yes")
        self.write("swap/good", {"model": "openai/good"})
        self.write("swap/evil", {"model": "openai/evil"})
        self.swap(self.dir / "swap", own)
        seen = {"": 0}
        for _ in range(self.N_STARTS):
            model = self.keel("config", "show", "--json").json().get("model", "")
            seen[model] = seen.get(model, 0) + 1
        self.assertNotIn("openai/evil", seen, seen)

    def test_nor_is_a_file_trusted_that_was_not_shown(self):
        """What keel trust prints is what is used afterwards."""
        own = pathlib.Path(self.write("project/.keel/settings.json", {"model": "openai/good"}))
        self.write("swap/good", {"model": "openai/good"})
        self.write("swap/evil", {"model": "openai/evil"})
        for _ in range(self.N_STARTS // 30):
            self.keel("trust", "--revoke")
            process = subprocess.Popen([sys.executable, "-c", SWAP, self.dir / "swap", own],
                                       stdout=subprocess.PIPE)
            process.stdout.readline()
            shown = self.on_terminal_saying("y\n", "trust").out
            process.kill()
            process.communicate()
            (self.dir / "swap" / "next").unlink(missing_ok=True)
            own.unlink()  # it shares its bytes with one of the two
            word = "good" if "good" in shown else "evil"
            own.write_text(json.dumps({"model": f"openai/{word}"}))
            self.assertEqual(self.keel("config", "show", "--json").json().get("model"),
                             f"openai/{word}")


if __name__ == "__main__":
    keel_test.main()
