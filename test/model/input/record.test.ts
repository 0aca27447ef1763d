import { expect, it } from 'vitest'
import { errorsText } from '#model/input/record.ts'

it('names the parts that one message is about together', () => {
  const lost = 'SSM has lost the connection'
  expect(
    errorsText([
      { what: 'host', message: lost },
      { what: 'configz', message: 'answered 503' },
      { what: 'runtime', message: lost },
    ]),
  ).toBe(`host, runtime: ${lost}; configz: answered 503`)
  expect(errorsText([])).toBe('')
})
