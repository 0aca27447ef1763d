import { describe, expect, it } from 'vitest'
import { ByteBudget } from '#clients/kubernetes/answer-body.ts'

const signal = new AbortController().signal
const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  const open = Symbol('open')
  return (await Promise.race([promise, new Promise(done => setTimeout(done, 5, open))])) !== open
}

describe('ByteBudget', () => {
  it('gives what there is, and lets the rest wait in turn', async () => {
    const budget = new ByteBudget(10)
    const giveBack = await budget.take(6, signal)
    const large = budget.take(8, signal)
    const small = budget.take(1, signal)
    expect([await settled(large), await settled(small)]).toEqual([false, false])
    giveBack()
    giveBack()
    expect([await settled(large), await settled(small)]).toEqual([true, true])
    expect(await settled(budget.take(2, signal))).toBe(false)
  })

  it('lets no request wait for more than there ever is', async () => {
    expect(await settled(new ByteBudget(10).take(11, signal))).toBe(true)
  })

  it('forgets who has left', async () => {
    const budget = new ByteBudget(10)
    await budget.take(6, signal)
    const leaving = new AbortController()
    const large = budget.take(8, leaving.signal)
    const small = budget.take(4, signal)
    leaving.abort(new Error('left'))
    await expect(large).rejects.toThrow('left')
    expect(await settled(small)).toBe(true)
  })
})
