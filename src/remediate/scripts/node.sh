# The ground that every script stands on: each document begins with this file.
# It runs as root under whatever `sh` is there (dash, bash, busybox).
# shellcheck shell=sh
set -u
LC_ALL=C
LANG=C
export LC_ALL LANG
umask 077

# Another root folder, for the tests and the lab; there the tools are those of PATH alone.
R=${HIGHWATER_ROOT:-}
[ -n "$R" ] || PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"
export PATH

has() { command -v "$1" >/dev/null 2>&1; }

instance=${AWS_SSM_INSTANCE_ID:-}
case $instance in *[!a-zA-Z0-9-]*) instance= ;; esac
if [ -z "$instance" ] && [ -f "$R/sys/devices/virtual/dmi/id/board_asset_tag" ]; then
  { IFS= read -r instance <"$R/sys/devices/virtual/dmi/id/board_asset_tag"; } 2>/dev/null || instance=
  case $instance in i-*[!a-f0-9]*) instance= ;; i-*) ;; *) instance= ;; esac
fi

# private_folder: into $W. In memory where that goes: the disk may be full, which is what we are here for.
W=
private_folder() {
  for place in /run /dev/shm; do
    if [ -n "$W" ] || [ -n "$R" ] || [ ! -d "$place" ]; then continue; fi
    W=$(TMPDIR=$place mktemp -d 2>/dev/null) || W=
  done
  [ -n "$W" ] || W=$(mktemp -d 2>/dev/null)
}

# What stands before a command that may hang, and the seconds.
limit=
if has timeout; then
  limit=timeout
  if timeout -k 1 1 true 2>/dev/null; then limit='timeout -k 1'; fi
fi
