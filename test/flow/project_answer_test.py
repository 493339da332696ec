"""project_answer_test.py - a yes that holds for the project: written down, and not asked again."""
import json

import scripted
from input_test import InputTest, of_type, reply, user
from scripted import ANTHROPIC, Call

COMMAND = "printf '%s' a*b > made.txt"  # a star that must stay one
RULE = COMMAND.replace("*", r"\*")


class Project(InputTest):
    def setUp(self):
        super().setUp()
        self.file = self.project / ".keel" / "settings.local.json"

    def asked(self, call, *answers):
        """A run with a host that is asked once; the rules that the answer makes of the question."""
        provider = self.provider(ANTHROPIC.answer([""], calls=[call]), ANTHROPIC.answer())
        host = self.host(provider, "--permission-prompt-tool", "stdio")
        host.say(user("go"))
        line = host.wait_for("control_request", "can_use_tool")
        updates = [dict(update, destination=answers[0]) for update in
                   line["request"]["permission_suggestions"]]
        host.say(reply(line["request_id"], behavior="allow", updatedPermissions=updates))
        host.wait_for("result")
        return self.end(host)

    def run_alone(self, call):
        """A run where nobody can be asked: its result for the model."""
        provider = self.provider(ANTHROPIC.answer([""], calls=[call]), ANTHROPIC.answer())
        result = self.ask(provider, "go")
        self.assert_status(result, 0)
        content = provider.requests[1].json["messages"][-1]["content"]
        return next(part for part in content if part["type"] == "tool_result"), result

    def kept(self):
        return json.loads(self.file.read_text())["permissions"]["allow"]

    def test_the_narrowest_rule_is_kept_and_the_next_run_does_not_ask(self):
        call = Call("Bash", command=COMMAND)
        self.assert_fine(self.asked(call, "localSettings"))
        self.assertEqual(self.kept(), [f"Bash({RULE})"])
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        (self.project / "made.txt").unlink()
        told, result = self.run_alone(call)
        self.assertFalse(told.get("is_error", False), told)
        self.assertEqual(result.err, "")
        self.assertTrue((self.project / "made.txt").exists())

    def test_what_was_not_shown_is_still_asked_about(self):
        self.asked(Call("Bash", command=COMMAND), "localSettings")
        told, _ = self.run_alone(Call("Bash", command=COMMAND.replace("*", "xx")))
        self.assertTrue(told["is_error"])

    def test_a_file_is_kept_by_its_whole_path(self):
        self.assert_fine(self.asked(Call("Write", file_path="new.txt", content="1\n"),
                                    "projectSettings"))
        self.assertEqual(self.kept(), [f"Write(/{self.project.resolve()}/new.txt)"])

    def test_an_answer_for_the_session_writes_nothing(self):
        self.assert_fine(self.asked(Call("Bash", command=COMMAND), "session"))
        self.assertFalse(self.file.exists())

    def test_the_same_answer_again_is_kept_once(self):
        call = Call("Bash", command=COMMAND)
        self.asked(call, "localSettings")
        self.write("keel-home/trust.json", {})  # so that it is asked again
        result = self.asked(call, "localSettings")
        self.assert_status(result, 0)
        self.assertEqual(self.kept(), [f"Bash({RULE})"])
        self.assertIn("keel trust", result.err)

    def test_a_project_that_is_not_trusted_stays_so(self):
        self.write("project/.keel/settings.json", {"permissions": {"allow": ["Bash"]}})
        call = Call("Bash", command=COMMAND)
        result = self.asked(call, "localSettings")
        self.assertIn("has no effect until you trust this project", result.err)
        self.assertEqual(self.kept(), [f"Bash({RULE})"])
        told, _ = self.run_alone(call)
        self.assertTrue(told["is_error"])

    def test_a_file_that_is_no_json_is_left_alone(self):
        self.asked(Call("Bash", command=COMMAND), "localSettings")
        provider = self.provider(
            ANTHROPIC.answer([""], calls=[Call("Bash", command="touch two")]), ANTHROPIC.answer())
        host = self.host(provider, "--permission-prompt-tool", "stdio")
        host.say(user("go"))
        line = host.wait_for("control_request", "can_use_tool")
        self.file.write_text("{ half")  # while the person thinks
        host.say(reply(line["request_id"], behavior="allow", updatedPermissions=[
            dict(line["request"]["permission_suggestions"][0], destination="localSettings")]))
        host.wait_for("result")
        self.end(host)
        self.assertEqual(self.file.read_text(), "{ half")
        self.assertTrue((self.project / "two").exists())
        self.assertFalse(of_type(host.seen, "user")[0]["message"]["content"][0].get("is_error"))

    def test_a_rule_of_the_hosts_own_is_kept_as_it_is(self):
        provider = self.provider(
            ANTHROPIC.answer([""], calls=[Call("Bash", command="touch one")]), ANTHROPIC.answer())
        host = self.host(provider, "--permission-prompt-tool", "stdio")
        host.say(user("go"))
        line = host.wait_for("control_request", "can_use_tool")
        host.say(reply(line["request_id"], behavior="allow", updatedPermissions=[
            {"type": "addRules", "behavior": "allow", "destination": "localSettings",
             "rules": [{"toolName": "Bash", "ruleContent": "touch *"}]}]))
        host.wait_for("result")
        self.assert_fine(self.end(host))
        self.assertEqual(self.kept(), ["Bash(touch *)"])


if __name__ == "__main__":
    scripted.main()
