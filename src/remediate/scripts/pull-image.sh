# Highwater-PullImage: an image that pods need, pulled from another registry, under the name that they use, and pinned: the kubelet and containerd
# never delete it again. Nothing is restarted. It is pulled as the node itself pulls: by the mirrors of its containerd, and without credentials, which
# only the kubelet has.
# The hashes are of one line: the name, and whether it is pinned.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

pin=io.cri-containerd.pinned
# What the source was before, kept with it: a run that is broken off must not take its own work for what was there.
mark=io.highwater.was
named='^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+:[A-Za-z0-9_][A-Za-z0-9_.-]*$'
digested='^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?@sha256:[a-f0-9]+$'
# By digest alone: a tag may stand for other bytes by now, and containerd keeps what it pulls by digest without the tag.
pulled='^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+@sha256:[a-f0-9]+$'

images() { run 20 ctr -n k8s.io images "$@"; }
# told NAME: absent, unpinned or pinned into $is, and what the mark says into $was_before.
told() {
  images ls "name==$1" || return 1
  answer=$(REF=$1 MARK=$mark awk '
    $1 == ENVIRON["REF"] {
      is = "unpinned"; was = ""
      n = split($NF, labels, ",")
      for (i = 1; i <= n; i++) {
        if (labels[i] == "io.cri-containerd.pinned=pinned") is = "pinned"
        if (index(labels[i], ENVIRON["MARK"] "=") == 1) was = substr(labels[i], length(ENVIRON["MARK"]) + 2)
      }
      print is, was
      exit
    }' "$W/out")
  is=${answer%% *} was_before=${answer#* }
  case $is in pinned | unpinned) ;; *) is=absent was_before='' ;; esac
  case $was_before in absent | unpinned | pinned) ;; *) was_before= ;; esac
}

fit() { has ctr && has crictl || { why='this node has no ctr, or no crictl'; return 1; }; }
look() {
  told "$image" || return 1
  if [ "$is" = absent ]; then present=absent; return 0; fi
  printf '%s %s\n' "$image" "$is" >"$W/state"
  hash_of "$W/state" || return 1
  present=$sum
}
able() {
  place=$base
  while [ ! -d "$place" ]; do place=${place%/*}; done
  has_room "${place:-/}"
}
observe() { :; }
unpack() {
  printf '%s pinned\n' "$image" >"$W/new"
  hash_of "$W/new" || return 1
  [ "$sum" = "$new" ] || { why='NewSha256 is not of that name, pinned'; return 1; }
}
save() {
  told "$from" || return 1
  printf '%s\n' "${was_before:-$is}" 2>/dev/null >"$state/saved" && flush "$state/saved" || { why="nothing can be written in ${state#"$R"}"; return 1; }
}
write_new() {
  [ "$old" = absent ] || return 0
  time_left 280
  run "$seconds" crictl pull "$from" || return 1
  first_line "$state/saved"
  images label "$from" "$mark=$line" "$pin=pinned" || { why="what was pulled is not there as $from: $why"; return 1; }
  step pulled
}
# One step: the name comes with the labels of the source.
place_new() {
  begun=yes
  if [ "$old" = absent ]; then images tag "$from" "$image"; else images label "$image" "$pin=pinned"; fi
}
activate() {
  while ! run 20 crictl inspecti "$image"; do
    tell_time
    [ "$clock" -lt "$deadline" ] || { why="the kubelet would not find $image: $why"; return 1; }
    nap
  done
  : >"$W/out"
  [ "$old" != absent ] || images label "$image" "$mark=" || return 1
  step 'found by its name'
}

# source_back: what the source was before.
source_back() {
  [ "$old" = absent ] || return 0
  [ -s "$state/saved" ] || { why="what $from was before is not known"; return 1; }
  told "$from" || return 1
  [ "$is" != absent ] || return 0
  first_line "$state/saved"
  case $line in
    absent) images rm "$from" ;;
    unpinned) images label "$from" "$mark=" "$pin=" ;;
    pinned) images label "$from" "$mark=" ;;
  esac
}
place_old() {
  look || return 1
  if [ "$present" != "$old" ]; then
    if [ "$old" = absent ]; then images rm "$image" || return 1; else images label "$image" "$pin=" || return 1; fi
  fi
  source_back
}
reactivate() {
  look || return 1
  [ "$present" = "$old" ] || { why="$image is not as it was"; return 1; }
}
# A run that came to nothing leaves nothing.
tidy() { case $phase in begun | swapping) [ ! -s "$state/saved" ] || source_back || : ;; esac; }

SSM_Content=
takes_common
from=${SSM_Source-?} image=${SSM_Name-?}
takes Source "$from" 3 400 '[!a-zA-Z0-9._:/@-]'
takes Name "$image" 3 400 '[!a-zA-Z0-9._:/-]'
is_form() { REF=$1 FORM=$2 awk 'BEGIN { exit ENVIRON["REF"] !~ ENVIRON["FORM"] }' </dev/null; }
is_form "$from" "$named" || is_form "$from" "$digested" || refuse 'the parameter Source is no whole name of an image, with its registry and a tag or digest'
is_form "$image" "$named" || refuse 'the parameter Name is no whole name of an image, with its registry and a tag'
digest=${from##*:}
if [ "$old" = absent ]; then
  is_form "$from" "$pulled" && [ "${#digest}" -eq 64 ] || refuse 'the parameter Source names no digest alone, so what would be pulled is not known'
fi
[ "$from" != "$image" ] || refuse 'the parameters Source and Name are the same'
allow 600
change "pull-image $from $image $old $new"
