#!/bin/sh
# valgrind.sh - the tests of src/sys under Valgrind: no leak, no invalid access, on real fibers, in
# the build that is shipped (release.sh).
#
# Those of processes are left out: Valgrind 3.19 knows no pidfds and does not survive an execve()
# that fails, which they test.
set -eu
cd "$(dirname "$0")/.."
. test/release.sh

tests=$(meson test -C $build --list 2>/dev/null | grep -o 'unit/sys/[a-z0-9_]*' | grep -v 'unit/sys/proc')
ninja -C $build $(echo "$tests" | sed 's|unit/sys/|test/unit/test-sys-|')
meson test -C $build --no-rebuild --print-errorlogs --timeout-multiplier 10 \
    --wrap 'valgrind --quiet --error-exitcode=9 --leak-check=full' $tests
