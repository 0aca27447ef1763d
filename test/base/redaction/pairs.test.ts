import { expect, it } from 'vitest'
import { redact } from '#base/redaction/redact.ts'
import { canariesIn } from '#test/canaries.ts'
import { doubtfulShapes, furtherShapes, secretShapes } from '#test/secret-shapes.ts'

type Shapes = typeof secretShapes
const leaksOf = (before: Shapes, after: Shapes, between: string) =>
  before.flatMap(([first, a]) =>
    after.flatMap(([second, b]) => {
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
