#!/usr/bin/env bash
# Makes a package of what `make release` has built, for Debian and Ubuntu: .build-bundled/cdtquery_VERSION-REVISION_ARCHITECTURE.deb.
# REVISION is 1 unless it is set. scripts/deb has the scripts that run when it is installed and removed.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
program=.build-bundled/cdtquery
root=.build-bundled/deb
[ -x "$program" ] || { echo "there is nothing to package; run make release first" >&2; exit 1; }
version=$("$program" --version | tr - '~')-${REVISION:-1}
architecture=$(dpkg --print-architecture)

rm -rf "$root" .build-bundled/cdtquery_*-"${REVISION:-1}"_*.deb
file() { install -D -m 644 /dev/stdin "$root/$1"; }
install -D -m 755 "$program" "$root/usr/bin/cdtquery"
file etc/cdtquery/serve.conf < scripts/deb/serve.conf
sed -e 's|^ExecStart=.*|ExecStart=/usr/bin/cdtquery serve /var/lib/cdtquery/stores --config /etc/cdtquery/serve.conf|' \
  -e 's|^DynamicUser=.*|User=cdtquery|' scripts/cdtquery.service | file usr/lib/systemd/system/cdtquery.service
scripts/man-page.sh "$program" | gzip -9n | file usr/share/man/man1/cdtquery.1.gz
completion() { "$program" --generate-completion-script "$1" | file "usr/share/$2"; }
completion bash bash-completion/completions/cdtquery
completion zsh zsh/vendor-completions/_cdtquery
completion fish fish/vendor_completions.d/cdtquery.fish
# The licenses of everything that is linked in.
swift=$(dirname "$(realpath "$(command -v "${SWIFT:-swift}")")")/..
for license in LICENSE* "$swift"/share/swift/LICENSE.txt .build-bundled/copyright .build-bundled/swift/checkouts/*/{LICENSE,NOTICE}*; do
  [ ! -f "$license" ] || printf '\n# %s\n\n%s\n' "${license#.build-bundled/swift/checkouts/}" "$(cat "$license")"
done | file usr/share/doc/cdtquery/copyright

(cd "$root" && find etc usr -type f -exec md5sum {} +) | file DEBIAN/md5sums
file DEBIAN/conffiles <<< /etc/cdtquery/serve.conf
file DEBIAN/control << END
Package: cdtquery
Version: $version
Architecture: $architecture
Maintainer: CDTDatastore for Swift <root@localhost>
Depends: libc6 (>= $(cat .build-bundled/glibc)), passwd
Section: database
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f 1)
Description: store, query and serve JSON documents
 Stores of JSON documents with the queries of Cloudant and CouchDB, and a
 server of them that speaks CouchDB's HTTP API.
END
install -m 755 scripts/deb/{postinst,prerm,postrm} "$root/DEBIAN/"
dpkg-deb --root-owner-group -z1 --build "$root" ".build-bundled/cdtquery_${version}_$architecture.deb"
