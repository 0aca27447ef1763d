#!/bin/sh
# Pins an upstream version: tools/vectors/pin.sh 1.38.0 writes mods/v1.38.mod and mods/v1.38.sum.
# Every staging module is mapped to the same version.
set -eu
[ $# -eq 1 ] || { sed -n '2p' "$0" >&2; exit 2; }
cd "$(dirname "$0")"
minor=v$(echo "$1" | cut -d. -f1-2)
staging=v0.$(echo "$1" | cut -d. -f2-3)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
module=$(cd "$folder" && go mod download -json "k8s.io/kubernetes@v$1" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
{
  printf 'module highwater/tools/vectors\n\ngo 1.25\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$1"
  sed -n 's/^[[:space:]]*\(k8s.io\/[a-z0-9-]*\) => \.\/staging\/.*/\1/p' "$module/go.mod" | sort -u |
    while read -r name; do printf '\t%s => %s %s\n' "$name" "$name" "$staging"; done
  echo ')'
} >"$folder/go.mod"
# Tidied apart from overlay/: imports of other minors' files would raise the versions.
cp ./*.go "$folder/"
(cd "$folder" && go mod tidy -e)
cp "$folder/go.mod" "mods/$minor.mod"
cp "$folder/go.sum" "mods/$minor.sum"
