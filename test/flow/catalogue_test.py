"""catalogue_test.py - keel models --refresh and keel doctor --probe against a scripted provider."""
import signal
import stat
import threading

import scripted
from scripted import ANTHROPIC, BY_NAME, HANG_UP, KEY, Answer, FlowTest, json_answer

# What each vendor lists, and where keel must ask for it.
LISTS = {
    "anthropic-messages": ("/v1/models", {"data": [
        {"type": "model", "id": "claude-haiku-4-5", "display_name": "Claude Haiku 4.5"},
        {"type": "model", "id": "brand-new", "display_name": "Brand New"}], "has_more": False}),
    "openai-chat": ("/v1/models", {"object": "list", "data": [
        {"id": "openai/gpt-oss-20b", "object": "model", "context_window": 131072},
        {"id": "brand-new", "object": "model"}]}),
    "openai-responses": ("/v1/models", {"object": "list", "data": [
        {"id": "gpt-5.5", "object": "model"}, {"id": "brand-new", "object": "model"}]}),
    "gemini": ("/v1beta/models", {"models": [
        {"name": "models/gemini-2.5-pro", "displayName": "Gemini", "inputTokenLimit": 1048576,
         "outputTokenLimit": 65536, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/brand-new", "displayName": "Brand New", "inputTokenLimit": 7000,
         "supportedGenerationMethods": ["generateContent"]}]}),
    "ollama": ("/api/tags", {"models": [{"name": "qwen3:8b", "model": "qwen3:8b"},
                                        {"name": "brand-new", "model": "brand-new"}]}),
}


class Refresh(FlowTest):
    lists_models = True

    def refresh(self, provider, *options, protocol=ANTHROPIC, env=None):
        given = {**protocol.environment(provider), **(env or {})}
        return self.keel("models", "--refresh", "--json", *options, env=given)

    @scripted.for_each_protocol
    def test_a_vendor_is_asked_for_its_models_with_its_key(self, protocol):
        path, listed = LISTS[protocol.name]
        provider = self.provider(json_answer(listed))
        result = self.refresh(provider, protocol.vendor, protocol=protocol)
        self.assert_status(result, 0)
        vendor = result.json()["vendors"][0]
        self.assertEqual((vendor["vendor"], vendor["status"]), (protocol.vendor, "live"))
        self.assertIn("brand-new", [model["id"] for model in vendor["models"]])
        request = self.only_request(provider)
        self.assertEqual((request.method, scripted.split_path(request.path)[0]), ("GET", path))
        self.assertEqual(request.headers[protocol.key_header], protocol.key_value)

    def test_what_the_catalogue_knows_is_filled_in(self):
        provider = self.provider(json_answer(LISTS["anthropic-messages"][1]))
        models = {m["id"]: m for m in self.refresh(provider).json()["vendors"][0]["models"]}
        self.assertGreater(models["claude-haiku-4-5"]["microcentsPerMillion"]["input"], 0)
        self.assertIn("tools", models["claude-haiku-4-5"]["capabilities"])
        self.assertIsNone(models["brand-new"]["microcentsPerMillion"]["input"])

    def test_the_answer_is_kept_and_only_for_the_person(self):
        provider = self.provider(json_answer(LISTS["anthropic-messages"][1]))
        live = self.refresh(provider).json()["vendors"][0]
        kept = self.keel("models", "anthropic", "--json").json()["vendors"][0]
        self.assertEqual(kept["status"], "generated")
        self.assertRegex(kept["fetchedAt"], r"\A\d{4}-\d\d-\d\dT")
        self.assertEqual([m["id"] for m in kept["models"]], [m["id"] for m in live["models"]])
        file = self.keel_home / "models/anthropic.json"
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(file.parent.stat().st_mode), 0o700)
        self.assertNotIn(KEY, file.read_text())
        self.assertEqual(len(provider.requests), 1)

    def test_a_kept_list_says_of_which_day_it_is(self):
        provider = self.provider(json_answer(LISTS["anthropic-messages"][1]))
        self.assert_status(self.refresh(provider, "anthropic"), 0)
        out = self.keel("models", "anthropic", env=ANTHROPIC.environment(provider)).out
        self.assertRegex(out, r"(?m)^Anthropic \(anthropic\), as of \d{4}-\d\d-\d\d$")

    def test_a_kept_list_that_is_damaged_is_not_used(self):
        for text in ("", "{", "[]", '{"models": 3}', '{"models": [{"id": 7}, null]}', "\x00" * 100):
            self.write("keel-home/models/anthropic.json", text)
            vendor = self.keel("models", "anthropic", "--json").json()["vendors"][0]
            self.assertEqual(vendor["status"], "fallback", text)

    def test_the_key_of_a_profile_is_used(self):
        provider = self.provider(json_answer(LISTS["anthropic-messages"][1]))
        self.user_settings({"providers": {"work": {
            "type": "anthropic", "baseUrl": provider.url, "apiKey": "$ENV:WORK_KEY"}}})
        result = self.keel("models", "--refresh", "--json", env={"WORK_KEY": KEY})
        self.assert_status(result, 0)
        self.assertEqual(self.only_request(provider).headers["x-api-key"], KEY)

    def test_a_refusal_is_told_and_what_was_known_is_shown(self):
        for status, exit_status in ((401, 6), (500, 1), (404, 6)):
            provider = self.provider(json_answer({"error": {"message": KEY}}, status))
            result = self.refresh(provider)
            self.assert_status(result, exit_status)
            self.assertEqual(result.json()["vendors"][0]["status"], "fallback")
            self.assertIn(f"HTTP {status}", result.err)
            self.assertNotIn(KEY, result.out + result.err)
            self.assertFalse((self.keel_home / "models").exists())

    def test_an_answer_that_is_no_list_is_told(self):
        for answer in (Answer([b"<html>hello</html>"], content_type="text/html"), Answer([b"{}"]),
                       Answer([b'{"data": 3}']), Answer([b'{"data": ['])):
            result = self.refresh(self.provider(answer))
            self.assertNotEqual(result.status, 0, result)
            self.assertIn("anthropic", result.err)
        self.assert_status(self.refresh(self.provider(Answer([b'{"data"', HANG_UP]))), 1)

    def test_names_of_models_cannot_steer_the_terminal(self):
        listed = {"data": [{"id": "evil\x1b[2J\nmodel\x07"}]}
        provider = self.provider(json_answer(listed))
        result = self.on_terminal("models", "--refresh", env=ANTHROPIC.environment(provider))
        self.assertNotIn("\x1b", result.out)

    def test_an_interrupt_ends_it(self):
        held, asked = self.hold(), threading.Event()

        def answer(_request):
            asked.set()
            return Answer([held])

        provider = self.provider(answer)
        process = self.start("models", "--refresh", env=ANTHROPIC.environment(provider))
        self.assertTrue(asked.wait(scripted.HANG_SECONDS))
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assert_status(result, 130)
        self.assertEqual(result.out, "")
        self.assertTrue(result.err.endswith("keel: interrupted\n"), result)


