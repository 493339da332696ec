"""models_test.py - keel models and keel doctor, without a network."""
import json
import pathlib
import re
import socket
import subprocess
import sys

import keel_test
from keel_test import KeelTest

VENDORS = {"anthropic", "openai", "gemini", "deepseek", "openrouter", "groq", "mistral", "xai",
           "together", "fireworks", "azure-openai", "ollama", "llama.cpp", "vllm", "lmstudio",
           "custom", "cerebras", "moonshot", "zai", "dashscope", "vercel", "huggingface",
           "github-copilot", "bedrock", "vertex", "vertex-anthropic", "azure-deployments",
           "foundry", "litellm"}
PROTOCOLS = {"anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama"}


SCRIPT = pathlib.Path(__file__).parents[2] / "scripts/catalogue.py"


class CatalogueScript(KeelTest):
    def compare(self, listed, *vendors):
        path = self.write("list.json", listed if isinstance(listed, str) else json.dumps(listed))
        return subprocess.run([sys.executable, SCRIPT, keel_test.KEEL, path, *vendors], text=True,
                              capture_output=True, env=self.environment())

    def known(self):
        """What keel knows of one vendor, as such a list has it."""
        vendor = self.keel("models", "deepseek", "--json").json()["vendors"][0]
        return {m["id"]: {"limit": {"context": m["contextWindow"], "output": m["maxOutput"]},
                          "cost": {"input": m["microcentsPerMillion"]["input"] / 1e8},
                          "status": m["lifecycle"]} for m in vendor["models"]}

    def test_a_list_that_agrees_has_no_difference(self):
        result = self.compare({"deepseek": {"models": self.known()}, "unknown": {"models": {}}})
        self.assertEqual((result.returncode, result.stdout), (0, "no difference\n"), result.stderr)

    def test_every_difference_is_a_line(self):
        models = self.known()
        models["deepseek-flash"]["cost"]["input"] = 0.5
        models["deepseek-flash"]["limit"]["context"] = 7
        models["deepseek-v4-flash"]["status"] = "active"
        models["deepseek-new"] = {}
        del models["deepseek-v4-pro"]
        result = self.compare({"deepseek": {"models": models}})
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stdout.splitlines(), [
            "deepseek/deepseek-flash: contextWindow is 1000000 here and 7 in the list",
            "deepseek/deepseek-flash: input is 0.3 here and 0.5 in the list",
            "deepseek/deepseek-v4-pro: not in the list",
            "deepseek/deepseek-v4-flash: lifecycle is deprecated here and active in the list",
            "deepseek/deepseek-new: only in the list"])
        self.assertEqual(self.compare({"deepseek": {"models": models}}, "openai").returncode, 0)

    def test_what_is_no_list_is_told(self):
        result = self.compare("{")
        self.assertEqual(result.returncode, 2)
        self.assertIn("catalogue.py: ", result.stderr)


