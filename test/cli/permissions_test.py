"""permissions_test.py - keel permissions: which rules hold here, and what they mean."""
import json

import keel_test
from keel_test import KeelTest


class PermissionsTest(KeelTest):
    def bring(self, permissions, name="settings.json"):
        """What a project has in its own settings."""
        return self.write(f"project/.keel/{name}", {"permissions": permissions})

    def user(self, permissions):
        return self.user_settings({"permissions": permissions})

    def listed(self, *options):
        result = self.keel("permissions", "list", "--json", *options)
        self.assert_status(result, 0)
        return result.json()

    def rule(self, text, *options):
        [rule] = [rule for rule in self.listed(*options)["rules"] if rule["rule"] == text]
        return rule

    def judged(self, *arguments):
        result = self.keel("permissions", "test", *arguments, "--json")
        self.assert_status(result, 0)
        return result.json()


class List(PermissionsTest):
    def test_each_rule_has_its_kind_and_its_file(self):
        file = self.user({"allow": ["Bash(make *)"], "ask": ["Bash(git push *)"],
                          "deny": ["Read(.env)"]})
        for text, kind in (("Bash(make *)", "allow"), ("Bash(git push *)", "ask"),
                           ("Read(.env)", "deny")):
            self.assertEqual(self.rule(text), {"kind": kind, "rule": text, "layer": "user",
                                               "where": file, "used": True, "valid": True})

    def test_flags_are_named(self):
        self.assertEqual(self.rule("Bash(ls)", "--allowed-tools", "Bash(ls)")["where"],
                         "--allowed-tools")
        self.assertEqual(self.rule("Write", "--disallowed-tools", "Write")["kind"], "deny")
        settings = '{"permissions": {"ask": ["Edit"]}}'
        self.assertEqual(self.rule("Edit", "--settings", settings)["where"], "--settings")

    def test_the_folders_of_settings_may_be_looked_at(self):
        built_in = {rule["rule"] for rule in self.listed()["rules"] if rule["layer"] == "built in"}
        built_in.remove("built-in:looking")
        self.assertEqual(built_in, {f"{tool}({name}/**)" for tool in ("Read", "Glob")
                                    for name in (".agents", ".claude", ".keel", ".robota")})

    def test_what_a_project_allows_needs_trust_and_what_it_forbids_does_not(self):
        self.bring({"allow": ["Bash(make *)"], "deny": ["Read(.env)"], "ask": ["Edit"]})
        self.assertFalse(self.rule("Bash(make *)")["used"])
        self.assertTrue(self.rule("Read(.env)")["used"])
        self.assertTrue(self.rule("Edit")["used"])
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertTrue(self.rule("Bash(make *)")["used"])

    def test_the_mode_has_its_source(self):
        self.assertEqual(self.listed()["mode"], {"value": "default", "layer": "built in"})
        file = self.user({"defaultMode": "plan"})
        self.assertEqual(self.listed()["mode"], {"value": "plan", "layer": "user", "where": file})
        self.assertEqual(self.listed("--mode", "full")["mode"]["value"], "acceptEdits")

    def test_a_mode_that_does_not_exist_is_told_with_its_file(self):
        file = self.user({"defaultMode": "yolo"})
        self.assert_refused(self.keel("permissions", "list"), 2,
                            f'{file}: permissions.defaultMode: unknown mode "yolo"')

    def test_what_the_mode_makes_of_each_class_is_shown(self):
        wanted = {"plan": "auto approve approve deny deny deny deny",
                  "default": "auto approve approve approve approve approve approve",
                  "acceptEdits": "auto approve approve auto approve approve approve",
                  "bypassPermissions": "auto auto auto auto auto auto auto"}
        names = "inspect outside network modify obeyed execute unclassified".split()
        for mode, decisions in wanted.items():
            classes = self.keel("permissions", "list", "--mode", mode, "--json").json()["classes"]
            self.assertEqual(classes, dict(zip(names, decisions.split())))
        self.assertRegex(self.keel("permissions", "list").out, r"(?m)^ +asks +fetch and search")

    def test_lists_are_shown_where_they_are_set(self):
        self.assertIsNone(self.listed()["allowedCommands"])
        self.user({"allowedCommands": ["git *"], "allowedDomains": []})
        listed = self.listed()
        self.assertEqual((listed["allowedCommands"], listed["allowedDomains"]), (["git *"], []))

    def test_further_directories_come_from_settings_and_flags(self):
        for name in ("one", "two"):
            (self.dir / name).mkdir()
        self.user({"additionalDirectories": ["../one", "absent"]})
        result = self.keel("permissions", "list", "--json", "--add-dir", str(self.dir / "two"))
        self.assertEqual(result.json()["additionalDirectories"],
                         [str((self.dir / name).resolve()) for name in ("two", "one")])
        self.assertIn('"absent" is not a directory; ignored', result.err)

    def test_a_project_without_trust_adds_no_directory(self):
        self.bring({"additionalDirectories": ["/"]})
        self.assertEqual(self.listed()["additionalDirectories"], [])

    def test_answers_that_claude_code_wrote_count_like_its_settings(self):
        self.write("project/.claude/settings.local.json",
                   {"permissions": {"deny": ["Bash(curl *)"], "allow": ["Bash(make *)"]}})
        def test(command):
            return self.keel("permissions", "test", "Bash", command, "--json").json()["decision"]
        self.assertEqual((test("curl x"), test("make")), ("deny", "approve"))
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertEqual((test("curl x"), test("make")), ("deny", "auto"))

    def test_people_read_it_too(self):
        self.user({"allow": ["Bash(make *)"]})
        self.write("home/.claude/settings.json", {"permissions": {"deny": ["oops("]}})
        result = self.keel("permissions", "list")
        self.assert_status(result, 0)
        self.assertIn('.claude/settings.json: permissions.deny: "oops(" is not a valid rule',
                      result.err)
        self.assertRegex(result.out, r"(?m)^  Bash\(make \*\) +user: ")
        self.assertIn("not a valid rule: keel asks about every call of its tool", result.out)
        self.assertNotIn("\033", result.out)

    def test_tools_that_keel_lacks_are_marked(self):
        self.user({"deny": ["NotebookRead", "mcp__db"]})
        lines = self.keel("permissions", "list").out.splitlines()
        self.assertTrue(any("NotebookRead" in line and "keel does not have" in line
                            for line in lines))
        self.assertFalse(any("mcp__db" in line and "keel does not have" in line for line in lines))

    def test_colours_are_for_terminals(self):
        self.assertIn("\033[32mRead(.keel/**)\033[0m",
                      self.on_terminal("permissions", "list").out)
        self.assertNotIn("\033", self.on_terminal("permissions", "list", env={"NO_COLOR": "1"}).out)

    def test_a_rule_cannot_steer_the_terminal(self):
        self.bring({"deny": ["Bash(\033]0;x\007)"]})
        for arguments in (("list",), ("test", "Bash", "\033]0;x\007")):
            self.assertNotIn("\033]", self.on_terminal("permissions", *arguments).out)

    def test_a_list_of_the_wrong_type_is_an_error(self):
        self.user({"allowedCommands": "git"})
        self.assert_refused(self.keel("permissions", "list"), 2, "permissions.allowedCommands",
                            "array of strings")


