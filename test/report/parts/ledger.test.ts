import { describe, expect, it } from 'vitest'
import type { Cause } from '#model/finding/cause.ts'
import type { RememberedImage } from '#model/history.ts'
import type { AuditReport } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
import { freeableText, ledgersView } from '#report/parts/ledger.ts'
import {
  assumptions,
  auditedNode,
  finding,
  findingsDocument,
  GiB,
  sharedDisk,
} from '#test/report-builder.ts'

const freeable = {
  ...{ nextImageGcBytes: null, unusedImageBytes: 5 * GiB, deadContainerBytes: null },
  ...{ unrotatedLogBytes: null, debrisBytes: null, totalBytes: 0, unusableBytes: null },
}
const ledger = {
  schema: 'highwater.ledger/1' as const,
  ...{
    isShared: true,
    filesystems: [],
    pods: [],
    owners: [],
    namespaces: [],
    freeable,
    volumes: null,
    volumesUnread: null,
  },
}

function freeWith(images: RememberedImage[], idleImageDays: number): string[] {
  const node = { ...auditedNode('a', sharedDisk(60), { ledger }), images }
  const on = finding('high', {
    family: 'image-gc',
    cluster: node.cluster,
    nodes: { count: 1, sample: ['a'] },
  })
  const report: Pick<AuditReport, 'document' | 'nodes' | 'assumptions'> = {
    document: findingsDocument({ findings: [on] }),
    nodes: [{ ...node, at: '2026-11-21T07:00:00Z' }],
    assumptions: { ...assumptions, idleImageDays },
  }
  const [shown] = ledgersView(report, 1, english)?.nodes ?? []
  return (shown?.ledger.free ?? []).map(text => text.replaceAll('\u00a0', ' '))
}

it('names the bytes of images that no container used for the days of the policy', () => {
  const images: RememberedImage[] = [
    ['old', 3 * GiB, '2026-11-14'],
    ['older', GiB, '2026-10-01'],
    ['recent', 8 * GiB, '2026-11-15'],
    ['used', 16 * GiB, null],
    ['unknown', 32 * GiB],
  ]
  expect(freeWith(images, 7)).toContain(
    'at least 4.0 GiB of images, by their sizes in the CRI, unused for 7 days or more',
  )
  const idle = (days: number) => freeWith(images, days).filter(text => text.includes('CRI'))
  expect(idle(8)[0]).toContain('1.0 GiB')
  expect(idle(90)).toEqual([])
})

it('is short: the largest holders of 95 % of a disk, at most four', () => {
  const brief = (...sizes: number[]) => {
    const holders = ['images', 'unread', 'kubelet', 'journal', 'pod-volumes'] as const
    const lines = sizes.map((bytes, index) => ({
      ...{ holder: holders[index]!, bytes, lowBytes: bytes, highBytes: bytes },
      ...{ inodes: null, source: 'du' as const },
    }))
    const usedBytes = sizes.reduce((sum, bytes) => sum + bytes, 0)
    const disk = { filesystem: 'nodefs' as const, capacityBytes: 100, usedBytes, usedInodes: null }
    const whole = { ...ledger, filesystems: [{ ...disk, lines: lines.toReversed() }] }
    const node = auditedNode('a', sharedDisk(60), { ledger: whole })
    const nodes = { count: 1, sample: ['a'] }
    const on = finding('high', { family: 'image-gc', cluster: node.cluster, nodes })
    const document = findingsDocument({ findings: [on] })
    const view = ledgersView({ document, nodes: [node], assumptions }, 1, english)
    return view?.nodes[0]?.brief.map(text => text.replaceAll('\u00a0', ' '))
  }
  expect(brief(76, 18, 2)).toEqual([
    'nodefs = imagefs: 96 B of 100 B used: 76 B images, 18 B not measured',
  ])
  expect(brief(20, 19, 18, 17, 16)?.[0]?.split(', ')).toHaveLength(4)
  expect(brief(0)).toEqual(['nodefs = imagefs: 0 B of 100 B used: 0 B images'])
})

