/** Merges streams in the order of arrival; at most `limit` streams are open at once. */
export async function* merge<T>(
  streams: AsyncIterable<AsyncIterable<T>>,
  limit: number,
): AsyncGenerator<T> {
  const source = streams[Symbol.asyncIterator]()
  const pulled = new Map<AsyncIterator<T>, Promise<Event<T>>>()
  const pull = (stream: AsyncIterator<T>) =>
    pulled.set(
      stream,
      stream.next().then(result => ({ stream, result })),
    )
  const openNext = () => source.next().then((opened): Event<T> => ({ opened }))
  let opening: Promise<Event<T>> | null = openNext()
  try {
    while (opening !== null || pulled.size > 0) {
      const mayOpen: Promise<Event<T>>[] = opening !== null && pulled.size < limit ? [opening] : []
      const event: Event<T> = await Promise.race([...mayOpen, ...pulled.values()])
      if ('opened' in event) {
        opening = event.opened.done ? null : openNext()
        if (!event.opened.done) pull(event.opened.value[Symbol.asyncIterator]())
      } else if (event.result.done) pulled.delete(event.stream)
      else {
        yield event.result.value
        // Only now: a value requested earlier would take memory while the consumer works.
        pull(event.stream)
      }
    }
  } finally {
    await Promise.allSettled([
      source.return?.(),
      ...[...pulled.keys()].map(stream => stream.return?.()),
    ])
  }
}

/** The source has opened a stream (or has ended), or an open stream has a result. */
type Event<T> =
  | { opened: IteratorResult<AsyncIterable<T>> }
  | { stream: AsyncIterator<T>; result: IteratorResult<T> }
