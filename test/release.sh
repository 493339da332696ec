# release.sh - sets up build-release: what run.sh builds, with its warnings as errors. Sourced.
build=build-release
[ -f $build/build.ninja ] ||
    meson setup $build --buildtype=release -Db_lto=true -Ddebug=true -Dwerror=true
