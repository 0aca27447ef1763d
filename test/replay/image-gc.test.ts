import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { ImageDeletion, Unknown } from '#model/prediction.ts'
import { prepareImages } from '#replay/image-gc/bounds.ts'
import { type ImageGcPolicy, imageGcPolicyError, imageGcPolicyOf } from '#replay/image-gc/policy.ts'
import { imageEvidence } from '#replay/image-gc/users.ts'
import { predictDeleteUnusedImages, predictImageGc } from '#replay/image-gc.ts'
import { kubeletOf } from '#replay/times.ts'
import { inputOf } from '#test/at-the-door.ts'
import { removedAt } from '#test/removed-containers.ts'

const minute = 60_000
const now = Date.parse('2026-11-21T12:00:00Z')
const newest = kubeletOf('v1.37.0')
const kubelet = kubeletOf('v1.34.1')
const filesystem = (capacityBytes: number | null, availableBytes: number | null) => ({
  capacityBytes,
  availableBytes,
})
const policyOf = (
  highThresholdPercent: number,
  lowThresholdPercent: number,
  more: Partial<ImageGcPolicy> = {},
): ImageGcPolicy => ({
  highThresholdPercent,
  lowThresholdPercent,
  minimumAgeMs: 2 * minute,
  maximumAgeMs: 0,
  ...more,
})
const nothingRead = prepareImages(imageEvidence(inputOf({ node: {} }), now, newest), now)
const predict = (
  high: number,
  low: number,
  capacityBytes: number | null,
  availableBytes: number | null,
) =>
  predictImageGc(
    policyOf(high, low),
    filesystem(capacityBytes, availableBytes),
    nothingRead,
    newest,
  ).prediction

