/**
 * Reads and writes the text of a logrotate file. A snapshot has a file's directives and hash; the text is written again in the few ways
 * people write such files until its hash matches. Then the text is complete: no comment or script was lost.
 */

import type { RawObject } from '#base/raw-object.ts'
import { isLogPattern, isLogrotateValue, logrotateDirectives } from '#facts/logrotate.ts'
import type { HostLogrotate } from '#model/input/inspection.ts'
import { sha256 } from '#remediate/plan/canonical.ts'

export interface WrittenBlock {
  /** Empty: the directives are outside of any block. */
  patterns: string[]
  /** In file order; the value is empty if the directive has none. */
  directives: [name: string, value: string][]
}

/** The file's entries in `host.logrotate`; null: an entry is incomplete. */
export function writtenBlocks(entries: readonly HostLogrotate[]): WrittenBlock[] | null {
  const blocks = entries.map(({ directives }) => (directives ? blockOf(directives) : null))
  return blocks.every(block => block !== null) ? blocks : null
}

function blockOf({ patterns, ...directives }: RawObject): WrittenBlock | null {
  const read = Object.entries(directives).map(([name, value]) => [name, valueText(value)] as const)
  const whole = read.flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as [string, string]],
  )
  const texts = Array.isArray(patterns)
    ? patterns.filter(pattern => typeof pattern === 'string')
    : []
  return whole.length === read.length ? { patterns: texts, directives: whole } : null
}

function valueText(value: unknown) {
  if (value === true) return ''
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}

export type LogrotateStyle = (blocks: readonly WrittenBlock[]) => string

const styles: LogrotateStyle[] = ['    ', '  ', '\t', ''].flatMap(indent =>
  [' {', '\n{', '{'].flatMap(brace =>
    [' ', '\n'].flatMap(between =>
      ['\n', '\n\n'].map(
        (gap): LogrotateStyle =>
          blocks =>
            `${blocks.map(block => blockText(block, { indent, brace, between })).join(gap)}\n`,
      ),
    ),
  ),
)

function blockText(
  { patterns, directives }: WrittenBlock,
  { indent, brace, between }: { indent: string; brace: string; between: string },
) {
  const lines = directives.map(
    ([name, value]) =>
      `${patterns.length > 0 ? indent : ''}${name}${value === '' ? '' : ` ${value}`}`,
  )
  return patterns.length === 0
    ? lines.join('\n')
    : [`${patterns.join(between)}${brace}`, ...lines, '}'].join('\n')
}

/** Null: no style gives that hash. */
export const logrotateStyleOf = (
  blocks: readonly WrittenBlock[],
  hash: string,
): LogrotateStyle | null => styles.find(style => sha256(style(blocks)) === hash) ?? null

const mostBlocks = 50
const mostLines = 1000

/** A text as result: why no plan writes the file, for people. */
export function parseLogrotate(text: string): WrittenBlock[] | string {
  if (!/^[\t\n\x20-\x7e]*\n$/.test(text)) return 'it has to be plain text that ends with a newline'
  const lines = text.split('\n')
  if (lines.length > mostLines) return `it has more than ${mostLines} lines`
  const blocks: WrittenBlock[] = []
  let patterns: string[] = []
  let open: WrittenBlock | null = null
  for (const [index, line] of lines.entries()) {
    const said = line.trim()
    const at = `line ${index + 1}`
    if (said === '' || said.startsWith('#')) continue
    if (open && said === '}') {
      if (!open.directives.some(([name]) => name === 'rotate'))
        return `${at}: a block without rotate: logrotate may keep no old log at all`
      open = null
    } else if (said.startsWith('/') || said === '{') {
      if (open) return `${at}: a block is not closed before the next one`
      patterns.push(...said.replace(/\{$/, '').split(/\s+/).filter(Boolean))
      const wrong = patterns.find(pattern => !isLogPattern(pattern))
      if (wrong !== undefined)
        return `${at}: ${wrong.slice(0, 100)} may meet more than logs, or is written in a way that is not known here`
      if (!said.endsWith('{')) continue
      if (patterns.length === 0) return `${at}: a block without a pattern`
      open = { patterns, directives: [] }
      blocks.push(open)
      patterns = []
    } else {
      if (patterns.length > 0) return `${at}: a pattern without a block`
      const directive = parseDirective(said)
      if (typeof directive === 'string') return `${at}: ${directive}`
      if (!open)
        return `${at}: ${directive[0]} stands outside of a block, and would change what other files mean`
      open.directives.push(directive)
    }
  }
  if (patterns.length > 0 || open) return 'its last block is not closed'
  // The node does not report empty files, so an empty file could not be verified.
  if (blocks.length === 0) return 'it says nothing'
  return blocks.length > mostBlocks ? `it has more than ${mostBlocks} blocks` : blocks
}

function parseDirective(said: string): [string, string] | string {
  // A line that a plan writes contains no other line ends than \n.
  const [name = ''] = (!/[\r\u2028\u2029]/.test(said) && /^[a-z]+/.exec(said)) || []
  const rest = said.slice(name.length)
  if (rest !== '' && !/^[\s=]/.test(rest))
    return `${said.slice(0, 40)} is no directive that a plan writes`
  const value = rest.trimStart().replace(/^=/, '').trimStart()
  const plain = value.replace(/\s+/g, ' ')
  if (!Object.hasOwn(logrotateDirectives, name))
    return `${(name || said).slice(0, 40)} is no directive that a plan writes`
  // A flag ends the line: logrotate would go on reading text after the flag.
  const isFlag = logrotateDirectives[name] === ''
  return (isFlag ? said === name : isLogrotateValue(name, plain))
    ? [name, plain]
    : `${name} cannot be ${plain.slice(0, 60) || 'without a value'}`
}
