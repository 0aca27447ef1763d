# One file replaced by another, whole, and put back byte for byte. `change.sh` stands before it.
# The script after it sets $target (the path, without the root folder), and $more: other files that follow from it, kept with it.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

file_most=131072
more=

# fit: whether the target, and the folders it is in, are what they seem.
fit() {
  folder=${target%/*}
  real=$(cd -P "$R/" && pwd -P) || { why='the root folder cannot be entered'; return 1; }
  real=${real%/}
  here=$(cd -P "$R$folder" 2>/dev/null && pwd -P) || { why="there is no folder $folder"; return 1; }
  [ "$here" = "$real$folder" ] || { why="a link leads to another folder than $folder"; return 1; }
  above=$folder
  while [ -n "$above" ]; do
    own "$R$above" || return 1
    above=${above%/*}
  done
  fresh_name=$R$folder/.${target##*/}.$id.new~
}
# Programs that read the whole folder must not read these: of how a name ends, logrotate passes over "~" in each of its versions (logrotate(8), tabooext),
# and the kubelet takes nothing but ".conf".
kept_name() { beside=$R${1%/*}/.${1##*/}.$id.old~; }

look() { look_at "$target"; }
look_at() {
  if [ -h "$R$1" ]; then why="$1 is a link"; return 1; fi
  if [ ! -e "$R$1" ]; then present=absent; return 0; fi
  [ -f "$R$1" ] || { why="$1 is no file"; return 1; }
  hash_of "$R$1" || return 1
  present=$sum
}

able_file() {
  has_room "$R$folder" || return 1
  place=$base
  while [ ! -d "$place" ]; do place=${place%/*}; done
  has_room "$place"
}

# permitted FILE: whether it may be written there at all, from any sender; for the script after this one.
unpack() {
  decoded "$file_most" || return 1
  hash_of "$W/new" || return 1
  [ "$sum" = "$new" ] || { why='what the parameter Content holds has another hash than NewSha256'; return 1; }
  # One awk ends a line at a zero byte, another one reads on: what follows it must not be there.
  [ "$(tr -d '\000-\010\013-\037\177' <"$W/new" | wc -c)" -eq "$(wc -c <"$W/new")" ] || { why='what the parameter Content holds is no text'; return 1; }
  permitted "$W/new"
}

# ── what was there: in the folder of the run for a rollback, and beside the file itself, from where it goes back without taking any room ──
save_files() {
  : 2>/dev/null >"$state/kept" || { why="nothing can be written in ${state#"$R"}"; return 1; }
  number=0
  for path in "$target" $more; do
    keep "$number" "$path" || return 1
    number=$((number + 1))
  done
  flush "$state/kept"
}
keep() {
  look_at "$2" || return 1
  kept_name "$2"
  if [ "$present" = absent ]; then
    printf '%s absent - - - %s\n' "$1" "$2" 2>/dev/null >>"$state/kept" || { why="nothing can be written in ${state#"$R"}"; return 1; }
    return 0
  fi
  run 5 stat -c '%a %u %g' "$R$2" || return 1
  first_line "$W/out"
  # Of an earlier run, which cannot be rolled back any more.
  for other in "$R${2%/*}/.${2##*/}."*.old~; do rm -f "$other"; done
  cat "$R$2" 2>/dev/null >"$state/$1" && flush "$state/$1" || { why="there is no room to keep $2"; return 1; }
  hash_of "$state/$1" || return 1
  [ "$sum" = "$present" ] || { why="$2 was written while it was read"; return 1; }
  # The file itself where another takes its name; a copy where it will be written into.
  if [ "$1" -eq 0 ]; then
    run 5 ln "$R$2" "$beside" || return 1
  else
    copy "$R$2" "$beside" "$line" "$present" || return 1
  fi
  printf '%s %s %s %s\n' "$1" "$present" "$line" "$2" 2>/dev/null >>"$state/kept" || { why="nothing can be written in ${state#"$R"}"; return 1; }
}

