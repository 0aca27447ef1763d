# Highwater-SyncFile: one file of /etc/logrotate.d. Nothing is restarted: logrotate reads it the next time.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

# What a file may say that a plan writes: nothing that runs a program, reads another file or sends a log away. The names are those of src/facts/logrotate.ts.
allowed='addextension allowhardlink compress copy copytruncate create daily dateext dateformat datehourago dateyesterday delaycompress
extension hourly ifempty maxage maxsize minage minsize missingok monthly noallowhardlink nocompress nocopy nocopytruncate nocreate
nodateext nodelaycompress nomail nomissingok noolddir norenamecopy nosharedscripts notifempty renamecopy rotate sharedscripts size
start su weekly yearly'
# says_no_more FILE: a pattern, braces, a comment, or a directive of the list with a plain value.
says_no_more() {
  strange=$(ALLOWED=$allowed awk '
    BEGIN { n = split(ENVIRON["ALLOWED"], list, /[ \n]+/); for (i = 1; i <= n; i++) known[list[i]] = 1 }
    { sub(/^[ \t]+/, ""); sub(/[ \t]+$/, "") }
    /^$/ || /^#/ || /^[{}]$/ || /^\/[][A-Za-z0-9_.\/*?@%+=:, \t-]*[{]?$/ { next }
    {
      name = $0
      sub(/[^a-z].*$/, "", name)
      if (name in known && substr($0, length(name) + 1) ~ /^([ \t=][-A-Za-z0-9_.%= \t]*)?$/) next
      print "line " NR ", " substr($0, 1, 60)
      exit
    }' "$1") || strange='it cannot be read'
  [ -z "$strange" ] || { why="it says what no plan writes: $strange"; return 1; }
}
accept() {
  says_no_more "$1" || return 1
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