class Models(KeelTest):
    def test_without_a_provider_it_says_what_to_do(self):
        result = self.keel("models")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "")
        self.assertIn("keel models --all", result.err)

    def test_the_model_that_is_used_without_a_name_is_marked(self):
        env = {"ANTHROPIC_API_KEY": "k"}
        marked = [line.split()[0] for line in self.keel("models", env=env).out.splitlines()
                  if line.endswith(" (default)")]
        used = self.keel("config", "provider", env=env).out.split()[0]
        self.assertEqual(["anthropic/" + name for name in marked], [used])
        [vendor] = self.keel("models", "--json", env=env).json()["vendors"]
        self.assertEqual("anthropic/" + vendor["defaultModel"], used)
        self.assertEqual([model["id"] for model in vendor["models"] if model["default"]], marked)

    def test_a_server_of_ones_own_says_how_to_list_its_models(self):
        self.assertIn("any model: ollama/NAME (see keel models ollama --refresh)",
                      self.keel("models", "ollama").out)

    def test_an_unknown_vendor_is_refused(self):
        self.assert_refused(self.keel("models", "opnai"), 2, 'unknown vendor "opnai"',
                            "keel models --all lists them")

    def test_vendors_with_a_key_are_listed(self):
        result = self.keel("models", env={"OPENAI_API_KEY": "k"})
        self.assert_fine(result)
        self.assertTrue(result.out.startswith("OpenAI (openai)"), result.out)
        self.assertNotIn("(anthropic)", result.out)

    def test_a_vendor_is_set_up_by_a_profile_or_an_address_too(self):
        self.user_settings({"providers": {"work": {"type": "mistral", "apiKey": "k"}}})
        result = self.keel("models", "--json", env={"OLLAMA_HOST": "127.0.0.1:1"})
        self.assertEqual([v["vendor"] for v in result.json()["vendors"]], ["mistral", "ollama"])

    def test_all_vendors_say_how_they_are_set_up(self):
        result = self.keel("models", "--all")
        self.assert_fine(result)
        for name in VENDORS:
            self.assertIn(f"({name})", result.out)
        for text in ("set ANTHROPIC_API_KEY: https://", "GEMINI_API_KEY or GOOGLE_API_KEY",
                     "any model: openrouter/NAME", "default: openrouter/auto"):
            self.assertIn(text, result.out)

    def test_no_line_is_wider_than_the_terminal(self):
        for columns in (20, 40, 60, 80):
            for line in self.on_terminal("models", "--all", columns=columns).out.splitlines():
                if len(line.split()) > 1:  # a longer word stays whole
                    self.assertLessEqual(len(line.rstrip()), columns, line)

    def test_what_models_can_do_is_told_in_words(self):
        lines = self.keel("models", "anthropic").out.splitlines()
        self.assertIn("  all can: tools, images, PDF, reasoning, schemas, web search, caching", lines)
        row = next(line for line in lines if line.startswith("  claude-haiku-4-5 "))
        self.assertTrue(row.endswith("  web fetch"), row)
        narrow = self.on_terminal("models", "anthropic", columns=40).out.splitlines()
        at = narrow.index("  claude-haiku-4-5")
        self.assertEqual(narrow[at + 1:at + 3], ["    window 200K, output 64K, $in/M 1.00,",
                                                 "    $out/M 5.00; also web fetch"])
        at = narrow.index("  claude-opus-5")
        self.assertEqual(narrow[at + 2], "    $out/M 25.00")

    def test_away_from_a_terminal_a_model_is_a_line(self):
        vendor = self.keel("models", "openai", "--json").json()["vendors"][0]
        out = self.keel("models", "openai").out
        for model in vendor["models"]:
            self.assertRegex(out, rf"(?m)^  {re.escape(model['id'])} ")

    def test_columns_stand_below_their_headings(self):
        lines = self.keel("models", "anthropic").out.splitlines()
        heading = next(line for line in lines if line.startswith("  model"))
        rows = [line for line in lines if line.startswith("  claude-")]
        self.assertTrue(rows)
        for row in rows:
            for name in ("window", "output", "$in/M", "$out/M"):
                end = heading.index(name) + len(name)
                self.assertNotEqual(row[end - 1], " ", row)
                self.assertIn(row[end:end + 1], (" ", ""), row)

    def test_one_vendor_is_found_by_its_name_and_by_an_alias(self):
        result = self.keel("models", "gemini")
        self.assertTrue(result.out.startswith("Google Gemini (gemini)"), result.out)
        self.assertEqual(self.keel("models", "google").out, result.out)

    def test_an_unknown_vendor_is_refused(self):
        self.assert_refused(self.keel("models", "nobody"), 2, '"nobody"', "keel models --all")

    def test_refreshing_nothing_is_a_matter_of_configuration(self):
        self.assert_refused(self.keel("models", "--refresh"), 6, "no provider is set up")


