import { describe, expect, it } from 'vitest'
import {
  deleteUnusedImages,
  detectImages,
  garbageCollect,
  type ImageGcRound,
  type ImageGcState,
  type RuntimeImages,
} from '#replay/image-gc/collector.ts'
import type { ImageGcPolicy } from '#replay/image-gc/policy.ts'
import { kubeletOf, zeroTimeMs } from '#replay/times.ts'

const minute = 60_000
const minors = [29, 30, 31, 32, 33, 34, 35, 36, 37]
const newest = kubeletOf('v1.37.0')
const policy: ImageGcPolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAgeMs: 2 * minute,
  maximumAgeMs: 0,
}
const full = { capacityBytes: 1000, availableBytes: 0 }
const of = (minor: number, gates?: Record<string, boolean>) => kubeletOf(`v1.${minor}.0`, gates)

interface Present {
  sizeBytes?: number
  isPinned?: boolean
}
const runtime = (
  images: Record<string, Present>,
  more: Partial<RuntimeImages> = {},
): RuntimeImages => ({
  images: Object.entries(images).map(([id, { sizeBytes = 100, isPinned = false }]) => ({
    id,
    sizeBytes,
    isPinned,
  })),
  inUse: new Set(),
  ...more,
})

/** Images with the times that a kubelet remembers of them. */
function remembering(
  times: Record<string, { firstDetectedMs?: number; lastUsedMs?: number }>,
  beganGcMs = 0,
): ImageGcState {
  const state: ImageGcState = { records: new Map(), beganGcMs }
  for (const [id, { firstDetectedMs = 0, lastUsedMs = zeroTimeMs }] of Object.entries(times)) {
    state.records.set(id, { firstDetectedMs, lastUsedMs, sizeBytes: 0, isPinned: false })
  }
  return state
}
const ids = ({ deleted }: ImageGcRound) => deleted.map(({ id }) => id)

