import { expect, it } from 'vitest'
import { withPinnedFirst } from '#judge/fixes/pinning.ts'
import type { Severity, StepAction } from '#model/finding.ts'

type Found = Parameters<typeof withPinnedFirst>[0][number]

const lower = { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70 }

const foundOn = (
  cluster: string,
  actions: StepAction[] | null,
  { severity = 'medium', config = {} }: { severity?: Severity; config?: object } = {},
) =>
  ({
    ...{ cluster, actions, finding: { severity } },
    wishes: [{ config, fact: null, declaration: null }],
  }) as unknown as Found

const withRunning = (found: Found, imageGCHighThresholdPercent: number): Found =>
  ({
    ...found,
    wishes: found.wishes.map(wish => ({
      ...wish,
      fact: { running: { imageGCHighThresholdPercent } },
    })),
  }) as unknown as Found

/** A cluster in which an image has to be imported again. */
const judged = (own: Found) =>
  withPinnedFirst([foundOn('a', [{ id: 'import-image' }], { severity: 'high' }), own])[1]!

const idsOf = ({ actions }: Found) => actions?.map(({ id }) => id)

it('sets no field of image GC where nothing is urgent, and others stay', () => {
  const config = { ...lower, containerLogMaxFiles: 5 }
  const found = judged(foundOn('a', null, { config }))
  expect(found.actions).toEqual([{ id: 'pin-images', variant: 'first' }])
  expect(found.wishes[0]?.config).toEqual({ containerLogMaxFiles: 5 })
})

it.each<[string, Found, string[]]>([
  [
    'a disk that is full: the field is set after that',
    foundOn('a', null, { severity: 'critical', config: lower }),
    ['pin-images', 'set-fields'],
  ],
  [
    'the deletion of unused images, which stays out',
    foundOn('a', [{ id: 'prune-images' }, { id: 'larger-disk' }]),
    ['pin-images', 'larger-disk'],
  ],
  [
    'the same by the runtime',
    foundOn('a', [{ id: 'prune-by-runtime' }, { id: 'larger-disk' }]),
    ['pin-images', 'larger-disk'],
  ],
  [
    'a disk that is nearly full: the field is set after that, too',
    foundOn('a', null, { severity: 'high', config: lower }),
    ['pin-images', 'set-fields'],
  ],
  [
    'image GC that starts earlier than it runs, and later than by default',
    withRunning(foundOn('a', null, { config: { imageGCHighThresholdPercent: 88 } }), 95),
    ['pin-images'],
  ],
  [
    'an age of images',
    foundOn('a', null, { config: { imageMaximumGCAge: '168h' } }),
    ['pin-images'],
  ],
])('pins first: %s', (_, found, ids) => {
  expect(idsOf(judged(found))).toEqual(ids)
})

it.each<[string, Found]>([
  ['another cluster', foundOn('b', null, { config: lower })],
  [
    'image GC that starts later',
    foundOn('a', null, { config: { imageGCHighThresholdPercent: 90 } }),
  ],
  [
    'image GC that starts later than it runs, and earlier than by default',
    withRunning(foundOn('a', null, { config: { imageGCHighThresholdPercent: 80 } }), 70),
  ],
  ['another field', foundOn('a', null, { config: { serializeImagePulls: false } })],
])('leaves alone %s', (_, found) => {
  expect(judged(found)).toBe(found)
})
