/** Removes values that a name before them marks as secret: `--token=…`, `password: "…"`, `Authorization: Basic …`. */
import { isSecretKey } from './secret-names.ts'
import { elementLength, linesBefore, nextLine, removed, valueLength } from './secret-values.ts'
import { type Cut, spokenCut } from './spoken-secrets.ts'

/** `--token=…` keeps its name and loses its value. Linear in the length of the text. */
export function withoutNamedSecrets(text: string) {
  let out = ''
  let at = 0
  const hasHeredoc = text.includes('<<')
  for (const { 0: word, index } of text.matchAll(words)) {
    if (index < at - nestedLength) continue
    const isNested = index < at
    const end = index + word.length
    if (isNested && !opensLines.test(text.slice(end, end + openerLength))) continue
    const before = text.slice(Math.max(0, index - contextLength), index)
    const rest = text.slice(end)
    const cuts = [
      isSecretKey(word)
        ? (assignedCut(word, before, rest) ?? (hasHeredoc ? heredocBodyCut(before, rest) : null))
        : null,
      isNested ? null : spokenCut(word, before, rest),
    ].filter(cut => cut !== null)
    for (const cut of cuts.sort(([a], [b]) => a - b)) {
      const start = end + cut[0]
      // A command's line before its heredoc can have secrets, too.
      const from = Math.max(at, Math.min(start, end))
      const line = text.slice(from, start)
      const clean = line.includes('<<') ? withoutNamedSecrets(line) : line
      if (start >= at) out += `${text.slice(at, from)}${clean}${removed}`
      // A value on several lines can begin in the last line of another.
      if (start >= at || isNested) at = Math.max(at, end + cut[1])
    }
  }
  return out + text.slice(at)
}

const words = /[-\w.]+/g

/** From a name to the end of its line: its value is on the next lines. A list, a block of YAML, a heredoc, a continued command. */
const opensLines =
  /^[ \t"'\]:=>-]{0,12}(?:(?:[|>&!][\w/+-]{0,32}|<<[-~]?["']?\w{1,32}["']?|\\)[ \t]{0,8}){0,3}\r?\n/
const openerLength = 160

export const hasNamedSecret = (text: string) => text.match(words)?.some(isSecretKey) === true

/** Number of characters at the end of a removed value in which another name is looked for. */
const nestedLength = 400
/** Number of characters before a name that are looked at. */
const contextLength = 400

function assignedCut(word: string, before: string, rest: string): Cut | null {
  const name = word.replace(/^22(?=\D)/, '')
  if (isNoSecretName(name, before, rest)) return null
  const element = textBeforeElement(before, rest)
  const between = element ?? textBeforeValue(name, before, rest)
  if (between === null) return null
  const value = rest.slice(between.length)
  // First, because the length of a value that stays would be measured again from the next name.
  if (noSecret.test(value)) return null
  const length = element === null ? valueLength(value, name, between, before) : elementLength(value)
  return length === 0 ? null : [between.length, between.length + length]
}

/** The heredoc of a program of a secret's name: ` -e <<EOF` behind `chpasswd`. */
const programHeredoc = /^[ \t](?:[^\n<]{0,100}[ \t])?<<[-~]?["']?(\w{1,32})(?!\w)[^\n]{0,200}\n/
/** The heredoc into a file of a secret's name, before that name: `<<EOF > ` of `cat <<EOF > password`. */
const secretFileHeredoc = /<<[-~]?["']?(\w{1,32})["']?[ \t]*>{1,2}[ \t]*[^\s>]{0,200}$/

function heredocBodyCut(before: string, rest: string): Cut | null {
  const endsLine = /^["']?[ \t]*\r?\n/.test(rest)
  const [, endWord] = (endsLine ? secretFileHeredoc.exec(before) : programHeredoc.exec(rest)) ?? []
  return endWord === undefined ? null : linesBefore(endWord, rest)
}

/** A flag, nothing, a path, and a value in escaped quotes, which were undone before. */
const noSecret =
  /^(?:\\+["']|["']?(?:(?:true|false|yes|no|none|null|<?nil>?|<none>|(?:Prefer)?NoSchedule|NoExecute)(?![\w.-])|map\[\]|\/(?:etc|var|run|opt|usr|home)\/[\w./-]{1,200}(?:[\s"',:;]|$))|(?:""|'')(?:[,;}\])]|\s(?![ \t]*(?:[^\s:=,()[\]"']{1,200}(?:["',;)\]}]|[ \t]{0,4}(?:[\r\n]|$))|(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[^\s:=,()[\]"']{6,64}\s))|$))/i