describe('garbageCollect', () => {
  it('trap 1: fires above one percent less than the high threshold', () => {
    const usedAbove84 = { capacityBytes: 85_886_742_528, availableBytes: 13_741_878_804 }
    const state = () => remembering({ a: {} })
    expect(
      ids(garbageCollect(state(), 10 * minute, policy, runtime({ a: {} }), usedAbove84, newest)),
    ).toEqual(['a'])
    const at84 = { ...usedAbove84, availableBytes: 13_741_878_805 }
    expect(garbageCollect(state(), 10 * minute, policy, runtime({ a: {} }), at84, newest)).toEqual({
      deleted: [],
      freedBytes: 0,
      error: null,
    })
  })

  it.each([
    { lowThresholdPercent: 80, goes: ['a', 'b'], freedBytes: 200 },
    // 85 % used with both thresholds at 85: the low one has been reached already.
    { lowThresholdPercent: 85, goes: ['a'], freedBytes: 100 },
  ])(
    'trap 2: frees down to $lowThresholdPercent, and one image even where nothing is wanted',
    ({ lowThresholdPercent, goes, freedBytes }) => {
      const images = { a: {}, b: {}, c: {} }
      const state = remembering({
        a: { firstDetectedMs: 1 },
        b: { firstDetectedMs: 2 },
        c: { firstDetectedMs: 3 },
      })
      const stats = { capacityBytes: 2003, availableBytes: lowThresholdPercent === 85 ? 301 : 200 }
      const round = garbageCollect(
        state,
        10 * minute,
        { ...policy, lowThresholdPercent },
        runtime(images),
        stats,
        newest,
      )
      expect({ goes: ids(round), freedBytes: round.freedBytes, error: round.error }).toEqual({
        goes,
        freedBytes,
        error: null,
      })
      expect([...state.records.keys()]).toEqual(
        Object.keys(images).filter(id => !goes.includes(id)),
      )
    },
  )

  it('stops as soon as exactly enough is freed', () => {
    const state = remembering({ a: { firstDetectedMs: 1 }, b: { firstDetectedMs: 2 } })
    const round = garbageCollect(
      state,
      10 * minute,
      policy,
      runtime({ a: {}, b: {} }),
      { capacityBytes: 1000, availableBytes: 100 },
      newest,
    )
    expect(round).toMatchObject({ freedBytes: 100, error: null })
  })

  it('trap 3: an image in use stays, and whether the container runs plays no part', () => {
    const held = runtime({ a: {}, b: {} }, { inUse: new Set(['a']) })
    expect(
      ids(garbageCollect(remembering({ a: {}, b: {} }), 10 * minute, policy, held, full, newest)),
    ).toEqual(['b'])
    expect(
      ids(deleteUnusedImages(remembering({ a: {}, b: {} }), 10 * minute, policy, held, newest)),
    ).toEqual(['b'])
  })

  it.each(minors)('trap 4: on 1.%i the sandbox image is spared by pinning only', minor => {
    const images = runtime({ app: {}, pause: {}, pinned: { isPinned: true } })
    const round = deleteUnusedImages(
      remembering({ app: {}, pause: {}, pinned: {} }),
      10 * minute,
      policy,
      images,
      of(minor),
    )
    expect(ids(round)).toEqual(['app', 'pause'])
  })

  it.each([
    { ageMs: 2 * minute, goes: ['a'] },
    { ageMs: 2 * minute - 1, goes: [] },
  ])(
    'trap 5: the minimum age counts from the first detection and is reached when equal ($ageMs ms)',
    ({ ageMs, goes }) => {
      const state = remembering({
        a: { firstDetectedMs: 10 * minute - ageMs, lastUsedMs: 10 * minute - 1 },
      })
      expect(
        ids(garbageCollect(state, 10 * minute, policy, runtime({ a: {} }), full, newest)),
      ).toEqual(goes)
    },
  )

  it.each([
    { idleMs: 30 * minute, goes: [] },
    { idleMs: 30 * minute + 1, goes: ['a'] },
  ])(
    'trap 5: the maximum age counts from the last use, has to be passed, and minds no minimum age ($idleMs ms)',
    ({ idleMs, goes }) => {
      const nowMs = 100 * minute
      const withAges = { ...policy, minimumAgeMs: 90 * minute, maximumAgeMs: 30 * minute }
      const state = remembering({
        a: { firstDetectedMs: nowMs - idleMs - 1, lastUsedMs: nowMs - idleMs },
      })
      const round = garbageCollect(
        state,
        nowMs,
        withAges,
        runtime({ a: {} }),
        { capacityBytes: 1000, availableBytes: 900 },
        newest,
      )
      expect(ids(round)).toEqual(goes)
      // What goes by age is not counted.
      expect(round).toMatchObject({ freedBytes: 0, error: null })
    },
  )

  it('trap 6: what was never used goes first, and is older than any maximum age', () => {
    const times = {
      used: { firstDetectedMs: 0, lastUsedMs: 1 },
      unused: { firstDetectedMs: 5 * minute },
    }
    const images = { used: { sizeBytes: 200 }, unused: { sizeBytes: 200 } }
    expect(
      ids(garbageCollect(remembering(times), 10 * minute, policy, runtime(images), full, newest)),
    ).toEqual(['unused'])
    const nowMs = 1000 * minute
    const young = { unused: { firstDetectedMs: nowMs }, used: { lastUsedMs: nowMs - 1 } }
    const withAge = { ...policy, maximumAgeMs: 999 * minute }
    const { deleted } = garbageCollect(
      remembering(young),
      nowMs,
      withAge,
      runtime(images),
      { ...full, availableBytes: 999 },
      newest,
    )
    expect(deleted).toMatchObject([{ id: 'unused', reason: 'age' }])
  })

  it.each(minors)('trap 7: on 1.%i a restart protects what is there for the minimum age', minor => {
    const state: ImageGcState = { records: new Map(), beganGcMs: 0 }
    detectImages(state, 0, runtime({ a: {} }), of(minor))
    expect(state.records.get('a')).toMatchObject({ firstDetectedMs: 0, lastUsedMs: zeroTimeMs })
    detectImages(state, minute, runtime({ a: {}, b: {} }), of(minor))
    expect(state.records.get('b')).toMatchObject({ firstDetectedMs: minute })
    expect(
      ids(
        garbageCollect(state, 2 * minute - 1, policy, runtime({ a: {}, b: {} }), full, of(minor)),
      ),
    ).toEqual([])
  })

  it.each(minors)(
    'trap 7: on 1.%i the maximum age waits until the kubelet has run for longer since 1.30',
    minor => {
      const round = (nowMs: number) => {
        const withAge = { ...policy, maximumAgeMs: 30 * minute }
        return ids(
          garbageCollect(
            remembering({ a: {} }, minute),
            nowMs,
            withAge,
            runtime({ a: {} }),
            { ...full, availableBytes: 999 },
            of(minor),
          ),
        )
      }
      expect(round(31 * minute)).toEqual(minor === 29 ? ['a'] : [])
      expect(round(31 * minute + 1)).toEqual(['a'])
    },
  )

  it('trap 8: an image that was last used at the moment of the round is passed over', () => {
    const state = remembering({
      a: { lastUsedMs: 10 * minute },
      b: { lastUsedMs: 10 * minute - 1 },
    })
    expect(
      ids(garbageCollect(state, 10 * minute, policy, runtime({ a: {}, b: {} }), full, newest)),
    ).toEqual(['b'])
  })

  it('trap 9: counts what the runtime says of sizes, at the time of the round', () => {
    const state = remembering({ a: { firstDetectedMs: 1 }, b: { firstDetectedMs: 2 } })
    const round = garbageCollect(
      state,
      10 * minute,
      policy,
      runtime({ a: { sizeBytes: 199 }, b: { sizeBytes: 7 } }),
      full,
      newest,
    )
    expect(round).toMatchObject({ freedBytes: 206, error: null })
  })

  it.each([
    {
      minor: 29,
      text: 'Failed to garbage collect required amount of images. Attempted to free 200 bytes, but only found 100 bytes eligible to free.',
    },
    {
      minor: 34,
      text: 'Failed to garbage collect required amount of images. Attempted to free 200 bytes, but only found 100 bytes eligible to free.',
    },
    {
      minor: 35,
      text: "Insufficient free disk space on the node's image filesystem (100% of 1000 B used). Failed to free sufficient space by deleting unused images (freed 100 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
    },
  ])('says on 1.$minor that too little was freed', ({ minor, text }) => {
    expect(
      garbageCollect(
        remembering({ a: {} }),
        10 * minute,
        policy,
        runtime({ a: {} }),
        full,
        of(minor),
      ).error,
    ).toBe(text)
  })

  it.each([
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1024 ** 2 - 1, '1024.0 KiB'],
    [1024 ** 2, '1.0 MiB'],
    [1.25 * 1024 ** 3, '1.2 GiB'],
    [1.75 * 1024 ** 3, '1.8 GiB'],
    [1.35 * 1024 ** 4, '1.4 TiB'],
    [5000 * 1024 ** 4, '5000.0 TiB'],
  ])('writes a size of %d bytes as %s', (capacityBytes, written) => {
    const { error } = garbageCollect(
      { records: new Map(), beganGcMs: 0 },
      0,
      policy,
      runtime({}),
      { capacityBytes, availableBytes: 0 },
      newest,
    )
    expect(error).toContain(`(100% of ${written} used)`)
  })

  it.each(minors)('on 1.%i looks for images before the disk', minor => {
    const state: ImageGcState = { records: new Map(), beganGcMs: 0 }
    const empty = { capacityBytes: 1000, availableBytes: 1000 }
    garbageCollect(state, 5, policy, runtime({ a: {} }), empty, of(minor))
    expect(state.records.size).toBe(1)
    expect(
      garbageCollect(state, 6, policy, runtime({ a: {} }), { error: 'no stats yet' }, of(minor))
        .error,
    ).toBe('no stats yet')
    expect(
      garbageCollect(
        state,
        7,
        policy,
        runtime({ a: {} }),
        { capacityBytes: null, availableBytes: 5 },
        of(minor),
      ).error,
    ).toMatchSnapshot()
    expect(state.records.size).toBe(1)
  })

  it.each(minors)(
    'on 1.%i spares images that are mounted as volumes since 1.35, or where the gate is on',
    minor => {
      const images = runtime({ a: {} }, { mounted: new Set(['a']) })
      expect(
        ids(deleteUnusedImages(remembering({ a: {} }), 10 * minute, policy, images, of(minor))),
      ).toEqual(minor >= 35 ? [] : ['a'])
      const gated = minor >= 31 ? of(minor, { ImageVolume: true }) : of(minor)
      expect(
        ids(deleteUnusedImages(remembering({ a: {} }), 10 * minute, policy, images, gated)),
      ).toEqual(minor >= 31 ? [] : ['a'])
    },
  )

  it('goes on after a removal that failed, and says so in place of the shortfall', () => {
    const failing = runtime(
      { a: {}, b: {}, c: {} },
      { removalError: id => (id === 'b' ? null : 'busy') },
    )
    const state = remembering({
      a: { firstDetectedMs: 1 },
      b: { firstDetectedMs: 2 },
      c: { firstDetectedMs: 3 },
    })
    expect(garbageCollect(state, 10 * minute, policy, failing, full, newest)).toMatchObject({
      deleted: [{ id: 'b', reason: 'space' }],
      freedBytes: 100,
      error:
        'wanted to free 200 bytes, but freed 100 bytes space with errors in image deletion: busy',
    })
    expect([...state.records.keys()]).toEqual(['a', 'c'])
  })

  it('ends the round where old images could not be removed, before it looks at the disk', () => {
    const withAge = { ...policy, maximumAgeMs: 90_000 }
    const failing = runtime(
      { a: {}, b: {}, c: {} },
      { removalError: id => (id === 'c' ? null : `cannot remove ${id}`) },
    )
    expect(
      garbageCollect(
        remembering({ a: {}, b: {}, c: {} }),
        10 * minute,
        withAge,
        failing,
        full,
        newest,
      ),
    ).toMatchObject({
      deleted: [{ id: 'c', reason: 'age' }],
      freedBytes: 0,
      error:
        'wanted to free images older than 1m30s, encountered errors in image deletion: [cannot remove a, cannot remove b]',
    })
  })
})

