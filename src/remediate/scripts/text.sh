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
  gsub("[\001-\037\177]", "?", s)
  return "\"" utf8(s) "\""
}
# A member of an object. Counts are whole: a number that awk would print with an exponent is not.
function kv(k, v) { return jstr(k) ":" (v ~ /^[0-9.e+]+$/ ? sprintf("%.0f", v) : v) }
# Where a text is no UTF-8 each of its bytes beyond ASCII becomes \177; the one that prints the answer looks for those.
function utf8(s,  rest) {
  if (s !~ /[\200-\377]/) return s
  rest = s
  gsub(/[\302-\337][\200-\277]|\340[\240-\277][\200-\277]|[\341-\354\356\357][\200-\277][\200-\277]|\355[\200-\237][\200-\277]|\360[\220-\277][\200-\277][\200-\277]|[\361-\363][\200-\277][\200-\277][\200-\277]|\364[\200-\217][\200-\277][\200-\277]/, "", rest)
  if (rest ~ /[\200-\377]/) gsub(/[\200-\377]/, "\177", s)
  return s
}
# The first n bytes, and no part of a character.
function cut(s, n) {
  if (length(s) > n) { s = substr(s, 1, n); sub(/[\300-\377][\200-\277]*$/, "", s) }
  return s
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
  gsub(/_/, "-", name)
  return name ~ /token|passw|secret|credential|authorization|private-?key|header|signature|^-*(manifest|static-?pod)-?url$|(key|auth|pass|pwd)$/ && name !~ /(file|path|dir|ttl|mode|refresh|rotate[-a-z0-9]*)$/
}
# A flag that takes no value: what follows it is none.
function is_switch(name) { return name ~ /^-*(authentication[-_]token[-_]webhook|anonymous[-_]auth)$/ }
# The same by the keys of a configuration.
function hidden(k) {
  k = tolower(k)
  if (k ~ /\\/) return 1
  if (k ~ /^(configmapandsecretchangedetectionstrategy|imagepullcredentialsverificationpolicy|tlsprivatekeyfile)$/) return 0
  return k ~ /token|passw|secret|credential|private.?key|header|^staticpodurl$|^(auth|pass|pwd)$/
}
# Addresses without their user, who may have slashes and at signs in his password, and without their query.
function without_users(s,  out, url) {
  out = ""
  while (match(s, /:\/\/[^ \t]*/)) {
    url = substr(s, RSTART + 3, RLENGTH - 3)
    out = out substr(s, 1, RSTART + 2)
    s = substr(s, RSTART + RLENGTH)
    if (match(url, /.*@/)) url = (substr(url, 1, RLENGTH) ~ /\// ? "(removed)@" : "") substr(url, RLENGTH + 1)
    gsub(/[?#][^"\047]*/, "?(removed)", url)
    out = out url
  }
  return out s
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
  if (tolower(name) ~ /authorization/ || rest ~ /^[[{]/ || tolower(rest) ~ /^(basic|digest|negotiate|aws4[-a-z0-9]*) /) return length(rest)
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
function without_secrets(s,  out, name, before, rest, between, n, six) {
  s = without_users(s)
  if (s ~ /[Bb]earer +[^ ]/) gsub(/[Bb]earer +[^ "]+/, "Bearer (removed)", s)
  sub(/-*BEGIN [A-Z0-9 ]*PRIVATE KEY.*/, "(removed)", s)
  # A bootstrap token.
  six = "[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]"
  gsub(six "[.]" six six "[a-z0-9][a-z0-9][a-z0-9][a-z0-9]", "(removed)", s)
  out = ""
  while (match(tolower(s), /[-a-z0-9_.]*(token|passw|secret|credential|auth|key|header|signature|(manifest|static)[-_]?(pod[-_]?)?url|pass|pwd)[-a-z0-9_.]*/)) {
    name = substr(s, RSTART, RLENGTH)
    out = out substr(s, 1, RSTART - 1)
    before = substr(out, length(out), 1)
    out = out name
    s = substr(s, RSTART + RLENGTH)
    # A label or a taint may well be called a key.
    if (!is_secret(name) || (tolower(name) ~ /key$/ && tolower(name) !~ /token|passw|secret|credential|authorization|private|api|access/ && before ~ /[=,\/:]/)) continue
    if (match(s, /^\\*["\047]?([ \t]*:[ \t]*|=|[ \t]+=[ \t]*)/)) between = substr(s, 1, RLENGTH)
    else if (name ~ /^--?[A-Za-z0-9]/ && match(s, /^["\047]?[ \t]+/) && (substr(s, RLENGTH + 1) !~ /^["\047]?-/ || !is_switch(name))) between = substr(s, 1, RLENGTH)
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
