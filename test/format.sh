#!/bin/sh
# format.sh ROOT - is every source file as clang-format would write it?
set -eu
cd "$1"
command -v clang-format >/dev/null || {
    echo "SKIPPED: clang-format is not there"
    exit 77
}
find src test bench include -name '*.[ch]' | xargs clang-format --dry-run --Werror
