#!/usr/bin/env python3
"""code.py ROOT - checks what a reader relies on in src/ and include/: a function is one thought, a
file one idea, a tag has one meaning, a header has several users, and no banned call is made."""
import collections
import pathlib
import re
import sys

MAX_FUNCTION = 50  # lines that say something: neither a label nor a break
MAX_FILE = 760

# Nine of ten functions are at most this long. Below the range the code is in splinters: helpers
# that repeat their line. Above it a function holds several thoughts.
P90_LINES = range(16, 31)

# Headers in src/ that one file includes, or none, beside their own .c; tests count as users. A
# header exists because several files need it, or because it is a contract. The number only shrinks.
MAX_HEADERS_WITH_ONE_USER = 35

# Tags that still have several meanings, with the number of files that define them. The list only
# shrinks. The two kinds of fibers are alternatives: one of them is built.
DOUBLED_TAGS = {
    "fiber": 2,
    "fiber_pool": 2,
}

# The call on the left is banned; the text on the right says what to use.
BANNED = {
    "strcpy strcat strncpy strncat sprintf vsprintf gets": "struct strbuf",
    "malloc calloc realloc strdup strndup": "mem_alloc() or an arena (base/mem.h)",
    "atoi atol atoll atof": "str_to_int() and its like, which report errors",
    "strtok asctime ctime gmtime localtime readdir_r": "calls that keep no state",
    "system popen": "proc_run()",
    "tmpnam tempnam mktemp": "struct temp_file",
    "alloca setjmp longjmp rand srand usleep": "none of it is needed",
}
# These wrap a banned call, or use a library that offers no other way.
MAY_CALL = {"src/base/mem.c": {"malloc", "calloc", "realloc"},
            "src/tool/html/tree.c": {"setjmp", "longjmp"}}

# Comments, strings and characters, which are blanked; lines stay lines.
IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")
TAG = re.compile(r"^[ \t]*(?:static |extern |typedef |const )*(?:struct|union|enum) (\w+)\s*\{", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
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


def without_tables(lines):
    """How many lines, but for the rows of tables: a table is one idea, however long."""
    n, in_table = 0, False
    for line in lines:
        in_table = in_table and not line.startswith("}")
        n += not in_table
        in_table = in_table or bool(re.match(r"(static )?const .*= \{$", line))
    return n


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


def check_tags(tags):
    """A struct, union or enum tag is defined in one file, so that a name has one meaning."""
    for tag, names in sorted(tags.items()):
        if len(names) > DOUBLED_TAGS.get(tag, 1):
            yield f"{' and '.join(sorted(names))}: both define \"{tag}\""
    for tag, n in DOUBLED_TAGS.items():
        if len(tags[tag]) < n:
            yield f"test/code.py: DOUBLED_TAGS has {n} for \"{tag}\"; {len(tags[tag])} are left"


def headers_with_one_user(users, headers):
    for header in headers:
        if len(users[header] - {header[:-1] + "c"}) <= 1:
            yield header


def check_grain(lengths, lonely):
    p90 = sorted(lengths)[len(lengths) * 9 // 10]
    print(f"{len(lengths)} functions, nine of ten of at most {p90} lines; "
          f"{len(lonely)} headers with one user")
    if p90 not in P90_LINES:
        yield (f"nine of ten functions have at most {p90} lines; "
               f"{P90_LINES[0]} to {P90_LINES[-1]} is the range")
    if len(lonely) > MAX_HEADERS_WITH_ONE_USER:
        yield (f"{len(lonely)} headers have at most one user, and {MAX_HEADERS_WITH_ONE_USER} may: "
               f"move one into the file that includes it ({', '.join(lonely)})")


def unlisted_tests(root):
    """A test that no meson.build names never runs."""
    named = "\n".join(p.read_text() for p in (root / "test").rglob("meson.build"))
    for path in sorted(p for end in ("c", "py") for p in (root / "test").rglob(f"*_test.{end}")):
        if path.suffix == ".py" and '__name__ == "__main__"' not in path.read_text():
            continue  # what tests share
        name = path.relative_to(root / "test").as_posix().removeprefix("unit/")
        known = {name, name.rsplit("_test", 1)[0], path.name, path.stem.removesuffix("_test")}
        if not any(f"'{word}'" in named for word in known):
            yield f"{path.relative_to(root)}: no meson.build names it, so it never runs"


def main(root):
    findings, lengths = [], []
    tags, users = collections.defaultdict(set), collections.defaultdict(set)
    files = sorted(p for d in ("src", "include") for p in (root / d).rglob("*.[ch]"))
    for path in files:
        name = str(path.relative_to(root))
        text = blank(path.read_text())
        lines = text.split("\n")
        if without_tables(lines) > MAX_FILE:
            findings.append(f"{name}: {len(lines)} lines; more than {MAX_FILE} are several ideas")
        findings += [f"{name}:{n}: {what}" for n, what in check_functions(lines)]
        findings += [f"{name}:{n}: {what}" for n, what in check_calls(name, lines)]
        for tag in TAG.findall(text):
            tags[tag].add(name)
        if path.suffix == ".c":
            lengths += [len(body) for _, body in functions(lines)]
    for path in (p for d in ("src", "include", "test", "bench") for p in (root / d).rglob("*.[ch]")):
        for header in INCLUDE.findall(path.read_text()):
            users["src/" + header].add(str(path.relative_to(root)))
    headers = [str(p.relative_to(root)) for p in files if p.suffix == ".h" and "src" in p.parts]
    findings += check_tags(tags)
    findings += check_grain(lengths, list(headers_with_one_user(users, headers)))
    findings += unlisted_tests(root)
    print(*findings, f"{len(files)} files, {len(findings)} findings", sep="\n")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
