#!/usr/bin/env bash
# Tests what `make release` and `make deb` have built: what the program needs of the system, that it works where nothing else is, and
# that its package can be installed, started, upgraded, removed and purged. It needs root, and changes nothing of the system: it has
# mounts of its own, in which the package is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${MOUNTS:-}" ]; then
  [ "$(id -u)" -eq 0 ] || exec sudo "$0"
  unshare --mount true 2> /dev/null || { echo "no mounts are permitted here, which this test needs" >&2; exit 0; }
  MOUNTS=own exec unshare --mount "$0"
fi
program=$PWD/.build-bundled/cdtquery
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server" && wait "$server"; } 2> /dev/null || true; exec 3<&-; umount -R --lazy "$work" && rmdir "$work"' EXIT
mount -t tmpfs tmpfs "$work"

fail() { echo "$1" >&2; exit 1; }
# Fails if the text $2 is not as the pattern $1.
# shellcheck disable=SC2053
expect() { [[ $2 == $1 ]] || fail "expected $1, found: $2"; }

# What the loader loads: the C library, its mathematics, and itself.
loaded=$(ldd "$program")
! grep 'not found' <<< "$loaded" || fail "the program needs a library that is not here"
needed=$(grep -o '/[^ ]*' <<< "$loaded")
for library in $needed; do
  case $library in
    */libc.so.6 | */libm.so.6 | */ld-linux*.so.*) ;;
    *) fail "the program needs $library" ;;
  esac
done
echo "it needs" $needed

