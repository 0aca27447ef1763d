interface Completed<Result> {
  promise: Promise<Completed<Result>>
  result: Result
}

/**
 * Results in the order in which they are there: a slow one delays no other. Running and unconsumed ones together are at most `atOnce`, so a
 * consumer that is slower than the work bounds the memory.
 */
export async function* asCompleted<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  atOnce: number,
): AsyncGenerator<Result> {
  const held = new Set<Promise<Completed<Result>>>()
  const next = async () => {
    const completed = await Promise.race(held)
    held.delete(completed.promise)
    return completed.result
  }
  for await (const item of items) {
    const promise: Promise<Completed<Result>> = work(item).then(result => ({ promise, result }))
    held.add(promise)
    if (held.size >= atOnce) yield await next()
  }
  while (held.size > 0) yield await next()
}
