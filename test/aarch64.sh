#!/bin/sh
# aarch64.sh ROOT - does every source file compile for 64-bit ARM? Nothing is linked or run. The
# headers of libraries are those of this machine: they say the same for both.
set -eu
cd "$1"
cc=aarch64-linux-gnu-gcc
command -v "$cc" >/dev/null || {
  echo "SKIPPED: $cc is missing (packages gcc-aarch64-linux-gnu and libc6-dev-arm64-cross)"
  exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Only these, so that no other header of this machine is found.
host=$(cc -print-multiarch)
for name in uv.h uv pcre2.h yaml.h gumbo.h tag_enum.h md4c.h sqlite3.h libpq-fe.h \
  postgres_ext.h pg_config_ext.h; do
  for place in "/usr/include/$host" /usr/include /usr/include/postgresql; do
    [ ! -e "$place/$name" ] || ln -sf "$place/$name" "$dir/$name"
  done
done
mkdir "$dir/openssl"
ln -s /usr/include/openssl/* "$dir/openssl"
[ ! -d "/usr/include/$host/openssl" ] || ln -sf "/usr/include/$host/openssl"/* "$dir/openssl"

find src -name '*.c' | xargs -P "$(nproc)" -n 16 sh -c '
  dir=$1 cc=$2
  shift 2
  for file in "$@"; do
    "$cc" -std=gnu17 -fsyntax-only -D_GNU_SOURCE -DKEEL_VERSION=\"0\" -DKEEL_LIBEXECDIR=\"/\" \
      -Isrc -Iinclude -I"$dir" -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
      -Werror "$file" || exit 255
  done' aarch64 "$dir" "$cc"
echo "$(find src -name '*.c' | wc -l) files compile"
