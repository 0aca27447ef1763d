# Highwater-InspectDisks: what holds the disks of a node (Amazon Linux, Ubuntu, hybrid nodes): folders, layers, deleted files, volumes, devices.
# Read-only. `kubelet.sh` stands before it.
# shellcheck shell=sh

# The other document takes less: both together stay within 20 seconds.
all_cpu=140
process kubelet || [ -n "$several" ] || unread 'kubelet process' 'no process of that name runs: only the usual folders were measured'
kubelets=$several
kubelet_flags
# Where the kubelet keeps logs is in its files, of which nothing is printed.
{
  printf '%s\n' "$config"
  [ -n "$pid$kubelets" ] || for path in /etc/kubernetes/kubelet/config.json /etc/kubernetes/kubelet/kubelet-config.json /var/lib/kubelet/config.yaml; do
    [ ! -e "$R$path" ] || { echo "$path"; break; }
  done
  [ -z "$config_dir" ] || {
    find "$R$config_dir" -name '*.conf' ! -type d ! -path "*$newline*" >names 2>/dev/null
    in_walk_order 50 names
    cat sorted
  }
} >paths
number=0
sources=
while IFS= read -r path; do
  path=${path#"$R"}
  case $path in '') continue ;; /*) ;; *) doubt='?'; continue ;; esac
  if ! readable "$path"; then doubt='?'; continue; fi
  number=$((number + 1))
  text_of "$path" KubeletConfiguration || :
  if run 15 awk -v root= -v keep= -v hide=1 "$json" text >"content.$number" 2>/dev/null && [ -s "content.$number" ]; then :; else cat text >"content.$number"; fi
  sources="$sources content.$number"
done <paths
# shellcheck disable=SC2086
fields_of $sources
node_name
runtime_endpoint
cri_containers
cri_sandboxes
cri_filesystems

device_of() { [ -z "$1" ] || stat -L -c %d "$R$1" 2>/dev/null; }
nodefs=$(device_of "$root_dir")
imagefs=$(device_of "$images")
missed=0
: >rows
: >known
: >volumes

is_folder() { [ -d "$R$1" ] && [ ! -h "$R$1" ]; }

# on_disk FOLDER: nodefs or imagefs into $on.
on_disk() {
  is_folder "$1" || return
  case $(device_of "$1") in '') return 1 ;; "$nodefs") on=nodefs ;; "$imagefs") on=imagefs ;; *) return 1 ;; esac
}

# folder_entry HOLDER FOLDER KILOBYTES [POD]: a row, with what `du --inodes` printed into `inodes`. A folder may have any name without a line end.
folder_entry() {
  count=
  read -r count _ <inodes
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$on" "$3" "$count" "${4:-}" "$2" >>rows
}
folder_entries() {
  awk -F '\t' "$lib"'{
    path = $0
    for (i = 0; i < 5; i++) path = substr(path, index(path, "\t") + 1)
    inodes = $4 == "" ? "" : "," kv("inodes", $4)
    pod = $5 == "" ? "" : "," kv("pod", jstr(cut($5, 60)))
    print "{" kv("holder", jstr($1)) "," kv("path", jstr(cut(path, 400))) "," kv("on", jstr($2)) "," kv("bytes", $3 * 1024) inodes pod "}"
  }' rows >list.host.diskUse.folders
}

# The data of a local volume is no data of the pods' folder into which it is mounted.
apart=
if has du && du --exclude=kubernetes.io~local-volume -s "$W" >/dev/null 2>&1; then apart=--exclude=kubernetes.io~local-volume; fi

# measure HOLDER FOLDER [POD]: the space that it takes on nodefs or imagefs. `du` fails where a file goes while it walks, and has its sum all the same.
measure() {
  on_disk "$2" || return
  printf '%s\n' "$2" >>known
  # shellcheck disable=SC2086
  run 6 du -xks $apart "$R$2" >du 2>/dev/null
  [ -s du ] || { missed=$((missed + 1)); return; }
  # shellcheck disable=SC2086
  run 6 du -xs --inodes $apart "$R$2" >inodes 2>/dev/null
  read -r kilobytes _ <du
  folder_entry "$1" "$2" "$kilobytes" "${3:-}"
}

# orphans FOLDER DEPTH: folders of pods there, named by their UID, that have no sandbox; and the largest folders at that depth, of containers or volumes,
# and those of termination logs.
orphans() {
  is_folder "$1" || return
  # shellcheck disable=SC2086
  run 6 du -xk -d "$2" $apart "$R$1" >du 2>/dev/null
  if [ ! -s du ] || [ ! -s part.runtime.sandboxes ]; then missed=$((missed + 1)); return; fi
  TOP=$R$1 PLACE=$R DEPTH=$2 awk "$lib"'
    function entry(path, size) { return "{" kv("path", jstr(cut(substr(path, length(ENVIRON["PLACE"]) + 1), 400))) "," kv("bytes", size * 1024) "}" }
    FNR == NR { known = known $0; next }
    # A name with a line end may forge a line: only those of one row, with a size, of a folder right there.
    !/^[0-9]+[ \t]/ { next }
    {
      size = $1 + 0
      sub(/^[0-9]+[ \t]+/, "")
      if (substr($0, 1, length(ENVIRON["TOP"]) + 1) != ENVIRON["TOP"] "/") next
      deep = split(substr($0, length(ENVIRON["TOP"]) + 2), names, "/")
      if (deep == ENVIRON["DEPTH"] + 0 || (deep == 3 && names[2] == "containers")) {
        for (i = most; i > 0 && sizes[i] < size; i--) { sizes[i + 1] = sizes[i]; paths[i + 1] = paths[i] }
        if (i < 10) { sizes[i + 1] = size; paths[i + 1] = $0; if (most < 10) most++ }
      }
      uid = names[1]
      sub(/^.*_/, "", uid)
      if (deep != 1 || index(known, "\"" uid "\"") || n++ >= 50) next
      print entry($0, size)
    }
    END { for (i = 1; i <= most; i++) print entry(paths[i], sizes[i]) >>"list.host.diskUse.inside" }' part.runtime.sandboxes du >>list.host.diskUse.orphans
}

# What is mounted into the folders of pods from a folder of the same disk: a local volume. `source`, a tab, `target`.
local_volumes() {
  TOP=$R$root_dir/pods/ awk '
    index($5, ENVIRON["TOP"]) != 1 || $5 !~ /\/volumes\/kubernetes\.io~local-volume\/[^\/]+$/ || $5 ~ /\\/ || n++ >= 20 { next }
    { print $4 "\t" $5 }' "$R/proc/self/mountinfo" 2>/dev/null >volumes
  while IFS='	' read -r origin target; do
    path=${target#"$R"}
    pod=${path#"$root_dir/pods/"}
    # The path on the host, where it is the same folder.
    case $origin in *\\*) ;; *) [ "$(stat -c %d:%i "$R$origin" 2>/dev/null)" != "$(stat -c %d:%i "$target" 2>/dev/null)" ] || path=$origin ;; esac
    measure localVolume "$path" "${pod%%/*}"
  done <volumes
}

# inodes_of LIST: device and inode of these folders and of all above them.
inodes_of() {
  awk '{ path = $0; do { if (path != "" && !seen[path]++) print path } while (sub(/\/[^\/]*$/, "", path)) }' "$1" >above
  set --
  while IFS= read -r path; do set -- "$@" "$R$path"; done <above
  stat -c '%d:%i' "$@" 2>/dev/null
}

# strangers: the largest folders, two levels deep, that no fixed measurement covers: beside each that is known and beside each above it, in /var/log, /opt,
# the homes and /etc, and beside the snapshots of a snapshotter. All that is known is left out by its inode: a folder can be mounted at two places.
strangers() {
  {
    cat known
    printf '%s\n' "$root_dir" "$images" "$images/snapshots" "$pod_logs" /var/lib /usr /proc /sys /dev
    case $images in */io.containerd.*) printf '%s\n' "${images%/*}" ;; esac
  } >all_known
  inodes_of all_known >inodes_known
  KUBELET=$root_dir/ awk 'FNR == NR { known[$0] = 1; next } !($0 in known) && index($0, ENVIRON["KUBELET"]) != 1' all_known above >around
  set --
  # Where the two disks are mounted as a whole.
  NODEFS=$nodefs IMAGEFS=${imagefs:-$nodefs} awk '
    { split($3, d, ":"); device = d[1] * 256 + d[2] % 256 + int(d[2] / 256) * 1048576 }
    (device == ENVIRON["NODEFS"] || device == ENVIRON["IMAGEFS"]) && $4 == "/" && $5 !~ /\\/ && n++ < 10 { print $5 }' "$R/proc/self/mountinfo" 2>/dev/null >mounts
  of_containers=${images%/*}/io.containerd.grpc.v1.cri/containers
  # Of the last two, which have many folders, only as many as have room in the list.
  {
    printf '%s\n' / /var /var/log /opt /home /root "${images%/*}" "$images"
    cat around
    printf '%s\n' /var/lib /etc "$of_containers"
  } >>mounts
  while IFS= read -r place; do
    [ -z "$place" ] || ! is_folder "$place" || set -- "$@" "$R$place"
  done <mounts
  if ! ask candidates 5 find "$@" -mindepth 1 -maxdepth 1 \( -type d -o -type f -size +200000 \) ! -path "*$newline*" -exec stat -c '%d %d:%i %n' '{}' +; then
    unread 'other folders' "$why"
    return
  fi
  KUBELET=$R$root_dir/ MANY=$R$of_containers/ ETC=$R/etc/ NODEFS=$nodefs IMAGEFS=${imagefs:-$nodefs} awk '
    FNR == NR { known[$1] = 1; next }
    $2 in known || index($0, " " ENVIRON["KUBELET"]) { next }
    { disk = $1 == ENVIRON["NODEFS"] ? "nodefs" : ($1 == ENVIRON["IMAGEFS"] ? "imagefs" : "") }
    disk == "" { next }
    n == 90 { if (!index($0, " " ENVIRON["ETC"]) && !index($0, " " ENVIRON["MANY"])) print >"cut"; next }
    { known[$2] = 1; n++; sub(/^[^ ]+ [^ ]+ /, ""); print disk " " $0 }' inodes_known candidates >others
  : >sized
  slow=
  [ ! -s cut ] || slow=yes
  tell_time
  until_then=$((clock + 12))
  while read -r on path; do
    tell_time
    if [ "$clock" -ge "$until_then" ]; then slow=yes; break; fi
    if ! run 5 du -xk -d 1 "$path" >du 2>/dev/null && [ ! -s du ]; then slow=yes; continue; fi
    # The last line is the folder itself. A folder inside counts if it has most of it.
    ON=$on TOP=$path awk '
      !/^[0-9]+[ \t]/ { next }
      { size = $1 + 0; sub(/^[0-9]+[ \t]+/, "") }
      index($0, ENVIRON["TOP"] "/") == 1 { if (size > most) { most = size; inner = $0 } next }
      $0 == ENVIRON["TOP"] { whole = size }
      END {
        if (whole < 1024) exit
        print whole " " ENVIRON["ON"] " " ENVIRON["TOP"]
        if (most >= whole / 2 && most <= whole) print most " " ENVIRON["ON"] " " inner
      }' du >>sized
  done <others
  [ -z "$slow" ] || unread 'other folders' 'not all of them were measured'
  awk '{
      size = $1 + 0
      for (i = most; i > 0 && sizes[i] < size; i--) { sizes[i + 1] = sizes[i]; rows[i + 1] = rows[i] }
      if (i < 10) { sizes[i + 1] = size; rows[i + 1] = $0; if (most < 10) most++ }
    }
    END { for (i = 1; i <= most; i++) print rows[i] }' sized >largest
  while read -r kilobytes on path; do
    run 4 du -xs --inodes "$path" >inodes 2>/dev/null
    folder_entry unknown "${path#"$R"}" "$kilobytes"
  done <largest
}

# Block devices, their model, and whether anything uses them: a partition or the device is mounted, is swap, or is part of another device.
devices() {
  busy=$(cat "$R/proc/self/mountinfo" "$R/proc/swaps" 2>/dev/null | awk '/^[0-9]+ [0-9]+ [0-9]+:/ { printf "%s ", $3 } /^\/dev\// { printf "%s ", $1 }')
  for folder in "$R"/sys/block/*; do
    name=${folder##*/}
    case $name in loop* | ram* | zram* | dm-* | md* | sr* | '*') continue ;; esac
    size=
    { IFS= read -r size <"$folder/size"; } 2>/dev/null || continue
    model=
    { IFS= read -r model <"$folder/device/model"; } 2>/dev/null
    used=false
    for part in "$folder" "$folder/$name"*; do
      number=
      { IFS= read -r number <"$part/dev"; } 2>/dev/null || continue
      for above in "$part"/holders/*; do [ ! -e "$above" ] || used=true; done
      case " $busy " in *" $number "* | *" /dev/${part##*/} "*) used=true ;; esac
    done
    NAME=$name MODEL=$model SECTORS=$size USED=$used awk "$lib"'BEGIN {
      model = ENVIRON["MODEL"]
      sub(/ +$/, "", model)
      if (ENVIRON["SECTORS"] ~ /^[0-9]+$/ && ENVIRON["SECTORS"] > 0)
        print "{" kv("name", jstr(cut(ENVIRON["NAME"], 60))) "," kv("bytes", ENVIRON["SECTORS"] * 512) "," kv("model", jstr(cut(model, 80))) ",\"isUsed\":" ENVIRON["USED"] "}"
    }'
  done >lines
  awk 'NR <= 40' lines >list.host.diskUse.devices
}

