"""access_test.py - how keel gets at a model: keys of clouds, helpers, headers, certificates."""
import base64
import binascii
import datetime
import hashlib
import hmac
import json
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import urllib.parse

import scripted
from scripted import (ANTHROPIC, BY_NAME, KEY, PIECES, TEXT, Answer, Call, FlowTest, json_answer,
                      sample)

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
AWS_KEY = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
           "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}


# --- Amazon ---

def frame(payload, **headers):
    """One message of an event stream; names begin with a colon."""
    head = b"".join(
        bytes([len(name) + 1]) + b":" + name.replace("_", "-").encode() + b"\x07" +
        struct.pack(">H", len(value)) + value.encode() for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", binascii.crc32(prelude)) + head + payload
    return body + struct.pack(">I", binascii.crc32(body))


def chunk(event):
    """An event of Anthropic's as Bedrock sends it."""
    data = event.decode().split("data: ", 1)[1].strip().encode()
    payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abcdef"}).encode()
    return frame(payload, message_type="event", event_type="chunk",
                 content_type="application/json")


def bedrock(pieces=PIECES, **how):
    return Answer([chunk(event) for event in scripted.anthropic_messages(pieces, **how)],
                  content_type="application/vnd.amazon.eventstream")


def exception(kind, message):
    return frame(json.dumps({"message": message}).encode(), message_type="exception",
                 exception_type=kind, content_type="application/json")


def sign(key, *parts):
    for part in parts:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def expected_authorization(request, secret, region):
    """What AWS would compute from the request as it came."""
    given = request.headers["authorization"]
    scope = given.split("Credential=")[1].split(",")[0]
    names = given.split("SignedHeaders=")[1].split(",")[0]
    path, _, query = request.path.partition("?")
    canonical = "\n".join(
        [request.method, urllib.parse.quote(path, safe="/-_.~"), query] +
        [f"{name}:{request.headers[name].strip()}" for name in names.split(";")] +
        ["", names, hashlib.sha256(request.body).hexdigest()])
    time = request.headers["x-amz-date"]
    to_sign = "\n".join(["AWS4-HMAC-SHA256", time, scope.partition("/")[2],
                         hashlib.sha256(canonical.encode()).hexdigest()])
    key = sign(("AWS4" + secret).encode(), time[:8], region, "bedrock", "aws4_request")
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    return (f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={names}, "
            f"Signature={signature}")


class Access(FlowTest):
    def executable(self, name, text):
        path = self.home / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o700)
        return path

    def counted(self, text):
        """A script that also writes a line each time, and how often it did."""
        log = self.dir / "calls"
        path = self.executable("helper", f"echo x >> {log}\n{text}")
        return path, lambda: len(log.read_text().splitlines()) if log.exists() else 0

    def home_file(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def assert_failed(self, result, status, *words):
        self.assert_status(result, status)
        for word in words:
            self.assertIn(word, result.err)


class Bedrock(Access):
    def ask_bedrock(self, provider, *arguments, env=None, model=MODEL, **run):
        return self.keel("-p", "--model", f"bedrock/{model}", *(arguments or ("hi",)), env={
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": provider.url, "AWS_REGION": "eu-west-1",
            **(AWS_KEY if env is None else env)}, **run)

    def test_the_request_is_signed_and_the_frames_are_read(self):
        provider = self.provider(bedrock())
        self.assert_answer(self.ask_bedrock(provider, env={
            **AWS_KEY, "AWS_SESSION_TOKEN": "a-session-token-of-tests"}))
        request = self.only_request(provider)
        self.assertEqual(
            request.path, f"/model/{urllib.parse.quote(MODEL, safe='')}/invoke-with-response-stream")
        self.assertEqual(request.headers["authorization"], expected_authorization(
            request, AWS_KEY["AWS_SECRET_ACCESS_KEY"], "eu-west-1"))
        self.assertIn("x-amz-security-token", request.headers["authorization"])
        self.assertEqual(request.headers["x-amz-security-token"], "a-session-token-of-tests")
        self.assertNotIn("x-api-key", request.headers)
        self.assertEqual(request.json["anthropic_version"], "bedrock-2023-05-31")
        for absent in ("model", "stream", "cache_control"):
            self.assertNotIn(absent, request.json)

    def test_pieces_of_any_size_are_the_same_answer(self):
        stream = b"".join(bedrock().pieces)
        for size in (1, 7, 1000):
            answer = bedrock()
            answer.pieces = [stream[at:at + size] for at in range(0, len(stream), size)]
            self.assert_answer(self.ask_bedrock(self.provider(answer)))

    def test_frames_that_end_at_any_byte_are_no_whole_answer(self):
        stream = b"".join(bedrock().pieces)
        for at in sample(range(len(stream)), 8):
            with self.subTest(f"{at} of {len(stream)} bytes"):
                answer = bedrock()
                answer.pieces = [stream[:at]] if at else []
                result = self.ask_bedrock(self.provider(answer))
                self.assert_status(result, 1)
                self.assertTrue(TEXT.startswith(result.out.rstrip("\n")), result)
                self.assertTrue(result.err.startswith("keel: "), result)

    def test_tools_are_called(self):
        (self.project / "note").write_text("the note\n")
        provider = self.provider(
            bedrock(["Look."], calls=[Call("Read", file_path=str(self.project / "note"))]),
            bedrock())
        self.assert_status(self.ask_bedrock(provider), 0)
        self.assertIn(b"the note", provider.requests[1].body)

    def test_a_bearer_token_wins_over_keys(self):
        provider = self.provider(bedrock())
        self.assert_answer(self.ask_bedrock(provider, env={
            **AWS_KEY, "AWS_BEARER_TOKEN_BEDROCK": KEY}))
        self.assertEqual(self.only_request(provider).headers["authorization"], f"Bearer {KEY}")

    def test_a_profile_of_the_files_gives_key_and_region(self):
        self.home_file(".aws/credentials", "[default]\naws_access_key_id = no\n\n[work]\n"
                       "aws_access_key_id = AKIDWORK\naws_secret_access_key = a/secret+of-work\n")
        self.home_file(".aws/config", "[profile work]\nregion = ap-south-1\n")
        provider = self.provider(bedrock())
        self.assert_answer(self.ask_bedrock(provider, env={"AWS_PROFILE": "work",
                                                           "AWS_REGION": None}))
        request = self.only_request(provider)
        self.assertIn("Credential=AKIDWORK/", request.headers["authorization"])
        self.assertIn("/ap-south-1/bedrock/", request.headers["authorization"])
        self.assertEqual(request.headers["authorization"], expected_authorization(
            request, "a/secret+of-work", "ap-south-1"))

    def process_of(self, script):
        path, count = self.counted(script)
        self.home_file(".aws/config", f"[default]\ncredential_process = {path}\n")
        return count

    def credentials(self, expires_in, token="a-token-of-the-process"):
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=expires_in)
        return json.dumps({"Version": 1, "AccessKeyId": "AKIDPROCESS",
                           "SecretAccessKey": "the-key-of-a-process",
                           "SessionToken": token, "Expiration": end.isoformat()})

    def test_a_process_gives_the_key_once_while_it_lasts(self):
        count = self.process_of(f"echo '{self.credentials(3600)}'")
        provider = self.provider(
            bedrock(["Look."], calls=[Call("Read", file_path=str(self.project / "none"))]),
            bedrock())
        self.assert_status(self.ask_bedrock(provider, env={}), 0)
        self.assertIn("AKIDPROCESS", provider.requests[1].headers["authorization"])
        self.assertEqual(count(), 1)

    def test_a_process_is_run_again_when_its_key_expires(self):
        count = self.process_of(f"echo '{self.credentials(20)}'")
        provider = self.provider(
            bedrock(["Look."], calls=[Call("Read", file_path=str(self.project / "none"))]),
            bedrock())
        self.assert_status(self.ask_bedrock(provider, env={}), 0)
        self.assertGreater(count(), 1)

    def test_a_refused_key_is_fetched_anew_once(self):
        first, second = (self.credentials(3600, token) for token in ("token-one-1", "token-two-2"))
        count = self.process_of(f"if [ $(wc -l < {self.dir}/calls) = 1 ]; then echo '{first}'; "
                                f"else echo '{second}'; fi")
        provider = self.provider(
            json_answer({"message": "The security token included in the request is expired"}, 403),
            bedrock())
        self.assert_answer(self.ask_bedrock(provider, env={}))
        self.assertEqual([r.headers["x-amz-security-token"] for r in provider.requests],
                         ["token-one-1", "token-two-2"])
        self.assertEqual(count(), 2)

    def test_the_same_key_is_not_sent_twice(self):
        provider = self.provider(json_answer({"message": "no"}, 403))
        self.assert_failed(self.ask_bedrock(provider), 6, "HTTP 403: no")
        self.assertEqual(len(provider.requests), 1)

    def test_what_is_missing_is_named(self):
        provider = self.provider(bedrock())
        self.assert_failed(self.ask_bedrock(provider, env={}), 6, "no AWS credentials",
                           "AWS_ACCESS_KEY_ID")
        self.assert_failed(self.ask_bedrock(provider, env={**AWS_KEY, "AWS_REGION": None}), 6,
                           "needs the setting \"region\"", "AWS_REGION")
        self.home_file(".aws/config", "[default]\nsso_session = x\n")
        self.assert_failed(self.ask_bedrock(provider, env={}), 6, "sso_session",
                           "export-credentials")
        self.assertEqual(provider.requests, [])

    def test_an_exception_in_the_stream_is_told(self):
        for kind, code in (("throttlingException", "provider_rate_limit"),
                           ("modelStreamErrorException", "provider_unavailable"),
                           ("validationException", "provider_error")):
            answer = bedrock()
            answer.pieces[2:] = [exception(kind, "too fast, or so")]
            result = self.ask_bedrock(self.provider(answer), "--output-format", "json", "hi")
            self.assert_status(result, 1)
            self.assertIn("too fast, or so", result.out + result.err)
            self.assertIn(code, result.out + result.err)

    def test_a_frame_that_is_damaged_is_no_answer(self):
        answer = bedrock()
        damaged = bytearray(answer.pieces[3])
        damaged[-9] ^= 1
        answer.pieces[3] = bytes(damaged)
        self.assert_failed(self.ask_bedrock(self.provider(answer)), 1, "checksum")

    def test_a_secret_of_the_files_is_hidden_where_a_tool_shows_it(self):
        secret = "Zq8/secret+of-the-process"
        self.home_file(".aws/credentials",
                       f"[default]\naws_access_key_id = AKIDX\naws_secret_access_key = {secret}\n")
        (self.project / "copy").write_text(f"key: {secret}\n")
        provider = self.provider(
            bedrock(["Look."], calls=[Call("Read", file_path=str(self.project / "copy"))]),
            bedrock())
        result = self.ask_bedrock(provider, "copy it", env={})
        self.assert_status(result, 0)
        self.assertNotIn(secret.encode(), provider.requests[1].body)
        self.assertIn(b"[REDACTED]", provider.requests[1].body)


