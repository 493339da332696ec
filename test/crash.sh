#!/bin/sh
# crash.sh - kills keel at every boundary and at 1,000 random moments (test/crash/crash_test.py), and
# every `keel session ...` that changes something at every boundary (test/crash/command_test.py), in a
# build without sanitizers, in which that takes minutes and not an hour.
set -eu
cd "$(dirname "$0")/.."
build=build-valgrind # the same as the other checks of a plain build

[ -f $build/build.ninja ] || meson setup $build -Dbuildtype=debugoptimized
ninja -C $build keel keel-exec test/fault.so
KEEL_TEST_DEPTH=all meson test -C $build --no-rebuild --print-errorlogs crash crash/commands
