#!/bin/sh
# Writes golden vectors of one upstream minor: tools/vectors/generate.sh v1.34 OUT [-seed N] [-n SCALE] [-only FAMILY,FAMILY]
# Builds the generator on first use. Upstream's module is copied out of the module cache, because Go refuses overlays inside it. The copy is
# not edited: our few export files are laid over it with `go build -overlay`.
set -eu
[ $# -ge 2 ] || { sed -n '2p' "$0" >&2; exit 2; }
minor=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")"
[ -f "mods/$minor.mod" ] || { echo "no mods/$minor.mod: pin the minor with tools/vectors/pin.sh" >&2; exit 2; }

cache=${VECTORS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-vectors}
mkdir -p "$cache"
upstream=$(sed -n 's/^.*k8s.io\/kubernetes \(v[0-9.]*\).*$/\1/p' "mods/$minor.mod" | head -1)
source=$cache/kubernetes-$upstream
if [ ! -e "$source/.complete" ]; then
  module=$(cd "$cache" && go mod download -json "k8s.io/kubernetes@$upstream" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  rm -rf "$source" && mkdir -p "$source"
  for part in api cmd pkg plugin third_party go.mod LICENSE; do
    [ ! -e "$module/$part" ] || cp -r "$module/$part" "$source/"
  done
  chmod -R u+w "$source"
  touch "$source/.complete"
fi

# The newest export file of a name that is no newer than the minor.
export_file() {
  number=${minor#v1.}
  while [ "$number" -gt 0 ]; do
    if [ -e "overlay/v1.$number/$1.go" ]; then echo "$PWD/overlay/v1.$number/$1.go"; return; fi
    number=$((number - 1))
  done
  echo "no overlay file $1.go for $minor" >&2
  exit 1
}
{
  echo '{"Replace":{'
  separator=''
  for pair in pkg/kubelet/eviction:eviction pkg/kubelet/images:images pkg/kubelet/kuberuntime:kuberuntime pkg/kubelet/cm:cm \
    cmd/kubelet/app:app pkg/controller/podgc:podgc pkg/controller/certificates/cleaner:cleaner \
    pkg/controller/ttlafterfinished:ttlafterfinished pkg/kubelet/logs:logs pkg/kubelet/nodestatus:nodestatus; do
    file=$(export_file "${pair##*:}")
    printf '%s"%s/%s/zz_export.go":"%s"\n' "$separator" "$source" "${pair%%:*}" "$file"
    separator=,
  done
  echo '}}'
} >"$cache/overlay-$minor.json"

cp "mods/$minor.mod" "mods/$minor.sum" "$cache/"
go mod edit -replace "k8s.io/kubernetes=$source" "$cache/$minor.mod"
go build -tags "k8s$(echo "$minor" | tr -d v.)" -modfile="$cache/$minor.mod" -overlay="$cache/overlay-$minor.json" -o "$cache/vectors-$minor" .

export TZ=UTC
set -- "$cache/vectors-$minor" -k8s "${upstream#v}" -out "$out" "$@"
# Validation since 1.35 asks the machine whether it has cgroup v2: show it one on a machine with v1.
if [ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ] && unshare -m mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; then
  exec unshare -m sh -c 'mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' run "$@"
fi
exec "$@"
