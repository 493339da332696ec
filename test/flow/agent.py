"""agent.py - agents against a scripted model: answers with tool calls, requests as transcripts.

The same script is played in all five protocols, and what keel sends is read back into one neutral
form: so a rule has one golden transcript, in test/flow/golden/, and every protocol must match it.
"""
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess

import scripted
from scripted import FlowTest, Protocol, event, without_surroundings

GOLDEN = pathlib.Path(__file__).parent / "golden"


class Call:
    """A tool call as the model makes it.

    `raw` is sent instead of the arguments' JSON; as a list it comes in pieces, like a text."""

    def __init__(self, name, raw=None, id=None, **arguments):
        self.name, self.arguments, self.id = name, arguments, id
        raw = json.dumps(arguments) if raw is None else raw
        self.pieces = [raw] if isinstance(raw, str) else raw
        self.raw = "".join(piece for piece in self.pieces if isinstance(piece, str))


class Thought:
    """Reasoning that the model shows."""

    def __init__(self, text):
        self.text = text


class Turn:
    """What the model says: text (a string or pieces), thoughts and calls, in this order.

    usage: tokens of the prompt and of the answer; n_cached of the prompt's were read from the
    provider's cache."""

    def __init__(self, *items, stop=None, usage=(5, 9), n_cached=0):
        self.items = [[item] if isinstance(item, str) else item for item in items]
        self.stop, self.usage, self.n_cached = stop, usage, n_cached
        self.signature = "c2lnbmVk"  # until it is known what it answers to

    @property
    def calls(self):
        return [item for item in self.items if isinstance(item, Call)]


def number_ids(turn, count):
    for call in turn.calls:
        if call.id is None:
            call.id = f"call_{next(count)}"


# --- answers, a function for each protocol ---

def anthropic_messages(turn):
    def named(value):
        return event(value, value["type"])
    yield named({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "usage": {
            "input_tokens": turn.usage[0] - turn.n_cached, "output_tokens": 1,
            "cache_read_input_tokens": turn.n_cached}}})
    for index, item in enumerate(turn.items):
        if isinstance(item, Call):
            yield named({"type": "content_block_start", "index": index, "content_block": {
                "type": "tool_use", "id": item.id, "name": item.name, "input": {}}})
            for piece in item.pieces:
                yield piece if not isinstance(piece, str) else named(
                    {"type": "content_block_delta", "index": index,
                     "delta": {"type": "input_json_delta", "partial_json": piece}})
        elif isinstance(item, Thought):
            yield named({"type": "content_block_start", "index": index, "content_block": {
                "type": "thinking", "thinking": "", "signature": ""}})
            yield named({"type": "content_block_delta", "index": index, "delta": {
                "type": "thinking_delta", "thinking": item.text}})
            yield named({"type": "content_block_delta", "index": index, "delta": {
                "type": "signature_delta", "signature": turn.signature}})
        else:
            yield named({"type": "content_block_start", "index": index,
                         "content_block": {"type": "text", "text": ""}})
            for piece in item:
                yield piece if not isinstance(piece, str) else named(
                    {"type": "content_block_delta", "index": index,
                     "delta": {"type": "text_delta", "text": piece}})
        yield named({"type": "content_block_stop", "index": index})
    stop = turn.stop or ("tool_use" if turn.calls else "end_turn")
    yield named({"type": "message_delta", "delta": {"stop_reason": stop},
                 "usage": {"output_tokens": turn.usage[1]}})
    yield named({"type": "message_stop"})


