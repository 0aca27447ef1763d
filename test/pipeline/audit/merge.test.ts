import { describe, expect, it } from 'vitest'
import { merge } from '#pipeline/audit/fleet.ts'

async function* from<T>(items: T[]): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

describe('merge', () => {
  it('yields every item of every stream, each stream in its own order', async () => {
    const merged = await all(
      merge(
        from<AsyncIterable<string>>([
          from(['a1', 'a2', 'a3']),
          from<string>([]),
          from(['b1', 'b2']),
        ]),
        2,
      ),
    )
    expect(merged.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
    expect(merged.filter(item => item.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  })

  it('does not let one slow stream hold up the others', async () => {
    const gate = Promise.withResolvers<void>()
    async function* slow(): AsyncGenerator<string> {
      await gate.promise
      yield 'slow'
    }
    const seen: string[] = []
    for await (const item of merge(
      from<AsyncIterable<string>>([slow(), from(['fast 1', 'fast 2'])]),
      2,
    )) {
      seen.push(item)
      if (seen.length === 2) gate.resolve()
    }
    expect(seen).toEqual(['fast 1', 'fast 2', 'slow'])
  })

  it('opens no more streams at once than the limit', async () => {
    let open = 0
    let most = 0
    async function* counted(name: string) {
      open += 1
      for (let index = 0; index < 5; index += 1) {
        most = Math.max(most, open)
        yield name
      }
      open -= 1
    }
    const merged = await all(merge(from(['a', 'b', 'c', 'd', 'e'].map(counted)), 2))
    expect(merged).toHaveLength(25)
    expect(most).toBe(2)
  })

  it('passes on what the list of streams throws, after closing what is open', async () => {
    let isClosed = false
    async function* endless() {
      try {
        while (!isClosed) yield 'more'
      } finally {
        isClosed = true
      }
    }
    async function* broken() {
      yield endless()
      throw new Error('no more clusters')
    }
    await expect(all(merge(broken(), 3))).rejects.toThrow('no more clusters')
    expect(isClosed).toBe(true)
  })
})