snapshots() {
  out=$1
  shift
  ask "$out" 9 ctr -a "${endpoint#unix://}" -n k8s.io snapshots --snapshotter "$snapshotter" "$@"
}

# namespaces: what other clients of containerd hold: their snapshots, and packed content that neither the kubelet's images nor a namespace before has.
namespaces() {
  ask names 5 ctr -a "${endpoint#unix://}" namespaces ls -q || { unread 'namespaces of containerd' "$why"; return; }
  awk '$0 != "k8s.io" && /^[A-Za-z0-9][A-Za-z0-9._-]*$/ && length($0) <= 76 && n++ < 8' names >others
  if [ ! -s others ]; then : >list.host.diskUse.namespaces; return; fi
  blobs=${images%/*}/io.containerd.content.v1.content/blobs
  : >claimed
  ask stored 6 find "$R$blobs" -type f -exec stat -c '%b %B %n' '{}' + || : >stored
  if ! ask content 5 ctr -a "${endpoint#unix://}" -n k8s.io content ls -q; then unread 'namespaces of containerd' "$why"; return; fi
  cat content >>claimed
  while IFS= read -r one; do
    if ! ask usage 6 ctr -a "${endpoint#unix://}" -n "$one" snapshots --snapshotter "$snapshotter" usage -b \
      || ! ask content 5 ctr -a "${endpoint#unix://}" -n "$one" content ls -q; then unread 'namespaces of containerd' "$why"; continue; fi
    NAME=$one awk "$lib"'
      FNR == 1 { file++ }
      file == 1 { claimed[$1] = 1; next }
      file == 2 { own[$1] = 1; next }
      file == 3 {
        digest = $3
        sub(/^.*\/blobs\//, "", digest)
        sub(/\//, ":", digest)
        if (digest in own && !(digest in claimed)) packed += $1 * $2
        next
      }
      FNR > 1 { bytes += $(NF - 1); inodes += $NF }
      END { if (bytes + packed > 0) print "{" kv("name", jstr(ENVIRON["NAME"])) "," kv("bytes", bytes + 0) "," kv("inodes", inodes + 0) "," kv("content", packed + 0) "}" }' claimed content stored usage
    cat content >>claimed
  done <others >list.host.diskUse.namespaces
}

# By use, and the largest writable layers.
layers() {
  : >list.host.diskUse.layers
  awk "$lib"'
    FNR == 1 { file++ }
    file == 1 { containers = containers $0; next }
    file == 2 { sandboxes = sandboxes $0; next }
    FNR == 1 { next }
    file == 3 { kind[$1] = $NF; if (NF > 2) parent[$1] = $(NF - 1); next }
    { bytes[$1] = $(NF - 1); inodes[$1] = $NF }
    function ids(list, sandbox,  n, i, chunk, id) {
      n = split(list, chunk, /"id":"/)
      for (i = 2; i <= n; i++) {
        id = chunk[i]
        sub(/".*/, "", id)
        of[id] = (chunk[i] ~ /CONTAINER_RUNNING|SANDBOX_READY/ ? "running" : "dead") (sandbox ? " sandbox" : "")
      }
    }
    # The largest of a use, at most five of each.
    function rank(use, key,  i) {
      for (i = top[use]; i > 0 && bytes[best[use, i]] < bytes[key]; i--) best[use, i + 1] = best[use, i]
      if (i < 5) { best[use, i + 1] = key; if (top[use] < 5) top[use]++ }
    }
    END {
      ids(containers, 0)
      ids(sandboxes, 1)
      for (key in kind) {
        if (kind[key] == "Committed") continue
        who = key ~ /^extract-/ ? "unpacking" : (key in of ? of[key] : "leftover")
        use[key] = who
        sub(/ .*/, "", use[key])
        if (who ~ /^(running|dead)$/) rank(who, key)
        deep = 0
        for (layer = parent[key]; layer != "" && deep++ < 500; layer = parent[layer])
          if (who !~ /sandbox/) use[layer] = "inUse"
          else if (use[layer] == "") use[layer] = "pinned"
      }
      for (key in bytes) {
        who = use[key] == "" ? "unused" : use[key]
        count[who]++
        sum[who] += bytes[key]
        files[who] += inodes[key]
      }
      for (who in count) print "{" kv("use", jstr(who)) "," kv("count", count[who]) "," kv("bytes", sum[who]) "," kv("inodes", files[who]) "}"
      for (who in top) for (i = 1; i <= top[who]; i++) {
        key = best[who, i]
        print "{" kv("use", jstr(who)) "," kv("key", jstr(cut(key, 200))) "," kv("bytes", bytes[key] + 0) "," kv("inodes", inodes[key] + 0) "}" >>"list.host.diskUse.layers"
      }
    }' part.runtime.containers part.runtime.sandboxes tree usage >list.host.diskUse.snapshots
}

