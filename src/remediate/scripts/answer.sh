# What the inspect scripts share: bounded steps, JSON without jq or python, and one answer at the end. Each document begins with this file.
# It runs as root under whatever `sh` is there (dash, bash, busybox) and reads only; it writes into a folder of its own, which goes when it ends.
# shellcheck shell=sh
set -u
LC_ALL=C
LANG=C
export LC_ALL LANG
umask 077

# Another root folder, for the tests and the lab; there the tools are those of PATH alone.
R=${HIGHWATER_ROOT:-}
[ -n "$R" ] || PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"
export PATH
output=short
[ "${HIGHWATER_OUTPUT:-short}" != full ] || output=full

has() { command -v "$1" >/dev/null 2>&1; }

instance=${AWS_SSM_INSTANCE_ID:-}
case $instance in *[!a-zA-Z0-9-]*) instance= ;; esac
if [ -z "$instance" ] && [ -f "$R/sys/devices/virtual/dmi/id/board_asset_tag" ]; then
  { IFS= read -r instance <"$R/sys/devices/virtual/dmi/id/board_asset_tag"; } 2>/dev/null || instance=
  case $instance in i-*[!a-f0-9]*) instance= ;; i-*) ;; *) instance= ;; esac
fi

# bare REASON: the answer where nothing else can be made.
bare() {
  printf '{"schema":"highwater.inspect/1","instanceId":"%s","nodeName":"","at":null,"host":{"schema":"highwater.host/1","unread":[{"what":"host","why":"%s"}]},"runtime":null,"configz":null}\n' "$instance" "$1"
}

for tool in awk tr cat date mktemp rm wc; do
  has "$tool" || { bare "the program $tool is not on this node"; exit 0; }
done
# In memory where that goes: the disk may be full, which is what we are here for.
W=
for place in /run /dev/shm; do
  if [ -n "$W" ] || [ -n "$R" ] || [ ! -d "$place" ]; then continue; fi
  W=$(TMPDIR=$place mktemp -d 2>/dev/null) || W=
done
[ -n "$W" ] || W=$(mktemp -d 2>/dev/null) || { bare 'no private folder could be made'; exit 0; }
trap 'rm -rf "$W"' EXIT
trap 'exit 143' HUP INT TERM

if has renice; then renice -n 19 -p $$ >/dev/null 2>&1; fi
if has ionice; then ionice -c 3 -p $$ >/dev/null 2>&1; fi

# The agent keeps 24,000 characters of the output.
most=23000
started=$(date +%s)
all_seconds=48
at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
limit=
if has timeout; then
  limit=timeout
  if timeout -k 1 1 true 2>/dev/null; then limit='timeout -k 1'; fi
fi

# run SECONDS COMMAND…: never longer than that, nor than what is left of the whole.
run() {
  seconds=$1
  shift
  [ -n "$limit" ] || { echo 'the program timeout is not on this node, so nothing that may hang is started' >&2; return 125; }
  left=$((started + all_seconds - $(date +%s)))
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

# ask NAME SECONDS COMMAND…: its output into $W/NAME; where that fails, $why says so. What goes while `find` walks was not there.
ask() {
  name=$1
  allowed=$2
  shift 2
  why=
  has "$1" || { why="the program $1 is not on this node"; return 1; }
  run "$allowed" "$@" >"$W/$name" 2>"$W/error" </dev/null
  code=$?
  [ "$code" -ne 0 ] || return 0
  if [ "$1,$code" = find,1 ] && [ -s "$W/error" ] && ! holds "$W/error" '' 'No such file or directory'; then return 0; fi
  : >"$W/$name"
  case $code in
    124 | 137 | 143) why="$1 did not answer within $seconds seconds" ;;
    *)
      why=$(awk 'NR == 1 { print substr($0, 1, 200) }' "$W/error")
      [ "$code" -eq 125 ] || why="$1 failed with exit code $code: $why"
      ;;
  esac
  return 1
}