/** Whether a name like a secret's is none here: the key of a label, a repository, a Go type, a count, prose. */
const isNoSecretName = (name: string, before: string, rest: string) =>
  (/[=,/:]$/.test(before) && !strongName.test(name)) ||
  isRepository(before, rest) ||
  (/^(?:parameter|pod_)?key$/i.test(name) && (taintKey.test(rest) || pairOfXml.test(rest))) ||
  isProse(name, before, rest) ||
  (name === 'secrets' && /^=\d{1,9}(?![\w.-])/.test(rest)) ||
  goName.test(name) ||
  (/(?:session|sig)$/i.test(name) && stateOrSignal.test(rest)) ||
  (name.endsWith('.go') && rest.startsWith(':'))

/** Other names behind such a sign are keys of labels or taints. */
const strongName =
  /token|pass|secret|credential|auth|private|api|access|pwd|pw$|sig|manifest|cookie/i
/** A type of Go, or a container as the CRI names it: `*v1.Secret:`, `token_web_default_1a2b3c4d-…_0`. */
const goName = /^v\d\w{0,16}\.[A-Z]|_[\da-f]{8}-[\da-f-]{27}_\d{1,4}$/
/** `"session":"open"`, `sig=SIGTERM` */
const stateOrSignal =
  /^["']?[ \t]*[:=][ \t]*["']?(?:init|new|open(?:ed)?|active|idle|ready|started|clos(?:ed|ing)|ended|expired|failed|lost|\d{1,4}|SIG[A-Z\d]{2,12})(?:["',;)\]}\s]|$)/
