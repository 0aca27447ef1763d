/** Values that are computed once: a fleet repeats its texts, and several rules need the same facts of one node. */

const mostTexts = 8192

/**
 * By the text. @param longest longer texts are computed each time: kept, they would cost more than they save
 * @param compute pure. What it throws is thrown again each time. Its values are shared, so that no caller may change them.
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

/** By the object, as long as it lives. @param compute as above */
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
