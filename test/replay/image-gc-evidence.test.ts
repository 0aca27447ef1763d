import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import { prepareImages } from '#replay/image-gc/bounds.ts'
import { imageEvidence } from '#replay/image-gc/users.ts'
import { predictDeleteUnusedImages, predictImageGc } from '#replay/image-gc.ts'
import { kubeletOf, zeroTimeMs } from '#replay/times.ts'
import { inputOf } from '#test/at-the-door.ts'
import { removedAt } from '#test/removed-containers.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const minute = 60_000
const time = (ms: number) => new Date(ms).toISOString()
const kubelet = kubeletOf('v1.34.1')
const idOf = (index: number) => `sha256:${String(index).padStart(64, 'a')}`
const digestOf = (index: number) => `sha256:${String(index).padStart(64, 'd')}`

const image = (index: number, more: object = {}) => ({
  id: idOf(index),
  repoTags: [`docker.io/library/app-${index}:v1`],
  repoDigests: [`docker.io/library/app-${index}@${digestOf(index)}`],
  size: '1000',
  pinned: false,
  ...more,
})
const container = (id: string, index: number, more: object = {}) => ({
  id,
  image: { image: idOf(index) },
  imageRef: idOf(index),
  state: 'CONTAINER_RUNNING',
  labels: { 'io.kubernetes.pod.uid': 'uid', 'io.kubernetes.container.name': 'main' },
  ...more,
})
const record = (more: object): NodeRecord =>
  ({ kind: 'Node', cluster: 'lab', node: {}, pods: [], ...more }) as NodeRecord
const statusImages = (
  count: number,
  names = (index: number) => [
    `docker.io/library/app-${index}@${digestOf(index)}`,
    `app-${index}:v1`,
  ],
) => ({
  node: {
    status: {
      images: Array.from({ length: count }, (_, index) => ({
        names: names(index),
        sizeBytes: 1000 - index,
      })),
    },
  },
})
const pod = (imageID: string, more: object = {}, containerID = 'containerd://c1') => ({
  metadata: { uid: 'uid', name: 'pod' },
  spec: { containers: [{ name: 'main' }] },
  status: {
    containerStatuses: [{ name: 'main', image: 'app-0:v1', imageID, containerID, ...more }],
  },
})

const read = (more: object, version = kubelet) => imageEvidence(inputOf(record(more)), now, version)
const bounded = (
  more: object,
  { atMs = now, removed = [] as string[], perhaps = [] as string[], version = kubelet } = {},
) => {
  const node = read(more, version)
  const gone = new Map([...removedAt(atMs, perhaps, false), ...removedAt(atMs, removed)])
  const placeOf = ({ image }: { image: string }) =>
    node.images?.findIndex(listed => listed.image === image) ?? 0
  return prepareImages(node, atMs, gone).images.toSorted((a, b) => placeOf(a) - placeOf(b))
}
const inUse = (more: object, options = {}) => bounded(more, options).map(({ isInUse }) => isInUse)

