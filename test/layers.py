#!/usr/bin/env python3
"""layers.py ROOT: checks every #include in src/ against docs/layers.txt, which allows nothing that
is not used, and that the engine names no protocol."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
allowed = {}
for line in (root / "docs/layers.txt").read_text().splitlines():
    if line.strip() and not line.startswith("#"):
        name, below = line.split(":")
        allowed[name] = set(below.split()) | {name}

problems, n_includes = [], 0
used = {name: set() for name in allowed}
for path in sorted((root / "src").rglob("*.[ch]")):
    folder = path.relative_to(root / "src").parts[0]
    if folder not in allowed:
        problems.append(f"{path}: the folder {folder} is not listed in docs/layers.txt")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match:
            continue
        n_includes += 1
        target = match.group(1).split("/")[0]
        used[folder].add(target)
        if "/" not in match.group(1):
            problems.append(f"{path}:{number}: write includes from src/: \"{folder}/{target}\"")
        elif target not in allowed[folder]:
            problems.append(f"{path}:{number}: {folder} must not include {target}")

for name in allowed:
    for target in sorted(allowed[name] - used[name] - {name}):
        problems.append(f"docs/layers.txt: {name} may include {target}, and does not")

# What differs between protocols is in what their providers bring (model/message_form.h).
names = {match.split("-")[0] for path in (root / "src/provider").glob("*/*.c")
         for match in re.findall(r'^    \.name = "([a-z-]+)",', path.read_text(), re.M)}
for path in sorted((root / "src/engine").glob("*.[ch]")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if any(re.search(rf"{name}", line, re.I) for name in names):
            problems.append(f"{path}:{number}: the engine knows no protocol by its name")
if not names:
    problems.append("no protocol was found in src/provider")

for text in problems:
    print(text)
print(f"{n_includes} includes checked, {len(problems)} problems")
sys.exit(1 if problems or n_includes == 0 else 0)
