#!/bin/sh
# Builds cdtquery for release, or the product that is named. Swift's own libraries and C++'s are linked in, as finding and
# loading them takes much of a short command's time. Where there is no static libstdc++, the system's is used.
set -eu
product=${1:-cdtquery}
set --
cd "$(dirname "$0")/.."
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
exec "${SWIFT:-swift}" build -c release --static-swift-stdlib --product "$product" "$@"
