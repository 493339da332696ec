#!/bin/sh
# tsan.sh - keel compiles with clang without a warning; the tests of src/sys, and of notices and
# walks between threads, under ThreadSanitizer, with a thread behind every task.
#
# ThreadSanitizer does not follow swapcontext(), and dies above some thousand threads: the tests
# make fewer tasks in this build (see test/unit/sys/tasks.h).
set -eu
cd "$(dirname "$0")/.."
build=build-tsan

[ -f $build/build.ninja ] ||
    CC=clang-19 meson setup $build -Db_sanitize=thread -Db_lundef=false -Dtask_threads=true -Dwerror=true
[ "${1-}" != --setup ] || exit 0
tests=$(meson test -C $build --list 2>/dev/null | grep -o 'unit/sys/[a-z0-9_]*')
ninja -C $build keel keel-exec test/unit/misbehave test/unit/proc-host test/unit/writes \
    test/unit/test-sandbox-plan-mode_walk test/unit/test-sandbox-watch-write_notices \
    $(echo "$tests" | sed 's|unit/sys/|test/unit/test-sys-|')
TSAN_OPTIONS=halt_on_error=1 meson test -C $build --no-rebuild --print-errorlogs $tests \
    unit/sandbox/plan/mode_walk unit/sandbox/watch/write_notices-user
