# Highwater-SyncFile: one file of /etc/logrotate.d. Nothing is restarted: logrotate reads it the next time.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

accept() {
  has logrotate || { step 'logrotate is not on this node, so the file was not tried'; return 0; }
  # It says what it would do, and does nothing. An older one ends well even where it found an error.
  if run 20 logrotate -d "$1"; then ends=well; else ends=$why; fi
  wrong=$(tr -c '\040-\176\n' ' ' <"$W/error" | awk '/^error:/ { print substr($0, 1, 200); exit }')
  [ "$ends" != well ] || [ -n "$wrong" ] || return 0
  why="logrotate does not take it: ${wrong:-$ends}"
  return 1
}
able() { able_file; }
save() { save_files; }
observe() { :; }
activate() { :; }
reactivate() { :; }

takes_common
file=${SSM_Name-?}
takes Name "$file" 1 63 '[!a-z0-9_.-]'
case $file in [!a-z0-9]*) refuse 'the parameter Name begins with a character that it may not' ;; esac
allow 90
target=/etc/logrotate.d/$file
change "sync-file $target $old $new"