# Files that are deleted and open: of each disk, and the processes that hold most. The files of a container are on an overlay of imagefs.
deleted_files() {
  : >held
  cat "$R/proc/self/mountinfo" 2>/dev/null | NODEFS=$nodefs IMAGEFS=${imagefs:-$nodefs} awk "$lib"'
    / - overlay / { split($3, d, ":"); on[d[1] * 256 + d[2] % 256 + int(d[2] / 256) * 1048576] = ENVIRON["IMAGEFS"] }
    / - / || seen[$1]++ { next }
    {
      disk = $2 in on ? on[$2] : $2
      name = disk == ENVIRON["NODEFS"] ? "nodefs" : (disk == ENVIRON["IMAGEFS"] ? "imagefs" : "")
      if (name == "") next
      pid = $0
      sub(/\/fd\/[0-9]+$/, "", pid)
      sub(/^.*\//, "", pid)
      files[name]++
      bytes[name] += $3 * $4
      if (pid ~ /^[0-9]+$/) { many[name " " pid]++; sum[name " " pid] += $3 * $4 }
    }
    END {
      for (name in files) print "{" kv("on", jstr(name)) "," kv("files", files[name]) "," kv("bytes", bytes[name]) "}"
      for (one in sum) {
        for (i = most; i > 0 && sum[best[i]] < sum[one]; i--) best[i + 1] = best[i]
        if (i < 10) { best[i + 1] = one; if (most < 10) most++ }
      }
      for (i = 1; i <= most; i++) printf "%s %d %.0f\n", best[i], many[best[i]], sum[best[i]] >>"held"
    }' - deleted >list.host.diskUse.deletedFiles
  while read -r on holder files bytes; do
    command=
    { IFS= read -r command <"$R/proc/$holder/comm"; } 2>/dev/null || continue
    COMMAND=$command ON=$on HOLDER=$holder FILES=$files BYTES=$bytes awk "$lib"'
      # The cgroup of a pod has its UID: kubepods-burstable-podUID.slice with underscores, or kubepods/burstable/podUID.
      uid == "" && /kubepods/ && match($0, /pod[0-9a-f][0-9a-f_-]+/) && RLENGTH >= 35 && RLENGTH <= 39 { uid = substr($0, RSTART + 3, RLENGTH - 3); gsub(/_/, "-", uid) }
      END {
        print "{" kv("on", jstr(ENVIRON["ON"])) "," kv("pid", ENVIRON["HOLDER"]) "," kv("command", jstr(cut(without_secrets(ENVIRON["COMMAND"]), 40))) (uid == "" ? "" : "," kv("pod", jstr(uid))) "," kv("files", ENVIRON["FILES"]) "," kv("bytes", ENVIRON["BYTES"]) "}"
      }' "$R/proc/$holder/cgroup" 2>/dev/null
  done <held >list.host.diskUse.processes
}

if [ -n "$kubelets" ] || [ -z "$nodefs" ]; then unread diskUse 'where the kubelet keeps its files is not known'; else
  : >list.host.diskUse.orphans
  : >list.host.diskUse.inside
  local_volumes
  measure kubelet "$root_dir"
  # Data of CSI drivers, and what is written where a volume is not mounted.
  measure kubelet "$root_dir/plugins"
  measure kubelet "$root_dir/checkpoints"
  measure pods "$root_dir/pods"
  orphans "$root_dir/pods" 4
  if [ -n "$pod_logs" ]; then measure podLogs "$pod_logs"; orphans "$pod_logs" 2; fi
  case $images in
    */io.containerd.snapshotter.*)
      measure content "${images%/*}/io.containerd.content.v1.content"
      measure containerd "${images%/*}/io.containerd.metadata.v1.bolt"
      ;;
  esac
  for pair in logs:/var/log journal:/var/log/journal coreDumps:/var/lib/systemd/coredump coreDumps:/var/crash packages:/var/cache \
    temporary:/tmp temporary:/var/tmp docker:/var/lib/docker system:/opt system:/home system:/root system:/etc system:/boot \
    system:/var/lib/amazon system:/var/lib/snapd system:/usr; do
    measure "${pair%%:*}" "${pair#*:}"
  done
  strangers
  folder_entries
  snapshotter=overlayfs
  case $images in */io.containerd.snapshotter.v1.*) snapshotter=$(printf %s "${images##*/io.containerd.snapshotter.v1.}" | tr -dc 'a-z0-9-') ;; esac
  if [ -s part.runtime.containers ] && [ -s part.runtime.sandboxes ] \
    && snapshots tree ls && snapshots usage usage -b; then layers; namespaces; else
    unread 'snapshots of containerd' "${why:-the list of containers was not read}"
  fi
  # Processes end while `find` walks.
  run 8 find "$R"/proc/[0-9]*/fd -lname '*(deleted)' -exec stat -L -c '%d:%i %d %b %B %n' '{}' + >deleted 2>/dev/null
  if [ "$?" -gt 1 ]; then missed=$((missed + 1)); else deleted_files; fi
  # Links that lead nowhere: the kubelet deletes them each minute. Only their number is printed, so a name can forge nothing.
  if [ -z "$pod_logs" ]; then :; elif ask links 5 find "$R/var/log/containers" "$R$pod_logs" -mmin +10 -xtype l -exec stat -c . '{}' +; then
    printf '%d' "$(wc -l <links)" >part.host.diskUse.brokenLinks
  else
    unread 'broken links' "$why"
  fi
  devices
  printf '%s' "$missed" >part.host.diskUse.missed
fi
# Highwater-Inspect prints them.
rm -f part.runtime.*
finish
