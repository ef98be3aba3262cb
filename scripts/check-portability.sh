#!/usr/bin/env bash
# Checks on Linux what can be checked of other systems: `scripts/check-portability.sh macos ios musl android`, and all of them
# without an argument.
#
# The C target is compiled and linked for macOS and for musl, where it is run as well, with the C libraries that the package `ziglang`
# of PyPI has. The Swift of the library is type-checked for each system, the bodies of functions and the availability of the standard
# library included. The toolchain for Linux has the interfaces of the standard library as text, which are compiled for the system once
# and kept in .build-portability. Foundation, Dispatch and CryptoKit are the declarations in scripts/portability. Android's headers are
# not there, so its C library is musl's under the name Android.
#
# What this can't show: what Foundation does, Objective-C, and anything that runs.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/.build-portability
sources=$PWD/Sources
stubs=$PWD/scripts/portability
mkdir -p "$work"
[ -x "$work/python/bin/python" ] || python3 -m venv "$work/python"
[ -d "$work"/python/lib/python3*/site-packages/ziglang ] || "$work/python/bin/pip" install -q --disable-pip-version-check ziglang
zig() { "$work/python/bin/python" -m ziglang "$@"; }
headers=$("$work/python/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "lib/libc/include"))')
swiftc=${SWIFTC:-swiftc}
resources=$("$swiftc" -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')

check_c() {
  for target in aarch64-macos x86_64-linux-musl; do
    zig cc -target "$target" -Wall -Wextra -Werror -I Sources/Base/CDTCPlatform/include \
      Sources/Base/CDTCPlatform/*.c scripts/portability/main.c -o "$work/$target"
    echo "CDTCPlatform: compiled and linked for $target"
  done
  [ "$(uname -m)" != x86_64 ] || "$work/x86_64-linux-musl"
}

# Makes a module of headers.
module() {
  mkdir -p "c/$1"
  {
    echo "module $1 [system] {"
    printf '  header "%s"\n' "${@:2}"
    echo "  export *"
    echo "}"
  } > "c/$1/module.modulemap"
}

# Compiles a module of the standard library from its interface, without optimization, which would take half of the time.
interface() {
  [ ! -f "modules/$1.swiftmodule" ] || return 0
  sed -e "s/-target x86_64-unknown-linux-gnu/-target $triple/" -e 's/-target-min-inlining-version min//' \
    -e '/^.. swift-module-flags:/s/ -O / -Onone /' -e "s/^import Glibc/import $library/" \
    -e 's/_swift_stdlib_gettid()/UInt32(0)/' -e 's/@backDeployed(before:[^)]*)//' \
    "$resources/linux/$1.swiftmodule/x86_64-unknown-linux-gnu.swiftinterface" > "interfaces/$1.swiftinterface"
  "$swiftc" -frontend -compile-module-from-interface -module-name "$1" $([ "$1" != Swift ] || echo -parse-stdlib) "${common[@]}" \
    -plugin-path "$resources/host/plugins" -disable-availability-checking -o "modules/$1.swiftmodule" "interfaces/$1.swiftinterface"
}

# Compiles declarations of this directory: the name of the module, the file, and more arguments.
stub() {
  sed "s/SYSTEM/$library/" "$stubs/$2.swift" > "stubs/$1.swift"
  "$swiftc" -frontend -emit-module -O -parse-as-library -swift-version 6 -module-name "$1" "${common[@]}" -suppress-warnings \
    -enable-upcoming-feature InternalImportsByDefault -disable-availability-checking "${@:3}" -o "modules/$1.swiftmodule" \
    "stubs/$1.swift"
}

# Type-checks a module with all its files.
check() {
  "$swiftc" -frontend -emit-module -Onone -parse-as-library -swift-version 6 -module-name "$1" -package-name cdtdatastore \
    "${common[@]}" -disable-objc-interop -plugin-path "$resources/host/plugins" -enable-upcoming-feature InternalImportsByDefault \
    -enable-upcoming-feature ExistentialAny -D Replication -warnings-as-errors -o "modules/$1.swiftmodule" "${@:2}"
  echo "$1: type-checked for $system"
}

check_swift() {
  system=$1
  local parts
  case $system in
    macos) triple=x86_64-apple-macosx15.0 library=Darwin parts=any-darwin-any ;;
    ios) triple=x86_64-apple-ios18.0-simulator library=Darwin parts=any-darwin-any ;;
    musl) triple=x86_64-unknown-linux-musl library=Musl parts='any-linux-any generic-musl x86_64-linux-musl x86-linux-any' ;;
    android) triple=x86_64-unknown-linux-android28 library=Android parts='any-linux-any generic-musl x86_64-linux-musl x86-linux-any' ;;
    *) echo "check-portability: no such system: $system; use macos, ios, musl or android" >&2; return 64 ;;
  esac
  mkdir -p "$work/$system"/{interfaces,modules,cache,c,stubs,sdk/usr,resources,headers}
  cd "$work/$system"
  ln -sfn "$resources/shims" resources/shims
  ln -sfn "$resources/clang" resources/clang
  for part in $parts; do [ ! -d "$headers/$part" ] || cp -r "$headers/$part/." headers/; done
  if [ "$library" = Darwin ]; then
    # With the compiler's own modules, these headers would leave out what those have.
    sed -i -E 's/(define USE_CLANG_[A-Z]+) +1/\1 0/' $(grep -rlE 'define USE_CLANG_[A-Z]+ ' headers)
    module CommonCrypto "$PWD"/headers/CommonCrypto/{CommonCrypto,CommonKeyDerivation,CommonRandom}.h
  fi
  ln -sfn "$PWD/headers" sdk/usr/include
  for header in errno fcntl limits unistd stdlib string strings stdio poll pthread time signal termios dirent sys/types sys/stat \
    sys/file sys/event sys/inotify sys/socket sys/ioctl sys/resource sys/mount sys/time sys/un sys/mman sys/wait sys/uio sys/random \
    netinet/in netinet/tcp arpa/inet netdb math ctype locale dlfcn semaphore sched; do
    [ ! -f "headers/$header.h" ] || echo "#include <$header.h>"
  done > all.h
  module "$library" "$PWD/all.h"
  module CDTCPlatform "$sources/Base/CDTCPlatform/include/CDTCPlatform.h"
  # Libraries of C that every system has in the same form.
  mkdir -p libraries
  for name in sqlite3 pcre2 zlib zconf; do cp "/usr/include/$name.h" libraries/; done
  for name in Store/CDTCSQLite Base/CDTCZlib; do ln -sfn "$sources/$name" c/; done
  local patterns=Query/CDTFoundationPattern
  if [ "$library" != Darwin ]; then
    # Where Apple's systems have CommonCrypto and Foundation. The headers of libcrypto are in two directories.
    cp -r /usr/include/openssl /usr/include/*-linux-gnu/openssl libraries/
    ln -sfn "$sources/Base/CDTCCrypto" "$sources/Query/CDTCPCRE2" c/
    patterns=
  fi
  common=(-target "$triple" -sdk sdk -module-cache-path cache -I modules -I c -resource-dir "$PWD/resources" -Xcc -isystem -Xcc libraries)
  [ "$library" = Darwin ] || common+=(-Xcc -D_GNU_SOURCE)
  for name in Swift SwiftOnoneSupport _Concurrency _Builtin_float _RegexParser _StringProcessing Synchronization Observation; do
    interface "$name"
  done
  if [ "$library" = Darwin ]; then interface Testing; fi
  stub "$library" CLibrary -import-underlying-module
  stub Dispatch Dispatch
  if [ "$library" = Darwin ]; then
    stub Foundation Foundation
    stub CryptoKit CryptoKit
  else
    stub FoundationEssentials Foundation
    stub Foundation FoundationEssentials
  fi
  for name in NIOCore NIOPosix NIOHTTP1 NIOSSL AsyncHTTPClient Logging CoreMetrics; do stub "$name" "packages/$name"; done
  for path in Base/CDTCLibrary Base/CDTPlatform Base/CDTDigest Base/CDTGzip Base/CDTJSON Store/CDTSQLite Store/CDTDatastore \
    Store/CouchDB $patterns Query/CDTSelector Query/CDTRules Query/CDTIndex Query/CDTPlan Query/CDTQuery Care/CDTImport Care/CDTRecovery \
    Care/CDTBackup Care/CDTQueryTesting Sync/CDTReplication Sync/CDTRemote Migration/CloudantSync; do
    mapfile -t files < <(find "$sources/$path" -name '*.swift')
    check "${path#*/}" "${files[@]}"
  done
  # The test vectors that a Mac runs.
  if [ "$library" = Darwin ]; then check CDTDigestTests "$sources"/../Tests/CDTDigestTests/*.swift; fi
  # What of the server needs neither Hummingbird nor NIO.
  check CDTServer "$sources"/Sync/CDTServer/{Databases/WriteGroup,HTTP/RequestLimit,HTTP/ScratchFile}.swift
}

check_c
[ $# -ne 0 ] || set -- macos ios musl android
running=()
for name in "$@"; do
  (check_swift "$name") &
  running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
