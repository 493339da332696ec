"""hostile_test.py - providers that are broken, or want to be: what they cost, and what is kept.

An answer that is whole is used, however its connection ends. What cannot be read is the provider's
fault: keel reports it, does not ask for it again, and asks the next model. Nothing that a provider
sends takes more time, memory or disk than an answer may.
"""
import gzip
import itertools
import json

import scripted
from agent import AgentTest, Call, Reader, Turn
from scripted import (ANTHROPIC, BY_NAME, HANG_UP, Answer, Endless, Raw, for_each_protocol,
                      json_answer, sample)

CHAT = BY_NAME["openai-chat"]
MANY = 1_100_000  # values, more than a text may have


def head(*headers, status="200 OK"):
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode()


def framed(protocol, text):
    """One event with this text as its data."""
    return (text + "\n" if protocol.name == "ollama" else f"data: {text}\n\n").encode()


def whole_answer(protocol):
    """What each vendor sends to those who do not want a stream."""
    text, bodies = "All of it.", {}
    bodies["anthropic-messages"] = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 5, "output_tokens": 9}}
    bodies["openai-chat"] = {"id": "c", "model": "m", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}
    bodies["openai-responses"] = {
        "id": "r", "object": "response", "status": "completed", "model": "m", "output": [
            {"type": "message", "id": "i", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": text, "annotations": []}]}]}
    bodies["gemini"] = {"candidates": [{"finishReason": "STOP", "content": {
        "role": "model", "parts": [{"text": text}]}}]}
    bodies["ollama"] = {"model": "m", "done": True, "done_reason": "stop",
                        "message": {"role": "assistant", "content": text}}
    return json.dumps(bodies[protocol.name]).encode()


class HostileTest(AgentTest):
    def profile(self, protocol, provider, settings=(), **more):
        self.user_settings({**dict(settings), "providers": {"x": {
            "type": protocol.name, "model": "m", "apiKey": "k",
            "baseUrl": provider.url + protocol.prefix, **more}}})

    def ask_x(self, *arguments):
        return self.keel("-p", *arguments, "hi")


class WholeAnswers(HostileTest):
    """They were paid for: keel uses them and does not pay again."""

    def check(self, protocol, answer, *arguments, text="Hello."):
        provider = self.play(protocol, answer, Turn("Again."))
        self.profile(protocol, provider, timeout=1000)
        self.assert_answer(self.ask_x(*arguments), text)
        self.assertEqual(len(provider.requests), 1)

    def pieces(self, protocol):
        return list(self.encode(protocol, Turn("Hello.")).pieces)

    @for_each_protocol
    def test_whose_connection_stays_open(self, protocol):
        self.check(protocol, Answer(self.pieces(protocol) + [self.hold()]))

    @for_each_protocol
    def test_whose_connection_breaks_before_the_last_chunk(self, protocol):
        self.check(protocol, Answer(self.pieces(protocol) + [HANG_UP]))

    @for_each_protocol
    def test_whose_last_event_lacks_the_line_that_ends_it(self, protocol):
        whole = b"".join(self.pieces(protocol)).rstrip(b"\n")
        for end in ([], [HANG_UP]):
            self.check(protocol, Answer([whole, *end]))

    @for_each_protocol
    def test_that_begin_with_a_byte_order_mark(self, protocol):
        self.check(protocol, Answer([b"\xef\xbb\xbf" + b"".join(self.pieces(protocol))]))

    @for_each_protocol
    def test_that_are_shorter_than_was_announced(self, protocol):
        self.check(protocol, Raw([head("content-type: text/event-stream", "content-length: 99999"),
                                  *self.pieces(protocol)]))

    @for_each_protocol
    def test_with_nonsense_behind_them(self, protocol):
        for late in (b"data: {no\n\n", b"{no\n", b"data: " + b"[" * 1000 + b"\n\n", b"\xff" * 99):
            pieces = self.pieces(protocol)
            if protocol.name == "gemini" and b"no" in late:
                continue  # it may have been the rest of the answer: an old model ends every piece
            self.check(protocol, Answer([b"".join(pieces + [late])]))

    @for_each_protocol
    def test_that_are_followed_by_bytes_without_end(self, protocol):
        more = itertools.repeat(b": still here\n\n" * 100 if protocol.name != "ollama" else b"\n")
        self.check(protocol, Endless(itertools.chain(self.pieces(protocol), more)))

    @for_each_protocol
    def test_in_one_piece_that_are_shorter_than_was_announced(self, protocol):
        self.check(protocol, Raw([head("content-type: application/json", "content-length: 99999"),
                                  whole_answer(protocol)]), "--no-stream", text="All of it.")


class ValuesWithoutNumber(HostileTest):
    @for_each_protocol
    def test_in_an_event(self, protocol):
        for wide in ('{"x": [' + "0," * MANY + "0]}", '{"x": [' + "{}," * MANY + "0]}"):
            provider = self.play(protocol, Answer([framed(protocol, wide)]))
            result = self.run_agent(protocol, provider, "hi")
            self.assert_refused(result, 1, "more values than the limit of 1048576")
            self.assertEqual(len(provider.requests), 1)

    def test_in_arguments_are_a_result_for_the_model(self):
        for name in ("anthropic-messages", "openai-chat", "openai-responses"):
            with self.subTest(name):
                protocol, n = BY_NAME[name], 100_000
                pieces = ['{"command": ['] + ["0," * n] * (MANY // n) + ["0]}"]
                results = self.results_of(protocol, Turn(Call("Bash", raw=pieces)))
                self.assertEqual(len(results), 1)
                self.assertIn("not executed", results[0])
                self.assertIn("more values than the limit", results[0])

    @for_each_protocol
    def test_in_the_arguments_of_all_calls_of_an_answer(self, protocol):
        wide = '{"command": [' + "0," * 400_000 + "0]}"
        turn = Turn(*[Call("Bash", raw=wide, id=f"call_{n}") for n in range(4)])
        provider = self.play(protocol, turn, Turn("Well."))
        self.profile(protocol, provider, contextWindow=100_000_000)
        self.assert_answer(self.ask_x(), "Well.")
        results = [line for line in Reader(protocol, provider.requests[1]).lines
                   if line.startswith("  result")]
        self.assertEqual(["more values in their arguments" in result for result in results],
                         [False, False, True, True])

    def test_in_a_list_of_models(self):
        provider = self.provider(Answer([b'{"data": [' + b"0," * MANY + b"0]}"],
                                        content_type="application/json"))
        provider.lists = True
        result = self.keel("models", "--refresh", env=ANTHROPIC.environment(provider))
        self.assertEqual(len(provider.requests), 1)
        self.assertIn("more values than the limit of 1048576", result.out + result.err)


class TheNextModel(HostileTest):
    """It is asked when the first one sends what cannot be read, and at once."""

    def check(self, answer, protocol=ANTHROPIC):
        one, two = self.play(protocol, answer), self.play(ANTHROPIC, Turn("I can."))
        self.user_settings({"providers": {"next": {"type": "anthropic", "baseUrl": two.url,
                                                   "model": "n", "apiKey": "k"}}})
        result = self.run_agent(protocol, one, "--fallback-model", "next", "hi")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "I can.\n")
        self.assertIn("asking next/n instead", result.err)
        self.assertEqual((len(one.requests), len(two.requests)), (1, 1))

    @for_each_protocol
    def test_what_no_protocol_can_read(self, protocol):
        line = f"x-more: {'y' * 1000}".encode() + b"\r\n"
        for answer in (Raw([b"HTTP/1.1 200 OK\r\n"] + [line] * 300),
                       Answer([framed(protocol, "[" * 1000)]), Answer([framed(protocol, "{no")]),
                       Endless(itertools.chain([b"data: " if protocol.name != "ollama" else b'{"'],
                                               itertools.repeat(b"x" * 65536)))):
            self.check(answer, protocol)

    def test_headers_without_end(self):
        line = f"x-more: {'y' * 1000}".encode() + b"\r\n"
        self.check(Raw([b"HTTP/1.1 200 OK\r\n"] + [line] * 300))

    def test_a_header_line_without_end(self):
        self.check(Raw([b"HTTP/1.1 200 OK\r\nx-long: "] + [b"z" * 65536] * 20))

    def test_a_body_without_end(self):
        self.check(Endless(itertools.repeat(b": comment\n" * 6000)))

    def test_an_event_without_end(self):
        self.check(Endless(itertools.chain([b"data: "], itertools.repeat(b"x" * 65536))))

    def test_events_without_end(self):
        self.check(Endless(itertools.repeat(b"data: {}\n\n" * 6000)))

    def test_values_that_are_nested_too_deep(self):
        self.check(Answer([b"data: " + b"[" * 1000 + b"\n\n"]))

    def test_what_is_not_json(self):
        self.check(Answer([b"data: {nonsense\n\n"]))
        self.check(Answer([b"{nonsense}"]))

    def test_another_protocol(self):
        self.check(json_answer({"choices": [{"message": {"content": "hi"}}]}))
        self.check(Raw([b"SSH-2.0-OpenSSH_9.2\r\n"]))

    def test_a_web_page(self):
        self.check(Answer([b"<!doctype html><p>Welcome"], content_type="text/html"))

    def test_another_address(self):
        self.check(Answer([], 302, location="https://example.com/"))

    def test_a_compressed_answer(self):
        packed = gzip.compress(b"".join(self.encode(ANTHROPIC, Turn("Hello.")).pieces))
        self.check(Answer([packed], content_encoding="gzip"))


class Limits(HostileTest):
    """They are the provider's fault, and what had come before one struck is kept."""

    def test_of_the_headers(self):
        line = f"x-more: {'y' * 1000}".encode() + b"\r\n"
        provider = self.play(ANTHROPIC, Raw([b"HTTP/1.1 200 OK\r\n"] + [line] * 300))
        self.assert_refused(self.run_agent(ANTHROPIC, provider, "hi"), 1, "headers")

    @for_each_protocol
    def test_keep_the_text_before_them(self, protocol):
        rests = [[framed(protocol, "[" * 1000)]]
        if protocol is ANTHROPIC:
            rests.append(itertools.repeat(b": comment\n" * 6000))
        for rest in rests:
            pieces = list(self.encode(protocol, Turn(["Once", " upon"])).pieces)
            at = next(i for i, piece in enumerate(pieces) if b"upon" in piece)
            provider = self.play(protocol, Endless(itertools.chain(pieces[:at + 1], rest)))
            result = self.run_agent(protocol, provider, "hi")
            self.assert_status(result, 1)
            self.assertEqual(result.out, "Once upon\n")
            self.assertEqual(len(provider.requests), 1)

    def test_a_refused_key_stays_one_however_long_the_refusal_is(self):
        sent = []

        def pieces():
            for _ in range(1000):
                sent.append(65536)
                yield b"x" * 65536

        provider = self.play(ANTHROPIC, Endless(pieces(), 401, content_type="text/plain"))
        self.assert_refused(self.run_agent(ANTHROPIC, provider, "hi"), 6, "HTTP 401")
        self.assertLess(sum(sent), 30_000_000)  # what was read, and what lay in sockets

    def test_a_refused_key_stays_one_though_the_refusal_breaks_off(self):
        for end in (HANG_UP, self.hold()):
            provider = self.play(ANTHROPIC, Answer([b'{"error": {"mess', end], 401))
            self.profile(ANTHROPIC, provider, timeout=1000)
            self.assert_refused(self.ask_x(), 6, "HTTP 401")


class Time(HostileTest):
    @for_each_protocol
    def test_signs_of_life_alone_do_not_keep_an_answer_open(self, protocol):
        sign = b"\n" if protocol.name == "ollama" else b": still here\n\n"
        start = list(self.encode(protocol, Turn(["Once", " upon"])).pieces)
        at = next(i for i, piece in enumerate(start) if b"Once" in piece)
        kind = "application/x-ndjson" if protocol.name == "ollama" else "text/event-stream"
        provider = self.play(protocol, Endless(itertools.chain(start[:at + 1],
                                                               itertools.repeat(sign)),
                                               content_type=kind))
        self.profile(protocol, provider, {"maxAttempts": 1}, timeout=50)
        result = self.ask_x()
        self.assert_status(result, 1)
        self.assertEqual(result.out, "Once\n")
        self.assertRegex(result.err, "kept the connection alive|sent nothing for")

    def test_an_answer_that_never_ends_does(self):
        start = list(self.encode(ANTHROPIC, Turn(["Once", " upon"])).pieces)
        at = next(i for i, piece in enumerate(start) if b"Once" in piece)
        provider = self.play(ANTHROPIC, Endless(itertools.chain(start[:at],
                                                               itertools.repeat(start[at]))))
        self.profile(ANTHROPIC, provider, {"maxAttempts": 1}, maxSeconds=1)
        result = self.ask_x()
        self.assert_status(result, 1)
        self.assertTrue(result.out.startswith("OnceOnce"), result.out[:100])
        self.assertIn("took longer than 1 s", result.err)


class Counts(HostileTest):
    """Of tokens, that no provider can mean."""

    prices = {"pricing": {"x/m": {"input": 3, "output": 15}}}
    names = {"anthropic-messages": "output_tokens", "openai-chat": "completion_tokens",
             "openai-responses": "output_tokens", "gemini": "candidatesTokenCount",
             "ollama": "eval_count"}
    counts = ("-5", "9223372036854775807", "1e999999", "99999999999999999999999", "1000000001")

    def answer(self, protocol, count):
        answer = self.encode(protocol, Turn("Hello.", usage=(5, 424242)))
        answer.pieces = [piece.replace(b"424242", count.encode()) for piece in answer.pieces]
        return answer

    @for_each_protocol
    def test_are_not_counted_and_spoil_nothing(self, protocol):
        for count in sample(self.counts, 2):
            with self.subTest(count):
                provider = self.play(protocol, self.answer(protocol, count), Turn("More."))
                self.profile(protocol, provider, self.prices)
                result = self.ask_x("--output-format", "json")
                self.assert_status(result, 0)
                last = json.loads(result.out)
                self.assertLess(last["usage"]["output_tokens"], 1000)
                self.assertLess(last["total_cost_usd"], 1)
                self.assert_status(self.ask_x("-c"), 0)

    @for_each_protocol
    def test_are_not_free(self, protocol):
        for count in sample(self.counts, 1):
            call = self.encode(protocol, Turn(Call("Bash", command="true"), usage=(5, 424242)))
            call.pieces = [piece.replace(b"424242", count.encode()) for piece in call.pieces]
            provider = self.play(protocol, call, Turn("More."))
            self.profile(protocol, provider, self.prices)
            self.assert_status(self.ask_x("--permission-mode", "bypassPermissions"), 0)
            shown = self.keel("session", "show", "--json").json()
            self.assertGreater(shown["costUsd"], 0)
            self.assertEqual((shown["costIsKnown"], shown["costIsEstimated"]), (False, True))


class Heads(HostileTest):
    def ask_once(self, answer):
        provider = self.play(ANTHROPIC, answer)
        result = self.run_agent(ANTHROPIC, provider, "hi")
        self.assertEqual(len(provider.requests), 1)
        return result

    def test_a_long_address_is_cut(self):
        result = self.ask_once(Answer([], 307, location="https://example.com/" + "z" * 60_000))
        self.assert_refused(result, 6, "HTTP 307", "redirects it to https://example.com/zzz",
                            "...")
        self.assertLess(len(result.err), 1000)

    def test_no_address_is_not_made_up(self):
        for status in (300, 304, 307):
            result = self.ask_once(Raw([head("content-length: 0", status=f"{status} Hm")]))
            self.assert_refused(result, 1, f"HTTP {status}", "base URL")
            self.assertNotIn("leads to", result.err)

    def test_another_protocol_is_not_switched_to(self):
        pieces = list(self.encode(ANTHROPIC, Turn("Hello.")).pieces)
        result = self.ask_once(Raw([head("upgrade: x", status="101 Switching"), *pieces]))
        self.assert_refused(result, 1, "HTTP 101")

    def test_compression_that_was_not_asked_for_is_named(self):
        packed = gzip.compress(b'{"error": {"message": "so it goes"}}')
        result = self.ask_once(Answer([packed], content_encoding="gzip"))
        self.assert_refused(result, 1, "compressed (gzip)", "did not ask for")
        result = self.ask_once(Answer([packed], 400, content_encoding="gzip"))
        self.assert_refused(result, 1, "HTTP 400", "compressed")


class Cuts(HostileTest):
    """A stream that ends at any byte: what it lacks is never passed over in silence."""

    @for_each_protocol
    def test_at_any_byte(self, protocol):
        text = "One two three. The end."
        whole = b"".join(self.encode(protocol, Turn(["One ", "two ", "three. ", "The end."])).pieces)
        for at in sample(range(len(whole)), 8):
            with self.subTest(f"{at} of {len(whole)} bytes"):
                provider = self.play(protocol, Answer([whole[:at]] if at else []))
                self.profile(protocol, provider, {"maxAttempts": 1})
                result = self.ask_x()
                self.assertIn(result.status, (0, 1), result)
                self.assertTrue(text.startswith(result.out.rstrip("\n")), result)
                if result.status == 0:
                    self.assert_answer(result, text)
                else:
                    self.assertTrue(result.err.startswith("keel: "), result)

    def test_a_half_line_is_a_broken_stream_and_asked_for_again(self):
        protocol = BY_NAME["ollama"]
        whole = b"".join(self.encode(protocol, Turn(["One ", "two."])).pieces)
        for at in (20, whole.index(b"two") + 2):
            provider = self.play(protocol, Answer([whole[:at]],
                                                  content_type="application/x-ndjson"),
                                 Turn("Again."))
            self.profile(protocol, provider)
            self.assert_answer(self.ask_x(), "Again.")
            self.assertEqual(len(provider.requests), 2)

    @for_each_protocol
    def test_within_a_call_run_nothing(self, protocol):
        turn = Turn("I touch.", Call("Bash", command="touch made"))
        whole = b"".join(self.encode(protocol, turn).pieces)
        # an answer with its end, but without the last count or mark, is whole
        end = whole.index(b"touch made")
        for at in sample(range(end), 6):
            provider = self.play(protocol, Answer([whole[:at]] if at else []))
            self.profile(protocol, provider, {"maxAttempts": 1})
            result = self.ask_x("--permission-mode", "bypassPermissions")
            self.assert_status(result, 1)
            self.assertFalse((self.project / "made").exists())


class Repeats(HostileTest):
    def test_an_item_that_is_announced_twice_is_one(self):
        protocol = BY_NAME["openai-responses"]
        pieces = list(self.encode(protocol, Turn(["Hel", "lo."])).pieces)
        at = next(i for i, piece in enumerate(pieces) if b"output_item.added" in piece)
        provider = self.play(protocol, Answer(pieces[:at] + [pieces[at]] + pieces[at:]))
        self.assert_answer(self.run_agent(protocol, provider, "hi"), "Hello.")


class PagesOfProxies(HostileTest):
    """What stands before an API answers with web pages."""

    page = b"<html><h1>No</h1>"

    def ask_page(self, status):
        provider = self.play(ANTHROPIC, Answer([self.page], status, content_type="text/html"))
        self.profile(ANTHROPIC, provider, {"maxAttempts": 1})
        return self.ask_x()

    def test_one_that_is_busy_is_not_a_wrong_address(self):
        for status in (429, 502, 503):
            result = self.ask_page(status)
            self.assert_refused(result, 1, f"HTTP {status}", "web page")
            self.assertNotIn("base URL", result.err)

    def test_one_that_forbids_is_not_a_wrong_key(self):
        result = self.ask_page(403)
        self.assert_refused(result, 6, "HTTP 403", "a proxy may be in the way")
        self.assertNotIn("apiKey", result.err)


class ErrorsOfOthers(HostileTest):
    """Proxies, gateways and frameworks have error bodies of their own."""

    bodies = [
        {"error": "so it goes"},
        {"error": {"message": "so it goes"}},
        {"error": {"detail": "so it goes"}},
        {"error": {"errors": [{"message": "so it goes"}]}},
        {"message": "so it goes"},
        {"error": "Bad Request", "message": "so it goes"},
        {"detail": "so it goes"},
        {"detail": [{"loc": ["body"], "msg": "so it goes"}]},
        {"errors": ["so it goes"]},
        [{"error": {"message": "so it goes"}}],
        [{"error": "so it goes"}],
    ]

    @for_each_protocol
    def test_are_told(self, protocol):
        for body in sample(self.bodies, 4):
            with self.subTest(body):
                provider = self.play(protocol, json_answer(body, 400))
                self.assert_refused(self.run_agent(protocol, provider, "hi"), 1, "HTTP 400",
                                    "so it goes")

    @for_each_protocol
    def test_are_told_in_a_stream_and_not_asked_for_again(self, protocol):
        for body in sample(self.bodies, 3):
            with self.subTest(body):
                start = list(self.encode(protocol, Turn("Hello.")).pieces)[:1]
                for pieces in ([framed(protocol, json.dumps(body))],
                               start + [framed(protocol, json.dumps(body))]):
                    provider = self.play(protocol, Answer(pieces))
                    result = self.run_agent(protocol, provider, "hi")
                    self.assert_status(result, 1)
                    self.assertIn("so it goes", result.err)
                    self.assertEqual(len(provider.requests), 1)


if __name__ == "__main__":
    scripted.main()
