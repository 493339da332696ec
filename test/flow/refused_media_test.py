"""refused_media_test.py - a file that the provider refuses is left out, and the session lives on.

The scripted provider looks at every request as the real ones do: one that holds the poisoned image
gets the vendor's 400, whichever process of keel sends it.
"""
import base64
import json

import scripted
from agent import AgentTest, Call, Thought, Turn
from media_files import png, png_chunk
from scripted import ANTHROPIC, for_each_protocol, json_answer


POISON, GOOD = png(3, 2), png(4, 4)

# What vendors say of an image, as far as possible with the place where it stands.
SAY_NOTHING = {
    "anthropic-messages": {"type": "error", "error": {
        "type": "invalid_request_error", "message": "Could not process image"}},
    "openai-chat": {"error": {"message": "failed to process image", "type": "invalid_request_error"}},
    "openai-responses": {"error": {
        "message": "The image could not be read.", "type": "invalid_request_error",
        "param": None, "code": "image_parse_error"}},
    "gemini": {"error": {"code": 400, "status": "INVALID_ARGUMENT",
                         "message": "Unable to process input image. Please retry or report."}},
    "ollama": {"error": "image: unknown format"},
}


def holds(request, image):
    return base64.b64encode(image) in request.body.replace(b"\\/", b"/")


def place_of(body, image):
    """messages.N.content.M..., as Anthropic's API says it."""
    text = base64.b64encode(image).decode()
    for n, message in enumerate(body["messages"]):
        for m, block in enumerate(message["content"] if isinstance(message["content"], list) else []):
            if block["type"] == "image" and block["source"].get("data") == text:
                return f"messages.{n}.content.{m}.image"
            for k, inner in enumerate(block.get("content", [])
                                      if block["type"] == "tool_result" else []):
                if inner["type"] == "image" and inner["source"].get("data") == text:
                    return f"messages.{n}.content.{m}.tool_result.content.{k}.image"
    return None


class MediaTest(AgentTest):
    def setUp(self):
        super().setUp()
        (self.project / "poison.png").write_bytes(POISON)
        (self.project / "good.png").write_bytes(GOOD)

    def refusing(self, protocol, *turns, image=POISON, refusal=None):
        """A provider that refuses requests with the image in them and else plays the turns."""
        left = [self.encode(protocol, turn) for turn in turns]
        refusal = refusal or (lambda request: json_answer(SAY_NOTHING[protocol.name], 400))

        def answer(request):
            if holds(request, image):
                return refusal(request)
            return left.pop(0) if len(left) > 1 else left[0]
        return self.provider(answer)

    def last_texts(self, provider):
        return provider.requests[-1].body.decode()


