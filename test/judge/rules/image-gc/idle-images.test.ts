import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { idleImages } from '#judge/rules/image-gc/idle-images.ts'
import type { RememberedImage } from '#model/history.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeIn } from '#test/rule-outcome.ts'

/** The example is read on 2026-11-21, and an image is idle after 7 days. */
const unusedSince = (since: string | null, gib = 30) => ({
  held: { 'images-unused': 30 },
  runtime: {},
  images: [['web:v1', gib * gibibyte, since]] satisfies RememberedImage[],
  imagesSince: '2026-11-01',
  node: { metadata: { creationTimestamp: '2026-10-01T00:00:00Z' } },
})

itJudgesExamples(idleImages, { bad: unusedSince('2026-11-14'), good: unusedSince('2026-11-15') })

const short = { ...unusedSince('2026-11-15'), imagesSince: '2026-11-15' }
const { imagesSince: _, ...first } = unusedSince('2026-11-21')

it.each([
  { name: 'idle images too small', example: unusedSince('2026-11-01', 19), is: 'pass' },
  { name: 'images in use', example: unusedSince(null), is: 'pass' },
  {
    name: 'the Kubernetes API alone',
    example: { ...unusedSince('2026-11-01'), runtime: null },
    is: 'notApplicable',
  },
  { name: 'readings that begin too late', example: short, is: 'unknown' },
  { name: 'no earlier reading', example: first, is: 'unknown' },
  {
    name: 'a node younger than 7 days',
    example: { ...short, node: { metadata: { creationTimestamp: '2026-11-15T00:00:00Z' } } },
    is: 'pass',
  },
  {
    name: 'few unused images without an earlier reading',
    example: { ...first, held: { 'images-unused': 19 } },
    is: 'pass',
  },
])('$name: $is', ({ example, is }) => {
  expect(outcomeIn(idleImages, example).state).toBe(is)
})

it('counts shared layers once', () => {
  const outcome = outcomeIn(idleImages, unusedSince('2026-11-01', 90))
  expect(outcome).toMatchObject({
    failing: { consequence: expect.stringContaining('30.0 GiB of nodefs (30 %)') },
  })
})
