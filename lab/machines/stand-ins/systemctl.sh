#!/bin/sh
# systemctl show UNIT -p NAME…: those properties of the unit, in the order in which systemd keeps them. restart, start: the kubelet's unit, and no other.
node=${HIGHWATER_ROOT%/root}
unknown() {
  echo "the lab's systemctl does not know: $*" >&2
  exit 1
}
[ "$#" -ge 1 ] || unknown
case $1 in
  daemon-reload | reset-failed) exit 0 ;;
  restart | start)
    unit=
    [ ! -f "$node/unit" ] || read -r unit <"$node/unit"
    [ "$#" -eq 2 ] && [ "$2" = "$unit" ] || unknown "$@"
    # It is said to have started as soon as there is a process; whether that stays is another question.
    "$node/run" kubelet 2>/dev/null || :
    exit 0
    ;;
  show) [ "$#" -ge 2 ] || unknown "$@" ;;
  *) unknown "$@" ;;
esac
unit=$2
shift 2
wanted=
while [ "$#" -ge 2 ] && [ "$1" = -p ]; do
  wanted="$wanted $2"
  shift 2
done
file=$node/answers/unit.$unit
[ -f "$file" ] || file=$node/answers/unit.not-found
case "$wanted " in
  *' SubState '*)
    # One that has exited is started again every five seconds, which is every second time that anybody asks.
    while IFS= read -r line; do
      [ "$line" = SubState=auto-restart ] || continue
      if [ -e "$node/asked" ]; then
        rm -f "$node/asked"
        "$node/run" kubelet 2>/dev/null || :
      else
        : >"$node/asked"
      fi
      break
    done <"$file"
    ;;
esac
while IFS= read -r line; do
  case "$wanted " in *" ${line%%=*} "*) printf '%s\n' "$line" ;; esac
done <"$file"
