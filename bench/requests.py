#!/usr/bin/env python3
"""requests.py - what keel and its peers send a model for the same twenty tasks, request by request.

    bench/requests.py KEEL [AGENT...]

A server on loopback plays the model: it answers every task with the same scripted calls, made with
the tools that each agent offers. The sizes of what came are printed as a table (docs/comparison.md).
Peers are looked for on PATH; nothing is installed.
"""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import agents

FILES = {"README.md": "# Sample\n\nAdds numbers.\n",
         "src/add.py": "def add(a, b):\n    return a - b\n",
         "src/use.py": "from add import add\n\nprint(add(1, 2))\n",
         "test_add.py": "import sys\nsys.path.insert(0, 'src')\nfrom add import add\n"
                        "assert add(1, 2) == 3\n",
         "data.txt": "".join(f"line {i}\n" for i in range(500))}
MAX_SECONDS = 60  # for a task
SHELL, READ, EDIT, WRITE, FIND = "shell", "read", "edit", "write", "find"
FIX = (EDIT, "src/add.py", "a - b", "a + b")
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

# --- the model ---

NAMES = {SHELL: ("Bash", "bash", "exec_command", "shell_command", "shell"),
         READ: ("Read", "read"), EDIT: ("Edit", "edit"), WRITE: ("Write", "write"),
         FIND: ("Grep", "grep")}


def as_command(op, *rest):
    """What a shell does where there is no tool for it."""
    if op == EDIT:
        return f"sed -i 's/{rest[1]}/{rest[2]}/' {rest[0]}"
    if op == WRITE:
        return f"printf '%s' '{rest[1]}' > {rest[0]}"
    return {SHELL: "{}", READ: "cat {}", FIND: "grep -rn {} ."}[op].format(rest[0])


def first_of(properties, *names):
    return next((name for name in names if name in properties), names[0])


def arguments(op, rest, properties, work):
    path = first_of(properties, "file_path", "path")
    place = str(work / rest[0])
    if op == READ:
        return {path: place}
    if op == WRITE:
        return {path: place, "content": rest[1]}
    if op == EDIT and "edits" in properties and "old_string" not in properties:
        return {path: place, "edits": [{"oldText": rest[1], "newText": rest[2]}]}
    if op == EDIT:
        return {path: place, first_of(properties, "old_string", "oldText"): rest[1],
                first_of(properties, "new_string", "newText"): rest[2]}
    if op == FIND:
        return {"pattern": rest[0]}
    return {first_of(properties, "command", "cmd"): rest[0]}


def call_for(step, tools, work):
    op, *rest = step
    name = next((name for name in NAMES[op] if name in tools), None)
    if name is None:
        return call_for((SHELL, as_command(op, *rest)), tools, work)
    return name, arguments(op, rest, tools[name].get("properties", {}), work)


def messages_stream(call, number):
    block = ({"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}} if call
             else {"type": "text", "text": ""})
    delta = ({"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call
             else {"type": "text_delta", "text": "Done."})
    return [{"type": "message_start", "message": {
                "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m",
                "content": [], "stop_reason": None,
                "usage": {"input_tokens": 100, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn"},
             "usage": {"output_tokens": 9}},
            {"type": "message_stop"}]


def responses_stream(call, number):
    item = ({"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
             "name": call[0], "arguments": json.dumps(call[1]), "status": "completed"} if call
            else {"type": "message", "id": f"msg_{number}", "role": "assistant",
                  "status": "completed",
                  "content": [{"type": "output_text", "text": "Done.", "annotations": []}]})
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": "m",
                "output": [item], "usage": {"input_tokens": 100, "output_tokens": 9,
                                            "total_tokens": 109}}
    return [{"type": "response.created", "response": {**response, "status": "in_progress",
                                                      "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response}]


class Model(http.server.ThreadingHTTPServer):
    """Plays one task after the other, and keeps what it was sent."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.steps, self.work, self.bodies = [], None, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self, steps, work):
        self.steps, self.work, self.bodies = steps, work, []


def n_results(body):
    items = body.get("input")
    if isinstance(items, list):
        return sum(str(item.get("type", "")).endswith("_call_output") for item in items)
    return sum(block.get("type") == "tool_result" for message in body.get("messages", [])
               if isinstance(message["content"], list) for block in message["content"])


def tools_of(body):
    return {tool.get("name"): tool.get("input_schema") or tool.get("parameters") or {}
            for tool in body.get("tools") or []}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        if not self.path.split("?")[0].endswith(("/messages", "/responses")):
            self.send_error(404)
            return
        body = json.loads(raw)
        at, tools, model = n_results(body), tools_of(body), self.server
        model.bodies.append((len(raw), body))
        call = None
        if tools and at < len(model.steps):
            call = call_for(model.steps[at], tools, model.work)
        is_responses = "input" in body
        events = (responses_stream if is_responses else messages_stream)(call, len(model.bodies))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for number, event in enumerate(events):
            if is_responses:
                event["sequence_number"] = number
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


# --- the agents ---

def seats(keel, url, wanted):
    for agent in [agents.keel(keel, url), *agents.peers(url, url)]:
        if agent.name in wanted:
            agent.command = ["Bash,Edit,Write" if word == "Bash" else word
                             for word in agent.command]
            yield agent


def make_work(top):
    work = top / "work"
    for name, text in FILES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    git = ["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], check=True)
    return work


def run_task(agent, model, prompt, steps):
    with tempfile.TemporaryDirectory(prefix="keel-bench-") as directory:
        top = pathlib.Path(directory)
        work, home = make_work(top), top / "home"
        for name, text in agent.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        home.mkdir(exist_ok=True)
        model.begin(steps, work)
        done = subprocess.run([prompt if word is agents.PROMPT else word for word in agent.command],
                              cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=MAX_SECONDS,
                              env={**os.environ, "HOME": str(home), "KEEL_HOME": str(home / "k"),
                                   **agent.environment})
        if done.returncode:
            raise SystemExit(f"bench: {agent.name} failed: {prompt}\n{done.stderr}")
        return model.bodies


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


def describe(agent, tasks):
    requests = [body for task in tasks for body in task]
    asked = [(n, body) for n, body in requests if body.get("tools")]
    longest = [body for body in tasks[-2] if body[1].get("tools")]
    n_first, first = next(body for body in tasks[-1] if body[1].get("tools"))
    system, tools = system_size(first), size(first["tools"])
    return [agent.name, system, len(first["tools"]), tools, n_first - system - tools, n_first,
            len(asked), len(requests) - len(asked), sum(n for n, _ in requests),
            (longest[-1][0] - longest[0][0]) // max(len(longest) - 1, 1)]


def main():
    model, rows = Model(), []
    for agent in seats(os.path.abspath(sys.argv[1]), model.url, sys.argv[2:] or ("keel", "claude", "codex", "pi")):
        rows.append(describe(agent, [run_task(agent, model, *task) for task in TASKS]))
        version = subprocess.run([agent.command[0], "--version"], capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL)
        print(f"{agent.name}: {(version.stdout or version.stderr).strip()}", file=sys.stderr)
    print("| | system | tools | bytes of tools | rest of the first request | first request | "
          "requests | requests besides | bytes in all | bytes a further round |")
    print("|---|" + "---:|" * 9)
    for row in rows:
        print("| " + " | ".join(f"{x:,}" if isinstance(x, int) else x for x in row) + " |")


if __name__ == "__main__":
    main()
