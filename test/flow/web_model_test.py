"""web_model_test.py - WebSearch without a service: one request to the model's own provider.

The scripted provider answers two kinds of requests: those of the conversation, and the search that
the tool asks for beside it. What leaves, what the model reads, what is counted and what is stored
are looked at in every protocol whose vendor can search.
"""
import json
import pathlib
import signal
import sys
import threading

import scripted
from agent import Call, Reader, Turn
from interrupt_test import Interrupt
from resume_test import UNKNOWN, SessionTest
from scripted import ANTHROPIC, BY_NAME, HANG_SECONDS, Answer, Protocol, event, json_answer

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

from input_test import InputTest, reply, user  # noqa: E402

RESPONSES, GEMINI = BY_NAME["openai-responses"], BY_NAME["gemini"]
XAI = Protocol("openai-responses", RESPONSES.encode, "xai", "XAI_API_KEY", "XAI_BASE_URL", "/v1",
               "/v1/responses", "authorization", "incomplete")
SEARCHERS = [ANTHROPIC, RESPONSES, XAI, GEMINI]
PAGES = [("Arenas", "https://a.example/arenas", "Arenas free all at once."),
         ("Pools", "https://docs.b.example/pools", "Pools hold one size.")]
SAID = "Arenas are simpler than pools."
USAGE = (700, 30)
QUERY = "c arenas or pools"


# --- what a provider answers to a search ---

def anthropic_found(pages, text):
    def named(value):
        return event(value, value["type"])

    def block(index, start, *deltas):
        yield named({"type": "content_block_start", "index": index, "content_block": start})
        for delta in deltas:
            yield named({"type": "content_block_delta", "index": index, "delta": delta})
        yield named({"type": "content_block_stop", "index": index})
    yield named({"type": "message_start", "message": {
        "id": "msg_s", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "usage": {"input_tokens": USAGE[0], "output_tokens": 1}}})
    yield from block(0, {"type": "server_tool_use", "id": "srv_1", "name": "web_search",
                         "input": {}},
                     {"type": "input_json_delta", "partial_json": json.dumps({"query": QUERY})})
    yield from block(1, {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [
        {"type": "web_search_result", "title": title, "url": url, "encrypted_content": "c2Vj",
         "page_age": None} for title, url, _ in pages]})
    yield from block(2, {"type": "text", "text": "", "citations": []},
                     {"type": "text_delta", "text": text},
                     *({"type": "citations_delta", "citation": {
                         "type": "web_search_result_location", "title": title, "url": url,
                         "cited_text": words, "encrypted_index": "x"}}
                       for title, url, words in pages))
    yield named({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                 "usage": {"output_tokens": USAGE[1]}})
    yield named({"type": "message_stop"})


def responses_found(pages, text):
    def typed(kind, **members):
        return event({"type": kind, **members}, kind)

    def response(status, output):
        return {"id": "resp_s", "object": "response", "status": status, "model": "m",
                "output": output, "usage": {"input_tokens": USAGE[0], "output_tokens": USAGE[1],
                                            "total_tokens": sum(USAGE)}}
    call = {"id": "ws_1", "type": "web_search_call", "status": "completed",
            "action": {"type": "search", "query": QUERY}}
    part = {"type": "output_text", "text": text, "annotations": [
        {"type": "url_citation", "start_index": 0, "end_index": 5, "title": title, "url": url}
        for title, url, _ in pages]}
    message = {"id": "msg_s", "type": "message", "role": "assistant", "status": "completed",
               "content": [part]}
    yield typed("response.created", response=response("in_progress", []))
    yield typed("response.output_item.added", output_index=0, item={**call, "status": "searching"})
    yield typed("response.output_item.done", output_index=0, item=call)
    yield typed("response.output_item.added", output_index=1, item={**message, "content": []})
    yield typed("response.output_text.delta", item_id="msg_s", output_index=1, content_index=0,
                delta=text)
    yield typed("response.output_item.done", output_index=1, item=message)
    yield typed("response.completed", response=response("completed", [call, message]))


