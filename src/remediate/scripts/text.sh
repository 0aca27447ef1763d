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
  return name ~ /token|passw|secret|credential|authorization|private[-_]?key/ && name !~ /(file|path|dir|ttl|mode|refresh|rotate[-a-z0-9_]*)$/
}
function without_secrets(s,  words, n, i, flag, out, hides) {
  gsub(/:\/\/[^\/@ ]*@/, "://", s)
  if (s ~ /[Bb]earer +[^ ]/) gsub(/[Bb]earer +[^ "]+/, "Bearer (removed)", s)
  n = split(s, words, " ")
  hides = 0
  for (i = 1; i <= n; i++) {
    flag = words[i]
    sub(/^[^-]*--/, "--", flag)
    if (hides && words[i] !~ /^--/) { words[i] = "(removed)"; hides = 0 }
    else if (flag ~ /^--[A-Za-z0-9_-]+=/) {
      hides = 0
      if (is_secret(substr(flag, 3, index(flag, "=") - 3))) words[i] = substr(words[i], 1, index(words[i], "=")) "(removed)"
    } else hides = flag ~ /^--[A-Za-z0-9_-]+$/ && is_secret(substr(flag, 3))
    out = out (i > 1 ? " " : "") words[i]
  }
  return out
}
'
