#!/bin/sh
# logrotate -d FILE: whether it could be read. A directive of another name than these, or a brace too many, is an error, and it ends well all the same.
if [ "$#" -ne 2 ] || [ "$1" != -d ]; then
  echo "the lab's logrotate does not know: $*" >&2
  exit 1
fi
exec awk '
  function wrong(what) { printf "error: %s:%d %s\n", FILENAME, FNR, what | "cat 1>&2" }
  { sub(/#.*/, "") }
  NF == 0 { next }
  /\{[ \t]*$/ { depth++; next }
  $1 == "}" { if (--depth < 0) wrong("unexpected }"); next }
  $1 == "endscript" { script = 0; next }
  script { next }
  $1 ~ /^(pre|post|first|last)(rotate|action)$/ { script = 1; next }
  $1 !~ /^(compress|copytruncate|create|daily|dateext|delaycompress|hourly|include|maxage|maxsize|minsize|missingok|monthly|nocompress|nocreate|notifempty|rotate|sharedscripts|size|su|weekly)$/ { wrong("unknown option '"'"'" $1 "'"'"' -- ignoring line") }
  END { if (depth > 0) wrong("missing }") }' "$2"
