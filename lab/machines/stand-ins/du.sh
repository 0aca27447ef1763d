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
FOLDER=$folder PLACE=${folder#"$HIGHWATER_ROOT"} COLUMN=$column awk '
  $1 == ENVIRON["PLACE"] { size = $ENVIRON["COLUMN"] }
  END { print size + 0 "\t" ENVIRON["FOLDER"] }' "$answers/du"
