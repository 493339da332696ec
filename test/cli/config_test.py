"""config_test.py - keel config: layers of settings, where values came from, what is not shown."""
import json
import os
import re

import keel_test
from keel_test import KeelTest

SECRET = "sk-live-0123456789abcdef"


class Layers(KeelTest):
    def show(self, *options, **run):
        result = self.keel("config", "show", *options, **run)
        self.assert_status(result, 0)
        return result

    def test_nothing_is_said_when_there_are_no_settings(self):
        result = self.show()
        self.assertEqual((result.out, result.err), ("", "keel: no settings found\n"))

    def test_the_flag_wins_over_the_user_file_and_objects_merge(self):
        self.user_settings({"model": "user/m",
                            "providers": {"x": {"type": "openai", "model": "a"}}})
        result = self.show("--settings", json.dumps({"model": "flag/m",
                                                     "providers": {"x": {"model": "b"}}}))
        self.assertEqual(result.out, 'model = "flag/m"\n'
                                     'providers.x.type = "openai"\n'
                                     'providers.x.model = "b"\n')

    def test_the_flag_may_name_a_file(self):
        path = self.write("more.json", {"model": "file/m"})
        self.assertEqual(self.show("--settings", path).out, 'model = "file/m"\n')

    def test_each_value_names_its_origin(self):
        user = self.user_settings({"model": "user/m", "logLevel": "warn"})
        result = self.show("--origin", "--settings", '{"logLevel": "debug"}')
        self.assertEqual(result.out, f'model = "user/m"   # user: {user}\n'
                                     'logLevel = "debug"   # command line\n')

    def test_a_member_whose_name_has_dots_finds_its_origin(self):
        user = self.user_settings({"pricing": {"anthropic/claude-3.5": {"input": 3}}})
        self.assertEqual(self.show("--origin").out,
                         f'pricing."anthropic/claude-3.5".input = 3   # user: {user}\n')

    def test_rules_add_up_and_all_their_origins_are_named(self):
        user = self.user_settings({"permissions": {"deny": ["Bash(rm *)"]}})
        project = self.write("project/.keel/settings.json", {"permissions": {"deny": ["Read(x)"]}})
        self.assertEqual(self.show("--origin").out,
                         'permissions.deny = ["Bash(rm *)","Read(x)"]'
                         f"   # project: {project}   # user: {user}\n")

    def test_origins_come_as_json_too(self):
        user = self.user_settings({"model": "user/m"})
        result = self.show("--origin", "--json", "--settings", '{"logLevel": "debug"}')
        self.assertEqual(result.json(), {
            "model": {"value": "user/m", "origins": [{"layer": "user", "file": user}]},
            "logLevel": {"value": "debug", "origins": [{"layer": "command line"}]},
        })

    def test_json_is_the_merged_tree(self):
        tree = {"model": "a/b", "providers": {"x": {"type": "gemini", "timeout": 5}}}
        self.user_settings(tree)
        self.assertEqual(self.show("--json").json(), tree)

    def test_foreign_files_are_read_below_our_own(self):
        self.write("home/.claude/settings.json",
                   {"logLevel": "warn", "permissions": {"deny": ["a"]}})
        self.write("home/.robota/settings.json", {"logLevel": "info"})
        self.assertEqual(self.show().out, 'logLevel = "info"\npermissions.deny = ["a"]\n')
        self.user_settings({"logLevel": "debug"})
        self.assertIn('logLevel = "debug"\n', self.show().out)

    def test_what_keel_does_not_use_of_a_foreign_file_is_named_and_not_shown(self):
        file = self.write("home/.claude/settings.json", {
            "model": "opus", "env": {"FOO": "1"}, "statusLine": {"type": "command"},
            "permissions": {"defaultMode": "acceptEdits", "disableBypass": "x"}})
        for options in ((), ("--origin",), ("--json",), ("--json", "--origin")):
            result = self.keel("config", "show", *options)
            self.assert_status(result, 0)
            self.assertIn("acceptEdits", result.out)
            for word in ("opus", "FOO", "statusLine", "disableBypass"):
                self.assertNotIn(word, result.out)
            self.assertEqual(result.err, f"keel: {file}: these settings are ignored: model, env, "
                                         "statusLine, permissions.disableBypass\n")

    def test_another_programs_model_does_not_hide_the_persons_own(self):
        self.user_settings({"model": "a/b"})
        self.write("project/.claude/settings.json", {"model": "opus"})
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertEqual(self.keel("config", "show").out, 'model = "a/b"\n')

    def test_home_holds_the_settings_when_keel_home_is_not_set(self):
        self.write("home/.keel/settings.json", {"model": "home/m"})
        self.assertEqual(self.show(env={"KEEL_HOME": None}).out, 'model = "home/m"\n')


