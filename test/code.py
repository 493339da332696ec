#!/usr/bin/env python3
"""code.py ROOT - what a reader must be able to rely on in src/ and include/: short functions, files
with one idea, one meaning a name, and none of the calls that are too easily called wrongly."""
import pathlib
import re
import sys

MAX_FUNCTION = 50  # lines that say something: neither a label nor a break
MAX_FILE = 760

# What stands on the right is used instead.
BANNED = {
    "strcpy strcat strncpy strncat sprintf vsprintf gets": "struct strbuf",
    "malloc calloc realloc strdup strndup": "mem_alloc() or an arena (base/mem.h)",
    "atoi atol atoll atof": "str_to_int() and its like, which report errors",
    "strtok asctime ctime gmtime localtime readdir_r": "calls that keep no state",
    "system popen": "proc_run()",
    "tmpnam tempnam mktemp": "struct temp_file",
    "alloca setjmp longjmp rand srand usleep": "none of it is needed",
}
# Who wraps them, and who has a library that can be left in no other way.
MAY_CALL = {"src/base/mem.c": {"malloc", "calloc", "realloc"},
            "src/tool/html/tree.c": {"setjmp", "longjmp"}}

# Comments, strings and characters, which are blanked; lines stay lines.
IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")
TAG = re.compile(r"^[ \t]*(?:static |extern |typedef |const )*(?:struct|union|enum) (\w+)\s*\{", re.M)
LABEL = re.compile(r"\s*(case .*:|default:|break;|)$")


def blank(text):
    return IGNORED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def functions(lines):
    """The line at which each function begins, and those of its body."""
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            yield start, lines[start + 1:number]
            start = None


def check_functions(lines):
    for number, body in functions(lines):
        n = sum(not LABEL.match(line) for line in body)
        if n > MAX_FUNCTION:
            yield number, f"a function of {n} lines; more than {MAX_FUNCTION} are several thoughts"


def check_calls(name, lines):
    better = {call: instead for calls, instead in BANNED.items() for call in calls.split()}
    for number, line in enumerate(lines, 1):
        for call in CALL.findall(line):
            if call in better and call not in MAY_CALL.get(name, ()):
                yield number, f"{call}() is not used here: {better[call]}"


def main(root):
    findings, tags = [], {}
    files = sorted(p for d in ("src", "include") for p in (root / d).rglob("*.[ch]"))
    for path in files:
        name = str(path.relative_to(root))
        text = blank(path.read_text())
        lines = text.split("\n")
        if len(lines) > MAX_FILE:
            findings.append(f"{name}: {len(lines)} lines; more than {MAX_FILE} are several ideas")
        findings += [f"{name}:{n}: {what}" for n, what in check_functions(lines)]
        findings += [f"{name}:{n}: {what}" for n, what in check_calls(name, lines)]
        if path.suffix == ".h":
            for tag in TAG.findall(text):
                tags.setdefault(tag, []).append(name)
    findings += [f"{' and '.join(names)}: both define \"{tag}\""
                 for tag, names in sorted(tags.items()) if len(names) > 1]
    print(*findings, f"{len(files)} files, {len(findings)} findings", sep="\n")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
