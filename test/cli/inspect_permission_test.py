"""inspect_permission_test.py - the gate as a table: one call, some rules, one decision.

A row is (what it shows, options, tool, arguments, decision) and may go on with the step and the
rule that must be named. DIR in texts is the workspace, OUT a directory beside it.
"""
import json
import os

import keel_test
from keel_test import KeelTest, at_once

AUTO, ASK, DENY = "auto", "approve", "deny"


def allow(*rules):
    return [word for rule in rules for word in ("--allow", rule)]


def ask(*rules):
    return [word for rule in rules for word in ("--ask", rule)]


def deny(*rules):
    return [word for rule in rules for word in ("--deny", rule)]


def mode(name):
    return ["--mode", name]


def bash(command):
    return "Bash", {"command": command}


def path(tool, name, **more):
    return tool, {"file_path": name, **more}


PLAN, EDITS, BYPASS = mode("plan"), mode("acceptEdits"), mode("bypassPermissions")

MODES = [
    ("plan lets read", PLAN, *path("Read", "a.txt"), AUTO, 7, "mode:plan/inspect"),
    ("plan does not write", PLAN, *path("Write", "a.txt"), DENY, 7, "mode:plan/modify"),
    ("plan does not run", PLAN, *bash("ls"), DENY, 7, "mode:plan/execute"),
    ("default lets read", [], *path("Read", "a.txt"), AUTO, 7),
    ("default asks before it writes", [], *path("Edit", "a.txt"), ASK, 7, "mode:default/modify"),
    ("default asks before it runs", [], *bash("ls"), ASK, 7, "mode:default/execute"),
    ("acceptEdits writes", EDITS, *path("Write", "a.txt"), AUTO),
    ("acceptEdits asks before it runs", EDITS, *bash("ls"), ASK),
    ("bypass runs", BYPASS, *bash("ls"), AUTO, 7, "mode:bypassPermissions/execute"),
    ("safe is plan", mode("safe"), *bash("ls"), DENY, 7, "mode:plan/execute"),
    ("moderate is default", mode("moderate"), *bash("ls"), ASK, 7, "mode:default/execute"),
    ("full is acceptEdits", mode("full"), *path("Write", "a.txt"), AUTO, 7,
     "mode:acceptEdits/modify"),
    ("plan asks before a request", PLAN, "WebFetch", {"url": "https://a.org/"}, ASK, 7,
     "mode:plan/network"),
    ("default too", [], "WebFetch", {"url": "https://a.org/"}, ASK, 7, "mode:default/network"),
    ("acceptEdits too", EDITS, "WebSearch", {"query": "x"}, ASK, 7, "mode:acceptEdits/network"),
    ("bypass does not", BYPASS, "WebFetch", {"url": "https://a.org/"}, AUTO, 7,
     "mode:bypassPermissions/network"),
    ("an unclassified tool in plan", PLAN, "Teleport", {}, DENY),
    ("an unclassified tool in default", [], "Teleport", {}, ASK),
    ("an unclassified tool in acceptEdits", EDITS, "Teleport", {}, ASK),
    ("an unclassified tool in bypass", BYPASS, "Teleport", {}, AUTO),
]

ORDER = [
    ("deny beats ask and allow", [*allow("Bash"), *ask("Bash"), *deny("Bash")], *bash("ls"), DENY,
     7, "Bash"),
    ("ask beats allow", [*allow("Bash(ls)"), *ask("Bash(ls)")], *bash("ls"), ASK, 7, "Bash(ls)"),
    ("allow beats the mode", allow("Bash(ls)"), *bash("ls"), AUTO, 7, "Bash(ls)"),
    ("deny beats bypass", [*BYPASS, *deny("Bash(ls)")], *bash("ls"), DENY),
    ("ask beats bypass", [*BYPASS, *ask("Bash(ls)")], *bash("ls"), ASK),
    ("an allow rule counts in plan", [*PLAN, *allow("Bash(ls)")], *bash("ls"), AUTO),
    ("a bare name is every call", allow("Bash"), *bash("rm -rf x; y > z"), AUTO),
    ("a star is every call", allow("Bash(*)"), *bash("rm -rf x; y"), AUTO),
    ("a rule for another tool is none", allow("Read"), *bash("ls"), ASK),
]

