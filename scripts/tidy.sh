#!/usr/bin/env bash
# tidy.sh [FILE...] - clang-tidy over the sources (all by default).
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build-tidy
[ -f "$build/build.ninja" ] || CC=clang meson setup "$build" "$top" -Dbuildtype=debug >/dev/null
cd "$top"
[ $# -gt 0 ] || mapfile -t files < <(git ls-files 'src/*.c')
[ $# -eq 0 ] || files=("$@")
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet
