# packages.sh - which packages keel needs, and how to get them. Sourced by run.sh and test.sh.

# make: gcc optimises a whole program on several cores only where it finds that.
BUILD_PACKAGES="gcc make libc6-dev musl-tools meson ninja-build pkg-config libuv1-dev libssl-dev
  libpcre2-dev libyaml-dev libgumbo-dev libmd4c-dev libsqlite3-dev libpq-dev libpng-dev
  libturbojpeg0-dev libwebp-dev libgif-dev libqpdf-dev ca-certificates"
TEST_PACKAGES="libcmocka-dev unicode-data clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19 valgrind python3
  nodejs git openssl patch procps man-db bash zsh fish postgresql curl libcap2-bin btrfs-progs
  python3-pip ripgrep vim less gcc-aarch64-linux-gnu libc6-dev-arm64-cross"

say() { printf '%s\n' "$*" >&2; }

# The packages among the arguments that are not installed.
missing_packages() {
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
      printf '%s ' "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Elsewhere than on Debian or Ubuntu: the names there, for the person to install.
name_packages_elsewhere() {
  say "This is not Debian or Ubuntu, so nothing is installed for you. keel needs:"
  if command -v dnf >/dev/null; then
    say "  sudo dnf install gcc musl-gcc meson ninja-build pkgconf libuv-devel openssl-devel pcre2-devel libyaml-devel gumbo-parser-devel md4c-devel sqlite-devel libpq-devel libpng-devel turbojpeg-devel libwebp-devel giflib-devel qpdf-devel"
  elif command -v pacman >/dev/null; then
    say "  sudo pacman -S gcc musl meson ninja pkgconf libuv openssl pcre2 libyaml gumbo-parser md4c sqlite postgresql-libs libpng libjpeg-turbo libwebp giflib qpdf"
  elif command -v apk >/dev/null; then
    say "  sudo apk add gcc musl-dev meson ninja pkgconf libuv-dev openssl-dev pcre2-dev yaml-dev gumbo-parser-dev md4c-dev sqlite-dev libpq-dev libpng-dev libjpeg-turbo-dev libwebp-dev giflib-dev qpdf-dev"
  elif command -v zypper >/dev/null; then
    say "  sudo zypper install gcc meson ninja pkg-config libuv-devel libopenssl-devel pcre2-devel libyaml-devel gumbo-devel md4c-devel sqlite3-devel postgresql-devel libpng16-devel libjpeg8-devel libwebp-devel giflib-devel qpdf-devel"
  else
    say "  gcc, musl-gcc, meson, ninja, pkg-config, and the headers of libuv, OpenSSL, PCRE2, libyaml, gumbo, md4c, SQLite and libpq; for images and PDF documents also libpng, libjpeg-turbo, libwebp, giflib and libqpdf"
  fi
  say "Continuing with what is installed."
}

# follow LOG PREFIX: shows the lines of standard input that begin with PREFIX, one at a time, in a
# line that is rewritten, and how long ago the last one came; everything goes to the log.
follow() {
  local line='' part='' shown='' seconds=0 status
  while :; do
    status=0
    IFS= read -r -t 1 line || status=$?
    if [ "$status" -gt 128 ]; then # nothing, or part of a line, for a second
      part=$part$line
      seconds=$((seconds + 1))
      [ -z "$shown" ] || printf '\r\033[K%.65s (%s s ago)' "$shown" "$seconds" >&2
      continue
    fi
    line=$part$line part=
    [ "$status" = 0 ] || [ -n "$line" ] || break
    printf '%s\n' "$line" >>"$1"
    case $line in
    '') ;;
    "$2"*)
      shown=$line seconds=0
      printf '\r\033[K%.79s' "$line" >&2
      ;;
    esac
  done
  printf '\r\033[K' >&2
}

# Runs apt-get and keeps what it says for the case that it fails; on a terminal it shows each line.
quiet_apt() {
  set -- as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@"
  if [ -t 2 ]; then
    "$@" </dev/null 2>&1 | follow "$apt_log" ""
  else
    "$@" </dev/null >>"$apt_log" 2>&1
  fi
}

# install_packages WHAT PACKAGE...: installs those that are missing, says what it does.
install_packages() {
  what=$1
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    name_packages_elsewhere
    return 0
  fi
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    say "Missing packages for $what: $missing"
    say "Install them as root: apt-get install $missing"
    return 1
  fi
  with=$([ "$(id -u)" = 0 ] || printf " (with sudo)")
  say "Installing packages for $what$with: $missing"
  apt_log=$(mktemp)
  # shellcheck disable=SC2086
  if quiet_apt update && quiet_apt install -y --no-install-recommends $missing; then
    rm -f "$apt_log"
    return 0
  fi
  cat "$apt_log" >&2
  rm -f "$apt_log"
  say "The packages could not be installed; see the output above. Is there a network?"
  say "Install them yourself, then run this again: apt-get install $missing"
  return 1
}
