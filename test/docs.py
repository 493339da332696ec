"""docs.py KEEL - the documents against the program: commands, flags, settings, links and paths.

Every command in a code block is checked against the flags that the program's own help lists, and is
run in a temporary home with a scripted provider. Commands that cannot be run here are in NOT_RUN,
with the reason.

Reference tables are found by their head: "| flag |" in docs/print.md is about `keel -p`,
"| command | flag |" about other commands, "| setting |" in docs/settings.md about settings.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent / "flow"))
sys.path.insert(0, str(pathlib.Path(__file__).parent / "cli"))

import keel_test  # noqa: E402
import scripted  # noqa: E402

ROOT = keel_test.SOURCE
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
ADRS = sorted((ROOT / "docs/adr").glob("*.md"))
MANUAL = ROOT / "docs/keel.1"

# Where the flags of a command are documented; the longest name counts.
PAGE_OF = {
    (): "print.md", ("session",): "sessions.md", ("permissions",): "permissions.md",
    ("sandbox",): "sandbox.md", ("config",): "settings.md", ("trust",): "settings.md",
}
OTHER_PAGE = "commands.md"
WORDS = {"help", "version"}  # what --help and --version do, as words; running them checks them
HELP_FLAGS = {"-h", "--help"}  # of every command; print.md documents them once

# Commands of code blocks that are not run, by how they begin; their flags are checked all the same.
NOT_RUN = {
    "keel -p -r ID --answer": "needs a session that waits for an answer",
    "keel sandbox": "needs a machine on which a sandbox can be built; cli/sandbox runs it",
    "keel trust": "asks a person; cli/trust runs it",
    "keel session delete": "would remove the session that later commands read",
    "keel session compact": "a scripted answer is not a summary of anything",
    "keel completion": "writes where a shell looks for it; cli/completion runs it",
    "keel doctor": "its exit status depends on the machine",
    "keel demo --script": "needs a script of one's own; cli/print plays one",
}
# What a code block has instead of a value, and a value for it.
FILES = {
    "schema.json": '{"type": "object"}',
    "value.json": "{}",
    "answer.sse": 'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\n\n',
}

# Flags of other programs that the documents name.
FOREIGN_FLAGS = {
    "git": {"--amend", "--no-verify", "--remerge-diff", "--hard"},
    "run.sh, test.sh, meson, scripts": {"--install", "--uninstall", "--long", "--suite", "--quick"},
    "others": {"--profile", "--resource", "--query", "--arg",
               "--dangerously-bypass-approvals-and-sandbox"},
}
# Names in backticks that look like files of the repository and are others'.
FOREIGN_FILES = {
    "examples of a person's files": {"a.c", "b.c", "x.c", "client.c", "check.py", "check.sh", "wrap.sh",
                                     "src/*.c", "src/main.c", "hello.py", "mock.mjs"},
}


def read(page):
    return page.read_text(encoding="utf-8")


def name_of(page):
    return str(page.relative_to(ROOT))


# --- what the program says of itself ---

def ask(*arguments):
    env = {name: os.environ[name] for name in keel_test.KEPT_VARIABLES if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="keel-test-") as home:
        ran = subprocess.run([keel_test.KEEL, *arguments], capture_output=True, text=True,
                             check=False, stdin=subprocess.DEVNULL, cwd=home,
                             env={**env, "HOME": home}, timeout=keel_test.HANG_SECONDS)
    return ran.stdout


def flags_in(text):
    found = set()
    for short, long in re.findall(r"^ {2,6}(?:(-\w), )?(--[a-z][a-z-]*)", text, re.MULTILINE):
        found |= {flag for flag in (short, long) if flag}
    return found


def find_commands(parent=()):
    """Every command with its flags; () is keel itself."""
    text = ask(*parent, "--help")
    commands = {parent: flags_in(text)}
    start = " ".join(("keel",) + parent)
    for word in sorted(set(re.findall(rf"^  {start} ([a-z]+)\b", text, re.MULTILINE))):
        command = parent + (word,)
        if ask(*command, "--help").startswith(f"keel {' '.join(command)} - "):
            commands.update(find_commands(command))
    return commands


COMMANDS = find_commands()
GROUPS = {command for command in COMMANDS
          if command and any(other[:-1] == command for other in COMMANDS)}
KEYS = [line.split()[0] for line in ask("config", "keys").splitlines()]


def settings_of_keys():
    """Settings that have a value of their own: providers.*.headers.* is providers.*.headers."""
    return {re.sub(r"\.\*$", "", key) for key in KEYS
            if not any(other.startswith(key + ".") for other in KEYS)} | {"providers"}


def is_setting(name):
    """Is there such a setting, whatever the names in the place of stars?"""
    return any(re.fullmatch(re.escape(key).replace(r"\*", r"[^.]+"), name) for key in KEYS)


# --- what the pages hold ---

def code_blocks(text):
    """(language, lines) of every fenced block."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield match.group(1), match.group(2).replace("\\\n", " ").splitlines()


