/** Removes values that a name before them marks as secret: `--token=…`, `password: "…"`, `Authorization: Basic …`. */
import { isSecretKey, isStaticPodSource } from './secret-names.ts'

export const removed = '(removed)'

/** `--token=…` keeps its name and loses its value. Linear in the length of the text. */
export function withoutNamedSecrets(text: string): string {
  let out = ''
  let at = 0
  for (const found of text.matchAll(/[-\w.]+/g)) {
    const [word] = found
    if (found.index < at - nestedLength || !isSecretKey(word)) continue
    const end = found.index + word.length
    if (found.index < at && !opensLines.test(text.slice(end, end + openerLength))) continue
    const before = text.slice(Math.max(0, found.index - contextLength), found.index)
    const length = secretLength(word, before, text.slice(end))
    if (length === null) continue
    const start = end + length.between
    if (found.index >= at) out += `${text.slice(at, start)}${removed}`
    // A value on several lines can begin in the last line of another.
    at = Math.max(at, start + length.value)
  }
  return out + text.slice(at)
}

/** From a name to the end of its line: its value is on the next lines. A list, a block of YAML, a heredoc, a continued command. */
const opensLines =
  /^[ \t"'\]:=>-]{0,12}(?:(?:[|>&!][\w/+-]{0,32}|<<[-~]?["']?\w{1,32}["']?|\\)[ \t]{0,8}){0,3}\r?\n/
const openerLength = 160

export const hasNamedSecret = (text: string): boolean =>
  text.match(/[-\w.]+/g)?.some(isSecretKey) === true

/** Number of characters at the end of a removed value in which another name is looked for. */
const nestedLength = 400
/** Number of characters before a name that are looked at. */
const contextLength = 400

/** Lengths of the sign and of the value after a name. Null: no secret follows. */
function secretLength(word: string, before: string, rest: string) {
  const name = word.replace(/^(?:22|u003[cC])(?=\D)/, '')
  const sign = before.slice(-1)
  if (isLabel(name, sign) || isRepository(before, rest)) return null
  if (isKeyOfPair(name, rest) || isProse(name, before, rest)) return null
  if (isCount(name, rest) || isGoName(name, rest)) return null
  const element = elementOf(before, word, rest)
  const between = element ?? betweenOf(name, before, rest)
  if (between === null) return null
  const value = rest.slice(between.length)
  // First, because the length of a value that stays would be measured again from the next name.
  if (noSecret.test(value)) return null
  const quote = /^\\*["']/.test(between) || !/["']/.test(sign) ? '' : sign
  const length = element === null ? valueLength(value, name, quote) : elementLength(value)
  if (length === 0) return null
  const folded = /:[ \t]*$/.test(between) ? foldedLength(before, value.slice(length)) : 0
  return { between: between.length, value: length + folded }
}

const foldedLine = /^\r?\n([ \t]+)(?!- |at |#)[^\s:=]+(?:[ \t]+[^\s:=]+){0,3}[ \t]*(?=\r?\n|$)/
const longestFolded = 40

/** Length of the further lines of a YAML value: they are indented more than its name. */
function foldedLength(before: string, rest: string): number {
  const [indent = ''] = /^[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? []
  const first = /^(?:[ \t][^\n]{0,200})?(?=\n)/.exec(rest)?.[0].length ?? 0
  let at = first
  for (let count = 0; count < longestFolded; count++) {
    const [line, inner = ''] = foldedLine.exec(rest.slice(at, at + 400)) ?? []
    if (line === undefined || inner.length <= indent.length) break
    at += line.length
  }
  return at === first ? 0 : at
}

/** A flag, nothing, a path. */
const noSecret =
  /^(?:\\*["'])?(?:(?:true|false|yes|no|none|null|<?nil>?|<none>|(?:Prefer)?NoSchedule|NoExecute)(?![\w.-])|map\[\]|\/(?:etc|var|run|opt|usr)\/[\w./-]{1,200}(?:[\s"',:;]|$))|^\\*(["'])\\*\1(?:[\s,;}\])]|$)/i
const isCount = (name: string, rest: string) =>
  name === 'secrets' && /^=\d{1,9}(?![\w.-])/.test(rest)
