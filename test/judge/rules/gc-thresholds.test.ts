/** Boundaries of the rules about image GC and container GC. */
import { describe, expect, it } from 'vitest'
import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { containerGcFlagsOffDefault } from '#judge/rules/container-gc/container-gc-flags-off-default.ts'
import { deadContainerPile } from '#judge/rules/container-gc/dead-container-pile.ts'
import { imageAgeGcChurn } from '#judge/rules/image-gc/image-age-gc-churn.ts'
import { imageGcDead } from '#judge/rules/image-gc/image-gc-dead.ts'
import { imageGcDisabled } from '#judge/rules/image-gc/image-gc-disabled.ts'
import { narrowGcBand } from '#judge/rules/image-gc/narrow-gc-band.ts'
import { strandedDisk } from '#judge/rules/image-gc/stranded-disk.ts'
import { truncatedImageList } from '#judge/rules/image-gc/truncated-image-list.ts'
import { unpinnedSandboxImage } from '#judge/rules/image-gc/unpinned-sandbox-image.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { ImageDeletion } from '#model/prediction.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const gibibyte = 1024 ** 3
const judge = (rule: NodeRule | ContextRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeFor(rule, example, policy)
const state = (rule: NodeRule | ContextRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state
const failingOf = (rule: NodeRule | ContextRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}
const gc = (high: number, low: number) => ({
  enabled: high < 100,
  highThresholdPercent: high,
  lowThresholdPercent: low,
})

describe('image-gc-disabled', () => {
  it('asks whether the loop runs, which a maximum age can see to', () => {
    expect(state(imageGcDisabled, { imageGC: gc(100, 80) })).toBe('fail')
    expect(state(imageGcDisabled, { imageGC: { ...gc(100, 80), enabled: true } })).toBe('pass')
    expect(state(imageGcDisabled, { imageGC: gc(99, 80) })).toBe('pass')
  })

  it('proposes percentages that come before eviction', () => {
    const thresholds = [hard('nodefs.available', 30)]
    expect(failingOf(imageGcDisabled, { imageGC: gc(100, 80), thresholds }).fix?.config).toEqual({
      imageGCHighThresholdPercent: 66,
      imageGCLowThresholdPercent: 56,
    })
  })
})

describe('narrow-gc-band', () => {
  it.each([
    [85, 80, 'pass'],
    [85, 81, 'fail'],
    [70, 70, 'fail'],
    [3, 0, 'fail'],
    [100, 99, 'notApplicable'],
  ] as const)('%i to %i: %s', (high, low, expected) => {
    expect(state(narrowGcBand, { imageGC: gc(high, low) })).toBe(expected)
  })

  it('says what a round asks for', () => {
    expect(failingOf(narrowGcBand, { imageGC: gc(80, 79) }).consequence).toMatchSnapshot()
    expect(failingOf(narrowGcBand, { imageGC: gc(80, 77) }).consequence).toMatchSnapshot()
    expect(failingOf(narrowGcBand, { imageGC: gc(80, 77) }).fix?.config).toEqual({
      imageGCHighThresholdPercent: 80,
      imageGCLowThresholdPercent: 70,
    })
  })
})

describe('unreachable-gc-low-threshold', () => {
  const due = { triggered: true, usagePercent: 91, bytesToFree: 21 * gibibyte }

  it.each([
    [{ ...due, reachesLow: false, freedBytes: 0, shortfallBytes: 21 * gibibyte }, 'fail'],
    [{ ...due, reachesLow: true }, 'pass'],
    [{ ...due, reachesLow: null, freedBytes: null, shortfallBytes: null }, 'unknown'],
    [{ triggered: null, reachesLow: null }, 'unknown'],
    [
      { triggered: false, reachesLow: null, error: 'invalid capacity 0 on image filesystem' },
      'unknown',
    ],
    [{ triggered: false }, 'pass'],
    [gc(100, 80), 'notApplicable'],
  ] as const)('%j: %s', (imageGC, expected) => {
    expect(state(unreachableGcLowThreshold, { imageGC })).toBe(expected)
  })

  it('counts what goes for space, and is less certain where something goes by age before', () => {
    const image = (reason: ImageDeletion['reason']): ImageDeletion => ({
      image: 'a',
      names: [],
      sizeBytes: gibibyte,
      rank: 0,
      reason,
      certainty: 'certain',
    })
    const short = { ...due, reachesLow: false, freedBytes: gibibyte, shortfallBytes: 20 * gibibyte }
    const bySpace = failingOf(unreachableGcLowThreshold, {
      imageGC: { ...short, deletions: [image('space')] },
    })
    expect(bySpace.confidence).toBe('certain')
    expect(bySpace.consequence).toMatchSnapshot()
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC: { ...short, deletions: [image('age')] } })
        .confidence,
    ).toBe('likely')
  })
})