describe('deleteUnusedImages', () => {
  it('puts no images in order if none may go', () => {
    const asked: string[] = []
    const present = runtime(
      { young: {}, used: {}, pinned: { isPinned: true } },
      {
        inUse: new Set(['used']),
        removalError: id => {
          asked.push(id)
          return null
        },
      },
    )
    const state = remembering({ young: { firstDetectedMs: 9 * minute }, used: {}, pinned: {} })
    const round = deleteUnusedImages(state, 10 * minute, policy, present, newest)
    expect([round, asked]).toEqual([{ deleted: [], freedBytes: 0, error: null }, []])
  })

  it('trap 10: is not stopped by a high threshold of 100', () => {
    const stopped = { ...policy, highThresholdPercent: 100 }
    expect(
      ids(
        deleteUnusedImages(
          remembering({ a: {} }),
          10 * minute,
          stopped,
          runtime({ a: {} }),
          newest,
        ),
      ),
    ).toEqual(['a'])
  })

  it('trap 11: deletes all that may go, whatever the low threshold, but none below the minimum age', () => {
    const state = remembering({
      a: {},
      b: { firstDetectedMs: 1 },
      young: { firstDetectedMs: 9 * minute },
    })
    expect(
      deleteUnusedImages(state, 10 * minute, policy, runtime({ a: {}, b: {}, young: {} }), newest),
    ).toMatchObject({ deleted: [{ id: 'a' }, { id: 'b' }], freedBytes: 200, error: null })
  })

  it('names what it wanted as the greatest number', () => {
    const failing = runtime({ a: {} }, { removalError: () => 'busy' })
    expect(
      deleteUnusedImages(remembering({ a: {} }), 10 * minute, policy, failing, newest).error,
    ).toMatchSnapshot()
  })
})

