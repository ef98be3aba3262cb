#!/bin/sh
# Installs the Debian packages named on the command line, those that are missing; with sudo where it is needed.
set -eu
missing=""
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || {
    echo "missing packages:$missing; as root, run: apt-get install$missing" >&2
    exit 1
  }
  as_root="sudo"
fi
echo "installing$missing" >&2
# Package lists may be absent or old on a fresh machine, so a first failure is answered by an update.
$as_root apt-get install -y -qq $missing >/dev/null 2>&1 || {
  $as_root apt-get update -qq >&2
  $as_root apt-get install -y -qq $missing >&2
}