class ModelsAsJson(KeelTest):
    def check_model(self, model):
        self.assertTrue(model["id"] and model["name"])
        for key in ("contextWindow", "maxOutput"):
            self.assertTrue(model[key] is None or model[key] > 0, model)
        prices = model["microcentsPerMillion"]
        self.assertEqual(set(prices), {"input", "output", "cacheRead", "cacheWrite"})
        for price in prices.values():
            self.assertTrue(price is None or (isinstance(price, int) and price >= 0), model)
        self.assertIn(model["lifecycle"], ("active", "preview", "deprecated", "retired"))
        self.assertEqual(len(set(model["capabilities"])), len(model["capabilities"]))
        self.assertRegex(model["source"], r"\Ahttps://")
        self.assertRegex(model["lastVerifiedAt"], r"\A\d{4}-\d\d-\d\d\Z")

    def test_every_vendor_and_model_has_its_members(self):
        result = self.keel("models", "--all", "--json")
        self.assert_fine(result)
        listed = result.json()["vendors"]
        self.assertEqual({vendor["vendor"] for vendor in listed}, VENDORS)
        for vendor in listed:
            self.assertIn(vendor["protocol"], PROTOCOLS)
            self.assertIn(vendor["status"], ("fallback", "unavailable"))
            self.assertEqual(vendor["status"] == "fallback", bool(vendor["models"]), vendor)
            ids = [model["id"] for model in vendor["models"]]
            self.assertEqual(len(ids), len(set(ids)), vendor["vendor"])
            for model in vendor["models"]:
                self.check_model(model)

    def test_retired_models_are_listed_only_when_all_are_asked_for(self):
        env = {"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"}

        def lifecycles(*options):
            vendors = self.keel("models", "--json", *options, env=env).json()["vendors"]
            return {model["lifecycle"] for vendor in vendors for model in vendor["models"]}

        self.assertIn("retired", lifecycles("--all"))
        self.assertNotIn("retired", lifecycles())


