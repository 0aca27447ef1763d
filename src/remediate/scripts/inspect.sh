# Highwater-Inspect: what only the node itself knows of its kubelet, images, containers, logs and kernel (Amazon Linux, Ubuntu, hybrid nodes).
# Read-only. `kubelet.sh` stands before it.
# shellcheck shell=sh

# sum_of FILE: its hash into $sum. What is too large to be read in a moment has none, nor anything after one that did not answer.
sumless=
hash_most=8388608
sum_of() {
  sum=
  case $sumless in *'did not answer'*) return ;; esac
  [ "${bytes:-$((hash_most + 1))}" -le "$hash_most" ] || return
  if ! ask sum 5 sha256sum "$1"; then sumless=$why; else
    read -r sum _ <sum
    sum=${sum#\\}
  fi
}

# file_entry PATH ROLE CONTENT-FILE: after `readable`.
hashless=
file_entry() {
  sum=
  if [ -z "$hashless" ] && [ -r "$R$1" ] && [ -f "$R$1" ]; then sum_of "$R$1"; fi
  {
    printf '{"path":'
    json_string "$1"
    printf ',"role":"%s"' "$2"
    [ -z "$sum" ] || printf ',"sha256":"%s"' "$sum"
    # Between \001, the name of a file that stands there.
    if [ -s "$3" ]; then printf ',"content":\001%s\001}\n' "$3"; else printf ',"content":null}\n'; fi
  } >>list.host.kubelet.files
  hashless=
}

