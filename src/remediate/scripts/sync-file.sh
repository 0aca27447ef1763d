# Highwater-SyncFile: one file of /etc/logrotate.d. Nothing is restarted: logrotate reads it the next time.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

# permitted FILE: blocks of patterns, with directives of the table $directives, each with a value of its form. So nothing runs a program, reads another
# file or sends a log away, and nothing stands outside of a block, where it would change what other packages' files mean. Each block keeps old logs (rotate).
permitted() {
  strange=$(ROWS=$directives PATTERN=$log_pattern NO_LOG=$no_log awk '
    function wrong() { sub(/^[ \t]+/, ""); print "line " NR ", " substr($0, 1, 60); shown = 1; exit }
    BEGIN {
      n = split(ENVIRON["ROWS"], rows, "\n")
      for (i = 1; i <= n; i++) { at = index(rows[i], " "); form[substr(rows[i], 1, at - 1)] = substr(rows[i], at + 1) }
      pattern = "^(" ENVIRON["PATTERN"] ")$"
    }
    /[^\t -~]/ { wrong() }
    { line = $0; sub(/^[ \t]+/, "", line); sub(/[ \t]+$/, "", line) }
    line == "" || line ~ /^#/ { next }
    !is_open {
      opens = sub(/[ \t]*[{]$/, "", line)
      n = split(line, words, /[ \t]+/)
      if (line == "") n = 0
      for (i = 1; i <= n; i++) if (length(words[i]) > 250 || words[i] !~ pattern || tolower(words[i]) ~ ENVIRON["NO_LOG"]) wrong()
      patterns += n
      if (opens && !patterns) wrong()
      if (opens) { is_open = 1; patterns = 0; keeps = 0 }
      next
    }
    line == "}" { if (!keeps) wrong(); is_open = 0; next }
    {
      if (!match(line, /^[a-z]+/)) wrong()
      name = substr(line, 1, RLENGTH)
      value = substr(line, RLENGTH + 1)
      if (!(name in form)) wrong()
      if (name == "rotate") keeps = 1
      if (form[name] == "-") { if (value != "") wrong(); next }
      if (value != "" && !sub(/^([ \t]*=[ \t]*|[ \t]+)/, "", value)) wrong()
      gsub(/[ \t]+/, " ", value)
      if (length(value) > 80 || value !~ ("^(" form[name] ")$")) wrong()
    }
    END { if (!shown && (is_open || patterns)) print "a block is not closed" }' "$1") || strange='it cannot be read'
  [ -z "$strange" ] || { why="it says what no plan writes: $strange"; return 1; }
}
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
