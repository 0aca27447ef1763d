# Strict JSON by awk alone. `text.sh` stands before it.
# shellcheck shell=sh

# Awk, because a node has no other JSON reader that every OS family ships: Amazon Linux, Ubuntu and Bottlerocket share a shell and an awk, and neither jq
# nor Python. A document carries one script and no program, so a reader cannot be shipped with it either.
#
# Strict JSON in. Out comes what `keep` (paths, "[]" for items, "*" for any key) names below `root`, without what `skip` names. `hide` removes what may
# be secret. `raw` leaves the bytes of every token as they are. Each field of `root` is a line.
# There may be several roots, each of them PATH=NAME: then its part goes into the file NAME.
# Exit code 1: it is no JSON, or has a key twice; 3: there is nothing at `root`.
json=$lib'
function fail(reason) { wrong = reason; exit 1 }
function status(  p, s) {
  if (d == 0) { vpath = ""; return ("" in keeps) ? 2 : 1 }
  s = state[d]
  vpath = path[d] "/" (type[d] == "[" ? "[]" : key_path)
  if (s == 0 || (vpath in skips)) return 0
  if (hide && type[d] == "{" && hidden(key)) return 4
  if (s == 2) return 2
  if (vpath in keeps) return 2
  if (type[d] == "{") {
    p = path[d] "/*"
    if (p in keeps) { vpath = p; return 2 }
    if (p in enters) { vpath = p; return 1 }
  }
  return (vpath in enters) ? 1 : 0
}
function put(s) { if (into == "") printf "%s", s; else printf "%s", s >into }
function begins_root(is_inside) {
  if (is_inside || !(vpath in roots)) return is_inside
  into = roots[vpath]
  return found = 1
}
function prefix() {
  if (d == 0 || !shown[d]) return
  if (count[d]++ > 0) put(d == root_depth ? ",\n" : ",")
  if (type[d] == "{") put("\"" (raw ? key : utf8(key)) "\":")
}
function before_value() {
  if (want == "value" || want == "value-or-end") return
  fail("a value is not expected here")
}
function after_value() { want = d == 0 ? "nothing" : "comma-or-end" }
function scalar(tok, is_text,  s) {
  before_value()
  s = status()
  if (s == 4) { s = 2; if (is_text) tok = "\"(removed)\"" }
  if (s == 2 && begins_root(d > 0 && shown[d])) {
    if (!raw) {
      if (is_text && index(tok, "://")) tok = without_users(tok)
      if (index(tok, "PRIVATE KEY-")) tok = "\"(removed)\""
      tok = utf8(tok)
    }
    prefix()
    put(tok)
  }
  after_value()
}
function opens(c,  s, is_shown) {
  before_value()
  s = status()
  if (s == 4) s = 0
  is_shown = s > 0 && begins_root(d > 0 && shown[d])
  if (is_shown) { prefix(); put(c); if (vpath in roots) root_depth = d + 1 }
  if (++d > 64) fail("nested too deep")
  type[d] = c; state[d] = s; path[d] = vpath; shown[d] = is_shown; count[d] = 0; id[d] = ++ids
  want = c == "{" ? "key-or-end" : "value-or-end"
}
function closes(c) {
  if (d == 0 || type[d] != (c == "}" ? "{" : "[")) fail("a bracket too many")
  if (want != "comma-or-end" && want != "value-or-end" && want != "key-or-end") fail("a value is missing")
  if (shown[d]) put(c)
  d--
  after_value()
}
function takes_key(tok) {
  key = substr(tok, 2, length(tok) - 2)
  if ((id[d], key) in seen) fail("a key is there twice")
  seen[id[d], key] = 1
  key_path = key
  gsub(/\//, "\002", key_path)
  want = "colon"
}
BEGIN {
  n = split(root, list, " ")
  if (n == 0) roots[""] = ""
  for (i = 1; i <= n; i++) { p = index(list[i] "=", "="); roots[substr(list[i], 1, p - 1)] = substr(list[i], p + 1) }
  n = split(skip, list, " ")
  for (i = 1; i <= n; i++) skips[list[i]] = 1
  n = split(keep, list, " ")
  if (n == 0) keeps[""] = 1
  for (i = 1; i <= n; i++) {
    keeps[list[i]] = 1
    p = list[i]
    while (match(p, /\/[^\/]*$/)) { p = substr(p, 1, RSTART - 1); enters[p] = 1 }
  }
  special = "[\"\\\\\001-\037]"
  root_depth = -1
  want = "value"
}
{
  n = length($0)
  pos = 1
  while (pos <= n) {
    c = substr($0, pos, 1)
    if (c == " " || c == "\t" || c == "\r") { pos++; continue }
    if (c == "{" || c == "[") { opens(c); pos++; continue }
    if (c == "}" || c == "]") { closes(c); pos++; continue }
    if (c == ",") {
      if (want != "comma-or-end" || d == 0) fail("a comma is not expected here")
      want = type[d] == "{" ? "key" : "value"
      pos++
      continue
    }
    if (c == ":") {
      if (want != "colon") fail("a colon is not expected here")
      want = "value"
      pos++
      continue
    }
    if (c == "\"") {
      i = pos + 1
      for (;;) {
        if (i > n) fail("a string has no end")
        part = substr($0, i, 128)
        if (!match(part, special)) { i += 128; continue }
        c = substr(part, RSTART, 1)
        i += RSTART
        if (c == "\"") break
        if (c != "\\") fail("a control character in a string")
        c = substr($0, i, 1)
        if (c == "u") {
          if (substr($0, i + 1, 4) !~ /^[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]$/) fail("a bad escape")
        } else if (c == "" || !index("\"\\/bfnrt", c)) fail("a bad escape")
        i++
      }
      tok = substr($0, pos, i - pos)
      pos = i
      if (want == "key" || want == "key-or-end") takes_key(tok)
      else scalar(tok, 1)
      continue
    }
    part = substr($0, pos, 400)
    if (match(part, /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) || match(part, /^(true|false|null)/)) {
      tok = substr(part, 1, RLENGTH)
      pos += RLENGTH
      if (pos <= n && substr($0, pos, 1) !~ /[],} \t\r]/) fail("a word that is no value")
      scalar(tok, 0)
      continue
    }
    fail("a word that is no value")
  }
}
END {
  if (wrong != "" || want != "nothing") exit 1
  if (!found) exit 3
}
'
