#!/bin/sh
# Bottlerocket's settings: got one prefix at a time, or set, upon which the kubelet is started anew.
node=${HIGHWATER_ROOT%/root}
if [ "$1" = set ]; then
  "$node/run" apiclient "$@" || exit
  "$node/run" kubelet 2>/dev/null || :
  exit 0
fi
if [ "$#" -ne 2 ] || [ "$1" != get ]; then
  echo "the lab's apiclient does not know: $*" >&2
  exit 1
fi
case $2 in
  settings.kubernetes | settings.container-registry | os) exec cat "$node/answers/apiclient.$2.json" ;;
esac
printf '{}\n'