class Trust(KeelTest):
    def test_of_a_project_that_is_not_trusted_only_what_forbids_is_used(self):
        file = self.write("project/.keel/settings.json", {
            "model": "evil/m", "providers": {"x": {"baseUrl": "http://evil.example"}},
            "hooks": {"Stop": []}, "permissions": {"deny": ["Read(.env)"], "allow": ["Bash(*)"]}})
        result = self.keel("config", "show")
        self.assert_status(result, 0)
        self.assertEqual(result.out, 'permissions.deny = ["Read(.env)"]\n')
        self.assertEqual(result.err, f"keel: {file}: this directory is not trusted (keel trust), so these settings "
                                     "are ignored: model, providers, hooks, permissions.allow\n")

    def test_the_project_is_the_repository_around_the_directory(self):
        (self.project / ".git").mkdir()
        below = self.project / "src" / "deep"
        below.mkdir(parents=True)
        self.write("project/.keel/settings.local.json", {"permissions": {"ask": ["Bash(*)"]}})
        self.assertEqual(self.keel("config", "show", cwd=below).out,
                         'permissions.ask = ["Bash(*)"]\n')

    def test_the_notice_is_given_once_where_a_model_is_asked(self):
        self.write("project/.keel/settings.json", {"model": "evil/m"})
        result = self.keel("-p", "hi")
        self.assert_status(result, 6)
        self.assertEqual(result.err.count("not trusted"), 1)


class Secrets(KeelTest):
    settings = {
        "providers": {"x": {
            "type": "openai-chat", "apiKey": SECRET, "model": "m",
            "baseUrl": f"https://user:{SECRET}@api.example/v1?key={SECRET}",
            "headers": {"Authorization": f"Bearer {SECRET}", "x-functions-key": SECRET,
                        "x-team": "search"}}}}
    foreign = {"providers": {"y": {"apiKey": SECRET}}}

    def test_keys_that_stand_in_a_file_are_never_shown(self):
        self.user_settings(self.settings)
        self.write("home/.robota/settings.json", self.foreign)
        for options in ((), ("--origin",), ("--json",), ("--json", "--origin")):
            result = self.keel("config", "show", *options)
            self.assert_fine(result)
            self.assertNotIn(SECRET, result.out)
            self.assertIn("[REDACTED]", result.out)
            self.assertIn("search", result.out)
            self.assertIn("api.example/v1", result.out)

    def test_addresses_are_shown_without_their_passwords(self):
        self.user_settings(self.settings)
        for command in (("config", "provider"), ("doctor",), ("doctor", "--json")):
            result = self.keel(*command)
            self.assertIn("https://api.example/v1", result.out + result.err, result)
            self.assertNotIn(SECRET, result.out + result.err)

    def test_that_an_address_has_a_user_is_shown(self):
        self.user_settings({"store": f"postgres://u:{SECRET}@h/db", "caFile": "~/a@b.pem"})
        self.assertEqual(self.keel("config", "show").out,
                         'store = "postgres://[REDACTED]@h/db"\ncaFile = "~/a@b.pem"\n')

    def test_a_reference_to_a_variable_is_shown_and_not_its_value(self):
        self.user_settings({"providers": {"x": {"apiKey": "$ENV:MY_KEY"}}})
        result = self.keel("config", "show", env={"MY_KEY": SECRET})
        self.assert_fine(result)
        self.assertEqual(result.out, 'providers.x.apiKey = "$ENV:MY_KEY"\n')


