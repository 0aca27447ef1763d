# What the inspect scripts share: bounded steps and one answer at the end. `node.sh`, `text.sh` and `json.sh` stand before it.
# It reads only; it writes into a folder of its own, which goes when it ends.
# shellcheck shell=sh

output=short
[ "${HIGHWATER_OUTPUT:-short}" != full ] || output=full

# bare REASON: the answer where nothing else can be made.
bare() {
  printf '{"schema":"highwater.inspect/1","instanceId":"%s","nodeName":"","at":null,"host":{"schema":"highwater.host/1","unread":[{"what":"host","why":"%s"}]},"runtime":null,"configz":null}\n' "$instance" "$1"
}

for tool in awk tr cat date mktemp rm wc; do
  has "$tool" || { bare "the program $tool is not on this node"; exit 0; }
done
# Names of files without a folder are in there.
if ! private_folder || ! cd "$W"; then bare 'no private folder could be made'; exit 0; fi
trap 'rm -rf "$W"' EXIT
trap 'exit 143' HUP INT TERM

if has renice; then renice -n 19 -p $$ >/dev/null 2>&1; fi
if has ionice; then ionice -c 3 -p $$ >/dev/null 2>&1; fi

# The agent keeps 24,000 characters of the output.
most=23000
all_seconds=48
at=$(date -u +%Y-%m-%dT%H:%M:%SZ)

# tell_time: seconds since the boot into $clock, without a process.
tell_time() { read -r clock _ </proc/uptime; clock=${clock%%.*}; }
tell_time
started=$clock

# run SECONDS COMMAND…: never longer than that, nor than what is left of the whole.
run() {
  seconds=$1
  shift
  [ -n "$limit" ] || { echo 'the program timeout is not on this node, so nothing that may hang is started' >&2; return 125; }
  tell_time
  left=$((started + all_seconds - clock))
  [ "$left" -gt 0 ] || { echo 'no time was left' >&2; return 125; }
  [ "$seconds" -le "$left" ] || seconds=$left
  # shellcheck disable=SC2086
  $limit "$seconds" "$@"
}

# holds FILE EXPRESSION [BUT]: whether a line of it matches, and not BUT.
holds() {
  EXPRESSION=$2 BUT=${3:-} awk '
    $0 ~ ENVIRON["EXPRESSION"] && (ENVIRON["BUT"] == "" || $0 !~ ENVIRON["BUT"]) { found = 1; exit }
    END { exit !found }' "$1" 2>/dev/null
}

# ask NAME SECONDS COMMAND…: its output into NAME; where that fails, $why says so. What goes while `find` walks was not there.
ask() {
  name=$1
  allowed=$2
  shift 2
  why=
  has "$1" || { why="the program $1 is not on this node"; return 1; }
  run "$allowed" "$@" >"$name" 2>error </dev/null
  code=$?
  [ "$code" -ne 0 ] || return 0
  if [ "$1,$code" = find,1 ] && [ -s error ] && ! holds error '' 'No such file or directory'; then return 0; fi
  : >"$name"
  case $code in
    124 | 137 | 143) why="$1 did not answer within $seconds seconds" ;;
    *)
      why=$(awk 'NR == 1 { print substr($0, 1, 400) }' error)
      [ "$code" -eq 125 ] || why="$1 failed with exit code $code: $why"
      ;;
  esac
  return 1
}

# unread WHAT WHY
unread() { WHAT=$1 WHY=$2 awk "$lib"'BEGIN { print "{\"what\":" jstr(ENVIRON["WHAT"]) ",\"why\":" jstr(cut(without_users(ENVIRON["WHY"]), 300)) "}" }' >>unread; }

# pick NAME ROOT [KEEP]: that part of the JSON in NAME.
pick() { run 15 awk -v root="$2" -v keep="${3:-$2}" -v hide=0 "$json" "$1" 2>/dev/null; }

# part NAME SOURCE ROOT [KEEP]: the same into the answer's part NAME.
part() {
  if pick "$2" "$3" "${4:-}" >"part.$1" && [ -s "part.$1" ]; then return 0; fi
  rm -f "part.$1"
  return 1
}

json_string() { TEXT=$1 awk "$lib"'BEGIN { printf "%s", jstr(ENVIRON["TEXT"]) }'; }

