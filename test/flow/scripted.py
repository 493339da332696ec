"""scripted.py - a provider over real HTTP that says what the test tells it to.

It speaks all five protocols, records what it was asked, and can stop, wait or hang up in the middle
of an answer. Nothing sleeps: where a test must wait for the other side there is an event.
"""
import functools
import http.server
import itertools
import json
import os
import pathlib
import re
import socket
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

import binding  # noqa: E402
import keel_test  # noqa: E402
from keel_test import HANG_SECONDS, KeelTest, sample  # noqa: E402, F401

KEY = "sk-scripted-4711-hush"
PIECES = ["Hello", ", ", "wörld", " \u2014 ", "done."]
TEXT = "".join(PIECES)


# --- answers ---

class Answer:
    """Status, headers and a body in pieces. Without a status the connection breaks at once.

    A piece is bytes to send, HANG_UP (the connection breaks) or an Event (wait for it)."""

    def __init__(self, pieces=(), status=200, **headers):
        self.pieces, self.status = list(pieces), status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.headers.setdefault("content-type", "text/event-stream")
        self.sign = None  # of an answer with thoughts: makes them bound to what they answer to


class Raw(Answer):
    """Pieces that go over the wire as they are, head and framing included; then it hangs up."""


class Endless(Answer):
    """Pieces that are made while they are sent, until keel has gone."""

    def __init__(self, pieces, status=200, **headers):
        super().__init__((), status, **headers)
        self.pieces = pieces


HANG_UP = object()


def json_answer(value, status=200, **headers):
    return Answer([json.dumps(value).encode()], status, content_type="application/json", **headers)


def event(value, name=None):
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


class Call:
    """A tool call in an answer."""

    def __init__(self, tool, id=None, **args):
        self.tool, self.args = tool, args
        self.id = id or f"call_{tool}_{len(args)}"


def anthropic_messages(pieces, stop=None, calls=()):
    def named(value):
        return event(value, value["type"])
    stop = stop or ("tool_use" if calls else "end_turn")
    yield named({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 1}}})
    yield named({"type": "content_block_start", "index": 0,
                 "content_block": {"type": "text", "text": ""}})
    for text in pieces:
        yield named({"type": "content_block_delta", "index": 0,
                     "delta": {"type": "text_delta", "text": text}})
    yield named({"type": "content_block_stop", "index": 0})
    for index, call in enumerate(calls, 1):
        yield named({"type": "content_block_start", "index": index, "content_block": {
            "type": "tool_use", "id": call.id, "name": call.tool, "input": {}}})
        yield named({"type": "content_block_delta", "index": index, "delta": {
            "type": "input_json_delta", "partial_json": json.dumps(call.args)}})
        yield named({"type": "content_block_stop", "index": index})
    yield named({"type": "message_delta", "delta": {"stop_reason": stop},
                 "usage": {"output_tokens": 9}})
    yield named({"type": "message_stop"})


def openai_chat(pieces, stop=None, calls=()):
    def chunk(delta, reason=None):
        return event({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [
            {"index": 0, "delta": delta, "finish_reason": reason}]})
    yield chunk({"role": "assistant", "content": ""})
    for text in pieces:
        yield chunk({"content": text})
    for index, call in enumerate(calls):
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": {
            "name": call.tool, "arguments": json.dumps(call.args)}}]})
    yield chunk({}, stop or ("tool_calls" if calls else "stop"))
    yield event({"id": "c", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9}})
    yield b"data: [DONE]\n\n"


def openai_responses(pieces, stop="completed", calls=()):
    count = iter(range(1_000_000))

    def typed(kind, **members):
        return event({"type": kind, "sequence_number": next(count), **members}, kind)

    def response(status, output):
        return {"id": "resp_1", "object": "response", "status": status, "model": "m",
                "output": output, "incomplete_details": {"reason": "max_output_tokens"}
                if status == "incomplete" else None,
                "usage": {"input_tokens": 5, "output_tokens": 9, "total_tokens": 14}}

    whole = "".join(pieces)
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": whole, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [part]}
    yield typed("response.created", response=response("in_progress", []))
    yield typed("response.output_item.added", output_index=0,
                item={**item, "status": "in_progress", "content": []})
    yield typed("response.content_part.added", **where, part={**part, "text": ""})
    for text in pieces:
        yield typed("response.output_text.delta", **where, delta=text)
    yield typed("response.output_text.done", **where, text=whole)
    yield typed("response.content_part.done", **where, part=part)
    yield typed("response.output_item.done", output_index=0, item=item)
    items = [item]
    for index, call in enumerate(calls, 1):
        items.append({"id": f"fc_{index}", "type": "function_call", "call_id": call.id,
                      "name": call.tool, "arguments": json.dumps(call.args),
                      "status": "completed"})
        yield typed("response.output_item.added", output_index=index,
                    item={**items[-1], "arguments": "", "status": "in_progress"})
        yield typed("response.function_call_arguments.delta", output_index=index,
                    item_id=items[-1]["id"], delta=items[-1]["arguments"])
        yield typed("response.output_item.done", output_index=index, item=items[-1])
    yield typed(f"response.{stop}", response=response(stop, items))


