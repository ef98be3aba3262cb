#!/bin/sh
# Builds cdtquery for release, into .build/release. With the argument `small` it is built with the trait Command alone, that is
# without the server and replication, into .build/small/release: that takes a third of the time, and the two builds don't replace
# each other's files. With `bundled` it has the libraries of scripts/build-bundled.sh inside, and is put into .build-bundled/cdtquery
# without its symbols: it needs nothing of the system but the C library, and it says which version of that. More arguments say what
# to build instead: `--product Benchmarks`, `--target CloudantSync`.
#
# Swift's own libraries and C++'s are linked in, as finding and loading them takes much of a short command's time. Where there is
# no static libstdc++, the system's is used.
set -eu
kind=${1:-full}
[ $# -eq 0 ] || shift
[ $# -ne 0 ] || set -- --product cdtquery
cd "$(dirname "$0")/.."
if [ "$kind" = small ]; then
  set -- "$@" --traits Command --scratch-path .build/small
  # This build would forget the versions of the packages that it does not need.
  if [ -f Package.resolved ]; then
    mkdir -p .build/small
    cp Package.resolved .build/small/Package.resolved
    trap 'cp .build/small/Package.resolved Package.resolved' EXIT
  fi
fi
if [ "$kind" = bundled ]; then
  scripts/build-bundled.sh
  PKG_CONFIG_PATH=$PWD/.build-bundled/pkgconfig
  export PKG_CONFIG_PATH
  set -- "$@" --scratch-path .build-bundled/swift
fi
for compiler in clang gcc cc; do
  library=$("$compiler" -print-file-name=libstdc++.a 2>/dev/null) || continue
  if [ -f "$library" ]; then
    # A directory that has nothing else, as the linker would take the shared one beside it.
    mkdir -p .build/static
    ln -sf "$library" .build/static/libstdc++.a
    set -- "$@" -Xlinker "-L$PWD/.build/static" -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
    break
  fi
done
# See scripts/build-tests.sh.
SWIFT_DETERMINISTIC_HASHING=1 "${SWIFT:-swift}" build -c release --static-swift-stdlib "$@"
[ "$kind" = bundled ] || exit 0
strip -o .build-bundled/cdtquery .build-bundled/swift/release/cdtquery
objdump -T .build-bundled/cdtquery | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -Vu | tail -1 > .build-bundled/glibc
needed=$(objdump -p .build-bundled/cdtquery | sed -n 's/^ *NEEDED *//p' | tr '\n' ' ')
echo ".build-bundled/cdtquery needs ${needed}of glibc $(cat .build-bundled/glibc) or later"
