"""model.py - a server on loopback that plays the model, with calls of the tools each agent offers.

A script is a list of rounds, a round a list of steps: (SHELL, command), (READ, path), (FIND, text),
(EDIT, path, old lines, new lines) or (WRITE, path, text). One table for each agent (CALLS) turns a
step into a call of a tool which that agent offers. When the script is over, the answer is a text.
Messages of Anthropic and Responses of OpenAI are spoken."""
import http.server
import json
import shlex
import threading
import time

SHELL, READ, EDIT, WRITE, FIND = "shell", "read", "edit", "write", "find"


class Mismatch(Exception):
    """The agent does not do what the script needs."""


# --- steps as calls ---

def grep(text):
    return f"grep -rn --exclude-dir=.git {shlex.quote(text)} ."


def as_patch(heading, path, lines):
    return "\n".join(["apply_patch <<'PATCH'", "*** Begin Patch", f"*** {heading} File: {path}",
                      *lines, "*** End Patch", "PATCH"])


def edit_patch(path, old, new):
    return as_patch("Update", path, ["@@", *("-" + line for line in old.splitlines()),
                                     *("+" + line for line in new.splitlines())])


def write_patch(path, text):
    return as_patch("Add", path, ["+" + line for line in text.splitlines()])


CLAUDE = {
    SHELL: lambda work, command: ("Bash", {"command": command}),
    READ: lambda work, path: ("Read", {"file_path": f"{work}/{path}"}),
    FIND: lambda work, text: ("Bash", {"command": grep(text)}),
    EDIT: lambda work, path, old, new: ("Edit", {"file_path": f"{work}/{path}", "old_string": old,
                                                 "new_string": new}),
    WRITE: lambda work, path, text: ("Write", {"file_path": f"{work}/{path}", "content": text}),
}
PI = {
    SHELL: lambda work, command: ("bash", {"command": command}),
    READ: lambda work, path: ("read", {"path": path}),
    FIND: lambda work, text: ("bash", {"command": grep(text)}),
    EDIT: lambda work, path, old, new: ("edit", {"path": path, "edits": [
        {"oldText": old, "newText": new}]}),
    WRITE: lambda work, path, text: ("write", {"path": path, "content": text}),
}
CODEX = {
    SHELL: lambda work, command: ("exec_command", {"cmd": command}),
    READ: lambda work, path: ("exec_command", {"cmd": f"cat {path}"}),
    FIND: lambda work, text: ("exec_command", {"cmd": grep(text)}),
    EDIT: lambda work, *edit: ("exec_command", {"cmd": edit_patch(*edit)}),
    WRITE: lambda work, *file: ("exec_command", {"cmd": write_patch(*file)}),
}
OPENCODE = {
    SHELL: lambda work, command: ("bash", {"command": command, "description": "Run a command"}),
    READ: lambda work, path: ("read", {"filePath": f"{work}/{path}"}),
    FIND: lambda work, text: ("grep", {"pattern": text}),
    EDIT: lambda work, path, old, new: ("edit", {"filePath": f"{work}/{path}", "oldString": old,
                                                 "newString": new}),
    WRITE: lambda work, path, text: ("write", {"filePath": f"{work}/{path}", "content": text}),
}
KEEL = {**CLAUDE, FIND: lambda work, text: ("Grep", {"pattern": text, "output_mode": "content"})}
CALLS = {"keel": KEEL, "claude": CLAUDE, "codex": CODEX, "opencode": OPENCODE, "pi": PI}


def call_for(agent, step, tools, work):
    op, *rest = step
    name, arguments = CALLS[agent][op](work, *rest)
    if name not in tools:
        raise Mismatch(f"it offers no tool called {name}")
    return name, arguments


# --- answers ---

