/** What a week of runs tells of the disks, as a terminal makes them: `audit --store`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { english } from '#report/languages/language.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { type SavedNode, savedSnapshot } from '#test/saved-snapshot.ts'

const at = (day: number, hour = 7) => `2026-11-${day}T${String(hour).padStart(2, '0')}:00:00Z`

async function audit(
  store: string,
  takenAt: string,
  ...nodes: SavedNode[]
): Promise<{ page: string; mail: string }> {
  const out = temporaryFolder()
  const { stderr } = await inProcess([
    'audit',
    '--snapshot',
    savedSnapshot(nodes, { takenAt }),
    '--out',
    out,
    '--store',
    store,
  ])
  expect(stderr).toBe('')
  const read = (name: string) => readFileSync(join(out, name), 'utf8')
  return { page: read('report.html'), mail: read('email.txt') }
}

const flat = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('\u00a0', ' ')
    .replace(/\s+/g, ' ')
const section = (page: string, id: string) =>
  new RegExp(
    `<(?:section|details class="section") id="${id}"[\\s\\S]*?(?=<details class="section"|</main>)`,
  ).exec(page)?.[0] ?? ''
const outlookOf = ({ page }: { page: string }) => flat(section(page, 'outlook'))
const nodesOf = ({ page }: { page: string }) => flat(section(page, 'nodes'))

/** Of 3.9 GiB: each percent is 39.5 MiB. */
const days = [50, 52, 54, 56, 59, 61]

describe('a week of runs', () => {
  it('tells how fast a disk fills and when that would evict, and how the fleet went', async () => {
    const store = temporaryFolder()
    const runs = []
    for (const [index, usedPercent] of days.entries())
      runs.push(await audit(store, at(15 + index), { name: 'a', usedPercent }))
    // Without observed growth there is no time, and 14 days are beyond the week of the list.
    for (const run of runs) expect(outlookOf(run)).not.toMatch(/\b(?:in about|within) \d/)
    expect(outlookOf(runs.at(-1)!)).toContain(flat(english.words.next.bands.calm(1)))
    expect(flat(section(runs.at(-1)!.page, 'nodes'))).toContain(
      'nodefs grew by about 79.0 MiB a day (79.0–118.6 MiB): 6 readings in 5 d.',
    )
    const trends = section(runs.at(-1)!.page, 'trends')
    expect(flat(trends)).toContain('6 days from 2026-11-15 to 2026-11-20')
    expect(trends).toMatch(
      /aria-label="Fullest image disk by day: first 5\d.%, least 5\d.%, most 6\d.%, now 6\d.%"/,
    )
    expect(runs.at(-1)!.mail.replace(/\s+/g, ' ')).toMatch(
      /In 5 days: findings \d+ as before; .*fullest image disk 5\d % → 6\d %/,
    )
    expect(section(runs[0]!.page, 'trends')).toBe('')
  })

  it('is not read across another start, and outlasts a day without a reading', async () => {
    const store = temporaryFolder()
    for (const [index, usedPercent] of days.slice(0, 4).entries())
      await audit(store, at(15 + index), { name: 'a', usedPercent })
    await audit(store, at(19), { name: 'a', unread: ['configz', 'summary', 'pods'] })
    expect(nodesOf(await audit(store, at(20), { name: 'a', usedPercent: 60 }))).toContain(
      '5 readings in 5 d',
    )
    expect(
      nodesOf(await audit(store, at(21), { name: 'a', usedPercent: 12, bootId: 'another' })),
    ).not.toContain('readings in')
  })

  it('is the same for a second delivery of a run, on the day of the run before and on the next', async () => {
    const store = temporaryFolder()
    for (const [index, usedPercent] of days.entries())
      await audit(store, at(15 + index), { name: 'a', usedPercent })
    for (const time of [at(20, 13), at(20, 19), at(21)]) {
      const first = await audit(store, time, { name: 'a', usedPercent: 63 })
      expect(nodesOf(first)).toMatch(/[789] readings in [56] d/)
      expect((await audit(store, time, { name: 'a', usedPercent: 63 })).page).toBe(first.page)
    }
  })

  it('says so of a disk that hardly ever grew, and of one in which something was freed', async () => {
    const store = temporaryFolder()
    let last = { page: '' }
    for (const [index, [a, b]] of [
      [70, 60],
      [60, 66],
      [50, 40],
      [45, 46],
    ].entries())
      last = await audit(
        store,
        at(15 + index),
        { name: 'a', usedPercent: a },
        { name: 'b', usedPercent: b },
      )
    expect(nodesOf(last)).toContain('237.1 MiB a day: 4 readings')
  })
})