UNCLEAR = [
    ("a deny rule that is unclear asks", [*BYPASS, *deny("Bash(rm *)")], *bash('$(pick) -rf x'),
     ASK, 7, "Bash(rm *)"),
    ("and denies in plan", [*PLAN, *allow("Bash"), *deny("Bash(rm *)")], *bash('$(pick) -rf x'),
     DENY, 7, "Bash(rm *)"),
    ("even a read in plan", [*PLAN, *deny("Read(a/../*/../b)")], *path("Read", "b"), DENY),
    ("a deny rule that is none asks", [*BYPASS, *deny("Bash(rm")], *bash("ls"), ASK),
    ("an allow rule that is none allows nothing", allow("Bash(ls"), *bash("ls"), ASK),
    ("a text that cannot be split asks", [*BYPASS, *deny("Bash(rm *)")], *bash("echo 'open"), ASK),
    ("a call without the argument is unclear", [*BYPASS, *deny("Bash(rm *)")], "Bash", {}, ASK),
    ("an argument that is not known is unclear", [*BYPASS, *deny("mcp__db__query(drop *)")],
     "mcp__db__query", {"sql": "select 1"}, ASK),
]

COMMANDS = [
    ("exactly this", allow("Bash(npm run test)"), *bash("npm run test"), AUTO),
    ("and nothing longer", allow("Bash(npm run test)"), *bash("npm run test x"), ASK),
    ("a prefix with a colon", allow("Bash(git log:*)"), *bash("git log --oneline"), AUTO),
    ("a prefix alone", allow("Bash(git log:*)"), *bash("git log"), AUTO),
    ("a prefix ends at a word", allow("Bash(git log:*)"), *bash("git logs"), ASK),
    ("a prefix with a blank", allow("Bash(git *)"), *bash("git status -s"), AUTO),
    ("a star amid", allow("Bash(git * main)"), *bash("git push main"), AUTO),
    ("every command of && must hold", allow("Bash(git *)"), *bash("git add . && rm x"), ASK),
    ("of ;", allow("Bash(git *)"), *bash("git add .; rm x"), ASK),
    ("of ||", allow("Bash(git *)"), *bash("git add . || rm x"), ASK),
    ("of a pipe", allow("Bash(git *)"), *bash("git log | sh"), ASK),
    ("of &", allow("Bash(git *)"), *bash("git fetch & rm x"), ASK),
    ("of lines", allow("Bash(git *)"), *bash("git log\nrm x"), ASK),
    ("of $( )", allow("Bash(git *)"), *bash("git log $(rm x)"), ASK),
    ("of backticks", allow("Bash(git *)"), *bash("git log `rm x`"), ASK),
    ("of subshells", allow("Bash(git *)"), *bash("(git log; rm x)"), ASK),
    ("of process substitution", allow("Bash(git *)"), *bash("git diff <(rm x)"), ASK),
    ("several rules together cover a line", allow("Bash(git *)", "Bash(make)"),
     *bash("git pull && make"), AUTO),
    ("a redirection is a write", allow("Bash(git *)"), *bash("git log > out.txt"), ASK),
    ("which a rule can allow", allow("Bash(git *)", "Write(out.txt)"), *bash("git log > out.txt"),
     AUTO),
    ("or the mode", [*EDITS, *allow("Bash(git *)")], *bash("git log >> out.txt"), AUTO),
    ("the null device is no file", allow("Bash(git *)"), *bash("git log 2>/dev/null"), AUTO),
    ("an assignment before it is another command", allow("Bash(git *)"),
     *bash("GIT_PAGER=./x git log"), ASK),
    ("what is expanded does not match a name", allow("Bash(git *)"), *bash("$GIT log"), ASK),
    ("quotes are no hiding place", [*BYPASS, *deny("Bash(rm *)")], *bash("r''m -rf x"), DENY),
    ("nor is a path", [*BYPASS, *deny("Bash(rm *)")], *bash("/bin/rm -rf x"), DENY),
    ("nor a second command", [*BYPASS, *deny("Bash(rm *)")], *bash("cd x && rm -rf y"), DENY),
    ("nor env", [*BYPASS, *deny("Bash(rm *)")], *bash("env A=b rm -rf y"), DENY),
    ("nor sudo", [*BYPASS, *deny("Bash(rm *)")], *bash("sudo -n rm -rf y"), DENY),
    ("nor xargs", [*BYPASS, *deny("Bash(rm *)")], *bash("ls | xargs rm"), DENY),
    ("nor sh -c", [*BYPASS, *deny("Bash(rm *)")], *bash("sh -c 'rm -rf y'"), DENY),
    ("nor find", [*BYPASS, *deny("Bash(rm *)")], *bash("find . -exec rm {} ;"), DENY),
    ("nor an assignment", [*BYPASS, *deny("Bash(rm *)")], *bash("A=b rm -rf y"), DENY),
    ("an ask rule is as wide", [*BYPASS, *ask("Bash(git push *)")],
     *bash("make && git push origin"), ASK),
]

