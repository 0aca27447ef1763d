#!/bin/sh
# df -P -k|-i PATH: the filesystem that holds the path, by its mount point in the node's root.
node=${HIGHWATER_ROOT%/root}
if [ "$#" -ne 3 ] || [ "$1" != -P ]; then
  echo "the lab's df does not know: $*" >&2
  exit 1
fi
[ -e "$3" ] || {
  echo "df: $3: No such file or directory" >&2
  exit 1
}
path=${3#"$HIGHWATER_ROOT"}
# The longest mount point is the last that fits.
while read -r mount device _ blocks used free inodes inodes_used inodes_free; do
  [ ! -e "$node/full" ] || free=0
  case $path/ in
    "${mount%/}"/*)
      case $2 in
        -i) line="$device $inodes $inodes_used $inodes_free $((inodes_used * 100 / inodes))% $mount" ;;
        *) line="$device $blocks $used $free $((used * 100 / blocks))% $mount" ;;
      esac
      ;;
  esac
done <"$node/answers/filesystems"
case $2 in
  -k) echo 'Filesystem 1024-blocks Used Available Capacity Mounted on' ;;
  -i) echo 'Filesystem Inodes IUsed IFree IUse% Mounted on' ;;
  *)
    echo "the lab's df does not know: $2" >&2
    exit 1
    ;;
esac
printf '%s\n' "$line"