describe('how full the disk is', () => {
  it.each([
    {
      availableBytes: 13_741_878_804,
      triggered: true,
      usagePercent: 85,
      bytesToFree: 3_435_469_701,
    },
    { availableBytes: 13_741_878_805, triggered: false, usagePercent: 84, bytesToFree: 0 },
  ])(
    'trap 1: fires above 84 % used with 85, not at 85: $availableBytes',
    ({ availableBytes, ...expected }) => {
      expect(predict(85, 80, 85_886_742_528, availableBytes)).toMatchObject(expected)
    },
  )

  it('trap 2: wants nothing, or less, where the low threshold is reached already', () => {
    expect(predict(85, 85, 2003, 301)).toMatchObject({ triggered: true, bytesToFree: -1 })
  })

  it('says how many bytes may still be written: that many trigger it, one less does not', () => {
    const capacity = fc.oneof(
      fc.integer({ min: 1, max: 1e6 }),
      fc.maxSafeInteger().map(number => Math.abs(number) + 1),
    )
    fc.assert(
      fc.property(
        capacity,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 99 }),
        (capacityBytes, share, high) => {
          const availableBytes = Math.min(capacityBytes, Math.floor(capacityBytes * share))
          const { bytesUntilTrigger } = predict(high, 0, capacityBytes, availableBytes)
          const triggeredWith = (written: number) =>
            predict(high, 0, capacityBytes, availableBytes - written).triggered
          expect(triggeredWith(bytesUntilTrigger ?? Number.NaN)).toBe(true)
          if (bytesUntilTrigger !== 0)
            expect(triggeredWith((bytesUntilTrigger ?? Number.NaN) - 1)).toBe(false)
        },
      ),
    )
  })

  it('counts in whole bytes where a double cannot: a disk of 100 TiB', () => {
    const capacity = 100 * 1024 ** 4 + 1
    expect(predict(85, 80, capacity, 0).bytesToFree).toBe(Number((BigInt(capacity) * 20n) / 100n))
  })

  it('takes more available than there is for an empty disk', () => {
    expect(predict(85, 80, 1000, 2000)).toMatchObject({
      usagePercent: 0,
      triggered: false,
      bytesUntilTrigger: 841,
    })
  })

  it('takes a missing number for 0, as the kubelet does', () => {
    expect(predict(85, 80, 1000, null)).toMatchObject({
      usagePercent: 100,
      triggered: true,
      bytesToFree: 200,
    })
    expect(predict(85, 80, null, 5)).toMatchObject({
      triggered: false,
      usagePercent: null,
      freedBytes: 0,
      reachesLow: null,
      error: 'invalid capacity 0 on image filesystem',
    })
  })

  it('is not known of a filesystem that was not observed', () => {
    expect(predictImageGc(policyOf(85, 80), null, nothingRead, newest)).toEqual({
      prediction: {
        enabled: true,
        highThresholdPercent: 85,
        lowThresholdPercent: 80,
        triggered: null,
        usagePercent: null,
        bytesUntilTrigger: null,
        startsAboveUsedPercent: 84,
        startsBelowAvailableBytes: null,
        bytesToFree: null,
        reachesLow: null,
        freedBytes: null,
        shortfallBytes: null,
        deletableBytes: null,
        error: null,
        deletions: null,
        kept: null,
      },
      unknowns: [
        { what: 'images', effect: 'which images the node has is not known, and so not which go' },
      ],
    })
  })

  it.each([
    { version: 'v1.29.15', maximumAgeMs: 0, enabled: false },
    { version: 'v1.29.15', maximumAgeMs: 1, enabled: false },
    { version: 'v1.30.0', maximumAgeMs: 0, enabled: false },
    { version: 'v1.30.0', maximumAgeMs: 1, enabled: true },
  ])(
    'means nothing to 100 on $version, with a maximum age of $maximumAgeMs: enabled $enabled',
    ({ version, maximumAgeMs, enabled }) => {
      const policy = policyOf(100, 80, { maximumAgeMs })
      const { prediction } = predictImageGc(
        policy,
        filesystem(1000, 0),
        nothingRead,
        kubeletOf(version),
      )
      expect(prediction).toMatchObject({
        enabled,
        triggered: enabled,
        usagePercent: 100,
        bytesToFree: enabled ? 200 : 0,
      })
      expect(
        predictImageGc(policy, null, nothingRead, kubeletOf(version)).prediction.triggered,
      ).toBe(enabled ? null : false)
      expect(
        predictImageGc(policy, filesystem(0, 0), nothingRead, kubeletOf(version)).prediction.error,
      ).toBe(enabled ? 'invalid capacity 0 on image filesystem' : null)
    },
  )
})

describe('imageGcPolicyError', () => {
  it.each([
    [85, 80, null],
    [0, 0, null],
    [99, 99, null],
    [99, 0, null],
    [101, 80, 'invalid HighThresholdPercent 101, must be in range [0-100]'],
    [-1, -2, 'invalid HighThresholdPercent -1, must be in range [0-100]'],
    [85, -1, 'invalid LowThresholdPercent -1, must be in range [0-100]'],
    [85, 101, 'invalid LowThresholdPercent 101, must be in range [0-100]'],
    [80, 81, 'LowThresholdPercent 81 can not be higher than HighThresholdPercent 80'],
  ])('says of high %i and low %i: %s', (high, low, error) => {
    expect(imageGcPolicyError({ highThresholdPercent: high, lowThresholdPercent: low })).toBe(error)
    expect(predict(high, low, 1000, 0)).toMatchObject({
      error,
      triggered: error === null ? true : null,
    })
  })
})

it('takes 100 for both thresholds', () => {
  expect(imageGcPolicyError({ highThresholdPercent: 100, lowThresholdPercent: 100 })).toBeNull()
})