# copy FROM TO "MODE OWNER GROUP" HASH: a new file of that name, as the other; no link is followed.
copy() {
  rm -f "$2"
  (set -C && cat "$1" >"$2") 2>/dev/null || { why="there is no room for ${2#"$R"}"; rm -f "$2"; return 1; }
  dressed "$2" "$3" && hash_of "$2" || { rm -f "$2"; return 1; }
  [ "$sum" = "$4" ] || { why="${2#"$R"} was not written whole"; rm -f "$2"; return 1; }
  flush "$2" || { rm -f "$2"; return 1; }
}
# dressed FILE "MODE OWNER GROUP": those, and the SELinux context of the file whose place it will take.
dressed() {
  owner=${2#* }
  run 5 chown "${owner%% *}:${owner##* }" "$1" || return 1
  run 5 chmod "${2%% *}" "$1" || return 1
  [ -f "$R$target" ] && [ ! -h "$R$target" ] || return 0
  ! has chcon || run 5 chcon --reference="$R$target" "$1" || :
}

# kept_of NUMBER: what is known of it, into $was (its hash), $dress and $whose (its path).
kept_of() {
  while read -r nth was bits user group whose; do
    [ "$nth" != "$1" ] || { dress="$bits $user $group"; return 0; }
  done <"$state/kept"
  why='what was there before is not known'
  return 1
}

# accept FILE: whether that which will read it takes it; for the script after this one.
write_new() {
  dress='644 0 0'
  [ -z "$R" ] || dress="644 $(id -u) $(id -g)"
  [ "$old" = absent ] || kept_of 0 || return 1
  copy "$W/new" "$fresh_name" "$dress" "$new" || return 1
  accept "$fresh_name" || { rm -f "$fresh_name"; return 1; }
}
place_new() {
  look || return 1
  [ "$present" = "$old" ] || { why='it was written by another one just now'; return 1; }
  begun=yes
  if ! mv -f "$fresh_name" "$R$target" 2>/dev/null; then
    begun=
    rm -f "$fresh_name"
    why="$target cannot be replaced"
    return 1
  fi
  flush "$R$folder" || :
  if [ "$old" = absent ] && has restorecon; then run 5 restorecon "$R$target" || :; fi
}

place_old() {
  look || return 1
  if [ "$present" != "$old" ] && [ "$present" != "$new" ]; then why="$target was written by another one since"; return 1; fi
  put_back 0
}
# linked FROM TO "MODE OWNER GROUP" HASH: the kept file itself under another name, which takes no room. Only within one file system.
linked() {
  rm -f "$2"
  hash_of "$1" && [ "$sum" = "$4" ] && run 5 ln "$1" "$2" && dressed "$2" "$3"
}
# put_back NUMBER
put_back() {
  kept_of "$1" || return 1
  back=$whose
  kept_name "$back"
  if [ "$was" = absent ]; then
    rm -f "$R$back" 2>/dev/null || { why="$back cannot be removed"; return 1; }
  elif [ -d "$R${back%/*}" ]; then
    look_at "$back" || return 1
    [ "$present" != "$was" ] || return 0
    if [ ! -f "$beside" ] || [ -h "$beside" ] || ! hash_of "$beside" || [ "$sum" != "$was" ]; then
      linked "$state/$1" "$beside" "$dress" "$was" || copy "$state/$1" "$beside" "$dress" "$was" || return 1
    fi
    mv -f "$beside" "$R$back" 2>/dev/null || { why="$back cannot be replaced"; return 1; }
  fi
  flush "$R${back%/*}" || :
}

# keeps_room PATH: whether a rollback of what was applied would need room on a disk that may be full by then: the old file stays beside the new one.
keeps_room() {
  [ "$phase" = applied ] && [ "$(stat -c %d "$state" 2>/dev/null)" != "$(stat -c %d "$R${1%/*}" 2>/dev/null)" ]
}
tidy() {
  rm -f "$fresh_name"
  for path in "$target" $more; do
    kept_name "$path"
    keeps_room "$path" || rm -f "$beside"
  done
}
