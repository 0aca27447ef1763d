#!/bin/sh
# systemctl show UNIT -p NAME…: those properties of the unit, in the order in which systemd keeps them.
answers=${HIGHWATER_ROOT%/root}/answers
if [ "$#" -lt 2 ] || [ "$1" != show ]; then
  echo "the lab's systemctl does not know: $*" >&2
  exit 1
fi
unit=$2
shift 2
wanted=
while [ "$#" -ge 2 ] && [ "$1" = -p ]; do
  wanted="$wanted $2"
  shift 2
done
file=$answers/unit.$unit
[ -f "$file" ] || file=$answers/unit.not-found
while IFS= read -r line; do
  case "$wanted " in *" ${line%%=*} "*) printf '%s\n' "$line" ;; esac
done <"$file"