def gemini(pieces, stop="STOP", calls=()):
    def chunk(*parts, **more):
        return event({"candidates": [{"index": 0, "content": {
            "role": "model", "parts": list(parts)}, **more}], "usageMetadata": {
                "promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}})
    for text in pieces[:-1]:
        yield chunk({"text": text})
    yield chunk({"text": pieces[-1]},
                *({"functionCall": {"name": call.tool, "args": call.args}} for call in calls),
                finishReason=stop)


def ollama(pieces, stop="stop", calls=()):
    def line(text, message=(), **more):
        return json.dumps({"model": "m", "message": {"role": "assistant", "content": text,
                                                     **dict(message)},
                           "done": False, **more}).encode() + b"\n"
    for text in pieces:
        yield line(text)
    if calls:
        yield line("", {"tool_calls": [{"function": {"name": call.tool, "arguments": call.args}}
                                       for call in calls]})
    yield line("", done=True, done_reason=stop, prompt_eval_count=5, eval_count=9)


class Protocol:
    """What a test needs to know of a protocol that keel speaks."""

    def __init__(self, name, encode, vendor, key_variable, url_variable, prefix, path, key_header,
                 cut_stop):
        self.name, self.encode, self.vendor = name, encode, vendor
        self.key_variable, self.url_variable, self.prefix = key_variable, url_variable, prefix
        self.path, self.key_header, self.cut_stop = path, key_header, cut_stop

    def answer(self, pieces=None, **how):
        kind = "application/x-ndjson" if self.name == "ollama" else "text/event-stream"
        return Answer(self.encode(PIECES if pieces is None else pieces, **how), content_type=kind)

    def environment(self, provider, key=KEY):
        """Variables that set the vendor up to talk to the scripted provider."""
        return {self.key_variable: key, self.url_variable: provider.url + self.prefix}

    @property
    def key_value(self):
        return f"Bearer {KEY}" if self.key_header == "authorization" else KEY


PROTOCOLS = [
    Protocol("anthropic-messages", anthropic_messages, "anthropic", "ANTHROPIC_API_KEY",
             "ANTHROPIC_BASE_URL", "", "/v1/messages", "x-api-key", "max_tokens"),
    Protocol("openai-chat", openai_chat, "groq", "GROQ_API_KEY", "GROQ_BASE_URL", "/v1",
             "/v1/chat/completions", "authorization", "length"),
    Protocol("openai-responses", openai_responses, "openai", "OPENAI_API_KEY", "OPENAI_BASE_URL",
             "/v1", "/v1/responses", "authorization", "incomplete"),
    Protocol("gemini", gemini, "gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "",
             "/v1beta/models/m:streamGenerateContent?alt=sse", "x-goog-api-key", "MAX_TOKENS"),
    Protocol("ollama", ollama, "ollama", "OLLAMA_API_KEY", "OLLAMA_HOST", "", "/api/chat",
             "authorization", "length"),
]
BY_NAME = {protocol.name: protocol for protocol in PROTOCOLS}
ANTHROPIC = BY_NAME["anthropic-messages"]


# --- the server ---

def without_surroundings(text):
    """What the person said, without what keel tells beside it of the place and the day."""
    return re.sub(r"\A<environment>\n.*?</environment>\n?", "", text, flags=re.S)


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def prompt_texts(self):
        """The texts of the last message, whatever the protocol calls them."""
        body = self.json
        last = (body.get("messages") or body.get("input") or body.get("contents"))[-1]
        content = last.get("content", last.get("parts"))
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        return [text for text in map(without_surroundings, texts) if text]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and first piece would wait 40 ms for each other

    def answer_any(self):
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length)
        if len(body) < length:  # whoever sent it died over it: nobody has asked
            self.close_connection = True
            return
        request = Request(self.command, self.path, headers, body)
        provider = self.server.provider
        self.send(provider.take_answer(request))
        if request in provider.lookups and provider.told:
            provider.told.set()

    do_GET = do_POST = do_CONNECT = answer_any

    def send(self, answer):
        pieces = iter(answer.pieces)
        if isinstance(answer, Raw):
            self.close_connection = True
            for piece in pieces:
                if self.send_piece(piece, is_raw=True) is HANG_UP:
                    return
            return
        first = next(pieces, None)
        if isinstance(first, threading.Event):
            first.wait(HANG_SECONDS)
            first = None
        if answer.status is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in itertools.chain([] if first is None else [first], pieces):
            if self.send_piece(piece) is HANG_UP:
                return
        self.wfile.write(b"0\r\n\r\n")

    def send_piece(self, piece, is_raw=False):
        if piece is HANG_UP:
            self.close_connection = True
            return HANG_UP
        if isinstance(piece, threading.Event):
            self.wfile.flush()
            piece.wait(HANG_SECONDS)
        elif is_raw:
            self.wfile.write(piece)
        else:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        return None

    def handle(self):
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            pass  # keel has gone, which some tests are about

    def log_message(self, *_):
        pass


class Provider:
    """Listens on a port of its own; gives the answers in order, the last one again and again."""

    def __init__(self, answers, lists=False):
        self.answers, self.requests, self.lock = list(answers), [], threading.Lock()
        # Questions about models: where the test is not about them, they are answered beside it.
        self.lists, self.lookups, self.about = lists, [], None
        self.told = None  # an event: what it was asked about models is answered
        self.moved = []  # thoughts that were sent where they do not belong
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.provider = self
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02},
                         daemon=True).start()

    def judge(self, request):
        """Keeps to the rule for reasoning (binding.py); the request's body, where it is Anthropic's."""
        if request.path != binding.PATH or request.method != "POST":
            return None
        try:
            body = request.json
        except ValueError:
            return None
        if why := binding.find_moved(body):
            self.moved.append(why)
        return body

    def asks_about_models(self, request):
        path = split_path(request.path)[0]
        return not self.lists and (path.endswith("/api/show") or request.method == "GET" and
                                   path.endswith(("/models", "/model_group/info")))

    def take_answer(self, request):
        with self.lock:
            if self.asks_about_models(request):
                self.lookups.append(request)
                return self.about or json_answer({"error": "not found"}, 404)
            self.requests.append(request)
            body = self.judge(request)
            if self.moved:
                return json_answer({"type": "error", "error": {
                    "type": "invalid_request_error", "message": self.moved[-1]}}, 400)
            answer = self.answers[0]
            if len(self.answers) > 1:
                self.answers.pop(0)
            answer = answer(request) if callable(answer) else answer
            if body and answer.sign:
                answer.sign(binding.sign(body))
            return answer

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def for_each_protocol(test):
    """Runs a test method for some protocols, or with KEEL_TEST_DEPTH=all for each; a failure names
    the one that it is about."""
    @functools.wraps(test)
    def run_some(self):
        for protocol in sample(PROTOCOLS, 3):
            with self.subTest(protocol.name):
                test(self, protocol)
    return run_some


