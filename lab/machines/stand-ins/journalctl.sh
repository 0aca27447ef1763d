#!/bin/sh
# The journal of a unit, or how much room the journals take.
answers=${HIGHWATER_ROOT%/root}/answers
case $1 in
  --disk-usage) exec cat "$answers/journal.usage" ;;
  -u)
    [ ! -f "$answers/journal.$2" ] || exec cat "$answers/journal.$2"
    exit 0
    ;;
esac
echo "the lab's journalctl does not know: $*" >&2
exit 1