class Probe(FlowTest):
    lists_models = True

    def probe(self, provider, *options, protocol=ANTHROPIC):
        result = self.keel("doctor", "--probe", "--json", *options,
                           env=protocol.environment(provider))
        return result, {f["name"]: f for f in result.json()["findings"]
                        if f["section"] == "Probe"}

    @scripted.for_each_protocol
    def test_a_provider_that_answers_is_well(self, protocol):
        provider = self.provider(json_answer(LISTS[protocol.name][1]))
        result, findings = self.probe(provider, "--model", f"{protocol.vendor}/brand-new",
                                      protocol=protocol)
        self.assertEqual(findings["answer"]["health"], "ok", result)
        self.assertIn("2 models", findings["answer"]["text"])
        self.assertNotIn("model", findings)
        self.assertEqual(self.only_request(provider).method, "GET")

    def test_one_model_is_not_several(self):
        provider = self.provider(json_answer({"data": [{"id": "brand-new"}]}))
        _, findings = self.probe(provider, "--model", "anthropic/brand-new")
        self.assertEqual(findings["answer"]["text"], "anthropic answers and lists 1 model")

    def test_a_model_that_is_not_listed_is_noted(self):
        provider = self.provider(json_answer(LISTS["anthropic-messages"][1]))
        result, findings = self.probe(provider, "--model", "anthropic/other")
        self.assert_status(result, 0)
        self.assertEqual(findings["model"]["health"], "note")

    def test_a_key_that_is_refused_is_bad(self):
        result, findings = self.probe(self.provider(json_answer({}, 401)))
        self.assert_status(result, 1)
        self.assertEqual(findings["answer"]["health"], "bad")
        self.assertIn("ANTHROPIC_API_KEY", findings["answer"]["text"])
        self.assertNotIn(KEY, result.out)

    def test_without_a_probe_nothing_is_sent(self):
        provider = self.provider(json_answer({}))
        self.keel("doctor", env=ANTHROPIC.environment(provider))
        self.assertEqual(provider.requests, [])

    def test_a_profile_of_a_protocol_can_be_probed(self):
        protocol = BY_NAME["openai-chat"]
        provider = self.provider(json_answer(LISTS[protocol.name][1]))
        self.user_settings({"providers": {"x": {"type": "openai-chat", "model": "brand-new",
                                                "baseUrl": provider.url + "/v1"}}})
        result = self.keel("doctor", "--probe", "--json")
        answers = [f for f in result.json()["findings"] if f["name"] == "answer"]
        self.assertEqual(answers[0]["health"], "ok", result)


if __name__ == "__main__":
    scripted.main()
