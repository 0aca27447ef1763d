#!/bin/sh
# The kubelet's own ports and nothing else: the last argument is the address. Nothing is sent anywhere.
answers=${HIGHWATER_ROOT%/root}/answers
for address; do :; done
refused() {
  echo "curl: (7) Failed to connect to $address: Connection refused" >&2
  exit 7
}
failed() {
  echo "curl: (22) The requested URL returned error: $1" >&2
  exit 22
}
case $address in
  http://127.0.0.1:*/healthz)
    [ -f "$answers/healthz" ] || refused
    read -r port health <"$answers/healthz"
    [ "$address" = "http://127.0.0.1:$port/healthz" ] || refused
    [ "$health" = ok ] || failed 500
    printf ok
    ;;
  https://127.0.0.1:10250/configz)
    [ ! -f "$answers/configz.json" ] || exec cat "$answers/configz.json"
    failed 403
    ;;
  *)
    echo "curl: (6) Could not resolve host: $address" >&2
    exit 6
    ;;
esac
