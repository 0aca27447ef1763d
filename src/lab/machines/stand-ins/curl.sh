#!/bin/sh
# The kubelet's own port and nothing else: the last argument is the address. Nothing is sent anywhere.
answers=${HIGHWATER_ROOT%/root}/answers
for address; do :; done
if [ "$address" != https://127.0.0.1:10250/configz ]; then
  echo "curl: (6) Could not resolve host: $address" >&2
  exit 6
fi
[ ! -f "$answers/configz.json" ] || exec cat "$answers/configz.json"
echo 'curl: (22) The requested URL returned error: 403' >&2
exit 22
