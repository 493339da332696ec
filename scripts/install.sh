# shellcheck shell=bash
# install.sh - puts a built keel where a shell finds it, and removes it again. Sourced by run.sh.

# What is installed, as "FROM MODE TO": FROM in the build directory, or the source for docs/keel.1.
INSTALLED="keel 755 bin/keel
keel-exec 755 libexec/keel/keel-exec
keel-media 755 libexec/keel/keel-media
docs/keel.1 644 share/man/man1/keel.1
docs/keel 644 share/bash-completion/completions/keel
docs/_keel 644 share/zsh/site-functions/_keel
docs/keel.fish 644 share/fish/vendor_completions.d/keel.fish"

# quoted TEXT: as a word that can be pasted into a shell.
quoted() {
  case $1 in
  '' | *[!A-Za-z0-9_./,:=@%+-]*) printf "'%s'\n" "${1//\'/\'\\\'\'}" ;;
  *) printf '%s\n' "$1" ;;
  esac
}

# prefix_of --install[=DIR] [DIR]: DIR, absolute; else /usr/local for root, ~/.local for everybody
# else.
prefix_of() {
  local option=${1%%=*} dir
  if [ "$1" != "$option" ]; then
    dir=${1#*=}
    shift
  elif [ $# -gt 1 ]; then
    dir=$2
    shift 2
  elif [ "$(id -u)" = 0 ]; then
    dir=/usr/local
    shift
  elif [ -n "${HOME-}" ]; then
    dir=$HOME/.local
    shift
  else
    say "HOME is not set; name a directory: $option=DIR" && return 2
  fi
  [ $# = 0 ] || { say "$option takes one directory; \"$1\" is one argument too many" && return 2; }
  case $dir in
  '') say "$option= needs a directory: $option=DIR" && return 2 ;;
  -*) say "$option takes a directory, not the option $dir; for a name like that: $option=./$dir" && return 2 ;;
  /*) printf '%s\n' "$dir" ;;
  *) printf '%s/%s\n' "$PWD" "$dir" ;;
  esac
}

# install_keel SOURCE BUILD PREFIX
install_keel() {
  while read -r from mode to; do
    file=$2/$from
    [ "$from" != docs/keel.1 ] || file=$1/$from
    [ -e "$file" ] || continue # keel-media, where its libraries are missing
    if ! mkdir -p "$3/${to%/*}" || ! install -m "$mode" "$file" "$3/$to"; then
      say "Could not write to $3. Install elsewhere with --install=DIR, or as root."
      return 1
    fi
  done <<EOF
$INSTALLED
EOF
  say "Installed $3/bin/keel."
  case :$PATH: in
  *:"$3/bin":*) say "Next: keel doctor" ;;
  *)
    if [ "$3" = "${HOME-}/.local" ] && grep -qs '^[^#]*\.local/bin' "$HOME/.profile"; then
      say "Your ~/.profile puts $3/bin on your PATH when you log in again. In this shell:"
    else
      say "$3/bin is not on your PATH. Add this line to ~/.profile and log in again:"
    fi
    say "  export PATH=$(quoted "$3/bin"):\"\$PATH\""
    ;;
  esac
}

# uninstall_keel PREFIX: removes these files, and the directory that only keel uses.
uninstall_keel() {
  n=0
  while read -r from mode to; do
    [ -e "$1/$to" ] || continue
    rm "$1/$to" || {
      say "Could not remove $1/$to."
      return 1
    }
    n=$((n + 1))
  done <<EOF
$INSTALLED
EOF
  rmdir "$1/libexec/keel" 2>/dev/null || :
  if [ "$n" = 0 ]; then
    say "Nothing of keel is installed in $1."
  else
    say "Removed keel from $1. Settings and sessions in ~/.keel are kept."
  fi
}
