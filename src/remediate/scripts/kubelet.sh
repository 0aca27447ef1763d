# What both inspect documents of a host look up: the kubelet's process, a few of its settings, and the container runtime.
# `answer.sh` stands before it.
# shellcheck shell=sh

newline='
'
file_most=131072
[ -d "$R/proc" ] || { unread 'the kubelet process' 'there is no /proc'; }

# Anybody can give a process any name and any arguments: only root's own counts, in the place of a service, or the one that systemd started.
of_root() { holds "$1/status" '^Uid:[^0-9]+0[^0-9]+0[^0-9]'; }
of_service() {
  if holds "$1/cgroup" "/(system|runtime|podruntime)[.]slice/|/(snap[.])?$2[-.a-z0-9]*[.]service\$" '/user[.]slice/|/machine[.]slice/'; then return 0; fi
  [ -n "$asked" ] || { asked=yes; ask main 5 systemctl show "$2.service" -p MainPID; }
  holds main "^MainPID=${1##*/}\$"
}

# process NAME: root's process of that name outside of any pod, into $pid; its arguments, one a line, into NAME.args. Where there are several,
# which of them is meant is not known: $several names them.
process() {
  pid=
  several=
  parent=
  asked=
  : >main
  : >"$1.args"
  for folder in "$R"/proc/[0-9]*; do
    { IFS= read -r comm <"$folder/comm"; } 2>/dev/null || continue
    [ "$comm" = "$1" ] || continue
    if holds "$folder/cgroup" 'kubepods|/docker[-/]|cri-containerd'; then continue; fi
    if ! of_root "$folder" || ! of_service "$folder" "$1"; then continue; fi
    tr '\n\000' '\001\n' <"$folder/cmdline" >try 2>/dev/null
    [ -s try ] || continue
    above=$(awk '$1 == "PPid:" { print $2 }' "$folder/status" 2>/dev/null)
    # A child that has not become another program yet is no second one.
    [ -z "$pid" ] || [ "$above" != "$pid" ] || continue
    [ -z "$pid" ] || [ "$parent" = "${folder##*/}" ] || several="${several:-$pid} and ${folder##*/}"
    pid=${folder##*/}
    parent=$above
    cat try >"$1.args"
  done
  if [ -n "$several" ]; then
    pid=
    : >"$1.args"
  fi
  [ -n "$pid" ]
}

# flag NAME FILE: the last value of that flag among the arguments in the file. To the kubelet an underscore is a dash.
flag() {
  FLAG=$1 awk '
    BEGIN { f = ENVIRON["FLAG"] }
    takes { value = $0; takes = 0; next }
    $0 == "--" { exit }
    /^-/ {
      e = index($0, "=")
      name = e ? substr($0, 1, e - 1) : $0
      sub(/^--?/, "", name)
      gsub(/_/, "-", name)
      if (name != f) next
      if (e) value = substr($0, e + 1); else takes = 1
    }
    END { print value }' "$2"
}

# size_of FILE: in bytes; not every `wc` knows them without reading all.
size_of() { if has stat; then stat -L -c %s "$1" 2>/dev/null; else run 3 wc -c <"$1" 2>/dev/null; fi; }

# readable PATH: whether it is a file of ours to take whole; else $why.
readable() {
  why=
  [ -e "$R$1" ] || { why='there is no such file'; [ ! -h "$R$1" ] || why='a link that leads nowhere'; return 1; }
  [ -f "$R$1" ] || { why='it is no file'; return 1; }
  [ -r "$R$1" ] || { why='it cannot be read'; return 1; }
  bytes=$(size_of "$R$1")
  [ -n "$bytes" ] || { why='it cannot be read'; return 1; }
  [ "$bytes" -le "$file_most" ] || { why="it has $((bytes)) bytes: more than $file_most are not taken"; return 1; }
}

# Of the fields that say where to look: NAME, a tab, the value, of each file as the kubelet reads them; `?` where a file may say what was not seen.
: >fields
fields_of() {
  awk '
    /^[ \t]*#/ { next }
    /podLogsDir|containerRuntimeEndpoint/ {
      if (!match($0, /^[{]?["\047]?(podLogsDir|containerRuntimeEndpoint)["\047]?[ \t]*:[ \t]*/)) { print "?"; next }
      name = $0
      value = substr($0, RLENGTH + 1)
      gsub(/^[{"\047]+|["\047 \t]*:.*$/, "", name)
      sub(/[ \t]+#.*$/, "", value)
      sub(/[],}{ \t\r]+$/, "", value)
      if (value ~ /^"[^"\\]*"$|^\047[^\047]*\047$/) value = substr(value, 2, length(value) - 2)
      else if (value !~ /^[A-Za-z\/][^"\047{}#]*$/) { print "?"; next }
      print name "\t" value
    }' "$1" >>fields
}
# field NAME: what the files of the kubelet come to there.
field() { FIELD=$1 awk -F '\t' '$1 == ENVIRON["FIELD"] { value = $2 } END { print value }' fields; }

# node_name: as the kubelet calls the node.
node_name() {
  node=$(flag hostname-override kubelet.args)
  [ -n "$node$kubelets" ] || { IFS= read -r node <"$R/proc/sys/kernel/hostname"; } 2>/dev/null || node=
  json_string "$node" >part.nodeName
}

# runtime_endpoint: where crictl and ctr find the container runtime, into $endpoint.
runtime_endpoint() {
  endpoint=$(flag container-runtime-endpoint kubelet.args)
  [ -n "$endpoint" ] || endpoint=$(field containerRuntimeEndpoint)
  [ -n "$endpoint" ] || [ ! -e "$R/run/containerd/containerd.sock" ] || endpoint=unix:///run/containerd/containerd.sock
  case $endpoint in /*) endpoint=unix://$endpoint ;; esac
  if [ -n "$endpoint" ]; then
    CONTAINER_RUNTIME_ENDPOINT=$endpoint
    IMAGE_SERVICE_ENDPOINT=$endpoint
    export CONTAINER_RUNTIME_ENDPOINT IMAGE_SERVICE_ENDPOINT
  fi
}

# crictl_answers NAME COMMAND…: as `ask`; one that did not answer is not started again.
hangs=
crictl_answers() {
  why=$hangs
  [ -z "$hangs" ] || return
  out=$1
  shift
  ask "$out" 8 crictl "$@" || case $why in *'did not answer'*) hangs='crictl did not answer before, so it was not asked again' ;; esac
  [ -z "$why" ]
}

# cri WHAT PART ROOT KEEP COMMAND…: one list of the runtime.
cri() {
  told=$1
  made=$2
  inside=$3
  kept=$4
  shift 4
  if ! crictl_answers cri "$@"; then
    unread "$told" "$why"
    return
  fi
  part "$made" cri "$inside" "$kept" || unread "$told" "what crictl $1 printed is no JSON of the form that is known"
}
c='/containers/[]'
s='/items/[]'
l=/labels/io.kubernetes
p=$l.pod
cri_containers() {
  cri runtime.containers runtime.containers /containers "$c/id $c/podSandboxId $c/metadata/name $c/metadata/attempt $c/image/image $c/image/userSpecifiedImage $c/imageRef $c/imageId $c/state $c/createdAt $c$l.container.name $c$p.name $c$p.namespace $c$p.uid" ps -a -o json
}
cri_sandboxes() {
  cri runtime.sandboxes runtime.sandboxes /items "$s/id $s/metadata/name $s/metadata/attempt $s/metadata/uid $s/metadata/namespace $s/state $s/createdAt $s/runtimeHandler $s$p.name $s$p.namespace $s$p.uid" pods -o json
}

# cri_filesystems: where the runtime keeps images, and layers of containers.
cri_filesystems() {
  f=
  for list in imageFilesystems containerFilesystems; do
    f="$f /status/$list/[]/timestamp /status/$list/[]/fsId/mountpoint /status/$list/[]/usedBytes/value /status/$list/[]/inodesUsed/value"
  done
  cri runtime.imageFs runtime.imageFs /status "$f" imagefsinfo -o json
  if [ -s part.runtime.imageFs ] && ! holds part.runtime.imageFs mountpoint; then
    # Before 1.29 crictl prints the one filesystem itself.
    rm -f part.runtime.imageFs
    if pick cri /status '/status/timestamp /status/fsId/mountpoint /status/usedBytes/value /status/inodesUsed/value' >one && holds one mountpoint; then
      { printf '{"imageFilesystems":['; cat one; printf ']}'; } >part.runtime.imageFs
    else
      unread runtime.imageFs 'crictl imagefsinfo names no filesystem'
    fi
  fi
}

# mount_of LIST: where the runtime says that it keeps them.
mount_of() {
  tr -d '\n' <part.runtime.imageFs | LIST=$1 awk '{
    at = index($0, "\"" ENVIRON["LIST"] "\":[")
    if (!at) exit
    $0 = substr($0, at)
    $0 = substr($0, 1, index($0, "]"))
    if (match($0, /"mountpoint":"\/[^"\\]*"/)) print substr($0, RSTART + 14, RLENGTH - 15)
  }'
}
