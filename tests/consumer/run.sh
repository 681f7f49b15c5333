#!/bin/sh
# Installs a built tree into a temporary folder, then builds and runs the
# program beside this script against it: shared and static by CMake, and both
# again by pkg-config.
# Usage: run.sh BUILD_FOLDER [CMAKE [CXX]]
set -eu

build=$(cd "$1" && pwd)
cmake=${2:-cmake}
export CXX="${3:-c++}"
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Installed here, used there: a package may not remember where it was made.
"$cmake" --install "$build" --prefix "$work/made" >/dev/null
mv "$work/made" "$work/moved"
prefix=$work/moved
library_folder=$(dirname "$(find "$prefix" -name librill.a)")
export PKG_CONFIG_PATH="$library_folder/pkgconfig"

say() { printf '%-20s' "$1"; }

check_headers() {
  unwanted=$(find "$prefix/include" -name '*_impl.h' -o -name '*internal*' -o -path '*/kernels/*')
  if [ -n "$unwanted" ]; then
    echo "private headers were installed: $unwanted"
    exit 1
  fi
}

# $1: the program; $2: shared or static.
check_program() {
  output=$(LD_LIBRARY_PATH=$library_folder "$1") || { echo "$output"; exit 1; }
  echo "$output" | tr '\n' ' '
  echo
  ops=$(echo "$output" | grep ' ops$')
  if [ "$ops" != "${first_ops:=$ops}" ]; then
    echo "this program has $ops, the first one $first_ops: the archive lost some"
    exit 1
  fi
  if [ "$2" = static ] && ldd "$1" | grep -q librill; then
    echo "the static program uses librill.so"
    exit 1
  fi
}

# $1: shared or static.
by_cmake() {
  say "CMake, $1:"
  "$cmake" -S "$here" -B "$work/$1" -DKIND="$1" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    "$cmake" --build "$work/$1" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  check_program "$work/$1/consumer" "$1"
}

# $1: shared or static; $2: name of the package.
by_pkg_config() {
  say "pkg-config, $1:"
  # shellcheck disable=SC2046
  $CXX -std=c++20 "$here/consumer.cc" "$here/beside.cc" -o "$work/consumer_$1" \
    $(pkg-config --cflags --libs "$2" protobuf hdf5)
  check_program "$work/consumer_$1" "$1"
}

check_headers
by_cmake shared
by_cmake static
by_pkg_config shared rill
by_pkg_config static rill-static
