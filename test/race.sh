#!/bin/sh
# race.sh - commands that exchange files while sandboxes are built on them (test/attack/race_test.py),
# in the build that is shipped (release.sh), where building a sandbox takes as long as for people:
# every shape, as root and as a user, with and without namespaces, 500 tries each.
set -eu
cd "$(dirname "$0")/.."
. test/release.sh

ninja -C $build keel keel-exec test/race
KEEL_TEST_DEPTH=all KEEL_RACE_TRIES=${KEEL_RACE_TRIES:-500} KEEL_EXEC=$PWD/$build/keel-exec \
    python3 test/attack/race_test.py $build/test/race $build/keel "$@"