class RefusedMedia(MediaTest):
    @for_each_protocol
    def test_the_turn_goes_on_without_it_and_so_does_the_session(self, protocol):
        provider = self.refusing(protocol, Turn(Call("Read", file_path="poison.png")),
                                 Turn("I cannot see it."), Turn("Never mind."))
        result = self.run_agent(protocol, provider, "look at poison.png")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "I cannot see it.\n")
        self.assertIn("the provider refused a file (poison.png)", result.err)
        self.assertEqual([holds(request, POISON) for request in provider.requests],
                         [False, True, False])
        self.assertIn("[image (poison.png) left out: the provider refused it: "
                      f"{protocol.vendor}: HTTP 400", self.last_texts(provider))

        result = self.run_agent(protocol, provider, "-c", "never mind")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "Never mind.\n")
        self.assertEqual(len(provider.requests), 4)
        self.assertIn("left out: the provider refused it", self.last_texts(provider))

    def test_the_request_grows_from_the_one_that_was_repaired(self):
        provider = self.refusing(ANTHROPIC, Turn(Thought("Look."), Call("Read", file_path="poison.png")),
                                 Turn(Thought("Gone."), "No."), Turn("Never mind."))
        self.assert_status(self.run_agent(ANTHROPIC, provider, "go"), 0)
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-c", "never mind"), 0)
        repaired, later = [request.json["messages"] for request in provider.requests[2:4]]
        self.assertEqual(later[:len(repaired)], repaired)
        thoughts = [block["thinking"] for message in later for block in message["content"]
                    if isinstance(block, dict) and block["type"] == "thinking"]
        self.assertEqual(thoughts, ["Look.", "Gone."])

    def named(self, request):
        place = place_of(request.json, POISON)
        return json_answer({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": f"{place}.source.base64.data: At least one of the image dimensions exceed "
                       "max allowed size: 8000 pixels"}}, 400)

    def test_a_provider_that_names_the_place_keeps_the_others(self):
        calls = [Call("Read", file_path=name) for name in ("poison.png", "good.png")]
        provider = self.refusing(ANTHROPIC, Turn(*calls), Turn("Half of it."), refusal=self.named)
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assertEqual(result.out, "Half of it.\n")
        self.assertEqual([holds(request, GOOD) for request in provider.requests],
                         [False, True, True])

    def test_without_a_place_the_newest_goes_first_then_all_that_came_with_it(self):
        calls = [Call("Read", file_path=name) for name in ("poison.png", "good.png")]
        provider = self.refusing(ANTHROPIC, Turn(*calls), Turn("None of it."))
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assertEqual(result.out, "None of it.\n")
        self.assertEqual([(holds(request, POISON), holds(request, GOOD))
                          for request in provider.requests],
                         [(False, False), (True, True), (True, False), (False, False)])

    def test_responses_name_the_place_in_a_field(self):
        protocol = scripted.BY_NAME["openai-responses"]
        text = base64.b64encode(POISON).decode()

        def refusal(request):
            for n, item in enumerate(request.json["input"]):
                content = item.get("content", item.get("output"))
                for m, part in enumerate(content if isinstance(content, list) else []):
                    if text in json.dumps(part):
                        where = "content" if "content" in item else "output"
                        return json_answer({"error": {
                            "message": "The image data you provided is not an image.",
                            "type": "invalid_request_error", "code": "invalid_image",
                            "param": f"input[{n}].{where}[{m}].image_url"}}, 400)
            raise AssertionError("no image")
        calls = [Call("Read", file_path=name) for name in ("poison.png", "good.png")]
        provider = self.refusing(protocol, Turn(*calls), Turn("Half of it."), refusal=refusal)
        self.assertEqual(self.run_agent(protocol, provider, "look").out, "Half of it.\n")
        self.assertEqual([holds(request, GOOD) for request in provider.requests],
                         [False, True, True])

    def test_an_image_that_was_taken_before_and_is_refused_later(self):
        """Thoughts that were made behind it are bound to it, and go with it."""
        seen = [self.encode(ANTHROPIC, turn) for turn in (
            Turn(Thought("Look."), Call("Read", file_path="poison.png")),
            Turn(Thought("Red."), "It is red."))]
        later = self.encode(ANTHROPIC, Turn("It was red."))
        refuses = []

        def answer(request):
            if refuses and holds(request, POISON):
                return self.named(request)
            return seen.pop(0) if seen else later
        provider = self.provider(answer)
        self.assertEqual(self.run_agent(ANTHROPIC, provider, "look").out, "It is red.\n")
        refuses.append(True)
        result = self.run_agent(ANTHROPIC, provider, "-c", "what was it?")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "It was red.\n")
        thoughts = [block["thinking"] for message in provider.requests[-1].json["messages"]
                    for block in message["content"]
                    if isinstance(block, dict) and block["type"] == "thinking"]
        self.assertEqual(thoughts, ["Look."])

    def test_the_same_image_is_not_tried_twice(self):
        provider = self.refusing(ANTHROPIC, Turn(Call("Read", file_path="poison.png")),
                                 Turn(Call("Read", file_path="poison.png")), Turn("No."))
        self.assertEqual(self.run_agent(ANTHROPIC, provider, "look").out, "No.\n")
        self.assertEqual([holds(request, POISON) for request in provider.requests],
                         [False, True, False, False])

    def test_a_fork_knows_of_it(self):
        provider = self.refusing(ANTHROPIC, Turn(Call("Read", file_path="poison.png")),
                                 Turn("No."), Turn("Here."))
        self.run_agent(ANTHROPIC, provider, "look")
        result = self.run_agent(ANTHROPIC, provider, "-c", "--fork-session", "and now?")
        self.assertEqual(result.out, "Here.\n")
        self.assertEqual(len(provider.requests), 4)

    def test_an_error_that_is_not_about_a_file_stays_one(self):
        """The request without the file is refused as well: the file stays, and the first reason."""
        left = [self.encode(ANTHROPIC, Turn(Call("Read", file_path="good.png")))]
        refuses = [True]

        def answer(request):
            if left:
                return left.pop()
            what = "roles must alternate" if holds(request, GOOD) else "something else is wrong"
            return json_answer({"type": "error", "error": {
                "type": "invalid_request_error", "message": f"messages.1: {what}"}}, 400) \
                if refuses else self.encode(ANTHROPIC, Turn("I see it."))
        provider = self.provider(answer)
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assert_status(result, 1)
        self.assertEqual([holds(request, GOOD) for request in provider.requests],
                         [False, True, False])
        self.assertIn("roles must alternate", result.err)
        self.assertNotIn("refused a file", result.err)
        refuses.clear()
        self.assertEqual(self.run_agent(ANTHROPIC, provider, "-c", "and now?").out, "I see it.\n")
        self.assertTrue(holds(provider.requests[-1], GOOD))

    def test_a_provider_that_never_takes_it_is_not_asked_for_ever(self):
        always = json_answer(SAY_NOTHING["anthropic-messages"], 400)
        provider = self.play(ANTHROPIC, Turn(Call("Read", file_path="poison.png")), always)
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assert_status(result, 1)
        self.assertEqual(len(provider.requests), 3)
        self.assertIn("Could not process image", result.err)

    def test_a_prompt_with_an_image_in_it(self):
        message = {"type": "user", "message": {"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": base64.b64encode(POISON).decode()}},
            {"type": "text", "text": "what is it?"}]}}
        provider = self.refusing(ANTHROPIC, Turn("I cannot see it."))
        result = self.run_agent(ANTHROPIC, provider, "--input-format", "stream-json",
                                "--output-format", "stream-json", "--verbose",
                                stdin=json.dumps(message).encode() + b"\n")
        self.assert_status(result, 0)
        last = json.loads(result.out.splitlines()[-1])
        self.assertEqual(last["result"], "I cannot see it.")

    def test_a_request_that_is_too_long_because_of_files_loses_the_older_ones(self):
        """Five photographs of 3.5 MB: what was seen already goes, the newest stays."""
        names = [f"{number}.png" for number in range(5)]
        for number, name in enumerate(names):
            rows = b"".join(b"\0" + bytes(((x * x * (y + number + 7)) >> 5) & 255
                                          for x in range(3 * 1000)) for y in range(10))
            file = bytearray(png(1000, 10, rows))
            at = len(file) - 12  # before its end: a chunk that nobody looks at
            (self.project / name).write_bytes(
                bytes(file[:at]) + png_chunk(b"keEl", bytes(3_500_000)) + bytes(file[at:]))
        long = json_answer({"type": "error", "error": {
            "type": "request_too_large", "message": "Request exceeds the maximum size"}}, 413)
        rounds = [self.encode(ANTHROPIC, Turn(Call("Read", file_path=name))) for name in names]
        done = self.encode(ANTHROPIC, Turn("Done."))

        def answer(request):
            if len(request.body) > 16_000_000:
                return long
            return rounds.pop(0) if rounds else done
        provider = self.provider(answer)
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "Done.\n")
        last = self.last_texts(provider)
        self.assertEqual(last.count("left out: the provider refused it"), 3)

    def test_a_replay_makes_the_same_requests(self):
        provider = self.refusing(ANTHROPIC, Turn(Call("Read", file_path="poison.png")),
                                 Turn("No."))
        result = self.run_agent(ANTHROPIC, provider, "--output-format", "json", "look")
        session = json.loads(result.out)["session_id"]
        replayed = self.keel("session", "replay", session, "--json")
        self.assertEqual([run["verdict"] for run in json.loads(replayed.out)], ["same"], replayed)