def gemini_found(pages, text):
    """Its addresses are links of its own, and the titles are hosts."""
    yield event({"candidates": [{
        "index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": text}]},
        "groundingMetadata": {"webSearchQueries": [QUERY], "groundingChunks": [
            {"web": {"uri": link_of(url), "title": host_of(url)}} for _, url, _ in pages]}}],
        "usageMetadata": {"promptTokenCount": USAGE[0], "candidatesTokenCount": USAGE[1],
                          "totalTokenCount": sum(USAGE)}})


def host_of(url):
    return url.split("/")[2]


def link_of(url):
    return f"https://vertexaisearch.example/grounding-api-redirect/{host_of(url)}"


FOUND = {"anthropic-messages": anthropic_found, "openai-responses": responses_found,
         "gemini": gemini_found}


def found(protocol, pages=PAGES, text=SAID):
    return Answer(FOUND[protocol.name](pages, text))


def listed(protocol, pages=PAGES, text=SAID):
    """What the model reads of it."""
    lines = []
    for number, (title, url, words) in enumerate(pages, 1):
        if protocol.name == "gemini":
            title, url = host_of(url), link_of(url)
        lines += [f"{number}. {title}", f"   {url}"]
        if protocol.name == "anthropic-messages":
            lines.append(f"   {words}")
        lines.append("")
    if text:
        lines += ["Summary of the search:", text]
    else:
        lines.pop()
    return "\n".join(lines) + "\n"


def is_search(request):
    """Is it the tool's own request? It has no function, or no tool at all."""
    return "You search the web for another program" in json.dumps(request.json)


class SearchTest(SessionTest):
    base_settings = {"maxAttempts": 1}

    def search(self, query=QUERY, n_prompt=1000, **more):
        return Turn(Call("WebSearch", query=query, **more), usage=(n_prompt, 20))

    def done(self):
        return Turn("Done.", usage=(1200, 10))

    def play_search(self, protocol, *answers, **call):
        """The model calls the tool, these are the answers to the search, then it is content."""
        return self.play(protocol, self.search(**call), *answers, self.done())

    def run_search(self, protocol, *answers, arguments=(), status=0, mode="default",
                   allowed=("--allowed-tools", "WebSearch"), **call):
        self.session = self.new_id()
        provider = self.play_search(protocol, *answers, **call)
        result = self.run_agent(protocol, provider, "--session-id", self.session, *allowed,
                                *arguments, "go", mode=mode)
        self.assert_status(result, status)
        self.last = result
        return provider

    def results(self, protocol, provider):
        return [line.split(" ", 4)[4] for line in Reader(protocol, provider.requests[-1]).lines
                if line.startswith("  result")]

    def assert_result(self, protocol, provider, text):
        self.assertEqual(self.results(protocol, provider), [repr(text)])

    def assert_whole(self, session=None, n_runs=1):
        """It verifies, and goes the same way again without a provider."""
        session = session or self.session
        self.assert_fine(self.keel("session", "verify", session))
        result = self.keel("session", "replay", session, "--json")
        self.assertEqual(result.status, 0, self.keel("session", "replay", session))
        runs = json.loads(result.out)
        self.assertEqual([run["verdict"] for run in runs], ["same"] * n_runs)
        for run in runs:
            self.assertEqual(run["compared"], run["recorded"])

    def events(self, kind):
        result = self.keel("session", "export", self.session, "--format", "jsonl")
        self.assert_status(result, 0)
        events = [json.loads(line) for line in result.out.splitlines()]
        return [event for event in events if event["event"] == kind]