def openai_chat(turn):
    def chunk(delta, reason=None):
        return event({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [
            {"index": 0, "delta": delta, "finish_reason": reason}]})
    yield chunk({"role": "assistant", "content": ""})
    index = 0
    for item in turn.items:
        if isinstance(item, Call):
            yield chunk({"tool_calls": [{"index": index, "id": item.id, "type": "function",
                                         "function": {"name": item.name, "arguments": ""}}]})
            for piece in item.pieces:
                yield piece if not isinstance(piece, str) else chunk(
                    {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            index += 1
        elif isinstance(item, Thought):
            yield chunk({"reasoning_content": item.text})
        else:
            for piece in item:
                yield piece if not isinstance(piece, str) else chunk({"content": piece})
    yield chunk({}, turn.stop or ("tool_calls" if turn.calls else "stop"))
    yield event({"id": "c", "choices": [], "usage": {
        "prompt_tokens": turn.usage[0], "completion_tokens": turn.usage[1],
        "prompt_tokens_details": {"cached_tokens": turn.n_cached}}})
    yield b"data: [DONE]\n\n"


def openai_responses(turn):
    count = iter(range(1_000_000))

    def typed(kind, **members):
        return event({"type": kind, "sequence_number": next(count), **members}, kind)

    def response(status, output):
        return {"id": "resp_1", "object": "response", "status": status, "model": "m",
                "output": output, "incomplete_details": {"reason": "max_output_tokens"}
                if status == "incomplete" else None,
                "usage": {"input_tokens": turn.usage[0], "output_tokens": turn.usage[1],
                          "input_tokens_details": {"cached_tokens": turn.n_cached},
                          "total_tokens": sum(turn.usage)}}

    done = []
    yield typed("response.created", response=response("in_progress", []))
    for index, item in enumerate(turn.items):
        if isinstance(item, Call):
            whole = {"id": f"fc_{item.id}", "type": "function_call", "status": "completed",
                     "call_id": item.id, "name": item.name, "arguments": item.raw}
            yield typed("response.output_item.added", output_index=index,
                        item={**whole, "status": "in_progress", "arguments": ""})
            for piece in item.pieces:
                yield piece if not isinstance(piece, str) else typed(
                    "response.function_call_arguments.delta", item_id=whole["id"],
                    output_index=index, delta=piece)
            yield typed("response.function_call_arguments.done", item_id=whole["id"],
                        output_index=index, arguments=item.raw)
        elif isinstance(item, Thought):
            whole = {"id": f"rs_{index}", "type": "reasoning", "encrypted_content": "c2VjcmV0",
                     "summary": [{"type": "summary_text", "text": item.text}]}
            yield typed("response.output_item.added", output_index=index,
                        item={**whole, "summary": []})
            yield typed("response.reasoning_summary_text.delta", item_id=whole["id"],
                        output_index=index, summary_index=0, delta=item.text)
        else:
            where = {"item_id": f"msg_{index}", "output_index": index, "content_index": 0}
            text = "".join(piece for piece in item if isinstance(piece, str))
            part = {"type": "output_text", "text": text, "annotations": []}
            whole = {"id": f"msg_{index}", "type": "message", "role": "assistant",
                     "status": "completed", "content": [part]}
            yield typed("response.output_item.added", output_index=index,
                        item={**whole, "status": "in_progress", "content": []})
            yield typed("response.content_part.added", **where, part={**part, "text": ""})
            for piece in item:
                yield piece if not isinstance(piece, str) else typed(
                    "response.output_text.delta", **where, delta=piece)
            yield typed("response.output_text.done", **where, text=text)
        yield typed("response.output_item.done", output_index=index, item=whole)
        done.append(whole)
    stop = turn.stop or "completed"
    yield typed(f"response.{stop}", response=response(stop, done))


def gemini(turn):
    def chunk(part, **more):
        return event({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]},
                                      **more}],
                      "usageMetadata": {"promptTokenCount": turn.usage[0],
                                        "candidatesTokenCount": turn.usage[1],
                                        "cachedContentTokenCount": turn.n_cached,
                                        "totalTokenCount": sum(turn.usage)}})
    for item in turn.items:
        if isinstance(item, Call):
            yield chunk({"functionCall": {"id": item.id, "name": item.name,
                                          "args": json.loads(item.raw)}})
        elif isinstance(item, Thought):
            yield chunk({"text": item.text, "thought": True})
        else:
            for piece in item:
                yield piece if not isinstance(piece, str) else chunk({"text": piece})
    yield chunk({"text": ""}, finishReason=turn.stop or "STOP")


def ollama(turn):
    def line(message, **more):
        return json.dumps({"model": "m", "message": {"role": "assistant", "content": "", **message},
                           "done": False, **more}).encode() + b"\n"
    for item in turn.items:
        if isinstance(item, Call):
            yield line({"tool_calls": [{"function": {"name": item.name,
                                                     "arguments": json.loads(item.raw)}}]})
        elif isinstance(item, Thought):
            yield line({"thinking": item.text})
        else:
            for piece in item:
                yield piece if not isinstance(piece, str) else line({"content": piece})
    yield line({}, done=True, done_reason=turn.stop or "stop",
               prompt_eval_count=turn.usage[0], eval_count=turn.usage[1])


ENCODERS = {"anthropic-messages": anthropic_messages, "openai-chat": openai_chat,
            "openai-responses": openai_responses, "gemini": gemini, "ollama": ollama}


def play(protocol, turn):
    kind = "application/x-ndjson" if protocol.name == "ollama" else "text/event-stream"
    answer = scripted.Answer(ENCODERS[protocol.name](turn), content_type=kind)
    if any(isinstance(item, Thought) for item in turn.items):
        answer.sign = functools.partial(sign, answer, protocol, turn)
    return answer


def sign(answer, protocol, turn, signature):
    """Says it again, with thoughts that are bound to what they answer to."""
    turn.signature = signature
    answer.pieces = list(ENCODERS[protocol.name](turn))


