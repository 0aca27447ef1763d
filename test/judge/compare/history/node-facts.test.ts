import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { comparedNode } from '#judge/compare/delta/delta.ts'
import { fillLimits, withReading } from '#judge/compare/history/fill.ts'
import {
  mergedDay,
  nodeFacts,
  nodeFactsMaxBytes,
  withObservation,
} from '#judge/compare/history/node-facts.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { FillSeries, Happening, NodeFacts, RememberedImage } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'
import { auditedNode, sharedDisk, unreadNode } from '#test/report-builder.ts'

/** As many readings as are kept, of a disk of its own, too. */
const fullSeries = (node: AuditedNode) =>
  Array.from({ length: 12 }).reduce<FillSeries | null>((series, _, index) => {
    const at = new Date(
      Date.parse('2026-11-14T05:00:00.123Z') + index * 16 * 3_600_000,
    ).toISOString()
    return withReading(series, { ...node, at })
  }, null)
const lineOf = (node: AuditedNode, rules: string[] = []) =>
  nodeFacts(node, comparedNode(node), rules, '2026-11-21T05-00-00Z', fullSeries(node))
// A live audit of a fleet is among them.
vi.setConfig({ testTimeout: 60_000 })

const bytesOf = (node: AuditedNode, rules: string[] = []) =>
  Buffer.byteLength(`${JSON.stringify(lineOf(node, rules))}\n`)

describe('the facts of a node and day', () => {
  it('take less than 2 KB of a node as a fleet has them, and a tenth of that where they lie', async () => {
    await labOf([fleet({ nodes: 60 })])
    const { nodes, document } = await auditLive()
    expect(nodes).toHaveLength(60)
    const rulesOn = (name: string) =>
      document.findings
        .filter(({ nodes: { sample } }) => sample.includes(name))
        .map(({ rule }) => rule)
    const lines = nodes.map(
      node => `${JSON.stringify(lineOf(node, rulesOn(node.identity.name)))}\n`,
    )
    expect(Math.max(...lines.map(line => Buffer.byteLength(line)))).toBeLessThanOrEqual(
      nodeFactsMaxBytes + 1,
    )
    expect(nodeFactsMaxBytes).toBe(4096)
    expect(gzipSync(lines.join('')).length / nodes.length).toBeLessThan(300)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      coverage: 'read',
      imageGC: { highThresholdPercent: expect.any(Number) },
      leftOut: 0,
    })
    expect(JSON.parse(lines[0]!).fill.readings).toHaveLength(fillLimits.readings)
  })

  it('take no more of a hostile one on which every rule fails, and say how many they left out', () => {
    const rules = Array.from(
      { length: 80 },
      (_, index) => `a-rule-with-a-long-name-that-is-number-${index}`,
    )
    for (const node of hostileReport().nodes)
      expect(bytesOf(node, rules)).toBeLessThanOrEqual(nodeFactsMaxBytes + 1)
    const [node] = hostileReport().nodes
    const kept = lineOf(node!, rules)
    expect(kept.rules.length + kept.thresholds!.length + kept.leftOut).toBe(
      80 + node!.prediction.eviction!.thresholds.length,
    )
  })

  it('are those of the last reading of a day, which an unread node does not take away', () => {
    const morning = [
      lineOf(auditedNode('a', sharedDisk(40))),
      lineOf(auditedNode('gone', sharedDisk(50))),
    ]
    const noon = [
      lineOf(unreadNode('a', [{ what: 'configz', message: 'HTTP 503' }])),
      lineOf(auditedNode('b', sharedDisk(60))),
    ]
    const day = mergedDay(morning, noon)
    expect(day.map(({ node, coverage }) => [node, coverage])).toEqual([
      ['a', 'read'],
      ['b', 'read'],
      ['gone', 'read'],
    ])
    const evening = mergedDay(day, [lineOf(auditedNode('a', sharedDisk(70)))])
    expect(evening.find(({ node }) => node === 'a')?.imageGC?.usagePercent).toBe(70)
    expect(mergedDay(evening, evening)).toEqual(evening)
  })

  it('have no day since which the use of images is known, if no image had room', () => {
    const node = { ...auditedNode('a', sharedDisk(40)), imagesSince: '2026-11-01' }
    const images: RememberedImage[] = [['web:v1', 7, '2026-11-01']]
    const happened: Happening[] = Array.from({ length: 8 }, (_, hour) => ({
      ...{ at: `2026-11-21T0${hour}:00:00Z`, what: 'evicted', resource: 'ephemeral-storage' },
      ...{ subject: `shop/${'w'.repeat(200)}`, message: 'm'.repeat(220) },
    }))
    expect(lineOf({ ...node, images }).imagesSince).toBe('2026-11-01')
    expect(lineOf({ ...node, images, happened })).toMatchObject({ images: [], imagesSince: null })
  })

  it('predict no further round after a lighter reading', () => {
    const earlier = lineOf(auditedNode('a', sharedDisk(90)))
    expect(earlier.imageGC).not.toBeNull()
    const [day] = withObservation(
      [{ ...earlier, imageGC: { ...earlier.imageGC!, predictedBytes: 5 } }],
      [earlier],
    )
    expect(day?.imageGC).toEqual({ ...earlier.imageGC, predictedBytes: null })
  })

  it('keep the last readings before evictions, in the same room', () => {
    const hour = (count: number) => `2026-11-21T${String(count).padStart(2, '0')}:00:00Z`
    const evicted = (count: number) => ({
      ...{ at: `${hour(count).slice(0, 14)}30:00Z`, what: 'evicted' as const },
      ...{ subject: `shop/web-${count}`, message: 'low' },
    })
    const reading = (node: AuditedNode, count: number) => [
      { ...lineOf(node), at: hour(count), happened: count === 0 ? [] : [evicted(count - 1)] },
    ]
    const dayOf = (node: AuditedNode, runs: number) =>
      Array.from({ length: runs }).reduce<NodeFacts[]>(
        (day, _, count) => mergedDay(day, reading(node, count)),
        [],
      )[0]!
    const basesOf = (day: NodeFacts) => day.beforeEvictions.map(({ at }) => at)
    const sound = auditedNode('a', sharedDisk(40))
    expect(basesOf(dayOf(sound, 3))).toEqual([hour(0), hour(1)])
    expect(basesOf(dayOf(sound, 6))).toEqual([hour(2), hour(3), hour(4)])
    for (const node of hostileReport().nodes)
      expect(Buffer.byteLength(JSON.stringify(dayOf(node, 6)))).toBeLessThanOrEqual(
        nodeFactsMaxBytes,
      )
    const [unread] = mergedDay(
      [dayOf(sound, 3)],
      reading(unreadNode('a', [{ what: 'configz', message: 'HTTP 503' }]), 3),
    )
    expect([unread?.at, unread?.happened.length]).toEqual([hour(2), 3])
  })
})