class Doctor(KeelTest):
    def findings(self, *options, **run):
        result = self.keel("doctor", "--json", *options, **run)
        return result, {f["section"] + "/" + f["name"]: f for f in result.json()["findings"]}

    def test_no_provider_is_bad_and_every_key_is_named(self):
        result, findings = self.findings()
        self.assert_status(result, 1)
        text = findings["Providers/none"]["text"]
        for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY"):
            self.assertIn(variable, text)
        self.assertIn("https://", text)

    def test_a_key_is_named_and_never_shown(self):
        result, findings = self.findings(env={"ANTHROPIC_API_KEY": "sk-secret"})
        self.assertEqual(findings["Providers/anthropic"]["text"], "ANTHROPIC_API_KEY is set")
        self.assertTrue(findings["Providers/in use"]["text"].startswith("anthropic/"))
        self.assertNotIn("sk-secret", result.out)

    def test_an_address_that_is_not_the_vendors_is_named(self):
        _, findings = self.findings(env={"ANTHROPIC_API_KEY": "k"})
        self.assertNotIn(" at ", findings["Providers/in use"]["text"])
        result, findings = self.findings(env={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL":
                                              "http://me:hush@127.0.0.1:7/x"})
        self.assertRegex(findings["Providers/in use"]["text"], r"^anthropic/\S+ at http://")
        self.assertIn("127.0.0.1:7/x", findings["Providers/in use"]["text"])
        self.assertNotIn("hush", result.out)

    def test_all_is_well_when_nothing_is_bad(self):
        result, findings = self.findings(env={"ANTHROPIC_API_KEY": "k"})
        bad = [name for name, f in findings.items() if f["health"] == "bad"]
        self.assertEqual(bad, [])
        self.assert_status(result, 0)

    def test_a_home_that_cannot_be_written_is_bad(self):
        for home in (self.write("file", ""), str(self.dir / "file/below")):
            result, findings = self.findings(env={"ANTHROPIC_API_KEY": "k", "KEEL_HOME": home})
            self.assert_status(result, 1)
            self.assertEqual(findings["Stores/home"]["health"], "bad")
            self.assertIn(f"{home} cannot be written: sessions are not stored; check its "
                          "permissions, or set KEEL_HOME", findings["Stores/home"]["text"])

    def test_a_home_that_is_not_there_yet_is_no_problem(self):
        result, findings = self.findings(env={"ANTHROPIC_API_KEY": "k",
                                              "KEEL_HOME": str(self.dir / "new/home")})
        self.assert_status(result, 0)
        self.assertIn("does not exist yet; keel creates it", findings["Stores/home"]["text"])

    def test_a_missing_keel_exec_comes_with_what_to_do(self):
        _, findings = self.findings(env={"KEEL_EXEC": "/nowhere/keel-exec"})
        self.assertEqual(findings["Sandbox/keel-exec"]["text"],
                         "cannot run /nowhere/keel-exec, which KEEL_EXEC names; correct or unset "
                         "KEEL_EXEC")

    def test_only_stores_that_keel_has_are_looked_at(self):
        names = [name for name in self.findings()[1] if name.startswith("Stores/")]
        self.assertEqual(names, ["Stores/home", "Stores/SQLite", "Stores/PostgreSQL"])

    def test_what_is_known_is_printed_before_the_provider_answers(self):
        process = self.start("doctor", "--probe", env=self.hanging_provider())
        with process.stdout, process.stderr:
            seen = b""
            while b"UTF-8" not in seen:  # the last line but those of the probe
                seen += process.stdout.readline()
            process.kill()
            process.wait(keel_test.HANG_SECONDS)

    def hanging_provider(self):
        """Listens, and answers nothing."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        return {"ANTHROPIC_API_KEY": "k", "LC_ALL": "C.UTF-8",
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.getsockname()[1]}"}

    def test_a_rule_for_no_tool_is_bad(self):
        self.user_settings({"permissions": {"deny": ["Bsh(rm *)"]}})
        result, findings = self.findings(env={"ANTHROPIC_API_KEY": "k"})
        self.assert_status(result, 1)
        self.assertIn('unknown tool "Bsh"; did you mean Bash?',
                      findings["Settings/rules"]["text"])

    def test_broken_settings_are_a_finding_among_the_others(self):
        env = {"ANTHROPIC_API_KEY": "k"}
        for content, why in (("{", "not valid JSON"), ({"modle": "x"}, "modle"),
                             ({"model": 3}, "must be a string")):
            path = self.user_settings(content)
            result, findings = self.findings(env=env)
            self.assert_status(result, 1)
            self.assertEqual(findings["Settings/file"]["health"], "bad")
            self.assertTrue(findings["Settings/file"]["text"].startswith(path), findings)
            self.assertIn(why, findings["Settings/file"]["text"])
            self.assertEqual(findings["Providers/anthropic"]["health"], "ok")
            self.assertIn("Terminal/characters", findings)
            self.assertIn("BAD   file", self.keel("doctor", env=env).out)
        self.user_settings({})
        result, findings = self.findings("--settings", "{", env=env)
        self.assertIn("--settings: not valid JSON", findings["Settings/file"]["text"])
        self.assert_status(result, 1)

    def test_a_model_that_is_named_is_checked(self):
        env = {"ANTHROPIC_API_KEY": "k"}
        for model, status, text in (("foo", 1, 'Anthropic has no model "foo"'),
                                    ("openai/gpt-5", 1, "OPENAI_API_KEY is not set"),
                                    ("anthropic/new", 0, "anthropic/new")):
            result, findings = self.findings("--model", model, env=env)
            self.assert_status(result, status)
            self.assertIn(text, findings["Providers/in use"]["text"])

    def test_a_key_with_a_line_break_is_bad_and_named(self):
        for key in ("k\n", "a\nb", "k\r"):
            result, findings = self.findings(env={"ANTHROPIC_API_KEY": key})
            self.assert_status(result, 1)
            self.assertIn("ANTHROPIC_API_KEY contains a line break",
                          findings["Providers/anthropic"]["text"])
            self.assert_refused(self.keel("-p", "hi", env={"ANTHROPIC_API_KEY": key}), 6,
                                "the key in ANTHROPIC_API_KEY contains a line break",
                                "set ANTHROPIC_API_KEY again")
        self.user_settings({"providers": {"x": {"type": "anthropic", "apiKey": "$ENV:MY_KEY"}}})
        self.assert_refused(self.keel("-p", "hi", env={"MY_KEY": "a\nb"}), 6, "the key in ")

    def test_a_profile_that_cannot_work_is_bad(self):
        self.user_settings({"providers": {"x": {"type": "nonsense", "model": "m"}}})
        result, findings = self.findings()
        self.assert_status(result, 1)
        self.assertEqual(findings["Providers/x"]["health"], "bad")
        self.assertEqual(findings["Providers/in use"]["health"], "bad")

    def test_every_finding_has_its_members(self):
        result, findings = self.findings()
        self.assertRegex(result.json()["version"], r"\A\d+\.\d+\.\d+\Z")
        for finding in findings.values():
            self.assertEqual(set(finding), {"section", "name", "health", "text"})
            self.assertIn(finding["health"], ("ok", "note", "bad"))
        for name in ("Network/HTTP client", "Network/certificates", "Sandbox/keel-exec",
                     "Stores/home", "Terminal/characters"):
            self.assertIn(name, findings)

    def test_text_has_the_same_findings_and_no_colours(self):
        _, findings = self.findings()
        result = self.keel("doctor")
        self.assert_status(result, 1)
        self.assertNotIn("\x1b", result.out)
        for finding in findings.values():
            row = rf"(?m)^  (ok  |note|BAD )  {re.escape(finding['name'])} +\S"
            self.assertRegex(result.out, row)

    def test_a_proxy_is_shown_without_its_password(self):
        result, findings = self.findings(env={"HTTPS_PROXY": "http://me:hush@proxy:3128"})
        self.assertEqual(findings["Network/HTTPS_PROXY"]["text"], "http://proxy:3128")
        self.assertNotIn("hush", result.out)

    def test_certificates_that_were_named_are_used(self):
        path = self.write("ca.pem", "")
        _, findings = self.findings(env={"SSL_CERT_FILE": path})
        self.assertIn(path, findings["Network/certificates"]["text"])

    def test_certificates_that_cannot_be_read_are_bad(self):
        missing = str(self.dir / "none.pem")
        for name, flags, env, says in (
                ("certificates", (), {"SSL_CERT_FILE": missing}, "check SSL_CERT_FILE"),
                ("authorities", (), {"NODE_EXTRA_CA_CERTS": missing}, "check NODE_EXTRA_CA_CERTS"),
                ("authorities", ("--settings", json.dumps({"caFile": missing})), {},
                 "check the setting caFile")):
            result, findings = self.findings(*flags, env={"ANTHROPIC_API_KEY": "k", **env})
            self.assert_status(result, 1)
            found = findings[f"Network/{name}"]
            self.assertEqual(found["health"], "bad", found)
            self.assertIn(f"cannot read {missing}: No such file or directory; {says}", found["text"])

    def test_settings_that_are_not_trusted_are_noted(self):
        self.write("project/.keel/settings.json", {"model": "a/b"})
        _, findings = self.findings()
        self.assertIn("not trusted", findings["Settings/file"]["text"])

    def test_a_probe_without_a_provider_is_bad_and_says_why(self):
        result, findings = self.findings("--probe")
        self.assert_status(result, 1)
        self.assertIn("no model provider is configured", findings["Probe/answer"]["text"])


if __name__ == "__main__":
    keel_test.main()
