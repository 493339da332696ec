"""Runs every function test_*() of the files beside this one."""
import pathlib
import sys
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent), str(here)]
sys.dont_write_bytecode = True


def tests():
    for path in sorted(here.glob("test_*.py")):
        module = __import__(path.stem)
        for name in sorted(vars(module)):
            if name.startswith("test_"):
                yield f"{path.stem}.{name}", getattr(module, name)


def main():
    n, failed = 0, 0
    for name, test in tests():
        n += 1
        try:
            test()
            print(f"ok      {name}")
        except Exception:
            failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}")
    print(f"{n - failed} of {n} passed")
    return bool(failed)


sys.exit(main())
