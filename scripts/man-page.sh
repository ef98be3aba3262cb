#!/bin/sh
# Writes the manual page of a built cdtquery, made from the help of its commands:
#
#     scripts/man-page.sh .build/small/release/cdtquery > cdtquery.1
set -eu
tool=${1:?usage: scripts/man-page.sh CDTQUERY}
# The help is as wide as the terminal, if there is one.
export COLUMNS=80

# The text of a help as it is, between the requests around it.
verbatim() {
  printf '.nf\n.in 0\n'
  sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
  printf '.in\n.fi\n'
}

# Prints the help of a command, then of its subcommands.
section() {
  help=$("$tool" "$@" --help)
  title=$(printf 'cdtquery %s' "$*" | tr '[:lower:]' '[:upper:]' | sed 's/ *$//')
  if [ $# -gt 0 ]; then printf '.SH %s\n' "$title"; else printf '.SH DESCRIPTION\n'; fi
  printf '%s\n' "$help" | verbatim
  for name in $(printf '%s\n' "$help" | sed -n '/^SUBCOMMANDS:/,$s/^  \([a-z][a-z]*\).*/\1/p'); do
    section "$@" "$name"
  done
}

printf '.TH CDTQUERY 1 "" "cdtquery %s"\n' "$("$tool" --version)"
printf '.SH NAME\ncdtquery \\- store and query JSON documents\n'
section
