#!/usr/bin/env bash
# Unpacks the newest source package NAME of Debian into DIRECTORY, unless it is there, and prints where: DIRECTORY/NAME_VERSION.
#
#   scripts/source-package.sh sqlite3 .build-sqlite
#
# It comes from the archive that this machine's apt is set up for, or from Debian's own where that is not Debian's. A mirror may lack
# a file that its list has; the version before is then taken, and it says so.
set -euo pipefail
name=$1
cd "$(dirname "$0")/.."
suite=unstable
scripts/install-packages.sh build-essential debian-archive-keyring
fail() { echo "can't fetch the source package $name: $1" >&2; exit 1; }

mkdir -p .build-sources/lists "$2"
directory=$(realpath "$2")
cd .build-sources
archive=http://deb.debian.org/debian
. /etc/os-release
if [ "${ID:-}" = debian ]; then
  # The archive of the release that this machine runs has every other release too.
  archive=$(apt-get indextargets --format '$(REPO_URI)' \
    "Created-By: Packages" "Component: main" "Release: ${VERSION_CODENAME:-}" | head -1)
  [ -n "$archive" ] || fail "apt has no archive for Debian's release '${VERSION_CODENAME:-}'"
fi
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" > sources.list
apt=(-qq -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists"
  -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="$(id -un)" -o APT::Update::Error-Mode=any)
apt-get "${apt[@]}" update >&2 || fail "apt can't reach $archive"
versions=$(apt-cache "${apt[@]}" showsrc --only-source "$name" | sed -n 's/^Version: //p' | sort -Vru)
[ -n "$versions" ] || fail "$archive has none in $suite"
for version in $versions; do
  package=${name}_${version#*:}
  if [ ! -d "$directory/$package" ]; then
    apt-get "${apt[@]}" source --download-only "$name=$version" > "$name.log" 2>&1 || {
      echo "$archive lacks files of $package" >&2
      continue
    }
    # apt has checked what it fetched.
    rm -rf "$package"
    dpkg-source --no-check -x "$package.dsc" "$package" > /dev/null
    mv "$package" "$directory/"
  fi
  echo "$directory/$package"
  exit
done
fail "$(tail -3 "$name.log")"