class Narrowing(PermissionsTest):
    """Lists of a project that nobody trusts."""

    def domains(self):
        return self.listed()["allowedDomains"]

    def test_it_may_narrow_what_is_not_limited(self):
        self.bring({"allowedDomains": ["example.com"]})
        self.assertEqual(self.domains(), ["example.com"])

    def test_it_may_not_widen(self):
        self.user({"allowedDomains": ["example.com"]})
        self.bring({"allowedDomains": ["evil.com", "com"]})
        self.assertEqual(self.domains(), ["example.com"])  # below "com", and the user's own
        self.bring({"allowedDomains": ["evil.com"]})
        self.assertEqual(self.domains(), [])

    def test_what_both_allow_stays(self):
        self.user({"allowedDomains": ["example.com", "a.org"],
                   "allowedCommands": ["git *", "make test"]})
        self.bring({"allowedDomains": ["docs.example.com", "*.a.org"],
                    "allowedCommands": ["git log*", "make *", "rm *"]})
        self.assertEqual(self.domains(), ["docs.example.com", "*.a.org"])
        self.assertEqual(self.listed()["allowedCommands"], ["git log*", "make test"])

    def test_a_star_that_is_meant_covers_nothing_else(self):
        self.user({"allowedCommands": ["echo \\*"]})
        self.bring({"allowedCommands": ["echo *"]})
        self.assertEqual(self.listed()["allowedCommands"], [])

    def test_an_address_in_place_of_a_host_is_reported(self):
        self.user_settings({"permissions": {"allowedDomains": ["https://example.com", "a.org"]}})
        result = self.keel("permissions", "list")
        self.assert_status(result, 0)
        self.assertEqual(result.err, 'keel: permissions.allowedDomains: "https://example.com" is not '
                                     'a host, and matches none; write example.com\n')

    def test_a_list_without_end_allows_nothing(self):
        self.user({"allowedCommands": ["*"]})
        self.bring({"allowedCommands": [f"a{i}" for i in range(10_000)]})
        self.assertEqual(self.listed()["allowedCommands"], [])

    def test_trusted_it_replaces(self):
        self.user({"allowedDomains": ["example.com"]})
        self.bring({"allowedDomains": ["other.com"]})
        self.keel("trust", "--yes")
        self.assertEqual(self.domains(), ["other.com"])