PATHS = [
    ("below the root", allow("Edit(src/**)"), *path("Edit", "src/a/b.c"), AUTO),
    ("one star stops at a slash", allow("Edit(src/*)"), *path("Edit", "src/a/b.c"), ASK),
    ("one slash is the root", allow("Edit(/src/**)"), *path("Edit", "src/b.c"), AUTO),
    ("and not the file system's", allow("Edit(/tmp/**)"), *path("Edit", "/tmp/keel-absent"), DENY,
     5),
    ("two are the file system's", allow("Edit(/DIR/src/**)"), *path("Edit", "src/b.c"), AUTO),
    ("a deny rule is read both ways, as root", [*BYPASS, *deny("Read(/src/**)")],
     *path("Read", "src/b.c"), DENY),
    ("and as the file system's", [*BYPASS, *deny("Read(/usr/share/**)")],
     *path("Read", "/usr/share/x"), DENY),
    ("a tilde is the home directory", [*BYPASS, *deny("Read(~/notes/**)")],
     *path("Read", "~/notes/a"), DENY),
    ("dots are resolved", [*BYPASS, *deny("Read(src/**)")], *path("Read", "x/../src/b.c"), DENY),
    ("denied to Read is denied to Edit", [*BYPASS, *deny("Read(src/**)")],
     *path("Edit", "src/b.c"), DENY),
    ("and to Write", [*BYPASS, *deny("Read(src/**)")], *path("Write", "src/b.c"), DENY),
    ("and to Grep", [*BYPASS, *deny("Read(src/**)")], "Grep", {"pattern": "x", "path": "src"},
     DENY),
    ("and to Glob", [*BYPASS, *deny("Read(src/**)")], "Glob", {"pattern": "*", "path": "src"},
     DENY),
    ("and to redirections", [*BYPASS, *deny("Read(src/**)")], *bash("cat < src/b.c"), DENY),
    ("denied to Edit is not denied to Read", [*BYPASS, *deny("Edit(src/**)")],
     *path("Read", "src/b.c"), AUTO),
    ("but to Write", [*BYPASS, *deny("Edit(src/**)")], *path("Write", "src/b.c"), DENY),
    ("a denied name is denied at any depth", [*BYPASS, *deny("Read(secret.txt)")],
     *path("Read", "src/secret.txt"), DENY),
    ("another spelling of the argument counts", deny("Read(src/**)"), "Read",
     {"filePath": "src/b.c"}, DENY),
    ("a link is where it leads", [*BYPASS, *deny("Read(src/**)")], *path("Read", "link/b.c"),
     DENY),
    ("an allowed link must lead where it is allowed", allow("Edit(link/**)"),
     *path("Edit", "link/b.c"), ASK),
]

