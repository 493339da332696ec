"""planted_test.py - what commands leave behind for somebody to run later, over the life of an agent:
in the background, while other commands begin and end.

The model is scripted and does what it should not. As root the whole suite runs four times: as root
and as an ordinary user, with namespaces and where none can be made."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import scripted
from agent import AgentTest, Call, Turn
from scripted import ANTHROPIC
from scripted import keel_test

IS_ROOT = os.geteuid() == 0
HERE = pathlib.Path(__file__).parent
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
WITHOUT_NAMESPACES = [sys.executable, str(HERE / "no_namespaces.py")]

# A repository as git makes one, by hand: without namespaces git cannot.
PLAIN = ("repo() { mkdir -p $1/.git/objects $1/.git/refs $1/.git/hooks; "
         "echo 'ref: refs/heads/main' >$1/.git/HEAD; "
         "printf '[core]\\n\\trepositoryformatversion = 0\\n' >$1/.git/config; }; ")


class PlantedTest(AgentTest):
    prefix = []  # keel is started through it
    is_user = False
    has_namespaces = True

    def setUp(self):
        super().setUp()
        self.n_scripts = 0
        self.evil = self.dir / "evil"
        subprocess.run(["git", "init", "-q", str(self.project)], check=True,
                       env=self.environment())
        self.before = self.picture()

    def start(self, *arguments, env=None, cwd=None, **streams):
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        self.hand_over()
        return subprocess.Popen([*self.prefix, keel_test.KEEL, *arguments],
                                env=self.environment(env), cwd=cwd or self.project, **streams)

    def hand_over(self):
        """Gives the files to whom keel runs as."""
        if self.is_user:
            subprocess.run(["chown", "-hR", "65534:65534", str(self.dir)], check=True)

    def picture(self):
        """What git would run or obey in the workspace's own repository."""
        git = self.project / ".git"
        return {str(path): path.read_text() for path in (git / "config", *git.glob("hooks/*"))
                if not path.name.endswith((".sample", ".keel-untrusted"))}

    def bash(self, script, **more):
        """A turn that runs this. The gate does not see what is in the file."""
        self.n_scripts += 1
        path = self.project / f"script-{self.n_scripts}"
        path.write_text(script + "\n")
        return Turn(Call("Bash", command=f". {path}", **more))

    def run_turns(self, *turns):
        provider = self.play(ANTHROPIC, *turns, Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, provider, "go")
        self.assert_status(self.result, 0)
        self.assertEqual(self.result.out, "Done.\n")
        return self.result

    def as_person(self, script):
        """Something that the person does afterwards, without a sandbox."""
        prefix = AS_USER if self.is_user else []
        subprocess.run([*prefix, "sh", "-c", script], cwd=self.project, check=False,
                       env={**self.environment(), "GIT_CONFIG_NOSYSTEM": "1"},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def assert_harmless(self, *directories):
        """git runs nothing in these."""
        self.hand_over()
        for directory in directories:
            self.as_person(f"cd {directory} && git -c user.name=A -c user.email=a@b.c "
                           "commit -q --allow-empty -m x; git status")
        self.assertFalse(self.evil.exists(), self.result)

    def evil_config(self, directory):
        """A line that makes git run something there."""
        return (f"printf '[core]\\n\\tfsmonitor = touch {self.evil}\\n' "
                f">>{directory}/.git/config; ")

    def evil_hook(self, directory):
        return (f"(umask 0; printf '#!/bin/sh\\ntouch {self.evil}\\n' "
                f">{directory}/.git/hooks/pre-commit); "
                f"cp --no-preserve=mode {directory}/.git/hooks/pre-commit x; "
                f"python3 -c \"import os; os.close(os.open('{directory}/.git/hooks/pre-commit2', "
                "os.O_CREAT | os.O_WRONLY, 0o777))\"; "
                f"cat x >{directory}/.git/hooks/pre-commit2; rm x; "
                f"mv {directory}/.git/hooks/pre-commit2 {directory}/.git/hooks/pre-commit; ")


class InTheBackground(PlantedTest):
    def wait(self, name):
        return f"until [ -e {name} ]; do :; done; "

    def test_a_repository_that_turns_bad_after_it_was_looked_at(self):
        self.run_turns(
            self.bash(PLAIN + "repo src; touch made; " + self.wait("go") + self.evil_config("src") +
                      self.evil_hook("src") + "touch planted; exec sleep 1000",
                      run_in_background=True),
            self.bash(self.wait("made")),
            self.bash("touch go; " + self.wait("planted")))
        self.assert_harmless("src")
        self.assertIn("src/.git/config was made by the command", self.result.err)

    def test_one_that_turns_bad_when_nobody_looks_any_more(self):
        """The command in the background is the last one to end."""
        self.run_turns(
            self.bash(PLAIN + "repo src; touch made; " + self.wait("go") + self.evil_hook("src") +
                      "touch planted; exec sleep 1000", run_in_background=True),
            self.bash(self.wait("made")), self.bash("touch go"), self.bash(self.wait("planted")),
            Turn(Call("KillShell", shell_id="bash_1")))
        self.assert_harmless("src")
        self.assertIn("src/.git/hooks/pre-commit was made by the command", self.result.err)

    def test_one_that_another_command_has_made(self):
        """Made by one that has ended, and spoiled by one that began before."""
        self.run_turns(
            self.bash("touch up; " + self.wait("go") + self.evil_config("src") +
                      "touch planted; exec sleep 1000", run_in_background=True),
            self.bash(self.wait("up") + PLAIN + "repo src"), self.bash("true"),
            self.bash("touch go; " + self.wait("planted")))
        self.assert_harmless("src")

    def test_a_directory_that_becomes_a_repository_step_by_step(self):
        self.run_turns(
            self.bash("mkdir -p src/.git/objects src/.git/refs; touch made; " + self.wait("go") +
                      "echo 'ref: refs/heads/x' >src/.git/HEAD; " + self.evil_config("src") +
                      "touch planted; exec sleep 1000", run_in_background=True),
            self.bash(self.wait("made")), self.bash("true"),
            self.bash("touch go; " + self.wait("planted")))
        self.assert_harmless("src")


def ways(*cases):
    """Every case in every way that this machine and this user have."""
    for case in cases:
        for name, is_user, has_namespaces in (
                ("", False, True), ("AsUser", True, True), ("Confined", False, False),
                ("AsConfinedUser", True, False)):
            prefix = ([] if has_namespaces else WITHOUT_NAMESPACES) + (AS_USER if is_user else [])
            made = type(case.__name__ + name, (case,), {
                "prefix": prefix, "is_user": is_user, "has_namespaces": has_namespaces,
                "__doc__": case.__doc__})
            if is_user and not (IS_ROOT and shutil.which("setpriv")):
                made = unittest.skip("only root can be others")(made)
            yield made


for way in ways(InTheBackground):
    globals()[way.__name__] = way
del way

if __name__ == "__main__":
    scripted.keel_test.main()