class Test(PermissionsTest):
    def test_the_settings_decide(self):
        file = self.user({"allow": ["Bash(git *)"], "deny": ["Bash(git push *)"]})
        self.assertEqual(self.judged("Bash", "git log")["decision"], "auto")
        pushed = self.judged("Bash", "git push -f")
        self.assertEqual((pushed["decision"], pushed["rule"], pushed["where"]),
                         ("deny", "Bash(git push *)", file))
        self.assertEqual(self.judged("Bash", "make")["decision"], "approve")

    def test_letters_of_the_locale_may_hold_a_backslash(self):
        """In GBK the last byte of the letter and the backslash are one letter, and the quote ends."""
        self.user({"allow": ["Bash(echo *)"]})
        for locale, decision in (("C.UTF-8", "auto"), ("zh_CN.GBK", "approve")):
            result = self.keel("permissions", "test", "Bash", 'echo "\u4f60\\"; rm x #"', "--json",
                               env={"LC_ALL": locale})
            self.assert_status(result, 0)
            self.assertEqual(result.json()["decision"], decision, locale)

    def test_the_mode_can_be_another(self):
        self.assertEqual(self.judged("Bash", "make", "--mode", "plan")["decision"], "deny")
        self.assertEqual(self.judged("Write", "a", "--mode", "full")["decision"], "auto")

    def test_the_argument_is_the_one_that_rules_are_about(self):
        self.assertEqual(self.judged("Read", "a.c")["args"], {"file_path": "a.c"})
        self.assertEqual(self.judged("WebFetch", "https://a.b/")["args"], {"url": "https://a.b/"})
        self.assertEqual(self.judged("Agent", "review")["args"], {"subagent_type": "review"})

    def test_all_arguments_can_be_given(self):
        self.assertEqual(self.judged("Read", "--args", '{"filePath": "x"}')["args"],
                         {"file_path": "x"})

    def test_the_hard_policy_holds(self):
        self.assertEqual(self.judged("Write", ".git/hooks/x", "--mode", "bypassPermissions")["step"],
                         5)
        self.user({"allowedDomains": []})
        self.assertEqual(self.judged("WebFetch", "https://a.b/")["step"], 5)

    def test_a_host_that_is_not_listed_is_named_without_the_rest_of_its_address(self):
        self.user({"allowedDomains": ["example.com"]})
        self.assertIn("the host a.b is not on the list",
                      self.judged("WebFetch", "https://a.b:8443/page?x=1")["reason"])
        self.assertIn("the host nonsense is not on the list",
                      self.judged("WebFetch", "nonsense")["reason"])

    def test_further_directories_may_be_written(self):
        (self.dir / "more").mkdir()
        target = str(self.dir / "more" / "x")
        self.assertEqual(self.judged("Write", target, "--mode", "full")["decision"], "deny")
        self.user({"additionalDirectories": [str(self.dir / "more")]})
        self.assertEqual(self.judged("Write", target, "--mode", "full")["decision"], "auto")

    def test_people_are_told_why(self):
        file = self.user({"deny": ["Read(.env)"]})
        result = self.keel("permissions", "test", "Read", ".env")
        self.assert_fine(result)
        self.assertTrue(result.out.startswith("denied  Read(.env)\n"), result)
        self.assertIn(f"(deny, user: {file})", result.out)

    def test_what_the_model_should_do_is_not_told_as_the_reason(self):
        lines = self.keel("permissions", "test", "Read", "~/.ssh/id_rsa").out.splitlines()
        self.assertRegex(lines[1], r"^  why    Permission denied: .* which no tool reads or writes\.$")
        self.assertEqual(lines[2], "  model  reads: Continue without it, or ask the user for what "
                                   "you need.")
        self.assertIn("Continue without it", self.judged("Read", "~/.ssh/id_rsa")["reason"])

    def test_who_is_asked_is_told(self):
        self.assertIn("print mode (keel -p) cannot ask and denies the call", self.keel("permissions", "test", "Bash", "rm x").out)

    def test_a_line_that_only_looks_is_allowed_by_a_rule_of_keels_own(self):
        for mode in ("plan", "default", "acceptEdits", "bypassPermissions"):
            judged = self.judged("Bash", "git log | head", "--mode", mode)
            self.assertEqual((judged["decision"], judged["rule"], judged["kind"], judged["layer"]),
                             ("auto", "built-in:looking", "allow", "built in"))
        self.assertEqual(self.judged("Bash", "cat ~/notes")["decision"], "approve")
        self.assertTrue(self.rule("built-in:looking")["used"])

    def test_the_table_of_commands_that_only_look_can_be_read(self):
        result = self.keel("permissions", "explain", "built-in:looking")
        self.assert_fine(result)
        self.assertRegex(result.out, r"(?m)^  find +without .*-delete")

    def test_only_the_person_chooses_what_runs_unasked(self):
        self.user({"lookingCommands": "ask", "sandboxedCommands": "auto"})
        self.assertEqual(self.judged("Bash", "ls")["rule"], "permissions.sandboxedCommands")
        self.assertEqual(self.judged("Bash", "touch a")["decision"], "auto")
        self.assertEqual(self.judged("Bash", "touch a", "--mode", "plan")["decision"], "deny")
        self.assertFalse(self.rule("built-in:looking")["used"])
        self.user({"sandboxedCommands": "always"})
        self.assert_refused(self.keel("permissions", "list"), 2, "permissions.sandboxedCommands")
        self.user({})
        self.bring({"sandboxedCommands": "auto"})
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assertEqual(self.judged("Bash", "touch a")["decision"], "approve")
        self.assertIn('only your own files can set them: permissions.sandboxedCommands',
                      self.keel("permissions", "list").err)

    def test_a_program_that_could_start_what_is_denied_is_asked_about_with_the_reason(self):
        self.user({"deny": ["Bash(curl *)"], "allow": ["Bash(make *)"]})
        self.assertEqual(self.judged("Bash", "make x; make y")["decision"], "auto")
        judged = self.judged("Bash", "make x; touch y", "--mode", "bypassPermissions")
        self.assertEqual(judged["decision"], "approve")
        self.assertIn("a program in this line can start any command", judged["reason"])
        self.assertIn("cannot tell whether the rule Bash(curl *) denies this call",
                      self.judged("Bash", 'eval "$x"')["reason"])

    def test_hooks_are_mentioned(self):
        self.user_settings({"hooks": {"PreToolUse": [
            {"hooks": [{"type": "command", "command": "true"}]}]}})
        self.assertIn("PreToolUse hooks", self.keel("permissions", "test", "Bash", "ls").out)

    def test_wrong_words_are_told(self):
        test = ("permissions", "test")
        self.assert_refused(self.keel(*test), 2, "TOOL")
        self.assert_refused(self.keel(*test, "TodoWrite", "x"), 2, "--args")
        self.assert_refused(self.keel(*test, "Bash", "x", "--args", "{}"), 2, "cannot be combined")
        self.assert_refused(self.keel(*test, "Bash", "--args", "x"), 2, "--args")
        self.assert_refused(self.keel(*test, "Bash", "git", "push"), 2, "in quotes")
        self.assert_refused(self.keel(*test, "Bash", "ls", "-la"), 2,
                            "put the command into quotes: keel permissions test Bash 'ls -la'")
        self.assert_refused(self.keel(*test, "Bash", "x", "--mode", "y"), 2, "--mode")


    def test_arguments_that_the_tool_does_not_have_are_told(self):
        test = ("permissions", "test", "Bash", "--args")
        self.assert_refused(self.keel(*test, '{"comand": "ls"}'), 2,
                            '--args: Bash has no argument "comand"', 'did you mean "command"?')
        self.assert_refused(self.keel(*test, '{"x": 1}'), 2, 'has no argument "x"', "it takes: command")
        self.assert_refused(self.keel(*test, '{"command": 1}'), 2,
                            '--args: "command" of Bash must be a string, not number')
        self.assertEqual(self.judged("mcp__x__y", "--args", '{"any": 1}')["decision"], "approve")

    def test_it_fits_a_narrow_terminal(self):
        for command in (("list",), ("test", "Bash", "git push"), ("explain", "Bash(git log *)"),
                        ("explain", "Foo(x)")):
            out = self.on_terminal("permissions", *command, columns=44, env={"NO_COLOR": "1"}).out
            for line in out.splitlines():
                self.assertLessEqual(len(line), max(44, len(str(self.project)) + 2), out)


