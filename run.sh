#!/usr/bin/env bash
# run.sh [ARGS]       builds keel (installing what is missing) and runs it with the arguments;
#                     alone it shows a demonstration and says how to continue
# run.sh --install    puts keel, its helpers, the manual page and completions on PATH: into
#                     /usr/local as root, else into ~/.local; --install=DIR into DIR
# run.sh --uninstall  removes them again; --uninstall=DIR from DIR
set -euo pipefail
top=$(cd "$(dirname "$0")" && pwd)
build=$top/build
. "$top/scripts/packages.sh"
. "$top/scripts/install.sh"

log=
trap '[ -z "$log" ] || rm -f "$log"' EXIT

fail() {
  cat "$log" >&2
  say "$1"
  exit 1
}

# Shows ninja's progress in one line that is rewritten; everything goes to the log.
follow() {
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    case $line in
    \[*) printf '\r\033[K%.79s' "$line" >&2 ;;
    esac
  done
  printf '\r\033[K' >&2
}

build_keel() {
  log=$(mktemp)
  if [ ! -f "$build/build.ninja" ]; then
    say "Setting up the build in $build ..."
    meson setup "$build" "$top" --buildtype=release -Db_lto=true -Dtests=false >"$log" 2>&1 ||
      fail "The build could not be set up; see the output above."
  fi
  if ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'; then
    return
  fi
  say "Building keel; this takes a few minutes the first time ..."
  : >"$log"
  if [ -t 2 ]; then
    ninja -C "$build" 2>&1 | follow || fail "The build failed; see the output above."
  else
    ninja -C "$build" >"$log" 2>&1 || fail "The build failed; see the output above."
  fi
}

say_next() {
  say ""
  say "The program is $build/keel. To put it on your PATH: $0 --install"
  if "$build/keel" config provider >/dev/null 2>&1; then
    say "Next: $build/keel \"what does this project do?\""
  else
    say "Next: export ANTHROPIC_API_KEY=... (keel doctor names the others), then"
    say "      $build/keel \"what does this project do?\""
  fi
}

case ${1-} in
--uninstall | --uninstall=*)
  uninstall_keel "$(prefix_of "$1")"
  exit
  ;;
esac

# shellcheck disable=SC2086
install_packages "the build" $BUILD_PACKAGES
build_keel

case ${1-} in
--install | --install=*) install_keel "$top" "$build" "$(prefix_of "$1")" ;;
'')
  "$build/keel" demo
  say_next
  ;;
*) exec "$build/keel" "$@" ;;
esac
