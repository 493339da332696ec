"""home_test.py - the home directory: from HOME, from the password database, or none at all."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "flow"))

import scripted  # noqa: E402
from scripted import ANTHROPIC, TEXT, FlowTest  # noqa: E402

NOT_STORED = ("keel: this session is not stored: HOME and KEEL_HOME are not set to a directory\n"
              "      set one of them, or choose a place with --store\n")


class Home(FlowTest):
    def variables(self, home, entry=None):
        """HOME, and the home that the password database has (passwd.c)."""
        return {"HOME": home, "KEEL_HOME": None, "KEEL_TEST_PASSWD_HOME": entry,
                "LD_PRELOAD": os.environ["KEEL_PASSWD_LIBRARY"],
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def answer(self, home, entry=None, *arguments, **run):
        return self.ask(self.provider(ANTHROPIC.answer()), *arguments, "hi",
                        env=self.variables(home, entry), **run)

    def test_it_comes_from_the_password_database_where_home_is_not_set(self):
        entry = self.dir / "entry"
        entry.mkdir()
        for home in (None, ""):
            self.assert_answer(self.answer(home, str(entry)))
            self.assert_answer(self.answer(home, str(entry), "-c"))
        self.assertTrue((entry / ".keel/keel.db").exists())

    def test_commands_get_it_too(self):
        call = scripted.Call("Bash", command="echo It is $HOME.")
        provider = self.provider(ANTHROPIC.answer(calls=[call]), ANTHROPIC.answer())
        self.assert_answer(self.ask(provider, "--dangerously-skip-permissions", "hi",
                                    env=self.variables(None, str(self.home))))
        self.assertIn(f"It is {self.home}.", provider.requests[1].body.decode())

    def test_a_relative_one_is_not_used(self):
        said = 'keel: HOME is "relative", which is not an absolute path: '
        result = self.answer("relative", str(self.home))
        self.assertEqual((result.out, result.err), (TEXT + "\n", f"{said}using {self.home}\n"))
        result = self.answer("relative")
        self.assertEqual((result.out, result.err),
                         (TEXT + "\n", f"{said}it is ignored\n{NOT_STORED}"))
        self.assertFalse((self.project / "relative").exists())

    def test_settings_below_a_relative_one_do_not_count(self):
        self.write("project/relative/.keel/settings.json", {"model": "nosuch/x"})
        self.write("project/relative/.claude/settings.json", {"permissions": {"deny": ["Read"]}})
        result = self.keel("config", "show", env=self.variables("relative", str(self.home)))
        self.assert_status(result, 0)
        self.assertEqual(result.out, "")

    def test_in_it_the_own_settings_count_once_and_as_the_own(self):
        self.write("home/.keel/settings.json", {"model": "anthropic/m",
                                                "permissions": {"allow": ["Bash(make *)"]}})
        env = {**self.variables(str(self.home)), "ANTHROPIC_API_KEY": "k"}
        result = self.keel("config", "show", "--origin", env=env, cwd=self.home)
        self.assert_fine(result)
        self.assertIn("user", result.out)
        self.assertNotIn("project", result.out)
        result = self.keel("permissions", "list", env=env, cwd=self.home)
        self.assert_fine(result)
        self.assertEqual(result.out.count("Bash(make *)"), 1, result.out)

    def test_in_it_the_own_settings_need_no_trust(self):
        env = {**self.variables(str(self.home)), "ANTHROPIC_API_KEY": "k"}
        self.write("home/.keel/settings.json", {"permissions": {"allow": ["Bash(make *)"]}})
        self.write("home/.claude/settings.json", {"permissions": {"allow": ["Bash(id)"]}})
        result = self.keel("trust", "--yes", env=env, cwd=self.home)
        self.assert_status(result, 0)
        self.assertIn("nothing to trust", result.err)
        self.write("home/.mcp.json", "{}")
        result = self.keel("trust", "--yes", env=env, cwd=self.home)
        self.assertIn(".mcp.json", result.err)
        self.assertNotIn("settings.json", result.err)
        self.write("home/.keel/settings.json", {"permissions": {"allow": ["Bash(make)"]}})
        self.assert_fine(self.keel("permissions", "list", env=env, cwd=self.home))

    def test_without_any_it_says_once_that_the_session_is_not_stored(self):
        for home in (None, "", str(self.dir / "nope")):
            result = self.answer(home)
            self.assertEqual((result.out, result.err), (TEXT + "\n", NOT_STORED), home)
        self.assertFalse((self.dir / "nope").exists())

    def test_one_in_the_password_database_that_does_not_exist_is_none(self):
        result = self.answer(None, str(self.dir / "nope"))
        self.assertEqual((result.out, result.err), (TEXT + "\n", NOT_STORED))
        self.assertFalse((self.dir / "nope").exists())

    def test_nothing_is_said_where_no_session_is_wanted(self):
        for flags in (["--no-session-persistence"], ["--store", f"sqlite:{self.dir}/mine.db"]):
            self.assert_answer(self.answer(None, None, *flags))

    def test_without_one_keel_still_answers(self):
        nowhere = self.variables(None)
        self.assert_refused(self.keel("-p", "hi", env=nowhere), 6, "ANTHROPIC_API_KEY")
        self.assert_fine(self.keel("--help", env=nowhere))

    def test_a_list_says_that_there_is_none(self):
        for home in (None, str(self.dir / "nope")):
            self.assert_refused(self.keel("session", "list", env=self.variables(home)), 2,
                                "no sessions are stored: HOME and KEEL_HOME are not set")

    def test_a_relative_home_of_keel_is_refused(self):
        for arguments in (("session", "list"), ("-p", "hi"), ("doctor",)):
            self.assert_refused(self.keel(*arguments, env={"KEEL_HOME": "rel"}), 2,
                                'KEEL_HOME is "rel", which is not an absolute path')
        self.assertFalse((self.project / "rel").exists())

    def test_a_doctor_finds_that_there_is_none(self):
        result = self.keel("doctor", "--json", env=self.variables(None))
        [home] = [finding for finding in json.loads(result.out)["findings"]
                  if (finding["section"], finding["name"]) == ("Stores", "home")]
        self.assertEqual(home["health"], "bad")
        self.assertIn("HOME and KEEL_HOME are not set to a directory", home["text"])
        self.assert_status(result, 1)


if __name__ == "__main__":
    scripted.main()
