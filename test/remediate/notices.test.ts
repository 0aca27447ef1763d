/** Runs and refused objects in the list: bounded, sealed, foreign text to the audit that shows it, forgotten after a week. */
import { describe, expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import type { Store } from '#clients/store/store.ts'
import { keepNotices, noticesIn } from '#remediate/notices.ts'
import { sealedStore } from '#remediate/seal.ts'
import { temporaryFolder } from '#test/cli.ts'
import { approvalOf, planOf, World } from '#test/remediation-world.ts'
import { memoryKeys } from '#test/seals.ts'

const key = 'remediation/notices.json'
const day = (date: number) => new Date(Date.UTC(2026, 10, date))

/** As `remediate` sees it, and as an audit does. */
function stores() {
  const bucket = folderStore(temporaryFolder())
  return { store: sealedStore(bucket, memoryKeys.runs), bucket }
}
const keepRefused = (store: Store, refused: string[], now: Date) =>
  keepNotices(store, { refused }, now)
const refusedNotices = async (store: Store, now: Date) => (await noticesIn(store, now)).refused

describe('refused objects', () => {
  it('are named with what they claim to be and when they were met', async () => {
    const { store, bucket } = stores()
    expect(await refusedNotices(bucket, day(2))).toEqual([])
    const keys = ['run.json', 'steps/prod/n1.json', 'approval.json'].map(
      name => `remediation/runs/0123456789abcdef/${name}`,
    )
    await keepRefused(
      store,
      keys.map(one => `${store.location}/${one}`),
      day(1),
    )
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(2))
    const notices = await refusedNotices(bucket, day(2))
    expect(
      notices.map(line => /claims to be ([^:]+):.*last met ([^)]+)\)/.exec(line)?.slice(1)),
    ).toEqual([
      ['an approved policy', '2026-11-02T00:00:00.000Z'],
      ['the approval of a run', '2026-11-01T00:00:00.000Z'],
      ['the state of a run', '2026-11-01T00:00:00.000Z'],
      ['the journal of a node', '2026-11-01T00:00:00.000Z'],
    ])
    for (const one of keys) expect(notices.join()).toContain(`${store.location}/${one},`)
    expect(await refusedNotices(bucket, day(8))).toHaveLength(4)
    expect(await refusedNotices(bucket, day(9))).toHaveLength(1)
  })

  it('are at most 20, the newest first, and the others a number', async () => {
    const { store, bucket } = stores()
    const many = Array.from({ length: 50 }, (_, at) => `${store.location}/remediation/begun/${at}`)
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(1))
    await keepRefused(store, many, day(1))
    const notices = await refusedNotices(bucket, day(1))
    expect(notices).toHaveLength(21)
    expect(notices.at(-1)).toContain('30 more')
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(2))
    expect((await refusedNotices(bucket, day(2)))[0]).toContain('highwater.yaml')
    expect(await refusedNotices(bucket, day(2))).toHaveLength(20)
  })

  it('are foreign text: without secrets and control characters, and bounded', async () => {
    const { store, bucket } = stores()
    const hostile = `remediation/runs/a\u001b[2J\n\u202ehttps://u:hunter22@x/?sig=c2VjcmV0c2lnbmF0dXJl${'x'.repeat(900)}`
    const object = { key: hostile, at: day(1).toISOString() }
    const list = { schema: 'highwater.notices/1', refused: [object], refusedLeftOut: 0, runs: [] }
    await store.write(key, `${JSON.stringify(list)}\n`, 'application/json')
    const [line = ''] = await refusedNotices(bucket, day(1))
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]|hunter22|c2VjcmV0/u)
    expect(line.length).toBeLessThan(600)
  })

  it.each([
    'no JSON',
    '[]',
    JSON.stringify({
      schema: 'highwater.notices/1',
      refused: Array(5000).fill({ key: 'x', at: '2026-11-01T00:00:00Z' }),
      refusedLeftOut: 0,
      runs: [],
      seal: `${'A'.repeat(43)}=`,
    }),
  ])('are one line where the list is another’s', async text => {
    const { store, bucket } = stores()
    await bucket.write(key, `${text}\n`, 'application/json')
    expect(await refusedNotices(bucket, day(1))).toEqual([
      expect.stringContaining(`${store.location}/${key} is not as remediate writes it`),
    ])
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(1))
    expect(await refusedNotices(bucket, day(1))).toEqual([
      expect.stringContaining('highwater.yaml'),
      expect.stringContaining(`${key}, which claims to be the list of runs and refused objects`),
    ])
  })
})

const ada = 'Ada Lovelace (arn:aws:iam::111122223333:user/ada)'

describe('runs', () => {
  const ran = async (changed = {}) => {
    const world = new World(planOf([1, 2]))
    return { ...(await world.apply({ approval: approvalOf(world.plan) })), ...changed }
  }

  it('stand there with their approvers, counts and place', async () => {
    const { store, bucket } = stores()
    const run = await ran({ approvedBy: ada, startedAt: '2026-11-01T00:00:00Z', endedAt: null })
    await keepNotices(store, { runs: [run] }, day(1))
    expect(await noticesIn(bucket, day(2))).toEqual({
      refused: [],
      runs: [
        {
          ...{ run: run.run, state: 'done', clusters: ['prod'], approvedBy: [ada] },
          ...{ planned: 3, changed: 3, failed: 0, rolledBack: 0 },
          ...{ startedAt: run.startedAt, endedAt: null, at: day(1).toISOString() },
          place: `${store.location}/remediation/runs/${run.run}/report.json`,
        },
      ],
    })
    const [first] = run.steps
    const steps = run.steps.map(step =>
      step === first ? { ...step, state: 'broken' as const } : step,
    )
    const endedAt = day(2).toISOString()
    await keepNotices(store, { runs: [{ ...run, steps, state: 'stopped', endedAt }] }, day(3))
    const [again, ...others] = (await noticesIn(bucket, day(3))).runs
    expect(others).toEqual([])
    expect(again).toMatchObject({ state: 'stopped', changed: 2, failed: 1, at: endedAt })
    expect((await noticesIn(bucket, day(10))).runs).toEqual([])
  })

  it('are at most 20, the last begun first', async () => {
    const { store, bucket } = stores()
    const run = await ran()
    for (let index = 0; index < 25; index++) {
      const startedAt = new Date(Date.UTC(2026, 10, 1, 0, index)).toISOString()
      const id = index.toString(16).padStart(16, '0')
      await keepNotices(store, { runs: [{ ...run, run: id, startedAt, endedAt: null }] }, day(1))
    }
    const { runs } = await noticesIn(bucket, day(1))
    expect(runs.map(one => Number.parseInt(one.run, 16))).toEqual(
      Array.from({ length: 20 }, (_, index) => 24 - index),
    )
  })

  it('that another has put into the list go no further than the next call', async () => {
    const { store, bucket } = stores()
    const run = await ran({ endedAt: null, startedAt: day(1).toISOString() })
    await keepNotices(store, { runs: [run] }, day(1))
    const forged = (await bucket.read(key))?.body.toString().replace(run.run, 'f'.repeat(16)) ?? ''
    await bucket.write(key, forged, 'application/json')
    await keepNotices(store, {}, day(1))
    const { runs, refused } = await noticesIn(bucket, day(1))
    expect(runs).toEqual([])
    expect(refused).toEqual([expect.stringContaining(key)])
  })
})
