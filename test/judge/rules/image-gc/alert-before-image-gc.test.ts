import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { alertBeforeImageGc } from '#judge/rules/image-gc/alert-before-image-gc.ts'
import { imageGcDisabled } from '#judge/rules/image-gc/image-gc-disabled.ts'
import { defaultPolicy } from '#model/policy.ts'
import { gc, hard, nodefs } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(alertBeforeImageGc, {
  bad: { imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 } },
  good: {
    imageGC: { highThresholdPercent: 80, lowThresholdPercent: 70 },
    thresholds: [hard('nodefs.available', 10)],
  },
})

describe('alert-before-image-gc', () => {
  it.each([
    [79, 'pass'],
    [80, 'pass'],
    [81, 'pass'],
    [82, 'fail'],
    [85, 'fail'],
    [100, 'notApplicable'],
  ])('with an alert at 80 and a high threshold of %i: %s', (high, expected) => {
    expect(state(alertBeforeImageGc, { imageGC: gc(high) })).toBe(expected)
  })

  it('does not repeat image-gc-disabled, and speaks where a maximum age keeps image GC running', () => {
    expect(state(imageGcDisabled, { imageGC: gc(100) })).toBe('fail')
    expect(state(alertBeforeImageGc, { imageGC: { ...gc(100), enabled: true } })).toBe('fail')
  })

  it('says that the alert is assumed where no policy sets it', () => {
    const { title, consequence } = failingOf(alertBeforeImageGc, { imageGC: gc(85) })
    expect(title).toContain('assumed')
    expect(consequence).toMatch(/^An alert at 80 % used is assumed/)
    const { isAlertAssumed: _, ...policy } = defaultPolicy
    const ofTeam = failingOf(alertBeforeImageGc, { imageGC: gc(85) }, policy)
    expect([ofTeam.title, ofTeam.consequence].join()).not.toContain('assumed')
  })

  it('takes the alert from the policy', () => {
    expect(
      state(alertBeforeImageGc, { imageGC: gc(85) }, { ...defaultPolicy, alertPercent: 84 }),
    ).toBe('pass')
    expect(
      failingOf(alertBeforeImageGc, { imageGC: gc(85) }, { ...defaultPolicy, alertPercent: 83.5 })
        .evidence[0]?.value,
    ).toBe('83.5')
  })

  it('proposes percentages that are sound beside eviction, too', () => {
    expect(
      failingOf(alertBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(10) }).fix?.config
        .imageGCHighThresholdPercent,
    ).toBe(80)
    expect(
      failingOf(alertBeforeImageGc, { imageGC: gc(85), thresholds: nodefs(30) }).fix?.config
        .imageGCHighThresholdPercent,
    ).toBe(66)
  })

  it.each([
    ['something else fills the disk', { journal: 60, images: 10 }, 82, 'pass'],
    ['images fill it', { 'images-unused': 60 }, 82, 'fail'],
    ['the alert is quiet', { journal: 60 }, 79, 'fail'],
  ] as const)('says nothing where the alert is right: %s', (_, held, usedPercent, expected) => {
    const filesystems = { imagefs: { usedPercent } } as never
    expect(state(alertBeforeImageGc, { imageGC: gc(85), held, filesystems })).toBe(expected)
  })

  it.each([
    [59, 'low'],
    [60, undefined],
    [null, undefined],
  ])('is LOW while the disk is far from the alert: %s %% used: %s', (usedPercent, severity) => {
    const filesystems = { imagefs: { usedPercent } } as never
    const failing = failingOf(alertBeforeImageGc, { imageGC: gc(85), filesystems })
    expect(failing.severity).toBe(severity)
  })

  it('is a setting, and no incident, also where most images are unused', () => {
    const images = ['a', 'b', 'c', 'd', 'e'].map(name => ({ names: [`x/${name}:1`], sizeBytes: 9 }))
    const { seen, consequence } = failingOf(alertBeforeImageGc, {
      ...{ imageGC: gc(85), filesystems: { imagefs: { usedPercent: 82 } } as never },
      node: { status: { images } },
      pods: [{ spec: { containers: [{ name: 'a', image: 'x/a:1' }] } }],
    })
    expect(consequence).toMatch(/^no pod uses 4 of the 5 images/)
    expect(seen).toBeUndefined()
  })

  it.each([
    // Of 100 GiB, 82 are used: with all that may go, 2 GiB or more have to be freed.
    { deletableBytes: 0, isSet: false },
    { deletableBytes: 0.4 * gibibyte, isSet: false },
    { deletableBytes: 0.5 * gibibyte, isSet: true },
    { deletableBytes: null, isSet: true },
    { deletableBytes: null, triggered: true, reachesLow: false, isSet: false },
    // Not known: layers may be shared.
    { deletableBytes: null, triggered: true, reachesLow: null, isSet: true },
    { deletableBytes: null, triggered: true, reachesLow: true, isSet: true },
  ])(
    'sets percentages only where image GC clears the alert: $deletableBytes $triggered $reachesLow',
    ({ isSet, ...round }) => {
      const { fix, cause, title, confidence } = failingOf(alertBeforeImageGc, {
        imageGC: { ...gc(85), ...round },
        filesystems: { imagefs: { usedPercent: 82 } } as never,
        held: { images: 60, 'container-logs': 22 },
      })
      expect([fix !== undefined, cause?.kind, title?.includes('no setting'), confidence]).toEqual(
        isSet ? [true, undefined, false, undefined] : [false, 'holder', true, 'likely'],
      )
    },
  )
})
