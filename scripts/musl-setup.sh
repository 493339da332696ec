#!/bin/sh
# musl-setup.sh MUSL_GCC CC DIR - gets DIR ready for compiling with musl, which brings no headers of
# the kernel: links to those alone, so that no other header of the system's C library is found.
# Prints the directory of musl's start files. meson.build calls it.
set -eu
musl_gcc=$1 cc=$2 dir=$3

rm -rf "$dir"
mkdir -p "$dir"
for header in linux/mount.h asm/unistd.h asm-generic/errno.h; do
  path=$(echo "#include <$header>" | "$cc" -E -x c - | sed -n "s,.*\"\(/.*\)/${header#*/}\".*,\1,p" |
    head -n 1)
  ln -s "$path" "$dir/${header%/*}"
done
start=$("$musl_gcc" -'###' -x c /dev/null 2>&1 | tr -d '"' | tr ' ' '\n' | grep 'crt1\.o$' |
  head -n 1)
dirname "$start"
