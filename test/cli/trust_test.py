"""trust_test.py - keel trust: a project's own settings count when a person says so, and no longer."""
import json
import os

import keel_test
from keel_test import KeelTest


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
        self.assertIn("needs no trust", result.err)

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

    def test_rules_that_forbid_need_no_trust(self):
        self.bring(permissions={"deny": ["Bash"], "allow": ["Write"]})
        shown = self.keel("config", "show").out
        self.assertIn("Bash", shown)
        self.assertNotIn("Write", shown)


if __name__ == "__main__":
    keel_test.main()