describe('image-gc-dead', () => {
  it.each([
    [
      { triggered: false, reachesLow: null, error: 'invalid capacity 0 on image filesystem' },
      'fail',
    ],
    [{ triggered: true, error: 'wanted to free' }, 'pass'],
    [{ triggered: null, error: null }, 'unknown'],
    [
      { triggered: null, error: 'invalid HighThresholdPercent 101, must be in range [0-100]' },
      'unknown',
    ],
    [{ triggered: false }, 'pass'],
    [gc(100, 80), 'notApplicable'],
  ] as const)('%j: %s', (imageGC, expected) => {
    expect(state(imageGcDead, { imageGC })).toBe(expected)
  })
})

describe('stranded-disk', () => {
  const disk = (gib: number) => ({
    capacityBytes: gib * gibibyte,
    availableBytes: 0,
    usedPercent: 0,
    inodes: 1,
    inodesFree: 1,
  })
  const example = (
    gib: number,
    ...thresholds: NonNullable<NodeExample['thresholds']>
  ): NodeExample => ({ filesystems: { nodefs: disk(gib), imagefs: disk(gib) }, thresholds })

  it.each<[string, NodeExample, string]>([
    ['exactly a tenth and 50 GiB', example(500, hard('nodefs.available', 50)), 'fail'],
    ['a little less than a tenth', example(501, hard('nodefs.available', 50)), 'pass'],
    ['a tenth, but less than 50 GiB', example(490, hard('nodefs.available', 49)), 'pass'],
    [
      'imagefs on the same disk',
      example(500, hard('nodefs.available', 10), hard('imagefs.available', 75)),
      'fail',
    ],
    ['a soft threshold', example(500, soft('nodefs.available', 75, 60_000)), 'fail'],
    ['inodes are no bytes', example(500, hard('nodefs.inodesFree', 75)), 'pass'],
    [
      'bytes not known',
      example(500, { ...hard('nodefs.available', 75), resolved: null }),
      'unknown',
    ],
    [
      'no disk known',
      { filesystems: { nodefs: null }, thresholds: [hard('nodefs.available', 75)] },
      'unknown',
    ],
    ['Amazon Linux on 100 GiB', {}, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(strandedDisk, node)).toBe(expected)
  })

  it('takes its limits from the policy', () => {
    const node = example(100, hard('nodefs.available', 10))
    expect(state(strandedDisk, node, { ...defaultPolicy, strandedGiB: 10 })).toBe('fail')
    expect(
      state(strandedDisk, node, { ...defaultPolicy, strandedGiB: 10, strandedPercent: 11 }),
    ).toBe('pass')
  })

  it('looks at each disk by itself, and proposes nothing for soft ones', () => {
    const node = example(900, hard('nodefs.available', 10), hard('imagefs.available', 135))
    const split = { ...node, filesystems: { ...node.filesystems, layout: 'imagefs' as const } }
    const failing = failingOf(strandedDisk, split)
    expect(failing.evidence[1]).toEqual({
      kind: 'summary',
      what: 'imagefs capacity',
      value: '966367641600 bytes (900.0 GiB)',
    })
    expect(failing.fix?.config.evictionHard).toMatchObject({
      'memory.available': '100Mi',
      'imagefs.available': '5%',
    })
    expect(
      failingOf(strandedDisk, example(500, soft('nodefs.available', 75, 60_000))).fix,
    ).toBeUndefined()
  })
})

describe('image-age-gc-churn', () => {
  it.each([
    ['0s', 'pass'],
    ['24h', 'pass'],
    ['23h59m59s', 'fail'],
    ['soon', 'unknown'],
    [undefined, 'pass'],
  ] as const)('%s: %s', (imageMaximumGCAge, expected) => {
    expect(state(imageAgeGcChurn, { configuration: { imageMaximumGCAge } })).toBe(expected)
  })

  it('does not apply before 1.29, which knows no maximum age', () => {
    expect(
      state(imageAgeGcChurn, {
        configuration: { imageMaximumGCAge: '1h' },
        identity: { kubeletVersion: 'v1.28.15' },
      }),
    ).toBe('notApplicable')
  })
})

