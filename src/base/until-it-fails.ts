/** Memoizes a request by key. A failed request is not kept: the next caller repeats it. */
export function untilItFails<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  request: () => Promise<Value>,
): Promise<Value> {
  const before = known.get(key)
  if (before) return before
  const answer = request()
  known.set(key, answer)
  answer.catch(() => known.delete(key))
  return answer
}
