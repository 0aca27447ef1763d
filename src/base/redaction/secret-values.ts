/** How far a value reaches behind the name and the sign of a secret. */
import { isSecretKey, isStaticPodSource } from './secret-names.ts'

export const removed = '(removed)'

/** Whether a word has upper case, lower case and digits, as most generated passwords. */
export const isMixed = (word: string) => /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word)

/** Length of an element's text, or of an attribute's value. */
export function elementLength(rest: string) {
  if (rest.startsWith(removed)) return removedLength(rest)
  const [cdata] = /^<!\[CDATA\[[^\]]*(?:\]\]>)?/.exec(rest) ?? []
  if (cdata !== undefined) return cdata.length
  const [quote] = /^["']/.exec(rest) ?? []
  if (quote !== undefined) return quotedLength(rest, quote)
  const end = rest.indexOf('<')
  return end < 0 ? rest.length : end
}

/** Line breaks before a value that is alone on the next line, or mixes letters and digits. A line with another name and value does not match. */
export const nextLine =
  /^[ \t]*(?:#[^\n]{0,200})?\\?(?:\r?\n[ \t]*){1,3}(?=["']?[^\s"']+(?:["'](?=\s)|["']?,?[ \t]*(?:\r?\n|$))|(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[^\s"':=]{6,}\s)(?![-\w.]+["']?(?::|=[^=\s]))/

/** Length of a value that was removed, or that pretends to be: `(removed)hunter2`. */
const removedLength = (rest: string) => /^\(removed\)(?:[\w$]\S*)?/.exec(rest)?.[0].length ?? 0

/** Tags and anchors of YAML, comments and empty texts before a value. */
const properties =
  /^(?:(?:!{1,2}[\w/-]{0,64}|[&*][\w-]{1,64}|\/\*[^*\n]{0,80}\*\/|""|'')[ \t]+(?!=))+/

/** @param between name and value. @param before the name */
export function valueLength(rest: string, name: string, between: string, before: string): number {
  if (rest.startsWith(removed)) return removedLength(rest)
  const [skipped] = properties.exec(rest) ?? []
  if (skipped !== undefined)
    return skipped.length + valueLength(rest.slice(skipped.length), name, between, before)
  // All arguments of a call, all fields of a struct.
  if (/[({]$/.test(between)) {
    const [args = ''] = restOfBrackets.exec(rest) ?? []
    if (args !== '') return args.length
  }
  const line = before.slice(before.lastIndexOf('\n') + 1)
  // A name behind other words has no indent of its own.
  const indent = /^[ \t]*(?=(?:- )?["']?$)/.exec(line)?.[0].length ?? 0
  const block = blockLength(rest, name, indent) || heredocLength(rest)
  if (block > 0) return block
  const [quote] = /^(?:"""|'''|["'])/.exec(rest) ?? []
  if (quote !== undefined) return quotedLength(rest, quote)
  if (/authorization|cookie|mnemonic/i.test(name) || /^[[{]/.test(rest)) return rest.length
  const [nested] = inBrackets.exec(rest) ?? []
  if (nested !== undefined) return Math.max(nested.length, wordLength(rest))
  if (isStaticPodSource(name)) return headerLength(rest)
  const [scheme = ''] = /^(?:basic|bearer|digest|negotiate|echo)[ \t]+/i.exec(rest) ?? []
  // Its secret may be any argument.
  const [cmdlet] = /^(?:ConvertTo|Get|Import|New|Read)-[A-Z]\w+[ \t][^\n]*/.exec(rest) ?? []
  if (cmdlet !== undefined) return cmdlet.length
  const length = scheme.length + wordLength(rest.slice(scheme.length))
  // The word was a type: `password: string = "…"`.
  const [assigned] = assignment.exec(rest.slice(length)) ?? []
  if (assigned !== undefined) {
    const value = rest.slice(length + assigned.length)
    const [start] = /^["']/.exec(value) ?? []
    const end = start === undefined ? wordLength(value) : quotedLength(value, start)
    return length + assigned.length + end
  }
  // The word was a name of its own: `SetCredential=password: …`.
  const [further] = /^:[ \t]+\S+/.exec(rest.slice(length - 1)) ?? []
  if (further !== undefined && isSecretKey(rest.slice(0, length - 1)))
    return length - 1 + further.length
  if (/["']/.test(rest[length - 1] ?? '')) return length - 1
  if (/["']$/.test(before) && !/^["']/.test(between))
    return length + (furtherWords.exec(rest.slice(length))?.[0].length ?? 0)
  return /:[ \t]*$/.test(between) ? foldedLength(rest, length, indent) : length
}

const assignment = /^[ \t]*=[ \t]*(?=[^\s=])/
/** A tuple, strings over several lines, the output of a command. */
const inBrackets = /^(?:[$<]|(?:(?:new|await)[ \t]+)?[A-Za-z][\w.:<>]{0,64})?\([^()]{0,500}\)?/
const restOfBrackets =
  /^(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|\([^()\n]{0,64}\)|[^"'(){}\n]){1,100}(?=[)}])/
/** Further words of a value in quotes, up to the closing quote or the next flag. */
const furtherWords = /^(?:[ \t]+[^- \t"'][^ \t"']*)*/

const opensBlock = /^(?:[|>][-+\d]{0,2})?[ \t]{0,80}\r?\n/
/** Fields below a name in the singular. A volume's `secret:` names a secret. */
const isField = /^(?!secretName|name|items|defaultMode|optional|key:)[\w.-]{1,64}:[ \t]/
const isItem = /^-[ \t]+(?![\w.-]{1,64}:(?:\s|$))/
const hasFields = /stringdata$|chpasswd$|(?:password|passphrase|token|credential)s$/i

/** Length of the lines below a name: a block of YAML, fields, or items that are no objects. 0: none. */
function blockLength(rest: string, name: string, indent: number) {
  const [head] = opensBlock.exec(rest) ?? []
  if (head === undefined) return 0
  const isScalar = /^[|>]/.test(rest)
  let count = 0
  return linesLength(rest, head.length, (spaces, line) => {
    count += 1
    if (isItem.test(line) && !isScalar && spaces >= indent) return true
    return spaces > indent && (isScalar || count > 1 || hasFields.test(name) || isField.test(line))
  })
}

/** Few words, no field, no item, no line of a stack. */
const isFolded = (line: string) =>
  !/[:=]|^(?:- |at |#)/.test(line) && line.split(/[ \t]/, 5).length < 5

/** Length with the further lines of a YAML value, which are indented more than its name. */
function foldedLength(rest: string, length: number, indent: number) {
  const end = length + rest.slice(length, length + 200).indexOf('\n')
  if (end < length || /\S/.test(rest[length] ?? '')) return length
  return linesLength(rest, end + 1, (spaces, line) => spaces > indent && isFolded(line)) || length
}

/** The end of the lines from `from` on that belong to a value. 0: none does. */
function linesLength(
  rest: string,
  from: number,
  isTaken: (spaces: number, line: string) => boolean,
) {
  let end = 0
  for (let start = from; start < rest.length; ) {
    const lineEnd = rest.indexOf('\n', start)
    const all = rest.slice(start, lineEnd < 0 ? undefined : lineEnd).trimEnd()
    const line = all.trimStart()
    if (line !== '' && !isTaken(all.length - line.length, line)) break
    if (line !== '') end = start + all.length
    start = lineEnd < 0 ? rest.length : lineEnd + 1
  }
  return end
}

const heredocStart = /^<<[-~]?["']?(\w{1,32})(?!\w)[^\n]{0,200}\n/
const heredocMaxLength = 10_000

/** Length of a heredoc up to its end word, or the whole rest if none is near. 0: not a heredoc. */
function heredocLength(rest: string) {
  const [, word] = heredocStart.exec(rest) ?? []
  return word === undefined ? 0 : linesBefore(word, rest)[1] + word.length + 1
}

/** The lines up to the end word of a heredoc, or all if it is not near. */
export function linesBefore(endWord: string, rest: string): readonly [number, number] {
  const start = rest.indexOf('\n')
  const end = rest.slice(0, heredocMaxLength).indexOf(`\n${endWord}`, start)
  return [start + 1, end < 0 ? rest.length : end]
}

/** Length of a header's value, which can contain spaces. The value ends at the next flag. */
function headerLength(rest: string) {
  const flag = rest.search(/[ \t]["']?--?[A-Za-z]/)
  if (flag >= 0) return rest.slice(0, flag).trimEnd().length
  return /["']$/.test(rest) ? rest.length - 1 : rest.length
}

const wordLength = (rest: string) =>
  /^(?:\\.|\\\r?\n[ \t]*(?=\S)|"(?=[\w$])[^"\n]*"|'(?=[\w$])[^'\n]*'|[^\s\\])*/.exec(rest)?.[0]
    .length ?? 0

/** Length of a quoted value with all further parts of its shell word: `"ab"'c'd`. */
function quotedLength(rest: string, quote: string) {
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
  /^(?:(?:[ \t]*(?:[+.]|->)[ \t]*(?:\r?\n[ \t]*)?|[ \t]+(?:\\\r?\n[ \t]*)?|\r?\n[ \t]+)(?:"[^"\n]*"|'[^'\n]*')(?![ \t]*[:=]|\w))+/
