#!/usr/bin/env python3
"""library.py LIBKEEL ROOT CC CC-ARGS...: libkeel shows only keel_*; its header is C89 and C++."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

library = pathlib.Path(sys.argv[1]).resolve()
root, compiler, cc_args = sys.argv[2], sys.argv[3], sys.argv[4:]
program = r"""
#include <keel/keel.h>
#include <string.h>
int main(void)
{
    keel_error_info info;
    size_t i;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    if (strcmp(keel_version(), VERSION) != 0) return 1;
    if (!keel_error_find("RATE_LIMIT_ERROR", &info)) return 2;
    if (strcmp(info.code, "provider_rate_limit") != 0 || info.http_status != 429) return 3;
    for (i = 0; i < keel_error_count(); i++)
        if (!keel_error_at(i, &info) || !info.code) return 4;
    if (keel_error_at(i, &info) || keel_error_find("nonsense", &info)) return 5;
    info.size = sizeof(size_t) + sizeof(char *); /* an older program knows fewer fields */
    info.category = "untouched";
    if (!keel_error_at(0, &info) || strcmp(info.category, "untouched") != 0) return 6;
    return 0;
}
"""

symbols = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, text=True,
                         capture_output=True).stdout.split("\n")
names = [line.split()[-1].split("@")[0] for line in symbols if line.strip()]
foreign = [n for n in names if not n.startswith("keel_") and not n.startswith("__")]
print(f"{len(names)} symbols, foreign: {foreign}")
failed = bool(foreign) or "keel_version" not in names

version = library.name.split(".so.")[-1] if ".so." in library.name else "0.1.0"
strict = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror", f'-DVERSION="{version}"',
          f"-I{root}/include"]


def run(what, *command):
    result = subprocess.run(command, env=dict(os.environ), text=True, capture_output=True,
                            check=False)
    print(f"{what}: {'ok' if result.returncode == 0 else f'failed ({result.returncode})'} "
          f"{result.stderr}")
    return result.returncode == 0


with tempfile.TemporaryDirectory() as directory:
    source, host = pathlib.Path(directory, "host.c"), pathlib.Path(directory, "host")
    source.write_text(program)
    failed |= not (run("a C89 program builds", compiler, "-std=c89", *strict, str(source), "-o",
                       str(host), f"-L{library.parent}", f"-l:{library.name}",
                       f"-Wl,-rpath,{library.parent}", *cc_args) and run("it runs", str(host)))
    if shutil.which("c++"):
        failed |= not run("the header is C++", "c++", "-x", "c++", "-std=c++11", "-fsyntax-only",
                          *strict, str(source))
    else:
        print("no C++ compiler here: the header is checked as C only")
sys.exit(1 if failed else 0)