def message_block(call, ident):
    if call:
        return ({"type": "tool_use", "id": "toolu_" + ident, "name": call[0], "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(call[1])})
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}


def messages_stream(calls, number):
    events = [{"type": "message_start", "message": {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "usage": {"input_tokens": 100, "output_tokens": 1}}}]
    for index, call in enumerate(calls or [None]):
        block, delta = message_block(call, f"{number}_{index}")
        events += [{"type": "content_block_start", "index": index, "content_block": block},
                   {"type": "content_block_delta", "index": index, "delta": delta},
                   {"type": "content_block_stop", "index": index}]
    return [*events,
            {"type": "message_delta", "usage": {"output_tokens": 9},
             "delta": {"stop_reason": "tool_use" if calls else "end_turn"}},
            {"type": "message_stop"}]


def response_item(call, ident):
    if call:
        return {"type": "function_call", "id": "fc_" + ident, "call_id": "call_" + ident,
                "name": call[0], "arguments": json.dumps(call[1]), "status": "completed"}
    return {"type": "message", "id": "msg_" + ident, "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}


def responses_stream(calls, number):
    items = [response_item(call, f"{number}_{i}") for i, call in enumerate(calls or [None])]
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": "m",
                "output": items, "usage": {"input_tokens": 100, "output_tokens": 9,
                                           "total_tokens": 109}}
    events = [{"type": "response.created", "response": {**response, "status": "in_progress",
                                                        "output": []}}]
    for index, item in enumerate(items):
        events += [{"type": "response.output_item.added", "output_index": index, "item": item},
                   {"type": "response.output_item.done", "output_index": index, "item": item}]
    events.append({"type": "response.completed", "response": response})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


# --- requests ---

class Request:
    """What came: the bytes, what they say, and when they were complete and answered, in ms."""

    def __init__(self, raw):
        self.complete = time.monotonic() * 1000
        self.answered = None
        self.n_bytes = len(raw)
        self.body = json.loads(raw)
        self.tools = {tool.get("name"): tool for tool in self.body.get("tools") or []}

    def results(self):
        """The texts of all results, by the order of the calls: some agents send what ends first."""
        items = self.body.get("input") or []
        if "input" not in self.body:
            items = [block for message in self.body.get("messages", [])
                     if isinstance(message["content"], list) for block in message["content"]]
        found = [(call_number(item.get("call_id") or item.get("tool_use_id")),
                  text_of(item.get("output", item.get("content")))) for item in items
                 if item.get("type") in ("tool_result", "function_call_output")]
        return [text for _, text in sorted(found)]


def call_number(ident):
    """Of "toolu_12_0" the twelve and the zero."""
    return [int(part) for part in ident.split("_")[1:]]


def text_of(content):
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content)
    return content or ""


class Model(http.server.ThreadingHTTPServer):
    """Plays one script after the other, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self, think_ms=0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.think_ms = think_ms
        self.begin(None, [], None)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self, agent, rounds, work):
        self.agent, self.rounds, self.work = agent, rounds, work
        self.requests, self.mismatch = [], None

    def calls(self, request):
        """Those of the round that follows the results which are there; none when all is done, and
        none for requests besides the task, such as those for a title: they offer no tools."""
        n_done, n_results = 0, len(request.results())
        for steps in self.rounds if request.tools else []:
            if n_done == n_results:
                return [call_for(self.agent, step, request.tools, self.work) for step in steps]
            n_done += len(steps)
        return []

    def answer(self, request):
        self.requests.append(request)
        try:
            calls = self.calls(request)
        except Mismatch as mismatch:
            self.mismatch, calls = str(mismatch), []
        stream = responses_stream if "input" in request.body else messages_stream
        events = stream(calls, len(self.requests))
        time.sleep(self.think_ms / 1000)
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                       for event in events).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        if not self.path.split("?")[0].endswith(("/messages", "/responses")):
            self.send_error(404)
            return
        request = Request(raw)
        stream = self.server.answer(request)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        request.answered = time.monotonic() * 1000
        self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(stream), stream))

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass
