import { expect, it } from 'vitest'
import { redact } from '#base/redaction/redact.ts'
import { canariesIn } from '#test/canaries.ts'
import { doubtfulShapes, furtherShapes, secretShapes } from '#test/secret-shapes.ts'
import { isSlow } from '#test/slow.ts'

/** Each notation stands beside a part of the others; in `npm run test:slow` beside all. */
const stride = isSlow ? 1 : 5

type Shapes = typeof secretShapes
const leaksOf = (before: Shapes, after: Shapes, between: string) =>
  before.flatMap(([first, a], row) =>
    after.flatMap(([second, b], column) => {
      if ((row + column) % stride > 0) return []
      const clean = redact(`could not: ${a('CANARY00001')}${between}could not: ${b('CANARY00002')}`)
      return canariesIn(clean).length > 0 ? [`${first} + ${second}`] : []
    }),
  )

it('removes both of two secrets in one message, whatever their notations', () => {
  expect(leaksOf(secretShapes, secretShapes, ' ')).toEqual([])
})

it('removes both of two secrets if one has a further notation', () => {
  const further = [...furtherShapes, ...doubtfulShapes]
  const few = secretShapes.filter((_, index) => index % 16 === 0)
  expect(leaksOf(further, few, '\n')).toEqual([])
  expect(leaksOf(few, further, '\n')).toEqual([])
})
