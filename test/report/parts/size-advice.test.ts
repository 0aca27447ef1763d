import { describe, expect, it } from 'vitest'
import type { DiskLedger } from '#model/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
import { sizeAdvice } from '#report/parts/consumers.ts'
import { assumptions, auditedNode, sharedDisk } from '#test/report-builder.ts'

const GiB = 1024 ** 3
const plain = (text: string) => text.replaceAll('\u00a0', ' ')

/** 100 GiB, image GC at 80 %, eviction below 10 %. */
function grown(name: string, usedGiB: number, gibADay: number, unusedGiB: number | null) {
  const node: AuditedNode = auditedNode(name, sharedDisk(usedGiB))
  const nodefs = {
    ...node.prediction.filesystems.nodefs!,
    capacityBytes: 100 * GiB,
    availableBytes: (100 - usedGiB) * GiB,
  }
  const rate = (gibADay * GiB) / 24
  const threshold = node.prediction.eviction!.thresholds.find(
    ({ signal, hard }) => hard && signal === 'nodefs.available',
  )!
  const bytes = unusedGiB === null ? null : unusedGiB * GiB
  const freeable = { unusedImageBytes: bytes }
  const lines = [{ holder: 'images-unused', bytes }]
  const unused = { filesystem: 'nodefs', capacityBytes: 100 * GiB, lines }
  return {
    ...node,
    prediction: {
      ...node.prediction,
      filesystems: { ...node.prediction.filesystems, layout: 'shared' as const, nodefs },
      imageGC: { ...node.prediction.imageGC!, enabled: true, highThresholdPercent: 80 },
      eviction: {
        ...node.prediction.eviction!,
        thresholds: [{ ...threshold, value: '10%', resolved: 10 * GiB }],
      },
    },
    growth: {
      nodefs: {
        ...{ isSeen: true as const, overMs: 1, readings: 9, falls: 0 },
        bytesPerHour: { min: rate, median: rate, max: rate },
      },
    },
    details: () => ({ ledger: { freeable, filesystems: [unused] as unknown } as DiskLedger }),
  }
}

const advice = (...nodes: AuditedNode[]) => sizeAdvice(nodes, assumptions, english).map(plain)

describe('the advised size of a disk', () => {
  it('holds what stays after image GC and a week of growth below the high threshold', () => {
    // 60 GiB stay, 7 × 4 GiB come: 88 GiB are 80 % of 110 GiB.
    const [text] = advice(grown('a', 80, 4, 20), grown('b', 50, 1, 20))
    expect(text).toContain('110.0 GiB instead of 100.0 GiB')
    expect(text).toContain('2 of 2 nodes')
    // 2 nodes, 10 GiB, 0.08 USD.
    expect(text).toContain('about 1.60 USD a month more')
  })

  it('may be smaller, and is not given where the change is small', () => {
    expect(advice(grown('a', 40, 1, 10))[0]).toContain('47.0 GiB instead of 100.0 GiB')
    expect(advice(grown('a', 40, 1, 10))[0]).toContain('less')
    expect(advice(grown('a', 80, 2, 20))).toEqual([])
  })

  it('names a disk of images that is none of nodefs, and is none for an instance store', () => {
    const node = grown('a', 80, 4, 20)
    const { filesystems } = node.prediction
    const [held] = node.details().ledger!.filesystems
    const on = (sizeGiB: number) => ({
      ...node,
      prediction: {
        ...node.prediction,
        filesystems: { ...filesystems, layout: 'imagefs' as const, imagefs: filesystems.nodefs },
      },
      growth: { imagefs: node.growth.nodefs },
      details: () => ({
        ledger: {
          ...node.details().ledger!,
          filesystems: [
            // A stranger of the other disk.
            { ...held!, lines: [{ holder: 'leftover-snapshots', lowBytes: 30 * GiB } as never] },
            { ...held!, filesystem: 'imagefs' as const },
          ],
          volumes: [{ sizeBytes: sizeGiB * GiB }] as never,
        },
      }),
    })
    expect(advice(on(100))[0]).toContain('prod-eu / general / imagefs: 110.0 GiB instead of')
    expect(advice(on(20))).toEqual([])
  })

  it('is unknown without the use of images, growth, or a high threshold before eviction', () => {
    const node = grown('a', 80, 4, 20)
    const { prediction } = node
    expect(advice(grown('a', 80, 4, null))).toEqual([])
    expect(advice({ ...node, growth: {} })).toEqual([])
    const line = { holder: 'leftover-snapshots', lowBytes: 30 * GiB }
    const filesystems = [{ filesystem: 'nodefs', capacityBytes: 100 * GiB, lines: [line] }]
    const ledger = { ...node.details().ledger!, filesystems: filesystems as never }
    expect(advice({ ...node, details: () => ({ ledger }) })).toEqual([])
    const imageGC = { ...prediction.imageGC, highThresholdPercent: 95 }
    expect(advice({ ...node, prediction: { ...prediction, imageGC } })).toEqual([])
  })
})
