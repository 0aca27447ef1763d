#!/bin/sh
# The lists of the node's runtime. Only what changes nothing is known.
answers=${HIGHWATER_ROOT%/root}/answers
case $* in
  'images -o json') name=images ;;
  'ps -a -o json') name=containers ;;
  'pods -o json') name=sandboxes ;;
  'imagefsinfo -o json') name=imagefsinfo ;;
  info | 'info -o json') name=info ;;
  *)
    echo "FATA[0000] the lab's crictl does not know: $*" >&2
    exit 1
    ;;
esac
exec cat "$answers/crictl.$name.json"