describe('the list of images', () => {
  it("is the runtime's, with sizes that are text and all there are", () => {
    expect(
      read({
        runtime: {
          images: [image(0), image(1, { pinned: true, size: '12345678901' })],
          containers: [],
        },
      }),
    ).toMatchObject({
      isComplete: true,
      areUsersComplete: true,
      images: [
        {
          image: idOf(0),
          names: image(0).repoTags.concat(image(0).repoDigests),
          sizeBytes: 1000,
          isPinned: false,
        },
        { image: idOf(1), sizeBytes: 12345678901, isPinned: true },
      ],
      unknowns: [],
    })
  })

  it.each([
    ['localhost/kubernetes/pause:latest', true],
    ['localhost/kubernetes/pause', true],
    ['registry.k8s.io/pause:3.10', null],
  ])('takes an image that the build of the node pins for pinned: %s', (name, isPinned) => {
    expect(read(statusImages(1, () => [name])).images).toMatchObject([{ isPinned }])
  })

  it.each([
    { size: '-5', sizeBytes: null },
    { size: '1e9', sizeBytes: null },
    { size: 7, sizeBytes: 7 },
    { size: '99999999999999999999', sizeBytes: null },
    { size: undefined, sizeBytes: null },
  ])('takes the size $size for $sizeBytes', ({ size, sizeBytes }) => {
    expect(read({ runtime: { images: [image(0, { size })] } }).images).toMatchObject([
      { sizeBytes },
    ])
  })

  it('is not complete where an image of it makes no sense', () => {
    expect(read({ runtime: { images: [image(0), { size: '5' }, 'x'] } })).toMatchObject({
      isComplete: false,
      images: [{ image: idOf(0) }],
      unknowns: [{ what: 'runtime.images' }],
    })
  })

  it.each([
    { count: 49, configz: undefined, isComplete: true },
    { count: 50, configz: undefined, isComplete: false },
    { count: 50, configz: { kubeletconfig: { nodeStatusMaxImages: 51 } }, isComplete: true },
    { count: 60, configz: { kubeletconfig: { nodeStatusMaxImages: -1 } }, isComplete: true },
  ])(
    "of the node's status with $count images is complete: $isComplete",
    ({ count, configz, isComplete }) => {
      const evidence = read({ ...statusImages(count), configz })
      expect(evidence.isComplete).toBe(isComplete)
      expect(evidence.unknowns.map(({ what }) => what)).toEqual(
        isComplete ? [] : ['images beyond node.status.images'],
      )
      expect(evidence.images?.[0]).toMatchObject({
        ...{ image: `docker.io/library/app-0@${digestOf(0)}`, id: null, isPinned: null },
      })
    },
  )

  it.each([
    ['runs', idOf(7), { state: { running: {} } }, false],
    ['runs, by its name', 'app-1:v1', { state: { running: {} } }, true],
    ['has ended', idOf(7), { state: { terminated: {} } }, true],
  ])("of the node's status, where an image %s that it may lack", (_, imageID, more, isComplete) => {
    const pods = [pod(imageID, { image: imageID, ...more })]
    expect(read({ ...statusImages(3), pods }).isComplete).toBe(isComplete)
  })

  it.each([{}, statusImages(0)])('is not known where neither was read: %o', given => {
    expect(read(given)).toMatchObject({
      images: null,
      isComplete: false,
      unknowns: [{ what: 'images' }],
    })
  })
})

