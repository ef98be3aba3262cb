#!/usr/bin/env bash
# Compares the processor time of `cdtquery find FILE` with that of jq: the best of three runs each, over 1,000,000 documents of about 250 bytes.
# A second argument is a file of documents with a field `age` to use instead.
#
#     scripts/compare-with-jq.sh .build/small/release/cdtquery
set -eu
tool=${1:?usage: scripts/compare-with-jq.sh CDTQUERY [FILE]}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
file=${2:-$directory/documents.jsonl}
if [ $# -lt 2 ]; then
  awk 'BEGIN {
    srand(1)
    split("Anna Björn Carla Dorothea Émile", names, " ")
    split("open closed waiting", states, " ")
    for (i = 0; i < 1000000; i++)
      printf "{\"_id\":\"d%07d\",\"name\":\"%s %d\",\"status\":\"%s\",\"age\":%d,\"score\":%d,\"tags\":[\"red\",\"t%d\"]," \
        "\"owner\":{\"city\":\"Zürich\",\"zip\":\"%05d\"},\"note\":\"%s\"}\n", i, names[1 + int(rand() * 5)], i % 1000,
        states[1 + int(rand() * 3)], rand() * 100, rand() * 1000000, rand() * 100, rand() * 99999,
        "The quick brown fox jumps over the lazy dog, and says \\\"hello\\\".\\nThen it runs on."
  }' > "$file"
fi

# The best of three runs of a command, in milliseconds of processor time.
best() {
  local TIMEFORMAT='%U %S'
  for _ in 1 2 3; do
    { time "$@" > "$directory/output"; } 2>&1
  done | awk '{ took = ($1 + $2) * 1000; if (NR == 1 || took < best) best = took } END { printf "%d", best }'
}

jq=$(best jq -c 'select(.age == 42)' "$file")
mv "$directory/output" "$directory/expected"
ours=$(best "$tool" find "$file" '{"age": 42}')
cmp "$directory/expected" "$directory/output"
echo "jq -c 'select(.age == 42)': $jq ms"
echo "cdtquery find FILE '{\"age\": 42}': $ours ms"
awk "BEGIN { printf \"%.1f times as fast\n\", $jq / $ours }"