it('says which amounts are unknown', () => {
  expect(freeWith([], 7)).toEqual([
    'an unknown amount by the next image GC',
    '5.0 GiB of unused images, with lower image GC thresholds',
    'an unknown amount in dead containers',
    'an unknown amount of logs above the size that rotation keeps',
    'an unknown amount of logs and folders of deleted pods',
    'an unknown amount unusable: the kubelet evicts before',
  ])
})

describe('the EBS volumes of a node', () => {
  const shown = (more: object, rule = {}) => {
    const node = auditedNode('a', sharedDisk(60), { ledger: { ...ledger, ...more } })
    const on = finding('low', {
      ...{ family: 'image-gc', cluster: node.cluster, nodes: { count: 1, sample: ['a'] } },
      ...rule,
    })
    const document = findingsDocument({ findings: [on] })
    const [first] = ledgersView({ document, nodes: [node], assumptions }, 1, english)?.nodes ?? []
    return first
  }
  const gp3 = { volumeId: 'vol-1', device: '/dev/xvda', type: 'gp3', sizeBytes: GiB, iops: 3000 }

  it('have their ids on the page and in the mail', () => {
    const text = '/dev/xvda: gp3, 1.0\u00a0GiB, 3,000 IOPS (vol-1)'
    expect(shown({ volumes: [gp3] })?.ledger.volumes).toEqual([text])
    expect(shown({ volumes: [gp3] })?.volumes).toEqual([text])
    expect(shown({ volumes: [] })?.volumes).toEqual([])
  })

  it('are unknown for the reason that EC2 gave', () => {
    const volumesUnread = 'ec2:DescribeVolumes is denied'
    expect(shown({ volumesUnread })?.ledger.volumes).toEqual([`unknown: ${volumesUnread}`])
    expect(shown({ volumesUnread })?.volumes).toEqual([])
  })

  it('are shown where the disk differs from the node class', () => {
    const about = (cause?: Cause) =>
      shown({ volumes: [gp3] }, { family: 'configuration', ...(cause && { cause }) })?.volumes
    const sizes = { device: null, declaredBytes: null, actualBytes: null }
    expect(about({ kind: 'device', what: 'differs', ...sizes })).toHaveLength(1)
    expect(about()).toBeUndefined()
  })
})

it('names nodes with a finding about a disk whose size was not read', () => {
  const nodes = ['a', 'b', 'c', 'd'].map(name => auditedNode(name, sharedDisk(60)))
  const sample = nodes.map(({ identity }) => identity.name)
  const { cluster } = nodes[0]!
  const on = finding('high', { family: 'eviction', cluster, nodes: { count: 4, sample } })
  const document = findingsDocument({ findings: [on] })
  const view = ledgersView({ document, nodes, assumptions }, 1, english)
  const [a, b, c] = sample.map(name => `${name}, cluster ${cluster}`)
  expect(view).toMatchObject({
    nodes: [],
    leftOut: [`Unknown on 4 nodes, because no size of a disk was read: ${a}; ${b}; ${c}; …`],
  })
})

it('frees unused images after the step that lowers the thresholds', () => {
  const unusedImageBytes = 5 * GiB
  const node = auditedNode('a', sharedDisk(60), {
    ledger: { ...ledger, freeable: { ...freeable, unusedImageBytes } },
  })
  const text = (high: number, low: number) => {
    const fix = {
      config: { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low },
      ...{ durable: [], commands: [] },
    }
    const cluster = node.cluster
    const on = { ...finding('high', { cluster, nodes: { count: 1, sample: ['a'] } }), fix }
    const document = findingsDocument({ findings: [on] })
    return freeableText({ document, nodes: [node] }, english)?.replaceAll('\u00a0', ' ')
  }
  expect(text(50, 20)).toBe(
    'Up to 5.0 GiB of unused images on 1 node, freed once imageGCHighThresholdPercent is 50',
  )
  expect(text(70, 50)).toBeUndefined()
})
