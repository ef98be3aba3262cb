#!/usr/bin/env bash
# Checks on Linux what can be checked of other systems, with the C libraries that the package `ziglang` of PyPI has: the C target is
# compiled and linked for macOS and for musl, where it is run as well, and the Swift of CDTPlatform is type-checked against Apple's
# declarations. The compiler has no standard library for macOS on Linux, but one for embedded programs, which lacks what
# scripts/portability/Stubs.swift declares.
set -euo pipefail
cd "$(dirname "$0")/.."
work=.build-portability
mkdir -p "$work"
[ -x "$work/python/bin/python" ] || python3 -m venv "$work/python"
"$work/python/bin/pip" install -q --disable-pip-version-check ziglang
zig() { "$work/python/bin/python" -m ziglang "$@"; }
library=$("$work/python/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "lib"))')

for target in aarch64-macos x86_64-linux-musl; do
  zig cc -target "$target" -Wall -Wextra -Werror -I Sources/Base/CDTCPlatform/include \
    Sources/Base/CDTCPlatform/*.c scripts/portability/main.c -o "$work/$target"
  echo "CDTCPlatform: compiled and linked for $target"
done
[ "$(uname -m)" != x86_64 ] || "$work/x86_64-linux-musl"

# A module of Apple's headers. With the compiler's own modules, they would leave out what those have.
headers=$work/headers
rm -rf "$headers" "$work/modules"
mkdir -p "$work/modules/Darwin" "$work/cache"
cp -r "$library/libc/include/any-darwin-any" "$headers"
grep -rlE 'define USE_CLANG_[A-Z]+ +1' "$headers" | xargs -r sed -i -E 's/(define USE_CLANG_[A-Z]+) +1/\1 0/'
for header in errno fcntl limits unistd stdlib string stdio poll pthread time signal termios dirent \
  sys/types sys/stat sys/file sys/event sys/socket sys/ioctl sys/resource arpa/inet; do
  echo "#include <$header.h>"
done > "$work/modules/Darwin/all.h"
echo 'module Darwin [system] { header "all.h" export * }' > "$work/modules/Darwin/module.modulemap"
mkdir -p "$work/modules/CDTCPlatform"
echo "module CDTCPlatform { header \"$PWD/Sources/Base/CDTCPlatform/include/CDTCPlatform.h\" export * }" \
  > "$work/modules/CDTCPlatform/module.modulemap"

# Embedded programs have no weak references and no Foundation.
"${SWIFTC:-swiftc}" -typecheck -suppress-warnings -parse-as-library -swift-version 6 -module-name CDTPlatform -package-name cdtdatastore \
  -enable-experimental-feature Embedded -enable-upcoming-feature ExistentialAny -wmo \
  -enable-upcoming-feature InternalImportsByDefault -target arm64-apple-ios18.0 -module-cache-path "$work/cache" \
  -I "$work/modules" -Xcc -isystem -Xcc "$headers" \
  scripts/portability/Stubs.swift $(find Sources/Base/CDTPlatform -name '*.swift' ! -name WeakReference.swift ! -name Foundation.swift)
echo "CDTPlatform: type-checked for Apple's systems"
