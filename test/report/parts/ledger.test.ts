import { describe, expect, it } from 'vitest'
import type { Cause, Finding, StepActionId } from '#model/finding.ts'
import { type DiskHolder, shownLedger } from '#model/prediction.ts'
import { english } from '#report/languages/language.ts'
import { freeableText, ledgersView, ledgerText } from '#report/parts/ledger.ts'
import {
  adviceWith,
  assumptions,
  auditedNode,
  finding,
  findingsDocument,
  GiB,
  sharedDisk,
} from '#test/report-builder.ts'

const freeable = {
  ...{ unusedImageBytes: 5 * GiB, deadContainerBytes: null },
  ...{ debrisBytes: null, unusableBytes: null },
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

describe('what can be freed', () => {
  const node = auditedNode('a', sharedDisk(60), {
    ledger: {
      ...ledger,
      freeable: {
        ...{ ...freeable, unusedImageBytes: 5 * GiB, deadContainerBytes: 2 * GiB },
        ...{ debrisBytes: 3 * GiB, unrotatedLogBytes: 9 * GiB, unusableBytes: 9 * GiB },
      },
    },
  })
  const on = (more: Partial<Finding>) =>
    finding('high', {
      ...{ family: 'image-gc', cluster: node.cluster, nodes: { count: 1, sample: ['a'] } },
      ...more,
    })
  const freedBy = (findings: Finding[], nodes = [node]) => {
    const document = findingsDocument({ findings })
    const all = freeableText({ document, nodes }, english)
    const [shown] = ledgersView({ document, nodes, assumptions }, 1, english)?.nodes ?? []
    expect(shown?.ledger.free.join('. ')).toBe(all ?? '')
    return all?.replaceAll('\u00a0', ' ')
  }
  const setting = (high: number, low: number) =>
    on({
      fix: {
        config: { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low },
        durable: [],
      },
    })
  const withStep = (id: StepActionId, holder: DiskHolder = 'images-unused') =>
    on({
      cause: {
        ...{ kind: 'holder', holder, filesystem: 'nodefs', freedBy: 'nothing' },
        ...{ amount: { unit: 'bytes', low: 1, high: 1 }, owner: null, place: null },
      },
      steps: adviceWith('true').map(step => ({ ...step, action: { id } })),
    })

  it.each([
    [
      'the thresholds',
      [setting(50, 20)],
      'Up to 5.0 GiB of unused images on 1 node, freed once imageGCHighThresholdPercent is 50, or the kubelet deletes them all (highwater plan --prune-images)',
    ],
    ['thresholds that start no round', [setting(70, 50)], undefined],
    ['nothing', [on({})], undefined],
    [
      'all images, which are counted once',
      [withStep('prune-images'), setting(50, 20)],
      'Up to 5.0 GiB of unused images on 1 node, freed once the kubelet deletes them all (highwater plan --prune-images)',
    ],
    [
      'the folders of deleted pods',
      [withStep('delete-place', 'log-debris')],
      '3.0 GiB of logs and folders of deleted pods on 1 node, freed once somebody deletes them',
    ],
    ['the folder of something else', [withStep('delete-place', 'core-dumps')], undefined],
    [
      'most by two of three steps',
      [
        withStep('prune-dead-containers', 'dead-containers'),
        withStep('delete-pod-folder', 'orphaned-pods'),
        withStep('prune-images'),
      ],
      'Up to 5.0 GiB of unused images on 1 node, freed once the kubelet deletes them all (highwater plan --prune-images). 3.0 GiB of logs and folders of deleted pods on 1 node, freed once somebody deletes them',
    ],
  ])('is what a step of the report frees: %s', (_, findings, text) => {
    expect(freedBy(findings)).toBe(text)
  })

  it.each([
    ['pressure', 'deleted by the kubelet now, for disk pressure'],
    ['image-gc', 'deleted by the kubelet in the next round of image GC'],
  ] as const)(
    'are images that the kubelet deletes for %s, for page and terminal alike',
    (why, end) => {
      const own = node.details().ledger!
      const acting = { ...own.freeable, deletedNow: { why, bytes: 4 * GiB } }
      const ledger = { ...own, freeable: acting }
      const full = { ...node, prediction: sharedDisk(91), details: () => ({ ledger }) }
      const text = (nodes: string) => `Up to 4.0 GiB of unused images${nodes}, ${end}`
      for (const finding of [setting(50, 20), on({})])
        expect(freedBy([finding], [full])).toBe(text(' on 1 node'))
      const lines = ledgerText(ledger, english, assumptions.holders).join('\n')
      expect(lines.replaceAll('\u00a0', ' ')).toContain(text(''))
    },
  )

  it('is without a report the two largest sums, and names no small pod', () => {
    const pod = (name: string, gib: number) => ({
      ...{ namespace: 'shop', name, owner: null, bytes: gib * GiB, layerBytes: gib * GiB },
      ...{ logBytes: 0, volumeBytes: 0, requestBytes: null, limitBytes: null },
    })
    const filesystems = [
      {
        ...{ filesystem: 'nodefs' as const, capacityBytes: 80 * GiB, usedBytes: 40 * GiB },
        ...{ usedInodes: null, lines: [] },
      },
    ]
    const whole = {
      ...node.details().ledger!,
      filesystems,
      pods: [pod('large', 1), pod('small', 0.7)],
      owners: [
        { ...pod('', 0.9), owner: 'Deployment large', pods: 2 },
        { ...pod('', 0.7), owner: 'Deployment small', pods: 1 },
      ],
    }
    const text = ledgerText(whole, english, assumptions.holders)
      .join('\n')
      .replaceAll('\u00a0', ' ')
    expect(text).toContain('shop/large')
    expect(text).toContain('Deployment shop/large')
    expect(text).not.toContain('small')
    const [, free = ''] = text.split('What can be freed\n')
    // No step deletes the unused images.
    expect(free.split('\n').slice(0, 2)).toEqual([
      '  3.0 GiB of logs and folders of deleted pods, freed once somebody deletes them',
      '  2.0 GiB in dead containers, freed once their pods are deleted',
    ])
  })
})

it('names the largest images with their users, and unused ones with the last known users', () => {
  const image = (reference: string, gib: number, more: object) => ({
    ...{ holder: 'images-in-use' as const, filesystem: 'nodefs' as const, inodes: null },
    ...{ place: null, lowBytes: gib * GiB, highBytes: gib * GiB },
    owner: { kind: 'image' as const, reference, workloads: [], isInUse: true, ...more },
  })
  const whole = shownLedger({
    ...ledger,
    parts: [
      image('small:1', 0.5, {}),
      image('web:2', 4, { workloads: ['shop/Deployment web', 'shop/Job seed'] }),
      image('web:1', 6, { isInUse: false, lastUsers: ['shop/Deployment web'] }),
      image('old:1', 2, { isInUse: false }),
      image('who:1', 3, { isInUse: null }),
    ],
  })
  const text = ledgerText(whole, english, assumptions.holders).join('\n').replaceAll('\u00a0', ' ')
  expect(text).toContain(`Largest images
  6.0 GiB  web:1, unused, last known of Deployment shop/web
  4.0 GiB  web:2, used by Deployment shop/web, …
  3.0 GiB  who:1, users unknown
  2.0 GiB  old:1, unused
`)
  expect(text).not.toContain('small')
})