class Explain(PermissionsTest):
    def explain(self, rule):
        result = self.keel("permissions", "explain", rule)
        self.assert_fine(result)
        return " ".join(result.out.split())

    def test_examples_show_where_a_rule_ends(self):
        out = self.explain("Bash(git log:*)")
        self.assertIn("allows denies git log --some", out)
        self.assertIn("- - git loger", out)
        self.assertIn("- denies git log && other", out)

    def test_what_the_policy_refuses_is_marked(self):
        self.assertIn("refused denies .git/x", self.explain("Edit(.git/*)"))

    def test_wide_rules_are_noted(self):
        for rule, note in (
                ("Bash", "every command"), ("Bash(git*)", "no space before the star"),
                ("Bash(* --help)", "any program"), ("Bash(sudo *)", "run other programs"),
                ("*", "every tool"), ("Edit(//srv/**)", "outside the workspace"),
                ("WebFetch(*.a.com/*)", "as an allow rule it never matches")):
            with self.subTest(rule):
                self.assertIn(note, self.explain(rule))

    def test_rules_that_never_match_are_noted(self):
        for rule, note in (
                ("bash", "did you mean Bash?"), ("Frobnicate", "never matches"),
                ("TodoWrite(x)", "as an allow rule it never matches"),
                ("Edit(*/../x)", "never matches"), ("Bash(a && b)", "one simple command")):
            with self.subTest(rule):
                self.assertIn(note, self.explain(rule))

    def test_paths_that_look_like_others_are_noted(self):
        (self.project / "src").mkdir()
        self.assertIn("Edit(src/**)", self.explain("Edit(src)"))
        self.assertIn("//usr/**", self.explain("Read(/usr/**)"))
        self.assertIn("in every directory", self.explain("Read(notes.txt)"))

    def test_a_good_rule_has_no_note(self):
        for rule in ("Bash(npm run test)", "Edit(src/**)", "WebFetch(domain:a.com)", "Read",
                     "mcp__db", "Agent(review)", "WebFetch(https://*.a.com/*)"):
            with self.subTest(rule):
                self.assertNotIn("note", self.explain(rule))

    def test_what_is_no_rule_is_told(self):
        for text in ("Bash(ls", "", "Bash()", "two words"):
            with self.subTest(text):
                self.assert_refused(self.keel("permissions", "explain", text), 2, "is not a valid rule")

    def test_a_web_rule_that_means_no_host_is_refused_with_the_rule_that_does(self):
        for text, meant in (("a.com", "WebFetch(domain:a.com)"),
                            ("https:a.com", "WebFetch(domain:example.com)"),
                            ("domain:https://a.com/x", "WebFetch(domain:a.com)"),
                            ("Domain:a.com:81", "WebFetch(domain:a.com:81)"),
                            ("ftp://a.com/x", "WebFetch(domain:a.com)"),
                            ("domain:*a.com", "WebFetch(domain:example.com)")):
            with self.subTest(text):
                for result in (self.keel("permissions", "explain", f"WebFetch({text})"),
                               self.keel("permissions", "list", "--disallowed-tools",
                                         f"WebFetch({text})")):
                    self.assert_refused(result, 2, f'"WebFetch({text})" is not a valid rule', meant)


if __name__ == "__main__":
    keel_test.main()