/** The key of a taint, `{key: dedicated, value: gpu}`, of a work queue, `key="namespace/name"`, or of an element, `<add key="password" value="…"/>`, `<key>password</key>`. */
const taintKey =
  /^=["']?[a-z][a-z\d.-]{0,252}\/[a-z][a-z\d.-]{0,252}(?:["',;)\]}\s]|$)|^["']?[ \t]*:[ \t]*["']?(?:[A-Za-z][\w./-]*(?:[,}\]"'\\\s]|$)|[a-z][a-z\d.-]{1,100}\/[a-z\d._-]{1,100}[:)])/
const pairOfXml = /^(?:=["'][\w.-]{1,64}["'](?:[ \t]+value|>)|>[\w.-]{1,64}<\/key>\s*<)/

/** Whether the name is the end of an image's repository (`registry/team/token:v2`), not a field. */
const isRepository = (before: string, rest: string) =>
  /[\w.-]\/$/.test(before) &&
  /^(?::[\w.-]{1,128})?(?:@sha256:|$|[\s"'),:;])/.test(rest) &&
  !/^["']?[ \t]*(?:[:=-]?[=>]|:=)/.test(rest)

/** Two words behind a name and a colon, or a request. */
const prose =
  /^["']?[ \t]*:[ \t]+(?:[A-Za-z][a-z]{0,15}:?[ \t]{1,4}["'(]?[A-Za-z/][^\s=]*(?:\s|$)|(?:Get|Head|Post|Put|Patch|Delete) \\*"https?:\/\/)/
const resource =
  /\b(?:(?:volume|secret|configmap|serviceaccount|pod|container)s? |object-"[\w.-]{1,20}"\/|exec: )["']$/i
const resourceEnd = /^["'][ \t]*:[ \t]+[A-Za-z./]{1,64}:?[ \t]/
/** Words of a failure before a name such as `token`, and behind it. */
const failureBefore =
  /\b(?:fail|unable|cannot|could|invalid|error|bad\b|no\b|expired|missing|refus|reject|denied|(?:gett|fetch|load|read)ing\b)/i
const failureAfter =
  /^["']?[ \t]{0,4}:[ \t]{1,4}(?:the|an?|no|not|is|this|could|cannot|failed|unable|unexpected|unknown|invalid|signature|secrets?|status|[a-z]{1,16} failed)\b/
/** An error of the API server about a field: `spec.token: Invalid value: "…"`. */
const fieldError = /^\]?[ \t]*:[ \t]+(?:Invalid|Unsupported|Duplicate) value:/

/** Whether an error text follows the name: `invalid token: signature is invalid`. Never for names of passwords, because a password can be a word. */
function isProse(name: string, before: string, rest: string) {
  if (fieldError.test(rest)) return false
  if (resource.test(before.slice(-48)) && resourceEnd.test(rest)) return true
  if (!prose.test(rest)) return false
  if (name === 'authorization') return /\brequires? $/.test(before)
  if (!/^[a-z-]+$/.test(name) || /^-|pass|pwd|pw$|auth|cookie/.test(name)) return false
  return (
    name.endsWith('session') || failureBefore.test(before.slice(-80)) || failureAfter.test(rest)
  )
}

/** End of a quoted, an indexed or a marked name: `password":`, `PASSWORD"] =`, `password[]=`, `**password**:`, `password (old):`. */
const nameEnd = String.raw`^(?:\[[\w-]{0,32}\]|["'\]]|\\(?=[:=])|%22|\?(?=:)|\*{1,2}|<\/[a-z\d]{1,10}>){0,4}(?:[ \t]?\([\w -]{1,20}\)(?=[ \t]*[:=]))?(?:[ \t]?/\*[^*\n]{0,80}\*/)?`
/** The sign between a name and its value. The longest sign comes first. */
const sign = new RegExp(
  `${nameEnd}(?:${[
    String.raw`[ \t]*(?:[-!?|&:+*/.^<>~]{1,3}={1,3}|={2,3}|[-=~>]>|<-|<>|\?:)[ \t]*`,
    String.raw`[ \t]*::[ \t]+`,
    String.raw`[ \t]+[|~][ \t]+`,
    String.raw`[ \t]+(?:\|\||\?\?)[ \t]+(?=["'])`,
    String.raw`[ \t]+\.(?:\.{3,}[ \t]+|[ \t]+(?=["']))`,
    String.raw`[ \t]+(?:-?(?:eq|ne|like|in)|EQ|NE|LIKE|IN)[ \t]+\(?(?=["'])`,
    String.raw`[ \t]+[*&]?(?:[Ss]tring|str|bytes|\[\]byte|text)[ \t]*:?=[ \t]*`,
    String.raw`\{(?=[^\s{}:=,"']{1,64}[ \t,][^{}:=\n]{1,200}\})`,
    String.raw`[ \t]*\{[ \t]*(?:get;[^{}\n]{0,40}\}[ \t]*=[ \t]*|(?:value|default)[ \t]*[:=][ \t]*|(?=["']))`,
    String.raw`;s:\d{1,9}:`,
    String.raw`[ \t]*(?:\r?\n[ \t]*)?:[ \t]*`,
    String.raw`[ \t]*=(?:[ \t]+(?![-\w.]+=))?`,
    String.raw`\((?=["'])`,
    '%(?:25)?3[AaDd](?:%2[02])?',
  ].join('|')})(?:(?:\\*\\*|</[a-z\\d]{1,10}>)[ \\t]*)?`,
)
/** What stands before a value: the words of an error, its type, a wrapper. */
const valueStart =
  /^(?:(?:Invalid|Unsupported|Duplicate) value:[ \t]+(?=\\*["'(])|(?:\([*\w.]{1,32}\)[ \t]+)?\(len=\d{1,9}\)[ \t]+|\([*\w.]{1,32}\)[ \t]+(?=["'(])|\s{0,8}string\(\d{1,9}\)[ \t]+|(?:Just|Some)[ \t]+(?=["'(])|-{1,2}[ \t]+(?![\w.-]+:))/
/** Space between a flag and its value, also in a list of YAML or of quoted words. */
const flagSpace =
  /^(?:["']?[ \t]*(?:\\\r?\n[ \t]*|\r?\n[ \t]*-[ \t])|["']?[ \t]+|["'],[ \t]*(?=["'])|,(?=\S))(?!["']?-|<<<)/
const listSpace = /^,[ \t]*(?!-)/
const isInList = (before: string) =>
  before.lastIndexOf('[') > Math.max(before.lastIndexOf(']'), before.lastIndexOf('\n'))
/** Separator of a constant and its value, or of a header and its value: `define('PASSWORD', '…')`. */
const pairSpace = /^["'],[ \t]*(?=["'])/
/** Separator in brackets around one name and one value: `["password","…"]`. */
const bracketSpace =
  /^(?:["'])?,[ \t]*(?:<<)?(?=["'](?!(?:token|password|secret|key|user|username)["'])[^"'\n]{0,512}["'](?:>>)?[ \t]*[\])}])/
/** Programs and directives that set a variable or a header. */
const setter =
  /\b(?:setx|setenv|SetEnv|ENV|fastcgi_param|proxy_set_header|set -[a-zA-Z]{1,3}|printf -v)[ \t]{1,4}$/
const opensBracket = /[[({][ \t]*["']?$/
const constantName = /^[A-Z][A-Z\d_]+$/
const headerName = /authorization|cookie|^x-[a-z-]+(?:key|token)$/i

function textBeforeValue(name: string, before: string, rest: string) {
  const [found] = sign.exec(rest) ?? []
  if (found !== undefined) {
    const value = rest.slice(found.length)
    return found + (valueStart.exec(value)?.[0] ?? nextLine.exec(value)?.[0] ?? '')
  }
  const isFlag = /^--?[A-Za-z0-9]/.test(name) || setter.test(before.slice(-32))
  const space =
    (isFlag && (flagSpace.exec(rest) ?? (isInList(before) && listSpace.exec(rest)))) ||
    ((constantName.test(name) || headerName.test(name)) && pairSpace.exec(rest)) ||
    (opensBracket.test(before) && bracketSpace.exec(rest))
  return space ? space[0] : null
}

/** Text between a name and the value of an XML element, also escaped: `<password>`, `name="password">`, `<key>password</key><string>`. */
function textBeforeElement(before: string, rest: string) {
  if (/<(?:[\w.-]{1,64}:)?$/.test(before)) return tagEnd.exec(rest)?.[0] ?? null
  if (/=["']$/.test(before)) return attributeEnd.exec(rest)?.[0] ?? null
  return (before.endsWith('>') && nextElement.exec(rest)?.[0]) || null
}

const tagEnd =
  /^(?:\s[^<>]{0,200}?\bvalue[ \t]*=[ \t]*(?=["'])|(?:\s[^<>]{0,200})?(?<!\/)>\s*(?:<[Vv]alue>\s*)?)/
const attributeEnd =
  /^["'](?:\s[^<>]{0,200}?\bvalue[ \t]*=[ \t]*(?=["'(])|(?:\s[^<>]{0,200})?(?<!\/)>\s*(?:<[\w.-]{1,64}>\s*)?)/
const nextElement = /^<\/[\w.-]{1,64}>\s*<[\w.-]{1,64}>/