# --- Google ---

class Vertex(Access):
    def setUp(self):
        super().setUp()
        if not shutil.which("openssl"):
            self.fail("the tests need openssl")
        key = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt",
                              "rsa_keygen_bits:2048"], capture_output=True, check=True).stdout
        self.key = key.decode()
        self.key_file = self.home_file("private.pem", self.key)

    def account(self, provider, **more):
        return self.home_file("account.json", json.dumps({
            "type": "service_account", "project_id": "of-the-file", "private_key_id": "k1",
            "private_key": self.key, "client_email": "agent@p.iam.gserviceaccount.com",
            "token_uri": provider.url + "/token", **more}))

    def token(self, value="ya29.token-of-tests", **more):
        return json_answer({"access_token": value, "expires_in": 3599, "token_type": "Bearer",
                            **more})

    def serve(self, token, *answers):
        """Tokens at /token, answers elsewhere."""
        answers = list(answers)

        def choose(request):
            if request.path == "/token":
                return token() if callable(token) else token
            return answers.pop(0) if len(answers) > 1 else answers[0]
        return self.provider(choose)

    def ask_vertex(self, provider, vendor, model, *arguments, env=None, **run):
        variable = {"vertex": "GOOGLE_VERTEX_BASE_URL",
                    "vertex-anthropic": "ANTHROPIC_VERTEX_BASE_URL"}[vendor]
        return self.keel("-p", "--model", f"{vendor}/{model}", *(arguments or ("hi",)), env={
            "GOOGLE_APPLICATION_CREDENTIALS": str(self.account(provider)),
            variable: provider.url + "/v1", **(env or {})}, **run)

    def check_assertion(self, request, audience):
        form = dict(urllib.parse.parse_qsl(request.body.decode()))
        self.assertEqual(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer")
        head, claim, signature = form["assertion"].split(".")

        def decode(text):
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        self.assertEqual(json.loads(decode(head)), {"alg": "RS256", "typ": "JWT", "kid": "k1"})
        claims = json.loads(decode(claim))
        self.assertEqual((claims["iss"], claims["aud"], claims["scope"]),
                         ("agent@p.iam.gserviceaccount.com", audience,
                          "https://www.googleapis.com/auth/cloud-platform"))
        self.assertEqual(claims["exp"] - claims["iat"], 3600)
        public = self.home / "public.pem"
        subprocess.run(["openssl", "pkey", "-in", self.key_file, "-pubout", "-out", public],
                       check=True, capture_output=True)
        (self.home / "signature").write_bytes(decode(signature))
        subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature",
                        self.home / "signature"], input=f"{head}.{claim}".encode(), check=True,
                       capture_output=True)

    def test_gemini_is_asked_with_a_token_that_a_signed_claim_gave(self):
        provider = self.serve(self.token(), BY_NAME["gemini"].answer())
        self.assert_answer(self.ask_vertex(provider, "vertex", "gemini-m", env={
            "GOOGLE_CLOUD_PROJECT": "my-project", "GOOGLE_CLOUD_LOCATION": "europe-west4"}))
        first, second = provider.requests
        self.check_assertion(first, provider.url + "/token")
        self.assertEqual(second.path, "/v1/projects/my-project/locations/europe-west4/publishers/"
                                      "google/models/gemini-m:streamGenerateContent?alt=sse")
        self.assertEqual(second.headers["authorization"], "Bearer ya29.token-of-tests")
        self.assertNotIn("x-goog-api-key", second.headers)

    def test_claude_is_asked_with_the_project_of_the_file(self):
        provider = self.serve(self.token(), ANTHROPIC.answer())
        self.assert_answer(self.ask_vertex(provider, "vertex-anthropic",
                                           "claude-sonnet-4-5@20250929"))
        request = provider.requests[1]
        self.assertEqual(request.path, "/v1/projects/of-the-file/locations/global/publishers/"
                                       "anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict")
        self.assertEqual(request.json["anthropic_version"], "vertex-2023-10-16")
        self.assertTrue(request.json["stream"])
        for absent in ("model", "cache_control"):
            self.assertNotIn(absent, request.json)
        self.assertNotIn("anthropic-version", request.headers)

    def test_one_token_serves_all_requests_and_a_refused_one_is_renewed(self):
        tokens = iter(["ya29.the-first-token", "ya29.the-second-token"])
        provider = self.serve(
            lambda: self.token(next(tokens)),
            ANTHROPIC.answer(["Look."], calls=[Call("Read", file_path="none")]),
            json_answer({"error": {"code": 401, "message": "expired"}}, 401),
            ANTHROPIC.answer())
        self.assert_status(self.ask_vertex(provider, "vertex-anthropic", "m"), 0)
        self.assertEqual([r.headers.get("authorization") for r in provider.requests],
                         [None, "Bearer ya29.the-first-token", "Bearer ya29.the-first-token",
                          None, "Bearer ya29.the-second-token"])

    def test_a_login_of_gcloud_is_used(self):
        provider = self.serve(self.token(), ANTHROPIC.answer())
        self.home_file(".config/gcloud/application_default_credentials.json", json.dumps({
            "type": "authorized_user", "client_id": "id", "client_secret": "the-client-secret",
            "refresh_token": "1//the-refresh-token", "quota_project_id": "quota",
            "token_uri": provider.url + "/token"}))
        self.assert_answer(self.ask_vertex(provider, "vertex-anthropic", "m", env={
            "GOOGLE_APPLICATION_CREDENTIALS": None}))
        self.assertEqual(dict(urllib.parse.parse_qsl(provider.requests[0].body.decode())), {
            "grant_type": "refresh_token", "client_id": "id",
            "client_secret": "the-client-secret", "refresh_token": "1//the-refresh-token"})
        self.assertIn("/projects/quota/", provider.requests[1].path)

    def test_a_trace_shows_neither_claim_nor_token(self):
        provider = self.serve(self.token(), ANTHROPIC.answer())
        result = self.ask_vertex(provider, "vertex-anthropic", "m", "--trace-llm", "hi")
        self.assert_status(result, 0)
        self.assertIn("streamRawPredict", result.err)
        for hidden in ("ya29", "assertion"):
            self.assertNotIn(hidden, result.err)

    def test_what_goes_wrong_is_named(self):
        provider = self.serve(json_answer({"error": "invalid_grant",
                                           "error_description": "Invalid JWT Signature."}, 400),
                              ANTHROPIC.answer())
        ask = self.ask_vertex
        self.assert_failed(ask(provider, "vertex-anthropic", "m"), 6, "Invalid JWT Signature",
                           "clock")
        self.assert_failed(ask(provider, "vertex-anthropic", "m", env={
            "GOOGLE_APPLICATION_CREDENTIALS": "/none", "GOOGLE_CLOUD_PROJECT": "p"}), 6, "/none")
        self.account(provider, private_key="nonsense")
        self.assert_failed(self.keel("-p", "--model", "vertex-anthropic/m", "hi", env={
            "GOOGLE_APPLICATION_CREDENTIALS": str(self.home / "account.json"),
            "ANTHROPIC_VERTEX_BASE_URL": provider.url}), 6, "private key")
        self.assert_failed(ask(provider, "vertex-anthropic", "m", env={
            "GOOGLE_APPLICATION_CREDENTIALS": None}), 6, "needs the setting \"project\"")

    def test_the_key_of_the_account_is_hidden_from_a_tools_result(self):
        provider = self.serve(
            self.token("ya29.a-token-to-be-hidden"),
            ANTHROPIC.answer(["Look."],
                             calls=[Call("Read", file_path=str(self.project / "copy"))]),
            ANTHROPIC.answer())
        (self.project / "copy").write_text("ya29.a-token-to-be-hidden\n")
        self.assert_status(self.ask_vertex(provider, "vertex-anthropic", "m"), 0)
        self.assertNotIn(b"ya29", provider.requests[2].body)


