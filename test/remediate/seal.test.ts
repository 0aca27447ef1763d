/** Journals that carry a seal: what someone else wrote there is refused and named, and does not keep a run from going back. */
import { describe, expect, it } from 'vitest'
import { sealedStore, Unsealed } from '#remediate/seal.ts'
import { memoryStore, planOf, World } from '#test/remediation-world.ts'
import { memoryKeys } from '#test/seals.ts'

const key = 'remediation/runs/0123456789abcdef/run.json'
const text = '{"a":1}\n'

describe('a sealed store', () => {
  it('gives back what it wrote, byte for byte, and lies there as JSON', async () => {
    const bucket = memoryStore()
    const store = sealedStore(bucket, memoryKeys.runs)
    expect(await store.create(key, text, 'application/json')).toBe(true)
    const found = await store.read(key)
    expect(found?.body.toString()).toBe(text)
    expect(await store.replace(key, '{"a":2}\n', found?.version ?? '')).toBe(true)
    const kept = String((await bucket.read(key))?.body)
    expect(JSON.parse(kept)).toEqual({ a: 2, seal: expect.stringMatching(/^[\w+/]{43}=$/) })
  })

  it.each([
    ['no seal', text],
    ['no JSON', 'x'],
    ['another text', '{"a":2}\n'],
  ])('refuses %s, and names it', async (_, forged) => {
    const bucket = memoryStore()
    const store = sealedStore(bucket, memoryKeys.runs)
    await store.write(key, text, 'application/json')
    const seal = /,"seal":"[^"]*"/.exec(String((await bucket.read(key))?.body))?.[0] ?? ''
    const written = forged === '{"a":2}\n' ? forged.replace('}', `${seal}}`) : forged
    await bucket.write(key, written, 'application/json')
    await expect(store.read(key)).rejects.toThrow(Unsealed)
    await expect(store.read(key)).rejects.toThrow(`s3://bucket/${key} has no valid seal`)
  })

  it('refuses an authentic text under another key, of another bucket, or by another key', async () => {
    const bucket = memoryStore()
    const store = sealedStore(bucket, memoryKeys.runs)
    await store.write(key, text, 'application/json')
    const body = (await bucket.read(key))?.body ?? ''
    const moved = key.replace('0123', '3210')
    await bucket.write(moved, body, 'application/json')
    await expect(store.read(moved)).rejects.toThrow(Unsealed)
    const other = { ...bucket, location: 's3://another' }
    await expect(sealedStore(other, memoryKeys.runs).read(key)).rejects.toThrow(Unsealed)
    await expect(sealedStore(bucket, memoryKeys.approvals).read(key)).rejects.toThrow(Unsealed)
  })

  it('seals the entry of a node that is called report', async () => {
    const bucket = memoryStore()
    const store = sealedStore(bucket, memoryKeys.runs)
    const run = 'remediation/runs/0123456789abcdef'
    for (const entry of [`${run}/steps/prod/report.json`, `${run}/deletions/prod/report.json`]) {
      await bucket.write(entry, text, 'application/json')
      await expect(store.read(entry)).rejects.toThrow(Unsealed)
    }
    await store.write(`${run}/report.json`, text, 'application/json')
    expect(String((await bucket.read(`${run}/report.json`))?.body)).toBe(text)
  })

  it('passes what nothing rests on: leases, plans, reports of runs', async () => {
    const bucket = memoryStore()
    const store = sealedStore(bucket, memoryKeys.runs)
    for (const one of ['remediation/leases/a.json', 'remediation/plans/b.json', 'runs/c.json']) {
      await store.write(one, text, 'application/json')
      expect(String((await bucket.read(one))?.body)).toBe(text)
    }
  })
})

describe('a run one of whose entries was forged', () => {
  async function forgedEntry() {
    const world = new World(planOf([1, 2]))
    const store = sealedStore(world.store, memoryKeys.runs)
    world.reasons = []
    await world.apply({ store, policy: { pauseMs: 0 } })
    const [first] = world.plan.steps
    const entry = `remediation/runs/${world.plan.id}/steps/prod/${first?.node}.json`
    await world.store.write(entry, '{"state":"pending"}\n', 'application/json')
    return { world, store, entry }
  }

  it('goes no further, and names it', async () => {
    const { world, store, entry } = await forgedEntry()
    const sent = world.commands.length
    await expect(world.apply({ store, resume: true })).rejects.toThrow(
      `s3://bucket/${entry} has no valid seal`,
    )
    expect(world.commands).toHaveLength(sent)
  })

  it('can be taken back: its nodes know what the run did', async () => {
    const { world, store } = await forgedEntry()
    const run = await world.rollBack({ store })
    expect(run).toMatchObject({ state: 'rolled-back' })
    expect(run.steps.map(({ state }) => state)).toEqual(Array(3).fill('rolled-back'))
  })
})