def commands_of(page):
    """The keel commands of a page's code blocks, as words."""
    for language, lines in code_blocks(read(page)):
        if language not in ("", "sh", "console"):
            continue
        for line in lines:
            if language == "console":
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            if not re.search(r"(^|[|;=] ?|\s)(build/)?keel ", line):
                continue
            try:
                lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
                lexer.whitespace_split, lexer.commenters = True, "#"
                words = list(lexer)
            except ValueError:
                continue
            yield from keel_calls(words)


def keel_calls(words):
    call = []
    for word in words + ["|"]:
        if re.fullmatch(r"[|;&<>]+", word):
            while call and re.fullmatch(r"\w+=.*", call[0]):
                call.pop(0)
            if call and call[0] in ("keel", "build/keel"):
                yield ["keel"] + call[1:]
            call = []
        else:
            call.append(word)


def command_of(words):
    """Which command a line calls, and what is left of it."""
    command = ()
    rest = words[1:]
    while rest and command + (rest[0],) in COMMANDS:
        command += (rest.pop(0),)
    return command, rest


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def tables(text):
    """(head, rows) of every table, as lists of cells."""
    for match in re.finditer(r"^\|(.*)\|\n\|[-:| ]+\|\n((?:\|.*\|\n?)*)", text, re.MULTILINE):
        head = [cell.strip() for cell in match.group(1).split("|")]
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]
                for row in match.group(2).splitlines()]
        yield head, rows


def in_backticks(text):
    return re.findall(r"`([^`\n]+)`", text)


def flags_of_cell(cell):
    return [word for code in in_backticks(cell) for word in code.replace("=", " ").split()
            if re.fullmatch(r"--?[A-Za-z][A-Za-z-]*", word)]


def documented_flags():
    """{page: {command: [flags]}} of the reference tables."""
    found = {}
    for page in PAGES:
        of_page = found.setdefault(page.name, {})
        for head, rows in tables(read(page)):
            if head[0] == "flag" and page.name == PAGE_OF[()]:
                for row in rows:
                    of_page.setdefault((), []).extend(flags_of_cell(row[0]))
            elif head[:2] == ["command", "flag"]:
                for row in rows:
                    for names in in_backticks(row[0]):
                        of_page.setdefault(tuple(names.split()), []).extend(flags_of_cell(row[1]))
    return found


def page_of(command):
    for n in range(len(command), -1, -1):
        if command[:n] in PAGE_OF and (n or not command):
            return PAGE_OF[command[:n]]
    return OTHER_PAGE


def slug(heading):
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-")


def anchors(page):
    return {slug(line.lstrip("#")) for line in without_code(read(page)).splitlines()
            if re.match(r"#+ ", line)}


def manual_entries():
    """{command: text of its entry} of the manual; () is the section OPTIONS."""
    text = read(MANUAL).replace("\\-", "-")
    options = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH ", text, re.MULTILINE | re.DOTALL).group(1)
    commands = re.search(r"^\.SH COMMANDS\n(.*?)^\.SH ", text, re.MULTILINE | re.DOTALL).group(1)
    entries = {(): options}
    for entry in re.split(r"^\.TP\n", commands, flags=re.MULTILINE)[1:]:
        tag = re.sub(r'["\s]+', " ", re.sub(r"\\f[A-Z]", "", entry.splitlines()[0]))
        words = tag.split()[1:]
        command = ()
        while len(command) < len(words) and command + (words[len(command)],) in COMMANDS:
            command += (words[len(command)],)
        if command:
            entries[command] = entry
    return entries