describe('truncated-image-list', () => {
  const listed = (count: number) => ({
    status: { images: Array.from({ length: count }, () => ({ names: [] })) },
  })
  const present = (count: number) => ({ images: Array.from({ length: count }, () => ({})) })

  it.each([
    [49, undefined, null, 'pass', ''],
    [50, undefined, null, 'fail', 'possible'],
    [50, undefined, present(50), 'pass', ''],
    [50, undefined, present(51), 'fail', 'certain'],
    [50, -1, null, 'pass', ''],
    [50, 100, null, 'pass', ''],
  ] as const)(
    '%i listed, at most %s: %j',
    (count, nodeStatusMaxImages, runtime, expected, confidence) => {
      const outcome = judge(truncatedImageList, {
        node: listed(count),
        configuration: { nodeStatusMaxImages },
        runtime,
      })
      expect(outcome.state).toBe(expected)
      if (outcome.state === 'fail') expect(outcome.failing.confidence).toBe(confidence)
    },
  )
})

describe('unpinned-sandbox-image', () => {
  const pause = 'localhost/kubernetes/pause'
  const node = (image: object): NodeExample => ({
    runtime: { images: [image] },
    host: { containerd: { sandboxImage: pause } },
  })

  const byDigest = (digest: string, pinned: boolean): NodeExample => ({
    runtime: {
      images: [{ repoTags: [`${pause}:3.10`], repoDigests: [`${pause}@sha256:abc`], pinned }],
    },
    host: { containerd: { sandboxImage: `${pause}:3.10@${digest}` } },
  })

  it.each<[string, NodeExample, string]>([
    ['pinned', node({ repoTags: [pause], pinned: true }), 'pass'],
    ['not pinned', node({ repoTags: [pause], pinned: false }), 'fail'],
    ['pinned left out, as protobuf does with false', node({ repoTags: [pause] }), 'fail'],
    ['known by its latest tag', node({ repoTags: [`${pause}:latest`], pinned: false }), 'fail'],
    ['named by a tag and a digest', byDigest('sha256:abc', true), 'pass'],
    ['named by a tag and a digest, not pinned', byDigest('sha256:abc', false), 'fail'],
    ['named by a tag and another digest', byDigest('sha256:def', true), 'unknown'],
    ['not there', node({ repoTags: ['other'] }), 'unknown'],
    ['no name', { runtime: { images: [] }, host: {} }, 'unknown'],
    ['nobody asked', {}, 'unknown'],
    [
      'a kubelet that spares it',
      { ...node({ repoTags: [pause] }), identity: { kubeletVersion: 'v1.28.15' } },
      'notApplicable',
    ],
  ])('%s: %s', (_, example, expected) => {
    expect(state(unpinnedSandboxImage, example)).toBe(expected)
  })
})

describe('dead-container-pile', () => {
  const containers = (running: number, dead: number, other = 0) => ({
    runtime: {
      containers: [
        ...Array.from({ length: running }, () => ({ state: 'CONTAINER_RUNNING' })),
        ...Array.from({ length: dead }, () => ({ state: 'CONTAINER_EXITED' })),
        ...Array.from({ length: other }, () => ({ state: 'CONTAINER_CREATED' })),
      ],
    },
  })

  it.each([
    [containers(49, 50), 'fail'],
    [containers(50, 50), 'pass'],
    [containers(0, 49, 10), 'pass'],
    [{ runtime: {} }, 'unknown'],
    [{}, 'unknown'],
  ] as const)('%#: %s', (example, expected) => {
    expect(state(deadContainerPile, example)).toBe(expected)
  })
})

describe('container-gc-flags-off-default', () => {
  it.each([
    [[], 'pass'],
    [['--maximum-dead-containers-per-container', '1'], 'pass'],
    [['--maximum-dead-containers-per-container', '2'], 'fail'],
    [['--maximum-dead-containers=0'], 'fail'],
    [['--maximum-dead-containers=-7'], 'pass'],
    [['--minimum-container-ttl-duration=0'], 'pass'],
    [['--minimum-container-ttl-duration=1m'], 'fail'],
    [['--minimum-container-ttl-duration=1m', '--minimum-container-ttl-duration=0s'], 'pass'],
    [['--maximum-dead-containers-per-container-x=5'], 'pass'],
  ] as const)('%j: %s', (args, expected) => {
    expect(
      state(containerGcFlagsOffDefault, {
        host: { kubelet: { commandLine: ['kubelet', ...args] } },
      }),
    ).toBe(expected)
  })

  it('is unknown without a command line', () => {
    expect(state(containerGcFlagsOffDefault, { host: { kubelet: { commandLine: [] } } })).toBe(
      'unknown',
    )
    expect(state(containerGcFlagsOffDefault, { host: {} })).toBe('unknown')
  })
})