# A directory with these files alone.
root=$work/root
mkdir "$root"
install -D "$program" "$root/cdtquery"
for library in $needed; do install -D "$library" "$root$library"; done
bare=(env -i "$(command -v chroot)" "$root" /cdtquery)
in_root() { "${bare[@]}" "$@"; }
expect '[0-9]*.[0-9]*' "$(in_root --version)"
expect '{"_id":"zoe",*' "$(in_root put /people/contacts zoe '{"age": 12}')"
expect '{"_id":"zoe",*"age":12}' "$(in_root find /people/contacts '{"_id": {"$regex": "^z(o|u)e$"}}')"
information=$(in_root info /people/contacts)
expect '*"sqlite":"3.*' "$information"
! grep -q '"warning"' <<< "$information" || fail "its SQLite has a known defect: $information"
in_root backup /people/contacts /backup
expect '{"sequence":1,*' "$(in_root backup --verify /backup)"
printf '{"_id":"mike","secret":"umbrella"}\n' | gzip > "$root/people.jsonl.gz"
echo 'a passphrase of some length' | install -m 600 /dev/stdin "$root/key"
in_root import /sealed/contacts /people.jsonl.gz --key-file /key
expect '*"umbrella"*' "$(in_root find /sealed/contacts '{"secret": "umbrella"}' --key-file /key)"
! grep -rq umbrella "$root/sealed" || fail "an encrypted store has plain text"
status=0
in_root get /sealed/contacts mike 2> /dev/null || status=$?
expect 77 $status

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$root/tls.key" -out "$root/tls.crt" 2> /dev/null
echo 'correct horse' > "$root/password"
in_root user add /users.json ana --role _admin --password-file /password
# Starts a server by the arguments, and waits for its first line, `cdtquery: serving DIRECTORY at URL`, of which it sets `url`.
serve() {
  rm -f "$work/messages"
  mkfifo "$work/messages"
  "$@" 2> "$work/messages" &
  server=$!
  exec 3< "$work/messages"
  read -r -t 60 line <&3 || fail "the server does not start: $*"
  [[ $line == *" at http"* ]] || fail "the server does not start: $line $(timeout 5 cat <&3)"
  url=${line##* at }
}
stop() {
  kill $server && wait $server || fail "the server ended with status $?"
  server=
}
status=0
message=$(in_root serve /people 2>&1) || status=$?
expect '66 cdtquery: /proc is not mounted*' "$status $message"
mkdir "$root/proc"
mount --rbind /proc "$root/proc"
serve "${bare[@]}" serve /people --bind 127.0.0.1:0 --users /users.json --tls-cert /tls.crt --tls-key /tls.key
expect '{"_id":"zoe",*"age":12}' "$(curl -sS --cacert "$root/tls.crt" -u "ana:correct horse" "${url/localhost/127.0.0.1}/contacts/zoe")"
stop
echo "it works in a directory that has nothing else"

# This system, with what is written kept in memory.
system=$work/system
mkdir "$work/upper" "$work/work" "$system"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$system"
for directory in dev proc sys; do mount --rbind /$directory "$system/$directory"; done
mount -t tmpfs tmpfs "$system/run"
mkdir -p "$system/run/systemd/system"
in_system() { chroot "$system" "$@"; }
state=/var/lib/cdtquery
unit=$system/usr/lib/systemd/system/cdtquery.service
unit_has() { sed -n "s/^$1=//p" "$unit"; }
# Starts the server as systemd would, which this has not.
# shellcheck disable=SC2046
start() { serve "${as_user[@]}" $(unit_has ExecStart); }
ask() { curl -sS -u "ana:correct horse" "$url/$1" "${@:2}"; }
# What the scripts of the package tell systemd.
printf '#!/bin/sh\necho "$*" >> /run/told\n' | install -m 755 /dev/stdin "$system/usr/bin/systemctl"
# Runs dpkg with the arguments from the second on, and expects that it tells systemd the first.
package() {
  rm -f "$system/run/told"
  in_system dpkg "${@:2}" > "$work/dpkg" 2>&1 || fail "$(cat "$work/dpkg")"
  expect "$1" "$(cat "$system/run/told" 2> /dev/null)"
}
for REVISION in 1 2; do
  REVISION=$REVISION scripts/build-deb.sh
  cp .build-bundled/cdtquery_*-"$REVISION"_*.deb "$system/run/$REVISION.deb"
done
restart=$'daemon-reload\ntry-restart cdtquery'

package "$restart" --install /run/1.deb
expect "$("$program" --version)" "$(in_system cdtquery --version)"
expect '' "$(in_system dpkg --verify cdtquery)"
expect 'cdtquery cdtquery 700' "$(in_system stat -c '%U %G %a' $state)"
for file in man/man1/cdtquery.1.gz bash-completion/completions/cdtquery zsh/vendor-completions/_cdtquery \
  fish/vendor_completions.d/cdtquery.fish doc/cdtquery/copyright; do
  [ -s "$system/usr/share/$file" ] || fail "the package lacks /usr/share/$file"
done
for library in sqlite3 PCRE2 zlib openssl swift-nio; do
  grep -qi "$library" "$system/usr/share/doc/cdtquery/copyright" || fail "the license of $library is missing"
done
[ ! -x "$system/usr/bin/systemd-analyze" ] || in_system systemd-analyze verify --man=no cdtquery.service

install -m 644 "$root/password" "$system/run/password"
as_user=(chroot --userspec="$(unit_has User):$(unit_has User)" "$system")
"${as_user[@]}" cdtquery user add $state/users.json ana --role _admin --password-file /run/password
sed -i 's/^bind = .*/bind = 127.0.0.1:0/' "$system/etc/cdtquery/serve.conf"
start
expect '{"ok":true}' "$(ask people -X PUT)"
expect '{"ok":true,*' "$(ask people/zoe -X PUT -d '{"age": 12}')"

package "$restart" --install /run/2.deb
expect '*-2' "$(in_system dpkg-query -W -f '${Version}' cdtquery)"
grep -q '^bind = 127.0.0.1:0$' "$system/etc/cdtquery/serve.conf" || fail "the upgrade has replaced serve.conf"
stop
start
expect '{"_id":"zoe",*"age":12}' "$(ask people/zoe)"
stop

package $'disable --now cdtquery\ndaemon-reload' --remove cdtquery
[ ! -e "$system/usr/bin/cdtquery" ] || fail "the program is still there"
[ -e "$system/etc/cdtquery/serve.conf" ] || fail "serve.conf was removed without a purge"
package '' --purge cdtquery
[ ! -e "$system/etc/cdtquery" ] || fail "the purge has left /etc/cdtquery"
[ -s "$system$state/stores/people/db.sync" ] || fail "the purge has removed the stores"
in_system id cdtquery > /dev/null || fail "the purge has removed the user of the stores"
echo "its package can be installed, started, upgraded, removed and purged"