# --- Azure ---

class Azure(Access):
    def test_the_endpoint_of_azures_libraries_leads_to_the_v1_api(self):
        protocol = BY_NAME["openai-responses"]
        provider = self.provider(protocol.answer())
        self.assert_answer(self.keel("-p", "--model", "azure/my-deployment", "hi", env={
            "AZURE_OPENAI_ENDPOINT": provider.url + "/", "AZURE_OPENAI_API_KEY": KEY}))
        request = self.only_request(provider)
        self.assertEqual(request.path, "/openai/v1/responses")
        self.assertEqual(request.headers["api-key"], KEY)
        self.assertEqual(request.json["model"], "my-deployment")

    def test_a_base_url_with_a_path_stays_as_it_is(self):
        provider = self.provider(BY_NAME["openai-responses"].answer())
        self.assert_answer(self.keel("-p", "--model", "azure/d", "hi", env={
            "AZURE_OPENAI_BASE_URL": provider.url + "/gateway/v1?api-version=preview",
            "AZURE_OPENAI_API_KEY": KEY}))
        self.assertEqual(self.only_request(provider).path,
                         "/gateway/v1/responses?api-version=preview")

    def test_deployments_have_a_path_and_a_version(self):
        provider = self.provider(BY_NAME["openai-chat"].answer())
        self.assert_answer(self.keel("-p", "--model", "azure-deployments/my deployment", "hi", env={
            "AZURE_OPENAI_ENDPOINT": provider.url, "AZURE_OPENAI_API_KEY": KEY,
            "OPENAI_API_VERSION": "2024-10-21"}))
        self.assertEqual(self.only_request(provider).path, "/openai/deployments/my%20deployment/"
                                                           "chat/completions?api-version=2024-10-21")
        result = self.keel("-p", "--model", "azure-deployments/d", "hi", env={
            "AZURE_OPENAI_ENDPOINT": provider.url, "AZURE_OPENAI_API_KEY": KEY})
        self.assert_failed(result, 6, "apiVersion", "OPENAI_API_VERSION")

    def test_a_token_of_entra_id_is_sent_as_bearer(self):
        helper, count = self.counted("echo eyJ.an-entra-token\n")
        for settings, env in (
                ({}, {"AZURE_OPENAI_AD_TOKEN": "eyJ.an-entra-token"}),
                ({"providers": {"azure": {"type": "azure-openai", "auth": "bearer",
                                          "apiKeyHelper": str(helper)}}}, {})):
            provider = self.provider(BY_NAME["openai-responses"].answer())
            self.user_settings(settings)
            self.assert_answer(self.keel("-p", "--model", "azure/d", "hi", env={
                "AZURE_OPENAI_ENDPOINT": provider.url, **env}))
            request = self.only_request(provider)
            self.assertEqual(request.headers["authorization"], "Bearer eyJ.an-entra-token")
            self.assertNotIn("api-key", request.headers)
        self.assertEqual(count(), 1)

    def test_claude_in_foundry(self):
        provider = self.provider(ANTHROPIC.answer())
        self.assert_answer(self.keel("-p", "--model", "foundry/claude-x", "hi", env={
            "ANTHROPIC_FOUNDRY_BASE_URL": provider.url + "/anthropic",
            "ANTHROPIC_FOUNDRY_API_KEY": KEY}))
        request = self.only_request(provider)
        self.assertEqual((request.path, request.headers["x-api-key"]),
                         ("/anthropic/v1/messages", KEY))