class Asked(SearchTest):
    def test_the_providers_own_search_answers_in_each_protocol(self):
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                provider = self.run_search(protocol, found(protocol))
                self.assertEqual([is_search(r) for r in provider.requests], [False, True, False])
                self.assert_result(protocol, provider, listed(protocol))
                self.assert_taken_but_search(protocol, provider)
                self.assert_whole()

    def assert_taken_but_search(self, protocol, provider):
        if self.strict:
            for request in provider.requests:
                self.assertIsNone(self.strict.refuses(protocol, request.json))

    def test_the_request_holds_the_query_and_the_search_and_nothing_else(self):
        tools = {"anthropic": [{"type": "web_search_20250305", "name": "web_search"}],
                 "openai": [{"type": "web_search"}], "xai": [{"type": "web_search"}],
                 "gemini": [{"googleSearch": {}}]}
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                request = self.run_search(protocol, found(protocol)).requests[1]
                body = request.json
                self.assertEqual(body["tools"], tools[protocol.vendor])
                self.assertEqual(request.prompt_texts(), [QUERY])
                messages = body.get("messages") or body.get("contents") or [
                    item for item in body["input"] if item.get("role") == "user"]
                self.assertEqual(len(messages), 1)
                self.assertNotIn("tool_choice", body)

    def test_domains_are_sent_where_the_vendor_has_that_and_checked_in_any_case(self):
        fields = {"anthropic": lambda tool: tool, "openai": lambda tool: tool["filters"],
                  "xai": lambda tool: tool["filters"]}
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                provider = self.run_search(protocol, found(protocol),
                                           allowed_domains=["*.b.example"])
                [tool] = provider.requests[1].json["tools"]
                if protocol.vendor in fields:
                    limits = fields[protocol.vendor](tool)
                    self.assertEqual(limits["allowed_domains"], ["b.example"])
                else:
                    self.assertEqual(tool, {"googleSearch": {}})
                self.assertIn("these domains: *.b.example.", provider.requests[1].prompt_texts()[0])
                # the text is also about the other page
                self.assert_result(protocol, provider, listed(protocol, PAGES[1:], text=None))
                self.assert_whole()

    def test_domains_that_are_not_wanted(self):
        names = {"anthropic": "blocked_domains", "openai": "blocked_domains",
                 "xai": "excluded_domains"}
        for protocol in SEARCHERS[:3]:
            with self.subTest(protocol.vendor):
                provider = self.run_search(protocol, found(protocol), blocked_domains=["a.example"])
                [tool] = provider.requests[1].json["tools"]
                self.assertEqual((tool.get("filters") or tool)[names[protocol.vendor]],
                                 ["a.example"])
                self.assert_result(protocol, provider, listed(protocol, PAGES[1:], text=None))

    def test_more_domains_than_the_vendor_takes_are_only_checked(self):
        domains = [f"{letter}.example" for letter in "abcdef"]
        provider = self.run_search(XAI, found(XAI), allowed_domains=domains)
        self.assertEqual(provider.requests[1].json["tools"], [{"type": "web_search"}])
        self.assert_result(XAI, provider, listed(XAI))

    def test_searches_of_one_answer_come_one_after_the_other(self):
        turn = Turn(Call("WebSearch", query="one"), Call("Glob", pattern="*"),
                    Call("WebSearch", query="two"))
        provider = self.play(ANTHROPIC, turn, found(ANTHROPIC, PAGES[:1]),
                             found(ANTHROPIC, PAGES[1:]), Turn("Done."))
        self.session = self.new_id()
        self.assert_fine(self.run_agent(ANTHROPIC, provider, "--session-id", self.session, "go"))
        self.assertEqual([r.prompt_texts()[0] for r in provider.requests[1:3]], ["one", "two"])
        told = self.results(ANTHROPIC, provider)
        self.assertIn("a.example", told[0])
        self.assertIn("docs.b.example", told[2])
        self.assert_whole()

    def test_an_answer_without_a_page_is_told_as_one(self):
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                provider = self.run_search(protocol, found(protocol, [], "I found nothing."))
                self.assert_result(protocol, provider, "The search returned no pages.\n\n"
                                   "Summary of the search:\nI found nothing.\n")

    def test_what_hides_in_the_text_is_taken_out(self):
        provider = self.run_search(ANTHROPIC, found(ANTHROPIC, text="A\u202eB\u200bC\x1b[1m\nD"))
        self.assert_result(ANTHROPIC, provider, listed(ANTHROPIC, text="ABC[1m\nD"))

    def test_a_projects_choice_of_the_own_search_asks_by_the_tool(self):
        self.write("project/.keel/settings.json", {"webSearch": {"provider": "native"}})
        self.assert_status(self.keel("trust", "--yes"), 0)
        provider = self.run_search(ANTHROPIC, allowed=())
        self.assertEqual(len(provider.requests), 2)
        self.assertIn("with the rule WebSearch or", self.results(ANTHROPIC, provider)[0])
        self.user_settings({"permissions": {"ask": ["WebSearch(secret*)"],
                                            "allow": ["WebSearch(c *)"]}})
        provider = self.run_search(ANTHROPIC, found(ANTHROPIC), allowed=())
        self.assert_result(ANTHROPIC, provider, listed(ANTHROPIC))


