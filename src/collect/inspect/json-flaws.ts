/** Finds flaws of a JSON text that JSON.parse does not report. */

const deepest = 64

/** Why a text that JSON.parse accepts is refused: a duplicate key (only the last would count), or too deep nesting. */
export function flawOf(json: string): string | null {
  /** The keys of each open object; null: a list. */
  const open: (Set<string> | null)[] = []
  let isKeyNext = false
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') {
      const end = endOfString(json, at)
      const keys = open.at(-1)
      if (isKeyNext && keys) {
        const key: unknown = JSON.parse(json.slice(at, end + 1))
        if (typeof key !== 'string' || keys.has(key))
          return `the key ${JSON.stringify(key).slice(0, 80)} stands twice in one object`
        keys.add(key)
      }
      isKeyNext = false
      at = end
    } else if (character === '{' || character === '[') {
      if (open.push(character === '{' ? new Set() : null) > deepest)
        return `it is nested deeper than ${deepest}`
      isKeyNext = character === '{'
    } else if (character === '}' || character === ']') {
      open.pop()
      isKeyNext = false
    } else if (character === ',') isKeyNext = open.at(-1) !== null
  }
  return null
}

function endOfString(json: string, begin: number): number {
  let at = begin + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}
