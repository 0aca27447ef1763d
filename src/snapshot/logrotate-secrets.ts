/**
 * Cuts a logrotate file to the directives that logrotate knows, without scripts. Any file may lie in logrotate's folder, and a link there may lead to any
 * other file of the node, whose lines then look like directives.
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { directiveKind } from '#model/logrotate-directives.ts'

const mostPatterns = 1000
const pattern = /^[/~*][^\0\r\n]{0,1000}$/
/** Also matches a misspelt size, which logrotate refuses. */
const amount = /^-?[\w.%]{0,20}$/
const plainWords = /^[\w.,:;%+@~=/*?()[\]{}\\"' -]{0,300}$/
/** RFC 3339 */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const removed = '(removed)'

export const withoutLogrotateSecrets = (entries: unknown): unknown =>
  Array.isArray(entries) ? entries.map(withoutFileSecrets) : entries

function withoutFileSecrets(entry: unknown): unknown {
  if (!isRawObject(entry) || entry.directives === undefined) return entry
  const { sha256, modifiedAt, directives, ...rest } = entry
  const entries = isRawObject(directives) ? Object.entries(directives) : []
  const kept = entries.flatMap(([name, value]) => {
    const cut = name === 'patterns' ? patternsIn(value) : cutDirective(name.toLowerCase(), value)
    return cut === undefined ? [] : [[name, cut] as const]
  })
  // Without a known directive even the hash is dropped: short secrets can be guessed from it.
  const isForeign = kept.length < entries.length && kept.every(([name]) => name === 'patterns')
  const changed =
    modifiedAt === null || (typeof modifiedAt === 'string' && time.test(modifiedAt))
      ? { modifiedAt }
      : {}
  return {
    ...rest,
    ...(sha256 !== undefined && !isForeign && { sha256 }),
    ...changed,
    directives: Object.fromEntries(kept) satisfies RawObject,
  }
}

/** The patterns that are paths. Undefined: none is a path. */
function patternsIn(value: unknown): string[] | undefined {
  const all = (Array.isArray(value) ? value : [value]).slice(0, mostPatterns)
  const kept = all.filter(item => typeof item === 'string' && pattern.test(item))
  return kept.length === 0 && all.length > 0 ? undefined : kept
}

function cutDirective(name: string, value: unknown): unknown {
  const kind = directiveKind(name)
  if (kind === null) return undefined
  if (kind === 'script') return true
  if (Array.isArray(value))
    return value.slice(0, mostPatterns).map(item => cutWord(String(item), kind))
  if (typeof value === 'string') return cutWord(value, kind)
  return typeof value === 'number' || typeof value === 'boolean' ? value : removed
}

function cutWord(text: string, kind: 'amount' | 'words'): string {
  if (text === removed) return removed
  if (kind === 'amount') return amount.test(text) ? text : removed
  return plainWords.test(text) ? text : removed
}