# unread WHAT WHY
unread() { WHAT=$1 WHY=$2 awk "$lib"'BEGIN { print "{\"what\":" jstr(ENVIRON["WHAT"]) ",\"why\":" jstr(substr(ENVIRON["WHY"], 1, 300)) "}" }' >>"$W/unread"; }

# What every awk program here begins with. In lines, \001 stands for a line's end.
lib='
function jstr(s) {
  gsub(/\\/, "&&", s)
  gsub(/"/, "\\\\&", s)
  gsub(/\t/, "\\t", s)
  gsub(/\r/, "\\r", s)
  gsub(/\n/, "\\n", s)
  gsub("\001", "\\n", s)
  gsub("[\001-\037]", "?", s)
  return "\"" s "\""
}
function iso(s,  days, era, doe, yoe, doy, mp, d, m, y, t) {
  days = int(s / 86400); t = s - days * 86400
  days += 719468; era = int(days / 146097); doe = days - era * 146097
  yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365)
  doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100)); mp = int((5 * doy + 2) / 153)
  d = doy - int((153 * mp + 2) / 5) + 1; m = mp < 10 ? mp + 3 : mp - 9; y = yoe + era * 400 + (m <= 2)
  return sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, int(t / 3600), int(t / 60) % 60, t % 60)
}
function is_secret(name) {
  name = tolower(name)
  return name ~ /token|passw|secret|credential|authorization|private[-_]?key|key$/ && name !~ /(file|path|dir|ttl|mode|refresh|rotate[-a-z0-9_]*)$/
}
# How much of `rest` is the value of a secret; `before` is the quote that was open before its name.
function value_length(rest, name, before,  quote, n, more) {
  if (index(rest, "(removed)") == 1) return 9
  if (match(rest, /^\\*["\047]/)) {
    quote = substr(rest, 1, RLENGTH)
    n = RLENGTH
    for (;;) {
      more = index(substr(rest, n + 1), quote)
      if (!more) return length(rest)
      n += more + length(quote) - 1
      if (length(quote) > 1 || substr(rest, n - 1, 1) != "\\") break
    }
    if (match(substr(rest, n + 1), /^[A-Za-z0-9_$][^ \t]*/)) n += RLENGTH
    return n
  }
  if (tolower(name) ~ /authorization/ || rest ~ /^[[{]/) return length(rest)
  match(rest, /^(\\.|[^ \t\\])*/)
  n = RLENGTH
  if (n > 0 && substr(rest, n, 1) ~ /["\047]/) return n - 1
  # In quotes a value may have spaces; the next flag is none of it.
  while (before != "" && match(substr(rest, n + 1), /^[ \t]+[^- \t"\047][^ \t]*/)) {
    n += RLENGTH
    if (substr(rest, n, 1) == before) return n - 1
  }
  return n
}
function without_secrets(s,  out, name, before, rest, between, n) {
  gsub(/:\/\/[^\/@ ]*@/, "://", s)
  if (s ~ /[Bb]earer +[^ ]/) gsub(/[Bb]earer +[^ "]+/, "Bearer (removed)", s)
  out = ""
  while (match(tolower(s), /[-a-z0-9_.]*(token|passw|secret|credential|authorization|key)[-a-z0-9_.]*/)) {
    name = substr(s, RSTART, RLENGTH)
    out = out substr(s, 1, RSTART - 1)
    before = substr(out, length(out), 1)
    out = out name
    s = substr(s, RSTART + RLENGTH)
    # A label or a taint may well be called a key.
    if (!is_secret(name) || (tolower(name) !~ /token|passw|secret|credential|authorization|private|api|access/ && before ~ /[=,\/:]/)) continue
    if (match(s, /^\\*["\047]?([ \t]*:[ \t]*|=|[ \t]+=[ \t]*)/)) between = substr(s, 1, RLENGTH)
    else if (name ~ /^--?[A-Za-z0-9]/ && match(s, /^["\047]?[ \t]+/) && substr(s, RLENGTH + 1) !~ /^["\047]?-/) between = substr(s, 1, RLENGTH)
    else continue
    rest = substr(s, length(between) + 1)
    if (between ~ /^\\*["\047]/ || before !~ /["\047]/) before = ""
    n = value_length(rest, name, before)
    if (n == 0 || substr(rest, 1, n) ~ /^(true|false)$/) continue
    out = out between "(removed)"
    s = substr(rest, n + 1)
  }
  return out s
}
# Of the kernel parameters only those that are known to hold nothing but settings; what follows `--` is for init.
function kernel_words(s,  words, n, i, out) {
  gsub(/"[^"]*"?/, "\"", s)
  n = split(s, words, " ")
  for (i = 1; i <= n && words[i] != "--"; i++)
    if (words[i] ~ /^(BOOT_IMAGE|root|rootfstype|ro|rw|quiet|console|cgroup[._][a-z0-9_.]+|cgroup|swapaccount|psi|systemd\.unified_cgroup_hierarchy|systemd\.legacy_systemd_cgroup_controller|net\.ifnames|biosdevname|nvme_core\.io_timeout|selinux|enforcing|security|mitigations|transparent_hugepage|hugepages|hugepagesz|crashkernel|panic)(=[A-Za-z0-9_.,:\/()=+-]*)?$/)
      out = out (out == "" ? "" : " ") words[i]
  return out
}
'

# Strict JSON in; out comes what `keep` (paths, "[]" for items, "*" for any key) names below `root`. With `hide` all stays but what may be secret.
# Exit code 1: it is no JSON, or has a key twice; 3: there is nothing at `root`.
json='
function fail(reason) { wrong = reason; exit 1 }
function status(  p, s) {
  if (d == 0) { vpath = ""; return ("" in keeps) ? 2 : 1 }
  s = state[d]
  vpath = path[d] "/" (type[d] == "[" ? "[]" : key_path)
  if (s == 0) return 0
  if (hide && type[d] == "{" && hidden(key)) return 4
  if (s == 2) return 2
  if (vpath in keeps) return 2
  if (type[d] == "{") {
    p = path[d] "/*"
    if (p in keeps) { vpath = p; return 2 }
    if (p in enters) { vpath = p; return 1 }
  }
  return (vpath in enters) ? 1 : 0
}
function hidden(k) {
  k = tolower(k)
  if (k ~ /\\/) return 1
  if (k ~ /^(configmapandsecretchangedetectionstrategy|imagepullcredentialsverificationpolicy|tlsprivatekeyfile)$/) return 0
  return k ~ /token|passw|secret|credential|private.?key|header|^staticpodurl$/
}
function prefix() {
  if (d == 0 || !shown[d]) return
  if (count[d]++ > 0) printf (d == root_depth ? ",\n" : ",")
  if (type[d] == "{") printf "\"%s\":", key
}
function before_value() {
  if (want == "value" || want == "value-or-end") return
  fail("a value is not expected here")
}
function after_value() { want = d == 0 ? "nothing" : "comma-or-end" }
function scalar(tok, is_text,  s) {
  before_value()
  s = status()
  if (s == 4) { s = 2; if (is_text) tok = "\"(removed)\"" }
  if (is_text && index(tok, "://")) gsub(/:\/\/[^\/@" ]*@/, "://", tok)
  if (s == 2 && ((d > 0 && shown[d]) || vpath == root)) { prefix(); printf "%s", tok; found = 1 }
  after_value()
}
function opens(c,  s, is_shown) {
  before_value()
  s = status()
  if (s == 4) s = 0
  is_shown = s > 0 && ((d > 0 && shown[d]) || vpath == root)
  if (is_shown) { prefix(); printf "%s", c }
  if (s > 0 && vpath == root && is_shown) { root_depth = d + 1; found = 1 }
  if (++d > 64) fail("nested too deep")
  type[d] = c; state[d] = s; path[d] = vpath; shown[d] = is_shown; count[d] = 0; id[d] = ++ids
  want = c == "{" ? "key-or-end" : "value-or-end"
}
function closes(c) {
  if (d == 0 || type[d] != (c == "}" ? "{" : "[")) fail("a bracket too many")
  if (want != "comma-or-end" && want != "value-or-end" && want != "key-or-end") fail("a value is missing")
  if (shown[d]) printf "%s", c
  d--
  after_value()
}
function takes_key(tok) {
  key = substr(tok, 2, length(tok) - 2)
  if ((id[d], key) in seen) fail("a key is there twice")
  seen[id[d], key] = 1
  key_path = key
  gsub(/\//, "\002", key_path)
  want = "colon"
}
BEGIN {
  n = split(keep, list, " ")
  if (n == 0) keeps[""] = 1
  for (i = 1; i <= n; i++) {
    keeps[list[i]] = 1
    p = list[i]
    while (match(p, /\/[^\/]*$/)) { p = substr(p, 1, RSTART - 1); enters[p] = 1 }
  }
  special = "[\"\\\\\001-\037]"
  root_depth = -1
  want = "value"
}
{
  n = length($0)
  pos = 1
  while (pos <= n) {
    c = substr($0, pos, 1)
    if (c == " " || c == "\t" || c == "\r") { pos++; continue }
    if (c == "{" || c == "[") { opens(c); pos++; continue }
    if (c == "}" || c == "]") { closes(c); pos++; continue }
    if (c == ",") {
      if (want != "comma-or-end" || d == 0) fail("a comma is not expected here")
      want = type[d] == "{" ? "key" : "value"
      pos++
      continue
    }
    if (c == ":") {
      if (want != "colon") fail("a colon is not expected here")
      want = "value"
      pos++
      continue
    }
    if (c == "\"") {
      i = pos + 1
      for (;;) {
        if (i > n) fail("a string has no end")
        part = substr($0, i, 128)
        if (!match(part, special)) { i += 128; continue }
        c = substr(part, RSTART, 1)
        i += RSTART
        if (c == "\"") break
        if (c != "\\") fail("a control character in a string")
        c = substr($0, i, 1)
        if (c == "u") {
          if (substr($0, i + 1, 4) !~ /^[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]$/) fail("a bad escape")
        } else if (c == "" || !index("\"\\/bfnrt", c)) fail("a bad escape")
        i++
      }
      tok = substr($0, pos, i - pos)
      pos = i
      if (want == "key" || want == "key-or-end") takes_key(tok)
      else scalar(tok, 1)
      continue
    }
    part = substr($0, pos, 400)
    if (match(part, /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) || match(part, /^(true|false|null)/)) {
      tok = substr(part, 1, RLENGTH)
      pos += RLENGTH
      if (pos <= n && substr($0, pos, 1) !~ /[],} \t\r]/) fail("a word that is no value")
      scalar(tok, 0)
      continue
    }
    fail("a word that is no value")
  }
}
END {
  if (wrong != "" || want != "nothing") exit 1
  if (!found) exit 3
}
'

# pick NAME ROOT [KEEP]: that part of the JSON in $W/NAME.
pick() { run 15 awk -v root="$2" -v keep="${3:-$2}" -v hide=0 "$json" "$W/$1" 2>/dev/null; }

# part NAME SOURCE ROOT [KEEP]: the same into the answer's part NAME.
part() {
  if pick "$2" "$3" "${4:-}" >"$W/part.$1" && [ -s "$W/part.$1" ]; then return 0; fi
  rm -f "$W/part.$1"
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
    [ -s "$W/part.$group$member" ] || continue
    printf '%s"%s":' "$comma" "$member"
    cat "$W/part.$group$member"
    comma=',
'
  done
  printf '}'
}

whole() {
  joined "$W/unread" >"$W/part.host.unread"
  printf '"highwater.host/1"' >"$W/part.host.schema"
  members host. schema kubelet filesystems containerd bottlerocket logrotate logrotateRuns journald logs kernel podLogDirectories logLines unread >"$W/part.host"
  rm -f "$W/part.runtime"
  members runtime. images containers sandboxes imageFs >"$W/runtime"
  if [ "$(wc -c <"$W/runtime")" -gt 2 ]; then cat "$W/runtime" >"$W/part.runtime"; fi
  printf '"highwater.inspect/1"' >"$W/part.schema"
  printf '"%s"' "$instance" >"$W/part.instanceId"
  printf '"%s"' "$at" >"$W/part.at"
  members '' schema instanceId nodeName at host runtime configz >"$W/whole"
  echo >>"$W/whole"
}

# packed: smaller, where the node has what that takes.
packed() {
  { has gzip && has base64 && has sha256sum; } || return 1
  sum=$(run 5 sha256sum <"$W/whole") || return 1
  {
    printf '{"schema":"highwater.inspect/1","encoding":"gzip+base64","bytes":%d,"sha256":"%s","data":"' "$(wc -c <"$W/whole")" "${sum%% *}"
    run 5 gzip -9 -c <"$W/whole" | base64 | tr -d '\n'
    printf '"}\n'
  } >"$W/packed"
}

fits() { [ "$(wc -c <"$1")" -le "$most" ]; }

# finish: prints the answer, and nothing was printed before.
finish() {
  all_seconds=58
  # Where there is no room now, lists may have been cut off before.
  awk 'BEGIN { for (i = 0; i < 2000; i++) print "0123456789" }' >"$W/room" 2>/dev/null
  if [ "$(wc -c <"$W/room")" -ne 22000 ]; then
    bare 'there is no room left for the files that the script itself needs'
    return
  fi
  [ -f "$W/unread" ] || : >"$W/unread"
  whole
  if has iconv && run 5 iconv -f UTF-8 -t UTF-8 <"$W/whole" >/dev/null 2>&1; then :; elif [ "$(tr -d '\000-\177' <"$W/whole" | wc -c)" -eq 0 ]; then :; else
    unread text 'not all of it was UTF-8: each byte beyond ASCII is a question mark'
    for file in "$W"/part.* "$W/unread"; do
      tr '\200-\377' '?' <"$file" >"$W/ascii" && cat "$W/ascii" >"$W/${file##*/}"
    done
    whole
  fi
  run 20 awk -v root= -v keep= -v hide=0 "$json" "$W/whole" >/dev/null 2>&1
  code=$?
  if [ "$code" -eq 1 ]; then
    bare 'the answer that was put together is no JSON'
    return
  fi
  if [ "$output" = full ] || fits "$W/whole"; then
    cat "$W/whole"
    return
  fi
  # What is left out first is what decides least; what is small goes back in once there is room.
  cat "$W/unread" >"$W/all_unread"
  out=
  for spare in host.logLines host.logs host.podLogDirectories runtime.sandboxes runtime.containers runtime.images configz host.logrotate host.filesystems host.kubelet; do
    if small; then break; fi
    [ -s "$W/part.$spare" ] || continue
    cat "$W/part.$spare" >"$W/spare.$spare"
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
    cat "$W/spare.$spare" >"$W/part.$spare"
    without "$rest"
    if small; then out=$rest; else without "$out"; fi
  done
  small
  cat "$W/small"
}

# without SPARES: the whole anew, but for these parts, each named.
without() {
  cat "$W/all_unread" >"$W/unread"
  for part in $1; do
    rm -f "$W/part.$part"
    case $part in configz) part='the running configuration' ;; esac
    unread "$part" 'left out: the answer would not fit into the 24,000 characters that SSM keeps'
  done
  whole
}

# small: the answer into $W/small, as it is or packed; exit code 1 where neither fits.
small() {
  if fits "$W/whole"; then cat "$W/whole" >"$W/small"; elif packed && fits "$W/packed"; then cat "$W/packed" >"$W/small"; else return 1; fi
}