describe('imageGcPolicyOf', () => {
  const read = (
    configuration: KubeletConfiguration,
    version = 'v1.34.1',
    gates?: Record<string, boolean>,
  ) => imageGcPolicyOf(configuration, kubeletOf(version, gates))

  it('takes what the configuration says, and the defaults for what it does not', () => {
    expect(read({})).toEqual({
      highThresholdPercent: 85,
      lowThresholdPercent: 80,
      minimumAgeMs: 120_000,
      maximumAgeMs: 0,
    })
    const given = {
      imageGCHighThresholdPercent: 70,
      imageGCLowThresholdPercent: 50,
      imageMinimumGCAge: '0s',
      imageMaximumGCAge: '36h',
    }
    expect(read(given)).toEqual({
      highThresholdPercent: 70,
      lowThresholdPercent: 50,
      minimumAgeMs: 0,
      maximumAgeMs: 36 * 60 * minute,
    })
  })

  it('knows no policy without whole percentages and durations that Go reads', () => {
    expect(read({ imageMinimumGCAge: 'soon' })).toBeNull()
    expect(read({ imageMaximumGCAge: '1y' })).toBeNull()
    expect(read({ imageGCHighThresholdPercent: 85.5 })).toBeNull()
    expect(read({ imageGCLowThresholdPercent: 1e300 })).toBeNull()
  })

  it.each<{ version: string; gates: Record<string, boolean>; isOn: boolean }>([
    { version: 'v1.29.1', gates: {}, isOn: false },
    { version: 'v1.29.1', gates: { ImageMaximumGCAge: true }, isOn: true },
    { version: 'v1.30.1', gates: {}, isOn: true },
    { version: 'v1.30.1', gates: { ImageMaximumGCAge: false }, isOn: false },
    { version: 'v1.36.1', gates: {}, isOn: true },
  ])(
    'has the maximum age behind its gate: $version with $gates: $isOn',
    ({ version, gates, isOn }) => {
      expect(read({ imageMaximumGCAge: '1h' }, version, gates)?.maximumAgeMs).toBe(
        isOn ? 60 * minute : 0,
      )
    },
  )
})

/** One image; its times in minutes before now, absent: not known. Its id is `sha256:` and the name. */
interface Image {
  detected?: number | null
  used?: number | null
  size?: number | null
  pinned?: boolean
  isInUse?: boolean
}
interface Node {
  startedMinutesAgo?: number | null
  hasContainers?: boolean
  isComplete?: boolean
  waitMinutes?: number
  removed?: string[]
}

const idOf = (name: string) => `sha256:${name}`
const ago = (minutes: number | null) =>
  minutes === null ? null : new Date(now - minutes * minute).toISOString()

function prepare(images: Record<string, Image>, node: Node = {}) {
  const {
    startedMinutesAgo = 1000,
    hasContainers = true,
    isComplete = true,
    waitMinutes = 0,
    removed,
  } = node
  const entries = Object.entries(images)
  const record = {
    kind: 'Node',
    cluster: 'lab',
    node: {},
    pods: [],
    runtime: {
      images: [
        ...entries.map(([name, { size = 100, pinned = false }]) => ({
          id: idOf(name),
          repoTags: [name],
          size: size === null ? '' : String(size),
          pinned,
        })),
        ...(isComplete ? [] : [{}]),
      ],
      ...(hasContainers && {
        containers: entries.flatMap(([name, { isInUse }]) =>
          isInUse ? [{ id: `of-${name}`, image: {}, imageRef: idOf(name) }] : [],
        ),
      }),
    },
    known: {
      ...(startedMinutesAgo !== null && { kubeletStartedAt: ago(startedMinutesAgo) }),
      images: entries.map(([name, { detected, used }]) => ({
        id: idOf(name),
        ...(detected !== undefined && { firstDetected: ago(detected) }),
        ...(used !== undefined && { lastUsed: ago(used) }),
      })),
    },
  } as unknown as NodeRecord
  return prepareImages(
    imageEvidence(inputOf(record), now, kubelet),
    now + waitMinutes * minute,
    removedAt(now + waitMinutes * minute, removed ?? []),
  )
}