class WithoutWords(MediaTest):
    """Refusals of which no field and no word says that they are about a file."""

    base_settings = {"maxAttempts": 1}
    SAYS = {"error": {"type": "invalid_request_error", "message": "Request not understood."}}

    def refuse(self, status=400, body=None, **headers):
        return lambda request: json_answer(body or self.SAYS, status, **headers)

    def look(self, protocol, *turns, refusal, settings=None, args=()):
        self.user_settings(settings or {})
        provider = self.refusing(protocol, Turn(Call("Read", file_path="poison.png")), *turns,
                                 refusal=refusal)
        return provider, self.run_agent(protocol, provider, *args, "look at poison.png")

    def held(self, provider):
        return [holds(request, POISON) for request in provider.requests]

    @for_each_protocol
    def test_the_turn_continues_without_the_file_and_so_does_the_session(self, protocol):
        provider, result = self.look(protocol, Turn("I cannot see it."), Turn("Never mind."),
                                     refusal=self.refuse())
        self.assert_status(result, 0)
        self.assertEqual(result.out, "I cannot see it.\n")
        self.assertIn("the provider refused a file (poison.png)", result.err)
        self.assertEqual(self.held(provider), [False, True, False])
        self.assertIn("[image (poison.png) left out: the provider refused it: "
                      f"{protocol.vendor}: HTTP 400", self.last_texts(provider))
        result = self.run_agent(protocol, provider, "-c", "never mind")
        self.assert_status(result, 0)
        self.assertEqual(self.held(provider), [False, True, False, False])

    def test_what_vendors_say_that_their_rows_do_not_have(self):
        cases = [
            ("deepseek", "openai-chat", 400, {"error": {"message": "Failed to deserialize the JSON "
             "body into the target type: messages[3]: unknown variant `image_url`, expected `text`",
                                                        "type": "invalid_request_error"}}),
            ("mistral", "openai-chat", 400, {"object": "error", "type": "invalid_request_file",
             "message": "Image could not be loaded as a valid image.", "code": "3310"}),
            ("groq", "openai-chat", 400, {"error": {"message": "messages[2].content must be a string",
                                                    "type": "invalid_request_error"}}),
            ("cerebras", "openai-chat", 422, {"message": "Content type not taken by this model"}),
            ("openrouter", "openai-chat", 404, {"error": {"message": "No endpoints found", "code": 404}}),
            ("xai", "openai-responses", 400, {"code": "Client specified an invalid argument",
             "error": "The image is too small: 6 pixels, at least 512 are required"}),
            ("zai", "openai-chat", 400, {"error": {"code": "1210", "message": "Invalid API parameter"}}),
            ("vllm", "openai-chat", 500, {"detail": "Internal Server Error"}),
            ("foundry", "anthropic-messages", 400, {"message": "The provided request is not valid"}),
        ]
        for vendor, name, status, body in cases:
            with self.subTest(vendor):
                protocol = scripted.BY_NAME[name]
                provider = self.refusing(protocol, Turn(Call("Read", file_path="poison.png")),
                                         Turn("No."), Turn("Fine."),
                                         refusal=self.refuse(status, body))
                self.user_settings({"providers": {vendor: {
                    "type": vendor, "baseUrl": provider.url + protocol.prefix, "apiKey": "k",
                    "model": "m"}}})
                for prompt, said in ((["look"], "No.\n"), (["-c", "never mind"], "Fine.\n")):
                    result = self.keel("-p", "--model", f"{vendor}/m", *prompt)
                    self.assert_status(result, 0)
                    self.assertEqual(result.out, said)

    def test_a_server_that_breaks_over_it_is_asked_without_it_at_the_last(self):
        broken = self.refuse(500, {"detail": "Internal Server Error"}, retry_after="0")
        provider, result = self.look(ANTHROPIC, Turn("No."), refusal=broken,
                                     settings={"maxAttempts": 3})
        self.assert_status(result, 0)
        self.assertEqual(result.out, "No.\n")
        self.assertEqual(self.held(provider), [False, True, True, True, False])

    def test_limits_keys_and_overload_are_no_reason_to_leave_it_out(self):
        for status in (401, 402, 403, 408, 409, 429, 503, 504, 529):
            with self.subTest(status):
                provider, result = self.look(ANTHROPIC, Turn("I see."), refusal=self.refuse(status))
                self.assertNotEqual(result.status, 0)
                self.assertTrue(all(self.held(provider)[1:]), self.held(provider))
                self.assertNotIn("refused a file", result.err)
                provider.answers = [self.encode(ANTHROPIC, Turn("I see it."))]
                self.run_agent(ANTHROPIC, provider, "-c", "and now?")
                self.assertTrue(self.held(provider)[-1])

    def test_a_limit_in_the_request_without_it_is_told_and_the_file_stays(self):
        def answer(request):
            if left:
                return left.pop()
            return json_answer(self.SAYS, 400 if holds(request, POISON) else 429)
        left = [self.encode(ANTHROPIC, Turn(Call("Read", file_path="poison.png")))]
        provider = self.provider(answer)
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assert_status(result, 1)
        self.assertIn("HTTP 429", result.err)
        self.assertEqual(self.held(provider), [False, True, False])
        self.run_agent(ANTHROPIC, provider, "-c", "and now?")
        self.assertTrue(self.held(provider)[3])

    def test_a_file_that_an_answer_has_followed_is_no_suspect(self):
        left = [self.encode(ANTHROPIC, turn) for turn in (
            Turn(Call("Read", file_path="poison.png")), Turn("It is red."))]
        provider = self.provider(lambda request: left.pop(0) if left else json_answer(self.SAYS, 400))
        self.assertEqual(self.run_agent(ANTHROPIC, provider, "look").out, "It is red.\n")
        result = self.run_agent(ANTHROPIC, provider, "-c", "and now?")
        self.assert_status(result, 1)
        self.assertEqual(self.held(provider), [False, True, True])

    def test_another_model_may_refuse_what_the_first_has_taken(self):
        left = [self.encode(ANTHROPIC, turn) for turn in (
            Turn(Call("Read", file_path="poison.png")), Turn("It is red."))]

        def answer(request):
            if left:
                return left.pop(0)
            if holds(request, POISON):
                return json_answer(self.SAYS, 400)
            return self.encode(ANTHROPIC, Turn("Blind."))
        provider = self.provider(answer)
        self.assertEqual(self.run_agent(ANTHROPIC, provider, "look").out, "It is red.\n")
        result = self.run_agent(ANTHROPIC, provider, "-c", "--model", "anthropic/other", "and now?")
        self.assertEqual(result.out, "Blind.\n")

    def test_several_new_files_are_left_out_together(self):
        calls = [Call("Read", file_path=name) for name in ("poison.png", "good.png")]
        provider = self.refusing(ANTHROPIC, Turn(*calls), Turn("None of it."),
                                 refusal=self.refuse())
        result = self.run_agent(ANTHROPIC, provider, "look")
        self.assertEqual(result.out, "None of it.\n")
        self.assertIn("refused files (poison.png, good.png) without saying which", result.err)
        self.assertEqual(self.held(provider), [False, True, False])

    def test_the_next_model_gets_the_file(self):
        def answer(request):
            if left:
                return left.pop()
            if request.json["model"] == "m":
                return json_answer({"error": {"message": "not here"}}, 404)
            return self.encode(ANTHROPIC, Turn("I see it."))
        left = [self.encode(ANTHROPIC, Turn(Call("Read", file_path="poison.png")))]
        provider = self.provider(answer)
        result = self.run_agent(ANTHROPIC, provider, "--fallback-model", "anthropic/other", "look")
        self.assertEqual(result.out, "I see it.\n")
        self.assertEqual(self.held(provider), [False, True, False, True])

    def test_a_replay_makes_the_same_requests(self):
        for refusal in (self.refuse(), self.refuse(500, {"detail": "Internal Server Error"})):
            provider, result = self.look(ANTHROPIC, Turn("No."), refusal=refusal,
                                         args=("--output-format", "json"))
            session = json.loads(result.out)["session_id"]
            replayed = self.keel("session", "replay", session, "--json")
            self.assertEqual([run["verdict"] for run in json.loads(replayed.out)], ["same"],
                             replayed)

    def test_thoughts_stay_where_they_are(self):
        provider = self.refusing(ANTHROPIC, Turn(Thought("Look."), Call("Read", file_path="poison.png")),
                                 Turn(Thought("Gone."), "No."), Turn("Never mind."),
                                 refusal=self.refuse())
        self.assert_status(self.run_agent(ANTHROPIC, provider, "go"), 0)
        self.assert_status(self.run_agent(ANTHROPIC, provider, "-c", "never mind"), 0)
        repaired, later = [request.json["messages"] for request in provider.requests[2:4]]
        self.assertEqual(later[:len(repaired)], repaired)


if __name__ == "__main__":
    scripted.main()
