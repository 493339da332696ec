"""Reads lines from standard input and prints what each is."""
import sys

from calc import Scope, calculate


def main():
    scope = Scope()
    for line in sys.stdin:
        if line.strip():
            print(calculate(line.rstrip("\n"), scope))


if __name__ == "__main__":
    main()
