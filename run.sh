#!/usr/bin/env bash
# run.sh [ARGS]       builds keel (installing what is missing) and runs it with the arguments;
#                     alone it shows a demonstration and says how to continue
# run.sh --install    puts keel, its helpers, the manual page and completions on PATH: into
#                     /usr/local as root, else into ~/.local; --install DIR into DIR
# run.sh --uninstall  removes them again; --uninstall DIR from DIR
# run.sh --help       prints this; run.sh help prints the help of keel
if [ -z "${BASH_VERSION-}" ]; then # sh run.sh
  command -v bash >/dev/null || { echo "run.sh needs bash; install it first." >&2 && exit 1; }
  exec bash "$0" "$@"
fi
set -euo pipefail
top=$(cd "$(dirname "$0")" && pwd)
build=$top/build
. "$top/scripts/packages.sh"
. "$top/scripts/install.sh"

log=
trap '[ -z "$log" ] || rm -f "$log"' EXIT

# The step that is interrupted may write its standard error to a log.
interrupted() {
  exec 2>&3
  [ ! -t 2 ] || printf '\r\033[K' >&2
  say "Interrupted. Run this again to continue."
  exit 130
}

fail() {
  cat "$log" >&2
  say "$1"
  exit 1
}

# owner_of FILE: of the file, or of the directory in which it would be made.
owner_of() {
  stat -c %U "$1" 2>/dev/null || stat -c %U "$(dirname "$1")"
}

build_keel() {
  log=$(mktemp)
  if [ -f "$build/build.ninja" ] && ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'; then
    return
  fi
  if ! mkdir -p "$build" 2>/dev/null || [ ! -w "$build" ]; then
    fail "Cannot write to $build, which belongs to $(owner_of "$build"). Build as that user, or remove it first."
  fi
  if [ ! -f "$build/build.ninja" ]; then
    say "Setting up the build in $build ..."
    meson setup "$build" "$top" --buildtype=release -Db_lto=true -Dtests=false >"$log" 2>&1 ||
      fail "The build could not be set up; see the output above."
  fi
  say "Building keel; the first time takes a few minutes, the last step longest ..."
  : >"$log"
  if [ -t 2 ]; then
    ninja -C "$build" 2>&1 | follow "$log" "[" || fail "The build failed; see the output above."
  else
    ninja -C "$build" >"$log" 2>&1 || fail "The build failed; see the output above."
  fi
}

say_next() {
  local keel script=$0
  keel=$(quoted "$build/keel")
  case $script in */*) ;; *) script=./$script ;; esac
  say ""
  say "The program is $keel. To put it on your PATH: $(quoted "$script") --install"
  if "$build/keel" config provider >/dev/null 2>&1; then
    say "Next: $keel \"what does this project do?\""
  else
    say "Next: export ANTHROPIC_API_KEY=... ($keel doctor names the others), then"
    say "      $keel \"what does this project do?\""
  fi
}

# The prefix is known before the build: nobody waits for minutes to learn that it is missing.
prefix=
case ${1-} in
-h | --help)
  sed -n '2,/^[^#]/s/^# //p' "$0"
  exit
  ;;
--install | --install=* | --uninstall | --uninstall=*) prefix=$(prefix_of "$@") ;;
-install* | --instal* | -uninstall* | --uninstal*)
  say "Unknown option $1. Did you mean --install or --uninstall?"
  exit 2
  ;;
esac
case ${1-} in
--uninstall | --uninstall=*)
  uninstall_keel "$prefix"
  exit
  ;;
esac

exec 3>&2
trap interrupted INT
# shellcheck disable=SC2086
install_packages "the build" $BUILD_PACKAGES
build_keel
trap - INT
exec 3>&-

if [ -n "$prefix" ]; then
  install_keel "$top" "$build" "$prefix"
elif [ $# = 0 ]; then
  "$build/keel" demo --no-next
  say_next
else
  exec "$build/keel" "$@"
fi