class Permission(SearchTest):
    def test_nothing_leaves_without_a_permission(self):
        for mode in ("plan", "default", "acceptEdits"):
            with self.subTest(mode):
                provider = self.run_search(ANTHROPIC, mode=mode, allowed=())
                self.assertEqual(len(provider.requests), 2)
                self.assertIn("with the rule WebSearch or", self.results(ANTHROPIC, provider)[0])

    def test_a_rule_that_denies_holds_in_every_mode(self):
        self.user_settings({"permissions": {"deny": ["WebSearch(c *)"]}})
        provider = self.run_search(ANTHROPIC, mode="bypassPermissions", allowed=())
        self.assertEqual(len(provider.requests), 2)
        self.assertIn("denied by the rule", self.results(ANTHROPIC, provider)[0])

    def test_pages_of_a_host_that_is_denied_to_fetches_are_left_out(self):
        self.user_settings({"permissions": {"deny": ["WebFetch(domain:a.example)"]}})
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                provider = self.run_search(protocol, found(protocol))
                self.assert_result(protocol, provider, listed(protocol, PAGES[1:], text=None))
                self.assert_whole()
        provider = self.run_search(ANTHROPIC, found(ANTHROPIC, PAGES[:1]))
        self.assert_result(ANTHROPIC, provider,
                           "No results except pages on hosts that a rule denies.\n")

    def test_bypass_lets_it_run(self):
        provider = self.run_search(ANTHROPIC, found(ANTHROPIC), mode="bypassPermissions",
                                   allowed=())
        self.assert_result(ANTHROPIC, provider, listed(ANTHROPIC))


class ByAPerson(InputTest):
    def open(self, *answers):
        call = scripted.Call("WebSearch", query=QUERY)
        return self.provider(ANTHROPIC.answer([""], calls=[call]), *answers, ANTHROPIC.answer())

    def answer(self, provider, **answer):
        host = self.host(provider, "--permission-prompt-tool", "stdio")
        host.say(user("go"))
        line = host.wait_for("control_request", "can_use_tool")
        self.assertEqual(line["request"]["tool_name"], "WebSearch")
        self.assertEqual(len(provider.requests), 1)
        host.say(reply(line["request_id"], **answer))
        result = host.wait_for("result")
        self.end(host)
        return result

    def test_it_is_asked_before_the_request_leaves(self):
        provider = self.open(found(ANTHROPIC))
        self.answer(provider, behavior="allow", updatedInput={"query": QUERY})
        self.assertEqual(len(provider.requests), 3)
        self.assertIn("a.example", provider.requests[2].body.decode())

    def test_a_no_is_one(self):
        provider = self.open()
        self.answer(provider, behavior="deny", message="not now")
        self.assertEqual(len(provider.requests), 2)


class Counted(SearchTest):
    def test_its_tokens_and_its_price_are_the_runs(self):
        self.user_settings({"pricing": {"anthropic/m": {"input": 1, "output": 10}}})
        self.run_search(ANTHROPIC, found(ANTHROPIC), arguments=["--output-format", "json"])
        result = json.loads(self.last.out)
        self.assertEqual(result["usage"]["input_tokens"], 1000 + 700 + 1200)
        self.assertEqual(result["usage"]["output_tokens"], 20 + 30 + 10)
        self.assertAlmostEqual(result["total_cost_usd"], (2900 * 1 + 60 * 10) / 1e6)
        begun = self.events("attempt_begin")
        self.assertEqual([e["isAside"] for e in begun], [False, True, False])
        self.assertEqual([e.get("toolCallId") for e in begun], [None, "call_1", None])

    def test_a_search_that_the_budget_has_no_room_for_does_not_leave(self):
        provider = self.run_search(ANTHROPIC, found(ANTHROPIC), status=5, n_prompt=20000,
                                   arguments=["--max-tokens-total", "20500"])
        self.assertEqual(len(provider.requests), 1)
        self.assertIn("20020 tokens of 20500 tokens used", self.last.err)
        [end] = self.events("tool_end")
        self.assertIn("20020 tokens of 20500 tokens used", json.dumps(end))
        self.assert_whole()

    def test_what_it_took_is_gone_from_the_budget(self):
        provider = self.run_search(ANTHROPIC, found(ANTHROPIC), status=5, n_prompt=20000,
                                   arguments=["--max-tokens-total", "22000"])
        self.assertEqual([is_search(r) for r in provider.requests], [False, True])
        self.assertIn("20750 tokens of 22000 tokens used", self.last.err)
        self.assert_whole()


