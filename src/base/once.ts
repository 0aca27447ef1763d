/** Caches of computed values: a fleet repeats its texts, and its nodes share configurations. */

const mostTexts = 8192

/** Computes the value when it is first used. */
export function once<Value>(compute: () => Value): () => Value {
  let known: { value: Value } | null = null
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

/**
 * Caches values by text. @param longest longer texts are computed each time: caching them would cost more than it saves
 * @param compute pure. An error is not cached. Callers share the values and must not change them.
 * @param most number of cached texts
 */
export function oncePerText<Value, Text extends string = string>(
  compute: (text: Text) => Value,
  longest = 256,
  most = mostTexts,
): (text: Text) => Value {
  const known = new Map<Text, Value>()
  return text => {
    const found = known.get(text)
    if (found !== undefined) return found
    const value = compute(text)
    if (text.length > longest) return value
    if (known.size === most) known.clear()
    known.set(text, value)
    return value
  }
}

/** The first of equal values. For short plain JSON that many nodes have. @returns a value that callers must not change */
export const sharedValue = <Value>(value: Value): Value => knownValue(JSON.stringify(value))
const knownValue = oncePerText(text => JSON.parse(text))
