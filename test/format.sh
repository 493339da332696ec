#!/bin/sh
# format.sh ROOT - is every source file as clang-format would write it? Other versions than 19, which
# Debian 12 and 13 both have, write some things otherwise.
set -eu
cd "$1"
command -v clang-format-19 >/dev/null || {
    echo "SKIPPED: clang-format-19 is not there"
    exit 77
}
find src test bench include -name '*.[ch]' | xargs clang-format-19 --dry-run --Werror