/** 100 of 1000 bytes available: 91 % used, and 100 to free. */
const tight = filesystem(1000, 100)
const round = (
  images: Record<string, Image>,
  node: Node = {},
  policy = policyOf(85, 80),
  disk: typeof tight | null = tight,
  version = kubelet,
) => predictImageGc(policy, disk, prepare(images, node), version)
const short = (deletions: ImageDeletion[] | null) =>
  deletions?.map(
    ({ image, rank, reason, certainty }) => `${image.slice(7)} ${rank} ${reason} ${certainty}`,
  )
const whats = (unknowns: Unknown[]) => unknowns.map(({ what }) => what)

const known = (detected: number, used: number | null, more: Image = {}): Image => ({
  detected,
  used,
  ...more,
})

describe('a round on images that are all known', () => {
  it('is exactly the manager: what goes in its order, and why the rest stays', () => {
    const images = {
      last: known(50, 5),
      second: known(40, 20),
      first: known(30, null),
      held: known(60, 0, { isInUse: true }),
      pinned: known(60, null, { pinned: true }),
      young: known(1, null),
    }
    const { prediction, unknowns } = round(images, {}, policyOf(85, 70))
    expect(prediction).toMatchObject({
      triggered: true,
      bytesToFree: 200,
      reachesLow: true,
      freedBytes: 200,
      shortfallBytes: 0,
      // Those in use and pinned stay at any threshold.
      deletableBytes: 400,
      error: null,
    })
    expect(short(prediction.deletions)).toEqual(['first 0 space certain', 'second 1 space certain'])
    expect(prediction.deletions?.[0]).toEqual({
      image: 'sha256:first',
      names: ['first'],
      sizeBytes: 100,
      rank: 0,
      reason: 'space',
      certainty: 'certain',
    })
    expect(prediction.kept).toEqual([
      { image: 'sha256:pinned', reason: 'pinned' },
      { image: 'sha256:young', reason: 'too-young' },
      { image: 'sha256:last', reason: 'not-needed' },
      { image: 'sha256:held', reason: 'in-use' },
    ])
    expect(unknowns).toEqual([])
  })

  it('says what upstream says where it falls short', () => {
    const { prediction, unknowns } = round(
      { a: known(9, null), b: known(9, 8) },
      {},
      policyOf(85, 60),
    )
    expect(prediction).toMatchObject({
      reachesLow: false,
      freedBytes: 200,
      shortfallBytes: 100,
      error:
        'Failed to garbage collect required amount of images. Attempted to free 300 bytes, but only found 200 bytes eligible to free.',
    })
    expect(unknowns).toEqual([])
  })

  it('deletes nothing below the threshold, and knows that without the images', () => {
    const { prediction, unknowns } = round(
      { a: known(9, null), b: {} },
      { isComplete: false },
      policyOf(95, 80),
    )
    expect(prediction).toMatchObject({
      deletions: [],
      reachesLow: true,
      freedBytes: 0,
      shortfallBytes: 0,
      deletableBytes: null,
      error: null,
    })
    expect(prediction.kept?.map(({ reason }) => reason)).toEqual(['not-needed', 'not-needed'])
    expect(unknowns).toEqual([])
  })

  it('has equals that are cut as possible, with one rank and a sum that is known where their sizes are equal', () => {
    const tie = { b: known(20, 10), a: known(20, 10) }
    const { prediction } = round({ ...tie, first: known(30, null, { size: 50 }) })
    expect(short(prediction.deletions)).toEqual([
      'first 0 space certain',
      'a 1 space possible',
      'b 1 space possible',
    ])
    expect(prediction).toMatchObject({ reachesLow: true, freedBytes: 150, shortfallBytes: 0 })
    const unlike = round({ a: known(20, 10), b: known(20, 10, { size: 99 }) })
    // Either the greater one goes alone, or both.
    expect(short(unlike.prediction.deletions)).toEqual(['a 0 space certain', 'b 0 space possible'])
    expect(unlike.prediction).toMatchObject({
      reachesLow: true,
      freedBytes: null,
      shortfallBytes: 0,
    })
    expect(whats(unlike.unknowns)).toEqual(['image order', 'imageGC.freedBytes'])
    // Either suffices alone.
    const either = round({ a: known(20, 10), b: known(20, 10, { size: 60 }) }, {}, policyOf(85, 85))
    expect(either.prediction).toMatchObject({
      bytesToFree: 50,
      freedBytes: null,
      deletions: [{ certainty: 'possible' }, { certainty: 'possible' }],
    })
    expect(round(tie, {}, policyOf(90, 90)).prediction).toMatchObject({
      bytesToFree: 0,
      freedBytes: 100,
      deletions: [{}, {}],
    })
    const empty = round(
      { a: known(20, 10, { size: 0 }), b: known(20, 10, { size: 0 }) },
      {},
      policyOf(90, 90),
    )
    expect(empty.prediction).toMatchObject({ freedBytes: 0, reachesLow: true })
  })

  it('trap 2: lets the first go for certain where nothing is wanted, and none after it', () => {
    const { prediction } = round({ a: known(20, 10), b: known(20, 9) }, {}, policyOf(90, 90))
    expect(short(prediction.deletions)).toEqual(['a 0 space certain'])
    expect(prediction).toMatchObject({ bytesToFree: 0, freedBytes: 100, reachesLow: true })
  })

  it('ranks all of equals alike where all of them go, and the next behind all', () => {
    const { prediction } = round(
      { a: known(20, 10), b: known(20, 10), c: known(20, 9) },
      {},
      policyOf(85, 60),
    )
    expect(short(prediction.deletions)).toEqual([
      'a 0 space certain',
      'b 0 space certain',
      'c 2 space certain',
    ])
  })

  it('lets age go before space, without counting it', () => {
    const images = {
      old: known(500, 300),
      older: known(500, null),
      young: known(500, 10),
      younger: known(500, 9),
    }
    const { prediction, unknowns } = round(
      images,
      {},
      policyOf(85, 80, { maximumAgeMs: 100 * minute }),
    )
    expect(short(prediction.deletions)).toEqual([
      'older 0 age certain',
      'old 1 age certain',
      'young 2 space possible',
    ])
    // What goes by age may free enough before the disk is read.
    expect(prediction).toMatchObject({ freedBytes: null, reachesLow: null, error: null })
    expect(whats(unknowns)).toMatchSnapshot()
    const calm = round(images, {}, policyOf(99, 80, { maximumAgeMs: 100 * minute }))
    expect(short(calm.prediction.deletions)).toEqual(['older 0 age certain', 'old 1 age certain'])
    expect(calm.prediction.freedBytes).toBe(0)
    expect(calm.unknowns).toEqual([])
  })

  it('deletes by age although the disk has no capacity, and although its state is not known', () => {
    const policy = policyOf(85, 80, { maximumAgeMs: 100 * minute })
    const images = { old: known(500, 300), young: known(500, 10) }
    const refused = round(images, {}, policy, filesystem(0, 0))
    expect(short(refused.prediction.deletions)).toEqual(['old 0 age certain'])
    const unseen = round(images, {}, policy, null)
    expect(short(unseen.prediction.deletions)).toEqual([
      'old 0 age certain',
      'young 1 space possible',
    ])
    expect(unseen.prediction).toMatchObject({ triggered: null, freedBytes: null })
  })

  it.each([
    { startedMinutesAgo: 100, version: 'v1.34.1', goes: [] },
    { startedMinutesAgo: 100.001, version: 'v1.34.1', goes: ['a 0 age certain'] },
    { startedMinutesAgo: 1, version: 'v1.29.1', goes: ['a 0 age certain'] },
    { startedMinutesAgo: null, version: 'v1.34.1', goes: ['a 0 age possible'] },
  ])(
    'waits for uptime with the maximum age: $version up for $startedMinutesAgo',
    ({ startedMinutesAgo, version, goes }) => {
      const policy = policyOf(99, 80, { maximumAgeMs: 100 * minute })
      const { prediction, unknowns } = round(
        { a: known(500, null) },
        { startedMinutesAgo },
        policy,
        tight,
        kubeletOf(version),
      )
      expect(short(prediction.deletions)).toEqual(goes)
      expect(whats(unknowns)).toEqual(startedMinutesAgo === null ? ['known.kubeletStartedAt'] : [])
    },
  )

  it.each([
    { minutes: 101, certainty: 'possible' },
    { minutes: 101.001, certainty: 'certain' },
  ])(
    'gives the kubelet a minute from its process to its loops: up for $minutes minutes',
    ({ minutes, certainty }) => {
      const policy = policyOf(99, 80, { maximumAgeMs: 100 * minute })
      const prepared = prepare({ a: known(500, null) })
      const images = {
        ...prepared,
        kubeletStart: {
          earliestMs: now - minutes * minute,
          latestMs: now - (minutes - 1) * minute,
        },
      }
      expect(predictImageGc(policy, tight, images, kubelet).prediction.deletions).toMatchObject([
        { reason: 'age', certainty },
      ])
    },
  )

  it('trap 8: passes over what was used at the very moment', () => {
    const { prediction } = round({ a: known(30, 0), b: known(30, 0.001) }, {}, policyOf(85, 60))
    expect(short(prediction.deletions)).toEqual(['b 0 space certain'])
    expect(prediction.kept).toEqual([{ image: 'sha256:a', reason: 'too-young' }])
  })

  it('is not run where 100 stops the loop', () => {
    const stopped = round({ a: known(500, null) }, {}, policyOf(100, 80))
    expect(stopped.prediction).toMatchObject({
      enabled: false,
      triggered: false,
      deletions: [],
      freedBytes: 0,
    })
  })
})

