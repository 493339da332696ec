#!/usr/bin/env bash
# test.sh - installs what the tests need and runs all of them.
# test.sh NAME... runs only the tests (or suites) of these names.
set -euo pipefail
top=$(cd "$(dirname "$0")" && pwd)
. "$top/scripts/packages.sh"
cd "$top"

# shellcheck disable=SC2086
install_packages "the tests" $BUILD_PACKAGES $TEST_PACKAGES

build=$top/build-test
if [ ! -f "$build/build.ninja" ]; then
  # -O1: AddressSanitizer is made for it, and tests take a third of the time
  meson setup "$build" "$top" -Dbuildtype=debug -Doptimization=1 \
    -Db_sanitize=address,undefined -Dwerror=true
fi
ninja -C "$build"

if [ $# -gt 0 ]; then
  exec meson test -C "$build" --print-errorlogs "$@"
fi

failed=0
run() {
  say "== $1"
  shift
  "$@" || { say "FAILED: $*"; failed=1; }
}
# meson counts programs; a program may pass and yet have left tests out. Those are told here.
count_skips() {
  log=$build/meson-logs/testlog.txt
  n=$(awk '/SKIPPED TEST/ { n += $1 } match($0, /skipped=[0-9]+/) { n += substr($0, RSTART + 8, RLENGTH - 8) }
    END { print n + 0 }' "$log")
  say "Tests left out inside programs that passed: $n"
  grep -oE '^\[  SKIPPED \] [a-z_]+$|SKIPPED because .*[^ ]|SKIPPED: .*|^.* \.\.\. skipped .*' "$log" | sort -u >&2 || true
}
run "unit, wire, fuzz corpora and command line, under ASan and UBSan" \
  meson test -C "$build" --print-errorlogs
count_skips
run "tasks as threads, under ThreadSanitizer" test/tsan.sh
run "tasks, under Valgrind" test/valgrind.sh
run "killed anywhere" test/crash.sh
exit $failed
