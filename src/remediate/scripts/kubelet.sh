# What both inspect documents of a host look up: the kubelet's process, a few of its settings, and the container runtime.
# `answer.sh` stands before it.
# shellcheck shell=sh

newline='
'
file_most=131072
[ -d "$R/proc" ] || { unread 'the kubelet process' 'there is no /proc'; }

# verdict_on FOLDER NAME: of a process there of that name, into $verdict; its parent's number, and the unit it runs in.
# Anybody can give a process any name and any arguments: only root's own counts, in the place of a service, or the one that systemd started.
verdict_on() {
  FOLDER=$1 NAME=$2 awk '
    BEGIN {
      place = "/(system|runtime|podruntime)[.]slice/|/(snap[.])?" ENVIRON["NAME"] "[-.a-z0-9]*[.]service$"
      from = ENVIRON["FOLDER"] "/cgroup"
      while ((getline line <from) > 0) {
        if (line ~ /kubepods|\/docker[-\/]|cri-containerd/) in_pod = 1
        if (line ~ place && line !~ /\/user[.]slice\/|\/machine[.]slice\//) in_service = 1
        sub(/^.*\//, "", line)
        if (unit == "" && line ~ /\.service$/) unit = line
      }
      from = ENVIRON["FOLDER"] "/status"
      while ((getline line <from) > 0) {
        if (line ~ /^Uid:[^0-9]+0[^0-9]+0[^0-9]/) of_root = 1
        if (line ~ /^PPid:/) { split(line, words, " "); parent = words[2] }
      }
      verdict = in_pod || !of_root ? "other" : (in_service ? "service" : "unsure")
      print verdict, (parent == "" ? "-" : parent), unit
    }' >verdict
  read -r verdict above unit <verdict
  [ "$verdict" = unsure ] || return 0
  [ -n "$asked" ] || { asked=yes; ask main 5 systemctl show "$2.service" -p MainPID; }
  if holds main "^MainPID=${1##*/}\$"; then verdict=service; fi
}

# process NAME: root's process of that name outside of any pod, into $pid; its arguments, one a line, into NAME.args, and its unit into $unit. Where
# there are several, which of them is meant is not known: $several names them.
process() {
  pid=
  several=
  parent=
  asked=
  runs_in=
  : >main
  : >"$1.args"
  for folder in "$R"/proc/[0-9]*; do
    { IFS= read -r comm <"$folder/comm"; } 2>/dev/null || continue
    [ "$comm" = "$1" ] || continue
    verdict_on "$folder" "$1"
    [ "$verdict" = service ] || continue
    name=$1.args
    [ -z "$pid" ] || name=try
    tr '\n\000' '\001\n' <"$folder/cmdline" >"$name" 2>/dev/null
    [ -s "$name" ] || continue
    # A child that has not become another program yet is no second one.
    [ -z "$pid" ] || [ "$above" != "$pid" ] || continue
    [ -z "$pid" ] || [ "$parent" = "${folder##*/}" ] || several="${several:-$pid} and ${folder##*/}"
    pid=${folder##*/}
    parent=$above
    runs_in=$unit
    [ "$name" != try ] || cat try >"$1.args"
  done
  unit=$runs_in
  if [ -n "$several" ]; then
    pid=
    unit=
    : >"$1.args"
  fi
  [ -n "$pid" ]
}

# flags FILE NAME…: the last value of each of those flags among the arguments in the file, a line each, into `flags`. To the kubelet an underscore is a
# dash.
flags() {
  from=$1
  shift
  FLAGS=$* awk '
    BEGIN { n = split(ENVIRON["FLAGS"], names, " "); for (i = 1; i <= n; i++) values[names[i]] = "" }
    takes != "" { values[takes] = $0; takes = ""; next }
    $0 == "--" { exit }
    /^-/ {
      e = index($0, "=")
      name = e ? substr($0, 1, e - 1) : $0
      sub(/^--?/, "", name)
      gsub(/_/, "-", name)
      if (!(name in values)) next
      if (e) values[name] = substr($0, e + 1); else takes = name
    }
    END { for (i = 1; i <= n; i++) print values[names[i]] }' "$from" >flags
}

# kubelet_flags: those of the kubelet's flags that say where to look.
kubelet_flags() {
  flags kubelet.args config config-dir hostname-override root-dir container-runtime-endpoint
  {
    IFS= read -r config
    IFS= read -r config_dir
    IFS= read -r node
    IFS= read -r root_dir
    IFS= read -r endpoint
  } <flags
  root_dir=${root_dir:-/var/lib/kubelet}
}

# readable PATH: whether it is a file of ours to take whole, its $bytes and when it was $changed; else $why.
readable() {
  why=
  bytes=
  changed=
  [ -e "$R$1" ] || { why='there is no such file'; [ ! -h "$R$1" ] || why='a link that leads nowhere'; return 1; }
  [ -f "$R$1" ] || { why='it is no file'; return 1; }
  [ -r "$R$1" ] || { why='it cannot be read'; return 1; }
  # Not every `wc` knows the size without reading all.
  if has stat; then stat -L -c '%s %Y' "$R$1"; else run 3 wc -c <"$R$1"; fi >size 2>/dev/null
  read -r bytes changed <size || { why='it cannot be read'; return 1; }
  [ "$bytes" -le "$file_most" ] || { why="it has $((bytes)) bytes: more than $file_most are not taken"; return 1; }
}

# text_of PATH KIND: that file as text, into `text`. Exit code 1: it does not say itself that it is of that kind, as the kubelet asks of each.
text_of() {
  : >text
  tr '\000' '\001' <"$R$1" | KIND=$2 awk '
    BEGIN { value = "[ \t]*[\"\047]?" ENVIRON["KIND"] "[\"\047]?[ \t\r]*([,}#]|$)" }
    NR == 1 { sub(/^\357\273\277/, "") }
    { print >"text" }
    found { next }
    begun && /[^ \t\r]/ { if ($0 ~ "^" value) { found = 1; next } begun = 0 }
    match($0, "(^|[{,])[ \t]*[\"\047]?kind[\"\047]?[ \t]*:" value) { found = 1; next }
    /(^|[{,])[ \t]*["\047]?kind["\047]?[ \t]*:[ \t\r]*$/ { begun = 1 }
    END { exit !found }'
}

# fields_of FILE…: of what the kubelet reads, in its order, those that say where to look: $pod_logs and $endpoint, where no flag names it.
# $doubt: a file may say what was not seen.
doubt=
fields_of() {
  [ "$#" -gt 0 ] || set -- /dev/null
  awk '
    /^[ \t]*#/ { next }
    /podLogsDir|containerRuntimeEndpoint/ {
      if (!match($0, /^[{]?["\047]?(podLogsDir|containerRuntimeEndpoint)["\047]?[ \t]*:[ \t]*/)) { doubt = "?"; next }
      name = $0
      value = substr($0, RLENGTH + 1)
      gsub(/^[{"\047]+|["\047 \t]*:.*$/, "", name)
      sub(/[ \t]+#.*$/, "", value)
      sub(/[],}{ \t\r]+$/, "", value)
      if (value ~ /^"[^"\\]*"$|^\047[^\047]*\047$/) value = substr(value, 2, length(value) - 2)
      else if (value !~ /^[A-Za-z\/][^"\047{}#]*$/) { doubt = "?"; next }
      values[name] = value
    }
    END { print doubt; print values["podLogsDir"]; print values["containerRuntimeEndpoint"] }' "$@" >fields
  {
    read -r value
    doubt=$doubt$value
    IFS= read -r pod_logs
    IFS= read -r value
  } <fields
  endpoint=${endpoint:-$value}
  pod_logs=${pod_logs:-/var/log/pods}
  if [ -n "$kubelets$doubt" ]; then pod_logs=; fi
  case $pod_logs in /*) ;; *) pod_logs= ;; esac
}

# in_walk_order MOST FILE: the first lines of a list of paths, as a folder is walked. A line `odd` is no path: $odd then.
in_walk_order() {
  MOST=$1 awk '
    $0 == "odd" { odd = 1; next }
    ++seen <= ENVIRON["MOST"] {
      key = $0
      gsub(/\//, "\001", key)
      for (i = ++n; i > 1 && key "" < keys[i - 1] ""; i--) { keys[i] = keys[i - 1]; names[i] = names[i - 1] }
      keys[i] = key
      names[i] = $0
    }
    END { print odd; for (i = 1; i <= n; i++) print names[i] }' "$2" >sorted
}

# node_name: as the kubelet calls the node.
node_name() {
  [ -n "$node$kubelets" ] || { IFS= read -r node <"$R/proc/sys/kernel/hostname"; } 2>/dev/null || node=
  json_string "$node" >part.nodeName
}

# runtime_endpoint: where crictl and ctr find the container runtime, into $endpoint.
runtime_endpoint() {
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
  cri runtime.containers runtime.containers /containers "$c/id $c/podSandboxId $c/metadata/name $c/metadata/attempt $c/image/image $c/imageRef $c/imageId $c/state $c/createdAt $c$l.container.name $c$p.name $c$p.namespace $c$p.uid" ps -a -o json
}
cri_sandboxes() {
  cri runtime.sandboxes runtime.sandboxes /items "$s/id $s/metadata/name $s/metadata/attempt $s/metadata/uid $s/metadata/namespace $s/state $s/createdAt $s$p.name $s$p.namespace $s$p.uid" pods -o json
}

# mounts: where the runtime says that it keeps them, by part.runtime.imageFs: $images and $layers; exit code 1 where it names none.
mounts() {
  images=
  layers=
  [ -s part.runtime.imageFs ] || return
  awk '
    function mount_of(list,  at, s) {
      at = index(all, "\"" list "\":[")
      if (!at) return ""
      s = substr(all, at)
      s = substr(s, 1, index(s, "]"))
      return match(s, /"mountpoint":"\/[^"\\]*"/) ? substr(s, RSTART + 14, RLENGTH - 15) : ""
    }
    { all = all $0 }
    END { print index(all, "mountpoint"); print mount_of("imageFilesystems"); print mount_of("containerFilesystems") }' part.runtime.imageFs >mounts
  {
    read -r at_all
    IFS= read -r images
    IFS= read -r layers
  } <mounts
  [ "$at_all" -gt 0 ]
}

# cri_filesystems: where the runtime keeps images, and layers of containers.
cri_filesystems() {
  f=
  for list in imageFilesystems containerFilesystems; do
    f="$f /status/$list/[]/timestamp /status/$list/[]/fsId/mountpoint /status/$list/[]/usedBytes/value /status/$list/[]/inodesUsed/value"
  done
  cri runtime.imageFs runtime.imageFs /status "$f" imagefsinfo -o json
  if mounts || [ ! -s part.runtime.imageFs ]; then return; fi
  # Before 1.29 crictl prints the one filesystem itself.
  rm -f part.runtime.imageFs
  if picks /status '/status/timestamp /status/fsId/mountpoint /status/usedBytes/value /status/inodesUsed/value' cri >one && holds one mountpoint; then
    { printf '{"imageFilesystems":['; cat one; printf ']}'; } >part.runtime.imageFs
  else
    unread runtime.imageFs 'crictl imagefsinfo names no filesystem'
  fi
  mounts || :
}
