# Text and dates by awk alone. Each document has this file after `node.sh`.
# shellcheck shell=sh

# What every awk program here begins with. In lines, \001 stands for a line's end.
lib='
function jstr(s) {
  gsub(/\\/, "&&", s)
  gsub(/"/, "\\\\&", s)
  gsub(/\t/, "\\t", s)
  gsub(/\r/, "\\r", s)
  gsub(/\n/, "\\n", s)
  gsub("\001", "\\n", s)
  gsub("[\001-\037]", "?", s)
  return "\"" s "\""
}
function iso(s,  days, era, doe, yoe, doy, mp, d, m, y, t) {
  days = int(s / 86400); t = s - days * 86400
  days += 719468; era = int(days / 146097); doe = days - era * 146097
  yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365)
  doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100)); mp = int((5 * doy + 2) / 153)
  d = doy - int((153 * mp + 2) / 5) + 1; m = mp < 10 ? mp + 3 : mp - 9; y = yoe + era * 400 + (m <= 2)
  return sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, int(t / 3600), int(t / 60) % 60, t % 60)
}
function is_secret(name) {
  name = tolower(name)
  return name ~ /token|passw|secret|credential|authorization|private[-_]?key|key$/ && name !~ /(file|path|dir|ttl|mode|refresh|rotate[-a-z0-9_]*)$/
}
# How much of `rest` is the value of a secret; `before` is the quote that was open before its name.
function value_length(rest, name, before,  quote, n, more) {
  if (index(rest, "(removed)") == 1) return 9
  if (match(rest, /^\\*["\047]/)) {
    quote = substr(rest, 1, RLENGTH)
    n = RLENGTH
    for (;;) {
      more = index(substr(rest, n + 1), quote)
      if (!more) return length(rest)
      n += more + length(quote) - 1
      if (length(quote) > 1 || substr(rest, n - 1, 1) != "\\") break
    }
    if (match(substr(rest, n + 1), /^[A-Za-z0-9_$][^ \t]*/)) n += RLENGTH
    return n
  }
  if (tolower(name) ~ /authorization/ || rest ~ /^[[{]/) return length(rest)
  match(rest, /^(\\.|[^ \t\\])*/)
  n = RLENGTH
  if (n > 0 && substr(rest, n, 1) ~ /["\047]/) return n - 1
  # In quotes a value may have spaces; the next flag is none of it.
  while (before != "" && match(substr(rest, n + 1), /^[ \t]+[^- \t"\047][^ \t]*/)) {
    n += RLENGTH
    if (substr(rest, n, 1) == before) return n - 1
  }
  return n
}
function without_secrets(s,  out, name, before, rest, between, n) {
  gsub(/:\/\/[^\/@ ]*@/, "://", s)
  if (s ~ /[Bb]earer +[^ ]/) gsub(/[Bb]earer +[^ "]+/, "Bearer (removed)", s)
  out = ""
  while (match(tolower(s), /[-a-z0-9_.]*(token|passw|secret|credential|authorization|key)[-a-z0-9_.]*/)) {
    name = substr(s, RSTART, RLENGTH)
    out = out substr(s, 1, RSTART - 1)
    before = substr(out, length(out), 1)
    out = out name
    s = substr(s, RSTART + RLENGTH)
    # A label or a taint may well be called a key.
    if (!is_secret(name) || (tolower(name) !~ /token|passw|secret|credential|authorization|private|api|access/ && before ~ /[=,\/:]/)) continue
    if (match(s, /^\\*["\047]?([ \t]*:[ \t]*|=|[ \t]+=[ \t]*)/)) between = substr(s, 1, RLENGTH)
    else if (name ~ /^--?[A-Za-z0-9]/ && match(s, /^["\047]?[ \t]+/) && substr(s, RLENGTH + 1) !~ /^["\047]?-/) between = substr(s, 1, RLENGTH)
    else continue
    rest = substr(s, length(between) + 1)
    if (between ~ /^\\*["\047]/ || before !~ /["\047]/) before = ""
    n = value_length(rest, name, before)
    if (n == 0 || substr(rest, 1, n) ~ /^(true|false)$/) continue
    out = out between "(removed)"
    s = substr(rest, n + 1)
  }
  return out s
}
# Of the kernel parameters only those that are known to hold nothing but settings; what follows `--` is for init.
function kernel_words(s,  words, n, i, out) {
  gsub(/"[^"]*"?/, "\"", s)
  n = split(s, words, " ")
  for (i = 1; i <= n && words[i] != "--"; i++)
    if (words[i] ~ /^(BOOT_IMAGE|root|rootfstype|ro|rw|quiet|console|cgroup[._][a-z0-9_.]+|cgroup|swapaccount|psi|systemd\.unified_cgroup_hierarchy|systemd\.legacy_systemd_cgroup_controller|net\.ifnames|biosdevname|nvme_core\.io_timeout|selinux|enforcing|security|mitigations|transparent_hugepage|hugepages|hugepagesz|crashkernel|panic)(=[A-Za-z0-9_.,:\/()=+-]*)?$/)
      out = out (out == "" ? "" : " ") words[i]
  return out
}
'
