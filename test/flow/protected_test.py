"""protected_test.py - what others execute or obey: not written by Write and Edit of a real run."""
import os
import subprocess

import scripted
from scripted import ANTHROPIC, Call, FlowTest

PROGRAM = "touch PWNED; false"


class ProtectedTest(FlowTest):
    def setUp(self):
        super().setUp()
        self.proof = self.dir / "PWNED"

    def git(self, *arguments, cwd=None):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(["git", *arguments], cwd=cwd or self.project, env=env,
                              capture_output=True, text=True, check=False)

    def results(self, provider):
        parts = [part for message in provider.requests[-1].json["messages"]
                 if isinstance(message["content"], list) for part in message["content"]]
        return [part["content"] if isinstance(part["content"], str) else part["content"][0]["text"]
                for part in parts if part["type"] == "tool_result"]

    def run_rounds(self, *rounds, mode="acceptEdits", arguments=()):
        """Rounds of calls; what the model read of all of them."""
        answers = [ANTHROPIC.answer([""], calls=list(calls)) for calls in rounds]
        provider = self.provider(*answers, ANTHROPIC.answer())
        result = self.ask(provider, "--permission-mode", mode, *arguments, "go")
        self.assert_status(result, 0)
        return self.results(provider)


class Repositories(ProtectedTest):
    def embedded(self):
        """The files of a repository in `sub` whose configuration runs a program."""
        config = f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch {self.proof}\"\n"
        return [Call("Write", file_path="sub/HEAD", content="ref: refs/heads/main\n"),
                Call("Write", file_path="sub/config", content=config),
                Call("Write", file_path="sub/objects/x", content="x"),
                Call("Write", file_path="sub/refs/x", content="x")]

    def assert_harmless(self):
        self.git("status", cwd=self.project / "sub")
        self.assertFalse(self.proof.exists())

    def test_a_repository_is_not_made_file_by_file(self):
        for mode in ("acceptEdits", "bypassPermissions"):
            results = self.run_rounds(*[[call] for call in self.embedded()], mode=mode)
            self.assertIn("git directory", results[-1])
            self.assert_harmless()

    def test_nor_by_calls_of_one_answer(self):
        results = self.run_rounds(self.embedded())
        self.assertIn("git directory", "".join(results))
        self.assert_harmless()

    def test_nor_with_a_command_between_them(self):
        head, config, *_ = self.embedded()
        self.run_rounds([Call("Bash", command="mkdir -p sub/objects sub/refs"), head, config],
                        arguments=["--allowed-tools", "Bash"])
        self.assert_harmless()

    def test_the_configuration_of_a_bare_one_is_not_written(self):
        self.git("init", "--bare", "store")
        results = self.run_rounds([
            Call("Write", file_path="store/hooks/post-update", content=f"touch {self.proof}\n"),
            Call("Write", file_path="store/config.worktree", content="x"),
            Call("Write", file_path="store/info/attributes", content="x")])
        for told in results:
            self.assertIn("Permission denied", told)

    def test_hooks_that_the_configuration_names_are_not_changed(self):
        self.git("init")
        self.git("config", "core.hooksPath", ".husky")
        hook = self.project / ".husky" / "pre-commit"
        hook.parent.mkdir()
        hook.write_text("#!/bin/sh\nexit 0\n")
        results = self.run_rounds(
            [Call("Read", file_path=".husky/pre-commit")],
            [Call("Edit", file_path=".husky/pre-commit", old_string="exit 0", new_string=PROGRAM),
             Call("Write", file_path=".husky/post-commit", content=PROGRAM)],
            mode="bypassPermissions")
        for told in results[1:]:
            self.assertIn("Permission denied", told)
        self.assertEqual(hook.read_text(), "#!/bin/sh\nexit 0\n")

    def test_what_a_link_among_the_hooks_leads_to_is_not_changed(self):
        self.git("init")
        check = self.project / "check"
        check.write_text("#!/bin/sh\nexit 0\n")
        (self.project / ".git/hooks").mkdir(exist_ok=True)
        (self.project / ".git/hooks/pre-commit").symlink_to("../../check")
        told = self.run_rounds(
            [Call("Read", file_path="check")],
            [Call("Edit", file_path="check", old_string="exit 0", new_string=PROGRAM)],
            mode="bypassPermissions")[-1]
        self.assertIn("Permission denied", told)
        self.assertEqual(check.read_text(), "#!/bin/sh\nexit 0\n")


class Names(ProtectedTest):
    REFUSED = (".vscode/tasks.json", ".idea/workspace.xml", ".gitmodules", ".hg/hgrc", ".codex/x",
               ".gemini/settings.json", ".cursor/mcp.json", ".agents/x", ".devcontainer/x", ".vimrc",
               ".tmux.conf", ".config/autostart/x", ".config/nvim/init.lua", ".xsession", ".git/x")
    ASKED = ("AGENTS.md", ".github/workflows/ci.yml", ".npmrc", ".gitattributes",
             ".pre-commit-config.yaml")

    def test_no_mode_lets_them_be_written(self):
        calls = [Call("Write", file_path=name, content="x") for name in self.REFUSED]
        for told in self.run_rounds(calls, mode="bypassPermissions"):
            self.assertIn("Permission denied", told)
        self.assertEqual(os.listdir(self.project), [])

    def test_what_is_ordinary_work_asks_where_edits_are_accepted(self):
        calls = [Call("Write", file_path=name, content="x") for name in self.ASKED]
        results = self.run_rounds(calls)
        for name, told in zip(self.ASKED, results):
            self.assertIn("Permission denied", told)
            self.assertIn(f"Write(/{self.project.resolve()}/{name})", told)
        for told in self.run_rounds(calls, mode="bypassPermissions"):
            self.assertIn("Created", told)

    def test_commands_do_not_write_what_nobody_may(self):
        names = [name for name in self.REFUSED if not name.startswith((".hg", ".git/"))]
        command = "; ".join(f"mkdir -p $(dirname {name}); echo x > {name}" for name in names)
        self.run_rounds([Call("Bash", command=command)], mode="bypassPermissions")
        for name in names:
            self.assertFalse((self.project / name).exists(), name)


if __name__ == "__main__":
    scripted.main()