/** A type or a source file of Go, or a container as the CRI names it: `*v1.Secret:`, `secret.go:189]`, `token_web_default_1a2b3c4d-…_0`. */
const isGoName = (name: string, rest: string) =>
  /^v\d\w{0,16}\.[A-Z]|_[\da-f]{8}-[\da-f-]{27}_\d{1,4}$/.test(name) ||
  (name.endsWith('.go') && rest.startsWith(':'))

/** Whether `name` is the key of a label or a taint, not of a secret. */
const isLabel = (name: string, before: string) =>
  /[=,/:]/.test(before) &&
  !/token|pass|secret|credential|auth|private|api|access|pwd|pw$|sig|manifest|cookie/i.test(name)

/** Whether `key` is the key of a taint, `{key: dedicated, value: gpu}`, or of an element, `<add key="password" value="…"/>`, `<key>password</key>`. */
const isKeyOfPair = (name: string, rest: string) =>
  /^(?:parameter)?key$/i.test(name) && (taintKey.test(rest) || pairOfXml.test(rest))
const pairOfXml = /^(?:=["'][\w.-]{1,64}["'](?:[ \t]+value|>)|>[\w.-]{1,64}<\/key>\s*<)/
const taintKey =
  /^\\*["']?[ \t]*:[ \t]*\\*["']?(?:[A-Za-z][\w./-]*(?:[,}\]"'\\\s]|$)|[a-z][a-z\d.-]{1,100}\/[a-z\d._-]{1,100}[:)])/

