#!/usr/bin/env bash
# tidy.sh [--quick] [FILE...] - clang-tidy over the sources (all by default), as .clang-tidy says.
# --quick leaves out the analyzer, which follows every path and takes ten times as long.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
build=build-tsan # of clang, whose options clang-tidy understands
[ -f $build/build.ninja ] || test/tsan.sh --setup
checks=
[ "${1-}" != --quick ] || { checks=-clang-analyzer-* && shift; }
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(find src -name '*.c' | sort)
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 8 clang-tidy-19 -p "$build" --quiet --checks="$checks" 2>/dev/null