describe('a round on images of which something is not known', () => {
  const small = { first: known(30, 20), second: known(30, 10) }

  it('without last uses: any may go first, and none does for certain', () => {
    const { prediction, unknowns } = round({ a: { detected: 30 }, b: { detected: 30 } })
    expect(short(prediction.deletions)).toEqual(['a null space possible', 'b null space possible'])
    expect(prediction).toMatchObject({
      reachesLow: true,
      freedBytes: null,
      shortfallBytes: 0,
      error: null,
    })
    expect(unknowns).toEqual([
      { what: 'image.lastUsed', effect: 'order of deletions is bounded, not exact' },
      expect.objectContaining({ what: 'imageGC.freedBytes' }),
    ])
  })

  it('without last uses, where all that there is does not suffice: all go, in an order that is not known', () => {
    const { prediction } = round({ a: { detected: 30 }, b: { detected: 30 } }, {}, policyOf(85, 50))
    expect(short(prediction.deletions)).toEqual(['a null space certain', 'b null space certain'])
    expect(prediction).toMatchObject({ reachesLow: false, freedBytes: 200, shortfallBytes: 200 })
    expect(prediction.error).toContain('but only found 200 bytes')
  })

  it('without a first detection: it may be too young', () => {
    const { prediction, unknowns } = round({ a: { used: null }, b: known(30, 10) })
    expect(short(prediction.deletions)).toEqual(['a 0 space possible', 'b 1 space possible'])
    expect(whats(unknowns)).toEqual(['image.firstDetected', 'imageGC.freedBytes'])
    expect(
      round({ a: { used: null }, b: known(30, 10, { size: 99 }) }).prediction.reachesLow,
    ).toBeNull()
    expect(
      round({ a: { used: null, size: 1 }, b: known(30, 10, { size: 99 }) }).prediction.reachesLow,
    ).toBeNull()
    expect(
      round({ a: { used: null, size: 1 }, b: known(30, 10, { size: 98 }) }).prediction.reachesLow,
    ).toBe(false)
    expect(
      round({ a: { used: null }, b: known(30, 10, { size: 100 }) }).prediction.reachesLow,
    ).toBe(true)
    // Two minutes on it has been detected, or it is still too young; with the last detection eight minutes ago it is neither.
    expect(short(round({ a: { used: null } }, { waitMinutes: 8 }).prediction.deletions)).toEqual([
      'a 0 space certain',
    ])
  })

  it('trap 7: after a restart all are too young, whatever is not known of them', () => {
    const { prediction } = round({ a: {}, b: {} }, { startedMinutesAgo: 1 })
    expect(prediction).toMatchObject({
      deletions: [],
      reachesLow: false,
      freedBytes: 0,
      shortfallBytes: 100,
    })
    expect(prediction.kept?.map(({ reason }) => reason)).toEqual(['too-young', 'too-young'])
  })

  it('without containers: each may be in use, and then another goes in its place', () => {
    const { prediction, unknowns } = round(small, { hasContainers: false })
    expect(short(prediction.deletions)).toEqual([
      'first 0 space possible',
      'second 1 space possible',
    ])
    expect(prediction).toMatchObject({
      reachesLow: null,
      freedBytes: null,
      shortfallBytes: null,
      error: null,
    })
    expect(whats(unknowns)).toEqual(['runtime.containers', 'imageGC.freedBytes'])
  })

  it('says unknown of what stays for one reason or another', () => {
    const { prediction } = round({ young: known(1, null), ...small }, { hasContainers: false })
    expect(prediction.kept).toEqual([{ image: 'sha256:young', reason: 'unknown' }])
  })

  it('says unknown of what is too young or not needed', () => {
    const { prediction } = round({ first: known(30, 20), last: { used: 1 } })
    expect(short(prediction.deletions)).toEqual(['first 0 space certain'])
    expect(prediction.kept).toEqual([{ image: 'sha256:last', reason: 'unknown' }])
  })

  it('without a size: it may be enough by itself, or nothing', () => {
    const { prediction, unknowns } = round({ a: known(30, 20, { size: null }), b: known(30, 10) })
    expect(short(prediction.deletions)).toEqual(['a 0 space certain', 'b 1 space possible'])
    expect(prediction).toMatchObject({ reachesLow: true, freedBytes: null })
    expect(whats(unknowns)).toEqual(['image.sizeBytes', 'imageGC.freedBytes'])
    const oneByte = round(
      { a: known(30, 20, { size: null }), b: known(30, 10) },
      {},
      policyOf(85, 85),
      filesystem(1000, 149),
    )
    expect(oneByte.prediction).toMatchObject({
      bytesToFree: 1,
      deletions: [{ certainty: 'certain' }, { certainty: 'possible' }],
    })
    const alone = round({ a: known(30, 20, { size: null }) })
    expect(alone.prediction).toMatchObject({
      reachesLow: null,
      shortfallBytes: null,
      deletions: [{ certainty: 'certain' }],
    })
  })

  it('without a complete list: what was not seen may go first, and suffice', () => {
    const { prediction, unknowns } = round(small, { isComplete: false })
    expect(short(prediction.deletions)).toEqual(['first 0 space possible'])
    expect(prediction).toMatchObject({ reachesLow: true, freedBytes: null })
    expect(prediction.kept).toEqual([{ image: 'sha256:second', reason: 'not-needed' }])
    expect(whats(unknowns)).toEqual(['runtime.images', 'imageGC.freedBytes'])
  })

  it('without any list: knows only that something may go', () => {
    const none = prepareImages(
      imageEvidence(inputOf({ kind: 'Node', cluster: 'lab', node: {} }), now, kubelet),
      now,
    )
    const { prediction, unknowns } = predictImageGc(policyOf(85, 80), tight, none, kubelet)
    expect(prediction).toMatchObject({
      deletions: null,
      kept: null,
      reachesLow: null,
      freedBytes: null,
      shortfallBytes: null,
    })
    expect(whats(unknowns)).toEqual(['images', 'imageGC.freedBytes'])
    expect(predictImageGc(policyOf(99, 80), tight, none, kubelet).prediction).toMatchObject({
      deletions: [],
      kept: [],
      freedBytes: 0,
    })
    expect(predictDeleteUnusedImages(policyOf(85, 80), none)).toMatchObject({
      prediction: { deletions: null, kept: null },
      unknowns: [{ what: 'images' }],
    })
  })

  it('by age or for space: what may have been used lately need not be old', () => {
    const policy = policyOf(85, 80, { maximumAgeMs: 100 * minute })
    // Young, it was last used at the limit or after: what was used at the limit comes before it, unless it was detected later.
    const beside = (limit: Image) =>
      short(round({ open: { detected: 500 }, limit }, {}, policy).prediction.deletions)
    expect(beside(known(501, 100))).toEqual(['open null age possible', 'limit 0 space possible'])
    expect(beside(known(500, 100))).toEqual(['open null space possible', 'limit 0 space possible'])
    expect(beside(known(501, 99.5))).toEqual(['open null space possible', 'limit 0 space possible'])
    // Old or not, it goes where all that there is does not suffice.
    expect(
      short(
        round({ open: { detected: 500 } }, {}, policyOf(85, 50, { maximumAgeMs: 100 * minute }))
          .prediction.deletions,
      ),
    ).toEqual(['open 0 space certain'])
  })

  it('with an uptime that is not known: what may go by age need not be what goes for space', () => {
    const images = { old: known(500, 300), young: known(500, 10) }
    const { prediction, unknowns } = round(
      images,
      { startedMinutesAgo: null },
      policyOf(85, 80, { maximumAgeMs: 100 * minute }),
    )
    expect(short(prediction.deletions)).toEqual(['old 0 space certain', 'young 1 space possible'])
    expect(prediction.freedBytes).toBeNull()
    expect(whats(unknowns)).toContain('known.kubeletStartedAt')
  })
})

