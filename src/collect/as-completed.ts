/**
 * Yields results as they arrive, so a slow one delays no other. At most `atOnce` results are running or unconsumed, so a consumer
 * that is slower than the work limits the memory.
 */
export async function* asCompleted<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  atOnce: number,
): AsyncGenerator<Result> {
  // No Promise.race: a slow promise would keep the results of all other promises in memory.
  const settled: Promise<Result>[] = []
  let held = 0
  let wake = () => {}
  const next = async () => {
    while (settled.length === 0) await new Promise<void>(resolve => (wake = resolve))
    held -= 1
    return settled.shift() as Promise<Result>
  }
  for await (const item of items) {
    const result = work(item)
    const settle = () => {
      settled.push(result)
      wake()
    }
    result.then(settle, settle)
    held += 1
    if (held >= atOnce) yield await next()
  }
  while (held > 0) yield await next()
}
