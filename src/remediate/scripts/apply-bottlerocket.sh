# Highwater-ApplyBottlerocket: settings of the kubelet, through apiclient in the control container; Bottlerocket itself writes the kubelet's file
# and starts the kubelet anew. The hashes are of the canonical JSON of the settings named below, as far as they are set: keys sorted, nothing
# between the tokens, no line's end; {} where none is set.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

calm_seconds=10
allowed=$(printf '%s\n' "$settable" | awk '{ printf "%s%s", (NR > 1 ? " " : ""), $1 }')

# Of the files, in turn: one canonical JSON; what a later one says stands. With `only=yes`, no more than the paths there are in the first but not in
# the second, as words. With `only=strange`, the first path and value that no plan sets, by $settable and $value_forms. Exit code 1: it has a form, a key or a value that is not known here.
merge='
function fail() { wrong = 1; exit 1 }
function takes_value(path,  v) {
  if (!match(rest, /^("[A-Za-z0-9%.:]*"|-?[0-9]+(\.[0-9]+)?|true|false)/)) fail()
  v = substr(rest, 1, RLENGTH)
  rest = substr(rest, RLENGTH + 1)
  if (!(path in values)) order[++n] = path
  values[path] = v
  there[FILENAME, path] = 1
}
function takes_key() {
  if (!match(rest, /^"[A-Za-z0-9.-]+":/)) fail()
  key = substr(rest, 2, RLENGTH - 3)
  rest = substr(rest, RLENGTH + 1)
}
function kind(name, what) {
  if ((name in kinds) && kinds[name] != what) fail()
  kinds[name] = what
}
function sort(list, count,  i, j, one) {
  for (i = 2; i <= count; i++) { one = list[i]; for (j = i - 1; j > 0 && list[j] > one; j--) list[j + 1] = list[j]; list[j + 1] = one }
}
function fits(path, v,  top, inner, at) {
  at = index(path, "/")
  top = at ? substr(path, 1, at - 1) : path
  inner = at ? substr(path, at + 1) : "-"
  gsub(/"/, "", v)
  if (at > 0 && keys[top] == "-") return 0
  return index("|" keys[top] "|", "|" inner "|") > 0 && length(v) <= most && v ~ form[value[top]]
}
BEGIN {
  n_rows = split(ENVIRON["FORMS"], rows, "\n")
  for (i = 1; i <= n_rows; i++) { at = index(rows[i], " "); form[substr(rows[i], 1, at - 1)] = "^(" substr(rows[i], at + 1) ")$" }
  n_rows = split(ENVIRON["ROWS"], rows, "\n")
  for (i = 1; i <= n_rows; i++) { split(rows[i], words, " "); known[words[1]] = 1; value[words[1]] = words[2]; keys[words[1]] = words[3] }
  most = ENVIRON["MOST"] + 0
}
{
  rest = $0
  if (substr(rest, 1, 1) != "{") fail()
  rest = substr(rest, 2)
  while (substr(rest, 1, 1) != "}") {
    takes_key()
    top = key
    if (!(top in known)) fail()
    if (substr(rest, 1, 1) == "{") {
      kind(top, "map")
      rest = substr(rest, 2)
      while (substr(rest, 1, 1) != "}") {
        takes_key()
        takes_value(top "/" key)
        if (substr(rest, 1, 1) == ",") rest = substr(rest, 2)
      }
      rest = substr(rest, 2)
    } else { kind(top, "value"); takes_value(top) }
    if (substr(rest, 1, 1) == ",") rest = substr(rest, 2)
  }
}
END {
  if (wrong || NR == 0) exit 1
  sort(order, n)
  if (only == "strange") {
    for (i = 1; i <= n; i++) if (!fits(order[i], values[order[i]])) { print substr(order[i] " " values[order[i]], 1, 80); exit }
    exit
  }
  if (only) {
    for (i = 1; i <= n; i++) if (there[ARGV[1], order[i]] && !there[ARGV[2], order[i]]) { gsub(/\//, ".", order[i]); printf "%s%s", (some++ ? " " : ""), order[i] }
    exit
  }
  for (i = 1; i <= n; i++) { top = order[i]; sub(/\/.*$/, "", top); if (!(top in seen)) { seen[top] = 1; tops[++m] = top } }
  sort(tops, m)
  printf "{"
  for (i = 1; i <= m; i++) {
    top = tops[i]
    printf "%s\"%s\":", (i > 1 ? "," : ""), top
    if (kinds[top] == "value") { printf "%s", values[top]; continue }
    inner = 0
    for (j = 1; j <= n; j++) if (index(order[j], top "/") == 1) printf "%s\"%s\":%s", (inner++ ? "," : "{"), substr(order[j], length(top) + 2), values[order[j]]
    printf "}"
  }
  printf "}"
}
'
merged() { ROWS=$settable FORMS=$value_forms MOST=$longest_value awk -v only="${only:-}" "$merge" "$@" 2>/dev/null; }
only=

# compact FILE ROOT KEEP: strict JSON in one line, into $W/compact.
compact() {
  awk -v root="$2" -v keep="$3" -v hide=0 "$json" "$1" 2>/dev/null >"$W/parts" || return 1
  tr -d '\n' <"$W/parts" >"$W/compact"
}

roots=
for name in $allowed; do roots="$roots /settings/kubernetes/$name"; done

# look: what is set now, into $W/now and its hash into $present.
look() {
  run 15 apiclient get settings.kubernetes || return 1
  # Not even for a moment more of it than what is named: there are keys and certificates in it.
  why='what apiclient printed is not of the form that is known'
  compact "$W/out" /settings/kubernetes "$roots" || return 1
  : >"$W/out"
  merged "$W/compact" >"$W/now" || return 1
  hash_of "$W/now" || return 1
  present=$sum
}
fit() { has apiclient || { why='the program apiclient is not on this node'; return 1; }; }
able() {
  place=$base
  while [ ! -d "$place" ]; do place=${place%/*}; done
  has_room "${place:-/}"
  observe
}
observe() {
  kubelet=yes
  healthz='not reachable from the control container'
}

# patched: what Content holds, checked: what is to be set into $W/patch, what a rollback of unset settings sets into $W/back.
patched() {
  decoded 16384 || return 1
  why='the parameter Content holds no JSON of settings that may be changed'
  compact "$W/new" /set /set && merged "$W/compact" >"$W/patch" || return 1
  compact "$W/new" /back /back && merged "$W/compact" >"$W/back" || return 1
  only=strange
  strange=$(merged "$W/patch" && merged "$W/back")
  only=
  [ -z "$strange" ] || { why="it sets what no plan sets: $strange"; return 1; }
}
unpack() {
  patched || return 1
  # What somebody had set goes back to just that.
  merged "$W/back" "$W/now" >"$W/past" || { why='a setting is a map on one side and a value on the other'; return 1; }
  merged "$W/now" "$W/patch" >"$W/wanted" || { why='a setting is a map on one side and a value on the other'; return 1; }
  hash_of "$W/wanted" || return 1
  [ "$sum" = "$new" ] || { why='what is set now with what the parameter Content holds has another hash than NewSha256'; return 1; }
  only=yes
  names=$(merged "$W/patch" "$W/past")
  only=
  [ -z "$names" ] || step "neither set nor known before, so a rollback will leave it set: $names"
}
save() { cat "$W/past" 2>/dev/null >"$state/saved" && flush "$state/saved" || { why="nothing can be written in ${state#"$R"}"; return 1; }; }
write_new() { :; }

# settings FILE: all in one transaction of its own, and applied.
settings() { run 60 apiclient set -j "{\"kubernetes\":$(cat "$1")}"; }
place_new() {
  begun=yes
  settings "$W/patch" || { begun=; return 1; }
  step 'what the kubelet makes of it cannot be seen from here'
}
# stays HASH: whether it is so, and for a while.
stays() {
  calm=
  while :; do
    tell_time
    if look && [ "$present" = "$1" ]; then
      calm=${calm:-$clock}
      [ $((clock - calm)) -lt "$calm_seconds" ] || return 0
    else
      calm=
    fi
    [ "$clock" -lt "$deadline" ] || { why='the settings are not as they were set'; return 1; }
    nap
  done
}
activate() {
  observe
  stays "$new" || return 1
  step settled
}
place_old() {
  look || return 1
  [ "$present" != "$old" ] || return 0
  [ -s "$state/saved" ] || { why='what was set before is not known'; return 1; }
  first_line "$state/saved"
  [ "$line" = '{}' ] || settings "$state/saved"
}
reactivate() {
  observe
  look || return 1
  [ "$present" != "$old" ] || return 0
  merged "$W/now" "$state/saved" >"$W/wanted" || return 1
  hash_of "$W/wanted" || return 1
  [ "$sum" = "$present" ] || { why='the settings are not what they were before'; return 1; }
  only=yes
  names=$(merged "$W/now" "$state/saved")
  only=
  [ -z "$names" ] || left="Nothing ran there before, and apiclient cannot unset: $names"
}
tidy() { :; }

takes_common
seconds=${SSM_TimeoutSeconds-?}
takes TimeoutSeconds "$seconds" 2 3 '[!0-9]'
[ "$seconds" -ge 60 ] || refuse 'the parameter TimeoutSeconds is less than 60: a way there and a way back do not fit in'
[ "$old" != absent ] || refuse 'settings are never absent: OldSha256 is the hash of what is set'
allow "$seconds"
# The container itself is thrown away at each boot; this folder is not.
[ ! -d "$R/.bottlerocket/host-containers/current" ] || base=$R/.bottlerocket/host-containers/current/highwater
change "bottlerocket $old $new"
