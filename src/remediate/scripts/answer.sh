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

# Of the processor, in tenths of a second: what this shell and its programs may take before `finish`, which may take ten more.
all_cpu=40

# tell_cpu: what they took into $spent, without a process.
tell_cpu() {
  spent=0
  times >cpu
  while read -r own system; do
    for part in "$own" "$system"; do
      case $part in *m*.*s) ;; *) continue ;; esac
      tenth=${part#*.}
      minutes=${part%%m*}
      part=${part#*m}
      spent=$((spent + minutes * 600 + ${part%%.*} * 10 + ${tenth%"${tenth#?}"}))
    done
  done <cpu
}

# run SECONDS COMMAND…: never longer than that, nor than what is left of the whole, of the clock and of the processor.
run() {
  seconds=$1
  shift
  [ -n "$limit" ] || { echo 'the program timeout is not on this node, so nothing that may hang is started' >&2; return 125; }
  tell_time
  left=$((started + all_seconds - clock))
  [ "$left" -gt 0 ] || { echo 'no time was left' >&2; return 125; }
  [ "$seconds" -le "$left" ] || seconds=$left
  tell_cpu
  cpu=$(((all_cpu - spent) / 10))
  [ "$cpu" -gt 0 ] || { echo 'no time of the processor was left' >&2; return 125; }
  # shellcheck disable=SC2086
  (ulimit -t "$cpu" 2>/dev/null; exec $limit "$seconds" "$@")
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
  : >"$name"
  has "$1" || { why="the program $1 is not on this node"; return 1; }
  run "$allowed" "$@" >"$name" 2>error </dev/null
  code=$?
  [ "$code" -ne 0 ] || return 0
  then=$clock
  tell_time
  # A program that is killed before its time has used up that of the processor.
  if [ "$code" -eq 137 ] && [ "$((clock - then))" -lt "$seconds" ]; then
    : >"$name"
    why="$1 used $cpu s of the processor"
    return 1
  fi
  if [ "$1,$code" = find,1 ] && [ -s error ] && ! holds error '' 'No such file or directory'; then return 0; fi
  : >"$name"
  case $code in
    124 | 137 | 143) why="$1 did not answer within $seconds seconds" ;;
    *)
      IFS= read -r why <error || :
      [ "${#why}" -le 400 ] || why=$(awk 'NR == 1 { print substr($0, 1, 400) }' error)
      [ "$code" -eq 125 ] || why="$1 failed with exit code $code: $why"
      ;;
  esac
  return 1
}

# plain TEXT: whether it stands in JSON as it is, so no program is needed to write it.
plain() { case $1 in *[!\ -~]* | *[\"\\]*) return 1 ;; esac; }

json_string() { if plain "$1"; then printf '"%s"' "$1"; else TEXT=$1 awk "$lib"'BEGIN { printf "%s", jstr(ENVIRON["TEXT"]) }'; fi; }

# unread WHAT WHY
unread() {
  case $2 in
    *://*) ;;
    *)
      if plain "$1$2" && [ "${#2}" -le 300 ]; then
        printf '{"what":"%s","why":"%s"}\n' "$1" "$2" >>list.host.unread
        return
      fi
      ;;
  esac
  WHAT=$1 WHY=$2 awk "$lib"'BEGIN { print "{\"what\":" jstr(ENVIRON["WHAT"]) ",\"why\":" jstr(cut(without_users(ENVIRON["WHY"]), 300)) "}" }' >>list.host.unread
}

# picks ROOT KEEP FILE: parts of the JSON in the file. A root may be PATH=NAME: then that part goes into NAME.
picks() { run 15 awk -v root="$1" -v keep="$2" -v hide=0 "$json" "$3" 2>/dev/null; }

# part NAME SOURCE ROOT [KEEP]: that part of the JSON in SOURCE, as the answer's part NAME.
part() {
  if picks "$3" "${4:-$3}" "$2" >"part.$1" && [ -s "part.$1" ]; then return 0; fi
  rm -f "part.$1"
  return 1
}

# What an answer can have, in its order, each in a file of its own: part.NAME is a value, list.NAME has an item a line.
# A name that begins with a dot is of `host`; one that ends with a dot is an object that is there even where nothing is in it.
contents='schema instanceId nodeName at .schema .kubelet.startedAt .kubelet.commandLine .kubelet.files .filesystems
.containerd. .containerd.sandboxImage .containerd.snapshotter .containerd.discardUnpackedLayers .containerd.mirrors
.bottlerocket. .bottlerocket.kubernetes .bottlerocket.containerRegistry .bottlerocket.os
.logrotate .logrotateRuns .cleaners .logs
.kernel. .kernel.release .kernel.cmdline .kernel.cgroupVersion .kernel.memoryCgroups .kernel.dyingMemoryCgroups .podLogDirectories .logLines
.diskUse.folders .diskUse.orphans .diskUse.inside .diskUse.snapshots .diskUse.namespaces .diskUse.layers .diskUse.deletedFiles
.diskUse.processes .diskUse.devices .diskUse.brokenLinks .diskUse.missed .unread
runtime.images runtime.containers runtime.sandboxes runtime.imageFs configz'

# whole SPARES: the answer without those parts into `whole`; its $bytes; and $odd, where a byte of it stands for one that is no UTF-8.
ascii=
whole() {
  files=
  for name in $contents; do
    case $name in .*) name=host$name ;; esac
    if [ -s "part.$name" ]; then files="$files part.$name"; elif [ -e "list.$name" ]; then files="$files list.$name"; fi
  done
  # shellcheck disable=SC2086
  OUT=$1 ASCII=$ascii awk '
    function put(s) {
      if (s ~ /\177/) { odd = 1; if (ENVIRON["ASCII"] != "") gsub(/\177/, "?", s) }
      bytes += length(s)
      printf "%s", s
    }
    function name_of(s) { put((count[deep]++ ? ",\n" : "") "\"" s "\":") }
    function file(path, between, item,  line, n, pieces) {
      for (n = 0; (getline line <path) > 0; n++) {
        if (n) put(between)
        if (!item || split(line, pieces, "\001") < 3) { put(line); continue }
        put(pieces[1])
        file(pieces[2], " ", 0)
        put(pieces[3])
      }
      close(path)
    }
    BEGIN {
      deep = 0
      n_out = split(ENVIRON["OUT"], list, " ")
      for (i = 1; i <= n_out; i++) out[list[i]] = 1
      put("{")
      for (i = 1; i < ARGC; i++) {
        n = split(ARGV[i], names, ".")
        path = names[2]
        is_out = path in out
        for (j = 3; j <= n; j++) { path = path "." names[j]; if (path in out) is_out = 1 }
        if (is_out) continue
        for (same = 0; same < deep && same + 3 <= n && open[same + 1] == names[same + 2]; same++);
        for (; deep > same; deep--) put("}")
        for (; deep + 2 < n; deep++) { name_of(names[deep + 2]); put("{"); open[deep + 1] = names[deep + 2]; count[deep + 1] = 0 }
        if (names[n] == "") continue
        name_of(names[n])
        if (names[1] == "part") file(ARGV[i], "\n", 0)
        else { put("["); file(ARGV[i], ",\n", 1); put("]") }
      }
      for (; deep >= 0; deep--) put("}")
      put("\n")
      print bytes, odd >"size"
    }' $files >whole
  odd=
  read -r bytes odd <size || bytes=$((most + 1))
}