POLICY = [
    ("files outside are not changed", BYPASS, *path("Write", "OUT/a"), DENY, 5, "policy:outside"),
    ("nor by dots", BYPASS, *path("Write", "../out/a"), DENY, 5),
    ("nor through a link", BYPASS, *path("Edit", "away/a"), DENY, 5),
    ("nor by a redirection", BYPASS, *bash("echo x > OUT/a"), DENY, 5),
    ("to read them asks", [], *path("Read", "OUT/a"), ASK, 7, "mode:default/outside"),
    ("in plan too", PLAN, "Grep", {"pattern": "x", "path": "OUT"}, ASK, 7, "mode:plan/outside"),
    ("through a link too", EDITS, *path("Read", "away/a"), ASK, 7, "mode:acceptEdits/outside"),
    ("by a pattern too", [], "Glob", {"pattern": "OUT/*"}, ASK, 7, "mode:default/outside"),
    ("in bypass it does not", BYPASS, *path("Read", "OUT/a"), AUTO),
    ("a rule for Read is for searches too", allow("Read(/OUT/**)"), "Grep",
     {"pattern": "x", "path": "OUT"}, AUTO, 7, "Read(/OUT/**)"),
    ("the system's own files are free", PLAN, *path("Read", "/usr/bin/env"), AUTO, 7),
    ("credentials are never read", [*BYPASS, *allow("Read")], *path("Read", "~/.ssh/id_rsa"), DENY,
     5, "policy:secret"),
    ("unless they are named", allow("Edit(/OUT/**)"), *path("Edit", "OUT/a"), AUTO),
    ("or added", [*EDITS, "--add-dir", "OUT"], *path("Edit", "OUT/a"), AUTO),
    (".git is not written", [*BYPASS, *allow("Edit")], *path("Edit", ".git/config"), DENY, 5,
     "policy:protected"),
    (".keel neither", [*BYPASS, *allow("Write")], *path("Write", ".keel/settings.json"), DENY, 5),
    (".ssh neither", BYPASS, *path("Write", ".ssh/authorized_keys"), DENY, 5),
    ("dotenv files neither", BYPASS, *path("Write", ".env.local"), DENY, 5),
    ("credentials neither", BYPASS, *path("Write", "src/id_rsa"), DENY, 5),
    ("not through a link", BYPASS, *path("Write", "hidden/config"), DENY, 5),
    (".git is read", [], *path("Read", ".git/config"), AUTO),
    ("keys of the person are not read", [*BYPASS, *allow("Read")], *path("Read", "~/.ssh/id_rsa"),
     DENY, 5, "policy:secret"),
    ("only listed commands run", [*BYPASS, "--allowed-command", "git *"], *bash("ls"), DENY, 5,
     "policy:commands"),
    ("each of a line must be listed", [*BYPASS, "--allowed-command", "git *"],
     *bash("git log; ls"), DENY, 5),
    ("a listed one still needs a rule", ["--allowed-command", "git *"], *bash("git log"), ASK, 7),
    ("only listed hosts are fetched", [*BYPASS, "--allowed-domain", "example.com"], "WebFetch",
     {"url": "https://example.org/"}, DENY, 5, "policy:domains"),
    ("with what is below them", [*BYPASS, "--allowed-domain", "example.com"], "WebFetch",
     {"url": "https://docs.example.com/"}, AUTO, 7),
]

NAMES = [
    ("a domain", [*BYPASS, *deny("WebFetch(domain:example.com)")], "WebFetch",
     {"url": "https://example.com/x"}, DENY),
    ("with what is below it", [*BYPASS, *deny("WebFetch(domain:example.com)")], "WebFetch",
     {"url": "https://a.example.com/x"}, DENY),
    ("in any case of letters", [*BYPASS, *deny("WebFetch(domain:example.com)")], "WebFetch",
     {"url": "https://EXAMPLE.com/x"}, DENY),
    ("and not what ends like it", [*BYPASS, *deny("WebFetch(domain:example.com)")], "WebFetch",
     {"url": "https://notexample.com/x"}, AUTO),
    ("what looks like a host before an @ is none", [*BYPASS, *deny("WebFetch(domain:evil.com)")],
     "WebFetch", {"url": "https://example.com@evil.com/"}, DENY),
    ("a server is all its tools", allow("mcp__db"), "mcp__db__query", {"sql": "x"}, AUTO),
    ("and no other server", allow("mcp__db"), "mcp__dbx__query", {"sql": "x"}, ASK),
    ("one tool of a server", allow("mcp__db__query"), "mcp__db__drop", {}, ASK),
    ("a star in a name", allow("mcp__db__get_*"), "mcp__db__get_rows", {}, AUTO),
    ("an agent by its name", deny("Agent(deploy)"), "Agent", {"subagent_type": "deploy"}, DENY),
    ("and no other agent", [*BYPASS, *deny("Agent(deploy)")], "Agent", {"subagent_type": "review"},
     AUTO),
    ("in another spelling", deny("Task(deploy)"), "Task", {"agent": "deploy"}, DENY),
    ("a query with stars", allow("WebSearch(keel *)"), "WebSearch", {"query": "keel docs"}, AUTO),
]


