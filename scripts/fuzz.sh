#!/usr/bin/env bash
# fuzz.sh [SECONDS] [TARGET...] - runs the libFuzzer targets (all by default), 60 s each.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-60}
shift || true
build=$top/build-fuzz
[ -f "$build/build.ninja" ] || CC=clang-19 meson setup "$build" "$top" -Dbuildtype=debugoptimized \
  -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true -Dtests=true
if [ $# -eq 0 ]; then
  for path in "$top"/test/fuzz/*_fuzz.c; do name=$(basename "$path" _fuzz.c); set -- "$@" "$name"; done
fi
# Only what runs: programs that bring their own libc cannot be linked with the fuzzer's.
ninja -C "$build" "${@/#/test/fuzz/fuzz-}"
for target in "$@"; do
  echo "== $target"
  work=$(mktemp -d)
  "$build/test/fuzz/fuzz-$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=25 \
    -print_final_stats=1 "$work" "$top/test/fuzz/corpus/$target" 2>&1 | tail -n 12
  rm -rf "$work"
done
