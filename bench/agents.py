"""agents.py - keel and its peers, how each is asked once without a person, and what that takes."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

PROMPT = "PROMPT"
MODEL = "claude-sonnet-4-5"
PEERS = ("claude", "codex", "opencode", "pi")  # those that model.py can play for


class Agent:
    """A command line, and the environment that leads it to our provider at `url`."""

    def __init__(self, name, command, environment, files=None, speaks_anthropic=True):
        self.name = name
        self.command = command
        self.environment = environment
        self.files = files or {}
        self.speaks_anthropic = speaks_anthropic


def keel(program, url):
    return Agent("keel", [program, "-p", "--model", "anthropic/" + MODEL,
                          "--permission-mode", "bypassPermissions", PROMPT],
                 {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x"})


def peers(url, mock_url):
    """Those that are installed. codex and gemini speak other protocols: without mock_url they are
    left out."""
    opencode = {"autoupdate": False, "share": "disabled", "permission": "allow", "provider": {
        "anthropic": {"options": {"baseURL": url + "/v1", "apiKey": "x"}}}}
    pi = {"providers": {"bench": {"baseUrl": url, "apiKey": "x", "api": "anthropic-messages",
                                  "models": [{"id": MODEL}]}}}
    codex = (f'model = "gpt-5"\nmodel_provider = "bench"\n[model_providers.bench]\n'
             f'name = "bench"\nbase_url = "{mock_url}/v1"\nwire_api = "responses"\n'
             f'[analytics]\nenabled = false\n')
    known = [
        Agent("claude", ["claude", "-p", "--model", MODEL, "--allowedTools", "Bash,Edit,Write",
                         "--", PROMPT],
              {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1",
               "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}),
        Agent("opencode", ["opencode", "run", "--model", "anthropic/" + MODEL, PROMPT],
              {"OPENCODE_CONFIG_CONTENT": json.dumps(opencode), "OPENCODE_DISABLE_AUTOUPDATE": "1",
               "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
               "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "npm_config_offline": "true"}),
        Agent("pi", ["pi", "-p", "--provider", "bench", "--model", MODEL, PROMPT],
              {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
              files={".pi/agent/models.json": json.dumps(pi)}),
        Agent("codex", ["codex", "exec", "--skip-git-repo-check",
                        "--dangerously-bypass-approvals-and-sandbox", PROMPT], {},
              files={".codex/config.toml": codex}, speaks_anthropic=False),
        Agent("gemini", ["gemini", "--yolo", "-p", PROMPT],
              {"GOOGLE_GEMINI_BASE_URL": mock_url, "GEMINI_API_KEY": "x"},
              speaks_anthropic=False),
    ]
    return [a for a in known if shutil.which(a.name) and (a.speaks_anthropic or mock_url)]


class Seat:
    """Where an agent works: a home of its own and an empty directory."""

    def __init__(self, measure, agent):
        self.measure = measure
        self.agent = agent
        # Not in /tmp, which other programs change all the time: it would stand above the home, whose
        # rules keel makes again when that happens.
        self.directory = tempfile.TemporaryDirectory(prefix="keel-bench-", dir="/var/tmp")
        top = pathlib.Path(self.directory.name)
        self.home, self.work = top / "home", top / "work"
        self.home.mkdir()
        self.work.mkdir()
        for name, text in agent.files.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text)

    def command(self, prompt, options):
        program, *words = [prompt if word is PROMPT else word for word in self.agent.command]
        return list(map(str, [program, *options, *words]))

    def surroundings(self):
        return {"cwd": self.work, "env": {**os.environ, "HOME": str(self.home),
                                          "PWD": str(self.work),  # opencode works there
                                          "KEEL_HOME": str(self.home / "keel"),
                                          **self.agent.environment}}

    def ask(self, prompt, *options):
        """Runs it once; {start_ms, wall_ms, cpu_ms, peak_kib}."""
        return run_measured(self.measure, self.command(prompt, options), **self.surroundings())

    def start(self, prompt, *options):
        """The same, but it is not waited for, and nothing is measured."""
        return subprocess.Popen(self.command(prompt, options), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, **self.surroundings())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.directory.cleanup()


def run_measured(measure, command, **options):
    done = subprocess.run([str(measure), *map(str, command)], text=True, capture_output=True,
                          **options)
    if done.returncode:
        raise SystemExit(f"bench: {command[0]} failed:\n{done.stderr}")
    return json.loads(done.stdout)
