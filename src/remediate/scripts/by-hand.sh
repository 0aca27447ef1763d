# What a script for one's own means does: it finds this node in its table, and runs the document's own script with what stands there.
# The head, the table, `content` and `document` stand before it. Standard output is the answer as one line of JSON; what is for people goes to the other.
# shellcheck shell=sh
# shellcheck disable=SC2154

R=${HIGHWATER_ROOT:-}
[ -n "$R" ] || PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
export PATH

has() { command -v "$1" >/dev/null 2>&1; }
say() { printf '%s\n' "$*" >&2; }
refuse() { say "Left alone: $1. Nothing was changed."; exit 3; }

usage() {
  cat <<END
Usage: sh $file check|apply|rollback|--help

  check     whether this node could be changed; changes nothing
  apply     change it, start its kubelet anew, watch it, and put the old file back where it is not well
  rollback  put back, byte for byte, what apply has kept

Run it as root on each node of plan $run, as a file or by \`sh -s apply <$file\`. A node that it does not name is left alone.

Exit codes: 0 done; 2 bad usage; 3 left alone; 4 tried, and put back as it was; 5 broken, it needs a person.
END
}

# ── which node is this ──
# find_instance: as the machine itself says, else the metadata service. Empty: it is no instance, or does not say.
find_instance() {
  instance=
  { IFS= read -r instance <"$R/sys/devices/virtual/dmi/id/board_asset_tag"; } 2>/dev/null || instance=
  is_instance || instance=
  if [ -z "$instance" ] && has curl; then
    here=http://169.254.169.254/latest
    token=$(curl -sS -f -m 2 --noproxy '*' -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$here/api/token" 2>/dev/null) || token=
    [ -z "$token" ] || instance=$(curl -sS -f -m 2 --noproxy '*' -H "X-aws-ec2-metadata-token: $token" "$here/meta-data/instance-id" 2>/dev/null) || instance=
    is_instance || instance=
  fi
}
is_instance() { case $instance in i-*[!a-f0-9]* | i-) return 1 ;; i-*) ;; *) return 1 ;; esac; }

# find_main: the kubelet that systemd runs, into $main. Empty: it says of none.
find_main() {
  main=
  for unit in kubelet.service snap.kubelet-eks.daemon.service; do
    [ -z "$main" ] || return 0
    main=$(systemctl show "$unit" -p ActiveState -p SubState -p MainPID 2>/dev/null </dev/null | awk -F= '$1 == "MainPID" && $2 > 0 { print $2 }') || main=
  done
}
# is_of_machine PID: no pod's, which may well have a process of that name: its parent is the first process, and its group is no container's.
is_of_machine() {
  awk '{ sub(/^.*\) /, ""); own = $2 == 1 } END { exit !own }' "$R/proc/$1/stat" 2>/dev/null || return 1
  ! awk '/kubepods|containerd|docker|libpod|crio/ { found = 1 } END { exit !found }' "$R/proc/$1/cgroup" 2>/dev/null
}
# find_names: what the kubelet here is told to be called into $told, else what the machine is called into $names, one a line.
find_names() {
  find_main
  read_told
  if [ -z "$told" ] && [ -n "$main" ]; then
    main=
    read_told
  fi
  names=$told
  [ -n "$names" ] || { IFS= read -r names <"$R/proc/sys/kernel/hostname"; } 2>/dev/null || names=
  names=$(printf '%s' "$names" | tr '[:upper:]' '[:lower:]')
}
read_told() {
  told=
  for line in "$R"/proc/[0-9]*/cmdline; do
    pid=${line%/cmdline}
    pid=${pid##*/}
    if [ -n "$main" ]; then
      [ "$pid" = "$main" ] || continue
    else
      is_of_machine "$pid" || continue
    fi
    name=$(tr '\000' '\n' 2>/dev/null <"$line" | awk '
      NR == 1 && $0 !~ /(^|\/)kubelet$/ { exit }
      takes { print; exit }
      $0 == "--hostname-override" { takes = 1 }
      index($0, "--hostname-override=") == 1 { print substr($0, 21); exit }')
    [ -z "$name" ] || told="$told$name
"
  done
}

# find_step: this node's line of the table. The instance decides where it is known: another cluster may well have a node of the same name.
find_step() {
  find_instance
  find_names
  nodes | INSTANCE=$instance NAMES=$names awk '
    BEGIN { n = split(ENVIRON["NAMES"], list, "\n"); for (i = 1; i <= n; i++) named[list[i]] = 1 }
    ENVIRON["INSTANCE"] != "" ? $1 == ENVIRON["INSTANCE"] : ($2 in named)' >"$W/found"
  self=${instance:-$(printf '%s' "$names" | tr '\n' ' ')}
  lines=$(awk 'END { print NR }' "$W/found")
  [ "$lines" -gt 0 ] || refuse "this machine (${self:-it does not say what it is called}) is no node of plan $run in this script"
  [ "$lines" -eq 1 ] || refuse "this machine ($self) could be $lines nodes of plan $run"
  read -r id node name method path old new number <"$W/found"
  if [ -n "$told" ] && ! printf '%s\n' "$names" | NODE=$node awk '$0 == ENVIRON["NODE"] { found = 1 } END { exit !found }'; then
    refuse "the plan knows $id as $node, and its kubelet is called $(printf '%s' "$names" | tr '\n' ' ')"
  fi
}

# ── the change ──
# packed NUMBER: that content, as the document takes it.
packed() {
  data=$(content "$1" | base64 | tr -d '\n')
  if [ "${#data}" -gt 24000 ] && has gzip; then data=$(content "$1" | gzip -9 -c | base64 | tr -d '\n'); fi
}

# tell: the answer in $W/answer, in words.
tell() {
  outcome=$(awk 'NR == 1 && match($0, /"outcome":"[a-z]*"/) { print substr($0, RSTART + 11, RLENGTH - 12) }' "$W/answer")
  reason=$(awk 'NR == 1 && match($0, /"reason":"([^"\\]|\\.)*"/) { s = substr($0, RSTART + 10, RLENGTH - 11); gsub(/\\"/, "\"", s); gsub(/\\\\/, "\\", s); print s }' "$W/answer")
  done=$(awk 'NR == 1 && match($0, /"steps":\[.*\]/) { s = substr($0, RSTART + 9, RLENGTH - 10); gsub(/","/, ", ", s); gsub(/^"|"$/, "", s); print s }' "$W/answer")
  case $outcome in
    ready) words='could be changed; nothing was' ;;
    applied) words='is changed, and well' ;;
    unchanged) words='is as it should be; nothing was done' ;;
    restored) words='is as it was before, byte for byte' ;;
    refused) words='is left alone' ;;
    failed) words='was not changed' ;;
    broken) words='is BROKEN and needs a person now' ;;
    *) words='gave no answer: send the same again' ;;
  esac
  say "$node ($id) $words${reason:+: $reason}"
  [ -z "$done" ] || say "  steps: $done"
  [ "$outcome" != applied ] || say "  When all nodes are done: highwater verify PLAN has the last word. It asks each kubelet what it runs with, which a node cannot know by itself."
}

main() {
  case $#,${1:-} in
    1,check | 1,apply | 1,rollback) action=$1 ;;
    1,--help | 1,-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  for tool in awk base64 cat id mktemp rm sh tr; do has "$tool" || refuse "the program $tool is not on this node"; done
  [ -n "$R" ] || [ "$(id -u)" = 0 ] || refuse 'it has to run as root'
  # In memory where that goes: the disk may be full.
  W=
  if [ -z "$R" ] && [ -d /run ]; then W=$(TMPDIR=/run mktemp -d 2>/dev/null) || W=; fi
  [ -n "$W" ] || W=$(mktemp -d 2>/dev/null) || refuse 'no private folder could be made'
  trap 'rm -rf "$W"' EXIT
  find_step
  packed "$number"
  given=${path##*/} source=
  if [ "$method" = pull-image ]; then
    given=$path source=$(content "$number")
    source=${source##*'"source":"'}
    source=${source%%'"'*}
  fi
  document "$name" >"$W/script" || refuse 'there is no room for the script itself'
  SSM_Action=$action SSM_Run=$run SSM_Method=$method SSM_Path=$path SSM_Name=$given SSM_Source=$source SSM_OldSha256=$old SSM_NewSha256=$new SSM_Content=$data \
    SSM_TimeoutSeconds=$seconds AWS_SSM_INSTANCE_ID=$id sh "$W/script" </dev/null >"$W/answer" &
  child=$!
  # A script that is terminated during a change rolls it back first, so wait for it.
  trap 'kill -TERM "$child" 2>/dev/null' HUP INT TERM
  while :; do
    wait "$child"
    code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  tell
  cat "$W/answer"
  exit "$code"
}

# Only now, when all of it has arrived.
main "$@"
