/** Removes values that a name before them marks as secret: `--token=…`, `password: "…"`, `Authorization: Basic …`. */
import { isSecretKey, isStaticPodSource } from './secret-names.ts'

export const removed = '(removed)'

/** `--token=…` keeps its name and loses its value. Linear in the length of the text. */
export function withoutNamedSecrets(text: string): string {
  let out = ''
  let at = 0
  for (const found of text.matchAll(/[-\w.]+/g)) {
    const [name] = found
    if (found.index < at || !isSecretKey(name)) continue
    const end = found.index + name.length
    const before = text[found.index - 1] ?? ''
    const rest = text.slice(end)
    if (isLabel(name, before) || isRepository(before, rest)) continue
    if (isTaintKey(name, rest) || isProse(name, text.slice(0, found.index), rest)) continue
    const between = betweenOf(name, rest)
    if (between === null) continue
    const value = rest.slice(between.length)
    const quote = /^\\*["']/.test(between) || !/["']/.test(before) ? '' : before
    const length = valueLength(value, name, quote)
    if (length === 0 || /^(?:true|false)(?![\w.-])/.test(value)) continue
    out += `${text.slice(at, end)}${between}${removed}`
    at = end + between.length + length
  }
  return out + text.slice(at)
}

/** Whether `name` is the key of a label or a taint, not of a secret. */
const isLabel = (name: string, before: string) =>
  /[=,/:]/.test(before) &&
  !/token|pass|secret|credential|auth|private|api|access|pwd|pw$|sig|manifest|cookie/i.test(name)

/** Whether `key` is a taint's key: `{key: dedicated, value: gpu}`. */
const isTaintKey = (name: string, rest: string) =>
  name === 'key' && /^\\*["']?[ \t]*:[ \t]*\\*["']?[A-Za-z][\w./-]*(?:[,}\]"'\\\s]|$)/.test(rest)

const proseStart = /^\\*["']?[ \t]*:[ \t]+[a-z]{1,16}:?[ \t]+["'(]?[A-Za-z][^\s=]*(?:\s|$)/
const resource = /\b(?:volume|secret|configmap|serviceaccount|pod|container)s? \\*["']$/i
const resourceEnd = /^\\*["'][ \t]*:[ \t]+[A-Za-z.]{1,64}:?[ \t]/

/** Words of a failure before a name such as `token`. */
const failureBefore =
  /\b(?:fail|unable|cannot|could|invalid|error|bad\b|no\b|expired|missing|refus|reject|denied|(?:gett|fetch|load|read)ing\b)/i
const failureAfter =
  /^\\*["']?[ \t]*:[ \t]+(?:the|an?|no|not|is|this|unexpected|unknown|invalid|signature|secrets?|status)\b/

/** Whether an error text follows the name: `invalid token: signature is invalid`. Never for names of passwords, because a password can be a word. */
function isProse(name: string, before: string, rest: string): boolean {
  if (resource.test(before.slice(-24)) && resourceEnd.test(rest)) return true
  return (
    /^[a-z-]+$/.test(name) &&
    !/^-|pass|pwd|pw$|auth|cookie/.test(name) &&
    proseStart.test(rest) &&
    (failureBefore.test(before.slice(-80)) || failureAfter.test(rest))
  )
}

/** Whether the name is the end of an image's repository (`registry/team/token:v2`), not a field. */
const isRepository = (before: string, rest: string) =>
  before === '/' && /^(?::[\w.-]{1,128})?(?:@sha256:|$|[\s"'),:;])/.test(rest)

/** The sign between a name and its value; full-width forms too. */
const sign =
  /^\\*["']?(?:[ \t]*[:：﹕][ \t\u3000]*|[=＝]|[ \t]+=[ \t]*|[ \t]*=>[ \t]*|%(?:25)?3[AaDd](?:%2[02])?)/

function betweenOf(name: string, rest: string): string | null {
  const [found] = sign.exec(rest) ?? []
  if (found !== undefined) return found + (nextLine.exec(rest.slice(found.length))?.[0] ?? '')
  const [space] = (/^--?[A-Za-z0-9]/.test(name) && /^["']?[ \t]+(?!["']?-)/.exec(rest)) || []
  return space ?? null
}

/** Line break before a value that is alone on the next line. A line with another name and value does not match. */
const nextLine =
  /^[ \t]*\\?\r?\n[ \t]*(?=["']?[^\s"']+["']?,?[ \t]*(?:\r?\n|$))(?![-\w.]+["']?(?::|=[^=\s]))/

function valueLength(rest: string, name: string, before: string): number {
  if (rest.startsWith(removed)) return removed.length
  const block = blockLength(rest)
  if (block > 0) return block
  const [quote] = /^\\*["']/.exec(rest) ?? []
  if (quote !== undefined) return quotedLength(rest, quote)
  if (/authorization|cookie/i.test(name) || /^[[{]/.test(rest)) return rest.length
  if (isStaticPodSource(name)) return headerLength(rest)
  const [scheme = ''] = /^(?:basic|bearer|digest|negotiate)[ \t]+/i.exec(rest) ?? []
  if (scheme !== '') return scheme.length + wordLength(rest.slice(scheme.length))
  const length = wordLength(rest)
  if (/["']/.test(rest[length - 1] ?? '')) return length - 1
  return before === '' ? length : length + spacedLength(rest.slice(length))
}

/** Length of a YAML block scalar: the lines with the indent of its first line. 0: not a block scalar. Line ends can be escaped. */
function blockLength(rest: string): number {
  const [head, end = '', indent = ''] =
    /^[|>][-+\d]{0,2}[ \t]*(\r?\n|\\r\\n|\\n)([ \t]+)/.exec(rest) ?? []
  if (head === undefined) return 0
  let at = head.length - indent.length
  while (rest.startsWith(indent, at) || rest.startsWith(end, at)) {
    const next = rest.indexOf(end, at)
    if (next < 0) return rest.length
    at = next + end.length
  }
  return at - end.length
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

const wordLength = (rest: string) => /^(?:\\.|[^\s\\])*/.exec(rest)?.[0].length ?? 0

function quotedLength(rest: string, quote: string): number {
  let end = rest.indexOf(quote, quote.length)
  while (end > 0 && quote.length === 1 && rest[end - 1] === '\\') end = rest.indexOf(quote, end + 1)
  if (end < 0) return rest.length
  const after = /^[A-Za-z0-9_$]\S*/.exec(rest.slice(end + quote.length))?.[0] ?? ''
  return end + quote.length + after.length
}