class Table(KeelTest):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "out"
        for directory in (self.out, self.project / "src", self.project / ".git"):
            directory.mkdir()
        for link, target in (("link", "src"), ("away", self.out), ("hidden", ".git")):
            os.symlink(target, self.project / link)

    def fill_in(self, text):
        return text.replace("DIR", str(self.project.resolve())).replace(
            "OUT", str(self.out.resolve()))

    def judge(self, options, tool, arguments):
        texts = [*options, "--tool", tool, "--args", json.dumps(arguments)]
        result = self.keel("inspect", "permission", *map(self.fill_in, texts))
        self.assert_fine(result)
        self.assertEqual(result.out.count("\n"), 1, result)
        return result.json()

    def check(self, rows):
        judged = at_once(lambda row: self.judge(*row[1:4]), rows)
        for (what, _, _, _, decision, *more), got in zip(rows, judged):
            with self.subTest(what):
                want = [decision, *map(lambda x: self.fill_in(x) if isinstance(x, str) else x,
                                       more)]
                self.assertEqual([got["decision"], got["step"], got["rule"]][:len(want)], want, got)
                self.assertEqual(list(got), ["decision", "step", "rule", "reason"])
                self.assertTrue(got["reason"])

    def test_modes(self):
        self.check(MODES)

    def test_the_order_of_lists(self):
        self.check(ORDER)

    def test_what_cannot_be_evaluated(self):
        self.check(UNCLEAR)

    def test_commands(self):
        self.check(COMMANDS)

    def test_paths(self):
        self.check(PATHS)

    def test_the_hard_policy(self):
        self.check(POLICY)

    def test_names_and_hosts(self):
        self.check(NAMES)


class Invocation(KeelTest):
    def judge(self, *options):
        return self.keel("inspect", "permission", *options)

    def test_settings_files_do_not_count(self):
        self.user_settings({"permissions": {"deny": ["Bash"], "defaultMode": "plan"}})
        result = self.judge("--tool", "Bash", "--args", '{"command": "ls"}')
        self.assertEqual(result.json()["decision"], "approve")

    def test_the_working_directory_can_be_another(self):
        other = self.dir / "other"
        other.mkdir()
        (other / "x").mkdir()
        self.assertEqual(self.judge("--cwd", str(other), "--mode", "acceptEdits", "--tool", "Write",
                                    "--args", '{"file_path": "x/a"}').json()["decision"], "auto")
        self.assertEqual(self.judge("--cwd", str(other), "--deny", "Read(/x/**)", "--tool", "Read",
                                    "--args", json.dumps({"file_path": str(other / "x" / "a")})
                                    ).json()["decision"], "deny")

    def test_arguments_need_not_fit_the_schema(self):
        result = self.judge("--tool", "Bash", "--args", '{"command": ["ls"], "x": 1}')
        self.assert_fine(result)
        self.assertEqual(result.json()["decision"], "approve")

    def test_an_invalid_rule_allows_nothing_and_asks(self):
        call = ("--tool", "Bash", "--args", '{"command": "make"}')
        self.assertIn("mode:", self.judge("--allow", "Bash(", *call).json()["rule"])
        for flag in ("--ask", "--deny"):
            self.assertEqual(self.judge(flag, "Bash(", *call, "--mode", "bypassPermissions")
                             .json()["rule"], "Bash(")

    def test_an_unknown_mode_is_told(self):
        self.assert_refused(self.judge("--mode", "yolo", "--tool", "Bash", "--args", "{}"), 2,
                            "yolo", "bypassPermissions")

    def test_arguments_that_are_no_json_are_told(self):
        self.assert_refused(self.judge("--tool", "Bash", "--args", "{command"), 2, "--args")

    def test_arguments_that_are_no_object_are_told(self):
        self.assert_refused(self.judge("--tool", "Bash", "--args", "[]"), 2, "object")

    def test_tool_and_arguments_must_be_given(self):
        self.assert_refused(self.judge("--args", "{}"), 2, "--tool")
        self.assert_refused(self.judge("--tool", "Bash"), 2, "--args")


if __name__ == "__main__":
    keel_test.main()
