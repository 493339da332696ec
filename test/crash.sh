#!/bin/sh
# crash.sh - kills keel at boundaries and at random moments (test/crash/crash_test.py), and every
# `keel session ...` that changes something (test/crash/command_test.py), in the build that is shipped
# (release.sh): a fifth of it, or with KEEL_TEST_DEPTH=all at every boundary and 1,000 moments.
set -eu
cd "$(dirname "$0")/.."
. test/release.sh

ninja -C $build keel keel-exec test/fault.so
KEEL_TEST_DEPTH=${KEEL_TEST_DEPTH:-more} meson test -C $build --no-rebuild --print-errorlogs crash crash/commands