# --- requests, read back ---

def text_of(content):
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", f"[{part.get('type')}]") for part in content)


def answered_by(answer, model):
    """The same answer, of another model than was asked."""
    answer.pieces = [piece.replace(b'"model": "m"', b'"model": "%s"' % model.encode()).replace(
        b'{"candidates"', b'{"modelVersion": "%s", "candidates"' % model.encode())
        for piece in answer.pieces]
    return answer


class Reader:
    """A request in neutral lines. Calls are numbered #1, #2, ...; ids may come again."""

    def __init__(self, protocol, request):
        self.lines, self.open, self.n_calls = [], {}, 0
        body = request.json
        getattr(self, protocol.name.replace("-", "_"))(body)

    def call(self, id, name, arguments):
        self.n_calls += 1
        self.open.setdefault(id, []).append(self.n_calls)
        self.lines.append(f"  call #{self.n_calls} {name} {json.dumps(arguments, sort_keys=True)}")

    def result(self, id, text):
        self.lines.append(f"  result #{self.open[id].pop(0)} {text!r}")

    def say(self, role, text):
        text = without_surroundings(text or "")
        if text:
            self.lines.append(f"  {role} {text!r}")

    def anthropic_messages(self, body):
        self.tools = [tool["name"] for tool in body.get("tools", [])]
        for message in body["messages"]:
            content = message["content"]
            for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if part["type"] == "text":
                    self.say(message["role"], part["text"])
                elif part["type"] == "tool_use":
                    self.call(part["id"], part["name"], part["input"])
                elif part["type"] == "tool_result":
                    self.result(part["tool_use_id"], text_of(part.get("content")))

    def openai_chat(self, body):
        self.tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        for message in body["messages"]:
            if message["role"] in ("system", "developer"):
                continue
            if message["role"] == "tool":
                self.result(message["tool_call_id"], text_of(message["content"]))
                continue
            self.say(message["role"], text_of(message.get("content")))
            for call in message.get("tool_calls", []):
                self.call(call["id"], call["function"]["name"],
                          json.loads(call["function"]["arguments"]))

    def openai_responses(self, body):
        self.tools = [tool["name"] for tool in body.get("tools", [])]
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind == "function_call":
                self.call(item["call_id"], item["name"], json.loads(item["arguments"]))
            elif kind == "function_call_output":
                self.result(item["call_id"], text_of(item["output"]))
            elif kind == "message" and item["role"] not in ("system", "developer"):
                self.say(item["role"], text_of(item["content"]))

    def gemini(self, body):
        self.tools = [tool["name"] for group in body.get("tools", [])
                      for tool in group.get("functionDeclarations", [])]
        n_calls = n_results = 0
        for content in body["contents"]:
            for part in content["parts"]:
                if "functionCall" in part:
                    n_calls += 1
                    self.call(n_calls, part["functionCall"]["name"], part["functionCall"]["args"])
                elif "functionResponse" in part:
                    n_results += 1
                    response = part["functionResponse"]["response"]
                    self.result(n_results, next(iter(response.values()), ""))
                elif part.get("text"):
                    self.say("assistant" if content["role"] == "model" else "user", part["text"])

    def ollama(self, body):
        self.tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        n_calls = n_results = 0
        for message in body["messages"]:
            if message["role"] == "system":
                continue
            if message["role"] == "tool":
                n_results += 1
                self.result(n_results, message["content"])
                continue
            self.say(message["role"], message.get("content"))
            for call in message.get("tool_calls", []):
                n_calls += 1
                self.call(n_calls, call["function"]["name"], call["function"]["arguments"])


# --- what strict providers refuse ---

STRICT = scripted.keel_test.SHARED / "tools/strict.mjs"
NODE = shutil.which("node") or shutil.which("nodejs")
STRICT_KINDS = {"anthropic-messages": "anth", "openai-chat": "chat", "openai-responses": "resp",
                "gemini": "gem"}
STRICT_PROGRAM = """
import readline from "node:readline";
const { check } = await import(process.argv[1]);
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { kind, body } = JSON.parse(line);
  console.log(JSON.stringify(check(kind, body)));
}
"""


