import { expect, it } from 'vitest'
import type { DiskLedger } from '#model/prediction/disk-ledger.ts'
import type { FirstVictims } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
import { outlookView } from '#report/parts/outlook.ts'
import {
  auditedNode,
  dedicatedDisks,
  diskLedger,
  filesystem,
  GiB,
  quietReport,
  sharedDisk,
} from '#test/report-builder.ts'

type Prediction = Parameters<typeof auditedNode>[1]

const firstOf = (prediction: Prediction, ledger?: DiskLedger) => {
  const node = auditedNode('n1', prediction, ledger && { ledger })
  const { text, note } = outlookView(quietReport([node]), english).rows[0]!.first!
  return `${text}; ${note}`.replaceAll('\u00a0', ' ')
}

it('says that unused images go before pods where images share the disk', () => {
  expect(firstOf(sharedDisk(95))).toMatch(/; if deleting unused images is not enough$/)
  expect(firstOf(sharedDisk(95), diskLedger(['images-unused', 3 * GiB, 3 * GiB]))).toMatch(
    /; if deleting 3\.0.GiB of unused images is not enough$/,
  )
})

const [full, empty] = [filesystem(20 * GiB, GiB), filesystem(20 * GiB, 19 * GiB)]

it('says that pods go first on a disk without images', () => {
  expect(firstOf(dedicatedDisks(full, empty))).toMatch(/; $/)
  expect(firstOf(dedicatedDisks(empty, full))).toMatch(/; if deleting unused images/)
})

it('puts a disk that no threshold watches and that is full within the hour first', () => {
  const bytesPerHour = (gib: number) => ({ min: gib * GiB, median: gib * GiB, max: gib * GiB })
  const seen = (gib: number) => ({
    isSeen: true as const,
    ...{ readings: 5, falls: 0, overMs: 96 * 3_600_000, bytesPerHour: bytesPerHour(gib) },
  })
  const unwatched = sharedDisk(50, { evictionHard: {} })
  const report = quietReport([
    auditedNode('still', sharedDisk(80)),
    auditedNode('slow', sharedDisk(50), { growth: { nodefs: seen(1) } }),
    auditedNode('fast', unwatched, { growth: { nodefs: seen(40) } }),
  ])
  const { rows } = outlookView(report, english)
  expect(rows.map(({ name, state }) => [name, state.replaceAll('\u00a0', ' ')])).toEqual([
    ['fast', 'in about 1 h'],
    ['slow', 'in about 1 d 4 h'],
    ['still', '4.0 GiB (5 %) to eviction'],
  ])
  expect(rows.map(({ first }) => first === null)).toEqual([true, false, false])
  expect(rows[0]!.note).toContain('to full: no threshold watches it')
})

it('calls pods unread only if no order of eviction is known', () => {
  const pods = [{ namespace: 'shop', name: 'cart', rank: 0 }]
  const rowOf = (firstVictims: FirstVictims[]) => {
    const node = auditedNode('n1', sharedDisk(95), { firstVictims })
    return outlookView(quietReport([node]), english).rows[0]!.first?.text
  }
  expect(rowOf([])).toMatch(/were not read/)
  expect(rowOf([{ signal: 'memory.available', pods, alike: 1 }])).toMatch(/unknown(?!:)/)
})