class FlowTest(KeelTest):
    """One attempt a request, unless a test wants to see more: what fails is told at once."""

    base_settings = {"maxAttempts": 1}
    lists_models = False  # a question about models is one of the requests

    def setUp(self):
        super().setUp()
        self.user_settings({})

    def user_settings(self, settings):
        if isinstance(settings, dict):
            settings = {**self.base_settings, **settings}
        return super().user_settings(settings)

    def provider(self, *answers):
        provider = Provider(answers, self.lists_models)
        self.addCleanup(lambda: self.assertEqual(provider.moved, []))
        self.addCleanup(provider.close)
        return provider

    def deaf_address(self):
        """HOST:PORT where nobody listens, until the end of the test."""
        bound = socket.socket()
        self.addCleanup(bound.close)
        bound.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{bound.getsockname()[1]}"

    def hold(self):
        """An event that the scripted provider waits for; set at the end of the test."""
        held = threading.Event()
        self.addCleanup(held.set)
        return held

    def ask(self, provider, *arguments, protocol=ANTHROPIC, env=None, **run):
        """keel -p against a scripted provider that stands in for the protocol's vendor."""
        env = {**protocol.environment(provider), **(env or {})}
        model = ["--model", f"{protocol.vendor}/m"]
        if "--model" in arguments:
            model = []
        return self.keel("-p", *model, *arguments, env=env, **run)

    def assert_answer(self, result, text=TEXT):
        """Exactly this text and a line end on stdout, nothing on stderr."""
        self.assert_fine(result)
        self.assertEqual(result.out, text + "\n")

    def only_request(self, provider):
        self.assertEqual(len(provider.requests), 1)
        return provider.requests[0]


def split_path(path):
    parts = urllib.parse.urlsplit(path)
    return parts.path, dict(urllib.parse.parse_qsl(parts.query))


def main():
    keel_test.main()
