#!/bin/sh
# du -xks|-xs --inodes|-xk -d N FOLDER: its size, and no folder below it.
answers=${HIGHWATER_ROOT%/root}/answers
case $* in
  '-xks '*) column=2 ;;
  '-xs --inodes '*) column=3 ;;
  '-xk -d '[124]' '*) column=2 ;;
  *)
    echo "du: the lab's du does not know: $*" >&2
    exit 1
    ;;
esac
for folder; do :; done
size=0
while read -r path bytes inodes; do
  [ "$path" = "${folder#"$HIGHWATER_ROOT"}" ] || continue
  if [ "$column" = 3 ]; then size=$inodes; else size=$bytes; fi
done <"$answers/du"
printf '%s\t%s\n' "$size" "$folder"
