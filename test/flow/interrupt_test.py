"""interrupt_test.py - the real program, ended anywhere: its session is whole, and replays.

A seed makes a few turns with text, thoughts and calls in one of the protocols, and says how the run
is ended: SIGINT at a line that keel prints or at a piece that the provider sends, a stream that
breaks at a piece, a hook that says stop. Afterwards `session verify` and `session replay` end with
0, and so does the next prompt.

A sample, at seeds that are printed; 200 with KEEL_TEST_DEPTH=all. KEEL_TEST_SEED=N tries one.
"""
import os
import random
import signal
import subprocess
import threading
import time

import scripted
from agent import AgentTest, Call, Thought, Turn
from scripted import HANG_SECONDS, HANG_UP, PROTOCOLS

N_ALL, N_SAMPLED = 200, 15
HOOKS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
BREAKS_ARGUMENTS = ("anthropic-messages", "openai-chat", "openai-responses")


class Interrupt(threading.Event):
    """A piece of an answer: keel gets a SIGINT before the next one, which comes when it is gone."""

    def __init__(self):
        super().__init__()
        self.process, self.is_started = None, threading.Event()

    def wait(self, timeout=None):
        self.is_started.wait(HANG_SECONDS)
        self.process.send_signal(signal.SIGINT)
        return super().wait(timeout)


class Ended(AgentTest):
    base_settings = {"maxAttempts": 2}

    def make_call(self, dice, protocol):
        calls = [lambda: Call("Bash", command="echo one"),
                 lambda: Call("Bash", command="echo two > made; cat made"),
                 lambda: Call("Read", file_path="there"),
                 lambda: Call("Read", file_path="not-there"),
                 lambda: Call("Glob", pattern="*"),
                 lambda: Call("Nothing", path="x"),
                 lambda: Call("Bash", wrong=1)]
        if protocol.name in BREAKS_ARGUMENTS:
            calls.append(lambda: Call("Bash", raw=['{"command": ', '"echo', " three", '"}']))
            calls.append(lambda: Call("Bash", raw='{"command": "echo'))
        return dice.choice(calls)()

    def make_turns(self, dice, protocol):
        turns = []
        for _ in range(dice.randint(1, 3)):
            items = [["Let", " me", " look", "."]]
            if dice.random() < 0.3:
                items.insert(0, Thought("Hm."))
            items += [self.make_call(dice, protocol) for _ in range(dice.randint(1, 4))]
            turns.append(Turn(*items))
        return [*turns, Turn(["All", " done", "."])]

    def answers_of(self, dice, protocol, piece):
        """The turns as answers, one of them with this piece somewhere in it."""
        self.ids = iter(range(1, 1000))
        turns = self.make_turns(dice, protocol)
        answers = [self.encode(protocol, turn) for turn in turns]
        if piece:
            chosen = dice.choice(answers)
            chosen.pieces.insert(dice.randint(0, len(chosen.pieces) - 1), piece)
        return answers

    def set_hook(self, dice):
        """Some hook says stop at its first, second or third word."""
        count = self.dir / "count"
        event, number = dice.choice(HOOKS), dice.randint(1, 3)
        path = self.write("hook.sh", f"""cat > /dev/null
echo >> {count}
[ $(wc -l < {count}) = {number} ] && echo '{{"continue": false, "stopReason": "enough"}}'
exit 0
""")
        count.unlink(missing_ok=True)
        self.user_settings({"hooks": {event: [{"matcher": "", "hooks": [
            {"type": "command", "command": f"sh {path}"}]}]}})
        return f"{event} hook {number}"

    def end_at_line(self, process, number):
        """SIGINT when keel has printed this number of lines."""
        for _ in range(number):
            if not process.stdout.readline():
                return
        process.send_signal(signal.SIGINT)

    def run_ended(self, dice, protocol, way):
        """Returns what was done, in words."""
        self.user_settings({})
        told = way
        piece = Interrupt() if way == "SIGINT at a piece" else HANG_UP if way == "cut" else None
        if isinstance(piece, Interrupt):
            self.addCleanup(piece.set)
        answers = self.answers_of(dice, protocol, piece)
        if way == "hook":
            told = self.set_hook(dice)
        if dice.random() < 0.2:
            answers = answers[:2] + answers[-1:]
        provider = self.provider(*answers)
        arguments = ["--output-format", "stream-json", "--include-partial-messages"]
        if dice.random() < 0.3:
            arguments += ["--max-turns", "1"]
        process = self.start_agent(protocol, provider, *arguments, "go")
        if isinstance(piece, Interrupt):
            piece.process = process
            piece.is_started.set()
        if way == "SIGINT at a line":
            number = dice.randint(1, 60)
            told += f" {number}"
            self.end_at_line(process, number)
        out, err = process.communicate(timeout=HANG_SECONDS)
        if isinstance(piece, Interrupt):
            piece.set()
        self.assertIn(process.returncode, (0, 1, 5, 130), (told, out[-2000:], err))
        return told

    def assert_whole(self, told):
        for command in ("verify", "replay"):
            result = self.keel("session", command)
            if result.status and "no session" not in result.err:
                log = self.keel("session", "export", "--format", "jsonl")
                self.fail(f"{told}\n{result}\n{log.out[-6000:]}")

    def try_seed(self, seed):
        dice = random.Random(seed)
        protocol = dice.choice(PROTOCOLS)
        way = dice.choice(("SIGINT at a line", "SIGINT at a piece", "cut", "hook"))
        self.keel_home.mkdir(exist_ok=True)
        self.write("there", "text\n")
        told = f"seed {seed}, {protocol.name}: " + self.run_ended(dice, protocol, way)
        self.assert_whole(told)
        self.user_settings({})
        provider = self.play(protocol, Turn("Fine."))
        result = self.run_agent(protocol, provider, "-c", "and now?")
        if "no session" not in result.err:
            self.assert_status(result, 0)
            self.assert_whole(told)

    def test_verifies_and_replays(self):
        is_all = os.environ.get("KEEL_TEST_DEPTH") == "all"
        first = 0 if is_all else int(time.time()) % 100000 * N_SAMPLED
        seeds = range(first, first + (N_ALL if is_all else N_SAMPLED))
        if "KEEL_TEST_SEED" in os.environ:
            seeds = [int(os.environ["KEEL_TEST_SEED"])]
        print(f"seeds {seeds[0]} to {seeds[-1]}")
        for seed in seeds:
            with self.subTest(seed):
                subprocess.run(["rm", "-rf", str(self.keel_home)], check=True)
                self.try_seed(seed)


if __name__ == "__main__":
    scripted.main()
