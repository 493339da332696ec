#!/usr/bin/env bash
# test.sh - installs what the tests need and runs all of them; test.sh --help says more.
set -euo pipefail
top=$(cd "$(dirname "$0")" && pwd)
. "$top/scripts/packages.sh"
cd "$top"

usage() {
  cat <<'END'
usage: ./test.sh [--long] [NAME... | --suite SUITE]

Installs the packages that the tests need, builds keel with AddressSanitizer and
UndefinedBehaviorSanitizer in build-test/, and runs all tests, or only those with these names.

  --long         full depth: tests that try a sample try everything (KEEL_TEST_DEPTH=all).
                 Takes hours instead of about 15 minutes
  --suite SUITE  only the tests of a suite: unit, wire, fuzz, cli, flow, crash, attack or sdk
  --help         this text

Names are those that "meson test -C build-test --list" prints, such as unit/base/json.
END
}

refuse() {
  say "test.sh: $1. Run ./test.sh --help to see what it takes."
  exit 2
}

arguments=("$@")
patience=1 # time-outs of tests are multiplied by it
only=()
while [ $# -gt 0 ]; do
  case $1 in
  --help | -h) usage && exit ;;
  --long) export KEEL_TEST_DEPTH=all && patience=20 ;;
  --suite)
    [ $# -gt 1 ] || refuse "--suite needs the name of a suite"
    only+=(--suite "$2") && shift
    ;;
  -*) refuse "unknown option $1" ;;
  *) only+=("$1") ;;
  esac
  shift
done

# shellcheck disable=SC2086
install_packages "the tests" $BUILD_PACKAGES $TEST_PACKAGES

# Run by root, the tests also act as an ordinary user, who must be able to read this tree. One that
# only root can read, as below /root, is mounted at a second place for the length of the tests.
can_be_read() { setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$top/test.sh"; }
if [ "$(id -u)" = 0 ] && ! can_be_read; then
  place=/run/keel-tests
  [ "$top" != $place/keel ] || refuse "other users cannot read this tree; chmod -R go+rX it"
  exec unshare --mount sh -euc 'top=$1 place=$2
    shift 2
    mkdir -p "$place"
    mount -t tmpfs -o mode=755 tmpfs "$place"
    mkdir "$place/keel"
    mount --bind "$top" "$place/keel"
    [ ! -d "$top/../shared" ] || { mkdir "$place/shared" && mount --bind "$top/../shared" "$place/shared"; }
    cd "$place/keel"
    exec ./test.sh "$@"' sh "$top" $place ${arguments[@]+"${arguments[@]}"}
fi

build=$top/build-test
if [ ! -f "$build/build.ninja" ]; then
  # -O1: AddressSanitizer is made for it, and tests take a third of the time
  meson setup "$build" "$top" -Dbuildtype=debug -Doptimization=1 \
    -Db_sanitize=address,undefined -Dwerror=true -Dbench=true
fi
ninja -C "$build"

# Many tests wait for processes and time-outs: more of them than cores keep the cores busy.
run_meson() {
  meson test -C "$build" --print-errorlogs --timeout-multiplier $patience \
    --num-processes $(($(nproc) * 2)) "$@"
}
if [ ${#only[@]} -gt 0 ]; then
  run_meson "${only[@]}"
  exit
fi

failed=0
run() {
  say "== $1"
  shift
  "$@" || { say "FAILED: $*"; failed=1; }
}
# meson counts programs; a program may pass and yet have skipped tests. This prints those, and why.
count_skips() {
  log=$build/meson-logs/testlog.txt
  n=$(awk '/SKIPPED TEST/ { n += $1 } match($0, /skipped=[0-9]+/) { n += substr($0, RSTART + 8, RLENGTH - 8) }
    END { print n + 0 }' "$log")
  say "Tests skipped inside programs that passed: $n"
  grep -oE 'SKIPPED(:| because) .*[^] ]' "$log" | sort | uniq -c >&2 || true
  grep -oE '^\[  SKIPPED \] [a-z0-9_]+$' "$log" | sort -u >&2 || true
}
run "unit, wire, fuzz corpora and command line, under ASan and UBSan" run_meson
count_skips

# Two builds, and what is done with each. Side by side, one has the cores while the other links or
# waits; what the first of them prints comes when both have ended.
with_clang() {
  run "compiled by clang; tasks as threads, under ThreadSanitizer" test/tsan.sh
  run "clang-tidy" scripts/tidy.sh $([ "${KEEL_TEST_DEPTH-}" = all ] || echo --quick)
  return $failed
}
as_shipped() {
  run "tasks, under Valgrind" test/valgrind.sh
  run "killed anywhere" test/crash.sh
  [ "${KEEL_TEST_DEPTH-}" != all ] || run "raced while walls are built" test/race.sh
}
with_clang >"$build/with-clang.log" 2>&1 &
as_shipped
wait $! || failed=1
cat "$build/with-clang.log" >&2
exit $failed
