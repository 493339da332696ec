#!/bin/sh
# soname.sh CC LIBRARY - the name that a program which is linked with LIBRARY asks for:
# "libgumbo.so.3". Debian 12 and 13 have different ones. meson.build calls it.
set -eu
file=$("$1" -print-file-name="lib$2.so")
objdump -p "$file" | awk '$1 == "SONAME" { print $2 }'
