#!/usr/bin/env bash
# run.sh [ARGS] - builds keel (installing what is missing) and runs it with the arguments.
# Alone and without any provider set up, it shows a demonstration.
set -euo pipefail
top=$(cd "$(dirname "$0")" && pwd)
. "$top/scripts/packages.sh"

# shellcheck disable=SC2086
install_packages "the build" $BUILD_PACKAGES

build=$top/build
if [ ! -f "$build/build.ninja" ]; then
  say "Setting up the build in build/ ..."
  meson setup "$build" "$top" --buildtype=release -Db_lto=true -Dtests=false >"$top/.build.log" 2>&1 || {
    cat "$top/.build.log" >&2
    say "The build could not be set up; the reason stands above."
    exit 1
  }
  rm -f "$top/.build.log"
fi
if ! ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'; then
  say "Building ..."
fi
log=$(ninja -C "$build" 2>&1) || {
  printf '%s\n' "$log" >&2
  say "The build failed; the reason stands above."
  exit 1
}

if [ $# -eq 0 ] && ! "$build/keel" config provider >/dev/null 2>&1; then
  set -- demo
fi
exec "$build/keel" "$@"
