import { describe, expect, it } from 'vitest'
import { asCompleted } from '#collect/collect.ts'

const after = (ms: number) => new Promise<number>(resolve => setTimeout(() => resolve(ms), ms))

describe('asCompleted', () => {
  it('yields what is there, while a slow one is under way', async () => {
    const results = await Array.fromAsync(asCompleted([200, 5, 10, 15, 20], after, 2))
    expect(results).toEqual([5, 10, 15, 20, 200])
  })

  it('begins no more than a slow consumer takes', async () => {
    let begun = 0
    const work = async (item: number) => {
      begun++
      return item
    }
    const consumer = asCompleted(
      Array.from({ length: 50 }, (_, index) => index),
      work,
      4,
    )
    await consumer.next()
    await after(20)
    expect(begun).toBe(4)
    expect(await Array.fromAsync(consumer)).toHaveLength(49)
  })

  it('fails with what the work throws', async () => {
    const failing = asCompleted([1], () => Promise.reject(new Error('a mistake')), 4)
    await expect(failing.next()).rejects.toThrow('a mistake')
  })
})