class Commands(scripted.FlowTest):
    def test_a_command_in_a_code_block_exists_and_knows_its_flags(self):
        n = 0
        for page in PAGES + ADRS:
            for words in commands_of(page):
                n += 1
                command, rest = command_of(words)
                with self.subTest(f"{name_of(page)}: {' '.join(words)}"):
                    if not command and rest and rest[0] in WORDS:
                        continue
                    if rest and not rest[0].startswith("-") and (command in GROUPS or not command):
                        self.assertIn(" ", rest[0], "it is neither a command nor a prompt")
                    known = COMMANDS[command] | HELP_FLAGS
                    known |= {"--allowedTools", "--disallowedTools"} if not command else set()
                    if "--" in rest:
                        rest = rest[:rest.index("--")]
                    for word in rest:
                        if re.match(r"--?[A-Za-z]", word):
                            self.assertIn(word.split("=")[0], known)
        self.assertGreater(n, 60, "the code blocks were not found")

    def answer(self, request):
        protocol = next(p for p in scripted.PROTOCOLS
                        if p.name == ("ollama" if request.path.startswith("/api/") else
                                      "anthropic-messages"))
        return protocol.answer(["{}"])

    def test_the_picture_of_keel_at_work_is_what_keel_demo_prints(self):
        shown = self.keel("demo", "--fast").out.split("\nThe files were in")[0].expandtabs()
        block = next(lines for _, lines in code_blocks(read(ROOT / "README.md").replace("\\\n", "\\\0"))
                     if lines and lines[0].startswith("$ keel -p"))
        self.assertEqual("\n".join(block).replace("\0", "\n"), shown.rstrip("\n"))

    def test_a_command_in_a_code_block_runs(self):
        provider = self.provider(self.answer)
        env = {**scripted.ANTHROPIC.environment(provider), "OLLAMA_HOST": provider.url}
        for name, content in FILES.items():
            self.write(f"project/{name}", content)
        self.keel("-p", "--model", "anthropic/m", "-n", "release notes", "find the cache",
                  env=env)
        self.keel("-p", "--model", "anthropic/m", "-c", "more", env=env)
        found = self.keel("session", "list", "--json")
        identity = found.json()[0]["id"]
        self.keel("session", "export", identity, "--output", "session.jsonl")
        seen = set()
        for page in PAGES:
            for words in commands_of(page):
                line = " ".join(words)
                if line in seen or any(line.startswith(start) for start in NOT_RUN):
                    continue
                seen.add(line)
                arguments = [identity if word == "ID" else word for word in words[1:]]
                with self.subTest(f"{name_of(page)}: {line}"):
                    self.assert_status(self.keel(*arguments, env=env, stdin=b"piped in"), 0)
        self.assertGreater(len(seen), 40, "the code blocks were not found")


