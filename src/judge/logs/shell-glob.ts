/**
 * Patterns of logrotate, one part of a path at a time. Source: glob(7); logrotate config.c calls glob() without braces.
 * Like glob(): `*`, `?`, `[a-z]`, `[!a-z]`; a backslash makes the next character literal; only a literal dot matches a leading dot.
 */

type Token = '*' | ((character: string) => boolean)

export function matchesShellGlob(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !/^\\?\./.test(pattern)) return false
  const tokens = tokensOf(pattern)
  const characters = Array.from(name)
  let [at, token, star, from] = [0, 0, -1, 0]
  // Only the last star is ever extended, so no pattern takes long.
  while (at < characters.length) {
    const wanted = tokens[token]
    if (wanted === '*') [star, from, token] = [token, at, token + 1]
    else if (wanted?.(characters[at] ?? '')) [at, token] = [at + 1, token + 1]
    else if (star >= 0) [from, at, token] = [from + 1, from + 1, star + 1]
    else return false
  }
  return tokens.slice(token).every(rest => rest === '*')
}

const is = (wanted: string) => (character: string) => character === wanted

function tokensOf(pattern: string): Token[] {
  const characters = Array.from(pattern)
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    const list = character === '[' ? listAt(characters, at) : null
    if (list !== null) {
      tokens.push(list.has)
      at = list.end
    } else if (character === '\\' && at + 1 < characters.length) {
      at += 1
      tokens.push(is(characters[at] ?? ''))
    } else tokens.push(tokenOf(character))
  }
  return tokens
}

function tokenOf(character: string): Token {
  if (character === '*') return '*'
  return character === '?' ? () => true : is(character)
}

/** Null: the bracket is not closed, so it is a literal character. */
function listAt(
  characters: readonly string[],
  start: number,
): { has: (character: string) => boolean; end: number } | null {
  const isNot = characters[start + 1] === '!' || characters[start + 1] === '^'
  const first = start + (isNot ? 2 : 1)
  // A closing bracket right after the opening one is a member of the list.
  const end = characters.indexOf(']', first + 1)
  if (end < 0) return null
  const ranges: [from: string, to: string][] = []
  for (let at = first; at < end; at++) {
    const from = characters[at] ?? ''
    const isRange = characters[at + 1] === '-' && at + 2 < end
    ranges.push([from, isRange ? (characters[at + 2] ?? '') : from])
    if (isRange) at += 2
  }
  return {
    has: character => ranges.some(([from, to]) => from <= character && character <= to) !== isNot,
    end,
  }
}