# YAML as text, without the values of what may be a secret; exit code 1 where it is not of the plain forms in which that is certain.
without_yaml_secrets() {
  awk "$lib"'
    function refuse() { wrong = 1; exit 1 }
    function uncommented(s,  i, c, q, last) {
      if (!index(s, "#")) return s
      for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (q != "") { if (c == q) q = "" }
        else if ((c == "\"" || c == "\047") && last ~ /^[][ \t:,{-]?$/) q = c
        else if (c == "#" && last ~ /^[ \t]?$/) return substr(s, 1, i - 1)
        last = c
      }
      return s
    }
    function unclean(s) {
      s = tolower(s)
      gsub(/[a-z0-9_]+["\047]? *: *(true|false)/, "", s)
      return s ~ /token|passw|secret|credential|private|header|staticpodurl|signature|bearer|basic |pwd|(^|[^a-z])(auth|pass)([^a-z]|$)/
    }
    {
      sub(/\r$/, "")
      if (NR == 1) sub(/^\357\273\277/, "")
      match($0, /^ */)
      indent = RLENGTH
      if (skips && ($0 ~ /^[ \t]*$/ || indent > depth || (indent == depth && substr($0, indent + 1, 2) == "- "))) next
      skips = 0
      line = uncommented($0)
      sub(/[ \t]+$/, "", line)
      if (line == "") next
      text_of = line
      gsub(/"[^"]*"|\047[^\047]*\047/, "", text_of)
      odd = text_of ~ /["\047]/
      before = flow
      flow += gsub(/[[{]/, "", text_of) - gsub(/[]}]/, "", text_of)
      rest = line
      sub(/^[- ]*/, "", rest)
      if (!before && match(rest, /^["\047]?[A-Za-z0-9_.\/-]+["\047]?[ \t]*:([ \t]|$)/)) {
        key = substr(rest, 1, RLENGTH)
        gsub(/["\047: \t]/, "", key)
        if (hidden(key) && rest !~ /:[ \t]*(true|false|[0-9]+)$/) {
          if (flow || index(key, "\\")) refuse()
          skips = 1
          depth = indent
          next
        }
        rest = substr(rest, RLENGTH + 1)
      }
      # Escapes, other line ends, anchors, aliases, tags, blocks of text and keys that are no words may say anything.
      if (odd || line ~ "[\001-\010\013-\037\\\\]" || index(line, "\302\205") || line ~ /\342\200[\250\251]/) refuse()
      if (line ~ /^%/ || line ~ /(^|[:,[{-])[ \t]*[&*!|>?@`]/ || unclean(rest)) refuse()
      text = text (has_text++ ? "\n" : "") without_users(line)
    }
    END { if (wrong) exit 1; printf "%s", jstr(text) }' "$1"
}

# configuration_file PATH ROLE: as it is where it is JSON, else as text. What the kubelet does not read need not be a configuration.
entries=0
sources=
configuration_file() {
  entries=$((entries + 1))
  kind=KubeletConfiguration
  seen='?'
  [ "$2" != nodeadm ] || kind=NodeConfig
  if ! readable "$1"; then
    [ "$2" = ignored ] || unread "kubelet file $1" "$why"
  elif ! text_of "$1" "$kind"; then
    [ "$2" = ignored ] || unread "kubelet file $1" "it does not say that it is of kind $kind, so nothing of it is read"
    hashless=yes
  else
    seen=content.$entries
    if ! run 15 awk -v root= -v keep= -v hide=1 "$json" text >"content.$entries" 2>/dev/null || [ ! -s "content.$entries" ]; then
      seen=text.$entries
      if without_yaml_secrets text >"content.$entries"; then cat text >"text.$entries"; else
        seen='?'
        : >"content.$entries"
        [ "$2" = ignored ] || unread "kubelet file $1" 'it is no JSON and may hold a secret, so its text stays here'
      fi
    fi
  fi
  case $2,$seen in config,'?' | drop-in,'?') doubt='?' ;; config,* | drop-in,*) sources="$sources $seen" ;; esac
  [ ! -e "$R$1" ] || file_entry "$1" "$2" "content.$entries"
  hashless=
}

# flag_lines FILE [UNIT]: lines of an environment file, or of a unit, that carry flags of the kubelet; nothing else of it.
flag_lines() {
  tr '\000' '\002' <"$1" | UNIT=${2:-} awk "$lib"'
    function tell(s) { text = text (text == "" ? "" : "\n") s }
    function take(a,  name, value) {
      sub(/^export[ \t]+/, "", a)
      if (a !~ /^[A-Z0-9_]*KUBELET[A-Z0-9_]*=/) return
      name = substr(a, 1, index(a, "=") - 1)
      value = substr(a, index(a, "=") + 1)
      if (is_secret(name)) return
      if (value !~ /--/ && value !~ /^["\047]*$/ && name != "KUBELET_CONFIG_DROPIN_DIR_ALPHA") return
      tell(name "=" without_secrets(value))
    }
    function assignments(s,  q, e) {
      while (s != "") {
        sub(/^[ \t]+/, "", s)
        q = substr(s, 1, 1)
        if (q == "\"" || q == "\047") { s = substr(s, 2); e = index(s, q) }
        else { match(s, /[ \t]/); e = RSTART }
        if (e == 0) { take(s); return }
        take(substr(s, 1, e - 1))
        s = substr(s, e + 1)
      }
    }
    {
      line = before $0
      before = ""
      if (line ~ /\\$/) { before = substr(line, 1, length(line) - 1) " "; next }
      sub(/^[ \t]+/, "", line)
      sub(/[ \t\r]+$/, "", line)
      if (line ~ /^Environment[ \t]*=/) { sub(/^Environment[ \t]*=/, "", line); assignments(line) }
      else if (ENVIRON["UNIT"] != "" && line ~ /^ExecStart[ \t]*=/) {
        sub(/^[^=]*=[ \t]*/, "", line)
        # Another program than the kubelet starts it in a way of its own.
        if (line == "" || line ~ /kubelet/) tell("ExecStart=" without_secrets(line))
        else tell("ExecStart=(another program)")
      } else take(line)
    }
    END { if (text != "") printf "%s", jstr(text) }'
}

# ── the kubelet: its process, its files, its flags ──
containerd_config=
if process containerd; then
  flags containerd.args config
  IFS= read -r containerd_config <flags
fi
containerds=$several
if process kubelet; then
  : >names
  awk "$lib"'
    length($0) > 4000 { is_cut = 1 }
    hides { $0 = "(removed)"; hides = 0 }
    { $0 = without_users($0) }
    /^--?[A-Za-z0-9_-]+=/ {
      name = substr($0, 1, index($0, "=") - 1)
      sub(/^--?/, "", name)
      if (is_secret(name) && $0 !~ /=(true|false)$/) $0 = substr($0, 1, index($0, "=")) "(removed)"
    }
    /^--?[A-Za-z0-9_-]+$/ { name = $0; sub(/^--?/, "", name); hides = is_secret(name) && !is_switch(name) }
    NR <= 300 { print jstr(cut($0, 4000)) }
    END {
      if (NR > 300) print "it has " NR " arguments, of which 300 are read" >"names"
      if (is_cut) print "an argument was cut to 4000 characters" >"names"
    }' kubelet.args >list.host.kubelet.commandLine
  while IFS= read -r why; do unread 'kubelet command line' "$why"; done <names
  ticks=100
  if has getconf; then ticks=$(getconf CLK_TCK 2>/dev/null) || ticks=100; fi
  awk -v ticks="${ticks:-100}" "$lib"'
    FNR == NR { if ($1 == "btime") boot = $2; next }
    { sub(/^.*\) /, ""); if (boot && $20 ~ /^[0-9]+$/) printf "%s", jstr(iso(boot + int($20 / ticks))) }' \
    "$R/proc/stat" "$R/proc/$pid/stat" >part.host.kubelet.startedAt 2>/dev/null
  [ -s part.host.kubelet.startedAt ] || unread 'the start of the process' 'its times in /proc could not be read'
else
  [ -n "$several" ] || unread 'kubelet process' 'no process of that name runs: only the usual files were read'
fi
unit=${unit:-kubelet.service}
kubelets=$several
[ -n "$kubelets" ] || : >list.host.kubelet.files
kubelet_flags
[ -z "$kubelets" ] || unread 'kubelet process' "several run ($kubelets): the one of this node is not known"

: >units
ask unit 5 systemctl show "$unit" -p FragmentPath -p DropInPaths -p EnvironmentFiles -p EnvironmentFile
failed=$why
for file in "$R/etc/systemd/system/$unit.d"/*.conf "$R/usr/lib/systemd/system/$unit.d"/*.conf "$R/etc/eks/kubelet/environment" \
  "$R/etc/default/kubelet" "$R/etc/sysconfig/kubelet" "$R/var/snap/kubelet-eks/current/args"; do
  [ ! -e "$file" ] || printf '%s\n' "${file#"$R"}"
done >usual
awk '
  function tell(path) { if (!seen[path]++) print path }
  FILENAME == "unit" && /^(FragmentPath|DropInPaths)=/ { sub(/^[^=]*=/, ""); n = split($0, p, " "); for (i = 1; i <= n; i++) { print p[i] >"units"; tell(p[i]) } }
  FILENAME == "unit" && /^EnvironmentFiles?=/ { sub(/^[^=]*=/, ""); n = split($0, p, " "); for (i = 1; i <= n; i++) if (p[i] ~ /^-?\//) { sub(/^-/, "", p[i]); more[++m] = p[i] } }
  FILENAME == "usual" { more[++m] = $0 }
  END { for (i = 1; i <= m; i++) tell(more[i]) }' unit usual >paths
if [ -z "$pid" ] || [ -s units ]; then :; elif [ -n "$failed" ]; then
  unread 'kubelet environment' "with which flags $unit starts is not known: $failed"
else
  unread 'kubelet environment' "with which flags $unit starts is not known: none of its files was named"
fi
[ -z "$kubelets" ] || : >paths
while IFS= read -r path; do
  if ! readable "$path"; then
    [ ! -e "$R$path" ] || unread "kubelet environment $path" "$why"
    continue
  fi
  entries=$((entries + 1))
  case $path in *.service | *.conf) flag_lines "$R$path" unit ;; *) flag_lines "$R$path" ;; esac >"content.$entries"
  [ ! -s "content.$entries" ] || file_entry "$path" environment "content.$entries"
done <paths

if [ -z "$config" ] && [ -z "$pid" ] && [ -z "$kubelets" ]; then
  for path in /etc/kubernetes/kubelet/config.json /etc/kubernetes/kubelet/kubelet-config.json /var/lib/kubelet/config.yaml; do
    [ -e "$R$path" ] || continue
    config=$path
    break
  done
fi
case $config in
  '')
    [ -n "$pid" ] || doubt='?'
    [ -n "$pid$kubelets" ] || unread 'kubelet file' 'none lies where it usually does'
    ;;
  /*) configuration_file "$config" config ;;
  *)
    doubt='?'
    unread "kubelet file $config" 'its path is a relative one'
    ;;
esac

# drop_ins FOLDER ROLE: every file below it, in the order in which the kubelet walks it.
drop_ins() {
  # No list here can hold a name with a line end.
  if ! ask names 5 find "$R$1" ! -type d \( ! -path "*$newline*" -print -o -name '*.conf' -exec stat -c odd '{}' + \); then
    unread "drop-ins in $1" "$why"
    [ "$2" = ignored ] || doubt='?'
    return
  fi
  in_walk_order 500 names
  many=-1
  while IFS= read -r path; do
    many=$((many + 1))
    if [ "$many" -eq 0 ]; then
      [ -z "$path" ] || unread "drop-ins in $1" 'a name there has a line end in it: that was not read'
      continue
    fi
    if [ "$many" -gt 50 ]; then
      unread "drop-ins in $1" 'more than 50 files lie there: the rest was not read'
      [ "$2" = ignored ] || doubt='?'
      break
    fi
    path=${path#"$R"}
    case $path in
      *.conf) configuration_file "$path" "$2" ;;
      *) configuration_file "$path" ignored ;;
    esac
  done <sorted
}
case $config_dir in
  '')
    # Files there are not read by the kubelet, and may be there on purpose.
    for path in /etc/kubernetes/kubelet/config.json.d /etc/kubernetes/kubelet.conf.d; do
      [ -n "$kubelets" ] || [ ! -d "$R$path" ] || drop_ins "$path" ignored
    done
    ;;
  /*) drop_ins "${config_dir%/}" drop-in ;;
  *) unread "drop-ins in $config_dir" 'its path is a relative one' ;;
esac
# What a plan wrote for nodeadm: the next one adds to it.
piece=/etc/eks/nodeadm.d/50-highwater.yaml
[ ! -e "$R$piece" ] || configuration_file "$piece" nodeadm
[ -z "$kubelets" ] || rm -f list.host.kubelet.files
# shellcheck disable=SC2086
fields_of $sources

node_name

# ── the container runtime ──
runtime_endpoint
cri runtime.images runtime.images /images '/images/[]/id /images/[]/repoTags /images/[]/repoDigests /images/[]/size /images/[]/pinned' images -o json
cri_containers
cri_sandboxes
cri_filesystems

# ── containerd: what it runs with, by crictl info, else by its files. Of info only these fields: it may hold the registries' credentials. ──
crictl_answers info info || unread 'crictl info' "$why"
: >mirrors
: >config_path
if [ -s info ]; then
  to=part.host.containerd
  r=/config/registry
  kept="/config/sandboxImage /config/containerd/snapshotter /config/containerd/discardUnpackedLayers $r/configPath"
  roots="/config/sandboxImage=$to.sandboxImage /config/containerd/snapshotter=$to.snapshotter"
  roots="$roots /config/containerd/discardUnpackedLayers=$to.discardUnpackedLayers $r/configPath=config_path $r/mirrors=mirrors"
  picks "$roots" "$kept $r/mirrors/*/endpoint" info
  # 3: it is JSON, and has none of them.
  case $? in 0 | 3) ;; *)
    unread 'crictl info' 'what it printed is no JSON'
    rm -f part.host.containerd.*
    : >info
    : >mirrors
    : >config_path
    ;;
  esac
fi

# toml FILE: the same settings from a file, both versions: KEY, a tab, the value (a list's items each).
toml() {
  tr '\000' '\002' <"$1" | awk '
    function told(k, v) { if (v != "" && n_told++ < 2000) print k "\t" v }
    function each(k, v,  n, i, items) {
      n = split(v, items, ",")
      for (i = 1; i <= n; i++) { gsub(/^[][ \t\r]+|[][ \t\r]+$|["\047]/, "", items[i]); told(k, items[i]) }
    }
    function setting(full, value,  text, name) {
      text = value
      gsub(/^["\047]|["\047]$/, "", text)
      # Versions 2 and 3 name the plugins differently.
      sub(/^plugins\.((io\.containerd\.grpc\.v1\.)?cri|io\.containerd\.cri\.v1\.images)\.(containerd\.)?/, "cri.", full)
      if (full ~ /^cri\.(sandbox_image|pinned_images\.sandbox)$/) told("sandboxImage", text)
      else if (full == "cri.pinned_images") { if (match(value, /sandbox *= *["\047][^"\047]*/)) { text = substr(value, RSTART, RLENGTH); sub(/^sandbox *= *["\047]/, "", text); told("sandboxImage", text) } }
      else if (full == "cri.snapshotter") told("snapshotter", text)
      else if (full == "cri.discard_unpacked_layers") { if (text ~ /^(true|false)$/) told("discardUnpackedLayers", text) }
      else if (full ~ /\.registry\.config_path$/) told("configPath", text)
      else if (full ~ /\.registry\.mirrors\..*\.endpoint$/) {
        name = full
        sub(/^.*\.registry\.mirrors\./, "", name)
        sub(/\.endpoint$/, "", name)
        each("mirror " name, value)
      } else if (full == "imports") each("import", value)
    }
    { sub(/^[ \t]+/, ""); sub(/[ \t\r]+$/, "") }
    open != "" { value = value " " $0; if ($0 ~ /\]/) { setting(open, value); open = "" }; next }
    /^#/ || /^$/ { next }
    /^\[/ { table = $0; sub(/[ \t]*#.*$/, "", table); gsub(/[]["\047 \t]/, "", table); next }
    {
      e = index($0, "=")
      if (!e) next
      key = substr($0, 1, e - 1)
      value = substr($0, e + 1)
      gsub(/["\047 \t]/, "", key)
      sub(/^[ \t]+/, "", value)
      if (value !~ /["\047][^"\047]*#/) sub(/[ \t]+#.*$/, "", value)
      full = table == "" ? key : table "." key
      if (value ~ /^\[/ && value !~ /\]/) { open = full; next }
      setting(full, value)
    }'
}
containerd_config=${containerd_config:-/etc/containerd/config.toml}
: >toml
if [ -n "$containerds" ]; then
  unread 'containerd files' "several processes of containerd run ($containerds): which of them the kubelet uses is not known"
elif readable "$containerd_config"; then
  toml "$R$containerd_config" >toml
  : >imported
  skipped=
  while IFS='	' read -r key pattern _; do
    [ "$key" = import ] || continue
    case $pattern in /*) ;; *) pattern=${containerd_config%/*}/$pattern ;; esac
    case $pattern in
      *[!A-Za-z0-9_./*-]*)
        unread "containerd file $pattern" 'its name has unusual characters'
        skipped=yes
        continue
        ;;
    esac
    # shellcheck disable=SC2086
    for file in "$R"$pattern; do
      [ -e "$file" ] || continue
      if readable "${file#"$R"}"; then toml "$file" >>imported; else
        unread "containerd file ${file#"$R"}" "$why"
        skipped=yes
      fi
    done
  done <toml
  [ ! -s imported ] || cat imported >>toml
  # What is imported goes before what imports it.
  if [ -n "$skipped" ]; then
    awk -F '\t' '$1 == "configPath" || $1 ~ /^mirror /' toml >some
    cat some >toml
  fi
else
  unread "containerd file $containerd_config" "$why"
fi
for key in sandboxImage snapshotter discardUnpackedLayers; do
  [ ! -s "part.host.containerd.$key" ] || continue
  last=
  while IFS='	' read -r name value _; do [ "$name" != "$key" ] || last=$value; done <toml
  case $key,$last in *,) ;; discard*) printf '%s' "$last" ;; *) json_string "$last" ;; esac >"part.host.containerd.$key"
done
[ -s part.host.containerd.sandboxImage ] || unread containerd.sandboxImage 'neither crictl info nor the files of containerd name it'

# Of mirrors only the registry's and the hosts' names.
if [ -s toml ] || [ -s info ]; then
  awk -F '\t' '
    function tell(list,  n, i, items) { n = split(list, items, ":"); for (i = 1; i <= n; i++) if (items[i] ~ /^\// && !seen[items[i]]++) print items[i] }
    FILENAME == "toml" { if ($1 == "configPath") tell($2); next }
    { gsub(/"/, ""); tell($0) }' toml config_path >folders
  : >hosts
  while IFS= read -r certs; do
    for file in "$R$certs"/*/hosts.toml; do
      [ -e "$file" ] || continue
      readable "${file#"$R"}" || { unread "containerd file ${file#"$R"}" "$why"; continue; }
      name=${file%/hosts.toml}
      NAME=${name##*/} awk '
        BEGIN { name = ENVIRON["NAME"] }
        { sub(/^[ \t]+/, "") }
        /^server[ \t]*=/ && !inside { gsub(/^server[ \t]*=[ \t]*["\047]|["\047].*$/, ""); print name "\t" "server" "\t" $0 }
        /^\[host\.["\047][^"\047]*["\047]\]/ { gsub(/^\[host\.["\047]|["\047].*$/, ""); print name "\t" "host" "\t" $0; inside = 1; next }
        /^\[/ { inside = 1 }' "$file" >>hosts
    done
  done <folders
  awk -F '\t' "$lib"'
    function add(name, what, url) {
      if (rows++ >= 500 || seen[name, what, url]++) return
      url = without_users(url)
      sub(/[?#].*$/, "", url)
      if (!(name in order)) { order[name] = ++n; names[n] = name }
      if (what == "server") server[name] = url
      else hosts[name] = hosts[name] (hosts[name] == "" ? "" : ",") jstr(url)
    }
    function add_inline(all,  one, name, n, urls, i) {
      while (match(all, /"[^"]*":[{]"endpoint":[[][^]]*[]]/)) {
        one = substr(all, RSTART, RLENGTH); all = substr(all, RSTART + RLENGTH)
        name = substr(one, 2); sub(/".*/, "", name)
        sub(/^.*[[]/, "", one); gsub(/[]"]/, "", one)
        n = split(one, urls, ",")
        for (i = 1; i <= n; i++) add(name, "host", urls[i])
      }
    }
    FILENAME == "toml" { if (sub(/^mirror /, "", $1)) add($1, "host", $2); next }
    FILENAME == "mirrors" { inline = inline $0; next }
    { add_inline(inline); inline = "" }
    NF == 3 { add($1, $2, $3) }
    END {
      add_inline(inline)
      printf "["
      for (i = 1; i <= n; i++) {
        name = names[i]
        printf "%s{\"registry\":%s%s,\"hosts\":[%s]}", (i > 1 ? "," : ""), jstr(name), (name in server ? ",\"server\":" jstr(server[name]) : ""), hosts[name]
      }
      printf "]"
    }' toml mirrors hosts >part.host.containerd.mirrors || rm -f part.host.containerd.mirrors
fi
: >list.host.containerd.

# ── filesystems, by what lies on them ──
filesystem() {
  [ -e "$R$2" ] || { unread "filesystem $1" "there is no $2"; return; }
  ask df 5 df -P -k "$R$2" || { unread "filesystem $1" "$why"; return; }
  ask inodes 5 df -P -i "$R$2" || unread "inodes of $1" "$why"
  # shellcheck disable=SC2097,SC2098
  ROLE=$1 PLACE=$R awk "$lib"'
    function numbers(  at) {
      device = ""
      if (!match($0, / +[0-9-]+ +[0-9-]+ +[0-9-]+ +([0-9]+%|-) +\//)) return
      device = substr($0, 1, RSTART - 1)
      mount = substr($0, RSTART + RLENGTH - 1)
      $0 = substr($0, RSTART, RLENGTH)
      place = ENVIRON["PLACE"]
      if (place != "" && index(mount, place) == 1) { mount = substr(mount, length(place) + 1); if (mount == "") mount = "/" }
    }
    FNR == NR { if (FNR > 1) { numbers(); if (device != "" && $1 ~ /^[0-9]+$/ && $3 ~ /^-?[0-9]+$/) { d = device; m = mount; size = $1; used = $2; left = $3 } } next }
    FNR > 1 { numbers(); if (device != "" && $1 ~ /^[0-9]+$/ && $1 > 0 && $3 ~ /^[0-9]+$/) { inodes = $1; free = $3 } }
    END {
      if (d == "") exit 1
      printf "%s", "{" kv("role", jstr(ENVIRON["ROLE"])) "," kv("device", jstr(d)) "," kv("mount", jstr(m)) "," kv("capacityBytes", size * 1024) "," kv("usedBytes", used * 1024) "," kv("availableBytes", (left > 0 ? left : 0) * 1024)
      if (inodes != "") printf "%s", "," kv("inodes", inodes) "," kv("inodesFree", free)
      print "}"
    }' df inodes >>list.host.filesystems || unread "filesystem $1" 'what df printed is not of the form that is known'
}
: >list.host.filesystems
if [ -n "$kubelets" ]; then unread 'filesystem nodefs' 'several kubelets run'; else filesystem nodefs "$root_dir"; fi
if [ -s part.runtime.imageFs ]; then
  if [ -n "$images" ]; then filesystem imagefs "$images"; else unread 'filesystem imagefs' 'crictl imagefsinfo names no path'; fi
  [ -z "$layers" ] || filesystem containerfs "$layers"
else
  unread 'filesystem imagefs' 'where it is, crictl imagefsinfo did not tell'
fi
case $pod_logs in
  /*) filesystem logs "$pod_logs" ;;
  *)
    for what in 'filesystem logs' 'log files' podLogDirectories; do unread "$what" 'where the kubelet keeps them is not known: not all of its configuration was read'; done
    ;;
esac

# ── logs: who rotates them, and what lies there ──
: >list.host.logrotate
many=0
# An entry for each block, and one for what stands before them.
for file in "$R/etc/logrotate.conf" "$R/etc/logrotate.d"/* "$R/etc/logrotate.d"/.[!.]*; do
  path=${file#"$R"}
  # What logrotate passes over by itself. Source: logrotate config.c defTabooExts; .old and .orig are not among them.
  case $path in
    *,v | *~ | *.bak | *.cfsaved | *.disabled | *.rhn-cfg-tmp-* | *.rpmnew | *.rpmorig | *.rpmsave | *.swp) continue ;;
    *.dpkg-bak | *.dpkg-del | *.dpkg-dist | *.dpkg-new | *.dpkg-old | *.dpkg-tmp | *.ucf-dist | *.ucf-new | *.ucf-old) continue ;;
  esac
  if [ ! -f "$file" ] && [ ! -h "$file" ]; then
    [ ! -e "$file" ] || [ -d "$file" ] || unread "logrotate file $path" 'it is no file'
    continue
  fi
  many=$((many + 1))
  if [ "$many" -gt 60 ]; then unread logrotate 'more than 60 files: the rest was not read'; break; fi
  [ ! -h "$file" ] || { unread "logrotate file $path" 'a link may lead to any file, so it is not read'; continue; }
  readable "$path" || { unread "logrotate file $path" "$why"; continue; }
  sum_of "$file"
  : >names
  tr '\000' '\002' <"$file" | FILE=$path SUM=$sum CHANGED=$changed awk "$lib"'
    BEGIN {
      changed = ENVIRON["CHANGED"] ~ /^[0-9]+$/ ? "\"" iso(ENVIRON["CHANGED"] + 0) "\"" : "null"
      n_known = split("addextension compressext daily dateformat datehourago dateyesterday extension hourly ifempty include mailfirst maillast maxage maxsize minage minsize minutes monthly nomail noshred notifempty rotate size start su tabooext taboopat weekly yearly", all_known, " ")
      for (i = 1; i <= n_known; i++) known[all_known[i]] = 1
      n_known = split("allowhardlink compress copy copytruncate create createolddir dateext delaycompress ignoreduplicates missingok olddir renamecopy sharedscripts", all_known, " ")
      for (i = 1; i <= n_known; i++) known[all_known[i]] = known["no" all_known[i]] = 1
    }
    function put(name, value) { if (!(name in values)) order[++n] = name; values[name] = value }
    function flush(  i) {
      if (n == 0 && patterns == "") return
      text = text "{\"path\":" jstr(ENVIRON["FILE"])
      if (ENVIRON["SUM"] != "") text = text ",\"sha256\":\"" ENVIRON["SUM"] "\""
      text = text ",\"modifiedAt\":" changed ",\"directives\":{\"patterns\":[" patterns "]"
      for (i = 1; i <= n; i++) text = text ",\"" order[i] "\":" values[order[i]]
      text = text "}}\n"
      for (i = 1; i <= n; i++) delete values[order[i]]
      n = 0
      patterns = ""
    }
    function add(s,  q, e, one) {
      while (s != "") {
        sub(/^[ \t]+/, "", s)
        if (s == "") return
        q = substr(s, 1, 1)
        if (q == "\"" || q == "\047") { s = substr(s, 2); e = index(s, q); if (!e) e = length(s) + 1 }
        else if (match(s, /[ \t]/)) e = RSTART
        else e = length(s) + 1
        one = substr(s, 1, e - 1)
        s = substr(s, e + 1)
        if (one !~ /^[\/~*]/) { strange++; continue }
        patterns = patterns (patterns == "" ? "" : ",") jstr(cut(without_secrets(one), 1000))
      }
    }
    function directive(s,  name, value) {
      if (!match(s, /^[a-zA-Z]+/)) { strange++; return }
      name = tolower(substr(s, 1, RLENGTH))
      value = substr(s, RLENGTH + 1)
      if (name == "patterns") return
      if (name ~ /^(prerotate|postrotate|firstaction|lastaction|preremove)$/) { script = 1; put(name, "true"); return }
      if (name ~ /^(mail|compresscmd|uncompresscmd|compressoptions|shred|shredcycles)$/) { put(name, "true"); return }
      sub(/^[ \t]*=?[ \t]*/, "", value)
      # Only what logrotate knows, in words that one of its settings can have.
      if (!(name in known) || length(value) > 200 || value !~ /^[A-Za-z0-9_.,\/%+*?~:"\047 \t-]*$/ || value != without_secrets(value)) { strange++; return }
      if (value == "") put(name, "true")
      else if (name ~ /^(rotate|start|maxage|minage|hourly)$/ && value ~ /^[0-9]+$/) put(name, value + 0)
      else if (name == "include") put("include", ("include" in values ? substr(values["include"], 1, length(values["include"]) - 1) "," : "[") jstr(value) "]")
      else put(name, jstr(value))
    }
    $1 == "include" {
      folder = $0
      sub(/^[ \t]*include[ \t=]*/, "", folder)
      gsub(/["\047\r]|[ \t]+$/, "", folder)
      sub(/\/$/, "", folder)
      if (folder != "/etc/logrotate.d") print folder >"names"
    }
    script { if ($0 ~ /^[ \t]*endscript/) script = 0; next }
    !inside && /^[ \t]*[^# \t].*[{][ \t]*#/ { sub(/[{][ \t]*#.*$/, "{") }
    /[ \t][{][ \t]+[^ \t#]/ || (inside && /[^ \t].*[ \t][}]/) { odd = 1; exit 1 }
    { sub(/^[ \t]+/, ""); sub(/[ \t\r]+$/, "") }
    /^#/ || /^$/ { next }
    inside && /^[}]/ { flush(); inside = 0; next }
    inside { sub(/[ \t]+#.*$/, ""); directive($0); next }
    /[{]$/ {
      if (!pending) flush()
      sub(/[ \t]*[{]$/, "")
      add($0)
      inside = 1
      pending = 0
      next
    }
    /^[\/"\047~*]/ { if (!pending) flush(); add($0); pending = 1; next }
    { sub(/[ \t]+#.*$/, ""); directive($0) }
    END {
      if (odd || inside || script || pending) exit 1
      flush()
      printf "%s", text
      if (strange) exit 3
    }' >>list.host.logrotate
  case $? in
    0) ;;
    3) unread "logrotate file $path" 'lines of it are none that logrotate knows: those are not read' ;;
    *)
      unread "logrotate file $path" 'its text is not of the form that is known'
      continue
      ;;
  esac
  while IFS= read -r included; do unread "logrotate file $included" "$path includes it, and only /etc/logrotate.d is looked into"; done <names
done

# A run each: who starts it, when, and when it last was. What a timer does not tell, no cron line makes up for.
: >lines
ask timer 5 systemctl show logrotate.timer -p LoadState -p ActiveState -p TimersCalendar -p LastTriggerUSec
lost=$why
state=
while IFS= read -r line; do case $line in ActiveState=*) state=$line ;; esac; done <timer
# Of a job of logrotate only when, and whether it is for the files of /etc: the command may hold anything. Of a job that deletes images that command.
: >unsure
: >cleaners
# jobs FILE FORM [EVERY]: a table of cron; a script that cron starts so often; a unit; something else.
jobs() {
  path=${1#"$R"}
  [ -e "$1" ] || return
  if ! readable "$path"; then echo "$path was not read: $why" >>unsure; return; fi
  tr '\000\t' '\002 ' <"$1" | FORM=$2 FILE=$path EVERY=${3:-} awk "$lib"'
    function job(words,  c) {
      if (!match($0, "(^|[ /;&|(=\"\047])(" words ")([ ;&|)\"\047]|$)")) return ""
      c = substr($0, RSTART)
      sub(/^[^a-z]/, "", c)
      sub(/[;&|)>%].*$/, "", c)
      return c
    }
    BEGIN { form = ENVIRON["FORM"]; file = ENVIRON["FILE"] }
    /^ *#/ || (form == "table" && !/^ *[0-9*@]/) || (form == "unit" && !/^ *Exec/) { next }
    (c = job("(crictl|docker|nerdctl|ctr)( [^;&|]*)? (rmi?|prune|del(ete)?|remove)")) != "" && c !~ / (run|exec|login) / {
      print "{" kv("path", jstr(cut(file, 200))) "," kv("command", jstr(cut(without_secrets(c), 200))) "}" >>"cleaners"
    }
    (c = job("logrotate")) != "" {
      when = ""
      if (form == "table") { when = $1; if (when !~ /^@/) when = $1 " " $2 " " $3 " " $4 " " $5 }
      gsub(/["\047]/, "", c)
      n = split(c, words, " ")
      ours = 0
      for (i = 1; i <= n; i++) {
        if (words[i] ~ /^(-s|--state|-m|--mail|-l|--log)$/) { i++; continue }
        if (words[i] ~ /^\/etc\/logrotate\.(conf$|d(\/|$))/) ours = 1
      }
      # Without a file, as with one that is named elsewhere, what it does is not to be seen.
      if (ours && form == "table") print "cron\t" when
      else if (ours && form == "script") { if (!starts++) print "cron\t" ENVIRON["EVERY"] }
      else print file " calls logrotate, for what is not known" >"unsure"
    }' >>lines
}
for every in hourly daily weekly monthly; do
  [ ! -x "$R/etc/cron.$every/logrotate" ] || printf 'cron\t%s\n' "$every" >>lines
  for file in "$R/etc/cron.$every"/*; do
    if [ ! -x "$file" ] || [ -d "$file" ] || [ "${file##*/}" = logrotate ]; then continue; fi
    jobs "$file" script "$every"
  done
done
for file in "$R/etc/crontab" "$R"/etc/cron.d/* "$R/var/spool/cron/root" "$R/var/spool/cron/crontabs/root"; do
  # What cron passes over, by the name.
  case $file in
    "$R"/etc/cron.d/*[!A-Za-z0-9_-]*) if [ -e "$R/etc/debian_version" ]; then continue; fi ;;
  esac
  case $file in *'~' | *.rpmsave | *.rpmorig | *.rpmnew) continue ;; esac
  jobs "$file" table
done
jobs "$R/etc/anacrontab" other
jobs "$R/etc/rc.local" other
for file in "$R"/etc/systemd/system/*.service; do
  case ${file##*/} in logrotate.service) continue ;; esac
  jobs "$file" unit
done
if [ -z "$state" ]; then unread 'runs of logrotate' "${lost:-what it printed is not of the form that is known}"; else
  STATE=$state awk -F '\t' "$lib"'
    function add(by, when,  one) {
      if (seen[by, when]++ || n == 20) return
      one = "\"by\":\"" by "\"" (when == "" ? "" : ",\"schedule\":" jstr(substr(when, 1, 80)))
      if (++n > 1) also = also (also == "" ? "" : ",") "{" one "}"
      else first = one (by != "timer" || last == "" || last == "n/a" ? "" : ",\"last\":" jstr(last))
    }
    function add_timers(  i) {
      if (is_read++ || ENVIRON["STATE"] !~ /^ActiveState=active/) return
      if (!times) add("timer", "")
      for (i = 1; i <= times; i++) add("timer", calendar[i])
    }
    FNR == NR && /^LastTriggerUSec=/ { last = $0; sub(/^[^=]*=/, "", last) }
    FNR == NR && /^TimersCalendar=/ {
      while (match($0, /OnCalendar=[^;}]*/)) { when = substr($0, RSTART + 11, RLENGTH - 11); $0 = substr($0, RSTART + RLENGTH); sub(/ +$/, "", when); calendar[++times] = when }
    }
    FNR == NR { next }
    { add_timers(); add($1, $2) }
    END {
      add_timers()
      if ((getline why <"unsure") < 1) why = ""
      printf "{%s%s,\"unsure\":%s}", (n ? first : "\"by\":null"), (also == "" ? "" : ",\"also\":[" also "]"), (why == "" ? "null" : jstr(cut(why, 200)))
    }' timer lines >part.host.logrotateRuns
fi
# The first ten.
many=0
while [ "$many" -lt 10 ] && IFS= read -r line; do
  many=$((many + 1))
  printf '%s\n' "$line"
done <cleaners >list.host.cleaners

found=
counted=yes
[ -n "$pod_logs" ] || counted=
[ -z "$counted" ] || has stat || { unread 'log files' 'the program stat is not on this node'; counted=; }
for place in "$pod_logs" /var/log/containers /var/lib/docker/containers; do
  if [ -z "$counted" ] || [ ! -d "$R$place" ]; then continue; fi
  [ ! -h "$R$place" ] || { unread "log files in $place" 'it is a link, and is not followed'; continue; }
  # A name with a line end would forge lines: its file is counted without its name.
  many=$((many + 1))
  found="$found found.$many"
  if ask "found.$many" 10 find "$R$place" -type f ! -path "*$newline*" -exec stat -c '%d:%i %s %Y %n' '{}' + \
    -o -type f -exec stat -c '%d:%i %s %Y' '{}' +; then :; else
    unread "log files in $place" "$why"
    counted=
  fi
done
# No link is followed: a pod may have put it there. Those of the kubelet lead to files that were just counted.
if [ -n "$counted" ] && [ -d "$R/var/log/containers" ]; then
  behind='log files behind links in /var/log/containers'
  if ask links 5 find "$R/var/log/containers" -type l ! -path "*$newline*" -exec stat -c %N '{}' + -o -type l -exec stat -c odd '{}' +; then
    strange=$(PODS="$R$pod_logs/" PLAIN="$pod_logs/" DOCKER=/var/lib/docker/containers/ awk '
      { parts = split($0, part, " -> "); sub(/^.* -> .?/, ""); sub(/.$/, "") }
      parts == 2 && ($0 !~ /\/\.\.(\/|$)/) && (index($0, ENVIRON["PODS"]) == 1 || index($0, ENVIRON["PLAIN"]) == 1 || index($0, ENVIRON["DOCKER"]) == 1) { next }
      { n++ }
      END { if (n) print n }' links)
    [ -z "$strange" ] || unread "$behind" "links that lead to other places than logs of pods are not followed: $strange"
  else
    unread "$behind" "$why"
  fi
fi
# The kubelet's own names are N.log, and N.log.DATE-TIME with or without .gz; anything else that looks rotated was made by somebody else.
# shellcheck disable=SC2086
[ -z "$counted" ] || run 10 awk -v place="$R" "$lib"'
  function counts(files, bytes) { return kv("files", files + 0) "," kv("bytes", bytes + 0) }
  $2 !~ /^[0-9]+$/ || $3 !~ /^[0-9]+$/ || seen[$1]++ { next }
  {
    size = $2; age = $3; name = $0
    sub(/^[^ ]* [^ ]* [^ ]* /, "", name)
    name = NF == 3 ? "(a name with a line end)" : substr(name, length(place) + 1)
    files++
    total += size
    base = name
    sub(/^.*\//, "", base)
    one = "{" kv("path", jstr(cut(name, 500))) "," kv("bytes", size) "," kv("modifiedAt", jstr(iso(age))) "}"
    for (i = most; i > 0 && sizes[i] < size + 0; i--) { sizes[i + 1] = sizes[i]; shows[i + 1] = shows[i] }
    if (i < 10) { sizes[i + 1] = size + 0; shows[i + 1] = one; if (most < 10) most++ }
    if (base ~ /\.log[.-].|\.log\.?[0-9]+(\.gz)?$|\.tmp$|\.gz$|\.bz2$|\.xz$|-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]/) {
      is_kubelets = base ~ /^[0-9]+\.log\.[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9](\.gz)?$/
      if (!is_kubelets) { foreign++; foreign_bytes += size; if (foreign <= 10) sample = sample (sample == "" ? "" : ",") one }
    }
  }
  END {
    printf "%s", "{" counts(files, total) "," kv("biggest", "[")
    for (i = 1; i <= most; i++) printf "%s%s", (i > 1 ? "," : ""), shows[i]
    printf "%s", "]," kv("rotatedByOthers", "{" counts(foreign, foreign_bytes) "," kv("sample", "[" sample "]") "}") "}"
  }' $found /dev/null >part.host.logs 2>error || { rm -f part.host.logs; unread 'log files' 'there was no time to count them'; }

if [ -z "$pod_logs" ]; then :; elif [ ! -d "$R$pod_logs" ]; then
  unread podLogDirectories "there is no $pod_logs"
elif ask names 5 find "$R$pod_logs" -mindepth 1 -maxdepth 1 -type d \( ! -path "*$newline*" -print -o -exec stat -c odd '{}' + \); then
  awk -v place="$R$pod_logs/" "$lib"'
    $0 == "odd" { odd = 1; next }
    n++ < 2000 { print jstr(cut(substr($0, length(place) + 1), 400)) }
    END { print n + 0, odd >"size" }' names >list.host.podLogDirectories
  odd=
  read -r many odd <size
  [ -z "$odd" ] || unread podLogDirectories 'a name there has a line end in it: that was not read'
  [ "$many" -le 2000 ] || { rm -f list.host.podLogDirectories; unread podLogDirectories 'there are more than 2,000'; }
else
  unread podLogDirectories "$why"
fi

# ── the kernel ──
first_line() {
  line=
  { IFS= read -r line <"$1"; } 2>/dev/null
  [ -n "$line" ]
}
if first_line "$R/proc/sys/kernel/osrelease"; then json_string "$line" >part.host.kernel.release; else unread kernel.release '/proc does not tell'; fi
if first_line "$R/proc/cmdline"; then LINE=$line awk "$lib"'BEGIN { printf "%s", jstr(kernel_words(substr(ENVIRON["LINE"], 1, 4000))) }' >part.host.kernel.cmdline; else unread kernel.cmdline '/proc does not tell'; fi
groups="$R/sys/fs/cgroup"
if [ -e "$groups/cgroup.controllers" ]; then
  printf 2 >part.host.kernel.cgroupVersion
  # Newer kernels count those of the memory controller apart.
  awk '
    $1 == "nr_descendants" && $2 ~ /^[0-9]+$/ { printf "%d", $2 + 1 }
    $1 == "nr_dying_descendants" { all = $2 }
    $1 == "nr_dying_subsys_memory" { memory = $2 }
    END { if (memory == "") memory = all; if (memory ~ /^[0-9]+$/) printf "%d", memory >"part.host.kernel.dyingMemoryCgroups" }' "$groups/cgroup.stat" >part.host.kernel.memoryCgroups 2>/dev/null
  [ -s part.host.kernel.memoryCgroups ] || unread kernel.memoryCgroups 'cgroup.stat does not tell'
elif [ -d "$groups/memory" ]; then
  printf 1 >part.host.kernel.cgroupVersion
  count=$(awk '$1 == "memory" && $3 ~ /^[0-9]+$/ { print $3 + 0 }' "$R/proc/cgroups" 2>/dev/null)
  if [ -n "$count" ]; then
    printf '%s' "$count" >part.host.kernel.memoryCgroups
    # Those that are counted and have no folder any more are dying.
    if ask names 8 find "$groups/memory" -type d; then
      alive=$(wc -l <names)
      dying=$((count - alive))
      [ "$dying" -ge 0 ] || dying=0
      printf '%s' "$dying" >part.host.kernel.dyingMemoryCgroups
    else
      unread kernel.dyingMemoryCgroups "$why"
    fi
  else
    unread kernel.memoryCgroups '/proc/cgroups does not tell'
  fi
else
  unread kernel.cgroupVersion '/sys/fs/cgroup is neither of the two forms'
fi
: >list.host.kernel.

# ── what the kubelet said last of GC and eviction ──
if [ -n "$kubelets" ]; then unread logLines 'several kubelets run'; elif ask journal 10 journalctl -u "$unit" -n 20000 --no-pager -q -o short-iso; then
  tr '\000' '\002' <journal | awk "$lib"'
    /image_gc_manager|[Ii]mage garbage|[Gg]arbage collect|ImageGC|ContainerGC|FreeDiskSpace|eviction_manager|[Ee]viction manager|[Ee]victed|attempting to reclaim|must evict/ { kept[n++ % 40] = cut($0, 2000) }
    END { for (i = n > 40 ? n - 40 : 0; i < n; i++) print jstr(cut(without_secrets(kept[i % 40]), 300)) }' >list.host.logLines
else
  unread logLines "$why"
fi

# ── the running configuration, where root may read it ──
pem="$R/var/lib/kubelet/pki/kubelet-client-current.pem"
if [ -n "$kubelets" ]; then
  why='several kubelets run'
elif [ ! -r "$pem" ]; then
  why='without a client certificate of the kubelet port 10250 was not asked'
elif ask configz 6 curl -sS -f -k --max-time 5 --noproxy '*' --cert "$pem" --key "$pem" https://127.0.0.1:10250/configz; then
  if run 5 awk -v root= -v keep= -v hide=1 "$json" configz >part.configz 2>/dev/null && holds part.configz '"kubeletconfig"'; then :; else
    rm -f part.configz
    why='what port 10250 answered is no configz'
  fi
fi
[ -z "$why" ] || unread 'the running configuration' "$why"

[ -z "$sumless" ] || unread 'hashes of files' "$sumless"
finish