class StrictRules:
    """The rules of real providers, a Node program beside the vectors that knows four protocols."""

    def __init__(self):
        self.process = subprocess.Popen(
            [NODE, "--input-type=module", "-e", STRICT_PROGRAM, str(STRICT)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def refuses(self, protocol, body):
        """Why a provider would not take this request; None: it would."""
        if protocol.name not in STRICT_KINDS:
            return None
        print(json.dumps({"kind": STRICT_KINDS[protocol.name], "body": body}),
              file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.communicate()


def names_of_calls(protocol, body):
    """Names and ids of all calls in a request: real providers refuse strange ones."""
    if protocol.name == "anthropic-messages":
        parts = [part for message in body["messages"] if isinstance(message["content"], list)
                 for part in message["content"] if part["type"] == "tool_use"]
        return [part["name"] for part in parts] + [part["id"] for part in parts]
    if protocol.name == "openai-responses":
        calls = [item for item in body["input"] if item.get("type") == "function_call"]
        return [call["name"] for call in calls] + [call["call_id"] for call in calls]
    if protocol.name == "gemini":
        parts = [part for content in body["contents"] for part in content["parts"]]
        return [part[kind]["name"] for part in parts for kind in ("functionCall",
                                                                  "functionResponse")
                if kind in part]
    calls = [call for message in body["messages"] for call in message.get("tool_calls", [])]
    return [call["function"]["name"] for call in calls]


def read_request(protocol, request, number, places):
    reader = Reader(protocol, request)
    tools = "with tools" if reader.tools else "without tools"
    text = "\n".join([f"request {number} {tools}", *reader.lines])
    for place, name in places.items():
        text = text.replace(place, name)
    return text


class AgentTest(FlowTest):
    """Plays turns, runs keel, and compares everything that was sent and printed."""

    base_settings = {}  # a model is asked as often as without any

    def setUp(self):
        super().setUp()
        self.ids = itertools.count(1)

    def encode(self, protocol, turn):
        number_ids(turn, self.ids)
        return play(protocol, turn)

    def play(self, protocol, *turns):
        """A provider that gives these turns, or answers that are something else."""
        self.ids = itertools.count(1)
        return self.provider(*[self.encode(protocol, turn) if isinstance(turn, Turn) else turn
                               for turn in turns])

    def transcript(self, protocol, provider, result):
        places = {str(self.project.resolve()): "PROJECT", str(self.project): "PROJECT"}
        parts = [read_request(protocol, request, number + 1, places)
                 for number, request in enumerate(provider.requests)]
        ending = [f"exit {result.status}"]
        for name, text in (("stdout", result.out), ("stderr", result.err)):
            for place, shown in places.items():
                text = text.replace(place, shown)
            # what keel's own words to the model take is no part of a rule
            text = re.sub(r"(takes about|from the messages:) \d+", r"\1 N", text)
            ending += [f"  {name} {line!r}" for line in text.splitlines()]
        return "\n".join(parts + ["\n".join(ending)]) + "\n"

    def assert_golden(self, name, text):
        """KEEL_GOLDEN=write makes them anew; read what git diff says of it before a commit."""
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("KEEL_GOLDEN") == "write":
            GOLDEN.mkdir(exist_ok=True)
            path.write_text(text)
        self.assertEqual(text, path.read_text() if path.exists() else "(there is no golden file)")

    def run_agent(self, protocol, provider, *arguments, mode="bypassPermissions", **run):
        return self.ask(provider, "--permission-mode", mode, *arguments, protocol=protocol, **run)

    def start_agent(self, protocol, provider, *arguments, env=None, **streams):
        """keel -p, and the test goes on beside it."""
        process = self.start("-p", "--model", f"{protocol.vendor}/m", "--permission-mode",
                             "bypassPermissions", *arguments,
                             env={**protocol.environment(provider), **(env or {})}, **streams)
        for stream in (process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.strict = StrictRules() if NODE and STRICT.exists() else None
        if cls.strict:
            cls.addClassCleanup(cls.strict.close)

    def assert_taken(self, protocol, provider):
        """Strict providers would take every request, as far as the rules are here."""
        for request in provider.requests:
            body = json.loads(request.body.decode("utf-8"))
            Reader(protocol, request)  # pairs calls and results
            for name in names_of_calls(protocol, body):
                self.assertRegex(name, r"\A[a-zA-Z0-9_-]{1,64}\Z")
            if self.strict:
                self.assertIsNone(self.strict.refuses(protocol, body))

    def results_of(self, protocol, turn):
        """The model sends this, then it is content: the results that it was given, as lines."""
        provider = self.play(protocol, turn, Turn("Well."))
        result = self.run_agent(protocol, provider, "hi")
        self.assert_fine(result)
        self.assert_taken(protocol, provider)
        self.assertEqual(len(provider.requests), 2)
        return [line for line in Reader(protocol, provider.requests[1]).lines
                if line.startswith("  result")]

    def check(self, name, protocol, turns, *arguments, **run):
        """One rule in one protocol."""
        provider = self.play(protocol, *turns())
        result = self.run_agent(protocol, provider, *arguments, **run)
        self.assert_golden(name, self.transcript(protocol, provider, result))
        self.assert_taken(protocol, provider)
        return provider, result
