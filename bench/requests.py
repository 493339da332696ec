#!/usr/bin/env python3
"""requests.py - what keel and its peers send a model for the same twenty tasks, request by request.

    bench/requests.py KEEL [AGENT...]

A server on loopback plays the model: it answers every task with the same scripted calls, made with
the tools that each agent offers (model.py). The sizes of what came are printed as a table
(docs/comparison.md), and then what the calls and results of each task added to its first request.
Peers are looked for on PATH; nothing is installed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import agents
import task
from model import EDIT, FIND, READ, SHELL, WRITE, Model

FILES = {"README.md": "# Sample\n\nAdds numbers.\n",
         "src/add.py": "def add(a, b):\n    return a - b\n",
         "src/use.py": "from add import add\n\nprint(add(1, 2))\n",
         "test_add.py": "import sys\nsys.path.insert(0, 'src')\nfrom add import add\n"
                        "assert add(1, 2) == 3\n",
         "data.txt": "".join(f"line {i}\n" for i in range(500))}
MAX_SECONDS = 120  # for a task
FIX = (EDIT, "src/add.py", "    return a - b", "    return a + b")
TASKS = [
    ("What does this project do?", [(READ, "README.md")]),
    ("Which files are here?", [(SHELL, "ls -R")]),
    ("Where is add used?", [(FIND, "add")]),
    ("What is in line 400 of data.txt?", [(READ, "data.txt")]),
    ("What changed in git?", [(SHELL, "git status --short"), (SHELL, "git log --oneline")]),
    ("Run the test.", [(SHELL, "python3 test_add.py")]),
    ("Fix the bug in add.", [(READ, "src/add.py"), FIX]),
    ("Fix the bug in add and test it.",
     [(READ, "src/add.py"), FIX, (SHELL, "python3 test_add.py")]),
    ("Write a file hello.txt.", [(WRITE, "hello.txt", "hello\n")]),
    ("Write hello.py and run it.",
     [(WRITE, "hello.py", "print('hello')\n"), (SHELL, "python3 hello.py")]),
    ("Read all sources.", [(READ, "src/add.py"), (READ, "src/use.py"), (READ, "test_add.py")]),
    ("Count the lines of data.txt.", [(SHELL, "wc -l data.txt")]),
    ("Which python is this?", [(SHELL, "python3 --version")]),
    ("Show a command that fails.", [(SHELL, "false")]),
    ("Read a file that is not there.", [(READ, "none.txt"), (SHELL, "ls")]),
    ("Print a lot.", [(SHELL, "seq 5000")]),
    ("Find every return.", [(FIND, "return"), (READ, "src/add.py")]),
    ("Make a directory with a file.", [(SHELL, "mkdir -p d"), (WRITE, "d/a.txt", "a\n")]),
    ("Work for ten rounds.", [(SHELL, f"echo {i}") for i in range(10)]),
    ("Just say hello.", []),
]


def run_task(agent, model, prompt, steps):
    with agents.Seat(None, agent) as seat, tempfile.TemporaryDirectory() as directory:
        for name, text in FILES.items():
            path = pathlib.Path(directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        task.make_work(seat.work, directory)
        model.begin(agent.name, [[step] for step in steps], seat.work)
        done = subprocess.run(seat.command(prompt, ()), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=MAX_SECONDS,
                              **seat.surroundings())
        if done.returncode or model.mismatch:
            raise task.Failure(f"{prompt} {model.mismatch or done.stderr}")
        return model.requests


# --- sizes ---

def size(value):
    if not value:
        return 0
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list) and all(isinstance(x, dict) and "text" in x for x in value):
        return sum(len(x["text"].encode()) for x in value)
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def system_size(body):
    """Messages of the developer count: some agents put their prompt there."""
    own = [block for item in body.get("input", []) if isinstance(item, dict)
           if item.get("role") == "developer" for block in item["content"]]
    return size(body.get("system") or body.get("instructions")) + size(own)


def describe(name, tasks):
    requests = [request for one in tasks for request in one]
    asked = [request for request in requests if request.tools]
    longest = [request.n_bytes for request in tasks[-2] if request.tools]
    first = next(request for request in tasks[-1] if request.tools)
    system, tools = system_size(first.body), size(first.body["tools"])
    return [name, system, len(first.body["tools"]), tools, first.n_bytes - system - tools,
            first.n_bytes, len(asked), len(requests) - len(asked),
            sum(request.n_bytes for request in requests),
            (longest[-1] - longest[0]) // max(len(longest) - 1, 1)]


def added(requests):
    """What calls and results added: the last request less the first."""
    sizes = [request.n_bytes for request in requests if request.tools]
    return sizes[-1] - sizes[0]


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |\n|---|" + "---:|" * (len(heads) - 1))
    for row in rows:
        print("| " + " | ".join(f"{x:,}" if isinstance(x, int) else x for x in row) + " |")


def main():
    wanted = sys.argv[2:] or ("keel", *agents.PEERS)
    model, sent = Model(), {}
    for agent in [agents.keel(pathlib.Path(sys.argv[1]).resolve(), model.url),
                  *agents.peers(model.url, model.url)]:
        if agent.name not in wanted:
            continue
        try:
            sent[agent.name] = [run_task(agent, model, *one) for one in TASKS]
        except (task.Failure, subprocess.TimeoutExpired) as failure:
            print(f"{agent.name} failed: {failure}", file=sys.stderr)
            continue
        version = subprocess.run([agent.command[0], "--version"], capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL)
        print(f"{agent.name}: {(version.stdout or version.stderr).strip()}", file=sys.stderr)
    print_table(["", "system", "tools", "bytes of tools", "rest of the first request",
                 "first request", "requests", "requests besides", "bytes in all",
                 "bytes a further round"], [describe(name, tasks) for name, tasks in sent.items()])
    print()
    print_table(["task", "calls", *sent],
                [[prompt, len(steps), *(added(tasks[number]) for tasks in sent.values())]
                 for number, (prompt, steps) in enumerate(TASKS)])


if __name__ == "__main__":
    main()