class Failing(SearchTest):
    def test_an_error_of_the_provider_is_a_result(self):
        errors = {"anthropic-messages": {"type": "error", "error": {
            "type": "invalid_request_error", "message": "no search for you"}},
            "openai-responses": {"error": {"type": "invalid_request_error", "code": None,
                                           "message": "no search for you"}},
            "gemini": {"error": {"code": 400, "status": "INVALID_ARGUMENT",
                                 "message": "no search for you"}}}
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                provider = self.run_search(protocol, json_answer(errors[protocol.name], 400))
                self.assertEqual(len(provider.requests), 3)
                self.assertIn("no search for you", self.results(protocol, provider)[0])
                self.assert_whole()

    def test_a_search_that_failed_at_the_provider_is_told(self):
        answer = anthropic_found([], "I could not search.")
        pieces = [piece.replace(b'"content": []}', b'"content": {"type": '
                                b'"web_search_tool_result_error", "error_code": "unavailable"}}')
                  if b"web_search_tool_result" in piece else piece for piece in answer]
        provider = self.run_search(ANTHROPIC, Answer(pieces))
        self.assert_result(ANTHROPIC, provider, "the provider's own search failed (unavailable).")

    def test_an_overload_is_tried_again(self):
        self.user_settings({"maxAttempts": 3})
        overload = json_answer({"type": "error", "error": {"type": "overloaded_error",
                                                           "message": "busy"}}, 529)
        provider = self.run_search(ANTHROPIC, overload, overload, found(ANTHROPIC))
        self.assertEqual([is_search(r) for r in provider.requests], [False, True, True, True, False])
        self.assert_result(ANTHROPIC, provider, listed(ANTHROPIC))
        self.assert_whole()

    def test_an_answer_that_breaks_off_is_a_result(self):
        pieces = list(anthropic_found(PAGES, SAID))
        provider = self.run_search(ANTHROPIC, Answer([*pieces[:5], scripted.HANG_UP]))
        self.assertEqual(len(provider.requests), 3)
        self.assert_whole()

    def test_a_provider_that_never_answers_is_not_waited_for(self):
        self.user_settings({"toolTimeouts": {"WebSearch": 200}})
        provider = self.run_search(ANTHROPIC, Answer([self.hold()]))
        self.assert_result(ANTHROPIC, provider, "(tool failed: timeout)")
        self.assert_whole()