# joined FILE: its lines as the items of a list.
joined() { awk 'BEGIN { printf "[" } { printf "%s%s", (NR > 1 ? ",\n" : ""), $0 } END { printf "]" }' "$1"; }

# members PREFIX NAME…: those parts that are there.
members() {
  group=$1
  shift
  comma=
  printf '{'
  for member in "$@"; do
    [ -s "part.$group$member" ] || continue
    printf '%s"%s":' "$comma" "$member"
    cat "part.$group$member"
    comma=',
'
  done
  printf '}'
}

whole() {
  joined unread >part.host.unread
  printf '"highwater.host/1"' >part.host.schema
  members host. schema kubelet filesystems containerd bottlerocket logrotate logrotateRuns cleaners journald logs kernel podLogDirectories logLines diskUse unread >part.host
  rm -f part.runtime
  members runtime. images containers sandboxes imageFs >runtime
  if [ "$(wc -c <runtime)" -gt 2 ]; then cat runtime >part.runtime; fi
  printf '"highwater.inspect/1"' >part.schema
  printf '"%s"' "$instance" >part.instanceId
  printf '"%s"' "$at" >part.at
  members '' schema instanceId nodeName at host runtime configz >whole
  echo >>whole
}

# packed: smaller, where the node has what that takes.
packed() {
  { has gzip && has base64 && has sha256sum; } || return 1
  sum=$(run 5 sha256sum <whole) || return 1
  {
    printf '{"schema":"highwater.inspect/1","encoding":"gzip+base64","bytes":%d,"sha256":"%s","data":"' "$(wc -c <whole)" "${sum%% *}"
    run 5 gzip -9 -c <whole | base64 | tr -d '\n'
    printf '"}\n'
  } >packed
}

fits() { [ "$(wc -c <"$1")" -le "$most" ]; }

# finish: prints the answer, and nothing was printed before.
finish() {
  all_seconds=58
  # Where there is no room now, lists may have been cut off before.
  awk 'BEGIN { for (i = 0; i < 2000; i++) print "0123456789" }' >room 2>/dev/null
  if [ "$(wc -c <room)" -ne 22000 ]; then
    bare 'there is no room left for the files that the script itself needs'
    return
  fi
  [ -f unread ] || : >unread
  whole
  if [ "$(tr -dc '\177' <whole | wc -c)" -gt 0 ]; then
    unread text 'not all of it was UTF-8: each byte beyond ASCII is a question mark'
    for file in part.* unread; do
      tr '\177' '?' <"$file" >ascii && cat ascii >"${file##*/}"
    done
    whole
  fi
  run 20 awk -v root= -v keep= -v hide=0 "$json" whole >/dev/null 2>&1
  code=$?
  if [ "$code" -eq 1 ]; then
    bare 'the answer that was put together is no JSON'
    return
  fi
  if fits whole; then
    cat whole
    return
  fi
  # SSM keeps the beginning, which has length and hash of all that lies in S3.
  if [ "$output" = full ] && packed; then
    cat packed
    return
  fi
  # What is left out first is what decides least; what is small goes back in once there is room.
  cat unread >all_unread
  out=
  for spare in host.logLines host.podLogDirectories host.logs host.diskUse runtime.sandboxes runtime.containers runtime.images configz host.logrotate host.filesystems host.kubelet; do
    if small; then break; fi
    [ -s "part.$spare" ] || continue
    cat "part.$spare" >"spare.$spare"
    out="$spare $out"
    without "$out"
  done
  if ! small; then
    bare 'the answer does not fit into the 24,000 characters that SSM keeps'
    return
  fi
  for spare in $out; do
    rest=
    for other in $out; do [ "$other" = "$spare" ] || rest="$rest $other"; done
    cat "spare.$spare" >"part.$spare"
    without "$rest"
    if small; then out=$rest; else without "$out"; fi
  done
  small
  cat small
}

# without SPARES: the whole anew, but for these parts, each named.
without() {
  cat all_unread >unread
  for part in $1; do
    rm -f "part.$part"
    case $part in configz) part='the running configuration' ;; esac
    unread "$part" 'left out: the answer would not fit into the 24,000 characters that SSM keeps'
  done
  whole
}

# small: the answer into small, as it is or packed; exit code 1 where neither fits.
small() {
  if fits whole; then cat whole >small; elif packed && fits packed; then cat packed >small; else return 1; fi
}
