import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { imageGcDue } from '#judge/rules/image-gc/image-gc-due.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import type { ImageDeletion } from '#model/prediction.ts'
import { gc } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'

itJudgesExamples(imageGcDue, {
  bad: {
    imageGC: {
      triggered: true,
      usagePercent: 91,
      bytesUntilTrigger: 0,
      bytesToFree: 11 * 1024 ** 3,
    },
  },
  good: { imageGC: { triggered: false, usagePercent: 79 } },
})

describe('image-gc-due', () => {
  it.each([
    [true, 'fail'],
    [false, 'pass'],
    [null, 'unknown'],
  ])('with triggered %s: %s', (triggered, expected) => {
    expect(state(imageGcDue, { imageGC: { triggered } })).toBe(expected)
  })

  const going = (
    name: string,
    gib: number,
    rank: number,
    certainty: 'certain' | 'possible' = 'certain',
  ): ImageDeletion => ({
    image: `sha256:${name}`,
    names: [`docker.io/library/${name}:1`],
    sizeBytes: gib * gibibyte,
    rank,
    reason: 'space',
    certainty,
  })
  const due = { triggered: true, bytesToFree: 8 * gibibyte }

  it('deletes nothing where nothing can go, and leaves what follows to unreachable-gc-low-threshold', () => {
    const imageGC = { ...due, deletions: [], reachesLow: false, freedBytes: 0, error: 'too little' }
    const { title, consequence } = failingOf(imageGcDue, { imageGC })
    expect(title).toMatchSnapshot()
    expect(consequence).toContain('deletes none')
    expect(consequence).not.toContain('freed')
    expect(outcomeFor(unreachableGcLowThreshold, { imageGC }).state).toBe('fail')
  })

  it('names what goes, by replay: first what goes first', () => {
    const imageGC = {
      ...due,
      deletions: [going('redis', 20, 1), going('nginx', 2, 0)],
      reachesLow: true,
      freedBytes: 22 * gibibyte,
    }
    const failing = failingOf(imageGcDue, { imageGC })
    expect(failing).toMatchObject({ confidence: 'certain' })
    expect(failing.consequence).toMatchSnapshot()
    expect(failing.evidence).toContainEqual({
      kind: 'computed',
      what: 'image GC deletes',
      value: 'docker.io/library/nginx:1, 2.0 GiB',
    })
  })

  it('is only likely where which image goes, or whether one does, is not fixed', () => {
    const unsure = {
      ...due,
      deletions: [going('redis', 20, 0, 'possible')],
      reachesLow: null,
      freedBytes: null,
    }
    expect(failingOf(imageGcDue, { imageGC: unsure })).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringContaining(
        'may delete 1 image, docker.io/library/redis:1 (20.0 GiB), until it has counted 8.0 GiB freed',
      ),
    })
    expect(failingOf(imageGcDue, { imageGC: { ...due, deletions: null } })).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringContaining('which they are is not known'),
    })
  })

  it('does not have too much deleted where all images are too few', () => {
    const wordsOf = (deletableBytes: number) =>
      failingOf(imageGcDue, { imageGC: { ...due, deletableBytes } }).consequence
    expect(wordsOf(20 * gibibyte)).toContain('it may delete more than the disk needs')
    expect(wordsOf(gibibyte)).toContain('everything that it may delete counts 1.0 GiB')
    expect(wordsOf(gibibyte)).not.toContain('more than the disk needs')
  })

  it('does not apply where image GC is off', () => {
    expect(state(imageGcDue, { imageGC: { ...gc(100), triggered: null } })).toBe('notApplicable')
  })

  it("passes on upstream's own words where there are any", () => {
    const outcome = outcomeFor(imageGcDue, {
      imageGC: { triggered: null, error: 'invalid capacity 0 on image filesystem' },
    })
    expect(outcome).toMatchSnapshot()
    expect(
      outcomeFor(imageGcDue, {
        imageGC: { triggered: false, error: 'invalid capacity 0 on image filesystem' },
      }),
    ).toEqual(outcome)
  })
})