describe('predictDeleteUnusedImages', () => {
  const images = {
    held: known(60, 1, { isInUse: true }),
    idle: known(50, 20),
    never: known(40, null),
    young: known(1, null),
    pinned: known(90, null, { pinned: true }),
  }
  const reclaim = (of: Record<string, Image>, node: Node = {}, policy = policyOf(85, 80)) => {
    const { prediction, unknowns } = predictDeleteUnusedImages(policy, prepare(of, node))
    return {
      goes: short(prediction.deletions),
      kept: prediction.kept?.map(({ reason }) => reason),
      unknowns: whats(unknowns),
    }
  }

  it('trap 10, trap 11: deletes all that may go, whatever the thresholds', () => {
    expect(reclaim(images, {}, policyOf(100, 99))).toEqual({
      goes: ['never 0 space certain', 'idle 1 space certain'],
      kept: ['pinned', 'too-young', 'in-use'],
      unknowns: [],
    })
  })

  it('trap 3: deletes the images of containers that went just before', () => {
    expect(reclaim(images, { removed: ['of-held'] }).goes).toEqual([
      'never 0 space certain',
      'idle 1 space certain',
      'held 2 space certain',
    ])
  })

  it('is certain of what it knows, although the list is not complete', () => {
    expect(reclaim(images, { isComplete: false })).toMatchObject({
      goes: ['never 0 space certain', 'idle 1 space certain'],
      unknowns: ['runtime.images'],
    })
  })

  it('minds no maximum age', () => {
    expect(reclaim({ a: known(1, null) }, {}, policyOf(85, 80, { maximumAgeMs: 1 })).goes).toEqual(
      [],
    )
  })
})