# --- Anthropic's variables ---

class Variables(Access):
    def ask_with(self, env, *arguments):
        provider = self.provider(ANTHROPIC.answer())
        result = self.keel("-p", *(arguments or ("--model", "anthropic/m", "hi")),
                           env={"ANTHROPIC_BASE_URL": provider.url, **env})
        self.assert_status(result, 0)
        self.assertEqual(result.out, TEXT + "\n")
        return self.only_request(provider)

    def test_an_auth_token_is_sent_as_bearer_and_wins(self):
        for more in ({}, {"ANTHROPIC_API_KEY": "sk-another-key-1"}):
            request = self.ask_with({"ANTHROPIC_AUTH_TOKEN": KEY, **more})
            self.assertEqual(request.headers["authorization"], f"Bearer {KEY}")
            self.assertNotIn("x-api-key", request.headers)

    def test_the_model_of_the_environment_is_the_one_that_is_asked(self):
        request = self.ask_with({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_MODEL": "claude-of-mine"},
                                "hi")
        self.assertEqual(request.json["model"], "claude-of-mine")

    def test_custom_headers_are_added_and_replace(self):
        request = self.ask_with({
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_CUSTOM_HEADERS": "X-Team: search\nanthropic-version: 2020-01-01\n\nbad"})
        self.assertEqual(request.headers["x-team"], "search")
        self.assertEqual(request.headers["anthropic-version"], "2020-01-01")


class Headers(Access):
    def test_a_header_of_the_profile_replaces_that_of_keel(self):
        seen = []
        provider = self.provider(ANTHROPIC.answer())
        self.user_settings({"providers": {"x": {
            "type": "anthropic", "baseUrl": provider.url, "apiKey": "sk-the-key-of-x", "model": "m",
            "headers": {"X-Api-Key": "another", "User-Agent": "me"}}}})
        original = scripted.Handler.answer_any

        def watch(handler):
            seen.append(handler.headers.get_all("x-api-key"))
            original(handler)
        scripted.Handler.do_POST = watch
        self.addCleanup(setattr, scripted.Handler, "do_POST", original)
        self.assert_answer(self.keel("-p", "hi"))
        self.assertEqual(seen, [["another"]])
        self.assertEqual(provider.requests[0].headers["user-agent"], "me")


# --- helpers ---

class Helpers(Access):
    def use(self, provider, helper, **more):
        self.user_settings({"providers": {"x": {"type": "anthropic", "baseUrl": provider.url,
                                                "model": "m", "apiKeyHelper": str(helper)}},
                            **more})

    def test_its_output_is_the_key_and_it_runs_once(self):
        helper, count = self.counted("echo '  sk-of-the-helper  '\n")
        provider = self.provider(
            ANTHROPIC.answer(["Look."], calls=[Call("Read", file_path="none")]),
            ANTHROPIC.answer())
        self.use(provider, helper)
        self.assert_status(self.keel("-p", "hi"), 0)
        self.assertEqual([r.headers["x-api-key"] for r in provider.requests],
                         ["sk-of-the-helper"] * 2)
        self.assertEqual(count(), 1)

    def test_a_refused_key_is_asked_for_again(self):
        helper, count = self.counted(f"echo sk-of-the-helper-$(wc -l < {self.dir}/calls)\n")
        provider = self.provider(json_answer({"error": {"message": "old"}}, 401),
                                 ANTHROPIC.answer())
        self.use(provider, helper)
        self.assert_answer(self.keel("-p", "hi"))
        self.assertEqual([r.headers["x-api-key"] for r in provider.requests],
                         ["sk-of-the-helper-1", "sk-of-the-helper-2"])
        self.assertEqual(count(), 2)

    def test_one_that_fails_is_told_with_its_words(self):
        provider = self.provider(ANTHROPIC.answer())
        self.use(provider, self.executable("helper", "echo sk-half; echo locked >&2; exit 3\n"))
        result = self.keel("-p", "hi")
        self.assert_failed(result, 6, "apiKeyHelper failed with exit code 3: locked")
        self.assertNotIn("sk-half", result.err)
        self.use(provider, self.executable("helper", "true\n"))
        self.assert_failed(self.keel("-p", "hi"), 6, "apiKeyHelper printed nothing")
        self.assertEqual(provider.requests, [])

    def test_the_key_is_hidden_from_the_first_prompt_on(self):
        provider = self.provider(ANTHROPIC.answer())
        self.use(provider, self.executable("helper", "echo sk-of-the-helper\n"))
        self.assert_status(self.keel("-p", "what is sk-of-the-helper?"), 0)
        self.assertNotIn(b"sk-of-the-helper", provider.requests[0].body)

    def test_the_one_of_the_top_level_is_anthropics_and_is_sent_both_ways(self):
        provider = self.provider(ANTHROPIC.answer())
        self.home_file(".claude/settings.json", json.dumps(
            {"apiKeyHelper": str(self.executable("helper", "echo sk-of-the-helper\n"))}))
        result = self.keel("-p", "--model", "anthropic/m", "hi", env={
            "ANTHROPIC_BASE_URL": provider.url})
        self.assert_status(result, 0)
        self.assertIn("keel uses apiKeyHelper", result.err)
        request = self.only_request(provider)
        self.assertEqual((request.headers["x-api-key"], request.headers["authorization"]),
                         ("sk-of-the-helper", "Bearer sk-of-the-helper"))

    def test_a_project_names_none_trusted_or_not(self):
        helper, count = self.counted("echo sk-of-the-helper\n")
        provider = self.provider(ANTHROPIC.answer())
        (self.project / ".keel").mkdir()
        (self.project / ".keel/settings.json").write_text(json.dumps({
            "apiKeyHelper": str(helper), "providers": {"x": {
                "type": "anthropic", "baseUrl": provider.url, "model": "m",
                "apiKeyHelper": str(helper)}}}))
        self.assert_status(self.keel("-p", "--model", "anthropic/m", "hi"), 6)
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assert_status(self.keel("-p", "--model", "x/m", "hi"), 6)
        self.assertEqual((count(), provider.requests), (0, []))


# --- what cannot be meant ---

class Mistakes(Access):
    def refuse(self, status, profile, *words, env=None, **more):
        self.user_settings({"providers": {"x": {"type": "anthropic", "model": "m", **profile}},
                            **more})
        self.assert_failed(self.keel("-p", "hi", env=env), status, *words)

    def test_a_variable_that_is_not_set_is_named(self):
        for profile, place in (({"apiKey": "$ENV:NOPE"}, "providers.x.apiKey"),
                               ({"apiKey": "k", "baseUrl": "$ENV:NOPE"}, "providers.x.baseUrl"),
                               ({"apiKey": "k", "headers": {"a": "$ENV:NOPE"}},
                                "providers.x.headers.a")):
            self.refuse(6, profile, place, "the variable NOPE is not set", "export NOPE=")

    def test_numbers_that_cannot_be_meant_are_refused_with_the_reason(self):
        for name, value in (("timeout", -5), ("timeout", 10 ** 12), ("maxOutput", 0),
                            ("contextWindow", 10), ("maxSeconds", 0), ("maxAttempts", 1000)):
            self.refuse(2, {"apiKey": "k", name: value}, "settings.json", f"providers.x.{name}",
                        "must be an integer from 1", f"not {value}")

    def test_attempts_that_cannot_be_meant_are_refused_too(self):
        for value in (0, -1, 101):
            self.user_settings({"maxAttempts": value})
            self.assert_failed(self.keel("-p", "hi", env={"ANTHROPIC_API_KEY": "k"}), 2,
                               f'"maxAttempts" must be an integer from 1 to 100, not {value}')

    def test_a_password_in_an_address_is_refused(self):
        self.refuse(6, {"apiKey": "k", "baseUrl": "http://me:hushhush@127.0.0.1:9"},
                    "a user name or a password", "headers")

    def test_several_profiles_are_named(self):
        self.user_settings({"providers": {"one": {"type": "anthropic", "apiKey": "k"},
                                          "two": {"type": "openai", "apiKey": "k"}}})
        self.assert_failed(self.keel("-p", "hi"), 6, "one, two", "currentProvider", "--model one")

    def test_a_style_of_keys_that_does_not_exist_is_refused(self):
        self.refuse(2, {"apiKey": "k", "auth": "basic"}, "providers.x.auth", "bearer")


# --- errors that another attempt does not change, and certificates ---

def hear_out(tls):
    """Closes a connection so that its alert arrives: bytes that nobody reads would reset it."""
    try:
        tls.shutdown(socket.SHUT_WR)
        while tls.recv(4096):
            pass
    except OSError:
        pass
    tls.close()


class Tls(Access):
    def certificate(self, name, *more):
        files = [self.dir / f"{name}.pem", self.dir / f"{name}.key"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-out", files[0], "-keyout", files[1], *more], check=True,
                       capture_output=True)
        return [str(file) for file in files]

    def tls_provider(self, *answers, client_ca=None):
        provider = self.provider(*answers)
        self.server_files = self.certificate("server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.server_files)
        if client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(client_ca)
        server = provider.server
        plain = server.get_request

        def get_request():
            connection, address = plain()
            connection.settimeout(scripted.HANG_SECONDS)
            tls = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            try:
                tls.do_handshake()
            except OSError:
                hear_out(tls)
                raise
            return tls, address
        server.get_request = get_request
        provider.url = provider.url.replace("http:", "https:")
        return provider

    def answers(self, provider, env=None, profile=None, **settings):
        self.user_settings({"providers": {"x": {"type": "anthropic", "baseUrl": provider.url,
                                                "model": "m", "apiKey": KEY, **(profile or {})}},
                            **settings})
        return self.keel("-p", "hi", env=env)


class Final(Tls):
    base_settings = {}  # a model is asked as often as without any

    def retries(self, url, env=None, **settings):
        """Lines about further attempts when this address is asked."""
        self.user_settings({"providers": {"x": {"type": "anthropic", "baseUrl": url, "model": "m",
                                                "apiKey": KEY, **settings}}})
        result = self.keel("-p", "--output-format", "stream-json", "--verbose", "hi",
                           "--retry-seconds", "1", env=env)
        lines = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(result.status, 1, str(result))
        return [line for line in lines if line.get("subtype") == "api_retry"], str(result)

    def test_a_server_on_this_machine_that_does_not_run(self):
        retries, text = self.retries("http://" + self.deaf_address())
        self.assertEqual(retries, [], text)
        self.assertIn("is the server running", text)

    def test_a_proxy_on_this_machine_that_does_not_run(self):
        for proxy in (f"http://{self.deaf_address()}", f"socks5://{self.deaf_address()}"):
            retries, text = self.retries("http://example.invalid", env={"HTTP_PROXY": proxy})
            self.assertEqual(retries, [], text)
            self.assertIn("is the proxy running? check HTTPS_PROXY", text)

    def test_a_proxy_that_keel_cannot_use(self):
        for proxy in ("junk://x", "http://x:notaport"):
            retries, text = self.retries("http://example.invalid", env={"HTTP_PROXY": proxy})
            self.assertEqual(retries, [], text)
            self.assertIn("cannot use the proxy", text)

    def test_a_name_without_an_address(self):
        retries, text = self.retries("http://nobody.localhost.invalid")
        self.assertEqual(retries, [], text)
        self.assertIn("cannot resolve the host name", text)

    def test_a_certificate_of_nobody_that_is_known(self):
        provider = self.tls_provider(ANTHROPIC.answer())
        retries, text = self.retries(provider.url)
        self.assertEqual(retries, [], text)
        self.assertIn("unknown authority", text)
        self.assertIn("caFile", text)

    def test_a_certificate_for_another_host(self):
        provider = self.tls_provider(ANTHROPIC.answer())
        retries, text = self.retries(provider.url.replace("127.0.0.1", "localhost"),
                                     env={"SSL_CERT_FILE": self.server_files[0]})
        self.assertEqual(retries, [], text)
        self.assertIn("is not valid for this host name", text)
        self.assertIn("a host name that the certificate lists", text)

    def test_a_server_that_speaks_no_tls(self):
        provider = self.provider(ANTHROPIC.answer())
        retries, text = self.retries(provider.url.replace("http:", "https:"))
        self.assertEqual(retries, [], text)
        self.assertIn("check that the server uses https on this port", text)

    def test_a_proxy_on_this_machine_that_does_not_run(self):
        for url, variable in (("http://api.example.com", "HTTP_PROXY"),
                              ("https://api.example.com", "HTTPS_PROXY")):
            retries, text = self.retries(url, env={variable: f"http://{self.deaf_address()}"})
            self.assertEqual(retries, [], text)
            self.assertIn("cannot connect to the proxy", text)
            self.assertIn("is the proxy running? check HTTPS_PROXY", text)

    def test_a_proxy_whose_name_has_no_address(self):
        retries, text = self.retries("http://api.example.com",
                                     env={"HTTP_PROXY": "http://nobody.localhost.invalid:3128"})
        self.assertEqual(retries, [], text)
        self.assertIn("cannot resolve the host name of the proxy", text)
        self.assertIn("check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY", text)

    def test_what_is_final_does_not_speak_of_attempts(self):
        _, text = self.retries("http://" + self.deaf_address())
        self.assertNotIn("attempts", text)

    def test_certificates_are_trusted_besides_the_systems(self):
        provider = self.tls_provider(ANTHROPIC.answer())
        other = self.certificate("other")[0]
        trusted = self.server_files[0]
        self.assert_answer(self.answers(provider, caFile=trusted))
        self.assert_answer(self.answers(provider, env={"NODE_EXTRA_CA_CERTS": trusted}))
        self.assert_answer(self.answers(provider, env={"NODE_EXTRA_CA_CERTS": other,
                                                       "SSL_CERT_FILE": trusted}))
        self.assert_answer(self.answers(provider, env={"NODE_EXTRA_CA_CERTS": trusted},
                                        caFile=other))
        self.assert_failed(self.answers(provider, caFile=str(self.dir / "none")), 6, "caFile")

    def test_a_project_does_not_say_whom_to_trust(self):
        provider = self.tls_provider(ANTHROPIC.answer())
        (self.project / ".keel").mkdir()
        (self.project / ".keel/settings.json").write_text(
            json.dumps({"caFile": self.server_files[0]}))
        self.assert_status(self.keel("trust", "--yes"), 0)
        self.assert_failed(self.answers(provider), 1, "unknown authority")

    def test_a_server_that_asks_for_a_certificate_gets_it(self):
        certificate, key = self.certificate("client")
        provider = self.tls_provider(ANTHROPIC.answer(), client_ca=certificate)
        trust = {"caFile": self.server_files[0]}
        self.assert_answer(self.answers(provider, profile={"clientCertificate": certificate,
                                                           "clientKey": key}, **trust))
        self.assert_answer(self.answers(provider, env={"CLAUDE_CODE_CLIENT_CERT": certificate,
                                                       "CLAUDE_CODE_CLIENT_KEY": key}, **trust))
        self.assert_failed(self.answers(provider, **trust), 1, "certificate")
        self.assert_failed(self.answers(provider, profile={"clientCertificate": "/none"}, **trust),
                           6, "/none", "clientCertificate")
        self.assert_failed(self.answers(provider, profile={"clientKey": key}, **trust), 6,
                           "a clientKey but no clientCertificate", ".clientCertificate, or remove")

    def test_a_key_with_a_passphrase(self):
        certificate, key = self.certificate("client")
        locked = str(self.dir / "locked.key")
        subprocess.run(["openssl", "rsa", "-aes256", "-passout", "pass:open-sesame", "-in", key,
                        "-out", locked], check=True, capture_output=True)
        provider = self.tls_provider(ANTHROPIC.answer(), client_ca=certificate)
        profile = {"clientCertificate": certificate, "clientKey": locked}
        self.assert_answer(self.answers(
            provider, env={"PASS": "open-sesame"}, caFile=self.server_files[0],
            profile={**profile, "clientKeyPassphrase": "$ENV:PASS"}))
        self.assert_failed(self.answers(provider, caFile=self.server_files[0], profile={
            **profile, "clientKeyPassphrase": "wrong-one"}), 6, "client certificate")


# --- proxies ---

class Proxy(threading.Thread):
    """Tunnels of CONNECT, over TLS if there is a context; `refuses` is a status to answer instead.
    It keeps the heads that it was sent."""

    def __init__(self, context=None, refuses=None):
        super().__init__(daemon=True)
        self.context, self.refuses, self.heads = context, refuses, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            client.settimeout(scripted.HANG_SECONDS)
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(1)
            self.heads.append(head.decode())
            if self.refuses:
                client.sendall(f"HTTP/1.1 {self.refuses} No\r\nContent-Length: 2\r\n\r\nno".encode())
                return hear_out(client)
            host, port = head.split()[1].decode().rsplit(":", 1)
            with socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self.pass_on(client, server)
        except OSError:
            pass
        client.close()

    def pass_on(self, client, server):
        down = threading.Thread(target=self.copy, args=(server, client), daemon=True)
        down.start()
        self.copy(client, server)
        down.join()

    @staticmethod
    def copy(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Proxies(Tls):
    def proxy(self, **how):
        proxy = Proxy(**how)
        self.addCleanup(proxy.listener.close)
        return proxy

    def ask_by(self, provider, proxy_url):
        return self.answers(provider, env={"HTTPS_PROXY": proxy_url, "NO_PROXY": ""},
                            caFile=self.server_files[0])

    def test_a_tunnel_is_asked_for_with_user_and_password(self):
        provider, proxy = self.tls_provider(ANTHROPIC.answer()), self.proxy()
        self.assert_answer(self.ask_by(provider, f"http://us%65r:p%40ss@{proxy.place}"))
        place = provider.url.split("//")[1].split("/")[0]
        self.assertIn(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n", proxy.heads[0])
        self.assertIn("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n", proxy.heads[0])
        self.assertNotIn("proxy-authorization", self.only_request(provider).headers)

    def test_tls_goes_through_a_proxy_that_speaks_tls(self):
        provider = self.tls_provider(ANTHROPIC.answer())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.server_files)
        proxy = self.proxy(context=context)
        self.assert_answer(self.ask_by(provider, f"https://{proxy.place}"))
        self.assertTrue(proxy.heads)

    def test_a_proxy_that_refuses_is_named_without_its_password(self):
        provider = self.tls_provider(ANTHROPIC.answer())
        for status, words in ((407, "user name and a password"), (403, "403"), (502, "502")):
            proxy = self.proxy(refuses=status)
            result = self.ask_by(provider, f"http://me:hunter2@{proxy.place}")
            self.assert_failed(result, 1, f"the proxy http://{proxy.place}", str(status), words)
            self.assertNotIn("hunter2", str(result))


# --- other vendors ---

class Rows(Access):
    def test_each_is_asked_at_its_base_url_with_its_key(self):
        for name, url, key in (
                ("cerebras", "CEREBRAS_BASE_URL", "CEREBRAS_API_KEY"),
                ("moonshot", "MOONSHOT_BASE_URL", "MOONSHOT_API_KEY"),
                ("zai", "ZAI_BASE_URL", "ZAI_API_KEY"),
                ("dashscope", "DASHSCOPE_BASE_URL", "DASHSCOPE_API_KEY"),
                ("vercel", "AI_GATEWAY_BASE_URL", "AI_GATEWAY_API_KEY"),
                ("hf", "HF_BASE_URL", "HF_TOKEN"),
                ("copilot", "GITHUB_COPILOT_BASE_URL", "COPILOT_GITHUB_TOKEN"),
                ("litellm", "LITELLM_PROXY_API_BASE", "LITELLM_PROXY_API_KEY")):
            with self.subTest(name):
                provider = self.provider(BY_NAME["openai-chat"].answer())
                self.assert_answer(self.keel("-p", "--model", f"{name}/some/model", "hi", env={
                    url: provider.url + "/v1", key: KEY}))
                request = self.only_request(provider)
                self.assertEqual((request.path, request.json["model"],
                                  request.headers["authorization"]),
                                 ("/v1/chat/completions", "some/model", f"Bearer {KEY}"))


if __name__ == "__main__":
    scripted.main()
