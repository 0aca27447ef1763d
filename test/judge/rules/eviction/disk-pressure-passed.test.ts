import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { diskPressurePassed } from '#judge/rules/eviction/disk-pressure-passed.ts'
import type { HolderPart } from '#model/prediction.ts'
import { exampleTime, hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const refused = 'Pod was rejected: The node had condition: [DiskPressure]. '
const low = 'The node was low on resource: ephemeral-storage. '

const evicted = (message: string, hoursAgo: number) => ({
  metadata: { namespace: 'zim', name: `metrics-${hoursAgo}`, uid: `metrics-${hoursAgo}` },
  status: {
    ...{ phase: 'Failed', reason: 'Evicted', message },
    startTime: new Date(Date.parse(exampleTime) - hoursAgo * 3_600_000).toISOString(),
  },
})

/** One container holds so many GiB, and all other pods of the namespace so many more. */
function example(gib: number, others: number, message = low, hoursAgo = 2): NodeExample {
  const part: HolderPart = {
    ...{ holder: 'writable-layers', filesystem: 'nodefs', inodes: null, place: null },
    ...{ lowBytes: gib * gibibyte, highBytes: gib * gibibyte },
    owner: {
      ...{ kind: 'container', container: 'app' },
      ...{ namespace: 'zim', pod: 'metrics-1', workload: 'Deployment metrics' },
    },
  }
  const bytes = (gib + others) * gibibyte
  const use = { bytes, layerBytes: bytes, logBytes: 0, volumeBytes: 0, pods: 2 }
  const group = { namespace: 'zim', owner: null, requestBytes: null, limitBytes: null, ...use }
  return {
    held: { 'writable-layers': gib + others },
    ofPods: { parts: [part], namespaces: [group] },
    pods: [evicted(message, hoursAgo)],
  }
}

/** So long under DiskPressure, with room above the threshold. */
function under(minutes?: number): NodeExample {
  const since = new Date(Date.parse(exampleTime) - (minutes ?? 0) * 60_000).toISOString()
  const condition = { type: 'DiskPressure', status: 'True' }
  return {
    ...example(16, 1),
    conditions: { DiskPressure: 'True' },
    ...(minutes !== undefined && {
      node: { status: { conditions: [{ ...condition, lastTransitionTime: since }] } },
    }),
  }
}

itJudgesExamples(diskPressurePassed, { bad: example(16, 1), good: example(9, 1) })

it.each<[string, NodeExample, string]>([
  ['refused, and one container holds most', example(16, 1, refused), 'fail'],
  ['evicted by its own limit', example(16, 1, 'Usage of EmptyDir volume "a" exceeds.'), 'pass'],
  ['evicted for memory', example(16, 1, 'The node was low on resource: memory. '), 'pass'],
  ['eight days ago', example(16, 1, low, 8 * 24), 'pass'],
  ['others hold more', example(16, 17), 'pass'],
  ['under pressure since an unknown time', under(), 'pass'],
  ['under pressure for 24 min', under(24), 'fail'],
  ['under pressure for 25 min', under(25), 'pass'],
  [
    'under pressure for 29 min, of which 10 are configured',
    { ...under(29), configuration: { evictionPressureTransitionPeriod: '10m0s' } },
    'fail',
  ],
  ['evicting', { ...example(16, 1), thresholds: [hard('nodefs.available', 10, 9)] }, 'pass'],
  ['pods unread', { ...example(16, 1), pods: null }, 'unknown'],
])('%s: %s', (_, given, expected) => {
  expect(state(diskPressurePassed, given)).toBe(expected)
})

it('names the owner and what to set', () => {
  expect(failingOf(diskPressurePassed, example(16, 1))).toMatchObject({
    cause: { holder: 'writable-layers', owner: { namespace: 'zim', container: 'app' } },
    steps: [{ id: 'set-ephemeral-storage', bytes: 16 * gibibyte }],
  })
})

/** The pods write little; images hold so many GiB of the disk of 100. */
const ofImages = (gib: number, hoursAgo = 2): NodeExample => ({
  ...{ held: { 'images-in-use': gib }, pods: [evicted(low, hoursAgo)] },
})

it.each([
  [69, 2, 'pass'],
  [72, 2, 'fail'],
  [72, 8 * 24, 'pass'],
])('images hold %s %% of the disk %s h after an eviction: %s', (gib, hoursAgo, expected) => {
  const given = ofImages(gib, hoursAgo)
  expect(state(diskPressurePassed, given)).toBe(expected)
  if (expected === 'fail')
    expect(failingOf(diskPressurePassed, given)).toMatchObject({
      title: 'Pods were evicted or refused for this disk, and most of it is still used',
      cause: { kind: 'holder', holder: 'images-in-use' },
      steps: [{ id: 'larger-disk' }],
    })
})

it('names what holds the fullest disk under a pressure that has just begun', () => {
  const { title, cause, seen } = failingOf(diskPressurePassed, under(1))
  expect(title).toBe('The node reports DiskPressure, and no threshold is met at this moment')
  expect(cause).toMatchObject({ kind: 'holder', holder: 'writable-layers' })
  expect(seen).toContain('DiskPressure is True since')
})

const using = (used: string) =>
  `${low}Container app was using ${used}, request is 0, has larger consumption of ephemeral-storage. `

/** The disk of 100 GiB has so much left before eviction, and two evicted pods of a Job had written so much. */
const nightJob = (leftGib: number, used: string, hoursAgo = 2): NodeExample => ({
  ...example(1, 1),
  thresholds: [hard('nodefs.available', 10, 10 + leftGib)],
  pods: [hoursAgo, hoursAgo + 1].map(hours => {
    const pod = evicted(using(used), hours)
    const ownerReferences = [{ kind: 'Job', name: 'backup-1', uid: 'backup-1', controller: true }]
    return { ...pod, metadata: { ...pod.metadata, ownerReferences } }
  }),
})

it.each<[string, NodeExample, string]>([
  ['more than is left', nightJob(5, '6Gi'), 'high'],
  ['more than is left, two days ago', nightJob(5, '6Gi', 48), 'medium'],
  ['half of what is left', nightJob(11, '6Gi'), 'medium'],
  ['a quarter of the disk, of which more is left', nightJob(60, '26Gi'), 'medium'],
  ['little of what is left', nightJob(13, '6Gi'), 'pass'],
  ['little of the disk', nightJob(4, '4Gi'), 'pass'],
])('evicted pods had written %s: %s', (_, given, expected) => {
  if (expected === 'pass') return expect(state(diskPressurePassed, given)).toBe('pass')
  const other = evicted(using('1Gi'), 0.5)
  const failing = failingOf(diskPressurePassed, { ...given, pods: [...given.pods!, other] })
  expect(failing.severity ?? 'medium').toBe(expected)
  expect(failing.seen).toMatch(
    /^2 pods of Job zim\/backup-1 were evicted .* had written (?:6|26)\.0 GiB/,
  )
  expect(failing.steps).toMatchObject([
    { id: 'move-to-volume', variant: 'needed', owner: { container: 'app' } },
  ])
})

it.each<[string, NodeExample, string]>([
  ['2Gi', example(20, 1), 'spread-pods'],
  ['2Gi', { ...example(20, 1), thresholds: [hard('nodefs.available', 10, 25)] }, 'spread-pods'],
  // Less than it was using, but it fits beside no other: nothing else holds the disk.
  ['2Gi', { ...example(20, 1), thresholds: [hard('nodefs.available', 10, 11)] }, 'move-to-volume'],
  ['0', example(20, 1), 'move-to-volume'],
  ['40Gi', example(20, 1), 'move-to-volume'],
])('a request of %s', (request, given, step) => {
  const message = `${low}Container app was using 30Gi, request is ${request}, has larger consumption of ephemeral-storage. `
  const failing = failingOf(diskPressurePassed, { ...given, pods: [evicted(message, 2)] })
  expect(failing.steps?.[0]?.id).toBe(step)
  expect(failing.seen?.includes('requests only 2.0 GiB')).toBe(step === 'spread-pods')
})

it.each([
  ['began with the eviction', 121, 'A pod was evicted that had written much of the disk'],
  ['since an unknown time', undefined, 'A pod was evicted that had written much of the disk'],
  [
    'began long after it',
    10,
    'The node reports DiskPressure, and no threshold is met at this moment',
  ],
])('explains a pressure that is still reported by an evicted writer: %s', (_, minutes, title) => {
  const { conditions, node } = under(minutes)
  const given = { ...nightJob(5, '6Gi'), conditions, ...(node && { node }) }
  expect(failingOf(diskPressurePassed, given)).toMatchObject({ title })
})

it.each([
  ['29Gi', 'set-ephemeral-storage'],
  ['31Gi', 'move-to-volume'],
])('names who holds more: a container now has 30 GiB, an evicted one had %s', (used, step) => {
  const { steps } = failingOf(diskPressurePassed, example(30, 1, using(used)))
  expect(steps?.[0]?.id).toBe(step)
})

it('compares what containers wrote with the disk of images, where that has their layers', () => {
  const { held: _, ...given } = nightJob(5, '6Gi')
  const split = { layout: 'imagefs' as const }
  const disk = (filesystem: 'nodefs' | 'imagefs', gib: number) => ({
    ...{ filesystem, capacityBytes: gib * gibibyte, usedBytes: 0, usedInodes: null, lines: [] },
  })
  const stateOf = (imagefsGib: number) => {
    const filesystems = [disk('nodefs', 20), disk('imagefs', imagefsGib)]
    return state(diskPressurePassed, {
      ...given,
      ...{ filesystems: split, thresholds: [], ofPods: { filesystems, parts: [] } },
    })
  }
  expect(stateOf(20)).toBe('fail')
  expect(stateOf(100)).toBe('pass')
})

it.each([
  ['26Gi', 'fail'],
  ['24Gi', 'pass'],
])('a pod that was evicted had written %s, and nothing holds as much now: %s', (used, is) => {
  const given = example(1, 1, using(used))
  expect(state(diskPressurePassed, given)).toBe(is)
  if (is === 'fail')
    expect(failingOf(diskPressurePassed, given)).toMatchObject({
      title: 'A pod was evicted that had written much of the disk',
      steps: [{ id: 'move-to-volume', owner: { container: 'app' }, variant: 'needed' }],
    })
})