# packed: smaller, where the node has what that takes.
packed() {
  { has gzip && has base64 && has sha256sum; } || return 1
  sum=$(run 5 sha256sum <whole) || return 1
  {
    printf '{"schema":"highwater.inspect/1","encoding":"gzip+base64","bytes":%d,"sha256":"%s","data":"' "$bytes" "${sum%% *}"
    run 5 gzip -9 -c <whole | base64 | tr -d '\n'
    printf '"}\n'
  } >packed
}

# finish: prints the answer, and nothing was printed before.
finish() {
  all_seconds=58
  all_cpu=$((all_cpu + 10))
  # Where there is no room now, lists may have been cut off before.
  printf '%22000s' '' >room 2>/dev/null
  if [ "$(wc -c <room)" -ne 22000 ]; then
    bare 'there is no room left for the files that the script itself needs'
    return
  fi
  printf '"highwater.inspect/1"' >part.schema
  printf '"%s"' "$instance" >part.instanceId
  printf '"%s"' "$at" >part.at
  printf '"highwater.host/1"' >part.host.schema
  : >>list.host.unread
  whole ''
  if [ -n "$odd" ]; then
    unread text 'not all of it was UTF-8: each byte beyond ASCII is a question mark'
    ascii=yes
    whole ''
  fi
  # Nothing of it is printed: it is only read.
  run 20 awk -v root=- -v keep=- -v hide=0 "$json" whole >/dev/null 2>&1
  code=$?
  if [ "$code" -eq 1 ]; then
    bare 'the answer that was put together is no JSON'
    return
  fi
  if [ "$bytes" -le "$most" ]; then
    cat whole
    return
  fi
  # SSM keeps the beginning, which has length and hash of all that lies in S3.
  if [ "$output" = full ] && packed; then
    cat packed
    return
  fi
  # What is left out first is what decides least; what is small goes back in once there is room.
  cat list.host.unread >all_unread
  out=
  for spare in host.logLines host.podLogDirectories host.logs host.diskUse runtime.sandboxes runtime.containers runtime.images configz host.logrotate host.filesystems host.kubelet; do
    if small; then break; fi
    is_there "$spare" || continue
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
    without "$rest"
    if small; then out=$rest; else without "$out"; fi
  done
  small
  cat small
}

is_there() {
  for file in "part.$1" "list.$1" "part.$1".* "list.$1".*; do [ ! -e "$file" ] || return 0; done
  return 1
}

# without SPARES: the whole anew, but for these parts, each named.
without() {
  cat all_unread >list.host.unread
  for part in $1; do
    case $part in configz) part='the running configuration' ;; esac
    unread "$part" 'left out: the answer would not fit into the 24,000 characters that SSM keeps'
  done
  whole "$1"
}

# small: the answer into small, as it is or packed; exit code 1 where neither fits.
small() {
  if [ "$bytes" -le "$most" ]; then cat whole >small; elif packed && [ "$(wc -c <packed)" -le "$most" ]; then cat packed >small; else return 1; fi
}
