/** Caches of computed values: a fleet repeats its texts, and several rules need the same facts of a node. */

const mostTexts = 8192

/**
 * Caches values by text. @param longest longer texts are computed each time: caching them would cost more than it saves
 * @param compute pure. An error is not cached. Callers share the values and must not change them.
 */
export function oncePerText<Value>(
  compute: (text: string) => Value,
  longest = 256,
): (text: string) => Value {
  const known = new Map<string, Value>()
  return text => {
    const found = known.get(text)
    if (found !== undefined) return found
    const value = compute(text)
    if (text.length > longest) return value
    if (known.size === mostTexts) known.clear()
    known.set(text, value)
    return value
  }
}

/** Caches values by object, as long as the object lives. @param compute pure. Callers share the values and must not change them. */
export function oncePer<Key extends object, Value>(
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, { value: Value }>()
  return key => {
    const found = known.get(key) ?? { value: compute(key) }
    known.set(key, found)
    return found.value
  }
}

/** The first of equal texts. A parser makes a new text for every object. */
export const sharedText = oncePerText(text => text)

/** The first of equal values. For short plain JSON that many nodes have. @returns a value that callers must not change */
export const sharedValue = <Value>(value: Value): Value => knownValue(JSON.stringify(value))
const knownValue = oncePerText(text => JSON.parse(text))
