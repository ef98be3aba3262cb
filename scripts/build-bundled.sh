#!/usr/bin/env bash
# Builds SQLite, PCRE2, zlib and libcrypto from the newest source packages of Debian as static libraries, in .build-bundled. What has
# been built stays there for later runs. A build of this package uses them with
#
#   export PKG_CONFIG_PATH=$PWD/.build-bundled/pkgconfig
#
# .build-bundled/versions lists them, .build-bundled/copyright has their licenses. See decision 38.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=$PWD/.build-bundled
scripts/install-packages.sh build-essential
mkdir -p "$bundle/sources" "$bundle/pkgconfig"
: > "$bundle/versions.new"
: > "$bundle/copyright.new"
# A make that calls this script would have these write its directories into what they print.
unset MAKEFLAGS MAKELEVEL
flags='-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2'
sum=$(cksum < scripts/build-bundled.sh | cut -d ' ' -f 1)

sqlite3() {
  # A connection is used by one thread at a time, but several threads have connections: THREADSAFE=1. FTS5 is for text indexes, and
  # DBSTAT for the sizes of indexes. SECURE_DELETE is Debian's: what is deleted is overwritten with zeros. Extensions are not
  # loaded. The rest, such as fdatasync() and usleep(), is found by configure.
  CFLAGS="$flags -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_SECURE_DELETE" ./configure --disable-shared \
    --disable-tcl --disable-readline --disable-load-extension --fts5
  make -j"$(nproc)" libsqlite3.a
  cp sqlite3.h "$prefix/include/"
  cp libsqlite3.a "$prefix/lib/"
}

pcre2() {
  # The compiler for machine code is left out where PCRE2 has none for the processor.
  CFLAGS=$flags ./configure --disable-shared --enable-jit=auto
  make -j"$(nproc)" libpcre2-8.la
  cp src/pcre2.h "$prefix/include/"
  cp .libs/libpcre2-8.a "$prefix/lib/"
}

zlib() {
  CFLAGS=$flags ./configure --static
  make -j"$(nproc)" libz.a
  cp zlib.h zconf.h "$prefix/include/"
  cp libz.a "$prefix/lib/"
}

openssl() {
  # The default provider alone, in the archive. The configuration of the system's OpenSSL, which may name modules of another
  # version, is not read.
  CFLAGS=$flags ./Configure no-shared no-module no-legacy no-engine no-autoload-config no-tests no-apps no-docs
  make -j"$(nproc)" build_generated
  make -j"$(nproc)" libcrypto.a
  cp -r include/openssl "$prefix/include/"
  cp libcrypto.a "$prefix/lib/"
}

# Builds the library LIBRARY, which pkg-config calls NAME, of a source package. Its directory has the version and the sum of this script
# in its name, so that programs are linked again when it has changed.
bundle() {
  local package=$1 name=$2 library=$3 source version directory prefix=$bundle/new
  source=$(scripts/source-package.sh "$package" .build-bundled/sources)
  version=$(basename "$source")
  directory=$bundle/$version-$sum
  if [ ! -d "$directory" ]; then
    echo "building $version"
    rm -rf "$prefix" "$bundle/build"
    mkdir -p "$prefix/include" "$prefix/lib"
    cp -r "$source" "$bundle/build"
    (cd "$bundle/build" && "$package") > "$bundle/$package.log" 2>&1 || {
      tail -20 "$bundle/$package.log" >&2
      echo "$version does not build; see .build-bundled/$package.log" >&2
      exit 1
    }
    rm -rf "$bundle/build" "$bundle/${package}"_*
    mv "$prefix" "$directory"
    find "$bundle/sources" -mindepth 1 -maxdepth 1 -name "${package}_*" ! -name "$version" -exec rm -rf {} +
  fi
  printf 'Name: %s\nDescription: %s\nVersion: %s\nCflags: -I%s/include\nLibs: -L%s/lib -l%s\n' \
    "$name" "$version" "${version#*_}" "$directory" "$directory" "$library" > "$bundle/pkgconfig/$name.pc"
  echo "$version" >> "$bundle/versions.new"
  printf '\n# %s\n\n' "$version" | cat - "$source/debian/copyright" >> "$bundle/copyright.new"
}

bundle sqlite3 sqlite3 sqlite3
bundle pcre2 libpcre2-8 pcre2-8
bundle zlib zlib z
bundle openssl libcrypto crypto
mv "$bundle/versions.new" "$bundle/versions"
mv "$bundle/copyright.new" "$bundle/copyright"