describe('the users of an image', () => {
  const images = [image(0), image(1)]

  it('trap 3: are its containers, whether they run or have exited', () => {
    const containers = [container('c1', 0, { state: 'CONTAINER_EXITED' })]
    expect(inUse({ runtime: { images, containers } })).toEqual([true, false])
    expect(bounded({ runtime: { images, containers } })[0]).toMatchObject({
      isCandidate: false,
      keptBecause: 'in-use',
    })
  })

  it('are no longer those that eviction has removed', () => {
    const containers = [container('c1', 0), container('c2', 0)]
    expect(inUse({ runtime: { images, containers } }, { removed: ['c1'] })).toEqual([true, false])
    expect(inUse({ runtime: { images, containers } }, { removed: ['c1', 'c2'] })).toEqual([
      false,
      false,
    ])
    // Who perhaps goes may hold it, or not.
    expect(
      inUse({ runtime: { images, containers } }, { removed: ['c1'], perhaps: ['c2'] }),
    ).not.toContain(true)
  })

  it('are not known without the containers, and not either from names where the ids are missing', () => {
    expect(inUse({ runtime: { images } })).toEqual([null, null])
    const runtime = {
      containers: [container('c1', 0, { imageRef: undefined, image: { image: 'app-0:v1' } })],
    }
    expect(inUse({ ...statusImages(2), runtime })).toEqual([null, null])
  })

  it.each([
    { version: 'v1.29.1', expected: [true, false] },
    { version: 'v1.30.1', expected: [false, true] },
  ])(
    'on $version are known by image_ref up to 1.29, by image_id since',
    ({ version, expected }) => {
      const containers = [container('c1', 0, { imageId: idOf(1) })]
      expect(inUse({ runtime: { images, containers } }, { version: kubeletOf(version) })).toEqual(
        expected,
      )
      expect(
        inUse(
          { runtime: { images, containers: [container('c1', 0, { imageId: '' })] } },
          { version: kubeletOf(version) },
        ),
      ).toEqual([true, false])
    },
  )

  it('are only possible by any other name than the id', () => {
    const named = (imageRef: string) => ({
      images,
      containers: [container('c1', 0, { imageRef, image: { image: 'app-1:v1' } })],
    })
    expect(inUse({ runtime: named(`docker.io/library/app-0@${digestOf(0)}`) })).toEqual([
      null,
      false,
    ])
    expect(inUse({ runtime: named('sha256:gone') })).toEqual([false, null])
  })

  it('are those whose id was not read, by the name that stands for it', () => {
    const of = (reference: string) => ({
      images,
      containers: [container('c1', 0, { imageRef: '', image: { image: reference } })],
    })
    expect(inUse({ runtime: of(idOf(1)) })).toEqual([false, true])
    expect(inUse({ runtime: of('app-1:v1') })).toEqual([false, null])
  })

  it('are no containers that upstream cannot convert', () => {
    expect(inUse({ runtime: { images, containers: [container('', 0), 'x'] } })).toEqual([
      false,
      false,
    ])
  })

  it.each([
    { imageID: `docker.io/library/app-0@${digestOf(0)}`, expected: true },
    { imageID: `docker-pullable://mirror.example/app@${digestOf(0)}`, expected: true },
    { imageID: digestOf(0), expected: true },
    // A tag may have moved since.
    { imageID: 'sha256:other', expected: null },
    { imageID: '', expected: null },
  ])('are seen by the API in the statuses of pods: $imageID', ({ imageID, expected }) => {
    expect(inUse({ ...statusImages(1), pods: [pod(imageID)] })).toEqual([expected])
    expect(inUse({ ...statusImages(1), pods: [pod(imageID)] }, { removed: ['c1'] })).toEqual([null])
  })

  it('are by the API in init and ephemeral containers too, and not before a container is made', () => {
    const status = { imageID: digestOf(0), containerID: 'containerd://c1' }
    for (const key of ['initContainerStatuses', 'ephemeralContainerStatuses']) {
      expect(inUse({ ...statusImages(1), pods: [{ status: { [key]: [status] } }] })).toEqual([true])
    }
    expect(inUse({ ...statusImages(1), pods: [pod(digestOf(0), {}, '')] })).toEqual([null])
  })

  describe('that mount it', () => {
    const version = kubeletOf('v1.35.0')
    const mounting = (reference: string, mounts = 'data', containers = ['main']) => ({
      ...pod(idOf(1)),
      spec: {
        containers: containers.map(name => ({
          name,
          volumeMounts: [{ name: mounts, mountPath: '/data' }],
        })),
        volumes: [{ name: 'data', image: { reference } }],
      },
    })
    const runtime = { images, containers: [container('c1', 1)] }
    const byDigest = `app-0@${digestOf(0)}`

    it('hold it where the gate is on', () => {
      expect(inUse({ runtime, pods: [mounting(byDigest)] }, { version })).toEqual([true, true])
      expect(inUse({ runtime, pods: [mounting(byDigest)] })).toEqual([false, true])
    })

    it.each([
      { what: 'by a tag', pods: [mounting('app-0:v1')], expected: null },
      { what: "by Docker Hub's host", pods: [mounting('docker.io/app-0:v1')], expected: null },
      {
        what: 'by its older host',
        pods: [mounting('index.docker.io/library/app-0:v1')],
        expected: null,
      },
      {
        what: 'by another host',
        pods: [mounting('registry-1.docker.io/app-0:v1')],
        expected: false,
      },
      {
        what: 'in a container that mounts another volume',
        pods: [mounting(byDigest, 'other')],
        expected: false,
      },
      {
        what: 'in a container that the manifest does not have',
        pods: [mounting(byDigest, 'data', ['other'])],
        expected: null,
      },
      {
        what: 'of a pod without containers',
        pods: [{ ...mounting(byDigest), metadata: { uid: 'other' } }],
        expected: false,
      },
      { what: 'where pods were not read', pods: null, expected: null },
    ])('$what: in use $expected', ({ pods, expected }) => {
      expect(inUse({ runtime, pods }, { version })[0]).toBe(expected)
    })

    it('do so by the API alone too', () => {
      expect(inUse({ ...statusImages(1), pods: [mounting(byDigest)] }, { version })).toEqual([true])
      expect(inUse({ runtime: { images, containers: [] }, pods: null }, { version })).toEqual([
        false,
        false,
      ])
    })
  })
})

