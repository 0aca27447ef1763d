/** Memoizes a request by key. A failed request is not kept: the next caller repeats it. */
export function untilItFails<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  ask: () => Promise<Value>,
): Promise<Value> {
  const before = known.get(key)
  if (before) return before
  const asked = ask()
  known.set(key, asked)
  asked.catch(() => known.delete(key))
  return asked
}
