import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addQuantities,
  binaryQuantity,
  canonicalText,
  compareQuantities,
  formatBytes,
  parseQuantity,
  QuantityError,
  quantityNumber,
  quantityValue,
} from '#base/go/quantity.ts'

function answer(text: string) {
  try {
    return { ok: true, value: quantityValue(parseQuantity(text)) }
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    return { ok: false, error: error.message }
  }
}

describe('parseQuantity', () => {
  it.each(['Ei', '-Pi', '.Ei'])(
    'finds no number in %s, which is too large for the fast path',
    text => {
      expect(answer(text)).toMatchSnapshot()
    },
  )

  it('takes a suffix alone, a point alone and a sign alone for 0, as upstream does', () => {
    expect(['Gi', '.', '-'].map(text => quantityValue(parseQuantity(text)))).toEqual([0n, 0n, 0n])
  })

  it('narrows the exponent to int32 without looking, as upstream does', () => {
    expect(quantityValue(parseQuantity('1e4294967299'))).toBe(1000n)
  })

  it.each([
    '1e-2147483648',
    '12345678901234567890e999999999',
    '0.1e-999999999',
    `1${'0'.repeat(400)}x`,
  ])('does not run out of time or memory on %s', text => {
    expect(typeof answer(text).ok).toBe('boolean')
  })

  it('answers to any text at all with a quantity or with one of the three errors', () => {
    const form = /^[+-]?[0-9.]{0,25}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,3}$/
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(form)), text => {
        const { error } = answer(text)
        expect(error ?? 'quantities must match').toMatch(
          /^(quantities must match|unable to parse numeric|unable to parse quantity's suffix)/,
        )
      }),
    )
  })

  it('reads back what it prints', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
        fc.constantFrom('', 'k', 'm', 'Ki', 'Mi', 'e3'),
        (number, suffix) => {
          const quantity = parseQuantity(`${number}${suffix}`)
          const isCapped = quantity.held === 'capped'
          expect(
            compareQuantities(parseQuantity(canonicalText(quantity)), quantity) === 0 || isCapped,
          ).toBe(true)
        },
      ),
    )
  })
})

describe('compareQuantities', () => {
  it.each([
    ['1Gi', '1024Mi', 0],
    ['1k', '1000', 0],
    ['1500m', '1.5', 0],
    ['1n', '0', 1],
    ['-1', '1n', -1],
    ['1.5', '2', -1],
    ['1e30', '8Ei', 1],
    ['-1e30', '-1', -1],
    ['1e1000000', '1e999999', 1],
  ])('%s against %s: %i', (a, b, order) => {
    expect(Math.sign(compareQuantities(parseQuantity(a), parseQuantity(b)))).toBe(order)
  })
})

describe('addQuantities', () => {
  it('keeps the format of the left one, unless that is 0', () => {
    expect(canonicalText(addQuantities(parseQuantity('100Mi'), parseQuantity('1k')))).toBe(
      '104858600',
    )
    expect(canonicalText(addQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('1Gi')
    expect(canonicalText(addQuantities(parseQuantity('1Mi'), parseQuantity('1023Mi')))).toBe('1Gi')
  })

  it('is exact below 1', () => {
    expect(quantityValue(addQuantities(parseQuantity('0.5'), parseQuantity('500m')))).toBe(1n)
  })
})

describe('formatBytes', () => {
  it.each([
    [0, '0'],
    [1023, '1023'],
    [1024, '1Ki'],
    [109_951_164_416, '107374184Ki'],
    [100 * 1024 ** 3, '100Gi'],
    [-2048, '-2Ki'],
  ])('%i is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })
})

describe('quantityNumber', () => {
  it.each([
    ['100Mi', 104_857_600],
    ['1500m', 2],
    ['-1500m', -2],
    ['1e20', 1e20],
    ['1e500', Number.POSITIVE_INFINITY],
  ])('%s is %d', (text, number) => {
    expect(quantityNumber(parseQuantity(text))).toBe(number)
  })

  it('is what it was made from', () => {
    expect(quantityNumber(binaryQuantity(12_345))).toBe(12_345)
  })
})