describe('the times of an image', () => {
  const images = [image(0)]
  const known = (times: object, more: object = {}) => ({
    images: [{ id: idOf(0), ...times }],
    kubeletStartedAt: time(now - 60 * minute),
    ...more,
  })
  const timesOf = (
    times: object,
    options: {
      atMs?: number
      removed?: string[]
      containers?: object[]
      version?: typeof kubelet
    } = {},
  ) => {
    const runtime = { images, containers: options.containers ?? [] }
    const [only] = bounded({ runtime, known: known(times) }, options)
    const { firstDetected, lastUsed } = only ?? {}
    return {
      firstDetected: [firstDetected?.earliestMs, firstDetected?.latestMs],
      lastUsed: [lastUsed?.earliestMs, lastUsed?.latestMs],
    }
  }
  const start = now - 60 * minute
  const justBefore = (ms: number) => ms - 0.001

  it('are exact where they are known, to the fraction of a millisecond', () => {
    expect(timesOf({ firstDetected: time(start), lastUsed: '2026-11-21T11:59:00.0005Z' })).toEqual({
      firstDetected: [start, start],
      lastUsed: [now - minute + 0.5, now - minute + 0.5],
    })
  })

  it("are Go's zero time where that is written, and where null says never used", () => {
    expect(timesOf({ firstDetected: '0001-01-01T00:00:00Z', lastUsed: null })).toEqual({
      firstDetected: [zeroTimeMs, zeroTimeMs],
      lastUsed: [zeroTimeMs, zeroTimeMs],
    })
  })

  it('are those of the next detection where the kubelet has not listed it: at once, or within a period', () => {
    expect(timesOf({ firstDetected: null })).toEqual({
      firstDetected: [now, now],
      lastUsed: [zeroTimeMs, zeroTimeMs],
    })
    expect(timesOf({ firstDetected: null }, { atMs: now + minute }).firstDetected).toEqual([
      now,
      now + minute,
    ])
    expect(timesOf({ firstDetected: null }, { atMs: now + 20 * minute }).firstDetected).toEqual([
      now,
      now + 6 * minute,
    ])
  })

  it('lie since the start where nothing is known', () => {
    expect(timesOf({})).toEqual({
      firstDetected: [start, now],
      lastUsed: [zeroTimeMs, justBefore(now)],
    })
  })

  it('lie wherever they may where the start is not known either', () => {
    const [only] = bounded({ runtime: { images, containers: [] } })
    expect(only).toMatchObject({
      firstDetected: { earliestMs: zeroTimeMs, latestMs: now },
      lastUsed: { earliestMs: zeroTimeMs, lowestMs: zeroTimeMs, latestMs: justBefore(now) },
    })
  })

  it('bound each other: nothing is used before it is detected', () => {
    expect(timesOf({ lastUsed: time(now - 9 * minute) }).firstDetected).toEqual([
      start,
      now - 9 * minute,
    ])
    const [only] = bounded({
      runtime: { images, containers: [] },
      known: known({ firstDetected: time(now - 9 * minute) }),
    })
    expect(only?.lastUsed).toEqual({
      earliestMs: zeroTimeMs,
      lowestMs: now - 9 * minute,
      latestMs: justBefore(now),
    })
  })

  it('end with the record, however much later the round is, for what nothing uses', () => {
    expect(timesOf({}, { atMs: now + 60 * minute })).toEqual({
      firstDetected: [start, now + 6 * minute],
      lastUsed: [zeroTimeMs, now],
    })
  })

  it('of what a container holds are those of a period after both it and the kubelet ran, at the latest', () => {
    const since = (ms: number) => [container('c1', 0, { createdAt: `${ms}000000` })]
    expect(timesOf({}, { containers: since(now - 20 * minute) }).firstDetected).toEqual([
      start,
      now - 14 * minute,
    ])
    expect(timesOf({}, { containers: since(now - 90 * minute) }).firstDetected).toEqual([
      start,
      start + 6 * minute,
    ])
    expect(timesOf({}, { containers: since(now - minute) }).firstDetected).toEqual([start, now])
  })

  it.each(['0', 0, -5, 'soon', '', null])(
    'of what is held since %j are no closer for that',
    createdAt => {
      expect(
        timesOf({}, { containers: [container('c1', 0, { createdAt })] }).firstDetected,
      ).toEqual([start, now])
    },
  )

  it('of what is held since a number of nanoseconds are as close as since a text', () => {
    expect(
      timesOf({}, { containers: [container('c1', 0, { createdAt: (now - 20 * minute) * 1e6 })] })
        .firstDetected[1],
    ).toBeCloseTo(now - 14 * minute)
  })

  it('of what is held until it is removed are those of the last detection before', () => {
    const options = { containers: [container('c1', 0)], removed: ['c1'] }
    const times = { lastUsed: time(now - 3 * minute) }
    expect(timesOf(times, options).lastUsed).toEqual([now - 3 * minute, now - 3 * minute])
    expect(timesOf(times, { ...options, atMs: now + minute }).lastUsed).toEqual([
      now - 3 * minute,
      justBefore(now + minute),
    ])
    const late = justBefore(now + 60 * minute)
    expect(timesOf(times, { ...options, atMs: now + 60 * minute }).lastUsed).toEqual([
      late - 6 * minute,
      late,
    ])
    const unsure = {
      removed: ['c1'],
      containers: [container('c1', 0, { imageRef: '', image: { image: 'app-0:v1' } })],
    }
    expect(timesOf(times, { ...unsure, atMs: now + 60 * minute }).lastUsed).toEqual([
      now - 3 * minute,
      late,
    ])
  })

  it.each([
    { what: 'known', more: { known: { kubeletStartedAt: time(start) } }, expected: [start, start] },
    {
      what: 'the host',
      more: { host: { kubelet: { startedAt: time(start) } } },
      expected: [start, start + 20_000],
    },
    {
      what: 'the summary',
      more: {
        summary: {
          node: {
            systemContainers: [
              { name: 'pods', startTime: time(1) },
              { name: 'kubelet', startTime: time(now - 5) },
            ],
          },
        },
      },
      expected: [now - 5, now],
    },
    {
      what: 'known, at the very moment',
      more: { known: { kubeletStartedAt: time(now) } },
      expected: [now, now],
    },
    {
      what: 'nobody',
      more: {
        known: { kubeletStartedAt: 'yesterday' },
        host: { kubelet: { startedAt: time(now + 1) } },
      },
      expected: null,
    },
    {
      what: 'the host, where known is later than the record',
      more: {
        known: { kubeletStartedAt: time(now + 1) },
        host: { kubelet: { startedAt: time(start) } },
      },
      expected: [start, start + 20_000],
    },
  ])("the kubelet's start is known by $what", ({ more, expected }) => {
    const { kubeletStart } = read(more)
    expect(kubeletStart && [kubeletStart.earliestMs, kubeletStart.latestMs]).toEqual(expected)
  })
})