class Ended(SearchTest):
    def interrupt(self, protocol, pieces):
        self.session = self.new_id()
        [piece] = [piece for piece in pieces if isinstance(piece, Interrupt)]
        self.addCleanup(piece.set)
        provider = self.play_search(protocol, Answer(pieces))
        process = self.start_agent(protocol, provider, "--session-id", self.session, "go")
        piece.process = process
        piece.is_started.set()
        process.communicate(timeout=HANG_SECONDS)
        piece.set()
        self.assertEqual(process.returncode, 130)
        return provider

    def test_an_interrupt_ends_the_request_wherever_it_is(self):
        for protocol in SEARCHERS:
            whole = list(FOUND[protocol.name](PAGES, SAID))
            for at in {0, len(whole) // 2, len(whole) - 1}:
                with self.subTest(f"{protocol.vendor} before piece {at}"):
                    pieces = [*whole[:at], Interrupt(), *whole[at:]]
                    provider = self.interrupt(protocol, pieces)
                    self.assertEqual(len(provider.requests), 2)
                    self.assert_whole()
                    _, requests = self.go_on(protocol, self.session, Turn("Fine."),
                                             arguments=["and now?"])
                    self.assertIn("interrupted by user", "\n".join(requests[0]))

    def test_an_interrupt_between_two_attempts(self):
        self.user_settings({"maxAttempts": 3})
        self.session = self.new_id()
        limited = json_answer({"type": "error", "error": {"type": "rate_limit_error",
                                                          "message": "slow"}}, 429,
                              retry_after="300")
        provider = self.play_search(ANTHROPIC, limited)
        process = self.start_agent(ANTHROPIC, provider, "--session-id", self.session, "go")
        self.wait_stored(self.session, "retry")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_SECONDS)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(len(provider.requests), 2)
        self.assert_whole()

    def kill_in_search(self, protocol, *arguments, **call):
        self.session = self.new_id()
        asked, held = threading.Event(), self.hold()

        def answer(request):
            asked.set()
            return Answer([held])
        process = self.start_agent(protocol, self.play_search(protocol, answer, **call),
                                   "--session-id", self.session, *arguments, "go")
        self.assertTrue(asked.wait(HANG_SECONDS), "keel never searched")
        self.kill(process)

    def test_a_killed_search_is_told_as_unknown_and_not_asked_again(self):
        for protocol in SEARCHERS:
            with self.subTest(protocol.vendor):
                self.kill_in_search(protocol)
                result, requests = self.go_on(protocol, self.session, Turn("Well."))
                self.assertEqual(result.out, "Well.\n")
                self.assertEqual(len(requests), 1)
                self.assertIn(UNKNOWN, requests[0][-1])
                self.assert_status(self.keel("session", "verify", self.session), 0)
                replayed = json.loads(
                    self.keel("session", "replay", self.session, "--json").out)
                self.assertEqual([run["verdict"] for run in replayed], ["same", "same"])

    def test_a_killed_search_is_paid_for(self):
        limit = ["--max-tokens-total", "22000"]
        self.kill_in_search(ANTHROPIC, *limit, n_prompt=20000)
        provider = self.play(ANTHROPIC, Turn("Well."))
        result = self.run_agent(ANTHROPIC, provider, "-r", self.session, *limit)
        self.assert_status(result, 5)
        self.assertEqual(provider.requests, [])
        self.assertRegex(result.err, r"21[0-9]{3} tokens of 22000 tokens used")


class Offered(SearchTest):
    def tools(self, protocol, **env):
        provider = self.play(protocol, Turn("Hi."))
        self.assert_fine(self.run_agent(protocol, provider, "hi", env=env))
        return Reader(protocol, provider.requests[0]).tools

    def test_it_is_there_where_it_can_work_and_nowhere_else(self):
        for protocol in [*scripted.PROTOCOLS, XAI]:
            with self.subTest(protocol.vendor):
                self.assertEqual("WebSearch" in self.tools(protocol), protocol.vendor in
                                 ("anthropic", "openai", "xai", "gemini"))

    def test_a_service_makes_it_work_with_any_model(self):
        for protocol in scripted.PROTOCOLS:
            with self.subTest(protocol.vendor):
                self.assertIn("WebSearch", self.tools(protocol, BRAVE_API_KEY="k"))

    def test_where_it_stands_among_the_tools_and_what_it_says_does_not_depend_on_it(self):
        def shown(**env):
            provider = self.play(ANTHROPIC, Turn("Hi."))
            self.assert_fine(self.run_agent(ANTHROPIC, provider, "hi", env=env))
            return provider.requests[0].json["tools"]
        self.assertEqual(shown(), shown(BRAVE_API_KEY="k"))

    def test_a_run_says_whether_the_own_search_is_on(self):
        for settings, is_on in (({}, False), ({"webSearch": {"provider": "native"}}, True)):
            self.user_settings(settings)
            provider = self.play(ANTHROPIC, Turn("Hi."))
            self.session = self.new_id()
            self.run_agent(ANTHROPIC, provider, "--session-id", self.session, "hi")
            [run] = self.events("pre_run")
            self.assertEqual(run["nativeWebTools"]["webSearch"],
                             {"supported": True, "enabled": is_on})
            self.assert_whole()


if __name__ == "__main__":
    scripted.main()
