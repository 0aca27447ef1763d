import { expect, it } from 'vitest'
import { redact } from '#base/redaction/redact.ts'
import { canariesIn } from '#test/canaries.ts'
import { secretShapes } from '#test/secret-shapes.ts'

it('removes both of two secrets in one message, whatever their notations', () => {
  const leaks = secretShapes.flatMap(([first, a]) =>
    secretShapes.flatMap(([second, b]) => {
      const clean = redact(`could not: ${a('CANARY00001')} could not: ${b('CANARY00002')}`)
      return canariesIn(clean).length > 0 ? [`${first} + ${second}`] : []
    }),
  )
  expect(leaks).toEqual([])
})