const recorded = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/real/${name}.json`, import.meta.url), 'utf8'))

it.each(['single-disk', 'split-disk'])(
  'reads a real node (%s): the API alone says no more than the runtime',
  name => {
    const { images } = recorded(`${name}-cri-images`)
    const pods = recorded(`${name}-pods`).items
    const node = recorded(`${name}-node`)
    const byRuntime = imageEvidence(
      inputOf(record({ node, pods, runtime: { images } })),
      now,
      kubelet,
    )
    const byApi = imageEvidence(inputOf(record({ node, pods })), now, kubelet)
    expect(byApi.images).toHaveLength(images.length)
    expect(
      byRuntime.images?.filter(({ isPinned }) => isPinned).flatMap(({ names }) => names[0]),
    ).toEqual(['127.0.0.1:15000/pause:3.10'])
    const used = (evidence: typeof byApi) =>
      (evidence.images ?? [])
        .flatMap(({ names, users }) =>
          users.some(({ isSure }) => isSure) ? names.filter(text => !text.includes('@')) : [],
        )
        .sort()
    expect(used(byApi)).toEqual(used(byRuntime))
    expect(used(byApi)).toContain('127.0.0.1:15000/workload:v1')
  },
)

it('takes any record: nothing throws, and nothing is NaN', () => {
  const part = fc.option(
    fc.oneof(
      fc.anything(),
      fc.record({
        images: fc.array(
          fc.oneof(
            fc.anything(),
            fc.record({
              id: fc.anything(),
              names: fc.anything(),
              size: fc.anything(),
              firstDetected: fc.anything(),
            }),
          ),
        ),
        containers: fc.array(
          fc.oneof(
            fc.anything(),
            fc.record({ id: fc.string(), image: fc.anything(), createdAt: fc.anything() }),
          ),
        ),
        kubelet: fc.anything(),
        kubeletStartedAt: fc.anything(),
        status: fc.record({ images: fc.array(fc.anything()) }),
      }),
    ),
  )
  const parts = fc.record({
    node: part,
    configz: part,
    summary: part,
    pods: part,
    runtime: part,
    host: part,
    known: part,
  })
  fc.assert(
    fc.property(parts, fc.constantFrom('v1.29.0', 'v1.36.0'), (more, version) => {
      const images = prepareImages(
        imageEvidence(inputOf(record(more)), now, kubeletOf(version)),
        now,
      )
      const policy = {
        highThresholdPercent: 85,
        lowThresholdPercent: 80,
        minimumAgeMs: minute,
        maximumAgeMs: minute,
      }
      const stats = { capacityBytes: 1000, availableBytes: 10 }
      const said = JSON.stringify([
        predictImageGc(policy, stats, images, kubeletOf(version)),
        predictDeleteUnusedImages(policy, images),
      ])
      expect(said).not.toContain('NaN')
      for (const values of Object.values<Float64Array>({ ...images.columns }))
        expect(values.every(value => !Number.isNaN(value))).toBe(true)
    }),
  )
})