const colon = /^\\*["']?[ \t]*:[ \t]+/
const prose =
  /^(?:[A-Za-z][a-z]{0,15}:?[ \t]{1,4}(?:\\{0,4}["'(])?[A-Za-z/][^\s=]*(?:\s|$)|(?:Get|Head|Post|Put|Patch|Delete) \\{0,4}"https?:\/\/)/
function startsProse(rest: string): boolean {
  const [sign] = colon.exec(rest) ?? []
  return sign !== undefined && prose.test(rest.slice(sign.length))
}
const resource =
  /\b(?:(?:volume|secret|configmap|serviceaccount|pod|container)s? |object-\\*"[\w.-]{1,20}\\*"\/)\\*["']$/i
const resourceEnd = /^\\*["'][ \t]*:[ \t]+[A-Za-z./]{1,64}:?[ \t]/

/** Words of a failure before a name such as `token`. */
const failureBefore =
  /\b(?:fail|unable|cannot|could|invalid|error|bad\b|no\b|expired|missing|refus|reject|denied|(?:gett|fetch|load|read)ing\b)/i
const failureAfter =
  /^\\*["']?[ \t]*:[ \t]+(?:the|an?|no|not|is|this|could|cannot|failed|unable|unexpected|unknown|invalid|signature|secrets?|status)\b/

/** An error of the API server about a field: `spec.token: Invalid value: "…"`. */
const fieldError = /^\]?[ \t]*:[ \t]+(?:Invalid|Unsupported|Duplicate) value:/

/** Whether an error text follows the name: `invalid token: signature is invalid`. Never for names of passwords, because a password can be a word. */
function isProse(name: string, before: string, rest: string): boolean {
  if (fieldError.test(rest)) return false
  if (resource.test(before.slice(-48)) && resourceEnd.test(rest)) return true
  if (name === 'authorization' && /\brequires? $/.test(before)) return startsProse(rest)
  return (
    /^[a-z-]+$/.test(name) &&
    !/^-|pass|pwd|pw$|auth|cookie/.test(name) &&
    startsProse(rest) &&
    (failureBefore.test(before.slice(-80)) || failureAfter.test(rest))
  )
}

/** Whether the name is the end of an image's repository (`registry/team/token:v2`), not a field. */
const isRepository = (before: string, rest: string) =>
  /[\w.-]\/$/.test(before) &&
  /^(?::[\w.-]{1,128})?(?:@sha256:|$|[\s"'),:;])/.test(rest) &&
  !/^["']?[ \t]*(?:[:=-]?[=>]|:=)/.test(rest)

/** End of a quoted, an indexed or a marked name: `password":`, `PASSWORD"] =`, `password[]=`, `**password**:`, `password (old):`. */
const nameEnd = String.raw`^(?:\[[\w-]{0,32}\]|\\{0,8}["'\]]|%22|\?(?=:)|\*{1,2}|<\/[a-z\d]{1,10}>){0,4}(?:[ \t]?\([\w -]{1,20}\)(?=[ \t]*[:=]))?`
/** The sign between a name and its value. The longest sign comes first. */
const sign = new RegExp(
  `${nameEnd}(?:${[
    String.raw`[ \t]*(?:={2,3}|=>|->|:=|::=|<-|<>|[~>]>|[?+!<>~]=)[ \t]*`,
    String.raw`[ \t]*::[ \t]+`,
    String.raw`[ \t]+[|~][ \t]+`,
    String.raw`[ \t]+\.(?:\.{3,}[ \t]+|[ \t]+(?=["']))`,
    String.raw`[ \t]+(?:-?(?:eq|ne|like|in)|EQ|NE|LIKE|IN)[ \t]+\(?(?=\\*["'])`,
    String.raw`[ \t]+[*&]?(?:[Ss]tring|str|bytes|\[\]byte|text)[ \t]*:?=[ \t]*`,
    String.raw`[ \t]*\{[ \t]*(?:get;[^{}\n]{0,40}\}[ \t]*=[ \t]*|(?:value|default)[ \t]*[:=][ \t]*|(?=\\*["']))`,
    String.raw`;s:\d{1,9}:`,
    String.raw`[ \t]*(?:\r?\n[ \t]*)?:[ \t]*`,
    String.raw`[ \t]*=(?:[ \t]+(?![-\w.]+=))?`,
    String.raw`\((?=\\*["'])`,
    '%(?:25)?3[AaDd](?:%2[02])?',
  ].join('|')})(?:(?:\\*\\*|</[a-z\\d]{1,10}>)[ \\t]*)?`,
)
/** What stands before a value: the words of an error, its type, a wrapper. */
const valueStart =
  /^(?:(?:Invalid|Unsupported|Duplicate) value:[ \t]+(?=\\*["'(])|(?:\([*\w.]{1,32}\)[ \t]+)?\(len=\d{1,9}\)[ \t]+|\s{0,8}string\(\d{1,9}\)[ \t]+|(?:Just|Some)[ \t]+(?=["'(])|-{1,2}[ \t]+(?![\w.-]+:))/
/** Space between a flag and its value, also in a list of YAML or of quoted words. */
const flagSpace =
  /^(?:["']?[ \t]*(?:\\\r?\n[ \t]*|\r?\n[ \t]*-[ \t])|\\*["']?[ \t]+|\\*["'],[ \t]*(?=\\*["']))(?!\\*["']?-|<<<)/
const listSpace = /^,[ \t]*(?!-)/
const isInList = (before: string) =>
  before.lastIndexOf('[') > Math.max(before.lastIndexOf(']'), before.lastIndexOf('\n'))
/** Separator of a constant and its value, or of a header and its value: `define('PASSWORD', '…')`. */
const pairSpace = /^\\*["'],[ \t]*(?=\\*["'])/
/** Separator in brackets around one name and one value: `["password","…"]`. */
const bracketSpace =
  /^(?:\\*["'])?,[ \t]*(?:<<)?(?=\\*["'](?!(?:token|password|secret|key|user|username)["'])[^"'\n]{0,512}["'](?:>>)?[ \t]*[\])}])/
const opensBracket = /[[({][ \t]*\\*["']?$/
const constantName = /^[A-Z][A-Z\d_]+$/
const headerName = /authorization|cookie|^x-[a-z-]+(?:key|token)$/i

function betweenOf(name: string, before: string, rest: string): string | null {
  const [found] = sign.exec(rest) ?? []
  if (found !== undefined) {
    const value = rest.slice(found.length)
    return found + (valueStart.exec(value)?.[0] ?? nextLine.exec(value)?.[0] ?? '')
  }
  const isFlag = /^--?[A-Za-z0-9]/.test(name)
  const space =
    (isFlag && (flagSpace.exec(rest) ?? (isInList(before) && listSpace.exec(rest)))) ||
    ((constantName.test(name) || headerName.test(name)) && pairSpace.exec(rest)) ||
    (opensBracket.test(before) && bracketSpace.exec(rest))
  return space ? space[0] : null
}

/** Text between a name and the value of an XML element, also escaped: `<password>`, `name="password">`, `<key>password</key><string>`. */
function elementOf(before: string, word: string, rest: string): string | null {
  if (/(?:<|&lt;)(?:[\w.-]{1,64}:)?$/.test(before) || /^u003c/i.test(word))
    return tagEnd.exec(rest)?.[0] ?? null
  if (/=\\*["']$/.test(before)) return attributeEnd.exec(rest)?.[0] ?? null
  return (before.endsWith('>') && nextElement.exec(rest)?.[0]) || null
}

const tagEnd =
  /^(?:\s[^<>]{0,200}?\bvalue[ \t]*=[ \t]*(?=["'])|(?:\s[^<>]{0,200})?(?<!\/)(?:>|&gt;|\\{1,8}u003[eE])\s*)/
const attributeEnd =
  /^\\*["'](?:\s[^<>]{0,200}?\bvalue[ \t]*=[ \t]*(?=["'])|(?:\s[^<>]{0,200})?(?<!\/)>\s*(?:<[\w.-]{1,64}>\s*)?)/
const nextElement = /^<\/[\w.-]{1,64}>\s*<[\w.-]{1,64}>/

/** Length of an element's text, or of an attribute's value. */
function elementLength(rest: string): number {
  if (rest.startsWith(removed)) return removedLength(rest)
  const [cdata] = /^<!\[CDATA\[[^\]]*(?:\]\]>)?/.exec(rest) ?? []
  if (cdata !== undefined) return cdata.length
  const [quote] = /^["']/.exec(rest) ?? []
  if (quote !== undefined) return quotedLength(rest, quote)
  const end = rest.search(/<|&lt;|\\{1,8}u003c/i)
  return end < 0 ? rest.length : end
}

/** Line breaks before a value that is alone on the next line. A line with another name and value does not match. */
const nextLine =
  /^[ \t]*(?:#[^\n]{0,200})?\\?(?:\r?\n[ \t]*){1,3}(?=["']?[^\s"']+(?:["'](?=\s)|["']?,?[ \t]*(?:\r?\n|$)))(?![-\w.]+["']?(?::|=[^=\s]))/

/** Length of a value that was removed, or that pretends to be: `(removed)hunter2`. */
const removedLength = (rest: string): number =>
  /^\(removed\)(?:[\w$]\S*)?/.exec(rest)?.[0].length ?? 0

/** Tags and anchors of YAML before a value. */
const properties = /^(?:(?:!{1,2}[\w/-]{0,64}|&[\w-]{1,64})[ \t]+(?!=)){1,3}/

function valueLength(rest: string, name: string, before: string): number {
  if (rest.startsWith(removed)) return removedLength(rest)
  const [skipped = ''] = properties.exec(rest) ?? []
  if (skipped !== '') return skipped.length + valueLength(rest.slice(skipped.length), name, before)
  const block = blockLength(rest, name) || itemsLength(rest) || heredocLength(rest)
  if (block > 0) return block
  const [quote] = /^\\*(?:"""|'''|["'])/.exec(rest) ?? []
  if (quote !== undefined) return quotedLength(rest, quote)
  if (/authorization|cookie/i.test(name) || /^[[{]/.test(rest)) return rest.length
  const [nested] = inBrackets.exec(rest) ?? []
  if (nested !== undefined) return Math.max(nested.length, wordLength(rest))
  if (isStaticPodSource(name)) return headerLength(rest)
  const [scheme = ''] = /^(?:basic|bearer|digest|negotiate)[ \t]+/i.exec(rest) ?? []
  if (scheme !== '') return scheme.length + wordLength(rest.slice(scheme.length))
  const length = wordLength(rest)
  // The word was a type: `password: string = "…"`.
  const [assigned] = assignment.exec(rest.slice(length)) ?? []
  if (assigned !== undefined) {
    const start = length + assigned.length
    return start + plainLength(rest.slice(start))
  }
  if (/["']/.test(rest[length - 1] ?? '')) return length - 1
  return before === '' ? length : length + spacedLength(rest.slice(length))
}

/** Length of a word or of a text in quotes. */
function plainLength(rest: string): number {
  const [quote] = /^\\*["']/.exec(rest) ?? []
  return quote === undefined ? wordLength(rest) : quotedLength(rest, quote)
}
const assignment = /^[ \t]*=[ \t]*(?=[^\s=])/
/** A tuple, strings over several lines, the output of a command. */
const inBrackets = /^\$?\([^()]{0,500}\)?/

const blockScalar = /^[|>][-+\d]{0,2}[ \t]*(\r?\n|\\r\\n|\\n)(?:[ \t]*\r?\n)*([ \t]+)/
const blockOfFields = /^[ \t]*(\r?\n|\\r\\n|\\n)([ \t]+)/
/** Fields below a name in the singular. A volume's `secret:` names a secret. */
const blockOfPairs =
  /^[ \t]*(\r?\n|\\r\\n|\\n)([ \t]+)(?=[\w.-]{1,64}:[ \t])(?!secretName|name|items|defaultMode|optional|key:)/

/** Length of a YAML block scalar: the lines with the indent of its first line. 0: not a block scalar. Line ends can be escaped. */
function blockLength(rest: string, name: string): number {
  const form = /stringdata$|(?:password|passphrase|token|credential)s$/i.test(name)
    ? blockOfFields
    : blockScalar
  const [head, end = '', indent = ''] = form.exec(rest) ?? blockOfPairs.exec(rest) ?? []
  if (head === undefined) return 0
  let at = head.length - indent.length
  while (rest.startsWith(indent, at) || rest.startsWith(end, at)) {
    const next = rest.indexOf(end, at)
    if (next < 0) return rest.length
    at = next + end.length
  }
  return at - end.length
}

/** Items of a YAML list that are no objects. */
const items = /^[ \t]*(?:\r?\n[ \t]*-[ \t]+(?![\w.-]{1,64}:(?:\s|$))[^\n]*)+/
const itemsLength = (rest: string): number => items.exec(rest)?.[0].length ?? 0

const heredocStart = /^<<[-~]?["']?(\w{1,32})["']?[ \t]*\r?\n/
const heredocMaxLength = 10_000

/** Length of a heredoc up to its end word, or the whole rest if none is near. 0: not a heredoc. */
function heredocLength(rest: string): number {
  const [head, word = ''] = heredocStart.exec(rest) ?? []
  if (head === undefined) return 0
  const end = rest.slice(0, heredocMaxLength).indexOf(`\n${word}`, head.length - 1)
  return end < 0 ? rest.length : end + word.length + 1
}

/** Length of a header's value, which can contain spaces. The value ends at the next flag. */
function headerLength(rest: string): number {
  const flag = rest.search(/[ \t]["']?--?[A-Za-z]/)
  if (flag >= 0) return rest.slice(0, flag).trimEnd().length
  return /["']$/.test(rest) ? rest.length - 1 : rest.length
}

/** Length of further words of a value in quotes. The value ends at the closing quote or the next flag. */
function spacedLength(rest: string): number {
  const [words = ''] = /^(?:[ \t]+[^- \t"'][^ \t"']*)*/.exec(rest) ?? []
  return words.length
}

const wordLength = (rest: string) =>
  /^(?:\\.|\\\r?\n[ \t]*(?=\S)|"(?=[\w$])[^"\n]*"|'(?=[\w$])[^'\n]*'|[^\s\\])*/.exec(rest)?.[0]
    .length ?? 0

/** Length of a quoted value with all further parts of its shell word: `"ab"'c'd`. */
function quotedLength(rest: string, quote: string): number {
  let end = rest.indexOf(quote, quote.length)
  while (end > 0 && quote.length === 1 && rest[end - 1] === '\\') end = rest.indexOf(quote, end + 1)
  if (end < 0) return rest.length
  const after = rest.slice(end + quote.length)
  const [joined = ''] = joinedTexts.exec(after) ?? []
  if (joined !== '') return end + quote.length + joined.length
  return end + quote.length + (/^(?:[\w$]|["'](?=[\w$]))/.test(after) ? wordLength(after) : 0)
}

/** Further texts of a value that is put together: `"ab" + "cd"`, `"ab" "cd"`. A name of JSON does not match. */
const joinedTexts =
  /^(?:(?:[ \t]*[+.][ \t]*(?:\r?\n[ \t]*)?|[ \t]+(?:\\\r?\n[ \t]*)?|\r?\n[ \t]+)(?:"[^"\n]*"|'[^'\n]*')(?![ \t]*[:=]|\w))+/
