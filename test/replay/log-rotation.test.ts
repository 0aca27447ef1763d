import { describe, expect, it } from 'vitest'
import { parseLogRotatePolicy } from '#replay/log-rotation.ts'

describe('parseLogRotatePolicy', () => {
  it.each([
    ['10Mi', 10_485_760n],
    ['0', 0n],
    ['-1', -1n],
    ['-10Mi', -10_485_760n],
    ['10k', 10_000n],
  ])('%s is %s bytes', (text, maxSizeBytes) => {
    expect(parseLogRotatePolicy(text, 2)).toEqual({ maxSizeBytes, maxFiles: 2 })
  })

  it.each(['1.5Gi', '0.5', '1.0Ki'])(
    'trap 39: a quantity that is none of upstream’s fast whole numbers is refused: %s',
    text => {
      expect(() => parseLogRotatePolicy(text, 5)).toThrow(
        `failed to parse container log max size "${text}": invalid max log size`,
      )
    },
  )

  it('says what upstream says of a text that is no quantity', () => {
    expect(() => parseLogRotatePolicy('10KB', 5)).toThrowErrorMatchingSnapshot()
  })

  it.each([1, 0, -3])(
    'trap 39: the live file counts, so %i files are refused, whatever the size',
    maxFiles => {
      expect(() => parseLogRotatePolicy('x', maxFiles)).toThrow(
        `invalid MaxFiles ${maxFiles}, must be > 1`,
      )
    },
  )
})
