"""confined.py - agents whose commands run in the sandbox, in all the ways that there are."""
import ast
import os
import pathlib
import subprocess

from agent import AgentTest, Call, Reader, Turn
from scripted import ANTHROPIC, keel_test

IS_ROOT = os.geteuid() == 0
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
WITHOUT_NAMESPACES = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"]


class SandboxTest(AgentTest):
    prefix = []  # keel is started through it

    def setUp(self):
        super().setUp()
        self.outside = self.dir / "outside"
        self.outside.mkdir()
        self.n_scripts = 0

    def start(self, *arguments, env=None, cwd=None, **streams):
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        self.hand_over()
        return subprocess.Popen([*self.prefix, keel_test.KEEL, *arguments],
                                env=self.environment(env), cwd=cwd or self.project, **streams)

    def hand_over(self):
        """Gives the files to whom keel runs as."""

    def run_turns(self, *turns, arguments=(), **run):
        """The results of all calls, in their order."""
        self.one = self.play(ANTHROPIC, *turns, Turn("Done."))
        self.result = self.run_agent(ANTHROPIC, self.one, "go", *arguments, **run)
        self.assert_status(self.result, 0)
        self.assertEqual(self.result.out, "Done.\n")
        lines = Reader(ANTHROPIC, self.one.requests[-1]).lines
        return [ast.literal_eval(line.split(" ", 4)[4]) for line in lines
                if line.startswith("  result #")]

    def bash(self, script, **more):
        """A turn that runs this. The gate does not see what is in the file: the sandbox alone has
        to hold."""
        self.n_scripts += 1
        path = self.project / f"script-{self.n_scripts}"
        path.write_text(script + "\n")
        return Turn(Call("Bash", command=f". {path}", **more))

    def run_bash(self, *scripts, **run):
        return self.run_turns(*map(self.bash, scripts), **run)

    def init_repository(self, path):
        subprocess.run(["git", "init", "-q", str(path)], check=True, env=self.environment())
        return path / ".git"

    def assert_not_sent(self, text):
        for request in self.one.requests:
            self.assertNotIn(text, request.body.decode())

    def assert_nothing_runs(self, marker):
        """No process has this in its arguments."""
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.assertNotIn(marker.encode(), path.read_bytes(), path)
            except OSError:
                pass  # it has just ended
