/** The list of refused objects: bounded, foreign to the audit that shows it, and forgotten after a week. */
import { describe, expect, it } from 'vitest'
import { folderStore } from '#clients/folder-store.ts'
import { keepRefused, refusedNotices } from '#remediate/refused.ts'
import { temporaryFolder } from '#test/cli.ts'

const key = 'remediation/refused.json'
const day = (date: number) => new Date(Date.UTC(2026, 10, date))

describe('refused objects', () => {
  it('are named with what they claim to be and when they were met', async () => {
    const store = folderStore(temporaryFolder())
    expect(await refusedNotices(store, day(2))).toEqual([])
    const keys = ['run.json', 'steps/prod/n1.json', 'approval.json'].map(
      name => `remediation/runs/0123456789abcdef/${name}`,
    )
    await keepRefused(
      store,
      keys.map(one => `${store.location}/${one}`),
      day(1),
    )
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(2))
    const notices = await refusedNotices(store, day(2))
    expect(
      notices.map(line => /claims to be ([^:]+):.*last met ([^)]+)\)/.exec(line)?.slice(1)),
    ).toEqual([
      ['an approved policy', '2026-11-02T00:00:00.000Z'],
      ['the approval of a run', '2026-11-01T00:00:00.000Z'],
      ['the state of a run', '2026-11-01T00:00:00.000Z'],
      ['the journal of a node', '2026-11-01T00:00:00.000Z'],
    ])
    for (const one of keys) expect(notices.join()).toContain(`${store.location}/${one},`)
    expect(await refusedNotices(store, day(8))).toHaveLength(4)
    expect(await refusedNotices(store, day(9))).toHaveLength(1)
  })

  it('are at most 20, the newest first, and the others a number', async () => {
    const store = folderStore(temporaryFolder())
    const many = Array.from({ length: 50 }, (_, at) => `${store.location}/remediation/begun/${at}`)
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(1))
    await keepRefused(store, many, day(1))
    const notices = await refusedNotices(store, day(1))
    expect(notices).toHaveLength(21)
    expect(notices.at(-1)).toContain('30 more')
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(2))
    expect((await refusedNotices(store, day(2)))[0]).toContain('highwater.yaml')
    expect(await refusedNotices(store, day(2))).toHaveLength(20)
  })

  it('are foreign text: without secrets and control characters, and bounded', async () => {
    const store = folderStore(temporaryFolder())
    const hostile = `remediation/runs/a\u001b[2J\n\u202ehttps://u:hunter22@x/?sig=c2VjcmV0c2lnbmF0dXJl${'x'.repeat(900)}`
    const object = { key: hostile, at: day(1).toISOString() }
    const list = { schema: 'highwater.refused/1', objects: [object], leftOut: 0 }
    await store.write(key, JSON.stringify(list), 'application/json')
    const [line = ''] = await refusedNotices(store, day(1))
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]|hunter22|c2VjcmV0/u)
    expect(line.length).toBeLessThan(600)
  })

  it.each([
    'no JSON',
    '[]',
    JSON.stringify({
      schema: 'highwater.refused/1',
      objects: Array(5000).fill({ key: 'x', at: '2026-11-01T00:00:00Z' }),
      leftOut: 0,
    }),
  ])('are one line where the list is another’s', async text => {
    const store = folderStore(temporaryFolder())
    await store.write(key, text, 'application/json')
    expect(await refusedNotices(store, day(1))).toEqual([
      expect.stringContaining(`${store.location}/${key} is not as remediate writes it`),
    ])
    await keepRefused(store, [`${store.location}/highwater.yaml`], day(1))
    expect(await refusedNotices(store, day(1))).toEqual([expect.stringContaining('highwater.yaml')])
  })
})