class Flags(keel_test.KeelTest):
    def test_every_flag_is_documented_once_in_its_page(self):
        documented = documented_flags()
        for command, flags in COMMANDS.items():
            tables_of = documented.get(page_of(command), {})
            listed = tables_of.get(command, [])
            if command:
                listed = listed + tables_of.get(command[:1], []) * (len(command) > 1)
            for flag in sorted(flags - (HELP_FLAGS if command else set())):
                with self.subTest(f"keel {' '.join(command)} {flag}"):
                    self.assertEqual(listed.count(flag), 1, f"in docs/{page_of(command)}")

    def test_every_flag_of_a_reference_table_exists(self):
        for page, commands in documented_flags().items():
            for command, flags in commands.items():
                with self.subTest(f"{page}: keel {' '.join(command)}"):
                    self.assertIn(command, COMMANDS)
                    known = COMMANDS[command] | {"--allowedTools", "--disallowedTools"}
                    for other in COMMANDS:
                        if command and other[:len(command)] == command:
                            known = known | COMMANDS[other]
                    self.assertLessEqual(set(flags), known)

    def test_every_flag_is_in_the_manual_once(self):
        entries = manual_entries()
        for command, flags in COMMANDS.items():
            if command in GROUPS:
                continue
            with self.subTest(f"keel {' '.join(command)}"):
                self.assertIn(command, entries)
                shared = entries.get(command[:1], "") if len(command) > 1 else ""
                for flag in sorted(flags - (HELP_FLAGS if command else set())):
                    pattern = rf"(?<![\w-]){re.escape(flag)}(?![\w-])"
                    if command:
                        n = len(re.findall(pattern, entries[command].splitlines()[0]))
                        n += len(re.findall(pattern, shared.splitlines()[0])) if shared else 0
                    else:
                        tags = re.findall(r"^\.TP\n(.*)", entries[()], re.MULTILINE)
                        n = len(re.findall(pattern, "\n".join(tags)))
                    self.assertEqual(n, 1, flag)

    def test_every_flag_that_a_page_names_exists(self):
        known = set().union(*COMMANDS.values(), *FOREIGN_FLAGS.values())
        known |= {"--allowedTools", "--disallowedTools"}
        for page in PAGES:
            for code in in_backticks(without_code(read(page))):
                for flag in re.findall(r"(?<![\w-])--[a-zA-Z][a-zA-Z-]*", code):
                    with self.subTest(f"{name_of(page)}: {code}"):
                        self.assertIn(flag, known)


class Settings(keel_test.KeelTest):
    def rows(self):
        return [name for head, rows in tables(read(ROOT / "docs/settings.md")) if head[0] == "setting"
                for row in rows for name in in_backticks(row[0])]

    def test_every_setting_is_documented_once(self):
        rows = self.rows()
        for key in sorted(settings_of_keys()):
            with self.subTest(key):
                self.assertEqual(rows.count(key), 1)

    def test_every_setting_of_the_reference_exists(self):
        self.assertLessEqual(set(self.rows()), settings_of_keys())

    def test_every_setting_that_a_page_names_exists(self):
        first = {key.split(".")[0] for key in KEYS if "." in key}
        for page in PAGES:
            for code in in_backticks(without_code(read(page))):
                if re.fullmatch(r"[a-zA-Z]+(\.[a-zA-Z*|]+)+", code) and code.split(".")[0] in first \
                        and not re.search(r"\.(c|h|md|json|py)$|\.\*$|\|", code):
                    with self.subTest(f"{name_of(page)}: {code}"):
                        self.assertTrue(is_setting(code))


class Links(keel_test.KeelTest):
    def test_every_link_leads_somewhere(self):
        n = 0
        for page in PAGES + ADRS:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(read(page))):
                if urllib.parse.urlsplit(target).scheme:
                    continue
                n += 1
                path, _, anchor = target.partition("#")
                with self.subTest(f"{name_of(page)}: {target}"):
                    file = (page.parent / path).resolve() if path else page
                    self.assertTrue(file.exists(), "there is no such file")
                    if anchor and file.suffix == ".md":
                        self.assertIn(anchor, anchors(file))
        self.assertGreater(n, 100, "the links were not found")

    def test_every_path_of_the_repository_that_a_page_names_exists(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True, check=False).stdout.split()
        if not listed:  # a tree without git
            listed = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = {pathlib.PurePath(path).name for path in listed}
        folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
        foreign = set().union(*FOREIGN_FILES.values())
        for page in PAGES:
            for code in in_backticks(without_code(read(page))):
                word = code.rstrip("/")
                if word in foreign or re.search(r"[\s*~$<>]|NAME|VENDOR", word):
                    continue
                top = word.split("/")[0]
                with self.subTest(f"{name_of(page)}: {code}"):
                    if "/" in word and top in ("src", "docs", "test", "bench", "scripts", "include"):
                        self.assertTrue((ROOT / word).exists() or (ROOT / (word + ".c")).exists())
                    elif "/" in word and top in folders and re.search(r"\.[ch]$", word):
                        self.assertTrue((ROOT / "src" / word).exists())
                    elif re.fullmatch(r"\w+\.(c|h|py)", word):
                        self.assertTrue(word in names)


if __name__ == "__main__":
    keel_test.main()
