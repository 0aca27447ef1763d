# What a new file of the kubelet's configuration may change: fields of the table $plannable, to values of the forms $value_forms. From any sender, a file
# that changes anything else is refused here. `json.sh` stands before it; the tables are those of src/facts/kubelet/plannable-values.ts.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

fields=$(printf '%s\n' "$plannable" | awk '{ printf " /%s", $1 }')

# fields_of FILE KEEP SKIP: fields of a JSON file, one a line, with the bytes of their values.
fields_of() { awk -v root= -v keep="$2" -v skip="$3" -v hide=0 -v raw=1 "$json" "$1" 2>/dev/null; }

# A drop-in that is not there yet says no more than this.
empty_file='{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"}'

# changes_of OLD NEW: into $W/leaves what a JSON file changes, "field key value" a line, the key "-" where the field is no map; no more than that differs.
changes_of() {
  if ! fields_of "$1" '' "$fields" >"$W/old_rest" || ! fields_of "$1" "$fields" '' >"$W/old_own"; then
    why="$target is no JSON of one form, so what would change of it is not known"
    return 1
  fi
  if ! fields_of "$2" '' "$fields" >"$W/new_rest" || ! fields_of "$2" "$fields" '' >"$W/new_own"; then
    why='what the parameter Content holds is no JSON, or has a key twice'
    return 1
  fi
  differs=$(awk '
    { if (FNR == 1) sub(/^[{]/, ""); sub(/[,}]$/, "") }
    $0 == "" { next }
    FILENAME == ARGV[1] { old[$0] = 1; next }
    { if ($0 in old) delete old[$0]; else { print substr($0, 1, 60); shown = 1; exit } }
    END { if (!shown) for (line in old) { print substr(line, 1, 60); exit } }' "$W/old_rest" "$W/new_rest")
  [ -z "$differs" ] || { why="it changes what no plan changes: $differs"; return 1; }
  awk '
    { if (FNR == 1) sub(/^[{]/, ""); sub(/[,}]$/, "") }
    $0 == "" { next }
    FILENAME == ARGV[1] { old[$0] = 1; next }
    $0 in old { next }
    {
      match($0, /^"[A-Za-z]+":/)
      field = substr($0, 2, RLENGTH - 3)
      rest = substr($0, RLENGTH + 1)
      if (rest !~ /^[{]/) { gsub(/"/, "", rest); print field, "-", rest; next }
      rest = substr(rest, 2, length(rest) - 2)
      while (rest != "") {
        if (!match(rest, /^"[A-Za-z.-]+":("[^"\\]*"|[^]["{},]+)(,|$)/)) { print field, "? ?"; next }
        one = substr(rest, 2, RLENGTH - 1)
        rest = substr(rest, RLENGTH + 1)
        sub(/,$/, "", one)
        at = index(one, "\":")
        value = substr(one, at + 2)
        gsub(/"/, "", value)
        print field, substr(one, 1, at - 1), value
      }
    }' "$W/old_own" "$W/new_own" >"$W/leaves"
}

# lines_of FILE: the same of a NodeConfig, of the one form in which a plan writes it. A key with neither a value nor a deeper line is null.
lines_of() {
  awk '
    function bad() { wrong = 1; exit }
    function end_field() { if (is_bare) print field " - null"; is_bare = 0 }
    BEGIN { heads = split("apiVersion: node.eks.aws/v1alpha1|kind: NodeConfig|spec:|  kubelet:|    config:", head, "|"); at = 1 }
    /^#/ && at == 1 { next }
    at <= heads { if ($0 != head[at++]) bad(); next }
    {
      if ($0 !~ /^      (  )?[A-Za-z][A-Za-z.-]*:( ("[A-Za-z0-9.%-]*"|[A-Za-z0-9.%-]+))?$/) bad()
      gsub(/"/, "")
      is_inner = $0 ~ /^        /
      sub(/:$/, "", $1)
      if (is_inner ? !field || NF != 2 : NF > 2) bad()
      if (is_inner) { is_bare = 0; line = field " " $1 }
      else { end_field(); field = NF == 1 ? $1 : ""; is_bare = NF == 1; line = $1 " -" }
      if (line in seen) bad()
      seen[line] = 1
      if (NF == 2) print line, $2
    }
    END { end_field(); exit wrong || at <= heads }' "$1" 2>/dev/null
}

# only_plannable FILE: whether no more than plannable fields would change, to values that a plan writes.
only_plannable() {
  printf '%s\n' "$empty_file" >"$W/before"
  [ ! -f "$R$target" ] || cat "$R$target" >"$W/before"
  if [ "$method" = nodeadm ]; then
    [ ! -f "$R$target" ] || lines_of "$W/before" >/dev/null || { why="$target is no NodeConfig as a plan writes it, so what would change of it is not known"; return 1; }
    lines_of "$1" >"$W/leaves" || { why='what the parameter Content holds is no NodeConfig as a plan writes it'; return 1; }
  else
    changes_of "$W/before" "$1" || return 1
  fi
  strange=$(ROWS=$plannable FORMS=$value_forms MOST=$longest_value awk '
    BEGIN {
      n = split(ENVIRON["FORMS"], rows, "\n")
      for (i = 1; i <= n; i++) { at = index(rows[i], " "); form[substr(rows[i], 1, at - 1)] = "^(" substr(rows[i], at + 1) ")$" }
      n = split(ENVIRON["ROWS"], rows, "\n")
      for (i = 1; i <= n; i++) { split(rows[i], words, " "); value[words[1]] = words[2]; key[words[1]] = words[3] }
      most = ENVIRON["MOST"] + 0
    }
    {
      ok = NF == 3 && ($1 in value) && length($2) <= most && length($3) <= most
      if (ok && $2 == "-") ok = $3 == "null" || (key[$1] == "-" && $3 ~ form[value[$1]])
      else if (ok) ok = key[$1] != "-" && $2 ~ form[key[$1]] && ($3 == "null" || $3 ~ form[value[$1]])
      if (!ok) { print substr($0, 1, 80); exit }
    }' "$W/leaves")
  [ -z "$strange" ] || { why="it sets what no plan sets: $strange"; return 1; }
}