class Mistakes(KeelTest):
    def test_a_wrong_type_names_file_key_and_types(self):
        file = self.user_settings({"providers": {"x": {"timeout": "soon"}}})
        self.assert_refused(self.keel("config", "show"), 2, file, '"providers.x.timeout"',
                            "must be an integer, not string")

    def test_a_torn_file_names_line_and_column(self):
        file = self.user_settings('{\n  "model": "x",\n')
        self.assert_refused(self.keel("-p", "hi"), 2, file, "line 3", "correct the file")

    def test_settings_that_cannot_be_read_say_so(self):
        self.write("keel-home/settings.json/x", "")
        self.assert_refused(self.keel("-p", "hi"), 2, "Is a directory", "a file that you can read")

    def test_a_mistake_in_settings_on_the_command_line_is_not_one_in_a_file(self):
        self.assert_refused(self.keel("config", "show", "--settings", '{"model": '), 2,
                            "--settings: ", "pass a JSON object, or the path of a file")
        file = self.write("torn.json", '{"model": ')
        self.assert_refused(self.keel("config", "show", "--settings", file), 2, file,
                            "correct the file, or move it out of the way")

    def test_a_key_that_stands_twice_is_a_mistake(self):
        file = self.user_settings('{"model": "a", "model": "b"}')
        self.assert_refused(self.keel("config", "show"), 2, file, "line 1, column 16", "twice")

    def test_a_foreign_file_that_is_torn_is_only_told(self):
        file = self.write("home/.claude/settings.json", "{")
        self.user_settings({"model": "a/b"})
        result = self.keel("config", "show")
        self.assert_status(result, 0)
        self.assertEqual(result.out, 'model = "a/b"\n')
        self.assertIn(f"keel: {file}: ", result.err)

    def test_settings_that_are_named_must_be_there(self):
        self.assert_refused(self.keel("config", "show", "--settings", "nowhere.json"), 2,
                            "--settings: cannot read nowhere.json: No such file or directory")
        self.assert_refused(self.keel("config", "show", "--settings", ""), 2, "--settings")
        self.assert_refused(self.keel("config", "show", "--settings", '{"model": 3}'), 2,
                            '--settings: "model" must be a string, not number')

    def test_a_settings_file_that_is_a_directory_is_named(self):
        os.mkdir(self.keel_home / "settings.json")
        self.assert_refused(self.keel("config", "show"), 2, "settings.json", "Is a directory",
                            "move it out of the way")

    def test_where_a_sandbox_hides_the_settings_it_is_told_what_to_do(self):
        os.mkdir(self.keel_home / "settings.json")  # like one that is hidden, it cannot be read
        self.assert_refused(self.keel("config", "show", env={"KEEL_SANDBOX": "1"}), 2,
                            "hides the settings: set KEEL_HOME to a directory in the workspace")

    def test_deep_nesting_is_refused_and_not_followed(self):
        self.user_settings('{"a":' * 100_000)
        self.assert_refused(self.keel("config", "show"), 2, "line 1")


class Provider(KeelTest):
    def provider(self, *options, **run):
        result = self.keel("config", "provider", *options, **run)
        self.assert_status(result, 0)
        return result.out.split()

    def test_it_prints_model_protocol_and_address(self):
        self.assertEqual(self.provider("--model", "ollama/qwen3"),
                         ["ollama/qwen3", "ollama", "http://127.0.0.1:11434"])

    def test_the_first_key_of_the_environment_decides(self):
        for variable, start in (("ANTHROPIC_API_KEY", "anthropic/"), ("OPENAI_API_KEY", "openai/"),
                                ("GEMINI_API_KEY", "gemini/")):
            self.assertTrue(self.provider(env={variable: "k"})[0].startswith(start), variable)

    def test_the_current_provider_is_a_profile(self):
        self.user_settings({"currentProvider": "b", "providers": {
            "a": {"type": "anthropic", "model": "m1"},
            "b": {"type": "gemini", "baseUrl": "http://h:1", "model": "m2", "apiKey": "k"}}})
        self.assertEqual(self.provider(), ["b/m2", "gemini", "http://h:1"])

    def test_an_address_may_lack_its_scheme(self):
        self.assertEqual(self.provider("--model", "ollama/m", env={"OLLAMA_HOST": "box:99"})[2],
                         "http://box:99")

    def test_a_server_of_ones_own_says_who_knows_its_models(self):
        self.assert_refused(self.keel("config", "provider", "--model", "ollama"), 6,
                            "ollama needs a model name",
                            "keel models ollama --refresh asks the server which models it has")
        self.assertNotIn("default", self.keel("config", "provider", "--model", "ollama/").err)
        self.assert_refused(self.keel("config", "provider", "--model", "openai/"), 2,
                            "or openai alone for its default model")

    def test_none_is_exit_six(self):
        self.assert_refused(self.keel("config", "provider"), 6, "ANTHROPIC_API_KEY")

    def test_a_profile_that_is_not_there_is_named(self):
        file = self.user_settings({"currentProvider": "gone"})
        self.assert_refused(self.keel("config", "provider"), 6, f'currentProvider is "gone" ({file})',
                            "neither a profile nor a vendor")
        self.user_settings({"currentProvider": "wrk", "providers": {
            "work": {"type": "ollama"}, "other": {"type": "ollama"}}})
        self.assert_refused(self.keel("config", "provider"), 6, 'did you mean "work"?')

    def test_a_type_that_is_not_known_lists_those_that_are(self):
        self.user_settings({"providers": {"x": {"type": "another", "model": "m"}}})
        self.assert_refused(self.keel("config", "provider"), 6, '"another"', "anthropic",
                            "openai-chat")


class Keys(KeelTest):
    def test_every_setting_stands_in_a_line_with_its_meaning(self):
        result = self.keel("config", "keys")
        self.assert_fine(result)
        for line in result.out.splitlines():
            self.assertRegex(line, r"\A[a-zA-Z*.]+  +\S")
        starts = {re.match(r"\S+ +", line).end() for line in result.out.splitlines()}
        self.assertEqual(len(starts), 1, starts)
        self.assertIn("\nproviders.*.apiKey ", result.out)


if __name__ == "__main__":
    keel_test.main()
