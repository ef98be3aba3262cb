#!/usr/bin/env bash
# Runs the tests, which have been built, with the newest SQLite in Debian. Its source package comes from the archive that
# this machine's apt is set up for. It is built with Debian's options in .build-sqlite and stays there for later runs. Only
# the tools for that are installed. Arguments go to scripts/run-tests.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=unstable
scripts/install-packages.sh build-essential debian-archive-keyring
mkdir -p .build-sqlite/lists
cd .build-sqlite

fail() { echo "can't test with the newest SQLite: $1" >&2; exit 1; }

# The archive of the release that this machine runs, which has every other release too.
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
archive=$(apt-get indextargets --format '$(REPO_URI)' \
  "Created-By: Packages" "Component: main" "Release: $release" | head -1)
[ -n "$archive" ] || fail "apt has no archive for Debian's release '$release'"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" > sources.list
apt=(-qq -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists"
  -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="$(id -un)" -o APT::Update::Error-Mode=any)
apt-get "${apt[@]}" update || fail "apt can't reach $archive"
package=$(apt-cache "${apt[@]}" showsrc sqlite3 | sed -n 's/.* \(sqlite3_.*\)\.dsc$/\1/p' | sort -Vu | tail -1)
[ -n "$package" ] || fail "$archive has no source package sqlite3 in $suite"

if [ ! -f "$package/libsqlite3.so.0" ]; then
  echo "building $package"
  rm -rf "$package"
  apt-get "${apt[@]}" source --download-only sqlite3 || fail "apt can't fetch $package from $archive"
  dpkg-source --no-check -x "$package.dsc" "$package" > /dev/null
  (
    cd "$package"
    # A make that calls this script would have these write its directory into what they print.
    unset MAKEFLAGS MAKELEVEL
    CFLAGS=$(make -s -f debian/rules --eval 'flags: ; @echo $(CFLAGS)' flags)
    export CFLAGS
    ./configure --soname=legacy --disable-tcl --disable-static --disable-readline \
      --enable-load-extension --enable-fts4 --enable-fts5
    make -j"$(nproc)" libsqlite3.so
  ) > "$package.log" 2>&1 || { tail -20 "$package.log" >&2; fail "$package does not build"; }
  ln "$package/libsqlite3.so" "$package/libsqlite3.so.0"
fi

# A test compares this with the version that the process has loaded.
EXPECTED_SQLITE=$(cat "$package/VERSION")
export EXPECTED_SQLITE LD_LIBRARY_PATH=$PWD/$package${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
echo "testing with SQLite $EXPECTED_SQLITE"
cd ..
exec scripts/run-tests.sh "$@"
