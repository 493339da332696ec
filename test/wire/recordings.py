#!/usr/bin/env python3
"""recordings.py KEEL SHARED: decodes recorded provider answers, whole and in pieces, and compares.
In pieces of one size of two, drawn with a seed that is printed; of both with KEEL_TEST_DEPTH=all."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))

import keel_test  # noqa: E402

keel, shared = keel_test.KEEL, pathlib.Path(sys.argv[1])
check = shared / "tools/wire_check.py"
if not check.exists():
    print(f"SKIPPED: {check} is not there, so recorded traffic cannot be compared")
    sys.exit(77)
status = 0
for chunk in (None, *keel_test.sample(["7", "1"], 1)):
    command = [sys.executable, str(check), keel, str(shared / "wire"), "--show", "20"]
    result = subprocess.run(command + (["--chunk", chunk] if chunk else []), text=True,
                            capture_output=True, check=False)
    print(f"chunks of {chunk or 'any size'}:\n{result.stdout}{result.stderr}", end="")
    status |= result.returncode
sys.exit(status)