describe('detectImages', () => {
  it('forgets an image that is gone: pulled again, it is new', () => {
    const state = remembering({ a: { firstDetectedMs: 1, lastUsedMs: 2 }, b: {} })
    detectImages(state, 10, runtime({ b: {} }), newest)
    detectImages(state, 20, runtime({ a: {}, b: {} }), newest)
    expect(state.records.get('a')).toEqual({
      firstDetectedMs: 20,
      lastUsedMs: zeroTimeMs,
      sizeBytes: 100,
      isPinned: false,
    })
  })

  it('notes one use for all that are in use at once, and size and pinning as they are now', () => {
    const state = remembering({ a: { lastUsedMs: 5 }, b: {} })
    detectImages(
      state,
      10,
      runtime({ a: { isPinned: true }, b: { sizeBytes: 7 } }, { inUse: new Set(['a', 'gone']) }),
      newest,
    )
    expect(state.records.get('a')).toEqual({
      firstDetectedMs: 0,
      lastUsedMs: 10,
      sizeBytes: 100,
      isPinned: true,
    })
    expect(state.records.get('b')).toEqual({
      firstDetectedMs: 0,
      lastUsedMs: zeroTimeMs,
      sizeBytes: 7,
      isPinned: false,
    })
  })

  it('drops as many as are gone while as many are new', () => {
    const state = remembering({ a: {} })
    detectImages(state, 10, runtime({ b: {} }), newest)
    expect([...state.records.keys()]).toEqual(['b'])
  })
})

describe('the order of eviction', () => {
  const deletedOf = (state: ImageGcState, ids: string[]) => {
    const images = runtime(Object.fromEntries(ids.map(id => [id, {}])))
    return deleteUnusedImages(
      state,
      10,
      { ...policy, minimumAgeMs: 0 },
      images,
      newest,
    ).deleted.map(({ id }) => id)
  }

  it('goes by last use, then by first detection', () => {
    const state = remembering({
      d: { firstDetectedMs: 1, lastUsedMs: 9 },
      c: { firstDetectedMs: 5, lastUsedMs: 8 },
      b: { firstDetectedMs: 4, lastUsedMs: 8 },
      a: { firstDetectedMs: 7 },
      never: { firstDetectedMs: zeroTimeMs },
    })
    expect(deletedOf(state, ['d', 'c', 'b', 'a', 'never'])).toEqual(['never', 'a', 'b', 'c', 'd'])
  })

  it('keeps the given order of equals', () => {
    const never = { firstDetectedMs: zeroTimeMs, lastUsedMs: zeroTimeMs }
    expect(deletedOf(remembering({ b: never, a: never }), ['b', 'a'])).toEqual(['b', 'a'])
  })
})
